#include "times.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void tm_times_begin(tm_times *times, int64_t began_ns) {
    *times = (tm_times){.last_ns = began_ns};
}

void tm_times_end(tm_times *times, const char *name) {
    int64_t now = now_ns();
    if (times->n < TM_TIMES_MAX) {
        times->names[times->n] = name;
        times->took_ns[times->n++] = now - times->last_ns;
    }
    times->last_ns = now;
}

void tm_times_print(const tm_times *times, MPI_Comm comm) {
    int self;
    struct rusage usage;
    MPI_Comm_rank(comm, &self);
    long peak_kib = getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0, highest = 0;
    MPI_Reduce(&peak_kib, &highest, 1, MPI_LONG, MPI_MAX, 0, comm);
    if (self != 0)
        return;
    int64_t whole = 0;
    fputs("tmerge: times:", stderr);
    for (int i = 0; i < times->n; i++) {
        whole += times->took_ns[i];
        fprintf(stderr, " %s %.3f s,", times->names[i], (double)times->took_ns[i] * 1e-9);
    }
    fprintf(stderr, " whole %.3f s; peak memory of a process %ld MiB\n", (double)whole * 1e-9,
            highest / 1024);
}

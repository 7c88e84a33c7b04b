#include "times.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/now.h"
#include "console.h"
#include "tmerge/status.h"

void tm_times_begin(tm_times *times, int64_t began_ns) {
    *times = (tm_times){.last_ns = began_ns};
}

void tm_times_end(tm_times *times, const char *name) {
    int64_t now = tm_now_ns();
    if (times->n < TM_TIMES_MAX) {
        times->names[times->n] = name;
        times->took_ns[times->n++] = now - times->last_ns;
    }
    times->last_ns = now;
}

/* Peak resident memory of a process, and its host. The first two members have the layout of
 * MPI_LONG_INT. */
typedef struct peak {
    long kib;
    int process;
    char host[TM_HOST_MAX];
} peak;

/* Finds the process with the largest (MPI_MAXLOC) or smallest (MPI_MINLOC) peak. If several
 * processes have the same peak, the one with the lowest number counts. Collective: over comm. */
static peak find_peak(MPI_Op which, MPI_Comm comm) {
    struct rusage usage;
    peak found = {.kib = getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0};
    MPI_Comm_rank(comm, &found.process);
    MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_LONG_INT, which, comm);
    (void)gethostname(found.host, sizeof found.host - 1);
    MPI_Bcast(found.host, (int)sizeof found.host, MPI_CHAR, found.process, comm);
    return found;
}

static TM_PRINTF(3, 4) void append(char *text, size_t size, const char *format, ...) {
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void tm_times_print(const tm_times *times, MPI_Comm comm) {
    int self, n;
    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &n);
    const peak most = find_peak(MPI_MAXLOC, comm), least = find_peak(MPI_MINLOC, comm);
    if (self != 0)
        return;
    int64_t whole = 0;
    char text[TM_TIMES_MAX * 64 + 2 * TM_HOST_MAX + 256] = "tmerge: times:";
    for (int i = 0; i < times->n; i++) {
        whole += times->took_ns[i];
        append(text, sizeof text, " %s %.3f s,", times->names[i], (double)times->took_ns[i] * 1e-9);
    }
    append(text, sizeof text, " whole %.3f s; peak memory %ld MiB", (double)whole * 1e-9,
           most.kib / 1024);
    if (n > 1)
        append(text, sizeof text, " in process %d of %d on %s, least %ld MiB in process %d on %s",
               most.process, n, most.host, least.kib / 1024, least.process, least.host);
    tm_console_say(text);
}

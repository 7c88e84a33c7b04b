/* Durations of a run's phases, and its peak memory. */
#ifndef TMERGE_TIMES_H
#define TMERGE_TIMES_H

#include <mpi.h>
#include <stdint.h>

enum { TM_TIMES_MAX = 12 };

/** The phases that have ended. Call tm_times_begin first. */
typedef struct tm_times {
    const char *names[TM_TIMES_MAX];
    int64_t took_ns[TM_TIMES_MAX];
    int n;
    int64_t last_ns; /* when the last phase ended */
} tm_times;

/** Starts the first phase. @param began_ns  by CLOCK_MONOTONIC */
void tm_times_begin(tm_times *times, int64_t began_ns);

/** Ends a phase, which began at the end of the previous one. @param name static text */
void tm_times_end(tm_times *times, const char *name);

/** Prints the phases of process 0 on its standard error, with the largest and smallest peak of
 * resident memory and the processes that had them. Collective: over comm. */
void tm_times_print(const tm_times *times, MPI_Comm comm);

#endif

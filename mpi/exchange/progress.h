/* Progress of all processes together, reported to process 0 while they work. */
#ifndef TMERGE_MPI_PROGRESS_H
#define TMERGE_MPI_PROGRESS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "tmerge/status.h"

/** Progress to show. */
typedef struct tm_progress_state {
    const char *phase;   /* activity: "reading" */
    const char *unit;    /* unit of done and total: "B", "events" */
    int64_t done, total; /* amount of work done, and in total; total is 0 if unknown */
    int64_t events;      /* number of events so far, if the unit is not "events" */
    double seconds;      /* time since the start of the phase */
    bool ended;          /* this is the last call for the phase */
} tm_progress_state;

/** The work of a phase. */
typedef struct tm_progress_work {
    const char *phase, *unit; /* static texts */
    int64_t total;            /* sum over all processes; used on process 0 */
} tm_progress_work;

/** Display callback on process 0, called at most several times a second. */
typedef struct tm_progress_sink {
    void (*show)(void *context, const tm_progress_state *state); /* NULL: none */
    void *context;
} tm_progress_sink;

typedef struct tm_progress tm_progress;

/**
 * Starts a phase.
 * Collective: over comm.
 * @param sink  NULL on all processes or on none; called on process 0 only
 * @param out   NULL if nothing is displayed; every other call accepts NULL
 * @return      TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_progress_begin(MPI_Comm comm, const tm_progress_sink *sink,
                            const tm_progress_work *work, tm_progress **out,
                            tm_error *err) TM_MUST_CHECK;

/** Adds work of this process. Cheap: sends to process 0 at most five times a second. Collective:
 * no. */
void tm_progress_add(tm_progress *progress, int64_t done, int64_t events);

/** Ends the phase. Process 0 continues to display until all processes have called this function.
 * Every process that started the phase must end it, also after a failure. Collective: over comm. */
void tm_progress_end(tm_progress *progress);

#endif

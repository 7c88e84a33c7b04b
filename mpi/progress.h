/* How far all processes together have come, told to process 0 while they work. */
#ifndef TMERGE_MPI_PROGRESS_H
#define TMERGE_MPI_PROGRESS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "tmerge/status.h"

/** What there is to show. */
typedef struct tm_progress_state {
    const char *phase;   /* what is done: "reading" */
    const char *unit;    /* in which it is counted: "B", "events" */
    int64_t done, total; /* total 0 where it is not known */
    int64_t events;      /* besides, where these are not what is counted */
    double seconds;      /* since the phase began */
    bool ended;          /* the last call for this phase */
} tm_progress_state;

/** What is to be done. */
typedef struct tm_progress_work {
    const char *phase, *unit; /* static texts */
    int64_t total;            /* of all processes; on process 0 */
} tm_progress_work;

/** Who shows it, on process 0: called several times a second at most. */
typedef struct tm_progress_sink {
    void (*show)(void *context, const tm_progress_state *state); /* NULL: nobody */
    void *context;
} tm_progress_sink;

typedef struct tm_progress tm_progress;

/**
 * Begins a phase.
 *
 * Collective: over comm.
 * @param sink   the same on every process as to whether it is NULL; called on process 0 alone
 * @param out    NULL where nobody looks on, which every other call takes
 * @return       TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_progress_begin(MPI_Comm comm, const tm_progress_sink *sink,
                            const tm_progress_work *work, tm_progress **out,
                            tm_error *err) TM_MUST_CHECK;

/** Adds what this process did. Cheap: tells process 0 at most five times a second.
 * Collective: no. */
void tm_progress_add(tm_progress *progress, int64_t done, int64_t events);

/** Ends the phase: process 0 goes on showing until all have come here. Every process that began it
 * must end it, whatever happened in between. Collective: over comm. */
void tm_progress_end(tm_progress *progress);

#endif

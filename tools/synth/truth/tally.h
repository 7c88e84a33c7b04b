/* The true values of a rank, computed from its events by the definitions of tmerge's tables. The
 * interval arithmetic is simple, and shares no code with tmerge, whose results it checks. */
#ifndef TMERGE_SYNTH_TALLY_H
#define TMERGE_SYNTH_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "synth/base/error.h"
#include "synth/base/event_list.h"

typedef enum tms_work { TMS_WORK_COMPUTE, TMS_WORK_COMM, TMS_WORK_MEMORY, TMS_WORK_COUNT } tms_work;

/* Times within one window [ns]. Overlapping events count once: each time is the length of a union
 * of intervals. */
typedef struct tms_times {
    int64_t window_ns;
    int64_t work_ns[TMS_WORK_COUNT]; /* length of the union of each kind's intervals */
    int64_t overlap_ns;              /* communication overlapped by computation */
    int64_t exposed_comm_ns;         /* communication not overlapped by computation */
    int64_t exposed_memory_ns;       /* copies that overlap neither computation nor communication */
    int64_t busy_ns;
    int64_t idle_ns;
} tms_times;

typedef struct tms_step_times {
    int64_t step;                /* N of the step's annotation ProfilerStep#N */
    int64_t annotation_begin_ns; /* as recorded */
    int64_t annotation_end_ns;
    int64_t work_end_ns; /* last end of the work that the step launched; 0: none */
    int64_t begin_ns;    /* the step's window; set by tms_tally_finish, like `times` */
    int64_t end_ns;
    tms_times times;
} tms_step_times;

/* The start or end of GPU work. */
typedef struct tms_edge {
    int64_t time_ns;
    tms_work work;
    int change; /* +1 start, -1 end */
} tms_edge;

typedef struct tms_tally {
    int64_t n_recorded; /* number of duration and instant events in the file; set by the writer */
    tms_times total;    /* lengths in the rank's window; set by tms_tally_finish */
    tms_step_times *steps; /* [n_steps], owned, ascending by start */
    size_t n_steps;
    size_t steps_capacity;
    tms_edge *edges; /* [n_edges], owned */
    size_t n_edges;
    size_t edges_capacity;
} tms_tally;

void tms_tally_init(tms_tally *tally);

void tms_tally_free(tms_tally *tally);

/** Adds a step with the annotation [begin_ns, end_ns). Call it in order of start.
 *
 * @param step N of ProfilerStep#N
 * @return      TMS_OK; TMS_ERR_FAULT out of memory */
tms_status tms_tally_add_step(tms_tally *tally, int64_t step, int64_t begin_ns, int64_t end_ns,
                              tms_error *err);

/** Adds GPU work [begin_ns, end_ns). The work belongs to the step in which its launch starts, and
 * may extend the window of that step. The step must have been added before.
 * @param launch_ns start of the call that launched the work
 * @return           TMS_OK; TMS_ERR_FAULT out of memory */
tms_status tms_tally_add_work(tms_tally *tally, tms_work work, int64_t launch_ns, int64_t begin_ns,
                              int64_t end_ns, tms_error *err);

/* Adds a step and all of its GPU work from a list of events. The list must contain the section that
 * has the GPU work. */
tms_status tms_tally_add_events(tms_tally *tally, const tms_events *events, tms_error *err);

/* Computes `total` and each step's `times`. Call it once, after everything has been added. */
void tms_tally_finish(tms_tally *tally);

#endif

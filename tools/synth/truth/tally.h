/* What is true about one rank, measured from its events: the definitions of the tables, by simple
 * interval arithmetic that shares no code with what it is to check. */
#ifndef TMERGE_SYNTH_TALLY_H
#define TMERGE_SYNTH_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "synth/base/error.h"
#include "synth/base/events.h"

/* Kinds of GPU work. */
typedef enum tms_work { TMS_WORK_COMPUTE, TMS_WORK_COMM, TMS_WORK_MEMORY, TMS_WORK_COUNT } tms_work;

/* Lengths of unions over one window [ns]. */
typedef struct tms_times {
    int64_t window_ns;
    int64_t work_ns[TMS_WORK_COUNT]; /* each kind's union */
    int64_t overlap_ns;              /* communication under computation */
    int64_t exposed_comm_ns;         /* communication without computation */
    int64_t exposed_memory_ns;       /* copies without either */
    int64_t busy_ns;
    int64_t idle_ns;
} tms_times;

typedef struct tms_step_times {
    int64_t step;                /* number of its ProfilerStep */
    int64_t annotation_begin_ns; /* as recorded */
    int64_t annotation_end_ns;
    int64_t work_end_ns; /* last end of what it launched; 0: nothing */
    int64_t begin_ns;    /* window; set by tms_tally_finish, as is `times` */
    int64_t end_ns;
    tms_times times;
} tms_step_times;

/* Where GPU work begins or ends. */
typedef struct tms_edge {
    int64_t time_ns;
    tms_work work;
    int change; /* +1 begin, -1 end */
} tms_edge;

typedef struct tms_tally {
    int64_t n_recorded;    /* duration and instant events in the file; set by who writes it */
    tms_times total;       /* over the rank's window; set by tms_tally_finish */
    tms_step_times *steps; /* [n_steps], owned, in order of begin */
    size_t n_steps;
    size_t steps_capacity;
    tms_edge *edges; /* [n_edges], owned */
    size_t n_edges;
    size_t edges_capacity;
} tms_tally;

/* Makes an empty tally; there is nothing that could fail. */
void tms_tally_init(tms_tally *tally);

void tms_tally_free(tms_tally *tally);

/**
 * Adds a step by its annotation [begin_ns, end_ns); to be given in order of begin.
 *
 * @param step  number of its ProfilerStep
 * @return      TMS_OK; TMS_ERR_FAULT out of memory
 */
tms_status tms_tally_add_step(tms_tally *tally, int64_t step, int64_t begin_ns, int64_t end_ns,
                              tms_error *err);

/**
 * Adds GPU work [begin_ns, end_ns). It belongs to the step added so far that holds the begin of
 * its launch, and may make that step's window longer.
 *
 * @param launch_ns  begin of the call that launched it
 * @return           TMS_OK; TMS_ERR_FAULT out of memory
 */
tms_status tms_tally_add_work(tms_tally *tally, tms_work work, int64_t launch_ns, int64_t begin_ns,
                              int64_t end_ns, tms_error *err);

/* Adds the step that a list of events holds, and all its GPU work; the section with the GPU work
 * must have been kept. */
tms_status tms_tally_add_events(tms_tally *tally, const tms_events *events, tms_error *err);

/* Works out `total` and each step's `times`. To be called once, after all was added. */
void tms_tally_finish(tms_tally *tally);

#endif

/* One rank's training steps in integer nanoseconds: what its CPU does, launches and computes.
 *
 * A step has two halves, for an all-reduce ends when the last rank has come to it: the head runs
 * up to the backward pass and says when each bucket is ready; somebody who sees all ranks decides
 * when the all-reduces begin and end; the tail runs from there. */
#ifndef TMERGE_SYNTH_SIM_H
#define TMERGE_SYNTH_SIM_H

#include <stdint.h>

#include "config.h"
#include "error.h"
#include "events.h"
#include "layout.h"
#include "rng.h"

/* One rank's part in one bucket's all-reduce. */
typedef struct tms_bucket {
    int64_t ready_ns; /* gradients computed and kernel launched; set by the head */
    int64_t launch_ns;
    int64_t correlation;
    int64_t comms_id;      /* External id of its record_param_comms */
    int64_t annotation_id; /* External id of its nccl:all_reduce span */
    int64_t begin_ns;      /* of the kernel; set by the caller between head and tail */
    int64_t end_ns;
} tms_bucket;

/* A rank between two steps, or between the halves of one. */
typedef struct tms_sim {
    const tms_config *config; /* borrowed */
    tms_layout layout;
    tms_rng rng;
    tms_events *out;         /* where events go; borrowed for one half */
    tms_bucket *buckets;     /* [n_buckets], owned */
    int64_t step;            /* index of the step, from 0 */
    int64_t cpu_ns;          /* time of the thread that runs: one waits while the other works */
    int64_t compute_free_ns; /* when the compute stream has done all it was given */
    int64_t comm_free_ns;    /* the same for NCCL's stream */
    int64_t gpu_begin_ns;    /* begin of the step's first event on the compute stream; 0: none */
    int64_t compute_ppm;     /* this rank's compute time [1e-6 of a normal rank's] */
    int64_t correlation;     /* last ones given out */
    int64_t external_id;
    int64_t op_id;     /* External id of the operator that runs; 0: none */
    int64_t step_id;   /* External id of the step's annotation */
    size_t step_event; /* its index in `out` */
    int64_t step_begin_ns;
    tms_track thread; /* that runs */
} tms_sim;

/**
 * Puts a rank at the job's begin.
 *
 * @param config  kept by reference; must outlive @p sim
 * @return        TMS_OK; TMS_ERR_FAULT out of memory
 */
tms_status tms_sim_init(tms_sim *sim, const tms_config *config, int64_t rank, tms_error *err);

/* Gives the memory back; a zeroed one is fine. */
void tms_sim_free(tms_sim *sim);

/* When the profiler starts on this rank [ns since the epoch]. */
int64_t tms_sim_profiler_begin_ns(const tms_config *config, int64_t rank);

/**
 * Runs the next step up to the last launch of its backward pass.
 *
 * @param out  events are appended; the caller clears it before, and looks for out_of_memory
 *             after the tail
 */
void tms_sim_head(tms_sim *sim, tms_events *out);

/**
 * Runs the rest of the step. Each bucket's begin_ns (no earlier than its ready_ns, nor than the
 * stream is free) and end_ns must have been set.
 */
void tms_sim_tail(tms_sim *sim, tms_events *out);

#endif

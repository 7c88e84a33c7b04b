/* A simulated rank ("sim" for short): where it is in time, and what its present step holds so far.
 * All in integer nanoseconds. */
#ifndef TMERGE_SYNTH_SIMULATED_RANK_H
#define TMERGE_SYNTH_SIMULATED_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "synth/base/config.h"
#include "synth/base/events.h"
#include "synth/base/groups.h"
#include "synth/base/placement.h"
#include "synth/base/rng.h"

typedef enum tms_task_kind {
    TMS_DO_WORK,   /* a kernel or copy on the compute stream */
    TMS_DO_ARRIVE, /* a collective's kernel, behind the compute stream's work so far */
    TMS_DO_WAIT,   /* the compute stream waits for a collective to end */
    TMS_DO_DRAIN   /* the CPU does, at the end of the step */
} tms_task_kind;

/* What a stream has to do, in the order of launches. */
typedef struct tms_task {
    tms_task_kind kind;
    int64_t reached_ns;  /* when its launch has reached the GPU */
    int64_t gap_ns;      /* least distance behind what it follows */
    int64_t duration_ns; /* of work */
    size_t index;        /* of its event, or of its collective */
} tms_task;

/* A rank between two steps, or between the parts of one. */
typedef struct tms_sim {
    const tms_config *config;                    /* borrowed */
    const tms_channel *channels[TMS_ROLE_COUNT]; /* borrowed; NULL where there is none */
    tms_placement placement;
    tms_rng rng;
    tms_events *events; /* where events go; borrowed for one step */
    tms_task *tasks;    /* [n_tasks] of this step, owned */
    tms_comm *comms;    /* [n_comms] of this step, owned */
    size_t n_tasks;
    size_t tasks_capacity;
    size_t n_comms;
    size_t comms_capacity;
    size_t n_pushed;         /* collectives whose GPU events are in the list */
    size_t next_task;        /* the first that gpu.h has not done yet */
    bool out_of_memory;      /* sticky; looked at after each head */
    int64_t step;            /* index of the step, from 0 */
    int64_t cpu_ns;          /* time of the thread that runs: one waits while the other works */
    int64_t compute_free_ns; /* when the compute stream has done all it was given */
    int64_t comm_free_ns[TMS_ROLE_COUNT]; /* the same for NCCL's streams */
    int64_t role_count[TMS_ROLE_COUNT];   /* collectives of this step so far */
    size_t role_last[TMS_ROLE_COUNT];     /* index + 1 of the last of them; 0: none */
    int64_t gpu_begin_ns; /* begin of the step's first event on the compute stream; 0: none */
    int64_t compute_ppm;  /* this step's compute time [1e-6 of a normal rank's] */
    int64_t host_ppm;     /* distance of launches [1e-6 of their kernels]; 0: as fast as it can */
    int64_t n_kernels;    /* compute kernels of this step so far */
    int64_t correlation;  /* last ones given out */
    int64_t external_id;
    int64_t graph_ns; /* launch of this step's CUDA graph, and its correlation; 0: none */
    int64_t graph_correlation;
    int64_t op_id;     /* External id of the operator that runs; 0: none */
    int64_t step_id;   /* External id of the step's annotation */
    size_t step_event; /* its index in `events` */
    int64_t step_begin_ns;
    tms_track thread; /* that runs */
} tms_sim;

/* Puts a rank at the job's begin. The list of groups, and its configuration, are kept by reference.
 */
void tms_sim_init(tms_sim *sim, const tms_groups *groups, int64_t rank);

/* Gives the memory back; a zeroed one is fine. */
void tms_sim_free(tms_sim *sim);

/* When the profiler starts on this rank [ns since the epoch]. */
int64_t tms_sim_profiler_begin_ns(const tms_config *config, int64_t rank);

/* Queues a task for the GPU. Once memory has run out nothing counts any more. */
void tms_sim_queue(tms_sim *sim, const tms_task *task);

/* Appends an empty collective to those of the step; NULL when memory has run out. */
tms_comm *tms_sim_add_comm(tms_sim *sim);

#endif

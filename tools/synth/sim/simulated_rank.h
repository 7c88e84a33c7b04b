/* A simulated rank ("sim" for short): its current time and the contents of its current step. All
 * times are integer nanoseconds. */
#ifndef TMERGE_SYNTH_SIMULATED_RANK_H
#define TMERGE_SYNTH_SIMULATED_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "synth/base/config.h"
#include "synth/base/event_list.h"
#include "synth/base/placement.h"
#include "synth/base/rng.h"
#include "synth/base/synth_groups.h"

typedef enum tms_task_kind {
    TMS_DO_WORK,   /* a kernel or copy on the compute stream */
    TMS_DO_ARRIVE, /* the kernel of a collective, which starts after the compute stream's work so
                      far */
    TMS_DO_WAIT,   /* the compute stream waits for a collective to end */
    TMS_DO_DRAIN   /* the CPU waits for the GPU, at the end of the step */
} tms_task_kind;

/* A task of a stream. Tasks are in the order of their launches. */
typedef struct tms_task {
    tms_task_kind kind;
    int64_t reached_ns;  /* when the task's launch reaches the GPU */
    int64_t gap_ns;      /* minimum gap between the previous task's end and this task */
    int64_t duration_ns; /* only for TMS_DO_WORK */
    size_t index;        /* index of the task's event or collective */
} tms_task;

/* State of a simulated rank between two steps, or between two parts of a step. */
typedef struct tms_sim {
    const tms_config *config;                    /* borrowed */
    const tms_channel *channels[TMS_ROLE_COUNT]; /* borrowed; by role; NULL: no communicator */
    tms_placement placement;
    tms_rng rng;
    tms_events *events; /* list to which events are added; borrowed for one step */
    tms_task *tasks;    /* [n_tasks] tasks of this step, owned */
    tms_comm *comms;    /* [n_comms] communication of this step, owned */
    size_t n_tasks;
    size_t tasks_capacity;
    size_t n_comms;
    size_t comms_capacity;
    size_t n_pushed;         /* number of collectives whose GPU events are in the list */
    size_t next_task;        /* index of the first task that tms_gpu_advance has not yet done */
    bool out_of_memory;      /* is never cleared; checked after each head of a step */
    int64_t step;            /* index of the step, from 0 */
    int64_t cpu_ns;          /* time of the thread that runs; the other thread waits */
    int64_t compute_free_ns; /* end of the compute stream's work so far */
    int64_t comm_free_ns[TMS_ROLE_COUNT]; /* end of the work so far on NCCL's streams */
    int64_t role_count[TMS_ROLE_COUNT];   /* number of collectives of this step so far, by role */
    size_t role_last[TMS_ROLE_COUNT];     /* index + 1 of the last collective of each role; 0:
                                             none */
    int64_t gpu_begin_ns; /* start of the step's first event on the compute stream; 0: none */
    int64_t compute_ppm;  /* this step's compute time [1e-6 of a normal rank's] */
    int64_t host_ppm;  /* time from one launch to the next [1e-6 of the kernel's time]; 0: the host
                          launches as fast as it can */
    int64_t n_kernels; /* number of compute kernels of this step so far */
    int64_t correlation; /* correlation and External id of the latest event */
    int64_t external_id;
    int64_t graph_ns; /* time and correlation of this step's CUDA graph launch; 0: none */
    int64_t graph_correlation;
    int64_t op_id;     /* External id of the running operator; 0: none */
    int64_t step_id;   /* External id of the step's annotation */
    size_t step_event; /* index of the step's annotation in `events` */
    int64_t step_begin_ns;
    tms_track thread; /* the running thread */
} tms_sim;

/* Puts a rank at the job's start. @p groups and their configuration must outlive the rank. */
void tms_sim_init(tms_sim *sim, const tms_groups *groups, int64_t rank);

/* Frees the memory. Accepts a zeroed rank. */
void tms_sim_free(tms_sim *sim);

/* Returns the profiler's start on this rank [ns since the epoch]. */
int64_t tms_sim_profiler_begin_ns(const tms_config *config, int64_t rank);

/* Queues a task for the GPU. Does nothing after running out of memory. */
void tms_sim_queue(tms_sim *sim, const tms_task *task);

/* Appends an empty collective to the step. Returns NULL when out of memory. */
tms_comm *tms_sim_add_comm(tms_sim *sim);

#endif

/* What a rank's CPU does: operators, launches, collectives. Every call draws random numbers in the
 * same order, whether or not events are kept. */
#ifndef TMERGE_SYNTH_CPU_H
#define TMERGE_SYNTH_CPU_H

#include "simulated_rank.h"

/* An open operator or annotation. */
typedef struct tms_span {
    size_t event;
    int64_t begin_ns;
    int64_t parent_id; /* the enclosing operator */
} tms_span;

/* Advances the running thread by a random time. */
void tms_cpu_spend(tms_sim *sim, int64_t low_ns, int64_t high_ns);

/* Begins an operator or annotation. @p value is its sequence or step number. */
tms_span tms_cpu_open(tms_sim *sim, tms_kind kind, int64_t value);

/* Ends an operator or annotation and returns to the enclosing operator. */
void tms_cpu_close(tms_sim *sim, tms_span opened);

/* Makes a CUDA runtime call. Returns the call's start. */
int64_t tms_cpu_call(tms_sim *sim, tms_kind kind, int64_t low_ns, int64_t high_ns);

/* Queues a compute kernel. On a normal rank it takes @p ppm of a layer's forward time [1e-6]. */
void tms_cpu_compute(tms_sim *sim, tms_kind kind, int64_t ppm);

/* Queues a kernel whose mean time is the same on every rank. */
void tms_cpu_kernel(tms_sim *sim, tms_kind kind, int64_t mean_ns);

/* Queues a copy or memset. It takes the same time on a slow rank. */
void tms_cpu_copy(tms_sim *sim, tms_kind kind, int64_t bytes);

/* Adds a [memory] record of torch's allocator. Negative bytes are a release. */
void tms_cpu_allocate(tms_sim *sim, int64_t bytes);

typedef struct tms_message {
    tms_collective what;
    tms_dtype dtype;
    int64_t bytes; /* size of the whole message, as nccl-tests counts it */
} tms_message;

/* Launches a collective after the work queued so far. Returns its index in sim->comms. */
size_t tms_cpu_communicate(tms_sim *sim, tms_role role, tms_message message);

/* Makes the compute stream wait for a collective, and records the call. */
void tms_cpu_await(tms_sim *sim, size_t comm);

/* Like tms_cpu_await, but records no call. */
void tms_cpu_depend(tms_sim *sim, size_t comm);

/* Appends the GPU events of the step's collectives that are not yet in the list. */
void tms_cpu_push_comms(tms_sim *sim);

#endif

/* One step of a rank, for any model. It has three parts, because a kernel may wait for kernels of
 * other ranks: the head runs the CPU up to its wait for the GPU and queues tasks for the streams;
 * gpu.h executes these tasks as far as other ranks allow; the tail runs the rest. */
#ifndef TMERGE_SYNTH_STEP_H
#define TMERGE_SYNTH_STEP_H

#include "simulated_rank.h"

/** Runs the CPU of the next step up to its wait for the GPU.
 *
 * @param events receives the step's events; events on the GPU do not have times yet. The caller
 * clears the list before the call, and checks out_of_memory after tms_step_tail(). */
void tms_step_head(tms_sim *sim, tms_events *events);

/* Runs the rest of a step and completes its events. All tasks must be done. */
void tms_step_tail(tms_sim *sim);

#endif

/* One step of a rank, whatever the model. It has three parts, for a kernel may wait for kernels of
 * other ranks: the head runs the CPU up to the moment where it waits for the GPU, and queues tasks
 * for the streams on the way; gpu.h works through that queue, as far as other ranks let it; the
 * tail runs from there. */
#ifndef TMERGE_SYNTH_STEP_H
#define TMERGE_SYNTH_STEP_H

#include "simulated_rank.h"

/**
 * Runs the CPU of the next step up to where it waits for the GPU.
 *
 * @param events  the step's are appended, those of the GPU without their times; the caller clears
 *                it before, and looks for out_of_memory after the tail
 */
void tms_step_head(tms_sim *sim, tms_events *events);

/* Completes the step's events and runs its rest. All tasks must have been done. */
void tms_step_tail(tms_sim *sim);

#endif

/* The training loop of one rank: what it computes and sends in a step, and in which order. */
#ifndef TMERGE_SYNTH_MODEL_H
#define TMERGE_SYNTH_MODEL_H

#include "simulated_rank.h"

/* Memory of one batch's inputs: they are freed when the step ends [B]. */
#define TMS_BATCH_BYTES INT64_C(131072)

/* Runs one step's forward and backward passes and its optimizer on the CPU, up to where it waits
 * for the GPU. The step's annotation must have been opened. */
void tms_model_step(tms_sim *sim);

#endif

/* The training loop of one rank: the computation and communication of a step, in order. */
#ifndef TMERGE_SYNTH_MODEL_H
#define TMERGE_SYNTH_MODEL_H

#include "simulated_rank.h"

/* Memory of one batch's inputs, freed at the end of the step [B]. */
#define TMS_BATCH_BYTES INT64_C(131072)

/* Runs one step's forward and backward passes and its optimizer on the CPU, up to its wait for the
 * GPU. The step's annotation must be open. */
void tms_model_step(tms_sim *sim);

#endif

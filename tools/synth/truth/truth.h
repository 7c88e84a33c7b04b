/* Writes truth.json: the numbers that an analysis of the traces must find. */
#ifndef TMERGE_SYNTH_TRUTH_H
#define TMERGE_SYNTH_TRUTH_H

#include <stdint.h>

#include "synth/base/config.h"
#include "synth/base/text_out.h"
#include "synth/sim/sim_plan.h"
#include "tally.h"
#include "true_blame.h"

/* Writes the seed, the options and the hosts' clocks, up to the list of ranks. */
void tms_truth_begin(tms_out *out, const tms_plan *plan);

/** Writes one rank. Call it in ascending order of rank.
 * @param tally of this rank, finished, with n_recorded set
 * @param blame of the job */
void tms_truth_rank(tms_out *out, const tms_plan *plan, int64_t rank, const tms_tally *tally,
                    const tms_blame *blame);

/* Ends the list of ranks, writes each step's wait and all collectives, and closes the document. */
void tms_truth_end(tms_out *out, const tms_plan *plan, const tms_blame *blame);

/* Writes nanoseconds with six decimals, rounded half up. */
void tms_truth_share(tms_out *out, tms_share share);

#endif

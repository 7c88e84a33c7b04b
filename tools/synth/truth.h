/* Writes truth.json: the numbers that an analysis of the traces has to find. */
#ifndef TMERGE_SYNTH_TRUTH_H
#define TMERGE_SYNTH_TRUTH_H

#include <stdint.h>

#include "config.h"
#include "out.h"
#include "plan.h"
#include "tally.h"

/* Writes the seed and the options, up to the list of ranks. */
void tms_truth_begin(tms_out *out, const tms_config *config);

/**
 * Writes one rank; ranks come in order.
 *
 * @param tally  of this rank, finished, with n_recorded set
 */
void tms_truth_rank(tms_out *out, const tms_config *config, int64_t rank, const tms_tally *tally);

/* Ends the list of ranks, writes all collectives and closes the document. */
void tms_truth_end(tms_out *out, const tms_plan *plan);

/* What one collective is to one rank. */
typedef struct tms_part {
    int64_t wait_ns;     /* from its begin to the last rank's begin */
    int64_t transfer_ns; /* from there to its end */
} tms_part;

/**
 * Splits a kernel at the last rank's arrival.
 *
 * @param last_ns  begin of the last rank's kernel; all in [ns since the epoch]
 */
tms_part tms_truth_split(int64_t begin_ns, int64_t end_ns, int64_t last_ns);

/* The rank that came last: the lowest of equals. `begin_ns` is [n_ranks], n_ranks at least 1. */
int64_t tms_truth_last_rank(const int64_t *begin_ns, int64_t n_ranks);

#endif

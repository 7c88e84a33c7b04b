/* Table collectives.pair: the bytes that all-to-all operations send from each rank to each other
 * rank. */
#ifndef TMERGE_RANK_PAIRS_H
#define TMERGE_RANK_PAIRS_H

#include "tmerge/analysis.h"

extern const tm_table_def tm_pair_def;

/** Internal table: what the trace of one rank records about a pair. */
extern const tm_table_def tm_pair_part_def;

/** Adds the bytes that a rank sends and receives. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_pairs_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Merges what the sender and the receiver of each pair recorded. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_pairs_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Sets the shares, and keeps the pairs with the most bytes. */
void tm_pairs_job(tm_tables *tables);

#endif

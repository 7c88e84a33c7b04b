/* Table collectives.pair: the bytes that each rank sends to each other rank in all-to-all
 * operations. */
#ifndef TMERGE_RANK_PAIRS_H
#define TMERGE_RANK_PAIRS_H

#include "tmerge/analysis.h"

extern const tm_table_def tm_pair_def;

/** Internal table: a rank's records of the pairs of ranks. */
extern const tm_table_def tm_pair_part_def;

/** Adds the rows of a rank. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_pairs_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Merges the records of each pair's sender and receiver. Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_pairs_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Sets the shares. Keeps only the pairs with the most bytes. */
void tm_pairs_job(tm_tables *tables);

#endif

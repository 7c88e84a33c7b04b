/* Splits the waits of a collective among the ranks that arrived late. */
#ifndef TMERGE_BLAME_H
#define TMERGE_BLAME_H

#include "base/keys.h"
#include "timeline/collectives.h"

/** Nanoseconds with a binary fraction. The order of additions does not change a sum. A share is
 * rounded down by less than 2^-40 ns. */
typedef struct tm_share {
    int64_t whole_ns;
    uint64_t fraction; /* fraction of a nanosecond, in units of 2^-40 ns; below 2^40 */
} tm_share;

void tm_share_add(tm_share *sum, tm_share share);

/** Returns numerator / denominator. Neither may be negative; the denominator must be below 2^23. */
tm_share tm_share_of(int64_t numerator, int64_t denominator);

/** Rounds to the nearest integer, halves up. */
int64_t tm_share_round(tm_share share);

/** Sums of waits: one sum for each pair of a late rank and a waiting rank. Initialise it with 0. */
typedef struct tm_pair_map {
    tm_keys pairs;
    tm_vec shares; /* vector of tm_share, one per pair */
} tm_pair_map;

/** Adds a share to the sum of a pair of ranks. @p rank is late, and @p for_rank waits for it.
 * Returns false when out of memory. */
bool tm_pair_map_add(tm_pair_map *map, int64_t rank, int64_t for_rank, tm_share share);

/** Appends all pairs to a vector of tm_pair, in no particular order, and empties the map. Returns
 * false when out of memory. */
bool tm_pair_map_drain(tm_pair_map *map, tm_vec *out);
void tm_pair_map_free(tm_pair_map *map);

/**
 * Splits the wait of one operation in layers, one for each gap between two successive arrivals. In
 * a gap, each rank that has arrived waits, at most until its kernel ends. The ranks that have not
 * arrived share the blame for this wait equally.
 *
 * @param members  [instance->n] the operation's records
 * @param answers  [instance->n] set for each member: wait, lateness, caused wait, last, tied
 * @param pairs    the caused wait of each late rank and each waiting rank is added; NULL: not
 *                 needed
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_blame_instance(const tm_comm_record *members, const tm_instance *instance,
                            tm_comm_answer *answers, tm_pair_map *pairs,
                            tm_error *err) TM_MUST_CHECK;

#endif

/* Who came last to a collective, and whose wait that was. */
#ifndef TMERGE_BLAME_H
#define TMERGE_BLAME_H

#include "base/keys.h"
#include "timeline/collectives.h"

/**
 * Nanoseconds with a binary fraction, so that shares of a gap add up in any order to the same sum.
 * Each share is rounded down by less than 2^-40 ns.
 */
typedef struct tm_share {
    int64_t whole_ns;
    uint64_t fraction; /* 2^-40 ns, below 2^40 */
} tm_share;

void tm_share_add(tm_share *sum, tm_share share);

/** numerator / denominator, both not negative, the denominator below 2^23. */
tm_share tm_share_of(int64_t numerator, int64_t denominator);

/** The nearest integer, half up. */
int64_t tm_share_round(tm_share share);

/** Sums of pairs of a late and a waiting rank; begins as all zeros. */
typedef struct tm_pair_map {
    tm_keys pairs;
    tm_vec shares; /* of tm_share, one for each pair */
} tm_pair_map;

/** False when memory is out. */
bool tm_pair_map_add(tm_pair_map *map, int64_t rank, int64_t for_rank, tm_share share);

/** Moves the pairs to a vector of tm_pair, in no order, and empties the map; false when memory is
 * out. */
bool tm_pair_map_drain(tm_pair_map *map, tm_vec *out);
void tm_pair_map_free(tm_pair_map *map);

/**
 * Splits the wait of one operation in layers: sort the arrivals; for each gap between two of them
 * the early ranks wait that long because of the late ones, who share it equally. Where a kernel
 * ends before the last begin, its wait is cut at its end.
 *
 * @param members  [instance->n] its records
 * @param answers  [instance->n] filled for each member: wait, lateness, caused wait, last, tied
 * @param pairs    the same wait by late and waiting rank is added, or NULL
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_blame_instance(const tm_comm_record *members, const tm_instance *instance,
                            tm_comm_answer *answers, tm_pair_map *pairs,
                            tm_error *err) TM_MUST_CHECK;

#endif

/* What a rank sums by a key, on its way into a part table: a row for each key. */
#ifndef TMERGE_RANK_SUMS_H
#define TMERGE_RANK_SUMS_H

#include "base/keys.h"
#include "tmerge/table.h"

typedef struct tm_rank_sums {
    tm_keys keys;
    tm_vec values; /* one for each key */
} tm_rank_sums;

#define TM_RANK_SUMS(key, value) ((tm_rank_sums){TM_KEYS(key), TM_VEC(value)})

enum { TM_RANK_SUMS_COLUMNS = 16 };

/** Sets the cells of a row, all of integers, but for the rank's. */
typedef void tm_rank_sums_cells(const void *key, const void *value, int64_t *cells);

/** The value of a key, all zeros where it is new; NULL when memory is out. */
void *tm_rank_sums_at(tm_rank_sums *sums, const void *key);

/**
 * Adds a row for each key, and frees the sums.
 * @param ok    false where they are not whole, for memory was out: nothing is added then
 * @param part  of at most TM_RANK_SUMS_COLUMNS; the rank is the column behind its merged keys
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_rank_sums_put(tm_rank_sums *sums, bool ok, int64_t rank, tm_rank_sums_cells *set,
                           tm_table *part, tm_error *err) TM_MUST_CHECK;

#endif

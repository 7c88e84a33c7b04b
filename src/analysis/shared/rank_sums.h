/* Sums of a rank by key, for a part table with one row per key. */
#ifndef TMERGE_RANK_SUMS_H
#define TMERGE_RANK_SUMS_H

#include "base/keys.h"
#include "tmerge/table.h"

typedef struct tm_rank_sums {
    tm_keys keys;
    tm_vec values; /* one value per key */
} tm_rank_sums;

#define TM_RANK_SUMS(key, value) ((tm_rank_sums){TM_KEYS(key), TM_VEC(value)})

enum { TM_RANK_SUMS_COLUMNS = 16 };

/** Sets the cells of a row, except the rank. All are integers. */
typedef void tm_rank_sums_cells(const void *key, const void *value, int64_t *cells);

/** Returns the sums of a key; NULL if out of memory. New sums are zero. */
void *tm_rank_sums_at(tm_rank_sums *sums, const void *key);

/**
 * Adds a row for each key, and frees the sums.
 * @param ok    false if the sums are incomplete because memory ran out; then no row is added
 * @param part  table with at most TM_RANK_SUMS_COLUMNS columns; the rank is in the column after the
 * merged keys
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_rank_sums_put(tm_rank_sums *sums, bool ok, int64_t rank, tm_rank_sums_cells *set,
                           tm_table *part, tm_error *err) TM_MUST_CHECK;

#endif

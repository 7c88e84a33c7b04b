#include "rank_sums.h"

#include <assert.h>

void *tm_rank_sums_at(tm_rank_sums *sums, const void *key) {
    return tm_keys_value(&sums->keys, &sums->values, key);
}

tm_status tm_rank_sums_put(tm_rank_sums *sums, bool ok, int64_t rank, tm_rank_sums_cells *set,
                           tm_table *part, tm_error *err) {
    const tm_vec *keys = &sums->keys.keys, *values = &sums->values;
    assert(part->def->n_columns <= TM_RANK_SUMS_COLUMNS);
    for (size_t i = 0; i < values->n && ok; i++) {
        int64_t cells[TM_RANK_SUMS_COLUMNS] = {0};
        tm_cell *row = tm_table_add_row(part);
        ok = row != NULL;
        set((const char *)keys->data + i * keys->size,
            (const char *)values->data + i * values->size, cells);
        cells[part->def->n_merged] = rank;
        for (int c = 0; c < part->def->n_columns && ok; c++)
            tm_cell_set_int(&row[c], cells[c]);
    }
    tm_keys_free(&sums->keys);
    tm_vec_free(&sums->values);
    return ok ? TM_OK : tm_fail_memory(err);
}

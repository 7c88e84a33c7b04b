#include "over_ranks.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sums.h"

/* Keys are integers: merged tables contain no texts. */
static bool same_key(const tm_table *part, size_t a, size_t b) {
    const tm_cell *x = tm_table_row(part, a), *y = tm_table_row(part, b);
    for (int c = 0; c < part->def->n_merged; c++)
        if (x[c].null != y[c].null || (!x[c].null && x[c].value.i != y[c].value.i))
            return false;
    return true;
}

size_t tm_over_ranks_end(const tm_table *part, size_t first) {
    size_t end = first + 1;
    while (end < part->n_rows && same_key(part, first, end))
        end++;
    return end;
}

int64_t tm_over_ranks_sum(const tm_table *part, size_t first, size_t end, int column) {
    int64_t sum = 0;
    for (size_t r = first; r < end; r++) {
        const tm_cell *cell = &tm_table_row(part, r)[column];
        sum = tm_sum(sum, cell->null ? 0 : cell->value.i);
    }
    return sum;
}

tm_status tm_over_ranks_column(const tm_table *part, size_t first, size_t end, int column,
                               tm_over_ranks *out, tm_error *err) {
    tm_over_ranks found = {0};
    int64_t *values = malloc((end - first + 1) * sizeof *values);
    size_t n = 0;
    if (!values)
        return tm_fail_memory(err);
    for (size_t r = first; r < end; r++) {
        const tm_cell *row = tm_table_row(part, r);
        if (row[column].null)
            continue;
        int64_t value = row[column].value.i;
        /* Rows ascend by rank, so the lowest rank wins a tie. */
        if (n == 0 || value > found.max) {
            found.max = value;
            found.max_rank = row[part->def->n_merged].value.i;
        }
        found.sum = tm_sum(found.sum, value);
        values[n++] = value;
    }
    tm_sort_values(values, n);
    if (n > 0) {
        found.min = values[0];
        found.median = tm_median(values, n);
    }
    found.ranks = (int64_t)n;
    free(values);
    *out = found;
    return TM_OK;
}

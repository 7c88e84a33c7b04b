#include "report/page_path.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "base/vec.h"

/* A step, with the number and the total length [ns] of its pieces. */
typedef struct path_step {
    int64_t number, ns;
    size_t n;
} path_step;

TM_ORDER_FALLING(by_length, path_step, ns, number);

static bool sum_steps(const tm_table *pieces, tm_vec *steps) {
    for (size_t r = 0; r < pieces->n_rows; r++) {
        int64_t number = tm_table_cell(pieces, r, "step")->value.i;
        path_step *last = steps->n > 0 ? (path_step *)steps->data + steps->n - 1 : NULL;
        if (!last || last->number != number) {
            last = tm_vec_append(steps, &(path_step){.number = number}, 1);
            if (!last)
                return false;
        }
        last->ns += tm_table_cell(pieces, r, "duration_ns")->value.i;
        last->n++;
    }
    return true;
}

/*
 * Returns whether the step of a row is kept.
 *
 * @param context  the kept steps: a tm_vec of int64_t, ascending
 */
static bool is_kept(const tm_table *pieces, const tm_cell *row, void *context) {
    const tm_vec *kept = context;
    int64_t number = row[tm_table_column(pieces->def, "step")].value.i;
    size_t at = tm_lower_bound(kept->data, kept->n, number);
    return at < kept->n && ((const int64_t *)kept->data)[at] == number;
}

tm_status tm_report_limit_path(tm_table *pieces, size_t most, size_t *left_out, tm_error *err) {
    tm_vec steps = TM_VEC(path_step), kept = TM_VEC(int64_t);
    size_t before = pieces->n_rows, n = 0;
    bool ok = before <= most || sum_steps(pieces, &steps);
    if (ok && steps.n > 0) {
        qsort(steps.data, steps.n, steps.size, by_length);
        for (size_t k = 0; k < steps.n && ok; k++) {
            const path_step *step = (const path_step *)steps.data + k;
            n += step->n;
            if (k > 0 && n > most)
                break;
            ok = tm_vec_append(&kept, &step->number, 1) != NULL;
        }
    }
    if (ok && kept.n > 0) {
        qsort(kept.data, kept.n, kept.size, tm_compare_i64);
        tm_table_filter(pieces, is_kept, &kept);
    }
    tm_vec_free(&steps);
    tm_vec_free(&kept);
    if (!ok)
        return tm_fail_memory(err);
    *left_out = before - pieces->n_rows;
    return TM_OK;
}

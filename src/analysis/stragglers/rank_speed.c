#include "rank_speed.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "base/vec.h"

/* A rank's compute time in one step. */
typedef struct sample {
    int64_t step, rank, compute_ns;
    double speed;
} sample;

static int by_step(const void *a, const void *b) {
    const sample *x = a, *y = b;
    int order = tm_order_i64(x->step, y->step);
    return order ? order : tm_order_i64(x->compute_ns, y->compute_ns);
}

static int by_rank(const void *a, const void *b) {
    const sample *x = a, *y = b;
    int order = tm_order_i64(x->rank, y->rank);
    return order ? order : tm_order_real(x->speed, y->speed);
}

static tm_status read_samples(const tm_tables *tables, tm_vec *out, tm_error *err) {
    const tm_table *steps = tm_tables_find(tables, "overlap.step");
    for (size_t i = 0; i < steps->n_rows; i++) {
        sample s = {tm_table_cell(steps, i, "step")->value.i,
                    tm_table_cell(steps, i, "rank")->value.i,
                    tm_table_cell(steps, i, "compute_ns")->value.i, 0.0};
        bool has_gpu = tm_table_cell(steps, i, "window_ns")->value.i > 0;
        if (has_gpu && !tm_vec_append(out, &s, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Speeds against the median of each step; steps without compute time of a rank are left out. */
static size_t set_speeds(sample *v, size_t n) {
    size_t kept = 0;
    if (n > 1)
        qsort(v, n, sizeof *v, by_step);
    for (size_t first = 0, i = 0; first < n; first = i) {
        for (i = first + 1; i < n && v[i].step == v[first].step; i++)
            ;
        size_t m = i - first;
        int64_t twice = v[first + (m - 1) / 2].compute_ns + v[first + m / 2].compute_ns;
        double median = (double)twice / 2.0;
        for (size_t k = first; k < i; k++)
            if (v[k].compute_ns > 0) {
                v[kept] = v[k];
                v[kept++].speed = median / (double)v[k].compute_ns;
            }
    }
    return kept;
}

tm_status tm_rank_speeds(const tm_tables *tables, tm_table *ranks, int column, tm_error *err) {
    tm_vec samples = TM_VEC(sample);
    tm_status status = read_samples(tables, &samples, err);
    if (status == TM_OK && samples.n > 0) {
        sample *v = samples.data;
        size_t n = set_speeds(v, samples.n), at = 0;
        if (n > 1)
            qsort(v, n, sizeof *v, by_rank);
        for (size_t r = 0; r < ranks->n_rows; r++) {
            tm_cell *row = tm_table_row(ranks, r);
            size_t first = at;
            while (at < n && v[at].rank == row[0].value.i)
                at++;
            if (at > first)
                tm_cell_set_real(&row[column], (v[first + (at - first - 1) / 2].speed +
                                                v[first + (at - first) / 2].speed) /
                                                   2.0);
        }
    }
    tm_vec_free(&samples);
    return status;
}

#include "rank_speed.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"
#include "base/vec.h"

/* A rank's compute time in a step. */
typedef struct sample {
    int64_t step, rank, compute_ns;
    double speed;
} sample;

TM_ORDER_BY(by_step, sample, step);

TM_ORDER_BY(by_rank, sample, rank);

/* Reads the samples. A rank without GPU events has no window, so it has no speed. */
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

/* Computes speeds relative to the median of each step. Drops samples without computation. */
static size_t set_speeds(sample *v, size_t n, double *scratch) {
    size_t kept = 0;
    if (n > 1)
        qsort(v, n, sizeof *v, by_step);
    for (size_t first = 0, i = 0; first < n; first = i) {
        for (i = first + 1; i < n && v[i].step == v[first].step; i++)
            ;
        for (size_t k = first; k < i; k++)
            scratch[k - first] = (double)v[k].compute_ns;
        double median = tm_median_real(scratch, i - first);
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
    double *scratch = malloc((samples.n + 1) * sizeof *scratch);
    if (status == TM_OK && !scratch)
        status = tm_fail_memory(err);
    if (status == TM_OK && samples.n > 0) {
        sample *v = samples.data;
        size_t n = set_speeds(v, samples.n, scratch), at = 0;
        if (n > 1)
            qsort(v, n, sizeof *v, by_rank);
        /* samples and rows are sorted by rank */
        for (size_t r = 0; r < ranks->n_rows; r++) {
            tm_cell *row = tm_table_row(ranks, r);
            size_t first = at;
            for (; at < n && v[at].rank == row[0].value.i; at++)
                scratch[at - first] = v[at].speed;
            if (at > first)
                tm_cell_set_real(&row[column], tm_median_real(scratch, at - first));
        }
    }
    free(scratch);
    tm_vec_free(&samples);
    return status;
}

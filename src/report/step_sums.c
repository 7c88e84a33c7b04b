#include "report/step_sums.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"

typedef struct tm_step_sum {
    int64_t number, longest_ns;
    double sum_ns; /* sum of the step's length on the n ranks that recorded the whole step */
    int64_t n;
} tm_step_sum;

/* A step that a rank recorded only in part. */
typedef struct partial_step {
    int64_t step, rank;
} partial_step;

TM_ORDER_BY(by_number, tm_step_sum, number);

TM_ORDER_BY(by_step, partial_step, step, rank);

static int64_t int_of(const tm_table *table, size_t row, const char *column, int64_t fallback) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return cell->null ? fallback : cell->value.i;
}

/* Appends an empty sum for each row's step. The caller removes duplicates. */
static bool add_steps(tm_vec *steps, const tm_table *table) {
    for (size_t row = 0; row < table->n_rows; row++) {
        tm_step_sum next = {.number = int_of(table, row, "step", -1)};
        if (!tm_vec_append(steps, &next, 1))
            return false;
    }
    return true;
}

static void put_together(tm_vec *steps) {
    tm_step_sum *v = steps->data;
    size_t n = 0;
    tm_vec_sort(steps, by_number);
    for (size_t i = 0; i < steps->n; i++)
        if (n == 0 || v[n - 1].number != v[i].number)
            v[n++] = v[i];
    steps->n = n;
    tm_vec_trim(steps);
}

static tm_step_sum *sum_of(const tm_vec *steps, int64_t number) {
    size_t i = TM_FIRST_FROM(tm_step_sum, number, steps->data, steps->n, number);
    tm_step_sum *found = (tm_step_sum *)steps->data + i;
    return i < steps->n && found->number == number ? found : NULL;
}

static void add_times(const tm_vec *steps, const tm_table *overview, const tm_vec *partial) {
    for (size_t row = 0; row < overview->n_rows; row++) {
        const partial_step key = {int_of(overview, row, "step", -1),
                                  int_of(overview, row, "rank", -1)};
        int64_t ns = int_of(overview, row, "step_ns", -1);
        tm_step_sum *sum = sum_of(steps, key.step);
        if (!sum || ns < 0)
            continue;
        sum->longest_ns = ns > sum->longest_ns ? ns : sum->longest_ns;
        if (partial->n > 0 && bsearch(&key, partial->data, partial->n, partial->size, by_step))
            continue;
        sum->sum_ns += (double)ns;
        sum->n++;
    }
}

/* Takes the lengths of the job's steps from whatif.step, as the charts do. */
static void take_lengths(const tm_vec *steps, const tm_table *whatif) {
    for (size_t row = 0; row < whatif->n_rows; row++) {
        tm_step_sum *sum = sum_of(steps, int_of(whatif, row, "step", -1));
        if (sum)
            sum->longest_ns = int_of(whatif, row, "step_ns", sum->longest_ns);
    }
}

static bool find_partial(const tm_table *overlap, tm_vec *out) {
    for (size_t row = 0; row < overlap->n_rows; row++) {
        const partial_step next = {int_of(overlap, row, "step", -1),
                                   int_of(overlap, row, "rank", -1)};
        if (int_of(overlap, row, "partial", 0) == 1 && !tm_vec_append(out, &next, 1))
            return false;
    }
    tm_vec_sort(out, by_step);
    return true;
}

tm_status tm_page_read_table(const tm_store *store, tm_table *table, tm_error *err) {
    return tm_store_has_table(store, table->def->name) ? tm_store_read_table(store, table, err)
                                                       : TM_OK;
}

static tm_status make(const tm_store *store, const tm_tables *tables, tm_vec *partial,
                      tm_step_sums *out, tm_error *err) {
    tm_table *overlap = tm_tables_find(tables, "overlap.step");
    tm_table *overview = tm_tables_find(tables, "overview.step");
    tm_table *whatif = tm_tables_find(tables, "whatif.step");
    TM_TRY(tm_page_read_table(store, overlap, err));
    if (!add_steps(&out->steps, overlap) || !find_partial(overlap, partial))
        return tm_fail_memory(err);
    tm_table_clear(overlap);
    put_together(&out->steps);
    TM_TRY(tm_page_read_table(store, overview, err));
    if (!add_steps(&out->steps, overview))
        return tm_fail_memory(err);
    put_together(&out->steps);
    add_times(&out->steps, overview, partial);
    tm_table_clear(overview);
    TM_TRY(tm_page_read_table(store, whatif, err));
    take_lengths(&out->steps, whatif);
    tm_table_clear(whatif);
    return TM_OK;
}

tm_status tm_step_sums_make(const tm_store *store, const tm_tables *tables, tm_step_sums *out,
                            tm_error *err) {
    tm_vec partial = TM_VEC(partial_step);
    *out = (tm_step_sums){TM_VEC(tm_step_sum)};
    tm_status status = make(store, tables, &partial, out, err);
    tm_vec_free(&partial);
    return status;
}

void tm_step_sums_free(tm_step_sums *sums) {
    tm_vec_free(&sums->steps);
}

bool tm_step_sums_numbers(const tm_step_sums *sums, tm_vec *out) {
    const tm_step_sum *v = sums->steps.data;
    bool ok = true;
    for (size_t i = 0; i < sums->steps.n && ok; i++)
        ok = tm_vec_append(out, &v[i].number, 1) != NULL;
    return ok;
}

bool tm_step_sums_longest(const tm_step_sums *sums, size_t n, tm_vec *out) {
    const tm_step_sum *v = sums->steps.data;
    bool ok = true;
    for (size_t run = 0; run < n && ok; run++) {
        size_t best = run * sums->steps.n / n, end = (run + 1) * sums->steps.n / n;
        if (best == end)
            continue;
        for (size_t i = best + 1; i < end; i++)
            best = v[i].longest_ns > v[best].longest_ns ? i : best;
        ok = tm_vec_append(out, &v[best].number, 1) != NULL;
    }
    return ok;
}

bool tm_step_sums_time(const tm_step_sums *sums, tm_step_time *out) {
    const tm_step_sum *v = sums->steps.data;
    double *means = malloc((sums->steps.n + 1) * sizeof *means);
    size_t n = 0;
    *out = (tm_step_time){.known = false};
    if (!means)
        return false;
    for (size_t i = 0; i < sums->steps.n; i++)
        if (v[i].n > 0)
            means[n++] = v[i].sum_ns / (double)v[i].n;
    if (n > 0) {
        tm_sort_reals(means, n);
        *out =
            (tm_step_time){true, (means[(n - 1) / 2] + means[n / 2]) / 2.0, means[0], means[n - 1]};
    }
    free(means);
    return true;
}

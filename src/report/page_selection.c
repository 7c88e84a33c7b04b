#include "report/page_selection.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

enum {
    STEP_RUNS = 192,  /* number of stretches of steps; the longest step of each is kept */
    SPREAD_RANKS = 64 /* number of ranks chosen at even distances */
};

/* A rule that chooses the ranks or steps of the n_most rows with the largest measure, and of the
 * n_least rows with the smallest measure. */
typedef struct criterion {
    const char *table;
    const char *number_column; /* column with the number of the rank or step */
    /* column with the measure; NULL: the rule takes the first n_most rows */
    const char *measure_column;
    const char *added_column; /* column that is added to the measure; NULL: nothing is added */
    const char *over_column;  /* column by which the measure is divided; NULL: it is not divided */
    size_t n_most, n_least;
} criterion;

/* The rules for ranks, most important first. If they choose more ranks than the page may keep, the
 * ranks chosen last are dropped. */
static const criterion of_ranks[] = {
    {"stragglers.job", "rank", NULL, NULL, NULL, 1, 0},
    {"stragglers.finding", "rank", "excess_ns", NULL, NULL, 16, 0},
    {"stragglers.rank", "rank", "direct_ns", "indirect_ns", NULL, 40, 0},
    {"overlap.rank", "rank", "compute_ns", NULL, "window_ns", 1, 1},
    {"overlap.rank", "rank", "comm_to_compute", NULL, NULL, 1, 1},
    {"overlap.rank", "rank", "idle_ns", NULL, NULL, 8, 4},
    {"overlap.rank", "rank", "compute_ns", NULL, NULL, 8, 4},
    {"overlap.rank", "rank", "exposed_wait_ns", NULL, NULL, 8, 4},
    {"overlap.rank", "rank", "exposed_comm_ns", NULL, NULL, 4, 0},
    {"stragglers.rank", "rank", "wait_ns", NULL, NULL, 8, 2},
    {"stragglers.rank", "rank", "relative_speed", NULL, NULL, 2, 8},
    {"job.rank", "rank", "truncated", NULL, NULL, 16, 0},
    {"job.rank", "rank", "events", NULL, NULL, 2, 2},
    {"idle.rank", "rank", "idle_ns", NULL, NULL, 4, 0},
    {"launches.rank", "rank", "host_bound_pct", NULL, NULL, 8, 0},
    {"input.rank", "rank", "slowest", NULL, NULL, 1, 0},
    {"input.rank", "rank", "load_ns", NULL, NULL, 4, 0},
    {"memory.device", "rank", "capacity_pct", NULL, NULL, 4, 0},
    {"memory.device", "rank", "peak_bytes", NULL, NULL, 4, 0},
    {"memory.device", "rank", "growth_bytes", NULL, NULL, 4, 0},
    {"criticalpath.rank", "rank", "path_ns", NULL, NULL, 8, 0},
    {"transfers.kind", "rank", "total_ns", NULL, NULL, 4, 0},
    {"overview.rank", "rank", "step_ns", NULL, NULL, 4, 2},
    {"clock.rank", "rank", "uncertainty_ns", NULL, NULL, 4, 0},
    {"collectives.worst", "last_rank", "wait_ns", NULL, NULL, 32, 0},
    {"whatif.step", "best_rank", "saved_ns", NULL, NULL, 16, 0},
};

static const criterion of_steps[] = {
    {"stragglers.step", "step", "caused_wait_ns", NULL, NULL, 32, 0},
    {"stragglers.finding", "from", "excess_ns", NULL, NULL, 8, 0},
    {"stragglers.finding", "to", "excess_ns", NULL, NULL, 8, 0},
    {"imbalance.step", "step", "imbalance_pct", NULL, NULL, 16, 0},
    {"imbalance.step", "step", "load_balance", NULL, NULL, 0, 1},
    {"whatif.step", "step", "saved_ns", NULL, NULL, 16, 0},
    {"whatif.step", "step", "step_ns", NULL, NULL, 16, 1},
    {"input.rank", "slowest_step", "slowest_step_load_ns", NULL, NULL, 8, 0},
    {"memory.device", "peak_step", "peak_bytes", NULL, NULL, 4, 0},
    {"collectives.worst", "step", "wait_ns", NULL, NULL, 32, 0},
};

typedef struct ranked {
    double measure;
    int64_t number;
} ranked;

/* The ranks or steps that rules have chosen so far. */
typedef struct wishes {
    tm_vec order; /* vector of int64_t: chosen numbers, most important first, no duplicates */
    tm_vec all;   /* vector of int64_t, ascending: the numbers of all ranks, or of all steps, of the
                     job */
    bool *has;    /* owned; [all.n] whether `order` contains all[i] */
} wishes;

static void free_wishes(wishes *w) {
    tm_vec_free(&w->order);
    tm_vec_free(&w->all);
    free(w->has);
}

static bool wish(wishes *w, int64_t number) {
    size_t i = tm_lower_bound(w->all.data, w->all.n, number);
    if (i == w->all.n || ((const int64_t *)w->all.data)[i] != number || w->has[i])
        return true;
    w->has[i] = true;
    return tm_vec_append(&w->order, &number, 1) != NULL;
}

static bool set_all(wishes *w) {
    int64_t *v = w->all.data;
    size_t n = 0;
    tm_vec_sort(&w->all, tm_compare_i64);
    for (size_t i = 0; i < w->all.n; i++)
        if (n == 0 || v[n - 1] != v[i])
            v[n++] = v[i];
    w->all.n = n;
    w->has = calloc(n + 1, sizeof *w->has);
    return w->has != NULL;
}

static double value_of(const tm_table *table, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    bool real = tm_column_of(table->def, column)->type == TM_REAL;
    return cell->null ? 0.0 : real ? cell->value.r : (double)cell->value.i;
}

/* Computes the measure of a row. Returns false if a value is missing. The row is then not
 * chosen. */
static bool measure_row(const tm_table *table, const criterion *c, size_t row, double *out) {
    *out = 0.0;
    if (tm_table_cell(table, row, c->number_column)->null)
        return false;
    if (!c->measure_column)
        return true;
    if (tm_table_cell(table, row, c->measure_column)->null)
        return false;
    *out = value_of(table, row, c->measure_column) +
           (c->added_column ? value_of(table, row, c->added_column) : 0.0);
    double over = c->over_column ? value_of(table, row, c->over_column) : 1.0;
    *out /= over > 0.0 ? over : 1.0;
    return over > 0.0;
}

TM_ORDER_FALLING(by_measure, ranked, measure, number);

static bool apply(wishes *w, const tm_table *table, const criterion *c) {
    tm_vec found = TM_VEC(ranked);
    bool ok = true;
    for (size_t row = 0; row < table->n_rows && ok; row++) {
        ranked next;
        if (!measure_row(table, c, row, &next.measure))
            continue;
        next.number = tm_table_cell(table, row, c->number_column)->value.i;
        ok = tm_vec_append(&found, &next, 1) != NULL;
    }
    const ranked *v = found.data;
    if (ok && found.n > 0 && c->measure_column)
        qsort(found.data, found.n, found.size, by_measure);
    for (size_t i = 0; i < found.n && i < c->n_most && ok; i++)
        ok = wish(w, v[i].number);
    for (size_t i = 0; i < found.n && i < c->n_least && ok; i++)
        ok = wish(w, v[found.n - 1 - i].number);
    tm_vec_free(&found);
    return ok;
}

/* Applies the rules. If adjacent rules use the same table, reads it only once. */
static tm_status apply_all(const tm_store *store, const tm_tables *tables, wishes *w,
                           const criterion *criteria, size_t n, tm_error *err) {
    tm_status status = TM_OK;
    for (size_t i = 0; i < n && status == TM_OK; i++) {
        tm_table *table = tm_tables_find(tables, criteria[i].table);
        status = table->n_rows > 0 ? TM_OK : tm_page_read_table(store, table, err);
        if (status == TM_OK && !apply(w, table, &criteria[i]))
            status = tm_fail_memory(err);
        if (i + 1 == n || strcmp(criteria[i].table, criteria[i + 1].table) != 0)
            tm_table_clear(table);
    }
    return status;
}

static bool wish_list(wishes *w, const char *text) {
    bool ok = true;
    for (char *end; *text && ok; text = end) {
        int64_t number = strtoll(text, &end, 10);
        if (end == text)
            break;
        ok = wish(w, number);
        end += strspn(end, ", ");
    }
    return ok;
}

/* Chooses the ranks of the whole plan: those of the last row of @p items with `what` "plan". */
static bool wish_plan(wishes *w, const tm_table *items) {
    const char *plan = "";
    for (size_t row = 0; row < items->n_rows; row++) {
        const tm_cell *what = tm_table_cell(items, row, "what");
        const tm_cell *name = tm_table_cell(items, row, "name");
        if (!what->null && !name->null && strcmp(what->value.text, "plan") == 0)
            plan = name->value.text;
    }
    return wish_list(w, plan);
}

/* Chooses @p n numbers at even distances, then twice as many, and so on up to all. */
static bool wish_rest(wishes *w, size_t n) {
    const int64_t *all = w->all.data;
    bool ok = true;
    for (; ok && w->order.n < w->all.n; n = 2 * n < w->all.n ? 2 * n : w->all.n)
        for (size_t i = 0; i < n && ok; i++)
            ok = wish(w, all[i * (w->all.n - 1) / (n > 1 ? n - 1 : 1)]);
    return ok;
}

static bool wish_ends(wishes *w) {
    const int64_t *all = w->all.data;
    size_t n = w->all.n;
    bool ok = true;
    for (size_t i = 0; i < 2 && i < n && ok; i++)
        ok = wish(w, all[i]) && wish(w, all[n - 1 - i]);
    return ok;
}

static void keep_first(tm_vec *out, const tm_vec *order, size_t n) {
    n = n < order->n ? n : order->n;
    out->n = 0;
    if (tm_vec_append(out, order->data, n) && n > 0)
        qsort(out->data, n, out->size, tm_compare_i64);
}

/* Keeps all ranks or steps if there are at most @p whole. Otherwise, keeps the first @p most of the
 * chosen ones. */
static bool keep(const wishes *w, size_t whole, size_t most, tm_page_kept *out) {
    out->n = w->all.n;
    if (w->all.n <= whole)
        return w->all.n == 0 || tm_vec_append(&out->kept, w->all.data, w->all.n);
    keep_first(&out->kept, &w->order, most);
    return out->kept.n > 0;
}

/* Chooses fewer ranks and steps for the tables that have a row for each step of each rank. */
static bool keep_cells(const wishes *ranks, const wishes *steps, tm_page_selection *out) {
    size_t n_ranks = out->ranks.kept.n, n_steps = out->steps.kept.n;
    if (n_ranks * n_steps > TM_PAGE_CELLS_WHOLE) {
        n_steps = n_steps < 64 ? n_steps : 64;
        n_ranks = n_ranks < TM_PAGE_CELLS / n_steps ? n_ranks : TM_PAGE_CELLS / n_steps;
        n_steps = TM_PAGE_CELLS / n_ranks < out->steps.kept.n ? TM_PAGE_CELLS / n_ranks
                                                              : out->steps.kept.n;
    }
    keep_first(&out->ranks.cells, n_ranks == out->ranks.kept.n ? &out->ranks.kept : &ranks->order,
               n_ranks);
    keep_first(&out->steps.cells, n_steps == out->steps.kept.n ? &out->steps.kept : &steps->order,
               n_steps);
    return out->ranks.cells.n == n_ranks && out->steps.cells.n == n_steps;
}

static tm_status choose_ranks(const tm_store *store, const tm_tables *tables, wishes *w,
                              tm_error *err) {
    const size_t n = sizeof of_ranks / sizeof *of_ranks;
    tm_table *items = tm_tables_find(tables, "whatif.item");
    tm_status status = tm_page_read_table(store, items, err);
    /* the ranks that the verdict and its findings name are first */
    if (status == TM_OK)
        status = apply_all(store, tables, w, of_ranks, 2, err);
    if (status == TM_OK && !(wish_plan(w, items) && wish_ends(w)))
        status = tm_fail_memory(err);
    tm_table_clear(items);
    if (status == TM_OK)
        status = apply_all(store, tables, w, of_ranks + 2, n - 2, err);
    if (status == TM_OK && !wish_rest(w, SPREAD_RANKS))
        status = tm_fail_memory(err);
    return status;
}

static tm_status choose_steps(const tm_store *store, const tm_tables *tables,
                              const tm_step_sums *sums, wishes *w, tm_error *err) {
    const size_t n = sizeof of_steps / sizeof *of_steps;
    tm_vec longest = TM_VEC(int64_t);
    bool ok = wish_ends(w);
    tm_status status = ok ? apply_all(store, tables, w, of_steps, n, err) : tm_fail_memory(err);
    /* Divides the recording first into few stretches, then into more. If later steps are dropped,
     * the first ones still cover the whole recording. */
    for (size_t runs = 12; runs <= STEP_RUNS && status == TM_OK; runs *= 4) {
        ok = tm_step_sums_longest(sums, runs, &longest);
        for (size_t i = 0; i < longest.n && ok; i++)
            ok = wish(w, ((const int64_t *)longest.data)[i]);
        status = ok ? TM_OK : tm_fail_memory(err);
        longest.n = 0;
    }
    tm_vec_free(&longest);
    return status == TM_OK && !wish_rest(w, STEP_RUNS) ? tm_fail_memory(err) : status;
}

static tm_status add_ranks(const tm_store *store, const tm_tables *tables, wishes *w,
                           tm_error *err) {
    tm_table *table = tm_tables_find(tables, "job.rank");
    tm_status status = tm_page_read_table(store, table, err);
    for (size_t row = 0; row < table->n_rows && status == TM_OK; row++)
        if (!tm_vec_append(&w->all, &tm_table_cell(table, row, "rank")->value.i, 1))
            status = tm_fail_memory(err);
    tm_table_clear(table);
    return status == TM_OK && !set_all(w) ? tm_fail_memory(err) : status;
}

typedef struct chooser {
    wishes ranks, steps;
    tm_step_sums sums;
} chooser;

static tm_status choose(const tm_store *store, const tm_tables *tables, chooser *c,
                        tm_page_selection *out, tm_error *err) {
    TM_TRY(tm_step_sums_make(store, tables, &c->sums, err));
    TM_TRY(add_ranks(store, tables, &c->ranks, err));
    if (!tm_step_sums_numbers(&c->sums, &c->steps.all) || !set_all(&c->steps) ||
        !tm_step_sums_time(&c->sums, &out->step_time))
        return tm_fail_memory(err);
    size_t n_ranks = c->ranks.all.n, n_steps = c->steps.all.n;
    if (n_ranks * n_steps > TM_PAGE_CELLS_WHOLE || n_ranks > TM_PAGE_RANKS_WHOLE ||
        n_steps > TM_PAGE_STEPS_WHOLE) {
        TM_TRY(choose_ranks(store, tables, &c->ranks, err));
        TM_TRY(choose_steps(store, tables, &c->sums, &c->steps, err));
    }
    return keep(&c->ranks, TM_PAGE_RANKS_WHOLE, TM_PAGE_RANKS, &out->ranks) &&
                   keep(&c->steps, TM_PAGE_STEPS_WHOLE, TM_PAGE_STEPS, &out->steps) &&
                   keep_cells(&c->ranks, &c->steps, out)
               ? TM_OK
               : tm_fail_memory(err);
}

tm_status tm_page_selection_make(const tm_store *store, const tm_tables *tables,
                                 tm_page_selection *out, tm_error *err) {
    chooser c = {.ranks = {TM_VEC(int64_t), TM_VEC(int64_t), NULL},
                 .steps = {TM_VEC(int64_t), TM_VEC(int64_t), NULL}};
    *out = (tm_page_selection){.ranks = {TM_VEC(int64_t), TM_VEC(int64_t), 0},
                               .steps = {TM_VEC(int64_t), TM_VEC(int64_t), 0}};
    tm_status status = choose(store, tables, &c, out, err);
    tm_step_sums_free(&c.sums);
    free_wishes(&c.ranks);
    free_wishes(&c.steps);
    return status;
}

void tm_page_selection_free(tm_page_selection *selection) {
    TM_VECS_FREE(&selection->ranks.kept, &selection->ranks.cells, &selection->steps.kept,
                 &selection->steps.cells);
}

bool tm_page_is_part(const tm_page_kept *kept) {
    return kept->kept.n < kept->n;
}

static bool has(const tm_vec *numbers, int64_t number) {
    size_t i = tm_lower_bound(numbers->data, numbers->n, number);
    return i < numbers->n && ((const int64_t *)numbers->data)[i] == number;
}

bool tm_page_keeps(const tm_page_kept *kept, int64_t number) {
    return has(&kept->kept, number);
}

bool tm_page_keeps_cell(const tm_page_kept *kept, int64_t number) {
    return has(&kept->cells, number);
}

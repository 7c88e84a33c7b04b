#include "launched.h"

#include <string.h>

#include "base/median.h"
#include "base/sums.h"
#include "calls.h"
#include "named.h"
#include "over_ranks.h"
#include "rank_sums.h"
#include "table/levels.h"

/* Maximum number of rows of a level in the table. All further rows are merged into one row. */
enum { LISTED = 5000 };

/* Special values of an operator's name id. */
enum { UNKNOWN = -2, OUTSIDE = -1 };

/* Levels of the table, in alphabetical order of the words that the table has for them. */
enum { BY_KERNEL, BY_OPERATOR, N_LEVELS };
/* Columns of the part table, keys first. */
enum { P_LEVEL, P_KERNEL, P_OPERATOR, P_INSIDE, P_RANK, P_CALLS, P_TOTAL, N_PART };

static const char *const level_words[N_LEVELS] = {"kernel", "operator"};

static const tm_column part_columns[N_PART] = {
    [P_LEVEL] = {"level", TM_INT, "", "Number of the level."},
    [P_KERNEL] = {"kernel", TM_INT, "", "Name id of the GPU event."},
    [P_OPERATOR] = {"operator", TM_INT, "", "Name id of the operator."},
    [P_INSIDE] = {"inside", TM_INT, "", "Name id of the function, module or annotation."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_CALLS] = {"calls", TM_INT, "", "Number of events."},
    [P_TOTAL] = {"total_ns", TM_INT, "ns", "Sum of the durations of the events."},
};

const tm_table_def tm_launched_part =
    TM_PART_TABLE("kernels.launched_part",
                  "A row for each rank, GPU event and operator or code location that launched it.",
                  part_columns, P_RANK);

enum {
    S_LEVEL,
    S_KERNEL,
    S_OPERATOR,
    S_INSIDE,
    S_CALLS,
    S_TOTAL,
    S_MEAN,
    S_SHARE,
    S_RANKS, /* first column of TM_OVER_RANKS_COLUMNS */
    N_SHOWN = S_RANKS + 4
};

static const tm_column columns[N_SHOWN] = {
    [S_LEVEL] = TM_LEVEL_COLUMN("kernel (a kernel with the operator and the function, module or "
                                "annotation that launched it: columns operator and inside) or "
                                "operator (an operator with the kernel that it launched)"),
    [S_KERNEL] = {"kernel", TM_TEXT, "", "Name of the kernel, copy or set."},
    [S_OPERATOR] =
        {"operator", TM_TEXT, "",
         "Innermost operator that launched the event. If there is none, the reason: the event was "
         "launched outside of all operators, or its launch is not in the trace."},
    [S_INSIDE] = {"inside", TM_TEXT, "",
                  "Innermost function, module or annotation (except steps) of the user's program "
                  "around the launch. Null if none was recorded, and on level operator, whose rows "
                  "are sums over functions, modules and annotations."},
    [S_CALLS] = {"calls", TM_INT, "", "Number of GPU events, over all ranks."},
    [S_TOTAL] = {"total_ns", TM_INT, "ns",
                 "Sum of the durations of the GPU events, over all ranks."},
    [S_MEAN] = {"mean_ns", TM_INT, "ns", "Mean duration of an event: total_ns / calls."},
    [S_SHARE] =
        {"share_pct", TM_REAL, "%",
         "Share of the row in the time of its kernel: 100 total_ns / the sum of total_ns over all "
         "rows of the kernel. On level operator: share in the time of its operator."},
    [S_RANKS] = TM_OVER_RANKS_COLUMNS("total_ns"),
};

const tm_table_def tm_launched_table = {
    .name = "kernels.launched",
    .doc = "A row for each kernel, copy or set and its launcher, over all ranks. Each level has "
           "the 5000 rows with the largest total_ns and a row for the rest, which does not compare "
           "ranks. The rows of a level add up to the time of all streams.",
    TM_ARRAY(columns, columns),
    .n_keys = S_INSIDE + 1,
    .top = S_TOTAL,
};

typedef struct launch_key {
    int64_t parts[P_RANK];
} launch_key;

typedef struct launch_sum {
    int64_t calls, total_ns;
} launch_sum;

static int64_t operator_of(const tm_rank_view *view, uint32_t row) {
    uint32_t call = view->operators->above[row];
    if (call != TM_NO_CALL)
        return view->timeline->name[view->operators->calls[call].row];
    return view->timeline->launch[row] == TM_NO_EVENT ? UNKNOWN : OUTSIDE;
}

static int64_t place_of(const tm_rank_view *view, uint32_t row) {
    uint32_t call = view->places->above[row];
    return call == TM_NO_CALL ? TM_NO_NAME : view->timeline->name[view->places->calls[call].row];
}

static void set_cells(const void *of, const void *value, int64_t *cells) {
    const launch_sum *sum = value;
    memcpy(cells, of, sizeof(launch_key));
    cells[P_CALLS] = sum->calls;
    cells[P_TOTAL] = sum->total_ns;
}

static bool add(tm_rank_sums *sums, launch_key key, launch_sum one) {
    launch_sum *sum = tm_rank_sums_at(sums, &key);
    if (!sum)
        return false;
    sum->calls += one.calls;
    sum->total_ns = tm_sum(sum->total_ns, one.total_ns);
    return true;
}

/* Sums GPU events by name, operator and place in the code. */
static bool sum_events(const tm_rank_view *view, tm_rank_sums *sums) {
    const tm_timeline *timeline = view->timeline;
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        if (track->kind != TM_TRACK_GPU)
            continue;
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            if (timeline->role[row] == TM_ROLE_NONE)
                continue;
            const launch_key key = {
                {BY_KERNEL, timeline->name[row], operator_of(view, row), place_of(view, row)}};
            if (!add(sums, key, (launch_sum){1, timeline->duration_ns[row]}))
                return false;
        }
    }
    return true;
}

/* Adds the sums over places in the code, which are the rows of level BY_OPERATOR. */
static bool sum_places(tm_rank_sums *sums) {
    bool ok = true;
    for (size_t i = 0, n = sums->values.n; i < n && ok; i++) {
        const int64_t *parts = ((const launch_key *)sums->keys.keys.data)[i].parts;
        const launch_key key = {{BY_OPERATOR, parts[P_KERNEL], parts[P_OPERATOR], TM_NO_NAME}};
        ok = add(sums, key, ((const launch_sum *)sums->values.data)[i]);
    }
    return ok;
}

tm_status tm_launched_rows(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_rank_sums sums = TM_RANK_SUMS(launch_key, launch_sum);
    bool ok = sum_events(view, &sums) && sum_places(&sums);
    return tm_rank_sums_put(&sums, ok, view->timeline->rank, set_cells,
                            tm_tables_find(out, tm_launched_part.name), err);
}

static tm_status set_key(const tm_names *names, int64_t id, tm_table *shown, tm_cell *cell,
                         tm_error *err) {
    if (id >= 0)
        return tm_set_named(names, id, shown, cell, err);
    return tm_table_set_text(shown, cell, id == OUTSIDE ? TM_LAUNCHED_OUTSIDE : TM_LAUNCHED_UNKNOWN,
                             err);
}

static tm_status set_row(const tm_names *names, const tm_rank_rows *rows, tm_table *shown,
                         tm_cell *row, tm_error *err) {
    const tm_cell *key = tm_rank_rows_key(rows);
    const int64_t calls = tm_over_ranks_sum(rows, P_CALLS);
    tm_over_ranks total;
    TM_TRY(tm_over_ranks_column(rows, P_TOTAL, &total, err));
    tm_cell_set_int(&row[S_CALLS], calls);
    tm_cell_set_int(&row[S_TOTAL], total.sum);
    tm_cell_set_int(&row[S_MEAN], tm_round_ratio(total.sum, calls));
    tm_over_ranks_set(&row[S_RANKS], &total);
    TM_TRY(tm_table_set_text(shown, &row[S_LEVEL], level_words[key[P_LEVEL].value.i], err));
    for (int k = P_KERNEL; k <= P_INSIDE; k++)
        TM_TRY(set_key(names, key[k].value.i, shown, &row[k], err));
    return TM_OK;
}

tm_status tm_launched_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&tm_launched_part, &tm_launched_table, names, tables, set_row, err);
}

/* Returns whether two texts are equal. Empty names are null, and two nulls are equal. */
static bool same_text(const tm_cell *a, const tm_cell *b) {
    return a->null == b->null && (a->null || strcmp(a->value.text, b->value.text) == 0);
}

/* Sets the share of each row in the total of all rows of the same name.
 * @param column  column with the name, by which the level's rows are sorted */
static void set_shares(tm_table *shown, const char *level, int column) {
    size_t last;
    for (size_t end, first = tm_table_level(shown, level, &last); first < last; first = end) {
        int64_t total = 0;
        const tm_cell *name = tm_table_row(shown, first) + column;
        for (end = first; end < last && same_text(tm_table_row(shown, end) + column, name); end++)
            total = tm_sum(total, tm_table_row(shown, end)[S_TOTAL].value.i);
        for (size_t i = first; i < end; i++) {
            tm_cell *row = tm_table_row(shown, i);
            tm_cell_set_ratio(&row[S_SHARE], 100.0, row[S_TOTAL].value.i, total);
        }
    }
}

/* Merges the rows of a level after the first LISTED rows into one row. */
static launch_sum rest_of(const tm_table *shown, const char *level) {
    launch_sum rest = {0};
    size_t end;
    for (size_t i = tm_table_level(shown, level, &end) + LISTED; i < end; i++) {
        rest.calls += tm_table_row(shown, i)[S_CALLS].value.i;
        rest.total_ns = tm_sum(rest.total_ns, tm_table_row(shown, i)[S_TOTAL].value.i);
    }
    return rest;
}

static tm_status add_rest(tm_table *shown, const char *level, launch_sum rest, tm_error *err) {
    tm_cell *row = rest.calls > 0 ? tm_table_add_row(shown) : NULL;
    if (!row)
        return rest.calls > 0 ? tm_fail_memory(err) : TM_OK;
    tm_cell_set_int(&row[S_CALLS], rest.calls);
    tm_cell_set_int(&row[S_TOTAL], rest.total_ns);
    tm_cell_set_int(&row[S_MEAN], tm_round_ratio(rest.total_ns, rest.calls));
    TM_TRY(tm_table_set_text(shown, &row[S_LEVEL], level, err));
    TM_TRY(tm_table_set_text(shown, &row[S_KERNEL], TM_LAUNCHED_OTHERS, err));
    return tm_table_set_text(shown, &row[S_OPERATOR], TM_LAUNCHED_OTHERS, err);
}

tm_status tm_launched_order(tm_tables *out, tm_error *err) {
    tm_table *shown = tm_tables_find(out, tm_launched_table.name);
    launch_sum rests[N_LEVELS];
    tm_table_order(shown, S_OPERATOR, true);
    tm_table_order(shown, S_LEVEL, true);
    set_shares(shown, level_words[BY_OPERATOR], S_OPERATOR);
    tm_table_sort(shown);
    set_shares(shown, level_words[BY_KERNEL], S_KERNEL);
    tm_table_top(shown, SIZE_MAX);
    for (int l = 0; l < N_LEVELS; l++)
        rests[l] = rest_of(shown, level_words[l]);
    tm_table_top(shown, LISTED);
    for (int l = 0; l < N_LEVELS; l++)
        TM_TRY(add_rest(shown, level_words[l], rests[l], err));
    tm_table_order(shown, S_LEVEL, true);
    return TM_OK;
}

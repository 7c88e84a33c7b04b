#include "launched.h"

#include <string.h>

#include "base/keys.h"
#include "base/median.h"
#include "base/sums.h"
#include "calls.h"
#include "named.h"
#include "over_ranks.h"

/* Number of rows shown; the others become one row. */
enum { LISTED = 5000 };

/* Values in place of an operator's name id. */
enum { UNKNOWN = -2, OUTSIDE = -1 };

const tm_column tm_launched_part_columns[] = {
    {"first", TM_INT, "", "Name id of the GPU event or operator."},
    {"second", TM_INT, "", "Name id of the operator or GPU event, respectively."},
    {"inside", TM_INT, "", "Name id of the code location."},
    {"rank", TM_INT, "", "Global rank."},
    {"calls", TM_INT, "", "Number of events."},
    {"total_ns", TM_INT, "ns", "Sum of durations."},
};

typedef struct launch_key {
    int64_t parts[TM_LAUNCHED_P_KEYS];
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

static bool add_parts(int64_t rank, const tm_keys *keys, const tm_vec *sums, tm_table *part) {
    for (size_t i = 0; i < sums->n; i++) {
        const launch_key *key = (const launch_key *)keys->keys.data + i;
        const launch_sum *sum = (const launch_sum *)sums->data + i;
        tm_cell *row = tm_table_add_row(part);
        if (!row)
            return false;
        for (int k = 0; k < TM_LAUNCHED_P_KEYS; k++)
            tm_cell_set_int(&row[k], key->parts[k]);
        tm_cell_set_int(&row[TM_LAUNCHED_P_RANK], rank);
        tm_cell_set_int(&row[TM_LAUNCHED_P_CALLS], sum->calls);
        tm_cell_set_int(&row[TM_LAUNCHED_P_TOTAL], sum->total_ns);
    }
    return true;
}

/* Sums GPU events by event, operator and code location. */
static bool sum_events(const tm_rank_view *view, tm_keys *keys, tm_vec *sums) {
    const tm_timeline *timeline = view->timeline;
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        if (track->kind != TM_TRACK_GPU)
            continue;
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            if (timeline->role[row] == TM_ROLE_NONE)
                continue;
            const launch_key key = {
                {timeline->name[row], operator_of(view, row), place_of(view, row)}};
            launch_sum *sum = tm_keys_value(keys, sums, &key);
            if (!sum)
                return false;
            sum->calls++;
            sum->total_ns = tm_sum(sum->total_ns, timeline->duration_ns[row]);
        }
    }
    return true;
}

/* Regroups these sums by operator and event. */
static bool sum_places(const tm_keys *keys, const tm_vec *sums, tm_keys *into, tm_vec *into_sums) {
    for (size_t i = 0; i < sums->n; i++) {
        const int64_t *parts = ((const launch_key *)keys->keys.data)[i].parts;
        const launch_sum *one = (const launch_sum *)sums->data + i;
        const launch_key key = {{parts[1], parts[0], TM_NO_NAME}};
        launch_sum *sum = tm_keys_value(into, into_sums, &key);
        if (!sum)
            return false;
        sum->calls += one->calls;
        sum->total_ns = tm_sum(sum->total_ns, one->total_ns);
    }
    return true;
}

tm_status tm_launched_rows(const tm_rank_view *view, tm_table *by_event, tm_table *by_operator,
                           tm_error *err) {
    tm_keys keys = TM_KEYS(launch_key), operator_keys = TM_KEYS(launch_key);
    tm_vec sums = TM_VEC(launch_sum), operator_sums = TM_VEC(launch_sum);
    bool ok = sum_events(view, &keys, &sums) &&
              sum_places(&keys, &sums, &operator_keys, &operator_sums) &&
              add_parts(view->timeline->rank, &keys, &sums, by_event) &&
              add_parts(view->timeline->rank, &operator_keys, &operator_sums, by_operator);
    tm_keys_free(&keys);
    tm_vec_free(&sums);
    tm_keys_free(&operator_keys);
    tm_vec_free(&operator_sums);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status set_key(const tm_names *names, int64_t id, tm_table *shown, tm_cell *cell,
                         tm_error *err) {
    if (id >= 0)
        return tm_set_named(names, id, shown, cell, err);
    return tm_table_set_text(shown, cell, id == OUTSIDE ? TM_LAUNCHED_OUTSIDE : TM_LAUNCHED_UNKNOWN,
                             err);
}

tm_status tm_launched_merge(const tm_names *names, const tm_table *part, tm_table *shown,
                            tm_error *err) {
    int n_keys = shown->def->n_keys;
    for (size_t first = 0, end; first < part->n_rows; first = end) {
        const tm_cell *key = tm_table_row(part, first);
        tm_over_ranks total;
        end = tm_over_ranks_end(part, first);
        TM_TRY(tm_over_ranks_column(part, first, end, TM_LAUNCHED_P_TOTAL, &total, err));
        int64_t calls = tm_over_ranks_sum(part, first, end, TM_LAUNCHED_P_CALLS);
        tm_cell *row = tm_table_add_row(shown);
        if (!row)
            return tm_fail_memory(err);
        for (int k = 0; k < n_keys; k++)
            TM_TRY(set_key(names, key[k].value.i, shown, &row[k], err));
        row += n_keys;
        tm_cell_set_int(&row[TM_LAUNCHED_CALLS], calls);
        tm_cell_set_int(&row[TM_LAUNCHED_TOTAL], total.sum);
        tm_cell_set_int(&row[TM_LAUNCHED_MEAN], tm_round_ratio(total.sum, calls));
        tm_cell_set_int(&row[TM_LAUNCHED_RANKS], total.ranks);
        tm_cell_set_int(&row[TM_LAUNCHED_MEDIAN_RANK], total.median);
        tm_cell_set_int(&row[TM_LAUNCHED_MAX_RANK_TIME], total.max);
        tm_cell_set_int(&row[TM_LAUNCHED_MAX_RANK], total.max_rank);
    }
    return TM_OK;
}

/* Names without text are null. */
static bool same_text(const tm_cell *a, const tm_cell *b) {
    return a->null == b->null && (a->null || strcmp(a->value.text, b->value.text) == 0);
}

/* Rows are sorted by key, so rows with the same first key are adjacent. */
static void set_shares(tm_table *shown) {
    int at = shown->def->n_keys;
    for (size_t first = 0, end; first < shown->n_rows; first = end) {
        int64_t total = 0;
        const tm_cell *name = tm_table_row(shown, first);
        for (end = first; end < shown->n_rows && same_text(tm_table_row(shown, end), name); end++)
            total = tm_sum(total, tm_table_row(shown, end)[at + TM_LAUNCHED_TOTAL].value.i);
        for (size_t i = first; i < end; i++) {
            tm_cell *row = tm_table_row(shown, i) + at;
            tm_cell_set_ratio(&row[TM_LAUNCHED_SHARE], 100.0, row[TM_LAUNCHED_TOTAL].value.i,
                              total);
        }
    }
}

tm_status tm_launched_order(tm_table *shown, tm_error *err) {
    int at = shown->def->n_keys;
    launch_sum rest = {0};
    set_shares(shown);
    tm_table_top(shown, SIZE_MAX);
    for (size_t i = LISTED; i < shown->n_rows; i++) {
        const tm_cell *row = tm_table_row(shown, i) + at;
        rest.calls += row[TM_LAUNCHED_CALLS].value.i;
        rest.total_ns = tm_sum(rest.total_ns, row[TM_LAUNCHED_TOTAL].value.i);
    }
    if (rest.calls == 0)
        return TM_OK;
    shown->n_rows = LISTED;
    tm_cell *row = tm_table_add_row(shown);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[at + TM_LAUNCHED_CALLS], rest.calls);
    tm_cell_set_int(&row[at + TM_LAUNCHED_TOTAL], rest.total_ns);
    tm_cell_set_int(&row[at + TM_LAUNCHED_MEAN], tm_round_ratio(rest.total_ns, rest.calls));
    TM_TRY(tm_table_set_text(shown, &row[0], TM_LAUNCHED_OTHERS, err));
    return tm_table_set_text(shown, &row[1], TM_LAUNCHED_OTHERS, err);
}

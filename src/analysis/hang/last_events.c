/* Finds the call in which a rank's trace ends. If a profiler is stopped during a hang, it records
 * the stop as the end of all calls that have not returned. In PyTorch's profiler, these ends differ
 * by a few nanoseconds. Calls with such an end count as open. */
#include "last_events.h"

#include <stdio.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "tables.h"

enum { OPEN_NS = 1000, SHOWN = 4, DEEP = 64, TEXT = 512, NOBODY = -1 };

static const tm_column seen_columns[N_HS] = {
    [HS_RANK] = {"rank", TM_INT, "",
                 "Global rank; -1 in the row that only asks ranks to fill this table."},
    [HS_OFFSET] = {"offset_ns", TM_INT, "ns",
                   "Offset of the job's clock from the rank's clock at the end of the rank's "
                   "trace; null if unknown."},
    [HS_END] = {"end_ns", TM_INT, "ns", "End of the rank's last CPU call, on the job's clock."},
    [HS_STEP] = {"step", TM_INT, "", "Number of the rank's last step."},
    [HS_STEP_BEGIN] = {"step_begin_ns", TM_INT, "ns",
                       "Start of the rank's last step, on the job's clock."},
    [HS_CALL] = {"call", TM_TEXT, "",
                 "CPU calls that had not returned when the trace ended, innermost first. If all "
                 "calls had returned: the last recorded call."},
    [HS_CALL_BEGIN] = {"call_begin_ns", TM_INT, "ns",
                       "Start of the innermost of these calls (column call), on the job's clock."},
    [HS_OPEN] = {"open", TM_BOOL, "",
                 "Whether the innermost of these calls (column call) had not returned when the "
                 "trace ended."},
};

const tm_table_def tm_hang_seen_def = {.name = "hang.seen",
                                       .doc = "A row for each rank with a trace.",
                                       TM_ARRAY(columns, seen_columns),
                                       .n_keys = 1,
                                       .top = -1,
                                       .internal = true};

tm_status tm_hang_seen_ask(tm_tables *tables, tm_error *err) {
    tm_cell *row = tm_table_add_row(tm_tables_find(tables, tm_hang_seen_def.name));
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[HS_RANK], NOBODY);
    return TM_OK;
}

const tm_cell *tm_hang_seen_of(const tm_table *seen, int64_t rank) {
    size_t low = 0, high = seen->n_rows;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const bool before = tm_hang_int(seen, middle, HS_RANK, NOBODY) < rank;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low < seen->n_rows && tm_hang_int(seen, low, HS_RANK, NOBODY) == rank
               ? tm_table_row(seen, low)
               : NULL;
}

static bool is_call(const tm_timeline *t, uint32_t row) {
    const uint32_t calls = UINT32_C(1) << TM_CAT_CPU_OP | UINT32_C(1) << TM_CAT_USER_ANNOTATION |
                           UINT32_C(1) << TM_CAT_PYTHON | UINT32_C(1) << TM_CAT_RUNTIME |
                           UINT32_C(1) << TM_CAT_DRIVER | UINT32_C(1) << TM_CAT_MPI;
    return t->kind[row] == TM_DURATION && calls >> t->category[row] & 1;
}

static int64_t end_of(const tm_timeline *t, uint32_t row) {
    return t->begin_ns[row] + t->duration_ns[row];
}

/* Returns the thread that has steps; without steps, the thread with the most calls; NULL if there
 * are no calls. */
static const tm_track *main_thread(const tm_timeline *t) {
    const tm_track *found = NULL;
    size_t most = 0;
    for (size_t i = 0; i < t->n_tracks; i++) {
        const tm_track *track = &t->tracks[i];
        size_t n = 0, steps = 0;
        for (uint32_t k = 0; k < track->count && track->kind == TM_TRACK_CPU; k++) {
            n += is_call(t, track->first + k);
            steps += tm_timeline_is_step(t, track->first + k);
        }
        n = steps > 0 ? SIZE_MAX : n;
        found = n > most ? track : found;
        most = n > most ? n : most;
    }
    return found;
}

/* Finds the thread's calls that were open at the end, outermost first, at most DEEP. Returns 0 if
 * none of them is a Python function. A trace without Python functions may simply end where its last
 * call returned. */
static size_t find_open(const tm_timeline *t, const tm_track *thread, int64_t end, uint32_t *rows) {
    size_t n = 0;
    bool python = false;
    for (uint32_t k = 0; k < thread->count && n < DEEP; k++) {
        const uint32_t row = thread->first + k;
        if (is_call(t, row) && !tm_timeline_is_step(t, row) && end_of(t, row) >= end - OPEN_NS)
            rows[n++] = row;
        python = python || (n > 0 && t->category[rows[n - 1]] == TM_CAT_PYTHON);
    }
    return python ? n : 0;
}

/* Returns the thread's call that began last; TM_NO_EVENT if there is none. */
static uint32_t last_call(const tm_timeline *t, const tm_track *thread) {
    for (uint32_t k = thread->count; k-- > 0;)
        if (is_call(t, thread->first + k) && !tm_timeline_is_step(t, thread->first + k))
            return thread->first + k;
    return TM_NO_EVENT;
}

static const char *name_of(const tm_rank_view *view, uint32_t row) {
    return tm_names_text(view->names, view->timeline->name[row]).bytes;
}

/* Writes the innermost call, and the functions of the user's program around it: "queue.py(171): get
 * < train.py(33): load < ...". Omits calls that stop the profiler. Returns the row of the innermost
 * call; TM_NO_EVENT if there is none. */
static uint32_t describe(const tm_rank_view *view, const uint32_t *rows, size_t n, char *text) {
    size_t shown = 0, used = 0;
    uint32_t first = TM_NO_EVENT;
    for (size_t i = 0; i < n; i++)
        n = strncmp(name_of(view, rows[i]), "torch/profiler/", 15) == 0 ? i : n;
    for (size_t i = n; i-- > 0 && shown < SHOWN;) {
        const char *name = name_of(view, rows[i]);
        const bool python = view->timeline->category[rows[i]] == TM_CAT_PYTHON;
        if (shown > 0 && (!python || !tm_is_own_code(name)))
            continue;
        const int more =
            snprintf(text + used, TEXT - used, "%s%.110s", shown > 0 ? " < " : "", name);
        used += more > 0 ? (size_t)more : 0;
        first = first == TM_NO_EVENT ? rows[i] : first;
        shown++;
    }
    return first;
}

static int64_t last_end(const tm_timeline *t) {
    int64_t end = INT64_MIN;
    for (size_t i = 0; i < t->n_tracks; i++)
        for (uint32_t k = 0; k < t->tracks[i].count && t->tracks[i].kind == TM_TRACK_CPU; k++) {
            const uint32_t row = t->tracks[i].first + k;
            if (is_call(t, row) && end_of(t, row) > end)
                end = end_of(t, row);
        }
    return end;
}

/* Sets a time if it is a time of day and the rank's clock is comparable. */
static void set_time(const tm_timeline *t, tm_cell *cell, int64_t recorded_ns) {
    if (t->clock.way != TM_CLOCK_UNKNOWN && t->counts[TM_COUNT_NO_EPOCH] == 0)
        tm_cell_set_int(cell, tm_rank_clock_true(&t->clock, recorded_ns));
}

static tm_status set_call(const tm_rank_view *view, const tm_track *thread, int64_t end,
                          tm_table *seen, tm_cell *row, tm_error *err) {
    const tm_timeline *t = view->timeline;
    uint32_t rows[DEEP];
    char text[TEXT] = "";
    uint32_t call = describe(view, rows, find_open(t, thread, end, rows), text);
    const bool open = call != TM_NO_EVENT;
    call = open ? call : last_call(t, thread);
    if (call == TM_NO_EVENT)
        return TM_OK;
    tm_cell_set_bool(&row[HS_OPEN], open);
    set_time(t, &row[HS_CALL_BEGIN], t->begin_ns[call]);
    return tm_table_set_text(seen, &row[HS_CALL], open ? text : name_of(view, call), err);
}

tm_status tm_hang_seen_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *t = view->timeline;
    tm_table *seen = tm_tables_find(out, tm_hang_seen_def.name);
    if (seen->n_rows == 0)
        return TM_OK;
    const tm_track *thread = main_thread(t);
    tm_cell *row = tm_table_add_row(seen);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[HS_RANK], t->rank);
    if (t->n_steps > 0 && t->steps[t->n_steps - 1].annotated) {
        tm_cell_set_int(&row[HS_STEP], t->steps[t->n_steps - 1].number);
        set_time(t, &row[HS_STEP_BEGIN], t->steps[t->n_steps - 1].begin_ns);
    }
    if (!thread)
        return TM_OK;
    const int64_t end = last_end(t);
    set_time(t, &row[HS_END], end);
    if (!row[HS_END].null)
        tm_cell_set_int(&row[HS_OFFSET], row[HS_END].value.i - end);
    return set_call(view, thread, end, seen, row, err);
}

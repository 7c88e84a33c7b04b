/* Analysis `sync`: which host calls wait for the GPU, from where, and how much GPU time they cost.
 */
#include "tmerge/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/calls.h"
#include "analysis/shared/gaps.h"
#include "analysis/shared/host_time.h"
#include "analysis/shared/named.h"
#include "analysis/shared/over_ranks.h"
#include "analysis/shared/rank_sums.h"
#include "base/median.h"
#include "base/sorted.h"
#include "base/sums.h"

/* Maximum number of rows shown: there may be many call sites. */
#define LISTED 1000

enum {
    S_CALL,
    S_OPERATOR,
    S_INSIDE,
    S_CALLS,
    S_PER_STEP,
    S_TOTAL,
    S_MEAN,
    S_MAX,
    S_LOST,
    S_RANKS,
    S_SLOWEST_TIME,
    S_SLOWEST
};

static const tm_column sync_columns[] = {
    [S_CALL] = {"call", TM_TEXT, "", "Name of the runtime or driver call."},
    [S_OPERATOR] = {"operator", TM_TEXT, "",
                    "Innermost operator around the call; null if there is none."},
    [S_INSIDE] = {"inside", TM_TEXT, "",
                  "Innermost function, module or annotation (except steps) of the user's program "
                  "around the call; null if none was recorded."},
    [S_CALLS] = {"calls", TM_INT, "", "Number of calls from this call site, over all ranks."},
    [S_PER_STEP] = {"calls_per_step", TM_REAL, "",
                    "Number of calls in a marked step of a rank: calls within steps / steps of all "
                    "ranks. Null if no step is marked."},
    [S_TOTAL] = {"total_ns", TM_INT, "ns", "Sum of the durations of the calls, over all ranks."},
    [S_MEAN] = {"mean_ns", TM_INT, "ns", "Mean duration of a call: total_ns / calls."},
    [S_MAX] = {"max_ns", TM_INT, "ns", "Duration of the longest call."},
    [S_LOST] =
        {"lost_ns", TM_INT, "ns",
         "GPU idle time that the calls cause, over all ranks: gaps that began during a call, and "
         "whose next event was launched after the call. A gap counts for at most the time that the "
         "call waited. The sum over all rows is the sum of idle.rank.sync_ns over all ranks."},
    [S_RANKS] = {"ranks", TM_INT, "", "Number of ranks that made the calls."},
    [S_SLOWEST_TIME] = {"max_rank_lost_ns", TM_INT, "ns", "Largest lost_ns of a single rank."},
    [S_SLOWEST] =
        {"max_rank", TM_INT, "",
         "Rank with the largest lost_ns (max_rank_lost_ns); the lowest if there are several."},
};

static const tm_table_def sync_def = {
    .name = "sync.call",
    .doc = "A row for each call site of a call that waits for the GPU (synchronizing, blocking "
           "copies as from .item() and .cpu()) or that may wait (allocating, freeing or pinning "
           "memory, loading code), over all ranks. Limited to the 1000 rows with the largest "
           "lost_ns, then total_ns; sorted in this order.",
    TM_ARRAY(columns, sync_columns),
    .n_keys = 3,
    .top = S_LOST,
};

enum { P_CALL, P_OPERATOR, P_INSIDE, P_RANK, P_CALLS, P_STEP_CALLS, P_TOTAL, P_MAX, P_LOST };
enum { N_PART_COLUMNS = P_LOST + 1 };

static const tm_column part_columns[N_PART_COLUMNS] = {
    [P_CALL] = {"call", TM_INT, "", "Name id of the call."},
    [P_OPERATOR] = {"operator", TM_INT, "", "Name id of the operator."},
    [P_INSIDE] = {"inside", TM_INT, "", "Name id of the function, module or annotation."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_CALLS] = {"calls", TM_INT, "", "Number of calls."},
    [P_STEP_CALLS] = {"step_calls", TM_INT, "", "Number of calls within marked steps."},
    [P_TOTAL] = {"total_ns", TM_INT, "ns", "Sum of the durations of the calls."},
    [P_MAX] = {"max_ns", TM_INT, "ns", "Duration of the longest call."},
    [P_LOST] = {"lost_ns", TM_INT, "ns", "GPU idle time that the calls cause."},
};

static const tm_table_def part_def = TM_PART_TABLE(
    "sync.call_part", "A row for each call, call site and rank: its part of sync.call.",
    part_columns, 3);

static const tm_table_def *const defs[] = {&sync_def, &part_def};

/* A call that waits or may wait for the GPU. */
typedef struct waiting {
    int64_t begin_ns, end_ns, lost_ns;
    uint32_t row;
    bool waits; /* whether the call waits; initially false if its name says that it returns at once
                 */
} waiting;

typedef struct place_key {
    uint32_t call, operator, inside;
} place_key;

typedef struct place_sum {
    int64_t calls, step_calls, total_ns, max_ns, lost_ns;
} place_sum;

TM_ORDER_BY(by_begin, waiting, begin_ns, row);

TM_ORDER_BY(by_row, waiting, row);

/* Returns whether a call's name says that the call returns before the GPU has done the work. This
 * holds for asynchronous calls, including stream-ordered allocation, and for all memory sets except
 * Ascend's. */
static bool returns_at_once(const tm_rank_view *view, uint32_t row) {
    const char *name = tm_names_text(view->names, view->timeline->name[row]).bytes;
    return tm_call_kinds_of(view->call_kinds, view->timeline, row) != TM_CALL_KIND_SYNC &&
           (strstr(name, "Async") || (*name != 'A' && strstr(name, "Memset")));
}

/* Finds the calls that wait or may wait for the GPU, in order of their rows. */
static bool find_calls(const tm_rank_view *view, tm_vec *out) {
    const tm_timeline *timeline = view->timeline;
    const uint32_t *rows = view->host->waits.data;
    for (size_t i = 0; i < view->host->waits.n; i++) {
        const waiting w = {.begin_ns = timeline->begin_ns[rows[i]],
                           .end_ns = timeline->begin_ns[rows[i]] + timeline->duration_ns[rows[i]],
                           .row = rows[i],
                           .waits = !returns_at_once(view, rows[i])};
        if (!tm_vec_append(out, &w, 1))
            return false;
    }
    return true;
}

/* Marks a copy's call as waiting if it blocked the host, as copies of pageable memory do. */
static void mark_late_copies(const tm_timeline *timeline, tm_vec *calls) {
    const tm_copy_attr *copies = timeline->attrs[TM_ATTR_COPY];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COPY]; i++) {
        uint32_t row = copies[i].event;
        const waiting key = {.row = timeline->launch[row]};
        waiting *w = key.row == TM_NO_EVENT
                         ? NULL
                         : bsearch(&key, calls->data, calls->n, sizeof key, by_row);
        if (w && timeline->role[row] == TM_ROLE_MEMORY && tm_copy_held_host(timeline, row))
            w->waits = true;
    }
}

/*
 * Finds the call that caused a gap. Only calls that were running when the gap started count. Of
 * these, returns the call on the thread that launched the next work. If there is none, returns the
 * call that started last; NULL if no call was running.
 * @param open  indices into @p calls of the running calls
 */
static waiting *open_call(const tm_timeline *timeline, const tm_gap *gap, waiting *calls,
                          tm_vec *open) {
    const tm_track *thread = tm_timeline_track(timeline, timeline->launch[gap->next]);
    waiting *found = NULL;
    size_t kept = 0;
    uint32_t *at = open->data;
    for (size_t i = 0; i < open->n; i++) {
        waiting *w = &calls[at[i]];
        if (w->end_ns <= gap->begin_ns)
            continue;
        at[kept++] = at[i];
        if (!found || tm_timeline_track(timeline, found->row) != thread)
            found = w;
    }
    open->n = kept;
    return found;
}

/* Adds the lost time of each gap to the call that caused it. Gaps and calls are sorted by start. */
static bool lay_losses(const tm_rank_view *view, tm_vec *calls) {
    tm_vec open = TM_VEC(uint32_t);
    waiting *all = calls->data;
    bool ok = true;
    uint32_t next = 0;
    for (size_t g = 0; g < view->gaps->gaps.n && ok; g++) {
        const tm_gap *gap = (const tm_gap *)view->gaps->gaps.data + g;
        for (; next < calls->n && all[next].begin_ns < gap->begin_ns && ok; next++)
            ok = tm_vec_append(&open, &next, 1);
        if (!ok || gap->sync_ns == 0)
            continue;
        waiting *w = open_call(view->timeline, gap, all, &open);
        if (w) {
            w->waits = true;
            w->lost_ns += gap->sync_ns;
        }
    }
    tm_vec_free(&open);
    return ok;
}

static bool count_calls(const tm_rank_view *view, const tm_vec *calls, tm_rank_sums *sums) {
    const tm_timeline *timeline = view->timeline;
    for (size_t i = 0; i < calls->n; i++) {
        const waiting *w = (const waiting *)calls->data + i;
        uint32_t call = view->operators->above[w->row], inside = view->places->above[w->row];
        if (!w->waits)
            continue;
        const place_key key = {
            .call = timeline->name[w->row],
            .operator= call == TM_NO_CALL ? TM_NO_NAME
                                          : timeline->name[view->operators->calls[call].row],
            .inside =
                inside == TM_NO_CALL ? TM_NO_NAME : timeline->name[view->places->calls[inside].row],
        };
        place_sum *sum = tm_rank_sums_at(sums, &key);
        if (!sum)
            return false;
        int32_t step = timeline->step[w->row];
        int64_t duration = w->end_ns - w->begin_ns;
        sum->calls++;
        sum->step_calls += step != TM_NO_STEP && timeline->steps[step].annotated;
        sum->total_ns = tm_sum(sum->total_ns, duration);
        sum->max_ns = duration > sum->max_ns ? duration : sum->max_ns;
        sum->lost_ns = tm_sum(sum->lost_ns, w->lost_ns);
    }
    return true;
}

static void set_cells(const void *of, const void *value, int64_t *cells) {
    const place_key *key = of;
    const place_sum *sum = value;
    cells[P_CALL] = key->call;
    cells[P_OPERATOR] = key->operator;
    cells[P_INSIDE] = key->inside;
    cells[P_CALLS] = sum->calls;
    cells[P_STEP_CALLS] = sum->step_calls;
    cells[P_TOTAL] = sum->total_ns;
    cells[P_MAX] = sum->max_ns;
    cells[P_LOST] = sum->lost_ns;
}

static tm_status sync_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_vec calls = TM_VEC(waiting);
    tm_rank_sums sums = TM_RANK_SUMS(place_key, place_sum);
    bool ok = find_calls(view, &calls);
    if (ok && calls.n > 0) {
        mark_late_copies(view->timeline, &calls);
        qsort(calls.data, calls.n, sizeof(waiting), by_begin);
        ok = lay_losses(view, &calls) && count_calls(view, &calls, &sums);
    }
    tm_vec_free(&calls);
    return tm_rank_sums_put(&sums, ok, view->timeline->rank, set_cells,
                            tm_tables_find(out, part_def.name), err);
}

/* Sorts by lost_ns, then by total_ns: the second sort is stable. */
static void order(tm_table *table) {
    tm_table_rank(table, S_TOTAL);
    tm_table_top(table, LISTED);
}

static tm_status set_call(const tm_names *names, const tm_rank_rows *rows, tm_table *table,
                          tm_cell *row, tm_error *err) {
    const tm_cell *key = tm_rank_rows_key(rows);
    tm_over_ranks lost, longest;
    TM_TRY(tm_over_ranks_column(rows, P_LOST, &lost, err));
    TM_TRY(tm_over_ranks_column(rows, P_MAX, &longest, err));
    int64_t calls = tm_over_ranks_sum(rows, P_CALLS), total = tm_over_ranks_sum(rows, P_TOTAL);
    tm_cell_set_int(&row[S_CALLS], calls);
    /* number of calls within steps; the job part divides it by the number of steps */
    tm_cell_set_real(&row[S_PER_STEP], (double)tm_over_ranks_sum(rows, P_STEP_CALLS));
    tm_cell_set_int(&row[S_TOTAL], total);
    tm_cell_set_int(&row[S_MEAN], tm_round_ratio(total, calls));
    tm_cell_set_int(&row[S_MAX], longest.max);
    tm_cell_set_int(&row[S_LOST], lost.sum);
    tm_cell_set_int(&row[S_RANKS], lost.ranks);
    tm_cell_set_int(&row[S_SLOWEST_TIME], lost.max);
    tm_cell_set_int(&row[S_SLOWEST], lost.max_rank);
    TM_TRY(tm_set_named(names, key[P_CALL].value.i, table, &row[S_CALL], err));
    TM_TRY(tm_set_named(names, key[P_OPERATOR].value.i, table, &row[S_OPERATOR], err));
    return tm_set_named(names, key[P_INSIDE].value.i, table, &row[S_INSIDE], err);
}

static tm_status sync_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    TM_TRY(tm_over_ranks_merge(&part_def, &sync_def, names, tables, set_call, err));
    /* This process has all parts of each row, so it can already drop the rows that are not among
     * its largest. */
    order(tm_tables_find(tables, sync_def.name));
    return TM_OK;
}

static tm_status sync_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, sync_def.name);
    const tm_table *jobs = tm_tables_find(out, "job.job"),
                   *all = tm_tables_find(out, "overview.job");
    bool marked = jobs->n_rows > 0 && tm_table_cell(jobs, 0, "steps")->value.i > 0;
    int64_t steps = marked && all->n_rows > 0 ? tm_table_cell(all, 0, "steps")->value.i : 0;
    (void)job;
    (void)err;
    for (size_t i = 0; i < table->n_rows; i++) {
        tm_cell *cell = &tm_table_row(table, i)[S_PER_STEP];
        tm_cell_set_ratio(cell, 1.0, (int64_t)cell->value.r, steps);
    }
    order(table);
    return TM_OK;
}

const tm_analysis tm_analysis_sync = {
    .name = "sync",
    .summary = "which calls wait for the GPU, where they are in the program, and how much GPU time "
               "they lose",
    TM_ARRAY(tables, defs),
    .reads = TM_READS_GAPS | TM_READS_PLACES,
    .rank = sync_rank,
    .merge = sync_merge,
    .job = sync_job,
};

#include <stdlib.h>

#include "base/intervals.h"
#include "base/median.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "bubble.h"

enum { PAIRS_MOST = 5000, PASSES_MOST = 20000 };

enum {
    S_STAGE,
    S_RANKS,
    S_PASSES,
    S_FORWARD,
    S_BACKWARD,
    S_SPAN,
    S_BUBBLE,
    S_BUBBLE_PCT,
    S_LATE,
    S_TRANSFER
};

static const tm_column stage_columns[] = {
    [S_STAGE] = {"stage", TM_INT, "", "Number of the pipeline stage. Stage 0 sends first."},
    [S_RANKS] = {"ranks", TM_INT, "", "Number of ranks of the stage, summed over all pipelines."},
    [S_PASSES] = {"forward_passes", TM_INT, "",
                  "Number of forward passes of a rank in a step (median): micro-batches times "
                  "model chunks of a rank."},
    [S_FORWARD] = {"forward_ns", TM_INT, "ns",
                   "Median duration of a forward pass on a rank of the stage."},
    [S_BACKWARD] = {"backward_ns", TM_INT, "ns",
                    "Median duration of a backward pass on a rank of the stage."},
    [S_SPAN] = {"span_ns", TM_INT, "ns",
                "Sum of the durations of the pipeline's steps (bubble.step.span_ns) over steps and "
                "the stage's ranks."},
    [S_BUBBLE] = {"bubble_ns", TM_INT, "ns",
                  "Time within span_ns in which the stage's ranks run no pass."},
    [S_BUBBLE_PCT] = {"bubble_pct", TM_REAL, "%",
                      "Share of the stage's time without a pass: 100 bubble_ns / span_ns."},
    [S_LATE] = {"late_sender_ns", TM_INT, "ns",
                "Time that the stage's ranks waited for senders in the whole recording: sum of "
                "bubble.pair.late_sender_ns over the known values; null if there are none."},
    [S_TRANSFER] = {"transfer_ns", TM_INT, "ns",
                    "Duration of transfers to the stage's ranks in the whole recording: sum of "
                    "bubble.pair.transfer_ns."},
};

const tm_table_def tm_bubble_stage_def = {
    .name = "bubble.stage",
    .doc =
        "A row for each stage, over all pipelines and over the steps in bubble.step. If the traces "
        "do not show which passes are backward, there are no rows, but bubble.pair has the waits.",
    TM_ARRAY(columns, stage_columns),
    .n_keys = 1,
    .top = S_BUBBLE_PCT,
};

enum { T_PIPELINE, T_STEP, T_STAGES, T_RANKS, T_PASSES, T_BEGIN, T_SPAN, T_BUBBLE, T_IDEAL, T_N };

static const tm_column step_columns[T_N] = {
    [T_PIPELINE] =
        {"pipeline", TM_INT, "",
         "Lowest rank of the pipeline. A pipeline is a set of ranks that send to one another."},
    [T_STEP] = {"step", TM_INT, "", "Number of the step."},
    [T_STAGES] = {"stages", TM_INT, "", "Number of stages of the pipeline."},
    [T_RANKS] = {"ranks", TM_INT, "", "Number of ranks of the pipeline."},
    [T_PASSES] = {"forward_passes", TM_INT, "",
                  "Number of forward passes of each rank in the step."},
    [T_BEGIN] = {"begin_ns", TM_INT, tm_epoch_ns,
                 "Aligned start of the pipeline's first pass in the step, since the epoch."},
    [T_SPAN] = {"span_ns", TM_INT, "ns",
                "Time from the start of the pipeline's first pass in the step (begin_ns) to the "
                "end of its last pass."},
    [T_BUBBLE] = {"bubble_pct", TM_REAL, "%",
                  "Share of span_ns in which a rank runs no pass: mean over the pipeline's ranks."},
    [T_IDEAL] = {"ideal_pct", TM_REAL, "%",
                 "Expected bubble of the schedules GPipe, 1F1B and interleaved 1F1B if all passes "
                 "of a direction take equally long and transfers take no time: 100 (stages - 1) / "
                 "(forward_passes + stages - 1)."},
};

const tm_table_def tm_bubble_step_def = {
    .name = "bubble.step",
    .doc = "A row for each pipeline and step in which all ranks have the same number of forward "
           "passes and as many backward passes. A pass is the computation of a rank in one "
           "direction between two of its transfers, in launch order. Autograd's nodes, or the "
           "names in a trace of operations, show which passes are backward.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 2,
    .top = T_BUBBLE,
};

enum { A_STEP, A_STAGE, A_RANK, A_DIRECTION, A_NUMBER, A_BEGIN, A_END, A_N };

static const tm_column pass_columns[A_N] = {
    [A_STEP] = {"step", TM_INT, "", "Number of the step."},
    [A_STAGE] = {"stage", TM_INT, "", "Stage of the rank."},
    [A_RANK] = {"rank", TM_INT, "", "Global rank."},
    [A_DIRECTION] = {"direction", TM_TEXT, "", "Direction of the pass: forward or backward."},
    [A_NUMBER] = {"number", TM_INT, "",
                  "Number of the pass among the rank's passes of this direction in the step, from "
                  "1. With one model chunk per rank, it is the number of the micro-batch."},
    [A_BEGIN] = {"begin_ns", TM_INT, tm_epoch_ns, "Aligned start of the pass, since the epoch."},
    [A_END] = {"end_ns", TM_INT, tm_epoch_ns, "Aligned end of the pass, since the epoch."},
};

const tm_table_def tm_bubble_pass_def = {
    .name = "bubble.pass",
    .doc = "A row for each pass of the slowest pipeline of each step in bubble.step. Limited to "
           "the first steps that fit in 20000 rows.",
    TM_ARRAY(columns, pass_columns),
    .n_keys = A_NUMBER + 1,
    .top = -1,
};

/* The passes of a rank in a step: rows [first, end) of bubble.part. */
typedef struct run {
    int64_t pipeline, step, rank, stage;
    size_t first, end;
    int64_t forward, backward; /* number of passes */
    int64_t begin_ns, end_ns, busy_ns;
    int64_t span_ns; /* duration of the pipeline's step [ns]; 0 if a rank lacks the step */
} run;

typedef struct length {
    int64_t stage, backward, ns;
} length;

typedef struct scan {
    tm_tables *tables;
    const tm_table *places, *parts;
    int64_t *pipeline; /* owned; [rows of places] number of the pipeline of the row's rank */
    tm_vec runs;       /* vector of run */
    bool full;         /* a step was too long for bubble.pass; no later step is added */
} scan;

static int64_t stage_of(const tm_table *places, int64_t rank) {
    size_t at = tm_table_find_row(places, &rank, 1);
    return at < places->n_rows ? tm_table_row(places, at)[TM_BUBBLE_R_STAGE].value.i : -1;
}

static void add_cell(tm_cell *into, const tm_cell *more) {
    if (into->null || more->null)
        into->null = true;
    else
        into->value.i = tm_sum(into->value.i, more->value.i);
}

static tm_status add_pairs(const scan *s, tm_error *err) {
    const tm_table *parts = tm_tables_find(s->tables, tm_bubble_pair_part_def.name);
    tm_table *table = tm_tables_find(s->tables, tm_bubble_pair_def.name);
    for (size_t i = 0, k; i < parts->n_rows; i = k) {
        const tm_cell *first = tm_table_row(parts, i);
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        for (int c = 0; c < TM_BUBBLE_T_N; c++)
            row[c] = first[c];
        for (k = i + 1; k < parts->n_rows; k++) {
            const tm_cell *next = tm_table_row(parts, k);
            if (next[TM_BUBBLE_T_FROM].value.i != first[TM_BUBBLE_T_FROM].value.i ||
                next[TM_BUBBLE_T_TO].value.i != first[TM_BUBBLE_T_TO].value.i)
                break;
            for (int c = TM_BUBBLE_T_COUNT; c < TM_BUBBLE_T_N; c++)
                add_cell(&row[c], &next[c]);
        }
        int64_t from = stage_of(s->places, first[TM_BUBBLE_T_FROM].value.i),
                to = stage_of(s->places, first[TM_BUBBLE_T_TO].value.i);
        tm_cell_set_known(&row[TM_BUBBLE_T_FROM_STAGE], from);
        tm_cell_set_known(&row[TM_BUBBLE_T_TO_STAGE], to);
    }
    return TM_OK;
}

static int64_t root_of(int64_t *pipeline, int64_t at) {
    while (pipeline[at] != at)
        at = pipeline[at] = pipeline[pipeline[at]];
    return at;
}

/* Groups ranks that send to one another into pipelines. The number of a pipeline is the row of its
 * lowest rank. */
static void find_pipelines(scan *s) {
    const tm_table *pairs = tm_tables_find(s->tables, tm_bubble_pair_def.name);
    for (size_t i = 0; i < s->places->n_rows; i++)
        s->pipeline[i] = (int64_t)i;
    for (size_t i = 0; i < pairs->n_rows; i++) {
        const tm_cell *row = tm_table_row(pairs, i);
        if (row[TM_BUBBLE_T_FROM_STAGE].null || row[TM_BUBBLE_T_TO_STAGE].null)
            continue;
        int64_t ends[2];
        for (int k = 0; k < 2; k++) {
            int64_t rank = row[TM_BUBBLE_T_FROM + k].value.i;
            ends[k] = root_of(s->pipeline, (int64_t)tm_table_find_row(s->places, &rank, 1));
        }
        int low = ends[0] < ends[1] ? 0 : 1;
        s->pipeline[ends[1 - low]] = ends[low];
    }
}

/* Sets the number of a rank's passes in a step, their start and end, and their busy time, in which
 * overlapping time counts once. */
static bool measure(const scan *s, run *r) {
    tm_intervals own = TM_INTERVALS();
    bool ok = true;
    r->begin_ns = INT64_MAX;
    r->end_ns = INT64_MIN;
    for (size_t i = r->first; i < r->end && ok; i++) {
        const tm_cell *row = tm_table_row(s->parts, i);
        int64_t begin = row[TM_BUBBLE_P_BEGIN].value.i, end = row[TM_BUBBLE_P_END].value.i;
        *(row[TM_BUBBLE_P_BACKWARD].value.i ? &r->backward : &r->forward) += 1;
        r->begin_ns = begin < r->begin_ns ? begin : r->begin_ns;
        r->end_ns = end > r->end_ns ? end : r->end_ns;
        ok = tm_intervals_add(&own, begin, end);
    }
    tm_intervals_normalise(&own);
    r->busy_ns = tm_intervals_length(&own);
    tm_vec_free(&own);
    return ok;
}

static bool find_runs(scan *s) {
    for (size_t i = 0, k; i < s->parts->n_rows; i = k) {
        const tm_cell *row = tm_table_row(s->parts, i);
        run r = {.rank = row[TM_BUBBLE_P_RANK].value.i, .step = row[TM_BUBBLE_P_STEP].value.i};
        for (k = i + 1; k < s->parts->n_rows; k++) {
            const tm_cell *next = tm_table_row(s->parts, k);
            if (next[TM_BUBBLE_P_RANK].value.i != r.rank ||
                next[TM_BUBBLE_P_STEP].value.i != r.step)
                break;
        }
        size_t at = tm_table_find_row(s->places, &r.rank, 1);
        if (at == s->places->n_rows)
            continue;
        r.stage = tm_table_row(s->places, at)[TM_BUBBLE_R_STAGE].value.i;
        r.pipeline = root_of(s->pipeline, (int64_t)at);
        r.first = i;
        r.end = k;
        if (!measure(s, &r) || !tm_vec_append(&s->runs, &r, 1))
            return false;
    }
    return true;
}

TM_ORDER_BY(by_step, run, step, pipeline, rank);

/* Returns whether all ranks of a pipeline have the step, with equal numbers of passes. */
static bool is_whole(const scan *s, const run *r, size_t n) {
    size_t members = 0;
    for (size_t i = 0; i < s->places->n_rows; i++)
        members += root_of(s->pipeline, (int64_t)i) == r->pipeline;
    for (size_t i = 0; i < n; i++)
        if (r[i].forward != r->forward || r[i].backward != r->backward)
            return false;
    return n == members && n > 1 && r->backward == r->forward;
}

static tm_status add_step(const scan *s, run *r, size_t n, tm_error *err) {
    int64_t begin = r->begin_ns, end = r->end_ns, busy = 0, stages = 0;
    for (size_t i = 0; i < n; i++) {
        begin = r[i].begin_ns < begin ? r[i].begin_ns : begin;
        end = r[i].end_ns > end ? r[i].end_ns : end;
        busy = tm_sum(busy, r[i].busy_ns);
        stages = r[i].stage >= stages ? r[i].stage + 1 : stages;
    }
    tm_cell *row = tm_table_add_row(tm_tables_find(s->tables, tm_bubble_step_def.name));
    if (!row)
        return tm_fail_memory(err);
    int64_t span = end - begin, whole = span * (int64_t)n;
    for (size_t i = 0; i < n; i++)
        r[i].span_ns = span;
    tm_cell_set_int(&row[T_PIPELINE],
                    tm_table_row(s->places, (size_t)r->pipeline)[TM_BUBBLE_R_RANK].value.i);
    tm_cell_set_int(&row[T_STEP], r->step);
    tm_cell_set_int(&row[T_STAGES], stages);
    tm_cell_set_int(&row[T_RANKS], (int64_t)n);
    tm_cell_set_int(&row[T_PASSES], r->forward);
    tm_cell_set_int(&row[T_BEGIN], begin);
    tm_cell_set_int(&row[T_SPAN], span);
    tm_cell_set_ratio(&row[T_BUBBLE], 100.0, whole - busy, whole);
    tm_cell_set_ratio(&row[T_IDEAL], 100.0, stages - 1, r->forward + stages - 1);
    return TM_OK;
}

/* Adds the passes of a step, unless an earlier step did not fit. */
static tm_status add_passes(scan *s, const run *r, size_t n, tm_error *err) {
    tm_table *table = tm_tables_find(s->tables, tm_bubble_pass_def.name);
    size_t more = 0;
    for (size_t i = 0; i < n; i++)
        more += r[i].end - r[i].first;
    s->full = s->full || table->n_rows + more > PASSES_MOST;
    if (s->full)
        return TM_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t k = r[i].first; k < r[i].end; k++) {
            const tm_cell *from = tm_table_row(s->parts, k);
            tm_cell *row = tm_table_add_row(table);
            if (!row)
                return tm_fail_memory(err);
            bool backward = from[TM_BUBBLE_P_BACKWARD].value.i;
            tm_cell_set_int(&row[A_STEP], r[i].step);
            tm_cell_set_int(&row[A_STAGE], r[i].stage);
            tm_cell_set_int(&row[A_RANK], r[i].rank);
            tm_cell_set_int(&row[A_NUMBER], from[TM_BUBBLE_P_NUMBER].value.i);
            tm_cell_set_int(&row[A_BEGIN], from[TM_BUBBLE_P_BEGIN].value.i);
            tm_cell_set_int(&row[A_END], from[TM_BUBBLE_P_END].value.i);
            TM_TRY(tm_table_set_text(table, &row[A_DIRECTION], backward ? "backward" : "forward",
                                     err));
        }
    return TM_OK;
}

/* Adds the steps of all pipelines, and the passes of the slowest pipeline in each step. */
static tm_status add_steps(scan *s, tm_error *err) {
    run *r = s->runs.data;
    size_t n = s->runs.n, longest = 0, n_longest = 0;
    if (n > 1)
        qsort(r, n, sizeof *r, by_step);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && r[k].step == r[i].step && r[k].pipeline == r[i].pipeline; k++)
            ;
        if (is_whole(s, r + i, k - i)) {
            TM_TRY(add_step(s, r + i, k - i, err));
            if (n_longest == 0 || r[i].span_ns > r[longest].span_ns) {
                longest = i;
                n_longest = k - i;
            }
        }
        if (n_longest > 0 && (k == n || r[k].step != r[i].step)) {
            TM_TRY(add_passes(s, r + longest, n_longest, err));
            n_longest = 0;
        }
    }
    return TM_OK;
}

TM_ORDER_BY(by_length, length, stage, backward, ns);

/* Copies the durations of all passes, and sorts them by stage and direction. */
static bool find_lengths(const scan *s, tm_vec *lengths) {
    const run *r = s->runs.data;
    for (size_t i = 0; i < s->runs.n; i++)
        for (size_t k = r[i].first; r[i].span_ns > 0 && k < r[i].end; k++) {
            const tm_cell *row = tm_table_row(s->parts, k);
            const length it = {r[i].stage, row[TM_BUBBLE_P_BACKWARD].value.i,
                               row[TM_BUBBLE_P_END].value.i - row[TM_BUBBLE_P_BEGIN].value.i};
            if (!tm_vec_append(lengths, &it, 1))
                return false;
        }
    tm_vec_sort(lengths, by_length);
    return true;
}

static void set_length(const length *v, size_t n, tm_cell *row) {
    int64_t low = v[(n - 1) / 2].ns, high = v[n / 2].ns;
    tm_cell_set_int(&row[v->backward ? S_BACKWARD : S_FORWARD], low + (high - low) / 2);
}

/* Sets the time that the ranks of a stage waited for senders, and the time of their transfers. */
static void set_received(const scan *s, int64_t stage, tm_cell *row) {
    const tm_table *pairs = tm_tables_find(s->tables, tm_bubble_pair_def.name);
    static const int from[] = {TM_BUBBLE_T_LATE_SENDER, TM_BUBBLE_T_TRANSFER};
    static const int to[] = {S_LATE, S_TRANSFER};
    for (size_t i = 0; i < pairs->n_rows; i++) {
        const tm_cell *pair = tm_table_row(pairs, i);
        bool own = !pair[TM_BUBBLE_T_TO_STAGE].null && !pair[TM_BUBBLE_T_FROM_STAGE].null &&
                   pair[TM_BUBBLE_T_TO_STAGE].value.i == stage;
        for (int k = 0; own && k < 2; k++)
            if (!pair[from[k]].null)
                tm_cell_set_int(&row[to[k]], tm_sum(row[to[k]].null ? 0 : row[to[k]].value.i,
                                                    pair[from[k]].value.i));
    }
}

/* Sets the columns of a stage's row that follow from its runs: sums, and the median number of
 * passes. `scratch` has room for an int64_t for each run. */
static void set_sums(const scan *s, int64_t stage, int64_t *scratch, tm_cell *row) {
    const run *r = s->runs.data;
    int64_t span = 0, busy = 0, ranks = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->runs.n; i++) {
        if (r[i].stage != stage || r[i].span_ns == 0)
            continue;
        span = tm_sum(span, r[i].span_ns);
        busy = tm_sum(busy, r[i].busy_ns);
        scratch[n++] = r[i].forward;
    }
    for (size_t i = 0; i < s->places->n_rows; i++)
        ranks += tm_table_row(s->places, i)[TM_BUBBLE_R_STAGE].value.i == stage;
    tm_cell_set_int(&row[S_STAGE], stage);
    tm_cell_set_int(&row[S_RANKS], ranks);
    tm_cell_set_int(&row[S_PASSES], tm_median_any(scratch, n));
    tm_cell_set_int(&row[S_SPAN], span);
    tm_cell_set_int(&row[S_BUBBLE], span - busy);
    tm_cell_set_ratio(&row[S_BUBBLE_PCT], 100.0, span - busy, span);
}

static tm_status add_stages(const scan *s, tm_error *err) {
    tm_table *table = tm_tables_find(s->tables, tm_bubble_stage_def.name);
    tm_vec lengths = TM_VEC(length);
    int64_t *scratch = malloc((s->runs.n + 1) * sizeof *scratch);
    bool ok = scratch && find_lengths(s, &lengths);
    const length *v = lengths.data;
    tm_cell *row = NULL;
    for (size_t i = 0, k; i < lengths.n && ok; i = k) {
        for (k = i + 1; k < lengths.n && v[k].stage == v[i].stage && v[k].backward == v[i].backward;
             k++)
            ;
        if (i == 0 || v[i].stage != v[i - 1].stage) {
            row = tm_table_add_row(table);
            ok = row != NULL;
            if (!ok)
                break;
            set_sums(s, v[i].stage, scratch, row);
            set_received(s, v[i].stage, row);
        }
        set_length(v + i, k - i, row);
    }
    tm_vec_free(&lengths);
    free(scratch);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status add_all(scan *s, tm_error *err) {
    TM_TRY(add_pairs(s, err));
    find_pipelines(s);
    if (!find_runs(s))
        return tm_fail_memory(err);
    TM_TRY(add_steps(s, err));
    return add_stages(s, err);
}

tm_status tm_bubble_rows(tm_tables *tables, tm_error *err) {
    scan s = {.tables = tables,
              .places = tm_tables_find(tables, tm_bubble_place_def.name),
              .parts = tm_tables_find(tables, tm_bubble_part_def.name),
              .runs = TM_VEC(run)};
    s.pipeline = malloc((s.places->n_rows + 1) * sizeof *s.pipeline);
    tm_status status = s.pipeline ? add_all(&s, err) : tm_fail_memory(err);
    tm_table_sort(tm_tables_find(tables, tm_bubble_step_def.name));
    tm_table_sort(tm_tables_find(tables, tm_bubble_pass_def.name));
    tm_table_top(tm_tables_find(tables, tm_bubble_pair_def.name), PAIRS_MOST);
    tm_table_sort(tm_tables_find(tables, tm_bubble_pair_def.name));
    free(s.pipeline);
    tm_vec_free(&s.runs);
    return status;
}

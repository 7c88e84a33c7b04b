/* Analysis `steps`: the kind of each step, and the duration of the steps of each kind. */
#include "tmerge/analysis.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/kinds_of_steps.h"
#include "base/median.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "timeline/step_names.h"

enum {
    M_RANK,
    M_STEP,
    M_KIND,
    M_PHASE,
    M_BATCH,
    M_PADDED,
    M_TOKENS,
    M_PREFILLS,
    M_PREFILL_TOKENS,
    M_DECODES,
    M_DECODE_TOKENS,
    M_RESOLUTION
};

static const tm_column mark_columns[] = {
    [M_RANK] = {"rank", TM_INT, "", "Global rank."},
    [M_STEP] = {"step", TM_INT, "", "Number of the step."},
    [M_KIND] = {"kind", TM_TEXT, "",
                "Kind of the step: the words of its annotation without numbers (DECODE for "
                "step[DECODE bs=16]); for vLLM's execute_... annotations, the phase. Null if the "
                "annotation has no words."},
    [M_PHASE] = {"phase", TM_TEXT, "",
                 "Phase of an inference engine in the step: prefill, decode, mixed, idle (no "
                 "request), diffusion, or capture (of a graph). Null if the annotation is not from "
                 "vLLM, SGLang, ATOM or a diffusion server."},
    [M_BATCH] =
        {"batch", TM_INT, "",
         "Number of requests (or images) in the step. Null if the annotation does not have it."},
    [M_PADDED] = {"padded_batch", TM_INT, "",
                  "Batch size for which the step's graph was captured. Null if the annotation does "
                  "not have it."},
    [M_TOKENS] = {"tokens", TM_INT, "",
                  "Number of tokens computed in the step, from its annotation. For decode steps of "
                  "SGLang whose annotation does not have it: number of requests. Null if the "
                  "annotation has neither."},
    [M_PREFILLS] = {"prefill_batch", TM_INT, "",
                    "Number of requests in prefill. Null if the annotation does not have it."},
    [M_PREFILL_TOKENS] =
        {"prefill_tokens", TM_INT, "",
         "Number of tokens of requests in prefill. Null if the annotation does not have it."},
    [M_DECODES] = {"decode_batch", TM_INT, "",
                   "Number of requests in decode. Null if the annotation does not have it."},
    [M_DECODE_TOKENS] =
        {"decode_tokens", TM_INT, "",
         "Number of tokens of requests in decode. Null if the annotation does not have it."},
    [M_RESOLUTION] = {"resolution", TM_TEXT, "",
                      "Size of an image, height x width, such as 1024x768. Null if the annotation "
                      "does not have it."},
};

static const tm_table_def mark_def = {
    .name = "steps.mark",
    .doc = "A row for each marked step of a rank: the content of its annotation.",
    TM_ARRAY(columns, mark_columns),
    .n_keys = 2,
    .top = -1,
};

enum {
    K_KIND,
    K_STEPS,
    K_MEDIAN,
    K_MEAN,
    K_SHORTEST,
    K_LONGEST,
    K_COV,
    K_SHARE,
    K_PHASE,
    K_BATCH,
    K_TOKENS
};

static const tm_column kind_columns[] = {
    [K_KIND] = {"kind", TM_TEXT, "", "Kind of steps, as in steps.mark."},
    [K_STEPS] =
        {"steps", TM_INT, "",
         "Number of steps of the kind, without partial steps. A step counts once for all ranks."},
    [K_MEDIAN] = {"median_ns", TM_INT, "ns",
                  "Median duration of the kind's steps. The duration of a step is the mean over "
                  "ranks of overview.step.step_ns."},
    [K_MEAN] = {"mean_ns", TM_INT, "ns", "Mean duration of the kind's steps."},
    [K_SHORTEST] = {"min_ns", TM_INT, "ns", "Duration of the shortest step of the kind."},
    [K_LONGEST] = {"max_ns", TM_INT, "ns", "Duration of the longest step of the kind."},
    [K_COV] = {"cov_pct", TM_REAL, "%",
               "How much durations vary: 100 standard deviation / mean_ns. Null for fewer than "
               "three steps."},
    [K_SHARE] = {"share_pct", TM_REAL, "%", "Share of the kind in the time of all steps."},
    [K_PHASE] = {"phase", TM_TEXT, "",
                 "Phase of the kind's steps, as in steps.mark; null if phases differ."},
    [K_BATCH] = {"mean_batch", TM_REAL, "",
                 "Mean number of requests in a step of the kind: mean of steps.mark.batch over "
                 "ranks and steps."},
    [K_TOKENS] = {"mean_tokens", TM_REAL, "",
                  "Mean number of tokens in a step of the kind: mean of steps.mark.tokens over "
                  "ranks and steps."},
};

static const tm_table_def kind_def = {
    .name = "steps.kind",
    .doc = "A row for each kind of steps: how long they take. If annotations have more than 8 "
           "different texts (without numbers), the texts do not count as kinds, and there are no "
           "rows.",
    TM_ARRAY(columns, kind_columns),
    .n_keys = 1,
    .top = K_SHARE,
};

static const tm_table_def *const defs[] = {&kind_def, &mark_def};

static void set_known(tm_cell *cell, int64_t number) {
    tm_cell_set_known(cell, number);
}

static tm_status set_mark(tm_table *table, tm_cell *row, const tm_step_mark *mark, tm_error *err) {
    char size[48];
    snprintf(size, sizeof size, "%" PRId64 "x%" PRId64, mark->height, mark->width);
    set_known(&row[M_BATCH], mark->all.batch);
    set_known(&row[M_PADDED], mark->padded);
    set_known(&row[M_TOKENS], mark->all.tokens);
    set_known(&row[M_PREFILLS], mark->prefill.batch);
    set_known(&row[M_PREFILL_TOKENS], mark->prefill.tokens);
    set_known(&row[M_DECODES], mark->decode.batch);
    set_known(&row[M_DECODE_TOKENS], mark->decode.tokens);
    TM_TRY(tm_table_set_text(table, &row[M_KIND], *mark->kind ? mark->kind : NULL, err));
    TM_TRY(tm_table_set_text(table, &row[M_PHASE], tm_step_phase_word(mark->phase), err));
    return tm_table_set_text(table, &row[M_RESOLUTION], mark->width >= 0 ? size : NULL, err);
}

static tm_status steps_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_table *table = tm_tables_find(out, mark_def.name);
    for (size_t i = 0; i < timeline->n_steps; i++) {
        const tm_step *step = &timeline->steps[i];
        if (step->name == TM_NO_NAME)
            continue;
        const tm_step_mark mark = tm_step_mark_of(tm_names_text(view->names, step->name));
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[M_RANK], timeline->rank);
        tm_cell_set_int(&row[M_STEP], step->number);
        TM_TRY(set_mark(table, row, &mark, err));
    }
    return TM_OK;
}

/* Duration of a step on a rank; after averaging, the mean over ranks. */
typedef struct length {
    int kind;
    int64_t step, ns;
} length;

static int by_kind(const void *a, const void *b) {
    const length *x = a, *y = b;
    return x->kind != y->kind ? x->kind - y->kind : tm_order_i64(x->step, y->step);
}

/* Collects the steps of all ranks, except partial steps and steps of unknown kind. */
static bool gather(const tm_tables *tables, const tm_step_kinds *kinds, tm_vec *out) {
    const tm_table *steps = tm_tables_find(tables, "overview.step");
    const tm_table *windows = tm_tables_find(tables, "overlap.step");
    for (size_t i = 0; i < steps->n_rows; i++) {
        int64_t rank = tm_table_cell(steps, i, "rank")->value.i;
        int64_t step = tm_table_cell(steps, i, "step")->value.i;
        length l = {tm_step_kind(kinds, rank, step), step,
                    tm_table_cell(steps, i, "step_ns")->value.i};
        bool partial = i < windows->n_rows && tm_table_cell(windows, i, "partial")->value.i;
        if (l.kind >= 0 && !partial && !tm_vec_append(out, &l, 1))
            return false;
    }
    tm_sort(out->data, out->n, out->size, by_kind);
    return true;
}

/* Replaces steps of equal kind and number by their mean, in place. */
static void average(tm_vec *lengths) {
    length *v = lengths->data;
    size_t n = 0;
    for (size_t first = 0, i = 0; first < lengths->n; first = i) {
        double sum = 0.0;
        for (; i < lengths->n && by_kind(&v[i], &v[first]) == 0; i++)
            sum += (double)v[i].ns;
        v[n] = v[first];
        v[n++].ns = llround(sum / (double)(i - first));
    }
    lengths->n = n;
}

/* Sets the statistics of n steps of a kind, n >= 1. Sorts @p ns. */
static void set_lengths(int64_t *ns, size_t n, double all, tm_cell *row) {
    double sum = 0.0, squares = 0.0;
    tm_sort_values(ns, n);
    for (size_t i = 0; i < n; i++)
        sum += (double)ns[i];
    for (size_t i = 0; i < n; i++)
        squares += pow((double)ns[i] - sum / (double)n, 2.0);
    tm_cell_set_int(&row[K_STEPS], (int64_t)n);
    tm_cell_set_int(&row[K_MEDIAN], tm_median(ns, n));
    tm_cell_set_int(&row[K_MEAN], llround(sum / (double)n));
    tm_cell_set_int(&row[K_SHORTEST], ns[0]);
    tm_cell_set_int(&row[K_LONGEST], ns[n - 1]);
    if (n >= 3 && sum > 0.0)
        tm_cell_set_real(&row[K_COV], 100.0 * sqrt(squares / (double)n) / (sum / (double)n));
    if (all > 0.0)
        tm_cell_set_real(&row[K_SHARE], 100.0 * sum / all);
}

static tm_status add_kinds(const tm_step_kinds *kinds, const tm_vec *lengths, int64_t *ns,
                           tm_table *table, tm_error *err) {
    const length *v = lengths->data;
    double all = 0.0;
    for (size_t i = 0; i < lengths->n; i++)
        all += (double)v[i].ns;
    for (size_t first = 0, i = 0; first < lengths->n; first = i) {
        for (; i < lengths->n && v[i].kind == v[first].kind; i++)
            ns[i - first] = v[i].ns;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        set_lengths(ns, i - first, all, row);
        TM_TRY(tm_table_set_text(table, &row[K_KIND], kinds->names[v[first].kind], err));
    }
    return TM_OK;
}

/* Sets the mean of a column of steps.mark over the rows of a kind. */
static void set_mean(const tm_table *marks, const char *kind, int column, tm_cell *cell) {
    double of = 0.0, n = 0.0;
    for (size_t i = 0; i < marks->n_rows; i++) {
        const tm_cell *row = tm_table_row(marks, i);
        if (row[M_KIND].null || row[column].null || strcmp(row[M_KIND].value.text, kind) != 0)
            continue;
        of += (double)row[column].value.i;
        n++;
    }
    if (n > 0.0)
        tm_cell_set_real(cell, of / n);
}

/* Returns the phase of all rows of a kind; NULL if phases differ. */
static const char *phase_of(const tm_table *marks, const char *kind) {
    const char *phase = NULL;
    for (size_t i = 0; i < marks->n_rows; i++) {
        const tm_cell *row = tm_table_row(marks, i);
        if (row[M_KIND].null || strcmp(row[M_KIND].value.text, kind) != 0)
            continue;
        if (row[M_PHASE].null || (phase && strcmp(phase, row[M_PHASE].value.text) != 0))
            return NULL;
        phase = row[M_PHASE].value.text;
    }
    return phase;
}

static tm_status set_held(const tm_tables *tables, tm_table *kinds, tm_error *err) {
    const tm_table *marks = tm_tables_find(tables, mark_def.name);
    for (size_t i = 0; i < kinds->n_rows; i++) {
        tm_cell *row = tm_table_row(kinds, i);
        const char *kind = row[K_KIND].value.text;
        set_mean(marks, kind, M_BATCH, &row[K_BATCH]);
        set_mean(marks, kind, M_TOKENS, &row[K_TOKENS]);
        TM_TRY(tm_table_set_text(kinds, &row[K_PHASE], phase_of(marks, kind), err));
    }
    return TM_OK;
}

static tm_status steps_job(const tm_job *job, tm_tables *out, tm_error *err) {
    const tm_step_kinds kinds = tm_step_kinds_find(out);
    tm_vec lengths = TM_VEC(length);
    (void)job;
    tm_status status = gather(out, &kinds, &lengths) ? TM_OK : tm_fail_memory(err);
    average(&lengths);
    int64_t *ns = malloc((lengths.n + 1) * sizeof *ns);
    if (status == TM_OK)
        status = ns ? add_kinds(&kinds, &lengths, ns, tm_tables_find(out, kind_def.name), err)
                    : tm_fail_memory(err);
    if (status == TM_OK)
        status = set_held(out, tm_tables_find(out, kind_def.name), err);
    free(ns);
    tm_vec_free(&lengths);
    return status;
}

const tm_analysis tm_analysis_steps = {
    .name = "steps",
    .summary = "the kind of each step, and how long the steps of each kind take",
    TM_ARRAY(tables, defs),
    .rank = steps_rank,
    .job = steps_job,
};

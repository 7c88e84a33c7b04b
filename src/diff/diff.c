/* Compares the tables of two jobs, and writes sentences on the result. */
#include "tmerge/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "parts.h"
#include "table/shown.h"
#include "tmerge/gate.h"
#include "tmerge/trend.h"

enum {
    S_SIDE,
    S_STORE,
    S_RANKS,
    S_HOSTS,
    S_ROLES,
    S_FORMAT,
    S_DEVICES,
    S_STEPS,
    S_STEP,
    S_SPREAD,
    S_STRAGGLER,
    S_STRAGGLER_RANK,
    S_PLAN,
    S_PLAN_PCT
};

static const tm_column side_columns[] = {
    {"side", TM_TEXT, "", "Job of the row: A (before) or B (after)."},
    {"store", TM_TEXT, "", "Path of the store."},
    {"ranks", TM_INT, "", "Number of ranks of the job (job.job.ranks)."},
    {"hosts", TM_INT, "", "Number of hosts of the job (job.job.hosts)."},
    {"roles", TM_INT, "", "Number of roles of ranks, as defined in diff.rank.role."},
    {"format", TM_TEXT, "", "Format of the traces; several formats, separated by commas."},
    {"devices", TM_TEXT, "",
     "Names of the devices (efficiency.rank.device), separated by commas; null if unknown."},
    {"steps", TM_INT, "",
     "Number of whole steps, by which changes are judged; 0 if no steps are marked."},
    {"step_ns", TM_INT, "ns",
     "Step time: mean over ranks of overview.step.step_ns, then median over the whole steps. If no "
     "steps are marked, the duration of the whole recording. Null if there are several kinds of "
     "steps (see diff.job)."},
    {"step_spread_ns", TM_INT, "ns",
     "How much step times vary: third quartile of the absolute differences between the steps and "
     "step_ns. Three in four steps differ from step_ns by at most this much."},
    {"straggler", TM_TEXT, "", "Verdict on ranks (stragglers.job.verdict)."},
    {"straggler_rank", TM_INT, "",
     "Rank that the verdict names (stragglers.job.rank); null if it names none."},
    {"plan", TM_TEXT, "",
     "Ranks that save most if all of them are fixed: the last plan in whatif.item; null if there "
     "is none."},
    {"plan_pct", TM_REAL, "%", "Share of a step that fixing the ranks in plan saves."},
};

static const tm_table_def side_def = {
    .name = "diff.side",
    .doc = "Two rows: the two jobs that are compared.",
    TM_ARRAY(columns, side_columns),
    .n_keys = 1,
    .top = -1,
};

enum { T_PLACE, T_A_STEP, T_B_STEP, T_A, T_B, T_CHANGE, T_KIND, N_STEP };

static const tm_column step_columns[N_STEP] = {
    {"place", TM_INT, "",
     "Number of the step among the steps of its job, from 0. If there are several kinds of steps: "
     "number among the steps of its kind. Rows of one kind come after those of another."},
    {"a_step", TM_INT, "", "Number of the step in A; null if A has fewer steps."},
    {"b_step", TM_INT, "", "Number of the step in B; null if B has fewer steps."},
    {"a_ns", TM_INT, "ns",
     "Duration of the step in A: mean over ranks of overview.step.step_ns, without partial steps."},
    {"b_ns", TM_INT, "ns", "Duration of the step in B, computed in the same way as a_ns."},
    {"change_ns", TM_INT, "ns",
     "Change of the duration from A to B: b_ns - a_ns. Single steps are not judged."},
    {"kind", TM_TEXT, "",
     "Kind of the step, as in diff.job; null if neither A nor B has several kinds."},
};

static const tm_table_def step_def = {
    .name = "diff.step",
    .doc = "A row for each pair of steps of A and B at the same position.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 1,
    .top = -1,
};

static const tm_column diagnostic_columns[] = {
    {"place", TM_INT, "", "Number of the sentence, from 0. Sentence 0 is the verdict."},
    {"text", TM_TEXT, "",
     "Sentence: the verdict on the step time, or a note on how to read the tables."},
};

static const tm_table_def diagnostic_def = {
    .name = "diff.remark",
    .doc = "A row for each sentence about the whole comparison.",
    TM_ARRAY(columns, diagnostic_columns),
    .n_keys = 1,
    .top = -1,
};

enum { DIAGNOSTIC, SIDE, JOB, STEP, RANK, KERNEL, OPERATOR, N_TABLES };

/* The tables of a comparison. The tables of tmerge gate and tmerge trend follow them. */
static const tm_table_def *const defs[N_TABLES + 2] = {
    &diagnostic_def,   &side_def,           &tm_diff_job_def,      &step_def,
    &tm_diff_rank_def, &tm_diff_kernel_def, &tm_diff_operator_def, &tm_gate_def,
    &tm_trend_def,
};

const tm_table_def *const *tm_diff_defs(size_t *n) {
    *n = N_TABLES + 2;
    return defs;
}

enum { SENTENCE_MAX = 256 };

/* Smaller differences [%] between A and B in the shares of the kinds of steps are ignored. */
#define SHARE_PCT 0.1

#define BY_CALL "kernels and operators are compared by their time per call"

static tm_status add_diagnostic(tm_table *out, const char *text, tm_error *err) {
    tm_cell *row = tm_table_add_row(out);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[0], (int64_t)out->n_rows - 1);
    return tm_table_set_text(out, &row[1], text, err);
}

/* Pairs the steps of A and B by position, because two runs rarely record steps with equal numbers.
 */
static tm_status add_steps_of(const tm_diff *diff, int pair, tm_vec steps[2], tm_table *out,
                              tm_error *err) {
    for (int side = 0; side < 2; side++)
        TM_TRY(tm_sample_steps(diff->tables[side], "overview.step", "step_ns",
                               tm_kinds_steps(&diff->kinds, pair, side), &steps[side], err));
    for (size_t i = 0; i < steps[0].n || i < steps[1].n; i++) {
        tm_cell *row = tm_table_add_row(out);
        if (!row)
            return tm_fail_memory(err);
        for (int side = 0; side < 2; side++) {
            const tm_step_mean *s = steps[side].data;
            if (i >= steps[side].n)
                continue;
            tm_cell_set_int(&row[T_A_STEP + side], s[i].step);
            tm_cell_set_int(&row[T_A + side], llround(s[i].mean));
        }
        tm_cell_set_int(&row[T_PLACE], (int64_t)out->n_rows - 1);
        if (!row[T_A].null && !row[T_B].null)
            tm_cell_set_int(&row[T_CHANGE], row[T_B].value.i - row[T_A].value.i);
        TM_TRY(tm_table_set_text(out, &row[T_KIND], diff->kinds.pairs[pair].name, err));
    }
    return TM_OK;
}

static tm_status add_steps(const tm_diff *diff, tm_table *out, tm_error *err) {
    tm_status status = TM_OK;
    for (int pair = 0; pair < diff->kinds.n && status == TM_OK; pair++) {
        tm_vec steps[2] = {TM_VEC(tm_step_mean), TM_VEC(tm_step_mean)};
        status = add_steps_of(diff, pair, steps, out, err);
        tm_vec_free(&steps[0]);
        tm_vec_free(&steps[1]);
    }
    return status;
}

static bool is_listed(const char *list, const char *word) {
    const size_t size = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at++)
        if ((at == list || at[-1] == ',') && (at[size] == ',' || at[size] == '\0'))
            return true;
    return false;
}

/* Sets a cell to the texts in a column, each once, in the order of ranks. */
static tm_status set_list(const tm_table *ranks, const char *column, tm_table *out, tm_cell *cell,
                          tm_error *err) {
    char list[256] = "";
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *own = tm_table_cell(ranks, i, column);
        const size_t used = strlen(list);
        if (!own->null && !is_listed(list, own->value.text))
            snprintf(list + used, sizeof list - used, "%s%s", used ? "," : "", own->value.text);
    }
    return tm_table_set_text(out, cell, *list ? list : NULL, err);
}

static void copy_cell(const tm_table *from, const char *column, tm_cell *to) {
    if (from->n_rows > 0)
        /* A number can be copied as a cell. A text cannot, because it belongs to its table. */
        *to = *tm_table_cell(from, 0, column);
}

static tm_status set_straggler(const tm_tables *tables, tm_table *out, tm_cell *row,
                               tm_error *err) {
    const tm_table *job = tm_tables_find(tables, "stragglers.job");
    const tm_cell *verdict = job->n_rows > 0 ? tm_table_cell(job, 0, "verdict") : NULL;
    if (!verdict || verdict->null)
        return TM_OK;
    copy_cell(job, "rank", &row[S_STRAGGLER_RANK]);
    return tm_table_set_text(out, &row[S_STRAGGLER], verdict->value.text, err);
}

static tm_status set_plan(const tm_tables *tables, tm_table *out, tm_cell *row, tm_error *err) {
    const tm_table *items = tm_tables_find(tables, "whatif.item");
    size_t last = items->n_rows;
    for (size_t i = 0; i < items->n_rows; i++)
        if (strcmp(tm_table_cell(items, i, "what")->value.text, "plan") == 0)
            last = i;
    if (last == items->n_rows)
        return TM_OK;
    row[S_PLAN_PCT] = *tm_table_cell(items, last, "saved_pct");
    return tm_table_set_text(out, &row[S_PLAN], tm_table_cell(items, last, "name")->value.text,
                             err);
}

/* Adds the row of a side. Must be called before tm_roles_unite, which changes the number of roles.
 */
static tm_status add_side(const tm_diff *diff, int side, const char *store, tm_table *out,
                          tm_error *err) {
    const tm_tables *tables = diff->tables[side];
    const tm_table *job = tm_tables_find(tables, "job.job");
    tm_sample step;
    tm_cell *row = tm_table_add_row(out);
    if (!row)
        return tm_fail_memory(err);
    TM_TRY(tm_sample_take(tables, "overview.step", "step_ns", (tm_sample_ranks){.roles = NULL},
                          &step, err));
    copy_cell(job, "ranks", &row[S_RANKS]);
    copy_cell(job, "hosts", &row[S_HOSTS]);
    tm_cell_set_int(&row[S_ROLES], diff->roles[side].n_roles);
    tm_cell_set_int(&row[S_STEPS], tm_gate_is_marked(tables) ? (int64_t)step.n : 0);
    if (step.n > 0 && diff->kinds.sides[side].n < 2) {
        tm_cell_set_int(&row[S_STEP], llround(step.middle));
        tm_cell_set_int(&row[S_SPREAD], llround(step.spread));
    }
    TM_TRY(tm_table_set_text(out, &row[S_SIDE], side ? "B" : "A", err));
    TM_TRY(tm_table_set_text(out, &row[S_STORE], store, err));
    TM_TRY(set_list(tm_tables_find(tables, "job.rank"), "format", out, &row[S_FORMAT], err));
    TM_TRY(
        set_list(tm_tables_find(tables, "efficiency.rank"), "device", out, &row[S_DEVICES], err));
    TM_TRY(set_straggler(tables, out, row, err));
    return set_plan(tables, out, row, err);
}

/* Returns whether every verdict in the tables is "same". */
static bool is_same(const tm_tables *out) {
    for (size_t t = 0; t < out->n_tables; t++) {
        const tm_table *table = &out->tables[t];
        int verdict = tm_table_column(table->def, "verdict");
        for (size_t i = 0; verdict >= 0 && i < table->n_rows; i++)
            if (strcmp(tm_table_row(table, i)[verdict].value.text, TM_DIFF_SAME) != 0)
                return false;
    }
    return true;
}

static bool is_beyond(const char *verdict) {
    return strcmp(verdict, "higher") == 0 || strcmp(verdict, "lower") == 0;
}

/* whole returns an integer of a side, 0 for null. words_of returns a text of a side, "" for
 * null. */
static int64_t whole(const tm_table *sides, int side, int column) {
    const tm_cell *cell = &tm_table_row(sides, (size_t)side)[column];
    return cell->null ? 0 : cell->value.i;
}

static const char *words_of(const tm_table *sides, int side, int column) {
    const tm_cell *cell = &tm_table_row(sides, (size_t)side)[column];
    return cell->null ? "" : cell->value.text;
}

/* Returns whether it is unknown if the step time changed: odd steps may be chance, or one job may
 * lack the periodic steps of the other. */
static bool is_unknown(const tm_table *job, size_t row) {
    const char *over_steps = tm_table_cell(job, row, "over_steps")->value.text;
    const bool unclear =
        strcmp(tm_table_cell(job, row, "verdict")->value.text, TM_DIFF_UNCLEAR) == 0;
    return unclear &&
           (strcmp(over_steps, "mean") == 0 || fabs(tm_table_cell(job, row, "change")->value.r) >
                                                   tm_table_cell(job, row, "noise")->value.r);
}

/* Writes "B is 4.8 % slower a step: 29.0 ms -> 30.4 ms (noise 20 us)" from a row of diff.job on the
 * step time. Thus the sentence has the numbers of the table. */
static void say_change(const tm_table *job, size_t row, char *text, size_t size) {
    const tm_cell *noise = tm_table_cell(job, row, "noise");
    const char *verdict = tm_table_cell(job, row, "verdict")->value.text;
    const tm_cell *pct = tm_table_cell(job, row, "change_pct");
    const bool mean = strcmp(tm_table_cell(job, row, "over_steps")->value.text, "median") != 0;
    char around[32], what[64] = "No change of the step time beyond noise";
    tm_shown_text times[2];
    tm_shown_durations((const int64_t[]){llround(tm_table_cell(job, row, "a")->value.r),
                                         llround(tm_table_cell(job, row, "b")->value.r)},
                       2, times);
    tm_shown_duration(noise->null ? 0 : llround(noise->value.r), around, sizeof around);
    if (strcmp(verdict, TM_DIFF_FEW) == 0) {
        snprintf(text, size, "Too few steps to judge the step time: %s -> %s", times[0].text,
                 times[1].text);
        return;
    }
    if (is_beyond(verdict) && pct->value.r >= TM_SHOWN_FACTOR_PCT)
        snprintf(what, sizeof what, "B takes %.0f times as long a step",
                 1.0 + pct->value.r / 100.0);
    else if (is_beyond(verdict))
        snprintf(what, sizeof what, "B is %.1f %% %s a step", fabs(pct->value.r),
                 verdict[0] == 'h' ? "slower" : "faster");
    else if (is_unknown(job, row))
        snprintf(what, sizeof what, "It is unknown whether the step time changed");
    snprintf(text, size, "%s%s: %s -> %s (noise %s)", what, mean ? ", by the mean" : "",
             times[0].text, times[1].text, around);
}

/* Writes the verdict if the steps of A and B are of one kind. */
static void say_verdict(const tm_tables *out, char text[SENTENCE_MAX]) {
    const tm_table *job = &out->tables[JOB], *sides = &out->tables[SIDE];
    const tm_cell *a = tm_table_cell(sides, 0, "step_ns"), *b = tm_table_cell(sides, 1, "step_ns");
    tm_shown_text times[2];
    if (a->null || b->null) {
        snprintf(text, SENTENCE_MAX, "%s no step: " BY_CALL,
                 a->null && b->null ? "A and B have"
                 : a->null          ? "A has"
                                    : "B has");
        return;
    }
    /* row 0 is the step time, which both sides have */
    bool marked = whole(sides, 0, S_STEPS) > 0 && whole(sides, 1, S_STEPS) > 0;
    if (marked || is_beyond(tm_table_cell(job, 0, "verdict")->value.text)) {
        say_change(job, 0, text, SENTENCE_MAX);
        return;
    }
    tm_shown_durations((const int64_t[]){a->value.i, b->value.i}, 2, times);
    snprintf(text, SENTENCE_MAX, "%s no steps: recordings of %s and %s",
             whole(sides, 0, S_STEPS) > 0   ? "B marks"
             : whole(sides, 1, S_STEPS) > 0 ? "A marks"
                                            : "A and B mark",
             times[0].text, times[1].text);
}

/* Returns the row of diff.job on the step time of a kind; n_rows if the kind has no whole steps. */
static size_t row_of_kind(const tm_table *job, const char *kind) {
    size_t row = 0;
    while (row < job->n_rows && !tm_table_cell(job, row, "kind")->null &&
           strcmp(tm_table_cell(job, row, "kind")->value.text, kind) != 0)
        row++;
    return row;
}

/* Returns by how much the job's time changes because the steps of a kind change; 0 if within noise,
 * or if a side lacks the kind. */
static double weight_of(const tm_diff *diff, const tm_table *job, int pair) {
    size_t row = row_of_kind(job, diff->kinds.pairs[pair].name);
    if (row == job->n_rows || !is_beyond(tm_table_cell(job, row, "verdict")->value.text))
        return 0.0;
    return fabs(tm_table_cell(job, row, "change")->value.r) * diff->kinds.pairs[pair].steps[0];
}

/* Adds the sentence on the steps of a kind: "DECODE: no change ...". */
static tm_status say_kind(const tm_diff *diff, const tm_table *job, int pair, tm_table *out,
                          tm_error *err) {
    const tm_kind_pair *kind = &diff->kinds.pairs[pair];
    size_t row = row_of_kind(job, kind->name);
    char text[SENTENCE_MAX], what[SENTENCE_MAX - 64];
    if (row == job->n_rows)
        return TM_OK;
    if (kind->steps[0] > 0.0 && kind->steps[1] > 0.0)
        say_change(job, row, what, sizeof what);
    else
        snprintf(what, sizeof what, "%.0f steps in %s, none in %s", kind->steps[0] + kind->steps[1],
                 kind->steps[0] > 0.0 ? "A" : "B", kind->steps[0] > 0.0 ? "B" : "A");
    snprintf(text, sizeof text, "%s: %s", kind->name, what);
    return add_diagnostic(out, text, err);
}

/* Adds a sentence for each kind, in the order of their effect on the job's time, largest first. */
static tm_status say_kinds(const tm_diff *diff, const tm_tables *out, tm_error *err) {
    bool said[TM_KINDS_MAX] = {false};
    for (int i = 0; i < diff->kinds.n; i++) {
        int most = 0;
        while (said[most])
            most++;
        for (int k = most + 1; k < diff->kinds.n; k++)
            if (!said[k] &&
                weight_of(diff, &out->tables[JOB], k) > weight_of(diff, &out->tables[JOB], most))
                most = k;
        said[most] = true;
        TM_TRY(say_kind(diff, &out->tables[JOB], most, &out->tables[DIAGNOSTIC], err));
    }
    return TM_OK;
}

static bool is_by_call(const tm_table *sides) {
    return whole(sides, 0, S_STEPS) < TM_DIFF_STEPS_OF_NAMES ||
           whole(sides, 1, S_STEPS) < TM_DIFF_STEPS_OF_NAMES;
}

/* Adds notes on differences in size that make A and B hard to compare. */
static tm_status diagnostic_sizes(const tm_table *sides, tm_table *out, tm_error *err) {
    char text[SENTENCE_MAX];
    int64_t ranks[2], hosts[2], steps[2], roles[2];
    for (int side = 0; side < 2; side++) {
        ranks[side] = whole(sides, side, S_RANKS);
        hosts[side] = whole(sides, side, S_HOSTS);
        steps[side] = whole(sides, side, S_STEPS);
        roles[side] = whole(sides, side, S_ROLES);
    }
    if (ranks[0] != ranks[1]) {
        snprintf(text, sizeof text,
                 "Ranks: %" PRId64 " in A, %" PRId64
                 " in B. Times are means over ranks, whose shares of the work may differ",
                 ranks[0], ranks[1]);
        TM_TRY(add_diagnostic(out, text, err));
    } else if (hosts[0] != hosts[1] && hosts[0] > 0 && hosts[1] > 0) {
        snprintf(text, sizeof text,
                 "Hosts: %" PRId64 " in A, %" PRId64 " in B. Communication may differ for that "
                 "reason",
                 hosts[0], hosts[1]);
        TM_TRY(add_diagnostic(out, text, err));
    }
    if (steps[0] < TM_DIFF_STEPS_MIN || steps[1] < TM_DIFF_STEPS_MIN) {
        bool by_call = is_by_call(sides);
        snprintf(text, sizeof text,
                 "Under %d whole steps in A or B (%" PRId64 ", %" PRId64
                 "): %sno change of a time is judged",
                 by_call ? TM_DIFF_STEPS_OF_NAMES : TM_DIFF_STEPS_MIN, steps[0], steps[1],
                 by_call ? BY_CALL "; " : "");
        TM_TRY(add_diagnostic(out, text, err));
    }
    if (roles[0] == roles[1])
        return TM_OK;
    snprintf(text, sizeof text,
             "Roles of ranks: %" PRId64 " in A, %" PRId64
             " in B. Figures by role treat all ranks as one role",
             roles[0], roles[1]);
    return add_diagnostic(out, text, err);
}

static tm_status diagnostic_kinds(const tm_table *sides, tm_table *out, tm_error *err) {
    const char *a = words_of(sides, 0, S_FORMAT), *b = words_of(sides, 1, S_FORMAT);
    const char *own = words_of(sides, 0, S_DEVICES), *other = words_of(sides, 1, S_DEVICES);
    char text[SENTENCE_MAX];
    if (strcmp(a, b) != 0) {
        snprintf(text, sizeof text, "A's traces are %s, B's %s: names and recorded data may differ",
                 a, b);
        TM_TRY(add_diagnostic(out, text, err));
    }
    if (*own && *other && strcmp(own, other) != 0) {
        snprintf(text, sizeof text,
                 "A ran on %.100s, B on %.100s: a change may be due to the devices", own, other);
        TM_TRY(add_diagnostic(out, text, err));
    }
    for (int side = 0; side < 2; side++) {
        const tm_cell *here = &tm_table_row(sides, (size_t)side)[S_STRAGGLER_RANK];
        const tm_cell *there = &tm_table_row(sides, (size_t)!side)[S_STRAGGLER_RANK];
        /* The rank is reported only if the other job does not name the same rank. */
        if (here->null || (!there->null && there->value.i == here->value.i))
            continue;
        snprintf(text, sizeof text, "Rank %" PRId64 " makes the other ranks wait in %s, not in %s",
                 here->value.i, side ? "B" : "A", side ? "A" : "B");
        TM_TRY(add_diagnostic(out, text, err));
    }
    return TM_OK;
}

/* Adds a note if A and B have fewer than half of their kernels' names in common. */
static tm_status diagnostic_kernels(const tm_table *kernels, tm_table *out, tm_error *err) {
    size_t common = 0;
    char text[SENTENCE_MAX];
    for (size_t i = 0; i < kernels->n_rows; i++) {
        const char *verdict = tm_table_cell(kernels, i, "verdict")->value.text;
        common += strcmp(verdict, "added") != 0 && strcmp(verdict, "removed") != 0;
    }
    if (2 * common >= kernels->n_rows)
        return TM_OK;
    snprintf(text, sizeof text,
             "Only %zu of %zu kernel names are in both: A and B may run different programs", common,
             kernels->n_rows);
    return add_diagnostic(out, text, err);
}

/* Writes "fixing ranks 1, 2 saves 5.9 % of a step"; "may save" if that is not sure. */
static void plan_text(const tm_diff *diff, const tm_table *sides, int side, char *out,
                      size_t size) {
    const tm_table *job = tm_tables_find(diff->tables[side], "whatif.job");
    const char *plan = words_of(sides, side, S_PLAN);
    const tm_cell *pct = &tm_table_row(sides, (size_t)side)[S_PLAN_PCT];
    if (job->n_rows == 0 || tm_table_cell(job, 0, "slowdown")->null)
        snprintf(out, size, "it is unknown what fixing a rank saves");
    else if (!*plan || pct->null)
        snprintf(out, size, "fixing a rank saves at most 0.5 %% of a step");
    else
        snprintf(out, size, "fixing rank%s %.60s %s %s of a step", strchr(plan, ',') ? "s" : "",
                 plan, tm_table_cell(job, 0, "sure")->value.i ? "saves" : "may save",
                 tm_shown_percent(pct->value.r, 1).text);
}

/* Adds a note if the plans of A and B differ. */
static tm_status diagnostic_plans(const tm_diff *diff, const tm_table *sides, tm_table *out,
                                  tm_error *err) {
    char a[128], b[128], text[sizeof a + sizeof b + 16];
    if (strcmp(words_of(sides, 0, S_PLAN), words_of(sides, 1, S_PLAN)) == 0)
        return TM_OK;
    plan_text(diff, sides, 0, a, sizeof a);
    plan_text(diff, sides, 1, b, sizeof b);
    snprintf(text, sizeof text, "In A %s, in B %s", a, b);
    return add_diagnostic(out, text, err);
}

/* Adds a note if steps of a side are periodic. */
static tm_status diagnostic_period(const tm_sample s[2], int side, const char *kind, tm_table *out,
                                   tm_error *err) {
    const tm_whole *own = &s[side].whole;
    char text[SENTENCE_MAX], longer[32], few[48] = "";
    if (own->period == 0)
        return TM_OK;
    tm_shown_duration(llround(fabs(own->longer)), longer, sizeof longer);
    if (s[!side].whole.n < own->period)
        snprintf(few, sizeof few, "; %s has too few steps for one", side ? "A" : "B");
    snprintf(text, sizeof text, "In %s, 1 in %zu steps%s%.60s takes %s %s than the others%s",
             side ? "B" : "A", own->period, kind ? " of " : "", kind ? kind : "", longer,
             own->longer > 0.0 ? "longer" : "less", few);
    return add_diagnostic(out, text, err);
}

/* Adds a note with the medians if the means decide, and with the means if odd steps change them. */
static tm_status diagnostic_other(const tm_sample s[2], const tm_sample_change *c, const char *kind,
                                  tm_table *out, tm_error *err) {
    const bool usual = c->basis == TM_BASIS_USUAL;
    int64_t ns[2];
    char text[SENTENCE_MAX];
    tm_shown_text shown[2];
    for (int side = 0; side < 2; side++)
        ns[side] = llround(usual ? s[side].whole.all.mean : s[side].middle);
    tm_shown_durations(ns, 2, shown);
    snprintf(text, sizeof text, "The %s step%s%.60s%s: %s -> %s%s", usual ? "mean" : "median",
             kind ? " of " : "", kind ? kind : "", c->odd ? "" : ", which is none of these",
             shown[0].text, shown[1].text, c->odd ? "; a few odd steps change the mean" : "");
    return add_diagnostic(out, text, err);
}

/* Adds notes if median and mean of the step time of a kind changed differently. */
static tm_status diagnostic_mean(const tm_sample s[2], const char *kind, tm_table *out,
                                 tm_error *err) {
    const tm_sample_change c = tm_sample_compare(s);
    const double of_median = s[1].middle - s[0].middle;
    if (!c.odd && fabs(c.of[1] - c.of[0] - of_median) <= c.noise)
        return TM_OK;
    for (int side = 0; side < 2; side++)
        TM_TRY(diagnostic_period(s, side, kind, out, err));
    return c.basis == TM_BASIS_MISSED ? TM_OK : diagnostic_other(s, &c, kind, out, err);
}

static tm_status diagnostic_means(const tm_diff *diff, tm_table *out, tm_error *err) {
    for (int pair = 0; pair < diff->kinds.n; pair++) {
        tm_sample s[2];
        for (int side = 0; side < 2; side++)
            TM_TRY(tm_sample_take(diff->tables[side], "overview.step", "step_ns",
                                  tm_kinds_steps(&diff->kinds, pair, side), &s[side], err));
        TM_TRY(diagnostic_mean(s, diff->kinds.pairs[pair].name, out, err));
    }
    return TM_OK;
}

/* Adds a note if the shares of the kinds of steps differ, because sums over all steps depend on
 * these shares. */
static tm_status diagnostic_shift(const tm_diff *diff, tm_table *out, tm_error *err) {
    if (!diff->shifted)
        return TM_OK;
    return add_diagnostic(
        out, "The kinds of steps have different shares in A and B: over all kinds, " BY_CALL, err);
}

/* Adds the sentences: the verdict, then the notes. */
static tm_status add_diagnostics(const tm_diff *diff, tm_tables *out, tm_error *err) {
    static const char same[] = "No difference: everything that was compared is the same";
    char text[SENTENCE_MAX];
    if (is_same(out) && !diff->shifted) {
        TM_TRY(add_diagnostic(&out->tables[DIAGNOSTIC], same, err));
    } else if (tm_kinds_several(&diff->kinds)) {
        TM_TRY(say_kinds(diff, out, err));
    }
    if (out->tables[DIAGNOSTIC].n_rows == 0) {
        say_verdict(out, text);
        TM_TRY(add_diagnostic(&out->tables[DIAGNOSTIC], text, err));
    }
    TM_TRY(diagnostic_means(diff, &out->tables[DIAGNOSTIC], err));
    TM_TRY(diagnostic_shift(diff, &out->tables[DIAGNOSTIC], err));
    TM_TRY(diagnostic_sizes(&out->tables[SIDE], &out->tables[DIAGNOSTIC], err));
    TM_TRY(diagnostic_kinds(&out->tables[SIDE], &out->tables[DIAGNOSTIC], err));
    TM_TRY(diagnostic_kernels(&out->tables[KERNEL], &out->tables[DIAGNOSTIC], err));
    return diagnostic_plans(diff, &out->tables[SIDE], &out->tables[DIAGNOSTIC], err);
}

/* Returns whether the shares of the kinds of steps differ so much between A and B that sums over
 * kinds differ by more than noise. */
static bool is_shifted(const tm_kind_pairs *kinds) {
    double all[2] = {0.0, 0.0};
    for (int k = 0; k < kinds->n; k++)
        for (int side = 0; side < 2; side++)
            all[side] += kinds->pairs[k].steps[side];
    for (int k = 0; k < kinds->n && all[0] > 0.0 && all[1] > 0.0; k++)
        if (fabs(tm_diff_pct(kinds->pairs[k].steps[0] / all[0],
                             kinds->pairs[k].steps[1] / all[1])) > SHARE_PCT)
            return true;
    return false;
}

/* Returns the number of steps, summed over ranks, for division; 1 for a job without steps. */
static double count_steps(const tm_tables *tables) {
    const tm_table *ranks = tm_tables_find(tables, "overview.rank");
    int64_t steps = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        steps += tm_table_cell(ranks, i, "steps")->value.i;
    return steps > 0 ? (double)steps : 1.0;
}

/* The side and job tables are filled before the others, because the sentences read them. */
static tm_status fill(tm_diff *diff, const tm_diff_side sides[2], tm_tables *out, tm_error *err) {
    TM_TRY(tm_kinds_pair(diff->tables, &diff->kinds, err));
    for (int side = 0; side < 2; side++)
        TM_TRY(add_side(diff, side, sides[side].store, &out->tables[SIDE], err));
    diff->shifted = is_shifted(&diff->kinds);
    diff->by_call = diff->shifted || is_by_call(&out->tables[SIDE]);
    /* roles are compared by number, so both jobs must have equally many */
    for (int side = 0; side < 2 && diff->roles[0].n_roles != diff->roles[1].n_roles; side++)
        tm_roles_unite(&diff->roles[side]);
    TM_TRY(tm_diff_figures(diff, &out->tables[JOB], err));
    TM_TRY(add_steps(diff, &out->tables[STEP], err));
    TM_TRY(tm_diff_ranks(diff, &out->tables[RANK], err));
    TM_TRY(tm_diff_kernels(diff, &out->tables[KERNEL], err));
    TM_TRY(tm_diff_operators(diff, &out->tables[OPERATOR], err));
    return add_diagnostics(diff, out, err);
}

tm_status tm_diff_compare(const tm_diff_side sides[2], tm_tables *out, tm_error *err) {
    tm_diff diff = {.tables = {sides[0].tables, sides[1].tables}};
    tm_tables made;
    TM_TRY(tm_tables_create(defs, N_TABLES, &made, err));
    tm_status status = TM_OK;
    for (int side = 0; side < 2 && status == TM_OK; side++) {
        diff.rank_steps[side] = count_steps(sides[side].tables);
        status = tm_roles_find(sides[side].tables, &diff.roles[side], err);
    }
    if (status == TM_OK)
        status = fill(&diff, sides, &made, err);
    tm_roles_free(&diff.roles[0]);
    tm_roles_free(&diff.roles[1]);
    if (status == TM_OK)
        *out = made;
    else
        tm_tables_destroy(&made);
    return status;
}

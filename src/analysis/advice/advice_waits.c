/* Rules on waiting and communication: who comes late, who has more work, what does not hide. The
 * exposed communication of all ranks is split between them, so that nothing costs twice. */
#include "advice_rules.h"
#include "analysis/shared/late_cause.h"
#include "table/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The speed from which on a GPU is slow, as in the sentence of the verdict. */
static const double SLOW = 0.95;

/* Where to look, and why, for one row of stragglers.finding. */
typedef struct target {
    char where[160];
    const char *what;
} target;

static bool text_is(const tm_table *table, size_t row, const char *column, const char *word) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return !cell->null && strcmp(cell->value.text, word) == 0;
}

/* " in steps 20 to 30"; "" where it lasts. */
static bool when_of(const tm_table *findings, size_t row, char *out, size_t size) {
    bool throughout = text_is(findings, row, "shape", "throughout");
    bool steps = text_is(findings, row, "unit", "step");
    out[0] = '\0';
    if (throughout || tm_table_cell(findings, row, "from")->null)
        return true;
    snprintf(out, size, " in %s %" PRId64 " to %" PRId64, steps ? "steps" : "operations",
             tm_table_cell(findings, row, "from")->value.i,
             tm_table_cell(findings, row, "to")->value.i);
    return steps;
}

/* Why the one comes late decides what to do about it. */
static void target_rank(const tm_facts *f, size_t row, const char *when, bool steps, target *out) {
    const tm_table *findings = tm_tables_find(f->tables, "stragglers.finding");
    const tm_table *input = tm_tables_find(f->tables, "input.rank");
    const tm_cell *host = tm_table_cell(findings, row, "host");
    int64_t rank = tm_facts_int(f, "stragglers.finding", row, "rank");
    double stall = tm_facts_real(f, "input.rank", tm_table_find_row(input, &rank, 1), "stall_pct");
    tm_late_cause c =
        when[0] && steps
            ? tm_late_in_steps(f->tables, rank, tm_facts_int(f, "stragglers.finding", row, "from"),
                               tm_facts_int(f, "stragglers.finding", row, "to"))
            : tm_late_throughout(f->tables, rank);
    const char *place = "";
    /* What it did in a part of a step, no table tells. */
    c.kind = steps || !when[0] ? c.kind : TM_LATE_UNKNOWN;
    out->what = "the traces do not tell whether its GPU, its share of the work or its host";
    if (c.kind == TM_LATE_GPU) {
        place = "the GPU of ";
        out->what =
            "its kernels are slow (clock, heat, neighbours), or it has more work than the others";
    } else if (stall >= 5.0) {
        place = "the data loading of ";
        out->what = "it waits for its batches (workers, storage, decoding)";
    } else if (c.kind == TM_LATE_HOST) {
        place = "the host of ";
        out->what = "it launches its kernels too late (load, pinning of cores, garbage "
                    "collection, synchronisation)";
    }
    snprintf(out->where, sizeof out->where, "%srank %" PRId64 "%s%.40s%s", place, rank,
             host->null ? "" : " on ", host->null ? "" : host->value.text, when);
}

static void target_of(const tm_facts *f, size_t row, target *out) {
    const tm_table *findings = tm_tables_find(f->tables, "stragglers.finding");
    const tm_cell *host = tm_table_cell(findings, row, "host");
    char when[64];
    bool steps = when_of(findings, row, when, sizeof when);
    if (text_is(findings, row, "level", "host") && !host->null) {
        snprintf(out->where, sizeof out->where, "what the ranks of %.64s share%s", host->value.text,
                 when);
        out->what = "the host, its load, its cooling, its network";
    } else if (text_is(findings, row, "level", "group")) {
        snprintf(out->where, sizeof out->where,
                 "what rank %" PRId64 " and the others of its process group share%s",
                 tm_facts_int(f, "stragglers.finding", row, "rank"), when);
        out->what = "their part of the model or of the work, the links between them";
    } else {
        target_rank(f, row, when, steps, out);
    }
}

/* "Look at the GPU of rank 2 on a, the host of rank 6 on b and what the ranks of c share." */
static void write_targets(const tm_facts *f, tm_advice *out) {
    enum { TARGETS_MAX = 3 };
    size_t n = tm_tables_find(f->tables, "stragglers.finding")->n_rows, used;
    target t;
    used = (size_t)snprintf(out->text, sizeof out->text, "Look at ");
    for (size_t i = 0; i < n && i < TARGETS_MAX; i++) {
        target_of(f, i, &t);
        used += (size_t)snprintf(out->text + used, sizeof out->text - used, "%s%s",
                                 i == 0       ? ""
                                 : i + 1 == n ? " and "
                                              : ", ",
                                 t.where);
    }
    if (n > TARGETS_MAX)
        snprintf(out->text + used, sizeof out->text - used, " and %zu more (stragglers.finding).",
                 n - TARGETS_MAX);
    else
        snprintf(out->text + used, sizeof out->text - used, "%s%s.", n == 1 ? ": " : "",
                 n == 1 ? t.what : "");
}

/* A text of stragglers.job, "" where there is none. */
static const char *verdict_text(const tm_facts *f, const char *column) {
    const tm_table *job = tm_tables_find(f->tables, "stragglers.job");
    bool none = job->n_rows == 0 || tm_table_cell(job, 0, column)->null;
    return none ? "" : tm_table_cell(job, 0, column)->value.text;
}

/* The verdict's own sentence, which lacks its full stop. */
static void copy_evidence(const tm_facts *f, tm_advice *out) {
    snprintf(out->evidence, sizeof out->evidence, "%.*s.", TM_ADVICE_EVIDENCE - 2,
             verdict_text(f, "evidence"));
}

static bool verdict_is(const tm_facts *f, const char *word) {
    return strcmp(verdict_text(f, "verdict"), word) == 0;
}

/* The ranks that the verdict names, one or more. */
static void name_ranks(const tm_facts *f, tm_rank_text *out) {
    const tm_table *ranks = tm_tables_find(f->tables, "stragglers.rank");
    for (size_t i = 0; i < ranks->n_rows; i++)
        if (text_is(ranks, i, "verdict", "straggler"))
            tm_rank_text_add(out, tm_table_cell(ranks, i, "rank")->value.i);
}

void tm_look_straggler(const tm_facts *f, tm_advice *out) {
    const tm_table *job = tm_tables_find(f->tables, "stragglers.job");
    const tm_table *findings = tm_tables_find(f->tables, "stragglers.finding");
    if (job->n_rows == 0 || tm_table_cell(job, 0, "rank")->null || findings->n_rows == 0)
        return;
    double share = 0.0;
    for (size_t i = 0; i < findings->n_rows; i++)
        share += fmax(tm_facts_real(f, "stragglers.finding", i, "caused_share"), 0.0);
    tm_rank_text names = tm_rank_text_begin(out->ranks);
    name_ranks(f, &names);
    tm_rank_text_end(&names, SIZE_MAX);
    /* Waiting behind computation costs nothing: its share of what is exposed. */
    double exposed = (double)tm_facts_sum(f, "overlap.rank", "exposed_wait_ns");
    out->cost_ns = llround(fmin(share, 1.0) * exposed);
    out->measure = tm_facts_percent(out->cost_ns, f->window_ns);
    /* The others wait for them, and the job ends that much sooner at most. */
    int64_t late = (int64_t)names.n;
    out->n_lost = f->n_gpu > late ? f->n_gpu - late : 1;
    write_targets(f, out);
    copy_evidence(f, out);
}

/* One rank computes most. Whether that is its work or its GPU, kernels that all ranks run tell. */
static void write_one_rank(const tm_facts *f, int64_t rank, int64_t n_steps, tm_advice *out) {
    const int64_t few = 3; /* of two ranks one leads both of two steps in every second job */
    const tm_table *ranks = tm_tables_find(f->tables, "stragglers.rank");
    double speed =
        tm_facts_real(f, "stragglers.rank", tm_table_find_row(ranks, &rank, 1), "relative_speed");
    if (speed >= 0.0 && speed < SLOW)
        snprintf(out->text, sizeof out->text,
                 "Look at the GPU of rank %" PRId64 ": its kernels are slow (clock, heat, "
                 "neighbours), or have more work than the others'%s.",
                 rank, n_steps < few ? "; in so few steps it may be chance" : "");
    else if (n_steps < few)
        snprintf(out->text, sizeof out->text,
                 "Look whether rank %" PRId64 " always has more work: its share of the model, its "
                 "batch, its experts; in so few steps it may be chance.",
                 rank);
    else
        snprintf(out->text, sizeof out->text,
                 "Give rank %" PRId64 " less work: its share of the model, its batch, its experts.",
                 rank);
}

void tm_look_imbalance(const tm_facts *f, tm_advice *out) {
    const tm_table *steps = tm_tables_find(f->tables, "imbalance.step");
    int64_t mean = 0, above = 0, n = 0, led = 0;
    int64_t rank = tm_facts_int(f, "imbalance.job", 0, "max_rank");
    for (size_t i = 0; i < steps->n_rows; i++) {
        if (!tm_facts_is_whole(f, tm_table_cell(steps, i, "step")->value.i) ||
            tm_table_cell(steps, i, "imbalance_ns")->null)
            continue;
        mean += tm_facts_int(f, "imbalance.step", i, "mean_compute_ns");
        above += tm_facts_int(f, "imbalance.step", i, "imbalance_ns");
        led += tm_facts_int(f, "imbalance.step", i, "max_rank") == rank;
        n++;
    }
    /* What the others lose shows as waiting, where that is known, less what the straggler takes. */
    int64_t lost = tm_facts_sum(f, "overlap.rank", "exposed_wait_ns") +
                   tm_facts_sum(f, "overlap.rank", "exposed_unmatched_ns") -
                   f->costs[TM_RULE_STRAGGLER];
    /* Else the product would overflow, and is larger than what was lost in any case. */
    if (above < INT64_MAX / (f->n_gpu + 1))
        lost = above * f->n_gpu < lost ? above * f->n_gpu : lost;
    double percent = tm_facts_percent(above, mean);
    if (f->job->n_ranks < 2 || tm_facts_percent(lost, f->window_ns) < 1.0)
        return;
    /* One rank has most work in half of the steps: its share is to be looked at, not the
     * batches. */
    bool one = 2 * led >= n;
    char time[32];
    out->measure = percent;
    out->cost_ns = lost;
    tm_shown_duration(n > 0 ? above / n : 0, time, sizeof time);
    if (one) {
        snprintf(out->ranks, sizeof out->ranks, "%" PRId64, rank);
        write_one_rank(f, rank, n, out);
    } else {
        snprintf(out->text, sizeof out->text,
                 "Even out the work of a step between ranks: lengths of sequences, padding, "
                 "routing to experts.");
    }
    snprintf(out->evidence, sizeof out->evidence,
             "In a step the rank with most computation has %s (%.0f %%) more than the mean; rank "
             "%" PRId64 " is that rank in %" PRId64 " of %" PRId64 " steps.",
             time, percent, rank, led, n);
}

/* Waiting that neither a straggler nor uneven work explains: it is no matter of communication. */
void tm_look_late_ranks(const tm_facts *f, tm_advice *out) {
    out->cost_ns = tm_facts_sum(f, "overlap.rank", "exposed_wait_ns") -
                   f->costs[TM_RULE_STRAGGLER] - f->costs[TM_RULE_IMBALANCE];
    out->measure = tm_facts_percent(out->cost_ns, f->window_ns);
    if (verdict_is(f, "inconclusive"))
        snprintf(
            out->text, sizeof out->text,
            "Find what delays ranks, those that cost most in stragglers.rank first; record more "
            "steps, which tell chance from cause.");
    else if (verdict_is(f, "event"))
        snprintf(out->text, sizeof out->text,
                 "Look at what happened just before the operations that hold most waiting "
                 "(collectives.worst has their times): %sgarbage collection, logging.",
                 f->trains ? "data loading, checkpoint, " : "");
    else if (verdict_is(f, "bubble"))
        snprintf(out->text, sizeof out->text,
                 "Make the pipeline's bubble smaller: more micro-batches, interleaved stages, "
                 "stages of equal length.");
    else
        snprintf(out->text, sizeof out->text,
                 "Find what delays a rank now and then: %s, garbage collection, logging, other "
                 "programs on its host.",
                 f->trains ? "data loading" : "batches of other sizes");
    copy_evidence(f, out);
}

/* The kind of collective that shows most, and how much, over all ranks. */
static const char *worst_kind(const tm_facts *f, int64_t *exposed_ns) {
    /* More than there are kinds of collectives. */
    enum { KINDS = 24 };
    const tm_table *table = tm_tables_find(f->tables, "overlap.kind");
    const char *kinds[KINDS];
    int64_t sums[KINDS] = {0};
    size_t n = 0, worst = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const char *kind = tm_table_cell(table, i, "kind")->value.text;
        size_t k = 0;
        while (k < n && strcmp(kinds[k], kind) != 0)
            k++;
        if (k == KINDS)
            continue;
        kinds[k] = kind;
        n += k == n;
        sums[k] += tm_facts_int(f, "overlap.kind", i, "exposed_comm_ns");
    }
    for (size_t k = 1; k < n; k++)
        worst = sums[k] > sums[worst] ? k : worst;
    *exposed_ns = sums[worst];
    return n > 0 ? kinds[worst] : "none";
}

/* What both rules on communication share: one is for what hides badly, one for what is too much. */
static void look_at_communication(const tm_facts *f, bool well_hidden, tm_advice *out) {
    int64_t waiting =
        f->costs[TM_RULE_STRAGGLER] + f->costs[TM_RULE_IMBALANCE] + f->costs[TM_RULE_LATE_RANKS];
    int64_t rest = tm_facts_sum(f, "overlap.rank", "exposed_comm_ns") - waiting;
    int64_t overlap = tm_facts_sum(f, "overlap.rank", "overlap_ns"), of_kind;
    /* Ranks that wait for another have nothing left to hide transfers behind: where most of it is
     * waiting, it takes from the rest, too. */
    if (waiting >= rest && f->least_exposed_ns < rest)
        rest = f->least_exposed_ns;
    double hidden = tm_facts_percent(overlap, overlap + rest);
    const char *kind = worst_kind(f, &of_kind);
    char time[TM_ADVICE_TIME], kind_time[TM_ADVICE_TIME];
    /* Where half of it hides already there is little left to hide: then less of it helps. */
    if (rest <= 0 || (hidden >= 50.0) != well_hidden)
        return;
    out->cost_ns = rest;
    out->measure = tm_facts_percent(rest, f->window_ns);
    tm_facts_by_rank(f, rest, time);
    tm_facts_by_rank(f, of_kind, kind_time);
    snprintf(out->evidence, sizeof out->evidence,
             "%s of the GPU time (%s) is communication with no computation beside it%s; %s%s of "
             "communication hides; most of it%s is %s (%s).",
             tm_shown_percent(out->measure, 1).text, time,
             waiting > 0 ? ", besides what late ranks cause" : "",
             waiting > 0 ? "without their waiting " : "", tm_shown_percent(hidden, 0).text,
             waiting > 0 ? ", waiting included," : "", kind, kind_time);
}

void tm_look_exposed_communication(const tm_facts *f, tm_advice *out) {
    look_at_communication(f, false, out);
    snprintf(out->text, sizeof out->text,
             "Start communication earlier, beside computation: %sasynchronous calls on a stream of "
             "their own%s.",
             f->trains ? "smaller buckets, prefetching of sharded parameters, " : "",
             f->trains ? "" : ", two parts of a batch in turn");
}

void tm_look_communication(const tm_facts *f, tm_advice *out) {
    look_at_communication(f, true, out);
    snprintf(out->text, sizeof out->text,
             "Communicate less or faster: larger messages, lower precision, %sparallel groups "
             "that stay within a host.",
             f->trains ? "gradient accumulation, " : "");
}

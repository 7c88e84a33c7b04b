/* Rules on waiting and communication: who comes late, who has more work, what does not hide. The
 * exposed communication of all ranks is split between them, so that nothing costs twice. */
#include "advice_rules.h"
#include "table/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The speed from which on a GPU is slow, as in the sentence of the verdict. */
static const double SLOW = 0.95;

/* Why the straggler comes late decides what to do about it. */
static void write_straggler(const tm_facts *f, int64_t rank, tm_advice *out) {
    const tm_table *ranks = tm_tables_find(f->tables, "stragglers.rank");
    const tm_table *input = tm_tables_find(f->tables, "input.rank");
    size_t row = tm_table_find_row(ranks, &rank, 1);
    const tm_cell *host = row < ranks->n_rows ? tm_table_cell(ranks, row, "host") : NULL;
    double speed = tm_facts_real(f, "stragglers.rank", row, "relative_speed");
    double stall = tm_facts_real(f, "input.rank", tm_table_find_row(input, &rank, 1), "stall_pct");
    const char *what = "it launches its kernels too late (load, pinning of cores, garbage "
                       "collection, synchronisation)";
    const char *where = "the host of";
    if (speed >= 0.0 && speed < SLOW) {
        where = "the GPU of";
        what =
            "its kernels are slow (clock, heat, neighbours), or it has more work than the others";
    } else if (stall >= 5.0) {
        where = "the data loading of";
        what = "it waits for its batches (workers, storage, decoding)";
    }
    snprintf(out->text, sizeof out->text, "Look at %s rank %" PRId64 "%s%.64s: %s.", where, rank,
             !host || host->null ? "" : " on ", !host || host->null ? "" : host->value.text, what);
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

/* The ranks of the host that the verdict names. */
static void name_ranks_of_host(const tm_facts *f, tm_rank_text *out) {
    const tm_table *ranks = tm_tables_find(f->tables, "stragglers.rank");
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *host = tm_table_cell(ranks, i, "host");
        if (!host->null && strcmp(host->value.text, verdict_text(f, "host")) == 0)
            tm_rank_text_add(out, tm_table_cell(ranks, i, "rank")->value.i);
    }
}

void tm_look_straggler(const tm_facts *f, tm_advice *out) {
    const tm_table *job = tm_tables_find(f->tables, "stragglers.job");
    if (job->n_rows == 0 || tm_table_cell(job, 0, "rank")->null)
        return;
    bool host = strcmp(verdict_text(f, "level"), "host") == 0;
    int64_t rank = tm_facts_int(f, "stragglers.job", 0, "rank");
    double share = tm_facts_real(f, "stragglers.finding", 0, "caused_share");
    tm_rank_text names = tm_rank_text_begin(out->ranks);
    if (host)
        name_ranks_of_host(f, &names);
    else
        tm_rank_text_add(&names, rank);
    tm_rank_text_end(&names, SIZE_MAX);
    /* Waiting behind computation costs nothing: its share of what is exposed. */
    double exposed = (double)tm_facts_sum(f, "overlap.rank", "exposed_wait_ns");
    out->cost_ns = llround(fmax(share, 0.0) * exposed);
    out->measure = tm_facts_percent(out->cost_ns, f->window_ns);
    /* The others wait for them, and the job ends that much sooner at most. */
    int64_t late = tm_facts_int(f, "stragglers.finding", 0, "ranks");
    late = late > (int64_t)names.n ? late : (int64_t)names.n;
    out->n_lost = f->n_gpu > late ? f->n_gpu - late : 1;
    if (host)
        snprintf(out->text, sizeof out->text,
                 "Look at what the ranks of %.64s share: the host, its load, its cooling, its "
                 "network.",
                 verdict_text(f, "host"));
    else
        write_straggler(f, rank, out);
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
                 "neighbours), or have more work than the others'.",
                 rank);
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

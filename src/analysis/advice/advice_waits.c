/* Rules on waiting and communication: late ranks, uneven work, exposed communication. The rules
 * divide the exposed communication of all ranks, so that nothing counts twice. */
#include "advice_rules.h"
#include "analysis/shared/fixes.h"
#include "analysis/shared/late_cause.h"
#include "analysis/shared/savings.h"
#include "analysis/shared/words.h"
#include "table/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* GPUs below this relative speed are slow; the verdict's sentence uses the same limit */
static const double SLOW = 0.95;
/* if an operation takes this many times as long as a larger one, its size is not the reason */
enum { FAR_LONGER = 4 };

/* Advice for one row of stragglers.finding: where to look, and why. */
typedef struct target {
    char where[160];
    char what[200];
} target;

static bool text_is(const tm_table *table, size_t row, const char *column, const char *word) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return !cell->null && strcmp(cell->value.text, word) == 0;
}

/* Writes " in steps 20 to 30" or " in step 20"; "" if the finding concerns all steps. */
static bool when_of(const tm_table *findings, size_t row, char *out, size_t size) {
    bool throughout = text_is(findings, row, "shape", "throughout");
    bool steps = text_is(findings, row, "unit", "step") || text_is(findings, row, "unit", "part");
    out[0] = '\0';
    if (throughout || tm_table_cell(findings, row, "from")->null)
        return true;
    int64_t from = tm_table_cell(findings, row, "from")->value.i;
    int64_t to = tm_table_cell(findings, row, "to")->value.i;
    const char *unit = steps ? "step" : "operation";
    if (from == to)
        snprintf(out, size, " in %s %" PRId64, unit, from);
    else
        snprintf(out, size, " in %ss %" PRId64 " to %" PRId64, unit, from, to);
    return steps;
}

/* Returns whether there are several hosts. If so, texts name a rank's host. */
static bool several_hosts(const tm_facts *f) {
    const tm_table *ranks = tm_tables_find(f->tables, "job.rank");
    for (size_t i = 1; i < ranks->n_rows; i++) {
        const tm_cell *host = tm_table_cell(ranks, i, "host");
        if (!host->null && !text_is(ranks, i - 1, "host", host->value.text))
            return true;
    }
    return false;
}

/* Writes advice on a late rank, depending on why it is late. */
static void target_rank(const tm_facts *f, size_t row, const char *when, bool steps, target *out) {
    const tm_table *findings = tm_tables_find(f->tables, "stragglers.finding");
    const tm_cell *host = tm_table_cell(findings, row, "host");
    int64_t rank = tm_facts_int(f, "stragglers.finding", row, "rank");
    bool episode = when[0] && steps;
    int64_t from = episode ? tm_facts_int(f, "stragglers.finding", row, "from") : INT64_MIN;
    int64_t to = episode ? tm_facts_int(f, "stragglers.finding", row, "to") : INT64_MAX;
    int64_t late_ns = tm_facts_int(f, "stragglers.finding", row, "excess_ns");
    const tm_cell *work = tm_table_cell(findings, row, "work");
    const char *place = "", *does = "";
    tm_late_cause c =
        tm_late_cause_of(f->tables, &(tm_late_window){rank, late_ns, !when[0], steps, from, to,
                                                      work->null ? "" : work->value.text});
    const char *what =
        "the traces do not show whether its GPU, its share of the work or its host is the cause";
    if (c.kind == TM_LATE_GPU) {
        place = "the GPU of ";
        what = c.same_kernels
                   ? "its kernels are slow (clock, heat, other processes)"
                   : "its kernels are slow (clock, heat, other processes), or it has more "
                     "work than the others";
    } else if (c.kind == TM_LATE_WORK) {
        place = "the work of ";
        what = "it has more work than the others, but each kernel takes no longer than theirs "
               "(tokens, lengths, experts)";
    } else if (c.kind == TM_LATE_EXTRA) {
        place = "what only ";
        does = " runs";
        what = "kernels that its peers do not run make it late (logging, evaluation, debugging, "
               "different kernels; tmerge show stragglers.extra)";
    } else if (tm_late_for_input(f->tables, &c, rank, from, to)) {
        place = "the data loading of ";
        what = "it waits for its batches (workers, storage, decoding)";
        c.call = NULL;
    } else if (c.kind == TM_LATE_QUEUE) {
        place = "what else uses the GPU of ";
        what = "kernels that its host launched in time wait in its queue for something that was "
               "not recorded, such as another process (nvidia-smi or rocm-smi lists them)";
    } else if (c.kind == TM_LATE_HOST) {
        place = "the host of ";
        what = "it launches its kernels too late (load, core pinning, garbage collection, "
               "synchronisation)";
    }
    snprintf(out->what, sizeof out->what, "%s", what);
    if (c.call)
        snprintf(out->what, sizeof out->what,
                 "it launches its kernels too late: its host is in %.48s for most of its GPU's "
                 "longest gaps",
                 c.call);
    bool where = !host->null && several_hosts(f);
    snprintf(out->where, sizeof out->where, "%srank %" PRId64 "%s%.40s%s%s", place, rank,
             where ? " on " : "", where ? host->value.text : "", does, when);
}

static void target_of(const tm_facts *f, size_t row, target *out) {
    const tm_table *findings = tm_tables_find(f->tables, "stragglers.finding");
    const tm_cell *host = tm_table_cell(findings, row, "host");
    char when[64];
    bool steps = when_of(findings, row, when, sizeof when);
    if (text_is(findings, row, "level", "host") && !host->null) {
        snprintf(out->where, sizeof out->where, "what the ranks of %.64s share%s", host->value.text,
                 when);
        snprintf(out->what, sizeof out->what, "the host, its load, its cooling, its network");
    } else if (text_is(findings, row, "level", "group")) {
        snprintf(out->where, sizeof out->where,
                 "what rank %" PRId64 " and the others of its process group share%s",
                 tm_facts_int(f, "stragglers.finding", row, "rank"), when);
        snprintf(out->what, sizeof out->what,
                 "their part of the model or of the work, the links between them");
    } else {
        target_rank(f, row, when, steps, out);
    }
}

/* Writes "Look at the GPU of rank 2 on a, the host of rank 6 on b and what ranks of c share.". */
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
        snprintf(out->text + used, sizeof out->text - used,
                 " and %zu more (tmerge show stragglers).", n - TARGETS_MAX);
    else
        snprintf(out->text + used, sizeof out->text - used, "%s%s.", n == 1 ? ": " : "",
                 n == 1 ? t.what : "");
}

/* Returns a text of stragglers.job; "" if it has none. */
static const char *verdict_text(const tm_facts *f, const char *column) {
    const tm_table *job = tm_tables_find(f->tables, "stragglers.job");
    bool none = job->n_rows == 0 || tm_table_cell(job, 0, column)->null;
    return none ? "" : tm_table_cell(job, 0, column)->value.text;
}

/* Copies the verdict's sentence and adds a full stop. */
static void copy_evidence(const tm_facts *f, tm_advice *out) {
    snprintf(out->evidence, sizeof out->evidence, "%.*s.", TM_ADVICE_EVIDENCE - 2,
             verdict_text(f, "evidence"));
}

bool tm_facts_verdict_is(const tm_facts *f, const char *word) {
    return strcmp(verdict_text(f, "verdict"), word) == 0;
}

/* Adds the ranks that the verdict names. */
static void name_ranks(const tm_facts *f, tm_rank_text *out) {
    const tm_table *ranks = tm_tables_find(f->tables, "stragglers.rank");
    for (size_t i = 0; i < ranks->n_rows; i++)
        if (text_is(ranks, i, "verdict", "straggler"))
            tm_rank_text_add(out, tm_table_cell(ranks, i, "rank")->value.i);
}

static bool is_named(const tm_facts *f, int64_t rank) {
    const tm_table *ranks = tm_tables_find(f->tables, "stragglers.rank");
    size_t row = tm_table_find_row(ranks, &rank, 1);
    return row < ranks->n_rows && text_is(ranks, row, "verdict", "straggler");
}

/* Returns the time that @p n_lost ranks lose by waiting for the named ranks [ns]. Also counts waits
 * during computation, because they delay later work. Each rank loses at most the largest excess of
 * any finding. */
static int64_t lost_after(const tm_facts *f, double share, int64_t n_lost) {
    const tm_table *findings = tm_tables_find(f->tables, "stragglers.finding");
    double waits = share * (double)tm_facts_sum(f, "stragglers.rank", "wait_ns");
    int64_t excess = 0;
    for (size_t i = 0; i < findings->n_rows; i++) {
        int64_t own = tm_facts_int(f, "stragglers.finding", i, "excess_ns");
        excess = own > excess ? own : excess;
    }
    return llround(fmin(waits, (double)excess * (double)n_lost));
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
    /* Only ranks that are not named lose time by waiting. A fix saves at most the largest excess of
     * a named rank. */
    int64_t late = (int64_t)names.n;
    out->n_lost = f->n_gpu > late ? f->n_gpu - late : 1;
    double exposed = (double)tm_facts_sum(f, "overlap.rank", "exposed_wait_ns");
    share = fmin(share, 1.0);
    int64_t shown = llround(share * exposed), after = lost_after(f, share, out->n_lost);
    out->cost_ns = after > shown ? after : shown;
    out->measure = tm_facts_percent(out->cost_ns, f->window_ns);
    write_targets(f, out);
    copy_evidence(f, out);
}

/* Writes advice for a rank that computes more than the others. The speed of kernels that all ranks
 * run shows whether the rank has more work or a slower GPU. */
static void write_one_rank(const tm_facts *f, int64_t rank, int64_t n_steps, tm_advice *out) {
    const int64_t few = 3; /* one of two ranks leads two steps by chance in half of all jobs */
    const tm_table *ranks = tm_tables_find(f->tables, "stragglers.rank");
    double speed =
        tm_facts_real(f, "stragglers.rank", tm_table_find_row(ranks, &rank, 1), "relative_speed");
    out->moves = speed < 0.0 || speed >= SLOW;
    if (!out->moves)
        snprintf(
            out->text, sizeof out->text,
            "Look at the GPU of rank %" PRId64
            ": its kernels are slow (clock, heat, other processes), or have more work than the "
            "kernels of other ranks%s.",
            rank, n_steps < few ? "; in so few steps, this may be chance" : "");
    else if (n_steps < few)
        snprintf(
            out->text, sizeof out->text,
            "Check whether rank %" PRId64
            " always has more work (its share of the model, its batch, its experts). In so few "
            "steps, the difference may be chance.",
            rank);
    else
        snprintf(out->text, sizeof out->text,
                 "Give rank %" PRId64 " less work: its share of the model, its batch, its experts.",
                 rank);
}

/* Writes the mean computation time of the ranks of a plan, or of all other ranks. */
static void mean_compute(const tm_facts *f, size_t plan, bool listed, char *out, size_t size) {
    const tm_table *ranks = tm_tables_find(f->tables, "overlap.rank");
    const tm_table *items = tm_tables_find(f->tables, "whatif.item");
    int64_t sum = 0, n = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        if (tm_fixes_lists(items, plan, tm_table_cell(ranks, i, "rank")->value.i) == listed) {
            sum += tm_facts_int(f, "overlap.rank", i, "compute_ns");
            n++;
        }
    tm_shown_duration(n > 0 ? sum / n : 0, out, size);
}

/* Writes advice on a slow stage, whose ranks are exactly those of @p plan. Names no single rank:
 * chance decides which one computes most. Gives no cause, because durations do not show it. */
static void write_stage(const tm_facts *f, size_t plan, size_t stage, tm_advice *out) {
    const tm_table *items = tm_tables_find(f->tables, "whatif.item");
    const tm_table *ranks = tm_tables_find(f->tables, "overlap.rank");
    const char *name = tm_table_cell(items, stage, "name")->value.text;
    char own[TM_ADVICE_TIME], others[TM_ADVICE_TIME];
    tm_rank_text names = tm_rank_text_begin(out->ranks);
    for (size_t i = 0; i < ranks->n_rows; i++)
        if (tm_fixes_lists(items, plan, tm_table_cell(ranks, i, "rank")->value.i))
            tm_rank_text_add(&names, tm_table_cell(ranks, i, "rank")->value.i);
    tm_rank_text_end(&names, ranks->n_rows);
    mean_compute(f, plan, true, own, sizeof own);
    mean_compute(f, plan, false, others, sizeof others);
    out->item = "stage";
    out->limit = name;
    snprintf(out->text, sizeof out->text,
             "Divide the work of the pipeline evenly between its stages, or look at the GPUs of "
             "stage %s (ranks %s): the traces do not show whether it has more work (layers, the "
             "model's head) or slower GPUs.",
             name, out->ranks);
    snprintf(out->evidence, sizeof out->evidence,
             "A rank of stage %s computes for %s, one of another stage for %s (means). ", name, own,
             others);
}

/* Sets the saving of fixing only the item's rank. Returns false if it is known and too small. */
static bool take_saving(const tm_facts *f, int64_t rank, tm_advice *out) {
    const tm_table *items = tm_tables_find(f->tables, "whatif.item");
    char name[24];
    snprintf(name, sizeof name, "%" PRId64, rank);
    const size_t row = tm_fixes_find(items, "rank", name);
    if (row == items->n_rows || tm_facts_saved(f, "rank", name).share.null)
        return true;
    out->item = "rank";
    out->limit = tm_table_cell(items, row, "name")->value.text;
    return tm_fixes_saved_pct(items, row) >= TM_FIX_LEAST_PCT;
}

/* Imbalance, summed over whole steps. A step's leading rank is the rank that computes most. */
typedef struct uneven {
    int64_t mean_ns, above_ns, n, rank, led;
    /* the most uneven step: excess, leading rank, number of the step */
    int64_t most_ns, most_rank, most_step;
} uneven;

static uneven sum_uneven(const tm_facts *f) {
    const tm_table *steps = tm_tables_find(f->tables, "imbalance.step");
    uneven u = {.rank = tm_facts_int(f, "imbalance.job", 0, "max_rank")};
    for (size_t i = 0; i < steps->n_rows; i++) {
        int64_t step = tm_table_cell(steps, i, "step")->value.i;
        if (!tm_facts_is_whole(f, step) || tm_table_cell(steps, i, "imbalance_ns")->null)
            continue;
        int64_t above = tm_facts_int(f, "imbalance.step", i, "imbalance_ns");
        int64_t leader = tm_facts_int(f, "imbalance.step", i, "max_rank");
        u.mean_ns += tm_facts_int(f, "imbalance.step", i, "mean_compute_ns");
        u.above_ns += above;
        u.led += leader == u.rank;
        u.n++;
        if (above > u.most_ns) {
            u.most_ns = above;
            u.most_rank = leader;
            u.most_step = step;
        }
    }
    return u;
}

/* Writes advice if one step has most of the imbalance. Dividing the work more evenly would not help
 * then. */
static void write_one_step(const uneven *u, tm_advice *out) {
    char time[32];
    tm_shown_duration(u->most_ns, time, sizeof time);
    snprintf(out->ranks, sizeof out->ranks, "%" PRId64, u->most_rank);
    snprintf(out->text, sizeof out->text,
             "Look at what rank %" PRId64 " computes in step %" PRId64
             ": no other step is as uneven.",
             u->most_rank, u->most_step);
    snprintf(out->evidence, sizeof out->evidence,
             "In step %" PRId64 " rank %" PRId64
             " computes %s more than the mean: %.0f %% of the imbalance of all %" PRId64 " steps.",
             u->most_step, u->most_rank, time, tm_facts_percent(u->most_ns, u->above_ns), u->n);
}

void tm_look_imbalance(const tm_facts *f, tm_advice *out) {
    const uneven u = sum_uneven(f);
    /* The other ranks lose time by waiting. Counts their known waits and unmatched communication,
     * minus the time that the straggler rule explains. */
    int64_t lost = tm_facts_sum(f, "overlap.rank", "exposed_wait_ns") +
                   tm_facts_sum(f, "overlap.rank", "exposed_unmatched_ns") -
                   f->costs[TM_RULE_STRAGGLER];
    /* if the product would overflow, it is larger than `lost` */
    if (u.above_ns < INT64_MAX / (f->n_gpu + 1))
        lost = u.above_ns * f->n_gpu < lost ? u.above_ns * f->n_gpu : lost;
    double percent = tm_facts_percent(u.above_ns, u.mean_ns);
    /* If one rank has the most work in half of the steps, its share of the work is the problem, not
     * uneven batches. Other items cover the ranks that the verdict names. */
    bool one = 2 * u.led >= u.n,
         one_step = u.n > 2 && 2 * u.most_ns > u.above_ns && !(one && u.most_rank == u.rank);
    if (f->costs[TM_RULE_UNEVEN_STAGES] > 0 || f->job->n_ranks < 2 ||
        tm_facts_percent(lost, f->window_ns) < 1.0 ||
        ((one || one_step) && is_named(f, one_step ? u.most_rank : u.rank)))
        return;
    char time[32];
    out->measure = percent;
    out->cost_ns = lost;
    if (one_step) {
        write_one_step(&u, out);
        return;
    }
    tm_shown_duration(u.n > 0 ? u.above_ns / u.n : 0, time, sizeof time);
    const tm_table *items = tm_tables_find(f->tables, "whatif.item");
    const size_t plan = tm_savings_plan(f->tables), stage = tm_fixes_stage_of(items, plan);
    if (one && stage < items->n_rows && tm_fixes_lists(items, plan, u.rank)) {
        write_stage(f, plan, stage, out);
    } else if (one && tm_tables_find(f->tables, "whatif.split")->n_rows > 0) {
        /* The whole stage has more work. It is chance which of its ranks has the most. */
        snprintf(out->text, sizeof out->text,
                 "Divide the work of the pipeline evenly between its stages.");
    } else if (one && take_saving(f, u.rank, out)) {
        snprintf(out->ranks, sizeof out->ranks, "%" PRId64, u.rank);
        write_one_rank(f, u.rank, u.n, out);
    } else {
        const bool even = tm_fixes_find(items, "even", NULL) < items->n_rows;
        out->item = even ? "even" : NULL; /* traces of operations have no such row */
        out->limit = NULL;
        out->moves = true;
        snprintf(out->text, sizeof out->text,
                 "Balance the work%s between ranks: sequence lengths, padding, expert routing.",
                 tm_facts_marks_steps(f) ? " of a step" : "");
    }
    const size_t used = strlen(out->evidence);
    if (u.n == 1)
        snprintf(out->evidence + used, sizeof out->evidence - used,
                 "Rank %" PRId64 " computes %s (%.0f %%) more than the mean.", u.rank, time,
                 percent);
    else
        snprintf(out->evidence + used, sizeof out->evidence - used,
                 "In a step, the rank with the most computation has %s (%.0f %%) more than the "
                 "mean. Rank %" PRId64 " has the most in %" PRId64 " of %" PRId64 " steps.",
                 time, percent, u.rank, u.led, u.n);
}

/* Returns whether a kind of communication is a transfer between two ranks, such as between stages
 * of a pipeline. */
static bool is_transfer(const char *kind) {
    return strcmp(kind, "send") == 0 || strcmp(kind, "recv") == 0 || strcmp(kind, "sendrecv") == 0;
}

static int64_t exposed_transfers(const tm_facts *f) {
    const tm_table *kinds = tm_tables_find(f->tables, "overlap.kind");
    int64_t sum = 0;
    for (size_t i = 0; i < kinds->n_rows; i++)
        if (is_transfer(tm_table_cell(kinds, i, "kind")->value.text))
            sum += tm_facts_int(f, "overlap.kind", i, "exposed_comm_ns");
    return sum;
}

/* Writes "; rank 3 caused most, 40 % of all waiting" for a rank that the verdict does not name. */
static void most_after(const tm_facts *f, char *out, size_t size) {
    const tm_table *ranks = tm_tables_find(f->tables, "stragglers.rank");
    double most = 0.0;
    out[0] = '\0';
    for (size_t i = 0; i < ranks->n_rows; i++) {
        double share = tm_facts_real(f, "stragglers.rank", i, "caused_share");
        if (share <= most || text_is(ranks, i, "verdict", "straggler"))
            continue;
        most = share;
        snprintf(out, size, "; %srank %" PRId64 " caused most, %s of all waiting",
                 f->costs[TM_RULE_STRAGGLER] > 0 ? "of the other ranks, " : "",
                 tm_table_cell(ranks, i, "rank")->value.i, tm_shown_percent(100.0 * share, 0).text);
    }
}

/* Returns "host", "stall" or "gc" if this kind of work is the lead of the summary; otherwise
 * NULL. */
static const char *leading_host_work(const tm_facts *f) {
    static const char *const kinds[] = {"host", "stall", "gc"};
    const tm_table *items = tm_tables_find(f->tables, "whatif.item");
    const size_t lead = tm_savings_lead(f->tables).kind;
    char headline[TM_SAVINGS_MAX];
    if (lead >= items->n_rows || !text_is(items, lead, "what", "kind"))
        return NULL;
    tm_savings_head(f->tables, lead, headline);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (headline[0] && text_is(items, lead, "name", kinds[k]))
            return kinds[k];
    return NULL;
}

/* Writes advice if no rank is named and less host work would save most. The saving is that of all
 * hosts, so the text is about all hosts unless fixing the ranks of the plan saves nearly as
 * much. */
static void look_at_hosts(const tm_facts *f, const char *kind, tm_advice *out) {
    const double nearly = 0.9;
    const bool event = tm_facts_verdict_is(f, "event");
    const char *ranks = tm_savings_ranks(f->tables);
    const tm_table *items = tm_tables_find(f->tables, "whatif.item");
    const double saved = tm_fixes_saved_pct(items, tm_savings_lead(f->tables).kind);
    const size_t plan = tm_savings_plan(f->tables);
    const bool several = strchr(ranks, ',') != NULL;
    const bool all = !*ranks || tm_fixes_saved_pct(items, plan) < nearly * saved;
    const char *call = tm_facts_host_in_gaps(f, "host_work", plan);
    char whose[128] = "", inside[128] = "";
    /* `saved` also counts waits during computation, because they delay later work */
    out->measure = fmax(out->measure, saved);
    out->cost_ns = out->cost_ns > 0 ? out->cost_ns : 0;
    if (*ranks)
        snprintf(whose, sizeof whose, "%s%s of rank%s %.96s",
                 all ? ", first the host" : " the host", several ? "s" : "", several ? "s" : "",
                 ranks);
    if (call && *call)
        snprintf(inside, sizeof inside, ", in the longest gaps mostly in \"%.80s%s\"", call,
                 strlen(call) > 80 ? "..." : "");
    out->item = "kind";
    out->limit = kind;
    snprintf(
        out->text, sizeof out->text,
        "Look at what%s %s between launches%s%s (tmerge show idle.gap)%s: %sgarbage "
        "collection, logging.%s",
        all ? " the hosts" : whose, all || several ? "do" : "does", all ? whose : "", inside,
        event ? ", especially before the operations with the most waiting (tmerge show collectives)"
              : "",
        f->trains ? "data loading, checkpoints, " : "",
        tm_facts_verdict_is(f, "inconclusive")
            ? " Record more steps to distinguish chance from cause."
            : "");
}

/* Finds waits for other ranks that neither a straggler nor uneven work explains. If the verdict is
 * a pipeline's bubble, adds exposed transfers between stages. */
void tm_look_late_ranks(const tm_facts *f, tm_advice *out) {
    bool bubble = tm_facts_verdict_is(f, "bubble"), named = f->costs[TM_RULE_STRAGGLER] > 0;
    char after[96], time[TM_ADVICE_TIME];
    out->cost_ns = tm_facts_sum(f, "overlap.rank", "exposed_wait_ns") -
                   f->costs[TM_RULE_STRAGGLER] - tm_facts_uneven(f) +
                   (bubble ? exposed_transfers(f) : 0);
    out->measure = tm_facts_percent(out->cost_ns, f->window_ns);
    tm_facts_by_rank(f, out->cost_ns > 0 ? out->cost_ns : 0, time);
    most_after(f, after, sizeof after);
    snprintf(out->evidence, sizeof out->evidence,
             "%s of the GPU time (%s) is exposed waiting for %s%s%s.",
             tm_shown_percent(fmax(out->measure, 0.0), 1).text, time,
             bubble ? "other stages, with their transfers," : "late ranks",
             named                    ? " other than those named"
             : tm_facts_uneven(f) > 0 ? " beyond what uneven work explains"
             : bubble                 ? " and in collectives"
                                      : "",
             bubble ? "" : after);
    const char *host_work = named ? NULL : leading_host_work(f);
    if (host_work)
        look_at_hosts(f, host_work, out);
    else if (tm_facts_verdict_is(f, "inconclusive"))
        snprintf(out->text, sizeof out->text,
                 "Find what delays ranks, first those that make others wait most (tmerge show "
                 "stragglers); record %s chance from cause.",
                 tm_facts_marks_steps(f) ? "more steps to tell" : "for longer to tell");
    else if (tm_facts_verdict_is(f, "event"))
        snprintf(out->text, sizeof out->text,
                 "Look at what happened just before the operations with the most waiting (tmerge "
                 "show collectives): %sgarbage collection, logging.",
                 f->trains ? "data loading, checkpoint, " : "");
    else if (bubble)
        snprintf(out->text, sizeof out->text,
                 "Make the pipeline's bubble smaller: more micro-batches, interleaved stages, "
                 "stages of equal length.");
    else
        snprintf(out->text, sizeof out->text,
                 "Find what delays %s rank now and then: %s, garbage collection, logging, other "
                 "programs on its host.",
                 named ? "another" : "a", f->trains ? "data loading" : "batches of other sizes");
    if (bubble)
        tm_facts_bubble(f, out);
}

/* Returns the kind of communication with the most exposed time over all ranks, and sets that time.
 * All waits for late ranks (@p waiting_ns) may be in one kind of collective, but none are in
 * transfers between two ranks. So a kind of transfer wins if it has more exposed time than the
 * worst collective without these waits. Leaves out transfers of a bubble, which have their own
 * item. */
static const char *worst_kind(const tm_facts *f, int64_t waiting_ns, int64_t *exposed_ns) {
    /* larger than the number of kinds */
    enum { KINDS = 24 };
    const tm_table *table = tm_tables_find(f->tables, "overlap.kind");
    const char *kinds[KINDS];
    int64_t sums[KINDS] = {0};
    size_t n = 0, worst = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        const char *kind = tm_table_cell(table, i, "kind")->value.text;
        size_t k = 0;
        if (is_transfer(kind) && tm_facts_verdict_is(f, "bubble"))
            continue;
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
    for (size_t k = 0, others = worst; k < n; k++)
        if (is_transfer(kinds[k]) && !is_transfer(kinds[others]) &&
            sums[k] > (worst == others ? sums[others] - waiting_ns : sums[worst]))
            worst = k;
    *exposed_ns = sums[worst];
    return n > 0 ? kinds[worst] : "none";
}

/* Compares the operations of a row of collectives.kind with larger operations of the same kind and
 * group. If the larger operations are far faster, returns by how much longer the smaller ones take
 * [ns], summed over operations and ranks, and sets @p larger to the row of the larger operations.
 * Otherwise returns 0. The rows of a group are adjacent. */
static int64_t find_excess(const tm_facts *f, size_t row, size_t *larger) {
    const tm_table *kinds = tm_tables_find(f->tables, "collectives.kind");
    const char *kind = tm_table_cell(kinds, row, "kind")->value.text;
    const tm_cell *group = tm_table_cell(kinds, row, "group");
    int64_t own_ns = tm_facts_int(f, "collectives.kind", row, "median_transfer_ns"), least_ns = 0;
    for (size_t i = row + 1; i < kinds->n_rows && text_is(kinds, i, "kind", kind) && !group->null &&
                             text_is(kinds, i, "group", group->value.text);
         i++) {
        int64_t ns = tm_facts_int(f, "collectives.kind", i, "median_transfer_ns");
        bool more = tm_facts_int(f, "collectives.kind", i, "size_class_bytes") >
                    tm_facts_int(f, "collectives.kind", row, "size_class_bytes");
        if (!more || ns <= 0 || own_ns < FAR_LONGER * ns || (least_ns > 0 && ns >= least_ns))
            continue;
        least_ns = ns;
        *larger = i;
    }
    return least_ns > 0 ? (own_ns - least_ns) * tm_facts_int(f, "collectives.kind", row, "count") *
                              tm_facts_int(f, "collectives.kind", row, "ranks")
                        : 0;
}

/* Returns whether every rank of the job has a trace; false if the number of ranks is unknown. */
static bool has_all_ranks(const tm_facts *f) {
    return f->job->world_size > 0 && (int64_t)f->job->n_ranks >= f->job->world_size;
}

/* Writes advice if most of the time is in operations that take far longer than larger operations.
 * These slow operations wait for something, so faster communication does not help. */
static void write_excess(const tm_facts *f, const char *kind, tm_advice *out) {
    out->apart = true; /* the replay mistakes these waits for transfers */
    snprintf(out->text, sizeof out->text,
             "Find what the slowest %ss wait for after all ranks%s have arrived: %s.", kind,
             has_all_ranks(f) ? "" : " here",
             has_all_ranks(f)
                 ? "the set-up of their group, or other users of the network"
                 : "ranks without a trace (add their traces), or the set-up of their group");
}

/* If operations that take far longer than larger ones make up a tenth of @p rest_ns, adds a
 * sentence on them. */
static void add_excess(const tm_facts *f, int64_t rest_ns, tm_advice *out) {
    const tm_table *kinds = tm_tables_find(f->tables, "collectives.kind");
    size_t worst = 0, larger = 0, used = strlen(out->evidence);
    int64_t most_ns = 0;
    for (size_t i = 0; i < kinds->n_rows; i++) {
        size_t other = 0;
        int64_t ns = find_excess(f, i, &other);
        if (ns > most_ns) {
            most_ns = ns;
            worst = i;
            larger = other;
        }
    }
    if (most_ns == 0 || most_ns < rest_ns / 10)
        return;
    tm_shown_text times[2];
    tm_shown_durations(
        (const int64_t[]){tm_facts_int(f, "collectives.kind", worst, "median_transfer_ns"),
                          tm_facts_int(f, "collectives.kind", larger, "median_transfer_ns")},
        2, times);
    int64_t count = tm_facts_int(f, "collectives.kind", worst, "count");
    snprintf(
        out->evidence + used, sizeof out->evidence - used,
        " %" PRId64 " %s%s of %.1f MB%s took %s%s after all ranks%s had arrived, although one of "
        "%.1f MB takes %s. Size does not explain the difference, and the traces do not "
        "show its cause (the first operation of a group may set up the group%s).",
        count, tm_words_kind(tm_table_cell(kinds, worst, "kind")->value.text), count > 1 ? "s" : "",
        (double)tm_facts_int(f, "collectives.kind", worst, "bytes") / 1e6,
        count > 1 ? " on average" : "", times[0].text, count > 1 ? " (median)" : "",
        has_all_ranks(f) ? "" : " here",
        (double)tm_facts_int(f, "collectives.kind", larger, "bytes") / 1e6, times[1].text,
        has_all_ranks(f) ? "" : ", and any may wait for ranks without a trace");
    if (most_ns > rest_ns / 2)
        write_excess(f, tm_words_kind(tm_table_cell(kinds, worst, "kind")->value.text), out);
}

/* If much communication is unmatched or non-blocking, adds that the waits in it are unknown. Only
 * matched sends and receives show how long receivers waited, including waits during computation. */
static void add_doubt(const tm_facts *f, int64_t rest_ns, tm_advice *out) {
    const size_t used = strlen(out->evidence);
    const int64_t unmatched = tm_facts_sum(f, "overlap.rank", "exposed_unmatched_ns");
    const int64_t late_senders = tm_facts_sum(f, "bubble.pair", "late_sender_ns");
    const double percent = 100.0 * (double)unmatched / (double)rest_ns;
    const int64_t least_ns = tm_facts_sum(f, "overlap.rank", "exposed_least_wait_ns");
    char share[64], time[TM_ADVICE_TIME], least[96] = "";
    if (percent < 50.0)
        return;
    tm_facts_by_rank(f, least_ns, time);
    if (least_ns > 0)
        snprintf(least, sizeof least,
                 ", but at least %s is waiting for ranks whose traces were read", time);
    snprintf(share, sizeof share, "%s of this time",
             tm_shown_percent(percent < 100.0 ? percent : 100.0, 0).text);
    tm_shown_duration(late_senders, time, sizeof time);
    if (late_senders > 0)
        snprintf(out->evidence + used, sizeof out->evidence - used,
                 " %s is in operations that are not split into waiting and transfer. In these "
                 "operations, receivers of all ranks waited %s for their senders, hidden or not "
                 "(tmerge show bubble). The traces do not show how much of the rest is waiting.",
                 share, time);
    else
        snprintf(out->evidence + used, sizeof out->evidence - used,
                 " %s is in communication that was not matched on all ranks, or of a kind that a "
                 "rank can leave before others arrive (such as a broadcast): the traces do not "
                 "show how much of this time is waiting for other ranks%s.",
                 share, least);
}

/* Sets cost, measure and evidence of one of two rules. If @p well_hidden is false, the rule is that
 * communication is poorly hidden; otherwise, that there is too much of it. Returns the kind of
 * communication with the most exposed time; NULL if the rule does not apply. */
static const char *look_at_communication(const tm_facts *f, bool well_hidden, tm_advice *out) {
    int64_t waiting =
        f->costs[TM_RULE_STRAGGLER] + tm_facts_uneven(f) + f->costs[TM_RULE_LATE_RANKS];
    int64_t rest = tm_facts_sum(f, "overlap.rank", "exposed_comm_ns") - waiting;
    int64_t overlap = tm_facts_sum(f, "overlap.rank", "overlap_ns"), of_kind;
    /* A rank that waits long has no work left that could hide its transfers, so they are exposed
     * because of the wait. If there is much waiting, only the least exposed communication of any
     * rank counts in each step. */
    if (waiting >= rest && f->least_exposed_ns < rest)
        rest = f->least_exposed_ns;
    double hidden = tm_facts_percent(overlap, overlap + rest);
    const char *kind = worst_kind(f, waiting, &of_kind);
    const bool rest_alone = waiting > 0 && is_transfer(kind) && of_kind <= rest;
    char time[TM_ADVICE_TIME], kind_time[TM_ADVICE_TIME];
    /* Hiding more communication gains little in two cases: half is hidden already, or the remaining
     * computation could hide less than half of the rest. Then the advice is to communicate less. */
    const int64_t bare = tm_facts_sum(f, "overlap.rank", "compute_ns") - overlap;
    if (rest <= 0 || (hidden >= 50.0 || bare < rest / 2) != well_hidden)
        return NULL;
    out->cost_ns = rest;
    out->measure = tm_facts_percent(rest, f->window_ns);
    tm_facts_by_rank(f, rest, time);
    tm_facts_by_rank(f, of_kind, kind_time);
    snprintf(out->evidence, sizeof out->evidence,
             "%s of the GPU time (%s) is exposed communication%s. %s%s of communication is hidden. "
             "The largest part of the %sexposed time is %s (%s%s).",
             tm_shown_percent(out->measure, 1).text, time,
             waiting > 0 ? ", not counting waits for late ranks" : "",
             waiting > 0 ? "Without these waits, " : "", tm_shown_percent(hidden, 0).text,
             rest_alone ? "remaining " : "",
             strcmp(kind, "other") == 0 ? "communication of unknown kind" : tm_words_kind(kind),
             kind_time, waiting > 0 && !rest_alone ? ", with waiting" : "");
    add_doubt(f, rest, out);
    add_excess(f, rest, out);
    return kind;
}

/* Returns a prefix for advice on communication: first add the missing traces. Returns "" unless
 * ranks have no trace and at least half of the communication is unmatched. */
static const char *ranks_first(const tm_facts *f, const tm_advice *out) {
    const int64_t unmatched = tm_facts_sum(f, "overlap.rank", "exposed_unmatched_ns");
    const int64_t rest = out->cost_ns;
    return f->job->world_size > (int64_t)f->job->n_ranks && unmatched >= rest - rest / 2
               ? "Add the traces of the missing ranks first, because most of this time may be "
                 "waiting for them. Otherwise "
               : "";
}

void tm_look_exposed_communication(const tm_facts *f, tm_advice *out) {
    const char *kind = look_at_communication(f, false, out);
    if (out->apart)
        return;
    const char *before = ranks_first(f, out);
    /* the saving is unknown, because a replay with faster transfers does not remove the bubble */
    out->apart = kind && strcmp(kind, "recv") == 0;
    if (out->apart) {
        snprintf(out->text, sizeof out->text,
                 "Make receives wait less for their senders: more micro-batches, interleaved "
                 "stages, stages of equal length.");
        tm_facts_bubble(f, out);
    } else {
        snprintf(out->text, sizeof out->text,
                 "%s%start communication earlier, so that it overlaps computation: %sasynchronous "
                 "calls on a separate stream%s.",
                 before, *before ? "s" : "S",
                 f->trains ? "smaller buckets, prefetching of sharded parameters, " : "",
                 f->trains ? "" : ", alternating two halves of a batch");
    }
    if (kind)
        tm_facts_launcher(f, TM_LAUNCHED_COMMUNICATION, out->text + strlen(out->text),
                          sizeof out->text - strlen(out->text));
}

void tm_look_communication(const tm_facts *f, tm_advice *out) {
    look_at_communication(f, true, out);
    const char *before = ranks_first(f, out);
    if (out->apart)
        return;
    snprintf(out->text, sizeof out->text,
             "%s%sommunicate less or faster: larger messages, lower precision, %sparallel groups "
             "that stay within a host.",
             before, *before ? "c" : "C", f->trains ? "gradient accumulation, " : "");
}

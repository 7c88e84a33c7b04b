/* Analysis `stragglers`: which ranks arrive last, how long others wait for them, and in which
 * steps. */
#include "tmerge/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "blames.h"
#include "compared.h"
#include "extra_work.h"
#include "judge.h"
#include "rank_speed.h"
#include "timeline/collectives.h"
#include "verdict_tables.h"

enum {
    R_RANK,
    R_HOST,
    R_COLLECTIVES,
    R_LAST,
    R_LAST_SHARE,
    R_TIED,
    R_WAIT,
    R_CAUSED,
    R_CAUSED_SHARE,
    R_DIRECT,
    R_INDIRECT,
    R_SPEED,
    R_LED,
    R_P,
    R_EXCESS,
    R_EXCESS_PCT,
    R_VERDICT
};

static const tm_column rank_columns[] = {
    [R_RANK] = {"rank", TM_INT, "", "Global rank."},
    [R_HOST] = {"host", TM_TEXT, "", "Name of the rank's host, as in job.rank."},
    [R_COLLECTIVES] = {"collectives", TM_INT, "",
                       "Number of complete, synchronising collectives in which the rank took part. "
                       "A broadcast, reduce, gather or scatter counts as synchronising if its "
                       "kernels show that all ranks waited for the last one. If it is 0, the "
                       "columns last_arrivals to caused_wait_ns are null."},
    [R_LAST] = {"last_arrivals", TM_INT, "",
                "Number of complete, synchronising collectives in which only this rank came last."},
    [R_LAST_SHARE] = {"last_share", TM_REAL, "",
                      "Share of collectives in which the rank came last: last_arrivals / the "
                      "number of its collectives in which a single rank came last."},
    [R_TIED] = {"tied", TM_INT, "",
                "Number of complete, synchronising collectives in which the rank and others came "
                "last, within clock uncertainty."},
    [R_WAIT] = {"wait_ns", TM_INT, "ns",
                "Time that the rank waited in its collectives: from the start of its kernel until "
                "the last rank started, at most until its kernel ended. Null if the rank has no "
                "complete, synchronising collective."},
    [R_CAUSED] =
        {"caused_wait_ns", TM_INT, "ns",
         "Waits of other ranks that the rank caused by coming late. They count even if the rank "
         "was late because it had waited itself. At any time, all ranks that have not arrived "
         "share the blame for the waits of the ranks that have arrived. The first screen's "
         "\"caused\" is direct_ns + indirect_ns: the waits of which the rank is the root cause."},
    [R_CAUSED_SHARE] = {"caused_share", TM_REAL, "",
                        "Share of all waiting whose root cause is the rank: (direct_ns + "
                        "indirect_ns) / the sum of direct_ns + indirect_ns over all ranks."},
    [R_DIRECT] = {"direct_ns", TM_INT, "ns",
                  "Part of caused_wait_ns that the rank caused by itself. In the rest of "
                  "caused_wait_ns, the rank was late because it had waited for other ranks since "
                  "the previous operation of the group."},
    [R_INDIRECT] = {"indirect_ns", TM_INT, "ns",
                    "Waits that the rank caused through other ranks: these ranks came late because "
                    "they had waited for this rank. The sum of direct_ns + indirect_ns over all "
                    "ranks is the sum of wait_ns."},
    [R_SPEED] =
        {"relative_speed", TM_REAL, "",
         "Compute speed relative to the other ranks: median compute_ns of all ranks / compute_ns "
         "of this rank, in each step; then the median over the steps. Below 1 is slow."},
    [R_LED] = {"steps_led", TM_INT, "",
               "Number of steps in which the rank has the largest cost of all ranks: direct_ns + "
               "indirect_ns."},
    [R_P] = {"p", TM_REAL, "",
             "Probability that, if all ranks are equal, chance makes a rank stand out this much "
             "(see stragglers.finding): the smallest over the rank's groups. Null if too little "
             "was recorded for a test."},
    [R_EXCESS] = {"excess_ns", TM_INT, "ns",
                  "How much longer the rank takes by itself: its own time, without waits, minus "
                  "the median own time of the other ranks of its group, summed over everything "
                  "that was compared. Compute kernels that run on a device at the same time count "
                  "once. If the rank is in several groups: the largest value. "
                  "Negative if it is faster. Null if not tested."},
    [R_EXCESS_PCT] = {"excess_pct", TM_REAL, "%",
                      "excess_ns as a share of step time: 100 excess_ns / the sum over the steps "
                      "of the longest window that a rank has in the step."},
    [R_VERDICT] = {"verdict", TM_TEXT, "",
                   "Verdict on the rank. straggler: the verdict of stragglers.job names the rank, "
                   "its host or its group. not named: that verdict names none of these, which does "
                   "not prove that the rank is fast. unknown: that verdict is inconclusive, an "
                   "event or a bubble, or less than 90 % of the communication could be compared."},
};

static const tm_table_def rank_def = {
    .name = "stragglers.rank",
    .doc = "A row for each rank: how often it came last to collectives, and how much waiting this "
           "caused.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = R_CAUSED,
    .form = TM_FORM_BARS,
};

static const tm_column pair_columns[] = {
    {"rank", TM_INT, "", "Rank that came late."},
    {"for_rank", TM_INT, "", "Rank that waited."},
    {"wait_ns", TM_INT, "ns", "Part of for_rank's wait that the late rank caused."},
};

static const tm_table_def pair_def = {
    .name = "stragglers.pair",
    .doc = "A row for each late rank and each rank that waited for it: the waits, with the blame "
           "divided as in stragglers.rank.caused_wait_ns. Empty for jobs of over 512 ranks.",
    TM_ARRAY(columns, pair_columns),
    .n_keys = 2,
    .top = 2,
};

enum { S_STEP, S_RANK, S_CAUSED, S_DIRECT, S_INDIRECT, S_LATENESS, N_STEP_COLUMNS };

static const tm_column step_columns[N_STEP_COLUMNS] = {
    {"step", TM_INT, "", "Number of the step. Only steps with waits have rows."},
    {"rank", TM_INT, "",
     "Rank with the largest cost in the step (direct_ns + indirect_ns): the leading rank; the "
     "lowest if there are several."},
    {"caused_wait_ns", TM_INT, "ns",
     "Waits of other ranks that the leading rank caused in this step's operations."},
    {"direct_ns", TM_INT, "ns",
     "Part of caused_wait_ns that the leading rank caused by itself, as in stragglers.rank."},
    {"indirect_ns", TM_INT, "ns",
     "Waits that the leading rank caused through other ranks in this step's operations, as in "
     "stragglers.rank. Waits are followed back into earlier steps, so indirect_ns is smaller in "
     "the first recorded steps."},
    {"lateness_ns", TM_INT, "ns",
     "By how much the leading rank came last: time from the start of the second to last rank to "
     "the start of the leading rank, summed over the step's collectives in which the leading rank "
     "came last."},
};

static const tm_table_def step_def = {
    .name = "stragglers.step",
    .doc = "A row for each step: the rank that delayed it most.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 1,
    .top = 2,
};

enum { B_RANK, B_STEP, B_WAIT, B_CAUSED, B_DIRECT, B_INDIRECT, N_BOTH_COLUMNS };

static const tm_column both_columns[N_BOTH_COLUMNS] = {
    {"rank", TM_INT, "", "Global rank."},
    {"step", TM_INT, "", "Number of the step. Only steps with waits have rows."},
    {"wait_ns", TM_INT, "ns",
     "Time that the rank waited in this step's operations, as in stragglers.rank."},
    {"caused_wait_ns", TM_INT, "ns",
     "Waits of other ranks that the rank caused in this step's operations, as in stragglers.rank."},
    {"direct_ns", TM_INT, "ns", "Part of caused_wait_ns that the rank caused by itself."},
    {"indirect_ns", TM_INT, "ns",
     "Waits that the rank caused through other ranks, as in stragglers.step."},
};

static const tm_table_def both_def = {
    .name = "stragglers.rank_step",
    .doc = "A row for each rank and step: how long the rank waited, and which waits of other ranks "
           "it caused.",
    TM_ARRAY(columns, both_columns),
    .n_keys = 2,
    .top = B_DIRECT,
    .form = TM_FORM_MAP,
};

static const tm_table_def *const defs[] = {&tm_verdict_job,
                                           &tm_verdict_finding,
                                           &rank_def,
                                           &step_def,
                                           &both_def,
                                           &pair_def,
                                           &tm_extras_def,
                                           &tm_blames_part,
                                           &tm_blames_cost,
                                           &tm_blames_member,
                                           &tm_compared_suspect,
                                           &tm_compared_standing,
                                           &tm_judge_heavy,
                                           &tm_judge_heard,
                                           &tm_judge_pipeline};

/* Returns what a kernel adds to the sums of its rank and step, except waits that the rank caused
 * through other ranks: tm_blames_add_own adds these. */
static tm_blame blame_of(int64_t rank, const tm_comm_answer *answer) {
    double share = 1.0 / (double)answer->group_size;
    return (tm_blame){
        .rank = rank,
        .step = answer->step,
        .collectives = 1,
        .last = answer->last,
        .tied = answer->tied,
        .untied = answer->untied,
        .wait_ns = answer->wait_ns,
        .lateness_ns = answer->lateness_ns,
        .doubt_ns = answer->doubt_ns,
        .caused = {answer->caused_ns, answer->caused_fraction},
        /* mean and variance of how often the rank comes last by chance; in a tie, no rank comes
         * last */
        .expected = answer->untied ? share : 0.0,
        .variance = answer->untied ? share * (1.0 - share) : 0.0,
    };
}

/* Finds or adds the rank's sums of a step; NULL if out of memory.
 * @param blames  vector of tm_blame, ascending in step */
static tm_blame *blame_of_step(tm_vec *blames, int64_t rank, int64_t step) {
    const tm_blame *v = blames->data;
    size_t at = blames->n; /* most kernels are in the latest step so far, or in a new one */
    if (at > 0 && v[at - 1].step >= step)
        at = TM_FIRST_FROM(tm_blame, step, v, at - 1, step);
    if (at < blames->n && v[at].step == step)
        return (tm_blame *)blames->data + at;
    tm_blame *sum = tm_vec_push(blames);
    if (!sum)
        return NULL;
    sum -= blames->n - 1 - at;
    memmove(sum + 1, sum, (blames->n - 1 - at) * sizeof *sum);
    *sum = (tm_blame){.rank = rank, .step = step};
    return sum;
}

static tm_status stragglers_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_vec blames = TM_VEC(tm_blame);
    tm_status status = TM_OK;
    size_t n = timeline->answers ? timeline->n_attrs[TM_ATTR_COLLECTIVE] : 0;
    for (size_t i = 0; i < n && status == TM_OK; i++) {
        const tm_comm_answer *answer = &timeline->answers[i];
        /* if the wait is unknown, so is the late rank */
        if (answer->wait_ns < 0)
            continue;
        tm_blame one = blame_of(timeline->rank, answer);
        tm_blame *sum = blame_of_step(&blames, timeline->rank, answer->step);
        if (sum)
            tm_blame_add(sum, &one);
        else
            status = tm_fail_memory(err);
    }
    for (size_t i = 0; i < blames.n && status == TM_OK; i++)
        status = tm_blames_add_part(out, (const tm_blame *)blames.data + i, err);
    tm_vec_free(&blames);
    return status == TM_OK ? tm_judge_add_heard(out, timeline, err) : status;
}

/* Adds the pairs of ranks. The parts of a pair from several processes are summed before
 * rounding. */
static tm_status add_pairs(const tm_collectives *own, tm_tables *out, tm_error *err) {
    const tm_pair *pairs = own->pairs.data;
    tm_table *table = tm_tables_find(out, pair_def.name);
    tm_pair_map map = {0};
    tm_vec sums = TM_VEC(tm_pair);
    bool ok = true;
    for (size_t i = 0; i < own->pairs.n && ok; i++) {
        tm_share share = {pairs[i].whole_ns, pairs[i].fraction};
        ok = tm_pair_map_add(&map, pairs[i].rank, pairs[i].for_rank, share);
    }
    ok = ok && tm_pair_map_drain(&map, &sums);
    for (size_t i = 0; i < sums.n && ok; i++) {
        const tm_pair *sum = (const tm_pair *)sums.data + i;
        tm_cell *row = tm_table_add_row(table);
        ok = row != NULL;
        if (!ok)
            break;
        tm_cell_set_int(&row[0], sum->rank);
        tm_cell_set_int(&row[1], sum->for_rank);
        tm_cell_set_int(&row[2], tm_share_round((tm_share){sum->whole_ns, sum->fraction}));
    }
    tm_pair_map_free(&map);
    tm_vec_free(&sums);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status stragglers_own(const tm_collectives *own, tm_tables *out, tm_error *err) {
    TM_TRY(add_pairs(own, out, err));
    TM_TRY(tm_compared_add(out, own, err));
    TM_TRY(tm_extras_fill(own, out, err));
    TM_TRY(tm_judge_add_heavy(out, own, err));
    return tm_blames_add_own(out, own, err);
}

static int64_t steps_led(const tm_blames *t, int64_t rank) {
    int64_t led = 0;
    for (size_t i = 0; i < t->n_leaders; i++)
        led += t->leaders[i].rank == rank;
    return led;
}

/* Adds a rank's row. A rank that only sends may have caused waits although it has no
 * collectives. */
static tm_status add_rank(const tm_blames *t, const tm_judgement *j, size_t i, tm_table *table,
                          tm_cell *row, tm_error *err) {
    const tm_blame *r = &t->ranks[i];
    if (r->collectives == 0 && r->indirect_ns == 0)
        return TM_OK;
    if (r->collectives > 0) {
        tm_cell_set_int(&row[R_LAST], r->last);
        tm_cell_set_ratio(&row[R_LAST_SHARE], 1.0, r->last, r->untied);
        tm_cell_set_int(&row[R_TIED], r->tied);
        tm_cell_set_int(&row[R_WAIT], r->wait_ns);
        tm_cell_set_int(&row[R_CAUSED], tm_share_round(r->caused));
    }
    const int64_t direct_ns = tm_share_round(tm_blame_direct(r));
    tm_cell_set_int(&row[R_DIRECT], direct_ns);
    tm_cell_set_int(&row[R_INDIRECT], r->indirect_ns);
    tm_cell_set_ratio(&row[R_CAUSED_SHARE], 1.0, direct_ns + r->indirect_ns, t->wait_ns);
    tm_cell_set_int(&row[R_LED], steps_led(t, r->rank));
    if (j->standings[i].member >= 0) {
        tm_cell_set_int(&row[R_EXCESS], j->standings[i].excess_ns);
        tm_cell_set_ratio(&row[R_EXCESS_PCT], 100.0, j->standings[i].excess_ns, j->found.steps_ns);
        if (!isnan(j->standings[i].p))
            tm_cell_set_real(&row[R_P], j->standings[i].p);
    }
    bool cleared = j->matched_share >= TM_MATCHED_CLEARED && j->kind != TM_VERDICT_INCONCLUSIVE &&
                   j->kind != TM_VERDICT_EVENT && j->kind != TM_VERDICT_BUBBLE;
    const char *word = j->among[i] ? "straggler" : cleared ? "not named" : "unknown";
    return tm_table_set_text(table, &row[R_VERDICT], word, err);
}

/* t->ranks is in the order of job.rank */
static tm_status add_ranks(const tm_blames *t, const tm_judgement *j, tm_tables *tables,
                           tm_error *err) {
    tm_table *table = tm_tables_find(tables, rank_def.name);
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    for (size_t i = 0; i < t->n_ranks; i++) {
        const tm_cell *host = tm_table_cell(ranks, i, "host");
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[R_RANK], t->ranks[i].rank);
        tm_cell_set_int(&row[R_COLLECTIVES], t->ranks[i].collectives);
        TM_TRY(tm_table_set_text(table, &row[R_HOST], host->null ? NULL : host->value.text, err));
        TM_TRY(add_rank(t, j, i, table, row, err));
    }
    return TM_OK;
}

static tm_status add_steps(const tm_blames *t, tm_tables *tables, tm_error *err) {
    tm_table *table = tm_tables_find(tables, step_def.name);
    for (size_t i = 0; i < t->n_leaders; i++) {
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[S_STEP], t->leaders[i].step);
        tm_cell_set_int(&row[S_RANK], t->leaders[i].rank);
        tm_cell_set_int(&row[S_CAUSED], t->leaders[i].caused_ns);
        tm_cell_set_int(&row[S_DIRECT], t->leaders[i].direct_ns);
        tm_cell_set_int(&row[S_INDIRECT], t->leaders[i].indirect_ns);
        tm_cell_set_int(&row[S_LATENESS], t->leaders[i].lateness_ns);
    }
    return TM_OK;
}

/* Adds the rows by rank and step. Waits outside of steps do not count. */
static tm_status add_both(const tm_blames *t, tm_tables *tables, tm_error *err) {
    tm_table *table = tm_tables_find(tables, both_def.name);
    for (size_t i = 0; i < t->n_parts; i++) {
        const tm_blame *part = &t->parts[i];
        if (part->step < 0)
            continue;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[B_RANK], part->rank);
        tm_cell_set_int(&row[B_STEP], part->step);
        tm_cell_set_int(&row[B_WAIT], part->wait_ns);
        tm_cell_set_int(&row[B_CAUSED], tm_share_round(part->caused));
        tm_cell_set_int(&row[B_DIRECT], tm_share_round(tm_blame_direct(part)));
        tm_cell_set_int(&row[B_INDIRECT], part->indirect_ns);
    }
    /* parts are sorted by step first, but the table is sorted by rank first */
    tm_table_sort(table);
    return TM_OK;
}

/* Adds the rows of the ranks before the row of the job, whose sentence reads the speeds in them. */
static tm_status stragglers_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_blames t;
    tm_judgement j = {0};
    tm_status status = tm_blames_open(out, &t, err);
    if (status == TM_OK)
        status = tm_judge(out, &t, &j, err);
    if (status == TM_OK)
        status = add_ranks(&t, &j, out, err);
    if (status == TM_OK)
        status = tm_rank_speeds(out, tm_tables_find(out, rank_def.name), R_SPEED, err);
    if (status == TM_OK)
        status = add_steps(&t, out, err);
    if (status == TM_OK)
        status = add_both(&t, out, err);
    if (status == TM_OK)
        status = tm_verdict_fill(&(tm_verdict_topic){&t, &j, job->aligned, job->world_size > 0},
                                 out, err);
    tm_judge_close(&j);
    tm_blames_close(&t);
    return status;
}

const tm_analysis tm_analysis_stragglers = {
    .name = "stragglers",
    .summary = "which ranks come last to collectives, how long the others wait for them, and in "
               "which steps",
    TM_ARRAY(tables, defs),
    .rank = stragglers_rank,
    .collectives = stragglers_own,
    .job = stragglers_job,
};

/* The tables of the verdict: what is found, and what is said of it. */
#include "verdict_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/shared/doubt.h"
#include "analysis/shared/savings.h"

enum {
    F_PLACE,
    F_LEVEL,
    F_RANK,
    F_HOST,
    F_RANKS,
    F_SHAPE,
    F_FROM,
    F_TO,
    F_UNIT,
    F_UNITS,
    F_P,
    F_CERTAINTY,
    F_EXCESS,
    F_EXCESS_PCT,
    F_CAUSED_SHARE,
    F_SAVED,
    F_WORK,
    N_FINDING_COLUMNS
};

static const tm_column finding_columns[N_FINDING_COLUMNS] = {
    [F_PLACE] = {"finding", TM_INT, "", "0 for the one of the largest excess."},
    [F_LEVEL] = {"level", TM_TEXT, "",
                 "rank; host or group where 80 % of the ranks of one, and 2, stand out; job for an "
                 "event that no one rank was last in."},
    [F_RANK] = {"rank", TM_INT, "",
                "The rank; of a host or group the lowest; of an event who came last in each of its "
                "operations, null for several."},
    [F_HOST] = {"host", TM_TEXT, "", "Host of that rank, as in job.rank."},
    [F_RANKS] = {"ranks", TM_INT, "", "How many ranks it is about."},
    [F_SHAPE] =
        {"shape", TM_TEXT, "",
         "throughout; episode: in under 80 % of the units, one after another, and less than half "
         "as late outside; alternation: one of two episodes that exclude each other; event: at "
         "most 5 operations, and a tenth of all, hold half of the waiting, and nobody stands out; "
         "bubble: nobody does, and ranks wait for transfers between the stages of a pipeline, 1 % "
         "of their windows at least."},
    [F_FROM] = {"from", TM_INT, "",
                "First step; where stretches are compared, number of the first operation of its "
                "process group that is, from 0; null for a bubble, and an event outside of steps."},
    [F_TO] = {"to", TM_INT, "", "The last one."},
    [F_UNIT] = {"unit", TM_TEXT, "",
                "What is compared as independent: step, or stretch: what ranks do from one "
                "operation of their group to the next, or blocks of it; part: some of all that "
                "ranks do in a step; operation for an event."},
    [F_UNITS] = {"units", TM_INT, "",
                 "How many in the window, of those that are compared in blocks all; operations of "
                 "an event."},
    [F_P] = {"p", TM_REAL, "",
             "The chance that one of equal ranks stands out as much in any window: permutations of "
             "the ranks in each unit, corrected for the groups that were tested; null for an "
             "event."},
    [F_CERTAINTY] = {"certainty", TM_TEXT, "",
                     "confident: p <= 0.001; likely: p <= 0.01, or less than half of the "
                     "communication could be compared; null for an event."},
    [F_EXCESS] = {"excess_ns", TM_INT, "ns",
                  "By how much its own time exceeds the median of the others, summed over the "
                  "window; of several ranks their median. Null for an event."},
    [F_EXCESS_PCT] = {"excess_pct", TM_REAL, "%",
                      "100 x excess_ns / the sum over all steps of the longest rank's window; at "
                      "least 1."},
    [F_CAUSED_SHARE] = {"caused_share", TM_REAL, "",
                        "direct_ns + indirect_ns of its ranks in its steps / the waiting of all "
                        "ranks; of an event, its operations' share."},
    [F_SAVED] = {"saved_pct", TM_REAL, "%",
                 "What fixing it saves of a mean step (whatif.item), with those named before it "
                 "where they only help together; null where no replay tells."},
    [F_WORK] =
        {"work", TM_TEXT, "",
         "What takes it longer: device (kernels and copies), host (calls, and what its host does "
         "before them) or queue (kernels and copies begin late, which nothing recorded "
         "explains); null where no replay tells."},
};

const tm_table_def tm_verdict_finding = {
    .name = "stragglers.finding",
    .doc = "A row for each rank, host or group that takes longer by itself than chance explains.",
    .columns = finding_columns,
    .n_columns = N_FINDING_COLUMNS,
    .n_keys = 1,
    .top = F_EXCESS,
};

enum {
    J_VERDICT,
    J_RANK,
    J_HOST,
    J_LEVEL,
    J_P,
    J_CERTAINTY,
    J_MATCHED,
    J_HEADLINE,
    J_EVIDENCE,
    N_JOB_COLUMNS
};

static const tm_column job_columns[N_JOB_COLUMNS] = {
    [J_VERDICT] =
        {"verdict", TM_TEXT, "",
         "By stragglers.finding: persistent, episode, event, bubble: one of that shape (throughout "
         "is "
         "persistent); alternating: two that exclude each other; several. none: nothing is found, "
         "and all waits are under 1 % of all windows or no rank's excess reaches 1 % of the steps. "
         "Else inconclusive, as where over 5 % of what it would rest on is in doubt "
         "(job.integrity). Null where nothing can be compared."},
    [J_RANK] = {"rank", TM_INT, "",
                "The rank that is named, of several the one of largest excess, of a host or group "
                "the lowest; null where none is."},
    [J_HOST] = {"host", TM_TEXT, "", "Its host."},
    [J_LEVEL] = {"level", TM_TEXT, "", "rank, host or group, as in stragglers.finding."},
    [J_P] = {"p", TM_REAL, "", "Of the first finding, else the least of any rank."},
    [J_CERTAINTY] = {"certainty", TM_TEXT, "", "Of the first finding."},
    [J_MATCHED] = {"matched_share", TM_REAL, "",
                   "Of the time of all communication kernels, how much is of complete operations; "
                   "below 0.9 nobody is cleared, below 0.5 nothing is more than likely."},
    [J_HEADLINE] = {"headline", TM_TEXT, "",
                    "What saves most, in a sentence: the verdict on ranks, or a kind of work on "
                    "all of them, with the "
                    "verdict first in the evidence then."},
    [J_EVIDENCE] = {"evidence", TM_TEXT, "", "A sentence that can be checked in these tables."},
};

const tm_table_def tm_verdict_job = {
    .name = "stragglers.job",
    .doc = "One row: the verdict.",
    .columns = job_columns,
    .n_columns = N_JOB_COLUMNS,
    .n_keys = 0,
    .top = -1,
    .n_prose = 2,
};

/* The host of a rank as in job.rank, or NULL. */
static const char *host_of(const tm_tables *tables, int64_t rank) {
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    const tm_cell *host = tm_table_cell(ranks, tm_table_find_row(ranks, &rank, 1), "host");
    return host->null ? NULL : host->value.text;
}

static const char *unit_word(const tm_finding *f) {
    if (f->shape == TM_SHAPE_EVENT)
        return "operation";
    return f->unit == TM_UNIT_STEP ? "step" : f->unit == TM_UNIT_PART ? "part" : "stretch";
}

static tm_status add_finding(const tm_finding *f, int64_t place, tm_tables *tables, tm_error *err) {
    tm_table *table = tm_tables_find(tables, tm_verdict_finding.name);
    tm_cell *row = tm_table_add_row(table);
    bool named = tm_finding_names(f);
    if (!row)
        return tm_fail_memory(err);
    const char *level = f->rank < 0 ? "job" : tm_culprit_word(f->level);
    tm_cell_set_int(&row[F_PLACE], place);
    TM_TRY(tm_table_set_text(table, &row[F_LEVEL], level, err));
    TM_TRY(tm_table_set_text(table, &row[F_SHAPE], tm_shape_word(f->shape), err));
    TM_TRY(tm_table_set_text(table, &row[F_UNIT], unit_word(f), err));
    tm_cell_set_int(&row[F_UNITS], f->units);
    if (f->shape != TM_SHAPE_BUBBLE) /* its waits are not those of collectives */
        tm_cell_set_real(&row[F_CAUSED_SHARE], f->caused_share);
    if (f->rank >= 0) {
        tm_cell_set_int(&row[F_RANK], f->rank);
        tm_cell_set_int(&row[F_RANKS], (int64_t)f->n_members);
        TM_TRY(tm_table_set_text(table, &row[F_HOST], host_of(tables, f->rank), err));
    }
    if (named || (f->shape == TM_SHAPE_EVENT && f->from >= 0)) {
        tm_cell_set_int(&row[F_FROM], f->from);
        tm_cell_set_int(&row[F_TO], f->to);
    }
    if (!named)
        return TM_OK;
    tm_cell_set_real(&row[F_P], f->p);
    tm_cell_set_int(&row[F_EXCESS], f->excess_ns);
    tm_cell_set_real(&row[F_EXCESS_PCT], f->excess_pct);
    if (!isnan(f->saved_pct))
        tm_cell_set_real(&row[F_SAVED], f->saved_pct);
    const char *work = tm_suspect_word((tm_suspect_work)f->work);
    if (*work)
        TM_TRY(tm_table_set_text(table, &row[F_WORK], work, err));
    return tm_table_set_text(table, &row[F_CERTAINTY], tm_certainty_word(f->certainty), err);
}

/* Where a kind of work on all ranks saves more, it is said first, and the verdict after it. */
static void let_kind_lead(const tm_tables *tables, const tm_verdict_topic *topic, char *headline,
                          char *evidence) {
    const tm_lead lead = tm_savings_lead(tables);
    char verdict[TM_SENTENCE_MAX], why[TM_SENTENCE_MAX], first[TM_SAVINGS_MAX];
    if (lead.kind == tm_tables_find(tables, "whatif.item")->n_rows || topic->tolls->n_parts == 0 ||
        topic->judgement->withheld || tm_doubt_of_job(tables))
        return;
    snprintf(verdict, sizeof verdict, "%s", headline);
    snprintf(why, sizeof why, "%s", evidence);
    tm_savings_kind(tables, lead.kind, headline);
    tm_savings_why(tables, lead.kind, first);
    snprintf(evidence, TM_SENTENCE_MAX, "%.256s%s%.400s. %.800s", first, first[0] ? ". " : "",
             verdict, why);
}

/* There are sentences also where there is no verdict: they say why. */
static tm_status add_job(const tm_verdict_topic *topic, tm_tables *tables, tm_error *err) {
    tm_table *table = tm_tables_find(tables, tm_verdict_job.name);
    tm_cell *row = tm_table_add_row(table);
    const tm_judgement *j = topic->judgement;
    const tm_finding *first = j->found.all.data;
    char headline[TM_SENTENCE_MAX], evidence[TM_SENTENCE_MAX];
    if (!row)
        return tm_fail_memory(err);
    tm_verdict_headline(tables, topic, headline);
    tm_verdict_evidence(tables, topic, evidence);
    let_kind_lead(tables, topic, headline, evidence);
    TM_TRY(tm_table_set_text(table, &row[J_HEADLINE], headline, err));
    TM_TRY(tm_table_set_text(table, &row[J_EVIDENCE], evidence, err));
    if (topic->tolls->n_parts == 0)
        return TM_OK; /* nothing was matched: there is nothing to judge */
    TM_TRY(tm_table_set_text(table, &row[J_VERDICT], tm_verdict_word(j->kind), err));
    tm_cell_set_real(&row[J_MATCHED], j->matched_share);
    bool named = j->found.all.n > 0 && tm_finding_names(first);
    if (named || j->found.tested)
        tm_cell_set_real(&row[J_P], named ? first->p : j->found.least_p);
    if (!named)
        return TM_OK;
    tm_cell_set_int(&row[J_RANK], first->rank);
    TM_TRY(tm_table_set_text(table, &row[J_LEVEL], tm_culprit_word(first->level), err));
    TM_TRY(tm_table_set_text(table, &row[J_CERTAINTY], tm_certainty_word(first->certainty), err));
    return tm_table_set_text(table, &row[J_HOST], host_of(tables, first->rank), err);
}

tm_status tm_verdict_fill(const tm_verdict_topic *topic, tm_tables *tables, tm_error *err) {
    const tm_vec *all = &topic->judgement->found.all;
    for (size_t i = 0; i < all->n; i++)
        TM_TRY(add_finding((const tm_finding *)all->data + i, (int64_t)i, tables, err));
    return add_job(topic, tables, err);
}

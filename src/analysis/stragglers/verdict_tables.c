/* The tables of the verdict: the findings, and the sentences on the job. */
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
    F_WORK
};

static const tm_column finding_columns[] = {
    [F_PLACE] = {"finding", TM_INT, "",
                 "Number of the finding. Finding 0 has the largest saving; without a replay, the "
                 "largest excess."},
    [F_LEVEL] = {"level", TM_TEXT, "",
                 "What stands out. rank: one rank. host, group: at least 80 % of the ranks of a "
                 "host or process group, and at least 2. job: nobody in particular, because the "
                 "finding is a bubble, or an event without a single last rank."},
    [F_RANK] = {"rank", TM_INT, "",
                "Rank that the finding names. For a host or group: its lowest rank. For an event: "
                "the rank that came last in all of its operations; null if there are several."},
    [F_HOST] = {"host", TM_TEXT, "", "Name of the rank's host, as in job.rank."},
    [F_RANKS] = {"ranks", TM_INT, "",
                 "Number of ranks that the finding is about. Null if level is job."},
    [F_SHAPE] = {"shape", TM_TEXT, "",
                 "When the rank is late. throughout: in all units. episode: in a contiguous window "
                 "of under 80 % of the units; outside of it, the rank is less than half as late. "
                 "alternation: one of two episodes that do not overlap. event: no rank stands out, "
                 "but at most 5 operations (and at most a tenth of all) have half of all waiting, "
                 "and no other operation waits about as long. "
                 "bubble: no rank stands out, but ranks wait for transfers between pipeline stages "
                 "for at least 1 % of their windows."},
    [F_FROM] = {"from", TM_INT, "",
                "First step of the finding's window. If stretches are compared (see unit): number "
                "of the first operation in its process group, from 0. Null for a bubble, and for "
                "an event outside of steps."},
    [F_TO] = {"to", TM_INT, "",
              "Last step of the finding's window. If stretches are compared: number of the last "
              "operation. Null if from is null."},
    [F_UNIT] = {"unit", TM_TEXT, "",
                "Unit in which ranks are compared. step: whole steps. stretch: the work of ranks "
                "between two operations of their group, or blocks of such stretches. part: samples "
                "of all work in a step. operation: for an event."},
    [F_UNITS] = {"units", TM_INT, "",
                 "Number of units from the first to the last unit of the finding. If the units are "
                 "blocks of stretches: number of stretches. For an event: number of its "
                 "operations."},
    [F_P] = {"p", TM_REAL, "",
             "Probability that chance makes a rank stand out this much in some window if all ranks "
             "are equal. It comes from permutations of the ranks in each unit, and is corrected "
             "for the number of groups tested. At least 1/3000. Null for an event or bubble."},
    [F_CERTAINTY] = {"certainty", TM_TEXT, "",
                     "How certain the finding is. confident: p <= 0.001, at least half of the "
                     "communication could be compared, and more than parts of one step were "
                     "compared. likely: otherwise. Null for an event or bubble."},
    [F_EXCESS] = {"excess_ns", TM_INT, "ns",
                  "How much longer the rank takes by itself: its own time minus the median own "
                  "time of the other ranks, summed over the window. Compute kernels that run on a "
                  "device at the same time count once. For several ranks, the median of their "
                  "excesses. Null for an event or bubble."},
    [F_EXCESS_PCT] =
        {"excess_pct", TM_REAL, "%",
         "excess_ns as a share of step time: 100 excess_ns / the sum over the steps of the longest "
         "window that a rank has in the step. Without a replay, findings under 1 are left out."},
    [F_CAUSED_SHARE] =
        {"caused_share", TM_REAL, "",
         "Share of all waiting that the finding's ranks caused (direct_ns + indirect_ns), in the "
         "finding's window if unit is step or part. For an event: share of all waiting that is in "
         "its operations. Null for a bubble."},
    [F_SAVED] =
        {"saved_pct", TM_REAL, "%",
         "Share of a mean step that fixing the finding's ranks saves (whatif.item): by itself, or "
         "after the earlier fixes of the plan, whichever is more. If these fixes save too little "
         "until a later fix of the plan is also made: the saving of the plan up to that fix. For a "
         "host or group that was found through its ranks: the largest value of these ranks. Null "
         "if unknown, without a replay, and for an event or bubble."},
    [F_WORK] = {"work", TM_TEXT, "",
                "Kind of work that takes longer: device (kernels and copies), host (calls, and the "
                "host work before them) or queue (kernels and copies start late for no recorded "
                "reason). Null without a replay, and for an event or bubble."},
};

const tm_table_def tm_verdict_finding = {
    .name = "stragglers.finding",
    .doc = "A row for each rank, host or group whose own work takes longer than chance explains.",
    TM_ARRAY(columns, finding_columns),
    .n_keys = 1,
    .top = F_EXCESS,
};

enum { J_VERDICT, J_RANK, J_HOST, J_LEVEL, J_P, J_CERTAINTY, J_MATCHED, J_HEADLINE, J_EVIDENCE };

static const tm_column job_columns[] = {
    [J_VERDICT] =
        {"verdict", TM_TEXT, "",
         "Summary of the findings in stragglers.finding. persistent, episode, event, bubble: there "
         "is a single finding, with this shape (persistent: shape throughout). alternating: two "
         "findings that do not overlap. several: more findings. none: there is no finding, and "
         "either all waits are under 1 % of all windows, or no rank's excess reaches 1 % of the "
         "steps (with a replay: neither the saving of a rank nor that of the plan in whatif.item "
         "for at most half of the ranks). inconclusive: all other cases, also if over 5 % "
         "of the data is in doubt (job.integrity). Null if nothing can be compared."},
    [J_RANK] = {"rank", TM_INT, "",
                "Rank that the first finding names; for a host or group, its lowest rank. Null if "
                "no rank is named."},
    [J_HOST] = {"host", TM_TEXT, "", "Name of the rank's host; null if no rank is named."},
    [J_LEVEL] = {"level", TM_TEXT, "",
                 "Level of the first finding: rank, host or group, as in stragglers.finding. Null "
                 "if no rank is named."},
    [J_P] = {"p", TM_REAL, "",
             "The column p of the first finding in stragglers.finding. If that is null, or without "
             "a finding: the smallest p of any rank."},
    [J_CERTAINTY] = {"certainty", TM_TEXT, "",
                     "Certainty of the first finding; null without a finding."},
    [J_MATCHED] =
        {"matched_share", TM_REAL, "",
         "Share of communication time in operations that are complete or whose waits are "
         "known. Below 0.9, no rank is cleared; below 0.5, no finding is confident. Stricter "
         "than whatif.job.unmatched_pct, which counts operations that lack some ranks as "
         "matched."},
    [J_HEADLINE] = {"headline", TM_TEXT, "",
                    "Sentence on what saves most. If less work of some kind on all ranks saves "
                    "most, the sentence is about that work, and the evidence starts with the "
                    "verdict on ranks. Otherwise, the sentence is the verdict on ranks."},
    [J_EVIDENCE] = {"evidence", TM_TEXT, "",
                    "Sentences: the reasons for the headline. The tables of stragglers have all "
                    "figures in them."},
};

const tm_table_def tm_verdict_job = {
    .name = "stragglers.job",
    .doc = "One row: the verdict on the job.",
    TM_ARRAY(columns, job_columns),
    .n_keys = 0,
    .top = -1,
    .n_prose = 2,
};

/* Returns the host of a rank, from job.rank; NULL if unknown. */
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
    /* The share is of waits that ranks caused. A bubble also contains waits for transfers. */
    if (f->shape != TM_SHAPE_BUBBLE)
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

/* Changes the sentences if the lead is making some kind of work shorter on all ranks, which saves
 * more than fixing the ranks of the findings. The headline is then about this fix, and the evidence
 * starts with the verdict. */
static void let_kind_lead(const tm_tables *tables, const tm_verdict_topic *topic, char *headline,
                          char *evidence) {
    const tm_lead lead = tm_savings_lead(tables);
    char verdict[TM_SENTENCE_MAX], why[TM_SENTENCE_MAX], first[TM_SAVINGS_MAX];
    if (lead.kind == tm_tables_find(tables, "whatif.item")->n_rows || topic->blames->n_parts == 0 ||
        topic->judgement->withheld || tm_doubt_of_job(tables))
        return;
    snprintf(verdict, sizeof verdict, "%s", headline);
    snprintf(why, sizeof why, "%s", evidence);
    tm_savings_kind(tables, lead.kind, headline);
    tm_savings_why(tables, lead.kind, first);
    snprintf(evidence, TM_SENTENCE_MAX, "%.256s%s%.400s. %.800s", first, first[0] ? ". " : "",
             verdict, why);
}

/* Adds the row of the job. If there is no verdict, its sentences give the reason. */
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
    if (topic->blames->n_parts == 0)
        return TM_OK; /* nothing was matched, so there is no verdict */
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

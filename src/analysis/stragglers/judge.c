#include "judge.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/shared/doubt.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "compared.h"

/* One more than an event has, to see whether it stands out. */
enum { HEAVY_MOST = TM_EVENT_MOST + 1 };

static const tm_column heavy_columns[] = {
    {"place", TM_INT, "",
     "Number of the operation, from 0 for the operation with the longest wait."},
    {"wait_ns", TM_INT, "ns", "Sum of the waits of all members of the operation."},
    {"last_rank", TM_INT, "", "Rank that came last; -1 if several did."},
    {"step", TM_INT, "", "Step of the operation; -1: no step."},
    {"operations", TM_INT, "", "Number of the job's operations with waits."},
};

const tm_table_def tm_judge_heavy =
    TM_INTERNAL_TABLE("stragglers.heavy",
                      "A row for each of the operations with the longest waits.", heavy_columns, 1);

static const tm_column heard_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"comm_ns", TM_INT, "ns", "Sum of the durations of the rank's communication kernels."},
    {"compared_ns", TM_INT, "ns",
     "Part of comm_ns in operations that are complete or whose waits are known."},
    {"open_ns", TM_INT, "ns", "Part of compared_ns in groups that may have more ranks."},
};

const tm_table_def tm_judge_heard = TM_INTERNAL_TABLE(
    "stragglers.heard", "A row for each rank: how much of its communication could be compared.",
    heard_columns, 1);

static const tm_column pipeline_columns[] = {
    {"stages", TM_INT, "", "Number of pipeline stages; 0: no pipeline."},
    {"transfers", TM_INT, "", "Number of transfers from the first stage to the second."},
    {"senders", TM_INT, "", "Number of ranks of the first stage."},
    {"wait_ns", TM_INT, "ns", "Time that ranks waited for transfers: sum over all ranks."},
    {"kept_ns", TM_INT, "ns",
     "Time in which transfers of the pipeline and collectives kept ranks from computing: sum over "
     "all ranks."},
};

const tm_table_def tm_judge_pipeline =
    TM_INTERNAL_TABLE("stragglers.pipeline", "One row: use of the pipeline.", pipeline_columns, 0);

static tm_status add_pipeline(tm_tables *tables, const tm_pipeline_use *p, tm_error *err) {
    tm_cell *row = tm_table_add_row(tm_tables_find(tables, tm_judge_pipeline.name));
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[0], p->stages);
    tm_cell_set_int(&row[1], p->transfers);
    tm_cell_set_int(&row[2], p->senders);
    tm_cell_set_int(&row[3], p->wait_ns);
    tm_cell_set_int(&row[4], p->kept_ns);
    return TM_OK;
}

static tm_heavy heavy_of(const tm_comm_record *members, const tm_instance *instance) {
    tm_heavy h = {0, -1, members->step};
    for (size_t i = 0; i < instance->n; i++) {
        h.wait_ns = tm_sum(h.wait_ns, tm_member_wait(&members[i], instance->last_ns));
        if (members[i].begin_ns == instance->last_ns)
            h.last_rank = h.last_rank < 0 ? members[i].rank : INT64_MIN;
    }
    h.last_rank = h.last_rank < 0 ? -1 : h.last_rank;
    return h;
}

tm_status tm_judge_add_heavy(tm_tables *tables, const tm_collectives *own, tm_error *err) {
    const tm_worst *worst = own->worst.data;
    tm_table *table = tm_tables_find(tables, tm_judge_heavy.name);
    if (own->first_process)
        TM_TRY(add_pipeline(tables, &own->pipeline, err));
    for (size_t i = 0; i < own->worst.n; i++) {
        if (worst[i].place >= HEAVY_MOST)
            continue;
        const tm_instance *instance = (const tm_instance *)own->instances.data + worst[i].instance;
        tm_heavy h =
            heavy_of((const tm_comm_record *)own->records.data + instance->first, instance);
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[0], worst[i].place);
        tm_cell_set_int(&row[1], h.wait_ns);
        tm_cell_set_int(&row[2], h.last_rank);
        tm_cell_set_int(&row[3], h.step);
        tm_cell_set_int(&row[4], own->n_waits);
    }
    return TM_OK;
}

tm_status tm_judge_add_heard(tm_tables *tables, const tm_timeline *timeline, tm_error *err) {
    int64_t comm = 0, compared = 0, open = 0;
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    for (size_t i = 0; timeline->answers && i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        int64_t ns = timeline->duration_ns[attrs[i].event];
        if (timeline->role[attrs[i].event] != TM_ROLE_COMMUNICATION)
            continue;
        comm = tm_sum(comm, ns);
        const tm_comm_answer *answer = &timeline->answers[i];
        bool heard = answer->complete || answer->wait_ns >= 0;
        compared = tm_sum(compared, heard ? ns : 0);
        open = tm_sum(open, heard && answer->at_least ? ns : 0);
    }
    tm_cell *row = tm_table_add_row(tm_tables_find(tables, tm_judge_heard.name));
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[0], timeline->rank);
    tm_cell_set_int(&row[1], comm);
    tm_cell_set_int(&row[2], compared);
    tm_cell_set_int(&row[3], open);
    return TM_OK;
}

static int64_t sum_of(const tm_table *table, const char *column) {
    int at = tm_table_column(table->def, column);
    int64_t sum = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        sum = tm_sum(sum, tm_table_row(table, i)[at].value.i);
    return sum;
}

typedef struct step_window {
    int64_t step, window_ns;
} step_window;

static int by_step(const void *a, const void *b) {
    const step_window *x = a, *y = b;
    int order = tm_order_i64(x->step, y->step);
    return order ? order : tm_order_i64(y->window_ns, x->window_ns);
}

/* Returns the largest window_ns of any rank. */
static int64_t longest_window(const tm_tables *tables) {
    const tm_table *table = tm_tables_find(tables, "overlap.rank");
    int64_t longest = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        int64_t window = tm_table_cell(table, i, "window_ns")->value.i;
        longest = window > longest ? window : longest;
    }
    return longest;
}

/* Sums the longest window of each step. If steps are not marked, the whole recording counts as a
 * step. */
static tm_status sum_steps(const tm_tables *tables, tm_findings_input *out, tm_error *err) {
    const tm_table *table = tm_tables_find(tables, "overlap.step");
    step_window *v = malloc((table->n_rows + 1) * sizeof *v);
    if (!v)
        return tm_fail_memory(err);
    for (size_t i = 0; i < table->n_rows; i++)
        v[i] = (step_window){tm_table_cell(table, i, "step")->value.i,
                             tm_table_cell(table, i, "window_ns")->value.i};
    qsort(v, table->n_rows, sizeof *v, by_step);
    for (size_t i = 0; i < table->n_rows; i++)
        if (i == 0 || v[i].step != v[i - 1].step) {
            out->steps_ns = tm_sum(out->steps_ns, v[i].window_ns);
            out->n_steps++;
        }
    if (table->n_rows == 0) { /* there are no steps, because only communication was recorded */
        out->steps_ns = longest_window(tables);
        out->n_steps = 1;
    }
    free(v);
    return TM_OK;
}

/* Rows of the internal tables, as arrays. The caller frees them. */
typedef struct sent {
    tm_suspect *suspects;
    tm_standing *standings;
    tm_heavy heavy[HEAVY_MOST];
} sent;

static tm_status read_sent(const tm_tables *tables, sent *s, tm_findings_input *in, tm_error *err) {
    const tm_table *suspects = tm_tables_find(tables, tm_compared_suspect.name);
    const tm_table *standings = tm_tables_find(tables, tm_compared_standing.name);
    const tm_table *heavy = tm_tables_find(tables, tm_judge_heavy.name);
    s->suspects = malloc((suspects->n_rows + 1) * sizeof *s->suspects);
    s->standings = malloc((standings->n_rows + 1) * sizeof *s->standings);
    if (!s->suspects || !s->standings)
        return tm_fail_memory(err);
    for (size_t i = 0; i < suspects->n_rows; i++)
        s->suspects[i] = tm_compared_read(tm_table_row(suspects, i));
    for (size_t i = 0; i < standings->n_rows; i++)
        s->standings[i] = tm_compared_read_standing(tm_table_row(standings, i));
    const tm_table *pipeline = tm_tables_find(tables, tm_judge_pipeline.name);
    for (size_t i = 0; i < pipeline->n_rows; i++) {
        const tm_cell *row = tm_table_row(pipeline, i);
        in->pipeline = (tm_pipeline_use){row[0].value.i, row[1].value.i, row[2].value.i,
                                         row[3].value.i, row[4].value.i};
    }
    in->n_heavy = heavy->n_rows < HEAVY_MOST ? heavy->n_rows : HEAVY_MOST;
    for (size_t i = 0; i < in->n_heavy; i++) {
        const tm_cell *row = tm_table_row(heavy, i);
        s->heavy[i] = (tm_heavy){row[1].value.i, row[2].value.i, row[3].value.i};
        in->n_waits = row[4].value.i;
    }
    in->suspects = s->suspects;
    in->n_suspects = suspects->n_rows;
    in->standings = s->standings;
    in->n_standings = standings->n_rows;
    in->heavy = s->heavy;
    return TM_OK;
}

/* Merges the standings of a rank in all of its groups, with the largest excess and the smallest
 * p. */
static void bring_together(const tm_findings_input *in, tm_standing *out) {
    for (size_t i = 0; i < in->blames->n_ranks; i++)
        out[i] = (tm_standing){-1, INT64_MIN, (double)NAN};
    for (size_t i = 0; i < in->n_standings; i++) {
        const tm_standing *s = &in->standings[i];
        tm_standing *sum = &out[tm_blames_index(in->blames, s->member)];
        sum->member = s->member;
        sum->excess_ns = s->excess_ns > sum->excess_ns ? s->excess_ns : sum->excess_ns;
        sum->p = fmin(sum->p, s->p);
    }
}

static tm_status decide(const tm_findings_input *in, tm_judgement *out, tm_error *err) {
    TM_TRY(tm_findings_find(in, &out->found, err));
    out->kind = tm_findings_verdict(in, &out->found);
    for (size_t i = 0; i < out->found.all.n; i++) {
        const tm_finding *f = (const tm_finding *)out->found.all.data + i;
        if (tm_finding_names(f))
            tm_finding_members(in->blames, f, out->among);
    }
    return TM_OK;
}

/* Withholds the verdict if much of the time between recorded events is in doubt, in the job or on a
 * named rank. Also withholds a verdict that clears all ranks if any rank's figures are in doubt. */
static void hold_back(const tm_tables *tables, const tm_blames *blames, tm_judgement *j) {
    bool any = tm_doubt_of_any(tables);
    j->withheld = tm_doubt_between(tables) || (any && j->kind == TM_VERDICT_NONE);
    for (size_t i = 0; i < blames->n_ranks && any; i++)
        j->withheld |= j->among[i] && tm_doubt_between_of_rank(tables, blames->ranks[i].rank);
    if (!j->withheld)
        return;
    j->kind = TM_VERDICT_INCONCLUSIVE;
    j->found.all.n = 0;
    for (size_t i = 0; i < blames->n_ranks; i++)
        j->among[i] = false;
}

tm_status tm_judge(const tm_tables *tables, const tm_blames *blames, tm_judgement *out,
                   tm_error *err) {
    const tm_table *heard = tm_tables_find(tables, tm_judge_heard.name);
    tm_findings_input in = {.blames = blames, .fixes = tm_fixes_read(tables)};
    sent s = {0};
    int64_t comm = sum_of(heard, "comm_ns");
    *out = (tm_judgement){.found = {.all = TM_VEC(tm_finding)}};
    in.matched_share = comm > 0 ? (double)sum_of(heard, "compared_ns") / (double)comm : 1.0;
    in.open_share = comm > 0 ? (double)sum_of(heard, "open_ns") / (double)comm : 0.0;
    in.window_ns = sum_of(tm_tables_find(tables, "overlap.rank"), "window_ns");
    in.unknown_ns = sum_of(tm_tables_find(tables, "overlap.rank"), "exposed_unmatched_ns");
    out->matched_share = in.matched_share;
    out->open_share = in.open_share;
    out->unknown_ns = in.unknown_ns;
    out->window_ns = in.window_ns;
    out->among = calloc(blames->n_ranks + 1, sizeof *out->among);
    out->standings = malloc((blames->n_ranks + 1) * sizeof *out->standings);
    tm_status status = out->among && out->standings ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = sum_steps(tables, &in, err);
    if (status == TM_OK)
        status = read_sent(tables, &s, &in, err);
    if (status == TM_OK)
        status = decide(&in, out, err);
    if (status == TM_OK) {
        bring_together(&in, out->standings);
        hold_back(tables, blames, out);
    }
    free(s.suspects);
    free(s.standings);
    return status;
}

void tm_judge_close(tm_judgement *judgement) {
    free(judgement->among);
    free(judgement->standings);
    tm_vec_free(&judgement->found.all);
    *judgement = (tm_judgement){0};
}

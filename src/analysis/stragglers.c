/* Analysis `stragglers`: who comes last, what it costs the others, and whether it lasts. */
#include "analyses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "median.h"
#include "timeline/collectives.h"
#include "verdict.h"

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
    R_SPEED,
    R_LED,
    R_VERDICT,
    N_RANK_COLUMNS
};

static const tm_column rank_columns[N_RANK_COLUMNS] = {
    [R_RANK] = {"rank", TM_INT, "", "Global rank."},
    [R_HOST] = {"host", TM_TEXT, "", "Host of the rank, as in job.rank."},
    [R_COLLECTIVES] = {"collectives", TM_INT, "",
                       "Complete synchronising collectives that it took part in."},
    [R_LAST] = {"last_arrivals", TM_INT, "", "In how many of them it came last alone."},
    [R_LAST_SHARE] = {"last_share", TM_REAL, "",
                      "last_arrivals / those of its collectives in which one rank came last "
                      "alone."},
    [R_TIED] = {"tied", TM_INT, "", "In how many it shared the last place within uncertainty."},
    [R_WAIT] =
        {"wait_ns", TM_INT, "ns",
         "Sum of max(0, min(end, L) - begin), L the begin of the last rank; null where it has "
         "no such collective."},
    [R_CAUSED] = {"caused_wait_ns", TM_INT, "ns",
                  "Wait of others that it caused, in layers: the ranks before each gap between two "
                  "arrivals wait because of those behind it, who share that equally."},
    [R_CAUSED_SHARE] = {"caused_share", TM_REAL, "", "caused_wait_ns / the sum over all ranks."},
    [R_SPEED] = {"relative_speed", TM_REAL, "",
                 "Median over steps of the ranks' median compute_ns / its own: below 1 is slow."},
    [R_LED] = {"steps_led", TM_INT, "", "Steps in which it caused more wait than any other rank."},
    [R_VERDICT] = {"verdict", TM_TEXT, "", "straggler where it is persistent, else ok."},
};

static const tm_table_def rank_def = {
    .name = "stragglers.rank",
    .doc = "A row for each rank: how often it came last, and what that cost the others.",
    .columns = rank_columns,
    .n_columns = N_RANK_COLUMNS,
    .n_keys = 1,
    .top = R_CAUSED,
};

static const tm_column pair_columns[] = {
    {"rank", TM_INT, "", "The rank that came late."},
    {"for_rank", TM_INT, "", "The rank that waited."},
    {"wait_ns", TM_INT, "ns",
     "The part of its wait that the late rank caused; pairs with a share only, and none in jobs of "
     "over 512 ranks."},
};

static const tm_table_def pair_def = {
    .name = "stragglers.pair",
    .doc = "A row for each late and waiting rank: the layered split by who caused it.",
    .columns = pair_columns,
    .n_columns = 3,
    .n_keys = 2,
    .top = 2,
};

static const tm_column step_columns[] = {
    {"step", TM_INT, "", "N of ProfilerStep#N; steps with waits only."},
    {"rank", TM_INT, "", "The step's leader: the largest caused wait, the lowest of equals."},
    {"caused_wait_ns", TM_INT, "ns", "What it caused in this step."},
    {"lateness_ns", TM_INT, "ns",
     "Sum of L minus the runner-up's begin over the collectives in which it came last."},
};

static const tm_table_def step_def = {
    .name = "stragglers.step",
    .doc = "A row for each step: who held it up most.",
    .columns = step_columns,
    .n_columns = 4,
    .n_keys = 1,
    .top = 2,
};

enum { J_VERDICT, J_RANK, J_HOST, J_LEVEL, J_EVIDENCE, N_JOB_COLUMNS };

static const tm_column job_columns[N_JOB_COLUMNS] = {
    [J_VERDICT] =
        {"verdict", TM_TEXT, "",
         "none (all waits under 1 % of all windows), inconclusive, persistent or rotating; "
         "null where nothing could be matched."},
    [J_RANK] = {"rank", TM_INT, "", "The rank with the largest caused wait; null for none."},
    [J_HOST] = {"host", TM_TEXT, "", "Its host."},
    [J_LEVEL] = {"level", TM_TEXT, "", "What it is about: rank."},
    [J_EVIDENCE] = {"evidence", TM_TEXT, "", "A sentence that can be checked in these tables."},
};

static const tm_table_def job_def = {
    .name = "stragglers.job",
    .doc = "One row: the verdict.",
    .columns = job_columns,
    .n_columns = N_JOB_COLUMNS,
    .n_keys = 0,
    .top = -1,
};

enum {
    P_RANK,
    P_STEP,
    P_COLLECTIVES,
    P_LAST,
    P_TIED,
    P_UNTIED,
    P_WAIT,
    P_LATENESS,
    P_CAUSED,
    P_FRACTION,
    P_EXPECTED,
    P_VARIANCE,
    N_PART_COLUMNS
};

static const tm_column part_columns[N_PART_COLUMNS] = {
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_STEP] = {"step", TM_INT, "", "Step of the operations; -1 for none."},
    [P_COLLECTIVES] = {"collectives", TM_INT, "", "As in stragglers.rank."},
    [P_LAST] = {"last_arrivals", TM_INT, "", "As in stragglers.rank."},
    [P_TIED] = {"tied", TM_INT, "", "As in stragglers.rank."},
    [P_UNTIED] = {"untied", TM_INT, "", "Operations in which one rank came last alone."},
    [P_WAIT] = {"wait_ns", TM_INT, "ns", "As in stragglers.rank."},
    [P_LATENESS] = {"lateness_ns", TM_INT, "ns", "As in stragglers.step."},
    [P_CAUSED] = {"caused_wait_ns", TM_INT, "ns", "Whole nanoseconds of the caused wait."},
    [P_FRACTION] = {"fraction", TM_INT, "", "What is to be added to caused_wait_ns, in 2^-40 ns."},
    [P_EXPECTED] = {"expected", TM_REAL, "", "Sum of 1/n over untied operations."},
    [P_VARIANCE] = {"variance", TM_REAL, "", "Sum of (1/n)(1 - 1/n) over the same."},
};

static const tm_table_def part_def = {
    .name = "stragglers.part",
    .doc = "A row for each rank and step: what the other tables are made of.",
    .columns = part_columns,
    .n_columns = N_PART_COLUMNS,
    .n_keys = 2,
    .top = -1,
    .internal = true,
};

static const tm_table_def *const defs[] = {&job_def, &rank_def, &step_def, &pair_def, &part_def};

static tm_toll toll_of(int64_t rank, const tm_comm_answer *answer) {
    double share = 1.0 / (double)answer->group_size;
    return (tm_toll){
        .rank = rank,
        .step = answer->step,
        .collectives = 1,
        .last = answer->last,
        .tied = answer->tied,
        .untied = answer->untied,
        .wait_ns = answer->wait_ns,
        .lateness_ns = answer->lateness_ns,
        .caused = {answer->caused_ns, answer->caused_fraction},
        .expected = answer->untied ? share : 0.0,
        .variance = answer->untied ? share * (1.0 - share) : 0.0,
    };
}

/* The rank's toll of one step, begun where it is new; NULL when memory is out. */
static tm_toll *toll_of_step(tm_vec *tolls, int64_t rank, int64_t step) {
    tm_toll *v = tolls->data;
    for (size_t i = tolls->n; i-- > 0;)
        if (v[i].step == step)
            return &v[i];
    tm_toll fresh = {.rank = rank, .step = step};
    return tm_vec_append(tolls, &fresh, 1);
}

static tm_status add_part(tm_table *table, const tm_toll *toll, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[P_RANK], toll->rank);
    tm_cell_set_int(&row[P_STEP], toll->step);
    tm_cell_set_int(&row[P_COLLECTIVES], toll->collectives);
    tm_cell_set_int(&row[P_LAST], toll->last);
    tm_cell_set_int(&row[P_TIED], toll->tied);
    tm_cell_set_int(&row[P_UNTIED], toll->untied);
    tm_cell_set_int(&row[P_WAIT], toll->wait_ns);
    tm_cell_set_int(&row[P_LATENESS], toll->lateness_ns);
    tm_cell_set_int(&row[P_CAUSED], toll->caused.whole_ns);
    tm_cell_set_int(&row[P_FRACTION], (int64_t)toll->caused.fraction);
    tm_cell_set_real(&row[P_EXPECTED], toll->expected);
    tm_cell_set_real(&row[P_VARIANCE], toll->variance);
    return TM_OK;
}

static tm_toll read_part(const tm_cell *row) {
    return (tm_toll){
        .rank = row[P_RANK].value.i,
        .step = row[P_STEP].value.i,
        .collectives = row[P_COLLECTIVES].value.i,
        .last = row[P_LAST].value.i,
        .tied = row[P_TIED].value.i,
        .untied = row[P_UNTIED].value.i,
        .wait_ns = row[P_WAIT].value.i,
        .lateness_ns = row[P_LATENESS].value.i,
        .caused = {row[P_CAUSED].value.i, (uint64_t)row[P_FRACTION].value.i},
        .expected = row[P_EXPECTED].value.r,
        .variance = row[P_VARIANCE].value.r,
    };
}

static tm_status stragglers_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_vec tolls = TM_VEC(tm_toll);
    tm_status status = TM_OK;
    size_t n = timeline->answers ? timeline->n_attrs[TM_ATTR_COLLECTIVE] : 0;
    for (size_t i = 0; i < n && status == TM_OK; i++) {
        const tm_comm_answer *answer = &timeline->answers[i];
        if (answer->wait_ns < 0)
            continue;
        tm_toll one = toll_of(timeline->rank, answer);
        tm_toll *sum = toll_of_step(&tolls, timeline->rank, answer->step);
        if (sum)
            tm_toll_add(sum, &one);
        else
            status = tm_fail_memory(err);
    }
    for (size_t i = 0; i < tolls.n && status == TM_OK; i++)
        status = add_part(tm_tables_find(out, part_def.name), (const tm_toll *)tolls.data + i, err);
    tm_vec_free(&tolls);
    return status;
}

/* A causing rank's pairs came from several processes: they are added up before they are rounded. */
static tm_status stragglers_own(const tm_collectives *own, tm_tables *out, tm_error *err) {
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

static int by_step(const void *a, const void *b) {
    const tm_toll *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Everything that the job's part works on. */
typedef struct trial {
    tm_tables *tables;
    tm_toll *ranks; /* [n_ranks] one for each row of job.rank */
    size_t n_ranks;
    tm_toll *parts; /* [n_parts] by step, then rank */
    size_t n_parts;
    tm_leader *leaders;
    size_t n_leaders;
    tm_verdict verdict;
} trial;

static tm_status read_parts(trial *t, tm_error *err) {
    const tm_table *parts = tm_tables_find(t->tables, part_def.name);
    const tm_table *ranks = tm_tables_find(t->tables, "job.rank");
    t->n_ranks = ranks->n_rows;
    t->n_parts = parts->n_rows;
    t->ranks = calloc(t->n_ranks + 1, sizeof *t->ranks);
    t->parts = calloc(t->n_parts + 1, sizeof *t->parts);
    t->leaders = calloc(t->n_parts + 1, sizeof *t->leaders);
    if (!t->ranks || !t->parts || !t->leaders)
        return tm_fail_memory(err);
    for (size_t i = 0, p = 0; i < t->n_ranks; i++) {
        t->ranks[i].rank = tm_table_cell(ranks, i, "rank")->value.i;
        for (; p < t->n_parts && tm_table_row(parts, p)[P_RANK].value.i == t->ranks[i].rank; p++) {
            t->parts[p] = read_part(tm_table_row(parts, p));
            tm_toll_add(&t->ranks[i], &t->parts[p]);
        }
    }
    if (t->n_parts > 1)
        qsort(t->parts, t->n_parts, sizeof *t->parts, by_step);
    return TM_OK;
}

static int64_t sum_windows(const tm_tables *tables) {
    const tm_table *ranks = tm_tables_find(tables, "overlap.rank");
    int64_t sum = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        sum += tm_table_cell(ranks, i, "window_ns")->value.i;
    return sum;
}

static tm_status add_ranks(const trial *t, tm_error *err) {
    tm_table *table = tm_tables_find(t->tables, rank_def.name);
    const tm_table *ranks = tm_tables_find(t->tables, "job.rank");
    for (size_t i = 0; i < t->n_ranks; i++) {
        const tm_toll *r = &t->ranks[i];
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        bool straggler = t->verdict.kind == TM_VERDICT_PERSISTENT && r->rank == t->verdict.rank;
        const tm_cell *host = tm_table_cell(ranks, i, "host");
        tm_cell_set_int(&row[R_RANK], r->rank);
        tm_cell_set_int(&row[R_COLLECTIVES], r->collectives);
        TM_TRY(tm_table_set_text(table, &row[R_HOST], host->null ? NULL : host->value.text, err));
        if (r->collectives == 0)
            continue;
        int64_t led = 0;
        for (size_t k = 0; k < t->n_leaders; k++)
            led += t->leaders[k].rank == r->rank;
        tm_cell_set_int(&row[R_LAST], r->last);
        tm_cell_set_ratio(&row[R_LAST_SHARE], 1.0, r->last, r->untied);
        tm_cell_set_int(&row[R_TIED], r->tied);
        tm_cell_set_int(&row[R_WAIT], r->wait_ns);
        tm_cell_set_int(&row[R_CAUSED], tm_share_round(r->caused));
        tm_cell_set_ratio(&row[R_CAUSED_SHARE], 1.0, tm_share_round(r->caused), t->verdict.wait_ns);
        tm_cell_set_int(&row[R_LED], led);
        TM_TRY(tm_table_set_text(table, &row[R_VERDICT], straggler ? "straggler" : "ok", err));
    }
    return TM_OK;
}

static tm_status add_steps(const trial *t, tm_error *err) {
    tm_table *table = tm_tables_find(t->tables, step_def.name);
    for (size_t i = 0; i < t->n_leaders; i++) {
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[0], t->leaders[i].step);
        tm_cell_set_int(&row[1], t->leaders[i].rank);
        tm_cell_set_int(&row[2], t->leaders[i].caused_ns);
        tm_cell_set_int(&row[3], t->leaders[i].lateness_ns);
    }
    return TM_OK;
}

static tm_status add_job(const trial *t, const tm_job *job, tm_error *err) {
    tm_table *table = tm_tables_find(t->tables, job_def.name);
    const tm_table *ranks = tm_tables_find(t->tables, "job.rank");
    tm_cell *row = tm_table_add_row(table);
    char sentence[TM_EVIDENCE_MAX];
    if (!row)
        return tm_fail_memory(err);
    tm_evidence_sentence(t->tables, &t->verdict, job->aligned, sentence);
    TM_TRY(tm_table_set_text(table, &row[J_EVIDENCE], sentence, err));
    if (t->n_parts == 0)
        return TM_OK; /* nothing was matched: there is nothing to judge */
    TM_TRY(tm_table_set_text(table, &row[J_VERDICT], tm_verdict_word(t->verdict.kind), err));
    if (t->verdict.kind == TM_VERDICT_NONE || t->verdict.rank < 0)
        return TM_OK;
    tm_cell_set_int(&row[J_RANK], t->verdict.rank);
    TM_TRY(tm_table_set_text(table, &row[J_LEVEL], "rank", err));
    for (size_t i = 0; i < t->n_ranks; i++)
        if (t->ranks[i].rank == t->verdict.rank && !tm_table_cell(ranks, i, "host")->null)
            return tm_table_set_text(table, &row[J_HOST],
                                     tm_table_cell(ranks, i, "host")->value.text, err);
    return TM_OK;
}

static tm_status stragglers_job(const tm_job *job, tm_tables *out, tm_error *err) {
    trial t = {.tables = out};
    tm_status status = read_parts(&t, err);
    if (status == TM_OK) {
        t.n_leaders = tm_verdict_leaders(t.parts, t.n_parts, t.leaders);
        t.verdict = tm_verdict_decide(t.ranks, t.n_ranks, t.leaders, t.n_leaders, sum_windows(out));
        status = add_ranks(&t, err);
    }
    if (status == TM_OK)
        status = tm_evidence_speeds(out, tm_tables_find(out, rank_def.name), R_SPEED, err);
    if (status == TM_OK)
        status = add_steps(&t, err);
    if (status == TM_OK)
        status = add_job(&t, job, err);
    free(t.ranks);
    free(t.parts);
    free(t.leaders);
    return status;
}

const tm_analysis tm_analysis_stragglers = {
    .name = "stragglers",
    .summary = "who comes last to collectives, what it costs the others, and whether it lasts",
    .tables = defs,
    .n_tables = sizeof defs / sizeof *defs,
    .rank = stragglers_rank,
    .collectives = stragglers_own,
    .job = stragglers_job,
};

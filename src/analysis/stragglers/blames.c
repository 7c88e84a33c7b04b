#include "blames.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "base/sums.h"

enum {
    P_RANK,
    P_STEP,
    P_COLLECTIVES,
    P_LAST,
    P_TIED,
    P_UNTIED,
    P_WAIT,
    P_LATENESS,
    P_DOUBT,
    P_CAUSED,
    P_FRACTION,
    P_EXPECTED,
    P_VARIANCE
};

static const tm_column part_columns[] = {
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_STEP] = {"step", TM_INT, "", "Step of the operations; -1: no step."},
    [P_COLLECTIVES] = {"collectives", TM_INT, "", "As in stragglers.rank."},
    [P_LAST] = {"last_arrivals", TM_INT, "", "As in stragglers.rank."},
    [P_TIED] = {"tied", TM_INT, "", "As in stragglers.rank."},
    [P_UNTIED] = {"untied", TM_INT, "", "Number of operations in which a single rank came last."},
    [P_WAIT] = {"wait_ns", TM_INT, "ns", "As in stragglers.rank."},
    [P_LATENESS] = {"lateness_ns", TM_INT, "ns", "As in stragglers.step."},
    [P_DOUBT] = {"doubt_ns", TM_INT, "ns",
                 "Possible error of the rank's caused wait: the change of this wait if the clock "
                 "is off by the joint uncertainty in every operation in which the rank was late."},
    [P_CAUSED] = {"caused_wait_ns", TM_INT, "ns", "Whole nanoseconds of the caused wait."},
    [P_FRACTION] = {"fraction", TM_INT, "",
                    "Fractional part of the caused wait, in units of 2^-40 ns."},
    [P_EXPECTED] = {"expected", TM_REAL, "",
                    "Sum of 1/n over the untied operations, where n is the number of members of "
                    "the operation."},
    [P_VARIANCE] = {"variance", TM_REAL, "",
                    "Sum of (1/n)(1 - 1/n) over the untied operations, where n is the number of "
                    "members of the operation."},
};

/* Sums over the waits of a rank's kernels in each step, sent by the process that has the rank. */
const tm_table_def tm_blames_part = TM_INTERNAL_TABLE(
    "stragglers.part", "A row for each rank and step: the data behind the other tables.",
    part_columns, 2);

enum { C_RANK, C_STEP, C_PASSED, C_INDIRECT, N_COST_COLUMNS };

static const tm_column cost_columns[N_COST_COLUMNS] = {
    [C_RANK] = {"rank", TM_INT, "", "Global rank."},
    [C_STEP] = {"step", TM_INT, "", "Step of the operations with the waits; -1: no step."},
    [C_PASSED] = {"passed_ns", TM_INT, "ns",
                  "Part of the rank's caused wait whose cost was passed to other ranks, because "
                  "they had kept this rank waiting."},
    [C_INDIRECT] = {"indirect_ns", TM_INT, "ns", "As in stragglers.rank."},
};

/* Sent by the process that receives all costs of a rank. So there is at most one row for each step
 * of a rank. */
const tm_table_def tm_blames_cost = TM_INTERNAL_TABLE(
    "stragglers.cost",
    "A row for each rank and step whose total cost differs from its caused wait.", cost_columns, 2);

static const tm_column member_columns[] = {
    {"group", TM_INT, "", "Identity (hash) of a process group in whose operations ranks wait."},
    {"rank", TM_INT, "", "Global rank of a member of the group."},
};

/* Sent by the process that has the rank. From these rows, the verdict finds groups whose ranks are
 * all late. */
const tm_table_def tm_blames_member = TM_INTERNAL_TABLE(
    "stragglers.member", "A row for each process group and member rank.", member_columns, 2);

/* Adds no waits that the rank caused through other ranks, because stragglers.cost has them. */
tm_status tm_blames_add_part(tm_tables *tables, const tm_blame *blame, tm_error *err) {
    tm_cell *row = tm_table_add_row(tm_tables_find(tables, tm_blames_part.name));
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[P_RANK], blame->rank);
    tm_cell_set_int(&row[P_STEP], blame->step);
    tm_cell_set_int(&row[P_COLLECTIVES], blame->collectives);
    tm_cell_set_int(&row[P_LAST], blame->last);
    tm_cell_set_int(&row[P_TIED], blame->tied);
    tm_cell_set_int(&row[P_UNTIED], blame->untied);
    tm_cell_set_int(&row[P_WAIT], blame->wait_ns);
    tm_cell_set_int(&row[P_LATENESS], blame->lateness_ns);
    tm_cell_set_int(&row[P_DOUBT], blame->doubt_ns);
    tm_cell_set_int(&row[P_CAUSED], blame->caused.whole_ns);
    tm_cell_set_int(&row[P_FRACTION], (int64_t)blame->caused.fraction);
    tm_cell_set_real(&row[P_EXPECTED], blame->expected);
    tm_cell_set_real(&row[P_VARIANCE], blame->variance);
    return TM_OK;
}

tm_status tm_blames_add_own(tm_tables *tables, const tm_collectives *own, tm_error *err) {
    tm_table *costs = tm_tables_find(tables, tm_blames_cost.name);
    tm_table *members = tm_tables_find(tables, tm_blames_member.name);
    for (size_t i = 0; i < own->costs.n; i++) {
        const tm_cost *cost = (const tm_cost *)own->costs.data + i;
        tm_cell *row = tm_table_add_row(costs);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[C_RANK], cost->rank);
        tm_cell_set_int(&row[C_STEP], cost->step);
        tm_cell_set_int(&row[C_PASSED], cost->passed_ns);
        tm_cell_set_int(&row[C_INDIRECT], cost->indirect_ns);
    }
    for (size_t i = 0; i < own->members.n; i++) {
        const tm_group_member *member = (const tm_group_member *)own->members.data + i;
        tm_cell *row = tm_table_add_row(members);
        if (!row)
            return tm_fail_memory(err);
        /* The number only identifies the group. Its sign and size mean nothing. */
        tm_cell_set_int(&row[0], (int64_t)(member->group >> 1));
        tm_cell_set_int(&row[1], member->rank);
    }
    return TM_OK;
}

static tm_blame read_part(const tm_cell *row) {
    return (tm_blame){
        .rank = row[P_RANK].value.i,
        .step = row[P_STEP].value.i,
        .collectives = row[P_COLLECTIVES].value.i,
        .last = row[P_LAST].value.i,
        .tied = row[P_TIED].value.i,
        .untied = row[P_UNTIED].value.i,
        .wait_ns = row[P_WAIT].value.i,
        .lateness_ns = row[P_LATENESS].value.i,
        .doubt_ns = row[P_DOUBT].value.i,
        .caused = {row[P_CAUSED].value.i, (uint64_t)row[P_FRACTION].value.i},
        .expected = row[P_EXPECTED].value.r,
        .variance = row[P_VARIANCE].value.r,
    };
}

/* Returns a tm_blame with only the costs from the propagation of delays. The caller adds it to the
 * tm_blame from the part table. */
static tm_blame read_cost(const tm_cell *row) {
    return (tm_blame){
        .rank = row[C_RANK].value.i,
        .step = row[C_STEP].value.i,
        .passed_ns = row[C_PASSED].value.i,
        .indirect_ns = row[C_INDIRECT].value.i,
    };
}

TM_ORDER_BY(by_step, tm_blame, step, rank);

/* Sums the rows of each rank and step. There may be two, because a rank may have both waits and a
 * cost in a step. */
static void add_up_parts(tm_blames *t) {
    size_t n = 0;
    if (t->n_parts > 1)
        qsort(t->parts, t->n_parts, sizeof *t->parts, by_step);
    for (size_t i = 0; i < t->n_parts; i++) {
        if (n > 0 && by_step(&t->parts[n - 1], &t->parts[i]) == 0)
            tm_blame_add(&t->parts[n - 1], &t->parts[i]);
        else
            t->parts[n++] = t->parts[i];
    }
    t->n_parts = n;
}

/* Merges the parts and the costs into a tm_blame for each rank, and one for each rank and step. */
static tm_status read_parts(const tm_tables *tables, tm_blames *t, tm_error *err) {
    const tm_table *parts = tm_tables_find(tables, tm_blames_part.name);
    const tm_table *costs = tm_tables_find(tables, tm_blames_cost.name);
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    size_t n = parts->n_rows + costs->n_rows;
    t->n_ranks = ranks->n_rows;
    t->ranks = calloc(t->n_ranks + 1, sizeof *t->ranks);
    t->parts = calloc(n + 1, sizeof *t->parts);
    /* Each step has at least one row, so there are at most as many leaders as rows. */
    t->leaders = calloc(n + 1, sizeof *t->leaders);
    if (!t->ranks || !t->parts || !t->leaders)
        return tm_fail_memory(err);
    /* all three tables are sorted by rank */
    for (size_t i = 0, p = 0, c = 0; i < t->n_ranks; i++) {
        int64_t rank = tm_table_cell(ranks, i, "rank")->value.i;
        size_t first = t->n_parts;
        for (; p < parts->n_rows && tm_table_row(parts, p)[P_RANK].value.i == rank; p++)
            t->parts[t->n_parts++] = read_part(tm_table_row(parts, p));
        for (; c < costs->n_rows && tm_table_row(costs, c)[C_RANK].value.i == rank; c++)
            t->parts[t->n_parts++] = read_cost(tm_table_row(costs, c));
        t->ranks[i].rank = rank;
        for (size_t k = first; k < t->n_parts; k++)
            tm_blame_add(&t->ranks[i], &t->parts[k]);
    }
    add_up_parts(t);
    return TM_OK;
}

/* tm_blames.ranks is ascending, with an entry for each row of job.rank. */
size_t tm_blames_index(const tm_blames *blames, int64_t rank) {
    return TM_FIRST_FROM(tm_blame, rank, blames->ranks, blames->n_ranks, rank);
}

TM_ORDER_BY(by_place, tm_place, level, unit, rank);

/* Returns the hosts and groups of every rank; NULL if out of memory. */
static tm_place *read_places(const tm_tables *tables, const tm_blames *t, size_t *n) {
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    const tm_table *members = tm_tables_find(tables, tm_blames_member.name);
    tm_place *places = calloc(ranks->n_rows + members->n_rows + 1, sizeof *places);
    *n = 0;
    for (size_t i = 0; i < ranks->n_rows && places; i++) {
        const tm_cell *cell = tm_table_cell(ranks, i, "host");
        const char *host = cell->null ? NULL : cell->value.text;
        /* A host is identified by the hash of its name. */
        if (host)
            places[(*n)++] =
                (tm_place){TM_CULPRIT_HOST, tm_hash(TM_HASH_BEGIN, host, strlen(host)), i};
    }
    for (size_t i = 0; i < members->n_rows && places; i++) {
        const tm_cell *row = tm_table_row(members, i);
        size_t rank = tm_blames_index(t, row[1].value.i);
        if (rank < t->n_ranks)
            places[(*n)++] = (tm_place){TM_CULPRIT_GROUP, (uint64_t)row[0].value.i, rank};
    }
    return places;
}

tm_status tm_blames_open(const tm_tables *tables, tm_blames *out, tm_error *err) {
    *out = (tm_blames){0};
    TM_TRY(read_parts(tables, out, err));
    out->n_leaders = tm_verdict_leaders(out->parts, out->n_parts, out->leaders);
    for (size_t i = 0; i < out->n_ranks; i++)
        out->wait_ns = tm_sum(out->wait_ns, out->ranks[i].wait_ns);
    out->places = read_places(tables, out, &out->n_places);
    if (!out->places)
        return tm_fail_memory(err);
    if (out->n_places > 1)
        qsort(out->places, out->n_places, sizeof *out->places, by_place);
    return TM_OK;
}

void tm_blames_close(tm_blames *blames) {
    free(blames->ranks);
    free(blames->parts);
    free(blames->leaders);
    free(blames->places);
    *blames = (tm_blames){0};
}

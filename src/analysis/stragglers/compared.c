#include "compared.h"

#include <math.h>
#include <stdlib.h>

#include "waits/stages.h"

enum {
    S_GROUP,
    S_PLACE,
    S_RANK,
    S_FROM,
    S_TO,
    S_UNITS,
    S_EXCESS,
    S_P,
    S_UNIT,
    S_HOST,
    S_ALL,
    S_STAGE,
    N_S
};

static const tm_column suspect_columns[N_S] = {
    [S_GROUP] = {"group", TM_INT, "", "Identity of the process group that was tested."},
    [S_PLACE] = {"place", TM_INT, "", "In which order they were found in it."},
    [S_RANK] = {"rank", TM_INT, "", "Global rank, the lowest of a host's."},
    [S_FROM] = {"from", TM_INT, "", "As in stragglers.finding."},
    [S_TO] = {"to", TM_INT, "", "As in stragglers.finding."},
    [S_UNITS] = {"units", TM_INT, "", "As in stragglers.finding."},
    [S_EXCESS] = {"excess_ns", TM_INT, "ns", "As in stragglers.finding."},
    [S_P] = {"p", TM_REAL, "", "As in stragglers.finding."},
    [S_UNIT] = {"unit", TM_INT, "", "What is compared: a tm_unit_kind."},
    [S_HOST] = {"host", TM_BOOL, "", "Whether it is a host."},
    [S_ALL] = {"throughout", TM_BOOL, "", "Whether in all units."},
    [S_STAGE] = {"of_stage", TM_BOOL, "", "Whether its stage was compared with others."},
};

const tm_table_def tm_compared_suspect = {
    .name = "stragglers.suspect",
    .doc = "A row for each group and member that takes longer than chance explains.",
    .columns = suspect_columns,
    .n_columns = N_S,
    .n_keys = 2,
    .top = -1,
    .internal = true,
};

static const tm_column standing_columns[] = {
    {"group", TM_INT, "", "Identity of the process group that was tested."},
    {"rank", TM_INT, "", "Global rank."},
    {"excess_ns", TM_INT, "ns", "As in stragglers.rank."},
    {"p", TM_REAL, "", "As in stragglers.rank."},
};

const tm_table_def tm_compared_standing = {
    .name = "stragglers.standing",
    .doc = "A row for each group and member: what its own time tells.",
    .columns = standing_columns,
    .n_columns = 4,
    .n_keys = 2,
    .top = -1,
    .internal = true,
};

tm_suspect tm_compared_read(const tm_cell *row) {
    return (tm_suspect){
        .member = row[S_RANK].value.i,
        .from = row[S_FROM].value.i,
        .to = row[S_TO].value.i,
        .units = row[S_UNITS].value.i,
        .excess_ns = row[S_EXCESS].value.i,
        .p = row[S_P].value.r,
        .unit = (tm_unit_kind)row[S_UNIT].value.i,
        .host = row[S_HOST].value.i,
        .throughout = row[S_ALL].value.i,
        .of_stage = row[S_STAGE].value.i,
    };
}

tm_standing tm_compared_read_standing(const tm_cell *row) {
    return (tm_standing){row[1].value.i, row[2].value.i,
                         row[3].null ? (double)NAN : row[3].value.r};
}

static tm_status add_rows(tm_tables *tables, int64_t group, const tm_vec *suspects,
                          const tm_vec *standings, tm_error *err) {
    for (size_t i = 0; i < suspects->n; i++) {
        const tm_suspect *s = (const tm_suspect *)suspects->data + i;
        tm_cell *row = tm_table_add_row(tm_tables_find(tables, tm_compared_suspect.name));
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[S_GROUP], group);
        tm_cell_set_int(&row[S_PLACE], (int64_t)i);
        tm_cell_set_int(&row[S_RANK], s->member);
        tm_cell_set_int(&row[S_FROM], s->from);
        tm_cell_set_int(&row[S_TO], s->to);
        tm_cell_set_int(&row[S_UNITS], s->units);
        tm_cell_set_int(&row[S_EXCESS], s->excess_ns);
        tm_cell_set_real(&row[S_P], s->p);
        tm_cell_set_int(&row[S_UNIT], s->unit);
        tm_cell_set_bool(&row[S_HOST], s->host);
        tm_cell_set_bool(&row[S_ALL], s->throughout);
        tm_cell_set_bool(&row[S_STAGE], s->of_stage);
    }
    for (size_t i = 0; i < standings->n; i++) {
        const tm_standing *s = (const tm_standing *)standings->data + i;
        tm_cell *row = tm_table_add_row(tm_tables_find(tables, tm_compared_standing.name));
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[0], group);
        tm_cell_set_int(&row[1], s->member);
        tm_cell_set_int(&row[2], s->excess_ns);
        if (!isnan(s->p))
            tm_cell_set_real(&row[3], s->p);
    }
    return TM_OK;
}

/* Of a group's own times [n], an operation after the other, how many have the members of the first.
 */
static size_t count_members(const tm_own_time *own, size_t n) {
    size_t members = 1;
    while (members < n && own[members].key == own->key && own[members].last_ns == own->last_ns)
        members++;
    return members;
}

static void fill(const tm_collectives *all, const tm_own_time *own, tm_own_times *times,
                 int64_t *steps, int64_t *hosts, int64_t *stages) {
    for (size_t i = 0; i < times->n; i++) {
        times->members[i] = own[i].rank;
        hosts[i] = own[i].host == TM_NO_NAME ? -1 : (int64_t)own[i].host;
        stages[i] = tm_stage_of(&all->stages, own[i].rank);
    }
    for (size_t row = 0; row < times->n_rows; row++) {
        for (size_t i = 0; i < times->n; i++)
            times->ns[row * times->n + i] = own[row * times->n + i].ns;
        times->from[row] = times->to[row] = (int64_t)row;
        steps[row] = own[row * times->n].step;
    }
}

/* Every operation of a group has all its members. */
static tm_status test_group(const tm_collectives *all, const tm_own_time *own, size_t n,
                            tm_tables *tables, tm_error *err) {
    size_t members = count_members(own, n), rows = n / members;
    tm_own_times times = {0};
    tm_vec suspects = TM_VEC(tm_suspect), standings = TM_VEC(tm_standing);
    int64_t *steps = malloc((rows + 2 * members) * sizeof *steps);
    tm_status status =
        steps ? tm_own_times_create(members, rows, &times, err) : tm_fail_memory(err);
    if (status == TM_OK) {
        int64_t *hosts = steps + rows, *stages = hosts + members;
        fill(all, own, &times, steps, hosts, stages);
        tm_compared compared = {&times, steps, hosts, stages,
                                (double)all->n_compared / (double)members};
        status = tm_suspects_find(&compared, &suspects, &standings, err);
    }
    /* an identity, not a number */
    if (status == TM_OK)
        status = add_rows(tables, (int64_t)(own->group >> 1), &suspects, &standings, err);
    tm_own_times_free(&times);
    tm_vec_free(&suspects);
    tm_vec_free(&standings);
    free(steps);
    return status;
}

tm_status tm_compared_add(tm_tables *tables, const tm_collectives *own, tm_error *err) {
    const tm_own_time *v = own->own_times.data;
    for (size_t first = 0, i = 0; first < own->own_times.n; first = i) {
        for (i = first; i < own->own_times.n && v[i].group == v[first].group; i++)
            ;
        TM_TRY(test_group(own, v + first, i - first, tables, err));
    }
    return TM_OK;
}

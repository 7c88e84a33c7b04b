#include "compared.h"

#include <math.h>
#include <stdlib.h>

#include "base/sorted.h"
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
    [S_UNIT] = {"unit", TM_INT, "", "What is compared: a tm_unit."},
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
        .unit = (tm_unit)row[S_UNIT].value.i,
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

/* An operation of the group in the order of time. */
typedef struct stretch_end {
    int64_t last_ns;
    size_t instance;
} stretch_end;

static int by_time(const void *a, const void *b) {
    const stretch_end *x = a, *y = b;
    int order = tm_order_i64(x->last_ns, y->last_ns);
    return order ? order : tm_order_u64(x->instance, y->instance);
}

/* The own times that end with a group's operations [n], in the order of time. */
static void fill_stretches(const tm_collectives *own, const stretch_end *ends, size_t n,
                           tm_own_times *times, int64_t *steps) {
    const tm_instance *instances = own->instances.data;
    times->n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        const tm_instance *instance = &instances[ends[i].instance];
        const tm_comm_record *members = (const tm_comm_record *)own->records.data + instance->first;
        size_t row = times->n_rows;
        if (members->own_ns < 0 || instance->n != times->n)
            continue;
        for (size_t k = 0; k < times->n; k++)
            times->ns[row * times->n + k] = members[k].own_ns;
        times->from[row] = times->to[row] = (int64_t)i;
        steps[row] = members->step;
        times->n_rows++;
    }
}

static tm_status test_group(const tm_collectives *own, const stretch_end *ends, size_t n,
                            tm_tables *tables, tm_error *err) {
    const tm_instance *first = (const tm_instance *)own->instances.data + ends->instance;
    const tm_comm_record *members = (const tm_comm_record *)own->records.data + first->first;
    tm_own_times times = {0};
    tm_vec suspects = TM_VEC(tm_suspect), standings = TM_VEC(tm_standing);
    int64_t *steps = malloc(n * sizeof *steps);
    int64_t *hosts = malloc(first->n * sizeof *hosts);
    int64_t *stages = malloc(first->n * sizeof *stages);
    tm_status status = steps && hosts && stages ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_own_times_create(first->n, n, &times, err);
    if (status == TM_OK) {
        for (size_t i = 0; i < first->n; i++) {
            times.members[i] = members[i].rank;
            hosts[i] = members[i].host == TM_NO_NAME ? -1 : (int64_t)members[i].host;
            stages[i] = tm_stage_of(&own->stages, members[i].rank);
        }
        fill_stretches(own, ends, n, &times, steps);
        tm_compared compared = {&times, steps, hosts, stages, (double)own->n_compared};
        if (times.n_rows > 0)
            status = tm_suspects_find(&compared, &suspects, &standings, err);
    }
    /* an identity, not a number */
    if (status == TM_OK)
        status = add_rows(tables, (int64_t)(members->group >> 1), &suspects, &standings, err);
    tm_own_times_free(&times);
    tm_vec_free(&suspects);
    tm_vec_free(&standings);
    free(steps);
    free(hosts);
    free(stages);
    return status;
}

tm_status tm_compared_add(tm_tables *tables, const tm_collectives *own, tm_error *err) {
    const tm_instance *v = own->instances.data;
    const tm_comm_record *records = own->records.data;
    stretch_end *ends = malloc((own->instances.n + 1) * sizeof *ends);
    tm_status status = ends ? TM_OK : tm_fail_memory(err);
    for (size_t first = 0, i = 0; first < own->instances.n && status == TM_OK; first = i) {
        size_t n = 0;
        uint64_t group = records[v[first].first].group;
        for (i = first; i < own->instances.n && records[v[i].first].group == group; i++)
            if (v[i].waits)
                ends[n++] = (stretch_end){v[i].last_ns, i};
        if (n == 0)
            continue;
        qsort(ends, n, sizeof *ends, by_time);
        status = test_group(own, ends, n, tables, err);
    }
    free(ends);
    return status;
}

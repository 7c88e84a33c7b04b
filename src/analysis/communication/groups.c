/* Analysis `groups`: the cost of each process group and parallel dimension, and slow links. */
#include "tmerge/analysis.h"

#include "analysis/shared/over_ranks.h"
#include "base/keys.h"
#include "base/sums.h"
#include "dimension.h"
#include "group_links.h"
#include "group_parts.h"
#include "group_rows.h"

static const tm_table_def *const defs[] = {
    &tm_group_group_def, &tm_group_dimension_def,   &tm_group_link_def,   &tm_group_part_def,
    &tm_group_class_def, &tm_group_member_part_def, &tm_group_member_def, &tm_group_rank_def,
};

/* Adds the time of all communication kernels of a rank to the denominator of comm_share. */
static tm_status groups_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    int64_t sum = 0;
    for (size_t i = 0; i < timeline->n_events; i++)
        if (timeline->role[i] == TM_ROLE_COMMUNICATION)
            sum = tm_sum(sum, timeline->duration_ns[i]);
    tm_cell *row = tm_table_add_row(tm_tables_find(out, tm_group_rank_def.name));
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[0], timeline->rank);
    tm_cell_set_int(&row[1], sum);
    return TM_OK;
}

/* Adds a row for each rank of each group in the operations that this process matched. */
static tm_status add_members(const tm_collectives *own, tm_tables *out, tm_error *err) {
    typedef struct member {
        uint64_t group;
        int64_t rank;
    } member;
    const tm_comm_record *records = own->records.data;
    tm_keys keys = TM_KEYS(member);
    bool ok = true;
    for (size_t i = 0; i < own->records.n && ok; i++) {
        const member key = {records[i].process_group, records[i].rank};
        ok = tm_keys_add(&keys, &key) != TM_NO_KEY;
    }
    tm_table *table = tm_tables_find(out, tm_group_member_part_def.name);
    const member *found = keys.keys.data;
    for (size_t i = 0; i < keys.keys.n && ok; i++) {
        tm_cell *row = tm_table_add_row(table);
        ok = row != NULL;
        if (!ok)
            break;
        /* ids are hashes, stored as signed numbers */
        tm_cell_set_int(&row[0], (int64_t)found[i].group);
        tm_cell_set_int(&row[1], found[i].rank);
    }
    tm_keys_free(&keys);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status groups_own(const tm_collectives *own, tm_tables *out, tm_error *err) {
    TM_TRY(tm_group_parts_add(own, out, err));
    return add_members(own, out, err);
}

/* Sets the descriptions and dimensions of this process's groups. Only the merge can do this,
 * because it has the names. */
static tm_status describe(const tm_names *names, tm_table *parts, tm_error *err) {
    for (size_t i = 0; i < parts->n_rows; i++) {
        tm_cell *row = tm_table_row(parts, i);
        uint32_t id = (uint32_t)row[TM_GP_DESCRIPTION_ID].value.i;
        const char *text = id == TM_NO_NAME ? "" : tm_names_text(names, id).bytes;
        char dimension[TM_DIMENSION_MAX];
        if (id != TM_NO_NAME)
            TM_TRY(tm_table_set_text(parts, &row[TM_GP_DESCRIPTION], text, err));
        if (tm_dimension_of(text, dimension) ||
            tm_dimension_of(row[TM_GP_GROUP].value.text, dimension))
            TM_TRY(tm_table_set_text(parts, &row[TM_GP_DIMENSION], dimension, err));
    }
    return TM_OK;
}

static tm_status set_member(const tm_names *names, const tm_rank_rows *rows, tm_table *members,
                            tm_cell *row, tm_error *err) {
    (void)names;
    (void)err;
    memcpy(row, tm_rank_rows_key(rows), (size_t)members->def->n_columns * sizeof *row);
    return TM_OK;
}

static tm_status groups_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    TM_TRY(tm_over_ranks_merge(&tm_group_member_part_def, &tm_group_member_def, names, tables,
                               set_member, err));
    return describe(names, tm_tables_find(tables, tm_group_part_def.name), err);
}

static tm_status groups_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    return tm_group_rows_add(out, err);
}

const tm_analysis tm_analysis_groups = {
    .name = "groups",
    .summary = "the cost of each process group and parallel dimension, and which links are slow",
    .tables = defs,
    .n_tables = sizeof defs / sizeof *defs,
    .rank = groups_rank,
    .collectives = groups_own,
    .merge = groups_merge,
    .job = groups_job,
};

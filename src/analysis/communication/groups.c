/* Analysis `groups`: the cost of each process group and parallel dimension, and slow links. */
#include "tmerge/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/over_ranks.h"
#include "base/keys.h"
#include "base/median.h"
#include "base/sums.h"
#include "dimension.h"
#include "group_links.h"
#include "group_parts.h"
#include "tmerge/table.h"

enum {
    G_GROUP,
    G_MEMBERS,
    G_RANKS,
    G_DIMENSION,
    G_DESCRIPTION,
    G_HOSTS,
    G_REACH,
    G_COMPLETE,
    G_INCOMPLETE,
    G_SUSPECT,
    G_BYTES,
    G_COMM,
    G_SHARE,
    G_WAIT,
    G_TRANSFER,
    G_BUSBW,
    G_LATENCY,
    G_BANDWIDTH,
    G_SLOW
};

static const tm_column group_columns[] = {
    [G_GROUP] = {"group", TM_TEXT, "",
                 "Name of the process group; its sorted ranks if the group has no name."},
    [G_MEMBERS] = {"members", TM_TEXT, "",
                   "Ranks of the group that run its operations: 0-3 means 0 to 3, 0-24:8 means "
                   "every eighth rank. A long list ends with ... ."},
    [G_RANKS] = {"ranks", TM_INT, "",
                 "Number of ranks in the group, including ranks without kernels."},
    [G_DIMENSION] =
        {"dimension", TM_TEXT, "",
         "Parallel dimension of the group: data, tensor, pipeline, expert, context or sequence, "
         "named by a word (dp, TENSOR, ...) in the group's description or else its name. Several "
         "are joined with +. If no word names one: pipeline if the group only sends and receives "
         "and its pairs of ranks form no ring; otherwise null."},
    [G_DESCRIPTION] = {"description", TM_TEXT, "",
                       "Description of the process group, from the trace."},
    [G_HOSTS] = {"hosts", TM_INT, "",
                 "Number of hosts on which the members run; null if any host is unknown."},
    [G_REACH] = {"reach", TM_TEXT, "",
                 "intra if all members are on one host, inter if they are on several hosts, null "
                 "if unknown."},
    [G_COMPLETE] = {"complete", TM_INT, "",
                    "Number of the group's operations in which every rank has a kernel."},
    [G_INCOMPLETE] = {"incomplete", TM_INT, "",
                      "Number of the group's operations that are incomplete: for at least one "
                      "rank, no kernel was recorded or matched."},
    [G_SUSPECT] = {"suspect", TM_INT, "",
                   "Number of the group's operations that may be mismatched: their kernels differ "
                   "in kind or size, or contradict one another in time."},
    [G_BYTES] = {"bytes", TM_INT, "B",
                 "Sum of the sizes of the group's complete operations (see "
                 "collectives.kind.bytes); null without metadata."},
    [G_COMM] = {"comm_ns", TM_INT, "ns",
                "Sum of the durations of all kernels of the group's operations."},
    [G_SHARE] = {"comm_share", TM_REAL, "",
                 "Share of the group in the communication time of the job: comm_ns / the sum of "
                 "the durations of all communication kernels, matched or not."},
    [G_WAIT] = {"wait_ns", TM_INT, "ns",
                "Part of comm_ns in which members waited for the last member to start; null if no "
                "wait is known."},
    [G_TRANSFER] = {"transfer_ns", TM_INT, "ns",
                    "Part of comm_ns after the last member had started, over operations whose "
                    "waits are known; null if there are none."},
    [G_BUSBW] = {"busbw_gbps", TM_REAL, "GB/s",
                 "Bus bandwidth: median of bytes x f / time over complete operations of at least 1 "
                 "MiB, with the factor f of collectives.kind.busbw_gbps. Time is from the latest "
                 "start to the latest end on any rank; in groups that only send and receive, it is "
                 "the duration of the shorter of the two kernels."},
    [G_LATENCY] = {"latency_ns", TM_INT, "ns",
                   "Latency of the group's operations, from a fitted line: time = latency + bytes "
                   "x f / bandwidth, with the factor f of collectives.kind.busbw_gbps. The line is "
                   "the one with the smallest sum of relative deviations. Null if the largest size "
                   "is under four times the smallest, if time does not grow with size, or if the "
                   "latency is under a tenth of the time of the smallest size."},
    [G_BANDWIDTH] = {"fit_busbw_gbps", TM_REAL, "GB/s",
                     "Bandwidth of the line fitted for latency_ns. Null if there is no line, or if "
                     "latency takes over half of the time of the largest size."},
    [G_SLOW] =
        {"slow_operations", TM_INT, "",
         "Number of operations that took much longer than the line fitted for latency_ns predicts: "
         "over 1.5 times as long, and over 10 us longer. Null if there is no line."},
};

static const tm_table_def group_def = {
    .name = "groups.group",
    .doc = "A row for each process group.",
    TM_ARRAY(columns, group_columns),
    .n_keys = 2,
    .top = G_COMM,
};

enum {
    D_DIMENSION,
    D_REACH,
    D_GROUPS,
    D_COMPLETE,
    D_BYTES,
    D_COMM,
    D_SHARE,
    D_WAIT,
    D_TRANSFER,
    D_BUSBW,
    D_LINKS,
    D_SLOW
};

static const tm_column dimension_columns[] = {
    [D_DIMENSION] = {"dimension", TM_TEXT, "",
                     "Parallel dimension of the groups, as in groups.group; null if unknown."},
    [D_REACH] =
        {"reach", TM_TEXT, "",
         "intra for groups within one host, inter for groups across hosts, null if unknown."},
    [D_GROUPS] = {"groups", TM_INT, "", "Number of process groups of this dimension and reach."},
    [D_COMPLETE] = {"complete", TM_INT, "",
                    "Number of the groups' operations in which every rank has a kernel."},
    [D_BYTES] = {"bytes", TM_INT, "B",
                 "Sum of groups.group.bytes over the groups; null without metadata."},
    [D_COMM] = {"comm_ns", TM_INT, "ns",
                "Sum of the durations of all kernels of the groups' operations."},
    [D_SHARE] = {"comm_share", TM_REAL, "",
                 "Share of the groups in the communication time of the job: comm_ns / the sum of "
                 "the durations of all communication kernels, matched or not."},
    [D_WAIT] = {"wait_ns", TM_INT, "ns",
                "Sum of groups.group.wait_ns over the groups; null if no group has a value."},
    [D_TRANSFER] =
        {"transfer_ns", TM_INT, "ns",
         "Sum of groups.group.transfer_ns over the groups; null if no group has a value."},
    [D_BUSBW] = {"busbw_gbps", TM_REAL, "GB/s",
                 "Median of groups.group.busbw_gbps over the groups."},
    [D_LINKS] = {"links", TM_INT, "", "Number of links of the groups (rows of groups.link)."},
    [D_SLOW] = {"slow_links", TM_INT, "", "Number of slow links of the groups (groups.link.slow)."},
};

static const tm_table_def dimension_def = {
    .name = "groups.dimension",
    .doc = "A row for each parallel dimension and reach: groups within one host and groups across "
           "hosts have separate rows.",
    TM_ARRAY(columns, dimension_columns),
    .n_keys = 2,
    .top = D_COMM,
};

static const tm_column rank_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"comm_ns", TM_INT, "ns", "Sum of the durations of the rank's communication kernels."},
};

/* Internal table: communication time of each rank. */
static const tm_table_def rank_def = TM_INTERNAL_TABLE(
    "groups.rank", "A row for each rank: total duration of its communication kernels.",
    rank_columns, 1);

/* Returns the time of all communication kernels [ns], the denominator of comm_share. */
static int64_t all_communication(const tm_tables *tables) {
    const tm_table *ranks = tm_tables_find(tables, rank_def.name);
    int64_t sum = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        sum = tm_sum(sum, tm_table_row(ranks, i)[1].value.i);
    return sum;
}

/* Columns that groups.group copies from groups.part. */
static const struct {
    int to, from;
} taken[] = {
    {G_RANKS, TM_GP_RANKS},     {G_COMPLETE, TM_GP_COMPLETE},   {G_INCOMPLETE, TM_GP_INCOMPLETE},
    {G_SUSPECT, TM_GP_SUSPECT}, {G_BYTES, TM_GP_BYTES},         {G_COMM, TM_GP_COMM},
    {G_WAIT, TM_GP_WAIT},       {G_TRANSFER, TM_GP_TRANSFER},   {G_BUSBW, TM_GP_BUSBW},
    {G_LATENCY, TM_GP_LATENCY}, {G_BANDWIDTH, TM_GP_BANDWIDTH}, {G_SLOW, TM_GP_SLOW},
};

/* Copies columns. Texts are not copied as cells, because each table owns its texts. */
static tm_status add_groups(const tm_group_scan *s, int64_t all_ns, tm_error *err) {
    tm_table *table = tm_tables_find(s->tables, group_def.name);
    for (size_t g = 0; g < s->n_groups; g++) {
        const tm_group_totals *group = &s->groups[g];
        const tm_cell *part = group->part, *description = &part[TM_GP_DESCRIPTION];
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
            row[taken[i].to] = part[taken[i].from];
        tm_cell_set_ratio(&row[G_SHARE], 1.0, part[TM_GP_COMM].value.i, all_ns);
        if (group->n_hosts > 0)
            tm_cell_set_int(&row[G_HOSTS], group->n_hosts);
        TM_TRY(tm_table_set_text(table, &row[G_GROUP], part[TM_GP_GROUP].value.text, err));
        TM_TRY(tm_table_set_text(table, &row[G_MEMBERS], group->members, err));
        TM_TRY(tm_table_set_text(table, &row[G_DIMENSION], group->dimension, err));
        TM_TRY(tm_table_set_text(table, &row[G_DESCRIPTION],
                                 description->null ? NULL : description->value.text, err));
        TM_TRY(tm_table_set_text(table, &row[G_REACH], tm_group_reach(group->n_hosts), err));
    }
    /* The groups are sorted by id here, but rows are shown by name and members. */
    tm_table_sort(table);
    return TM_OK;
}

/* Sorts groups by dimension and reach; unknown values count as "". */
static int by_dimension(const void *a, const void *b) {
    const tm_group_totals *x = *(tm_group_totals *const *)a, *y = *(tm_group_totals *const *)b;
    const char *p = tm_group_reach(x->n_hosts), *q = tm_group_reach(y->n_hosts);
    int order = strcmp(x->dimension ? x->dimension : "", y->dimension ? y->dimension : "");
    return order ? order : strcmp(p ? p : "", q ? q : "");
}

/* Adds a number to a sum. Null adds nothing; the sum of nulls is null. */
static void add_cell(tm_cell *sum, const tm_cell *cell) {
    if (!cell->null)
        tm_cell_set_int(sum, sum->null ? cell->value.i : tm_sum(sum->value.i, cell->value.i));
}

/* Adds a row for [n] groups. `rates` has room for n numbers. */
static tm_status add_dimension(const tm_group_scan *s, tm_group_totals *const *groups, size_t n,
                               int64_t all_ns, double *rates, tm_error *err) {
    tm_table *table = tm_tables_find(s->tables, dimension_def.name);
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    int64_t links = 0, slow = 0;
    size_t n_rates = 0;
    for (size_t i = 0; i < n; i++) {
        const tm_cell *part = groups[i]->part;
        add_cell(&row[D_COMPLETE], &part[TM_GP_COMPLETE]);
        add_cell(&row[D_BYTES], &part[TM_GP_BYTES]);
        add_cell(&row[D_COMM], &part[TM_GP_COMM]);
        add_cell(&row[D_WAIT], &part[TM_GP_WAIT]);
        add_cell(&row[D_TRANSFER], &part[TM_GP_TRANSFER]);
        if (!part[TM_GP_BUSBW].null)
            rates[n_rates++] = part[TM_GP_BUSBW].value.r;
        links += groups[i]->n_links;
        slow += groups[i]->n_slow;
    }
    tm_cell_set_int(&row[D_GROUPS], (int64_t)n);
    tm_cell_set_ratio(&row[D_SHARE], 1.0, row[D_COMM].value.i, all_ns);
    if (n_rates > 0)
        tm_cell_set_real(&row[D_BUSBW], tm_median_real(rates, n_rates));
    tm_cell_set_int(&row[D_LINKS], links);
    tm_cell_set_int(&row[D_SLOW], slow);
    TM_TRY(tm_table_set_text(table, &row[D_DIMENSION], groups[0]->dimension, err));
    return tm_table_set_text(table, &row[D_REACH], tm_group_reach(groups[0]->n_hosts), err);
}

static tm_status add_dimensions(const tm_group_scan *s, int64_t all_ns, tm_error *err) {
    tm_group_totals **groups = malloc((s->n_groups + 1) * sizeof *groups);
    double *rates = malloc((s->n_groups + 1) * sizeof *rates);
    if (!groups || !rates) {
        free(groups);
        free(rates);
        return tm_fail_memory(err);
    }
    for (size_t g = 0; g < s->n_groups; g++)
        groups[g] = &s->groups[g];
    qsort(groups, s->n_groups, sizeof *groups, by_dimension);
    tm_status status = TM_OK;
    for (size_t first = 0, i = 0; first < s->n_groups && status == TM_OK; first = i) {
        for (i = first + 1; i < s->n_groups && by_dimension(&groups[first], &groups[i]) == 0; i++)
            ;
        status = add_dimension(s, groups + first, i - first, all_ns, rates, err);
    }
    free(groups);
    free(rates);
    if (status == TM_OK)
        tm_table_sort(tm_tables_find(s->tables, dimension_def.name));
    return status;
}

static const tm_table_def *const defs[] = {
    &group_def,           &dimension_def,      &tm_group_link_def,
    &tm_group_part_def,   &tm_group_class_def, &tm_group_member_part_def,
    &tm_group_member_def, &rank_def,
};

/* Adds the time of all communication kernels of a rank to the denominator of comm_share. */
static tm_status groups_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    int64_t sum = 0;
    for (size_t i = 0; i < timeline->n_events; i++)
        if (timeline->role[i] == TM_ROLE_COMMUNICATION)
            sum = tm_sum(sum, timeline->duration_ns[i]);
    tm_cell *row = tm_table_add_row(tm_tables_find(out, rank_def.name));
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
    tm_group_scan s;
    int64_t all_ns = all_communication(out);
    tm_status status = tm_group_scan_make(out, &s, err);
    if (status == TM_OK)
        status = tm_group_links_add(&s, err);
    if (status == TM_OK)
        status = add_groups(&s, all_ns, err);
    if (status == TM_OK)
        status = add_dimensions(&s, all_ns, err);
    tm_group_scan_free(&s);
    return status;
}

const tm_analysis tm_analysis_groups = {
    .name = "groups",
    .summary = "the cost of each process group and parallel dimension, and which links are slow",
    TM_ARRAY(tables, defs),
    .rank = groups_rank,
    .collectives = groups_own,
    .merge = groups_merge,
    .job = groups_job,
};

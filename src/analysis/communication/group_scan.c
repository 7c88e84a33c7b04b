#include "group_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "group_parts.h"

static const tm_column member_columns[] = {
    {"id", TM_INT, "", "Id of the process group."},
    {"rank", TM_INT, "", "Global rank that has a kernel in the group's operations."},
};

/* A process matches only some operations of a group, so it may see only some of the group's ranks.
 * The merge keeps one row of groups.member for each group and rank. */
const tm_table_def tm_group_member_part_def = {
    .name = "groups.member_part",
    .doc = "A row for each process, process group and rank.",
    TM_ARRAY(columns, member_columns),
    .n_keys = 2,
    .top = -1,
    .internal = true,
    .n_merged = 2,
};

const tm_table_def tm_group_member_def =
    TM_INTERNAL_TABLE("groups.member", "A row for each process group and rank.", member_columns, 2);

const char *tm_group_reach(int64_t n_hosts) {
    return n_hosts == 0 ? NULL : n_hosts == 1 ? "intra" : "inter";
}

static int64_t host_of(const tm_group_scan *s, int64_t rank) {
    const tm_table *ranks = tm_tables_find(s->tables, "job.rank");
    size_t row = tm_table_find_row(ranks, &rank, 1);
    return row < ranks->n_rows ? s->hosts[row] : -1;
}

int64_t tm_group_hosts(const tm_group_scan *s, const int64_t *ranks, size_t n, int64_t *scratch) {
    int64_t count = n > 0;
    for (size_t i = 0; i < n; i++)
        scratch[i] = host_of(s, ranks[i]);
    tm_sort_values(scratch, n);
    /* an unknown host (-1) comes first */
    if (n == 0 || scratch[0] < 0)
        return 0;
    for (size_t i = 1; i < n; i++)
        count += scratch[i] != scratch[i - 1];
    return count;
}

/* Host of a row of job.rank, as text. */
typedef struct named {
    const char *text;
    size_t row;
} named;

static int by_text(const void *a, const void *b) {
    return strcmp(((const named *)a)->text, ((const named *)b)->text);
}

/* Numbers the hosts, so that they can be compared as numbers. */
static tm_status number_hosts(tm_group_scan *s, tm_error *err) {
    const tm_table *ranks = tm_tables_find(s->tables, "job.rank");
    named *names = malloc((ranks->n_rows + 1) * sizeof *names);
    s->hosts = malloc((ranks->n_rows + 1) * sizeof *s->hosts);
    if (!names || !s->hosts) {
        free(names);
        return tm_fail_memory(err);
    }
    size_t n = 0;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *host = tm_table_cell(ranks, i, "host");
        s->hosts[i] = -1;
        if (!host->null)
            names[n++] = (named){host->value.text, i};
    }
    qsort(names, n, sizeof *names, by_text);
    int64_t number = 0;
    for (size_t i = 0; i < n; i++) {
        number += i > 0 && strcmp(names[i - 1].text, names[i].text) != 0;
        s->hosts[names[i].row] = number;
    }
    free(names);
    return TM_OK;
}

/* Writes ranks as "0-3,8-24:8": ranges of consecutive ranks, or of at least three ranks with a
 * constant stride. */
static void print_members(const int64_t *ranks, size_t n, char out[TM_MEMBERS_MAX]) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0, last = 0; i < n; i = last + 1) {
        int64_t stride = i + 1 < n ? ranks[i + 1] - ranks[i] : 1;
        for (last = i; last + 1 < n && ranks[last + 1] - ranks[last] == stride; last++)
            ;
        if (stride > 1 && last < i + 2)
            last = i;
        char part[80];
        int size = snprintf(part, sizeof part, "%s%" PRId64, i ? "," : "", ranks[i]);
        if (last > i)
            size += snprintf(part + size, sizeof part - (size_t)size, "-%" PRId64, ranks[last]);
        if (last > i && stride > 1)
            size += snprintf(part + size, sizeof part - (size_t)size, ":%" PRId64, stride);
        /* leave room for "..." and the terminator */
        if (used + (size_t)size + 4 >= TM_MEMBERS_MAX) {
            memcpy(out + used, "...", 4);
            return;
        }
        memcpy(out + used, part, (size_t)size + 1);
        used += (size_t)size;
    }
}

/* Returns whether a group's ranks form no ring: fewer pairs of ranks exchange data than the group
 * has ranks. `scratch` has an int64_t for each row of groups.class. */
static bool closes_no_ring(const tm_group_scan *s, const tm_group_totals *group, int64_t *scratch,
                           size_t *next) {
    const tm_table *classes = tm_tables_find(s->tables, tm_group_class_def.name);
    size_t n = 0, pairs = 0;
    int64_t id = group->part[TM_GP_ID].value.i;
    /* Groups and classes are sorted by id. */
    while (*next < classes->n_rows && tm_table_row(classes, *next)[TM_GC_ID].value.i < id)
        (*next)++;
    for (size_t i = *next; i < classes->n_rows; i++) {
        const tm_cell *row = tm_table_row(classes, i);
        int64_t from = row[TM_GC_FROM].value.i, to = row[TM_GC_TO].value.i;
        if (row[TM_GC_ID].value.i != id)
            break;
        scratch[n++] = from < to ? from << 31 | to : to << 31 | from; /* TM_RANK_MAX < 2^31 */
    }
    tm_sort_values(scratch, n);
    for (size_t i = 0; i < n; i++)
        pairs += i == 0 || scratch[i] != scratch[i - 1];
    return pairs > 0 && pairs < group->n_ranks;
}

/* Sets the dimension. If neighbouring stages of a pipeline exchange data, there is one pair less
 * than stages. A context or sequence ring has as many pairs as ranks. */
static void find_dimensions(tm_group_scan *s, int64_t *scratch) {
    size_t next = 0;
    for (size_t g = 0; g < s->n_groups; g++) {
        tm_group_totals *group = &s->groups[g];
        if (!group->part[TM_GP_DIMENSION].null)
            group->dimension = group->part[TM_GP_DIMENSION].value.text;
        else if (group->part[TM_GP_PAIRS_ONLY].value.i && closes_no_ring(s, group, scratch, &next))
            group->dimension = "pipeline";
    }
}

/* Collects the groups. Both tables are sorted by group id. */
static tm_status find_groups(tm_group_scan *s, tm_error *err) {
    const tm_table *parts = tm_tables_find(s->tables, tm_group_part_def.name);
    const tm_table *members = tm_tables_find(s->tables, tm_group_member_def.name);
    const tm_table *classes = tm_tables_find(s->tables, tm_group_class_def.name);
    s->n_groups = parts->n_rows;
    s->groups = calloc(parts->n_rows + 1, sizeof *s->groups);
    s->members = malloc((members->n_rows + 1) * sizeof *s->members);
    int64_t *scratch = malloc((members->n_rows + classes->n_rows + 1) * sizeof *scratch);
    if (!s->groups || !s->members || !scratch) {
        free(scratch);
        return tm_fail_memory(err);
    }
    for (size_t g = 0, m = 0; g < s->n_groups; g++) {
        tm_group_totals *group = &s->groups[g];
        group->part = tm_table_row(parts, g);
        group->ranks = s->members + m;
        for (; m < members->n_rows; m++, group->n_ranks++) {
            const tm_cell *row = tm_table_row(members, m);
            if (row[0].value.i != group->part[TM_GP_ID].value.i)
                break;
            s->members[m] = row[1].value.i;
        }
        group->n_hosts = tm_group_hosts(s, group->ranks, group->n_ranks, scratch);
        print_members(group->ranks, group->n_ranks, group->members);
    }
    find_dimensions(s, scratch);
    free(scratch);
    return TM_OK;
}

tm_status tm_group_scan_make(tm_tables *tables, tm_group_scan *out, tm_error *err) {
    *out = (tm_group_scan){.tables = tables};
    TM_TRY(number_hosts(out, err));
    return find_groups(out, err);
}

void tm_group_scan_free(tm_group_scan *scan) {
    free(scan->groups);
    free(scan->members);
    free(scan->hosts);
}

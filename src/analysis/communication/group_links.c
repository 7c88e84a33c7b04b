#include "group_links.h"

#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/sorted.h"
#include "group_parts.h"
#include "tmerge/timeline.h"

enum {
    L_GROUP,
    L_MEMBERS,
    L_FROM,
    L_TO,
    L_KIND,
    L_SIZE_CLASS,
    L_DIMENSION,
    L_REACH,
    L_COUNT,
    L_BYTES,
    L_TIME,
    L_BUSBW,
    L_FIT,
    L_PEERS,
    L_PEERS_TIME,
    L_SLOWER,
    L_SLOW
};

static const tm_column link_columns[] = {
    [L_GROUP] = {"group", TM_TEXT, "",
                 "Name of the process group; its sorted ranks if the group has no name."},
    [L_MEMBERS] = {"members", TM_TEXT, "",
                   "Ranks of the group that run its operations: 0-3 means 0 to 3, 0-24:8 means "
                   "every eighth rank. A long list ends with ... ."},
    [L_FROM] = {"from_rank", TM_INT, "",
                "Sending rank; null if the row is about a group, not a pair of ranks."},
    [L_TO] = {"to_rank", TM_INT, "",
              "Receiving rank; null if the row is about a group, not a pair of ranks."},
    [L_KIND] = {"kind", TM_TEXT, "",
                "Kind of collective; sendrecv for transfers between two ranks."},
    [L_SIZE_CLASS] = {"size_class_bytes", TM_INT, "B",
                      "Size class: the largest power of two that does not exceed the size."},
    [L_DIMENSION] = {"dimension", TM_TEXT, "",
                     "Parallel dimension of the group (data, tensor, pipeline, ...), as in "
                     "groups.group; null if unknown."},
    [L_REACH] = {"reach", TM_TEXT, "",
                 "intra if all ranks are on one host, inter if they are on several hosts, null if "
                 "unknown."},
    [L_COUNT] = {"count", TM_INT, "",
                 "Number of complete operations, in which every rank of the group has a kernel."},
    [L_BYTES] = {"bytes", TM_INT, "B", "Median size of the operations."},
    [L_TIME] = {"median_ns", TM_INT, "ns",
                "Median time from the latest start to the latest end on any rank. For transfers "
                "between two ranks: median duration of the shorter of the two kernels."},
    [L_BUSBW] =
        {"busbw_gbps", TM_REAL, "GB/s",
         "Bus bandwidth: bytes x f / median_ns, with the factor f of collectives.kind.busbw_gbps."},
    [L_FIT] = {"times_fit", TM_REAL, "",
               "How much longer the operations take than the group's fitted line predicts for this "
               "size: median_ns / predicted time (groups.group.latency_ns describes the line). "
               "Null if no line was fitted."},
    [L_PEERS] = {"peers", TM_INT, "",
                 "Number of peers: other links with the same dimension, number of ranks, reach, "
                 "kind and median size. If the group of a pair has no dimension, only other pairs "
                 "of this group are peers."},
    [L_PEERS_TIME] = {"peers_ns", TM_INT, "ns", "Median of median_ns over the peers."},
    [L_SLOWER] = {"times_slower", TM_REAL, "",
                  "Slowdown compared with the peers: median_ns / peers_ns."},
    [L_SLOW] = {"slow", TM_BOOL, "",
                "Whether the link is slow: times_slower is over 1.2, median_ns exceeds peers_ns by "
                "over 10 us, and count is at least 3."},
};

const tm_table_def tm_group_link_def = {
    .name = "groups.link",
    .doc = "A row for each link: a process group or a pair of ranks, with a kind of collective and "
           "a size class. Only links with at least two peers.",
    TM_ARRAY(columns, link_columns),
    .n_keys = L_SIZE_CLASS + 1,
    .top = L_SLOWER,
};

/* Minimum number of peers and of operations of a link for a comparison. With one peer, it would be
 * unknown which of the two links is unusual. A single slow operation does not make a link slow. */
enum { PEERS_MIN = 2, COUNT_MIN = 3 };

/* A link: operations of one kind and size class, in one group or between one pair of ranks. */
typedef struct link {
    tm_group_totals *group;
    const tm_cell *class; /* row of groups.class */
    int64_t n_hosts;
    size_t ranks;
    bool pair;
} link;

/* Sort order that puts peers next to one another; returns 0 for peers. Groups without a known
 * dimension may serve different purposes. So their links are peers only within a group. */
static int by_peers(const link *x, const link *y) {
    const char *p = x->group->dimension, *q = y->group->dimension;
    int found = strcmp(p ? p : "", q ? q : "");
    found = found ? found : tm_order_i64(x->pair, y->pair);
    if (!found && !p)
        found = tm_order_i64(x->group->part[TM_GP_ID].value.i, y->group->part[TM_GP_ID].value.i);
    found = found ? found : tm_order_i64((int64_t)x->ranks, (int64_t)y->ranks);
    found = found ? found
                  : tm_order_i64(x->n_hosts < 2 ? x->n_hosts : 2, y->n_hosts < 2 ? y->n_hosts : 2);
    found =
        found ? found : tm_order_i64(x->class[TM_GC_KIND].value.i, y->class[TM_GC_KIND].value.i);
    return found ? found
                 : tm_order_i64(x->class[TM_GC_BYTES].value.i, y->class[TM_GC_BYTES].value.i);
}

static int by_time(const void *a, const void *b) {
    const link *x = a, *y = b;
    int found = by_peers(x, y);
    found =
        found ? found : tm_order_i64(x->class[TM_GC_TIME].value.i, y->class[TM_GC_TIME].value.i);
    return found ? found : (x->class > y->class) - (x->class < y->class);
}

/* Returns the median time of [n] sorted peers, n > 1, without the link at index `own`. */
static int64_t median_of_others(const link *peers, size_t n, size_t own) {
    int64_t middle[2];
    for (size_t k = 0; k < 2; k++) {
        size_t at = (n - 2 + k) / 2;
        middle[k] = peers[at < own ? at : at + 1].class[TM_GC_TIME].value.i;
    }
    return tm_median(middle, 2);
}

/* Compares a link with the median of its peers. The link itself does not count, because it would
 * bias the median. */
static void set_comparison(tm_cell *row, const link *peers, size_t n, size_t own) {
    const tm_cell *class = peers[own].class;
    int64_t time = class[TM_GC_TIME].value.i, usual = median_of_others(peers, n, own);
    tm_cell_set_int(&row[L_PEERS], (int64_t)n - 1);
    tm_cell_set_int(&row[L_PEERS_TIME], usual);
    tm_cell_set_ratio(&row[L_SLOWER], 1.0, time, usual);
    tm_cell_set_bool(&row[L_SLOW], (double)time > 1.2 * (double)usual &&
                                       time - usual > TM_SLOW_NS &&
                                       class[TM_GC_COUNT].value.i >= COUNT_MIN);
}

/* Adds the row of the link peers[own], and counts the link in its group. */
static tm_status add_link(const link *peers, size_t n, size_t own, tm_table *table, tm_error *err) {
    const link *it = &peers[own];
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    if (it->pair) {
        row[L_FROM] = it->class[TM_GC_FROM];
        row[L_TO] = it->class[TM_GC_TO];
    }
    row[L_SIZE_CLASS] = it->class[TM_GC_SIZE_CLASS];
    row[L_COUNT] = it->class[TM_GC_COUNT];
    row[L_BYTES] = it->class[TM_GC_BYTES];
    row[L_TIME] = it->class[TM_GC_TIME];
    row[L_BUSBW] = it->class[TM_GC_BUSBW];
    row[L_FIT] = it->class[TM_GC_FIT];
    set_comparison(row, peers, n, own);
    it->group->n_links++;
    it->group->n_slow += row[L_SLOW].value.i;
    const char *kind = tm_collective_word((tm_collective_kind)it->class[TM_GC_KIND].value.i);
    TM_TRY(tm_table_set_text(table, &row[L_GROUP], it->group->part[TM_GP_GROUP].value.text, err));
    TM_TRY(tm_table_set_text(table, &row[L_MEMBERS], it->group->members, err));
    TM_TRY(tm_table_set_text(table, &row[L_KIND], kind, err));
    TM_TRY(tm_table_set_text(table, &row[L_DIMENSION], it->group->dimension, err));
    return tm_table_set_text(table, &row[L_REACH], tm_group_reach(it->n_hosts), err);
}

static size_t collect(const tm_group_scan *s, link *links) {
    const tm_table *classes = tm_tables_find(s->tables, tm_group_class_def.name);
    size_t n = 0;
    for (size_t i = 0, g = 0; i < classes->n_rows && s->n_groups > 0; i++) {
        const tm_cell *class = tm_table_row(classes, i);
        int64_t ends[2] = {class[TM_GC_FROM].value.i, class[TM_GC_TO].value.i}, scratch[2];
        /* groups and classes are sorted by group id, and every class belongs to a group */
        while (s->groups[g].part[TM_GP_ID].value.i < class[TM_GC_ID].value.i)
            g++;
        link it = {&s->groups[g], class, s->groups[g].n_hosts, s->groups[g].n_ranks, ends[0] >= 0};
        /* two ranks may share a host even if their group spans several hosts */
        if (it.pair) {
            it.ranks = 2;
            it.n_hosts = tm_group_hosts(s, ends, 2, scratch);
        }
        links[n++] = it;
    }
    return n;
}

tm_status tm_group_links_add(tm_group_scan *scan, tm_error *err) {
    const tm_table *classes = tm_tables_find(scan->tables, tm_group_class_def.name);
    tm_table *table = tm_tables_find(scan->tables, tm_group_link_def.name);
    link *links = malloc((classes->n_rows + 1) * sizeof *links);
    if (!links)
        return tm_fail_memory(err);
    size_t n = collect(scan, links);
    qsort(links, n, sizeof *links, by_time);
    tm_status status = TM_OK;
    for (size_t first = 0, i = 0; first < n; first = i) {
        for (i = first + 1; i < n && by_peers(&links[first], &links[i]) == 0; i++)
            ;
        for (size_t k = first; k < i && i - first > PEERS_MIN && status == TM_OK; k++)
            status = add_link(links + first, i - first, k - first, table, err);
    }
    free(links);
    tm_table_sort(table);
    return status;
}

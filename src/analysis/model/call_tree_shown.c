#include "call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/launched.h"
#include "analysis/shared/over_ranks.h"
#include "base/median.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "base/vec.h"
#include "table/levels.h"

static const tm_column columns[TM_TREE_N] = {
    [TM_TREE_LEVEL] = {"level", TM_TEXT, "",
                       "What the tree is about: function, module or operator. Trees of several "
                       "levels contain the same GPU time, so add up only rows of one level."},
    [TM_TREE_NODE] = {"node", TM_INT, "",
                      "Number of the node in its tree. The nodes below it have the next numbers."},
    [TM_TREE_PARENT] = {"parent", TM_INT, "", "Number of the parent node; null for a root."},
    [TM_TREE_DEPTH] = {"depth", TM_INT, "", "Number of ancestors of the node."},
    [TM_TREE_NAME] = {"name", TM_TEXT, "", "Name of the call, without addresses."},
    [TM_TREE_CALLS] = {"calls", TM_INT, "", "Number of calls on this path, over all ranks."},
    [TM_TREE_HOST_TOTAL] = {"host_total_ns", TM_INT, "ns",
                            "Duration of the calls, over all ranks. Null for rows whose name is in "
                            "brackets, because they are not calls."},
    [TM_TREE_HOST_SELF] = {"host_self_ns", TM_INT, "ns",
                           "Part of host_total_ns outside of the node's children."},
    [TM_TREE_DEVICE_TOTAL] =
        {"device_total_ns", TM_INT, "ns",
         "Duration of the GPU work that the calls launched, over all ranks. For modules, includes "
         "the work of the backward pass of these calls."},
    [TM_TREE_DEVICE_SELF] = {"device_self_ns", TM_INT, "ns",
                             "Part of device_total_ns that the node's children did not launch."},
    [TM_TREE_RANKS] = {"ranks", TM_INT, "", "Number of ranks that have calls on this path."},
    [TM_TREE_HOST_MEDIAN] =
        {"host_median_ns", TM_INT, "ns",
         "Median of host_total_ns on a rank, over the ranks that have the path."},
    [TM_TREE_HOST_MAX] = {"host_max_ns", TM_INT, "ns", "Largest host_total_ns on a rank."},
    [TM_TREE_HOST_RANK] =
        {"host_max_rank", TM_INT, "",
         "Rank with the largest host_total_ns (host_max_ns); the lowest if there are several."},
    [TM_TREE_DEVICE_MEDIAN] =
        {"device_median_ns", TM_INT, "ns",
         "Median of device_total_ns on a rank, over the ranks that have the path."},
    [TM_TREE_DEVICE_MAX] = {"device_max_ns", TM_INT, "ns", "Largest device_total_ns on a rank."},
    [TM_TREE_DEVICE_RANK] =
        {"device_max_rank", TM_INT, "",
         "Rank with the largest device_total_ns (device_max_ns); the lowest if there are several."},
    [TM_TREE_FORWARD] =
        {"forward_device_ns", TM_INT, "ns",
         "Part of device_total_ns that the forward pass launched. In rows whose name is in "
         "brackets: all work outside of the backward pass. forward_device_ns + "
         "recomputed_device_ns + backward_device_ns = device_total_ns. These columns and "
         "backward_host_ns are null on levels other than module."},
    [TM_TREE_RECOMPUTED] = {"recomputed_device_ns", TM_INT, "ns",
                            "Part of device_total_ns that the backward pass launched to recompute "
                            "(activation checkpointing)."},
    [TM_TREE_BACKWARD] =
        {"backward_device_ns", TM_INT, "ns",
         "Part of device_total_ns that the backward pass launched to compute gradients."},
    [TM_TREE_BACKWARD_HOST] =
        {"backward_host_ns", TM_INT, "ns",
         "Host time of the backward pass of the calls, including recomputation."},
};

const tm_table_def tm_tree_table = {
    .name = "calls.tree",
    .doc = "A row for each path of nested calls, merged over ranks, as drawn in flame graphs. "
           "Functions are Python's (with_stack=True); if only operators or runtime calls carry "
           "stacks, the host time of a function is only the time in these calls. Modules are there "
           "if the profiler recorded them; backward work counts for the module whose gradient it "
           "computes, if autograd's numbers show it. Backward work of operators is nested in "
           "autograd's nodes on a separate thread. Each level has the 10000 nodes with the largest "
           "host_total_ns, one node for all others, and rows in brackets for work that no such "
           "call launched. Over the rows of a level, device_self_ns thus adds up to the time of "
           "all streams of the ranks with such calls.",
    TM_ARRAY(columns, columns),
    .n_keys = TM_TREE_NODE + 1,
    .top = TM_TREE_DEVICE_TOTAL,
};

static const struct {
    const char *word, *outside;
} levels[TM_N_TREE_LEVELS] = {{"function", "(outside of any function)"},
                              {"module", "(outside of any module)"},
                              {"operator", "(outside of any operator)"}};

#define NO_NODE UINT32_MAX

tm_text tm_tree_next_frame(tm_text *stack) {
    size_t end = stack->size, begin = end;
    while (begin > 0 && stack->bytes[begin - 1] != ';')
        begin--;
    stack->size = begin > 0 ? begin - 1 : 0;
    return (tm_text){stack->bytes + begin, end - begin};
}

/* Returns the function at a depth of a call stack. Depth 0 is the outermost function. */
static tm_text frame_at(tm_text stack, int64_t depth) {
    tm_text frame = {"", 0};
    for (; depth >= 0 && stack.size > 0; depth--)
        frame = tm_tree_next_frame(&stack);
    return frame;
}

static tm_status set_plain(tm_text name, tm_table *shown, tm_cell *cell, tm_error *err) {
    tm_plain_name parts = tm_tree_plain_name(name);
    tm_vec plain = TM_VEC(char);
    bool ok = tm_vec_append(&plain, parts.head.bytes, parts.head.size) &&
              tm_vec_append(&plain, parts.tail.bytes, parts.tail.size);
    tm_status status =
        ok ? tm_table_set_bytes(shown, cell, plain.data, plain.n, err) : tm_fail_memory(err);
    tm_vec_free(&plain);
    return status;
}

static tm_status set_name(const tm_names *names, const tm_cell *key, tm_table *shown, tm_cell *cell,
                          tm_error *err) {
    const char *outside = levels[key[TM_TREE_P_LEVEL].value.i].outside;
    int64_t name = key[TM_TREE_P_NAME].value.i;
    if (name == TM_TREE_OUTSIDE || name == TM_TREE_UNKNOWN)
        return tm_table_set_text(shown, cell,
                                 name == TM_TREE_OUTSIDE ? outside : TM_LAUNCHED_UNKNOWN, err);
    if (name >= 0)
        return set_plain(tm_names_text(names, (uint32_t)name), shown, cell, err);
    tm_text stack = tm_names_text(names, (uint32_t)(TM_TREE_STACK - name));
    return set_plain(frame_at(stack, key[TM_TREE_P_DEPTH].value.i), shown, cell, err);
}

/* Sets the sums over ranks. Rows for work outside of calls have no host times. */
static void set_sums(const tm_rank_rows *rows, tm_cell *row) {
    const tm_cell *key = tm_rank_rows_key(rows);
    bool calls = key[TM_TREE_P_NAME].value.i != TM_TREE_OUTSIDE &&
                 key[TM_TREE_P_NAME].value.i != TM_TREE_UNKNOWN;
#define SUM(column) tm_over_ranks_sum(rows, column)
    for (int c = 0; c <= TM_TREE_DEVICE_SELF - TM_TREE_CALLS; c++)
        if (calls || c >= TM_TREE_DEVICE_TOTAL - TM_TREE_CALLS)
            tm_cell_set_int(&row[TM_TREE_CALLS + c], SUM(TM_TREE_P_CALLS + c));
    const bool passes = key[TM_TREE_P_LEVEL].value.i == TM_TREE_MODULES;
    for (int c = 0; passes && TM_TREE_P_FORWARD + c < TM_TREE_P_N; c++)
        if (calls || c < TM_TREE_BACKWARD_HOST - TM_TREE_FORWARD)
            tm_cell_set_int(&row[TM_TREE_FORWARD + c], SUM(TM_TREE_P_FORWARD + c));
#undef SUM
}

static tm_status set_row(const tm_names *names, const tm_rank_rows *rows, tm_table *shown,
                         tm_cell *row, tm_error *err) {
    const tm_cell *key = tm_rank_rows_key(rows);
    tm_over_ranks host, device;
    TM_TRY(tm_over_ranks_column(rows, TM_TREE_P_HOST_TOTAL, &host, err));
    TM_TRY(tm_over_ranks_column(rows, TM_TREE_P_DEVICE_TOTAL, &device, err));
    row[TM_TREE_NODE] = key[TM_TREE_P_PATH];
    row[TM_TREE_PARENT] = key[TM_TREE_P_PARENT];
    row[TM_TREE_DEPTH] = key[TM_TREE_P_DEPTH];
    set_sums(rows, row);
    tm_cell_set_int(&row[TM_TREE_RANKS], host.ranks);
    if (!row[TM_TREE_HOST_TOTAL].null) {
        tm_cell_set_int(&row[TM_TREE_HOST_MEDIAN], host.median);
        tm_cell_set_int(&row[TM_TREE_HOST_MAX], host.max);
        tm_cell_set_int(&row[TM_TREE_HOST_RANK], host.max_rank);
    }
    tm_cell_set_int(&row[TM_TREE_DEVICE_MEDIAN], device.median);
    tm_cell_set_int(&row[TM_TREE_DEVICE_MAX], device.max);
    tm_cell_set_int(&row[TM_TREE_DEVICE_RANK], device.max_rank);
    TM_TRY(tm_table_set_text(shown, &row[TM_TREE_LEVEL], levels[key[TM_TREE_P_LEVEL].value.i].word,
                             err));
    return set_name(names, key, shown, &row[TM_TREE_NAME], err);
}

tm_status tm_tree_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&tm_tree_part, &tm_tree_table, names, tables, set_row, err);
}

/* A row of the table: the values for sorting it, and its links in the tree. */
typedef struct place {
    int64_t path, parent, total_ns;
    uint32_t row, above;  /* `above` is the index of the parent, or NO_NODE */
    uint32_t first, next; /* indices of the first child and the next sibling */
} place;

TM_ORDER_BY(by_path, place, path);

/* Sorts by time, shortest first. Each child is inserted at the front of its parent's list, so the
 * longest child ends up first. */
static int by_time(const void *a, const void *b) {
    const place *x = *(const place *const *)a, *y = *(const place *const *)b;
    return x->total_ns != y->total_ns ? tm_order_i64(x->total_ns, y->total_ns)
                                      : tm_order_i64(y->path, x->path);
}

/* Adds an omitted row to the row that stands for all omitted rows. Adds totals only if the row's
 * parent is kept (`outermost`). If the parent is omitted, its totals already include this row. */
static void leave_out(tm_cell *others, const tm_cell *row, bool outermost) {
    for (int c = TM_TREE_CALLS; c < TM_TREE_N; c++) {
        bool own = c == TM_TREE_CALLS || c == TM_TREE_HOST_SELF || c == TM_TREE_DEVICE_SELF;
        bool total = c == TM_TREE_HOST_TOTAL || c == TM_TREE_DEVICE_TOTAL || c >= TM_TREE_FORWARD;
        if (!row[c].null && (own || (total && outermost)))
            tm_cell_set_int(&others[c], tm_sum(others[c].value.i, row[c].value.i));
    }
}

/* Keeps the first n of rows [first, end), and all rows among them that are not calls. Appends a row
 * with the sums of the removed rows. Later rows of the table move up. */
static tm_status cut(tm_table *shown, size_t first, size_t end, size_t n, tm_error *err) {
    tm_cell others[TM_TREE_N];
    int64_t *paths = malloc((n + 1) * sizeof *paths);
    const size_t row_bytes = TM_TREE_N * sizeof *others;
    size_t kept = first + n;
    if (!paths)
        return tm_fail_memory(err);
    for (int c = 0; c < TM_TREE_N; c++)
        others[c] = (tm_cell){.null = true};
    for (size_t i = 0; i < n; i++)
        paths[i] = tm_table_row(shown, first + i)[TM_TREE_NODE].value.i;
    tm_sort_values(paths, n);
    for (size_t i = first + n; i < end; i++) {
        tm_cell *row = tm_table_row(shown, i);
        int64_t parent = row[TM_TREE_PARENT].value.i;
        size_t at = tm_lower_bound(paths, n, parent);
        if (row[TM_TREE_HOST_TOTAL].null)
            memmove(tm_table_row(shown, kept++), row, row_bytes);
        else
            leave_out(others, row, parent == 0 || (at < n && paths[at] == parent));
    }
    free(paths);
    others[TM_TREE_LEVEL] = tm_table_row(shown, first)[TM_TREE_LEVEL];
    memmove(tm_table_row(shown, kept), tm_table_row(shown, end), (shown->n_rows - end) * row_bytes);
    shown->n_rows -= end - kept;
    tm_cell_set_int(&others[TM_TREE_NODE], TM_TREE_OTHERS);
    tm_cell_set_int(&others[TM_TREE_PARENT], 0);
    tm_cell_set_int(&others[TM_TREE_DEPTH], 0);
    tm_cell *row = tm_table_add_row(shown);
    if (!row)
        return tm_fail_memory(err);
    memcpy(row, others, row_bytes);
    return tm_table_set_text(shown, &row[TM_TREE_NAME], TM_LAUNCHED_OTHERS, err);
}

/* Keeps the nodes with the most time. They form a tree, because a parent takes at least as long as
 * its children. */
static tm_status keep_longest(tm_table *shown, const char *level, tm_error *err) {
    size_t n = TM_TREE_NODES, end, first = tm_table_level(shown, level, &end);
    tm_table rows = *shown;
    if (end - first <= n)
        return TM_OK;
    rows.cells = tm_table_row(shown, first);
    rows.n_rows = end - first;
    tm_table_rank(&rows, TM_TREE_HOST_TOTAL);
    /* Also drops all nodes with the same time as the first dropped node, because that node might be
     * the parent of one of them. */
    int64_t least = tm_table_row(&rows, n)[TM_TREE_HOST_TOTAL].value.i;
    while (n > 0 && tm_table_row(&rows, n - 1)[TM_TREE_HOST_TOTAL].value.i == least)
        n--;
    return cut(shown, first, end, n, err);
}

static bool find_parents(place *places, size_t n) {
    place **order = malloc((n + 1) * sizeof(place *));
    if (!order)
        return false;
    qsort(places, n, sizeof *places, by_path);
    for (size_t i = 0; i < n; i++) {
        const place key = {.path = places[i].parent};
        const place *above = bsearch(&key, places, n, sizeof key, by_path);
        places[i].above = above ? (uint32_t)(above - places) : NO_NODE;
        order[i] = &places[i];
    }
    qsort(order, n, sizeof *order, by_time);
    /* places[n] is the parent of the roots. */
    places[n].first = NO_NODE;
    for (size_t i = 0; i < n; i++) {
        place *above = &places[order[i]->above == NO_NODE ? n : order[i]->above];
        order[i]->next = above->first;
        above->first = (uint32_t)(order[i] - places);
    }
    free(order);
    return true;
}

/* Numbers the nodes depth first. */
static void number_nodes(tm_table *shown, place *places, size_t n) {
    int64_t next = 0;
    uint32_t at = places[n].first;
    while (at != NO_NODE) {
        tm_cell *row = tm_table_row(shown, places[at].row);
        places[at].total_ns = next; /* from here on, this is the node's number */
        tm_cell_set_int(&row[TM_TREE_NODE], next++);
        if (places[at].above == NO_NODE)
            row[TM_TREE_PARENT].null = true;
        else
            tm_cell_set_int(&row[TM_TREE_PARENT], places[places[at].above].total_ns);
        uint32_t down = places[at].first;
        while (down == NO_NODE && at != NO_NODE) {
            down = places[at].next;
            at = places[at].above;
        }
        at = down;
    }
}

/* Numbers the nodes of a level: rows [first, end). */
static tm_status number_rows(tm_table *shown, size_t first, size_t end, tm_error *err) {
    size_t n = end - first;
    place *places = malloc((n + 1) * sizeof *places);
    bool ok = places != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        const tm_cell *row = tm_table_row(shown, first + i);
        places[i] = (place){.path = row[TM_TREE_NODE].value.i,
                            .parent = row[TM_TREE_PARENT].value.i,
                            .total_ns = row[TM_TREE_HOST_TOTAL].value.i,
                            .row = (uint32_t)(first + i),
                            .first = NO_NODE};
    }
    ok = ok && find_parents(places, n);
    if (ok)
        number_nodes(shown, places, n);
    free(places);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_tree_number(tm_table *shown, tm_error *err) {
    tm_table_sort(shown);
    for (int l = 0; l < TM_N_TREE_LEVELS; l++)
        TM_TRY(keep_longest(shown, levels[l].word, err));
    tm_table_order(shown, TM_TREE_LEVEL, true);
    for (int l = 0; l < TM_N_TREE_LEVELS; l++) {
        size_t end, first = tm_table_level(shown, levels[l].word, &end);
        TM_TRY(number_rows(shown, first, end, err));
    }
    tm_table_sort(shown);
    return TM_OK;
}

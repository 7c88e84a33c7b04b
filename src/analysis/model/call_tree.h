/* Calls of one class as a tree, merged over ranks: who called whom, and what each path took. */
#ifndef TMERGE_CALL_TREE_H
#define TMERGE_CALL_TREE_H

#include "analysis/shared/calls.h"
#include "tmerge/table.h"

/* Nodes of the job that are shown. */
#define TM_TREE_NODES 10000

enum {
    TM_TREE_P_PATH,   /* hash of the names from the root to the node */
    TM_TREE_P_PARENT, /* that of the parent, 0 of none */
    TM_TREE_P_DEPTH,
    TM_TREE_P_RANK,
    TM_TREE_P_NAME,
    TM_TREE_P_CALLS,
    TM_TREE_P_HOST_TOTAL,
    TM_TREE_P_HOST_SELF,
    TM_TREE_P_DEVICE_TOTAL,
    TM_TREE_P_DEVICE_SELF,
    TM_TREE_P_N
};

extern const tm_column tm_tree_part_columns[];

/** The internal table of a tree: a row for each rank and node. */
#define TM_TREE_PART(table)                                                                        \
    {                                                                                              \
        .name = (table), .doc = "A row for each rank and path of calls.",                          \
        .columns = tm_tree_part_columns, .n_columns = TM_TREE_P_N, .n_keys = TM_TREE_P_RANK + 1,   \
        .top = -1, .internal = true, .n_merged = TM_TREE_P_RANK                                    \
    }

enum {
    TM_TREE_NODE,
    TM_TREE_PARENT,
    TM_TREE_DEPTH,
    TM_TREE_NAME,
    TM_TREE_CALLS,
    TM_TREE_HOST_TOTAL,
    TM_TREE_HOST_SELF,
    TM_TREE_DEVICE_TOTAL,
    TM_TREE_DEVICE_SELF,
    TM_TREE_RANKS,
    TM_TREE_HOST_MEDIAN,
    TM_TREE_HOST_MAX,
    TM_TREE_HOST_RANK,
    TM_TREE_DEVICE_MEDIAN,
    TM_TREE_DEVICE_MAX,
    TM_TREE_DEVICE_RANK,
    TM_TREE_N
};

/** The columns of a shown tree. */
extern const tm_column tm_tree_columns[TM_TREE_N];

/** Adds the nodes of a rank. @param calls  of one class, of this rank  @return  TM_OK;
 * TM_ERR_FAULT */
tm_status tm_tree_rows(const tm_rank_view *view, const tm_calls *calls, tm_table *part,
                       tm_error *err) TM_MUST_CHECK;

/** Merges the ranks' nodes into the shown table, not yet numbered. TM_OK; TM_ERR_FAULT. */
tm_status tm_tree_merge(const tm_names *names, const tm_table *part, tm_table *shown,
                        tm_error *err) TM_MUST_CHECK;

/** Once all nodes are there: keeps the TM_TREE_NODES with most host_total_ns, each with all above
 * it, and numbers them so that what a node holds follows it, the longest first. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_tree_number(tm_table *shown, tm_error *err) TM_MUST_CHECK;

#endif

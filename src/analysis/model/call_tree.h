/* Table calls.tree: calls as a tree merged over ranks: callers, callees, and the time of each path.
 */
#ifndef TMERGE_CALL_TREE_H
#define TMERGE_CALL_TREE_H

#include "analysis/shared/calls.h"
#include "tmerge/table.h"

struct tm_passes;

/* Maximum number of nodes shown for a job. */
#define TM_TREE_NODES 10000

/* Values in place of a name id: launched by no call of the class; launch not recorded; rows omitted
 * from a long table. Values from TM_TREE_STACK down encode the id of a call stack; the node is
 * the function at its depth in that stack. */
enum { TM_TREE_OUTSIDE = -1, TM_TREE_UNKNOWN = -2, TM_TREE_OTHERS = -3, TM_TREE_STACK = -4 };

/** Levels, in the order of their words. */
typedef enum tm_tree_level {
    TM_TREE_FUNCTIONS,
    TM_TREE_MODULES,
    TM_TREE_OPERATORS,
    TM_N_TREE_LEVELS
} tm_tree_level;

/** Columns of the internal table, which has a row for each rank and node. */
enum {
    TM_TREE_P_LEVEL,
    TM_TREE_P_PATH,   /* hash of the names from the root to the node */
    TM_TREE_P_PARENT, /* hash of the parent, 0 for none */
    TM_TREE_P_DEPTH,
    TM_TREE_P_RANK,
    TM_TREE_P_NAME,
    TM_TREE_P_CALLS,
    TM_TREE_P_HOST_TOTAL,
    TM_TREE_P_HOST_SELF,
    TM_TREE_P_DEVICE_TOTAL,
    TM_TREE_P_DEVICE_SELF,
    TM_TREE_P_FORWARD, /* from here on only for modules */
    TM_TREE_P_RECOMPUTED,
    TM_TREE_P_BACKWARD,
    TM_TREE_P_BACKWARD_HOST,
    TM_TREE_P_N
};

/** The shown table, and the internal part it is merged from. */
extern const tm_table_def tm_tree_table, tm_tree_part;

enum {
    TM_TREE_LEVEL,
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
    TM_TREE_FORWARD, /* from here on only for modules */
    TM_TREE_RECOMPUTED,
    TM_TREE_BACKWARD,
    TM_TREE_BACKWARD_HOST,
    TM_TREE_N
};

/**
 * Adds the nodes of a rank, plus one node each for work launched outside of them and for work with
 * an unknown launch.
 *
 * @param calls   of the level, of this rank
 * @param passes  attributes work that backward launched or recomputed to the calls that were open
 *                in forward; NULL: to the calls open at the time
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_tree_rows(const tm_rank_view *view, tm_tree_level level, const tm_calls *calls,
                       const struct tm_passes *passes, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Adds the nodes of calls that carry their stacks (tm_operator_attr). Nodes are the functions of
 * the stacks; of nested calls with the same stack, the outermost counts. TM_OK; TM_ERR_FAULT. */
tm_status tm_tree_stack_rows(const tm_rank_view *view, const tm_calls *calls, tm_tables *out,
                             tm_error *err) TM_MUST_CHECK;

/** Merges the ranks' nodes into the shown table, without numbering them. TM_OK; TM_ERR_FAULT. */
tm_status tm_tree_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Numbers the complete tree of each level. Keeps the TM_TREE_NODES nodes with most host_total_ns,
 * each with all its ancestors, and merges all others into one. Children follow their parent, the
 * longest first. TM_OK; TM_ERR_FAULT. */
tm_status tm_tree_number(tm_table *shown, tm_error *err) TM_MUST_CHECK;

/** A name without its first address (" at 0x7f5c2c0b1d30"): the text before and after it. */
typedef struct tm_plain_name {
    tm_text head, tail;
} tm_plain_name;

tm_plain_name tm_tree_plain_name(tm_text name);

/** Removes the outermost function, which is last, from a call stack and returns it. */
tm_text tm_tree_next_frame(tm_text *stack);

#endif

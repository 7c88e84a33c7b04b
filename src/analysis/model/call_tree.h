/* Table calls.tree: the calls of all ranks as a tree of callers and callees, with the time of each
 * path. */
#ifndef TMERGE_CALL_TREE_H
#define TMERGE_CALL_TREE_H

#include "analysis/shared/calls.h"
#include "tmerge/table.h"

struct tm_passes;

/* Maximum number of nodes of a job in the table. */
#define TM_TREE_NODES 10000

/* Special values of a name id. TM_TREE_OUTSIDE: work that was launched outside of all calls of the
 * level. TM_TREE_UNKNOWN: work whose launch was not recorded. TM_TREE_OTHERS: rows that a long
 * table omits. A value v <= TM_TREE_STACK: a function in call stack number TM_TREE_STACK - v, at
 * the depth of the node. */
enum { TM_TREE_OUTSIDE = -1, TM_TREE_UNKNOWN = -2, TM_TREE_OTHERS = -3, TM_TREE_STACK = -4 };

/** Levels of the table, in alphabetical order of the words that the table has for them. */
typedef enum tm_tree_level {
    TM_TREE_FUNCTIONS,
    TM_TREE_MODULES,
    TM_TREE_OPERATORS,
    TM_N_TREE_LEVELS
} tm_tree_level;

/** Columns of the part table: a row for each rank and node. */
enum {
    TM_TREE_P_LEVEL,
    TM_TREE_P_PATH,   /* hash of the names on the path from the root to the node */
    TM_TREE_P_PARENT, /* path of the parent; 0: none */
    TM_TREE_P_DEPTH,
    TM_TREE_P_RANK,
    TM_TREE_P_NAME,
    TM_TREE_P_CALLS,
    TM_TREE_P_HOST_TOTAL,
    TM_TREE_P_HOST_SELF,
    TM_TREE_P_DEVICE_TOTAL,
    TM_TREE_P_DEVICE_SELF,
    TM_TREE_P_FORWARD, /* the columns from here on are only for modules */
    TM_TREE_P_RECOMPUTED,
    TM_TREE_P_BACKWARD,
    TM_TREE_P_BACKWARD_HOST,
    TM_TREE_P_N
};

/** The table calls.tree, and the part table from which it is merged. */
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
    TM_TREE_FORWARD, /* the columns from here on are only for modules */
    TM_TREE_RECOMPUTED,
    TM_TREE_BACKWARD,
    TM_TREE_BACKWARD_HOST,
    TM_TREE_N
};

/**
 * Adds the nodes of a rank. Also adds a node for work that was launched outside of the level's
 * calls, and a node for work with an unknown launch.
 * @param calls   the rank's calls of the level
 * @param passes  if given, backward work is added to the calls in which its forward operators ran;
 *                otherwise to the calls that launched it
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_tree_rows(const tm_rank_view *view, tm_tree_level level, const tm_calls *calls,
                       const struct tm_passes *passes, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Adds nodes for the functions in the recorded stacks of calls (tm_operator_attr). If nested calls
 * have the same stack, only the outermost of them counts. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_tree_stack_rows(const tm_rank_view *view, const tm_calls *calls, tm_tables *out,
                             tm_error *err) TM_MUST_CHECK;

/** Merges the ranks' nodes into calls.tree; tm_tree_number numbers them. Returns TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_tree_merge(const tm_names *names, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Numbers the nodes of each level, children after their parent, the longest child first. Keeps the
 * TM_TREE_NODES nodes with the largest host_total_ns, and merges all others into one node. The
 * ancestors of a kept node are also kept, because a parent takes at least as long as its children.
 * Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_tree_number(tm_table *shown, tm_error *err) TM_MUST_CHECK;

/** A name without its first address, such as " at 0x7f5c2c0b1d30": the text before it (`head`) and
 * after it (`tail`). */
typedef struct tm_plain_name {
    tm_text head, tail;
} tm_plain_name;

tm_plain_name tm_tree_plain_name(tm_text name);

/** Removes the outermost (last) function from a call stack, and returns it. */
tm_text tm_tree_next_frame(tm_text *stack);

#endif

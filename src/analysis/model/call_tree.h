/* Calls of one class as a tree, merged over ranks: who called whom, and what each path took. */
#ifndef TMERGE_CALL_TREE_H
#define TMERGE_CALL_TREE_H

#include "analysis/shared/calls.h"
#include "tmerge/table.h"

struct tm_passes;

/* Nodes of the job that are shown. */
#define TM_TREE_NODES 10000

/* In the place of a name's id: what no call of the class launched, what a launch that is not in the
 * trace did, what is left out of a long table; further below the id of a call stack, of which the
 * node is the function at its depth. */
enum { TM_TREE_OUTSIDE = -1, TM_TREE_UNKNOWN = -2, TM_TREE_OTHERS = -3, TM_TREE_STACK = -4 };

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
    TM_TREE_P_N,
    TM_TREE_P_FORWARD = TM_TREE_P_N, /* of modules alone, from here on */
    TM_TREE_P_RECOMPUTED,
    TM_TREE_P_BACKWARD,
    TM_TREE_P_BACKWARD_HOST,
    TM_TREE_P_N_PASSES
};

extern const tm_column tm_tree_part_columns[];

/** The internal table of a tree: a row for each rank and node. @p n  TM_TREE_P_N or
 * TM_TREE_P_N_PASSES */
#define TM_TREE_PART(table, n)                                                                     \
    {                                                                                              \
        .name = (table), .doc = "A row for each rank and path of calls.",                          \
        .columns = tm_tree_part_columns, .n_columns = (n), .n_keys = TM_TREE_P_RANK + 1,           \
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
    TM_TREE_N,
    TM_TREE_FORWARD = TM_TREE_N, /* of modules alone, from here on */
    TM_TREE_RECOMPUTED,
    TM_TREE_BACKWARD,
    TM_TREE_BACKWARD_HOST,
    TM_TREE_N_PASSES
};

/** The columns of a shown tree. */
extern const tm_column tm_tree_columns[TM_TREE_N_PASSES];

/**
 * Adds the nodes of a rank, and one each for what was launched outside of them or nobody knows
 * where.
 *
 * @param calls   of one class, of this rank
 * @param passes  by which what backward launched, or computed again, goes to the calls that were
 *                open when it was forward; NULL: it goes to those that are open then
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_tree_rows(const tm_rank_view *view, const tm_calls *calls,
                       const struct tm_passes *passes, tm_table *part, tm_error *err) TM_MUST_CHECK;

/** The same of calls that bear their stacks, tm_operator_attr, each: nodes are the functions in
 * these, and of calls in one another with one stack the outermost counts. */
tm_status tm_tree_stack_rows(const tm_rank_view *view, const tm_calls *calls, tm_table *part,
                             tm_error *err) TM_MUST_CHECK;

/** Merges the ranks' nodes into the shown table, not yet numbered. TM_OK; TM_ERR_FAULT.
 * @param outside  the name of TM_TREE_OUTSIDE */
tm_status tm_tree_merge(const tm_names *names, const tm_table *part, const char *outside,
                        tm_table *shown, tm_error *err) TM_MUST_CHECK;

/** Once all nodes are there: keeps the TM_TREE_NODES with most host_total_ns, each with all above
 * it, and one of all others, and numbers them so that what a node holds follows it, the longest
 * first. TM_OK; TM_ERR_FAULT. */
tm_status tm_tree_number(tm_table *shown, tm_error *err) TM_MUST_CHECK;

/** A name without the first address in it, " at 0x7f5c2c0b1d30": what stands before and behind it.
 */
typedef struct tm_plain_name {
    tm_text head, tail;
} tm_plain_name;

tm_plain_name tm_tree_plain_name(tm_text name);

/** Takes the outermost function off a call stack, which stands last in it. */
tm_text tm_tree_next_frame(tm_text *stack);

#endif

/* Which operators launched what runs on the GPU, and where in the program: by the GPU's event and
 * by the operator. */
#ifndef TMERGE_LAUNCHED_H
#define TMERGE_LAUNCHED_H

#include "tmerge/analysis.h"

/* Columns of a part: up to three keys, the rank, sums. */
enum { TM_LAUNCHED_P_KEYS = 3, TM_LAUNCHED_P_RANK = 3, TM_LAUNCHED_P_CALLS, TM_LAUNCHED_P_TOTAL };

extern const tm_column tm_launched_part_columns[];

/** The internal table on the way to one of those below: a row for each rank and set of keys. */
#define TM_LAUNCHED_PART(table)                                                                    \
    {                                                                                              \
        .name = (table), .doc = "A row for each rank, event of the GPU and what launched it.",     \
        .columns = tm_launched_part_columns, .n_columns = TM_LAUNCHED_P_TOTAL + 1,                 \
        .n_keys = TM_LAUNCHED_P_RANK + 1, .top = -1, .internal = true,                             \
        .n_merged = TM_LAUNCHED_P_KEYS                                                             \
    }

/* What follows the keys of a shown table. */
enum {
    TM_LAUNCHED_CALLS,
    TM_LAUNCHED_TOTAL,
    TM_LAUNCHED_MEAN,
    TM_LAUNCHED_SHARE,
    TM_LAUNCHED_RANKS,
    TM_LAUNCHED_MEDIAN_RANK,
    TM_LAUNCHED_MAX_RANK_TIME,
    TM_LAUNCHED_MAX_RANK,
    TM_LAUNCHED_N
};

#define TM_LAUNCHED_COLUMNS(first)                                                                 \
    {"calls", TM_INT, "", "Events of the GPU that it is of."},                                     \
        {"total_ns", TM_INT, "ns", "Sum of their durations."},                                     \
        {"mean_ns", TM_INT, "ns", "total_ns / calls."},                                            \
        {"share_pct", TM_REAL, "%", "100 total_ns / the total_ns of all rows of this " first "."}, \
        {"ranks", TM_INT, "", "Ranks on which it ran."},                                           \
        {"median_rank_ns", TM_INT, "ns", "Median over these ranks of a rank's total_ns."},         \
        {"max_rank_ns", TM_INT, "ns", "The largest total_ns of a rank."}, {                        \
        "max_rank", TM_INT, "", "That rank; of equals the lowest."                                 \
    }

/* Words in the place of an operator; in that of both keys for what is left out of a long table. */
#define TM_LAUNCHED_OUTSIDE "(outside of any operator)"
#define TM_LAUNCHED_UNKNOWN "(launch not recorded)"
#define TM_LAUNCHED_OTHERS "(all others)"

/**
 * Adds a rank's rows to two tables at once.
 * @param by_event     keys are the event, the operator and the place in the program
 * @param by_operator  keys are the operator, the event and nothing
 * @return             TM_OK; TM_ERR_FAULT
 */
tm_status tm_launched_rows(const tm_rank_view *view, tm_table *by_event, tm_table *by_operator,
                           tm_error *err) TM_MUST_CHECK;

/** The internal table of the second, in the name that both of its users know. */
#define TM_LAUNCHED_BY_OPERATOR "operators.kernel_part"

/** Merges them into a shown table, whose keys are the first of the part's, in this order. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_launched_merge(const tm_names *names, const tm_table *part, tm_table *shown,
                            tm_error *err) TM_MUST_CHECK;

/** Sets the shares, and leaves the 5000 rows with most time and one of all others. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_launched_order(tm_table *shown, tm_error *err) TM_MUST_CHECK;

#endif

/* Which operators and code locations launched the GPU's events, by event and by operator. */
#ifndef TMERGE_LAUNCHED_H
#define TMERGE_LAUNCHED_H

#include "tmerge/analysis.h"

/* Columns of a part table: up to three keys, the rank, sums. */
enum { TM_LAUNCHED_P_KEYS = 3, TM_LAUNCHED_P_RANK = 3, TM_LAUNCHED_P_CALLS, TM_LAUNCHED_P_TOTAL };

extern const tm_column tm_launched_part_columns[];

/** Defines an internal part table of one of the tables below: a row per rank and set of keys. */
#define TM_LAUNCHED_PART(table)                                                                    \
    {                                                                                              \
        .name = (table),                                                                           \
        .doc = "A row for each rank, GPU event and operator or code location that launched it.",   \
        .columns = tm_launched_part_columns, .n_columns = TM_LAUNCHED_P_TOTAL + 1,                 \
        .n_keys = TM_LAUNCHED_P_RANK + 1, .top = -1, .internal = true,                             \
        .n_merged = TM_LAUNCHED_P_KEYS                                                             \
    }

/* Columns of a shown table after its keys. */
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
    {"calls", TM_INT, "", "Number of GPU events of the row."},                                     \
        {"total_ns", TM_INT, "ns", "Sum of the durations of the GPU events."},                     \
        {"mean_ns", TM_INT, "ns", "total_ns / calls."},                                            \
        {"share_pct", TM_REAL, "%", "100 total_ns / the total_ns of all rows of this " first "."}, \
        {"ranks", TM_INT, "", "Number of ranks on which the row's events ran."},                   \
        {"median_rank_ns", TM_INT, "ns", "Median of the ranks' total_ns."},                        \
        {"max_rank_ns", TM_INT, "ns", "Largest total_ns of a rank."}, {                            \
        "max_rank", TM_INT, "", "Rank with max_rank_ns; the lowest if there are several."          \
    }

/* Text in place of an operator, or of both keys for the rows that a long table omits. */
#define TM_LAUNCHED_OUTSIDE "(outside of any operator)"
#define TM_LAUNCHED_UNKNOWN "(launch not recorded)"
#define TM_LAUNCHED_OTHERS "(all others)"

/**
 * Adds a rank's rows to two tables at once.
 * @param by_event     keys are the event, the operator and the code location
 * @param by_operator  keys are the operator, the event and nothing
 * @return             TM_OK; TM_ERR_FAULT
 */
tm_status tm_launched_rows(const tm_rank_view *view, tm_table *by_event, tm_table *by_operator,
                           tm_error *err) TM_MUST_CHECK;

/** Name of the internal table by operator, shared by its two users. */
#define TM_LAUNCHED_BY_OPERATOR "operators.kernel_part"

/** Merges part rows into a shown table whose keys are the first keys of the part, in the same
 * order. TM_OK; TM_ERR_FAULT. */
tm_status tm_launched_merge(const tm_names *names, const tm_table *part, tm_table *shown,
                            tm_error *err) TM_MUST_CHECK;

/** Sets the shares, keeps the 5000 rows with most time and merges all others into one row. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_launched_order(tm_table *shown, tm_error *err) TM_MUST_CHECK;

#endif

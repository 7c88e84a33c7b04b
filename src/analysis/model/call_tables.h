/* Calls of a class summed by name, on each rank and over all: what operators and modules share. */
#ifndef TMERGE_CALL_TABLES_H
#define TMERGE_CALL_TABLES_H

#include "analysis/shared/calls.h"

/** The rows that a table of calls keeps, those that cost most: names and shapes may be as many as
 * there are calls. */
enum { TM_CALL_ROWS = 1000 };

/** Columns of the internal table, a row for each rank. */
enum {
    TM_CALL_P_NAME,
    TM_CALL_P_SHAPES,
    TM_CALL_P_RANK,
    TM_CALL_P_CALLS,
    TM_CALL_P_DEVICE_SELF,
    TM_CALL_P_DEVICE_TOTAL,
    TM_CALL_P_HOST_SELF,
    TM_CALL_P_HOST_TOTAL,
    TM_CALL_P_TENSOR_SELF,
    TM_CALL_P_TENSOR_TOTAL,
    TM_CALL_P_KERNEL_SELF,
    TM_CALL_P_KERNEL_TOTAL,
    TM_CALL_P_FITS,
    TM_CALL_P_N,
    TM_CALL_P_BACKWARD_SELF = TM_CALL_P_N, /* of modules alone, from here on */
    TM_CALL_P_BACKWARD_TOTAL,
    TM_CALL_P_BACKWARD_HOST,
    TM_CALL_P_N_PASSES
};

extern const tm_column tm_call_part_columns[TM_CALL_P_N_PASSES];

/** The internal table of a table of calls; @p name_ is that of the analysis and the table, @p n
 * TM_CALL_P_N or TM_CALL_P_N_PASSES. */
#define TM_CALL_PART(name_, n)                                                                     \
    {                                                                                              \
        .name = name_, .doc = "A row for each name, input shapes and rank.",                       \
        .columns = tm_call_part_columns, .n_columns = (n), .n_keys = 3, .top = -1,                 \
        .internal = true, .n_merged = 2                                                            \
    }

/* The columns that are shown behind the keys. */
enum {
    TM_CALL_CALLS,
    TM_CALL_DEVICE_SELF,
    TM_CALL_DEVICE_TOTAL,
    TM_CALL_HOST_SELF,
    TM_CALL_HOST_TOTAL,
    TM_CALL_TENSOR_SELF,
    TM_CALL_TENSOR_TOTAL,
    TM_CALL_RANKS,
    TM_CALL_DEVICE_MIN,
    TM_CALL_DEVICE_MEDIAN,
    TM_CALL_DEVICE_MAX,
    TM_CALL_DEVICE_MAX_RANK,
    TM_CALL_HOST_MIN,
    TM_CALL_HOST_MEDIAN,
    TM_CALL_HOST_MAX,
    TM_CALL_HOST_MAX_RANK,
    TM_CALL_N_SHOWN
};

/** @p call and @p calls are the words for one and several of the class. */
#define TM_CALL_COLUMNS(call, calls)                                                               \
    {"calls", TM_INT, "", "Calls on all ranks."},                                                  \
        {"device_self_ns", TM_INT, "ns",                                                           \
         "Sum of the durations of the kernels, copies and sets that it launched itself, not in "   \
         "the " calls " inside it: those whose launch lies in no deeper " call "."},               \
        {"device_total_ns", TM_INT, "ns",                                                          \
         "The same with the " calls " inside it; once where one of a name lies in another of the " \
         "same."},                                                                                 \
        {"host_self_ns", TM_INT, "ns",                                                             \
         "Its time on the host without the " calls                                                 \
         " inside it and without its own calls of the runtime and driver."},                       \
        {"host_total_ns", TM_INT, "ns",                                                            \
         "Its time on the host; once where one of a name lies in another of the same."},           \
        {"tensor_self_pct", TM_REAL, "%",                                                          \
         "Share on tensor cores, by kernel names, of the time of kernels in device_self_ns."},     \
        {"tensor_total_pct", TM_REAL, "%", "The same of device_total_ns."},                        \
        {"ranks", TM_INT, "", "Ranks that have it; what follows is over these."},                  \
        {"device_min_ns", TM_INT, "ns", "Smallest device_self_ns of a rank."},                     \
        {"device_median_ns", TM_INT, "ns", "Median device_self_ns of the ranks."},                 \
        {"device_max_ns", TM_INT, "ns", "Largest device_self_ns of a rank."},                      \
        {"device_max_rank", TM_INT, "", "The rank that has it, the lowest of equals."},            \
        {"host_min_ns", TM_INT, "ns", "Smallest host_self_ns of a rank."},                         \
        {"host_median_ns", TM_INT, "ns", "Median host_self_ns of the ranks."},                     \
        {"host_max_ns", TM_INT, "ns", "Largest host_self_ns of a rank."}, {                        \
        "host_max_rank", TM_INT, "", "The rank that has it, the lowest of equals."                 \
    }

/** What modules have behind those. */
enum { TM_CALL_BACKWARD_SELF = TM_CALL_N_SHOWN, TM_CALL_BACKWARD_TOTAL, TM_CALL_BACKWARD_HOST };

/** @p call as above */
#define TM_CALL_BACKWARD_COLUMNS(call)                                                             \
    {"backward_device_self_ns", TM_INT, "ns",                                                      \
     "GPU time of the backward pass of what the " call " called itself, where autograd's numbers " \
     "tell it: in none of the columns before, unless a " call " was open when backward ran."},     \
        {"backward_device_total_ns", TM_INT, "ns", "The same with the " call "s inside it."}, {    \
        "backward_host_ns", TM_INT, "ns", "Host time of that, with the " call "s inside it."       \
    }

/**
 * Sums a rank's calls by name into the internal table @p by_name and, where @p by_shapes is not
 * NULL, those whose input shapes are known by name and shapes into that; with its backward pass
 * where the table has columns for it.
 */
tm_status tm_call_rows(const tm_rank_view *view, const tm_calls *calls, tm_table *by_name,
                       tm_table *by_shapes, tm_error *err) TM_MUST_CHECK;

/**
 * Adds a row of all ranks for each name, or name and shapes, and keeps those that cost most.
 *
 * @param part   sorted, with all rows of its keys
 * @param shown  keys name, or name and shapes; then the columns above; then, where there are more,
 *               those of the backward pass, or whether tensor cores could do it
 */
tm_status tm_call_merge(const tm_names *names, const tm_table *part, tm_table *shown,
                        tm_error *err) TM_MUST_CHECK;

/** Brings the rows that cost most to the front, by the table's top, device_self_ns or
 * device_total_ns, then its pair on the host, and leaves out what is behind TM_CALL_ROWS. Rows that
 * are sorted by their keys come to one order always. */
void tm_call_order(tm_table *shown);

#endif

/* Calls of a class summed by name, per rank and over all ranks. Shared by operators and modules. */
#ifndef TMERGE_CALL_TABLES_H
#define TMERGE_CALL_TABLES_H

#include "analysis/shared/calls.h"

/** Maximum rows of a table of calls, highest cost first. There may be as many names as calls. */
enum { TM_CALL_ROWS = 1000 };

/** Columns of the internal table, which has a row for each rank. */
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
    TM_CALL_P_BACKWARD_SELF = TM_CALL_P_N, /* from here on only for modules */
    TM_CALL_P_BACKWARD_TOTAL,
    TM_CALL_P_BACKWARD_HOST,
    TM_CALL_P_N_PASSES
};

extern const tm_column tm_call_part_columns[TM_CALL_P_N_PASSES];

/** Defines the internal table of a table of calls. @p name_ is that of the analysis and table, @p n
 * is TM_CALL_P_N or TM_CALL_P_N_PASSES. */
#define TM_CALL_PART(name_, n)                                                                     \
    {                                                                                              \
        .name = name_, .doc = "A row for each name, input shapes and rank.",                       \
        .columns = tm_call_part_columns, .n_columns = (n), .n_keys = 3, .top = -1,                 \
        .internal = true, .n_merged = 2                                                            \
    }

/* Shown columns after the keys. */
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

/** @p call and @p calls are the singular and plural of the class. */
#define TM_CALL_COLUMNS(call, calls)                                                               \
    {"calls", TM_INT, "", "Number of calls of the " call " on all ranks."},                        \
        {"device_self_ns", TM_INT, "ns",                                                           \
         "Total duration of the kernels, copies and sets that the " call                           \
         " launched directly, not through nested " calls "."},                                     \
        {"device_total_ns", TM_INT, "ns",                                                          \
         "Total duration of the kernels, copies and sets that the " call                           \
         " launched directly or through nested " calls "; nested " calls                           \
         " of the same name count once."},                                                         \
        {"host_self_ns", TM_INT, "ns",                                                             \
         "Host time of the " call " without nested " calls                                         \
         " and without its own runtime and driver calls."},                                        \
        {"host_total_ns", TM_INT, "ns",                                                            \
         "Host time of the " call "; nested " calls " of the same name count once."},              \
        {"tensor_self_pct", TM_REAL, "%",                                                          \
         "Percentage of the kernel time in device_self_ns that uses tensor cores, judged by "      \
         "kernel names."},                                                                         \
        {"tensor_total_pct", TM_REAL, "%",                                                         \
         "Percentage of the kernel time in device_total_ns that uses tensor cores, judged by "     \
         "kernel names."},                                                                         \
        {"ranks", TM_INT, "", "Number of ranks that have the " call "."},                          \
        {"device_min_ns", TM_INT, "ns", "Smallest device_self_ns of a rank."},                     \
        {"device_median_ns", TM_INT, "ns", "Median of the ranks' device_self_ns."},                \
        {"device_max_ns", TM_INT, "ns", "Largest device_self_ns of a rank."},                      \
        {"device_max_rank", TM_INT, "",                                                            \
         "Rank with device_max_ns; the lowest if there are several."},                             \
        {"host_min_ns", TM_INT, "ns", "Smallest host_self_ns of a rank."},                         \
        {"host_median_ns", TM_INT, "ns", "Median of the ranks' host_self_ns."},                    \
        {"host_max_ns", TM_INT, "ns", "Largest host_self_ns of a rank."}, {                        \
        "host_max_rank", TM_INT, "", "Rank with host_max_ns; the lowest if there are several."     \
    }

/** Additional columns of modules after these. */
enum { TM_CALL_BACKWARD_SELF = TM_CALL_N_SHOWN, TM_CALL_BACKWARD_TOTAL, TM_CALL_BACKWARD_HOST };

/** @p call is as above. */
#define TM_CALL_BACKWARD_COLUMNS(call)                                                             \
    {"backward_device_self_ns", TM_INT, "ns",                                                      \
     "GPU time of the backward pass for work that the " call " did directly, not in nested " call  \
     "s, if autograd's numbers show it. device_self_ns does not include it, unless a " call        \
     " was open when the backward pass ran."},                                                     \
        {"backward_device_total_ns", TM_INT, "ns",                                                 \
         "GPU time of the backward pass for work of the " call " and of nested " call              \
         "s, if autograd's numbers show it."},                                                     \
    {                                                                                              \
        "backward_host_ns", TM_INT, "ns",                                                          \
            "Host time of the backward pass for work of the " call " and of nested " call          \
            "s, if autograd's numbers show it."                                                    \
    }

/** Sums a rank's calls by name into @p by_name and, unless @p by_shapes is NULL, those with known
 * input shapes by name and shapes into @p by_shapes. Includes the backward pass if the table has
 * columns for it. TM_OK; TM_ERR_FAULT. */
tm_status tm_call_rows(const tm_rank_view *view, const tm_calls *calls, tm_table *by_name,
                       tm_table *by_shapes, tm_error *err) TM_MUST_CHECK;

/**
 * Adds a row over all ranks for each name, or name and shapes, and keeps those with the highest
 * cost.
 *
 * @param part   sorted, with all rows of its keys
 * @param shown  keys name, or name and shapes; then the columns above; then, if there are more,
 *               those of the backward pass, or whether tensor cores fit
 */
tm_status tm_call_merge(const tm_names *names, const tm_table *part, tm_table *shown,
                        tm_error *err) TM_MUST_CHECK;

/** Sorts rows by cost: by the table's top (device_self_ns or device_total_ns), then by the
 * corresponding host column. Drops rows after TM_CALL_ROWS. The result is deterministic for rows
 * sorted by their keys. */
void tm_call_order(tm_table *shown);

#endif

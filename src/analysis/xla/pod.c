/* Analysis `pod`: the parts of each device's step time, and which devices are slow. */
#include <stdlib.h>

#include "analysis/shared/busy.h"
#include "analysis/shared/named.h"
#include "base/keys.h"
#include "base/median.h"
#include "base/sums.h"
#include "cells.h"
#include "exchanges.h"
#include "xla_parts.h"

/* The parts, in the order of their columns in pod.rank and pod.step. */
static const int shown[] = {TM_XLA_COMPUTE_16,  TM_XLA_COMPUTE_32, TM_XLA_COMPUTE_UNTYPED,
                            TM_XLA_COLLECTIVES, TM_XLA_INFEED,     TM_XLA_INPUT_WAIT,
                            TM_XLA_HOST_COPIES, TM_XLA_OUTPUT,     TM_XLA_DEVICE_COPIES,
                            TM_XLA_OFFLOAD,     TM_XLA_LAUNCH,     TM_XLA_COMPILE,
                            TM_XLA_HOST,        TM_XLA_OTHER};
enum {
    N_SHOWN = sizeof shown / sizeof *shown,
    T_STEP = 0,
    T_PARTS,
    T_INPUT = T_PARTS + N_SHOWN,
    T_INPUT_PCT,
    T_OUTPUT_PCT,
    T_BARRIER,
    T_SHUFFLE,
    T_SPARSE,
    T_BOTTLENECK,
    N_TIMES
};

#define TIME_COLUMNS                                                                               \
    {"step_ns", TM_INT, "ns",                                                                      \
     "Duration of the step's window; for a rank, the sum over its steps. The parts compute_16_ns " \
     "to other_ns add up to it. Time in several parts counts for the first of them in this "       \
     "order: compute, infeed, output, copies, collectives, waiting for input, launches, copies "   \
     "to the device, compilation, host."},                                                         \
        {"compute_16_ns", TM_INT, "ns",                                                            \
         "Time in which the device computes with types of at most 16 bits. The type is from the "  \
         "shape in the profile (for XLA, of the result; for TensorFlow, of the input), or else "   \
         "from the kernel's name."},                                                               \
        {"compute_32_ns", TM_INT, "ns",                                                            \
         "Time in which the device computes with types of more than 16 bits, as shapes in the "    \
         "profile show."},                                                                         \
        {"compute_untyped_ns", TM_INT, "ns",                                                       \
         "Time in which the device computes with unknown types; XProf counts it as 32 bit. "       \
         "XProf also counts copies that CUDA's tracer names (such as Memcpy HtoD) as 32-bit "      \
         "computation; here they are copies."},                                                    \
        {"collectives_ns", TM_INT, "ns",                                                           \
         "Time in which the device communicates and does not compute, receive input, send output " \
         "or copy. It includes the wait in a program's barrier, which XProf's all-reduce time "    \
         "excludes."},                                                                             \
        {"infeed_ns", TM_INT, "ns",                                                                \
         "Time in which the device waits for or receives input from its host (infeed, host "       \
         "recv)."},                                                                                \
        {"input_wait_ns", TM_INT, "ns",                                                            \
         "Time in which the host waits for the next batch and the device is idle. The host waits " \
         "in IteratorGetNext or, with an input library other than tf.data (such as Grain), in an " \
         "outermost stage of its input pipeline, on the thread that marks steps with step_num. "   \
         "XProf counts this time also while the device communicates."},                            \
        {"host_to_device_ns", TM_INT, "ns",                                                        \
         "Time in copies from the host and in host calls that feed devices, unless it counts for " \
         "an earlier part (see step_ns)."},                                                        \
        {"output_ns", TM_INT, "ns",                                                                \
         "Time in copies to the host, outfeed and host send, unless it counts for an earlier "     \
         "part (see step_ns)."},                                                                   \
        {"device_to_device_ns", TM_INT, "ns",                                                      \
         "Time in copies and sets within and between devices."},                                   \
        {"offload_ns", TM_INT, "ns",                                                               \
         "Time in a program's own copies to host memory and back, which do not count as input."},  \
        {"launch_ns", TM_INT, "ns",                                                                \
         "Time in which the host launches (runtime calls, ExecutorState::Process) and the device " \
         "is idle. XProf calls it host prepare."},                                                 \
        {"compilation_ns", TM_INT, "ns",                                                           \
         "Time in which the host compiles and the device is idle. Compilation is recognised only " \
         "by name (annotations and operators with ::Compile, backend_compile or XlaCompile); "     \
         "with other names it is in host_ns or other_ns."},                                        \
        {"host_ns", TM_INT, "ns",                                                                  \
         "Time in which operators run on the host and the device is idle."},                       \
        {"other_ns", TM_INT, "ns",                                                                 \
         "Rest of the step: time that, as far as recorded, is in no other part."},                 \
        {"input_ns", TM_INT, "ns",                                                                 \
         "Time of input: infeed_ns + input_wait_ns + host_to_device_ns."},                         \
        {"input_pct", TM_REAL, "%",                                                                \
         "Share of the step in input: 100 input_ns / step_ns. XProf calls a job input-bound from " \
         "20 on, and moderately input-bound from 5 on."},                                          \
        {"output_pct", TM_REAL, "%",                                                               \
         "Share of the step in output: 100 output_ns / step_ns. XProf judges it by the same "      \
         "limits as input_pct."},                                                                  \
        {"barrier_ns", TM_INT, "ns",                                                               \
         "Part of collectives_ns in which the device waits in the barrier before a program's "     \
         "first collective."},                                                                     \
        {"shuffle_ns", TM_INT, "ns",                                                               \
         "Part of the compute time in operations that only rearrange data, by XProf's data "       \
         "shuffle categories (broadcast, data formatting, gather, scatter, slice, sort, ...). "    \
         "Operations that run as copies are in device_to_device_ns instead. Null if no category "  \
         "is known."},                                                                             \
        {"sparse_core_ns", TM_INT, "ns",                                                           \
         "Time in which SparseCores run operations while their core does not compute. XProf also " \
         "counts time in which the core computes. Null without SparseCores."},                     \
    {                                                                                              \
        "bottleneck", TM_TEXT, "",                                                                 \
            "Part that takes the most time: compute, collectives, input, output, "                 \
            "device_to_device, offload, launch, compilation, host or other. Null without steps."   \
    }

enum { S_RANK, S_STEP, S_TIMES, S_SLOW = S_TIMES + N_TIMES, S_OVER, N_STEP_COLUMNS };

static const tm_column step_columns[] = {
    {"rank", TM_INT, "", "Global rank of the device or core."},
    {"step", TM_INT, "", "Number of the step; 0 if the trace marks no steps."},
    TIME_COLUMNS,
    {"slow", TM_TEXT, "",
     "Part of the step that makes the device slow: compute, input, launch (launch_ns, "
     "compilation_ns and host_ns) or copies (output_ns, device_to_device_ns and offload_ns). The "
     "device's time in this part exceeds the median of the devices with this step and program by "
     "at least 5 % of the step. If several parts do, the part with the largest excess. Null if the "
     "device is not slow."},
    {"over_ns", TM_INT, "ns",
     "How much longer the part of the step that makes the device slow (column slow) takes: its "
     "time on this device, minus the median over the devices with this step and program. Null if "
     "slow is null."},
};

enum {
    R_RANK,
    R_HOST,
    R_STEPS,
    R_TIMES,
    R_MIN = R_TIMES + N_TIMES,
    R_MEDIAN,
    R_MAX,
    R_MAX_STEP,
    R_SLOW,
    R_SLOW_STEPS,
    R_OVER,
    R_PROGRAM,
    N_RANK_COLUMNS
};

static const tm_column rank_columns[] = {
    {"rank", TM_INT, "", "Global rank of the device or core."},
    {"host", TM_TEXT, "", "Host of the rank."},
    {"steps", TM_INT, "",
     "Number of steps of the rank. If its trace marks no steps, 0; the other columns then cover "
     "the whole recording."},
    TIME_COLUMNS,
    {"min_input_pct", TM_REAL, "%", "Smallest share of input in a step (input_pct)."},
    {"median_input_pct", TM_REAL, "%", "Median share of input in a step (input_pct)."},
    {"max_input_pct", TM_REAL, "%", "Largest share of input in a step (input_pct)."},
    {"max_input_step", TM_INT, "",
     "Step with the largest share of input; the first if there are several."},
    {"slow", TM_TEXT, "",
     "Part that makes the device slow in most steps: the most frequent pod.step.slow. Null if "
     "fewer than half of all steps have it."},
    {"slow_steps", TM_INT, "",
     "Number of steps with the most frequent value of pod.step.slow, even if these are fewer than "
     "half of all steps."},
    {"over_ns", TM_INT, "ns", "Sum of pod.step.over_ns over the steps that slow_steps counts."},
    {"program", TM_TEXT, "",
     "Name of the compiled program with the most device time; null if unknown. This device is "
     "compared only with devices that have the same program, for example not with other pipeline "
     "stages."},
};

static const tm_table_def step_def = {
    .name = TM_POD_STEP,
    .doc = "A row for each device with an XProf profile and each of its steps: the time of the "
           "step by part. If these would be over 20,000 rows, the table has only the steps in "
           "which the device is slow.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 2,
    .top = S_OVER,
    .form = TM_FORM_MAP,
};

static const tm_table_def rank_def = {
    .name = TM_POD_RANK,
    .doc = "A row for each device with an XProf profile, over its steps: their time by part, how "
           "far they are bound by input, and whether the device is slow.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = R_TIMES + T_INPUT,
    .form = TM_FORM_BARS,
};

static const tm_table_def *const defs[] = {&rank_def, &step_def, &tm_pod_collective_def,
                                           &tm_pod_collective_part_def};

/* Returns the word of the part with the most time; the first if several have it. */
static const char *bottleneck_of(const int64_t *parts) {
    int64_t best_ns = -1;
    int best = TM_XLA_OTHER;
    for (int i = 0; i < TM_XLA_N_PARTS; i++) {
        int64_t ns = 0;
        for (int k = 0; k < TM_XLA_N_PARTS; k++)
            ns += strcmp(tm_xla_part_word(i), tm_xla_part_word(k)) == 0 ? parts[k] : 0;
        if (ns > best_ns) {
            best_ns = ns;
            best = i;
        }
    }
    return tm_xla_part_word(best);
}

static int64_t input_of(const int64_t *parts) {
    return parts[TM_XLA_INFEED] + parts[TM_XLA_INPUT_WAIT] + parts[TM_XLA_HOST_COPIES];
}

static int64_t sum_of(const int64_t *parts) {
    int64_t sum = 0;
    for (int i = 0; i < TM_XLA_N_PARTS; i++)
        sum += parts[i];
    return sum;
}

static tm_status set_times(tm_table *table, tm_cell *cells, const tm_xla_parts *reported,
                           const int64_t *parts, tm_error *err) {
    int64_t step_ns = sum_of(parts);
    tm_cell_set_int(&cells[T_STEP], step_ns);
    for (int i = 0; i < N_SHOWN; i++)
        tm_cell_set_int(&cells[T_PARTS + i],
                        parts[shown[i]] +
                            (shown[i] == TM_XLA_COLLECTIVES ? parts[TM_XLA_BARRIER] : 0));
    tm_cell_set_int(&cells[T_BARRIER], parts[TM_XLA_BARRIER]);
    if (reported->shuffles)
        tm_cell_set_int(&cells[T_SHUFFLE], parts[TM_XLA_SHUFFLE]);
    if (reported->sparse)
        tm_cell_set_int(&cells[T_SPARSE], parts[TM_XLA_SPARSE]);
    tm_cell_set_int(&cells[T_INPUT], input_of(parts));
    tm_cell_set_ratio(&cells[T_INPUT_PCT], 100, input_of(parts), step_ns);
    tm_cell_set_ratio(&cells[T_OUTPUT_PCT], 100, parts[TM_XLA_OUTPUT], step_ns);
    return tm_table_set_text(table, &cells[T_BOTTLENECK], step_ns > 0 ? bottleneck_of(parts) : NULL,
                             err);
}

static tm_status add_steps(const tm_timeline *timeline, const tm_xla_parts *reported,
                           tm_table *table, tm_error *err) {
    for (size_t i = 0; i < timeline->n_steps; i++) {
        const int64_t *parts = reported->ns + i * TM_XLA_N_TIMES;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[S_RANK], timeline->rank);
        tm_cell_set_int(&row[S_STEP], timeline->steps[i].number);
        TM_TRY(set_times(table, &row[S_TIMES], reported, parts, err));
    }
    return TM_OK;
}

/* Sets the minimum, median and maximum over the steps of the share of input. Shares are computed in
 * millionths of a percent. */
static bool set_shares(const tm_timeline *timeline, const int64_t *ns, tm_cell *row) {
    size_t n = timeline->n_steps, first = 0;
    int64_t *shares = malloc((n + 1) * sizeof *shares), largest = -1;
    for (size_t i = 0; shares && i < n; i++) {
        const int64_t *parts = ns + i * TM_XLA_N_TIMES;
        int64_t step_ns = sum_of(parts);
        shares[i] = step_ns > 0 ? (int64_t)(1e8 * (double)input_of(parts) / (double)step_ns) : 0;
        if (shares[i] > largest) {
            largest = shares[i];
            first = i;
        }
    }
    if (shares && n > 0) {
        tm_sort_values(shares, n);
        tm_cell_set_real(&row[R_MIN], (double)shares[0] / 1e6);
        tm_cell_set_real(&row[R_MEDIAN], (double)tm_median(shares, n) / 1e6);
        tm_cell_set_real(&row[R_MAX], (double)largest / 1e6);
        tm_cell_set_int(&row[R_MAX_STEP], timeline->steps[first].number);
    }
    free(shares);
    return shares != NULL;
}

/* Finds the program with the most device time; the first if several have it. Sets *out to
 * TM_NO_NAME if there is none. */
static bool find_program(const tm_timeline *timeline, uint32_t *out) {
    const tm_xla_attr *v = timeline->attrs[TM_ATTR_XLA];
    tm_keys programs = TM_KEYS(uint32_t);
    tm_vec times = TM_VEC(int64_t);
    int64_t most = 0;
    bool ok = true;
    *out = TM_NO_NAME;
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_XLA] && ok; i++) {
        if (v[i].program == TM_NO_NAME || timeline->role[v[i].event] == TM_ROLE_NONE)
            continue;
        int64_t *ns = tm_keys_value(&programs, &times, &v[i].program);
        ok = ns != NULL;
        if (ok)
            *ns = tm_sum(*ns, timeline->duration_ns[v[i].event]);
    }
    for (size_t i = 0; i < times.n && ok; i++)
        if (((const int64_t *)times.data)[i] > most) {
            most = ((const int64_t *)times.data)[i];
            *out = ((const uint32_t *)programs.keys.data)[i];
        }
    tm_keys_free(&programs);
    tm_vec_free(&times);
    return ok;
}

static tm_status add_rank(const tm_rank_view *view, const tm_xla_parts *reported, tm_table *table,
                          tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    int64_t parts[TM_XLA_N_TIMES] = {0};
    for (size_t i = 0; i < timeline->n_steps * TM_XLA_N_TIMES; i++)
        parts[i % TM_XLA_N_TIMES] += reported->ns[i];
    uint32_t program;
    tm_cell *row = tm_table_add_row(table);
    if (!row || !set_shares(timeline, reported->ns, row) || !find_program(timeline, &program))
        return tm_fail_memory(err);
    TM_TRY(tm_set_named(view->names, program, table, &row[R_PROGRAM], err));
    tm_cell_set_int(&row[R_RANK], timeline->rank);
    bool marked = timeline->n_steps > 0 && timeline->steps[0].annotated;
    tm_cell_set_int(&row[R_STEPS], marked ? (int64_t)timeline->n_steps : 0);
    if (tm_timeline_host(timeline) != TM_NO_NAME)
        TM_TRY(tm_set_named(view->names, tm_timeline_host(timeline), table, &row[R_HOST], err));
    return set_times(table, &row[R_TIMES], reported, parts, err);
}

static tm_status pod_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_xla_parts parts;
    if (!tm_xla_is(view) || !view->busy->any)
        return TM_OK;
    TM_TRY(tm_xla_parts_find(view, &parts, err));
    tm_status status = add_steps(view->timeline, &parts, tm_tables_find(out, step_def.name), err);
    if (status == TM_OK)
        status = add_rank(view, &parts, tm_tables_find(out, rank_def.name), err);
    free(parts.ns);
    return status == TM_OK ? tm_exchanges_rank(view, out, err) : status;
}

static tm_status pod_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    return tm_cells_judge(out, err);
}

const tm_analysis tm_analysis_pod = {
    .name = "pod",
    .summary = "the time of each step of each TPU core or GPU by part, as in XProf: input, "
               "computation, collectives; which devices are slow",
    TM_ARRAY(tables, defs),
    .rank = pod_rank,
    .merge = tm_exchanges_merge,
    .job = pod_job,
};

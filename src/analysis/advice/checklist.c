/* Analysis `checklist`: the checks of the guides ("boxes"), each with the job's value, the accepted
 * range and the result. If a box fails only because another box fails, the other box is named. */
#include "tmerge/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/device_means.h"
#include "analysis/shared/doubt.h"
#include "analysis/shared/words.h"
#include "checklist_xla.h"

enum { BOX, VALUE, UNIT, LEAST, MOST, RESULT, BECAUSE, MEANING, LOOK_AT, N_COLUMNS };

static const tm_column columns[N_COLUMNS] = {
    [BOX] = {"box", TM_TEXT, "", "Name of the check."},
    [VALUE] = {"value", TM_REAL, "", "Measured value; null if the traces do not contain it."},
    [UNIT] = {"unit", TM_TEXT, "", "Unit of value, least and most."},
    [LEAST] = {"least", TM_REAL, "",
               "Smallest value that passes; null if there is no lower limit."},
    [MOST] = {"most", TM_REAL, "", "Largest value that passes; null if there is no upper limit."},
    [RESULT] = {"result", TM_TEXT, "", "pass, fail, or unknown (value is null)."},
    [BECAUSE] =
        {"because", TM_TEXT, "",
         "Why the box fails or is unknown. If it fails only because another box fails: the name of "
         "that box, and the value without that problem. If unknown: what was not recorded."},
    [MEANING] = {"meaning", TM_TEXT, "", "What the value measures, and the accepted range."},
    [LOOK_AT] = {"look_at", TM_TEXT, "", "Names of the tables with details."},
};

static const tm_table_def box_def = {
    .name = "checklist.box",
    .doc = "A row for each check of published checklists for training on GPUs; for TensorFlow and "
           "JAX jobs, each check with XProf's limits. The limits are rules of thumb; advice.item "
           "and whatif.item show what costs this job time, and how much.",
    TM_ARRAY(columns, columns),
    .n_keys = 1,
    .top = -1,
    .n_prose = 3,
};

static const tm_table_def *const defs[] = {&box_def};

#define UNKNOWN ((double)NAN)
/* Limits that boxes and functions share [%]. */
#define USED_LEAST 80.0
#define WAITS_MOST 10.0
/* returned by the functions in `consequences` if out of memory; valid values are not negative */
#define OUT_OF_MEMORY (-1.0)

static double share(int64_t part, int64_t whole) {
    return whole > 0 ? tm_facts_percent(part, whole) : UNKNOWN;
}

static double at_least_zero(double value) {
    return value < 0.0 ? UNKNOWN : value;
}

/* Returns the share of time in which a kernel runs, including collectives that wait for other ranks
 * [%]. If some ranks have steps, counts only their steps. If no steps are marked, counts each
 * rank's time from its first to its last device work. */
static double kernels_run(const tm_facts *f) {
    const tm_table *ranks = tm_tables_find(f->tables, "overview.rank");
    double used = 0.0, steps = 0.0;
    if (tm_facts_int(f, "job.job", 0, "steps") <= 0)
        return share(tm_device_mean_sum(f->tables, "compute_ns") +
                         tm_device_mean_sum(f->tables, "exposed_comm_ns"),
                     f->window_ns);
    if (tm_tables_find(f->tables, "overlap.unmarked")->n_rows == 0)
        return at_least_zero(tm_facts_real(f, "overview.job", 0, "gpu_utilization_pct"));
    for (size_t i = 0; i < ranks->n_rows; i++) {
        double percent = tm_facts_real(f, "overview.rank", i, "gpu_utilization_pct");
        double step_ns = (double)tm_facts_int(f, "overview.rank", i, "step_ns");
        if (percent >= 0.0 && tm_facts_has_steps(f, tm_facts_int(f, "overview.rank", i, "rank"))) {
            used += percent * step_ns;
            steps += step_ns;
        }
    }
    return steps > 0.0 ? used / steps : UNKNOWN;
}

static int64_t or_zero(const tm_cell *cell) {
    return cell->null ? 0 : cell->value.i;
}

/* Returns the sum of a column as a share of step time [%]; as a share of the recordings if no steps
 * are marked. */
static double part_of_steps(const tm_facts *f, const char *column) {
    const tm_table *steps = tm_tables_find(f->tables, "overlap.step");
    int64_t part_ns = 0, window_ns = 0;
    if (tm_facts_int(f, "job.job", 0, "steps") <= 0)
        return share(tm_facts_sum(f, "overlap.rank", column), f->window_ns);
    for (size_t i = 0; i < steps->n_rows; i++) {
        if (!tm_facts_has_steps(f, tm_facts_int(f, "overlap.step", i, "rank")))
            continue;
        part_ns += or_zero(tm_table_cell(steps, i, column));
        window_ns += or_zero(tm_table_cell(steps, i, "window_ns"));
    }
    return part_ns > 0 ? share(part_ns, window_ns) : 0.0;
}

/* The result is unknown if unmatched communication decides whether the box passes. */
static double gpu_utilization(const tm_facts *f) {
    double used = kernels_run(f) - part_of_steps(f, "exposed_wait_ns");
    if (strcmp(tm_words_device(f->tables), "CPU") == 0)
        return UNKNOWN; /* CPUs also work outside of operators */
    double surely = used - part_of_steps(f, "exposed_unmatched_ns");
    return used >= USED_LEAST && surely < USED_LEAST ? UNKNOWN : fmax(used, 0.0);
}

static double step_variation(const tm_facts *f) {
    tm_facts_variation v;
    return tm_facts_vary(f, TM_STEPS_ALL, &v) ? v.percent : UNKNOWN;
}

/* Returns capacity_pct of the device that is nearest to its memory limit. */
static double memory(const tm_facts *f) {
    const tm_table *devices = tm_tables_find(f->tables, "memory.device");
    double most = UNKNOWN;
    for (size_t i = 0; i < devices->n_rows; i++) {
        const tm_cell *used = tm_table_cell(devices, i, "capacity_pct");
        if (!used->null && !(used->value.r <= most))
            most = used->value.r;
    }
    return most;
}

static double memory_growth(const tm_facts *f) {
    const tm_table *jobs = tm_tables_find(f->tables, "memory.job");
    return jobs->n_rows > 0 ? (double)tm_facts_sum(f, "memory.job", "growing_devices") : UNKNOWN;
}

/* Returns a phase as a share of the step time [%]. Waits for data do not count as step time. */
static double phase(const tm_facts *f, const char *column) {
    return share(tm_facts_sum(f, "phases.step", column),
                 tm_facts_sum(f, "phases.step", "step_ns") -
                     tm_facts_sum(f, "phases.step", "data_ns"));
}

/* The result is unknown for inference, which has no phases, and if kernels of unknown phase take a
 * tenth of the steps. */
static double forward_backward(const tm_facts *f) {
    return tm_facts_sum(f, "phases.step", "backward_ns") > 0 && phase(f, "gpu_other_ns") < 10.0
               ? phase(f, "forward_ns") + phase(f, "backward_ns")
               : UNKNOWN;
}

static double optimizer(const tm_facts *f) {
    return tm_facts_sum(f, "phases.step", "optimizer_ns") > 0 ? phase(f, "optimizer_ns") : UNKNOWN;
}

static double data_loading(const tm_facts *f) {
    return tm_facts_sum(f, "input.rank", "waits") > 0
               ? share(tm_facts_sum(f, "input.rank", "load_ns"),
                       tm_facts_sum(f, "input.rank", "step_ns"))
               : UNKNOWN;
}

static double exposed_communication(const tm_facts *f) {
    return tm_facts_sum(f, "overlap.rank", "comm_ns") > 0
               ? share(tm_facts_sum(f, "overlap.rank", "exposed_comm_ns"), f->window_ns)
               : UNKNOWN;
}

/* The result is unknown if unmatched communication decides whether the box passes. */
static double waits(const tm_facts *f) {
    double waited = share(tm_facts_sum(f, "overlap.rank", "exposed_wait_ns"), f->window_ns);
    double rest = share(tm_facts_sum(f, "overlap.rank", "exposed_unmatched_ns"), f->window_ns);
    bool any = tm_facts_sum(f, "overlap.rank", "comm_ns") > 0;
    return any && (waited > WAITS_MOST || waited + rest <= WAITS_MOST) ? waited : UNKNOWN;
}

static double exposed_without_waits(const tm_facts *f) {
    return exposed_communication(f) - waits(f);
}

static double copies(const tm_facts *f) {
    tm_advice found[2] = {{.measure = -1.0}, {.measure = -1.0}};
    if (tm_tables_find(f->tables, "transfers.kind")->n_rows == 0)
        return UNKNOWN;
    tm_look_pageable_copies(f, &found[0]);
    tm_look_exposed_copies(f, &found[1]);
    return fmin(fmax(found[0].measure, 0.0) + fmax(found[1].measure, 0.0), 100.0);
}

/* without recorded runtime calls, the host's waits are unknown */
static double synchronisation(const tm_facts *f) {
    return tm_tables_find(f->tables, "launches.api")->n_rows > 0
               ? share(tm_facts_sum(f, "idle.rank", "sync_ns"), f->window_ns)
               : UNKNOWN;
}

/* Compares ranks within each step, because another rank may have the most work in the next batch.
 */
static double balance(const tm_facts *f) {
    const tm_table *steps = tm_tables_find(f->tables, "imbalance.step");
    double above = 0.0, mean = 0.0;
    for (size_t i = 0; i < steps->n_rows && f->job->n_ranks > 1; i++)
        if (!tm_table_cell(steps, i, "imbalance_ns")->null) {
            above += (double)tm_facts_int(f, "imbalance.step", i, "imbalance_ns");
            mean += (double)tm_facts_int(f, "imbalance.step", i, "mean_compute_ns");
        }
    return mean > 0.0 ? 100.0 * above / mean : UNKNOWN;
}

/* Returns the value of gpu_utilization if no GPU waited for data. */
static double utilization_fed(const tm_facts *f) {
    double step_ns = (double)tm_facts_sum(f, "input.rank", "step_ns");
    double stall_ns = (double)tm_facts_sum(f, "input.rank", "stall_ns");
    return step_ns > stall_ns ? gpu_utilization(f) * step_ns / (step_ns - stall_ns) : UNKNOWN;
}

static double step_variation_balanced(const tm_facts *f) {
    tm_facts_variation v;
    return tm_facts_vary(f, TM_STEPS_BALANCED, &v) ? v.percent : UNKNOWN;
}

static double step_variation_calm(const tm_facts *f) {
    tm_facts_variation v;
    return tm_facts_vary(f, TM_STEPS_CALM, &v) ? v.percent : UNKNOWN;
}

static bool is_straggler(const tm_facts *f, int64_t rank) {
    const tm_table *ranks = tm_tables_find(f->tables, "stragglers.rank");
    size_t row = tm_table_find_row(ranks, &rank, 1);
    const tm_cell *verdict = row < ranks->n_rows ? tm_table_cell(ranks, row, "verdict") : NULL;
    return verdict && !verdict->null && strcmp(verdict->value.text, "straggler") == 0;
}

/* Returns the waits for ranks that are not named as stragglers. */
static double waits_for_others(const tm_facts *f) {
    const tm_table *ranks = tm_tables_find(f->tables, "stragglers.rank");
    double all_ns = 0.0, named_ns = 0.0;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        double caused_ns = (double)(or_zero(tm_table_cell(ranks, i, "direct_ns")) +
                                    or_zero(tm_table_cell(ranks, i, "indirect_ns")));
        bool named = is_straggler(f, or_zero(tm_table_cell(ranks, i, "rank")));
        all_ns += caused_ns;
        named_ns += named ? caused_ns : 0.0;
    }
    return all_ns > 0.0 ? waits(f) * (1.0 - named_ns / all_ns) : UNKNOWN;
}

/* Returns the waits without those from imbalance. Uneven work makes ranks wait, on average, for the
 * excess of the busiest rank's computation over the mean. */
static double waits_balanced(const tm_facts *f) {
    return fmax(waits(f) - share(tm_facts_sum(f, "imbalance.step", "imbalance_ns"),
                                 tm_facts_sum(f, "imbalance.step", "step_ns")),
                0.0);
}

static double exposed_for_others(const tm_facts *f) {
    return exposed_without_waits(f) + waits_for_others(f);
}

static double exposed_balanced(const tm_facts *f) {
    return exposed_without_waits(f) + waits_balanced(f);
}

/* Computation of the ranks in one step: sum and maximum [ns], and number of ranks. */
typedef struct loads {
    double sum, most, n;
} loads;

/* Adds a rank's rows [first, end) of overlap.step to @p of, which has an element for each row of
 * imbalance.step. Both tables are sorted by step. */
static void add_loads(const tm_facts *f, size_t first, size_t end, loads *of) {
    const tm_table *steps = tm_tables_find(f->tables, "imbalance.step");
    const tm_table *own = tm_tables_find(f->tables, "overlap.step");
    const int step = tm_table_column(steps->def, "step"),
              mean = tm_table_column(steps->def, "mean_compute_ns"),
              own_step = tm_table_column(own->def, "step"),
              compute = tm_table_column(own->def, "compute_ns"),
              partial = tm_table_column(own->def, "partial"),
              window = tm_table_column(own->def, "window_ns");
    const bool late = is_straggler(f, or_zero(tm_table_cell(own, first, "rank")));
    for (size_t row = first, i = 0; row < end && i < steps->n_rows;) {
        const tm_cell *a = tm_table_row(own, row), *b = tm_table_row(steps, i);
        const int64_t load = or_zero(&a[compute]);
        if (a[own_step].value.i != b[step].value.i) {
            a[own_step].value.i < b[step].value.i ? row++ : i++;
            continue;
        }
        if (!(late && load > or_zero(&b[mean])) && or_zero(&a[partial]) == 0 &&
            or_zero(&a[window]) > 0) {
            of[i].sum += (double)load;
            of[i].most = fmax(of[i].most, (double)load);
            of[i].n++;
        }
        row++;
    }
}

/* Returns the balance of the ranks, without stragglers that compute more than the mean. A straggler
 * that computes less stays in, because it does not explain why others compute more. */
static double balance_of_others(const tm_facts *f) {
    const size_t n = tm_tables_find(f->tables, "imbalance.step")->n_rows;
    const tm_table *own = tm_tables_find(f->tables, "overlap.step");
    const int rank = tm_table_column(own->def, "rank");
    loads *of = calloc(n + 1, sizeof *of);
    double above = 0.0, means = 0.0;
    if (!of)
        return OUT_OF_MEMORY;
    for (size_t first = 0, end = 0; first < own->n_rows; first = end) {
        while (end < own->n_rows &&
               tm_table_row(own, end)[rank].value.i == tm_table_row(own, first)[rank].value.i)
            end++;
        add_loads(f, first, end, of);
    }
    for (size_t i = 0; i < n; i++)
        if (of[i].n > 0.0) {
            above += of[i].most - of[i].sum / of[i].n;
            means += of[i].sum / of[i].n;
        }
    free(of);
    return means > 0.0 ? 100.0 * above / means : UNKNOWN;
}

/* Returns the number of findings with a p-value. Findings on bubbles and events have no p-value.
 * Returns UNKNOWN if the verdict is inconclusive. */
static double stragglers(const tm_facts *f) {
    const tm_table *findings = tm_tables_find(f->tables, "stragglers.finding");
    double named = 0.0;
    const tm_table *job = tm_tables_find(f->tables, "stragglers.job");
    const tm_cell *verdict = job->n_rows > 0 ? tm_table_cell(job, 0, "verdict") : NULL;
    if (f->job->n_ranks < 2 || !verdict || verdict->null ||
        strcmp(verdict->value.text, "inconclusive") == 0)
        return UNKNOWN;
    for (size_t i = 0; i < findings->n_rows; i++)
        named += !tm_table_cell(findings, i, "p")->null;
    return named;
}

/* Unknown for TPUs, because their operations are not launched one by one. */
static double short_kernels(const tm_facts *f) {
    if (strcmp(tm_words_device(f->tables), "TPU") == 0)
        return UNKNOWN;
    const tm_facts_kernels kernels = tm_facts_sum_kernels(f);
    return share(kernels.under_100_us, kernels.calls);
}

/* Returns the share of work in low precision, among work that tensor cores could do. The result is
 * unknown if the number format is unknown for most of this work. */
static double low_precision(const tm_facts *f) {
    int64_t low = tm_facts_of_class(f, NULL, "bits8_ns") + tm_facts_of_class(f, NULL, "bits16_ns") +
                  tm_facts_of_class(f, NULL, "tf32_ns");
    int64_t known = low + tm_facts_of_class(f, NULL, "bits32_ns");
    int64_t all = tm_facts_of_class(f, "matrix multiply", "total_ns") +
                  tm_facts_of_class(f, "convolution", "total_ns") +
                  tm_facts_of_class(f, "attention", "total_ns");
    return 2 * known >= all ? share(low, known) : UNKNOWN;
}

/* If attention is not fused, it writes its scores to memory, and a separate kernel computes their
 * softmax. */
static double fused_attention(const tm_facts *f) {
    return share(tm_facts_of_class(f, NULL, "flash_ns"),
                 tm_facts_of_class(f, "attention", "total_ns") +
                     tm_facts_of_class(f, "softmax", "attention_ns"));
}

static const struct box {
    const char *name, *unit;
    double least, most; /* UNKNOWN: no limit */
    tm_box_measure *measure;
    const char *meaning, *look_at;
    tm_whose whose;
} boxes[] = {
    {"gpu_utilization", "%", USED_LEAST, UNKNOWN, gpu_utilization,
     "Share of the step time in which a kernel runs and does more than wait for other ranks; "
     "without marked steps, share of the time from a GPU's first event to its last. Under 50 % is "
     "serious.",
     "overview.rank, idle.rank", TM_OF_ANY},
    {"step_variation", "%", UNKNOWN, 10, step_variation,
     "Standard deviation of the durations of whole steps as a share of their mean. The first step "
     "of a recording does not count, because earlier work runs into it.",
     "imbalance.step, overview.step", TM_OF_ANY},
    {"memory", "%", 50, 95, memory,
     "Peak memory of the fullest device (reserved memory if recorded) as a share of its capacity, "
     "or of its allocator's limit. 85 to 95 % is the guides' ideal; under 50 % there is room for a "
     "larger batch.",
     "memory.device, memory.category", TM_OF_ANY},
    {"memory_growth", "devices", UNKNOWN, 0, memory_growth,
     "Devices whose memory grows step by step.", "memory.device, memory.live", TM_OF_ANY},
    {"forward_backward", "%", 75, UNKNOWN, forward_backward,
     "Forward and backward pass, as a share of the step time without waits for data: 35 to 40 % "
     "and 40 to 45 % are usual.",
     "phases.step", TM_OF_OTHERS},
    {"optimizer", "%", UNKNOWN, 15, optimizer,
     "Time in the optimizer, as a share of the step time without waits for data; with gradient "
     "accumulation, as a share of the time of all micro-batches of an update.",
     "phases.step", TM_OF_OTHERS},
    {"data_loading", "%", UNKNOWN, 10, data_loading,
     "Step time in which a rank waits for its next batch, whether its GPU is idle or not.",
     "input.rank, input.step", TM_OF_OTHERS},
    {"exposed_communication", "%", UNKNOWN, 10, exposed_communication,
     "GPU time with communication and no concurrent computation, including waits for late ranks.",
     "overlap.rank, overlap.kind, collectives.kind", TM_OF_ANY},
    {"waits", "%", UNKNOWN, WAITS_MOST, waits,
     "GPU time of exposed communication in which a GPU waits inside a collective for ranks that "
     "arrive later.",
     "stragglers.rank, collectives.kind", TM_OF_ANY},
    {"copies", "%", UNKNOWN, 2, copies,
     "GPU time with copies to or from the host and no concurrent computation.",
     "transfers.kind, transfers.size", TM_OF_ANY},
    {"synchronisation", "%", UNKNOWN, 2, synchronisation,
     "GPU time lost because the host had waited for the GPU and the GPU's queue was empty; each "
     "loss counts for at most the duration of the wait.",
     "sync.call, idle.gap", TM_OF_ANY},
    {"balance", "%", UNKNOWN, 10, balance,
     "Computation of the rank that computes longest in a step, beyond the mean of all ranks, "
     "summed over all steps.",
     "imbalance.step, overlap.step", TM_OF_ANY},
    {"stragglers", "findings", UNKNOWN, 0, stragglers,
     "Ranks, hosts or groups that take longer by themselves than chance explains.",
     "stragglers.finding, whatif.item", TM_OF_OTHERS},
    {"stragglers", "findings", UNKNOWN, 0, stragglers,
     "Ranks, hosts or groups that take longer by themselves than chance explains. XProf names "
     "hosts that are 3.5 scaled median deviations off if there are at least 3 hosts. Even if all "
     "hosts are equal, this names a host in 28 % of jobs with 3 hosts and in 13 % of jobs with 8 "
     "(simulated). tmerge decides by permutations instead.",
     "stragglers.finding, whatif.item", TM_OF_XLA},
    {"short_kernels", "%", UNKNOWN, 50, short_kernels,
     "Compute kernels that take under 100 us, as a share of the number of compute kernels.",
     "kernels.kernel, launches.rank", TM_OF_ANY},
    {"low_precision", "%", 50, UNKNOWN, low_precision,
     "Time of matrix multiplications, convolutions and attention in 8 or 16 bits or TF32, as a "
     "share of the time of those whose kernel names show the number format.",
     "classes.work", TM_OF_ANY},
    {"fused_attention", "%", 50, UNKNOWN, fused_attention,
     "Time of attention in kernels that never write the scores (flash), as a share of all "
     "attention and its softmax.",
     "classes.work, kernels.kernel", TM_OF_ANY},
    /* XProf's bounds are from convert/op_stats_to_input_pipeline_analysis.cc,
       op_stats_to_overview_page.cc, smart_suggestion/constants.h. */
    {"input", "%", UNKNOWN, 5, tm_box_xla_input,
     "Step time in which a GPU only waits for its input or receives it. XProf calls a job "
     "moderately input-bound from 5 % on, and highly from 20 % on.",
     "pod.rank, pipeline.stage", TM_OF_XLA},
    {"output", "%", UNKNOWN, 5, tm_box_xla_output,
     "Step time in which a GPU only sends its output. XProf calls a job moderately "
     "output-bound from 5 % on, and highly from 20 % on.",
     "pod.rank, transfers.kind", TM_OF_XLA},
    {"kernel_launch", "%", UNKNOWN, 3, tm_box_xla_launch,
     "Step time in which the host launches and the GPU idles. XProf calls it moderate from 3 % "
     "on, and high from 15 % on.",
     "pod.rank, launches.rank", TM_OF_XLA},
    {"collectives", "%", UNKNOWN, 3, tm_box_xla_collectives,
     "Step time in which a GPU only communicates or waits for others to arrive. XProf calls it "
     "moderate from 3 % on, and high from 15 % on.",
     "pod.rank, pod.collective", TM_OF_XLA_GPU},
    {"collectives", "%", UNKNOWN, 6, tm_box_xla_collectives,
     "Step time in which a GPU only communicates or waits for others to arrive. XProf's limits for "
     "TPUs are 6 % for all-reduces, from which it subtracts the share of input, and 30 % for all "
     "collectives.",
     "pod.rank, pod.collective", TM_OF_XLA_TPU},
    {"barrier", "%", UNKNOWN, 10, tm_box_xla_barrier,
     "Step time in the barriers before programs' collectives, in which GPUs wait until all have "
     "arrived. XProf calls more than 10 % a bottleneck, and leaves this time out of its all-reduce "
     "time.",
     "pod.rank, pod.collective", TM_OF_XLA},
    {"device_to_device", "%", UNKNOWN, 3, tm_box_xla_device_copies,
     "Step time in which a GPU only copies or sets memory, its own or another's; XProf has no "
     "limit for it; tmerge uses the limit for collectives.",
     "pod.rank, transfers.kind", TM_OF_XLA},
    {"other_time", "%", UNKNOWN, 3, tm_box_xla_other,
     "Step time that the profile does not explain. XProf calls it moderate from 3 % on, and "
     "high from 15 % on.",
     "pod.rank, idle.gap", TM_OF_XLA},
    {"compute_16_bit", "%", 10, UNKNOWN, tm_facts_bits,
     "Computation in types of 16 bits or fewer, as a share of the computation whose type is known; "
     "XProf asks for at least 10 %.",
     "pod.rank, hlo.work", TM_OF_XLA},
    {"asynchronous", "%", UNKNOWN, 10, tm_box_xla_async,
     "Waiting for transfers and collectives that were started earlier (-done), as a share of the "
     "time of XLA's operations; XProf calls more than 10 % a bottleneck.",
     "hlo.work", TM_OF_XLA},
    {"data_shuffle", "%", UNKNOWN, 30, tm_box_xla_shuffle,
     "Step time in which a GPU runs operations that only rearrange data (broadcast, data "
     "formatting, gather, scatter, slice, sort, ...). XProf calls it a bottleneck from 30 % on.",
     "pod.rank, hlo.work", TM_OF_XLA},
    {"sparse_core", "%", UNKNOWN, 10, tm_box_xla_sparse,
     "Step time in which SparseCores work and their TPU core computes nothing; XProf calls more "
     "than 10 % a bottleneck, and also counts time that overlaps computation.",
     "pod.rank, pod.step", TM_OF_XLA},
};
enum { N_BOXES = sizeof boxes / sizeof *boxes };

/* A box that can fail because another box (`cause`) fails, and a function that returns the first
 * box's value without that problem. If several rows explain a failure, the first is reported. */
static const struct consequence {
    const char *box, *cause, *without;
    tm_box_measure *measure;
} consequences[] = {
    {"gpu_utilization", "data_loading", "without GPUs idle for data", utilization_fed},
    {"gpu_utilization", "waits", "with waits counted as use", kernels_run},
    {"exposed_communication", "waits", "without waits", exposed_without_waits},
    {"exposed_communication", "stragglers", "without waits for stragglers", exposed_for_others},
    {"exposed_communication", "balance", "if no rank computed more than the mean",
     exposed_balanced},
    {"waits", "stragglers", "without waits for stragglers", waits_for_others},
    {"waits", "balance", "if no rank computed more than the mean", waits_balanced},
    {"step_variation", "stragglers", "outside the stragglers' episodes", step_variation_calm},
    {"step_variation", "balance", "if no rank computed more than the mean",
     step_variation_balanced},
    {"balance", "stragglers", "over the other ranks", balance_of_others},
};
enum { N_CONSEQUENCES = sizeof consequences / sizeof *consequences };

static bool fails(const struct box *box, double value) {
    return value < box->least || value > box->most; /* false for an unknown value (NaN) */
}

static const struct box *box_named(const char *name) {
    const struct box *box = boxes;
    while (strcmp(box->name, name) != 0)
        box++;
    return box;
}

static tm_status set_because(const tm_facts *f, const struct box *box, tm_table *table,
                             tm_cell *row, tm_error *err) {
    char text[120];
    for (const struct consequence *c = consequences; c < consequences + N_CONSEQUENCES; c++) {
        const struct box *cause = box_named(c->cause);
        double value = strcmp(box->name, c->box) == 0 ? c->measure(f) : UNKNOWN;
        if (value == OUT_OF_MEMORY)
            return tm_fail_memory(err);
        if (isnan(value) || fails(box, value) || !fails(cause, cause->measure(f)))
            continue;
        snprintf(text, sizeof text, "fails because of %s: %s, it would be %.4g %s", c->cause,
                 c->without, value, box->unit);
        return tm_table_set_text(table, &row[BECAUSE], text, err);
    }
    return TM_OK;
}

/* Returns whether a box's value is in doubt because device work was not recorded. */
static bool is_doubted(const tm_facts *f, const struct box *box) {
    return tm_doubt_of_job(f->tables) && strncmp(box->name, "memory", strlen("memory")) != 0 &&
           strcmp(box->name, "data_loading") != 0;
}

static tm_status set_doubt(const tm_facts *f, tm_table *table, tm_cell *row, tm_error *err) {
    char what[TM_DOUBT_TEXT] = "", text[TM_DOUBT_TEXT + 64];
    tm_doubt_text(f->tables, what);
    snprintf(text, sizeof text, "in doubt: %s", what);
    return tm_table_set_text(table, &row[BECAUSE], text, err);
}

static tm_status add_box(const tm_facts *f, const struct box *box, tm_table *table, tm_error *err) {
    const bool doubted = is_doubted(f, box);
    double value = doubted ? UNKNOWN : box->measure(f);
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    if (!isnan(value))
        tm_cell_set_real(&row[VALUE], value);
    if (!isnan(box->least))
        tm_cell_set_real(&row[LEAST], box->least);
    if (!isnan(box->most))
        tm_cell_set_real(&row[MOST], box->most);
    TM_TRY(tm_table_set_text(table, &row[BOX], box->name, err));
    TM_TRY(tm_table_set_text(table, &row[UNIT], box->unit, err));
    TM_TRY(tm_table_set_text(table, &row[RESULT],
                             isnan(value)        ? "unknown"
                             : fails(box, value) ? "fail"
                                                 : "pass",
                             err));
    if (doubted)
        TM_TRY(set_doubt(f, table, row, err));
    if (fails(box, value))
        TM_TRY(set_because(f, box, table, row, err));
    TM_TRY(tm_table_set_text(table, &row[MEANING], box->meaning, err));
    return tm_table_set_text(table, &row[LOOK_AT], box->look_at, err);
}

static tm_status checklist_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_facts facts = {.tables = out, .job = job, .straggler = -1};
    facts.window_ns = tm_facts_sum(&facts, "overlap.rank", "window_ns");
    for (size_t i = 0; i < N_BOXES && facts.window_ns > 0; i++)
        if (tm_facts_is_of(&facts, boxes[i].whose))
            TM_TRY(add_box(&facts, &boxes[i], tm_tables_find(out, box_def.name), err));
    return TM_OK;
}

const tm_analysis tm_analysis_checklist = {
    .name = "checklist",
    .summary = "the checklist of tuning guides: which values are in their range, and which are not",
    TM_ARRAY(tables, defs),
    .job = checklist_job,
};

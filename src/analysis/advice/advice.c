/* Analysis `advice`: lists what to do, worst problem first. It reads only tables of other analyses.
 * Each rule subtracts the time that earlier rules explain, so no cause is counted twice. */
#include "tmerge/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice_rules.h"
#include "analysis/shared/doubt.h"
#include "analysis/shared/fixes.h"
#include "analysis/shared/words.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "table/shown.h"

enum {
    RULE,
    SEVERITY,
    SAVED,
    SAVED_PCT,
    AT_MOST,
    COST,
    BOUND,
    RANKS,
    TEXT,
    SAVES,
    EVIDENCE,
    LOOK_AT
};

static const tm_column columns[] = {
    [RULE] = {"rule", TM_TEXT, "", "Name of the finding, such as straggler, imbalance or input."},
    [SEVERITY] = {"severity", TM_TEXT, "",
                  "critical, warning or note. If saved_pct is known and exact: critical from 10 %, "
                  "warning from 2 %. If it is unknown: by the rule's own thresholds. If it is an "
                  "upper bound (at_most) and the rule is not imbalance: the less severe of the "
                  "severities by saved_pct and by the rule's thresholds, and never critical for a "
                  "pipeline's bubble."},
    [SAVED] =
        {"saved_ns", TM_INT, "ns",
         "Time by which the fix shortens a mean step, computed by replay (whatif.item). Null "
         "if unknown. Savings of several items do not add up. straggler: the named ranks are "
         "fixed. late_ranks: the ranks of the plan in whatif.item are fixed, and the saving "
         "of another item that names ranks is subtracted. imbalance: a rank computes as "
         "long as the other ranks; an upper bound (at_most) if its work can only move to another "
         "rank. If the work of all ranks is to be balanced: each rank computes for the mean time "
         "of all ranks (even in whatif.item), also an upper bound. uneven_stages: see "
         "whatif.split. slow_network, slow_link: see "
         "whatif.network. Other "
         "rules give an upper bound: one kind of work takes no time, or twice as many "
         "micro-batches halve a pipeline's bubble."},
    [SAVED_PCT] = {"saved_pct", TM_REAL, "%",
                   "saved_ns as a share of the mean step: 100 saved_ns / whatif.job.step_ns."},
    [AT_MOST] = {"at_most", TM_BOOL, "",
                 "Whether saved_ns is an upper bound. Null if saved_ns is null."},
    [COST] = {"cost_ns", TM_INT, "ns",
              "GPU time that a rank loses to this problem, without the time that other items "
              "explain. It is the mean over all ranks; for the rule straggler, over the ranks that "
              "wait for the named ranks. Null if the problem does not cost time."},
    [BOUND] = {"bound", TM_TEXT, "",
               "How exact cost_ns is; null if cost_ns is null. exact: GPUs were idle for all of "
               "it. upper: the fix shortens a rank's own work by at most cost_ns; waits for other "
               "ranks may get shorter, too."},
    [RANKS] = {"ranks", TM_TEXT, "", "Ranks that the finding is about, or the word all."},
    [TEXT] = {"text", TM_TEXT, "", "Advice: what to do about the finding."},
    [SAVES] = {"saves", TM_TEXT, "",
               "saved_ns as a sentence. Null if saved_ns is zero, unknown, or a bound of nearly "
               "the whole step."},
    [EVIDENCE] = {"evidence", TM_TEXT, "", "Measured figures that support the advice."},
    [LOOK_AT] = {"look_at", TM_TEXT, "", "Names of the tables with details."},
};

static const tm_table_def item_def = {
    .name = "advice.item",
    .doc =
        "A row for each piece of advice, sorted by severity and then by saved_ns. Items that may "
        "stop the job come first. With equal severity, items with an exact saving come first, then "
        "items whose saving is an upper bound (at_most, except imbalance), then items with only a "
        "cost (straggler first), then items without a time. For sorting, bounds and costs are "
        "halved, because a fix rarely removes all of them; only waits for batches count in full. "
        "Items that save nothing in a replay are left out. A job without problems has no rows.",
    TM_ARRAY(columns, columns),
    .n_keys = 1,
    .top = SAVED,
    .n_prose = 4,
};

static const tm_table_def *const defs[] = {&item_def};

enum { TM_SAVES_MAX = 192 };

static const char *const severities[] = {"note", "warning", "critical"};
enum { N_SEVERITIES = sizeof severities / sizeof *severities };

#define NEVER HUGE_VAL

/* The rules. Each compares a measure [%] with its thresholds. The comment beside or above a rule's
 * name describes the measure. Without a comment, the measure is a share of the job's GPU time.
 * "guides:" means that the thresholds are from the guides of PyTorch, TensorBoard and the vendors,
 * and "XProf:" that they are from XProf. In jobs with XProf's traces, XProf's rules replace those
 * of the guides. */
static const struct {
    const char *name;
    double at[N_SEVERITIES]; /* minimum measure [%] for a note, a warning, a critical item; NEVER:
                                no such severity */
    tm_rule_look *look;
    const char *look_at;
    /* `what` and `name` of the row of whatif.item that has the saving; NULL: the saving is
     * unknown */
    const char *item, *of;
    tm_whose whose;
} rules[TM_N_RULES] = {
    [TM_RULE_RECORDING] = {"recording", /* possible error of the figures */
                           {NEVER, 5, 100},
                           tm_look_recording,
                           "job.integrity, job.remark",
                           NULL,
                           NULL,
                           TM_OF_ANY},
    [TM_RULE_STRAGGLER] = {"straggler",
                           {1, 2, 10},
                           tm_look_straggler,
                           "stragglers.rank, overlap.rank, idle.gap",
                           "named",
                           "",
                           TM_OF_ANY},
    [TM_RULE_UNEVEN_STAGES] = {"uneven_stages", /* share of a step that the fix saves */
                               {1, 2, 10},
                               tm_look_uneven_stages,
                               "whatif.split",
                               "split",
                               "",
                               TM_OF_ANY},
    [TM_RULE_SLOW_NETWORK] = {"slow_network", /* share of a step that the fix saves */
                              {1, 2, 10},
                              tm_look_slow_network,
                              "whatif.network, groups.link",
                              "network",
                              "",
                              TM_OF_ANY},
    [TM_RULE_SLOW_LINK] = {"slow_link", /* share of a step that the fix saves */
                           {1, 2, 10},
                           tm_look_slow_link,
                           "whatif.network, groups.link",
                           "link",
                           "",
                           TM_OF_ANY},
    [TM_RULE_IMBALANCE] = {"imbalance", /* guides: maximum / mean computation - 1 */
                           {NEVER, 10, 25},
                           tm_look_imbalance,
                           "imbalance.step, overlap.step",
                           "kind",
                           "compute",
                           TM_OF_ANY},
    [TM_RULE_LATE_RANKS] = {"late_ranks",
                            {5, 10, 25},
                            tm_look_late_ranks,
                            "stragglers.step, stragglers.rank, idle.gap",
                            "plan",
                            "",
                            TM_OF_ANY},
    [TM_RULE_INPUT] = {"input", /* guides: share of step time */
                       {NEVER, 5, 10},
                       tm_look_input,
                       "input.rank, input.step",
                       "limit",
                       "input",
                       TM_OF_OTHERS},
    [TM_RULE_XLA_INPUT] = {"input", /* XProf: share of step time */
                           {NEVER, 5, 20},
                           tm_look_xla_input,
                           "pod.rank, pod.step, pipeline.stage",
                           "limit",
                           "input",
                           TM_OF_XLA},
    [TM_RULE_XLA_INPUT_HOST] = {"input_host", /* XProf: host's share of input time */
                                {50, NEVER, NEVER},
                                tm_look_xla_input_host,
                                "pipeline.host, pipeline.stage",
                                NULL,
                                NULL,
                                TM_OF_XLA},
    [TM_RULE_XLA_INPUT_TRANSFER] = {"input_transfer", /* XProf: transfers' share of input time */
                                    {30, NEVER, NEVER},
                                    tm_look_xla_input_transfer,
                                    "pipeline.host, transfers.kind, transfers.size",
                                    NULL,
                                    NULL,
                                    TM_OF_XLA},
    [TM_RULE_SMALL_KERNELS] = {"small_kernels",
                               {2, 5, 15},
                               tm_look_small_kernels,
                               "kernels.kernel, launches.rank, idle.rank",
                               "limit",
                               "host",
                               TM_OF_ANY},
    [TM_RULE_SCHEDULER_GAPS] = {"scheduler_gaps",
                                {2, 5, 15},
                                tm_look_scheduler_gaps,
                                "overlap.step, steps.kind, idle.gap",
                                NULL,
                                NULL,
                                TM_OF_OTHERS},
    [TM_RULE_DECODE_BATCH] = {"decode_batch", /* reduction of the time per request */
                              {20, NEVER, NEVER},
                              tm_look_decode_batch,
                              "steps.mark, steps.kind",
                              NULL,
                              NULL,
                              TM_OF_OTHERS},
    [TM_RULE_XLA_LAUNCH] = {"kernel_launch", /* XProf: share of step time */
                            {NEVER, 3, 15},
                            tm_look_xla_launch,
                            "pod.rank, launches.rank, idle.gap",
                            "limit",
                            "host",
                            TM_OF_XLA},
    [TM_RULE_XLA_OUTPUT] = {"output", /* XProf: share of step time */
                            {NEVER, 5, 20},
                            tm_look_xla_output,
                            "pod.rank, transfers.kind",
                            "limit",
                            "copy",
                            TM_OF_XLA},
    [TM_RULE_PAGEABLE_COPIES] = {"pageable_copies",
                                 {1, 5, 15},
                                 tm_look_pageable_copies,
                                 "transfers.kind, transfers.size",
                                 "limit",
                                 "copy",
                                 TM_OF_ANY},
    [TM_RULE_EXPOSED_COPIES] = {"exposed_copies",
                                {2, 5, 15},
                                tm_look_exposed_copies,
                                "transfers.kind, transfers.size",
                                "limit",
                                "copy",
                                TM_OF_ANY},
    [TM_RULE_XLA_DEVICE_COPIES] = {"device_to_device", /* XProf: share of step time */
                                   {NEVER, 3, 15},
                                   tm_look_xla_device_copies,
                                   "pod.rank, transfers.kind",
                                   "limit",
                                   "copy",
                                   TM_OF_XLA},
    [TM_RULE_DEVICE_ALLOCATION] = {"device_allocation",
                                   {0, 1, 10},
                                   tm_look_device_allocation,
                                   "transfers.allocation, memory.device",
                                   NULL,
                                   NULL,
                                   TM_OF_ANY},
    [TM_RULE_XLA_BARRIER] = {"barrier", /* XProf: share of step time */
                             {NEVER, 10, NEVER},
                             tm_look_xla_barrier,
                             "pod.rank, pod.collective, stragglers.rank",
                             NULL,
                             NULL,
                             TM_OF_XLA},
    [TM_RULE_XLA_COLLECTIVES] = {"collectives", /* XProf: share of step time */
                                 {NEVER, 3, 15},
                                 tm_look_xla_collectives,
                                 "pod.rank, pod.collective",
                                 "limit",
                                 "transfer",
                                 TM_OF_XLA_GPU},
    [TM_RULE_TPU_COLLECTIVES] =
        {"collectives", /* XProf: share of step time in all-reduces, or in all collectives */
         {NEVER, 6, 30},
         tm_look_xla_collectives,
         "pod.rank, pod.collective",
         "limit",
         "transfer",
         TM_OF_XLA_TPU},
    [TM_RULE_XLA_ASYNC] = {"asynchronous", /* XProf: share of the time of XLA's operations */
                           {NEVER, 10, NEVER},
                           tm_look_xla_async,
                           "hlo.work",
                           NULL,
                           NULL,
                           TM_OF_XLA},
    [TM_RULE_XLA_SHUFFLE] = {"data_shuffle", /* XProf: share of step time */
                             {NEVER, 30, NEVER},
                             tm_look_xla_shuffle,
                             "pod.rank, hlo.work",
                             NULL,
                             NULL,
                             TM_OF_XLA},
    [TM_RULE_XLA_SPARSE] = {"sparse_core", /* XProf: share of step time without computation */
                            {NEVER, 10, NEVER},
                            tm_look_xla_sparse,
                            "pod.rank, pod.step",
                            NULL,
                            NULL,
                            TM_OF_XLA},
    [TM_RULE_EXPOSED_COMMUNICATION] = {"exposed_communication",
                                       {5, 10, 25},
                                       tm_look_exposed_communication,
                                       "overlap.rank, overlap.kind, collectives.kind",
                                       "limit",
                                       "transfer",
                                       TM_OF_OTHERS},
    [TM_RULE_COMMUNICATION] = {"communication", /* guides: share of GPU time */
                               {NEVER, 10, 25},
                               tm_look_communication,
                               "overlap.kind, collectives.kind",
                               "limit",
                               "transfer",
                               TM_OF_OTHERS},
    /* idle share of GPU time; the guides give the thresholds as utilization: 80, 70 and 50 % */
    [TM_RULE_GPU_UTILIZATION] = {"gpu_utilization",
                                 {20, 30, 50},
                                 tm_look_gpu_utilization,
                                 "idle.rank, idle.gap, overview.rank",
                                 "limit",
                                 "host",
                                 TM_OF_OTHERS},
    [TM_RULE_XLA_OTHER] = {"other_time", /* XProf: share of step time */
                           {NEVER, 3, 15},
                           tm_look_xla_other,
                           "pod.rank, idle.gap",
                           "limit",
                           "host",
                           TM_OF_XLA},
    [TM_RULE_STEP_VARIATION] = {"step_variation", /* guides: standard deviation / mean */
                                {NEVER, 10, 30},
                                tm_look_step_variation,
                                "overview.step, phases.step",
                                NULL,
                                NULL,
                                TM_OF_ANY},
    [TM_RULE_OPTIMIZER] = {"optimizer", /* guides: share of step time */
                           {15, 25, 40},
                           tm_look_optimizer,
                           "phases.step, calls.call",
                           NULL,
                           NULL,
                           TM_OF_ANY},
    [TM_RULE_TENSOR_CORES] = {"tensor_cores", /* share of compute time */
                              {10, 30, NEVER},
                              tm_look_tensor_cores,
                              "calls.call, kernels.kernel",
                              NULL,
                              NULL,
                              TM_OF_ANY},
    [TM_RULE_PRECISION] = {"precision", /* share of compute time */
                           {10, 30, NEVER},
                           tm_look_precision,
                           "classes.work, efficiency.work, kernels.kernel",
                           NULL,
                           NULL,
                           TM_OF_OTHERS},
    [TM_RULE_XLA_BITS] = {"compute_16_bit", /* XProf: share of computation in more than 16 bits */
                          {90, NEVER, NEVER},
                          tm_look_xla_bits,
                          "pod.rank, hlo.work",
                          NULL,
                          NULL,
                          TM_OF_XLA},
    [TM_RULE_ATTENTION] = {"attention", /* share of compute time */
                           {5, 15, NEVER},
                           tm_look_attention,
                           "classes.work, kernels.launched, efficiency.work",
                           NULL,
                           NULL,
                           TM_OF_ANY},
    [TM_RULE_MEMORY] = {"memory", /* used share of the device's memory */
                        {NEVER, 95, 98},
                        tm_look_memory,
                        "memory.device, memory.owner, transfers.allocation",
                        NULL,
                        NULL,
                        TM_OF_ANY},
    [TM_RULE_MEMORY_ROOM] = {"memory_room", /* guides: free share of the device's memory */
                             {50, NEVER, NEVER},
                             tm_look_memory_room,
                             "memory.device, memory.step",
                             NULL,
                             NULL,
                             TM_OF_ANY},
    [TM_RULE_MEMORY_GROWTH] = {"memory_growth", /* share of free memory that 1,000 steps use up */
                               {0.01, 0.1, 100},
                               tm_look_memory_growth,
                               "memory.step, memory.live, memory.owner",
                               NULL,
                               NULL,
                               TM_OF_ANY},
    /* excess of the step's peak over the highest peak of other steps */
    [TM_RULE_MEMORY_SPIKE] = {"memory_spike",
                              {10, NEVER, NEVER},
                              tm_look_memory_spike,
                              "memory.step, memory.live",
                              NULL,
                              NULL,
                              TM_OF_ANY},
    [TM_RULE_CLOCK_QUALITY] = {"clock_quality", /* share of collectives that violate causality */
                               {NEVER, 1, 10},
                               tm_look_clock_quality,
                               "clock.rank, clock.check",
                               NULL,
                               NULL,
                               TM_OF_ANY},
    [TM_RULE_MISSING_RANKS] = {"missing_ranks", /* share of the ranks that have no trace */
                               {NEVER, 0, NEVER},
                               tm_look_missing_ranks,
                               "job.rank, clock.check",
                               NULL,
                               NULL,
                               TM_OF_ANY},
};

typedef struct item {
    tm_rule_id rule;
    int severity;
    tm_advice advice;
    tm_facts_saving saving;
} item;

typedef struct rank_step {
    int64_t step, exposed_ns;
    bool partial;
} rank_step;

TM_ORDER_BY(by_step, rank_step, step);

/* Copies the rows of overlap.step and sorts them by step. */
static tm_status read_steps(const tm_tables *tables, tm_vec *out, tm_error *err) {
    const tm_table *steps = tm_tables_find(tables, "overlap.step");
    for (size_t i = 0; i < steps->n_rows; i++) {
        rank_step own = {tm_table_cell(steps, i, "step")->value.i,
                         tm_table_cell(steps, i, "exposed_comm_ns")->value.i,
                         tm_table_cell(steps, i, "partial")->value.i != 0};
        if (!tm_vec_append(out, &own, 1))
            return tm_fail_memory(err);
    }
    tm_vec_sort(out, by_step);
    return TM_OK;
}

/* Finds the partial steps. Also estimates the exposed communication without waits between ranks:
 * the rank with the least exposed communication in a step hardly waited, so its value is used for
 * every rank. */
static tm_status sum_steps(const rank_step *v, size_t n, tm_facts *facts, tm_vec *partial,
                           tm_error *err) {
    for (size_t first = 0, i = 0; first < n; first = i) {
        int64_t least = v[first].exposed_ns;
        bool whole = true;
        for (i = first; i < n && v[i].step == v[first].step; i++) {
            least = v[i].exposed_ns < least ? v[i].exposed_ns : least;
            whole = whole && !v[i].partial;
        }
        facts->least_exposed_ns += least * (int64_t)(i - first);
        if (!whole && !tm_vec_append(partial, &v[first].step, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Returns the severity of a measure; -1 for none. */
static int severity_of(const double at[N_SEVERITIES], double measure) {
    int severity = -1;
    for (int s = 0; s < N_SEVERITIES && measure >= 0.0; s++)
        severity = measure >= at[s] ? s : severity;
    return severity;
}

/* Returns the mean time lost by an affected rank [ns], at most the job's duration; -1 if unknown.
 */
static int64_t cost_by_rank(const tm_facts *facts, const tm_advice *advice) {
    int64_t n = advice->n_lost > 0 ? advice->n_lost : facts->n_gpu;
    int64_t cost = advice->cost_ns < 0 ? -1 : advice->cost_ns / (n > 0 ? n : 1);
    return cost > facts->job_ns ? facts->job_ns : cost;
}

/* Minimum saving [% of a step] for a note, a warning, a critical item. A finding that would save
 * less than the first value is dropped: its fix would shorten waits, but the steps would then wait
 * for other work. */
static const double worth[N_SEVERITIES] = {0.05, 2, 10};

/* Returns whether an item concerns only some ranks and the saving from fixing them is known. */
static bool is_of_some(const item *i) {
    return (i->rule == TM_RULE_STRAGGLER || i->rule == TM_RULE_IMBALANCE) &&
           strcmp(i->advice.ranks, "all") != 0 && !i->saving.share.null;
}

/* Returns the saving of a plan minus the saving of the named ranks, which are part of the plan. */
static tm_facts_saving besides_named(const tm_facts_saving *named, tm_facts_saving plan) {
    if (plan.share.null)
        return plan;
    int64_t left_ns = plan.time.value.i - named->time.value.i;
    double left_pct = plan.share.value.r - named->share.value.r;
    tm_cell_set_int(&plan.time, left_ns > 0 ? left_ns : 0);
    tm_cell_set_real(&plan.share, left_ns > 0 && left_pct > 0.0 ? left_pct : 0.0);
    return plan;
}

/* Returns the `what` of the row of whatif.item that gives the saving of a finding. */
static const char *item_of(const tm_advice *advice, tm_rule_id rule) {
    return advice->item ? advice->item : rules[rule].item;
}

static const char *limit_of(const tm_advice *advice, tm_rule_id rule) {
    return advice->limit ? advice->limit : rules[rule].of;
}

/* Returns whether the saving is only an upper bound: the replay gives a whole kind of work no time,
 * but a fix removes only a part of that work. */
static bool is_bound(const item *i) {
    return !i->saving.share.null &&
           (i->advice.at_most_ns > 0 || strcmp(item_of(&i->advice, i->rule), "limit") == 0);
}

static tm_facts_saving saving_of(const tm_facts *facts, const tm_advice *advice, tm_rule_id rule) {
    tm_facts_saving found = {{.null = true}, {.null = true}};
    const char *what = advice->apart ? NULL : item_of(advice, rule);
    if (advice->at_most_ns > 0) {
        tm_cell_set_int(&found.time, advice->at_most_ns);
        tm_cell_set_ratio(&found.share, 100.0, advice->at_most_ns,
                          tm_facts_int(facts, "whatif.job", 0, "step_ns"));
    } else if (what) {
        found = tm_facts_saved(facts, what, limit_of(advice, rule));
    }
    return found;
}

/* Returns the severity that follows from an item's saving. An upper bound of the saving gives at
 * most the severity that follows from the cost. */
static int by_saving(const item *i) {
    if (is_bound(i) && i->saving.share.value.r < TM_FIX_LEAST_PCT)
        return -1;
    const int severity = severity_of(worth, i->saving.share.value.r);
    /* A saving from more micro-batches makes no item critical, because they also cost memory. */
    const int most = i->advice.at_most_ns > 0 && i->severity > 1 ? 1 : i->severity;
    return is_bound(i) && severity > most ? most : severity;
}

/* Returns whether a rule is based on device events, rather than on records of the host or of
 * memory. */
static bool rests_on_devices(tm_rule_id rule) {
    switch (rule) {
    case TM_RULE_RECORDING:
    case TM_RULE_MEMORY:
    case TM_RULE_MEMORY_ROOM:
    case TM_RULE_MEMORY_GROWTH:
    case TM_RULE_MEMORY_SPIKE:
    case TM_RULE_CLOCK_QUALITY:
    case TM_RULE_MISSING_RANKS:
        return false;
    default:
        return true;
    }
}

/* Applies the rules in the order of tm_rule_id. Later rules subtract the costs of all earlier
 * findings, even of findings that are dropped because fixing them saves nothing. */
static size_t apply_rules(tm_facts *facts, item items[TM_N_RULES]) {
    const bool doubted = tm_doubt_of_job(facts->tables);
    tm_facts_saving named = {.time = {.value.i = 0}, .share = {.value.r = 0.0}};
    size_t n = 0;
    for (tm_rule_id r = 0; r < TM_N_RULES; r++) {
        item *found = &items[n];
        if (!tm_facts_is_of(facts, rules[r].whose) || (doubted && rests_on_devices(r)))
            continue;
        *found = (item){.rule = r, .advice = {.measure = -1.0, .cost_ns = -1, .ranks = "all"}};
        rules[r].look(facts, &found->advice);
        found->severity = severity_of(rules[r].at, found->advice.measure);
        if (found->severity < 0)
            continue;
        facts->costs[r] = found->advice.cost_ns > 0 ? found->advice.cost_ns : 0;
        found->advice.cost_ns = cost_by_rank(facts, &found->advice);
        found->saving = saving_of(facts, &found->advice, r);
        if (r == TM_RULE_LATE_RANKS && !is_bound(found))
            found->saving = besides_named(&named, found->saving);
        if (is_of_some(found))
            named = found->saving;
        if (!found->saving.share.null)
            found->severity = by_saving(found);
        if (found->severity < 0)
            continue;
        if (r == TM_RULE_STRAGGLER)
            /* the straggler rule names exactly one rank */
            facts->straggler = strtoll(found->advice.ranks, NULL, 10);
        n++;
    }
    return n;
}

/* Returns 0 if the saving is known, 1 if only a bound of the saving is known, 2 if only the cost is
 * known, 3 if the cost is unknown. */
static int class_of(const item *i) {
    return i->advice.cost_ns < 0 ? 3 : i->saving.share.null ? 2 : is_bound(i);
}

/* Returns whether the problem may stop the job. */
static bool stops(const item *i) {
    return i->advice.cost_ns < 0 && i->severity == N_SEVERITIES - 1;
}

/* Returns the sort key within a class [ns]: a saving or cost. Bounds and costs count half, because
 * a fix rarely removes the whole problem. Waits for batches count in full, because a fix can remove
 * them completely. */
static double removable(const item *i) {
    const char *limit = limit_of(&i->advice, i->rule);
    const double ns = (double)(class_of(i) < 2 ? i->saving.time.value.i : i->advice.cost_ns);
    const bool is_part = class_of(i) == 1 || class_of(i) == 2;
    return is_part && !(limit && strcmp(limit, "input") == 0) ? 0.5 * ns : ns;
}

static int worst_first(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (stops(x) != stops(y))
        return stops(y) - stops(x);
    if (x->severity != y->severity)
        return y->severity - x->severity;
    if (class_of(x) != class_of(y))
        return class_of(x) - class_of(y);
    if (class_of(x) == 2 && (x->rule == TM_RULE_STRAGGLER) != (y->rule == TM_RULE_STRAGGLER))
        /* the straggler comes first, as in the summary */
        return x->rule == TM_RULE_STRAGGLER ? -1 : 1;
    if (removable(x) != removable(y))
        return removable(x) > removable(y) ? -1 : 1;
    return (int)x->rule - (int)y->rule; /* causes have lower rule numbers than their effects */
}

/* Returns the subject for the clause "if hosts took no time". */
static const char *left_out(const char *limit) {
    static const struct {
        const char *name, *what;
    } kinds[] = {
        {"compute", "computation"},   {"copy", "copies"},        {"host", "hosts"},
        {"launch", "launch latency"}, {"transfer", "transfers"}, {"input", "waiting for batches"},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(limit, kinds[k].name) == 0)
            return kinds[k].what;
    return "it";
}

/* Writes "Fixing it saves 11.3 % of a step (1.15 ms).", or for a bound "Saves at most 52.6 % of a
 * step (38.8 ms), if hosts took no time.". */
static void saves_text(const tm_facts *facts, const item *i, char out[TM_SAVES_MAX]) {
    const double nearly_all = 95.0; /* a bound of nearly the whole step is useless */
    const tm_cell *share = &i->saving.share;
    char time[TM_ADVICE_TIME];
    out[0] = '\0';
    /* If a pipeline's bubble is to blame, ranks are late because their stages differ. Then there is
     * no rank to fix. */
    if (share->null || share->value.r < worth[0] ||
        (i->rule == TM_RULE_LATE_RANKS && !is_bound(i) && tm_facts_verdict_is(facts, "bubble")) ||
        (is_bound(i) && share->value.r >= nearly_all))
        return;
    tm_shown_duration(i->saving.time.value.i, time, sizeof time);
    const tm_shown_text percent = tm_shown_percent(share->value.r, 1);
    const char *whole = tm_words_whole(facts->tables);
    if (i->advice.at_most_ns > 0)
        snprintf(out, TM_SAVES_MAX,
                 "Saves at most %s of %s (%s), with twice as many micro-batches.", percent.text,
                 whole, time);
    else if (i->advice.moves)
        snprintf(out, TM_SAVES_MAX,
                 "Saves at most %s of %s (%s): work that moves to another rank takes time there.",
                 percent.text, whole, time);
    else if (is_bound(i))
        snprintf(out, TM_SAVES_MAX, "Saves at most %s of %s (%s), if %s took no time%s.",
                 percent.text, whole, time, left_out(limit_of(&i->advice, i->rule)),
                 i->rule == TM_RULE_SMALL_KERNELS ? "; fused kernels may save more" : "");
    else
        snprintf(out, TM_SAVES_MAX, "Fixing it saves %s of %s (%s).", percent.text, whole, time);
}

static tm_status add_item(const tm_facts *facts, tm_table *table, const item *i, tm_error *err) {
    tm_cell *row = tm_table_add_row(table);
    char saves[TM_SAVES_MAX];
    if (!row)
        return tm_fail_memory(err);
    row[SAVED] = i->saving.time;
    row[SAVED_PCT] = i->saving.share;
    if (!i->saving.share.null)
        tm_cell_set_bool(&row[AT_MOST], is_bound(i) || i->advice.moves);
    saves_text(facts, i, saves);
    if (*saves)
        TM_TRY(tm_table_set_text(table, &row[SAVES], saves, err));
    if (i->advice.cost_ns >= 0) {
        tm_cell_set_int(&row[COST], i->advice.cost_ns);
        TM_TRY(tm_table_set_text(table, &row[BOUND], i->advice.exact ? "exact" : "upper", err));
    }
    TM_TRY(tm_table_set_text(table, &row[RULE], rules[i->rule].name, err));
    TM_TRY(tm_table_set_text(table, &row[SEVERITY], severities[i->severity], err));
    TM_TRY(tm_table_set_text(table, &row[RANKS], i->advice.ranks, err));
    TM_TRY(tm_table_set_text(table, &row[TEXT], i->advice.text, err));
    TM_TRY(tm_table_set_text(table, &row[EVIDENCE], i->advice.evidence, err));
    const char *look_at = i->advice.look_at ? i->advice.look_at : rules[i->rule].look_at;
    return tm_table_set_text(table, &row[LOOK_AT], look_at, err);
}

/* Sets the GPU time and the duration of the job. job.job has no duration if the store has no
 * events. */
static void set_times(tm_facts *facts) {
    const tm_table *ranks = tm_tables_find(facts->tables, "overlap.rank");
    facts->job_ns = tm_facts_int(facts, "job.job", 0, "duration_ns");
    for (size_t i = 0; i < ranks->n_rows; i++) {
        int64_t window = tm_facts_int(facts, "overlap.rank", i, "window_ns");
        /* Shares of GPU time refer to the ranks whose computation is known. */
        if (!tm_table_cell(ranks, i, "compute_ns")->null) {
            facts->window_ns += window;
            facts->n_gpu += window > 0;
        }
        facts->job_ns = window > facts->job_ns ? window : facts->job_ns;
    }
}

/* Runs after all other job parts, so all tables that rules read are complete. */
static tm_status advice_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_vec steps = TM_VEC(rank_step), partial = TM_VEC(int64_t);
    tm_facts facts = {.tables = out, .job = job, .straggler = -1};
    item items[TM_N_RULES];
    tm_status status = read_steps(out, &steps, err);
    if (status == TM_OK)
        status = sum_steps(steps.data, steps.n, &facts, &partial, err);
    if (status == TM_OK) {
        facts.partial_steps = partial.data;
        facts.n_partial = partial.n;
        set_times(&facts);
        tm_facts_program(&facts);
        size_t n = apply_rules(&facts, items);
        /* No ties: each item is from a different rule. */
        qsort(items, n, sizeof *items, worst_first);
        for (size_t i = 0; i < n && status == TM_OK; i++)
            status = add_item(&facts, tm_tables_find(out, item_def.name), &items[i], err);
    }
    tm_vec_free(&steps);
    tm_vec_free(&partial);
    return status;
}

const tm_analysis tm_analysis_advice = {
    .name = "advice",
    .summary = "advice: what to do about each finding, most important first",
    TM_ARRAY(tables, defs),
    .job = advice_job,
};

/* The rules of analysis `advice`, and the facts that they use. */
#ifndef TMERGE_ADVICE_RULES_H
#define TMERGE_ADVICE_RULES_H

#include "tmerge/analysis.h"

/** The rules. A cause comes before its possible effects. */
typedef enum tm_rule_id {
    TM_RULE_RECORDING,
    TM_RULE_STRAGGLER,
    TM_RULE_UNEVEN_STAGES,
    TM_RULE_SLOW_NETWORK,
    TM_RULE_SLOW_LINK,
    TM_RULE_IMBALANCE,
    TM_RULE_LATE_RANKS,
    TM_RULE_INPUT,
    TM_RULE_XLA_INPUT,
    TM_RULE_XLA_INPUT_HOST,
    TM_RULE_XLA_INPUT_TRANSFER,
    TM_RULE_SMALL_KERNELS,
    TM_RULE_SCHEDULER_GAPS,
    TM_RULE_DECODE_BATCH,
    TM_RULE_XLA_LAUNCH,
    TM_RULE_XLA_OUTPUT,
    TM_RULE_PAGEABLE_COPIES,
    TM_RULE_EXPOSED_COPIES,
    TM_RULE_XLA_DEVICE_COPIES,
    TM_RULE_DEVICE_ALLOCATION,
    TM_RULE_XLA_BARRIER,
    TM_RULE_XLA_COLLECTIVES,
    TM_RULE_TPU_COLLECTIVES,
    TM_RULE_XLA_ASYNC,
    TM_RULE_XLA_SHUFFLE,
    TM_RULE_XLA_SPARSE,
    TM_RULE_EXPOSED_COMMUNICATION,
    TM_RULE_COMMUNICATION,
    TM_RULE_GPU_UTILIZATION,
    TM_RULE_XLA_OTHER,
    TM_RULE_STEP_VARIATION,
    TM_RULE_OPTIMIZER,
    TM_RULE_TENSOR_CORES,
    TM_RULE_PRECISION,
    TM_RULE_XLA_BITS,
    TM_RULE_ATTENTION,
    TM_RULE_MEMORY,
    TM_RULE_MEMORY_ROOM,
    TM_RULE_MEMORY_GROWTH,
    TM_RULE_MEMORY_SPIKE,
    TM_RULE_CLOCK_QUALITY,
    TM_RULE_MISSING_RANKS,
    TM_N_RULES
} tm_rule_id;

/** Jobs to which a rule or a box of the checklist applies. XLA: jobs whose traces are all XSpaces.
 * XLA_TPU: XLA jobs on TPUs. XLA_GPU: XLA jobs on other devices. For all three, the thresholds are
 * XProf's. OTHERS: all other jobs, with the thresholds of the guides. */
typedef enum tm_whose { TM_OF_ANY, TM_OF_OTHERS, TM_OF_XLA, TM_OF_XLA_TPU, TM_OF_XLA_GPU } tm_whose;

/** Input of the rules. All pointers are borrowed. */
typedef struct tm_facts {
    const tm_tables *tables;
    const tm_job *job;
    /* [n_partial] ascending: steps that are not completely recorded */
    const int64_t *partial_steps;
    size_t n_partial;
    int64_t window_ns;       /* GPU time of the job: sum of the windows of overlap.rank */
    int64_t job_ns;          /* wall time of the job */
    int64_t n_gpu;           /* number of ranks with GPU events */
    bool trains, torch, jax; /* whether the job is known to train, to run PyTorch, to run JAX */
    bool serves;             /* an inference engine marks prefills or decodes */
    bool captures; /* an inference engine marks only graph captures, which run no kernels */
    int64_t least_exposed_ns;  /* exposed communication if no rank waited: for each step, the
                                  smallest value of any rank times the number of ranks */
    int64_t straggler;         /* rank that the straggler item names; -1 if none */
    int64_t costs[TM_N_RULES]; /* [ns] cost by rule; 0 for rules that found nothing or were not yet
                                  applied */
} tm_facts;

enum { TM_ADVICE_TEXT = 640, TM_ADVICE_RANKS = 96, TM_ADVICE_EVIDENCE = 1024, TM_ADVICE_TIME = 32 };

/** The finding of a rule. */
typedef struct tm_advice {
    double measure; /* value that is compared with the rule's thresholds; negative if the rule found
                       nothing */
    int64_t cost_ns; /* GPU time lost, over all ranks; -1 if the finding does not cost time */
    int64_t n_lost;  /* number of ranks that lose cost_ns; 0: all ranks */
    bool exact;      /* true: only this cause costs the time; false: other causes may cost a part of
                        cost_ns */
    bool apart;      /* the saving is unknown, because the replay for this rule in whatif.item also
                        removes other causes */
    bool moves;      /* the fix moves work to other ranks, which then take longer; so the saving in
                        whatif.item is an upper bound */
    /* `what` of the row of whatif.item that gives the saving; NULL: the `item` of the rule */
    const char *item;
    /* `name` of that row, such as a kind of work; NULL: the `of` of the rule */
    const char *limit;
    const char *look_at; /* names of tables with details; NULL: the `look_at` of the rule */
    int64_t at_most_ns;  /* upper bound of the saving per step that needs no replay [ns]; 0: use
                            whatif.item */
    char ranks[TM_ADVICE_RANKS];
    char text[TM_ADVICE_TEXT];
    char evidence[TM_ADVICE_EVIDENCE];
} tm_advice;

/** Fills a tm_advice. Before the call, measure and cost_ns are -1, and ranks is "all". */
typedef void tm_rule_look(const tm_facts *facts, tm_advice *out);

tm_rule_look tm_look_recording, tm_look_straggler, tm_look_uneven_stages, tm_look_slow_network,
    tm_look_slow_link, tm_look_imbalance, tm_look_late_ranks, tm_look_input, tm_look_small_kernels,
    tm_look_pageable_copies, tm_look_exposed_copies, tm_look_device_allocation,
    tm_look_exposed_communication, tm_look_communication, tm_look_gpu_utilization,
    tm_look_step_variation, tm_look_optimizer, tm_look_tensor_cores, tm_look_precision,
    tm_look_attention, tm_look_memory, tm_look_memory_room, tm_look_memory_growth,
    tm_look_memory_spike, tm_look_clock_quality, tm_look_missing_ranks, tm_look_scheduler_gaps,
    tm_look_decode_batch;

/** Rules with thresholds from XProf. */
tm_rule_look tm_look_xla_input, tm_look_xla_input_host, tm_look_xla_input_transfer,
    tm_look_xla_launch, tm_look_xla_output, tm_look_xla_device_copies, tm_look_xla_barrier,
    tm_look_xla_collectives, tm_look_xla_async, tm_look_xla_other, tm_look_xla_bits,
    tm_look_xla_shuffle, tm_look_xla_sparse;

/** Returns the total cost that the rules on uneven stages and uneven ranks found [ns]. */
static inline int64_t tm_facts_uneven(const tm_facts *facts) {
    return facts->costs[TM_RULE_UNEVEN_STAGES] + facts->costs[TM_RULE_IMBALANCE];
}

/** Returns the sum of a column; nulls count as 0. */
int64_t tm_facts_sum(const tm_facts *facts, const char *table, const char *column);

/** Like tm_facts_sum, but if there is a straggler item, without the straggler's rows. */
int64_t tm_facts_sum_others(const tm_facts *facts, const char *table, const char *column);

/** Returns whether the job is of the given kind: TM_OF_XLA if all traces are XSpaces of TensorFlow
 * or JAX, not of PyTorch. */
bool tm_facts_is_of(const tm_facts *facts, tm_whose whose);

/** Returns whether all traces are of TensorFlow or JAX: XSpaces, or trace viewer files (which lack
 * data for XProf's thresholds). */
bool tm_facts_speaks_xla(const tm_facts *facts);

/** Returns a column's sum over pod.rank. If some ranks have steps, sums only these ranks. */
int64_t tm_facts_sum_pod(const tm_facts *facts, const char *column);

/** Returns whether any row of pod.rank has a value in the column. */
bool tm_facts_pod_has(const tm_facts *facts, const char *column);

/** Returns the time in which operations of XLA that end in -done wait for asynchronous operations
 * [ns]. Sets @p all to the time of all operations, or to 0 if the categories of operations are
 * unknown. */
int64_t tm_facts_sum_async(const tm_facts *facts, int64_t *all);

/** Returns the share of computation in types of at most 16 bits [%], among computation whose type
 * is known; NaN if most types are unknown. */
double tm_facts_bits(const tm_facts *facts);

/** Returns the sum of a column of classes.work over all ranks, for the class @p work; NULL: over
 * all classes. */
int64_t tm_facts_of_class(const tm_facts *facts, const char *work, const char *column);

/** Sums over compute kernels. Communication kernels are left out: their duration depends on other
 * ranks. */
typedef struct tm_facts_kernels {
    int64_t calls, under_100_us, total_ns;
} tm_facts_kernels;

tm_facts_kernels tm_facts_sum_kernels(const tm_facts *facts);

/** Returns an integer of a table; 0 if it is null or the row does not exist. */
int64_t tm_facts_int(const tm_facts *facts, const char *table, size_t row, const char *column);

/** Returns a real of a table; -1 if it is null or the row does not exist. */
double tm_facts_real(const tm_facts *facts, const char *table, size_t row, const char *column);

double tm_facts_percent(int64_t part, int64_t whole);

/** Returns whether every rank recorded the whole step. A partial step cannot be compared. */
bool tm_facts_is_whole(const tm_facts *facts, int64_t step);

/** Returns whether a rank counts in analyses of steps. If some ranks mark steps, only those ranks
 * count. If none does, each rank counts, and the recording is its only step. */
bool tm_facts_has_steps(const tm_facts *facts, int64_t rank);

/** How much the durations of whole steps vary. The first step of each rank is left out. If there
 * are several kinds of steps, all members except above_ns are about one kind: the kind whose steps
 * are above its mean for the most time in total. */
typedef struct tm_facts_variation {
    const char *kind; /* name of the kind; NULL if all steps are of one kind */
    double percent;   /* standard deviation / mean */
    double above_ns;  /* time above the mean of the step's kind, summed over all steps */
    int64_t shortest_ns, longest_ns, longest_step;
} tm_facts_variation;

/** Which durations tm_facts_vary compares. ALL: the durations of all steps. BALANCED: like ALL, but
 * without the time by which the step's busiest rank computes longer than the mean. CALM: like ALL,
 * but without steps that are in an episode of stragglers.finding. */
typedef enum tm_facts_steps { TM_STEPS_ALL, TM_STEPS_BALANCED, TM_STEPS_CALM } tm_facts_steps;

/** Sets @p out. Returns false if there are fewer than three steps. */
bool tm_facts_vary(const tm_facts *facts, tm_facts_steps which, tm_facts_variation *out);

/** By how much a fix shortens a step; both cells are null if unknown. tm_facts_saved reads the
 * cells from the last row of whatif.item with this `what` and `name`. The `what` "named" stands for
 * fixing all ranks in stragglers.finding. */
typedef struct tm_facts_saving {
    tm_cell time, share; /* saved_ns and saved_pct */
} tm_facts_saving;

tm_facts_saving tm_facts_saved(const tm_facts *facts, const char *what, const char *name);

bool tm_facts_marks_steps(const tm_facts *facts);

/** Returns whether the verdict of stragglers.job equals @p word. */
bool tm_facts_verdict_is(const tm_facts *facts, const char *word);

/**
 * Finds out where hosts are during the longest gaps with a cause (idle.gap). If they spend at least
 * half of the time in calls of one name, returns the name, which is borrowed. If they spend at
 * least half of the time outside of recorded calls, returns "". Otherwise returns NULL.
 * @param plan  row of whatif.item; only its ranks count. If the row does not exist, all ranks
 *              count.
 */
const char *tm_facts_host_in_gaps(const tm_facts *facts, const char *cause, size_t plan);

/** Adds to the evidence how much of a pipeline's bubble twice as many micro-batches would save, and
 * sets at_most_ns. If this is unknown, the evidence says so. */
void tm_facts_bubble(const tm_facts *facts, tm_advice *out);

/** Returns the noun that shares refer to: "steps", or "recording" if no steps are marked. */
const char *tm_facts_whole(const tm_facts *facts);

/** Writes @p ns, a sum over ranks, as a mean over the ranks with GPU events: "3.00 ms a rank". */
void tm_facts_by_rank(const tm_facts *facts, int64_t ns, char out[TM_ADVICE_TIME]);

/** A kernel that takes less than this is short, as in kernels.kernel. */
#define TM_SMALL_KERNEL_NS INT64_C(100000)

/** What tm_facts_launcher counts: short compute kernels, or the time of communication kernels. */
typedef enum tm_launched { TM_LAUNCHED_SHORT, TM_LAUNCHED_COMMUNICATION } tm_launched;

/** Writes where in the program most of the counted kernels are launched: " 42 % of the short ones
 * are launched by "aten::add" in "train.py(34): step".". Writes "" if no place launches a tenth. */
void tm_facts_launcher(const tm_facts *facts, tm_launched which, char *out, size_t size);

/** Sets trains, serves, captures, torch and jax. A job trains if it has backward passes,
 * optimizers, or kernels named after them. It serves if it has marks of an engine. It runs PyTorch
 * if it has PyTorch's operators or kernels. If trains is false, texts must suit both training and
 * inference. */
void tm_facts_program(tm_facts *facts);

/** A list of ranks, "0, 4-7". If it is too long, it ends in "...". */
typedef struct tm_rank_text {
    char *out; /* [TM_ADVICE_RANKS] */
    size_t used, n;
    int64_t first, last; /* the last range of ranks, not yet written; empty if last < first */
    bool full;
} tm_rank_text;

tm_rank_text tm_rank_text_begin(char out[TM_ADVICE_RANKS]);

/** Adds a rank, which must be larger than the ranks added before. */
void tm_rank_text_add(tm_rank_text *text, int64_t rank);

/** Writes the last range; if there are n_all ranks, the text is "all". */
void tm_rank_text_end(tm_rank_text *text, size_t n_all);

#endif

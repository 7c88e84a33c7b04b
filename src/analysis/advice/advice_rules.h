/* The conditions of the rules of analysis `advice`, and what they look at. */
#ifndef TMERGE_ADVICE_RULES_H
#define TMERGE_ADVICE_RULES_H

#include "tmerge/analysis.h"

/** The rules, a cause before what it may cause. */
typedef enum tm_rule_id {
    TM_RULE_RECORDING,
    TM_RULE_STRAGGLER,
    TM_RULE_UNEVEN_STAGES,
    TM_RULE_SLOW_NETWORK,
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

/** Of which jobs a rule or a box is: the guides' are of training with PyTorch, XProf's of jobs all
 * of whose traces are XSpaces; of these, some of TPUs and some of all others. */
typedef enum tm_whose { TM_OF_ANY, TM_OF_OTHERS, TM_OF_XLA, TM_OF_XLA_TPU, TM_OF_XLA_GPU } tm_whose;

/** What rules are decided from. All borrowed. */
typedef struct tm_facts {
    const tm_tables *tables;
    const tm_job *job;
    const int64_t *partial_steps; /* [n_partial] ascending: a recording began or ended inside */
    size_t n_partial;
    int64_t window_ns;         /* GPU time of the job: all windows of overlap.rank */
    int64_t job_ns;            /* the job's own time, on the wall */
    int64_t n_gpu;             /* ranks with GPU events */
    bool trains, torch, jax;   /* known to train, to run PyTorch, JAX; else nobody knows */
    bool serves;               /* an inference engine marks prefills or decodes, */
    bool captures;             /* or only graphs that it captures: no kernel of them runs */
    int64_t least_exposed_ns;  /* exposed communication, were all ranks as the best of each step */
    int64_t straggler;         /* its rank, which has an item; else -1 */
    int64_t costs[TM_N_RULES]; /* [ns] of the rules before that gave an item, else 0 */
} tm_facts;

enum { TM_ADVICE_TEXT = 640, TM_ADVICE_RANKS = 96, TM_ADVICE_EVIDENCE = 1024, TM_ADVICE_TIME = 32 };

/** What a rule found. */
typedef struct tm_advice {
    double measure;      /* compared with the rule's thresholds; below 0: nothing */
    int64_t cost_ns;     /* GPU time lost, over all ranks; -1 where it is not one of time */
    int64_t n_lost;      /* the ranks that lose it, where these are not all; else 0 */
    bool exact;          /* lost to this alone; else an upper bound */
    bool apart;          /* the rule's item of whatif fixes another cause: it gives no saving */
    const char *item;    /* what of whatif.item says what it saves; NULL: the rule's */
    const char *limit;   /* its name there: the kind of work, of a bound, too; NULL: the rule's */
    const char *look_at; /* the tables that say more; NULL: the rule's */
    char ranks[TM_ADVICE_RANKS];
    char text[TM_ADVICE_TEXT];         /* what to do */
    char evidence[TM_ADVICE_EVIDENCE]; /* the numbers that it follows from */
} tm_advice;

/** Fills a tm_advice whose measure is -1, cost_ns -1 and ranks "all" beforehand. */
typedef void tm_rule_look(const tm_facts *facts, tm_advice *out);

tm_rule_look tm_look_recording, tm_look_straggler, tm_look_uneven_stages, tm_look_slow_network,
    tm_look_imbalance, tm_look_late_ranks, tm_look_input, tm_look_small_kernels,
    tm_look_pageable_copies, tm_look_exposed_copies, tm_look_device_allocation,
    tm_look_exposed_communication, tm_look_communication, tm_look_gpu_utilization,
    tm_look_step_variation, tm_look_optimizer, tm_look_tensor_cores, tm_look_precision,
    tm_look_attention, tm_look_memory, tm_look_memory_room, tm_look_memory_growth,
    tm_look_memory_spike, tm_look_clock_quality, tm_look_missing_ranks, tm_look_scheduler_gaps,
    tm_look_decode_batch;

/** What XProf has bounds for. */
tm_rule_look tm_look_xla_input, tm_look_xla_input_host, tm_look_xla_input_transfer,
    tm_look_xla_launch, tm_look_xla_output, tm_look_xla_device_copies, tm_look_xla_barrier,
    tm_look_xla_collectives, tm_look_xla_async, tm_look_xla_other, tm_look_xla_bits,
    tm_look_xla_shuffle, tm_look_xla_sparse;

/** What uneven work of stages and ranks costs, by the rules on it. */
static inline int64_t tm_facts_uneven(const tm_facts *facts) {
    return facts->costs[TM_RULE_UNEVEN_STAGES] + facts->costs[TM_RULE_IMBALANCE];
}

/** The sum of a column; nulls are 0. */
int64_t tm_facts_sum(const tm_facts *facts, const char *table, const char *column);

/** The same over the ranks whose trouble is not the straggler's own: the others, or all. */
int64_t tm_facts_sum_others(const tm_facts *facts, const char *table, const char *column);

/** Whether the job is one of those: TM_OF_XLA where all of its traces are XSpaces, of TensorFlow or
 * JAX, and not of PyTorch. */
bool tm_facts_is_of(const tm_facts *facts, tm_whose whose);

/** Whether all traces are of TensorFlow or JAX: XSpaces, or the trace viewer's, which tell too
 * little for XProf's bounds. */
bool tm_facts_speaks_xla(const tm_facts *facts);

/** A column's sum over the rows of pod.rank; where some ranks have steps, over those. */
int64_t tm_facts_sum_pod(const tm_facts *facts, const char *column);

/** Whether a row of pod.rank tells a column. */
bool tm_facts_pod_tells(const tm_facts *facts, const char *column);

/** Of the time of XLA's operations that which waits for what was started before (-done); @p all is
 * set to the whole, 0 where no category is told. */
int64_t tm_facts_sum_async(const tm_facts *facts, int64_t *all);

/** Computing in types of 16 bits or fewer, in percent of that whose type is told; NaN where less is
 * told than not. */
double tm_facts_bits(const tm_facts *facts);

/** A column's sum over the rows of classes.kernel that are of a class of work. */
int64_t tm_facts_of_class(const tm_facts *facts, const char *work, const char *column);

/** Kernels that compute: how long a communication kernel runs is up to the other ranks. */
typedef struct tm_facts_kernels {
    int64_t calls, under_100_us, total_ns;
} tm_facts_kernels;

tm_facts_kernels tm_facts_sum_kernels(const tm_facts *facts);

/** An integer of a table, 0 where it is null or where there is no such row. */
int64_t tm_facts_int(const tm_facts *facts, const char *table, size_t row, const char *column);

/** A real, -1 where it is null or where there is no such row. */
double tm_facts_real(const tm_facts *facts, const char *table, size_t row, const char *column);

/** 100 part / whole; 0 where whole is. */
double tm_facts_percent(int64_t part, int64_t whole);

/** Whether every recording holds the whole of a step: one of which only a part was recorded
 * compares with no other. */
bool tm_facts_is_whole(const tm_facts *facts, int64_t step);

/** Whether a rank counts where steps are looked at: of a job with steps those that mark some; of
 * one without all, whose recording is the step. */
bool tm_facts_has_steps(const tm_facts *facts, int64_t rank);

/** How unlike the whole steps are, without the ranks' first ones: those of one kind, of several of
 * the kind that takes most beyond its mean. */
typedef struct tm_facts_variation {
    const char *kind; /* NULL: all steps are of one */
    double percent;   /* standard deviation, of their mean */
    double above_ns;  /* what the steps of all kinds take beyond the means of these, together */
    int64_t shortest_ns, longest_ns, longest_step;
} tm_facts_variation;

/** Steps as they are; each less what the rank with most computation has beyond the mean; those
 * in which nobody's episode of stragglers.finding is. */
typedef enum tm_facts_steps { TM_STEPS_ALL, TM_STEPS_BALANCED, TM_STEPS_CALM } tm_facts_steps;

/** False where there are under three. */
bool tm_facts_vary(const tm_facts *facts, tm_facts_steps which, tm_facts_variation *out);

/** What a step would be shorter by, of whatif.item: `what` plan is its last place, `what` named who
 * is named in stragglers.finding. Both null cells where that is not known. */
typedef struct tm_facts_saving {
    tm_cell time, share; /* saved_ns and saved_pct */
} tm_facts_saving;

tm_facts_saving tm_facts_saved(const tm_facts *facts, const char *what, const char *name);

/** Whether the traces mark steps. */
bool tm_facts_marks_steps(const tm_facts *facts);

/** Whether a word is that of stragglers.job's verdict. */
bool tm_facts_verdict_is(const tm_facts *facts, const char *word);

/** "steps", "recording" where none are marked: what shares are of. */
const char *tm_facts_whole(const tm_facts *facts);

/** GPU time lost over ranks as what one of them loses, "3.00 ms a rank": the mean over those with
 * GPU events. */
void tm_facts_by_rank(const tm_facts *facts, int64_t ns, char out[TM_ADVICE_TIME]);

/** Kernels that take less are short, as in kernels.kernel. */
#define TM_SMALL_KERNEL_NS INT64_C(100000)

/** Kernels that compute and are short, counted; kernels that communicate, by their time. */
typedef enum tm_launched { TM_LAUNCHED_SHORT, TM_LAUNCHED_COMMUNICATION } tm_launched;

/** Where in the program most of such kernels are launched: " 42 % of the short ones are launched by
 * "aten::add" in "train.py(34): step"."; "" where no place was recorded that has a tenth. */
void tm_facts_launcher(const tm_facts *facts, tm_launched which, char *out, size_t size);

/** Sets what is known of the program. Training is known by its backward pass, its optimizer, or
 * kernels that name them, inference by the marks of an engine; PyTorch by its operators or kernels.
 * Texts fit other programs, too, where neither is known: an inference server, whose collectives and
 * loops look alike. */
void tm_facts_program(tm_facts *facts);

/** Ranks for the eye, "0, 4-7"; what does not fit is "...". Begins empty. */
typedef struct tm_rank_text {
    char *out; /* [TM_ADVICE_RANKS] */
    size_t used, n;
    int64_t first, last; /* of the run that is not yet written; last < first: none */
    bool full;
} tm_rank_text;

tm_rank_text tm_rank_text_begin(char out[TM_ADVICE_RANKS]);

/** Adds a rank, larger than those before. */
void tm_rank_text_add(tm_rank_text *text, int64_t rank);

/** Ends the text; it is "all" where it has as many ranks as that. */
void tm_rank_text_end(tm_rank_text *text, size_t n_all);

#endif

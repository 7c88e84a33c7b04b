/* XProf's recommendations for jobs of TensorFlow and JAX, with XProf's thresholds. Shares of the
 * steps are from pod.rank, where each moment counts as a single activity. */
#include "advice_xla.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/shared/words.h"
#include "table/levels.h"
#include "table/shown.h"

static bool is_tpu(const tm_facts *f) {
    return strcmp(tm_words_device(f->tables), "TPU") == 0;
}

bool tm_facts_is_of(const tm_facts *f, tm_whose whose) {
    const tm_table *formats = tm_tables_find(f->tables, "job.format");
    const tm_cell *format = formats->n_rows == 1 ? tm_table_cell(formats, 0, "format") : NULL;
    bool is = format && !format->null && strcmp(format->value.text, "xplane") == 0;
    switch (whose) {
    case TM_OF_ANY:
        return true;
    case TM_OF_OTHERS:
        return !is;
    case TM_OF_XLA:
        return is;
    default:
        return is && is_tpu(f) == (whose == TM_OF_XLA_TPU);
    }
}

bool tm_facts_speaks_xla(const tm_facts *f) {
    const tm_table *formats = tm_tables_find(f->tables, "job.format");
    size_t i = 0;
    for (; i < formats->n_rows; i++) {
        const tm_cell *format = tm_table_cell(formats, i, "format");
        if (format->null || (strcmp(format->value.text, "xplane") != 0 &&
                             strcmp(format->value.text, "trace_viewer") != 0))
            return false;
    }
    return i > 0;
}

bool tm_facts_is_pod_row(const tm_facts *f, size_t row, const char *host) {
    const tm_table *ranks = tm_tables_find(f->tables, "pod.rank");
    const tm_cell *own = tm_table_cell(ranks, row, "host");
    if (host && (own->null || strcmp(own->value.text, host) != 0))
        return false;
    return tm_facts_has_steps(f, tm_table_cell(ranks, row, "rank")->value.i);
}

/* Sums a column over the counted rows of pod.rank, except the row of rank @p but (-1: none). */
static int64_t sum_but(const tm_facts *f, const char *column, int64_t but) {
    const tm_table *ranks = tm_tables_find(f->tables, "pod.rank");
    int64_t sum = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        if (tm_facts_is_pod_row(f, i, NULL) && tm_table_cell(ranks, i, "rank")->value.i != but)
            sum += tm_facts_int(f, "pod.rank", i, column);
    return sum;
}

int64_t tm_facts_sum_pod(const tm_facts *f, const char *column) {
    return sum_but(f, column, -1);
}

bool tm_facts_pod_has(const tm_facts *f, const char *column) {
    const tm_table *ranks = tm_tables_find(f->tables, "pod.rank");
    size_t i = 0;
    while (i < ranks->n_rows && tm_table_cell(ranks, i, column)->null)
        i++;
    return i < ranks->n_rows;
}

int64_t tm_facts_sum_async(const tm_facts *f, int64_t *all) {
    const tm_table *table = tm_tables_find(f->tables, "hlo.work");
    int64_t waits = 0, sum = 0;
    bool reported = false;
    size_t end;
    for (size_t i = tm_table_level(table, "category", &end); i < end; i++) {
        const tm_cell *category = tm_table_cell(table, i, "category");
        int64_t ns = tm_facts_int(f, "hlo.work", i, "self_ns");
        size_t size = category->null ? 0 : strlen(category->value.text);
        reported |= !category->null;
        waits += size > 5 && strcmp(category->value.text + size - 5, "-done") == 0 ? ns : 0;
        sum += ns;
    }
    *all = reported ? sum : 0;
    return waits;
}

/* Returns NaN for CPUs, because few of them compute faster in 16 bits. */
double tm_facts_bits(const tm_facts *f) {
    bool cpu = strcmp(tm_words_device(f->tables), "CPU device") == 0;
    int64_t low = tm_facts_sum_pod(f, "compute_16_ns");
    int64_t known = low + tm_facts_sum_pod(f, "compute_32_ns");
    bool enough = known > 0 && known >= tm_facts_sum_pod(f, "compute_untyped_ns");
    return enough && !cpu ? tm_facts_percent(low, known) : (double)NAN;
}

/* A duration and its share of the steps, as texts. */
typedef struct spent {
    char share[32], time[TM_ADVICE_TIME], whole[64];
} spent;

/* Sets cost and measure from the time @p ns of all ranks except @p but (see sum_but). */
static spent spend_but(const tm_facts *f, int64_t ns, int64_t but, tm_advice *out) {
    const tm_table *ranks = tm_tables_find(f->tables, "pod.rank");
    tm_rank_text text = tm_rank_text_begin(out->ranks);
    spent found = {.whole = ""};
    int64_t n = 0;
    ns = ns > 0 ? ns : 0;
    snprintf(found.whole, sizeof found.whole, "%s%s", tm_facts_whole(f),
             but >= 0 ? " of the other ranks" : "");
    for (size_t i = 0; i < ranks->n_rows; i++)
        if (tm_facts_is_pod_row(f, i, NULL) && tm_table_cell(ranks, i, "rank")->value.i != but) {
            n++;
            tm_rank_text_add(&text, tm_table_cell(ranks, i, "rank")->value.i);
        }
    tm_rank_text_end(&text, f->job->n_ranks);
    if (n == 0)
        return found;
    out->cost_ns = ns;
    out->n_lost = n < f->n_gpu ? n : 0;
    out->measure = tm_facts_percent(ns, sum_but(f, "step_ns", but));
    char time[24];
    tm_shown_duration(ns / n, time, sizeof time);
    snprintf(found.time, sizeof found.time, "%s%s", time, n > 1 ? " a rank" : "");
    snprintf(found.share, sizeof found.share, "%s", tm_shown_percent(out->measure, 1).text);
    return found;
}

static spent spend(const tm_facts *f, int64_t ns, tm_advice *out) {
    return spend_but(f, ns, -1, out);
}

/* Like spend, for time in which the host keeps its GPUs idle, beyond @p explained_ns. Leaves out
 * the straggler, because its own item explains why its GPUs idle. */
static spent spend_idle(const tm_facts *f, const char *column, int64_t explained_ns,
                        tm_advice *out) {
    return spend_but(f, sum_but(f, column, f->straggler) - explained_ns, f->straggler, out);
}

/* Last sentences of the evidence: XProf's bounds, which differ from those of the guides. */
#define BOUNDS_5_20 " XProf calls it moderate from 5 %% on, and high from 20 %% on."

/* Returns the sentence on XProf's bounds. For TPUs, returns @p of_tpus, because XProf has a single
 * bound for all idle time of a TPU except waits for input. */
static const char *bounds_3_15(const tm_facts *f, const char *of_tpus) {
    return is_tpu(f) ? of_tpus : " XProf calls it moderate from 3 % on, and high from 15 % on.";
}

#define IDLE_TPU                                                                                   \
    " XProf calls it host overhead if a TPU idles for 3 % or more of its time for other reasons "  \
    "than input."

/* Gaps between small kernels do not count, because they have their own item. */
void tm_look_xla_launch(const tm_facts *f, tm_advice *out) {
    bool feeds = tm_tables_find(f->tables, "pipeline.stage")->n_rows > 0;
    spent s = spend_idle(f, "launch_ns", f->costs[TM_RULE_SMALL_KERNELS], out);
    snprintf(out->text, sizeof out->text, "Launch fewer, larger operations: %s, a larger batch%s.",
             f->jax ? "one jax.jit around the whole step, loops as jax.lax.scan"
                    : "compile more of the step at once (jit, tf.function)",
             feeds ? "; where tf.data competes for the host's cores, "
                     "TF_GPU_THREAD_MODE=gpu_private"
                   : "");
    snprintf(out->evidence, sizeof out->evidence,
             "For %s of the %s (%s), the host launches and the GPU idles%s.%s", s.share, s.whole,
             s.time,
             f->costs[TM_RULE_SMALL_KERNELS] > 0 ? ", beyond what small kernels explain" : "",
             bounds_3_15(f, IDLE_TPU));
}

void tm_look_xla_output(const tm_facts *f, tm_advice *out) {
    spent s = spend_idle(f, "output_ns", 0, out);
    snprintf(out->text, sizeof out->text,
             "Send less to the host, or less often: metrics and samples every N steps, summaries "
             "computed on the GPU, checkpoints overlapped with computation.");
    snprintf(out->evidence, sizeof out->evidence,
             "For %s of the %s (%s), GPUs only send output to their host and compute nothing: "
             "copies to the host, outfeed, host send." BOUNDS_5_20,
             s.share, s.whole, s.time);
}

void tm_look_xla_device_copies(const tm_facts *f, tm_advice *out) {
    spent s = spend(f, tm_facts_sum_pod(f, "device_to_device_ns"), out);
    snprintf(out->text, sizeof out->text,
             "Copy less on and between GPUs: keep arrays in the place and layout that the next "
             "program needs, and donate buffers that are not used again%s.",
             f->jax ? " (donate_argnums of jax.jit)" : "");
    snprintf(out->evidence, sizeof out->evidence,
             "For %s of the %s (%s), GPUs only copy or set memory, on one GPU or between GPUs. "
             "XProf has no limits for this part; tmerge uses XProf's limits for collectives.",
             s.share, s.whole, s.time);
}

/* Returns the waiting time that the rules on late ranks and uneven work explain. */
static int64_t explained(const tm_facts *f) {
    return f->costs[TM_RULE_STRAGGLER] + tm_facts_uneven(f) + f->costs[TM_RULE_LATE_RANKS];
}

static const char *beside_late(const tm_facts *f) {
    return explained(f) > 0 ? ", beyond what late ranks explain" : "";
}

void tm_look_xla_barrier(const tm_facts *f, tm_advice *out) {
    spent s = spend(f, tm_facts_sum_pod(f, "barrier_ns") - explained(f), out);
    snprintf(out->text, sizeof out->text,
             "Find the device that arrives last at its program, and the reason: its input, its "
             "launches, or more work in the program before.");
    snprintf(out->evidence, sizeof out->evidence,
             "For %s of the %s (%s), GPUs wait in the barrier before a program's first collective "
             "until all have arrived%s. XProf calls more than 10 %% a bottleneck, and leaves this "
             "time out of its all-reduce time.",
             s.share, s.whole, s.time, beside_late(f));
}

/* Writes which collective takes the most time, except barriers: "; the most time, 3.10 ms over all
 * ranks, is in "all-reduce.5" of "jit_step"". */
static void say_largest(const tm_facts *f, char *out, size_t size) {
    const tm_table *table = tm_tables_find(f->tables, "pod.collective");
    size_t largest = table->n_rows;
    int64_t most = 0;
    char time[32];
    *out = '\0';
    for (size_t i = 0; i < table->n_rows; i++) {
        int64_t ns = tm_facts_int(f, "pod.collective", i, "total_ns");
        if (strcmp(tm_table_cell(table, i, "kind")->value.text, "barrier") != 0 && ns > most) {
            most = ns;
            largest = i;
        }
    }
    if (largest == table->n_rows)
        return;
    const tm_cell *program = tm_table_cell(table, largest, "program");
    tm_shown_duration(most, time, sizeof time);
    snprintf(out, size, "; the most time, %s over all ranks, is in \"%.80s\"%s%.80s%s", time,
             tm_table_cell(table, largest, "operation")->value.text, program->null ? "" : " of \"",
             program->null ? "" : program->value.text, program->null ? "" : "\"");
}

void tm_look_xla_collectives(const tm_facts *f, tm_advice *out) {
    int64_t rest = tm_facts_sum_pod(f, "collectives_ns") - explained(f);
    char largest[256];
    spent s = spend(f, rest - f->costs[TM_RULE_XLA_BARRIER], out);
    say_largest(f, largest, sizeof largest);
    snprintf(out->text, sizeof out->text,
             "Communicate less, or overlap it with computation: asynchronous collectives%s, other "
             "sharding, fewer bits, larger messages.",
             f->jax && !is_tpu(f) ? " (--xla_gpu_enable_latency_hiding_scheduler=true in XLA_FLAGS)"
                                  : "");
    snprintf(out->evidence, sizeof out->evidence,
             "For %s of the %s (%s), GPUs only communicate or wait for others%s%s.%s", s.share,
             s.whole, s.time, beside_late(f), largest,
             bounds_3_15(f, " XProf's limits for TPUs are 6 % for all-reduces, from which it "
                            "subtracts the share of input, and 30 % for all collectives. tmerge "
                            "subtracts nothing and counts no time twice."));
}

/* Subtracts the costs of the items on copies and collectives. */
void tm_look_xla_async(const tm_facts *f, tm_advice *out) {
    int64_t all, waits = tm_facts_sum_async(f, &all);
    int64_t rest = waits - f->costs[TM_RULE_EXPOSED_COPIES] - f->costs[TM_RULE_XLA_COLLECTIVES] -
                   f->costs[TM_RULE_TPU_COLLECTIVES] - f->costs[TM_RULE_XLA_DEVICE_COPIES];
    char time[TM_ADVICE_TIME];
    if (all == 0)
        return;
    out->cost_ns = rest > 0 ? rest : 0;
    out->measure = tm_facts_percent(out->cost_ns, all);
    tm_facts_by_rank(f, out->cost_ns, time);
    snprintf(out->text, sizeof out->text,
             "Start transfers earlier, or make them smaller: the computation between a -start and "
             "its -done is too short to hide them.");
    snprintf(out->evidence, sizeof out->evidence,
             "%s of the time of XLA's operations (%s) is waiting for operations that were started "
             "earlier (-done), beyond what other items explain. XProf calls more than 10 %% a "
             "bottleneck.",
             tm_shown_percent(out->measure, 1).text, time);
}

void tm_look_xla_shuffle(const tm_facts *f, tm_advice *out) {
    spent s = spend(f, tm_facts_sum_pod(f, "shuffle_ns"), out);
    snprintf(out->text, sizeof out->text,
             "Rearrange less data: keep arrays in the layout and order that the next operation "
             "needs, gather and scatter whole rows; on TPUs, use sizes that are multiples of 128.");
    snprintf(out->evidence, sizeof out->evidence,
             "For %s of the %s (%s), GPUs run operations that only rearrange data: broadcast, data "
             "formatting, gather, scatter, slice, sort and the like. XProf calls it a bottleneck "
             "from 30 %% on.",
             s.share, s.whole, s.time);
}

/* XProf's rule applies only if matrix units and memory are used less than half of the time. This
 * rule counts time without concurrent computation instead. */
void tm_look_xla_sparse(const tm_facts *f, tm_advice *out) {
    spent s = spend(f, tm_facts_sum_pod(f, "sparse_core_ns"), out);
    snprintf(out->text, sizeof out->text,
             "Give SparseCores less work, or start it earlier: overlap embedding lookups with the "
             "dense layers, balance tables over cores, look up fewer or smaller rows.");
    snprintf(out->evidence, sizeof out->evidence,
             "For %s of the %s (%s), SparseCores work and their TPU core computes nothing. XProf "
             "calls more than 10 %% a bottleneck, and also counts time that overlaps computation.",
             s.share, s.whole, s.time);
}

/* If steps are not marked, most of the other time is before and after the work. */
void tm_look_xla_other(const tm_facts *f, tm_advice *out) {
    if (tm_facts_int(f, "job.job", 0, "steps") == 0)
        return;
    spent s = spend_idle(f, "other_ns", f->costs[TM_RULE_SMALL_KERNELS], out);
    snprintf(
        out->text, sizeof out->text,
        "Look at what hosts do between launches. The usual reason is Python outside of the step "
        "(logging, conversions, reading results); dispatch the next steps before such work%s.",
        f->jax ? ": float(), print() and numpy.asarray() of a result wait for its step, as "
                 "block_until_ready() does, so call them rarely, and only for earlier steps"
               : "");
    snprintf(out->evidence, sizeof out->evidence,
             "For %s of the %s (%s), GPUs idle, and neither input nor a launch explains it%s.%s",
             s.share, s.whole, s.time,
             f->costs[TM_RULE_SMALL_KERNELS] > 0 ? ", nor do small kernels" : "",
             bounds_3_15(f, IDLE_TPU));
}

/* The measure is the share of computation in more than 16 bits. XProf advises 16 bits if less than
 * 10 % of computation is in 16 bits. So the measure must exceed 90 %. */
void tm_look_xla_bits(const tm_facts *f, tm_advice *out) {
    double bits = tm_facts_bits(f);
    int64_t compute = tm_facts_sum_pod(f, "compute_16_ns") + tm_facts_sum_pod(f, "compute_32_ns") +
                      tm_facts_sum_pod(f, "compute_untyped_ns");
    if (isnan(bits))
        return;
    out->measure = nextafter(100.0 - bits, 0.0);
    snprintf(out->text, sizeof out->text,
             "Compute in bfloat16 or float16 if the model allows it: 16-bit matrix products run at "
             "twice the rate or more, and move half the bytes.");
    snprintf(out->evidence, sizeof out->evidence,
             "%s of the computation of known type is in 16 bits or fewer; XProf asks for at least "
             "10 %%. Computation takes %s of the %s.",
             tm_shown_percent(bits, 1).text,
             tm_shown_percent(tm_facts_percent(compute, tm_facts_sum_pod(f, "step_ns")), 1).text,
             tm_facts_whole(f));
}

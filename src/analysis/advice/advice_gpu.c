/* Rules on GPUs that are idle, or slower than they could be. */
#include "advice_rules.h"
#include "analysis/shared/fixes.h"
#include "analysis/shared/words.h"
#include "table/levels.h"
#include "table/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns whether most idle time is in a single gap of each rank. The number of kernels does not
 * cause such idle time. */
static bool is_one_gap(const tm_facts *f) {
    return tm_facts_sum_others(f, "idle.rank", "longest_ns") >
           tm_facts_sum_others(f, "idle.rank", "idle_ns") / 2;
}

/* Writes how to launch fewer kernels, depending on the program that runs the job. */
static void write_fewer_kernels(const tm_facts *f, tm_advice *out) {
    if (f->jax)
        snprintf(out->text, sizeof out->text,
                 "Launch fewer, larger kernels: put one jax.jit around the whole step, write loops "
                 "as jax.lax.scan, use a larger batch. XLA launches operations that it compiles "
                 "together as graphs (--xla_gpu_enable_command_buffer in XLA_FLAGS).");
    else if (tm_facts_speaks_xla(f))
        snprintf(
            out->text, sizeof out->text,
            "Launch fewer, larger kernels: compile more of the step at once (jit, tf.function with "
            "jit_compile=True), let XLA launch it as CUDA or HIP graphs, use a larger batch.");
    else if (f->serves)
        snprintf(out->text, sizeof out->text,
                 "Launch fewer, larger kernels: CUDA or HIP graphs for all batch sizes that the "
                 "engine runs, %sfused operators, a larger batch.",
                 f->torch ? "torch.compile or " : "");
    else
        snprintf(out->text, sizeof out->text,
                 "Launch fewer, larger kernels: %sfused operators, %sCUDA or HIP graphs, a larger "
                 "batch.",
                 f->torch ? "torch.compile or " : "",
                 f->trains && f->torch ? "fused or foreach optimizers, " : "");
}

void tm_look_small_kernels(const tm_facts *f, tm_advice *out) {
    tm_facts_kernels kernels = tm_facts_sum_kernels(f);
    int64_t events = tm_facts_sum_others(f, "launches.rank", "events");
    double small = tm_facts_percent(kernels.under_100_us, kernels.calls);
    double shorter =
        tm_facts_percent(tm_facts_sum_others(f, "launches.rank", "short_events"), events);
    double after =
        tm_facts_percent(tm_facts_sum_others(f, "launches.rank", "host_bound_events"), events);
    /* a few short kernels among long ones cost little, even with gaps after them */
    if (small < 50.0 || f->captures)
        return;
    /* The cost is the gaps between kernels. If most kernels are shorter than their launch, the cost
     * also includes waits for launches. */
    int64_t lost = tm_facts_sum_others(f, "idle.rank", "kernel_wait_ns");
    bool host_bound = shorter >= 25.0 && after >= 50.0;
    const bool besides = host_bound && is_one_gap(f);
    if (host_bound)
        lost += tm_facts_sum_others(f, "idle.rank", "host_work_ns");
    if (besides)
        lost -= tm_facts_sum_others(f, "idle.rank", "longest_ns");
    out->apart = besides; /* the saving is unknown, because a replay without host time also removes
                             the longest gap */
    char time[TM_ADVICE_TIME], mean[32], where[256];
    out->cost_ns = lost;
    out->limit = host_bound ? "host" : "launch";
    out->measure = tm_facts_percent(lost, f->window_ns);
    tm_facts_by_rank(f, lost, time);
    tm_shown_duration(kernels.calls > 0 ? kernels.total_ns / kernels.calls : 0, mean, sizeof mean);
    write_fewer_kernels(f, out);
    tm_facts_launcher(f, TM_LAUNCHED_SHORT, where, sizeof where);
    snprintf(out->text + strlen(out->text), sizeof out->text - strlen(out->text), "%s", where);
    snprintf(out->evidence, sizeof out->evidence,
             "%s of the kernels take under 100 us (mean %s), %s are shorter than the call that "
             "launches them; GPUs idle for %s of their time (%s) %s%s.",
             tm_shown_percent(small, 0).text, mean, tm_shown_percent(shorter, 0).text,
             tm_shown_percent(out->measure, 1).text, time,
             host_bound ? "between kernels and until the next kernel is launched"
                        : "between kernels",
             besides ? ", not counting the longest gap" : "");
}

/* Copies between GPUs and hosts, over all ranks. */
typedef struct host_copies {
    int64_t n, bytes;
    int64_t union_ns;                   /* time in which copies run, summed over kinds and ranks */
    int64_t alone_ns, alone_to_host_ns; /* sums of the time without concurrent computation */
    int64_t exposed_ns; /* like alone_ns, but each rank's value is limited by at_most() */
} host_copies;

/*
 * Returns the time in which copies of a rank run without concurrent computation. If copies of
 * several kinds run at the same time, own->alone_ns counts that time more than once. So the result
 * is limited to the time in which any copy runs, minus the time in which copies certainly overlap
 * computation.
 * @param overlap_ns  longest time in which copies of a single kind overlap computation
 */
static int64_t at_most(const tm_facts *f, const host_copies *own, int64_t rank,
                       int64_t overlap_ns) {
    const tm_table *ranks = tm_tables_find(f->tables, "overlap.rank");
    int64_t all = tm_facts_int(f, "overlap.rank", tm_table_find_row(ranks, &rank, 1), "memory_ns");
    return own->alone_ns < all - overlap_ns || all == 0 ? own->alone_ns : all - overlap_ns;
}

/* Returns the time of infeed in a rank's copies. Infeed is waiting for input, which another rule
 * covers. */
static int64_t infeed_of(const tm_facts *f, int64_t rank) {
    size_t i = tm_table_find_row(tm_tables_find(f->tables, "pod.rank"), &rank, 1);
    return tm_facts_int(f, "pod.rank", i, "infeed_ns");
}

/* Adds the copies of one rank, whose rows start at i, to @p sum. Returns the row after them. Copies
 * from or to unknown host memory count as pinned. */
static size_t add_rank(const tm_facts *f, bool pageable, size_t i, host_copies *sum) {
    const tm_table *kinds = tm_tables_find(f->tables, "transfers.kind");
    int64_t rank = tm_table_cell(kinds, i, "rank")->value.i, most_beside = 0;
    host_copies own = {0};
    for (; i < kinds->n_rows && tm_table_cell(kinds, i, "rank")->value.i == rank; i++) {
        const tm_cell *memory = tm_table_cell(kinds, i, "host_memory");
        const char *kind = tm_table_cell(kinds, i, "kind")->value.text;
        bool to_host = strcmp(kind, "dtoh") == 0;
        bool fits = !memory->null && strcmp(memory->value.text, "pageable") == 0;
        if (fits != pageable || (!to_host && strcmp(kind, "htod") != 0))
            continue;
        int64_t beside = tm_facts_int(f, "transfers.kind", i, "overlap_ns");
        int64_t all = tm_facts_int(f, "transfers.kind", i, "union_ns");
        most_beside = beside > most_beside ? beside : most_beside;
        own.n += tm_facts_int(f, "transfers.kind", i, "count");
        own.bytes += tm_facts_int(f, "transfers.kind", i, "bytes");
        own.union_ns += all;
        int64_t fed = to_host || pageable ? 0 : infeed_of(f, rank);
        own.alone_ns += all - beside > fed ? all - beside - fed : 0;
        own.alone_to_host_ns += to_host ? all - beside : 0;
    }
    sum->n += own.n;
    sum->bytes += own.bytes;
    sum->union_ns += own.union_ns;
    sum->alone_ns += own.alone_ns;
    sum->alone_to_host_ns += own.alone_to_host_ns;
    sum->exposed_ns += own.n > 0 ? at_most(f, &own, rank, most_beside) : 0;
    return i;
}

static host_copies sum_host_copies(const tm_facts *f, bool pageable) {
    const tm_table *kinds = tm_tables_find(f->tables, "transfers.kind");
    host_copies sum = {0};
    for (size_t i = 0; i < kinds->n_rows;)
        i = add_rank(f, pageable, i, &sum);
    return sum;
}

/* Sets the cost, measure and evidence for copies between GPUs and @p what. The caller sets the
 * text. */
static void advise_copies(const tm_facts *f, const host_copies *sum, const char *what,
                          tm_advice *out) {
    char time[TM_ADVICE_TIME];
    int64_t reported = f->costs[TM_RULE_XLA_OUTPUT]; /* cost that another finding already reports */
    out->cost_ns = sum->exposed_ns > reported ? sum->exposed_ns - reported : 0;
    out->measure = tm_facts_percent(out->cost_ns, f->window_ns);
    tm_facts_by_rank(f, out->cost_ns, time);
    char moved[64] = "";
    const char *const units[] = {"MB", "GB", "TB"};
    size_t unit = 0;
    double size = (double)sum->bytes / 1e6;
    for (; size >= 1e4 && unit < 2; unit++)
        size /= 1e3;
    /* Some profilers do not record sizes. */
    if (sum->bytes > 0 && sum->union_ns > 0)
        snprintf(moved, sizeof moved, " move %.1f %s at %.1f GB/s", size, units[unit],
                 (double)sum->bytes / (double)sum->union_ns);
    snprintf(out->evidence, sizeof out->evidence,
             "%" PRId64 " cop%s between GPUs and %s%s; they run without concurrent computation for "
             "%s of the GPU time (%s)%s.",
             sum->n, sum->n == 1 ? "y" : "ies", what, moved, tm_shown_percent(out->measure, 1).text,
             time, reported > 0 ? ", not counting output to hosts" : "");
}

void tm_look_pageable_copies(const tm_facts *f, tm_advice *out) {
    host_copies sum = sum_host_copies(f, true);
    advise_copies(f, &sum, "pageable memory", out);
    bool loads = tm_facts_sum(f, "input.rank", "waits") > 0;
    if (2 * sum.alone_to_host_ns > sum.alone_ns)
        snprintf(out->text, sizeof out->text, "Copy results rarely, and to pinned memory%s: %s.",
                 f->torch ? " with non_blocking=True" : "",
                 f->torch ? "each .item() or .cpu() waits" : "a copy to pageable memory waits");
    else
        snprintf(out->text, sizeof out->text, "Copy from pinned memory%s%s.",
                 tm_facts_speaks_xla(f) ? ", in few large pieces, before the step that needs them"
                 : !f->torch            ? " (cudaMallocHost, hipHostMalloc)"
                 : loads                ? ": DataLoader(pin_memory=True)"
                                        : ": pin_memory()",
                 f->torch ? " and .to(device, non_blocking=True)" : ", asynchronously");
}

/* The advice is a separate stream, unless XLA or TensorFlow chooses the streams. */
void tm_look_exposed_copies(const tm_facts *f, tm_advice *out) {
    host_copies sum = sum_host_copies(f, false);
    bool chosen = tm_facts_speaks_xla(f);
    advise_copies(f, &sum, "the host", out);
    if (3 * sum.alone_to_host_ns > sum.alone_ns)
        snprintf(out->text, sizeof out->text,
                 "Copy less %s the host, or overlap copies with computation: %s.",
                 3 * sum.alone_to_host_ns > 2 * sum.alone_ns ? "to" : "between the GPUs and",
                 chosen ? "offload ahead of time, and only if memory runs short"
                        : "use a separate stream, and offload only if memory runs short");
    else
        snprintf(out->text, sizeof out->text,
                 "Copy less to the GPUs, or overlap copies with computation: prefetch%s, and keep "
                 "on the GPU what every step needs.",
                 chosen ? " the next batch while a step runs" : " on a separate stream");
}

void tm_look_device_allocation(const tm_facts *f, tm_advice *out) {
    const tm_table *table = tm_tables_find(f->tables, "transfers.allocation");
    int64_t steps = tm_facts_int(f, "overview.job", 0, "steps"), calls = 0;
    double lost = 0.0;
    if (f->captures) /* capturing a graph allocates memory, so such calls are normal */
        return;
    for (size_t i = 0; i < table->n_rows; i++) {
        int64_t in_steps = tm_facts_int(f, "transfers.allocation", i, "step_calls");
        double total = (double)tm_facts_int(f, "transfers.allocation", i, "total_ns");
        calls += in_steps;
        if (in_steps > 0)
            /* Only the total time of all calls is known. Assumes that calls in steps take as long
             * as other calls. */
            lost += total * (double)in_steps /
                    (double)tm_facts_int(f, "transfers.allocation", i, "calls");
    }
    /* Fewer calls than steps are normal: a caching allocator makes calls only in the first step. */
    if (calls == 0 || calls < steps)
        return;
    char time[TM_ADVICE_TIME];
    out->cost_ns = (int64_t)lost;
    out->measure = tm_facts_percent(out->cost_ns, f->window_ns);
    tm_facts_by_rank(f, out->cost_ns, time);
    snprintf(out->text, sizeof out->text,
             f->torch ? "Keep device memory between steps: leave the caching allocator on, drop "
                        "empty_cache(), try expandable_segments:True, use less memory."
             : f->jax ? "Keep device memory between steps: let the allocator take it at the start "
                        "(XLA_PYTHON_CLIENT_PREALLOCATE=true, and no XLA_PYTHON_CLIENT_ALLOCATOR)."
             : tm_facts_speaks_xla(f)
                 ? "Keep device memory between steps: let the allocator take it at the start (JAX: "
                   "XLA_PYTHON_CLIENT_PREALLOCATE; TensorFlow: no memory growth)."
                 : "Keep device memory between steps: allocate it once, or from a pool.");
    snprintf(out->evidence, sizeof out->evidence,
             "In %" PRId64 " steps (summed over ranks), %" PRId64
             " calls allocate or free device or pinned memory (cudaMalloc, cudaFree, ...). They "
             "take %s, and may wait for the GPU.",
             steps, calls, time);
}

/* Causes of idle time (columns of idle.rank), each with a description and advice. */
static const struct {
    const char *column, *what, *text;
    const char *torch;  /* advice if the program runs PyTorch; NULL: the general text */
    const char *serves; /* advice for inference engines; NULL: the general text */
    const char *limit;  /* `name` of the row of whatif.item that gives the saving: the kind of work
                           that takes no time in this row's replay */
} idle_causes[] = {
    {"host_work_ns", "the host launches too late",
     "Let the host run ahead of the GPU: CUDA or HIP graphs, less work between launches, more work "
     "in each launch.",
     "Let the host run ahead of the GPU: torch.compile or CUDA graphs, less Python between "
     "launches, a larger batch.",
     "Let the host run ahead of the GPU: schedule the next step while the current one runs, use a "
     "larger batch, and CUDA or HIP graphs for all batch sizes that it runs.",
     "host"},
    {"sync_ns", "the host had waited for the GPU and left its queue empty",
     "Wait for the GPU less often: synchronisation and blocking copies empty its queue.",
     "Wait for the GPU less often: .item(), .cpu(), prints of tensors and synchronize() empty its "
     "queue.",
     NULL, "host"},
    {"alloc_ns", "the host allocates or frees memory, or loads code",
     "Keep memory and code between steps: allocate memory once, or from a pool, and load code "
     "before the first step.",
     "Keep memory and code between steps: leave the caching allocators on, drop empty_cache(), and "
     "run each kernel once before the first step.",
     NULL, "host"},
    {"host_comm_ns", "the host is in communication calls",
     "Do not let communication block the host: use asynchronous calls, on GPU memory.", NULL, NULL,
     "host"},
    {"kernel_wait_ns", "gaps between kernels", "Launch fewer, larger kernels.", NULL, NULL,
     "launch"},
    {"other_ns",
     "kernels that were launched in time wait for something that was not recorded, or their launch "
     "was not recorded",
     "Find what the kernels in the GPU's queue wait for: work that was queued before the recording "
     "began, another process on the same GPU (nvidia-smi or rocm-smi lists them), another GPU, or "
     "the host's memory.",
     NULL, NULL, "launch"},
    {"input_ns", "the host waits for the next batch", "Load data faster.", NULL, NULL, "input"},
    {"turns_ns", "another GPU of the same rank is busy",
     "Let the GPUs of a rank work at the same time: micro-batches in a pipeline, or a process for "
     "each GPU.",
     "Let the GPUs of a rank work at the same time: instead of device_map or DataParallel, use a "
     "process for each GPU (DistributedDataParallel, FSDP, tensor parallel), or micro-batches in a "
     "pipeline.",
     NULL, "host"},
};

enum { N_IDLE_CAUSES = sizeof idle_causes / sizeof *idle_causes };

/* Returns whether the launches of most device work are missing in the traces. */
static bool has_no_launch(const tm_facts *f) {
    return tm_facts_sum(f, "launches.rank", "unlinked") >
           tm_facts_sum(f, "launches.rank", "events");
}

/* long names from programs are cut */
enum { NAME_BYTES = 80 };
#define QUOTED_NAME "\"%.80s%s\""

static const char *cut_mark(const char *name) {
    return strlen(name) > NAME_BYTES ? "..." : "";
}

/* Writes in which call the host waited until the GPU had no more work: " Most of it is in
 * cudaStreamSynchronize of aten::item in train.py(34): step, 24 calls a step."; writes nothing if
 * none was found. */
static void say_call(const tm_facts *f, char *out, size_t size) {
    const tm_table *calls = tm_tables_find(f->tables, "sync.call");
    static const char *const columns[] = {"call", "operator", "inside"};
    static const char *const before[] = {" Most of it is in ", " of ", " in "};
    size_t at = 0;
    double per_step = tm_facts_real(f, "sync.call", 0, "calls_per_step");
    *out = 0;
    if (calls->n_rows == 0 || tm_facts_int(f, "sync.call", 0, "lost_ns") == 0)
        return;
    for (size_t c = 0; c < sizeof columns / sizeof *columns && at < size; c++) {
        const tm_cell *cell = tm_table_cell(calls, 0, columns[c]);
        if (!cell->null)
            at += (size_t)snprintf(out + at, size - at, "%s" QUOTED_NAME, before[c],
                                   cell->value.text, cut_mark(cell->value.text));
    }
    if (at < size && per_step >= 1.0)
        at += (size_t)snprintf(out + at, size - at, ", %.3g call%s a step", per_step,
                               per_step < 1.005 ? "" : "s");
    const char *call = tm_table_cell(calls, 0, "call")->value.text;
    if (at < size)
        snprintf(out + at, size - at, ".%s",
                 strstr(call, "emcpy")
                     ? " A blocking copy waits for the work before it on its stream."
                     : "");
}

/* Returns whether a gap has the given cause and, if there is a plan, is on a rank of the plan. */
static bool is_gap_of(const tm_table *gaps, size_t row, const char *cause, const tm_table *items,
                      size_t plan) {
    return strcmp(tm_table_cell(gaps, row, "cause")->value.text, cause) == 0 &&
           (plan >= items->n_rows ||
            tm_fixes_lists(items, plan, tm_table_cell(gaps, row, "rank")->value.i));
}

const char *tm_facts_host_in_gaps(const tm_facts *f, const char *cause, size_t plan) {
    const tm_table *gaps = tm_tables_find(f->tables, "idle.gap");
    const tm_table *items = tm_tables_find(f->tables, "whatif.item");
    int64_t all_ns = 0, unrecorded_ns = 0, most_ns = 0;
    const char *most = "";
    for (size_t i = 0; i < gaps->n_rows; i++) {
        const tm_cell *call = tm_table_cell(gaps, i, "host");
        int64_t ns = 0;
        if (!is_gap_of(gaps, i, cause, items, plan))
            continue;
        all_ns += tm_facts_int(f, "idle.gap", i, "duration_ns");
        unrecorded_ns += tm_facts_int(f, "idle.gap", i, "unrecorded_ns");
        for (size_t k = i; k < gaps->n_rows && !call->null; k++) {
            const tm_cell *other = tm_table_cell(gaps, k, "host");
            if (is_gap_of(gaps, k, cause, items, plan) && !other->null &&
                strcmp(other->value.text, call->value.text) == 0)
                ns += tm_facts_int(f, "idle.gap", k, "host_ns");
        }
        most = ns > most_ns ? call->value.text : most;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    return all_ns > 0 && 2 * most_ns >= all_ns         ? most
           : all_ns > 0 && 2 * unrecorded_ns >= all_ns ? ""
                                                       : NULL;
}

/* Writes what the host did in most of the longest gaps, if recorded. */
static void say_gaps(const tm_facts *f, char *out, size_t size) {
    const char *call = tm_facts_host_in_gaps(f, "host_work", SIZE_MAX);
    *out = 0;
    if (call && *call)
        snprintf(out, size, " During most of the longest gaps the host is in " QUOTED_NAME ".",
                 call, cut_mark(call));
    else if (call)
        snprintf(out, size, " During most of the longest gaps the host is in no recorded call%s.",
                 f->torch ? ": record with with_stack=True to see the line" : "");
}

/* Returns the kernel that ends most of the longest gaps with this cause; NULL if there is none. The
 * gaps before it must have at least half of the time of all these gaps. Sets *one if a single gap
 * has more than half of the time. */
static const char *held_kernel(const tm_facts *f, const char *cause, bool *one) {
    const tm_table *gaps = tm_tables_find(f->tables, "idle.gap");
    int64_t all_ns = 0, most_ns = 0, longest_ns = 0;
    const char *most = NULL;
    for (size_t i = 0; i < gaps->n_rows; i++) {
        const tm_cell *name = tm_table_cell(gaps, i, "before");
        int64_t ns = 0;
        if (strcmp(tm_table_cell(gaps, i, "cause")->value.text, cause) != 0)
            continue;
        const int64_t gap_ns = tm_facts_int(f, "idle.gap", i, "duration_ns");
        all_ns += gap_ns;
        longest_ns = gap_ns > longest_ns ? gap_ns : longest_ns;
        for (size_t k = i; k < gaps->n_rows && !name->null; k++) {
            const tm_cell *other = tm_table_cell(gaps, k, "before");
            if (strcmp(tm_table_cell(gaps, k, "cause")->value.text, cause) == 0 && !other->null &&
                strcmp(other->value.text, name->value.text) == 0)
                ns += tm_facts_int(f, "idle.gap", k, "duration_ns");
        }
        most = ns > most_ns ? name->value.text : most;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    *one = 2 * longest_ns > all_ns;
    return 2 * most_ns >= all_ns ? most : NULL;
}

/* Returns whether a call waits for the GPU (sync.call). */
static bool waits_for_gpu(const tm_facts *f, const char *call) {
    const tm_table *calls = tm_tables_find(f->tables, "sync.call");
    bool any = false;
    for (size_t i = 0; i < calls->n_rows && call && !any; i++)
        any = strcmp(tm_table_cell(calls, i, "call")->value.text, call) == 0;
    return any;
}

/* Writes which kernel started late although it was queued, and in which call the host waited
 * meanwhile. */
static void say_held(const tm_facts *f, char *out, size_t size) {
    bool one;
    const char *kernel = held_kernel(f, "other", &one),
               *call = tm_facts_host_in_gaps(f, "other", SIZE_MAX);
    const int64_t all = tm_facts_sum_others(f, "idle.rank", "other_ns");
    const bool queued = tm_facts_sum_others(f, "idle.rank", "queued_ns") > all / 2;
    snprintf(out, size, "%s", queued ? " The host launched them in time." : "");
    if (kernel)
        snprintf(out + strlen(out), size - strlen(out), " %s with " QUOTED_NAME ".",
                 one ? "The longest gap ends" : "Most of the longest gaps end", kernel,
                 cut_mark(kernel));
    if (waits_for_gpu(f, call))
        snprintf(
            out + strlen(out), size - strlen(out),
            " Meanwhile the host is in " QUOTED_NAME
            ", which only waits for work that was queued earlier, so this call is not the cause.",
            call, cut_mark(call));
}

/* Measures the idle time that no earlier rule explains. Names the largest cause of all idle time.
 */
void tm_look_gpu_utilization(const tm_facts *f, tm_advice *out) {
    double used = tm_facts_real(f, "overview.job", 0, "gpu_utilization_pct");
    int64_t idle = tm_facts_sum_others(f, "idle.rank", "idle_ns") +
                   tm_facts_sum_others(f, "idle.rank", "turns_ns");
    int64_t rest = idle - f->costs[TM_RULE_INPUT] - f->costs[TM_RULE_SMALL_KERNELS] -
                   f->costs[TM_RULE_SCHEDULER_GAPS];
    /* If communication was not recorded, ranks that wait in it seem idle. */
    if (used < 0.0 || f->captures || tm_facts_int(f, "clock.check", 0, "transfers_alone") > 0)
        return;
    int64_t most = -1;
    size_t cause = 0;
    for (size_t c = 0; c < N_IDLE_CAUSES; c++) {
        int64_t sum = tm_facts_sum_others(f, "idle.rank", idle_causes[c].column);
        cause = sum > most ? c : cause;
        most = sum > most ? sum : most;
    }
    char time[TM_ADVICE_TIME], part[TM_ADVICE_TIME], where[400] = "";
    const char *what = idle_causes[cause].what, *text = idle_causes[cause].text;
    if (f->torch && idle_causes[cause].torch)
        text = idle_causes[cause].torch;
    if (f->serves && idle_causes[cause].serves)
        text = idle_causes[cause].serves;
    if (strcmp(idle_causes[cause].column, "host_work_ns") == 0 && is_one_gap(f))
        text = "Look at what the host does in the longest gap, which has most of the idle time "
               "(tmerge show idle.gap). If it is work that is done once, such as loading code, do "
               "it before the recording.";
    if (strcmp(idle_causes[cause].column, "other_ns") == 0 && has_no_launch(f)) {
        what = "for reasons that the traces do not show: for most GPU work, the launching call was "
               "not recorded";
        text = "Also record what the host does: without the host's calls, the traces cannot show "
               "why GPUs are idle.";
        out->apart = true;
    }
    if (strcmp(idle_causes[cause].column, "sync_ns") == 0)
        say_call(f, where, sizeof where);
    if (strcmp(idle_causes[cause].column, "host_work_ns") == 0)
        say_gaps(f, where, sizeof where);
    if (strcmp(idle_causes[cause].column, "other_ns") == 0 && !out->apart)
        say_held(f, where, sizeof where);
    out->cost_ns = rest;
    out->exact = true;
    out->limit = idle_causes[cause].limit;
    out->apart = out->apart || strcmp(idle_causes[cause].column, "turns_ns") == 0;
    out->measure = tm_facts_percent(rest, f->window_ns);
    tm_facts_by_rank(f, rest, time);
    tm_facts_by_rank(f, most, part);
    snprintf(out->text, sizeof out->text, "%s%s", text, where);
    snprintf(
        out->evidence, sizeof out->evidence,
        "Kernels run for %s of the %s. GPUs idle for %s of their time (%s) for reasons that no "
        "other item explains. Mostly, %s (%s).",
        tm_shown_percent(used, 0).text, tm_facts_whole(f), tm_shown_percent(out->measure, 1).text,
        time, what, part);
}

void tm_look_tensor_cores(const tm_facts *f, tm_advice *out) {
    const tm_table *operators = tm_tables_find(f->tables, "calls.call");
    double used = tm_facts_real(f, "overview.job", 0, "tensor_core_pct");
    bool of_torch = !tm_facts_speaks_xla(f);
    int64_t fit = 0, most = 0;
    const char *name = "";
    size_t end;
    for (size_t i = tm_table_level(operators, "operator", &end); i < end; i++) {
        int64_t own = tm_facts_int(f, "calls.call", i, "device_self_ns");
        if (!tm_table_cell(operators, i, "tensor_cores_fit")->value.i)
            continue;
        fit += own;
        name = own > most ? tm_table_cell(operators, i, "name")->value.text : name;
        most = own > most ? own : most;
    }
    /* Only names of GPU kernels show whether tensor cores are used. */
    if (strcmp(tm_words_device(f->tables), "GPU") != 0)
        return;
    /* If some kernels use tensor cores, the precision of the others was probably chosen on
     * purpose. */
    if (used < 0.0 || used >= 0.5 || most == 0)
        return;
    char time[TM_ADVICE_TIME];
    /* Sets no cost, because it is unknown how much faster the kernels would be. The summed
     * durations of concurrent kernels may exceed the compute time. */
    int64_t compute = tm_facts_sum(f, "overlap.rank", "compute_ns");
    int64_t summed = tm_facts_sum_kernels(f).total_ns;
    out->measure = fmin(tm_facts_percent(fit, compute > summed ? compute : summed), 100.0);
    tm_facts_by_rank(f, fit, time);
    snprintf(out->text, sizeof out->text,
             "Let matrix products use tensor cores if the GPUs have them: use %s, or TF32 on "
             "Ampere and later%s, and sizes in multiples of 8.",
             of_torch ? "torch.autocast" : "16-bit numbers",
             of_torch ? " (torch.set_float32_matmul_precision)" : "");
    snprintf(out->evidence, sizeof out->evidence,
             "Operators that tensor cores could run take %s of the compute time (%s), most of it "
             "%.64s; judged by their names, no kernels use tensor cores.",
             tm_shown_percent(out->measure, 0).text, time, name);
}

/* Finds matrix products in FP32 and TF32, in jobs that use tensor cores. The previous rule covers
 * the other jobs. The measure is the share of FP32 plus half the share of TF32, because 16 bits
 * save about half as much of the time of a TF32 kernel. By peak rates (efficiency/peaks.c), 16 bits
 * save 1 - 19.5/312 = 94 % of the time of FP32 kernels on an A100, 1 - 66.9/989.4 = 93 % on an
 * H100, 1 - 80/2250 = 96 % on a B200 and 1 - 163.4/1307.4 = 88 % on an MI300X. They save 1 -
 * 156/312 = 50 % of the time of TF32 kernels on an A100, and 50 or 51 % on the other three. */
void tm_look_precision(const tm_facts *f, tm_advice *out) {
    int64_t compute = tm_facts_sum(f, "overlap.rank", "compute_ns"),
            all = tm_facts_sum_kernels(f).total_ns;
    int64_t fp32_ns = tm_facts_of_class(f, NULL, "bits32_ns"),
            tf32_ns = tm_facts_of_class(f, NULL, "tf32_ns");
    double used = tm_facts_real(f, "overview.job", 0, "tensor_core_pct");
    all = compute > all ? compute : all;
    double fp32 = tm_facts_percent(fp32_ns, all), tf32 = tm_facts_percent(tf32_ns, all);
    bool by_tf32 = tf32 / 2.0 > fp32;
    if (used < 0.5)
        return;
    char time[TM_ADVICE_TIME], other_time[TM_ADVICE_TIME], other[96] = "";
    out->measure = fmin(fp32 + tf32 / 2.0, 100.0);
    tm_facts_by_rank(f, by_tf32 ? tf32_ns : fp32_ns, time);
    tm_facts_by_rank(f, by_tf32 ? fp32_ns : tf32_ns, other_time);
    if (fp32_ns > 0 && tf32_ns > 0)
        snprintf(other, sizeof other, "; those in %s take %s (%s)", by_tf32 ? "FP32" : "TF32",
                 tm_shown_percent(by_tf32 ? fp32 : tf32, 0).text, other_time);
    snprintf(
        out->text, sizeof out->text, "%s",
        by_tf32 ? f->torch ? "Multiply in 16 bits where the model allows it: torch.autocast "
                             "with bfloat16. Tensor cores do this at twice the rate of TF32."
                           : "Multiply in 16 bits where the model allows it: tensor cores do "
                             "this at twice the rate of TF32."
        : f->torch
            ? "Multiply in 16 bits where the model allows it (torch.autocast), or in TF32 "
              "(torch.set_float32_matmul_precision(\"high\")) on NVIDIA GPUs of Ampere and later."
            : "Multiply in 16 bits where the model allows it, or in TF32 on NVIDIA GPUs of Ampere "
              "and later.");
    snprintf(out->evidence, sizeof out->evidence,
             "Kernels that, by their names, multiply in %s take %s of the compute time (%s)%s.",
             by_tf32 ? "TF32" : "FP32", tm_shown_percent(by_tf32 ? tf32 : fp32, 0).text, time,
             other);
}

/* Finds attention that runs as separate kernels (products, softmax, elementwise), each of which
 * writes all scores to memory. Copies do not count, because fused attention also has them. */
void tm_look_attention(const tm_facts *f, tm_advice *out) {
    int64_t compute = tm_facts_sum(f, "overlap.rank", "compute_ns"),
            all = tm_facts_sum_kernels(f).total_ns;
    int64_t product = tm_facts_of_class(f, "matrix multiply", "attention_ns");
    int64_t softmax = tm_facts_of_class(f, "softmax", "attention_ns");
    int64_t unfused = product + softmax + tm_facts_of_class(f, "elementwise", "attention_ns");
    int64_t fused = tm_facts_of_class(f, "attention", "total_ns");
    if (product == 0 || softmax == 0)
        return;
    char time[TM_ADVICE_TIME];
    all = compute > all ? compute : all;
    out->measure = fmin(tm_facts_percent(unfused, all), 100.0);
    tm_facts_by_rank(f, unfused, time);
    snprintf(
        out->text, sizeof out->text,
        "Let attention run as one kernel (flash, memory-efficient or cuDNN)%s. Such kernels need "
        "16 bits and do not support every mask, bias or head size.",
        f->torch
            ? "; torch.nn.attention.sdpa_kernel with a single backend warns about what prevents it"
            : "");
    snprintf(out->evidence, sizeof out->evidence,
             "Matrix products, softmax and elementwise kernels that attention operators launch "
             "take %s of the compute time (%s); fused attention kernels take %s.",
             tm_shown_percent(out->measure, 0).text, time,
             tm_shown_percent(tm_facts_percent(fused, all), 0).text);
}

void tm_look_optimizer(const tm_facts *f, tm_advice *out) {
    const double healthy = 0.15;
    int64_t optimizer = tm_facts_sum(f, "phases.step", "optimizer_ns");
    int64_t steps = tm_facts_sum(f, "phases.step", "step_ns");
    char time[TM_ADVICE_TIME];
    /* An optimizer without kernels runs only on the host, and costs no GPU time. */
    if (tm_facts_sum(f, "phases.step", "gpu_optimizer_ns") == 0)
        return;
    out->measure = tm_facts_percent(optimizer, steps);
    out->cost_ns = optimizer - (int64_t)(healthy * (double)steps);
    tm_facts_by_rank(f, optimizer, time);
    snprintf(out->text, sizeof out->text,
             "Make the optimizer's step cheaper: %ssharded states, fewer steps by gradient "
             "accumulation.",
             tm_facts_speaks_xla(f) ? "in the same program as the gradients, "
                                    : "fused=True or foreach=True, torch.compile, ");
    snprintf(out->evidence, sizeof out->evidence,
             "The optimizer takes %.0f %% of the %s (%s); under 15 %% is usual, and only time "
             "above 15 %% counts as cost.",
             out->measure, tm_facts_whole(f), time);
}

/* What one rank does in a step, in the order in which its threads do it.
 *
 * Two clocks run: that of the CPU, which works through its operators and queues kernels ahead, and
 * that of each stream, which takes a kernel when it is free and the launch has reached it. The
 * figures are typical of a fast host with an H100: about 5 us for a launch, 1 us from its return to
 * the kernel, 1 us between two queued kernels. All draws come from the rank's own stream of random
 * numbers, and always in the same order, whether or not the events are kept: never two draws in
 * one expression, whose order is the compiler's choice. */
#include "sim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Copies over PCIe run at about 20 GB/s, that is 20 B/ns, after a start of 1.2 us. */
#define COPY_START_NS 1200
#define COPY_BYTES_PER_NS 20

/* One batch of 16,384 token numbers, eight bytes each. */
#define BATCH_BYTES INT64_C(131072)

/* A kernel and its share of a layer's forward time. */
typedef struct share {
    tms_kind kind;
    int64_t ppm;
} share;

/* A pass over a layer: its kernels, and the operators around them, which come in pairs. */
typedef struct pass {
    const share *kernels;
    int n_kernels;
    tms_kind outer[3];
    tms_kind inner[3];
    bool backward;
} pass;

/* Adds up to a whole forward time. */
static const share forward_kernels[] = {
    {TMS_GPU_NORM, 40000},      {TMS_GPU_GEMM_QKV, 260000}, {TMS_GPU_FLASH, 200000},
    {TMS_GPU_GEMM_MLP, 440000}, {TMS_GPU_GELU, 60000},
};

/* Twice the forward time: each product needs the gradient of its input and of its weights. */
static const share backward_kernels[] = {
    {TMS_GPU_GELU_BACKWARD, 90000}, {TMS_GPU_GEMM_DGRAD, 440000},     {TMS_GPU_GEMM_WGRAD, 430000},
    {TMS_GPU_GEMM_DGRAD, 260000},   {TMS_GPU_FLASH_BACKWARD, 450000}, {TMS_GPU_GEMM_WGRAD, 260000},
    {TMS_GPU_NORM_BACKWARD, 70000},
};

/* Operators take turns in threes; backward has the partners at the same places. */
static const pass forward_pass = {
    forward_kernels,
    sizeof forward_kernels / sizeof forward_kernels[0],
    {TMS_OP_LINEAR, TMS_OP_ATTENTION, TMS_OP_NORM},
    {TMS_OP_ADDMM, TMS_OP_FLASH, TMS_OP_NATIVE_NORM},
    false,
};

static const pass backward_pass = {
    backward_kernels,
    sizeof backward_kernels / sizeof backward_kernels[0],
    {TMS_OP_EVALUATE, TMS_OP_EVALUATE_FLASH, TMS_OP_EVALUATE_NORM},
    {TMS_OP_ADDMM_BACKWARD, TMS_OP_FLASH_BACKWARD, TMS_OP_NORM_BACKWARD},
    true,
};

/* An operator or annotation that has begun. */
typedef struct span {
    size_t event;
    int64_t begin_ns;
    int64_t parent_id; /* the operator to return to */
} span;

/* Whatever waits for two things begins with the later one. */
static int64_t max_ns(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Lets the running thread work for a while. */
static void spend(tms_sim *sim, int64_t low_ns, int64_t high_ns) {
    sim->cpu_ns += tms_rng_range(&sim->rng, low_ns, high_ns);
}

/* Begins an operator or annotation; `value` is its sequence or step number. */
static span open_span(tms_sim *sim, tms_kind kind, int64_t value) {
    tms_event event = {.begin_ns = sim->cpu_ns,
                       .external_id = ++sim->external_id,
                       .value = value,
                       .kind = kind,
                       .track = sim->thread};
    span result = {.begin_ns = sim->cpu_ns, .parent_id = sim->op_id};

    result.event = tms_events_push(sim->out, &event);
    /* GPU work links to operators: annotations in between do not change the link. */
    if (tms_kind_get(kind)->shape == TMS_SHAPE_OP) {
        sim->op_id = event.external_id;
    }
    spend(sim, 500, 1300);
    return result;
}

/* Ends an operator or annotation and returns to the operator around it. */
static void close_span(tms_sim *sim, span opened) {
    spend(sim, 300, 700);
    sim->out->items[opened.event].duration_ns = sim->cpu_ns - opened.begin_ns;
    sim->op_id = opened.parent_id;
}

/* A CUDA runtime call; returns its begin. */
static int64_t call(tms_sim *sim, tms_kind kind, int64_t low_ns, int64_t high_ns) {
    tms_event event = {.begin_ns = sim->cpu_ns,
                       .correlation = ++sim->correlation,
                       .external_id = sim->op_id,
                       .kind = kind,
                       .track = sim->thread};

    spend(sim, low_ns, high_ns);
    event.duration_ns = sim->cpu_ns - event.begin_ns;
    (void)tms_events_push(sim->out, &event);
    spend(sim, 200, 500);
    return event.begin_ns;
}

/* Queues work on the compute stream, with the call that launches it. */
static void launch(tms_sim *sim, tms_kind kind, int64_t duration_ns, int64_t bytes) {
    tms_shape shape = tms_kind_get(kind)->shape;
    tms_kind caller = shape == TMS_SHAPE_MEMCPY   ? TMS_RT_MEMCPY
                      : shape == TMS_SHAPE_MEMSET ? TMS_RT_MEMSET
                                                  : TMS_RT_LAUNCH;
    tms_event event = {
        .duration_ns = duration_ns, .value = bytes, .kind = kind, .track = TMS_TRACK_COMPUTE};
    int64_t reached_ns;
    int64_t free_ns;

    event.launch_ns = call(sim, caller, 3500, 6500);
    event.correlation = sim->correlation;
    event.external_id = sim->op_id;
    /* A launch takes about 1 us to reach an idle GPU; kernels in a queue follow with a gap. */
    reached_ns = sim->cpu_ns + tms_rng_range(&sim->rng, 800, 1600);
    free_ns = sim->compute_free_ns + tms_rng_range(&sim->rng, 600, 1400);
    event.begin_ns = max_ns(reached_ns, free_ns);
    sim->compute_free_ns = event.begin_ns + duration_ns;
    if (sim->gpu_begin_ns == 0) {
        sim->gpu_begin_ns = event.begin_ns;
    }
    (void)tms_events_push(sim->out, &event);
}

/* Queues a compute kernel that takes `ppm` of a layer's forward time on a normal rank. */
static void compute(tms_sim *sim, tms_kind kind, int64_t ppm) {
    const tms_config *config = sim->config;
    int64_t mean_ns = tms_scale_ppm(tms_scale_ppm(config->compute_ns, ppm), sim->compute_ppm);

    launch(sim, kind, tms_rng_around(&sim->rng, mean_ns, config->jitter_ppm), 0);
}

/* A copy or a memset; the slow rank's slowness is in its computing, not here. */
static void copy(tms_sim *sim, tms_kind kind, int64_t bytes) {
    int64_t mean_ns = COPY_START_NS + bytes / COPY_BYTES_PER_NS;

    launch(sim, kind, tms_rng_around(&sim->rng, mean_ns, sim->config->jitter_ppm), bytes);
}

/* A [memory] record of torch's allocator; negative bytes are a free. */
static void allocation(tms_sim *sim, int64_t bytes) {
    tms_event event = {
        .begin_ns = sim->cpu_ns, .value = bytes, .kind = TMS_INSTANT_MEMORY, .track = sim->thread};

    (void)tms_events_push(sim->out, &event);
}

/* One layer, forward or backward: pairs of nested operators with the kernels spread over them. */
static void layer(tms_sim *sim, const pass *what, int64_t index) {
    int64_t ops = sim->config->cpu_ops;
    int64_t pairs = ops > 0 ? (ops + 1) / 2 : 1;
    int64_t first = (sim->step * sim->config->layers + index) * pairs + 1;
    int64_t k = 0;

    /* Kernels are dealt out evenly; with many operators most of them launch nothing, as views and
     * reshapes in real models. */
    for (int64_t i = 0; i < pairs; i++) {
        /* Backward meets forward's operators in reverse: each pair has its partner's number. */
        int64_t pair = what->backward ? pairs - 1 - i : i;
        bool nested = 2 * pair + 1 < ops; /* an odd number leaves one operator alone */
        span outer = {0};
        span inner = {0};

        if (ops > 0) {
            outer = open_span(sim, what->outer[pair % 3], first + pair);
        }
        if (nested) {
            inner = open_span(sim, what->inner[pair % 3], first + pair);
        }
        for (; k < (i + 1) * what->n_kernels / pairs; k++) {
            compute(sim, what->kernels[k].kind, what->kernels[k].ppm);
        }
        if (nested) {
            close_span(sim, inner);
        }
        if (ops > 0) {
            close_span(sim, outer);
        }
    }
}

/* Launches a bucket's all-reduce behind the backward kernels queued so far. */
static void launch_all_reduce(tms_sim *sim, tms_bucket *bucket) {
    /* The order is torch's: the operator that carries the arguments, the hand-over between the two
     * streams by an event, then the launch inside the annotation. */
    span comms = open_span(sim, TMS_OP_COMMS, 0);
    span annotation;
    int64_t reached_ns;
    int64_t computed_ns;

    bucket->comms_id = sim->external_id;
    (void)call(sim, TMS_RT_EVENT_RECORD, 1500, 3000);
    (void)call(sim, TMS_RT_WAIT_EVENT, 1500, 3000);
    annotation = open_span(sim, TMS_ANN_ALL_REDUCE, 0);
    bucket->annotation_id = sim->external_id;
    bucket->launch_ns = call(sim, TMS_RT_LAUNCH_EX, 6000, 9000);
    bucket->correlation = sim->correlation;
    reached_ns = sim->cpu_ns + tms_rng_range(&sim->rng, 800, 1600);
    /* NCCL's stream sees the event of the compute stream a little later than it happens. */
    computed_ns = sim->compute_free_ns + tms_rng_range(&sim->rng, 1200, 2400);
    bucket->ready_ns = max_ns(reached_ns, computed_ns);
    close_span(sim, annotation);
    close_span(sim, comms);
}

/* The host prepares a batch and sends it to the GPU. */
static void load_batch(tms_sim *sim) {
    span loader = open_span(sim, TMS_ANN_DATALOADER, 0);
    span to;

    spend(sim, 60000, 140000);
    close_span(sim, loader);
    to = open_span(sim, TMS_OP_TO, 0);
    allocation(sim, 2 * BATCH_BYTES);
    for (int i = 0; i < 2; i++) { /* tokens and targets */
        span copying = open_span(sim, TMS_OP_COPY, 0);

        copy(sim, TMS_GPU_MEMCPY, BATCH_BYTES);
        close_span(sim, copying);
    }
    close_span(sim, to);
}

/* The layers in reverse; a bucket is reduced as soon as its last layer is done, while the rest goes
 * on. */
static void backward(tms_sim *sim) {
    const tms_config *config = sim->config;
    int64_t bucket = 0;

    for (int64_t done = 1; done <= config->layers; done++) {
        layer(sim, &backward_pass, config->layers - done);
        /* The layers are split as evenly as they can be; each bucket has at least one. */
        while (bucket < config->buckets &&
               (bucket + 1) * config->layers / config->buckets <= done) {
            launch_all_reduce(sim, &sim->buckets[bucket++]);
        }
    }
}

void tms_sim_head(tms_sim *sim, tms_events *out) {
    const tms_config *config = sim->config;
    span loss;

    /* A step's draws do not depend on how many the step before made. */
    sim->rng =
        tms_rng_start((uint64_t)config->seed, (uint64_t)sim->layout.rank, (uint64_t)sim->step);
    sim->out = out;
    sim->thread = TMS_TRACK_HOST;
    sim->op_id = 0;
    sim->gpu_begin_ns = 0;
    sim->step_begin_ns = sim->cpu_ns;
    sim->step_event = open_span(sim, TMS_ANN_STEP, config->first_step + sim->step).event;
    sim->step_id = sim->external_id;
    load_batch(sim);
    allocation(sim, config->layers * 6 * BATCH_BYTES);
    for (int64_t i = 0; i < config->layers; i++) {
        layer(sim, &forward_pass, i);
    }
    loss = open_span(sim, TMS_OP_LOSS, 0);
    compute(sim, TMS_GPU_LOSS, 100000);
    close_span(sim, loss);

    /* loss.backward() hands over to torch's own thread and waits for it. */
    spend(sim, 20000, 40000);
    sim->thread = TMS_TRACK_AUTOGRAD;
    sim->op_id = 0;
    backward(sim);
}

/* Records the all-reduce kernels, whose times are known by now. */
static void record_all_reduces(tms_sim *sim) {
    for (int64_t i = 0; i < sim->config->buckets; i++) {
        const tms_bucket *bucket = &sim->buckets[i];
        tms_event event = {.begin_ns = bucket->begin_ns,
                           .duration_ns = bucket->end_ns - bucket->begin_ns,
                           .launch_ns = bucket->launch_ns,
                           .correlation = bucket->correlation,
                           .external_id = bucket->comms_id,
                           .kind = TMS_GPU_ALL_REDUCE,
                           .track = TMS_TRACK_COMM};

        assert(bucket->begin_ns >= bucket->ready_ns && bucket->begin_ns >= sim->comm_free_ns);
        (void)tms_events_push(sim->out, &event);
        sim->comm_free_ns = bucket->end_ns;
        /* The annotation's copy on the GPU has the same times, before the writer widens it. */
        event.kind = TMS_GPU_ANN_ALL_REDUCE;
        event.external_id = bucket->annotation_id;
        (void)tms_events_push(sim->out, &event);
    }
}

/* Waits (on the GPU) for all buckets, then updates the weights; the CPU itself does not wait here.
 */
static void optimizer(tms_sim *sim) {
    span annotation = open_span(sim, TMS_ANN_OPTIMIZER, 0);
    span adamw;

    (void)call(sim, TMS_RT_WAIT_EVENT, 1500, 3000);
    /* Gradients are complete when the last bucket is: this is where slow networks are felt. */
    sim->compute_free_ns = max_ns(sim->compute_free_ns, sim->comm_free_ns);
    adamw = open_span(sim, TMS_OP_ADAMW, 0);
    /* Four launches that together take a twentieth of the forward pass. */
    for (int i = 0; i < 4; i++) {
        compute(sim, TMS_GPU_ADAMW, sim->config->layers * 12500);
    }
    close_span(sim, adamw);
    close_span(sim, annotation);
    annotation = open_span(sim, TMS_ANN_ZERO_GRAD, 0);
    spend(sim, 5000, 15000);
    close_span(sim, annotation);
}

/* Waits for the GPU, so that every event of the step lies inside its annotation. */
static void synchronize(tms_sim *sim) {
    tms_event event = {.begin_ns = sim->cpu_ns,
                       .correlation = ++sim->correlation,
                       .kind = TMS_RT_SYNCHRONIZE,
                       .track = sim->thread};

    spend(sim, 2000, 4000);
    sim->cpu_ns = max_ns(sim->cpu_ns, max_ns(sim->compute_free_ns, sim->comm_free_ns) +
                                          tms_rng_range(&sim->rng, 3000, 6000));
    event.duration_ns = sim->cpu_ns - event.begin_ns;
    (void)tms_events_push(sim->out, &event);
}

/* The step's annotations, then the moment between two steps in which the profiler turns its page.
 */
static void end_step(tms_sim *sim) {
    tms_events *out = sim->out;
    tms_event event = {.begin_ns = sim->gpu_begin_ns,
                       .duration_ns = sim->compute_free_ns - sim->gpu_begin_ns,
                       .external_id = sim->step_id,
                       .value = sim->config->first_step + sim->step,
                       .kind = TMS_GPU_ANN_STEP,
                       .track = TMS_TRACK_COMPUTE};

    (void)tms_events_push(out, &event);
    spend(sim, 8000, 12000);
    out->items[sim->step_event].duration_ns = sim->cpu_ns - sim->step_begin_ns;
    out->step = event.value;
    out->step_begin_ns = sim->step_begin_ns;
    out->step_end_ns = sim->cpu_ns;
    spend(sim, 5000, 20000);
    sim->step++;
}

void tms_sim_tail(tms_sim *sim, tms_events *out) {
    span zero;

    sim->out = out;
    record_all_reduces(sim);
    sim->thread = TMS_TRACK_HOST;
    sim->op_id = 0;
    spend(sim, 15000, 30000);
    /* Queued right behind the backward pass: runs while the last bucket is still reduced. */
    zero = open_span(sim, TMS_OP_ZERO, 0);
    copy(sim, TMS_GPU_MEMSET, 2 * BATCH_BYTES);
    close_span(sim, zero);
    optimizer(sim);
    allocation(sim, -sim->config->layers * 6 * BATCH_BYTES);
    allocation(sim, -2 * BATCH_BYTES);
    synchronize(sim);
    end_step(sim);
}

int64_t tms_sim_profiler_begin_ns(const tms_config *config, int64_t rank) {
    /* No step has this number: the draw is independent of all steps. */
    tms_rng rng = tms_rng_start((uint64_t)config->seed, (uint64_t)rank, UINT64_MAX);

    return TMS_EPOCH_NS + tms_rng_range(&rng, 0, 50000);
}

tms_status tms_sim_init(tms_sim *sim, const tms_config *config, int64_t rank, tms_error *err) {
    memset(sim, 0, sizeof *sim);
    sim->config = config;
    sim->layout = tms_layout_of(config, rank);
    sim->compute_ppm = rank == config->slow_rank ? config->slow_ppm : 1000000;
    /* The first step begins a while after the profiler has started, at another time on each rank.
     */
    sim->cpu_ns = tms_sim_profiler_begin_ns(config, rank) + 300000;
    /* One more than needed, so that a job without buckets is no special case for calloc. */
    sim->buckets = calloc((size_t)config->buckets + 1, sizeof *sim->buckets);
    if (sim->buckets == NULL) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for %lld buckets",
                        (long long)config->buckets);
    }
    return TMS_OK;
}

void tms_sim_free(tms_sim *sim) {
    free(sim->buckets);
    memset(sim, 0, sizeof *sim);
}

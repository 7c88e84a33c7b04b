/* A GPT-like model with tensor, data and pipeline parallelism. The pipeline runs all forward passes
 * before all backward passes (GPipe). A pair of stages therefore first sends only forward, then
 * only backward, so one stream per pair cannot cause a deadlock. */
#include "model.h"

#include "cpu.h"
#include "gpu.h"

/* Extra kernels per layer with --fault small-kernels, and their duration. */
#define SMALL_KERNELS 20
#define SMALL_KERNEL_NS 1500

/* With pageable memory, batches are larger by this factor. Otherwise their copies would be too
 * short to notice. */
#define PAGEABLE_FACTOR 16

/* A kernel, and its share of a layer's forward time. */
typedef struct layer_kernel {
    tms_kind kind;
    int64_t ppm;
} layer_kernel;

/* A pass over one layer: its kernels, and the pairs of operators that launch them. */
typedef struct pass {
    const layer_kernel *kernels;
    int n_kernels;
    tms_kind outer[3];
    tms_kind inner[3];
    bool backward;
} pass;

/* Kernels of a layer's forward pass. Their sum is the layer's forward time. */
static const layer_kernel forward_kernels[] = {
    {TMS_GPU_NORM, 40000},      {TMS_GPU_GEMM_QKV, 260000}, {TMS_GPU_FLASH, 200000},
    {TMS_GPU_GEMM_MLP, 440000}, {TMS_GPU_GELU, 60000},
};

/* Kernels of a layer's backward pass. Their sum is twice the forward time, because each product
 * needs the gradients of its input and of its weights. */
static const layer_kernel backward_kernels[] = {
    {TMS_GPU_GELU_BACKWARD, 90000}, {TMS_GPU_GEMM_DGRAD, 440000},     {TMS_GPU_GEMM_WGRAD, 430000},
    {TMS_GPU_GEMM_DGRAD, 260000},   {TMS_GPU_FLASH_BACKWARD, 450000}, {TMS_GPU_GEMM_WGRAD, 260000},
    {TMS_GPU_NORM_BACKWARD, 70000},
};

/* The operator pairs of each pass. A layer uses the three pairs in turn. The backward pass lists
 * the counterparts of the forward pairs in the same order. */
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

static int64_t stage_layers(const tms_sim *sim) {
    return tms_config_stage_layers(sim->config, sim->placement.pp);
}

/* Returns the number of gradient buckets of the rank's stage; 0 if there is no data-parallel group.
 */
static int64_t stage_buckets(const tms_sim *sim) {
    return sim->channels[TMS_ROLE_DATA] == NULL
               ? 0
               : tms_config_stage_buckets(sim->config, sim->placement.pp);
}

/* Returns whether the rank's stage loads batches. The first stage needs the tokens, and the last
 * stage needs the targets. */
static bool loads(const tms_sim *sim) {
    return sim->channels[TMS_ROLE_PREVIOUS] == NULL || sim->channels[TMS_ROLE_NEXT] == NULL;
}

/* Rounds the size of a message so that it divides into equal parts for all members. */
static int64_t divisible(const tms_sim *sim, tms_role role, int64_t bytes) {
    int64_t unit = 2 * sim->channels[role]->ranks.size;

    return bytes < unit ? unit : bytes / unit * unit;
}

/* Runs a collective of the tensor-parallel group and waits for it. Nothing is computed meanwhile.
 */
static void tensor(tms_sim *sim, tms_collective what, int64_t layer) {
    int64_t bytes = tms_config_scaled_bytes(sim->config, sim->config->activation_bytes, layer);
    tms_message message = {what, TMS_DTYPE_BFLOAT16, bytes};

    if (what != TMS_ALL_REDUCE) {
        message.bytes = divisible(sim, TMS_ROLE_TENSOR, bytes);
    }
    tms_cpu_await(sim, tms_cpu_communicate(sim, TMS_ROLE_TENSOR, message));
    tms_cpu_push_comms(sim);
}

/* Adds the operators and kernels of a layer. Operators come in pairs, one nested in the other, and
 * the kernels are spread over the pairs.
 * @param index number of the layer, counted over all microbatches of the job; the operators'
 * sequence numbers follow from it */
static void operators(tms_sim *sim, const pass *what, int64_t index) {
    int64_t ops = sim->config->cpu_ops;
    int64_t pairs = ops > 0 ? (ops + 1) / 2 : 1;
    int64_t first = index * pairs + 1;
    int64_t k = 0;

    /* The kernels are spread evenly over the pairs. If there are more pairs than kernels, some
     * pairs launch nothing. In real models, views and reshapes launch nothing. */
    for (int64_t i = 0; i < pairs; i++) {
        /* The backward pass runs the pairs in reverse order. Each of its pairs has the sequence
         * number of its forward pair. */
        int64_t pair = what->backward ? pairs - 1 - i : i;
        bool nested = 2 * pair + 1 < ops; /* if `ops` is odd, one pair lacks its inner operator */
        tms_span outer = {0};
        tms_span inner = {0};

        if (ops > 0) {
            outer = tms_cpu_open(sim, what->outer[pair % 3], first + pair);
        }
        if (nested) {
            inner = tms_cpu_open(sim, what->inner[pair % 3], first + pair);
        }
        for (; k < (i + 1) * what->n_kernels / pairs; k++) {
            tms_cpu_compute(sim, what->kernels[k].kind, what->kernels[k].ppm);
        }
        if (nested) {
            tms_cpu_close(sim, inner);
        }
        if (ops > 0) {
            tms_cpu_close(sim, outer);
        }
    }
}

/* Adds one layer of one microbatch, with the collectives of its tensor-parallel group. */
static void layer(tms_sim *sim, const pass *what, int64_t microbatch, int64_t index) {
    const tms_config *config = sim->config;
    int64_t batches = sim->step * config->microbatches + microbatch;

    if (config->sequence_parallel != 0) {
        tensor(sim, TMS_ALL_GATHER, index);
    }
    operators(sim, what, batches * stage_layers(sim) + index);
    if (tms_config_has(config, TMS_FAULT_SMALL_KERNELS)) {
        for (int i = 0; i < SMALL_KERNELS; i++) {
            tms_cpu_kernel(sim, TMS_GPU_SMALL, SMALL_KERNEL_NS);
        }
    }
    if (config->tp > 1) {
        tensor(sim, config->sequence_parallel != 0 ? TMS_REDUCE_SCATTER : TMS_ALL_REDUCE, index);
    }
}

/* Copies a batch from pageable memory, and makes the CPU wait until the copy ends. The step has
 * queued only copies so far, so tms_gpu_advance() finds when the copy ends. */
static void copy_pageable(tms_sim *sim) {
    tms_event event = {.kind = TMS_RT_STREAM_SYNCHRONIZE, .track = sim->thread};

    tms_cpu_copy(sim, TMS_GPU_MEMCPY_PAGEABLE, PAGEABLE_FACTOR * TMS_BATCH_BYTES);
    (void)tms_gpu_advance(sim, NULL);
    event.begin_ns = sim->cpu_ns;
    event.correlation = ++sim->correlation;
    event.external_id = sim->op_id;
    tms_cpu_spend(sim, 2000, 4000);
    if (sim->cpu_ns < sim->compute_free_ns) {
        sim->cpu_ns = sim->compute_free_ns;
    }
    tms_cpu_spend(sim, 1000, 2000);
    event.duration_ns = sim->cpu_ns - event.begin_ns;
    (void)tms_events_push(sim->events, &event);
}

/* Prepares a batch on the host and copies it to the GPU. */
static void load_batch(tms_sim *sim) {
    const tms_config *config = sim->config;
    tms_span loader = tms_cpu_open(sim, TMS_ANN_DATALOADER, 0);
    tms_span to;

    tms_cpu_spend(sim, 60000, 140000);
    if (tms_config_has(config, TMS_FAULT_SLOW_LOADER)) {
        /* The GPU idles for half of the step's compute time. */
        int64_t late_ns = config->compute_ns * stage_layers(sim) * 3 / 2;

        sim->cpu_ns += tms_rng_around(&sim->rng, late_ns, config->jitter_ppm);
    }
    tms_cpu_close(sim, loader);
    to = tms_cpu_open(sim, TMS_OP_TO, 0);
    tms_cpu_allocate(sim, 2 * TMS_BATCH_BYTES);
    for (int i = 0; i < 2; i++) { /* tokens and targets */
        tms_span copying = tms_cpu_open(sim, TMS_OP_COPY, 0);

        if (tms_config_has(config, TMS_FAULT_PAGEABLE)) {
            copy_pageable(sim);
        } else {
            tms_cpu_copy(sim, TMS_GPU_MEMCPY, TMS_BATCH_BYTES);
        }
        tms_cpu_close(sim, copying);
    }
    tms_cpu_close(sim, to);
}

/* Loads all batches of the step and broadcasts each in the tensor-parallel group. */
static void load(tms_sim *sim) {
    tms_message message = {TMS_BROADCAST, TMS_DTYPE_LONG, TMS_BATCH_BYTES};

    for (int64_t i = 0; i < sim->config->microbatches && loads(sim); i++) {
        load_batch(sim);
    }
    for (int64_t i = 0; i < sim->config->microbatches && loads(sim) && sim->config->tp > 1; i++) {
        tms_cpu_await(sim, tms_cpu_communicate(sim, TMS_ROLE_TENSOR, message));
        tms_cpu_push_comms(sim);
    }
}

/* Sends or receives the activations of a microbatch, or their gradients. */
static size_t pass_on(tms_sim *sim, tms_role role, tms_collective what, int64_t microbatch) {
    const tms_config *config = sim->config;
    tms_message message = {what, TMS_DTYPE_BFLOAT16,
                           tms_config_scaled_bytes(config, config->activation_bytes, microbatch)};
    size_t comm = tms_cpu_communicate(sim, role, message);

    tms_cpu_push_comms(sim);
    return comm;
}

/* Reduces a bucket of gradients, or gathers its parameters. */
static size_t bucket(tms_sim *sim, tms_collective what, int64_t index) {
    int64_t bytes = tms_config_scaled_bytes(sim->config, sim->config->bucket_bytes, index);
    tms_message message = {what, TMS_DTYPE_BFLOAT16, bytes};

    if (what != TMS_ALL_REDUCE) {
        message.bytes = divisible(sim, TMS_ROLE_DATA, bytes);
    }
    return tms_cpu_communicate(sim, TMS_ROLE_DATA, message);
}

/* Gathers the sharded parameters that layer @p index needs. The parameters have as many parts as
 * there are gradient buckets, in reverse order. Each part is gathered right before its first layer.
 */
static void gather(tms_sim *sim, int64_t index, size_t *gathered) {
    int64_t buckets = stage_buckets(sim);
    int64_t layers = stage_layers(sim);

    for (int64_t part = 0; part < buckets; part++) {
        if (part * layers / buckets != index) {
            continue;
        }
        if (part == 0) {
            *gathered = bucket(sim, TMS_ALL_GATHER, buckets - 1);
        }
        tms_cpu_await(sim, *gathered);
        if (part + 1 < buckets) {
            *gathered = bucket(sim, TMS_ALL_GATHER, buckets - 2 - part);
        }
        tms_cpu_push_comms(sim);
    }
}

static void forward(tms_sim *sim, int64_t microbatch) {
    const tms_config *config = sim->config;
    size_t gathered = 0;
    tms_span loss;

    tms_cpu_allocate(sim, stage_layers(sim) * 6 * TMS_BATCH_BYTES);
    if (sim->channels[TMS_ROLE_PREVIOUS] != NULL) {
        tms_cpu_await(sim, pass_on(sim, TMS_ROLE_PREVIOUS, TMS_RECV, microbatch));
    }
    for (int64_t i = 0; i < stage_layers(sim); i++) {
        if (config->sharded != 0 && microbatch == 0) {
            gather(sim, i, &gathered);
        }
        layer(sim, &forward_pass, microbatch, i);
    }
    if (sim->channels[TMS_ROLE_NEXT] != NULL) {
        (void)pass_on(sim, TMS_ROLE_NEXT, TMS_SEND, microbatch);
    } else {
        loss = tms_cpu_open(sim, TMS_OP_LOSS, 0);
        tms_cpu_compute(sim, TMS_GPU_LOSS, 100000);
        tms_cpu_close(sim, loss);
    }
}

/* Runs the layers in reverse. In the last microbatch, reduces a bucket as soon as its last layer is
 * done, while the next layers run. */
static void backward_layers(tms_sim *sim, int64_t microbatch) {
    const tms_config *config = sim->config;
    tms_collective what = config->sharded != 0 ? TMS_REDUCE_SCATTER : TMS_ALL_REDUCE;
    int64_t layers = stage_layers(sim);
    int64_t buckets = microbatch == config->microbatches - 1 ? stage_buckets(sim) : 0;
    int64_t next = 0;

    for (int64_t done = 1; done <= layers; done++) {
        layer(sim, &backward_pass, microbatch, layers - done);
        if (tms_config_has(config, TMS_FAULT_NO_OVERLAP) && done < layers) {
            continue;
        }
        /* Layers are distributed as evenly as possible. Each bucket has at least one layer. */
        while (next < buckets && (next + 1) * layers / buckets <= done) {
            size_t sent = bucket(sim, what, next++);

            if (config->blocking != 0) {
                tms_cpu_await(sim, sent);
            }
        }
    }
}

/* Runs loss.backward(): a thread of torch works, and the calling thread waits. */
static void backward(tms_sim *sim, int64_t microbatch) {
    if (sim->channels[TMS_ROLE_NEXT] != NULL) {
        tms_cpu_await(sim, pass_on(sim, TMS_ROLE_NEXT, TMS_RECV, microbatch));
    }
    tms_cpu_spend(sim, 20000, 40000);
    sim->thread = TMS_TRACK_AUTOGRAD;
    sim->op_id = 0;
    backward_layers(sim, microbatch);
    tms_cpu_push_comms(sim);
    sim->thread = TMS_TRACK_HOST;
    sim->op_id = 0;
    if (sim->channels[TMS_ROLE_PREVIOUS] != NULL) {
        (void)pass_on(sim, TMS_ROLE_PREVIOUS, TMS_SEND, microbatch);
    }
}

static void depend_on_gradients(tms_sim *sim) {
    if (sim->role_last[TMS_ROLE_DATA] != 0) {
        tms_cpu_depend(sim, sim->role_last[TMS_ROLE_DATA] - 1);
    }
}

/* Runs the two collectives of the whole job. One computes the norm of all gradients. The other is
 * for a few bytes that every rank logs. */
static void grad_norm(tms_sim *sim) {
    tms_message norm = {TMS_ALL_REDUCE, TMS_DTYPE_FLOAT, 4};
    tms_message log = {TMS_ALL_GATHER, TMS_DTYPE_FLOAT, 4 * sim->config->ranks};

    (void)tms_cpu_call(sim, TMS_RT_WAIT_EVENT, 1500, 3000);
    depend_on_gradients(sim);
    tms_cpu_compute(sim, TMS_GPU_SQUARES, stage_layers(sim) * 5000);
    tms_cpu_await(sim, tms_cpu_communicate(sim, TMS_ROLE_WORLD, norm));
    tms_cpu_await(sim, tms_cpu_communicate(sim, TMS_ROLE_WORLD, log));
    tms_cpu_push_comms(sim);
}

/* Makes the GPU wait for all buckets and update the weights. The CPU does not wait. */
static void optimizer(tms_sim *sim) {
    tms_span annotation = tms_cpu_open(sim, TMS_ANN_OPTIMIZER, 0);
    tms_span adamw;

    (void)tms_cpu_call(sim, TMS_RT_WAIT_EVENT, 1500, 3000);
    /* The last bucket completes the gradients, so a slow network delays the step here. */
    depend_on_gradients(sim);
    adamw = tms_cpu_open(sim, TMS_OP_ADAMW, 0);
    /* Four launches. Together, their kernels take a twentieth of the forward time. */
    for (int i = 0; i < 4; i++) {
        tms_cpu_compute(sim, TMS_GPU_ADAMW, stage_layers(sim) * 12500);
    }
    tms_cpu_close(sim, adamw);
    tms_cpu_close(sim, annotation);
    annotation = tms_cpu_open(sim, TMS_ANN_ZERO_GRAD, 0);
    tms_cpu_spend(sim, 5000, 15000);
    tms_cpu_close(sim, annotation);
}

/* Frees the step's memory. With --fault leak, an eighth of it stays. */
static void free_memory(tms_sim *sim) {
    const tms_config *config = sim->config;
    int64_t bytes = stage_layers(sim) * 6 * TMS_BATCH_BYTES * config->microbatches;

    if (tms_config_has(config, TMS_FAULT_LEAK)) {
        bytes -= bytes / 8;
    }
    tms_cpu_allocate(sim, -bytes);
    if (loads(sim)) {
        tms_cpu_allocate(sim, -2 * TMS_BATCH_BYTES * config->microbatches);
    }
}

void tms_model_step(tms_sim *sim) {
    const tms_config *config = sim->config;
    tms_span zero;

    load(sim);
    for (int64_t i = 0; i < config->microbatches; i++) {
        forward(sim, i);
    }
    for (int64_t i = 0; i < config->microbatches; i++) {
        backward(sim, i);
    }
    tms_cpu_spend(sim, 15000, 30000);
    /* This memset is queued right after the backward pass, so that it runs while the last bucket is
     * reduced. */
    zero = tms_cpu_open(sim, TMS_OP_ZERO, 0);
    tms_cpu_copy(sim, TMS_GPU_MEMSET, 2 * TMS_BATCH_BYTES);
    tms_cpu_close(sim, zero);
    if (tms_config_world(config)) {
        grad_norm(sim);
    }
    optimizer(sim);
    free_memory(sim);
}

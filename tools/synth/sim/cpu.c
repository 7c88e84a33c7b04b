/* The CPU's side of a step.
 *
 * The CPU works through its operators, and queues kernels before the GPU needs them. A stream
 * starts a kernel when the stream is free and the launch has reached the GPU. The CPU and each
 * stream have their own current time.
 *
 * The durations are typical of a fast host with an H100. A launch takes about 5 us, and its kernel
 * can start 1 us later. Between two queued kernels there is 1 us.
 *
 * Each rank has its own random numbers. It draws them in the same order whether or not events are
 * kept. No expression draws two numbers, because their order would depend on the compiler. */
#include "cpu.h"

#include "injected_faults.h"

/* Copies over PCIe run at about 20 B/ns (20 GB/s) after 1.2 us of setup. Copies from pageable
 * memory take four times as long, because the driver first copies to pinned memory. */
#define COPY_START_NS 1200
#define COPY_BYTES_PER_NS 20
#define PAGEABLE_BYTES_PER_NS 5

/* Approximate CPU time of one launch, with the work around it. */
#define LAUNCH_NS 6000

void tms_cpu_spend(tms_sim *sim, int64_t low_ns, int64_t high_ns) {
    sim->cpu_ns += tms_rng_range(&sim->rng, low_ns, high_ns);
}

tms_span tms_cpu_open(tms_sim *sim, tms_kind kind, int64_t value) {
    tms_event event = {.begin_ns = sim->cpu_ns,
                       .external_id = ++sim->external_id,
                       .value = value,
                       .kind = kind,
                       .track = sim->thread};
    tms_span result = {.begin_ns = sim->cpu_ns, .parent_id = sim->op_id};

    result.event = tms_events_push(sim->events, &event);
    /* GPU work is linked to the innermost operator around it, not to annotations in that
     * operator. */
    if (tms_kind_get(kind)->shape == TMS_SHAPE_OP) {
        sim->op_id = event.external_id;
    }
    tms_cpu_spend(sim, 500, 1300);
    return result;
}

void tms_cpu_close(tms_sim *sim, tms_span opened) {
    tms_cpu_spend(sim, 300, 700);
    sim->events->items[opened.event].duration_ns = sim->cpu_ns - opened.begin_ns;
    sim->op_id = opened.parent_id;
}

int64_t tms_cpu_call(tms_sim *sim, tms_kind kind, int64_t low_ns, int64_t high_ns) {
    tms_event event = {.begin_ns = sim->cpu_ns,
                       .correlation = ++sim->correlation,
                       .external_id = sim->op_id,
                       .kind = kind,
                       .track = sim->thread};

    tms_cpu_spend(sim, low_ns, high_ns);
    event.duration_ns = sim->cpu_ns - event.begin_ns;
    (void)tms_events_push(sim->events, &event);
    tms_cpu_spend(sim, 200, 500);
    return event.begin_ns;
}

/* Makes the call that launches a kernel. Returns its start and correlation. All kernels of a CUDA
 * graph have a single call, but follow one another as fast as after separate calls. */
static int64_t launch_call(tms_sim *sim, tms_kind kind, int64_t low_ns, int64_t *correlation) {
    int64_t begin_ns = sim->graph_ns;

    *correlation = sim->graph_correlation;
    if (sim->config->graphs != 0) {
        tms_cpu_spend(sim, low_ns, low_ns + 3000);
    } else {
        begin_ns = tms_cpu_call(sim, kind, low_ns, low_ns + 3000);
        *correlation = sim->correlation;
    }
    return begin_ns;
}

/* Queues work on the compute stream, and makes the call that launches it. */
static void launch(tms_sim *sim, tms_kind kind, int64_t duration_ns, int64_t bytes) {
    tms_shape shape = tms_kind_get(kind)->shape;
    tms_kind caller = shape == TMS_SHAPE_MEMCPY   ? TMS_RT_MEMCPY
                      : shape == TMS_SHAPE_MEMSET ? TMS_RT_MEMSET
                                                  : TMS_RT_LAUNCH;
    tms_event event = {
        .duration_ns = duration_ns, .value = bytes, .kind = kind, .track = TMS_TRACK_COMPUTE};
    tms_task task = {.kind = TMS_DO_WORK, .duration_ns = duration_ns};

    event.launch_ns = launch_call(sim, caller, 3500, &event.correlation);
    event.external_id = sim->op_id;
    /* A launch reaches an idle GPU after about 1 us. Between queued kernels there is a gap. */
    task.reached_ns = sim->cpu_ns + tms_rng_range(&sim->rng, 800, 1600);
    task.gap_ns = tms_rng_range(&sim->rng, 600, 1400);
    task.index = tms_events_push(sim->events, &event);
    tms_sim_queue(sim, &task);
}

void tms_cpu_compute(tms_sim *sim, tms_kind kind, int64_t ppm) {
    const tms_config *config = sim->config;
    int64_t normal_ns = tms_scale_ppm(config->compute_ns, ppm);
    int64_t mean_ns = tms_scale_ppm(normal_ns, sim->compute_ppm);
    int64_t late_ns;

    mean_ns = tms_scale_ppm(
        mean_ns, tms_injected_kernel_ppm(config, &sim->placement, sim->step, sim->n_kernels++));
    launch(sim, kind, tms_rng_around(&sim->rng, mean_ns, config->jitter_ppm), 0);
    if (sim->host_ppm == 0) {
        return;
    }
    /* On a slow host, the next launch comes so late that the GPU idles. If launches limit the speed
     * on all hosts, each launch takes several times as long on the slow one. */
    late_ns = tms_scale_ppm(normal_ns, sim->host_ppm) - LAUNCH_NS;
    if (late_ns < tms_scale_ppm(LAUNCH_NS, sim->host_ppm - 1000000)) {
        late_ns = tms_scale_ppm(LAUNCH_NS, sim->host_ppm - 1000000);
    }
    if (late_ns > 0) {
        sim->cpu_ns += tms_rng_around(&sim->rng, late_ns, config->jitter_ppm);
    }
}

void tms_cpu_kernel(tms_sim *sim, tms_kind kind, int64_t mean_ns) {
    launch(sim, kind, tms_rng_around(&sim->rng, mean_ns, sim->config->jitter_ppm), 0);
}

void tms_cpu_copy(tms_sim *sim, tms_kind kind, int64_t bytes) {
    int64_t rate = kind == TMS_GPU_MEMCPY_PAGEABLE ? PAGEABLE_BYTES_PER_NS : COPY_BYTES_PER_NS;
    int64_t mean_ns = COPY_START_NS + bytes / rate;

    launch(sim, kind, tms_rng_around(&sim->rng, mean_ns, sim->config->jitter_ppm), bytes);
}

void tms_cpu_allocate(tms_sim *sim, int64_t bytes) {
    tms_event event = {
        .begin_ns = sim->cpu_ns, .value = bytes, .kind = TMS_INSTANT_MEMORY, .track = sim->thread};

    (void)tms_events_push(sim->events, &event);
}

/* Torch numbers collectives per group, and sends and receives per rank and group. */
static int64_t sequence(const tms_sim *sim, const tms_channel *channel, int64_t index) {
    const int64_t *counts = sim->role_count;
    int64_t steps = sim->config->first_step + sim->step;
    int64_t per_step = channel->n_instances;
    const tms_channel *before = sim->channels[TMS_ROLE_PREVIOUS];
    const tms_channel *after = sim->channels[TMS_ROLE_NEXT];

    if (channel == before || channel == after) {
        per_step =
            (before != NULL ? before->n_instances : 0) + (after != NULL ? after->n_instances : 0);
        /* 1 is subtracted, because the current message is already counted. */
        index = counts[TMS_ROLE_PREVIOUS] + counts[TMS_ROLE_NEXT] - 1;
    }
    return steps * per_step + index + 1;
}

/* Adds the rank's participation to the step's list. Returns the index of the participation; 0 when
 * out of memory. */
static size_t add_comm(tms_sim *sim, tms_role role, tms_message message) {
    tms_comm *comm = tms_sim_add_comm(sim);
    const tms_channel *channel = sim->channels[role];
    int64_t rank = sim->placement.rank;

    if (comm == NULL) {
        return 0;
    }
    comm->what = message.what;
    comm->dtype = message.dtype;
    comm->role = role;
    comm->bytes = message.bytes;
    comm->index = sim->role_count[role]++;
    comm->previous = sim->role_last[role];
    comm->instance = channel->first_instance + comm->index;
    comm->part = tms_channel_part(channel, comm->index, rank);
    comm->seq = sequence(sim, channel, comm->index);
    comm->peer = tms_ranks_at(&channel->ranks, role == TMS_ROLE_NEXT);
    sim->role_last[role] = sim->n_comms;
    return sim->n_comms - 1;
}

/* Sets the collective to which an operator or annotation belongs, for the writer. */
static void mark(tms_sim *sim, size_t event, size_t index) {
    sim->events->items[event].comm = index + 1;
}

size_t tms_cpu_communicate(tms_sim *sim, tms_role role, tms_message message) {
    const tms_collective_info *info = tms_collective_get(message.what);
    size_t index;
    tms_span comms;
    tms_span annotation;
    tms_task task = {.kind = TMS_DO_ARRIVE};
    tms_comm part = {0};

    /* With only data parallelism, the data-parallel group is the whole job. */
    role = sim->channels[role] == NULL ? TMS_ROLE_DATA : role;
    index = add_comm(sim, role, message);
    /* The order is that of torch: first the operator with the arguments, then the CUDA event by
     * which one stream waits for the other, then the launch inside the annotation. */
    comms = tms_cpu_open(sim, TMS_OP_COMMS, 0);
    mark(sim, comms.event, index);
    part.comms_id = sim->external_id;
    (void)tms_cpu_call(sim, TMS_RT_EVENT_RECORD, 1500, 3000);
    (void)tms_cpu_call(sim, TMS_RT_WAIT_EVENT, 1500, 3000);
    annotation = tms_cpu_open(sim, info->annotation, 0);
    mark(sim, annotation.event, index);
    part.annotation_id = sim->external_id;
    part.launch_ns = launch_call(sim, TMS_RT_LAUNCH_EX, 6000, &part.correlation);
    task.reached_ns = sim->cpu_ns + tms_rng_range(&sim->rng, 800, 1600);
    /* The compute stream's event reaches NCCL's stream with a delay. */
    task.gap_ns = tms_rng_range(&sim->rng, 1200, 2400);
    task.index = index;
    tms_sim_queue(sim, &task);
    tms_cpu_close(sim, annotation);
    tms_cpu_close(sim, comms);
    if (index < sim->n_comms) {
        sim->comms[index].comms_id = part.comms_id;
        sim->comms[index].annotation_id = part.annotation_id;
        sim->comms[index].launch_ns = part.launch_ns;
        sim->comms[index].correlation = part.correlation;
    }
    return index;
}

void tms_cpu_depend(tms_sim *sim, size_t comm) {
    tms_task task = {.kind = TMS_DO_WAIT, .index = comm};

    tms_sim_queue(sim, &task);
}

void tms_cpu_await(tms_sim *sim, size_t comm) {
    (void)tms_cpu_call(sim, TMS_RT_WAIT_EVENT, 1500, 3000);
    tms_cpu_depend(sim, comm);
}

void tms_cpu_push_comms(tms_sim *sim) {
    for (; sim->n_pushed < sim->n_comms; sim->n_pushed++) {
        tms_comm *comm = &sim->comms[sim->n_pushed];
        const tms_collective_info *info = tms_collective_get(comm->what);
        tms_event event = {.launch_ns = comm->launch_ns,
                           .correlation = comm->correlation,
                           .external_id = comm->comms_id,
                           .comm = sim->n_pushed + 1,
                           .kind = info->kernel,
                           .track = tms_role_track(comm->role)};

        /* If a kernel's record is lost, the GPU copy of its annotation is lost, too. */
        if (tms_injected_lost(sim->config, sim->step, comm->part)) {
            continue;
        }
        if (comm->what == TMS_ALL_REDUCE && comm->dtype == TMS_DTYPE_FLOAT) {
            event.kind = TMS_GPU_ALL_REDUCE_FLOAT;
        } else if (comm->what == TMS_ALL_REDUCE && comm->role == TMS_ROLE_TENSOR &&
                   sim->config->custom_all_reduce != 0) {
            event.kind = comm->index % 3 == 0 ? TMS_GPU_CUSTOM_TWO_STAGE : TMS_GPU_CUSTOM_ONE_STAGE;
        }
        comm->kernel_event = tms_events_push(sim->events, &event);
        /* The GPU copy of the annotation has the kernel's times. The writer makes it a little
         * longer. */
        event.kind = info->gpu_annotation;
        event.external_id = comm->annotation_id;
        comm->annotation_event = tms_events_push(sim->events, &event);
    }
}

#include "chrome.h"

#include <math.h>
#include <string.h>

/* Whether a member stands in front, which a comma has to follow. */
typedef struct members {
    tm_out *out;
    bool any;
} members;

static tm_out *put_key(members *m, const char *key) {
    tm_out_string(m->out, m->any ? ", \"" : "\"");
    tm_out_string(m->out, key);
    tm_out_string(m->out, "\": ");
    m->any = true;
    return m->out;
}

static void put_int(members *m, const char *key, int64_t value) {
    tm_json_put_int(put_key(m, key), value);
}

/* -1 is what the trace does not have. */
static void put_known(members *m, const char *key, int64_t value) {
    if (value != -1)
        put_int(m, key, value);
}

static void put_correlation(members *m, int64_t correlation) {
    if (correlation != 0)
        put_int(m, "correlation", correlation);
}

/* A float that the trace does not have is NaN, which JSON does not have. */
static void put_float(members *m, const char *key, float value) {
    if (isfinite(value))
        tm_json_put_float(put_key(m, key), value);
}

/* All three are there, or none. */
static void put_triple(members *m, const char *key, const int32_t triple[3]) {
    if (triple[0] < 0)
        return;
    put_key(m, key);
    for (int i = 0; i < 3; i++) {
        tm_out_string(m->out, i == 0 ? "[" : ", ");
        tm_json_put_int(m->out, triple[i]);
    }
    tm_out_char(m->out, ']');
}

static void put_text(members *m, const char *key, const tm_names *names, uint32_t id) {
    if (id != TM_NO_NAME)
        tm_json_put_text(put_key(m, key), tm_names_text(names, id));
}

static void put_kernel(members *m, const tm_kernel_attr *kernel, const tm_launch_shape *shape) {
    put_correlation(m, kernel->correlation);
    put_known(m, "registers per thread", shape->registers);
    put_known(m, "shared memory", shape->shared_memory_bytes);
    put_float(m, "blocks per SM", shape->blocks_per_sm);
    put_float(m, "warps per SM", shape->warps_per_sm);
    put_triple(m, "grid", shape->grid);
    put_triple(m, "block", shape->block);
    put_float(m, "est. achieved occupancy %", shape->occupancy_pct);
}

static void put_copy(members *m, const tm_copy_attr *copy) {
    put_correlation(m, copy->correlation);
    put_known(m, "bytes", copy->bytes);
    put_float(m, "memory bandwidth (GB/s)", copy->bandwidth_gbps);
}

/* The name says that there are others: tmerge looks for them where it stands, be it empty. */
static void put_collective(members *m, const tm_names *names, const tm_collective_attr *c) {
    tm_json_put_text(put_key(m, "Collective name"), tm_names_text(names, c->name));
    put_known(m, "In msg nelems", c->in_elements);
    put_known(m, "Out msg nelems", c->out_elements);
    put_known(m, "Group size", c->group_size);
    put_text(m, "dtype", names, c->dtype);
    put_text(m, "In split size", names, c->in_split);
    put_text(m, "Out split size", names, c->out_split);
    put_text(m, "Process Group Name", names, c->group);
    put_text(m, "Process Group Description", names, c->group_description);
    put_text(m, "Process Group Ranks", names, c->group_ranks);
    put_known(m, "Global rank start", c->rank_start);
    put_known(m, "Global rank stride", c->rank_stride);
    put_known(m, "Src Rank", c->src_rank);
    put_known(m, "Dst Rank", c->dst_rank);
    put_known(m, "Seq", c->seq);
    if (c->comms_id != 0)
        put_int(m, "Comms Id", c->comms_id);
}

static void put_memory(members *m, const tm_memory_attr *memory) {
    put_int(m, "Device Type", memory->device_type);
    put_int(m, "Device Id", memory->device);
    put_int(m, "Bytes", memory->bytes);
    put_known(m, "Addr", memory->address);
    put_known(m, "Total Allocated", memory->allocated_bytes);
    put_known(m, "Total Reserved", memory->reserved_bytes);
}

/* Shapes stand in the store as the JSON that they were; where they are cut short they end in dots,
 * and are no JSON any more. */
static void put_shapes(members *m, const tm_names *names, const tm_shapes_attr *shapes) {
    tm_text text = tm_names_text(names, shapes->shapes);
    if (text.size > 1 && text.bytes[0] == '[' && text.bytes[text.size - 1] == ']')
        tm_out_bytes(put_key(m, "Input Dims"), text.bytes, text.size);
}

/* They stand in the store as the JSON that they were. */
static void put_inputs(members *m, const tm_names *names, const tm_inputs_attr *inputs) {
    tm_text types = tm_names_text(names, inputs->types);
    tm_text concrete = tm_names_text(names, inputs->concrete);
    if (types.size > 0)
        tm_out_bytes(put_key(m, "Input type"), types.bytes, types.size);
    if (concrete.size > 0)
        tm_out_bytes(put_key(m, "Concrete Inputs"), concrete.bytes, concrete.size);
}

/* The stream is that of the track. */
static void put_wait(members *m, const tm_wait_attr *wait) {
    put_correlation(m, wait->correlation);
    tm_out_string(put_key(m, "cuda_sync_kind"), "\"");
    tm_out_string(m->out, tm_wait_text((tm_wait_kind)wait->kind));
    tm_out_char(m->out, '"');
    if (wait->kind != TM_WAIT_STREAM_SYNC)
        put_known(m, "wait_on_stream", wait->on_stream);
    if (wait->record_correlation != 0)
        put_int(m, "wait_on_cuda_event_record_corr_id", wait->record_correlation);
}

static void put_operator(members *m, const tm_names *names, const tm_operator_attr *a) {
    if (a->sequence >= 0) {
        put_int(m, "Sequence number", a->sequence);
        put_int(m, "Fwd thread id", a->thread);
    }
    put_text(m, "Call stack", names, a->stack);
}

static void put_counters(members *m, const tm_names *names, const tm_export_event *event) {
    for (size_t i = 0; i < event->n_counters; i++) {
        if (!isfinite(event->counters[i].value))
            continue;
        tm_out_string(m->out, m->any ? ", " : "");
        tm_json_put_text(m->out, tm_names_text(names, event->counters[i].series));
        tm_out_string(m->out, ": ");
        tm_json_put_real(m->out, event->counters[i].value);
        m->any = true;
    }
}

void tm_chrome_args(tm_export *x, const tm_track *track, const tm_export_event *event) {
    const tm_names *names = x->job->names;
    members m = {.out = &x->out};
    if (event->kind == TM_COUNTER) { /* each member is a series */
        put_counters(&m, names, event);
        return;
    }
    if (track->kind == TM_TRACK_GPU) {
        put_known(&m, "device", track->device);
        put_known(&m, "stream", track->stream);
    }
    if (event->launch)
        put_correlation(&m, event->launch->correlation);
    if (event->kernel)
        put_kernel(&m, event->kernel, event->shape);
    if (event->copy)
        put_copy(&m, event->copy);
    if (event->collective)
        put_collective(&m, names, event->collective);
    if (event->memory)
        put_memory(&m, event->memory);
    if (event->shapes)
        put_shapes(&m, names, event->shapes);
    if (event->inputs)
        put_inputs(&m, names, event->inputs);
    if (event->wait)
        put_wait(&m, event->wait);
    if (event->operator)
        put_operator(&m, names, event->operator);
}

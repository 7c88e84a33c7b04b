#include "args.h"

#include <math.h>
#include <string.h>

/* Writes a number. Writes nothing if it is -1, which means that the trace does not have it. */
static void put_known(const tm_export_sink *s, tm_export_note note, int64_t value) {
    if (value != -1)
        s->put_int(s->to, note, value);
}

static void put_correlation(const tm_export_sink *s, int64_t correlation) {
    if (correlation != 0)
        s->put_int(s->to, TM_NOTE_CORRELATION, correlation);
}

/* Writes a float. Writes nothing if it is NaN, which means that the trace does not have it. */
static void put_float(const tm_export_sink *s, tm_export_note note, float value) {
    if (isfinite(value))
        s->put_float(s->to, note, value);
}

/* Writes three numbers. Writes nothing if the trace does not have them. It has either all three or
 * none. */
static void put_triple(const tm_export_sink *s, tm_export_note note, const int32_t triple[3]) {
    if (triple[0] >= 0)
        s->put_triple(s->to, note, triple);
}

static void put_text(const tm_export_sink *s, tm_export_note note, const tm_names *names,
                     uint32_t id) {
    if (id != TM_NO_NAME)
        s->put_text(s->to, note, tm_names_text(names, id));
}

static void put_array(const tm_export_sink *s, tm_export_note note, const tm_names *names,
                      uint32_t id) {
    tm_text text = tm_names_text(names, id);
    if (text.size > 0)
        s->put_array(s->to, note, text);
}

bool tm_export_is_array(tm_text text) {
    return text.size > 1 && text.bytes[0] == '[' && text.bytes[text.size - 1] == ']';
}

static void put_kernel(const tm_export_sink *s, const tm_kernel_attr *kernel,
                       const tm_launch_shape *shape) {
    put_correlation(s, kernel->correlation);
    put_known(s, TM_NOTE_REGISTERS, shape->registers);
    put_known(s, TM_NOTE_SHARED_MEMORY, shape->shared_memory_bytes);
    put_float(s, TM_NOTE_BLOCKS_PER_SM, shape->blocks_per_sm);
    put_float(s, TM_NOTE_WARPS_PER_SM, shape->warps_per_sm);
    put_triple(s, TM_NOTE_GRID, shape->grid);
    put_triple(s, TM_NOTE_BLOCK, shape->block);
    put_float(s, TM_NOTE_OCCUPANCY, shape->occupancy_pct);
}

static void put_copy(const tm_export_sink *s, const tm_copy_attr *copy) {
    put_correlation(s, copy->correlation);
    put_known(s, TM_NOTE_BYTES, copy->bytes);
    put_float(s, TM_NOTE_BANDWIDTH, copy->bandwidth_gbps);
}

/* Writes a collective's attributes. The name is always written, even if it is empty. Without a
 * name, tmerge's reader would ignore the other attributes. */
static void put_collective(const tm_export_sink *s, const tm_names *names,
                           const tm_collective_attr *c) {
    s->put_text(s->to, TM_NOTE_COLLECTIVE, tm_names_text(names, c->name));
    put_known(s, TM_NOTE_IN_ELEMENTS, c->in_elements);
    put_known(s, TM_NOTE_OUT_ELEMENTS, c->out_elements);
    put_known(s, TM_NOTE_GROUP_SIZE, c->group_size);
    put_text(s, TM_NOTE_DTYPE, names, c->dtype);
    put_text(s, TM_NOTE_IN_SPLIT, names, c->in_split);
    put_text(s, TM_NOTE_OUT_SPLIT, names, c->out_split);
    put_text(s, TM_NOTE_GROUP, names, c->group);
    put_text(s, TM_NOTE_GROUP_DESCRIPTION, names, c->group_description);
    put_text(s, TM_NOTE_GROUP_RANKS, names, c->group_ranks);
    put_known(s, TM_NOTE_RANK_START, c->rank_start);
    put_known(s, TM_NOTE_RANK_STRIDE, c->rank_stride);
    put_known(s, TM_NOTE_SRC_RANK, c->src_rank);
    put_known(s, TM_NOTE_DST_RANK, c->dst_rank);
    put_known(s, TM_NOTE_SEQ, c->seq);
    if (c->comms_id != 0)
        s->put_int(s->to, TM_NOTE_COMMS_ID, c->comms_id);
}

static void put_memory(const tm_export_sink *s, const tm_memory_attr *memory) {
    s->put_int(s->to, TM_NOTE_DEVICE_TYPE, memory->device_type);
    s->put_int(s->to, TM_NOTE_DEVICE, memory->device);
    s->put_int(s->to, TM_NOTE_MEMORY_BYTES, memory->bytes);
    put_known(s, TM_NOTE_ADDRESS, memory->address);
    put_known(s, TM_NOTE_ALLOCATED, memory->allocated_bytes);
    put_known(s, TM_NOTE_RESERVED, memory->reserved_bytes);
}

/* Writes a wait. The stream that waits is not written, because it is the stream of the track. */
static void put_wait(const tm_export_sink *s, const tm_wait_attr *wait) {
    const char *kind = tm_wait_text((tm_wait_kind)wait->kind);
    put_correlation(s, wait->correlation);
    s->put_text(s->to, TM_NOTE_SYNC_KIND, (tm_text){kind, strlen(kind)});
    if (wait->kind != TM_WAIT_STREAM_SYNC)
        put_known(s, TM_NOTE_ON_STREAM, wait->on_stream);
    if (wait->record_correlation != 0)
        s->put_int(s->to, TM_NOTE_ON_RECORD, wait->record_correlation);
}

static void put_operator(const tm_export_sink *s, const tm_names *names,
                         const tm_operator_attr *a) {
    if (a->sequence >= 0) {
        s->put_int(s->to, TM_NOTE_SEQUENCE, a->sequence);
        s->put_int(s->to, TM_NOTE_THREAD, a->thread);
    }
    put_text(s, TM_NOTE_STACK, names, a->stack);
}

void tm_export_args(const tm_export_sink *s, const tm_names *names, const tm_export_event *event) {
    if (event->launch)
        put_correlation(s, event->launch->correlation);
    if (event->kernel)
        put_kernel(s, event->kernel, event->shape);
    if (event->copy)
        put_copy(s, event->copy);
    if (event->collective)
        put_collective(s, names, event->collective);
    if (event->memory)
        put_memory(s, event->memory);
    if (event->shapes)
        put_array(s, TM_NOTE_SHAPES, names, event->shapes->shapes);
    if (event->inputs) {
        put_array(s, TM_NOTE_TYPES, names, event->inputs->types);
        put_array(s, TM_NOTE_CONCRETE, names, event->inputs->concrete);
    }
    if (event->wait)
        put_wait(s, event->wait);
    if (event->operator)
        put_operator(s, names, event->operator);
}

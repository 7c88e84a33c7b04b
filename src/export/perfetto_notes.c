#include "perfetto.h"

#include <math.h>

/* Annotations of events: id and name, in the words of the store. */
#define NOTES(X)                                                                                   \
    X(NOTE_STEP, "step")                                                                           \
    X(NOTE_GRID, "grid")                                                                           \
    X(NOTE_BLOCK, "block")                                                                         \
    X(NOTE_REGISTERS, "registers")                                                                 \
    X(NOTE_SHARED_MEMORY, "shared_memory_bytes")                                                   \
    X(NOTE_OCCUPANCY, "occupancy_pct")                                                             \
    X(NOTE_BYTES, "bytes")                                                                         \
    X(NOTE_BANDWIDTH, "bandwidth_gbps")                                                            \
    X(NOTE_COLLECTIVE, "collective")                                                               \
    X(NOTE_KIND, "kind")                                                                           \
    X(NOTE_DTYPE, "dtype")                                                                         \
    X(NOTE_IN_ELEMENTS, "in_elements")                                                             \
    X(NOTE_OUT_ELEMENTS, "out_elements")                                                           \
    X(NOTE_GROUP, "group")                                                                         \
    X(NOTE_GROUP_SIZE, "group_size")                                                               \
    X(NOTE_SEQ, "seq")                                                                             \
    X(NOTE_WAIT, "wait_ns")                                                                        \
    X(NOTE_DEVICE, "device")                                                                       \
    X(NOTE_SHAPES, "shapes")

enum {
    NOTE_NONE, /* 0 is no id */
#define NOTE_ENUM(id, word) id,
    NOTES(NOTE_ENUM)
#undef NOTE_ENUM
        N_NOTES
};

static const char *const words[N_NOTES] = {
#define NOTE_WORD(id, word) [id] = word,
    NOTES(NOTE_WORD)
#undef NOTE_WORD
};

/* Fields of a DebugAnnotation. */
enum { NAME_ID = 1, VALUE_INT = 4, VALUE_REAL = 5, VALUE_TEXT = 6, VALUE_ARRAY = 12 };

void tm_perfetto_intern_notes(tm_perfetto *p) {
    for (uint32_t id = 1; id < N_NOTES; id++) {
        size_t entry = tm_proto_begin(&p->block, INTERNED_ANNOTATION);
        tm_proto_uint(&p->block, ENTRY_ID, id);
        tm_proto_string(&p->block, ENTRY_TEXT, words[id]);
        tm_proto_end(&p->block, entry);
    }
}

static void note_int(tm_perfetto *p, uint32_t id, int64_t value) {
    size_t note = tm_proto_begin(&p->block, EVENT_ANNOTATION);
    tm_proto_uint(&p->block, NAME_ID, id);
    tm_proto_int(&p->block, VALUE_INT, value);
    tm_proto_end(&p->block, note);
}

/* Most numbers are -1 where the trace has none. */
static void note_known(tm_perfetto *p, uint32_t id, int64_t value) {
    if (value >= 0)
        note_int(p, id, value);
}

static void note_real(tm_perfetto *p, uint32_t id, float value) {
    if (!isfinite(value))
        return;
    size_t note = tm_proto_begin(&p->block, EVENT_ANNOTATION);
    tm_proto_uint(&p->block, NAME_ID, id);
    tm_proto_double(&p->block, VALUE_REAL, (double)value);
    tm_proto_end(&p->block, note);
}

/* An array, which Perfetto shows as grid[0], grid[1], grid[2]. */
static void note_triple(tm_perfetto *p, uint32_t id, const int32_t triple[3]) {
    if (triple[0] < 0)
        return;
    size_t note = tm_proto_begin(&p->block, EVENT_ANNOTATION);
    tm_proto_uint(&p->block, NAME_ID, id);
    for (int i = 0; i < 3; i++) {
        size_t value = tm_proto_begin(&p->block, VALUE_ARRAY);
        tm_proto_int(&p->block, VALUE_INT, triple[i]);
        tm_proto_end(&p->block, value);
    }
    tm_proto_end(&p->block, note);
}

static void note_text(tm_perfetto *p, uint32_t id, tm_text text) {
    if (text.size == 0)
        return;
    size_t note = tm_proto_begin(&p->block, EVENT_ANNOTATION);
    tm_proto_uint(&p->block, NAME_ID, id);
    tm_perfetto_text(p, VALUE_TEXT, text);
    tm_proto_end(&p->block, note);
}

static void note_kernel(tm_perfetto *p, const tm_launch_shape *shape) {
    note_triple(p, NOTE_GRID, shape->grid);
    note_triple(p, NOTE_BLOCK, shape->block);
    note_known(p, NOTE_REGISTERS, shape->registers);
    note_known(p, NOTE_SHARED_MEMORY, shape->shared_memory_bytes);
    note_real(p, NOTE_OCCUPANCY, shape->occupancy_pct);
}

static void note_collective(tm_perfetto *p, const tm_names *names, const tm_collective_attr *c) {
    const char *kind = tm_collective_word((tm_collective_kind)c->kind);
    note_text(p, NOTE_COLLECTIVE, tm_names_text(names, c->name));
    note_text(p, NOTE_KIND, (tm_text){kind, strlen(kind)});
    note_text(p, NOTE_DTYPE, tm_names_text(names, c->dtype));
    note_known(p, NOTE_IN_ELEMENTS, c->in_elements);
    note_known(p, NOTE_OUT_ELEMENTS, c->out_elements);
    note_text(p, NOTE_GROUP, tm_names_text(names, c->group));
    note_known(p, NOTE_GROUP_SIZE, c->group_size);
    note_known(p, NOTE_SEQ, c->seq);
    note_known(p, NOTE_WAIT, c->wait_ns);
}

void tm_perfetto_notes(tm_export *x, const tm_timeline *timeline, const tm_export_event *event) {
    tm_perfetto *p = x->state;
    int32_t step = event->step;
    if (step != TM_NO_STEP && timeline->steps[step].annotated)
        note_int(p, NOTE_STEP, timeline->steps[step].number);
    if (event->shape)
        note_kernel(p, event->shape);
    if (event->copy) {
        note_known(p, NOTE_BYTES, event->copy->bytes);
        note_real(p, NOTE_BANDWIDTH, event->copy->bandwidth_gbps);
    }
    if (event->collective)
        note_collective(p, x->job->names, event->collective);
    if (event->memory) {
        note_int(p, NOTE_BYTES, event->memory->bytes);
        note_int(p, NOTE_DEVICE, event->memory->device);
    }
    if (event->shapes)
        note_text(p, NOTE_SHAPES, tm_names_text(x->job->names, event->shapes->shapes));
}

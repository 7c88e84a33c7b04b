/* Writes stages and counters of GPUs: kernels, copies and clocks of PyTorch's .pftrace. */
#include <string.h>

#include "perfetto_events.h"
#include "perfetto_json.h"
#include "perfetto_kinds.h"

typedef struct stage {
    uint64_t duration, gpu, queue, stage, name, kernel;
    tm_text own_name;
    tm_wire_message launch;
} stage;

static void parse_stage(tm_wire_message message, stage *out) {
    tm_wire_field f;
    *out = (stage){.own_name = {.bytes = ""}};
    while (tm_wire_next(&message, &f)) {
        if (f.number == STAGE_DURATION)
            out->duration = f.value;
        else if (f.number == STAGE_GPU)
            out->gpu = f.value;
        else if (f.number == STAGE_QUEUE_ID)
            out->queue = f.value;
        else if (f.number == STAGE_STAGE_ID)
            out->stage = f.value;
        else if (f.number == STAGE_NAME_ID)
            out->name = f.value;
        else if (f.number == STAGE_KERNEL_ID)
            out->kernel = f.value;
        else if (f.number == STAGE_NAME && f.type == TM_WIRE_BYTES)
            out->own_name = tm_wire_text(&f);
        else if (f.number == STAGE_LAUNCH && f.type == TM_WIRE_BYTES)
            out->launch = tm_wire_inner(&f);
    }
}

/* Returns the number at the end of a queue's name: 7 for "stream 7". If the name starts with a
 * number in brackets, such as "[007] stream 7", returns that number: the sub-track, which is the
 * thread in PyTorch's JSON. A name without a number is returned unchanged. */
static tm_text queue_number(tm_text quoted) {
    const char *p = quoted.bytes, *end = p + quoted.size;
    if (quoted.size < 2)
        return quoted;
    const char *first = p + 1, *last = end - 1;
    if (*first == '[') {
        const char *digits = ++first;
        while (first < last && *first >= '0' && *first <= '9')
            first++;
        if (first > digits && first < last && *first == ']') {
            while (digits + 1 < first && *digits == '0')
                digits++;
            return (tm_text){digits, (size_t)(first - digits)};
        }
    }
    const char *from = last;
    while (from > p + 1 && from[-1] >= '0' && from[-1] <= '9')
        from--;
    while (from + 1 < last && *from == '0')
        from++;
    return from < last && last - from <= 18 ? (tm_text){from, (size_t)(last - from)} : quoted;
}

static bool put_dimensions(tm_pf_writer *w, const char *key, tm_wire_message message) {
    uint64_t xyz[3] = {0, 0, 0};
    tm_wire_field f;
    while (tm_wire_next(&message, &f))
        if (f.number >= 1 && f.number <= 3 && f.type == TM_WIRE_VARINT)
            xyz[f.number - 1] = f.value;
    bool ok = tm_pf_put(w->out, ",\"") && tm_pf_put(w->out, key) && tm_pf_put(w->out, "\":[");
    for (int i = 0; i < 3; i++)
        ok = ok && (i == 0 || tm_pf_put(w->out, ",")) && tm_pf_put_uint(w->out, xyz[i]);
    return ok && tm_pf_put(w->out, "]");
}

static bool put_argument(tm_pf_writer *w, const tm_pf_sequence *s, tm_wire_message message) {
    tm_text key = {.bytes = ""};
    uint64_t value = 0;
    bool number = false;
    tm_wire_field f;
    w->scratch.n = 0;
    while (tm_wire_next(&message, &f)) {
        if (f.number == ARGUMENT_NAME_ID && f.type == TM_WIRE_VARINT) {
            key = tm_pf_interned(w->state, s, TABLE_ARGUMENT, f.value);
        } else if (f.number == ARGUMENT_NAME && f.type == TM_WIRE_BYTES) {
            if (!tm_pf_put_text(&w->scratch, tm_wire_text(&f)))
                return false;
            key = (tm_text){w->scratch.data, w->scratch.n};
        } else if (f.number == ARGUMENT_INT || f.number == ARGUMENT_UINT) {
            number = f.type == TM_WIRE_VARINT;
            value = f.value;
        }
    }
    if (key.size == 0 || !number)
        return true;
    return tm_pf_put(w->out, ",") && tm_pf_put_bytes(w->out, tm_pf_stage_key(key)) &&
           tm_pf_put(w->out, ":") && tm_pf_put_int(w->out, (int64_t)value);
}

static bool put_launch(tm_pf_writer *w, const tm_pf_sequence *s, tm_wire_message launch) {
    tm_wire_field f;
    bool ok = true;
    while (ok && tm_wire_next(&launch, &f)) {
        if (f.type != TM_WIRE_BYTES)
            continue;
        if (f.number == LAUNCH_GRID)
            ok = put_dimensions(w, "grid", tm_wire_inner(&f));
        else if (f.number == LAUNCH_BLOCK)
            ok = put_dimensions(w, "block", tm_wire_inner(&f));
        else if (f.number == LAUNCH_ARGUMENT)
            ok = put_argument(w, s, tm_wire_inner(&f));
    }
    return ok;
}

/* Writes the extra data of a stage, whose values are all texts. */
static bool put_extra(tm_pf_writer *w, tm_wire_message message) {
    tm_text key = {.bytes = ""}, value = {.bytes = ""};
    tm_wire_field f;
    while (tm_wire_next(&message, &f)) {
        if (f.number == EXTRA_NAME && f.type == TM_WIRE_BYTES)
            key = tm_wire_text(&f);
        else if (f.number == EXTRA_VALUE && f.type == TM_WIRE_BYTES)
            value = tm_wire_text(&f);
    }
    w->scratch.n = 0;
    if (!tm_pf_put_text(&w->scratch, key))
        return false;
    tm_text quoted = tm_pf_stage_key((tm_text){w->scratch.data, w->scratch.n});
    return tm_pf_put(w->out, ",") && tm_pf_put_bytes(w->out, quoted) && tm_pf_put(w->out, ":") &&
           tm_pf_put_value(w->out, value);
}

static bool put_args(tm_pf_writer *w, const tm_pf_sequence *s, tm_wire_message message,
                     const stage *g) {
    tm_wire_field f;
    bool ok = tm_pf_put(w->out, ",\"args\":{\"device\":") && tm_pf_put_uint(w->out, g->gpu) &&
              put_launch(w, s, g->launch);
    while (ok && tm_wire_next(&message, &f))
        if (f.number == STAGE_EXTRA && f.type == TM_WIRE_BYTES)
            ok = put_extra(w, tm_wire_inner(&f));
    return ok && tm_pf_put(w->out, "}}");
}

/* Sets *out to the name that Perfetto shows for a stage. This is the first of these that exists:
 * the stage's own name, the name of its kernel, its kind. */
static bool name_of(tm_pf_writer *w, const tm_pf_sequence *s, const stage *g, tm_text kind,
                    tm_text *out) {
    w->name.n = 0;
    *out = g->name ? tm_pf_interned(w->state, s, TABLE_NAME, g->name) : (tm_text){.bytes = ""};
    if (out->size == 0 && g->own_name.size > 0) {
        if (!tm_pf_put_text(&w->name, g->own_name))
            return false;
        *out = (tm_text){w->name.data, w->name.n};
    }
    if (out->size == 0 && g->kernel)
        *out = tm_pf_interned(w->state, s, TABLE_KERNEL, g->kernel);
    if (out->size == 0)
        *out = kind;
    return true;
}

bool tm_pf_write_stage(tm_pf_writer *w, const tm_pf_sequence *s, tm_wire_message message,
                       int64_t time_ns) {
    stage g;
    tm_text name;
    parse_stage(message, &g);
    tm_text kind = tm_pf_interned(w->state, s, TABLE_GPU_SPEC, g.stage);
    tm_text queue = queue_number(tm_pf_interned(w->state, s, TABLE_GPU_SPEC, g.queue));
    const char *category = tm_pf_stage_category(kind);
    bool ok = name_of(w, s, &g, kind, &name) && tm_pf_begin_element(w, 'X');
    if (ok && category)
        ok = tm_pf_put(w->out, ",\"cat\":\"") && tm_pf_put(w->out, category) &&
             tm_pf_put(w->out, "\"");
    ok = ok && (name.size == 0 || tm_pf_put_member(w, "name", name)) &&
         tm_pf_put(w->out, ",\"pid\":") && tm_pf_put_uint(w->out, g.gpu) &&
         tm_pf_put(w->out, ",\"tid\":") &&
         (queue.size > 0 ? tm_pf_put_bytes(w->out, queue) : tm_pf_put_uint(w->out, g.queue));
    return ok && tm_pf_put_times(w, time_ns, true, (int64_t)(g.duration & INT64_MAX)) &&
           put_args(w, s, message, &g);
}

/* Returns the name of a counter in a descriptor; size 0 if it has none. */
static tm_text counter_name(tm_wire_message specs, uint64_t id) {
    tm_wire_field f, inner;
    while (tm_wire_next(&specs, &f)) {
        if (f.number != SPECS_SPEC || f.type != TM_WIRE_BYTES)
            continue;
        tm_wire_message spec = tm_wire_inner(&f);
        tm_text name = {.bytes = ""};
        uint64_t number = 0;
        while (tm_wire_next(&spec, &inner)) {
            if (inner.number == SPEC_ID && inner.type == TM_WIRE_VARINT)
                number = inner.value;
            else if (inner.number == SPEC_NAME && inner.type == TM_WIRE_BYTES)
                name = tm_wire_text(&inner);
        }
        if (number == id)
            return name;
    }
    return (tm_text){.bytes = ""};
}

typedef struct gpu_counters {
    tm_wire_message specs;
    uint64_t gpu;
} gpu_counters;

static void take_descriptor(tm_wire_message message, gpu_counters *out) {
    tm_wire_field f;
    while (tm_wire_next(&message, &f)) {
        if (f.number == COUNTERS_SPECS && f.type == TM_WIRE_BYTES)
            out->specs = tm_wire_inner(&f);
        else if (f.number == COUNTERS_GPU && f.type == TM_WIRE_VARINT)
            out->gpu = f.value;
    }
}

static gpu_counters find_descriptor(const tm_pf_writer *w, const tm_pf_sequence *s,
                                    tm_wire_message message) {
    gpu_counters found = {.gpu = 0};
    tm_wire_field f;
    while (tm_wire_next(&message, &f)) {
        if (f.number == GPU_COUNTER_INLINE && f.type == TM_WIRE_BYTES) {
            found.specs = tm_wire_inner(&f);
        } else if (f.number == GPU_COUNTER_GPU && f.type == TM_WIRE_VARINT) {
            found.gpu = f.value;
        } else if (f.number == GPU_COUNTER_ID && f.type == TM_WIRE_VARINT) {
            tm_text entry = tm_pf_interned(w->state, s, TABLE_GPU_COUNTERS, f.value);
            const uint8_t *bytes = (const uint8_t *)entry.bytes;
            take_descriptor((tm_wire_message){bytes, bytes + entry.size}, &found);
        }
    }
    return found;
}

static bool write_value(tm_pf_writer *w, const gpu_counters *of, tm_wire_message message,
                        int64_t time_ns) {
    uint64_t id = 0;
    tm_wire_field f, value = {.number = 0};
    while (tm_wire_next(&message, &f)) {
        if (f.number == GPU_VALUE_ID && f.type == TM_WIRE_VARINT)
            id = f.value;
        else if (f.number == GPU_VALUE_INT || f.number == GPU_VALUE_REAL)
            value = f;
    }
    tm_text name = counter_name(of->specs, id);
    if (value.number == 0 || name.size == 0)
        return true;
    return tm_pf_begin_element(w, 'C') && tm_pf_put(w->out, ",\"name\":") &&
           tm_pf_put_text(w->out, name) && tm_pf_put(w->out, ",\"pid\":\"GPU ") &&
           tm_pf_put_uint(w->out, of->gpu) && tm_pf_put(w->out, " Counters\"") &&
           tm_pf_put_times(w, time_ns, false, 0) && tm_pf_put(w->out, ",\"args\":{\"\":") &&
           (value.number == GPU_VALUE_REAL ? tm_pf_put_real(w->out, value.value)
                                           : tm_pf_put_int(w->out, (int64_t)value.value)) &&
           tm_pf_put(w->out, "}}");
}

bool tm_pf_write_gpu_counters(tm_pf_writer *w, const tm_pf_sequence *s, tm_wire_message message,
                              int64_t time_ns) {
    const gpu_counters of = find_descriptor(w, s, message);
    tm_wire_field f;
    bool ok = true;
    while (ok && tm_wire_next(&message, &f))
        if (f.number == GPU_COUNTER_VALUE && f.type == TM_WIRE_BYTES)
            ok = write_value(w, &of, tm_wire_inner(&f), time_ns);
    return ok;
}

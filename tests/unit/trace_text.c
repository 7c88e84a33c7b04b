#include "trace_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

size_t quoted_text(const char *text, char *out) {
    size_t size = strlen(text);
    assert_true(size + TM_JSON_PADDING < TRACE_TEXT_MAX);
    memset(out, 0, TRACE_TEXT_MAX);
    for (size_t i = 0; i < size; i++)
        out[i] = text[i] == '\'' ? '"' : text[i];
    return size;
}

bool sniffs(const tm_format *format, const char *text) {
    char head[TRACE_TEXT_MAX];
    size_t size = quoted_text(text, head);
    return format->sniff(head, size, true);
}

void units_text(const tm_format *format, const char *text, char *out, size_t size) {
    char bytes[TRACE_TEXT_MAX];
    size_t n = quoted_text(text, bytes);
    tm_vec units = TM_VEC(tm_unit);
    bool foreign = true;
    tm_source *source;
    assert_int_equal(tm_source_open_memory(bytes, n, "some.json", &source, NULL), TM_OK);
    assert_int_equal(format->list_units(source, false, &units, &foreign, NULL), TM_OK);
    assert_false(foreign);
    *out = '\0';
    for (size_t i = 0; i < units.n; i++) {
        const tm_unit *unit = (const tm_unit *)units.data + i;
        snprintf(out + strlen(out), size - strlen(out), "%" PRId64 ":%" PRIx64 ":%" PRId64 " ",
                 unit->process, (uint64_t)unit->devices, unit->rank);
    }
    tm_source_close(source);
    tm_vec_free(&units);
}

tm_status try_unit(const tm_format *format, const char *bytes, size_t size, const char *path,
                   const tm_unit *unit, reading *r) {
    *r = (reading){.ground = open_ground()};
    tm_source *source;
    assert_int_equal(tm_source_open_memory(bytes, size, path, &source, &r->ground.err), TM_OK);
    tm_status status =
        tm_trace_read_source(format, source, unit, r->ground.names, &r->trace, &r->ground.err);
    tm_source_close(source);
    return status;
}

reading read_unit_text(const tm_format *format, const char *text, const char *path,
                       const tm_unit *unit) {
    char bytes[TRACE_TEXT_MAX];
    size_t size = quoted_text(text, bytes);
    reading r;
    tm_status status = try_unit(format, bytes, size, path, unit, &r);
    if (status != TM_OK)
        print_message("byte %lld: %s\n", (long long)r.ground.err.offset, r.ground.err.message);
    assert_int_equal(status, TM_OK);
    return r;
}

typedef struct writer {
    char *at;
    size_t room;
    const tm_names *names;
} writer;

static void put(writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(writer *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(w->at, w->room, format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && (size_t)n < w->room);
    w->at += n;
    w->room -= (size_t)n;
}

static void put_number(writer *w, const char *key, int64_t value, int64_t unknown) {
    if (value != unknown)
        put(w, " %s=%" PRId64, key, value);
}

static void put_real(writer *w, const char *key, double value) {
    if (!isnan(value))
        put(w, " %s=%g", key, value);
}

static void put_name(writer *w, const char *key, uint32_t id) {
    if (id != TM_NO_NAME)
        put(w, " %s=%s", key, tm_names_text(w->names, id).bytes);
}

static void put_kernel(writer *w, int64_t correlation, const tm_launch_shape *s) {
    put(w, " #%" PRId64 " [%d %d %d]x[%d %d %d] %d %d %.2f %.2f", correlation, s->grid[0],
        s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2], s->registers,
        s->shared_memory_bytes, (double)s->blocks_per_sm, (double)s->warps_per_sm);
    put_real(w, "occupancy", (double)s->occupancy_pct);
}

static void put_collective(writer *w, const tm_collective_attr *c) {
    put_name(w, "collective", c->name);
    put_number(w, "size", c->group_size, -1);
    put_name(w, "group", c->group);
    put_name(w, "ranks", c->group_ranks);
    put_name(w, "of", c->group_description);
    put_name(w, "dtype", c->dtype);
    put_number(w, "in", c->in_elements, -1);
    put_number(w, "out", c->out_elements, -1);
    put_name(w, "in_split", c->in_split);
    put_name(w, "out_split", c->out_split);
    put_number(w, "start", c->rank_start, -1);
    put_number(w, "stride", c->rank_stride, -1);
    put_number(w, "src", c->src_rank, -1);
    put_number(w, "dst", c->dst_rank, -1);
    put_number(w, "seq", c->seq, -1);
    put_number(w, "comms", c->comms_id, 0);
}

static void put_wait(writer *w, const tm_wait_attr *a) {
    put(w, " %s", tm_wait_text((tm_wait_kind)a->kind));
    put_number(w, "call", a->correlation, 0);
    put_number(w, "record", a->record_correlation, 0);
    put_number(w, "stream", a->stream, -1);
    put_number(w, "on", a->on_stream, -1);
    put_number(w, "call_row", a->call, TM_NO_EVENT);
    put_number(w, "record_row", a->record, TM_NO_EVENT);
}

static void put_memory(writer *w, const tm_memory_attr *a) {
    put(w, " %" PRIx64 " %" PRId64 " bytes of %d:%d", (uint64_t)a->address, a->bytes,
        a->device_type, a->device);
    put_number(w, "allocated", a->allocated_bytes, -1);
    put_number(w, "reserved", a->reserved_bytes, -1);
}

static void put_attr(writer *w, const tm_trace *trace, tm_attr attr, const void *row) {
    const tm_kernel_attr *kernel = row;
    const tm_copy_attr *copy = row;
    const tm_counter_attr *counter = row;
    const tm_inputs_attr *inputs = row;
    const tm_operator_attr *operator= row;
    switch (attr) {
    case TM_ATTR_LAUNCH:
        put(w, " launches #%" PRId64, ((const tm_launch_attr *)row)->correlation);
        break;
    case TM_ATTR_KERNEL:
        put_kernel(w, kernel->correlation,
                   (const tm_launch_shape *)trace->shapes.keys.data + kernel->shape);
        break;
    case TM_ATTR_COPY:
        put(w, " #%" PRId64 " %" PRId64 " bytes", copy->correlation, copy->bytes);
        put_real(w, "gbps", (double)copy->bandwidth_gbps);
        break;
    case TM_ATTR_MEMORY:
        put_memory(w, row);
        break;
    case TM_ATTR_COLLECTIVE:
        put_collective(w, row);
        break;
    case TM_ATTR_COUNTER:
        put_real(w, tm_names_text(w->names, counter->series).bytes, counter->value);
        break;
    case TM_ATTR_SHAPES:
        put_name(w, "shapes", ((const tm_shapes_attr *)row)->shapes);
        break;
    case TM_ATTR_INPUTS:
        put_name(w, "types", inputs->types);
        put_name(w, "concrete", inputs->concrete);
        break;
    case TM_ATTR_OPERATOR:
        put_number(w, "sequence", operator->sequence, -1);
        put_number(w, "thread", operator->thread, 0);
        put_name(w, "stack", operator->stack);
        break;
    case TM_ATTR_WAIT:
        put_wait(w, row);
        break;
    case TM_ATTR_UNIFIED:
        put(w, " at %" PRId64, ((const tm_unified_attr *)row)->address);
        break;
    default:
        put(w, " ?");
    }
}

static void put_event(writer *w, const tm_trace *trace, size_t i) {
    const tm_raw_event *e = (const tm_raw_event *)trace->events.data + i;
    const tm_track *track = (const tm_track *)trace->tracks.data + e->track;
    put(w, "%s %s ", tm_names_text(w->names, e->name).bytes,
        tm_category_word((tm_category)e->category));
    if (e->kind == TM_DURATION)
        put(w, "%" PRId64 "+%" PRId64, e->begin_ns, e->duration_ns);
    else
        put(w, "@%" PRId64, e->begin_ns);
    put(w, " %s/%s", tm_names_text(w->names, track->pid).bytes,
        tm_names_text(w->names, track->tid).bytes);
}

static void put_attrs(writer *w, const tm_trace *trace, size_t i) {
    for (int a = 0; a < TM_N_ATTRS; a++)
        for (size_t k = 0; k < trace->attrs[a].n; k++) {
            char *row = (char *)trace->attrs[a].data + k * trace->attrs[a].size;
            if (*tm_attr_event((tm_attr)a, row) == i)
                put_attr(w, trace, (tm_attr)a, row);
        }
}

void attrs_text(const tm_trace *trace, const tm_names *names, size_t event, char *out,
                size_t size) {
    writer w = {out, size, names};
    put(&w, "%s", "");
    put_attrs(&w, trace, event);
}

void events_text(const tm_trace *trace, const tm_names *names, char *out, size_t size) {
    writer w = {out, size, names};
    put(&w, "%s", "");
    for (size_t i = 0; i < trace->events.n; i++) {
        put_event(&w, trace, i);
        put_attrs(&w, trace, i);
        put(&w, "\n");
    }
}

void trace_text(const reading *r, char *out, size_t size) {
    events_text(&r->trace, r->ground.names, out, size);
}

/* Returns the offset at which listing the units fails; without units, at which reading does. */
static int64_t offset_of_error(const tm_format *format, const char *bytes, size_t size) {
    tm_vec units = TM_VEC(tm_unit);
    bool foreign;
    tm_source *source;
    tm_error err;
    reading r;
    assert_int_equal(tm_source_open_memory(bytes, size, "some.json", &source, NULL), TM_OK);
    tm_status status =
        format->list_units ? format->list_units(source, false, &units, &foreign, &err) : TM_OK;
    tm_source_close(source);
    tm_vec_free(&units);
    if (status == TM_OK) {
        status = try_unit(format, bytes, size, "some.json", NULL, &r);
        err = r.ground.err;
        close_reading(&r);
    }
    assert_int_equal(status, TM_ERR_INPUT);
    return err.offset;
}

void check_malformed(const tm_format *format, const malformed *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char bytes[TRACE_TEXT_MAX];
        size_t size = quoted_text(cases[i].text, bytes);
        print_message("case %zu\n", i);
        assert_int_equal(offset_of_error(format, bytes, size), cases[i].offset);
    }
}

void check_truncation(const tm_format *format, const char *text, const tm_unit *unit) {
    char bytes[TRACE_TEXT_MAX], whole[TRACE_TEXT_MAX], piece[TRACE_TEXT_MAX];
    size_t size = quoted_text(text, bytes), n_truncated = 0;
    reading r;
    assert_int_equal(try_unit(format, bytes, size, "some.json", unit, &r), TM_OK);
    assert_false(r.trace.truncated);
    size_t n = r.trace.events.n;
    trace_text(&r, whole, sizeof whole);
    close_reading(&r);
    for (size_t cut = 1; cut < size; cut++) {
        tm_status status = try_unit(format, bytes, cut, "some.json", unit, &r);
        assert_true(status == TM_OK || status == TM_ERR_INPUT);
        if (status == TM_OK) {
            assert_true(r.trace.truncated && r.trace.events.n > 0 && r.trace.events.n <= n);
            assert_false(r.trace.counts[TM_COUNT_NO_EPOCH] > 0 && tm_trace_lacks_base(&r.trace));
            trace_text(&r, piece, sizeof piece);
            n_truncated += r.trace.events.n == n && strcmp(piece, whole) == 0;
        } else {
            assert_true(r.ground.err.offset >= 0 && r.ground.err.offset <= (int64_t)cut);
        }
        close_reading(&r);
    }
    assert_true(n_truncated > 0); /* without its last bytes, a trace lacks only its end */
}

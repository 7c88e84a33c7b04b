#include "trace_text.h"

#include <inttypes.h>

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

static void put_attr(writer *w, const reading *r, tm_attr attr, void *row) {
    const tm_kernel_attr *kernel = row;
    const tm_launch_shape *shape = NULL;
    const tm_copy_attr *copy = row;
    const tm_memory_attr *memory = row;
    const tm_collective_attr *c = row;
    switch (attr) {
    case TM_ATTR_LAUNCH:
        put(w, " launches #%" PRId64, ((const tm_launch_attr *)row)->correlation);
        break;
    case TM_ATTR_KERNEL:
        shape = (const tm_launch_shape *)r->trace.shapes.keys.data + kernel->shape;
        put(w, " #%" PRId64 " [%d %d %d]x[%d %d %d] %d %d %.2f %.2f", kernel->correlation,
            shape->grid[0], shape->grid[1], shape->grid[2], shape->block[0], shape->block[1],
            shape->block[2], shape->registers, shape->shared_memory_bytes,
            (double)shape->blocks_per_sm, (double)shape->warps_per_sm);
        break;
    case TM_ATTR_COPY:
        put(w, " #%" PRId64 " %" PRId64 " bytes", copy->correlation, copy->bytes);
        break;
    case TM_ATTR_MEMORY:
        put(w, " %" PRIx64 " %" PRId64 " bytes of %d:%d", (uint64_t)memory->address, memory->bytes,
            memory->device_type, memory->device);
        break;
    case TM_ATTR_COLLECTIVE:
        put(w, " %s of %d %s", tm_names_text(r->ground.names, c->name).bytes, c->group_size,
            tm_names_text(r->ground.names, c->group_ranks).bytes);
        break;
    default:
        put(w, " ?");
    }
}

void trace_text(const reading *r, char *out, size_t size) {
    writer w = {out, size};
    put(&w, "%s", "");
    for (size_t i = 0; i < r->trace.events.n; i++) {
        const tm_raw_event *e = event_at(r, i);
        const tm_track *track = track_at(r, i);
        put(&w, "%s %s ", tm_names_text(r->ground.names, e->name).bytes,
            tm_category_word((tm_category)e->category));
        if (e->kind == TM_DURATION)
            put(&w, "%" PRId64 "+%" PRId64, e->begin_ns, e->duration_ns);
        else
            put(&w, "@%" PRId64, e->begin_ns);
        put(&w, " %s/%s", tm_names_text(r->ground.names, track->pid).bytes,
            tm_names_text(r->ground.names, track->tid).bytes);
        for (int a = 0; a < TM_N_ATTRS; a++)
            for (size_t k = 0; k < r->trace.attrs[a].n; k++) {
                void *row = attr_at(r, (tm_attr)a, k);
                if (*tm_attr_event((tm_attr)a, row) == i)
                    put_attr(&w, r, (tm_attr)a, row);
            }
        put(&w, "\n");
    }
}

void check_malformed(const tm_format *format, const malformed *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char bytes[TRACE_TEXT_MAX];
        size_t size = quoted_text(cases[i].text, bytes);
        reading r;
        print_message("case %zu\n", i);
        assert_int_equal(try_unit(format, bytes, size, "some.json", NULL, &r), TM_ERR_INPUT);
        assert_int_equal(r.ground.err.offset, cases[i].offset);
        close_reading(&r);
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
    assert_true(n_truncated > 0); /* that of the last bytes, which lacks nothing but its end */
}

/* Traces, timelines and tables from a few lines, for tests of analyses. */
#include "timeline_fixture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/shared/call_kinds.h"
#include "timeline/metadata.h"
#include "tmerge/analysis.h"

ground open_ground(void) {
    ground g = {.names = tm_names_create()};
    assert_non_null(g.names);
    g.context.names = g.names;
    assert_int_equal(tm_classifier_create(NULL, &g.context.classifier, &g.err), TM_OK);
    return g;
}

void close_ground(ground *g) {
    tm_classifier_destroy(g->context.classifier);
    tm_names_destroy(g->names);
}

void analyse_timeline(ground *g, const tm_timeline *timeline, tm_tables *tables) {
    tm_call_kinds kinds;
    assert_true(tm_call_kinds_init(&kinds, g->names));
    assert_int_equal(tm_analyse_rank(timeline, &kinds, tables, &g->err), TM_OK);
    tm_call_kinds_free(&kinds);
}

uint32_t name_of(const ground *g, const char *text) {
    uint32_t id = tm_names_intern_string(g->names, text);
    assert_int_not_equal(id, TM_NAME_FAILED);
    return id;
}

void describe(const ground *g, tm_trace *trace, const char *metadata) {
    tm_vec own = TM_VEC(char);
    assert_true(tm_metadata_cut(metadata, strlen(metadata), g->names, &own, &trace->lists));
    assert_non_null(tm_vec_append(&own, "", 1));
    trace->metadata = name_of(g, own.data);
    tm_vec_free(&own);
}

void assert_name(const ground *g, uint32_t id, const char *text) {
    tm_text found = tm_names_text(g->names, id);
    assert_int_equal(found.size, strlen(text));
    assert_memory_equal(found.bytes, text, found.size);
}

static uint32_t track_of(const ground *g, tm_trace *trace, const event_spec *e) {
    char pid[16], tid[16];
    bool gpu = tm_category_is_gpu(e->category);
    snprintf(pid, sizeof pid, "%d", e->device);
    snprintf(tid, sizeof tid, "%d", e->where);
    uint32_t track =
        tm_trace_track(trace, gpu ? TM_TRACK_GPU : TM_TRACK_CPU, name_of(g, pid), name_of(g, tid));
    assert_int_not_equal(track, UINT32_MAX);
    if (gpu) {
        ((tm_track *)trace->tracks.data)[track].device = e->device;
        ((tm_track *)trace->tracks.data)[track].stream = e->where;
    }
    return track;
}

static void add_attr(tm_trace *trace, tm_attr attr, const void *row) {
    assert_non_null(tm_vec_append(&trace->attrs[attr], row, 1));
}

static void add_attrs(const ground *g, tm_trace *trace, const event_spec *e, uint32_t event) {
    const tm_launch_attr launch = {.correlation = e->correlation, .event = event};
    const tm_launch_shape zeros = {.registers = 0};
    const tm_copy_attr copy = {.correlation = e->correlation, .event = event};
    if ((e->category == TM_CAT_RUNTIME || e->category == TM_CAT_DRIVER) && e->correlation != 0)
        add_attr(trace, TM_ATTR_LAUNCH, &launch);
    if (e->category == TM_CAT_KERNEL)
        assert_true(tm_trace_add_kernel(trace, event, e->correlation, &zeros));
    if (e->category == TM_CAT_MEMCPY || e->category == TM_CAT_MEMSET)
        add_attr(trace, TM_ATTR_COPY, &copy);
    if (e->collective) {
        tm_collective_attr collective = {.event = event, .name = name_of(g, e->collective)};
        add_attr(trace, TM_ATTR_COLLECTIVE, &collective);
    }
}

tm_trace make_trace(const ground *g, const char *path, const event_spec *events, size_t n,
                    int64_t origin_ns) {
    tm_trace trace;
    tm_trace_init(&trace);
    trace.source = name_of(g, path);
    trace.format = name_of(g, "kineto");
    for (size_t i = 0; i < n; i++) {
        const tm_raw_event raw = {
            .begin_ns = origin_ns + events[i].begin_ns,
            .duration_ns = events[i].duration_ns,
            .name = name_of(g, events[i].name),
            .track = track_of(g, &trace, &events[i]),
            .category = (uint8_t)events[i].category,
            .kind = (uint8_t)events[i].kind,
        };
        assert_non_null(tm_vec_append(&trace.events, &raw, 1));
        add_attrs(g, &trace, &events[i], (uint32_t)i);
    }
    return trace;
}

const tm_launch_shape *shape_at(const tm_trace *trace, size_t i) {
    const tm_kernel_attr *kernels = trace->attrs[TM_ATTR_KERNEL].data;
    assert_true(i < trace->attrs[TM_ATTR_KERNEL].n && kernels[i].shape < trace->shapes.keys.n);
    return (const tm_launch_shape *)trace->shapes.keys.data + kernels[i].shape;
}

void set_shape(tm_trace *trace, size_t i, tm_launch_shape shape) {
    tm_kernel_attr *kernels = trace->attrs[TM_ATTR_KERNEL].data;
    assert_true(i < trace->attrs[TM_ATTR_KERNEL].n);
    kernels[i].shape = tm_keys_add(&trace->shapes, &shape);
    assert_int_not_equal(kernels[i].shape, TM_NO_KEY);
}

tm_timeline build_one(ground *g, int64_t rank, const event_spec *events, size_t n) {
    tm_trace trace = make_trace(g, "one.json", events, n, 0);
    tm_trace *traces[] = {&trace};
    tm_timeline timeline;
    assert_int_equal(tm_timeline_build(traces, 1, rank, &g->context, &timeline, &g->err), TM_OK);
    assert_false(trace.left_out);
    return timeline;
}

uint32_t row_named(const ground *g, const tm_timeline *timeline, const char *name) {
    for (size_t row = 0; row < timeline->n_events; row++) {
        tm_text text = tm_names_text(g->names, timeline->name[row]);
        if (text.size == strlen(name) && memcmp(text.bytes, name, text.size) == 0)
            return (uint32_t)row;
    }
    fail_msg("no event is called %s", name);
    return TM_NO_EVENT;
}

static void print_cell(const tm_column *column, const tm_cell *cell, char *out, size_t size) {
    if (cell->null)
        snprintf(out, size, "null");
    else if (column->type == TM_INT)
        snprintf(out, size, "%" PRId64, cell->value.i);
    else if (column->type == TM_REAL)
        snprintf(out, size, "%.10g", cell->value.r);
    else if (column->type == TM_TEXT)
        snprintf(out, size, "%s", cell->value.text);
    else
        snprintf(out, size, "%s", cell->value.i ? "true" : "false");
}

void assert_row(const tm_table *table, size_t row, const char *expected) {
    char text[2048], value[512];
    size_t used = 0;
    assert_true(row < table->n_rows);
    const tm_cell *cells = tm_table_row(table, row);
    for (int c = 0; c < table->def->n_columns; c++) {
        char any[128];
        print_cell(&table->def->columns[c], &cells[c], value, sizeof value);
        snprintf(any, sizeof any, "%s=?", table->def->columns[c].name);
        if (strstr(expected, any))
            snprintf(value, sizeof value, "?");
        int n = snprintf(text + used, sizeof text - used, "%s%s=%s", c ? " " : "",
                         table->def->columns[c].name, value);
        used += (size_t)n;
        assert_true(used < sizeof text);
    }
    assert_string_equal(text, expected);
}

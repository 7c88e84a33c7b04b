#include "timeline_details.h"

#include <math.h>
#include <string.h>

#include "base/keys.h"
#include "base/sorted.h"
#include "timeline_counters.h"

/* Number of values in a kernel's launch shape. Each value is encoded as value + 1; 0: unknown. */
enum { N_SHAPE = 9 };

typedef struct shape {
    uint64_t numbers[N_SHAPE];
} shape;

/* Cursor over the attributes of one kind. The caller asks for a track's rows in ascending order. */
typedef struct attrs {
    const char *at;
    size_t n, size, event; /* `event` is the offset of the attribute's member `event` */
    size_t next;
    uint32_t row; /* the last row for which the caller asked */
} attrs;

typedef struct teller {
    const tm_event_writer *writer;
    const tm_timeline *timeline;
    attrs of[TM_N_ATTRS];
    tm_keys shapes; /* keys of type shape */
    bool failed;
} teller;

static attrs attrs_of(const tm_timeline *timeline, tm_attr which, size_t size, size_t event) {
    return (attrs){timeline->attrs[which], timeline->n_attrs[which], size, event, 0, 0};
}

static uint32_t row_at(const attrs *a, size_t i) {
    uint32_t row;
    memcpy(&row, a->at + i * a->size + a->event, sizeof row);
    return row;
}

/* Returns a row's attribute; NULL if it has none. Starts a new search if @p row is before the
 * previous row. */
static const void *find(attrs *a, uint32_t row) {
    if (row < a->row) {
        size_t end = a->next;
        for (a->next = 0; a->next < end;) {
            size_t middle = a->next + (end - a->next) / 2;
            if (row_at(a, middle) < row)
                a->next = middle + 1;
            else
                end = middle;
        }
    }
    a->row = row;
    while (a->next < a->n && row_at(a, a->next) < row)
        a->next++;
    return a->next < a->n && row_at(a, a->next) == row ? a->at + a->next * a->size : NULL;
}

static bool is_less(const void *row, const void *key) {
    return *(const uint32_t *)row < *(const uint32_t *)key;
}

/* Returns the index of the call that launched a row. Returns -1 if there is no such call, or if the
 * page does not have it. */
static int64_t launch_of(const teller *t, uint32_t row) {
    const tm_event_writer *w = t->writer;
    uint32_t call = t->timeline->launch[row];
    const uint32_t *hosts = (const uint32_t *)w->shown.data + w->n_gpu;
    size_t n = w->shown.n - w->n_gpu;
    if (call == TM_NO_EVENT || call == row) /* an operator on the CPU is its own launch */
        return -1;
    size_t i = tm_bisect(hosts, n, sizeof *hosts, &call, is_less);
    return i < n && hosts[i] == call ? (int64_t)(w->n_gpu + i) : -1;
}

static int64_t correlation_of(teller *t, uint32_t row) {
    const tm_kernel_attr *kernel = find(&t->of[TM_ATTR_KERNEL], row);
    const tm_copy_attr *copy = kernel ? NULL : find(&t->of[TM_ATTR_COPY], row);
    int64_t id = kernel ? kernel->correlation : copy ? copy->correlation : 0;
    return id > 0 ? id : -1;
}

static uint64_t plus_1(int64_t number) {
    return number < 0 ? 0 : (uint64_t)number + 1;
}

static int64_t shape_of(teller *t, uint32_t row) {
    const tm_kernel_attr *kernel = find(&t->of[TM_ATTR_KERNEL], row);
    const tm_launch_shape *k = kernel ? tm_kernel_shape(t->timeline, kernel) : NULL;
    if (!k || k->grid[0] < 0)
        return -1;
    bool has = isfinite(k->occupancy_pct) && k->occupancy_pct >= 0;
    const shape own = {{plus_1(k->grid[0]), plus_1(k->grid[1]), plus_1(k->grid[2]),
                        plus_1(k->block[0]), plus_1(k->block[1]), plus_1(k->block[2]),
                        plus_1(k->registers), plus_1(k->shared_memory_bytes),
                        has ? plus_1(lround(100 * (double)k->occupancy_pct)) : 0}};
    uint32_t number = tm_keys_add(&t->shapes, &own);
    t->failed = t->failed || number == TM_NO_KEY;
    return number;
}

static int64_t name_or_none(uint32_t id) {
    return id == TM_NO_NAME ? -1 : (int64_t)id;
}

/* Returns a detail of the rank's i-th event; -1 if it has none. */
static int64_t value_of(teller *t, tm_detail what, size_t i) {
    const uint32_t *rows = t->writer->shown.data;
    const tm_copy_attr *copy;
    const tm_shapes_attr *inputs;
    const tm_operator_attr *op;
    switch (what) {
    case TM_DETAIL_LAUNCH:
        return launch_of(t, rows[i]);
    case TM_DETAIL_CORRELATION:
        return correlation_of(t, rows[i]);
    case TM_DETAIL_SHAPE:
        return shape_of(t, rows[i]);
    case TM_DETAIL_BYTES:
        copy = find(&t->of[TM_ATTR_COPY], rows[i]);
        return copy ? copy->bytes : -1;
    case TM_DETAIL_INPUTS:
        inputs = find(&t->of[TM_ATTR_SHAPES], rows[i]);
        return inputs ? name_or_none(inputs->shapes) : -1;
    default:
        op = find(&t->of[TM_ATTR_OPERATOR], rows[i]);
        return op ? name_or_none(op->stack) : -1;
    }
}

static bool is_name(tm_detail what) {
    return what == TM_DETAIL_INPUTS || what == TM_DETAIL_STACK;
}

/* Returns whether the page has this detail of an event. Any event can have a launch. Each other
 * detail is only for GPU events, or only for host events. A page that holds only chosen parts has
 * details of a GPU event only if it has the call that launched the event. */
static bool is_reported(const teller *t, tm_detail what, size_t i) {
    const tm_event_writer *w = t->writer;
    if (what == TM_DETAIL_LAUNCH)
        return true;
    if (is_name(what) || i >= w->n_gpu)
        return is_name(what) && i >= w->n_gpu;
    return w->plan->all || launch_of(t, ((const uint32_t *)w->shown.data)[i]) >= 0;
}

static bool put_detail(teller *t, tm_detail what, tm_event_encoding *out) {
    tm_vec events = TM_VEC(uint32_t), values = TM_VEC(int64_t);
    bool ok = true;
    for (size_t i = 0; i < t->writer->shown.n && ok; i++) {
        int64_t value = is_reported(t, what, i) ? value_of(t, what, i) : -1;
        if (value < 0)
            continue;
        uint32_t *own_event = tm_vec_push(&events);
        int64_t *own_value = tm_vec_push(&values);
        ok = own_event && own_value;
        if (ok) {
            *own_event = (uint32_t)i;
            *own_value = value;
        }
    }
    const uint32_t *event = events.data;
    const int64_t *value = values.data;
    tm_bytes_put(&out->bytes, events.n);
    for (size_t i = 0; i < events.n; i++)
        tm_bytes_put(&out->bytes, event[i] - (i > 0 ? event[i - 1] : 0));
    uint32_t *names = ok && is_name(what) ? tm_event_encoding_gap(out, values.n) : NULL;
    for (size_t i = 0; i < values.n && names; i++)
        names[i] = (uint32_t)value[i];
    for (size_t i = 0; i < values.n && !is_name(what); i++)
        tm_bytes_put_signed(&out->bytes, value[i] - (i > 0 ? value[i - 1] : 0));
    tm_vec_free(&events);
    tm_vec_free(&values);
    return ok && !out->bytes.failed;
}

/* Writes all shapes first, because the details refer to them by index. */
static bool put_shapes(teller *t, tm_bytes *out) {
    for (size_t i = 0; i < t->writer->n_gpu; i++)
        if (is_reported(t, TM_DETAIL_SHAPE, i))
            (void)shape_of(t, ((const uint32_t *)t->writer->shown.data)[i]);
    const shape *shapes = t->shapes.keys.data;
    tm_bytes_put(out, t->shapes.keys.n);
    for (size_t i = 0; i < t->shapes.keys.n; i++)
        for (size_t k = 0; k < N_SHAPE; k++)
            tm_bytes_put(out, shapes[i].numbers[k]);
    return !t->failed;
}

tm_status tm_details_put(const tm_event_writer *writer, const tm_timeline *timeline, size_t at,
                         tm_event_encoding *out, tm_error *err) {
    teller t = {.writer = writer, .timeline = timeline, .shapes = TM_KEYS(shape)};
#define ATTRS(which, type)                                                                         \
    t.of[which] = attrs_of(timeline, which, sizeof(type), offsetof(type, event))
    ATTRS(TM_ATTR_KERNEL, tm_kernel_attr);
    ATTRS(TM_ATTR_COPY, tm_copy_attr);
    ATTRS(TM_ATTR_SHAPES, tm_shapes_attr);
    ATTRS(TM_ATTR_OPERATOR, tm_operator_attr);
#undef ATTRS
    tm_bytes_put(&out->bytes, ((const tm_card *)writer->plan->cards.data + at)->place);
    bool ok = put_shapes(&t, &out->bytes);
    for (tm_detail what = 0; what < TM_N_DETAILS && ok; what++)
        ok = put_detail(&t, what, out);
    tm_keys_free(&t.shapes);
    if (!ok)
        return tm_fail_memory(err);
    TM_TRY(tm_counters_put(writer, timeline, out, err));
    return tm_event_encoding_end(out, timeline->rank, 0) ? TM_OK : tm_fail_memory(err);
}

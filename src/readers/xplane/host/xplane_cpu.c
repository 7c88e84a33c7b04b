#include "xplane_cpu.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/keys.h"
#include "base/sorted.h"
#include "readers/xplane/gpu/gpu_programs.h"
#include "readers/xplane/hlo/hlo_text.h"

/* XLA numbers the devices of process p from p times this number on (kMaxCpuDevicesPerProcess in
 * xla/pjrt/plugin/xla_cpu/cpu_topology_description). */
enum { DEVICES_OF_PROCESS = 2048 };

int64_t tm_xcpu_rank(int64_t number, size_t n_of_process) {
    return number / DEVICES_OF_PROCESS * (int64_t)n_of_process + number % DEVICES_OF_PROCESS;
}

/* An operation of the rank's device. */
typedef struct op {
    int64_t begin_ps, end_ps; /* on a clock that all lines share */
    tm_xevent at;
    int64_t program, run;
    int64_t flow;          /* id of the flow at the mark of the operation's end; 0: none */
    uint32_t line;         /* index of the operation's line in the plane */
    uint32_t name, module; /* name ids; TM_NO_NAME: none */
} op;

/* The mark that another thread writes at the end of an operation. */
typedef struct mark {
    int64_t flow, ps;
} mark;

typedef struct cpu {
    tm_xread *r;
    tm_xstats stats;
    tm_vec ops, marks; /* `ops` has elements of type op, `marks` of type mark */
    /* vector of int64_t: for each row of TM_ATTR_XLA, id of the run of its program; 0: unknown */
    tm_vec runs;
    tm_gpu_programs programs;
} cpu;

static bool is_end(tm_text name) {
    return tm_text_begins(name, "end: ");
}

bool tm_xcpu_is_work(tm_text name, const tm_xvalues *v) {
    return tm_x_has(v, TM_X_HLO_OP) || (is_end(name) && tm_x_has(v, TM_X_CONSUMER));
}

static bool names_devices(const tm_xplane *plane) {
    const tm_xname *names = plane->stat_names.data;
    bool ops = false, devices = false;
    for (size_t i = 0; i < plane->stat_names.n; i++) {
        ops |= tm_text_is(names[i].name, "hlo_op");
        devices |= tm_text_is(names[i].name, "device_ordinal");
    }
    return ops && devices;
}

static bool add_device(const tm_xdevice *device, tm_vec *out) {
    const tm_xdevice *v = out->data;
    size_t i = out->n;
    while (i > 0 && v[i - 1].number != device->number)
        i--;
    return i > 0 || tm_vec_append(out, device, 1);
}

/* Finds the next event of a line that is an operation of any device. */
static tm_status next_op(const tm_xstats *stats, tm_space *space, tm_xevent *event, tm_xvalues *v,
                         bool *more, tm_error *err) {
    do {
        TM_TRY(tm_xstats_next(stats, space, event, v, more, err));
    } while (*more && !(tm_x_has(v, TM_X_HLO_OP) && tm_x_int(v, TM_X_DEVICE_ORDINAL, -1) >= 0));
    return TM_OK;
}

static tm_status list_devices(tm_space *space, const tm_xstats *stats, int64_t index, tm_vec *out,
                              tm_error *err) {
    const tm_xline *lines = stats->plane->lines.data;
    tm_xevent event;
    tm_xvalues v;
    bool more;
    for (size_t i = 0; i < stats->plane->lines.n; i++) {
        TM_TRY(tm_space_enter(space, &lines[i], err));
        for (;;) {
            TM_TRY(next_op(stats, space, &event, &v, &more, err));
            if (!more)
                break;
            const tm_xdevice device = {.plane = stats->plane,
                                       .plane_index = index,
                                       .number = v.values[TM_X_DEVICE_ORDINAL].i,
                                       .kind = TM_X_CPU};
            if (!add_device(&device, out))
                return tm_fail_memory(err);
        }
    }
    return TM_OK;
}

tm_status tm_xcpu_devices(tm_space *space, const tm_xplane *plane, int64_t index, tm_vec *out,
                          tm_error *err) {
    tm_xstats stats;
    if (!names_devices(plane))
        return TM_OK;
    TM_TRY(tm_xstats_init(&stats, plane, err));
    tm_status status = list_devices(space, &stats, index, out, err);
    tm_xstats_free(&stats);
    return status;
}

static int64_t within(int64_t value, int64_t most) {
    return value > most ? most : value < -most ? -most : value;
}

/* Returns the start of an event on the common clock. Clamps an implausible time; the event is
 * dropped later. */
static int64_t begin_of(const cpu *c, uint32_t line, const tm_xevent *at) {
    const tm_xline *lines = c->stats.plane->lines.data;
    const int64_t most = INT64_MAX / 8;
    int64_t first = within(lines[0].timestamp_ns, most);
    int64_t after_ns = within(lines[line].timestamp_ns, most) - first;
    return within(after_ns, most / 1000) * 1000 + within(at->offset_ps, most);
}

/* Keeps an operation of the rank's device, or the mark of any operation's end. */
static bool keep(cpu *c, uint32_t line, const tm_xevent *at, const tm_xvalues *v) {
    int64_t begin_ps = begin_of(c, line, at);
    if (!tm_x_has(v, TM_X_HLO_OP)) {
        const mark end = {tm_x_int(v, TM_X_CONSUMER, 0), begin_ps};
        return !tm_x_has(v, TM_X_CONSUMER) || tm_vec_append(&c->marks, &end, 1);
    }
    int64_t number = tm_x_int(v, TM_X_DEVICE_ORDINAL, -1), program = tm_x_int(v, TM_X_PROGRAM, -1);
    if (number >= 0 && !tm_gpu_programs_ran(&c->programs, program, number))
        return false;
    if (number != c->r->device->number)
        return true;
    op o = {.begin_ps = begin_ps,
            .end_ps = begin_ps + within(at->duration_ps, INT64_MAX / 8),
            .at = *at,
            .program = program,
            .run = tm_x_int(v, TM_X_RUN, 0),
            .flow = tm_x_int(v, TM_X_PRODUCER, 0),
            .line = line,
            .name = tm_xread_intern_stat(c->r, &c->stats, &v->values[TM_X_HLO_OP]),
            .module = TM_NO_NAME};
    if (tm_x_has(v, TM_X_HLO_MODULE))
        o.module = tm_xread_intern_stat(c->r, &c->stats, &v->values[TM_X_HLO_MODULE]);
    return o.name != TM_NAME_FAILED && o.module != TM_NAME_FAILED && tm_vec_append(&c->ops, &o, 1);
}

static bool is_end_mark(const cpu *c, const tm_xevent *at) {
    const tm_xmeta *meta = tm_xplane_metadata(c->stats.plane, at->metadata);
    return meta && is_end(meta->name);
}

static tm_status read_line(cpu *c, uint32_t line, tm_error *err) {
    const tm_xline *own = (const tm_xline *)c->stats.plane->lines.data + line;
    tm_xevent event;
    tm_xvalues v;
    bool more;
    TM_TRY(tm_space_enter(&c->r->space, own, err));
    for (;;) {
        TM_TRY(tm_xstats_next(&c->stats, &c->r->space, &event, &v, &more, err));
        if (!more)
            return TM_OK;
        bool counts = tm_x_has(&v, TM_X_HLO_OP) || is_end_mark(c, &event);
        if (counts && !keep(c, line, &event, &v))
            return tm_fail_memory(err);
    }
}

static int by_begin(const void *a, const void *b) {
    const op *x = a, *y = b;
    int order = tm_order_i64(x->begin_ps, y->begin_ps);
    if (order == 0)
        order = tm_order_i64(y->end_ps, x->end_ps);
    return order ? order : tm_order_i64(x->line, y->line);
}

TM_ORDER_BY(by_flow, mark, flow, ps);

/* Another thread may finish an operation after the operation's event has ended. The other thread
 * then writes a mark, and the operation is extended to this mark. The mark may be late, so an
 * operation ends at the latest when the next operation of the device starts. */
static void complete_ends(cpu *c) {
    op *v = c->ops.data;
    const mark *marks = c->marks.data;
    for (size_t i = 0; i < c->ops.n; i++) {
        size_t m = TM_FIRST_FROM(mark, flow, marks, c->marks.n, v[i].flow);
        if (v[i].flow == 0 || m == c->marks.n || marks[m].flow != v[i].flow ||
            marks[m].ps <= v[i].end_ps)
            continue;
        size_t next = TM_FIRST_FROM(op, begin_ps, v, c->ops.n, v[i].end_ps);
        bool limits = next < c->ops.n && v[next].begin_ps < marks[m].ps;
        v[i].end_ps = limits ? v[next].begin_ps : marks[m].ps;
        v[i].at.duration_ps = v[i].end_ps - v[i].begin_ps;
    }
}

static uint32_t name_of(cpu *c, const op *o) {
    const tm_xmeta *meta = tm_xplane_metadata(c->stats.plane, o->at.metadata);
    return meta ? tm_xread_intern(c->r, meta->name) : TM_NO_NAME;
}

static tm_status emit(cpu *c, const op *o, tm_error *err) {
    tm_xread *r = c->r;
    const tm_xline *line = (const tm_xline *)c->stats.plane->lines.data + o->line;
    const tm_raw_event event = {.name = name_of(c, o),
                                .category = TM_CAT_KERNEL,
                                .track = tm_xread_stream(r, line, true),
                                .kind = TM_DURATION,
                                .launch = TM_NO_EVENT};
    uint32_t row;
    TM_TRY(tm_xread_add(r, line, &o->at, event, &row, err));
    if (row == TM_NO_EVENT)
        return TM_OK;
    const tm_xla_attr attr = {.event = row,
                              .flops = -1,
                              .bytes = -1,
                              .program = o->module,
                              .hlo = o->name,
                              .category = TM_NO_NAME,
                              .origin = TM_NO_NAME,
                              .shape = TM_NO_NAME};
    bool ok = tm_vec_append(&r->trace->attrs[TM_ATTR_XLA], &attr, 1) &&
              tm_vec_append(&c->runs, &o->run, 1) &&
              tm_gpu_programs_add(&c->programs, o->program, o->name);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Adds a collective whose group the program does not give. */
static bool add_bare(tm_xread *r, const tm_xla_attr *of, const tm_hlo_kind *kind) {
    tm_collective_attr attr = tm_collective_bare(of->event);
    attr.name = of->category != TM_NO_NAME ? of->category : of->hlo;
    attr.kind = kind->kind;
    return tm_vec_append(&r->trace->attrs[TM_ATTR_COLLECTIVE], &attr, 1);
}

/* A collective in a run of a program. A loop may run the collective several times. */
typedef struct meeting {
    int64_t run, operation;
} meeting;

/* All processes number the runs of a program in the same way, so a collective is identified by the
 * run, the operation, and how often the operation ran before in this run. */
static bool set_run(tm_keys *meetings, tm_vec *counts, int64_t run, tm_collective_attr *attr) {
    const meeting at = {run, attr->comms_id};
    int64_t *n = run != 0 ? tm_keys_value(meetings, counts, &at) : NULL;
    if (!n)
        return run == 0;
    const int64_t id[] = {at.run, at.operation, (*n)++};
    uint64_t hash = tm_hash_mixed(1, id, sizeof id);
    memcpy(&attr->comms_id, &hash, sizeof hash);
    attr->comms_id = attr->comms_id ? attr->comms_id : 1;
    attr->seq = -1;
    return true;
}

static bool set_runs(cpu *c) {
    const tm_xla_attr *rows = c->r->trace->attrs[TM_ATTR_XLA].data;
    tm_vec *all = &c->r->trace->attrs[TM_ATTR_COLLECTIVE], counts = TM_VEC(int64_t);
    tm_keys meetings = TM_KEYS(meeting);
    bool ok = true;
    for (size_t i = 0, row = 0; i < all->n && ok; i++) {
        tm_collective_attr *attr = (tm_collective_attr *)all->data + i;
        while (rows[row].event != attr->event)
            row++;
        ok = set_run(&meetings, &counts, ((const int64_t *)c->runs.data)[row], attr);
    }
    tm_keys_free(&meetings);
    tm_vec_free(&counts);
    return ok;
}

TM_ORDER_BY(by_event, tm_collective_attr, event);

static uint32_t reported_event(const tm_vec *collectives, size_t i) {
    return ((const tm_collective_attr *)collectives->data)[i].event;
}

/* Classifies the operations. Operations that contain other operations do not count as work. */
static bool sort_out(tm_xread *r) {
    const tm_xla_attr *v = r->trace->attrs[TM_ATTR_XLA].data;
    tm_vec *collectives = &r->trace->attrs[TM_ATTR_COLLECTIVE];
    size_t n_reported = collectives->n, next = 0;
    bool ok = true;
    for (size_t i = 0; i < r->trace->attrs[TM_ATTR_XLA].n && ok; i++) {
        bool is_reported = next < n_reported && reported_event(collectives, next) == v[i].event;
        tm_text name = tm_names_text(r->names, v[i].hlo);
        const tm_hlo hlo = {.name = name, .opcode = name};
        tm_text category =
            v[i].category != TM_NO_NAME ? tm_names_text(r->names, v[i].category) : (tm_text){"", 0};
        const tm_hlo_kind kind = tm_hlo_kind_of(&hlo, category);
        tm_raw_event *event = (tm_raw_event *)r->trace->events.data + v[i].event;
        if (kind.class == TM_HLO_HOLDS)
            event->category = TM_CAT_GPU_ANNOTATION;
        else
            ok = tm_trace_add_kernel(r->trace, v[i].event, 0, NULL) &&
                 (is_reported || kind.class != TM_HLO_COLLECTIVE || add_bare(r, &v[i], &kind));
        next += is_reported;
    }
    tm_vec_sort(collectives, by_event);
    return ok;
}

static tm_status emit_all(cpu *c, tm_error *err) {
    op *v = c->ops.data;
    tm_vec_sort(&c->marks, by_flow);
    tm_vec_sort(&c->ops, by_begin);
    complete_ends(c);
    for (size_t i = 0; i < c->ops.n; i++)
        TM_TRY(emit(c, &v[i], err));
    TM_TRY(tm_gpu_programs_tell(&c->programs, c->r, err));
    return set_runs(c) && sort_out(c->r) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_xcpu_read(tm_xread *r, tm_error *err) {
    cpu c = {.r = r,
             .ops = TM_VEC(op),
             .marks = TM_VEC(mark),
             .runs = TM_VEC(int64_t),
             .programs = tm_gpu_programs_make()};
    TM_TRY(tm_xstats_init(&c.stats, r->device->plane, err));
    tm_status status = TM_OK;
    for (size_t i = 0; i < r->device->plane->lines.n && status == TM_OK; i++)
        status = read_line(&c, (uint32_t)i, err);
    if (status == TM_OK)
        status = emit_all(&c, err);
    TM_VECS_FREE(&c.ops, &c.marks, &c.runs);
    tm_gpu_programs_free(&c.programs);
    tm_xstats_free(&c.stats);
    return status;
}

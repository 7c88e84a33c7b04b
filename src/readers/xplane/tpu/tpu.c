#include "tpu.h"

#include <stdlib.h>

#include "base/keys.h"
#include "base/sorted.h"
#include "tpu_core.h"

/* Records the flow of each program run on a device. A host call with the same flow is then known to
 * be for this device. */
static tm_status add_others(tm_xread *r, const tm_xline *line, const tm_xstats *stats,
                            size_t device, tm_xlaunches *launches, tm_error *err) {
    const tm_xdevice *devices = r->devices.data;
    tm_xevent event;
    tm_xvalues v;
    bool more;
    TM_TRY(tm_space_enter(&r->space, line, err));
    for (;;) {
        TM_TRY(tm_xstats_next(stats, &r->space, &event, &v, &more, err));
        if (!more)
            return TM_OK;
        int64_t flow = tm_tpu_flow_of(&v, false, devices[device].number);
        const tm_xlaunch launch = {.device = (int32_t)device};
        if (flow != 0 && !tm_xlaunches_add(launches, flow, launch))
            return tm_fail_memory(err);
    }
}

static tm_status read_launches(tm_xread *r, tm_xlaunches *launches, tm_error *err) {
    const tm_xdevice *devices = r->devices.data;
    tm_status status = TM_OK;
    for (size_t i = 0; i < r->devices.n && status == TM_OK; i++) {
        const tm_xline *line = tm_tpu_line(devices[i].plane, "XLA Modules");
        tm_xstats stats;
        if (!line)
            continue;
        TM_TRY(tm_xstats_init(&stats, devices[i].plane, err));
        status = add_others(r, line, &stats, i, launches, err);
        tm_xstats_free(&stats);
    }
    return status;
}

/* Returns a name without its fingerprint: "jit_f" for "jit_f(12190760917235803885)". */
static tm_text without_fingerprint(tm_text name) {
    const char *bracket = memchr(name.bytes, '(', name.size);
    return (tm_text){name.bytes, bracket ? (size_t)(bracket - name.bytes) : name.size};
}

static int64_t ns_of(const tm_tpu_core *core, int64_t ps) {
    int64_t base = core->line->timestamp_ns;
    return tm_x_ns_of_ps(ps) + base + (base < TM_FIRST_DAY_NS ? core->r->epoch_ns : 0);
}

static bool keep_runs(const tm_tpu_core *core, tm_vec *out) {
    const tm_tpu_run *runs = core->runs.data;
    const tm_xmeta *metas = core->plane->metadata.data;
    for (size_t i = 0; i < core->runs.n; i++) {
        const tm_tpu_span span = {
            .begin_ns = ns_of(core, runs[i].begin_ps),
            .end_ns = ns_of(core, runs[i].end_ps),
            .launch = runs[i].launch,
            .name = tm_xread_intern(core->r, without_fingerprint(metas[runs[i].meta].name))};
        if (span.name == TM_NAME_FAILED || !tm_vec_append(out, &span, 1))
            return false;
    }
    return true;
}

static bool mark_steps(const tm_tpu_core *core, tm_xsteps *steps) {
    const tm_tpu_note *notes = core->steps.data;
    const tm_xmeta *metas = core->plane->metadata.data;
    const tm_xvalues none = {0};
    for (size_t i = 0; i < core->steps.n; i++) {
        const tm_raw_event event = {.begin_ns = ns_of(core, notes[i].begin_ps),
                                    .duration_ns = ns_of(core, notes[i].end_ps) -
                                                   ns_of(core, notes[i].begin_ps)};
        if (!tm_xsteps_mark(steps, &event, metas[notes[i].meta].name, &none))
            return false;
    }
    return true;
}

/* Reads the SparseCores of the rank's core: "/device:TPU:0 SparseCore 1". */
static tm_status read_sparse(tm_xread *r, tm_error *err) {
    static const char between[] = " SparseCore ";
    const tm_text own = r->device->plane->name;
    const tm_xplane *planes = r->space.planes.data;
    size_t at = own.size + sizeof between - 1;
    tm_status status = TM_OK;
    for (size_t i = 0; i < r->space.planes.n && status == TM_OK; i++) {
        tm_text name = planes[i].name;
        if (name.size != at + 1 || name.bytes[at] < '0' || name.bytes[at] > '9' ||
            memcmp(name.bytes, own.bytes, own.size) != 0 ||
            memcmp(name.bytes + own.size, between, sizeof between - 1) != 0)
            continue;
        tm_tpu_core core;
        status = tm_tpu_core_read(&core, r, &planes[i], name.bytes[at] - '0' + 1, err);
        if (status == TM_OK)
            status = tm_tpu_emit(&core, err);
        tm_tpu_core_free(&core);
    }
    return status;
}

tm_status tm_tpu_read(tm_xread *r, tm_xlaunches *launches, tm_xsteps *steps, tm_vec *runs,
                      tm_error *err) {
    tm_tpu_core core;
    TM_TRY(read_launches(r, launches, err));
    tm_status status = tm_tpu_core_read(&core, r, r->device->plane, 0, err);
    if (status == TM_OK)
        status = tm_tpu_emit(&core, err);
    if (status == TM_OK && !(keep_runs(&core, runs) && mark_steps(&core, steps)))
        status = tm_fail_memory(err);
    tm_tpu_core_free(&core);
    return status == TM_OK ? read_sparse(r, err) : status;
}

/* A call of the host that launched a run. */
typedef struct call {
    int64_t correlation, begin_ns, end_ns;
} call;

TM_ORDER_BY(by_correlation, call, correlation, begin_ns);

static bool list_calls(const tm_trace *trace, tm_vec *out) {
    const tm_launch_attr *attrs = trace->attrs[TM_ATTR_LAUNCH].data;
    const tm_raw_event *events = trace->events.data;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_LAUNCH].n; i++) {
        const tm_raw_event *event = &events[attrs[i].event];
        const call made = {attrs[i].correlation, event->begin_ns,
                           event->begin_ns + event->duration_ns};
        if (!tm_vec_append(out, &made, 1))
            return false;
    }
    tm_vec_sort(out, by_correlation);
    return true;
}

/* Returns the call that launched a run; NULL if it was not recorded. */
static const call *call_of(const tm_vec *calls, const tm_tpu_span *run) {
    const call *v = calls->data;
    size_t i = TM_FIRST_FROM(call, correlation, v, calls->n, run->launch);
    return run->launch != 0 && i < calls->n && v[i].correlation == run->launch ? &v[i] : NULL;
}

/* Sets the calls of each step: the calls that launched the runs during the step's marker. */
static void join_markers(const tm_vec *runs, const tm_vec *calls, tm_xsteps *steps) {
    const tm_tpu_span *v = runs->data;
    tm_xstep *step = steps->steps.data;
    for (size_t i = 0, k = 0; i < runs->n && k < steps->steps.n; i++) {
        while (k < steps->steps.n && step[k].end_ns <= v[i].begin_ns)
            k++;
        const call *made = call_of(calls, &v[i]);
        if (!made || k == steps->steps.n || step[k].begin_ns > v[i].begin_ns)
            continue;
        step[k].first_ns = made->begin_ns < step[k].first_ns ? made->begin_ns : step[k].first_ns;
        step[k].last_ns = made->end_ns > step[k].last_ns ? made->end_ns : step[k].last_ns;
    }
}

/* A program's total time and number of runs. */
typedef struct total {
    int64_t ns, n;
} total;

/* Finds the program with the most total time. If several programs have the most, takes the first.
 * Sets *out to TM_NO_NAME if the program ran only once. Returns false if out of memory. */
static bool main_program(const tm_vec *runs, uint32_t *out) {
    const tm_tpu_span *v = runs->data;
    tm_keys names = TM_KEYS(uint32_t);
    tm_vec totals = TM_VEC(total);
    int64_t most = -1;
    bool ok = true;
    for (size_t i = 0; i < runs->n && ok; i++) {
        total *sum = tm_keys_value(&names, &totals, &v[i].name);
        ok = sum != NULL;
        if (ok) {
            sum->ns += v[i].end_ns - v[i].begin_ns;
            sum->n++;
        }
    }
    *out = TM_NO_NAME;
    const total *sums = totals.data;
    for (size_t i = 0; i < totals.n && ok; i++)
        if (sums[i].ns > most) {
            most = sums[i].ns;
            *out = sums[i].n > 1 ? ((const uint32_t *)names.keys.data)[i] : TM_NO_NAME;
        }
    tm_keys_free(&names);
    tm_vec_free(&totals);
    return ok;
}

/* Makes a step from each run of the main program. The step lasts from the launch of the run to the
 * launch of the next run. So the core's work for the run belongs to this step. */
static bool make_steps(const tm_vec *runs, const tm_vec *calls, tm_xsteps *steps) {
    const tm_tpu_span *v = runs->data;
    size_t first = steps->steps.n;
    uint32_t name;
    if (!main_program(runs, &name))
        return false;
    for (size_t i = 0; i < runs->n && name != TM_NO_NAME; i++) {
        if (v[i].name != name)
            continue;
        const call *made = call_of(calls, &v[i]);
        const tm_xstep step = {.number = (int64_t)(steps->steps.n - first),
                               .begin_ns = made ? made->begin_ns : v[i].begin_ns,
                               .end_ns = made ? made->end_ns : v[i].end_ns,
                               .first_ns = INT64_MAX,
                               .last_ns = INT64_MIN,
                               .name = name};
        bool later = steps->steps.n > first;
        tm_xstep *before = later ? (tm_xstep *)steps->steps.data + steps->steps.n - 1 : NULL;
        if (before && before->end_ns < step.begin_ns)
            before->end_ns = step.begin_ns;
        if (!tm_vec_append(&steps->steps, &step, 1))
            return false;
    }
    return true;
}

tm_status tm_tpu_find_steps(const tm_xread *r, const tm_vec *runs, tm_xsteps *steps,
                            tm_error *err) {
    tm_vec calls = TM_VEC(call);
    bool ok = list_calls(r->trace, &calls);
    if (ok && steps->of_device)
        join_markers(runs, &calls, steps);
    else if (ok && steps->steps.n == 0)
        ok = make_steps(runs, &calls, steps);
    tm_vec_free(&calls);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* A row of the memory table. Rows must be sorted by time, because the table has the rows of one
 * thread after those of another thread. */
typedef struct record {
    int64_t at_ns;
    uint32_t row;
} record;

TM_ORDER_BY(by_time, record, at_ns, row);

/* Remembers the size of an allocation by its address. Sets the bytes of a release to minus the
 * remembered size. */
static bool take(tm_memory_attr *attr, tm_keys *addresses, tm_vec *sizes) {
    const int64_t key[2] = {attr->device, attr->address};
    int64_t *size = tm_keys_value(addresses, sizes, key);
    if (!size)
        return false;
    if (attr->bytes > 0)
        *size = attr->bytes;
    else if (attr->bytes == 0)
        attr->bytes = -*size;
    if (attr->bytes <= 0)
        *size = 0;
    return true;
}

tm_status tm_tpu_complete_memory(const tm_xread *r, tm_error *err) {
    tm_memory_attr *attrs = r->trace->attrs[TM_ATTR_MEMORY].data;
    const tm_raw_event *events = r->trace->events.data;
    tm_vec records = TM_VEC(record), sizes = TM_VEC(int64_t);
    tm_keys addresses = {.keys = {.size = 2 * sizeof(int64_t)}};
    bool ok = true;
    for (size_t i = 0; i < r->trace->attrs[TM_ATTR_MEMORY].n && ok; i++) {
        const record found = {events[attrs[i].event].begin_ns, (uint32_t)i};
        ok = attrs[i].device_type == 0 || tm_vec_append(&records, &found, 1);
    }
    record *v = records.data;
    tm_vec_sort(&records, by_time);
    for (size_t i = 0; i < records.n && ok; i++)
        ok = take(&attrs[v[i].row], &addresses, &sizes);
    tm_keys_free(&addresses);
    tm_vec_free(&sizes);
    tm_vec_free(&records);
    return ok ? TM_OK : tm_fail_memory(err);
}

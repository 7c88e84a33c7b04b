#include "tpu_core.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "base/sums.h"

/* Times within a trace are at most this far apart: 26 days in picoseconds. */
static const int64_t far_ps = INT64_C(1) << 61;

/* An event with the times in the file. */
typedef struct taken {
    tm_tpu_times times;
    uint32_t meta;
    bool timed; /* whether the event also has times on the core's clock */
} taken;

int64_t tm_tpu_flow_of(const tm_xvalues *v, bool host, int64_t device) {
    tm_xrole type = host ? TM_X_PRODUCER_TYPE : TM_X_CONSUMER_TYPE;
    tm_xrole id = host ? TM_X_PRODUCER : TM_X_CONSUMER;
    int64_t numbers[3] = {tm_x_int(v, type, 0), tm_x_int(v, id, 0), -1}, flow;
    if (!tm_x_has(v, id)) {
        numbers[0] = host ? tm_x_int(v, TM_X_DEVICE_ORDINAL, -1) : device;
        numbers[1] = tm_x_int(v, TM_X_QUEUE, 0);
        numbers[2] = tm_x_int(v, TM_X_RUN, -1);
        if (numbers[0] < 0 || numbers[2] < 0)
            return 0;
    }
    uint64_t hash = tm_hash_mixed(1, numbers, sizeof numbers);
    memcpy(&flow, &hash, sizeof flow);
    return flow ? flow : 1;
}

static bool is_near(int64_t ps) {
    return ps < far_ps && ps > -far_ps;
}

/* Reads a core's number from XLA's message. For core 0, the message has no number, because protobuf
 * does not write a 0. */
static int64_t core_of(const tm_xplane *plane) {
    enum { GLOBAL_CORE = 6 };
    tm_xstat details;
    tm_wire_field field;
    int64_t id = 0;
    if (!tm_xplane_stat(plane, "core_details", &details) || details.type != TM_X_BYTES)
        return -1;
    const uint8_t *bytes = (const uint8_t *)details.text.bytes;
    tm_wire_message message = {bytes, bytes + details.text.size};
    while (tm_wire_next(&message, &field))
        if (field.number == GLOBAL_CORE && field.type == TM_WIRE_VARINT)
            id = (int64_t)field.value;
    return tm_wire_damaged(&message) || id < 0 ? -1 : id;
}

const tm_xline *tm_tpu_line(const tm_xplane *plane, const char *name) {
    const tm_xline *lines = plane->lines.data;
    for (size_t i = 0; i < plane->lines.n; i++)
        if (tm_text_is(lines[i].name, name))
            return &lines[i];
    return NULL;
}

/* Returns the bytes accessed in the device's main memory. If the compiler does not count each
 * memory separately, accesses to on-chip memory are included. */
static int64_t main_memory_bytes(const tm_xvalues *v) {
    enum { ACCESS = 1, MEMORY = 2, BYTES = 3, MAIN = 1 };
    int64_t all = tm_x_int(v, TM_X_BYTES_ACCESSED, -1), sum = 0;
    const tm_xstat *reported = &v->values[TM_X_BREAKDOWN];
    tm_wire_field field, part;
    if (all < 0 || !tm_x_has(v, TM_X_BREAKDOWN) || reported->type != TM_X_BYTES ||
        reported->text.size == 0)
        return all;
    const uint8_t *bytes = (const uint8_t *)reported->text.bytes;
    tm_wire_message message = {bytes, bytes + reported->text.size};
    while (tm_wire_next(&message, &field)) {
        uint64_t memory = 0, moved = 0;
        if (field.number != ACCESS || field.type != TM_WIRE_BYTES)
            continue;
        tm_wire_message inner = tm_wire_inner(&field);
        while (tm_wire_next(&inner, &part)) {
            memory = part.number == MEMORY ? part.value : memory;
            moved = part.number == BYTES ? part.value : moved;
        }
        if (memory == MAIN && moved <= INT64_MAX)
            sum = tm_sum(sum, (int64_t)moved);
    }
    return tm_wire_damaged(&message) ? all : sum;
}

/* Sets the data that the compiler provides about an operation. The program is not set here, because
 * it follows from the run. */
static bool learn_facts(tm_tpu_core *core, tm_tpu_meta *m, const tm_xvalues *v) {
    tm_xread *r = core->r;
    tm_xla_attr *facts = &m->facts;
    *facts = (tm_xla_attr){
        .flops = tm_x_int(v, TM_X_FLOPS, -1),
        .bytes = main_memory_bytes(v),
        .program = TM_NO_NAME,
        .hlo = m->name,
        .category = tm_x_has(v, TM_X_HLO_CATEGORY)
                        ? tm_xread_intern_stat(r, &core->stats, &v->values[TM_X_HLO_CATEGORY])
                        : TM_NO_NAME,
        .origin = tm_x_has(v, TM_X_TF_OP)
                      ? tm_xread_intern_stat(r, &core->stats, &v->values[TM_X_TF_OP])
                      : TM_NO_NAME,
        .shape = tm_xread_intern(r, m->hlo.shape)};
    return facts->category != TM_NAME_FAILED && facts->origin != TM_NAME_FAILED &&
           facts->shape != TM_NAME_FAILED;
}

/* Classifies the events of a metadata entry. Uses the entry and one of its events. */
static bool learn(tm_tpu_core *core, uint32_t index, const tm_xvalues *v) {
    const tm_xmeta *meta = (const tm_xmeta *)core->plane->metadata.data + index;
    tm_tpu_meta *m = &core->metas[index];
    if (m->known)
        return true;
    tm_text category = {"", 0};
    if (tm_x_has(v, TM_X_HLO_CATEGORY))
        category = tm_xstat_text(core->plane, &v->values[TM_X_HLO_CATEGORY]);
    m->known = true;
    m->hlo = tm_hlo_parse(meta->name);
    m->kind = tm_hlo_kind_of(&m->hlo, category);
    m->name = tm_xread_intern(core->r, m->hlo.name);
    if (m->kind.part == TM_HLO_DONE)
        m->awaited = tm_xread_intern(core->r, tm_hlo_first_operand(&m->hlo));
    return m->name != TM_NAME_FAILED && m->awaited != TM_NAME_FAILED && learn_facts(core, m, v);
}

/* Sets the times of an event, relative to the base of the line of operations. Returns false if the
 * event has no times. */
static bool take_times(const tm_tpu_core *core, const tm_xline *line, const tm_xevent *event,
                       const tm_xvalues *v, taken *out) {
    int64_t apart_ns = line->timestamp_ns - core->line->timestamp_ns;
    int64_t device_ps = tm_x_int(v, TM_X_DEVICE_OFFSET, INT64_MAX);
    int64_t device_duration_ps = tm_x_int(v, TM_X_DEVICE_DURATION, -1);
    if (event->occurrences != 0 || apart_ns > TM_DAY_NS || apart_ns < -TM_DAY_NS ||
        !is_near(event->offset_ps))
        return false;
    out->times = (tm_tpu_times){event->offset_ps + apart_ns * 1000, event->duration_ps, device_ps,
                                device_duration_ps};
    out->timed =
        is_near(device_ps) && device_duration_ps >= 0 && device_duration_ps <= TM_DAY_NS * 1000;
    return true;
}

/* Reads the stats of an event. If the event's metadata entry is not known yet, also reads the stats
 * of the entry. Returns the position of a damaged stat; NULL if there is none. */
static const uint8_t *read_stats(tm_tpu_core *core, const tm_xmeta *meta, const tm_xevent *event,
                                 tm_xvalues *out) {
    const uint8_t *damaged = NULL;
    if (meta && !core->metas[meta - (const tm_xmeta *)core->plane->metadata.data].known)
        damaged = tm_xstats_read(&core->stats, meta->message, TM_X_METADATA_STATS, out);
    return damaged ? damaged : tm_xstats_read(&core->stats, event->message, TM_X_EVENT_STATS, out);
}

typedef bool each_event(tm_tpu_core *core, const taken *event, const tm_xvalues *v, tm_vec *out);

static tm_status read_line(tm_tpu_core *core, const tm_xline *line, each_event *each, tm_vec *out,
                           tm_error *err) {
    tm_space *space = &core->r->space;
    tm_xevent event;
    bool more = false;
    if (!line)
        return TM_OK;
    TM_TRY(tm_space_enter(space, line, err));
    for (;;) {
        TM_TRY(tm_space_next(space, &event, &more, err));
        if (!more)
            return TM_OK;
        tm_xvalues v;
        taken at = {0};
        v.present = 0;
        const tm_xmeta *meta = tm_xplane_metadata(core->plane, event.metadata);
        const uint8_t *damaged = read_stats(core, meta, &event, &v);
        if (damaged)
            return tm_space_fail_stat(space, damaged, err);
        bool timed = take_times(core, line, &event, &v, &at);
        if (!meta || !timed || event.duration_ps < 0 || event.duration_ps > TM_DAY_NS * 1000) {
            core->r->trace->counts[meta && timed ? TM_COUNT_NEGATIVE_DURATION : TM_COUNT_NO_TIME]++;
            continue;
        }
        at.meta = (uint32_t)(meta - (const tm_xmeta *)core->plane->metadata.data);
        if (!each(core, &at, &v, out))
            return tm_fail_memory(err);
    }
}

static bool keep_op(tm_tpu_core *core, const taken *event, const tm_xvalues *v, tm_vec *out) {
    return learn(core, event->meta, v) && tm_vec_append(out, event, 1);
}

static bool keep_note(tm_tpu_core *core, const taken *event, const tm_xvalues *v, tm_vec *out) {
    (void)core;
    (void)v;
    return tm_vec_append(out, event, 1) != NULL;
}

/* Adds a run, and appends its event to @p out. The times of the event are those in the file; they
 * are corrected later. */
static bool keep_run(tm_tpu_core *core, const taken *event, const tm_xvalues *v, tm_vec *out) {
    const tm_tpu_run run = {.meta = event->meta,
                            .launch = tm_tpu_flow_of(v, false, core->r->device->number)};
    return tm_vec_append(&core->runs, &run, 1) && tm_vec_append(out, event, 1);
}

/* Converts begin and end of an event to the host's clock. */
static void place(const tm_tpu_clock *clock, const taken *event, int64_t out[2]) {
    const tm_tpu_times *t = &event->times;
    if (event->timed) {
        out[0] = tm_tpu_clock_host(clock, t->device_ps);
        out[1] = tm_tpu_clock_host(clock, t->device_ps + t->device_duration_ps);
    } else {
        out[0] = t->file_ps;
        out[1] = t->file_ps + t->file_duration_ps;
        tm_tpu_clock_move(clock, &out[0], &out[1]);
    }
    out[1] = out[1] > out[0] ? out[1] : out[0];
}

static tm_status fit_clock(const tm_vec *ops, tm_tpu_clock *out, tm_error *err) {
    const taken *v = ops->data;
    tm_vec times = TM_VEC(tm_tpu_times);
    bool ok = true;
    for (size_t i = 0; i < ops->n && ok; i++)
        ok = !v[i].timed || tm_vec_append(&times, &v[i].times, 1);
    tm_status status = ok ? tm_tpu_clock_fit(times.data, times.n, out, err) : tm_fail_memory(err);
    tm_vec_free(&times);
    return status;
}

/* Orders by begin. If begins are equal, the longer element comes first, because it encloses the
 * other. Begin and end must be the first two members of the elements. */
static int by_begin(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    int order = tm_order_i64(x[0], y[0]);
    return order ? order : tm_order_i64(y[1], x[1]);
}

/* If begin and end are equal, the file's order decides, because the first note may enclose the
 * others. */
static int notes_by_begin(const void *a, const void *b) {
    int order = by_begin(a, b);
    return order ? order
                 : tm_order_u64(((const tm_tpu_note *)a)->place, ((const tm_tpu_note *)b)->place);
}

/* Like notes_by_begin. During this sort, `run` is still the place of the operation in the file. */
static int ops_by_begin(const void *a, const void *b) {
    int order = by_begin(a, b);
    return order ? order : tm_order_u64(((const tm_tpu_op *)a)->run, ((const tm_tpu_op *)b)->run);
}

static void sort(tm_vec *vec, tm_order *order) {
    tm_vec_sort(vec, order);
}

uint32_t tm_tpu_run_at(const tm_tpu_core *core, int64_t ps) {
    const tm_tpu_run *runs = core->runs.data;
    size_t i = TM_FIRST_AFTER(tm_tpu_run, begin_ps, runs, core->runs.n, ps);
    return i > 0 && ps <= runs[i - 1].end_ps ? (uint32_t)(i - 1) : TM_NO_EVENT;
}

/* Converts notes to the host's clock. */
static bool place_notes(const tm_tpu_clock *clock, const tm_vec *taken_ones, tm_vec *out) {
    const taken *v = taken_ones->data;
    int64_t at[2];
    for (size_t i = 0; i < taken_ones->n; i++) {
        place(clock, &v[i], at);
        const tm_tpu_note note = {at[0], at[1], v[i].meta, (uint32_t)i};
        if (!tm_vec_append(out, &note, 1))
            return false;
    }
    sort(out, notes_by_begin);
    return true;
}

static void place_runs(tm_tpu_core *core, const tm_tpu_clock *clock, const tm_vec *taken_ones) {
    const taken *v = taken_ones->data;
    tm_tpu_run *runs = core->runs.data;
    int64_t at[2];
    for (size_t i = 0; i < taken_ones->n; i++) {
        place(clock, &v[i], at);
        runs[i].begin_ps = at[0];
        runs[i].end_ps = at[1];
    }
    sort(&core->runs, by_begin);
}

static bool place_ops(tm_tpu_core *core, const tm_tpu_clock *clock, const tm_vec *taken_ones) {
    const taken *v = taken_ones->data;
    int64_t at[2];
    for (size_t i = 0; i < taken_ones->n; i++) {
        place(clock, &v[i], at);
        const tm_tpu_op op = {at[0], at[1], v[i].meta, (uint32_t)i};
        if (!tm_vec_append(&core->ops, &op, 1))
            return false;
    }
    sort(&core->ops, ops_by_begin);
    tm_tpu_op *ops = core->ops.data;
    for (size_t i = 0; i < core->ops.n; i++)
        ops[i].run = tm_tpu_run_at(core, ops[i].begin_ps);
    return true;
}

typedef struct lines {
    tm_vec ops, runs, notes, steps; /* vector of taken */
} lines;

static tm_status read_lines(tm_tpu_core *core, lines *l, tm_error *err) {
    tm_tpu_clock clock;
    TM_TRY(read_line(core, core->line, keep_op, &l->ops, err));
    const char *runs = core->sparse ? "Sparse Core Modules" : "XLA Modules";
    TM_TRY(read_line(core, tm_tpu_line(core->plane, runs), keep_run, &l->runs, err));
    TM_TRY(read_line(core, tm_tpu_line(core->plane, "XLA TraceMe"), keep_note, &l->notes, err));
    TM_TRY(read_line(core, tm_tpu_line(core->plane, "Steps"), keep_note, &l->steps, err));
    TM_TRY(fit_clock(&l->ops, &clock, err));
    place_runs(core, &clock, &l->runs);
    bool ok = place_ops(core, &clock, &l->ops) && place_notes(&clock, &l->notes, &core->notes) &&
              place_notes(&clock, &l->steps, &core->steps);
    tm_tpu_clock_free(&clock);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Sets the world size to the number of devices of a program. Of the programs that this core runs,
 * the one with the most devices is used. */
static void set_world_size(tm_tpu_core *core) {
    const tm_xassigned *programs = core->programs.programs.data;
    int64_t *size = &core->r->trace->world_size;
    for (size_t i = 0; i < core->programs.programs.n; i++) {
        const int64_t *devices = (const int64_t *)core->programs.devices.data + programs[i].first;
        size_t n = programs[i].n_replicas * programs[i].n_parts, at = 0;
        while (at < n && devices[at] != core->id)
            at++;
        if (at < n && (int64_t)n > *size)
            *size = (int64_t)n;
    }
}

tm_status tm_tpu_core_read(tm_tpu_core *core, tm_xread *r, const tm_xplane *plane, int sparse,
                           tm_error *err) {
    lines l = {TM_VEC(taken), TM_VEC(taken), TM_VEC(taken), TM_VEC(taken)};
    *core = (tm_tpu_core){.r = r,
                          .plane = plane,
                          .line = tm_tpu_line(plane, sparse ? "Sparse Core Ops" : "XLA Ops"),
                          .sparse = sparse,
                          .programs = {TM_VEC(tm_xassigned), TM_VEC(int64_t)},
                          .id = core_of(r->device->plane),
                          .ops = TM_VEC(tm_tpu_op),
                          .runs = TM_VEC(tm_tpu_run),
                          .notes = TM_VEC(tm_tpu_note),
                          .steps = TM_VEC(tm_tpu_note)};
    if (!core->line)
        return TM_OK;
    core->metas = calloc(core->plane->metadata.n + 1, sizeof *core->metas);
    if (!core->metas)
        return tm_fail_memory(err);
    TM_TRY(tm_xstats_init(&core->stats, core->plane, err));
    TM_TRY(tm_xassignments_read(&r->space, &core->programs, err));
    set_world_size(core);
    tm_status status = read_lines(core, &l, err);
    TM_VECS_FREE(&l.ops, &l.runs, &l.notes, &l.steps);
    return status;
}

void tm_tpu_core_free(tm_tpu_core *core) {
    tm_xstats_free(&core->stats);
    tm_xassignments_free(&core->programs);
    free(core->metas);
    TM_VECS_FREE(&core->ops, &core->runs, &core->notes, &core->steps);
}

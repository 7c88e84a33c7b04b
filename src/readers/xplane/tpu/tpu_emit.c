/* Converts the data of a core to the rows of a trace. */
#include <math.h>
#include <stdio.h>

#include "tpu_core.h"

enum {
    LANE = 1000,     /* number of the first stream for asynchronous operations, which may overlap */
    SPARSE = 100000, /* added to the stream numbers of each SparseCore */
    /* gaps of less than 100 ns between operations of a loop do not count as the loop's own work */
    LEAST_PS = 100000
};

/* An operation that contains others and has not ended yet. */
typedef struct holder {
    uint32_t op;
    int64_t from_ps; /* end of the last operation inside this operation so far */
} holder;

typedef struct emitter {
    tm_tpu_core *core;
    tm_xread *r;
    uint32_t track; /* track of operations */
    tm_vec holders; /* vector of holder */
    /* vector of uint32_t: started operations of this run for which no operation has waited yet */
    tm_vec started;
    tm_vec lane_ends; /* vector of int64_t: end of the last operation on each stream for
                         asynchronous operations */
    uint32_t run;
    uint32_t program, program_meta; /* name id of the last program, and index of its metadata */
} emitter;

static const tm_tpu_op *op_at(const emitter *e, uint32_t i) {
    return (const tm_tpu_op *)e->core->ops.data + i;
}

static tm_tpu_meta *meta_of(const emitter *e, uint32_t op) {
    return &e->core->metas[op_at(e, op)->meta];
}

static const tm_tpu_run *run_of(const emitter *e, const tm_tpu_op *op) {
    return op->run == TM_NO_EVENT ? NULL : (const tm_tpu_run *)e->core->runs.data + op->run;
}

/* Adds a track for which the file has no line, or a track of a SparseCore. (The lines of a
 * SparseCore have the same numbers as the lines of the core.) */
static uint32_t own_track(emitter *e, int64_t id, const char *name, bool counts) {
    char text[80];
    int sparse = e->core->sparse;
    if (sparse)
        snprintf(text, sizeof text, "SparseCore %d %s", sparse - 1, name);
    const char *shown = sparse ? text : name;
    const tm_xline line = {.id = id + (int64_t)sparse * SPARSE, .name = {shown, strlen(shown)}};
    return tm_xread_stream(e->r, &line, counts);
}

static tm_status add(emitter *e, int64_t begin_ps, int64_t end_ps, tm_raw_event event,
                     uint32_t *row, tm_error *err) {
    const tm_xevent at = {.offset_ps = begin_ps, .duration_ps = end_ps - begin_ps};
    event.kind = TM_DURATION;
    event.launch = TM_NO_EVENT;
    return tm_xread_add(e->r, e->core->line, &at, event, row, err);
}

static bool add_kernel_attr(emitter *e, const tm_tpu_run *run, uint32_t row) {
    return tm_trace_add_kernel(e->r->trace, row, run ? run->launch : 0, NULL);
}

static bool add_copy_attr(emitter *e, const tm_tpu_run *run, int64_t bytes, uint32_t row) {
    tm_copy_attr attr = {
        .event = row, .correlation = run ? run->launch : 0, .bytes = bytes, .bandwidth_gbps = NAN};
    const tm_raw_event *event = (const tm_raw_event *)e->r->trace->events.data + row;
    if (bytes >= 0 && event->duration_ns > 0) /* bytes per nanosecond are GB/s */
        attr.bandwidth_gbps = (float)((double)bytes / (double)event->duration_ns);
    return tm_vec_append(&e->r->trace->attrs[TM_ATTR_COPY], &attr, 1) != NULL;
}

/* Adds the operation's compiler data to an event. */
static bool add_facts(emitter *e, uint32_t op, uint32_t row) {
    const tm_tpu_run *run = run_of(e, op_at(e, op));
    const tm_xmeta *metas = e->core->plane->metadata.data;
    tm_xla_attr facts = meta_of(e, op)->facts;
    facts.event = row;
    if (run && (e->program == TM_NO_NAME || e->program_meta != run->meta))
        e->program = tm_xread_intern(e->r, metas[e->program_meta = run->meta].name);
    facts.program = run ? e->program : TM_NO_NAME;
    return facts.program != TM_NAME_FAILED &&
           tm_vec_append(&e->r->trace->attrs[TM_ATTR_XLA], &facts, 1);
}

/* Adds a kernel: an operation, a loop's own work, or a collective. */
static tm_status add_kernel(emitter *e, const int64_t at[2], uint32_t track, uint32_t op,
                            bool collective, tm_error *err) {
    const tm_tpu_run *run = run_of(e, op_at(e, op));
    const tm_raw_event event = {
        .name = meta_of(e, op)->name, .track = track, .category = TM_CAT_KERNEL};
    uint32_t row;
    TM_TRY(add(e, at[0], at[1], event, &row, err));
    bool ok = row == TM_NO_EVENT ||
              (add_kernel_attr(e, run, row) && add_facts(e, op, row) &&
               (!collective || tm_tpu_add_collective(e->core, op_at(e, op)->meta, run, row)));
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Finds the source and the destination memory of a copy in the copy's text. The result of a
 * copy-start is (to, from, context). The result of any other -start operation is ((from), to,
 * context). The operand of a -done operation is the result of its -start operation. */
static void find_memories(const tm_tpu_meta *m, int *from, int *to) {
    bool plain = tm_text_begins(m->hlo.opcode, "copy-");
    bool done = m->kind.part == TM_HLO_DONE;
    *from = tm_hlo_memory(m->hlo.operands, done && plain ? 1 : 0);
    *to = tm_hlo_memory(m->hlo.shape, done || plain ? 0 : 1);
}

/* Returns the direction of a copy in the words of other profilers. Host memory that XLA copies by
 * itself is pinned. */
static const char *direction(const tm_tpu_meta *m) {
    int from, to;
    if (m->kind.class != TM_HLO_COPY)
        return m->kind.class == TM_HLO_FROM_HOST ? "HtoD (" : "DtoH (";
    find_memories(m, &from, &to);
    return (from == TM_HLO_HOST_MEMORY) == (to == TM_HLO_HOST_MEMORY) ? "DtoD ("
           : from == TM_HLO_HOST_MEMORY                               ? "HtoD (Pinned -> Device, "
                                                                      : "DtoH (Device -> Pinned, ";
}

static uint32_t copy_name(emitter *e, tm_tpu_meta *m) {
    char text[160];
    if (m->shown == 0) {
        snprintf(text, sizeof text, "Memcpy %s%.100s)", direction(m),
                 tm_names_text(e->r->names, m->name).bytes);
        m->shown = tm_names_intern_string(e->r->names, text);
    }
    return m->shown;
}

/*
 * Adds a copy.
 *
 * @param done  operation whose result is the copied data. This is the operation that waits for the
 *              copy, or the copy itself if it is not asynchronous.
 */
static tm_status add_copy(emitter *e, const int64_t at[2], uint32_t track, uint32_t op,
                          uint32_t done, tm_error *err) {
    const tm_raw_event event = {
        .name = copy_name(e, meta_of(e, op)), .track = track, .category = TM_CAT_MEMCPY};
    uint32_t row;
    TM_TRY(add(e, at[0], at[1], event, &row, err));
    int64_t bytes = tm_hlo_size_of(meta_of(e, done)->hlo.shape).bytes;
    bool ok = row == TM_NO_EVENT ||
              (add_copy_attr(e, run_of(e, op_at(e, op)), bytes, row) && add_facts(e, op, row));
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status add_note(emitter *e, uint32_t op, tm_error *err) {
    const tm_raw_event event = {
        .name = meta_of(e, op)->name, .track = e->track, .category = TM_CAT_GPU_ANNOTATION};
    uint32_t row;
    TM_TRY(add(e, op_at(e, op)->begin_ps, op_at(e, op)->end_ps, event, &row, err));
    return row == TM_NO_EVENT || add_facts(e, op, row) ? TM_OK : tm_fail_memory(err);
}

/* Finds the first stream that is free for an asynchronous operation. (Such operations may
 * overlap.) */
static tm_status take_lane(emitter *e, const int64_t at[2], uint32_t *track, tm_error *err) {
    int64_t *ends = e->lane_ends.data;
    size_t lane = 0;
    char name[48];
    while (lane < e->lane_ends.n && ends[lane] > at[0])
        lane++;
    if (lane == e->lane_ends.n && !tm_vec_append(&e->lane_ends, &at[1], 1))
        return tm_fail_memory(err);
    ((int64_t *)e->lane_ends.data)[lane] = at[1];
    snprintf(name, sizeof name, "Asynchronous XLA Ops %zu", lane + 1);
    *track = own_track(e, LANE + (int64_t)lane, name, true);
    return *track != UINT32_MAX ? TM_OK : tm_fail_memory(err);
}

static bool is_of_kind(const tm_tpu_meta *a, const tm_tpu_meta *b) {
    return a->kind.class == b->kind.class && a->kind.kind == b->kind.kind;
}

/* Whether an operation of this name starts another operation. */
static bool names_start(tm_text name) {
    const tm_hlo hlo = {.opcode = name};
    return tm_hlo_kind_of(&hlo, (tm_text){"", 0}).part == TM_HLO_START;
}

/* Finds the started operation for which operation `done` waits. It is found by the name that `done`
 * gives. If a loop passed the result on under another name, it is the oldest started operation of
 * the same kind. */
static uint32_t find_start(emitter *e, uint32_t done) {
    uint32_t *v = e->started.data;
    const tm_tpu_meta *waits = meta_of(e, done);
    bool named = names_start(tm_names_text(e->r->names, waits->awaited));
    size_t i = 0;
    while (i < e->started.n && (named ? meta_of(e, v[i])->name != waits->awaited
                                      : !is_of_kind(meta_of(e, v[i]), waits)))
        i++;
    if (i == e->started.n)
        return TM_NO_EVENT;
    uint32_t start = v[i];
    memmove(v + i, v + i + 1, (e->started.n - i - 1) * sizeof *v);
    e->started.n--;
    return start;
}

/* Adds an asynchronous operation, from its start to the end of the wait for it. The wait itself
 * does not count as work. If the start is unknown, only the wait is added. */
static tm_status end_started(emitter *e, uint32_t done, tm_error *err) {
    uint32_t op = find_start(e, done), track = e->track;
    const tm_tpu_op *wait = op_at(e, done);
    if (op != TM_NO_EVENT) {
        TM_TRY(add_note(e, done, err));
        const int64_t at[2] = {op_at(e, op)->begin_ps, wait->end_ps};
        TM_TRY(take_lane(e, at, &track, err));
        return meta_of(e, op)->kind.class == TM_HLO_COLLECTIVE
                   ? add_kernel(e, at, track, op, true, err)
                   : add_copy(e, at, track, op, done, err);
    }
    const int64_t at[2] = {wait->begin_ps, wait->end_ps};
    return meta_of(e, done)->kind.class == TM_HLO_COLLECTIVE
               ? add_kernel(e, at, track, done, true, err)
               : add_copy(e, at, track, done, done, err);
}

static tm_status start(emitter *e, uint32_t op, tm_error *err) {
    if (!tm_vec_append(&e->started, &op, 1))
        return tm_fail_memory(err);
    return add_note(e, op, err);
}

/* Adds the work that a loop does itself, up to a time. */
static tm_status add_own(emitter *e, const holder *h, int64_t until_ps, tm_error *err) {
    const int64_t at[2] = {h->from_ps, until_ps};
    if (at[1] - at[0] < LEAST_PS)
        return TM_OK;
    return add_kernel(e, at, e->track, h->op, false, err);
}

/* Closes the operations that end before a time. */
static tm_status leave(emitter *e, int64_t ps, tm_error *err) {
    while (e->holders.n > 0) {
        const holder *h = (const holder *)e->holders.data + e->holders.n - 1;
        const tm_tpu_op *op = op_at(e, h->op);
        if (op->end_ps > ps)
            return TM_OK;
        TM_TRY(add_own(e, h, op->end_ps, err));
        e->holders.n--;
    }
    return TM_OK;
}

static tm_status enter(emitter *e, uint32_t op, tm_error *err) {
    const holder h = {op, op_at(e, op)->begin_ps};
    TM_TRY(add_note(e, op, err));
    return tm_vec_append(&e->holders, &h, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status emit_op(emitter *e, uint32_t i, tm_error *err) {
    const tm_tpu_op *op = op_at(e, i);
    const tm_hlo_kind kind = meta_of(e, i)->kind;
    const int64_t at[2] = {op->begin_ps, op->end_ps};
    TM_TRY(leave(e, op->begin_ps, err));
    if (e->holders.n > 0) {
        holder *h = (holder *)e->holders.data + e->holders.n - 1;
        TM_TRY(add_own(e, h, op->begin_ps, err));
        h->from_ps = op->end_ps > h->from_ps ? op->end_ps : h->from_ps;
    }
    if (op->run != e->run) /* a run does not wait for operations of another run */
        e->started.n = 0;
    e->run = op->run;
    if (kind.class == TM_HLO_HOLDS)
        return enter(e, i, err);
    if (kind.part == TM_HLO_START)
        return start(e, i, err);
    if (kind.part == TM_HLO_DONE)
        return end_started(e, i, err);
    if (kind.class == TM_HLO_COMPUTE || kind.class == TM_HLO_COLLECTIVE)
        return add_kernel(e, at, e->track, i, kind.class == TM_HLO_COLLECTIVE, err);
    return add_copy(e, at, e->track, i, i, err);
}

/* Program runs do not count as work. */
static tm_status emit_runs(emitter *e, tm_error *err) {
    const tm_tpu_run *runs = e->core->runs.data;
    const tm_xmeta *metas = e->core->plane->metadata.data;
    uint32_t track = e->core->runs.n > 0 ? own_track(e, 0, "XLA Modules", false) : 0, row;
    for (size_t i = 0; i < e->core->runs.n; i++) {
        const tm_raw_event event = {.name = tm_xread_intern(e->r, metas[runs[i].meta].name),
                                    .track = track,
                                    .category = TM_CAT_GPU_ANNOTATION};
        TM_TRY(add(e, runs[i].begin_ps, runs[i].end_ps, event, &row, err));
    }
    return TM_OK;
}

/* A program's barrier is a collective of all its devices. The event of the barrier starts when the
 * core arrives, and ends when the last device has arrived. Other notes are not work. */
static tm_status emit_note(emitter *e, const tm_tpu_note *note, tm_error *err) {
    tm_tpu_meta *m = &e->core->metas[note->meta];
    const tm_xmeta *meta = (const tm_xmeta *)e->core->plane->metadata.data + note->meta;
    bool barrier = tm_text_is(meta->name, "barrier-cores");
    if (!m->known)
        *m = (tm_tpu_meta){.hlo = tm_hlo_parse(meta->name),
                           .kind = {.class = TM_HLO_COLLECTIVE, .kind = TM_COLL_BARRIER},
                           .known = true,
                           .name = tm_xread_intern(e->r, meta->name)};
    const tm_raw_event event = {.name = m->name,
                                .track = barrier ? e->track : own_track(e, 0, "XLA TraceMe", false),
                                .category = barrier ? TM_CAT_KERNEL : TM_CAT_GPU_ANNOTATION};
    const tm_tpu_op as_op = {.run = tm_tpu_run_at(e->core, note->begin_ps)};
    const tm_tpu_run *run = run_of(e, &as_op);
    uint32_t row;
    TM_TRY(add(e, note->begin_ps, note->end_ps, event, &row, err));
    bool ok =
        row == TM_NO_EVENT || !barrier ||
        (add_kernel_attr(e, run, row) && tm_tpu_add_collective(e->core, note->meta, run, row));
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status emit_all(emitter *e, tm_error *err) {
    const tm_tpu_note *notes = e->core->notes.data;
    TM_TRY(emit_runs(e, err));
    for (size_t i = 0; i < e->core->notes.n; i++)
        TM_TRY(emit_note(e, &notes[i], err));
    for (uint32_t i = 0; i < e->core->ops.n; i++)
        TM_TRY(emit_op(e, i, err));
    return leave(e, INT64_MAX, err);
}

tm_status tm_tpu_emit(tm_tpu_core *core, tm_error *err) {
    emitter e = {.core = core,
                 .r = core->r,
                 .holders = TM_VEC(holder),
                 .started = TM_VEC(uint32_t),
                 .lane_ends = TM_VEC(int64_t),
                 .run = TM_NO_EVENT,
                 .program = TM_NO_NAME};
    if (!core->line)
        return TM_OK;
    e.track = own_track(&e, core->line->id, core->sparse ? "Ops" : "XLA Ops", true);
    tm_status status = e.track != UINT32_MAX ? emit_all(&e, err) : tm_fail_memory(err);
    TM_VECS_FREE(&e.holders, &e.started, &e.lane_ends);
    return status;
}

#include "host_time.h"

#include <stdlib.h>
#include <string.h>

#include "call_kinds.h"

/* Returns whether a name is of a library that communicates on the host. Calls of other libraries
 * only enqueue work for the GPU. */
static bool is_host_communication(const tm_names *names, uint32_t name) {
    tm_text text = tm_names_text(names, name);
    return strncmp(text.bytes, "gloo:", 5) == 0 || strncmp(text.bytes, "mpi:", 4) == 0;
}

/* Where the results of the pass over the threads are stored. */
typedef struct finding {
    tm_host_time *time;
    tm_host_work *work;
} finding;

/* Returns the set to which an operator or annotation is added; NULL if there is none. */
static tm_intervals *set_of(finding *out, const tm_call_kinds *call_kinds, tm_call_kind kind,
                            uint32_t name) {
    switch (kind) {
    /* a step contains everything else, and is no work itself */
    case TM_CALL_KIND_STEP:
        return NULL;
    case TM_CALL_KIND_INPUT:
        out->time->n_inputs++;
        return &out->time->input;
    case TM_CALL_KIND_COMMUNICATION:
        return is_host_communication(call_kinds->names, name) ? &out->time->communication
                                                              : &out->work->cpu;
    default:
        return &out->work->cpu;
    }
}

/* Adds the time of a call that may explain why the GPU is idle, except waits for a batch. */
static bool add_wait(tm_host_time *out, tm_call_kind kind, uint32_t row, int64_t begin_ns,
                     int64_t end_ns) {
    switch (kind) {
    case TM_CALL_KIND_SYNC:
    case TM_CALL_KIND_COPY:
        return tm_intervals_add(&out->sync, begin_ns, end_ns) &&
               tm_vec_append(&out->waits, &row, 1);
    case TM_CALL_KIND_ALLOCATION:
    case TM_CALL_KIND_LOADING:
        return tm_intervals_add(&out->may_sync, begin_ns, end_ns) &&
               tm_vec_append(&out->waits, &row, 1);
    case TM_CALL_KIND_COMMUNICATION:
        return tm_intervals_add(&out->any_communication, begin_ns, end_ns);
    default:
        return true;
    }
}

static void look_at(tm_thread *thread, uint8_t category, tm_call_kind kind) {
    thread->n_operators += category == TM_CAT_CPU_OP;
    thread->n_backward += kind == TM_CALL_KIND_BACKWARD;
    thread->marks_steps |= kind == TM_CALL_KIND_STEP;
    thread->optimizes |= kind == TM_CALL_KIND_OPTIMIZER || kind == TM_CALL_KIND_ZERO_GRAD;
}

static bool add_thread(const tm_timeline *timeline, tm_call_kinds *call_kinds, size_t at,
                       finding *out) {
    const tm_track *track = &timeline->tracks[at];
    tm_thread *thread = &out->time->threads[at];
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        uint8_t category = timeline->category[row];
        bool scoped = category == TM_CAT_CPU_OP || category == TM_CAT_USER_ANNOTATION;
        if (timeline->kind[row] != TM_DURATION ||
            (!scoped && category != TM_CAT_RUNTIME && category != TM_CAT_DRIVER))
            continue;
        tm_call_kind kind = tm_call_kinds_of(call_kinds, timeline, row);
        int64_t begin = timeline->begin_ns[row], end = begin + timeline->duration_ns[row];
        if (scoped)
            look_at(thread, category, kind);
        tm_intervals *set =
            scoped ? set_of(out, call_kinds, kind, timeline->name[row]) : &out->work->runtime;
        if ((set && !tm_intervals_add(set, begin, end)) ||
            !add_wait(out->time, kind, row, begin, end))
            return false;
    }
    return true;
}

tm_status tm_host_time_find(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                            tm_host_time *out, tm_host_work *work, tm_error *err) {
    finding found = {out, work};
    *work = (tm_host_work){.runtime = TM_INTERVALS(), .cpu = TM_INTERVALS()};
    *out = (tm_host_time){.input = TM_INTERVALS(),
                          .communication = TM_INTERVALS(),
                          .any_communication = TM_INTERVALS(),
                          .sync = TM_INTERVALS(),
                          .may_sync = TM_INTERVALS(),
                          .waits = TM_VEC(uint32_t),
                          .threads = calloc(timeline->n_tracks + 1, sizeof *out->threads)};
    bool ok = out->threads != NULL;
    for (size_t t = 0; t < timeline->n_tracks && ok; t++)
        if (timeline->tracks[t].kind == TM_TRACK_CPU)
            ok = add_thread(timeline, call_kinds, t, &found);
    tm_intervals *sets[] = {&out->input, &out->communication, &out->any_communication,
                            &out->sync,  &out->may_sync,      &work->runtime,
                            &work->cpu};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        tm_intervals_normalise(sets[i]);
        tm_vec_trim(sets[i]);
    }
    tm_vec_trim(&out->waits);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_host_time_free(tm_host_time *host) {
    TM_VECS_FREE(&host->input, &host->communication, &host->any_communication, &host->sync,
                 &host->may_sync, &host->waits);
    free(host->threads);
    host->threads = NULL;
}

void tm_host_work_free(tm_host_work *work) {
    tm_vec_free(&work->runtime);
    tm_vec_free(&work->cpu);
}

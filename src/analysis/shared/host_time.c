#include "host_time.h"

#include <string.h>

#include "call_kinds.h"

/* Libraries that communicate on the host: elsewhere such a span only asks the GPU to. */
static bool is_host_communication(const tm_names *names, uint32_t name) {
    tm_text text = tm_names_text(names, name);
    return strncmp(text.bytes, "gloo:", 5) == 0 || strncmp(text.bytes, "mpi:", 4) == 0;
}

/* The set that a duration event belongs to, NULL for none. */
static tm_intervals *set_of(tm_host_time *out, tm_call_kinds *call_kinds,
                            const tm_timeline *timeline, uint32_t row) {
    uint8_t category = timeline->category[row];
    if (category == TM_CAT_RUNTIME || category == TM_CAT_DRIVER)
        return &out->runtime;
    if (category != TM_CAT_CPU_OP && category != TM_CAT_USER_ANNOTATION)
        return NULL;
    switch (tm_call_kinds_of(call_kinds, timeline, row)) {
    /* It holds everything else, and is no work of its own. */
    case TM_CALL_KIND_STEP:
        return NULL;
    case TM_CALL_KIND_INPUT:
        out->n_inputs++;
        return &out->input;
    case TM_CALL_KIND_COMMUNICATION:
        return is_host_communication(call_kinds->names, timeline->name[row]) ? &out->communication
                                                                             : &out->cpu;
    default:
        return &out->cpu;
    }
}

static bool collect(const tm_timeline *timeline, tm_call_kinds *call_kinds, tm_host_time *out) {
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        if (track->kind != TM_TRACK_CPU)
            continue;
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            if (timeline->kind[row] != TM_DURATION)
                continue;
            tm_intervals *set = set_of(out, call_kinds, timeline, row);
            int64_t begin = timeline->begin_ns[row];
            if (set && !tm_intervals_add(set, begin, begin + timeline->duration_ns[row]))
                return false;
        }
    }
    tm_intervals_normalise(&out->input);
    tm_intervals_normalise(&out->communication);
    tm_intervals_normalise(&out->runtime);
    tm_intervals_normalise(&out->cpu);
    return true;
}

tm_status tm_host_time_find(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                            tm_host_time *out, tm_error *err) {
    *out = (tm_host_time){TM_INTERVALS(), TM_INTERVALS(), TM_INTERVALS(), TM_INTERVALS(), 0};
    return collect(timeline, call_kinds, out) ? TM_OK : tm_fail_memory(err);
}

void tm_host_time_free(tm_host_time *host) {
    tm_vec_free(&host->input);
    tm_vec_free(&host->communication);
    tm_vec_free(&host->runtime);
    tm_vec_free(&host->cpu);
}

#include "perfetto_tracks.h"

#include "base/export_mark.h"
#include "perfetto_json.h"

/* A track with more ancestors than this counts as part of a cycle. */
enum { ANCESTORS_MAX = 64 };

void tm_pf_tracks_free(tm_pf_tracks *tracks) {
    tm_keys_free(&tracks->ids);
    tm_vec_free(&tracks->tracks);
    tm_vec_free(&tracks->scratch);
}

uint32_t tm_pf_track_of(tm_pf_tracks *tracks, uint64_t id) {
    size_t known = tracks->tracks.n;
    tm_pf_track *track = tm_keys_value(&tracks->ids, &tracks->tracks, &id);
    if (!track)
        return TM_NO_KEY;
    if (tracks->tracks.n > known)
        track->multiplier = 1;
    return (uint32_t)(track - (tm_pf_track *)tracks->tracks.data);
}

static bool keep(tm_pf_tracks *tracks, tm_text *out) {
    const char *copy = tm_arena_copy(tracks->arena, tracks->scratch.data, tracks->scratch.n);
    if (copy)
        *out = (tm_text){copy, tracks->scratch.n};
    return copy != NULL;
}

static bool keep_text(tm_pf_tracks *tracks, tm_text text, tm_text *out) {
    tracks->scratch.n = 0;
    return tm_pf_put_text(&tracks->scratch, text) && keep(tracks, out);
}

static bool take_process(tm_pf_tracks *tracks, tm_pf_track *track, tm_wire_message message) {
    tm_wire_field f;
    bool ok = true;
    track->has_process = true;
    while (ok && tm_wire_next(&message, &f)) {
        if (f.number == PROCESS_PID && f.type == TM_WIRE_VARINT)
            track->pid = (int32_t)f.value;
        else if (f.number == PROCESS_NAME && f.type == TM_WIRE_BYTES)
            ok = keep_text(tracks, tm_wire_text(&f), &track->process_name);
    }
    return ok;
}

static bool take_thread(tm_pf_tracks *tracks, tm_pf_track *track, tm_wire_message message) {
    tm_wire_field f;
    bool ok = true;
    track->has_thread = true;
    while (ok && tm_wire_next(&message, &f)) {
        if (f.number == THREAD_PID && f.type == TM_WIRE_VARINT)
            track->pid = (int32_t)f.value;
        else if (f.number == THREAD_TID && f.type == TM_WIRE_VARINT)
            track->tid = (int64_t)f.value;
        else if (f.number == THREAD_NAME && f.type == TM_WIRE_BYTES)
            ok = keep_text(tracks, tm_wire_text(&f), &track->thread_name);
    }
    return ok;
}

static void take_counter(tm_pf_track *track, tm_wire_message message) {
    tm_wire_field f;
    while (tm_wire_next(&message, &f)) {
        if (f.number == COUNTER_MULTIPLIER && f.type == TM_WIRE_VARINT && f.value > 0)
            track->multiplier = (int64_t)f.value;
        else if (f.number == COUNTER_INCREMENTAL && f.type == TM_WIRE_VARINT)
            track->incremental = f.value != 0;
    }
}

/* Makes a JSON value from a text. A number gets no quotes, because profilers write numbers without
 * quotes. */
static bool keep_value(tm_pf_tracks *tracks, tm_text text, tm_text *out) {
    tracks->scratch.n = 0;
    return tm_pf_put_value(&tracks->scratch, text) && keep(tracks, out);
}

static void take_number(tm_pf_track *track, const tm_wire_field *f) {
    const int64_t value = (int64_t)f->value;
    switch (f->number) {
    case TRACK_PARENT:
        track->parent = f->value;
        break;
    case TM_EXPORT_TRACK_RANK:
        track->is_rank = true;
        track->rank = value;
        break;
    case TM_EXPORT_TRACK_DEVICE:
        track->has_device = true;
        track->device = value;
        break;
    case TM_EXPORT_TRACK_STREAM:
        track->has_stream = true;
        track->stream = value;
        break;
    default:
        break;
    }
}

/* Reads the fields that a tmerge export adds to its tracks. */
static bool take_reported(tm_pf_tracks *tracks, tm_pf_track *track, const tm_wire_field *f) {
    const tm_text text = tm_wire_text(f);
    switch (f->number) {
    case TM_EXPORT_TRACK_MEMBERS:
        tracks->scratch.n = 0;
        return tm_pf_put_bytes(&tracks->scratch, text) && keep(tracks, &track->members);
    case TM_EXPORT_TRACK_PID:
        track->is_reported = true;
        return keep_value(tracks, text, &track->pid_text);
    case TM_EXPORT_TRACK_TID:
        return keep_value(tracks, text, &track->tid_text);
    case TM_EXPORT_TRACK_PROCESS_NAME:
        return text.size == 0 || keep_text(tracks, text, &track->process_name);
    case TM_EXPORT_TRACK_THREAD_NAME:
        return text.size == 0 || keep_text(tracks, text, &track->thread_name);
    case TM_EXPORT_TRACK_COUNTER:
        return keep_text(tracks, text, &track->counter);
    case TM_EXPORT_TRACK_SERIES:
        return keep_text(tracks, text, &track->series);
    default:
        return true;
    }
}

static bool take_field(tm_pf_tracks *tracks, tm_pf_track *track, const tm_wire_field *f) {
    if (f->type == TM_WIRE_VARINT)
        take_number(track, f);
    if (f->type != TM_WIRE_BYTES)
        return true;
    switch (f->number) {
    case TRACK_NAME:
    case TRACK_STATIC_NAME:
    case TRACK_ATRACE_NAME:
        return keep_text(tracks, tm_wire_text(f), &track->name);
    case TRACK_PROCESS:
        return take_process(tracks, track, tm_wire_inner(f));
    case TRACK_THREAD:
        return take_thread(tracks, track, tm_wire_inner(f));
    case TRACK_COUNTER:
        take_counter(track, tm_wire_inner(f));
        return true;
    default:
        return take_reported(tracks, track, f);
    }
}

bool tm_pf_tracks_take(tm_pf_tracks *tracks, tm_wire_message descriptor) {
    tm_wire_message rest = descriptor;
    tm_wire_field f;
    uint64_t id = 0;
    while (tm_wire_next(&rest, &f))
        if (f.number == TRACK_ID && f.type == TM_WIRE_VARINT)
            id = f.value;
    uint32_t number = tm_pf_track_of(tracks, id);
    bool ok = number != TM_NO_KEY;
    while (ok && tm_wire_next(&descriptor, &f))
        ok = take_field(tracks, tm_pf_track_at(tracks, number), &f);
    return ok;
}

/* Old thread descriptors have no track id. So the id is made from the numbers of the process and
 * the thread. */
bool tm_pf_tracks_take_thread(tm_pf_tracks *tracks, tm_wire_message descriptor, uint64_t *id) {
    tm_pf_track reported = {.multiplier = 1};
    if (!take_thread(tracks, &reported, descriptor))
        return false;
    *id = UINT64_C(1) << 63 | (uint64_t)(uint32_t)reported.pid << 32 | (uint32_t)reported.tid;
    uint32_t number = tm_pf_track_of(tracks, *id);
    if (number == TM_NO_KEY)
        return false;
    if (reported.thread_name.size == 0)
        reported.thread_name = tm_pf_track_at(tracks, number)->thread_name;
    *tm_pf_track_at(tracks, number) = reported;
    return true;
}

/* Sets process and thread from the track and its ancestors. If the track is not a thread but has a
 * name, the name is used as the thread, because Perfetto shows tracks with the same name and parent
 * as one. */
static bool finish_track(tm_pf_tracks *tracks, tm_pf_track *track, uint64_t id) {
    const tm_pf_track *up = track, *process = NULL, *thread = NULL;
    if (track->pid_text.size > 0 && track->tid_text.size > 0)
        return true;
    for (int i = 0; i < ANCESTORS_MAX; i++) {
        process = !process && (up->has_process || up->has_thread) ? up : process;
        thread = !thread && up->has_thread ? up : thread;
        uint32_t parent = up->parent ? tm_keys_find(&tracks->ids, &up->parent) : TM_NO_KEY;
        if (parent == TM_NO_KEY)
            break;
        up = tm_pf_track_at(tracks, parent);
    }
    tracks->scratch.n = 0;
    bool ok = process ? tm_pf_put_int(&tracks->scratch, process->pid)
                      : tm_pf_put(&tracks->scratch, "\"trace\"");
    ok = ok && keep(tracks, &track->pid_text);
    tracks->scratch.n = 0;
    if (!track->has_thread && track->name.size > 0)
        track->tid_text = track->name;
    else if (thread)
        ok = ok && tm_pf_put_int(&tracks->scratch, thread->tid) && keep(tracks, &track->tid_text);
    else if (track->has_process)
        ok = ok && tm_pf_put_int(&tracks->scratch, 0) && keep(tracks, &track->tid_text);
    else
        ok = ok && tm_pf_put_uint(&tracks->scratch, id) && keep(tracks, &track->tid_text);
    return ok;
}

bool tm_pf_tracks_finish(tm_pf_tracks *tracks) {
    const uint64_t *ids = tracks->ids.keys.data;
    bool ok = true;
    for (uint32_t i = 0; i < tracks->tracks.n && ok; i++)
        ok = finish_track(tracks, tm_pf_track_at(tracks, i), ids[i]);
    return ok;
}

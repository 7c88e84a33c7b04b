#include "join.h"

#include <stdlib.h>

#include "idents.h"

static void replace(void *context, uint32_t *id) {
    const tm_join *join = context;
    *id = join->name_of[*id];
}

/* Returns a copy of `track` with ids of the target trace's dictionary. */
static tm_track renamed(const tm_join *join, const tm_track *track) {
    tm_track copy = *track;
    if (join->name_of) {
        copy.pid = join->name_of[track->pid];
        copy.tid = join->name_of[track->tid];
        copy.process_name = join->name_of[track->process_name];
        copy.thread_name = join->name_of[track->thread_name];
    }
    return copy;
}

static bool join_tracks(tm_join *join, const tm_join_from *from) {
    tm_trace *into = join->into;
    for (size_t t = 0; t < from->n_tracks; t++) {
        tm_track track = renamed(join, &from->tracks[t]);
        size_t known = into->tracks.n;
        uint32_t index = tm_trace_track(into, (tm_track_kind)track.kind, track.pid, track.tid);
        if (index == UINT32_MAX)
            return false;
        if (into->tracks.n > known)
            ((tm_track *)into->tracks.data)[index] = track;
        join->track_of[t] = index;
    }
    return true;
}

static bool join_shapes(tm_join *join, const tm_join_from *from) {
    for (size_t i = 0; i < from->n_shapes; i++) {
        join->shape_of[i] = tm_keys_add(&join->into->shapes, &from->shapes[i]);
        if (join->shape_of[i] == TM_NO_KEY)
            return false;
    }
    return true;
}

tm_status tm_join_begin(tm_join *out, tm_trace *into, const tm_join_from *from, tm_error *err) {
    *out = (tm_join){.into = into, .name_of = from->name_of, .first = (uint32_t)into->events.n};
    out->track_of = calloc(from->n_tracks + 1, sizeof *out->track_of);
    out->shape_of = calloc(from->n_shapes + 1, sizeof *out->shape_of);
    bool ok = out->track_of && out->shape_of && join_tracks(out, from) && join_shapes(out, from);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_join_events(tm_join *join, const tm_raw_event *events, size_t n, tm_error *err) {
    if (n == 0)
        return TM_OK;
    if (n >= TM_NO_EVENT - join->into->events.n)
        return tm_fail(err, TM_ERR_FAULT, NULL, -1, "more than 2^32 - 2 events of one rank");
    tm_raw_event *rows = tm_vec_append(&join->into->events, events, n);
    if (!rows)
        return tm_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        rows[i].track = join->track_of[rows[i].track];
        rows[i].launch += rows[i].launch == TM_NO_EVENT ? 0 : join->first;
        if (join->name_of)
            rows[i].name = join->name_of[rows[i].name];
    }
    return TM_OK;
}

tm_status tm_join_attrs(tm_join *join, tm_attr attr, const void *rows, size_t n, tm_error *err) {
    if (n == 0)
        return TM_OK;
    size_t size = tm_attr_size(attr);
    char *added = tm_vec_append(&join->into->attrs[attr], rows, n);
    if (!added)
        return tm_fail_memory(err);
    for (int r = 0; r < tm_attr_n_refs(attr); r++)
        for (size_t i = 0; i < n; i++) {
            uint32_t *row = tm_attr_ref(attr, added + i * size, r);
            *row += *row == TM_NO_EVENT ? 0 : join->first;
        }
    for (size_t i = 0; attr == TM_ATTR_KERNEL && i < n; i++) {
        tm_kernel_attr *kernel = (tm_kernel_attr *)(void *)added + i;
        kernel->shape = join->shape_of[kernel->shape];
    }
    if (join->name_of)
        tm_attr_each_name(attr, added, n, replace, join);
    return TM_OK;
}

void tm_join_end(tm_join *join) {
    free(join->track_of);
    free(join->shape_of);
    join->track_of = join->shape_of = NULL;
}

#include "timeline_events.h"

#include <stdlib.h>

enum { MAX_DEPTH = 255 };

tm_event_writer tm_event_writer_make(void) {
    return (tm_event_writer){.rows = TM_VEC(uint32_t), .begins = TM_VEC(int64_t)};
}

void tm_event_writer_free(tm_event_writer *writer) {
    tm_vec_free(&writer->rows);
    tm_vec_free(&writer->begins);
}

static uint8_t host_kind(uint8_t category) {
    switch (category) {
    case TM_CAT_CPU_OP:
        return TM_SHOWN_OPERATOR;
    case TM_CAT_USER_ANNOTATION:
        return TM_SHOWN_ANNOTATION;
    case TM_CAT_PYTHON:
        return TM_SHOWN_PYTHON;
    case TM_CAT_RUNTIME:
    case TM_CAT_DRIVER:
        return TM_SHOWN_CALL;
    default:
        return TM_SHOWN_OTHER;
    }
}

static uint8_t kind_of(const tm_timeline *timeline, uint32_t row, tm_shown_track shown) {
    const tm_collective_attr *attr = NULL;
    switch (timeline->role[row]) {
    case TM_ROLE_COMPUTE:
        return TM_LANE_COMPUTE;
    case TM_ROLE_MEMORY:
        return TM_LANE_COPIES;
    case TM_ROLE_COMMUNICATION:
        attr = tm_timeline_collective(timeline, row);
        return attr && attr->wait_ns >= 0 ? TM_LANE_TRANSFER : TM_LANE_UNMATCHED;
    default:
        return shown == TM_TRACK_THREAD ? host_kind(timeline->category[row])
                                        : TM_SHOWN_GPU_ANNOTATION;
    }
}

/* Gathers the rows of a track that are chosen and, of a stream, of one of its two kinds. */
static bool gather(tm_event_writer *w, const tm_timeline *timeline, const tm_card *card,
                   const tm_track *track, tm_shown_track shown) {
    w->rows.n = w->begins.n = 0;
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        tm_shown as = tm_shown_as(timeline, track, row);
        bool annotates = timeline->role[row] == TM_ROLE_NONE;
        if (as == TM_SHOWN_NOT ||
            (shown != TM_TRACK_THREAD && annotates != (shown == TM_TRACK_ANNOTATIONS)))
            continue;
        int64_t begin = tm_rank_clock_true(&timeline->clock, timeline->begin_ns[row]);
        if (tm_plan_has(w->plan, card, as, begin, timeline->duration_ns[row]) &&
            (!tm_vec_append(&w->rows, &row, 1) || !tm_vec_append(&w->begins, &begin, 1)))
            return false;
    }
    return true;
}

/* How many of the events before are open when each begins. What only overlaps stands below, too. */
static void put_depths(tm_event_writer *w, const tm_timeline *timeline) {
    int64_t ends[MAX_DEPTH + 1];
    const uint32_t *rows = w->rows.data;
    const int64_t *begins = w->begins.data;
    uint8_t *depths = tm_bytes_put_raw(w->out, NULL, w->rows.n);
    for (size_t i = 0, open = 0; depths && i < w->rows.n; i++) {
        while (open > 0 && ends[open - 1] <= begins[i])
            open--;
        depths[i] = (uint8_t)open;
        ends[open] = begins[i] + timeline->duration_ns[rows[i]];
        open += open < MAX_DEPTH;
    }
}

/* The kinds, and behind them what only communication has. */
static void put_kinds(tm_event_writer *w, const tm_timeline *timeline, tm_shown_track shown) {
    const uint32_t *rows = w->rows.data;
    size_t first = w->out->bytes.n;
    if (!tm_bytes_put_raw(w->out, NULL, w->rows.n))
        return;
    uint8_t *kinds = (uint8_t *)w->out->bytes.data + first;
    for (size_t i = 0; i < w->rows.n; i++)
        kinds[i] = kind_of(timeline, rows[i], shown);
    if (shown != TM_TRACK_STREAM)
        return;
    for (size_t i = 0; i < w->rows.n; i++) {
        if (timeline->role[rows[i]] != TM_ROLE_COMMUNICATION)
            continue;
        const tm_collective_attr *attr = tm_timeline_collective(timeline, rows[i]);
        uint32_t number = attr ? tm_operations_number(w->operations, attr) : TM_NO_EVENT;
        tm_bytes_put(w->out, attr ? (uint64_t)(attr->wait_ns + 1) : 0);
        tm_bytes_put(w->out, number == TM_NO_EVENT ? 0 : (uint64_t)number + 1);
    }
}

static void put_track(tm_event_writer *w, const tm_timeline *timeline, const tm_track *track,
                      tm_shown_track shown) {
    const uint32_t *rows = w->rows.data;
    const int64_t *begins = w->begins.data;
    tm_bytes_put(w->out, shown);
    tm_bytes_put(w->out, (uint64_t)((int64_t)track->device + 1));
    tm_bytes_put(w->out, (uint64_t)(track->stream + 1));
    tm_bytes_put(w->out, track->tid);
    tm_bytes_put(w->out, tm_dictionary_number(w->dictionary, track->thread_name));
    tm_bytes_put(w->out, w->rows.n);
    for (size_t i = 0; i < w->rows.n; i++)
        tm_bytes_put_signed(w->out, begins[i] - (i > 0 ? begins[i - 1] : w->job_begin_ns));
    for (size_t i = 0; i < w->rows.n; i++)
        tm_bytes_put(w->out, (uint64_t)timeline->duration_ns[rows[i]]);
    for (size_t i = 0; i < w->rows.n; i++)
        tm_bytes_put(w->out, tm_dictionary_number(w->dictionary, timeline->name[rows[i]]));
    if (shown != TM_TRACK_STREAM)
        put_depths(w, timeline);
    put_kinds(w, timeline, shown);
    w->n_events += w->rows.n;
}

static tm_status put_shown(tm_event_writer *w, const tm_timeline *timeline, size_t at,
                           const tm_track *track, tm_shown_track shown, tm_error *err) {
    const tm_card *card = (const tm_card *)w->plan->cards.data + at;
    if (!gather(w, timeline, card, track, shown))
        return tm_fail_memory(err);
    if (w->rows.n == 0)
        return TM_OK;
    tm_bytes_put(w->out, card->place);
    put_track(w, timeline, track, shown);
    return w->out->failed ? tm_fail_memory(err) : TM_OK;
}

tm_status tm_events_put(tm_event_writer *writer, const tm_timeline *timeline, size_t at,
                        tm_error *err) {
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        if (track->kind != TM_TRACK_GPU) {
            TM_TRY(put_shown(writer, timeline, at, track, TM_TRACK_THREAD, err));
            continue;
        }
        TM_TRY(put_shown(writer, timeline, at, track, TM_TRACK_STREAM, err));
        TM_TRY(put_shown(writer, timeline, at, track, TM_TRACK_ANNOTATIONS, err));
    }
    return TM_OK;
}

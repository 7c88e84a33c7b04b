#include "timeline_events.h"

#include <stdlib.h>

enum { MAX_DEPTH = 255 };

static void init_encoding(tm_event_encoding *encoding) {
    *encoding = (tm_event_encoding){.bytes = tm_bytes_make(),
                                    .gaps = TM_VEC(tm_event_gap),
                                    .names = TM_VEC(uint32_t),
                                    .ends = TM_VEC(tm_event_end)};
}

static void free_encoding(tm_event_encoding *encoding) {
    tm_bytes_free(&encoding->bytes);
    TM_VECS_FREE(&encoding->gaps, &encoding->names, &encoding->ends);
}

void tm_event_encoding_put(const tm_event_encoding *encoding, size_t i, tm_dictionary *dictionary,
                           tm_bytes *out) {
    static const tm_event_end none = {0};
    const tm_event_end *end = (const tm_event_end *)encoding->ends.data + i;
    const tm_event_end *before = i > 0 ? end - 1 : &none;
    const tm_event_gap *gaps = encoding->gaps.data;
    const uint32_t *names = encoding->names.data;
    const uint8_t *bytes = encoding->bytes.bytes.data;
    size_t at = before->n_bytes, name = before->n_names;
    for (size_t g = before->n_gaps; g < end->n_gaps; g++) {
        tm_bytes_put_raw(out, bytes + at, gaps[g].at - at);
        for (size_t to = name + gaps[g].n; name < to; name++)
            tm_bytes_put(out, tm_dictionary_number(dictionary, names[name]));
        at = gaps[g].at;
    }
    if (end->n_bytes > at)
        tm_bytes_put_raw(out, bytes + at, end->n_bytes - at);
}

void tm_page_encoding_init(tm_page_encoding *encoding) {
    init_encoding(&encoding->events);
    init_encoding(&encoding->details);
}

void tm_page_encoding_free(tm_page_encoding *encoding) {
    free_encoding(&encoding->events);
    free_encoding(&encoding->details);
}

bool tm_event_encoding_end(tm_event_encoding *encoding, int64_t rank, size_t n_events) {
    const tm_event_end end = {rank, encoding->bytes.bytes.n, encoding->gaps.n, encoding->names.n,
                              n_events};
    return !encoding->bytes.failed && tm_vec_append(&encoding->ends, &end, 1);
}

uint32_t *tm_event_encoding_gap(tm_event_encoding *encoding, size_t n) {
    const tm_event_gap gap = {encoding->bytes.bytes.n, n};
    uint32_t *names = NULL;
    if (!encoding->bytes.failed && tm_vec_append(&encoding->gaps, &gap, 1))
        names = tm_vec_append(&encoding->names, NULL, n);
    encoding->bytes.failed = !names;
    return names;
}

tm_event_writer tm_event_writer_make(void) {
    return (tm_event_writer){
        .rows = TM_VEC(uint32_t), .begins = TM_VEC(int64_t), .shown = TM_VEC(uint32_t)};
}

void tm_event_writer_free(tm_event_writer *writer) {
    TM_VECS_FREE(&writer->rows, &writer->begins, &writer->shown);
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

uint8_t tm_shown_kind_of(uint8_t role, uint8_t category, bool host,
                         const tm_collective_attr *attr) {
    switch (role) {
    case TM_ROLE_COMPUTE:
        return TM_LANE_COMPUTE;
    case TM_ROLE_MEMORY:
        return TM_LANE_COPIES;
    case TM_ROLE_COMMUNICATION:
        return attr && attr->wait_ns >= 0 ? TM_LANE_TRANSFER : TM_LANE_UNMATCHED;
    default:
        return host ? host_kind(category) : TM_SHOWN_GPU_ANNOTATION;
    }
}

static uint8_t kind_of(const tm_timeline *timeline, uint32_t row, tm_shown_track shown) {
    uint8_t role = timeline->role[row];
    return tm_shown_kind_of(role, timeline->category[row], shown == TM_TRACK_THREAD,
                            role == TM_ROLE_COMMUNICATION ? tm_timeline_collective(timeline, row)
                                                          : NULL);
}

/* Collects the chosen events of a track that belong to a page track of kind @p shown. The page
 * shows the annotations of a stream on a separate track. */
static bool gather(tm_event_writer *w, const tm_timeline *timeline, const tm_card *card,
                   const tm_track *track, tm_shown_track shown) {
    tm_plan_walk walk = {w->plan, card, 0};
    w->rows.n = w->begins.n = 0;
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        tm_shown as = tm_shown_as(timeline, track, row);
        bool annotates = timeline->role[row] == TM_ROLE_NONE;
        if (as == TM_SHOWN_NOT ||
            (shown != TM_TRACK_THREAD && annotates != (shown == TM_TRACK_ANNOTATIONS)))
            continue;
        int64_t begin = tm_rank_clock_true(&timeline->clock, timeline->begin_ns[row]);
        if (!tm_plan_has(&walk, as, begin, timeline->duration_ns[row]))
            continue;
        uint32_t *own_row = tm_vec_push(&w->rows);
        int64_t *own_begin = tm_vec_push(&w->begins);
        if (!own_row || !own_begin)
            return false;
        *own_row = row;
        *own_begin = begin;
    }
    return true;
}

/* Writes each event's depth: the number of earlier events that are open at its start. */
static void put_depths(tm_event_writer *w, const tm_timeline *timeline) {
    int64_t ends[MAX_DEPTH + 1];
    const uint32_t *rows = w->rows.data;
    const int64_t *begins = w->begins.data;
    uint8_t *depths = tm_bytes_put_raw(&w->out->bytes, NULL, w->rows.n);
    for (size_t i = 0, open = 0; depths && i < w->rows.n; i++) {
        while (open > 0 && ends[open - 1] <= begins[i])
            open--;
        depths[i] = (uint8_t)open;
        ends[open] = begins[i] + timeline->duration_ns[rows[i]];
        open += open < MAX_DEPTH;
    }
}

/* Writes the kinds of all events. Then writes, for each communication event, its wait and the
 * number of its operation. */
static void put_kinds(tm_event_writer *w, const tm_timeline *timeline, tm_shown_track shown) {
    const uint32_t *rows = w->rows.data;
    tm_bytes *out = &w->out->bytes;
    uint8_t *kinds = tm_bytes_put_raw(out, NULL, w->rows.n);
    if (!kinds)
        return;
    for (size_t i = 0; i < w->rows.n; i++)
        kinds[i] = kind_of(timeline, rows[i], shown);
    for (size_t i = 0; i < w->rows.n; i++) {
        if (timeline->role[rows[i]] != TM_ROLE_COMMUNICATION)
            continue;
        const tm_collective_attr *attr = tm_timeline_collective(timeline, rows[i]);
        uint32_t number = attr ? tm_operations_number(w->operations, attr) : TM_NO_EVENT;
        tm_bytes_put(out, attr ? (uint64_t)(attr->wait_ns + 1) : 0);
        tm_bytes_put(out, number == TM_NO_EVENT ? 0 : (uint64_t)number + 1);
    }
}

static void put_track(tm_event_writer *w, const tm_timeline *timeline, const tm_track *track,
                      tm_shown_track shown) {
    const uint32_t *rows = w->rows.data;
    const int64_t *begins = w->begins.data;
    tm_bytes *out = &w->out->bytes;
    tm_bytes_put(out, shown);
    tm_bytes_put(out, (uint64_t)((int64_t)track->device + 1));
    tm_bytes_put(out, (uint64_t)(track->stream + 1));
    tm_bytes_put(out, track->tid);
    uint32_t *names = tm_event_encoding_gap(w->out, 1);
    if (names)
        *names = track->thread_name;
    tm_bytes_put(out, w->rows.n);
    for (size_t i = 0; i < w->rows.n; i++)
        tm_bytes_put_signed(out, begins[i] - (i > 0 ? begins[i - 1] : w->job_begin_ns));
    for (size_t i = 0; i < w->rows.n; i++)
        tm_bytes_put(out, (uint64_t)timeline->duration_ns[rows[i]]);
    names = tm_event_encoding_gap(w->out, w->rows.n);
    for (size_t i = 0; names && i < w->rows.n; i++)
        names[i] = timeline->name[rows[i]];
    if (shown != TM_TRACK_STREAM)
        put_depths(w, timeline);
    put_kinds(w, timeline, shown);
}

static tm_status put_shown(tm_event_writer *w, const tm_timeline *timeline, size_t at,
                           const tm_track *track, tm_shown_track shown, tm_error *err) {
    const tm_card *card = (const tm_card *)w->plan->cards.data + at;
    if (!gather(w, timeline, card, track, shown))
        return tm_fail_memory(err);
    if (w->rows.n == 0)
        return TM_OK;
    tm_bytes_put(&w->out->bytes, card->place);
    put_track(w, timeline, track, shown);
    bool kept = tm_vec_append(&w->shown, w->rows.data, w->rows.n) != NULL;
    w->n_gpu = shown == TM_TRACK_THREAD ? w->n_gpu : w->shown.n;
    return w->out->bytes.failed || !kept ? tm_fail_memory(err) : TM_OK;
}

tm_status tm_events_put(tm_event_writer *writer, const tm_timeline *timeline, size_t at,
                        tm_error *err) {
    writer->shown.n = writer->n_gpu = 0;
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        if (track->kind != TM_TRACK_GPU) {
            TM_TRY(put_shown(writer, timeline, at, track, TM_TRACK_THREAD, err));
            continue;
        }
        TM_TRY(put_shown(writer, timeline, at, track, TM_TRACK_STREAM, err));
        TM_TRY(put_shown(writer, timeline, at, track, TM_TRACK_ANNOTATIONS, err));
    }
    bool ended = tm_event_encoding_end(writer->out, timeline->rank, writer->shown.n);
    return ended ? TM_OK : tm_fail_memory(err);
}

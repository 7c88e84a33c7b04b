#include "build_timeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/intervals.h"
#include "base/sorted.h"
#include "join.h"
#include "restarts.h"
#include "sort_events.h"

/* State while the events of traces become the columns of a timeline. */
typedef struct builder {
    const tm_build_context *context;
    tm_trace *all;    /* all events of the rank in the order of the file; launches are linked */
    uint32_t *place;  /* [tracks] place of each track after sorting */
    uint32_t *order;  /* [n] index of the event of each row; later becomes the column `launch` */
    uint32_t *row_of; /* [n] row of each event, by index of the event; later becomes the column
                         `step` */
    tm_timeline *out;
} builder;

void tm_trace_range(const tm_trace *trace, tm_span *out) {
    const tm_raw_event *events = trace->events.data;
    *out = (tm_span){.source = trace->source};
    for (size_t i = 0; i < trace->events.n; i++) {
        const tm_raw_event *e = &events[i];
        if (tm_span_counts(e->kind, e->category))
            tm_span_widen(out, e->category, e->begin_ns, e->begin_ns + e->duration_ns);
    }
    out->open_ns = out->begin_ns;
}

/* If most events of a trace are skipped, counts them: all results are then based on few events. */
static void count_skipped(tm_trace *trace) {
    int64_t skipped = tm_trace_skipped(trace);
    trace->counts[TM_COUNT_MOSTLY_SKIPPED] = (size_t)skipped > trace->events.n ? skipped : 0;
}

static bool overlap(const tm_span *a, const tm_span *b) {
    return a->n_durations > 0 && b->n_durations > 0 && a->begin_ns < b->end_ns &&
           b->begin_ns < a->end_ns;
}

static tm_status overlap_error(const builder *b, const tm_span *first, const tm_span *second,
                               tm_error *err) {
    tm_text other = tm_names_text(b->context->names, first->source);
    tm_text own = tm_names_text(b->context->names, second->source);
    if (first->source == second->source)
        return tm_fail(err, TM_ERR_INPUT, own.bytes, -1, "this file was given twice");
    return tm_fail(err, TM_ERR_INPUT, own.bytes, -1,
                   "covers the same time of rank %lld as %.300s: merge two runs separately (tmerge "
                   "diff compares them), give the ranks with --rank-map, or keep only the first "
                   "with --skip-bad",
                   (long long)b->out->rank, other.bytes);
}

static int by_begin(const void *a, const void *b) {
    const tm_span *x = a, *y = b;
    /* traces without a recorded time come last */
    if ((x->n_durations == 0) != (y->n_durations == 0))
        return x->n_durations == 0 ? 1 : -1;
    return tm_order_i64(x->begin_ns, y->begin_ns);
}

/* Returns the time up to which a trace was certainly recorded: the last end of its events. For
 * device events the start is used, because a profiler may not know the end of a kernel. */
static int64_t sure_end(const tm_trace *trace) {
    const tm_raw_event *events = trace->events.data;
    int64_t sure_ns = INT64_MIN;
    for (size_t i = 0; i < trace->events.n; i++) {
        const tm_raw_event *e = &events[i];
        const int64_t ns = tm_event_is_of_device(e) ? e->duration_ns > 0 : e->duration_ns;
        if (tm_span_counts(e->kind, e->category) && e->begin_ns + ns > sure_ns)
            sure_ns = e->begin_ns + ns;
    }
    return sure_ns;
}

/* Links the traces, and sets the time that each trace covers. Removes device events that last
 * beyond the start of another trace. */
static tm_status measure(tm_trace *const *traces, size_t n, tm_span *spans, tm_error *err) {
    for (size_t i = 0; i < n; i++) {
        TM_TRY(tm_trace_link(traces[i], err));
        TM_TRY(tm_trace_drop_unknown(traces[i], err));
        tm_trace_range(traces[i], &spans[i]);
    }
    for (size_t i = 0; i < n && n > 1; i++) {
        const int64_t sure_ns = sure_end(traces[i]);
        int64_t next_ns = INT64_MAX;
        for (size_t k = 0; k < n; k++)
            if (k != i && spans[k].n_durations > 0 && spans[k].begin_ns >= sure_ns &&
                spans[k].begin_ns < next_ns)
                next_ns = spans[k].begin_ns;
        if (spans[i].n_durations == 0 || spans[i].end_ns <= next_ns)
            continue;
        TM_TRY(tm_trace_drop_endless(traces[i], next_ns, err));
        tm_trace_range(traces[i], &spans[i]);
    }
    return TM_OK;
}

/* Returns whether both traces record NCCL's communicators but have none in common. A communicator
 * with an unknown hash (0) may be in both. */
static bool are_strangers(const tm_trace *a, const tm_trace *b) {
    const tm_communicator *x = a->communicators.data, *y = b->communicators.data;
    for (size_t i = 0; i < a->communicators.n; i++)
        for (size_t k = 0; k < b->communicators.n; k++)
            if (x[i].nccl == 0 || y[k].nccl == 0 || x[i].nccl == y[k].nccl)
                return false;
    return a->communicators.n > 0 && b->communicators.n > 0;
}

/* Links the traces, and decides which of them are spans of the rank. Empties the others. */
static tm_status find_spans(builder *b, tm_trace *const *traces, size_t n, tm_error *err) {
    tm_span *spans = calloc(n, sizeof *spans);
    if (!spans)
        return tm_fail_memory(err);
    b->out->spans = spans;
    TM_TRY(measure(traces, n, spans, err));
    for (size_t i = 0; i < n; i++) {
        tm_span span = spans[i];
        traces[i]->left_out = false;
        for (size_t k = 0; k < b->out->n_spans && !traces[i]->left_out; k++) {
            if (!overlap(&spans[k], &span))
                continue;
            if (!b->context->skip_overlapping)
                return overlap_error(b, &spans[k], &span, err);
            traces[i]->left_out = true;
            b->out->counts[TM_COUNT_OVERLAPPING_TRACE] += (int64_t)traces[i]->events.n;
            tm_trace_free(traces[i]);
        }
        if (traces[i]->left_out)
            continue;
        count_skipped(traces[i]);
        traces[i]->counts[TM_COUNT_OTHER_RUN] = i > 0 && are_strangers(traces[0], traces[i]);
        memcpy(span.counts, traces[i]->counts, sizeof span.counts);
        span.truncated = traces[i]->truncated;
        spans[b->out->n_spans++] = span;
    }
    qsort(spans, b->out->n_spans, sizeof *spans, by_begin);
    return TM_OK;
}

/* Appends the events of a further span to those of the first. */
static tm_status absorb(tm_trace *into, const tm_trace *from, tm_error *err) {
    tm_join join;
    const tm_join_from other = {.tracks = from->tracks.data,
                                .n_tracks = from->tracks.n,
                                .shapes = from->shapes.keys.data,
                                .n_shapes = from->shapes.keys.n};
    tm_status status = tm_join_begin(&join, into, &other, err);
    if (status == TM_OK)
        status = tm_join_events(&join, from->events.data, from->events.n, err);
    for (int a = 0; a < TM_N_ATTRS && status == TM_OK; a++)
        status = tm_join_attrs(&join, (tm_attr)a, from->attrs[a].data, from->attrs[a].n, err);
    tm_join_end(&join);
    if (status == TM_OK &&
        !tm_vec_append(&into->communicators, from->communicators.data, from->communicators.n))
        return tm_fail_memory(err);
    return status;
}

/* Moves the metadata of the first trace to the timeline. */
static tm_status take_metadata(builder *b, tm_error *err) {
    tm_text text = tm_names_text(b->context->names, b->all->metadata);
    b->out->metadata_lists = b->all->lists.data;
    b->out->n_metadata_lists = b->all->lists.n;
    b->all->lists = TM_VEC(uint32_t);
    if (text.size == 0)
        return TM_OK;
    b->out->metadata = malloc(text.size + 1);
    if (!b->out->metadata)
        return tm_fail_memory(err);
    memcpy(b->out->metadata, text.bytes, text.size + 1);
    b->out->n_metadata = text.size;
    return TM_OK;
}

/* Joins all traces that were not left out into the first one, which becomes b->all. */
static tm_status join(builder *b, tm_trace *const *traces, size_t n, tm_error *err) {
    b->all = traces[0]; /* The first trace is never left out, because only later traces can overlap
                           earlier ones. */
    for (size_t i = 0; i < n; i++) {
        if (traces[i]->left_out)
            continue;
        for (int c = 0; c < TM_N_COUNTS; c++)
            b->out->counts[c] += traces[i]->counts[c];
        b->out->truncated |= traces[i]->truncated;
        if (i == 0)
            continue;
        TM_TRY(absorb(b->all, traces[i], err));
        tm_trace_free(traces[i]);
    }
    assert(b->all);
    b->out->world_size = b->all->world_size;
    b->out->host = b->all->host;
    b->out->format = b->all->format;
    return take_metadata(b, err);
}

/* A track to sort, with the process id and the thread id as texts. */
typedef struct placed_track {
    const tm_track *track;
    tm_text pid, tid;
} placed_track;

/* Compares two ids as texts. A shorter text comes first, so that numbers of equal sign are in
 * numerical order. */
static int compare_key(const tm_text *a, const tm_text *b) {
    int order = tm_order_u64(a->size, b->size);
    return order || a->size == 0 ? order : memcmp(a->bytes, b->bytes, a->size);
}

static int compare_tracks(const void *a, const void *b) {
    const placed_track *x = a, *y = b;
    int order = tm_order_i64(x->track->kind, y->track->kind);
    order = order ? order : tm_order_i64(x->track->device, y->track->device);
    order = order ? order : tm_order_i64(x->track->stream, y->track->stream);
    order = order ? order : compare_key(&x->pid, &y->pid);
    order = order ? order : compare_key(&x->tid, &y->tid);
    return order ? order : (x->track > y->track) - (x->track < y->track);
}

static tm_status sort_tracks(builder *b, tm_error *err) {
    size_t n = b->all->tracks.n;
    const tm_track *tracks = b->all->tracks.data;
    const tm_names *names = b->context->names;
    placed_track *sorted = calloc(n + 1, sizeof *sorted);
    b->place = calloc(n + 1, sizeof *b->place);
    b->out->tracks = calloc(n + 1, sizeof *b->out->tracks);
    bool ok = b->place && sorted && b->out->tracks;
    for (size_t i = 0; i < n && ok; i++)
        sorted[i] = (placed_track){&tracks[i], tm_names_text(names, tracks[i].pid),
                                   tm_names_text(names, tracks[i].tid)};
    if (ok && n > 1)
        qsort(sorted, n, sizeof *sorted, compare_tracks);
    for (size_t i = 0; i < n && ok; i++) {
        b->place[sorted[i].track - tracks] = (uint32_t)i;
        b->out->tracks[i] = *sorted[i].track;
    }
    b->out->n_tracks = ok ? n : 0;
    free(sorted);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Sorts the rows by track, then by begin. If events of a track have equal begins, longer events
 * come first. Events of equal length stay in the order of the file. */
static tm_status order_rows(builder *b, tm_error *err) {
    size_t n = b->all->events.n;
    const tm_raw_event *events = b->all->events.data;
    b->order = calloc(n + 1, sizeof *b->order);
    b->row_of = malloc((n + 1) * sizeof *b->row_of);
    if (!b->order || !b->row_of)
        return tm_fail_memory(err);
    tm_track *tracks = b->out->tracks;
    for (size_t i = 0; i < n; i++)
        tracks[b->place[events[i].track]].count++;
    uint32_t first = 0;
    for (size_t t = 0; t < b->out->n_tracks; t++) {
        tracks[t].first = first;
        first += tracks[t].count;
        tracks[t].count = 0;
    }
    for (size_t i = 0; i < n; i++) {
        tm_track *track = &tracks[b->place[events[i].track]];
        b->order[track->first + track->count++] = (uint32_t)i;
    }
    for (size_t t = 0; t < b->out->n_tracks; t++)
        if (!tm_sort_events(events, b->order + tracks[t].first, tracks[t].count, b->row_of))
            return tm_fail_memory(err);
    for (size_t row = 0; row < n; row++)
        b->row_of[b->order[row]] = (uint32_t)row;
    return TM_OK;
}

static bool allocate_columns(tm_timeline *out, size_t n) {
    out->n_events = n;
    n += n == 0;
    out->begin_ns = malloc(n * sizeof *out->begin_ns);
    out->duration_ns = malloc(n * sizeof *out->duration_ns);
    out->name = malloc(n * sizeof *out->name);
    out->category = malloc(n);
    out->kind = malloc(n);
    out->role = malloc(n);
    return out->begin_ns && out->duration_ns && out->name && out->category && out->kind &&
           out->role;
}

/* Fills all columns except step and role. Reuses memory: `order` becomes the column launch,
 * `row_of` will become the column step. */
static tm_status fill_columns(builder *b, tm_error *err) {
    tm_timeline *out = b->out;
    if (!allocate_columns(out, b->all->events.n))
        return tm_fail_memory(err);
    out->launch = b->order;
    b->order = NULL;
    const tm_raw_event *events = b->all->events.data;
    for (size_t row = 0; row < out->n_events; row++) {
        const tm_raw_event *e = &events[out->launch[row]];
        out->begin_ns[row] = e->begin_ns;
        out->duration_ns[row] = e->duration_ns;
        out->name[row] = e->name;
        out->category[row] = e->category;
        out->kind[row] = e->kind;
        out->launch[row] = e->launch == TM_NO_EVENT ? TM_NO_EVENT : b->row_of[e->launch];
    }
    return TM_OK;
}

/* Counts an event for the rank and for the span that contains the event's start. */
static void count_one(tm_timeline *out, tm_count count, int64_t begin_ns) {
    out->counts[count]++;
    for (size_t i = 0; i < out->n_spans; i++)
        if (begin_ns >= out->spans[i].begin_ns && begin_ns < out->spans[i].end_ns) {
            out->spans[i].counts[count]++;
            return;
        }
}

/* Counts the events that are repeated, and the kernels that start before the previous kernel of
 * their stream ends. Normally a stream runs one kernel after another, but a kernel may let the next
 * one start early. */
static void count_stream_overlaps(tm_timeline *out, const tm_names *names) {
    for (size_t t = 0; t < out->n_tracks && out->tracks[t].kind == TM_TRACK_GPU; t++) {
        int64_t latest_end = INT64_MIN;
        const tm_track *track = &out->tracks[t];
        for (size_t row = track->first; row < (size_t)track->first + track->count; row++) {
            int64_t begin = out->begin_ns[row], end = begin + out->duration_ns[row];
            const bool repeated = tm_timeline_is_repeated(out, names, track, row);
            if (repeated)
                count_one(out, TM_COUNT_REPEATED, begin);
            if (out->category[row] != TM_CAT_KERNEL || end == begin || repeated)
                continue;
            if (begin < latest_end)
                count_one(out, TM_COUNT_STREAM_OVERLAP, begin);
            latest_end = end > latest_end ? end : latest_end;
        }
    }
}

/* Sorts attribute rows by the row of their event, after converting all indices of events to
 * rows. */
static tm_status place_attrs(builder *b, tm_error *err) {
    for (int a = 0; a < TM_N_ATTRS; a++) {
        tm_vec *rows = &b->all->attrs[a];
        for (int r = 0; r < tm_attr_n_refs((tm_attr)a); r++)
            for (size_t i = 0; i < rows->n; i++) {
                uint32_t *row = tm_attr_ref((tm_attr)a, (char *)rows->data + i * rows->size, r);
                *row = *row == TM_NO_EVENT ? TM_NO_EVENT : b->row_of[*row];
            }
    }
    for (int a = 0; a < TM_N_ATTRS; a++) {
        tm_vec *rows = &b->all->attrs[a];
        if (!tm_sort_attrs((tm_attr)a, rows, b->out->n_events))
            return tm_fail_memory(err);
        tm_vec_trim(rows);
        b->out->attrs[a] = rows->data;
        b->out->n_attrs[a] = rows->n;
        *rows = (tm_vec){.size = rows->size};
    }
    tm_vec *shapes = &b->all->shapes.keys;
    tm_vec_trim(shapes);
    b->out->shapes = shapes->data;
    b->out->n_shapes = shapes->n;
    *shapes = TM_VEC(tm_launch_shape);
    tm_keys_free(&b->all->shapes);
    b->out->step = (int32_t *)b->row_of;
    b->row_of = NULL;
    b->out->communicators = b->all->communicators.data;
    b->out->n_communicators = b->all->communicators.n;
    b->all->communicators = TM_VEC(tm_communicator);
    return TM_OK;
}

static bool has_work(const tm_timeline *out, const tm_track *track) {
    size_t row = track->first, end = row + track->count;
    while (row < end && out->role[row] == TM_ROLE_NONE)
        row++;
    return row < end;
}

/* Sets out->device and returns true if at most one device has work. In this usual case, busy times
 * need not be computed. */
static bool find_only_device(tm_timeline *out) {
    out->device = -1;
    for (size_t t = 0, found = 0; t < out->n_tracks && out->tracks[t].kind == TM_TRACK_GPU; t++) {
        if (!has_work(out, &out->tracks[t]))
            continue;
        if (found++ > 0 && out->tracks[t].device != out->device)
            return false;
        out->device = out->tracks[t].device;
    }
    return true;
}

/* Finds the device with the most busy time. If several devices have the same busy time, takes the
 * lowest device number. */
static tm_status find_device(tm_timeline *out, tm_error *err) {
    int64_t most = -1;
    if (find_only_device(out))
        return TM_OK;
    for (size_t t = 0; t < out->n_tracks && out->tracks[t].kind == TM_TRACK_GPU;) {
        tm_intervals busy = TM_INTERVALS();
        int32_t device = out->tracks[t].device;
        bool ok = true, any = false;
        for (; t < out->n_tracks && out->tracks[t].kind == TM_TRACK_GPU &&
               out->tracks[t].device == device;
             t++)
            for (size_t row = out->tracks[t].first;
                 row < out->tracks[t].first + out->tracks[t].count && ok; row++) {
                any |= out->role[row] != TM_ROLE_NONE;
                ok = out->role[row] == TM_ROLE_NONE ||
                     tm_intervals_add(&busy, out->begin_ns[row],
                                      out->begin_ns[row] + out->duration_ns[row]);
            }
        tm_intervals_normalise(&busy);
        int64_t length = any ? tm_intervals_length(&busy) : -1;
        tm_vec_free(&busy);
        if (!ok)
            return tm_fail_memory(err);
        if (length > most) {
            most = length;
            out->device = device;
        }
    }
    return TM_OK;
}

static tm_status run(builder *b, tm_trace *const *traces, size_t n_traces, tm_error *err) {
    TM_TRY(find_spans(b, traces, n_traces, err));
    TM_TRY(join(b, traces, n_traces, err));
    TM_TRY(sort_tracks(b, err));
    TM_TRY(order_rows(b, err));
    TM_TRY(fill_columns(b, err));
    /* the columns now have the events: frees memory for the next steps */
    tm_vec_free(&b->all->events);
    count_stream_overlaps(b->out, b->context->names);
    TM_TRY(place_attrs(b, err));
    TM_TRY(tm_timeline_find_roles(b->out, b->context->names, b->context->classifier, err));
    TM_TRY(tm_timeline_find_restarts(b->out, err));
    TM_TRY(tm_timeline_find_steps(b->out, b->context->names, b->context->step_names, err));
    return find_device(b->out, err);
}

tm_status tm_timeline_build(tm_trace *const *traces, size_t n_traces, int64_t rank,
                            const tm_build_context *context, tm_timeline *out, tm_error *err) {
    tm_timeline built = {.rank = rank, .world_size = -1};
    builder b = {.context = context, .out = &built};
    tm_status status = run(&b, traces, n_traces, err);
    free(b.place);
    free(b.order);
    free(b.row_of);
    for (size_t i = 0; i < n_traces; i++)
        tm_trace_free(traces[i]);
    if (status == TM_OK)
        *out = built;
    else
        tm_timeline_destroy(&built);
    return status;
}

#include "part.h"

#include <stdlib.h>
#include <string.h>

/* Header of a packed part. After it come tracks, labels, marks, flows, shapes and metadata, as they
 * are in memory. Then come the texts of the part's dictionary, in the order of their ids. Each text
 * is a length (uint32_t) and the bytes. */
typedef struct head {
    size_t n_tracks, n_labels, n_marks, n_flows, n_shapes, metadata_size, n_names;
    uint64_t flow_mask;
    int64_t base_ns;
    int64_t counts[TM_N_COUNTS];
} head;

_Static_assert(sizeof(tm_mark) == 48 && sizeof(tm_flow) == 32, "without padding");
_Static_assert(sizeof(head) % _Alignof(tm_track) == 0, "the tracks after it are aligned");

void tm_part_init(tm_part *part, tm_trace *trace) {
    *part = (tm_part){
        .n = 1,
        .trace = trace,
        .labels = TM_VEC(tm_label),
        .metadata = TM_VEC(char),
        .marks = TM_VEC(tm_mark),
        .flows = TM_VEC(tm_flow),
        .base_ns = -1,
        .end = -1,
    };
}

void tm_part_free(tm_part *part) {
    TM_VECS_FREE(&part->labels, &part->metadata, &part->marks, &part->flows);
}

/* What a part contains depends on the reader's state at its start. Between two events of
 * traceEvents, this state differs in only one thing: the events are in an object or in a bare
 * array. The text after the last event, in the last part, shows which. */
bool tm_part_follows(const tm_part *first, const tm_part *before, const tm_part *part) {
    bool last = part->index == part->n - 1;
    return part->begin == before->end && (!last || part->in_object == first->in_object);
}

/* Applies the labels. Of several labels of a thread or process, the last one counts. */
static void name_tracks(tm_trace *trace, const tm_label *labels, size_t n) {
    tm_track *tracks = trace->tracks.data;
    for (size_t l = 0; l < n; l++) {
        for (size_t t = 0; t < trace->tracks.n && labels[l].process; t++)
            if (labels[l].pid == tracks[t].pid)
                tracks[t].process_name = labels[l].text;
        for (int kind = TM_TRACK_GPU; kind <= TM_TRACK_CPU && !labels[l].process; kind++) {
            uint32_t t =
                tm_trace_find_track(trace, (tm_track_kind)kind, labels[l].pid, labels[l].tid);
            if (t != UINT32_MAX)
                tracks[t].thread_name = labels[l].text;
        }
    }
}

void tm_part_finish(tm_part *whole) {
    tm_trace *trace = whole->trace;
    name_tracks(trace, whole->labels.data, whole->labels.n);
    trace->base_ns = whole->base_ns;
    tm_raw_event *events = trace->events.data;
    for (size_t i = 0; i < trace->events.n && whole->base_ns > 0; i++)
        events[i].begin_ns += whole->base_ns;
}

tm_status tm_part_pack(const tm_part *part, const tm_names *names, tm_vec *out, tm_error *err) {
    const tm_vec *tracks = &part->trace->tracks, *labels = &part->labels;
    const tm_vec *shapes = &part->trace->shapes.keys;
    head h = {
        .n_tracks = tracks->n,
        .n_labels = labels->n,
        .n_marks = part->marks.n,
        .n_flows = part->flows.n,
        .n_shapes = shapes->n,
        .flow_mask = part->flow_mask,
        .metadata_size = part->metadata.n,
        .n_names = tm_names_count(names),
        .base_ns = part->base_ns,
    };
    memcpy(h.counts, part->trace->counts, sizeof h.counts);
    bool ok = tm_vec_append(out, (const char *)&h, sizeof h) &&
              tm_vec_append(out, tracks->data, tracks->n * tracks->size) &&
              tm_vec_append(out, labels->data, labels->n * labels->size) &&
              tm_vec_append(out, part->marks.data, part->marks.n * part->marks.size) &&
              tm_vec_append(out, part->flows.data, part->flows.n * part->flows.size) &&
              tm_vec_append(out, shapes->data, shapes->n * shapes->size) &&
              tm_vec_append(out, part->metadata.data, part->metadata.n);
    for (size_t id = 0; id < h.n_names && ok; id++) {
        tm_text text = tm_names_text(names, (uint32_t)id);
        uint32_t size = (uint32_t)text.size;
        ok = tm_vec_append(out, (const char *)&size, sizeof size) &&
             tm_vec_append(out, text.bytes, text.size);
    }
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Adds the n texts at p to `names`. Returns their ids; NULL if out of memory. */
static uint32_t *intern_all(tm_names *names, const char *p, size_t n) {
    uint32_t *name_of = malloc((n + 1) * sizeof *name_of);
    bool ok = name_of != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        uint32_t size;
        memcpy(&size, p, sizeof size);
        name_of[i] = tm_names_intern(names, p + sizeof size, size);
        ok = name_of[i] != TM_NAME_FAILED;
        p += sizeof size + size;
    }
    if (ok)
        return name_of;
    free(name_of);
    return NULL;
}

static bool add_labels(tm_part *into, const char *p, size_t n, const uint32_t *name_of) {
    size_t known = into->labels.n;
    if (!tm_vec_append(&into->labels, p, n))
        return false;
    tm_label *labels = (tm_label *)into->labels.data + known;
    for (size_t i = 0; i < n; i++) {
        labels[i].pid = name_of[labels[i].pid];
        labels[i].tid = name_of[labels[i].tid];
        labels[i].text = name_of[labels[i].text];
    }
    return true;
}

static bool add_marks(tm_part *into, const char *p, size_t n, const uint32_t *name_of) {
    size_t known = into->marks.n;
    if (!tm_vec_append(&into->marks, p, n))
        return false;
    tm_mark *marks = (tm_mark *)into->marks.data + known;
    for (size_t i = 0; i < n; i++) {
        marks[i].event += marks[i].event == TM_NO_EVENT ? 0 : (uint32_t)into->trace->events.n;
        marks[i].text = name_of[marks[i].text];
        marks[i].pid = name_of[marks[i].pid];
        marks[i].tid = name_of[marks[i].tid];
    }
    return true;
}

tm_status tm_part_join_begin(tm_part_join *out, tm_part *into, tm_names *names, const void *bytes,
                             tm_error *err) {
    *out = (tm_part_join){0};
    head h;
    memcpy(&h, bytes, sizeof h);
    const char *tracks = (const char *)bytes + sizeof h;
    const char *labels = tracks + h.n_tracks * sizeof(tm_track);
    const char *marks = labels + h.n_labels * sizeof(tm_label);
    const char *flows = marks + h.n_marks * sizeof(tm_mark);
    const char *shapes = flows + h.n_flows * sizeof(tm_flow);
    const char *metadata = shapes + h.n_shapes * sizeof(tm_launch_shape);
    out->name_of = intern_all(names, metadata + h.metadata_size, h.n_names);
    if (!out->name_of || !add_labels(into, labels, h.n_labels, out->name_of) ||
        !add_marks(into, marks, h.n_marks, out->name_of) ||
        !tm_vec_append(&into->flows, flows, h.n_flows) ||
        !tm_vec_append(&into->metadata, metadata, h.metadata_size))
        return tm_fail_memory(err);
    const tm_join_from from = {.tracks = (const void *)tracks,
                               .n_tracks = h.n_tracks,
                               .shapes = (const void *)shapes,
                               .n_shapes = h.n_shapes,
                               .name_of = out->name_of};
    TM_TRY(tm_join_begin(&out->rows, into->trace, &from, err));
    for (int c = 0; c < TM_N_COUNTS; c++)
        into->trace->counts[c] += h.counts[c];
    into->flow_mask |= h.flow_mask;
    if (h.base_ns >= 0) /* if a key occurs twice, the last value counts */
        into->base_ns = h.base_ns;
    return TM_OK;
}

void tm_part_join_end(tm_part_join *join) {
    tm_join_end(&join->rows);
    free(join->name_of);
    join->name_of = NULL;
}

/* Shared by the fuzz targets for trace formats. Reads bytes, builds a timeline from them, and
 * checks the timeline's invariants. */
#ifndef TMERGE_FUZZ_TIMELINE_H
#define TMERGE_FUZZ_TIMELINE_H

#include <string.h>

#include "base/vec.h"
#include "readers/formats.h"
#include "readers/json.h"
#include "require.h"
#include "timeline/build_timeline.h"
#include "timeline/host_comm.h"
#include "tmerge/reader.h"

static inline void check_track(const tm_timeline *t, const tm_track *track) {
    for (size_t row = track->first; row < (size_t)track->first + track->count; row++) {
        bool gpu = tm_category_is_gpu((tm_category)t->category[row]);
        require(gpu == (track->kind == TM_TRACK_GPU));
        if (row == track->first)
            continue;
        require(t->begin_ns[row - 1] <= t->begin_ns[row]);
        require(t->begin_ns[row - 1] < t->begin_ns[row] ||
                t->duration_ns[row - 1] >= t->duration_ns[row]);
    }
}

/* Checks that each row is on exactly one track, and that the tracks of the GPU come first. */
static inline void check_tracks(const tm_timeline *t) {
    size_t next = 0;
    bool cpu = false;
    for (size_t i = 0; i < t->n_tracks; i++) {
        const tm_track *track = &t->tracks[i];
        require(track->first == next);
        next += track->count;
        cpu |= track->kind == TM_TRACK_CPU;
        require(!cpu || track->kind == TM_TRACK_CPU);
        require(next <= t->n_events);
        check_track(t, track);
    }
    require(next == t->n_events);
}

static inline bool is_launch(const tm_timeline *t, uint32_t row) {
    return t->category[row] == TM_CAT_RUNTIME || t->category[row] == TM_CAT_DRIVER;
}

static inline void check_rows(const tm_timeline *t, const tm_names *names) {
    const bool of_cpu = tm_timeline_is_of_cpu(t); /* true: an operator may be its own launch */
    for (size_t row = 0; row < t->n_events; row++) {
        require(t->name[row] < tm_names_count(names));
        require(t->category[row] < TM_N_CATEGORIES);
        require(t->kind[row] <= TM_COUNTER && t->role[row] <= TM_ROLE_MEMORY);
        require(t->kind[row] == TM_DURATION || t->duration_ns[row] == 0);
        require(t->step[row] >= TM_NO_STEP && t->step[row] < (int64_t)t->n_steps);
        uint32_t launch = t->launch[row];
        require(launch == TM_NO_EVENT || launch < t->n_events);
        require(launch == TM_NO_EVENT || of_cpu || is_launch(t, launch));
    }
}

static inline void check_attrs(const tm_timeline *t) {
    for (int a = 0; a < TM_N_ATTRS; a++) {
        uint32_t last = 0;
        for (size_t i = 0; i < t->n_attrs[a]; i++) {
            char *row = (char *)t->attrs[a] + i * tm_attr_size((tm_attr)a);
            uint32_t event = *tm_attr_event((tm_attr)a, row);
            require(event < t->n_events);
            for (int r = 1; r < tm_attr_n_refs((tm_attr)a); r++) {
                uint32_t other = *tm_attr_ref((tm_attr)a, row, r);
                require(other == TM_NO_EVENT || other < t->n_events);
                /* A wait refers to calls, an operator to its operator of the forward pass. */
                require(other == TM_NO_EVENT || a == TM_ATTR_OPERATOR || is_launch(t, other));
            }
            /* Only counters may have several attributes for one event: one for each series. */
            require(i == 0 || last < event || (last == event && a == TM_ATTR_COUNTER));
            last = event;
        }
    }
}

static inline void check_steps(const tm_timeline *t) {
    for (size_t i = 0; i < t->n_steps; i++) {
        require(t->steps[i].begin_ns <= t->steps[i].end_ns);
        require(i == 0 || t->steps[i - 1].begin_ns <= t->steps[i].begin_ns);
    }
}

static inline void check_timeline(const tm_timeline *t, const tm_names *names) {
    int64_t begin_ns, end_ns;
    check_tracks(t);
    check_rows(t, names);
    check_attrs(t);
    check_steps(t);
    for (int c = 0; c < TM_N_COUNTS; c++)
        require(t->counts[c] >= 0);
    require(tm_timeline_count(t, TM_DIAGNOSTIC_SKIPPED) >= 0);
    if (tm_timeline_range(t, &begin_ns, &end_ns))
        require(t->n_events > 0);
}

static inline void build(tm_trace *trace, tm_names *names) {
    tm_build_context context = {.names = names};
    tm_timeline timeline;
    tm_error err;
    require(tm_classifier_create(NULL, &context.classifier, &err) == TM_OK);
    tm_status status = tm_timeline_build(&trace, 1, 0, &context, &timeline, &err);
    require(status == TM_OK);
    check_timeline(&timeline, names);
    tm_timeline_destroy(&timeline);
    tm_classifier_destroy(context.classifier);
}

/* Builds the trace that was read, or checks the reader's error. Frees the trace and the names. */
static inline void end_reading(tm_status status, const tm_error *err, tm_trace *trace,
                               tm_names *names) {
    if (status == TM_OK)
        build(trace, names);
    else
        require(status == TM_ERR_INPUT && err->status == status && err->message[0] != '\0');
    tm_trace_free(trace);
    tm_names_destroy(names);
}

/* Returns whether the format recognises the input by its first bytes. */
static inline bool tell(const uint8_t *data, size_t size, const tm_format *format) {
    size_t held = size < TM_SNIFF_BYTES ? size : TM_SNIFF_BYTES;
    char *head = calloc(1, held + TM_JSON_PADDING);
    require(head != NULL);
    memcpy(head, data, held);
    const bool known = format->sniff(head, held, held == size);
    if (known && format->peek_rank)
        require(format->peek_rank(head, held) >= -1);
    free(head);
    return known;
}

/* Reads a unit; if @p unit is NULL, reads all bytes. Returns false if they cannot be opened. */
static inline bool try_read(const uint8_t *data, size_t size, const tm_format *format,
                            const tm_unit *unit) {
    tm_source *source;
    tm_error err;
    if (tm_source_open_memory(data, size, "fuzz.json", &source, &err) != TM_OK)
        return false;
    tm_names *names = tm_names_create();
    tm_trace trace;
    require(names != NULL);
    tm_status status = tm_trace_read_source(format, source, unit, names, &trace, &err);
    if (status != TM_OK)
        require(err.offset >= -1 && err.offset <= tm_source_offset(source));
    end_reading(status, &err, &trace, names);
    tm_source_close(source);
    return true;
}

#endif

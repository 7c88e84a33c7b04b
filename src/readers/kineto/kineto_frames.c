#include "kineto_frames.h"

#include <stdlib.h>
#include <string.h>

/* A frame that was running when the recording started begins at most this long [ns] after the first
 * frame of its thread. */
static const int64_t BEGIN_NS = 100000;

/* The parts of "FILE(LINE): NAME". */
typedef struct frame {
    tm_text file, name;
    int64_t line;
} frame;

static bool read_frame(tm_text text, frame *out) {
    const char *colon = strstr(text.bytes, "): "), *p = colon;
    int64_t line = 0, place = 1;
    while (p && p > text.bytes && p[-1] >= '0' && p[-1] <= '9' && colon - p < 9) {
        p--;
        line += place * (*p - '0');
        place *= 10;
    }
    if (!p || p == colon || p == text.bytes || p[-1] != '(')
        return false;
    *out = (frame){{text.bytes, (size_t)(p - 1 - text.bytes)},
                   {colon + 3, text.size - (size_t)(colon + 3 - text.bytes)},
                   line};
    return true;
}

static bool same(tm_text a, tm_text b) {
    return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

/* Earliest begin and earliest end of the frames of a track. */
typedef struct start {
    int64_t begin_ns, end_ns;
} start;

static bool is_frame(const tm_raw_event *event) {
    return event->category == TM_CAT_PYTHON && event->kind == TM_DURATION;
}

static void find_starts(const tm_trace *trace, start *starts) {
    const tm_raw_event *events = trace->events.data;
    for (size_t t = 0; t < trace->tracks.n; t++)
        starts[t] = (start){INT64_MAX, INT64_MAX};
    for (size_t i = 0; i < trace->events.n; i++) {
        start *of = &starts[events[i].track];
        const int64_t end = events[i].begin_ns + events[i].duration_ns;
        if (!is_frame(&events[i]))
            continue;
        of->begin_ns = events[i].begin_ns < of->begin_ns ? events[i].begin_ns : of->begin_ns;
        of->end_ns = end < of->end_ns ? end : of->end_ns;
    }
}

/* Returns whether a frame may have run when the profiler started. The frame must start soon after
 * the first frame of its thread, and before any frame of the thread ends. */
static bool may_run(const tm_raw_event *event, const start *starts) {
    const start *of = &starts[event->track];
    return event->begin_ns <= of->begin_ns + BEGIN_NS && event->begin_ns < of->end_ns;
}

/* Returns the name that later calls of the function in frame @p own have. Returns @p own if it is
 * unknown. */
static uint32_t function_of(const tm_names *names, const bool *later, size_t n, uint32_t own) {
    frame is, other;
    int64_t line = -1;
    uint32_t found = own;
    if (later[own] || !read_frame(tm_names_text(names, own), &is))
        return own;
    for (uint32_t name = 0; name < n; name++) {
        if (!later[name] || !read_frame(tm_names_text(names, name), &other) ||
            other.line > is.line || other.line <= line || !same(is.name, other.name) ||
            !same(is.file, other.file))
            continue;
        line = other.line;
        found = name;
    }
    return found;
}

tm_status tm_kineto_name_frames(tm_trace *trace, const tm_names *names, tm_error *err) {
    const size_t n = tm_names_count(names);
    tm_raw_event *events = trace->events.data;
    start *starts = calloc(trace->tracks.n + 1, sizeof *starts);
    bool *later = calloc(n + 1, sizeof *later);
    const bool ok = starts && later;
    if (ok)
        find_starts(trace, starts);
    for (size_t i = 0; i < trace->events.n && ok; i++)
        if (is_frame(&events[i]) && !may_run(&events[i], starts))
            later[events[i].name] = true;
    for (size_t i = 0; i < trace->events.n && ok; i++)
        if (is_frame(&events[i]) && may_run(&events[i], starts))
            events[i].name = function_of(names, later, n, events[i].name);
    free(starts);
    free(later);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Writes events in Kineto's JSON form: elements of traceEvents. Private to the Perfetto reader. */
#ifndef TMERGE_PERFETTO_EVENTS_H
#define TMERGE_PERFETTO_EVENTS_H

#include "perfetto_state.h"
#include "perfetto_tracks.h"

/** The fields of a TrackEvent except its args. */
typedef struct tm_pf_event {
    uint32_t type;
    uint32_t phase; /* Only in legacy events: a letter of Chrome's format, or 0 if there is none. */
    bool has_track, has_legacy_time, has_delta, has_duration, has_counter, real_counter;
    uint64_t track;
    int64_t legacy_us, duration_us;
    uint64_t counter; /* value of a counter, as bits: an int64 or a double */
    uint64_t name_id, category_id;
    tm_text name, category;  /* empty if interned */
    tm_wire_message message; /* the whole event, from which args are read */
} tm_pf_event;

/** An event with its track and time. */
typedef struct tm_pf_placed {
    tm_pf_event event;
    uint32_t type; /* tm_pf_event_type */
    uint32_t track;
    int64_t time_ns;
} tm_pf_placed;

void tm_pf_event_parse(tm_wire_message message, tm_pf_event *out);

/** Returns the type of an event. The type of a legacy event follows from its phase. Returns
 * TYPE_NONE if the event must be dropped. */
uint32_t tm_pf_event_type(const tm_pf_event *event);

typedef struct tm_pf_writer {
    const tm_pf_state *state;
    tm_pf_tracks *tracks;
    int64_t base_ns;                /* base time [ns], subtracted from all times */
    tm_vec *out;                    /* vector of char: the JSON is appended here */
    tm_vec name, category, scratch; /* vector of char */
    bool any;                       /* whether at least one element has been written */
    bool exported;                  /* whether tmerge exported the trace */
    /* Only for a tmerge export: whether a counter event is open, to whose args further series can
     * be added. The next two members are its time and its name. */
    bool counting;
    int64_t counted_ns;
    tm_text counted;
} tm_pf_writer;

#define TM_PF_WRITER()                                                                             \
    ((tm_pf_writer){.name = TM_VEC(char), .category = TM_VEC(char), .scratch = TM_VEC(char)})

void tm_pf_writer_free(tm_pf_writer *writer);

/* These functions return false if out of memory. */

/** Writes the names of processes and threads. */
bool tm_pf_write_names(tm_pf_writer *w);

/** Writes a slice. @param duration_ns TM_PF_OPEN if the slice has no end */
bool tm_pf_write_slice(tm_pf_writer *w, const tm_pf_sequence *s, const tm_pf_placed *e,
                       int64_t duration_ns);

bool tm_pf_write_instant(tm_pf_writer *w, const tm_pf_sequence *s, const tm_pf_placed *e);

bool tm_pf_write_counter(tm_pf_writer *w, const tm_pf_sequence *s, const tm_pf_placed *e);

/** Writes the text after the last element. */
bool tm_pf_write_end(tm_pf_writer *w);

/** Writes a stage of a GPU: a kernel, a copy, a range. */
bool tm_pf_write_stage(tm_pf_writer *w, const tm_pf_sequence *s, tm_wire_message stage,
                       int64_t time_ns);

/** Writes values of a GPU's counters. */
bool tm_pf_write_gpu_counters(tm_pf_writer *w, const tm_pf_sequence *s, tm_wire_message values,
                              int64_t time_ns);

/* The following functions are shared by the files that write JSON. */

/** Starts an element with {"ph":"X", where X is @p phase. Members can be written after it. */
bool tm_pf_begin_element(tm_pf_writer *w, char phase);
bool tm_pf_put_member(tm_pf_writer *w, const char *key, tm_text json);
bool tm_pf_put_times(tm_pf_writer *w, int64_t time_ns, bool slice, int64_t duration_ns);

#endif

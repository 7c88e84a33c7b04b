/* Perfetto's native trace: a Trace message of TracePackets. The numbers are field numbers of
 * Perfetto's .proto files; tests/cli/perfetto_trace.py lists the messages. */
#ifndef TMERGE_EXPORT_EXPORT_PERFETTO_H
#define TMERGE_EXPORT_EXPORT_PERFETTO_H

#include "base/deflate.h"
#include "export.h"
#include "nest.h"
#include "proto.h"

enum { TRACE_PACKET = 1 };

enum {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_COMPRESSED = 50,
    PACKET_CLOCK = 58,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_FIRST_OF_SEQUENCE = 87,
};

/* Values of PACKET_FLAGS. STATE_CLEARED: the names that were interned earlier in the sequence are
 * no longer valid. STATE_NEEDED: the packet needs interned names. */
enum { STATE_CLEARED = 1, STATE_NEEDED = 2 };

enum {
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_COUNTER = 30,
    EVENT_COUNTER_REAL = 44,
    EVENT_FLOW = 47,
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

/* Tables of interned texts; each entry has an id and a text. */
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ANNOTATION = 3 };
enum { ENTRY_ID = 1, ENTRY_TEXT = 2 };

typedef enum tm_perfetto_counter_kind {
    COUNTER_ALLOCATED, /* counters of a device; `a` and `b` are the device's type and number */
    COUNTER_RESERVED,
    /* A series of a counter that the trace contains. `a` and `b` are the name ids of the counter
     * and of the series. */
    COUNTER_SERIES
} tm_perfetto_counter_kind;

typedef struct tm_perfetto_counter {
    uint64_t id;           /* id of the counter's track */
    int64_t a, b;          /* identify the counter within the rank, see tm_perfetto_counter_kind */
    const tm_track *track; /* only for a series: the track whose events report it */
    tm_perfetto_counter_kind kind;
} tm_perfetto_counter;

typedef struct tm_perfetto {
    tm_proto block; /* packets that are not yet compressed */
    tm_deflate *deflate;
    uint8_t *packed;
    uint64_t last_id;  /* last track id used */
    uint32_t sequence; /* sequence of the rank */
    int64_t first_row; /* job-wide row of the rank's first event */
    uint64_t rank_id;  /* id of the rank's process track */
    uint8_t *interned; /* [number of names / 8 + 1] a bit for each name, set if it is interned
                          in the sequence */
    tm_export_scan scan;
    size_t next_launch; /* index of the first launch whose call the walk has not passed yet */
    tm_nest nest;
    tm_vec counters; /* tm_perfetto_counter elements: the counters of the rank */
    tm_out text;
} tm_perfetto;

/**
 * Allocates memory for the compression.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_perfetto_pack_begin(tm_perfetto *p, tm_error *err) TM_MUST_CHECK;
void tm_perfetto_pack_end(tm_perfetto *p);

/** Compresses the block into the output if it is full or @p all is set. */
tm_status tm_perfetto_pack(tm_export *x, bool all, tm_error *err) TM_MUST_CHECK;

/** Starts a packet of the rank's sequence, to be ended with tm_proto_end. */
size_t tm_perfetto_packet(tm_perfetto *p, uint32_t flags);

/** Writes a text as UTF-8. Each invalid byte is replaced by U+FFFD. */
void tm_perfetto_text(tm_perfetto *p, uint32_t field, tm_text text);

/** Writes a packet that makes Perfetto sort the processes by rank. */
void tm_perfetto_root(tm_perfetto *p);

/** Writes the packets before a rank's events: its sequence and its process track. */
void tm_perfetto_begin_rank(tm_export *x, const tm_timeline *timeline);

/**
 * Makes a track for slices of the rank.
 * @param place  position of the track among the rank's tracks
 * @return       the id of the track
 */
uint64_t tm_perfetto_track(tm_perfetto *p, tm_text name, int place);

/** Makes a sub-track for a track of the timeline. Returns the id of the sub-track. */
uint64_t tm_perfetto_subtrack(tm_export *x, const tm_timeline *timeline, const tm_track *track);

/** Writes the values of an event's counters, each in its own packet. */
void tm_perfetto_counters(tm_export *x, const tm_track *track, const tm_export_event *event);

/** Writes the names of all annotations into the open InternedData of the rank's sequence. */
void tm_perfetto_intern_notes(tm_perfetto *p);

/** Writes an event's annotations into its open TrackEvent. */
void tm_perfetto_notes(tm_export *x, const tm_timeline *timeline, const tm_export_event *event);

#endif

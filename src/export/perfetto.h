/* Perfetto's native trace: a Trace message of TracePackets. The numbers are those of the fields in
 * Perfetto's .proto files; tests/cli/perfetto_trace.py has the messages. */
#ifndef TMERGE_EXPORT_PERFETTO_H
#define TMERGE_EXPORT_PERFETTO_H

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

/* Values of PACKET_FLAGS: what the sequence interned before counts no more; it does. */
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

/* Tables of interned texts, each of entries with an id and a text. */
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ANNOTATION = 3 };
enum { ENTRY_ID = 1, ENTRY_TEXT = 2 };

typedef enum tm_perfetto_counter_kind {
    COUNTER_ALLOCATED, /* of a device: its type and number */
    COUNTER_RESERVED,
    COUNTER_SERIES /* of the trace: the names of the event and of the series */
} tm_perfetto_counter_kind;

typedef struct tm_perfetto_counter {
    uint64_t id;           /* of its track */
    int64_t a, b;          /* what tells the rank's counters apart, and */
    const tm_track *track; /* of a series: that of its events */
    tm_perfetto_counter_kind kind;
} tm_perfetto_counter;

typedef struct tm_perfetto {
    tm_proto block; /* packets that are not yet compressed */
    tm_deflate *deflate;
    uint8_t *packed;         /* where it writes to */
    uint64_t last_id;        /* of a track; those before it are taken */
    uint32_t sequence;       /* of the rank */
    int64_t first_row;       /* of the rank: the job-wide row of its first event */
    uint64_t rank_id;        /* of the rank's process track */
    uint8_t *interned;       /* [names / 8 + 1] a bit a name: the sequence has it */
    tm_export_survey survey; /* of the rank */
    size_t next_launch;      /* the first of a call that is not behind */
    tm_nest nest;
    tm_vec counters; /* of tm_perfetto_counter, of the rank */
    tm_out text;     /* to put texts together */
} tm_perfetto;

/** Memory for the compression. TM_OK; TM_ERR_FAULT. */
tm_status tm_perfetto_pack_begin(tm_perfetto *p, tm_error *err) TM_MUST_CHECK;
void tm_perfetto_pack_end(tm_perfetto *p);

/** Compresses the block into the output, if there is enough of it or @p all is asked for. */
tm_status tm_perfetto_pack(tm_export *x, bool all, tm_error *err) TM_MUST_CHECK;

/** Begins a packet of the rank's sequence, which tm_proto_end ends. */
size_t tm_perfetto_packet(tm_perfetto *p, uint32_t flags);

/** Text as UTF-8: bad bytes as U+FFFD. */
void tm_perfetto_text(tm_perfetto *p, uint32_t field, tm_text text);

/** The packet that has Perfetto show the processes in the order of their ranks. */
void tm_perfetto_root(tm_perfetto *p);

/** The packets in front of a rank's events: its sequence, and its process track. */
void tm_perfetto_begin_rank(tm_export *x, const tm_timeline *timeline);

/** A track of the rank's that takes slices. @p place  among the rank's tracks, which are shown in
 * this order. Returns its id. */
uint64_t tm_perfetto_track(tm_perfetto *p, tm_text name, int place);

/** A lane of one of the timeline's tracks. */
uint64_t tm_perfetto_lane(tm_export *x, const tm_timeline *timeline, const tm_track *track);

/** The values of an event's counters, in packets of their own. */
void tm_perfetto_counters(tm_export *x, const tm_track *track, const tm_export_event *event);

/** Interns their names for the rank's sequence; into an open InternedData. */
void tm_perfetto_intern_notes(tm_perfetto *p);

/** What is told of an event, into its open TrackEvent. */
void tm_perfetto_notes(tm_export *x, const tm_timeline *timeline, const tm_export_event *event);

#endif

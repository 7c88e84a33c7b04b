/* An XSpace, what the profiler of TensorFlow and JAX writes: planes of lines of events. A first
 * pass over the file keeps all but the events, whose names stand behind them; events are then read
 * line by line, in any order. */
#ifndef TMERGE_XPLANE_SPACE_H
#define TMERGE_XPLANE_SPACE_H

#include "base/arena.h"
#include "base/vec.h"
#include "readers/wire.h"

/** What a stat's value is: the field of XStat that holds it. */
typedef enum tm_xvalue {
    TM_X_NONE = 0,
    TM_X_DOUBLE = 2,
    TM_X_UINT64 = 3,
    TM_X_INT64 = 4,
    TM_X_TEXT = 5,
    TM_X_BYTES = 6,
    TM_X_REF = 7 /* the name of another stat is the text: tm_xstat_text */
} tm_xvalue;

typedef struct tm_xstat {
    int64_t id;   /* of its name */
    int64_t i;    /* an integer of either kind, modulo 2^64; of TM_X_REF an id */
    double r;     /* TM_X_DOUBLE; of an integer the same as a real */
    tm_text text; /* TM_X_TEXT, TM_X_BYTES: borrowed */
    uint8_t type; /* tm_xvalue */
} tm_xstat;

/** In which field of a message its stats stand. */
enum { TM_X_EVENT_STATS = 4, TM_X_METADATA_STATS = 5, TM_X_PLANE_STATS = 6 };

/** Reads an XStat. False where it is damaged. */
bool tm_xstat_read(tm_wire_message message, tm_xstat *out);

/**
 * Takes the next stat of a message.
 * @param field  one of the three above
 * @return       false at its end, and where it is damaged: tm_wire_damaged
 */
bool tm_xstat_next(tm_wire_message *message, uint32_t field, tm_xstat *out);

/** Event metadata: what events of one name share. */
typedef struct tm_xmeta {
    int64_t id;
    int64_t begin, end; /* where it lies in the content */
    tm_text name, display_name;
    tm_wire_message message; /* all of it, for its stats; empty where it is over 1 MiB */
} tm_xmeta;

/** The name of a stat. */
typedef struct tm_xname {
    int64_t id;
    int64_t begin; /* where it lies in the content */
    tm_text name;
} tm_xname;

typedef struct tm_xline {
    int64_t id;
    int64_t timestamp_ns;       /* what its events' offsets count from */
    tm_text name, display_name; /* the second is often empty */
    int64_t n_events;
    int64_t begin, end; /* where it lies in the content */
} tm_xline;

typedef struct tm_xplane {
    int64_t id;
    tm_text name;
    tm_vec lines;       /* of tm_xline, in the file's order */
    tm_vec metadata;    /* of tm_xmeta, ascending in id, no two alike */
    tm_vec stat_names;  /* of tm_xname, ascending in id, no two alike */
    tm_vec places[2];   /* of uint32_t: where the ids of those two stand, from the lowest id on;
                           empty where they lie far apart */
    tm_vec stats;       /* of tm_wire_message: an XStat each, for tm_xstat_of */
    int64_t begin, end; /* where it lies in the content */
} tm_xplane;

/** All texts and messages are borrowed from the arena. */
typedef struct tm_space {
    tm_wire wire;
    tm_arena arena;
    tm_vec planes;                      /* of tm_xplane, in the file's order */
    tm_vec errors, warnings, hostnames; /* of tm_text */
    int64_t line_end;                   /* of the line whose events are being read */
    int64_t n_large;                    /* metadata over 1 MiB, whose stats are not kept */
} tm_space;

/** Whether all bytes above 0x7F became U+FFFD, as where a file was saved as text: it cannot be
 * read any more. Of a space the lengths alone have such bytes otherwise. */
bool tm_space_was_text(const uint8_t *bytes, size_t size);

/**
 * Reads all but the events. Free it with tm_space_close, whatever comes of the call.
 * @return  TM_OK; TM_ERR_INPUT with the offset of the field that cannot be read; TM_ERR_FAULT
 */
tm_status tm_space_open(tm_source *source, tm_space *out, tm_error *err) TM_MUST_CHECK;
void tm_space_close(tm_space *space);

/** One event. */
typedef struct tm_xevent {
    int64_t metadata; /* id */
    int64_t offset_ps, duration_ps;
    int64_t occurrences;     /* of one that stands for several and has no time; else 0 */
    tm_wire_message message; /* for its stats, valid until the next event is read */
} tm_xevent;

/** Goes to the events of a line. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_space_enter(tm_space *space, const tm_xline *line, tm_error *err) TM_MUST_CHECK;

/**
 * Takes the bytes of the next one where all of it lies in the window; behind them TM_WIRE_SLACK can
 * be read.
 * @return  false where it does not, or no event stands next: tm_space_next finds out
 */
bool tm_space_held(tm_space *space, tm_wire_message *out);

/** What tm_space_next makes of an event's bytes. TM_OK; TM_ERR_INPUT where they are damaged. */
tm_status tm_space_read_event(const tm_space *space, tm_wire_message body, tm_xevent *out,
                              tm_error *err) TM_MUST_CHECK;

/** Takes the next one; @p more is false behind the last. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_space_next(tm_space *space, tm_xevent *out, bool *more, tm_error *err) TM_MUST_CHECK;

/** Fails because the event at hand has a stat that cannot be read. */
tm_status tm_space_fail_stat(const tm_space *space, const uint8_t *at, tm_error *err);

/** The metadata of an id, NULL where there is none. */
const tm_xmeta *tm_xplane_metadata(const tm_xplane *plane, int64_t id);

/** The name that a stat's id has; an empty text where it has none. */
tm_text tm_xplane_stat_name(const tm_xplane *plane, int64_t id);

/** The place of a stat's id in plane->stat_names; SIZE_MAX where it is none. */
size_t tm_xplane_stat_index(const tm_xplane *plane, int64_t id);

/** The text of a stat that has one, by value or by reference; else an empty one. */
tm_text tm_xstat_text(const tm_xplane *plane, const tm_xstat *stat);

/** The stat of a plane itself by its name. False where it has none. */
bool tm_xplane_stat(const tm_xplane *plane, const char *name, tm_xstat *out);

/** The first plane of a name, NULL where there is none. */
const tm_xplane *tm_space_plane(const tm_space *space, const char *name);

static inline bool tm_text_is(tm_text text, const char *string) {
    size_t size = strlen(string);
    return text.size == size && memcmp(text.bytes, string, size) == 0;
}
static inline bool tm_text_begins(tm_text text, const char *string) {
    size_t size = strlen(string);
    return text.size >= size && memcmp(text.bytes, string, size) == 0;
}

#endif

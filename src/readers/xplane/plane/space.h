/* Reads an XSpace, the format of TensorFlow's and JAX's profiler. An XSpace has planes, a plane has
 * lines, and a line has events. The first pass over the file keeps everything except events,
 * because the names of the events come after them. Then the lines are read in any order, event by
 * event. */
#ifndef TMERGE_XPLANE_SPACE_H
#define TMERGE_XPLANE_SPACE_H

#include "base/arena.h"
#include "base/letters.h"
#include "base/vec.h"
#include "readers/wire.h"

/** Type of a stat's value. It is the number of the field of XStat that contains the value. */
typedef enum tm_xvalue {
    TM_X_NONE = 0,
    TM_X_DOUBLE = 2,
    TM_X_UINT64 = 3,
    TM_X_INT64 = 4,
    TM_X_TEXT = 5,
    TM_X_BYTES = 6,
    TM_X_REF = 7 /* the text is the name of another stat: see tm_xstat_text */
} tm_xvalue;

typedef struct tm_xstat {
    int64_t id; /* id of the stat's name */
    int64_t
        i; /* an integer (a value above INT64_MAX wraps to a negative one); for a TM_X_REF, an id */
    double r;     /* the value of a TM_X_DOUBLE or of an integer as a double */
    tm_text text; /* TM_X_TEXT, TM_X_BYTES: borrowed */
    uint8_t type; /* tm_xvalue */
} tm_xstat;

/** Field number of the stats in each kind of message. */
enum { TM_X_EVENT_STATS = 4, TM_X_METADATA_STATS = 5, TM_X_PLANE_STATS = 6 };

/** Reads an XStat. Returns false if it is damaged. */
bool tm_xstat_read(tm_wire_message message, tm_xstat *out);

/** A metadata entry, which all events of the same name share. */
typedef struct tm_xmeta {
    int64_t id;
    int64_t begin, end; /* offsets of the entry in the content */
    tm_text name, display_name;
    /* the whole message, from which the stats are read; empty if it is larger than 1 MiB */
    tm_wire_message message;
} tm_xmeta;

/** The name of a stat. */
typedef struct tm_xname {
    int64_t id;
    int64_t begin; /* offset of the name in the content */
    tm_text name;
} tm_xname;

typedef struct tm_xline {
    int64_t id;
    /* start time of the line; the offsets of its events are relative to this time */
    int64_t timestamp_ns;
    tm_text name, display_name; /* display_name is often empty */
    int64_t n_events;
    int64_t begin, end; /* offsets of the line in the content */
} tm_xline;

typedef struct tm_xplane {
    int64_t id;
    tm_text name;
    tm_vec lines;      /* vector of tm_xline, in file order */
    tm_vec metadata;   /* vector of tm_xmeta, ascending in id; each id occurs once */
    tm_vec stat_names; /* vector of tm_xname, ascending in id; each id occurs once */
    /* vectors of uint32_t: places[0] for `metadata`, places[1] for `stat_names`. Element i is the
     * index of the entry with the id (lowest id + i). Empty if ids are far apart. */
    tm_vec places[2];
    tm_vec stats;       /* vector of tm_wire_message: the plane's own stats, for tm_xplane_stat */
    int64_t begin, end; /* offsets of the plane in the content */
} tm_xplane;

/** All texts and messages are in the arena. */
typedef struct tm_space {
    tm_wire wire;
    tm_arena arena;
    tm_vec planes;                      /* vector of tm_xplane, in file order */
    tm_vec errors, warnings, hostnames; /* vector of tm_text */
    int64_t line_end;                   /* end of the line whose events are being read */
    int64_t n_large; /* number of metadata entries over 1 MiB, whose stats are not kept */
} tm_space;

/** Whether the file was saved as text. Saving as text turns all bytes above 0x7F into U+FFFD, and
 * makes the file unreadable. (In an undamaged space, the first such bytes belong to lengths.) */
bool tm_space_was_text(const uint8_t *bytes, size_t size);

/**
 * Reads everything except events. The caller must call tm_space_close, also after a failure.
 *
 * @return  TM_OK; TM_ERR_INPUT with the offset of an unreadable field; TM_ERR_FAULT
 */
tm_status tm_space_open(tm_source *source, tm_space *out, tm_error *err) TM_MUST_CHECK;
void tm_space_close(tm_space *space);

typedef struct tm_xevent {
    int64_t metadata; /* id of its metadata entry */
    int64_t offset_ps, duration_ps;
    /* If this event stands for several events whose times are not in the file: their number.
     * Otherwise 0. */
    int64_t occurrences;
    /* the event, from which its stats are read; valid until the next event is read */
    tm_wire_message message;
} tm_xevent;

/** Moves to the events of a line. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_space_enter(tm_space *space, const tm_xline *line, tm_error *err) TM_MUST_CHECK;

/**
 * Takes the bytes of the next event if all of them are in the window. TM_WIRE_SLACK bytes after the
 * event are readable.
 *
 * @return  false if the event is not complete, or if something else than an event is next; call
 *          tm_space_next in this case
 */
bool tm_space_held(tm_space *space, tm_wire_message *out);

/** Parses the bytes of an event, like tm_space_next. TM_OK; TM_ERR_INPUT if the bytes are
 * damaged. */
tm_status tm_space_read_event(const tm_space *space, tm_wire_message body, tm_xevent *out,
                              tm_error *err) TM_MUST_CHECK;

/** Takes the next event. @p more is false after the last event. TM_OK; TM_ERR_INPUT;
 * TM_ERR_FAULT. */
tm_status tm_space_next(tm_space *space, tm_xevent *out, bool *more, tm_error *err) TM_MUST_CHECK;

/** Fails because the current event has an unreadable stat. */
tm_status tm_space_fail_stat(const tm_space *space, const uint8_t *at, tm_error *err);

/** Returns the metadata entry with an id; NULL if there is none. */
const tm_xmeta *tm_xplane_metadata(const tm_xplane *plane, int64_t id);

/** Returns the name of the stat with an id; an empty text if there is no such stat. */
tm_text tm_xplane_stat_name(const tm_xplane *plane, int64_t id);

/** Returns the index of a stat's id in plane->stat_names; SIZE_MAX if absent. */
size_t tm_xplane_stat_index(const tm_xplane *plane, int64_t id);

/** Returns the text of a stat. The stat has the text itself, or refers to it. If the stat is not a
 * text, returns an empty text. */
tm_text tm_xstat_text(const tm_xplane *plane, const tm_xstat *stat);

/** Finds a stat of the plane itself by its name. Returns false if it is absent. */
bool tm_xplane_stat(const tm_xplane *plane, const char *name, tm_xstat *out);

/** Returns the first plane with a name; NULL if there is none. */
const tm_xplane *tm_space_plane(const tm_space *space, const char *name);

#endif

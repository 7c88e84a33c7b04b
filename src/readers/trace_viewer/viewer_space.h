/* Builds an XSpace in memory. An XSpace is the format of TensorFlow's and JAX's profiler, encoded
 * as protocol buffers. It has planes, a plane has lines, a line has events, and an event has stats.
 * Private to the reader of the trace viewer's JSON. */
#ifndef TMERGE_VIEWER_SPACE_H
#define TMERGE_VIEWER_SPACE_H

#include "base/vec.h"
#include "tmerge/names.h"

/** The caller assigns numbers below this to stats. */
enum { TM_VIEWER_STATS = 64 };

/** A line: a thread or stream. Names are ids of `texts`. */
typedef struct tm_viewer_line {
    int64_t process, id; /* numbers of the process and thread in the JSON */
    uint32_t name;
    tm_vec events; /* vector of uint8_t: the encoded fields of its XLine */
} tm_viewer_line;

typedef struct tm_viewer_plane {
    int64_t process;
    int64_t core;  /* number of a TPU's core in the job, -1 none */
    uint32_t name; /* TM_NO_NAME: not named */
    /* vector of uint32_t, by the name id of a metadata entry: 1 + id of the displayed name; 0: the
     * plane does not use this entry */
    tm_vec metas;
    tm_vec texts; /* vector of uint8_t, by name id: 1 if a stat of this plane has this name as its
                     value */
} tm_viewer_plane;

typedef struct tm_viewer_space {
    tm_names *texts; /* owned */
    tm_vec planes, lines;
    size_t last;  /* index of the line that was used last */
    tm_vec stats; /* vector of uint8_t: stats of the current event */
} tm_viewer_space;

/** Returns false if out of memory. */
bool tm_viewer_space_init(tm_viewer_space *space);
void tm_viewer_space_free(tm_viewer_space *space);

/** Return the plane of a process, or a line of a process. A plane or line that does not exist yet
 * is added. Return NULL if out of memory. */
tm_viewer_plane *tm_viewer_plane_of(tm_viewer_space *space, int64_t process);
tm_viewer_line *tm_viewer_line_of(tm_viewer_space *space, int64_t process, int64_t id);

/** Add a stat to the next event. Return false if out of memory. */
bool tm_viewer_add_int(tm_viewer_space *space, uint32_t stat, int64_t value);
bool tm_viewer_add_real(tm_viewer_space *space, uint32_t stat, double value);
bool tm_viewer_add_text(tm_viewer_space *space, tm_viewer_plane *plane, uint32_t stat,
                        uint32_t text);

/** An event of a line. */
typedef struct tm_viewer_event {
    /* name: id of the name in the event's metadata. shown: id of the displayed name; TM_NO_NAME if
     * it is the same name. */
    uint32_t name, shown;
    int64_t begin_ps, duration_ps;
} tm_viewer_event;

/** Adds an event with the stats added since the last event. Returns false if out of memory. */
bool tm_viewer_add_event(tm_viewer_space *space, tm_viewer_line *line, tm_viewer_plane *plane,
                         const tm_viewer_event *event);

/**
 * Writes everything that was added, and then frees it.
 *
 * @param stats  [n] name of each stat number; NULL: the number is not used. The last number is the
 *               stat that holds the cores of planes.
 * @param out    vector of uint8_t
 * @return       false if out of memory
 */
bool tm_viewer_write(tm_viewer_space *space, const char *const *stats, uint32_t n, tm_vec *out);

#endif

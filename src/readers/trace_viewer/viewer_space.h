/* Builds an XSpace, what the profiler of TensorFlow and JAX writes, in memory: planes of lines of
 * events with stats (protocol buffers). Private to the reader of the trace viewer's JSON. */
#ifndef TMERGE_VIEWER_SPACE_H
#define TMERGE_VIEWER_SPACE_H

#include "base/vec.h"
#include "tmerge/names.h"

/** Stats have the numbers that the caller gives their names: below this. */
enum { TM_VIEWER_STATS = 64 };

/** A thread or stream. Names are ids of `texts`. */
typedef struct tm_viewer_line {
    int64_t process, id; /* as the file has them */
    uint32_t name;
    tm_vec events; /* of uint8_t: fields of XLine */
} tm_viewer_line;

typedef struct tm_viewer_plane {
    int64_t process;
    int64_t core;  /* of a TPU: its number, -1 none */
    uint32_t name; /* TM_NO_NAME: no record names it */
    tm_vec metas;  /* of uint32_t: the name that events of this metadata are shown by + 1, by the
                      id of their metadata's; 0: none in this plane */
    tm_vec texts;  /* of uint8_t, by name id: 1 where a stat of this plane refers to it */
} tm_viewer_plane;

typedef struct tm_viewer_space {
    tm_names *texts; /* owned */
    tm_vec planes, lines;
    size_t last;  /* the line met last */
    tm_vec stats; /* of uint8_t: those of the event at hand */
} tm_viewer_space;

/** False when memory is out. */
bool tm_viewer_space_init(tm_viewer_space *space);
void tm_viewer_space_free(tm_viewer_space *space);

/** A plane and a line by their numbers, new or known; NULL when memory is out. */
tm_viewer_plane *tm_viewer_plane_of(tm_viewer_space *space, int64_t process);
tm_viewer_line *tm_viewer_line_of(tm_viewer_space *space, int64_t process, int64_t id);

/** Add a stat to the event that is added next. False when memory is out. */
bool tm_viewer_add_int(tm_viewer_space *space, uint32_t stat, int64_t value);
bool tm_viewer_add_real(tm_viewer_space *space, uint32_t stat, double value);
bool tm_viewer_add_text(tm_viewer_space *space, tm_viewer_plane *plane, uint32_t stat,
                        uint32_t text);

/** An event of a line. */
typedef struct tm_viewer_event {
    uint32_t name, shown; /* its metadata's, and what it is shown by; TM_NO_NAME: the same */
    int64_t begin_ps, duration_ps;
} tm_viewer_event;

/** Adds an event, with the stats that were added before it. False when memory is out. */
bool tm_viewer_add_event(tm_viewer_space *space, tm_viewer_line *line, tm_viewer_plane *plane,
                         const tm_viewer_event *event);

/**
 * Writes all that was added, and drops it on the way.
 * @param stats  [n] the names of the stats by their numbers; NULL: a number that none has; the last
 *               is of the planes' cores
 * @param out    of uint8_t
 * @return       false when memory is out
 */
bool tm_viewer_write(tm_viewer_space *space, const char *const *stats, uint32_t n, tm_vec *out);

#endif

/* Splits the events of a track into sub-tracks. On a sub-track, an event that starts
 * inside another event also ends inside it. */
#ifndef TMERGE_EXPORT_NEST_H
#define TMERGE_EXPORT_NEST_H

#include <stdint.h>

#include "base/vec.h"

/** A sub-track with its open events. */
typedef struct tm_subtrack {
    uint64_t id; /* id of its track in the output, set by the caller; 0 in a new sub-track */
    tm_vec ends; /* vector of int64_t: ends of the open events, the outermost first */
} tm_subtrack;

/** The sub-tracks of one track. */
typedef struct tm_nest {
    /* Vector of tm_subtrack, owned. The subtracks from n_used on are not in use, but keep their
     * memory. */
    tm_vec subtracks;
    size_t n_used;
} tm_nest;

#define TM_NEST() ((tm_nest){.subtracks = TM_VEC(tm_subtrack)})

/** Starts a track without sub-tracks. */
void tm_nest_restart(tm_nest *nest);

/**
 * Returns the first sub-track on which the event crosses no other event. If there is none, returns
 * a new sub-track.
 * @param begin_ns  not before the begin_ns of the event that was placed last
 * @return          the sub-track, valid until the next call; NULL when out of memory
 */
tm_subtrack *tm_nest_place(tm_nest *nest, int64_t begin_ns, int64_t end_ns);

/** Opens an event on the sub-track that it was placed on. Returns false when out of memory. */
bool tm_subtrack_open(tm_subtrack *subtrack, int64_t end_ns);

/** Closes the innermost open event if it ends by @p now_ns. Returns false if it ends later, or if
 * no event is open. */
bool tm_subtrack_close(tm_subtrack *subtrack, int64_t now_ns, int64_t *end_ns);

void tm_nest_free(tm_nest *nest);

#endif

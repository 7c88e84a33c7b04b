/* Splits the events of a track into sub-tracks ("lanes") so that on each, an event that starts
 * inside another also ends inside it. */
#ifndef TMERGE_EXPORT_NEST_H
#define TMERGE_EXPORT_NEST_H

#include <stdint.h>

#include "base/vec.h"

/** A sub-track with its open events. */
typedef struct tm_lane {
    uint64_t id; /* id of its track, set by the caller; 0 in a new sub-track */
    tm_vec ends; /* of int64_t: ends of the open events, innermost last; an end is never later than
                    the one before it */
} tm_lane;

/** The sub-tracks of the current track. */
typedef struct tm_nest {
    tm_vec lanes; /* of tm_lane, owned; those after the first n_used keep their memory */
    size_t n_used;
} tm_nest;

#define TM_NEST() ((tm_nest){.lanes = TM_VEC(tm_lane)})

/** Begins another track, without sub-tracks. */
void tm_nest_restart(tm_nest *nest);

/**
 * Returns the first sub-track on which the event crosses no other event; a new one if there is
 * none.
 * @param begin_ns  not before that of the event placed last
 * @return          valid until the next call; NULL when out of memory
 */
tm_lane *tm_nest_place(tm_nest *nest, int64_t begin_ns, int64_t end_ns);

/** Opens an event on the sub-track that it was placed on. Returns false when out of memory. */
bool tm_lane_open(tm_lane *lane, int64_t end_ns);

/** Closes the innermost open event if it ends by @p now_ns; returns false if there is none. */
bool tm_lane_close(tm_lane *lane, int64_t now_ns, int64_t *end_ns);

void tm_nest_free(tm_nest *nest);

#endif

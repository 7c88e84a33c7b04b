/* Lanes for the events of a track: on each, an event that begins inside another ends inside it. */
#ifndef TMERGE_EXPORT_NEST_H
#define TMERGE_EXPORT_NEST_H

#include <stdint.h>

#include "base/vec.h"

/** A lane with its open events. */
typedef struct tm_lane {
    uint64_t id; /* the caller's; 0 for a new lane */
    tm_vec ends; /* of int64_t, the innermost last: none is larger than the one before it */
} tm_lane;

/** The lanes of one track after another. */
typedef struct tm_nest {
    tm_vec lanes; /* of tm_lane, owned; those behind the first n_used keep their memory */
    size_t n_used;
} tm_nest;

#define TM_NEST() ((tm_nest){.lanes = TM_VEC(tm_lane)})

/** Begins another track: no lanes. */
void tm_nest_restart(tm_nest *nest);

/**
 * The first lane that the event fits on, a new one where it crosses an event on each.
 *
 * @param begin_ns  not before that of the event placed last
 * @return          valid until the next call; NULL where memory is out
 */
tm_lane *tm_nest_place(tm_nest *nest, int64_t begin_ns, int64_t end_ns);

/** Opens an event on the lane that it was placed on. False where memory is out. */
bool tm_lane_open(tm_lane *lane, int64_t end_ns);

/** Closes the innermost open event if it ends by @p now_ns; false where there is none. */
bool tm_lane_close(tm_lane *lane, int64_t now_ns, int64_t *end_ns);

void tm_nest_free(tm_nest *nest);

#endif

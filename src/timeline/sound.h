/* Whether a timeline that was not built here is one that could have been. */
#ifndef TMERGE_SOUND_H
#define TMERGE_SOUND_H

#include "tmerge/timeline.h"

/**
 * Looks for what later code relies on and a damaged store may lack: rows and name ids that exist,
 * tracks that hold all events in order, attribute rows in the order of their events, times that can
 * be added. What an attribute says may be anything, as in a trace.
 *
 * @param timeline  all of its arrays are there; it is not changed
 * @param n_names   ids below it are names
 * @return          what is wrong, a text for a message; NULL where nothing is
 */
const char *tm_timeline_fault(tm_timeline *timeline, size_t n_names);

/** The same of all but the events and their attributes: of these their number alone is asked. */
const char *tm_timeline_frame_fault(tm_timeline *timeline, size_t n_names);

/** Rows of a rank, one behind another, as a timeline of their own. */
typedef struct tm_sound_rows {
    tm_timeline *rows;       /* NULL columns are not looked at; attributes name rows of the rank */
    size_t first;            /* row of the rank */
    int64_t begin_before_ns; /* of the row before it, where there is one; INT64_MIN not known */
} tm_sound_rows;

/** The same of these rows of a rank, whose frame was found good. */
const char *tm_rows_fault(const tm_timeline *rank, const tm_sound_rows *piece, size_t n_names);

#endif

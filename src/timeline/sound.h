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

#endif

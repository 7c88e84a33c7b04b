/* Packs the events of a timeline, so that they take less memory while they are not used. */
#ifndef TMERGE_PACKED_EVENTS_H
#define TMERGE_PACKED_EVENTS_H

#include "tmerge/timeline.h"

/** Packs the times, steps and launches of events, and most of their attributes, to about a third of
 * their size. Their arrays are NULL until they are opened. Names and kinds of events can still be
 * read. If the timeline is packed already, this is tm_timeline_close. TM_OK; TM_ERR_FAULT when out
 * of memory: the timeline is then unchanged. */
tm_status tm_timeline_pack(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

/** Unpacks the arrays that are not open. The unpacked arrays must not be changed. Does nothing to a
 * timeline that is not packed. TM_OK; TM_ERR_FAULT when out of memory. */
tm_status tm_timeline_open(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

/** Frees the open arrays of a packed timeline. Does nothing to other timelines. */
void tm_timeline_close(tm_timeline *timeline);

/** Like tm_timeline_close, but keeps the array whose pointer is at offset @p array in tm_timeline
 * open, if it is open. */
void tm_timeline_close_others(tm_timeline *timeline, size_t array);

/** Like tm_timeline_open, for the array whose pointer is at offset @p array in tm_timeline. Does
 * nothing if this array is never packed. */
tm_status tm_timeline_open_array(tm_timeline *timeline, size_t array, tm_error *err) TM_MUST_CHECK;

#endif

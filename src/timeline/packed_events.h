/* A timeline in less memory while its events are not used. */
#ifndef TMERGE_PACKED_EVENTS_H
#define TMERGE_PACKED_EVENTS_H

#include "tmerge/timeline.h"

/** Packs the times, steps and launches of events, and most of their attributes, to about a third of
 * their size. Their arrays are NULL until tm_timeline_unpack is called. Names and kinds of events
 * can still be read. TM_OK; TM_ERR_FAULT when out of memory: the timeline is then unchanged. */
tm_status tm_timeline_pack(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

/** Restores what tm_timeline_pack packed; does nothing to other timelines. TM_OK; TM_ERR_FAULT when
 * out of memory: only destroy the timeline then. */
tm_status tm_timeline_unpack(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif

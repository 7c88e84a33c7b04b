/* A timeline in less memory while its events are not used. */
#ifndef TMERGE_PACKED_EVENTS_H
#define TMERGE_PACKED_EVENTS_H

#include "tmerge/timeline.h"

/** Packs times, steps, launches and most attributes of events, to about a third. Until
 * tm_timeline_unpack, these are NULL; names and kinds can be read. TM_OK; TM_ERR_FAULT when out of
 * memory, with the timeline unchanged. */
tm_status tm_timeline_pack(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

/** Restores what tm_timeline_pack packed; does nothing to other timelines. TM_OK; TM_ERR_FAULT when
 * out of memory: only destroy the timeline then. */
tm_status tm_timeline_unpack(tm_timeline *timeline, tm_error *err) TM_MUST_CHECK;

#endif

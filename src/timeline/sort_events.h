/* The sorts that building a timeline needs: of a track's events, of calls, of attribute rows. */
#ifndef TMERGE_SORT_EVENTS_H
#define TMERGE_SORT_EVENTS_H

#include "trace.h"

/**
 * Sorts indices of events by the begins of the events. If begins are equal, longer events come
 * first. If lengths are equal, too, lower indices come first. Sorting is fast if the events are
 * nearly in order.
 * @param order    [n] indices into events, sorted in place
 * @param scratch  working memory: at least [n]
 * @return         false if out of memory
 */
bool tm_sort_events(const tm_raw_event *events, uint32_t *order, size_t n, uint32_t *scratch);

/** Sorts rows of TM_ATTR_LAUNCH by correlation id, the earliest call first. */
bool tm_sort_launches(const tm_trace *trace, uint32_t *order, size_t n, uint32_t *scratch);

/** Sorts attribute rows by the index of their event. The sort is stable. All indices must be below
 * @p n_events. Returns false if out of memory. */
bool tm_sort_attrs(tm_attr attr, tm_vec *rows, size_t n_events);

#endif

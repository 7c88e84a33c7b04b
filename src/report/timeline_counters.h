/* The counters that a rank's trace recorded, as few points as tell where they rise and fall. */
#ifndef TMERGE_REPORT_TIMELINE_COUNTERS_H
#define TMERGE_REPORT_TIMELINE_COUNTERS_H

#include "timeline_events.h"

/**
 * Appends how many series the rank has that are not 0 throughout, then of each the names of its
 * counter and series, how many points, their begins (from the one before, the first from the job's
 * begin), and their values as IEEE 754 numbers of four bytes, the lowest first. Of many points, of
 * each stretch the least and the most.
 *
 * @return  TM_OK; TM_ERR_FAULT
 */
tm_status tm_counters_put(const tm_event_writer *writer, const tm_timeline *timeline,
                          tm_event_draft *out, tm_error *err) TM_MUST_CHECK;

#endif

/* A rank's recorded counters, thinned to minima and maxima. */
#ifndef TMERGE_REPORT_TIMELINE_COUNTERS_H
#define TMERGE_REPORT_TIMELINE_COUNTERS_H

#include "timeline_events.h"

/** Appends the number of the rank's series, without those that are always 0. Then appends for each
 * series: the names of its counter and of the series, the number of points, their starts (relative
 * to the previous point, the first to the job's start), and their values as IEEE 754 numbers of
 * four bytes, lowest first. A long series is divided into stretches, each reduced to its minimum
 * and maximum.
 *
 * @return  TM_OK; TM_ERR_FAULT */
tm_status tm_counters_put(const tm_event_writer *writer, const tm_timeline *timeline,
                          tm_event_draft *out, tm_error *err) TM_MUST_CHECK;

#endif

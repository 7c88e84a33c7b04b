/* A rank's recorded counters, thinned to minima and maxima. */
#ifndef TMERGE_REPORT_TIMELINE_COUNTERS_H
#define TMERGE_REPORT_TIMELINE_COUNTERS_H

#include "timeline_events.h"

/** Appends the number of the rank's series, without those that are always 0. Then appends for each
 * series: the name of its counter, its own name, the number of points, their times (the first
 * relative to the job's start, each other to the previous point), and their values as little-endian
 * IEEE 754 numbers of four bytes. A long series is divided into stretches, and each is reduced to
 * its minimum and maximum.
 * @return TM_OK; TM_ERR_FAULT */
tm_status tm_counters_put(const tm_event_writer *writer, const tm_timeline *timeline,
                          tm_event_draft *out, tm_error *err) TM_MUST_CHECK;

#endif

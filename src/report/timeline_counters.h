/* A rank's recorded counters, thinned to minima and maxima. */
#ifndef TMERGE_REPORT_TIMELINE_COUNTERS_H
#define TMERGE_REPORT_TIMELINE_COUNTERS_H

#include "timeline_events.h"

/**
 * Appends the number of the rank's series. Series that are always 0 are left out. Then appends for
 * each series:
 * - name of the counter, name of the series, number of points;
 * - the times. The time of the first point is relative to the job's start. The time of any other
 *   point is relative to the previous point;
 * - the values, as little-endian IEEE 754 numbers of four bytes.
 *
 * A long series is divided into stretches. Each stretch is reduced to its minimum and maximum.
 *
 * @return  TM_OK; TM_ERR_FAULT
 */
tm_status tm_counters_put(const tm_event_writer *writer, const tm_timeline *timeline,
                          tm_event_encoding *out, tm_error *err) TM_MUST_CHECK;

#endif

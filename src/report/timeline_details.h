/* Details of events for their panels: what launched them, launch shapes, inputs, call stacks. */
#ifndef TMERGE_REPORT_TIMELINE_DETAILS_H
#define TMERGE_REPORT_TIMELINE_DETAILS_H

#include "timeline_events.h"

/** Details of events, in the order of the encoding. Each event may lack some of them. */
typedef enum tm_detail {
    TM_DETAIL_LAUNCH,      /* index of the call that launched the event */
    TM_DETAIL_CORRELATION, /* correlation id of a GPU event */
    TM_DETAIL_SHAPE,       /* index of a kernel's launch shape */
    TM_DETAIL_BYTES,       /* size of a copy or set [B] */
    TM_DETAIL_INPUTS,      /* name id of the text that lists the shapes of an operator's inputs */
    TM_DETAIL_STACK,       /* name id of the call stack */
    TM_N_DETAILS
} tm_detail;

/** Appends the details of the events that the last call of tm_events_put appended:
 * - place of the rank;
 * - number of launch shapes. Then for each launch shape: grid, block, registers, shared memory [B]
 *   and occupancy [0.01 %]. Each number is encoded as number + 1;
 * - for each tm_detail: number of events that have the detail, indices of these events among the
 *   rank's events, and their values. Each index is relative to the previous one, and so is each
 *   value, except names;
 * - the rank's counters (timeline_counters.h).
 * If the page holds only chosen parts, details of a GPU event are written only if the page also
 * holds the call that launched the event.
 *
 * @param at  the rank's index among all ranks
 * @return    TM_OK; TM_ERR_FAULT */
tm_status tm_details_put(const tm_event_writer *writer, const tm_timeline *timeline, size_t at,
                         tm_event_encoding *out, tm_error *err) TM_MUST_CHECK;

#endif

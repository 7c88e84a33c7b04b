/* What the panel of an event tells besides its columns: what launched it, and what it was given. */
#ifndef TMERGE_REPORT_TIMELINE_DETAILS_H
#define TMERGE_REPORT_TIMELINE_DETAILS_H

#include "timeline_events.h"

/** What is told of some of a rank's events, in the order of the page. */
typedef enum tm_detail {
    TM_DETAIL_LAUNCH,      /* the number of the call that launched it */
    TM_DETAIL_CORRELATION, /* of a GPU event */
    TM_DETAIL_SHAPE,       /* the number of a kernel's launch shape */
    TM_DETAIL_BYTES,       /* of a copy or set */
    TM_DETAIL_INPUTS,      /* the name that is the shapes of an operator's inputs */
    TM_DETAIL_STACK,       /* the name that is its call stack */
    TM_N_DETAILS
} tm_detail;

/**
 * Appends what is known of the events that tm_events_put has just put: place of the rank, then its
 * launch shapes: how many, and of each grid, block, registers, bytes of shared memory and
 * hundredths of a percent of occupancy, each + 1. Then of each tm_detail how many events have it,
 * their numbers among the rank's events (each from the one before), and the values, likewise but
 * for names. Last the rank's counters (timeline_counters.h). Of GPU events whose launch is not in
 * the page a page of chosen parts tells nothing.
 *
 * @param at  the rank's place among all ranks
 * @return    TM_OK; TM_ERR_FAULT
 */
tm_status tm_details_put(const tm_event_writer *writer, const tm_timeline *timeline, size_t at,
                         tm_event_draft *out, tm_error *err) TM_MUST_CHECK;

#endif

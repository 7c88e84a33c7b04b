/* Sanity checks of a timeline that was not built here, such as one from a damaged store. */
#ifndef TMERGE_SANITY_CHECK_H
#define TMERGE_SANITY_CHECK_H

#include "tmerge/timeline.h"

/**
 * Checks what later code relies on and a damaged store may violate: rows and name ids exist, tracks
 * cover all events in order, attribute rows are in the order of their events, times can be added
 * without overflow. Does not check the values of attributes.
 * @param timeline  with all of its arrays; not changed
 * @param n_names   ids below it are names
 * @return          description of the fault for a message; NULL if there is none
 */
const char *tm_timeline_fault(tm_timeline *timeline, size_t n_names);

/** The same, but of events and their attributes it checks only the number. */
const char *tm_timeline_frame_fault(tm_timeline *timeline, size_t n_names);

/** Consecutive rows of a rank, as a timeline of their own. */
typedef struct tm_sanity_check_rows {
    tm_timeline *rows; /* columns that are NULL are not checked; attributes refer to rows of the
                          rank */
    size_t first;      /* row of the rank at which these rows start */
    int64_t begin_before_ns; /* start of the row before these on its track; INT64_MIN: unknown */
} tm_sanity_check_rows;

/** Checks these rows. The rank must have passed tm_timeline_frame_fault. */
const char *tm_rows_fault(const tm_timeline *rank, const tm_sanity_check_rows *piece,
                          size_t n_names);

#endif

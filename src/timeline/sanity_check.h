/* Sanity checks of a timeline that other code made, such as one from a damaged store. */
#ifndef TMERGE_SANITY_CHECK_H
#define TMERGE_SANITY_CHECK_H

#include "tmerge/timeline.h"

/**
 * Checks conditions on which later code relies, and which a damaged store may violate: all rows and
 * name ids exist, tracks cover all events in order, attribute rows are in the order of their
 * events, times can be added without overflow. Does not check the values of attributes.
 * @param timeline  with all of its arrays; not changed
 * @param n_names   number of name ids
 * @return          description of the fault for a message; NULL if there is none
 */
const char *tm_timeline_fault(tm_timeline *timeline, size_t n_names);

/** Like tm_timeline_fault, but checks only the number of events and of attribute rows, not the
 * rows. */
const char *tm_timeline_frame_fault(tm_timeline *timeline, size_t n_names);

/** A piece of a rank's rows, as a timeline of its own. */
typedef struct tm_sanity_check_rows {
    tm_timeline *rows; /* NULL columns are not checked; attributes refer to rows of the rank */
    size_t first;      /* the rank's row at which the piece starts */
    int64_t begin_before_ns; /* start of the previous row on the track of the piece's first row;
                                INT64_MIN: unknown */
} tm_sanity_check_rows;

/** Checks a piece of rows. The rank must have passed tm_timeline_frame_fault. */
const char *tm_rows_fault(const tm_timeline *rank, const tm_sanity_check_rows *piece,
                          size_t n_names);

#endif

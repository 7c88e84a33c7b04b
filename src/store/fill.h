/* Conversion between columns of the record tables and fields of a rank's timeline. */
#ifndef TMERGE_STORE_FILL_H
#define TMERGE_STORE_FILL_H

#include "tmerge/store.h"

/** Copy one field of each element of an array of the timeline to a column, and back. */
tm_fill_function tm_fill_field;
tm_take_function tm_take_field;

/** Copies a field of the launch shape of each kernel to a column. */
tm_fill_function tm_fill_shape;

/** Copy a member of the timeline itself, for tables with one row per rank. */
tm_fill_function tm_fill_own;
tm_take_function tm_take_own;

/** tm_fill_rank writes the rank in every row. tm_take_rank checks that no row has another rank. */
tm_fill_function tm_fill_rank;
tm_take_function tm_take_rank;

/** Copy a uint32_t field that holds an event as the rank's row. The column holds the job-wide row,
 * or -1 for TM_NO_EVENT. */
tm_fill_function tm_fill_event;
tm_take_function tm_take_event;

/** Copy an int32_t field that holds a step as its index in the rank. The column holds the job-wide
 * row, or -1 for TM_NO_STEP. */
tm_fill_function tm_fill_step;
tm_take_function tm_take_step;

/** Writes the job-wide row of the rank's first event. */
tm_fill_function tm_fill_first_event;

/** Writes the result of tm_timeline_middle for the rank. */
tm_fill_function tm_fill_middle;

#endif

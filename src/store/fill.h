/* Conversion between columns of the record tables and fields of a rank's timeline. */
#ifndef TMERGE_STORE_FILL_H
#define TMERGE_STORE_FILL_H

#include "tmerge/store.h"

/** Fill or take a field of the elements of one of the timeline's arrays. */
tm_fill_function tm_fill_field;
tm_take_function tm_take_field;

/** Fills a field of the launch shape of each kernel. */
tm_fill_function tm_fill_shape;

/** Fill or take a member of the timeline itself, for tables with one row per rank. */
tm_fill_function tm_fill_own;
tm_take_function tm_take_own;

/** Fill the rank into every row; check that rows have no other rank. */
tm_fill_function tm_fill_rank;
tm_take_function tm_take_rank;

/** Fill or take a uint32_t field that holds an event row of the rank. The store has the job-wide
 * row; -1 for TM_NO_EVENT. */
tm_fill_function tm_fill_event;
tm_take_function tm_take_event;

/** Fill or take an int32_t field that holds a step index of the rank. The store has the job-wide
 * row; -1 for TM_NO_STEP. */
tm_fill_function tm_fill_step;
tm_take_function tm_take_step;

/** Fills the job-wide row of the rank's first event. */
tm_fill_function tm_fill_first_event;

/** Fills tm_timeline_middle. */
tm_fill_function tm_fill_middle;

#endif

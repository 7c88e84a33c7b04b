/* How the columns of the record tables get their values from a rank's timeline, and how it gets
 * them back. */
#ifndef TMERGE_STORE_FILL_H
#define TMERGE_STORE_FILL_H

#include "tmerge/store.h"

/** A field of the members of an array. */
tm_fill_function tm_fill_field;
tm_take_function tm_take_field;

/** A field of the launch shape of each kernel. */
tm_fill_function tm_fill_shape;

/** A field of the timeline itself, for tables with one row for each rank. */
tm_fill_function tm_fill_own;
tm_take_function tm_take_own;

/** The rank, in every row; taking it back means that no other is there. */
tm_fill_function tm_fill_rank;
tm_take_function tm_take_rank;

/** A uint32_t field that names an event of the rank, as the job-wide row; -1 for TM_NO_EVENT. */
tm_fill_function tm_fill_event;
tm_take_function tm_take_event;

/** An int32_t field that names a step of the rank, as the job-wide row; -1 for TM_NO_STEP. */
tm_fill_function tm_fill_step;
tm_take_function tm_take_step;

/** The job-wide row of the rank's first event. */
tm_fill_function tm_fill_first_event;

/** tm_timeline_middle. */
tm_fill_function tm_fill_middle;

#endif

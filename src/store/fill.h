/* Conversion between columns of the record tables and fields of a rank's timeline. */
#ifndef TMERGE_STORE_FILL_H
#define TMERGE_STORE_FILL_H

#include "tmerge/store.h"

/** A field of the elements of an array. */
tm_fill_function tm_fill_field;
tm_take_function tm_take_field;

/** A field of the launch shape of each kernel. */
tm_fill_function tm_fill_shape;

/** A field of the timeline itself, for tables with one row per rank. */
tm_fill_function tm_fill_own;
tm_take_function tm_take_own;

/** The rank, in every row; reading back checks that no other rank occurs. */
tm_fill_function tm_fill_rank;
tm_take_function tm_take_rank;

/** A uint32_t field with an event row of the rank, stored job-wide; -1 for TM_NO_EVENT. */
tm_fill_function tm_fill_event;
tm_take_function tm_take_event;

/** An int32_t field with a step of the rank, stored job-wide; -1 for TM_NO_STEP. */
tm_fill_function tm_fill_step;
tm_take_function tm_take_step;

/** The job-wide row of the rank's first event. */
tm_fill_function tm_fill_first_event;

/** tm_timeline_middle. */
tm_fill_function tm_fill_middle;

#endif

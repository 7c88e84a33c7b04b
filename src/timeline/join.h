/* Puts the rows of one trace behind those of another: spans of a rank, parts of a file. */
#ifndef TMERGE_JOIN_H
#define TMERGE_JOIN_H

#include "trace.h"

/** Rows of one trace on their way into another; the pieces of a table come in order. */
typedef struct tm_join {
    tm_trace *into;          /* borrowed */
    const uint32_t *name_of; /* borrowed; the id that replaces each, NULL where they stay */
    uint32_t *track_of;      /* owned; the index in `into` of each track, and */
    uint32_t *shape_of;      /* owned; of each shape */
    uint32_t first;          /* the event of `into` that the other's event 0 becomes */
} tm_join;

/** The other trace. */
typedef struct tm_join_from {
    const tm_track *tracks; /* [n_tracks] in the ids of its dictionary */
    size_t n_tracks;
    const tm_launch_shape *shapes; /* [n_shapes] */
    size_t n_shapes;
    const uint32_t *name_of; /* by these ids: those in the dictionary of the trace that it joins;
                                NULL where both share one */
} tm_join_from;

/**
 * Adds the tracks and shapes of the other trace that are not known yet, as they are.
 *
 * @param out  free it with tm_join_end, whatever comes of the call
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_join_begin(tm_join *out, tm_trace *into, const tm_join_from *from,
                        tm_error *err) TM_MUST_CHECK;

/** Adds the next @p n events. TM_OK; TM_ERR_FAULT, also for more events than an index can tell. */
tm_status tm_join_events(tm_join *join, const tm_raw_event *events, size_t n,
                         tm_error *err) TM_MUST_CHECK;

/** Adds the next @p n rows of an attribute table. TM_OK; TM_ERR_FAULT. */
tm_status tm_join_attrs(tm_join *join, tm_attr attr, const void *rows, size_t n,
                        tm_error *err) TM_MUST_CHECK;

void tm_join_end(tm_join *join);

#endif

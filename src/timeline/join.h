/* Appends the rows of one trace to another: joins the spans of a rank, or the parts of a file. */
#ifndef TMERGE_JOIN_H
#define TMERGE_JOIN_H

#include "trace.h"

/** State while rows of the source trace are appended to the target trace. A table can be appended
 * in several pieces, in order. */
typedef struct tm_join {
    tm_trace *into; /* borrowed */
    /* borrowed; for each name id of the source: its id in the target; NULL: the ids are the same */
    const uint32_t *name_of;
    uint32_t *track_of; /* owned; for each track of the source: its index in the target */
    uint32_t *shape_of; /* owned; for each shape of the source: its index in the target */
    uint32_t first;     /* index that event 0 of the source gets in the target */
} tm_join;

/** The source trace. */
typedef struct tm_join_from {
    const tm_track *tracks; /* [n_tracks] the name ids in them are those of the source */
    size_t n_tracks;
    const tm_launch_shape *shapes; /* [n_shapes] */
    size_t n_shapes;
    const uint32_t *name_of; /* for each name id of the source: its id in the target; NULL: both
                                traces have the same dictionary */
} tm_join_from;

/**
 * Starts to join two traces. If the source has tracks or shapes that @p into lacks, adds them to @p
 * into.
 */
tm_status tm_join_begin(tm_join *out, tm_trace *into, const tm_join_from *from,
                        tm_error *err) TM_MUST_CHECK;

/** Appends the next @p n events.
 * @return  TM_OK; TM_ERR_FAULT, also if there are too many events for an index */
tm_status tm_join_events(tm_join *join, const tm_raw_event *events, size_t n,
                         tm_error *err) TM_MUST_CHECK;

/** Appends the next @p n rows of an attribute table. @return TM_OK; TM_ERR_FAULT */
tm_status tm_join_attrs(tm_join *join, tm_attr attr, const void *rows, size_t n,
                        tm_error *err) TM_MUST_CHECK;

void tm_join_end(tm_join *join);

#endif

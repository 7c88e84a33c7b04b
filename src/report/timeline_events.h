/* The chosen events of a rank as columns, track after track. */
#ifndef TMERGE_REPORT_TIMELINE_EVENTS_H
#define TMERGE_REPORT_TIMELINE_EVENTS_H

#include "timeline_operations.h"

/** What an event is in the page, beside the lane kinds compute, transfer (communication with a
 * wait, even of 0), unmatched (communication without) and copies. Values are in the page. */
typedef enum tm_shown_kind {
    TM_SHOWN_GPU_ANNOTATION = TM_N_LANE_KINDS,
    TM_SHOWN_OPERATOR,
    TM_SHOWN_ANNOTATION,
    TM_SHOWN_PYTHON,
    TM_SHOWN_CALL, /* of the runtime or the driver */
    TM_SHOWN_OTHER
} tm_shown_kind;

/** What a track is in the page. */
typedef enum tm_shown_track {
    TM_TRACK_STREAM,
    TM_TRACK_ANNOTATIONS, /* of a stream */
    TM_TRACK_THREAD
} tm_shown_track;

/** What the events of all ranks are put into, rank after rank. */
typedef struct tm_event_writer {
    const tm_plan *plan;
    const tm_operations *operations;
    int64_t job_begin_ns;
    tm_dictionary *dictionary;
    tm_bytes *out;
    size_t n_events; /* put so far */
    tm_vec rows;     /* of uint32_t: scratch */
    tm_vec begins;   /* of int64_t: scratch */
} tm_event_writer;

tm_event_writer tm_event_writer_make(void);
void tm_event_writer_free(tm_event_writer *writer);

/**
 * Appends the tracks of the next rank that have a chosen event: place of the rank, tm_shown_track,
 * device and stream + 1, thread id, name, number of events, then the columns begin (from the event
 * before, the first from the job's begin), duration, name, kind, depth (not of streams), and of
 * communication wait and operation + 1.
 *
 * @param at  its place among the ranks
 * @return    TM_OK; TM_ERR_FAULT
 */
tm_status tm_events_put(tm_event_writer *writer, const tm_timeline *timeline, size_t at,
                        tm_error *err) TM_MUST_CHECK;

#endif

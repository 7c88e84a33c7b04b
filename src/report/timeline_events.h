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
    TM_SHOWN_OTHER,
    TM_N_SHOWN_KINDS
} tm_shown_kind;

/** The tm_shown_kind, or kind of lane, of an event. @param attr  of communication; NULL: none */
uint8_t tm_shown_kind_of(uint8_t role, uint8_t category, bool host, const tm_collective_attr *attr);

/** What a track is in the page. */
typedef enum tm_shown_track {
    TM_TRACK_STREAM,
    TM_TRACK_ANNOTATIONS, /* of a stream */
    TM_TRACK_THREAD
} tm_shown_track;

/** Where the numbers of the next n names are missing. */
typedef struct tm_event_gap {
    size_t at; /* byte */
    size_t n;
} tm_event_gap;

/** A rank's part of a draft ends there. */
typedef struct tm_event_end {
    int64_t rank;
    size_t n_bytes, n_gaps, n_names; /* of it and those before */
    size_t n_events;                 /* of it */
} tm_event_end;

/** The columns of ranks, but for the numbers of names: these are given in the order of all ranks,
 * which need not be in one place. */
typedef struct tm_event_draft {
    tm_bytes bytes;
    tm_vec gaps;  /* of tm_event_gap */
    tm_vec names; /* of uint32_t: ids */
    tm_vec ends;  /* of tm_event_end: ascending in rank */
} tm_event_draft;

void tm_event_draft_init(tm_event_draft *draft);
void tm_event_draft_free(tm_event_draft *draft);

/** Leaves out the numbers of @p n names, which the caller fills in; NULL when memory is out. */
uint32_t *tm_event_draft_gap(tm_event_draft *draft, size_t n);

/** A rank's part ends here. */
bool tm_event_draft_end(tm_event_draft *draft, int64_t rank, size_t n_events);

/** Appends the columns of rank @p i of a draft, with its numbers. */
void tm_event_draft_put(const tm_event_draft *draft, size_t i, tm_dictionary *dictionary,
                        tm_bytes *out);

/** What the page has of ranks: the events as columns, and what their panels tell besides. */
typedef struct tm_page_draft {
    tm_event_draft events, details;
} tm_page_draft;

void tm_page_draft_init(tm_page_draft *draft);
void tm_page_draft_free(tm_page_draft *draft);

/** What the events of ranks are put by, rank after rank. */
typedef struct tm_event_writer {
    const tm_plan *plan;
    const tm_operations *operations;
    int64_t job_begin_ns;
    tm_event_draft *out;
    tm_vec rows;   /* of uint32_t: scratch */
    tm_vec begins; /* of int64_t: scratch */
    tm_vec shown;  /* of uint32_t: the rank's rows that were put, in their order */
    size_t n_gpu;  /* of these, those of streams, which come first */
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

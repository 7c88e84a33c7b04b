/* Chosen events of a rank, encoded as columns, track by track. */
#ifndef TMERGE_REPORT_TIMELINE_EVENTS_H
#define TMERGE_REPORT_TIMELINE_EVENTS_H

#include "timeline_operations.h"

/** Kinds of events in the page. The page decodes these values. Values below the first one here are
 * kinds of lanes (tm_lane_kind). Events use four of these kinds:
 * - compute;
 * - transfer: communication whose wait is known; the wait may be 0;
 * - unmatched: other communication;
 * - copies. */
typedef enum tm_shown_kind {
    TM_SHOWN_GPU_ANNOTATION = TM_N_LANE_KINDS,
    TM_SHOWN_OPERATOR,
    TM_SHOWN_ANNOTATION,
    TM_SHOWN_PYTHON,
    TM_SHOWN_CALL, /* a call of the CUDA or HIP runtime or driver */
    TM_SHOWN_OTHER,
    TM_N_SHOWN_KINDS
} tm_shown_kind;

/** Returns an event's kind: a tm_shown_kind or a tm_lane_kind. @param attr the event's
 * communication attributes, or NULL */
uint8_t tm_shown_kind_of(uint8_t role, uint8_t category, bool host, const tm_collective_attr *attr);

/** Kinds of tracks in the page. */
typedef enum tm_shown_track {
    TM_TRACK_STREAM,
    TM_TRACK_ANNOTATIONS, /* annotations of a stream */
    TM_TRACK_THREAD
} tm_shown_track;

/** A place in the encoding where the numbers of n names are inserted later. */
typedef struct tm_event_gap {
    size_t at; /* byte offset */
    size_t n;
} tm_event_gap;

/** Where a rank's part of an encoding ends. */
typedef struct tm_event_end {
    int64_t rank;
    size_t n_bytes, n_gaps, n_names; /* bytes, gaps and names in the encoding up to here */
    size_t n_events;                 /* number of events in this part */
} tm_event_end;

/** Encoded columns of some ranks, with gaps where numbers of names belong. Several processes make
 * encodings; names get their numbers when the encodings of all ranks are put in order. */
typedef struct tm_event_encoding {
    tm_bytes bytes;
    tm_vec gaps;  /* vector of tm_event_gap */
    tm_vec names; /* vector of uint32_t: ids of the names of all gaps */
    tm_vec ends;  /* vector of tm_event_end: one for each rank, ascending by rank */
} tm_event_encoding;

/** Adds a gap for @p n names. Returns where the caller writes their ids; NULL when out of memory.
 */
uint32_t *tm_event_encoding_gap(tm_event_encoding *encoding, size_t n);

/** Ends a rank's part. Returns false when out of memory. */
bool tm_event_encoding_end(tm_event_encoding *encoding, int64_t rank, size_t n_events);

/** Appends the @p i-th part of an encoding. Fills each gap with the numbers of the gap's names. */
void tm_event_encoding_put(const tm_event_encoding *encoding, size_t i, tm_dictionary *dictionary,
                           tm_bytes *out);

typedef struct tm_page_encoding {
    tm_event_encoding events, details;
} tm_page_encoding;

void tm_page_encoding_init(tm_page_encoding *encoding);
void tm_page_encoding_free(tm_page_encoding *encoding);

/** Encodes the events of ranks, rank by rank. */
typedef struct tm_event_writer {
    const tm_plan *plan;
    const tm_operations *operations;
    int64_t job_begin_ns;
    tm_event_encoding *out;
    tm_vec rows;   /* vector of uint32_t: scratch */
    tm_vec begins; /* vector of int64_t: scratch */
    tm_vec shown;  /* vector of uint32_t: written rows of the rank, in the order of writing */
    size_t n_gpu;  /* number of rows in `shown` that are on streams; these come first */
} tm_event_writer;

tm_event_writer tm_event_writer_make(void);
void tm_event_writer_free(tm_event_writer *writer);

/** Appends the tracks of the next rank, if an event of the rank is chosen. For each track:
 * - place of the rank, tm_shown_track, device + 1, stream + 1, thread id, name, number of events;
 * - columns of all events: begin, duration, name, depth (not for streams) and kind. Each begin is
 *   relative to the begin of the previous event. The first one is relative to the job's start;
 * - for each communication event: wait + 1 and operation + 1.
 *
 * @param at  the rank's index among all ranks
 * @return    TM_OK; TM_ERR_FAULT */
tm_status tm_events_put(tm_event_writer *writer, const tm_timeline *timeline, size_t at,
                        tm_error *err) TM_MUST_CHECK;

#endif

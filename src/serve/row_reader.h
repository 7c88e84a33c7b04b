/* Goes through the names, times and kinds of a rank's events on its GPUs or its host. */
#ifndef TMERGE_SERVE_ROW_READER_H
#define TMERGE_SERVE_ROW_READER_H

#include "serve/tile.h"

typedef struct tm_serve_reader tm_serve_reader;

/** Opens a reader of rows.
 * @param tiler  must outlive the reader
 * @param out    closed by the caller, before tiler->events; set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_serve_reader_open(const tm_tiler *tiler, tm_serve_reader **out,
                               tm_error *err) TM_MUST_CHECK;
void tm_serve_reader_close(tm_serve_reader *reader);

/** Same as tm_serve_ranks. */
const tm_timeline *tm_serve_reader_ranks(const tm_serve_reader *reader, size_t *n);

/** Same as tm_serve_find_rank. */
tm_status tm_serve_reader_find(const tm_serve_reader *reader, int64_t rank, size_t *at,
                               tm_error *err) TM_MUST_CHECK;

/** Reads a block of a rank's rows. The rows are valid until the next read.
 * @param first  first row of the block, a multiple of TM_SERVE_BLOCK_ROWS
 * @param what   the columns to read: bits of tm_rows_part, but not the attributes
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_serve_reader_rows(const tm_serve_reader *reader, size_t at, size_t first,
                               unsigned what, const tm_timeline **out, tm_error *err) TM_MUST_CHECK;

/** Converts a recorded time of a rank to the time drawn [ns], from the job's start. */
int64_t tm_serve_drawn(const tm_serve_reader *reader, size_t at, int64_t recorded_ns);

/** A time range [from, to) [ns] of the drawn timeline, from the job's start. */
typedef struct tm_serve_stretch {
    int64_t from_ns, to_ns;
} tm_serve_stretch;

/** Stands in place of a step's number, and means the whole rank. */
#define TM_SERVE_NO_STEP INT64_MIN

/** Finds the time range of a step on a rank. Returns false if the rank does not have the step. */
bool tm_serve_reader_step(const tm_serve_reader *reader, size_t at, int64_t step,
                          tm_serve_stretch *out);

/** Goes through the events of a rank, on its GPUs or its host, that overlap a time range. */
typedef struct tm_serve_walk {
    tm_serve_reader *reader;
    size_t at;                /* index of the rank */
    bool host;                /* true: events of host threads; false: events of GPU streams */
    int64_t from_ns, to_ns;   /* [from, to) from the job's start */
    size_t next;              /* next row to read; 0 at first */
    const tm_timeline *piece; /* the rows that were read last. The first of them is row `first` of
                                 the rank */
    size_t first;
    size_t i;              /* index of the next row in the piece */
    const tm_track *track; /* track of the current event */
} tm_serve_walk;

/** An event with times as drawn, from the job's start. */
typedef struct tm_serve_event {
    int64_t begin_ns, duration_ns;
    uint32_t name;
    uint8_t kind; /* a tm_shown_kind or a tm_lane_kind; TM_LANE_UNMATCHED for every communication
                     event */
} tm_serve_event;

/** Returns the next event, track by track, ascending by begin.
 * @param found set to false after the last event
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_serve_walk_next(tm_serve_walk *walk, tm_serve_event *out, bool *found,
                             tm_error *err) TM_MUST_CHECK;

#endif

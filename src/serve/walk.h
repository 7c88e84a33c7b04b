/* Names, times and kinds of a rank's events, some at a time: those of the GPUs, then the host's. */
#ifndef TMERGE_SERVE_WALK_H
#define TMERGE_SERVE_WALK_H

#include "serve/tile.h"

typedef struct tm_serve_reader tm_serve_reader;

/**
 * @param tiler  used as long as the reader is
 * @param out    closed by the caller, before the events; set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_serve_reader_open(const tm_tiler *tiler, tm_serve_reader **out,
                               tm_error *err) TM_MUST_CHECK;
void tm_serve_reader_close(tm_serve_reader *reader);

/** As tm_serve_ranks. */
const tm_timeline *tm_serve_reader_ranks(const tm_serve_reader *reader, size_t *n);

/** As tm_serve_find_rank. */
tm_status tm_serve_reader_find(const tm_serve_reader *reader, int64_t rank, size_t *at,
                               tm_error *err) TM_MUST_CHECK;

/** Rows of a rank from a multiple of TM_SERVE_BLOCK_ROWS on, valid until something else is read.
 * @param what  tm_rows_part, without attributes  @return  TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_serve_reader_rows(const tm_serve_reader *reader, size_t at, size_t first,
                               unsigned what, const tm_timeline **out, tm_error *err) TM_MUST_CHECK;

/** A recorded time of a rank as it is drawn [ns], from the job's begin. */
int64_t tm_serve_drawn(const tm_serve_reader *reader, size_t at, int64_t recorded_ns);

/** [from, to) from the job's begin, as it is drawn [ns]. */
typedef struct tm_serve_stretch {
    int64_t from_ns, to_ns;
} tm_serve_stretch;

/** Instead of a step's number: all of a rank. */
#define TM_SERVE_NO_STEP INT64_MIN

/** Where a rank is in a step. False: it does not have it. */
bool tm_serve_reader_step(const tm_serve_reader *reader, size_t at, int64_t step,
                          tm_serve_stretch *out);

/** What is gone through: a rank's events of which any part lies in a time, of its GPUs or of its
 * host. */
typedef struct tm_serve_walk {
    tm_serve_reader *reader;
    size_t at;                /* place of the rank */
    bool host;                /* its threads, else its streams */
    int64_t from_ns, to_ns;   /* [from, to), from the job's begin */
    size_t next;              /* row: 0 at first */
    const tm_timeline *piece; /* rows that were read, and where the first of them stands */
    size_t first;
    size_t i;              /* in the piece */
    const tm_track *track; /* of the event */
} tm_serve_walk;

/** An event; its times are from the job's begin, as they are drawn. */
typedef struct tm_serve_event {
    int64_t begin_ns, duration_ns;
    uint32_t name;
    uint8_t kind; /* tm_shown_kind, or the kind of lane, of communication TM_LANE_UNMATCHED */
} tm_serve_event;

/** The next event, track after track, ascending in begin. @param found  false behind the last
 * @return  TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_serve_walk_next(tm_serve_walk *walk, tm_serve_event *out, bool *found,
                             tm_error *err) TM_MUST_CHECK;

#endif

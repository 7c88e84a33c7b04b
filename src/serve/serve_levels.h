/* Levels of a store: how busy each lane was in a window. No events are read. */
#ifndef TMERGE_SERVE_SERVE_LEVELS_H
#define TMERGE_SERVE_SERVE_LEVELS_H

#include "base/vec.h"
#include "tmerge/store.h"

/** Number of lanes with shares: all except the host's lane, which the page draws from events. */
enum { TM_SERVE_LANES = TM_LEVEL_HOST };

typedef struct tm_serve_levels tm_serve_levels;

/** Opens the levels and indexes them.
 *
 * @param store  must outlive the levels
 * @param out closed by the caller; set only on TM_OK. Set to NULL if the store has no levels,
 *            because an older tmerge wrote it
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_serve_levels_open(const tm_store *store, tm_serve_levels **out,
                               tm_error *err) TM_MUST_CHECK;
void tm_serve_levels_close(tm_serve_levels *levels);

/** How busy a rank was in buckets whose width is a power of two. */
typedef struct tm_serve_shares {
    size_t at;              /* input: index of the rank */
    int64_t from_ns, to_ns; /* input: window on the job's clock, since the epoch, half open */
    size_t most;            /* input: maximum number of buckets, at least 4 */
    int64_t begin_ns;       /* start of the first bucket, on the job's clock, since the epoch */
    int exponent;           /* log2 of the bucket width [ns] */
    size_t n;               /* number of buckets */
} tm_serve_shares;

/**
 * Appends one byte per bucket, lane by lane. The byte is the lane's busy share of the bucket times
 * 255, rounded. It is at least 1 if the lane was busy at all. The buckets cover the window. They
 * are of the finest level that needs at most shares->most buckets.
 *
 * @param bytes  vector of uint8_t: TM_SERVE_LANES * shares->n elements are appended
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_serve_levels_read(tm_serve_levels *levels, tm_serve_shares *shares, tm_vec *bytes,
                               tm_error *err) TM_MUST_CHECK;

/** Computes the shares from the events of a window, which are in @p window. Uses the narrowest
 * buckets that cover the window with at most shares->most of them. TM_OK; TM_ERR_FAULT. */
tm_status tm_serve_shares_of(const tm_timeline *window, tm_serve_shares *shares, tm_vec *bytes,
                             tm_error *err) TM_MUST_CHECK;

#endif

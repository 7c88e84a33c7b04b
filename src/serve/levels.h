/* The levels of a store: what lanes did in a window, without their events. */
#ifndef TMERGE_SERVE_LEVELS_H
#define TMERGE_SERVE_LEVELS_H

#include <stdbool.h>

#include "base/vec.h"
#include "tmerge/store.h"

/** Lanes that have shares: all but the host's, which the page draws from events alone. */
enum { TM_SERVE_LANES = TM_LEVEL_HOST };

typedef struct tm_serve_levels tm_serve_levels;

/**
 * Looks once at where they are.
 *
 * @param store  outlives them
 * @param out    closed by the caller; set only on TM_OK. NULL where the store, of an older tmerge,
 *               has none
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_serve_levels_open(const tm_store *store, tm_serve_levels **out,
                               tm_error *err) TM_MUST_CHECK;
void tm_serve_levels_close(tm_serve_levels *levels);

/** Shares of a rank in buckets of a power of two. */
typedef struct tm_serve_shares {
    size_t at;              /* asked for: the rank's place, */
    int64_t from_ns, to_ns; /* a window on the job's clock, since the epoch, half open, */
    size_t most;            /* and the most buckets that it is divided into, 4 at least */
    int64_t begin_ns;       /* of the first bucket, on the job's clock, since the epoch */
    int exponent;           /* of the width [ns] */
    size_t n;               /* buckets */
} tm_serve_shares;

/**
 * Appends, lane by lane, a byte a bucket: the share times 255, rounded, and 1 at least where there
 * is anything. The buckets are all that the window touches, of the finest level of which there are
 * not too many.
 *
 * @param bytes  of uint8_t: TM_SERVE_LANES * shares->n are appended
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_serve_levels_read(tm_serve_levels *levels, tm_serve_shares *shares, tm_vec *bytes,
                               tm_error *err) TM_MUST_CHECK;

/** The same of a timeline that has the events of the window, in the finest buckets of which there
 * are not too many. TM_OK; TM_ERR_FAULT. */
tm_status tm_serve_shares_of(const tm_timeline *window, tm_serve_shares *shares, tm_vec *bytes,
                             tm_error *err) TM_MUST_CHECK;

#endif

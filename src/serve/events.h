/* The events of a store, found by time: a window of a rank is read without the rest. */
#ifndef TMERGE_SERVE_EVENTS_H
#define TMERGE_SERVE_EVENTS_H

#include <stdbool.h>

#include "tmerge/names.h"
#include "tmerge/store.h"

typedef struct tm_serve_events tm_serve_events;

/** Of so many rows of a rank each it is known when they are. */
enum { TM_SERVE_BLOCK_ROWS = 1024 };

/**
 * Looks once at when all events were, and keeps of each thousand of them from when to when they
 * reach.
 *
 * @param store  outlives them, as do the names
 * @param out    closed by the caller; set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_serve_events_open(const tm_store *store, const tm_names *names, tm_serve_events **out,
                               tm_error *err) TM_MUST_CHECK;
void tm_serve_events_close(tm_serve_events *events);

/** Opens their rows to be read by oneself. @param plan  its records and takes: the rest is set
 * @param most  rows of a piece  @param out  closed by the caller, before the events */
tm_status tm_serve_events_pieces(const tm_serve_events *events, const tm_store_visit_plan *plan,
                                 size_t most, tm_store_pieces **out, tm_error *err) TM_MUST_CHECK;

/** Whether rows of a rank, from a multiple of TM_SERVE_BLOCK_ROWS on, may have an event of which
 * any part lies in [from_ns, to_ns), on the job's clock. @param at  the rank's place */
bool tm_serve_events_reach(const tm_serve_events *events, size_t at, size_t first, int64_t from_ns,
                           int64_t to_ns);

/** The ranks, ascending, with their clocks, tracks and steps and without their events. */
const tm_timeline *tm_serve_ranks(const tm_serve_events *events, size_t *n);

/** How many of a rank's rows are of its GPUs: these stand first. */
size_t tm_serve_gpu_rows(const tm_timeline *rank);

/** The place of a rank among them. TM_OK; TM_ERR_USAGE: the store does not have it. */
tm_status tm_serve_find_rank(const tm_serve_events *events, int64_t rank, size_t *at,
                             tm_error *err) TM_MUST_CHECK;

/**
 * From now on what is read has these attributes instead of those that a timeline shows: for one
 * answer, for they take memory.
 * @param attrs  bits 1 << tm_attr; 0: those of a timeline again
 */
tm_status tm_serve_events_want(tm_serve_events *events, unsigned attrs,
                               tm_error *err) TM_MUST_CHECK;

/** What of a rank is wanted: its GPUs' events alone, or its host's too, if they are not too many.
 */
typedef struct tm_serve_wish {
    size_t at;              /* the rank's place */
    int64_t from_ns, to_ns; /* on the job's clock, since the epoch; half open */
    size_t gpu_most, host_most;
    bool host;
    bool launches; /* the host's from the first on that launched one of these GPU events */
} tm_serve_wish;

/**
 * Reads the events of which any part lies in a window, with what is wanted of their attributes.
 *
 * @param out   a timeline of those alone: rows are numbered anew, what they refer to outside of
 *              the window is none; destroyed by the caller, also after a failure
 * @param gpu   whether it holds the GPUs' events: false where they were too many
 * @param host  likewise, and false where they were not wanted
 */
tm_status tm_serve_events_read(tm_serve_events *events, const tm_serve_wish *wish, tm_timeline *out,
                               bool *gpu, bool *host, tm_error *err) TM_MUST_CHECK;

#endif

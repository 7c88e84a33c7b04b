/* Events of a store by time: reads a window of a rank without reading the rest. */
#ifndef TMERGE_SERVE_EVENT_INDEX_H
#define TMERGE_SERVE_EVENT_INDEX_H

#include <stdbool.h>

#include "tmerge/names.h"
#include "tmerge/store.h"

typedef struct tm_serve_events tm_serve_events;

/** Number of rows per indexed block of a rank. */
enum { TM_SERVE_BLOCK_ROWS = 1024 };

/** Indexes a store: reads the times of all events once, and keeps the time range of each block.
 * @param store and @p names must outlive the index
 * @param out    closed by the caller; set only on TM_OK
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_serve_events_open(const tm_store *store, const tm_names *names, tm_serve_events **out,
                               tm_error *err) TM_MUST_CHECK;
void tm_serve_events_close(tm_serve_events *events);

/** Opens the store's rows for the caller to read.
 * @param plan what to read: the caller sets only `records` and `takes`, and the function sets the
 *             other members
 * @param most maximum number of rows of a piece
 * @param out closed by the caller before @p events is closed */
tm_status tm_serve_events_pieces(const tm_serve_events *events, const tm_store_visit_plan *plan,
                                 size_t most, tm_store_pieces **out, tm_error *err) TM_MUST_CHECK;

/** Returns whether a block of rows may have an event that overlaps [from_ns, to_ns) on the job's
 * clock.
 * @param at the rank's index
 * @param first the block's first row, a multiple of TM_SERVE_BLOCK_ROWS */
bool tm_serve_events_reach(const tm_serve_events *events, size_t at, size_t first, int64_t from_ns,
                           int64_t to_ns);

/** Returns the ranks, ascending, with clocks, tracks and steps but without events. */
const tm_timeline *tm_serve_ranks(const tm_serve_events *events, size_t *n);

/** Returns the number of a rank's rows on GPU tracks; these come first. */
size_t tm_serve_gpu_rows(const tm_timeline *rank);

/** Finds the index of a rank. TM_OK; TM_ERR_USAGE if the store does not have it. */
tm_status tm_serve_find_rank(const tm_serve_events *events, int64_t rank, size_t *at,
                             tm_error *err) TM_MUST_CHECK;

/** Makes later reads return the attributes @p attrs instead of the attributes that a timeline
 * shows. Reading attributes takes memory, so pass 0 again after the answer that needs them. */
tm_status tm_serve_events_want(tm_serve_events *events, unsigned attrs,
                               tm_error *err) TM_MUST_CHECK;

/** A window of a rank to read: GPU events and, on request, host events, each up to a maximum
 * number. */
typedef struct tm_serve_wish {
    size_t at;              /* the rank's index */
    int64_t from_ns, to_ns; /* on the job's clock, since the epoch; half open */
    size_t gpu_most, host_most;
    bool host;
    bool launches; /* host events start at the first call that launched one of the GPU events of the
                      window, even if this call is before the window */
} tm_serve_wish;

/** Reads the events that overlap a window, with the selected attributes.
 *
 * @param out   a timeline that contains only these events. Its rows are renumbered. References to
 *              rows outside the window become TM_NO_EVENT. The caller destroys it, also after a
 *              failure
 * @param gpu set to true if @p out has the GPU events, and to false if there were too many
 * @param host set to true if @p out has the host events, and to false if there were too many or if
 *             they were not requested */
tm_status tm_serve_events_read(tm_serve_events *events, const tm_serve_wish *wish, tm_timeline *out,
                               bool *gpu, bool *host, tm_error *err) TM_MUST_CHECK;

#endif

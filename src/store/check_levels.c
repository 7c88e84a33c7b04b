#include "check_levels.h"

#include <inttypes.h>
#include <stdlib.h>

#include "timeline/levels.h"

static bool same(const tm_level *a, const tm_level *b) {
    return a->begin_ns == b->begin_ns && a->busy_ns == b->busy_ns && a->events == b->events &&
           a->longest_ns == b->longest_ns && a->lane == b->lane && a->exponent == b->exponent;
}

/* Number of a rank's events that are held in memory at a time. */
enum { PIECE_EVENTS = 1 << 15 };

typedef struct visit {
    tm_check *check;
    tm_store_pieces *pieces;
    size_t at;
} visit;

static tm_status read_piece(void *context, size_t first, unsigned what, const tm_timeline **out,
                            tm_error *err) {
    const visit *v = context;
    return tm_store_read_piece(v->pieces, v->at, first, what, out, err);
}

/* The levels of a rank that are in the store. The first `same` rows are equal to the computed
 * rows. */
typedef struct stored_levels {
    const tm_level *rows;
    size_t n, same;
    bool differs; /* row `same` differs from the computed row, or is missing */
} stored_levels;

static tm_status compare(void *context, const tm_level *rows, size_t n, tm_error *err) {
    stored_levels *stored = context;
    (void)err;
    for (size_t i = 0; i < n && !stored->differs; i++) {
        stored->differs = stored->same == stored->n || !same(&stored->rows[stored->same], &rows[i]);
        stored->same += !stored->differs;
    }
    return TM_OK;
}

static tm_status check_rank(void *context, tm_timeline *timeline, size_t at, tm_error *err) {
    visit *v = context;
    const tm_event_rows rows = {read_piece, v};
    stored_levels stored = {timeline->levels, timeline->n_levels, 0, false};
    const tm_level_sink sink = {compare, &stored};
    /* Starts with the finest level in the store: another version may have started with a
     * finer or coarser level. */
    int finest = stored.n > 0 ? stored.rows[0].exponent : -1;
    v->at = at;
    tm_status status = tm_levels_each(timeline, &rows, finest, &sink, err);
    if (status == TM_OK && (stored.differs || stored.same < stored.n))
        tm_check_fault(v->check,
                       "/levels: row %zu of rank %" PRId64
                       " differs from the sum of the rank's events",
                       stored.same, timeline->rank);
    return status;
}

void tm_check_levels(tm_check *check) {
    tm_names *names = NULL;
    visit v = {.check = check};
    tm_store_visit_plan plan = {.store = check->store,
                                .records = 1u << TM_RECORD_COLLECTIVES | 1u << TM_RECORD_LEVELS,
                                .no_events = true,
                                .visitor = check_rank,
                                .context = &v};
    tm_error err = {0};
    if (check->n_faults > 0 || check->status != TM_OK || check->n_rows[TM_RECORD_LEVELS] == 0)
        return;
    if (tm_check_call(check, tm_store_read_names(check->store, &names, &err), &err) &&
        tm_check_call(check, tm_store_read_ranks(check->store, &plan.ranks, &plan.n, &err), &err)) {
        plan.names = names;
        if (tm_check_call(check, tm_store_open_pieces(&plan, PIECE_EVENTS, &v.pieces, &err), &err))
            (void)tm_check_call(check, tm_store_visit(&plan, &err), &err);
    }
    tm_store_close_pieces(v.pieces);
    tm_names_destroy(names);
    free(plan.ranks);
}

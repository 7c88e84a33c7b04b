#include "check_levels.h"

#include <inttypes.h>
#include <stdlib.h>

#include "timeline/levels.h"

static bool same(const tm_level *a, const tm_level *b) {
    return a->begin_ns == b->begin_ns && a->busy_ns == b->busy_ns && a->events == b->events &&
           a->longest_ns == b->longest_ns && a->lane == b->lane && a->exponent == b->exponent;
}

static tm_status check_rank(void *context, tm_timeline *timeline, size_t at, tm_error *err) {
    tm_check *check = context;
    tm_level *stored = timeline->levels;
    size_t n = timeline->n_levels, i = 0;
    /* What another version holds for fine enough is no fault. */
    int finest = n > 0 ? stored[0].exponent : -1;
    (void)at;
    timeline->levels = NULL;
    tm_status status = tm_levels_make(timeline, finest, err);
    while (i < n && i < timeline->n_levels && same(&stored[i], &timeline->levels[i]))
        i++;
    if (status == TM_OK && (i < n || i < timeline->n_levels))
        tm_check_fault(check, "/levels: row %zu of rank %" PRId64 " is not what its events sum to",
                       i, timeline->rank);
    free(stored);
    return status;
}

void tm_check_levels(tm_check *check) {
    tm_names *names = NULL;
    tm_store_visit_plan plan = {.store = check->store,
                                .records = 1u << TM_RECORD_COLLECTIVES | 1u << TM_RECORD_LEVELS,
                                .visitor = check_rank,
                                .context = check};
    tm_error err = {0};
    if (check->n_faults > 0 || check->status != TM_OK || check->n_rows[TM_RECORD_LEVELS] == 0)
        return;
    if (tm_check_call(check, tm_store_read_names(check->store, &names, &err), &err) &&
        tm_check_call(check, tm_store_read_ranks(check->store, &plan.ranks, &plan.n, &err), &err)) {
        plan.names = names;
        (void)tm_check_call(check, tm_store_visit(&plan, &err), &err);
    }
    tm_names_destroy(names);
    free(plan.ranks);
}

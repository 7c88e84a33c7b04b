/* Visits a store's timelines one after another. */
#include <stdlib.h>
#include <string.h>

#include "tmerge/store.h"

/* Ranks are read in batches of up to this many events. If they were read one by one, chunks that
 * they share would be unpacked again and again. */
enum { BATCH_EVENTS = 1 << 19 };

/* Frees the arrays of a rank. Restores the rank's numbers of rows, because the first rows of other
 * ranks are computed from them. */
static void drop(tm_timeline *timeline, const tm_timeline *bare) {
    tm_timeline_destroy(timeline);
    *timeline = *bare;
}

static bool is_wanted(const tm_store_visit_plan *plan, size_t i) {
    return !plan->wanted || plan->wanted[i];
}

static size_t cost_of(const tm_store_visit_plan *plan, size_t i) {
    /* If the events of a rank are not read, its other rows still have to be. They are counted as a
     * quarter of the number of events. */
    size_t share = plan->no_events ? 4 : 1;
    return is_wanted(plan, i) && !plan->spans_alone ? plan->ranks[i].n_events / share : 0;
}

static tm_status visit_batch(const tm_store_visit_plan *plan, bool *wanted, size_t first,
                             size_t end, tm_error *err) {
    tm_timeline *ranks = plan->ranks;
    tm_timeline *bare = malloc((end - first) * sizeof *bare);
    if (!bare)
        return tm_fail_memory(err);
    memcpy(bare, ranks + first, (end - first) * sizeof *bare);
    for (size_t i = first; i < end; i++)
        wanted[i] = is_wanted(plan, i);
    const tm_store_selection selection = {wanted, plan->records, plan->spans_alone,
                                          plan->no_events};
    tm_status status =
        tm_store_read_timelines(plan->store, plan->names, ranks, &selection, plan->n, err);
    for (size_t i = first; i < end; i++) {
        if (status == TM_OK && wanted[i])
            status = plan->visitor(plan->context, &ranks[i], i, err);
        drop(&ranks[i], &bare[i - first]);
        wanted[i] = false;
    }
    free(bare);
    return status;
}

tm_status tm_store_visit(const tm_store_visit_plan *plan, tm_error *err) {
    bool *wanted = calloc(plan->n + 1, sizeof *wanted);
    tm_status status = wanted ? TM_OK : tm_fail_memory(err);
    for (size_t first = 0, end = 0; first < plan->n && status == TM_OK; first = end) {
        size_t n = 0;
        for (; end < plan->n && (end == first || n + cost_of(plan, end) <= BATCH_EVENTS); end++)
            n += cost_of(plan, end);
        status = visit_batch(plan, wanted, first, end, err);
    }
    free(wanted);
    return status;
}

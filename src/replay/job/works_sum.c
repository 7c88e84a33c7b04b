#include "works_sum.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "base/sums.h"
#include "call_times.h"
#include "replay/job/batch_loops.h"

enum { ROWS = 64, NO_STEP = 0xff };

void tm_works_free(tm_works *works) {
    free(works->steps);
    works->steps = NULL;
    works->n_rows = 0;
    tm_vec_free(&works->ranks);
}

void tm_works_steps(const tm_peer_places *places, uint64_t steps[(TM_PLACE_STEPS + 1) / 64]) {
    const uint64_t *hashes = places->keys.keys.data;
    for (size_t i = 0; i < places->keys.keys.n; i++) {
        const unsigned step = tm_place_step(hashes[i]);
        steps[step / 64] |= UINT64_C(1) << step % 64;
    }
}

tm_works_shape tm_works_shape_of(const uint64_t steps[(TM_PLACE_STEPS + 1) / 64]) {
    tm_works_shape shape = {.n_parts = 1};
    shape.step_at[0] = NO_STEP;
    for (unsigned step = 1; step <= TM_PLACE_STEPS; step++)
        shape.step_at[step] =
            steps[step / 64] >> step % 64 & 1 ? (uint8_t)shape.n_steps++ : (uint8_t)NO_STEP;
    while (shape.n_steps > 0 && 2 * shape.n_parts * shape.n_steps <= ROWS)
        shape.n_parts *= 2;
    return shape;
}

/* A compute kernel. */
typedef struct kernel {
    int64_t begin_ns, end_ns;
    int32_t device, step;
} kernel;

static int by_device(const void *a, const void *b) {
    const kernel *x = a, *y = b;
    const int order = tm_order_i64(x->device, y->device);
    return order ? order : tm_order_i64(x->begin_ns, y->begin_ns);
}

/* Lists the compute kernels of marked steps by device and start. */
static bool list_kernels(const tm_timeline *t, tm_vec *out) {
    bool ok = true;
    for (size_t k = 0; k < t->n_tracks; k++) {
        const tm_track *track = &t->tracks[k];
        for (size_t row = track->first; row < (size_t)track->first + track->count && ok; row++) {
            const int32_t step = t->role[row] == TM_ROLE_COMPUTE ? t->step[row] : TM_NO_STEP;
            const kernel one = {t->begin_ns[row], t->begin_ns[row] + t->duration_ns[row],
                                track->device, step};
            ok = step == TM_NO_STEP || !t->steps[step].annotated || tm_vec_append(out, &one, 1);
        }
    }
    tm_sort(out->data, out->n, out->size, by_device);
    return ok;
}

bool tm_works_find_at_once(const tm_timeline *timeline, size_t index, tm_vec *out) {
    tm_vec kernels = TM_VEC(kernel);
    int64_t *ns = calloc(timeline->n_steps + 1, sizeof *ns);
    bool ok = ns && list_kernels(timeline, &kernels);
    const kernel *v = kernels.data;
    int64_t reach = INT64_MIN;
    for (size_t i = 0; i < kernels.n && ok; i++) {
        reach = i > 0 && v[i].device != v[i - 1].device ? INT64_MIN : reach;
        const int64_t until = v[i].end_ns < reach ? v[i].end_ns : reach;
        ns[v[i].step] += until > v[i].begin_ns ? until - v[i].begin_ns : 0;
        reach = v[i].end_ns > reach ? v[i].end_ns : reach;
    }
    for (size_t k = 0; k < timeline->n_steps && ok; k++) {
        const tm_works_at_once one = {index, timeline->steps[k].number, ns[k]};
        ok = ns[k] == 0 || tm_vec_append(out, &one, 1);
    }
    tm_vec_free(&kernels);
    free(ns);
    return ok;
}

void tm_works_add_at_once(const tm_works_shape *shape, const tm_works_at_once *step, int64_t *out) {
    const size_t at =
        step->number < 0 ? (size_t)NO_STEP : shape->step_at[1 + step->number % TM_PLACE_STEPS];
    if (at == NO_STEP)
        return;
    int64_t *sum = out + TM_WORKS_AT_ONCE * tm_works_rows(shape) + at * shape->n_parts;
    *sum = tm_sum(*sum, step->ns);
}

static size_t row_of(const tm_works_of *of, uint64_t hash) {
    const size_t step = of->shape->step_at[tm_place_step(hash)];
    const size_t part = tm_place_part(hash) % of->shape->n_parts;
    return step == NO_STEP ? SIZE_MAX : step * of->shape->n_parts + part;
}

/* Returns the index of a place in the sums of a rank; SIZE_MAX if the work at the place is not
 * summed. */
static size_t sum_at(const tm_works_of *of, uint32_t place) {
    const tm_peer_others *others = of->places->others.data;
    if (place == TM_NO_PLACE)
        return SIZE_MAX;
    const uint32_t known = of->places->known[place];
    const uint64_t hash = ((const uint64_t *)of->places->keys.keys.data)[place];
    const size_t row = row_of(of, hash);
    const bool all = known != 0 && others[known - 1].n == of->n_peers;
    if ((!all && !tm_extras_counted(&of->places->extras, place)) || of->n_peers < 2 ||
        row == SIZE_MAX || tm_place_is_communication(hash))
        return SIZE_MAX;
    return tm_place_is_call(hash) * tm_works_rows(of->shape) + row;
}

/* Returns the work of an item [ns]. An event's second weight is not included: it is the
 * unexplained part of the event's start, not work. */
static int64_t work_of(const tm_peer_weights *w, bool call) {
    return call ? tm_sum(w->first_ns, w->second_ns) : w->first_ns;
}

/*
 * Adds the work of an item to a sum.
 *
 * @param sum  address of the sum that sum_at returns for the item's place
 */
static void add_work(const tm_works_of *of, uint32_t place, const tm_peer_weights *w, bool call,
                     int64_t *sum) {
    const int64_t ns = work_of(w, call);
    *sum = tm_sum(*sum, ns);
    if (call)
        return;
    int64_t *lag = sum + TM_WORKS_LAG * tm_works_rows(of->shape);
    *lag = tm_sum(*lag, w->second_ns);
    if (tm_extras_counted(&of->places->extras, place))
        *of->apart_ns = tm_sum(*of->apart_ns, ns);
}

void tm_works_add(const tm_works_of *of, const tm_peer_items *items, int64_t *out) {
    for (size_t i = 0; i < items->n; i++) {
        const size_t at = sum_at(of, items->places[i]);
        const tm_peer_weights w = tm_peer_item(items, i);
        if (at != SIZE_MAX)
            add_work(of, items->places[i], &w, i >= items->n_events, &out[at]);
    }
}

void tm_works_add_batch(const tm_works_of *of, const tm_batch *batch, int64_t *const *out) {
    const tm_batch_loops *loops = tm_batch_loops_of(NULL);
    const tm_batch_items *items = batch->items;
    tm_batch_row first, second;
    for (size_t i = 0; i < items->n; i++) {
        const size_t at = items->always[i] ? sum_at(of, items->places[i]) : SIZE_MAX;
        if (at == SIZE_MAX)
            continue;
        loops->weigh_item(batch, i, &first, &second);
        for (size_t k = 0; k < batch->n; k++) {
            const tm_peer_weights w = {first.ns[k], second.ns[k]};
            add_work(of, items->places[i], &w, i >= items->n_events, &out[k][at]);
        }
    }
}

/*
 * Returns the row of each call. The row is SIZE_MAX if the work of the call is not summed. NULL
 * when out of memory.
 *
 * @param places  [n] places of the calls
 */
static size_t *rows_of(const tm_works_of *of, const uint32_t *places, size_t n) {
    const uint64_t *hashes = of->places->keys.keys.data;
    size_t *rows = malloc((n + 1) * sizeof *rows);
    for (size_t i = 0; i < n && rows; i++)
        rows[i] = places[i] == TM_NO_PLACE ? SIZE_MAX : row_of(of, hashes[places[i]]);
    return rows;
}

bool tm_works_calls(const tm_works_of *of, const tm_peer_items *items, int64_t *out) {
    const size_t n_rows = tm_works_rows(of->shape), n = items->n - items->n_events;
    size_t *rows = rows_of(of, items->places + items->n_events, n);
    int64_t *ns = malloc((n + 1) * sizeof *ns);
    for (size_t i = 0; i < n && ns; i++) {
        const tm_peer_weights w = tm_peer_item(items, items->n_events + i);
        ns[i] = work_of(&w, true);
    }
    const bool ok =
        rows && ns && tm_call_medians(rows, ns, n, n_rows, out + TM_WORKS_CALL * n_rows);
    free(rows);
    free(ns);
    return ok;
}

bool tm_works_batch_calls(const tm_works_of *of, const tm_batch *batch, int64_t *const *out) {
    const size_t n_rows = tm_works_rows(of->shape);
    const size_t n = batch->items->n - batch->items->n_events;
    size_t *rows = rows_of(of, batch->items->places + batch->items->n_events, n);
    int64_t *ns = tm_batch_calls(batch);
    bool ok = rows && ns;
    for (size_t k = 0; k < batch->n && ok; k++)
        ok = tm_call_medians(rows, ns + k * n, n, n_rows, out[k] + TM_WORKS_CALL * n_rows);
    free(rows);
    free(ns);
    return ok;
}

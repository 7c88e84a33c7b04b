#include "sort_events.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether index a may come before index b: the elements are in this order, or they are
 * equal and a is the lower index. */
typedef bool in_order_of(const void *all, uint32_t a, uint32_t b);

static bool events_in_order(const void *all, uint32_t a, uint32_t b) {
    const tm_raw_event *x = (const tm_raw_event *)all + a, *y = (const tm_raw_event *)all + b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns;
    return a <= b;
}

/* Orders calls by correlation id, then by start. */
static bool launches_in_order(const void *all, uint32_t a, uint32_t b) {
    const tm_trace *trace = all;
    const tm_launch_attr *launches = trace->attrs[TM_ATTR_LAUNCH].data;
    if (launches[a].correlation != launches[b].correlation)
        return launches[a].correlation < launches[b].correlation;
    const tm_raw_event *events = trace->events.data;
    uint32_t x = launches[a].event, y = launches[b].event;
    return events[x].begin_ns != events[y].begin_ns ? events[x].begin_ns < events[y].begin_ns
                                                    : x <= y;
}

static inline void merge(const void *all, in_order_of *in_order, const uint32_t *from, uint32_t *to,
                         const size_t bounds[3]) {
    size_t i = bounds[0], j = bounds[1], k = bounds[0];
    while (i < bounds[1] && j < bounds[2])
        to[k++] = in_order(all, from[i], from[j]) ? from[i++] : from[j++];
    memcpy(to + k, from + i, (bounds[1] - i) * sizeof *to);
    k += bounds[1] - i;
    memcpy(to + k, from + j, (bounds[2] - j) * sizeof *to);
}

/* Sorts with a natural merge sort. Profilers write long ascending runs, so few passes are needed.
 * The function is inline, so that each order gets its own copy with an inlined comparison. */
static inline bool sort(const void *all, in_order_of *in_order, uint32_t *order, size_t n,
                        uint32_t *scratch) {
    tm_vec runs = TM_VEC(size_t); /* starts of the ascending runs, then n */
    for (size_t i = 0; i <= n; i++) {
        if (i > 0 && i < n && in_order(all, order[i - 1], order[i]))
            continue;
        if (!tm_vec_append(&runs, &i, 1)) {
            tm_vec_free(&runs);
            return false;
        }
    }
    uint32_t *from = order, *to = scratch;
    while (runs.n > 2) {
        size_t *start = runs.data, kept = 0, r = 0;
        for (; r + 2 < runs.n; r += 2) {
            size_t bounds[3] = {start[r], start[r + 1], start[r + 2]};
            merge(all, in_order, from, to, bounds);
            start[kept++] = bounds[0];
        }
        if (r + 1 < runs.n) { /* if the number of runs is odd, the last one has no partner */
            memcpy(to + start[r], from + start[r], (n - start[r]) * sizeof *to);
            start[kept++] = start[r];
        }
        start[kept++] = n;
        runs.n = kept;
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order)
        memcpy(order, from, n * sizeof *order);
    tm_vec_free(&runs);
    return true;
}

bool tm_sort_events(const tm_raw_event *events, uint32_t *order, size_t n, uint32_t *scratch) {
    return sort(events, events_in_order, order, n, scratch);
}

bool tm_sort_launches(const tm_trace *trace, uint32_t *order, size_t n, uint32_t *scratch) {
    return sort(trace, launches_in_order, order, n, scratch);
}

/* Returns an array [n_events + 1] with the number of attribute rows before each event, or NULL when
 * out of memory. */
static uint32_t *count_before(tm_attr attr, const tm_vec *rows, size_t n_events) {
    char *data = rows->data;
    uint32_t *before = calloc(n_events + 1, sizeof *before);
    for (size_t i = 0; before && i < rows->n; i++)
        before[*tm_attr_event(attr, data + i * rows->size) + 1]++;
    for (size_t row = 0; before && row < n_events; row++)
        before[row + 1] += before[row];
    return before;
}

bool tm_sort_attrs(tm_attr attr, tm_vec *rows, size_t n_events) {
    bool sorted = true;
    char *data = rows->data;
    for (size_t i = 1; i < rows->n && sorted; i++)
        sorted = *tm_attr_event(attr, data + (i - 1) * rows->size) <=
                 *tm_attr_event(attr, data + i * rows->size);
    if (sorted)
        return true;
    uint32_t *place = count_before(attr, rows, n_events);
    char *placed = malloc(rows->n * rows->size);
    if (!place || !placed) {
        free(place);
        free(placed);
        return false;
    }
    for (size_t i = 0; i < rows->n; i++) {
        const char *row = data + i * rows->size;
        memcpy(placed + (size_t)place[*tm_attr_event(attr, data + i * rows->size)]++ * rows->size,
               row, rows->size);
    }
    free(place);
    free(data);
    rows->data = placed;
    rows->cap = rows->n;
    return true;
}

#include <stdlib.h>

#include "base/sorted.h"
#include "trace.h"

/* A forward or backward operator with a sequence number. */
typedef struct numbered {
    int64_t sequence, begin_ns;
    uint32_t row;   /* index in passes.rows */
    uint32_t track; /* Forward operator: track on which it ran. Backward operator: autograd's number
                       of the thread that ran the forward operator. */
} numbered;

/* The operators of both passes. Forward operators are listed only if their numbers are in the range
 * of the backward pass. */
typedef struct passes {
    tm_operator_attr *rows; /* borrowed */
    const tm_raw_event *events;
    tm_vec forward;  /* vector of numbered: sorted by track, number and begin */
    tm_vec backward; /* vector of numbered: sorted in the same way */
} passes;

TM_ORDER_BY(by_number, numbered, track, sequence, begin_ns, row);

static bool add(passes *p, tm_vec *out, size_t row) {
    const tm_raw_event *event = &p->events[p->rows[row].event];
    uint32_t thread = (uint32_t)p->rows[row].thread;
    const numbered added = {p->rows[row].sequence, event->begin_ns, (uint32_t)row,
                            thread == 0 ? event->track : thread};
    return tm_vec_append(out, &added, 1);
}

/* Sorts the rows, unless they are already in order because one thread ran all forward operators. */
static void sort(tm_vec *rows) {
    const numbered *v = rows->data;
    size_t sorted = 1;
    while (sorted < rows->n && by_number(&v[sorted - 1], &v[sorted]) <= 0)
        sorted++;
    if (sorted < rows->n)
        qsort(rows->data, rows->n, sizeof(numbered), by_number);
}

static bool collect(passes *p, size_t n) {
    int64_t least = INT64_MAX, most = -1;
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        p->rows[i].forward = TM_NO_EVENT;
        if (p->rows[i].thread == 0 || p->rows[i].sequence < 0)
            continue;
        least = p->rows[i].sequence < least ? p->rows[i].sequence : least;
        most = p->rows[i].sequence > most ? p->rows[i].sequence : most;
        ok = add(p, &p->backward, i);
    }
    for (size_t i = 0; i < n && ok; i++)
        if (p->rows[i].thread == 0 && p->rows[i].sequence >= least && p->rows[i].sequence <= most)
            ok = add(p, &p->forward, i);
    sort(&p->forward);
    sort(&p->backward);
    return ok;
}

static bool is_before(const void *element, const void *key) {
    return by_number(element, key) < 0;
}

/* Returns the index of the first forward row that is not before the key. The search starts at
 * @p at, which is usually right. */
static size_t forward_from(const passes *p, size_t at, const numbered *key) {
    enum { NEAR = 8 };
    const numbered *v = p->forward.data;
    for (int i = 0; i < NEAR && at < p->forward.n && is_before(&v[at], key); i++)
        at++;
    if (at < p->forward.n && is_before(&v[at], key))
        at += tm_bisect(v + at, p->forward.n - at, sizeof *v, key, is_before);
    return at;
}

/* Returns the forward operator of a backward operator: the last operator of @p track that has the
 * same sequence number and started earlier. If operators are nested, this is the innermost one,
 * which created the graph node. PyTorch's own arrows start there, too. Call this function for
 * backward rows in order, because *at only increases. */
static const numbered *forward_of(const passes *p, const numbered *backward, uint32_t track,
                                  size_t *at) {
    const numbered *v = p->forward.data;
    const numbered key = {backward->sequence, backward->begin_ns, 0, track};
    size_t i = *at = forward_from(p, *at, &key);
    bool found = i > 0 && v[i - 1].track == track && v[i - 1].sequence == key.sequence;
    return found ? &v[i - 1] : NULL;
}

/* Finds the track of the thread that ran the forward operators of the backward rows [first, end).
 * The rows identify this thread only by autograd's number, which occurs nowhere else in the trace.
 * Sequence numbers are counted per thread, so the track is the one that has most of the rows'
 * sequence numbers. If several tracks have equally many, returns the first of them. */
static uint32_t track_of(const passes *p, size_t first, size_t end) {
    const numbered *v = p->forward.data, *b = p->backward.data;
    uint32_t best = UINT32_MAX;
    size_t most = 0;
    for (size_t i = 0; i < p->forward.n; i++) {
        size_t n = 0, at = i;
        if (i > 0 && v[i].track == v[i - 1].track)
            continue;
        for (size_t k = first; k < end; k++)
            n += forward_of(p, &b[k], v[i].track, &at) != NULL;
        best = n > most ? v[i].track : best;
        most = n > most ? n : most;
    }
    return best;
}

static void link_passes(passes *p) {
    const numbered *b = p->backward.data;
    for (size_t first = 0, end; first < p->backward.n; first = end) {
        for (end = first + 1; end < p->backward.n && b[end].track == b[first].track;)
            end++;
        uint32_t track = track_of(p, first, end);
        size_t at = 0;
        for (size_t i = first; i < end; i++) {
            const numbered *forward = forward_of(p, &b[i], track, &at);
            if (forward)
                p->rows[b[i].row].forward = p->rows[forward->row].event;
        }
    }
}

/* Returns how many sequence numbers several graph nodes share. (A node that runs again has the same
 * name, and does not count.) */
static int64_t count_shared(const passes *p) {
    const numbered *b = p->backward.data;
    int64_t shared = 0;
    for (size_t i = 1, outer = 0; i < p->backward.n; i++) {
        const tm_raw_event *node = &p->events[p->rows[b[outer].row].event];
        const tm_raw_event *event = &p->events[p->rows[b[i].row].event];
        const bool same = b[i].track == b[outer].track && b[i].sequence == b[outer].sequence;
        if (same && event->begin_ns < node->begin_ns + node->duration_ns)
            continue;
        shared += same && event->name != node->name;
        outer = i;
    }
    return shared;
}

tm_status tm_trace_link_backward(tm_trace *trace, tm_error *err) {
    passes p = {.rows = trace->attrs[TM_ATTR_OPERATOR].data,
                .events = trace->events.data,
                .forward = TM_VEC(numbered),
                .backward = TM_VEC(numbered)};
    bool ok = collect(&p, trace->attrs[TM_ATTR_OPERATOR].n);
    if (ok) {
        link_passes(&p);
        trace->counts[TM_COUNT_SHARED_SEQUENCE] += count_shared(&p);
    }
    tm_vec_free(&p.forward);
    tm_vec_free(&p.backward);
    return ok ? TM_OK : tm_fail_memory(err);
}

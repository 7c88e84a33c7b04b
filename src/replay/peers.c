#include "peers.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sorted.h"

/* A stall: so much over the median, and so many times it, with so many ranks to tell. */
static const int64_t STALL_NS = 1000000;
enum { STALL_TIMES = 5, STALL_RANKS = 3 };

typedef struct weights {
    int64_t first_ns, second_ns;
    bool is; /* there is an edge that has it */
} weights;

static bool is_lag(const tm_edge *edge) {
    return edge->kind == TM_EDGE_LAUNCH || edge->kind == TM_EDGE_GAP || edge->kind == TM_EDGE_WAIT;
}

/* The weights of all items, from the edges that have them. */
static weights *collect(const tm_draft *draft, const tm_graph *graph) {
    const tm_part_event *events = draft->events.data;
    weights *out = calloc(draft->events.n + draft->calls.n + 1, sizeof *out);
    for (size_t i = 0; i < graph->first[graph->n_nodes] && out; i++) {
        const tm_edge *edge = &graph->edges[i];
        if (edge->item == TM_NO_ITEM)
            continue;
        weights *w = &out[edge->item];
        w->is = true;
        if (edge->kind == TM_EDGE_HOST) /* behind a wait that nothing tells it is shorter */
            w->first_ns = edge->ns > w->first_ns ? edge->ns : w->first_ns;
        else if (edge->kind == TM_EDGE_CALL)
            w->second_ns = edge->ns;
        else if (is_lag(edge))
            w->second_ns = edge->unexplained_ns;
    }
    for (size_t i = 0; i < draft->events.n && out; i++)
        out[i].first_ns = events[i].end_ns - events[i].begin_ns;
    return out;
}

static uint64_t place_of(const tm_draft *draft, size_t item, const tm_peer_role *role) {
    const tm_timeline *t = draft->timeline;
    const tm_part_event *events = draft->events.data, *e = NULL;
    const tm_part_call *call = NULL;
    if (item < draft->events.n) {
        e = &events[item];
    } else {
        call = (const tm_part_call *)draft->calls.data + item - draft->events.n;
        e = call->launched != TM_NO_PART ? &events[call->launched] : NULL;
    }
    uint64_t position =
        e ? tm_draft_position(t, e->row, e->nth) : tm_draft_position(t, call->row, call->nth);
    int32_t step = e ? e->step : call->step;
    int64_t number = step == TM_NO_STEP ? -1 : t->steps[step].number;
    const int64_t key[4] = {(int64_t)position, role->stage, role->other_steps ? 0 : number,
                            call ? 1 : 0};
    return tm_hash_mixed(0, key, sizeof key);
}

tm_status tm_peers_add(const tm_draft *draft, const tm_graph *graph, const tm_peer_role *role,
                       tm_vec *peers, tm_error *err) {
    weights *w = collect(draft, graph);
    const size_t n = draft->events.n + draft->calls.n;
    bool ok = w != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        if (!w[i].is)
            continue;
        const tm_peer peer = {.place = place_of(draft, i, role),
                              .first_ns = w[i].first_ns,
                              .second_ns = w[i].second_ns,
                              .origin = role->origin,
                              .rank = role->rank,
                              .item = (uint32_t)i,
                              .call = i >= draft->events.n};
        if ((peer.place >> 32) % role->n_slices == role->slice)
            ok = tm_vec_append(peers, &peer, 1) != NULL;
    }
    free(w);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* A weight of a place, to be sorted. */
typedef struct weight {
    int64_t ns;
    uint32_t peer;
} weight;

static int by_ns(const void *a, const void *b) {
    return tm_order_i64(((const weight *)a)->ns, ((const weight *)b)->ns);
}

/* The median of [n >= 2] ascending weights without the k-th. */
static int64_t median_of_others(const weight *v, size_t n, size_t k) {
    size_t low = (n - 2) / 2, high = n == 3 ? 0 : (n - 1) / 2; /* of n - 1 */
    int64_t a = v[low + (low >= k)].ns, b = v[high + (high >= k)].ns;
    return a + (b - a) / 2;
}

static int64_t *weight_of(tm_peer *peer, bool second) {
    return second ? &peer->second_ns : &peer->first_ns;
}

static void compare_weight(tm_peer *peers, size_t n, bool second, weight *v) {
    for (size_t i = 0; i < n; i++)
        v[i] = (weight){*weight_of(&peers[i], second), (uint32_t)i};
    qsort(v, n, sizeof *v, by_ns);
    for (size_t k = 0; k < n; k++) {
        int64_t others = median_of_others(v, n, k);
        tm_peer *peer = &peers[v[k].peer];
        if (peer->call && n >= STALL_RANKS && v[k].ns > others + STALL_NS &&
            v[k].ns > STALL_TIMES * others)
            peer->flags |= TM_EDGE_STALL;
        *weight_of(peer, second) = others;
    }
}

static int by_place(const void *a, const void *b) {
    const tm_peer *x = a, *y = b;
    int order = tm_order_u64(x->place, y->place);
    order = order ? order : tm_order_i64(x->origin, y->origin);
    order = order ? order : tm_order_i64(x->rank, y->rank);
    return order ? order : tm_order_i64(x->item, y->item);
}

tm_status tm_peers_compare(tm_vec *peers, tm_error *err) {
    tm_peer *v = peers->data;
    size_t largest = 1;
    if (peers->n > 1)
        qsort(v, peers->n, sizeof *v, by_place);
    for (size_t first = 0, end = 0; first < peers->n; first = end) {
        while (end < peers->n && v[end].place == v[first].place)
            end++;
        largest = end - first > largest ? end - first : largest;
    }
    weight *scratch = malloc(largest * sizeof *scratch);
    for (size_t first = 0, end = 0; first < peers->n && scratch; first = end) {
        while (end < peers->n && v[end].place == v[first].place)
            end++;
        if (end - first == 1) {
            v[first].flags |= TM_EDGE_MISSING;
            continue;
        }
        for (size_t i = first; i < end && end - first == 2; i++)
            v[i].flags |= TM_EDGE_PAIR;
        compare_weight(v + first, end - first, false, scratch);
        compare_weight(v + first, end - first, true, scratch);
    }
    free(scratch);
    return scratch ? TM_OK : tm_fail_memory(err);
}

static void set_edge(tm_edge *edge, const tm_peer *peer, int64_t duration) {
    edge->flags |= peer->flags;
    if (peer->flags & TM_EDGE_MISSING)
        return;
    int64_t excess = edge->unexplained_ns - peer->second_ns;
    switch ((tm_edge_kind)edge->kind) {
    case TM_EDGE_COMPUTE:
    case TM_EDGE_COPY:
    case TM_EDGE_HOST:
        edge->peer_ns = edge->ns + peer->first_ns - duration;
        break;
    case TM_EDGE_CALL:
        edge->peer_ns = peer->second_ns;
        break;
    default:
        edge->peer_ns = edge->ns - (is_lag(edge) && excess > 0 ? excess : 0);
        break;
    }
    if (edge->peer_ns < 0)
        edge->peer_ns = 0;
}

tm_status tm_peers_set(tm_graph *graph, const tm_peer *peers, size_t n, size_t items,
                       tm_error *err) {
    uint32_t *peer_of = calloc(items + 1, sizeof *peer_of); /* 1 + index */
    int64_t *durations = calloc(items + 1, sizeof *durations);
    bool ok = peer_of && durations;
    for (size_t i = 0; i < n && ok; i++)
        peer_of[peers[i].item] = (uint32_t)i + 1;
    for (size_t v = 0; v < graph->n_nodes && ok; v++)
        for (uint32_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            const tm_edge *edge = &graph->edges[e];
            if ((edge->kind == TM_EDGE_COMPUTE || edge->kind == TM_EDGE_COPY ||
                 edge->kind == TM_EDGE_HOST) &&
                edge->item != TM_NO_ITEM && edge->ns > durations[edge->item])
                durations[edge->item] = edge->ns; /* the whole of it leads to its end */
        }
    for (size_t e = 0; e < graph->first[graph->n_nodes] && ok; e++) {
        tm_edge *edge = &graph->edges[e];
        if (edge->item != TM_NO_ITEM && peer_of[edge->item])
            set_edge(edge, &peers[peer_of[edge->item] - 1], durations[edge->item]);
    }
    free(peer_of);
    free(durations);
    return ok ? TM_OK : tm_fail_memory(err);
}

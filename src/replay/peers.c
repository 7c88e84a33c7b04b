#include "peers.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/keys.h"
#include "base/median.h"

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

/* An event or call of a step, by its name and which of that name it is. */
typedef struct spot {
    uint32_t row, nth;
    int32_t step;
} spot;

static spot spot_of(const tm_draft *draft, size_t item) {
    const tm_part_event *events = draft->events.data;
    const tm_part_call *call = draft->calls.data;
    size_t event = item;
    if (item >= draft->events.n) {
        call += item - draft->events.n;
        if (call->launched == TM_NO_PART)
            return (spot){call->row, call->nth, call->step};
        event = call->launched;
    }
    return (spot){events[event].row, events[event].nth, events[event].step};
}

static uint64_t place_of(const tm_draft *draft, size_t item, const tm_peer_role *role) {
    const tm_timeline *t = draft->timeline;
    const spot at = spot_of(draft, item);
    int64_t number = at.step == TM_NO_STEP ? -1 : t->steps[at.step].number;
    const uint64_t key[4] = {tm_draft_position(t, at.row, at.nth), (uint64_t)role->stage,
                             role->other_steps ? 0 : (uint64_t)number, item >= draft->events.n};
    return tm_hash_words(0, key, 4);
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

static int64_t *weight_of(tm_peer *peer, bool second) {
    return second ? &peer->second_ns : &peer->first_ns;
}

/* The middle of [n >= 2] weights, from which follows the median of all but any one of them: the
 * k-th of the others is the k-th of all, or the next where the one is not above it. */
typedef struct middle {
    size_t low, high;  /* places of the others' middle: of two others, the less */
    int64_t sorted[3]; /* from the one at low on */
} middle;

static middle find_middle(int64_t *v, size_t n) {
    middle m = {.low = (n - 2) / 2, .high = n == 3 ? 0 : (n - 1) / 2};
    m.sorted[0] = tm_select(v, n, m.low);
    for (size_t i = 1; i <= 1 + m.high - m.low; i++)
        m.sorted[i] = tm_select(v + m.low + i, n - m.low - i, 0);
    return m;
}

static int64_t median_of_others(const middle *m, int64_t ns) {
    const int64_t *low = m->sorted, *high = m->sorted + (m->high - m->low);
    int64_t a = low[ns <= low[0]], b = high[ns <= high[0]];
    return a + (b - a) / 2;
}

/* Of the peers at one place, by their indices. */
static void compare_weight(tm_peer *peers, const uint32_t *of, size_t n, bool second, int64_t *v) {
    for (size_t i = 0; i < n; i++)
        v[i] = *weight_of(&peers[of[i]], second);
    const middle m = find_middle(v, n);
    for (size_t i = 0; i < n; i++) {
        tm_peer *peer = &peers[of[i]];
        int64_t ns = *weight_of(peer, second), others = median_of_others(&m, ns);
        if (peer->call && n >= STALL_RANKS && ns > others + STALL_NS && ns > STALL_TIMES * others)
            peer->flags |= TM_EDGE_STALL;
        *weight_of(peer, second) = others;
    }
}

/* Peers ordered by place. */
typedef struct places {
    tm_keys keys;    /* of uint64_t */
    uint32_t *first; /* owned; [places + 1] where each begins in */
    uint32_t *of;    /* owned; [peers] indices */
} places;

static void places_free(places *p) {
    tm_keys_free(&p->keys);
    free(p->first);
    free(p->of);
}

/* @param out  empty; freed by the caller in either case */
static bool order_places(const tm_vec *peers, places *out) {
    const tm_peer *v = peers->data;
    uint32_t *number = malloc((peers->n + 1) * sizeof *number);
    out->of = malloc((peers->n + 1) * sizeof *out->of);
    bool ok = number && out->of;
    for (size_t i = 0; i < peers->n && ok; i++) {
        number[i] = tm_keys_add(&out->keys, &v[i].place);
        ok = number[i] != TM_NO_KEY;
    }
    out->first = ok ? calloc(out->keys.keys.n + 2, sizeof *out->first) : NULL;
    ok = out->first != NULL;
    for (size_t i = 0; i < peers->n && ok; i++)
        out->first[number[i] + 2]++;
    for (size_t k = 2; ok && k < out->keys.keys.n + 2; k++)
        out->first[k] += out->first[k - 1];
    for (size_t i = 0; i < peers->n && ok; i++)
        out->of[out->first[number[i] + 1]++] = (uint32_t)i;
    free(number);
    return ok;
}

tm_status tm_peers_compare(tm_vec *peers, tm_error *err) {
    tm_peer *v = peers->data;
    places p = {.keys = TM_KEYS(uint64_t)};
    int64_t *scratch = malloc((peers->n + 1) * sizeof *scratch);
    bool ok = order_places(peers, &p) && scratch;
    for (size_t k = 0; ok && k < p.keys.keys.n; k++) {
        const uint32_t *of = p.of + p.first[k];
        size_t n = p.first[k + 1] - p.first[k];
        for (size_t i = 0; i < n && n <= 2; i++)
            v[of[i]].flags |= n == 1 ? TM_EDGE_MISSING : TM_EDGE_PAIR;
        if (n == 1)
            continue;
        compare_weight(v, of, n, false, scratch);
        compare_weight(v, of, n, true, scratch);
    }
    places_free(&p);
    free(scratch);
    return ok ? TM_OK : tm_fail_memory(err);
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

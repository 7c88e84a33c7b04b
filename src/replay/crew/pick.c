/* Extracts the graph of one rank of a batch. */
#include <stdlib.h>

#include "base/sorted.h"
#include "crew.h"
#include "replay/order.h"

typedef struct pick {
    const tm_crew *crew;
    const tm_crew_desk *desk;
    size_t lane;
    uint32_t *place;    /* owned; [nodes] new index of each of the batch's nodes */
    tm_order_key *keys; /* owned; [nodes] in the order of this rank's times */
} pick;

static int by_key(const void *a, const void *b) {
    const tm_order_key *x = a, *y = b;
    int order = tm_order_u64(x->key, y->key);
    return order ? order : tm_order_u64(x->part, y->part);
}

/* Orders the nodes by this rank's times, if @p in_time. False when out of memory. */
static bool order_nodes(pick *p, bool in_time) {
    const tm_graph *like = p->crew->like;
    const size_t n = like->n_nodes, parts = 2 * p->crew->items->n;
    uint32_t *node_of = malloc((parts + 1) * sizeof *node_of);
    p->place = malloc((n + 1) * sizeof *p->place);
    p->keys = malloc((n + 1) * sizeof *p->keys);
    if (!node_of || !p->place || !p->keys) {
        free(node_of);
        return false;
    }
    for (uint32_t v = 0; v < n; v++)
        if (like->parts[v] < parts)
            node_of[like->parts[v]] = v;
    int64_t first = INT64_MAX;
    for (size_t v = 0; v < n; v++)
        first = p->desk->ns[v].ns[p->lane] < first ? p->desk->ns[v].ns[p->lane] : first;
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t part = like->parts[v];
        const int64_t ns = p->desk->ns[v].ns[p->lane];
        const bool took =
            part < parts && part % 2 && ns > p->desk->ns[node_of[part - 1]].ns[p->lane];
        p->keys[v] = tm_order_key_of(part, ns - first, took, p->crew->items->n_events, parts / 2);
        p->keys[v].event = v;
    }
    if (in_time)
        tm_sort(p->keys, n, sizeof *p->keys, by_key);
    for (uint32_t i = 0; i < n; i++)
        p->place[p->keys[i].event] = i;
    free(node_of);
    return true;
}

static void copy_edge(const pick *p, uint32_t e, tm_edge *edge) {
    *edge = p->crew->like->edges[e];
    edge->flags &= TM_EDGE_INPUT | TM_EDGE_GC;
    edge->flags |= p->desk->known[e] & TM_EDGE_PAIR;
    edge->flags |= p->desk->stall[e] >> p->lane & 1 ? TM_EDGE_STALL : 0;
    edge->flags |= p->crew->has_over[e] >> p->lane & 1 ? TM_EDGE_OVER : 0;
    edge->ns = tm_crew_ns(p->crew, e, p->lane);
    edge->peer_ns = p->desk->known[e] & TM_DESK_PEER ? p->desk->peer[e].ns[p->lane] : edge->ns;
    if (edge->from != TM_FROM_ROOT && !(edge->from & TM_FROM_VISIT))
        edge->from = p->place[edge->from];
}

static bool copy_ports(const pick *p, tm_graph *out) {
    const tm_graph *like = p->crew->like;
    tm_graph_visit *visits = tm_vec_append(&out->visits, like->visits.data, like->visits.n);
    tm_graph_step *steps = tm_vec_append(&out->steps, like->steps.data, like->steps.n);
    for (size_t i = 0; i < like->visits.n && visits; i++) {
        visits[i].operation = p->crew->visits[i].operation[p->lane];
        visits[i].last_ns = p->crew->visits[i].last_ns[p->lane];
        visits[i].node = visits[i].node == TM_NO_NODE ? TM_NO_NODE : p->place[visits[i].node];
    }
    for (size_t k = 0; k < like->steps.n && steps; k++)
        steps[k].node = p->place[steps[k].node];
    return (visits || like->visits.n == 0) && (steps || like->steps.n == 0);
}

static bool copy_nodes(const pick *p, tm_graph *out) {
    const tm_graph *like = p->crew->like;
    const size_t n = like->n_nodes;
    uint32_t behind = 0;
    out->ns = malloc((n + 1) * sizeof *out->ns);
    out->event = malloc((n + 1) * sizeof *out->event);
    out->parts = malloc((n + 1) * sizeof *out->parts);
    out->first = malloc((n + 1) * sizeof *out->first);
    out->edges = malloc((tm_crew_edges(p->crew) + 1) * sizeof *out->edges);
    out->over_ns = malloc((n + 1) * sizeof *out->over_ns);
    if (!out->over_ns || !out->ns || !out->event || !out->parts || !out->first || !out->edges)
        return false;
    out->n_nodes = n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = p->keys[i].event;
        out->ns[i] = p->desk->ns[v].ns[p->lane];
        out->event[i] = like->event[v];
        out->parts[i] = like->parts[v];
        out->first[i] = behind;
        out->over_ns[i] = 0;
        for (uint32_t e = like->first[v]; e < like->first[v + 1]; e++) {
            copy_edge(p, e, &out->edges[behind]);
            if (out->edges[behind++].flags & TM_EDGE_OVER)
                out->over_ns[i] = p->crew->over[p->crew->items->slots[e]].ns[p->lane];
        }
    }
    out->first[n] = behind;
    return true;
}

tm_status tm_crew_pick(const tm_crew *crew, size_t lane, tm_crew_desk *desk, bool in_time,
                       tm_graph *out, tm_error *err) {
    pick p = {.crew = crew, .desk = desk, .lane = lane};
    *out = (tm_graph){.rank = crew->rank[lane],
                      .visits = TM_VEC(tm_graph_visit),
                      .steps = TM_VEC(tm_graph_step),
                      .n_inferred = crew->like->n_inferred};
    bool ok = tm_crew_desk_fit(desk, crew);
    if (ok)
        tm_crew_times(crew, desk);
    ok = ok && order_nodes(&p, in_time) && copy_nodes(&p, out) && copy_ports(&p, out);
    free(p.place);
    free(p.keys);
    return ok ? TM_OK : tm_fail_memory(err);
}

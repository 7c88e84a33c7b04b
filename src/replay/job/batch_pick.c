/* Extracts the graph of one rank of a batch. */
#include <stdlib.h>

#include "base/sorted.h"
#include "batch.h"
#include "replay/graph/order.h"

typedef struct pick {
    const tm_batch *batch;
    const tm_batch_workspace *workspace;
    size_t lane;
    uint32_t *place; /* owned; [nodes] for each node of the batch: its index in the rank's graph */
    tm_order_key *keys; /* owned; [nodes] the batch's nodes in the order of the rank's times */
} pick;

TM_ORDER_BY(by_key, tm_order_key, key, part);

/* Orders the nodes. If @p in_time, orders them by this rank's times. Otherwise, keeps the order of
 * the batch. False when out of memory. */
static bool order_nodes(pick *p, bool in_time) {
    const tm_graph *like = p->batch->like;
    const size_t n = like->n_nodes, parts = 2 * p->batch->items->n;
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
        first = p->workspace->ns[v].ns[p->lane] < first ? p->workspace->ns[v].ns[p->lane] : first;
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t part = like->parts[v];
        const int64_t ns = p->workspace->ns[v].ns[p->lane];
        const bool took =
            part < parts && part % 2 && ns > p->workspace->ns[node_of[part - 1]].ns[p->lane];
        p->keys[v] = tm_order_key_of(part, ns - first, took, p->batch->items->n_events, parts / 2);
        p->keys[v].event = v;
    }
    if (in_time)
        tm_sort(p->keys, n, sizeof *p->keys, by_key);
    for (uint32_t i = 0; i < n; i++)
        p->place[p->keys[i].event] = i;
    free(node_of);
    return true;
}

static bool copy_edge(const pick *p, uint32_t e, tm_graph *out, tm_edge *edge) {
    const bool over = p->batch->has_over[e] >> p->lane & 1;
    const int64_t ns = tm_batch_ns(p->batch, e, p->lane);
    const tm_weight weight = {
        ns, p->workspace->known[e] & TM_WORKSPACE_PEER ? p->workspace->peer[e].ns[p->lane] : ns,
        over ? p->batch->over[p->batch->items->slots[e]].ns[p->lane] : 0};
    *edge = p->batch->like->edges[e];
    edge->ns = 0; /* removes the model's weight; tm_graph_weigh sets this rank's weight */
    edge->flags &= TM_EDGE_INPUT | TM_EDGE_GC;
    tm_edge_flag(edge, p->workspace->known[e] & TM_EDGE_PAIR);
    tm_edge_flag(edge, p->workspace->stall[e] >> p->lane & 1 ? TM_EDGE_STALL : 0);
    tm_edge_flag(edge, over ? TM_EDGE_OVER : 0);
    if (edge->from != TM_FROM_ROOT && !(edge->from & TM_FROM_OPERATION))
        edge->from = p->place[edge->from];
    return tm_graph_weigh(out, edge, &weight);
}

static bool copy_boundaries(const pick *p, tm_graph *out) {
    const tm_graph *like = p->batch->like;
    tm_graph_participant *participants =
        tm_vec_append(&out->participants, like->participants.data, like->participants.n);
    tm_graph_step *steps = tm_vec_append(&out->steps, like->steps.data, like->steps.n);
    for (size_t i = 0; i < like->participants.n && participants; i++) {
        participants[i].operation = p->batch->participants[i].operation[p->lane];
        participants[i].last_ns = p->batch->participants[i].last_ns[p->lane];
        participants[i].node =
            participants[i].node == TM_NO_NODE ? TM_NO_NODE : p->place[participants[i].node];
    }
    for (size_t k = 0; k < like->steps.n && steps; k++)
        steps[k].node = p->place[steps[k].node];
    return (participants || like->participants.n == 0) && (steps || like->steps.n == 0);
}

static bool copy_nodes(const pick *p, tm_graph *out) {
    const tm_graph *like = p->batch->like;
    const size_t n = like->n_nodes;
    uint32_t after = 0;
    out->ns = malloc((n + 1) * sizeof *out->ns);
    out->event = malloc((n + 1) * sizeof *out->event);
    out->parts = malloc((n + 1) * sizeof *out->parts);
    out->first = malloc((n + 1) * sizeof *out->first);
    out->edges = malloc((tm_batch_edges(p->batch) + 1) * sizeof *out->edges);
    if (!out->ns || !out->event || !out->parts || !out->first || !out->edges)
        return false;
    out->n_nodes = n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = p->keys[i].event;
        out->ns[i] = p->workspace->ns[v].ns[p->lane];
        out->event[i] = like->event ? like->event[v] : TM_NO_EVENT;
        out->parts[i] = like->parts[v];
        out->first[i] = after;
        for (uint32_t e = like->first[v]; e < like->first[v + 1]; e++)
            if (!copy_edge(p, e, out, &out->edges[after++]))
                return false;
    }
    out->first[n] = after;
    return true;
}

tm_status tm_batch_pick(const tm_batch *batch, size_t lane, tm_batch_workspace *workspace,
                        bool in_time, tm_graph *out, tm_error *err) {
    pick p = {.batch = batch, .workspace = workspace, .lane = lane};
    *out = (tm_graph){.rank = batch->rank[lane],
                      .participants = TM_VEC(tm_graph_participant),
                      .steps = TM_VEC(tm_graph_step),
                      .apart = TM_WEIGHTS(),
                      .n_inferred = batch->like->n_inferred};
    bool ok = tm_batch_workspace_fit(workspace, batch);
    if (ok)
        tm_batch_times(batch, workspace);
    ok = ok && order_nodes(&p, in_time) && copy_nodes(&p, out) && copy_boundaries(&p, out);
    free(p.place);
    free(p.keys);
    return ok ? TM_OK : tm_fail_memory(err);
}

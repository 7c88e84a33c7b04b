#include "batch_items.h"

#include <stdlib.h>

static const uint32_t NO_ITEM = UINT32_MAX;

static bool is_lag(const tm_edge *edge) {
    return edge->kind == TM_EDGE_LAUNCH || edge->kind == TM_EDGE_GAP || edge->kind == TM_EDGE_WAIT;
}

static bool is_work(const tm_edge *edge) {
    return edge->kind == TM_EDGE_COMPUTE || edge->kind == TM_EDGE_COPY;
}

/* Like item_of in peers.c, except that a lag always belongs to an item, because a part of the lag
 * may be unexplained on some rank. */
static uint32_t item_of(const tm_batch_items *items, const tm_graph *g, uint32_t node,
                        const tm_edge *edge) {
    if (is_work(edge))
        return g->parts[edge->from] / 2;
    if (edge->kind == TM_EDGE_HOST || edge->kind == TM_EDGE_CALL)
        return g->parts[node] / 2;
    if (edge->kind == TM_EDGE_TRANSFER)
        return (uint32_t)items->n;
    return is_lag(edge) && g->parts[node] < 2 * items->n_events ? g->parts[node] / 2 : NO_ITEM;
}

/* Returns which weight of @p item an edge contributes to. If several lags lead to a node, only the
 * first one contributes.
 * @param reported  whether a lag of the node already contributes; updated */
static tm_item_tells tells(const tm_graph *g, uint32_t node, const tm_edge *edge, uint32_t item,
                           bool *reported) {
    if (edge->kind == TM_EDGE_HOST || (is_work(edge) && g->parts[node] / 2 == item))
        return TM_TELLS_FIRST;
    if (edge->kind == TM_EDGE_CALL)
        return TM_TELLS_SECOND;
    if (!is_lag(edge) || *reported)
        return TM_TELLS_NONE;
    *reported = true;
    return TM_TELLS_OVER;
}

static bool may_have_over(const tm_edge *edge) {
    return is_lag(edge) || edge->kind == TM_EDGE_SYNC || (edge->flags & TM_EDGE_OVER);
}

/* Assigns a slot to each node with an edge that can have unexplained time. */
static void number_slots(tm_batch_items *items, const tm_graph *g) {
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        bool any = false;
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
            const bool may = may_have_over(&g->edges[e]);
            items->slots[e] = may ? (uint32_t)items->n_slots : TM_NO_SLOT;
            any = any || may;
        }
        items->n_slots += any;
    }
}

/* One of two passes of a counting sort of edges by item. The first pass, with @p count, counts the
 * edges of item i in first[i + 2]. The caller then adds up the counts, so that first[i + 1] is the
 * index of item i's first edge. The second pass places the edges, and thereby advances first[i + 1]
 * to the end of item i's edges, where the edges of item i + 1 start. */
static void list_edges(tm_batch_items *items, const tm_graph *g, bool count) {
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        bool reported = false;
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
            const tm_edge *edge = &g->edges[e];
            const uint32_t item = item_of(items, g, v, edge);
            if (item == NO_ITEM)
                continue;
            if (count) {
                items->first[item + 2] += 1;
                items->always[item] |= is_work(edge);
            } else {
                const tm_item_edge one = {e, edge->kind,
                                          (uint8_t)tells(g, v, edge, item, &reported)};
                items->edges[items->first[item + 1]++] = one;
            }
        }
    }
}

bool tm_batch_items_make(tm_batch_items *items, const tm_graph *graph, size_t n, size_t n_events) {
    const size_t n_edges = graph->first[graph->n_nodes];
    *items = (tm_batch_items){.n = n,
                              .n_events = n_events,
                              .places = malloc((n + 1) * sizeof *items->places),
                              .slots = malloc((n_edges + 1) * sizeof *items->slots),
                              .first = calloc(n + 3, sizeof *items->first),
                              .edges = malloc((n_edges + 1) * sizeof *items->edges),
                              .always = calloc(n + 1, 1)};
    if (!items->places || !items->slots || !items->first || !items->edges || !items->always)
        return false;
    number_slots(items, graph);
    for (size_t i = n_events; i < n; i++)
        items->always[i] = true;
    list_edges(items, graph, true);
    for (size_t i = 2; i < n + 3; i++)
        items->first[i] += items->first[i - 1];
    list_edges(items, graph, false);
    return true;
}

void tm_batch_items_free(tm_batch_items *items) {
    free(items->places);
    free(items->slots);
    free(items->first);
    free(items->edges);
    free(items->always);
}

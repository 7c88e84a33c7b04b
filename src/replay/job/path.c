#include "path.h"

#include <stdlib.h>

#include "base/sorted.h"

static bool decides_before(const tm_graph *graph, const tm_edge *a, const tm_edge *b) {
    int64_t x = tm_graph_source_ns(graph, a), y = tm_graph_source_ns(graph, b);
    return x != y ? x > y : a->kind < b->kind;
}

static uint32_t boundary_of(const tm_edge *edge, const uint32_t *boundaries) {
    if (edge->from == TM_FROM_ROOT)
        return TM_FROM_ROOT;
    return edge->from & TM_FROM_OPERATION ? edge->from & ~TM_FROM_OPERATION
                                          : boundaries[edge->from];
}

void tm_path_decide(const tm_graph *graph, uint32_t *edges, uint32_t *boundaries) {
    for (size_t v = 0; v < graph->n_nodes; v++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            const tm_edge *edge = &graph->edges[e];
            if (tm_graph_reached_ns(graph, edge) == graph->ns[v] &&
                (best == UINT32_MAX || decides_before(graph, edge, &graph->edges[best])))
                best = e;
        }
        edges[v] = best;
        boundaries[v] =
            best == UINT32_MAX ? TM_FROM_ROOT : boundary_of(&graph->edges[best], boundaries);
    }
}

static void boundary_names(const tm_graph *graph, uint32_t boundary, uint64_t *from,
                           int64_t *from_ns) {
    const tm_graph_participant *participants = graph->participants.data;
    *from = boundary == TM_FROM_ROOT ? TM_PATH_ROOT : participants[boundary].operation;
    *from_ns = boundary == TM_FROM_ROOT ? INT64_MIN : participants[boundary].last_ns;
}

tm_status tm_path_boundaries(const tm_graph *graph, const uint32_t *boundaries, tm_vec *arrivals,
                             tm_vec *ends, tm_error *err) {
    const tm_graph_participant *participants = graph->participants.data;
    const tm_graph_step *steps = graph->steps.data;
    bool ok = true;
    for (size_t i = 0; i < graph->participants.n && ok; i++) {
        if (participants[i].node == TM_NO_NODE ||
            graph->ns[participants[i].node] != participants[i].last_ns)
            continue;
        tm_path_arrival arrival = {.operation = participants[i].operation,
                                   .last_ns = participants[i].last_ns,
                                   .rank = graph->rank,
                                   .node = participants[i].node};
        boundary_names(graph, boundaries[participants[i].node], &arrival.from, &arrival.from_ns);
        ok = tm_vec_append(arrivals, &arrival, 1) != NULL;
    }
    for (size_t k = 0; k < graph->steps.n && ok; k++) {
        tm_path_end end = {.number = steps[k].number,
                           .end_ns = graph->ns[steps[k].node],
                           .rank = graph->rank,
                           .node = steps[k].node};
        boundary_names(graph, boundaries[steps[k].node], &end.from, &end.from_ns);
        ok = tm_vec_append(ends, &end, 1) != NULL;
    }
    return ok ? TM_OK : tm_fail_memory(err);
}

TM_ORDER_BY(by_operation, tm_path_arrival, operation, rank);

/* Orders by step number. Within a step, the latest end comes first. Of equal ends, the end of the
 * lowest rank comes first. */
static int by_step(const void *a, const void *b) {
    const tm_path_end *x = a, *y = b;
    int order = tm_order_i64(x->number, y->number);
    order = order ? order : -tm_order_i64(x->end_ns, y->end_ns);
    return order ? order : tm_order_i64(x->rank, y->rank);
}

/* Of the ranks that arrived last at an operation, returns the arrival of the lowest rank. Returns
 * NULL if there is none. */
static const tm_path_arrival *last_of(const tm_vec *arrivals, uint64_t operation) {
    const tm_path_arrival *v = arrivals->data;
    size_t i = TM_FIRST_FROM(tm_path_arrival, operation, v, arrivals->n, operation);
    return i < arrivals->n && v[i].operation == operation ? &v[i] : NULL;
}

static bool add_hop(tm_vec *hops, const tm_path_step *step, int64_t rank, uint32_t node,
                    const int64_t between[2]) {
    const tm_path_hop hop = {
        .step = step->number,
        .begin_ns = between[0] > step->begin_ns ? between[0] : step->begin_ns,
        .end_ns = between[1],
        .rank = rank,
        .node = node,
    };
    return tm_vec_append(hops, &hop, 1) != NULL;
}

static bool walk_step(const tm_vec *arrivals, const tm_path_end *end, tm_path_step *step,
                      tm_vec *hops) {
    const int64_t last[2] = {end->from_ns, end->end_ns};
    uint64_t from = end->from;
    int64_t at = end->from_ns;
    if (!add_hop(hops, step, end->rank, end->node, last))
        return false;
    step->hops = 1;
    /* The number of hops is limited, because rounded times may be equal, and the walk might then
     * never end. */
    while (at > step->begin_ns && from != TM_PATH_ROOT && step->hops <= (int64_t)arrivals->n) {
        const tm_path_arrival *arrival = last_of(arrivals, from);
        if (!arrival)
            break;
        const int64_t between[2] = {arrival->from_ns, arrival->last_ns};
        if (!add_hop(hops, step, arrival->rank, arrival->node, between))
            return false;
        step->hops++;
        from = arrival->from;
        at = arrival->from_ns;
    }
    return true;
}

/* Walks back from the job's last end. If several ends are last, takes the first of them in the
 * order of by_step. */
static bool walk_whole(const tm_vec *arrivals, const tm_vec *ends, tm_vec *hops) {
    const tm_path_end *v = ends->data, *last = v;
    for (size_t i = 1; i < ends->n; i++)
        last = v[i].end_ns > last->end_ns ? &v[i] : last;
    tm_path_step whole = {.number = TM_PATH_WHOLE, .begin_ns = INT64_MIN};
    return ends->n == 0 || walk_step(arrivals, last, &whole, hops);
}

tm_status tm_path_walk(tm_vec *arrivals, tm_vec *ends, int64_t n_ranks, tm_vec *steps, tm_vec *hops,
                       tm_error *err) {
    const tm_path_end *v = ends->data;
    int64_t before_ns = 0;
    tm_vec_sort(arrivals, by_operation);
    tm_vec_sort(ends, by_step);
    for (size_t first = 0, next = 0; first < ends->n; first = next) {
        while (next < ends->n && v[next].number == v[first].number)
            next++;
        tm_path_step step = {.number = v[first].number,
                             .begin_ns = before_ns,
                             .end_ns = v[first].end_ns > before_ns ? v[first].end_ns : before_ns,
                             .partial = (int64_t)(next - first) < n_ranks};
        bool ok = v[first].end_ns <= before_ns || walk_step(arrivals, &v[first], &step, hops);
        if (!ok || !tm_vec_append(steps, &step, 1))
            return tm_fail_memory(err);
        before_ns = step.end_ns;
    }
    return walk_whole(arrivals, ends, hops) ? TM_OK : tm_fail_memory(err);
}

static void reverse(tm_path_piece *v, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        const tm_path_piece other = v[n - 1 - i];
        v[n - 1 - i] = v[i];
        v[i] = other;
    }
}

tm_status tm_path_fill(const tm_graph *graph, const tm_timeline *timeline, const uint32_t *edges,
                       const tm_path_hop *hop, tm_vec *pieces, tm_error *err) {
    const size_t first = pieces->n;
    uint32_t v = hop->node;
    int64_t at = hop->end_ns;
    while (at > hop->begin_ns && edges[v] != UINT32_MAX) {
        const tm_edge *edge = &graph->edges[edges[v]];
        const tm_weight weight = tm_graph_weight(graph, edge);
        int64_t source = tm_graph_source_ns(graph, edge);
        int64_t begin = source > hop->begin_ns ? source : hop->begin_ns;
        bool node = edge->from != TM_FROM_ROOT && !(edge->from & TM_FROM_OPERATION);
        uint32_t event = tm_graph_event_of(graph, v, edge);
        const tm_path_piece piece = {
            .step = hop->step,
            .begin_ns = begin,
            .ns = at - begin,
            .gain_ns = weight.ns - tm_edge_usual_ns(edge, &weight),
            .rank = graph->rank,
            .name = event == TM_NO_EVENT ? TM_NO_NAME : timeline->name[event],
            .event = event,
            .kind = (uint8_t)edge->kind,
            .flags = (uint8_t)edge->flags,
            .part = tm_graph_fix(graph, edge),
        };
        if (piece.ns > 0 && !tm_vec_append(pieces, &piece, 1))
            return tm_fail_memory(err);
        at = begin;
        if (!node)
            break;
        v = edge->from;
    }
    if (pieces->n > first)
        reverse((tm_path_piece *)pieces->data + first, pieces->n - first);
    return TM_OK;
}

#include "crew.h"

#include <stdlib.h>
#include <string.h>

void tm_crew_free(tm_crew *crew) {
    free(crew->recorded);
    free(crew->unexplained);
    free(crew->visits);
    crew->recorded = crew->unexplained = NULL;
    crew->visits = NULL;
}

void tm_crew_desk_free(tm_crew_desk *desk) {
    free(desk->ns);
    free(desk->peer);
    free(desk->known);
    free(desk->stall);
    free(desk->ports);
    *desk = (tm_crew_desk){0};
}

bool tm_crew_desk_fit(tm_crew_desk *desk, const tm_crew *crew) {
    const size_t n_nodes = crew->like->n_nodes, n_edges = tm_crew_edges(crew);
    if (n_nodes <= desk->n_nodes && n_edges <= desk->n_edges)
        return true;
    tm_crew_desk_free(desk);
    *desk = (tm_crew_desk){.n_nodes = n_nodes, .n_edges = n_edges};
    desk->ns = malloc((n_nodes + 1) * sizeof *desk->ns);
    desk->ports = malloc((n_nodes + 1) * TM_LANES * sizeof *desk->ports);
    desk->peer = malloc((n_edges + 1) * sizeof *desk->peer);
    desk->known = malloc(n_edges + 1);
    desk->stall = malloc(n_edges + 1);
    return desk->ns && desk->ports && desk->peer && desk->known && desk->stall;
}

static const tm_crew_row at_root = {{0}};

/* When the source of an edge was, on each rank. */
static const int64_t *source_ns(const tm_crew *crew, const tm_crew_desk *desk, uint32_t from) {
    if (from == TM_FROM_ROOT)
        return at_root.ns;
    return from & TM_FROM_VISIT ? crew->visits[from & ~TM_FROM_VISIT].last_ns : desk->ns[from].ns;
}

void tm_crew_times(const tm_crew *crew, tm_crew_desk *desk) {
    const tm_graph *g = crew->like;
    const tm_lanes *lanes = tm_lanes_best();
    tm_crew_row latest[2] = {at_root, at_root}; /* of the edges so far */
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        uint32_t e = g->first[v], behind = g->first[v + 1];
        int64_t *at = e + 1 < behind ? latest[0].ns : desk->ns[v].ns;
        const int64_t *by = crew->recorded[e].ns;
        lanes->add(at, source_ns(crew, desk, g->edges[e].from), 1, &by, TM_LANES);
        for (size_t k = 1; ++e < behind; k++) {
            int64_t *next = e + 1 < behind ? latest[k % 2].ns : desk->ns[v].ns;
            by = crew->recorded[e].ns;
            lanes->larger(next, at, source_ns(crew, desk, g->edges[e].from), &by, TM_LANES);
            at = next;
        }
    }
}

static uint32_t port_of(const tm_crew_desk *desk, uint32_t from, size_t lane) {
    if (from == TM_FROM_ROOT)
        return from;
    return from & TM_FROM_VISIT ? from & ~TM_FROM_VISIT
                                : desk->ports[(size_t)from * TM_LANES + lane];
}

/* As tm_path_decide: of the edges that decide, the one from the latest source. */
static uint32_t decide(const tm_crew *crew, const tm_crew_desk *desk, uint32_t v, size_t lane) {
    const tm_graph *g = crew->like;
    uint32_t best = UINT32_MAX;
    int64_t best_ns = 0;
    for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
        const int64_t ns = source_ns(crew, desk, g->edges[e].from)[lane];
        if (ns + crew->recorded[e].ns[lane] != desk->ns[v].ns[lane])
            continue;
        if (best == UINT32_MAX || ns > best_ns ||
            (ns == best_ns && g->edges[e].kind < g->edges[best].kind)) {
            best = e;
            best_ns = ns;
        }
    }
    return best;
}

static void find_ports(const tm_crew *crew, tm_crew_desk *desk) {
    const tm_graph *g = crew->like;
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        const uint32_t first = g->first[v];
        const bool alone = g->first[v + 1] - first == 1;
        for (size_t k = 0; k < TM_LANES; k++) {
            const uint32_t e = alone ? first : decide(crew, desk, v, k);
            desk->ports[(size_t)v * TM_LANES + k] =
                e == UINT32_MAX ? TM_FROM_ROOT : port_of(desk, g->edges[e].from, k);
        }
    }
}

static void port_names(const tm_crew *crew, uint32_t port, size_t lane, uint64_t *from,
                       int64_t *from_ns) {
    *from = port == TM_FROM_ROOT ? TM_PATH_ROOT : crew->visits[port].operation[lane];
    *from_ns = port == TM_FROM_ROOT ? INT64_MIN : crew->visits[port].last_ns[lane];
}

static bool add_arrivals(const tm_crew *crew, const tm_crew_desk *desk, size_t lane,
                         tm_vec *arrivals) {
    const tm_graph_visit *visits = crew->like->visits.data;
    bool ok = true;
    for (size_t i = 0; i < crew->like->visits.n && ok; i++) {
        const uint32_t node = visits[i].node;
        if (node == TM_NO_NODE || desk->ns[node].ns[lane] != crew->visits[i].last_ns[lane])
            continue;
        tm_path_arrival arrival = {.operation = crew->visits[i].operation[lane],
                                   .last_ns = crew->visits[i].last_ns[lane],
                                   .rank = crew->rank[lane],
                                   .node = node};
        port_names(crew, desk->ports[(size_t)node * TM_LANES + lane], lane, &arrival.from,
                   &arrival.from_ns);
        ok = tm_vec_append(arrivals, &arrival, 1) != NULL;
    }
    return ok;
}

static bool add_ends(const tm_crew *crew, const tm_crew_desk *desk, size_t lane, tm_vec *ends) {
    const tm_graph_step *steps = crew->like->steps.data;
    bool ok = true;
    for (size_t k = 0; k < crew->like->steps.n && ok; k++) {
        const uint32_t node = steps[k].node;
        tm_path_end end = {.number = steps[k].number,
                           .end_ns = desk->ns[node].ns[lane],
                           .rank = crew->rank[lane],
                           .node = node};
        port_names(crew, desk->ports[(size_t)node * TM_LANES + lane], lane, &end.from,
                   &end.from_ns);
        ok = tm_vec_append(ends, &end, 1) != NULL;
    }
    return ok;
}

tm_status tm_crew_ports(const tm_crew *crew, tm_crew_desk *desk, tm_vec *arrivals, tm_vec *ends,
                        tm_error *err) {
    if (!tm_crew_desk_fit(desk, crew))
        return tm_fail_memory(err);
    tm_crew_times(crew, desk);
    find_ports(crew, desk);
    for (size_t lane = 0; lane < crew->n; lane++)
        if (!add_arrivals(crew, desk, lane, arrivals) || !add_ends(crew, desk, lane, ends))
            return tm_fail_memory(err);
    return TM_OK;
}

static void bring_down(int64_t *late, const int64_t *ns) {
    for (size_t k = 0; k < TM_LANES; k++)
        late[k] = ns[k] < late[k] ? ns[k] : late[k];
}

/* A node's slack, and what follows from its time for the sources of its edges. */
static void go_back(const tm_crew *crew, const tm_crew_desk *desk, uint32_t v, tm_crew_row *late,
                    int64_t below_ns, tm_slack *out) {
    const tm_graph *g = crew->like;
    bool near[TM_LANES];
    for (size_t k = 0; k < TM_LANES; k++) {
        const int64_t slack = late[v].ns[k] - desk->ns[v].ns[k];
        const bool known = late[v].ns[k] != INT64_MAX;
        near[k] = known && slack < below_ns;
        if (known && (out[k].least_ns < 0 || slack < out[k].least_ns))
            out[k].least_ns = slack;
    }
    for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
        const tm_edge *edge = &g->edges[e];
        const int64_t *ns = crew->recorded[e].ns;
        int64_t at[TM_LANES];
        for (size_t k = 0; k < TM_LANES; k++)
            at[k] = late[v].ns[k] == INT64_MAX ? INT64_MAX : late[v].ns[k] - ns[k];
        if (edge->from != TM_FROM_ROOT && !(edge->from & TM_FROM_VISIT))
            bring_down(late[edge->from].ns, at);
        if (edge->kind == TM_EDGE_COMPUTE || edge->kind == TM_EDGE_COPY)
            for (size_t k = 0; k < TM_LANES; k++)
                out[k].near_ns += near[k] ? ns[k] : 0;
    }
}

void tm_crew_slack(const tm_crew *crew, const tm_crew_row *visits_ns, const int64_t *steps_ns,
                   int64_t below_ns, tm_crew_desk *desk, tm_slack *out) {
    const tm_graph *g = crew->like;
    const tm_graph_visit *visits = g->visits.data;
    const tm_graph_step *steps = g->steps.data;
    tm_crew_row *late = desk->peer; /* a node has an edge */
    tm_crew_times(crew, desk);
    for (size_t k = 0; k < TM_LANES; k++)
        out[k] = (tm_slack){.least_ns = -1};
    for (size_t v = 0; v < g->n_nodes; v++)
        for (size_t k = 0; k < TM_LANES; k++)
            late[v].ns[k] = INT64_MAX;
    for (size_t i = 0; i < g->visits.n; i++)
        if (visits[i].node != TM_NO_NODE)
            bring_down(late[visits[i].node].ns, visits_ns[i].ns);
    for (size_t s = 0; s < g->steps.n; s++)
        for (size_t k = 0; k < TM_LANES; k++)
            if (steps_ns[s] < late[steps[s].node].ns[k])
                late[steps[s].node].ns[k] = steps_ns[s];
    for (uint32_t v = (uint32_t)g->n_nodes; v-- > 0;)
        go_back(crew, desk, v, late, below_ns, out);
}

#include "crew.h"

#include <stdlib.h>
#include <string.h>

#include "loops.h"

void tm_reduce_room_free(tm_reduce_room *room) {
    tm_vec_free(&room->ports);
    tm_vec_free(&room->from);
    tm_vec_free(&room->ns);
    tm_vec_free(&room->alive);
    tm_vec_free(&room->implied);
}

void tm_crew_desk_free(tm_crew_desk *desk) {
    tm_pages_free(&desk->room);
    tm_reduce_room_free(&desk->links);
    *desk = (tm_crew_desk){.loops = desk->loops};
}

bool tm_crew_desk_fit(tm_crew_desk *desk, const tm_crew *crew) {
    const size_t n_nodes = crew->like->n_nodes, n_edges = tm_crew_edges(crew);
    if (n_nodes <= desk->n_nodes && n_edges <= desk->n_edges)
        return true;
    tm_crew_desk_free(desk);
    desk->n_nodes = n_nodes;
    desk->n_edges = n_edges;
    desk->ns = tm_pages_alloc(&desk->room, n_nodes * sizeof *desk->ns);
    desk->ports = tm_pages_alloc(&desk->room, n_nodes * TM_LANES * sizeof *desk->ports);
    desk->peer = tm_pages_alloc(&desk->room, n_edges * sizeof *desk->peer);
    desk->known = tm_pages_alloc(&desk->room, n_edges);
    desk->stall = tm_pages_alloc(&desk->room, n_edges);
    return desk->ns && desk->ports && desk->peer && desk->known && desk->stall;
}

static const int64_t at_root[TM_LANES] = {0};

/* Returns the time of an edge's source on each rank. */
static const int64_t *source_ns(const tm_crew *crew, const tm_crew_desk *desk, uint32_t from) {
    if (from == TM_FROM_ROOT)
        return at_root;
    return from & TM_FROM_VISIT ? crew->visits[from & ~TM_FROM_VISIT].last_ns : desk->ns[from].ns;
}

void tm_crew_times(const tm_crew *crew, tm_crew_desk *desk) {
    tm_crew_loops_of(desk->loops)->times(crew, desk);
}

/* Same as tm_path_decide for one node: returns the source of the deciding edge, the latest of
 * several. */
static uint32_t decide(const tm_crew *crew, const tm_crew_desk *desk, uint32_t v, size_t lane) {
    const tm_graph *g = crew->like;
    const tm_edge *best = NULL;
    int64_t best_ns = 0;
    for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
        const int64_t ns = source_ns(crew, desk, g->edges[e].from)[lane];
        if (ns + tm_crew_ns(crew, e, lane) != desk->ns[v].ns[lane])
            continue;
        if (!best || ns > best_ns || (ns == best_ns && g->edges[e].kind < best->kind)) {
            best = &g->edges[e];
            best_ns = ns;
        }
    }
    return best ? best->from : TM_FROM_ROOT;
}

/* The deciding source of a node is not yet known. */
static const uint32_t UNKNOWN = UINT32_MAX - 1;

/* Returns the root or operation from which a rank's path to a node begins. Caches the result for
 * all nodes on the way. */
static uint32_t port_of(const tm_crew *crew, tm_crew_desk *desk, uint32_t node, size_t lane) {
    uint32_t port = node, next;
    while (!(port & TM_FROM_VISIT)) { /* also set in TM_FROM_ROOT */
        uint32_t *from = &desk->ports[(size_t)port * TM_LANES + lane];
        if (*from == UNKNOWN)
            *from = decide(crew, desk, port, lane);
        port = *from;
    }
    for (uint32_t v = node; !(v & TM_FROM_VISIT); v = next) {
        next = desk->ports[(size_t)v * TM_LANES + lane];
        desk->ports[(size_t)v * TM_LANES + lane] = port;
    }
    return port;
}

static void name_port(const tm_crew *crew, uint32_t port, size_t lane, uint64_t *from,
                      int64_t *from_ns) {
    const uint32_t visit = port & ~TM_FROM_VISIT;
    *from = port == TM_FROM_ROOT ? TM_PATH_ROOT : crew->visits[visit].operation[lane];
    *from_ns = port == TM_FROM_ROOT ? INT64_MIN : crew->visits[visit].last_ns[lane];
}

static bool add_arrivals(const tm_crew *crew, tm_crew_desk *desk, size_t lane, tm_vec *arrivals) {
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
        name_port(crew, port_of(crew, desk, node, lane), lane, &arrival.from, &arrival.from_ns);
        ok = tm_vec_append(arrivals, &arrival, 1) != NULL;
    }
    return ok;
}

static bool add_ends(const tm_crew *crew, tm_crew_desk *desk, size_t lane, tm_vec *ends) {
    const tm_graph_step *steps = crew->like->steps.data;
    bool ok = true;
    for (size_t k = 0; k < crew->like->steps.n && ok; k++) {
        const uint32_t node = steps[k].node;
        tm_path_end end = {.number = steps[k].number,
                           .end_ns = desk->ns[node].ns[lane],
                           .rank = crew->rank[lane],
                           .node = node};
        name_port(crew, port_of(crew, desk, node, lane), lane, &end.from, &end.from_ns);
        ok = tm_vec_append(ends, &end, 1) != NULL;
    }
    return ok;
}

tm_status tm_crew_ports(const tm_crew *crew, tm_crew_desk *desk, tm_vec *arrivals, tm_vec *ends,
                        tm_error *err) {
    if (!tm_crew_desk_fit(desk, crew))
        return tm_fail_memory(err);
    tm_crew_times(crew, desk);
    for (size_t i = 0; i < crew->like->n_nodes * TM_LANES; i++)
        desk->ports[i] = UNKNOWN;
    for (size_t lane = 0; lane < crew->n; lane++)
        if (!add_arrivals(crew, desk, lane, arrivals) || !add_ends(crew, desk, lane, ends))
            return tm_fail_memory(err);
    return TM_OK;
}

static void bring_down(int64_t *late, const int64_t *ns) {
    for (size_t k = 0; k < TM_LANES; k++)
        late[k] = ns[k] < late[k] ? ns[k] : late[k];
}

void tm_crew_slack(const tm_crew *crew, const tm_crew_row *visits_ns, const int64_t *steps_ns,
                   int64_t below_ns, tm_crew_desk *desk, tm_slack *out) {
    const tm_graph *g = crew->like;
    const tm_graph_visit *visits = g->visits.data;
    const tm_graph_step *steps = g->steps.data;
    tm_crew_row *late = desk->peer; /* every node has an edge, so it is large enough */
    tm_crew_times(crew, desk);
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
    tm_crew_loops_of(desk->loops)->slack(crew, desk, late, below_ns, out);
}

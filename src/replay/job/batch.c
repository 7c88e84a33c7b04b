#include "batch.h"

#include <stdlib.h>
#include <string.h>

#include "batch_loops.h"

void tm_reduce_room_free(tm_reduce_room *room) {
    TM_VECS_FREE(&room->boundaries, &room->from, &room->ns, &room->alive, &room->implied);
}

void tm_batch_workspace_free(tm_batch_workspace *workspace) {
    tm_pages_free(&workspace->room);
    tm_reduce_room_free(&workspace->links);
    *workspace = (tm_batch_workspace){.loops = workspace->loops};
}

bool tm_batch_workspace_fit(tm_batch_workspace *workspace, const tm_batch *batch) {
    const size_t n_nodes = batch->like->n_nodes, n_edges = tm_batch_edges(batch);
    if (n_nodes <= workspace->n_nodes && n_edges <= workspace->n_edges)
        return true;
    tm_batch_workspace_free(workspace);
    workspace->n_nodes = n_nodes;
    workspace->n_edges = n_edges;
    workspace->ns = tm_pages_alloc(&workspace->room, n_nodes * sizeof *workspace->ns);
    workspace->boundaries =
        tm_pages_alloc(&workspace->room, n_nodes * TM_LANES * sizeof *workspace->boundaries);
    workspace->peer = tm_pages_alloc(&workspace->room, n_edges * sizeof *workspace->peer);
    workspace->known = tm_pages_alloc(&workspace->room, n_edges);
    workspace->stall = tm_pages_alloc(&workspace->room, n_edges);
    return workspace->ns && workspace->boundaries && workspace->peer && workspace->known &&
           workspace->stall;
}

static const int64_t at_root[TM_LANES] = {0};

/* Returns the time of an edge's source on each rank. */
static const int64_t *source_ns(const tm_batch *batch, const tm_batch_workspace *workspace,
                                uint32_t from) {
    if (from == TM_FROM_ROOT)
        return at_root;
    return from & TM_FROM_OPERATION ? batch->participants[from & ~TM_FROM_OPERATION].last_ns
                                    : workspace->ns[from].ns;
}

void tm_batch_times(const tm_batch *batch, tm_batch_workspace *workspace) {
    tm_batch_loops_of(workspace->loops)->times(batch, workspace);
}

/* Returns the source of the edge that decides a node's time on a rank. If several edges decide it,
 * returns the latest of their sources, like tm_path_decide. */
static uint32_t decide(const tm_batch *batch, const tm_batch_workspace *workspace, uint32_t v,
                       size_t lane) {
    const tm_graph *g = batch->like;
    const tm_edge *best = NULL;
    int64_t best_ns = 0;
    for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
        const int64_t ns = source_ns(batch, workspace, g->edges[e].from)[lane];
        if (ns + tm_batch_ns(batch, e, lane) != workspace->ns[v].ns[lane])
            continue;
        if (!best || ns > best_ns || (ns == best_ns && g->edges[e].kind < best->kind)) {
            best = &g->edges[e];
            best_ns = ns;
        }
    }
    return best ? best->from : TM_FROM_ROOT;
}

/* Value of a source that has not been computed yet. */
static const uint32_t UNKNOWN = UINT32_MAX - 1;

/* Returns where a rank's path to a node starts: at the root, or at an operation. Stores this for
 * all nodes on the path. */
static uint32_t boundary_of(const tm_batch *batch, tm_batch_workspace *workspace, uint32_t node,
                            size_t lane) {
    uint32_t boundary = node, next;
    while (!(boundary & TM_FROM_OPERATION)) { /* this bit is also set in TM_FROM_ROOT */
        uint32_t *from = &workspace->boundaries[(size_t)boundary * TM_LANES + lane];
        if (*from == UNKNOWN)
            *from = decide(batch, workspace, boundary, lane);
        boundary = *from;
    }
    for (uint32_t v = node; !(v & TM_FROM_OPERATION); v = next) {
        next = workspace->boundaries[(size_t)v * TM_LANES + lane];
        workspace->boundaries[(size_t)v * TM_LANES + lane] = boundary;
    }
    return boundary;
}

static void name_boundary(const tm_batch *batch, uint32_t boundary, size_t lane, uint64_t *from,
                          int64_t *from_ns) {
    const uint32_t participant = boundary & ~TM_FROM_OPERATION;
    *from =
        boundary == TM_FROM_ROOT ? TM_PATH_ROOT : batch->participants[participant].operation[lane];
    *from_ns =
        boundary == TM_FROM_ROOT ? INT64_MIN : batch->participants[participant].last_ns[lane];
}

static bool add_arrivals(const tm_batch *batch, tm_batch_workspace *workspace, size_t lane,
                         tm_vec *arrivals) {
    const tm_graph_participant *participants = batch->like->participants.data;
    bool ok = true;
    for (size_t i = 0; i < batch->like->participants.n && ok; i++) {
        const uint32_t node = participants[i].node;
        if (node == TM_NO_NODE ||
            workspace->ns[node].ns[lane] != batch->participants[i].last_ns[lane])
            continue;
        tm_path_arrival arrival = {.operation = batch->participants[i].operation[lane],
                                   .last_ns = batch->participants[i].last_ns[lane],
                                   .rank = batch->rank[lane],
                                   .node = node};
        name_boundary(batch, boundary_of(batch, workspace, node, lane), lane, &arrival.from,
                      &arrival.from_ns);
        ok = tm_vec_append(arrivals, &arrival, 1) != NULL;
    }
    return ok;
}

static bool add_ends(const tm_batch *batch, tm_batch_workspace *workspace, size_t lane,
                     tm_vec *ends) {
    const tm_graph_step *steps = batch->like->steps.data;
    bool ok = true;
    for (size_t k = 0; k < batch->like->steps.n && ok; k++) {
        const uint32_t node = steps[k].node;
        tm_path_end end = {.number = steps[k].number,
                           .end_ns = workspace->ns[node].ns[lane],
                           .rank = batch->rank[lane],
                           .node = node};
        name_boundary(batch, boundary_of(batch, workspace, node, lane), lane, &end.from,
                      &end.from_ns);
        ok = tm_vec_append(ends, &end, 1) != NULL;
    }
    return ok;
}

tm_status tm_batch_boundaries(const tm_batch *batch, tm_batch_workspace *workspace,
                              tm_vec *arrivals, tm_vec *ends, tm_error *err) {
    if (!tm_batch_workspace_fit(workspace, batch))
        return tm_fail_memory(err);
    tm_batch_times(batch, workspace);
    for (size_t i = 0; i < batch->like->n_nodes * TM_LANES; i++)
        workspace->boundaries[i] = UNKNOWN;
    for (size_t lane = 0; lane < batch->n; lane++)
        if (!add_arrivals(batch, workspace, lane, arrivals) ||
            !add_ends(batch, workspace, lane, ends))
            return tm_fail_memory(err);
    return TM_OK;
}

static void bring_down(int64_t *late, const int64_t *ns) {
    for (size_t k = 0; k < TM_LANES; k++)
        late[k] = ns[k] < late[k] ? ns[k] : late[k];
}

void tm_batch_slack(const tm_batch *batch, const tm_batch_row *participants_ns,
                    const int64_t *steps_ns, int64_t below_ns, tm_batch_workspace *workspace,
                    tm_slack *out) {
    const tm_graph *g = batch->like;
    const tm_graph_participant *participants = g->participants.data;
    const tm_graph_step *steps = g->steps.data;
    /* `peer` has a row for each edge. This is enough for all nodes, because every node has an edge.
     */
    tm_batch_row *late = workspace->peer;
    tm_batch_times(batch, workspace);
    for (size_t v = 0; v < g->n_nodes; v++)
        for (size_t k = 0; k < TM_LANES; k++)
            late[v].ns[k] = INT64_MAX;
    for (size_t i = 0; i < g->participants.n; i++)
        if (participants[i].node != TM_NO_NODE)
            bring_down(late[participants[i].node].ns, participants_ns[i].ns);
    for (size_t s = 0; s < g->steps.n; s++)
        for (size_t k = 0; k < TM_LANES; k++)
            if (steps_ns[s] < late[steps[s].node].ns[k])
                late[steps[s].node].ns[k] = steps_ns[s];
    tm_batch_loops_of(workspace->loops)->slack(batch, workspace, late, below_ns, out);
}

/* A batch: ranks whose graphs have the same nodes and edges and differ only in times. Nodes and
 * edges are stored once, in the graph of the first of these ranks. The times of all ranks are side
 * by side, so that vector instructions process several ranks at once. All results are exactly those
 * of individual graphs. */
#ifndef TMERGE_REPLAY_BATCH_H
#define TMERGE_REPLAY_BATCH_H

#include "base/memory_pages.h"
#include "base/simd_lanes.h"
#include "batch_items.h"
#include "replay/graph/graph.h"
#include "replay/job/path.h"
#include "replay/job/slack.h"

/** The participations of a batch's ranks that correspond to one tm_graph_participant. */
typedef struct tm_batch_participant {
    uint64_t operation[TM_LANES];
    int64_t last_ns[TM_LANES];
    int64_t usual_ns[TM_LANES]; /* usual time of the transfer */
} tm_batch_participant;

/** One value for each rank of a batch. */
typedef struct tm_batch_row {
    int64_t ns[TM_LANES];
} tm_batch_row;

/** A tm_batch_row in half the memory. Most times are short enough for this. If the first value is
 * TM_WIDE, the second value is the index of the row in `wide`. */
typedef struct tm_batch_short {
    int32_t ns[TM_LANES];
} tm_batch_short;

#define TM_WIDE INT32_MIN

/** A batch of up to TM_LANES ranks. Unused lanes repeat the first rank. */
typedef struct tm_batch {
    const tm_graph *like; /* borrowed: the model's graph. The batch's ranks have the same nodes,
                             edges, steps, and nodes of operations */
    const tm_batch_items *items; /* borrowed: shared by all ranks */
    size_t n;                    /* number of ranks */
    int64_t rank[TM_LANES];
    uint32_t index[TM_LANES]; /* index of the rank in its process */
    tm_batch_short *recorded; /* borrowed, like all members below; [edges] recorded weights */
    tm_batch_row *wide;       /* recorded weights that are too long for tm_batch_short */
    /* over_ns of the nodes that can have unexplained time. The index is the node's slot (see
     * tm_batch_items). */
    tm_batch_row *over;
    tm_batch_participant *participants; /* [participants] */
    uint8_t *has_over;                  /* [edges] one bit for each rank: TM_EDGE_OVER */
} tm_batch;

/** Memory for reductions, kept from batch to batch, so that it need not grow again. Initialise with
 * {0}. */
typedef struct tm_reduce_room {
    tm_vec boundaries; /* boundary nodes: operations, ends of steps, and nodes at which too many
                          paths meet (see reduce.c) */
    tm_vec from;       /* vector of uint32_t: key of the source of each link, ordered by target */
    tm_vec ns;         /* vector of int64_t: [links][width] */
    tm_vec alive;      /* vector of uint8_t: [links] see tm_distances */
    tm_vec implied;    /* vector of uint8_t, one bit for each rank. The first half: whether each
                          distance to the current node is redundant. The second half: whether each
                          distance starts at one of the rank's latest operations */
} tm_reduce_room;

void tm_reduce_room_free(tm_reduce_room *room);

/** Working memory for one batch at a time. */
typedef struct tm_batch_workspace {
    /* borrowed: loops to use; NULL: the fastest that the processor supports */
    const struct tm_batch_loops *loops;
    tm_batch_row *ns; /* [nodes] times, computed by tm_batch_times */
    /* [edges] peer_ns of the edge's weight. Set only where `known` has TM_WORKSPACE_PEER.
     * tm_batch_peers sets this member and the next two. */
    tm_batch_row *peer;
    /* [edges] flags. TM_WORKSPACE_PEER: `peer` is set (otherwise, peer_ns is the recorded weight).
     * TM_EDGE_PAIR: as in tm_edge. */
    uint8_t *known;
    uint8_t *stall;       /* [edges] one bit for each rank: TM_EDGE_STALL */
    uint32_t *boundaries; /* [nodes][TM_LANES] scratch */
    size_t n_nodes, n_edges;
    tm_pages room; /* memory of the members above */
    tm_reduce_room links;
} tm_batch_workspace;

enum { TM_WORKSPACE_PEER = 1 };

static inline size_t tm_batch_edges(const tm_batch *batch) {
    return batch->like->first[batch->like->n_nodes];
}

/** Returns the recorded weight of an edge on a rank. */
static inline int64_t tm_batch_ns(const tm_batch *batch, uint32_t edge, size_t lane) {
    const int32_t *ns = batch->recorded[edge].ns;
    return ns[0] == TM_WIDE ? batch->wide[ns[1]].ns[lane] : ns[lane];
}

/** Makes the workspace large enough for a batch. False when out of memory. The caller must free the
 * workspace in either case. */
bool tm_batch_workspace_fit(tm_batch_workspace *workspace, const tm_batch *batch) TM_MUST_CHECK;
void tm_batch_workspace_free(tm_batch_workspace *workspace);

void tm_batch_times(const tm_batch *batch, tm_batch_workspace *workspace);

/**
 * Extracts the graph of one rank, with the peer weights of the workspace.
 *
 * @param in_time  if true, the nodes are sorted by the rank's own times, like in tm_graph_build; if
 *                 false, they are in the order of the batch
 * @param out      must be freed by the caller in either case
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_batch_pick(const tm_batch *batch, size_t lane, tm_batch_workspace *workspace,
                        bool in_time, tm_graph *out, tm_error *err) TM_MUST_CHECK;

/** Like tm_path_boundaries, for all ranks of the batch. */
tm_status tm_batch_boundaries(const tm_batch *batch, tm_batch_workspace *workspace,
                              tm_vec *arrivals, tm_vec *ends, tm_error *err) TM_MUST_CHECK;

/**
 * Like tm_slack_find, but for all ranks of a batch. Stores the times of the nodes in workspace->ns,
 * and their latest times in workspace->peer.
 *
 * @param participants_ns  [participants] latest time of each operation
 * @param steps_ns   [steps] latest end of each step; the same for all ranks
 * @param out        [TM_LANES] slack of each rank
 */
void tm_batch_slack(const tm_batch *batch, const tm_batch_row *participants_ns,
                    const int64_t *steps_ns, int64_t below_ns, tm_batch_workspace *workspace,
                    tm_slack *out);

#endif

/* A rank's recording as a graph of causes: which event had to wait for which other. Evaluating it
 * with other weights predicts when every event would have happened if something had been faster.
 *
 * A node is the start (S) or the end (E) of a GPU event, or of a host call that launched or waited
 * for one. Its time is the maximum of (time of the source + weight) over its in-edges. With the
 * recorded weights every node has exactly its recorded time.
 *
 * The root is the start of the job's first GPU event. Earlier work belongs to no step and stays as
 * recorded: an edge that starts before the root is replaced by its part after the root.
 *
 * Ranks synchronise in operations: each member's start leads to the operation, whose time is the
 * arrival of the last one (L), and from there edges lead to the ends of its members. So each rank's
 * graph can be evaluated separately: it starts at the root and at operations, and leads to
 * operations and to the ends of steps. */
#ifndef TMERGE_REPLAY_GRAPH_H
#define TMERGE_REPLAY_GRAPH_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** Kinds of edges: the word for each, and which nodes it leads from and to. The weight of BEFORE
 * never changes. Into the end of a step or of the warm-up it is 0. */
#define TM_EDGE_LIST(X)                                                                            \
    X(COMPUTE, "compute")   /* S -> E of a compute kernel */                                       \
    X(COPY, "copy")         /* S -> E of a copy or a set */                                        \
    X(COMM, "comm")         /* S -> E of a communication kernel whose operation joins no ranks */  \
    X(TRANSFER, "transfer") /* operation -> E of a member */                                       \
    X(LAUNCH, "launch")     /* S of the call -> S of the event */                                  \
    X(GAP, "gap")           /* E of the previous event on the stream -> S of the event */          \
    X(WAIT, "wait")         /* E of an event of another stream -> S of the event */                \
    X(HOST, "host")         /* E of the previous call -> S of the call */                          \
    X(CALL, "call")         /* S -> E of the call, its own work */                                 \
    X(SYNC, "sync")         /* E of the event that the call waited for -> E of the call */         \
    X(BEFORE, "before")     /* root -> node without a recorded cause */

typedef enum tm_edge_kind {
#define TM_EDGE_ENUM(id, word) TM_EDGE_##id,
    TM_EDGE_LIST(TM_EDGE_ENUM)
#undef TM_EDGE_ENUM
        TM_N_EDGE_KINDS
} tm_edge_kind;

/** Flags of an edge. */
enum {
    TM_EDGE_INPUT = 1, /* host time while the next batch is loaded */
    TM_EDGE_GC = 2,    /* host time in Python's garbage collection */
    /* host time or a call that is far longer than on the other ranks at this place */
    TM_EDGE_STALL = 4,
    TM_EDGE_MISSING = 8, /* no other rank has this place, so peer_ns is the rank's own time */
    /* only one other rank has this place, so it is unclear which of the two is normal */
    TM_EDGE_PAIR = 16,
    TM_EDGE_OVER = 32,  /* part of its weight, over_ns, has no recorded explanation */
    TM_EDGE_UNSEEN = 64 /* host time between two steps with a long time without recorded events, on
                           a rank without recorded waits. That time stays as recorded on all ranks.
                           Until ranks are compared, it is in peer_ns */
};

/** Sources that are not nodes: the root, and participation (from & ~TM_FROM_VISIT). */
#define TM_FROM_ROOT UINT32_MAX
#define TM_FROM_VISIT UINT32_C(0x80000000)

/** Number of a pseudo step for the warm-up: GPU work before the first marked step, such as loading
 * a model, that had ended when the step started. The first step then counts from the time when the
 * last rank started it, instead of from the job's first GPU event. The warm-up precedes all steps
 * in graphs and on paths; no row belongs to it. */
#define TM_STEP_LEAD_IN (INT64_MIN + 1)

/** Stands for no node. The rank's kernel is missing, so the rank does not arrive at the operation
 * but only continues after it. */
#define TM_NO_NODE UINT32_MAX

/** The weight of an edge. */
typedef struct tm_weight {
    int64_t ns;      /* recorded */
    int64_t peer_ns; /* time of the other ranks of its role at the same place */
    int64_t over_ns; /* unexplained part if the edge has TM_EDGE_OVER; else 0. If the edge is cut at
                        the root it is not reduced, so that it can be compared with other ranks */
} tm_weight;

/** A weight in half the memory, for the usual short times. If ns is TM_LONG, the weight is number
 * peer_ns of those that are too long. */
typedef struct tm_short_weight {
    int32_t ns, peer_ns, over_ns;
} tm_short_weight;

#define TM_LONG INT32_MIN

typedef struct tm_edge {
    tm_short_weight weight; /* see tm_graph_weight */
    uint32_t from;          /* an earlier node, TM_FROM_ROOT, or TM_FROM_VISIT + index */
    uint8_t kind;           /* tm_edge_kind */
    uint8_t flags;
    /* number of the part of the user's scenario that applies to it, from 1; 0 for none */
    uint8_t part;
} tm_edge;

/** A rank's participation in an operation that joins ranks. */
typedef struct tm_graph_visit {
    uint64_t operation; /* id of the operation: equal on all members, unique in the job */
    int64_t last_ns;    /* L in replay time; operations are ordered by (last_ns, operation) */
    uint32_t node;      /* S of the rank's kernel, which leads to the operation, or TM_NO_NODE */
    uint32_t event;     /* row of the kernel, or TM_NO_EVENT */
} tm_graph_visit;

/** The end of a step on the rank: a node at the rank's latest end of a GPU event in the step. For
 * TM_STEP_LEAD_IN, the node from which the first step counts. */
typedef struct tm_graph_step {
    int64_t number;
    uint32_t node; /* has no event; its in-edges have weight 0 */
} tm_graph_step;

typedef struct tm_graph {
    int64_t rank;
    size_t n_nodes;
    int64_t *ns;     /* [n_nodes] recorded time since the root, on the job's clock */
    uint32_t *event; /* [n_nodes] row in the timeline; TM_NO_EVENT for the end of a step */
    /* [n_nodes] 2 x index of the item, + 1 if the node is its end. Items are the events of
     * tm_draft, then its calls, then steps. NULL after ranks were compared */
    uint32_t *parts;
    uint32_t *first;    /* [n_nodes + 1] in-edges of node v: edges [first[v], first[v + 1]) */
    tm_edge *edges;     /* each edge leads from an earlier node to a later one */
    tm_vec longs;       /* of tm_weight: those that are too long for their edges */
    tm_vec visits;      /* of tm_graph_visit, ascending in (last_ns, operation) */
    tm_vec steps;       /* of tm_graph_step, ascending in number */
    int64_t n_inferred; /* number of wait edges that were inferred, not recorded */
    int64_t blocked_ns; /* host time during which the device ran, if waits for the device are not
                           recorded: it may be work or a wait */
    bool in_batch;      /* the graph is empty because the rank is replayed in a batch */
} tm_graph;

void tm_graph_free(tm_graph *graph);

/** Returns the weight of an edge. */
static inline tm_weight tm_graph_weight(const tm_graph *graph, const tm_edge *edge) {
    const tm_short_weight *w = &edge->weight;
    return w->ns == TM_LONG ? ((const tm_weight *)graph->longs.data)[w->peer_ns]
                            : (tm_weight){w->ns, w->peer_ns, w->over_ns};
}

/** Slow path of tm_graph_weigh. */
bool tm_graph_weigh_long(tm_graph *graph, tm_edge *edge, const tm_weight *weight) TM_MUST_CHECK;

/** Sets the weight of an edge. False when out of memory. */
static inline bool tm_graph_weigh(tm_graph *graph, tm_edge *edge, const tm_weight *weight) {
    const tm_short_weight w = {(int32_t)weight->ns, (int32_t)weight->peer_ns,
                               (int32_t)weight->over_ns};
    if (w.ns != weight->ns || w.peer_ns != weight->peer_ns || w.over_ns != weight->over_ns ||
        w.ns == TM_LONG)
        return tm_graph_weigh_long(graph, edge, weight);
    edge->weight = w;
    return true;
}

/** Returns the usual weight at the edge's place. If only two ranks can be compared, it is the
 * smaller weight, because nothing else distinguishes the two. */
static inline int64_t tm_edge_usual_ns(const tm_edge *edge, const tm_weight *weight) {
    return (edge->flags & TM_EDGE_PAIR) && weight->ns < weight->peer_ns ? weight->ns
                                                                        : weight->peer_ns;
}

/** Returns the recorded time [ns] of an edge's source. */
static inline int64_t tm_graph_source_ns(const tm_graph *graph, const tm_edge *edge) {
    if (edge->from == TM_FROM_ROOT)
        return 0;
    if (edge->from & TM_FROM_VISIT)
        return ((const tm_graph_visit *)graph->visits.data)[edge->from & ~TM_FROM_VISIT].last_ns;
    return graph->ns[edge->from];
}

/** Returns the event or call that the time of an edge into a node belongs to. For work and
 * transfers it is the event that works or transfers, for other edges the event or call of the
 * node. */
static inline uint32_t tm_graph_event_of(const tm_graph *graph, uint32_t node,
                                         const tm_edge *edge) {
    const bool visits = edge->from & TM_FROM_VISIT, root = edge->from == TM_FROM_ROOT;
    if (edge->kind == TM_EDGE_TRANSFER && visits && !root) {
        const tm_graph_visit *visit =
            (const tm_graph_visit *)graph->visits.data + (edge->from & ~TM_FROM_VISIT);
        return visit->event == TM_NO_EVENT ? graph->event[node] : visit->event;
    }
    return graph->event[edge->kind <= TM_EDGE_COMM && !visits ? edge->from : node];
}

#endif

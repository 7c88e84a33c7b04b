/* A rank's recording as a graph of causes: which event had to wait for which other event. With
 * other weights, the graph predicts when each event would have happened if something had been
 * faster.
 *
 * A node is the start (S) or the end (E) of a GPU event, or of a host call that launched or waited
 * for a GPU event. A node's time is the maximum, over all edges into the node, of the source's time
 * plus the edge's weight. With the recorded weights, every node has exactly its recorded time.
 *
 * The root is the start of the job's first GPU event or first step (timebase.h). Work before the
 * root belongs to no step and stays as recorded. If an edge starts before the root, only its part
 * after the root is kept.
 *
 * Ranks synchronise in operations. An edge leads from each member's start to the operation. The
 * operation's time is the time of the last arrival (L). Edges lead from the operation to the
 * members' ends. Each rank's graph can therefore be evaluated by itself: its inputs are the root
 * and the operations, and its results are the rank's arrivals at operations and the ends of the
 * rank's steps. */
#ifndef TMERGE_REPLAY_GRAPH_H
#define TMERGE_REPLAY_GRAPH_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** Kinds of edges, as (id, word). The comments show source and target. An edge of kind BEFORE can
 * also lead to the end of a step or of the warm-up; its weight is then 0. No scenario changes the
 * weight of a BEFORE edge. */
#define TM_EDGE_LIST(X)                                                                            \
    X(COMPUTE, "compute")   /* S -> E of a compute kernel */                                       \
    X(COPY, "copy")         /* S -> E of a copy or a set */                                        \
    X(COMM, "comm")         /* S -> E of a communication kernel that waits for no other rank */    \
    X(TRANSFER, "transfer") /* operation -> E of the rank's kernel in the operation */             \
    X(LAUNCH, "launch")     /* S of the call -> S of the event */                                  \
    X(GAP, "gap")           /* E of the previous event on the stream -> S of the event */          \
    X(WAIT, "wait")         /* E of an event of another stream -> S of the event */                \
    X(HOST, "host")         /* E of the previous call -> S of the call */                          \
    X(CALL, "call")         /* S -> E of the call: the call's own work */                          \
    X(SYNC, "sync")         /* E of the event for which the call waited -> E of the call */        \
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
    /* host time that is far longer than on the other ranks at the same place */
    TM_EDGE_STALL = 4,
    TM_EDGE_MISSING = 8, /* no other rank has an edge at this place, so peer_ns is the rank's own
                            time */
    /* only one other rank has an edge at this place, so it is unknown which of the two times is
     * normal */
    TM_EDGE_PAIR = 16,
    TM_EDGE_OVER = 32,  /* a part of the weight, over_ns, has no recorded explanation */
    TM_EDGE_UNSEEN = 64 /* host time between two steps that contains a long time without recorded
                           events. Set only on a rank without recorded waits. No scenario changes
                           this long time. Until ranks are compared, it is in peer_ns */
};

/** Values of tm_edge.from for sources that are not nodes. TM_FROM_ROOT is the root.
 * TM_FROM_OPERATION + i is the participation with index i. */
#define TM_FROM_ROOT UINT32_MAX
#define TM_FROM_OPERATION UINT32_C(0x80000000)

/** Step number of the warm-up. The warm-up is not a step: it is GPU work, such as loading a model,
 * that was launched before the first marked step and ended before that step started. If a job has
 * a warm-up, its first step counts from the time when the last rank started this step. Otherwise,
 * its first step counts from the root. The warm-up precedes all steps in graphs
 * and on paths. No table has a row for it. */
#define TM_STEP_WARM_UP (INT64_MIN + 1)

/** Value of tm_graph_participant.node if the rank's kernel is missing. The rank then does not
 * arrive at the operation, but continues after the operation. */
#define TM_NO_NODE UINT32_MAX

typedef struct tm_weight {
    int64_t ns;      /* recorded */
    int64_t peer_ns; /* usual weight: the weight at the same place on the other ranks of the role */
    int64_t over_ns; /* the unexplained part of ns if the edge has TM_EDGE_OVER; otherwise 0. If the
                        edge is cut at the root, over_ns is not shortened, because it is compared
                        with other ranks */
} tm_weight;

/** A weight in half the memory of a tm_weight. Most times are short enough for it. If ns is
 * TM_LONG, peer_ns is the index of the weight in tm_weights.longs. */
typedef struct tm_short_weight {
    int32_t ns, peer_ns, over_ns;
} tm_short_weight;

#define TM_LONG INT32_MIN

typedef struct tm_weights {
    tm_vec shorts; /* vector of tm_short_weight */
    tm_vec longs;  /* vector of tm_weight: the weights that do not fit into a tm_short_weight */
} tm_weights;

#define TM_WEIGHTS()                                                                               \
    { .shorts = TM_VEC(tm_short_weight), .longs = TM_VEC(tm_weight) }

static inline tm_weight tm_weights_at(const tm_weights *weights, size_t i) {
    const tm_short_weight *w = (const tm_short_weight *)weights->shorts.data + i;
    return w->ns == TM_LONG ? ((const tm_weight *)weights->longs.data)[w->peer_ns]
                            : (tm_weight){w->ns, w->peer_ns, w->over_ns};
}

void tm_weights_free(tm_weights *weights);

/** Like tm_weights_set, for a weight that does not fit into a tm_short_weight. */
bool tm_weights_set_long(tm_weights *weights, size_t i, const tm_weight *weight) TM_MUST_CHECK;

/** Sets weight i, for which `shorts` must have room. False when out of memory. */
static inline bool tm_weights_set(tm_weights *weights, size_t i, const tm_weight *weight) {
    const tm_short_weight w = {(int32_t)weight->ns, (int32_t)weight->peer_ns,
                               (int32_t)weight->over_ns};
    if (w.ns != weight->ns || w.peer_ns != weight->peer_ns || w.over_ns != weight->over_ns ||
        w.ns == TM_LONG)
        return tm_weights_set_long(weights, i, weight);
    ((tm_short_weight *)weights->shorts.data)[i] = w;
    return true;
}

/** An edge can store a weight with |ns| < TM_EDGE_NS and |peer_ns - ns| < TM_EDGE_MORE if over_ns
 * is 0. The masks select the bits of the edge's fields. */
enum { TM_EDGE_NS = 1 << 27, TM_EDGE_MORE = 1 << 23 };
#define TM_EDGE_NS_BITS 0xfffffffU
#define TM_EDGE_KIND_BITS 0xfU
#define TM_EDGE_MORE_BITS 0xffffffU
#define TM_EDGE_FLAG_BITS 0x7fU

typedef struct tm_edge {
    uint32_t from; /* source of the edge: an earlier node, TM_FROM_ROOT, or TM_FROM_OPERATION + the
                      index of a participation */
    uint32_t ns : 28;   /* the recorded weight as a signed number of 28 bits, or TM_EDGE_NS if the
                           edge cannot store the weight */
    uint32_t kind : 4;  /* tm_edge_kind */
    uint32_t more : 24; /* if the edge stores its weight: low 24 bits of peer_ns - ns (over_ns is
                           0). Otherwise: index of the weight in tm_graph.apart */
    uint32_t flags : 7;
    uint32_t last : 1; /* the edge is the last one that leads to its node. Not set in graphs of
                          operations (ops_graph.h) */
} tm_edge;

/** A rank's participation in an operation that joins ranks. */
typedef struct tm_graph_participant {
    uint64_t operation; /* id of the operation, unique in the job and equal on all members */
    int64_t last_ns; /* time of the last arrival (L), in ns since the root. Operations are ordered
                        by (last_ns, operation) */
    uint32_t node;   /* start of the rank's kernel, which is the rank's arrival at the operation; or
                        TM_NO_NODE */
    uint32_t event;  /* row of the kernel, or TM_NO_EVENT */
} tm_graph_participant;

/** The end of a step on the rank. It is a node at the time when the step's last GPU event ends. For
 * TM_STEP_WARM_UP, it is the node from which the first step counts. */
typedef struct tm_graph_step {
    int64_t number;
    uint32_t node; /* the node has no event, and all edges into the node have weight 0 */
} tm_graph_step;

typedef struct tm_graph {
    int64_t rank;
    size_t n_nodes;
    int64_t *ns;     /* [n_nodes] recorded time of each node, in replay time [ns] (timebase.h). NULL
                        if the graph is closed (tm_graph_close) */
    uint32_t *event; /* [n_nodes] row in the timeline; TM_NO_EVENT for the end of a step. NULL until
                        tm_graph_set_events is called */
    /* [n_nodes] 2 x (index of the item), plus 1 if the node is the item's end. The items are the
     * events of tm_graph_input, then the calls, then the steps. After ranks have been compared,
     * `parts` is NULL unless there are batches. */
    uint32_t *parts;
    uint32_t *first;  /* [n_nodes + 1] the edges that lead to node v are edges[first[v]] to
                         edges[first[v + 1] - 1]. NULL if the graph is closed */
    tm_edge *edges;   /* every edge leads from an earlier node to a later node */
    tm_weights apart; /* weights that do not fit into their edges */
    uint8_t *fixes;   /* [edges] the part of the user's scenario that applies to the edge, counted
                         from 1; 0 if no part applies. NULL without a scenario */
    tm_vec participants; /* vector of tm_graph_participant, ascending in (last_ns, operation) */
    tm_vec steps;        /* vector of tm_graph_step, ascending in number */
    int64_t n_inferred;  /* number of waits between streams that are not recorded, but inferred */
    int64_t blocked_ns;  /* host time in which the device was busy, if the trace does not record
                            waits for the device. It is unknown whether the host worked or waited in
                            this time */
    bool in_batch; /* the rank is replayed in a batch (job/batch.h), and this graph is empty */
} tm_graph;

void tm_graph_free(tm_graph *graph);

/** Frees `ns` and `first`, which take half of a graph's memory and can be computed from the edges.
 * Does nothing to a graph that is closed or has no nodes.
 * @param graph  graph with tm_graph_wrong() == 0 that tm_graph_build built */
void tm_graph_close(tm_graph *graph);

/** Computes `ns` and `first` of a graph that is closed. Does nothing to other graphs. TM_OK;
 * TM_ERR_FAULT when out of memory: the graph is then still closed. */
tm_status tm_graph_open(tm_graph *graph, tm_error *err) TM_MUST_CHECK;

static inline tm_weight tm_graph_weight(const tm_graph *graph, const tm_edge *edge) {
    if (edge->ns != TM_EDGE_NS) {
        const int32_t ns = (int32_t)(edge->ns ^ TM_EDGE_NS) - TM_EDGE_NS;
        return (tm_weight){ns, ns + (int32_t)(edge->more ^ TM_EDGE_MORE) - TM_EDGE_MORE, 0};
    }
    return tm_weights_at(&graph->apart, edge->more);
}

/** Stores the weight of an edge in graph->apart. Returns false when out of memory, or if
 * graph->apart is full. */
bool tm_graph_weigh_apart(tm_graph *graph, tm_edge *edge, const tm_weight *weight) TM_MUST_CHECK;

/** Sets the weight of an edge, which must be 0 before the first call. Returns false when out of
 * memory, or if more than 2 x TM_EDGE_MORE weights of the graph do not fit into their edges. */
static inline bool tm_graph_weigh(tm_graph *graph, tm_edge *edge, const tm_weight *weight) {
    const int64_t more = weight->peer_ns - weight->ns;
    if (edge->ns == TM_EDGE_NS || weight->over_ns != 0 || weight->ns <= -TM_EDGE_NS ||
        weight->ns >= TM_EDGE_NS || more < -TM_EDGE_MORE || more >= TM_EDGE_MORE)
        return tm_graph_weigh_apart(graph, edge, weight);
    edge->ns = (uint32_t)weight->ns & TM_EDGE_NS_BITS;
    edge->more = (uint32_t)more & TM_EDGE_MORE_BITS;
    return true;
}

static inline void tm_edge_flag(tm_edge *edge, uint8_t flags) {
    edge->flags = (edge->flags | flags) & TM_EDGE_FLAG_BITS;
}

/** Returns the part of the user's scenario that applies to an edge, counted from 1. Returns 0 if no
 * part applies. */
static inline uint8_t tm_graph_fix(const tm_graph *graph, const tm_edge *edge) {
    return graph->fixes ? graph->fixes[edge - graph->edges] : 0;
}

/** Returns the usual weight at the edge's place. If only two ranks have this place, returns the
 * smaller of the two weights, because it is unknown which weight is normal. */
static inline int64_t tm_edge_usual_ns(const tm_edge *edge, const tm_weight *weight) {
    return (edge->flags & TM_EDGE_PAIR) && weight->ns < weight->peer_ns ? weight->ns
                                                                        : weight->peer_ns;
}

static inline int64_t tm_graph_source_ns(const tm_graph *graph, const tm_edge *edge) {
    if (edge->from == TM_FROM_ROOT)
        return 0;
    if (edge->from & TM_FROM_OPERATION)
        return ((const tm_graph_participant *)
                    graph->participants.data)[edge->from & ~TM_FROM_OPERATION]
            .last_ns;
    return graph->ns[edge->from];
}

/** Returns the time until which an edge delays its target [ns], with the recorded weight. */
static inline int64_t tm_graph_reached_ns(const tm_graph *graph, const tm_edge *edge) {
    return tm_graph_source_ns(graph, edge) + tm_graph_weight(graph, edge).ns;
}

/** Returns the row of the event or call whose time an edge represents. For work and transfers, this
 * is the event that works or transfers. For other edges, this is the event or call of the target
 * node. */
static inline uint32_t tm_graph_event_of(const tm_graph *graph, uint32_t node,
                                         const tm_edge *edge) {
    const bool participants = edge->from & TM_FROM_OPERATION, root = edge->from == TM_FROM_ROOT;
    if (edge->kind == TM_EDGE_TRANSFER && participants && !root) {
        const tm_graph_participant *participant =
            (const tm_graph_participant *)graph->participants.data +
            (edge->from & ~TM_FROM_OPERATION);
        return participant->event == TM_NO_EVENT ? graph->event[node] : participant->event;
    }
    return graph->event[edge->kind <= TM_EDGE_COMM && !participants ? edge->from : node];
}

#endif

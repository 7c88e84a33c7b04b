/* What a rank did as a graph of causes: which event had to wait for which other. Changing weights
 * and going through it again tells when everything would have been, had something been faster.
 *
 * A node is the begin (S) or the end (E) of a GPU event, or of a call on the host that launched one
 * or waited for one. It happens at the largest of (time of the source + weight) over its in-edges.
 * With the weights that were recorded, every node gets exactly the time that was recorded.
 *
 * The root is the begin of the job's first GPU event. What ranks did before it is in no step and
 * stays as recorded: an edge over the root leads from the root, with only its part after it.
 *
 * Ranks meet in operations: member i's begin leads to the operation, which is there when the last
 * one has come (L), and from there to the ends of its members. So a rank's graph can be looked at
 * alone: it begins at the root and at operations, and leads to operations and to the ends of steps.
 */
#ifndef TMERGE_REPLAY_GRAPH_H
#define TMERGE_REPLAY_GRAPH_H

#include "base/vec.h"
#include "tmerge/timeline.h"

/** What happens on an edge: word, from -> to. Only what stands before BEFORE can change. */
#define TM_EDGE_LIST(X)                                                                            \
    X(COMPUTE, "compute")   /* S -> E of a compute kernel */                                       \
    X(COPY, "copy")         /* S -> E of a copy or a set */                                        \
    X(COMM, "comm")         /* S -> E of a communication kernel that no operation holds up */      \
    X(TRANSFER, "transfer") /* operation -> E of a member */                                       \
    X(LAUNCH, "launch")     /* S of the call -> S of the event */                                  \
    X(GAP, "gap")           /* end of the event before on the stream -> S of the event */          \
    X(WAIT, "wait")         /* E of an event of another stream -> S of the event */                \
    X(HOST, "host")         /* end of the call before -> S of the call */                          \
    X(CALL, "call")         /* S -> E of the call, its own work */                                 \
    X(SYNC, "sync")         /* E of the event that the call waited for -> E of the call */         \
    X(BEFORE, "before")     /* root -> what nothing recorded leads to; weight 0: end of a step, or \
                               of all that was before the first */

typedef enum tm_edge_kind {
#define TM_EDGE_ENUM(id, word) TM_EDGE_##id,
    TM_EDGE_LIST(TM_EDGE_ENUM)
#undef TM_EDGE_ENUM
        TM_N_EDGE_KINDS
} tm_edge_kind;

/** What else is known of an edge; bits. */
enum {
    TM_EDGE_INPUT = 1,   /* host: inside of the loader of the next batch */
    TM_EDGE_GC = 2,      /* host: inside of Python's garbage collection */
    TM_EDGE_STALL = 4,   /* host or call: far longer than on the other ranks at this place */
    TM_EDGE_MISSING = 8, /* no other rank has this place: peer_ns is its own */
    TM_EDGE_PAIR = 16,   /* one other alone has it: which of the two is as it should be? */
    TM_EDGE_OVER = 32,   /* something of it nothing recorded accounts for */
    TM_EDGE_UNSEEN = 64  /* host: from one step into the next, without a recorded event for long, of
                            a rank of which no wait is recorded: until others are compared with,
                            peer_ns is how long, which is as it was recorded on all */
};

/** Sources that are no nodes: the root, and the visit number (from & ~TM_FROM_VISIT). */
#define TM_FROM_ROOT UINT32_MAX
#define TM_FROM_VISIT UINT32_C(0x80000000)

/** What a job's GPUs did before the first step that is marked, and had done when it began: warming
 * up, loading a model. The first step does not count from the job's first GPU event then, but from
 * where the last rank began it. It stands for a step before all others in graphs and on paths; no
 * row is of it. */
#define TM_STEP_LEAD_IN (INT64_MIN + 1)

/** No node: a visit that the trace lacks, so that the rank only goes on from there. */
#define TM_NO_NODE UINT32_MAX

typedef struct tm_edge {
    int64_t ns;      /* recorded */
    int64_t peer_ns; /* what the other ranks of its role took at this place */
    uint32_t from;   /* an earlier node, TM_FROM_ROOT, or TM_FROM_VISIT + index */
    uint8_t kind;    /* tm_edge_kind */
    uint8_t flags;
    uint8_t part; /* of a user's scenario (scenario.h) that means it, from 1 on; 0 for none */
} tm_edge;

/** The rank's part in an operation that joins ranks. */
typedef struct tm_graph_visit {
    uint64_t operation; /* the same on all members, unique in the job */
    int64_t last_ns;    /* L, in the job's time; operations are ordered by (last_ns, operation) */
    uint32_t node;      /* S of the member, which leads to the operation, or TM_NO_NODE */
    uint32_t event;     /* its row, or TM_NO_EVENT */
} tm_graph_visit;

/** The rank's part of a step: the node at its latest GPU end of this step; of TM_STEP_LEAD_IN that
 * from which on the first step counts. */
typedef struct tm_graph_step {
    int64_t number;
    uint32_t node; /* of no event; its in-edges have weight 0 */
} tm_graph_step;

typedef struct tm_graph {
    int64_t rank;
    size_t n_nodes;
    int64_t *ns;      /* [n_nodes] when they were: since the root, on the job's clock */
    uint32_t *event;  /* [n_nodes] row in the timeline; TM_NO_EVENT for the end of a step */
    uint32_t *parts;  /* [n_nodes] 2 x what of the rank it is the begin of, + 1: the end; events of
                         the draft, calls, then steps; NULL once others are compared with */
    uint32_t *first;  /* [n_nodes + 1] in-edges of node v: edges [first[v], first[v + 1]) */
    tm_edge *edges;   /* an edge leads from an earlier node to a later one */
    int64_t *over_ns; /* [n_nodes] what nothing recorded accounts for, of each edge into the node
                         that has TM_EDGE_OVER; else 0. Of an edge that is cut at the root with what
                         is before it, as other ranks have it */
    tm_vec visits;    /* of tm_graph_visit, ascending in (last_ns, operation) */
    tm_vec steps;     /* of tm_graph_step, ascending in number */
    int64_t n_inferred; /* wait edges that no record tells */
    bool in_crew;       /* empty: the rank is of a crew */
} tm_graph;

void tm_graph_free(tm_graph *graph);

/** What is usual at its place: of two ranks, that have nobody else to be compared with, the
 * shorter; each having the other's would change nothing. */
static inline int64_t tm_edge_usual_ns(const tm_edge *edge) {
    return (edge->flags & TM_EDGE_PAIR) && edge->ns < edge->peer_ns ? edge->ns : edge->peer_ns;
}

/** Of an edge's recorded weight [ns] what nothing accounts for. @param node  that it leads to */
static inline int64_t tm_graph_over_ns(const tm_graph *graph, uint32_t node, const tm_edge *edge) {
    return edge->flags & TM_EDGE_OVER ? graph->over_ns[node] : 0;
}

/** The time [ns] of a source of an edge, as recorded. */
static inline int64_t tm_graph_source_ns(const tm_graph *graph, const tm_edge *edge) {
    if (edge->from == TM_FROM_ROOT)
        return 0;
    if (edge->from & TM_FROM_VISIT)
        return ((const tm_graph_visit *)graph->visits.data)[edge->from & ~TM_FROM_VISIT].last_ns;
    return graph->ns[edge->from];
}

#endif

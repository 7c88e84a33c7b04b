/* State shared by the steps of building a graph. */
#ifndef TMERGE_REPLAY_BUILDER_H
#define TMERGE_REPLAY_BUILDER_H

#include "build_graph.h"

/* An edge before the nodes are ordered. Its source and its target are numbers of parts. The struct
 * has no padding, so that edges can be compared as bytes. */
typedef struct tm_loose_edge {
    uint32_t to, from;
    uint8_t kind, flags;
    uint16_t none; /* padding, 0 */
} tm_loose_edge;

typedef struct tm_new_edge {
    int64_t ns, peer_ns, over_ns; /* see tm_weight */
    uint32_t from;
    uint8_t kind, flags;
} tm_new_edge;

/* A possible cause of a node's time. */
typedef struct tm_cause {
    uint32_t from;
    int64_t from_ns;
    int64_t usual_ns; /* usual time from the cause to the node */
    uint8_t kind;     /* tm_edge_kind */
} tm_cause;

/* State while a graph is built. The nodes of this graph are called parts, and are numbered as
 * follows. Part 2 i is the start of event i, and part 2 i + 1 is the end of event i. The starts and
 * ends of calls follow in the same way. The last parts are the ends of steps, and the end of the
 * warm-up. */
typedef struct tm_builder {
    const tm_graph_input *input;
    const tm_recorded *recorded;
    const tm_vec *waits; /* vector of tm_part_wait */
    const tm_replay_participant
        *participants;              /* [n_participants] participations, ascending in event */
    size_t n_participants, n_named; /* number of participations, and number of participations that
                                 have a recorded event */
    bool unseen; /* the graph has an edge with TM_EDGE_UNSEEN. The rank is therefore not replayed in
                    a batch */
    tm_graph *graph;
    tm_vec edges;       /* vector of tm_loose_edge */
    tm_weights weights; /* weight i belongs to element i of `edges`. At most one edge into a node
                           has an unexplained part */
    size_t room;        /* capacity of `edges` and `weights` */
    tm_vec causes;      /* vector of tm_cause: possible causes of the current node */
    int64_t launch_ns, gap_ns; /* usual lags */
    bool models;               /* `origin` is needed */
    uint32_t *origin; /* owned; NULL unless `models` is set. [edges of the graph] index of the edge
                         in `edges`, or TM_NO_ORIGIN */
} tm_builder;

/* Value in tm_builder.origin for an added edge from the root to a node without a recorded cause. */
#define TM_NO_ORIGIN UINT32_MAX

static inline uint32_t tm_event_begin(uint32_t event) {
    return 2 * event;
}

static inline uint32_t tm_event_end(uint32_t event) {
    return 2 * event + 1;
}

static inline uint32_t tm_call_begin(const tm_builder *m, uint32_t call) {
    return 2 * ((uint32_t)m->input->events.n + call);
}

static inline uint32_t tm_call_end(const tm_builder *m, uint32_t call) {
    return tm_call_begin(m, call) + 1;
}

/* Makes room for @p n more edges, which the caller must set and count in edges.n. False when out of
 * memory. */
bool tm_builder_grow(tm_builder *m, size_t n);
static inline bool tm_builder_room(tm_builder *m, size_t n) {
    return m->edges.n + n <= m->room || tm_builder_grow(m, n);
}

/* Sets edge i, for which there must be room. False when out of memory. */
static inline bool tm_builder_set(tm_builder *m, size_t i, uint32_t to, const tm_new_edge *edge) {
    const tm_weight weight = {edge->ns, edge->peer_ns, edge->over_ns};
    ((tm_loose_edge *)m->edges.data)[i] =
        (tm_loose_edge){to, edge->from, edge->kind, edge->flags, 0};
    return tm_weights_set(&m->weights, i, &weight);
}

/* Appends an edge. Edges must be appended in the order of their target parts. False when out of
 * memory. */
static inline bool tm_builder_edge(tm_builder *m, uint32_t to, const tm_new_edge *edge) {
    return tm_builder_room(m, 1) && tm_builder_set(m, m->edges.n++, to, edge);
}

static inline bool tm_builder_cause(tm_builder *m, const tm_cause *cause) {
    tm_cause *at = tm_vec_push(&m->causes);
    if (at)
        *at = *cause;
    return at != NULL;
}

/* Returns the time at which a node would usually follow a cause [ns]. The result is at most @p ns,
 * which is the node's time. */
static inline int64_t tm_cause_reaches(const tm_cause *cause, int64_t ns) {
    const int64_t lag = ns - cause->from_ns;
    return cause->from_ns + (lag < cause->usual_ns ? lag : cause->usual_ns);
}

/* Returns the weight that a cause's edge has on the other ranks. For a transfer, this is the usual
 * time of the operation. For other edges, it is @p weight until ranks are compared. */
static inline int64_t tm_cause_peer_ns(const tm_builder *m, const tm_cause *cause, int64_t weight) {
    return cause->kind == TM_EDGE_TRANSFER
               ? m->participants[cause->from & ~TM_FROM_OPERATION].usual_ns
               : weight;
}

/* Returns how much time before @p ns is not explained by the causes that were collected so far.
 * This is @p ns minus the latest time at which the node would usually follow one of these
 * causes. */
int64_t tm_builder_lag(const tm_builder *m, int64_t ns);

/* Adds an edge from each of [n] causes to a node at @p ns. One cause explains the node's time best.
 * The edge from this cause gets the recorded time as weight. The weights of the other edges are at
 * most the usual times of their causes. False when out of memory. */
static inline bool tm_builder_lead(tm_builder *m, uint32_t to, int64_t ns, const tm_cause *causes,
                                   size_t n) {
    size_t binding = 0;
    int64_t latest = INT64_MIN, over = 0;
    if (!tm_builder_room(m, n))
        return false;
    tm_loose_edge *edges = (tm_loose_edge *)m->edges.data + m->edges.n;
    for (size_t i = 0; i < n; i++) {
        const int64_t at = tm_cause_reaches(&causes[i], ns);
        binding = at > latest ? i : binding;
        over = at > latest ? ns - at : over;
        latest = at > latest ? at : latest;
    }
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        const int64_t own = tm_cause_reaches(&causes[i], ns) - causes[i].from_ns;
        const int64_t more = i == binding ? over : 0;
        const tm_weight weight = {own + more, tm_cause_peer_ns(m, &causes[i], own) + more, more};
        edges[i] = (tm_loose_edge){to, causes[i].from, causes[i].kind, 0, 0};
        ok = tm_weights_set(&m->weights, m->edges.n + i, &weight) && ok;
    }
    m->edges.n += n;
    return ok;
}

/* Like tm_builder_lead, for all causes in m->causes. Afterwards, m->causes is empty. */
bool tm_builder_settle(tm_builder *m, uint32_t to, int64_t ns);

/* Adds the end of event u as a possible cause of a node at @p ns. If u ends after @p ns (because
 * streams overlap, or times are rounded), another cause is added instead: the operation if u is
 * part of an operation, otherwise the start of u. False when out of memory. */
bool tm_builder_end(tm_builder *m, uint32_t u, int64_t ns, int64_t usual_ns, uint8_t kind);

/* tm_builder_events adds the edges into all events. tm_builder_calls adds the edges into all calls.
 * Both return false when out of memory. */
bool tm_builder_events(tm_builder *m);
bool tm_builder_calls(tm_builder *m);

/* Adds a rank's edges, participations and steps to an empty graph. False when out of memory. */
bool tm_builder_loose(tm_builder *m);

/* Sorts nodes and edges. TM_OK; TM_ERR_FAULT. */
tm_status tm_builder_order(tm_builder *m, tm_error *err) TM_MUST_CHECK;

#endif

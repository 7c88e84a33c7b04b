/* What the parts of a graph's making share. */
#ifndef TMERGE_REPLAY_MAKER_H
#define TMERGE_REPLAY_MAKER_H

#include "build.h"

/* What an edge is before nodes have their order: both ends are numbered by part. Without gaps, so
 * that many are compared at once. */
typedef struct tm_loose_edge {
    uint32_t to, from;
    uint8_t kind, flags;
    uint16_t none; /* 0 */
} tm_loose_edge;

/* What it took, as in tm_edge, and what of that nothing accounts for: of one edge into a node at
 * most. */
typedef struct tm_loose_weight {
    int64_t ns, peer_ns, over_ns;
} tm_loose_weight;

/* One way in which something may have been held up. */
typedef struct tm_cause {
    uint32_t from;
    int64_t from_ns;
    int64_t usual_ns; /* from the cause to what it causes */
    uint8_t kind;     /* tm_edge_kind */
} tm_cause;

/* By part: events first (S = 2 i, E = 2 i + 1), then calls, then the ends of steps. */
typedef struct tm_maker {
    const tm_draft *draft;
    const tm_recorded *recorded;
    const tm_vec *waits;           /* of tm_part_wait */
    const tm_replay_visit *visits; /* [n_visits] ascending in event */
    size_t n_visits, n_named;      /* these are of events that were recorded */
    bool unseen;                   /* it has TM_EDGE_UNSEEN: of no crew */
    tm_graph *graph;
    tm_vec edges;              /* of tm_loose_edge, and */
    tm_vec weights;            /* of tm_loose_weight: theirs, as many */
    size_t room;               /* for so many there is room in both */
    tm_vec causes;             /* of tm_cause: of the node at hand */
    int64_t launch_ns, gap_ns; /* usual lags */
    uint32_t *origin; /* owned; [edges of the graph] which loose one it was, or TM_NO_ORIGIN */
} tm_maker;

/* An edge from the root to what nothing recorded leads to. */
#define TM_NO_ORIGIN UINT32_MAX

static inline uint32_t tm_event_begin(uint32_t event) {
    return 2 * event;
}

static inline uint32_t tm_event_end(uint32_t event) {
    return 2 * event + 1;
}

static inline uint32_t tm_call_begin(const tm_maker *m, uint32_t call) {
    return 2 * ((uint32_t)m->draft->events.n + call);
}

static inline uint32_t tm_call_end(const tm_maker *m, uint32_t call) {
    return tm_call_begin(m, call) + 1;
}

/* Makes room for [n] edges more, which are to be set and counted. False when memory is out. */
bool tm_maker_grow(tm_maker *m, size_t n);
static inline bool tm_maker_room(tm_maker *m, size_t n) {
    return m->edges.n + n <= m->room || tm_maker_grow(m, n);
}

static inline void tm_maker_set(tm_maker *m, size_t i, uint32_t to, const tm_edge *edge) {
    ((tm_loose_edge *)m->edges.data)[i] =
        (tm_loose_edge){to, edge->from, edge->kind, edge->flags, 0};
    ((tm_loose_weight *)m->weights.data)[i] = (tm_loose_weight){edge->ns, edge->peer_ns, 0};
}

/* Those of one part in a row, and parts in their order. False when memory is out. */
static inline bool tm_maker_edge(tm_maker *m, uint32_t to, const tm_edge *edge) {
    if (!tm_maker_room(m, 1))
        return false;
    tm_maker_set(m, m->edges.n++, to, edge);
    return true;
}

/* Of whose weight nothing accounts for @p over_ns. */
static inline bool tm_maker_edge_over(tm_maker *m, uint32_t to, const tm_edge *edge,
                                      int64_t over_ns) {
    const bool ok = tm_maker_edge(m, to, edge);
    if (ok)
        ((tm_loose_weight *)m->weights.data)[m->edges.n - 1].over_ns = over_ns;
    return ok;
}

static inline bool tm_maker_cause(tm_maker *m, const tm_cause *cause) {
    tm_cause *at = tm_vec_push(&m->causes);
    if (at)
        *at = *cause;
    return at != NULL;
}

/* When a cause would usually have led to a node at @p ns, and not later than that. */
static inline int64_t tm_cause_reaches(const tm_cause *cause, int64_t ns) {
    const int64_t lag = ns - cause->from_ns;
    return cause->from_ns + (lag < cause->usual_ns ? lag : cause->usual_ns);
}

/* How long before a node at @p ns the latest of its causes would usually have led to it. */
int64_t tm_maker_lag(const tm_maker *m, int64_t ns);

/* Adds an edge for each of [n] causes of a node at @p ns: the one that explains it best has the
 * recorded weight, the others at most what is usual. False when memory is out. */
static inline bool tm_maker_lead(tm_maker *m, uint32_t to, int64_t ns, const tm_cause *causes,
                                 size_t n) {
    size_t binding = 0;
    int64_t latest = INT64_MIN, over = 0;
    if (!tm_maker_room(m, n))
        return false;
    tm_loose_edge *edges = (tm_loose_edge *)m->edges.data + m->edges.n;
    tm_loose_weight *weights = (tm_loose_weight *)m->weights.data + m->edges.n;
    for (size_t i = 0; i < n; i++) {
        const int64_t at = tm_cause_reaches(&causes[i], ns), weight = at - causes[i].from_ns;
        edges[i] = (tm_loose_edge){to, causes[i].from, causes[i].kind, 0, 0};
        weights[i] = (tm_loose_weight){weight, weight, 0};
        binding = at > latest ? i : binding;
        over = at > latest ? ns - at : over;
        latest = at > latest ? at : latest;
    }
    if (n > 0) {
        weights[binding].ns += over;
        weights[binding].peer_ns += over;
        weights[binding].over_ns = over;
    }
    m->edges.n += n;
    return true;
}

/* The same of all its causes, which are empty then. */
bool tm_maker_settle(tm_maker *m, uint32_t to, int64_t ns);

/* The end of event u as a cause of a node at @p ns; where it ends after that (streams overlap, or
 * times are rounded), its begin, or the operation that it is part of, from which its work leads
 * there. False when memory is out. */
bool tm_maker_end(tm_maker *m, uint32_t u, int64_t ns, int64_t usual_ns, uint8_t kind);

/* The edges into all events, and into all calls. False when memory is out. */
bool tm_maker_events(tm_maker *m);
bool tm_maker_calls(tm_maker *m);

/* All edges, visits and steps of a rank, in an empty graph. False when memory is out. */
bool tm_maker_loose(tm_maker *m);

/* Puts nodes and edges in order. TM_OK; TM_ERR_FAULT. */
tm_status tm_maker_order(tm_maker *m, tm_error *err) TM_MUST_CHECK;

#endif

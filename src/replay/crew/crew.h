/* Ranks that did the same: their graphs have the same nodes and edges, and differ in times alone.
 * What they have in common stands once, in the graph of the first of them, and what each took
 * beside one another, so that all is gone through for as many ranks at a time as a processor takes
 * numbers at once. What follows for a rank is the same to the byte as from a graph of its own. */
#ifndef TMERGE_REPLAY_CREW_H
#define TMERGE_REPLAY_CREW_H

#include "base/lanes.h"
#include "base/pages.h"
#include "crew_items.h"
#include "replay/graph.h"
#include "replay/path.h"
#include "replay/slack.h"

/** A rank's part in the operation of a visit. */
typedef struct tm_crew_visit {
    uint64_t operation[TM_LANES];
    int64_t last_ns[TM_LANES];
    int64_t usual_ns[TM_LANES]; /* of its transfer */
} tm_crew_visit;

/** What each rank took, by edge or place. */
typedef struct tm_crew_row {
    int64_t ns[TM_LANES];
} tm_crew_row;

/** The same where it is short, as nearly all is: in half of the memory. Else TM_WIDE is the first,
 * and the second which of the wide rows has it. */
typedef struct tm_crew_short {
    int32_t ns[TM_LANES];
} tm_crew_short;

#define TM_WIDE INT32_MIN

/** Up to TM_LANES ranks; the lanes behind the last rank's repeat the first's. */
typedef struct tm_crew {
    const tm_graph *like; /* borrowed: of a rank that did the same; its nodes, edges, steps and the
                             nodes of its visits are theirs, too */
    const tm_crew_items *items; /* borrowed: of what they have in common, too */
    size_t n;                   /* ranks */
    int64_t rank[TM_LANES];
    uint32_t index[TM_LANES]; /* which of the process's ranks it is */
    tm_crew_short *recorded;  /* borrowed, as all behind it: [edges] */
    tm_crew_row *wide;        /* [edges of the model that are not short] */
    tm_crew_row *over;        /* [nodes that may have some], by slots of the items: as over_ns of a
                                 graph */
    tm_crew_visit *visits;    /* [visits] */
    uint8_t *has_over;        /* [edges] bit by lane: TM_EDGE_OVER */
} tm_crew;

/** What is left of graphs while they are reduced: kept from crew to crew, so that it need not grow
 * again; {0}: none. */
typedef struct tm_reduce_room {
    tm_vec ports;   /* visits, steps, joints */
    tm_vec from;    /* of uint32_t: key of the source of each link, in the order of nodes */
    tm_vec ns;      /* of int64_t: [links][width] */
    tm_vec alive;   /* of uint8_t: [links] as in tm_labels */
    tm_vec implied; /* of uint8_t: of the ways at hand, bit by rank; behind them the same of those
                       that are of the latest */
} tm_reduce_room;

void tm_reduce_room_free(tm_reduce_room *room);

/** Where a crew's numbers are worked out: one for all crews, one after the other. */
typedef struct tm_crew_desk {
    const struct tm_crew_loops
        *loops;        /* borrowed: those of an instruction set; NULL: the fastest */
    tm_crew_row *ns;   /* [nodes] when they were: of tm_crew_times */
    tm_crew_row *peer; /* [edges] as tm_edge.peer_ns where it is not as recorded: of tm_crew_peers,
                          as the next two */
    uint8_t *known;    /* [edges] TM_DESK_PEER: peer is set; TM_EDGE_PAIR */
    uint8_t *stall;    /* [edges] bit by lane: TM_EDGE_STALL */
    uint32_t *ports;   /* [nodes][TM_LANES] room */
    size_t n_nodes, n_edges;
    tm_pages room; /* of all of these */
    tm_reduce_room links;
} tm_crew_desk;

enum { TM_DESK_PEER = 1 };

static inline size_t tm_crew_edges(const tm_crew *crew) {
    return crew->like->first[crew->like->n_nodes];
}

/** What a rank took. */
static inline int64_t tm_crew_ns(const tm_crew *crew, uint32_t edge, size_t lane) {
    const int32_t *ns = crew->recorded[edge].ns;
    return ns[0] == TM_WIDE ? crew->wide[ns[1]].ns[lane] : ns[lane];
}

/** Room for a crew. False when memory is out; free it in either case. */
bool tm_crew_desk_fit(tm_crew_desk *desk, const tm_crew *crew) TM_MUST_CHECK;
void tm_crew_desk_free(tm_crew_desk *desk);

/** Times of all nodes. */
void tm_crew_times(const tm_crew *crew, tm_crew_desk *desk);

/**
 * The graph of one rank alone, with the peers' weights of the desk.
 * @param in_time  its nodes are in the order of its own times, as tm_graph_build has them; else in
 *                 that of the crew
 * @param out      to be freed in either case
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_crew_pick(const tm_crew *crew, size_t lane, tm_crew_desk *desk, bool in_time,
                       tm_graph *out, tm_error *err) TM_MUST_CHECK;

/** As tm_path_ports, of all ranks of the crew. */
tm_status tm_crew_ports(const tm_crew *crew, tm_crew_desk *desk, tm_vec *arrivals, tm_vec *ends,
                        tm_error *err) TM_MUST_CHECK;

/**
 * As tm_slack_find; the latest times are the desk's peers then, by node, beside its times.
 * @param visits_ns  [visits] rows; @p steps_ns [steps], the same for all
 * @param out        [TM_LANES]
 */
void tm_crew_slack(const tm_crew *crew, const tm_crew_row *visits_ns, const int64_t *steps_ns,
                   int64_t below_ns, tm_crew_desk *desk, tm_slack *out);

#endif

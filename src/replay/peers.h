/* What the other ranks took at the same place: how long it would have taken, were it as there.
 *
 * A place is that of an event among those of its name in a step, in the order of launches, on ranks
 * of one role (stage of a pipeline); of a call, that of the event that it launches. What others
 * took is their median, of two the less: one of three may be slow. A duration goes there up and
 * down, for clamping would promise too much; what nothing explains of a begin only shrinks, for
 * that is chance. Where a job is of one rank, its other steps stand for the others. */
#ifndef TMERGE_REPLAY_PEERS_H
#define TMERGE_REPLAY_PEERS_H

#include "draft.h"
#include "graph.h"

/** One place of one rank, on its way to where the place's are compared, and back. Sent as bytes. */
typedef struct tm_peer {
    uint64_t place;
    int64_t first_ns;  /* event: duration; call: what lies before it */
    int64_t second_ns; /* event: what nothing explains of its begin; call: its own work */
    int32_t origin;    /* the process, and */
    uint32_t rank;     /* which of the ranks it holds */
    uint32_t item;     /* as in tm_edge */
    uint8_t flags;     /* back: TM_EDGE_STALL, TM_EDGE_MISSING */
    bool call;
} tm_peer;

/** Of which places one rank is compared. */
typedef struct tm_peer_role {
    int64_t stage;            /* of a pipeline, -1 for none */
    bool other_steps;         /* the job has no other rank */
    int32_t origin;           /* as in tm_peer */
    uint32_t rank;            /* likewise */
    uint32_t slice, n_slices; /* those places alone whose hash is this of as many */
} tm_peer_role;

/** Adds the places of a rank. TM_OK; TM_ERR_FAULT. */
tm_status tm_peers_add(const tm_draft *draft, const tm_graph *graph, const tm_peer_role *role,
                       tm_vec *peers, tm_error *err) TM_MUST_CHECK;

/** Replaces the weights of every place by what the others have there; those of one place must all
 * be there. TM_OK; TM_ERR_FAULT. */
tm_status tm_peers_compare(tm_vec *peers, tm_error *err) TM_MUST_CHECK;

/**
 * Sets the peer weights of a graph's edges.
 * @param peers  [n] as compared, of this rank
 * @param items  how many there are: events and calls of the draft
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_peers_set(tm_graph *graph, const tm_peer *peers, size_t n, size_t items,
                       tm_error *err) TM_MUST_CHECK;

#endif

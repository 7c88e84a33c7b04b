/* What of the ranks of a crew is compared, and which edges tell of it: the same for all of them. */
#ifndef TMERGE_REPLAY_CREW_ITEMS_H
#define TMERGE_REPLAY_CREW_ITEMS_H

#include "replay/graph.h"

/** What an edge tells of its item's weights (tm_peer_weights). */
typedef enum tm_item_tells {
    TM_TELLS_NONE,
    TM_TELLS_FIRST,  /* the longest of these */
    TM_TELLS_SECOND, /* it alone */
    TM_TELLS_OVER    /* its node's over_ns is the second */
} tm_item_tells;

typedef struct tm_item_edge {
    uint32_t edge;
    uint8_t kind, tells; /* tm_edge_kind, tm_item_tells */
} tm_item_edge;

/** Items are events, then calls, as in tm_peer_items. */
typedef struct tm_crew_items {
    size_t n, n_events;
    uint32_t *places; /* owned; [n] of every item */
    uint32_t *slots;  /* owned; [edges] of an edge that nothing may account for something of, which
                         of the nodes with such edges it leads to; or TM_NO_SLOT */
    size_t n_slots;
    uint32_t *first;     /* owned; [n + 2] where the edges of each item begin; behind the last those
                            of transfers */
    tm_item_edge *edges; /* owned */
    uint8_t *always;     /* owned; [n] whether it is compared on every rank: calls, and work of a
                            rank's own; else where something is not accounted for */
} tm_crew_items;

#define TM_NO_SLOT UINT32_MAX

/** All but the places, for which there is room. False when memory is out; free it in either case.
 */
bool tm_crew_items_make(tm_crew_items *items, const tm_graph *graph, size_t n,
                        size_t n_events) TM_MUST_CHECK;
void tm_crew_items_free(tm_crew_items *items);

#endif

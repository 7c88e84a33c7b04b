/* The items of a batch that are compared with other ranks, and the edges that contribute to the
 * weights of these items. All ranks of the batch share them. */
#ifndef TMERGE_REPLAY_BATCH_ITEMS_H
#define TMERGE_REPLAY_BATCH_ITEMS_H

#include "replay/graph/graph.h"

/** Which weight of its item an edge contributes to. The weights are members of tm_peer_weights. */
typedef enum tm_item_tells {
    TM_TELLS_NONE,
    TM_TELLS_FIRST,  /* first_ns: the maximum weight of these edges */
    TM_TELLS_SECOND, /* second_ns: the weight of this edge */
    TM_TELLS_OVER    /* second_ns: over_ns of the edge's target */
} tm_item_tells;

typedef struct tm_item_edge {
    uint32_t edge;
    uint8_t kind, tells; /* tm_edge_kind, tm_item_tells */
} tm_item_edge;

/** The items are the events, followed by the calls, as in tm_peer_items. */
typedef struct tm_batch_items {
    size_t n, n_events;
    uint32_t *places; /* owned; [n] place number of each item */
    /* owned; [edges] slot of the edge's target if the edge can have unexplained time; else
     * TM_NO_SLOT */
    uint32_t *slots;
    size_t n_slots;
    /* owned; [n + 2] index in `edges` of each item's first edge. The edges of transfers come after
     * the edges of the last item. */
    uint32_t *first;
    tm_item_edge *edges; /* owned */
    /* owned; [n] If true, the item is compared on all ranks: it is a call, or an event that does
     * work of its own. If false, the item is compared only on ranks on which its start has
     * unexplained time. */
    uint8_t *always;
} tm_batch_items;

#define TM_NO_SLOT UINT32_MAX

/** Sets all members, except that `places` is only allocated. False when out of memory. The caller
 * must free it in either case. */
bool tm_batch_items_make(tm_batch_items *items, const tm_graph *graph, size_t n,
                         size_t n_events) TM_MUST_CHECK;
void tm_batch_items_free(tm_batch_items *items);

#endif

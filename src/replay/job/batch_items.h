/* The compared items of a batch, and the edges that contribute to them. The same for all ranks of
 * the batch. */
#ifndef TMERGE_REPLAY_BATCH_ITEMS_H
#define TMERGE_REPLAY_BATCH_ITEMS_H

#include "replay/graph/graph.h"

/** The weight of an item (tm_peer_weights) to which an edge contributes. */
typedef enum tm_item_tells {
    TM_TELLS_NONE,
    TM_TELLS_FIRST,  /* first_ns, which is that of the longest of these edges */
    TM_TELLS_SECOND, /* second_ns: by itself */
    TM_TELLS_OVER    /* second_ns, which is over_ns of the edge's target */
} tm_item_tells;

typedef struct tm_item_edge {
    uint32_t edge;
    uint8_t kind, tells; /* tm_edge_kind, tm_item_tells */
} tm_item_edge;

/** Items: events, then calls, as in tm_peer_items. */
typedef struct tm_batch_items {
    size_t n, n_events;
    uint32_t *places; /* owned; [n] place of every item */
    uint32_t *slots;  /* owned; [edges] slot of the target node if the edge can have unexplained
                         time; else TM_NO_SLOT */
    size_t n_slots;
    uint32_t *first;     /* owned; [n + 2] index of each item's first edge; the edges of transfers
                            come after the last item's */
    tm_item_edge *edges; /* owned */
    /* owned; [n] true: the item is compared on every rank (calls, and events with work of their
     * own); false: only on ranks on which it has unexplained time */
    uint8_t *always;
} tm_batch_items;

#define TM_NO_SLOT UINT32_MAX

/** Sets all members; only allocates the places. False when out of memory; free it in either case.
 */
bool tm_batch_items_make(tm_batch_items *items, const tm_graph *graph, size_t n,
                         size_t n_events) TM_MUST_CHECK;
void tm_batch_items_free(tm_batch_items *items);

#endif

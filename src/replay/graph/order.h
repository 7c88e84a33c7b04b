/* Order of a graph's nodes: by time, then by phase, then by part. The phases are: ends of items
 * with a duration, starts of calls, starts of events, ends of items without a duration, ends of
 * steps. In this order, nearly every edge leads to a later node. */
#ifndef TMERGE_REPLAY_ORDER_H
#define TMERGE_REPLAY_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TM_PHASE_END,
    TM_PHASE_CALL,
    TM_PHASE_EVENT,
    TM_PHASE_NONE,
    TM_PHASE_STEP,
    TM_PHASE_BITS = 3
};

typedef struct tm_order_key {
    uint64_t key; /* (time - earliest time) x 8 + phase */
    uint32_t part;
    uint32_t event; /* row of the event */
} tm_order_key;

/** Returns the phase of a part.
 * @param took  whether the event or call of the part has a duration */
static inline unsigned tm_phase_of(size_t part, bool took, size_t n_events, size_t n_items) {
    if (part >= 2 * n_items)
        return TM_PHASE_STEP;
    if (part % 2)
        return took ? TM_PHASE_END : TM_PHASE_NONE;
    return part < 2 * n_events ? TM_PHASE_EVENT : TM_PHASE_CALL;
}

static inline tm_order_key tm_order_key_of(uint32_t part, int64_t ns, bool took, size_t n_events,
                                           size_t n_items) {
    return (tm_order_key){
        ((uint64_t)ns << TM_PHASE_BITS) + tm_phase_of(part, took, n_events, n_items), part, 0};
}

#endif

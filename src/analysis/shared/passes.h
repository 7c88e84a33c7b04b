/* The pass of each operator of a rank: forward, recomputed or backward. */
#ifndef TMERGE_PASSES_H
#define TMERGE_PASSES_H

#include "calls.h"

typedef enum tm_pass {
    TM_PASS_FORWARD, /* includes all work outside of the backward pass */
    TM_PASS_RECOMPUTED,
    TM_PASS_BACKWARD,
    TM_N_PASSES
} tm_pass;

/**
 * The pass of each operator. An operator in a node of autograd's graph is recomputed (activation
 * checkpointing) if it records for autograd, as forward operators do; otherwise it is backward. But
 * computing gradients of gradients also records. If a rank does this, all operators in nodes count
 * as backward.
 */
typedef struct tm_passes {
    uint8_t *pass; /* [operators->n] tm_pass; owned */
    /* [operators->n] row of the forward operator whose gradient the innermost node around the
     * operator computes; TM_NO_EVENT if there is no such node, or if the forward operator is
     * unknown; owned */
    uint32_t *forward;
    bool twice; /* whether the rank computes gradients of gradients */
} tm_passes;

/** Finds the passes. The caller frees them with tm_passes_free, also on failure. Returns TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_passes_find(const tm_rank_view *view, tm_passes *out, tm_error *err) TM_MUST_CHECK;
void tm_passes_free(tm_passes *passes);

/** Returns the row of the forward operator whose gradient a device event computes; TM_NO_EVENT if
 * there is none, or if it is unknown. Also returns TM_NO_EVENT for recomputed work, because it
 * counts for the calls that are open at its launch. */
static inline uint32_t tm_pass_of_event(const tm_rank_view *view, uint32_t row) {
    const tm_passes *passes = view->passes;
    uint32_t op = view->operators->above[row];
    return op != TM_NO_CALL && passes->pass[op] == TM_PASS_BACKWARD ? passes->forward[op]
                                                                    : TM_NO_EVENT;
}

/** Returns the row of the forward operator whose gradient an operator computes; TM_NO_EVENT if
 * there is none. Also returns TM_NO_EVENT if the operator is nested in an operator with such a row,
 * because the host time of the outer operator includes that of the inner one. */
static inline uint32_t tm_pass_of_operator(const tm_rank_view *view, size_t op) {
    uint32_t parent = view->operators->calls[op].parent;
    bool inside = parent != TM_NO_CALL && view->passes->forward[parent] != TM_NO_EVENT;
    return inside ? TM_NO_EVENT : view->passes->forward[op];
}

#endif

/* The pass of each operator of a rank: forward, recomputed or backward. */
#ifndef TMERGE_PASSES_H
#define TMERGE_PASSES_H

#include "calls.h"

typedef enum tm_pass {
    TM_PASS_FORWARD, /* also other work outside of the backward pass */
    TM_PASS_RECOMPUTED,
    TM_PASS_BACKWARD,
    TM_N_PASSES
} tm_pass;

/**
 * The pass of each operator. An operator in a node of autograd's graph is backward. If it records
 * for autograd there, as a forward operator does, it is recomputed (activation checkpointing),
 * because computing gradients normally records nothing. If a rank computes gradients of gradients,
 * this also records, so all operators in nodes count as backward.
 */
typedef struct tm_passes {
    uint8_t *pass;     /* [operators->n] tm_pass; owned */
    uint32_t *forward; /* [operators->n] by operator: row of the forward operator whose gradient the
                          innermost node around the operator computes; TM_NO_EVENT: in no node, or
                          unknown; owned */
    bool twice;        /* the rank computes gradients of gradients */
} tm_passes;

/** Finds the passes. Free them with tm_passes_free, even on failure. Returns TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_passes_find(const tm_rank_view *view, tm_passes *out, tm_error *err) TM_MUST_CHECK;
void tm_passes_free(tm_passes *passes);

/** Returns the row of the forward operator whose gradient a device event computes; TM_NO_EVENT if
 * none or unknown. None for recomputed work, which counts for the calls that are open at its
 * launch. */
static inline uint32_t tm_pass_of_event(const tm_rank_view *view, uint32_t row) {
    const tm_passes *passes = view->passes;
    uint32_t op = view->operators->above[row];
    return op != TM_NO_CALL && passes->pass[op] == TM_PASS_BACKWARD ? passes->forward[op]
                                                                    : TM_NO_EVENT;
}

/** Returns the same for an operator's host time; TM_NO_EVENT also if the time is part of that of an
 * operator around it that has a result. */
static inline uint32_t tm_pass_of_operator(const tm_rank_view *view, size_t op) {
    uint32_t parent = view->operators->calls[op].parent;
    bool inside = parent != TM_NO_CALL && view->passes->forward[parent] != TM_NO_EVENT;
    return inside ? TM_NO_EVENT : view->passes->forward[op];
}

#endif

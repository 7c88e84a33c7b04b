/* Forward, backward and what is computed again there: of each operator of a rank. */
#ifndef TMERGE_PASSES_H
#define TMERGE_PASSES_H

#include "calls.h"

typedef enum tm_pass {
    TM_PASS_FORWARD, /* or any other that is not backward */
    TM_PASS_RECOMPUTED,
    TM_PASS_BACKWARD,
    TM_N_PASSES
} tm_pass;

/**
 * An operator is backward's inside a node of autograd's graph. Where it ran there as forward does,
 * noting gradients to be taken, it is computed again (activation checkpointing), for what computes
 * gradients notes none; but where a rank takes gradients of gradients that is not known, and such
 * operators are backward's.
 */
typedef struct tm_passes {
    uint8_t *pass;     /* [operators->n] tm_pass; owned */
    uint32_t *forward; /* [operators->n] of the innermost node around it, the row of the forward
                          operator whose gradient it computes; TM_NO_EVENT where it is in none, or
                          that is not known; owned */
    bool twice;        /* gradients of gradients are taken */
} tm_passes;

/** Free it with tm_passes_free, whatever comes of the call. TM_OK; TM_ERR_FAULT. */
tm_status tm_passes_find(const tm_rank_view *view, tm_passes *out, tm_error *err) TM_MUST_CHECK;
void tm_passes_free(tm_passes *passes);

/** The forward operator (a row) whose gradient an event of a device computes; TM_NO_EVENT for none,
 * or where that is not known. What is computed again goes with the calls that are open then. */
static inline uint32_t tm_pass_of_event(const tm_rank_view *view, uint32_t row) {
    const tm_passes *passes = view->passes;
    uint32_t op = view->operators->above[row];
    return op != TM_NO_CALL && passes->pass[op] == TM_PASS_BACKWARD ? passes->forward[op]
                                                                    : TM_NO_EVENT;
}

/** The same of an operator's time on the host, if it lies in no other of which that is known. */
static inline uint32_t tm_pass_of_operator(const tm_rank_view *view, size_t op) {
    uint32_t parent = view->operators->calls[op].parent;
    bool inside = parent != TM_NO_CALL && view->passes->forward[parent] != TM_NO_EVENT;
    return inside ? TM_NO_EVENT : view->passes->forward[op];
}

#endif

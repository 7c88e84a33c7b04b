/* Finds the operators and annotations that are open when memory is allocated. */
#ifndef TMERGE_MEMORY_SCOPES_H
#define TMERGE_MEMORY_SCOPES_H

#include "analysis/shared/calls.h"
#include "base/vec.h"

/** The scope of a call. Indices are into tm_scopes.calls. They refer to the call itself or to a
 * call around it, and are TM_NO_CALL if there is no such call. */
typedef struct tm_scope {
    /* outermost operator with a schema or outermost autograd function; PyTorch's profiler treats it
     * as a unit of computation */
    uint32_t node;
    /* outermost operator that is no wrapper of autograd: the one that a user would name */
    uint32_t op;
    uint32_t module;    /* innermost module */
    uint32_t optimizer; /* an optimizer step */
    bool backward;      /* whether the call is within autograd */
    bool loading; /* whether the call loads a batch: it is within a data loader or the pinning of
                     memory */
} tm_scope;

typedef struct tm_scopes {
    tm_calls calls; /* operators, annotations except steps, and modules */
    tm_scope *of;   /* [calls.n] owned */
    /* [calls.n] whether a call is a node that launched a copy from the host; owned */
    uint8_t *copies;
    tm_vec optimizers; /* vector of int64_t: starts of optimizer steps, ascending */
} tm_scopes;

/** Finds the scopes of calls. The caller calls tm_scopes_free, also on failure. Returns TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_scopes_find(const tm_rank_view *view, tm_scopes *out, tm_error *err) TM_MUST_CHECK;
void tm_scopes_free(tm_scopes *scopes);

/** Returns the scope of an event on a thread. If no call is open, all indices in it are
 * TM_NO_CALL. */
tm_scope tm_scopes_at(const tm_scopes *scopes, uint32_t row);

/** Returns whether a node copies a tensor from the host. Such a tensor is an input of the model. */
bool tm_scopes_brings(const tm_scopes *scopes, const tm_rank_view *view, uint32_t node);

#endif

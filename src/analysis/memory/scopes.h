/* What the operators and annotations that are open tell of memory that is taken in them. */
#ifndef TMERGE_MEMORY_SCOPES_H
#define TMERGE_MEMORY_SCOPES_H

#include "analysis/shared/calls.h"
#include "base/vec.h"

/** What a call lies in, itself included; calls are numbers in tm_scopes.calls, or TM_NO_CALL. */
typedef struct tm_scope {
    uint32_t node;      /* outermost operator of a library or of autograd: what PyTorch's own rules
                         * see as one step of the computation */
    uint32_t op;        /* outermost operator but for autograd's wrappers: what a user knows */
    uint32_t module;    /* innermost module */
    uint32_t optimizer; /* the optimizer's step */
    bool backward;      /* of autograd */
    bool loading;       /* brings a batch to the rank: a loader, memory that is pinned */
} tm_scope;

typedef struct tm_scopes {
    tm_calls calls;    /* operators, annotations but for steps, modules */
    tm_scope *of;      /* [calls.n] owned */
    uint8_t *copies;   /* [calls.n] owned; whether a node brought something from the host */
    tm_vec optimizers; /* of int64_t, ascending: when steps of the optimizer began */
} tm_scopes;

/** Free it with tm_scopes_free, whatever comes of the call. TM_OK; TM_ERR_FAULT. */
tm_status tm_scopes_find(const tm_rank_view *view, tm_scopes *out, tm_error *err) TM_MUST_CHECK;
void tm_scopes_free(tm_scopes *scopes);

/** What is open at an event on a thread; nothing where no call is. */
tm_scope tm_scopes_at(const tm_scopes *scopes, uint32_t row);

/** True where a call moves a tensor and brings it from the host: an input of the model. */
bool tm_scopes_brings(const tm_scopes *scopes, const tm_rank_view *view, uint32_t node);

#endif

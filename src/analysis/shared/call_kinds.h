/* Finds the kinds of host calls and kernels from their names. Each name is classified once. */
#ifndef TMERGE_CALL_KINDS_H
#define TMERGE_CALL_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel_traits.h"
#include "tmerge/timeline.h"

typedef enum tm_call_kind {
    TM_CALL_KIND_OTHER = 1,
    TM_CALL_KIND_GRAPH,      /* launches a CUDA or HIP graph */
    TM_CALL_KIND_LAUNCH,     /* launches a kernel */
    TM_CALL_KIND_CAPTURE,    /* starts a graph capture, during which launches run nothing */
    TM_CALL_KIND_CAPTURED,   /* ends a graph capture */
    TM_CALL_KIND_SYNC,       /* waits for the GPU */
    TM_CALL_KIND_COPY,       /* copies or sets memory; may wait until this is done */
    TM_CALL_KIND_ALLOCATION, /* allocates or frees device memory or pinned memory */
    TM_CALL_KIND_LOADING,    /* loads or unloads device code */
    TM_CALL_KIND_INPUT,      /* waits for the next batch */
    TM_CALL_KIND_STEP,       /* marks a step; not known from the name, but from the timeline */
    TM_CALL_KIND_OPTIMIZER,  /* an optimizer step */
    TM_CALL_KIND_ZERO_GRAD,  /* the optimizer clears gradients */
    TM_CALL_KIND_MODULE,     /* a module of the model */
    TM_CALL_KIND_SCOPE, /* another span of a framework, which older profilers record as an operator
                         */
    TM_CALL_KIND_BACKWARD, /* computes gradients */
    TM_CALL_KIND_COMMUNICATION
} tm_call_kind;

tm_call_kind tm_call_kind_of(tm_text name);

/** Returns whether a kind is a span that a framework or user marks for profilers, in any category
 * of events. */
static inline bool tm_call_kind_is_scope(tm_call_kind kind) {
    return kind == TM_CALL_KIND_INPUT || (kind >= TM_CALL_KIND_STEP && kind <= TM_CALL_KIND_SCOPE);
}

/** A cache of the kinds of names. A name is classified when its kind is first needed. */
typedef struct tm_call_kinds {
    const tm_names *names; /* borrowed */
    uint8_t *known;        /* [names] tm_call_kind; 0: not yet classified; owned */
    /* [names] 1 + whether the name is of the user's own code; 0: not yet known; owned */
    uint8_t *own;
    uint8_t *attention; /* [names] 1 + whether the name shows attention; 0: not yet known; owned */
    uint8_t *looked;    /* [names] whether traits are set; owned */
    tm_kernel_traits *traits;
    tm_kernel_words words;
} tm_call_kinds;

/** Returns false if out of memory. In either case, the caller calls tm_call_kinds_free. Until then,
 * @p names must not get new names. */
bool tm_call_kinds_init(tm_call_kinds *call_kinds, const tm_names *names);
void tm_call_kinds_free(tm_call_kinds *call_kinds);

/** Returns the kind of a name, never TM_CALL_KIND_STEP. */
static inline tm_call_kind tm_call_kinds_at(tm_call_kinds *call_kinds, uint32_t name) {
    if (call_kinds->known[name] == 0)
        call_kinds->known[name] = (uint8_t)tm_call_kind_of(tm_names_text(call_kinds->names, name));
    return (tm_call_kind)call_kinds->known[name];
}

/** Returns the kind of a host event: TM_CALL_KIND_STEP if it marks a step, otherwise the kind of
 * its name. */
static inline tm_call_kind tm_call_kinds_of(tm_call_kinds *call_kinds, const tm_timeline *timeline,
                                            uint32_t row) {
    return tm_timeline_is_step(timeline, row) ? TM_CALL_KIND_STEP
                                              : tm_call_kinds_at(call_kinds, timeline->name[row]);
}

/** Returns whether a Python function is the user's own code, by its name: not code of PyTorch
 * or of an installed package, and not a builtin. */
bool tm_is_own_code(const char *name);

static inline bool tm_call_kinds_own(tm_call_kinds *call_kinds, uint32_t name) {
    if (call_kinds->own[name] == 0)
        call_kinds->own[name] =
            (uint8_t)(1 + tm_is_own_code(tm_names_text(call_kinds->names, name).bytes));
    return call_kinds->own[name] == 2;
}

/** Returns whether an operator computes attention, by its name. */
bool tm_is_attention(const char *name);

static inline bool tm_call_kinds_attention(tm_call_kinds *call_kinds, uint32_t name) {
    if (call_kinds->attention[name] == 0)
        call_kinds->attention[name] =
            (uint8_t)(1 + tm_is_attention(tm_names_text(call_kinds->names, name).bytes));
    return call_kinds->attention[name] == 2;
}

/** Returns the traits of a kernel, from its name. */
static inline const tm_kernel_traits *tm_call_kinds_kernel(tm_call_kinds *call_kinds,
                                                           uint32_t name) {
    if (!call_kinds->looked[name]) {
        call_kinds->looked[name] = 1;
        call_kinds->traits[name] =
            tm_kernel_traits_of(&call_kinds->words, tm_names_text(call_kinds->names, name).bytes);
    }
    return &call_kinds->traits[name];
}

#endif

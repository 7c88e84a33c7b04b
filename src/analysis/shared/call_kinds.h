/* What the name of a call on the host tells of it, or that of a kernel, of each name once. */
#ifndef TMERGE_CALL_KINDS_H
#define TMERGE_CALL_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel_traits.h"
#include "tmerge/timeline.h"

typedef enum tm_call_kind {
    TM_CALL_KIND_OTHER = 1,
    TM_CALL_KIND_GRAPH,      /* launches a whole graph */
    TM_CALL_KIND_LAUNCH,     /* launches a kernel */
    TM_CALL_KIND_CAPTURE,    /* begins to capture a graph: launches that follow run nothing, */
    TM_CALL_KIND_CAPTURED,   /* until this */
    TM_CALL_KIND_SYNC,       /* waits for the GPU */
    TM_CALL_KIND_COPY,       /* copies or sets memory; may wait for it */
    TM_CALL_KIND_ALLOCATION, /* takes or gives back memory of the device, or pinned memory */
    TM_CALL_KIND_LOADING,    /* loads or unloads code of the device */
    TM_CALL_KIND_INPUT,      /* waits for the next batch */
    TM_CALL_KIND_STEP,       /* marks a step: by its row, not by its name */
    TM_CALL_KIND_OPTIMIZER,  /* the optimizer's step */
    TM_CALL_KIND_ZERO_GRAD,  /* its clearing of gradients */
    TM_CALL_KIND_MODULE,     /* a module of the model */
    TM_CALL_KIND_SCOPE, /* another span that a framework marks as older profilers mark operators */
    TM_CALL_KIND_BACKWARD, /* computes gradients */
    TM_CALL_KIND_COMMUNICATION
} tm_call_kind;

tm_call_kind tm_call_kind_of(tm_text name);

/** True for what a framework or user marks with a span of its own, in whatever category. */
static inline bool tm_call_kind_is_scope(tm_call_kind kind) {
    return kind == TM_CALL_KIND_INPUT || (kind >= TM_CALL_KIND_STEP && kind <= TM_CALL_KIND_SCOPE);
}

/** The kinds of a dictionary's names, each looked at when it is first asked for. */
typedef struct tm_call_kinds {
    const tm_names *names; /* borrowed */
    uint8_t *known;        /* owned; by name id, 0 where nobody asked yet */
    uint8_t *own;          /* likewise 1 + whether it is the program's own code */
    uint8_t *attention;    /* likewise 1 + whether it is attention */
    uint8_t *looked;       /* likewise, whether traits are known */
    tm_kernel_traits *traits;
    tm_kernel_words words;
} tm_call_kinds;

/** False when memory is out; free it in either case. No name may be added while it is in use. */
bool tm_call_kinds_init(tm_call_kinds *call_kinds, const tm_names *names);
void tm_call_kinds_free(tm_call_kinds *call_kinds);

/** What a name alone tells: never TM_CALL_KIND_STEP. */
static inline tm_call_kind tm_call_kinds_at(tm_call_kinds *call_kinds, uint32_t name) {
    if (call_kinds->known[name] == 0)
        call_kinds->known[name] = (uint8_t)tm_call_kind_of(tm_names_text(call_kinds->names, name));
    return (tm_call_kind)call_kinds->known[name];
}

/** What an event on the host is: a step's mark, else what its name tells. */
static inline tm_call_kind tm_call_kinds_of(tm_call_kinds *call_kinds, const tm_timeline *timeline,
                                            uint32_t row) {
    return tm_timeline_is_step(timeline, row) ? TM_CALL_KIND_STEP
                                              : tm_call_kinds_at(call_kinds, timeline->name[row]);
}

/** True for code of the program itself, by the name of a Python function: neither PyTorch's, nor
 * what is installed, nor built in. */
bool tm_is_own_code(const char *name);

static inline bool tm_call_kinds_own(tm_call_kinds *call_kinds, uint32_t name) {
    if (call_kinds->own[name] == 0)
        call_kinds->own[name] =
            (uint8_t)(1 + tm_is_own_code(tm_names_text(call_kinds->names, name).bytes));
    return call_kinds->own[name] == 2;
}

/** True for an operator that is attention by its name. */
bool tm_is_attention(const char *name);

static inline bool tm_call_kinds_attention(tm_call_kinds *call_kinds, uint32_t name) {
    if (call_kinds->attention[name] == 0)
        call_kinds->attention[name] =
            (uint8_t)(1 + tm_is_attention(tm_names_text(call_kinds->names, name).bytes));
    return call_kinds->attention[name] == 2;
}

/** What the name of a kernel tells. */
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

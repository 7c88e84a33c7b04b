/* What the name of a call on the host tells of it. */
#ifndef TMERGE_WORDS_H
#define TMERGE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor_cores.h"
#include "tmerge/names.h"

typedef enum tm_word {
    TM_WORD_OTHER = 1,
    TM_WORD_GRAPH,      /* launches a whole graph */
    TM_WORD_SYNC,       /* waits for the GPU */
    TM_WORD_COPY,       /* copies or sets memory; may wait for it */
    TM_WORD_ALLOCATION, /* takes or gives back memory of the device, or pinned memory */
    TM_WORD_INPUT,      /* waits for the next batch */
    TM_WORD_STEP,       /* a step of the profiler */
    TM_WORD_OPTIMIZER,  /* the optimizer's step */
    TM_WORD_ZERO_GRAD,  /* its clearing of gradients */
    TM_WORD_MODULE,     /* a module of the model */
    TM_WORD_SCOPE,      /* another span that a framework marks as older profilers mark operators */
    TM_WORD_BACKWARD,   /* computes gradients */
    TM_WORD_COMMUNICATION
} tm_word;

tm_word tm_word_of(tm_text name);

/** True for what a framework or user marks with a span of its own, in whatever category. */
static inline bool tm_word_is_scope(tm_word word) {
    return word == TM_WORD_INPUT || (word >= TM_WORD_STEP && word <= TM_WORD_SCOPE);
}

/** The words of a dictionary's names, each looked at when it is first asked for. */
typedef struct tm_words {
    const tm_names *names; /* borrowed */
    uint8_t *known;        /* owned; by name id, 0 where nobody asked yet */
    uint8_t *tensor;       /* likewise 1 + whether a kernel of this name is on tensor cores */
} tm_words;

/** False when memory is out; free it in either case. No name may be added while it is in use. */
bool tm_words_init(tm_words *words, const tm_names *names);
void tm_words_free(tm_words *words);

static inline tm_word tm_words_at(tm_words *words, uint32_t name) {
    if (words->known[name] == 0)
        words->known[name] = (uint8_t)tm_word_of(tm_names_text(words->names, name));
    return (tm_word)words->known[name];
}

/** Whether a kernel of this name runs on tensor cores. */
static inline bool tm_words_tensor(tm_words *words, uint32_t name) {
    if (words->tensor[name] == 0)
        words->tensor[name] =
            (uint8_t)(1 + tm_kernel_on_tensor_cores(tm_names_text(words->names, name).bytes));
    return words->tensor[name] == 2;
}

#endif

/* Classifies host calls by their names. The class states whether a call waits for the GPU, or makes
 * a stream wait. */
#ifndef TMERGE_CALL_CLASS_H
#define TMERGE_CALL_CLASS_H

#include "graph.h"

typedef enum tm_call_class_kind {
    TM_CALL_OTHER,
    TM_CALL_WAITS_DEVICE, /* waits for all launched work: cudaDeviceSynchronize */
    TM_CALL_MAY_WAIT,     /* waits for all launched work, then does work of its own (allocates
                             memory, loads code): cudaFree, cuModuleLoad */
    TM_CALL_WAITS_STREAM, /* waits for one stream: cudaStreamSynchronize */
    TM_CALL_WAITS_EVENT,  /* waits for a CUDA event: cudaEventSynchronize */
    TM_CALL_WAITS_OWN,    /* waits for the work that it launched: cudaMemcpy */
    TM_CALL_STREAM_WAITS  /* does not wait, but makes a stream wait: cudaStreamWaitEvent */
} tm_call_class_kind;

/** Classifies a call by its name, ignoring the suffix of an API version. */
tm_call_class_kind tm_call_class_of(tm_text name);

/** Cache of call classes, indexed by name id. A class is computed on first use. */
typedef struct tm_call_classes {
    const tm_names *names; /* borrowed */
    uint8_t *known; /* owned; [names] 0 for a name that is not classified yet. Otherwise, the low
                       four bits are 1 + tm_call_class_kind, and the high four bits are the flags */
} tm_call_classes;

/** Initialises an empty cache. Returns false when out of memory. The caller must call
 * tm_call_classes_free, even then. No name may be added while the cache is in use. */
bool tm_call_classes_init(tm_call_classes *classes, const tm_names *names);
void tm_call_classes_free(tm_call_classes *classes);
tm_call_class_kind tm_call_classes_at(tm_call_classes *classes, uint32_t name);
uint8_t tm_call_classes_flags(tm_call_classes *classes, uint32_t name);

#endif

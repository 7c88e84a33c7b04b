/* Which calls on the host wait for the GPU, or make a stream wait, by their names. */
#ifndef TMERGE_CALL_CLASS_H
#define TMERGE_CALL_CLASS_H

#include "graph.h"

typedef enum tm_call_class_kind {
    TM_CALL_OTHER,
    TM_CALL_WAITS_DEVICE, /* for all that was launched: cudaDeviceSynchronize */
    TM_CALL_MAY_WAIT,     /* for all that was launched, and then has work of its own: it takes or
                             gives back memory, or loads code: cudaFree, cuModuleLoad */
    TM_CALL_WAITS_STREAM, /* for one stream: cudaStreamSynchronize */
    TM_CALL_WAITS_EVENT,  /* for what an event recorded: cudaEventSynchronize */
    TM_CALL_WAITS_OWN,    /* for what it launched itself: cudaMemcpy */
    TM_CALL_STREAM_WAITS  /* makes a stream wait, not the host: cudaStreamWaitEvent */
} tm_call_class_kind;

/** Flags of what an annotation on the host holds, by its name: TM_EDGE_INPUT of the loader of the
 * next batch, TM_EDGE_GC of Python's garbage collection; 0 for all else. */
uint8_t tm_host_flags_of(tm_text name);

/** What a name alone tells, whatever suffix a version of the API put behind it. */
tm_call_class_kind tm_call_class_of(tm_text name);

/** By name id, each looked at when it is first asked for. */
typedef struct tm_call_classes {
    const tm_names *names; /* borrowed */
    uint8_t *known;        /* owned; 1 + tm_call_class_kind and flags; 0 where nobody asked yet */
} tm_call_classes;

/** False when memory is out; free it in either case. No name may be added while it is in use. */
bool tm_call_classes_init(tm_call_classes *classes, const tm_names *names);
void tm_call_classes_free(tm_call_classes *classes);
tm_call_class_kind tm_call_classes_at(tm_call_classes *classes, uint32_t name);
uint8_t tm_call_classes_flags(tm_call_classes *classes, uint32_t name);

#endif

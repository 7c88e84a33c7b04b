/* Converts parsed events to the rows of a trace. Private to the Ascend reader. */
#ifndef TMERGE_ASCEND_EMIT_H
#define TMERGE_ASCEND_EMIT_H

#include "ascend_event.h"
#include "ascend_flows.h"
#include "ascend_groups.h"
#include "ascend_overlap.h"
#include "timeline/part.h"

enum { TM_ASCEND_KEY_MAX = 24, TM_ASCEND_PLACES = 64 };

/** What a process of the trace contains. */
typedef enum tm_ascend_layer {
    TM_ASCEND_UNKNOWN,
    TM_ASCEND_PYTHON,
    TM_ASCEND_CANN, /* calls of the CANN library, made by threads of the Python process */
    TM_ASCEND_DEVICE,
    /* HCCL's operations. HCCL's planes (channels) are separate threads of this process. */
    TM_ASCEND_HCCL,
    TM_ASCEND_OVERLAP,
    TM_ASCEND_OTHER_LAYER
} tm_ascend_layer;

typedef struct tm_ascend_process {
    char text[TM_ASCEND_KEY_MAX]; /* the process id as written in the file */
    uint8_t size;
    uint8_t layer;  /* tm_ascend_layer */
    int64_t number; /* the id as a number; -1 if it is not one */
} tm_ascend_process;

/** A cached track, found by process and thread, so that their names need not be interned again. */
typedef struct tm_ascend_place {
    uint8_t pid_size, tid_size; /* pid_size 255: empty */
    uint8_t kind, layer;
    char pid[TM_ASCEND_KEY_MAX], tid[TM_ASCEND_KEY_MAX];
    uint32_t track;
} tm_ascend_place;

typedef struct tm_ascend_emitter {
    tm_part *part;    /* borrowed */
    tm_trace *trace;  /* borrowed: part->trace */
    tm_names *names;  /* borrowed */
    tm_vec scratch;   /* vector of char: decoded strings */
    tm_vec processes; /* vector of tm_ascend_process */
    size_t last;      /* index of the process that was used last */
    tm_vec unsure;    /* vector of uint32_t: rows of copies that may be parts of collectives */
    tm_vec carrying;  /* vector of uint32_t: tracks that have parts of collectives */
    tm_vec mesh;      /* vector of uint32_t: rows of operations with a mesh algorithm */
    const tm_ascend_groups *groups; /* borrowed */
    tm_ascend_flows flows;
    tm_ascend_overlap overlap;
    tm_ascend_place places[TM_ASCEND_PLACES];
} tm_ascend_emitter;

void tm_ascend_emitter_init(tm_ascend_emitter *emitter, tm_part *part, tm_names *names,
                            const tm_ascend_groups *groups);
void tm_ascend_emitter_free(tm_ascend_emitter *emitter);

/** Adds an event, or counts why it was rejected. Returns false if out of memory. */
bool tm_ascend_emit(tm_ascend_emitter *emitter, tm_json_cursor *cursor,
                    const tm_chrome_event *event);

/**
 * Completes the trace after its last event: finds copies that are parts of collectives, links
 * launches with their work, and compares sums with the profiler's own.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_ascend_emitter_finish(tm_ascend_emitter *emitter, tm_error *err) TM_MUST_CHECK;

#endif

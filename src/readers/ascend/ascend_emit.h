/* From parsed events to the rows of a trace. Private to the Ascend reader. */
#ifndef TMERGE_ASCEND_EMIT_H
#define TMERGE_ASCEND_EMIT_H

#include "ascend_event.h"
#include "ascend_flows.h"
#include "ascend_groups.h"
#include "ascend_lanes.h"
#include "timeline/part.h"

enum { TM_ASCEND_KEY_MAX = 24, TM_ASCEND_PLACES = 64 };

/** What a process of the trace stands for. */
typedef enum tm_ascend_layer {
    TM_ASCEND_UNKNOWN,
    TM_ASCEND_PYTHON,
    TM_ASCEND_CANN, /* calls of the library: of the threads of Python's process */
    TM_ASCEND_DEVICE,
    TM_ASCEND_HCCL, /* operations, and as threads of their own the planes that they consist of */
    TM_ASCEND_OVERLAP,
    TM_ASCEND_OTHER_LAYER
} tm_ascend_layer;

typedef struct tm_ascend_process {
    char text[TM_ASCEND_KEY_MAX]; /* as it stands in the file */
    uint8_t size;
    uint8_t layer;  /* tm_ascend_layer */
    int64_t number; /* -1 where it is none */
} tm_ascend_process;

/** A track as it was asked for last, to know it again without interning. */
typedef struct tm_ascend_place {
    uint8_t pid_size, tid_size; /* pid_size 255: empty */
    uint8_t kind, layer;
    char pid[TM_ASCEND_KEY_MAX], tid[TM_ASCEND_KEY_MAX];
    uint32_t track;
} tm_ascend_place;

typedef struct tm_ascend_emitter {
    tm_part *part;    /* borrowed */
    tm_trace *trace;  /* borrowed: of the part */
    tm_names *names;  /* borrowed */
    tm_vec scratch;   /* of char: decoded strings */
    tm_vec processes; /* of tm_ascend_process */
    size_t last;      /* of them the one asked for last */
    tm_vec unsure;    /* of uint32_t: rows of copies that may be parts of collectives */
    tm_vec carrying;  /* of uint32_t: tracks that carry such parts */
    const tm_ascend_groups *groups; /* borrowed */
    tm_ascend_flows flows;
    tm_ascend_lanes lanes;
    tm_ascend_place places[TM_ASCEND_PLACES];
} tm_ascend_emitter;

void tm_ascend_emitter_init(tm_ascend_emitter *emitter, tm_part *part, tm_names *names,
                            const tm_ascend_groups *groups);
void tm_ascend_emitter_free(tm_ascend_emitter *emitter);

/** Adds one event, or counts why not. False when memory is out. */
bool tm_ascend_emit(tm_ascend_emitter *emitter, tm_json_cursor *cursor,
                    const tm_chrome_event *event);

/** Settles what only the whole trace tells: which copies are parts of collectives, what launched
 * what, and whether the profiler's own sums fit. TM_OK; TM_ERR_FAULT. */
tm_status tm_ascend_emitter_finish(tm_ascend_emitter *emitter, tm_error *err) TM_MUST_CHECK;

#endif

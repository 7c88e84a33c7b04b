/* Converts parsed Kineto events to the rows of a part. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_EMIT_H
#define TMERGE_KINETO_EMIT_H

#include "kineto_category.h"
#include "kineto_event.h"
#include "readers/short_text.h"
#include "timeline/part.h"
#include "tmerge/names.h"

enum { TM_KINETO_TRACK_BITS = 6, TM_KINETO_CATEGORY_BITS = 6 };
enum { TM_KINETO_COUNTED_CACHE = 256 };

/* A cached track. It is found by its pid and tid as they are written in the trace, without
 * interning them. */
typedef struct tm_kineto_track_cache {
    tm_short_text pid, tid;
    uint32_t kind, track;
} tm_kineto_track_cache;

typedef struct tm_kineto_category_cache {
    tm_short_text category;
    tm_kineto_class class;
} tm_kineto_category_cache;

/* A cached answer: whether the inputs of operators of this name are kept (timeline/counted.h). */
typedef struct tm_kineto_counted_cache {
    uint32_t name; /* TM_NO_NAME: empty */
    bool is_counted;
} tm_kineto_counted_cache;

typedef struct tm_kineto_emitter {
    tm_part *part;           /* borrowed */
    tm_trace *trace;         /* borrowed: part->trace */
    tm_names *names;         /* borrowed */
    tm_vec scratch;          /* vector of char: decoded strings */
    const char *device_word; /* name of the devices as known so far, or NULL */
    tm_kineto_track_cache tracks[1 << TM_KINETO_TRACK_BITS];
    tm_kineto_category_cache categories[1 << TM_KINETO_CATEGORY_BITS];
    tm_kineto_counted_cache counted[TM_KINETO_COUNTED_CACHE];
} tm_kineto_emitter;

void tm_kineto_emitter_init(tm_kineto_emitter *emitter, tm_part *part, tm_names *names);
void tm_kineto_emitter_free(tm_kineto_emitter *emitter);

/** Adds one event with its attributes, or counts why it is dropped. Returns false if out of
 * memory. */
bool tm_kineto_emit(tm_kineto_emitter *emitter, tm_json_cursor *cursor,
                    const tm_kineto_event *event);

#endif

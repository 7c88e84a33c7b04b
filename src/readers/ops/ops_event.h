/* An event of an operation-level trace: JSON in the Chrome trace event format. Operations have a
 * step, a sequence number within it, and a model chunk. */
#ifndef TMERGE_OPS_EVENT_H
#define TMERGE_OPS_EVENT_H

#include "readers/json.h"

/** An event. Integers are INT64_MIN if they are missing, or if the value is not an integer. */
typedef struct tm_ops_event {
    char phase; /* '\0' if missing */
    bool has_times;
    tm_json_text name;
    tm_json_text label; /* args.name, in metadata records */
    int64_t pid, tid;
    int64_t begin_ns, duration_ns;
    int64_t step, chunk, seq; /* args.step, args.model_chunk, args.seq_id */
} tm_ops_event;

/** Parses the object at @p p. Returns NULL on failure, as the functions of readers/json.h do. */
const char *tm_ops_event_parse(tm_json_cursor *cursor, const char *p, tm_ops_event *out);

/** Returns whether an event is a complete operation, with times, thread, step and sequence
 * number. */
static inline bool tm_ops_is_operation(const tm_ops_event *e) {
    return e->phase == 'X' && e->name.size > 0 && e->pid >= 0 && e->tid >= 0 && e->step >= 0 &&
           e->seq >= 0 && e->has_times;
}

#endif

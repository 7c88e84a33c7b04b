/* An event of an operation-level trace: JSON of the Chrome trace event form, whose operations say
 * their step, their number in it and the part of the model that they are of. */
#ifndef TMERGE_OPS_EVENT_H
#define TMERGE_OPS_EVENT_H

#include "readers/json.h"

/** Of the integers, INT64_MIN stands for what is not there, or is no integer. */
typedef struct tm_ops_event {
    char phase; /* '\0' where there is none */
    bool has_times;
    tm_json_text name;
    tm_json_text label; /* args.name: of metadata records */
    int64_t pid, tid;
    int64_t begin_ns, duration_ns;
    int64_t step, chunk, seq; /* args.step, args.model_chunk, args.seq_id */
} tm_ops_event;

/** Parses the object at @p p; as in readers/json.h, NULL where that fails. */
const char *tm_ops_event_parse(tm_json_cursor *cursor, const char *p, tm_ops_event *out);

/** An operation as this format has it: with its times, its thread, its step and its number. */
static inline bool tm_ops_is_operation(const tm_ops_event *e) {
    return e->phase == 'X' && e->name.size > 0 && e->pid >= 0 && e->tid >= 0 && e->step >= 0 &&
           e->seq >= 0 && e->has_times;
}

#endif

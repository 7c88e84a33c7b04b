/* Parses one record of a rocprofv3 trace. Private to the rocprof reader. */
#ifndef TMERGE_ROCPROF_RECORD_H
#define TMERGE_ROCPROF_RECORD_H

#include "readers/gap.h"
#include "readers/json.h"

/* The fields of a record. Each has an id and a key. If the key's value is an object, the field also
 * has the key of a member of this object. Fields of the same object are adjacent. Members of
 * dispatch_info are treated like members of the record. */
#define TM_ROCPROF_FIELDS(X)                                                                       \
    X(R_KIND, "kind", NULL)                                                                        \
    X(R_OPERATION, "operation", NULL)                                                              \
    X(R_THREAD, "thread_id", NULL)                                                                 \
    X(R_CORRELATION, "correlation_id", "internal")                                                 \
    X(R_BEGIN, "start_timestamp", NULL)                                                            \
    X(R_END, "end_timestamp", NULL)                                                                \
    X(R_TIME, "timestamp", NULL)                                                                   \
    X(R_AGENT, "agent_id", "handle")                                                               \
    X(R_TO, "dst_agent_id", "handle")                                                              \
    X(R_FROM, "src_agent_id", "handle")                                                            \
    X(R_QUEUE, "queue_id", "handle")                                                               \
    X(R_STREAM, "stream_id", "handle")                                                             \
    X(R_KERNEL, "kernel_id", NULL)                                                                 \
    X(R_GROUP_SEGMENT, "group_segment_size", NULL)                                                 \
    X(R_BLOCK_X, "workgroup_size", "x")                                                            \
    X(R_BLOCK_Y, "workgroup_size", "y")                                                            \
    X(R_BLOCK_Z, "workgroup_size", "z")                                                            \
    X(R_GRID_X, "grid_size", "x")                                                                  \
    X(R_GRID_Y, "grid_size", "y")                                                                  \
    X(R_GRID_Z, "grid_size", "z")                                                                  \
    X(R_BYTES, "bytes", NULL)                                                                      \
    X(R_ALLOCATED, "allocation_size", NULL)                                                        \
    X(R_ADDRESS, "address", NULL)

typedef enum tm_rocprof_field {
#define TM_ROCPROF_ENUM(id, key, inner) id,
    TM_ROCPROF_FIELDS(TM_ROCPROF_ENUM)
#undef TM_ROCPROF_ENUM
        N_ROCPROF_FIELDS
} tm_rocprof_field;

/** A record. Its numbers are unsigned, because handles and addresses use all 64 bits. */
typedef struct tm_rocprof_record {
    uint64_t fields[N_ROCPROF_FIELDS];
    uint32_t present; /* bit f is set if fields[f] has a number */
    int bad_values;   /* number of fields whose value is not an unsigned 64-bit number */
} tm_rocprof_record;

enum { TM_ROCPROF_GAPS = 32, TM_ROCPROF_INNER = 4 };

/** The texts between the values of the last record. Nearly always, the next record has the same
 * texts. */
typedef struct tm_rocprof_gaps {
    /* gaps between the members of a record, and between the members of dispatch_info */
    tm_gap record[TM_ROCPROF_GAPS], dispatch[TM_ROCPROF_GAPS];
    /* [f] gaps between the members of the object whose first field is f */
    tm_gap inner[N_ROCPROF_FIELDS][TM_ROCPROF_INNER];
} tm_rocprof_gaps;

/** Parses the value at @p p, like the functions of readers/json.h. If the value is not an object,
 * the record has no fields. */
const char *tm_rocprof_record_parse(tm_json_cursor *cursor, const char *p, tm_rocprof_gaps *gaps,
                                    tm_rocprof_record *out);

static inline bool tm_rocprof_has(const tm_rocprof_record *record, tm_rocprof_field field) {
    return record->present >> field & 1;
}

/** Returns the value of a field. Returns @p missing if the record lacks the field, or if the value
 * does not fit int64. */
static inline int64_t tm_rocprof_int(const tm_rocprof_record *record, tm_rocprof_field field,
                                     int64_t missing) {
    bool fits = tm_rocprof_has(record, field) && record->fields[field] <= INT64_MAX;
    return fits ? (int64_t)record->fields[field] : missing;
}

/** Parses an unsigned number: 12, "12" or "0xc". Returns as the functions of readers/json.h do.
 * @param valid  set to whether the value is such a number of 64 bits; only then *out is set */
const char *tm_rocprof_number(tm_json_cursor *cursor, const char *p, uint64_t *out, bool *valid);

#endif

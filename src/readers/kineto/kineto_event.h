/* One event object of a Kineto trace, from bytes to fields. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_EVENT_H
#define TMERGE_KINETO_EVENT_H

#include "readers/json.h"

#if TM_SIMD
#define tm_kineto_keys_init TM_SIMD_NAME(tm_kineto_keys_init)
#define tm_kineto_event_parse TM_SIMD_NAME(tm_kineto_event_parse)
#define tm_kineto_counters TM_SIMD_NAME(tm_kineto_counters)
#endif

/* The args that are kept: id, type, key. Keys are compared exactly as profilers write them. */
#define TM_KINETO_FIELDS(X)                                                                        \
    X(F_CORRELATION, INT, "correlation")                                                           \
    X(F_DEVICE, INT, "device")                                                                     \
    X(F_STREAM, INT, "stream")                                                                     \
    X(F_REGISTERS, INT, "registers per thread")                                                    \
    X(F_SHARED_MEMORY, INT, "shared memory")                                                       \
    X(F_BLOCKS_PER_SM, REAL, "blocks per SM")                                                      \
    X(F_WARPS_PER_SM, REAL, "warps per SM")                                                        \
    X(F_GRID, TRIPLE, "grid")                                                                      \
    X(F_BLOCK, TRIPLE, "block")                                                                    \
    X(F_OCCUPANCY, REAL, "est. achieved occupancy %")                                              \
    X(F_OCCUPANCY_2021, REAL, "theoretical occupancy %")                                           \
    X(F_BYTES, INT, "bytes")                                                                       \
    X(F_BANDWIDTH, REAL, "memory bandwidth (GB/s)")                                                \
    X(F_COLLECTIVE, TEXT, "Collective name")                                                       \
    X(F_IN_ELEMENTS, INT, "In msg nelems")                                                         \
    X(F_OUT_ELEMENTS, INT, "Out msg nelems")                                                       \
    X(F_GROUP_SIZE, INT, "Group size")                                                             \
    X(F_DTYPE, TEXT, "dtype")                                                                      \
    X(F_IN_SPLIT, TEXT, "In split size")                                                           \
    X(F_OUT_SPLIT, TEXT, "Out split size")                                                         \
    X(F_GROUP, TEXT, "Process Group Name")                                                         \
    X(F_GROUP_DESCRIPTION, TEXT, "Process Group Description")                                      \
    X(F_GROUP_RANKS, TEXT, "Process Group Ranks")                                                  \
    X(F_RANK_START, INT, "Global rank start")                                                      \
    X(F_RANK_STRIDE, INT, "Global rank stride")                                                    \
    X(F_SRC_RANK, INT, "Src Rank")                                                                 \
    X(F_DST_RANK, INT, "Dst Rank")                                                                 \
    X(F_SEQ, INT, "Seq")                                                                           \
    X(F_COMMS_ID, TEXT, "Comms Id")                                                                \
    X(F_DEVICE_TYPE, INT, "Device Type")                                                           \
    X(F_DEVICE_ID, INT, "Device Id")                                                               \
    X(F_MEMORY_BYTES, INT, "Bytes")                                                                \
    X(F_ADDRESS, INT, "Addr")                                                                      \
    X(F_ALLOCATED, INT, "Total Allocated")                                                         \
    X(F_RESERVED, INT, "Total Reserved")                                                           \
    X(F_INPUT_DIMS, ARRAY, "Input Dims")                                                           \
    X(F_INPUT_DIMS_2021, ARRAY, "Input dims")                                                      \
    X(F_SYNC_KIND, TEXT, "cuda_sync_kind")                                                         \
    X(F_WAIT_ON_STREAM, INT, "wait_on_stream")                                                     \
    X(F_WAIT_ON_RECORD, INT, "wait_on_cuda_event_record_corr_id")                                  \
    X(F_NAME, TEXT, "name")

typedef enum tm_kineto_field {
#define TM_KINETO_ENUM(id, type, key) id,
    TM_KINETO_FIELDS(TM_KINETO_ENUM)
#undef TM_KINETO_ENUM
        N_FIELDS
} tm_kineto_field;

typedef union tm_kineto_value {
    int64_t i;
    double r;
    tm_json_text text; /* a number or string where a TEXT is wanted: Comms Id is either; the
                        * brackets and what is between them where an ARRAY is */
    int32_t triple[3];
} tm_kineto_value;

typedef struct tm_kineto_event {
    char phase; /* 0 where absent or longer than a letter */
    bool has_name, has_category, has_ts, has_duration;
    int bad_values; /* args whose value has not the type of the field */
    int64_t ts_ns;  /* without the trace's base time */
    int64_t duration_ns;
    tm_json_text name, category;
    tm_json_text pid, tid;
    const char *args; /* the object's opening brace, or NULL */
    uint64_t present; /* bit f: fields[f] holds a value */
    tm_kineto_value fields[N_FIELDS];
} tm_kineto_event;

enum { TM_KINETO_GAP_MAX = 63, TM_KINETO_GAPS = 512 };

/** What stood between two values: from the comma or the opening brace, over the key, to the value.
 * Profilers write the members of their events in few orders and always with the same white space,
 * so the same bytes lead to the same member nearly always. */
typedef struct tm_kineto_gap {
    char bytes[64];
    uint8_t size;   /* 0: nothing is known yet */
    uint8_t member; /* whose value follows */
} tm_kineto_gap;

/** The keys above by hash, and the gaps last seen, by what came before them. One for each reader.
 */
typedef struct tm_kineto_keys {
    uint8_t slots[256]; /* field + 1, 0 is free */
    tm_kineto_gap event_gaps[TM_KINETO_GAPS];
    tm_kineto_gap args_gaps[TM_KINETO_GAPS];
} tm_kineto_keys;

void tm_kineto_keys_init(tm_kineto_keys *keys);

/**
 * Parses the object at @p p (its opening brace), which must lie in the window.
 * Texts point into the window.
 */
const char *tm_kineto_event_parse(tm_json_cursor *cursor, tm_kineto_keys *keys, const char *p,
                                  tm_kineto_event *out);

/** Calls @p each for every number in the args object at @p p: the series of a counter event. */
const char *tm_kineto_counters(tm_json_cursor *cursor, const char *p,
                               bool (*each)(void *context, const tm_json_text *key, double value),
                               void *context);

static inline bool tm_kineto_has(const tm_kineto_event *event, tm_kineto_field field) {
    return event->present >> field & 1;
}

/** An INT field, or @p missing where the event does not have it. */
static inline int64_t tm_kineto_int(const tm_kineto_event *event, tm_kineto_field field,
                                    int64_t missing) {
    return tm_kineto_has(event, field) ? event->fields[field].i : missing;
}

#endif

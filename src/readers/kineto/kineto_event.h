/* The fields of a Kineto event that are kept. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_EVENT_H
#define TMERGE_KINETO_EVENT_H

#include "readers/chrome_event.h"

/* The args that are kept. Each has an id, a type and a key. The key in the trace must equal this
 * key byte by byte. */
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
    X(F_INPUT_TYPES, ARRAY, "Input type")                                                          \
    X(F_CONCRETE_INPUTS, ARRAY, "Concrete Inputs")                                                 \
    X(F_SYNC_KIND, TEXT, "cuda_sync_kind")                                                         \
    X(F_SEQUENCE, INT, "Sequence number")                                                          \
    X(F_FORWARD_THREAD, INT, "Fwd thread id")                                                      \
    X(F_CALL_STACK, TEXT, "Call stack")                                                            \
    X(F_WAIT_ON_STREAM, INT, "wait_on_stream")                                                     \
    X(F_WAIT_ON_RECORD, INT, "wait_on_cuda_event_record_corr_id")                                  \
    X(F_NAME, TEXT, "name")                                                                        \
    X(F_EXTERNAL_ID, INT, "External id")                                                           \
    X(F_LABELS, MAYBE, "labels")                                                                   \
    X(F_DIRECTION, MAYBE, "direction")                                                             \
    X(F_SIZE, MAYBE, "size")                                                                       \
    X(F_SYCL_QUEUE, MAYBE, "sycl queue")                                                           \
    X(F_RANK, MAYBE, "rank")

typedef enum tm_kineto_field { TM_KINETO_FIELDS(TM_CHROME_FIELD_ID) N_FIELDS } tm_kineto_field;

_Static_assert((int)N_FIELDS <= (int)TM_CHROME_FIELDS_MAX, "an event has room for all fields");

extern const tm_chrome_field tm_kineto_fields[N_FIELDS];

typedef tm_chrome_event tm_kineto_event;

static inline bool tm_kineto_has(const tm_kineto_event *event, tm_kineto_field field) {
    return tm_chrome_has(event, (unsigned)field);
}

/** Returns an INT field, or @p missing if the event does not have it. */
static inline int64_t tm_kineto_int(const tm_kineto_event *event, tm_kineto_field field,
                                    int64_t missing) {
    return tm_chrome_int(event, (unsigned)field, missing);
}

/** Returns the id that a launch shares with its GPU event; 0 if none. Until February 2024, Kineto's
 * roctracer wrote this id only as "External id". */
static inline int64_t tm_kineto_correlation(const tm_kineto_event *event) {
    return tm_kineto_int(event, F_CORRELATION, tm_kineto_int(event, F_EXTERNAL_ID, 0));
}

#endif

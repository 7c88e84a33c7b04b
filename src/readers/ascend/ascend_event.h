/* The fields of an event that are kept. Private to the Ascend reader. */
#ifndef TMERGE_ASCEND_EVENT_H
#define TMERGE_ASCEND_EVENT_H

#include "readers/chrome_event.h"

#define TM_ASCEND_FIELDS(X)                                                                        \
    X(F_NAME, TEXT, "name")                                                                        \
    X(F_TASK_TYPE, TEXT, "Task Type")                                                              \
    X(F_PART_TYPE, TEXT, "task type")                                                              \
    X(F_MODE, TEXT, "Mode")                                                                        \
    X(F_QUEUE_ID, INT, "correlation_id")                                                           \
    X(F_COUNT, INT, "count")                                                                       \
    X(F_DTYPE, TEXT, "data_type")                                                                  \
    X(F_ALGORITHM, TEXT, "alg_type")                                                               \
    X(F_DIMS, TEXT, "Input Dims")                                                                  \
    X(F_SEQUENCE, INT, "Sequence number")                                                          \
    X(F_FORWARD_THREAD, INT, "Fwd thread id")                                                      \
    X(F_CALL_STACK, TEXT, "Call stack")                                                            \
    X(F_BYTES, INT, "data size(Byte)")                                                             \
    X(F_DIRECTION, TEXT, "memcpy direction")                                                       \
    X(F_ACC, INT, "acc_id")

typedef enum tm_ascend_field { TM_ASCEND_FIELDS(TM_CHROME_FIELD_ID) N_FIELDS } tm_ascend_field;

_Static_assert((int)N_FIELDS <= (int)TM_CHROME_FIELDS_MAX, "an event has room for all fields");

#endif

/* The row of an operation of HCCL. For the readers of Ascend's traces. */
#ifndef TMERGE_ASCEND_COLLECTIVE_H
#define TMERGE_ASCEND_COLLECTIVE_H

#include "ascend_kinds.h"
#include "timeline/trace.h"

/** What a trace says of an operation. */
typedef struct tm_ascend_collective {
    const tm_ascend_operation *op; /* borrowed */
    tm_json_text dtype;            /* as tm_ascend_dtype has it; empty where it is not known */
    int64_t count;                 /* elements of one rank, -1 unknown */
    int32_t n_ranks;               /* of its communicator, 0 unknown */
    uint32_t description;          /* name id of what the program calls it */
    uint32_t group;                /* name id of its communicator; TM_NO_NAME unknown */
} tm_ascend_collective;

/** Adds the kernel of an operation and what is known of it, and lists its communicator. False when
 * memory is out, or the group's name could not be interned.
 * @param row  of the event */
bool tm_ascend_add_collective(tm_trace *trace, tm_names *names, const tm_ascend_collective *told,
                              uint32_t row);

#endif

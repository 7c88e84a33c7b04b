/* Adds the rows of an HCCL operation. For the readers of Ascend's traces. */
#ifndef TMERGE_ASCEND_COLLECTIVE_H
#define TMERGE_ASCEND_COLLECTIVE_H

#include "ascend_kinds.h"
#include "timeline/trace.h"

/** The recorded facts of an operation. */
typedef struct tm_ascend_collective {
    const tm_ascend_operation *op; /* borrowed */
    tm_json_text dtype;            /* as from tm_ascend_dtype; empty if unknown */
    int64_t count;                 /* elements per rank; -1: unknown */
    int32_t n_ranks;               /* size of its communicator; 0: unknown */
    uint32_t description;          /* name id of the program's name for the group */
    uint32_t group;                /* name id of its communicator; TM_NO_NAME: unknown */
} tm_ascend_collective;

/** Adds the kernel of an operation and its attributes, and lists its communicator. False if out of
 * memory or if the group's name could not be interned.
 * @param row  of the event */
bool tm_ascend_add_collective(tm_trace *trace, tm_names *names, const tm_ascend_collective *told,
                              uint32_t row);

#endif

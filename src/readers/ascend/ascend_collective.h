/* Adds the rows of an HCCL operation. For the readers of Ascend's traces. */
#ifndef TMERGE_ASCEND_COLLECTIVE_H
#define TMERGE_ASCEND_COLLECTIVE_H

#include "ascend_kinds.h"
#include "timeline/trace.h"

/** What is recorded about an operation. */
typedef struct tm_ascend_collective {
    const tm_ascend_operation *op; /* borrowed */
    /* element type, as tm_ascend_dtype returns it; empty if unknown */
    tm_json_text dtype;
    int64_t count;        /* number of elements per rank; -1: unknown */
    int32_t n_ranks;      /* number of ranks of the communicator; 0 if unknown */
    uint32_t description; /* id of the name that the program gives the group */
    uint32_t group;       /* id of the communicator's name; TM_NO_NAME: unknown */
} tm_ascend_collective;

/**
 * Adds the kernel of an operation and its attributes, and lists its communicator. Returns false if
 * out of memory or if the group's name could not be interned.
 * @param row  row of the operation's event
 */
bool tm_ascend_add_collective(tm_trace *trace, tm_names *names,
                              const tm_ascend_collective *reported, uint32_t row);

#endif

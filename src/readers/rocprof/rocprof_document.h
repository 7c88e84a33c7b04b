/* The document that rocprofv3 writes: its processes, what their records refer to, and the records.
 * Private to the rocprof reader. */
#ifndef TMERGE_ROCPROF_DOCUMENT_H
#define TMERGE_ROCPROF_DOCUMENT_H

#include "rocprof_record.h"
#include "rocprof_tables.h"

/* The lists of records: id, and their keys of 2025 and of 2024, NULL where that had none. */
#define TM_ROCPROF_LISTS(X)                                                                        \
    X(L_DISPATCH, "kernel_dispatch", "kernel_dispatches")                                          \
    X(L_COPY, "memory_copy", "memory_copies")                                                      \
    X(L_HIP, "hip_api", NULL)                                                                      \
    X(L_HSA, "hsa_api", NULL)                                                                      \
    X(L_RCCL, "rccl_api", NULL)                                                                    \
    X(L_MARKER, "marker_api", NULL)                                                                \
    X(L_MEMORY, "memory_allocation", "memory_allocations")                                         \
    X(L_SCRATCH, "scratch_memory", "scratch_api")

typedef enum tm_rocprof_list {
#define TM_ROCPROF_LIST_ENUM(id, key, key_2024) id,
    TM_ROCPROF_LISTS(TM_ROCPROF_LIST_ENUM)
#undef TM_ROCPROF_LIST_ENUM
        L_OTHER, /* of calls of other libraries, or events of the driver */
    L_SAMPLES    /* of program counters and hardware counters: no event of a timeline */
} tm_rocprof_list;

/** Who reads a document. Each is told of one process at a time; where records stand before what
 * they refer to, they come once all of it is known. False: memory is out. */
typedef struct tm_rocprof_sink {
    int64_t process;    /* the only one that is read, by its place; -1: all */
    bool devices_alone; /* of the records, dispatches and copies; of the tables, no texts */
    bool (*record)(void *context, tm_rocprof_tables *tables, tm_rocprof_list list,
                   const tm_rocprof_record *record);
    bool (*end)(void *context, tm_rocprof_tables *tables, int64_t process); /* of a process */
    void *context;
    int64_t *counts; /* of what was repaired and skipped; may be NULL */
} tm_rocprof_sink;

/**
 * Reads a document, from its start.
 * @param cut  whether it ends too early: what it held was told of nevertheless
 * @return     TM_OK; TM_ERR_INPUT, also where it is cut; TM_ERR_FAULT
 */
tm_status tm_rocprof_document(tm_source *source, const tm_rocprof_sink *sink, bool *cut,
                              tm_error *err) TM_MUST_CHECK;

#endif

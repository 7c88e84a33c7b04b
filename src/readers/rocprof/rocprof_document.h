/* The document that rocprofv3 writes: its processes, the tables that their records refer to, and
 * the records. Private to the rocprof reader. */
#ifndef TMERGE_ROCPROF_DOCUMENT_H
#define TMERGE_ROCPROF_DOCUMENT_H

#include "rocprof_record.h"
#include "rocprof_tables.h"

/* The lists of records. Each has an id, a key in versions of 2025, and a key in versions of 2024.
 * The latter is NULL if versions of 2024 do not have the list. */
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
        L_OTHER, /* calls of other libraries, or driver events */
    /* samples of program counters and hardware counters; these are not events of a timeline */
    L_SAMPLES
} tm_rocprof_list;

/** Receiver of a document's records, one process at a time. Records that come before the tables
 * that they refer to are passed on after the tables. The callbacks return false if out of
 * memory. */
typedef struct tm_rocprof_sink {
    int64_t process;    /* index of the only process to read; -1: all */
    bool devices_alone; /* if true, only dispatches and copies are read, and no texts */
    bool (*record)(void *context, tm_rocprof_tables *tables, tm_rocprof_list list,
                   const tm_rocprof_record *record);
    /* called at the end of a process */
    bool (*end)(void *context, tm_rocprof_tables *tables, int64_t process);
    void *context;
    /* [TM_N_COUNTS] or NULL: repaired and skipped items are added to these counts */
    int64_t *counts;
} tm_rocprof_sink;

/**
 * Reads a document from its start.
 *
 * @param cut  set to whether the document is truncated. The complete records of a truncated
 *             document were passed to the sink.
 * @return     TM_OK; TM_ERR_INPUT, also for a truncated document; TM_ERR_FAULT
 */
tm_status tm_rocprof_document(tm_source *source, const tm_rocprof_sink *sink, bool *cut,
                              tm_error *err) TM_MUST_CHECK;

#endif

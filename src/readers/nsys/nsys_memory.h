/* Memory that a process took and gave back, and page faults of unified memory. Private to the
 * reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_MEMORY_H
#define TMERGE_NSYS_MEMORY_H

#include "nsys_emit.h"

#define TM_NSYS_MEMORY_COLUMNS                                                                     \
    "start", "end", "globalPid", "deviceId", "address", "bytes", "memKind", "memoryOperationType"
#define TM_NSYS_CPU_FAULT_COLUMNS "start", "end", "globalPid", "CpuInstruction", "module", "address"
#define TM_NSYS_GPU_FAULT_COLUMNS                                                                  \
    "start", "end", "globalPid", "deviceId", "streamId", "numberOfPageFaults", "faultAccessType",  \
        "address"

/** Makes an instant and a record of memory of a row of CUDA_GPU_MEMORY_USAGE_EVENTS. Managed memory
 * is left out: on which side it lies is not told. TM_OK; TM_ERR_FAULT. */
tm_status tm_nsys_memory_row(tm_nsys_emitter *e, sqlite3_value **values,
                             tm_error *err) TM_MUST_CHECK;

/** Keeps the address of a page that a migration or fault of unified memory is of; 0: not recorded.
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_nsys_add_address(tm_nsys_emitter *e, int64_t address, uint32_t row,
                              tm_error *err) TM_MUST_CHECK;

/** Makes an instant, named as the function that touched the page, of a row of
 * CUDA_UM_CPU_PAGE_FAULT_EVENTS. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_nsys_cpu_fault_row(tm_nsys_emitter *e, sqlite3_value **values,
                                tm_error *err) TM_MUST_CHECK;

/** Makes an event with the number of faults as a counter of a row of
 * CUDA_UM_GPU_PAGE_FAULT_EVENTS. TM_OK; TM_ERR_FAULT. */
tm_status tm_nsys_gpu_fault_row(tm_nsys_emitter *e, sqlite3_value **values,
                                tm_error *err) TM_MUST_CHECK;

#endif

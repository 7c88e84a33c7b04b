/* Allocations and releases of memory, and page faults of unified memory. Private to the reader of
 * Nsight Systems exports. */
#ifndef TMERGE_NSYS_MEMORY_H
#define TMERGE_NSYS_MEMORY_H

#include "nsys_emit.h"

#define TM_NSYS_MEMORY_COLUMNS                                                                     \
    "start", "end", "globalPid", "deviceId", "address", "bytes", "memKind", "memoryOperationType"
#define TM_NSYS_CPU_FAULT_COLUMNS "start", "end", "globalPid", "CpuInstruction", "module", "address"
#define TM_NSYS_GPU_FAULT_COLUMNS                                                                  \
    "start", "end", "globalPid", "deviceId", "streamId", "numberOfPageFaults", "faultAccessType",  \
        "address"

/**
 * Makes an instant event and a memory record from a row of CUDA_GPU_MEMORY_USAGE_EVENTS. Skips
 * managed memory: whether it is on the host or the device is not recorded.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_memory_row(tm_nsys_emitter *e, sqlite3_value **values,
                             tm_error *err) TM_MUST_CHECK;

/**
 * Keeps the address of the page that a migration or fault of unified memory refers to. An address
 * of 0 was not recorded, and is ignored.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_add_address(tm_nsys_emitter *e, int64_t address, uint32_t row,
                              tm_error *err) TM_MUST_CHECK;

/**
 * Makes an instant event from a row of CUDA_UM_CPU_PAGE_FAULT_EVENTS, named after the function that
 * touched the page.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_cpu_fault_row(tm_nsys_emitter *e, sqlite3_value **values,
                                tm_error *err) TM_MUST_CHECK;

/**
 * Makes an event from a row of CUDA_UM_GPU_PAGE_FAULT_EVENTS, with the number of faults as a
 * counter.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_gpu_fault_row(tm_nsys_emitter *e, sqlite3_value **values,
                                tm_error *err) TM_MUST_CHECK;

#endif

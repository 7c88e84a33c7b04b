/* FLOP and bytes of the products of matrices in programs that XLA compiled for GPUs, whose profiles
 * tell none: by the shapes and the contracted dimensions of their instructions. */
#ifndef TMERGE_XPLANE_GPU_WORK_H
#define TMERGE_XPLANE_GPU_WORK_H

#include "base/keys.h"
#include "hlo_proto.h"

typedef struct tm_gpu_work_of {
    int64_t flop, bytes; /* of one run; bytes of operands and results; -1 not told */
} tm_gpu_work_of;

/** A program that is gone through: computations stand behind those that they call, operations
 * behind their operands. */
typedef struct tm_gpu_work {
    tm_keys ids;   /* int64_t: of the instructions of this computation */
    tm_vec arrays; /* of tm_hlo_array: what each makes */
    tm_vec called; /* of what earlier computations compute */
    int64_t flop;  /* of this computation's products, -1 none */
} tm_gpu_work;

tm_gpu_work tm_gpu_work_make(void);
void tm_gpu_work_free(tm_gpu_work *work);

/**
 * Takes the next instruction, and tells its work: of a dot, of a call of cuBLAS or hipBLASLt, and
 * of a fusion with such. A multiplication and an addition are two; what is added to or done with
 * the product is not counted (as XLA's cost analysis has the calls). Bytes are of whole operands,
 * and of results but for the room that a call works in.
 * @return  false when memory is out
 */
bool tm_gpu_work_add(tm_gpu_work *work, const tm_hlo_instruction *of,
                     tm_gpu_work_of *out) TM_MUST_CHECK;

/** The computation ends; its id. False when memory is out. */
bool tm_gpu_work_end(tm_gpu_work *work, int64_t id) TM_MUST_CHECK;

#endif

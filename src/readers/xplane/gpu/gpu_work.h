/* FLOP and bytes of matrix products in programs that XLA compiled for GPUs. Profiles do not report
 * them; they are computed from the shapes and contracted dimensions of instructions. */
#ifndef TMERGE_XPLANE_GPU_WORK_H
#define TMERGE_XPLANE_GPU_WORK_H

#include "base/keys.h"
#include "readers/xplane/hlo/hlo_proto.h"

typedef struct tm_gpu_work_of {
    int64_t flop, bytes; /* of one run; bytes of operands and results; -1 unknown */
} tm_gpu_work_of;

/** State of a walk through a program: computations follow the computations that they call,
 * instructions follow their operands. */
typedef struct tm_gpu_work {
    tm_keys ids;   /* int64_t: instructions of the current computation */
    tm_vec arrays; /* of tm_hlo_array: the result of each */
    tm_vec called; /* FLOP of earlier computations */
    int64_t flop;  /* of the current computation's products, -1 none */
} tm_gpu_work;

tm_gpu_work tm_gpu_work_make(void);
void tm_gpu_work_free(tm_gpu_work *work);

/**
 * Adds the next instruction and returns its work: of a dot, a call of cuBLAS or hipBLASLt, or a
 * fusion that contains one. A multiply-add counts as two; other operations on the product are not
 * counted (as in XLA's cost analysis of such calls). Bytes include whole operands and results, but
 * not a call's workspace.
 * @return  false if out of memory
 */
bool tm_gpu_work_add(tm_gpu_work *work, const tm_hlo_instruction *of,
                     tm_gpu_work_of *out) TM_MUST_CHECK;

/** Ends the computation with this id. Returns false if out of memory. */
bool tm_gpu_work_end(tm_gpu_work *work, int64_t id) TM_MUST_CHECK;

#endif

/* FLOP and bytes of matrix products in programs that XLA compiled for GPUs. They are computed from
 * the shapes and contracted dimensions of instructions, because profiles do not contain them. */
#ifndef TMERGE_XPLANE_GPU_WORK_H
#define TMERGE_XPLANE_GPU_WORK_H

#include "base/keys.h"
#include "readers/xplane/hlo/hlo_proto.h"

typedef struct tm_gpu_work_of {
    int64_t flop, bytes; /* FLOP of one run, and bytes of its operands and results; -1 unknown */
} tm_gpu_work_of;

/** State while the instructions of a program are added. A computation is added after the
 * computations that it calls. An instruction is added after its operands. */
typedef struct tm_gpu_work {
    tm_keys ids;   /* keys of type int64_t: ids of the instructions of the current computation */
    tm_vec arrays; /* vector of tm_hlo_array: results of the instructions in `ids` */
    tm_vec called; /* FLOP of the computations that were added before */
    int64_t flop;  /* FLOP of the products in the current computation; -1: there are none */
} tm_gpu_work;

tm_gpu_work tm_gpu_work_make(void);
void tm_gpu_work_free(tm_gpu_work *work);

/**
 * Adds the next instruction, and finds its work if it is a dot, a call of cuBLAS or hipBLASLt, or a
 * fusion that contains one of these. A multiply-add counts as two FLOP. Other operations on the
 * product are not counted, as in XLA's cost analysis of such calls. Bytes are the bytes of all
 * operands and results, without the workspace of a call.
 *
 * @return  false if out of memory
 */
bool tm_gpu_work_add(tm_gpu_work *work, const tm_hlo_instruction *of,
                     tm_gpu_work_of *out) TM_MUST_CHECK;

/** Ends the computation with this id. Returns false if out of memory. */
bool tm_gpu_work_end(tm_gpu_work *work, int64_t id) TM_MUST_CHECK;

#endif

/* Whether a kernel runs on tensor cores, told by its name, and an operator could. */
#ifndef TMERGE_TENSOR_CORES_H
#define TMERGE_TENSOR_CORES_H

#include <stdbool.h>

/** True for kernels of libraries that use the matrix units of NVIDIA or AMD. The names of kernels
 * that a compiler made (Triton, TorchInductor) do not tell: false. */
bool tm_kernel_on_tensor_cores(const char *name);

/** True for operators that libraries have tensor-core kernels for. */
bool tm_operator_fits_tensor_cores(const char *name);

#endif

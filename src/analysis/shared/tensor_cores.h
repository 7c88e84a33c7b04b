/* The operators that can run on tensor cores. */
#ifndef TMERGE_TENSOR_CORES_H
#define TMERGE_TENSOR_CORES_H

#include <stdbool.h>

/** Returns whether libraries have tensor-core kernels for an operator. */
bool tm_operator_fits_tensor_cores(const char *name);

#endif

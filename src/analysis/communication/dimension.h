/* The parallel dimension of a process group, taken from its description or name. */
#ifndef TMERGE_DIMENSION_H
#define TMERGE_DIMENSION_H

#include <stdbool.h>

enum { TM_DIMENSION_MAX = 64 };

/**
 * Finds the parallel dimensions that are whole words in a text, such as "mesh_dp" or
 * "TENSOR_MODEL_PARALLEL_GROUP": data, tensor, pipeline, expert, context, sequence.
 *
 * @param out  dimensions, joined with +; set only on true
 * @return     whether there is one
 */
bool tm_dimension_of(const char *text, char out[TM_DIMENSION_MAX]);

#endif

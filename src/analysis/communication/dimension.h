/* The parallel dimension of a process group, as the text that describes it says. */
#ifndef TMERGE_DIMENSION_H
#define TMERGE_DIMENSION_H

#include <stdbool.h>

enum { TM_DIMENSION_MAX = 64 };

/**
 * Reads the dimensions that a text names in whole words ("mesh_dp", "TENSOR_MODEL_PARALLEL_GROUP"):
 * data, tensor, pipeline, expert, context, sequence, joined with + where there are several.
 *
 * @param out  terminated; set only where the text names one
 * @return     false where it names none
 */
bool tm_dimension_of(const char *text, char out[TM_DIMENSION_MAX]);

#endif

/* Parses an operator's inputs as profilers record them. */
#ifndef TMERGE_EFFICIENCY_INPUT_DIMS_H
#define TMERGE_EFFICIENCY_INPUT_DIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/names.h"

enum { TM_INPUTS_MAX = 6, TM_DIMS_MAX = 8 };

typedef struct tm_dims {
    int n; /* number of dimensions; 0: a scalar, or not a tensor; -1: a list of tensors, or more
              than TM_DIMS_MAX */
    int64_t at[TM_DIMS_MAX];
} tm_dims;

/** Parses the dimensions of the first TM_INPUTS_MAX inputs, such as "[[8, 16], [], [[2], [3]]]".
 * Missing inputs get n = 0. Returns false if the text is not such a list. */
bool tm_inputs_dims(tm_text text, tm_dims out[TM_INPUTS_MAX]);

/** Returns item @p n of a list of texts, without quotes: item 1 of ["a", "b"] is "b". Returns an
 * empty text if the list has no item @p n. */
tm_text tm_inputs_item(tm_text list, int n);

/** Parses a whole text such as "[1, 2]" or "1". Returns false for any other text. */
bool tm_inputs_ints(tm_text text, tm_dims *out);

/** Returns whether the text is "True" or "1". */
bool tm_inputs_true(tm_text text);

#endif

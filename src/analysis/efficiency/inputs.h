/* The texts in which a profiler tells an operator's inputs, taken apart. */
#ifndef TMERGE_EFFICIENCY_INPUTS_H
#define TMERGE_EFFICIENCY_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/names.h"

enum { TM_INPUTS_MAX = 6, TM_DIMS_MAX = 8 };

/** The dimensions of a tensor. */
typedef struct tm_dims {
    int n; /* 0: a scalar, or no tensor; -1: a list of tensors, or more than TM_DIMS_MAX */
    int64_t at[TM_DIMS_MAX];
} tm_dims;

/** The first inputs of "[[8, 16], [], [[2], [3]]]". Others than these are {0}, as are those that
 * are not there. False where the text is no such list. */
bool tm_inputs_dims(tm_text text, tm_dims out[TM_INPUTS_MAX]);

/** Item @p n of a list of texts, without its quotes: "b" of ["a", "b"] is item 1. Empty where there
 * is none. */
tm_text tm_inputs_item(tm_text list, int n);

/** "[1, 2]" or "1"; true where all of it is that. */
bool tm_inputs_ints(tm_text text, tm_dims *out);

/** "True" or "1". */
bool tm_inputs_true(tm_text text);

#endif

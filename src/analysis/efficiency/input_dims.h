/* Parses the texts in which profilers record an operator's inputs. */
#ifndef TMERGE_EFFICIENCY_INPUT_DIMS_H
#define TMERGE_EFFICIENCY_INPUT_DIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "tmerge/names.h"

enum { TM_INPUTS_MAX = 6, TM_DIMS_MAX = 8 };

/** The dimensions of a tensor. */
typedef struct tm_dims {
    int n; /* 0: scalar or not a tensor; -1: list of tensors, or more than TM_DIMS_MAX */
    int64_t at[TM_DIMS_MAX];
} tm_dims;

/** Parses the first TM_INPUTS_MAX inputs of "[[8, 16], [], [[2], [3]]]". Missing inputs get n = 0.
 * False if the text is not such a list. */
bool tm_inputs_dims(tm_text text, tm_dims out[TM_INPUTS_MAX]);

/** Returns item @p n of a list of texts without quotes: item 1 of ["a", "b"] is "b". Else empty. */
tm_text tm_inputs_item(tm_text list, int n);

/** Parses "[1, 2]" or "1"; true if that is the whole text. */
bool tm_inputs_ints(tm_text text, tm_dims *out);

/** Whether the text is "True" or "1". */
bool tm_inputs_true(tm_text text);

#endif

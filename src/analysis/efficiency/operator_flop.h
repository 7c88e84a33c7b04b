/* Computes an operator's FLOP and memory traffic from its recorded inputs. */
#ifndef TMERGE_OPERATOR_FLOP_H
#define TMERGE_OPERATOR_FLOP_H

#include <stdint.h>

#include "timeline/counted.h"
#include "tmerge/names.h"

/* Number types of multiplications, each with an id and a word. FP32 may be multiplied as TF32; only
 * kernel names show this. `mixed` is for XLA, whose profile has no types. */
#define TM_NUMBER_LIST(X)                                                                          \
    X(TM_NUMBER_UNKNOWN, "unknown")                                                                \
    X(TM_NUMBER_SINGLE, "fp32 or tf32")                                                            \
    X(TM_NUMBER_FP64, "fp64")                                                                      \
    X(TM_NUMBER_FP32, "fp32")                                                                      \
    X(TM_NUMBER_TF32, "tf32")                                                                      \
    X(TM_NUMBER_FP16, "fp16")                                                                      \
    X(TM_NUMBER_BF16, "bf16")                                                                      \
    X(TM_NUMBER_FP8, "fp8")                                                                        \
    X(TM_NUMBER_FP4, "fp4")                                                                        \
    X(TM_NUMBER_INT8, "int8")                                                                      \
    X(TM_NUMBER_MIXED, "mixed")

typedef enum tm_number {
#define TM_NUMBER_ENUM(id, word) id,
    TM_NUMBER_LIST(TM_NUMBER_ENUM)
#undef TM_NUMBER_ENUM
        TM_N_NUMBERS
} tm_number;

const char *tm_number_word(tm_number number);

typedef struct tm_work {
    int64_t flop; /* number of operations. A multiply-add counts as two operations. Attention counts
                     all pairs of tokens, also masked ones. */
    int64_t causal_flop; /* like flop, but causal attention counts half of the pairs */
    int64_t bytes; /* size of inputs and output [bytes], which is the minimum memory traffic; -1:
                      unknown */
    tm_number number;
    tm_counted op;
    bool at_most; /* whether flop is only an upper bound */
} tm_work;

/**
 * Computes the work of a call.
 * @param dims, types, concrete  `Input Dims`, `Input type` and `Concrete Inputs`: JSON of any
 *                               content; empty if not recorded
 * @param out                    set only on true
 * @return                       false if the inputs do not determine the work
 */
bool tm_work_of(tm_counted op, tm_text dims, tm_text types, tm_text concrete, tm_work *out);

#endif

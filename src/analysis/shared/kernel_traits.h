/* What the name of a kernel tells of it: the class of its work, the numbers that it computes with,
 * whether it is on tensor cores. */
#ifndef TMERGE_KERNEL_TRAITS_H
#define TMERGE_KERNEL_TRAITS_H

#include "base/finder.h"

/* Classes of work: id and word. */
#define TM_CLASS_LIST(X)                                                                           \
    X(TM_CLASS_COMMUNICATION, "communication")                                                     \
    X(TM_CLASS_MATRIX, "matrix multiply")                                                          \
    X(TM_CLASS_ATTENTION, "attention")                                                             \
    X(TM_CLASS_CONVOLUTION, "convolution")                                                         \
    X(TM_CLASS_NORMALISATION, "normalisation")                                                     \
    X(TM_CLASS_SOFTMAX, "softmax")                                                                 \
    X(TM_CLASS_ELEMENTWISE, "elementwise")                                                         \
    X(TM_CLASS_REDUCTION, "reduction")                                                             \
    X(TM_CLASS_EMBEDDING, "embedding")                                                             \
    X(TM_CLASS_LOSS, "loss")                                                                       \
    X(TM_CLASS_OPTIMIZER, "optimizer")                                                             \
    X(TM_CLASS_ROUTING, "routing and sampling")                                                    \
    X(TM_CLASS_QUANTISATION, "quantisation")                                                       \
    X(TM_CLASS_POOLING, "pooling")                                                                 \
    X(TM_CLASS_COPY, "copy")                                                                       \
    X(TM_CLASS_COMPILED, "compiled, kind unknown")                                                 \
    X(TM_CLASS_OTHER, "other")

typedef enum tm_class {
#define TM_CLASS_ENUM(id, word) id,
    TM_CLASS_LIST(TM_CLASS_ENUM)
#undef TM_CLASS_ENUM
        TM_N_CLASSES
} tm_class;

/** "matrix multiply", ... */
const char *tm_class_word(tm_class work);

/** Whether kernels of a class multiply matrices, as far as names tell: these have a precision. */
static inline bool tm_class_multiplies(tm_class work) {
    return work == TM_CLASS_MATRIX || work == TM_CLASS_CONVOLUTION || work == TM_CLASS_ATTENTION;
}

/* The numbers that a kernel multiplies, where its name tells. */
typedef enum tm_precision {
    TM_PRECISION_UNKNOWN,
    TM_PRECISION_8,    /* FP8, INT8 */
    TM_PRECISION_16,   /* FP16, BF16 */
    TM_PRECISION_TF32, /* 32 bits, of which tensor cores multiply 19 */
    TM_PRECISION_32,
    TM_PRECISION_64,
    TM_N_PRECISIONS
} tm_precision;

typedef struct tm_kernel_traits {
    uint8_t work;      /* tm_class by the name alone */
    uint8_t precision; /* tm_precision, of matrix multiply, convolution and attention alone */
    bool tensor_cores; /* matrix units of NVIDIA or AMD. What compilers (Triton, TorchInductor) made
                        * does not tell: false */
    bool flash;        /* attention in one kernel, that never writes the scores */
} tm_kernel_traits;

/** The class of a kernel: whether it communicates is told by more than its name, so that the time
 * of that class is the rank's communication. */
static inline tm_class tm_class_of_kernel(tm_kernel_traits traits, bool communicates) {
    if (communicates)
        return TM_CLASS_COMMUNICATION;
    return traits.work == TM_CLASS_COMMUNICATION ? TM_CLASS_OTHER : (tm_class)traits.work;
}

/** All words of all rules. */
typedef struct tm_kernel_words {
    tm_finder finder;
} tm_kernel_words;

/** False when memory is out; free it in either case. */
bool tm_kernel_words_init(tm_kernel_words *words);
void tm_kernel_words_free(tm_kernel_words *words);

/** What a name tells: demangled and whole, for short names of templates ("Kernel2") lose it. */
tm_kernel_traits tm_kernel_traits_of(const tm_kernel_words *words, const char *name);

#endif

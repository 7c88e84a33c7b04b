/* Classifies kernels by name: class of work, precision of numbers, use of tensor cores. */
#ifndef TMERGE_KERNEL_TRAITS_H
#define TMERGE_KERNEL_TRAITS_H

#include "base/finder.h"

/* Classes of work: id and word for display. */
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

/** Returns the word of a class, such as "matrix multiply". */
const char *tm_class_word(tm_class work);

/** Returns whether kernels of a class multiply matrices. Only names of such kernels show a
 * precision. */
static inline bool tm_class_multiplies(tm_class work) {
    return work == TM_CLASS_MATRIX || work == TM_CLASS_CONVOLUTION || work == TM_CLASS_ATTENTION;
}

/* Precision of the numbers that a kernel multiplies, if its name shows it. */
typedef enum tm_precision {
    TM_PRECISION_UNKNOWN,
    TM_PRECISION_8,    /* FP8, INT8 */
    TM_PRECISION_16,   /* FP16, BF16 */
    TM_PRECISION_TF32, /* FP32 numbers; tensor cores use 19 of their bits */
    TM_PRECISION_32,
    TM_PRECISION_64,
    TM_N_PRECISIONS
} tm_precision;

typedef struct tm_kernel_traits {
    uint8_t work;      /* tm_class, from the name only */
    uint8_t precision; /* tm_precision; only for classes that multiply */
    /* whether the kernel uses matrix units of NVIDIA or AMD; false for kernels that compilers
     * (Triton, TorchInductor) generate, because their names do not show it */
    bool tensor_cores;
    bool flash; /* fused attention, which never writes its scores to memory */
} tm_kernel_traits;

/** Returns the class of a kernel. Only @p communicates decides whether it is
 * TM_CLASS_COMMUNICATION, because metadata may show communication where the name does not. */
static inline tm_class tm_class_of_kernel(tm_kernel_traits traits, bool communicates) {
    if (communicates)
        return TM_CLASS_COMMUNICATION;
    return traits.work == TM_CLASS_COMMUNICATION ? TM_CLASS_OTHER : (tm_class)traits.work;
}

/** Words of all rules, prepared for searches in names. */
typedef struct tm_kernel_words {
    tm_finder finder;
} tm_kernel_words;

/** Returns false if out of memory. In either case, the caller calls tm_kernel_words_free. */
bool tm_kernel_words_init(tm_kernel_words *words);
void tm_kernel_words_free(tm_kernel_words *words);

/** Classifies a name. It must be demangled and complete, because short names of templates
 * ("Kernel2") lack the words. */
tm_kernel_traits tm_kernel_traits_of(const tm_kernel_words *words, const char *name);

#endif

/* Classifies kernels by name and metadata. */
#ifndef TMERGE_CLASSIFY_H
#define TMERGE_CLASSIFY_H

#include "comm_kernels.h"
#include "tmerge/names.h"

typedef struct tm_classifier tm_classifier;

/**
 * Creates a classifier from the table of comm_kernels.def and an optional pattern.
 * @param extra  the user's POSIX extended regular expression, case-insensitive, or NULL. A kernel
 *               that matches it communicates, whatever the table says
 * @return       TM_OK; TM_ERR_USAGE: invalid expression, with the library's reason
 */
tm_status tm_classifier_create(const char *extra, tm_classifier **out, tm_error *err) TM_MUST_CHECK;
void tm_classifier_destroy(tm_classifier *classifier);

/** Returns the kind of the kernel with this name. Remembers it by name id if there is memory for
 * that. */
tm_kernel_kind tm_classifier_kind(tm_classifier *classifier, const tm_names *names, uint32_t name);

static inline bool tm_kernel_communicates(tm_kernel_kind kernel) {
    return kernel.class == TM_KERNEL_COLLECTIVE || kernel.class == TM_KERNEL_ONE_SIDED;
}

/** Returns the kind of collective that a `Collective name` means. */
tm_collective_kind tm_collective_kind_of_name(const char *bytes, size_t size);

/** Returns the kind of a communication kernel by its name. If the table does not have the kernel,
 * guesses the kind from the words of the name. */
tm_collective_kind tm_collective_kind_of_kernel(const char *bytes, size_t size);

#endif

/* What a kernel does, told from its name and its metadata. */
#ifndef TMERGE_CLASSIFY_H
#define TMERGE_CLASSIFY_H

#include "comm_kernels.h"
#include "tmerge/names.h"

typedef struct tm_classifier tm_classifier;

/**
 * Makes a classifier by the table of comm_kernels.def and a pattern of the user's.
 * @param extra  the user's POSIX extended regular expression, or NULL; matched without case. What
 *               it matches communicates, whatever the table says.
 * @return       TM_OK; TM_ERR_USAGE where it is no expression, with the library's reason
 */
tm_status tm_classifier_create(const char *extra, tm_classifier **out, tm_error *err) TM_MUST_CHECK;
void tm_classifier_destroy(tm_classifier *classifier);

/** What a kernel of this name does. Each name is looked up once; memory running out only costs
 * that. */
tm_kernel_kind tm_classifier_kind(tm_classifier *classifier, const tm_names *names, uint32_t name);

static inline bool tm_kernel_communicates(tm_kernel_kind kernel) {
    return kernel.class == TM_KERNEL_COLLECTIVE || kernel.class == TM_KERNEL_ONE_SIDED;
}

/** The kind that a `Collective name` means. */
tm_collective_kind tm_collective_kind_of_name(const char *bytes, size_t size);

/** The kind that a communication kernel's name means; where the table does not know it, what its
 * words say. */
tm_collective_kind tm_collective_kind_of_kernel(const char *bytes, size_t size);

#endif

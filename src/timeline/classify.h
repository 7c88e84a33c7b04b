/* What a kernel does, told from its name and its metadata. */
#ifndef TMERGE_CLASSIFY_H
#define TMERGE_CLASSIFY_H

#include "tmerge/names.h"
#include "tmerge/timeline.h"

/** The names that are communication whatever the user adds: those of the vendors' libraries, and of
 * kernels that frameworks and inference engines have of their own. Without case. */
#define TM_COMM_PATTERN                                                                            \
    "nccl|rccl|hccl|xccl|oneccl|cross_device_reduce|multimem_all_reduce|all_?reduce_(one|two)_?"   \
    "shot|"                                                                                        \
    "(one|two)_?shot_?all_?reduce|(deep_|::)ep::|nvshmem|mscclpp|mscclkernel|allreduce_fusion"

typedef struct tm_classifier tm_classifier;

/**
 * Compiles the patterns.
 * @param extra  the user's POSIX extended regular expression, or NULL; matched without case
 * @return       TM_OK; TM_ERR_USAGE where it is no expression, with the library's reason
 */
tm_status tm_classifier_create(const char *extra, tm_classifier **out, tm_error *err) TM_MUST_CHECK;
void tm_classifier_destroy(tm_classifier *classifier);

/** True where a kernel of this name communicates. Each name is matched once; memory running out
 * only costs that. */
bool tm_classifier_is_communication(tm_classifier *classifier, const tm_names *names,
                                    uint32_t name);

/** The kind that a `Collective name` means. */
tm_collective_kind tm_collective_kind_of_name(const char *bytes, size_t size);

/** The kind that a communication kernel's name means. */
tm_collective_kind tm_collective_kind_of_kernel(const char *bytes, size_t size);

/** True for kernels of deep_ep, nvshmem and mscclpp: they move data without all ranks taking part
 * in one operation, so nothing of them is matched. */
bool tm_kernel_is_one_sided(const char *bytes, size_t size);

#endif

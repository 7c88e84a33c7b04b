/* What calls and ranges show about the communication kernels launched in them. */
#ifndef TMERGE_COMM_CALLS_H
#define TMERGE_COMM_CALLS_H

#include "classify.h"
#include "tmerge/timeline.h"

/** Returns the kind of collective that the name of a call or range gives. Known are PyTorch's
 * operators and ranges (c10d::alltoall_base_, nccl:all_to_all) and the calls of NCCL and RCCL
 * (ncclAllToAll), which profilers record as operator, annotation, NVTX or ROCTX range.
 * TM_COLL_OTHER for any other name. */
tm_collective_kind tm_comm_call_kind(const char *bytes, size_t size);

/**
 * Returns the total bytes of tensors with dimensions "[[8, 16], [4]]" and types "["float",
 * "c10::Half"]"; -1 if a type is unknown or the texts are not such lists.
 */
int64_t tm_comm_call_bytes(tm_text dimensions, tm_text types);

/**
 * Sets the kind of communication kernels without metadata whose names leave the kind open: NCCL
 * uses the same kernel for sends and receives, all-to-alls, gathers and scatters. The kind is that
 * of the innermost call in which the kernel was launched. A kernel launched in a single send or
 * receive stays unchanged, because the call's name does not include the peer.
 *
 * Also sets call_bytes of all kernels. If a kernel's size is not recorded, and its call is a
 * TM_NCCL_RANGE that has recorded inputs and launched no other kernel, call_bytes is the size of
 * these inputs; else -1.
 * @param rows  [n] all of TM_ATTR_COLLECTIVE; roles and launches are known
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_comm_calls_ask(const tm_timeline *timeline, const tm_names *names,
                            tm_classifier *classifier, tm_collective_attr *rows, size_t n,
                            tm_error *err) TM_MUST_CHECK;

#endif

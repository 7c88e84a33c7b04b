/* What calls and ranges show about the communication kernels launched in them. */
#ifndef TMERGE_COMM_CALLS_H
#define TMERGE_COMM_CALLS_H

#include "classify.h"
#include "tmerge/timeline.h"

/** Returns the kind of collective that the name of a call or range gives, or TM_COLL_OTHER. Two
 * groups of names are known: PyTorch's operators and ranges (c10d::alltoall_base_,
 * nccl:all_to_all), and the calls of NCCL and RCCL (ncclAllToAll). Profilers record such calls as
 * operators, annotations, NVTX ranges or ROCTX ranges. */
tm_collective_kind tm_comm_call_kind(const char *bytes, size_t size);

/**
 * Returns the total bytes of tensors with dimensions "[[8, 16], [4]]" and types "["float",
 * "c10::Half"]"; -1 if a type is unknown or the texts are not such lists.
 */
int64_t tm_comm_call_bytes(tm_text dimensions, tm_text types);

/**
 * Finds the kind of kernels that have no metadata, and whose names do not show the kind. (For
 * example, NCCL uses the same kernel for sends and receives, all-to-alls, gathers and scatters.)
 * Such a kernel gets the kind of the innermost call in which it was launched. If this call is a
 * single send or receive, the kernel is not changed, because the name of the call does not include
 * the peer.
 *
 * Also sets call_bytes of all kernels. It is the size of the inputs of a kernel's call if the
 * kernel's own size is not recorded. The call must be a TM_NCCL_RANGE, have recorded inputs, and
 * have launched no other kernel. In all other cases call_bytes is -1.
 * @param rows  [n] all rows of TM_ATTR_COLLECTIVE. Roles and launches of the timeline must be known
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_comm_calls_ask(const tm_timeline *timeline, const tm_names *names,
                            tm_classifier *classifier, tm_collective_attr *rows, size_t n,
                            tm_error *err) TM_MUST_CHECK;

#endif

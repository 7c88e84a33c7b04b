/* What the calls and ranges in which a communication kernel was launched say of it. */
#ifndef TMERGE_COMM_CALLS_H
#define TMERGE_COMM_CALLS_H

#include "classify.h"
#include "tmerge/timeline.h"

/**
 * The kind of collective that a call or range is of by its name: an operator or range of PyTorch
 * (c10d::alltoall_base_, nccl:all_to_all), or a call of NCCL or RCCL (ncclAllToAll), which
 * profilers write as operators, annotations, or NVTX or ROCTX ranges. TM_COLL_OTHER for any other
 * name.
 */
tm_collective_kind tm_comm_call_kind(const char *bytes, size_t size);

/**
 * The bytes of tensors of dimensions "[[8, 16], [4]]" and types "["float", "c10::Half"]", added up.
 * -1 where a type is not known, or the texts are no such lists.
 */
int64_t tm_comm_call_bytes(tm_text dimensions, tm_text types);

/**
 * Gives communication kernels the kind of the innermost such call that they were launched in, where
 * their own names leave it open and they carry no metadata. NCCL's one kernel of sends and receives
 * is also that of all-to-alls, gathers and scatters. What was launched in a single send or receive
 * stays as it is: its name does not say who the other is.
 *
 * Kernels that carry no size get call_bytes where that call is a TM_NCCL_RANGE with recorded inputs
 * and launched no other kernel; all others get -1.
 *
 * @param rows  [n] all of TM_ATTR_COLLECTIVE; roles and launches are known
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_comm_calls_ask(const tm_timeline *timeline, const tm_names *names,
                            tm_classifier *classifier, tm_collective_attr *rows, size_t n,
                            tm_error *err) TM_MUST_CHECK;

#endif

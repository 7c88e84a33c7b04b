/* Communication on host threads (timeline/host_comm.h) as PyTorch's profiler records it: a request,
 * such as the operator `c10d::allreduce_`, and the operation, such as the annotation
 * `gloo:all_reduce` on a worker thread of the group. The annotation has neither the group nor its
 * ranks. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_HOST_H
#define TMERGE_KINETO_HOST_H

#include "kineto_emit.h"

/** Adds a row of TM_ATTR_COLLECTIVE for a request or an operation. The row has the kind, the size
 * and the type. For a transfer, it also has the peer, as an index in the group. Returns false if
 * out of memory. */
bool tm_kineto_emit_host(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row);

/**
 * Completes the rows of tm_kineto_emit_host after all events were read. An operation gets the group
 * of its worker thread, and the kind of its request. The request becomes its launch. The rank's
 * metadata lists the groups in the order of their creation, which is also the order of the thread
 * ids.
 *
 * The rows of requests are removed. If the rank works on a GPU, all rows are removed. If the rank
 * works only on the CPU, this is noted in its metadata.
 */
tm_status tm_kineto_finish_host(tm_part *whole, tm_names *names, tm_error *err) TM_MUST_CHECK;

#endif

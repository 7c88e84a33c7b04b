/* Communication on host threads (timeline/host_comm.h) as PyTorch's profiler records it: a request,
 * such as the operator `c10d::allreduce_`, and the operation, such as the annotation
 * `gloo:all_reduce` on a worker thread of the group. The annotation has neither the group nor its
 * ranks. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_HOST_H
#define TMERGE_KINETO_HOST_H

#include "kineto_emit.h"

/** Adds a row of TM_ATTR_COLLECTIVE for a request or an operation: kind, size, type, and for
 * transfers the peer as its index in the group. Returns false if out of memory. */
bool tm_kineto_emit_host(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row);

/** Completes the rows of tm_kineto_emit_host after reading. An operation gets the group of its
 * worker thread, and a kind from its request, which becomes its launch. Groups are listed in the
 * rank's metadata in order of creation, and thread ids have the same order. Rows of requests, and
 * all rows of a rank that works on a GPU, are removed. If a rank works only on the CPU, its
 * metadata says so. */
tm_status tm_kineto_finish_host(tm_part *whole, tm_names *names, tm_error *err) TM_MUST_CHECK;

#endif

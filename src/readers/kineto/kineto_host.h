/* Communication on threads of the host (timeline/host_comm.h) as PyTorch's profiler records it:
 * `c10d::allreduce_` where a thread asks for it, and an annotation `gloo:all_reduce` on a thread of
 * its group, which names neither group nor place. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_HOST_H
#define TMERGE_KINETO_HOST_H

#include "kineto_emit.h"

/** Gives the event of either kind a row of TM_ATTR_COLLECTIVE: what it is, its size and type, and
 * of a transfer the peer, as its place in the group. False when memory is out. */
bool tm_kineto_emit_host(tm_kineto_emitter *emitter, const tm_kineto_event *event, uint32_t row);

/**
 * Finishes them once all is read: an operation gets its kind from the one that asked for it, which
 * becomes its launch, and the group that its thread works for. The groups that a rank is in stand
 * in its metadata in the order in which they were made, and so do the ids of their threads. Rows of
 * a rank that works on a GPU, and those of who asked, go. A rank that works on the CPU alone says
 * so in its metadata.
 */
tm_status tm_kineto_finish_host(tm_part *whole, tm_names *names, tm_error *err) TM_MUST_CHECK;

#endif

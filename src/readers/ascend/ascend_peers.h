/* Finds the sizes of communicators from the tasks of operations. For Ascend's readers. */
#ifndef TMERGE_ASCEND_PEERS_H
#define TMERGE_ASCEND_PEERS_H

#include "readers/json.h"
#include "timeline/trace.h"

/**
 * Estimates the sizes of communicators whose size is unknown. If the operations of a communicator
 * show the number of peers, n_ranks is set to the minimum number of ranks, negated.
 *
 * In a mesh, a rank signals to each peer on its host (Write Value), waits for each peer (Notify
 * Wait) and copies from each peer (SDMA). So one stream has k tasks of each kind, one kind after
 * another, and at least k + 1 ranks take part. In a real trace, k was 7 and the tasks named 8
 * ranks. Rings do not show the number of peers, because several rings may join the same two ranks.
 *
 * @param mesh  vector of uint32_t: rows of the operations that ran as a mesh
 * @return      TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_ascend_count_peers(tm_trace *trace, const tm_names *names, const tm_vec *mesh,
                                tm_error *err) TM_MUST_CHECK;

/** Returns whether HCCL's word for an algorithm, such as MESH-RING, is a mesh within a host. */
bool tm_ascend_is_mesh(const tm_json_text *word);

#endif

/* What the path of a trace says about its rank and host. Private to the readers of Ascend. */
#ifndef TMERGE_ASCEND_PLACE_H
#define TMERGE_ASCEND_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Returns the rank of a trace. It is taken from the trace's name ascend_pytorch_profiler_<rank>.db
 * or from the name of a file profiler_info_<rank>.json. This file is in the same folder or, for a
 * trace in ASCEND_PROFILER_OUTPUT, in the parent of that folder. Returns -1 if there is no rank, or
 * if there are several. */
int64_t tm_ascend_rank_of(const char *path);

/** Extracts the host from a folder <host>_<pid>_<time>_ascend_pt of a path.
 * @param out  [size] set only if there is one  @return false if there is none */
bool tm_ascend_host_of(const char *path, char *out, size_t size);

/** Returns whether @p other replaces msprof's database in PROF_..., because it has the same
 * recording and more. @p other is then torch_npu's output in ASCEND_PROFILER_OUTPUT beside
 * PROF_..., or a later export by msprof into the same folder (its name has the time).
 */
bool tm_ascend_msprof_is_covered(const char *path, const char *other);

#endif

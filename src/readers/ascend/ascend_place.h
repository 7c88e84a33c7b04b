/* What the place of a trace says of it. Private to the readers of Ascend. */
#ifndef TMERGE_ASCEND_PLACE_H
#define TMERGE_ASCEND_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The rank of a trace: of its name ascend_pytorch_profiler_<rank>.db, or of
 * profiler_info_<rank>.json beside it or, where it lies in a folder ASCEND_PROFILER_OUTPUT, beside
 * that; -1 where there is none, or several are.
 */
int64_t tm_ascend_rank_of(const char *path);

/** The host in a folder's name <host>_<pid>_<time>_ascend_pt of a path.
 * @param out  [size] set only where there is one  @return false where there is none */
bool tm_ascend_host_of(const char *path, char *out, size_t size);

/**
 * Whether a better file of the same recording lies at @p other: where @p path is msprof's database
 * in PROF_..., what torch_npu made of it in ASCEND_PROFILER_OUTPUT beside that folder, or a
 * database that msprof exported later into the same folder (its name has the time of the export).
 */
bool tm_ascend_msprof_is_covered(const char *path, const char *other);

#endif

/* What the metadata says about HCCL's communicators. Private to this reader. */
#ifndef TMERGE_ASCEND_DB_GROUPS_H
#define TMERGE_ASCEND_DB_GROUPS_H

#include "base/vec.h"
#include "readers/sqlite/profiler_database.h"

typedef struct tm_ascend_db_group {
    uint32_t name;        /* Name id of the communicator. Operations have the same id. */
    uint32_t description; /* id of the name of torch's group: "default_group", "tp" */
    int32_t n_ranks;
} tm_ascend_db_group;

/** Returns whether the description of a group says that the group has all ranks of the job. */
bool tm_ascend_db_holds_all(const tm_ascend_db_group *group, const tm_names *names);

/**
 * Reads the metadata parallel_group_info that torch_npu writes: {communicator: {"group_name": ...,
 * "group_rank": ..., "global_ranks": [...]}}. Entries that cannot be read are ignored.
 * @param out  vector of tm_ascend_db_group; the groups are appended
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_ascend_db_read_groups(tm_text json, tm_names *names, tm_vec *out,
                                   tm_error *err) TM_MUST_CHECK;

/** Returns the group of a communicator; NULL if it is unknown. */
const tm_ascend_db_group *tm_ascend_db_group_of(const tm_vec *groups, uint32_t name);

#endif

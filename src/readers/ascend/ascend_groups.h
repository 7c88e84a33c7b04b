/* Which communicator an operation is of, where the profiler's own analysis of it lies beside the
 * trace: names of operations give three digits of it alone. Private to the Ascend reader. */
#ifndef TMERGE_ASCEND_GROUPS_H
#define TMERGE_ASCEND_GROUPS_H

#include "base/vec.h"
#include "readers/json.h"
#include "tmerge/names.h"
#include "tmerge/status.h"

typedef struct tm_ascend_groups {
    tm_vec known; /* private: by operation */
} tm_ascend_groups;

/**
 * Reads communication.json beside a trace: its keys are hcom_allReduce__868_0_1@<communicator>.
 * What cannot be read of it is as if it were not there.
 *
 * @param names  communicators are interned here
 * @param out    needs tm_ascend_groups_free whatever comes of the call
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_ascend_groups_read(const char *trace, tm_names *names, tm_ascend_groups *out,
                                tm_error *err) TM_MUST_CHECK;
void tm_ascend_groups_free(tm_ascend_groups *groups);

/** The name id of the communicator of an operation of this name; TM_NO_NAME where it is not known,
 * or not for sure. */
uint32_t tm_ascend_groups_find(const tm_ascend_groups *groups, const tm_json_text *name);

#endif

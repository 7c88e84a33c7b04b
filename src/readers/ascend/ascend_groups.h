/* The communicators of operations, read from the profiler's own analysis in the trace's folder. In
 * the trace itself, the names of operations have only three digits of a communicator. Private to
 * the Ascend reader. */
#ifndef TMERGE_ASCEND_GROUPS_H
#define TMERGE_ASCEND_GROUPS_H

#include "base/vec.h"
#include "readers/json.h"
#include "tmerge/names.h"
#include "tmerge/status.h"

typedef struct tm_ascend_groups {
    tm_vec known; /* private: operations and their communicators, sorted */
} tm_ascend_groups;

/**
 * Reads communication.json in the folder of a trace; its keys are
 * hcom_allReduce__868_0_1@<communicator>. An unreadable file counts as missing.
 *
 * @param names  communicators are interned here
 * @param out    needs tm_ascend_groups_free even after a failure
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_ascend_groups_read(const char *trace, tm_names *names, tm_ascend_groups *out,
                                tm_error *err) TM_MUST_CHECK;
void tm_ascend_groups_free(tm_ascend_groups *groups);

/** Returns the name id of the communicator of the operation with this name; TM_NO_NAME if it is
 * unknown or ambiguous. */
uint32_t tm_ascend_groups_find(const tm_ascend_groups *groups, const tm_json_text *name);

#endif

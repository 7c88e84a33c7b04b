/* Files of several ranks whose process names contain the rank ("RANK 3 - GPU"). Private to the
 * Kineto reader. */
#ifndef TMERGE_KINETO_NAMED_H
#define TMERGE_KINETO_NAMED_H

#include "base/keys.h"
#include "kineto_event.h"
#include "timeline/part.h"
#include "tmerge/names.h"
#include "tmerge/status.h"

/** Returns whether the processes of a file that was read as one rank have names of several
 * ranks. */
bool tm_kineto_names_ranks(const tm_part *whole, const tm_names *names);

/** The rank of each process of a file. */
typedef struct tm_kineto_named {
    tm_keys processes;    /* keys of type uint64_t: hashes of process ids */
    tm_vec ranks;         /* vector of int64_t: rank of each process, -1 unknown */
    tm_vec reported;      /* vector of int64_t: ranks that have durations, ascending */
    int64_t n_unreported; /* number of durations without a rank */
} tm_kineto_named;

/**
 * Finds the ranks in all events of a file, because a process may be named after its events. If
 * exactly one rank shares correlation ids with a process whose name has no rank, the process
 * belongs to that rank.
 * @param out  free it with tm_kineto_named_free, whatever the result
 * @return     TM_OK, also if the file cannot be read; TM_ERR_FAULT
 */
tm_status tm_kineto_named_read(const char *path, tm_kineto_named *out, tm_error *err) TM_MUST_CHECK;
void tm_kineto_named_free(tm_kineto_named *named);

/** Returns the rank of an event's process, -1 unknown. */
int64_t tm_kineto_named_owner(const tm_kineto_named *named, const tm_kineto_event *event);

#endif

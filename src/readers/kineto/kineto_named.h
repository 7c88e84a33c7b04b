/* Files of several ranks whose processes are called by them ("RANK 3 - GPU"). Private to the Kineto
 * reader. */
#ifndef TMERGE_KINETO_NAMED_H
#define TMERGE_KINETO_NAMED_H

#include "base/keys.h"
#include "kineto_event.h"
#include "timeline/part.h"
#include "tmerge/names.h"
#include "tmerge/status.h"

/** Whether the processes of a file that was read as of one rank are called by several. */
bool tm_kineto_names_ranks(const tm_part *whole, const tm_names *names);

/** The ranks of a file's processes. */
typedef struct tm_kineto_named {
    tm_keys processes; /* of uint64_t: hashes of their ids */
    tm_vec ranks;      /* of int64_t: -1 where nothing tells it */
    tm_vec told;       /* of int64_t: those that have durations, ascending */
    int64_t n_untold;  /* durations of which nothing tells it */
} tm_kineto_named;

/**
 * Finds them by all events of a file, for names may stand behind those of their processes. One
 * without such a name is of the rank with whose processes it shares correlation ids, if that is
 * one.
 * @param out  free it with tm_kineto_named_free, whatever comes of the call
 * @return     TM_OK, also where the file cannot be read; TM_ERR_FAULT
 */
tm_status tm_kineto_named_read(const char *path, tm_kineto_named *out, tm_error *err) TM_MUST_CHECK;
void tm_kineto_named_free(tm_kineto_named *named);

/** The rank of an event's process, -1 unknown. */
int64_t tm_kineto_named_owner(const tm_kineto_named *named, const tm_kineto_event *event);

#endif

/* Files into which the traces of several ranks were put: how their events tell whose they are.
 * Private to the Kineto reader. */
#ifndef TMERGE_KINETO_FUSED_H
#define TMERGE_KINETO_FUSED_H

#include "kineto_event.h"
#include "tmerge/source.h"
#include "tmerge/status.h"

struct tm_vec;

typedef enum tm_kineto_way {
    TM_KINETO_ALONE,  /* the file is of one rank */
    TM_KINETO_EXPORT, /* by pid "rank 3: 83", as tmerge export writes it */
    TM_KINETO_PID, /* by pid "[TP01-DP00] 83", as SGLang's --merge-profiles does, or "[TP01 83]" */
    TM_KINETO_ARG, /* by "rank" among the args of each event, as TraceLens's TraceFusion does */
    TM_KINETO_NAME /* by the names of processes, which may stand behind all events */
} tm_kineto_way;

/** How the events in the decoded bytes of a file's head tell their ranks, as far as the first of a
 * duration.
 * @param head  followed by TM_JSON_PADDING zero bytes */
tm_kineto_way tm_kineto_way_of(const char *head, size_t size, bool whole);

/**
 * Whose an event is by itself: a number that stands for its rank among those of the file; -1 where
 * it does not tell. Its process is called then as its own trace called it.
 */
int64_t tm_kineto_owner(tm_kineto_way way, tm_kineto_event *event);

/**
 * Lists the ranks of a file by all of its events; none where most of them tell no rank. Where the
 * head of the file tells no way, it is known to be that of names.
 * @param units  of tm_unit, with the owner as the process and the way as the devices; appended to
 * @return       TM_OK, also where the file cannot be read; TM_ERR_INPUT where some of the events
 * tell no rank; TM_ERR_FAULT
 */
tm_status tm_kineto_list_fused(const char *path, tm_kineto_way way, struct tm_vec *units,
                               tm_error *err) TM_MUST_CHECK;

/** Goes over all events of a file. TM_OK, also where it cannot be read; TM_ERR_FAULT, as where
 * @p emit returns false. */
tm_status tm_kineto_scan(const char *path,
                         bool (*emit)(void *context, tm_json_cursor *cursor,
                                      tm_chrome_event *event),
                         void *context, tm_error *err) TM_MUST_CHECK;

#endif

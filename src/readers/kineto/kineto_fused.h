/* Reads files into which the traces of several ranks were merged. Finds out how the events of a
 * file identify their rank. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_FUSED_H
#define TMERGE_KINETO_FUSED_H

#include "kineto_event.h"
#include "tmerge/status.h"

struct tm_vec;

typedef enum tm_kineto_way {
    TM_KINETO_ALONE,  /* the file has one rank */
    TM_KINETO_EXPORT, /* by pid "rank 3: 83", as tmerge export writes it */
    TM_KINETO_PID, /* by pid "[TP01-DP00] 83", as SGLang's --merge-profiles does, or "[TP01 83]" */
    TM_KINETO_ARG, /* by "rank" in the args of each event, as TraceLens's TraceFusion does */
    TM_KINETO_NAME /* by the names of processes, which may follow all events */
} tm_kineto_way;

/** Returns how events identify their ranks, judging by the first bytes of a file after
 * decompression, up to the first duration event.
 * @param head  followed by TM_JSON_PADDING zero bytes */
tm_kineto_way tm_kineto_way_of(const char *head, size_t size, bool whole);

/** Returns the owner of an event. The owner is a number that identifies the rank of the event
 * within the file; it is -1 if it is unknown. Also removes the owner from the event's pid, which
 * then is the same as in the rank's own trace. */
int64_t tm_kineto_owner(tm_kineto_way way, tm_kineto_event *event);

/**
 * Lists the ranks to which the events of a file belong. Lists no ranks if most events have no rank.
 * If @p way is TM_KINETO_ALONE, looks for ranks in the names of processes instead.
 * @param units  vector of tm_unit; the ranks are appended. `process` is set to the owner,
 *               and `devices` to @p way.
 * @return       TM_OK, also if the file cannot be read; TM_ERR_INPUT if some events have no rank;
 *               TM_ERR_FAULT
 */
tm_status tm_kineto_list_fused(const char *path, tm_kineto_way way, struct tm_vec *units,
                               tm_error *err) TM_MUST_CHECK;

/**
 * Calls @p emit for all events of a file.
 * @return TM_OK, also if the file cannot be read; TM_ERR_FAULT, also if @p emit returns false
 */
tm_status tm_kineto_scan(const char *path,
                         bool (*emit)(void *context, tm_json_cursor *cursor,
                                      tm_chrome_event *event),
                         void *context, tm_error *err) TM_MUST_CHECK;

#endif

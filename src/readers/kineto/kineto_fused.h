/* Files into which the traces of several ranks were put: how their events tell whose they are.
 * Private to the Kineto reader. */
#ifndef TMERGE_KINETO_FUSED_H
#define TMERGE_KINETO_FUSED_H

#include "kineto_event.h"
#include "tmerge/names.h"
#include "tmerge/source.h"
#include "tmerge/status.h"

struct tm_vec;

typedef enum tm_kineto_way {
    TM_KINETO_ALONE,  /* the file is of one rank */
    TM_KINETO_EXPORT, /* by pid "rank 3: 83", as tmerge export writes it */
    TM_KINETO_PID, /* by pid "[TP01-DP00] 83", as SGLang's --merge-profiles does, or "[TP01 83]" */
    TM_KINETO_ARG  /* by "rank" among the args of each event, as TraceLens's TraceFusion does */
} tm_kineto_way;

/** How the first event in the decoded bytes of a file's head tells its rank.
 * @param head  followed by TM_JSON_PADDING zero bytes */
tm_kineto_way tm_kineto_way_of(const char *head, size_t size, bool whole);

/**
 * Whose an event is: a number that stands for its rank among those of the file; -1 where it does
 * not tell. Its process is called then as its own trace called it.
 */
int64_t tm_kineto_owner(tm_kineto_way way, tm_kineto_event *event);

/**
 * Lists the ranks of a file by all of its events; none where most of them tell no rank.
 * @param units  of tm_unit, with the owner as the process and the way as the devices; appended to
 * @return       TM_OK, also where the file cannot be read; TM_ERR_INPUT where some of the events
 * tell no rank; TM_ERR_FAULT
 */
tm_status tm_kineto_list_fused(const char *path, tm_kineto_way way, struct tm_vec *units,
                               tm_error *err) TM_MUST_CHECK;

/**
 * Finds out whether the names of processes tell several ranks ("RANK 3 - GPU"), of a file that is
 * read as one.
 * @param labels  of tm_label
 * @return        TM_OK; TM_ERR_INPUT: they do; TM_ERR_FAULT
 */
tm_status tm_kineto_one_rank(const struct tm_vec *labels, const char *path, const tm_names *names,
                             tm_error *err) TM_MUST_CHECK;

#endif

/* Launches of which no kernel was recorded, and when the GPU may have run these. */
#ifndef TMERGE_LOST_H
#define TMERGE_LOST_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

typedef struct tm_lost {
    int64_t launches; /* calls that launch kernels or graphs */
    int64_t lost;     /* of them, those of which nothing was recorded */
    int64_t graphs;   /* of these, launches of graphs */
    int64_t between;  /* launches from the first to the last of which something was recorded */
    int64_t lost_between;
    int64_t steps;       /* steps that the trace marks */
    int64_t steps_lost;  /* those in which kernels were launched and none was recorded */
    tm_intervals hidden; /* when devices may have run them: nothing else was recorded then */
    int64_t hidden_ns;   /* the same of all devices, each while nothing was recorded of it: of the
                            one that a launch was for, where that is known */
    bool known;          /* the trace holds launches */
} tm_lost;

/**
 * Finds them. Launches during the capture of a graph run nothing. A graph of which only copies were
 * recorded, or communication in whose middle the device did nothing, lacks its computing kernels: a
 * graph runs without the host, so it waits for nothing. What was launched shortly before
 * the first recorded event, or is still queued when the recording ends, is lost by no fault.
 *
 * @param out  free it with tm_lost_free whatever comes of it
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_lost_find(const tm_rank_view *view, tm_lost *out, tm_error *err) TM_MUST_CHECK;
void tm_lost_free(tm_lost *lost);

#endif

/* Who reads what: pure functions that every process runs with the same result. */
#ifndef TMERGE_MPI_SHARE_H
#define TMERGE_MPI_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

/**
 * The rank that a file name tells: the last match in its base name, without case, of
 * (^|[^a-z])(profile_rank|rank|worker|tp)[-_]?([0-9]+)([^0-9]|$).
 * Collective: no.
 * @return  the rank, or -1 where nothing matches or the number exceeds TM_RANK_MAX
 */
int64_t tm_rank_of_path(const char *path);

/**
 * Into how many parts a trace is cut: as many as it has fair shares of the whole, a quarter of one
 * counting as one; at most one for each process. 1: it is read as a whole.
 * Collective: no.
 * @param weight  of the trace, not above @p total
 * @param total   of all traces
 */
int tm_share_parts(int64_t weight, int64_t total, int n_processes);

/** A trace, or a part of one, to be shared out. */
typedef struct tm_share_item {
    int64_t rank;   /* traces of one rank go to one process; -1: not known, goes alone */
    int64_t weight; /* what reading it costs */
    int owner;      /* out: the process that reads it */
} tm_share_item;

/**
 * Gives the traces out: largest rank first, each to the process with the least so far.
 * Collective: no.
 * @param items  [n] in the order of the arguments
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_share_plan(tm_share_item *items, size_t n, int n_processes,
                        tm_error *err) TM_MUST_CHECK;

#endif

/* Who reads what: pure functions that every process runs with the same result. */
#ifndef TMERGE_MPI_SHARE_H
#define TMERGE_MPI_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

/**
 * Into how many parts a trace is cut: as many as it has fair shares of the whole, a quarter of one
 * counting as one; at most one for each process. 1: it is read as a whole.
 * Collective: no.
 * @param weight  of the trace, not above @p total
 * @param total   of all traces
 */
int tm_share_parts(int64_t weight, int64_t total, int n_processes);

/** Words of a set of hosts, of which each is a bit. */
static inline size_t tm_hosts_words(int n_hosts) {
    return ((size_t)n_hosts + 63) / 64;
}

/** Whether a host is in a set; NULL is the set of all. */
static inline bool tm_hosts_has(const uint64_t *set, int host) {
    return !set || (set[host / 64] >> host % 64 & 1);
}

/** A trace, or a part of one, to be shared out. */
typedef struct tm_share_item {
    int64_t rank;         /* traces of one rank go to one process; -1: not known, goes alone */
    int64_t weight;       /* what reading it costs */
    const uint64_t *seen; /* hosts that see it; NULL: all */
    int owner;            /* out: the process that reads it */
} tm_share_item;

/** Who could read them. */
typedef struct tm_share_readers {
    int n;              /* processes */
    int n_hosts;        /* 1: of is not looked at */
    const int *host_of; /* [n] */
} tm_share_readers;

/** How many of the readers see what lies on these hosts. Collective: no. */
int tm_share_n_readers(const tm_share_readers *readers, const uint64_t *seen);

/** The k-th of them, round and round. Collective: no. */
int tm_share_reader(const tm_share_readers *readers, const uint64_t *seen, size_t k);

/**
 * Gives the traces out: first those that not all hosts see, of these and of the others the largest
 * rank first, each to the process with the least so far of those that see it; at last those that
 * are under a sixteenth of a process's share, in blocks of neighbouring ranks.
 * Collective: no.
 * @param items  [n] in the order of the arguments
 * @return       TM_OK; TM_ERR_INPUT (no host sees all traces of a rank); TM_ERR_FAULT
 */
tm_status tm_share_plan(tm_share_item *items, size_t n, const tm_share_readers *readers,
                        tm_error *err) TM_MUST_CHECK;

#endif

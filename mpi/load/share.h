/* Decides which process reads what: pure functions that give the same result on every process. */
#ifndef TMERGE_MPI_SHARE_H
#define TMERGE_MPI_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

/**
 * Returns the number of parts into which a trace is split: its weight divided by a process's fair
 * share, rounded up if the remainder is at least a quarter of a share; at most one part per
 * process. 1: the trace is not split.
 * Collective: no.
 * @param weight  weight of the trace, not above @p total
 * @param total   sum of the weights of all traces
 */
int tm_share_parts(int64_t weight, int64_t total, int n_processes);

/** Returns the number of 64-bit words in a bit set of hosts. */
static inline size_t tm_hosts_words(int n_hosts) {
    return ((size_t)n_hosts + 63) / 64;
}

/** Returns whether a host is in a set; NULL is the set of all hosts. */
static inline bool tm_hosts_has(const uint64_t *set, int host) {
    return !set || (set[host / 64] >> host % 64 & 1);
}

/** A trace, or a part of a trace, to be assigned to a process. */
typedef struct tm_share_item {
    int64_t rank;         /* rank of the trace, -1 unknown; one process gets all traces of a rank */
    int64_t weight;       /* cost of reading the trace */
    const uint64_t *seen; /* hosts that see the trace; NULL: all */
    int owner;            /* result: the process that reads the trace */
} tm_share_item;

/** Processes that can read traces. */
typedef struct tm_share_readers {
    int n;              /* number of processes */
    int n_hosts;        /* number of hosts; 1: host_of is not used */
    const int *host_of; /* [n] host of each process */
} tm_share_readers;

/** Returns the number of readers whose host is in @p seen. Collective: no. */
int tm_share_n_readers(const tm_share_readers *readers, const uint64_t *seen);

/** Returns the k-th reader whose host is in @p seen; after the last reader, counts from the first
 * again. Collective: no. */
int tm_share_reader(const tm_share_readers *readers, const uint64_t *seen, size_t k);

/**
 * Assigns the traces to processes. Ranks with traces that some host cannot open are assigned first,
 * then the other ranks. Within each of these two classes, larger ranks come before smaller ones. A
 * rank goes to the process that has the least work so far and can open the rank's traces. Ranks
 * with less than a sixteenth of a process's share come last: neighbouring ranks go to the same
 * process. Collective: no.
 * @param items  [n] in the order of the arguments
 * @return       TM_OK; TM_ERR_INPUT (no host sees all traces of a rank); TM_ERR_FAULT
 */
tm_status tm_share_plan(tm_share_item *items, size_t n, const tm_share_readers *readers,
                        tm_error *err) TM_MUST_CHECK;

#endif

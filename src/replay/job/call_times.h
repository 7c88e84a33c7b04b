/* Compares hosts by how long their calls take. If each stage of a pipeline is on a single host, a
 * rank has no peers on other hosts. Hosts can still be compared, although they run different
 * stages, because a slow host takes longer for all calls. */
#ifndef TMERGE_REPLAY_CALL_TIMES_H
#define TMERGE_REPLAY_CALL_TIMES_H

#include "peers.h"

/** What every process knows about a rank that has a graph. Sent as bytes. */
typedef struct tm_replay_fact {
    int64_t rank, stage; /* pipeline stage, -1 for none */
    int64_t call_ns; /* median time of the rank's calls, each including the host time before it; 0
                        if there are no calls */
    uint32_t host;   /* name id */
} tm_replay_fact;

/** How long a host's calls take, compared with other hosts. */
typedef struct tm_host_time {
    uint32_t host;
    int64_t call_ns; /* median of tm_replay_fact.call_ns over the host's ranks */
    /* call_ns divided by the lower median of call_ns of the other hosts. A quotient below
     * TM_HOST_FACTOR_LEAST is replaced by 1, because stages always differ a little. */
    double factor;
} tm_host_time;

#define TM_HOST_FACTOR_LEAST 1.25

/**
 * Compares the hosts of a job. Hosts are compared only if there are several hosts, and if each
 * stage is on one host.
 *
 * @param facts  [n]
 * @param out    vector of tm_host_time, ascending in host; empty if hosts are not compared
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_host_times(const tm_replay_fact *facts, size_t n, tm_vec *out,
                        tm_error *err) TM_MUST_CHECK;

/**
 * Returns the factor of a host; 1 if the host is not compared.
 *
 * @param times  vector of tm_host_time
 */
double tm_host_factor(const tm_vec *times, uint32_t host);

/**
 * Computes the median time of each row. False when out of memory.
 *
 * @param rows  [n] the row of each time; SIZE_MAX: the time is ignored
 * @param ns    [n] the times
 * @param out   [n_rows] the medians; 0 for a row without times
 */
bool tm_call_medians(const size_t *rows, const int64_t *ns, size_t n, size_t n_rows,
                     int64_t *out) TM_MUST_CHECK;

/** Returns the times of the calls of a batch's ranks: [batch->n][calls] in ns. The caller owns the
 * array. NULL when out of memory. */
int64_t *tm_batch_calls(const tm_batch *batch) TM_MUST_CHECK;

/** tm_call_time computes the median call time of a rank. tm_batch_call_times computes it for each
 * rank of a batch. False when out of memory. */
bool tm_call_time(const tm_peer_items *items, int64_t *out) TM_MUST_CHECK;
bool tm_batch_call_times(const tm_batch *batch, int64_t out[TM_LANES]) TM_MUST_CHECK;

/**
 * Divides the peers' call times at the places of a rank's calls by the factor of the peers' host.
 *
 * @param done  [others] whether the call times at a place were divided before; updated
 */
void tm_calls_divide(const uint32_t *item_places, size_t n_events, size_t n, double factor,
                     tm_peer_places *places, bool *done);

#endif

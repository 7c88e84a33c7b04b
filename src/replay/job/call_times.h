/* Compares hosts by the time that they take for a call. If each stage of a pipeline is on a single
 * host, ranks have no peers on other hosts. But a slow host takes longer for all calls, so hosts
 * can be compared although they run different stages. */
#ifndef TMERGE_REPLAY_CALL_TIMES_H
#define TMERGE_REPLAY_CALL_TIMES_H

#include "peers.h"

/** A rank that has a graph, as known to every process. Sent as bytes. */
typedef struct tm_replay_fact {
    int64_t rank, stage; /* pipeline stage, -1 for none */
    int64_t call_ns; /* median time that the host takes for a call, including the time before it; 0
                        if there are no calls */
    uint32_t host;   /* name id */
} tm_replay_fact;

/** A host's call time, compared with the other hosts. */
typedef struct tm_host_time {
    uint32_t host;
    int64_t call_ns; /* median over the host's ranks of their medians */
    double factor;   /* call_ns divided by the (lower) median of the other hosts; 1 if that is below
                        TM_HOST_FACTOR_LEAST, because stages always differ slightly */
} tm_host_time;

#define TM_HOST_FACTOR_LEAST 1.25

/**
 * Compares the hosts, if there are several and each stage is on a single host.
 * @param facts  [n]
 * @param out    of tm_host_time, ascending in host; left empty if they are not compared
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_host_times(const tm_replay_fact *facts, size_t n, tm_vec *out,
                        tm_error *err) TM_MUST_CHECK;

/** Returns the factor of a host; 1 if it is not compared. @param times  of tm_host_time */
double tm_host_factor(const tm_vec *times, uint32_t host);

/** Computes the median of the times in each row; row SIZE_MAX is ignored. False when out of memory.
 * @param out  [n_rows] 0 for a row without times */
bool tm_call_medians(const size_t *rows, const int64_t *ns, size_t n, size_t n_rows,
                     int64_t *out) TM_MUST_CHECK;

/** Returns the time of each call on the ranks of a batch [batch->n][calls] in ns, owned by the
 * caller; NULL when out of memory. */
int64_t *tm_batch_calls(const tm_batch *batch) TM_MUST_CHECK;

/** Computes the median call time of a rank; of each rank of a batch. False when out of memory. */
bool tm_call_time(const tm_peer_items *items, int64_t *out) TM_MUST_CHECK;
bool tm_batch_call_times(const tm_batch *batch, int64_t out[TM_LANES]) TM_MUST_CHECK;

/** Divides the peers' call times at these places by the factor of their host.
 * @param done  [others] places already divided; updated */
void tm_calls_divide(const uint32_t *item_places, size_t n_events, size_t n, double factor,
                     tm_peer_places *places, bool *done);

#endif

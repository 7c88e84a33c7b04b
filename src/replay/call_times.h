/* How long a host takes for a call. Where every stage of a pipeline is on one host, its ranks have
 * no peers on another; but calls are calls everywhere, and a slow host takes longer for all of
 * them. */
#ifndef TMERGE_REPLAY_CALL_TIMES_H
#define TMERGE_REPLAY_CALL_TIMES_H

#include "peers.h"

/** What every process knows of a rank that has a graph. Sent as bytes. */
typedef struct tm_replay_fact {
    int64_t rank, stage; /* stage of a pipeline, -1 for none */
    int64_t call_ns;     /* what the host does itself in a call and before it: the median; 0 without
                            any call */
    uint32_t host;       /* name id */
} tm_replay_fact;

/** How a host's calls compare. */
typedef struct tm_host_time {
    uint32_t host;
    int64_t call_ns; /* the median of its ranks' medians */
    double factor; /* how many times that of the other hosts, of two others the less; 1 where it is
                      under TM_HOST_FACTOR_LEAST: stages do not do quite the same */
} tm_host_time;

#define TM_HOST_FACTOR_LEAST 1.25

/**
 * Compares the hosts, if there are several and every stage is on one.
 * @param facts  [n]
 * @param out    of tm_host_time, ascending in host; left empty where they are not compared
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_host_times(const tm_replay_fact *facts, size_t n, tm_vec *out,
                        tm_error *err) TM_MUST_CHECK;

/** The factor of a host. 1 where it is not compared. @param times  of tm_host_time */
double tm_host_factor(const tm_vec *times, uint32_t host);

/** Medians by row of what calls take: [n] values and their rows, those of SIZE_MAX left out.
 * @param out  [n_rows] 0 where there is none. False when memory is out. */
bool tm_call_medians(const size_t *rows, const int64_t *ns, size_t n, size_t n_rows,
                     int64_t *out) TM_MUST_CHECK;

/** What each call takes on the ranks of a crew: owned; [crew->n][calls] in ns; NULL when memory is
 * out.
 */
int64_t *tm_crew_calls(const tm_crew *crew) TM_MUST_CHECK;

/** The median of all calls of a rank; of the ranks of a crew. False when memory is out. */
bool tm_call_time(const tm_peer_items *items, int64_t *out) TM_MUST_CHECK;
bool tm_crew_call_times(const tm_crew *crew, int64_t out[TM_LANES]) TM_MUST_CHECK;

/** Divides what others take for calls at these places, which are of one stage.
 * @param done  [others] which are; added to */
void tm_calls_divide(const uint32_t *item_places, size_t n_events, size_t n, double factor,
                     tm_peer_places *places, bool *done);

#endif

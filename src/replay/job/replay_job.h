/* The whole job, reduced to operations and ends of steps. It can be evaluated in milliseconds for
 * any choice of a weight set per rank.
 *
 * Operations are ordered by (last_ns, operation), so that no link leads to an earlier one; steps
 * come after them. An operation or step is identified by its index in that order, a rank by its
 * index among the ranks. */
#ifndef TMERGE_REPLAY_REPLAY_JOB_H
#define TMERGE_REPLAY_REPLAY_JOB_H

#include "base/list.h"
#include "replay/job/reduce.h"

/** In place of a latest time: nothing depends on this. */
#define TM_REPLAY_NEVER INT64_MAX
/** A time before all others. Sums of it do not overflow. */
#define TM_REPLAY_UNREACHED (INT64_MIN / 4)

typedef struct tm_replay {
    size_t n_sets, n_ranks, n_operations, n_steps, n_links;
    int64_t n_left_out;      /* sum over all ranks of tm_reduced.n_left_out */
    int64_t *ranks;          /* [n_ranks] ascending */
    tm_boundary *operations; /* [n_operations] ascending in (last_ns, operation) */
    int64_t *steps;          /* [n_steps] numbers of the steps of all ranks, ascending */
    bool *counts;            /* owned; [n_steps] whether a step's time counts; NULL: all count */
    size_t *first;           /* [n_operations + n_steps + 1] index of the first link to each */
    uint32_t *from; /* [n_links] source: an operation, or TM_FROM_ROOT. Links to one target are
                       sorted by rank */
    uint32_t *rank; /* [n_links] index of the rank */
    int64_t *ns;    /* [n_sets][n_links] weights; NULL after tm_replay_open, which sets `times` */
    /* owned; after tm_replay_open: [n_links] pointers to each link's weights [n_sets] in its @p
     * words; NULL after tm_replay_build */
    const int64_t **times;
} tm_replay;

/**
 * Builds the job from the reduced graphs of its ranks.
 *
 * @param words  [n_words] of tm_reduce for all ranks, each once, in any order
 * @param out    freed by the caller
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_replay_build(const int64_t *words, size_t n_words, tm_replay *out,
                          tm_error *err) TM_MUST_CHECK;

/**
 * Like tm_replay_build, but leaves the weights in @p words. For many sets that are all evaluated
 * together, once.
 * @param words  must stay valid as long as the job
 */
tm_status tm_replay_open(const int64_t *words, size_t n_words, tm_replay *out,
                         tm_error *err) TM_MUST_CHECK;

void tm_replay_free(tm_replay *replay);

/** Makes T count only these steps; NULL: all, except the warm-up (TM_STEP_LEAD_IN). TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_replay_count(tm_replay *replay, const tm_list *steps, tm_error *err) TM_MUST_CHECK;

/**
 * Computes the time of each operation and end of a step.
 *
 * @param set_of_rank  [n_ranks] weight set of each rank
 * @param ns           [n_operations + n_steps] since the root: operations, then E_k: the latest end
 *                     of any step up to k, at least 0
 */
void tm_replay_forward(const tm_replay *replay, const uint8_t *set_of_rank, int64_t *ns);

/** Like tm_replay_forward, once with each set for all ranks, all in one pass. For a job from
 * tm_replay_open.
 * @param ns  [n_operations + n_steps][n_sets] */
void tm_replay_forward_all(const tm_replay *replay, int64_t *ns);

/** Returns T, the time of the steps that count, from times of tm_replay_forward; 0 without
 * steps. */
int64_t tm_replay_total(const tm_replay *replay, const int64_t *ns);

/** The same, from the ends of steps [n_steps]. */
int64_t tm_replay_total_of(const tm_replay *replay, const int64_t *ends);

/**
 * Computes the latest time of each operation and step at which the last step would not end later.
 * The difference to the actual time is slack.
 *
 * @param ns       of tm_replay_forward
 * @param late_ns  [n_operations + n_steps] TM_REPLAY_NEVER if no step's end depends on it
 */
void tm_replay_backward(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                        int64_t *late_ns);

/** A link of a critical path. The rank does not wait in it. */
typedef struct tm_hop {
    /* times of the hop; if the path is cut in it, only of the part after the cut */
    int64_t begin_ns, end_ns;
    size_t link;
    uint32_t from; /* operation, or TM_FROM_ROOT */
    uint32_t to;   /* target: an operation, or n_operations + step */
    uint32_t rank; /* index */
} tm_hop;

/**
 * Finds the critical path to the end of a step, back to a given time. Hops are contiguous and do
 * not overlap, so their durations add up to E_k - since_ns. If several links decide, it takes the
 * link of the lowest rank, then the one with the latest source (by time, then order; the root is
 * first).
 *
 * @param ns        of tm_replay_forward with the same weights
 * @param step      its index; no hops if it ended by since_ns
 * @param since_ns  E_(k - 1), 0 for the first step; INT64_MIN: the whole path, from the root
 * @param hops      of tm_hop: replaced by this path, in the order of time
 * @return          false when out of memory
 */
bool tm_replay_path(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                    size_t step, int64_t since_ns, tm_vec *hops) TM_MUST_CHECK;

/** Finds the whole path, to the last step's end. If not all steps count, finds the paths to the
 * last step of each run of counted steps. Replaces hops. False when out of memory. */
bool tm_replay_paths(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                     tm_vec *hops) TM_MUST_CHECK;

/** Finds the rank on which most of these paths is, the lowest of several; -1 if there is no path.
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_replay_busiest(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                            int64_t *rank, tm_error *err) TM_MUST_CHECK;

#endif

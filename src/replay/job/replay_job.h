/* The whole job, reduced to operations and ends of steps. For any choice of a weight set for each
 * rank, it can be evaluated in milliseconds. Operations are sorted by (last_ns, operation), so that
 * no link leads to an earlier operation. The steps come after the operations. An operation or step
 * is identified by its index in this order. A rank is identified by its index among the ranks. */
#ifndef TMERGE_REPLAY_REPLAY_JOB_H
#define TMERGE_REPLAY_REPLAY_JOB_H

#include "base/list.h"
#include "replay/job/reduce.h"

/** Stands for the latest time of an operation on which nothing depends. */
#define TM_REPLAY_NEVER INT64_MAX
/** A time before all others, small enough that adding weights cannot overflow. */
#define TM_REPLAY_UNREACHED (INT64_MIN / 4)

typedef struct tm_replay {
    size_t n_sets, n_ranks, n_operations, n_steps, n_links;
    int64_t n_left_out;      /* sum of tm_reduced.n_left_out over all ranks */
    int64_t *ranks;          /* [n_ranks] ascending */
    tm_boundary *operations; /* [n_operations] ascending in (last_ns, operation) */
    int64_t *steps;          /* [n_steps] numbers of the steps that some rank has, ascending */
    bool *counts;            /* owned; [n_steps] whether T includes the step; NULL: T includes all
                                steps */
    size_t *first;           /* [n_operations + n_steps + 1] index of the first link to each
                                operation or step */
    uint32_t *from; /* [n_links] source: index of an operation, or TM_FROM_ROOT. The links to a
                       target are sorted by rank */
    uint32_t *rank; /* [n_links] index of the rank */
    int64_t *ns;    /* [n_sets][n_links] weights after tm_replay_build; NULL after tm_replay_open */
    /* owned; [n_links] after tm_replay_open: for each link, a pointer to its weights [n_sets] in @p
     * words. NULL after tm_replay_build. */
    const int64_t **times;
} tm_replay;

/**
 * Builds the job from the reduced graphs of its ranks.
 *
 * @param words  [n_words] from tm_reduce, for all ranks, each rank once, in any order
 * @param out    must be freed by the caller
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_replay_build(const int64_t *words, size_t n_words, tm_replay *out,
                          tm_error *err) TM_MUST_CHECK;

/**
 * Like tm_replay_build, but leaves the weights in @p words. This saves time if all sets are
 * evaluated together and only once.
 *
 * @param words  must stay valid as long as the job
 */
tm_status tm_replay_open(const int64_t *words, size_t n_words, tm_replay *out,
                         tm_error *err) TM_MUST_CHECK;

void tm_replay_free(tm_replay *replay);

/** Makes T include only these steps. If @p steps is NULL, T includes all steps except the warm-up
 * (TM_STEP_WARM_UP). TM_OK; TM_ERR_FAULT. */
tm_status tm_replay_count(tm_replay *replay, const tm_list *steps, tm_error *err) TM_MUST_CHECK;

/**
 * Computes the times of operations and ends of steps.
 *
 * @param set_of_rank  [n_ranks] weight set of each rank
 * @param ns           [n_operations + n_steps] set to the times since the root: the time of each
 *                     operation, then E_k of each step k. E_k is the latest end of the steps up to
 *                     k, and at least 0.
 */
void tm_replay_forward(const tm_replay *replay, const uint8_t *set_of_rank, int64_t *ns);

/**
 * Like tm_replay_forward, once for each weight set. All ranks have the same set. Computes all sets
 * in one pass. The job must be from tm_replay_open.
 *
 * @param ns  [n_operations + n_steps][n_sets] set to the times
 */
void tm_replay_forward_all(const tm_replay *replay, int64_t *ns);

/**
 * Returns T, i.e. the total time of the steps that count; 0 if there are no steps.
 *
 * @param ns  times from tm_replay_forward
 */
int64_t tm_replay_total(const tm_replay *replay, const int64_t *ns);

/**
 * Returns T.
 *
 * @param ends  [n_steps] ends of the steps
 */
int64_t tm_replay_total_of(const tm_replay *replay, const int64_t *ends);

/**
 * Computes the latest time that each operation and step could have without delaying the end of the
 * last step. This time minus the actual time is the slack.
 *
 * @param ns       times from tm_replay_forward
 * @param late_ns  [n_operations + n_steps] set to the latest times; TM_REPLAY_NEVER if no step's
 *                 end depends on the operation
 */
void tm_replay_backward(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                        int64_t *late_ns);

/** A hop: a link of a critical path. The rank of the link does not wait during the hop. */
typedef struct tm_hop {
    /* begin_ns: time of `from`, or of the path's start if that is later. end_ns: time of `to`. */
    int64_t begin_ns, end_ns;
    size_t link;
    uint32_t from; /* operation, or TM_FROM_ROOT */
    uint32_t to;   /* target: an operation, or n_operations + step */
    uint32_t rank; /* index of the rank */
} tm_hop;

/**
 * Finds the critical path to the end of a step, back to a given time. Hops are contiguous and do
 * not overlap, so their durations add up to E_k - since_ns. If several links decide a time, the
 * path takes a link of the lowest rank. If this rank has several such links, the path takes the one
 * with the latest source. (Sources with equal times are compared by their order. The root is the
 * earliest source.)
 *
 * @param ns        times from tm_replay_forward with the same weights
 * @param step      index k of the step; there are no hops if the step ended by since_ns
 * @param since_ns  E_(k - 1), or 0 for the first step; INT64_MIN: finds the whole path, from the
 *                  root
 * @param hops      vector of tm_hop: replaced by this path, in the order of time
 * @return          false when out of memory
 */
bool tm_replay_path(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                    size_t step, int64_t since_ns, tm_vec *hops) TM_MUST_CHECK;

/**
 * Finds the critical path of T, i.e. the whole path to the end of the last step. If some steps do
 * not count, the steps that count form one or more runs of consecutive steps. Then finds the whole
 * path to the last step of each run. False when out of memory.
 *
 * @param hops  vector of tm_hop: replaced by the paths
 */
bool tm_replay_paths(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                     tm_vec *hops) TM_MUST_CHECK;

/** Finds the rank with the most time on the paths of tm_replay_paths. If several ranks have the
 * most time, takes the lowest. Sets *rank to -1 if there is no path. TM_OK; TM_ERR_FAULT. */
tm_status tm_replay_busiest(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                            int64_t *rank, tm_error *err) TM_MUST_CHECK;

#endif

/* The whole job, of which only operations and ends of steps are left: goes from the first to the
 * last in milliseconds, for any choice of weights by rank.
 *
 * Operations stand in the order (last_ns, operation), in which no link leads back; steps follow,
 * and an operation or step is named by its place in that order, a rank by its place among the
 * ranks. */
#ifndef TMERGE_REPLAY_JOB_H
#define TMERGE_REPLAY_JOB_H

#include "base/list.h"
#include "replay/reduce.h"

/** Later than any time: nothing depends on it. */
#define TM_REPLAY_NEVER INT64_MAX
/** Before everything, and far from where it could not be computed with. */
#define TM_REPLAY_UNREACHED (INT64_MIN / 4)

typedef struct tm_replay {
    size_t n_sets, n_ranks, n_operations, n_steps, n_links;
    int64_t n_left_out;    /* of all ranks, see tm_reduced */
    int64_t *ranks;        /* [n_ranks] ascending */
    tm_port *operations;   /* [n_operations] ascending in (last_ns, operation) */
    int64_t *steps;        /* [n_steps] ascending: the numbers of all ranks' steps */
    bool *counts;          /* owned; [n_steps] those whose time is asked for; NULL: all */
    size_t *first;         /* [n_operations + n_steps + 1] the links to each begin here */
    uint32_t *from;        /* [n_links] an operation, or TM_FROM_ROOT; of one target by rank */
    uint32_t *rank;        /* [n_links] its place */
    int64_t *ns;           /* [n_sets][n_links]; NULL of a job that was opened, which has */
    const int64_t **times; /* owned; [n_links] where each link's stand in the words; else NULL */
} tm_replay;

/**
 * Makes the job of what tm_reduce left of its ranks.
 *
 * @param words  [n_words] of all ranks, each once, in any order
 * @param out    to be freed by the caller; the same for any order of ranks
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_replay_build(const int64_t *words, size_t n_words, tm_replay *out,
                          tm_error *err) TM_MUST_CHECK;

/**
 * The same, of many sets that are gone through once, side by side: they stay where they are.
 * @param words  stay where they are while the job is in use
 */
tm_status tm_replay_open(const int64_t *words, size_t n_words, tm_replay *out,
                         tm_error *err) TM_MUST_CHECK;

void tm_replay_free(tm_replay *replay);

/** Has T be of these steps alone; NULL: of all, but for what is before them (TM_STEP_LEAD_IN).
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_replay_count(tm_replay *replay, const tm_list *steps, tm_error *err) TM_MUST_CHECK;

/**
 * When everything is, at the earliest.
 *
 * @param set_of_rank  [n_ranks] the weights that each rank has
 * @param ns           [n_operations + n_steps] since the root: the operations, then E_k of each
 *                     step, the latest end of a step up to it and not before the root
 */
void tm_replay_forward(const tm_replay *replay, const uint8_t *set_of_rank, int64_t *ns);

/** The same with each set, which all ranks have, of a job that was opened. @param ns  [n_operations
 * + n_steps][n_sets] */
void tm_replay_forward_all(const tm_replay *replay, int64_t *ns);

/** T: the time of the steps that count, of the times of tm_replay_forward. 0 without steps. */
int64_t tm_replay_total(const tm_replay *replay, const int64_t *ns);

/** The same of the times of steps alone. */
int64_t tm_replay_total_of(const tm_replay *replay, const int64_t *ends);

/**
 * When everything may be at the latest, so that the last step's end stays: what has slack is
 * earlier.
 *
 * @param ns       of tm_replay_forward
 * @param late_ns  [n_operations + n_steps] TM_REPLAY_NEVER where no step's end depends on it
 */
void tm_replay_backward(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                        int64_t *late_ns);

/** A link of a critical path: the rank has nothing to wait for in this time. */
typedef struct tm_hop {
    int64_t begin_ns, end_ns; /* of the hop; where the path is cut, of the part behind that */
    size_t link;
    uint32_t from; /* operation, or TM_FROM_ROOT */
    uint32_t to;   /* operation, or n_operations + step */
    uint32_t rank; /* its place */
} tm_hop;

/**
 * The critical path to the end of a step, back to a time: hops follow one another without gap and
 * overlap, so that their durations sum to E_k - since_ns. Of several links that decide, the one of
 * the lowest rank is taken, of these that of the latest source (by time, then order; the root is
 * before all).
 *
 * @param ns        of tm_replay_forward with the same weights
 * @param step      its place; without hops where it ended by since_ns
 * @param since_ns  E_(k - 1), 0 for the first step; INT64_MIN: the whole path, from the root
 * @param hops      of tm_hop: those of this path replace what there is, in the order of time
 * @return          false when memory is out
 */
bool tm_replay_path(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                    size_t step, int64_t since_ns, tm_vec *hops) TM_MUST_CHECK;

/** The whole path to the last step's end; where not all steps count, to the last's of each stretch
 * of those that do, one behind the other. Replaces hops. False when memory is out. */
bool tm_replay_paths(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                     tm_vec *hops) TM_MUST_CHECK;

/** The rank with most of these paths, of several the lowest; -1 without a path. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_replay_busiest(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                            int64_t *rank, tm_error *err) TM_MUST_CHECK;

#endif

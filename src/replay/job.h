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
    int64_t *ns;           /* [n_sets][n_links], or of as many sets as are looked at */
    const int64_t **times; /* owned; [n_links] the times of each link in the words; only while a
                              few sets are looked at, one few after the other */
} tm_replay;

/** The weights of one rank, and of all others. */
typedef struct tm_replay_sets {
    uint8_t own, others;
} tm_replay_sets;

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
 * The same, of which a few sets are looked at at a time: none so far.
 * @param words  stay where they are while the job is in use
 * @param most   how many at a time
 */
tm_status tm_replay_open(const int64_t *words, size_t n_words, size_t most, tm_replay *out,
                         tm_error *err) TM_MUST_CHECK;

/** Has sets 0, 1, ... of the job be those from @p first on, [n] of them. */
void tm_replay_look(tm_replay *replay, size_t first, size_t n);

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

/** T: the time of the steps that count, of the times of tm_replay_forward. 0 without steps. */
int64_t tm_replay_total(const tm_replay *replay, const int64_t *ns);

/** So many ranks tm_replay_each takes at a time. */
enum { TM_REPLAY_LANES = 8 };

/**
 * T where one rank has other weights than the rest: of several ranks each in turn, in little more
 * than the time of one sweep.
 *
 * @param first    the place of the first rank
 * @param n        how many, TM_REPLAY_LANES at most
 * @param totals   [n] out
 * @return         false when memory is out
 */
bool tm_replay_each(const tm_replay *replay, tm_replay_sets sets, size_t first, size_t n,
                    int64_t *totals) TM_MUST_CHECK;

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

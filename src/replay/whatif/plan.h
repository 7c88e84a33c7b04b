/* Finds the most useful fixes: how much shorter the job's time T would be if some ranks had other
 * weights, and which ranks should be fixed one after another.
 *
 * A fix saves at most as much as it shortens the job's critical path, because T cannot be below the
 * new length of this path. So only fixes that shorten the path are evaluated. If a fix shortens the
 * path by less than another fix saves, it cannot be the better of the two. Each saving is computed
 * twice: with the recorded weights, and without unexplained time. */
#ifndef TMERGE_REPLAY_PLAN_H
#define TMERGE_REPLAY_PLAN_H

#include "replay/job/replay_job.h"

/** A weight set, and the same set without unexplained time. */
typedef struct tm_fix_sets {
    uint8_t plain, explained;
} tm_fix_sets;

/** A change of the weights of some ranks. */
typedef struct tm_fix {
    const uint32_t *ranks; /* [n] indices of ranks, each once; NULL: all ranks */
    size_t n;
    tm_fix_sets sets; /* new weights */
} tm_fix;

/** What a fix saves, compared with the recorded T. */
typedef struct tm_saving {
    int64_t path_ns;       /* how much the fix shortens the critical path: at least saved_ns */
    int64_t saved_ns;      /* T - T(fix) */
    int64_t saved_most_ns; /* as saved_ns, but without unexplained time */
} tm_saving;

/** A job, and working memory to evaluate fixes. */
typedef struct tm_fixer {
    const tm_replay *replay;
    tm_fix_sets recorded;
    int64_t total_ns;     /* recorded T */
    int64_t explained_ns; /* T with the recorded weights, but without unexplained time */
    int64_t *recorded_ns; /* owned; [n_operations + n_steps] times with recorded weights */
    /* owned; [n_operations + n_steps] times with the fix that was evaluated last; these include
     * unexplained time */
    int64_t *fixed_ns;
    int64_t *path_ns; /* owned; [n_sets][n_ranks] how much each set shortens the rank's part of the
                         path */
    uint8_t *set_of_rank; /* owned; [n_ranks] */
} tm_fixer;

/** Opens a fixer, which the caller must free. TM_OK; TM_ERR_FAULT. */
tm_status tm_fixer_open(const tm_replay *replay, tm_fix_sets recorded, tm_fixer *fixer,
                        tm_error *err) TM_MUST_CHECK;
void tm_fixer_free(tm_fixer *fixer);

/** Returns whether a fix shortens the critical path by at least 0.05 % of T. Otherwise, it cannot
 * save more than that, and need not be evaluated. */
bool tm_fixer_may_help(const tm_fixer *fixer, const tm_fix *fix);

/** Evaluates a fix in two sweeps over the job. Fixes do not depend on each other: each process can
 * evaluate some of them. */
tm_saving tm_fixer_try(tm_fixer *fixer, const tm_fix *fix);

/** An entry of the plan: the rank whose fix saves most if the ranks of earlier entries are
 * fixed. */
typedef struct tm_planned {
    uint32_t rank; /* index of the rank */
    /* what this entry and all earlier entries save together; but path_ns is only for this entry */
    tm_saving saving;
} tm_planned;

/**
 * Makes a plan of up to 8 ranks. The first rank is the rank whose fix saves most. (If several save
 * most, it is the lowest.) The second rank is the rank whose fix saves most if the first rank is
 * fixed, and so on. It may be that no single rank saves anything, because other ranks are equally
 * late. Then the next rank is the rank that shortens the path most. At the end, drops the last
 * ranks of the plan if together they add less than 0.5 % of T.
 *
 * @param peer  weight sets of a fixed rank
 * @param plan  vector of tm_planned; replaced
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_fixer_plan(tm_fixer *fixer, tm_fix_sets peer, tm_vec *plan,
                        tm_error *err) TM_MUST_CHECK;

#endif

/* What would help most: how much earlier the job would end, had some ranks other weights, and which
 * ranks one would take on one after the other.
 *
 * No fix saves more than it takes off the job's critical path, for that path remains, only shorter.
 * So what takes nothing off needs not be tried, and what takes off less than another has saved is
 * not better. A saving is told twice: with the weights as recorded, and with all that nothing
 * recorded explains taken out of them. */
#ifndef TMERGE_REPLAY_PLAN_H
#define TMERGE_REPLAY_PLAN_H

#include "replay/job.h"

/** Weights as they are, and without what nothing explains. */
typedef struct tm_fix_sets {
    uint8_t plain, explained;
} tm_fix_sets;

/** Some ranks get other weights. */
typedef struct tm_fix {
    const uint32_t *ranks; /* [n] their places, each once; NULL: all ranks */
    size_t n;
    tm_fix_sets sets; /* which they have instead of those recorded */
} tm_fix;

/** What a fix saves, of T as recorded. */
typedef struct tm_saving {
    int64_t path_ns;       /* what it takes off the critical path: at least saved_ns */
    int64_t saved_ns;      /* T - T(fix) */
    int64_t saved_most_ns; /* T - T(fix) without what nothing explains */
} tm_saving;

/** A job, and what is needed to try fixes. */
typedef struct tm_fixer {
    const tm_replay *replay;
    tm_fix_sets recorded;
    int64_t total_ns;     /* T as recorded */
    int64_t explained_ns; /* T as recorded, without what nothing explains */
    int64_t *recorded_ns; /* owned; [n_operations + n_steps] of tm_replay_forward, as recorded */
    int64_t *fixed_ns;    /* owned; the same of the last fix that was tried, plain */
    int64_t *path_ns;     /* owned; [n_sets][n_ranks] what a set takes off the path of each rank */
    uint8_t *set_of_rank; /* owned; [n_ranks] */
} tm_fixer;

/** @param fixer  to be freed by the caller  @return TM_OK; TM_ERR_FAULT */
tm_status tm_fixer_open(const tm_replay *replay, tm_fix_sets recorded, tm_fixer *fixer,
                        tm_error *err) TM_MUST_CHECK;
void tm_fixer_free(tm_fixer *fixer);

/** Whether a fix takes at least 0.05 % of T off the critical path, the most it can save: others
 * need not be tried. */
bool tm_fixer_may_help(const tm_fixer *fixer, const tm_fix *fix);

/** Tries a fix, in two sweeps. Fixes do not depend on one another: processes can share them. */
tm_saving tm_fixer_try(tm_fixer *fixer, const tm_fix *fix);

/** A place in the plan: the rank that saves most, those before it being fixed. */
typedef struct tm_planned {
    uint32_t rank; /* its place */
    tm_saving
        saving; /* of all up to this one, but path_ns: what it takes off the path they leave */
} tm_planned;

/**
 * Takes on the rank that saves most (of equals the lowest), then the next with that one fixed, up
 * to 8. Where none saves anything by itself, for others are as late, the one that takes most off
 * the path that is left is taken on. Those behind the last that adds 0.5 % of T are left out again.
 *
 * @param peer  the weights of a rank that is fixed
 * @param plan  of tm_planned; replaced
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_fixer_plan(tm_fixer *fixer, tm_fix_sets peer, tm_vec *plan,
                        tm_error *err) TM_MUST_CHECK;

#endif

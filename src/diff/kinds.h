/* The kinds of steps of two jobs, paired by name. */
#ifndef TMERGE_DIFF_KINDS_H
#define TMERGE_DIFF_KINDS_H

#include "sample.h"

enum { TM_KINDS_MAX = 2 * TM_STEP_KINDS_MAX };

/** A kind of steps. `of` has its index among the kinds of each side, or -1 if the side does not
 * have it. */
typedef struct tm_kind_pair {
    const char *name; /* NULL if the pair has all steps, whatever their kind */
    int of[2];
    double steps[2]; /* Number of whole steps. A step counts once, not once per rank. */
    double ns[2];
} tm_kind_pair;

typedef struct tm_kind_pairs {
    tm_step_kinds sides[2];
    tm_kind_pair pairs[TM_KINDS_MAX]; /* [n >= 1] in alphabetical order */
    int n;
} tm_kind_pairs;

/**
 * Pairs the kinds of two jobs by name. But if each job has at most one kind, all steps form one
 * pair, whatever the names of the kinds. This exception does not apply if one job has only prefills
 * and the other only decodes.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_kinds_pair(const tm_tables *const sides[2], tm_kind_pairs *out,
                        tm_error *err) TM_MUST_CHECK;

/** Returns whether steps are compared by kind. */
static inline bool tm_kinds_several(const tm_kind_pairs *kinds) {
    return kinds->pairs[0].name != NULL;
}

/** Selects the steps of a pair on one side, over all ranks. */
static inline tm_sample_ranks tm_kinds_steps(const tm_kind_pairs *kinds, int pair, int side) {
    const bool all = !kinds->pairs[pair].name;
    return (tm_sample_ranks){.kinds = all ? NULL : &kinds->sides[side],
                             .kind = kinds->pairs[pair].of[side]};
}

#endif

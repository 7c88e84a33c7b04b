/* What the members of a group did by themselves in each stretch (waits/stretches.h), and the units
 * that are compared. */
#ifndef TMERGE_OWN_TIMES_H
#define TMERGE_OWN_TIMES_H

#include <stdbool.h>

#include "tmerge/status.h"

/** Own times of a group. Owned; freed with tm_own_times_free. */
typedef struct tm_own_times {
    size_t n;         /* members */
    size_t n_rows;    /* stretches, in order; or units made of them */
    int64_t each;     /* steps or stretches that a row has; 1, but for blocks of them */
    int64_t *ns;      /* [n_rows][n] */
    int64_t *from;    /* [n_rows] number of its step, or of the operation that ends it; of a unit */
    int64_t *to;      /* [n_rows] of several: of the first and the last */
    int64_t *members; /* [n] global ranks, ascending; of hosts the lowest of each */
    bool parts;       /* rows are parts of steps, each with some of all that is done in it */
} tm_own_times;

tm_status tm_own_times_create(size_t n, size_t n_rows, tm_own_times *out,
                              tm_error *err) TM_MUST_CHECK;
void tm_own_times_free(tm_own_times *times);

/** Takes a member out. */
void tm_own_times_drop(tm_own_times *times, size_t member);

/** By how much each member exceeds the median of the others in a row [ns], n >= 2.
 * @param sorted  [n] scratch  @param out  [n] */
void tm_own_times_excess(const tm_own_times *times, size_t row, int64_t *sorted, int64_t *out);

/** What is independent enough to be compared by chance. */
typedef enum tm_unit_kind {
    TM_UNIT_STEP,
    TM_UNIT_STRETCH,
    TM_UNIT_PART, /* of a step: likewise, where rows are these; and where there is one step */
    TM_UNIT_BLOCK
} tm_unit_kind;

/**
 * Makes units of stretches. A stretch in which no member does a tenth of what the slowest does in
 * the mean stretch is joined with the next of its step, for places in it say little; at the end of
 * a step with the one before it. The first of:
 * 1. steps, where they are so many that a member is the last of all of them by chance in at most 1
 *    of 1,000 groups: n^-(S-1) <= 0.001 for n members and S whole steps;
 * 2. stretches, where there are 2 steps and what a member does does not hang together in a step:
 *    the squared sums of its scores over a step, its mean removed, are not among the largest tenth
 *    (of parts of steps, which tell it better, the largest 2 %) of 200 random orders of the steps
 * at each place; else steps;
 * 3. where there is one step or none, blocks of so many stretches that scores of neighbouring
 *    blocks tell nothing of one another (8 times the correlation time; single stretches where that
 *    is under 1.15).
 * Of more than two steps the last, and then the first, counts where it has more than half of the
 * usual number of stretches: all members lack the same ones, as the first of the recording.
 * Neighbours are joined where there are more than TM_UNITS_MAX cells, to TM_UNITS_LEAST at least;
 * what remains at the end, too few to be one, is left out.
 *
 * @param stretches  with the numbers of operations in from and to
 * @param steps      [n_rows] number of the step that each is in, -1 for none
 * @param units      set only on TM_OK; freed by the caller
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_own_times_units(const tm_own_times *stretches, const int64_t *steps,
                             tm_own_times *units, tm_unit_kind *unit, tm_error *err) TM_MUST_CHECK;

enum { TM_UNITS_MAX = 1 << 14, TM_UNITS_LEAST = 64 };

#endif

/* Own times of a group's members in each stretch (waits/stretches.h), and the units in which
 * members are compared. */
#ifndef TMERGE_OWN_TIMES_H
#define TMERGE_OWN_TIMES_H

#include <stdbool.h>

#include "tmerge/status.h"

/** Own times of a group's members. The caller frees them with tm_own_times_free. */
typedef struct tm_own_times {
    size_t n; /* number of members */
    /* number of rows, which are stretches, or units made from stretches, in order */
    size_t n_rows;
    int64_t each; /* number of steps or stretches in a row; above 1 if rows were joined */
    int64_t *ns;  /* [n_rows][n] */
    /* [n_rows] first step of the row; for stretches: number of the operation that ends the row's
     * first stretch */
    int64_t *from;
    /* [n_rows] last step of the row; for stretches: number of the operation that ends the row's
     * last stretch */
    int64_t *to;
    /* [n] global ranks, ascending; if the members are hosts: the lowest rank of each host */
    int64_t *members;
    bool parts; /* whether rows are parts of steps, each with a sample of all work of the step */
} tm_own_times;

tm_status tm_own_times_create(size_t n, size_t n_rows, tm_own_times *out,
                              tm_error *err) TM_MUST_CHECK;
void tm_own_times_free(tm_own_times *times);

/** Removes a member. */
void tm_own_times_drop(tm_own_times *times, size_t member);

/** Computes by how much each member takes longer than the median of the others in one row [ns].
 * There must be at least 2 members.
 * @param sorted  [n] scratch
 * @param out     [n] */
void tm_own_times_excess(const tm_own_times *times, size_t row, int64_t *sorted, int64_t *out);

/** Kinds of rows. Rows must be independent enough for statistics. */
typedef enum tm_unit_kind {
    TM_UNIT_STEP,
    TM_UNIT_STRETCH,
    TM_UNIT_PART, /* part of a step, if parts are independent or there is only one step */
    TM_UNIT_BLOCK
} tm_unit_kind;

/**
 * Makes units from stretches.
 *
 * First joins short stretches with others, because a short stretch shows little about ranks. A
 * stretch is short if no member takes a tenth of the slowest member's time in a mean stretch. It is
 * joined with the next stretch of its step or, at the end of a step, with the previous one. Then
 * the first rule that applies gives the units:
 * - The units are steps if there are many steps. There must be so many that by chance, in at most 1
 *   of 1,000 groups, some member is last in all of them: n^-(S-1) <= 0.001 for n members and S
 *   whole steps.
 * - If there are at least 2 steps, the units are stretches or steps. They are stretches if the
 *   times of a member are uncorrelated within a step. To test this, the centred scores of a member
 *   are summed over each step, and the sums are squared. The same is done for 200 random orders of
 *   the steps at each position. The times are uncorrelated if the result is not among the largest
 *   tenth of all results. For parts of steps, which are more sensitive, the limit is 2 %.
 * - If there is one step whose rows are parts, the units are these parts.
 * - Otherwise, the units are blocks of stretches. A block is so long that neighbouring blocks are
 *   uncorrelated: 8 times the correlation time. If the correlation time is under 1.15, the units
 *   are single stretches.
 *
 * If there are more than two steps, the first step counts only if it has more than half of the
 * usual number of stretches. The same applies to the last step. Neighbouring units are joined while
 * there are more than TM_UNITS_MAX cells (units x members), but at least TM_UNITS_LEAST units
 * remain. A remainder at the end that is too short for a unit is dropped.
 *
 * @param stretches  `from` and `to` are numbers of operations
 * @param steps      [n_rows] step number of each row, -1 for none
 * @param units      set only on TM_OK; the caller frees it
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_own_times_units(const tm_own_times *stretches, const int64_t *steps,
                             tm_own_times *units, tm_unit_kind *unit, tm_error *err) TM_MUST_CHECK;

enum { TM_UNITS_MAX = 1 << 14, TM_UNITS_LEAST = 64 };

#endif

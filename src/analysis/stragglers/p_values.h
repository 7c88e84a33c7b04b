/* Scores of the compared members in each unit, and the distribution of scores by chance. */
#ifndef TMERGE_P_VALUES_H
#define TMERGE_P_VALUES_H

#include <stdbool.h>

#include "own_times.h"

/**
 * Computes scores of own times. A score is the signed root of the distance from the row's median,
 * minus the mean of these roots over the row. So rows in which members differ much count more, and
 * single outliers count little.
 * @param out  [n_rows][n]
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_scores_rows(const tm_own_times *times, double *out, tm_error *err) TM_MUST_CHECK;

/** Units [first, end), in which a member may stand out. */
typedef struct tm_window {
    size_t first, end;
    /* Factor for sums of scores: 1 / the standard deviation of a sum under permutation, for members
     * that differ equally in all units. */
    double scale;
    double variance; /* variance of a member's sum of scores under permutation */
    /* Subtracted from a scaled sum: sqrt(2 + 2 ln(number of all units / units in the window)).
     * There are more short windows than long ones, so chance gives short windows higher values. */
    double handicap;
} tm_window;

/** Lists the windows. One window has all units. If there are at least 8 units, there are also
 * shorter windows, with 0.7^k of all units, but at least 3 units. A shorter window starts at every
 * quarter of its length. Scales and variances are not set.
 * @param out  room for all windows; or NULL, to get only their number
 * @return     number of windows */
size_t tm_windows(size_t n_units, tm_window *out);

/** Returns the i-th random number of the sequence for a seed (splitmix64). It is the same on every
 * machine. */
static inline uint64_t tm_draw(uint64_t seed, uint64_t i) {
    uint64_t z = seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/** Random orders, kept for later trials with the same number of members, because drawing an order
 * takes longer than using it. Must be zero-initialised. The first trial sets the sizes. The caller
 * frees it with tm_orders_free. */
typedef struct tm_orders {
    size_t n, n_units, n_draws;
    uint32_t *orders; /* owned; [n_draws][n_units][n] */
    bool *drawn;      /* owned; [n_draws][n_units] */
} tm_orders;

void tm_orders_free(tm_orders *orders);

/** Input of a permutation test: the scores of members in units. If members have classes, scores are
 * summed by class. Pointers are borrowed. */
typedef struct tm_trial {
    size_t n, n_units;
    const double *scores; /* [n_units][n] */
    /* [n] class of each member, below n_classes; NULL: each member is a class */
    const size_t *class_of;
    size_t n_classes;   /* n if class_of is NULL */
    tm_window *windows; /* [n_windows] */
    size_t n_windows;
} tm_trial;

/** Sets the scales and variances of a trial's windows. Returns the largest magnitude of a score. */
double tm_windows_scale(const tm_trial *trial);

/** Returns an upper bound (Bennett's inequality) of the probability that a permutation reaches a
 * height for any member and window. It is far too high, but makes draws unnecessary for a member
 * that clearly stands out.
 * @param largest  from tm_windows_scale */
double tm_height_bound(const tm_trial *trial, double largest, double height);

/** Computes prefix sums over the units for each class. The value of a class in a unit is the sum of
 * its members' scores, divided by the root of the number of members.
 * @param out  [n_units + 1][n_classes], starting with 0
 * @return     TM_OK; TM_ERR_FAULT */
tm_status tm_scores_sums(const tm_trial *trial, double *out, tm_error *err) TM_MUST_CHECK;

/** Returns the height: how far a class stands out in a window. @p sums is from tm_scores_sums. */
static inline double tm_window_height(const tm_window *w, const double *sums, size_t n_classes,
                                      size_t class) {
    double sum = sums[w->end * n_classes + class] - sums[w->first * n_classes + class];
    return sum * w->scale - w->handicap;
}

/** The distribution by chance of the largest height of any member (or class) in any window. Each
 * draw permutes the members of each unit. Must be zero-initialised; the caller frees it with
 * tm_chance_free. */
typedef struct tm_chance {
    size_t n_draws;
    double *largest;   /* [n_draws] ascending */
    tm_orders *orders; /* NULL: orders are not kept; borrowed */
} tm_chance;

/** Draws until there are @p n_draws draws. Draw number i is the same in every run. Returns TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_chance_draw(tm_chance *chance, const tm_trial *trial, size_t n_draws,
                         tm_error *err) TM_MUST_CHECK;

void tm_chance_free(tm_chance *chance);

/** Returns how many draws reach a height. */
size_t tm_chance_reach(const tm_chance *chance, double height);

#endif

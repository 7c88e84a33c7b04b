/* Scores of members that are compared in units, and what chance makes of them. */
#ifndef TMERGE_SCORES_H
#define TMERGE_SCORES_H

#include "own_times.h"

/**
 * Scores own times: the root of how far each is above or below the median of its row, less the mean
 * of the row. So a row that tells members apart counts for more, and a single odd time for little.
 * @param out  [n_rows][n]
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_scores_rows(const tm_own_times *times, double *out, tm_error *err) TM_MUST_CHECK;

/** Units [first, end) in which a member may stand out. */
typedef struct tm_window {
    size_t first, end;
    double scale;    /* of a sum of scores: 1 / its standard deviation where they are permuted, as
                        if all units told members apart as well as they do in the mean */
    double handicap; /* taken from that, sqrt(2 + 2 ln(all units / its units)): of short windows
                        there are more, and by chance one stands out more */
} tm_window;

/** The windows in which a member may stand out: all units; from 8 units also 0.7^k of them, at
 * least 3, at shifts of a quarter of that. Scales are not set.
 * @param out  at least as many as there are, or NULL  @return how many */
size_t tm_windows(size_t n_units, tm_window *out);

/** Numbers that are the same wherever they are drawn: the i-th of a seed (splitmix64). */
static inline uint64_t tm_draw(uint64_t seed, uint64_t i) {
    uint64_t z = seed + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/** What is drawn: members of units, and in which of several classes each is, whose scores are
 * added; one by one where class_of is NULL. Borrowed. */
typedef struct tm_trial {
    size_t n, n_units;
    const double *scores;   /* [n_units][n] */
    const size_t *class_of; /* [n] below n_classes */
    size_t n_classes;       /* n where class_of is NULL */
    tm_window *windows;     /* [n_windows] */
    size_t n_windows;
} tm_trial;

/** Sets the scales of a trial's windows. */
void tm_windows_scale(const tm_trial *trial);

/** Sums up the units' scores by class, each divided by the root of its members.
 * @param out  [n_units + 1][n_classes] of the units before
 * @return     TM_OK; TM_ERR_FAULT */
tm_status tm_scores_sums(const tm_trial *trial, double *out, tm_error *err) TM_MUST_CHECK;

/** How much a class stands out in a window. @param sums  of tm_scores_sums */
static inline double tm_window_height(const tm_window *w, const double *sums, size_t n_classes,
                                      size_t class) {
    double sum = sums[w->end * n_classes + class] - sums[w->first * n_classes + class];
    return sum * w->scale - w->handicap;
}

/** What the largest height over members (or classes) and windows is by chance: in each draw the
 * members of each unit are permuted. Zero is a valid start; freed with tm_chance_free. */
typedef struct tm_chance {
    size_t n_draws;
    double *largest; /* [n_draws] ascending */
} tm_chance;

/** Draws until there are @p n_draws. The i-th draw is the same in every run. TM_OK; TM_ERR_FAULT.
 */
tm_status tm_chance_draw(tm_chance *chance, const tm_trial *trial, size_t n_draws,
                         tm_error *err) TM_MUST_CHECK;
void tm_chance_free(tm_chance *chance);

/** How many draws reach a height. */
size_t tm_chance_reach(const tm_chance *chance, double height);

#endif

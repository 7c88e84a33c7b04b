/* Scores of members that are compared in units, and what chance makes of them. */
#ifndef TMERGE_SCORES_H
#define TMERGE_SCORES_H

#include "own_times.h"

/** Two scores of each place in a unit, of mean 0 and mean square 1 over the members. */
typedef enum tm_score {
    TM_SCORE_NORMAL, /* the normal quantile of (place - 3/8) / (n + 1/4), place from 1 */
    TM_SCORE_LAST,   /* of the last against all others */
    TM_N_SCORES
} tm_score;

/** Fills both scores of each place [n], from the least own time to the largest; n >= 2. */
void tm_scores_places(size_t n, double *normal, double *last);

/**
 * Scores the members of each row by their place in it; equal ones share their places' mean.
 * @param out  [n_rows][n]
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_scores_rows(const tm_own_times *times, tm_score score, double *out,
                         tm_error *err) TM_MUST_CHECK;

/** Units [first, end). */
typedef struct tm_window {
    size_t first, end;
} tm_window;

/** The windows in which a member may stand out: all units; from 8 units also 0.7^k of them, at
 * least 3, at shifts of a quarter of that.
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
    const size_t *class_of; /* [n] below n_classes */
    size_t n_classes;       /* n where class_of is NULL */
} tm_trial;

/** Adds the members' scores of each row by class, each sum divided by the root of its members.
 * @param scores  [n_units][n]  @param out  [n_units][n_classes] */
void tm_scores_by_class(const tm_trial *trial, const double *scores, double *out);

/** What the largest sum of scores over members (or classes) and windows, divided by the root of the
 * window's units, is by chance: in each draw the members of each unit are permuted. Zero is a valid
 * start; freed with tm_chance_free. */
typedef struct tm_chance {
    size_t n_draws;
    double *largest[TM_N_SCORES]; /* [n_draws] ascending */
} tm_chance;

/** Draws until there are @p n_draws. The i-th draw is the same in every run. TM_OK; TM_ERR_FAULT.
 */
tm_status tm_chance_draw(tm_chance *chance, const tm_trial *trial, size_t n_draws,
                         tm_error *err) TM_MUST_CHECK;
void tm_chance_free(tm_chance *chance);

/** How many draws reach a value. */
size_t tm_chance_reach(const tm_chance *chance, tm_score score, double value);

#endif

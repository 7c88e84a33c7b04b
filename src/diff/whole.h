/* Means over the steps of a recording, with their errors: of the usual steps, and of all steps. If
 * some steps take much longer than the others, the usual steps alone do not tell how fast the job
 * is. */
#ifndef TMERGE_DIFF_WHOLE_H
#define TMERGE_DIFF_WHOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

/** A step, and the mean of a figure over the ranks that have the step. */
typedef struct tm_step_mean {
    int64_t step;
    double mean;
    size_t ranks;
} tm_step_mean;

typedef struct tm_estimate {
    double mean, error; /* error: standard error of the mean; NAN if unknown */
    double freedom;     /* degrees of freedom of error */
} tm_estimate;

/** All steps of a recording but the first, which may be slow because the recording starts, and but
 * those that fewer ranks have than others: in one step, the times of ranks may differ much. */
typedef struct tm_whole {
    tm_estimate all; /* if steps are periodic: of a whole period */
    size_t n;        /* number of steps; 0: too few for an error */
    /* Every period-th step, and no other, is longer (or shorter) than the rest. 0: not so. */
    size_t period;
    double longer; /* by how much longer these steps are than the others; below 0: shorter */
} tm_whole;

/** Which means decide on a change. */
typedef enum tm_basis {
    TM_BASIS_USUAL,
    TM_BASIS_ODD,     /* all steps, because odd steps change the mean; this may be chance */
    TM_BASIS_PERIODS, /* all steps, because steps are periodic */
    /* None: one recording has periodic steps that change its mean, and the other recording is
     * shorter than the period. */
    TM_BASIS_MISSED
} tm_basis;

/** Returns the trimmed mean of [n >= 5] values in the order of steps: without the tenth (rounded
 * up) at either end. The error is computed from the winsorized deviations (Yuen 1974). A single odd
 * step does not affect them. @param sorted  the same values, ascending */
tm_estimate tm_estimate_trimmed(const double *values, const double *sorted, size_t n);

/** Returns by how much the means may differ by chance: in 1 of 400 cases b - a exceeds this, and in
 * 1 of 400 cases a - b. */
double tm_estimate_noise(const tm_estimate *a, const tm_estimate *b);

/**
 * Measures a recording.
 * @param steps  [n] steps in order
 * @return       TM_OK; TM_ERR_FAULT if out of memory
 */
tm_status tm_whole_measure(const tm_step_mean *steps, size_t n, tm_whole *out,
                           tm_error *err) TM_MUST_CHECK;

/** Replaces the values by scale / value. */
void tm_estimate_invert(tm_estimate *estimate, double scale);

/**
 * Decides which means tell how the job changed. The usual steps do, unless steps are periodic or
 * all steps changed otherwise: neither by the same difference nor by the same factor.
 * @param usual  values of the usual steps of A and of B
 * @param noise  by how much these may differ by chance
 */
tm_basis tm_whole_decides(const tm_whole *a, const tm_whole *b, const double usual[2],
                          double noise);

/** Returns whether two changes are both below @p low, both above @p high, or both between. If so,
 * odd steps do not matter, and the usual steps may decide. */
static inline bool tm_whole_agrees(double usual, double whole, double low, double high) {
    return (usual < low) == (whole < low) && (usual > high) == (whole > high);
}

/** Returns what the column `over_steps` says of a change. @param usual  word for the usual steps */
static inline const char *tm_whole_word(tm_basis basis, const char *usual) {
    return basis == TM_BASIS_USUAL ? usual : basis == TM_BASIS_ODD ? "mean" : "mean of periods";
}

/** Sets @p pair to the means over all steps of A and of B. If neither is periodic, both vary as
 * much as the one that varies more: the other one may lack rare long steps by chance. */
void tm_whole_pair(const tm_whole *a, const tm_whole *b, tm_estimate pair[2]);

#endif

/* Normal equations of the clock fit: exact sums, Cholesky solution. */
#ifndef TMERGE_SOLVE_H
#define TMERGE_SOLVE_H

#include "clock/exact.h"

/** An anchor of the current event: the end of one domain, on the domain's clock. */
typedef struct tm_anchor {
    size_t row;   /* index into this process's rows */
    size_t place; /* index among the anchors of the event, counting those that tm_fit_compress left
                     out */
    int32_t domain; /* index of the domain; ascending within an event */
    double x;       /* (time - middle of the domain's window) / reach */
    double y;       /* [ns] true time according to the current fit */
    double weight;  /* [1/ns^2] */
} tm_anchor;

/** Symmetric system of equations with two unknowns for each domain: a shift [ns], and a change of
 * rate times the reach [ns]. Unknown 2h is the shift of domain h, unknown 2h + 1 its rate. */
typedef struct tm_normal {
    int32_t n; /* number of domains */
    /* [tm_normal_size(n)] Sums as integers, owned. The blocks of the matrix come first, then the
     * right side [2n]. */
    int64_t *fixed;
    /* Lower triangle of the matrix, row by row. tm_normal_factor replaces the matrix by its factor.
     * Owned. */
    double *lower;
    double *right;  /* [2n] Right side. tm_normal_solve replaces it by the solution. Owned. */
    double *column; /* [4n] scratch; owned */
} tm_normal;

/** Returns the index of a 2 x 2 block of the lower triangle: block (g, h), with h <= g. */
static inline size_t tm_normal_block(size_t g, size_t h) {
    return g * (g + 1) / 2 + h;
}

/** Returns the number of entries of `fixed`. */
static inline size_t tm_normal_size(int32_t n) {
    return tm_normal_block((size_t)n, 0) * 4 + 2 * (size_t)n;
}

/** Returns entry (r, c) of `lower`, with c <= r. */
static inline double *tm_normal_at(tm_normal *normal, size_t r, size_t c) {
    return normal->lower + r * (r + 1) / 2 + c;
}

/** Allocates the members. Returns false if out of memory or if @p n is too large. The caller must
 * call tm_normal_free in either case. */
bool tm_normal_create(tm_normal *normal, int32_t n);
void tm_normal_free(tm_normal *normal);

/** Zeroes `fixed`. */
void tm_normal_clear(tm_normal *normal);

/**
 * Adds one event and eliminates the unknown common end of its anchors. With J = (1, x) for each
 * anchor, the matrix grows by the sum of w J J' minus (sum w J)(sum w J)' / sum w. The right side
 * grows by the sum of w (mean y - y) J.
 * @param scales  the scales of the matrix and of the right side, see tm_exact_scale
 */
void tm_normal_add(tm_normal *normal, const tm_anchor *anchors, size_t n, const double scales[2]);

/** Sets `lower` and `right` from `fixed`, which must have been summed over all processes. */
void tm_normal_expand(tm_normal *normal, const double scales[2]);

/** Removes unknown @p r, so that its solution is 0. */
void tm_normal_pin(tm_normal *normal, size_t r);

/** Factorises `lower` in place. In directions that the matrix does not determine, the solution is
 * 0. */
void tm_normal_factor(tm_normal *normal);

/** Replaces `right` by the solution. Needs the factorisation. */
void tm_normal_solve(tm_normal *normal);

/** Computes the variances of a domain's shift and rate, and their covariance. Needs the
 * factorisation. */
void tm_normal_covariance(tm_normal *normal, int32_t domain, double *shift, double *both,
                          double *rate);

#endif

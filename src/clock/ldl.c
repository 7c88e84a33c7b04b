#include "ldl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

void tm_ldl_free(tm_ldl *ldl) {
    free(ldl->entry);
    free(ldl->diagonal);
    free(ldl->row_first);
    free(ldl->col);
    free(ldl->from);
    free(ldl->first);
    free(ldl->row);
    free(ldl->value);
    free(ldl->pivot);
    free(ldl->inverse);
    free(ldl->variance);
    free(ldl->parent);
    free(ldl->mark);
    free(ldl->pattern);
    free(ldl->end);
    free(ldl->work);
    *ldl = (tm_ldl){0};
}

static bool take_rows(tm_ldl *ldl, size_t n, size_t n_places) {
    ldl->entry = calloc(n_places + 1, sizeof *ldl->entry);
    ldl->col = calloc(n_places + 1, sizeof *ldl->col);
    ldl->from = calloc(n_places + 1, sizeof *ldl->from);
    ldl->row_first = calloc(n + 2, sizeof *ldl->row_first);
    ldl->first = calloc(n + 1, sizeof *ldl->first);
    ldl->diagonal = calloc(n + 1, sizeof *ldl->diagonal);
    ldl->pivot = calloc(n + 1, sizeof *ldl->pivot);
    ldl->variance = calloc(n + 1, sizeof *ldl->variance);
    ldl->parent = calloc(n + 1, sizeof *ldl->parent);
    ldl->mark = calloc(n + 1, sizeof *ldl->mark);
    ldl->pattern = calloc(n + 1, sizeof *ldl->pattern);
    ldl->end = calloc(n + 1, sizeof *ldl->end);
    ldl->work = calloc(n + 1, sizeof *ldl->work);
    return ldl->entry && ldl->col && ldl->from && ldl->row_first && ldl->first && ldl->diagonal &&
           ldl->pivot && ldl->variance && ldl->parent && ldl->mark && ldl->pattern && ldl->end &&
           ldl->work;
}

/* Sorts the places of the entries by row. */
static void set_rows(tm_ldl *ldl, const tm_ldl_place *places, size_t n_places) {
    /* [row] During the last loop: where the next place of the row goes. After the loop: end of the
     * row. */
    size_t *next = ldl->row_first + 1;
    for (size_t i = 0; i < n_places; i++)
        next[places[i].row + 1]++;
    for (size_t r = 1; r <= ldl->n; r++)
        next[r] += next[r - 1];
    for (size_t i = 0; i < n_places; i++) {
        size_t at = next[places[i].row]++;
        ldl->col[at] = places[i].col;
        ldl->from[at] = i;
    }
}

/* Finds the columns in which row r of the factor has nonzeros. These are all columns on the paths
 * in the elimination tree from the places of row r to r. Stores each column once at the end of
 * `pattern`, ascending along each path. Returns the index in `pattern` of the first stored
 * column. */
static size_t reach(tm_ldl *ldl, size_t r) {
    size_t top = ldl->n;
    ldl->mark[r] = (uint32_t)r;
    for (size_t p = ldl->row_first[r]; p < ldl->row_first[r + 1]; p++) {
        size_t n = 0;
        for (uint32_t c = ldl->col[p]; ldl->mark[c] != r; c = ldl->parent[c]) {
            if (ldl->parent[c] == NONE)
                ldl->parent[c] = (uint32_t)r;
            ldl->pattern[n++] = c;
            ldl->mark[c] = (uint32_t)r;
        }
        while (n > 0)
            ldl->pattern[--top] = ldl->pattern[--n];
    }
    return top;
}

static void clear_marks(tm_ldl *ldl) {
    for (size_t i = 0; i < ldl->n; i++)
        ldl->mark[i] = NONE;
}

/* Determines the fill-in. */
static bool set_columns(tm_ldl *ldl) {
    for (size_t i = 0; i < ldl->n; i++)
        ldl->parent[i] = NONE;
    clear_marks(ldl);
    for (size_t r = 0; r < ldl->n; r++)
        for (size_t p = reach(ldl, r); p < ldl->n; p++)
            ldl->first[ldl->pattern[p] + 1]++;
    for (size_t c = 0; c < ldl->n; c++)
        ldl->first[c + 1] += ldl->first[c];
    size_t n = ldl->first[ldl->n] + 1;
    ldl->row = calloc(n, sizeof *ldl->row);
    ldl->value = calloc(n, sizeof *ldl->value);
    ldl->inverse = calloc(n, sizeof *ldl->inverse);
    return ldl->row && ldl->value && ldl->inverse;
}

bool tm_ldl_create(tm_ldl *ldl, size_t n, const tm_ldl_place *places, size_t n_places) {
    *ldl = (tm_ldl){.n = n};
    if (n >= NONE || !take_rows(ldl, n, n_places))
        return false;
    set_rows(ldl, places, n_places);
    return set_columns(ldl);
}

/* A pivot below `nothing` times its diagonal is a rounding error and counts as 0. */
static double pivot_of(double left, double diagonal) {
    const double nothing = 1e-13, infinite = 1e300;
    return fabs(left) > nothing * fabs(diagonal) && (left > 0.0) == (diagonal > 0.0) ? left
                                                                                     : infinite;
}

void tm_ldl_factor(tm_ldl *ldl) {
    double *y = ldl->work;
    memset(y, 0, ldl->n * sizeof *y);
    memcpy(ldl->end, ldl->first, ldl->n * sizeof *ldl->end);
    clear_marks(ldl);
    for (size_t r = 0; r < ldl->n; r++) {
        double left = ldl->diagonal[r];
        for (size_t p = ldl->row_first[r]; p < ldl->row_first[r + 1]; p++)
            y[ldl->col[p]] = ldl->entry[ldl->from[p]];
        for (size_t k = reach(ldl, r); k < ldl->n; k++) {
            uint32_t c = ldl->pattern[k];
            double value = y[c], part = value / ldl->pivot[c];
            y[c] = 0.0;
            for (size_t p = ldl->first[c]; p < ldl->end[c]; p++)
                y[ldl->row[p]] -= ldl->value[p] * value;
            left -= part * value;
            ldl->row[ldl->end[c]] = (uint32_t)r;
            ldl->value[ldl->end[c]++] = part;
        }
        ldl->pivot[r] = pivot_of(left, ldl->diagonal[r]);
    }
}

void tm_ldl_solve(const tm_ldl *ldl, double *x) {
    for (size_t c = 0; c < ldl->n; c++)
        for (size_t p = ldl->first[c]; p < ldl->first[c + 1]; p++)
            x[ldl->row[p]] -= ldl->value[p] * x[c];
    for (size_t c = ldl->n; c-- > 0;) {
        x[c] /= ldl->pivot[c];
        for (size_t p = ldl->first[c]; p < ldl->first[c + 1]; p++)
            x[c] -= ldl->value[p] * x[ldl->row[p]];
    }
}

/* The inverse Z satisfies Z L = (D L')^-1. The right side is upper triangular, with the diagonal 1
 * / D. So each column of Z can be computed from later columns. To compute Z at the nonzeros of the
 * factor, other values of Z are needed only at such nonzeros. */
void tm_ldl_invert(tm_ldl *ldl) {
    double *factor = ldl->work, *sum = ldl->diagonal; /* no longer needed */
    clear_marks(ldl);
    for (size_t c = ldl->n; c-- > 0;) {
        size_t from = ldl->first[c], to = ldl->first[c + 1];
        for (size_t p = from; p < to; p++) {
            ldl->mark[ldl->row[p]] = (uint32_t)c;
            factor[ldl->row[p]] = ldl->value[p];
            sum[ldl->row[p]] = 0.0;
        }
        for (size_t p = from; p < to; p++) {
            uint32_t k = ldl->row[p];
            double value = ldl->value[p], own = ldl->variance[k] * value;
            for (size_t q = ldl->first[k]; q < ldl->first[k + 1]; q++) {
                uint32_t r = ldl->row[q];
                if (ldl->mark[r] != c)
                    continue;
                sum[r] -= ldl->inverse[q] * value;
                own += ldl->inverse[q] * factor[r];
            }
            sum[k] -= own;
        }
        ldl->variance[c] = 1.0 / ldl->pivot[c];
        for (size_t p = from; p < to; p++) {
            ldl->inverse[p] = sum[ldl->row[p]];
            ldl->variance[c] -= ldl->value[p] * ldl->inverse[p];
        }
    }
}

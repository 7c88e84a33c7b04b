/* Sparse symmetric systems: L D L' factorisation, solution, and those entries of the inverse where
 * the factor has nonzeros. */
#ifndef TMERGE_LDL_H
#define TMERGE_LDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A place of the matrix below the diagonal: col < row. No place occurs twice. */
typedef struct tm_ldl_place {
    uint32_t row, col;
} tm_ldl_place;

/** A matrix and its factor. Unknowns are eliminated in order; the positions of the factor's
 * nonzeros are found once, at creation. */
typedef struct tm_ldl {
    size_t n;
    double *entry;    /* [number of places] set by the caller; owned */
    double *diagonal; /* [n] set by the caller, negative where the pivot is to be negative; owned */
    /* The places by row: */
    size_t *row_first; /* [n + 1] */
    uint32_t *col;     /* column of each place */
    size_t *from;      /* index of each place in `entry` */
    /* The factor by columns, without its diagonal: */
    size_t *first;    /* [n + 1] */
    uint32_t *row;    /* ascending within a column */
    double *value;    /* of L */
    double *pivot;    /* [n] of D */
    double *inverse;  /* entries of the inverse where the factor has nonzeros */
    double *variance; /* [n] diagonal of the inverse */
    uint32_t *parent; /* [n] parent column in the elimination tree */
    uint32_t *mark;   /* [n] scratch, like the next three */
    uint32_t *pattern;
    size_t *end;
    double *work;
} tm_ldl;

/** Allocates. False if out of memory; the caller frees in any case. @p places in any order */
bool tm_ldl_create(tm_ldl *ldl, size_t n, const tm_ldl_place *places, size_t n_places);
void tm_ldl_free(tm_ldl *ldl);

/** Factorises `entry` and `diagonal`. Undetermined directions get the solution 0. */
void tm_ldl_factor(tm_ldl *ldl);

/** After the factorisation: replaces the right side @p x [n] by the solution. */
void tm_ldl_solve(const tm_ldl *ldl, double *x);

/** After the factorisation: sets `variance` and `inverse` (Takahashi, Fagan and Chin 1973). */
void tm_ldl_invert(tm_ldl *ldl);

#endif

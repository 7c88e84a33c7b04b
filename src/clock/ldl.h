/* Sparse symmetric systems: factorisation L D L', solution, and the entries of the inverse where
 * the factor has nonzeros. */
#ifndef TMERGE_LDL_H
#define TMERGE_LDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Place of an entry of the matrix below the diagonal: col < row. No place occurs twice. */
typedef struct tm_ldl_place {
    uint32_t row, col;
} tm_ldl_place;

/** A matrix and its factor. Unknowns are eliminated in order. The positions of the factor's
 * nonzeros are found once, at creation. */
typedef struct tm_ldl {
    size_t n;
    double *entry; /* [number of places] set by the caller; owned */
    /* [n] set by the caller, each with the sign that its pivot will have; owned */
    double *diagonal;
    /* The places of the entries, row after row: */
    size_t *row_first; /* [n + 1] */
    uint32_t *col;     /* [number of places] column of each place */
    size_t *from;      /* [number of places] index of each place in `entry` */
    /* The factor by columns, without its diagonal: */
    size_t *first;    /* [n + 1] */
    uint32_t *row;    /* ascending within a column */
    double *value;    /* entries of L */
    double *pivot;    /* [n] diagonal of D */
    double *inverse;  /* entries of the inverse where the factor has nonzeros */
    double *variance; /* [n] diagonal of the inverse */
    uint32_t *parent; /* [n] parent column in the elimination tree */
    uint32_t *mark;   /* [n] scratch, like the next three */
    uint32_t *pattern;
    size_t *end;
    double *work;
} tm_ldl;

/** Allocates the members. @p places may have any order. Returns false if out of memory. The caller
 * calls tm_ldl_free in either case. */
bool tm_ldl_create(tm_ldl *ldl, size_t n, const tm_ldl_place *places, size_t n_places);
void tm_ldl_free(tm_ldl *ldl);

/** Factorises `entry` and `diagonal`. In directions that the matrix does not determine, the
 * solution is 0. */
void tm_ldl_factor(tm_ldl *ldl);

/** Replaces the right side @p x [n] by the solution. Needs the factorisation. */
void tm_ldl_solve(const tm_ldl *ldl, double *x);

/** Sets `variance` and `inverse` (Takahashi, Fagan and Chin 1973). Needs the factorisation. */
void tm_ldl_invert(tm_ldl *ldl);

#endif

/* Sparse symmetric systems: factorised as L D L', solved, and inverted where the factor stands. */
#ifndef TMERGE_LDL_H
#define TMERGE_LDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A place below the diagonal: col < row. Each stands once. */
typedef struct tm_ldl_place {
    uint32_t row, col;
} tm_ldl_place;

/**
 * A matrix and its factor. Unknowns are eliminated in their order; what that fills in is found
 * once, when it is created.
 */
typedef struct tm_ldl {
    size_t n;
    double *entry;    /* [of the places] set by the caller; owned */
    double *diagonal; /* [n] set by the caller: below 0 where its pivot is to be; owned */
    /* The places by row. */
    size_t *row_first; /* [n + 1] */
    uint32_t *col;     /* of a place in a row, and */
    size_t *from;      /* which of the entries it has */
    /* The factor by columns, without its diagonal. */
    size_t *first;    /* [n + 1] */
    uint32_t *row;    /* ascending in a column */
    double *value;    /* of L */
    double *pivot;    /* [n] of D */
    double *inverse;  /* of the inverse, where the factor has a value */
    double *variance; /* [n] its diagonal */
    uint32_t *parent; /* [n] of a column in the tree of elimination */
    uint32_t *mark;   /* [n] scratch, as the next three */
    uint32_t *pattern;
    size_t *end;
    double *work;
} tm_ldl;

/** False when memory is out; freed by the caller in any case. @p places in any order */
bool tm_ldl_create(tm_ldl *ldl, size_t n, const tm_ldl_place *places, size_t n_places);
void tm_ldl_free(tm_ldl *ldl);

/** Factorises `entry` and `diagonal`. A direction that nothing determines gets the solution 0. */
void tm_ldl_factor(tm_ldl *ldl);

/** After the factorisation: the right side @p x [n] becomes the solution. */
void tm_ldl_solve(const tm_ldl *ldl, double *x);

/** After the factorisation: sets `variance` and `inverse` (Takahashi, Fagan and Chin 1973). */
void tm_ldl_invert(tm_ldl *ldl);

#endif

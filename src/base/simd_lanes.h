/* SIMD operations on rows of times. Rows are multiples of TM_LANES wide. Each operation exists for
 * several instruction sets. */
#ifndef TMERGE_SIMD_LANES_H
#define TMERGE_SIMD_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TM_LANES = 8 };
#define TM_LANES_FAR (INT64_MAX / 4)

typedef struct tm_lanes {
    const char *name; /* name of the instruction set */
    /** out[row][i] = ns[row][i] + by[i], for @p rows rows. @p out and @p ns may be the same. @p by
     * has a pointer for each block of TM_LANES numbers. */
    void (*add)(int64_t *out, const int64_t *ns, size_t rows, const int64_t *const *by,
                size_t width);
    /** ns[i] = max(ns[i], b[i] + by[i]); least[i] = min(least[i], ns[i] - b[i]), where least[i]
     * starts at TM_LANES_FAR if @p first is set. Returns a bit mask: bit k is set if any ns[i] with
     * i = k modulo TM_LANES increased */
    uint8_t (*raise)(int64_t *ns, const int64_t *b, const int64_t *by, int64_t *least, bool first,
                     size_t width);
    /** ns[i] = b[i] + by[i]; `least` is updated as by raise */
    void (*set)(int64_t *ns, const int64_t *b, const int64_t *by, int64_t *least, bool first,
                size_t width);
    /** out[i] = a[i] + by[i] - b[i]; returns whether any out[i] > most[i] */
    bool (*apart)(int64_t *out, const int64_t *a, const int64_t *const *by, const int64_t *b,
                  const int64_t *most, size_t width);
    /** ns[i] = max(ns[i], a[i] + by[i]), for any [n]. If @p a is NULL, all a[i] count as 0. */
    void (*reach)(int64_t *ns, const int64_t *a, const int64_t *by, size_t n);
    /** Returns the largest sum over @p size adjacent rows of any column; 0 if all sums are
     * negative. The first of these rows is one of the [n] rows in @p first. @p sums are the prefix
     * sums of the columns, [rows + 1][width]. None is NaN. */
    double (*largest)(const double *sums, size_t width, size_t size, const size_t *first, size_t n);
    /** out[i] = a[i] + v[order[i]], for any [n] reals; out overlaps no other array */
    void (*pick)(double *out, const double *a, const double *v, const uint32_t *order, size_t n);
    /** Returns a bit mask: bit k is set if ns[i] > a[i] + b[i] for any i = k modulo TM_LANES. */
    uint8_t (*above)(const int64_t *ns, const int64_t *a, const int64_t *b, size_t width);
} tm_lanes;

/** Returns all implementations that this processor supports, the fastest last. */
const tm_lanes *const *tm_lanes_all(size_t *n);

const tm_lanes *tm_lanes_best(void);

/** Returns the width of a row that holds n numbers. */
static inline size_t tm_lanes_width(size_t n) {
    return (n + TM_LANES - 1) / TM_LANES * TM_LANES;
}

#endif

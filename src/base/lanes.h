/* Rows of times side by side. Processors do the same to several of a row at once: rows are whole
 * multiples of TM_LANES wide, and what is done to them is there for each instruction set. */
#ifndef TMERGE_LANES_H
#define TMERGE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TM_LANES = 8 };
#define TM_LANES_FAR (INT64_MAX / 4)

typedef struct tm_lanes {
    const char *name; /* of the instruction set */
    /** out[row][i] = ns[row][i] + by[i], of [rows]; out may be ns. Numbers of by stand TM_LANES at
     * a time, wherever those are */
    void (*add)(int64_t *out, const int64_t *ns, size_t rows, const int64_t *const *by,
                size_t width);
    /** ns[i] = the larger of ns[i] and b[i] + by[i]; least[i] = the smallest of least[i], or
     * TM_LANES_FAR where these begin anew, and ns[i] - b[i]; bit k: whether any became larger, of i
     * that are k modulo TM_LANES */
    uint8_t (*raise)(int64_t *ns, const int64_t *b, const int64_t *by, int64_t *least, bool anew,
                     size_t width);
    /** ns[i] = b[i] + by[i]; least as with raise */
    void (*set)(int64_t *ns, const int64_t *b, const int64_t *by, int64_t *least, bool anew,
                size_t width);
    /** out[i] = a[i] + by[i] - b[i]; whether any is above most[i] */
    bool (*apart)(int64_t *out, const int64_t *a, const int64_t *const *by, const int64_t *b,
                  const int64_t *most, size_t width);
    /** ns[i] = the larger of ns[i] and a[i] + by[i], of any [n]; @p a  NULL: zeros */
    void (*reach)(int64_t *ns, const int64_t *a, const int64_t *by, size_t n);
    /** bit k: whether any ns[i] > a[i] + b[i], of i that are k modulo TM_LANES */
    uint8_t (*above)(const int64_t *ns, const int64_t *a, const int64_t *b, size_t width);
} tm_lanes;

/** All that this processor has, the fastest last. */
const tm_lanes *const *tm_lanes_all(size_t *n);

/** The fastest. */
const tm_lanes *tm_lanes_best(void);

/** The width of a row that holds so many. */
static inline size_t tm_lanes_width(size_t n) {
    return (n + TM_LANES - 1) / TM_LANES * TM_LANES;
}

#endif

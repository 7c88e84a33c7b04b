/* Sets of half-open time intervals and the lengths of their intersections. */
#ifndef TMERGE_INTERVALS_H
#define TMERGE_INTERVALS_H

#include <stdint.h>

#include "vec.h"

typedef struct tm_interval {
    int64_t begin_ns, end_ns; /* [begin, end) */
} tm_interval;

/** A vector of tm_interval. tm_intervals_add and tm_intervals_normalise accept any set. All other
 * functions need a normal set: the intervals ascend, and none of them is empty or touches
 * another. */
typedef tm_vec tm_intervals;

#define TM_INTERVALS() TM_VEC(tm_interval)

/** Adds one interval; ignores an empty or reversed one. Returns false when out of memory. */
static inline bool tm_intervals_add(tm_intervals *set, int64_t begin_ns, int64_t end_ns) {
    if (end_ns <= begin_ns)
        return true;
    tm_interval *last = set->n > 0 ? (tm_interval *)set->data + (set->n - 1) : NULL;
    if (last && begin_ns >= last->begin_ns && begin_ns <= last->end_ns) {
        /* Joins the interval with the last one if they overlap or touch: events mostly come in
         * order, so this keeps the vector short. */
        last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
        return true;
    }
    tm_interval *added = (tm_interval *)tm_vec_push(set);
    if (added)
        *added = (tm_interval){begin_ns, end_ns};
    return added != NULL;
}

/** Sorts and merges the intervals into a normal set; touching intervals become one. */
void tm_intervals_normalise(tm_intervals *set);

/** Returns the sum of the lengths [ns]. */
int64_t tm_intervals_length(const tm_intervals *set);

/** Returns the index of the first interval that ends after a time; the set's n if there is none. */
size_t tm_intervals_first_after(const tm_intervals *set, int64_t ns);

/** Returns the length of the part inside [begin, end) [ns]. */
int64_t tm_intervals_length_in(const tm_intervals *set, int64_t begin_ns, int64_t end_ns);

/** Returns the length of the intersection inside [begin, end) [ns]. */
int64_t tm_intervals_common_in(const tm_intervals *a, const tm_intervals *b, int64_t begin_ns,
                               int64_t end_ns);

/** Compute the intersection of a and b, the parts of a outside of b, and the union. @p out must be
 * neither a nor b; its old content is dropped. Return false when out of memory. */
bool tm_intervals_intersect(const tm_intervals *a, const tm_intervals *b, tm_intervals *out);
bool tm_intervals_subtract(const tm_intervals *a, const tm_intervals *b, tm_intervals *out);
bool tm_intervals_unite(const tm_intervals *a, const tm_intervals *b, tm_intervals *out);

#endif

/* Among the values before an index, finds the last one that is at least a given value. If the
 * values are the ends of nested intervals sorted by start, this finds the innermost interval around
 * a time. */
#ifndef TMERGE_REACH_H
#define TMERGE_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tm_reach {
    int64_t *highest; /* owned; [2 * width] tree: node i is the maximum of nodes 2 i and 2 i + 1 */
    size_t width;     /* a power of two: index of the first leaf */
} tm_reach;

#define TM_REACH_NONE SIZE_MAX

/** Makes @p n values. All are INT64_MIN until tm_reach_put sets them. Returns false when out of
 * memory. Call tm_reach_free even after a failure. */
bool tm_reach_init(tm_reach *reach, size_t n);
void tm_reach_free(tm_reach *reach);

/** Sets a value, before tm_reach_ready is called. */
void tm_reach_put(tm_reach *reach, size_t i, int64_t value);

/** Builds the tree for queries, in linear time. */
void tm_reach_ready(tm_reach *reach);

/** Returns the last index below @p end (at most n) whose value is at least @p wanted (above
 * INT64_MIN); TM_REACH_NONE if there is none. Takes logarithmic time. */
size_t tm_reach_before(const tm_reach *reach, size_t end, int64_t wanted);

#endif

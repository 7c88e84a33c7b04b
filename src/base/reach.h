/* Which of many values, in an order of their own, is the nearest before a place that is as high as
 * asked: of the ends of intervals sorted by their begins, the innermost interval around a time. */
#ifndef TMERGE_REACH_H
#define TMERGE_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tm_reach {
    int64_t *highest; /* owned; [2 * width] a tree: node i is the higher of 2 i and 2 i + 1 */
    size_t width;     /* a power of two: the values are the nodes from there on */
} tm_reach;

#define TM_REACH_NONE SIZE_MAX

/** Room for @p n values of INT64_MIN each, to be set with tm_reach_put. False when memory is out.
 * Free it with tm_reach_free, whatever comes of the call. */
bool tm_reach_init(tm_reach *reach, size_t n);
void tm_reach_free(tm_reach *reach);

/** Sets a value, before tm_reach_ready is called. */
void tm_reach_put(tm_reach *reach, size_t i, int64_t value);

/** Makes ready to be asked: linear. */
void tm_reach_ready(tm_reach *reach);

/** The last index before @p end [at most n] of a value of at least @p wanted, above INT64_MIN;
 * TM_REACH_NONE where there is none. Logarithmic. */
size_t tm_reach_before(const tm_reach *reach, size_t end, int64_t wanted);

#endif

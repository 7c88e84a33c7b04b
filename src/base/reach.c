#include "reach.h"

#include <stdlib.h>

bool tm_reach_init(tm_reach *reach, size_t n) {
    *reach = (tm_reach){.width = 1};
    while (reach->width <= n) /* width > n, so that n is a valid index, too */
        reach->width *= 2;
    reach->highest = malloc(2 * reach->width * sizeof *reach->highest);
    for (size_t i = 0; reach->highest && i < 2 * reach->width; i++)
        reach->highest[i] = INT64_MIN;
    return reach->highest != NULL;
}

void tm_reach_free(tm_reach *reach) {
    free(reach->highest);
    *reach = (tm_reach){.highest = NULL};
}

void tm_reach_put(tm_reach *reach, size_t i, int64_t value) {
    reach->highest[reach->width + i] = value;
}

void tm_reach_ready(tm_reach *reach) {
    int64_t *v = reach->highest;
    for (size_t i = reach->width; --i > 0;)
        v[i] = v[2 * i] > v[2 * i + 1] ? v[2 * i] : v[2 * i + 1];
}

/* Walks up the tree to the first subtree on the left that has a value of at least `wanted`, then
 * down to the last such value in it. */
size_t tm_reach_before(const tm_reach *reach, size_t end, int64_t wanted) {
    const int64_t *v = reach->highest;
    size_t node = reach->width + end;
    while (node > 1 && (node % 2 == 0 || v[node - 1] < wanted))
        node /= 2;
    if (node <= 1)
        return TM_REACH_NONE;
    for (node--; node < reach->width;)
        node = v[2 * node + 1] >= wanted ? 2 * node + 1 : 2 * node;
    return node - reach->width;
}

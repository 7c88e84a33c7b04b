#include "xplane_launches.h"

#include <stdlib.h>

enum { FIRST_MASK = (1 << 10) - 1 };

/* Ids of one block of 65,536 keep their order, so that a pass over them is one over memory. */
static tm_xlaunch *find(const tm_xlaunches *all, int64_t correlation) {
    uint64_t id = (uint64_t)correlation;
    size_t at = (size_t)(id + (id >> 16) * 0x9E3779B97F4A7C15u) & all->mask;
    while (all->slots[at].correlation != 0 && all->slots[at].correlation != correlation)
        at = (at + 1) & all->mask;
    return &all->slots[at];
}

static bool grow(tm_xlaunches *all) {
    tm_xlaunches larger = {.mask = all->slots ? all->mask * 2 + 1 : FIRST_MASK, .n = all->n};
    larger.slots = calloc(larger.mask + 1, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; all->slots && i <= all->mask; i++)
        if (all->slots[i].correlation != 0)
            *find(&larger, all->slots[i].correlation) = all->slots[i];
    free(all->slots);
    *all = larger;
    return true;
}

bool tm_xlaunches_add(tm_xlaunches *all, const tm_xlaunch *launch) {
    if ((!all->slots || all->n >= all->mask / 2) && !grow(all))
        return false;
    tm_xlaunch *slot = find(all, launch->correlation);
    all->n += slot->correlation == 0;
    if (slot->correlation == 0)
        *slot = *launch;
    return true;
}

const tm_xlaunch *tm_xlaunches_find(const tm_xlaunches *all, int64_t correlation) {
    const tm_xlaunch *slot = all->slots && correlation != 0 ? find(all, correlation) : NULL;
    return slot && slot->correlation != 0 ? slot : NULL;
}

void tm_xlaunches_free(tm_xlaunches *all) {
    free(all->slots);
    *all = (tm_xlaunches){0};
}

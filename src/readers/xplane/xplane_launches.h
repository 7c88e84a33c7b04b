/* What is known of GPU events by the correlation id that the call on the host has too. */
#ifndef TMERGE_XPLANE_LAUNCHES_H
#define TMERGE_XPLANE_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/** The GPU events of one call. */
typedef struct tm_xlaunch {
    uint32_t operation; /* name id of the operator, TM_NO_NAME unknown */
    int32_t device;     /* index into the file's devices, -1: there is no such call */
} tm_xlaunch;

/** By correlation id. Ids follow one another, so they are kept in pages of neighbours. */
typedef struct tm_xlaunches {
    tm_vec pages;    /* of pages */
    uint32_t *slots; /* hash table: index into pages + 1, 0 is free; owned */
    size_t mask;
    size_t last; /* the page that was asked for last */
} tm_xlaunches;

tm_xlaunches tm_xlaunches_make(void);
void tm_xlaunches_free(tm_xlaunches *all);

/** Keeps the first of an id. False when memory is out. */
bool tm_xlaunches_add(tm_xlaunches *all, int64_t correlation, tm_xlaunch launch);

/** NULL where there is none. */
const tm_xlaunch *tm_xlaunches_find(tm_xlaunches *all, int64_t correlation);

#endif

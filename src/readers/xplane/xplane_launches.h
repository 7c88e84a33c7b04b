/* Data about GPU events, by the correlation id shared with the host call. */
#ifndef TMERGE_XPLANE_LAUNCHES_H
#define TMERGE_XPLANE_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/** The GPU events of one call. */
typedef struct tm_xlaunch {
    uint32_t operation; /* name id of the operator, TM_NO_NAME unknown */
    int32_t device;     /* index in the file's devices, -1: no such call */
} tm_xlaunch;

/** By correlation id. Ids are dense, so they are stored in pages. */
typedef struct tm_xlaunches {
    tm_vec pages;    /* of pages */
    uint32_t *slots; /* hash table: index in pages + 1, 0 is free; owned */
    size_t mask;
    size_t last; /* the page used last */
} tm_xlaunches;

tm_xlaunches tm_xlaunches_make(void);
void tm_xlaunches_free(tm_xlaunches *all);

/** Adds a launch; the first for an id is kept. Returns false if out of memory. */
bool tm_xlaunches_add(tm_xlaunches *all, int64_t correlation, tm_xlaunch launch);

/** Returns NULL if there is none. */
const tm_xlaunch *tm_xlaunches_find(tm_xlaunches *all, int64_t correlation);

#endif

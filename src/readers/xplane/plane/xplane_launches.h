/* Data about GPU events, by correlation id. The host's call that launched an event has the same
 * id. */
#ifndef TMERGE_XPLANE_LAUNCHES_H
#define TMERGE_XPLANE_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/** The GPU events that one call launched. */
typedef struct tm_xlaunch {
    uint32_t operation; /* name id of the operator; TM_NO_NAME: unknown */
    int32_t device;     /* index in the file's devices; -1: this entry is empty */
} tm_xlaunch;

/** Launches by correlation id. They are stored in pages of consecutive ids, because nearly all ids
 * are used. */
typedef struct tm_xlaunches {
    tm_vec pages;    /* vector of page */
    uint32_t *slots; /* owned; hash table of (1 + index in `pages`); 0: the slot is free */
    size_t mask;
    size_t last; /* index of the page that was used last */
} tm_xlaunches;

tm_xlaunches tm_xlaunches_make(void);
void tm_xlaunches_free(tm_xlaunches *all);

/** Adds a launch, unless there is already a launch with this id. Returns false if out of memory. */
bool tm_xlaunches_add(tm_xlaunches *all, int64_t correlation, tm_xlaunch launch);

/** Returns the launch with an id; NULL if there is none. */
const tm_xlaunch *tm_xlaunches_find(tm_xlaunches *all, int64_t correlation);

#endif

/* What is known of GPU events by the correlation id that the call on the host has too. */
#ifndef TMERGE_XPLANE_LAUNCHES_H
#define TMERGE_XPLANE_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The GPU events of one call. */
typedef struct tm_xlaunch {
    int64_t correlation; /* 0: free */
    uint32_t operation;  /* name id of the operator, TM_NO_NAME unknown */
    int32_t device;      /* index into the file's devices */
} tm_xlaunch;

/** A hash table: the places of ids that follow one another lie side by side. */
typedef struct tm_xlaunches {
    tm_xlaunch *slots; /* owned */
    size_t mask, n;
} tm_xlaunches;

/** Keeps the first of an id. False when memory is out. */
bool tm_xlaunches_add(tm_xlaunches *all, const tm_xlaunch *launch);

/** NULL where there is none. */
const tm_xlaunch *tm_xlaunches_find(const tm_xlaunches *all, int64_t correlation);

void tm_xlaunches_free(tm_xlaunches *all);

#endif

/* Launch shapes of kernels: which ones are alike, and the texts of their grids and blocks in
 * tables. */
#ifndef TMERGE_LAUNCH_SHAPE_H
#define TMERGE_LAUNCH_SHAPE_H

#include "tmerge/table.h"
#include "tmerge/timeline.h"

enum { TM_LAUNCH_SHAPE_MAX = 64 };

/** A kernel's name, and its launch shape: the first of the rank's shapes that is alike. */
typedef struct tm_named_shape {
    uint32_t name, shape;
} tm_named_shape;

/**
 * Finds shapes that are alike, i.e. equal in their first bytes.
 * @param size  number of these bytes: offset of the end of a field of tm_launch_shape
 * @return      owned, for each of the timeline's shapes the index of the first one that is alike;
 *              NULL if out of memory
 */
uint32_t *tm_launch_shapes_alike(const tm_timeline *timeline, size_t size);

/** Writes a text such as "132,1,1"; "" if the numbers are negative (not recorded). */
void tm_launch_shape_text(const int64_t axes[3], char out[TM_LAUNCH_SHAPE_MAX]);

/** Sets a text cell from three integers. Leaves it unchanged if they were not recorded. Returns
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_set_launch_shape(tm_table *table, tm_cell *cell, const tm_cell axes[3],
                              tm_error *err) TM_MUST_CHECK;

#endif

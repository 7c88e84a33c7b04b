/* Launch shapes of kernels: which shapes are alike, and texts of grids and blocks for tables. */
#ifndef TMERGE_LAUNCH_SHAPE_H
#define TMERGE_LAUNCH_SHAPE_H

#include "tmerge/table.h"
#include "tmerge/timeline.h"

enum { TM_LAUNCH_SHAPE_MAX = 64 };

/** A kernel's name and launch shape. `shape` is an index into the rank's shapes, of the first shape
 * that is alike. */
typedef struct tm_named_shape {
    uint32_t name, shape;
} tm_named_shape;

/**
 * Finds shapes that are alike: their first @p size bytes are equal.
 * @param size  offset of the end of a field of tm_launch_shape
 * @return      for each shape of the timeline, the index of the first shape that is alike; owned;
 *              NULL if out of memory
 */
uint32_t *tm_launch_shapes_alike(const tm_timeline *timeline, size_t size);

/** Writes a text such as "132,1,1"; "" if the numbers are negative (not recorded). */
void tm_launch_shape_text(const int64_t axes[3], char out[TM_LAUNCH_SHAPE_MAX]);

/** Sets a text cell from three integers. The cell stays as it is if they were not recorded. Returns
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_set_launch_shape(tm_table *table, tm_cell *cell, const tm_cell axes[3],
                              tm_error *err) TM_MUST_CHECK;

#endif

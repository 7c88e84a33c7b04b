/* Formats the three dimensions of a grid or a block for tables. */
#ifndef TMERGE_LAUNCH_SHAPE_H
#define TMERGE_LAUNCH_SHAPE_H

#include "tmerge/table.h"

enum { TM_LAUNCH_SHAPE_MAX = 64 };

/** Writes a text such as "132,1,1"; "" if they are negative (not recorded). */
void tm_launch_shape_text(const int64_t axes[3], char out[TM_LAUNCH_SHAPE_MAX]);

/** Sets a text cell from three integers, unchanged if not recorded. TM_OK; TM_ERR_FAULT. */
tm_status tm_set_launch_shape(tm_table *table, tm_cell *cell, const tm_cell axes[3],
                              tm_error *err) TM_MUST_CHECK;

#endif

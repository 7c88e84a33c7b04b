/* The three numbers of a grid or a block, as tables show them. */
#ifndef TMERGE_LAUNCH_SHAPE_H
#define TMERGE_LAUNCH_SHAPE_H

#include "tmerge/table.h"

enum { TM_LAUNCH_SHAPE_MAX = 64 };

/** A text such as "132,1,1"; "" where they are below 0: not recorded. */
void tm_launch_shape_text(const int64_t axes[3], char out[TM_LAUNCH_SHAPE_MAX]);

/** Sets it from three integers; unchanged where they are not recorded. TM_OK; TM_ERR_FAULT. */
tm_status tm_set_launch_shape(tm_table *table, tm_cell *cell, const tm_cell axes[3],
                              tm_error *err) TM_MUST_CHECK;

#endif

/* The three numbers of a grid or a block, as tables show them. */
#ifndef TMERGE_LAUNCH_SHAPE_H
#define TMERGE_LAUNCH_SHAPE_H

#include "tmerge/table.h"

/** Sets a text such as "132,1,1" from three integers; unchanged where they are below 0: not
 * recorded. TM_OK; TM_ERR_FAULT. */
tm_status tm_set_launch_shape(tm_table *table, tm_cell *cell, const tm_cell axes[3],
                              tm_error *err) TM_MUST_CHECK;

#endif

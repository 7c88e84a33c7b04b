#include "launch_shape.h"

#include <stdio.h>

tm_status tm_set_launch_shape(tm_table *table, tm_cell *cell, const tm_cell axes[3],
                              tm_error *err) {
    char text[64];
    if (axes[0].value.i < 0)
        return TM_OK;
    snprintf(text, sizeof text, "%d,%d,%d", (int)axes[0].value.i, (int)axes[1].value.i,
             (int)axes[2].value.i);
    return tm_table_set_text(table, cell, text, err);
}

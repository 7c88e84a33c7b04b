#include "launch_shape.h"

#include <inttypes.h>
#include <stdio.h>

void tm_launch_shape_text(const int64_t axes[3], char out[TM_LAUNCH_SHAPE_MAX]) {
    out[0] = '\0';
    /* A launch has all three numbers or none. */
    if (axes[0] >= 0)
        snprintf(out, TM_LAUNCH_SHAPE_MAX, "%" PRId64 ",%" PRId64 ",%" PRId64, axes[0], axes[1],
                 axes[2]);
}

tm_status tm_set_launch_shape(tm_table *table, tm_cell *cell, const tm_cell axes[3],
                              tm_error *err) {
    char text[TM_LAUNCH_SHAPE_MAX];
    tm_launch_shape_text((const int64_t[]){axes[0].value.i, axes[1].value.i, axes[2].value.i},
                         text);
    return text[0] == '\0' ? TM_OK : tm_table_set_text(table, cell, text, err);
}

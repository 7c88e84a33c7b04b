#include "launch_shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/keys.h"

uint32_t *tm_launch_shapes_alike(const tm_timeline *timeline, size_t size) {
    tm_keys keys = {.keys = {.size = size}};
    tm_vec firsts = TM_VEC(uint32_t); /* [keys] 1 + index of the first shape that has the key */
    uint32_t *alike = malloc((timeline->n_shapes + 1) * sizeof *alike);
    bool ok = alike != NULL;
    for (size_t i = 0; i < timeline->n_shapes && ok; i++) {
        uint32_t *first = tm_keys_value(&keys, &firsts, &timeline->shapes[i]);
        ok = first != NULL;
        if (ok && *first == 0)
            *first = (uint32_t)i + 1;
        alike[i] = ok ? *first - 1 : 0;
    }
    tm_keys_free(&keys);
    tm_vec_free(&firsts);
    if (ok)
        return alike;
    free(alike);
    return NULL;
}

void tm_launch_shape_text(const int64_t axes[3], char out[TM_LAUNCH_SHAPE_MAX]) {
    out[0] = '\0';
    /* all three numbers were recorded, or none */
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

#include "left_out.h"

#include <string.h>

tm_status tm_left_out_add(tm_vec *left_out, const char *group_text, int32_t group_size,
                          tm_unmatched reason, tm_error *err) {
    tm_left_out *rows = left_out->data;
    for (size_t i = left_out->n; i-- > 0;) /* the last row is usually the right one */
        if (rows[i].reason == reason && rows[i].group_size == group_size &&
            strncmp(rows[i].group_text, group_text, sizeof rows[i].group_text) == 0) {
            rows[i].count++;
            return TM_OK;
        }
    tm_left_out added = {.count = 1, .group_size = group_size, .reason = (uint8_t)reason};
    memcpy(added.group_text, group_text, strnlen(group_text, sizeof added.group_text - 1));
    return tm_vec_append(left_out, &added, 1) ? TM_OK : tm_fail_memory(err);
}

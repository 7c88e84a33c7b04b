#include "summary/summary.h"

#include <string.h>

#include "summary/summary_text.h"

static double share(const tm_table *kinds, size_t row) {
    const tm_cell *cell = tm_table_cell(kinds, row, "share_pct");
    return cell->null ? 0.0 : cell->value.r;
}

/* "Steps: 192 DECODE of 4.98 ms, 12 EXTEND of 29.0 ms (medians)": where they are of several kinds,
 * those that take most of the time first. */
void tm_summary_kinds(const tm_tables *tables) {
    const tm_table *kinds = tm_tables_find(tables, "steps.kind");
    enum { KINDS_MAX = 8 };
    char text[768] = "Steps:";
    bool said[KINDS_MAX] = {false};
    for (size_t n = 0; kinds->n_rows > 1 && n < kinds->n_rows && n < KINDS_MAX; n++) {
        size_t most = KINDS_MAX, used = strlen(text);
        char median[32];
        for (size_t i = 0; i < kinds->n_rows && i < KINDS_MAX; i++)
            if (!said[i] && (most == KINDS_MAX || share(kinds, i) > share(kinds, most)))
                most = i;
        said[most] = true;
        tm_shown_duration(number(kinds, most, "median_ns"), median, sizeof median);
        snprintf(text + used, sizeof text - used, "%s %" PRId64 " %s of %s", n > 0 ? "," : "",
                 number(kinds, most, "steps"), tm_table_cell(kinds, most, "kind")->value.text,
                 median);
    }
    if (kinds->n_rows < 2)
        return;
    snprintf(text + strlen(text), sizeof text - strlen(text), " (medians)");
    tm_console_wrap(text, 0, tm_console_width());
}

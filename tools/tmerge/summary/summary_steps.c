#include "summary/summary.h"

#include <string.h>

#include "analysis/shared/kinds_of_steps.h"
#include "summary/summary_text.h"

static double real(const tm_table *kinds, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(kinds, row, column);
    return cell->null ? -1.0 : cell->value.r;
}

/* Writes "192 DECODE of 4.98 ms (batch 17)". Adds the tokens unless each request has one token. */
static void add_kind(const tm_table *kinds, size_t row, tm_shown_unit unit, char *out,
                     size_t size) {
    double batch = real(kinds, row, "mean_batch"), tokens = real(kinds, row, "mean_tokens");
    char median[32], held[64] = "", of[48] = "";
    tm_shown_in(number(kinds, row, "median_ns"), unit, median, sizeof median);
    if (tokens >= 0.0 && tokens != batch)
        snprintf(of, sizeof of, ", %.0f tokens", tokens);
    if (batch >= 0.0)
        snprintf(held, sizeof held, " (batch %.0f%s)", batch, of);
    snprintf(out, size, "%" PRId64 " %s of %s%s", number(kinds, row, "steps"),
             tm_table_cell(kinds, row, "kind")->value.text, median, held);
}

/* Prints the kinds, largest share of time first. */
void tm_summary_kinds(const tm_tables *tables) {
    enum { KINDS_MAX = 8 };
    const tm_table *kinds = tm_tables_find(tables, "steps.kind");
    const size_t n = kinds->n_rows < KINDS_MAX ? kinds->n_rows : KINDS_MAX;
    char text[1536];
    bool said[KINDS_MAX] = {false};
    tm_shown_range range = TM_SHOWN_RANGE;
    if (n == 0 || (n == 1 && tm_table_cell(kinds, 0, "phase")->null) || tm_steps_capture(tables))
        return;
    snprintf(text, sizeof text,
             "%s: ", n == 1 && number(kinds, 0, "steps") == 1 ? "Step" : "Steps (medians)");
    for (size_t k = 0; k < n; k++)
        tm_shown_widen(&range, (double)number(kinds, k, "median_ns"));
    for (size_t k = 0; k < n; k++) {
        size_t most = n, used = strlen(text);
        for (size_t i = 0; i < n; i++)
            if (!said[i] &&
                (most == n || real(kinds, i, "share_pct") > real(kinds, most, "share_pct")))
                most = i;
        said[most] = true;
        if (k > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, ", ");
        add_kind(kinds, most, tm_shown_unit_of(range), text + used, sizeof text - used);
    }
    tm_console_wrap(text, 0, tm_console_width());
}

#include "kinds_of_steps.h"

#include <string.h>

#include "base/sorted.h"

enum { M_RANK, M_STEP, M_KIND }; /* first columns of steps.mark */

/* Inserts a name in alphabetical order, if it is new. Returns false if there are too many. */
static bool add_name(tm_step_kinds *kinds, const char *name) {
    int at = 0;
    while (at < kinds->n && strcmp(kinds->names[at], name) < 0)
        at++;
    if (at < kinds->n && strcmp(kinds->names[at], name) == 0)
        return true;
    if (kinds->n == TM_STEP_KINDS_MAX)
        return false;
    memmove(&kinds->names[at + 1], &kinds->names[at],
            (size_t)(kinds->n - at) * sizeof *kinds->names);
    kinds->names[at] = name;
    kinds->n++;
    return true;
}

tm_step_kinds tm_step_kinds_find(const tm_tables *tables) {
    tm_step_kinds kinds = {.marks = tm_tables_find(tables, "steps.mark")};
    for (size_t i = 0; i < kinds.marks->n_rows; i++) {
        const tm_cell *kind = &tm_table_row(kinds.marks, i)[M_KIND];
        if (!kind->null && !add_name(&kinds, kind->value.text)) {
            kinds.n = 0;
            return kinds;
        }
    }
    return kinds;
}

static int kind_of_row(const tm_step_kinds *kinds, size_t row) {
    const tm_cell *kind = &tm_table_row(kinds->marks, row)[M_KIND];
    for (int i = 0; !kind->null && i < kinds->n; i++)
        if (strcmp(kinds->names[i], kind->value.text) == 0)
            return i;
    return -1;
}

static bool is_of_rank(const void *row, const void *rank) {
    return ((const tm_cell *)row)[M_RANK].value.i <= *(const int64_t *)rank;
}

/* Returns the end of the rows that have the same rank as @p row. */
static size_t rank_end(const tm_table *marks, size_t row) {
    int64_t rank = tm_table_row(marks, row)[M_RANK].value.i;
    return tm_bisect(marks->cells, marks->n_rows,
                     (size_t)marks->def->n_columns * sizeof *marks->cells, &rank, is_of_rank);
}

int tm_step_kind(const tm_step_kinds *kinds, int64_t rank, int64_t step) {
    const tm_table *marks = kinds->marks;
    int found = -1;
    if (rank >= 0) {
        size_t row = tm_table_find_row(marks, (const int64_t[]){rank, step}, 2);
        return row < marks->n_rows ? kind_of_row(kinds, row) : -1;
    }
    for (size_t i = 0; i < marks->n_rows; i = rank_end(marks, i)) {
        int own = tm_step_kind(kinds, tm_table_row(marks, i)[M_RANK].value.i, step);
        if (own >= 0 && found >= 0 && own != found)
            return -1;
        found = own >= 0 ? own : found;
    }
    return found;
}

bool tm_steps_all_capture(const tm_table *steps) {
    bool captures = steps->n_rows > 0;
    for (size_t i = 0; i < steps->n_rows && captures; i++) {
        const tm_cell *phase = tm_table_cell(steps, i, "phase");
        captures = !phase->null && strcmp(phase->value.text, "capture") == 0;
    }
    return captures;
}

bool tm_steps_capture(const tm_tables *tables) {
    return tm_steps_all_capture(tm_tables_find(tables, "steps.kind"));
}

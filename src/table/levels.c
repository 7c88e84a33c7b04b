#include "table/levels.h"

#include <string.h>

bool tm_table_has_levels(const tm_table_def *def) {
    return strcmp(def->columns[0].name, "level") == 0;
}

bool tm_row_has_level(const tm_cell *row, const char *level) {
    return !row->null && strcmp(row->value.text, level) == 0;
}

size_t tm_table_level(const tm_table *table, const char *level, size_t *end) {
    size_t first = 0;
    while (first < table->n_rows && !tm_row_has_level(tm_table_row(table, first), level))
        first++;
    *end = first;
    while (*end < table->n_rows && tm_row_has_level(tm_table_row(table, *end), level))
        ++*end;
    return first;
}

void tm_table_keep_level(tm_table *table, const char *level) {
    size_t end, first = tm_table_level(table, level, &end);
    if (end > first)
        memmove(table->cells, tm_table_row(table, first),
                (end - first) * (size_t)table->def->n_columns * sizeof *table->cells);
    table->n_rows = end - first;
}

/* Functions that the parts of the summary share. */
#ifndef TMERGE_SUMMARY_TEXT_H
#define TMERGE_SUMMARY_TEXT_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/console.h"
#include "table/shown.h"

/* number of ranks that a line lists */
enum { LIST_SHOWN = 8 };

/** Returns an integer of a table; 0 if it is null. */
static inline int64_t number(const tm_table *table, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return cell->null ? 0 : cell->value.i;
}

static inline void print_time(int64_t ns) {
    char text[32];
    tm_shown_duration(ns, text, sizeof text);
    fputs(text, stdout);
}

static inline void print_counted(int64_t n, const char *what, const char *after) {
    printf("%" PRId64 " %s%s%s", n, what, n == 1 ? "" : "s", after);
}

static inline int64_t sum_column(const tm_table *table, const char *column) {
    int64_t sum = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        sum += number(table, i, column);
    return sum;
}

/** Prints a text from the left margin, with all lines but the first indented. */
static inline void print_margin(const char *text) {
    const int size = (int)strcspn(text, " ");
    printf("%.*s", size, text);
    tm_console_wrap(text + size + (text[size] == ' '), size, tm_console_width());
}

/** Returns the number of lines that print_margin prints; 0 for "". */
static inline int margin_lines(const char *text) {
    const int size = (int)strcspn(text, " ");
    return *text ? tm_console_lines(text + size + (text[size] == ' '), size, tm_console_width())
                 : 0;
}

#endif

/* Fills tables from rows written as text, for tests that read tables. */
#include "rows_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tmerge/analysis.h"

/* In texts, ~ stands for a space. */
static void set_cell(tm_table *table, tm_cell *row, const char *name, char *value) {
    int column = tm_table_column(table->def, name);
    tm_error err;
    if (column < 0)
        fail_msg("%s has no column %s", table->def->name, name);
    switch (table->def->columns[column].type) {
    case TM_INT:
        tm_cell_set_int(&row[column], strtoll(value, NULL, 10));
        break;
    case TM_REAL:
        tm_cell_set_real(&row[column], strtod(value, NULL));
        break;
    case TM_BOOL:
        tm_cell_set_bool(&row[column], strcmp(value, "true") == 0);
        break;
    case TM_TEXT:
        for (char *at = value; (at = strchr(at, '~')) != NULL;)
            *at = ' ';
        assert_int_equal(tm_table_set_text(table, &row[column], value, &err), TM_OK);
        break;
    }
}

void add_row(tm_tables *tables, const char *name, const char *cells) {
    tm_table *table = tm_tables_find(tables, name);
    char text[512];
    assert_non_null(table);
    tm_cell *row = tm_table_add_row(table);
    assert_non_null(row);
    assert_true(strlen(cells) < sizeof text);
    memcpy(text, cells, strlen(cells) + 1);
    for (char *rest = text, *part; (part = strtok_r(rest, " ", &rest)) != NULL;) {
        char *value = strchr(part, '=');
        assert_non_null(value);
        *value = '\0';
        set_cell(table, row, part, value + 1);
    }
}

void add_rowf(tm_tables *tables, const char *name, const char *format, ...) {
    char cells[512];
    va_list values;
    va_start(values, format);
    assert_in_range(vsnprintf(cells, sizeof cells, format, values), 0, sizeof cells - 1);
    va_end(values);
    add_row(tables, name, cells);
}

tm_tables open_tables(void) {
    tm_tables tables;
    tm_error err;
    assert_int_equal(tm_analysis_tables(&tables, &err), TM_OK);
    return tables;
}

#include "table/csv.h"

#include <string.h>

#include "table/digits.h"
#include "tmerge/table.h"

static bool needs_quotes(const char *text, size_t size) {
    if (size == 0 || *text == '#')
        return true;
    for (size_t i = 0; i < size; i++)
        if (text[i] == ',' || text[i] == '"' || text[i] == '\r' || text[i] == '\n')
            return true;
    return false;
}

void tm_csv_text(tm_out *out, const char *text, size_t size) {
    if (!needs_quotes(text, size)) {
        tm_out_bytes(out, text, size);
        return;
    }
    tm_out_char(out, '"');
    for (const char *quote; (quote = memchr(text, '"', size)) != NULL;) {
        size_t part = (size_t)(quote - text);
        tm_out_bytes(out, text, part);
        tm_out_string(out, "\"\"");
        text += part + 1;
        size -= part + 1;
    }
    tm_out_bytes(out, text, size);
    tm_out_char(out, '"');
}

/* The same words and digits as in the JSON, but null is nothing at all. */
static void put_cell(tm_out *out, tm_type type, const tm_cell *cell) {
    char digits[TM_DIGITS_MAX];
    if (cell->null)
        return;
    switch (type) {
    case TM_TEXT:
        tm_csv_text(out, cell->value.text, strlen(cell->value.text));
        return;
    case TM_BOOL:
        tm_out_string(out, cell->value.i ? "true" : "false");
        return;
    case TM_REAL:
        tm_digits_real(cell->value.r, digits);
        break;
    case TM_INT:
        tm_digits_int(cell->value.i, digits);
        break;
    }
    tm_out_string(out, digits);
}

static void put_table(tm_out *out, const tm_table *table) {
    const tm_table_def *def = table->def;
    for (int c = 0; c < def->n_columns; c++) {
        tm_out_string(out, c == 0 ? "" : ",");
        tm_csv_text(out, def->columns[c].name, strlen(def->columns[c].name));
    }
    tm_out_string(out, TM_CSV_LINE_END);
    for (size_t r = 0; r < table->n_rows && !out->failed; r++) {
        const tm_cell *row = tm_table_row(table, r);
        for (int c = 0; c < def->n_columns; c++) {
            tm_out_string(out, c == 0 ? "" : ",");
            put_cell(out, def->columns[c].type, &row[c]);
        }
        tm_out_string(out, TM_CSV_LINE_END);
    }
}

tm_status tm_tables_csv(const tm_table *const *tables, size_t n_tables, char **out, tm_error *err) {
    tm_out text = TM_OUT();
    for (size_t t = 0; t < n_tables; t++) {
        if (n_tables > 1) {
            tm_out_string(&text, t == 0 ? "# " : "\r\n# ");
            tm_out_string(&text, tables[t]->def->name);
            tm_out_string(&text, TM_CSV_LINE_END);
        }
        put_table(&text, tables[t]);
    }
    return tm_out_take(&text, out, NULL, err);
}

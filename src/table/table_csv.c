#include "table/table_csv.h"

#include <string.h>

#include "table/digits.h"
#include "table/stream.h"

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

/* Appends a cell. Bools and numbers are written as in JSON. Appends nothing for null. */
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

static void put_head(tm_out *out, const tm_table_def *def) {
    for (int c = 0; c < def->n_columns; c++) {
        tm_out_string(out, c == 0 ? "" : ",");
        tm_csv_text(out, def->columns[c].name, strlen(def->columns[c].name));
    }
    tm_out_string(out, TM_CSV_LINE_END);
}

static tm_status put_rows(void *context, const tm_table *slice, tm_error *err) {
    const tm_sink_out *sink = context;
    tm_out *out = sink->out;
    for (size_t r = 0; r < slice->n_rows && !out->failed; r++) {
        const tm_cell *row = tm_table_row(slice, r);
        for (int c = 0; c < slice->def->n_columns; c++) {
            tm_out_string(out, c == 0 ? "" : ",");
            put_cell(out, slice->def->columns[c].type, &row[c]);
        }
        tm_out_string(out, TM_CSV_LINE_END);
    }
    return tm_sink_spill(sink, err);
}

tm_status tm_stream_csv(const tm_rows *rows, const tm_sink_out *sink, tm_error *err) {
    tm_sink_out to = *sink;
    put_head(to.out, rows->def);
    return rows->each(rows, put_rows, &to, err);
}

tm_status tm_table_csv(const tm_table *table, char **out, tm_error *err) {
    tm_out text = TM_OUT();
    const tm_sink_out sink = {&text, NULL};
    const tm_rows rows = tm_rows_of(table);
    tm_status status = tm_stream_csv(&rows, &sink, err);
    if (status == TM_OK)
        return tm_out_take(&text, out, NULL, err);
    tm_vec_free(&text.bytes);
    return status;
}

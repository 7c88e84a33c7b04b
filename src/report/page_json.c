#include "report/page_json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json_quote.h"
#include "table/digits.h"
#include "tmerge/timeline.h"

/* Integers up to this value are exact in a double. */
#define EXACT_MAX INT64_C(9007199254740992)

void tm_report_json_string(tm_out *out, const char *text, size_t size) {
    if (!out->failed)
        out->failed = !tm_json_quote(&out->bytes, text, size, true);
}

static void put_string(tm_out *out, const char *text) {
    tm_report_json_string(out, text, strlen(text));
}

static void put_int(tm_out *out, int64_t value) {
    char digits[TM_DIGITS_MAX];
    bool exact = value >= -EXACT_MAX && value <= EXACT_MAX;
    tm_digits_int(value, digits);
    if (!exact)
        tm_out_char(out, '"');
    tm_out_string(out, digits);
    if (!exact)
        tm_out_char(out, '"');
}

/*
 * Writes a cell.
 *
 * @param epoch  whether the column's times count from the epoch
 */
static void put_cell(tm_out *out, const tm_column *column, bool epoch, const tm_cell *cell,
                     int64_t begin_ns) {
    char digits[TM_DIGITS_MAX];
    /* Writes null for a time that counts from 0 if the job's times are dates. */
    if (cell->null || (epoch && cell->value.i < TM_FIRST_DAY_NS && begin_ns >= TM_FIRST_DAY_NS)) {
        tm_out_string(out, "null");
        return;
    }
    switch (column->type) {
    case TM_TEXT:
        put_string(out, cell->value.text);
        break;
    case TM_BOOL:
        tm_out_string(out, cell->value.i ? "true" : "false");
        break;
    case TM_REAL:
        tm_digits_real(cell->value.r, digits);
        tm_out_string(out, digits);
        break;
    case TM_INT:
        put_int(out, cell->value.i - (epoch ? begin_ns : 0));
        break;
    }
}

void tm_report_json_columns(tm_out *out, const tm_table *table, int64_t begin_ns) {
    for (int c = 0; c < table->def->n_columns && !out->failed; c++) {
        const tm_column *column = &table->def->columns[c];
        const bool epoch = tm_column_is_epoch(column);
        tm_out_string(out, c == 0 ? "[[" : "],\n[");
        for (size_t r = 0; r < table->n_rows; r++) {
            if (r > 0)
                tm_out_char(out, ',');
            put_cell(out, column, epoch, &tm_table_row(table, r)[c], begin_ns);
        }
    }
    tm_out_string(out, "]]");
}

static const char *const form_words[] = {
    [TM_FORM_BARS] = "bars", [TM_FORM_MAP] = "map", [TM_FORM_LINE] = "line"};

void tm_report_json_def(tm_out *out, const tm_table *table) {
    const tm_table_def *def = table->def;
    char numbers[96];
    tm_out_string(out, "{\"doc\":");
    put_string(out, def->doc);
    snprintf(numbers, sizeof numbers, ",\"keys\":%d,\"top\":%d,\"prose\":%d,\"n\":%zu", def->n_keys,
             def->top, def->n_prose, table->n_rows);
    tm_out_string(out, numbers);
    if (def->form != TM_FORM_TABLE) {
        tm_out_string(out, ",\"form\":");
        put_string(out, form_words[def->form]);
    }
    tm_out_string(out, ",\"columns\":[");
    for (int c = 0; c < def->n_columns; c++) {
        const tm_column *column = &def->columns[c];
        tm_out_string(out, c == 0 ? "[" : ",[");
        put_string(out, column->name);
        tm_out_char(out, ',');
        put_string(out, tm_type_name(column->type));
        tm_out_char(out, ',');
        put_string(out, column->unit);
        tm_out_char(out, ',');
        put_string(out, column->doc);
        tm_out_string(out, tm_column_is_epoch(column) ? ",1]" : ",0]");
    }
    tm_out_char(out, ']');
}

#include "tmerge/table.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "table/digits.h"
#include "table/stream.h"

/* This file prints the document with one row per line, so that users can search it by line, and so
 * that the document is never held in memory as a tree. cJSON prints the content of the lines. */

/* Prints an item and frees it. NULL, cJSON's result when out of memory, sets the failure flag. */
static void put_item(tm_out *out, cJSON *item) {
    char *text = item ? cJSON_PrintUnformatted(item) : NULL;
    if (text)
        tm_out_string(out, text);
    else
        out->failed = true;
    cJSON_free(text);
    cJSON_Delete(item);
}

/* Prints a quoted and escaped string; NULL prints null. */
static void put_string(tm_out *out, const char *string) {
    put_item(out, string ? cJSON_CreateString(string) : cJSON_CreateNull());
}

/* Returns the JSON value of a cell; NULL if out of memory. */
static cJSON *cell_item(tm_type type, const tm_cell *cell) {
    char digits[TM_DIGITS_MAX];
    if (cell->null)
        return cJSON_CreateNull();
    switch (type) {
    case TM_TEXT:
        return cJSON_CreateString(cell->value.text);
    case TM_BOOL:
        return cJSON_CreateBool(cell->value.i != 0);
    case TM_REAL:
        tm_digits_real(cell->value.r, digits);
        break;
    case TM_INT:
        tm_digits_int(cell->value.i, digits);
        break;
    }
    return cJSON_CreateRaw(digits); /* printed here, because cJSON's numbers are doubles */
}

/* Builds {"rank":0,...} in column order; column names are borrowed, not copied. */
static cJSON *row_item(const tm_table_def *def, const tm_cell *row) {
    cJSON *object = cJSON_CreateObject();
    for (int c = 0; object && c < def->n_columns; c++) {
        cJSON *item = cell_item(def->columns[c].type, &row[c]);
        if (!cJSON_AddItemToObjectCS(object, def->columns[c].name, item)) {
            cJSON_Delete(item);
            cJSON_Delete(object);
            return NULL;
        }
    }
    return object;
}

static cJSON *column_item(const tm_column *column) {
    cJSON *object = cJSON_CreateObject();
    if (object && cJSON_AddStringToObject(object, "name", column->name) &&
        cJSON_AddStringToObject(object, "type", tm_type_name(column->type)) &&
        cJSON_AddStringToObject(object, "unit", column->unit))
        return object;
    cJSON_Delete(object);
    return NULL;
}

typedef struct rows_out {
    const tm_sink_out *sink;
    bool any;
} rows_out;

static tm_status put_rows(void *context, const tm_table *slice, tm_error *err) {
    rows_out *to = context;
    tm_out *out = to->sink->out;
    for (size_t r = 0; r < slice->n_rows && !out->failed; r++) {
        tm_out_string(out, to->any ? ",\n" : "\n");
        to->any = true;
        put_item(out, row_item(slice->def, tm_table_row(slice, r)));
    }
    return tm_sink_spill(to->sink, err);
}

tm_status tm_stream_json(const tm_rows *rows, const tm_sink_out *sink, tm_error *err) {
    const tm_table_def *def = rows->def;
    rows_out to = {sink, false};
    put_string(sink->out, def->name);
    tm_out_string(sink->out, ": {\n\"columns\": [");
    for (int c = 0; c < def->n_columns; c++) {
        tm_out_string(sink->out, c == 0 ? "\n" : ",\n");
        put_item(sink->out, column_item(&def->columns[c]));
    }
    tm_out_string(sink->out, "\n],\n\"rows\": [");
    TM_TRY(rows->each(rows, put_rows, &to, err));
    tm_out_string(sink->out, to.any ? "\n]}" : "]}");
    return TM_OK;
}

/* Prints the store's path, which may contain any bytes; NULL prints null. */
static void put_store(tm_out *out, const char *store) {
    size_t size = store ? strlen(store) : 0;
    char *repaired = store ? malloc(tm_utf8_repair(store, size, NULL) + 1) : NULL;
    if (repaired)
        tm_utf8_repair(store, size, repaired);
    if (store && !repaired)
        out->failed = true;
    else
        put_string(out, repaired);
    free(repaired);
}

void tm_json_begin(tm_out *out, const char *store) {
    tm_out_string(out, "{\"tmerge\": 1, \"store\": ");
    put_store(out, store);
    tm_out_string(out, ", \"tables\": {");
}

void tm_json_between(tm_out *out, size_t table) {
    tm_out_string(out, table == 0 ? "\n" : ",\n");
}

void tm_json_end(tm_out *out, size_t n_tables) {
    tm_out_string(out, n_tables > 0 ? "\n}}\n" : "}}\n");
}

tm_status tm_tables_json(const tm_table *const *tables, size_t n_tables, const char *store,
                         char **out, tm_error *err) {
    tm_out text = TM_OUT();
    const tm_sink_out sink = {&text, NULL};
    tm_status status = TM_OK;
    tm_json_begin(&text, store);
    for (size_t t = 0; t < n_tables && status == TM_OK; t++) {
        const tm_rows rows = tm_rows_of(tables[t]);
        tm_json_between(&text, t);
        status = tm_stream_json(&rows, &sink, err);
    }
    tm_json_end(&text, n_tables);
    return tm_out_take(&text, out, NULL, err);
}

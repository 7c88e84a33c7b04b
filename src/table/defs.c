#include "tmerge/table.h"

#include <string.h>

#include "base/utf8.h"
#include "table/out.h"

enum { INDENT = 4, GAP = 2 };

/* Widths of the widest name, type and unit in all tables, by which the list is aligned. */
typedef struct widths {
    size_t line;
    size_t name;
    size_t type;
    size_t unit;
} widths;

static size_t wider(size_t width, const char *text) {
    size_t length = tm_utf8_length(text, strlen(text));
    return length > width ? length : width;
}

static widths measure(const tm_table_def *const *defs, size_t n_defs, int width) {
    widths w = {.line = (size_t)width};
    for (size_t t = 0; t < n_defs; t++)
        for (int c = 0; c < defs[t]->n_columns; c++) {
            const tm_column *column = &defs[t]->columns[c];
            w.name = wider(w.name, column->name);
            w.type = wider(w.type, tm_type_name(column->type));
            w.unit = wider(w.unit, column->unit);
        }
    return w;
}

/* Prints one field, padded to the widest of its kind in the list. */
static void put_padded(tm_out *out, const char *text, size_t width) {
    tm_out_string(out, text);
    tm_out_spaces(out, width - tm_utf8_length(text, strlen(text)) + GAP);
}

/* The table's name is alone on its line, so that a search for ^name$ finds it. */
static void put_def(tm_out *out, const tm_table_def *def, const widths *w) {
    tm_out_string(out, def->name);
    tm_out_char(out, '\n');
    tm_out_spaces(out, INDENT);
    tm_out_wrapped(out, def->doc, INDENT, w->line);
    for (int c = 0; c < def->n_columns; c++) {
        const tm_column *column = &def->columns[c];
        tm_out_spaces(out, INDENT);
        put_padded(out, column->name, w->name);
        put_padded(out, tm_type_name(column->type), w->type);
        put_padded(out, column->unit, w->unit);
        tm_out_wrapped(out, column->doc, INDENT + w->name + w->type + w->unit + (size_t)3 * GAP,
                       w->line);
    }
}

tm_status tm_table_defs_text(const tm_table_def *const *defs, size_t n_defs, int width, char **out,
                             tm_error *err) {
    tm_out text = TM_OUT();
    const widths w = measure(defs, n_defs, width);
    for (size_t t = 0; t < n_defs; t++) {
        tm_out_string(&text, t == 0 ? "" : "\n");
        put_def(&text, defs[t], &w);
    }
    return tm_out_take(&text, out, NULL, err);
}

#include "tmerge/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "table/out.h"
#include "table/rows.h"
#include "table/shown.h"

enum { GAP = 2 }; /* spaces between columns */

typedef struct shape {
    tm_shown_unit unit;
    size_t width; /* code points of the widest cell or the header */
} shape;

/* A table being printed. A block shows the key columns and columns [first, end). Cells are turned
 * into text twice, to measure and to print, for all of them at once would be more than the table.
 */
typedef struct printer {
    const tm_table *table;
    shape *shapes; /* [n_columns] */
    size_t width;  /* of the terminal */
    tm_out out;
} printer;

/* A cell of a row, or the header where the row is NULL. */
static void show(const printer *p, int column, const tm_cell *row, char out[TM_SHOWN_MAX]) {
    const tm_column *shown = &p->table->def->columns[column];
    if (row)
        tm_shown_cell(shown, p->shapes[column].unit, &row[column], out);
    else
        tm_shown_header(shown, p->shapes[column].unit, out);
}

/* Lets a column be as wide as this cell needs. */
static void widen(const printer *p, int column, const tm_cell *row) {
    char text[TM_SHOWN_MAX];
    show(p, column, row, text);
    size_t width = tm_utf8_length(text, strlen(text));
    if (p->shapes[column].width < width)
        p->shapes[column].width = width;
}

/* Columns that stand side by side; sentences do not. */
static int n_beside(const tm_table_def *def) {
    return def->n_columns - def->n_prose;
}

/* Shapes are the same in every block, so that a key column does not jump. */
static void measure(const printer *p) {
    for (int c = 0; c < n_beside(p->table->def); c++) {
        p->shapes[c].unit = tm_shown_choose(p->table, c);
        widen(p, c, NULL);
        for (size_t r = 0; r < p->table->n_rows; r++)
            widen(p, c, tm_table_row(p->table, r));
    }
}

/* The end of the block that begins with column @p first: as many columns as fit beside the keys,
 * and one at least. */
static int end_of_block(const printer *p, int first) {
    size_t used = 0;
    for (int c = 0; c < p->table->def->n_keys; c++)
        used += p->shapes[c].width + GAP;
    int end = first;
    for (; end < n_beside(p->table->def); end++) {
        used += p->shapes[end].width;
        if (used > p->width && end > first)
            break;
        used += GAP;
    }
    return end;
}

/* Prints one cell; @p pending holds the spaces that stand before it, so that no line ends in any.
 */
static void put_cell(printer *p, int column, const tm_cell *row, size_t *pending) {
    char text[TM_SHOWN_MAX];
    tm_type type = p->table->def->columns[column].type;
    show(p, column, row, text);
    size_t fill = p->shapes[column].width - tm_utf8_length(text, strlen(text));
    bool to_the_right = type == TM_INT || type == TM_REAL;
    tm_out_spaces(&p->out, *pending + (to_the_right ? fill : 0));
    tm_out_string(&p->out, text);
    *pending = GAP + (to_the_right ? 0 : fill);
}

static void put_line(printer *p, int first, int end, const tm_cell *row) {
    size_t pending = 0;
    for (int c = 0; c < p->table->def->n_keys; c++)
        put_cell(p, c, row, &pending);
    for (int c = first; c < end; c++)
        put_cell(p, c, row, &pending);
    tm_out_char(&p->out, '\n');
}

/* The sentences of a row, each with its name in front. */
static void put_prose(printer *p, const tm_cell *row) {
    const tm_table_def *def = p->table->def;
    size_t widest = 0;
    for (int c = n_beside(def); c < def->n_columns; c++)
        widest = strlen(def->columns[c].name) > widest ? strlen(def->columns[c].name) : widest;
    for (int c = n_beside(def); c < def->n_columns; c++) {
        const char *name = def->columns[c].name;
        if (row[c].null)
            continue;
        tm_out_spaces(&p->out, GAP);
        tm_out_string(&p->out, name);
        tm_out_spaces(&p->out, widest - strlen(name) + GAP);
        tm_out_wrapped(&p->out, row[c].value.text, widest + (size_t)2 * GAP, p->width);
    }
}

/* One block at least, also where there are keys alone. */
static void put_blocks(printer *p) {
    const tm_table_def *def = p->table->def;
    int first = def->n_keys;
    do {
        int end = end_of_block(p, first);
        if (first > def->n_keys)
            tm_out_char(&p->out, '\n');
        put_line(p, first, end, NULL);
        for (size_t r = 0; r < p->table->n_rows && !p->out.failed; r++) {
            put_line(p, first, end, tm_table_row(p->table, r));
            if (end == n_beside(def))
                put_prose(p, tm_table_row(p->table, r));
        }
        first = end;
    } while (first < n_beside(def));
}

tm_status tm_table_text(const tm_table *table, int width, char **out, tm_error *err) {
    printer p = {.table = table, .out = TM_OUT()};
    p.width = width > 0 ? (size_t)width : SIZE_MAX;
    p.shapes = calloc(tm_rows_width(table), sizeof *p.shapes);
    if (!p.shapes)
        return tm_fail_memory(err);
    measure(&p);
    put_blocks(&p);
    free(p.shapes);
    return tm_out_take(&p.out, out, NULL, err);
}

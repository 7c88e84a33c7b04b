#include "tmerge/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "table/alike.h"
#include "table/shown.h"
#include "table/stream.h"

/* GAP: number of spaces between columns. BAR: number of characters of a full bar. */
enum { GAP = 2, BAR = 10 };
/* LEAST_POINTS: minimum length to which texts are cut. MANY_BLOCKS: number of blocks from which on
 * a table is long. */
enum { LEAST_POINTS = 24, MANY_BLOCKS = 5 };

/* Header of the row numbers. If the keys take too much room to be repeated in every block of
 * columns, each block starts with the rows' numbers instead. */
static const char number_header[] = "row";

typedef struct shape {
    tm_shown_unit unit;
    size_t width;         /* width in code points: of the widest cell, or of the header if that is
                             wider */
    tm_cell least, most;  /* smallest and largest value of a column of times or shares; null until a
                             value is seen */
    tm_shown_range range; /* range of the absolute values, if the column has times */
    int64_t origin_ns;    /* times since the epoch are shown relative to this */
    double full;          /* value of a share whose bar is full; 0: no bar */
    tm_alike alike;       /* finds texts that look equal when cut */
} shape;

/* A table that is being printed, block by block. A block shows the key columns or the row numbers,
 * and then the columns [first, end). Each cell is converted to text twice: once to measure it and
 * once to print it. Keeping all texts would need more memory than the table. */
typedef struct printer {
    const tm_table_def *def;
    shape *shapes; /* [n_columns] */
    size_t width;  /* width of the terminal [columns] */
    size_t points; /* maximum length of texts [code points] */
    int n_keys;    /* number of leading columns that are in every block; 0 if rows are numbered */
    size_t number; /* width of the row numbers; 0: none */
    size_t n_rows, row;
    const tm_sink_out *sink;
    tm_out *out;    /* the sink's text; borrowed */
    int first, end; /* columns [first, end) of the current block */
} printer;

/* Returns the value that is shown for a cell. A time since the epoch is shown relative to the
 * origin. */
static tm_cell since(const shape *s, const tm_cell *cell) {
    tm_cell out = *cell;
    if (s->origin_ns != 0 && !cell->null)
        out.value.i = (int64_t)((uint64_t)cell->value.i - (uint64_t)s->origin_ns);
    return out;
}

/* Formats a cell of a row, or the header if the row is NULL. */
static void show(const printer *p, int column, const tm_cell *row, char out[TM_SHOWN_MAX]) {
    const tm_column *shown = &p->def->columns[column];
    const shape *s = &p->shapes[column];
    if (!row)
        tm_shown_header(shown, s->unit, out);
    else if (shown->type == TM_TEXT && !row[column].null && s->alike.seen.n > 0)
        tm_alike_show(&s->alike, row[column].value.text, out);
    else if (shown->type == TM_TEXT && !row[column].null)
        tm_shown_tagged(row[column].value.text, p->points, "...", out);
    else {
        const tm_cell cell = since(s, &row[column]);
        tm_shown_cell(shown, s->unit, &cell, out);
    }
}

static void widen(const printer *p, int column, const tm_cell *row) {
    char text[TM_SHOWN_MAX];
    show(p, column, row, text);
    size_t width = tm_utf8_length(text, strlen(text));
    if (p->shapes[column].width < width)
        p->shapes[column].width = width;
}

/* Returns the number of columns that are printed side by side. These are all columns except those
 * with prose. */
static int n_beside(const tm_table_def *def) {
    return def->n_columns - def->n_prose;
}

static bool is_time(const tm_column *column) {
    return strcmp(column->unit, "ns") == 0;
}

static bool is_share(const tm_column *column) {
    return column->type == TM_REAL && strcmp(column->unit, "%") == 0;
}

static bool is_less(const tm_column *column, const tm_cell *a, const tm_cell *b) {
    return column->type == TM_REAL ? a->value.r < b->value.r : a->value.i < b->value.i;
}

static void note_extremes(shape *s, const tm_column *column, const tm_cell *cell) {
    if (s->least.null || is_less(column, cell, &s->least))
        s->least = *cell;
    if (s->most.null || is_less(column, &s->most, cell))
        s->most = *cell;
    tm_shown_widen(&s->range, column->type == TM_REAL ? cell->value.r : (double)cell->value.i);
}

/* Measures a cell. A time is not formatted yet, because the unit depends on all times. Only the
 * smallest and the largest time are remembered. They are formatted later, because they are the
 * widest. */
static bool measure_cell(const printer *p, int c, const tm_cell *row) {
    const tm_column *column = &p->def->columns[c];
    shape *s = &p->shapes[c];
    const tm_cell cell = since(s, &row[c]);
    if (!cell.null && (is_time(column) || is_share(column)))
        note_extremes(s, column, &cell);
    if (!cell.null && is_time(column))
        return true;
    widen(p, c, row);
    return column->type != TM_TEXT || cell.null || tm_alike_add(&s->alike, cell.value.text);
}

static tm_status measure_slice(void *context, const tm_table *slice, tm_error *err) {
    printer *p = context;
    p->n_rows += slice->n_rows;
    for (size_t r = 0; r < slice->n_rows; r++)
        for (int c = 0; c < n_beside(p->def); c++)
            if (!measure_cell(p, c, tm_table_row(slice, r)))
                return tm_fail_memory(err);
    return TM_OK;
}

static void widen_by(const printer *p, int c, const tm_cell *cell) {
    char text[TM_SHOWN_MAX];
    tm_shown_cell(&p->def->columns[c], p->shapes[c].unit, cell, text);
    if (!cell->null && strlen(text) > p->shapes[c].width)
        p->shapes[c].width = strlen(text);
}

/* Chooses the units: one for times that are compared, and another for points in time. */
static void set_units(const printer *p, const tm_shown_range *ranges, tm_shown_unit *units) {
    const tm_column *columns = p->def->columns;
    const size_t n = (size_t)p->def->n_columns;
    for (size_t c = 0; c < n; c++)
        if (!is_time(&columns[c]) || tm_column_is_epoch(&columns[c]))
            units[c] = tm_shown_choose(&columns[c], (tm_shown_range){ranges[c].most, HUGE_VAL});
    tm_shown_choose_all(columns, n, ranges, units);
    for (size_t c = 0; c < n; c++) {
        shape *s = &p->shapes[c];
        s->unit = s->origin_ns != 0 ? tm_shown_since(units[c]) : units[c];
    }
}

static tm_status choose_units(const printer *p, tm_error *err) {
    const size_t n = (size_t)p->def->n_columns;
    tm_shown_range *ranges = calloc(n, sizeof *ranges);
    tm_shown_unit *units = calloc(n, sizeof *units);
    for (size_t c = 0; c < n && ranges; c++)
        ranges[c] = p->shapes[c].range;
    if (ranges && units)
        set_units(p, ranges, units);
    const bool ok = ranges && units;
    free(ranges);
    free(units);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Measures all columns before the first block, because key columns must have the same width in
 * every block. */
static tm_status measure(printer *p, const tm_rows *rows, int64_t origin_ns, tm_error *err) {
    p->n_rows = 0;
    for (int c = 0; c < p->def->n_columns; c++) {
        const tm_column *column = &p->def->columns[c];
        shape *s = &p->shapes[c];
        tm_alike_free(&s->alike);
        *s = (shape){.range = TM_SHOWN_RANGE};
        s->origin_ns = tm_column_is_epoch(column) ? origin_ns : 0;
        s->least.null = s->most.null = true;
        s->alike = tm_alike_begin(p->points);
    }
    TM_TRY(rows->each(rows, measure_slice, p, err));
    TM_TRY(choose_units(p, err));
    for (int c = 0; c < n_beside(p->def); c++) {
        shape *s = &p->shapes[c];
        tm_alike_end(&s->alike);
        widen(p, c, NULL);
        widen_by(p, c, &s->least);
        widen_by(p, c, &s->most);
        if (s->unit.ns > 1 && s->range.least < (double)s->unit.ns / 2000.0 &&
            s->width < strlen(TM_SHOWN_LITTLE))
            s->width = strlen(TM_SHOWN_LITTLE);
    }
    return TM_OK;
}

/* Returns a column's width if texts are cut to this many points. */
static size_t width_at(const printer *p, int c, size_t points) {
    size_t width = p->shapes[c].width;
    return p->def->columns[c].type == TM_TEXT && width > points ? points : width;
}

/* Returns the width of the start of every block. */
static size_t head_at(const printer *p, size_t points) {
    size_t used = p->number > 0 ? p->number + GAP : 0;
    for (int c = 0; c < p->n_keys; c++)
        used += width_at(p, c, points) + GAP;
    return used;
}

static bool fits(const printer *p, size_t points) {
    size_t widest = 0;
    for (int c = p->n_keys; c < n_beside(p->def); c++)
        widest = width_at(p, c, points) > widest ? width_at(p, c, points) : widest;
    return head_at(p, points) + widest <= p->width;
}

static void number_rows(printer *p) {
    p->n_keys = 0;
    p->number = strlen(number_header);
    for (size_t n = p->n_rows; n >= 1000; n /= 10)
        p->number++;
}

/* Returns the end of the block that starts with column @p first: as many columns as fit next to the
 * keys, but at least one. */
static int end_of_block(const printer *p, int first) {
    size_t used = head_at(p, p->points);
    int end = first;
    for (; end < n_beside(p->def); end++) {
        used += p->shapes[end].width;
        if (used > p->width && end > first)
            break;
        used += GAP;
    }
    return end;
}

static int n_blocks(const printer *p) {
    int n = 0, first = p->n_keys;
    do {
        first = end_of_block(p, first);
        n++;
    } while (first < n_beside(p->def));
    return n;
}

static void cut_texts(printer *p) {
    while (!fits(p, p->points))
        p->points--;
}

/* Returns whether two conditions hold: most blocks have only one column next to the keys, and row
 * numbers in place of the keys would save a third of the blocks. */
static bool is_long(const printer *p) {
    printer cut = *p, numbered = *p;
    number_rows(&numbered);
    if (p->n_keys == 0 || !fits(&numbered, LEAST_POINTS))
        return false;
    cut_texts(&cut);
    cut_texts(&numbered);
    const int n = n_blocks(&cut), beside = n_beside(cut.def) - cut.n_keys;
    return n >= MANY_BLOCKS && beside < 2 * n && 3 * n_blocks(&numbered) <= 2 * n;
}

/* Keeps lines within the terminal's width. If the keys and one column do not fit, cuts texts
 * further. If they still do not fit, or if the keys seldom leave room for two columns, prints the
 * keys in one block only, and numbers the rows. */
static tm_status choose_layout(printer *p, const tm_rows *rows, int64_t origin_ns, tm_error *err) {
    const printer whole = *p;
    if (!fits(p, LEAST_POINTS) || is_long(p))
        number_rows(p);
    if (!fits(p, LEAST_POINTS)) { /* no layout fits */
        *p = whole;
        return TM_OK;
    }
    cut_texts(p);
    return p->points < whole.points ? measure(p, rows, origin_ns, err) : TM_OK;
}

/* Adds bars to shares that never exceed 100 %, unless the table then needs more blocks. A full bar
 * is 100 %, or the largest value if the shares are parts of one whole. */
static void add_bars(const printer *p) {
    int n = n_blocks(p);
    for (int c = 0; c < n_beside(p->def); c++) {
        shape *s = &p->shapes[c];
        if (!is_share(&p->def->columns[c]) || s->most.null || s->least.value.r < 0.0 ||
            s->most.value.r > 100.0 || s->most.value.r <= 0.0)
            continue;
        /* true if the column has shares of one whole. Most of these shares are small. */
        bool of_one = strcmp(p->def->columns[c].name, "share_pct") == 0;
        s->full = of_one ? s->most.value.r : 100.0;
        s->width += 1 + BAR;
        if (n_blocks(p) > n || !fits(p, p->points)) {
            s->full = 0.0;
            s->width -= 1 + BAR;
        }
    }
}

/* Prints the bar after a share. Its length is rounded to whole marks. Returns the number of blanks
 * that remain to the column's full width. */
static size_t put_bar(const printer *p, double full, const tm_cell *cell) {
    size_t marks = cell && !cell->null ? (size_t)lround(cell->value.r * BAR / full) : 0;
    tm_out_string(p->out, marks > 0 ? " " : "");
    for (size_t i = 0; i < marks; i++)
        tm_out_char(p->out, '#');
    return BAR - marks + (marks == 0);
}

/* Prints one cell. @p pending is the number of spaces before the cell. These spaces are printed
 * only when a cell follows, so that no line ends in spaces. */
static void put_cell(const printer *p, int column, const tm_cell *row, size_t *pending) {
    char text[TM_SHOWN_MAX];
    const shape *s = &p->shapes[column];
    tm_type type = p->def->columns[column].type;
    show(p, column, row, text);
    size_t length = tm_utf8_length(text, strlen(text)),
           width = s->width - (s->full > 0.0 ? 1 + BAR : 0);
    size_t fill = length < width ? width - length : 0;
    bool to_the_right = type == TM_INT || type == TM_REAL;
    tm_out_spaces(p->out, *pending + (to_the_right ? fill : 0));
    tm_out_string(p->out, text);
    *pending = GAP + (to_the_right ? 0 : fill);
    if (s->full > 0.0)
        *pending += put_bar(p, s->full, row ? &row[column] : NULL);
}

static void put_number(const printer *p, bool header, size_t *pending) {
    char text[32] = "";
    snprintf(text, sizeof text, "%zu", p->row);
    tm_out_spaces(p->out, p->number - strlen(header ? number_header : text));
    tm_out_string(p->out, header ? number_header : text);
    *pending = GAP;
}

static void put_line(const printer *p, const tm_cell *row) {
    size_t pending = 0;
    if (p->number > 0)
        put_number(p, !row, &pending);
    for (int c = 0; c < p->n_keys; c++)
        put_cell(p, c, row, &pending);
    for (int c = p->first; c < p->end; c++)
        put_cell(p, c, row, &pending);
    tm_out_char(p->out, '\n');
}

/* Prints the prose of a row, each sentence with its column name in front. */
static void put_prose(const printer *p, const tm_cell *row) {
    const tm_table_def *def = p->def;
    size_t widest = 0;
    for (int c = n_beside(def); c < def->n_columns; c++)
        widest = strlen(def->columns[c].name) > widest ? strlen(def->columns[c].name) : widest;
    for (int c = n_beside(def); c < def->n_columns; c++) {
        const char *name = def->columns[c].name;
        if (row[c].null)
            continue;
        tm_out_spaces(p->out, GAP);
        for (const char *letter = name; *letter; letter++)
            tm_out_char(p->out, *letter == '_' ? ' ' : *letter);
        tm_out_spaces(p->out, widest - strlen(name) + GAP);
        tm_out_wrapped(p->out, row[c].value.text, widest + (size_t)2 * GAP, p->width);
    }
}

static tm_status put_slice(void *context, const tm_table *slice, tm_error *err) {
    printer *p = context;
    for (size_t r = 0; r < slice->n_rows && !p->out->failed; r++) {
        p->row++;
        put_line(p, tm_table_row(slice, r));
        if (p->end == n_beside(p->def))
            put_prose(p, tm_table_row(slice, r));
    }
    return tm_sink_spill(p->sink, err);
}

/* Prints at least one block, even if all columns are keys. */
static tm_status put_blocks(printer *p, const tm_rows *rows, tm_error *err) {
    p->first = p->n_keys;
    do {
        p->end = end_of_block(p, p->first);
        p->row = 0;
        if (p->first > p->n_keys)
            tm_out_char(p->out, '\n');
        put_line(p, NULL);
        TM_TRY(rows->each(rows, put_slice, p, err));
        p->first = p->end;
    } while (p->first < n_beside(p->def));
    return TM_OK;
}

tm_status tm_stream_text(const tm_rows *rows, const tm_text_style *style, const tm_sink_out *sink,
                         tm_error *err) {
    printer p = {.def = rows->def,
                 .points = TM_SHOWN_POINTS,
                 .n_keys = rows->def->n_keys,
                 .sink = sink,
                 .out = sink->out};
    p.width = style->width > 0 ? (size_t)style->width : SIZE_MAX;
    p.shapes = calloc((size_t)p.def->n_columns, sizeof *p.shapes);
    if (!p.shapes)
        return tm_fail_memory(err);
    tm_status status = measure(&p, rows, style->origin_ns, err);
    if (status == TM_OK)
        status = choose_layout(&p, rows, style->origin_ns, err);
    if (style->bars && status == TM_OK)
        add_bars(&p);
    if (status == TM_OK)
        status = put_blocks(&p, rows, err);
    for (int c = 0; c < p.def->n_columns; c++)
        tm_alike_free(&p.shapes[c].alike);
    free(p.shapes);
    return status;
}

tm_status tm_table_text(const tm_table *table, int width, char **out, tm_error *err) {
    tm_out text = TM_OUT();
    const tm_sink_out sink = {&text, NULL};
    const tm_text_style style = {.width = width};
    const tm_rows rows = tm_rows_of(table);
    tm_status status = tm_stream_text(&rows, &style, &sink, err);
    if (status == TM_OK)
        return tm_out_take(&text, out, NULL, err);
    tm_vec_free(&text.bytes);
    return status;
}

#include "select.h"

#include <stdlib.h>
#include <string.h>

#include "table/levels.h"

static int add_column(tm_selection *s, const tm_table_def *def, const char *column) {
    int at = tm_table_column(&s->read, column), from = tm_table_column(def, column);
    if (at >= 0 || from < 0)
        return at;
    s->columns[s->read.n_columns] = def->columns[from];
    return s->read.n_columns++;
}

/* Returns the index in the table of the i-th shown column. */
static int place_of(const tm_table_def *def, int i, const tm_selection *s) {
    const char *column = s->shown.columns[i].name;
    return tm_table_column(def, column);
}

/* Makes the definition of the shown columns. In a definition, keys come first and prose comes last.
 * A key or prose that the user puts elsewhere becomes a plain column. */
static void shape_shown(tm_selection *s, const tm_table_def *def) {
    const tm_table_def shown = s->read;
    int n_beside = def->n_columns - def->n_prose;
    s->shown = shown;
    s->shown.n_keys = s->shown.n_prose = 0;
    while (s->shown.n_keys < shown.n_columns && place_of(def, s->shown.n_keys, s) < def->n_keys)
        s->shown.n_keys++;
    while (s->shown.n_prose < shown.n_columns &&
           place_of(def, shown.n_columns - 1 - s->shown.n_prose, s) >= n_beside)
        s->shown.n_prose++;
}

/* Collects the columns to read. The shown columns come first, so that the remaining cells of a row
 * can be cut off. */
static tm_status choose_columns(tm_selection *s, const tm_table_def *def, tm_error *err) {
    const tm_show_options *options = s->options;
    const char *const *columns = options->columns.data;
    s->columns = calloc((size_t)def->n_columns, sizeof *s->columns);
    if (!s->columns)
        return tm_fail_memory(err);
    s->read = *def;
    s->read.columns = s->columns;
    s->read.n_columns = 0;
    for (size_t i = 0; i < options->columns.n; i++)
        (void)add_column(s, def, columns[i]);
    for (int c = 0; c < def->n_columns && options->columns.n == 0; c++) {
        const char *own_column = def->columns[c].name;
        (void)add_column(s, def, own_column);
    }
    shape_shown(s, def);
    const char *column = options->sort_column                 ? options->sort_column
                         : options->top >= 0 && def->top >= 0 ? def->columns[def->top].name
                                                              : NULL;
    s->sort = column ? add_column(s, def, column) : -1;
    s->rank = options->ranks.n > 0 ? add_column(s, def, "rank") : -1;
    s->step = options->steps.n > 0 ? add_column(s, def, "step") : -1;
    s->level = tm_table_has_levels(def) ? add_column(s, def, "level") : -1;
    for (size_t i = 0; i < tm_where_n(&options->where); i++)
        (void)add_column(s, def, tm_where_column(&options->where, i));
    s->read.top = s->shown.top = -1;
    s->read.n_keys = s->read.n_prose = 0;
    return tm_where_bind(&options->where, &s->read, &s->where, err);
}

/* Returns whether a row is selected by a list: the list has the number in the row's column. If the
 * table lacks the column, all rows are selected. */
static bool is_listed(const tm_list *list, const tm_cell *row, int column) {
    return column < 0 || (!row[column].null && tm_list_has(list, row[column].value.i));
}

/* Removes the rows from @p first on that are not selected. */
static void filter(const tm_selection *s, tm_table *table, size_t first) {
    size_t n = first;
    for (size_t r = first; r < table->n_rows; r++) {
        const tm_cell *row = tm_table_row(table, r);
        if (!is_listed(&s->options->ranks, row, s->rank) ||
            !is_listed(&s->options->steps, row, s->step) ||
            (s->level >= 0 &&
             !tm_show_options_has_level(s->options, s->of, row[s->level].value.text)) ||
            !tm_where_takes(&s->where, row))
            continue;
        if (n < r)
            memcpy(tm_table_row(table, n), row, (size_t)table->def->n_columns * sizeof *row);
        n++;
    }
    table->n_rows = n;
}

/* Removes the hidden columns from all rows, in place. */
static tm_table squeeze(const tm_selection *s, tm_table *table) {
    tm_table shown = *table;
    size_t width = (size_t)s->read.n_columns, left = (size_t)s->shown.n_columns;
    for (size_t r = 0; r < table->n_rows && left < width; r++)
        memmove(table->cells + r * left, table->cells + r * width, left * sizeof *table->cells);
    shown.def = &s->shown;
    return shown;
}

/* Context of pass_slice, which passes the selected rows of each slice to the visitor, and keeps
 * none. */
typedef struct passing {
    const tm_selection *selection;
    tm_rows_visitor *visitor;
    void *context;
} passing;

static tm_status pass_slice(void *context, tm_table *table, tm_error *err) {
    const passing *p = context;
    filter(p->selection, table, 0);
    const tm_table shown = squeeze(p->selection, table);
    tm_status status = shown.n_rows > 0 ? p->visitor(p->context, &shown, err) : TM_OK;
    tm_table_clear(table);
    return status;
}

static tm_status each_row(const tm_rows *rows, tm_rows_visitor *visitor, void *context,
                          tm_error *err) {
    const tm_selection *s = rows->source;
    if (s->is_held)
        return visitor(context, &s->held.tables[0], err);
    passing p = {s, visitor, context};
    tm_tables slice;
    const tm_table_def *def = &s->read;
    TM_TRY(tm_tables_create(&def, 1, &slice, err));
    tm_status status = tm_store_visit_table(s->store, &slice.tables[0], pass_slice, &p, err);
    tm_tables_destroy(&slice);
    return status;
}

/* Context of hold_slice, which keeps the selected rows of all slices. Before each call, the table
 * has the rows kept so far, followed by those of the new slice. */
typedef struct holding {
    tm_selection *selection;
    size_t n_rows; /* rows kept so far */
} holding;

static void put_in_order(const tm_selection *s, tm_table *table) {
    bool ascending = s->options->sort_column && !s->options->descending;
    /* s->sort is negative if --top is given without --sort, and the table has no top column. The
     * rows then keep their order. */
    if (s->sort >= 0)
        tm_table_order(table, s->sort, ascending);
    if (s->options->top >= 0 && s->level >= 0)
        tm_table_top_each(table, s->level, (size_t)s->options->top);
    else if (s->options->top >= 0 && table->n_rows > (size_t)s->options->top)
        table->n_rows = (size_t)s->options->top;
}

/* Copies the remaining rows into new memory. This frees the texts of the removed rows. */
static tm_status renew(tm_table *table, tm_error *err) {
    void *bytes;
    size_t size;
    TM_TRY(tm_table_pack(table, &bytes, &size, err));
    tm_table_clear(table);
    tm_status status = tm_table_unpack(table, bytes, size, err);
    free(bytes);
    return status;
}

static tm_status hold_slice(void *context, tm_table *table, tm_error *err) {
    enum { ROOM = 4096 };
    holding *h = context;
    const tm_show_options *options = h->selection->options;
    size_t read = table->n_rows;
    filter(h->selection, table, h->n_rows);
    if (options->top >= 0 && table->n_rows > 2 * (size_t)options->top + ROOM)
        put_in_order(h->selection, table);
    h->n_rows = table->n_rows;
    return table->n_rows < read / 2 ? renew(table, err) : TM_OK;
}

static tm_status hold(tm_selection *s, tm_error *err) {
    holding h = {s, 0};
    const tm_table_def *def = &s->read;
    TM_TRY(tm_tables_create(&def, 1, &s->held, err));
    tm_table *table = &s->held.tables[0];
    TM_TRY(tm_store_visit_table(s->store, table, hold_slice, &h, err));
    put_in_order(s, table);
    *table = squeeze(s, table);
    s->is_held = true;
    return TM_OK;
}

tm_status tm_selection_make(const tm_store *store, const tm_table_def *def,
                            const tm_show_options *options, tm_selection *out, tm_error *err) {
    *out = (tm_selection){.store = store, .options = options, .of = def};
    TM_TRY(choose_columns(out, def, err));
    return options->sort_column || options->top >= 0 ? hold(out, err) : TM_OK;
}

void tm_selection_free(tm_selection *selection) {
    tm_tables_destroy(&selection->held);
    tm_where_unbind(&selection->where);
    free(selection->columns);
}

tm_rows tm_selection_rows(const tm_selection *selection) {
    return (tm_rows){&selection->shown, each_row, selection};
}

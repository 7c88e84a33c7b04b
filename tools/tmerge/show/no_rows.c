#include "no_rows.h"

#include <stdio.h>
#include <string.h>

#include "table/shown.h"

enum { N_SHOWN = 8 };

/* The texts of a condition's column. */
typedef struct texts {
    const tm_where *where;
    size_t condition;
    bool met; /* at least one text meets the condition */
    size_t n; /* different texts; those after the first N_SHOWN are not kept */
    char shown[N_SHOWN][TM_SHOWN_MAX];
} texts;

static void add(texts *t, const tm_column *column, const tm_cell *cell) {
    char shown[TM_SHOWN_MAX];
    tm_shown_cell(column, (tm_shown_unit){.name = ""}, cell, shown);
    for (size_t i = 0; i < t->n && i < N_SHOWN; i++)
        if (strcmp(t->shown[i], shown) == 0)
            return;
    if (t->n < N_SHOWN)
        memcpy(t->shown[t->n], shown, sizeof shown);
    t->n += t->n <= N_SHOWN;
}

static tm_status add_slice(void *context, const tm_table *slice, tm_error *err) {
    texts *t = context;
    (void)err;
    for (size_t r = 0; r < slice->n_rows; r++) {
        const tm_cell *cell = tm_table_row(slice, r);
        t->met = t->met || tm_where_meets(t->where, t->condition, cell);
        if (!cell->null)
            add(t, slice->def->columns, cell);
    }
    return TM_OK;
}

static tm_status read_texts(const tm_store *store, const tm_table_def *def,
                            const tm_show_options *options, texts *out, tm_error *err) {
    const char *column = tm_where_column(&options->where, out->condition);
    const tm_show_options only = {.arguments = options->arguments,
                                  .top = -1,
                                  .columns = {.data = &column, .n = 1, .size = sizeof column}};
    tm_selection selection;
    tm_status status = tm_selection_make(store, def, &only, &selection, err);
    if (status == TM_OK) {
        const tm_rows rows = tm_selection_rows(&selection);
        status = rows.each(&rows, add_slice, out, err);
    }
    tm_selection_free(&selection);
    return status;
}

static void write_texts(const texts *t, char out[TM_NO_ROWS_MAX]) {
    int used =
        snprintf(out, TM_NO_ROWS_MAX, "%s has no '%.48s', but",
                 tm_where_column(t->where, t->condition), tm_where_sought(t->where, t->condition));
    for (size_t i = 0; i < t->n && used < TM_NO_ROWS_MAX; i++)
        used += snprintf(out + used, (size_t)(TM_NO_ROWS_MAX - used), "%s %s", i > 0 ? "," : "",
                         i < N_SHOWN ? t->shown[i] : "...");
}

tm_status tm_no_rows_why(const tm_store *store, const tm_table_def *def,
                         const tm_show_options *options, char out[TM_NO_ROWS_MAX], tm_error *err) {
    out[0] = '\0';
    for (size_t i = 0; i < tm_where_n(&options->where) && out[0] == '\0'; i++) {
        const int column = tm_table_column(def, tm_where_column(&options->where, i));
        texts t = {.where = &options->where, .condition = i};
        if (!tm_where_sought(&options->where, i) || def->columns[column].type != TM_TEXT)
            continue;
        TM_TRY(read_texts(store, def, options, &t, err));
        if (!t.met && t.n > 0)
            write_texts(&t, out);
    }
    return TM_OK;
}

/* Tables: typed columns with a unit and a doc string each. Every result is a table, and every
 * output (store, terminal, JSON, CSV, report) is drawn from the table's definition. */
#ifndef TMERGE_TABLE_H
#define TMERGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

typedef enum tm_type { TM_INT, TM_REAL, TM_TEXT, TM_BOOL } tm_type;

/** "int", "real", "text" or "bool": the words of `--json` and `tmerge list`. */
const char *tm_type_name(tm_type type);

typedef struct tm_column {
    const char *name;
    tm_type type;
    const char
        *unit; /* "ns", "%", "B", "GB/s", "ppb", "FLOP", "FLOP/B", "GFLOP/s", "TFLOP/s" or "" */
    const char *doc; /* one sentence, with the formula */
} tm_column;

/** Whether it is a time since the epoch: whole nanoseconds, and its doc says so. */
bool tm_column_is_epoch(const tm_column *column);

/** How a report draws a table that has no view of its own, besides its rows. */
typedef enum tm_form {
    TM_FORM_TABLE, /* not at all */
    TM_FORM_BARS,  /* a bar for each rank, which is its only key */
    TM_FORM_MAP,   /* ranks by steps: it has a column `step` */
    TM_FORM_LINE   /* a line for each rank over the column of times */
} tm_form;

typedef struct tm_table_def {
    const char *name; /* "analysis.table" */
    const char *doc;  /* what a row is */
    const tm_column *columns;
    int n_columns;
    int n_keys;    /* leading columns that name a row; rows are sorted by them */
    int top;       /* the column by which `--top` ranks, largest first; -1 where there is none */
    bool internal; /* only on the way to another table: neither stored nor shown */
    int n_merged;  /* of an internal table without texts: the leading keys; rows of all ranks that
                    * are equal in them come together on one process, to be merged; 0: not merged */
    int n_prose;   /* trailing text columns that hold sentences: a terminal shows them whole, below
                    * their row */
    tm_form form;  /* of the column `top` */
} tm_table_def;

/** One value. A value that does not exist is null: never NaN, never 0. */
typedef struct tm_cell {
    union {
        int64_t i;        /* TM_INT; TM_BOOL as 0 or 1 */
        double r;         /* TM_REAL, finite */
        const char *text; /* TM_TEXT, terminated UTF-8, owned by the table */
    } value;
    bool null;
} tm_cell;

typedef struct tm_table {
    const tm_table_def *def;
    tm_cell *cells; /* [n_rows * def->n_columns], row after row, owned */
    size_t n_rows;
    size_t capacity;        /* rows allocated */
    struct tm_texts *texts; /* what the text cells point to; owned, NULL until the first text */
    struct tm_vec *aside;   /* packs of the rows that were put aside; owned, NULL where none were */
    bool rests;             /* all are aside until tm_tables_find is asked for the table */
    bool lost;              /* memory was out then */
} tm_table;

/** All tables of a run, one for each definition given at creation. */
typedef struct tm_tables {
    tm_table *tables; /* owned; the one behind the last is what an unknown name gives */
    size_t n_tables;
    const char **names; /* owned; [n_tables] as their definitions have them, for tm_tables_find */
} tm_tables;

/**
 * Creates empty tables.
 *
 * @param defs  [n_defs] what they hold, each with one column at least; must outlive the tables
 * @param out   destroyed by the caller; set only on TM_OK
 * @return      TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_tables_create(const tm_table_def *const *defs, size_t n_defs, tm_tables *out,
                           tm_error *err) TM_MUST_CHECK;

/** Frees the tables with their rows and texts; NULL and tables already destroyed are fine. */
void tm_tables_destroy(tm_tables *tables);

/** Takes all rows out, those put aside too, and gives back the memory that they took. */
void tm_table_clear(tm_table *table);

/** Takes all rows and texts out, but for those put aside, and keeps the room of the rows. */
void tm_table_clear_rows(tm_table *table);

/** Gives back the room of rows that are not there. */
void tm_table_trim(tm_table *table);

/**
 * The table of a name that is ours ("overlap.rank"), its rows taken back where it rests. One that
 * does not exist is a bug: an assert, and where asserts are off a table that is empty and stays so.
 */
tm_table *tm_tables_find(const tm_tables *tables, const char *table);

/** Whether a text is the name of the table: "overlap.rank", or overlap_rank, as SQL takes it
 * without quotes. */
bool tm_table_is_named(const tm_table_def *def, const char *text);

/** Whether a text is the name of the table or of its analysis, "overlap". */
bool tm_table_is_meant(const tm_table_def *def, const char *text);

/** The table of a name that somebody gave, or NULL. */
tm_table *tm_tables_look_up(const tm_tables *tables, const char *name);

/**
 * Appends a row whose cells are all null. It may move the table's cells: pointers to other rows
 * are no longer valid after it.
 *
 * @return  the row's first cell, borrowed; NULL when memory is out
 */
tm_cell *tm_table_add_row(tm_table *table) TM_MUST_CHECK;

/** The first cell of a row below n_rows; valid until rows are added, sorted or taken out. */
tm_cell *tm_table_row(const tm_table *table, size_t row);

/** The position of a column that the table may have, or -1. */
int tm_table_column(const tm_table_def *def, const char *column);

/** A column that the table must have. Another is a bug: an assert, and where asserts are off an int
 * without a name. */
const tm_column *tm_column_of(const tm_table_def *def, const char *column);

/** The cell of such a column in a row; where asserts are off, null for a column that is not there.
 */
const tm_cell *tm_table_cell(const tm_table *table, size_t row, const char *column);

/** The row whose leading columns are these keys, ints by which the rows are sorted; n_rows where
 * there is none. */
size_t tm_table_find_row(const tm_table *table, const int64_t *keys, int n_keys);

/** Setters by position; a real that is not finite becomes null. */
void tm_cell_set_int(tm_cell *cell, int64_t value);
void tm_cell_set_bool(tm_cell *cell, bool value);
void tm_cell_set_real(tm_cell *cell, double value);

/** Null where the denominator is 0, else scale * numerator / denominator. */
void tm_cell_set_ratio(tm_cell *cell, double scale, int64_t numerator, int64_t denominator);

/**
 * Copies a text into the table; NULL gives null. Each maximal subpart that is not UTF-8 becomes one
 * U+FFFD; control characters stay, and the renderers deal with them.
 *
 * @param cell  of a text column, in a row of @p table; unchanged unless TM_OK
 * @return      TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_table_set_text(tm_table *table, tm_cell *cell, const char *text,
                            tm_error *err) TM_MUST_CHECK;

/** The same for bytes without a terminator. A zero byte becomes U+FFFD too. */
tm_status tm_table_set_bytes(tm_table *table, tm_cell *cell, const char *bytes, size_t size,
                             tm_error *err) TM_MUST_CHECK;

/** Sorts rows by the key columns (nulls last), stably. */
void tm_table_sort(tm_table *table);

/** Keeps only the rows for which @p keep says true, in order. */
void tm_table_filter(tm_table *table, bool (*keep)(const tm_table *, const tm_cell *row, void *),
                     void *context);

/** Sorts rows by one column, largest first, nulls last; equal ones keep their order. */
void tm_table_rank(tm_table *table, int column);

/** The same, largest or smallest first. */
void tm_table_order(tm_table *table, int column, bool smallest);

/** Keeps the (at most) @p n rows with the largest values in the table's `top` column, largest
 * first; equal ones in row order, nulls last. */
void tm_table_top(tm_table *table, size_t n);

/**
 * Rows as bytes, to be sent to another process of the same program.
 * @param bytes  malloc'ed, freed by the caller; set only on TM_OK, as is @p size
 * @return       TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_table_pack(const tm_table *table, void **bytes, size_t *size,
                        tm_error *err) TM_MUST_CHECK;

/**
 * Appends the rows that tm_table_pack wrote, of several packs one behind another too.
 *
 * @param bytes  of any alignment; the texts in them are copied
 * @return       TM_OK; TM_ERR_FAULT where memory is out or the bytes, cut short or damaged, do not
 *               fit the table (the error's offset is into @p bytes); no row is appended then
 */
tm_status tm_table_unpack(tm_table *table, const void *bytes, size_t size,
                          tm_error *err) TM_MUST_CHECK;

/**
 * Packs all rows, of which the table has none afterwards, behind those that were put aside before:
 * for rows that wait until those of all ranks are there, in a fifth of the memory.
 * TM_OK; TM_ERR_FAULT where memory is out.
 */
tm_status tm_table_put_aside(tm_table *table, tm_error *err) TM_MUST_CHECK;

/**
 * Shows the rows that were put aside, in the order in which they were added, one by one: for those
 * who need some of them, or each but once. They stay aside.
 * @param visit  gets a row [columns], which is there until it returns; false when memory is out
 * @return       TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_table_each_aside(const tm_table *table,
                              bool (*visit)(void *context, const tm_cell *row), void *context,
                              tm_error *err) TM_MUST_CHECK;

/** Makes all rows that were put aside rows again, and those that came since, in the order in which
 * they were added. TM_OK; TM_ERR_FAULT where memory is out. */
tm_status tm_table_take_back(tm_table *table, tm_error *err) TM_MUST_CHECK;

/**
 * Puts all rows aside until tm_tables_find is asked for the table: for rows that are complete and
 * sorted, and of which many tables are only stored. Does nothing with few rows.
 * TM_OK; TM_ERR_FAULT where memory is out.
 */
tm_status tm_table_rest(tm_table *table, tm_error *err) TM_MUST_CHECK;

/** Appends the rows of a table that rests to another of the same definition; the first goes on
 * resting. TM_OK; TM_ERR_FAULT where memory is out. */
tm_status tm_table_copy_resting(const tm_table *table, tm_table *into, tm_error *err) TM_MUST_CHECK;

/** TM_ERR_FAULT where memory was out when tm_tables_find was asked for a table that rested, which
 * has no rows then; else TM_OK. */
tm_status tm_tables_whole(const tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/* Renderers. Each gives malloc'ed terminated UTF-8 text that the caller frees, set only on TM_OK;
 * they fail with TM_ERR_FAULT, where memory is out, alone. Lines end in "\n" except in CSV. */

/**
 * The document of `--json`: {"tmerge": 1, "store": ..., "tables": {...}}. Integers are exact,
 * reals have the fewest digits that give the same double again and always a point or an exponent
 * ("2.0"). One row stands on one line.
 *
 * @param store  path as it is shown, in any bytes; NULL gives null
 */
tm_status tm_tables_json(const tm_table *const *tables, size_t n_tables, const char *store,
                         char **out, tm_error *err) TM_MUST_CHECK;

/** RFC 4180 (lines end in CR LF) with a header line. Null is an empty field, the empty text is "".
 * Bools are true and false, numbers as in JSON. */
tm_status tm_table_csv(const tm_table *table, char **out, tm_error *err) TM_MUST_CHECK;

/**
 * Columns aligned for the eye: one unit for each column, named in its header (ns, us, ms or s for
 * times; of times of many orders each has its own), "-" for null. Columns of sentences follow below
 * their row, each with its name, wrapped. The table's name is not printed.
 *
 * @param width  columns of the terminal, 0 for no limit; what does not fit continues in a further
 * block that repeats the key columns, or where these leave no room numbers of the rows; 24 code
 * points of a text are shown at least
 */
tm_status tm_table_text(const tm_table *table, int width, char **out, tm_error *err) TM_MUST_CHECK;

/** What `tmerge list --doc` prints of the definitions: every column with type, unit and doc, in
 * lines of @p width columns. */
tm_status tm_table_defs_text(const tm_table_def *const *defs, size_t n_defs, int width, char **out,
                             tm_error *err) TM_MUST_CHECK;

#endif

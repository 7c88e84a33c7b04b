/* Tables: typed columns, each with a unit and a doc string. Every result is a table, and every
 * output (store, terminal, JSON, CSV, report) is generated from the table's definition. */
#ifndef TMERGE_TABLE_H
#define TMERGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

typedef enum tm_type { TM_INT, TM_REAL, TM_TEXT, TM_BOOL } tm_type;

/** Returns "int", "real", "text" or "bool", the words of `--json` and `tmerge list`. */
const char *tm_type_name(tm_type type);

typedef struct tm_column {
    const char *name;
    tm_type type;
    const char
        *unit; /* "ns", "%", "B", "GB/s", "ppb", "FLOP", "FLOP/B", "GFLOP/s", "TFLOP/s" or "" */
    const char *doc; /* a sentence that says what the column means, with the formula */
} tm_column;

/** Unit "ns" of columns that hold times since the epoch. Such columns point to this array; other
 * columns in ns point to other texts. tm_column_is_epoch compares the pointers. */
extern const char tm_epoch_ns[];

/** Returns whether a column is a time since the epoch. */
bool tm_column_is_epoch(const tm_column *column);

/** The chart that a report draws above the rows of a table, unless the page has its own view of the
 * table. */
typedef enum tm_form {
    TM_FORM_TABLE, /* no chart, only rows */
    TM_FORM_BARS,  /* a bar for each rank; the rank is the table's only key */
    TM_FORM_MAP,   /* a map of ranks and steps; the table has a column `step` */
    TM_FORM_LINE   /* a line for each rank over the table's column of times */
} tm_form;

typedef struct tm_table_def {
    const char *name; /* "analysis.table" */
    const char *doc;  /* meaning of a row */
    const tm_column *columns;
    int n_columns;
    int n_keys;    /* number of leading columns that identify a row; rows are sorted by them */
    int top;       /* index of the column by which `--top` sorts, largest first; -1: none */
    bool internal; /* the table is only an input of other tables; it is neither stored nor shown */
    int n_merged; /* only for internal tables without texts: number of leading columns that form the
                     key by which rows of all ranks are merged; 0: rows are not merged */
    int n_prose;  /* number of last columns that hold sentences; a terminal prints the sentences in
                     full below their row */
    tm_form form; /* chart of the column `top` */
} tm_table_def;

/* TM_INTERNAL_TABLE defines an internal table. TM_PART_TABLE defines an internal table whose rows
 * are merged over ranks. @p rank is the index of the column with the rank. The columns before it
 * are the key. */
#define TM_INTERNAL_TABLE(name_, doc_, columns_, n_keys_)                                          \
    {                                                                                              \
        .name = name_, .doc = doc_, TM_ARRAY(columns, columns_), .n_keys = n_keys_, .top = -1,     \
        .internal = true                                                                           \
    }
#define TM_PART_TABLE(name_, doc_, columns_, rank)                                                 \
    {                                                                                              \
        .name = name_, .doc = doc_, TM_ARRAY(columns, columns_), .n_keys = (rank) + 1, .top = -1,  \
        .internal = true, .n_merged = rank                                                         \
    }

/** One value. A missing value is null: never NaN, never 0. */
typedef struct tm_cell {
    union {
        int64_t i;        /* value of type TM_INT, or of TM_BOOL as 0 or 1 */
        double r;         /* TM_REAL, finite */
        const char *text; /* TM_TEXT, terminated UTF-8, owned by the table */
    } value;
    bool null;
} tm_cell;

typedef struct tm_table {
    const tm_table_def *def;
    tm_cell *cells; /* owned; [n_rows * def->n_columns] cells, row after row */
    size_t n_rows;
    size_t capacity;           /* rows allocated */
    struct tm_texts *texts;    /* storage of the text cells; owned, NULL until the first text */
    struct tm_vec *compressed; /* packed rows; owned, NULL if there are none */
    bool rests; /* all rows stay packed until tm_tables_find is called for the table */
    bool lost;  /* memory ran out while the rows were unpacked */
} tm_table;

/** All tables of a run, one for each definition passed at creation. */
typedef struct tm_tables {
    tm_table *tables; /* owned; [n_tables + 1]: the last one is empty, and is returned for unknown
                         names */
    size_t n_tables;
    const char **names; /* owned; [n_tables] names of the definitions, for tm_tables_find */
} tm_tables;

/**
 * Creates empty tables.
 * @param defs  [n_defs] their definitions, each with at least one column; must outlive the tables
 * @param out   destroyed by the caller; set only on TM_OK
 * @return      TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_tables_create(const tm_table_def *const *defs, size_t n_defs, tm_tables *out,
                           tm_error *err) TM_MUST_CHECK;

/** Frees the tables with their rows and texts. NULL and destroyed tables are allowed. */
void tm_tables_destroy(tm_tables *tables);

/** Removes all rows, including packed ones, and frees their memory. */
void tm_table_clear(tm_table *table);

/** Removes all texts, and all rows that are not packed. Keeps the memory for new rows. Packed rows
 * stay. */
void tm_table_clear_rows(tm_table *table);

/** Frees the memory of unused rows. */
void tm_table_trim(tm_table *table);

/** Returns the table of an internal name ("overlap.rank") and unpacks its rows if they are packed.
 * An unknown name is a bug: fails an assert or, without asserts, returns an empty table. */
tm_table *tm_tables_find(const tm_tables *tables, const char *table);

/** Returns whether a text is the name of the table: "overlap.rank", or overlap_rank, which SQL
 * accepts without quotes. */
bool tm_table_is_named(const tm_table_def *def, const char *text);

/** Returns whether a text is the name of the table or of its analysis ("overlap"). Accepts the
 * names of the previous version, too. */
bool tm_table_is_meant(const tm_table_def *def, const char *text);

enum { TM_TABLE_NAME = 64 };

/** Splits a column's name such as "overlap.rank.idle_ns": sets @p table to "overlap.rank", and
 * returns "idle_ns". Returns NULL if there is no dot or the table's name is too long. */
const char *tm_table_split(const char *name, char table[TM_TABLE_NAME]);

/** Returns the table of a name given by the user, or NULL. */
tm_table *tm_tables_look_up(const tm_tables *tables, const char *name);

/**
 * Appends a row whose cells are all null. May move the table's cells, which invalidates pointers to
 * other rows.
 * @return  the row's first cell, borrowed; NULL when out of memory
 */
tm_cell *tm_table_add_row(tm_table *table) TM_MUST_CHECK;

/** Returns the first cell of a row below n_rows; valid until rows are added, sorted or removed. */
tm_cell *tm_table_row(const tm_table *table, size_t row);

/** Returns the index of a column, or -1 if the table does not have the column. */
int tm_table_column(const tm_table_def *def, const char *column);

/** Returns a column that the table must have. An unknown name is a bug: fails an assert or, without
 * asserts, returns an int column without a name. */
const tm_column *tm_column_of(const tm_table_def *def, const char *column);

/** Returns the cell of a row in a column that the table must have. An unknown column is a bug:
 * fails an assert or, without asserts, returns a null cell. */
const tm_cell *tm_table_cell(const tm_table *table, size_t row, const char *column);

/** Returns the first row whose leading columns equal these integer keys; n_rows if there is none.
 * The rows must be sorted by these columns. */
size_t tm_table_find_row(const tm_table *table, const int64_t *keys, int n_keys);

/** Set a cell. A real that is not finite becomes null. */
void tm_cell_set_int(tm_cell *cell, int64_t value);
void tm_cell_set_bool(tm_cell *cell, bool value);
void tm_cell_set_real(tm_cell *cell, double value);

/** Sets a cell to a value that is not negative. A negative value stands for an unknown one, and
 * leaves the cell as it is. */
void tm_cell_set_known(tm_cell *cell, int64_t value);

/** Sets the cell to scale * numerator / denominator; null if the denominator is 0. */
void tm_cell_set_ratio(tm_cell *cell, double scale, int64_t numerator, int64_t denominator);

/**
 * Copies a text into the table; NULL gives null. Each maximal subpart that is not UTF-8 becomes one
 * U+FFFD. Control characters stay in the table; the renderers handle them.
 * @param cell  cell of a text column in a row of @p table; unchanged unless the call returns TM_OK
 * @return      TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_table_set_text(tm_table *table, tm_cell *cell, const char *text,
                            tm_error *err) TM_MUST_CHECK;

/** Copies bytes without a terminator into the table, like tm_table_set_text. A zero byte also
 * becomes U+FFFD. */
tm_status tm_table_set_bytes(tm_table *table, tm_cell *cell, const char *bytes, size_t size,
                             tm_error *err) TM_MUST_CHECK;

/** Sorts rows by the key columns (nulls last); stable. */
void tm_table_sort(tm_table *table);

/** Removes the rows for which @p keep returns false. */
void tm_table_filter(tm_table *table, bool (*keep)(const tm_table *, const tm_cell *row, void *),
                     void *context);

/** Sorts rows by one column, largest first, nulls last; stable. */
void tm_table_rank(tm_table *table, int column);

/** Sorts rows by one column, largest or smallest first. */
void tm_table_order(tm_table *table, int column, bool smallest);

/** Keeps the @p n rows with the largest values in the table's `top` column, or n rows of each level
 * if the table's first column is `level`. Sorts them: largest first, equal values in the order of
 * the rows, nulls last. */
void tm_table_top(tm_table *table, size_t n);

/** Sorts rows by a text column and keeps the first @p n rows of each text. */
void tm_table_top_each(tm_table *table, int column, size_t n);

/**
 * Serialises rows for another process of the same program.
 * @param bytes  malloc'ed, freed by the caller; set only on TM_OK, like @p size
 * @return       TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_table_pack(const tm_table *table, void **bytes, size_t *size,
                        tm_error *err) TM_MUST_CHECK;

/**
 * Appends the rows that tm_table_pack wrote. Several packs may be concatenated.
 * @param bytes  may have any alignment; their texts are copied
 * @return       TM_OK; TM_ERR_FAULT when out of memory, or if the bytes are cut short, damaged or
 *               of another table (the error has the offset in @p bytes); then no row is appended
 */
tm_status tm_table_unpack(tm_table *table, const void *bytes, size_t size,
                          tm_error *err) TM_MUST_CHECK;

/** Packs all rows, appends them to the rows that are already packed, and leaves the table without
 * rows. Packed rows take a fifth of the memory. Returns TM_OK or TM_ERR_FAULT when out of memory.
 */
tm_status tm_table_compress(tm_table *table, tm_error *err) TM_MUST_CHECK;

/**
 * Visits the packed rows one by one, in the order in which they were added, without unpacking the
 * table.
 * @param visit  gets a row [columns], valid until it returns; returns false when out of memory
 * @return       TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_table_each_compressed(const tm_table *table,
                                   bool (*visit)(void *context, const tm_cell *row), void *context,
                                   tm_error *err) TM_MUST_CHECK;

/** Unpacks all packed rows and puts them before the other rows. Returns TM_OK or TM_ERR_FAULT when
 * out of memory. */
tm_status tm_table_take_back(tm_table *table, tm_error *err) TM_MUST_CHECK;

/** Packs all rows until tm_tables_find asks for the table. Call it when the rows are complete and
 * sorted. Does nothing for few rows. Returns TM_OK or TM_ERR_FAULT when out of memory. */
tm_status tm_table_rest(tm_table *table, tm_error *err) TM_MUST_CHECK;

/** Appends the rows of @p table to @p into. tm_table_rest has packed @p table, and its rows stay
 * packed. Both tables have the same definition. Returns TM_OK or TM_ERR_FAULT when out of memory.
 */
tm_status tm_table_copy_resting(const tm_table *table, tm_table *into, tm_error *err) TM_MUST_CHECK;

/** Returns TM_ERR_FAULT if memory ran out while tm_tables_find unpacked a table, so that the table
 * has no rows; else TM_OK. */
tm_status tm_tables_whole(const tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/* Renderers. Each returns malloc'ed terminated UTF-8 text that the caller frees, set only on TM_OK.
 * The only error is TM_ERR_FAULT, when out of memory. Lines end in "\n" except in CSV. */

/**
 * Renders the document of `--json`: {"tmerge": 1, "store": ..., "tables": {...}}. Integers are
 * exact. Reals have the fewest digits that give the same double again, and always a point or an
 * exponent ("2.0"). Each row is on one line.
 * @param store  path as shown, in any bytes; NULL gives null
 */
tm_status tm_tables_json(const tm_table *const *tables, size_t n_tables, const char *store,
                         char **out, tm_error *err) TM_MUST_CHECK;

/** Renders RFC 4180 CSV (lines end in CR LF) with a header line. Null is an empty field, the empty
 * text is "". Bools are true and false, numbers as in JSON. */
tm_status tm_table_csv(const tm_table *table, char **out, tm_error *err) TM_MUST_CHECK;

/**
 * Renders aligned columns. The header names the unit of each column: ns, us, ms or s for times.
 * Columns of times have different units if their times differ much in size. Null is "-". Sentences
 * are wrapped below their row, each with the name of its column. The table's name is not printed.
 * @param width  number of characters in a line of the terminal; 0: no limit. Columns that do not
 *               fit follow in another block. It repeats the key columns, or has row numbers if the
 *               key columns leave no room. At least 24 code points of each text are shown.
 */
tm_status tm_table_text(const tm_table *table, int width, char **out, tm_error *err) TM_MUST_CHECK;

/** Renders the definitions for `tmerge list --doc`: every column with type, unit and doc, in lines
 * of @p width columns. */
tm_status tm_table_defs_text(const tm_table_def *const *defs, size_t n_defs, int width, char **out,
                             tm_error *err) TM_MUST_CHECK;

#endif

/* Declarations that the files of the reader share. */
#ifndef TMERGE_STORE_READER_H
#define TMERGE_STORE_READER_H

#include <hdf5.h>

#include "base/arena.h"
#include "base/vec.h"
#include "table/renamed.h"
#include "tmerge/store.h"
#include "verified_file.h"

struct tm_store {
    char *path;                 /* in the arena */
    tm_verified_file *verified; /* owned */
    hid_t file;
    tm_arena arena;
    tm_vec tables; /* vector of const char *, in the arena */
};

/** Fails with TM_ERR_INPUT and the message "the store is damaged: WHAT". If memory ran out, fails
 * with TM_ERR_FAULT instead. */
tm_status tm_store_damaged(const tm_store *store, const char *what, tm_error *err);

/** Opens a one-dimensional dataset and sets its number of rows. Returns H5I_INVALID_HID if there is
 * no such dataset, or if it states more rows than the file can hold. */
hid_t tm_store_open_dataset(const tm_store *store, const char *path, size_t *rows);

/** Returns whether the store lacks a column because an older tmerge wrote it. If a whole attribute
 * table is missing, its columns are read as empty. Other missing columns are read as 0 if they are
 * counts, else as -1. */
bool tm_store_is_later(const tm_store *store, int table, const tm_record_column *column);

enum { TM_STORE_SOURCES = 4 };

/** Finds the tables of the store that have the rows of a table: the table itself or, in a store of
 * the previous version, the tables that were merged into it.
 * @param out [TM_STORE_SOURCES]; `was` is the table's name in the store
 * @return number of tables in @p out */
size_t tm_store_sources(const tm_store *store, const char *name, tm_renamed *out);

/** Reads a text attribute; NULL if there is none. The caller frees the text. Returns false when out
 * of memory. */
bool tm_store_text_of(hid_t object, const char *name, char **out);

/** Reads a whole column, which must fit in memory. @param out [n] freed by the caller */
tm_status tm_store_read_all(const tm_store *store, const char *path, tm_element element, void **out,
                            size_t *n, tm_error *err) TM_MUST_CHECK;

/** Computes the first row of each rank in each table from the counts in /ranks.
 * @param bases [n + 1] zeroed by the caller; bases[n] is set to the number of rows of each table
 * @return       TM_OK; TM_ERR_INPUT */
tm_status tm_store_lay_out(const tm_store *store, const tm_timeline *ranks, size_t n,
                           tm_row_base *bases, tm_error *err) TM_MUST_CHECK;

/** Opens a column of a record table. Fails if it does not have @p n_rows rows. */
tm_status tm_store_open_record(const tm_store *store, int table, const tm_record_column *column,
                               size_t n_rows, tm_store_column **out, tm_error *err) TM_MUST_CHECK;

/** Fails with TM_ERR_INPUT: a value in the column is impossible. */
tm_status tm_store_bad_value(const tm_store *store, int table, const tm_record_column *column,
                             tm_error *err) TM_MUST_CHECK;

/** Fails with TM_ERR_INPUT: the data of a rank is inconsistent, and @p fault describes how. */
tm_status tm_store_bad_rank(const tm_store *store, int64_t rank, const char *fault,
                            tm_error *err) TM_MUST_CHECK;

#endif

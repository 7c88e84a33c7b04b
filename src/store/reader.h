/* What the files of the reader share. */
#ifndef TMERGE_STORE_READER_H
#define TMERGE_STORE_READER_H

#include <hdf5.h>

#include "base/arena.h"
#include "base/vec.h"
#include "intake.h"
#include "tmerge/store.h"

struct tm_store {
    char *path;        /* in the arena */
    tm_intake *intake; /* owned */
    hid_t file;
    tm_arena arena;
    tm_vec tables; /* of const char *, in the arena */
};

/** TM_ERR_INPUT with "the store is damaged: WHAT", or TM_ERR_FAULT where memory is out. */
tm_status tm_store_damaged(const tm_store *store, const char *what, tm_error *err);

/** Opens a dataset with one dimension and tells its rows; H5I_INVALID_HID where there is none, or
 * where it claims more rows than the file can hold. */
hid_t tm_store_open_dataset(const tm_store *store, const char *path, size_t *rows);

/** Whether a column is of a table of attributes that an older tmerge did not write: of it neither
 * rows nor their number in /ranks are there. It is read as empty. Or it counts what an older one
 * did not, and is read as 0. */
bool tm_store_is_later(const tm_store *store, int table, const tm_record_column *column);

/** A text attribute of an object, freed by the caller; NULL where there is none. False where memory
 * is out. */
bool tm_store_text_of(hid_t object, const char *name, char **out);

/** A whole column, which must be small enough for memory. @param out [n] freed by the caller */
tm_status tm_store_read_all(const tm_store *store, const char *path, tm_element element, void **out,
                            size_t *n, tm_error *err) TM_MUST_CHECK;

/** Where the rows of each rank begin, from the numbers that /ranks tells, and behind the last, how
 * many there are. @param bases  [n + 1] zeros  @return  TM_OK; TM_ERR_INPUT */
tm_status tm_store_lay_out(const tm_store *store, const tm_timeline *ranks, size_t n,
                           tm_row_base *bases, tm_error *err) TM_MUST_CHECK;

/** Opens a column of a record table, which must have @p n_rows. */
tm_status tm_store_open_record(const tm_store *store, int table, const tm_record_column *column,
                               size_t n_rows, tm_store_column **out, tm_error *err) TM_MUST_CHECK;

/** TM_ERR_INPUT: it has a value that cannot be. */
tm_status tm_store_bad_value(const tm_store *store, int table, const tm_record_column *column,
                             tm_error *err) TM_MUST_CHECK;

/** TM_ERR_INPUT: what a rank holds does not fit together. */
tm_status tm_store_bad_rank(const tm_store *store, int64_t rank, const char *fault,
                            tm_error *err) TM_MUST_CHECK;

#endif

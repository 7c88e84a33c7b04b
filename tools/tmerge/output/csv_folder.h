/* Tables as CSV, each in a separate file, because a CSV file has one header. */
#ifndef TMERGE_CSV_FOLDER_H
#define TMERGE_CSV_FOLDER_H

#include "table/stream.h"

/** Option --csv-dir of commands that print several tables. */
#define TM_OPTION_CSV_DIR                                                                          \
    {                                                                                              \
        "csv-dir", 0, "FOLDER",                                                                    \
            "write a file TABLE.csv for each table into this folder, which is created"             \
    }

/** Makes the folder unless it exists. TM_OK; TM_ERR_OUTPUT. */
tm_status tm_csv_folder_make(const char *folder, tm_error *err) TM_MUST_CHECK;

/** Writes the rows to FOLDER/TABLE.csv, and overwrites an existing file. TM_OK; TM_ERR_OUTPUT; the
 * status of reading the rows. */
tm_status tm_csv_folder_add(const char *folder, const tm_rows *rows, tm_error *err) TM_MUST_CHECK;

/** Makes the folder and writes all tables. */
tm_status tm_csv_folder_write(const char *folder, const tm_table *const *tables, size_t n_tables,
                              tm_error *err) TM_MUST_CHECK;

#endif

/* Converts rows of AMD's databases to the records of rocprofv3's JSON. Private to the readers of
 * rocpd and rocmProfileData. */
#ifndef TMERGE_ROCPD_ROWS_H
#define TMERGE_ROCPD_ROWS_H

#include "readers/rocprof/rocprof_document.h"
#include "readers/sqlite/profiler_database.h"

/** The strings of a database. They are kept in the structure for rocprofv3's JSON, as operations of
 * kind 0: string number i is operation i. */
typedef struct tm_rocpd_strings {
    tm_vec ids; /* vector of int64_t, ascending */
    tm_rocprof_tables *tables;
} tm_rocpd_strings;

/**
 * Reads the strings of a database.
 *
 * @param sql  a statement whose rows are an id and a text, sorted by id
 * @param out  free it with tm_rocpd_strings_free, even after a failure
 */
tm_status tm_rocpd_read_strings(const tm_db *db, const char *sql, tm_rocprof_tables *tables,
                                tm_rocpd_strings *out, tm_error *err) TM_MUST_CHECK;
void tm_rocpd_strings_free(tm_rocpd_strings *strings);

/** Adds a string without an id. Returns its number; -1 if out of memory. */
int64_t tm_rocpd_add_string(tm_rocpd_strings *strings, const char *text);

/** Returns the number of the string with an id; -1 if there is none. */
int64_t tm_rocpd_string(const tm_rocpd_strings *strings, int64_t id);

/** Returns the text of a string number; NULL for -1. */
tm_rocprof_text *tm_rocpd_text(const tm_rocpd_strings *strings, int64_t number);

/** Meanings that a value of a row may have besides those of tm_rocprof_field. */
enum {
    TM_ROCPD_NAME = N_ROCPROF_FIELDS, /* id of the string that names the record */
    TM_ROCPD_EXTRA                    /* a value that the caller handles */
};

/** Makes a record from a row.
 * @param fields  [n] meanings of the values */
void tm_rocpd_record(const tm_rocpd_strings *strings, const uint8_t *fields, int n,
                     sqlite3_value **values, tm_rocprof_record *out);

static inline void tm_rocpd_put(tm_rocprof_record *record, tm_rocprof_field field, uint64_t value) {
    record->fields[field] = value;
    record->present |= UINT32_C(1) << field;
}

/** Sets the name of a record to the string with this number. */
void tm_rocpd_put_name(tm_rocprof_record *record, int64_t number);

/** Sets the text of a record's marker. Records come one at a time, so only the latest text is kept.
 * False if out of memory. */
bool tm_rocpd_put_marker(tm_rocprof_tables *tables, const tm_rocprof_record *record,
                         const char *text, size_t size);

#endif

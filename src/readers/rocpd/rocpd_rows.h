/* Rows of AMD's databases as the records that rocprofv3's JSON has. Private to the readers of rocpd
 * and rocmProfileData. */
#ifndef TMERGE_ROCPD_ROWS_H
#define TMERGE_ROCPD_ROWS_H

#include "readers/rocprof/rocprof_document.h"
#include "readers/sqlite/database.h"

/** The strings of a database: number i is operation i of the tables' kind 0. */
typedef struct tm_rocpd_strings {
    tm_vec ids; /* of int64_t, ascending */
    tm_rocprof_tables *tables;
} tm_rocpd_strings;

/**
 * Reads rows of an id and a text, in the order of their ids, and makes kind 0 of them.
 * @param out  free it with tm_rocpd_strings_free, whatever comes of the call
 */
tm_status tm_rocpd_read_strings(const tm_db *db, const char *sql, tm_rocprof_tables *tables,
                                tm_rocpd_strings *out, tm_error *err) TM_MUST_CHECK;
void tm_rocpd_strings_free(tm_rocpd_strings *strings);

/** Adds a string without an id. Its number; -1 when memory is out. */
int64_t tm_rocpd_add_string(tm_rocpd_strings *strings, const char *text);

/** The number of a string by its id, -1 where there is none. */
int64_t tm_rocpd_string(const tm_rocpd_strings *strings, int64_t id);

/** The text of a number, NULL of -1. */
tm_rocprof_text *tm_rocpd_text(const tm_rocpd_strings *strings, int64_t number);

/** What the argument of take_row in its place is, if not a tm_rocprof_field. */
enum {
    TM_ROCPD_NAME = N_ROCPROF_FIELDS, /* id of the string that is the record's name */
    TM_ROCPD_EXTRA                    /* the caller's */
};

/** Makes the record of a row. @param fields  [n] what the values are */
void tm_rocpd_record(const tm_rocpd_strings *strings, const uint8_t *fields, int n,
                     sqlite3_value **values, tm_rocprof_record *out);

static inline void tm_rocpd_put(tm_rocprof_record *record, tm_rocprof_field field, uint64_t value) {
    record->fields[field] = value;
    record->present |= UINT32_C(1) << field;
}

/** Gives a record the string of this number as its name. */
void tm_rocpd_put_name(tm_rocprof_record *record, int64_t number);

/** Gives the marker of a record its text: as records come one by one, it is the only one that is
 * kept. False when memory is out. */
bool tm_rocpd_put_marker(tm_rocprof_tables *tables, const tm_rocprof_record *record,
                         const char *text, size_t size);

#endif

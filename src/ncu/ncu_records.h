/* Reads records of comma-separated text (RFC 4180). ncu prints other lines between the records,
 * which are skipped. */
#ifndef TMERGE_NCU_NCU_RECORDS_H
#define TMERGE_NCU_NCU_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "tmerge/status.h"

/** A field. `at` is its offset in the file, and `text` is its offset in tm_records.text. */
typedef struct tm_field {
    size_t at, text;
} tm_field;

typedef struct tm_records {
    const char *path; /* path for error messages; borrowed */
    const char *bytes;
    size_t size;
    size_t at;     /* offset in the file at which the search for the next record starts */
    tm_vec text;   /* vector of char: the record's fields without quotes, each zero-terminated */
    tm_vec fields; /* vector of tm_field */
} tm_records;

/** Initialises a reader of @p content [n], which must outlive the reader. */
#define TM_RECORDS(file, content, n)                                                               \
    ((tm_records){.path = (file),                                                                  \
                  .bytes = (content),                                                              \
                  .size = (n),                                                                     \
                  .text = TM_VEC(char),                                                            \
                  .fields = TM_VEC(tm_field)})

void tm_records_free(tm_records *records);

/**
 * Takes the next record. Skips empty lines, and lines that start with "==", which are ncu's own.
 *
 * @param found  set to false at the end
 * @return       TM_OK; TM_ERR_INPUT with the offset of an unclosed quote, of text after a closing
 *   quote, or of a field with a zero byte; TM_ERR_FAULT
 */
tm_status tm_records_next(tm_records *records, bool *found, tm_error *err) TM_MUST_CHECK;

static inline size_t tm_records_fields(const tm_records *records) {
    return records->fields.n;
}

/** Returns a field, zero-terminated; valid until the next record. */
const char *tm_records_field(const tm_records *records, size_t field);

/** Returns the offset of a field in the file, including its quote. */
size_t tm_records_offset(const tm_records *records, size_t field);

#endif

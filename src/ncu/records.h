/* Records of comma-separated text (RFC 4180), among lines that ncu prints of itself. */
#ifndef TMERGE_NCU_RECORDS_H
#define TMERGE_NCU_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "tmerge/status.h"

/** A field: where it begins, in the file and in the text of its record. */
typedef struct tm_field {
    size_t at, text;
} tm_field;

typedef struct tm_records {
    const char *path; /* in errors, borrowed */
    const char *bytes;
    size_t size;
    size_t at;     /* where the next record is looked for */
    tm_vec text;   /* char: the fields of the record without quotes, each with a zero behind it */
    tm_vec fields; /* tm_field */
} tm_records;

/** Over bytes that outlive it. */
#define TM_RECORDS(file, content, n)                                                               \
    ((tm_records){.path = (file),                                                                  \
                  .bytes = (content),                                                              \
                  .size = (n),                                                                     \
                  .text = TM_VEC(char),                                                            \
                  .fields = TM_VEC(tm_field)})

void tm_records_free(tm_records *records);

/**
 * Takes the next record. Empty lines and those that begin with "==", which are ncu's own, are
 * passed over.
 *
 * @param found  false at the end
 * @return       TM_OK; TM_ERR_INPUT with the byte of a quote that is not closed, of what follows
 *               one that is, or of a zero byte; TM_ERR_FAULT
 */
tm_status tm_records_next(tm_records *records, bool *found, tm_error *err) TM_MUST_CHECK;

/** Fields of the record. */
static inline size_t tm_records_fields(const tm_records *records) {
    return records->fields.n;
}

/** A field below tm_records_fields, terminated; valid until the next record. */
const char *tm_records_field(const tm_records *records, size_t field);

/** The byte at which a field begins, its quote included. */
size_t tm_records_offset(const tm_records *records, size_t field);

#endif

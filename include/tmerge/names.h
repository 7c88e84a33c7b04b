/* Interned strings: each text of a trace becomes a 32-bit id in one table per process. */
#ifndef TMERGE_NAMES_H
#define TMERGE_NAMES_H

#include <stddef.h>
#include <stdint.h>

/** Id of the empty string, which means "no text". */
enum { TM_NO_NAME = 0 };

/** Returned instead of an id when out of memory or the table holds 2^32 - 1 texts. */
#define TM_NAME_FAILED UINT32_MAX

typedef struct tm_names tm_names;

typedef struct tm_text {
    const char *bytes; /* borrowed */
    size_t size;       /* number of bytes; some of them may be zero */
} tm_text;

/** Creates a table that holds the empty string as id 0. Returns NULL when out of memory. */
tm_names *tm_names_create(void);
void tm_names_destroy(tm_names *names);

/** Returns the id of these bytes. Adds them if they are not in the table. Returns TM_NAME_FAILED
 * when out of memory. */
uint32_t tm_names_intern(tm_names *names, const char *bytes, size_t size);

/** Returns the id of a terminated string, like tm_names_intern; NULL gives TM_NO_NAME. */
uint32_t tm_names_intern_string(tm_names *names, const char *string);

/** Returns the text of an id of this table, valid until the table is destroyed. A zero byte, not
 * counted in size, follows it. */
tm_text tm_names_text(const tm_names *names, uint32_t id);

/** Returns the number of ids in use, including the empty string. */
size_t tm_names_count(const tm_names *names);

#endif

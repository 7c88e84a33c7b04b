/* Interned strings: every text of a trace becomes a 32-bit id in one table per process. */
#ifndef TMERGE_NAMES_H
#define TMERGE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

/** Id of the empty string, which stands for "no text". */
enum { TM_NO_NAME = 0 };

/** Returned instead of an id when memory is out, or 2^32 - 1 texts are held. */
#define TM_NAME_FAILED UINT32_MAX

typedef struct tm_names tm_names;

typedef struct tm_text {
    const char *bytes; /* borrowed */
    size_t size;       /* bytes; they may hold zeros */
} tm_text;

/** Creates a table that holds the empty string as id 0. NULL when memory is out. */
tm_names *tm_names_create(void);
void tm_names_destroy(tm_names *names);

/** The id of these bytes, new or known; TM_NAME_FAILED when memory is out. */
uint32_t tm_names_intern(tm_names *names, const char *bytes, size_t size);

/** The same for a terminated string; NULL gives TM_NO_NAME. */
uint32_t tm_names_intern_string(tm_names *names, const char *string);

/** The text of an id that this table gave out, valid until the table is destroyed. A zero that size
 * does not count stands behind it. */
tm_text tm_names_text(const tm_names *names, uint32_t id);

/** Number of ids given out, the empty string included. */
size_t tm_names_count(const tm_names *names);

#endif

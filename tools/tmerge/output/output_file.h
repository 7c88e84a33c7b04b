/* Names outputs, and checks that they can be written, before anything is read. */
#ifndef TMERGE_OUTPUT_FILE_H
#define TMERGE_OUTPUT_FILE_H

#include <stdbool.h>

#include "tmerge/status.h"

/** A kind of file that a command writes. */
typedef struct tm_output_kind {
    const char *word; /* "tmerge store" */
    /** Returns whether an existing file is of this kind, and so may be overwritten. */
    bool (*is_one)(const void *context, const char *path);
    const void *context;
} tm_output_kind;

/** Checks whether a file can be written at @p path: the folder must be writable. If the file
 * exists, it must be of the same kind; with @p force, any regular file may be overwritten. @return
 * TM_OK; TM_ERR_OUTPUT */
tm_status tm_output_check(const char *path, const tm_output_kind *kind, bool force,
                          tm_error *err) TM_MUST_CHECK;

/** Returns the path of an output that is named after its store: a.h5 and ".html" give a.html. The
 * caller frees it; NULL when out of memory. */
char *tm_output_beside(const char *store, const char *ending);

/** From now on, a signal that ends the process also removes the temporary file of this output. */
void tm_output_watch(const char *path);

#endif

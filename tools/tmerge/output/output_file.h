/* Checks, before anything is read, that an output can be written. */
#ifndef TMERGE_OUTPUT_FILE_H
#define TMERGE_OUTPUT_FILE_H

#include <stdbool.h>

#include "tmerge/status.h"

/** A kind of file that a command writes. */
typedef struct tm_output_kind {
    const char *word; /* "tmerge store" */
    bool (*is_one)(
        const void *context,
        const char *path); /* whether an existing file is of this kind, and so may be replaced */
    const void *context;
} tm_output_kind;

/** Checks whether @p path can be written: its folder is writable, and an existing file is of the
 * same kind or, with @p force, any regular file.
 * @return TM_OK; TM_ERR_OUTPUT */
tm_status tm_output_check(const char *path, const tm_output_kind *kind, bool force,
                          tm_error *err) TM_MUST_CHECK;

/** Makes a signal that ends the process remove the temporary file of this output. */
void tm_output_watch(const char *path);

#endif

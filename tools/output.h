/* Where an output may be written: found out before anything is read. */
#ifndef TMERGE_OUTPUT_H
#define TMERGE_OUTPUT_H

#include <stdbool.h>

#include "tmerge/status.h"

/** What a command writes. */
typedef struct tm_output_kind {
    const char *word;                                      /* "tmerge store" */
    bool (*is_one)(const void *context, const char *path); /* whether the file is one, which may be
                                                              replaced */
    const void *context;
} tm_output_kind;

/**
 * Whether @p path can be written, by what is known before: its folder takes files, and what lies
 * there, if anything, is of the same kind, or any regular file with @p force.
 * @return  TM_OK; TM_ERR_OUTPUT
 */
tm_status tm_output_check(const char *path, const tm_output_kind *kind, bool force,
                          tm_error *err) TM_MUST_CHECK;

/** Has the signals that end the process remove the temporary file of this output. */
void tm_output_watch(const char *path);

#endif

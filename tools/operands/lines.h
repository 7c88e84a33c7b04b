/* Text files that a user wrote: lists of operands, maps of ranks and hosts. */
#ifndef TMERGE_LINES_H
#define TMERGE_LINES_H

#include <stdint.h>

#include "tmerge/status.h"

typedef struct tm_line {
    const char *file;
    int64_t number; /* from 1 on */
    char *text;     /* without its end; may be written to */
} tm_line;

typedef tm_status tm_line_visitor(void *context, const tm_line *line, tm_error *err);

/**
 * Visits each line but blank ones and those that begin with #.
 * @return  TM_OK; TM_ERR_INPUT: the file cannot be read, or is no text; as the visitor
 */
tm_status tm_lines_each(const char *file, tm_line_visitor *visitor, void *context,
                        tm_error *err) TM_MUST_CHECK;

/** Fails with TM_ERR_INPUT, the file and the line. */
tm_status tm_line_fail(const tm_line *line, tm_error *err, const char *format, ...) TM_PRINTF(3, 4);

#endif

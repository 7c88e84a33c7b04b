/* Text files that users write: lists of operands, maps of ranks and hosts. */
#ifndef TMERGE_LIST_LINES_H
#define TMERGE_LIST_LINES_H

#include <stdint.h>

#include "tmerge/status.h"

typedef struct tm_line {
    const char *file;
    int64_t number; /* from 1 */
    char *text;     /* without the line's end; the visitor may change the text */
} tm_line;

typedef tm_status tm_line_visitor(void *context, const tm_line *line, tm_error *err);

/** Visits each line except blank lines and comments (#).
 * @return  TM_OK; TM_ERR_INPUT: the file cannot be read or is not text; the visitor's status */
tm_status tm_lines_each(const char *file, tm_line_visitor *visitor, void *context,
                        tm_error *err) TM_MUST_CHECK;

/** Fails with TM_ERR_INPUT. The message has the file and the number of the line. */
tm_status tm_line_fail(const tm_line *line, tm_error *err, const char *format, ...) TM_PRINTF(3, 4);

#endif

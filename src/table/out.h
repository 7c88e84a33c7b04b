/* A growing text, to which renderers append. */
#ifndef TMERGE_TABLE_OUT_H
#define TMERGE_TABLE_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "tmerge/status.h"

/* A renderer appends hundreds of times, so a failure is remembered, not returned by each append.
 * Loops over rows check `failed`, to stop early. */
typedef struct tm_out {
    tm_vec bytes; /* vector of char */
    bool failed;  /* out of memory; later appends are dropped */
} tm_out;

/** An empty text; end it with tm_out_take. */
#define TM_OUT() ((tm_out){.bytes = TM_VEC(char)})

void tm_out_bytes(tm_out *out, const void *bytes, size_t size);

/** Appends a terminated string without its terminator. */
void tm_out_string(tm_out *out, const char *string);

void tm_out_char(tm_out *out, char c);

void tm_out_spaces(tm_out *out, size_t n);

/**
 * Prints the words of @p text on lines of limited width. The current line must have reached column
 * @p indent. All further lines are indented to that column. Ends the last line. Never breaks a
 * word. Prints control characters as "?".
 *
 * @param width  maximum width of a line, in columns
 */
void tm_out_wrapped(tm_out *out, const char *text, size_t indent, size_t width);

/**
 * Ends the text and returns it; @p out is empty afterwards in any case.
 *
 * @param text  malloc'ed and terminated, freed by the caller; set only on TM_OK
 * @param size  bytes without the terminator; may be NULL
 * @return      TM_OK; TM_ERR_FAULT if any append was out of memory
 */
tm_status tm_out_take(tm_out *out, char **text, size_t *size, tm_error *err) TM_MUST_CHECK;

#endif

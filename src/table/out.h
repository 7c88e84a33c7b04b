/* Text that grows: the renderers append, and ask once at the end whether memory sufficed. */
#ifndef TMERGE_TABLE_OUT_H
#define TMERGE_TABLE_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "tmerge/status.h"

/* The failure is remembered instead of returned: a renderer is a hundred appends, none of which can
 * do anything about missing memory. Loops over rows look at it, so as not to run on for nothing. */
typedef struct tm_out {
    tm_vec bytes; /* of char */
    bool failed;  /* memory ran out; what is appended after that is dropped */
} tm_out;

/** An empty text, to be ended by tm_out_take. */
#define TM_OUT() ((tm_out){.bytes = TM_VEC(char)})

/** Appends @p size bytes, which may be any. */
void tm_out_bytes(tm_out *out, const void *bytes, size_t size);

/** Appends a terminated string without its terminator. */
void tm_out_string(tm_out *out, const char *string);

/** Appends one byte. */
void tm_out_char(tm_out *out, char c);

/** Appends @p n spaces. */
void tm_out_spaces(tm_out *out, size_t n);

/**
 * Ends the line that has reached column @p indent with the words of @p text, going on in further
 * lines with the same indent. A word is never broken; its control characters are "?".
 *
 * @param width  columns of a line, at most
 */
void tm_out_wrapped(tm_out *out, const char *text, size_t indent, size_t width);

/**
 * Ends the text and hands it over; @p out is empty afterwards in any case.
 *
 * @param text  malloc'ed and terminated, freed by the caller; set only on TM_OK
 * @param size  bytes without the terminator, or NULL where nobody asks
 * @return      TM_OK; TM_ERR_FAULT where memory was out at any append
 */
tm_status tm_out_take(tm_out *out, char **text, size_t *size, tm_error *err) TM_MUST_CHECK;

#endif

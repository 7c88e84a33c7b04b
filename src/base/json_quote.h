/* Texts as JSON strings. */
#ifndef TMERGE_JSON_QUOTE_H
#define TMERGE_JSON_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "vec.h"

/**
 * Appends a quoted string as valid UTF-8: bad bytes as U+FFFD, control characters escaped.
 * @param out      vector of char
 * @param in_page  also escapes what could end an HTML element or a line of a script: <, U+2028 and
 *                 U+2029
 * @return         false if out of memory
 */
bool tm_json_quote(tm_vec *out, const char *text, size_t size, bool in_page);

#endif

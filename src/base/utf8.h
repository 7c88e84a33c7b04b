/* UTF-8 as the Unicode standard defines it (table 3-7): no surrogates, no overlong forms. */
#ifndef TMERGE_UTF8_H
#define TMERGE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Finds the sequence at the start of @p bytes, which has at least one byte.
 * @param valid  set to whether the sequence is a code point
 * @return       length of the sequence in bytes. If it is invalid, this is the length of the
 *               maximal subpart, which one U+FFFD replaces.
 */
size_t tm_utf8_sequence(const char *bytes, size_t size, bool *valid);

/** Returns whether a valid sequence is a control character: below 0x20, delete, or U+0080 to
 * U+009F, which some terminals treat as the start of an escape sequence. */
bool tm_utf8_is_control(const char *sequence, size_t size);

/** Returns the number of code points, which is used as the width of a text; an invalid maximal
 * subpart counts as one. */
size_t tm_utf8_length(const char *bytes, size_t size);

/**
 * Copies bytes, with U+FFFD for each invalid maximal subpart and each zero byte (a terminated text
 * cannot hold one).
 * @param size  below SIZE_MAX / 4: one byte may become three
 * @param out   NULL, or a buffer for the bytes and a terminating zero
 * @return      bytes without the terminating zero
 */
size_t tm_utf8_repair(const char *bytes, size_t size, char *out);

#endif

/* UTF-8 as the Unicode standard defines it (table 3-7): no surrogates, nothing overlong. */
#ifndef TMERGE_UTF8_H
#define TMERGE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/**
 * The sequence at the front of @p bytes, which has at least one byte.
 *
 * @param valid  whether it is a code point
 * @return       its length in bytes; where it is none, that of the maximal subpart, which the
 *               Unicode standard replaces as one
 */
size_t tm_utf8_sequence(const char *bytes, size_t size, bool *valid);

/**
 * Whether a valid sequence is a control character: below 0x20, delete, or U+0080 to U+009F, which
 * some terminals take for the beginning of an escape sequence.
 */
bool tm_utf8_is_control(const char *sequence, size_t size);

/** Code points, which is how wide a text is taken to be; a maximal subpart that is none counts as
 * one. */
size_t tm_utf8_length(const char *bytes, size_t size);

/**
 * Copies, with U+FFFD for each maximal subpart that is no code point and for each zero byte (a
 * terminated text cannot hold one).
 *
 * @param size  under SIZE_MAX / 4: one byte may become three
 * @param out   NULL, or room for the bytes and the terminating zero that is put behind them
 * @return      bytes without the terminating zero
 */
size_t tm_utf8_repair(const char *bytes, size_t size, char *out);

#endif

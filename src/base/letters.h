/* Tests for ASCII letters, independent of the locale, and for what a text is, starts with, ends
 * with or contains. */
#ifndef TMERGE_LETTERS_H
#define TMERGE_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "tmerge/names.h"

static inline char tm_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline bool tm_is_letter(char c) {
    return tm_lower(c) >= 'a' && tm_lower(c) <= 'z';
}

static inline bool tm_begins_with(const char *bytes, size_t size, const char *begin) {
    const size_t n = strlen(begin);
    return size >= n && memcmp(bytes, begin, n) == 0;
}

static inline bool tm_ends_with(const char *bytes, size_t size, const char *end) {
    const size_t n = strlen(end);
    return size >= n && memcmp(bytes + size - n, end, n) == 0;
}

static inline bool tm_holds(const char *bytes, size_t size, const char *part) {
    const size_t n = strlen(part);
    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(bytes + i, part, n) == 0)
            return true;
    return false;
}

static inline bool tm_text_is(tm_text text, const char *word) {
    return text.size == strlen(word) && tm_begins_with(text.bytes, text.size, word);
}

static inline bool tm_text_begins(tm_text text, const char *begin) {
    return tm_begins_with(text.bytes, text.size, begin);
}

static inline bool tm_text_holds(tm_text text, const char *part) {
    return tm_holds(text.bytes, text.size, part);
}

#endif

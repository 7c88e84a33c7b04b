/* Tests for ASCII letters, independent of the locale, and for the end of a text. */
#ifndef TMERGE_LETTERS_H
#define TMERGE_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline char tm_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline bool tm_is_letter(char c) {
    return tm_lower(c) >= 'a' && tm_lower(c) <= 'z';
}

static inline bool tm_ends_with(const char *bytes, size_t size, const char *end) {
    const size_t n = strlen(end);
    return size >= n && memcmp(bytes + size - n, end, n) == 0;
}

#endif

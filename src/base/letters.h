/* ASCII letters, independent of the locale. */
#ifndef TMERGE_LETTERS_H
#define TMERGE_LETTERS_H

#include <stdbool.h>

static inline char tm_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline bool tm_is_letter(char c) {
    return tm_lower(c) >= 'a' && tm_lower(c) <= 'z';
}

#endif

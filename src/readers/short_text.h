/* Short texts, stored in a few words so that two texts can be compared fast. */
#ifndef TMERGE_SHORT_TEXT_H
#define TMERGE_SHORT_TEXT_H

#include "json.h"

enum { TM_SHORT_TEXT_MAX = 24 };

/** A short text. If all members are 0, there is no text. */
typedef struct tm_short_text {
    uint64_t first, middle, last; /* the first, middle and last eight bytes of the text; they may
                                     overlap */
    uint64_t size;                /* 1 + size of the text; 0: there is no text */
} tm_short_text;

/**
 * Makes a short text.
 *
 * @param text  at most TM_SHORT_TEXT_MAX bytes. The text must be in a window, because the bytes
 *              after it are read, too.
 */
static inline tm_short_text tm_short_text_of(const tm_json_text *text) {
    tm_short_text made = {.size = text->size + 1};
    if (text->size == 0)
        return made;
    memcpy(&made.first, text->bytes, sizeof made.first);
    if (text->size < sizeof made.first)
        made.first <<= 64 - 8 * text->size; /* remove the bytes after the text */
    else
        memcpy(&made.last, text->bytes + text->size - sizeof made.last, sizeof made.last);
    if (text->size > 16)
        memcpy(&made.middle, text->bytes + 8, sizeof made.middle);
    return made;
}

static inline bool tm_short_text_is(const tm_short_text *a, const tm_short_text *b) {
    return ((a->first ^ b->first) | (a->middle ^ b->middle) | (a->last ^ b->last) |
            (a->size ^ b->size)) == 0;
}

static inline uint64_t tm_short_text_hash(const tm_short_text *text) {
    return (text->first + text->last * 3 + text->size) * UINT64_C(0x9E3779B97F4A7C15);
}

#endif

/* Builds sentences from pieces. Cuts a sentence at a length that no real sentence reaches. */
#ifndef TMERGE_HANG_HANG_WORDS_H
#define TMERGE_HANG_HANG_WORDS_H

#include <stdint.h>

#include "base/vec.h"
#include "tmerge/status.h"

enum { TM_HANG_TEXT = 2048 };

typedef struct tm_hang_words {
    char text[TM_HANG_TEXT];
    size_t n;
} tm_hang_words;

void tm_hang_add(tm_hang_words *w, const char *format, ...) TM_PRINTF(2, 3);

/** Adds "rank 3" or "ranks 0-2". @p ranks is of int64_t, ascending; a long list is truncated. */
void tm_hang_add_ranks(tm_hang_words *w, const tm_vec *ranks);

/** Adds "03:04:05.678 UTC"; nothing for 0. */
void tm_hang_add_time(tm_hang_words *w, int64_t ns);

#endif

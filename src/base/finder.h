/* Which of many lists of words stand in a text: one pass over the text, however many there are. */
#ifndef TMERGE_FINDER_H
#define TMERGE_FINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

enum { TM_FINDER_HEADS = 1024, TM_FINDER_LISTS = 64 };

typedef struct tm_finder {
    tm_vec words;                    /* of what finder.c keeps of a word; owned */
    uint16_t heads[TM_FINDER_HEADS]; /* by a word's first two bytes: its number + 1, or 0 */
} tm_finder;

/** An empty finder; release it with tm_finder_free. */
void tm_finder_init(tm_finder *finder);
void tm_finder_free(tm_finder *finder);

/**
 * Adds the words of a list.
 *
 * @param list   its number, below TM_FINDER_LISTS
 * @param words  apart by blanks, of two bytes or more each, compared with case; one behind a ^
 *               counts at the begin of a text alone. Borrowed.
 * @return       false when memory is out
 */
bool tm_finder_add(tm_finder *finder, int list, const char *words);

/** A bit for each list of which a word stands in the text. */
uint64_t tm_finder_lists(const tm_finder *finder, const char *text);

#endif

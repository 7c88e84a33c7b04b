/* Finds which of many lists of words occur in a text, in one pass over the text. */
#ifndef TMERGE_FINDER_H
#define TMERGE_FINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

enum { TM_FINDER_HEADS = 1024, TM_FINDER_LISTS = 64 };

typedef struct tm_finder {
    tm_vec words; /* owned; vector of `word` (finder.c) */
    /* [hash of two bytes] index + 1 of the first word whose first two bytes have this hash; 0 if
     * there is none */
    uint16_t heads[TM_FINDER_HEADS];
} tm_finder;

/** Initialises an empty finder; release it with tm_finder_free. */
void tm_finder_init(tm_finder *finder);
void tm_finder_free(tm_finder *finder);

/**
 * Adds the words of a list.
 * @param list   number of the list, below TM_FINDER_LISTS
 * @param words  words of two bytes or more, separated by blanks; borrowed. They are case-sensitive.
 *               ^WORD matches only at the start of a text.
 * @return       false when out of memory
 */
bool tm_finder_add(tm_finder *finder, int list, const char *words);

/** Returns a bit for each list that has a word in the text. */
uint64_t tm_finder_lists(const tm_finder *finder, const char *text);

#endif

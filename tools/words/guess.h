/* What a mistyped word was meant to be. */
#ifndef TMERGE_WORDS_GUESS_H
#define TMERGE_WORDS_GUESS_H

#include <stddef.h>

typedef struct tm_guess {
    const char *word; /* as typed */
    const char *best; /* the nearest of those that were tried; NULL: none is near enough */
    size_t distance;  /* of it */
} tm_guess;

/** Letters that are missing, too many, others, or changed places with the next: no more of them
 * than a third of the word, and three. A word that begins a longer one is near it, too. */
void tm_guess_try(tm_guess *guess, const char *candidate);

/** Room for what tm_guess_hint writes. */
enum { TM_GUESS_HINT = 96 };

/** " (did you mean overlap?)", or "" where none is near. */
const char *tm_guess_hint(const tm_guess *guess, const char *dashes, char out[TM_GUESS_HINT]);

#endif

/* Guesses the word that a mistyped word was meant to be. */
#ifndef TMERGE_WORDS_GUESS_H
#define TMERGE_WORDS_GUESS_H

#include <stddef.h>

typedef struct tm_guess {
    const char *word; /* as typed */
    const char *best; /* nearest candidate so far; NULL: no candidate is near */
    size_t distance;  /* distance of best */
} tm_guess;

/** Tries a candidate. It is near if it starts with the typed word, or if the edit distance
 * (missing, extra, wrong and swapped letters) is at most three and at most a third of the typed
 * word's length. */
void tm_guess_try(tm_guess *guess, const char *candidate);

/** Size of the buffer of tm_guess_hint. */
enum { TM_GUESS_HINT = 96 };

/** Writes " (did you mean overlap?)"; "" if no candidate is near. */
const char *tm_guess_hint(const tm_guess *guess, const char *dashes, char out[TM_GUESS_HINT]);

#endif

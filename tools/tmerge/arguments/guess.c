#include "guess.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 48 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Three rows of the table of edit distances between the beginnings of two words: the current row
 * and the two rows above it. Older rows are not needed. */
typedef struct rows {
    size_t before[WORD_MAX + 1], above[WORD_MAX + 1], row[WORD_MAX + 1];
} rows;

static void fill_row(rows *r, const char *a, const char *b, size_t i, size_t n) {
    r->row[0] = i;
    for (size_t k = 1; k <= n; k++) {
        size_t changed = r->above[k - 1] + (a[i - 1] != b[k - 1]);
        r->row[k] = least(changed, least(r->above[k], r->row[k - 1]) + 1);
        if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
            r->row[k] = least(r->row[k], r->before[k - 2] + 1);
    }
    memcpy(r->before, r->above, sizeof r->above);
    memcpy(r->above, r->row, sizeof r->row);
}

/* Returns the Damerau-Levenshtein distance of two words, in the variant that edits no letter twice
 * (optimal string alignment). */
static size_t distance(const char *a, const char *b) {
    rows r = {{0}, {0}, {0}};
    size_t m = strlen(a), n = strlen(b);
    if (m > WORD_MAX || n > WORD_MAX)
        return WORD_MAX;
    for (size_t k = 0; k <= n; k++)
        r.above[k] = k;
    for (size_t i = 1; i <= m; i++)
        fill_row(&r, a, b, i, n);
    return r.above[n];
}

void tm_guess_try(tm_guess *guess, const char *candidate) {
    enum { FAR = 3, BEGINS = 3 };
    size_t size = strlen(guess->word);
    size_t found = distance(guess->word, candidate);
    size_t limit = size / 3 < FAR ? size / 3 : FAR;
    if (size >= BEGINS && strncmp(guess->word, candidate, size) == 0)
        found = 1;
    if (found <= limit + (size > 1 && limit == 0) && (!guess->best || found < guess->distance)) {
        guess->best = candidate;
        guess->distance = found;
    }
}

const char *tm_guess_hint(const tm_guess *guess, const char *dashes, char out[TM_GUESS_HINT]) {
    *out = '\0';
    if (guess->best)
        snprintf(out, TM_GUESS_HINT, " (did you mean %s%s?)", dashes, guess->best);
    return out;
}

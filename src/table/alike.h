/* Disambiguates long texts of a column that look equal after their middle is cut out. */
#ifndef TMERGE_TABLE_ALIKE_H
#define TMERGE_TABLE_ALIKE_H

#include "base/vec.h"
#include "table/shown.h"

typedef struct tm_alike {
    tm_vec seen;   /* vector of pair: hash of the shown text, and hash of the whole text. After
                      tm_alike_end, only pairs of ambiguous shown texts are left */
    size_t limit;  /* duplicates are removed when there are this many pairs */
    size_t points; /* maximum length of a shown text [code points] */
    int digits;    /* number of digits of a tag */
} tm_alike;

/** Starts to collect texts that are shown with at most @p points code points. @p points is between
 * 24 and TM_SHOWN_POINTS. */
tm_alike tm_alike_begin(size_t points);
void tm_alike_free(tm_alike *alike);

/** Adds a text of the column. Returns false if out of memory. */
bool tm_alike_add(tm_alike *alike, const char *text);

/** Call after the last text. */
void tm_alike_end(tm_alike *alike);

/** Formats a text as it is shown. If the text is cut and another text then looks the same, digits
 * of the text's hash are put where the text was cut. Two tables that use the same number of digits
 * show the same digits for the same text. */
void tm_alike_show(const tm_alike *alike, const char *text, char out[TM_SHOWN_MAX]);

#endif

/* Long texts of a column that look alike once their middle is cut out, and how they are told apart.
 */
#ifndef TMERGE_TABLE_ALIKE_H
#define TMERGE_TABLE_ALIKE_H

#include "base/vec.h"
#include "table/shown.h"

typedef struct tm_alike {
    tm_vec seen;   /* pairs of hashes: of what is shown, and of the whole; at the end those alone of
                    * which one is shown for several texts */
    size_t limit;  /* at which the pairs are put together */
    size_t points; /* of what is shown */
    int digits;    /* of a tag */
} tm_alike;

/** Of texts of which so many code points are shown, 24 to TM_SHOWN_POINTS. */
tm_alike tm_alike_begin(size_t points);
void tm_alike_free(tm_alike *alike);

/** Notes a text of the column. False where memory is out. */
bool tm_alike_add(tm_alike *alike, const char *text);

/** After the last. */
void tm_alike_end(tm_alike *alike);

/** The text as it is shown: one that is cut and looks like another has some digits of its hash
 * where it is cut, the same ones in every table of so many digits. */
void tm_alike_show(const tm_alike *alike, const char *text, char out[TM_SHOWN_MAX]);

#endif

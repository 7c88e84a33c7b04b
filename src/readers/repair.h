/* Repairs JSON with the kinds of errors that profilers are known to write. */
#ifndef TMERGE_REPAIR_H
#define TMERGE_REPAIR_H

#include "base/vec.h"
#include "json.h"
#include "tmerge/timeline.h"

/** A repaired copy of one value, and the errors of the original. */
typedef struct tm_repair {
    tm_vec text; /* vector of char: JSON, followed by TM_JSON_PADDING zero bytes */
    size_t size; /* size of the JSON */
    /* [TM_N_COUNTS] number of repairs of each kind. Counts of other things than repairs stay 0. */
    int64_t counts[TM_N_COUNTS];
    bool no_memory;
} tm_repair;

/**
 * Copies the value at @p p, and repairs these errors: bare inf, NaN and N/A; raw control
 * characters; invalid UTF-8; backslashes that escape nothing; unescaped quotes; trailing commas;
 * numbers like -1.-500. A string without errors is kept if the text after its closing quote
 * continues the object or array.
 *
 * @param out  text, size and counts are set on success; the text is reused by the next call
 * @return     position after the value; NULL on failure. Then the value continues beyond the window
 *             (cursor->fail is cursor->end), it has another error (cursor->fail is the position of
 *             the error), or out->no_memory is set.
 */
const char *tm_json_repair(tm_json_cursor *cursor, const char *p, tm_repair *out);

void tm_repair_free(tm_repair *repair);

#endif

/* Repairs JSON that is malformed in one of the ways in which profilers are known to write it. */
#ifndef TMERGE_REPAIR_H
#define TMERGE_REPAIR_H

#include "base/vec.h"
#include "json.h"
#include "tmerge/timeline.h"

/** A repaired copy of one value, and what was wrong with the original. */
typedef struct tm_repair {
    tm_vec text;                 /* of char: JSON, then TM_JSON_PADDING zero bytes */
    size_t size;                 /* of the JSON */
    int64_t counts[TM_N_COUNTS]; /* the repairs made, by class; the other counts stay 0 */
    bool no_memory;
} tm_repair;

/**
 * Copies the value at @p p, and repairs bare inf, NaN and N/A, raw control characters, invalid
 * UTF-8, backslashes that escape nothing, unescaped quotes, trailing commas and numbers like
 * -1.-500. A string that is correct stays as it is: its quote is believed where what follows goes
 * on with the object or array.
 *
 * @param out  text, size and counts are set on success; the text is kept for the next call
 * @return     behind the value; NULL with cursor->fail where it goes on beyond the window (fail at
 *             cursor->end), where it is wrong in another way, or where out->no_memory is set
 */
const char *tm_json_repair(tm_json_cursor *cursor, const char *p, tm_repair *out);

void tm_repair_free(tm_repair *repair);

#endif

/* JSON output: texts, numbers and times. */
#ifndef TMERGE_EXPORT_JSON_TEXT_H
#define TMERGE_EXPORT_JSON_TEXT_H

#include <stdint.h>

#include "table/out.h"
#include "tmerge/names.h"

/** Writes a quoted string as valid UTF-8: bad bytes as U+FFFD, control characters escaped. */
void tm_json_put_text(tm_out *out, tm_text text);

void tm_json_put_int(tm_out *out, int64_t value);

/** Writes the fewest digits from which a reader gets the same double. @param value finite */
void tm_json_put_real(tm_out *out, double value);

/** Writes six digits if a reader gets the same float from them, else nine. @param value finite */
void tm_json_put_float(tm_out *out, float value);

/** Writes nanoseconds as microseconds with three decimals, which is exact. */
void tm_json_put_us(tm_out *out, int64_t ns);

/** Returns whether a text is a JSON integer of at most 18 digits, which needs no quotes. */
bool tm_json_is_int(tm_text text);

#endif

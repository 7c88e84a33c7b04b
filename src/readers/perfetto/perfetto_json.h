/* Writes JSON in the form that the Kineto reader accepts. All functions return false if out of
 * memory. Private to the Perfetto reader. */
#ifndef TMERGE_PERFETTO_JSON_H
#define TMERGE_PERFETTO_JSON_H

#include <string.h>

#include "base/vec.h"
#include "perfetto_state.h"

/** Appends a text.
 * @param out  vector of char */
static inline bool tm_pf_put_bytes(tm_vec *out, tm_text text) {
    return text.size == 0 || tm_vec_append(out, text.bytes, text.size);
}

static inline bool tm_pf_put(tm_vec *out, const char *text) {
    return tm_pf_put_bytes(out, (tm_text){text, strlen(text)});
}

/** Writes a text in quotes, as valid UTF-8. */
bool tm_pf_put_text(tm_vec *out, tm_text text);
bool tm_pf_put_int(tm_vec *out, int64_t value);
bool tm_pf_put_uint(tm_vec *out, uint64_t value);

/**
 * Writes a number, or null if JSON cannot represent it.
 * @param bits  the bits of a double
 */
bool tm_pf_put_real(tm_vec *out, uint64_t bits);

/** Writes nanoseconds as microseconds with three decimals. */
bool tm_pf_put_us(tm_vec *out, int64_t ns);

/** Writes a text without quotes if it is a JSON number, else with quotes. */
bool tm_pf_put_value(tm_vec *out, tm_text text);

/** Writes the value of a debug annotation. Values that are nested deeper than 32 levels are left
 * out. */
bool tm_pf_put_note(tm_vec *out, const tm_pf_state *state, const tm_pf_sequence *sequence,
                    tm_wire_message note, int depth);

/** Returns the name of a debug annotation, in quotes; size 0 if it has none.
 * @param scratch  vector of char, for names that are not interned */
tm_text tm_pf_note_name(const tm_pf_state *state, const tm_pf_sequence *sequence,
                        tm_wire_message note, tm_vec *scratch);

#endif

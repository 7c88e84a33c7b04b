/* JSON as the reader of Kineto's traces takes it. All return false when memory is out. Private to
 * the Perfetto reader. */
#ifndef TMERGE_PERFETTO_JSON_H
#define TMERGE_PERFETTO_JSON_H

#include <string.h>

#include "base/vec.h"
#include "perfetto_state.h"

/** @param out  of char, appended to */
static inline bool tm_pf_put_bytes(tm_vec *out, tm_text text) {
    return text.size == 0 || tm_vec_append(out, text.bytes, text.size);
}

static inline bool tm_pf_put(tm_vec *out, const char *text) {
    return tm_pf_put_bytes(out, (tm_text){text, strlen(text)});
}

/** In quotes, as valid UTF-8. */
bool tm_pf_put_text(tm_vec *out, tm_text text);
bool tm_pf_put_int(tm_vec *out, int64_t value);
bool tm_pf_put_uint(tm_vec *out, uint64_t value);

/** null for what JSON has no number for. @param bits  of a double */
bool tm_pf_put_real(tm_vec *out, uint64_t bits);

/** Nanoseconds as microseconds with three decimals. */
bool tm_pf_put_us(tm_vec *out, int64_t ns);

/** A text without quotes where it is a number as JSON writes one, else with them. */
bool tm_pf_put_value(tm_vec *out, tm_text text);

/** The value of a debug annotation. Nesting deeper than 32 is left out. */
bool tm_pf_put_note(tm_vec *out, const tm_pf_state *state, const tm_pf_sequence *sequence,
                    tm_wire_message note, int depth);

/** The name of one, in quotes; size 0 where it has none.
 * @param scratch  of char, for what is not interned */
tm_text tm_pf_note_name(const tm_pf_state *state, const tm_pf_sequence *sequence,
                        tm_wire_message note, tm_vec *scratch);

#endif

/* Finds the end and the faults of strings in malformed JSON. Private to the repair. */
#ifndef TMERGE_REPAIR_STRING_H
#define TMERGE_REPAIR_STRING_H

#include "base/vec.h"
#include "json.h"

/** What a string is. This decides what may follow it. */
typedef enum tm_string_place {
    TM_STRING_KEY,       /* key of a member: a colon follows */
    TM_STRING_IN_OBJECT, /* value of a member: a comma, a key and a colon follow, or } */
    TM_STRING_IN_ARRAY   /* element of an array: a comma and a value follow, or ] */
} tm_string_place;

typedef struct tm_string_faults {
    bool control_character, invalid_utf8, backslash, unescaped_quote;
} tm_string_faults;

static inline bool tm_string_is_faulty(const tm_string_faults *faults) {
    return faults->control_character || faults->invalid_utf8 || faults->backslash ||
           faults->unescaped_quote;
}

/**
 * Finds the end of the string whose first byte is @p p. A correct string with a correct
 * continuation is accepted as it is. Otherwise a quote closes the string only if the text after the
 * quote continues the object or array. A key always ends at its first quote.
 *
 * @param faults  set on success; without faults if the string is correct
 * @return        position after the closing quote; NULL as in json.h. Also NULL if the quotes
 *                indicate a missing comma, colon or quote, because such an error cannot be
 *                repaired.
 */
const char *tm_repair_string_end(tm_json_cursor *cursor, const char *p, tm_string_place place,
                                 tm_string_faults *faults);

/** Appends the string [p, p + size) with @p faults as correct JSON. False if out of memory. */
bool tm_repair_string_copy(const char *p, size_t size, const tm_string_faults *faults, tm_vec *out);

#endif

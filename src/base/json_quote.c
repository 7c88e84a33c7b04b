#include "json_quote.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

/* Returns whether a character is copied unchanged. */
static bool is_plain(char c, bool in_page) {
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x7f && c != '"' && c != '\\' &&
           !(in_page && c == '<');
}

/* Returns whether is_plain holds for eight characters. A subtraction sets the top bit of each byte
 * that is less than the subtracted byte. It may also set the bit of the next byte wrongly, but the
 * result is then false anyway. */
static bool are_plain(const char *text, bool in_page) {
    const uint64_t ones = 0x0101010101010101, tops = ones << 7;
    uint64_t word;
    memcpy(&word, text, sizeof word);
    uint64_t found = word | (word - 0x20 * ones) | ((word ^ ('"' * ones)) - ones) |
                     ((word ^ ('\\' * ones)) - ones) | ((word ^ (0x7f * ones)) - ones);
    if (in_page)
        found |= (word ^ ('<' * ones)) - ones;
    return (found & tops) == 0;
}

/* Returns the number of leading characters that are copied unchanged. */
static size_t plain_run(const char *text, size_t size, bool in_page) {
    size_t run = 0;
    while (size - run >= sizeof(uint64_t) && are_plain(text + run, in_page))
        run += sizeof(uint64_t);
    while (run < size && is_plain(text[run], in_page))
        run++;
    return run;
}

/* Returns whether the bytes are U+2028 or U+2029, in UTF-8 E2 80 A8 and E2 80 A9. */
static bool is_line_end(const char *sequence, size_t size) {
    return size == 3 &&
           (memcmp(sequence, "\xe2\x80\xa8", 3) == 0 || memcmp(sequence, "\xe2\x80\xa9", 3) == 0);
}

/* Control characters are written as \u escapes, which all readers support. */
static bool append_escape(tm_vec *out, unsigned code) {
    char escape[8];
    int n = code == '"' || code == '\\' ? snprintf(escape, sizeof escape, "\\%c", (int)code)
                                        : snprintf(escape, sizeof escape, "\\u%04x", code);
    return tm_vec_append(out, escape, (size_t)n);
}

/* Appends the UTF-8 sequence at @p at, repaired and escaped. Returns its size; 0 if out of
 * memory. */
static size_t append_sequence(tm_vec *out, const char *at, size_t left, bool in_page) {
    bool valid, ok;
    const size_t size = tm_utf8_sequence(at, left, &valid);
    if (!valid)
        ok = tm_vec_append(out, "\xef\xbf\xbd", 3);
    else if (size == 1)
        ok = append_escape(out, (unsigned char)*at);
    else if (in_page && is_line_end(at, size))
        ok = append_escape(out, 0x2000u + ((unsigned char)at[2] & 0x3fu));
    else
        ok = tm_vec_append(out, at, size);
    return ok ? size : 0;
}

bool tm_json_quote(tm_vec *out, const char *text, size_t size, bool in_page) {
    bool ok = tm_vec_append(out, "\"", 1);
    for (size_t at = 0, used; at < size && ok; at += used) {
        used = plain_run(text + at, size - at, in_page);
        if (used > 0)
            ok = tm_vec_append(out, text + at, used);
        else
            ok = (used = append_sequence(out, text + at, size - at, in_page)) > 0;
    }
    return ok && tm_vec_append(out, "\"", 1);
}

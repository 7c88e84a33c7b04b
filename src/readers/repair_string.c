#include "repair_string.h"

#include <stdio.h>

#include "base/utf8.h"

/* KEY_MAX: maximum length of a key that is looked for after a string. QUOTED_MAX: maximum length of
 * a string that contains quotes. */
enum { KEY_MAX = 256, QUOTED_MAX = 65536 };

/* Answers to questions about the text ahead. CUT means that the window ends before the answer is
 * known. */
typedef enum verdict { NO, YES, CUT } verdict;

static verdict at_end(const tm_json_cursor *cursor, const char *p) {
    return p >= cursor->end ? CUT : NO;
}

/* Whether there is a key with its colon at p. Sets *after to the position where the key's value
 * would start. */
static verdict is_key(const tm_json_cursor *cursor, const char *p, const char **after) {
    if (*p != '"')
        return at_end(cursor, p);
    const char *start = ++p;
    while (*p != '"' && p < cursor->end && p - start < KEY_MAX)
        p += *p == '\\' && p + 1 < cursor->end ? 2 : 1;
    if (*p != '"')
        return at_end(cursor, p);
    p = tm_json_space(p + 1);
    *after = p + 1;
    return *p == ':' ? YES : at_end(cursor, p);
}

static bool begins_value(char c) {
    return c == '"' || c == '-' || c == '{' || c == '[' || (c >= '0' && c <= '9');
}

/* Whether the bracket at p really closes an object or array: a comma, another bracket or the end
 * must follow it. */
static verdict closes(const tm_json_cursor *cursor, const char *p) {
    p = tm_json_space(p + 1);
    if (*p == ',' || *p == '}' || *p == ']')
        return YES;
    if (p < cursor->end)
        return NO;
    return cursor->final ? YES : CUT;
}

/* Whether the text at p, after a quote, continues the object or array. */
static verdict goes_on(const tm_json_cursor *cursor, const char *p, tm_string_place place) {
    const char *after;
    if (place == TM_STRING_KEY)
        return YES;
    p = tm_json_space(p);
    if (p >= cursor->end)
        return CUT;
    char close = place == TM_STRING_IN_OBJECT ? '}' : ']';
    if (*p == close)
        return closes(cursor, p);
    if (*p != ',')
        return NO;
    p = tm_json_space(p + 1);
    if (*p == close) /* a trailing comma */
        return closes(cursor, p);
    if (p >= cursor->end)
        return CUT;
    if (place == TM_STRING_IN_OBJECT)
        return is_key(cursor, p, &after);
    return begins_value(*p) || strchr("tfnNiI", *p) ? YES : NO;
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Whether [p, p + size) is a key that events are known to have. */
static bool is_member(const char *p, size_t size) {
    static const char *const members[] = {"ph", "cat", "name", "pid", "tid",
                                          "ts", "dur", "args", "id",  "bp"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strlen(members[i]) == size && memcmp(members[i], p, size) == 0)
            return true;
    return false;
}

/* Whether the quote at p belongs to a known key NAME of events, and another quote is missing: the
 * opening quote in NAME", the closing quote in "NAME, or the closing quote of the string before
 * "NAME". */
static bool touches_member(const char *start, const char *p) {
    const char *from = p, *to = p + 1;
    while (from > start && is_word(from[-1]))
        from--;
    if (is_member(from, (size_t)(p - from)) && *tm_json_space(p + 1) == ':')
        return true;
    while (is_word(*to))
        to++;
    size_t size = (size_t)(to - (p + 1));
    return is_member(p + 1, size) && *tm_json_space(to + (*to == '"')) == ':';
}

/* Whether a verdict must be reported: it is YES, or it is CUT and the content continues beyond the
 * window. */
static bool reported(const tm_json_cursor *cursor, verdict v) {
    return v == YES || (v == CUT && !cursor->final);
}

/* Whether the inner quote at p looks like broken structure: a missing comma between a string and a
 * key, a missing colon after a key, a missing closing quote before a key, or a string before the
 * wrong bracket. */
static verdict is_structure(const tm_json_cursor *cursor, const char *start, const char *p,
                            tm_string_place place) {
    const char *after = NULL, *before = p;
    const char *next = tm_json_space(p + 1);
    while (before > start && (before[-1] == ' ' || before[-1] == '\n'))
        before--;
    verdict key = is_key(cursor, next, &after); /* "a" "key": */
    if (reported(cursor, key))
        return key;
    if (before > start && before[-1] == ',') { /* "a, "key": */
        key = is_key(cursor, p, &after);
        if (reported(cursor, key))
            return key;
    }
    if (*next == '}' || *next == ']') { /* the wrong bracket */
        key = goes_on(cursor, next + 1, place);
        if (reported(cursor, key))
            return key;
    }
    if (*next == ',') { /* "a", "key" 1 */
        next = tm_json_space(next + 1);
        key = is_key(cursor, next, &after);
        if (*next == '"' && key == NO && after && begins_value(after[-1]))
            return YES;
    }
    return touches_member(start, p) ? YES : NO;
}

static bool is_escape(const char *p) {
    if (*p != 'u')
        return *p != '\0' && strchr("\"\\/bfnrt", *p);
    return strspn(p + 1, "0123456789abcdefABCDEF") >= 4;
}

/* Moves past a character that is not a quote, and records what is wrong with it; NULL if the window
 * ends inside it. */
static const char *step(const tm_json_cursor *cursor, const char *p, tm_string_faults *faults) {
    unsigned char c = (unsigned char)*p;
    if (c == '\\') {
        if (p + 6 > cursor->end && !cursor->final)
            return NULL;
        bool known = is_escape(p + 1);
        faults->backslash |= !known;
        return p + (known ? 2 : 1);
    }
    if (c >= 0x80) {
        bool valid;
        size_t n = tm_utf8_sequence(p, (size_t)(cursor->end - p), &valid);
        if (!valid && p + n == cursor->end)
            return NULL;
        faults->invalid_utf8 |= !valid;
        return p + n;
    }
    faults->control_character |= c < 0x20;
    return p + 1;
}

/* Fails because the text continues beyond the window. At the end of the content, only a string that
 * contains no quotes counts as cut. If it contains quotes, another error is more likely. */
static const char *cut(tm_json_cursor *cursor, const char *start, const tm_string_faults *faults) {
    bool wrong = cursor->final && faults->unescaped_quote;
    return tm_json_fail(cursor, wrong ? start : cursor->end, "a string does not end");
}

static const char *lenient_end(tm_json_cursor *cursor, const char *start, tm_string_place place,
                               tm_string_faults *faults) {
    const char *p = start;
    while (p && p < cursor->end) {
        /* A backslash before the closing quote is a literal one, at the end of a path. */
        bool escaped = *p == '\\' && p[1] == '"';
        if (*p != '"' && !escaped) {
            p = step(cursor, p, faults);
            continue;
        }
        verdict v = goes_on(cursor, p + escaped + 1, place);
        if (v == YES) {
            faults->backslash |= escaped;
            return p + escaped + 1;
        }
        faults->unescaped_quote |= !escaped && v == NO;
        if (v == NO && !escaped)
            v = is_structure(cursor, start, p, place);
        if (v == CUT)
            break;
        if (v == YES || (faults->unescaped_quote && p - start > QUOTED_MAX))
            return tm_json_fail(cursor, p, "this quote has no counterpart");
        p += 1 + escaped;
    }
    return cut(cursor, start, faults);
}

const char *tm_repair_string_end(tm_json_cursor *cursor, const char *p, tm_string_place place,
                                 tm_string_faults *faults) {
    tm_json_text text;
    *faults = (tm_string_faults){false, false, false, false};
    const char *end = tm_json_string(cursor, p, &text);
    if (!end && cursor->fail >= cursor->end && !cursor->final)
        return NULL;
    if (end) {
        verdict v = goes_on(cursor, end, place);
        if (v == YES)
            return end;
        if (v == CUT)
            return tm_json_fail(cursor, cursor->end, "the text is cut short");
    }
    return lenient_end(cursor, p, place, faults);
}

/* Returns the length of the escape at p; 0 if the backslash is a literal one. In a path (a string
 * with literal backslashes), \b and \t are not escapes either. */
static size_t kept_escape(const char *p, const char *end, bool path) {
    if (p + 1 == end || !is_escape(p + 1))
        return 0;
    return !path || strchr("\"\\/", p[1]) ? 2 : 0;
}

/* Writes the replacement of the character at p; returns the number of bytes consumed. */
static size_t repaired(const char *p, const char *end, const tm_string_faults *faults,
                       char out[8]) {
    unsigned char c = (unsigned char)*p;
    size_t used = 1;
    bool valid = true;
    if (c == '\\') {
        used = kept_escape(p, end, faults->backslash);
        snprintf(out, 8, used ? "\\%c" : "\\\\", p[1]);
        return used ? used : 1;
    }
    if (c == '"')
        snprintf(out, 8, "\\\"");
    else if (c < 0x20)
        snprintf(out, 8, "\\u%04x", c);
    else
        used = tm_utf8_sequence(p, (size_t)(end - p), &valid);
    if (c >= 0x20 && c != '"')
        snprintf(out, 8, "%.*s", valid ? (int)used : 3, valid ? p : "\xEF\xBF\xBD");
    return used;
}

bool tm_repair_string_copy(const char *p, size_t size, const tm_string_faults *faults,
                           tm_vec *out) {
    const char *end = p + size;
    char text[8];
    while (p < end) {
        p += repaired(p, end, faults, text);
        if (!tm_vec_append(out, text, strlen(text)))
            return false;
    }
    return true;
}

#include "repair.h"

#include <stdio.h>

#include "repair_string.h"

enum { AT_VALUE, AT_FIRST_VALUE, AT_KEY, AT_FIRST_KEY, AFTER_VALUE };

typedef struct fixer {
    tm_json_cursor *cursor;
    tm_repair *out;
    const char *copied; /* the original has been copied up to here */
    const char *comma;  /* position of the last comma between members */
    int state, depth;
    /* [depth] whether the open value at this depth is an object (true) or an array (false) */
    bool objects[TM_JSON_DEPTH_MAX];
} fixer;

static bool replace(fixer *m, const char *from, const char *to, const char *bytes, size_t size) {
    tm_vec *text = &m->out->text;
    if (!tm_vec_append(text, m->copied, (size_t)(from - m->copied)) ||
        !tm_vec_append(text, bytes, size)) {
        m->out->no_memory = true;
        return false;
    }
    m->copied = to;
    return true;
}

static const char *fail(fixer *m, const char *at, const char *why) {
    return tm_json_fail(m->cursor, at, why);
}

static bool same_without_case(const char *p, size_t size, const char *word) {
    for (size_t i = 0; i < size; i++)
        if ((p[i] >= 'A' && p[i] <= 'Z' ? p[i] | 0x20 : p[i]) != word[i])
            return false;
    return word[size] == '\0';
}

/* Whether a word without quotes is one that libraries print for a number that is infinite, NaN or
 * missing. */
static bool is_non_finite(const char *p, size_t size) {
    static const char *const words[] = {"inf", "infinity", "nan", "nan(ind)", "n/a"};
    size_t sign = *p == '-' || *p == '+';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (same_without_case(p + sign, size - sign, words[i]))
            return true;
    return false;
}

/* Whether the text is like -1.-500, which results from printing the integer part and the fraction
 * of -1.500 separately. */
static bool is_signed_fraction(const char *p, size_t size) {
    static const char digits[] = "0123456789";
    size_t whole = strspn(p + (*p == '-'), digits) + (*p == '-');
    if (p[whole] != '.' || p[whole + 1] != '-')
        return false;
    size_t fraction = strspn(p + whole + 2, digits);
    return fraction >= 1 && fraction <= 3 && whole + 2 + fraction == size;
}

/* The fraction was printed with %03d, so -5 after the point means 5 thousandths. */
static bool fix_fraction(fixer *m, const char *p, const char *end) {
    char text[64];
    const char *whole = p + (*p == '-'), *point = strchr(whole, '.');
    size_t digits = (size_t)(end - (point + 2));
    int n = snprintf(text, sizeof text, "-%.*s.%.*s%.*s", (int)(point - whole), whole,
                     (int)(3 - digits), "00", (int)digits, point + 2);
    m->out->counts[TM_COUNT_SIGNED_FRACTION]++;
    return replace(m, p, end, text, (size_t)n);
}

/* Repairs a number, true, false, null, or an invalid word without quotes. */
static const char *scalar(fixer *m, const char *p) {
    const char *end = p + strcspn(p, ",]} \t\r\n\"");
    if (end >= m->cursor->end && !m->cursor->final)
        return fail(m, m->cursor->end, "a value is cut short");
    size_t size = (size_t)(end - p);
    if (is_non_finite(p, size)) {
        m->out->counts[TM_COUNT_NON_FINITE]++;
        return replace(m, p, end, "null", 4) ? end : NULL;
    }
    if (size < 32 && is_signed_fraction(p, size))
        return fix_fraction(m, p, end) ? end : NULL;
    return tm_json_skip_value(m->cursor, p);
}

/* Repairs a string; p is at its quote. */
static const char *string(fixer *m, const char *p, tm_string_place place) {
    tm_string_faults faults;
    const char *end = tm_repair_string_end(m->cursor, p + 1, place, &faults);
    if (!end || !tm_string_is_faulty(&faults))
        return end;
    m->out->counts[TM_COUNT_CONTROL_CHARACTER] += faults.control_character;
    m->out->counts[TM_COUNT_INVALID_UTF8] += faults.invalid_utf8;
    m->out->counts[TM_COUNT_BACKSLASH] += faults.backslash;
    m->out->counts[TM_COUNT_UNESCAPED_QUOTE] += faults.unescaped_quote;
    if (!replace(m, p + 1, end - 1, NULL, 0))
        return NULL;
    if (!tm_repair_string_copy(p + 1, (size_t)(end - 1 - (p + 1)), &faults, &m->out->text)) {
        m->out->no_memory = true;
        return NULL;
    }
    return end;
}

static const char *open_container(fixer *m, const char *p) {
    if (m->depth == TM_JSON_DEPTH_MAX)
        return fail(m, p, "values are nested deeper than 512 levels");
    m->objects[m->depth++] = *p == '{';
    m->state = *p == '{' ? AT_FIRST_KEY : AT_FIRST_VALUE;
    return p + 1;
}

/* Handles a closing bracket where a key or value is expected: removes a trailing comma. */
static const char *close_container(fixer *m, const char *p, bool after_comma) {
    if (after_comma) {
        if (!replace(m, m->comma, m->comma + 1, NULL, 0))
            return NULL;
        m->out->counts[TM_COUNT_TRAILING_COMMA]++;
    }
    m->depth--;
    m->state = AFTER_VALUE;
    return p + 1;
}

static const char *at_value(fixer *m, const char *p) {
    bool in_array = m->depth > 0 && !m->objects[m->depth - 1];
    if (*p == '{' || *p == '[')
        return open_container(m, p);
    if (*p == ']' && in_array)
        return close_container(m, p, m->state == AT_VALUE);
    p = *p == '"' ? string(m, p, in_array ? TM_STRING_IN_ARRAY : TM_STRING_IN_OBJECT)
                  : scalar(m, p);
    m->state = AFTER_VALUE;
    return p;
}

static const char *at_key(fixer *m, const char *p) {
    if (*p == '}')
        return close_container(m, p, m->state == AT_KEY);
    if (*p != '"')
        return fail(m, p, "a key is expected here");
    p = string(m, p, TM_STRING_KEY);
    if (!p)
        return NULL;
    p = tm_json_space(p);
    if (*p != ':')
        return fail(m, p, "a colon should follow the key");
    m->state = AT_VALUE;
    return p + 1;
}

static const char *after_value(fixer *m, const char *p) {
    bool object = m->objects[m->depth - 1];
    if (*p == ',') {
        m->comma = p;
        m->state = object ? AT_KEY : AT_VALUE;
        return p + 1;
    }
    if (*p == (object ? '}' : ']'))
        return close_container(m, p, false);
    return fail(m, p,
                object ? "a comma or } should follow the value"
                       : "a comma or ] should follow the value");
}

static const char *value(fixer *m, const char *p) {
    do {
        p = tm_json_space(p);
        if (m->state == AFTER_VALUE)
            p = after_value(m, p);
        else if (m->state == AT_KEY || m->state == AT_FIRST_KEY)
            p = at_key(m, p);
        else
            p = at_value(m, p);
    } while (p && m->depth > 0);
    return p;
}

const char *tm_json_repair(tm_json_cursor *cursor, const char *p, tm_repair *out) {
    static const char padding[TM_JSON_PADDING];
    fixer m = {.cursor = cursor, .out = out, .copied = p, .state = AT_VALUE};
    tm_vec *text = &out->text;
    if (text->size == 0)
        *text = TM_VEC(char);
    text->n = 0;
    memset(out->counts, 0, sizeof out->counts);
    out->no_memory = false;
    const char *end = value(&m, p);
    if (!end || !replace(&m, end, end, NULL, 0))
        return out->no_memory ? fail(&m, p, "out of memory") : NULL;
    out->size = text->n;
    if (!tm_vec_append(text, padding, sizeof padding)) {
        out->no_memory = true;
        return fail(&m, p, "out of memory");
    }
    return end;
}

void tm_repair_free(tm_repair *repair) {
    if (repair->text.size > 0)
        tm_vec_free(&repair->text);
}

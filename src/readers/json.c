#include "json.h"

#include "base/utf8.h"

enum { AT_VALUE, AT_FIRST_VALUE, AT_KEY, AT_FIRST_KEY, AFTER_VALUE };

bool tm_json_utf8_valid(const char *bytes, size_t size) {
    bool valid = true;
    for (size_t at = 0; at < size && valid;)
        at += tm_utf8_sequence(bytes + at, size - at, &valid);
    return valid;
}

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Checks an escape; p is after the backslash. */
static const char *escape(tm_json_cursor *cursor, const char *p) {
    if (*p == 'u') {
        for (int i = 1; i <= 4; i++)
            if (!is_hex(p[i]))
                return tm_json_fail(cursor, p + i, "\\u needs four hexadecimal digits");
        return p + 5;
    }
    if (*p == '\0' || !strchr("\"\\/bfnrt", *p))
        return tm_json_fail(cursor, p, "JSON does not have this escape");
    return p + 1;
}

const char *tm_json_string_rest(tm_json_cursor *cursor, const char *p, tm_json_text *out) {
    bool escaped = false;
    while (*p != '"') {
        unsigned char c = (unsigned char)*p;
        if (c == '\\') {
            escaped = true;
            p = escape(cursor, p + 1);
            if (!p)
                return NULL;
        } else if (c < 0x20) {
            return tm_json_fail(cursor, p, "a string contains a control character");
        } else if (c < 0x80) {
            p++;
        } else {
            bool valid;
            size_t n = tm_utf8_sequence(p, (size_t)(cursor->end - p), &valid);
            if (!valid) /* if the end of the window cuts the sequence, the rest of it may follow */
                return tm_json_fail(cursor, p + n == cursor->end ? p + n : p,
                                    "a string is not valid UTF-8");
            p += n;
        }
    }
    out->size = (size_t)(p - out->bytes);
    out->escaped = escaped;
    return p + 1;
}

const char *tm_json_literal(tm_json_cursor *cursor, const char *p) {
    const char *word = *p == 't' ? "true" : *p == 'f' ? "false" : *p == 'n' ? "null" : NULL;
    if (!word)
        return tm_json_fail(cursor, p, "a value is expected here");
    for (; *word; word++, p++)
        if (*p != *word)
            return tm_json_fail(cursor, p, "only true, false and null are words in JSON");
    return p;
}

static bool in_object(const tm_json_skip_state *s) {
    return s->objects[(s->depth - 1) / 64] >> ((s->depth - 1) % 64) & 1;
}

static const char *open_container(tm_json_cursor *cursor, const char *p, tm_json_skip_state *s) {
    if (s->depth == TM_JSON_DEPTH_MAX)
        return tm_json_fail(cursor, p, "values are nested deeper than 512 levels");
    uint64_t bit = (uint64_t)1 << (s->depth % 64);
    if (*p == '{')
        s->objects[s->depth / 64] |= bit;
    else
        s->objects[s->depth / 64] &= ~bit;
    s->state = *p == '{' ? AT_FIRST_KEY : AT_FIRST_VALUE;
    s->depth++;
    return p + 1;
}

static const char *close_container(const char *p, tm_json_skip_state *s) {
    s->depth--;
    s->state = AFTER_VALUE;
    return p + 1;
}

static const char *scalar(tm_json_cursor *cursor, const char *p) {
    tm_json_text text;
    if (*p == '"')
        return tm_json_string(cursor, p + 1, &text);
    if (*p == '-' || (*p >= '0' && *p <= '9')) {
        p = tm_json_number(cursor, p);
        if (p && p >= cursor->end && !cursor->final) /* more digits may follow after the window */
            return tm_json_fail(cursor, cursor->end, "a number is cut short");
        return p;
    }
    return tm_json_literal(cursor, p);
}

/* Skips a string or an integer, which are the usual elements of an array. Returns NULL if the
 * element is of another kind, or malformed. */
static inline const char *usual_element(tm_json_cursor *cursor, const char *p) {
    const char *digits = p;
    if (*p == '"') {
        tm_json_text text;
        return tm_json_string(cursor, p + 1, &text);
    }
    while (*p >= '0' && *p <= '9')
        p++;
    return p == digits || (*digits == '0' && p != digits + 1) ? NULL : p;
}

#if TM_SIMD == TM_SIMD_AVX2
/* Skips a list of whole numbers, 32 bytes at a time. This is worthwhile because in large jobs,
 * lists of the ranks of process groups are most of a trace. The numbers may be separated by a
 * comma, or by a comma and a blank. At the call, p is after a comma or at the first number. Returns
 * the position after the last comma that fits. The caller reads the last number and anything
 * else. */
static const char *many_numbers(const char *p) {
    const __m256i zero = _mm256_set1_epi8('0'), nine = _mm256_set1_epi8(9);
    const __m256i comma = _mm256_set1_epi8(','), blank = _mm256_set1_epi8(' ');
    for (;;) { /* the padding makes this read valid */
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
        const __m256i digit = _mm256_sub_epi8(v, zero);
        const uint32_t zeros = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, zero));
        const uint32_t commas = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, comma));
        const uint32_t blanks = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, blank));
        const uint32_t digits =
            (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(digit, nine), digit));
        const uint32_t firsts = digits & ~(digits << 1);
        uint32_t wrong = ~(digits | commas | blanks); /* another character, */
        wrong |= commas & ~(digits << 1);             /* no number before a comma, */
        wrong |= blanks & ~(commas << 1 | 1);         /* a blank elsewhere, */
        wrong |= digits & (zeros & firsts) << 1;      /* or a zero before digits */
        const uint32_t sound = commas & ((wrong & (0 - wrong)) - 1);
        if (!sound)
            return p;
        p += 32 - __builtin_clz(sound);
    }
}
#else
static const char *many_numbers(const char *p) {
    return p;
}
#endif

/* Skips an array in a fast way, without a state. The elements of the array may be strings,
 * integers, and arrays of these. Returns NULL if the array contains anything else, is malformed, or
 * does not end in the window. The caller must then skip it in the general way. Sets *looked_at to
 * the position up to which the array was examined. */
static const char *usual_array(tm_json_cursor *cursor, const char *p, const char **looked_at) {
    int depth = 0;
    do {
        p = tm_json_space(many_numbers(p));
        *looked_at = p;
        if (*p == '[' && depth < TM_JSON_DEPTH_MAX / 2) {
            depth++;
            p = tm_json_space(p + 1);
            if (*p != ']')
                continue;
        } else {
            p = usual_element(cursor, p);
            if (!p)
                return NULL;
            p = tm_json_space(p);
        }
        while (*p == ']') {
            p++;
            if (--depth == 0)
                return p;
            p = tm_json_space(p);
        }
        if (*p != ',')
            return NULL;
        p++;
    } while (true);
}

/* Reads the value at p. Tries the fast way only at *looked_at and after it. Otherwise, nested
 * arrays with unusual values would be scanned again for each level of nesting. */
static const char *at_value(tm_json_cursor *cursor, const char *p, tm_json_skip_state *s,
                            const char **looked_at) {
    const bool usual = *p == '[' && s->depth < TM_JSON_DEPTH_MAX / 2 && p >= *looked_at;
    const char *end = usual ? usual_array(cursor, p, looked_at) : NULL;
    if (end) {
        s->state = AFTER_VALUE;
        return end;
    }
    if (*p == '{' || *p == '[')
        return open_container(cursor, p, s);
    if (*p == ']' && s->state == AT_FIRST_VALUE)
        return close_container(p, s);
    p = scalar(cursor, p);
    if (p)
        s->state = AFTER_VALUE;
    return p;
}

static const char *at_key(tm_json_cursor *cursor, const char *p, tm_json_skip_state *s) {
    tm_json_text text;
    if (*p == '}' && s->state == AT_FIRST_KEY)
        return close_container(p, s);
    if (*p != '"')
        return tm_json_fail(cursor, p, "a key is expected here");
    p = tm_json_string(cursor, p + 1, &text);
    if (!p)
        return NULL;
    p = tm_json_space(p);
    if (*p != ':')
        return tm_json_fail(cursor, p, "a colon should follow the key");
    s->state = AT_VALUE;
    return p + 1;
}

static const char *after_value(tm_json_cursor *cursor, const char *p, tm_json_skip_state *s) {
    bool object = in_object(s);
    if (*p == ',') {
        s->state = object ? AT_KEY : AT_VALUE;
        return p + 1;
    }
    if (*p == (object ? '}' : ']'))
        return close_container(p, s);
    return tm_json_fail(cursor, p,
                        object ? "a comma or } should follow the value"
                               : "a comma or ] should follow the value");
}

const char *tm_json_skip(tm_json_cursor *cursor, const char *p, tm_json_skip_state *s,
                         const char **resume) {
    const char *looked_at = p;
    do {
        p = tm_json_space(p);
        *resume = p;
        if (s->state == AFTER_VALUE)
            p = after_value(cursor, p, s);
        else if (s->state == AT_KEY || s->state == AT_FIRST_KEY)
            p = at_key(cursor, p, s);
        else
            p = at_value(cursor, p, s, &looked_at);
        if (!p)
            return NULL;
    } while (s->depth > 0);
    return p;
}

const char *tm_json_skip_value(tm_json_cursor *cursor, const char *p) {
    if (*p != '{' && *p != '[')
        return scalar(cursor, p);
    tm_json_skip_state state = {.state = AT_VALUE};
    const char *resume;
    return tm_json_skip(cursor, p, &state, &resume);
}

static unsigned hex4(const char *p) {
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = (unsigned char)p[i];
        value = value * 16 + (c <= '9' ? c - '0' : (c | 0x20u) - 'a' + 10u);
    }
    return value;
}

static size_t put_utf8(unsigned code, char *out) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* Decodes an escape; p is after "\u". Returns the number of bytes read from there on. */
static size_t decode_unicode(const char *p, const char *end, char *out, size_t *written) {
    unsigned code = hex4(p);
    size_t used = 4;
    if (code >= 0xD800 && code < 0xDC00 && end - p >= 10 && p[4] == '\\' && p[5] == 'u') {
        unsigned low = hex4(p + 6);
        if (low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            used = 10;
        }
    }
    if (code >= 0xD800 && code < 0xE000)
        code = 0xFFFD;
    *written = put_utf8(code, out);
    return used;
}

size_t tm_json_decode(const tm_json_text *text, char *out) {
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *p = text->bytes, *end = p + text->size;
    size_t n = 0;
    while (p < end) {
        if (*p != '\\') {
            out[n++] = *p++;
            continue;
        }
        p++;
        if (*p == 'u') {
            size_t written;
            p += 1 + decode_unicode(p + 1, end, out + n, &written);
            n += written;
        } else {
            const char *known = strchr(from, *p);
            out[n++] = known ? to[known - from] : *p;
            p++;
        }
    }
    return n;
}

/* Reads strict JSON tokens from bytes in memory. This is the inner loop of every JSON reader. The
 * bytes are in [p, end), followed by TM_JSON_PADDING zero bytes. No token contains a zero byte, so
 * each function stops there, and no function needs to check for end before it reads. A function
 * returns the position after what it has read. On failure, it sets cursor->fail and cursor->why,
 * and returns NULL. A failure at or after end means that the text continues after the window. */
#ifndef TMERGE_JSON_H
#define TMERGE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/letters.h"
#include "simd.h"

#if TM_SIMD
#include <immintrin.h>
#endif

enum { TM_JSON_PADDING = 64, TM_JSON_DEPTH_MAX = 512 };

typedef struct tm_json_cursor {
    const char *end;  /* after the last byte of the window */
    const char *fail; /* position of the first byte that is not valid JSON */
    const char *why;  /* message of the error, a static text */
    bool final;       /* the content ends at `end`, so a number may end there */
} tm_json_cursor;

/** A string token: the bytes between the quotes, before escapes are decoded. */
typedef struct tm_json_text {
    const char *bytes;
    size_t size;
    bool escaped; /* the text contains a backslash: use tm_json_decode */
    /* Only for the text of an ARRAY field: index in tm_chrome_event.known_ids; 0: none. */
    uint16_t known;
} tm_json_text;

static inline bool tm_json_is(const tm_json_text *text, const char *word) {
    return text->size == strlen(word) && memcmp(text->bytes, word, text->size) == 0;
}

static inline bool tm_json_begins(const tm_json_text *text, const char *begin) {
    return tm_begins_with(text->bytes, text->size, begin);
}

static inline const char *tm_json_fail(tm_json_cursor *cursor, const char *at, const char *why) {
    cursor->fail = at;
    cursor->why = why;
    return NULL;
}

/** Skips blanks, tabs and line ends. */
static inline const char *tm_json_space(const char *p) {
    if ((unsigned char)*p > ' ')
        return p;
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
        p++;
    return p;
}

/** Returns whether [bytes, bytes + size) is valid UTF-8. As RFC 3629 requires, surrogates and
 * overlong forms are not valid. */
bool tm_json_utf8_valid(const char *bytes, size_t size);

/** Reads the rest of a string with a backslash or a non-ASCII byte; @p p is inside the string. */
const char *tm_json_string_rest(tm_json_cursor *cursor, const char *p, tm_json_text *out);

/** Reads a string; @p p is after the opening quote. */
static inline const char *tm_json_string(tm_json_cursor *cursor, const char *p, tm_json_text *out) {
    out->bytes = p;
#if TM_SIMD == TM_SIMD_AVX2
    const __m256i quote = _mm256_set1_epi8('"'), slash = _mm256_set1_epi8('\\');
    const __m256i control = _mm256_set1_epi8(0x1f);
    for (;;) {
        /* The padding makes it valid to read 32 bytes from any position before end. */
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
        __m256i stop = _mm256_or_si256(_mm256_cmpeq_epi8(v, quote), _mm256_cmpeq_epi8(v, slash));
        stop = _mm256_or_si256(stop, _mm256_cmpeq_epi8(_mm256_min_epu8(v, control), v));
        stop = _mm256_or_si256(stop, v); /* bytes that are not ASCII: their top bit is set */
        unsigned mask = (unsigned)_mm256_movemask_epi8(stop);
        if (mask) {
            p += __builtin_ctz(mask);
            break;
        }
        p += 32;
    }
#elif TM_SIMD == TM_SIMD_SSE2
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    const __m128i control = _mm_set1_epi8(0x1f);
    /* This is the loop above, with 16 bytes at a time. */
    for (;;) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash));
        stop = _mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
        stop = _mm_or_si128(stop, v);
        unsigned mask = (unsigned)_mm_movemask_epi8(stop);
        if (mask) {
            p += __builtin_ctz(mask);
            break;
        }
        p += 16;
    }
#else
    while ((signed char)*p >= 0x20 && *p != '"' && *p != '\\')
        p++;
#endif
    if (*p != '"')
        return tm_json_string_rest(cursor, p, out);
    out->size = (size_t)(p - out->bytes);
    out->escaped = false;
    return p + 1;
}

/** Reads a number; @p p is at '-' or a digit. Its token is the bytes from @p p to the returned
 * position. */
static inline const char *tm_json_number(tm_json_cursor *cursor, const char *p) {
    if (*p == '-')
        p++;
    if (*p == '0') {
        p++;
    } else {
        const char *digits = p;
        while (*p >= '0' && *p <= '9')
            p++;
        if (p == digits)
            return tm_json_fail(cursor, p, "a number needs a digit here");
    }
    if (*p == '.') {
        const char *digits = ++p;
        while (*p >= '0' && *p <= '9')
            p++;
        if (p == digits)
            return tm_json_fail(cursor, p, "a number needs a digit after its point");
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-')
            p++;
        const char *digits = p;
        while (*p >= '0' && *p <= '9')
            p++;
        if (p == digits)
            return tm_json_fail(cursor, p, "a number needs a digit in its exponent");
    }
    return p;
}

/** Reads true, false or null; @p p is at its first letter. */
const char *tm_json_literal(tm_json_cursor *cursor, const char *p);

/** State of skipping a value in several calls; {0} before the first. */
typedef struct tm_json_skip_state {
    int state; /* 0 at the start of a value */
    int depth; /* open containers */
    /* bit d: the container at depth d is an object (1) or an array (0) */
    uint64_t objects[TM_JSON_DEPTH_MAX / 64];
} tm_json_skip_state;

/** Skips one value of any kind, and checks its full grammar. On failure, *resume is the start of
 * the token that could not be read. The caller can read more text into the window, and repeat the
 * call from *resume on with the same state. */
const char *tm_json_skip(tm_json_cursor *cursor, const char *p, tm_json_skip_state *state,
                         const char **resume);

/** Skips one value that is completely in the window; NULL on failure. */
const char *tm_json_skip_value(tm_json_cursor *cursor, const char *p);

/** Moves to the next value of an object in the window. If @p first is set, p is after the opening
 * brace, otherwise after a value. At the end of the object, moves past its closing brace and sets
 * *more to false. */
static inline const char *tm_json_member(tm_json_cursor *cursor, const char *p, bool first,
                                         tm_json_text *key, bool *more) {
    p = tm_json_space(p);
    *more = *p != '}';
    if (!*more)
        return p + 1;
    if (!first && *p != ',')
        return tm_json_fail(cursor, p, "a comma or } should follow the value");
    p = first ? p : tm_json_space(p + 1);
    if (*p != '"')
        return tm_json_fail(cursor, p, "a key is expected here");
    p = tm_json_string(cursor, p + 1, key);
    if (!p)
        return NULL;
    p = tm_json_space(p);
    if (*p != ':')
        return tm_json_fail(cursor, p, "a colon should follow the key");
    return tm_json_space(p + 1);
}

/**
 * Decodes the escapes of a string token into UTF-8. The token must be one that tm_json_string
 * accepted. A lone surrogate becomes U+FFFD.
 *
 * @param out  [text->size]
 * @return     number of bytes written
 */
size_t tm_json_decode(const tm_json_text *text, char *out);

#endif

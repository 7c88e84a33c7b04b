/* Compares the scanner with cJSON, an independent parser, on random documents and damaged ones.
 * Verdicts and content must be equal, except for known deviations of cJSON 1.7. */
#include <cjson/cJSON.h>
#include <regex.h>

#include "json_document.h"
#include "readers/number.h"

enum { ROOM = 2048, N_DAMAGED = 3 };

static uint32_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static uint32_t below(uint64_t *seed, uint32_t n) {
    return next_random(seed) % n;
}

typedef struct document {
    char text[ROOM];
    size_t n;
    uint64_t seed;
} document;

static void put(document *d, const char *bytes, size_t n) {
    if (d->n + n > ROOM - 64) /* no room left; a cut document would be invalid */
        return;
    memcpy(d->text + d->n, bytes, n);
    d->n += n;
}

static void put_one_of(document *d, const char *const *pieces, size_t n) {
    const char *piece = pieces[below(&d->seed, (uint32_t)n)];
    put(d, piece, strlen(piece));
}
#define PUT_ONE_OF(d, ...)                                                                         \
    put_one_of(d, (const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__})))

static void put_space(document *d) {
    PUT_ONE_OF(d, "", "", "", "", "", " ", "\n  ", "\t", "\r\n");
}

static void put_digits(document *d) {
    char digits[24];
    size_t n = 1 + below(&d->seed, below(&d->seed, 4) ? 4 : 22);
    for (size_t i = 0; i < n; i++)
        digits[i] = (char)('0' + below(&d->seed, 10));
    put(d, digits, n);
}

static void put_number(document *d) {
    if (below(&d->seed, 8) == 0) {
        PUT_ONE_OF(d, "0", "-0", "0.0", "1e400", "-1e-400", "1.7976931348623157e308");
        return;
    }
    PUT_ONE_OF(d, "", "", "-", "1", "-7", "0.", "-0.", "9."); /* this may make a leading zero */
    put_digits(d);
    if (below(&d->seed, 3) == 0) {
        put(d, ".", 1);
        put_digits(d);
    }
    if (below(&d->seed, 4) == 0) {
        PUT_ONE_OF(d, "e", "E", "e+", "E-", "e-");
        put_digits(d);
    }
}

static void put_string(document *d) {
    put(d, "\"", 1);
    for (uint32_t n = below(&d->seed, 9); n > 0; n--)
        PUT_ONE_OF(d, "a", "void gemm<float>(", " ", "\\n", "\\\"", "\\\\", "\\/", "\\b\\f\\r\\t",
                   "\\u0041", "\\u00e9", "\\u20AC", "\\ud83d\\ude00", "\\uFFFF", "\\u001f",
                   "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "{", "[", ":", ",",
                   "0123456789abcdef0123456789abcdef", "\x7F");
    put(d, "\"", 1);
}

static void put_value(document *d, int depth) {
    uint32_t kind = below(&d->seed, depth < 5 ? 10 : 6);
    if (kind < 2) {
        PUT_ONE_OF(d, "true", "false", "null");
    } else if (kind < 4) {
        put_number(d);
    } else if (kind < 6) {
        put_string(d);
    } else {
        bool object = kind < 8;
        uint32_t n = below(&d->seed, 5);
        put(d, object ? "{" : "[", 1);
        put_space(d);
        for (uint32_t i = 0; i < n; i++) {
            put(d, ", ", i > 0 ? 1 + below(&d->seed, 2) : 0);
            if (object) {
                put_string(d);
                put_space(d);
                put(d, ":", 1);
                put_space(d);
            }
            put_value(d, depth + 1);
            put_space(d);
        }
        put(d, object ? "}" : "]", 1);
    }
}

/* Makes one small damage. Most of the bytes have a meaning in JSON. */
static void damage(document *d) {
    static const char bytes[] =
        "{}[]\",:\\0123456789.-+eEutfn/ \n\t\x01\x7F\x80\xC3\xE2\xED\xF0\xFF";
    size_t at = d->n > 0 ? below(&d->seed, (uint32_t)d->n) : 0;
    char byte = bytes[below(&d->seed, sizeof bytes)]; /* including the final zero */
    switch (below(&d->seed, 5)) {
    case 0:
        d->text[at] = (char)(d->text[at] ^ 1 << below(&d->seed, 8));
        break;
    case 1:
        d->text[at] = byte;
        break;
    case 2:
        for (uint32_t n = 1 + below(&d->seed, 4); n > 0 && at < d->n; n--)
            memmove(d->text + at, d->text + at + 1, --d->n - at);
        break;
    case 3:
        memmove(d->text + at + 1, d->text + at, d->n++ - at);
        d->text[at] = byte;
        break;
    default:
        if (below(&d->seed, 4) == 0)
            d->n = at;
    }
    d->n += d->n == 0; /* an empty file is not a source */
}

typedef struct liberties {
    bool lax;    /* has something that cJSON accepts and RFC 8259 does not */
    bool strict; /* has something that cJSON rejects and this reader accepts */
} liberties;

static int hex4(const char *p) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = p[i] ? strchr(digits, p[i]) : NULL;
        if (!digit)
            return -1;
        value = value * 16 + (int)(digit - digits) % 16;
    }
    return value;
}

/* Returns the length of the character at @p s; 0 if it is invalid. */
static size_t character(const unsigned char *s) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xC0 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    uint32_t code = n == 1 ? s[0] : n == 0 || s[0] > 0xF7 ? UINT32_MAX : s[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++)
        code = (s[i] & 0xC0) == 0x80 && code != UINT32_MAX ? code << 6 | (s[i] & 0x3F) : UINT32_MAX;
    return code <= 0x10FFFF && code >= least[n] && code >> 11 != 0x1B ? n : 0;
}

/* Starts after the opening quote; returns the closing one, or the end. Zeros follow. */
static const char *string_liberties(const char *p, const char *end, liberties *found) {
    while (p < end && *p != '"') {
        size_t n = character((const unsigned char *)p);
        /* cJSON accepts raw control characters and invalid UTF-8. */
        found->lax |= n == 0 || (unsigned char)*p < 0x20;
        if (*p != '\\') {
            p += n ? n : 1;
            continue;
        }
        if (p[1] != 'u') {
            p += 2;
            continue;
        }
        int code = hex4(p + 2), next = p[6] == '\\' && p[7] == 'u' ? hex4(p + 8) : -1;
        /* For cJSON, an escape with a wrong hexadecimal digit is zero. */
        found->lax |= code < 0;
        bool pair = code >> 10 == 0x36 && next >> 10 == 0x37;
        /* cJSON rejects single surrogates. This reader makes them U+FFFD. */
        found->strict |= code >= 0 && code >> 11 == 0x1B && !pair;
        p += pair ? 12 : 2;
    }
    return p;
}

static liberties liberties_in(const char *text, size_t n, const regex_t *number) {
    liberties found = {false, false};
    const char *end = text + n;
    /* cJSON skips a byte order mark. Here, only the trace reader does. */
    found.lax = n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
    for (const char *p = text; p < end; p++) {
        /* For cJSON, every byte up to the blank is white space. */
        found.lax |= (unsigned char)*p < 0x20 && (*p == 0 || !strchr("\t\n\r", *p));
        if (*p == '"') {
            p = string_liberties(p + 1, end, &found);
        } else if (*p == '-' || (*p >= '0' && *p <= '9')) {
            char token[ROOM] = "";
            size_t size = strspn(p, "0123456789+-eE.");
            memcpy(token, p, size);
            /* cJSON uses strtod, which also accepts 01, 1. and -.5, */
            found.lax |= regexec(number, token, 0, NULL, 0) != 0;
            /* but passes at most 63 bytes to it. */
            found.strict |= size > 63;
            p += size - 1;
        }
    }
    return found;
}

static void compare_string(const char **p, const char *end, const char *expected) {
    char out[ROOM];
    tm_json_cursor cursor = {.end = end, .final = true};
    tm_json_text token;
    const char *quote = strchr(*p, '"');
    assert_non_null(quote);
    *p = tm_json_string(&cursor, quote + 1, &token);
    assert_non_null(*p);
    size_t n = tm_json_decode(&token, out);
    out[n] = '\0'; /* cJSON's strings also end at a \u0000 */
    assert_string_equal(out, expected);
    assert_true(tm_json_utf8_valid(out, n));
}

/* Compares the tree in the order of the text. */
static void compare_value(const char **p, const char *end, const cJSON *value) {
    if (value->string)
        compare_string(p, end, value->string);
    if (cJSON_IsString(value))
        compare_string(p, end, value->valuestring);
    if (cJSON_IsNumber(value)) {
        tm_json_cursor cursor = {.end = end, .final = true};
        *p += strcspn(*p, "-0123456789");
        double number = tm_number_real(*p);
        assert_memory_equal(&number, &value->valuedouble, sizeof number);
        *p = tm_json_number(&cursor, *p);
        assert_non_null(*p);
    }
    for (const cJSON *child = value->child; child; child = child->next)
        compare_value(p, end, child);
}

typedef struct tally {
    int both_take, both_refuse, cjson_alone, we_alone;
} tally;

static void compare(const document *d, const regex_t *number, tally *count) {
    char text[ROOM] = {0};
    memcpy(text, d->text, d->n);
    tm_error err;
    /* the window has 1 to 40 bytes, depending on the document */
    tm_status status = check_document(text, d->n, 1 + d->n % 40, &err);
    liberties found = liberties_in(text, d->n, number);
    cJSON *root = cJSON_ParseWithLengthOpts(text, d->n + 1, NULL, 1);
    if (root && (status == TM_OK) == found.lax)
        fail_msg("cJSON takes, status %d (%s): %s", (int)status, err.message, text);
    if (!root && status == TM_OK && !found.strict)
        fail_msg("cJSON refuses: %s", text);
    if (root && status == TM_OK) {
        const char *p = text;
        compare_value(&p, text + d->n, root);
    }
    count->both_take += root && status == TM_OK;
    count->both_refuse += !root && status != TM_OK;
    count->cjson_alone += root && status != TM_OK;
    count->we_alone += !root && status == TM_OK;
    cJSON_Delete(root);
}

TEST(verdicts_and_contents_are_those_of_cjson) {
    const int n_documents = in_full_set() ? 12000 : 3000;
    regex_t number;
    tally count = {0};
    assert_int_equal(regcomp(&number, "^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?$",
                             REG_EXTENDED | REG_NOSUB),
                     0);
    for (int i = 0; i < n_documents; i++) {
        document d = {.seed = (uint64_t)i * 977 + 13};
        put_space(&d);
        put_value(&d, 0);
        put_space(&d);
        d.n += d.n == 0;
        compare(&d, &number, &count);
        for (int k = 0; k < N_DAMAGED; k++) { /* each round adds one damage */
            damage(&d);
            compare(&d, &number, &count);
        }
    }
    regfree(&number);
    print_message("%d taken and %d refused by both, %d by cJSON alone, %d here alone\n",
                  count.both_take, count.both_refuse, count.cjson_alone, count.we_alone);
    /* The comparison is worthwhile only if documents of all four kinds occur. */
    assert_true(count.both_take > n_documents);
    assert_true(count.both_refuse > n_documents / 2);
    assert_true(count.cjson_alone > n_documents / 120);
    assert_true(count.we_alone > n_documents / 1200);
}

RUN_TESTS()

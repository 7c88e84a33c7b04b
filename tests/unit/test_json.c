/* JSON: accepted and rejected texts, and the position of errors, wherever the window ends. */
#include "readers/json.h"

#include "json_cases.h"
#include "json_document.h"

/* Returns a case without its mark. The memory has exactly the text's size, so that a sanitizer
 * finds reads past its end. @param offset  set to the mark's position; -1: no mark */
static char *text_of(const char *marked, size_t *n, int64_t *offset) {
    const char *mark = strchr(marked, '^');
    char *text = malloc(strlen(marked) + 1);
    assert_non_null(text);
    *offset = mark ? mark - marked : -1;
    *n = 0;
    for (const char *p = marked; *p; p++)
        if (p != mark)
            text[(*n)++] = *p == '~' ? '\0' : *p;
    text = realloc(text, *n);
    assert_non_null(text);
    return text;
}

static void expect_all(const char *const *cases, size_t n_cases, bool accepted) {
    for (size_t i = 0; i < n_cases; i++) {
        size_t n;
        int64_t offset;
        char *text = text_of(cases[i], &n, &offset);
        assert_int_equal(offset < 0, accepted);
        for (size_t capacity = 0; capacity <= n + 1; capacity++) {
            tm_error err = {.offset = -1};
            tm_status status = check_document(text, n, capacity, &err);
            if (status != (accepted ? TM_OK : TM_ERR_INPUT) || err.offset != offset)
                fail_msg("%s, window of %zu: status %d at byte %lld (%s)", cases[i], capacity,
                         (int)status, (long long)err.offset, err.message);
        }
        free(text);
    }
}

TEST(json_is_accepted) {
    expect_all(accepted_cases, COUNT(accepted_cases), true);
}

TEST(what_is_no_json_is_refused_at_the_byte_that_is_wrong) {
    expect_all(wrong_cases, COUNT(wrong_cases), false);
}

TEST(what_the_standard_leaves_open_is_decided) {
    expect_all(taken_cases, COUNT(taken_cases), true);
    expect_all(refused_cases, COUNT(refused_cases), false);
}

/* Returns @p n times @p open, then @p middle, then @p n times @p close. */
static char *nested(size_t n, const char *open, const char *middle, const char *close) {
    size_t size = n * (strlen(open) + strlen(close)) + strlen(middle) + 1;
    char *text = malloc(size), *p = text;
    assert_non_null(text);
    for (size_t i = 0; i < n; i++, p += strlen(open))
        memcpy(p, open, strlen(open));
    memcpy(p, middle, strlen(middle));
    p += strlen(middle);
    for (size_t i = 0; i < n; i++, p += strlen(close))
        memcpy(p, close, strlen(close));
    *p = '\0';
    return text;
}

TEST(nesting_ends_at_512_levels) {
    static const struct {
        size_t n;
        const char *open, *middle, *close;
        int64_t offset; /* -1: accepted */
    } cases[] = {
        {500, "[", "", "]", -1},           {512, "[", "", "]", -1},
        {512, "{\"a\":", "[]", "}", 2560}, /* the array is level 513; 5 bytes per level */
        {512, "{\"a\":", "1", "}", -1},    {256, "[{\"\":", "1", "}]", -1}, /* each has 2 levels */
        {257, "[{\"\":", "1", "}]", 1280}, {513, "[", "", "]", 512},
        {100000, "[", "", "", 512},        {50000, "[{\"\":", "", "", 1280},
    };
    static const size_t capacities[] = {0, 1, 3, 511, 512, 513};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = nested(cases[i].n, cases[i].open, cases[i].middle, cases[i].close);
        for (size_t k = 0; k < COUNT(capacities); k++) {
            tm_error err = {.offset = -1};
            tm_status status = check_document(text, strlen(text), capacities[k], &err);
            assert_int_equal(status, cases[i].offset < 0 ? TM_OK : TM_ERR_INPUT);
            assert_int_equal(err.offset, cases[i].offset);
            if (status != TM_OK)
                assert_string_equal(err.message, "values are nested deeper than 512 levels");
        }
        free(text);
    }
}

/* Objects and arrays alternate in every pattern of 12 levels. Each must be closed by its own kind,
 * whatever the level had before. */
TEST(every_container_is_closed_by_its_own_kind) {
    static const char objects[] = /* these come first, and set the state of every level */
        "{\"\":{\"\":{\"\":{\"\":{\"\":{\"\":{\"\":{\"\":{\"\":{\"\":{\"\":{\"\":0}}}}}}}}}}}},";
    for (unsigned pattern = 0; pattern < 4096; pattern++) {
        char text[192], document[224];
        size_t n = sizeof objects - 1, wrong;
        memcpy(text, objects, n);
        for (int level = 0; level < 12; level++) {
            bool object = pattern >> level & 1;
            memcpy(text + n, object ? "{\"\":" : "[", object ? 4 : 1);
            n += object ? 4 : 1;
        }
        text[n++] = '1';
        wrong = n + pattern % 12; /* the bracket that is replaced */
        for (int level = 11; level >= 0; level--)
            text[n++] = pattern >> level & 1 ? '}' : ']';
        document[0] = '[';
        memcpy(document + 1, text, n);
        document[n + 1] = ']';
        assert_int_equal(check_document(document, n + 2, 1 + pattern % 40, NULL), TM_OK);
        document[wrong + 1] = document[wrong + 1] == '}' ? ']' : '}';
        tm_error err;
        assert_int_equal(check_document(document, n + 2, 1 + pattern % 40, &err), TM_ERR_INPUT);
        assert_int_equal(err.offset, wrong + 1);
    }
}

/* The scanner reads 16 bytes at once. Each special byte is tested at each position of these. */
TEST(a_string_ends_at_its_first_special_byte_wherever_it_stands) {
    static const struct {
        const char *bytes;
        size_t n;
        int64_t wrong; /* position of the wrong byte; -1: valid */
    } pieces[] = {
        {"\\\"", 2, -1},        {"\\\\", 2, -1},        {"\x7F", 1, -1},
        {" !", 2, -1},          {"\xC3\xA9", 2, -1},    {"\xF0\x9F\x98\x80", 4, -1},
        {"\\u00e9", 6, -1},     {"\\u00e", 5, 5}, /* the next byte is not a digit */
        {"\\x", 2, 1},          {"\0", 1, 0},           {"\x01", 1, 0},
        {"\n", 1, 0},           {"\x1F", 1, 0},         {"\xFF", 1, 0},
        {"\xF0\x9F\x98", 3, 0}, {"\xED\xA0\x80", 3, 0},
    };
    static const char after[] = "zz zz zz zz zz zz\"";
    for (size_t before = 0; before < 50; before++)
        for (size_t i = 0; i < COUNT(pieces); i++) {
            char text[160] = "\"";
            size_t n = 1 + before + pieces[i].n;
            memset(text + 1, 'a', before);
            memcpy(text + 1 + before, pieces[i].bytes, pieces[i].n);
            memcpy(text + n, after, sizeof after);
            n += sizeof after - 1;
            bool good = pieces[i].wrong < 0;
            tm_error err = {.offset = -1};
            tm_status status = check_document(text, n, before % 3 * 16, &err);
            assert_int_equal(status, good ? TM_OK : TM_ERR_INPUT);
            assert_int_equal(err.offset, good ? -1 : (int64_t)(1 + before) + pieces[i].wrong);
        }
}

TEST(escapes_are_decoded) {
    static const struct {
        const char *token, *text;
        size_t n;
    } cases[] = {
#define DECODED(token, text) {token, text, sizeof(text) - 1}
        DECODED("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"),
        DECODED("a\\nb", "a\nb"),
        DECODED("\\u0041\\u007f", "A\x7F"),
        DECODED("\\u0000", "\0"),
        /* U+0080 takes two bytes: 110 00010, 10 000000 */
        DECODED("\\u0080", "\xC2\x80"),
        DECODED("\\u07ff", "\xDF\xBF"),
        DECODED("\\u0800", "\xE0\xA0\x80"),
        DECODED("\\u20AC\\u20ac", "\xE2\x82\xAC\xE2\x82\xAC"),
        DECODED("\\ud7ff\\ue000\\uffff", "\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"),
        /* 0x10000 + (0x3D << 10) + 0x200 = 0x1F600 */
        DECODED("\\ud83d\\ude00", "\xF0\x9F\x98\x80"),
        DECODED("\\uD800\\uDC00\\uDBFF\\uDFFF", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"),
        /* a single surrogate becomes U+FFFD, and the text after it is kept */
        DECODED("\\ud83d", "\xEF\xBF\xBD"),
        DECODED("\\ude00x", "\xEF\xBF\xBDx"),
        DECODED("\\ud83dx", "\xEF\xBF\xBDx"),
        DECODED("\\ud83d\\n", "\xEF\xBF\xBD\n"),
        DECODED("\\ud83d\\u0041", "\xEF\xBF\xBD"
                                  "A"),
        DECODED("\\ud83d\\ud83d\\ude00", "\xEF\xBF\xBD\xF0\x9F\x98\x80"),
        DECODED("\\ud83d\\ue000\\ud83d\\uffff", "\xEF\xBF\xBD\xEE\x80\x80\xEF\xBF\xBD\xEF\xBF\xBF"),
        DECODED("\\ud800\\udbff\\udc00x\\udfff", "\xEF\xBF\xBD\xF4\x8F\xB0\x80x\xEF\xBF\xBD"),
        DECODED("\\ude00\\ud83d", "\xEF\xBF\xBD\xEF\xBF\xBD"),
        DECODED("\xC3\xA9\\t\xC3\xA9", "\xC3\xA9\t\xC3\xA9"),
        DECODED("\\\\u0041", "\\u0041"),
        /* without a backslash there is nothing to decode */
        DECODED("", ""),
        DECODED("caf\xC3\xA9", "caf\xC3\xA9"),
        DECODED("a string of over 16 bytes", "a string of over 16 bytes"),
#undef DECODED
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[128] = {0}, out[64];
        size_t n = strlen(cases[i].token);
        memcpy(text, cases[i].token, n);
        text[n] = '"';
        tm_json_cursor cursor = {.end = text + n + 1, .final = true};
        bool escaped = strchr(cases[i].token, '\\') != NULL;
        tm_json_text token = {.escaped = !escaped};
        assert_ptr_equal(tm_json_string(&cursor, text, &token), text + n + 1);
        assert_ptr_equal(token.bytes, text);
        assert_int_equal(token.size, n);
        assert_int_equal(token.escaped, escaped);
        assert_int_equal(tm_json_decode(&token, out), cases[i].n);
        assert_memory_equal(out, cases[i].text, cases[i].n);
    }
}

static size_t encode(uint32_t code, size_t length, char out[4]) {
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(lead[length] | code);
    return length;
}

/* Tests every code point in every length. Only the shortest form is valid, and a surrogate never
 * is. */
TEST(utf8_is_valid_in_its_shortest_form_alone) {
    static const uint32_t ends[] = {0x80, 0x80, 0x800, 0x10000, 0x200000}; /* end for each length */
    for (size_t length = 1; length <= 4; length++)
        for (uint32_t code = 0; code < ends[length]; code++) {
            char bytes[4];
            size_t n = encode(code, length, bytes);
            bool shortest = length == 1 || code >= ends[length - 1];
            bool valid = shortest && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
            if (tm_json_utf8_valid(bytes, n) != valid)
                fail_msg("U+%X in %zu bytes", (unsigned)code, length);
            if (length > 1 &&
                (tm_json_utf8_valid(bytes, n - 1) || tm_json_utf8_valid(bytes + 1, n - 1)))
                fail_msg("a part of U+%X in %zu bytes", (unsigned)code, length);
        }
    assert_true(tm_json_utf8_valid("", 0));
    assert_true(tm_json_utf8_valid("a\xE2\x82\xAC", 4));
    assert_false(tm_json_utf8_valid("\xE2\x82\xAC\x80", 4));
}

TEST(a_failure_says_what_is_wrong) {
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"[1 2]", "a comma or ] should follow the value"},
        {"{\"a\":1 2}", "a comma or } should follow the value"},
        {"{1:2}", "a key is expected here"},
        {"{\"a\" 2}", "a colon should follow the key"},
        {"[,]", "a value is expected here"},
        {"[nil]", "only true, false and null are words in JSON"},
        {"[-]", "a number needs a digit here"},
        {"[1.]", "a number needs a digit after its point"},
        {"[1e]", "a number needs a digit in its exponent"},
        {"[\"\\q\"]", "JSON does not have this escape"},
        {"[\"\\u12\"]", "\\u needs four hexadecimal digits"},
        {"[\"\t\"]", "a string contains a control character"},
        {"[\"\xFF\"]", "a string is not valid UTF-8"},
        {"[\"a\"", "the file ends in the middle of a value"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t capacity = 0; capacity < 10; capacity++) {
            tm_error err;
            assert_int_equal(check_document(cases[i].text, strlen(cases[i].text), capacity, &err),
                             TM_ERR_INPUT);
            assert_string_equal(err.message, cases[i].why);
            assert_string_equal(err.path, "document.json");
        }
}

RUN_TESTS()

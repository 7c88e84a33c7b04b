/* Malformed JSON of known classes is repaired. Valid JSON never changes, and anything else is an
 * error. */
#include <inttypes.h>

#include "readers/repair.h"

enum {
    NOTHING = TM_N_COUNTS,
    NUMBER = TM_COUNT_NON_FINITE,
    CONTROL = TM_COUNT_CONTROL_CHARACTER,
    UTF8 = TM_COUNT_INVALID_UTF8,
    BACKSLASH = TM_COUNT_BACKSLASH,
    QUOTE = TM_COUNT_UNESCAPED_QUOTE,
    COMMA = TM_COUNT_TRAILING_COMMA,
    SIGN = TM_COUNT_SIGNED_FRACTION,
};

/* ' stands for a JSON quote. */
typedef struct repair_case {
    const char *text, *repaired; /* NULL: no byte is changed */
    int count;
    int64_t n;
} repair_case;

static const repair_case cases[] = {
    /* valid */
    {"{}", NULL, NOTHING, 0},
    {"{ 'a' : [ 1 , -2.5e3 , true , null ] }", NULL, NOTHING, 0},
    {"{'a': '\\'b\\', \\'c\\': 1'}", NULL, NOTHING, 0},
    {"{'a': 'C:\\\\new\\\\x\\n\\u00e9\\/'}", NULL, NOTHING, 0},
    {"['', '\xC3\xA9\xF0\x9F\x98\x80']", NULL, NOTHING, 0},
    /* values that are not numbers */
    {"{'a': inf}", "{'a': null}", NUMBER, 1},
    {"{'a': -inf, 'b': nan }", "{'a': null, 'b': null }", NUMBER, 2},
    {"[NaN,Infinity,-Infinity,N/A,-nan,-nan(ind),INF]", "[null,null,null,null,null,null,null]",
     NUMBER, 7},
    /* control characters are kept as escapes */
    {"{'a': 'b\nc'}", "{'a': 'b\\u000ac'}", CONTROL, 1},
    {"{'a': '\x01\t\x1f', 'b': '\n'}", "{'a': '\\u0001\\u0009\\u001f', 'b': '\\u000a'}", CONTROL,
     2},
    {"{'a\nb': 1}", "{'a\\u000ab': 1}", CONTROL, 1},
    /* invalid UTF-8: each maximal subpart becomes U+FFFD, as in Unicode 3.9 */
    {"{'a': '\xE9t\xE9'}", "{'a': '\xEF\xBF\xBDt\xEF\xBF\xBD'}", UTF8, 1},
    {"['\xFF', '\xE2\x82']", "['\xEF\xBF\xBD', '\xEF\xBF\xBD']", UTF8, 2},
    {"['\xED\xA0\x80']", "['\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD']", UTF8, 1},
    /* backslashes in a path are not escapes */
    {"{'a': 'torch\\cuda'}", "{'a': 'torch\\\\cuda'}", BACKSLASH, 1},
    {"{'a': 'C:\\new\\_x\\\\y'}", "{'a': 'C:\\\\new\\\\_x\\\\y'}", BACKSLASH, 1},
    {"{'a': 'C:\\dir\\', 'b': 1}", "{'a': 'C:\\\\dir\\\\', 'b': 1}", BACKSLASH, 1},
    {"{'a': 'C:\\new\\'}", "{'a': 'C:\\\\new\\\\'}", BACKSLASH, 1},
    {"{'a': '\\u12', 'b': '\\x'}", "{'a': '\\\\u12', 'b': '\\\\x'}", BACKSLASH, 2},
    {"{'a': 'say \\'x\\' at c:\\dir'}", "{'a': 'say \\'x\\' at c:\\\\dir'}", BACKSLASH, 1},
    /* quotes, as in pytorch#113001 and other cases */
    {"{'name': 'Library('_inductor_test', 'IMPL')', 'pid': 1}",
     "{'name': 'Library(\\'_inductor_test\\', \\'IMPL\\')', 'pid': 1}", QUOTE, 1},
    {"{'name': ''a' and 'b''}", "{'name': '\\'a\\' and \\'b\\''}", QUOTE, 1},
    {"{'name': 'f({'k': 1})', 'x': 'y'}", "{'name': 'f({\\'k\\': 1})', 'x': 'y'}", QUOTE, 1},
    {"{'name': 'f(['k'], 1)', 'x': {}}", "{'name': 'f([\\'k\\'], 1)', 'x': {}}", QUOTE, 1},
    {"{'name': '{'k'}'}", "{'name': '{\\'k\\'}'}", QUOTE, 1},
    {"{'name': 'a 'quoted' word'\n}", "{'name': 'a \\'quoted\\' word'\n}", QUOTE, 1},
    {"{'name': '12' disk', 'b': ['x 'y' z', 'w']}",
     "{'name': '12\\' disk', 'b': ['x \\'y\\' z', 'w']}", QUOTE, 2},
    {"{'args': {'name': 'a'b'}, 'x': 1}", "{'args': {'name': 'a\\'b'}, 'x': 1}", QUOTE, 1},
    /* commas */
    {"{'a': 1,}", "{'a': 1}", COMMA, 1},
    {"{'a': {'b': 'c' , }, 'd': [1, 2,\n], }", "{'a': {'b': 'c'  }, 'd': [1, 2\n] }", COMMA, 3},
    /* -1.-500 has a sign in both parts, by printf("%ld.%03ld", -1, -500) */
    {"{'a': -1.-500}", "{'a': -1.500}", SIGN, 1},
    {"[0.-05,-12.-5, 0.-007]", "[-0.005,-12.005, -0.007]", SIGN, 3},
};

/* Returns a padded copy of the text with a cursor over it; the caller frees it. */
static char *padded(const char *text, size_t n, bool final, tm_json_cursor *cursor) {
    char *copy = calloc(1, n + TM_JSON_PADDING);
    assert_non_null(copy);
    memcpy(copy, text, n);
    *cursor = (tm_json_cursor){.end = copy + n, .final = final};
    return copy;
}

static void quote(const char *text, char out[256]) {
    size_t n = strlen(text);
    assert_true(n < 256);
    for (size_t i = 0; i <= n; i++)
        out[i] = text[i] == '\'' ? '"' : text[i];
}

static void expect_repaired(const repair_case *c, const char *copy, const char *end,
                            const tm_repair *repair) {
    char repaired[256];
    quote(c->repaired ? c->repaired : c->text, repaired);
    if (!end || repair->size != strlen(repaired) ||
        memcmp(repair->text.data, repaired, repair->size) != 0)
        fail_msg("%s became %.*s", c->text, end ? (int)repair->size : 0, (char *)repair->text.data);
    assert_int_equal(end - copy, strlen(c->text));
    for (int k = 0; k < TM_N_COUNTS; k++)
        if (repair->counts[k] != (k == (int)c->count ? c->n : 0))
            fail_msg("%s: %s is %" PRId64, c->text, tm_count_info((tm_count)k)->word,
                     repair->counts[k]);
}

TEST(what_profilers_write_wrongly_is_repaired) {
    tm_repair repair = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_json_cursor cursor;
        char text[256];
        quote(cases[i].text, text);
        char *copy = padded(text, strlen(text), true, &cursor);
        expect_repaired(&cases[i], copy, tm_json_repair(&cursor, copy, &repair), &repair);
        /* the result is valid */
        cursor = (tm_json_cursor){.end = (char *)repair.text.data + repair.size, .final = true};
        assert_ptr_equal(tm_json_skip_value(&cursor, repair.text.data), cursor.end);
        free(copy);
    }
    tm_repair_free(&repair);
}

/* Wherever the window ends, more input is requested until the text can be judged. */
TEST(a_text_that_goes_on_after_the_window_is_not_judged) {
    tm_repair repair = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        quote(cases[i].text, text);
        strcat(text, ", {\"ph\": \"X\"}");
        bool done = false;
        for (size_t n = 0; n <= strlen(text); n++) {
            tm_json_cursor cursor;
            char *copy = padded(text, n, false, &cursor);
            const char *end = tm_json_repair(&cursor, copy, &repair);
            if (end)
                expect_repaired(&cases[i], copy, end, &repair);
            else if (cursor.fail < cursor.end)
                fail_msg("%.*s: %s", (int)n, text, cursor.why);
            assert_false(done && !end);
            done = end != NULL;
            free(copy);
        }
        assert_true(done);
    }
    tm_repair_free(&repair);
}

static void expect_left(const char *const *texts) {
    tm_repair repair = {0};
    for (; *texts; texts++) {
        char text[256];
        tm_json_cursor cursor;
        snprintf(text, sizeof text, "%s, {\"ph\": \"X\", \"x\": \"y\"}]}", *texts);
        char *copy = padded(text, strlen(text), true, &cursor);
        const char *end = tm_json_repair(&cursor, copy, &repair);
        if (end)
            fail_msg("%s became %.*s", text, (int)repair.size, (char *)repair.text.data);
        assert_true(cursor.fail < cursor.end);
        free(copy);
    }
    tm_repair_free(&repair);
}
#define EXPECT_LEFT(...) expect_left((const char *const[]){__VA_ARGS__, NULL})

TEST(what_is_wrong_in_another_way_is_not_repaired) {
    EXPECT_LEFT("{\"a\" 1}", "{\"a\": 1 \"b\": 2}", "{a: 1}", "{'a': 1}", "{\"a\": }",
                "{,\"a\": 1}", "{\"a\": 1,,\"b\": 2}", "[,1]", "[1 2]", "[1,,2]", "[1}",
                "{\"a\": 1]", "{\"a\": infinite}", "{\"a\": none}", "{\"a\": .5}", "{\"a\": +1}",
                "{\"a\": 01}", "{\"a\": 1.-}", "{\"a\": 1.-5000}", "{\"a\": 1.-5e3}",
                "{\"a\": --1.-5}", "{\"a\": 0x10}", "{\"a\": \"b\" \"c\": 1}",
                "{\"a\": \"b\", \"c\" \"d\"}", "{\"a\": \"b\" c}", "nul",
                "{\"name\": \"a\", ph\": \"X\"}", "{\"name\": \"a, \"ph\": \"X\"}");
}

TEST(values_nested_too_deep_are_refused) {
    char text[TM_JSON_DEPTH_MAX + 2];
    tm_repair repair = {0};
    tm_json_cursor cursor;
    memset(text, '[', sizeof text);
    char *copy = padded(text, sizeof text, true, &cursor);
    assert_null(tm_json_repair(&cursor, copy, &repair));
    assert_int_equal(cursor.fail - copy, TM_JSON_DEPTH_MAX);
    free(copy);
    tm_repair_free(&repair);
}

RUN_TESTS()

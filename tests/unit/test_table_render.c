/* JSON and CSV: exact numbers, null, quotes. */
#include "tmerge/table.h"

#include <cjson/cJSON.h>
#include <math.h>

#include "table/digits.h"
#include "table_fixture.h"

static char *json_of(const tm_table *const *tables, size_t n, const char *store) {
    char *text = NULL;
    tm_error err;
    assert_int_equal(tm_tables_json(tables, n, store, &text, &err), TM_OK);
    return text;
}

static char *csv_of(const tm_table *table) {
    char *text = NULL;
    tm_error err;
    assert_int_equal(tm_table_csv(table, &text, &err), TM_OK);
    return text;
}

TEST(reals_have_the_fewest_digits_that_read_back) {
    static const struct {
        double value;
        const char *expected;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {2.0, "2.0"},
        {-100.0, "-100.0"},
        {0.1, "0.1"},
        {99.5, "99.5"},
        {0.1 + 0.2, "0.30000000000000004"}, /* 17 digits: this is the double above 0.3 */
        {1.0 / 3.0, "0.3333333333333333"},  /* 16 digits */
        {2.5e-8, "2.5e-08"},
        {1e15, "1e+15"},
        {1e22, "1e+22"},
        {1234567890123456.0, "1234567890123456.0"},
        {9007199254740993.0, "9007199254740992.0"}, /* 2^53 */
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {4.9406564584124654e-324, "5e-324"}, /* the smallest subnormal */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char digits[TM_DIGITS_MAX];
        tm_digits_real(cases[i].value, digits);
        assert_string_equal(digits, cases[i].expected);
    }
}

TEST(any_real_reads_back_as_the_same_double) {
    uint64_t random = 1;
    for (int i = 0; i < 200000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        double value;
        uint64_t bits = random ^ random >> 29;
        memcpy(&value, &bits, sizeof value);
        if (i % 2) /* half of the numbers have usual magnitudes */
            value = (double)(bits >> 20) / 1e9;
        if (i % 8 == 1) /* powers of two: the next smaller double is half as far away */
            value = ldexp(1.0, (int)(bits % 60) - 10);
        if (!isfinite(value))
            continue;
        char digits[TM_DIGITS_MAX];
        char shorter[TM_DIGITS_MAX];
        tm_digits_real(value, digits);
        assert_true(strtod(digits, NULL) == value);
        int enough = 15; /* the fewest digits that read back are required, or one more */
        do
            snprintf(shorter, sizeof shorter, "%.*g", enough, value);
        while (strtod(shorter, NULL) != value && ++enough <= 17);
        assert_true(strlen(digits) <= strlen(shorter) + strlen(".0"));
    }
}

TEST(json_is_one_row_a_line_with_exact_numbers) {
    fixture f = make_sample();
    const tm_table *const list[] = {f.table};
    char *json = json_of(list, 1, "a\xFF\".h5");
    assert_string_equal(
        json, "{\"tmerge\": 1, \"store\": \"a" BAD "\\\".h5\", \"tables\": {\n"
              "\"test.sample\": {\n"
              "\"columns\": [\n"
              "{\"name\":\"rank\",\"type\":\"int\",\"unit\":\"\"},\n"
              "{\"name\":\"compute_ns\",\"type\":\"int\",\"unit\":\"ns\"},\n"
              "{\"name\":\"ratio\",\"type\":\"real\",\"unit\":\"\"},\n"
              "{\"name\":\"host\",\"type\":\"text\",\"unit\":\"\"},\n"
              "{\"name\":\"partial\",\"type\":\"bool\",\"unit\":\"\"}\n"
              "],\n"
              "\"rows\": [\n"
              "{\"rank\":-9223372036854775808,\"compute_ns\":9223372036854775807,\"ratio\":0.1,"
              "\"host\":\"a,\\\"b\\\"\\nc\",\"partial\":true},\n"
              "{\"rank\":1,\"compute_ns\":-1500,\"ratio\":2.0,\"host\":\"\",\"partial\":true},\n"
              "{\"rank\":2,\"compute_ns\":null,\"ratio\":null,\"host\":null,\"partial\":null}\n"
              "]}\n"
              "}}\n");
    cJSON *parsed = cJSON_Parse(json);
    assert_non_null(parsed);
    cJSON_Delete(parsed);
    free(json);
    tm_tables_destroy(&f.tables);
}

TEST(json_gives_every_text_and_real_back) {
    static const char *const texts[] = {"\x01\x1F\t\r\n\\/\"", "</script>", "\xF0\x9F\x98\x80", ""};
    fixture f = make(&sample);
    for (size_t i = 0; i < 4; i++)
        add_full(&f, (int64_t)i, 0, 1.0 / (3.0 + (double)i), texts[i]);
    const tm_table *const list[] = {f.table};
    char *json = json_of(list, 1, NULL);
    cJSON *parsed = cJSON_Parse(json);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(parsed, "store")));
    const cJSON *tables = cJSON_GetObjectItem(parsed, "tables");
    const cJSON *rows = cJSON_GetObjectItem(cJSON_GetObjectItem(tables, "test.sample"), "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 4);
    for (int i = 0; i < 4; i++) {
        const cJSON *row = cJSON_GetArrayItem(rows, i);
        assert_string_equal(cJSON_GetObjectItem(row, "host")->valuestring, texts[i]);
        assert_true(cJSON_GetObjectItem(row, "ratio")->valuedouble == 1.0 / (3.0 + i));
    }
    cJSON_Delete(parsed);
    free(json);
    tm_tables_destroy(&f.tables);
}

/* Number of cJSON's allocations until one fails; global, as hooks have no context. */
static int allocations_left;

static void *allocate(size_t size) {
    return allocations_left-- > 0 ? malloc(size) : NULL;
}

TEST(a_document_that_memory_does_not_suffice_for_is_refused) {
    cJSON_Hooks hooks = {.malloc_fn = allocate, .free_fn = free};
    fixture f = make_sample();
    const tm_table *const list[] = {f.table};
    char *whole = json_of(list, 1, "s");
    int failures = 0;
    tm_status status = TM_ERR_FAULT;
    for (; status != TM_OK; failures++) {
        char *json = NULL;
        allocations_left = failures;
        cJSON_InitHooks(&hooks);
        status = tm_tables_json(list, 1, "s", &json, &f.err);
        cJSON_InitHooks(NULL);
        assert_int_equal(status, json ? TM_OK : TM_ERR_FAULT);
        if (json)
            assert_string_equal(json, whole);
        else
            assert_string_equal(f.err.message, "out of memory");
        free(json);
    }
    assert_true(failures > 50); /* 3 rows with 5 columns have more items than that */
    free(whole);
    tm_tables_destroy(&f.tables);
}

TEST(empty_tables_are_whole_documents) {
    static const tm_table_def other = {"test.other", "", sample_columns, 1, 1, 0, false, 0, 0,
                                       TM_FORM_TABLE};
    const tm_table_def *const defs[] = {&sample, &other};
    tm_tables tables = {0};
    tm_error err;
    assert_int_equal(tm_tables_create(defs, 2, &tables, &err), TM_OK);
    const tm_table *const list[] = {&tables.tables[0], &tables.tables[1]};
    char *json = json_of(list, 2, "s");
    cJSON *parsed = cJSON_Parse(json);
    assert_non_null(strstr(json, "\"rows\": []},\n\"test.other\""));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(parsed, "tables")), 2);
    cJSON_Delete(parsed);
    free(json);
    json = json_of(list, 0, "s");
    assert_string_equal(json, "{\"tmerge\": 1, \"store\": \"s\", \"tables\": {}}\n");
    free(json);
    char *csv = csv_of(list[1]);
    assert_string_equal(csv, "rank\r\n");
    free(csv);
    tm_tables_destroy(&tables);
}

TEST(csv_quotes_as_rfc_4180_says) {
    static const struct {
        const char *text, *field;
    } cases[] = {
        {"plain", "plain"},
        {"a b", "a b"},
        {"", "\"\""},
        {"a,b", "\"a,b\""},
        {"a\nb", "\"a\nb\""},
        {"a\rb", "\"a\rb\""},
        {"\"", "\"\"\"\""},
        {"a\"b\"", "\"a\"\"b\"\"\""},
        {"# test.x", "\"# test.x\""},
        {"\xC3\xA4", "\xC3\xA4"},
    };
    static const tm_column column = {"host", TM_TEXT, "", ""};
    static const tm_table_def def = {"test.csv", "", &column, 1, 1, 0, false, 0, 0, TM_FORM_TABLE};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = make(&def);
        set_text(&f, add(&f), cases[i].text);
        char expected[64];
        snprintf(expected, sizeof expected, "host\r\n%s\r\n", cases[i].field);
        char *csv = csv_of(f.table);
        assert_string_equal(csv, expected);
        free(csv);
        tm_tables_destroy(&f.tables);
    }
}

TEST(csv_is_exact_and_leaves_null_empty) {
    fixture f = make_sample();
    char *csv = csv_of(f.table);
    const char rows[] = "rank,compute_ns,ratio,host,partial\r\n"
                        "-9223372036854775808,9223372036854775807,0.1,\"a,\"\"b\"\"\nc\",true\r\n"
                        "1,-1500,2.0,\"\",true\r\n"
                        "2,,,,\r\n";
    assert_string_equal(csv, rows);
    free(csv);
    tm_tables_destroy(&f.tables);
}

RUN_TESTS()

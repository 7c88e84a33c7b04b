/* The report page: texts between its parts, and JSON that cannot end its element. */
#include <unistd.h>
#include <zlib.h>

#include "report/built.h"
#include "report/page_file.h"
#include "report/page_json.h"
#include "report/page_path.h"
#include "report/top_rows.h"
#include "table_fixture.h"
#include "tmerge/report.h"

/* Returns the file's bytes, terminated. */
static char *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 22);
    assert_non_null(bytes);
    *size = fread(bytes, 1, (1 << 22) - 1, file);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

/* Returns the written text, which the caller frees. */
static char *taken(tm_out *out) {
    char *json;
    tm_error err;
    assert_ok(tm_out_take(out, &json, NULL, &err));
    return json;
}

TEST(strings_cannot_end_their_element) {
#define ROW(bytes, json)                                                                           \
    { bytes, sizeof(bytes) - 1, json }
    static const struct {
        const char *bytes;
        size_t size;
        const char *json;
    } rows[] = {
        ROW("plain", "\"plain\""),
        ROW("", "\"\""),
        ROW("</script><!--", "\"\\u003c/script>\\u003c!--\""),
        ROW("a\"b\\c", "\"a\\\"b\\\\c\""),
        ROW("\x00\x07\n\x7f", "\"\\u0000\\u0007\\u000a\\u007f\""),
        /* U+2028 and U+2029 are E2 80 A8 and E2 80 A9; U+2027, one before, stays. */
        ROW("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa7", "\"\\u2028\\u2029\xe2\x80\xa7\""),
        ROW("\xc3\xa4<", "\"\xc3\xa4\\u003c\""),
        /* these are tested eight characters at once */
        ROW("01234567<1234\x7f"
            "67012345\"70123456\\0123456\x1f",
            "\"01234567\\u003c1234\\u007f67012345\\\"70123456\\\\0123456\\u001f\""),
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        tm_out out = TM_OUT();
        tm_report_json_string(&out, rows[i].bytes, rows[i].size);
        char *json = taken(&out);
        assert_string_equal(json, rows[i].json);
        free(json);
    }
}

TEST(columns_are_arrays_relative_to_the_begin) {
    static const tm_column columns[] = {
        {"begin_ns", TM_INT, tm_epoch_ns, "Aligned begin since the epoch."},
        {"wait_ns", TM_INT, "ns", "A wait."},
        {"id", TM_INT, "", "Any number."},
        {"share", TM_REAL, "", ""},
        {"late", TM_BOOL, "", ""},
        {"host", TM_TEXT, "", ""},
    };
    static const tm_table_def def = {"test.rows", "", columns, 6, 1, 1, false, 0, 0, TM_FORM_BARS};
    fixture f = make(&def);
    tm_table *table = f.table;
    tm_cell *row = tm_table_add_row(table);
    tm_cell_set_int(&row[0], INT64_C(1700000000000000005));
    tm_cell_set_int(&row[1], 7);
    tm_cell_set_int(&row[2], INT64_C(9007199254740993)); /* 2^53 + 1 is not a double */
    tm_cell_set_real(&row[3], 0.5);
    tm_cell_set_bool(&row[4], true);
    set_text(&f, &row[5], "<b>");
    /* if a rank's times count from 0, its start is unknown */
    tm_cell_set_int(&tm_table_add_row(table)[0], 5);
    tm_out out = TM_OUT();
    tm_report_json_columns(&out, table, INT64_C(1700000000000000000));
    char *json = taken(&out);
    assert_string_equal(json, "[[5,null],\n[7,null],\n[\"9007199254740993\",null],\n[0.5,null],\n"
                              "[true,null],\n[\"\\u003cb>\",null]]");
    free(json);
    out = TM_OUT();
    tm_report_json_def(&out, table);
    json = taken(&out);
    assert_non_null(strstr(json, "\"keys\":1,\"top\":1,\"prose\":0,\"n\":2,\"form\":\"bars\""));
    assert_non_null(
        strstr(json, "[\"begin_ns\",\"int\",\"ns\",\"Aligned begin since the epoch.\",1]"));
    assert_non_null(strstr(json, "[\"wait_ns\",\"int\",\"ns\",\"A wait.\",0]"));
    free(json);
    tm_tables_destroy(&f.tables);
}

static int digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);
    return c && at ? (int)(at - digits) : -1;
}

/* Undoes base64 and zlib. Returns the size of the result. */
static size_t unpack(const char *text, size_t length, unsigned char *out, size_t room) {
    unsigned char *packed = malloc(length);
    size_t n = 0;
    assert_non_null(packed);
    assert_int_equal(length % 4, 0);
    for (size_t i = 0; i < length; i += 4) {
        int word = 0, pad = (text[i + 2] == '=') + (text[i + 3] == '=');
        for (int k = 0; k < 4; k++)
            word = word << 6 | (text[i + (size_t)k] == '=' ? 0 : digit(text[i + (size_t)k]));
        assert_true(word >= 0);
        packed[n++] = (unsigned char)(word >> 16);
        if (pad < 2)
            packed[n++] = (unsigned char)(word >> 8);
        if (pad < 1)
            packed[n++] = (unsigned char)word;
    }
    uLongf size = room;
    assert_int_equal(uncompress(out, &size, packed, n), Z_OK);
    free(packed);
    return size;
}

/* Steps 3 to 6 have 2, 3, 1 and 2 rows that take 20, 30, 40 and 20 ns. */
TEST(of_a_long_path_whole_steps_stay_the_longest_first) {
    static const tm_column columns[] = {{"step", TM_INT, "", ""},
                                        {"duration_ns", TM_INT, "ns", ""}};
    static const tm_table_def def = {
        .name = "test.piece", .doc = "", .columns = columns, .n_columns = 2, .n_keys = 1, .top = 1};
    static const int64_t rows[][2] = {{3, 10}, {3, 10}, {4, 10}, {4, 5},
                                      {4, 15}, {5, 40}, {6, 11}, {6, 9}};
    static const struct {
        size_t most, left_out;
        const char *kept;
    } cases[] = {
        {8, 0, "33444566"}, {7, 2, "334445"}, {5, 4, "4445"}, {3, 7, "5"}, {0, 7, "5"},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        fixture f = make(&def);
        tm_table *table = f.table;
        size_t left_out;
        for (size_t r = 0; r < COUNT(rows); r++) {
            tm_cell *row = tm_table_add_row(table);
            tm_cell_set_int(&row[0], rows[r][0]);
            tm_cell_set_int(&row[1], rows[r][1]);
        }
        assert_ok(tm_report_limit_path(table, cases[c].most, &left_out, &f.err));
        assert_int_equal(left_out, cases[c].left_out);
        assert_int_equal(table->n_rows, strlen(cases[c].kept));
        for (size_t r = 0; r < table->n_rows; r++)
            assert_int_equal(tm_table_cell(table, r, "step")->value.i, cases[c].kept[r] - '0');
        tm_tables_destroy(&f.tables);
    }
}

/* 9,000 nodes in pairs. The first of a pair contains all later pairs and has no own time; the
 * second has an own time of 1,000,000 - i. By own time, none of the first would be kept. */
TEST(of_a_large_tree_nodes_stay_with_those_they_lie_in) {
    enum { N = 9000 };
    static const tm_column columns[] = {{"node", TM_INT, "", ""},
                                        {"parent", TM_INT, "", ""},
                                        {"host_total_ns", TM_INT, "ns", ""},
                                        {"host_self_ns", TM_INT, "ns", ""}};
    static const tm_table_def def = {
        .name = "test.tree", .doc = "", .columns = columns, .n_columns = 4, .n_keys = 1, .top = 3};
    const tm_page_selection selection = {0};
    tm_out all = TM_OUT();
    fixture f = make(&def);
    tm_table *table = f.table;
    size_t left_out;
    bool *there = calloc(N, sizeof *there);
    assert_non_null(there);
    for (int64_t i = 0; i < N; i++) {
        int64_t own = i % 2 == 0 ? 0 : 1000000 - i;
        tm_cell *row = tm_table_add_row(table);
        tm_cell_set_int(&row[0], i);
        if (i > 0)
            tm_cell_set_int(&row[1], i % 2 == 0 ? i - 2 : i - 1);
        tm_cell_set_int(&row[2], i % 2 == 0 ? 2000000000000 - 1000000 * i : own);
        tm_cell_set_int(&row[3], own);
    }
    assert_ok(tm_top_rows_put(table, &selection, SIZE_MAX, &all, &left_out, &f.err));
    assert_int_equal(left_out, N - TM_PAGE_ROWS);
    for (size_t r = 0; r < table->n_rows; r++) {
        const tm_cell *parent = tm_table_cell(table, r, "parent");
        assert_true(parent->null || there[parent->value.i]);
        there[tm_table_cell(table, r, "node")->value.i] = true;
    }
    free(taken(&all));
    free(there);
    tm_tables_destroy(&f.tables);
}

/* Checks that a block is read back unchanged. Its bytes compress well, or not at all. */
static void check_block(size_t size, bool random) {
    char path[] = "page.html";
    unsigned char *bytes = malloc(size + 1), *back = malloc(size + 1);
    tm_page *page;
    tm_error err;
    uint32_t seed = 1;
    assert_true(bytes && back);
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = random ? (unsigned char)(seed >> 24) : (unsigned char)(i / 100);
    }
    assert_ok(tm_page_create(path, "a <b> & c\n", &page, &err));
    assert_ok(tm_page_put_tables(page, "{}", 2, &err));
    tm_vec packed = TM_VEC(unsigned char);
    assert_ok(tm_page_pack(bytes, size, &packed, &err));
    assert_ok(tm_page_put_packed(page, "data", &packed, &err));
    tm_vec_free(&packed);
    assert_ok(tm_page_commit(page, &err));
    size_t n;
    char *text = slurp(path, &n);
    assert_non_null(strstr(text, "<title>a &lt;b> &amp; c </title>"));
    const char mark[] = "<script type=\"application/octet-stream\" id=\"data\">";
    const char *block = strstr(text, mark);
    assert_non_null(block);
    block += strlen(mark);
    assert_int_equal(unpack(block, strcspn(block, "<"), back, size + 1), size);
    assert_memory_equal(back, bytes, size);
    assert_true(tm_report_is_page(path));
    free(text);
    free(bytes);
    free(back);
    unlink(path);
}

TEST(blocks_come_back_from_base64_and_zlib) {
    if (!tm_report_is_built())
        skip();
    static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 1000, 65535, 65536, 65537, 1000003};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int random = 0; random < 2; random++)
            check_block(sizes[i], random);
}

TEST(the_page_is_the_built_parts_and_the_data) {
    if (!tm_report_is_built())
        skip();
    tm_page *page;
    tm_error err;
    tm_vec packed = TM_VEC(unsigned char);
    assert_ok(tm_page_pack("{\"x\":1}", 7, &packed, &err));
    size_t size, sum = strlen("t") + (packed.n + 2) / 3 * 4; /* title and base64 */
    tm_vec_free(&packed);
    assert_ok(tm_page_create("page.html", "t", &page, &err));
    assert_false(access("page.html", F_OK) == 0); /* the file does not exist until it is complete */
    assert_ok(tm_page_put_tables(page, "{\"x\":1}", 7, &err));
    assert_ok(tm_page_commit(page, &err));
    for (int part = 0; part < TM_BUILT_PARTS; part++)
        sum += tm_built_page[part].size;
    free(slurp("page.html", &size));
    assert_int_equal(size, sum);
    unlink("page.html");
    assert_ok(tm_page_create("page.html", "t", &page, &err));
    tm_page_abandon(page);
    assert_false(access("page.html", F_OK) == 0);
    assert_int_equal(tm_page_create("no/folder/page.html", "t", &page, &err), TM_ERR_OUTPUT);
    assert_false(tm_report_is_page("page.html"));
}

RUN_TESTS()

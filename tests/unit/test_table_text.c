/* Tables and definitions as shown in a terminal. */
#include "tmerge/table.h"

#include "table/shown.h"
#include "table/stream.h"
#include "table_fixture.h"

static char *text_of(const tm_table *table, int width) {
    char *text = NULL;
    tm_error err;
    assert_int_equal(tm_table_text(table, width, &text, &err), TM_OK);
    return text;
}

static void expect_text(const tm_table *table, int width, const char *expected) {
    char *text = text_of(table, width);
    assert_string_equal(text, expected);
    free(text);
}

TEST(a_time_column_has_one_unit) {
    static const tm_column column = {"wait_ns", TM_INT, "ns", ""};
    static const tm_table_def def = {"test.unit", "", &column, 1, 0, 0, false, 0, 0, TM_FORM_TABLE};
    static const struct {
        int64_t first, second;
        const char *expected;
    } cases[] = {
        {0, 7, "wait ns\n      0\n      7\n"},
        {999, -999, "wait ns\n    999\n   -999\n"},
        {-1000, 0, "wait us\n -1.000\n  0.000\n"},
        {999999, 1000, "wait us\n999.999\n  1.000\n"},
        {999, 1, "wait ns\n    999\n      1\n"},
        {9999, 10, "wait us\n  9.999\n  0.010\n"}, /* two digits are left */
        {9000, 9, "wait ns\n   9000\n      9\n"},  /* in us, only one digit would be left */
        /* 1499 ns is 0.001499 ms, 1500 ns 0.0015, rounded half away from zero */
        {100000000, 1499, "wait ms\n100.000\n  0.001\n"},
        {100000000, -1500, "wait ms\n100.000\n -0.002\n"},
        {-2000000000, 499, "  wait ms\n-2000.000\n   <0.001\n"},
        {99999999, -499, "  wait us\n99999.999\n   -0.499\n"},
        {4000000000, -10000000, "wait s\n 4.000\n-0.010\n"},
        {1000000000, 1234567890, "wait s\n 1.000\n 1.235\n"},
        /* the epoch has more digits than a double holds */
        {1700000000123499999, 1700000000123500000,
         "        wait s\n1700000000.123\n1700000000.124\n"},
        {INT64_MIN, 0, "         wait s\n-9223372036.855\n          0.000\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = make(&def);
        tm_cell_set_int(add(&f), cases[i].first);
        tm_cell_set_int(add(&f), cases[i].second);
        expect_text(f.table, 80, cases[i].expected);
        tm_tables_destroy(&f.tables);
    }
}

/* Next to 5 s, 35 ms are shown as 35.000 beside 5000.000 ms, but 60 us hardly have a digit. Times
 * of single events are not compared with sums. */
TEST(columns_that_are_read_together_have_one_unit) {
    static const tm_column columns[] = {{"total_ns", TM_INT, "ns", ""},
                                        {"idle_ns", TM_INT, "ns", ""},
                                        {"far_ns", TM_INT, "ns", ""},
                                        {"mean_ns", TM_INT, "ns", ""},
                                        {"max_ns", TM_REAL, "ns", ""}};
    static const tm_table_def def = {"test.units", "", columns, 5, 0, 0, false, 0, 0,
                                     TM_FORM_TABLE};
    static const int64_t values[2][4] = {{5000000000, 35000000, 60000, 100000},
                                         {2000000000, 900, 0, 90000}};
    fixture f = make(&def);
    for (int r = 0; r < 2; r++) {
        tm_cell *row = add(&f);
        for (int c = 0; c < 4; c++)
            tm_cell_set_int(&row[c], values[r][c]);
        tm_cell_set_real(&row[4], r == 0 ? 1000000.0 : 400.0);
    }
    expect_text(f.table, 80,
                "total ms  idle ms  far us  mean us    max us\n"
                "5000.000   35.000  60.000  100.000  1000.000\n"
                "2000.000    0.001   0.000   90.000     0.400\n");
    tm_tables_destroy(&f.tables);
}

TEST(times_of_a_sentence_have_one_unit) {
    static const struct {
        int64_t a, b;
        const char *first, *second;
    } cases[] = {{640000, 5630000, "0.64 ms", "5.63 ms"},
                 {659000000, 1660000000, "0.66 s", "1.66 s"},
                 {5630000, 9000, "5630.0 us", "9.00 us"}, /* 0.009 ms would not have two digits */
                 {106300000, 48, "106.3 ms", "< 0.01 ms"},
                 {0, 5000, "0 us", "5.00 us"},
                 {7, 9, "7 ns", "9 ns"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tm_shown_text text[2];
        tm_shown_durations((const int64_t[]){cases[i].a, cases[i].b}, 2, text);
        assert_string_equal(text[0].text, cases[i].first);
        assert_string_equal(text[1].text, cases[i].second);
    }
}

static char *styled(const tm_table *table, const tm_text_style *style) {
    char *text = NULL;
    tm_error err;
    tm_out out = TM_OUT();
    const tm_sink_out sink = {&out, NULL};
    const tm_rows rows = tm_rows_of(table);
    assert_int_equal(tm_stream_text(&rows, style, &sink, &err), TM_OK);
    assert_int_equal(tm_out_take(&out, &text, NULL, &err), TM_OK);
    return text;
}

TEST(moments_count_from_an_origin) {
    static const tm_column columns[] = {{"begin_ns", TM_INT, tm_epoch_ns, "Begin since the epoch."},
                                        {"wait_ns", TM_INT, "ns", "What it waits."}};
    static const tm_table_def def = {"test.since", "", columns, 2, 1, 0, false, 0, 0,
                                     TM_FORM_TABLE};
    static const struct {
        int64_t origin, begins[2];
        const char *expected;
    } cases[] = {
        /* Next to a second, a nanosecond is 0 as a point in time, but <0.001 as a duration. */
        {1700000000000000000,
         {1700000000000000001, 1700000001000000000},
         "begin +s   wait ms\n   0.000    <0.001\n   1.000  2000.000\n"},
        {1700000000000000000,
         {1699999999999999999, 1700000000000000007},
         "begin +ns   wait ms\n       -1    <0.001\n        7  2000.000\n"},
        {1700000000000000000, /* zero has no sign */
         {1699999999999999600, 1700000000001000000},
         "begin +ms   wait ms\n    0.000    <0.001\n    1.000  2000.000\n"},
        {0,
         {1700000000000000001, 1700000001000000000},
         "       begin s   wait ms\n1700000000.000    <0.001\n1700000001.000  2000.000\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = make(&def);
        for (int r = 0; r < 2; r++) {
            tm_cell *row = add(&f);
            tm_cell_set_int(&row[0], cases[i].begins[r]);
            tm_cell_set_int(&row[1], r == 0 ? 5 : 2000000000);
        }
        const tm_text_style style = {.width = 80, .origin_ns = cases[i].origin};
        char *text = styled(f.table, &style);
        assert_string_equal(text, cases[i].expected);
        free(text);
        tm_tables_destroy(&f.tables);
    }
}

TEST(shares_have_bars_where_there_is_room) {
    static const tm_column columns[] = {{"rank", TM_INT, "", ""},
                                        {"busy_pct", TM_REAL, "%", ""},
                                        {"share_pct", TM_REAL, "%", ""},
                                        {"change_pct", TM_REAL, "%", ""}};
    static const tm_table_def def = {"test.bars", "", columns, 4, 1, 0, false, 0, 0, TM_FORM_TABLE};
    /* 44.9 and 100 % are 4 and 10 marks. 5 of 20 is a quarter: 2.5 marks, rounded to 3. A change
     * may be negative, and has no bar. A line has 4 + 2 + 6 + 2 + 7 + 2 + 8 = 31 characters, and 11
     * more for each bar. 52 columns have room for one. In 30, the change is in another block
     * anyway. */
    static const struct {
        int width;
        bool bars;
        const char *expected;
    } cases[] = {
        {80, true,
         "rank  busy %             share %             change %\n"
         "   0    44.9 ####            5.0 ###             -3.0\n"
         "   1   100.0 ##########     20.0 ##########       8.0\n"
         "   2       -                   -                    -\n"},
        {52, true,
         "rank  busy %             share %  change %\n"
         "   0    44.9 ####            5.0      -3.0\n"
         "   1   100.0 ##########     20.0       8.0\n"
         "   2       -                   -         -\n"},
        {80, false,
         "rank  busy %  share %  change %\n"
         "   0    44.9      5.0      -3.0\n"
         "   1   100.0     20.0       8.0\n"
         "   2       -        -         -\n"},
    };
    fixture f = make(&def);
    static const double values[2][3] = {{44.9, 5.0, -3.0}, {100.0, 20.0, 8.0}};
    for (int r = 0; r < 3; r++) {
        tm_cell *row = add(&f);
        tm_cell_set_int(row, r);
        for (int c = 0; c < 3 && r < 2; c++)
            tm_cell_set_real(&row[c + 1], values[r][c]);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tm_text_style style = {.width = cases[i].width, .bars = cases[i].bars};
        char *text = styled(f.table, &style);
        assert_string_equal(text, cases[i].expected);
        free(text);
    }
    tm_tables_destroy(&f.tables);
}

TEST(a_real_is_shown_as_its_unit_asks) {
    static const struct {
        const char *name, *unit;
        double value;
        const char *expected;
    } cases[] = {
        {"cov", "", 0.123456, "   cov\n0.1235\n"},
        {"cov", "", 2.0, "cov\n  2\n"},
        {"cov", "", 1234.4, " cov\n1234\n"},
        {"cov", "", 9999.7, "  cov\n10000\n"},
        {"cov", "", -1234567.0, "     cov\n-1234567\n"},
        {"cov", "", 1.23456e20, "      cov\n1.235e+20\n"},
        {"cov", "", 1.23456e-7, "      cov\n1.235e-07\n"},
        {"overlap_pct", "%", 66.66, "overlap %\n     66.7\n"},
        {"overlap_pct", "%", -0.04, "overlap %\n      0.0\n"},
        {"overlap_pct", "%", 1e300, "overlap %\n   1e+300\n"},
        {"busbw_gbps", "GB/s", 187.25, "busbw GB/s\n     187.2\n"}, /* a tie is rounded to even */
        {"drift_ppb", "ppb", -0.5, "drift ppb\n     -0.5\n"},
        {"lag_ns", "ns", 1500.4, "lag us\n 1.500\n"},
        {"lag_ns", "ns", -1500.4, "lag us\n-1.500\n"},
        {"lag_ns", "ns", 15.4, "lag ns\n    15\n"},
        {"_ns", "ns", 1.0, "_ns ns\n     1\n"}, /* a name is never empty */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tm_column column = {cases[i].name, TM_REAL, cases[i].unit, ""};
        const tm_table_def def = {"test.real", "", &column, 1, 0, 0, false, 0, 0, TM_FORM_TABLE};
        fixture f = make(&def);
        tm_cell_set_real(add(&f), cases[i].value);
        expect_text(f.table, 80, cases[i].expected);
        tm_tables_destroy(&f.tables);
    }
}

TEST(text_aligns_numbers_right_and_words_left) {
    fixture f = make(&sample);
    add_full(&f, 0, 1234567, 0.5,
             "n\xC3\xB6"
             "de1"); /* 5 code points, 6 bytes */
    add_full(&f, 10, -2000000, 12.0, "n");
    (void)add(&f);
    expect_text(f.table, 80,
                "rank  compute ms  ratio  host   partial\n"
                "   0       1.235    0.5  n\xC3\xB6"
                "de1  yes\n"
                "  10      -2.000     12  n      yes\n"
                "   -           -      -  -      -\n");
    tm_tables_destroy(&f.tables);
}

TEST(an_empty_table_is_its_header) {
    fixture f = make(&sample);
    tm_table_sort(f.table);
    tm_table_top(f.table, 3);
    expect_text(f.table, 80, "rank  compute ns  ratio  host  partial\n");
    tm_tables_destroy(&f.tables);
}

TEST(what_does_not_fit_continues_below_with_the_keys) {
    fixture f = make(&sample);
    add_full(&f, 3, 5, 0.5, "node1");
    /* rank has 4 letters, compute ns 10, ratio 5, host 5, partial 7, and gaps 2 each: 39 in all */
    const char *const one = "rank  compute ns  ratio  host   partial\n"
                            "   3           5    0.5  node1  yes\n";
    const char *const three = "rank  compute ns  ratio\n"
                              "   3           5    0.5\n"
                              "\n"
                              "rank  host   partial\n"
                              "   3  node1  yes\n";
    const char *const single = "rank  compute ns\n   3           5\n\n"
                               "rank  ratio\n   3    0.5\n\n"
                               "rank  host\n   3  node1\n\n"
                               "rank  partial\n   3  yes\n";
    expect_text(f.table, 39, one);
    expect_text(f.table, 0, one); /* no limit */
    expect_text(f.table, 29, three);
    expect_text(f.table, 23, three); /* 4 + 2 + 10 + 2 + 5 characters */
    expect_text(f.table, 16, single);
    expect_text(f.table, 1, single); /* nothing fits, so each block has one column */
    tm_tables_destroy(&f.tables);
}

/* Two keys of 40 letters and a column of 10 letters. */
TEST(no_line_is_longer_than_the_terminal) {
    static const tm_column columns[] = {
        {"kernel", TM_TEXT, "", ""}, {"inside", TM_TEXT, "", ""}, {"calls_made", TM_INT, "", ""}};
    static const tm_table_def def = {"test.keys", "",    columns, 3, 2,
                                     -1,          false, 0,       0, TM_FORM_TABLE};
    fixture f = make(&def);
    tm_cell *row = add(&f);
    set_text(&f, &row[0], "abcdefghijklmnopqrstuvwxyz0123456789ABCD");
    set_text(&f, &row[1], "0123456789ABCDabcdefghijklmnopqrstuvwxyz");
    tm_cell_set_int(&row[2], 7);
    expect_text(f.table, 94,
                "kernel                                    inside                                  "
                "  calls_made\n"
                "abcdefghijklmnopqrstuvwxyz0123456789ABCD  0123456789ABCDabcdefghijklmnopqrstuvwxyz"
                "           7\n");
    /* two keys cut to 24 characters, 10 for the column, and two gaps take 62 */
    expect_text(f.table, 62,
                "kernel                    inside                    calls_made\n"
                "abcdefghijk...456789ABCD  0123456789A...qrstuvwxyz           7\n");
    expect_text(f.table, 61,
                "row  kernel\n  1  abcdefghijklmnopqrstuvwxyz0123456789ABCD\n\n"
                "row  inside                                    calls_made\n"
                "  1  0123456789ABCDabcdefghijklmnopqrstuvwxyz           7\n");
    expect_text(f.table, 29,
                "row  kernel\n  1  abcdefghijk...456789ABCD\n\n"
                "row  inside\n  1  0123456789A...qrstuvwxyz\n\n"
                "row  calls_made\n  1           7\n");
    tm_tables_destroy(&f.tables);
}

TEST(keys_that_leave_room_for_one_column_stand_once) {
    static const tm_column columns[] = {
        {"name", TM_TEXT, "", ""},      {"calls_of_a", TM_INT, "", ""},
        {"calls_of_b", TM_INT, "", ""}, {"calls_of_c", TM_INT, "", ""},
        {"calls_of_d", TM_INT, "", ""}, {"calls_of_e", TM_INT, "", ""}};
    static const tm_table_def def = {"test.keys", "",    columns, 6, 1,
                                     -1,          false, 0,       0, TM_FORM_TABLE};
    fixture f = make(&def);
    tm_cell *row = add(&f);
    set_text(&f, &row[0], "abcdefghijklmnopqrstuvwx");
    for (int c = 1; c < 6; c++)
        tm_cell_set_int(&row[c], c);
    /* a name of 24, a column of 10 and a gap take 36: five blocks, or three with row numbers */
    expect_text(f.table, 40,
                "row  name\n  1  abcdefghijklmnopqrstuvwx\n\n"
                "row  calls_of_a  calls_of_b  calls_of_c\n"
                "  1           1           2           3\n\n"
                "row  calls_of_d  calls_of_e\n  1           4           5\n");
    tm_tables_destroy(&f.tables);
}

TEST(times_are_rounded_before_their_unit_is_chosen) {
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        /* 1.235 is stored as 1.23500000000000009...; no unit exceeds seconds */
        {0, "0 ns"},
        {7, "7 ns"},
        {999, "999 ns"},
        {1000, "1.00 us"},
        {1234, "1.23 us"},
        {1235, "1.24 us"},
        {9994, "9.99 us"},
        {9995, "10.0 us"},
        {37440, "37.4 us"},
        {999949, "999.9 us"},
        {999950, "1.00 ms"},
        {999960, "1.00 ms"},
        {37400000, "37.4 ms"},
        {999960000, "1.00 s"},
        {1500000000, "1.50 s"},
        {61000000000, "61.0 s"},
        {1234567000000000, "1234567.0 s"},
        {-5, "-5 ns"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        tm_shown_duration(cases[i].ns, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(a_share_is_shown_as_0_or_100_percent_only_where_it_is) {
    static const struct {
        double percent;
        const char *whole, *tenths;
    } cases[] = {
        {0.0, "0 %", "0.0 %"},       {0.04, "< 1 %", "< 0.1 %"},    {0.3, "< 1 %", "0.3 %"},
        {0.6, "1 %", "0.6 %"},       {42.4, "42 %", "42.4 %"},      {99.4, "99 %", "99.4 %"},
        {99.6, "> 99 %", "99.6 %"},  {99.96, "> 99 %", "> 99.9 %"}, {100.0, "100 %", "100.0 %"},
        {250.0, "250 %", "250.0 %"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(tm_shown_percent(cases[i].percent, 0).text, cases[i].whole);
        assert_string_equal(tm_shown_percent(cases[i].percent, 1).text, cases[i].tenths);
    }
}

TEST(texts_are_shown_without_control_characters_and_cut_in_the_middle) {
    static const tm_column column = {"t", TM_TEXT, "", ""};
    static const tm_table_def def = {"test.text", "", &column, 1, 1, 0, false, 0, 0, TM_FORM_TABLE};
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"a\n\x1B[31m\x7F", "a??[31m?"},
        {"\xC2\x9B"
         "31m",
         "?31m"}, /* U+009B also starts an escape sequence */
        {"\xC2\xA0x", "\xC2\xA0x"},
        {"123456789012345678901234567890123456789012345678",
         "123456789012345678901234567890123456789012345678"}, /* 48 characters */
        /* 49 characters: the first 23, "...", and the last 22 are shown */
        {"12345678901234567890123abcd4567890123456789012345",
         "12345678901234567890123...4567890123456789012345"},
        {"\xC3\xA4"
         "2345678901234567890123----567890123456789012345\xC3\xA4",
         "\xC3\xA4"
         "2345678901234567890123...567890123456789012345\xC3\xA4"},
        /* after a function name of 35 letters, the end has 10; after a longer one, 8 */
        {"ncclDevKernel_ReduceScatter_Sum_f32(ncclDevKernelArgsStorage<4096ul>)",
         "ncclDevKernel_ReduceScatter_Sum_f32...e<4096ul>)"},
        {"void (anonymous namespace)::elementwise_kernel<int, 4>(int*, long, long)",
         "void (anonymous namespace)::elementwi...g, long)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = make(&def);
        set_text(&f, add(&f), cases[i].text);
        char expected[128];
        snprintf(expected, sizeof expected, "t\n%s\n", cases[i].expected);
        expect_text(f.table, 80, expected);
        tm_tables_destroy(&f.tables);
    }
}

TEST(definitions_are_listed_aligned_and_wrapped_at_100_columns) {
    static const tm_column columns[] = {
        {"rank", TM_INT, "", /* this doc is one column too wide */
         "1234567 101234567 201234567 301234567 401234567 501234567 601234567 7012345"},
        {"exposed_ns", TM_INT, "ns",
         /* The doc begins in column 26 (4 + 10 + 2 + 4 + 2 + 2 + 2); 74 are left. */
         "1234567 101234567 201234567 301234567 401234567 501234567 601234567 701234 next"},
    };
    static const tm_table_def first = {
        "test.first", "One row for each rank.", columns, 2, 1, 1, false, 0, 0, TM_FORM_TABLE};
    static const tm_table_def second = {
        "test.second", "One row.", sample_columns + HOST, 1, 0, 0, false, 0, 0, TM_FORM_TABLE};
    const tm_table_def *const defs[] = {&first, &second};
    char *text = NULL;
    tm_error err;
    assert_int_equal(tm_table_defs_text(defs, 2, 100, &text, &err), TM_OK);
    assert_string_equal(text,
                        "test.first\n"
                        "    One row for each rank.\n"
                        "    rank        int       1234567 101234567 201234567 301234567 401234567 "
                        "501234567 601234567\n"
                        "                          7012345\n"
                        "    exposed_ns  int   ns  1234567 101234567 201234567 301234567 401234567 "
                        "501234567 601234567 701234\n"
                        "                          next\n"
                        "\n"
                        "test.second\n"
                        "    One row.\n"
                        "    host        text      Where it ran.\n");
    free(text);
    assert_int_equal(tm_table_defs_text(defs, 0, 100, &text, &err), TM_OK);
    assert_string_equal(text, "");
    free(text);
}

/* Each of 400 names that differ only in the middle keeps both ends and stays unique. A name that is
 * unlike the others is cut as usual. */
TEST(names_that_differ_in_the_middle_stay_different) {
    enum { NAMES = 400 };
    static const tm_column column = {"name", TM_TEXT, "", ""};
    static const tm_table_def def = {"test.name", "", &column, 1, 0, 0, false, 0, 0, TM_FORM_TABLE};
    fixture f = make(&def);
    char name[128], *lines[NAMES + 2], *rest;
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name,
                 "void vectorized_elementwise_kernel<Functor%dFunctor, "
                 "std::array<char*, 3ul> >(int)",
                 1000 + i);
        set_text(&f, add(&f), name);
    }
    memset(name, 'x', 60);
    name[60] = '\0';
    set_text(&f, add(&f), name);
    char *text = text_of(f.table, 80);
    lines[0] = strtok_r(text, "\n", &rest);
    for (int i = 1; i < NAMES + 2; i++) {
        lines[i] = strtok_r(NULL, "\n", &rest);
        assert_non_null(lines[i]);
        assert_int_equal(strlen(lines[i]), TM_SHOWN_POINTS);
        for (int k = 1; k < i; k++)
            assert_string_not_equal(lines[i], lines[k]);
        if (i <= NAMES) {
            assert_memory_equal(lines[i], "void vectorized_elementwise_ker", 31);
            assert_string_equal(lines[i] + TM_SHOWN_POINTS - 8, "> >(int)");
        }
    }
    assert_string_equal(lines[NAMES + 1], "xxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxx");
    free(text);
    tm_tables_destroy(&f.tables);
}

TEST(sentences_stand_below_their_row_and_are_wrapped_not_cut) {
    static const tm_column columns[] = {
        {"rule", TM_TEXT, "", ""},
        {"cost_ns", TM_INT, "ns", ""},
        {"text", TM_TEXT, "", ""},
        {"look_at", TM_TEXT, "", ""},
    };
    static const tm_table_def def = {"test.prose", "", columns, 4, 1, 1, false, 0, 2,
                                     TM_FORM_TABLE};
    fixture f = make(&def);
    tm_cell *row = add(&f);
    set_text(&f, &row[0], "input");
    tm_cell_set_int(&row[1], 7);
    /* Sentences begin in column 11 (2 + 7 + 2), so 29 of 40 are left. "Load ... sleep," has 28. */
    set_text(&f, &row[2], "Load data faster,\x1b[2J sleep, or more workers than were used before.");
    set_text(&f, &row[3], "a.b");
    set_text(&f, add(&f), "leak");
    expect_text(f.table, 40,
                "rule   cost ns\n"
                "input        7\n"
                "  text     Load data faster,?[2J sleep,\n"
                "           or more workers than were\n"
                "           used before.\n"
                "  look at  a.b\n"
                "leak         -\n");
    tm_tables_destroy(&f.tables);
}

RUN_TESTS()

/* Rows and cells: null, repair of texts, order, top rows, filter. */
#include "tmerge/table.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "table_fixture.h"

TEST(tables_and_columns_are_found_by_name) {
    const tm_table_def other = {"test.other", "", sample_columns, 2, 2, -1, false, 0, 0,
                                TM_FORM_TABLE};
    const tm_table_def *const defs[] = {&sample, &other};
    tm_tables tables = {0};
    tm_error err;
    assert_int_equal(tm_tables_create(defs, 2, &tables, &err), TM_OK);
    assert_ptr_equal(tm_tables_find(&tables, "test.other")->def, &other);
    assert_null(tm_tables_look_up(&tables, "test"));
    assert_string_equal(tm_column_of(&sample, "host")->doc, "Where it ran.");
    assert_int_equal(tm_table_column(&sample, "host"), HOST);
    assert_int_equal(tm_table_column(&sample, "hos"), -1);
    tm_tables_destroy(&tables);
    assert_int_equal(tables.n_tables, 0);
    tm_tables_destroy(NULL);
}

static void ask_for_a_table(const fixture *f) {
    (void)tm_tables_find(&f->tables, "test.sampel");
}

static void ask_for_a_column(const fixture *f) {
    (void)tm_column_of(f->table->def, "hos");
}

static void ask_for_a_cell(const fixture *f) {
    (void)tm_table_cell(f->table, 0, "hos");
}

TEST(a_name_of_ours_that_does_not_exist_stops_a_program_with_asserts) {
    static void (*const mistakes[])(const fixture *) = {ask_for_a_table, ask_for_a_column,
                                                        ask_for_a_cell};
    fixture f = make_sample();
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            signal(SIGABRT, SIG_DFL); /* cmocka's handler would report a failure */
            mistakes[i](&f);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
#ifdef NDEBUG
        assert_int_equal(status, 0);
#else
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
    }
    tm_tables_destroy(&f.tables);
}

TEST(types_have_the_words_of_the_json) {
    assert_string_equal(tm_type_name(TM_INT), "int");
    assert_string_equal(tm_type_name(TM_REAL), "real");
    assert_string_equal(tm_type_name(TM_TEXT), "text");
    assert_string_equal(tm_type_name(TM_BOOL), "bool");
}

TEST(a_new_row_is_null_and_rows_survive_growth) {
    fixture f = make(&sample);
    for (int r = 0; r < 1000; r++) {
        tm_cell *row = add(&f);
        for (int c = 0; c < N_SAMPLE; c++)
            assert_true(row[c].null);
        tm_cell_set_int(&row[RANK], r);
    }
    assert_int_equal(f.table->n_rows, 1000);
    for (size_t r = 0; r < 1000; r++)
        assert_int_equal(tm_table_row(f.table, r)[RANK].value.i, r);
    tm_tables_destroy(&f.tables);
}

TEST(what_has_no_value_is_null_and_never_nan_or_zero) {
    const double not_finite[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    tm_cell cell;
    for (size_t i = 0; i < sizeof not_finite / sizeof *not_finite; i++) {
        cell = (tm_cell){.null = false};
        tm_cell_set_real(&cell, not_finite[i]);
        assert_true(cell.null);
    }
    const struct {
        double scale;
        int64_t numerator, denominator;
        bool null;
        double expected;
    } cases[] = {
        {100, 7, 100, false, 7.0}, /* 7 / 100 * 100 would give 7.000000000000001 */
        {1, 1, 4, false, 0.25},    {1, 0, 4, false, 0.0}, {1, -3, 2, false, -1.5},
        {1, 5, 0, true, 0},        {1, 0, 0, true, 0},    {1e300, INT64_MAX, 1, true, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tm_cell_set_ratio(&cell, cases[i].scale, cases[i].numerator, cases[i].denominator);
        assert_int_equal(cell.null, cases[i].null);
        if (!cell.null)
            assert_true(cell.value.r == cases[i].expected);
    }
}

TEST(bytes_that_are_not_utf8_become_replacement_characters) {
    static const struct {
        const char *bytes;
        size_t size;
        const char *expected;
    } cases[] = {
        {"", 0, ""},
        {"plain", 5, "plain"},
        {"\x01\t\n\x1F", 4, "\x01\t\n\x1F"}, /* control characters stay */
        {"a\0b", 3, "a" BAD "b"},            /* a NUL inside the text is replaced */
        {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 9, "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\xF4\x8F\xBF\xBF", 4, "\xF4\x8F\xBF\xBF"}, /* U+10FFFF, the last code point */
        {"\xEF\xBF\xBF", 3, "\xEF\xBF\xBF"},         /* a noncharacter is also a code point */
        /* Tables 3-8 to 3-11 of the Unicode standard 15, section 3.9. */
        {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", 9, BAD BAD BAD BAD BAD BAD BAD BAD "A"},
        {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", 9, BAD BAD BAD BAD BAD BAD BAD BAD "A"},
        {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", 9, BAD BAD BAD BAD BAD "A" BAD BAD "B"},
        {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", 9, BAD BAD BAD BAD "A"},
        {"x\xE2\x82", 3, "x" BAD}, /* a text cut at its end gets one replacement */
        {"\xC3", 1, BAD},
        {"\xE2\x82\xAC", 2, BAD}, /* the size counts, not the terminator */
    };
    fixture f = make(&sample);
    tm_cell *row = add(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            tm_table_set_bytes(f.table, &row[HOST], cases[i].bytes, cases[i].size, &f.err), TM_OK);
        assert_false(row[HOST].null);
        assert_string_equal(row[HOST].value.text, cases[i].expected);
    }
    tm_tables_destroy(&f.tables);
}

TEST(a_text_is_copied_and_no_text_is_null) {
    fixture f = make(&sample);
    tm_cell *row = add(&f);
    char name[] = "node1";
    set_text(&f, &row[HOST], name);
    name[0] = 'X';
    assert_string_equal(row[HOST].value.text, "node1");
    set_text(&f, &row[HOST], NULL);
    assert_true(row[HOST].null);
    assert_int_equal(tm_table_set_bytes(f.table, &row[HOST], name, SIZE_MAX, &f.err), TM_ERR_FAULT);
    assert_string_equal(f.err.message, "out of memory");
    assert_true(row[HOST].null);
    tm_tables_destroy(&f.tables);
}

/* Adds n rows. Ranks are in no order, and often equal or null; compute_ns is the row's index. */
static void add_scrambled(fixture *f, int n) {
    for (int r = 0; r < n; r++) {
        tm_cell *row = add(f);
        if (r % 11 != 3)
            tm_cell_set_int(&row[RANK], (r * 7919) % 23 - 11);
        tm_cell_set_int(&row[COMPUTE], r);
    }
}

TEST(sorting_is_stable_with_nulls_last_at_any_size) {
    static const int sizes[] = {0, 1, 2, 16, 17, 31, 32, 33, 1000, 1025};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        fixture f = make(&sample);
        add_scrambled(&f, sizes[s]);
        tm_table_sort(f.table);
        assert_int_equal(f.table->n_rows, sizes[s]);
        int64_t sum = 0;
        for (size_t r = 0; r < f.table->n_rows; r++) {
            const tm_cell *row = tm_table_row(f.table, r);
            sum += row[COMPUTE].value.i;
            if (r == 0)
                continue;
            const tm_cell *before = tm_table_row(f.table, r - 1);
            assert_true(before[RANK].null <= row[RANK].null);
            if (before[RANK].null != row[RANK].null)
                continue;
            assert_true(row[RANK].null || before[RANK].value.i <= row[RANK].value.i);
            if (row[RANK].null || before[RANK].value.i == row[RANK].value.i)
                assert_true(before[COMPUTE].value.i < row[COMPUTE].value.i);
        }
        assert_int_equal(sum, (int64_t)sizes[s] * (sizes[s] - 1) / 2); /* every row occurs once */
        (void)add(&f); /* a sorted table can still grow */
        tm_tables_destroy(&f.tables);
    }
}

/* There are enough rows for a counting sort. A merge sort is used if a key is null, real, or far
 * from the others. */
TEST(rows_go_by_all_their_numbers) {
    enum { NUMBERS, NULLS, FAR, REALS, N_WAYS };
    for (int way = 0; way < N_WAYS; way++) {
        const tm_column columns[] = {{"rank", TM_INT, "", ""},
                                     {"other", way == REALS ? TM_REAL : TM_INT, "", ""},
                                     {"row", TM_INT, "", ""}};
        const tm_table_def def = {"test.two", "", columns, 3, 2, 2, false, 0, 0, TM_FORM_TABLE};
        int64_t others[600], last = INT64_MAX;
        fixture f = make(&def);
        for (int r = 0; r < 600; r++) {
            tm_cell *row = add(&f);
            others[r] = (way == NULLS || way == FAR) && r % 50 == 7 ? last : r * 31 % 17;
            tm_cell_set_int(&row[0], r * 7919 % 23 - 11);
            if (way == REALS)
                tm_cell_set_real(&row[1], (double)others[r] / 20.0);
            else if (way != NULLS || others[r] != last)
                tm_cell_set_int(&row[1], others[r]);
            tm_cell_set_int(&row[2], r);
        }
        tm_table_sort(f.table);
        for (size_t r = 1; r < 600; r++) {
            const tm_cell *a = tm_table_row(f.table, r - 1), *b = tm_table_row(f.table, r);
            const int64_t x = others[a[2].value.i], y = others[b[2].value.i];
            assert_true(a[0].value.i <= b[0].value.i);
            assert_true(a[0].value.i < b[0].value.i || x <= y);
            assert_true(a[0].value.i < b[0].value.i || x < y || a[2].value.i < b[2].value.i);
        }
        tm_tables_destroy(&f.tables);
    }
}

TEST(keys_of_every_type_order_by_value) {
    static const tm_column columns[] = {{"host", TM_TEXT, "", ""},
                                        {"late", TM_BOOL, "", ""},
                                        {"share", TM_REAL, "", ""},
                                        {"row", TM_INT, "", ""}};
    static const tm_table_def def = {"test.keys", "", columns, 4, 3, 3, false, 0, 0, TM_FORM_TABLE};
    static const struct {
        const char *host;
        bool late;
        double share;
        int64_t place; /* expected place after sorting by host, then late, then share */
    } rows[] = {{"b", false, 0.5, 3}, {"a", true, -1.0, 1}, {"\xC3\xA4", false, 0, 5},
                {"a", true, 1e-9, 2}, {"a", false, 9, 0},   {"b", false, 0.75, 4}};
    fixture f = make(&def);
    for (size_t r = 0; r < 6; r++) {
        tm_cell *row = add(&f);
        set_text(&f, &row[0], rows[r].host);
        tm_cell_set_bool(&row[1], rows[r].late);
        tm_cell_set_real(&row[2], rows[r].share);
        tm_cell_set_int(&row[3], rows[r].place);
    }
    tm_table_sort(f.table);
    for (size_t r = 0; r < 6; r++)
        assert_int_equal(tm_table_row(f.table, r)[3].value.i, r);
    tm_tables_destroy(&f.tables);
}

TEST(texts_go_by_the_numbers_in_the_ends_of_their_words) {
    static const char *const sorted[] = {
        "",         "0",         "1",       "02",     "2",        "2.layer",
        "10",       "1e9d",      "1e9e",    "9a",     "[0, 2]",   "[0, 10]",
        "a",        "a-b",       "ab",      "fusion", "fusion.2", "fusion.10",
        "layer2.x", "layer10.a", "layer2a", "node9",  "node10",   "\xC3\xA4"};
    enum { N = sizeof sorted / sizeof *sorted };
    static const tm_column columns[] = {{"text", TM_TEXT, "", ""}};
    static const tm_table_def def = {"test.text", "",    columns, 1, 1,
                                     -1,          false, 0,       0, TM_FORM_TABLE};
    for (size_t first = 0; first < N; first++)
        for (size_t step = 5; step <= 7; step += 2) { /* both steps are coprime to N */
            fixture f = make(&def);
            for (size_t i = 0; i < N; i++)
                set_text(&f, add(&f), sorted[(first + i * step) % N]);
            tm_table_sort(f.table);
            for (size_t i = 0; i < N; i++)
                assert_string_equal(tm_table_row(f.table, i)->value.text, sorted[i]);
            tm_tables_destroy(&f.tables);
        }
}

TEST(a_row_is_found_by_the_leading_keys_that_rows_are_sorted_by) {
    static const int64_t rows[][2] = {{-1, 5}, {0, 2}, {0, 7}, {3, 2}};
    static const struct {
        int64_t keys[2];
        int n_keys;
        size_t row;
    } cases[] = {{{-1, 5}, 2, 0}, {{0, 7}, 2, 2}, {{3, 2}, 2, 3}, {{0, 5}, 2, 4},
                 {{3, 7}, 2, 4},  {{0}, 1, 1},    {{1}, 1, 4},    {{-2}, 1, 4}};
    fixture f = make(&sample);
    assert_int_equal(tm_table_find_row(f.table, cases[0].keys, 2), 0); /* there are no rows */
    for (size_t i = 0; i < 4; i++)
        add_full(&f, rows[i][0], rows[i][1], 0.0, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(tm_table_find_row(f.table, cases[i].keys, cases[i].n_keys), cases[i].row);
    tm_tables_destroy(&f.tables);
}

TEST(top_keeps_the_largest_first_and_equal_ones_in_row_order) {
    static const struct {
        int64_t rank, ns;
    } rows[] = {{0, 5}, {1, -1}, {2, 9}, {3, 5}, {4, INT64_MIN}};
    static const struct { size_t n, left; } cases[] = {{0, 0}, {3, 3}, {5, 5}, {100, 6}};
    static const int64_t expected[] = {2, 0, 3, 1, 4, 5}; /* 9, 5, 5, -1, the smallest, null */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = make(&sample);
        tm_cell_set_int(&add(&f)[RANK], 5); /* its compute_ns is null */
        for (size_t r = 0; r < 5; r++)
            add_full(&f, rows[r].rank, rows[r].ns, 0, "");
        tm_table_top(f.table, cases[i].n);
        assert_int_equal(f.table->n_rows, cases[i].left);
        for (size_t r = 0; r < f.table->n_rows; r++)
            assert_int_equal(tm_table_row(f.table, r)[RANK].value.i, expected[r]);
        tm_tables_destroy(&f.tables);
    }
}

static bool is_even_and_counted(const tm_table *table, const tm_cell *row, void *context) {
    assert_ptr_equal(table->def, &sample);
    ++*(int *)context;
    return row[RANK].value.i % 2 == 0;
}

TEST(a_filter_keeps_rows_in_order) {
    fixture f = make(&sample);
    for (int r = 0; r < 7; r++)
        tm_cell_set_int(&add(&f)[RANK], r);
    int asked = 0;
    tm_table_filter(f.table, is_even_and_counted, &asked);
    assert_int_equal(asked, 7);
    assert_int_equal(f.table->n_rows, 4);
    for (size_t r = 0; r < 4; r++)
        assert_int_equal(tm_table_row(f.table, r)[RANK].value.i, 2 * r);
    tm_tables_destroy(&f.tables);
}

RUN_TESTS()

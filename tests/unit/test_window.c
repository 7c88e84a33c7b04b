/* Window over a source: the bytes that it keeps, its growth, and reported offsets. */
#include "readers/window.h"

#include "json_document.h"
#include "source_ways.h"

static const size_t MIB = 1 << 20;

/* Returns `lead` blanks followed by a text; the caller frees it. */
static char *after_blanks(size_t lead, const char *text) {
    size_t n = strlen(text);
    char *bytes = malloc(lead + n);
    assert_non_null(bytes);
    memset(bytes, ' ', lead);
    for (size_t i = 0; i < n; i++)
        bytes[lead + i] = text[i];
    return bytes;
}

/* Puts the end of the first megabyte at each byte of this text. The landing set does so at every
 * 8th byte, because test_json has windows of all sizes. */
TEST(tokens_across_the_end_of_a_window_are_read_whole) {
    static const char text[] =
        "{\"key\": [true, false, null, -12.5e+3, \"a\\n\\u00e9\xE2\x82\xAC\"]}";
    const size_t step = in_full_set() ? 1 : 8;
    for (size_t before = first_of_every(step); before < sizeof text; before += step) {
        size_t lead = MIB - before;
        char *bytes = after_blanks(lead, text);
        assert_int_equal(check_document(bytes, lead + sizeof text - 1, 0, NULL), TM_OK);
        free(bytes);
    }
}

TEST(an_offset_counts_from_the_start_of_the_content) {
    static const struct {
        const char *text;
        int64_t wrong;
    } cases[] = {
        {"[1, 2 3]", 6},  {"[\"abc\x01\"]", 5}, {"[truE]", 4},
        {"[1.e5]", 3},    {"{\"a\" 1}", 5},     {"[\"\xFF\"]", 2},
        {"[\"\\x\"]", 3}, {"[\"\\u12_4\"]", 6}, {"[\"abc", 5},
        {"[1", 2},        {"[1] x", 4},         {"[[[", 3},
    };
    const size_t step = in_full_set() ? 1 : 4;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t before = first_of_every(step); before <= strlen(cases[i].text);
             before += step) {
            size_t lead = 2 * MIB - before;
            char *bytes = after_blanks(lead, cases[i].text);
            tm_error err;
            assert_int_equal(check_document(bytes, lead + strlen(cases[i].text), 0, &err),
                             TM_ERR_INPUT);
            assert_int_equal(err.offset, (int64_t)lead + cases[i].wrong);
            free(bytes);
        }
}

TEST(what_is_kept_moves_to_the_front_and_the_rest_is_read) {
    tm_source *source = open_bytes("0123456789abcdef", 16);
    tm_window window = open_window(source, 8);
    assert_int_equal(tm_window_refill(&window, window.p, NULL), TM_OK);
    assert_string_equal(window.buffer, "01234567"); /* the zeros after it are padding */
    assert_int_equal(window.cursor.end - window.buffer, 8);
    assert_false(window.cursor.final);
    window.p += 7;
    assert_int_equal(tm_window_refill(&window, window.buffer + 5, NULL), TM_OK);
    assert_string_equal(window.buffer, "56789abc");
    assert_int_equal(window.buffer_offset, 5);
    assert_int_equal(*window.p, '7'); /* the byte has moved with the content */
    assert_int_equal(window.capacity, 8);
    /* More than half of the window is kept, so it grows: otherwise each refill would read less. */
    assert_int_equal(tm_window_refill(&window, window.buffer + 3, NULL), TM_OK);
    assert_int_equal(window.capacity, 16);
    assert_string_equal(window.buffer, "89abcdef");
    assert_true(window.cursor.final); /* 8 of 16 bytes were read, so nothing follows */
    tm_error err;
    assert_int_equal(tm_window_refill(&window, window.p, &err), TM_ERR_INPUT);
    assert_string_equal(err.message, "the file ends in the middle of a value");
    assert_int_equal(err.offset, 16);
    tm_window_close(&window);
    tm_source_close(source);
}

/* If the content fills the window exactly, the window does not yet know that nothing follows. */
TEST(the_end_is_found_after_a_full_window) {
    for (size_t n = MIB - 1; n <= MIB + 1; n++) {
        char *bytes = after_blanks(n - 1, "7");
        tm_source *source = open_bytes(bytes, n);
        tm_window window = open_window(source, 0);
        assert_int_equal(window.cursor.final, n < MIB);
        assert_int_equal(tm_window_space(&window, NULL), TM_OK);
        assert_int_equal(tm_window_skip_value(&window, NULL), TM_OK);
        assert_int_equal(tm_window_space(&window, NULL), TM_OK);
        assert_true(window.cursor.final);
        assert_ptr_equal(window.p, window.cursor.end);
        assert_int_equal(*window.p, 0);
        tm_window_close(&window);
        tm_source_close(source);
        free(bytes);
    }
}

TEST(white_space_goes_on_to_the_end_of_the_content) {
    size_t n = 3 * MIB + 5;
    char *bytes = after_blanks(n - 4, " \t\r\n");
    tm_source *source = open_bytes(bytes, n);
    tm_window window = open_window(source, 0);
    assert_int_equal(tm_window_space(&window, NULL), TM_OK);
    assert_true(window.cursor.final);
    assert_int_equal(window.buffer_offset + (window.p - window.buffer), n);
    assert_int_equal(window.capacity, MIB);
    tm_window_close(&window);
    tm_source_close(source);
    free(bytes);
}

/* A large value of small tokens fits in the window. */
TEST(a_value_is_skipped_without_keeping_it) {
    size_t n = 5 * MIB;
    char *bytes = malloc(n);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = "\"ab\",12345,"[i % 11]; /* 11 does not divide the window's size */
    bytes[0] = '[';
    bytes[1] = '"';
    n -= n % 11;
    bytes[n - 1] = ']';
    tm_source *source = open_bytes(bytes, n);
    tm_window window = open_window(source, 0);
    /* Byte 1 is now a quote, so the first string is "b". */
    assert_int_equal(tm_window_skip_value(&window, NULL), TM_OK);
    assert_int_equal(window.capacity, MIB);
    assert_int_equal(window.buffer_offset + (window.p - window.buffer), n);
    tm_window_close(&window);
    tm_source_close(source);
    free(bytes);
}

TEST(a_long_token_makes_the_window_grow_up_to_a_limit) {
    static const struct {
        size_t n; /* size of the string with its quotes [B] */
        tm_status status;
    } cases[] = {
        {1 << 20, TM_OK},
        {(1 << 20) + 1, TM_OK},
        {5 << 20, TM_OK},
        {TM_WINDOW_ITEM_MAX, TM_OK},
        {TM_WINDOW_ITEM_MAX + 1, TM_ERR_INPUT},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *bytes = malloc(cases[i].n + 1);
        assert_non_null(bytes);
        memset(bytes, 'x', cases[i].n + 1);
        bytes[0] = ' ';
        bytes[1] = bytes[cases[i].n] = '"';
        tm_error err = {.offset = -1};
        tm_status status = in_full_set()
                               ? check_document(bytes, cases[i].n + 1, 0, &err)
                               : check_with(tm_scanner_best(), bytes, cases[i].n + 1, 0, &err);
        assert_int_equal(status, cases[i].status);
        if (cases[i].status != TM_OK) {
            assert_int_equal(err.offset, 1); /* start of the string */
            assert_string_equal(err.message, "this event or value is larger than 64 MiB");
        }
        free(bytes);
    }
}

/* A stream whose checksum is wrong (its last byte is B instead of A). It fails after 20 bytes. */
static const char wrong[] = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\xc9\x4c\xce\x56\x28\xc9"
                            "\x07\x11\x30\x16\x17\x00\x3a\x53\x65\x42\x14\x00\x00\x00";

TEST(a_failure_of_the_source_is_passed_on) {
    tm_source *source = open_bytes(wrong, sizeof wrong - 1);
    tm_window window = {0};
    tm_error err;
    assert_int_equal(tm_window_open(source, &window, &err), TM_ERR_INPUT);
    assert_null(window.buffer); /* set only on success */
    assert_int_equal(err.offset, 20);
    tm_source_close(source);
}

TEST(a_later_failure_of_the_source_is_passed_on_by_every_call) {
    for (int call = 0; call < 3; call++) {
        tm_source *source = open_bytes(wrong, sizeof wrong - 1);
        tm_window window = open_window(source, 4);
        tm_error err;
        assert_int_equal(tm_window_refill(&window, window.p, &err), TM_OK);
        assert_string_equal(window.buffer, "tick");
        tm_status status = TM_OK;
        for (int k = 0; k < 6 && status == TM_OK; k++) {
            window.p = window.cursor.end;
            window.cursor.fail = window.p;
            status = call == 0   ? tm_window_space(&window, &err)
                     : call == 1 ? tm_window_resume(&window, window.p, &err)
                                 : tm_window_refill(&window, window.p, &err);
        }
        assert_int_equal(status, TM_ERR_INPUT);
        assert_int_equal(err.offset, 20);
        assert_false(window.cut || window.ended);
        tm_window_close(&window);
        tm_source_close(source);
    }
}

TEST(a_source_that_is_cut_short_is_the_end_of_the_content) {
    tm_source *source = open_bytes(GZIP, sizeof GZIP - 2);
    tm_window window = {0};
    tm_error err;
    assert_int_equal(tm_window_open(source, &window, &err), TM_OK);
    assert_string_equal(window.buffer, "tick tock tick tock\n");
    assert_true(window.cut && window.cursor.final && !window.ended);
    window.p = window.cursor.fail = window.cursor.end;
    assert_int_equal(tm_window_resume(&window, window.p, &err), TM_ERR_INPUT);
    assert_int_equal(err.offset, 20);
    assert_true(window.ended);
    tm_window_close(&window);
    tm_source_close(source);
}

TEST(closing_a_window_twice_is_harmless) {
    tm_source *source = open_bytes("1", 1);
    tm_window window = open_window(source, 0);
    tm_window_close(&window);
    tm_window_close(&window);
    tm_source_close(source);
}

RUN_TESTS()

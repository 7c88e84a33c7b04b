/* Interned strings: each text has one id as long as the table exists. */
#include "tmerge/names.h"

static void check_text(const tm_names *names, uint32_t id, const char *bytes, size_t size) {
    tm_text text = tm_names_text(names, id);
    assert_int_equal(text.size, size);
    if (size > 0)
        assert_memory_equal(text.bytes, bytes, size);
    assert_int_equal(text.bytes[size], '\0');
}

TEST(the_empty_string_is_id_0_from_the_start) {
    tm_names *names = tm_names_create();
    assert_int_equal(tm_names_count(names), 1);
    assert_int_equal(tm_names_intern(names, "", 0), TM_NO_NAME);
    assert_int_equal(tm_names_intern_string(names, ""), TM_NO_NAME);
    assert_int_equal(tm_names_intern_string(names, NULL), TM_NO_NAME);
    assert_int_equal(tm_names_count(names), 1);
    check_text(names, TM_NO_NAME, "", 0);
    tm_names_destroy(names);
    tm_names_destroy(NULL);
}

TEST(the_same_bytes_have_the_same_id_and_others_another) {
    static const struct {
        const char *bytes;
        size_t size;
    } different[] = {
        {"a", 1},        {"b", 1},         {"ab", 2},          {"a\0", 2},
        {"a\0b", 3},     {"\0", 1},        {"\0\0", 2},        {"12345678", 8},
        {"12345679", 8}, {"123456789", 9}, {"1234567812", 10}, {"\xff", 1},
    };
    enum { N = sizeof different / sizeof *different };
    tm_names *names = tm_names_create();
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(tm_names_intern(names, different[i].bytes, different[i].size), i + 1);
    assert_int_equal(tm_names_count(names), N + 1);
    for (uint32_t i = 0; i < N; i++)
        check_text(names, i + 1, different[i].bytes, different[i].size);
    assert_int_equal(tm_names_intern_string(names, "ab"), 3);
    tm_names_destroy(names);
}

TEST(the_bytes_are_copied) {
    tm_names *names = tm_names_create();
    char text[] = "kernel";
    uint32_t id = tm_names_intern(names, text, 6);
    text[0] = 'K';
    check_text(names, id, "kernel", 6);
    assert_int_not_equal(tm_names_intern(names, text, 6), id);
    tm_names_destroy(names);
}

TEST(texts_of_every_length_differ_in_each_single_byte) {
    enum { LONGEST = 40 };
    char text[LONGEST];
    tm_names *names = tm_names_create();
    uint32_t expected = 1;
    for (int round = 0; round < 2; round++, expected = 1)
        for (size_t size = 1; size <= LONGEST; size++)
            for (size_t at = 0; at < size; at++) {
                memset(text, 'x', sizeof text);
                text[at] = 'y';
                assert_int_equal(tm_names_intern(names, text, size), expected++);
            }
    assert_int_equal(tm_names_count(names), 1 + LONGEST * (LONGEST + 1) / 2);
    tm_names_destroy(names);
}

TEST(ids_and_texts_survive_the_growth_of_the_table) {
    enum { N = 200000 };
    tm_names *names = tm_names_create();
    char text[32];
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < N; i++) {
            int size = snprintf(text, sizeof text, "aten::op_%u", (unsigned)i);
            assert_int_equal(tm_names_intern(names, text, (size_t)size), i + 1);
        }
    assert_int_equal(tm_names_count(names), N + 1);
    for (uint32_t i = 0; i < N; i += 997) {
        int size = snprintf(text, sizeof text, "aten::op_%u", (unsigned)i);
        check_text(names, i + 1, text, (size_t)size);
    }
    tm_names_destroy(names);
}

TEST(a_text_may_be_longer_than_any_block_of_memory) {
    enum { SIZE = 3 << 20 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    memset(text, 'k', SIZE);
    tm_names *names = tm_names_create();
    assert_int_equal(tm_names_intern_string(names, "first"), 1);
    assert_int_equal(tm_names_intern(names, text, SIZE), 2);
    assert_int_equal(tm_names_intern(names, text, SIZE - 1), 3);
    assert_int_equal(tm_names_intern(names, text, SIZE), 2);
    check_text(names, 2, text, SIZE);
    check_text(names, 1, "first", 5);
    tm_names_destroy(names);
    free(text);
}

RUN_TESTS()

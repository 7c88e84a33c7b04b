/* Vectors, the arena, pages, hashes, drift and error records. */
#include <limits.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/memory_pages.h"
#include "base/reach.h"
#include "base/vec.h"
#include "tmerge/status.h"
#include "tmerge/timeline.h"

TEST(a_vector_keeps_its_elements_while_it_grows) {
    tm_vec vec = TM_VEC(uint32_t);
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t *added = tm_vec_push(&vec);
        assert_non_null(added);
        *added = i * 7;
    }
    assert_int_equal(vec.n, 10000);
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(((uint32_t *)vec.data)[i], i * 7);
    tm_vec_free(&vec);
    assert_null(vec.data);
    assert_int_equal(vec.n, 0);
    assert_int_equal(vec.cap, 0);
    assert_int_equal(vec.size, sizeof(uint32_t)); /* the freed vector can be filled again */
}

TEST(appending_copies_many_or_makes_room_for_them) {
    tm_vec vec = TM_VEC(uint16_t);
    const uint16_t some[] = {1, 2, 3};
    assert_non_null(tm_vec_append(&vec, NULL, 0));
    assert_non_null(tm_vec_append(&vec, some, 0));
    assert_int_equal(vec.n, 0);
    assert_non_null(tm_vec_append(&vec, some, 3));
    uint16_t *room = tm_vec_append(&vec, NULL, 2);
    assert_ptr_equal(room, (uint16_t *)vec.data + 3);
    room[0] = 4;
    room[1] = 5;
    assert_int_equal(vec.n, 5);
    const uint16_t expected[] = {1, 2, 3, 4, 5};
    assert_memory_equal(vec.data, expected, sizeof expected);
    tm_vec_free(&vec);
}

TEST(a_vector_that_cannot_grow_stays_as_it_was) {
    tm_vec vec = TM_VEC(uint64_t);
    const uint64_t value = 42;
    assert_non_null(tm_vec_append(&vec, &value, 1));
    const tm_vec before = vec;
    const size_t impossible[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 8 + 1}; /* x 8 overflows */
    for (size_t i = 0; i < COUNT(impossible); i++) {
        assert_false(tm_vec_reserve(&vec, impossible[i]));
        assert_null(tm_vec_append(&vec, NULL, impossible[i]));
        assert_memory_equal(&vec, &before, sizeof vec);
    }
    assert_int_equal(*(uint64_t *)vec.data, 42);
    tm_vec_free(&vec);
}

TEST(trimming_gives_back_what_is_not_used) {
    tm_vec vec = TM_VEC(uint32_t);
    assert_true(tm_vec_reserve(&vec, 1000));
    const uint32_t some[] = {5, 6, 7};
    assert_non_null(tm_vec_append(&vec, some, 3));
    tm_vec_trim(&vec);
    assert_int_equal(vec.cap, 3);
    assert_memory_equal(vec.data, some, sizeof some);
    vec.n = 0;
    tm_vec_trim(&vec);
    assert_null(vec.data);
    assert_int_equal(vec.cap, 0);
    tm_vec_trim(&vec);
    tm_vec_free(&vec);
}

TEST(pieces_of_an_arena_are_aligned_and_apart) {
    enum { N = 3000 };
    tm_arena arena = {0};
    unsigned char *pieces[N];
    for (size_t i = 0; i < N; i++) {
        size_t size = i * 37 % 400; /* 0 to 399 bytes, about 600 KB in all: several blocks */
        pieces[i] = tm_arena_alloc(&arena, size);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        if (size > 0)
            memset(pieces[i], (int)(i % 251), size);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < i * 37 % 400; k++)
            assert_int_equal(pieces[i][k], i % 251);
    tm_arena_free(&arena);
    assert_null(arena.blocks);
}

TEST(pieces_of_pages_begin_on_lines_and_are_apart) {
    enum { N = 60, BYTES = 70001 }; /* 4.2 MB in all: several blocks */
    tm_pages pages = {0};
    unsigned char *pieces[N];
    for (int i = 0; i < N; i++) {
        tm_pages_undo(&pages, tm_pages_alloc(&pages, BYTES)); /* the next allocation reuses it */
        pieces[i] = tm_pages_alloc(&pages, BYTES);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % TM_LINE, 0);
        tm_pages_make(pieces[i], BYTES);
        memset(pieces[i], i, BYTES);
    }
    for (int i = 0; i < N; i++)
        for (size_t k = 0; k < BYTES; k++)
            assert_int_equal(pieces[i][k], i);
    assert_true(pages.taken < (size_t)3 * N * BYTES);
    assert_null(tm_pages_alloc(&pages, SIZE_MAX));
    assert_null(tm_pages_alloc(&pages, SIZE_MAX / 2));
    tm_pages_free(&pages);
    assert_null(pages.blocks.data);
}

TEST(a_large_piece_does_not_end_the_block_of_small_ones) {
    tm_arena arena = {0};
    char *first = tm_arena_alloc(&arena, 16);
    char *large = tm_arena_alloc(&arena, 1 << 20);
    char *second = tm_arena_alloc(&arena, 16);
    assert_non_null(first);
    assert_non_null(large);
    memset(large, 1, 1 << 20);
    assert_ptr_equal(second, first + 16);
    tm_arena_free(&arena);
}

TEST(an_arena_copies_bytes_and_terminates_them) {
    tm_arena arena = {0};
    char *copy = tm_arena_copy(&arena, "a\0bcd", 4);
    assert_memory_equal(copy, "a\0bc", 5);
    assert_string_equal(tm_arena_copy(&arena, NULL, 0), "");
    tm_arena_free(&arena);
    assert_string_equal(tm_arena_copy(&arena, "again", 5), "again");
    tm_arena_free(&arena);
}

TEST(an_arena_refuses_sizes_that_wrap_round) {
    tm_arena arena = {0};
    for (size_t less = 0; less < 40; less++) {
        assert_null(tm_arena_alloc(&arena, SIZE_MAX - less));
        assert_null(tm_arena_copy(&arena, "", SIZE_MAX - less));
    }
    tm_arena_free(&arena);
}

TEST(a_failure_fills_the_record_and_is_returned) {
    tm_error err;
    memset(&err, 'x', sizeof err);
    assert_int_equal(tm_fail(&err, TM_ERR_INPUT, "a/b.json", 12, "bad %s at %d", "byte", 7),
                     TM_ERR_INPUT);
    assert_int_equal(err.status, TM_ERR_INPUT);
    assert_int_equal(err.offset, 12);
    assert_string_equal(err.path, "a/b.json");
    assert_string_equal(err.message, "bad byte at 7");
    assert_int_equal(tm_fail(NULL, TM_ERR_USAGE, "a", 1, "nobody asks"), TM_ERR_USAGE);
    assert_int_equal(tm_fail_memory(&err), TM_ERR_FAULT);
    assert_int_equal(err.status, TM_ERR_FAULT);
    assert_int_equal(err.offset, -1);
    assert_string_equal(err.path, "");
    assert_string_equal(err.message, "out of memory");
    assert_int_equal(tm_fail_memory(NULL), TM_ERR_FAULT);
}

TEST(an_overlong_path_keeps_its_end_and_a_message_its_start) {
    tm_error err;
    char path[TM_PATH_MAX + 100], message[TM_MESSAGE_MAX + 100];
    memset(path, 'p', sizeof path);
    memcpy(path + sizeof path - 10, "last.json", 10);
    memset(message, 'm', sizeof message);
    message[sizeof message - 1] = '\0';
    (void)tm_fail(&err, TM_ERR_INPUT, path, -1, "%s", message);
    assert_int_equal(strlen(err.path), TM_PATH_MAX - 1);
    assert_string_equal(err.path, path + sizeof path - TM_PATH_MAX);
    assert_int_equal(strlen(err.message), TM_MESSAGE_MAX - 1);
    path[TM_PATH_MAX - 1] = '\0'; /* the longest path that fits is kept whole */
    (void)tm_fail(&err, TM_ERR_INPUT, path, -1, "short");
    assert_string_equal(err.path, path);
}

TEST(an_error_is_reported_with_the_parts_that_it_has) {
    static const struct {
        const char *path;
        int64_t offset;
        const char *expected;
    } cases[] = {
        {"t.json", 5000000000, "t.json: byte 5000000000: it broke"},
        {"t.json", 0, "t.json: byte 0: it broke"},
        {"t.json", -1, "t.json: it broke"},
        {NULL, -1, "it broke"},
        {NULL, 7, "it broke"}, /* without a file the position is not printed */
        {"", 7, "it broke"},
    };
    char text[64], small[9];
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_error err;
        (void)tm_fail(&err, TM_ERR_INPUT, cases[i].path, cases[i].offset, "it broke");
        tm_error_text(&err, text, sizeof text);
        assert_string_equal(text, cases[i].expected);
        memset(small, 'x', sizeof small);
        tm_error_text(&err, small, 5);
        assert_memory_equal(small, cases[i].expected, 4);
        assert_memory_equal(small + 4, "\0xxxx", 5);
    }
}

TEST(drift_is_rounded_half_away_from_zero) {
    const struct {
        int64_t since;
        double ppb;
        int64_t is;
    } cases[] = {{1, 5e8, 2},
                 {-1, 5e8, -2},
                 {1, 499999999, 1},
                 {3, -5e8, 1},
                 {1000000001, 1e3, 1000001001},
                 {INT64_C(1) << 60, 1e9, INT64_C(1) << 61}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tm_rank_clock clock = {.middle_ns = 70, .offset_ns = 70, .drift_ppb = cases[i].ppb};
        assert_int_equal(tm_rank_clock_true(&clock, 70 + cases[i].since), 140 + cases[i].is);
    }
}

/* Expected values from the authors' tests: isthe.com/chongo/src/fnv/test_fnv.c. */
TEST(a_hash_is_fnv_1a_and_goes_on_from_another) {
    assert_true(tm_hash(TM_HASH_BEGIN, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(tm_hash(TM_HASH_BEGIN, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    uint64_t foo = tm_hash(TM_HASH_BEGIN, "foo", 3);
    assert_true(tm_hash(foo, "bar", 3) == UINT64_C(0x85944171f73967e8));
}

TEST(a_mixed_hash_goes_on_from_another_with_every_byte) {
    uint64_t ab = tm_hash_mixed(0, "ab", 2), a = tm_hash_mixed(0, "a", 1);
    assert_true(ab != a);
    assert_true(tm_hash_mixed(a, "b", 1) != tm_hash_mixed(0, "b", 1));
    assert_true(tm_hash_mixed(a, "b", 1) == tm_hash_mixed(a, "b", 1));
    assert_true(tm_hash_mixed(0, "ba", 2) != ab);
}

/* Compared with a linear search. Values repeat, and some are below every requested value. */
TEST(the_nearest_before_a_place_that_reaches_as_far_is_found) {
    int64_t v[40];
    for (size_t n = 0; n < COUNT(v); n++) {
        tm_reach reach;
        assert_true(tm_reach_init(&reach, n));
        for (size_t i = 0; i < n; i++)
            tm_reach_put(&reach, i, v[i] = (int64_t)(i * 17 % 11) - 2);
        tm_reach_ready(&reach);
        for (size_t end = 0; end <= n; end++)
            for (int64_t wanted = -1; wanted < 10; wanted++) {
                size_t i = end;
                while (i > 0 && v[i - 1] < wanted)
                    i--;
                assert_true(tm_reach_before(&reach, end, wanted) == (i ? i - 1 : TM_REACH_NONE));
            }
        tm_reach_free(&reach);
    }
}

RUN_TESTS()

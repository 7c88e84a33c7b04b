/* Keys and their numbers. */
#include "base/keys.h"

TEST(keys_are_numbered_in_the_order_in_which_they_come) {
    tm_keys keys = TM_KEYS(uint32_t);
    const uint32_t coming[] = {9, 4, 9, 0, 4, UINT32_MAX, 9};
    const uint32_t expected[] = {0, 1, 0, 2, 1, 3, 0};
    assert_int_equal(tm_keys_find(&keys, &coming[0]), TM_NO_KEY);
    for (size_t i = 0; i < COUNT(coming); i++)
        assert_int_equal(tm_keys_add(&keys, &coming[i]), expected[i]);
    assert_int_equal(tm_keys_find(&keys, &coming[1]), 1);
    assert_int_equal(tm_keys_find(&keys, &(uint32_t){5}), TM_NO_KEY);
    assert_int_equal(keys.keys.n, 4);
    assert_int_equal(((const uint32_t *)keys.keys.data)[3], UINT32_MAX);
    tm_keys_free(&keys);
}

/* A key has seven words of four bytes. Its last byte matters as much as its first. */
TEST(all_bytes_of_a_key_count_and_numbers_stay_when_the_table_grows) {
    typedef struct wide {
        int32_t words[7];
    } wide;
    tm_keys keys = TM_KEYS(wide);
    enum { N = 5000 };
    for (int round = 0; round < 2; round++)
        for (int32_t i = 0; i < N; i++) {
            wide key = {{0}};
            key.words[i % 7] = i + 1;
            assert_int_equal(tm_keys_add(&keys, &key), i);
        }
    assert_int_equal(keys.keys.n, N);
    tm_keys_free(&keys);
    assert_null(keys.slots);
}

TEST(keys_of_every_size_differ_in_each_single_byte) {
    for (size_t size = 1; size <= 40; size++) {
        tm_keys keys = {.keys = {.size = size}};
        for (int round = 0; round < 2; round++)
            for (size_t at = 0; at < size; at++) {
                char key[40] = {0};
                key[at] = 1;
                assert_int_equal(tm_keys_add(&keys, key), at);
            }
        assert_int_equal(keys.keys.n, size);
        tm_keys_free(&keys);
    }
}

TEST(every_key_has_a_value_that_begins_at_zero) {
    tm_keys keys = TM_KEYS(uint32_t);
    tm_vec sums = TM_VEC(int64_t);
    for (int64_t i = 1; i <= 1000; i++) {
        const uint32_t key = (uint32_t)(i % 3);
        int64_t *sum = tm_keys_value(&keys, &sums, &key);
        assert_non_null(sum);
        *sum += i;
    }
    /* keys are in the order 1, 2, 0; sums are 1 + 4 + ... + 1000, 2 + ... + 998, 3 + ... + 999 */
    const int64_t expected[] = {334 * 1001 / 2, 333 * 1000 / 2, 333 * 1002 / 2};
    assert_int_equal(sums.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(((const int64_t *)sums.data)[i], expected[i]);
    tm_vec_free(&sums);
    tm_keys_free(&keys);
}

RUN_TESTS()

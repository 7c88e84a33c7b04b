/* Keys and their numbers. */
#include "analysis/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void keys_are_numbered_in_the_order_in_which_they_come(void **state) {
    (void)state;
    tm_keys keys = TM_KEYS(uint32_t);
    const uint32_t coming[] = {9, 4, 9, 0, 4, UINT32_MAX, 9};
    const uint32_t expected[] = {0, 1, 0, 2, 1, 3, 0};
    for (size_t i = 0; i < sizeof coming / sizeof *coming; i++)
        assert_int_equal(tm_keys_add(&keys, &coming[i]), expected[i]);
    assert_int_equal(keys.keys.n, 4);
    assert_int_equal(((const uint32_t *)keys.keys.data)[3], UINT32_MAX);
    tm_keys_free(&keys);
}

/* Seven words of four bytes: the last byte counts as much as the first. */
static void all_bytes_of_a_key_count_and_numbers_stay_when_the_table_grows(void **state) {
    (void)state;
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_numbered_in_the_order_in_which_they_come),
        cmocka_unit_test(all_bytes_of_a_key_count_and_numbers_stay_when_the_table_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

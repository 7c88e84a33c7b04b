/* The order of numbers, and places in sorted arrays. */
#include "base/sorted.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void numbers_whose_difference_does_not_fit_have_an_order(void **state) {
    (void)state;
    assert_true(tm_order_i64(INT64_MIN, INT64_MAX) < 0);
    assert_true(tm_order_i64(INT64_MAX, -1) > 0);
    assert_int_equal(tm_order_i64(-7, -7), 0);
    assert_true(tm_order_u64(1, UINT64_MAX) < 0); /* as signed numbers 1 and -1 */
    assert_true(tm_order_real(0.25, 0.125) > 0);  /* as whole numbers 0 and 0 */
}

static void a_lower_bound_is_the_first_of_equals(void **state) {
    (void)state;
    static const int64_t values[] = {-5, 2, 2, 2, 9};
    static const struct {
        size_t n;
        int64_t key;
        size_t expected;
    } cases[] = {{0, 2, 0}, {1, -5, 0}, {1, 0, 1},  {5, INT64_MIN, 0}, {5, -5, 0}, {5, -4, 1},
                 {5, 2, 1}, {5, 3, 4},  {5, 10, 5}, {4, 2, 1},         {4, 3, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(tm_lower_bound(values, cases[i].n, cases[i].key), cases[i].expected);
}

typedef struct stay {
    char name;
    int64_t until_ns;
} stay;

static bool is_over(const void *element, const void *ns) {
    return ((const stay *)element)->until_ns <= *(const int64_t *)ns;
}

/* One that ends at the very moment is over; nothing is read of an array of none. */
static void bisection_finds_the_first_of_which_the_answer_is_no(void **state) {
    (void)state;
    static const stay stays[] = {{'a', 10}, {'b', 20}, {'c', 30}};
    for (int64_t ns = 0; ns < 40; ns++)
        assert_int_equal(tm_bisect(stays, 3, sizeof *stays, &ns, is_over), ns / 10);
    assert_int_equal(tm_bisect(NULL, 0, sizeof *stays, NULL, is_over), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_whose_difference_does_not_fit_have_an_order),
        cmocka_unit_test(a_lower_bound_is_the_first_of_equals),
        cmocka_unit_test(bisection_finds_the_first_of_which_the_answer_is_no),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

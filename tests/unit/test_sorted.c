/* Order of numbers, and bisection of sorted arrays. */
#include "base/sorted.h"

TEST(numbers_whose_difference_does_not_fit_have_an_order) {
    assert_true(tm_order_i64(INT64_MIN, INT64_MAX) < 0);
    assert_true(tm_order_i64(INT64_MAX, -1) > 0);
    assert_int_equal(tm_order_i64(-7, -7), 0);
    assert_true(tm_order_u64(1, UINT64_MAX) < 0); /* as signed numbers, these are 1 and -1 */
    assert_true(tm_order_real(0.25, 0.125) > 0);  /* as whole numbers, both are 0 */
}

TEST(a_lower_bound_is_the_first_of_equals) {
    static const int64_t values[] = {-5, 2, 2, 2, 9};
    static const struct {
        size_t n;
        int64_t key;
        size_t expected;
    } cases[] = {{0, 2, 0}, {1, -5, 0}, {1, 0, 1},  {5, INT64_MIN, 0}, {5, -5, 0}, {5, -4, 1},
                 {5, 2, 1}, {5, 3, 4},  {5, 10, 5}, {4, 2, 1},         {4, 3, 4}};
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(tm_lower_bound(values, cases[i].n, cases[i].key), cases[i].expected);
}

typedef struct stay {
    char name;
    int64_t until_ns;
} stay;

static bool is_over(const void *element, const void *ns) {
    return ((const stay *)element)->until_ns <= *(const int64_t *)ns;
}

/* An element that ends at exactly this time is before it. An empty array is not read. */
TEST(bisection_finds_the_first_of_which_the_answer_is_no) {
    static const stay stays[] = {{'a', 10}, {'b', 20}, {'c', 30}};
    for (int64_t ns = 0; ns < 40; ns++)
        assert_int_equal(tm_bisect(stays, 3, sizeof *stays, &ns, is_over), ns / 10);
    assert_int_equal(tm_bisect(NULL, 0, sizeof *stays, NULL, is_over), 0);
}

typedef struct card {
    int value;
    size_t at; /* index before sorting */
} card;

static int by_value(const void *a, const void *b) {
    return tm_order_i64(((const card *)a)->value, ((const card *)b)->value);
}

/* Sorts rows that are already sorted, or in which every third element is before its neighbour. */
TEST(few_rows_and_many_are_sorted) {
    static const size_t rows[] = {1, 2, 3, TM_SORT_RUNS, TM_SORT_RUNS + 1, TM_SORT_RUNS + 2, 100};
    for (size_t n = 1; n < 400; n += 57)
        for (size_t i = 0; i < 2 * COUNT(rows); i++) {
            const size_t n_rows = rows[i / 2], length = (n + n_rows - 1) / n_rows;
            card cards[400];
            bool seen[400] = {false};
            for (size_t k = 0; k < n; k++) {
                const size_t place = k % length;
                cards[k] = (card){(int)(i % 2 && place % 3 == 1 ? place - 1 : place + 1) / 2, k};
            }
            tm_sort(cards, n, sizeof *cards, by_value);
            for (size_t k = 0; k < n; k++) {
                assert_false(seen[cards[k].at]);
                seen[cards[k].at] = true;
                assert_true(k == 0 || cards[k - 1].value <= cards[k].value);
            }
        }
}

RUN_TESTS()

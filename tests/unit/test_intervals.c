/* Interval sets: cases computed by hand, and random sets compared with one bit per nanosecond. */
#include "base/intervals.h"

/* Parses "0-5 7-9": adds the intervals [0, 5) and [7, 9), in this order. */
static tm_intervals parse(const char *text) {
    tm_intervals set = TM_INTERVALS();
    while (*text) {
        char *end;
        int64_t begin = strtoll(text, &end, 10);
        assert_int_equal(*end, '-');
        int64_t after = strtoll(end + 1, &end, 10);
        assert_true(tm_intervals_add(&set, begin, after));
        text = *end == ' ' ? end + 1 : end;
    }
    return set;
}

static void assert_set(const tm_intervals *set, const char *expected) {
    tm_intervals wanted = TM_INTERVALS();
    while (*expected) { /* built without tm_intervals_add, which is under test */
        char *end;
        tm_interval *added = tm_vec_push(&wanted);
        added->begin_ns = strtoll(expected, &end, 10);
        added->end_ns = strtoll(end + 1, &end, 10);
        expected = *end == ' ' ? end + 1 : end;
    }
    assert_int_equal(set->n, wanted.n);
    if (wanted.n > 0)
        assert_memory_equal(set->data, wanted.data, wanted.n * sizeof(tm_interval));
    tm_vec_free(&wanted);
}

TEST(normalising_sorts_and_merges_what_touches) {
    static const struct {
        const char *added, *normal;
        int64_t length;
    } cases[] = {
        {"", "", 0},
        {"3-3", "", 0}, /* empty intervals add nothing */
        {"5-2", "", 0}, /* reversed intervals add nothing */
        {"0-5", "0-5", 5},
        {"0-5 5-9", "0-9", 9}, /* touching intervals merge */
        {"0-5 6-9", "0-5 6-9", 8},
        {"6-9 0-5", "0-5 6-9", 8},
        {"5-9 0-5", "0-9", 9},
        {"0-9 2-3", "0-9", 9},
        {"2-3 0-9", "0-9", 9},
        {"2-3 0-9 2-3", "0-9", 9},
        {"0-5 0-7 0-6", "0-7", 7},
        {"0-2 4-6 1-5", "0-6", 6}, /* the last one joins the other two */
        {"4-6 0-2 2-4", "0-6", 6},
        {"8-9 6-7 4-5 2-3 0-1", "0-1 2-3 4-5 6-7 8-9", 5},
        {"0-10 1-2 3-4 9-12 20-21 12-13", "0-13 20-21", 14},
        {"-9--5 -5-0 0-1", "-9-1", 10}, /* negative times */
        {"4-4 1-2 9-9", "1-2", 1},
        {"1700000000000000001-1700000000000000003 1700000000000000003-1700000000000000004",
         "1700000000000000001-1700000000000000004", 3}, /* these times are not exact in a double */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_intervals set = parse(cases[i].added);
        tm_intervals_normalise(&set);
        assert_set(&set, cases[i].normal);
        assert_int_equal(tm_intervals_length(&set), cases[i].length);
        tm_intervals_normalise(&set); /* normalising again changes nothing */
        assert_set(&set, cases[i].normal);
        tm_vec_free(&set);
    }
}

TEST(a_length_can_be_clipped_to_a_window) {
    /* the set is 0-10 20-30 40-50 */
    static const struct {
        int64_t begin, end, length;
    } cases[] = {
        {0, 50, 30}, {-100, 100, 30}, {10, 20, 0}, {30, 40, 0}, {50, 60, 0},
        {-9, 0, 0},  {9, 21, 2},      {5, 45, 20}, {22, 25, 3}, {20, 30, 10},
        {0, 0, 0},   {5, 5, 0},       {29, 40, 1}, {29, 41, 2}, {49, 99, 1},
    };
    tm_intervals set = parse("0-10 20-30 40-50"), empty = TM_INTERVALS();
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(tm_intervals_length_in(&set, cases[i].begin, cases[i].end),
                         cases[i].length);
        assert_int_equal(tm_intervals_length_in(&empty, cases[i].begin, cases[i].end), 0);
    }
    tm_vec_free(&set);
}

/* An interval that ends at the time counts as before it. */
TEST(the_first_interval_after_a_time_is_found) {
    tm_intervals set = parse("0-5 7-9");
    static const size_t expected[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2}; /* at times 0, 1, ... */
    for (int64_t ns = 0; ns < (int64_t)COUNT(expected); ns++)
        assert_int_equal(tm_intervals_first_after(&set, ns), expected[ns]);
    tm_vec_free(&set);
    assert_int_equal(tm_intervals_first_after(&set, 0), 0);
}

TEST(sets_are_intersected_subtracted_and_united) {
    static const struct {
        const char *a, *b, *both, *first_alone, *either;
    } cases[] = {
        {"", "", "", "", ""},
        {"0-5", "", "", "0-5", "0-5"},
        {"", "0-5", "", "", "0-5"},
        {"0-5", "0-5", "0-5", "", "0-5"},
        {"0-5", "5-9", "", "0-5", "0-9"}, /* touching intervals have nothing in common */
        {"0-5", "6-9", "", "0-5", "0-5 6-9"},
        {"0-9", "3-5", "3-5", "0-3 5-9", "0-9"}, /* the difference has a hole */
        {"3-5", "0-9", "3-5", "", "0-9"},
        {"0-9", "0-5", "0-5", "5-9", "0-9"},
        {"0-9", "5-9", "5-9", "0-5", "0-9"},
        {"0-5", "3-9", "3-5", "0-3", "0-9"},
        {"3-9", "0-5", "3-5", "5-9", "0-9"},
        {"0-3 5-8 10-13", "2-6 12-20", "2-3 5-6 12-13", "0-2 6-8 10-12", "0-8 10-20"},
        {"0-20", "1-2 3-4 19-25", "1-2 3-4 19-20", "0-1 2-3 4-19", "0-25"},
        {"0-1 2-3 4-5", "1-2 3-4", "", "0-1 2-3 4-5", "0-5"}, /* the sets fill each other's gaps */
        {"0-1 2-3 4-5 6-7", "0-7", "0-1 2-3 4-5 6-7", "", "0-7"},
        {"0-7", "0-1 2-3 4-5 6-7", "0-1 2-3 4-5 6-7", "1-2 3-4 5-6", "0-7"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_intervals a = parse(cases[i].a), b = parse(cases[i].b);
        tm_intervals out = parse("100-200"); /* old content is discarded */
        assert_true(tm_intervals_intersect(&a, &b, &out));
        assert_set(&out, cases[i].both);
        assert_true(tm_intervals_intersect(&b, &a, &out));
        assert_set(&out, cases[i].both);
        assert_true(tm_intervals_subtract(&a, &b, &out));
        assert_set(&out, cases[i].first_alone);
        assert_true(tm_intervals_unite(&a, &b, &out));
        assert_set(&out, cases[i].either);
        assert_true(tm_intervals_unite(&b, &a, &out));
        assert_set(&out, cases[i].either);
        tm_vec_free(&a);
        tm_vec_free(&b);
        tm_vec_free(&out);
    }
}

enum { SPAN = 96 }; /* nanoseconds that the random sets cover */

static uint32_t next(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* Returns up to 12 intervals in any order; bits[t] is set if t is in one of them. */
static tm_intervals random_set(uint32_t *seed, bool bits[SPAN]) {
    tm_intervals set = TM_INTERVALS();
    memset(bits, 0, SPAN * sizeof *bits);
    for (uint32_t n = next(seed) % 13; n > 0; n--) {
        uint32_t begin = next(seed) % SPAN, end = begin + next(seed) % 20;
        end = end < SPAN ? end : SPAN;
        assert_true(tm_intervals_add(&set, begin, end));
        for (uint32_t t = begin; t < end; t++)
            bits[t] = true;
    }
    tm_intervals_normalise(&set);
    return set;
}

/* Asserts that the set is normal, and has exactly these nanoseconds. Returns its length. */
static int64_t assert_bits(const tm_intervals *set, const bool bits[SPAN]) {
    const tm_interval *v = set->data;
    int64_t length = 0;
    bool found[SPAN] = {false};
    for (size_t i = 0; i < set->n; i++) {
        assert_true(v[i].begin_ns < v[i].end_ns);
        assert_true(v[i].begin_ns >= 0 && v[i].end_ns <= SPAN);
        if (i > 0)
            assert_true(v[i - 1].end_ns < v[i].begin_ns);
        for (int64_t t = v[i].begin_ns; t < v[i].end_ns; t++)
            found[t] = true;
    }
    assert_memory_equal(found, bits, sizeof found);
    for (int t = 0; t < SPAN; t++)
        length += bits[t];
    assert_int_equal(tm_intervals_length(set), length);
    return length;
}

/* @param other  NULL if there is only one set
 * @param bits   [t] whether time t is in @p set, and in @p other unless it is NULL */
static void check_window(const tm_intervals *set, const tm_intervals *other, const bool bits[SPAN],
                         uint32_t *seed) {
    int64_t begin = next(seed) % SPAN, end = begin + next(seed) % 40, length = 0;
    for (int64_t t = begin; t < end && t < SPAN; t++)
        length += bits[t];
    assert_int_equal(other ? tm_intervals_common_in(set, other, begin, end)
                           : tm_intervals_length_in(set, begin, end),
                     length);
}

TEST(random_sets_agree_with_one_bit_for_each_nanosecond) {
    uint32_t seed = 20240917;
    tm_intervals out = TM_INTERVALS();
    for (int round = 0; round < 3000; round++) {
        bool x[SPAN], y[SPAN], both[SPAN], alone[SPAN], either[SPAN];
        tm_intervals a = random_set(&seed, x), b = random_set(&seed, y);
        for (int t = 0; t < SPAN; t++) {
            both[t] = x[t] && y[t];
            alone[t] = x[t] && !y[t];
            either[t] = x[t] || y[t];
        }
        int64_t a_length = assert_bits(&a, x), b_length = assert_bits(&b, y);
        assert_true(tm_intervals_intersect(&a, &b, &out));
        int64_t both_length = assert_bits(&out, both);
        assert_true(tm_intervals_subtract(&a, &b, &out));
        assert_int_equal(a_length, both_length + assert_bits(&out, alone));
        assert_true(tm_intervals_unite(&a, &b, &out));
        assert_int_equal(a_length + b_length, both_length + assert_bits(&out, either));
        check_window(&a, NULL, x, &seed);
        check_window(&a, &b, both, &seed);
        tm_vec_free(&a);
        tm_vec_free(&b);
    }
    tm_vec_free(&out);
}

RUN_TESTS()

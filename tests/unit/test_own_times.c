/* Excess of a member over the others, and the units in which members are compared. */
#include "analysis/stragglers/own_times.h"

#include "analysis/stragglers/p_values.h"

static const struct {
    size_t n;
    int64_t ns[5], excess[5];
} excesses[] = {
    {2, {10, 30}, {-20, 20}},
    /* the medians of the three other members are 3, 3, 2 and 2 */
    {4, {1, 2, 3, 10}, {-2, -1, 1, 8}},
    /* the means of the two other members are 30, 25 and 15 */
    {3, {10, 20, 40}, {-20, -5, 25}},
    /* one of the two equal values remains among the others, whose means are 7, 7, 5 */
    {3, {5, 5, 9}, {-2, -2, 4}},
    /* means of the middle two of four others: 2.5, 3.5, 3.5, 3, 2.5, with halves rounded up */
    {5, {4, 1, 2, 3, 9}, {1, -3, -2, 0, 6}},
};

TEST(excess_is_over_the_median_of_the_others) {
    for (size_t t = 0; t < COUNT(excesses); t++) {
        int64_t ns[10] = {0}, sorted[5], out[5];
        size_t n = excesses[t].n;
        memcpy(ns + n, excesses[t].ns, n * sizeof *ns);
        tm_own_times_excess(&(tm_own_times){.n = n, .n_rows = 2, .ns = ns}, 1, sorted, out);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(out[i], excesses[t].excess[i]);
    }
}

TEST(a_member_is_taken_out) {
    static const int64_t left[] = {1, 3, 4, 6};
    int64_t ns[] = {1, 2, 3, 4, 5, 6}, members[] = {10, 20, 30};
    tm_own_times times = {.n = 3, .n_rows = 2, .ns = ns, .members = members};
    tm_own_times_drop(&times, 1);
    assert_int_equal(times.n, 2);
    assert_memory_equal(ns, left, sizeof left);
    assert_int_equal(members[0], 10);
    assert_int_equal(members[1], 30);
}

/* Stretches of a group, of 1,000 to 1,099 ns each, and their steps. Each step between the first and
 * the last has `usual` stretches. */
typedef struct job {
    size_t n, n_steps, usual, first, last; /* n_steps 0: all `usual` are outside of steps */
    size_t alike;      /* number of consecutive stretches that are equal; 0: none are */
    tm_unit_kind unit; /* expected, as are the next three */
    size_t n_units;
    int64_t from, to; /* expected, for the first unit; steps count from 5, operations from 0 */
} job;

static const job jobs[] = {
    /* Enough steps: n^(1 - n_steps) is at most 0.001: 2^-10 and 4^-5 = 0.00098, 10^-3, 32^-2. */
    {2, 11, 3, 3, 3, 0, TM_UNIT_STEP, 11, 5, 5},
    {4, 6, 3, 3, 3, 0, TM_UNIT_STEP, 6, 5, 5},
    {10, 4, 3, 3, 3, 0, TM_UNIT_STEP, 4, 5, 5},
    {32, 3, 3, 3, 3, 0, TM_UNIT_STEP, 3, 5, 5},
    /* One step less is too few (31^-2 = 0.00104), so units are stretches, which are independent. */
    {2, 10, 6, 6, 6, 0, TM_UNIT_STRETCH, 60, 0, 0},
    {4, 5, 8, 8, 8, 0, TM_UNIT_STRETCH, 40, 0, 0},
    {31, 3, 4, 4, 4, 0, TM_UNIT_STRETCH, 12, 0, 0},
    /* Here the stretches of a step are dependent, so units are steps. */
    {4, 5, 8, 8, 8, 8, TM_UNIT_STEP, 5, 5, 5},
    {8, 3, 4, 4, 4, 4, TM_UNIT_STEP, 3, 5, 5},
    /* The first and last step count if they have more than half of 4 stretches. */
    {4, 7, 4, 3, 3, 0, TM_UNIT_STEP, 7, 5, 5},
    {4, 7, 4, 2, 4, 0, TM_UNIT_STEP, 6, 6, 6},
    {4, 8, 4, 1, 2, 0, TM_UNIT_STEP, 6, 6, 6},
    {4, 4, 8, 3, 8, 0, TM_UNIT_STRETCH, 24, 3, 3},
    /* One step, or none: blocks. Stretches are independent, so a block is one stretch. */
    {4, 1, 200, 200, 200, 0, TM_UNIT_BLOCK, 200, 0, 0},
    {4, 0, 200, 0, 0, 0, TM_UNIT_BLOCK, 200, 0, 0},
    {2, 0, 300, 0, 0, 0, TM_UNIT_BLOCK, 300, 0, 0},
    /* Units x members are at most TM_UNITS_MAX = 16384. For 256 members this is 64 units, so 4 of
     * 200 steps are joined; for 4 it is 4096 units, so 2 of 5000; for 1024 it is TM_UNITS_LEAST =
     * 64, so 3 of 190. The first unit is from its first to its last step. */
    {256, 200, 1, 1, 1, 0, TM_UNIT_STEP, 50, 5, 8},
    {4, 5000, 1, 1, 1, 0, TM_UNIT_STEP, 2500, 5, 6},
    {1024, 190, 1, 1, 1, 0, TM_UNIT_STEP, 63, 5, 7},
};

static tm_own_times stretches_of(const job *j, int64_t *steps) {
    tm_own_times times;
    tm_error err;
    size_t row = 0, n_rows = j->n_steps < 2 ? j->usual : j->first + j->last;
    n_rows += j->n_steps > 2 ? (j->n_steps - 2) * j->usual : 0;
    assert_int_equal(tm_own_times_create(j->n, n_rows, &times, &err), TM_OK);
    for (size_t s = 0; row < n_rows; s++) {
        size_t end = row + (s == 0 && j->n_steps > 0 ? j->first
                            : s + 1 == j->n_steps    ? j->last
                                                     : j->usual);
        for (; row < end; row++) {
            times.from[row] = times.to[row] = (int64_t)row;
            steps[row] = j->n_steps > 0 ? (int64_t)s + 5 : -1;
            for (size_t i = 0; i < j->n; i++)
                times.ns[row * j->n + i] =
                    1000 + (int64_t)(tm_draw(i, row / (j->alike ? j->alike : 1)) % 100);
        }
    }
    return times;
}

TEST(units_are_the_largest_that_tell_enough) {
    for (size_t t = 0; t < COUNT(jobs); t++) {
        const job *j = &jobs[t];
        int64_t steps[5000], all = 0;
        tm_own_times times = stretches_of(j, steps), units;
        tm_unit_kind unit;
        tm_error err;
        assert_int_equal(tm_own_times_units(&times, steps, &units, &unit, &err), TM_OK);
        if (unit != j->unit || units.n_rows != j->n_units || units.from[0] != j->from ||
            units.to[0] != j->to || units.each != j->to - j->from + 1)
            fail_msg("row %zu: %zu of kind %d, the first %lld to %lld", t, units.n_rows, (int)unit,
                     (long long)units.from[0], (long long)units.to[0]);
        /* A unit has the sum of its stretches. */
        for (size_t row = 0; row < times.n_rows; row++) {
            int64_t number = j->unit == TM_UNIT_STEP ? steps[row] : (int64_t)row;
            all += number >= j->from && number <= j->to ? times.ns[row * j->n + 1] : 0;
        }
        assert_int_equal(units.ns[1], all);
        tm_own_times_free(&units);
        tm_own_times_free(&times);
    }
}

TEST(blocks_are_8_times_as_long_as_members_stay_alike) {
    /* In runs of 10 equal stretches, the correlation at distance k is 1 - k / 10. The sum is 1 + 2
     * (9 + 8 + ... + 1) / 10 = 10, so blocks have 8 x 10 stretches; estimated from a sample, 56 to
     * 104. 4,000 stretches make 38 to 71 blocks. */
    static const job alike = {.n = 4, .usual = 4000, .alike = 10};
    int64_t steps[4000];
    tm_own_times times = stretches_of(&alike, steps), units;
    tm_unit_kind unit;
    tm_error err;
    assert_int_equal(tm_own_times_units(&times, steps, &units, &unit, &err), TM_OK);
    assert_int_equal(unit, TM_UNIT_BLOCK);
    assert_in_range(units.n_rows, 38, 71);
    int64_t length = units.to[0] + 1;
    assert_int_equal(units.each, length);
    assert_in_range(length, 56, 104);
    for (size_t u = 0; u < units.n_rows; u++) {
        assert_int_equal(units.from[u], (int64_t)u * length);
        assert_int_equal(units.to[u], units.from[u] + length - 1);
    }
    tm_own_times_free(&units);
    tm_own_times_free(&times);
}

/* The second of two members has more work. Nothing varies, so units are stretches. */
static const struct {
    size_t n, n_units;
    int64_t steps[5], ns[5][2], units[3][2], to[3];
} shorts[] = {
    /* The larger times are 200, 8, 200, 200 and 9, and a tenth of their mean is 12.3. A shorter
     * stretch is joined with the next one, and the last with the one before. */
    {5,
     3,
     {-1, -1, -1, -1, -1},
     {{100, 200}, {5, 8}, {100, 200}, {100, 200}, {9, 3}},
     {{100, 200}, {105, 208}, {109, 203}},
     {0, 2, 4}},
    /* A stretch is not joined with a stretch of another step. */
    {5,
     3,
     {0, 0, 1, 1, 1},
     {{100, 200}, {5, 8}, {100, 200}, {100, 200}, {9, 3}},
     {{105, 208}, {100, 200}, {109, 203}},
     {1, 2, 4}},
    /* For 200, 8, 3 and 200, a tenth of the mean is 10.3. 8 + 1 are still too short. */
    {4,
     2,
     {0, 0, 0, 1},
     {{100, 200}, {5, 8}, {3, 1}, {100, 200}},
     {{108, 209}, {100, 200}},
     {2, 3}},
    /* For 100, 5, 3 and 100, a tenth of the mean is 5.2, less than 5 + 3. */
    {4,
     3,
     {0, 0, 0, 1},
     {{50, 100}, {2, 5}, {1, 3}, {50, 100}},
     {{50, 100}, {3, 8}, {50, 100}},
     {0, 2, 3}},
    /* A short stretch is dropped if its step has no other. */
    {3, 2, {0, 1, 2}, {{100, 200}, {5, 8}, {100, 200}}, {{100, 200}, {100, 200}}, {0, 2}},
};

TEST(short_stretches_are_joined_inside_their_step) {
    for (size_t t = 0; t < COUNT(shorts); t++) {
        tm_own_times times, units;
        tm_unit_kind unit;
        tm_error err;
        assert_int_equal(tm_own_times_create(2, shorts[t].n, &times, &err), TM_OK);
        memcpy(times.ns, shorts[t].ns, shorts[t].n * 2 * sizeof *times.ns);
        for (size_t row = 0; row < shorts[t].n; row++)
            times.from[row] = times.to[row] = (int64_t)row;
        assert_int_equal(tm_own_times_units(&times, shorts[t].steps, &units, &unit, &err), TM_OK);
        assert_int_equal(unit, shorts[t].steps[0] < 0 ? TM_UNIT_BLOCK : TM_UNIT_STRETCH);
        if (units.n_rows != shorts[t].n_units)
            fail_msg("row %zu has %zu units", t, units.n_rows);
        for (size_t u = 0; u < units.n_rows; u++) {
            assert_int_equal(units.ns[2 * u], shorts[t].units[u][0]);
            assert_int_equal(units.ns[2 * u + 1], shorts[t].units[u][1]);
            assert_int_equal(units.to[u], shorts[t].to[u]);
        }
        tm_own_times_free(&units);
        tm_own_times_free(&times);
    }
}

RUN_TESTS()

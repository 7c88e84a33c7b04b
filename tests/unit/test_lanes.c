/* All instruction sets that this processor supports must give the results of scalar code. */
#include "base/simd_lanes.h"

#include <math.h>

#include "run_fixture.h"

enum { ROWS = 3, WIDEST = 4 * TM_LANES };

static void fill(uint64_t *draws, int64_t *ns, size_t n) {
    for (size_t i = 0; i < n; i++)
        ns[i] = draw(draws, INT64_C(1) << (4 * draw(draws, 15))) - draw(draws, 1000);
}

static void check(const tm_lanes *lanes, uint64_t seed, size_t width) {
    int64_t a[ROWS * WIDEST], b[WIDEST], by[WIDEST], out[ROWS * WIDEST], sum[WIDEST];
    int64_t least[WIDEST], least_set[WIDEST];
    const int64_t far = TM_LANES_FAR;
    fill(&seed, a, COUNT(a));
    fill(&seed, b, COUNT(b));
    fill(&seed, by, COUNT(by));
    const int64_t *rows[WIDEST / TM_LANES];
    for (size_t i = 0; i < COUNT(rows); i++) /* in reverse order */
        rows[i] = by + WIDEST - (i + 1) * TM_LANES;
    for (int zeros = 0; zeros < 2; zeros++) {
        const size_t n = width - seed % TM_LANES; /* n is not a multiple of a row */
        memcpy(out, a, width * sizeof *out);
        lanes->reach(out, zeros ? NULL : b, by, n);
        for (size_t i = 0; i < width; i++) {
            const int64_t other = (zeros ? 0 : b[i]) + by[i];
            assert_int_equal(out[i], i < n && other > a[i] ? other : a[i]);
        }
    }
    double sums[ROWS * WIDEST], most[WIDEST] = {0}, *from = sums, *to = sums + width;
    for (size_t i = 0; i < ROWS * width; i++)
        sums[i] = (double)a[i];
    for (size_t n = 0; n < ROWS; n++) { /* sums of 0, 1 and 2 rows */
        double largest = 0.0;
        for (size_t i = 0; i < n * width; i++)
            largest = fmax(largest, sums[i + width] - sums[i]);
        assert_true(lanes->largest(sums, width, 1, (size_t[]){0, 1}, n) == largest);
    }
    uint32_t order[WIDEST];
    for (size_t i = 0; i < width; i++)
        order[i] = (uint32_t)(width - 1 - i);
    most[width - 1] = 0.0;
    lanes->pick(most, from, to, order, width - 1);
    for (size_t i = 0; i < width; i++)
        assert_true(most[i] == (i < width - 1 ? from[i] + to[width - 1 - i] : 0.0));
    uint8_t larger = 0;
    for (size_t i = 0; i < width; i++)
        larger |= (uint8_t)(a[i] < b[i] + by[i] ? 1 << i % TM_LANES : 0);
    for (int anew = 0; anew < 2; anew++) {
        memcpy(out, a, width * sizeof *out);
        memcpy(least, by, width * sizeof *least);
        assert_int_equal(lanes->raise(out, b, by, least, anew, width), larger);
        memcpy(least_set, a, width * sizeof *least);
        lanes->set(sum, b, by, least_set, anew, width);
        for (size_t i = 0; i < width; i++) {
            const int64_t is = a[i] > b[i] + by[i] ? a[i] : b[i] + by[i], was = anew ? far : by[i];
            assert_int_equal(out[i], is);
            assert_int_equal(least[i], was < is - b[i] ? was : is - b[i]);
            assert_int_equal(sum[i], b[i] + by[i]);
            assert_int_equal(least_set[i], !anew && a[i] < by[i] ? a[i] : by[i]);
        }
    }
    for (size_t i = 0; i < width; i++)
        sum[i] = a[i] + rows[i / TM_LANES][i % TM_LANES] - b[i];
    assert_false(lanes->apart(out, a, rows, b, sum, width));
    assert_memory_equal(out, sum, width * sizeof *out);
    sum[width - 1]--;
    assert_true(lanes->apart(out, a, rows, b, sum, width));
    lanes->add(out, a, ROWS, rows, width);
    for (size_t i = 0; i < ROWS * width; i++)
        assert_int_equal(out[i], a[i] + rows[i % width / TM_LANES][i % TM_LANES]);
    for (size_t i = 0; i < width; i++)
        sum[i] = b[i] + by[i];
    assert_int_equal(lanes->above(sum, b, by, width), 0);
    for (size_t i = 0; i < width; i++) { /* one number is larger by 1, in a single SIMD lane */
        sum[i]++;
        assert_int_equal(lanes->above(sum, b, by, width), 1 << i % TM_LANES);
        sum[i]--;
    }
    lanes->add(a, a, ROWS, rows, width); /* in place */
    assert_memory_equal(a, out, ROWS * width * sizeof *a);
}

TEST(every_instruction_set_gives_the_same) {
    size_t n;
    const tm_lanes *const *all = tm_lanes_all(&n);
    assert_ptr_equal(tm_lanes_best(), all[n - 1]);
    for (size_t i = 0; i < n; i++)
        for (uint64_t seed = 1; seed <= 200; seed++)
            check(all[i], seed, tm_lanes_width(1 + seed % WIDEST));
}

RUN_TESTS()

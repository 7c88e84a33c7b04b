/* Whether ends contradict an order: sequences of equal length, made by hand. */
#include "match/pair_by_order.h"

#include "run_fixture.h"

enum { N = 12 };

/* Makes 12 of 13 operations of 50 us each, on a clock that is ahead by ahead_us. */
static void make(tm_end *out, size_t lacking, int64_t ahead_us) {
    for (size_t i = 0; i < N; i++) {
        int64_t end = (ends_us[i + (i >= lacking)] + ahead_us) * US;
        out[i] = (tm_end){.begin_ns = end - 50 * US, .end_ns = end, .synchronises = true};
    }
}

TEST(each_may_lack_the_same_but_not_another) {
    for (size_t x = 0; x <= N; x++)
        for (size_t y = 0; y <= N; y++) {
            tm_end a[N], b[N];
            make(a, x, 0);
            make(b, y, 5000000);
            assert_int_equal(tm_order_holds(a, b, N), x == y);
            assert_int_equal(tm_order_holds(b, a, N), x == y);
        }
}

TEST(noise_late_ends_drift_and_set_clocks_leave_an_order) {
    tm_end a[N], b[N];
    make(a, N, 0);
    make(b, N, 300);
    for (size_t i = 0; i < N; i++) /* noise of up to 8 us */
        b[i].end_ns += (int64_t)(i * 5 % 9) * US;
    assert_true(tm_order_holds(a, b, N));
    b[4].end_ns += 700 * US; /* later than the next end, because the kernel continued */
    assert_true(tm_order_holds(a, b, N));
    for (size_t i = 7; i < N; i++) { /* the clock was set by 3 ms */
        b[i].begin_ns += 3000 * US;
        b[i].end_ns += 3000 * US;
    }
    assert_true(tm_order_holds(a, b, N));
    make(b, N, 300);
    for (size_t i = 0; i < N; i++) {
        a[i].end_ns *= 1000; /* ends are seconds apart, and the clock drifts by 100 ppm */
        a[i].begin_ns = a[i].end_ns - 50 * US;
        b[i].end_ns = a[i].end_ns + a[i].end_ns / 10000;
        b[i].begin_ns = b[i].end_ns - 50 * US;
    }
    assert_true(tm_order_holds(a, b, N));
}

/* On rank a, the 5th operation ends 310 us after the 4th and 640 us before the 6th. On rank b, its
 * begin and end are 250 us later, so the two kernels did not run at the same time. */
TEST(what_did_not_run_together_is_another) {
    tm_end a[N], b[N];
    make(a, N, 0);
    make(b, N, 300);
    b[4].begin_ns += 250 * US;
    b[4].end_ns += 250 * US;
    assert_false(tm_order_holds(a, b, N));
    a[4].synchronises = false; /* the root of a broadcast may leave early */
    assert_true(tm_order_holds(a, b, N));
    assert_true(tm_order_holds(a, b, 1));
    assert_true(tm_order_holds(a, b, 0));
}

/* On hosts, a thread may wait for a core, so an end of b is up to 3.9 ms late. It is then nearer to
 * a's next end than to its own. This is no contradiction. But the 5th and 6th operations of b end
 * before a's begin, which is impossible, because no rank leaves before all have arrived. */
TEST(late_ends_on_hosts_leave_an_order_and_what_cannot_overlap_does_not) {
    tm_end a[N], b[N];
    for (size_t i = 0; i < N; i++) {
        const int64_t at = (int64_t)i * 5 * MS;
        a[i] = (tm_end){.begin_ns = at, .end_ns = at + MS, .synchronises = true, .on_host = true};
        b[i] = a[i];
        b[i].end_ns += (int64_t)(i * 7 % 4) * 1300 * US;
    }
    for (size_t i = 4; i < 6; i++) { /* one wrong match of 12 is tolerated, two are not */
        assert_true(tm_order_holds(a, b, N));
        b[i].begin_ns -= 3 * MS;
        b[i].end_ns = a[i].begin_ns - 2 * MS;
    }
    assert_false(tm_order_holds(a, b, N));
}

/* Each end of b varies like the end of a two operations before, so this shift fits best. But with
 * it, no operations run at the same time: they are 12 ms long and 20 ms apart. If the clocks are 1
 * s apart, the times do not show this. */
TEST(ends_on_hosts_that_fit_a_shift_by_chance_leave_an_order) {
    static const int64_t late_ms[N + 2] = {0, 5, 3, 1, 6, 2, 0, 4, 6, 1, 5, 3, 0, 4};
    tm_end a[N], b[N];
    for (size_t i = 0; i < N; i++) {
        const int64_t at = (int64_t)i * 20 * MS;
        a[i] = (tm_end){.begin_ns = at - 12 * MS, .synchronises = true, .on_host = true};
        b[i] = a[i];
        a[i].end_ns = at + late_ms[i + 2] * MS;
        b[i].end_ns = at + late_ms[i] * MS;
    }
    assert_true(tm_order_holds(a, b, N));
    assert_true(tm_order_holds(b, a, N));
    for (size_t i = 0; i < N; i++) {
        b[i].begin_ns += 1000 * MS;
        b[i].end_ns += 1000 * MS;
    }
    assert_false(tm_order_holds(a, b, N));
}

/* The 5th to 8th operations are back-to-back broadcasts. One rank is late to them: it leaves each
 * one when the other leaves the next. */
TEST(a_rank_late_to_broadcasts_did_not_miss_one) {
    enum { FIRST = 4, BROADCASTS = 4 };
    tm_end a[N], b[N];
    make(a, N, 0);
    make(b, N, 300);
    for (int64_t i = 0; i < BROADCASTS; i++) {
        int64_t end = (ends_us[FIRST] + 60 * i) * US;
        a[FIRST + i] = (tm_end){.begin_ns = end - 60 * US, .end_ns = end};
        b[FIRST + i] = (tm_end){.begin_ns = end + 300 * US, .end_ns = end + 360 * US};
    }
    assert_true(tm_order_holds(a, b, N));
    assert_true(tm_order_holds(b, a, N));
    for (size_t i = FIRST; i < FIRST + BROADCASTS; i++) /* all-reduces cannot end so early */
        a[i].synchronises = b[i].synchronises = true;
    assert_false(tm_order_holds(a, b, N));
    assert_false(tm_order_holds(b, a, N));
}

RUN_TESTS()

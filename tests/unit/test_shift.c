/* Offset between two clocks, from the ends of kernels: small cases computed by hand, and wrong
 * offsets that must be rejected. */
#include "match/shift.h"

#include "run_fixture.h"

enum { N = 16 };

static tm_unmatched find(const rank_run *ref, const rank_run *other, int64_t *offset_us) {
    tm_shift shift = {.offset_ns = -1};
    tm_unmatched reason = tm_shift_find(&ref->run, &other->run, &shift);
    assert_true(reason != TM_UNMATCHED_NOT || shift.centre < ref->run.n);
    *offset_us = shift.offset_ns / US;
    return reason;
}

/* The clock is `ahead` us ahead. Lacks the first `skipped` ends, and every `lost`-th. */
static rank_run other_of(int64_t ahead, size_t skipped, size_t lost) {
    int64_t ends[N];
    size_t n = 0;
    for (size_t i = skipped; i < N; i++)
        if (lost == 0 || i % lost != 1)
            ends[n++] = ends_us[i] + ahead;
    return run_of(ends, n);
}

TEST(the_offset_is_found_wherever_the_recordings_begin) {
    static const struct {
        int64_t ahead_us;
        size_t skipped, lost;
    } cases[] = {{0, 0, 0},        {7, 0, 0},          {-3000, 0, 0}, {5000000, 0, 0},
                 {-5000000, 3, 0}, {5000000, 0, 8},    {430, 0, 0}, /* ahead by a gap of two ends */
                 {-430, 2, 0},     {86400000000, 4, 0}};
    rank_run ref = run_of(ends_us, N);
    for (size_t c = 0; c < COUNT(cases); c++) {
        int64_t offset;
        rank_run other = other_of(cases[c].ahead_us, cases[c].skipped, cases[c].lost);
        assert_int_equal(find(&ref, &other, &offset), TM_UNMATCHED_NOT);
        assert_int_equal(offset, cases[c].ahead_us);
        free_run(&other);
    }
    free_run(&ref);
}

/* The clock drifts by 50 ppm: it is ahead by 100 us in the middle, and by 20 us less or more at the
 * first and last of 40 ends, which are 20 ms apart. */
TEST(drift_is_no_spread) {
    int64_t a[40], b[40], offset;
    uint64_t own = 1;
    for (int64_t k = 0; k < 40; k++) {
        a[k] = 20000 * k + draw(&own, 3000);
        b[k] = a[k] + 100 + (a[k] - 400000) / 20000;
    }
    rank_run ref = run_of(a, 40), other = run_of(b, 40);
    assert_int_equal(find(&ref, &other, &offset), TM_UNMATCHED_NOT);
    assert_in_range(offset, 99, 101);
    free_run(&ref);
    free_run(&other);
}

TEST(wrong_offsets_are_refused) {
    int64_t even[N], alike[N], odd[N], offset;
    for (int64_t k = 0; k < N; k++) {
        even[k] = 500 * k;
        alike[k] = 500 * k + (k * 7 % 5);           /* only noise: a jitter of 2 us */
        odd[k] = 300 * k + (k * k * 37 % 41) * 100; /* has no gap in common with the others */
    }
    for (int64_t k = 1; k < N; k++)
        odd[k] = odd[k] > odd[k - 1] ? odd[k] : odd[k - 1] + 150;
    rank_run ref = run_of(ends_us, N), periodic = run_of(even, N), jitter = run_of(alike, N),
             random = run_of(odd, N), few = run_of(ends_us, 11);
    assert_int_equal(find(&periodic, &periodic, &offset), TM_UNMATCHED_AMBIGUOUS);
    assert_int_equal(find(&periodic, &jitter, &offset), TM_UNMATCHED_AMBIGUOUS);
    assert_int_equal(find(&ref, &random, &offset), TM_UNMATCHED_INCOHERENT);
    assert_int_equal(find(&ref, &few, &offset), TM_UNMATCHED_TOO_FEW);
    for (size_t i = 0; i < N; i++)
        few.run.marks[i % 11].signature = 9;
    assert_int_equal(find(&few, &few, &offset), TM_UNMATCHED_TOO_FEW);
    for (size_t i = 0; i < N; i++)
        random.run.marks[i].signature = 9;
    assert_int_equal(find(&ref, &random, &offset), TM_UNMATCHED_SIGNATURES);
    free_run(&ref);
    free_run(&periodic);
    free_run(&jitter);
    free_run(&random);
    free_run(&few);
}

/* The only coherent offset is rejected: 2 of 16 kernels differ, which is over 2 in 100. */
TEST(other_kernels_at_the_same_times_are_refused) {
    int64_t offset;
    rank_run ref = run_of(ends_us, N), other = other_of(7, 0, 0);
    assert_int_equal(find(&ref, &other, &offset), TM_UNMATCHED_NOT);
    other.run.marks[4].signature = 9;
    assert_int_equal(find(&ref, &other, &offset), TM_UNMATCHED_NOT);
    other.run.marks[11].signature = 9;
    assert_int_equal(find(&ref, &other, &offset), TM_UNMATCHED_INCOHERENT);
    free_run(&ref);
    free_run(&other);
}

static void set_steps(rank_run *r, int64_t first) {
    for (size_t i = 0; i < r->run.n; i++)
        r->run.marks[i].step = first + (int64_t)i / 4;
}

/* With 16 equal gaps, every shift fits equally well. A step has four kernels, so known steps leave
 * only shifts by whole steps, and equal step numbers leave one. */
TEST(steps_decide_what_ends_do_not) {
    int64_t even[N], offset;
    for (int64_t k = 0; k < N; k++)
        even[k] = 500 * k;
    rank_run ref = run_of(even, N), other = run_of(even, N);
    set_steps(&ref, 3);
    set_steps(&other, 3);
    assert_int_equal(find(&ref, &other, &offset), TM_UNMATCHED_NOT);
    assert_int_equal(offset, 0);
    set_steps(&other, 4); /* the recording began one step later */
    assert_int_equal(find(&ref, &other, &offset), TM_UNMATCHED_NOT);
    assert_int_equal(offset, -2000);
    set_steps(&other, 40); /* no common step */
    assert_int_equal(find(&ref, &other, &offset), TM_UNMATCHED_SIGNATURES);
    free_run(&ref);
    free_run(&other);
}

/* Gaps are equal, but a few kernels have another size, at uneven distances. At any other shift,
 * some of them do not meet. */
TEST(rare_kernels_decide_what_ends_do_not) {
    enum { MANY = 48 };
    tm_error err;
    int64_t even[MANY], offset;
    for (int64_t k = 0; k < MANY; k++)
        even[k] = 500 * k;
    rank_run ref = run_of(even, MANY), other = run_of(even, MANY - 5);
    static const size_t rare[] = {7, 15, 28, 44};
    for (size_t k = 0; k < COUNT(rare); k++) {
        ref.run.marks[rare[k]].signature = 2;
        other.run.marks[rare[k] - 5].signature = 2; /* the recording began five kernels later */
    }
    assert_int_equal(tm_run_prepare(&ref.run, &err), TM_OK);
    assert_int_equal(tm_run_prepare(&other.run, &err), TM_OK);
    assert_int_equal(find(&ref, &other, &offset), TM_UNMATCHED_NOT);
    assert_int_equal(offset, -2500);
    free_run(&ref);
    free_run(&other);
}

/* Three steps of 16 kernels each follow a broadcast that this rank leaves 200 us after the other.
 * Without a barrier, step boundaries and rare kernels need not coincide. */
TEST(broadcasts_need_not_end_together) {
    enum { MANY = 48 };
    tm_error err;
    int64_t a[MANY], b[MANY], offset;
    uint64_t shared = 1;
    for (int64_t k = 0; k < MANY; k++) {
        a[k] = 1000 * k + draw(&shared, 500);
        b[k] = a[k] + 700 + (k % 16 == 0 ? 200 : 0);
    }
    rank_run runs[] = {run_of(a, MANY), run_of(b, MANY)};
    for (size_t r = 0; r < 2; r++) {
        for (size_t k = 0; k < MANY; k++) {
            tm_mark *mark = &runs[r].run.marks[k];
            mark->step = (int64_t)k / 16;
            mark->signature = k % 16 == 0 ? 2 : 1;
            mark->synchronises = k % 16 != 0;
        }
        assert_int_equal(tm_run_prepare(&runs[r].run, &err), TM_OK);
    }
    assert_int_equal(find(&runs[0], &runs[1], &offset), TM_UNMATCHED_NOT);
    assert_int_equal(offset, 700);
    free_run(&runs[0]);
    free_run(&runs[1]);
}

RUN_TESTS()

/* Pairing of two ranks' kernels at a clock offset: small cases computed by hand. */
#include "match/band.h"

#include "run_fixture.h"

enum { N = 16 };

/* Pairs the reference with a run whose clock is 50 us ahead in the middle. */
static tm_unmatched pair_drifting(const rank_run *ref, const rank_run *other, double drift,
                                  int64_t *partners) {
    const tm_shift shift = {.centre = ref->run.n / 2, .offset_ns = 50 * US, .drift = drift};
    return tm_band_pair(&ref->run, &other->run, &shift, partners);
}

static tm_unmatched pair(const rank_run *ref, const rank_run *other, int64_t *partners) {
    return pair_drifting(ref, other, 0.0, partners);
}

static int64_t partner_of_6th(const rank_run *ref, const rank_run *other) {
    int64_t partners[N];
    assert_int_equal(pair(ref, other, partners), TM_UNMATCHED_NOT);
    return partners[5];
}

/* Returns a run of `ends_us` without the masked ends, on a clock ahead by ahead_us. */
static rank_run without(unsigned mask, int64_t ahead_us) {
    int64_t ends[N];
    size_t n = 0;
    for (size_t i = 0; i < N; i++)
        if (!(mask >> i & 1))
            ends[n++] = ends_us[i] + ahead_us;
    return run_of(ends, n);
}

TEST(kernels_that_either_rank_lacks_are_passed_over) {
    static const struct {
        unsigned ref, other; /* bit k: the rank lacks kernel k */
    } cases[] = {{0, 0},           {0, 1},      {0, 0x8000}, {0, 0x0180},     {0x0042, 0},
                 {0x0002, 0x2000}, {0, 0x5050}, {3, 0xC000}, {0x0010, 0x0020}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        rank_run ref = without(cases[c].ref, 0), other = without(cases[c].other, 50);
        int64_t partners[N];
        assert_int_equal(pair(&ref, &other, partners), TM_UNMATCHED_NOT);
        for (size_t k = 0, i = 0, j = 0; k < N; k++) {
            bool in_ref = !(cases[c].ref >> k & 1), in_other = !(cases[c].other >> k & 1);
            if (in_ref)
                assert_int_equal(partners[i], in_other ? (int64_t)j : -1);
            i += in_ref;
            j += in_other;
        }
        free_run(&ref);
        free_run(&other);
    }
}

/* The reference has only A, and the other rank has only B, of two close kernels A and B. Each is
 * the nearest to the other. A runs from 3290 to 3300, B from 3310 to 3320: they do not overlap, so
 * they cannot be one operation. */
TEST(of_two_close_ones_the_other_is_no_partner) {
    int64_t partners[N], shifted[N];
    for (size_t i = 0; i < N; i++)
        shifted[i] = ends_us[i] + 50 + (i == 5 ? 20 : 0);
    rank_run ref = run_of(ends_us, N), other = run_of(shifted, N);
    assert_int_equal(pair(&ref, &other, partners), TM_UNMATCHED_NOT);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(partners[i], i == 5 ? -1 : (int64_t)i);
    free_run(&ref);
    free_run(&other);
}

/* Kernels that do not synchronise are judged by their ends. The limit is five times the noise of 5
 * us plus 6 % of 10 us: 28 us. */
TEST(what_need_not_run_together_may_end_apart) {
    rank_run ref = run_of(ends_us, N), other = without(0, 50);
    for (size_t i = 0; i < N; i++)
        ref.run.marks[i].synchronises = other.run.marks[i].synchronises = false;
    other.run.marks[5].end_ns += 25 * US;
    assert_int_equal(partner_of_6th(&ref, &other), 5);
    other.run.marks[5].end_ns += 5 * US;
    assert_int_equal(partner_of_6th(&ref, &other), -1);
    free_run(&ref);
    free_run(&other);
}

/* There are three series of three broadcasts: at the start, and after the 6th and the 12th
 * operation. The other rank is late to them: it ends each when the reference ends the next one. */
static bool is_broadcast(size_t i) {
    return i < 3 || (i >= 6 && i < 9) || (i >= 12 && i < 15);
}

static rank_run with_broadcasts(unsigned lacking, bool late) {
    rank_run r = without(0, 0);
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        tm_mark mark = r.run.marks[i];
        if (lacking >> i & 1)
            continue;
        mark.synchronises = !is_broadcast(i);
        mark.end_ns = (late && is_broadcast(i) ? ends_us[i + 1] : ends_us[i]) * US;
        mark.begin_ns = mark.end_ns - 10 * US;
        mark.signature = is_broadcast(i) ? 2 : 1;
        r.run.marks[n++] = mark;
    }
    r.run.n = n;
    assert_int_equal(tm_run_prepare(&r.run, &(tm_error){0}), TM_OK);
    return r;
}

TEST(places_tell_broadcasts_where_one_rank_lacks_none) {
    static const struct {
        unsigned ref, other; /* bit k: the rank lacks kernel k */
        unsigned paired;     /* bit k: kernel k of the reference is paired */
    } cases[] = {
        {0, 0, 0xffff},
        {0, 1 << 7, 0xffff & ~0x1c0}, /* nothing shows which of the three broadcasts is missing */
        {1 << 7, 0, 0xffff & ~0x1c0},
        {0, 1 << 10, 0xffff & ~0x400},      /* kernel 10 synchronises */
        {1 << 7, 1 << 10, 0x8e38 & ~0x400}, /* each lacks a kernel: no broadcast is paired */
        {1 << 6, 1 << 8, 0xffff},           /* the same count of kernels hides what each lacks */
        {1 << 6 | 1 << 10, 1 << 8 | 1 << 9, 0x8e38 & ~0x600},
        {0, 1 << 0, 0xffff & ~0x7}, /* broadcasts before the first kernel that is paired */
        {0, 1 << 0 | 1 << 1 | 1 << 2, 0xffff & ~0x7},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        rank_run ref = with_broadcasts(cases[c].ref, false);
        rank_run other = with_broadcasts(cases[c].other, true);
        const tm_shift shift = {.centre = ref.run.n / 2, .least = 4};
        int64_t partners[N];
        assert_int_equal(tm_band_pair(&ref.run, &other.run, &shift, partners), TM_UNMATCHED_NOT);
        for (size_t k = 0, i = 0; k < N; k++) {
            if (cases[c].ref >> k & 1)
                continue;
            unsigned found = partners[i++] >= 0 ? 1 : 0;
            if (found != (cases[c].paired >> k & 1))
                fail_msg("case %zu, kernel %zu", c, k);
        }
        free_run(&ref);
        free_run(&other);
    }
}

/* The end is 100 us late, but both kernels ran at the same time for all 10 us of the shorter
 * one. */
TEST(a_late_end_is_still_a_partner) {
    rank_run ref = run_of(ends_us, N), other = without(0, 50);
    other.run.marks[5].end_ns += 100 * US;
    assert_int_equal(partner_of_6th(&ref, &other), 5);
    other.run.marks[5].end_ns += 100 * US; /* more than half of the 310 us to the previous end, */
    assert_int_equal(partner_of_6th(&ref, &other), -1); /* so the partner is ambiguous */
    free_run(&ref);
    free_run(&other);
}

/* 300 kernels are about 10 ms apart, on clocks that drift by 100 ppm: by 300 us in all. The drift
 * is known to 3 ppm: this gives 2 us over 64 kernels, and 9 us over all kernels. */
TEST(the_offset_follows_the_drift) {
    enum { MANY = 300 };
    int64_t a[MANY], b[MANY], partners[MANY];
    uint64_t own = 3;
    for (int64_t k = 0; k < MANY; k++) {
        a[k] = 10000 * k + draw(&own, 5000);
        b[k] = a[k] + 50 + (a[k] - 1502500) / 10000; /* the 150th ends at about 1.5 s */
    }
    rank_run ref = run_of(a, MANY), other = run_of(b, MANY);
    assert_int_equal(pair_drifting(&ref, &other, 97e-6, partners), TM_UNMATCHED_NOT);
    for (int64_t k = 0; k < MANY; k++)
        assert_int_equal(partners[k], k);
    free_run(&ref);
    free_run(&other);
}

/* From the 200th kernel on, the other clock is a second ahead. These kernels stay unpaired. */
TEST(pairing_ends_where_the_clock_was_set) {
    enum { MANY = 300 };
    int64_t a[MANY], b[MANY], partners[MANY];
    uint64_t own = 3;
    for (int64_t k = 0; k < MANY; k++) {
        a[k] = 10000 * k + draw(&own, 5000);
        b[k] = a[k] + 50 + (k >= 200 ? 1000000 : 0);
    }
    rank_run ref = run_of(a, MANY), other = run_of(b, MANY);
    assert_int_equal(pair(&ref, &other, partners), TM_UNMATCHED_NOT);
    for (int64_t k = 0; k < MANY; k++)
        assert_int_equal(partners[k], k < 150 ? k : k < 214 && partners[k] >= 0 ? k : -1);
    free_run(&ref);
    free_run(&other);
}

TEST(what_does_not_correspond_is_refused) {
    int64_t partners[N];
    rank_run ref = run_of(ends_us, N), other = without(0, 50), far = without(0, 50000);
    assert_int_equal(pair(&ref, &far, partners), TM_UNMATCHED_TOO_FEW); /* no time in common */
    for (size_t i = 0; i < N; i++)
        other.run.marks[i].signature = i < 2 ? 2 : 1; /* two of the 16 are of another operation */
    assert_int_equal(pair(&ref, &other, partners), TM_UNMATCHED_SIGNATURES);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(partners[i], -1);
        other.run.marks[i].signature = 1;
        other.run.marks[i].end_ns += (int64_t)(i * i * 13 % 17) * 40 * US;
        other.run.marks[i].begin_ns = other.run.marks[i].end_ns - 10 * US;
    }
    assert_int_equal(pair(&ref, &other, partners), TM_UNMATCHED_INCOHERENT);
    free_run(&ref);
    free_run(&other);
    free_run(&far);
}

RUN_TESTS()

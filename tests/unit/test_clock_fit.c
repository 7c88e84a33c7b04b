/* Clock fits that are small enough to compute by hand. */
#include "clock/fit.h"

enum { HOSTS = 4 };
#define US INT64_C(1000)
#define MIDDLE INT64_C(1700000000000000000)

/* Begin and end of a host in an event, relative to the middle of its window [us]. */
typedef struct row {
    uint64_t event;
    int32_t host;
    int flags;
    double begin_us, end_us;
} row;

#define FULL(event, host, begin, end)                                                              \
    { event, host, TM_CLOCK_FULL, begin, end }
#define GIVES(event, host, begin, end)                                                             \
    { event, host, TM_CLOCK_GIVES, begin, end }
#define TAKES(event, host, begin, end)                                                             \
    { event, host, TM_CLOCK_TAKES, begin, end }

#define USUAL                                                                                      \
    { .middle_ns = MIDDLE, .length_ns = 10000 * US, .wall_ns = 5e6, .drift_ppb = 2000.0 }
static const tm_clock_domain usual = USUAL, all_usual[] = {USUAL, USUAL, USUAL};

static tm_clock_fit fit_rows(const row *rows, size_t n, const tm_clock_domain *domains,
                             int32_t n_domains) {
    tm_clock_end *ends = calloc(n + 1, sizeof *ends);
    tm_clock_fit fit;
    tm_error err;
    assert_non_null(ends);
    for (size_t i = 0; i < n; i++) {
        int64_t middle = domains[rows[i].host].middle_ns;
        int64_t end = middle + llround(rows[i].end_us * 1e3);
        ends[i] = (tm_clock_end){.event = rows[i].event,
                                 .begin_max_ns = middle + llround(rows[i].begin_us * 1e3),
                                 .end_min_ns = end,
                                 .end_ns = end,
                                 .domain = rows[i].host,
                                 .n_ranks = 1,
                                 .flags = (uint8_t)rows[i].flags};
    }
    tm_clock_input input = {
        .ends = ends, .n_ends = n, .domains = domains, .n_domains = n_domains, .n_classes = 1};
    assert_int_equal(tm_clock_fit_all(&input, &tm_clock_serial, &fit, &err), TM_OK);
    free(ends);
    return fit;
}

static void assert_near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        fail_msg("%.3f is not %.3f +- %.3f", value, expected, within);
}

static void assert_bounds(const tm_clock_fit *fit, int host, int64_t low_us, int64_t high_us) {
    assert_true(fit->models[host].bounded);
    assert_int_equal(fit->models[host].low_ns, low_us * US);
    assert_int_equal(fit->models[host].high_ns, high_us * US);
}

/* The ends differ by 1.00, 1.01 and 0.99 us: by 1 us on average. The hosts are equally trusted, so
 * each is moved by half a microsecond.
 * Noise: six residuals are too few, so the default of 10 us applies. The weight is w = 1e-8 for
 * each.
 * Uncertainty: three events show the difference. In the direction (1, -1)/sqrt 2, the normal matrix
 * is 3 x 2 x w/2 = 3w, so the variance of each offset is (1/2)/(3w) = 1.667e7 (and 1.7e3 more for
 * the common time, which is held 1e4 times as firmly). Events of one stratum (fit.h) show
 * no bias, so it is assumed to equal the noise, 10 us: sqrt(1.667e7 + 1e8) = 10801 ns. Host 1 has 6
 * us between its GPUs: sqrt(10801^2 + 6000^2) = 12356 ns.
 * Drift: 2 ppm x 5 ms = 10 ns is far below the offset's uncertainty, so the drift stays 0. */
TEST(two_hosts_and_three_events_as_by_hand) {
    const row rows[] = {FULL(1, 0, -3020, -3000), FULL(1, 1, -3005, -2999),
                        FULL(2, 0, 10, 20),       FULL(2, 1, 0, 21.01),
                        FULL(3, 0, 3990, 4000),   FULL(3, 1, 3980, 4000.99)};
    tm_clock_domain domains[] = {usual, usual};
    domains[1].gpu_ns = 6000.0;
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), domains, 2);
    assert_int_equal(fit.models[0].offset_ns, 500);
    assert_int_equal(fit.models[1].offset_ns, -500);
    for (int h = 0; h < 2; h++) {
        const tm_clock_model *model = fit.models + h;
        assert_int_equal(model->method, TM_CLOCK_FIT);
        assert_int_equal(model->anchors, 3);
        assert_int_equal(model->component, 0);
        assert_true(model->drift_ppb == 0.0);
        assert_near(model->uncertainty_ns, h == 0 ? 10801.0 : 12356.0, 2.0);
        assert_near(model->end_uncertainty_ns, model->uncertainty_ns, 1.0);
        assert_int_equal(model->step_ns, 0);
        assert_int_equal(tm_clock_true(model, MIDDLE + 7), MIDDLE + 7 + model->offset_ns);
    }
    assert_near(fit.noise_ns[0], 10e3, 1e-6);
    assert_int_equal(fit.n_components, 1);
    assert_int_equal(fit.n_suspect, 0);
    assert_int_equal(fit.check.events, 3);
    assert_int_equal(fit.check.before, 0);
    assert_false(fit.projected);
    tm_clock_fit_free(&fit);
}

/* s0 and s1 are offsets. All ends are equal. Event 1: 80 + s1 <= 100 + s0, and 0 + s0 <= 100 + s1.
 * Event 2: 200 + s1 <= 240 + s0, and 210 + s0 <= 240 + s1. With s0 = 0, this is -30 <= s1 <= 20. */
TEST(intervals_come_from_whoever_came_last) {
    const row rows[] = {FULL(1, 0, 0, 100), FULL(1, 1, 80, 100), FULL(2, 0, 210, 240),
                        FULL(2, 1, 200, 240)};
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), all_usual, 2);
    assert_bounds(&fit, 0, 0, 0);
    assert_bounds(&fit, 1, -30, 20);
    tm_clock_fit_free(&fit);
}

/* Host 2 meets only host 1, and host 1 also meets host 0. s1 is in [-50, 40], because host 0
 * arrives 50 us before the end and host 1 40 us before it. s2 - s1 is in [-7, 9]. Host 1 has the
 * most anchors and is the reference, so s0 is in [-40, 50]. */
TEST(intervals_reach_over_other_hosts) {
    const row rows[] = {FULL(1, 0, 50, 100), FULL(1, 1, 60, 100), FULL(2, 1, 193, 200),
                        FULL(2, 2, 191, 200)};
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), all_usual, 3);
    assert_bounds(&fit, 0, -40, 50);
    assert_bounds(&fit, 1, 0, 0);
    assert_bounds(&fit, 2, -7, 9);
    tm_clock_fit_free(&fit);
}

/* Host 2's wall clock is 5 s ahead. Only this host is corrected, to the median of the three. */
TEST(one_wrong_clock_does_not_move_the_others) {
    const row rows[] = {FULL(1, 0, 90, 100), FULL(1, 1, 90, 100), FULL(1, 2, 90, 100)};
    tm_clock_domain domains[] = {usual, usual, usual};
    domains[2].middle_ns += INT64_C(5000000000);
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), domains, 3);
    assert_near((double)fit.models[0].offset_ns, 0.0, 1.0);
    assert_near((double)fit.models[1].offset_ns, 0.0, 1.0);
    assert_near((double)fit.models[2].offset_ns, -5e9, 1.0);
    assert_int_equal(fit.check.before, 1);
    assert_int_equal(fit.check.worst_before_ns, INT64_C(5000000000) - 10 * US);
    assert_int_equal(fit.check.after, 0);
    tm_clock_fit_free(&fit);
}

/* Sigmas of 5 and 2.5 ms give weights of 1/4 and 1. The weighted median is the better clock's. */
TEST(common_time_stays_with_the_better_wall_clock) {
    const row rows[] = {FULL(1, 0, 90, 100), FULL(1, 1, 90, 140)};
    tm_clock_domain domains[] = {usual, usual};
    domains[1].wall_ns = 2.5e6;
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), domains, 2);
    assert_near((double)fit.models[0].offset_ns, 40e3, 10.0);
    assert_near((double)fit.models[1].offset_ns, 0.0, 1.0);
    tm_clock_fit_free(&fit);
}

TEST(unreached_hosts_keep_their_wall_clock_and_say_so) {
    const row rows[] = {FULL(1, 1, 90, 100), FULL(1, 3, 90, 120),
                        FULL(2, 0, 90, 100)}; /* host 2 is alone in its event */
    tm_clock_domain domains[] = {usual, usual, usual, usual};
    domains[2].wall_ns = HUGE_VAL;
    domains[2].middle_ns = 42; /* the time counts from the start of the host's trace */
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), domains, 4);
    const int components[] = {0, 1, 2, 1};
    const int methods[] = {TM_CLOCK_WALL, TM_CLOCK_FIT, TM_CLOCK_NONE, TM_CLOCK_FIT};
    for (int h = 0; h < 4; h++) {
        assert_int_equal(fit.models[h].component, components[h]);
        assert_int_equal(fit.models[h].method, methods[h]);
    }
    assert_int_equal(fit.n_components, 3);
    assert_int_equal(fit.models[0].offset_ns, 0);
    assert_int_equal(fit.models[0].anchors, 0);
    assert_near(fit.models[0].uncertainty_ns, 5e6, 1e-3);
    assert_false(fit.models[0].bounded);
    assert_int_equal(fit.models[2].offset_ns, 0);
    assert_true(isinf(fit.models[2].uncertainty_ns));
    assert_int_equal(fit.models[1].offset_ns, 10 * US);
    assert_int_equal(fit.models[3].offset_ns, -10 * US);
    tm_clock_fit_free(&fit);
}

TEST(nothing_at_all_is_no_failure) {
    tm_clock_fit fit = fit_rows(NULL, 0, all_usual, 1);
    assert_int_equal(fit.models[0].method, TM_CLOCK_WALL);
    assert_int_equal(fit.models[0].offset_ns, 0);
    assert_int_equal(fit.n_components, 1);
    assert_int_equal(fit.check.events, 0);
    tm_clock_fit_free(&fit);
    fit = fit_rows(NULL, 0, NULL, 0);
    assert_int_equal(fit.n_components, 0);
    tm_clock_fit_free(&fit);
}

/* The clocks count from their own starts, so only their difference is known. The first keeps its
 * time, and the other's offset makes their ends equal. */
TEST(clocks_without_date_are_fitted_to_one_another) {
    const row rows[] = {FULL(1, 0, 90, 100), FULL(1, 1, 90, 103)};
    tm_clock_domain domains[] = {usual, usual};
    domains[0].wall_ns = domains[1].wall_ns = HUGE_VAL;
    domains[0].middle_ns = 5000 * US;
    domains[1].middle_ns = 9000 * US;
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), domains, 2);
    assert_int_equal(fit.models[0].method, TM_CLOCK_FIT);
    assert_int_equal(fit.models[1].offset_ns - fit.models[0].offset_ns, -4003 * US);
    tm_clock_fit_free(&fit);
}

/* Host 1 claims to know the date but is off by decades, so its wall clock does not count. */
TEST(a_date_decades_off_is_none) {
    const row rows[] = {FULL(1, 0, 60, 100), FULL(1, 1, 60, 140)};
    tm_clock_domain domains[] = {usual, usual, usual};
    domains[1].middle_ns = domains[2].middle_ns = 42;
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), domains, 3);
    assert_int_equal(fit.models[0].offset_ns, 0);
    assert_int_equal(fit.models[1].offset_ns, MIDDLE - 42 - 40 * US);
    assert_int_equal(fit.models[1].method, TM_CLOCK_FIT);
    assert_int_equal(fit.models[2].method, TM_CLOCK_NONE);
    tm_clock_fit_free(&fit);
}

/* There are no anchors. A message from 0 to 1 gives 100 + s0 <= 130 + s1, and one from 1 to 0 gives
 * 200 + s1 <= 250 + s0. So s1 - s0 is in [-30, 50], i.e. 10 +- 40, and each host gets half of it.
 * Drift: 2 ppm x 5 ms = 10 ns of each clock widens both bounds by 20 ns. */
TEST(messages_both_ways_tie_two_hosts) {
    row rows[] = {GIVES(1, 0, 100, 110), TAKES(1, 1, 90, 130), TAKES(2, 0, 240, 250),
                  GIVES(2, 1, 200, 210)};
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), all_usual, 2);
    assert_int_equal(fit.n_components, 1);
    assert_int_equal(fit.models[0].method, TM_CLOCK_FIT);
    assert_int_equal(fit.models[0].offset_ns, -5 * US);
    assert_int_equal(fit.models[1].offset_ns, 5 * US);
    /* 40.02 us from the bounds, and 10 us for a bias that cannot be seen */
    assert_near(fit.models[1].uncertainty_ns, hypot(40020.0, 10000.0), 1.0);
    assert_bounds(&fit, 1, 5 - 40, 5 + 40);
    tm_clock_fit_free(&fit);

    /* Messages in one direction give a bound on one side only, which links no clocks. If clocks are
     * not linked, a message that contradicts them is not suspect. */
    rows[1].end_us = 20;
    fit = fit_rows(rows, 2, all_usual, 2);
    assert_int_equal(fit.n_components, 2);
    assert_int_equal(fit.n_suspect, 0);
    assert_int_equal(fit.models[1].method, TM_CLOCK_WALL);
    tm_clock_fit_free(&fit);
    rows[1].end_us = 130;

    /* s1 - s0 >= -30 and <= -40: contradictory bounds do not link either. */
    rows[2].end_us = 160;
    fit = fit_rows(rows, COUNT(rows), all_usual, 2);
    assert_int_equal(fit.n_components, 2);
    tm_clock_fit_free(&fit);
}

/* s1 - s0 is in [-30, 50], but s2 - s0 >= 40 and <= 30. So host 0 or host 2 is wrong, and the
 * bounds on host 1 are not reliable either. */
TEST(contradictory_messages_tie_nobody) {
    const row rows[] = {
        GIVES(1, 0, 100, 110), TAKES(1, 1, 90, 130),  TAKES(2, 0, 240, 250), GIVES(2, 1, 200, 210),
        GIVES(3, 0, 340, 350), TAKES(3, 2, 290, 300), TAKES(4, 0, 440, 480), GIVES(4, 2, 450, 460),
    };
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), all_usual, 3);
    assert_int_equal(fit.n_components, 3);
    tm_clock_fit_free(&fit);
}

/* All ends are equal, but in event 3 host 1 ended 4 us before host 0 began. The noise of 10 us
 * allows a correction, so each clock moves by half. If event 4 shows the opposite, none moves. */
TEST(clocks_give_way_to_causality) {
    const row rows[] = {
        FULL(1, 0, 60, 100),   FULL(1, 1, 60, 100),   FULL(2, 0, 160, 200),  FULL(2, 1, 160, 200),
        GIVES(3, 0, 304, 400), TAKES(3, 1, 250, 300), TAKES(4, 0, 450, 500), GIVES(4, 1, 504, 600),
    };
    tm_clock_fit fit = fit_rows(rows, 6, all_usual, 2);
    assert_true(fit.projected);
    assert_int_equal(fit.models[0].offset_ns, -2 * US);
    assert_int_equal(fit.models[1].offset_ns, 2 * US);
    assert_int_equal(fit.check.before, 1);
    assert_int_equal(fit.check.before_over, 1);
    assert_int_equal(fit.check.worst_before_ns, 4 * US);
    assert_int_equal(fit.check.after, 0);
    tm_clock_fit_free(&fit);

    fit = fit_rows(rows, COUNT(rows), all_usual, 2);
    assert_false(fit.projected);
    assert_int_equal(fit.models[0].offset_ns, 0);
    assert_int_equal(fit.check.after, 2);
    assert_int_equal(fit.check.after_over, 2);
    assert_int_equal(fit.check.worst_after_ns, 4 * US);
    /* Both bounds are violated and loosened by 4 us: 304 + s0 <= 304 + s1, 504 + s1 <= 504 + s0. */
    assert_bounds(&fit, 1, 0, 0);
    tm_clock_fit_free(&fit);
}

/* Two GPUs of host 0 contradict each other by 5 us, whatever the host's clock is. This moves no
 * clock and gives no bounds. 305 + s0 <= 400 + s1 and 250 + s1 <= 300 + s0 give s1 in [-95, 50]. */
TEST(a_host_that_contradicts_itself_moves_no_clock) {
    const int both = TM_CLOCK_GIVES | TM_CLOCK_TAKES;
    const row rows[] = {{1, 0, TM_CLOCK_ANCHOR, 0, 100},
                        {1, 1, TM_CLOCK_ANCHOR, 0, 100},
                        {2, 0, both, 305, 300},
                        {2, 1, both, 250, 400}};
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), all_usual, 2);
    assert_false(fit.projected);
    assert_int_equal(fit.check.after, 1);
    assert_int_equal(fit.models[0].offset_ns, 0);
    assert_bounds(&fit, 1, -95, 50);
    tm_clock_fit_free(&fit);
}

/* Ten events agree. In another event, either host 2 has the record of another operation, 3 ms
 * later; or it ended 3 ms late. This violates no causality, but the ends of a third of the ranks
 * are far off, more than FAR_SHARE (causality.c). */
TEST(a_wrong_match_is_suspect_and_left_out) {
    for (int late = 0; late < 2; late++) {
        row rows[33];
        for (int i = 0; i < 33; i++) {
            int event = i / 3;
            double at = 300.0 * event, shift = i == 32 ? 3000.0 : 0.0;
            rows[i] = (row){(uint64_t)event, i % 3, TM_CLOCK_FULL, at + (late ? 0.0 : shift),
                            at + 40.0 + shift};
        }
        tm_clock_fit fit = fit_rows(rows, COUNT(rows), all_usual, 3);
        assert_int_equal(fit.n_suspect, 1);
        for (int i = 0; i < 33; i++)
            assert_int_equal(fit.suspect[i], i >= 30);
        assert_int_equal(fit.check.events, 10);
        for (int h = 0; h < 3; h++) {
            assert_int_equal(fit.models[h].anchors, 10);
            assert_int_equal(fit.models[h].offset_ns, 0);
        }
        tm_clock_fit_free(&fit);
    }
}

/* Host 1 gains 10 us a second, in 40 events over 4 s. Recorded and true time are equal in the
 * middle. Only the difference of the clocks is known, so each gets half: -5 and +5 ppm. */
TEST(drift_is_fitted_where_it_can_be_seen) {
    row rows[80];
    for (int i = 0; i < 80; i++) {
        int event = i / 2;
        double at = 100e3 * event - 1950e3;
        at *= i % 2 ? 1.00001 : 1.0;
        rows[i] = (row){(uint64_t)event, i % 2, TM_CLOCK_FULL, at - 30.0, at};
    }
    tm_clock_domain domains[] = {usual, usual};
    domains[0].length_ns = domains[1].length_ns = INT64_C(4000000000);
    domains[0].drift_ppb = domains[1].drift_ppb = 20000.0;
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), domains, 2);
    assert_near(fit.models[0].drift_ppb, 5000.0, 1.0);
    assert_near(fit.models[1].drift_ppb, -5000.0, 1.0);
    assert_int_equal(fit.models[0].offset_ns, 0);
    assert_true(fit.models[0].end_uncertainty_ns > fit.models[0].uncertainty_ns);
    /* 2e9 ns at 5 ppm are 10 us */
    assert_near((double)tm_clock_true(&fit.models[0], MIDDLE + 2000000000) - (double)MIDDLE,
                2000010000.0, 1000.0);
    tm_clock_fit_free(&fit);

    /* The clocks are stated to drift by at most 0.01 ppb: 0.02 ns at the ends of the window. */
    domains[0].drift_ppb = domains[1].drift_ppb = 0.01;
    fit = fit_rows(rows, COUNT(rows), domains, 2);
    assert_true(fit.models[0].drift_ppb == 0.0 && fit.models[1].drift_ppb == 0.0);
    tm_clock_fit_free(&fit);
}

TEST(times_far_from_every_window_are_left_out) {
    const row rows[] = {FULL(1, 0, 90, 100), FULL(1, 1, 90, 100), FULL(2, 0, 190, 200),
                        FULL(2, 1, 1e13, 1e13)};
    tm_clock_fit fit = fit_rows(rows, COUNT(rows), all_usual, 2);
    assert_int_equal(fit.models[0].anchors, 1);
    assert_int_equal(fit.models[1].offset_ns, 0);
    assert_false(fit.suspect[2]);
    tm_clock_fit_free(&fit);
}

/* A rank whose ends differ by this from those of its host in each half. No launch is known. */
#define END(host, early_ns, late_ns)                                                               \
    { host, 9, early_ns, late_ns, 0, HUGE_VAL }

/* Four hosts. On the first, ranks are within 2 us. On the second, one rank is off by 100 us. On the
 * third, one rank gains 40 us between the halves. The fourth has no ranks. Spread of host 0: the
 * median of |-2|, |0|, |2| is 2, times 1.4826. */
TEST(ranks_share_a_clock_unless_one_is_off) {
    const tm_clock_rank_end ranks[] = {
        END(0, -2e3, -2e3),   END(0, 0, 0), END(0, 2e3, 2e3),    END(1, 0, 0),   END(1, 1e3, 1e3),
        END(1, 100e3, 100e3), END(2, 0, 0), END(2, -20e3, 20e3), END(2, 1e3, 0),
    };
    tm_clock_host hosts[HOSTS];
    tm_error err;
    assert_int_equal(tm_clock_split(ranks, COUNT(ranks), 1e3, hosts, HOSTS, &err), TM_OK);
    assert_true(hosts[0].shared && !hosts[1].shared && !hosts[2].shared && hosts[3].shared);
    assert_near(hosts[0].spread_ns, 1.4826 * 2e3, 1e-6);
    assert_near(hosts[3].spread_ns, 0.0, 0.0);

    /* If ends spread by 30 us, a difference of 100 us proves nothing. 7 events prove too little. */
    assert_int_equal(tm_clock_split(ranks, COUNT(ranks), 30e3, hosts, HOSTS, &err), TM_OK);
    assert_true(hosts[1].shared && hosts[2].shared);
    tm_clock_rank_end few = ranks[5];
    few.n = 7;
    const tm_clock_rank_end some[] = {ranks[3], ranks[4], few};
    assert_int_equal(tm_clock_split(some, COUNT(some), 1e3, hosts, HOSTS, &err), TM_OK);
    assert_true(hosts[1].shared);
}

/* Rank 2 ends 100 us after the others in both halves, which is over 5 times 3 us. */
TEST(a_rank_leaves_late_if_its_clock_is_right) {
    static const struct {
        double late_ns, lag_ns; /* of rank 2 in the second half; shortest lag of rank 0 */
        int64_t n_broken;       /* of rank 1 */
        bool shared;
    } rows[] = {
        {100e3, 49e3, 0, true},      {115e3, -49e3, 0, true},
        {115.1e3, 6e3, 0, false},    /* not steady */
        {100e3, 50e3, 0, false},     /* rank 0 may be behind */
        {100e3, HUGE_VAL, 0, false}, /* no launches */
        {100e3, 6e3, 1, false},      /* rank 1 ended before another rank started */
    };
    tm_clock_host host;
    tm_error err;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const tm_clock_rank_end ranks[] = {{0, 9, 0, 0, 0, rows[i].lag_ns},
                                           {0, 9, 0, 0, rows[i].n_broken, 6e3},
                                           {0, 9, 100e3, rows[i].late_ns, 0, 6e3}};
        assert_int_equal(tm_clock_split(ranks, COUNT(ranks), 1e3, &host, 1, &err), TM_OK);
        assert_int_equal(host.shared, rows[i].shared);
        assert_near(host.late_ns, rows[i].shared ? 15e3 : 0.0, 1e-6);
    }
}

/* The spreads are 1, 4 and 2 us, times 1.4826. Three ranks are little evidence, so no spread may be
 * below the middle one. A host without ranks has none. */
TEST(no_host_is_taken_for_better_than_the_usual_one) {
    const tm_clock_rank_end ranks[] = {
        END(0, -1e3, -1e3), END(0, 0, 0),       END(0, 1e3, 1e3), END(1, -4e3, -4e3), END(1, 0, 0),
        END(1, 4e3, 4e3),   END(2, -2e3, -2e3), END(2, 0, 0),     END(2, 2e3, 2e3),
    };
    const double spreads_ns[HOSTS] = {2e3, 4e3, 2e3, 0.0};
    tm_clock_host hosts[HOSTS];
    tm_error err;
    assert_int_equal(tm_clock_split(ranks, COUNT(ranks), 1e3, hosts, HOSTS, &err), TM_OK);
    for (size_t h = 0; h < HOSTS; h++)
        assert_near(hosts[h].spread_ns, 1.4826 * spreads_ns[h], 1e-6);
}

RUN_TESTS()

/* Latency and bandwidth from sizes and times. */
#include "analysis/communication/group_fit.h"

#include <math.h>

enum { MANY = 1024 };

typedef struct sample {
    tm_transfer v[MANY];
    size_t n;
} sample;

static void add(sample *s, size_t count, double moved_bytes, double time_ns) {
    for (size_t i = 0; i < count; i++) {
        assert_true(s->n < MANY);
        s->v[s->n++] = (tm_transfer){moved_bytes, time_ns};
    }
}

static tm_transfer_line fit(sample *s) {
    tm_error err;
    tm_transfer_line line;
    assert_int_equal(tm_fit_transfers(s->v, s->n, &line, &err), TM_OK);
    return line;
}

static void assert_near(double found, double expected, double relative) {
    assert_true(fabs(found - expected) <= relative * expected);
}

/* time = 10 us + moved / (2 bytes/ns), in no order. */
static void a_line_is_found_again(void **state) {
    sample s = {.n = 0};
    add(&s, 1, 100000, 60000);
    add(&s, 3, 1000, 10500);
    add(&s, 2, 4000, 12000);
    tm_transfer_line line = fit(&s);
    assert_true(line.found && line.tells_latency && line.tells_bandwidth);
    assert_near(line.latency_ns, 10000, 1e-9);
    assert_near(line.bandwidth_gbps, 2, 1e-9);
    assert_near(tm_line_at(&line, 50000), 35000, 1e-9);
}

/* The same, but of five operations of each size two are up to a hundred times as slow: the medians
 * are not. */
static void a_few_slow_operations_do_not_move_it(void **state) {
    sample s = {.n = 0};
    add(&s, 3, 100000, 60000);
    add(&s, 2, 100000, 120000);
    add(&s, 3, 1000, 10500);
    add(&s, 2, 1000, 1050000);
    tm_transfer_line line = fit(&s);
    assert_near(line.latency_ns, 10000, 1e-9);
    assert_near(line.bandwidth_gbps, 2, 1e-9);
}

/* Of three sizes one is wrong as a whole: the line goes through the other two. */
static void a_size_that_does_not_fit_does_not_move_it(void **state) {
    sample s = {.n = 0};
    add(&s, 9, 1000, 10500);
    add(&s, 3, 30000, 50000); /* twice what the line gives */
    add(&s, 9, 100000, 60000);
    tm_transfer_line line = fit(&s);
    assert_near(line.latency_ns, 10000, 1e-9);
    assert_near(line.bandwidth_gbps, 2, 1e-9);
}

/* Two small operations, and 800 large ones that are 1 % above and below the line 10 us + moved / 2.
 * Through the large ones alone the latency would be 40.5 us: (752400 - 515100) / 500000 = 0.4746 ns
 * a byte, and 515100 - 474600. Through the small ones and the second: 741900 / 1499000 = 0.49493,
 * 10500 - 494.93 = 10005, which misses the first by 2 % x sqrt(400), least of all three lines. With
 * their number as weight, 2 x 290 % of the small ones would be less than that of the others. */
static void few_small_operations_tell_the_latency(void **state) {
    sample s = {.n = 0};
    add(&s, 400, 1000000, 515100);
    add(&s, 400, 1500000, 752400);
    add(&s, 2, 1000, 10500);
    tm_transfer_line line = fit(&s);
    assert_near(line.latency_ns, 10005.07, 1e-6);
    assert_near(line.bandwidth_gbps, 1499.0 / 741.9, 1e-6);
}

/* Sizes 1000 and 1250 are a quarter apart and one: 1125 with the median time of both, 15562.5. Then
 * (25250 - 15562.5) / (5000 - 1125) = 2.5 ns a byte, and 15562.5 - 2.5 x 1125. */
static void sizes_close_together_are_one(void **state) {
    sample s = {.n = 0};
    add(&s, 1, 1000, 10500);
    add(&s, 1, 1250, 20625);
    add(&s, 1, 5000, 25250);
    tm_transfer_line line = fit(&s);
    assert_near(line.latency_ns, 12750, 1e-9);
    assert_near(line.bandwidth_gbps, 0.4, 1e-9);
}

static void sizes_too_alike_tell_nothing(void **state) {
    sample none = {.n = 0}, one = {.n = 0}, near = {.n = 0}, far = {.n = 0};
    add(&one, 5, 1000, 10500);
    add(&near, 5, 1000, 10500);
    add(&near, 5, 3999, 11999.5);
    add(&far, 5, 1000, 10500);
    add(&far, 5, 4000, 12000);
    assert_false(fit(&none).found);
    assert_false(fit(&one).found);
    assert_false(fit(&near).found);
    assert_true(fit(&far).found);
}

static void times_that_do_not_grow_tell_nothing(void **state) {
    sample falling = {.n = 0}, same = {.n = 0}, steep = {.n = 0};
    add(&falling, 5, 1000, 10500);
    add(&falling, 5, 9000, 10400);
    add(&same, 5, 1000, 10500);
    add(&same, 5, 9000, 10500);
    add(&steep, 5, 1000, 1000); /* the latency would be below zero: 1000 - 1000 * 9000 / 8000 */
    add(&steep, 5, 9000, 10000);
    assert_false(fit(&falling).found);
    assert_false(fit(&same).found);
    assert_false(fit(&steep).found);
}

/* A latency of 100 in 100100 is lost in what the smallest size takes; a bandwidth is, where the
 * largest takes 4 of 10004 beyond the latency. */
static void what_is_too_small_is_not_told(void **state) {
    sample large = {.n = 0}, small = {.n = 0};
    add(&large, 5, 100000, 100100);
    add(&large, 5, 1000000, 1000100);
    add(&small, 5, 4, 10000.04);
    add(&small, 5, 400, 10004);
    tm_transfer_line line = fit(&large);
    assert_true(line.found && !line.tells_latency && line.tells_bandwidth);
    assert_near(line.bandwidth_gbps, 1, 1e-9);
    line = fit(&small);
    assert_true(line.found && line.tells_latency && !line.tells_bandwidth);
    assert_near(line.latency_ns, 10000, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_found_again),
        cmocka_unit_test(a_few_slow_operations_do_not_move_it),
        cmocka_unit_test(a_size_that_does_not_fit_does_not_move_it),
        cmocka_unit_test(few_small_operations_tell_the_latency),
        cmocka_unit_test(sizes_close_together_are_one),
        cmocka_unit_test(sizes_too_alike_tell_nothing),
        cmocka_unit_test(times_that_do_not_grow_tell_nothing),
        cmocka_unit_test(what_is_too_small_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

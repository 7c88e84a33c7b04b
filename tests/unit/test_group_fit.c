/* Fits latency and bandwidth to sizes and times. */
#include "analysis/communication/group_fit.h"

#include <math.h>

enum { MANY = 1024 };

static const struct {
    const char *what;
    struct {
        size_t n;
        double moved_bytes, time_ns;
    } given[4];
    struct {
        const char
            *reported; /* l: a latency, b: a bandwidth, ?: not checked; "": no line is found */
        double latency_ns, gbps;
    } line;
} cases[] = {
    {"a line: 10 us + moved / (2 bytes/ns), in no order",
     {{1, 100000, 60000}, {3, 1000, 10500}, {2, 4000, 12000}},
     {"lb", 10000, 2}},
    /* Two of five operations of each size are much slower. Medians are not affected. */
    {"a few slow operations",
     {{3, 100000, 60000}, {2, 100000, 120000}, {3, 1000, 10500}, {2, 1000, 1050000}},
     {"lb", 10000, 2}},
    /* The line passes through the other two sizes. 50000 is twice the line's value. */
    {"a size that does not fit",
     {{9, 1000, 10500}, {3, 30000, 50000}, {9, 100000, 60000}},
     {"lb", 10000, 2}},
    /* Two small operations, and 800 large ones that are 1 % above or below the line 10 us + moved /
     * 2. The line through the large ones has (752400 - 515100) / 500000 = 0.4746 ns a byte, and a
     * latency of 515100 - 474600 = 40.5 us. The line through the small and the second size has
     * 741900 / 1499000 = 0.49493 ns a byte, and 10500 - 494.93 = 10005 ns. A size weighs the root
     * of its number: this line misses the first by 2 % x sqrt(400), the least of the three. If a
     * size weighed its number, the large ones' line would be best: 2 x 290 % of the small ones. */
    {"few small operations give the latency",
     {{400, 1000000, 515100}, {400, 1500000, 752400}, {2, 1000, 10500}},
     {"lb", 10500 - 741900.0 / 1499, 1499.0 / 741.9}},
    /* 1000 and 1250 are merged into 1125, with the median time of both, 15562.5. The line has
     * (25250 - 15562.5) / (5000 - 1125) = 2.5 ns a byte, and a latency of 15562.5 - 2.5 x 1125. */
    {"sizes a quarter apart are one",
     {{1, 1000, 10500}, {1, 1250, 20625}, {1, 5000, 25250}},
     {"?", 12750, 0.4}},
    {"no operations", {{0, 0, 0}}, {"", 0, 0}},
    {"one size", {{5, 1000, 10500}}, {"", 0, 0}},
    {"sizes less than 4 times apart", {{5, 1000, 10500}, {5, 3999, 11999.5}}, {"", 0, 0}},
    {"4 times apart", {{5, 1000, 10500}, {5, 4000, 12000}}, {"?", 10000, 2}},
    {"times that fall", {{5, 1000, 10500}, {5, 9000, 10400}}, {"", 0, 0}},
    {"times that stay", {{5, 1000, 10500}, {5, 9000, 10500}}, {"", 0, 0}},
    /* the latency would be 1000 - 1000 * 9000 / 8000 = -125 ns */
    {"a latency below zero", {{5, 1000, 1000}, {5, 9000, 10000}}, {"", 0, 0}},
    /* A latency of 100 ns is negligible if the smallest size takes 100100. The transfer is
     * negligible if it is only 4 of the 10004 ns of the largest size. */
    {"a small latency", {{5, 100000, 100100}, {5, 1000000, 1000100}}, {"b", 0, 1}},
    {"a large bandwidth", {{5, 4, 10000.04}, {5, 400, 10004}}, {"l", 10000, 0}},
};

static void assert_near(double found, double expected) {
    assert_true(fabs(found - expected) <= 1e-9 * expected);
}

TEST(a_line_is_found_where_sizes_and_times_show_one) {
    for (size_t c = 0; c < COUNT(cases); c++) {
        tm_transfer sample[MANY];
        tm_transfer_line line;
        tm_error err;
        size_t n = 0;
        print_message("%s\n", cases[c].what);
        for (size_t i = 0; i < COUNT(cases[c].given); i++)
            for (size_t k = 0; k < cases[c].given[i].n; k++)
                sample[n++] =
                    (tm_transfer){cases[c].given[i].moved_bytes, cases[c].given[i].time_ns};
        assert_int_equal(tm_fit_transfers(sample, n, &line, &err), TM_OK);
        const char *reported = cases[c].line.reported;
        assert_int_equal(line.found, *reported != '\0');
        if (line.found && *reported != '?') {
            assert_int_equal(line.shows_latency, strchr(reported, 'l') != NULL);
            assert_int_equal(line.shows_bandwidth, strchr(reported, 'b') != NULL);
        }
        if (cases[c].line.latency_ns > 0)
            assert_near(line.latency_ns, cases[c].line.latency_ns);
        if (cases[c].line.gbps > 0)
            assert_near(line.bandwidth_gbps, cases[c].line.gbps);
        if (c == 0)
            assert_near(tm_line_at(&line, 50000), 35000);
    }
}

RUN_TESTS()

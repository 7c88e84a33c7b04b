/* Coverage of time buckets, and its sums, computed by hand. */
#include "timeline_fixture.h"

#include "report/timeline_coverage.h"
#include "report/timeline_plan.h"
#include "timeline_reader.h"

#define KERNEL(name, begin, duration, stream)                                                      \
    { TM_CAT_KERNEL, name, begin, duration, 0, stream, 0, NULL, TM_DURATION }
#define COPY(begin, duration)                                                                      \
    { TM_CAT_MEMCPY, "Memcpy HtoD", begin, duration, 0, 9, 0, NULL, TM_DURATION }

enum { EPOCH = 5000 };

TEST(numbers_are_written_seven_bits_at_a_time) {
    tm_bytes out = tm_bytes_make();
    tm_bytes_put(&out, 0);
    tm_bytes_put(&out, 127);
    tm_bytes_put(&out, 300); /* 300 = 2 x 128 + 44 */
    tm_bytes_put_signed(&out, -1);
    tm_bytes_put_signed(&out, 64);
    const uint8_t expected[] = {0, 127, 0x80 | 44, 2, 1, 0x80, 1};
    assert_int_equal(out.bytes.n, sizeof expected);
    assert_memory_equal(out.bytes.data, expected, sizeof expected);
    out.bytes.n = 0;
    const int64_t values[] = {INT64_MIN, INT64_MAX, -300};
    for (size_t i = 0; i < COUNT(values); i++)
        tm_bytes_put_signed(&out, values[i]);
    block_reader r = read_block(&out);
    for (size_t i = 0; i < COUNT(values); i++)
        assert_int_equal(read_signed(&r), values[i]);
    tm_bytes_free(&out);
}

/* 2,048 characters of two bytes fit. With one more byte before them, the last two bytes do not fit,
 * and a cut there would be inside a character. */
TEST(a_long_text_is_cut_between_characters) {
    char text[1 + 4096];
    memset(text, 'x', sizeof text);
    for (size_t i = 1; i < sizeof text; i++)
        text[i] = (char)(i % 2 ? 0xc3 : 0xa4);
    tm_bytes out = tm_bytes_make();
    tm_bytes_put_text(&out, (tm_text){text + 1, 4096});
    tm_bytes_put_text(&out, (tm_text){text, 4097});
    block_reader r = read_block(&out);
    assert_int_equal(read_number(&r), 4096);
    r.at += 4096;
    /* 4,096 - 3 = 4,093 bytes: the x and 2,046 characters */
    assert_int_equal(read_number(&r), 4096);
    assert_memory_equal(r.at, text, 4093);
    assert_memory_equal(r.at + 4093, "\xe2\x80\xa6", 3);
    tm_bytes_free(&out);
}

TEST(coarser_coverage_is_the_mean_of_two_and_shows_what_there_is) {
    tm_bytes shares = tm_bytes_make();
    /* the means are 0, 0.5, 255, 15 and 10.5, rounded up */
    static const uint8_t fine[] = {0, 0, 0, 1, 255, 255, 10, 20, 11, 10};
    static const uint8_t coarse[] = {0, 1, 255, 15, 11};
    assert_non_null(tm_bytes_put_raw(&shares, fine, sizeof fine));
    tm_coverage_halve(&shares);
    assert_int_equal(shares.bytes.n, sizeof coarse);
    assert_memory_equal(shares.bytes.data, coarse, sizeof coarse);
    tm_bytes_free(&shares);
}

/* Members take 12 of 600,000 / 3 bytes each, events 8 each of what 10,000 members leave. */
TEST(operations_and_events_stay_within_what_is_left) {
    tm_timeline_budget budget = tm_timeline_budget_of(1024, 5000000);
    assert_int_equal(budget.n_members, 138888);
    tm_timeline_leave(&budget, 600000);
    assert_int_equal(budget.n_members, 16666);
    assert_int_equal(tm_timeline_events(&budget, 10000), 60000);
    tm_timeline_leave(&budget, 1); /* some are kept even if the tables leave no room */
    assert_int_equal(budget.n_members, 0);
    assert_int_equal(tm_timeline_events(&budget, 0), 20000);
}

TEST(buckets_divide_the_time_without_a_gap) {
    const tm_buckets thirds = {0, 10, 3}; /* the borders 10/3 and 20/3 are rounded down */
    assert_int_equal(tm_bucket_begin(&thirds, 0), 0);
    assert_int_equal(tm_bucket_begin(&thirds, 1), 3);
    assert_int_equal(tm_bucket_begin(&thirds, 2), 6);
    assert_int_equal(tm_bucket_begin(&thirds, 3), 10);
    const tm_buckets years = {0, INT64_C(4000000000000000007), 8192};
    assert_int_equal(tm_bucket_begin(&years, 8192), INT64_C(4000000000000000007));
}

/* Makes the coverage of one rank over [0, 1000), in ten buckets of 100. */
static tm_bytes cover(const tm_timeline *timeline) {
    const tm_buckets buckets = {EPOCH, 1000, 10};
    tm_lanes lanes;
    tm_bytes out = tm_bytes_make();
    tm_error err;
    assert_int_equal(tm_lanes_make(timeline, NULL, &lanes, &err), TM_OK);
    assert_int_equal(tm_coverage_put(&buckets, &lanes, &out, &err), TM_OK);
    assert_int_equal(out.bytes.n, 50);
    tm_lanes_free(&lanes);
    return out;
}

static void set_wait(const ground *g, tm_timeline *timeline, const char *name, int64_t wait_ns) {
    tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    uint32_t row = row_named(g, timeline, name);
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++)
        if (attrs[i].event == row)
            attrs[i].wait_ns = wait_ns;
}

/* - Compute [0, 150), [120, 250): the union takes 100, 100, 50 ns of the first three buckets, and
 * 1 ns of the last bucket.
 * - Copies [200, 300), of which compute does not hide [250, 300).
 * - An all-reduce [300, 500) waits in [300, 460) and transfers for 40 ns. An all-gather on a second
 * stream waits in [440, 480) and transfers until 520. The rank transfers while either does: in
 * [460, 520), 40 and 20 ns of two buckets. It waits while none does: in [300, 460), 100 and 60 ns.
 * - An unmatched broadcast [510, 540): [520, 540) is left for it.
 * 255 x 0.5 = 127.5 is rounded to 128; 0.6 gives 153, 0.4: 102, 0.2: 51, 0.01: 2.55, rounded to
 * 3. */
static const event_spec small_rank[] = {
    KERNEL("gemm", EPOCH + 0, 150, 7),
    KERNEL("gemm", EPOCH + 120, 130, 8),
    COPY(EPOCH + 200, 100),
    KERNEL("ncclDevKernel_AllReduce_Sum_f32_RING_LL", EPOCH + 300, 200, 20),
    KERNEL("ncclDevKernel_AllGather_RING_LL", EPOCH + 440, 80, 21),
    KERNEL("ncclDevKernel_Broadcast_RING_LL", EPOCH + 510, 30, 22),
    KERNEL("gemm", EPOCH + 950, 1, 7),
};

static tm_timeline make_small_rank(ground *g) {
    tm_timeline t = build_one(g, 0, small_rank, COUNT(small_rank));
    set_wait(g, &t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 160);
    set_wait(g, &t, "ncclDevKernel_AllGather_RING_LL", 40);
    return t;
}

TEST(shares_are_those_worked_out_by_hand) {
    ground g = open_ground();
    tm_timeline t = make_small_rank(&g);
    tm_bytes out = cover(&t);
    static const uint8_t expected[50] = {
        255, 255, 128, 0,   0,   0,  0, 0, 0, 3, /* compute */
        0,   0,   0,   0,   102, 51, 0, 0, 0, 0, /* transfer */
        0,   0,   0,   255, 153, 0,  0, 0, 0, 0, /* wait */
        0,   0,   0,   0,   0,   51, 0, 0, 0, 0, /* unmatched */
        0,   0,   128, 0,   0,   0,  0, 0, 0, 0, /* copies */
    };
    assert_memory_equal(out.bytes.data, expected, sizeof expected);
    tm_bytes_free(&out);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

/* A clock that is behind by 100 ns moves everything by a bucket. */
TEST(times_are_on_the_clock_of_the_job) {
    ground g = open_ground();
    const event_spec one[] = {KERNEL("gemm", EPOCH + 0, 100, 7)};
    tm_timeline t = build_one(&g, 0, one, COUNT(one));
    t.clock.offset_ns = 100;
    tm_bytes out = cover(&t);
    const uint8_t *shares = out.bytes.data;
    assert_int_equal(shares[0], 0);
    assert_int_equal(shares[1], 255);
    assert_int_equal(shares[2], 0);
    tm_bytes_free(&out);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

/* Two ranks, one of them empty. In bucket 4, compute hides no transfer: 40 of 2 x 100 ns. In bucket
 * 5, compute is added in [500, 520) and hides the transfer. */
TEST(the_strip_leaves_out_what_compute_hides) {
    ground g = open_ground();
    tm_timeline t = make_small_rank(&g);
    const tm_buckets buckets = {EPOCH, 1000, 10};
    int64_t sums[50] = {0};
    tm_lanes lanes;
    tm_error err;
    assert_int_equal(tm_lanes_make(&t, NULL, &lanes, &err), TM_OK);
    assert_true(tm_intervals_add(&lanes.kinds[TM_LANE_COMPUTE], EPOCH + 500, EPOCH + 520));
    tm_intervals_normalise(&lanes.kinds[TM_LANE_COMPUTE]);
    assert_int_equal(tm_strip_add(&buckets, &lanes, sums, &err), TM_OK);
    assert_int_equal(sums[TM_LANE_TRANSFER * 10 + 4], 40);
    assert_int_equal(sums[TM_LANE_TRANSFER * 10 + 5], 0);
    assert_int_equal(sums[TM_LANE_UNMATCHED * 10 + 5], 20);
    assert_int_equal(sums[TM_LANE_COPIES * 10 + 2], 50);
    tm_bytes out = tm_bytes_make();
    tm_strip_put(&buckets, sums, 2, &out);
    /* 40 of 200 ns: 65,535 x 0.2 = 13,107 = 51 x 256 + 51 */
    const uint8_t *share = (uint8_t *)out.bytes.data + (size_t)2 * (TM_LANE_TRANSFER * 10 + 4);
    assert_int_equal(share[0], 51);
    assert_int_equal(share[1], 51);
    tm_bytes_free(&out);
    tm_lanes_free(&lanes);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

/* 1 ns in a bucket of a million would be rounded to zero. */
TEST(a_bucket_with_anything_is_not_empty) {
    const tm_buckets buckets = {0, 10000000, 10};
    tm_lanes lanes;
    tm_bytes out = tm_bytes_make();
    tm_error err;
    for (int k = 0; k < TM_N_LANE_KINDS; k++) {
        lanes.kinds[k] = TM_INTERVALS();
        assert_true(tm_intervals_add(&lanes.kinds[k], 3999999, 4000000));
    }
    assert_int_equal(tm_coverage_put(&buckets, &lanes, &out, &err), TM_OK);
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(((uint8_t *)out.bytes.data)[i], i % 10 == 3);
    tm_bytes_free(&out);
    tm_lanes_free(&lanes);
}

/* The sum of share x width over all buckets is the length of the set, within half a count per
 * bucket (one count if a share was raised to 1). This holds for intervals of any length, and if
 * buckets do not divide the time. */
TEST(shares_sum_to_the_time_within_half_a_count) {
    enum { N = 1000, INTERVALS = 3000 };
    const tm_buckets buckets = {EPOCH, 123456789, N};
    tm_lanes lanes;
    tm_bytes out = tm_bytes_make();
    tm_error err;
    uint64_t seed = 7;
    for (int k = 0; k < TM_N_LANE_KINDS; k++)
        lanes.kinds[k] = TM_INTERVALS();
    tm_intervals *set = &lanes.kinds[TM_LANE_COMPUTE];
    for (int i = 0; i < INTERVALS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int64_t begin = (int64_t)(seed >> 33) % 123000000, length = (int64_t)(seed >> 20) % 60000;
        assert_true(tm_intervals_add(set, EPOCH + begin, EPOCH + begin + length));
    }
    tm_intervals_normalise(set);
    assert_int_equal(tm_coverage_put(&buckets, &lanes, &out, &err), TM_OK);
    const uint8_t *shares = out.bytes.data;
    double sum = 0.0, tolerance = 0.0;
    for (size_t i = 0; i < N; i++) {
        int64_t begin = tm_bucket_begin(&buckets, i), end = tm_bucket_begin(&buckets, i + 1);
        double exact = (double)tm_intervals_length_in(set, EPOCH + begin, EPOCH + end);
        double count = (double)(end - begin) / 255.0, found = shares[i] * count;
        double allowed = shares[i] == 1 ? count : count / 2.0;
        assert_true(found - exact <= allowed && exact - found <= allowed);
        sum += found;
        tolerance += allowed;
    }
    double exact = (double)tm_intervals_length(set);
    assert_true(sum - exact <= tolerance && exact - sum <= tolerance);
    tm_bytes_free(&out);
    tm_lanes_free(&lanes);
}

RUN_TESTS()

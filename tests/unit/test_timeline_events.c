/* Selection of a job's events for the page. Their columns are written and read back. */
#include "timeline_fixture.h"

#include "report/timeline_details.h"
#include "timeline_reader.h"

#define KERNEL(name, begin, duration, stream)                                                      \
    { TM_CAT_KERNEL, name, begin, duration, 0, stream, 0, NULL, TM_DURATION }
#define OP(name, begin, duration)                                                                  \
    { TM_CAT_CPU_OP, name, begin, duration, 0, 1, 1, NULL, TM_DURATION }
#define STEP(name, begin, duration)                                                                \
    { TM_CAT_USER_ANNOTATION, name, begin, duration, 0, 1, 1, NULL, TM_DURATION }
#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL"

/* Ranks, and the state of writing their events to the page. */
typedef struct bench {
    ground ground;
    tm_buckets job;
    tm_plan plan;
    tm_operations operations;
    tm_dictionary dictionary;
    tm_timeline ranks[8];
    size_t n;
} bench;

static bench open_bench(bool steps) {
    bench b = {.ground = open_ground(), .job = {1000, 100000, 10}};
    tm_plan_init(&b.plan, steps);
    tm_operations_init(&b.operations);
    return b;
}

static tm_timeline *add(bench *b, const event_spec *events, size_t n) {
    tm_timeline *t = &b->ranks[b->n];
    *t = build_one(&b->ground, (int64_t)b->n, events, n);
    b->n++;
    return t;
}

static void scan(bench *b) {
    tm_error err;
    for (size_t i = 0; i < b->n; i++) {
        assert_int_equal(tm_plan_add(&b->plan, &b->ranks[i], &b->job, &err), TM_OK);
        assert_int_equal(tm_operations_add(&b->operations, &b->ranks[i], b->ground.names, &err),
                         TM_OK);
    }
}

static void close_bench(bench *b) {
    for (size_t i = 0; i < b->n; i++)
        tm_timeline_destroy(&b->ranks[i]);
    tm_plan_free(&b->plan);
    tm_operations_free(&b->operations);
    tm_dictionary_free(&b->dictionary);
    close_ground(&b->ground);
}

static void choose(bench *b, const tm_plan_wishes *wishes, size_t n_members) {
    tm_error err;
    assert_int_equal(tm_plan_choose(&b->plan, wishes, &err), TM_OK);
    assert_int_equal(tm_operations_choose(&b->operations, n_members, &err), TM_OK);
    assert_int_equal(tm_dictionary_make(b->ground.names, &b->dictionary, &err), TM_OK);
}

/* Writes the chosen events of a rank, or their details, to @p out, which the caller frees. Returns
 * the number of events. */
static size_t put(bench *b, size_t at, bool details, tm_bytes *out) {
    tm_error err;
    tm_event_writer w = tm_event_writer_make();
    tm_page_encoding encoding;
    *out = tm_bytes_make();
    w.plan = &b->plan;
    w.operations = &b->operations;
    w.job_begin_ns = b->job.begin_ns;
    w.out = &encoding.events;
    tm_page_encoding_init(&encoding);
    assert_int_equal(tm_events_put(&w, &b->ranks[at], at, &err), TM_OK);
    assert_int_equal(tm_details_put(&w, &b->ranks[at], at, &encoding.details, &err), TM_OK);
    tm_event_encoding_put(details ? &encoding.details : &encoding.events, 0, &b->dictionary, out);
    size_t n = w.shown.n;
    tm_page_encoding_free(&encoding);
    tm_event_writer_free(&w);
    return n;
}

static size_t n_put(bench *b, size_t at) {
    tm_bytes out;
    size_t n = put(b, at, false, &out);
    tm_bytes_free(&out);
    return n;
}

static const tm_plan_wishes everything = {.rank = -1, .step = -1, .n_events = 1000};

/* Reads all events of the only rank of a bench, or their details. */
static block_reader put_all(bench *b, bool details, tm_bytes *out) {
    scan(b);
    choose(b, &everything, 100);
    size_t n = put(b, 0, details, out);
    assert_true(details || n == b->ranks[0].n_events);
    return read_block(out);
}

static void expect_text(const bench *b, uint64_t number, const char *text) {
    assert_true(number < b->dictionary.used.n);
    assert_name(&b->ground, ((uint32_t *)b->dictionary.used.data)[number], text);
}

/* An operator [0, 100) contains two adjacent ones; the second contains another. A last operator
 * begins while the first is open, and ends after it. */
TEST(columns_of_a_thread_are_read_back) {
    const event_spec events[] = {
        OP("outer", 1010, 100), OP("first", 1020, 20),    OP("second", 1040, 30),
        OP("inner", 1050, 5),   OP("crossing", 1100, 20), OP("after", 1130, 1),
    };
    bench b = open_bench(false);
    add(&b, events, COUNT(events));
    tm_bytes out;
    block_reader r = put_all(&b, false, &out);
    EXPECT_NUMBERS(&r, 0, TM_TRACK_THREAD, 0, 0); /* rank, track, unknown device and stream */
    (void)read_number(&r);                        /* thread id */
    expect_text(&b, read_number(&r), "");
    EXPECT_NUMBERS(&r, 6);
    const int64_t deltas[] = {10, 10, 20, 10, 50, 30};
    for (size_t i = 0; i < COUNT(deltas); i++)
        assert_int_equal(read_signed(&r), deltas[i]);
    EXPECT_NUMBERS(&r, 100, 20, 30, 5, 20, 1);
    for (size_t i = 0; i < COUNT(events); i++)
        expect_text(&b, read_number(&r), events[i].name);
    EXPECT_NUMBERS(&r, 0, 1, 1, 2, 1, 0);
    for (size_t i = 0; i < COUNT(events); i++)
        EXPECT_NUMBERS(&r, TM_SHOWN_OPERATOR);
    assert_ptr_equal(r.at, r.end);
    tm_bytes_free(&out);
    close_bench(&b);
}

/* On the page, event 0 is the GPU's copy, 1 the kernel, 2 a kernel with an unknown launch, 3 the
 * operator, 4 the kernel's call, and 5 the copy's call. */
static const event_spec launched[] = {
    OP("aten::mm", 1010, 30),
    {TM_CAT_RUNTIME, "cudaLaunchKernel", 1020, 5, 41, 1, 1, NULL, TM_DURATION},
    {TM_CAT_RUNTIME, "cudaMemcpyAsync", 1050, 5, 39, 1, 1, NULL, TM_DURATION},
    {TM_CAT_MEMCPY, "Memcpy DtoH", 1060, 1, 39, 7, 0, NULL, TM_DURATION},
    {TM_CAT_KERNEL, "gemm", 1070, 10, 41, 7, 0, NULL, TM_DURATION},
    {TM_CAT_KERNEL, "gemm", 1090, 10, 50, 7, 0, NULL, TM_DURATION},
};

static tm_timeline *add_launched(bench *b) {
    tm_timeline *t = add(b, launched, COUNT(launched));
    tm_kernel_attr *kernels = t->attrs[TM_ATTR_KERNEL];
    tm_copy_attr *copy = t->attrs[TM_ATTR_COPY];
    tm_launch_shape *shape = &t->shapes[kernels[0].shape]; /* shared by both kernels */
    *shape = (tm_launch_shape){.grid = {128, 2, 1},
                               .block = {256, 1, 1},
                               .registers = 40,
                               .shared_memory_bytes = -1,
                               .occupancy_pct = 37.5F};
    copy->bytes = 4096;
    return t;
}

TEST(what_launched_an_event_is_reported) {
    bench b = open_bench(false);
    tm_timeline *t = add_launched(&b);
    tm_shapes_attr inputs = {row_named(&b.ground, t, "aten::mm"), name_of(&b.ground, "[[8, 16]]")};
    t->attrs[TM_ATTR_SHAPES] = &inputs;
    t->n_attrs[TM_ATTR_SHAPES] = 1;
    tm_bytes out;
    block_reader r = put_all(&b, true, &out);
    EXPECT_NUMBERS(&r, 0, 1, 129, 3, 2, 257, 2, 2, 41, 0, 3751);
    EXPECT_NUMBERS(&r, 2, 0, 1, 10, 1);        /* launches: event 5, then 5 - 1; zigzag doubles */
    EXPECT_NUMBERS(&r, 3, 0, 1, 1, 78, 4, 18); /* ids 39, 39 + 2, 41 + 9; zigzag doubles */
    EXPECT_NUMBERS(&r, 2, 1, 1, 0, 0);
    EXPECT_NUMBERS(&r, 1, 0, 8192);
    EXPECT_NUMBERS(&r, 1, 3);
    expect_text(&b, read_number(&r), "[[8, 16]]");
    EXPECT_NUMBERS(&r, 0, 0); /* neither stacks nor counters */
    assert_ptr_equal(r.at, r.end);
    tm_bytes_free(&out);
    t->attrs[TM_ATTR_SHAPES] = NULL;
    t->n_attrs[TM_ATTR_SHAPES] = 0;
    close_bench(&b);
}

/* Only the three GPU events fit. Their launches are left out, so they have no details. */
TEST(of_launches_that_are_left_out_nothing_is_reported) {
    bench b = open_bench(false);
    add_launched(&b);
    scan(&b);
    choose(&b, &(tm_plan_wishes){.rank = -1, .step = -1, .n_events = 3}, 100);
    assert_false(b.plan.all);
    tm_bytes out;
    assert_int_equal(put(&b, 0, true, &out), 3);
    block_reader r = read_block(&out);
    EXPECT_NUMBERS(&r, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    assert_ptr_equal(r.at, r.end);
    tm_bytes_free(&out);
    close_bench(&b);
}

/* A clock has 2,000 points of 1.5, except for one 3 and one 1. Another series is always 0. Each of
 * 256 stretches of 7 or 8 points keeps two points if they differ, else one. */
TEST(counters_keep_their_least_and_most) {
    enum { N = 2000, ALL = 4000 };
    static event_spec events[ALL];
    static tm_counter_attr attrs[ALL];
    bench b = open_bench(false);
    for (size_t i = 0; i < ALL; i++)
        events[i] = (event_spec){TM_CAT_OTHER,
                                 i < N ? "clock" : "idle",
                                 1010 + 10 * (int64_t)(i % N),
                                 0,
                                 0,
                                 i < N ? 1 : 2,
                                 1,
                                 NULL,
                                 TM_COUNTER};
    tm_timeline *t = add(&b, events, ALL);
    for (uint32_t i = 0; i < ALL; i++) {
        bool clock = t->name[i] == name_of(&b.ground, "clock");
        double value = !clock ? 0 : i % N == 700 ? 3 : i % N == 701 ? 1 : 1.5;
        attrs[i] = (tm_counter_attr){value, i, name_of(&b.ground, clock ? "MHz" : "value")};
    }
    t->attrs[TM_ATTR_COUNTER] = attrs;
    t->n_attrs[TM_ATTR_COUNTER] = ALL;
    tm_bytes out;
    block_reader r = put_all(&b, true, &out);
    EXPECT_NUMBERS(&r, 0, 0, 0, 0, 0, 0, 0, 0, 1);
    expect_text(&b, read_number(&r), "clock");
    expect_text(&b, read_number(&r), "MHz");
    EXPECT_NUMBERS(&r, 257); /* one point per stretch, and one more for the stretch with 3 and 1 */
    for (int64_t i = 0, begin = 0; i < 257; i++) {
        begin += read_signed(&r);
        if (i == 0)
            assert_int_equal(begin, 10);
    }
    float values[257], most = 0, least = 9;
    assert_int_equal(r.end - r.at, sizeof values);
    memcpy(values, r.at, sizeof values);
    for (size_t i = 0; i < 257; i++) {
        most = values[i] > most ? values[i] : most;
        least = values[i] < least ? values[i] : least;
    }
    assert_true(most == 3.0F && least == 1.0F && values[256] == 1.5F);
    tm_bytes_free(&out);
    t->attrs[TM_ATTR_COUNTER] = NULL;
    t->n_attrs[TM_ATTR_COUNTER] = 0;
    close_bench(&b);
}

static tm_collective_attr *match(const bench *b, size_t at, int32_t first_rank, int64_t wait_ns) {
    tm_collective_attr *attrs = b->ranks[at].attrs[TM_ATTR_COLLECTIVE];
    attrs[0].first_rank = first_rank;
    attrs[0].first_event = row_named(&b->ground, &b->ranks[first_rank], ALL_REDUCE);
    attrs[0].wait_ns = wait_ns;
    return attrs;
}

TEST(communication_has_its_wait_and_operation) {
    const event_spec events[] = {
        KERNEL("gemm", 1000, 10, 7),
        KERNEL(ALL_REDUCE, 1010, 50, 7),
        KERNEL("ncclDevKernel_Broadcast_RING_LL", 1060, 5, 7),
        {TM_CAT_MEMCPY, "Memcpy DtoD", 1070, 1, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_GPU_ANNOTATION, "region", 1000, 80, 0, 7, 0, NULL, TM_DURATION},
    };
    bench b = open_bench(false);
    add(&b, events, COUNT(events));
    match(&b, 0, 0, 30);
    tm_bytes out;
    block_reader r = put_all(&b, false, &out);
    EXPECT_NUMBERS(&r, 0, TM_TRACK_STREAM, 1, 8); /* device 0 + 1, stream 7 + 1 */
    (void)read_number(&r);
    expect_text(&b, read_number(&r), "");
    EXPECT_NUMBERS(&r, 4, 0, 20, 100, 20); /* begins 0, 10, 60, 70; zigzag doubles the steps */
    EXPECT_NUMBERS(&r, 10, 50, 5, 1);
    for (size_t i = 0; i < 4; i++)
        expect_text(&b, read_number(&r), events[i].name);
    EXPECT_NUMBERS(&r, TM_LANE_COMPUTE, TM_LANE_TRANSFER, TM_LANE_UNMATCHED, TM_LANE_COPIES);
    EXPECT_NUMBERS(&r, 31, 1); /* wait 30 + 1, number of the operation 0 + 1 */
    EXPECT_NUMBERS(&r, 0, 0);  /* the broadcast has no wait and no number */
    EXPECT_NUMBERS(&r, 0, TM_TRACK_ANNOTATIONS);
    tm_bytes_free(&out);
    close_bench(&b);
}

/* Ranks 0 to 2 arrive at 1010, 1040 and 1050 ns. Their clocks may differ by 2 sqrt(u1^2 + u2^2),
 * where u is the uncertainty. If u is 0, only rank 2 is last. If u is 4 ns, the clocks may differ
 * by 2 sqrt(32) = 11.3, and rank 1 may have been as late. */
static void put_operation(int64_t uncertainty_ns, const uint64_t arrivals[3]) {
    bench b = open_bench(false);
    const int64_t begins[] = {1010, 1040, 1050};
    for (size_t i = 0; i < 3; i++) {
        const event_spec events[] = {KERNEL(ALL_REDUCE, begins[i], 1060 - begins[i], 7)};
        tm_timeline *t = add(&b, events, COUNT(events));
        t->clock.uncertainty_ns = uncertainty_ns;
        t->clock.domain = (int32_t)i;
        match(&b, i, 0, 1050 - begins[i]);
    }
    scan(&b);
    choose(&b, &everything, 3);
    tm_error err;
    tm_bytes out = tm_bytes_make();
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(tm_operations_gather(&b.operations, &b.ranks[i], i, &err), TM_OK);
    assert_int_equal(tm_operations_put(&b.operations, &b.plan, 1000, &b.dictionary, &out, &err),
                     TM_OK);
    block_reader r = read_block(&out);
    /* The page shows 1 operation, and the job has 1. It begins at 10 ns, which zigzag encoding
     * stores as 20. */
    EXPECT_NUMBERS(&r, 1, 1, 20, TM_COLL_ALLREDUCE, 0, 0, 0);
    assert_int_equal(read_signed(&r), 0); /* step 0: the whole trace */
    EXPECT_NUMBERS(&r, 3);
    EXPECT_NUMBERS(&r, 0, 1, 1);    /* ranks, as differences */
    EXPECT_NUMBERS(&r, 0, 30, 40);  /* begins, relative to the first */
    EXPECT_NUMBERS(&r, 50, 20, 10); /* durations */
    EXPECT_NUMBERS(&r, 41, 11, 1);  /* waits + 1 */
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(read_number(&r), arrivals[i]);
    assert_ptr_equal(r.at, r.end);
    tm_bytes_free(&out);
    close_bench(&b);
}

TEST(who_came_last_depends_on_the_clocks) {
    put_operation(0, (const uint64_t[]){0, 0, 2});
    put_operation(4, (const uint64_t[]){0, 1, 1});
}

/* Two operations of two ranks. Three members have room only for the one with more wait. */
TEST(operations_that_waited_most_come_first) {
    bench b = open_bench(false);
    const event_spec events[] = {
        KERNEL(ALL_REDUCE, 1010, 10, 7),
        KERNEL("ncclDevKernel_AllGather_RING_LL", 1030, 10, 7),
    };
    for (size_t i = 0; i < 2; i++) {
        add(&b, events, COUNT(events));
        tm_collective_attr *attrs = match(&b, i, 0, 2);
        attrs[1].first_rank = 0;
        attrs[1].first_event = row_named(&b.ground, &b.ranks[0], events[1].name);
        attrs[1].wait_ns = 5;
    }
    scan(&b);
    choose(&b, &everything, 3);
    const tm_collective_attr *attrs = b.ranks[1].attrs[TM_ATTR_COLLECTIVE];
    assert_int_equal(b.operations.n_shown, 1);
    assert_int_equal(tm_operations_number(&b.operations, &attrs[0]), TM_NO_EVENT);
    assert_int_equal(tm_operations_number(&b.operations, &attrs[1]), 0);
    close_bench(&b);
}

/* Three steps of 100 ns, each with a kernel and two operators. Rank 1 waits in step 12. */
static void add_stepped_rank(bench *b, int64_t wait_ns) {
    const event_spec events[] = {
        STEP("ProfilerStep#11", 1000, 100), OP("op", 1010, 5), KERNEL("gemm", 1020, 10, 7),
        STEP("ProfilerStep#12", 1100, 100), OP("op", 1110, 5), KERNEL(ALL_REDUCE, 1120, 10, 7),
        STEP("ProfilerStep#13", 1200, 100), OP("op", 1210, 5), KERNEL("gemm", 1220, 10, 7),
    };
    tm_timeline *t = add(b, events, COUNT(events));
    tm_collective_attr *attrs = t->attrs[TM_ATTR_COLLECTIVE];
    attrs[0].wait_ns = wait_ns;
    attrs[0].first_rank = 0;
    attrs[0].first_event = row_named(&b->ground, &b->ranks[0], ALL_REDUCE);
}

static void expect_parts(const bench *b, const char *gpu, const char *host) {
    const tm_plan_part *parts = b->plan.parts.data;
    assert_int_equal(b->plan.parts.n, strlen(gpu));
    for (size_t i = 0; i < b->plan.parts.n; i++) {
        assert_int_equal(parts[i].gpu, gpu[i] == '1');
        assert_int_equal(parts[i].host, host[i] == '1');
    }
}

TEST(a_job_that_fits_is_there_as_a_whole) {
    bench b = open_bench(true);
    add_stepped_rank(&b, 0);
    scan(&b);
    choose(&b, &(tm_plan_wishes){.rank = 0, .step = 12, .n_events = 9}, 100);
    assert_true(b.plan.all);
    assert_int_equal(n_put(&b, 0), 9);
    close_bench(&b);
}

/* 5 of 2 x 9 events fit: in the worst step, the kernels of both ranks; in the step of median length
 * (all are equal, so the second by number, which is the worst), nothing more; the two host events
 * of the blamed rank in the worst step. The kernels of the next step do not fit. */
TEST(the_worst_step_comes_first) {
    bench b = open_bench(true);
    add_stepped_rank(&b, 0);
    add_stepped_rank(&b, 7);
    scan(&b);
    choose(&b, &(tm_plan_wishes){.rank = 1, .step = 12, .n_events = 5}, 100);
    assert_false(b.plan.all);
    expect_parts(&b, "010010", "000010");
    assert_int_equal(n_put(&b, 0), 1);
    assert_int_equal(n_put(&b, 1), 3);
    close_bench(&b);
}

TEST(the_blamed_rank_comes_first) {
    bench b = open_bench(true);
    add_stepped_rank(&b, 0);
    add_stepped_rank(&b, 0);
    add_stepped_rank(&b, 7);
    scan(&b);
    choose(&b, &(tm_plan_wishes){.rank = 2, .step = -1, .n_events = 1}, 100);
    expect_parts(&b, "000000010", "000000000");
    close_bench(&b);
}

/* Of the kernel [1080, 1120), only the end is in the selected second slice. */
TEST(an_event_that_reaches_into_a_window_is_there) {
    const event_spec events[] = {STEP("ProfilerStep#1", 1000, 100), KERNEL("long", 1080, 40, 7),
                                 STEP("ProfilerStep#2", 1100, 100), KERNEL("short", 1150, 1, 7)};
    bench b = open_bench(true);
    add(&b, events, COUNT(events));
    scan(&b);
    choose(&b, &(tm_plan_wishes){.rank = -1, .step = 2, .n_events = 1}, 100);
    assert_int_equal(n_put(&b, 0), 2);
    close_bench(&b);
}

RUN_TESTS()

/* Memory tables: every cell of a small job, computed by hand. */
#include "analysis_fixture.h"

#include "analysis/memory/blocks.h"
#include "analysis/memory/devices.h"
#include "analysis/memory/memory_levels.h"
#include "analysis/memory/patterns.h"

#define MARK(name, begin)                                                                          \
    { TM_CAT_USER_ANNOTATION, name, begin, 100, 0, 1, 1, NULL, TM_DURATION }
#define OP(name, begin, duration, thread)                                                          \
    { TM_CAT_CPU_OP, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }
#define RECORD(begin, thread)                                                                      \
    { TM_CAT_CPU_INSTANT, "[memory]", begin, 0, 0, thread, 1, NULL, TM_INSTANT }

/* foo [10, 50) calls bar [20, 40), which calls foo again [22, 30). At each time, the bytes taken,
 * then the bytes in use and reserved:
 *
 *   25   +1000  6000 of 8000  in foo, in bar, in foo
 *   35    +500  6500 of 8000  in bar
 *   50   -1000  5500 of 8000  as foo ends
 *  120   +2000  7500 of 9000  on another thread, in back [110, 150)
 *  130    -500  7000 of 9000
 *  220    +100  7100 of 9000
 *
 * and on the CPU, without totals, at 26 +64 bytes in foo, and at 70 -64. */
static const event_spec events[] = {
    MARK("ProfilerStep#1", 0),
    MARK("ProfilerStep#2", 100),
    MARK("ProfilerStep#3", 200),
    OP("foo", 10, 40, 1),
    OP("bar", 20, 20, 1),
    OP("foo", 22, 8, 1),
    OP("back", 110, 40, 2),
    RECORD(25, 1),
    RECORD(26, 1),
    RECORD(35, 1),
    RECORD(50, 1),
    RECORD(70, 1),
    RECORD(120, 2),
    RECORD(130, 1),
    RECORD(220, 1),
};
enum { FIRST_RECORD = 7 };
static const struct {
    int64_t bytes, allocated, reserved; /* -1 for CPU records, which have no totals */
} records[] = {
    {1000, 6000, 8000}, {64, -1, -1},       {500, 6500, 8000},  {-1000, 5500, 8000},
    {-64, -1, -1},      {2000, 7500, 9000}, {-500, 7000, 9000}, {100, 7100, 9000},
};

static void add_records(small_job *j, int64_t rank) {
    tm_trace trace = make_trace(&j->ground, "one.json", events, COUNT(events), 0);
    trace.metadata = name_of(&j->ground, "{\"deviceProperties\":[{\"id\":0,\"totalGlobalMem\":"
                                         "18000},{\"id\":1,\"totalGlobalMem\":7}]}");
    for (size_t i = 0; i < COUNT(records); i++) {
        bool on_gpu = records[i].allocated >= 0;
        const tm_memory_attr record = {.event = (uint32_t)(FIRST_RECORD + i),
                                       .address = -1,
                                       .bytes = records[i].bytes,
                                       .allocated_bytes = records[i].allocated,
                                       .reserved_bytes = records[i].reserved,
                                       .device_type = on_gpu,
                                       .device = on_gpu ? 0 : -1};
        assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_MEMORY], &record, 1));
    }
    add_trace(j, rank, &trace);
}

TEST(levels_are_as_worked_out_by_hand) {
    static const char *const devices[] = {
        ("rank device allocations releases relative begin_bytes end_bytes peak_bytes peak_time_ns "
         "peak_step peak_operator peak_reserved_bytes fragmentation_pct capacity_bytes "
         "capacity_pct "
         "growth_bytes growing_steps mean_bytes pattern spike_step reserve_falls steps_left "
         "allocator limit_bytes"),
        ("0 cpu 1 1 true 0 0 64 26 1 foo null null null null null null 64 null null null null null "
         "null"),
        /* 1500 of 9000 B were never used. Steps 2 and 3 grew by 1500 and 100 B. The mean over
         * 195 ns is (6000 x 10 + 6500 x 15 + 5500 x 70 + 7500 x 10 + 7000 x 90) / 195 = 6397.4 */
        "0 cuda:0 4 2 false 5000 7100 7500 120 2 back 9000 16.66666667 18000 50 800 2 6397 null "
        "null 0 null null null",
    };
    static const char *const steps[] = {
        ("rank=0 device=cpu step=1 allocated_bytes=64 peak_bytes=64 peak_reserved_bytes=null "
         "end_bytes=0 growth_bytes=0"),
        ("rank=0 device=cuda:0 step=1 allocated_bytes=1500 peak_bytes=6500 "
         "peak_reserved_bytes=8000 "
         "end_bytes=5500 growth_bytes=500"),
        ("rank=0 device=cuda:0 step=2 allocated_bytes=2000 peak_bytes=7500 "
         "peak_reserved_bytes=9000 "
         "end_bytes=7000 growth_bytes=1500"),
        ("rank=0 device=cuda:0 step=3 allocated_bytes=100 peak_bytes=7100 peak_reserved_bytes=9000 "
         "end_bytes=7100 growth_bytes=100"),
    };
    /* without addresses, there are no categories */
#define NO_BYTES(id, word, doc) " " word "_bytes=null"
#define POINT(text) text TM_MEMORY_CATEGORIES(NO_BYTES)
    static const char *const curve[] = {
        POINT("rank=0 device=cpu time_ns=26 allocated_bytes=64 reserved_bytes=null"),
        POINT("rank=0 device=cpu time_ns=70 allocated_bytes=0 reserved_bytes=null"),
        POINT("rank=0 device=cuda:0 time_ns=25 allocated_bytes=6000 reserved_bytes=8000"),
        POINT("rank=0 device=cuda:0 time_ns=35 allocated_bytes=6500 reserved_bytes=8000"),
        POINT("rank=0 device=cuda:0 time_ns=50 allocated_bytes=5500 reserved_bytes=8000"),
        POINT("rank=0 device=cuda:0 time_ns=120 allocated_bytes=7500 reserved_bytes=9000"),
        POINT("rank=0 device=cuda:0 time_ns=130 allocated_bytes=7000 reserved_bytes=9000"),
        POINT("rank=0 device=cuda:0 time_ns=220 allocated_bytes=7100 reserved_bytes=9000"),
    };
    static const char *const ranks[] = {
        ("device ranks devices peak_min_bytes peak_median_bytes peak_max_bytes peak_max_rank "
         "nearest_rank nearest_pct growing_devices first_rank steps_left"),
        "cpu 1 1 64 64 64 0 null null 0 null null",
        "cuda 1 1 7500 7500 7500 0 0 50 0 null null",
    };
    small_job j = open_job();
    add_records(&j, 0);
    add_rank(&j, 1, events, FIRST_RECORD);
    finish_job(&j);
    CHECK_NAMED(&j, "memory.device", devices);
    CHECK_NAMED(&j, "memory.job", ranks);
    CHECK_ROWS(&j, "memory.step", steps);
    CHECK_ROWS(&j, "memory.curve", curve);
    close_job(&j);
}

/* One rank calls foo twice. foo takes 1000 B itself and 500 B through bar, each counted once.
 * Outside of operators, 100 B are taken and 1500 given back. Two such ranks double all numbers. */
TEST(operators_have_what_they_took_alone_and_with_what_they_called) {
    static const char *const rows[] = {
        ("name device ranks calls self_allocations self_bytes self_increase_bytes allocations "
         "bytes increase_bytes peak_bytes peak_rank"),
        "back cuda 2 2 2 4000 4000 2 4000 4000 null null",
        "foo cuda 2 4 2 2000 2000 4 3000 3000 null null",
        "bar cuda 2 2 2 1000 1000 4 3000 3000 null null",
        "null cuda 2 0 2 200 -2800 2 200 -2800 null null",
        "foo cpu 2 4 2 128 128 2 128 128 null null",
        "bar cpu 2 2 0 0 0 2 128 128 null null",
        "null cpu 2 0 0 0 -128 0 0 -128 null null",
    };
    small_job j = open_job();
    add_records(&j, 0);
    add_records(&j, 5);
    finish_job(&j);
    CHECK_NAMED(&j, "memory.owner/operator", rows);
    close_job(&j);
}

/* For each of 8 steps: bytes at its end, its peak, and reserved bytes at its end. */
TEST(patterns_are_named_as_what_they_are) {
    enum { STEPS = 8 };
    static const struct {
        const char *word;
        int64_t ends[STEPS], peaks[STEPS], reserved[STEPS];
    } cases[] = {
#define EVEN {500, 500, 500, 500, 500, 500, 500, 500}
        {"stable", {100, 100, 100, 100, 100, 100, 100, 100}, EVEN, EVEN},
        /* all peaks except the first are within a twentieth of each other */
        {"stable",
         {100, 90, 100, 90, 100, 90, 100, 90},
         {900, 500, 520, 480, 525, 475, 500, 500},
         EVEN},
        {"growth", {100, 101, 102, 103, 104, 105, 106, 107}, EVEN, EVEN},
        /* one step gives memory back, so this is not growth; the fall is too small for a saw */
        {"stable", {100, 101, 102, 103, 102, 105, 106, 107}, EVEN, EVEN},
        {"saw-tooth", {100, 130, 160, 100, 130, 160, 100, 130}, EVEN, EVEN},
        {"stable", {100, 110, 124, 100, 110, 124, 100, 110}, EVEN, EVEN}, /* falls by 24 of 500 */
        {"uneven",
         {100, 130, 160, 190, 100, 100, 100, 100},
         {500, 530, 560, 590, 500, 500, 500, 500},
         EVEN}, /* one fall is no saw */
        {"saw-tooth",
         {100, 100, 100, 100, 100, 100, 100, 100},
         EVEN,
         {900, 900, 700, 900, 900, 700, 900, 900}},
        {"spike",
         {100, 100, 100, 100, 100, 100, 100, 100},
         {500, 500, 500, 500, 601, 500, 500, 500},
         EVEN},
        {"uneven",
         {100, 100, 100, 100, 100, 100, 100, 100},
         {500, 500, 500, 500, 600, 500, 500, 500},
         EVEN}, /* the peak of 600 is not more than a fifth above the others */
        {"uneven",
         {100, 100, 100, 100, 100, 100, 100, 100},
         {500, 500, 700, 500, 700, 500, 500, 500},
         EVEN}, /* 2 peaks of 7 are not a spike */
#undef EVEN
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        tm_error err;
        tm_memory_pattern found;
        tm_device_levels d = {.peak_reserved_bytes = 900};
        d.levels = TM_VEC(tm_memory_level);
        d.steps = TM_VEC(tm_memory_step);
        for (int64_t i = 0; i < STEPS; i++) {
            const tm_memory_level level = {10 * i, cases[c].peaks[i], cases[c].reserved[i], 0};
            const tm_memory_step step = {1, 0, cases[c].peaks[i], 0, cases[c].ends[i]};
            d.peak = cases[c].peaks[i] > cases[c].peaks[d.peak] ? (size_t)i : d.peak;
            assert_non_null(tm_vec_append(&d.levels, &level, 1));
            assert_non_null(tm_vec_append(&d.steps, &step, 1));
        }
        assert_int_equal(tm_memory_pattern_find(&d, &found, &err), TM_OK);
        assert_string_equal(found.word, cases[c].word);
        if (strcmp(found.word, "spike") == 0)
            assert_int_equal(found.spike, 4);
        d.steps.n = 3; /* the first step and two more */
        assert_int_equal(tm_memory_pattern_find(&d, &found, &err), TM_OK);
        assert_null(found.word);
        tm_vec_free(&d.levels);
        tm_vec_free(&d.steps);
    }
}

/* 5000 levels, one per ns: a saw with a period of 50 ns, and a single peak, trough and reserve. */
TEST(a_thinned_curve_keeps_its_peaks) {
    enum { N = 5000, PEAK = 1234, TROUGH = 2345, RESERVE = 3456 };
    tm_vec levels = TM_VEC(tm_memory_level);
    for (int64_t i = 0; i < N; i++) {
        tm_memory_level level = {i, 100 + i % 50, 500, 0};
        level.allocated_bytes = i == PEAK ? 999 : i == TROUGH ? 1 : level.allocated_bytes;
        level.reserved_bytes = i == RESERVE ? 777 : 500;
        assert_non_null(tm_vec_append(&levels, &level, 1));
    }
    tm_vec kept = TM_VEC(size_t);
    assert_true(tm_memory_levels_thin(&levels, &kept));
    assert_in_range(kept.n, 128, 384);
    int found = 0;
    for (size_t i = 0; i < kept.n; i++) {
        const size_t *v = kept.data;
        assert_true(i == 0 || v[i] > v[i - 1]);
        found += v[i] == PEAK || v[i] == TROUGH || v[i] == RESERVE;
    }
    assert_int_equal(found, 3);
    levels.n = 384;
    kept.n = 0;
    assert_true(tm_memory_levels_thin(&levels, &kept)); /* few enough to keep all */
    assert_int_equal(kept.n, levels.n);
    tm_vec_free(&kept);
    tm_vec_free(&levels);
}

TEST(the_memory_of_a_device_is_in_the_metadata) {
    static const struct {
        const char *metadata;
        int32_t device;
        int64_t expected;
    } cases[] = {
        {"", 0, -1},
        {"{}", 0, -1},
        {"{\"deviceProperties\":[{\"id\":0,\"totalGlobalMem\":85018279936}]}", 0, 85018279936},
        {"{\"computeProperties\":[{\"id\":3,\"totalGlobalMem\":5}]}", 3, 5},
        {"{\"deviceProperties\":[{\"id\":0,\"totalGlobalMem\":5}]}", 1, -1},
        {"{\"deviceProperties\":[{\"id\":0,\"totalGlobalMem\":\"5\"}]}", 0, -1},
        {"{\"deviceProperties\":[{\"id\":0,\"totalGlobalMem\":1e300}]}", 0, -1},
        {"{\"deviceProperties\":[{\"id\":0,\"totalGlobalMem\":1},{\"id\":1,\"totalGlobalMem\":23,"
         "\"long\":\"enough to be cut out as a list\"}]}",
         1, 23},
        {"{\"deviceProperties\":[{\"links\":{\"to\":\"a switch, far away, behind "
         "another\"},\"id\":0,\"totalGlobalMem\":31}]}",
         0, 31},
        {"{\"deviceProperties\":7}", 0, -1},
        {"no JSON", 0, -1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        ground g = open_ground();
        tm_trace trace = make_trace(&g, "a.json", NULL, 0, 0), *traces[] = {&trace};
        tm_timeline t;
        describe(&g, &trace, cases[i].metadata);
        assert_int_equal(tm_timeline_build(traces, 1, 0, &g.context, &t, &g.err), TM_OK);
        assert_int_equal(tm_device_memory(&t, g.names, cases[i].device), cases[i].expected);
        tm_timeline_destroy(&t);
        close_ground(&g);
    }
}

RUN_TESTS()

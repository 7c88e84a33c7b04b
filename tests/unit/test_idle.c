/* Tables of idle: every cell of a small job, computed by hand. */
#include "analysis_fixture.h"

#define CALL(name, begin, duration, correlation)                                                   \
    { TM_CAT_RUNTIME, name, begin, duration, correlation, 1, 1, NULL, TM_DURATION }
#define KERNEL(name, begin, duration, correlation, stream)                                         \
    { TM_CAT_KERNEL, name, begin, duration, correlation, stream, 0, NULL, TM_DURATION }
#define MARK(name, begin, duration, thread)                                                        \
    { TM_CAT_USER_ANNOTATION, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }
#define OP(name, begin, duration)                                                                  \
    { TM_CAT_CPU_OP, name, begin, duration, 0, 1, 1, NULL, TM_DURATION }

/* Rank 0. Calls 1 to 4 are early, so the lateness of A to D is not the host's fault. Gaps:
 *
 *   [30, 50) us    20   before C, queued, under 30 us: kernel wait
 *   [60, 100)      40   before D, queued: other; thread 1 in Synchronize for 20
 *   [110, 200)     90   before E, launched at 195. Thread 1 was in Synchronize when the gap began;
 *                       the host loaded for 30 us and was in gloo for [140, 170), 20 of them after
 *                       loading; of the remaining 40, 35 are sync: at most the length of the
 *                       Synchronize call, [80, 115). Thread 1 itself: Synchronize 5, loading 30,
 *                       E's call 1, no call 54.
 *
 *   [210, 240)     30   before F, launched at 235: the host's work. Thread 1: aten::foo [205, 232)
 *                       without aten::bar in it [212, 220): 2 + 12 = 14, bar 8, no call 3, F's 5.
 *
 *   [250, 251)      1   before G, whose launch is unknown: kernel wait
 *
 *   [252, 300)     48   before H, of length 0, launch unknown: other
 *
 *   window [10, 300) = 290, idle 229, host 120, kernel 21, other 88; 100 * 229 / 290 = 78.9655...
 *   Of other, D's 40 are queued. Stream 7: A ends at 20 and C starts at 50, a gap of 30. other =
 *   C's 30 + D's 40 + H's 48 = 118; host = E's 90 + F's 30 = 120; kernel wait = G's 1. */
static const event_spec rank_0[] = {
    MARK("ProfilerStep#4", 0, 210000, 1),
    CALL("cudaLaunchKernel", 0, 500, 1),
    CALL("cudaLaunchKernel", 1000, 500, 2),
    CALL("cudaLaunchKernel", 2000, 500, 3),
    CALL("cudaLaunchKernel", 3000, 500, 4),
    CALL("cudaMallocAsync", 4000, 500, 9), /* these calls return at once */
    CALL("cudaMemset", 12000, 500, 9),
    CALL("cudaStreamSynchronize", 80000, 35000, 9),
    MARK("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 120000, 30000, 1),
    MARK("gloo:all_reduce", 140000, 30000, 2),
    CALL("cudaLaunchKernel", 195000, 1000, 5),
    OP("aten::foo", 205000, 27000),
    OP("aten::bar", 212000, 8000),
    CALL("cudaLaunchKernel", 235000, 6000, 6),
    KERNEL("A", 10000, 10000, 1, 7),
    KERNEL("B", 15000, 15000, 2, 8),
    KERNEL("C", 50000, 10000, 3, 7),
    KERNEL("D", 100000, 10000, 4, 7),
    KERNEL("E", 200000, 10000, 5, 7),
    KERNEL("F", 240000, 10000, 6, 7),
    KERNEL("G", 251000, 1000, 99, 7),
    KERNEL("H", 300000, 0, 98, 7),
};

TEST(idle_time_is_as_worked_out_by_hand) {
    static const char *const ranks[] = {
        ("rank=0 idle_ns=229000 idle_pct=78.96551724 host_wait_ns=120000 kernel_wait_ns=21000 "
         "other_ns=88000 input_ns=30000 host_comm_ns=20000 alloc_ns=0 sync_ns=35000 "
         "host_work_ns=35000 gaps=6 "
         "longest_ns=90000 turns_ns=null queued_ns=40000"),
        ("rank=1 idle_ns=0 idle_pct=null host_wait_ns=0 kernel_wait_ns=0 other_ns=0 input_ns=0 "
         "host_comm_ns=0 alloc_ns=0 sync_ns=0 host_work_ns=0 gaps=0 longest_ns=null turns_ns=null "
         "queued_ns=0"),
    };
    static const char *const streams[] = {
        ("rank=0 device=0 stream=7 events=7 idle_ns=239000 host_wait_ns=120000 kernel_wait_ns=1000 "
         "other_ns=118000"),
        "rank=0 device=0 stream=8 events=1 idle_ns=0 host_wait_ns=0 kernel_wait_ns=0 other_ns=0",
    };
    static const char *const gaps[] = {
        "rank begin_ns duration_ns step cause after before host host_ns unrecorded_ns",
        ("0 110000 90000 4 sync D E enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ "
         "30000 54000"),
        "0 252000 48000 null other G H null null null",
        "0 60000 40000 4 other C D cudaStreamSynchronize 20000 20000",
        "0 210000 30000 null host_work E F aten::foo 14000 3000",
        "0 30000 20000 4 kernel_wait B C null null 20000",
        "0 250000 1000 null kernel_wait F G null null null",
    };
    /* Only calls that wait are listed: 35 us of the third gap are due to this one. */
    static const char *const calls[] = {
        ("call=cudaStreamSynchronize operator=null inside=null calls=1 calls_per_step=0.5 "
         "total_ns=35000 mean_ns=35000 max_ns=35000 lost_ns=35000 ranks=1 max_rank_lost_ns=35000 "
         "max_rank=0"),
    };
    small_job j = open_job();
    add_rank(&j, 1, rank_0, 5); /* this rank has no GPU events */
    add_rank(&j, 0, rank_0, COUNT(rank_0));
    finish_job(&j);
    CHECK_ROWS(&j, "idle.rank", ranks);
    CHECK_ROWS(&j, "idle.stream", streams);
    CHECK_NAMED(&j, "idle.gap", gaps);
    CHECK_ROWS(&j, "sync.call", calls);
    close_job(&j);
}

/* The GPU runs out of work at 20 ns. The host has been in cudaFree since 12, so it waited for 8 ns.
 * Then cudaFree works until 520, and the gap ends at 540. So of the gap of 520 ns, 500 are work of
 * cudaFree, and the 8 before the gap count as sync. */
TEST(a_call_that_waits_and_then_works_has_waited_until_the_gap_began) {
    static const event_spec events[] = {
        CALL("cudaLaunchKernel", 0, 2, 1),   CALL("cudaFree", 12, 508, 9),
        CALL("cudaLaunchKernel", 530, 2, 2), KERNEL("a", 10, 10, 1, 7),
        KERNEL("b", 540, 10, 2, 7),
    };
    static const char *const ranks[] = {
        "rank=0 idle_ns=520 idle_pct=96.2962963 host_wait_ns=520 kernel_wait_ns=0 other_ns=0 "
        "input_ns=0 host_comm_ns=0 alloc_ns=500 sync_ns=8 host_work_ns=12 gaps=1 longest_ns=520 "
        "turns_ns=null queued_ns=0"};
    static const char *const calls[] = {
        "call=cudaFree operator=null inside=null calls=1 calls_per_step=null total_ns=508 "
        "mean_ns=508 max_ns=508 lost_ns=8 ranks=1 max_rank_lost_ns=8 max_rank=0"};
    small_job j = open_job();
    add_rank(&j, 0, events, COUNT(events));
    finish_job(&j);
    CHECK_ROWS(&j, "idle.rank", ranks);
    CHECK_ROWS(&j, "sync.call", calls);
    close_job(&j);
}

/* The GPU runs out of work at 20 ns. The launch of b begins before that, and blocks the host until
 * b begins at 40,020; from 15 to 40,000 it loads code. 39,980 of the gap's 40,000 ns are loading.
 * The 5 ns of loading before the gap may have been waiting (sync_ns). */
TEST(a_launch_that_takes_long_has_queued_nothing) {
    static const event_spec events[] = {
        CALL("cudaLaunchKernel", 0, 2, 1),      CALL("cudaLaunchKernel", 12, 59988, 2),
        CALL("cuModuleLoadData", 15, 39985, 9), KERNEL("a", 10, 10, 1, 7),
        KERNEL("b", 40020, 10, 2, 7),
    };
    static const char *const ranks[] = {
        "rank=0 idle_ns=40000 idle_pct=99.95002499 host_wait_ns=40000 kernel_wait_ns=0 other_ns=0 "
        "input_ns=0 host_comm_ns=0 alloc_ns=39980 sync_ns=5 host_work_ns=15 gaps=1 "
        "longest_ns=40000 turns_ns=null queued_ns=0"};
    small_job j = open_job();
    add_rank(&j, 0, events, COUNT(events));
    finish_job(&j);
    CHECK_ROWS(&j, "idle.rank", ranks);
    close_job(&j);
}

/* The GPU runs out of work at 20 ns. The host launches b from 30 to 40, and b begins 99,980 later.
 * The host's are 20 ns until the launch ends, a launch latency of 30,000 at most, and 8 of clock
 * error, the time from the launch of a to a: 30,028. The other 69,972 ns are not. */
TEST(what_is_queued_and_does_not_begin_is_not_the_hosts) {
    static const event_spec events[] = {
        CALL("cudaLaunchKernel", 0, 2, 1),
        CALL("cudaLaunchKernel", 30, 10, 2),
        KERNEL("a", 10, 10, 1, 7),
        KERNEL("b", 100020, 10, 2, 7),
    };
    static const char *const ranks[] = {
        "rank=0 idle_ns=100000 idle_pct=99.980004 host_wait_ns=30028 kernel_wait_ns=0 "
        "other_ns=69972 input_ns=0 host_comm_ns=0 alloc_ns=0 sync_ns=0 host_work_ns=30028 gaps=1 "
        "longest_ns=100000 turns_ns=null queued_ns=69972"};
    static const char *const gaps[] = {
        "rank begin_ns duration_ns step cause after before host host_ns unrecorded_ns",
        "0 20 100000 0 other a b cudaLaunchKernel 10 99990"};
    small_job j = open_job();
    add_rank(&j, 0, events, COUNT(events));
    finish_job(&j);
    CHECK_ROWS(&j, "idle.rank", ranks);
    CHECK_NAMED(&j, "idle.gap", gaps);
    close_job(&j);
}

/* Two events end the gap [10, 30). The one on stream 8 was launched before the gap began, so the
 * host did not cause the gap. */
TEST(the_event_that_was_launched_first_ends_a_gap) {
    static const event_spec events[] = {
        CALL("cudaLaunchKernel", 1, 1, 1),  CALL("cudaLaunchKernel", 2, 1, 2),
        CALL("cudaLaunchKernel", 20, 1, 3), KERNEL("a", 5, 5, 1, 7),
        KERNEL("late", 30, 5, 3, 7),        KERNEL("early", 30, 5, 2, 8),
    };
    static const char *const gaps[] = {
        ("rank=0 begin_ns=10 duration_ns=20 step=0 cause=kernel_wait after=a before=early "
         "host=cudaLaunchKernel host_ns=1 unrecorded_ns=19")};
    small_job j = open_job();
    add_rank(&j, 0, events, COUNT(events));
    finish_job(&j);
    CHECK_ROWS(&j, "idle.gap", gaps);
    close_job(&j);
}

/* Gap [10, 30009) is 29,999 ns long: short. [30010, 60010) is 30,000 long: not short. The call for
 * [60011, 60021) ends with the gap's start: queued. That for [60022, 60032) ends 1 ns later: the
 * host's. It began before the gap, so by HTA's rule (idle.stream) it was queued. */
TEST(limits_of_causes_are_exact) {
    static const event_spec events[] = {
        CALL("c", 0, 1, 1),          CALL("c", 1, 1, 2),          CALL("c", 2, 1, 3),
        CALL("c", 60010, 1, 4),      CALL("c", 60021, 2, 5),      KERNEL("k", 9, 1, 1, 7),
        KERNEL("k", 30009, 1, 2, 7), KERNEL("k", 60010, 1, 3, 7), KERNEL("k", 60021, 1, 4, 7),
        KERNEL("k", 60032, 1, 5, 7),
    };
    static const char *const ranks[] = {
        ("rank=0 idle_ns=60019 idle_pct=99.99167 host_wait_ns=10 kernel_wait_ns=30009 "
         "other_ns=30000 input_ns=0 host_comm_ns=0 alloc_ns=0 sync_ns=0 host_work_ns=10 gaps=4 "
         "longest_ns=30000 turns_ns=null queued_ns=30000")};
    static const char *const streams[] = {("rank=0 device=0 stream=7 events=5 idle_ns=60019 "
                                           "host_wait_ns=0 kernel_wait_ns=30019 other_ns=30000")};
    small_job j = open_job();
    add_rank(&j, 0, events, COUNT(events));
    finish_job(&j);
    CHECK_ROWS(&j, "idle.rank", ranks);
    CHECK_ROWS(&j, "idle.stream", streams);
    close_job(&j);
}

/* The GPU runs out of work at 20 and continues with b. The cases differ in b's launch call and in
 * what b is. Only a call that is known to have submitted b before 20 makes the gap the GPU's. If a
 * and b are one graph, its call lasts from 0 to 12 ns after b begins. */
TEST(a_gap_is_the_hosts_if_the_launch_ended_in_it) {
    static const struct {
        tm_category category;
        int64_t b_ns, call_ns, launched_by; /* call 2 begins at 12 */
        const char *cause;
    } cases[] = {
        {TM_CAT_KERNEL, 30, 8, 2, "kernel_wait"},    /* the call ends with a */
        {TM_CAT_KERNEL, 30, 9, 2, "host_work"},      /* and 1 ns later */
        {TM_CAT_KERNEL, 30, 30, 2, "host_work"},     /* b starts before its call returns */
        {TM_CAT_KERNEL, 30019, 0, 1, "kernel_wait"}, /* a graph that starts in its call */
        {TM_CAT_KERNEL, 30020, 0, 1, "host_work"},   /* and is submitted in pieces */
        {TM_CAT_MEMCPY, 40, 28, 2, "host_work"},     /* 8 ns of waiting, 12 of other work */
        {TM_CAT_MEMCPY, 40, 29, 2, "kernel_wait"},   /* the call returns after the copy starts */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const event_spec events[] = {
            CALL("c", 0, cases[i].launched_by == 1 ? cases[i].b_ns + 12 : 2, 1),
            CALL(cases[i].category == TM_CAT_MEMCPY ? "cudaMemcpyAsync" : "c", 12, cases[i].call_ns,
                 2),
            KERNEL("a", 10, 10, 1, 7),
            {cases[i].category, "b", cases[i].b_ns, 10, cases[i].launched_by, 7, 0, NULL,
             TM_DURATION},
        };
        small_job j = open_job();
        add_rank(&j, 0, events, COUNT(events));
        finish_job(&j);
        const tm_table *gaps = tm_tables_find(&j.tables, "idle.gap"),
                       *launches = tm_tables_find(&j.tables, "launches.rank");
        assert_string_equal(tm_table_cell(gaps, 0, "cause")->value.text, cases[i].cause);
        assert_int_equal(tm_table_cell(launches, 0, "host_bound_events")->value.i,
                         strcmp(cases[i].cause, "host_work") == 0);
        close_job(&j);
    }
}

/* Kernels of 1 ns at 0, 11, 24, 39, ... leave gaps of 10, 12, ..., 34 ns. A rank keeps the longest
 * 10 of its 13: 16 to 34. The job keeps 100, from 11 ranks: the 99 above 16 ns, and one of 16. */
TEST(the_longest_gaps_are_kept) {
    event_spec events[14] = {KERNEL("k", 0, 1, 0, 7)};
    for (size_t i = 1; i < COUNT(events); i++) {
        events[i] = events[0];
        events[i].begin_ns = events[i - 1].begin_ns + 9 + 2 * (int64_t)i;
    }
    small_job j = open_job();
    for (int64_t rank = 10; rank >= 0; rank--) /* of 11 gaps of 16 ns, the lowest rank's is kept */
        add_rank(&j, rank, events, COUNT(events));
    const tm_table *table = tm_tables_find(&j.tables, "idle.gap");
    assert_int_equal(table->n_rows, 100); /* no process keeps more */
    finish_job(&j);
    assert_int_equal(table->n_rows, 100);
    assert_int_equal(tm_table_cell(table, 0, "duration_ns")->value.i, 34);
    assert_int_equal(tm_table_cell(table, 98, "duration_ns")->value.i, 18);
    assert_int_equal(tm_table_cell(table, 99, "duration_ns")->value.i, 16);
    assert_int_equal(tm_table_cell(table, 99, "rank")->value.i, 0);
    close_job(&j);
}

/* Stream 7 has two ids: kernels "a" [0, 10) and "c" [40, 50) have one, "b" [20, 30) and "d" [45,
 * 60) the other. The gaps are [10, 20) and [30, 40). */
TEST(a_stream_with_two_ids_is_one) {
    static const event_spec events[] = {KERNEL("a", 0, 10, 1, 7), KERNEL("c", 40, 10, 2, 7),
                                        KERNEL("b", 20, 10, 3, 8), KERNEL("d", 45, 15, 4, 8)};
    static const char *const streams[] = {
        "rank=0 device=0 stream=7 events=4 idle_ns=20 host_wait_ns=0 kernel_wait_ns=20 other_ns=0"};
    small_job j = open_job();
    tm_trace trace = make_trace(&j.ground, "0.json", events, COUNT(events), 0);
    tm_track *tracks = trace.tracks.data;
    assert_int_equal(trace.tracks.n, 2);
    tracks[1].stream = 7;
    add_trace(&j, 0, &trace);
    finish_job(&j);
    CHECK_ROWS(&j, "idle.stream", streams);
    close_job(&j);
}

RUN_TESTS()

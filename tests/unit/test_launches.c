/* Tables of launches: every cell of small jobs, computed by hand. */
#include "analysis_fixture.h"

#define CALL(name, begin, duration, correlation)                                                   \
    { TM_CAT_RUNTIME, name, begin, duration, correlation, 1, 1, NULL, TM_DURATION }
#define KERNEL(begin, duration, correlation, stream)                                               \
    { TM_CAT_KERNEL, "gemm", begin, duration, correlation, stream, 0, NULL, TM_DURATION }

/* Three calls on the host, a graph of two kernels, and one kernel without a known call:
 *
 *   calls     1 [0, 10)  2 [12, 20)  3 [22, 60)  graph 4 [80, 90)
 *   stream 7  1 [15, 35)  2 [40, 44)  3 [50, 70)  4 [95, 97)  4 [97, 100)
 *   stream 8  unknown [96, 98)
 *
 *   calls:    10 + 8 + 38 + 10 = 66, 4 calls launch 5 events: 0.8; mean 16.5, rounded 17
 *   latency:  5, 20, 0 (it began inside its call), 5, 7: mean 37 / 5 = 7.4, median 5, p95 (nearest
 *             rank: the 5th) 20
 *   queue:    15 + 28 + 28 + 15 + 17 (call to begin) = 103 over the window [15, 100) = 85: 1.21...
 *             Maximum 2: at 12, calls 1 and 2 were made and no kernel has begun; at 80, the graph
 *             with two kernels is launched, and 1, 2 and 3 have begun.
 *   bound:    2's call ended before the previous kernel did; 3's began before, and ended after its
 *             copy began. The graph was called at 80, after 70, but its second kernel follows its
 *             first: 1 of 5. 1 has nothing before it.
 *   short:    kernel < call: 1: 20 < 10 no; 2: 4 < 8 yes; 3: 20 < 38 yes. The graph does not
 *             count: 2 in all */
static const event_spec rank_0[] = {
    CALL("cudaLaunchKernel", 0, 10, 1),
    CALL("cudaLaunchKernel", 12, 8, 2),
    CALL("cudaMemcpyAsync", 22, 38, 3),
    CALL("cudaGraphLaunch", 80, 10, 4),
    CALL("cudaEventQuery", 92, 1, 5), /* launches nothing */
    KERNEL(15, 20, 1, 7),
    KERNEL(40, 4, 2, 7),
    {TM_CAT_MEMCPY, "Memcpy HtoD", 50, 20, 3, 7, 0, NULL, TM_DURATION},
    KERNEL(95, 2, 4, 7),
    KERNEL(97, 3, 4, 7),
    KERNEL(96, 2, 9, 8),
};

/* Two threads launch to one stream, so calls are not in the order of kernels. At 8, both are
 * queued. */
static const event_spec rank_1[] = {
    CALL("cudaLaunchKernel", 8, 1, 2),
    {TM_CAT_RUNTIME, "cudaLaunchKernel", 4, 1, 1, 2, 1, NULL, TM_DURATION},
    KERNEL(10, 1, 2, 7),
    KERNEL(11, 1, 1, 7),
};

TEST(launches_are_as_worked_out_by_hand) {
    static const char *const rows[] = {
        ("rank events unlinked launches launches_per_event call_ns mean_call_ns mean_latency_ns "
         "median_latency_ns p95_latency_ns max_latency_ns mean_queue max_queue host_bound_events "
         "host_bound_pct short_events short_pct graph_launches graph_events"),
        "0 5 1 4 0.8 66 17 7 5 20 20 1.211764706 2 1 20 2 40 1 2",
        /* latencies are 10 - 9 and 11 - 5; kernels are queued for 2 + 7, and the window is 2; the
         * kernel at 11 is not host bound, because its call was at 4 */
        "1 2 0 2 1 2 1 4 4 6 6 4.5 2 0 0 0 0 0 0",
        "2 0 0 0 null 0 null null null null null null 0 0 null 0 null 0 0",
        "3 1 0 1 1 null null 5 5 5 5 5 1 0 0 null null 0 0",
    };
    /* only the call's start is recorded */
    static const event_spec rank_3[] = {CALL("launch", 5, 0, 1), KERNEL(10, 1, 1, 7)};
    small_job j = open_job();
    add_rank(&j, 0, rank_0, COUNT(rank_0));
    add_rank(&j, 1, rank_1, COUNT(rank_1));
    add_rank(&j, 2, rank_0, 1); /* a call, but no GPU event */
    add_rank(&j, 3, rank_3, COUNT(rank_3));
    finish_job(&j);
    CHECK_NAMED(&j, "launches.rank", rows);
    close_job(&j);
}

/* cudaLaunchKernel takes 10 and 8 ns on rank 0; 1 and 1, by two threads, on rank 1; 10 on rank 2.
 * 18 + 2 + 10 = 30 in 5 calls. Of the ranks' 18, 2, 10 the median is 10, and rank 0 has most. */
TEST(calls_of_one_name_are_one_row_the_costliest_first) {
    static const char *const rows[] = {
        "name calls total_ns mean_ns max_ns ranks median_rank_ns max_rank_ns max_rank",
        "cudaMemcpyAsync 1 38 38 38 1 38 38 0",
        "cudaLaunchKernel 5 30 6 10 3 10 18 0",
        "cudaGraphLaunch 1 10 10 10 1 10 10 0",
        "cudaEventQuery 1 1 1 1 1 1 1 0",
    };
    small_job j = open_job();
    add_rank(&j, 2, rank_0, 1);
    add_rank(&j, 0, rank_0, COUNT(rank_0));
    add_rank(&j, 1, rank_1, COUNT(rank_1));
    finish_job(&j);
    CHECK_NAMED(&j, "launches.api", rows);
    close_job(&j);
}

/* [0, 640) has 64 parts of 10 ns. One event is queued from 105 to 125, and two others from 402 to
 * 404 and from 403 to 409: 2 + 6 = 8 in their part of 10 ns. */
static const event_spec queued[] = {
    CALL("cudaLaunchKernel", 105, 1, 1),
    CALL("cudaLaunchKernel", 402, 1, 2),
    CALL("cudaLaunchKernel", 403, 1, 3),
    KERNEL(0, 1, 9, 7),
    KERNEL(125, 1, 1, 7),
    KERNEL(404, 1, 2, 7),
    KERNEL(409, 1, 3, 7),
    KERNEL(630, 10, 9, 7),
};

TEST(queues_over_time_are_as_worked_out_by_hand) {
    static const struct {
        size_t part;
        const char *row;
    } cases[] = {
        {0, "rank=0 time_ns=0 mean_queue=0"},      {9, "rank=0 time_ns=90 mean_queue=0"},
        {10, "rank=0 time_ns=100 mean_queue=0.5"}, {11, "rank=0 time_ns=110 mean_queue=1"},
        {12, "rank=0 time_ns=120 mean_queue=0.5"}, {13, "rank=0 time_ns=130 mean_queue=0"},
        {40, "rank=0 time_ns=400 mean_queue=0.8"}, {41, "rank=0 time_ns=410 mean_queue=0"},
        {63, "rank=0 time_ns=630 mean_queue=0"},
    };
    small_job j = open_job();
    add_rank(&j, 0, queued, COUNT(queued));
    finish_job(&j);
    const tm_table *table = tm_tables_find(&j.tables, "launches.queue");
    assert_int_equal(table->n_rows, 64);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_row(table, cases[i].part, cases[i].row);
    close_job(&j);
}

/* 64 ranks are kept. The last of 65 is host bound, because its stream waits for each call. The
 * others are equal, and it replaces the last of them. */
TEST(queues_are_kept_of_the_ranks_that_are_host_bound_most) {
    static const event_spec ahead[] = {CALL("cudaLaunchKernel", 0, 1, 1),
                                       CALL("cudaLaunchKernel", 2, 1, 2), KERNEL(5, 10, 1, 7),
                                       KERNEL(15, 10, 2, 7)};
    static const event_spec late[] = {CALL("cudaLaunchKernel", 0, 1, 1),
                                      CALL("cudaLaunchKernel", 20, 1, 2), KERNEL(5, 10, 1, 7),
                                      KERNEL(25, 10, 2, 7)};
    small_job j = open_job();
    for (int64_t rank = 0; rank < 64; rank++)
        add_rank(&j, rank, ahead, COUNT(ahead));
    add_rank(&j, 64, late, COUNT(late));
    finish_job(&j);
    const tm_table *table = tm_tables_find(&j.tables, "launches.queue");
    assert_int_equal(table->n_rows, 64 * 64);
    assert_int_equal(tm_table_row(table, (size_t)62 * 64)[0].value.i, 62);
    assert_int_equal(tm_table_row(table, (size_t)63 * 64)[0].value.i, 64);
    close_job(&j);
}

RUN_TESTS()

/* Tables overlap and job: every cell of small jobs, computed by hand. */
#include "analysis_fixture.h"

#define STEP(name, begin, duration)                                                                \
    { TM_CAT_USER_ANNOTATION, name, begin, duration, 0, 1, 1, NULL, TM_DURATION }
#define CALL(begin, correlation)                                                                   \
    { TM_CAT_RUNTIME, "cudaLaunchKernel", begin, 1, correlation, 1, 1, NULL, TM_DURATION }
#define KERNEL(name, begin, duration, correlation, stream)                                         \
    { TM_CAT_KERNEL, name, begin, duration, correlation, stream, 0, NULL, TM_DURATION }
#define OP(begin, duration)                                                                        \
    { TM_CAT_CPU_OP, "op", begin, duration, 0, 1, 1, NULL, TM_DURATION }

static const int64_t epoch = 1700000000000000000; /* beyond what a double holds exactly */

#define RATIOS(comm_to_compute, exposed_to_window)                                                 \
    " wait_ns=null transfer_ns=null exposed_wait_ns=null exposed_transfer_ns=null "                \
    "exposed_unmatched_ns=null exposed_least_wait_ns=null comm_to_compute=" comm_to_compute        \
    " exposed_to_window=" exposed_to_window
#define NO_COMM                                                                                    \
    "comm_ns=0 memory_ns=0 overlap_ns=0 overlap_pct=null exposed_comm_ns=0 exposed_memory_ns=0"
#define NO_TIMES                                                                                   \
    "window_ns=0 compute_ns=0 comm_ns=0 memory_ns=0 overlap_ns=0 overlap_pct=null "                \
    "exposed_comm_ns=0 exposed_memory_ns=0 busy_ns=0 idle_ns=0" RATIOS("null", "null")

/* Rank 0, in ns after the epoch:
 *
 *   ProfilerStep  #1 [0, 100)                                #2 [100, 200)
 *   P             gemm [20, 60)                              gemm [120, 150)
 *   C             allreduce [40, 90), allreduce [80, 90)     allgather [135, 175)
 *   M             set [22, 30), copy [50, 100)
 *
 *   whole:   |P| 40 + 30 = 70, |C| 50 + 40 = 90, |M| 58, C n P [40, 60) [135, 150): 20 + 15 = 35,
 *            C \ P 30 + 25 = 55, (M \ P) \ C [60, 100) \ [40, 90) = [90, 100): 10,
 *            busy [20, 100) [120, 175): 80 + 55 = 135, window [20, 175): 155, idle 20;
 *            70 + 55 + 10 + 20 = 155. 100 * 35 / 90 = 38.888..., 90 / 70 = 1.2857142857...,
 *            55 / 155 = 0.35483870967...
 *   step 1:  [0, 100): P 40, C 50, M 58, overlap 20 (40 %), C \ P 30, (M \ P) \ C 10, busy 80,
 *            idle 20; 50 / 40 = 1.25, 30 / 100 = 0.3
 *   step 2:  [100, 200): P 30, C 40, M 0, overlap 15 (37.5 %), C \ P 25, busy 55, idle 45;
 *            40 / 30 = 1.333..., 25 / 100 = 0.25
 *   kinds:   allgather: 1 kernel, C 40, C n P 15 (37.5 %), C \ P 25
 *            allreduce: 2 kernels, C 50, C n P 20 (40 %), C \ P 30 */
static const event_spec rank_0[] = {
    STEP("ProfilerStep#1", 0, 100),
    STEP("ProfilerStep#2", 100, 100),
    CALL(10, 1),
    KERNEL("gemm", 20, 40, 1, 7),
    CALL(12, 2),
    KERNEL("ncclDevKernel_AllReduce_Sum_f32", 40, 50, 2, 20),
    CALL(13, 3),
    KERNEL("ncclDevKernel_AllReduce_Sum_f32", 80, 10, 3, 21),
    CALL(14, 4),
    {TM_CAT_MEMCPY, "Memcpy HtoD", 50, 50, 4, 22, 0, NULL, TM_DURATION},
    {TM_CAT_MEMSET, "Memset", 22, 8, 4, 23, 0, NULL, TM_DURATION},
    CALL(110, 5),
    KERNEL("gemm", 120, 30, 5, 7),
    CALL(112, 6),
    KERNEL("ncclDevKernel_AllGather", 135, 40, 6, 20),
    {TM_CAT_CPU_INSTANT, "[memory]", 15, 0, 0, 1, 1, NULL, TM_INSTANT},
};

/* Rank 1 ran only on the CPU: ProfilerStep#1 [0, 80) and #3 [80, 90). */
static const event_spec rank_1[] = {STEP("ProfilerStep#1", 0, 80), STEP("ProfilerStep#3", 80, 10),
                                    OP(5, 10)};

static void make_job(small_job *b) {
    ground *g = &b->ground;
    tm_trace one = make_trace(g, "t/node7_12.34.pt.trace.json", rank_1, COUNT(rank_1), epoch);
    tm_trace zero = make_trace(g, "t/rank0.json", rank_0, COUNT(rank_0), epoch);
    zero.host = name_of(g, "nodeA");
    one.host = name_of(g, "node7");
    zero.counts[TM_COUNT_NO_TIME] = 2;
    zero.counts[TM_COUNT_FLOW] = 9;
    one.truncated = true;
    add_trace(b, 1, &one); /* processes finish in any order */
    add_trace(b, 0, &zero);
    finish_job(b);
}

TEST(overlap_is_as_worked_out_by_hand) {
    static const char *const ranks[] = {
        "rank=0 window_ns=155 compute_ns=70 comm_ns=90 memory_ns=58 overlap_ns=35 "
        "overlap_pct=38.88888889 exposed_comm_ns=55 exposed_memory_ns=10 busy_ns=135 "
        "idle_ns=20" RATIOS("1.285714286", "0.3548387097") " before_ns=20",
        "rank=1 " NO_TIMES " before_ns=null",
    };
    static const char *const steps[] = {
        "rank=0 step=1 begin_ns=1700000000000000000 partial=false window_ns=100 compute_ns=40 "
        "comm_ns=50 memory_ns=58 overlap_ns=20 overlap_pct=40 exposed_comm_ns=30 "
        "exposed_memory_ns=10 busy_ns=80 idle_ns=20" RATIOS("1.25", "0.3"),
        "rank=0 step=2 begin_ns=1700000000000000100 partial=false window_ns=100 compute_ns=30 "
        "comm_ns=40 memory_ns=0 overlap_ns=15 overlap_pct=37.5 exposed_comm_ns=25 "
        "exposed_memory_ns=0 busy_ns=55 idle_ns=45" RATIOS("1.333333333", "0.25"),
        "rank=1 step=1 begin_ns=1700000000000000000 partial=false " NO_TIMES,
        "rank=1 step=3 begin_ns=1700000000000000080 partial=false " NO_TIMES,
    };
    static const char *const kinds[] = {
        "rank=0 kind=allgather count=1 comm_ns=40 overlap_ns=15 overlap_pct=37.5 "
        "exposed_comm_ns=25",
        "rank=0 kind=allreduce count=2 comm_ns=50 overlap_ns=20 overlap_pct=40 exposed_comm_ns=30",
    };
    small_job b = open_job();
    make_job(&b);
    CHECK_ROWS(&b, "overlap.rank", ranks);
    CHECK_ROWS(&b, "overlap.step", steps);
    CHECK_ROWS(&b, "overlap.kind", kinds);
    close_job(&b);
}

/* The rank uses GPUs 0 and 1. On GPU 2, it has a memset of 1 ns, under 1 % of GPU 0's 120,
 * so GPU 2 does not work. Rank 2 is not the whole job, so it has no row for GPU 2. In ns:
 *
 *   GPU 0: gemm [0, 100), copy [180, 200)        P 100, M 20, busy 120, idle 80 of 200
 *   GPU 1: gemm [90, 150), allreduce [140, 170)  P 60, C 30, C n P 10, C \ P 20, busy 80, idle 120
 *   rank:  P [0, 150), C \ P 20, M \ P \ C 20: busy 190, idle 10. While only the other GPU works,
 *          GPU 0 idles 70, GPU 1 110: 90 on average. 10 + 90 is the mean of 80 and 120.
 *   kernels: 100 and 60 + 20, on average 90 of 200: 45 %. */
#define ANY_TIMES                                                                                  \
    " window_ns=? compute_ns=? comm_ns=? memory_ns=? overlap_ns=? overlap_pct=? "                  \
    "exposed_comm_ns=? exposed_memory_ns=? busy_ns=? idle_ns=?"
TEST(the_devices_of_a_rank_are_reported_apart) {
    static const event_spec events[] = {
        STEP("ProfilerStep#1", 0, 200),
        {TM_CAT_KERNEL, "gemm", 0, 100, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_MEMCPY, "Memcpy DtoH", 180, 20, 0, 8, 0, NULL, TM_DURATION},
        {TM_CAT_KERNEL, "gemm", 90, 60, 0, 7, 1, NULL, TM_DURATION},
        {TM_CAT_KERNEL, "ncclDevKernel_AllReduce_Sum_f32", 140, 30, 0, 20, 1, NULL, TM_DURATION},
        {TM_CAT_MEMSET, "Memset", 0, 1, 0, 7, 2, NULL, TM_DURATION},
    };
    static const char *const devices[] = {
        "rank=0 device=0 works=true window_ns=200 compute_ns=100 comm_ns=0 memory_ns=20 "
        "overlap_ns=0 "
        "overlap_pct=null exposed_comm_ns=0 exposed_memory_ns=20 busy_ns=120 idle_ns=80",
        "rank=0 device=1 works=true window_ns=200 compute_ns=60 comm_ns=30 memory_ns=0 "
        "overlap_ns=10 "
        "overlap_pct=33.33333333 exposed_comm_ns=20 exposed_memory_ns=0 busy_ns=80 idle_ns=120",
        "rank=0 device=2 works=false window_ns=200 compute_ns=0 comm_ns=0 memory_ns=1 overlap_ns=0 "
        "overlap_pct=null exposed_comm_ns=0 exposed_memory_ns=1 busy_ns=1 idle_ns=199",
        "rank=2 device=0 works=true" ANY_TIMES,
        "rank=2 device=1 works=true" ANY_TIMES,
    };
    small_job j = open_job();
    tm_trace one_of_8 = make_trace(&j.ground, "t", events, COUNT(events), 0);
    one_of_8.world_size = 8;
    add_rank(&j, 1, events, 3); /* this rank uses one GPU */
    add_rank(&j, 0, events, COUNT(events));
    add_trace(&j, 2, &one_of_8);
    finish_job(&j);
    CHECK_ROWS(&j, "overlap.device", devices);
    const tm_table *ranks = tm_tables_find(&j.tables, "overview.rank");
    const tm_table *idle = tm_tables_find(&j.tables, "idle.rank");
    assert_true(tm_table_cell(ranks, 0, "gpu_utilization_pct")->value.r == 45.0);
    assert_true(tm_table_cell(ranks, 1, "gpu_utilization_pct")->value.r == 50.0);
    assert_int_equal(tm_table_cell(idle, 0, "idle_ns")->value.i, 10);
    assert_int_equal(tm_table_cell(idle, 0, "turns_ns")->value.i, 90);
    assert_true(tm_table_cell(idle, 1, "turns_ns")->null);
    close_job(&j);
}

TEST(the_job_is_as_worked_out_by_hand) {
    /* Rank 0 has 16 events, rank 1 three; the steps are 1, 2 and 3; all are in [0, 200). */
    static const char *const jobs[] = {
        "ranks=2 hosts=2 steps=3 events=19 collectives=null begin_ns=1700000000000000000 "
        "duration_ns=200 recordings=1 recorded_ns=200 device_kind=GPU integrity=On rank 1, the "
        "trace is cut short and lacks about 100 % of the launches or device time that whole "
        "traces have; shares cover only what was recorded, there is no verdict, and the only "
        "advice is "
        "on recording"};
    static const char *const ranks[] = {
        "rank=0 host=nodeA device=0 source=t/rank0.json format=kineto events=16 "
        "begin_ns=1700000000000000000 end_ns=1700000000000000200 skipped_events=2 "
        "repaired_events=0 truncated=false remarks=2 no_time device_kind=GPU unrecognised=null "
        "profiler_error=null opening_ns=null host_inferred=false",
        "rank=1 host=node7 device=null source=t/node7_12.34.pt.trace.json format=kineto events=3 "
        "begin_ns=1700000000000000000 end_ns=1700000000000000090 skipped_events=0 "
        "repaired_events=0 truncated=true remarks=null device_kind=null unrecognised=null "
        "profiler_error=null opening_ns=null host_inferred=false",
    };
    small_job b = open_job();
    make_job(&b);
    static const char *const formats[] = {"format=kineto ranks=2 cannot_tell=null"};
    CHECK_ROWS(&b, "job.job", jobs);
    CHECK_ROWS(&b, "job.format", formats);
    CHECK_ROWS(&b, "job.rank", ranks);
    check_rows(&b, "job.left_out", NULL, 0); /* this table is filled while files are read */
    close_job(&b);
}

TEST(the_window_of_two_spans_is_the_sum_of_theirs) {
    /* a: op [0, 100), gemm [10, 60), nccl [40, 70); b, 1000 later: op [0, 100), gemm [20, 90).
     * Rank: window 60 + 70 = 130, P 50 + 70 = 120, C 30, overlap 20, C \ P 10, busy 130, idle 0.
     * Step 0 is the whole trace without the 900 in between: window 200, idle 200 - 130 = 70. */
    static const event_spec first[] = {OP(0, 100), KERNEL("gemm", 10, 50, 0, 7),
                                       KERNEL("ncclDevKernel_SendRecv", 40, 30, 0, 20)};
    static const event_spec second[] = {OP(0, 100), KERNEL("gemm", 20, 70, 0, 7)};
    static const char *const ranks[] = {
        "rank=3 window_ns=130 compute_ns=120 comm_ns=30 memory_ns=0 overlap_ns=20 "
        "overlap_pct=66.66666667 exposed_comm_ns=10 exposed_memory_ns=0 busy_ns=130 "
        "idle_ns=0" RATIOS("0.25", "0.07692307692") " before_ns=null"};
    static const char *const steps[] = {
        "rank=3 step=0 begin_ns=0 partial=false window_ns=200 compute_ns=120 comm_ns=30 "
        "memory_ns=0 overlap_ns=20 overlap_pct=66.66666667 exposed_comm_ns=10 exposed_memory_ns=0 "
        "busy_ns=130 idle_ns=70" RATIOS("0.25", "0.05")};
    static const char *const kinds[] = {"rank=3 kind=sendrecv count=1 comm_ns=30 overlap_ns=20 "
                                        "overlap_pct=66.66666667 exposed_comm_ns=10"};
    static const char *const jobs[] = {
        "rank=3 host=null device=0 source=a.json,b.json format=kineto events=5 begin_ns=0 "
        "end_ns=1100 skipped_events=0 repaired_events=0 truncated=false remarks=null "
        "device_kind=GPU unrecognised=null profiler_error=null opening_ns=null host_inferred=null"};
    small_job b = open_job();
    tm_trace early = make_trace(&b.ground, "a.json", first, COUNT(first), 0);
    tm_trace late = make_trace(&b.ground, "b.json", second, COUNT(second), 1000);
    tm_trace *traces[] = {&late, &early};
    add_traces(&b, 3, traces, 2);
    finish_job(&b);
    CHECK_ROWS(&b, "overlap.rank", ranks);
    CHECK_ROWS(&b, "overlap.step", steps);
    CHECK_ROWS(&b, "overlap.kind", kinds);
    CHECK_ROWS(&b, "job.rank", jobs);
    const tm_table *job = tm_tables_find(&b.tables, "job.job");
    assert_int_equal(tm_table_cell(job, 0, "recordings")->value.i, 2);
    assert_int_equal(tm_table_cell(job, 0, "recorded_ns")->value.i, 200);
    close_job(&b);
}

TEST(an_unmarked_step_is_compared_by_what_the_device_did) {
    /* One process drives two devices. The events of its host, [0, 1000), belong to rank 0. The
     * GPUs' windows are [500, 600) and [510, 605). 95 ns are at least four fifths of the median
     * (100 + 95) / 2; with host events they would be less than four fifths of (1000 + 95) / 2. The
     * ranks compute 40 and 44 ns: mean 42, imbalance 100 (44 / 42 - 1) = 4.761904762 %, load
     * balance 42 / 44; cov 2 / 42, gini (44 - 40) / (2 x 84); the longer window is 100. */
    static const event_spec first[] = {OP(0, 1000), KERNEL("gemm", 500, 20, 0, 7),
                                       KERNEL("gemm", 580, 20, 0, 7)};
    static const event_spec second[] = {KERNEL("gemm", 510, 24, 0, 7),
                                        KERNEL("gemm", 585, 20, 0, 7)};
    static const char *const steps[] = {
        "rank=0 step=0 begin_ns=0 partial=false window_ns=1000 compute_ns=40 " NO_COMM
        " busy_ns=40 idle_ns=960" RATIOS("0", "0"),
        "rank=1 step=0 begin_ns=510 partial=false window_ns=95 compute_ns=44 " NO_COMM
        " busy_ns=44 idle_ns=51" RATIOS("0", "0"),
    };
    static const char *const jobs[] = {
        "mean_compute_ns=42 max_compute_ns=44 max_rank=1 imbalance_pct=4.761904762 imbalance_ns=2 "
        "load_balance=0.9545454545 cov=0.04761904762 gini=0.02380952381 step_ns=100 "
        "parallel_efficiency=0.42 communication_efficiency=0.44 ranks=2 steps=1 partial_steps=0"};
    small_job b = open_job();
    add_rank(&b, 0, first, COUNT(first));
    add_rank(&b, 1, second, COUNT(second));
    finish_job(&b);
    CHECK_ROWS(&b, "overlap.step", steps);
    CHECK_ROWS(&b, "imbalance.job", jobs);
    close_job(&b);
}

TEST(a_step_has_the_time_of_its_own_span_alone) {
    /* Step 1 [0, 50) is in trace a, whose last operator ends at 60. Step 2 is in trace z, which
     * begins 1000 after trace a. */
    static const event_spec first[] = {STEP("ProfilerStep#1", 0, 50), CALL(1, 1), OP(55, 5),
                                       KERNEL("gemm", 10, 20, 1, 7)};
    static const event_spec second[] = {STEP("ProfilerStep#2", 0, 100), CALL(1, 1),
                                        KERNEL("gemm", 40, 20, 1, 7)};
    static const int64_t windows[] = {50, 100};
    small_job b = open_job();
    tm_trace a = make_trace(&b.ground, "a", first, COUNT(first), 0);
    tm_trace z = make_trace(&b.ground, "z", second, COUNT(second), 1000);
    tm_trace *traces[] = {&a, &z};
    add_traces(&b, 0, traces, 2);
    finish_job(&b);
    const tm_table *table = tm_tables_find(&b.tables, "overlap.step");
    int window = tm_table_column(table->def, "window_ns");
    assert_int_equal(table->n_rows, COUNT(windows));
    for (size_t i = 0; i < COUNT(windows); i++)
        assert_int_equal(tm_table_row(table, i)[window].value.i, windows[i]);
    close_job(&b);
}

TEST(a_ratio_without_a_denominator_is_null) {
    /* rank 0 only computes, 1 only communicates, 2 has one kernel of length 0: its window is 0 */
    static const event_spec computes[] = {KERNEL("gemm", 0, 10, 0, 7)};
    static const event_spec communicates[] = {KERNEL("ncclDevKernel_AllReduce", 0, 10, 0, 7)};
    static const event_spec instant[] = {KERNEL("ncclDevKernel_AllReduce", 5, 0, 0, 7)};
    static const char *const kinds[] = {
        "rank=1 kind=allreduce count=1 comm_ns=10 overlap_ns=0 overlap_pct=0 exposed_comm_ns=10",
        "rank=2 kind=allreduce count=1 comm_ns=0 overlap_ns=0 overlap_pct=null exposed_comm_ns=0",
    };
    static const char *const ranks[] = {
        "rank=0 window_ns=10 compute_ns=10 comm_ns=0 memory_ns=0 overlap_ns=0 overlap_pct=null "
        "exposed_comm_ns=0 exposed_memory_ns=0 busy_ns=10 idle_ns=0" RATIOS("0",
                                                                            "0") " before_ns=null",
        "rank=1 window_ns=10 compute_ns=0 comm_ns=10 memory_ns=0 overlap_ns=0 overlap_pct=0 "
        "exposed_comm_ns=10 exposed_memory_ns=0 busy_ns=10 idle_ns=0" RATIOS("null",
                                                                             "1") " before_ns=null",
        "rank=2 " NO_TIMES " before_ns=null",
    };
    small_job b = open_job();
    add_rank(&b, 0, computes, 1);
    add_rank(&b, 1, communicates, 1);
    add_rank(&b, 2, instant, 1);
    finish_job(&b);
    CHECK_ROWS(&b, "overlap.kind", kinds);
    CHECK_ROWS(&b, "overlap.rank", ranks);
    close_job(&b);
}

enum { N_STEPS = 7, N_RANKS = 4 };

/* Makes a rank whose step s begins at 1000 s and takes lengths[s]; 0: the step is missing. */
static tm_trace make_steps(const small_job *b, const int64_t lengths[N_STEPS], bool gpu) {
    event_spec events[3 * N_STEPS];
    char names[N_STEPS][32];
    size_t n = 0;
    for (int s = 0; s < N_STEPS; s++) {
        int64_t begin = INT64_C(1000) * s;
        if (lengths[s] == 0)
            continue;
        snprintf(names[s], sizeof names[s], "ProfilerStep#%d", s);
        events[n++] = (event_spec)STEP(names[s], begin, lengths[s]);
        events[n++] = (event_spec)CALL(begin + 1, s + 1);
        if (gpu)
            events[n++] = (event_spec)KERNEL("gemm", begin + 2, 5, s + 1, 7);
    }
    return make_trace(&b->ground, "t", events, n, 0);
}

TEST(a_step_is_partial_under_four_fifths_of_the_median) {
    static const struct {
        int64_t length[N_RANKS]; /* of ranks 0, 1, 2, and of rank 3, which has no GPU events */
        bool partial[N_RANKS];
    } cases[N_STEPS] = {
        /* the median is 100 ns, the limit 80: rank 1 is at it, then 1 ns below, then above */
        {{100, 80, 100, 500}, {false, false, false, false}},
        {{100, 79, 100, 500}, {false, true, false, false}},
        {{100, 81, 100, 500}, {false, false, false, false}},
        /* the median is (150 + 100) / 2 = 125 and the limit 100; then 124.5 and 99.6 */
        {{150, 100, 0, 500}, {false, false, false, false}},
        {{150, 99, 0, 500}, {false, true, false, false}},
        /* the median is 101 and the limit 80.8, not rounded */
        {{101, 80, 300, 500}, {false, true, false, false}},
        /* only one rank */
        {{0, 0, 7, 1}, {false, false, false, false}},
    };
    /* Each step is a separate job. Then all are in one job, in which only the first and last step
     * of a rank may be partial (rank 1's last is step 5). Finally the same with truncated traces:
     * the last step of each is partial, whatever its length, unless it has no GPU event. */
    for (int only = 0; only < N_STEPS + 2; only++) {
        small_job b = open_job();
        bool all = only >= N_STEPS, cut = only == N_STEPS + 1;
        for (int rank = N_RANKS - 1; rank >= 0; rank--) {
            int64_t lengths[N_STEPS];
            for (int s = 0; s < N_STEPS; s++)
                lengths[s] = all || s == only ? cases[s].length[rank] : 0;
            tm_trace trace = make_steps(&b, lengths, rank < 3);
            trace.truncated = cut;
            if (trace.events.n > 0)
                add_trace(&b, rank, &trace);
            else
                tm_trace_free(&trace);
        }
        finish_job(&b);
        const tm_table *table = tm_tables_find(&b.tables, "overlap.step");
        int step = tm_table_column(table->def, "step"),
            partial = tm_table_column(table->def, "partial");
        size_t row = 0;
        for (int rank = 0; rank < N_RANKS; rank++)
            for (int s = 0; s < N_STEPS; s++) {
                if (cases[s].length[rank] == 0 || (!all && s != only))
                    continue;
                const tm_cell *cells = tm_table_row(table, row++);
                bool last = s + 1 == N_STEPS || (s + 2 == N_STEPS && rank < 2);
                assert_int_equal(cells[0].value.i, rank);
                assert_int_equal(cells[step].value.i, s);
                assert_false(cells[partial].null);
                assert_int_equal(cells[partial].value.i,
                                 (cases[s].partial[rank] && (!all || s == 0 || last)) ||
                                     (cut && last && rank < 3));
            }
        assert_int_equal(row, table->n_rows);
        close_job(&b);
    }
}

TEST(times_that_count_from_0_are_no_part_of_the_jobs_range) {
    static const event_spec events[] = {KERNEL("gemm", 0, 10, 0, 7)};
    static const struct {
        int64_t begin_ns[3];
        const char *job;
    } cases[] = {
        {{INT64_C(1700000000000000000), 5, INT64_C(1700000000000000020)},
         "ranks=3 hosts=1 steps=0 events=3 collectives=null begin_ns=1700000000000000000 "
         "duration_ns=null recordings=null recorded_ns=null device_kind=GPU integrity=null"},
        {{40, 5, 20},
         "ranks=3 hosts=1 steps=0 events=3 collectives=null begin_ns=5 duration_ns=45 "
         "recordings=1 recorded_ns=10 device_kind=GPU integrity=null"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        small_job b = open_job();
        for (int rank = 0; rank < 3; rank++) {
            tm_trace trace = make_trace(&b.ground, "t", events, 1, cases[i].begin_ns[rank]);
            trace.host = name_of(&b.ground, "node7");
            add_trace(&b, rank, &trace);
        }
        finish_job(&b);
        check_rows(&b, "job.job", &cases[i].job, 1);
        close_job(&b);
    }
}

TEST(a_job_without_duration_events_has_no_time) {
    static const event_spec events[] = {
        {TM_CAT_CPU_INSTANT, "[memory]", 5, 0, 0, 1, 1, NULL, TM_INSTANT}};
    static const char *const jobs[] = {"ranks=1 hosts=null steps=0 events=1 collectives=null "
                                       "begin_ns=null duration_ns=null recordings=null "
                                       "recorded_ns=null device_kind=null integrity=null"};
    static const char *const ranks[] = {
        "rank=0 host=null device=null source=one.json format=kineto events=1 begin_ns=null "
        "end_ns=null "
        "skipped_events=0 repaired_events=0 truncated=false remarks=null device_kind=null "
        "unrecognised=null profiler_error=null opening_ns=null host_inferred=null"};
    small_job b = open_job();
    add_rank(&b, 0, events, 1);
    finish_job(&b);
    CHECK_ROWS(&b, "job.job", jobs);
    CHECK_ROWS(&b, "job.rank", ranks);
    check_rows(&b, "overlap.step", NULL, 0);
    check_rows(&b, "overlap.kind", NULL, 0);
    close_job(&b);
}

RUN_TESTS()

/* The table job.integrity: missing and impossible parts of a recording, computed by hand. */
#include <math.h>

#include "analysis_fixture.h"

#define CALL(name, begin, duration, correlation)                                                   \
    { TM_CAT_RUNTIME, name, begin, duration, correlation, 1, 1, NULL, TM_DURATION }
#define DRIVER(name, begin, duration, correlation)                                                 \
    { TM_CAT_DRIVER, name, begin, duration, correlation, 1, 1, NULL, TM_DURATION }
#define KERNEL(name, begin, duration, correlation, stream)                                         \
    { TM_CAT_KERNEL, name, begin, duration, correlation, stream, 0, NULL, TM_DURATION }
#define STEP(name, begin)                                                                          \
    { TM_CAT_USER_ANNOTATION, name, begin, 100, 0, 1, 1, NULL, TM_DURATION }

/* Only the third of 4 steps has its kernel. In each other step, the GPU may have worked for 80 ns:
 * from the launch to the end of Synchronize. Together with the 50 ns of the recorded kernel, it
 * computes for 50 to 290 ns of 290. Nothing is lost between recorded events. */
static const event_spec lost_kernels[] = {
    STEP("ProfilerStep#0", 0),
    STEP("ProfilerStep#1", 100),
    STEP("ProfilerStep#2", 200),
    STEP("ProfilerStep#3", 300),
    CALL("cudaLaunchKernel", 10, 5, 1),
    CALL("cudaDeviceSynchronize", 20, 70, 9),
    CALL("hipExtModuleLaunchKernel", 110, 5, 2),
    CALL("cudaDeviceSynchronize", 120, 70, 9),
    CALL("cudaLaunchKernelExC", 210, 5, 3),
    CALL("cudaDeviceSynchronize", 220, 70, 9),
    CALL("cuLaunchKernel", 310, 5, 4),
    CALL("cudaDeviceSynchronize", 320, 70, 9),
    KERNEL("A", 230, 50, 3, 7),
};

/* The kernels of two graphs are missing. The first graph may have run for 80 ns, until A began; the
 * second for 80 ns, until the host had waited for it. A and B take 37 ns of a window of 120, or of
 * 200 with the first graph's time. So computation is 37 to 197 ns, idle time 3 to 163. Of the three
 * launches from A's to B's, one is lost. */
static const event_spec lost_graphs[] = {
    CALL("hipGraphLaunch", 0, 5, 1),    CALL("hipLaunchKernel", 10, 5, 2),
    CALL("hipGraphLaunch", 100, 5, 3),  CALL("hipStreamSynchronize", 110, 70, 9),
    CALL("hipLaunchKernel", 181, 2, 4), KERNEL("A", 80, 20, 2, 7),
    KERNEL("B", 183, 17, 4, 7),
};

/* Nothing is missing. HostFunc runs on the host, and a capture runs nothing. The driver's launch is
 * inside the runtime's. The first launch precedes the first recorded kernel by less than a tenth of
 * the recording. The last launch is still queued at the end. The kernel without a launch may belong
 * to the launch without a kernel. A of a graph runs concurrently with B, C, D and E. */
static const event_spec whole[] = {
    CALL("cudaLaunchKernel", 0, 2, 1),
    CALL("cudaLaunchKernel", 10, 5, 2),
    DRIVER("cuLaunchKernel", 11, 2, 0),
    CALL("cudaLaunchHostFunc", 20, 5, 3),
    CALL("cudaStreamBeginCapture", 30, 2, 9),
    CALL("cudaLaunchKernel", 40, 5, 4),
    CALL("cudaStreamEndCapture", 50, 2, 9),
    CALL("cudaLaunchKernel", 60, 5, 5),
    CALL("cudaGraphLaunch", 70, 5, 6),
    CALL("cudaLaunchKernel", 190, 5, 7),
    KERNEL("first", 15, 20, 2, 7),
    KERNEL("unlinked", 61, 20, 99, 7),
    KERNEL("A", 90, 100, 6, 7),
    KERNEL("B", 91, 9, 6, 7),
    KERNEL("C", 101, 9, 6, 7),
    KERNEL("D", 111, 9, 6, 7),
};

/* A stream is serial, so A cannot last until 80: B, C and D ran before. If A is cut where B begins,
 * all kernels take [0, 60), because E on another stream runs in [20, 60). */
static const event_spec impossible[] = {
    KERNEL("A", 0, 80, 1, 7),  KERNEL("B", 10, 10, 2, 7), KERNEL("C", 30, 10, 3, 7),
    KERNEL("D", 50, 10, 4, 7), KERNEL("E", 20, 40, 5, 8),
};

/* GPU 0 runs A, and GPU 1 runs B and C. One thread's lost kernel was presumably on GPU 1, like its
 * launches before and after: it may have run from 25 until C begins. Another thread's lost kernel
 * was on an unknown GPU: it may have run from 30 to the end at 110. Of 2 x 100 ns, the GPUs compute
 * for 120 to 200 and idle for 0 to 80. */
static const event_spec two_gpus[] = {
    CALL("cudaLaunchKernel", 0, 2, 1),
    CALL("cudaLaunchKernel", 3, 2, 2),
    CALL("cudaLaunchKernel", 25, 2, 3),
    CALL("cudaLaunchKernel", 80, 2, 4),
    {TM_CAT_RUNTIME, "cudaLaunchKernel", 30, 2, 5, 2, 1, NULL, TM_DURATION},
    KERNEL("A", 10, 100, 1, 7),
    {TM_CAT_KERNEL, "B", 10, 10, 2, 7, 1, NULL, TM_DURATION},
    {TM_CAT_KERNEL, "C", 100, 10, 4, 7, 1, NULL, TM_DURATION},
};

/* The first graph has computation and communication, the second only communication. Of the third,
 * only communication was recorded, 300 us after its launch; the GPU may have computed in this time.
 * The recorded kernels take 780 us of 2,390. */
static const event_spec comm_of_graphs[] = {
    CALL("cudaGraphLaunch", 0, 5000, 1),
    CALL("cudaGraphLaunch", 1000000, 5000, 2),
    CALL("cudaGraphLaunch", 2000000, 5000, 3),
    KERNEL("gemm", 10000, 90000, 1, 7),
    KERNEL("ncclDevKernel_AllReduce", 300000, 100000, 1, 7),
    KERNEL("ncclDevKernel_AllReduce", 1010000, 490000, 2, 7),
    KERNEL("ncclDevKernel_AllReduce", 2300000, 100000, 3, 7),
};

/* The host waited for A until 30, but A ends at 45: this is impossible. Another thread launched B
 * in the meantime. A and B take 47 ns of the window of 48. */
static const event_spec late[] = {
    CALL("cudaLaunchKernel", 0, 5, 1),
    CALL("cudaDeviceSynchronize", 10, 20, 9),
    {TM_CAT_RUNTIME, "cudaLaunchKernel", 8, 5, 2, 2, 1, NULL, TM_DURATION},
    KERNEL("A", 8, 37, 1, 7),
    KERNEL("B", 46, 10, 2, 7),
};

/* The launched kernel was not recorded. It may have run until the recording ends, for 5 ns. */
static const event_spec host_only[] = {CALL("cudaLaunchKernel", 0, 5, 1)};

TEST(what_is_missing_and_what_cannot_be_is_as_worked_out_by_hand) {
    static const char *const rows[] = {
        ("rank steps steps_lost launches launches_lost graphs_lost recorded_pct sampled device_ns "
         "hidden_ns compute_pct compute_least_pct compute_most_pct idle_pct idle_least_pct "
         "idle_most_pct moves_pct between_pct impossible_kernels impossible_kernel begin_ns "
         "followers "
         "impossible_ns compute_ns compute_least_ns late_kernels latest_ns cut_pct"),
        ("0 4 3 4 3 0 25 false 50 240 100 17.24137931 100 0 0 82.75862069 82.75862069 0 0 null "
         "null null "
         "0 "
         "50 50 0 null null"),
        ("1 0 0 4 2 2 50 false 37 160 30.83333333 18.5 98.5 69.16666667 1.5 81.5 67.66666667 "
         "33.33333333 "
         "0 null "
         "null "
         "null 0 37 37 0 null null"),
        "2 0 0 5 0 0 100 false 140 0 80 80 80 20 20 20 0 0 0 null null null 0 140 140 0 null null",
        "3 null null null null null null null 80 0 100 75 100 0 0 25 25 25 1 A 0 3 20 80 60 0 null "
        "null",
        ("4 0 0 1 1 0 0 false 0 5 null null null null null null 100 100 0 null null null null 0 "
         "null 0 "
         "null null"),
        "5 0 0 5 2 0 60 false 100 155 60 60 100 40 0 40 40 40 0 null null null 0 100 100 0 null "
        "null",
        ("6 0 0 3 1 1 66.66666667 false 780000 300000 3.765690377 3.765690377 16.31799163 "
         "67.36401674 "
         "54.81171548 67.36401674 33.33333333 33.33333333 0 null null null 0 90000 90000 0 null "
         "null"),
        ("7 0 0 2 0 0 100 false 47 0 97.91666667 97.91666667 97.91666667 2.083333333 2.083333333 "
         "2.083333333 0 0 0 null null null 0 47 47 1 15 null"),
    };
    small_job j = open_job();
    add_rank(&j, 0, lost_kernels, COUNT(lost_kernels));
    add_rank(&j, 1, lost_graphs, COUNT(lost_graphs));
    add_rank(&j, 2, whole, COUNT(whole));
    add_rank(&j, 3, impossible, COUNT(impossible));
    add_rank(&j, 4, host_only, COUNT(host_only));
    add_rank(&j, 5, two_gpus, COUNT(two_gpus));
    add_rank(&j, 6, comm_of_graphs, COUNT(comm_of_graphs));
    add_rank(&j, 7, late, COUNT(late));
    finish_job(&j);
    CHECK_NAMED(&j, "job.integrity", rows);
    close_job(&j);
}

/* Between A and B, nothing is recorded for 83 ns. The second graph may have run in 80 of these, so
 * only the last 3 are attributed to the host. */
TEST(time_that_the_gpu_may_have_worked_in_is_laid_to_nobody) {
    static const char *const rows[] = {
        "rank=0 idle_ns=83 idle_pct=69.16666667 host_wait_ns=3 kernel_wait_ns=0 other_ns=80 "
        "input_ns=0 host_comm_ns=0 alloc_ns=0 sync_ns=0 host_work_ns=3 gaps=1 longest_ns=83 "
        "turns_ns=null queued_ns=0"};
    small_job j = open_job();
    add_rank(&j, 0, lost_graphs, COUNT(lost_graphs));
    finish_job(&j);
    CHECK_ROWS(&j, "idle.rank", rows);
    close_job(&j);
}

/* CUPTI numbers all calls. If 100 recorded calls have numbers 51 apart, 1 of 51 calls was recorded.
 * A pause makes only one large distance. 100 kernels of 50 ns begin every 100 ns, so the GPU idles
 * for 99 x 50 of 9,950 ns if the trace is whole. */
TEST(a_trace_that_lacks_most_calls_is_a_sample) {
    static const struct {
        const char *call;
        int64_t n, apart, pause;
        bool sampled;
    } cases[] = {{"cudaLaunchKernel", 100, 51, 0, true},
                 {"cudaLaunchKernel", 100, 50, 0, false},
                 {"cudaLaunchKernel", 99, 60, 0, false},
                 {"cudaLaunchKernel", 100, 20, 99999, false},
                 {"hipLaunchKernel", 100, 51, 0, false}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        event_spec events[200];
        small_job j = open_job();
        for (int64_t i = 0; i < cases[c].n; i++) {
            int64_t id = 1 + i * cases[c].apart + (i > 50 ? cases[c].pause : 0);
            events[2 * i] = (event_spec)CALL(cases[c].call, 100 * i, 5, id);
            events[2 * i + 1] = (event_spec)KERNEL("k", 100 * i + 5, 50, id, 7);
        }
        add_rank(&j, 0, events, 2 * (size_t)cases[c].n);
        finish_job(&j);
        const tm_table *found = tm_tables_find(&j.tables, "job.integrity");
        assert_int_equal(tm_table_cell(found, 0, "sampled")->value.i, cases[c].sampled);
        const double between = cases[c].sampled ? 100.0 * 99 * 50 / 9950 : 0.0;
        assert_true(fabs(tm_table_cell(found, 0, "between_pct")->value.r - between) < 1e-9);
        close_job(&j);
    }
}

RUN_TESTS()

/* Overview: small ranks, computed by hand. */
#include "analysis_fixture.h"

#define SPAN(category, name, begin, duration, thread)                                              \
    { category, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }
#define NOTE(name, begin, duration) SPAN(TM_CAT_USER_ANNOTATION, name, begin, duration, 1)
#define GPU(category, name, begin, duration, stream)                                               \
    { category, name, begin, duration, 0, stream, 0, NULL, TM_DURATION }

/* Steps 1 [0, 100) and 2 [100, 200); kinds listed first take precedence:
 *   kernel   [10, 40), in parallel [30, 50); [100, 120) on tensor cores; [195, 230), past step 2
 *   comm     [45, 60); gloo on the host [58, 62)
 *   memcpy   [60, 70)                       memset   [65, 75)
 *   runtime  [5, 20), [80, 82)              input    [70, 85)
 *   cpu      [0, 100) the step itself does not count; [0, 8) op, [84, 92) annotation, [150, 160) op
 * step 1: kernel 40, comm 12, memcpy [62, 70) 8, memset [70, 75) 5, runtime [5, 10), [80, 82) 7,
 *         input [75, 80), [82, 85) 8, cpu [0, 5), [85, 92) 12, other [92, 100) 8
 * step 2: kernel 25, cpu 10, other 65
 * used:   kernels and comm [10, 60) of 100, 25 of 100: 75 of 200 */
static const event_spec rank_0[] = {
    NOTE("ProfilerStep#1", 0, 100),
    NOTE("ProfilerStep#2", 100, 100),
    GPU(TM_CAT_KERNEL, "k1", 10, 30, 7),
    GPU(TM_CAT_KERNEL, "k2", 30, 20, 8),
    GPU(TM_CAT_KERNEL, "h884gemm", 100, 20, 7),
    GPU(TM_CAT_KERNEL, "k4", 195, 35, 7),
    GPU(TM_CAT_KERNEL, "ncclDevKernel_AllReduce", 45, 15, 20),
    SPAN(TM_CAT_CPU_OP, "gloo:all_reduce", 58, 4, 3),
    SPAN(TM_CAT_USER_ANNOTATION, "nccl:all_reduce", 86, 2, 1), /* requests GPU work: CPU time */
    GPU(TM_CAT_MEMCPY, "Memcpy", 60, 10, 7),
    GPU(TM_CAT_MEMSET, "Memset", 65, 10, 8),
    SPAN(TM_CAT_RUNTIME, "cudaLaunchKernel", 5, 15, 1),
    SPAN(TM_CAT_DRIVER, "cuLaunchKernel", 80, 2, 1),
    SPAN(TM_CAT_CPU_OP, "enumerate(DataLoader)#x.__next__", 70, 15, 1),
    SPAN(TM_CAT_CPU_OP, "aten::mm", 0, 8, 1),
    NOTE("forward", 84, 8),
    SPAN(TM_CAT_CPU_OP, "aten::mm", 150, 10, 2),
    SPAN(TM_CAT_PYTHON, "train.py(1): main", 0, 200, 1),
    GPU(TM_CAT_GPU_ANNOTATION, "forward", 0, 200, 7),
};

/* Blocks per multiprocessor and occupancy of the kernels above, in order. */
static const struct {
    float blocks, occupancy_pct;
} launches[] = {{0.5f, 50}, {0.25f, 30}, {4, 100}, {0.75f, 20}, {0.125f, NAN}};

/* Rank 1 has a step [0, 50) with an operator [0, 20), on the CPU only. */
static const event_spec rank_1[] = {NOTE("ProfilerStep#1", 0, 50),
                                    SPAN(TM_CAT_CPU_OP, "aten::mm", 0, 20, 1)};

static void make_job(small_job *j) {
    tm_trace zero = make_trace(&j->ground, "0.json", rank_0, COUNT(rank_0), 0);
    assert_int_equal(zero.attrs[TM_ATTR_KERNEL].n, COUNT(launches));
    for (size_t i = 0; i < COUNT(launches); i++)
        set_shape(&zero, i,
                  (tm_launch_shape){.blocks_per_sm = launches[i].blocks,
                                    .occupancy_pct = launches[i].occupancy_pct});
    add_rank(j, 1, rank_1, COUNT(rank_1));
    add_trace(j, 0, &zero);
    finish_job(j);
}

TEST(steps_are_as_worked_out_by_hand) {
    static const char *const steps[] = {
        "rank=0 step=1 step_ns=100 kernel_ns=40 comm_ns=12 memcpy_ns=8 memset_ns=5 runtime_ns=7 "
        "input_ns=8 cpu_ns=12 other_ns=8 gpu_utilization_pct=50",
        "rank=0 step=2 step_ns=100 kernel_ns=25 comm_ns=0 memcpy_ns=0 memset_ns=0 runtime_ns=0 "
        "input_ns=0 cpu_ns=10 other_ns=65 gpu_utilization_pct=25",
        "rank=1 step=1 step_ns=50 kernel_ns=0 comm_ns=0 memcpy_ns=0 memset_ns=0 runtime_ns=0 "
        "input_ns=0 cpu_ns=20 other_ns=30 gpu_utilization_pct=null",
    };
    small_job j = open_job();
    make_job(&j);
    CHECK_ROWS(&j, "overview.step", steps);
    close_job(&j);
}

/* Blocks: [10, 30) 0.5, [30, 40) 0.75, [40, 45) 0.25, [45, 50) 0.375, [50, 60) 0.125, [100, 120) 1
 * (at most, instead of 4), [195, 200) 0.75: 10 + 7.5 + 1.25 + 1.875 + 1.25 + 20 + 3.75 = 45.625 of
 * 200. Occupancy: 50 * 30 + 30 * 20 + 100 * 20 + 20 * 5 = 4200 over 75 ns is 56, known for 75 of 90
 * ns. Tensor cores: 20 of 30 + 20 + 20 + 5 = 75 ns. The job has the values of rank 0, its only
 * rank. */
TEST(ranks_and_the_job_are_as_worked_out_by_hand) {
    static const char *const ranks[] = {
        "rank=0 steps=2 step_ns=200 kernel_ns=65 comm_ns=12 memcpy_ns=8 memset_ns=5 runtime_ns=7 "
        "input_ns=8 cpu_ns=22 other_ns=73 gpu_utilization_pct=37.5 sm_efficiency_pct=22.8125 "
        "occupancy_pct=56 occupancy_known_pct=83.33333333 tensor_core_pct=26.66666667",
        "rank=1 steps=1 step_ns=50 kernel_ns=0 comm_ns=0 memcpy_ns=0 memset_ns=0 runtime_ns=0 "
        "input_ns=0 cpu_ns=20 other_ns=30 gpu_utilization_pct=null sm_efficiency_pct=null "
        "occupancy_pct=null occupancy_known_pct=null tensor_core_pct=null",
    };
    static const char *const job[] = {
        "ranks=2 steps=3 mean_step_ns=83 step_ns=250 kernel_ns=65 comm_ns=12 memcpy_ns=8 "
        "memset_ns=5 runtime_ns=7 input_ns=8 cpu_ns=42 other_ns=103 kernel_pct=26 comm_pct=4.8 "
        "memcpy_pct=3.2 memset_pct=2 runtime_pct=2.8 input_pct=3.2 cpu_pct=16.8 other_pct=41.2 "
        "gpu_utilization_pct=37.5 sm_efficiency_pct=22.8125 occupancy_pct=56 "
        "occupancy_known_pct=83.33333333 tensor_core_pct=26.66666667 partial_steps=0 "
        "samples_per_step=null tokens_per_step=null samples_per_s=null tokens_per_s=null "
        "device_samples_per_s=null device_tokens_per_s=null headline=null evidence=null",
    };
    small_job j = open_job();
    make_job(&j);
    CHECK_ROWS(&j, "overview.rank", ranks);
    CHECK_ROWS(&j, "overview.job", job);
    close_job(&j);
}

/* Steps take 100, 100 and 40 ns. The last takes less than 80 % of the median, so it was cut, and
 * the mean is 100. If all traces were truncated, the mean is of all steps, 80. Two kinds of steps
 * have no mean. */
TEST(a_part_of_a_step_and_steps_of_several_kinds_are_in_no_mean) {
    static const event_spec whole[] = {NOTE("ProfilerStep#1", 0, 100),
                                       GPU(TM_CAT_KERNEL, "k", 0, 9, 7)};
    static const event_spec part[] = {NOTE("ProfilerStep#1", 0, 40),
                                      GPU(TM_CAT_KERNEL, "k", 0, 9, 7)};
    static const event_spec kinds[] = {NOTE("step[EXTEND bs=1]", 0, 100),
                                       NOTE("step[DECODE bs=1]", 100, 20),
                                       GPU(TM_CAT_KERNEL, "k", 0, 9, 7)};
    static const int mean[] = {100, 80, 0}, partial[] = {1, 3, 0};
    for (int cut = 0; cut < 3; cut++) {
        small_job j = open_job();
        for (int64_t rank = 0; rank < 3; rank++) {
            tm_trace trace = make_trace(&j.ground, "one.json",
                                        cut == 2   ? kinds
                                        : rank < 2 ? whole
                                                   : part,
                                        cut == 2 ? 3 : 2, 0);
            trace.truncated = cut == 1;
            add_trace(&j, rank, &trace);
        }
        finish_job(&j);
        const tm_table *job = tm_tables_find(&j.tables, "overview.job");
        assert_int_equal(tm_table_cell(job, 0, "mean_step_ns")->null, cut == 2);
        assert_int_equal(tm_table_cell(job, 0, "mean_step_ns")->value.i, mean[cut]);
        assert_int_equal(tm_table_cell(job, 0, "partial_steps")->value.i, partial[cut]);
        close_job(&j);
    }
}

RUN_TESTS()

/* Tables of analysis `efficiency` for a small job, and peaks of devices. */
#include "analysis_fixture.h"

#include "analysis/efficiency/peaks.h"

#define STEP(name, begin, duration)                                                                \
    { TM_CAT_USER_ANNOTATION, name, begin, duration, 0, 1, 1, NULL, TM_DURATION }
#define OP(name, begin, duration)                                                                  \
    { TM_CAT_CPU_OP, name, begin, duration, 0, 1, 1, NULL, TM_DURATION }
#define CALL(begin, correlation)                                                                   \
    { TM_CAT_RUNTIME, "launch", begin, 5, correlation, 1, 1, NULL, TM_DURATION }
#define KERNEL(name, begin, duration, correlation)                                                 \
    { TM_CAT_KERNEL, name, begin, duration, correlation, 7, 0, NULL, TM_DURATION }

/* This attention has 2 x 2 x 50 x 50 x (10 + 10) = 200,000 FLOP; half of it if causal. */
#define ATTENTION "aten::_scaled_dot_product_flash_attention"
#define CAUSAL "[\"\", \"\", \"\", \"0.\", \"True\"]"

/* Rank 0. Step 1: linear contains addmm, which launches hgemm (300) and relu (50); another relu
 * takes 100. Step 2: the backward pass contains mm (hgemm, 250), and linear, recomputed, with
 * causal attention (100). Attention over packed sequences takes 40. */
static const event_spec rank_0[] = {
    STEP("ProfilerStep#1", 0, 1000),
    OP("aten::linear", 100, 80),
    OP("aten::addmm", 110, 60),
    CALL(120, 1),
    CALL(130, 2),
    OP("aten::relu", 200, 20),
    CALL(205, 3),
    STEP("ProfilerStep#2", 1000, 500),
    OP("MmBackward0", 1100, 100),
    OP("aten::mm", 1110, 20),
    CALL(1115, 4),
    OP("aten::linear", 1140, 40),
    OP(ATTENTION, 1150, 20),
    CALL(1155, 5),
    OP("flash_attn_3::fwd", 1250, 20),
    CALL(1255, 6),
    KERNEL("hgemm", 200, 300, 1),
    KERNEL("relu", 500, 50, 2),
    KERNEL("relu", 600, 100, 3),
    KERNEL("hgemm", 1200, 250, 4),
    KERNEL("hgemm", 1460, 100, 5),
    KERNEL("flash", 1570, 40, 6),
};

/* Rank 1 has no steps: an mm in fp32, whose kernel uses tf32. Rank 2: mm takes 100 of 600 ns. */
static const event_spec rank_1[] = {OP("aten::mm", 0, 30), CALL(10, 1),
                                    KERNEL("cutlass_tensorop_s1688gemm", 50, 60, 1)};
static const event_spec rank_2[] = {OP("aten::mm", 0, 30), CALL(10, 1), CALL(40, 2),
                                    KERNEL("hgemm", 50, 100, 1), KERNEL("relu", 200, 500, 2)};

typedef struct called_with {
    uint32_t event;
    const char *shapes, *type, *values;
} called_with;

#define BF16 "[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"]"
#define FLOAT "[\"float\", \"float\"]"
/* A token attends to itself and the nine tokens before it. Sequences have up to 50 tokens. */
#define PACKED "[\"\", \"50\", \"50\", \"0.1\", \"True\", \"9\", \"0\"]"

static const called_with inputs_0[] = {
    {1, "[[100, 50], [20, 50], [20]]", BF16, "[\"\"]"},
    {2, "[[20], [100, 50], [50, 20]]", BF16, "[\"\"]"},
    {9, "[[100, 20], [20, 50]]", BF16, "[\"\"]"},
    {11, "[[100, 50], [20, 50], [20]]", BF16, "[\"\"]"},
    {12, "[[1, 2, 50, 10], [1, 2, 50, 10], [1, 2, 50, 10]]", BF16, CAUSAL},
    {14, "[[100, 2, 8], [100, 2, 8], [100, 2, 8]]", BF16, PACKED},
};
static const called_with inputs_1[] = {{0, "[[2, 3], [3, 4]]", FLOAT, "[\"\"]"}};
static const called_with inputs_2[] = {{0, "[[100, 50], [50, 20]]", BF16, "[\"\"]"}};

static void add_called(small_job *j, int64_t rank, const event_spec *events, size_t n_events,
                       const called_with *inputs, size_t n_inputs) {
    tm_trace trace = make_trace(&j->ground, "one.json", events, n_events, 0);
    describe(&j->ground, &trace,
             rank == 1 ? "{}" : "{\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA B300\"}]}");
    for (size_t i = 0; i < n_inputs; i++) {
        tm_shapes_attr shapes = {inputs[i].event, name_of(&j->ground, inputs[i].shapes)};
        tm_inputs_attr attr = {inputs[i].event, name_of(&j->ground, inputs[i].type),
                               name_of(&j->ground, inputs[i].values)};
        assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_SHAPES], &shapes, 1));
        assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_INPUTS], &attr, 1));
    }
    add_trace(j, rank, &trace);
}

static void open_called(small_job *j, const tm_peaks *peaks) {
    *j = open_job();
    add_called(j, 2, rank_2, COUNT(rank_2), inputs_2, COUNT(inputs_2));
    add_called(j, 0, rank_0, COUNT(rank_0), inputs_0, COUNT(inputs_0));
    add_called(j, 1, rank_1, COUNT(rank_1), inputs_1, COUNT(inputs_1));
    j->job.peaks = peaks;
    finish_job(j);
}

/* Each product of 100 x 50 x 20 has 200,000 FLOP: 200 ns at 1 TFLOP/s. Rank 0: 600,000 FLOP in
 * 1500 ns of steps; FLOP are known for 350 + 250 + 100 = 700 of its 840 ns of kernels. Utilization
 * is 400 / 1500 = 26.67 % without recomputation, 600 / 1500 with it; PACKED attention
 * adds at most 4 x 100 tokens x 10 (attended) x 2 heads x 8 = 64,000 FLOP: 464 / 1500. The last
 * kernel ends at 1610. Rank 1: 48 FLOP in a window of 110 ns, and its kernel takes 60. Rank 2:
 * FLOP are known for 100 of 600 ns of kernels; the step takes 700. */
TEST(ranks_and_steps_are_as_worked_out_by_hand) {
    static const char *const ranks[] = {
        ("rank device devices type peak_tflops step_ns window_ns compute_ns counted_ns "
         "coverage_pct "
         "flop at_most_flop recomputed_flop achieved_tflops kernel_tflops ideal_ns mfu_pct "
         "mfu_window_pct mfu_at_most_pct mfu_causal_pct hfu_pct reason"),
        ("0 NVIDIA~B300 1 bf16 1 1500 1610 840 700 83.33333333 600000 64000 200000 0.4 "
         "0.8571428571 "
         "400 26.66666667 24.8447205 30.93333333 26.66666667 40 null"),
        ("1 null 1 tf32 null 110 110 60 60 100 48 0 0 0.0004363636364 0.0008 null null null null "
         "null null "
         "The~peak~rate~of~the~device~in~tf32~is~unknown:~give~it~as~--peak~TYPE=TFLOPS."),
        ("2 NVIDIA~B300 1 bf16 1 700 700 600 100 16.66666667 200000 0 0 0.2857142857 2 200 null "
         "null null null null FLOP~are~known~for~under~20~%~of~the~compute~time."),
    };
    static const char *const steps[] = {
        ("rank=0 step=1 step_ns=1000 window_ns=1000 compute_ns=450 counted_ns=350 "
         "coverage_pct=77.77777778 flop=200000 at_most_flop=0 recomputed_flop=0 "
         "achieved_tflops=0.2 "
         "kernel_tflops=0.5714285714 ideal_ns=200 mfu_pct=20 mfu_window_pct=20 mfu_at_most_pct=20 "
         "mfu_causal_pct=20 hfu_pct=20"),
        ("rank=0 step=2 step_ns=500 window_ns=610 compute_ns=390 counted_ns=350 "
         "coverage_pct=89.74358974 flop=400000 at_most_flop=64000 recomputed_flop=200000 "
         "achieved_tflops=0.8 kernel_tflops=1.142857143 ideal_ns=200 mfu_pct=40 "
         "mfu_window_pct=32.78688525 mfu_at_most_pct=52.8 mfu_causal_pct=40 hfu_pct=80"),
        ("rank=1 step=0 step_ns=110 window_ns=110 compute_ns=60 counted_ns=60 coverage_pct=100 "
         "flop=48 at_most_flop=0 recomputed_flop=0 achieved_tflops=0.0004363636364 "
         "kernel_tflops=0.0008 ideal_ns=null mfu_pct=null mfu_window_pct=null mfu_at_most_pct=null "
         "mfu_causal_pct=null hfu_pct=null"),
        ("rank=2 step=0 step_ns=700 window_ns=700 compute_ns=600 counted_ns=100 "
         "coverage_pct=16.66666667 flop=200000 at_most_flop=0 recomputed_flop=0 "
         "achieved_tflops=0.2857142857 kernel_tflops=2 ideal_ns=200 mfu_pct=null "
         "mfu_window_pct=null mfu_at_most_pct=null mfu_causal_pct=null hfu_pct=null"),
    };
    const tm_peaks peaks = {.tflops = {[TM_NUMBER_BF16] = 1}};
    small_job j;
    open_called(&j, &peaks);
    CHECK_NAMED(&j, "efficiency.rank", ranks);
    CHECK_ROWS(&j, "efficiency.step", steps);
    close_job(&j);
}

/* Bytes: addmm 2 (20 + 5000 + 1000 + 2000); mm 2 (2000 + 1000 + 5000); causal attention 2 x 4 x
 * 1000, packed 2 x 4 x 1600; fp32 4 (6 + 12 + 8). hgemm does all of addmm's work, because relu
 * multiplies nothing. Rates are 200,000 / 350 and so on. The peak of a B300 is unknown. */
TEST(work_is_summed_by_operator_kernel_and_place) {
    static const char *const operators[] = {
        ("name shapes type at_most calls total_ns flop achieved_tflops peak_pct bytes "
         "flop_per_byte bw_gbps ranks median_rank_ns max_rank_ns max_rank"),
        ("aten::addmm [[20],~[100,~50],~[50,~20]] bf16 false 1 350 200000 0.5714285714 null 16040 "
         "12.46882793 45.82857143 1 350 350 0"),
        "aten::mm [[100,~20],~[20,~50]] bf16 false 1 250 200000 0.8 null 16000 12.5 64 1 250 250 0",
        ("aten::_scaled_dot_product_flash_attention "
         "[[1,~2,~50,~10],~[1,~2,~50,~10],~[1,~2,~50,~10]] "
         "bf16 false 1 100 200000 2 null 8000 25 80 1 100 100 0"),
        "aten::mm [[100,~50],~[50,~20]] bf16 false 1 100 200000 2 null 16000 12.5 160 1 100 100 2",
        ("aten::mm [[2,~3],~[3,~4]] tf32 false 1 60 48 0.0008 null 104 0.4615384615 1.733333333 1 "
         "60 60 1"),
        ("flash_attn_3::fwd [[100,~2,~8],~[100,~2,~8],~[100,~2,~8]] bf16 true 1 40 64000 1.6 null "
         "12800 5 320 1 40 40 0"),
    };
    static const char *const kernels[] = {
        ("name shapes type at_most calls total_ns flop achieved_tflops peak_pct bytes "
         "flop_per_byte "
         "bw_gbps ranks median_rank_ns max_rank_ns max_rank"),
        "hgemm null bf16 false 4 750 800000 1.066666667 null 56040 14.27551749 74.72 2 375 650 0",
        ("cutlass_tensorop_s1688gemm null tf32 false 1 60 48 0.0008 null 104 0.4615384615 "
         "1.733333333 1 "
         "60 60 1"),
        "flash null bf16 true 1 40 64000 1.6 null 12800 5 320 1 40 40 0",
    };
    small_job j;
    open_called(&j, NULL);
    CHECK_NAMED(&j, "efficiency.work/operator", operators);
    CHECK_NAMED(&j, "efficiency.work/kernel", kernels);
    assert_int_equal(tm_tables_find(&j.tables, "efficiency.work")->n_rows,
                     COUNT(operators) - 1 + COUNT(kernels) - 1 + 3);
    close_job(&j);
}

/* Operations compiled by XLA: a product (400 ns, 40,000,000 FLOP), a sum (100 ns, 3000), a copy
 * (100 ns, 0), and 200 ns without a count. Communication computes nothing. 40,003,000 FLOP in 1000
 * ns are 40.003 TFLOP/s; the trace's peak is 100. 600 of 800 ns are counted. */
TEST(work_that_a_compiler_tells_is_held_against_the_peak_of_the_trace) {
    static const event_spec events[] = {
        KERNEL("dot.2", 0, 400, 0),
        KERNEL("add.1", 400, 100, 0),
        KERNEL("copy.3", 500, 100, 0),
        KERNEL("gemm", 600, 200, 0),
        {TM_CAT_KERNEL, "sum.5", 800, 200, 0, 7, 0, "allreduce", TM_DURATION}};
    static const struct {
        const char *origin;
        int64_t flops, bytes;
    } reported[COUNT(events)] = {{"jit(f)/dot", 40000000, 200000},
                                 {"jit(f)/add", 3000, 400},
                                 {"jit(f)/copy", 0, 800},
                                 {"jit(f)/call", -1, -1},
                                 {"jit(f)/psum", 8000, 400}};
    static const char *const ranks[] = {
        ("rank=0 device=TPU v0 devices=1 type=mixed peak_tflops=100 step_ns=1000 window_ns=1000 "
         "compute_ns=800 counted_ns=600 coverage_pct=75 flop=40003000 at_most_flop=0 "
         "recomputed_flop=0 achieved_tflops=40.003 kernel_tflops=66.67166667 ideal_ns=400 "
         "mfu_pct=40.003 mfu_window_pct=40.003 mfu_at_most_pct=40.003 mfu_causal_pct=40.003 "
         "hfu_pct=40.003 reason=null")};
    static const char *const operators[] = {
        ("name shapes type at_most calls total_ns flop achieved_tflops peak_pct bytes "
         "flop_per_byte bw_gbps ranks median_rank_ns max_rank_ns max_rank"),
        "jit(f)/dot f32[8] mixed false 1 400 40000000 100 100 200000 200 500 1 400 400 0",
        "jit(f)/add f32[8] mixed false 1 100 3000 0.03 0.03 400 7.5 4 1 100 100 0",
    };
    small_job j = open_job();
    tm_trace trace = make_trace(&j.ground, "one.pb", events, COUNT(events), 0);
    describe(
        &j.ground, &trace,
        "{\"deviceProperties\":[{\"id\":0,\"name\":\"TPU v0\",\"peakTeraflopsPerSecond\":100}]}");
    for (uint32_t i = 0; i < COUNT(reported); i++) {
        const tm_xla_attr attr = {.event = i,
                                  .program = name_of(&j.ground, "jit_f(7)"),
                                  .hlo = name_of(&j.ground, events[i].name),
                                  .category = TM_NO_NAME,
                                  .origin = name_of(&j.ground, reported[i].origin),
                                  .shape = name_of(&j.ground, "f32[8]"),
                                  .flops = reported[i].flops,
                                  .bytes = reported[i].bytes};
        assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_XLA], &attr, 1));
    }
    add_trace(&j, 0, &trace);
    finish_job(&j);
    CHECK_ROWS(&j, "efficiency.rank", ranks);
    CHECK_NAMED(&j, "efficiency.work/operator", operators);
    close_job(&j);
}

TEST(peaks_are_of_whole_devices_by_name) {
    static const struct {
        const char *name;
        int64_t n_sms;
        double bf16, fp8;
    } cases[] = {
        {"NVIDIA H100 80GB HBM3", 132, 989.4, 1978.9},
        {"NVIDIA H100 80GB HBM3", -1, 989.4, 1978.9},
        {"NVIDIA H100 80GB HBM3", 60, 0, 0}, /* a partition of the chip */
        {"NVIDIA H100 PCIe", 114, 756.5, 1513},
        {"NVIDIA GB200", 148, 2500, 5000},
        {"NVIDIA B200", 148, 2250, 4500},
        {"NVIDIA A100-PG509-200", 108, 312, 0},
        {"NVIDIA A100-SXM4-80GB", 108, 312, 0},
        {"NVIDIA RTX A1000", 16, 0, 0},
        {"NVIDIA A10", 72, 125, 0},
        {"NVIDIA A10G", -1, 0, 0}, /* not the same chip as the A10 */
        {"NVIDIA A40", 84, 149.7, 0},
        {"NVIDIA GeForce RTX 4090", 128, 165.2, 330.3},
        {"NVIDIA GeForce RTX 4090 D", -1, 0, 0},
        /* 256 units x 2.4 GHz x 4096, and x 8192 */
        {"AMD Instinct MI355X", 256, 2516.6, 5033.2},
        {"AMD Instinct MI210", 104, 181, 0},
        {"AMD Instinct MI250", 104, 181, 0}, /* the published 362.1 is for two devices */
        {"AMD Instinct MI100", 120, 92.3, 0},
        {"AMD Instinct MI300X", 304, 1307.4, 2614.9},
        {"AMD Instinct MI300X VF", 38, 0, 0},
        {"AMD Radeon Graphics", 104, 0, 0},
        {"Tesla V100-DGXS-32GB", 80, 0, 0},
        {"", -1, 0, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_device device = {.n_sms = cases[i].n_sms};
        strcpy(device.name, cases[i].name);
        tm_peaks peaks = tm_peaks_of(&device);
        if (peaks.tflops[TM_NUMBER_BF16] < cases[i].bf16 ||
            peaks.tflops[TM_NUMBER_BF16] > cases[i].bf16 ||
            peaks.tflops[TM_NUMBER_FP8] < cases[i].fp8 ||
            peaks.tflops[TM_NUMBER_FP8] > cases[i].fp8)
            fail_msg("%s: %g, %g", cases[i].name, peaks.tflops[TM_NUMBER_BF16],
                     peaks.tflops[TM_NUMBER_FP8]);
    }
}

TEST(peaks_are_read_as_a_user_types_them) {
    static const char *const wrong[] = {
        "989",      "bf16",   "bf16=", "bf16=0",   "bf16=-1",   "bf16=x",         "bf16=1 ",
        "bf16=1,,", "bf17=1", "=1",    "bf16=inf", "unknown=1", "fp32 or tf32=1", "bf16=nan"};
    tm_peaks peaks = {{0}};
    tm_error err;
    assert_int_equal(tm_peaks_parse("bf16=989.4,fp8=1978.9", &peaks, &err), TM_OK);
    assert_true(peaks.tflops[TM_NUMBER_BF16] > 989.3 && peaks.tflops[TM_NUMBER_BF16] < 989.5);
    assert_true(peaks.tflops[TM_NUMBER_FP8] > 1978.8 && peaks.tflops[TM_NUMBER_FP8] < 1979.0);
    assert_true(peaks.tflops[TM_NUMBER_FP16] <= 0.0);
    for (size_t i = 0; i < COUNT(wrong); i++)
        if (tm_peaks_parse(wrong[i], &peaks, &err) != TM_ERR_USAGE)
            fail_msg("%s was taken", wrong[i]);
}

RUN_TESTS()

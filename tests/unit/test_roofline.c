/* kernels.roofline: names are compared, and measurements joined with a small job. */
#include "analysis_fixture.h"

#include "analysis/gpu/kernel_key.h"
#include "tmerge/ncu.h"

/* A name as Kineto and as Nsight Compute write it. */
static const struct {
    const char *kineto, *ncu;
    bool same;
} names[] = {
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
     "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
     "void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctor_add<float>, "
     "std::array<char *, (unsigned long)3>>(int, T2, T3)",
     true},
    {"void at::native::(anonymous namespace)::f<true, false, -1>(float const*)",
     "void at::native::<unnamed>::f<(bool)1, (bool)0, (int)-1>(const T1 *)", true},
    {"void k<g(a&)::{lambda()#2}::operator()() const::{lambda(float)#1}, float const*>(int)",
     "void k<g(a &)::[lambda() (instance 2)]::operator ()() const::[lambda(float) (instance 1)], "
     "const float *>(int)",
     true},
    {"ncclDevKernel_AllReduce(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_AllReduce(ncclDevKernelArgsStorage<(unsigned long)4096>)", true},
    {"nvjet_tst_256x128_64x4u", "nvjet_tst_256x128_64x4u", true},
    {"k<4>(int)", "k<(int)8>(int)", false},
    {"k<true>(int)", "k<(bool)0>(int)", false},
    {"void k<f()::{lambda()#1}>()", "void k<f()::[lambda() (instance 2)]>()", false},
    {"gemm_4u", "gemm_4", false},
    {"constant", "ant", false},
};

TEST(names_compare_whatever_demangled_them) {
    for (size_t i = 0; i < COUNT(names); i++) {
        tm_vec a = TM_VEC(char), b = TM_VEC(char);
        assert_true(tm_kernel_key((tm_text){names[i].kineto, strlen(names[i].kineto)}, &a));
        assert_true(tm_kernel_key((tm_text){names[i].ncu, strlen(names[i].ncu)}, &b));
        bool same = a.n == b.n && memcmp(a.data, b.data, a.n) == 0;
        if (same != names[i].same)
            fail_msg("%.*s against %.*s", (int)a.n, (char *)a.data, (int)b.n, (char *)b.data);
        tm_vec_free(&a);
        tm_vec_free(&b);
    }
}

/* A kernel of `us` microseconds, after the previous one, with blocks of 64,1,1. */
typedef struct kernel_spec {
    const char *name;
    int64_t us;
    int32_t grid, registers;
} kernel_spec;

static void add_kernels(small_job *j, int64_t rank, const kernel_spec *specs, size_t n) {
    event_spec events[8];
    int64_t begin = 0;
    assert_true(n <= COUNT(events));
    for (size_t i = 0; i < n; i++) {
        events[i] = (event_spec){.category = TM_CAT_KERNEL,
                                 .name = specs[i].name,
                                 .begin_ns = begin,
                                 .duration_ns = specs[i].us * 1000,
                                 .where = 7,
                                 .kind = TM_DURATION};
        begin += specs[i].us * 1000;
    }
    tm_trace trace = make_trace(&j->ground, "one.json", events, n, 0);
    for (size_t i = 0; i < n; i++)
        set_shape(&trace, i,
                  (tm_launch_shape){.grid = {specs[i].grid, 1, 1},
                                    .block = {64, 1, 1},
                                    .registers = specs[i].registers});
    add_trace(j, rank, &trace);
}

#define SM "sm__throughput.avg.pct_of_peak_sustained_elapsed"
#define MEMORY "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
#define DRAM "dram__throughput.avg.pct_of_peak_sustained_elapsed"
#define OCCUPANCY "sm__warps_active.avg.pct_of_peak_sustained_active"
#define FADD "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"

static const char page[] =
    "ID,Process ID,Kernel Name,Grid Size,Block Size," SM "," MEMORY "," DRAM "," OCCUPANCY "," FADD
    ",dram__bytes.sum\n"
    ",,,,,%,%,%,%,inst,Mbyte\n"
    "0,5,void gemm<(int)4>(T1),\"(2, 1, 1)\",\"(64, 1, 1)\",90,50,30,25,\"6,000,000\",1\n"
    "1,5,void gemm<(int)4>(T1),\"(2, 1, 1)\",\"(64, 1, 1)\",70,30,10,15,\"2,000,000\",3\n"
    "2,5,copy,\"(2, 1, 1)\",\"(64, 1, 1)\",10,60,,,0,2\n"
    "3,5,small,\"(2, 1, 1)\",\"(64, 1, 1)\",59.9,,59.9,,,\n"
    "4,5,void gemm<(int)4>(T1),\"(9, 1, 1)\",\"(64, 1, 1)\",60,60,,,,\n";

static const char old_page[] =
    "ID,Process ID,Kernel Name,Section Name,Metric Name,Metric Unit,Metric Value\n"
    "0,6,copy,GPU Speed Of Light,DRAM Throughput,%,44\n";

static void read_page(tm_ncu *ncu, const char *text) {
    tm_error err;
    tm_source *source;
    assert_int_equal(tm_source_open_memory(text, strlen(text), "x.csv", &source, &err), TM_OK);
    assert_int_equal(tm_ncu_read(ncu, source, &err), TM_OK);
    tm_source_close(source);
}

/* gemm<4> on a grid of 2: rank 0 takes 100 + 300 us (32 and 40 registers: the job has two shapes),
 *   rank 1 takes 400 us: 3 calls, 800000 ns. FLOP are (6e6 + 2e6) / 2 = 4e6, bytes 2e6,
 * intensity 2. It achieves 4e6 * 3 / 800000 ns = 15 GFLOP/s. SM at 80 % exceeds memory at 40 %:
 * compute. copy: 50 us on a grid of 2, 30 us on a grid of 3. The row without a shape has both: 2
 * calls, 80000 ns. SM 10 %, memory 60 %, which is not low: memory. 0 FLOP: intensity and GFLOP/s
 * are 0. small: 20 us. All known percentages are below 60 %: latency. gemm<4> on a grid of 9, which
 * the job does not have: SM and memory at 60 % are compute. */
TEST(measurements_join_by_name_and_shape) {
    static const kernel_spec rank_0[] = {{"void gemm<4>(float*)", 100, 2, 32},
                                         {"void gemm<4>(float*)", 300, 2, 40},
                                         {"void gemm<8>(float*)", 900, 2, 32},
                                         {"copy", 50, 2, 8},
                                         {"copy", 30, 3, 8},
                                         {"small", 20, 2, 8}};
    static const kernel_spec rank_1[] = {{"void gemm<4>(float*)", 400, 2, 32}};
    static const char *const rows[] = {
        "name grid block launches calls total_ns sm_pct memory_pct dram_pct occupancy_pct flop "
        "dram_bytes flop_per_byte achieved_gflops roof_gflops roof_bw_gbps tensor_roof_gflops "
        "bound",
        "void~gemm<4>(float*) 2,1,1 64,1,1 2 3 800000 80 40 20 20 4000000 2000000 2 15 null null "
        "null compute",
        "copy null null 1 2 80000 null null 44 null null null null null null null null null",
        "copy 2,1,1 64,1,1 1 1 50000 10 60 null null 0 2000000 0 0 null null null memory",
        "small 2,1,1 64,1,1 1 1 20000 59.9 null 59.9 null null null null null null null null "
        "latency",
        "void~gemm<(int)4>(T1) 9,1,1 64,1,1 1 null null 60 60 null null null null null null null "
        "null null compute",
    };
    small_job j = open_job();
    tm_ncu *ncu = tm_ncu_create();
    assert_non_null(ncu);
    read_page(ncu, page);
    read_page(ncu, old_page);
    add_kernels(&j, 0, rank_0, COUNT(rank_0));
    add_kernels(&j, 1, rank_1, COUNT(rank_1));
    j.job.ncu = ncu;
    finish_job(&j);
    CHECK_NAMED(&j, "kernels.roofline", rows);
    close_job(&j);
    tm_ncu_destroy(ncu);
}

TEST(without_measurements_there_are_no_rows) {
    static const kernel_spec kernels[] = {{"copy", 50, 2, 8}};
    small_job j = open_job();
    add_kernels(&j, 0, kernels, COUNT(kernels));
    finish_job(&j);
    assert_int_equal(tm_tables_find(&j.tables, "kernels.roofline")->n_rows, 0);
    close_job(&j);
}

RUN_TESTS()

/* Tables of analysis `hlo` of a small job. */
#include "analysis_fixture.h"

#define OP(name, begin, duration)                                                                  \
    { TM_CAT_KERNEL, name, begin, duration, 0, 7, 0, NULL, TM_DURATION }
#define NOTE(name, begin, duration)                                                                \
    { TM_CAT_GPU_ANNOTATION, name, begin, duration, 0, 7, 0, NULL, TM_DURATION }
#define ASYNC(name, begin, duration, collective)                                                   \
    { TM_CAT_KERNEL, name, begin, duration, 0, 1000, 0, collective, TM_DURATION }

/* Times are in ns. A loop of 1000 contains a product (400) and a sum (300); the sum runs again
 * after it (100). The loop's first 100 are also a separate event. An all-gather is started for 1,
 * awaited for 200, and takes 299 concurrently. Work of TensorFlow without XLA has no operation. */
static const event_spec events[] = {
    NOTE("while.3", 0, 1000), OP("while.3", 0, 100), OP("dot.2", 100, 400),
    OP("add.1", 500, 300),    NOTE("ag.4", 1000, 1), OP("add.1", 1001, 100),
    NOTE("ag.5", 1101, 200),  OP("gemm", 1301, 50),  ASYNC("ag.4", 1002, 299, "all_gather"),
};

static const struct {
    const char *op, *category;
    int64_t flops, bytes;
} facts[COUNT(events)] = {
    {"while.3", "while", 50000000, 700000},     {"while.3", "while", 50000000, 700000},
    {"dot.2", "convolution", 40000000, 200000}, {"add.1", "loop fusion", 3000, 200000},
    {"ag.4", "all-gather-start", 0, 5980},      {"add.1", "loop fusion", 3000, 200000},
    {"ag.5", "all-gather-done", 0, 5980},       {NULL, NULL, -1, -1},
    {"ag.4", "all-gather-start", 0, 5980},
};

#define PEAKS                                                                                      \
    "{\"deviceProperties\":[{\"id\":0,\"name\":\"TPU v0\",\"peakTeraflopsPerSecond\":100,"         \
    "\"peakHbmGigabytesPerSecond\":1000}]}"

/* @param reported  the trace has FLOP and bytes */
static void add_core(small_job *j, int64_t rank, const char *metadata, bool reported) {
    tm_trace trace = make_trace(&j->ground, "one.pb", events, COUNT(events), 0);
    describe(&j->ground, &trace, metadata);
    for (uint32_t i = 0; i < COUNT(facts); i++) {
        const char *op = facts[i].op;
        const tm_xla_attr attr = {.event = i,
                                  .program = op ? name_of(&j->ground, "jit_f(7)") : TM_NO_NAME,
                                  .hlo = op ? name_of(&j->ground, op) : TM_NO_NAME,
                                  .category =
                                      op ? name_of(&j->ground, facts[i].category) : TM_NO_NAME,
                                  .origin = op ? name_of(&j->ground, "jit(f)/f") : TM_NO_NAME,
                                  .shape = op ? name_of(&j->ground, "f32[8]") : TM_NO_NAME,
                                  .flops = reported ? facts[i].flops : -1,
                                  .bytes = reported ? facts[i].bytes : -1};
        assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_XLA], &attr, 1));
    }
    add_trace(j, rank, &trace);
}

/* Own times: the loop 1000 - 400 - 300 = 300, the product 400, the sums 400, the all-gather 1 and
 * 200: 1301 ns in all. 40,006,000 FLOP in this time are 30.75 TFLOP/s, and 605,980 bytes 465.8
 * GB/s. The device does 100 TFLOP/s and 1000 GB/s, i.e. 100 FLOP/B. The product has 40e6 FLOP in
 * 400 ns and 200 FLOP/B: it is compute-bound, at its peak. The sums move 400,000 bytes in 400 ns:
 * they are memory-bound, at their peak. The all-gather moves 5980 bytes in 299 ns; its 1 ns has no
 * rate. */
TEST(operations_have_their_own_time_and_work) {
    static const char *const ranks[] = {
        "rank=0 device=TPU v0 peak_tflops=100 peak_bw_gbps=1000 ridge_flop_per_byte=100 "
        "occurrences=6 self_ns=1301 known_pct=100 flop=40006000 achieved_tflops=30.75019216 "
        "peak_pct=30.75019216 bytes=605980 bw_gbps=465.7801691 peak_bw_pct=46.57801691 "
        "flop_per_byte=66.01868048",
    };
    static const char *const ops[] = {
        "program=jit_f(7) op=add.1 category=loop fusion origin=jit(f)/f shape=f32[8] occurrences=2 "
        "self_ns=400 share_pct=30.74558032 async_ns=null known_pct=100 flop=6000 "
        "achieved_tflops=0.015 peak_pct=0.015 bytes=400000 bw_gbps=1000 peak_bw_pct=100 "
        "flop_per_byte=0.015 bound=memory ranks=1 median_rank_ns=400 max_rank_ns=400 max_rank=0",
        "program=jit_f(7) op=dot.2 category=convolution origin=jit(f)/f shape=f32[8] occurrences=1 "
        "self_ns=400 share_pct=30.74558032 async_ns=null known_pct=100 flop=40000000 "
        "achieved_tflops=100 peak_pct=100 bytes=200000 bw_gbps=500 peak_bw_pct=50 "
        "flop_per_byte=200 bound=compute ranks=1 median_rank_ns=400 max_rank_ns=400 max_rank=0",
        "program=jit_f(7) op=while.3 category=while origin=jit(f)/f shape=f32[8] occurrences=1 "
        "self_ns=300 share_pct=23.05918524 async_ns=null known_pct=100 flop=null "
        "achieved_tflops=null peak_pct=null bytes=null bw_gbps=null peak_bw_pct=null "
        "flop_per_byte=null bound=null ranks=1 median_rank_ns=300 max_rank_ns=300 max_rank=0",
        "program=jit_f(7) op=ag.5 category=all-gather-done origin=jit(f)/f shape=f32[8] "
        "occurrences=1 self_ns=200 share_pct=15.37279016 async_ns=null known_pct=100 flop=null "
        "achieved_tflops=null peak_pct=null bytes=null bw_gbps=null peak_bw_pct=null "
        "flop_per_byte=null bound=null ranks=1 median_rank_ns=200 max_rank_ns=200 max_rank=0",
        "program=jit_f(7) op=ag.4 category=all-gather-start origin=jit(f)/f shape=f32[8] "
        "occurrences=1 self_ns=1 share_pct=0.07686395081 async_ns=299 known_pct=100 flop=0 "
        "achieved_tflops=null peak_pct=null bytes=5980 bw_gbps=20 peak_bw_pct=null "
        "flop_per_byte=0 bound=communication ranks=1 median_rank_ns=1 max_rank_ns=1 max_rank=0",
    };
    static const char *const programs[] = {
        "program=jit_f(7) occurrences=6 self_ns=1301 "
        "share_pct=100 async_ns=null known_pct=100 "
        "flop=40006000 achieved_tflops=30.75019216 peak_pct=30.75019216 bytes=605980 "
        "bw_gbps=465.7801691 peak_bw_pct=46.57801691 flop_per_byte=66.01868048 bound=null ranks=1 "
        "median_rank_ns=1301 max_rank_ns=1301 max_rank=0",
    };
    small_job j = open_job();
    add_core(&j, 0, PEAKS, true);
    finish_job(&j);
    CHECK_ROWS(&j, "hlo.rank", ranks);
    CHECK_ROWS(&j, "hlo.work/op", ops);
    CHECK_ROWS(&j, "hlo.work/program", programs);
    assert_int_equal(tm_tables_find(&j.tables, "hlo.work")->n_rows, 5 + COUNT(ops) + 1);
    close_job(&j);
}

/* The second rank's trace has neither FLOP nor peaks. So FLOP are known for half of the time, and
 * rates are for that half. The product has no known bound, and the ranks have no common peak. */
TEST(what_is_not_reported_is_left_empty) {
    small_job j = open_job();
    add_core(&j, 0, PEAKS, true);
    add_core(&j, 1, "{}", false);
    finish_job(&j);
    assert_row(
        tm_tables_find(&j.tables, "hlo.rank"), 1,
        "rank=1 device=null peak_tflops=null peak_bw_gbps=null ridge_flop_per_byte=null "
        "occurrences=6 self_ns=1301 known_pct=0 flop=null achieved_tflops=null peak_pct=null "
        "bytes=null bw_gbps=null peak_bw_pct=null flop_per_byte=null");
    assert_row(
        tm_tables_find(&j.tables, "hlo.work"), 5 + 1,
        "level=op program=jit_f(7) op=dot.2 category=convolution origin=jit(f)/f shape=f32[8] "
        "occurrences=2 self_ns=800 share_pct=30.74558032 async_ns=null known_pct=50 "
        "flop=40000000 achieved_tflops=100 peak_pct=null bytes=200000 bw_gbps=500 "
        "peak_bw_pct=null flop_per_byte=200 bound=null ranks=2 median_rank_ns=400 "
        "max_rank_ns=400 max_rank=0");
    close_job(&j);
}

RUN_TESTS()

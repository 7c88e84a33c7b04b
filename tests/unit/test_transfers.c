/* Tables of transfers: every cell of a small job, computed by hand. */
#include "analysis_fixture.h"

#define CALL(name, begin, duration, correlation)                                                   \
    { TM_CAT_RUNTIME, name, begin, duration, correlation, 1, 1, NULL, TM_DURATION }
#define COPY(name, begin, duration, correlation)                                                   \
    { TM_CAT_MEMCPY, name, begin, duration, correlation, 8, 0, NULL, TM_DURATION }

/* Computation [100, 200). The first pageable copy has its middle at 170, before its call returns
 * at 180; the second at 210, after its call returned at 195; the graph's call does not count.
 *
 *   htod, pageable  4000 + 5000 B in 40 + 40 ns: 112.5 GB/s; [150, 230), overlapping computation
 *                   in [150, 200): 50 of 80, 62.5 %
 *   dtod            1024 B in 10 ns: 102.4 GB/s; another 20 ns have no known size */
static const event_spec events[] = {
    {TM_CAT_USER_ANNOTATION, "ProfilerStep#1", 0, 100, 0, 1, 1, NULL, TM_DURATION},
    CALL("cudaMalloc", 10, 10, 20),
    CALL("cudaMalloc", 600, 40, 21),
    CALL("cudaFree", 650, 1, 22),
    CALL("cudaMemcpyAsync", 100, 80, 1),
    CALL("cudaMemcpyAsync", 180, 15, 2),
    CALL("cudaMemcpyAsync", 250, 150, 4),
    CALL("cudaGraphLaunch", 390, 60, 5),
    CALL("cudaMemsetAsync", 415, 1, 6),
    {TM_CAT_KERNEL, "gemm", 100, 100, 30, 7, 0, NULL, TM_DURATION},
    COPY("Memcpy HtoD (Pageable -> Device)", 150, 40, 1),
    COPY("Memcpy HtoD (Pageable -> Device)", 190, 40, 2),
    COPY("Memcpy HtoD (Pinned -> Device)", 230, 10, 3),
    COPY("Memcpy DtoH (Device -> Pageable)", 300, 10, 4),
    COPY("Memcpy DtoD (Device -> Device)", 400, 10, 5),
    {TM_CAT_MEMSET, "Memset (Device)", 420, 0, 6, 8, 0, NULL, TM_DURATION},
    COPY("CopyHostToDevice", 500, 20, 7),
    COPY("Memcpy PtoP (Device -> Device)", 520, 10, 8),
    COPY("Memcpy DtoD (Device -> Device)", 540, 20, 9),
};
static const int64_t bytes[] = {4000, 5000, 64, -1, 1024, 0, 100, 1048577, -1};

static void add_sized(small_job *j, int64_t rank) {
    tm_trace trace = make_trace(&j->ground, "one.json", events, COUNT(events), 0);
    assert_int_equal(trace.attrs[TM_ATTR_COPY].n, COUNT(bytes));
    for (size_t i = 0; i < COUNT(bytes); i++)
        ((tm_copy_attr *)trace.attrs[TM_ATTR_COPY].data)[i].bytes = bytes[i];
    add_trace(j, rank, &trace);
}

TEST(copies_are_as_worked_out_by_hand) {
    static const char *const kinds[] = {
        ("rank kind host_memory count bytes total_ns bw_gbps union_ns overlap_ns overlap_pct "
         "sync_count sync_ns"),
        "0 dtod device 2 1024 30 102.4 30 0 0 0 0",
        "0 dtoh pageable 1 null 10 null 10 0 0 1 150",
        "0 htod pageable 2 9000 80 112.5 80 50 62.5 1 80",
        "0 htod pinned 1 64 10 6.4 10 0 0 0 0",
        "0 htod unknown 1 100 20 5 20 0 0 0 0",
        "0 ptop device 1 1048577 10 104857.7 10 0 0 0 0",
        "0 set device 1 0 0 null 0 0 null 0 0",
    };
    static const char *const allocations[] = {
        "rank=0 call=cudaFree calls=1 step_calls=0 total_ns=1 max_ns=1",
        "rank=0 call=cudaMalloc calls=2 step_calls=1 total_ns=50 max_ns=40",
    };
    small_job j = open_job();
    add_sized(&j, 0);
    finish_job(&j);
    CHECK_NAMED(&j, "transfers.kind", kinds);
    CHECK_ROWS(&j, "transfers.allocation", allocations);
    close_job(&j);
}

TEST(size_classes_are_over_all_ranks) {
    static const char *const sizes[] = {
        "kind host_memory size_class_bytes count bytes total_ns bw_gbps",
        "dtod device 1024 2 2048 20 102.4",
        "dtod device null 2 null 40 null",
        "dtoh pageable null 2 null 20 null",
        "htod pageable 2048 2 8000 80 100",
        "htod pageable 4096 2 10000 80 125",
        "htod pinned 64 2 128 20 6.4",
        "htod unknown 64 2 200 40 5",
        "ptop device 1048576 2 2097154 20 104857.7",
        "set device 0 2 0 0 null",
    };
    small_job j = open_job();
    add_sized(&j, 0);
    add_sized(&j, 1);
    finish_job(&j);
    CHECK_NAMED(&j, "transfers.size", sizes);
    close_job(&j);
}

/* [0, 640) has 64 parts of 10 ns. 4000 B in [95, 135) are 100 B/ns. Memsets and unknown sizes do
 * not count. */
TEST(rates_over_time_are_as_worked_out_by_hand) {
    static const event_spec copied[] = {
        {TM_CAT_KERNEL, "gemm", 0, 1, 0, 7, 0, NULL, TM_DURATION},
        COPY("Memcpy HtoD (Pinned -> Device)", 95, 40, 0),
        COPY("Memcpy DtoH (Device -> Pinned)", 200, 40, 0),
        {TM_CAT_MEMSET, "Memset (Device)", 300, 10, 0, 8, 0, NULL, TM_DURATION},
        {TM_CAT_KERNEL, "gemm", 630, 10, 0, 7, 0, NULL, TM_DURATION},
    };
    static const int64_t sizes[] = {4000, -1, 512};
    static const char *const rates[] = {
        "rank=0 kind=htod time_ns=90 bytes=500 bw_gbps=50",
        "rank=0 kind=htod time_ns=100 bytes=1000 bw_gbps=100",
        "rank=0 kind=htod time_ns=110 bytes=1000 bw_gbps=100",
        "rank=0 kind=htod time_ns=120 bytes=1000 bw_gbps=100",
        "rank=0 kind=htod time_ns=130 bytes=500 bw_gbps=50",
    };
    small_job j = open_job();
    tm_trace trace = make_trace(&j.ground, "one.json", copied, COUNT(copied), 0);
    assert_int_equal(trace.attrs[TM_ATTR_COPY].n, COUNT(sizes));
    for (size_t i = 0; i < COUNT(sizes); i++)
        ((tm_copy_attr *)trace.attrs[TM_ATTR_COPY].data)[i].bytes = sizes[i];
    add_trace(&j, 0, &trace);
    finish_job(&j);
    CHECK_ROWS(&j, "transfers.rate", rates);
    close_job(&j);
}

RUN_TESTS()

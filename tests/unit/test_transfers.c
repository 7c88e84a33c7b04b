/* The tables of transfers: every cell of a small job, worked out by hand. */
#include "analysis_fixture.h"

#define CALL(name, begin, duration, correlation)                                                   \
    { TM_CAT_RUNTIME, name, begin, duration, correlation, 1, 1, NULL, TM_DURATION }
#define COPY(name, begin, duration, correlation)                                                   \
    { TM_CAT_MEMCPY, name, begin, duration, correlation, 8, 0, NULL, TM_DURATION }

/* Computation [100, 200). Of the first pageable copy the call returns at 180, behind its middle at
 * 170; of the second at 195, before 210; that of the graph does not count.
 *
 *   htod, pageable  4000 + 5000 B in 40 + 40 ns: 112.5 GB/s; [150, 230), of it beside computation
 *                   [150, 200): 50 of 80, 62.5 %
 *   dtod            1024 B in 10 ns: 102.4 GB/s; of 20 ns more the size is not known */
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

static void copies_are_as_worked_out_by_hand(void **state) {
    (void)state;
    static const char *const kinds[] = {
        "rank=0 kind=dtod host_memory=device count=2 bytes=1024 total_ns=30 bw_gbps=102.4 "
        "union_ns=30 overlap_ns=0 overlap_pct=0 sync_count=0 sync_ns=0",
        "rank=0 kind=dtoh host_memory=pageable count=1 bytes=null total_ns=10 bw_gbps=null "
        "union_ns=10 overlap_ns=0 overlap_pct=0 sync_count=1 sync_ns=150",
        "rank=0 kind=htod host_memory=pageable count=2 bytes=9000 total_ns=80 bw_gbps=112.5 "
        "union_ns=80 overlap_ns=50 overlap_pct=62.5 sync_count=1 sync_ns=80",
        "rank=0 kind=htod host_memory=pinned count=1 bytes=64 total_ns=10 bw_gbps=6.4 union_ns=10 "
        "overlap_ns=0 overlap_pct=0 sync_count=0 sync_ns=0",
        "rank=0 kind=htod host_memory=unknown count=1 bytes=100 total_ns=20 bw_gbps=5 union_ns=20 "
        "overlap_ns=0 overlap_pct=0 sync_count=0 sync_ns=0",
        "rank=0 kind=ptop host_memory=device count=1 bytes=1048577 total_ns=10 bw_gbps=104857.7 "
        "union_ns=10 overlap_ns=0 overlap_pct=0 sync_count=0 sync_ns=0",
        "rank=0 kind=set host_memory=device count=1 bytes=0 total_ns=0 bw_gbps=null union_ns=0 "
        "overlap_ns=0 overlap_pct=null sync_count=0 sync_ns=0",
    };
    static const char *const allocations[] = {
        "rank=0 call=cudaFree calls=1 step_calls=0 total_ns=1 max_ns=1",
        "rank=0 call=cudaMalloc calls=2 step_calls=1 total_ns=50 max_ns=40",
    };
    small_job j = open_job();
    add_sized(&j, 0);
    finish_job(&j);
    CHECK_ROWS(&j, "transfers.kind", kinds);
    CHECK_ROWS(&j, "transfers.allocation", allocations);
    close_job(&j);
}

static void size_classes_are_over_all_ranks(void **state) {
    (void)state;
    static const char *const sizes[] = {
        "kind=dtod host_memory=device size_class_bytes=1024 count=2 bytes=2048 total_ns=20 "
        "bw_gbps=102.4",
        "kind=dtod host_memory=device size_class_bytes=null count=2 bytes=null total_ns=40 "
        "bw_gbps=null",
        "kind=dtoh host_memory=pageable size_class_bytes=null count=2 bytes=null total_ns=20 "
        "bw_gbps=null",
        "kind=htod host_memory=pageable size_class_bytes=2048 count=2 bytes=8000 total_ns=80 "
        "bw_gbps=100",
        "kind=htod host_memory=pageable size_class_bytes=4096 count=2 bytes=10000 total_ns=80 "
        "bw_gbps=125",
        "kind=htod host_memory=pinned size_class_bytes=64 count=2 bytes=128 total_ns=20 "
        "bw_gbps=6.4",
        "kind=htod host_memory=unknown size_class_bytes=64 count=2 bytes=200 total_ns=40 bw_gbps=5",
        "kind=ptop host_memory=device size_class_bytes=1048576 count=2 bytes=2097154 total_ns=20 "
        "bw_gbps=104857.7",
        "kind=set host_memory=device size_class_bytes=0 count=2 bytes=0 total_ns=0 bw_gbps=null",
    };
    small_job j = open_job();
    add_sized(&j, 0);
    add_sized(&j, 1);
    finish_job(&j);
    CHECK_ROWS(&j, "transfers.size", sizes);
    close_job(&j);
}

/* Parts of 10 of [0, 640). 4000 B in [95, 135) are 100 B a ns; sets and copies of unknown size
 * count nowhere. */
static void rates_over_time_are_as_worked_out_by_hand(void **state) {
    (void)state;
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_as_worked_out_by_hand),
        cmocka_unit_test(rates_over_time_are_as_worked_out_by_hand),
        cmocka_unit_test(size_classes_are_over_all_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

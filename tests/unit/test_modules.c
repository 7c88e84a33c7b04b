/* Tables of modules and annotations: a small rank, computed by hand. */
#include "analysis_fixture.h"

#define EVENT(category, name, begin, duration)                                                     \
    { category, name, begin, duration, 0, 1, 1, NULL, TM_DURATION }
#define CALL(begin, duration, correlation)                                                         \
    { TM_CAT_RUNTIME, "launch", begin, duration, correlation, 1, 1, NULL, TM_DURATION }
#define KERNEL(name, begin, duration, correlation)                                                 \
    { TM_CAT_KERNEL, name, begin, duration, correlation, 7, 0, NULL, TM_DURATION }

/* An annotation "train" [0, 300) holds
 *   Net [10, 110), which launches 4 ns in [11, 13), and holds
 *     Linear [20, 60): its operator launches 30 ns in [30, 40); Python code in it counts as its own
 *     Linear [70, 90): launches 20 ns in [75, 76)
 *   Optimizer.step [200, 290), an operator in old traces: launches 6 ns in [250, 260)
 * The GPU copy of "train" is no CPU annotation. Net's own: 100 - 40 - 20 - 2 = 38; Linear's 40 - 10
 * and 20 - 1; train's 300 - 90, less the modules' calls [11, 13), [30, 40) and [75, 76): 197; the
 * optimizer's 80. */
static const event_spec events[] = {
    EVENT(TM_CAT_USER_ANNOTATION, "ProfilerStep#3", 0, 400),
    EVENT(TM_CAT_USER_ANNOTATION, "train", 0, 300),
    EVENT(TM_CAT_PYTHON, "nn.Module: Net_0", 10, 100),
    CALL(11, 2, 1),
    EVENT(TM_CAT_PYTHON, "nn.Module: Linear_0", 20, 40),
    EVENT(TM_CAT_PYTHON, "linear.py(12): forward", 22, 30),
    EVENT(TM_CAT_CPU_OP, "aten::mm", 25, 20),
    CALL(30, 10, 2),
    EVENT(TM_CAT_PYTHON, "nn.Module: Linear_0", 70, 20),
    CALL(75, 1, 3),
    EVENT(TM_CAT_CPU_OP, "Optimizer.step#SGD.step", 200, 90),
    CALL(250, 10, 4),
    KERNEL("set", 500, 4, 1),
    KERNEL("h884gemm", 510, 30, 2),
    KERNEL("sgemm", 540, 20, 3),
    KERNEL("add", 560, 6, 4),
    EVENT(TM_CAT_GPU_ANNOTATION, "train", 500, 66),
};

TEST(modules_and_annotations_are_as_worked_out_by_hand) {
    static const char *const modules[] = {
        "name=nn.Module: Linear_0 calls=2 device_self_ns=50 device_total_ns=50 host_self_ns=49 "
        "host_total_ns=60 tensor_self_pct=60 tensor_total_pct=60 ranks=1 device_min_ns=50 "
        "device_median_ns=50 device_max_ns=50 device_max_rank=5 host_min_ns=49 host_median_ns=49 "
        "host_max_ns=49 host_max_rank=5 backward_device_self_ns=0 backward_device_total_ns=0 "
        "backward_host_ns=0",
        "name=nn.Module: Net_0 calls=1 device_self_ns=4 device_total_ns=54 host_self_ns=38 "
        "host_total_ns=100 tensor_self_pct=0 tensor_total_pct=55.55555556 ranks=1 device_min_ns=4 "
        "device_median_ns=4 device_max_ns=4 device_max_rank=5 host_min_ns=38 host_median_ns=38 "
        "host_max_ns=38 host_max_rank=5 backward_device_self_ns=0 backward_device_total_ns=0 "
        "backward_host_ns=0",
    };
    static const char *const annotations[] = {
        "name=train calls=1 device_self_ns=54 device_total_ns=60 host_self_ns=197 "
        "host_total_ns=300 tensor_self_pct=55.55555556 tensor_total_pct=50 ranks=1 "
        "device_min_ns=54 device_median_ns=54 device_max_ns=54 device_max_rank=5 host_min_ns=197 "
        "host_median_ns=197 host_max_ns=197 host_max_rank=5",
        "name=Optimizer.step#SGD.step calls=1 device_self_ns=6 device_total_ns=6 host_self_ns=80 "
        "host_total_ns=90 tensor_self_pct=0 tensor_total_pct=0 ranks=1 device_min_ns=6 "
        "device_median_ns=6 device_max_ns=6 device_max_rank=5 host_min_ns=80 host_median_ns=80 "
        "host_max_ns=80 host_max_rank=5",
    };
    small_job j = open_job();
    add_rank(&j, 5, events, COUNT(events));
    finish_job(&j);
    CHECK_ROWS(&j, "calls.call/module", modules);
    CHECK_ROWS(&j, "calls.call/annotation", annotations);
    close_job(&j);
}

TEST(a_rank_without_them_has_no_rows) {
    static const event_spec none[] = {EVENT(TM_CAT_USER_ANNOTATION, "ProfilerStep#3", 0, 400),
                                      EVENT(TM_CAT_CPU_OP, "aten::mm", 25, 20)};
    small_job j = open_job();
    add_rank(&j, 0, none, COUNT(none));
    finish_job(&j);
    assert_int_equal(tm_tables_find(&j.tables, "calls.call")->n_rows, 1); /* only the operator */
    close_job(&j);
}

/* Rank 0: run [0, 100) contains step [10, 60) and step again [70, 90). In the first step, a method
 * [20, 30) launches a kernel of 40. Rank 1: run [0, 50) contains step [5, 15), and in it the method
 * [6, 8) at another address, which is the same function. Own times: run 100 - 70 + 50 - 10 = 70;
 * step 70 - 10 + 10 - 2 = 68. */
TEST(stacks_are_merged_by_path) {
    static const event_spec rank_0[] = {
        EVENT(TM_CAT_PYTHON, "run", 0, 100),
        EVENT(TM_CAT_PYTHON, "step", 10, 50),
        EVENT(TM_CAT_PYTHON, "<built-in method x of T object at 0x7f00>", 20, 10),
        CALL(22, 2, 1),
        EVENT(TM_CAT_PYTHON, "step", 70, 20),
        KERNEL("k", 200, 40, 1),
    };
    static const event_spec rank_1[] = {
        EVENT(TM_CAT_PYTHON, "run", 0, 50),
        EVENT(TM_CAT_PYTHON, "step", 5, 10),
        EVENT(TM_CAT_PYTHON, "<built-in method x of T object at 0x8a10>", 6, 2),
    };
    static const char *const rows[] = {
        "node parent depth name calls host_total_ns host_self_ns device_total_ns device_self_ns "
        "ranks host_median_ns host_max_ns host_max_rank device_median_ns device_max_ns "
        "device_max_rank",
        "0 null 0 run 2 150 70 40 0 2 75 100 0 20 40 0",
        "1 0 1 step 3 80 68 40 0 2 40 70 0 20 40 0",
        "2 1 2 <built-in~method~x~of~T~object> 2 12 12 40 40 2 6 10 0 20 40 0",
    };
    small_job j = open_job();
    add_rank(&j, 1, rank_1, COUNT(rank_1));
    add_rank(&j, 0, rank_0, COUNT(rank_0));
    finish_job(&j);
    CHECK_NAMED(&j, "calls.tree/function", rows);
    close_job(&j);
}

RUN_TESTS()

/* Call trees of modules with their backward pass, and of stacks: computed by hand. */

#include "analysis_fixture.h"
#include "table/levels.h"

enum { MAIN = 1, AUTOGRAD = 2 };

#define EVENT(category, thread, name, begin, duration)                                             \
    { category, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }
#define MODULE(thread, name, begin, duration)                                                      \
    EVENT(TM_CAT_PYTHON, thread, "nn.Module: " name, begin, duration)
#define OP(thread, name, begin, duration) EVENT(TM_CAT_CPU_OP, thread, name, begin, duration)
#define NODE(name, begin, duration)                                                                \
    OP(AUTOGRAD, "autograd::engine::evaluate_function: " name, begin, duration)
#define CALL(thread, begin, correlation)                                                           \
    { TM_CAT_RUNTIME, "launch", begin, 1, correlation, thread, 1, NULL, TM_DURATION }
#define KERNEL(begin, duration, correlation)                                                       \
    { TM_CAT_KERNEL, "k", begin, duration, correlation, 7, 0, NULL, TM_DURATION }

/* Metadata of the event at index `at`. */
typedef struct reported {
    uint32_t at;
    int64_t sequence;
    int32_t thread;
    const char *stack;
} reported;

static void add_reported(small_job *j, int64_t rank, const event_spec *events, size_t n,
                         const reported *rows, size_t n_rows) {
    tm_trace trace = make_trace(&j->ground, "t.json", events, n, 0);
    for (size_t i = 0; i < n_rows; i++) {
        const tm_operator_attr row = {
            .event = rows[i].at,
            .sequence = rows[i].sequence,
            .thread = rows[i].thread,
            .stack = rows[i].stack ? name_of(&j->ground, rows[i].stack) : TM_NO_NAME,
        };
        assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_OPERATOR], &row, 1));
    }
    add_trace(j, rank, &trace);
}

/* Net [0, 100) contains A [10, 40) and B [50, 90). A's mm (sequence number 5) launches a kernel of
 * 100 ns, B's add (number 6) one of 200. Backward runs on another thread. The node of add, [200,
 * 220), launches 20 ns. In the node of mm, [230, 300), A is recomputed in [235, 255), whose mm
 * launches 101 ns, and then the gradient launches 30. Gradients are summed in [310, 320), which
 * launches 7 ns. The launch of a kernel of 3 ns is unknown.
 * On the host, Net's total is its call (100) and A's second call (20); backward's time is [200,
 * 220) and [230, 300). On the GPU, A has 100 + 101 + 30, and B has 200 + 20. */
static const event_spec trained[] = {
    MODULE(MAIN, "Net_0", 0, 100),
    MODULE(MAIN, "A_0", 10, 30),
    OP(MAIN, "aten::mm", 15, 15),
    CALL(MAIN, 20, 1),
    MODULE(MAIN, "B_0", 50, 40),
    OP(MAIN, "aten::add", 55, 15),
    CALL(MAIN, 60, 2),
    NODE("AddBackward0", 200, 20),
    CALL(AUTOGRAD, 210, 3),
    NODE("MmBackward0", 230, 70),
    MODULE(AUTOGRAD, "A_0", 235, 20),
    OP(AUTOGRAD, "aten::mm", 238, 12),
    CALL(AUTOGRAD, 240, 4),
    OP(AUTOGRAD, "MmBackward0", 260, 30),
    CALL(AUTOGRAD, 270, 5),
    NODE("torch::autograd::AccumulateGrad", 310, 10),
    CALL(AUTOGRAD, 315, 6),
    KERNEL(400, 100, 1),
    KERNEL(500, 200, 2),
    KERNEL(700, 20, 3),
    KERNEL(720, 101, 4),
    KERNEL(821, 30, 5),
    KERNEL(851, 7, 6),
    KERNEL(858, 3, 9),
};

static const reported numbers[] = {{2, 5, 0, NULL}, {5, 6, 0, NULL},  {7, 6, 1, NULL},
                                   {9, 5, 1, NULL}, {11, 2, 0, NULL}, {13, 5, 1, NULL}};

TEST(backward_goes_to_the_modules_of_its_forward) {
    static const char *const rows[] = {
        ("node parent depth name calls host_total_ns host_self_ns device_total_ns device_self_ns "
         "ranks host_median_ns host_max_ns host_max_rank device_median_ns device_max_ns "
         "device_max_rank forward_device_ns recomputed_device_ns backward_device_ns "
         "backward_host_ns"),
        "0 null 0 nn.Module:~Net_0 1 120 30 451 0 1 120 120 0 451 451 0 300 101 50 90",
        "1 0 1 nn.Module:~A_0 2 50 50 231 231 1 50 50 0 231 231 0 100 101 30 70",
        "2 0 1 nn.Module:~B_0 1 40 40 220 220 1 40 40 0 220 220 0 200 0 20 20",
        "3 null 0 (launch~not~recorded) null null null 3 3 1 null null null 3 3 0 3 0 0 null",
        "4 null 0 (outside~of~any~module) null null null 7 7 1 null null null 7 7 0 0 0 7 null",
    };
    /* In sums by name, A's second call (in backward) counts for A, but not for Net. */
#define ONE_RANK(side, ns)                                                                         \
    side "_min_ns=" ns " " side "_median_ns=" ns " " side "_max_ns=" ns " " side "_max_rank=0 "
    static const char *const modules[] = {
        "name=nn.Module: A_0 calls=2 device_self_ns=201 device_total_ns=201 host_self_ns=48 "
        "host_total_ns=50 tensor_self_pct=0 tensor_total_pct=0 ranks=1 " ONE_RANK("device", "201")
            ONE_RANK(
                "host",
                "48") "backward_device_self_ns=30 backward_device_total_ns=30 backward_host_ns=70",
        "name=nn.Module: B_0 calls=1 device_self_ns=200 device_total_ns=200 host_self_ns=39 "
        "host_total_ns=40 tensor_self_pct=0 tensor_total_pct=0 ranks=1 " ONE_RANK("device", "200")
            ONE_RANK(
                "host",
                "39") "backward_device_self_ns=20 backward_device_total_ns=20 backward_host_ns=20",
        "name=nn.Module: Net_0 calls=1 device_self_ns=0 device_total_ns=300 host_self_ns=30 "
        "host_total_ns=100 tensor_self_pct=null tensor_total_pct=0 ranks=1 " ONE_RANK("device", "0")
            ONE_RANK(
                "host",
                "30") "backward_device_self_ns=0 backward_device_total_ns=50 backward_host_ns=90",
    };
    small_job j = open_job();
    add_reported(&j, 0, trained, COUNT(trained), numbers, COUNT(numbers));
    finish_job(&j);
    CHECK_NAMED(&j, "calls.tree/module", rows);
    CHECK_ROWS(&j, "calls.call/module", modules);
    close_job(&j);
}

/* The mm in backward's node has a node of its own, [330, 350): the gradient is differentiated
 * again. So this mm is not a recomputation. It runs while A is open, so its time is A's. */
TEST(of_second_gradients_nothing_is_computed_again) {
    event_spec events[COUNT(trained) + 1];
    reported reported_of[COUNT(numbers) + 1];
    memcpy(events, trained, sizeof trained);
    memcpy(reported_of, numbers, sizeof numbers);
    events[COUNT(trained)] = (event_spec)NODE("MmBackward0", 330, 20);
    reported_of[COUNT(numbers)] = (reported){COUNT(trained), 2, 2, NULL};
    small_job j = open_job();
    add_reported(&j, 0, events, COUNT(events), reported_of, COUNT(reported_of));
    finish_job(&j);
    tm_table *tree = tm_tables_find(&j.tables, "calls.tree");
    tm_table_keep_level(tree, "module");
    assert_int_equal(tm_table_cell(tree, 0, "recomputed_device_ns")->value.i, 0);
    assert_int_equal(tm_table_cell(tree, 0, "device_total_ns")->value.i, 451);
    close_job(&j);
}

/* Operators have their stacks. Rank 0: main calls f for [0, 50). In f, an operator [10, 20) with
 * the same stack counts as part of the outer one; g calls another operator [20, 35). They launch 5
 * and 9 ns. Rank 1: main calls f for [0, 8), and h for [10, 12). An operator without a stack
 * launches 2 ns; a call of 1 ns by h itself launches 3. The own time of f is 50 - 15 + 8. */
TEST(operators_that_bear_stacks_make_a_tree) {
    static const event_spec rank_0[] = {
        OP(MAIN, "a", 0, 50), OP(MAIN, "b", 10, 10), CALL(MAIN, 12, 1), OP(MAIN, "c", 20, 15),
        CALL(MAIN, 25, 2),    KERNEL(100, 5, 1),     KERNEL(105, 9, 2),
    };
    static const reported reported_0[] = {
        {0, -1, 0, "m.py(3): f;m.py(9): main"},
        {1, -1, 0, "m.py(3): f;m.py(9): main"},
        {3, -1, 0, "<built-in g at 0x7f00>;m.py(3): f;m.py(9): main"}};
    static const event_spec rank_1[] = {
        OP(MAIN, "a", 0, 8), OP(MAIN, "d", 10, 2), OP(MAIN, "e", 20, 5), CALL(MAIN, 22, 1),
        KERNEL(100, 2, 1),   CALL(MAIN, 30, 2),    KERNEL(102, 3, 2)};
    static const reported reported_1[] = {{0, -1, 0, "m.py(3): f;m.py(9): main"},
                                          {1, -1, 0, "m.py(5): h;m.py(9): main"},
                                          {5, -1, 0, "m.py(5): h;m.py(9): main"}};
    static const char *const rows[] = {
        ("node parent depth name calls host_total_ns host_self_ns device_total_ns device_self_ns "
         "ranks host_median_ns host_max_ns host_max_rank device_median_ns device_max_ns "
         "device_max_rank"),
        "0 null 0 m.py(9):~main 0 61 0 17 0 2 31 50 0 9 14 0",
        "1 0 1 m.py(3):~f 2 58 43 14 5 2 29 50 0 7 14 0",
        "2 1 2 <built-in~g> 1 15 15 9 9 1 15 15 0 9 9 0",
        "3 0 1 m.py(5):~h 2 3 3 3 3 1 3 3 1 3 3 1",
        "4 null 0 (outside~of~any~function) null null null 2 2 1 null null null 2 2 1",
    };
    small_job j = open_job();
    add_reported(&j, 1, rank_1, COUNT(rank_1), reported_1, COUNT(reported_1));
    add_reported(&j, 0, rank_0, COUNT(rank_0), reported_0, COUNT(reported_0));
    finish_job(&j);
    CHECK_NAMED(&j, "calls.tree/function", rows);
    close_job(&j);
}

/* run calls 10,010 functions. The first takes 3 and launches 4; each of the others takes 2 and
 * launches 1. A level keeps 10,000 nodes. These have equal times, so keep_longest drops all. */
TEST(what_a_long_tree_leaves_out_is_one_row) {
    enum { N = 10010 };
    static event_spec events[1 + 3 * N];
    static char names[N][8];
    events[0] = (event_spec)EVENT(TM_CAT_PYTHON, MAIN, "run", 0, (int64_t)10 * N);
    for (int i = 0; i < N; i++) {
        event_spec *e = &events[1 + 3 * i];
        snprintf(names[i], sizeof names[i], "f%d", i);
        e[0] = (event_spec)EVENT(TM_CAT_PYTHON, MAIN, names[i], (int64_t)10 * i, i == 0 ? 3 : 2);
        e[1] = (event_spec)CALL(MAIN, 10 * i + 1, i + 1);
        e[2] = (event_spec)KERNEL(200000 + 10 * i, i == 0 ? 4 : 1, i + 1);
    }
    static const char *const rows[] = {
        ("node parent depth name calls host_total_ns host_self_ns device_total_ns device_self_ns "
         "ranks host_median_ns host_max_ns host_max_rank device_median_ns device_max_ns "
         "device_max_rank"),
        "0 null 0 run 1 100100 80079 10013 0 1 100100 100100 0 10013 10013 0",
        "1 0 1 f0 1 3 3 4 4 1 3 3 0 4 4 0",
        "2 null 0 (all~others) 10009 20018 20018 10009 10009 null null null null null null null",
    };
    small_job j = open_job();
    add_rank(&j, 0, events, COUNT(events));
    finish_job(&j);
    CHECK_NAMED(&j, "calls.tree/function", rows);
    close_job(&j);
}

RUN_TESTS()

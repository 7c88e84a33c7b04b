/* Training phases and waiting for input: small ranks, computed by hand. */
#include "analysis_fixture.h"

#define SPAN(category, name, begin, duration, thread)                                              \
    { category, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }
#define OP(name, begin, duration, thread) SPAN(TM_CAT_CPU_OP, name, begin, duration, thread)
#define NOTE(name, begin, duration) SPAN(TM_CAT_USER_ANNOTATION, name, begin, duration, 1)
#define CALL(begin, duration, correlation, thread)                                                 \
    { TM_CAT_RUNTIME, "launch", begin, duration, correlation, thread, 1, NULL, TM_DURATION }
#define KERNEL(begin, end, correlation, stream)                                                    \
    { TM_CAT_KERNEL, "k", begin, (end) - (begin), correlation, stream, 0, NULL, TM_DURATION }
#define LOAD "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

/* One step [0, 1000) on the main thread (1) and autograd's thread (2):
 *
 *   host       data [10, 60)  forward [100, 240) less zero_grad [160, 180)
 *              backward [300, 400): its gaps are closed  clip [420, 440) is other, as no
 *              backward follows  optimizer [500, 600)  item [620, 640) is other
 *              forward 120, backward 100, optimizer 20 + 100, data 50, other 610
 *   GPU        other [40, 50)  forward [150, 300), with zero_grad's kernel in it
 *              backward [320, 450)  clip [460, 470)  optimizer [530, 580)  other [590, 600)
 *              forward 150, backward 130, optimizer 50, data 0, other 30, idle 640
 *   both       forward 150 and [100, 150): 200;  backward 130 and [300, 320): 150
 *              optimizer 50, [500, 530) and [580, 590): 90;  data [10, 40), [50, 60): 40
 *              other 1000 - 480 = 520 */
static const event_spec step[] = {
    NOTE("ProfilerStep#7", 0, 1000),
    NOTE("train", 0, 990), /* it contains everything, so it does not mark a phase */
    NOTE(LOAD, 10, 50),
    OP("aten::mm", 100, 50, 1),
    CALL(110, 10, 1, 1),
    NOTE("Optimizer.zero_grad#SGD.zero_grad", 160, 20),
    CALL(165, 3, 3, 1),
    OP("aten::add", 200, 40, 1),
    CALL(210, 5, 2, 1),
    OP("autograd::engine::evaluate_function: MmBackward0", 300, 40, 2),
    CALL(310, 5, 4, 2),
    OP("aten::detach", 350, 10, 2), /* called by a hook: backward, as all on autograd's thread */
    OP("torch::autograd::AccumulateGrad", 380, 20, 2),
    CALL(385, 5, 5, 2),
    OP("clip", 420, 20, 1),
    CALL(425, 5, 6, 1),
    NOTE("Optimizer.step#SGD.step", 500, 100),
    CALL(510, 10, 7, 1),
    OP("aten::item", 620, 20, 1),
    KERNEL(40, 50, 99, 6),
    KERNEL(150, 250, 1, 7),
    KERNEL(240, 300, 2, 8),
    KERNEL(230, 260, 3, 9),
    KERNEL(320, 420, 4, 7),
    KERNEL(420, 450, 5, 7),
    KERNEL(460, 470, 6, 7),
    KERNEL(530, 580, 7, 7),
    KERNEL(590, 600, 98, 7),
};

TEST(a_step_of_training_is_as_worked_out_by_hand) {
    static const char *const phases[] = {
        "rank=4 step=7 step_ns=1000 forward_ns=200 backward_ns=150 optimizer_ns=90 data_ns=40 "
        "other_ns=520 forward_pct=20 backward_pct=15 optimizer_pct=9 data_pct=4 other_pct=52 "
        "host_forward_ns=120 host_backward_ns=100 host_optimizer_ns=120 host_data_ns=50 "
        "host_other_ns=610 gpu_forward_ns=150 gpu_backward_ns=130 gpu_optimizer_ns=50 "
        "gpu_data_ns=0 gpu_other_ns=30 gpu_idle_ns=640",
    };
    static const char *const input[] = {
        "rank=4 step=7 step_ns=1000 load_ns=50 load_pct=5 stall_ns=40 stall_pct=4"};
    small_job j = open_job();
    add_rank(&j, 4, step, COUNT(step));
    finish_job(&j);
    CHECK_ROWS(&j, "phases.step", phases);
    CHECK_ROWS(&j, "input.step", input);
    close_job(&j);
}

static void check_host(const event_spec *events, size_t n, const int64_t *expected, size_t steps) {
    static const char *const columns[] = {"host_forward_ns", "host_backward_ns",
                                          "host_optimizer_ns", "host_data_ns", "host_other_ns"};
    small_job j = open_job();
    add_rank(&j, 0, events, n);
    finish_job(&j);
    const tm_table *table = tm_tables_find(&j.tables, "phases.step");
    assert_int_equal(table->n_rows, steps);
    for (size_t i = 0; i < steps * COUNT(columns); i++)
        assert_int_equal(
            tm_table_cell(table, i / COUNT(columns), columns[i % COUNT(columns)])->value.i,
            expected[i]);
    close_job(&j);
}
#define CHECK_HOST(events, expected)                                                               \
    check_host(events, COUNT(events), expected, COUNT(expected) / 5)

/* There are two micro-batches. The second forward [60, 80) is in a gap of backward, which goes on
 * after it. In step 1, no backward follows the call [130, 140), so it is not forward. */
TEST(a_gap_in_which_the_program_works_is_not_backward) {
    static const event_spec events[] = {
        NOTE("ProfilerStep#1", 0, 150), OP("aten::mm", 10, 20, 1),
        OP("MmBackward0", 30, 20, 2),   OP("aten::mm", 60, 20, 1),
        OP("MmBackward0", 85, 15, 2),   OP("MmBackward0", 105, 5, 2),
        OP("aten::item", 130, 10, 1),   NOTE("ProfilerStep#2", 150, 50),
        OP("aten::mm", 160, 10, 1),     OP("MmBackward0", 170, 10, 2),
    };
    static const int64_t expected[] = {40, 45, 0, 0, 65, 10, 10, 0, 0, 30};
    CHECK_HOST(events, expected);
}

/* On the CPU, autograd runs on the main thread. */
TEST(backward_on_the_main_thread_is_reported_by_its_names) {
    static const event_spec events[] = {
        NOTE("ProfilerStep#1", 0, 100),
        OP("aten::mm", 10, 20, 1),
        OP("MmBackward0", 40, 20, 1),
        OP("aten::mm", 45, 10, 1),
        OP("torch::autograd::AccumulateGrad", 62, 8, 1),
    };
    static const int64_t expected[] = {20, 30, 0, 0, 50};
    CHECK_HOST(events, expected);
}

/* Without backward, everything from the first to the last call is forward. Without a marked step,
 * the thread with most operators is the program's, and the whole trace [10, 90) is the step. */
TEST(without_backward_all_calls_are_forward) {
    static const event_spec events[] = {OP("aten::mm", 10, 20, 1), OP("aten::mm", 50, 10, 1),
                                        OP("aten::copy_", 70, 20, 3)};
    static const int64_t expected[] = {50, 0, 0, 0, 30};
    CHECK_HOST(events, expected);
}

/* Rank 0 waits in [10, 40) and, at the same time, in a worker's [20, 50): the union counts. Rank 2
 * waits longer, most in step 2. Rank 1 never waits, and has no GPU. */
/* As ProfilerActivity.CUDA records it: a step and runtime calls, which may be of any phase. */
TEST(without_operators_there_are_no_phases) {
    static const event_spec events[] = {NOTE("ProfilerStep#7", 0, 1000), CALL(110, 10, 1, 1),
                                        KERNEL(150, 250, 1, 7)};
    small_job j = open_job();
    add_rank(&j, 4, events, COUNT(events));
    finish_job(&j);
    assert_int_equal(tm_tables_find(&j.tables, "phases.step")->n_rows, 0);
    close_job(&j);
}

TEST(waiting_for_input_is_as_worked_out_by_hand) {
    static const event_spec rank_0[] = {NOTE("ProfilerStep#1", 0, 100), NOTE(LOAD, 10, 30),
                                        SPAN(TM_CAT_CPU_OP, LOAD, 20, 30, 2), KERNEL(30, 70, 1, 7)};
    static const event_spec rank_1[] = {NOTE("ProfilerStep#1", 0, 50)};
    static const event_spec rank_2[] = {
        NOTE("ProfilerStep#1", 0, 100),
        NOTE(LOAD, 0, 20),
        NOTE("ProfilerStep#2", 100, 100),
        NOTE(LOAD, 110, 60),
        KERNEL(0, 5, 1, 7),
    };
    static const char *const expected[] = {
        "rank=0 waits=2 step_ns=100 load_ns=40 load_pct=40 stall_ns=20 stall_pct=20 slowest_step=1 "
        "slowest_step_load_ns=40 slowest=false",
        "rank=1 waits=0 step_ns=50 load_ns=0 load_pct=0 stall_ns=0 stall_pct=null "
        "slowest_step=null slowest_step_load_ns=null slowest=false",
        "rank=2 waits=2 step_ns=200 load_ns=80 load_pct=40 stall_ns=75 stall_pct=37.5 "
        "slowest_step=2 slowest_step_load_ns=60 slowest=true",
    };
    small_job j = open_job();
    add_rank(&j, 2, rank_2, COUNT(rank_2));
    add_rank(&j, 0, rank_0, COUNT(rank_0));
    add_rank(&j, 1, rank_1, COUNT(rank_1));
    finish_job(&j);
    CHECK_ROWS(&j, "input.rank", expected);
    close_job(&j);
}

RUN_TESTS()

/* Composition of steps: a job with known micro-batches, updates and recomputation. */
#include "analysis_fixture.h"

enum { MAIN = 1, AUTOGRAD = 2 };

#define EVENT(category, thread, name, begin, duration)                                             \
    { category, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }
#define OP(thread, name, begin, duration) EVENT(TM_CAT_CPU_OP, thread, name, begin, duration)
#define STEP(name, begin) EVENT(TM_CAT_USER_ANNOTATION, MAIN, name, begin, 1000)
#define NODE(begin, duration)                                                                      \
    OP(AUTOGRAD, "autograd::engine::evaluate_function: MmBackward0", begin, duration)
#define CALL(thread, begin, correlation)                                                           \
    { TM_CAT_RUNTIME, "launch", begin, 1, correlation, thread, 1, NULL, TM_DURATION }
#define KERNEL(begin, duration, correlation)                                                       \
    { TM_CAT_KERNEL, "k", begin, duration, correlation, 7, 0, NULL, TM_DURATION }

/* Sequence number that autograd gave to event `at`. Forward operators have thread 0. */
typedef struct number {
    uint32_t at;
    int32_t thread;
    int64_t sequence;
} number;

static void add_numbered(small_job *j, int64_t rank, const event_spec *events, size_t n,
                         const number *numbers, size_t n_numbers) {
    tm_trace trace = make_trace(&j->ground, "t.json", events, n, 0);
    for (size_t i = 0; i < n_numbers; i++) {
        const tm_operator_attr row = {
            .event = numbers[i].at, .sequence = numbers[i].sequence, .thread = numbers[i].thread};
        assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_OPERATOR], &row, 1));
    }
    add_trace(j, rank, &trace);
}

/* Step 1: two micro-batches of two nodes each, then updates by two optimizers. In the last node of
 * the second micro-batch, the forward operator runs again, and launches 30 of the step's 200 ns.
 * Step 2: one micro-batch, whose node has no sequence number but contains an operator that has. The
 * update logs for 9 ns, with print inside, and saves for 40 ns. */
static const event_spec rank_0[] = {
    STEP("ProfilerStep#1", 0),
    OP(MAIN, "aten::mm", 10, 10),
    CALL(MAIN, 12, 1),
    OP(MAIN, "aten::mm", 20, 10),
    NODE(100, 10), /* event 4: node of sequence number 2 */
    NODE(110, 10), /* node of number 1 */
    OP(MAIN, "aten::mm", 210, 10),
    OP(MAIN, "aten::mm", 220, 10),
    NODE(300, 10), /* event 8: node of number 4 */
    NODE(310, 50), /* node of number 3; contains the next events */
    OP(AUTOGRAD, "aten::mm", 320, 20),
    CALL(AUTOGRAD, 325, 2),
    OP(AUTOGRAD, "aten::mm", 345, 5), /* the gradient, which has no number */
    CALL(AUTOGRAD, 346, 3),
    OP(MAIN, "Optimizer.step#SGD.step", 500, 50),
    OP(MAIN, "Optimizer.step#Adam.step", 560, 50),
    STEP("ProfilerStep#2", 1000),
    OP(MAIN, "aten::mm", 1010, 10),
    NODE(1100, 20),
    OP(AUTOGRAD, "MmBackward0", 1105, 10), /* event 19, of the operator with sequence number 5 */
    OP(MAIN, "Optimizer.step#SGD.step", 1500, 50),
    EVENT(TM_CAT_PYTHON, MAIN, "logging/__init__.py(12): info", 1600, 9),
    EVENT(TM_CAT_PYTHON, MAIN, "<built-in function print>", 1602, 3),
    EVENT(TM_CAT_PYTHON, MAIN, "torch/serialization.py(7): save", 1700, 40),
    KERNEL(600, 100, 1),
    KERNEL(700, 30, 2),
    KERNEL(730, 70, 3),
};

static const number numbers_0[] = {{1, 0, 1},  {3, 0, 2},  {4, 1, 2}, {5, 1, 1},
                                   {6, 0, 3},  {7, 0, 4},  {8, 1, 4}, {9, 1, 3},
                                   {10, 0, 1}, {17, 0, 5}, {19, 1, 5}};

/* Ranks 1 and 2. In step 1, they have one micro-batch and one update each, so all ranks together
 * have 4 micro-batches and 3 updates. Step 2 is empty. */
static const event_spec rank_1[] = {STEP("ProfilerStep#1", 0), OP(MAIN, "aten::mm", 10, 10),
                                    NODE(100, 10), OP(MAIN, "Optimizer.step#SGD.step", 500, 50),
                                    STEP("ProfilerStep#2", 1000)};

static const number numbers_1[] = {{1, 0, 8}, {2, 1, 8}};

TEST(micro_batches_updates_and_recomputation_are_as_made) {
    static const char *const rows[] = {
        "step=1 ranks=3 micro_batches=1 max_micro_batches=2 max_rank=0 updates=1 "
        "micro_batches_per_update=1.333333333 recomputed_ns=30 recomputed_pct=15 logging_ns=0 "
        "saving_ns=0 forward_pct=? backward_pct=? optimizer_pct=? data_pct=0 other_pct=? beyond=?",
        "step=2 ranks=3 micro_batches=0 max_micro_batches=1 max_rank=0 updates=0 "
        "micro_batches_per_update=1 recomputed_ns=0 recomputed_pct=null logging_ns=9 saving_ns=40 "
        "forward_pct=? backward_pct=? optimizer_pct=? data_pct=0 other_pct=? beyond=?",
    };
    small_job j = open_job();
    add_numbered(&j, 0, rank_0, COUNT(rank_0), numbers_0, COUNT(numbers_0));
    for (int64_t rank = 1; rank < 3; rank++)
        add_numbered(&j, rank, rank_1, COUNT(rank_1), numbers_1, COUNT(numbers_1));
    finish_job(&j);
    CHECK_ROWS(&j, "structure.step", rows);
    close_job(&j);
}

/* One forward pass has two losses with a backward pass each. The second pass reaches the node of
 * number 1 again, so both are one micro-batch. The next micro-batch has only other nodes. */
TEST(backward_passes_of_one_forward_pass_are_one_micro_batch) {
    static const event_spec events[] = {STEP("ProfilerStep#1", 0),
                                        OP(MAIN, "aten::mm", 10, 10),
                                        OP(MAIN, "aten::mm", 20, 10),
                                        OP(MAIN, "aten::mm", 30, 10),
                                        NODE(100, 10), /* node of number 2 */
                                        NODE(110, 10), /* node of number 1 */
                                        NODE(200, 10), /* node of number 3 */
                                        NODE(210, 10), /* node of number 1 again */
                                        OP(MAIN, "aten::mm", 310, 10),
                                        NODE(400, 10) /* number 4 */};
    static const number numbers[] = {{1, 0, 1}, {2, 0, 2}, {3, 0, 3}, {4, 1, 2}, {5, 1, 1},
                                     {6, 1, 3}, {7, 1, 1}, {8, 0, 4}, {9, 1, 4}};
    static const char *const rows[] = {
        "step=1 ranks=1 micro_batches=2 max_micro_batches=2 max_rank=0 updates=0 "
        "micro_batches_per_update=null recomputed_ns=0 recomputed_pct=null logging_ns=0 "
        "saving_ns=0 forward_pct=? backward_pct=? optimizer_pct=? data_pct=0 other_pct=? beyond=?"};
    small_job j = open_job();
    add_numbered(&j, 0, events, COUNT(events), numbers, COUNT(numbers));
    finish_job(&j);
    CHECK_ROWS(&j, "structure.step", rows);
    close_job(&j);
}

/* In a step of 1000 ns, forward has [0, 100), backward [100, 900) on its thread, and the optimizer
 * [900, 1000): 10, 80 and 10 %. Without sequence numbers, backward passes cannot be counted. */
TEST(phases_beyond_the_usual_are_named) {
    static const event_spec events[] = {STEP("ProfilerStep#1", 0), OP(MAIN, "aten::mm", 0, 100),
                                        NODE(100, 800),
                                        OP(MAIN, "Optimizer.step#SGD.step", 900, 100)};
    static const char *const rows[] = {
        "step=1 ranks=1 micro_batches=null max_micro_batches=null max_rank=null updates=1 "
        "micro_batches_per_update=null recomputed_ns=0 recomputed_pct=null logging_ns=0 "
        "saving_ns=0 forward_pct=10 backward_pct=80 optimizer_pct=10 data_pct=0 other_pct=0 "
        "beyond=backward over 45 %"};
    small_job j = open_job();
    add_rank(&j, 0, events, COUNT(events));
    finish_job(&j);
    CHECK_ROWS(&j, "structure.step", rows);
    close_job(&j);
}

TEST(a_rank_that_trains_nothing_has_no_rows) {
    static const event_spec events[] = {STEP("ProfilerStep#1", 0), OP(MAIN, "aten::mm", 0, 100)};
    small_job j = open_job();
    add_rank(&j, 0, events, COUNT(events));
    finish_job(&j);
    assert_int_equal(tm_tables_find(&j.tables, "structure.step")->n_rows, 0);
    close_job(&j);
}

RUN_TESTS()

/* Steps: which annotations make them, their windows, and which step an event belongs to. */

#include "timeline_fixture.h"

/* A ProfilerStep annotation, a call and its kernel, an operator: short for tables. */
#define STEP(name, begin, duration, thread)                                                        \
    { TM_CAT_USER_ANNOTATION, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }
#define CALL(name, begin, correlation, thread)                                                     \
    { TM_CAT_RUNTIME, name, begin, 1, correlation, thread, 1, NULL, TM_DURATION }
#define KERNEL(name, begin, duration, correlation)                                                 \
    { TM_CAT_KERNEL, name, begin, duration, correlation, 7, 0, NULL, TM_DURATION }
#define OP(name, begin, duration, thread)                                                          \
    { TM_CAT_CPU_OP, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }

typedef struct expected_step {
    int64_t number, begin_ns, end_ns;
} expected_step;

static void check_steps(const tm_timeline *timeline, const expected_step *expected, size_t n) {
    assert_int_equal(timeline->n_steps, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(timeline->steps[i].number, expected[i].number);
        assert_int_equal(timeline->steps[i].begin_ns, expected[i].begin_ns);
        assert_int_equal(timeline->steps[i].end_ns, expected[i].end_ns);
        assert_true(timeline->steps[i].annotated);
    }
}

/* The step's number, or -1 for none. */
static int64_t step_of(const ground *g, const tm_timeline *timeline, const char *name) {
    int32_t step = timeline->step[row_named(g, timeline, name)];
    return step == TM_NO_STEP ? -1 : timeline->steps[step].number;
}

static void a_window_reaches_to_the_last_gpu_event_and_begins_behind_the_one_before(void **state) {
    static const event_spec events[] = {
        STEP("ProfilerStep#7", 100, 100, 1),
        STEP("ProfilerStep#8", 200, 100, 1),
        STEP("ProfilerStep#9", 310, 90, 1),
        CALL("c1", 150, 1, 1),
        KERNEL("k1", 190, 70, 1), /* of 7, ends at 260 */
        CALL("c2", 210, 2, 1),
        KERNEL("k2", 270, 150, 2), /* of 8, ends at 420 */
        CALL("c3", 350, 3, 1),
        KERNEL("k3", 420, 10, 3), /* of 9, ends at 430 */
    };
    /* 7: [100, max(200, 260)); 8: [max(200, 260), max(300, 420)); 9: [max(310, 420), 430) */
    static const expected_step expected[] = {{7, 100, 260}, {8, 260, 420}, {9, 420, 430}};
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    check_steps(&t, expected, COUNT(expected));
    assert_int_equal(step_of(&g, &t, "k1"), 7);
    assert_int_equal(step_of(&g, &t, "k2"), 8);
    assert_int_equal(step_of(&g, &t, "k3"), 9);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

static void a_window_that_the_one_before_covers_is_empty(void **state) {
    static const event_spec events[] = {
        STEP("ProfilerStep#1", 0, 10, 1),  CALL("c1", 5, 1, 1),  KERNEL("k1", 6, 94, 1),
        STEP("ProfilerStep#2", 10, 20, 1), CALL("c2", 12, 2, 1), KERNEL("k2", 40, 10, 2),
        STEP("ProfilerStep#3", 90, 20, 1),
    };
    /* 2 has max(30, 50) as its end, but begins only at 100; 3: [max(90, 100), 110) */
    static const expected_step expected[] = {{1, 0, 100}, {2, 100, 100}, {3, 100, 110}};
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    check_steps(&t, expected, COUNT(expected));
    tm_timeline_destroy(&t);
    close_ground(&g);
}

static void a_gpu_event_belongs_to_the_step_of_its_launch_on_any_thread(void **state) {
    static const event_spec events[] = {
        STEP("ProfilerStep#1", 100, 100, 1),
        STEP("ProfilerStep#2", 200, 100, 1),
        CALL("other thread", 150, 1, 99),
        KERNEL("backward", 250, 10, 1), /* runs during 2 */
        CALL("before", 99, 2, 1),
        KERNEL("early", 120, 10, 2), /* runs during 1 */
        CALL("at the begin", 200, 3, 1),
        KERNEL("of 2", 210, 10, 3),
        CALL("at the end", 300, 4, 1),
        KERNEL("late", 301, 10, 4),
        KERNEL("unlinked", 130, 10, 0),
        {TM_CAT_MEMCPY, "copy", 290, 5, 1, 7, 0, NULL, TM_DURATION},
    };
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    /* the copy, launched in 1 like the kernel, ends at 295 */
    static const expected_step expected[] = {{1, 100, 295}, {2, 295, 300}};
    check_steps(&t, expected, COUNT(expected));
    assert_int_equal(step_of(&g, &t, "backward"), 1);
    assert_int_equal(step_of(&g, &t, "copy"), 1);
    assert_int_equal(step_of(&g, &t, "early"), -1);
    assert_int_equal(step_of(&g, &t, "of 2"), 2);
    assert_int_equal(step_of(&g, &t, "late"), -1);
    assert_int_equal(step_of(&g, &t, "unlinked"), -1);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

static void a_cpu_event_belongs_to_the_step_that_holds_its_begin(void **state) {
    static const event_spec events[] = {
        STEP("ProfilerStep#1", 100, 100, 1),
        STEP("ProfilerStep#2", 250, 50, 1),
        OP("before", 99, 50, 1),
        OP("at the begin", 100, 1, 1),
        OP("last", 199, 100, 2),
        OP("between", 200, 60, 1),
        OP("in 2", 250, 500, 2),
        OP("behind", 300, 1, 1),
        {TM_CAT_CPU_INSTANT, "memory", 299, 0, 0, 1, 1, NULL, TM_INSTANT},
        {TM_CAT_NONE, "counter", 100, 0, 0, 5, 9, NULL, TM_COUNTER},
    };
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    static const struct {
        const char *name;
        int64_t step;
    } expected[] = {
        {"before", -1}, {"at the begin", 1}, {"last", 1},    {"between", -1},       {"in 2", 2},
        {"behind", -1}, {"memory", 2},       {"counter", 1}, {"ProfilerStep#1", 1},
    };
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_int_equal(step_of(&g, &t, expected[i].name), expected[i].step);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

static void where_annotations_overlap_the_one_that_began_last_holds(void **state) {
    static const event_spec events[] = {
        STEP("ProfilerStep#1", 0, 100, 1),
        STEP("ProfilerStep#2", 50, 100, 2),
        STEP("ProfilerStep#3", 60, 10, 3),
        OP("in 1", 49, 1, 1),
        OP("in 2", 59, 1, 1),
        OP("in 3", 69, 1, 1),
        OP("behind 3, in 2", 70, 1, 1),
        OP("behind 1, in 2", 120, 1, 1),
        OP("behind all", 150, 1, 1),
    };
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    /* 1: [0, 100); 2: [100, 150); 3 ends at 70: empty behind 2 */
    static const expected_step expected[] = {{1, 0, 100}, {2, 100, 150}, {3, 150, 150}};
    check_steps(&t, expected, COUNT(expected));
    assert_int_equal(step_of(&g, &t, "in 1"), 1);
    assert_int_equal(step_of(&g, &t, "in 2"), 2);
    assert_int_equal(step_of(&g, &t, "in 3"), 3);
    assert_int_equal(step_of(&g, &t, "behind 3, in 2"), 2);
    assert_int_equal(step_of(&g, &t, "behind 1, in 2"), 2);
    assert_int_equal(step_of(&g, &t, "behind all"), -1);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

static void one_number_on_two_threads_at_one_time_is_one_step(void **state) {
    static const event_spec events[] = {
        STEP("ProfilerStep#3", 0, 100, 1),   STEP("ProfilerStep#3", 50, 100, 2),
        STEP("ProfilerStep#4", 150, 100, 1), STEP("ProfilerStep#4", 160, 20, 2),
        STEP("ProfilerStep#3", 300, 10, 1), /* the counter began again */
        OP("late in 3", 140, 1, 1),          OP("inner end of 4", 181, 1, 1),
    };
    static const expected_step expected[] = {{3, 0, 150}, {4, 150, 250}, {3, 300, 310}};
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    check_steps(&t, expected, COUNT(expected));
    assert_int_equal(step_of(&g, &t, "late in 3"), 3);
    assert_int_equal(step_of(&g, &t, "inner end of 4"), 4);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

static void steps_are_in_the_order_of_begin_and_any_cpu_category_makes_one(void **state) {
    static const event_spec events[] = {
        OP("ProfilerStep#9", 500, 10, 1), /* to 2021 they were operators */
        STEP("ProfilerStep#123456789012345678", 100, 10, 1),
        {TM_CAT_OTHER, "ProfilerStep#0", 700, 10, 0, 1, 1, NULL, TM_DURATION},
    };
    static const expected_step expected[] = {
        {123456789012345678, 100, 110}, {9, 500, 510}, {0, 700, 710}};
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    check_steps(&t, expected, COUNT(expected));
    tm_timeline_destroy(&t);
    close_ground(&g);
}

static void without_an_annotation_the_whole_trace_is_step_0(void **state) {
    /* The GPU copies of ProfilerStep and what only looks like one do not count; the range is that
     * of duration events except Trace: [-5, 90). */
    static const event_spec events[] = {
        {TM_CAT_GPU_ANNOTATION, "ProfilerStep#5", 10, 50, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_USER_ANNOTATION, "ProfilerStep#6", 20, 0, 0, 1, 1, NULL, TM_INSTANT},
        STEP("ProfilerStep#", 10, 10, 1),
        STEP("ProfilerStep#1a", 10, 10, 1),
        STEP("ProfilerStep#-1", 10, 10, 1),
        STEP("ProfilerStep# 1", 10, 10, 1),
        STEP("profilerstep#1", 10, 10, 1),
        STEP("xProfilerStep#1", 10, 10, 1),
        STEP("ProfilerStep#1234567890123456789", 10, 10, 1), /* beyond any counter */
        {TM_CAT_TRACE, "PyTorch Profiler (0)", -100, 1000, 0, 2, 2, NULL, TM_DURATION},
        OP("first", -5, 1, 1),
        KERNEL("last", 80, 10, 0),
        {TM_CAT_CPU_INSTANT, "memory", 95, 0, 0, 1, 1, NULL, TM_INSTANT},
    };
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    assert_int_equal(t.n_steps, 1);
    assert_int_equal(t.steps[0].number, 0);
    assert_int_equal(t.steps[0].begin_ns, -5);
    assert_int_equal(t.steps[0].end_ns, 90);
    assert_false(t.steps[0].annotated);
    for (size_t row = 0; row < t.n_events; row++)
        assert_int_equal(t.step[row], 0);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

static void without_duration_events_there_is_no_step(void **state) {
    static const event_spec events[] = {
        {TM_CAT_CPU_INSTANT, "memory", 95, 0, 0, 1, 1, NULL, TM_INSTANT},
        {TM_CAT_NONE, "counter", 10, 0, 0, 1, 1, NULL, TM_COUNTER},
        {TM_CAT_TRACE, "PyTorch Profiler (0)", 0, 1000, 0, 2, 2, NULL, TM_DURATION},
    };
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    assert_int_equal(t.n_steps, 0);
    for (size_t row = 0; row < t.n_events; row++)
        assert_int_equal(t.step[row], TM_NO_STEP);
    tm_timeline_destroy(&t);
    t = build_one(&g, 0, NULL, 0);
    assert_int_equal(t.n_steps, 0);
    assert_int_equal(t.n_events, 0);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

/* The numbers of the steps that these annotations make, in their order. */
static void check_numbers(const char *pattern, const event_spec *events, size_t n,
                          const char *expected) {
    char found[128] = "";
    ground g = open_ground();
    tm_step_names *step_names;
    assert_int_equal(tm_step_names_create(pattern, &step_names, &g.err), TM_OK);
    g.context.step_names = step_names;
    tm_timeline t = build_one(&g, 0, events, n);
    for (int again = 0; again < 2; again++) {
        *found = '\0';
        for (size_t i = 0; i < t.n_steps; i++)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%lld ",
                     t.steps[i].annotated ? "" : "none ", (long long)t.steps[i].number);
        assert_string_equal(found, expected);
        /* Found again they are the same. */
        assert_int_equal(tm_timeline_find_steps(&t, g.names, step_names, &g.err), TM_OK);
    }
    tm_timeline_destroy(&t);
    tm_step_names_destroy(step_names);
    close_ground(&g);
}

#define CHECK_NUMBERS(pattern, expected, ...)                                                      \
    check_numbers(pattern, (const event_spec[]){__VA_ARGS__},                                      \
                  COUNT(((const event_spec[]){__VA_ARGS__})), expected)

static void names_that_look_like_steps_count_where_there_are_no_others(void **state) {
    CHECK_NUMBERS(NULL, "7 8 ", STEP("step 7", 0, 10, 1), STEP("step 8", 10, 10, 1));
    CHECK_NUMBERS(NULL, "7 ", STEP("Train_Iteration: 7", 0, 10, 1));
    CHECK_NUMBERS(NULL, "7 ", STEP("loop/step=7", 0, 10, 1));
    CHECK_NUMBERS(NULL, "3 ", STEP("step 7", 0, 10, 1), STEP("ProfilerStep#3", 0, 5, 1));
    CHECK_NUMBERS(NULL, "none 0 ", STEP("footstep 7", 0, 10, 1), STEP("step", 0, 10, 1),
                  STEP("step 7 of 9", 0, 10, 1), STEP("batch 7", 0, 10, 1), STEP("7", 0, 10, 1));
    /* An operator is none: torch has "optimizer.step" and the like. */
    CHECK_NUMBERS(NULL, "none 0 ", OP("step 7", 0, 10, 1));
    /* The loop with the most time, 20 + 20 of it, neither the one inside nor a longer single one.
     */
    CHECK_NUMBERS(NULL, "1 2 ", STEP("step 1", 0, 20, 1), STEP("micro step 0", 0, 9, 1),
                  STEP("micro step 1", 9, 9, 1), STEP("step 2", 20, 20, 1),
                  STEP("warmup step 5", -30, 25, 1));
}

static void numbers_of_something_else_give_steps_by_order(void **state) {
    static const char *const patterns[] = {NULL, "^step\\["};
    for (size_t i = 0; i < COUNT(patterns); i++)
        CHECK_NUMBERS(patterns[i], "0 1 2 ", STEP("step[DECODE bs=128]", 0, 10, 1),
                      STEP("step[DECODE bs=128]", 10, 10, 1), STEP("step[EXTEND bs=3]", 20, 5, 1));
    /* Two epochs of two steps. */
    CHECK_NUMBERS(NULL, "0 1 2 3 ", STEP("step 1", 0, 5, 1), STEP("step 2", 5, 5, 1),
                  STEP("step 1", 10, 5, 1), STEP("step 2", 15, 5, 1));
}

/* Row by row, a letter for each that marks a step, in the order of begin. */
static void check_marks(const char *pattern, const char *expected) {
    static const event_spec events[] = {
        STEP("ProfilerStep#3", 0, 100, 1), STEP("train step 7", 1, 50, 1),
        STEP("micro step 0", 2, 20, 1),    OP("aten::mm", 3, 1, 1),
        STEP("train step 8", 60, 30, 1),
    };
    ground g = open_ground();
    tm_step_names *step_names;
    assert_int_equal(tm_step_names_create(pattern, &step_names, &g.err), TM_OK);
    g.context.step_names = step_names;
    /* With a pattern all events, else without the profiler's step. */
    size_t first = pattern ? 0 : 1;
    tm_timeline t = build_one(&g, 0, events + first, COUNT(events) - first);
    for (size_t row = 0; row < t.n_events; row++)
        assert_int_equal(tm_timeline_is_step(&t, (uint32_t)row), expected[first + row] == 'x');
    tm_timeline_destroy(&t);
    tm_step_names_destroy(step_names);
    close_ground(&g);
}

static void rows_that_mark_steps_are_known_the_profilers_in_any_case(void **state) {
    check_marks(NULL, "-x--x");    /* the loop of most time */
    check_marks("micro", "x-x--"); /* what encloses all is no work */
    check_marks("^train", "xx--x");
    check_marks("Profiler", "x----");
    check_marks("nothing", "x----");
}

static void a_pattern_says_which_annotations_are_steps(void **state) {
    tm_step_names *step_names;
    tm_error err;
    CHECK_NUMBERS("^batch", "4 5 ", STEP("batch 4", 0, 10, 1), STEP("BATCH 5", 10, 10, 1),
                  STEP("ProfilerStep#3", 0, 5, 1));
    /* The first group, else the digits at the match's end, behind it, at the name's end. */
    CHECK_NUMBERS("of ([0-9]+)", "9 ", STEP("batch 4 of 9 7", 0, 10, 1));
    CHECK_NUMBERS("(a|b)atch [0-9]+", "4 ", STEP("batch 4 of 9", 0, 10, 1));
    CHECK_NUMBERS("batch", "4 ", STEP("batch 4 of 9", 0, 10, 1));
    CHECK_NUMBERS("batch", "9 ", STEP("batch of 9", 0, 10, 1));
    CHECK_NUMBERS("batch", "0 ", STEP("batch of 9 items", 0, 10, 1));
    CHECK_NUMBERS("batch", "0 1 ", STEP("batch a", 0, 10, 1), STEP("batch b", 10, 10, 1));
    CHECK_NUMBERS("batch", "6 ", OP("batch 6", 0, 10, 1)); /* of any category */
    /* What does not count up is not the step's: their order counts. */
    CHECK_NUMBERS("decode", "0 1 ", STEP("DECODE bs=8", 0, 10, 1), STEP("DECODE bs=8", 10, 10, 1));
    assert_int_equal(tm_step_names_create("(", &step_names, &err), TM_ERR_USAGE);
    assert_non_null(strstr(err.message, "'(' is no regular expression: "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_look_like_steps_count_where_there_are_no_others),
        cmocka_unit_test(a_pattern_says_which_annotations_are_steps),
        cmocka_unit_test(numbers_of_something_else_give_steps_by_order),
        cmocka_unit_test(rows_that_mark_steps_are_known_the_profilers_in_any_case),
        cmocka_unit_test(a_window_reaches_to_the_last_gpu_event_and_begins_behind_the_one_before),
        cmocka_unit_test(a_window_that_the_one_before_covers_is_empty),
        cmocka_unit_test(a_gpu_event_belongs_to_the_step_of_its_launch_on_any_thread),
        cmocka_unit_test(a_cpu_event_belongs_to_the_step_that_holds_its_begin),
        cmocka_unit_test(where_annotations_overlap_the_one_that_began_last_holds),
        cmocka_unit_test(one_number_on_two_threads_at_one_time_is_one_step),
        cmocka_unit_test(steps_are_in_the_order_of_begin_and_any_cpu_category_makes_one),
        cmocka_unit_test(without_an_annotation_the_whole_trace_is_step_0),
        cmocka_unit_test(without_duration_events_there_is_no_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

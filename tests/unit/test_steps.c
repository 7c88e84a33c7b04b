/* Steps: the annotations that mark them, their windows, and the step of an event. */
#include "timeline_fixture.h"

/* Short forms: a ProfilerStep annotation, a call and its kernel, an operator. */
#define STEP(name, begin, duration, thread)                                                        \
    { TM_CAT_USER_ANNOTATION, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }
#define CALL(name, begin, correlation, thread)                                                     \
    { TM_CAT_RUNTIME, name, begin, 1, correlation, thread, 1, NULL, TM_DURATION }
#define KERNEL(name, begin, duration, correlation)                                                 \
    { TM_CAT_KERNEL, name, begin, duration, correlation, 7, 0, NULL, TM_DURATION }
#define OP(name, begin, duration, thread)                                                          \
    { TM_CAT_CPU_OP, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }

#define COPY(name, begin, duration, correlation)                                                   \
    { TM_CAT_MEMCPY, name, begin, duration, correlation, 7, 0, NULL, TM_DURATION }
#define INSTANT(name, begin)                                                                       \
    { TM_CAT_CPU_INSTANT, name, begin, 0, 0, 1, 1, NULL, TM_INSTANT }
#define COUNTER(name, begin)                                                                       \
    { TM_CAT_NONE, name, begin, 0, 0, 5, 9, NULL, TM_COUNTER }

typedef struct expected_step {
    int64_t number, begin_ns, end_ns;
} expected_step;

/* Returns the number of a step; -1 for none. */
static int64_t step_of(const ground *g, const tm_timeline *timeline, const char *name) {
    int32_t step = timeline->step[row_named(g, timeline, name)];
    return step == TM_NO_STEP ? -1 : timeline->steps[step].number;
}

static const struct {
    const char *what;
    event_spec events[13]; /* the list ends at the first event without a name */
    expected_step steps[4];
    int64_t of[13]; /* step number of each event, in the order of events */
} jobs[] = {
    {"a window reaches to the last GPU event and begins after the one before",
     {STEP("ProfilerStep#7", 100, 100, 1), STEP("ProfilerStep#8", 200, 100, 1),
      STEP("ProfilerStep#9", 310, 90, 1), CALL("c1", 150, 1, 1), KERNEL("k1", 190, 70, 1),
      CALL("c2", 210, 2, 1), KERNEL("k2", 270, 150, 2), CALL("c3", 350, 3, 1),
      KERNEL("k3", 420, 10, 3)},
     /* [100, max(200, 260)); [max(200, 260), max(300, 420)); [max(310, 420), 430) */
     {{7, 100, 260}, {8, 260, 420}, {9, 420, 430}},
     {7, 8, 9, 7, 7, 8, 8, 9, 9}},
    {"a window that the one before covers is empty",
     {STEP("ProfilerStep#1", 0, 10, 1), CALL("c1", 5, 1, 1), KERNEL("k1", 6, 94, 1),
      STEP("ProfilerStep#2", 10, 20, 1), CALL("c2", 12, 2, 1), KERNEL("k2", 40, 10, 2),
      STEP("ProfilerStep#3", 90, 20, 1)},
     /* Step 2 would end at max(30, 50), but begins only at 100. Step 3 is [max(90, 100), 110). */
     {{1, 0, 100}, {2, 100, 100}, {3, 100, 110}},
     {1, 1, 1, 2, 2, 2, 3}},
    {"the first begins after what its stream was given before the recording",
     {STEP("ProfilerStep#1", 10, 40, 1), KERNEL("first", 5, 5, 7), KERNEL("queued", 10, 35, 8),
      CALL("c1", 20, 1, 1), KERNEL("k1", 60, 10, 1), KERNEL("lost", 75, 5, 9),
      STEP("ProfilerStep#2", 50, 40, 1)},
     {{1, 45, 70}, {2, 70, 90}},
     {1, -1, -1, 1, 1, -1, 2}},
    {"where as many launches are missing later, nobody knows what was queued before",
     {STEP("ProfilerStep#1", 10, 40, 1), KERNEL("of a graph", 5, 40, 8), CALL("c1", 20, 1, 1),
      KERNEL("k1", 60, 10, 1), KERNEL("of another", 75, 5, 8), STEP("ProfilerStep#2", 50, 40, 1)},
     {{1, 10, 70}, {2, 70, 90}},
     {1, -1, 1, 1, -1, 2}},
    /* Kernel "backward" runs in step 2, "early" in step 1. Step 1's copy ends at 295. */
    {"a GPU event belongs to the step of its launch, on any thread",
     {STEP("ProfilerStep#1", 100, 100, 1), STEP("ProfilerStep#2", 200, 100, 1),
      CALL("other thread", 150, 1, 99), KERNEL("backward", 250, 10, 1), CALL("before", 99, 2, 1),
      KERNEL("early", 120, 10, 2), CALL("at the begin", 200, 3, 1), KERNEL("of 2", 210, 10, 3),
      CALL("at the end", 300, 4, 1), KERNEL("late", 301, 10, 4), KERNEL("unlinked", 130, 10, 0),
      COPY("copy", 290, 5, 1)},
     {{1, 100, 295}, {2, 295, 300}},
     {1, 2, 1, 1, -1, -1, 2, 2, -1, -1, -1, 1}},
    {"a CPU event belongs to the step that holds its begin",
     {STEP("ProfilerStep#1", 100, 100, 1), STEP("ProfilerStep#2", 250, 50, 1),
      OP("before", 99, 50, 1), OP("at the begin", 100, 1, 1), OP("last", 199, 100, 2),
      OP("between", 200, 60, 1), OP("in 2", 250, 500, 2), OP("after", 300, 1, 1),
      INSTANT("memory", 299), COUNTER("counter", 100)},
     {{1, 100, 200}, {2, 250, 300}},
     {1, 2, -1, 1, 1, -1, 2, -1, 2, 1}},
    {"where annotations overlap the one that began last holds",
     {STEP("ProfilerStep#1", 0, 100, 1), STEP("ProfilerStep#2", 50, 100, 2),
      STEP("ProfilerStep#3", 60, 10, 3), OP("in 1", 49, 1, 1), OP("in 2", 59, 1, 1),
      OP("in 3", 69, 1, 1), OP("after 3, in 2", 70, 1, 1), OP("after 1, in 2", 120, 1, 1),
      OP("after all", 150, 1, 1)},
     /* Step 1 is [0, 100), step 2 [100, 150). Step 3 ends at 70, so it is empty. */
     {{1, 0, 100}, {2, 100, 150}, {3, 150, 150}},
     {1, 2, 3, 1, 2, 3, 2, 2, -1}},
    /* The counter starts again at 300. */
    {"one number on two threads at one time is one step",
     {STEP("ProfilerStep#3", 0, 100, 1), STEP("ProfilerStep#3", 50, 100, 2),
      STEP("ProfilerStep#4", 150, 100, 1), STEP("ProfilerStep#4", 160, 20, 2),
      STEP("ProfilerStep#3", 300, 10, 1), OP("late in 3", 140, 1, 1),
      OP("inner end of 4", 181, 1, 1)},
     {{3, 0, 150}, {4, 150, 250}, {3, 300, 310}},
     {3, 3, 4, 4, 3, 3, 4}},
    /* Until 2021, these were operators. */
    {"steps are in the order of begin, and any CPU category makes one",
     {OP("ProfilerStep#9", 500, 10, 1),
      STEP("ProfilerStep#123456789012345678", 100, 10, 1),
      {TM_CAT_OTHER, "ProfilerStep#0", 700, 10, 0, 1, 1, NULL, TM_DURATION}},
     {{123456789012345678, 100, 110}, {9, 500, 510}, {0, 700, 710}},
     {9, 123456789012345678, 0}},
};

TEST(events_belong_to_steps_that_annotations_mark) {
    for (size_t c = 0; c < COUNT(jobs); c++) {
        size_t n_events = 0, n_steps = 0;
        while (n_events < COUNT(jobs[c].events) && jobs[c].events[n_events].name)
            n_events++;
        while (n_steps < COUNT(jobs[c].steps) && jobs[c].steps[n_steps].end_ns > 0)
            n_steps++;
        print_message("%s\n", jobs[c].what);
        ground g = open_ground();
        tm_timeline t = build_one(&g, 0, jobs[c].events, n_events);
        assert_int_equal(t.n_steps, n_steps);
        for (size_t i = 0; i < n_steps; i++) {
            assert_int_equal(t.steps[i].number, jobs[c].steps[i].number);
            assert_int_equal(t.steps[i].begin_ns, jobs[c].steps[i].begin_ns);
            assert_int_equal(t.steps[i].end_ns, jobs[c].steps[i].end_ns);
            assert_true(t.steps[i].annotated);
        }
        for (size_t i = 0; i < n_events; i++)
            assert_int_equal(step_of(&g, &t, jobs[c].events[i].name), jobs[c].of[i]);
        tm_timeline_destroy(&t);
        close_ground(&g);
    }
}

/* The kernel that was queued before a recording ends 30 ns after the step's annotation begins. */
TEST(the_first_step_of_each_recording_begins_after_what_was_queued_before) {
    static const event_spec events[] = {
        STEP("ProfilerStep#1", 10, 50, 1), KERNEL("queued", 5, 35, 8),        CALL("c1", 20, 1, 1),
        KERNEL("k1", 50, 10, 1),           STEP("ProfilerStep#2", 60, 30, 1), CALL("c2", 65, 2, 1),
        KERNEL("k2", 70, 10, 2),
    };
    static const int64_t windows[][2] = {{40, 60}, {60, 90}, {1040, 1060}, {1060, 1090}};
    ground g = open_ground();
    tm_trace a = make_trace(&g, "a", events, COUNT(events), 0);
    tm_trace b = make_trace(&g, "b", events, COUNT(events), 1000);
    tm_timeline t;
    assert_ok(tm_timeline_build((tm_trace *[]){&a, &b}, 2, 0, &g.context, &t, &g.err));
    assert_int_equal(t.n_steps, COUNT(windows));
    for (size_t i = 0; i < t.n_steps; i++) {
        assert_int_equal(t.steps[i].begin_ns, windows[i][0]);
        assert_int_equal(t.steps[i].end_ns, windows[i][1]);
    }
    tm_timeline_destroy(&t);
    close_ground(&g);
}

/* A step usually takes 10 ns, so a gap of 5 counts as a pause. */
TEST(a_trace_has_a_span_for_each_time_between_pauses) {
    static const struct {
        event_spec events[7];
        const char *spans; /* "begin-end, GPU begin-end (GPU events)" of each span */
    } cases[] = {
        {{STEP("step 1", 0, 10, 1), STEP("step 2", 10, 10, 1), KERNEL("a", 12, 7, 0),
          OP("before its mark", 48, 1, 1), STEP("step 5", 50, 10, 1), KERNEL("b", 52, 3, 0),
          KERNEL("c", 56, 3, 0)},
         "0-20 12-19 (1) 48-60 52-59 (2) "},
        {{STEP("step 1", 0, 10, 1), STEP("step 3", 15, 10, 1), STEP("step 6", 29, 10, 1)},
         "0-10 0-0 (0) 15-39 0-0 (0) "}, /* the gaps are 5 and 4 ns */
        {{STEP("step 1", 0, 10, 1), OP("stray", 30, 1, 1), STEP("step 9", 70, 10, 1)},
         "0-10 0-0 (0) 30-31 0-0 (0) 70-80 0-0 (0) "},
        {{STEP("step 1", 0, 10, 1), STEP("step 2", 60, 10, 1)}, "0-70 0-0 (0) "},
        {{STEP("step 1", 0, 10, 1), KERNEL("a", 13, 55, 0), STEP("step 5", 70, 10, 1)},
         "0-80 13-68 (1) "},
        {{OP("first", -30, 1, 1), STEP("step 1", 0, 10, 1), OP("last", 90, 1, 1)},
         "-30-91 0-0 (0) "},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        size_t n = 0;
        while (n < COUNT(cases[c].events) && cases[c].events[n].name)
            n++;
        ground g = open_ground();
        tm_timeline t = build_one(&g, 0, cases[c].events, n);
        for (int again = 0; again < 2; again++) {
            char found[128] = "";
            for (size_t i = 0; i < t.n_spans; i++) {
                const tm_span *span = &t.spans[i];
                assert_int_equal(span->open_ns, span->begin_ns);
                snprintf(found + strlen(found), sizeof found - strlen(found),
                         "%lld-%lld %lld-%lld (%lld) ", (long long)span->begin_ns,
                         (long long)span->end_ns, (long long)span->gpu_begin_ns,
                         (long long)span->gpu_end_ns, (long long)span->n_gpu_events);
            }
            assert_string_equal(found, cases[c].spans);
            assert_ok(tm_timeline_find_steps(&t, g.names, NULL, &g.err)); /* finds the same again */
        }
        tm_timeline_destroy(&t);
        close_ground(&g);
    }
}

TEST(without_an_annotation_the_whole_trace_is_step_0) {
    /* GPU copies of ProfilerStep, and similar names, do not count, nor do records of a push (#1 and
     * #2), in which no kernel was launched. The range is that of all duration events except Trace:
     * [-5, 90). */
    static const event_spec events[] = {
        {TM_CAT_GPU_ANNOTATION, "ProfilerStep#5", 10, 50, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_USER_ANNOTATION, "ProfilerStep#6", 20, 0, 0, 1, 1, NULL, TM_INSTANT},
        STEP("ProfilerStep#", 10, 10, 1),
        STEP("ProfilerStep#1a", 10, 10, 1),
        STEP("ProfilerStep#-1", 10, 10, 1),
        STEP("ProfilerStep# 1", 10, 10, 1),
        STEP("profilerstep#1", 10, 10, 1),
        STEP("xProfilerStep#1", 10, 10, 1),
        STEP("ProfilerStep#1234567890123456789", 10, 10, 1), /* exceeds any counter */
        {TM_CAT_TRACE, "PyTorch Profiler (0)", -100, 1000, 0, 2, 2, NULL, TM_DURATION},
        STEP("ProfilerStep#1", 0, 0, 1),
        STEP("ProfilerStep#2", 85, 0, 1),
        OP("first", -5, 1, 1),
        KERNEL("last", 80, 10, 0),
        INSTANT("memory", 95),
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

TEST(without_duration_events_there_is_no_step) {
    static const event_spec events[] = {
        INSTANT("memory", 95),
        COUNTER("counter", 10),
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

/* Checks the numbers of the steps that these annotations make, in order. @p marks has a letter for
 * each row, x if it marks a step; NULL: marks are not checked. */
static void check_numbers(const char *pattern, const event_spec *events, size_t n,
                          const char *numbers, const char *marks) {
    ground g = open_ground();
    tm_step_names *step_names;
    assert_int_equal(tm_step_names_create(pattern, &step_names, &g.err), TM_OK);
    g.context.step_names = step_names;
    tm_timeline t = build_one(&g, 0, events, n);
    for (int again = 0; again < 2; again++) {
        char found[128] = "";
        for (size_t i = 0; i < t.n_steps; i++)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%lld ",
                     t.steps[i].annotated ? "" : "none ", (long long)t.steps[i].number);
        if (numbers)
            assert_string_equal(found, numbers);
        for (size_t row = 0; marks && row < t.n_events; row++)
            assert_int_equal(tm_timeline_is_step(&t, (uint32_t)row), marks[row] == 'x');
        /* In the next round, the steps are found again, with the same result. */
        assert_int_equal(tm_timeline_find_steps(&t, g.names, step_names, &g.err), TM_OK);
    }
    tm_timeline_destroy(&t);
    tm_step_names_destroy(step_names);
    close_ground(&g);
}

#define CHECK_NUMBERS(pattern, expected, ...)                                                      \
    check_numbers(pattern, (const event_spec[]){__VA_ARGS__},                                      \
                  COUNT(((const event_spec[]){__VA_ARGS__})), expected, NULL)

TEST(names_that_look_like_steps_count_where_there_are_no_others) {
    CHECK_NUMBERS(NULL, "7 8 ", STEP("step 7", 0, 10, 1), STEP("step 8", 10, 10, 1));
    CHECK_NUMBERS(NULL, "7 ", STEP("Train_Iteration: 7", 0, 10, 1));
    CHECK_NUMBERS(NULL, "7 ", STEP("loop/step=7", 0, 10, 1));
    CHECK_NUMBERS(NULL, "3 ", STEP("step 7", 0, 10, 1), STEP("ProfilerStep#3", 0, 5, 1));
    CHECK_NUMBERS(NULL, "none 0 ", STEP("footstep 7", 0, 10, 1), STEP("step", 0, 10, 1),
                  STEP("step 7 of 9", 0, 10, 1), STEP("batch 7", 0, 10, 1), STEP("7", 0, 10, 1));
    /* An operator does not count: torch has "optimizer.step" and the like. */
    CHECK_NUMBERS(NULL, "none 0 ", OP("step 7", 0, 10, 1));
    /* The loop that takes most time (20 + 20), not the one inside it, or a single longer step. */
    CHECK_NUMBERS(NULL, "1 2 ", STEP("step 1", 0, 20, 1), STEP("micro step 0", 0, 9, 1),
                  STEP("micro step 1", 9, 9, 1), STEP("step 2", 20, 20, 1),
                  STEP("warmup step 5", -30, 25, 1));
}

TEST(numbers_of_something_else_give_steps_by_order) {
    static const char *const patterns[] = {NULL, "^step\\["};
    for (size_t i = 0; i < COUNT(patterns); i++)
        CHECK_NUMBERS(patterns[i], "0 1 2 ", STEP("step[DECODE bs=128]", 0, 10, 1),
                      STEP("step[DECODE bs=128]", 10, 10, 1), STEP("step[EXTEND bs=3]", 20, 5, 1));
    /* Two epochs of two steps. */
    CHECK_NUMBERS(NULL, "0 1 2 3 ", STEP("step 1", 0, 5, 1), STEP("step 2", 5, 5, 1),
                  STEP("step 1", 10, 5, 1), STEP("step 2", 15, 5, 1));
}

/* Checks one letter for each row, in order of begin: x if the row marks a step. */
static void check_marks(const char *pattern, const char *expected) {
    static const event_spec events[] = {
        STEP("ProfilerStep#3", 0, 100, 1), STEP("train step 7", 1, 50, 1),
        STEP("micro step 0", 2, 20, 1),    OP("aten::mm", 3, 1, 1),
        STEP("train step 8", 60, 30, 1),
    };
    /* with a pattern, all events; otherwise those after the profiler's step */
    size_t first = pattern ? 0 : 1;
    check_numbers(pattern, events + first, COUNT(events) - first, NULL, expected + first);
}

TEST(rows_that_mark_steps_are_known_the_profilers_in_any_case) {
    check_marks(NULL, "-x--x");    /* the loop with the most time */
    check_marks("micro", "x-x--"); /* an annotation that contains all others does not count */
    check_marks("^train", "xx--x");
    check_marks("Profiler", "x----");
    check_marks("nothing", "x----");
}

TEST(a_pattern_says_which_annotations_are_steps) {
    tm_step_names *step_names;
    tm_error err;
    CHECK_NUMBERS("^batch", "4 5 ", STEP("batch 4", 0, 10, 1), STEP("BATCH 5", 10, 10, 1),
                  STEP("ProfilerStep#3", 0, 5, 1));
    /* The number is the first group's, else from the match's end, after it, or the name's end. */
    CHECK_NUMBERS("of ([0-9]+)", "9 ", STEP("batch 4 of 9 7", 0, 10, 1));
    CHECK_NUMBERS("(a|b)atch [0-9]+", "4 ", STEP("batch 4 of 9", 0, 10, 1));
    CHECK_NUMBERS("batch", "4 ", STEP("batch 4 of 9", 0, 10, 1));
    CHECK_NUMBERS("batch", "9 ", STEP("batch of 9", 0, 10, 1));
    CHECK_NUMBERS("batch", "0 ", STEP("batch of 9 items", 0, 10, 1));
    CHECK_NUMBERS("batch", "0 1 ", STEP("batch a", 0, 10, 1), STEP("batch b", 10, 10, 1));
    CHECK_NUMBERS("batch", "6 ", OP("batch 6", 0, 10, 1)); /* of any category */
    /* If a number does not count up, it is not the step's, and steps are numbered in order. */
    CHECK_NUMBERS("decode", "0 1 ", STEP("DECODE bs=8", 0, 10, 1), STEP("DECODE bs=8", 10, 10, 1));
    assert_int_equal(tm_step_names_create("(", &step_names, &err), TM_ERR_USAGE);
    assert_non_null(strstr(err.message, "'(' is not a regular expression: "));
}

RUN_TESTS()

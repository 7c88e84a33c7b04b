/* The start of a rank's first step: does the host time before its first launch count? */
#include "replay/graph/first_step.h"

#include "run_fixture.h"
#include "timeline_fixture.h"

/* Times are in us. A number links a call with the work that it launched. */
#define EVENT(category, name, begin, took, number, device)                                         \
    {                                                                                              \
        category, name, (int64_t)(begin)*1000, (int64_t)(took)*1000, number, 1, device, NULL,      \
            TM_DURATION                                                                            \
    }
#define STEP(number, begin)                                                                        \
    EVENT(TM_CAT_USER_ANNOTATION, "ProfilerStep#" #number, begin, 1000, 0, 1)
#define HOST(begin, took) EVENT(TM_CAT_USER_ANNOTATION, "load", begin, took, 0, 1)
#define CALL(begin, took) EVENT(TM_CAT_RUNTIME, "cudaMalloc", begin, took, 0, 1)
#define LAUNCH(at, number)                                                                         \
    EVENT(TM_CAT_RUNTIME, "cudaLaunchKernel", at, 1, number, 1),                                   \
        EVENT(TM_CAT_KERNEL, "k", (at) + 2, 400, number, 0)

enum { EVENTS_MAX = 8 };

static const struct {
    const char *what;
    event_spec events[EVENTS_MAX];
    int64_t number, begin_us;
    bool usual;
} cases[] = {
    {"half of 100 is recorded", {STEP(3, 0), HOST(0, 50), LAUNCH(100, 1)}, 3, 0, true},
    {"less than half", {STEP(3, 0), HOST(0, 49), LAUNCH(100, 1)}, 3, 0, false},
    {"overlapping events", {STEP(3, 0), HOST(0, 30), HOST(10, 39), LAUNCH(100, 1)}, 3, 0, false},
    {"calls may be a start-up", {STEP(3, 0), CALL(0, 90), LAUNCH(100, 1)}, 3, 0, false},
    {"10 is 1 % of the step", {STEP(3, 0), LAUNCH(10, 1)}, 3, 0, true},
    {"twice 50", {STEP(3, 0), LAUNCH(100, 1), STEP(4, 1000), LAUNCH(1050, 2)}, 3, 0, true},
    {"over twice 50",
     {STEP(3, 0), HOST(0, 102), LAUNCH(102, 1), STEP(4, 1000), LAUNCH(1050, 2)},
     3,
     0,
     false},
    {"the GPU was busy for 102 after the launch",
     {STEP(3, 0), EVENT(TM_CAT_RUNTIME, "cudaLaunchKernel", 5, 1, 1, 1),
      EVENT(TM_CAT_KERNEL, "k", 108, 400, 1, 0)},
     3,
     0,
     false},
    {"the first step with work counts",
     {STEP(3, 0), STEP(4, 1000), LAUNCH(1010, 1)},
     4,
     1000,
     true},
    {"no mark", {HOST(0, 100), LAUNCH(100, 1)}, INT64_MAX, 0, false},
};

TEST(host_time_before_the_first_launch_counts_if_it_is_usual) {
    for (size_t i = 0; i < COUNT(cases); i++) {
        ground g = open_ground();
        size_t n = 0;
        tm_first_step found;
        while (n < EVENTS_MAX && cases[i].events[n].name)
            n++;
        tm_timeline t = build_one(&g, 0, cases[i].events, n);
        tm_call_classes classes;
        assert_true(tm_call_classes_init(&classes, g.names));
        assert_ok(tm_first_step_find(&t, &classes, &found, &g.err));
        tm_call_classes_free(&classes);
        if (found.number != cases[i].number || found.begin_ns != cases[i].begin_us * 1000 ||
            found.usual != cases[i].usual)
            fail_msg("%s: step %d at %d, %d", cases[i].what, (int)found.number, (int)found.begin_ns,
                     found.usual);
        tm_timeline_destroy(&t);
        close_ground(&g);
    }
}

RUN_TESTS()

/* Nesting of calls, their own time and what they launched: worked out by hand. */
#include "timeline_fixture.h"

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/calls.h"

#define OP(name, begin, duration, thread)                                                          \
    { TM_CAT_CPU_OP, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }
#define CALL(begin, duration, correlation, thread)                                                 \
    { TM_CAT_RUNTIME, "launch", begin, duration, correlation, thread, 1, NULL, TM_DURATION }
#define PYTHON(name, begin, duration, thread)                                                      \
    { TM_CAT_PYTHON, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }
#define KERNEL(name, begin, duration, correlation)                                                 \
    { TM_CAT_KERNEL, name, begin, duration, correlation, 7, 0, NULL, TM_DURATION }

/* Expected values of an operator; parent "" means none. */
typedef struct expectation {
    const char *name, *parent;
    int64_t self_ns;
} expectation;

typedef struct setting {
    ground ground;
    tm_timeline timeline;
    tm_calls calls;
} setting;

static setting find(const event_spec *events, size_t n) {
    setting s = {.ground = open_ground()};
    s.timeline = build_one(&s.ground, 0, events, n);
    tm_call_kinds call_kinds;
    assert_true(tm_call_kinds_init(&call_kinds, s.ground.names));
    assert_int_equal(tm_calls_find_operators(&s.timeline, &call_kinds, &s.calls, &s.ground.err),
                     TM_OK);
    tm_call_kinds_free(&call_kinds);
    return s;
}

static void done(setting *s) {
    tm_calls_free(&s->calls);
    tm_timeline_destroy(&s->timeline);
    close_ground(&s->ground);
}

static void check_name(const setting *s, uint32_t call, const char *name) {
    if (*name == '\0')
        assert_int_equal(call, TM_NO_CALL);
    else
        assert_name(&s->ground, s->timeline.name[s->calls.calls[call].row], name);
}

/* Checks the deepest operator that was open when an event began, or that launched it. */
static void check_above(const setting *s, const char *name, const char *expected) {
    check_name(s, s->calls.above[row_named(&s->ground, &s->timeline, name)], expected);
}

static void check_calls(const setting *s, const expectation *expected, size_t n) {
    assert_int_equal(s->calls.n, n);
    for (size_t i = 0; i < n; i++) {
        const tm_call *call = &s->calls.calls[i];
        check_name(s, (uint32_t)i, expected[i].name);
        check_name(s, call->parent, expected[i].parent);
        if (call->self_ns != expected[i].self_ns)
            fail_msg("%s has %lld ns of its own", expected[i].name, (long long)call->self_ns);
        assert_int_equal(s->calls.above[call->row], call->parent);
    }
}
#define CHECK_CALLS(s, expected) check_calls(s, expected, COUNT(expected))

/* linear [0, 100) contains t [10, 20), addmm [30, 80) and mul [84, 94); Python code inside linear
 * is transparent. addmm calls the runtime in [40, 45) and in [72, 90), which extends past addmm's
 * end: it counts until 80. addmm contains copy [50, 70), and the call [55, 60) is copy's, not
 * addmm's. Own times: linear 100 - 10 - 50 - 10 = 30; addmm 50 - 5 - 20 - 8 = 17; copy 20 - 5 =
 * 15. */
static const event_spec nested[] = {
    OP("ProfilerStep#1", 0, 200, 1),
    OP("linear", 0, 100, 1),
    OP("t", 10, 10, 1),
    OP("addmm", 30, 50, 1),
    CALL(40, 5, 1, 1),
    OP("copy", 50, 20, 1),
    CALL(55, 5, 2, 1),
    CALL(72, 18, 3, 1),
    PYTHON("forward", 82, 8, 1),
    OP("mul", 84, 10, 1),
    OP("other", 40, 10, 2),
    KERNEL("a", 200, 10, 1),
    KERNEL("b", 210, 10, 2),
    KERNEL("c", 220, 10, 3),
    KERNEL("lost", 230, 10, 9),
};

TEST(operators_lie_in_one_another_by_time) {
    static const expectation expected[] = {
        {"linear", "", 30},    {"t", "linear", 10},   {"addmm", "linear", 17},
        {"copy", "addmm", 15}, {"mul", "linear", 10}, {"other", "", 10},
    };
    setting s = find(nested, COUNT(nested));
    CHECK_CALLS(&s, expected);
    check_above(&s, "forward", "linear");
    check_above(&s, "a", "addmm");
    check_above(&s, "b", "copy");
    check_above(&s, "c", "addmm");
    check_above(&s, "lost", "");
    done(&s);
}

/* b begins inside a and ends after a. c is inside both, and counts as b's, as do all calls until
 * 15. a and b cover [0, 15) of p, and e covers [15, 20), so p's own time is 10. */
TEST(of_calls_that_cross_the_later_holds_what_comes) {
    static const event_spec events[] = {
        OP("p", 0, 30, 1), OP("a", 0, 10, 1), OP("b", 5, 10, 1),
        OP("c", 7, 2, 1),  OP("d", 12, 2, 1), OP("e", 15, 5, 1),
    };
    static const expectation expected[] = {
        {"p", "", 10}, {"a", "p", 10}, {"b", "p", 6}, {"c", "b", 2}, {"d", "b", 2}, {"e", "p", 5},
    };
    setting s = find(events, COUNT(events));
    CHECK_CALLS(&s, expected);
    done(&s);
}

/* Times are rounded to us, so there are equal begins, ends and ranges, and lengths of 0. */
TEST(rounded_times_nest_in_the_order_of_the_file) {
    static const event_spec events[] = {
        OP("outer", 10, 5, 1), OP("inner", 10, 5, 1), CALL(10, 5, 1, 1),     OP("next", 15, 5, 1),
        CALL(15, 0, 2, 1),     OP("empty", 20, 0, 1), CALL(20, 0, 3, 1),     CALL(21, 1, 4, 1),
        KERNEL("a", 30, 1, 1), KERNEL("b", 31, 1, 2), KERNEL("c", 32, 1, 3), KERNEL("d", 33, 1, 4),
    };
    static const expectation expected[] = {
        {"outer", "", 0}, {"inner", "outer", 0}, {"next", "", 5}, {"empty", "", 0}};
    setting s = find(events, COUNT(events));
    CHECK_CALLS(&s, expected);
    check_above(&s, "a", "inner");
    check_above(&s, "b", "next");
    check_above(&s, "c", "empty");
    check_above(&s, "d", "");
    done(&s);
}

TEST(a_rank_without_operators_has_none) {
    static const event_spec events[] = {CALL(0, 5, 1, 1), KERNEL("a", 10, 1, 1)};
    setting s = find(events, COUNT(events));
    assert_int_equal(s.calls.n, 0);
    check_above(&s, "a", "");
    check_above(&s, "launch", "");
    done(&s);
    s = find(NULL, 0);
    assert_int_equal(s.calls.n, 0);
    done(&s);
}

RUN_TESTS()

/* Links GPU events to the calls that launched them. */
#include "timeline_fixture.h"

/* Expected launch of every event, as its position in the file. NONE is TM_NO_EVENT. */
#define NONE TM_NO_EVENT

static void check_links(const event_spec *events, size_t n, const uint32_t *expected,
                        int64_t unlinked, int64_t duplicates) {
    ground g = open_ground();
    tm_trace trace = make_trace(&g, "t", events, n, 0);
    assert_int_equal(tm_trace_link(&trace, &g.err), TM_OK);
    const tm_raw_event *raw = trace.events.data;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(raw[i].launch, expected[i]);
    assert_int_equal(trace.counts[TM_COUNT_UNLINKED], unlinked);
    assert_int_equal(trace.counts[TM_COUNT_DUPLICATE_CORRELATION], duplicates);
    tm_trace_free(&trace);
    close_ground(&g);
}

#define HOST(category, name, begin, correlation)                                                   \
    { category, name, begin, 1, correlation, 100, 1, NULL, TM_DURATION }
#define GPU(category, name, begin, correlation)                                                    \
    { category, name, begin, 5, correlation, 7, 0, NULL, TM_DURATION }
#define CALL(begin, correlation) HOST(TM_CAT_RUNTIME, "c", begin, correlation)
#define KERNEL(begin, correlation) GPU(TM_CAT_KERNEL, "k", begin, correlation)

static const struct {
    const char *what;
    event_spec events[9]; /* the list ends at the first event without a name */
    uint32_t launches[9];
    int64_t counts[2]; /* number of unlinked events, and of events with several possible calls */
} traces[] = {
    {"kernels, copies and sets find their call by correlation, also one that comes later",
     {KERNEL(50, 7), CALL(10, 7), HOST(TM_CAT_DRIVER, "cuLaunchKernel", 12, 8), CALL(14, -9),
      CALL(16, INT64_MAX), KERNEL(60, 8), GPU(TM_CAT_MEMCPY, "c", 70, -9),
      GPU(TM_CAT_MEMSET, "s", 80, INT64_MAX), HOST(TM_CAT_CPU_OP, "aten::mm", 9, 7)},
     {1, NONE, NONE, NONE, NONE, 2, 3, 4, NONE},
     {0, 0}},
    {"several kernels may have one call",
     {CALL(10, 3), KERNEL(50, 3), KERNEL(60, 3)},
     {NONE, 0, 0},
     {0, 0}},
    /* id 5 is repeated; of the two calls with id 6, the driver's is inside the runtime's */
    {"of calls with one correlation the earliest counts",
     {CALL(30, 5),
      CALL(10, 5),
      HOST(TM_CAT_DRIVER, "c", 20, 5),
      {TM_CAT_RUNTIME, "longer", 10, 9, 6, 100, 1, NULL, TM_DURATION},
      CALL(10, 6),
      KERNEL(50, 5),
      KERNEL(60, 6)},
     {NONE, NONE, NONE, NONE, NONE, 1, 3},
     {0, 1}},
    /* id 0 means no call; no call has id 6; only GPU events that are busy time are counted */
    {"without a call an event is counted as unlinked",
     {CALL(10, 5), CALL(11, 0), KERNEL(50, 0), KERNEL(60, 6), GPU(TM_CAT_MEMCPY, "c", 70, 0),
      GPU(TM_CAT_CUDA_SYNC, "s", 80, 0), GPU(TM_CAT_GPU_ANNOTATION, "a", 80, 5)},
     {NONE, NONE, NONE, NONE, NONE, NONE, NONE},
     {3, 0}},
    {"nothing", {{0}}, {0}, {0, 0}},
    {"no call", {KERNEL(50, 1)}, {NONE}, {1, 0}},
};

TEST(events_find_their_calls_by_correlation) {
    for (size_t t = 0; t < COUNT(traces); t++) {
        size_t n = 0;
        while (n < COUNT(traces[t].events) && traces[t].events[n].name)
            n++;
        print_message("%s\n", traces[t].what);
        check_links(traces[t].events, n, traces[t].launches, traces[t].counts[0],
                    traces[t].counts[1]);
    }
}

TEST(many_correlations_all_find_their_own) {
    static const size_t n = 3000;
    ground g = open_ground();
    event_spec *events = calloc(2 * n, sizeof *events);
    assert_non_null(events);
    for (size_t i = 0; i < n; i++) {
        /* Ids are far apart, and some agree in their low 32 bits. */
        int64_t id = i % 2 ? (int64_t)i << 32 : 1 + (int64_t)i * 4096;
        events[i] = (event_spec){.category = TM_CAT_RUNTIME, .name = "c", .correlation = id};
        events[2 * n - 1 - i] =
            (event_spec){.category = TM_CAT_KERNEL, .name = "k", .correlation = id};
    }
    tm_trace trace = make_trace(&g, "t", events, 2 * n, 0);
    assert_int_equal(tm_trace_link(&trace, &g.err), TM_OK);
    const tm_raw_event *raw = trace.events.data;
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(raw[2 * n - 1 - i].launch, i);
    assert_int_equal(trace.counts[TM_COUNT_UNLINKED], 0);
    assert_int_equal(trace.counts[TM_COUNT_DUPLICATE_CORRELATION], 0);
    tm_trace_free(&trace);
    free(events);
    close_ground(&g);
}

/* Sequence numbers are per thread. The operators of thread 1 are mostly on the first of two tracks,
 * those of thread 2 on the other. */
TEST(backward_finds_the_last_forward_operator_of_its_number) {
    enum { MAIN = 1, OTHER = 2, AUTOGRAD = 3 };
    static const struct {
        int64_t begin, sequence;
        int track;
        int32_t thread;
        uint32_t forward;
    } rows[] = {
        {10, 5, MAIN, 0, NONE},      {12, 5, MAIN, 0, NONE}, /* nested; this one created the node */
        {20, 6, MAIN, 0, NONE},      {11, 5, OTHER, 0, NONE}, {50, 6, AUTOGRAD, 1, 2},
        {51, 6, AUTOGRAD, 1, 2},     {60, 5, AUTOGRAD, 1, 1}, {70, 5, AUTOGRAD, 2, 3},
        {30, 8, OTHER, 0, NONE},     {75, 8, AUTOGRAD, 2, 8}, {80, 7, AUTOGRAD, 1, NONE},
        {90, -1, AUTOGRAD, 1, NONE}, {95, 5, MAIN, 0, NONE}, /* in the next step, with a reused
                                                                number: too late for all */
        {52, 6, AUTOGRAD, 1, 2}, /* another name: two nodes cannot have number 6 */
    };
    event_spec events[COUNT(rows)];
    ground g = open_ground();
    for (size_t i = 0; i < COUNT(rows); i++)
        events[i] = (event_spec){TM_CAT_CPU_OP,
                                 i + 1 < COUNT(rows) ? "op" : "other",
                                 rows[i].begin,
                                 1,
                                 0,
                                 rows[i].track,
                                 100,
                                 NULL,
                                 TM_DURATION};
    tm_trace trace = make_trace(&g, "t", events, COUNT(rows), 0);
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        const tm_operator_attr row = {rows[i].sequence, i, 0, TM_NO_NAME, rows[i].thread};
        assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_OPERATOR], &row, 1));
    }
    assert_int_equal(tm_trace_link(&trace, &g.err), TM_OK);
    const tm_operator_attr *linked = trace.attrs[TM_ATTR_OPERATOR].data;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(linked[i].forward, rows[i].forward);
    assert_int_equal(trace.counts[TM_COUNT_SHARED_SEQUENCE], 1);
    tm_trace_free(&trace);
    close_ground(&g);
}

static uint32_t next(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Compared with a search through all calls: near and far, and ids that no call has. */
TEST(random_correlations_link_as_by_looking_at_all) {
    enum { CALLS = 150, KERNELS = 150, ALL = CALLS + KERNELS };
    uint32_t seed = 11, expected[ALL];
    for (int round = 0; round < 60; round++) {
        event_spec events[ALL];
        uint32_t spread = 1 + next(&seed) % 600;
        for (uint32_t i = 0; i < ALL; i++) {
            events[i] = (event_spec){.category = i < CALLS ? TM_CAT_RUNTIME : TM_CAT_KERNEL,
                                     .name = "e",
                                     .begin_ns = next(&seed) % 4,
                                     .correlation = 1 + next(&seed) % spread};
            expected[i] = NONE;
            for (uint32_t k = 0; k < CALLS && i >= CALLS; k++)
                if (events[k].correlation == events[i].correlation &&
                    (expected[i] == NONE || events[k].begin_ns < events[expected[i]].begin_ns))
                    expected[i] = k;
        }
        int64_t unlinked = 0, duplicates = 0;
        for (uint32_t i = CALLS; i < ALL; i++) {
            uint32_t n_calls = 0;
            for (uint32_t k = 0; k < CALLS; k++)
                n_calls += events[k].correlation == events[i].correlation;
            unlinked += n_calls == 0;
            duplicates += n_calls > 1;
        }
        check_links(events, ALL, expected, unlinked, duplicates);
    }
}

RUN_TESTS()

/* What kernels do, and that the answer can be given again for another pattern. */
#include "timeline_fixture.h"

#define KERNEL(name, begin, collective)                                                            \
    { TM_CAT_KERNEL, name, begin, 5, 0, 7, 0, collective, TM_DURATION }

static tm_timeline build_with(ground *g, const char *pattern) {
    static const event_spec job[] = {
        KERNEL("gemm", 0, NULL),
        KERNEL("ring_step", 10, NULL), /* communicates where the user says so */
        KERNEL("ncclDevKernel_AllReduce", 20, NULL),
        KERNEL("my kernel", 30, "_allgather_base"), /* by metadata, whatever it is called */
        KERNEL("ring_sum", 40, "reduce"),
        KERNEL("ring_all_gather", 50, NULL),
        {TM_CAT_MEMCPY, "ring copy", 60, 5, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_CPU_OP, "record_param_comms", 0, 5, 0, 1, 1, "allreduce", TM_DURATION},
    };
    tm_classifier *builtin = g->context.classifier;
    assert_int_equal(tm_classifier_create(pattern, &g->context.classifier, &g->err), TM_OK);
    tm_timeline timeline = build_one(g, 0, job, COUNT(job));
    tm_classifier_destroy(g->context.classifier);
    g->context.classifier = builtin;
    return timeline;
}

static void find_again(ground *g, tm_timeline *timeline, const char *pattern) {
    tm_classifier *classifier;
    assert_int_equal(tm_classifier_create(pattern, &classifier, &g->err), TM_OK);
    assert_int_equal(tm_timeline_find_roles(timeline, g->names, classifier, &g->err), TM_OK);
    tm_classifier_destroy(classifier);
}

static void assert_same_roles(const tm_timeline *a, const tm_timeline *b) {
    const tm_collective_attr *x = a->attrs[TM_ATTR_COLLECTIVE], *y = b->attrs[TM_ATTR_COLLECTIVE];
    assert_memory_equal(a->role, b->role, a->n_events);
    assert_int_equal(a->n_attrs[TM_ATTR_COLLECTIVE], b->n_attrs[TM_ATTR_COLLECTIVE]);
    for (size_t i = 0; i < a->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        assert_int_equal(x[i].event, y[i].event);
        assert_int_equal(x[i].kind, y[i].kind);
        assert_int_equal(x[i].name, y[i].name);
        assert_int_equal(x[i].seq, y[i].seq);
        assert_int_equal(x[i].group_size, y[i].group_size);
    }
}

TEST(roles_found_again_are_those_of_building_with_the_pattern) {
    static const char *const patterns[] = {NULL, "ring", "RING_STEP", "gemm|copy", NULL};
    /* One row for each communication kernel and one for the operator: without a pattern nccl, "my
     * kernel", ring_sum and the operator; "ring" adds two, "RING_STEP" one, and of "gemm|copy" the
     * gemm, for a copy is no kernel. */
    static const size_t n_rows[] = {4, 6, 5, 5, 4};
    ground g = open_ground();
    tm_timeline again = build_with(&g, NULL);
    for (size_t i = 0; i < COUNT(patterns); i++) {
        tm_timeline built = build_with(&g, patterns[i]);
        find_again(&g, &again, patterns[i]);
        assert_int_equal(built.n_attrs[TM_ATTR_COLLECTIVE], n_rows[i]);
        assert_same_roles(&again, &built);
        tm_timeline_destroy(&built);
    }
    tm_timeline_destroy(&again);
    close_ground(&g);
}

/* Such a row cannot be told from one that an earlier pattern made. */
TEST(a_row_of_the_trace_that_says_nothing_makes_no_communication) {
    static const event_spec events[] = {KERNEL("gemm", 0, NULL), KERNEL("ring_step", 10, NULL),
                                        KERNEL("solo", 20, NULL)};
    ground g = open_ground();
    tm_trace trace = make_trace(&g, "one.json", events, COUNT(events), 0);
    tm_collective_attr row = {.event = 1,
                              .seq = -1,
                              .in_elements = -1,
                              .out_elements = -1,
                              .group_size = -1,
                              .rank_start = -1,
                              .rank_stride = -1,
                              .src_rank = -1,
                              .dst_rank = -1};
    assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_COLLECTIVE], &row, 1));
    row.event = 2;
    row.seq = 0; /* says something */
    assert_non_null(tm_vec_append(&trace.attrs[TM_ATTR_COLLECTIVE], &row, 1));
    tm_trace *traces[] = {&trace};
    tm_timeline t;
    assert_int_equal(tm_timeline_build(traces, 1, 0, &g.context, &t, &g.err), TM_OK);
    assert_int_equal(t.role[1], TM_ROLE_COMPUTE);
    assert_int_equal(t.role[2], TM_ROLE_COMMUNICATION);
    assert_int_equal(t.n_attrs[TM_ATTR_COLLECTIVE], 1);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

RUN_TESTS()

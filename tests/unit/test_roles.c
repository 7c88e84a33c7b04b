/* Roles of kernels, also if they are found again with another pattern. */
#include "timeline_fixture.h"

#define KERNEL(name, begin, collective)                                                            \
    { TM_CAT_KERNEL, name, begin, 5, 0, 7, 0, collective, TM_DURATION }

static tm_timeline build_with(ground *g, const char *pattern) {
    static const event_spec job[] = {
        KERNEL("gemm", 0, NULL),
        KERNEL("ring_step", 10, NULL), /* communicates only if the user's pattern matches */
        KERNEL("ncclDevKernel_AllReduce", 20, NULL),
        KERNEL("my kernel", 30, "_allgather_base"), /* by metadata, whatever its name */
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
    /* One row for each communication kernel, and one for the operator. Without a pattern: nccl, "my
     * kernel", ring_sum, the operator. "ring" adds two kernels, "RING_STEP" one, and "gemm|copy"
     * only the gemm, because a copy is not a kernel. */
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

/* A row without information looks like one made for a kernel that matched, and is dropped. */
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
    row.seq = 0; /* so the row is not empty */
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

#define CALL(name, begin, duration, thread)                                                        \
    { TM_CAT_CPU_OP, name, begin, duration, 0, thread, 1, NULL, TM_DURATION }
#define LAUNCH(begin, id, thread)                                                                  \
    { TM_CAT_RUNTIME, "cudaLaunchKernelExC", begin, 2, id, thread, 1, NULL, TM_DURATION }
#define LAUNCHED(name, begin, id)                                                                  \
    { TM_CAT_KERNEL, name, begin, 5, id, 20, 0, NULL, TM_DURATION }

/* Kernels are 100 ns apart. On thread 1, the calls around their launches are nested. */
TEST(a_kernel_whose_name_leaves_the_kind_open_is_of_the_call_that_launched_it) {
    static const char all_to_all[] = "nccl:all_to_all", sends[] = "ncclDevKernel_SendRecv(X)";
    static const event_spec events[] = {
        CALL("c10d::alltoall_base_", 0, 60, 1),
        CALL(all_to_all, 10, 20, 1),
        CALL("ncclGroupEnd", 12, 10, 1), /* its name shows no kind */
        LAUNCH(14, 1, 1),
        CALL("ncclSend", 40, 5, 1), /* without a group: the receiver is unknown */
        LAUNCH(42, 2, 1),
        LAUNCH(50, 3, 1), /* in the outer call only */
        LAUNCH(60, 4, 1), /* after the outer call */
        LAUNCH(14, 5, 2), /* on another thread */
        CALL("nccl:gather", 70, 20, 1),
        LAUNCH(72, 6, 1),
        LAUNCH(74, 7, 1),
        LAUNCH(76, 8, 1),
        LAUNCHED(sends, 100, 1),
        LAUNCHED(sends, 200, 2),
        LAUNCHED(sends, 300, 3),
        LAUNCHED(sends, 400, 4),
        LAUNCHED(sends, 500, 5),
        LAUNCHED("ncclDevKernel_Generic(X)", 600, 6),
        LAUNCHED("ncclDevKernel_AllReduce_Sum_f32_RING_LL(X)", 700, 7), /* kind in its name */
        LAUNCHED(sends, 800, 0),                                        /* no launch */
        {TM_CAT_KERNEL, sends, 900, 5, 8, 20, 0, "send", TM_DURATION},  /* with metadata */
    };
    static const uint8_t kinds[] = {TM_COLL_ALLTOALL,  TM_COLL_SENDRECV, TM_COLL_ALLTOALL,
                                    TM_COLL_SENDRECV,  TM_COLL_SENDRECV, TM_COLL_GATHER,
                                    TM_COLL_ALLREDUCE, TM_COLL_SENDRECV, TM_COLL_SEND};
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    for (int round = 0; round < 2; round++) {
        const tm_collective_attr *rows = t.attrs[TM_ATTR_COLLECTIVE];
        assert_int_equal(t.n_attrs[TM_ATTR_COLLECTIVE], COUNT(kinds));
        for (size_t i = 0; i < COUNT(kinds); i++)
            assert_int_equal(rows[i].kind, kinds[i]);
        find_again(&g, &t, NULL); /* the same as after reading a store */
    }
    tm_timeline_destroy(&t);
    close_ground(&g);
}

RUN_TESTS()

/* Records made of a rank's communication kernels, and which of their sequences agree. */
#include "match/records.h"

#include "comm_fixture.h"
#include "match/rank_groups.h"

enum { ORIGIN = 7, WORLD = 4 };

static const char *const pair_ranks = "[0, 1]";

static const tm_comm_record *record_at(const tm_match_input *input, size_t i) {
    assert_true(i < input->records.n);
    return (const tm_comm_record *)input->records.data + i;
}

static size_t n_left_out(const tm_match_input *input) {
    const tm_left_out *rows = input->left_out.data;
    int64_t n = 0;
    for (size_t i = 0; i < input->left_out.n; i++)
        n += rows[i].count;
    return (size_t)n;
}

/* Collects the input of a rank that has other events, too. */
static tm_match_input input_of(ground *g, const tm_timeline *timeline, int64_t world_size) {
    tm_match_input input;
    tm_match_input_init(&input);
    assert_int_equal(tm_match_add_rank(timeline, g->names, world_size, ORIGIN, &input, &g->err),
                     TM_OK);
    return input;
}

TEST(every_kernel_is_matched_in_its_surest_way) {
    static const struct {
        comm_spec kernel;
        int way; /* -1: unmatched */
        uint64_t key;
        int32_t group_size;
    } cases[] = {
        {{.name = "allreduce", .comms_id = 77, .seq = GIVEN(3)}, TM_MATCH_COMMS_ID, 77, 4},
        {{.name = "allreduce", .comms_id = -1}, TM_MATCH_COMMS_ID, UINT64_MAX, 4},
        {{.name = "allreduce", .seq = GIVEN(3)}, TM_MATCH_SEQ, 3, 4},
        {{.name = "allreduce", .seq = GIVEN(0)}, TM_MATCH_SEQ, 0, 4},
        {{.name = "allreduce"}, TM_MATCH_ORDER, 0, 4},
        {{.name = "allreduce", .comms_id = 77, .seq = GIVEN(-2)}, TM_MATCH_ORDER, 0, 4},
        {{.name = "broadcast", .seq = GIVEN(9), .src = GIVEN(0)}, TM_MATCH_SEQ, 9, 4},
        {{.name = "send", .dst = GIVEN(2)}, TM_MATCH_PAIR, 0, 2},
        {{.name = "recv", .src = GIVEN(0)}, TM_MATCH_PAIR, 0, 2},
        /* ids and sequence numbers of transfers count per rank, not per pair */
        {{.name = "send", .dst = GIVEN(2), .seq = GIVEN(5), .comms_id = 8}, TM_MATCH_PAIR, 0, 2},
        {{.name = "recv", .src = GIVEN(2), .seq = GIVEN(5), .comms_id = 8}, TM_MATCH_PAIR, 0, 2},
        /* the peer is unknown, or is the rank itself */
        {{.name = "send", .src = GIVEN(2)}, -1, 0, 0},
        {{.name = "recv", .dst = GIVEN(2)}, -1, 0, 0},
        {{.name = "send", .dst = GIVEN(1)}, -1, 0, 0},
        {{.name = "recv", .src = GIVEN(1)}, -1, 0, 0},
    };
    ground g = open_ground();
    for (size_t i = 0; i < COUNT(cases); i++) {
        comm_spec kernel = cases[i].kernel;
        kernel.group = "tp";
        kernel.ranks = "[0, 1, 2, 3]";
        tm_match_input input = collect_rank(&g, 1, &kernel, 1, WORLD);
        assert_int_equal(input.records.n, cases[i].way >= 0);
        assert_int_equal(n_left_out(&input), cases[i].way < 0);
        bool in_order = cases[i].way == TM_MATCH_PAIR || cases[i].way == TM_MATCH_ORDER;
        assert_int_equal(input.sequences.n, in_order);
        if (cases[i].way >= 0) {
            assert_int_equal(record_at(&input, 0)->way, cases[i].way);
            assert_true(record_at(&input, 0)->key == cases[i].key);
            assert_int_equal(record_at(&input, 0)->group_size, cases[i].group_size);
        }
        tm_match_input_free(&input);
    }
    close_ground(&g);
}

TEST(a_record_holds_all_that_matching_needs) {
    static const comm_spec kernels[] = {{.name = "_allgather_base",
                                         .begin_ns = 100,
                                         .duration_ns = 30,
                                         .stream = 20,
                                         .group = "dp",
                                         .ranks = "[1, 3, 5]",
                                         .dtype = "BFloat16",
                                         .size = 3,
                                         .seq = GIVEN(6),
                                         .in = GIVEN(10),
                                         .out = GIVEN(30)}};
    static const event_spec others[] = {
        {TM_CAT_KERNEL, "gemm", 0, 10, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_USER_ANNOTATION, "ProfilerStep#12", 50, 60, 0, 1, 1, NULL, TM_DURATION},
    };
    ground g = open_ground();
    tm_timeline timeline = build_comm(&g, 3, kernels, 1, others, COUNT(others));
    tm_match_input input = input_of(&g, &timeline, WORLD);
    assert_int_equal(input.records.n, 1);
    const tm_comm_record *r = record_at(&input, 0);
    assert_int_equal(r->begin_ns, 100);
    assert_int_equal(r->end_ns, 130);
    assert_int_equal(r->bytes, 60); /* 30 x 2 */
    assert_int_equal(r->step, 12);
    assert_int_equal(r->seq, 6);
    assert_int_equal(r->rank, 3);
    assert_int_equal(r->event, row_named(&g, &timeline, "ncclDevKernel_X"));
    assert_int_equal(r->group_size, 3);
    assert_int_equal(r->origin, ORIGIN);
    assert_int_equal(r->kind, TM_COLL_ALLGATHER);
    assert_string_equal(r->group_text, "dp");
    tm_match_input_free(&input);
    tm_timeline_destroy(&timeline);
    close_ground(&g);
}

/* Kernels without metadata on streams 9 and 5, sorted by stream, with their number, and their name
 * without arguments and parameters. */
TEST(kernels_without_metadata_are_left_to_inference) {
    static const comm_spec kernels[] = {
        {.begin_ns = 0, .stream = 9, .kernel = "ncclDevKernel_AllReduce_RING(Args<4096ul>)"},
        {.name = "allreduce", .begin_ns = 10, .stream = 9, .ranks = "[0, 1]", .seq = GIVEN(1)},
        {.begin_ns = 20, .stream = 5, .kernel = "void (anonymous namespace)::nccl_a<int, 8>(int)"},
        {.begin_ns = 30, .stream = 9, .kernel = "ncclDevKernel_AllReduce_RING"},
        {.begin_ns = 40, .stream = 5, .kernel = "void (anonymous namespace)::nccl_b<int, 8>(int)"},
        {.begin_ns = 50, .stream = 9, .kernel = "nvshmem_put"},
        {.begin_ns = 60, .stream = 9, .kernel = "ncclDevKernel_Send"},
        {.name = "allreduce", .begin_ns = 70, .stream = 6, .ranks = "[0, 1]", .seq = GIVEN(2)},
    };
    ground g = open_ground();
    tm_match_input input = collect_rank(&g, 0, kernels, COUNT(kernels), WORLD);
    assert_int_equal(n_left_out(&input), 2);
    assert_int_equal(input.records.n, 2);
    assert_int_equal(record_at(&input, 0)->begin_ns, 10);
    assert_int_equal(input.bare.n, 5);
    const tm_comm_record *bare = input.bare.data;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(bare[i].begin_ns, 10 * i);
        assert_true((bare[i].way == TM_MATCH_INFERRED) == (i != 1));
        assert_true((bare[i].key == bare[0].key) == (i < 2 || i == 3));
        assert_true((bare[i].process_group == bare[0].process_group) == (i == 0 || i == 3));
    }
    assert_true(bare[2].process_group != bare[4].process_group);
    tm_match_input_free(&input);
    close_ground(&g);
}

TEST(a_job_of_one_rank_needs_no_proof) {
    static const comm_spec kernels[] = {{.begin_ns = 0, .kernel = "ncclDevKernel_AllReduce"},
                                        {.begin_ns = 9, .kernel = "ncclDevKernel_AllReduce"}};
    ground g = open_ground();
    tm_match_input input = collect_rank(&g, 0, kernels, COUNT(kernels), 1);
    assert_int_equal(input.records.n, 2);
    assert_int_equal(record_at(&input, 1)->way, TM_MATCH_ORDER);
    assert_int_equal(record_at(&input, 1)->key, 1);
    assert_int_equal(record_at(&input, 1)->group_size, 1);
    assert_string_equal(record_at(&input, 1)->group_text, "0");
    tm_match_input_free(&input);
    close_ground(&g);
}

TEST(reasons_are_counted_by_group) {
    static const comm_spec kernels[] = {
        {.begin_ns = 0, .kernel = "ncclDevKernel_AllReduce"},
        {.begin_ns = 10, .kernel = "nvshmem_put"},
        {.name = "allreduce", .begin_ns = 20, .group = "far", .ranks = "[2, 3]"},
        {.name = "allreduce", .begin_ns = 30, .group = "cut", .ranks = "[0, ...", .size = 31},
        {.name = "send", .begin_ns = 40, .group = "pp", .ranks = "[0, 1]"},
        {.name = "allreduce", .begin_ns = 50, .group = "far", .ranks = "[2, 3]"},
    };
    static const tm_left_out expected[] = {
        {1, -1, TM_UNMATCHED_ONE_SIDED, ""},
        {2, 2, TM_UNMATCHED_GROUP, "far"}, /* the group does not contain this rank */
        {1, 31, TM_UNMATCHED_GROUP, "cut"},
        {1, 2, TM_UNMATCHED_PEER, "pp"},
    };
    ground g = open_ground();
    tm_match_input input = collect_rank(&g, 0, kernels, COUNT(kernels), WORLD);
    assert_int_equal(input.left_out.n, COUNT(expected));
    assert_memory_equal(input.left_out.data, expected, sizeof expected);
    tm_match_input_free(&input);
    close_ground(&g);
}

TEST(one_sided_kernels_are_unmatched) {
    static const char *const names[] = {"void deep_ep::internode::dispatch<8>(int4*)",
                                        "void moe::ep::combine<4>()", "nvshmemi_transfer_rma",
                                        "mscclpp_allreduce_kernel", "NVSHMEM_barrier_all"};
    comm_spec kernels[COUNT(names) + 1] = {{.kernel = "ncclDevKernel_AllReduce"}};
    for (size_t i = 0; i < COUNT(names); i++)
        kernels[i + 1] = (comm_spec){.kernel = names[i], .begin_ns = 10 + (int64_t)i};
    ground g = open_ground();
    tm_match_input input = collect_rank(&g, 0, kernels, COUNT(kernels), WORLD);
    assert_int_equal(n_left_out(&input), COUNT(names));
    assert_int_equal(input.bare.n, 1);
    tm_match_input_free(&input);
    close_ground(&g);
}

TEST(streams_correspond_by_their_first_kernel) {
    static const comm_spec zero[] = {
        {.name = "allreduce", .begin_ns = 10, .stream = 20, .group = "a", .ranks = "[0, 1]"},
        {.name = "allreduce", .begin_ns = 20, .stream = 30, .group = "a", .ranks = "[0, 1]"},
        {.name = "allreduce", .begin_ns = 30, .stream = 30, .group = "b", .ranks = "[0, 1]"},
        {.name = "allreduce", .begin_ns = 40, .stream = 20, .group = "a", .ranks = "[0, 1]"},
    };
    static const comm_spec one[] = {
        {.name = "allreduce", .begin_ns = 10, .stream = 99, .group = "a", .ranks = "[0, 1]"},
        {.name = "allreduce", .begin_ns = 20, .stream = 5, .group = "a", .ranks = "[0, 1]"},
        {.name = "allreduce", .begin_ns = 30, .stream = 7, .group = "b", .ranks = "[0, 1]"},
        {.name = "allreduce", .begin_ns = 40, .stream = 99, .group = "a", .ranks = "[0, 1]"},
    };
    /* records on the first and second stream of group a, the first of b, the first of a again */
    static const uint64_t keys[] = {0, (uint64_t)1 << TM_LANE_SHIFT, 0, 1};
    ground g = open_ground();
    tm_match_input inputs[] = {collect_rank(&g, 0, zero, COUNT(zero), 2),
                               collect_rank(&g, 1, one, COUNT(one), 2)};
    for (size_t r = 0; r < COUNT(inputs); r++)
        for (size_t i = 0; i < COUNT(keys); i++)
            assert_true(record_at(&inputs[r], i)->key == keys[i]);
    for (size_t i = 0; i < COUNT(keys); i++)
        assert_true(record_at(&inputs[0], i)->group == record_at(&inputs[1], i)->group);
    assert_int_equal(inputs[0].sequences.n, 3);
    tm_match_input_free(&inputs[0]);
    tm_match_input_free(&inputs[1]);
    close_ground(&g);
}

/* On two streams, operations 5 and 6 run in either order. Each is a sequence of its own, although
 * they have the same kind and size. */
TEST(named_kernels_have_one_order_whatever_their_streams) {
    static const comm_spec both[] = {
        {.name = "allreduce", .begin_ns = 0, .stream = 9, .comms_id = 5, .seq = GIVEN(-2)},
        {.name = "allreduce", .begin_ns = 1, .stream = 5, .comms_id = 6, .seq = GIVEN(-2)},
        {.name = "allreduce", .begin_ns = 2, .stream = 9, .comms_id = 6, .seq = GIVEN(-2)},
        {.name = "allreduce", .begin_ns = 3, .stream = 5, .comms_id = 5, .seq = GIVEN(-2)},
    };
    ground g = open_ground();
    uint64_t digests[2];
    for (size_t i = 0; i < 2; i++) {
        comm_spec kernels[2] = {both[2 * i], both[2 * i + 1]};
        kernels[0].ranks = kernels[1].ranks = pair_ranks;
        tm_match_input input = collect_rank(&g, 0, kernels, 2, WORLD);
        const tm_sequence *run = input.sequences.data;
        assert_int_equal(input.sequences.n, 1);
        assert_int_equal(run->n, 2);
        assert_true(run->named);
        digests[i] = run->digest;
        tm_match_input_free(&input);
    }
    assert_true(digests[0] != digests[1]);
    close_ground(&g);
}

TEST(kernels_that_begin_together_keep_the_order_of_rows) {
    static const comm_spec kernels[] = {
        {.name = "allgather", .ranks = "[0, 1]", .begin_ns = 10, .stream = 1},
        {.name = "allreduce", .ranks = "[0, 1]", .begin_ns = 10, .stream = 2},
        {.name = "reduce_scatter", .ranks = "[0, 1]", .begin_ns = 10, .stream = 3},
    };
    ground g = open_ground();
    tm_match_input input = collect_rank(&g, 0, kernels, COUNT(kernels), 2);
    for (size_t i = 0; i < COUNT(kernels); i++) {
        assert_int_equal(record_at(&input, i)->key >> TM_LANE_SHIFT, i);
        assert_true(i == 0 || record_at(&input, i)->event > record_at(&input, i - 1)->event);
    }
    tm_match_input_free(&input);
    close_ground(&g);
}

static int64_t bytes_of(ground *g, const char *name, const char *dtype, int64_t in, int64_t out) {
    const comm_spec kernel = {.name = name,
                              .dtype = dtype,
                              .in = GIVEN(in),
                              .out = GIVEN(out),
                              .ranks = "[0, 1]",
                              .src = GIVEN(1),
                              .dst = GIVEN(1)};
    tm_match_input input = collect_rank(g, 0, &kernel, 1, 2);
    int64_t bytes = record_at(&input, 0)->bytes;
    tm_match_input_free(&input);
    return bytes;
}

/* With 3 elements in and 5 out, all-gathers and receives count the output, all others the input. */
TEST(bytes_are_elements_of_a_type_in_or_out) {
    static const struct {
        int64_t bytes;
        const char *names[11];
    } of_floats[] = {{12,
                      {"allreduce", "reduce_scatter", "broadcast", "reduce", "all_to_all", "gather",
                       "scatter", "send", "barrier", "coalesced"}},
                     {20,
                      {"allgather", "_allgather_base", "recv",
                       "all_gather_into_tensor_coalesced"}}},
      of_types[] = {{3, {"Byte", "Char", "Bool", "Float8_e4m3fn", "Float8_e5m2fnuz"}},
                    {6, {"BFloat16", "Half", "Short", "UInt16"}},
                    {12, {"Float", "Int", "UInt32"}},
                    {24, {"Double", "Long", "ComplexFloat", "UInt64"}},
                    {48, {"ComplexDouble"}},
                    {-1, {"", "Float8", "Floa", "Floats", "float", "Unknown"}}};
    ground g = open_ground();
    for (size_t i = 0; i < COUNT(of_floats); i++)
        for (const char *const *name = of_floats[i].names; *name; name++)
            assert_int_equal(bytes_of(&g, *name, "Float", 3, 5), of_floats[i].bytes);
    for (size_t i = 0; i < COUNT(of_types); i++)
        for (const char *const *name = of_types[i].names; *name; name++)
            assert_int_equal(bytes_of(&g, "allreduce", *name, 3, 9), of_types[i].bytes);
    /* A missing or oversized value makes the size unknown. */
    assert_int_equal(bytes_of(&g, "allreduce", "Float", -1, 5), -1);
    assert_int_equal(bytes_of(&g, "allgather", "Float", 5, -1), -1);
    assert_int_equal(bytes_of(&g, "allreduce", "Float", 0, 5), 0);
    /* Up to (2^63 - 1) / 32 = 288230376151711743 elements of up to 16 bytes are accepted, because
     * the sum of two such sizes fits. */
    assert_int_equal(bytes_of(&g, "allreduce", "ComplexDouble", 288230376151711743, 0),
                     4611686018427387888);
    assert_int_equal(bytes_of(&g, "allreduce", "ComplexDouble", 288230376151711744, 0), -1);
    close_ground(&g);
}

/* Steps are 3 [0, 100) and 4 [200, 300). Launch 2 is in step 3, and launch 3 in no step. */
TEST(the_step_is_that_of_the_launch_or_of_the_window) {
    static const struct {
        int64_t begin_ns, correlation, step;
    } cases[] = {
        {220, 2, 3},  /* launched in step 3, which therefore lasts until 221, the kernel's end */
        {50, 0, 3},   /* no launch, so the step's window counts */
        {0, 0, 3},    /* begins are inclusive */
        {299, 0, 4},  /* the last nanosecond */
        {300, 0, -1}, /* ends are exclusive */
        {400, 0, -1}, {250, 3, 4}, /* launched in no step, so the step's window counts */
        {500, 3, -1},
    };
    static const event_spec others[] = {
        {TM_CAT_USER_ANNOTATION, "ProfilerStep#3", 0, 100, 0, 1, 1, NULL, TM_DURATION},
        {TM_CAT_USER_ANNOTATION, "ProfilerStep#4", 200, 100, 0, 1, 1, NULL, TM_DURATION},
        {TM_CAT_RUNTIME, "cudaLaunchKernel", 90, 1, 2, 1, 1, NULL, TM_DURATION},
        {TM_CAT_RUNTIME, "cudaLaunchKernel", 150, 1, 3, 1, 1, NULL, TM_DURATION},
    };
    ground g = open_ground();
    for (size_t i = 0; i < COUNT(cases); i++) {
        const comm_spec kernel = {.name = "allreduce",
                                  .ranks = "[0, 1]",
                                  .begin_ns = cases[i].begin_ns,
                                  .duration_ns = 1,
                                  .correlation = cases[i].correlation};
        tm_timeline timeline = build_comm(&g, 0, &kernel, 1, others, COUNT(others));
        tm_match_input input = input_of(&g, &timeline, 2);
        assert_int_equal(record_at(&input, 0)->step, cases[i].step);
        tm_match_input_free(&input);
        tm_timeline_destroy(&timeline);
    }
    close_ground(&g);
}

TEST(operators_on_the_cpu_are_no_records) {
    static const event_spec others[] = {
        {TM_CAT_CPU_OP, "record_param_comms", 0, 10, 0, 1, 1, "allreduce", TM_DURATION}};
    static const comm_spec kernel = {.kernel = "ncclDevKernel_AllReduce", .begin_ns = 5};
    ground g = open_ground();
    tm_timeline timeline = build_comm(&g, 0, &kernel, 1, others, COUNT(others));
    tm_match_input input = input_of(&g, &timeline, 2);
    /* metadata of an operator do not belong to a kernel */
    assert_int_equal(input.records.n, 0);
    assert_int_equal(input.bare.n, 1);
    tm_match_input_free(&input);
    tm_timeline_destroy(&timeline);
    close_ground(&g);
}

TEST(a_run_agrees_where_counts_and_digests_are_equal) {
    static const struct {
        uint64_t group, stream, digest;
        int64_t n, rank;
        int agrees;
    } rows[] = {
        {2, 0, 5, 3, 1, 1},          {1, 0, 5, 3, 0, 1},
        {1, 0, 5, 3, 1, 1}, /* equals the run of rank 0, whatever stream 1 has */
        {1, 1, 5, 3, 0, 0},          {1, 1, 5, 2, 1, 0}, /* counts differ */
        {2, 0, 5, 3, 0, 1},                              /* equals the first row */
        {2, 1, 5, 3, 0, 0},          {2, 1, 5, 3, 1, 0},
        {2, 1, 6, 3, 2, 0},                              /* a digest differs */
        {3, 0, 5, 3, 4, 0},          {3, 0, 5, 3, 4, 0}, /* the same rank twice */
        {4, 0, 5, 3, 0, 1},                              /* only one rank */
        {5, 0, 5, 2, 0, 0},          {5, 0, 5, 3, 1, 0},
        {5, 0, 5, 3, 2, 0}, /* the first has another count */
        {UINT64_MAX, 0, 1, 1, 0, 1}, {UINT64_MAX, 0, 1, 1, 1, 1},
    };
    tm_sequence sequences[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++)
        sequences[i] = (tm_sequence){.group = rows[i].group,
                                     .stream = rows[i].stream,
                                     .digest = rows[i].digest,
                                     .n = rows[i].n,
                                     .rank = rows[i].rank,
                                     .origin = (int32_t)i,
                                     .way = TM_MATCH_PAIR,
                                     .agrees = 9};
    tm_match_compare(sequences, COUNT(rows), NULL, 0);
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(sequences[i].agrees, rows[sequences[i].origin].agrees);
    tm_match_compare(NULL, 0, NULL, 0);
}

/* Ranks 0 and 1 have a sequence of two kernels each, in stream 1 of group 7. */
TEST(only_whole_groups_of_the_same_steps_agree) {
    static const struct {
        int32_t group_size;
        int64_t first_step, last_step; /* steps of rank 1; those of rank 0 are 3 and 4 */
        int way, agrees;
        bool named;
    } cases[] = {
        {2, 3, 4, TM_MATCH_ORDER, 1, false},
        {3, 3, 4, TM_MATCH_ORDER, 0, false}, /* a member is missing */
        {3, 3, 4, TM_MATCH_ORDER, 1, true},  /* named operations can be told apart */
        {3, 3, 4, TM_MATCH_PAIR, 1, false},
        {2, 4, 5, TM_MATCH_ORDER, 0, false}, /* one step later */
        {2, 3, 5, TM_MATCH_ORDER, 1, false}, /* another step for one kernel at the boundary */
        {2, 2, 4, TM_MATCH_ORDER, 1, false},
        {2, -1, 5, TM_MATCH_ORDER, 1, false}, /* the first step is unknown */
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        tm_sequence runs[2];
        for (int r = 0; r < 2; r++)
            runs[r] = (tm_sequence){.group = 7,
                                    .stream = 1,
                                    .n = 2,
                                    .rank = r,
                                    .first_step = r == 0 ? 3 : cases[c].first_step,
                                    .last_step = r == 0 ? 4 : cases[c].last_step,
                                    .group_size = cases[c].group_size,
                                    .way = (uint8_t)cases[c].way,
                                    .named = cases[c].named};
        tm_match_compare(runs, 2, NULL, 0);
        assert_int_equal(runs[0].agrees, cases[c].agrees);
        assert_int_equal(runs[1].agrees, cases[c].agrees);
        tm_match_compare(runs, 1, NULL, 0); /* only one sequence */
        assert_int_equal(runs[0].agrees, 1);
    }
}

/* Two streams have three kernels each. In stream 1, rank 0 lacks the second of four and rank 1 the
 * third. Ends are in any order. */
TEST(ends_tell_a_shift_that_counts_hide) {
    static const int64_t ends_ms[2][2][3] = {{{10, 20, 40}, {50, 70, 80}},
                                             {{10, 20, 40}, {50, 60, 80}}};
    tm_sequence runs[4];
    tm_end ends[12];
    for (size_t i = 0; i < 12; i++) {
        size_t k = (i * 5 + 3) % 12, rank = k / 6, stream = k / 3 % 2, place = k % 3;
        ends[i] = (tm_end){.group = 7,
                           .key = stream << TM_LANE_SHIFT | place,
                           .rank = (int64_t)rank,
                           .begin_ns = ends_ms[rank][stream][place] * 1000000 - 1000,
                           .end_ns = ends_ms[rank][stream][place] * 1000000,
                           .synchronises = true};
    }
    for (size_t i = 0; i < 4; i++)
        runs[i] = (tm_sequence){.group = 7,
                                .stream = i % 2,
                                .n = 3,
                                .rank = (int64_t)i / 2,
                                .first_step = -1,
                                .last_step = -1,
                                .group_size = 2,
                                .way = TM_MATCH_ORDER};
    tm_match_compare(runs, 4, ends, 12);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(runs[i].agrees, runs[i].stream == 0);
}

/* Compares the sequences of ranks 0 and 1, and drops those that disagree. Checks the records and
 * unmatched kernels of both. */
static void check_pair(ground *g, const comm_spec *zero, size_t n_zero, const comm_spec *one,
                       size_t n_one, bool agree) {
    tm_match_input inputs[] = {collect_rank(g, 0, zero, n_zero, 2),
                               collect_rank(g, 1, one, n_one, 2)};
    tm_vec all = TM_VEC(tm_sequence);
    for (size_t r = 0; r < 2; r++)
        assert_non_null(tm_vec_append(&all, inputs[r].sequences.data, inputs[r].sequences.n));
    tm_match_compare(all.data, all.n, NULL, 0);
    for (size_t r = 0; r < 2; r++) {
        size_t n = r == 0 ? n_zero : n_one;
        assert_int_equal(tm_match_drop(&inputs[r], all.data, all.n, &g->err), TM_OK);
        assert_int_equal(inputs[r].records.n, agree ? n : 0);
        assert_int_equal(n_left_out(&inputs[r]) + inputs[r].loose.n, agree ? 0 : n);
        tm_match_input_free(&inputs[r]);
    }
    tm_vec_free(&all);
}

#define AR                                                                                         \
    { .name = "allreduce" }
#define AG                                                                                         \
    { .name = "allgather" }
#define BARRIER                                                                                    \
    { .name = "barrier" }
#define SIZED(what, n, type)                                                                       \
    { .name = what, .in = GIVEN(n), .dtype = type }

TEST(ranks_whose_runs_differ_are_unmatched) {
    static const struct {
        comm_spec zero[2], one[2];
        size_t n_one;
        bool agree;
    } cases[] = {
        {{AR, AG}, {AR, AG}, 2, true},
        /* different count, kinds or order */
        {{AR, AG}, {AR}, 1, false},
        {{AR, AG}, {AR, AR}, 2, false},
        {{AR, AG}, {AG, AR}, 2, false},
        /* sizes in elements of 4 and 2 bytes: 8 bytes equal 8, not 6; all-to-alls may differ */
        {{SIZED("allreduce", 2, "Int"), BARRIER},
         {SIZED("allreduce", 4, "Half"), BARRIER},
         2,
         true},
        {{SIZED("allreduce", 2, "Int"), BARRIER},
         {SIZED("allreduce", 3, "Half"), BARRIER},
         2,
         false},
        {{SIZED("all_to_all", 2, "Int"), BARRIER},
         {SIZED("all_to_all", 3, "Int"), BARRIER},
         2,
         true},
    };
    ground g = open_ground();
    for (size_t i = 0; i < COUNT(cases); i++) {
        comm_spec specs[2][2];
        for (size_t k = 0; k < 2; k++) {
            specs[0][k] = cases[i].zero[k];
            specs[1][k] = cases[i].one[k];
            specs[0][k].ranks = specs[1][k].ranks = pair_ranks;
            specs[0][k].begin_ns = specs[1][k].begin_ns = (int64_t)k * 10;
        }
        check_pair(&g, specs[0], 2, specs[1], cases[i].n_one, cases[i].agree);
    }
    close_ground(&g);
}

static comm_spec transfer(const char *name, int64_t begin_ns, int stream, int64_t elements) {
    comm_spec spec = {
        .name = name, .begin_ns = begin_ns, .stream = stream, .ranks = pair_ranks, .dtype = "Int"};
    bool send = strcmp(name, "send") == 0;
    *(send ? &spec.in : &spec.out) = GIVEN(elements);
    spec.src = spec.dst = GIVEN(-1);
    return spec;
}

/* Makes @p other the peer of all transfers. */
static void set_ends(comm_spec *specs, size_t n, int32_t other) {
    for (size_t i = 0; i < n; i++)
        *(strcmp(specs[i].name, "send") == 0 ? &specs[i].dst : &specs[i].src) = GIVEN(other);
}

TEST(transfers_go_first_in_first_out_for_each_direction) {
    /* 0 sends 3, 5, 7 elements and receives 2; 1 receives on two streams and sends between */
    comm_spec zero[] = {transfer("send", 10, 1, 3), transfer("recv", 20, 1, 2),
                        transfer("send", 30, 1, 5), transfer("send", 40, 2, 7)};
    comm_spec one[] = {transfer("send", 5, 1, 2), transfer("recv", 50, 2, 3),
                       transfer("recv", 60, 1, 5), transfer("recv", 70, 2, 7)};
    static const uint64_t keys[2][4] = {{0, 0, 1, 2}, {0, 0, 1, 2}};
    static const int partner[4] = {1, 0, 2, 3}; /* [record of rank 0] matching record of rank 1 */
    ground g = open_ground();
    set_ends(zero, COUNT(zero), 1);
    set_ends(one, COUNT(one), 0);
    tm_match_input inputs[] = {collect_rank(&g, 0, zero, COUNT(zero), 2),
                               collect_rank(&g, 1, one, COUNT(one), 2)};
    for (size_t i = 0; i < 4; i++) {
        const tm_comm_record *a = record_at(&inputs[0], i);
        const tm_comm_record *b = record_at(&inputs[1], (size_t)partner[i]);
        assert_true(a->key == keys[0][i]);
        assert_true(record_at(&inputs[1], i)->key == keys[1][i]);
        assert_true(a->group == b->group && a->key == b->key);
        assert_int_equal(a->bytes, b->bytes);
    }
    assert_true(record_at(&inputs[0], 0)->group != record_at(&inputs[0], 1)->group);
    tm_match_input_free(&inputs[0]);
    tm_match_input_free(&inputs[1]);
    check_pair(&g, zero, COUNT(zero), one, COUNT(one), true);
    close_ground(&g);
}

TEST(transfers_whose_ends_differ_are_unmatched) {
    comm_spec sends[] = {transfer("send", 10, 1, 3), transfer("send", 20, 1, 4)};
    comm_spec receives[] = {transfer("recv", 10, 1, 3), transfer("recv", 20, 1, 5)};
    comm_spec both_send[] = {transfer("send", 10, 1, 3), transfer("send", 20, 1, 4)};
    ground g = open_ground();
    set_ends(sends, 2, 1);
    set_ends(receives, 2, 0);
    set_ends(both_send, 2, 0);
    check_pair(&g, sends, 2, receives, 2, false); /* 4 elements sent, 5 received */
    check_pair(&g, sends, 2, receives, 1, false); /* two sent, one received */
    check_pair(&g, sends, 1, receives, 1, true);
    check_pair(&g, sends, 2, both_send, 2, true); /* two directions, each with one end recorded */
    close_ground(&g);
}

TEST(dropping_leaves_what_needs_no_order) {
    static const comm_spec kernels[] = {
        {.name = "allreduce", .begin_ns = 10, .ranks = "[0, 1]", .comms_id = 5},
        {.name = "allreduce", .begin_ns = 20, .ranks = "[0, 1]"},
        {.name = "allreduce", .begin_ns = 30, .ranks = "[0, 1]", .seq = GIVEN(5)},
        {.name = "allreduce", .begin_ns = 40, .ranks = "[0, 1]"},
        {.name = "send", .begin_ns = 50, .ranks = "[0, 1]", .dst = GIVEN(1)},
    };
    ground g = open_ground();
    tm_match_input input = collect_rank(&g, 0, kernels, COUNT(kernels), 2);
    assert_int_equal(input.records.n, 5);
    /* without answers */
    assert_int_equal(tm_match_drop(&input, NULL, 0, &g.err), TM_OK);
    assert_int_equal(input.records.n, 2);
    assert_int_equal(record_at(&input, 0)->way, TM_MATCH_COMMS_ID);
    assert_int_equal(record_at(&input, 1)->way, TM_MATCH_SEQ);
    assert_int_equal(input.loose.n, 2); /* kernels without a number are left for alignment */
    assert_int_equal(n_left_out(&input), 1);
    assert_int_equal(((tm_left_out *)input.left_out.data)->reason, TM_UNMATCHED_TRANSFERS);
    tm_match_input_free(&input);
    close_ground(&g);
}

TEST(a_rank_is_answered_by_its_own_sequence) {
    static const comm_spec kernel = {.name = "allreduce", .ranks = "[0, 1]"};
    ground g = open_ground();
    for (int agrees = 0; agrees < 2; agrees++) {
        tm_match_input input = collect_rank(&g, 1, &kernel, 1, 2);
        tm_sequence own = *(const tm_sequence *)input.sequences.data;
        tm_sequence answers[] = {own, own, own};
        answers[0].rank = 2; /* the answers for another rank and another stream are the opposite */
        answers[1].stream = 1;
        answers[0].agrees = answers[1].agrees = !agrees;
        answers[2].agrees = agrees;
        assert_int_equal(tm_match_drop(&input, answers, COUNT(answers), &g.err), TM_OK);
        assert_int_equal(input.records.n, agrees);
        assert_int_equal(input.loose.n, !agrees);
        tm_match_input_free(&input);
    }
    close_ground(&g);
}

RUN_TESTS()

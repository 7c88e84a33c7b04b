/* Builds timelines from traces: tracks, order, spans, roles, collectives, the device. */
#include "timeline_fixture.h"

#include "timeline/idents.h"

/* Category, name, begin, duration, correlation, thread or stream, process or device. */
#define OP(name, begin, duration, tid, pid)                                                        \
    { TM_CAT_CPU_OP, name, begin, duration, 0, tid, pid, NULL, TM_DURATION }
#define CALL(name, begin, correlation)                                                             \
    { TM_CAT_RUNTIME, name, begin, 1, correlation, 1, 1, NULL, TM_DURATION }
#define KERNEL(name, begin, duration, correlation, stream, device)                                 \
    { TM_CAT_KERNEL, name, begin, duration, correlation, stream, device, NULL, TM_DURATION }
#define COLLECTIVE(category, name, begin, collective)                                              \
    { category, name, begin, 5, 0, 7, 0, collective, TM_DURATION }

TEST(gpu_streams_come_first_and_tracks_are_in_order_of_their_numbers) {
    static const event_spec events[] = {
        OP("p10 t3", 0, 1, 3, 10),        OP("p9 t20", 0, 1, 20, 9),
        KERNEL("d1 s7", 0, 1, 0, 7, 1),   KERNEL("d0 s100", 0, 1, 0, 100, 0),
        OP("p9 t3", 0, 1, 3, 9),          KERNEL("d0 s20", 0, 1, 0, 20, 0),
        KERNEL("d10 s0", 0, 1, 0, 0, 10), OP("p0 t20, as the stream", 0, 1, 20, 0),
        KERNEL("d2 s7", 0, 1, 0, 7, 2),
    };
    static const struct {
        const char *name;
        int kind, device;
        int64_t stream;
    } expected[] = {
        {"d0 s20", TM_TRACK_GPU, 0, 20},  {"d0 s100", TM_TRACK_GPU, 0, 100},
        {"d1 s7", TM_TRACK_GPU, 1, 7},    {"d2 s7", TM_TRACK_GPU, 2, 7},
        {"d10 s0", TM_TRACK_GPU, 10, 0},  {"p0 t20, as the stream", TM_TRACK_CPU, -1, -1},
        {"p9 t3", TM_TRACK_CPU, -1, -1},  {"p9 t20", TM_TRACK_CPU, -1, -1},
        {"p10 t3", TM_TRACK_CPU, -1, -1},
    };
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    assert_int_equal(t.n_tracks, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(t.tracks[i].kind, expected[i].kind);
        assert_int_equal(t.tracks[i].device, expected[i].device);
        assert_int_equal(t.tracks[i].stream, expected[i].stream);
        assert_int_equal(t.tracks[i].first, i);
        assert_int_equal(t.tracks[i].count, 1);
        assert_name(&g, t.name[t.tracks[i].first], expected[i].name);
    }
    tm_timeline_destroy(&t);
    close_ground(&g);
}

TEST(a_track_ascends_in_begin_with_parents_before_their_children) {
    static const event_spec events[] = {
        OP("other", 3, 1, 2, 1),
        OP("leaf", 10, 2, 1, 1),
        OP("child", 10, 20, 1, 1),
        OP("parent", 10, 90, 1, 1),
        OP("twin 1", 50, 5, 1, 1),
        OP("twin 2", 50, 5, 1, 1),
        OP("first", -7, 3, 1, 1),
        {TM_CAT_CPU_INSTANT, "instant", 50, 0, 0, 1, 1, NULL, TM_INSTANT},
    };
    static const char *const expected[] = {"first",  "parent", "child",   "leaf",
                                           "twin 1", "twin 2", "instant", "other"};
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    assert_int_equal(t.n_events, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_name(&g, t.name[i], expected[i]);
    assert_int_equal(t.begin_ns[0], -7);
    assert_int_equal(t.duration_ns[1], 90);
    assert_int_equal(t.category[6], TM_CAT_CPU_INSTANT);
    assert_int_equal(t.kind[6], TM_INSTANT);
    assert_int_equal(t.kind[7], TM_DURATION);
    assert_int_equal(t.tracks[0].count, 7);
    assert_int_equal(t.tracks[1].first, 7);
    assert_int_equal(t.tracks[1].count, 1);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

TEST(launches_and_attributes_follow_their_events_to_their_rows) {
    static const event_spec events[] = {
        CALL("c2", 20, 2),
        KERNEL("k2", 50, 5, 2, 7, 0),
        CALL("c1", 10, 1),
        KERNEL("k1", 40, 5, 1, 7, 0),
        {TM_CAT_MEMCPY, "copy", 30, 5, 2, 7, 0, NULL, TM_DURATION},
    };
    /* the rows are copy, k1, k2 of the stream, then c1, c2 of the thread */
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    static const uint32_t launches[] = {4, 3, 4, TM_NO_EVENT, TM_NO_EVENT};
    assert_memory_equal(t.launch, launches, sizeof launches);
    const tm_kernel_attr *kernels = t.attrs[TM_ATTR_KERNEL];
    const tm_launch_attr *calls = t.attrs[TM_ATTR_LAUNCH];
    assert_int_equal(t.n_attrs[TM_ATTR_KERNEL], 2);
    assert_int_equal(t.n_attrs[TM_ATTR_LAUNCH], 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(kernels[i].event, 1 + i);
        assert_int_equal(kernels[i].correlation, 1 + i);
        assert_int_equal(calls[i].event, 3 + i);
        assert_int_equal(calls[i].correlation, 1 + i);
    }
    assert_int_equal(t.n_attrs[TM_ATTR_COPY], 1);
    assert_int_equal(((const tm_copy_attr *)t.attrs[TM_ATTR_COPY])->event, 0);
    assert_int_equal(t.n_attrs[TM_ATTR_MEMORY], 0);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

/* Two spans of one rank have the same correlation ids, and list their threads in another order. */
static const event_spec early_events[] = {CALL("c1", 10, 1), KERNEL("k1", 20, 80, 1, 7, 0),
                                          OP("op", 0, 100, 2, 1)};
static const event_spec late_events[] = {OP("op", 200, 100, 2, 1), OP("new thread", 210, 5, 3, 1),
                                         KERNEL("k1", 220, 50, 1, 7, 0), CALL("c1 again", 212, 1),
                                         KERNEL("k2", 280, 30, 2, 7, 0)};

static void check_joined(ground *g, const tm_timeline *t) {
    /* the rows are k1, k1, k2 | c1, c1 again | op, op | new thread */
    static const int64_t begins[] = {20, 220, 280, 10, 212, 0, 200, 210};
    static const uint32_t launches[] = {3,           4,           TM_NO_EVENT, TM_NO_EVENT,
                                        TM_NO_EVENT, TM_NO_EVENT, TM_NO_EVENT, TM_NO_EVENT};
    assert_int_equal(t->n_events, 8);
    assert_int_equal(t->n_tracks, 4);
    assert_memory_equal(t->begin_ns, begins, sizeof begins);
    assert_memory_equal(t->launch, launches, sizeof launches);
    const tm_kernel_attr *kernels = t->attrs[TM_ATTR_KERNEL];
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(kernels[i].event, i);
    assert_int_equal(kernels[2].correlation, 2);
    static const int32_t registers[] = {40, 32, 40};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(tm_kernel_shape(t, &kernels[i])->registers, registers[i]);
    assert_int_equal(t->n_shapes, 3); /* including the launch shape of make_trace */
    assert_int_equal(t->counts[TM_COUNT_UNLINKED], 1);
    assert_int_equal(t->counts[TM_COUNT_DUPLICATE_CORRELATION], 0);
    assert_int_equal(t->n_spans, 2);
    static const int64_t spans[2][4] = {{0, 100, 20, 100}, {200, 310, 220, 310}};
    for (size_t i = 0; i < 2; i++) {
        const tm_span *is = &t->spans[i];
        const int64_t found[] = {is->begin_ns, is->end_ns, is->gpu_begin_ns, is->gpu_end_ns};
        assert_name(g, is->source, i == 0 ? "early.json" : "late.json");
        assert_memory_equal(found, spans[i], sizeof found);
    }
    assert_int_equal(t->spans[0].n_durations, 3);
    assert_int_equal(t->spans[0].n_gpu_events, 1);
    int64_t begin = 0, end = 0;
    assert_true(tm_timeline_range(t, &begin, &end));
    assert_int_equal(begin, 0);
    assert_int_equal(end, 310);
}

TEST(spans_are_joined_without_crossing_their_correlations) {
    for (int given = 0; given < 2; given++) { /* in order of time, then reversed */
        ground g = open_ground();
        tm_trace early = make_trace(&g, "early.json", early_events, COUNT(early_events), 0);
        tm_trace late = make_trace(&g, "late.json", late_events, COUNT(late_events), 0);
        set_shape(&early, 0, (tm_launch_shape){.registers = 40});
        set_shape(&late, 0, (tm_launch_shape){.registers = 32});
        set_shape(&late, 1, (tm_launch_shape){.registers = 40});
        early.counts[TM_COUNT_NO_TIME] = 2;
        late.counts[TM_COUNT_NO_TIME] = 3;
        late.counts[TM_COUNT_FLOW] = 40;
        late.truncated = early.left_out = late.left_out = true;
        tm_trace *traces[] = {given ? &late : &early, given ? &early : &late};
        tm_timeline t;
        assert_int_equal(tm_timeline_build(traces, 2, 5, &g.context, &t, &g.err), TM_OK);
        assert_false(early.left_out || late.left_out);
        check_joined(&g, &t);
        assert_int_equal(t.rank, 5);
        assert_true(t.truncated);
        assert_int_equal(t.counts[TM_COUNT_NO_TIME], 5);
        assert_int_equal(t.counts[TM_COUNT_FLOW], 40);
        assert_int_equal(tm_timeline_count(&t, TM_DIAGNOSTIC_SKIPPED),
                         5);                                 /* flows are not counted */
        assert_int_equal(early.events.n + late.events.n, 0); /* they are in the timeline now */
        tm_timeline_destroy(&t);
        close_ground(&g);
    }
}

/* An epoch in 2025, three months, an hour and a millisecond, in ns. */
#define EPOCH INT64_C(1760000000000000000)
#define MONTHS INT64_C(7776000000000000)
#define HOUR INT64_C(3600000000000)
#define MS INT64_C(1000000)
#define LOST(begin, duration, correlation) KERNEL("lost", begin, duration, correlation, 7, 0)

TEST(events_of_a_time_that_the_profiler_did_not_know_are_left_out) {
    static const struct {
        int64_t base_ns;
        event_spec events[10]; /* the list ends at the first event without a name */
        int64_t n_work, n_other;
    } cases[] = {
        /* lost events begin and end at 0 or -1, in ns or us, on a clock that counts from 1970 */
        {-1,
         {LOST(0, 0, 1), CALL("call", EPOCH, 1), LOST(-1, 0, 2), LOST(-1000, 0, 3),
          CALL("call", EPOCH + 5, 4), KERNEL("k", EPOCH + 9, 3, 4, 7, 0), OP("lost", 0, 0, 2, 1)},
         3,
         1},
        /* the same if times are relative to a base that is up to three months earlier */
        {EPOCH,
         {LOST(EPOCH, 0, 1), LOST(EPOCH, 0, 2), LOST(EPOCH, 0, 3), LOST(EPOCH, 7, 4),
          CALL("call", EPOCH + MONTHS, 4), CALL("call", EPOCH + MONTHS + 5, 5),
          KERNEL("k", EPOCH + MONTHS + 9, 0, 5, 7, 0)},
         4,
         0},
        /* a device's clock that was never set: its times are hours after the device started */
        {-1,
         {LOST(HOUR, 5, 1), LOST(HOUR + 6, 5, 2), LOST(HOUR + 12, 5, 3), CALL("call", EPOCH, 1),
          OP("op", EPOCH + 5, 1, 2, 1)},
         3,
         0},
        /* one corrupted time, on a host that has been up for an hour */
        {-1,
         {CALL("call", HOUR, 1), KERNEL("k", HOUR + 5, 5, 1, 7, 0), OP("lost", EPOCH, 5, 2, 1),
          OP("op", HOUR, 1, 2, 1), OP("lost", 0, 0, 2, 1), OP("op", HOUR + 9, 1, 2, 1),
          OP("op", HOUR + 10, 1, 2, 1), OP("op", HOUR + 11, 1, 2, 1), OP("op", HOUR + 12, 1, 2, 1)},
         0,
         2},
        /* times count from the start of the recording: no kernel begins ms before its launch, and
         * no event of length 0 begins ms before all others */
        {-1,
         {OP("op", 0, 0, 2, 1), LOST(0, 6 * MS, 1), LOST(0, 0, 2), CALL("call", 5 * MS, 1),
          CALL("call", 6 * MS, 3), KERNEL("k", 7 * MS, 1, 3, 7, 0), LOST(0, 0, 0)},
         3,
         0},
        /* if a clock begins at 0, events at 0 may be right if there are others near them */
        {-1,
         {OP("first", 0, 0, 2, 1), KERNEL("k", 0, 0, 0, 7, 0), CALL("call", 10, 1),
          KERNEL("k", MS, 5, 1, 7, 0), OP("before", -1, 0, 2, 1)},
         0,
         0},
        {-1,
         {KERNEL("k", 0, 0, 1, 7, 0), CALL("call", MS / 2, 1),
          OP("after a pause", 5000 * MS, 1, 2, 1), OP("last", 8000 * MS, 1, 2, 1)},
         0,
         0},
        {EPOCH, {OP("at the base", EPOCH, 0, 2, 1), OP("op", EPOCH + 500 * MS, 1, 2, 1)}, 0, 0},
        {-1, {OP("op", 0, 0, 2, 1), KERNEL("all that there is", 0, 0, 0, 7, 0)}, 0, 0},
        /* a length of 0 is not an error if the tick of the clock is unknown */
        {-1, {CALL("call", EPOCH, 1), KERNEL("k", EPOCH + 5, 0, 1, 7, 0)}, 0, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        ground g = open_ground();
        size_t n = 0, n_calls = 0;
        while (n < COUNT(cases[i].events) && cases[i].events[n].name)
            n++;
        tm_trace trace = make_trace(&g, "t.json", cases[i].events, n, 0), *traces[] = {&trace};
        trace.base_ns = cases[i].base_ns;
        tm_timeline t;
        assert_int_equal(tm_timeline_build(traces, 1, 0, &g.context, &t, &g.err), TM_OK);
        print_message("case %zu\n", i);
        assert_int_equal(t.counts[TM_COUNT_UNKNOWN_WORK_TIME], cases[i].n_work);
        assert_int_equal(t.counts[TM_COUNT_UNKNOWN_TIME], cases[i].n_other);
        assert_int_equal(t.n_events, n - (size_t)(cases[i].n_work + cases[i].n_other));
        for (uint32_t row = 0; row < t.n_events; row++) {
            const char *name = tm_names_text(g.names, t.name[row]).bytes;
            assert_string_not_equal(name, "lost");
            n_calls += strcmp(name, "call") == 0;
            if (t.launch[row] != TM_NO_EVENT)
                assert_name(&g, t.name[t.launch[row]], "call");
        }
        assert_int_equal(t.n_attrs[TM_ATTR_LAUNCH], n_calls); /* lost events lose their rows */
        tm_timeline_destroy(&t);
        close_ground(&g);
    }
}

TEST(work_without_a_duration_is_left_out_where_the_clock_would_tell_a_short_one) {
    static const struct {
        int64_t tick_ns;
        int64_t shortest; /* duration of the shortest of 20 kernels [ticks of the device's clock];
                             0: these 20 are absent, so every kernel has length 0 */
        int64_t host_tick_ns;
        int n_zero, n_lost;
    } cases[] = {
        {1, 1203, 1000, 1, 1},   /* current GPUs */
        {40, 20, 1, 3, 3},       /* the shortest kernel takes 800 ns */
        {1000, 1, 1, 30, 0},     /* kernels take 1 to 20 us, so others may take less than 1 us */
        {1000, 1, 1000, 30, 0},  /* the same with any tick of the host */
        {1000, 100, 1000, 2, 2}, /* no kernel takes less than 100 us */
        {1, 1, 1, 30, 0},        /* a TPU's shortest instruction takes 1 ns */
        {1, 16, 1, 8, 0},     /* one kernel of 16 ns shows that 8 others of length 0 may be real */
        {1, 16, 1, 9, 9},     /* but not that 9 others are */
        {1, 0, 1, 5, 5},      /* no kernel has a known end */
        {1, 0, 1000, 15, 0},  /* with a host's tick of 1 us, all kernels may be short, */
        {1, 0, 1000, 16, 16}, /* unless there are many */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        ground g = open_ground();
        event_spec events[80];
        size_t n = 0;
        for (int64_t k = 0; k < 20; k++) {
            events[n++] = (event_spec)OP("op", EPOCH + k, (k + 3) * cases[i].host_tick_ns, 1, 1);
            if (cases[i].shortest > 0)
                events[n++] = (event_spec)KERNEL(
                    "k", EPOCH + k * MS, (cases[i].shortest + k) * cases[i].tick_ns, 0, 7, 0);
        }
        for (int k = 0; k < cases[i].n_zero; k++)
            events[n++] = (event_spec)KERNEL("zero", EPOCH + k, 0, 0, 8, 0);
        tm_timeline t = build_one(&g, 0, events, n);
        print_message("case %zu\n", i);
        assert_int_equal(t.counts[TM_COUNT_UNKNOWN_WORK_TIME], cases[i].n_lost);
        assert_int_equal(t.n_events, n - (size_t)cases[i].n_lost);
        tm_timeline_destroy(&t);
        close_ground(&g);
    }
}

static void add_row(tm_trace *trace, tm_attr attr, const void *row) {
    assert_non_null(tm_vec_append(&trace->attrs[attr], row, 1));
}

/* 16 kernels, one each ms. The last n_late of them start later. 10 times the span of the others is
 * at most 160 ms, so 1 s is the limit, and an eighth of them is 2. */
TEST(work_that_starts_long_after_all_else_has_no_known_time) {
    static const struct {
        int n_late;
        int64_t by_ms;
        bool launched;
        int64_t n_unknown, n_far;
    } cases[] = {{1, 18000000, true, 1, 0}, {2, 1017, true, 2, 0},  {1, 999, true, 0, 0},
                 {3, 1017, true, 0, 3},     {1, 1017, false, 0, 1}, {16, 5000, true, 0, 16}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        ground g = open_ground();
        event_spec events[32];
        for (int64_t k = 0; k < 16; k++) {
            const bool late = k >= 16 - cases[i].n_late;
            const int64_t at = EPOCH + (k + (late ? cases[i].by_ms : 0)) * MS;
            const int64_t id = late && !cases[i].launched ? 99 : k + 1;
            events[2 * k] = (event_spec)CALL("call", EPOCH + k * MS, k + 1);
            events[2 * k + 1] = (event_spec)KERNEL("k", at + 10, 100, id, 7, 0);
        }
        tm_timeline t = build_one(&g, 0, events, 32);
        print_message("case %zu\n", i);
        assert_int_equal(t.counts[TM_COUNT_UNKNOWN_WORK_TIME], cases[i].n_unknown);
        assert_int_equal(t.counts[TM_COUNT_FAR_TIME], cases[i].n_far);
        assert_int_equal(t.n_events, 32 - cases[i].n_unknown);
        tm_timeline_destroy(&t);
        close_ground(&g);
    }
}

TEST(a_kernel_that_is_recorded_twice_counts_once) {
    static const event_spec events[] = {
        CALL("cudaLaunchKernel", 10, 1), KERNEL("k", 20, 5, 1, 7, 0), KERNEL("k", 20, 5, 1, 7, 0),
        KERNEL("k", 25, 5, 1, 7, 0), /* begins later */
        CALL("cudaGraphLaunch", 30, 2),  KERNEL("k", 40, 5, 2, 7, 0), KERNEL("k", 40, 5, 2, 7, 0),
    };
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    int64_t n = 0;
    for (size_t row = 0; row < t.n_events; row++)
        n += t.role[row] == TM_ROLE_COMPUTE;
    assert_int_equal(n, 4);
    assert_int_equal(t.counts[TM_COUNT_REPEATED], 1);
    assert_int_equal(t.counts[TM_COUNT_STREAM_OVERLAP], 1); /* of the graph */
    tm_timeline_destroy(&t);
    close_ground(&g);
}

TEST(waits_name_the_calls_of_their_own_trace) {
    /* Two spans have the same correlation ids. Rows 0 to 2 are the stream's waits at 60, 1050 and
     * 1060. The thread's events follow: at 20 and 30, then 1020 and 1030. */
    static const event_spec events[] = {
        {TM_CAT_RUNTIME, "cudaStreamWaitEvent", 30, 2, 4, 100, 1, NULL, TM_DURATION},
        {TM_CAT_CUDA_SYNC, "Stream Wait Event", 60, 2, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_RUNTIME, "cudaEventRecord", 20, 2, 3, 100, 1, NULL, TM_DURATION},
        {TM_CAT_CUDA_SYNC, "Stream Sync", 50, 2, 0, 7, 0, NULL, TM_DURATION}, /* only in trace b */
    };
    static const tm_wait_attr expected[] = {
        {.event = 0, .call = 4, .record = 3},
        {.event = 0, .call = 3, .record = TM_NO_EVENT}, /* the record came after the wait */
        {.event = 1, .call = TM_NO_EVENT, .record = TM_NO_EVENT},
        {.event = 2, .call = 6, .record = 5},
    };
    const tm_wait_attr wait = {.correlation = 4, .record_correlation = 3, .event = 1};
    const tm_wait_attr late = {.correlation = 3, .record_correlation = 4, .event = 1};
    const tm_wait_attr lost = {/* the record of this wait is not in the trace */
                               .correlation = 9,
                               .event = 3,
                               .on_stream = -1,
                               .kind = TM_WAIT_STREAM_WAIT};
    for (int given = 0; given < 2; given++) { /* in order of time, then reversed */
        ground g = open_ground();
        tm_trace a = make_trace(&g, "a", events, 3, 0);
        tm_trace b = make_trace(&g, "b", events, 4, 1000);
        add_row(&a, TM_ATTR_WAIT, &wait);
        add_row(&a, TM_ATTR_WAIT, &late);
        add_row(&b, TM_ATTR_WAIT, &wait);
        add_row(&b, TM_ATTR_WAIT, &lost);
        tm_trace *traces[] = {given ? &b : &a, given ? &a : &b};
        tm_timeline t;
        assert_int_equal(tm_timeline_build(traces, 2, 0, &g.context, &t, &g.err), TM_OK);
        assert_int_equal(t.n_attrs[TM_ATTR_WAIT], COUNT(expected));
        const tm_wait_attr *waits = t.attrs[TM_ATTR_WAIT];
        for (size_t i = 0; i < COUNT(expected); i++)
            assert_true(waits[i].event == expected[i].event && waits[i].call == expected[i].call &&
                        waits[i].record == expected[i].record);
        assert_int_equal(t.counts[TM_COUNT_LATER_RECORD], 1);
        assert_int_equal(t.counts[TM_COUNT_UNKNOWN_RECORD], 1);
        assert_int_equal(t.launch[0], TM_NO_EVENT);
        assert_int_equal(t.counts[TM_COUNT_UNLINKED], 0);
        tm_timeline_destroy(&t);
        close_ground(&g);
    }
}

TEST(what_the_trace_says_of_itself_is_kept) {
    ground g = open_ground();
    tm_trace trace = make_trace(&g, "a.json", early_events, COUNT(early_events), 0);
    trace.host = name_of(&g, "node7");
    describe(&g, &trace, "{\"schemaVersion\": 1, \"ids\": [7, 8]}");
    trace.world_size = 16;
    trace.rank = 3; /* the caller sets the rank, because a rank map may differ */
    tm_trace *traces[] = {&trace};
    tm_timeline t;
    assert_int_equal(tm_timeline_build(traces, 1, 12, &g.context, &t, &g.err), TM_OK);
    assert_int_equal(t.rank, 12);
    assert_int_equal(t.world_size, 16);
    assert_name(&g, t.host, "node7");
    assert_string_equal(t.metadata, "{\"schemaVersion\":1,\"ids\":\"@list 0\"}");
    assert_int_equal(t.n_metadata, strlen(t.metadata));
    assert_int_equal(t.n_metadata_lists, 1);
    assert_name(&g, t.metadata_lists[0], "[7, 8]");
    assert_name(&g, t.format, "kineto");
    assert_false(t.truncated);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

TEST(traces_that_cover_one_time_stop_the_run_and_both_are_named) {
    static const event_spec first[] = {OP("a", 0, 100, 1, 1)}, second[] = {OP("b", 99, 50, 1, 1)};
    ground g = open_ground();
    tm_trace a = make_trace(&g, "first.json", first, 1, 0);
    tm_trace b = make_trace(&g, "second.json", second, 1, 0);
    tm_trace *traces[] = {&a, &b};
    tm_timeline t = {.rank = 77};
    assert_int_equal(tm_timeline_build(traces, 2, 4, &g.context, &t, &g.err), TM_ERR_INPUT);
    assert_int_equal(t.rank, 77); /* set only on success */
    assert_int_equal(g.err.status, TM_ERR_INPUT);
    assert_int_equal(g.err.offset, -1);
    assert_string_equal(g.err.path, "second.json");
    assert_string_equal(g.err.message,
                        "covers the same time of rank 4 as first.json: merge two runs separately "
                        "(tmerge diff compares them), give the ranks with --rank-map, or keep only "
                        "the first with --skip-bad");
    assert_int_equal(a.events.n + b.events.n, 0);
    close_ground(&g);
}

TEST(an_overlapping_trace_can_be_left_out_and_its_events_are_counted) {
    static const event_spec first[] = {OP("a", 0, 100, 1, 1)},
                            second[] = {OP("b", 50, 10, 1, 1), OP("c", 60, 10, 1, 1)},
                            third[] = {OP("d", 100, 10, 1, 1)}, /* touching spans do not overlap */
        fourth[] = {OP("e", -9, 9, 1, 1)};
    ground g = open_ground();
    g.context.skip_overlapping = true;
    tm_trace a = make_trace(&g, "a", first, 1, 0), b = make_trace(&g, "b", second, 2, 0),
             c = make_trace(&g, "c", third, 1, 0), d = make_trace(&g, "d", fourth, 1, 0);
    b.counts[TM_COUNT_NO_NAME] = 9; /* not counted, because its trace is left out */
    tm_trace *traces[] = {&a, &b, &c, &d};
    tm_timeline t;
    a.left_out = c.left_out = d.left_out = true;
    assert_int_equal(tm_timeline_build(traces, 4, 0, &g.context, &t, &g.err), TM_OK);
    assert_false(a.left_out);
    assert_true(b.left_out);
    assert_false(c.left_out || d.left_out);
    assert_int_equal(t.n_spans, 3);
    assert_int_equal(t.n_events, 3);
    assert_name(&g, t.name[0], "e");
    assert_name(&g, t.name[1], "a");
    assert_name(&g, t.name[2], "d");
    assert_int_equal(t.counts[TM_COUNT_OVERLAPPING_TRACE], 2);
    assert_int_equal(t.counts[TM_COUNT_NO_NAME], 0);
    assert_int_equal(tm_timeline_count(&t, TM_DIAGNOSTIC_SKIPPED), 2);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

TEST(what_the_device_did_has_no_end_beyond_the_next_recording) {
    /* The next recording began at 500. Only "k" and the range around it end after 500, so these two
     * events are left out. The kernel that ends exactly at 500 stays. */
    static const event_spec first[] = {
        CALL("call", 1, 1),
        CALL("call", 2, 2),
        KERNEL("k", 10, 900, 1, 7, 0),
        {TM_CAT_GPU_ANNOTATION, "mark", 10, 900, 0, 7, 0, NULL, TM_DURATION},
        KERNEL("k", 20, 480, 2, 7, 0)};
    static const event_spec second[] = {OP("op", 500, 20, 1, 1)};
    for (int given = 0; given < 2; given++) { /* in order of time, then reversed */
        ground g = open_ground();
        tm_trace a = make_trace(&g, "a", first, COUNT(first), 0);
        tm_trace b = make_trace(&g, "b", second, 1, 0);
        tm_trace *traces[] = {given ? &b : &a, given ? &a : &b};
        tm_timeline t;
        assert_int_equal(tm_timeline_build(traces, 2, 0, &g.context, &t, &g.err), TM_OK);
        assert_int_equal(t.n_events, 4);
        assert_int_equal(t.counts[TM_COUNT_UNKNOWN_WORK_TIME], 1);
        assert_int_equal(t.counts[TM_COUNT_UNKNOWN_TIME], 1);
        assert_int_equal(t.spans[0].end_ns, 500);
        assert_int_equal(t.spans[0].gpu_begin_ns, 20);
        tm_timeline_destroy(&t);
        close_ground(&g);
    }
}

TEST(traces_without_durations_overlap_nothing) {
    static const event_spec first[] = {OP("a", -50, 100, 1, 1)},
                            second[] = {{TM_CAT_CPU_INSTANT, "i", 10, 0, 0, 1, 1, NULL, TM_INSTANT},
                                        {TM_CAT_TRACE, "Trace", 0, 99, 0, 1, 2, NULL, TM_DURATION}};
    ground g = open_ground();
    tm_trace a = make_trace(&g, "a", first, 1, 0), b = make_trace(&g, "b", second, 2, 0),
             c = make_trace(&g, "c", NULL, 0, 0);
    tm_trace *traces[] = {&a, &b, &c};
    tm_timeline t;
    assert_int_equal(tm_timeline_build(traces, 3, 0, &g.context, &t, &g.err), TM_OK);
    assert_int_equal(t.n_spans, 3);
    assert_int_equal(t.n_events, 3);
    int64_t begin = 0, end = 0;
    assert_true(tm_timeline_range(&t, &begin, &end));
    assert_int_equal(begin, -50);
    assert_int_equal(end, 50);
    tm_timeline_destroy(&t);
    t = build_one(&g, 0, NULL, 0);
    assert_int_equal(t.n_tracks, 0);
    assert_int_equal(t.device, -1);
    assert_false(tm_timeline_range(&t, &begin, &end));
    tm_timeline_destroy(&t);
    close_ground(&g);
}

TEST(every_gpu_event_has_its_role) {
    static const event_spec events[] = {
        KERNEL("gemm", 0, 5, 0, 7, 0),
        KERNEL("ncclDevKernel_AllReduce", 10, 5, 0, 7, 0),
        COLLECTIVE(TM_CAT_KERNEL, "my kernel", 20, "_allgather_base"), /* by metadata only */
        {TM_CAT_MEMCPY, "Memcpy", 30, 5, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_MEMSET, "nccl memset", 40, 5, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_GPU_ANNOTATION, "nccl annotation", 50, 5, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_CUDA_SYNC, "sync", 60, 5, 0, 7, 0, NULL, TM_DURATION},
        COLLECTIVE(TM_CAT_CPU_OP, "record_param_comms", 70, "allreduce"),
        {TM_CAT_KERNEL, "nccl instant", 80, 0, 0, 7, 0, NULL, TM_INSTANT},
        COLLECTIVE(TM_CAT_MEMCPY, "Memcpy of a group", 90, "allreduce"),
    };
    static const tm_role expected[] = {
        TM_ROLE_COMPUTE, TM_ROLE_COMMUNICATION, TM_ROLE_COMMUNICATION, TM_ROLE_MEMORY,
        TM_ROLE_MEMORY,  TM_ROLE_NONE,          TM_ROLE_NONE,          TM_ROLE_NONE,
        TM_ROLE_NONE,    TM_ROLE_MEMORY};
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    for (size_t i = 0; i < COUNT(events); i++)
        assert_int_equal(t.role[row_named(&g, &t, events[i].name)], expected[i]);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

TEST(every_communication_kernel_has_one_collective_row) {
    static const event_spec events[] = {
        COLLECTIVE(TM_CAT_KERNEL, "ncclDevKernel_Generic", 40, "reduce_scatter_tensor"),
        KERNEL("ncclDevKernel_Broadcast", 30, 5, 0, 7, 0),
        KERNEL("gemm", 20, 5, 0, 7, 0),
        KERNEL("cross_device_reduce_1stage", 10, 5, 0, 7, 0),
        COLLECTIVE(TM_CAT_KERNEL, "ncclDevKernel_AllReduce", 50, "unheard_of"),
        COLLECTIVE(TM_CAT_CPU_OP, "record_param_comms", 0, "nccl:all_to_all"),
    };
    static const struct {
        const char *event;
        tm_collective_kind kind;
        bool metadata;
    } expected[] = {
        /* by row: the stream, then the thread. `Collective name` gives the kind if present */
        {"cross_device_reduce_1stage", TM_COLL_ALLREDUCE, false},
        {"ncclDevKernel_Broadcast", TM_COLL_BROADCAST, false},
        {"ncclDevKernel_Generic", TM_COLL_REDUCESCATTER, true},
        {"ncclDevKernel_AllReduce", TM_COLL_OTHER, true},
        {"record_param_comms", TM_COLL_ALLTOALL, true},
    };
    ground g = open_ground();
    tm_timeline t = build_one(&g, 0, events, COUNT(events));
    const tm_collective_attr *rows = t.attrs[TM_ATTR_COLLECTIVE];
    assert_int_equal(t.n_attrs[TM_ATTR_COLLECTIVE], COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(rows[i].event, row_named(&g, &t, expected[i].event));
        assert_int_equal(rows[i].kind, expected[i].kind);
        assert_int_equal(rows[i].name != TM_NO_NAME, expected[i].metadata);
    }
    /* What the trace lacks is marked as missing, not 0: rank 0 and group 0 are valid. */
    const tm_collective_attr *added = &rows[0];
    const int64_t missing[] = {added->seq,        added->in_elements, added->out_elements,
                               added->group_size, added->rank_start,  added->rank_stride,
                               added->src_rank,   added->dst_rank};
    for (size_t i = 0; i < COUNT(missing); i++)
        assert_int_equal(missing[i], -1);
    assert_true(added->comms_id == 0 && added->dtype == TM_NO_NAME && added->group == TM_NO_NAME);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

TEST(the_device_is_the_one_with_most_busy_time) {
    static const struct {
        event_spec events[4];
        int32_t device;
    } cases[] = {
        /* 50 ns on two streams at the same time count once */
        {{KERNEL("a", 0, 50, 0, 7, 0), KERNEL("b", 0, 50, 0, 8, 0), KERNEL("c", 0, 60, 0, 7, 1)},
         1},
        /* communication and copies count as busy; annotations and synchronisation do not */
        {{KERNEL("nccl", 0, 30, 0, 7, 3),
          {TM_CAT_MEMCPY, "copy", 30, 30, 0, 8, 3, NULL, TM_DURATION},
          KERNEL("a", 0, 50, 0, 7, 2),
          {TM_CAT_CUDA_SYNC, "sync", 0, 90, 0, 8, 2, NULL, TM_DURATION}},
         3},
        /* if two devices are equally busy, the lowest is chosen */
        {{KERNEL("a", 0, 50, 0, 7, 5), KERNEL("b", 100, 50, 0, 7, 4)}, 4},
        /* an event of length 0 counts */
        {{KERNEL("a", 0, 0, 0, 7, 6)}, 6},
        {{{TM_CAT_CUDA_SYNC, "sync", 0, 90, 0, 8, 2, NULL, TM_DURATION}}, -1},
        {{OP("a", 0, 50, 1, 1)}, -1},
    };
    ground g = open_ground();
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = 0;
        while (n < 4 && cases[i].events[n].name)
            n++;
        tm_timeline t = build_one(&g, 0, cases[i].events, n);
        assert_int_equal(t.device, cases[i].device);
        tm_timeline_destroy(&t);
    }
    close_ground(&g);
}

typedef struct visits {
    size_t n;
    bool seen[64]; /* indexed by id */
} visits;

static void see(void *context, uint32_t *id) {
    visits *v = context;
    v->n++;
    assert_true(*id < COUNT(v->seen));
    v->seen[*id] = true;
    *id += 1000;
}

TEST(every_name_of_a_timeline_is_visited_and_can_be_replaced) {
    static const event_spec events[] = {OP("event", 0, 1, 2, 1)};
    ground g = open_ground();
    tm_trace trace = make_trace(&g, "source", events, 1, 0);
    trace.host = name_of(&g, "host");
    const uint32_t list = name_of(&g, "list");
    assert_non_null(tm_vec_append(&trace.lists, &list, 1));
    tm_track *track = trace.tracks.data;
    track->process_name = name_of(&g, "process");
    track->thread_name = name_of(&g, "thread");
    const tm_collective_attr collective = {
        .name = name_of(&g, "name"),
        .dtype = name_of(&g, "dtype"),
        .group = name_of(&g, "group"),
        .group_description = name_of(&g, "description"),
        .group_ranks = name_of(&g, "ranks"),
        .in_split = name_of(&g, "in"),
        .out_split = name_of(&g, "out"),
    };
    const tm_counter_attr counter = {.series = name_of(&g, "series")};
    add_row(&trace, TM_ATTR_COLLECTIVE, &collective);
    add_row(&trace, TM_ATTR_COUNTER, &counter);
    tm_trace *traces[] = {&trace};
    tm_timeline t;
    assert_int_equal(tm_timeline_build(traces, 1, 0, &g.context, &t, &g.err), TM_OK);
    visits v = {0};
    assert_int_equal(t.n_steps, 1); /* the job's only step */
    t.steps[0].name = name_of(&g, "step");
    t.inferred_host = name_of(&g, "inferred");
    tm_timeline_each_name(&t, see, &v);
    /* Every name except "" is in one field of the timeline: ids 1 to the last. */
    assert_int_equal(v.n, tm_names_count(g.names) - 1);
    assert_false(v.seen[TM_NO_NAME]);
    for (size_t id = 1; id < tm_names_count(g.names); id++)
        assert_true(v.seen[id]);
    assert_int_equal(t.name[0], name_of(&g, "event") + 1000);
    assert_int_equal(t.spans[0].source, name_of(&g, "source") + 1000);
    assert_int_equal(((tm_counter_attr *)t.attrs[TM_ATTR_COUNTER])->series, counter.series + 1000);
    tm_timeline_destroy(&t);
    close_ground(&g);
}

/* A few tracks are searched linearly, many are hashed. Removed tracks must leave nothing behind. */
TEST(tracks_are_reported_by_their_kind_process_and_thread) {
    enum { MANY = 300, KEPT = 290 };
    tm_trace trace;
    tm_trace_init(&trace);
    for (uint32_t times = 0; times < 2; times++)
        for (uint32_t i = 0; i < MANY; i++)
            assert_int_equal(tm_trace_track(&trace, (tm_track_kind)(i % 2), i / 20, i / 2 % 10), i);
    trace.tracks.n = KEPT;
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(tm_trace_find_track(&trace, (tm_track_kind)(i % 2), i / 20, i / 2 % 10),
                         i < KEPT ? i : UINT32_MAX);
    assert_int_equal(tm_trace_track(&trace, TM_TRACK_CPU, 1, 999), KEPT);
    assert_int_equal(tm_trace_find_track(&trace, TM_TRACK_CPU, 1, 999), KEPT);
    assert_int_equal(tm_trace_find_track(&trace, TM_TRACK_GPU, 1, 999), UINT32_MAX);
    tm_trace_free(&trace);
}

RUN_TESTS()

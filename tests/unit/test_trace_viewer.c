/* JSON for the trace viewer of TensorFlow and JAX: how it is recognised, and that it gives the same
 * as the profile that it was made from. Tests of that profile's reader cover the rest. */
#include "trace_text.h"

#define DOCUMENT(events)                                                                           \
    "{'displayTimeUnit':'ns','metadata':{'highres-ticks':true},'traceEvents':[" events ",{}]}"
#define NAME(what, pid, rest, name)                                                                \
    "{'ph':'M','pid':" pid rest ",'name':'" what "','args':{'name':'" name "'}}"
#define PROCESS(pid, name) NAME("process_name", pid, "", name)
#define THREAD(pid, tid, name) NAME("thread_name", pid, ",'tid':" tid, name)
#define EVENT(pid, tid, ts, dur, name, args)                                                       \
    "{'ph':'X','pid':" pid ",'tid':" tid ",'ts':" ts ",'dur':" dur ",'name':'" name                \
    "','args':{" args "}}"

#define GPU PROCESS("1", "/device:GPU:0") "," THREAD("1", "14", "Stream #14(Compute)")
#define HOST PROCESS("701", "/host:CPU") "," THREAD("701", "9", "main/9")
#define KERNEL(ts, dur)                                                                            \
    EVENT("1", "14", ts, dur, "k",                                                                 \
          "'correlation_id':'5','kernel_details':'regs:38 static_shared:0 dynamic_shared:64 "      \
          "grid:160,1,1 block:1024,1,1 occ_pct:62.5'")
#define CALL EVENT("701", "9", "5", "1.5", "cuLaunchKernel", "'correlation_id':'5'")
#define KERNEL_TEXT " 0/14 #5 [160 1 1]x[1024 1 1] 38 64 nan nan occupancy=62.5\n"
#define CALL_TEXT "cuLaunchKernel cuda_runtime 5000+1500 0/9 launches #5\n"

static const tm_format *const format = &tm_format_trace_viewer;

TEST(planes_among_the_processes_tell_the_format) {
    static const struct {
        const char *text;
        bool is;
    } cases[] = {
        {DOCUMENT(GPU "," KERNEL("1", "2")), true},
        {DOCUMENT(HOST), true},
        {"{'traceEvents':[{'ph':'M','pid':1,'name':'process_sort_index','args':{'sort_index':1}},"
         "{'args':{'name':'/host:CPU'},'name':'process_name','ph':'M','pid':1}",
         true},
        /* without metadata, as JAX writes it for Perfetto */
        {"{'displayTimeUnit':'ns','traceEvents':[" GPU "]}", true},
        /* traces of PyTorch have other processes, first events, or first metadata */
        {DOCUMENT(PROCESS("1", "python3") "," HOST), false},
        {DOCUMENT(CALL "," HOST), false},
        {"{'schemaVersion':1,'traceEvents':[{'ph':'X','cat':'cpu_op','name':'a','ts':1}]}", false},
        {"[" GPU "]", false},
        {"{'displayTimeUnit':'ns'}", false},
        {"{'traceEvents':[{'ph':'M','name':'process_name','args':{'name':'/ho", false},
        {"", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("case %zu\n", i);
        assert_int_equal(sniffs(format, cases[i].text), cases[i].is);
    }
}

/* Begin and end are rounded once, from picoseconds: the begin 10.0005 us to 10001 ns, and the end
 * 11.9999999 us to 12000 ns. */
TEST(events_are_those_of_the_profile) {
    static const struct {
        const char *text, *events;
    } cases[] = {
        {DOCUMENT(GPU "," HOST "," KERNEL("10.0005", "1.9994999") "," CALL),
         "k kernel 10001+1999" KERNEL_TEXT CALL_TEXT},
        /* 10.0014999999 us is 10.0015 us with the noise of a double; half a ns is rounded up */
        {DOCUMENT(GPU "," HOST "," KERNEL("10.001499999999999", "1.0000000000000002") "," CALL),
         "k kernel 10002+1000" KERNEL_TEXT CALL_TEXT},
        /* names after the events; numbers as strings; an invalid number */
        {"{'traceEvents':[" EVENT("'1'", "'14'", "1", "2", "k", "'a':{}") "," GPU "," HOST "]}",
         "k kernel 1000+2000 0/14 #0 [-1 -1 -1]x[-1 -1 -1] -1 -1 nan nan\n"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char found[2048];
        print_message("case %zu\n", i);
        reading r = read_unit_text(format, cases[i].text, "runs/n1.trace.json.gz", NULL);
        trace_text(&r, found, sizeof found);
        assert_string_equal(found, cases[i].events);
        assert_int_equal(r.trace.counts[TM_COUNT_NO_EPOCH], r.trace.events.n);
        assert_int_equal(r.trace.counts[TM_COUNT_METADATA], 4);
        assert_name(&r.ground, r.trace.host, "n1");
        close_reading(&r);
    }
}

TEST(devices_with_work_are_ranks) {
    char found[256];
    units_text(
        format,
        DOCUMENT(PROCESS("3", "/device:GPU:1") "," GPU "," PROCESS(
            "5", "/device:GPU:2") "," HOST "," CALL
                                  "," KERNEL("1", "2") "," EVENT("3", "14", "1", "2", "k", "")),
        found, sizeof found);
    /* planes are in the order of the file, ranks in the order of devices */
    assert_string_equal(found, "1:1:-1 0:2:-1 ");
}

/* A core with one run of a program. The run contains one operation. */
#define CORE(pid, number, groups)                                                                  \
    PROCESS(pid, "/device:TPU:" number)                                                            \
    "," THREAD(pid, "2", "XLA Modules") "," THREAD(pid, "3", "XLA Ops") "," EVENT(                 \
        pid, "2", "1", "9", "jit_f(7)",                                                            \
        "'run_id':'4','queue_id':'0'") "," EVENT(pid, "3", "2", "3", "all-reduce.1",               \
                                                 "'hlo_category':'all-reduce','long_name':'%all-"  \
                                                 "reduce.1 = f32[8]{0} all-reduce("                \
                                                 "f32[8]{0} %p), channel_id=1" groups              \
                                                 ", to_apply=%add'")
#define GLOBAL ", use_global_device_ids=true"

/* If all devices of a program are in the file and take part in all of its communication, they are
 * the group. If some may be missing, or their places are unknown, the group is unknown. */
TEST(the_group_of_all_devices_of_a_program_is_known) {
    static const struct {
        const char *first, *second, *group;
        int32_t size;
    } cases[] = {
#define BOTH(groups) CORE("3", "0", groups), CORE("4", "1", groups)
        {BOTH(", replica_groups={{0,1}}" GLOBAL), "cores 0-1", 2},
        {BOTH(", replica_groups=[1,2]<=[2]" GLOBAL), "cores 0-1", 2},
        {CORE("3", "2", ", replica_groups={{1,0}}" GLOBAL),
         CORE("4", "5", ", replica_groups={{1,0}}" GLOBAL), "cores 2,5", 2},
        {BOTH(", replica_groups={{0},{1}}" GLOBAL), "", -1},
        {BOTH(", replica_groups=[2,1]<=[2]" GLOBAL), "", -1},
        {BOTH(", replica_groups={{0,1,2}}" GLOBAL), "", -1},
        {BOTH(", replica_groups=[1,4]<=[4]" GLOBAL), "", -1},
        {BOTH(", replica_groups={{0,1}}"), "", -1},
        {BOTH(GLOBAL), "", -1},
        {CORE("3", "0", ", replica_groups={{0,1}}" GLOBAL), CORE("4", "1", ""), "", -1},
#undef BOTH
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tm_unit unit = {.process = 0, .devices = -1, .rank = -1};
        char text[4096];
        print_message("case %zu\n", i);
        snprintf(text, sizeof text, "{'traceEvents':[%s,%s]}", cases[i].first, cases[i].second);
        reading r = read_unit_text(format, text, "some.json", &unit);
        assert_int_equal(r.trace.attrs[TM_ATTR_COLLECTIVE].n, 1);
        const tm_collective_attr *c = attr_at(&r, TM_ATTR_COLLECTIVE, 0);
        assert_name(&r.ground, c->name, "all-reduce");
        assert_name(&r.ground, c->group, cases[i].group);
        assert_int_equal(c->group_size, cases[i].size);
        close_reading(&r);
    }
}

/* The host queues run 4 in queue 0 of a device. If the device ran it, the call launches its
 * operation. */
TEST(the_call_that_queued_a_program_launches_it) {
#define QUEUED(device)                                                                             \
    "{'traceEvents':[" CORE("4", "1", "") "," HOST "," EVENT(                                      \
        "701", "9", "0", "1", "DoEnqueueProgram",                                                  \
        "'run_id':'4','queue_id':'0','device_ordinal':'" device "'") "]}"
    static const char *const cases[] = {QUEUED("0"), QUEUED("1")};
#undef QUEUED
    for (size_t i = 0; i < COUNT(cases); i++) {
        reading r = read_unit_text(format, cases[i], "some.json", NULL);
        assert_int_equal(tm_trace_link(&r.trace, NULL), TM_OK);
        size_t linked = 0;
        for (size_t k = 0; k < r.trace.events.n; k++)
            linked += event_at(&r, k)->launch != TM_NO_EVENT;
        assert_int_equal(linked, i);
        close_reading(&r);
    }
}

TEST(what_is_not_kept_is_counted) {
    static const struct {
        const char *event;
        tm_count count;
    } cases[] = {
        {"{'ph':'X','pid':1,'tid':14,'name':'a','ts':1}", TM_COUNT_NO_TIME},
        {EVENT("1", "14", "'a'", "1", "a", ""), TM_COUNT_NO_TIME},
        {EVENT("1", "14", "1e30", "1", "a", ""), TM_COUNT_NO_TIME},
        {EVENT("1", "14", "1", "-1", "a", ""), TM_COUNT_NEGATIVE_DURATION},
        {EVENT("1", "14", "1", "1", "a", "'correlation_id':'x'"), TM_COUNT_BAD_VALUE},
        {"{'ph':'b','pid':1,'tid':14,'name':'a','ts':1}", TM_COUNT_OTHER_PHASE},
        {"7", TM_COUNT_NOT_OBJECT},
    };
    char text[2048];
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("case %zu\n", i);
        snprintf(text, sizeof text, DOCUMENT(GPU "," KERNEL("1", "2") ",%s"), cases[i].event);
        reading r = read_unit_text(format, text, "some.json", NULL);
        assert_int_equal(r.trace.counts[cases[i].count], 1);
        close_reading(&r);
    }
}

TEST(a_file_that_lies_beside_its_profile_is_left) {
    static const struct {
        const char *path, *other;
        bool covered;
    } cases[] = {
        {"a/n1.trace.json.gz", "a/n1.xplane.pb", true},
        {"n1.trace.json", "n1.xplane.pb.gz", true},
        {"a/n1.trace.json.gz", "a/n2.xplane.pb", false},
        {"a/n1.trace.json.gz", "b/n1.xplane.pb", false},
        {"a/n1.trace.json.gz", "a/n1.trace.json.gz", false},
        {"a/n11.trace.json.gz", "a/n1.xplane.pb", false},
        {"a/perfetto_trace.json.gz", "a/n1.trace.json.gz", true},
        {"a/perfetto_trace.json.gz", "a/n1.xplane.pb", true},
        {"a/perfetto_trace.json.gz", "b/n1.xplane.pb", false},
        {"a/perfetto_trace.json.gz", "a/n1.json", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("case %zu\n", i);
        assert_int_equal(format->is_covered(cases[i].path, cases[i].other), cases[i].covered);
    }
}

TEST(malformed_text_is_refused_where_it_is) {
    static const malformed cases[] = {
        {"{'traceEvents':[{'ph' 'M'}]}", 22},
        {"{'traceEvents':[{}{}]}", 18},
        {"{'traceEvents':[]} 1", 19},
        {"{'a':1}", 7},
    };
    check_malformed(format, cases, COUNT(cases));
}

TEST(a_trace_that_was_cut_gives_what_it_holds) {
    check_truncation(format, DOCUMENT(GPU "," HOST "," KERNEL("1", "2") "," CALL), NULL);
}

/* The writer keeps the first million events of a file. */
TEST(a_file_of_as_many_events_as_its_writer_keeps_is_cut) {
    static const char event[] =
        ",{\"ph\":\"X\",\"pid\":1,\"tid\":14,\"ts\":1,\"dur\":1,\"name\":\"a\"}";
    enum { LIMIT = 1000000 };
    char start[TRACE_TEXT_MAX];
    size_t size = quoted_text("{'traceEvents':[" GPU, start), step = sizeof event - 1;
    char *bytes = malloc(size + LIMIT * step + 2);
    assert_non_null(bytes);
    memcpy(bytes, start, size);
    for (size_t i = 0; i < LIMIT; i++)
        memcpy(bytes + size + i * step, event, step);
    /* Ends the file after n events: writes "]}" after them. In the second round (n = LIMIT - 1), it
     * overwrites the last event. */
    for (size_t n = LIMIT; n >= (in_full_set() ? LIMIT - 1 : LIMIT); n--) {
        reading r;
        bytes[size + n * step] = ']';
        bytes[size + n * step + 1] = '}';
        assert_int_equal(try_unit(format, bytes, size + n * step + 2, "a", NULL, &r), TM_OK);
        assert_int_equal(r.trace.counts[TM_COUNT_EVENT_LIMIT], n == LIMIT ? LIMIT : 0);
        assert_int_equal(r.trace.truncated, n == LIMIT);
        assert_int_equal(r.trace.events.n, n);
        close_reading(&r);
    }
    free(bytes);
}

RUN_TESTS()

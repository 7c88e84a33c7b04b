/* Traces of torch_npu's profiler: recognition, conversion of events, and launches. */
#include <inttypes.h>
#include <sys/stat.h>

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/calls.h"
#include "readers/ascend/ascend_groups.h"
#include "readers/ascend/ascend_kinds.h"
#include "readers/ascend/ascend_place.h"
#include "trace_text.h"

static const tm_format *const format = &tm_format_ascend;

TEST(times_in_strings_names_of_processes_or_args_tell_the_format) {
    static const struct {
        const char *text;
        bool is;
    } cases[] = {
        {"[{'ph':'X','name':'a','pid':1,'tid':1,'ts':'1.5','dur':1}]", true},
        {"\xEF\xBB\xBF [ {'ph':'s','ts':'1.5'}", true},
        {"[{'ph':'M','name':'process_labels','args':{'labels':'CPU'}},{'ph':'X','ts':'3'}]", true},
        {"[{'ph':'M','name':'process_name','args':{'name':'Ascend Hardware'}}]", true},
        {"[{'ph':'M','name':'process_name','args':{'name':'Python'}}]", false},
        {"[{'ph':'X','name':'a','pid':1,'tid':1,'ts':1.5,'dur':1}]", false},
        {"[{'ph':'X','ts':1.5},{'ph':'M','name':'process_name','args':{'name':'CANN'}}]", true},
        {"[{'ph':'X','ts':1.5,'args':{'Task Type':'AI_CORE'}}]", true},
        {"[{'ph':'X','ts':1.5,'args':{'Input Dims':'8,4;\\r\\n4'}}]", true},
        {"[{'ph':'X','ts':1.5,'args':{'Sequence number':-1}}]", true},
        {"[{'ph':'X','ts':1.5,'cat':'cpu_op'},{'ph':'X','ts':2,'cat':'dequeue'}]", true},
        {"[{'ph':'X','ts':1.5,'args':{'Input Dims':[[8,4]],'Sequence number':3}}]", false},
        {"[{'ph':'X','name':'a','ts':'1.5 s'}]", false},
        {"[{},{'ph':'X','ts':'1.5'}]", false},
        {"{'traceEvents':[{'ph':'X','ts':'1.5'}]}", false},
        {"[]", false},
        {"[{'ph':'X'", false},
        {"", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("case %zu\n", i);
        assert_int_equal(sniffs(format, cases[i].text), cases[i].is);
    }
}

static reading read_ascend(const char *text) {
    return read_unit_text(format, text, "trace_view.json", NULL);
}

/* Writes "name category begin duration pid:tid". For a device event, also writes its device and
 * stream, and for communication also "kind group seq in out type". */
static void event_text(const reading *r, size_t i, char *out, size_t size) {
    const tm_raw_event *e = event_at(r, i);
    const tm_track *track = track_at(r, i);
    const tm_names *names = r->ground.names;
    int n = snprintf(out, size, "%s %s %" PRId64 " %" PRId64 " %s:%s",
                     tm_names_text(names, e->name).bytes, tm_category_word(e->category),
                     e->begin_ns, e->duration_ns, tm_names_text(names, track->pid).bytes,
                     tm_names_text(names, track->tid).bytes);
    if (track->kind == TM_TRACK_GPU)
        n += snprintf(out + n, size - (size_t)n, " %d %" PRId64, track->device, track->stream);
    for (size_t k = 0; k < r->trace.attrs[TM_ATTR_COLLECTIVE].n; k++) {
        const tm_collective_attr *a = attr_at(r, TM_ATTR_COLLECTIVE, k);
        if (a->event == i)
            snprintf(out + n, size - (size_t)n, " %s %s %" PRId64 " %" PRId64 " %" PRId64 " %s",
                     tm_names_text(names, a->name).bytes, tm_names_text(names, a->group).bytes,
                     a->seq, a->in_elements, a->out_elements, tm_names_text(names, a->dtype).bytes);
    }
}

/* Process 7 on device 2. The pid of a layer is 7 * 1024 + layer * 32 + device. */
#define NAMED(pid, name)                                                                           \
    "{'ph':'M','name':'process_name','pid':" #pid ",'args':{'name':'" name "'}}"
#define PROCESSES                                                                                  \
    NAMED(7, "Python")                                                                             \
    "," NAMED(7394, "CANN") "," NAMED(7586, "Ascend Hardware") "," NAMED(7650, "HCCL") "," NAMED(  \
        7906, "Overlap Analysis")
#define DEVICE(name, type)                                                                         \
    "{'ph':'X','name':'" name                                                                      \
    "','pid':7586,'tid':4,'ts':'1.5','dur':0.25,'args':{'Task Type':'" type "'}}"
#define HCCL(name, rest)                                                                           \
    "{'ph':'X','name':'" name                                                                      \
    "','pid':7650,'tid':0,'ts':'2','dur':3,'args':{'data_type':'BFP16','count':8" rest "}}"
#define TASK(what) what " 1500 250 7586:4 2 4"
#define OPERATION(what) what " 2000 3000 7650:0 2 -1"

static const struct {
    const char *text, *event;
} events[] = {
    {DEVICE("MatMul", "AI_CORE"), TASK("MatMul kernel")},
    {DEVICE("a", "MIX_AIV"), TASK("a kernel")},
    {DEVICE("a", "DSA_SQE"), TASK("a kernel")},
    {DEVICE("a", "DVPP_VPC"), TASK("a kernel")},
    {DEVICE("EVENT_WAIT", "AI_CPU"), TASK("EVENT_WAIT kernel")}, /* type decides, not name */
    {DEVICE("Mul66", "Other"), TASK("Mul66 kernel")},
    {DEVICE("MemcopyAsync", "other"), TASK("MemcopyAsync gpu_memcpy")},
    {DEVICE("MEMCPY_ASYNC", "Other"), TASK("MEMCPY_ASYNC gpu_memcpy")},
    {DEVICE("MEMCPY_ASYNC", "PCIE_DMA_SQE"), TASK("MEMCPY_ASYNC gpu_memcpy")},
    {DEVICE("MEMCPY_ASYNC", "SDMA_SQE"), TASK("MEMCPY_ASYNC (DtoD) gpu_memcpy")},
    {DEVICE("SDMA", "SDMA"), TASK("SDMA gpu_user_annotation")},
    {DEVICE("NOTIFY_WAIT", "Other"), TASK("NOTIFY_WAIT gpu_user_annotation")},
    {DEVICE("REDUCE_ASYNC_V2", "Other"), TASK("REDUCE_ASYNC_V2 gpu_user_annotation")},
    {DEVICE("Other", "Other"), TASK("Other gpu_user_annotation")},
    {DEVICE("EVENT_RECORD", "EVENT_RECORD_SQE"), TASK("EVENT_RECORD gpu_user_annotation")},
    {DEVICE("PROFILING_ENABLE", "Other"), TASK("PROFILING_ENABLE gpu_user_annotation")},
    {HCCL("hcom_allReduce__868_0_1", ""),
     OPERATION("hcom_allReduce kernel") " allReduce 868 0 8 8 BFloat16"},
    {HCCL("hcom_allGather__007_12_1", ""),
     OPERATION("hcom_allGather kernel") " allGather 007 12 8 -1 BFloat16"},
    {HCCL("hcom_reduceScatter__1_2_1", ""),
     OPERATION("hcom_reduceScatter kernel") " reduceScatter 1 2 -1 8 BFloat16"},
    {HCCL("hcom_receive__1_2_1", ""), OPERATION("hcom_receive kernel") " recv 1 2 -1 8 BFloat16"},
    /* the sequence numbers of the second iteration come after all of the first: 2^32 + 5 */
    {HCCL("hcom_broadcast__868_5_2", ""),
     OPERATION("hcom_broadcast kernel") " broadcast 868 4294967301 8 8 BFloat16"},
    {HCCL("Notify_Wait", ",'task type':'Notify_Wait'"),
     OPERATION("Notify_Wait gpu_user_annotation")},
    {HCCL("hcom_allReduce__868_0", ""), OPERATION("hcom_allReduce__868_0 gpu_user_annotation")},
    {"{'ph':'X','name':'AscendCL@aclrtMalloc','pid':7394,'tid':9,'ts':'3','dur':1,'args':{'Mode':"
     "'ACL_RTS'}}",
     "AscendCL@aclrtMalloc cuda_runtime 3000 1000 7:9"},
    {"{'ph':'X','cat':'cpu_op','name':'ProfilerStep#5','pid':7,'tid':9,'ts':'3','dur':1}",
     "ProfilerStep#5 user_annotation 3000 1000 7:9"},
    {"{'ph':'X','cat':'dequeue','name':'Dequeue@Mul','pid':7,'tid':9,'ts':'3','dur':1}",
     "Dequeue@Mul cuda_runtime 3000 1000 7:9"},
    {"{'ph':'X','cat':'kernel','name':'a','pid':7,'tid':9,'ts':'3','dur':1}",
     "a other 3000 1000 7:9"}, /* an event on a host thread is not a kernel */
    {"{'ph':'X','cat':'cpu_op','name':'a','pid':7,'tid':9,'ts':3,'dur':'1'}",
     "a cpu_op 3000 1000 7:9"}, /* a number may be written as a string */
    /* digits that a double cannot hold, and digits below 1 ns: half is rounded away from zero */
    {"{'ph':'X','cat':'cpu_op','name':'a','pid':7,'tid':9,'ts':'1736405443905259.291','dur':"
     "1543.3955000000001}",
     "a cpu_op 1736405443905259291 1543396 7:9"},
    {"{'ph':'X','cat':'cpu_op','name':'a','pid':7,'tid':9,'ts':'0.0005','dur':0.0004999999999999}",
     "a cpu_op 1 0 7:9"},
    {"{'ph':'X','cat':'cpu_op','name':'a','pid':7,'tid':9,'ts':'12345678901234.5678','dur':"
     "0.99950000000000000000}",
     "a cpu_op 12345678901234568 1000 7:9"},
};

TEST(an_event_is_what_its_type_and_name_say) {
    for (size_t i = 0; i < COUNT(events); i++)
        for (int named = 0; named < 2; named++) { /* process names before or after the event */
            char text[2048], found[256];
            snprintf(text, sizeof text, "[%s,%s]", named ? PROCESSES : events[i].text,
                     named ? events[i].text : PROCESSES);
            reading r = read_ascend(text);
            event_text(&r, 0, found, sizeof found);
            assert_string_equal(found, events[i].event);
            assert_non_null(strstr(tm_names_text(r.ground.names, r.trace.metadata).bytes, "NPU"));
            close_reading(&r);
        }
}

TEST(numbers_of_calls_are_no_part_of_a_kernels_name) {
    static const struct {
        const char *name, *op, *plain;
    } cases[] = {
        {"Conv2D12", "Conv2D", "Conv2D"},
        {"MaxPoolWithArgmaxV114", "MaxPoolWithArgmaxV1", "MaxPoolWithArgmaxV1"},
        {"AdaptiveAvgPool2d24LeftBmm", "AdaptiveAvgPool2d", "AdaptiveAvgPool2dLeftBmm"},
        {"trans_Cast_10", "Conv2D", "trans_Cast"},
        {"trans_TransData_3", "", "trans_TransData"},
        {"atomic_memset-1_9012_0", "Mul", "atomic_memset-1"},
        {"aclnnMm_MatMulCommon_MatMulV2", "aclnnMm", NULL},
        {"Add118", "", NULL}, /* the operator's name may be Add, Add1 or Add11 */
        {"Add118", "Mul", NULL},
        {"Add", "Add", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char plain[64];
        bool changed = tm_ascend_plain_name(cases[i].name, cases[i].op, plain, sizeof plain);
        assert_int_equal(changed, cases[i].plain != NULL);
        if (changed)
            assert_string_equal(plain, cases[i].plain);
    }
}

TEST(what_is_odd_is_counted) {
    reading r = read_ascend("[" PROCESSES "," DEVICE(
        "a", "NEW_SQE") ",{'ph':'X','name':'Computing'"
                        ",'pid':7906,'tid':0,'ts':'1.5','dur':0.235},{'ph':'X','pid':7,'tid':1,"
                        "'ts':'1 s','dur':1},{'ph':'X','pid':7,'tid':1,'ts':'1'},{'ph':'z'}]");
    /* Computing takes 235 ns, but the kernel 250. The sum of one interval may differ by 10. */
    ASSERT_COUNTS(&r, TM_COUNT_METADATA, 5, TM_COUNT_OTHER_TASK, 1, TM_COUNT_OTHER_SUMS, 1,
                  TM_COUNT_NO_TIME, 2, TM_COUNT_OTHER_PHASE, 1);
    close_reading(&r);
    r = read_ascend("[" PROCESSES "," DEVICE("a", "AIC") ",{'ph':'X','name':'Computing','pid':7906,"
                                                         "'tid':0,'ts':'1.5','dur':0.24}]");
    ASSERT_COUNTS(&r, TM_COUNT_METADATA, 5);
    close_reading(&r);
}

TEST(copies_on_a_stream_of_parts_are_parts) {
    reading r = read_ascend("[" DEVICE("MEMCPY_ASYNC", "Other") "," DEVICE(
        "NOTIFY_WAIT",
        "Other") ",{'ph':'X','name':'MEMCPY_ASYNC','pid':7586,'tid':5,'ts':'9','dur':1,"
                 "'args':{'Task Type':'Other'}}]");
    assert_int_equal(event_at(&r, 0)->category, TM_CAT_GPU_ANNOTATION);
    assert_int_equal(event_at(&r, 2)->category, TM_CAT_MEMCPY);
    assert_int_equal(r.trace.attrs[TM_ATTR_COPY].n, 1);
    assert_int_equal(((const tm_copy_attr *)attr_at(&r, TM_ATTR_COPY, 0))->event, 2);
    close_reading(&r);
}

static char *fixture(size_t *size) {
    static char bytes[16384];
    FILE *file = fopen(TMERGE_TESTDATA "/ok_ascend.json", "rb");
    assert_non_null(file);
    *size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(*size > 1000 && *size < sizeof bytes);
    return bytes;
}

/* Writes the name and start of an event's launch, and of the call that enqueued the launch. */
static void launch_text(const reading *r, const tm_timeline *t, const char *name, char *out,
                        size_t size) {
    uint32_t row = t->launch[row_named(&r->ground, t, name)];
    *out = '\0';
    for (int n = 0; row != TM_NO_EVENT && n < 3; row = t->launch[row], n++)
        snprintf(out + strlen(out), size - strlen(out), "%s %" PRId64 " ",
                 tm_names_text(r->ground.names, t->name[row]).bytes,
                 t->begin_ns[row] - INT64_C(1000000000000000000));
}

TEST(launches_lead_through_the_queue_to_the_operator) {
    char found[256];
    size_t size;
    reading r;
    tm_timeline t;
    const char *bytes = fixture(&size);
    assert_int_equal(try_unit(format, bytes, size, "rank3_trace_view.json", NULL, &r), TM_OK);
    tm_trace *traces = &r.trace;
    assert_int_equal(tm_timeline_build(&traces, 1, 0, &r.ground.context, &t, &r.ground.err), TM_OK);
    launch_text(&r, &t, "aclnnMm_MatMul", found, sizeof found);
    assert_string_equal(found, "Node@launch 165000 Enqueue 120000 ");
    /* Without HostToDevice events, only the operator's start is known, not its call. */
    launch_text(&r, &t, "hcom_allReduce", found, sizeof found);
    assert_string_equal(found, "launch (its call is not recorded) 180000 ");
    launch_text(&r, &t, "MEMCPY_ASYNC (HtoD)", found, sizeof found);
    assert_string_equal(found, "");
    /* The enqueue is inside the step and aten::mm. The launch call comes after both. */
    uint32_t kernel = row_named(&r.ground, &t, "aclnnMm_MatMul");
    assert_int_equal(t.n_steps, 1);
    assert_int_equal(t.steps[0].number, 3);
    assert_int_equal(t.steps[0].end_ns, t.begin_ns[kernel] + t.duration_ns[kernel]);
    assert_int_equal(t.step[kernel], 0);
    tm_call_kinds kinds;
    tm_calls calls;
    assert_true(tm_call_kinds_init(&kinds, r.ground.names));
    assert_int_equal(tm_calls_find_operators(&t, &kinds, &calls, NULL), TM_OK);
    assert_int_not_equal(calls.above[kernel], TM_NO_CALL);
    assert_name(&r.ground, t.name[calls.calls[calls.above[kernel]].row], "aten::mm");
    tm_calls_free(&calls);
    tm_call_kinds_free(&kinds);
    const tm_shapes_attr *shapes = t.attrs[TM_ATTR_SHAPES];
    assert_name(&r.ground, shapes[0].shapes, "[[32, 256], [256, 64], []]");
    const tm_operator_attr *operator= t.attrs[TM_ATTR_OPERATOR];
    assert_int_equal(t.n_attrs[TM_ATTR_OPERATOR], 1);
    assert_int_equal(operator->sequence, 1);
    assert_name(&r.ground, operator->stack, "a.py(3): inner;a.py(9): outer");
    const tm_counter_attr *counter = t.attrs[TM_ATTR_COUNTER];
    assert_name(&r.ground, counter->series, "acc 3");
    assert_true(counter->value == 12.5);
    const tm_copy_attr *copy = t.attrs[TM_ATTR_COPY];
    assert_int_equal(copy->bytes, 4096);
    tm_timeline_destroy(&t);
    close_reading(&r);
}

/* A trace of level 0 has no process of calls. The queue's thread has Dequeue events. */
TEST(without_calls_the_time_of_a_launch_is_known) {
    char found[256];
    tm_timeline t;
    reading r = read_ascend(
        "[{'ph':'X','cat':'enqueue','name':'Enqueue','pid':7,'tid':1,'ts':'1','dur':1,'args':"
        "{'correlation_id':5}},{'ph':'X','cat':'dequeue','name':'Dequeue@Mul','pid':7,'tid':2,"
        "'ts':'10','dur':9,'args':{'correlation_id':5}},{'ph':'X','name':'Mul7','pid':7586,'tid':4,"
        "'ts':'20','dur':1,'args':{'Task Type':'Other'}},{'ph':'f','cat':'HostToDevice','id':'23',"
        "'pid':7586,'tid':4,'ts':'20'},{'ph':'s','cat':'HostToDevice','id':'23','pid':7394,"
        "'tid':2,'ts':'17'}]");
    tm_trace *traces = &r.trace;
    assert_int_equal(tm_timeline_build(&traces, 1, 0, &r.ground.context, &t, &r.ground.err), TM_OK);
    uint32_t call = t.launch[row_named(&r.ground, &t, "Mul")];
    assert_int_equal(t.begin_ns[call], 17000);
    assert_int_equal(t.duration_ns[call], 0);
    assert_int_equal(tm_timeline_track(&t, call),
                     tm_timeline_track(&t, row_named(&r.ground, &t, "Dequeue@Mul")));
    launch_text(&r, &t, "Mul", found, sizeof found);
    assert_non_null(strstr(found, "Enqueue"));
    tm_timeline_destroy(&t);
    close_reading(&r);
}

TEST(a_truncated_trace_gives_what_it_holds) {
    size_t size, most = 0;
    const char *bytes = fixture(&size);
    for (size_t n = 1; n <= size; n++) {
        reading r;
        tm_status status = try_unit(format, bytes, n, "x.json", NULL, &r);
        if (status == TM_OK) {
            assert_true(r.trace.events.n >= most);
            assert_int_equal(r.trace.truncated, n < size - 1); /* a line end follows the array */
            assert_int_equal(r.trace.counts[TM_COUNT_OTHER_SUMS], 0);
            most = r.trace.events.n;
        } else {
            assert_int_equal(status, TM_ERR_INPUT);
            assert_int_equal(most, 0);
            assert_true(r.ground.err.offset >= 0 && r.ground.err.offset <= (int64_t)n);
        }
        close_reading(&r);
    }
    assert_int_equal(most, 13); /* includes the call that is added for the collective */
}

TEST(malformed_text_is_refused_where_it_is) {
    static const malformed cases[] = {
        {"[{'a' 1}]", 6}, {"[{'ts':'1'}}", 11}, {"[{'ts':'1'}] 1", 13}, {"[{'ts':0x1}]", 8}};
    check_malformed(format, cases, COUNT(cases));
}

/* Keys cross the ends of pieces of 64 KiB, or name no operation; a name has two groups. */
TEST(the_analysis_beside_a_trace_tells_groups) {
    char base[] = "/tmp/test_ascend_XXXXXX", path[64];
    assert_non_null(mkdtemp(base));
    snprintf(path, sizeof path, "%s/communication.json", base);
    ground g = open_ground();
    for (int before = 65400; before < 65560; before += 20) {
        tm_ascend_groups groups;
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file,
                "{\"hcom_a__1_0_1\":1,\"hcom_b__868_0_1@x\":2,\"hcom_c__868_1_1@11\":3,"
                "\"hcom_c__868_1_1@12\":4%*s,\"hcom_d__868_3_1@5868\":5,\"hcom_e__868_4_1@8",
                before, "");
        fclose(file);
        snprintf(path, sizeof path, "%s/trace_view.json", base);
        assert_int_equal(tm_ascend_groups_read(path, g.names, &groups, &g.err), TM_OK);
        snprintf(path, sizeof path, "%s/communication.json", base);
        static const char *const none[] = {"hcom_a__1_0_1", "hcom_b__868_0_1", "hcom_c__868_1_1",
                                           "hcom_e__868_4_1"};
        for (size_t i = 0; i < COUNT(none); i++)
            assert_int_equal(
                tm_ascend_groups_find(&groups,
                                      &(tm_json_text){.bytes = none[i], .size = strlen(none[i])}),
                TM_NO_NAME);
        const tm_json_text known = {.bytes = "hcom_d__868_3_1", .size = 15};
        assert_name(&g, tm_ascend_groups_find(&groups, &known), "5868");
        tm_ascend_groups_free(&groups);
    }
    close_ground(&g);
    remove(path);
    remove(base);
}

TEST(folders_tell_host_and_rank) {
    static const struct {
        const char *path, *host;
    } cases[] = {
        {"a/node-1_99_20250109074803_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json", "node-1"},
        {"my_host_1_2_ascend_pt/x", "my_host"},
        {"node_ascend_pt/x", ""},
        {"_1_2_ascend_pt/x", ""},
        {"node_1_2_ascend_ptx/x", ""},
        {"trace_view.json", ""},
    };
    char host[16];
    for (size_t i = 0; i < COUNT(cases); i++) {
        *host = '\0';
        assert_int_equal(tm_ascend_host_of(cases[i].path, host, sizeof host),
                         cases[i].host[0] != '\0');
        assert_string_equal(host, cases[i].host);
    }
    static const struct {
        const char *path, *other;
        bool covered;
    } pairs[] = {
        {"a/PROF_1/msprof_2.db", "a/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db", true},
        {"PROF_1/mindstudio_profiler_output/msprof_2.db", "ASCEND_PROFILER_OUTPUT/trace_view.json",
         true},
        {"a/PROF_1/msprof_2.db", "b/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db", false},
        {"a/PROF_1/msprof_2.db", "a/PROF_1/mindstudio_profiler_output/msprof_3.db", true},
        {"a/PROF_1/msprof_3.db", "a/PROF_1/msprof_2.db", false},
        {"a/PROF_1/msprof_2.db", "a/PROF_2/msprof_3.db", false},
        {"a/msprof_2.db", "a/msprof_3.db", false}, /* the databases are of two ranks */
    };
    for (size_t i = 0; i < COUNT(pairs); i++)
        assert_int_equal(tm_ascend_msprof_is_covered(pairs[i].path, pairs[i].other),
                         pairs[i].covered);
    /* A rank's folder, the analysis folder that the profiler makes in it, and the trace there. */
    char base[] = "/tmp/test_ascend_XXXXXX", output[64], trace[96], info[128];
    assert_non_null(mkdtemp(base));
    snprintf(output, sizeof output, "%s/ASCEND_PROFILER_OUTPUT", base);
    assert_int_equal(mkdir(output, 0700), 0);
    snprintf(trace, sizeof trace, "%s/trace_view.json", output);
    assert_int_equal(tm_ascend_rank_of(trace), -1);
    assert_int_equal(tm_ascend_rank_of("a/ascend_pytorch_profiler_12.db"), 12);
    assert_int_equal(tm_ascend_rank_of("ascend_pytorch_profiler.db"), -1);
    static const struct {
        const char *file;
        int64_t rank; /* rank that is found when this file has been added */
    } steps[] = {{"profiler_info.json", -1},
                 {"profiler_info_12.json", 12},
                 {"ASCEND_PROFILER_OUTPUT/profiler_info_7.json", 7},
                 {"ASCEND_PROFILER_OUTPUT/profiler_info_8.json", -1}};
    for (size_t i = 0; i < COUNT(steps); i++) {
        snprintf(info, sizeof info, "%s/%s", base, steps[i].file);
        FILE *file = fopen(info, "w");
        assert_non_null(file);
        fclose(file);
        assert_int_equal(tm_ascend_rank_of(trace), steps[i].rank);
    }
    for (size_t i = 0; i < COUNT(steps); i++) {
        snprintf(info, sizeof info, "%s/%s", base, steps[i].file);
        assert_int_equal(remove(info), 0);
    }
    assert_int_equal(remove(output) + remove(base), 0);
}

RUN_TESTS()

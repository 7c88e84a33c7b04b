/* Devices other than CUDA and ROCm GPUs: which events are work, calls, or neither. */
#include "readers/kineto/kineto_category.h"
#include "timeline/part.h"
#include "trace_text.h"

static void assert_noted(const reading *r, const char *key, const char *expected) {
    tm_text text = tm_trace_noted(tm_names_text(r->ground.names, r->trace.metadata), key);
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.bytes, expected, text.size);
}

TEST(the_category_decides_first) {
    enum { PLAIN = TM_KINETO_PLAIN, MTIA = TM_KINETO_MTIA, PENDING = TM_KINETO_PENDING };
    static const struct {
        const char *category;
        int is, rule;
    } cases[] = {
        {"kernel", TM_CAT_KERNEL, PLAIN},
        {"gpu_memset", TM_CAT_MEMSET, PLAIN},
        {"mlu_memcpy", TM_CAT_MEMCPY, PLAIN},
        {"musa_kernel", TM_CAT_KERNEL, PLAIN},
        {"mtia_ccp_events", TM_CAT_KERNEL, MTIA},
        {"xpu_runtime", TM_CAT_RUNTIME, PLAIN},
        {"XPU_DRIVER", TM_CAT_DRIVER, PLAIN},
        {"privateuse1_runtime", TM_CAT_RUNTIME, PLAIN},
        {"gcu_driver", TM_CAT_DRIVER, PLAIN},
        {"xpu_sync", TM_CAT_CUDA_SYNC, PLAIN},
        {"some_event", TM_CAT_CUDA_EVENT, PLAIN},
        {"mlu_user_annotation", TM_CAT_GPU_ANNOTATION, PLAIN},
        {"user_annotation", TM_CAT_USER_ANNOTATION, PLAIN},
        {"collective_comm", TM_CAT_COLLECTIVE_COMM, PLAIN},
        {"overhead", TM_CAT_OVERHEAD, PLAIN},
        {"Trace", TM_CAT_TRACE, PLAIN},
        {"mtia_insight", TM_CAT_OTHER, PLAIN},
        {"hpu_op", TM_CAT_KERNEL, PENDING},
        {"my_memcpy", TM_CAT_MEMCPY, PENDING},
        {"vpu_work", TM_CAT_KERNEL, PLAIN}, /* this category is listed */
        {"vpu_memset", TM_CAT_MEMSET, PLAIN},
        {"vpu", TM_CAT_KERNEL, PENDING},
        {"cuda_runtime", TM_CAT_RUNTIME, PLAIN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *text = cases[i].category;
        tm_kineto_class class = tm_kineto_classify("vpu_work,vpu_memset", text, strlen(text));
        if (class.category != cases[i].is || class.rule != cases[i].rule)
            print_message("%s\n", text);
        assert_int_equal(class.rule, cases[i].rule);
        assert_int_equal(class.category, cases[i].is);
    }
    static const char *const labels[] = {"GPU 0", "MTIA 17", "HPU 3"};
    static const char *const others[] = {"CPU 0", "python 3", "GPU", "GPU 0 Counters", "", "G 1"};
    for (size_t i = 0; i < COUNT(labels); i++)
        assert_true(tm_kineto_is_device_label(labels[i], strlen(labels[i])));
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(tm_kineto_is_device_label(others[i], strlen(others[i])));
}

#define OPERATOR "{'ph':'X','cat':'cpu_op','name':'op','pid':500,'tid':501,'ts':0,'dur':9}"
#define WORK(category, pid)                                                                        \
    "{'ph':'X','cat':'" category "','name':'k','pid':" pid                                         \
    ",'tid':3,'ts':5,'dur':2,'args':{'correlation':7}}"
#define CALL                                                                                       \
    "{'ph':'X','cat':'hpu_runtime','name':'go','pid':500,'tid':501,'ts':1,'dur':1,"                \
    "'args':{'correlation':7}}"
#define FLOW(ph, category, pid, tid, ts)                                                           \
    "{'ph':'" ph "','id':7,'cat':'" category "','name':'ac2g','pid':" pid ",'tid':" tid            \
    ",'ts':" ts "}"
#define LABEL(name, key, pid, text)                                                                \
    "{'ph':'M','name':'" name "','pid':" pid ",'tid':0,'ts':0,'args':{'" key "':'" text "'}}"

#define START FLOW("s", "ac2g", "500", "501", "1")
#define END FLOW("f", "ac2g", "1", "3", "5")

/* Each row is a trace. Its first event is tested. */
TEST(flows_and_labels_decide_where_the_category_does_not) {
    static const struct {
        int category;
        uint32_t launch;
        const char *events[6];
    } cases[] = {
        /* The event's flow has an end and a start, listed after the event in either order. */
        {TM_CAT_KERNEL, 1, {WORK("foo", "1"), CALL, END, START}},
        {TM_CAT_KERNEL, TM_NO_EVENT, {WORK("foo", "1"), START, END, OPERATOR}},
        {TM_CAT_MEMCPY, TM_NO_EVENT, {WORK("x_memcpy", "1"), START, END, OPERATOR}},
        /* No start; a start in the same process; another kind of flow; an end at another place. */
        {TM_CAT_OTHER, TM_NO_EVENT, {WORK("foo", "1"), END}},
        {TM_CAT_OTHER, TM_NO_EVENT, {WORK("foo", "1"), END, FLOW("s", "ac2g", "1", "501", "1")}},
        {TM_CAT_OTHER,
         TM_NO_EVENT,
         {WORK("foo", "1"), FLOW("f", "fwdbwd", "1", "3", "5"),
          FLOW("s", "fwdbwd", "500", "501", "1")}},
        {TM_CAT_OTHER, TM_NO_EVENT, {WORK("foo", "1"), FLOW("f", "ac2g", "1", "3", "6"), START}},
        /* A call is not work, even if a flow ends at it. */
        {TM_CAT_RUNTIME,
         TM_NO_EVENT,
         {CALL, FLOW("f", "ac2g", "500", "501", "1"), FLOW("s", "ac2g", "9", "9", "1")}},
        /* A label decides, unless the process has operators. */
        {TM_CAT_KERNEL,
         TM_NO_EVENT,
         {WORK("foo", "1"), LABEL("process_labels", "labels", "1", "GPU 1"), OPERATOR}},
        {TM_CAT_KERNEL,
         TM_NO_EVENT,
         {WORK("foo", "1"), LABEL("process_name", "name", "1", "HPU 0"), OPERATOR}},
        {TM_CAT_OTHER,
         TM_NO_EVENT,
         {WORK("foo", "500"), LABEL("process_labels", "labels", "500", "GPU 1"), OPERATOR}},
        {TM_CAT_OTHER,
         TM_NO_EVENT,
         {WORK("foo", "1"), LABEL("process_labels", "labels", "2", "GPU 2"), OPERATOR}},
        {TM_CAT_OTHER,
         TM_NO_EVENT,
         {WORK("foo", "1"), LABEL("thread_name", "name", "1", "GPU 1"), OPERATOR}},
        /* On Gaudi, events that are not work are calls. */
        {TM_CAT_KERNEL,
         TM_NO_EVENT,
         {WORK("hpu_op", "1"), LABEL("process_name", "name", "1", "HPU 0"), OPERATOR}},
        {TM_CAT_RUNTIME,
         TM_NO_EVENT,
         {WORK("hpu_op", "500"), LABEL("process_name", "name", "1", "HPU 0"), OPERATOR}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = 0;
        while (n < COUNT(cases[i].events) && cases[i].events[n])
            n++;
        reading r = read_events(cases[i].events, n);
        if (event_at(&r, 0)->category != cases[i].category)
            print_message("case %zu\n", i);
        assert_int_equal(event_at(&r, 0)->category, cases[i].category);
        bool gpu = cases[i].category == TM_CAT_KERNEL || cases[i].category == TM_CAT_MEMCPY;
        assert_int_equal(track_at(&r, 0)->kind, gpu ? TM_TRACK_GPU : TM_TRACK_CPU);
        assert_int_equal(r.trace.counts[TM_COUNT_OTHER_CATEGORY],
                         cases[i].category == TM_CAT_OTHER);
        assert_int_equal(tm_trace_link(&r.trace, &r.ground.err), TM_OK);
        assert_int_equal(event_at(&r, 0)->launch, cases[i].launch);
        close_reading(&r);
    }
}

/* Each pid is decided separately: an event on the host's pid is not work of the device. */
TEST(categories_that_nothing_tells_are_named) {
    static const char *const events[] = {
        WORK("foo", "500"),
        WORK("foo", "500"),
        WORK("foo", "2"),
        WORK("bar", "500"),
        WORK("foo", "1"),
        OPERATOR,
        LABEL("process_name", "name", "1", "NPU 0"),
    };
    reading r = READ_EVENTS(events);
    assert_noted(&r, TM_OTHER_CATEGORIES, "foo 3, bar 1");
    assert_noted(&r, TM_DEVICE_KIND, "");
    assert_int_equal(event_at(&r, 4)->category, TM_CAT_KERNEL);
    close_reading(&r);
}

#define ON_MTIA(name, tid, rest)                                                                   \
    "{'ph':'X','cat':'mtia_ccp_events','name':'" name "','pid':17,'tid':" tid                      \
    ",'ts':10,'dur':2,'args':{" rest "}}"

TEST(work_and_waits_of_mtia_are_reported_by_their_names) {
    static const char *const events[] = {
        ON_MTIA("pe_exe", "3774", "'column':'0'"), /* the stream is missing */
        ON_MTIA("dma_request", "3774", "'stream':108,'direction':'HOST_TO_DEVICE','size':4096"),
        ON_MTIA("event_wait", "3774", "'stream':108,'wait_on_stream':104,'correlation':5"),
        ON_MTIA("event_record", "3774", "'stream':108"),
        ON_MTIA("hccl::all_reduce", "20014", "'correlation':5,'Collective name':'allreduce'"),
        ("{'ph':'X','cat':'mtia_runtime','name':'synchronize','pid':17,'tid':9,'ts':1,'dur':1,"
         "'args':{'correlation':5,'stream_id':'108'}}"),
    };
    static const uint8_t categories[] = {TM_CAT_KERNEL,     TM_CAT_MEMCPY, TM_CAT_CUDA_SYNC,
                                         TM_CAT_CUDA_EVENT, TM_CAT_KERNEL, TM_CAT_RUNTIME};
    reading r = READ_EVENTS(events);
    for (size_t i = 0; i < COUNT(events); i++) {
        assert_int_equal(event_at(&r, i)->category, categories[i]);
        assert_int_equal(track_at(&r, i)->kind, i < 5 ? TM_TRACK_GPU : TM_TRACK_CPU);
    }
    assert_int_equal(track_at(&r, 0)->stream, 108);
    assert_int_equal(track_at(&r, 0)->device, 17);
    assert_int_equal(track_at(&r, 4)->stream, 20014);
    assert_name(&r.ground, event_at(&r, 1)->name, "dma_request (HOST_TO_DEVICE)");
    assert_int_equal(((tm_copy_attr *)attr_at(&r, TM_ATTR_COPY, 0))->bytes, 4096);
    const tm_wait_attr *wait = attr_at(&r, TM_ATTR_WAIT, 0);
    assert_int_equal(wait->kind, TM_WAIT_STREAM_WAIT);
    assert_int_equal(wait->stream, 108);
    assert_int_equal(wait->on_stream, 104);
    assert_int_equal(r.trace.attrs[TM_ATTR_WAIT].n, 1);
    assert_int_equal(r.trace.attrs[TM_ATTR_COLLECTIVE].n, 1);
    assert_noted(&r, TM_DEVICE_KIND, "MTIA");
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
}

#define ON_XPU(name, ts, id)                                                                       \
    "{'ph':'X','cat':'kernel','name':'" name "','pid':0,'tid':1,'ts':" ts ",'dur':2,'args':{"      \
    "'External id':" id ",'device':0,'sycl queue':3,'correlation':4}}"

/* Profilers do not copy the metadata of a collective to kernels of an XPU. */
TEST(kernels_of_an_xpu_take_the_collective_of_their_operator) {
    static const char *const events[] = {
        ON_XPU("oneccl_kernel", "1", "70"),
        ON_XPU("reduce_kernel", "2", "71"),
        ON_XPU("sycl_allreduce_x", "3", "72"),
        ON_XPU("triton_fused_all_reduce", "4", "72"),
        ON_XPU("bcast_via_broadcast", "5", "70"),
        ON_XPU("gemm", "6", "70"),
        ("{'ph':'X','cat':'cpu_op','name':'record_param_comms','pid':500,'tid':1,'ts':0,'dur':1,"
         "'args':{'External id':70,'Collective name':'allgather','Group size':4}}"),
    };
    /* group size of each kernel; -1: unknown, 0: no metadata of communication */
    static const int expected[] = {4, 0, -1, 0, 4, 0};
    reading r = READ_EVENTS(events);
    size_t row = 0;
    for (size_t i = 0; i < COUNT(expected); i++) {
        if (expected[i] == 0)
            continue;
        const tm_collective_attr *attr = attr_at(&r, TM_ATTR_COLLECTIVE, row++);
        assert_int_equal(attr->event, i);
        assert_int_equal(attr->group_size, expected[i]);
        assert_name(&r.ground, attr->name, expected[i] == 4 ? "allgather" : "allreduce");
    }
    assert_int_equal(r.trace.attrs[TM_ATTR_COLLECTIVE].n, row + 1);
    assert_noted(&r, TM_DEVICE_KIND, "XPU");
    close_reading(&r);
}

/* Calls of other processes with the same ids belong to other ranks. Exception: calls that a
 * profiler writes on the process of its device. */
TEST(calls_on_the_process_of_a_device_are_of_its_host) {
    static const struct {
        const char *pid;
        bool reads;
    } cases[] = {{"17", true}, {"18", false}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        char text[TRACE_TEXT_MAX] = "{'traceEvents':[";
        for (int i = 0; i < 20; i++)
            for (int on_device = 0; on_device < 2; on_device++)
                snprintf(
                    text + strlen(text), sizeof text - strlen(text),
                    "{'ph':'X','cat':'mtia_runtime','name':'s','pid':%s,'tid':1,'ts':1,'dur':1,"
                    "'args':{'correlation':%d}},",
                    on_device ? cases[c].pid : "500", i + 1);
        strcat(text, "{'ph':'X','cat':'kernel','name':'k','pid':17,'tid':1,'ts':1,'dur':1}]}");
        char bytes[TRACE_TEXT_MAX];
        reading r;
        size_t n = quoted_text(text, bytes);
        assert_int_equal(try_unit(&tm_format_kineto, bytes, n, "t", NULL, &r),
                         cases[c].reads ? TM_OK : TM_ERR_INPUT);
        close_reading(&r);
    }
}

RUN_TESTS()

/* rocprofv3 traces: recognition, ranks, and the events made of each kind of record. */
#include <inttypes.h>

#include "base/intervals.h"
#include "trace_text.h"

#define DOCUMENT(...) "{'rocprofiler-sdk-tool':[{" __VA_ARGS__ "}]}"
#define METADATA                                                                                   \
    "'metadata':{'node':{'id':0,'hostname':'n1'},'pid':9,'command':['a','--key=secret']}"
#define AGENTS                                                                                     \
    "'agents':[{'id':{'handle':70},'type':1,'name':'CPU','logical_node_type_id':0},"               \
    "{'id':{'handle':71},'type':2,'logical_node_type_id':0,'cu_count':2,'wave_front_size':64,"     \
    "'name':'gfx950','product_name':'MI350X','mem_banks':[{'heap_type':1,'size_in_bytes':4096}]}," \
    "{'id':{'handle':72},'type':2,'logical_node_type_id':1}]"
#define STRINGS                                                                                    \
    "'strings':{'callback_records':[{'kind':'NO','operations':['no']}],'buffer_records':["         \
    "{'kind':'NONE','operations':[]},"                                                             \
    "{'kind':'HIP_RUNTIME_API','operations':['hipApiName','hipLaunchKernel']},"                    \
    "{'kind':'KERNEL_DISPATCH','operations':['NONE','ENQUEUE','COMPLETE']},"                       \
    "{'kind':'MEMORY_COPY','operations':['NONE','MEMORY_COPY_HOST_TO_HOST',"                       \
    "'MEMORY_COPY_HOST_TO_DEVICE','MEMORY_COPY_DEVICE_TO_HOST','MEMORY_COPY_DEVICE_TO_DEVICE']},"  \
    "{'kind':'MARKER_CORE_API','operations':['roctxMarkA','roctxRangePushA','roctxRangePop']},"    \
    "{'kind':'MARKER_CORE_RANGE_API','operations':['roctxMarkA','roctxThreadRangeA']},"            \
    "{'kind':'MEMORY_ALLOCATION','operations':['NONE','MEMORY_ALLOCATION_ALLOCATE',"               \
    "'MEMORY_ALLOCATION_FREE']},"                                                                  \
    "{'kind':'RCCL_API','operations':['ncclAllReduce']},"                                          \
    "{'kind':'HSA_CORE_API','operations':['hsa_init']},"                                           \
    "{'kind':'KFD_QUEUE','operations':[]}],"                                                       \
    "'marker_api':[{'key':5,'value':'step \\u0031'}]}"
#define KERNELS                                                                                    \
    "'kernel_symbols':[{'kernel_id':1,'kernel_name':'_Z1k.kd','arch_vgpr_count':92,"               \
    "'accum_vgpr_count':4,'formatted_kernel_name':'k<4>(int)','truncated_kernel_name':'k'},"       \
    "{'kernel_id':2,'formatted_kernel_name':'__amd_rocclr_copyBuffer'},"                           \
    "{'kernel_id':3,'formatted_kernel_name':'__amd_rocclr_fillBufferAligned'},"                    \
    "{'kernel_id':4,'formatted_kernel_name':'','truncated_kernel_name':'__amd_rocclr_batch'},"     \
    "{'kernel_id':18446744073709551615,'formatted_kernel_name':'last'}]"
#define RECORDS(list, ...) "'buffer_records':{'" list "':[" __VA_ARGS__ "]}"
#define WITH_NAMES(list, ...)                                                                      \
    DOCUMENT(METADATA "," AGENTS "," STRINGS "," KERNELS "," RECORDS(list, __VA_ARGS__))

#define RECORD(kind, operation, rest)                                                              \
    "{'size':9,'kind':" kind ",'operation':" operation ",'thread_id':8,'correlation_id':"          \
    "{'internal':5,'external':0}," rest "}"
#define TIMES(begin, end) "'start_timestamp':" begin ",'end_timestamp':" end
#define DISPATCH(times, agent, kernel, rest)                                                       \
    RECORD("2", "2",                                                                               \
           times ",'dispatch_info':{'size':9,'agent_id':{'handle':" agent                          \
                 "},'queue_id':{'handle':18},'kernel_id':" kernel                                  \
                 ",'private_segment_size':0,'group_segment_size':512,"                             \
                 "'workgroup_size':{'x':128,'y':2,'z':1},'grid_size':{'x':300,'y':2,'z':1}}" rest)
#define K DISPATCH(TIMES("100", "160"), "71", "1", ",'stream_id':{'handle':3}")
/* 300 work items are 3 blocks of 128, with 4 waves each, on 2 compute units. */
#define K_TEXT "k<4>(int) kernel 100+60 0/3 #5 [3 1 1]x[128 2 1] 96 512 1.50 6.00\n"
#define COPY(operation, from, to)                                                                  \
    RECORD("3", operation,                                                                         \
           TIMES("100", "160") ",'dst_agent_id':{'handle':" to "},'src_agent_id':{'handle':" from  \
                               "},'bytes':64")
#define MEMORY(operation, begin, agent, address, size)                                             \
    RECORD("6", operation,                                                                         \
           TIMES(begin, begin) ",'agent_id':{'handle':" agent "},'address':'" address              \
                               "','allocation_size':" size)

static const tm_format *const format = &tm_format_rocprof;

TEST(its_first_key_tells_the_format) {
    assert_true(sniffs(format, DOCUMENT("")));
    assert_true(sniffs(format, " { 'rocprofiler-sdk-tool' : "));
    assert_false(sniffs(format, "{'traceEvents':[],'rocprofiler-sdk-tool':[]}"));
    assert_false(sniffs(format, "['rocprofiler-sdk-tool']"));
    assert_false(sniffs(format, "{}"));
    assert_false(sniffs(format, "{'rocprofiler-sdk-tool'"));
    assert_false(sniffs(format, ""));
}

/* 2025: with a stream. 2024: without, other names of lists, a duplicate field, `summary` first. */
TEST(every_kind_of_record_becomes_what_it_is) {
    static const struct {
        const char *text, *events;
    } cases[] = {
        {WITH_NAMES("kernel_dispatch", K), K_TEXT},
        {DOCUMENT("'summary':[]," METADATA "," AGENTS "," STRINGS "," KERNELS
                  ",'callback_records' : { } , 'buffer_records' : { 'kernel_dispatches' : [\n  {"
                  "'kind' : 2,\n 'operation' : 2, 'correlation_id' : { 'internal' : 7 },"
                  "'start_timestamp': 1,'end_timestamp' : 3,\n'dispatch_info' : {'agent_id':"
                  "{'handle':72},'queue_id':{'handle': 18 },'kernel_id': 1 ,"
                  "'group_segment_size': 4,'group_segment_size': 8}}]}"),
         "k<4>(int) kernel 1+2 1/queue 18 #7 [-1 -1 -1]x[-1 -1 -1] 96 8 nan nan\n"},
        /* records precede the lists that they refer to */
        {DOCUMENT(RECORDS("kernel_dispatch", K) "," KERNELS "," STRINGS "," AGENTS "," METADATA),
         K_TEXT},
        {DOCUMENT(RECORDS("kernel_dispatch", K)),
         " kernel 100+60 -1/3 #5 [3 1 1]x[128 2 1] -1 512 nan nan\n"},
        /* kernels of the runtime that copy or set memory */
        {WITH_NAMES("kernel_dispatch", DISPATCH(TIMES("1", "2"), "71", "2", "") "," DISPATCH(
                                           TIMES("1", "2"), "71", "3",
                                           "") "," DISPATCH(TIMES("1", "2"), "71", "4", "")),
         "__amd_rocclr_copyBuffer gpu_memcpy 1+1 0/queue 18 #5 -1 bytes\n"
         "__amd_rocclr_fillBufferAligned gpu_memset 1+1 0/queue 18 #5 -1 bytes\n"
         "__amd_rocclr_batch kernel 1+1 0/queue 18 #5 [3 1 1]x[128 2 1] -1 512 1.50 6.00\n"},
        /* the largest 64-bit numbers, of 20 digits */
        {WITH_NAMES("kernel_dispatch", DISPATCH(TIMES("1", "2"), "71", "18446744073709551615",
                                                ",'stream_id':{'handle':18446744073709551615}")),
         "last kernel 1+1 0/18446744073709551615 #5 [3 1 1]x[128 2 1] -1 512 1.50 6.00\n"},
        {WITH_NAMES("memory_copy", COPY("2", "70", "71") "," COPY("3", "72", "70") "," COPY(
                                       "4", "71", "72") "," COPY("1", "70", "70")),
         "Memcpy HtoD (Host -> Device) gpu_memcpy 100+60 0/copies 2 #5 64 bytes gbps=1.06667\n"
         "Memcpy DtoH (Device -> Host) gpu_memcpy 100+60 1/copies 3 #5 64 bytes gbps=1.06667\n"
         "Memcpy DtoD (Device -> Device) gpu_memcpy 100+60 1/copies 4 #5 64 bytes gbps=1.06667\n"
         "Memcpy HtoH (Host -> Host) other 100+60 9/8\n"},
        /* no list names the operation, so the agents decide */
        {WITH_NAMES("memory_copy", COPY("77", "71", "70")),
         "Memcpy DtoH (Device -> Host) gpu_memcpy 100+60 0/copies 3 #5 64 bytes gbps=1.06667\n"},
        {WITH_NAMES("hip_api",
                    RECORD("1", "1", TIMES("90", "95") ",'args':{'a':'1'},'retval':'0'")),
         "hipLaunchKernel cuda_runtime 90+5 9/8 launches #5\n"},
        {WITH_NAMES("hsa_api", RECORD("8", "0", TIMES("90", "95"))),
         "hsa_init cuda_driver 90+5 9/8\n"},
        {WITH_NAMES("rccl_api", RECORD("7", "0", TIMES("90", "95"))),
         "ncclAllReduce user_annotation 90+5 9/8\n"},
        /* ranges in the newer and the older form, a mark, and a call without text */
        {WITH_NAMES("marker_api", RECORD("5", "1", TIMES("90", "95"))),
         "step 1 user_annotation 90+5 9/8\n"},
        {WITH_NAMES("marker_api", RECORD("4", "1", TIMES("90", "95"))),
         "step 1 user_annotation 90+5 9/8\n"},
        {WITH_NAMES("marker_api", RECORD("4", "0", TIMES("90", "90"))),
         "step 1 user_annotation @90 9/8\n"},
        {WITH_NAMES("marker_api", "{'kind':4,'operation':2,'thread_id':8,'correlation_id':"
                                  "{'internal':6}," TIMES("90", "95") "}"),
         "roctxRangePop other 90+5 9/8\n"},
        /* a release takes size and device from the allocation at its address */
        {WITH_NAMES("memory_allocation",
                    MEMORY("2", "40", "0", "0x7fA0", "0") "," MEMORY(
                        "1", "20", "72", "0x7fa0", "64") "," MEMORY("1", "30", "70", "0x10", "8")),
         "[memory] cpu_instant_event @40 9/8 7fa0 -64 bytes of 1:1\n"
         "[memory] cpu_instant_event @20 9/8 7fa0 64 bytes of 1:1\n"
         "[memory] cpu_instant_event @30 9/8 10 8 bytes of 0:-1\n"},
        {WITH_NAMES("kfd_queue",
                    RECORD("9", "4", "'timestamp':77") "," RECORD("9", "4", TIMES("1", "2"))),
         "KFD_QUEUE other @77 9/8\nKFD_QUEUE other 1+1 9/8\n"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char found[2048];
        print_message("case %zu\n", i);
        reading r = read_unit_text(format, cases[i].text, "some.json", NULL);
        trace_text(&r, found, sizeof found);
        assert_string_equal(found, cases[i].events);
        assert_int_equal(r.trace.counts[TM_COUNT_NO_EPOCH], r.trace.events.n);
        close_reading(&r);
    }
}

TEST(what_is_not_kept_is_counted) {
    static const struct {
        const char *text;
        tm_count count;
        int64_t n;
    } cases[] = {
        {WITH_NAMES("hip_api", RECORD("1", "1", TIMES("0", "5"))), TM_COUNT_NO_TIME, 1},
        {WITH_NAMES("hip_api", RECORD("1", "1", "'a':1")), TM_COUNT_NO_TIME, 1},
        {WITH_NAMES("hip_api", RECORD("1", "1", TIMES("18446744073709551615", "5"))),
         TM_COUNT_NO_TIME, 1},
        {WITH_NAMES("hip_api", RECORD("1", "1", TIMES("18446744073709551616", "5"))),
         TM_COUNT_NO_TIME, 1},
        {WITH_NAMES("hip_api", RECORD("1", "1", TIMES("7", "0"))), TM_COUNT_OPEN_RANGE, 1},
        {WITH_NAMES("hip_api", RECORD("1", "1", TIMES("7", "5"))), TM_COUNT_NEGATIVE_DURATION, 1},
        {WITH_NAMES("hip_api", RECORD("1", "1", TIMES("7", "86400000000008"))),
         TM_COUNT_ABSURD_DURATION, 1},
        {WITH_NAMES("kernel_dispatch", DISPATCH(TIMES("1", "2"), "71", "99", "")), TM_COUNT_NO_NAME,
         1},
        {WITH_NAMES("hip_api", RECORD("1", "'x'", TIMES("1", "2"))), TM_COUNT_BAD_VALUE, 1},
        /* a release without its allocation */
        {WITH_NAMES("memory_allocation", MEMORY("2", "4", "0", "0x1", "0")), TM_COUNT_BAD_VALUE, 1},
        {WITH_NAMES("pc_sample_host_trap", "{},{}"), TM_COUNT_OTHER_PHASE, 2},
        {DOCUMENT("'callback_records':{'counter_collection':[{}]},'buffer_records':{}"),
         TM_COUNT_OTHER_PHASE, 1},
        {WITH_NAMES("hip_api", RECORD("1", "1", TIMES("1", "2") ",'args':{'a':nan}")),
         TM_COUNT_NON_FINITE, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("case %zu\n", i);
        reading r = read_unit_text(format, cases[i].text, "some.json", NULL);
        assert_int_equal(r.trace.counts[cases[i].count], cases[i].n);
        close_reading(&r);
    }
}

#define ON(agent) DISPATCH(TIMES("1", "2"), agent, "1", "")
TEST(ranks_are_processes_and_the_devices_on_which_they_run_kernels) {
    static const struct {
        const char *text, *units;
    } cases[] = {
        {DOCUMENT(METADATA "," AGENTS "," RECORDS("kernel_dispatch", ON("71"))),
         "0:ffffffffffffffff:-1 "},
        /* agents are listed last */
        {DOCUMENT(RECORDS("kernel_dispatch", ON("72") "," ON("71")) "," AGENTS),
         "0:fffffffffffffffd:-1 0:2:-1 "},
        /* a copy makes no rank if there are kernels */
        {DOCUMENT(AGENTS ",'buffer_records':{'kernel_dispatch':[" ON("72") "],'memory_copy':[" COPY(
             "2", "70", "71") "]}"),
         "0:ffffffffffffffff:-1 "},
        {DOCUMENT(AGENTS
                  "," RECORDS("memory_copy", COPY("2", "70", "71") "," COPY("2", "70", "72"))),
         "0:fffffffffffffffd:-1 0:2:-1 "},
        {"{'rocprofiler-sdk-tool':[{" AGENTS "," RECORDS("kernel_dispatch", ON("72")) "},{}]}",
         "0:ffffffffffffffff:-1 1:ffffffffffffffff:-1 "},
        {"{'rocprofiler-sdk-tool':[]}", ""},
        /* the file was cut, so only the records before the cut count */
        {"{'rocprofiler-sdk-tool':[{" AGENTS ",'buffer_records':{'kernel_dispatch':[" ON("71") ",{",
         "0:ffffffffffffffff:-1 "},
    };
    char found[256];
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("case %zu\n", i);
        units_text(format, cases[i].text, found, sizeof found);
        assert_string_equal(found, cases[i].units);
    }
}

TEST(a_unit_is_its_devices_of_its_process) {
    static const char text[] =
        "{'rocprofiler-sdk-tool':[{},{" METADATA "," AGENTS "," STRINGS "," KERNELS
        ",'buffer_records':{'kernel_dispatch':[" ON("71") "," ON(
            "72") "],'memory_allocation':[" MEMORY("1", "20", "71", "0x7fa0",
                                                   "64") "," MEMORY("2", "30", "0", "0x7fa0",
                                                                    "0") "]}}]}";
    const tm_unit unit = {.process = 1, .devices = 2, .rank = -1};
    char found[1024];
    reading r = read_unit_text(format, text, "a/9_results.json", &unit);
    trace_text(&r, found, sizeof found);
    assert_string_equal(found,
                        "k<4>(int) kernel 1+1 1/queue 18 #5 [3 1 1]x[128 2 1] 96 512 nan nan\n");
    ASSERT_COUNTS(&r, TM_COUNT_NO_EPOCH, 1);
    close_reading(&r);
}

TEST(the_host_is_the_files_or_its_folders_and_secrets_are_left) {
    static const struct {
        const char *metadata, *path, *host;
    } cases[] = {
        {"{'node':{'hostname':'n1'},'pid':9}", "n2/9_results.json", "n1"},
        {"{'pid':9}", "x/n2/9_results.json.gz", "n2"},
        {"{'pid':9}", "n2/9_results.json", "n2"},
        {"{'pid':9}", "n2/8_results.json", ""},
        {"{'pid':9}", "9_results.json", ""},
        {"{'pid':9}", "../9_results.json", ""},
        {"{'pid':'9','command':['secret']}", "n2/9_results.json", "n2"},
        {"7", "n2/9_results.json", ""},
    };
    char text[1024];
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("case %zu\n", i);
        snprintf(text, sizeof text, "{'rocprofiler-sdk-tool':[{'metadata':%s," AGENTS "}]}",
                 cases[i].metadata);
        reading r = read_unit_text(format, text, cases[i].path, NULL);
        assert_name(&r.ground, r.trace.host, cases[i].host);
        /* 4096 bytes are the mem_banks in AGENTS. A GPU without properties has only its number. */
        assert_name(&r.ground, r.trace.metadata,
                    "{\"deviceProperties\":[{\"id\":0,\"name\":\"MI350X\",\"totalGlobalMem\":4096,"
                    "\"numSms\":2,\"warpSize\":64},{\"id\":1,\"name\":\"\"}]}");
        close_reading(&r);
    }
}

TEST(malformed_text_is_refused_where_it_is) {
    static const malformed cases[] = {
        {"[]", 2},
        {"{}", 2},
        {"{'rocprofiler-sdk-tool':[]} 1", 28},
        {"{'rocprofiler-sdk-tool':[{}", 27},
        {"{'rocprofiler-sdk-tool':[{'metadata':{'pid' 9}}]}", 44},
        {"{'rocprofiler-sdk-tool':[{'agents':[{'id':1]}]}]}", 43},
        {"{'rocprofiler-sdk-tool':[{'buffer_records':{'hip_api':[{}{}]}}]}", 57},
        {"{'rocprofiler-sdk-tool':[{},{},{}]}", -1}, /* several units, none selected */
    };
    check_malformed(format, cases, COUNT(cases));
}

TEST(a_trace_that_was_cut_gives_what_it_holds) {
    check_truncation(format, WITH_NAMES("kernel_dispatch", K "," K), NULL);
}

/* The sums are from another program: shared/design/rocprof-format.md. */
TEST(the_real_trace_has_the_sums_of_its_format_page) {
    const char *shared = getenv("TMERGE_SHARED");
    char path[1024];
    snprintf(path, sizeof path, "%s/traces/rocprof/908_results.json.gz", shared ? shared : "");
    FILE *file = fopen(path, "rb");
    if (!file)
        skip();
    fclose(file);
    reading r = {.ground = open_ground()};
    assert_int_equal(tm_trace_read(&(tm_trace_file){.path = path}, r.ground.names, NULL, &r.trace,
                                   &r.ground.err),
                     TM_OK);
    tm_timeline timeline;
    tm_trace *traces[] = {&r.trace};
    assert_int_equal(tm_timeline_build(traces, 1, 0, &r.ground.context, &timeline, &r.ground.err),
                     TM_OK);
    tm_intervals all = TM_INTERVALS();
    int64_t sum = 0, nccl = 0, n_nccl = 0, begin = INT64_MAX, end = 0;
    for (size_t i = 0; i < timeline.n_events; i++) {
        int64_t from = timeline.begin_ns[i], to = from + timeline.duration_ns[i];
        assert_int_not_equal(timeline.role[i], TM_ROLE_NONE);
        sum += to - from;
        begin = from < begin ? from : begin;
        end = to > end ? to : end;
        if (timeline.role[i] == TM_ROLE_COMMUNICATION) {
            n_nccl++;
            nccl += to - from;
        }
        assert_true(tm_intervals_add(&all, from, to));
    }
    tm_intervals_normalise(&all);
    assert_int_equal(timeline.n_events, 43915);
    assert_int_equal(sum, INT64_C(4441741378));
    assert_int_equal(tm_intervals_length(&all), INT64_C(4233112334));
    assert_int_equal(n_nccl, 1310);
    assert_int_equal(nccl, INT64_C(4158756678));
    assert_int_equal(begin, INT64_C(63857982592000));
    assert_int_equal(end, INT64_C(63873104615494));
    tm_vec_free(&all);
    tm_timeline_destroy(&timeline);
    close_reading(&r);
}

RUN_TESTS()

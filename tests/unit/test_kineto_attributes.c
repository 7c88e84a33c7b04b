/* The tracks that the Kineto reader makes, and the args that it keeps. */

#include "trace_text.h"

#define EVENT(category, pid, tid, args)                                                            \
    "{'ph':'X','cat':'" category "','name':'e','pid':" pid ",'tid':" tid                           \
    ",'ts':1,'dur':2,'args':{" args "}}"
#define BARE(category, place) "{'ph':'X','cat':'" category "','name':'e'," place "'ts':1,'dur':2}"
#define KERNEL(args) EVENT("kernel", "0", "7", args)
#define OPERATOR(args) EVENT("cpu_op", "1", "2", args)

TEST(a_number_and_its_text_are_the_same_track) {
    static const struct {
        const char *event;
        size_t track;
        int32_t device;
        int64_t stream;
    } cases[] = {
        {BARE("cpu_op", "'pid':123,'tid':-4,"), 0, -1, -1},
        {BARE("cpu_op", "'pid':'123','tid':'-4',"), 0, -1, -1},
        {KERNEL("'device':0,'stream':7"), 1, 0, 7},
        {EVENT("kernel", "'0'", "'7'", "'device':0,'stream':7"), 1, 0, 7},
        {EVENT("kernel", "0", "'stream 7 '", "'device':0,'stream':7"), 2, 0, 7},
        {BARE("Kernel", "'pid':2,'tid':'stream 20 ',"), 3, 2, 20},
        {BARE("Kernel", "'pid':3,'tid':21,"), 4, 3, 21},
        {BARE("kernel", "'pid':'x','tid':'y',"), 5, -1, -1},
        {BARE("kernel", "'pid':0,'tid':-1,"), 6, 0, -1}, /* without a stream */
        {BARE("cpu_op", "'pid':'Spans','tid':'PyTorch Profiler',"), 7, -1, -1},
        {BARE("cpu_op", ""), 8, -1, -1},
    };
    static const char *const places[] = {"123/-4", "0/7", "0/stream 7 ", "2/stream 20 ",
                                         "3/21",   "x/y", "0/-1",        "Spans/PyTorch Profiler",
                                         "/"};
    const char *events[COUNT(cases)];
    for (size_t i = 0; i < COUNT(cases); i++)
        events[i] = cases[i].event;
    reading r = READ_EVENTS(events);
    assert_int_equal(r.trace.tracks.n, COUNT(places));
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tm_track *track = track_at(&r, i);
        char place[64];
        snprintf(place, sizeof place, "%s/%s", tm_names_text(r.ground.names, track->pid).bytes,
                 tm_names_text(r.ground.names, track->tid).bytes);
        assert_string_equal(place, places[cases[i].track]);
        assert_int_equal(event_at(&r, i)->track, cases[i].track);
        assert_int_equal(track->device, cases[i].device);
        assert_int_equal(track->stream, cases[i].stream);
    }
    close_reading(&r);
}

TEST(a_gpu_whose_pid_equals_a_process_has_tracks_of_its_own) {
    static const char *const events[] = {
        EVENT("cpu_op", "1", "7", ""), EVENT("kernel", "1", "7", ""),
        EVENT("cuda_runtime", "1", "7", ""), EVENT("gpu_memset", "1", "7", "")};
    reading r = READ_EVENTS(events);
    assert_int_equal(r.trace.tracks.n, 2);
    assert_int_equal(track_at(&r, 0)->kind, TM_TRACK_CPU);
    assert_int_equal(track_at(&r, 1)->kind, TM_TRACK_GPU);
    assert_int_equal(event_at(&r, 2)->track, event_at(&r, 0)->track);
    assert_int_equal(event_at(&r, 3)->track, event_at(&r, 1)->track);
    close_reading(&r);
}

TEST(metadata_records_name_processes_and_threads_and_the_last_wins) {
    static const char *const events[] = {
        "{'ph':'M','name':'process_name','pid':1,'tid':0,'ts':0,'args':{'name':'first'}}",
        "{'ph':'M','name':'thread_name','pid':1,'tid':2,'ts':0,'args':{'name':'old'}}",
        BARE("cpu_op", "'pid':1,'tid':2,"),
        BARE("cpu_op", "'pid':1,'tid':3,"),
        BARE("cpu_op", "'pid':2,'tid':2,"),
        ("{'ph':'M','name':'thread_name','pid':1,'tid':'2','ts':0,"
         "'args':{'name':'thread 2 (python)'}}"),
        "{'ph':'M','name':'process_name','pid':'1','tid':0,'ts':0,'args':{'name':'pyt\\u0068on'}}",
        /* these events make no track */
        "{'ph':'M','name':'thread_name','pid':9,'tid':9,'ts':0,'args':{'name':'nobody'}}",
        "{'ph':'M','name':'process_labels','pid':1,'args':{'labels':'CPU'}}",
        "{'ph':'M','name':'process_sort_index','pid':1,'args':{'sort_index':5}}",
        "{'ph':'M','name':'thread_name','pid':1,'tid':3}",
    };
    static const char *const names[][2] = {
        {"python", "thread 2 (python)"}, {"python", ""}, {"", ""}};
    reading r = READ_EVENTS(events);
    assert_int_equal(r.trace.tracks.n, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_name(&r.ground, track_at(&r, i)->process_name, names[i][0]);
        assert_name(&r.ground, track_at(&r, i)->thread_name, names[i][1]);
    }
    ASSERT_COUNTS(&r, TM_COUNT_METADATA, 8);
    close_reading(&r);
}

/* An event, and its attributes as written by attrs_text. */
typedef struct attr_case {
    const char *event, *attrs;
} attr_case;

/* Reads all events in this order, and checks their attributes. */
static reading expect_attrs(const attr_case *cases, size_t n, int64_t n_bad_values) {
    const char *events[32];
    assert_true(n <= COUNT(events));
    for (size_t i = 0; i < n; i++)
        events[i] = cases[i].event;
    reading r = read_events(events, n);
    assert_int_equal(r.trace.events.n, n);
    for (size_t i = 0; i < n; i++) {
        char found[1024];
        attrs_text(&r.trace, r.ground.names, i, found, sizeof found);
        if (strcmp(found, cases[i].attrs) != 0)
            print_message("%s\n", cases[i].event);
        assert_string_equal(found, cases[i].attrs);
    }
    assert_int_equal(r.trace.counts[TM_COUNT_BAD_VALUE], n_bad_values);
    return r;
}
#define EXPECT_ATTRS(cases, n_bad_values) expect_attrs(cases, COUNT(cases), n_bad_values)

#define NO_SHAPE " [-1 -1 -1]x[-1 -1 -1] -1 -1 nan nan"

TEST(kernels_and_copies_have_all_their_attributes) {
    static const attr_case cases[] = {
        /* 2^53 + 1 is not exact in a double */
        {KERNEL("'External id':5,'queued':0,'device':3,'context':1,'stream':27,"
                "'correlation':9007199254740993,'registers per thread':40,'shared memory':49152,"
                "'blocks per SM':1.25,'warps per SM':10.5,'grid':[65535,2,3],"
                "'block': [ 128 , 4 , 1 ],'est. achieved occupancy %':31"),
         " #9007199254740993 [65535 2 3]x[128 4 1] 40 49152 1.25 10.50 occupancy=31"},
        {EVENT("Kernel", "1", "8", "'theoretical occupancy %':12.5,'correlation':7"),
         " #7" NO_SHAPE " occupancy=12.5"},
        {BARE("kernel", "'pid':1,'tid':8,"), " #0" NO_SHAPE},
        /* ROCm: numbers are texts, and there are no values per SM */
        {EVENT("kernel", "1", "9",
               "'device':'1','stream':'0','correlation':'11','kind':'Dispatch Kernel',"
               "'grid':[1,1,1],'block':[64,1,1]"),
         " #11 [1 1 1]x[64 1 1] -1 -1 nan nan"},
        /* Kineto's roctracer wrote this before 2024 */
        {KERNEL("'External id':58"), " #58" NO_SHAPE},
        /* an occupancy of 0 is unknown, unless it may be rounded: 0.03 of 64 warps are 0.05 %,
         * written as 0; 12 of 64 are not */
        {KERNEL("'est. achieved occupancy %':0,'warps per SM':12"),
         " #0 [-1 -1 -1]x[-1 -1 -1] -1 -1 nan 12.00"},
        {KERNEL("'est. achieved occupancy %':0"), " #0" NO_SHAPE},
        {KERNEL("'est. achieved occupancy %':-99,'warps per SM':1"),
         " #0 [-1 -1 -1]x[-1 -1 -1] -1 -1 nan 1.00"},
        {KERNEL("'est. achieved occupancy %':0,'warps per SM':0"),
         " #0 [-1 -1 -1]x[-1 -1 -1] -1 -1 nan 0.00"},
        {KERNEL("'est. achieved occupancy %':0,'warps per SM':0.03"),
         " #0 [-1 -1 -1]x[-1 -1 -1] -1 -1 nan 0.03 occupancy=0"},
        /* copies and sets: 2^33 bytes, and a bandwidth if present */
        {EVENT("gpu_memcpy", "0", "7",
               "'correlation':3,'bytes':8589934592,'memory bandwidth (GB/s)':12.5"),
         " #3 8589934592 bytes gbps=12.5"},
        {EVENT("Memset", "0", "7", "'correlation':4,'bytes':16,'memory bandwidth (GB/s)':'N/A'"),
         " #4 16 bytes"},
        {EVENT("gpu_memset", "0", "7", "'memory bandwidth (GB/s)':'inf'"), " #0 -1 bytes"},
    };
    reading r = EXPECT_ATTRS(cases, 0);
    ASSERT_NOTHING_COUNTED(&r);
    assert_int_equal(track_at(&r, 0)->device, 3); /* args take precedence over the pid */
    assert_int_equal(track_at(&r, 0)->stream, 27);
    assert_int_equal(track_at(&r, 3)->stream, 0);
    close_reading(&r);
}

TEST(calls_of_runtime_and_driver_have_a_correlation_unless_it_is_zero) {
    static const attr_case cases[] = {
        {EVENT("cuda_runtime", "1", "2", "'cbid':211,'correlation':31"), " launches #31"},
        {EVENT("cuda_runtime", "1", "2", "'External id':7,'correlation':0"), ""},
        {EVENT("cuda_runtime", "1", "2", "'External id':58,'stream':'0x0'"), " launches #58"},
        {EVENT("Runtime", "1", "2", "'external id':7,'correlation':32"), " launches #32"},
        {EVENT("cuda_driver", "1", "2", "'correlation':-33"), " launches #-33"},
        {BARE("cuda_runtime", "'pid':1,'tid':2,"), ""},
        {OPERATOR("'correlation':34"), ""},
    };
    reading r = EXPECT_ATTRS(cases, 0);
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
}

TEST(a_collective_has_all_its_attributes_on_kernel_and_operator) {
    static const attr_case cases[] = {
        /* 17293822569102704640 = 15 * 2^60, which is -2^60 as signed 64 bits */
        {KERNEL("'correlation':5,'Collective name':'all_to_allv','In msg nelems':4096,"
                "'Out msg nelems':8192,'Group size':32,'dtype':'BFloat16','In split size':'[1, 2]',"
                "'Out split size':'[]','Process Group Name':'0',"
                "'Process Group Description':'default_pg','Process Group Ranks':'[0, 1, ...]',"
                "'Global rank start':8,'Global rank stride':2,'Src Rank':3,'Dst Rank':4,'Seq':77,"
                "'Comms Id':17293822569102704640"),
         " #5" NO_SHAPE " collective=all_to_allv size=32 group=0 ranks=[0, 1, ...] of=default_pg "
         "dtype=BFloat16 in=4096 out=8192 in_split=[1, 2] out_split=[] start=8 stride=2 src=3 "
         "dst=4 seq=77 comms=-1152921504606846976"},
        {OPERATOR("'Collective name':'allreduce','Process Group Name':12,'Comms Id':'-5'"),
         " collective=allreduce group=12 comms=-5"},
        {KERNEL("'Group size':4"), " #0" NO_SHAPE}, /* without a name, it is not a collective */
    };
    reading r = EXPECT_ATTRS(cases, 0);
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
}

TEST(a_wait_has_its_kind_its_streams_and_the_ids_of_its_calls) {
#define SYNC(tid, args)                                                                            \
    "{'ph':'X','cat':'cuda_sync','name':'Stream Sync','pid':0,'ts':1,'dur':2,'tid':" tid           \
    ",'args':{" args ",'device':0}}"
    static const attr_case cases[] = {
        {SYNC("24", "'cuda_sync_kind':'Stream Wait Event','wait_on_stream':20,"
                    "'wait_on_cuda_event_record_corr_id':1385,'wait_on_cuda_event_id':19,"
                    "'stream':24,'correlation':1389"),
         " Stream Wait Event call=1389 record=1385 stream=24 on=20"},
        {SYNC("-1", "'cuda_sync_kind':'Event Sync','wait_on_stream':-1,"
                    "'wait_on_cuda_event_record_corr_id':-1,'stream':-1,'correlation':24"),
         " Event Sync call=24"},
        /* 2^32 - 1 means no stream */
        {SYNC("-1", "'cuda_sync_kind':'Context Sync','stream':4294967295,'correlation':225"),
         " Context Sync call=225"},
        /* the event's name tells the kind: the host waits */
        {SYNC("7", "'stream':7,'correlation':15"), " Stream Sync call=15 on=7"},
        {SYNC("7", "'cuda_sync_kind':'New Sync','stream':7"), " Unknown Sync stream=7"},
        {OPERATOR("'wait_on_stream':7"), ""}, /* not a wait, although it has the arg of one */
    };
#undef SYNC
    reading r = EXPECT_ATTRS(cases, 0);
    ASSERT_NOTHING_COUNTED(&r);
    assert_int_equal(track_at(&r, 2)->stream, -1);
    close_reading(&r);
}

/* 139637976727552 = 0x7f0000000000 */
TEST(a_memory_instant_has_bytes_and_what_its_age_recorded) {
    static const attr_case cases[] = {
        {"{'ph':'i','cat':'cpu_instant_event','s':'t','name':'[memory]','pid':1,'tid':2,'ts':5,"
         "'args':{'Total Reserved':4194304,'Total Allocated':2048,'Bytes':-1024,"
         "'Addr':139637976727552,'Device Id':3,'Device Type':1,'Ev Idx':9}}",
         " 7f0000000000 -1024 bytes of 1:3 allocated=2048 reserved=4194304"},
        {"{'ph':'i','s':'t','name':'[memory]','pid':1,'tid':2,'ts':5,'args':{'Device Type':0,"
         "'Device Id':-1,'Bytes':64}}",
         " ffffffffffffffff 64 bytes of 0:-1"},
    };
    reading r = EXPECT_ATTRS(cases, 0);
    assert_int_equal(event_at(&r, 0)->category, TM_CAT_CPU_INSTANT);
    assert_int_equal(event_at(&r, 1)->category, TM_CAT_NONE);
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
}

TEST(a_counter_has_a_row_for_every_series_that_is_a_number) {
    static const attr_case cases[] = {
        {"{'ph':'C','cat':'hardware_counters','name':'sm','pid':'GPU 0 Counters','ts':1,"
         "'args':{'':0.5}}",
         " =0.5"},
        {"{'ph':'C','name':'several','pid':1,'ts':2,'args':{'a':1,'text':'2','b\\u0062':-3e2,"
         "'nested':{'c':4},'none':null}}",
         " a=1 bb=-300"},
        {"{'ph':'C','name':'nothing','pid':1,'ts':3}", ""},
        {"{'ph':'C','name':'empty','pid':1,'ts':3,'args':{}}", ""},
    };
    reading r = EXPECT_ATTRS(cases, 0);
    ASSERT_COUNTS(&r, TM_COUNT_OTHER_CATEGORY, 1);
    close_reading(&r);
}

TEST(an_attribute_of_another_type_is_left_empty_and_counted) {
    static const attr_case cases[] = {
        {KERNEL("'correlation':'seven','grid':[1,2],'block':[1,'2',3],'registers per thread':1.5,"
                "'shared memory':[16],'device':true"),
         " #0" NO_SHAPE},
        /* null counts as absent, not as a wrong type */
        {KERNEL("'correlation':null,'grid':null"), " #0" NO_SHAPE},
        {"{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':7,'ts':1,'dur':2,'args':[1,2]}",
         " #0" NO_SHAPE},
        {"{'ph':'X','cat':'kernel','name':'e','pid':0,'tid':7,'ts':1,'dur':2,'args':7}",
         " #0" NO_SHAPE},
    };
    reading r = EXPECT_ATTRS(cases, 6);
    ASSERT_COUNTS(&r, TM_COUNT_BAD_VALUE, 6);
    assert_int_equal(track_at(&r, 0)->device, 0); /* without the arg, the pid is the device */
    close_reading(&r);
}

TEST(input_dimensions_of_operators_are_kept_on_one_line) {
    static const attr_case cases[] = {
        {OPERATOR("'Input Dims':[[8, 16], []]"), " shapes=[[8, 16], []]"},
        {OPERATOR("'Input Dims':[\n [8,16] ,\n  []]\n"), " shapes=[[8, 16], []]"},
        {EVENT("Operator", "1", "2", "'Input dims':[[[4]], []]"), " shapes=[[[4]], []]"},
        {OPERATOR("'Input Dims':[\n ]"), ""},
        {OPERATOR("'Input Dims':[]"), ""},
        {OPERATOR("'Input Dims':null"), ""},
        {OPERATOR("'Input Dims':7"), ""},
        {KERNEL("'Input Dims':[[1]]"), " #0" NO_SHAPE},
        {OPERATOR("'Input Dims':[['a b',1.5]]"), " shapes=[[\"a b\",1.5]]"},
        /* Values repeat, alternate with similar ones, or take several lines. */
        {OPERATOR("'Input Dims':[[8, 16], [3]]"), " shapes=[[8, 16], [3]]"},
        {OPERATOR("'Input Dims':[[9, 16], [3]]"), " shapes=[[9, 16], [3]]"},
        {OPERATOR("'Input Dims':[[9, 16], [3]]"), " shapes=[[9, 16], [3]]"},
        {OPERATOR("'Input Dims':[[8, 16], [3]]"), " shapes=[[8, 16], [3]]"},
        {OPERATOR("'Input Dims':[[8,\n16], [3]]"), " shapes=[[8, 16], [3]]"},
        {OPERATOR("'Input Dims':[[8,\n16], [3]]"), " shapes=[[8, 16], [3]]"},
    };
    reading r = EXPECT_ATTRS(cases, 1); /* 7 is a bad value */
    close_reading(&r);
}

TEST(long_input_dimensions_are_cut_at_512_bytes) {
    enum { LINES = 2 }; /* one case without and one with a line break; the same is kept of both */
    char event[LINES][4096], expected[1024] = " shapes=[";
    for (int line = 0; line < LINES; line++) {
        strcpy(event[line], "{'ph':'X','cat':'cpu_op','ts':1,'dur':2,'args':{'Input Dims':[");
        strcat(event[line], line == 0 ? "" : "\n");
        for (int i = 0; i < 200; i++)
            strcat(event[line], i > 0 ? ", [10, 2]" : "[10, 2]");
        strcat(event[line], "]}}");
    }
    for (int i = 0; i < 80; i++) /* each takes 9 bytes, except the first */
        strcat(expected, i > 0 ? ", [10, 2]" : "[10, 2]");
    memcpy(expected + strlen(" shapes=") + 509, "...", 4);
    const attr_case cases[LINES] = {{event[0], expected}, {event[1], expected}};
    reading r = EXPECT_ATTRS(cases, 0);
    close_reading(&r);
}

TEST(types_values_autograds_number_and_stacks_are_kept_of_operators) {
#define CALLED(name, args)                                                                         \
    "{'ph':'X','cat':'cpu_op','name':'" name "','ts':1,'dur':2,'args':{" args "}}"
#define DIMS "'Input Dims':[[2, 3]],"
#define SHAPES " shapes=[[2, 3]]"
    static const attr_case cases[] = {
        /* types and values are kept only for operators whose work is counted */
        {CALLED("aten::mm", DIMS "'Concrete Inputs':['', '[1]'],'Input type':['float', 'Scalar']"),
         SHAPES " types=[\"float\", \"Scalar\"] concrete=[\"\", \"[1]\"]"},
        {CALLED("aten::mm", DIMS "'Input type':['double']"), SHAPES " types=[\"double\"]"},
        {CALLED("aten::mm", "'Input type':['int'],'Input Dims':[[7]]"),
         " shapes=[[7]] types=[\"int\"]"},
        /* without shapes, no work is counted */
        {CALLED("aten::mm", "'Input type':['int'],'Concrete Inputs':['']"), ""},
        {CALLED("aten::add", DIMS "'Input type':['float']"), SHAPES},
        {CALLED("nanogpt::mm", DIMS "'Input type':['float']"), SHAPES},
        {CALLED("flash_attn_3::fwd", DIMS "'Input type':null,'Concrete Inputs':['\\'a']"),
         SHAPES " concrete=[\"\\\"a\"]"},
        {OPERATOR("'Sequence number':7,'Fwd thread id':0,'Call stack':'f.py(2): g;f.py(9): <m>'"),
         " sequence=7 stack=f.py(2): g;f.py(9): <m>"},
        {OPERATOR("'Fwd thread id':1,'Sequence number':7,'Call stack':''"), " sequence=7 thread=1"},
        {OPERATOR("'Sequence number':-1"), ""},
        {OPERATOR("'Call stack':'a;\\r\\nb'"), " stack=a;b"},
        {KERNEL("'Sequence number':7"), " #0" NO_SHAPE},
    };
#undef SHAPES
#undef DIMS
#undef CALLED
    reading r = EXPECT_ATTRS(cases, 0);
    assert_int_equal(r.trace.attrs[TM_ATTR_OPERATOR].n, 3);
    close_reading(&r);
}

/* Texts are cached by hash. With this many, texts of one event collide. */
TEST(arrays_of_one_operator_are_not_taken_for_each_other) {
    enum { N = 20000, ROOM = 200 };
    char *text = malloc((size_t)N * ROOM), wanted[2][ROOM], *p = text;
    p += sprintf(p, "{\"schemaVersion\":1,\"traceEvents\":[");
    for (int i = 0; i < N; i++)
        p +=
            sprintf(p,
                    "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"ts\":%d,\"dur\":1,"
                    "\"args\":{\"Input Dims\":[[4, 64, %d]],\"Concrete Inputs\":[\"[7, 7, %d]\"]}}",
                    i > 0 ? "," : "", i + 1, i, N - i);
    strcpy(p, "]}");
    reading r = read_text(text);
    for (int i = 0; i < N; i++) {
        const tm_shapes_attr *shapes = attr_at(&r, TM_ATTR_SHAPES, (size_t)i);
        const tm_inputs_attr *inputs = attr_at(&r, TM_ATTR_INPUTS, (size_t)i);
        snprintf(wanted[0], ROOM, "[[4, 64, %d]]", i);
        snprintf(wanted[1], ROOM, "[\"[7, 7, %d]\"]", N - i);
        assert_string_equal(tm_names_text(r.ground.names, shapes->shapes).bytes, wanted[0]);
        assert_string_equal(tm_names_text(r.ground.names, inputs->concrete).bytes, wanted[1]);
    }
    close_reading(&r);
    free(text);
}

RUN_TESTS()

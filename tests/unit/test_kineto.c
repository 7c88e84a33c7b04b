/* The Kineto reader on traces of real profilers: time formats and layouts of all versions. */
#include "trace_text.h"

static void assert_trace(const reading *r, const char *expected) {
    char found[2048];
    trace_text(r, found, sizeof found);
    assert_string_equal(found, expected);
}

#define FRAME                                                                                      \
    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":%s,"     \
    "\"dur\":%s}"

TEST(times_of_every_era_are_exact_to_the_nanosecond) {
    static const struct {
        const char *before, *ts, *dur, *after; /* top-level members around traceEvents */
        int64_t begin_ns, duration_ns;
    } cases[] = {
        /* up to 2024-03: integer microseconds since the epoch */
        {"", "1610500000123457", "25", "", 1610500000123457000, 25000},
        {"", "0", "0", "", 0, 0},
        /* 2024-04: three decimals; at this size, a double resolves only 0.25 us */
        {"", "1712000000123456.789", "0.001", "", 1712000000123456789, 1},
        {"", "1712000000123456.001", "12.345", "", 1712000000123456001, 12345},
        {"", "999999999999999.999", "1.000", "", 999999999999999999, 1000}, /* 15 digits, */
        {"", "1000000000000000.001", "1.0", "", 1000000000000000001, 1000}, /* then 16 */
        /* from 2024-05 on: relative to the file's base, which is before or after the events */
        {"", "4692357.101", "3.5", ",\"baseTimeNanoseconds\":1711964646000000000",
         1711964650692357101, 3500},
        {"\"baseTimeNanoseconds\": 1775078550000000000,", "4692357.101", "3.5", "",
         1775078554692357101, 3500},
        {"\"baseTimeNanoseconds\":0,", "7.000", "1", "", 7000, 1000},
        {"\"baseTimeNanoseconds\":1.711964646e18,", "0.000", "0.000", "", 1711964646000000000, 0},
        /* negative times are kept */
        {"", "-3.500", "1", "", -3500, 1000},
        {"\"baseTimeNanoseconds\":1000000,", "-0.001", "1", "", 999999, 1000},
        /* digits below nanoseconds are rounded half away from zero, separately in each value */
        {"", "1.0005", "1.0004", "", 1001, 1000},
        {"", "-1.0005", "0.0005", "", -1001, 1},
        {"", "-1.0004", "0.0004", "", -1000, 0},
        {"", "2.49999", "0.99951", "", 2500, 1000},
        {"", "1712000000123456.7894999", "1", "", 1712000000123456789, 1000},
        {"", "1712000000123456.7895", "1", "", 1712000000123456790, 1000},
        /* other valid JSON notations of numbers */
        {"", "1.7e3", "25e-1", "", 1700000, 2500},
        {"", "123.5", "1E+2", "", 123500, 100000}, /* one decimal: tenths of a us */
        {"", "0.0", "-0.0", "", 0, 0},
        {"", "17120000001234567.890e-1", "1", "", 1712000000123456789, 1000},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "{%s\"traceEvents\":[" OP("\"ts\":%s,\"dur\":%s") "]%s}",
                 cases[i].before, cases[i].ts, cases[i].dur, cases[i].after);
        reading r = read_text(text);
        if (r.trace.events.n != 1)
            print_message("the times are %s and %s\n", cases[i].ts, cases[i].dur);
        assert_int_equal(r.trace.events.n, 1);
        assert_int_equal(event_at(&r, 0)->begin_ns, cases[i].begin_ns);
        assert_int_equal(event_at(&r, 0)->duration_ns, cases[i].duration_ns);
        ASSERT_COUNTS(&r, TM_COUNT_ZERO_TIME, strtod(cases[i].ts, NULL) == 0);
        close_reading(&r);
    }
}

TEST(the_document_may_be_an_object_or_a_bare_array) {
    static const struct {
        const char *text;
        size_t n_events;
    } cases[] = {
        {"[" OP("\"ts\":1,\"dur\":2") "]", 1},
        {" \n[\t" OP("\"ts\":1,\"dur\":2") " ,\r\n" OP("\"ts\":1,\"dur\":2") " ] \n", 2},
        {"[]", 0},
        {"\xEF\xBB\xBF[" OP("\"ts\":1,\"dur\":2") "]", 1}, /* starts with a byte order mark */
        {TRACE(OP("\"ts\":1,\"dur\":2")), 1},
        {"\xEF\xBB\xBF " TRACE(OP("\"ts\":1,\"dur\":2")), 1},
        {"{\"traceEvents\":[]}", 0},
        {"{ \"traceEvents\" : [ ] }\n", 0},
        {"{\"traceEvents\":[" OP("\"ts\":1,\"dur\":2") "],\"WARNING\":[\"a\",\"b\"],"
                                                       "\"traceName\":\"x\"}",
         1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reading r = read_text(cases[i].text);
        assert_int_equal(r.trace.events.n, cases[i].n_events);
        assert_name(&r.ground, r.trace.source, "some.json");
        assert_name(&r.ground, r.trace.format, "kineto");
        assert_false(r.trace.truncated);
        ASSERT_NOTHING_COUNTED(&r);
        close_reading(&r);
    }
}

TEST(every_phase_is_kept_or_counted) {
    static const char *const events[] = {
        "{'ph':'X','cat':'cpu_op','name':'op','pid':1,'tid':2,'ts':1,'dur':2}",
        "{'ph':'i','s':'g','name':'Record Window End','pid':'','tid':'','ts':9}",
        "{'ph':'I','name':'old instant','pid':1,'tid':2,'ts':4,'dur':7}",
        "{'ph':'C','name':'counter','pid':1,'ts':5,'args':{'v':1}}",
        "{'ph':'M','name':'process_labels','pid':1,'args':{'labels':'CPU'}}",
        "{'ph':'s','id':4,'pid':1,'tid':2,'ts':1,'cat':'ac2g','name':'ac2g'}",
        "{'ph':'t','id':4,'pid':1,'tid':2,'ts':1}",
        "{'ph':'f','id':4,'pid':1,'tid':2,'ts':1,'bp':'e'}",
        "{'ph':'B','name':'b','ts':1}",
        "{'ph':'E','ts':2}",
        "{'ph':'XX','ts':2}",
        "{'ph':7}",
        "{'ph':null}",
        "{'name':'no ph','ts':1,'dur':1}",
        "{}",
        "17",
        "'text'",
        "null",
        "[{'ph':'X'}]",
        "true",
    };
    reading r = READ_EVENTS(events);
    assert_trace(&r, "op cpu_op 1000+2000 1/2\n"
                     "Record Window End none @9000 /\n"
                     "old instant none @4000 1/2\n" /* an instant has no duration */
                     "counter none @5000 1/ v=1\n");
    static const int kinds[] = {TM_DURATION, TM_INSTANT, TM_INSTANT, TM_COUNTER};
    for (size_t i = 0; i < COUNT(kinds); i++)
        assert_int_equal(event_at(&r, i)->kind, kinds[i]);
    ASSERT_COUNTS(&r, TM_COUNT_METADATA, 1, TM_COUNT_FLOW, 3, TM_COUNT_OTHER_PHASE, 7,
                  TM_COUNT_NOT_OBJECT, 5);
    close_reading(&r);
}

TEST(an_event_without_a_name_or_of_an_unknown_category_is_kept_and_counted) {
    static const char *const events[] = {
        "{'ph':'X','cat':'cpu_op','pid':1,'tid':2,'ts':1,'dur':2}",
        "{'ph':'X','cat':'cpu_op','name':null,'ts':1,'dur':2}",
        "{'ph':'X','cat':'cpu_op','name':'','ts':1,'dur':2}",
        "{'ph':'X','cat':'thing','name':'a','ts':1,'dur':2}",
        "{'ph':'X','cat':'','name':'a','ts':1,'dur':2}",
        "{'ph':'X','name':'a','ts':1,'dur':2}",
        "{'ph':'X','cat':'a category of more than thirty-two bytes','name':'a','ts':1,'dur':2}",
    };
    reading r = READ_EVENTS(events);
    assert_trace(&r, " cpu_op 1000+2000 1/2\n cpu_op 1000+2000 /\n cpu_op 1000+2000 /\n"
                     "a other 1000+2000 /\na none 1000+2000 /\na none 1000+2000 /\n"
                     "a other 1000+2000 /\n");
    assert_int_equal(event_at(&r, 0)->name, TM_NO_NAME);
    assert_int_equal(event_at(&r, 1)->name, TM_NO_NAME);
    ASSERT_COUNTS(&r, TM_COUNT_NO_NAME, 2, TM_COUNT_NO_CATEGORY, 1, TM_COUNT_OTHER_CATEGORY, 2);
    close_reading(&r);
}

TEST(older_words_of_categories_mean_the_same) {
    static const struct {
        tm_category category;
        const char *words[4];
    } cases[] = {
        {TM_CAT_CPU_OP, {"cpu_op", "Operator"}},
        {TM_CAT_USER_ANNOTATION, {"user_annotation"}},
        {TM_CAT_PYTHON, {"python_function", "Python"}},
        {TM_CAT_RUNTIME, {"cuda_runtime", "Runtime"}},
        {TM_CAT_DRIVER, {"cuda_driver"}},
        {TM_CAT_OVERHEAD, {"overhead"}},
        {TM_CAT_TRACE, {"Trace"}},
        {TM_CAT_KERNEL, {"kernel", "Kernel", "KERNEL"}}, /* GPU events from here on */
        {TM_CAT_MEMCPY, {"gpu_memcpy", "Memcpy"}},
        {TM_CAT_MEMSET, {"Memset"}},
        {TM_CAT_GPU_ANNOTATION, {"gpu_user_annotation"}},
        {TM_CAT_CUDA_SYNC, {"cuda_sync"}},
        {TM_CAT_CUDA_EVENT, {"cuda_event"}},
    };
    bool gpu = false;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (const char *const *word = cases[i].words; *word; word++) {
            char event[256];
            const char *const events[] = {event};
            gpu |= cases[i].category == TM_CAT_KERNEL;
            snprintf(event, sizeof event,
                     "{'ph':'X','cat':'%s','name':'a','pid':0,'tid':7,'ts':1,'dur':2}", *word);
            reading r = READ_EVENTS(events);
            assert_int_equal(event_at(&r, 0)->category, cases[i].category);
            assert_int_equal(track_at(&r, 0)->kind, gpu ? TM_TRACK_GPU : TM_TRACK_CPU);
            ASSERT_NOTHING_COUNTED(&r);
            close_reading(&r);
        }
}

/* As written by torch/autograd/profiler.py of PyTorch 1.8. */
TEST(operators_without_categories_are_those_of_the_host) {
    static const char *const events[] = {
        "{'name': 'aten::relu', 'ph': 'X', 'ts': 160, 'dur': 20, 'tid': 1, 'pid': 'CPU functions', "
        "'args': {}}",
        "{'name': 'aten::relu', 'ph': 'X', 'ts': 170, 'dur': 30, 'tid': 0, 'pid': 'CUDA "
        "functions', "
        "'args': {}}",
        "{'name': 'ProfilerStep#1', 'ph': 'X', 'ts': 150, 'dur': 90, 'tid': 1, 'pid': 'CPU "
        "functions', 'args': {}}",
        "{'name': 'ReluBackward0', 'ph': 'X', 'ts': 210, 'dur': 9, 'tid': 1, 'pid': 'CPU "
        "functions', 'args': {}}",
    };
    reading r = READ_EVENTS(events);
    assert_int_equal(event_at(&r, 0)->category, TM_CAT_CPU_OP);
    assert_int_equal(event_at(&r, 1)->category, TM_CAT_NONE);
    assert_int_equal(event_at(&r, 2)->category, TM_CAT_USER_ANNOTATION);
    assert_int_equal(event_at(&r, 3)->category, TM_CAT_CPU_OP);
    ASSERT_COUNTS(&r, TM_COUNT_NO_CATEGORY, 1);
    close_reading(&r);
}

TEST(a_frame_that_ran_at_the_begin_has_the_line_of_its_function) {
    /* A frame that was running at the start has the line that it had reached; later frames have
     * their function's line. The running frame gets the line of its function: the last one above
     * with the same file and name. */
    static const struct {
        const char *ran, *name;
    } cases[] = {
        {"x.py(17): loop", "x.py(14): loop"},   {"x.py(40): loop", "x.py(30): loop"},
        {"x.py(13): loop", "x.py(13): loop"},   {"y.py(17): loop", "y.py(17): loop"},
        {"x.py(17): other", "x.py(17): other"}, {"x.py(30): loop", "x.py(30): loop"},
        {"<built-in>", "<built-in>"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, "{\"traceEvents\":[" FRAME "," FRAME "," FRAME "," FRAME "]}",
                 "x.py(20): <module>", "0", "100", cases[i].ran, "0.5", "40", "x.py(14): loop",
                 "50", "10", "x.py(30): loop", "60", "10");
        reading r = read_text(text);
        assert_int_equal(r.trace.events.n, 4);
        assert_string_equal(tm_names_text(r.ground.names, event_at(&r, 1)->name).bytes,
                            cases[i].name);
        assert_string_equal(tm_names_text(r.ground.names, event_at(&r, 2)->name).bytes,
                            "x.py(14): loop");
        close_reading(&r);
    }
}

TEST(memory_records_of_pythons_export_are_instants) {
    /* PyTorch 2.14 with use_python_export=True writes these records with a duration. */
    static const char *const phases[] = {"\"X\",\"dur\":90", "\"i\",\"s\":\"t\""};
    for (size_t i = 0; i < COUNT(phases); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"traceEvents\":[{\"ph\":%s,\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\","
                 "\"pid\":1,\"tid\":1,\"ts\":12,\"args\":{\"Bytes\":4096,\"Addr\":1}}]}",
                 phases[i]);
        reading r = read_text(text);
        assert_int_equal(event_at(&r, 0)->kind, TM_INSTANT);
        assert_int_equal(event_at(&r, 0)->duration_ns, 0);
        assert_int_equal(r.trace.attrs[TM_ATTR_MEMORY].n, 1);
        close_reading(&r);
    }
}

TEST(of_a_key_that_is_repeated_the_last_value_wins) {
    static const char *const events[] = {
        ("{'ph':'i','ph':'X','cat':'cpu_op','cat':'kernel','name':'a','name':'b','pid':8,"
         "'pid':0,'tid':9,'tid':7,'ts':99,'ts':1,'dur':99,'dur':2,'args':{'correlation':1,"
         "'grid':[1,1,1],'correlation':2,'grid':[2,3,4]}}"),
    };
    reading r = READ_EVENTS(events);
    assert_trace(&r, "b kernel 1000+2000 0/7 #2 [2 3 4]x[-1 -1 -1] -1 -1 nan nan\n");
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
}

TEST(keys_may_stand_in_any_order_and_on_any_lines) {
    static const char *const members[] = {
        "\"args\":{\"stream\":27,\"Collective name\":\"allreduce\",\"correlation\":5,\"device\":3}",
        "\"ph\":\"X\"",
        "\"cat\":\"kernel\"",
        "\"name\":\"k\"",
        "\"pid\":3",
        "\"tid\":27",
        "\"ts\":12.345",
        "\"dur\":1.5",
    };
    enum { N = COUNT(members) };
    for (size_t first = 0; first < N; first++)
        for (size_t stride = 1; stride < N; stride += 2) { /* odd: visits each member once */
            char event[512] = "", text[768];
            for (size_t i = 0; i < N; i++) {
                strcat(event, i ? (i % 2 ? ",\r\n\r\n    " : ",") : "");
                strcat(event, members[(first + i * stride) % N]);
            }
            snprintf(text, sizeof text, TRACE("\n {\t%s\n}\n"), event);
            reading r = read_text(text);
            assert_trace(&r, "k kernel 12345+1500 3/27 #5 [-1 -1 -1]x[-1 -1 -1] -1 -1 nan nan "
                             "collective=allreduce\n");
            assert_int_equal(track_at(&r, 0)->stream, 27);
            ASSERT_NOTHING_COUNTED(&r);
            close_reading(&r);
        }
}

TEST(names_are_kept_with_their_escapes_decoded) {
    static const struct {
        const char *json, *name;
    } cases[] = {
        {"aten::mm", "aten::mm"},
        {"void k<int, (T)1>(int*)::{lambda()#1}", "void k<int, (T)1>(int*)::{lambda()#1}"},
        {"Library(\\\"a\\\", \\\"IMPL\\\")", "Library(\"a\", \"IMPL\")"},
        {"torch\\\\cuda\\/x", "torch\\cuda/x"},
        {"\\b\\f\\n\\r\\t", "\b\f\n\r\t"},
        {"\\u0041\\u00e9\\u20ac", "A\xc3\xa9\xe2\x82\xac"},
        {"\\ud83d\\ude00!", "\xf0\x9f\x98\x80!"}, /* a pair of surrogates: U+1F600 */
        {"\\ud83dx", "\xef\xbf\xbdx"},            /* a single surrogate: U+FFFD */
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        /* addresses of objects differ in each run; without them, calls can be added up */
        {"<built-in method item of Tensor object at 0xfa73B0>",
         "<built-in method item of Tensor object>"},
        {"partial(<f at 0x1>, \\\"<g at 0x2>\\\") at 0x3", "partial(<f>, \"<g>\")"},
        {"look at 0x, at 0", "look at 0x, at 0"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 TRACE("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"ts\":1,\"dur\":2}"),
                 cases[i].json);
        reading r = read_text(text);
        assert_name(&r.ground, event_at(&r, 0)->name, cases[i].name);
        ASSERT_NOTHING_COUNTED(&r);
        close_reading(&r);
    }
}

TEST(metadata_is_kept_without_its_white_space_and_without_the_events) {
    reading r =
        read_text("{\n  \"schemaVersion\": 1,\n  \"note\": \"a  b // c\",\n"
                  "  \"deviceProperties\": [\n    { \"id\": 0 , \"name\": \"H 100\" }\n  ],\n"
                  "  \"traceEvents\": [],\n  \"traceName\": \"x\"\n}\n");
    assert_name(&r.ground, r.trace.metadata,
                "{\"schemaVersion\":1,\"note\":\"a  b // c\",\"deviceProperties\":[{\"id\":0,"
                "\"name\":\"H 100\"}],\"traceName\":\"x\"}");
    close_reading(&r);
    r = read_text("[]");
    assert_int_equal(r.trace.metadata, TM_NO_NAME);
    close_reading(&r);
}

TEST(rank_world_size_and_host_come_from_the_metadata) {
    static const struct {
        const char *before, *after, *host;
        int64_t rank, world_size;
    } cases[] = {
        {"", "", "", -1, -1},
        {"\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":3,\"world_size\":16},", "", "", 3, 16},
        {"", ",\"distributedInfo\":{\"rank\":1023,\"world_size\":1024,\"nccl_version\":\"\"}", "",
         1023, 1024},
        {"\"distributedInfo\":{\"rank\":0},", "", "", 0, -1},
        {"\"distributedInfo\":{\"world_size\":8},", "", "", -1, 8},
        {"\"distributedInfo\":{\"rank\":-1,\"world_size\":\"8\"},", "", "", -1, -1},
        {"\"distributedInfo\":[1],", "", "", -1, -1},
        {"\"distributedInfo\":null,", "", "", -1, -1},
        {"\"other\":{\"distributedInfo\":{\"rank\":5}},\"rank\":6,", "", "", -1, -1},
        {"\"host_name\":\"node7\",", "", "node7", -1, -1},
        {"", ",\"hostname\":\"node\\u0038\"", "node8", -1, -1},
        {"\"host_name\":7,", "", "", -1, -1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "{%s\"traceEvents\":[]%s}", cases[i].before, cases[i].after);
        reading r = read_text(text);
        assert_int_equal(r.trace.rank, cases[i].rank);
        assert_int_equal(r.trace.world_size, cases[i].world_size);
        assert_name(&r.ground, r.trace.host, cases[i].host);
        close_reading(&r);
    }
}

/* Returns "[[1,2],[1,2],...]" of about this size. */
static char *make_dims(size_t size) {
    char *text = malloc(size + 16);
    assert_non_null(text);
    size_t n = 0;
    text[n++] = '[';
    while (n < size)
        n += (size_t)snprintf(text + n, sizeof "[1,2],", "[1,2],");
    memcpy(text + n - 1, "]", 2);
    return text;
}

TEST(an_event_larger_than_the_window_is_read) {
    static const size_t sizes[] = {1 << 19, 1 << 20, (1 << 20) + 4096, 3 << 20, 9 << 20};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char *dims = make_dims(sizes[i]);
        size_t room = sizes[i] + 1024;
        char *text = malloc(room);
        assert_non_null(text);
        int n = snprintf(text, room,
                         TRACE("%s,{\"args\":{\"Input Dims\":%s,\"Bytes\":5},\"ph\":\"i\",\"name\":"
                               "\"large\",\"ts\":7},%s"),
                         OP("\"ts\":1,\"dur\":2"), dims, OP("\"ts\":3,\"dur\":4"));
        assert_true(n > 0 && (size_t)n < room);
        reading r = read_bytes(text, (size_t)n);
        assert_int_equal(r.trace.events.n, 3);
        assert_name(&r.ground, event_at(&r, 1)->name, "large");
        assert_int_equal(event_at(&r, 1)->begin_ns, 7000);
        assert_int_equal(((tm_memory_attr *)attr_at(&r, TM_ATTR_MEMORY, 0))->bytes, 5);
        assert_int_equal(event_at(&r, 2)->begin_ns, 3000);
        ASSERT_NOTHING_COUNTED(&r);
        close_reading(&r);
        free(text);
        free(dims);
    }
}

TEST(events_are_read_wherever_the_window_ends) {
    enum { N = 30000, LINE = 160 };
    char *text = malloc((size_t)N * LINE + 64);
    assert_non_null(text);
    size_t n = (size_t)sprintf(text, "{\"traceEvents\":[\n");
    for (int i = 0; i < N; i++) /* about 3.5 MB: several windows, and lines of different lengths */
        n += (size_t)sprintf(
            text + n,
            "%s {\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"kernel \\\"%d\\\"\",\"pid\":0,"
            "\"tid\":%d,\"ts\":%d.%03d,\"dur\":1.5,\"args\":{\"correlation\":%d}}",
            i ? ",\n" : "", i % 1000, i % 40, 7 + i * 7, i % 1000, i + 1);
    n += (size_t)sprintf(text + n, "]}");
    reading r = read_bytes(text, n);
    assert_int_equal(r.trace.events.n, N);
    assert_int_equal(r.trace.tracks.n, 40);
    for (int i = 0; i < N; i++) {
        char name[32];
        snprintf(name, sizeof name, "kernel \"%d\"", i % 1000);
        assert_int_equal(event_at(&r, (size_t)i)->begin_ns, (int64_t)i * 7000 + 7000 + i % 1000);
        assert_int_equal(track_at(&r, (size_t)i)->stream, i % 40);
        assert_name(&r.ground, event_at(&r, (size_t)i)->name, name);
        assert_int_equal(((tm_kernel_attr *)attr_at(&r, TM_ATTR_KERNEL, (size_t)i))->correlation,
                         i + 1);
    }
    ASSERT_NOTHING_COUNTED(&r);
    close_reading(&r);
    free(text);
}

RUN_TESTS()

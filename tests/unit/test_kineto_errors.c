/* Kineto traces that are wrong: refused at the byte that is wrong, with words that say why; and
 * what looks wrong but is only counted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers/formats.h"
#include "readers/number.h"
#include "timeline/trace.h"

/* Reads [bytes, bytes + n); the trace is the caller's to free. */
static tm_status read_bytes(const char *bytes, size_t n, tm_trace *trace, tm_error *err) {
    tm_source *source = NULL;
    tm_names *names = tm_names_create();
    assert_non_null(names);
    assert_int_equal(tm_source_open_memory(bytes, n, "bad.json", &source, NULL), TM_OK);
    tm_status status = tm_trace_read_source(&tm_format_kineto, source, NULL, names, trace, err);
    tm_source_close(source);
    tm_names_destroy(names);
    return status;
}

/* A wrong text is written as what is good and the rest: the error is where the rest begins. */
typedef struct bad_case {
    const char *good, *rest, *message;
} bad_case;

static const char ends[] = "the file ends in the middle of a value";
static const char comma_in_object[] = "a comma or } should follow the value";
static const char comma_in_array[] = "a comma or ] should follow the value";
static const char comma_in_events[] = "a comma or ] should follow the event";
static const char no_base[] = "baseTimeNanoseconds is no time";

#define OPEN "{\"traceEvents\": ["
#define EVENT "{\"ph\": \"X\", \"ts\": 1, \"dur\": 2}"

static const bad_case bad_cases[] = {
    /* the document */
    {"", "7", "a trace begins with { or ["},
    {" \n ", "\"traceEvents\"", "a trace begins with { or ["},
    {"  ", "", "a trace begins with { or ["},
    {"\xEF\xBB\xBF", "x", "a trace begins with { or ["},
    {"\xEF\xBB\xBF", "\xEF\xBB\xBF[]", "a trace begins with { or ["},
    {"{\"a\": 1}", "", "the document has no traceEvents"},
    {"{}", "", "the document has no traceEvents"},
    {"{\"traceEvents\": {}}", "", "the document has no traceEvents"},
    {"{\"traceEvents\": null}", "", "the document has no traceEvents"},
    {"[]", "]", "something follows the end of the document"},
    {"[" EVENT "]\n", "[]", "something follows the end of the document"},
    {OPEN "]} ", "{" OPEN "]}", "something follows the end of the document"},
    /* the outermost object */
    {"{", "", ends},
    {"{", ",\"traceEvents\": []}", "a key should stand here"},
    {"{", "traceEvents: []}", "a key should stand here"},
    {"{\"traceEvents\" ", "[]}", "a colon should follow the key"},
    {"{\"traceEvents\": ", "}", "a value should stand here"},
    {OPEN "] ", "\"a\": 1}", comma_in_object},
    {OPEN "]", "", "the file ends inside its outermost object"},
    {OPEN "]", "]", comma_in_object},
    {"{\"a\": 1 ", "\"traceEvents\": []}", comma_in_object},
    {"{\"trace", "\nEvents\": []}", "a control character stands in a string"},
    {"{\"", "\xFF\": 1, \"traceEvents\": []}", "a string is not valid UTF-8"},
    {"{\"traceEv", "", ends},
    {"{\"traceEvents\"", "", ends},
    {"{\"traceEvents\":", "", ends},
    {"{\"traceEvents\": [", "", ends},
    /* other values of the outermost object */
    {"{\"distributedInfo\": {\"rank\": 0", "", ends},
    {"{\"distributedInfo\": {\"rank\" ", "0}}", "a colon should follow the key"},
    {"{\"distributedInfo\": {\"rank\": 0 ", "\"a\": 1}}", comma_in_object},
    {OPEN "], \"traceName\": \"/tmp", "", ends},
    {"{\"baseTimeNanoseconds\": ",
     "\"1711964646000000000\", "
     "\"traceEvents\": []}",
     no_base},
    {"{\"baseTimeNanoseconds\": ", "null, \"traceEvents\": []}", no_base},
    {"{\"baseTimeNanoseconds\": ", "-1, \"traceEvents\": []}", no_base},
    {"{\"baseTimeNanoseconds\": ", "1.5, \"traceEvents\": []}", no_base},
    {"{\"baseTimeNanoseconds\": ", "1e99, \"traceEvents\": []}", no_base},
    {"{\"baseTimeNanoseconds\": ", "9223372036854775808, \"traceEvents\": []}", no_base},
    {"{\"baseTimeNanoseconds\": ", "3000000000000000001, \"traceEvents\": []}", no_base},
    {OPEN "], \"baseTimeNanoseconds\": ", "[1]}", no_base},
    {"{\"baseTimeNanoseconds\": 17", "", "the file ends inside its outermost object"},
    /* between events */
    {"[" EVENT " ", EVENT "]", comma_in_events},
    {"[" EVENT, "}", comma_in_events},
    {"[" EVENT ",\n" EVENT ",\n" EVENT "\n ", EVENT "]", comma_in_events},
    {"[" EVENT ",\n" EVENT ",\n" EVENT ",\n", "}]", "a value should stand here"},
    {OPEN EVENT, "}", comma_in_events},
    {"[", "," EVENT "]", "a value should stand here"},
    {"[" EVENT ",", "," EVENT "]", "a value should stand here"},
    {"[[1, 2", "", ends},
    {"[[1, ", "}]", "a value should stand here"},
    {"[", "NaN]", "a value should stand here"},
    {"[-", "Infinity]", "a number needs a digit here"},
    /* inside an event */
    {"[{", "", ends},
    {"[{\"ph", "", ends},
    {"[{\"ph\"", "", ends},
    {"[{\"ph\": \"X\"", "", ends},
    {"[{\"ph\": \"X\", \"ts\": 12.", "", ends},
    {"[{\"ph\": \"X\", \"args\": {", "", ends},
    {"[{\"ph\": \"X\", \"args\": {\"grid\": [1, 2", "", ends},
    {"[{", ",}]", "a key should stand here"},
    {"[{\"ph\": \"X\" ", "\"ts\": 1}]", comma_in_object},
    {"[{\"ph\": \"X\"", "]", comma_in_object},
    {"[{\"ph\" ", "\"X\"}]", "a colon should follow the key"},
    {"[{\"ph\": ", "X}]", "a value should stand here"},
    {"[{\"ph\": ", "}]", "a value should stand here"},
    {"[{\"name\": \"\xE9", "", ends}, /* a character of three bytes, cut */
    {"[{\"name\": \"\xF4\x8F\xBF", "", ends},
    {"[{\"name\": \"\xF4\x90", "", ends},
    {"[{\"name\": \"\xED\x9F", "", ends},
    {"[{\"name\": \"\xED\xA0", "", ends},
    {"[{\"name\": \"\xE9\"", "", ends},
    {"[{\"name\": \"\xFF", "", ends},
    {"[{\"ts\": ", "+1}]", "a value should stand here"},
    {"[{\"ts\": ", ".5}]", "a value should stand here"},
    {"[{\"ts\": 0", "1}]", comma_in_object},
    {"[{\"ts\": 1.", "}]", "a number needs a digit behind its point"},
    {"[{\"ts\": 1e", "}]", "a number needs a digit in its exponent"},
    {"[{\"ts\": 12.345", "x}]", comma_in_object},
    {"[{\"ts\": 1 ", "2}]", comma_in_object},
    {"[{\"pid\": 0", "7}]", comma_in_object},
    {"[{\"tid\": n", "one}]", "only true, false and null are words in JSON"},
    {"[{\"other\": [{\"a\": 1}, {\"b\" ", "2}]}]", "a colon should follow the key"},
    /* quotes that do not fit are not those of a name where something else is missing: a comma, */
    {"[{\"name\": \"a\" ", "\"ph\": \"X\", \"ts\": 1}]", comma_in_object},
    {"[{\"args\": {\"dtype\": \"Float\" ", "\"Seq\": 8, \"x\": \"y\"}}]", comma_in_object},
    {"[{\"args\": {\"dtype\": \"Float\"\n", "\"Seq\" : \"8\", \"x\": 1}}]", comma_in_object},
    {"[{\"name\": \"a\" ", "\"key with \\\"\": 2, \"ph\": \"X\"}]", comma_in_object},
    /* a colon, */
    {"[{\"name\": \"a\", \"ph\" ", "\"X\", \"ts\": 1}]", "a colon should follow the key"},
    {"[{\"name\": \"a\", \"pid\" ", "12, \"ts\": 1, \"x\": \"\"}]",
     "a colon should follow the key"},
    {"[{\"name\": \"a\", \"args\" ", "{}, \"x\": \"\"}]", "a colon should follow the key"},
    {"[{\"cat\" ", "\"a\", \"ph\": \"X\"}]", "a colon should follow the key"},
    /* a quote */
    {"[{\"name\": \"a, \"", "ph\": \"X\", \"ts\": 1}]", comma_in_object},
    {"[{\"name\": \"a\", ", "ph\": \"X\", \"ts\": 1}]", "a key should stand here"},
    {"[{\"name\": \"a\", \"ph: \"", "X\", \"ts\": 1}]", "a colon should follow the key"},
    {"[{\"args\": {\"dtype\": \"Float, \"", "Group size\": 8, \"x\": \"y\"}}]", comma_in_object},
    {"[{\"name\": ", "a\", \"ph\": \"X\"}]", "a value should stand here"},
    /* a bracket, or what it closes */
    {"[{\"name\": \"a\"", "], \"x\": \"y\"}]", comma_in_object},
    {"[{\"name\": \"a\" ", "x}]", comma_in_object},
    {"[{\"args\": {\"x\": [\"a\"", "}, \"b\"]}}]", comma_in_array},
    /* inside args */
    {"[{\"args\": {", ",}}]", "a key should stand here"},
    {"[{\"args\": {\"stream\": 7 ", "\"device\": 0}}]", comma_in_object},
    {"[{\"args\": {\"stream\": 0", "7}}]", comma_in_object},
    {"[{\"args\": {\"stream\" ", "7}}]", "a colon should follow the key"},
    {"[{\"args\": {\"stream\": 7}", "", ends},
    {"[{\"args\": {\"stream\": 7.", "}}]", "a number needs a digit behind its point"},
    {"[{\"args\": {\"grid\": [1, 2, 3", "}}]", comma_in_array},
    {"[{\"args\": {\"grid\": [1 ", "2, 3]}}]", comma_in_array},
    {"[{\"args\": {\"block\": [", ",1]}}]", "a value should stand here"},
    {"[{\"args\": {\"unknown\": {\"a\": [", "}}}]", "a value should stand here"},
};

/* The text behind `lead` blanks: the end of the window's first megabyte may lie in it. */
static void expect_refused(const bad_case *c, size_t lead) {
    size_t good = strlen(c->good), rest = strlen(c->rest);
    bool mark = good >= 3 && memcmp(c->good, "\xEF\xBB\xBF", 3) == 0;
    char *bytes = malloc(lead + good + rest);
    tm_trace trace;
    tm_error err = {.offset = -1};
    assert_non_null(bytes);
    /* A byte order mark stays in front. */
    memcpy(bytes, c->good, mark ? 3 : 0);
    memset(bytes + (mark ? 3 : 0), ' ', lead);
    memcpy(bytes + lead + (mark ? 3 : 0), c->good + (mark ? 3 : 0), good - (mark ? 3 : 0));
    memcpy(bytes + lead + good, c->rest, rest);
    tm_status status = read_bytes(bytes, lead + good + rest, &trace, &err);
    if (status != TM_ERR_INPUT || err.offset != (int64_t)(lead + good) ||
        strcmp(err.message, c->message) != 0)
        fail_msg("%s >>> %s behind %zu blanks: status %d, byte %" PRId64 ": %s", c->good, c->rest,
                 lead, (int)status, err.offset, err.message);
    assert_string_equal(err.path, "bad.json");
    tm_trace_free(&trace);
    free(bytes);
}

static void a_bad_trace_is_refused_at_the_byte_that_is_wrong(void **state) {
    for (size_t i = 0; i < COUNT(bad_cases); i++)
        expect_refused(&bad_cases[i], 0);
}

/* The byte that is wrong lies from 9 bytes before the window's end to 14 behind it. */
static void the_end_of_a_window_changes_no_error(void **state) {
    for (size_t i = 0; i < COUNT(bad_cases); i++)
        for (size_t at = 0; at < 19; at += 6) {
            size_t good = strlen(bad_cases[i].good);
            expect_refused(&bad_cases[i], ((size_t)1 << 20) + 9 - good - at + i % 6);
        }
}

/* Zero bytes end no text: outside strings they are wrong, inside a control character to mend. */
static void a_zero_byte_is_refused_wherever_it_stands(void **state) {
    static const char text[] = "{\"a\": [1], \"traceEvents\": [{\"ph\": \"X\", \"ts\": 1.5, "
                               "\"args\": {\"stream\": 7, \"x\": \"\"}}]}";
    bool in_string = false;
    for (size_t at = 0; at < sizeof text; at++) {
        char bytes[sizeof text]; /* with a zero in front of one byte, or of the end */
        memcpy(bytes, text, at);
        bytes[at] = '\0';
        memcpy(bytes + at + 1, text + at, sizeof text - 1 - at);
        tm_trace trace;
        tm_error err;
        tm_status status = read_bytes(bytes, sizeof bytes, &trace, &err);
        bool in_event = at > 28; /* keys of the outermost object are not mended */
        assert_int_equal(status, in_string && in_event ? TM_OK : TM_ERR_INPUT);
        if (status == TM_OK)
            assert_int_equal(trace.counts[TM_COUNT_CONTROL_CHARACTER], 1);
        else
            assert_int_equal(err.offset, at);
        tm_trace_free(&trace);
        in_string ^= text[at] == '"';
    }
}

/* One event of each kind, and every form of value. */
static const char good[] =
    "\xEF\xBB\xBF{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"a\": {}}, {}, []],\n"
    "\"baseTimeNanoseconds\": 1000000, \"distributedInfo\": {\"rank\": 3, \"world_size\": 4},\n"
    "\"traceEvents\": [ 1, null, {},\n"
    "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": "
    "\"py\\u00e9\"}},\n"
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\\\"b\", \"pid\": 1, \"tid\": \"t 1\", "
    "\"ts\": 12.345, \"dur\": 1e1, \"args\": {\"Input Dims\": [[1, 2], []], \"x\": null}},\n"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"\xC3\xA9\", \"pid\": 0, \"tid\": 7, "
    "\"ts\": 0.5, \"dur\": 2, \"args\": {\"grid\": [1, 2, 3], \"stream\": \"7\", "
    "\"blocks per SM\": -0.5E-1, \"correlation\": 9}},\n"
    "{\"ph\": \"C\", \"ts\": 7, \"name\": \"c\", \"args\": {\"\": 1.5, \"b\": true, \"c\": 2}}],\n"
    "\"traceName\": \"/tmp/x\"}";

/* The complete events among the first n bytes of `good`; its second line of them is no event. */
static size_t whole_events(size_t n) {
    static const char *const lasts[] = {"\"x\": null}}", "\"correlation\": 9}}", "\"c\": 2}}"};
    size_t whole = 0;
    for (size_t i = 0; i < COUNT(lasts); i++)
        whole += (size_t)(strstr(good, lasts[i]) - good) + strlen(lasts[i]) <= n;
    return whole;
}

static void a_trace_cut_at_any_byte_gives_what_it_holds(void **state) {
    for (size_t n = 1; n < sizeof good - 1; n++) {
        char *bytes = malloc(n);
        tm_trace trace;
        tm_error err;
        assert_non_null(bytes);
        memcpy(bytes, good, n);
        size_t whole = whole_events(n);
        tm_status status = read_bytes(bytes, n, &trace, &err);
        assert_int_equal(status, whole > 0 ? TM_OK : TM_ERR_INPUT);
        if (whole > 0) {
            assert_true(trace.truncated);
            assert_int_equal(trace.events.n, whole);
            assert_in_range(trace.counts[TM_COUNT_CUT_EVENT], 0, 1);
            assert_int_equal(trace.counts[TM_COUNT_REPAIRED_EVENT], 0);
            /* The base time and the rank stand before the events. */
            assert_int_equal(trace.rank, 3);
            assert_int_equal(((tm_raw_event *)trace.events.data)[0].begin_ns, 1012345);
        } else { /* two bytes of a byte order mark are nothing yet */
            assert_int_equal(err.offset, n < 3 ? 0 : n);
        }
        tm_trace_free(&trace);
        free(bytes);
    }
}

static void an_event_that_the_end_cuts_is_counted(void **state) {
    static const struct {
        const char *text;
        size_t n_events;
        int64_t n_cut;
    } cases[] = {
        {"[" EVENT, 1, 0},
        {"[" EVENT ",", 1, 0},
        {"[" EVENT ",\n" EVENT ",\n" EVENT ",\n", 3, 0},
        {"[" EVENT ", ", 1, 0},
        {"[" EVENT ", {", 1, 1},
        {"[" EVENT "," EVENT ", {\"ph\": \"X\", \"ts\": 1, \"dur\": 2", 2, 1},
        {"[" EVENT ", {\"bandwidth\": inf, \"name\": \"a", 1, 1}, /* malformed before it is cut */
        {"[" EVENT ", {\"name\": \"a\\u00e", 1, 1},
        {"[" EVENT ", {\"name\": \"\xE9\x80", 1, 1},
        {"[" EVENT "]", 1, 0},
        {OPEN EVENT "], \"INFO\": [\"a", 1, 0},
        {OPEN EVENT "], \"INFO", 1, 0},
        {OPEN EVENT "]", 1, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_trace trace;
        tm_error err;
        if (read_bytes(cases[i].text, strlen(cases[i].text), &trace, &err) != TM_OK)
            fail_msg("%s: %s", cases[i].text, err.message);
        assert_int_equal(trace.truncated, strcmp(cases[i].text, "[" EVENT "]") != 0);
        assert_int_equal(trace.events.n, cases[i].n_events);
        assert_int_equal(trace.counts[TM_COUNT_CUT_EVENT], cases[i].n_cut);
        tm_trace_free(&trace);
    }
}

static void expect_good(const tm_trace *trace) {
    const tm_raw_event *events = trace->events.data;
    assert_int_equal(trace->rank, 3);
    assert_int_equal(trace->world_size, 4);
    assert_int_equal(trace->events.n, 3);
    assert_int_equal(trace->tracks.n, 3);
    assert_int_equal(events[0].begin_ns, 1000000 + 12345);
    assert_int_equal(events[0].duration_ns, 10000);
    assert_int_equal(events[1].begin_ns, 1000000 + 500);
    assert_int_equal(events[2].begin_ns, 1000000 + 7000);
    assert_int_equal(trace->counts[TM_COUNT_NOT_OBJECT], 2);
    assert_int_equal(trace->counts[TM_COUNT_OTHER_PHASE], 1); /* {} */
    assert_int_equal(trace->counts[TM_COUNT_METADATA], 1);
    assert_int_equal(trace->counts[TM_COUNT_BAD_VALUE], 0);
    assert_int_equal(trace->attrs[TM_ATTR_COUNTER].n, 2);
    assert_int_equal(trace->attrs[TM_ATTR_KERNEL].n, 1);
    const tm_kernel_attr *kernel = trace->attrs[TM_ATTR_KERNEL].data;
    assert_int_equal(kernel->correlation, 9);
    const tm_launch_shape *shapes = trace->shapes.keys.data;
    assert_int_equal(shapes[kernel->shape].grid[2], 3);
    assert_true(shapes[kernel->shape].blocks_per_sm == -0.05f);
    const tm_track *tracks = trace->tracks.data;
    assert_int_equal(tracks[1].stream, 7);
    assert_int_not_equal(tracks[0].process_name, TM_NO_NAME);
}

/* The first window's end falls behind every byte of the trace in turn. */
static void a_trace_is_the_same_wherever_the_window_ends(void **state) {
    size_t room = (size_t)1 << 20;
    char *bytes = malloc(room + sizeof good);
    assert_non_null(bytes);
    for (size_t before = 3; before <= sizeof good; before++) {
        size_t lead = room - before;
        tm_trace trace;
        memcpy(bytes, good, 3);
        memset(bytes + 3, '\n', lead);
        memcpy(bytes + 3 + lead, good + 3, sizeof good - 4);
        assert_int_equal(read_bytes(bytes, lead + sizeof good - 1, &trace, NULL), TM_OK);
        expect_good(&trace);
        tm_trace_free(&trace);
    }
    free(bytes);
}

static void what_looks_wrong_is_counted_and_the_rest_is_kept(void **state) {
    static const struct {
        const char *members; /* of an event that is a good duration event otherwise */
        tm_count count;
        size_t n_events, n_counted;
    } cases[] = {
        {"\"ts\": 1, \"dur\": 2", TM_COUNT_NO_TIME, 1, 0},
        {"\"dur\": 2", TM_COUNT_NO_TIME, 0, 1},
        {"\"ts\": 1", TM_COUNT_NO_TIME, 0, 1},
        {"\"ts\": \"1\", \"dur\": 2", TM_COUNT_NO_TIME, 0, 1},
        {"\"ts\": 1, \"dur\": null", TM_COUNT_NO_TIME, 0, 1},
        {"\"ts\": [1], \"dur\": 2", TM_COUNT_NO_TIME, 0, 1},
        {"\"ts\": 1, \"dur\": -0.001", TM_COUNT_NEGATIVE_DURATION, 0, 1},
        {"\"ts\": 1, \"dur\": -0.0004", TM_COUNT_NEGATIVE_DURATION, 1, 0},
        {"\"ts\": 1, \"dur\": 0", TM_COUNT_NO_TIME, 1, 0},
        {"\"ts\": -5.5, \"dur\": 1", TM_COUNT_NO_TIME, 1, 0},
        {"\"ts\": 0, \"dur\": 2", TM_COUNT_ZERO_TIME, 1, 1},
        {"\"ts\": 0.001, \"dur\": 2", TM_COUNT_ZERO_TIME, 1, 0},
        {"\"ts\": 1, \"dur\": 2, \"ph\": \"i\", \"cat\": null", TM_COUNT_NO_CATEGORY, 1, 0},
        {"\"ts\": 1, \"dur\": 2, \"cat\": null", TM_COUNT_NO_CATEGORY, 1, 1},
        /* the limits: 1e18 ns before the base, 3e18 behind it, 24 h long: 8.64e10 us */
        {"\"ts\": 3e15, \"dur\": 86400e6", TM_COUNT_ABSURD_DURATION, 1, 0},
        {"\"ts\": 3e15, \"dur\": 86400000000.001", TM_COUNT_ABSURD_DURATION, 0, 1},
        {"\"ts\": 3000000000000000.001, \"dur\": 1", TM_COUNT_NO_TIME, 0, 1},
        {"\"ts\": -1e15, \"dur\": 1", TM_COUNT_NO_TIME, 1, 0},
        {"\"ts\": -1000000000000000.001, \"dur\": 1", TM_COUNT_NO_TIME, 0, 1},
        {"\"ts\": 1, \"dur\": 1000000000000000.001", TM_COUNT_ABSURD_DURATION, 0, 1},
        {"\"ts\": 1e400, \"dur\": 1", TM_COUNT_NO_TIME, 0, 1},
        {"\"ts\": 99999999999999999999, \"dur\": 1", TM_COUNT_NO_TIME, 0, 1},
        {"\"ts\": 9999999999999999, \"dur\": 1", TM_COUNT_NO_TIME, 0, 1}, /* in ns over 64 bits */
        {"\"ts\": 1, \"dur\": 2, \"ph\": \"Q\"", TM_COUNT_OTHER_PHASE, 0, 1},
        {"\"ts\": 1, \"dur\": 2, \"ph\": \"XX\"", TM_COUNT_OTHER_PHASE, 0, 1},
        {"\"ts\": 1, \"dur\": 2, \"ph\": null", TM_COUNT_OTHER_PHASE, 0, 1},
        {"\"ts\": 1, \"dur\": 2, \"name\": null", TM_COUNT_NO_NAME, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"cat\": \"new\"", TM_COUNT_OTHER_CATEGORY, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"cat\": \"KERNEL\"", TM_COUNT_OTHER_CATEGORY, 1, 0},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"stream\": \"x\"}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"stream\": \"7\"}", TM_COUNT_BAD_VALUE, 1, 0},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"stream\": \"\"}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"stream\": \"7 \"}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"stream\": \"-\"}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"stream\": 1.5}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"stream\": null}", TM_COUNT_BAD_VALUE, 1, 0},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"Addr\": 99999999999999999999}", TM_COUNT_BAD_VALUE, 1,
         1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"grid\": [1, 2]}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"grid\": [1, 2, 3, 4]}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"grid\": [1, -2, 3]}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"grid\": [1, [2], 3]}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"grid\": []}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"grid\": {\"x\": 1}}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"grid\": [ 1 , 2 , 3 ]}", TM_COUNT_BAD_VALUE, 1, 0},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"grid\": [1, 2, 2147483648]}", TM_COUNT_BAD_VALUE, 1,
         1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"dtype\": [1]}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"dtype\": 5}", TM_COUNT_BAD_VALUE, 1, 0},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"blocks per SM\": \"N/A\"}", TM_COUNT_BAD_VALUE, 1, 0},
        {"\"ts\": 1, \"dur\": 2, \"args\": {\"blocks per SM\": true}", TM_COUNT_BAD_VALUE, 1, 1},
        {"\"ts\": 1, \"dur\": 2, \"args\": null", TM_COUNT_BAD_VALUE, 1, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        int n = snprintf(text, sizeof text,
                         "[{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", %s}]",
                         cases[i].members);
        tm_trace trace;
        assert_int_equal(read_bytes(text, (size_t)n, &trace, NULL), TM_OK);
        if (trace.events.n != cases[i].n_events ||
            trace.counts[cases[i].count] != (int64_t)cases[i].n_counted)
            fail_msg("%s: %zu events, %" PRId64 " counted", cases[i].members, trace.events.n,
                     trace.counts[cases[i].count]);
        tm_trace_free(&trace);
    }
}

/* The event parser has a short way for usual times; it must agree with the exact one. */
static void times_are_the_same_in_the_short_and_the_exact_way(void **state) {
    static const char *const times[] = {
        "0",
        "1",
        "9",
        "10",
        "12.3",
        "12.34",
        "12.345",
        "12.3454",
        "12.3455",
        "0.001",
        "0.0005",
        "1e3",
        "1.5e1",
        "1.5E+1",
        "999999999999999",
        "999999999999999.999",
        "999999999999999.9994",
        "1604711800000123",
        "1713200000000123.456",
        "1713200000000123.4565",
        "1.694128201545678e+15",
        "1.7132000000001234e+15",
        "-1",
        "-12.345",
        "-12.3455",
        "-0.001",
        "12.000",
        "12.0000000000000001",
        "100e-2",
        "123456789012345e0",
        "123456789012345.6e1",
        "1.0005",
        "1.00049999999999999999",
    };
    for (size_t i = 0; i < COUNT(times); i++) {
        char text[128];
        int64_t expected = 0;
        tm_trace trace;
        assert_true(tm_number_scaled(times[i], strlen(times[i]), 3, &expected));
        int n = snprintf(text, sizeof text, "[{\"ph\":\"i\",\"ts\":%s}]", times[i]);
        assert_int_equal(read_bytes(text, (size_t)n, &trace, NULL), TM_OK);
        assert_int_equal(trace.events.n, 1);
        const tm_raw_event *event = trace.events.data;
        assert_int_equal(event->begin_ns, expected);
        tm_trace_free(&trace);
    }
}

/* Nothing of an event is left in the next one. */
static void an_event_without_ids_lies_on_a_track_without_ids(void **state) {
    static const char text[] = "[{\"ph\":\"i\",\"ts\":1},"
                               "{\"ph\":\"i\",\"ts\":2,\"pid\":\"\\u0031\",\"tid\":2},"
                               "{\"ph\":\"i\",\"ts\":3}]";
    tm_trace trace;
    assert_int_equal(read_bytes(text, sizeof text - 1, &trace, NULL), TM_OK);
    const tm_raw_event *events = trace.events.data;
    const tm_track *tracks = trace.tracks.data;
    assert_int_equal(trace.events.n, 3);
    assert_int_equal(trace.tracks.n, 2);
    assert_int_equal(events[0].track, events[2].track);
    assert_int_equal(tracks[events[0].track].pid, TM_NO_NAME);
    assert_int_equal(tracks[events[0].track].tid, TM_NO_NAME);
    tm_trace_free(&trace);
}

int main(void) {
    return RUN(a_bad_trace_is_refused_at_the_byte_that_is_wrong,
               the_end_of_a_window_changes_no_error, a_zero_byte_is_refused_wherever_it_stands,
               a_trace_cut_at_any_byte_gives_what_it_holds, an_event_that_the_end_cuts_is_counted,
               a_trace_is_the_same_wherever_the_window_ends,
               what_looks_wrong_is_counted_and_the_rest_is_kept,
               times_are_the_same_in_the_short_and_the_exact_way,
               an_event_without_ids_lies_on_a_track_without_ids);
}

/* Invalid Kineto traces: they are rejected at the wrong byte, with a reason. Some oddities are only
 * counted. */
#include <inttypes.h>

#include "readers/number.h"
#include "trace_text.h"

static tm_status try_bytes(const char *bytes, size_t n, reading *r) {
    return try_unit(&tm_format_kineto, bytes, n, "bad.json", NULL, r);
}

static tm_status try_text(const char *text, reading *r) {
    char bytes[TRACE_TEXT_MAX];
    size_t n = quoted_text(text, bytes);
    return try_bytes(bytes, n, r);
}

#define OPEN "{'traceEvents': ["
#define EVENT "{'ph': 'X', 'ts': 1, 'dur': 2}"
#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* In a text, ' stands for the quotes of JSON, and ^ precedes the wrong byte. */
static const struct {
    const char *message;
    const char *const *texts;
} bad_cases[] = {
    {"a trace must start with { or [",
     TEXTS("^7", " \n ^'traceEvents'", "  ^", "\xEF\xBB\xBF^x", "\xEF\xBB\xBF^\xEF\xBB\xBF[]")},
    {"the document has no traceEvents",
     TEXTS("{'a': 1}^", "{}^", "{'traceEvents': {}}^", "{'traceEvents': null}^")},
    {"something follows the end of the document",
     TEXTS("[]^]", ("[" EVENT "]\n^[]"), (OPEN "]} ^{" OPEN "]}"))},
    {"the file ends in the middle of a value",
     TEXTS("{^", "{'traceEv^", "{'traceEvents'^", "{'traceEvents':^", "{'traceEvents': [^",
           "{'distributedInfo': {'rank': 0^", (OPEN "], 'traceName': '/tmp^"), "[[1, 2^", "[{^",
           "[{'ph^", "[{'ph'^", "[{'ph': 'X'^", "[{'ph': 'X', 'ts': 12.^",
           "[{'ph': 'X', 'args': {^", "[{'ph': 'X', 'args': {'grid': [1, 2^", "[{'name': '\xE9^",
           "[{'name': '\xF4\x8F\xBF^", "[{'name': '\xF4\x90^", "[{'name': '\xED\x9F^",
           "[{'name': '\xED\xA0^", "[{'name': '\xE9'^", "[{'name': '\xFF^",
           "[{'args': {'stream': 7}^")},
    {"a key is expected here", TEXTS("{^,'traceEvents': []}", "{^traceEvents: []}", "[{^,}]",
                                     "[{'name': 'a', ^ph': 'X', 'ts': 1}]", "[{'args': {^,}}]")},
    {"a colon should follow the key",
     TEXTS("{'traceEvents' ^[]}", "{'distributedInfo': {'rank' ^0}}", "[{'ph' ^'X'}]",
           "[{'other': [{'a': 1}, {'b' ^2}]}]", "[{'name': 'a', 'ph' ^'X', 'ts': 1}]",
           "[{'name': 'a', 'pid' ^12, 'ts': 1, 'x': ''}]", "[{'name': 'a', 'args' ^{}, 'x': ''}]",
           "[{'cat' ^'a', 'ph': 'X'}]", "[{'name': 'a', 'ph: '^X', 'ts': 1}]",
           "[{'args': {'stream' ^7}}]")},
    {"a value is expected here",
     TEXTS("{'traceEvents': ^}", ("[" EVENT ",\n" EVENT ",\n" EVENT ",\n^}]"), ("[^," EVENT "]"),
           ("[" EVENT ",^," EVENT "]"), "[[1, ^}]", "[^NaN]", "[{'ph': ^X}]", "[{'ph': ^}]",
           "[{'ts': ^+1}]", "[{'ts': ^.5}]", "[{'name': ^a', 'ph': 'X'}]",
           "[{'args': {'block': [^,1]}}]", "[{'args': {'unknown': {'a': [^}}}]")},
    {"a comma or } should follow the value",
     TEXTS((OPEN "] ^'a': 1}"), (OPEN "]^]"), "{'a': 1 ^'traceEvents': []}",
           "{'distributedInfo': {'rank': 0 ^'a': 1}}", "[{'ph': 'X' ^'ts': 1}]", "[{'ph': 'X'^]",
           "[{'ts': 0^1}]", "[{'ts': 12.345^x}]", "[{'ts': 1 ^2}]", "[{'pid': 0^7}]",
           "[{'name': 'a' ^'ph': 'X', 'ts': 1}]",
           "[{'args': {'dtype': 'Float' ^'Seq': 8, 'x': 'y'}}]",
           "[{'args': {'dtype': 'Float'\n^'Seq' : '8', 'x': 1}}]",
           /* quotes in a name may be unbalanced, but not if something else is missing */
           "[{'name': 'a' ^'key with \\'': 2, 'ph': 'X'}]", "[{'name': 'a, '^ph': 'X', 'ts': 1}]",
           "[{'args': {'dtype': 'Float, '^Group size': 8, 'x': 'y'}}]",
           "[{'name': 'a'^], 'x': 'y'}]", "[{'name': 'a' ^x}]",
           "[{'args': {'stream': 7 ^'device': 0}}]", "[{'args': {'stream': 0^7}}]")},
    {"the file ends inside its outermost object",
     TEXTS((OPEN "]^"), "{'baseTimeNanoseconds': 17^")},
    {"a string contains a control character", TEXTS("{'trace^\nEvents': []}")},
    {"a string is not valid UTF-8", TEXTS("{'^\xFF': 1, 'traceEvents': []}")},
    {"baseTimeNanoseconds is not a time",
     TEXTS(("{'baseTimeNanoseconds': ^'1711964646000000000', "
            "'traceEvents': []}"),
           "{'baseTimeNanoseconds': ^null, 'traceEvents': []}",
           "{'baseTimeNanoseconds': ^-1, 'traceEvents': []}",
           "{'baseTimeNanoseconds': ^1.5, 'traceEvents': []}",
           "{'baseTimeNanoseconds': ^1e99, 'traceEvents': []}",
           "{'baseTimeNanoseconds': ^9223372036854775808, 'traceEvents': []}",
           "{'baseTimeNanoseconds': ^3000000000000000001, 'traceEvents': []}",
           (OPEN "], 'baseTimeNanoseconds': ^[1]}"))},
    {"a comma or ] should follow the event",
     TEXTS(("[" EVENT " ^" EVENT "]"), ("[" EVENT "^}"),
           ("[" EVENT ",\n" EVENT ",\n" EVENT "\n ^" EVENT "]"), (OPEN EVENT "^}"))},
    {"a number needs a digit here", TEXTS("[-^Infinity]")},
    {"a number needs a digit after its point",
     TEXTS("[{'ts': 1.^}]", "[{'args': {'stream': 7.^}}]")},
    {"a number needs a digit in its exponent", TEXTS("[{'ts': 1e^}]")},
    {"only true, false and null are words in JSON", TEXTS("[{'tid': n^one}]")},
    {"a comma or ] should follow the value",
     TEXTS("[{'args': {'x': ['a'^}, 'b']}}]", "[{'args': {'grid': [1, 2, 3^}}]",
           "[{'args': {'grid': [1 ^2, 3]}}]")},
};

/* Reads @p lead blanks, then the text, so that the first megabyte may end inside it. */
static void expect_refused(const char *text, const char *message, size_t lead) {
    char quoted[TRACE_TEXT_MAX];
    size_t n = quoted_text(text, quoted) - 1, good = (size_t)(strchr(text, '^') - text);
    size_t mark = good >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* BOM stays first */
    char *bytes = malloc(lead + n);
    reading r;
    assert_non_null(bytes);
    memmove(quoted + good, quoted + good + 1, n - good);
    memcpy(bytes, quoted, mark);
    memset(bytes + mark, ' ', lead);
    memcpy(bytes + mark + lead, quoted + mark, n - mark);
    tm_status status = try_bytes(bytes, lead + n, &r);
    const tm_error *err = &r.ground.err;
    if (status != TM_ERR_INPUT || err->offset != (int64_t)(lead + good) ||
        strcmp(err->message, message) != 0)
        fail_msg("%s after %zu blanks: status %d, byte %" PRId64 ": %s", text, lead, (int)status,
                 err->offset, err->message);
    assert_string_equal(err->path, "bad.json");
    close_reading(&r);
    free(bytes);
}

TEST(a_bad_trace_is_refused_at_the_byte_that_is_wrong) {
    for (size_t i = 0; i < COUNT(bad_cases); i++)
        for (const char *const *text = bad_cases[i].texts; *text; text++)
            expect_refused(*text, bad_cases[i].message, 0);
}

/* The wrong byte is between 9 bytes before and 14 bytes after the end of the window: at every 6th
 * position in the full set, at one of them in the landing set. */
TEST(the_end_of_a_window_changes_no_error) {
    size_t n = 0;
    for (size_t i = 0; i < COUNT(bad_cases); i++)
        for (const char *const *text = bad_cases[i].texts; *text; text++, n++) {
            size_t good = (size_t)(strchr(*text, '^') - *text);
            for (size_t at = 0; at < 4; at++)
                if (in_full_set() || at == (n + first_of_every(4)) % 4)
                    expect_refused(*text, bad_cases[i].message,
                                   ((size_t)1 << 20) + 9 - good - 6 * at + n % 6);
        }
}

/* A zero byte ends no text. Outside strings it is wrong; inside, it is repaired. */
TEST(a_zero_byte_is_refused_wherever_it_stands) {
    char text[TRACE_TEXT_MAX];
    size_t n = quoted_text(("{'a': [1], 'traceEvents': [{'ph': 'X', 'ts': 1.5, 'args': "
                            "{'stream': 7, 'x': ''}}]}"),
                           text);
    bool in_string = false;
    for (size_t at = 0; at <= n; at++) {
        char bytes[TRACE_TEXT_MAX]; /* with a zero byte before one byte, or at the end */
        reading r;
        memcpy(bytes, text, at);
        bytes[at] = '\0';
        memcpy(bytes + at + 1, text + at, n - at);
        bool repaired = in_string && at > 28; /* keys of the outermost object are not repaired */
        assert_int_equal(try_bytes(bytes, n + 1, &r), repaired ? TM_OK : TM_ERR_INPUT);
        if (repaired)
            assert_int_equal(r.trace.counts[TM_COUNT_CONTROL_CHARACTER], 1);
        else
            assert_int_equal(r.ground.err.offset, at);
        close_reading(&r);
        in_string ^= text[at] == '"';
    }
}

/* Has one event of each kind, and every form of value. */
static const char good[] =
    "\xEF\xBB\xBF{'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'a': {}}, {}, []],\n"
    "'baseTimeNanoseconds': 1000000, 'distributedInfo': {'rank': 3, 'world_size': 4},\n"
    "'traceEvents': [ 1, null, {},\n"
    "{'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': 'py\\u00e9'}},\n"
    "{'ph': 'X', 'cat': 'cpu_op', 'name': 'a\\'b', 'pid': 1, 'tid': 't 1', 'ts': 12.345, "
    "'dur': 1e1, 'args': {'Input Dims': [[1, 2], []], 'x': null}},\n"
    "{'ph': 'X', 'cat': 'kernel', 'name': '\xC3\xA9', 'pid': 0, 'tid': 7, 'ts': 0.5, 'dur': 2, "
    "'args': {'grid': [1, 2, 3], 'stream': '7', 'blocks per SM': -0.5E-1, 'correlation': 9}},\n"
    "{'ph': 'C', 'ts': 7, 'name': 'c', 'args': {'': 1.5, 'b': true, 'c': 2}}],\n"
    "'traceName': '/tmp/x'}";
static const char good_text[] = "a\"b cpu_op 1012345+10000 1/t 1 shapes=[[1, 2], []]\n"
                                "\xC3\xA9 kernel 1000500+2000 0/7 #9 [1 2 3]x[-1 -1 -1] -1 -1 "
                                "-0.05 nan\n"
                                "c none @1007000 / =1.5 c=2\n";

/* Counts complete events in the first n bytes of `good`. */
static size_t whole_events(size_t n) {
    static const char *const lasts[] = {"'x': null}}", "'correlation': 9}}", "'c': 2}}"};
    size_t whole = 0;
    for (size_t i = 0; i < COUNT(lasts); i++)
        whole += (size_t)(strstr(good, lasts[i]) - good) + strlen(lasts[i]) <= n;
    return whole;
}

TEST(a_trace_cut_at_any_byte_gives_what_it_holds) {
    char bytes[TRACE_TEXT_MAX], found[1024];
    size_t size = quoted_text(good, bytes);
    for (size_t n = 1; n < size; n++) {
        char *cut = malloc(n); /* in its own memory, so that a sanitizer finds reads past its end */
        reading r;
        assert_non_null(cut);
        memcpy(cut, bytes, n);
        size_t whole = whole_events(n);
        assert_int_equal(try_bytes(cut, n, &r), whole > 0 ? TM_OK : TM_ERR_INPUT);
        if (whole > 0) {
            trace_text(&r, found, sizeof found);
            assert_memory_equal(found, good_text, strlen(found));
            assert_true(r.trace.truncated);
            assert_int_equal(r.trace.events.n, whole);
            assert_in_range(r.trace.counts[TM_COUNT_CUT_EVENT], 0, 1);
            assert_int_equal(r.trace.counts[TM_COUNT_REPAIRED_EVENT], 0);
            assert_int_equal(r.trace.rank, 3); /* the rank is written before the events */
        } else { /* two bytes of a byte order mark contain nothing yet */
            assert_int_equal(r.ground.err.offset, n < 3 ? 0 : n);
        }
        close_reading(&r);
        free(cut);
    }
}

TEST(an_event_that_the_end_cuts_is_counted) {
    static const struct {
        const char *text;
        size_t n_events;
        int64_t n_cut;
    } cases[] = {
        {("[" EVENT), 1, 0},
        {("[" EVENT ","), 1, 0},
        {("[" EVENT ",\n" EVENT ",\n" EVENT ",\n"), 3, 0},
        {("[" EVENT ", "), 1, 0},
        {("[" EVENT ", {"), 1, 1},
        {("[" EVENT "," EVENT ", {'ph': 'X', 'ts': 1, 'dur': 2"), 2, 1},
        {("[" EVENT ", {'bandwidth': inf, 'name': 'a"), 1, 1}, /* malformed before it is cut */
        {("[" EVENT ", {'name': 'a\\u00e"), 1, 1},
        {("[" EVENT ", {'name': '\xE9\x80"), 1, 1},
        {("[" EVENT "]"), 1, 0},
        {(OPEN EVENT "], 'INFO': ['a"), 1, 0},
        {(OPEN EVENT "], 'INFO"), 1, 0},
        {(OPEN EVENT "]"), 1, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reading r;
        if (try_text(cases[i].text, &r) != TM_OK)
            fail_msg("%s: %s", cases[i].text, r.ground.err.message);
        assert_int_equal(r.trace.truncated, strcmp(cases[i].text, ("[" EVENT "]")) != 0);
        assert_int_equal(r.trace.events.n, cases[i].n_events);
        assert_int_equal(r.trace.counts[TM_COUNT_CUT_EVENT], cases[i].n_cut);
        close_reading(&r);
    }
}

/* The first window ends after each byte of the trace in turn; in the landing set, after every
 * 16th. */
TEST(a_trace_is_the_same_wherever_the_window_ends) {
    char quoted[TRACE_TEXT_MAX], found[1024];
    const size_t room = (size_t)1 << 20, size = quoted_text(good, quoted);
    const size_t step = in_full_set() ? 1 : 16;
    char *bytes = malloc(room + size);
    assert_non_null(bytes);
    for (size_t before = 3 + first_of_every(step); before <= size + 1; before += step) {
        size_t lead = room - before;
        reading r;
        memcpy(bytes, quoted, 3);
        memset(bytes + 3, '\n', lead);
        memcpy(bytes + 3 + lead, quoted + 3, size - 3);
        assert_int_equal(try_bytes(bytes, lead + size, &r), TM_OK);
        trace_text(&r, found, sizeof found);
        assert_string_equal(found, good_text);
        assert_int_equal(r.trace.rank, 3);
        assert_int_equal(r.trace.world_size, 4);
        assert_int_equal(r.trace.tracks.n, 3);
        assert_int_equal(track_at(&r, 1)->stream, 7);
        assert_name(&r.ground, track_at(&r, 0)->process_name, "py\xC3\xA9");
        ASSERT_COUNTS(&r, TM_COUNT_NOT_OBJECT, 2, TM_COUNT_OTHER_PHASE, 1 /* this is the {} */,
                      TM_COUNT_METADATA, 1);
        close_reading(&r);
    }
    free(bytes);
}

#define GOOD "'ts': 1, 'dur': 2, "
#define ARGS(args) GOOD "'args': {" args "}"

/* Members of an event that is otherwise a valid duration event. */
TEST(what_looks_wrong_is_counted_and_the_rest_is_kept) {
    const struct {
        tm_count count;
        int64_t n_counted;
        size_t n_events;
        const char *const *members;
    } cases[] = {
        {TM_COUNT_NO_TIME, 0, 1,
         TEXTS("'ts': 1, 'dur': 2", "'ts': 1, 'dur': -0.0004", "'ts': 1, 'dur': 0",
               "'ts': -5.5, 'dur': 1", "'ts': 0.001, 'dur': 2", GOOD "'ph': 'i', 'cat': null",
               GOOD "'cat': 'KERNEL'", GOOD "'args': null",
               /* the limits: 1e18 ns before the base, 3e18 after it, 24 h long: 8.64e10 us */
               "'ts': 3e15, 'dur': 86400e6", "'ts': -1e15, 'dur': 1",
               /* values of another type with the same meaning, or without a meaning */
               ARGS("'stream': '7'"), ARGS("'stream': null"), ARGS("'grid': [ 1 , 2 , 3 ]"),
               ARGS("'dtype': 5"), ARGS("'blocks per SM': 'N/A'"),
               /* HIP stream ids are pointers */
               ARGS("'stream': '0x0'"), ARGS("'stream': '0x7fDA0e810200'"))},
        {TM_COUNT_NO_TIME, 1, 0,
         TEXTS("'dur': 2", "'ts': 1", "'ts': '1', 'dur': 2", "'ts': 1, 'dur': '2'",
               "'ts': null, 'dur': 2", "'ts': 1, 'dur': null", "'ts': [1], 'dur': 2",
               "'ts': 3000000000000000.001, 'dur': 1", "'ts': -1000000000000000.001, 'dur': 1",
               "'ts': 1e400, 'dur': 1", "'ts': 1e30, 'dur': 2", "'ts': 1, 'dur': 1e30",
               "'ts': 99999999999999999999, 'dur': 1", "'ts': 1e999999, 'dur': 2",
               /* these exceed 64 bits in ns */
               "'ts': 9999999999999999, 'dur': 1", "'ph': 'i'", "'ph': 'C', 'args': {'v': 1}")},
        {TM_COUNT_NEGATIVE_DURATION, 1, 0, TEXTS("'ts': 1, 'dur': -0.001", "'ts': 1, 'dur': -2.5")},
        {TM_COUNT_ZERO_TIME, 1, 1, TEXTS("'ts': 0, 'dur': 2")},
        {TM_COUNT_NO_CATEGORY, 1, 1, TEXTS(GOOD "'cat': null")},
        {TM_COUNT_ABSURD_DURATION, 1, 0,
         TEXTS("'ts': 3e15, 'dur': 86400000000.001", "'ts': 1, 'dur': 1000000000000000.001")},
        {TM_COUNT_OTHER_PHASE, 1, 0, TEXTS(GOOD "'ph': 'Q'", GOOD "'ph': 'XX'", GOOD "'ph': null")},
        {TM_COUNT_NO_NAME, 1, 1, TEXTS(GOOD "'name': null")},
        {TM_COUNT_OTHER_CATEGORY, 1, 1, TEXTS(GOOD "'cat': 'new'")},
        {TM_COUNT_BAD_VALUE, 1, 1,
         TEXTS(ARGS("'stream': 'x'"), ARGS("'stream': ''"), ARGS("'stream': '7 '"),
               ARGS("'stream': '-'"), ARGS("'stream': '0x'"), ARGS("'stream': '0x1g'"),
               ARGS("'stream': 1.5"), ARGS("'Addr': 99999999999999999999"), ARGS("'grid': [1, 2]"),
               ARGS("'grid': [1, 2, 3, 4]"), ARGS("'grid': [1, -2, 3]"),
               ARGS("'grid': [1, [2], 3]"), ARGS("'grid': []"), ARGS("'grid': {'x': 1}"),
               ARGS("'grid': [1, 2, 2147483648]"), ARGS("'dtype': [1]"),
               ARGS("'blocks per SM': true"))},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (const char *const *members = cases[i].members; *members; members++) {
            char text[256];
            reading r;
            snprintf(text, sizeof text, "[{'ph': 'X', 'cat': 'cpu_op', 'name': 'a', %s}]",
                     *members);
            print_message("%s\n", *members);
            assert_int_equal(try_text(text, &r), TM_OK);
            assert_int_equal(r.trace.events.n, cases[i].n_events);
            assert_int_equal(r.trace.attrs[TM_ATTR_COUNTER].n, 0);
            ASSERT_COUNTS(&r, cases[i].count, cases[i].n_counted);
            close_reading(&r);
        }
}

/* The event parser has a fast path for usual times. It must agree with the exact one. */
TEST(times_are_the_same_in_the_short_and_the_exact_way) {
    const char *const *times =
        TEXTS("0", "1", "9", "10", "12.3", "12.34", "12.345", "12.3454", "12.3455", "0.001",
              "0.0005", "1e3", "1.5e1", "1.5E+1", "999999999999999", "999999999999999.999",
              "999999999999999.9994", "1604711800000123", "1713200000000123.456",
              "1713200000000123.4565", "1.694128201545678e+15", "1.7132000000001234e+15", "-1",
              "-12.345", "-12.3455", "-0.001", "12.000", "12.0000000000000001", "100e-2",
              "123456789012345e0", "123456789012345.6e1", "1.0005", "1.00049999999999999999");
    for (; *times; times++) {
        char text[128];
        int64_t expected = 0;
        reading r;
        assert_true(tm_number_scaled(*times, strlen(*times), 3, &expected));
        snprintf(text, sizeof text, "[{'ph':'i','ts':%s}]", *times);
        assert_int_equal(try_text(text, &r), TM_OK);
        assert_int_equal(event_at(&r, 0)->begin_ns, expected);
        close_reading(&r);
    }
}

/* Nothing of an event must remain for the next one. */
TEST(an_event_without_ids_lies_on_a_track_without_ids) {
    char found[256];
    reading r;
    assert_int_equal(try_text(("[{'ph':'i','ts':1},{'ph':'i','ts':2,'pid':'\\u0031','tid':2},"
                               "{'ph':'i','ts':3}]"),
                              &r),
                     TM_OK);
    trace_text(&r, found, sizeof found);
    assert_string_equal(found, " none @1000 /\n none @2000 1/2\n none @3000 /\n");
    assert_int_equal(r.trace.tracks.n, 2);
    close_reading(&r);
}

RUN_TESTS()

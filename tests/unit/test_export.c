/* Export: protocol buffers computed by hand, sub-tracks, what formats refuse. */
#include "tmerge/export.h"

#include <fcntl.h>
#include <unistd.h>

#include "export/export.h"
#include "export/json_text.h"
#include "export/nest.h"
#include "export/proto.h"
#include "timeline/trace.h"
#include "timeline_fixture.h"

static void assert_bytes(tm_proto *proto, const char *expected, size_t size) {
    assert_false(proto->failed);
    assert_int_equal(proto->bytes.n, size);
    assert_memory_equal(proto->bytes.data, expected, size);
    tm_vec_free(&proto->bytes);
}

#define ASSERT_BYTES(proto, literal) assert_bytes(proto, literal, sizeof(literal) - 1)

/* Examples of protobuf's page on its encoding: field 1 = 150 is 08 96 01; -2 is the two's
 * complement in ten bytes: fe, eight times ff, 01; field 2 = "testing" is 12 07 and the text. A
 * field above 15 has a longer tag, field << 3 | wire type: 47 << 3 | 1 = 377 = 2 * 128 + 121 is f9
 * 02; 44 << 3 | 1 = 353 = 2 * 128 + 97 is e1 02. 1.0 has the bits 3ff0000000000000. */
TEST(fields_are_encoded_as_protobufs_page_has_them) {
    tm_proto p = TM_PROTO();
    tm_proto_uint(&p, 1, 150);
    ASSERT_BYTES(&p, "\x08\x96\x01");
    tm_proto_int(&p, 1, -2);
    ASSERT_BYTES(&p, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    tm_proto_string(&p, 2, "testing");
    ASSERT_BYTES(&p, "\x12\x07testing");
    tm_proto_bytes(&p, 2, NULL, 0);
    ASSERT_BYTES(&p, "\x12\x00");
    tm_proto_fixed64(&p, 47, UINT64_C(0x0102030405060708));
    ASSERT_BYTES(&p, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01");
    tm_proto_double(&p, 44, 1.0);
    ASSERT_BYTES(&p, "\xe1\x02\x00\x00\x00\x00\x00\x00\xf0\x3f");
}

/* Field 3 is a message whose field 1 is 150: 1a 03 08 96 01. The size of a message of 200 bytes
 * takes two bytes: c8 01. So does the size of the message around it, 1 + 2 + 200 = 203 bytes: cb
 * 01. */
TEST(messages_have_their_size_in_front) {
    tm_proto p = TM_PROTO();
    size_t message = tm_proto_begin(&p, 3);
    tm_proto_uint(&p, 1, 150);
    tm_proto_end(&p, message);
    message = tm_proto_begin(&p, 4);
    tm_proto_end(&p, message);
    ASSERT_BYTES(&p, "\x1a\x03\x08\x96\x01\x22\x00");
    char expected[206] = "\x0a\xcb\x01\x12\xc8\x01";
    char content[200];
    memset(content, 'x', sizeof content);
    content[0] = '\x0a'; /* a field of 197 bytes: its tag, */
    content[1] = '\xc5'; /* its size, 69 + 128, */
    content[2] = '\x01';
    memcpy(expected + 6, content, sizeof content);
    size_t outer = tm_proto_begin(&p, 1), inner = tm_proto_begin(&p, 2);
    tm_proto_bytes(&p, 1, content + 3, 197);
    tm_proto_end(&p, inner);
    tm_proto_end(&p, outer);
    assert_bytes(&p, expected, sizeof expected);
}

/* A packet of a Perfetto trace: packet 1 { timestamp 8: 1000 = 7 * 128 + 104; sequence 10: 1;
 * track_event 11 { type 9: 1; track_uuid 11: 5 } }. */
TEST(a_packet_is_encoded_as_perfetto_reads_it) {
    tm_proto p = TM_PROTO();
    size_t packet = tm_proto_begin(&p, 1);
    tm_proto_uint(&p, 8, 1000);
    tm_proto_uint(&p, 10, 1);
    size_t event = tm_proto_begin(&p, 11);
    tm_proto_uint(&p, 9, 1);
    tm_proto_uint(&p, 11, 5);
    tm_proto_end(&p, event);
    tm_proto_end(&p, packet);
    ASSERT_BYTES(&p, "\x0a\x0b\x40\xe8\x07\x50\x01\x5a\x04\x48\x01\x58\x05");
}

static size_t place(tm_nest *nest, int64_t begin_ns, int64_t end_ns) {
    int64_t ended;
    tm_subtrack *subtrack = tm_nest_place(nest, begin_ns, end_ns);
    assert_non_null(subtrack);
    while (tm_subtrack_close(subtrack, begin_ns, &ended))
        assert_true(ended <= begin_ns);
    assert_true(tm_subtrack_open(subtrack, end_ns));
    return (size_t)(subtrack - (tm_subtrack *)nest->subtracks.data);
}

TEST(events_that_cross_are_put_on_different_subtracks) {
    static const struct {
        int64_t begin_ns, end_ns;
        size_t subtrack;
    } cases[] = {
        {0, 10, 0},  {0, 10, 0},  /* equal events nest */
        {2, 6, 0},   {3, 3, 0},   /* an event without duration nests, too */
        {5, 12, 1},               /* crosses [0, 10) and [2, 6) */
        {6, 8, 0},                /* begins where [2, 6) ends */
        {7, 13, 2},               /* crosses events on both sub-tracks */
        {10, 13, 0}, {12, 14, 1}, /* begin when all earlier events have ended */
        {12, 13, 0},              /* ends with its parent */
    };
    tm_nest nest = TM_NEST();
    for (int again = 0; again < 2; again++) {
        tm_nest_restart(&nest);
        for (size_t i = 0; i < COUNT(cases); i++)
            assert_int_equal(place(&nest, cases[i].begin_ns, cases[i].end_ns), cases[i].subtrack);
    }
    tm_nest_free(&nest);
}

TEST(times_keep_their_nanoseconds) {
    static const struct {
        int64_t ns;
        const char *us;
    } cases[] = {
        {0, "0.000"},
        {1, "0.001"},
        {-1, "-0.001"},
        {1000, "1.000"},
        {INT64_C(1764547199021373123), "1764547199021373.123"},
        {-1500, "-1.500"},
        {INT64_MIN, "-9223372036854775.808"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_out out = TM_OUT();
        tm_json_put_us(&out, cases[i].ns);
        tm_out_char(&out, '\0');
        assert_string_equal((char *)out.bytes.data, cases[i].us);
        tm_vec_free(&out.bytes);
    }
}

TEST(only_whole_numbers_stand_without_quotes) {
    static const char *const good[] = {"0", "7", "-1", "123456789012345678"};
    static const char *const bad[] = {
        "", "-", "01", "1.5", "+1", "stream 7", "1e3", " 1", "0x1", "1 ", "1234567890123456789"};
    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(tm_json_is_int((tm_text){good[i], strlen(good[i])}));
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(tm_json_is_int((tm_text){bad[i], strlen(bad[i])}));
}

/* Returns a rank with n kernels of one nanosecond, from time 1 on. */
static tm_timeline many_events(size_t n) {
    tm_timeline t = {.rank = 0, .n_events = n, .n_tracks = 1};
    t.begin_ns = calloc(n, sizeof *t.begin_ns);
    t.duration_ns = calloc(n, sizeof *t.duration_ns);
    t.name = calloc(n, sizeof *t.name);
    t.step = calloc(n, sizeof *t.step);
    t.launch = calloc(n, sizeof *t.launch);
    t.category = calloc(n, sizeof *t.category);
    t.kind = calloc(n, sizeof *t.kind);
    t.role = calloc(n, sizeof *t.role);
    t.tracks = calloc(1, sizeof *t.tracks);
    assert_true(t.begin_ns && t.duration_ns && t.name && t.step && t.launch && t.category &&
                t.kind && t.role && t.tracks);
    t.tracks[0] = (tm_track){.kind = TM_TRACK_GPU, .stream = 7, .count = (uint32_t)n};
    for (size_t row = 0; row < n; row++) {
        t.begin_ns[row] = (int64_t)row + 1;
        t.duration_ns[row] = 1;
        t.step[row] = TM_NO_STEP;
        t.launch[row] = TM_NO_EVENT;
    }
    return t;
}

static tm_export_job job_of(const tm_timeline *rank, const tm_names *names, int64_t from_ns,
                            int64_t to_ns) {
    static const char *const host = "";
    static const bool wanted = true;
    return (tm_export_job){.names = names,
                           .ranks = rank,
                           .hosts = &host,
                           .n_ranks = 1,
                           .wanted = &wanted,
                           .begin_ns = 1000,
                           .from_ns = from_ns,
                           .to_ns = to_ns};
}

/* Exports a rank of 4,000,001 events, but only the events that begin before @p to_ns. */
static tm_status export_many(const char *format, int64_t to_ns, tm_error *err) {
    enum { N = 4000001 };
    tm_timeline timeline = many_events(N);
    const tm_timeline head = {.rank = 0, .n_events = N};
    tm_names *names = tm_names_create();
    tm_export_job job = job_of(&head, names, INT64_MIN, to_ns);
    tm_export *x = NULL;
    int fd = open("/dev/null", O_RDWR);
    assert_true(fd >= 0);
    assert_ok(tm_export_create(tm_export_format_find(format), &job, fd, "x.json", &x, err));
    tm_status status = tm_export_rank(x, &timeline, NULL, err);
    assert_int_equal(tm_export_events(x), status == TM_OK ? 5 : 0);
    tm_export_destroy(x);
    close(fd);
    tm_timeline_destroy(&timeline);
    tm_names_destroy(names);
    return status;
}

/* The rank has one event more than the format takes. A window that ends at 6 ns keeps 5 events. */
TEST(chromes_json_takes_four_million_events) {
    tm_error err = {0};
    assert_int_equal(export_many("chrome", INT64_MAX, &err), TM_ERR_USAGE);
    assert_non_null(strstr(err.message, "--format perfetto"));
    assert_ok(export_many("chrome", 6, &err));
}

/* Rows of a timeline in slices of at most `most` rows, as read from a store. */
typedef struct slices {
    tm_timeline whole, slice;
    size_t most;
} slices;

static tm_status read_slice(void *context, size_t first, unsigned what, const tm_timeline **out,
                            tm_error *err) {
    slices *s = context;
    const tm_timeline *w = &s->whole;
    size_t n = w->n_events - first < s->most ? w->n_events - first : s->most;
    (void)err;
    s->slice = (tm_timeline){.n_events = n};
    s->slice.begin_ns = what & TM_ROWS_TIMES ? w->begin_ns + first : NULL;
    s->slice.duration_ns = what & TM_ROWS_TIMES ? w->duration_ns + first : NULL;
    s->slice.launch = what & TM_ROWS_LAUNCHES ? w->launch + first : NULL;
    *out = &s->slice;
    if (what != TM_ROWS_ALL)
        return TM_OK;
    s->slice.name = w->name + first;
    s->slice.step = w->step + first;
    s->slice.category = w->category + first;
    s->slice.kind = w->kind + first;
    s->slice.role = w->role + first;
    s->slice.shapes = w->shapes;
    for (int a = 0; a < TM_N_ATTRS; a++)
        for (size_t i = 0; i < w->n_attrs[a]; i++) {
            char *attr = (char *)w->attrs[a] + i * tm_attr_size((tm_attr)a);
            size_t event = *tm_attr_event((tm_attr)a, attr);
            if (event >= first && event < first + n && s->slice.n_attrs[a]++ == 0)
                s->slice.attrs[a] = attr;
        }
    return TM_OK;
}

/* 9 events. Rows 0 to 3 are on a stream; calls of a thread launched them, and an earlier row
 * enqueued one of these calls. Rows 4 to 8 are on the thread; row 7 is a counter of two series. */
static void make_slices(slices *s) {
    enum { N = 9, ON_STREAM = 4 };
    static tm_track tracks[2] = {{.kind = TM_TRACK_GPU, .stream = 7, .count = ON_STREAM},
                                 {.kind = TM_TRACK_CPU,
                                  .device = -1,
                                  .stream = -1,
                                  .first = ON_STREAM,
                                  .count = N - ON_STREAM}};
    static tm_launch_shape shapes[2] = {{.grid = {1, 2, 3}}, {.registers = 0}};
    static tm_kernel_attr kernels[2] = {{.event = 1}, {.event = 3, .shape = 1}};
    static tm_counter_attr counters[2] = {{.event = 7, .value = 1}, {.event = 7, .value = 2}};
    static const uint32_t calls[N] = {8,           4,           4,           5, TM_NO_EVENT,
                                      TM_NO_EVENT, TM_NO_EVENT, TM_NO_EVENT, 2};
    *s = (slices){.whole = many_events(N)};
    tm_timeline *w = &s->whole;
    free(w->tracks);
    w->tracks = tracks;
    w->n_tracks = 2;
    w->shapes = shapes;
    w->attrs[TM_ATTR_KERNEL] = kernels;
    w->attrs[TM_ATTR_COUNTER] = counters;
    w->n_attrs[TM_ATTR_KERNEL] = w->n_attrs[TM_ATTR_COUNTER] = 2;
    memcpy(w->launch, calls, sizeof calls);
    for (size_t row = 0; row < N; row++) {
        w->begin_ns[row] = 1000 + 10 * (int64_t)row;
        w->duration_ns[row] = row == 4 ? 100 : 10;
        w->kind[row] = row == 7 ? TM_COUNTER : TM_DURATION;
        w->category[row] = row < ON_STREAM ? TM_CAT_KERNEL : TM_CAT_RUNTIME;
    }
}

static void free_slices(slices *s) {
    s->whole.tracks = NULL;
    s->whole.shapes = NULL;
    memset(s->whole.attrs, 0, sizeof s->whole.attrs);
    tm_timeline_destroy(&s->whole);
}

/* Exports a window in one piece (if @p most is 0) or several. The caller frees the text. */
static char *export_slices(slices *s, const char *format, int64_t from_ns, int64_t *size) {
    tm_timeline frame = s->whole; /* has no columns if there are slices */
    tm_names *names = tm_names_create();
    tm_export_job job =
        job_of(&s->whole, names, from_ns, from_ns == INT64_MIN ? INT64_MAX : from_ns + 30);
    const tm_event_rows rows = {read_slice, s};
    tm_export *x = NULL;
    tm_error err = {0};
    FILE *file = tmpfile();
    if (s->most > 0)
        frame = (tm_timeline){.n_events = frame.n_events,
                              .tracks = frame.tracks,
                              .n_tracks = frame.n_tracks,
                              .shapes = frame.shapes,
                              .n_shapes = frame.n_shapes};
    assert_non_null(file);
    assert_ok(tm_export_create(tm_export_format_find(format), &job, fileno(file), "x", &x, &err));
    assert_ok(tm_export_rank(x, &frame, s->most > 0 ? &rows : NULL, &err));
    assert_ok(tm_export_end(x, &err));
    assert_true(tm_export_events(x) >= 3);
    tm_export_destroy(x);
    tm_names_destroy(names);
    *size = lseek(fileno(file), 0, SEEK_END);
    char *bytes = calloc(1, (size_t)*size + 1);
    assert_true(bytes && pread(fileno(file), bytes, (size_t)*size, 0) == *size);
    fclose(file);
    return bytes;
}

TEST(a_rank_is_written_the_same_by_pieces_of_any_size) {
    static const char *const formats[] = {"perfetto", "chrome", "csv"};
    static const int64_t windows[] = {INT64_MIN, 1015, 1035};
    slices s;
    make_slices(&s);
    for (size_t i = 0; i < COUNT(formats) * COUNT(windows); i++) {
        const char *format = formats[i % COUNT(formats)];
        int64_t from_ns = windows[i / COUNT(formats)], size = 0, other = 0;
        s.most = 0;
        char *whole = export_slices(&s, format, from_ns, &size);
        if (i == 1) /* Chrome's JSON has the arrow to row 3 */
            assert_non_null(strstr(whole, "\"id\": 3}"));
        for (s.most = 1; s.most <= 9; s.most++) {
            char *bytes = export_slices(&s, format, from_ns, &other);
            if (other != size || memcmp(bytes, whole, (size_t)size) != 0)
                fail_msg("%s, %zu at a time", format, s.most);
            free(bytes);
        }
        free(whole);
    }
    free_slices(&s);
}

TEST(every_format_keeps_the_common_rules) {
    size_t n;
    const tm_export_format *const *formats = tm_export_formats(&n);
    assert_true(n >= 4);
    for (size_t i = 0; i < n; i++) {
        const tm_export_format *f = formats[i];
        assert_ptr_equal(tm_export_format_find(f->name), f);
        if (!f->ending) /* it writes a folder, so there is no file to recognise before it is
                           overwritten */
            assert_int_equal(f->begins_size, 0);
        else
            assert_true(f->begins_size >= 6 && f->begins_size <= TM_EXPORT_BEGINS_MAX);
        assert_true((!f->ending || f->ending[0] == '.') && strlen(f->summary) > 0 &&
                    strlen(f->summary) <= 80);
        assert_true(f->is_database ? !f->begin && !f->rank && !f->end
                                   : f->begin && f->rank && f->end);
        for (size_t j = 0; j < i; j++)
            assert_true(!f->ending || !formats[j]->ending ||
                        strcmp(formats[j]->ending, f->ending) != 0);
    }
    assert_null(tm_export_format_find("xml"));
}

RUN_TESTS()

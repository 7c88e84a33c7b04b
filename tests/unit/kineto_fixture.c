/* Reads Kineto traces from text in memory and checks the result. */
#include "kineto_fixture.h"

reading read_bytes(const char *bytes, size_t size) {
    reading r = {.ground = open_ground()};
    tm_source *source;
    assert_int_equal(tm_source_open_memory(bytes, size, "some.json", &source, &r.ground.err),
                     TM_OK);
    tm_status status = tm_trace_read_source(tm_format_find("kineto"), source, NULL, r.ground.names,
                                            &r.trace, &r.ground.err);
    if (status != TM_OK)
        print_message("byte %lld: %s\n", (long long)r.ground.err.offset, r.ground.err.message);
    assert_int_equal(status, TM_OK);
    tm_source_close(source);
    return r;
}

reading read_text(const char *text) {
    return read_bytes(text, strlen(text));
}

reading read_events(const char *const *events, size_t n) {
    char text[8192] = "{\"traceEvents\":[";
    for (size_t i = 0; i < n; i++) {
        assert_true(strlen(text) + strlen(events[i]) + 4 < sizeof text);
        strcat(text, i > 0 ? "," : "");
        strcat(text, events[i]);
    }
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return read_text(strcat(text, "]}"));
}

void close_reading(reading *r) {
    tm_trace_free(&r->trace);
    close_ground(&r->ground);
}

const tm_raw_event *event_at(const reading *r, size_t i) {
    assert_true(i < r->trace.events.n);
    return (const tm_raw_event *)r->trace.events.data + i;
}

const tm_track *track_at(const reading *r, size_t event) {
    return (const tm_track *)r->trace.tracks.data + event_at(r, event)->track;
}

void *attr_at(const reading *r, tm_attr attr, size_t i) {
    assert_true(i < r->trace.attrs[attr].n);
    return (char *)r->trace.attrs[attr].data + i * r->trace.attrs[attr].size;
}

void assert_counts(const reading *r, const int64_t *pairs) {
    int64_t expected[TM_N_COUNTS] = {0};
    for (; *pairs != TM_N_COUNTS; pairs += 2)
        expected[pairs[0]] = pairs[1];
    for (int c = 0; c < TM_N_COUNTS; c++) {
        if (r->trace.counts[c] != expected[c])
            print_message("the count is %s\n", tm_count_info((tm_count)c)->word);
        assert_int_equal(r->trace.counts[c], expected[c]);
    }
}

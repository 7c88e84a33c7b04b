/* Every scanner that this processor can run gives the same result as the portable one. */

#include "readers/kineto/kineto_event.h"
#include "readers/scanner.h"

/* Events of every layout: strings of about 16 and 32 bytes, escapes, non-ASCII bytes, long gaps,
 * values of every type, and malformed events. */
static const char *const events[] = {
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7,\n    \"ts\": "
    "6322354293589.546, \"dur\": 0.624,\n    \"args\": {\n      \"External id\": 103, \"device\": "
    "0, \"stream\": 7, \"correlation\": 99, \"grid\": [1, 2, 3], \"block\": [32,1,1],\n      "
    "\"est. achieved occupancy %\": 25, \"blocks per SM\": 0.4848, \"x\": [[1], [], [\"a\"]]\n    "
    "}\n"
    "  }",
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a name of exactly 31 bytes "
    "....\",\"ts\":1,\"dur\":2}",
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a name of exactly 32 bytes "
    ".....\",\"ts\":1,\"dur\":2}",
    "{\"ph\":\"X\",\"name\":\"a name of thirty-three bytes with \\\"quotes\\\" behind them, and "
    "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\",\"ts\":1234567890123456.789,\"dur\":123456789012345}",
    "{\"name\":\"0123456789abcde\\n\",\"args\":{\"dtype\":\"0123456789abcdef\",\"Seq\":\"12\","
    "\"Addr\":1234567890123456789,\"Bytes\":-5,\"stream\":01}}",
    "{\"ph\":\"X\",\"ts\":00,\"dur\":1}",
    "{\"ph\":\"X\",\"ts\":1e3,\"dur\":1.5E-1,\"args\":{\"a\":1e5,\"b\":0,\"c\":"
    "12345678901234567890}}",
    "{ \"ph\" : \"X\" ,\t\"args\" : { } , \"other\" : [ 1 , [ 2 , { \"a\" : null } ] , true ] }",
    "{\"args\":{\"a key that is longer than any gap that is remembered, by far, and more\":1,"
    "\"a key that is longer than any gap that is remembered, by far, and more\":2}}",
    "{\"ph\":\"s\",\"id\":45911,\"pid\":0,\"tid\":\"stream 7\",\"ts\":5,\"bp\":\"e\"}",
    "{\"ph\":\"X\",\"name\":\"aten::add\",\"args\":{\"Input Dims\":[[12, 1],[]],\"Concrete "
    "Inputs\":"
    "[\"\",\"[1, 2]\"],\"Input Dims\":[[1]],\"x\":\"a text\",\"Rank\":7]}}",
    "{\"name\":\"control \x01\"}",
    "{\"name\":\"bad \xFF byte behind sixteen\"}",
    "{\"name\":\"\\x\"}",
    "{}",
};

enum { N_EVENTS = COUNT(events) };

static void expect_text(const tm_json_text *a, const tm_json_text *b) {
    assert_int_equal(a->size, b->size);
    if (a->size > 0) /* the scanners have different addresses of "" for missing texts */
        assert_ptr_equal(a->bytes, b->bytes);
    assert_int_equal(a->escaped, b->escaped);
}

static void expect_event(const tm_kineto_event *a, const tm_kineto_event *b) {
    assert_int_equal(a->phase, b->phase);
    assert_int_equal(a->has_name, b->has_name);
    assert_int_equal(a->has_category, b->has_category);
    assert_int_equal(a->has_ts, b->has_ts);
    assert_int_equal(a->has_duration, b->has_duration);
    assert_int_equal(a->bad_values, b->bad_values);
    assert_true(!a->has_ts || a->ts_ns == b->ts_ns);
    assert_true(!a->has_duration || a->duration_ns == b->duration_ns);
    assert_ptr_equal(a->args, b->args);
    assert_int_equal(a->present, b->present);
    if (a->has_name)
        expect_text(&a->name, &b->name);
    if (a->has_category)
        expect_text(&a->category, &b->category);
    expect_text(&a->pid, &b->pid);
    expect_text(&a->tid, &b->tid);
    if (tm_kineto_has(a, F_DTYPE))
        expect_text(&a->fields[F_DTYPE].text, &b->fields[F_DTYPE].text);
    for (int f = 0; f < N_FIELDS; f++)
        if (tm_kineto_has(a, (tm_kineto_field)f) && (f == F_STREAM || f == F_ADDRESS || f == F_SEQ))
            assert_int_equal(a->fields[f].i, b->fields[f].i);
    if (tm_kineto_has(a, F_GRID))
        assert_memory_equal(a->fields[F_GRID].triple, b->fields[F_GRID].triple, 12);
    if (tm_kineto_has(a, F_BLOCKS_PER_SM))
        assert_true(a->fields[F_BLOCKS_PER_SM].r == b->fields[F_BLOCKS_PER_SM].r);
}

/* A scanner's result for a text. It depends on the keys that the scanner has learned. */
typedef struct outcome {
    tm_json_cursor cursor;
    const char *end;
    tm_kineto_event event;
} outcome;

static void parse(const tm_scanner *scanner, tm_chrome_keys *keys, const char *text, size_t n,
                  bool final, outcome *out) {
    memset(out, 0, sizeof *out);
    out->cursor = (tm_json_cursor){.end = text + n, .final = final};
    out->end = scanner->event_parse(&out->cursor, keys, text, &out->event);
}

static void expect_same(const outcome *a, const outcome *b) {
    assert_ptr_equal(a->end, b->end);
    if (a->end) {
        expect_event(&a->event, &b->event);
    } else {
        assert_ptr_equal(a->cursor.fail, b->cursor.fail);
        assert_string_equal(a->cursor.why, b->cursor.why);
    }
}

/* Checks that both scanners give the same for the first n bytes of a padded copy. */
static void compare(const tm_scanner *other, tm_chrome_keys keys[2], const char *text, size_t n) {
    static outcome a, b;
    size_t n_scanners;
    char *copy = calloc(1, n + TM_JSON_PADDING);
    assert_non_null(copy);
    memcpy(copy, text, n);
    for (int final = 0; final < 2; final++) {
        parse(&tm_scanners(&n_scanners)[0], &keys[0], copy, n, final, &a);
        parse(other, &keys[1], copy, n, final, &b);
        expect_same(&a, &b);
    }
    free(copy);
}

TEST(every_scanner_reads_every_event_alike_wherever_it_is_cut) {
    size_t n_scanners;
    const tm_scanner *scanners = tm_scanners(&n_scanners);
    assert_string_equal(scanners[0].name, "portable");
    for (size_t s = 0; s < n_scanners; s++) {
        tm_chrome_keys *keys = malloc(2 * sizeof *keys);
        assert_non_null(keys);
        tm_chrome_keys_init(&keys[0], tm_kineto_fields, N_FIELDS);
        tm_chrome_keys_init(&keys[1], tm_kineto_fields, N_FIELDS);
        for (int round = 0; round < 2; round++) /* in the second round, the gaps are known */
            for (int e = 0; e < N_EVENTS; e++)
                for (size_t n = strlen(events[e]) + 1; n-- > 0;)
                    compare(&scanners[s], keys, events[e], n);
        free(keys);
    }
}

/* Changes one byte of an event to each byte that has a meaning in JSON, and to others. The full set
 * changes every byte, the landing set every 5th. */
TEST(every_scanner_reads_changed_events_alike) {
    const size_t step = in_full_set() ? 1 : 5;
    static const char changes[] = "\"\\{}[]:,-.e0919 \n\tnt\x01\x7F\x80\xC3\xE2\xFF";
    size_t n_scanners;
    const tm_scanner *scanners = tm_scanners(&n_scanners);
    for (size_t s = 0; s < n_scanners; s++) {
        tm_chrome_keys *keys = malloc(2 * sizeof *keys);
        assert_non_null(keys);
        tm_chrome_keys_init(&keys[0], tm_kineto_fields, N_FIELDS);
        tm_chrome_keys_init(&keys[1], tm_kineto_fields, N_FIELDS);
        for (int e = 0; e < N_EVENTS; e++) {
            char text[1024];
            size_t size = strlen(events[e]);
            assert_true(size < sizeof text);
            for (size_t at = first_of_every(step); at < size; at += step)
                for (size_t c = 0; c < sizeof changes; c++) {
                    memcpy(text, events[e], size);
                    text[at] = changes[c];
                    compare(&scanners[s], keys, text, size);
                }
        }
        free(keys);
    }
}

/* Learned keys make reading faster, but do not change events, errors or offsets of errors. */
TEST(what_a_scanner_learned_changes_nothing) {
    const size_t step = in_full_set() ? 1 : 5;
    static const char changes[] = "\"\\{}[]:,-.e09 \n\tn\x01\x80";
    static outcome cold, warm;
    size_t n_scanners;
    const tm_scanner *scanners = tm_scanners(&n_scanners);
    for (size_t s = 0; s < n_scanners; s++) {
        tm_chrome_keys *keys = malloc(2 * sizeof *keys);
        assert_non_null(keys);
        tm_chrome_keys_init(&keys[1], tm_kineto_fields, N_FIELDS);
        for (size_t e = 0; e < N_EVENTS; e++)
            for (size_t at = first_of_every(step); at < strlen(events[e]); at += step)
                for (size_t c = 0; c < sizeof changes; c++) {
                    char text[1024 + TM_JSON_PADDING] = "";
                    size_t size = strlen(events[e]);
                    memcpy(text, events[e], size);
                    /* learns the keys first */
                    parse(&scanners[s], &keys[1], text, size, true, &warm);
                    text[at] = changes[c];
                    tm_chrome_keys_init(&keys[0], tm_kineto_fields, N_FIELDS);
                    parse(&scanners[s], &keys[0], text, size, true, &cold);
                    parse(&scanners[s], &keys[1], text, size, true, &warm);
                    expect_same(&cold, &warm);
                }
        free(keys);
    }
}

RUN_TESTS()

/* Wire format of protocol buffers, and XSpaces read with it. */
#include "readers/xplane/plane/space.h"

#include <cjson/cJSON.h>
#include <inttypes.h>

#include "source_ways.h"
#include "xplane_fixture.h"

enum { TEXT_MAX = 4096 };

TEST(varints_of_up_to_ten_bytes_are_read) {
    static const struct {
        const char *bytes;
        size_t size, taken; /* taken 0: reading fails */
        uint64_t value;
    } cases[] = {
        {"\x00", 1, 1, 0},
        {"\x7F", 1, 1, 127},
        {"\x80\x01", 2, 2, 128},
        {"\xFF\x7F\x01", 3, 2, 16383},
        {"\x80\x80\x01", 3, 3, 16384},
        {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10, 10, UINT64_MAX},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10, 10, UINT64_C(1) << 63},
        /* the tenth byte has only one bit; there is no eleventh; the number is cut short */
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 10, 0, 0},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, 0, 0},
        {"\x80", 1, 0, 0},
        {"\x80\x80", 2, 0, 0},
        {"", 0, 0, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const uint8_t *p = (const uint8_t *)cases[i].bytes;
        uint64_t value = 0;
        print_message("case %zu\n", i);
        const uint8_t *end = tm_wire_varint(p, p + cases[i].size, &value);
        assert_ptr_equal(end, cases[i].taken ? p + cases[i].taken : NULL);
        assert_true(value == cases[i].value);
    }
}

TEST(fields_are_taken_up_to_damage) {
    static const struct {
        const char *bytes;
        size_t size;
        const char *fields; /* "number:type:value " of each field */
        size_t damaged_at;  /* offset of the damage, or size of the message */
    } cases[] = {
        {"\x08\x96\x01", 3, "1:0:150 ", 3},
        {"\x12\x02hi\x18\x05", 6, "2:2:2 3:0:5 ", 6},
        {"\x11\x01\0\0\0\0\0\0\x80", 9, "2:1:9223372036854775809 ", 9},
        {"\x0D\x01\0\0\0", 5, "1:5:1 ", 5},
        {"\x12\x00", 2, "2:2:0 ", 2},
        /* a length past the end; groups; field 0; a fixed-size value cut short; a field number that
         * is too large */
        {"\x08\x01\x12\x03hi", 6, "1:0:1 ", 2},
        {"\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11, "", 0},
        {"\x0B\x0C", 2, "", 0},
        {"\x00\x01", 2, "", 0},
        {"\x11\x01\0\0\0\0\0\0", 8, "", 0},
        {"\x80\x80\x80\x80\x10\x01", 6, "", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const uint8_t *p = (const uint8_t *)cases[i].bytes;
        tm_wire_message message = {p, p + cases[i].size};
        tm_wire_field field;
        char text[200] = "";
        print_message("case %zu\n", i);
        while (tm_wire_next(&message, &field))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%u:%u:%" PRIu64 " ",
                     field.number, field.type, field.value);
        assert_string_equal(text, cases[i].fields);
        assert_int_equal(message.p - p, cases[i].damaged_at);
        assert_int_equal(tm_wire_damaged(&message), cases[i].damaged_at != cases[i].size);
    }
}

static void TM_PRINTF(2, 3) say(char *out, const char *format, ...) {
    va_list list;
    va_start(list, format);
    size_t n = strlen(out);
    vsnprintf(out + n, TEXT_MAX - n, format, list);
    va_end(list);
}

/* Takes the next stat of a message. Returns false at the end, or if the message is damaged. */
static bool next_stat(tm_wire_message *message, uint32_t number, tm_xstat *out) {
    tm_wire_field field;
    for (;;) {
        const uint8_t *begin = message->p;
        if (!tm_wire_next(message, &field))
            return false;
        if (field.number != number || field.type != TM_WIRE_BYTES)
            continue;
        if (tm_xstat_read(tm_wire_inner(&field), out))
            return true;
        message->p = begin;
        return false;
    }
}

static void say_stats(char *out, const tm_xplane *plane, tm_wire_message message, uint32_t field) {
    tm_xstat stat;
    while (next_stat(&message, field, &stat)) {
        tm_text name = tm_xplane_stat_name(plane, stat.id), text = tm_xstat_text(plane, &stat);
        say(out, " %.*s=", (int)name.size, name.bytes);
        if (text.size > 0)
            say(out, "%.*s", (int)text.size, text.bytes);
        else if (stat.type == TM_X_BYTES)
            say(out, "#%.*s", (int)stat.text.size, stat.text.bytes);
        else if (stat.type == TM_X_DOUBLE)
            say(out, "%g", stat.r);
        else
            say(out, "%" PRId64, stat.i);
    }
    assert_false(tm_wire_damaged(&message));
}

static void say_line(char *out, tm_space *space, const tm_xplane *plane, const tm_xline *line) {
    tm_xevent event;
    bool more;
    int64_t n = 0;
    say(out, " line %" PRId64 " %" PRId64 " %.*s\n", line->id, line->timestamp_ns,
        (int)line->name.size, line->name.bytes);
    assert_int_equal(tm_space_enter(space, line, NULL), TM_OK);
    for (; tm_space_next(space, &event, &more, NULL) == TM_OK && more; n++) {
        const tm_xmeta *meta = tm_xplane_metadata(plane, event.metadata);
        say(out, "  %.*s %" PRId64 " %" PRId64, (int)meta->name.size, meta->name.bytes,
            event.offset_ps, event.duration_ps);
        if (event.occurrences)
            say(out, " x%" PRId64, event.occurrences);
        say_stats(out, plane, event.message, TM_X_EVENT_STATS);
        say_stats(out, plane, meta->message, TM_X_METADATA_STATS);
        say(out, "\n");
    }
    assert_false(more);
    assert_int_equal(n, line->n_events);
}

/* Writes everything in a space. Lines are read from last to first, so the window goes backwards. */
static void say_space(char *out, tm_source *source) {
    tm_space space;
    *out = '\0';
    assert_int_equal(tm_space_open(source, &space, NULL), TM_OK);
    for (size_t i = space.planes.n; i-- > 0;) {
        const tm_xplane *plane = (const tm_xplane *)space.planes.data + i;
        say(out, "%.*s\n", (int)plane->name.size, plane->name.bytes);
        for (size_t k = plane->lines.n; k-- > 0;)
            say_line(out, &space, plane, (const tm_xline *)plane->lines.data + k);
        for (size_t k = 0; k < plane->stats.n; k++) {
            tm_wire_message stat = ((const tm_wire_message *)plane->stats.data)[k];
            say(out, " stat of %d bytes\n", (int)(stat.end - stat.p));
        }
    }
    const tm_vec *texts[] = {&space.errors, &space.warnings, &space.hostnames};
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t k = 0; k < texts[i]->n; k++) {
            tm_text text = ((const tm_text *)texts[i]->data)[k];
            say(out, "%.*s\n", (int)text.size, text.bytes);
        }
    tm_space_close(&space);
}

/* Reads every encoding. Compressed files are decoded again to go backwards. */
TEST(all_of_a_space_is_read) {
    static const char text[] = "plane /device:GPU:0 cores=80 builder='N~V\n"
                               "line 7 100 Stream~#7\n"
                               "meta gemm flops=u5 kind=&dot\n"
                               "event gemm 1000 2000 correlation_id=3 peak=d1.5\n"
                               "event copy -5 1 raw=#ab kind='set\n"
                               "line -2 0 Steps\n"
                               "times gemm 4\n"
                               "plane /host:CPU\n"
                               "error no~driver\nwarning slow\nhost h1\nhost h2\n";
    static const char expected[] = "/host:CPU\n"
                                   "/device:GPU:0\n"
                                   " line -2 0 Steps\n"
                                   "  gemm 0 0 x4 flops=5 kind=dot\n"
                                   " line 7 100 Stream #7\n"
                                   "  gemm 1000 2000 correlation_id=3 peak=1.5 flops=5 kind=dot\n"
                                   "  copy -5 1 raw=#ab kind=set\n"
                                   " stat of 4 bytes\n"
                                   " stat of 7 bytes\n"
                                   "no driver\nslow\nh1\nh2\n";
    tm_vec bytes = space_of(text),
           encoded[3] = {copy_of(all_of(&bytes)), TM_VEC(char), TM_VEC(char)};
    append_gzip(&encoded[1], all_of(&bytes));
    append_zstd(&encoded[2], all_of(&bytes));
    for (int i = 0; i < 3; i++) {
        char out[TEXT_MAX];
        tm_source *source;
        assert_int_equal(tm_source_open_memory(encoded[i].data, encoded[i].n, "x", &source, NULL),
                         TM_OK);
        say_space(out, source);
        assert_string_equal(out, expected);
        tm_source_close(source);
        tm_vec_free(&encoded[i]);
    }
    tm_vec_free(&bytes);
}

/* If an id occurs twice, its last entry counts, as in every protobuf map. Ids need not be dense. */
TEST(names_are_found_by_id) {
    static const char plane[] = "\x0A\x30"
                                "\x12\x01P"
                                "\x22\x09\x08\x05\x12\x05\x08\x05\x12\x01"
                                "A" /* 5: A */
                                "\x22\x0A\x08\xC8\x01\x12\x05\x08\x02\x12\x01"
                                "B" /* 200: B */
                                "\x22\x09\x08\x05\x12\x05\x08\x05\x12\x01"
                                "C"
                                "\x2A\x09\x08\x07\x12\x05\x08\x07\x12\x01"
                                "D";
    tm_source *source;
    tm_space space;
    assert_int_equal(tm_source_open_memory(plane, sizeof plane - 1, "x", &source, NULL), TM_OK);
    assert_int_equal(tm_space_open(source, &space, NULL), TM_OK);
    const tm_xplane *p = tm_space_plane(&space, "P");
    assert_int_equal(p->metadata.n, 2);
    assert_true(tm_text_is(tm_xplane_metadata(p, 5)->name, "C"));
    assert_true(tm_text_is(tm_xplane_metadata(p, 200)->name, "B"));
    assert_null(tm_xplane_metadata(p, 6));
    assert_null(tm_xplane_metadata(p, -1));
    assert_null(tm_xplane_metadata(p, 201));
    assert_true(tm_text_is(tm_xplane_stat_name(p, 7), "D"));
    assert_int_equal(tm_xplane_stat_name(p, 8).size, 0);
    assert_null(tm_space_plane(&space, "Q"));
    tm_space_close(&space);
    tm_source_close(source);
}

static tm_status read_all(tm_source *source, tm_error *err) {
    tm_space space;
    tm_status status = tm_space_open(source, &space, err);
    for (size_t i = 0; status == TM_OK && i < space.planes.n; i++) {
        const tm_xplane *plane = (const tm_xplane *)space.planes.data + i;
        for (size_t k = 0; status == TM_OK && k < plane->lines.n; k++) {
            tm_xevent event;
            bool more = true;
            status = tm_space_enter(&space, (const tm_xline *)plane->lines.data + k, err);
            while (status == TM_OK && more)
                status = tm_space_next(&space, &event, &more, err);
        }
    }
    tm_space_close(&space);
    return status;
}

/* If a space is cut anywhere except between two planes, reading fails at the offset of the cut, or
 * of the field that is longer than what is left. */
TEST(a_space_cut_at_any_byte_is_an_error) {
    tm_vec bytes = space_of("plane A\nline 1 2 L\nevent e 3 4 s=5\nplane B\nhost h\n");
    const uint8_t *b = bytes.data;
    size_t first = 2u + b[1], second = first + 2u + b[first + 1];
    for (size_t n = 1; n <= bytes.n; n++) {
        tm_source *source;
        tm_error err = {.offset = -1};
        assert_int_equal(tm_source_open_memory(b, n, "x", &source, NULL), TM_OK);
        bool whole = n == first || n == second || n == bytes.n;
        assert_int_equal(read_all(source, &err), whole ? TM_OK : TM_ERR_INPUT);
        assert_true(whole || (err.offset >= 0 && err.offset <= (int64_t)n));
        tm_source_close(source);
    }
    tm_vec_free(&bytes);
}

TEST(damage_is_reported_with_its_place) {
    static const struct {
        const char *bytes;
        size_t size;
        int64_t offset;
        const char *message;
    } cases[] = {
        {"\x0A\x05\x12\x01P\x0B\x0C", 7, 5, "no field of a protocol buffer message starts here"},
        {"\x0A\x05\x12\x01P\x12\x09\x22\x00", 9, 5,
         "a field of 9 bytes starts here, but its message ends 0 bytes later"},
        {"\x0A\x09\x12\x01P", 5, 0,
         "a field of 9 bytes starts here, but the file ends 3 bytes later"},
        {"\x0A\x06\x1A\x04\x22\x02\x08\x80", 8, 6, "the message that starts here is damaged"},
        {"\x0A\x04\x22\x02\x08\x80", 6, 4, "the message that starts here is damaged"},
        {"\x0A\x04\x2A\x02\x12\x09", 6, 4, "the message that starts here is damaged"},
        {"\x0A", 1, 1, "the file ends in the middle of a message"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_source *source;
        tm_error err;
        print_message("case %zu\n", i);
        assert_int_equal(tm_source_open_memory(cases[i].bytes, cases[i].size, "x", &source, NULL),
                         TM_OK);
        assert_int_equal(read_all(source, &err), TM_ERR_INPUT);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(err.offset, cases[i].offset);
        tm_source_close(source);
    }
}

static const char *shared(void) {
    const char *folder = getenv("TMERGE_SHARED");
    return folder ? folder : TMERGE_TESTDATA "/../../shared";
}

/* Returns the file's content, terminated; NULL if there is no file. */
static char *content_of(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *bytes = calloc(1, 1 << 20);
    assert_non_null(bytes);
    (void)fread(bytes, 1, (1 << 20) - 1, file);
    (void)fclose(file);
    return bytes;
}

static int64_t number_in(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_non_null(item);
    return strtoll(item->valuestring, NULL, 10);
}

static void check_line(tm_space *space, const tm_xline *line, const cJSON *expected) {
    int64_t n = 0, sum = 0, first = INT64_MAX, last = 0;
    tm_xevent event;
    bool more;
    assert_int_equal(tm_space_enter(space, line, NULL), TM_OK);
    for (; tm_space_next(space, &event, &more, NULL) == TM_OK && more; n++) {
        int64_t end = event.offset_ps + event.duration_ps;
        sum += event.duration_ps;
        first = event.offset_ps < first ? event.offset_ps : first;
        last = end > last ? end : last;
    }
    assert_int_equal(n, number_in(expected, "events"));
    assert_int_equal(sum, number_in(expected, "sum_ps"));
    assert_int_equal(first, number_in(expected, "first_offset_ps"));
    assert_int_equal(last, number_in(expected, "last_end_ps"));
    assert_int_equal(line->timestamp_ns, number_in(expected, "timestamp_ns"));
}

static const tm_xline *line_named(const tm_xplane *plane, const char *name) {
    const tm_xline *lines = plane->lines.data;
    for (size_t i = 0; i < plane->lines.n; i++)
        if (tm_text_is(lines[i].name, name))
            return &lines[i];
    fail_msg("no line %s", name);
    return NULL;
}

static void check_file(const char *name, const cJSON *planes) {
    char path[512];
    tm_source *source;
    tm_space space;
    const cJSON *plane, *line;
    snprintf(path, sizeof path, "%s/traces/%s", shared(), name);
    print_message("%s\n", name);
    assert_int_equal(tm_source_open(path, &source, NULL), TM_OK);
    assert_int_equal(tm_space_open(source, &space, NULL), TM_OK);
    cJSON_ArrayForEach(plane, planes) {
        const tm_xplane *p = tm_space_plane(&space, plane->string);
        assert_non_null(p);
        cJSON_ArrayForEach(line, plane) {
            tm_xstat stat;
            if (cJSON_IsObject(line)) {
                check_line(&space, line_named(p, line->string), line);
            } else { /* a stat of the plane */
                assert_true(tm_xplane_stat(p, line->string, &stat));
                assert_int_equal(stat.i, strtoll(line->valuestring, NULL, 10));
            }
        }
    }
    tm_space_close(&space);
    tm_source_close(source);
}

/* cJSON's doubles cannot hold a time of day in ns exactly, so numbers are quoted. */
static void quote_numbers(const char *json, char *out) {
    for (bool quoted = false; *json; json++) {
        bool digit = (*json >= '0' && *json <= '9') || *json == '-';
        bool begins = digit && json[-1] == ' ' && !quoted;
        quoted ^= *json == '"';
        if (begins)
            *out++ = '"';
        *out++ = *json;
        if (digit && !quoted && (json[1] == ',' || json[1] == '\n'))
            *out++ = '"';
    }
    *out = '\0';
}

/* The expected content is from the schema's own compiler and library. */
TEST(real_files_are_decoded_to_the_picosecond) {
    char path[512];
    const cJSON *file;
    snprintf(path, sizeof path, "%s/expected/xplane/decoded.json", shared());
    char *bytes = content_of(path);
    if (!bytes)
        skip();
    char *quoted = malloc(1 << 21);
    assert_non_null(quoted);
    quote_numbers(bytes, quoted);
    cJSON *root = cJSON_Parse(quoted);
    assert_non_null(root);
    assert_int_equal(cJSON_GetArraySize(root), 5);
    cJSON_ArrayForEach(file, root) check_file(file->string, file);
    cJSON_Delete(root);
    free(quoted);
    free(bytes);
}

RUN_TESTS()

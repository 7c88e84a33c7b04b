/* XSpace events and their stats, in all encodings. */
#include <inttypes.h>

#include "readers/xplane/plane/xplane_read.h"
#include "timeline_fixture.h"

#define B(text) (text), sizeof(text) - 1

/* Stat names: 1 correlation_id, 2 name, 3 group_id, 300 step_num, and 9, which is not read. */
static const char names[] = "\x2A\x14\x08\x01\x12\x10\x12\x0E"
                            "correlation_id"
                            "\x2A\x0A\x08\x02\x12\x06\x12\x04"
                            "name"
                            "\x2A\x0E\x08\x03\x12\x0A\x12\x08"
                            "group_id"
                            "\x2A\x0F\x08\xAC\x02\x12\x0A\x12\x08"
                            "step_num"
                            "\x2A\x07\x08\x09\x12\x03\x12\x01"
                            "o";

enum { PLANE_AT = 4, EVENT_AT = 8 }; /* offsets of the content of plane and event */

/* Makes a file of one event of less than 128 bytes: plane, line and event, each with its length. */
static size_t make_file(const char *event, size_t size, uint8_t *out) {
    const uint8_t head[] = {0x0A, 0x80, 0x02, 0x00, 0x1A, (uint8_t)(size + 2), 0x22, (uint8_t)size};
    memcpy(out, head, sizeof head);
    memcpy(out + EVENT_AT, event, size);
    memcpy(out + EVENT_AT + size, names, sizeof names - 1);
    size_t n = EVENT_AT + size + sizeof names - 1;
    out[1] = (uint8_t)(0x80 | ((n - PLANE_AT) & 0x7F)); /* the length always takes three bytes */
    out[2] = (uint8_t)(0x80 | ((n - PLANE_AT) >> 7));
    return n;
}

static void say(const tm_xstats *stats, const tm_xevent *event, const tm_xvalues *v, char *out,
                size_t size) {
    static const struct {
        tm_xrole role;
        char letter;
    } roles[] = {{TM_X_CORRELATION, 'c'}, {TM_X_NAME, 'n'}, {TM_X_GROUP, 'g'}, {TM_X_STEP, 's'}};
    int n = snprintf(out, size, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, event->metadata,
                     event->offset_ps, event->duration_ps, event->occurrences);
    for (size_t i = 0; i < COUNT(roles); i++) {
        const tm_xstat *stat = &v->values[roles[i].role];
        tm_text text =
            tm_x_has(v, roles[i].role) ? tm_xstat_text(stats->plane, stat) : (tm_text){"", 0};
        if (tm_x_has(v, roles[i].role))
            n += snprintf(out + n, size - (size_t)n, " %c=%" PRId64 ",%g,%.*s", roles[i].letter,
                          stat->i, stat->r, (int)text.size, text.bytes);
    }
}

TEST(events_are_read_however_they_are_written) {
    static const struct {
        const char *bytes;
        size_t size;
        const char *expected; /* metadata offset duration occurrences, stats as int,real,text */
    } cases[] = {
        {B(""), "0 0 0 0"},
        {B("\x08\x05\x10\x07\x18\x09"), "5 7 9 0"},
        {B("\x18\x09\x08\x05\x28\x02"), "5 0 9 2"}, /* another order of fields */
        {B("\x08\x05\x10\x80\x80\x80\x80\x80\x80\x80\x01"), "5 562949953421312 0 0"}, /* 2^49 */
        {B("\x10\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), "0 -2 0 0"},
        {B("\x88\x00\x05"), "5 0 0 0"},             /* a tag of two bytes */
        {B("\x20\x03\x38\x04\x08\x05"), "5 0 0 0"}, /* unknown fields */
        {B("\x3A\x01x\x08\x05"), "5 0 0 0"},        /* also unknown, length-delimited */
        {B("\x08\x05\x22\x04\x08\x01\x18\x07"), "5 0 0 0 c=7,7,"},
        {B("\x22\x04\x08\x01\x18\x07\x08\x05"), "5 0 0 0 c=7,7,"}, /* a number after the stats */
        {B("\x22\x04\x08\x01\x18\x07\x22\x04\x08\x03\x20\x02"), "0 0 0 0 c=7,7, g=2,2,"},
        /* of two stats with one id, the last counts */
        {B("\x22\x04\x08\x01\x18\x07\x22\x04\x08\x01\x18\x08"), "0 0 0 0 c=8,8,"},
        {B("\x22\x04\x18\x07\x08\x01"), "0 0 0 0 c=7,7,"},         /* the id comes last */
        {B("\x22\x06\x08\x01\x18\x07\x18\x08"), "0 0 0 0 c=8,8,"}, /* two values */
        {B("\x22\x02\x08\x01"), "0 0 0 0 c=0,0,"},                 /* no value */
        {B("\x22\x06\x08\x01\x0A\x02hi"), "0 0 0 0 c=0,0,"},       /* an id of another type */
        {B("\x22\x05\x08\xAC\x02\x20\x04"), "0 0 0 0 s=4,4,"},     /* ids of 256 and more */
        {B("\x22\x0D\x08\x01\x20\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), "0 0 0 0 c=-1,-1,"},
        {B("\x22\x0D\x08\x01\x18\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"),
         "0 0 0 0 c=-1,1.84467e+19,"}, /* unsigned */
        {B("\x22\x06\x08\x02\x2A\x02hi"), "0 0 0 0 n=0,0,hi"},
        {B("\x22\x04\x08\x02\x2A\x00"), "0 0 0 0 n=0,0,"},
        {B("\x22\x08\x08\x02\x2A\x02hi\x18\x01"), "0 0 0 0 n=1,1,"},
        {B("\x22\x04\x08\x02\x38\x02"), "0 0 0 0 n=2,2,name"}, /* by reference */
        {B("\x22\x0B\x08\x01\x11\0\0\0\0\0\0\xF8\x3F"), "0 0 0 0 c=0,1.5,"},
        {B("\x22\x04\x08\x09\x18\x07\x22\x04\x08\x03\x20\x02"), "0 0 0 0 g=2,2,"}, /* 9: not read */
        {B("\x22\x03\x08\x09\x80"), "0 0 0 0"}, /* damage in a stat that is not read */
        {B("\x22\x03\x08\x0A\x80"), "0 0 0 0"}, /* a stat without a name */
        {B("\x22\x00\x08\x05"), "5 0 0 0"},
        /* Damage: "@" and the offset in the event at which reading fails. */
        {B("\x08"), "@0"},
        {B("\x00\x01"), "@0"},
        {B("\x08\x80"), "@0"},
        {B("\x08\x05\x22\x04\x08\x01\x18"), "@0"},     /* a stat that is longer than its event */
        {B("\x08\x05\x22\x02\x08\x80"), "@4"},         /* damage in the id of a stat */
        {B("\x08\x05\x22\x03\x08\x01\x18"), "@4"},     /* damage in the value of a stat */
        {B("\x08\x05\x22\x04\x08\x02\x2A\x01"), "@4"}, /* a text that is longer than its stat */
        {B("\x08\x05\x22\x04\x08\x01\x18\x80\x10\x01"), "@4"},
        {B("\x22\x04\x08\x01\x11\x00\x08"), "@0"}, /* a double is cut short, and so is the event */
        {B("\x22\x03\x08\x01\x18\x08\x05\x0B"), "@0"}, /* fails in the event, before the stat */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t file[512];
        size_t n = make_file(cases[i].bytes, cases[i].size, file);
        tm_source *source;
        tm_space space;
        tm_xstats stats;
        tm_xevent event;
        tm_xvalues v;
        tm_error err;
        bool more;
        char text[200];
        print_message("case %zu: %s\n", i, cases[i].expected);
        assert_int_equal(tm_source_open_memory(file, n, "x", &source, NULL), TM_OK);
        assert_int_equal(tm_space_open(source, &space, NULL), TM_OK);
        const tm_xplane *plane = space.planes.data;
        assert_int_equal(tm_xstats_init(&stats, plane, NULL), TM_OK);
        assert_int_equal(tm_space_enter(&space, plane->lines.data, NULL), TM_OK);
        /* nothing may be left of the earlier content */
        memset(&v, 0x55, sizeof v);
        tm_status status = tm_xstats_next(&stats, &space, &event, &v, &more, &err);
        if (status == TM_OK) {
            assert_true(more);
            say(&stats, &event, &v, text, sizeof text);
            assert_int_equal(tm_xstats_next(&stats, &space, &event, &v, &more, &err), TM_OK);
            assert_false(more);
        } else {
            assert_int_equal(status, TM_ERR_INPUT);
            snprintf(text, sizeof text, "@%" PRId64, err.offset - EVENT_AT);
        }
        assert_string_equal(text, cases[i].expected);
        tm_xstats_free(&stats);
        tm_space_close(&space);
        tm_source_close(source);
    }
}

RUN_TESTS()

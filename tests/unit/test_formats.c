/* What holds for every trace format in the registry. Fields that a row omits are not tested. */
#include "readers/formats.h"

#include "base/vec.h"
#include "readers/converter.h"
#include "source_ways.h"
#include "timeline/trace.h"

static bool is_end(const char *text) {
    return text && text[0] == '.' && strlen(text) > 1 && strlen(text) < 20 && !strchr(text, '/');
}

/* Returns what is wrong with a row; NULL if nothing is. */
static const char *problem_of(const tm_format *f) {
    const tm_converter *c = f->converter;
    const char *advice[] = {f->advice_unnamed_group, f->advice_unknown_group};
    if (!f->name || !*f->name || strspn(f->name, "abcdefghijklmnopqrstuvwxyz_") != strlen(f->name))
        return "name";
    if (!f->summary || !*f->summary || strchr(f->summary, '\n'))
        return "summary";
    if (!f->sniff || !f->read)
        return "sniff and read";
    if (!f->find_event != !f->read_part || !f->read_part != !f->finish)
        return "parts";
    if (!f->list_units != !f->read_unit)
        return "units";
    if (c && (!c->program || !is_end(c->report_end) || !is_end(c->trace_end) || !c->advise ||
              !c->convert))
        return "converter";
    for (size_t i = 0; i < COUNT(advice); i++)
        for (const char *line = advice[i]; line; line = strchr(line, '\n')) {
            line += line > advice[i];
            if (strcspn(line, "\n") > 76 || (line > advice[i] && strncmp(line, "  ", 2) != 0))
                return "advice";
        }
    return NULL;
}

static bool sniff(const char *head, size_t size, bool whole) {
    return !whole && size > 0 && *head;
}

/* A reader that returns the number of decoded bytes as the world size. */
static tm_status read_all(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    char bytes[64];
    size_t n = 1;
    (void)names;
    for (out->world_size = 0; n > 0; out->world_size += (int64_t)n)
        TM_TRY(tm_source_read(source, bytes, sizeof bytes, &n, err));
    return TM_OK;
}

static tm_status read_unit(tm_source *source, const tm_unit *unit, tm_names *names, tm_trace *out,
                           tm_error *err) {
    out->rank = unit->rank;
    return read_all(source, names, out, err);
}

static tm_status list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                            tm_error *err) {
    tm_trace whole;
    (void)known;
    *foreign = false;
    TM_TRY(read_all(source, NULL, &whole, err));
    return tm_vec_append(units, &(tm_unit){.rank = whole.world_size}, 1) ? TM_OK : TM_ERR_FAULT;
}

static tm_status finish(struct tm_part *whole, tm_names *names, tm_error *err) {
    return whole && names ? TM_OK : tm_fail_memory(err);
}

static void advise(const char *report, char *out, size_t size) {
    snprintf(out, size, "%s", report);
}

static tm_status convert(const char *program, const char *report, const char *trace,
                         const struct tm_child_watch *watch, tm_error *err) {
    (void)watch;
    return tm_fail(err, TM_ERR_INPUT, report, -1, "%s: %s", program, trace);
}

/* The smallest valid content of a row. */
#define WORDS .name = "least", .summary = "words"
#define READS .sniff = sniff, .read = read_all
static const tm_format least = {WORDS, READS};
static const tm_format with_units = {WORDS, READS, .list_units = list_units,
                                     .read_unit = read_unit};

TEST(every_row_is_complete) {
    size_t n;
    const tm_format *const *formats = tm_formats(&n);
    for (size_t i = 0; i < n; i++) {
        const tm_converter *own = formats[i]->converter;
        if (problem_of(formats[i]))
            fail_msg("%s: %s", formats[i]->name, problem_of(formats[i]));
        assert_ptr_equal(tm_format_find(formats[i]->name), formats[i]); /* names are unique */
        char report[64], text[TM_MESSAGE_MAX];
        snprintf(report, sizeof report, "a/b%s", own ? own->report_end : "");
        assert_ptr_equal(tm_converter_of(report), own); /* suffixes of reports are unique, too */
        if (own) {
            own->advise(report, text, sizeof text);
            assert_non_null(strstr(text, report));
        }
    }
    assert_null(tm_format_find("least"));
}

TEST(what_a_row_lacks_is_seen) {
    static const tm_converter no_end = {"p", "rep", ".db", advise, convert},
                              no_advice = {"p", ".rep", ".db", NULL, convert};
    static const struct {
        tm_format row;
        const char *problem;
    } cases[] = {
        {{WORDS, READS}, NULL},
        {{.name = "A b", .summary = "words", READS}, "name"},
        {{.name = "least", .summary = "two\nlines", READS}, "summary"},
        {{WORDS, .sniff = sniff}, "sniff and read"},
        {{WORDS, .read = read_all}, "sniff and read"},
        {{WORDS, READS, .finish = finish}, "parts"},
        {{WORDS, READS, .list_units = list_units}, "units"},
        {{WORDS, READS, .read_unit = read_unit}, "units"},
        {{WORDS, READS, .converter = &no_end}, "converter"},
        {{WORDS, READS, .converter = &no_advice}, "converter"},
        {{WORDS, READS, .advice_unknown_group = "one\nline"}, "advice"},
        {{WORDS, READS, .advice_unnamed_group = "one\n  line"}, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *found = problem_of(&cases[i].row);
        print_message("case %zu\n", i);
        assert_string_equal(found ? found : "", cases[i].problem ? cases[i].problem : "");
    }
}

/* Reads a source with a row of the registry, and closes it. Returns the world size. */
static int64_t size_by(const tm_format *format, tm_source *source, const tm_unit *unit) {
    tm_names *names = tm_names_create();
    tm_trace trace;
    tm_status status = tm_trace_read_source(format, source, unit, names, &trace, NULL);
    int64_t size = trace.world_size;
    assert_int_equal(status, TM_OK);
    assert_int_equal(trace.rank, unit ? unit->rank : -1);
    tm_trace_free(&trace);
    tm_names_destroy(names);
    tm_source_close(source);
    return size;
}

TEST(units_are_those_of_what_a_source_gives_compressed_or_in_memory) {
    static const char file[] = TMERGE_TESTDATA "/ok_gzip.json.gz"; /* the file has 150 bytes */
    const tm_unit unit = {.rank = 7};
    tm_file_info info = {.path = file, .format = &with_units, .has_units = true};
    tm_vec units = TM_VEC(tm_unit);
    tm_source *source;
    bool foreign = true;
    assert_int_equal(tm_file_list_units(&info, false, &units, &foreign, NULL), TM_OK);
    assert_int_equal(units.n, 1);
    assert_int_equal(((const tm_unit *)units.data)->rank, 150);
    assert_int_equal(tm_source_open(file, &source, NULL), TM_OK);
    assert_int_equal(size_by(&with_units, source, &unit), 150);
    span gzip = SPAN(GZIP);
    assert_int_equal(tm_source_open_memory(gzip.bytes, gzip.n, "m", &source, NULL), TM_OK);
    assert_int_equal(size_by(&with_units, source, &unit), sizeof TICK - 1);
    assert_int_equal(tm_source_open_memory(gzip.bytes, gzip.n, "m", &source, NULL), TM_OK);
    assert_int_equal(size_by(&least, source, NULL), sizeof TICK - 1);
    info.format = &least;
    units.n = 0;
    assert_int_equal(tm_file_list_units(&info, false, &units, &foreign, NULL), TM_OK);
    assert_int_equal(units.n, 0);
    assert_false(foreign);
    tm_vec_free(&units);
}

/* Whatever the bytes are, sniffing rejects them and the reader says why. */
TEST(every_row_refuses_what_is_none_of_its_traces) {
    static const char rubbish[TM_SNIFF_BYTES] = "neither a trace nor a page";
    size_t n;
    const tm_format *const *formats = tm_formats(&n);
    tm_names *names = tm_names_create();
    for (size_t i = 0; i < n; i++) {
        tm_trace trace;
        tm_source *source;
        tm_error err;
        assert_false(formats[i]->sniff(rubbish, 0, true));
        assert_false(formats[i]->sniff(rubbish, strlen(rubbish), true));
        assert_int_equal(tm_source_open_memory(rubbish, 26, "rubbish", &source, &err), TM_OK);
        assert_int_equal(tm_trace_read_source(formats[i], source, NULL, names, &trace, &err),
                         TM_ERR_INPUT);
        assert_string_equal(err.path, "rubbish");
        assert_true(strlen(err.message) > 0);
        tm_trace_free(&trace);
        tm_source_close(source);
    }
    tm_names_destroy(names);
}

RUN_TESTS()

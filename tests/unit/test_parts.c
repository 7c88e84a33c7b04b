/* A trace is split at any byte: its parts join to the whole, or the mismatch is detected. */
#include "timeline/part.h"

#include "trace_text.h"

enum { TEXT_MAX = 16384 };

static char *text_of(const tm_trace *trace, const tm_names *names) {
    char *text = malloc(TEXT_MAX);
    assert_non_null(text);
#define PUT(...) snprintf(text + strlen(text), TEXT_MAX - strlen(text), __VA_ARGS__)
    *text = '\0';
    PUT("source %u format %u host %u metadata %u rank %lld world %lld base %lld%s\n", trace->source,
        trace->format, trace->host, trace->metadata, (long long)trace->rank,
        (long long)trace->world_size, (long long)trace->base_ns,
        trace->truncated ? " truncated" : "");
    for (int c = 0; c < TM_N_COUNTS; c++)
        if (trace->counts[c] != 0)
            PUT("%s %lld\n", tm_count_info((tm_count)c)->word, (long long)trace->counts[c]);
    for (size_t i = 0; i < trace->tracks.n; i++) {
        const tm_track *t = (const tm_track *)trace->tracks.data + i;
        PUT("track %d %d %lld: %u %u %u %u\n", t->kind, t->device, (long long)t->stream, t->pid,
            t->tid, t->process_name, t->thread_name);
    }
    for (size_t i = 0; i < trace->events.n; i++) {
        const tm_raw_event *e = (const tm_raw_event *)trace->events.data + i;
        PUT("on %u launched by %u kind %d\n", e->track, e->launch, e->kind);
    }
#undef PUT
    events_text(trace, names, text + strlen(text), TEXT_MAX - strlen(text));
    return text;
}

enum { PARTS_MAX = 3 };

typedef struct document {
    char *text; /* the source, with JSON quotes in place of ' */
    size_t size;
    reading whole;
    char *expected;
} document;

static char *quoted(const char *text) {
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *p = copy; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return copy;
}

static document open_document(const char *text) {
    document d = {.text = quoted(text), .size = strlen(text)};
    d.whole = read_bytes(d.text, d.size);
    d.expected = text_of(&d.whole.trace, d.whole.ground.names);
    return d;
}

static void close_document(document *d) {
    free(d->text);
    free(d->expected);
    close_reading(&d->whole);
}

static tm_source *source_at(const document *d, int64_t offset) {
    tm_source *source;
    assert_int_equal(tm_source_open_memory(d->text, d->size, "some.json", &source, NULL), TM_OK);
    if (offset > 0)
        assert_int_equal(tm_source_skip(source, offset, NULL), TM_OK);
    return source;
}

static const tm_format *format_of(const reading *r) {
    return tm_format_find(tm_names_text(r->ground.names, r->trace.format).bytes);
}

static int64_t event_after(const document *d, int64_t cut) {
    int64_t begin;
    tm_source *source = source_at(d, cut);
    assert_int_equal(format_of(&d->whole)->find_event(source, &begin, NULL), TM_OK);
    tm_source_close(source);
    return begin;
}

/* One part, as read by another process with its own dictionary. */
typedef struct piece {
    tm_trace trace;
    tm_names *names;
} piece;

static bool read_piece(const document *d, const int64_t range[2], piece *out, tm_part *part) {
    tm_source *source = source_at(d, range[0]);
    tm_trace_init(&out->trace);
    part->trace = &out->trace;
    tm_status status =
        format_of(&d->whole)->read_part(source, range[1], out->names, part, &(tm_error){0});
    assert_true(status == TM_OK || status == TM_ERR_INPUT);
    tm_source_close(source);
    return status == TM_OK;
}

static void join_piece(const document *d, tm_part *into, const tm_part *part,
                       const tm_names *names) {
    tm_vec bytes = TM_VEC(char);
    tm_part_join join;
    const tm_trace *trace = part->trace;
    assert_int_equal(tm_part_pack(part, names, &bytes, NULL), TM_OK);
    assert_int_equal(tm_part_join_begin(&join, into, d->whole.ground.names, bytes.data, NULL),
                     TM_OK);
    for (size_t i = 0; i < trace->events.n; i++)
        assert_int_equal(
            tm_join_events(&join.rows, (const tm_raw_event *)trace->events.data + i, 1, NULL),
            TM_OK);
    for (int a = 0; a < TM_N_ATTRS; a++)
        assert_int_equal(
            tm_join_attrs(&join.rows, (tm_attr)a, trace->attrs[a].data, trace->attrs[a].n, NULL),
            TM_OK);
    tm_part_join_end(&join);
    tm_vec_free(&bytes);
}

/* Splits at n - 1 bytes. Returns whether the parts fit: they then must equal the whole. */
static bool cut_at(const document *d, const int64_t *cuts, int n) {
    piece pieces[PARTS_MAX] = {0};
    tm_part parts[PARTS_MAX] = {0};
    int64_t begins[PARTS_MAX + 1] = {0};
    bool good = true;
    for (int k = 1; k < n; k++) {
        begins[k] = event_after(d, cuts[k - 1]);
        good = good && begins[k] >= cuts[k - 1];
    }
    begins[n] = -1;
    if (!good)
        return false;
    for (int k = 0; k < n; k++) {
        pieces[k].names = k == 0 ? d->whole.ground.names : tm_names_create();
        tm_part_init(&parts[k], NULL);
        parts[k].index = k;
        parts[k].n = n;
        good = read_piece(d, &begins[k], &pieces[k], &parts[k]) && good;
    }
    for (int k = 1; k < n; k++)
        good = good && tm_part_follows(&parts[0], &parts[k - 1], &parts[k]);
    if (good) {
        pieces[0].trace.source = d->whole.trace.source;
        pieces[0].trace.format = d->whole.trace.format;
        for (int k = 1; k < n; k++)
            join_piece(d, &parts[0], &parts[k], pieces[k].names);
        assert_int_equal(tm_parts_finish(&parts[0], d->whole.ground.names, NULL), TM_OK);
        char *found = text_of(&pieces[0].trace, d->whole.ground.names);
        if (strcmp(found, d->expected) != 0)
            print_message("cut at %lld\n", (long long)cuts[0]);
        assert_string_equal(found, d->expected);
        free(found);
    }
    for (int k = 0; k < n; k++) {
        tm_part_free(&parts[k]);
        tm_trace_free(&pieces[k].trace);
        if (k > 0)
            tm_names_destroy(pieces[k].names);
    }
    return good;
}

/* Returns the number of bytes at which the document can be split in two. */
static int64_t count_cuts(const char *text) {
    document d = open_document(text);
    int64_t n = 0;
    for (int64_t cut = 1; cut < (int64_t)d.size; cut++)
        n += cut_at(&d, &cut, 2);
    close_document(&d);
    return n;
}

static int64_t last_of(const char *text, const char *part) {
    const char *found = NULL;
    for (const char *p = text; (p = strstr(p, part)); p++)
        found = p;
    assert_non_null(found);
    return found - text;
}

#define EVENT(rest) "{'ph':'X','cat':'cpu_op','name':'op','pid':1,'tid':2," rest "}"
#define AT(ts) EVENT("'ts':" #ts ",'dur':1")
#define X "{'ph': 'X', 'cat': 'cpu_op', 'pid': 7, 'tid': 8, "
#define K "{'ph':'X','cat':'kernel','pid':0,'tid':7,"

/* Events with every kind and attribute, and metadata records for other tracks. */
static const char rich[] =
    "{'schemaVersion': 1, 'distributedInfo': {'rank': 3, 'world_size': 4},\n"
    "'baseTimeNanoseconds': 1700000000000000000, 'traceEvents': [\n"
    "{'ph': 'M', 'name': 'process_name', 'pid': 7, 'ts': 1, 'args': {'name': 'py'}}," X
    "'name': 'first', 'ts': 10.5, 'dur': 3},\n" X
    "'name': 'escaped }, {\\'ph\\': \\'X\\', \\'ts\\': 1, \\'dur\\': 2}, {', 'ts': 11,\n"
    " 'dur': 3, 'args': {'a': {'b': [1, {'c': '}, {'}], 'd': {}}, 'e': null}},"
    "{'ph':'X','cat':'cuda_runtime','pid':7,'tid':9,'name':'cudaLaunchKernel','ts':12,'dur':1,"
    "'args':{'correlation':31}}\n,\n" K "'name':'ncclDevKernel','ts':13,'dur':4,"
    "'args':{'correlation':31,'device':0,'stream':7,'grid':[1,2,3],'block':[4,5,6],'registers per "
    "thread':16,"
    "'Collective name':'allreduce','dtype':'Float','Process Group Name':'pg'}},5, null, "
    "'text',\t[{}],\r\n"
    "{'ph':'C','name':'c','pid':7,'ts':14,'args':{'x':1,'y':2.5}},"
    "{'ph':'i','name':'[memory]','pid':7,'tid':8,'ts':15,'args':{'Bytes':64,'Addr':1}},"
    "{'ph':'s','name':'flow','id':1,'pid':7,'tid':8,'ts':15},"
    "{'ph':'X','cat':'gpu_memcpy','name':'copy','pid':0,'tid':20,'ts':16,'dur':1,"
    "'args':{'correlation':32,'bytes':100,'memory bandwidth (GB/s)':1.5}},"
    "{'ph':'X','cat':'cuda_sync','name':'Stream Wait Event','pid':0,'tid':20,'ts':17,'dur':1,"
    "'args':{'correlation':34,'stream':20,'wait_on_stream':7}}," X
    "'name':'aten::mm','ts':16.5,'dur':1,'args':{'Input Dims':[[2,3],[3,4]],"
    "'Input type':['float','float'],'Concrete Inputs':['','']}}," X "'name': 'no dur', 'ts': 17}," X
    "'name': 'back', 'ts': 5, 'dur': -1},"
    "{'ph':'M','name':'thread_name','pid':7,'tid':8,'ts':1,'args':{'name':'main'}}," K
    "'name':'last','ts':18,'dur':2,"
    "'args':{'correlation':33}}\n"
    "], 'host_name': 'node1', 'displayTimeUnit': 'ms'}\n";

TEST(parts_of_a_cut_anywhere_are_the_whole) {
    /* The text has nothing that only looks like an event. So only a split after the first byte of
     * the last event finds no event to start with. */
    assert_int_equal(count_cuts(rich), last_of(rich, K));
}

TEST(three_parts_are_the_whole_also_where_one_is_empty) {
    document d = open_document(rich);
    const int64_t steps[2] = {in_full_set() ? 17 : 67, in_full_set() ? 13 : 59};
    int64_t last = last_of(rich, K), n = 0, fit = 0;
    for (int64_t first = 1; first <= last; first += steps[0])
        for (int64_t second = first; second <= last; second += steps[1]) {
            fit += cut_at(&d, (int64_t[]){first, second}, 3);
            n++;
        }
    assert_int_equal(fit, n);
    close_document(&d);
}

/* Which events are of devices is decided when all parts are known. */
TEST(marks_and_flows_are_joined) {
    static const char text[] =
        "{'traceEvents':[" X
        "'name':'record_param_comms','ts':1,'dur':1,'args':{'External id':5,'Collective "
        "name':'allreduce'}},{'ph':'X','cat':'foo','name':'f','pid':1,'tid':2,'ts':2,'dur':1},{'ph'"
        ":'X','cat':'bar','name':'b','pid':1,'tid':2,'ts':3,'dur':1},{'ph':'f','cat':'ac2g','id':9,"
        "'pid':1,'tid':2,'ts':3},{'ph':'s','cat':'ac2g','id':9,'pid':7,'tid':8,'ts':1}," K
        "'name':'oneccl_x','ts':4,'dur':1,'args':{'External id':5,'sycl "
        "queue':1}},{'ph':'X','cat':'mtia_ccp_events','name':'m','pid':17,'tid':9,'ts':5,'dur':1},{"
        "'ph':'X','cat':'mtia_ccp_events','name':'m','pid':17,'tid':9,'ts':6,'dur':1,'args':{'"
        "stream':101}},{'ph':'X','cat':'foo','name':'last','pid':1,'tid':2,'ts':8,'dur':1}]}";
    document d = open_document(text);
    assert_int_equal(d.whole.trace.attrs[TM_ATTR_KERNEL].n, 4); /* bar, oneccl_x and both m */
    assert_int_equal(d.whole.trace.attrs[TM_ATTR_COLLECTIVE].n, 2);
    close_document(&d);
    assert_int_equal(count_cuts(text), last_of(text, "{'ph'"));
}

/* Only a sample of many flows is kept (kineto_flows.c). It is the same if a trace is read in parts.
 * One flow in 25 ends at an event, which counts as device work only if its flow is in the sample.
 */
TEST(of_many_flows_parts_keep_the_same) {
    enum { FLOWS = 3000, ROOM = FLOWS * 100 };
    char *text = malloc(ROOM);
    int n = snprintf(text, ROOM, "{'traceEvents':[");
    for (int i = 0; i < FLOWS; i++) {
        n += snprintf(text + n, (size_t)(ROOM - n),
                      "{'ph':'%c','cat':'ac2g','id':%d,'pid':%d,'tid':2,'ts':%d},",
                      i % 2 ? 's' : 'f', i / 2, 1 + i % 2, i);
        if (i % 50 == 0)
            n += snprintf(text + n, (size_t)(ROOM - n),
                          "{'ph':'X','cat':'foo%d','name':'f','pid':1,'tid':2,'ts':%d,'dur':1},", i,
                          i);
    }
    snprintf(text + n - 1, (size_t)(ROOM - n), "]}");
    document d = open_document(text);
    size_t judged = d.whole.trace.attrs[TM_ATTR_KERNEL].n;
    assert_true(judged > 0 && judged < FLOWS / 50);
    for (int64_t cut = 1; cut < n - 200; cut += n / 9)
        assert_true(cut_at(&d, (int64_t[]){cut, cut + n / 20}, 3));
    close_document(&d);
    free(text);
}

TEST(a_base_time_counts_wherever_it_stands) {
    static const char after[] =
        "{'traceEvents':[" AT(1) "," AT(2) "],'baseTimeNanoseconds':1700000000000000000}";
    static const char twice[] = "{'baseTimeNanoseconds':1600000000000000000,'traceEvents':[" AT(
        1) "," AT(2) "],'baseTimeNanoseconds':1700000000000000000}";
    assert_int_equal(count_cuts(after), last_of(after, "{'ph'"));
    assert_int_equal(count_cuts(twice), last_of(twice, "{'ph'"));
}

TEST(other_forms_of_a_document_can_be_cut) {
    static const char array[] = "\xEF\xBB\xBF [ " AT(1) " ,\n" AT(2) ",]\n ";
    static const char two_lists[] =
        "{'traceEvents':[" AT(1) "],'a':[1],'traceEvents':[" AT(2) "," AT(3) ",],}";
    assert_int_equal(count_cuts(array), last_of(array, "{'ph'"));
    /* A middle part cannot contain the end of traceEvents, but the first part can. */
    assert_int_equal(count_cuts(two_lists), last_of(two_lists, "{'ph'"));
}

TEST(repairs_are_counted_once_wherever_the_seam_is) {
    static const char text[] =
        "{'traceEvents':[" EVENT("'ts':1,'dur':1,'args':{'a':inf}") "," AT(2) "," EVENT(
            "'ts':3,'dur':1,'args':{'a':'x\ty',}") "," X
                                                   "'name':'an 'odd' one','ts':4,'dur':1}," EVENT(
                                                       "'ts':5,'dur':-1.-500") "," AT(6) "]}";
    /* No part begins at a malformed event: the part before it reads it. */
    assert_int_equal(count_cuts(text), last_of(text, "{'ph'"));
}

TEST(what_only_looks_like_an_event_is_found_out) {
#define FALSE_EVENT "{'ph':'X','ts':7,'dur':1}"
    static const char in_args[] = "{'traceEvents':[" EVENT(
        "'ts':1,'dur':1,'args':{'l':[" FALSE_EVENT "," FALSE_EVENT "]}") "," AT(2) "]}";
    static const char in_metadata[] =
        "{'traceEvents':[" AT(1) "," AT(2) "],'l':[" FALSE_EVENT "," FALSE_EVENT "]}";
    int64_t first = (int64_t)strlen("{'traceEvents':[");
    /* A part begins at the first text from its position on that looks like an event. In `in_args`,
     * this is a real event only up to the first event and after the last false event. */
    assert_int_equal(count_cuts(in_args),
                     first + last_of(in_args, "{'ph':'X','cat") - last_of(in_args, FALSE_EVENT));
    assert_int_equal(count_cuts(in_metadata), last_of(in_metadata, "{'ph':'X','cat"));
}

TEST(a_text_that_is_no_whole_document_has_no_parts) {
    static const char *const cut_short[] = {
        "{'traceEvents':[" AT(1) "," AT(2) ",",       "{'traceEvents':[" AT(1) "," AT(2),
        "{'traceEvents':[" AT(1) "," AT(2) ",{'ph':", "{'traceEvents':[" AT(1) "," AT(2) "]",
        "{'traceEvents':[" AT(1) "," AT(2) "],'a':",
    };
    for (size_t i = 0; i < COUNT(cut_short); i++)
        assert_int_equal(count_cuts(cut_short[i]), 0);
}

TEST(malformed_text_fails_in_some_part) {
    static const char *const texts[] = {
        "{'traceEvents':[" EVENT("'ts':1 'dur':1") "," AT(2) "]}",
        "{'traceEvents':[" AT(1) "," EVENT("'ts':2 'dur':1") "]}",
        "{'traceEvents':[" AT(1) "," AT(2) "]} x",
        "[" AT(1) "," AT(2) "]}",
        /* a middle part would continue from one list into the other */
        "[" AT(1) "," AT(2) "],'traceEvents':[" AT(3) "]",
        /* quotes that cannot be repaired contain something that looks like an event */
        "[" X "'ts':1,'name':'a, {'ts':7,'ph':7}, b'}," AT(2) "]",
        "[" AT(1) "," AT(2) "],'a':1}",
        "[" AT(1) "],'traceEvents':[" AT(2) "]}",
    };
    const int64_t step = in_full_set() ? 5 : 35;
    document d = open_document("[" AT(1) "]");
    for (size_t i = 0; i < COUNT(texts); i++) {
        free(d.text);
        d.text = quoted(texts[i]);
        d.size = strlen(d.text);
        for (int64_t cut = 1; cut < (int64_t)d.size; cut++) {
            assert_false(cut_at(&d, &cut, 2));
            for (int64_t second = cut; second < (int64_t)d.size; second += step)
                assert_false(cut_at(&d, (int64_t[]){cut, second}, 3));
        }
    }
    close_document(&d);
}

TEST(a_part_follows_only_where_the_one_before_it_ends) {
    static const tm_part first = {.n = 3, .begin = 0, .end = 100, .in_object = true};
    static const struct {
        tm_part part;
        bool follows;
    } cases[] = {
        {{.index = 1, .n = 3, .begin = 100, .end = 200}, true}, /* no object was seen */
        {{.index = 1, .n = 3, .begin = 99, .end = 200}, false},
        {{.index = 1, .n = 3, .begin = 101, .end = 200}, false},
        {{.index = 2, .n = 3, .begin = 100, .end = -1, .in_object = true}, true},
        {{.index = 2, .n = 3, .begin = 100, .end = -1, .in_object = false}, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(tm_part_follows(&first, &first, &cases[i].part), cases[i].follows);
}

TEST(cuts_are_even_and_do_not_overflow) {
    assert_int_equal(tm_part_cut(10, 0, 3), 0);
    assert_int_equal(tm_part_cut(10, 1, 3), 3);
    assert_int_equal(tm_part_cut(10, 2, 3), 6);
    assert_int_equal(tm_part_cut(10, 3, 3), 10);
    assert_true(tm_part_cut(INT64_MAX, 999, 1000) > INT64_MAX / 1000 * 998);
    assert_true(tm_part_cut(INT64_MAX, 1000, 1000) == INT64_MAX);
}

RUN_TESTS()

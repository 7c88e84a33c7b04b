/* Operation-level traces: what is one, which ranks it holds, and what becomes of an operation. */
#include <inttypes.h>

#include "kineto_fixture.h"
#include "readers/formats.h"
#include "readers/json.h"

/* An operation of a rank: its thread is the rank's first but `lane`; times in microseconds. */
#define OPERATION(name, pid, rank, lane, ts, dur, step, chunk, seq)                                \
    "{'name':'" name "','cat':'" name "','pid':" #pid ",'tid':" #rank #lane ",'ts':" #ts           \
    ",'dur':" #dur ",'ph':'X','args':{'step':" #step ",'model_chunk':" #chunk                      \
    ",'mb_id':null,'seq_id':" #seq "}}"
#define THREAD(pid, tid, stage)                                                                    \
    "{'name':'thread_name','pid':" #pid ",'tid':" #tid ",'ph':'M','args':{'name':'PP rank " #stage \
    ", TP rank 0, compute'}}"

/* Ranks 0 to 3, which are threads 0, 5, 10 and 15 on: two stages of two data ranks. */
#define THREADS THREAD(0, 0, 0) "," THREAD(1, 5, 0) "," THREAD(0, 10, 1) "," THREAD(1, 15, 1)

static char *text_of(const char *quoted) {
    static char text[8192];
    snprintf(text, sizeof text, "%s", quoted);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return text;
}

static void the_first_operation_tells_the_format(void **state) {
    static const struct {
        const char *text;
        bool is;
    } cases[] = {
        {"[" OPERATION("gc", 0, , 0, 1, 2, 3, 0, 0) "]", true},
        {" [ " THREADS " , " OPERATION("gc", 0, , 0, 1, 2, 3, -1, 0), true},
        {"[" THREADS "]", false},
        {"{'traceEvents':[" OPERATION("gc", 0, , 0, 1, 2, 3, 0, 0) "]}", false},
        /* an event of another program; without a step, a number, a part of the model, times */
        {"[{'name':'a','ph':'X','pid':1,'tid':2,'ts':3,'dur':4,'args':{}}]", false},
        {"[{'name':'a','ph':'X','pid':1,'tid':2,'ts':3,'dur':4,'args':{'seq_id':1,"
         "'model_chunk':0}}]",
         false},
        {"[{'name':'a','ph':'X','pid':1,'tid':2,'ts':3,'dur':4,'args':{'step':1,"
         "'model_chunk':0}}]",
         false},
        {"[{'name':'a','ph':'X','pid':1,'tid':2,'ts':3,'dur':4,'args':{'step':1,'seq_id':0}}]",
         false},
        {"[{'name':'a','ph':'X','pid':1,'tid':2,'ts':3,'args':{'step':1,'seq_id':0,"
         "'model_chunk':0}}]",
         false},
        {"[]", false},
        {"[[", false},
        {"", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char head[4096 + TM_JSON_PADDING] = {0};
        snprintf(head, 4096, "%.4095s", text_of(cases[i].text));
        print_message("case %zu\n", i);
        assert_int_equal(tm_format_ops.sniff(head, strlen(head), true), cases[i].is);
    }
}

static tm_source *open_text(const char *quoted) {
    tm_source *source;
    const char *text = text_of(quoted);
    assert_int_equal(tm_source_open_memory(text, strlen(text), "ops.json", &source, NULL), TM_OK);
    return source;
}

/* Each unit as "data rank:rank ". */
static void units_of(const char *quoted, char *out, size_t size) {
    tm_vec units = TM_VEC(tm_unit);
    bool foreign = true;
    tm_source *source = open_text(quoted);
    assert_int_equal(tm_format_ops.list_units(source, false, &units, &foreign, NULL), TM_OK);
    assert_false(foreign);
    *out = '\0';
    for (size_t i = 0; i < units.n; i++) {
        const tm_unit *unit = (const tm_unit *)units.data + i;
        snprintf(out + strlen(out), size - strlen(out), "%" PRId64 ":%" PRId64 " ", unit->process,
                 unit->rank);
    }
    tm_source_close(source);
    tm_vec_free(&units);
}

static reading read_rank(const char *quoted, int64_t rank) {
    reading r = {.ground = open_ground()};
    tm_source *source = open_text(quoted);
    const tm_unit unit = {.devices = -1, .rank = rank};
    tm_status status = tm_trace_read_source(&tm_format_ops, source, &unit, r.ground.names, &r.trace,
                                            &r.ground.err);
    assert_int_equal(status, TM_OK);
    tm_source_close(source);
    return r;
}

static void ranks_are_those_of_the_threads_that_did_something(void **state) {
    char found[64];
    units_of("[" OPERATION("gc", 1, 1, 5, 1, 2, 3, 0, 0) "," THREADS "," OPERATION("gc", 0, , 4, 1,
                                                                                   2, 3, 0, 0) "]",
             found, sizeof found);
    assert_string_equal(found, "0:0 1:3 ");
    /* What a file that was cut holds: its last event is not whole. */
    units_of("[" OPERATION("gc", 0, 1, 0, 1, 2, 3, 0, 0) ",{'name':'gc','pi", found, sizeof found);
    assert_string_equal(found, "0:2 ");
}

/* An event as "name category begin duration thread", and of communication "from to group". */
static void event_text(const reading *r, size_t i, char *out, size_t size) {
    const tm_raw_event *e = event_at(r, i);
    const tm_names *names = r->ground.names;
    int n = snprintf(out, size, "%s %s %" PRId64 " %" PRId64 " %s",
                     tm_names_text(names, e->name).bytes, tm_category_word(e->category),
                     e->begin_ns, e->duration_ns, tm_names_text(names, track_at(r, i)->tid).bytes);
    for (size_t k = 0; k < r->trace.attrs[TM_ATTR_COLLECTIVE].n; k++) {
        const tm_collective_attr *a = attr_at(r, TM_ATTR_COLLECTIVE, k);
        if (a->event == i)
            snprintf(out + n, size - (size_t)n, " %d %d %s %s", a->src_rank, a->dst_rank,
                     tm_names_text(names, a->group_ranks).bytes,
                     tm_names_text(names, a->group_description).bytes);
    }
}

static void an_operation_is_what_its_name_says(void **state) {
    static const struct {
        const char *text;
        int64_t rank;
        const char *event;
    } cases[] = {
        {OPERATION("forward-compute", 0, , 0, 1.5, 2, 3, 0, 0), 0,
         "forward-compute kernel 1500 2000 0"},
        {OPERATION("optimizer", 0, , 0, 1, 2, 3, -1, 0), 0, "optimizer kernel 1000 2000 0"},
        /* nothing that a GPU does */
        {OPERATION("gc", 0, , 0, 1, 0, 3, -1, 0), 0, "gc user_annotation 1000 0 0"},
        {OPERATION("forward-send", 0, , 1, 1, 2, 3, -1, 0), 0,
         "forward-send kernel 1000 2000 1 forward-send -1 2 [0, 2] pipeline parallel"},
        {OPERATION("backward-recv", 0, , 1, 1, 2, 3, -1, 0), 0,
         "backward-recv kernel 1000 2000 1 backward-recv 2 -1 [0, 2] pipeline parallel"},
        /* what leaves the model has no other end */
        {OPERATION("backward-send", 0, , 1, 1, 2, 3, -1, 0), 0,
         "backward-send kernel 1000 2000 1 backward-send -1 -1 [0, 2] pipeline parallel"},
        {OPERATION("forward-recv", 1, 1, 6, 1, 2, 3, -1, 0), 3,
         "forward-recv kernel 1000 2000 16 forward-recv 1 -1 [1, 3] pipeline parallel"},
        {OPERATION("params-all-gather", 1, 1, 8, 1, 2, 3, 0, 0), 3,
         "params-all-gather kernel 1000 2000 18 params-all-gather -1 -1 [2, 3] data parallel"},
        {OPERATION("grads-reduce-scatter", 0, , 3, 1, 2, 3, 0, 0), 0,
         "grads-reduce-scatter kernel 1000 2000 3 grads-reduce-scatter -1 -1 [0, 1] data "
         "parallel"},
        {OPERATION("layernorm-grads-all-reduce", 0, , 3, 1, 2, 3, -1, 0), 0,
         "layernorm-grads-all-reduce kernel 1000 2000 3 layernorm-grads-all-reduce -1 -1 [0] "
         "tensor parallel"},
        {OPERATION("embedding-grads-all-reduce", 1, 1, 8, 1, 2, 3, -1, 0), 3,
         "embedding-grads-all-reduce kernel 1000 2000 18 embedding-grads-all-reduce -1 -1 [1, 3] "
         "embeddings"},
        {OPERATION("optimizer-clip-main-grad", 0, , 3, 1, 2, 3, -1, 0), 0,
         "optimizer-clip-main-grad kernel 1000 2000 3 optimizer-clip-main-grad -1 -1 [0, 1, 2, 3] "
         "all ranks"},
        /* it ended before the last rank had come, by its clock: 20 - 3 us */
        {OPERATION("forward-send", 0, , 1, 20, -3, 3, -1, 0), 0,
         "forward-send kernel 17000 0 1 forward-send -1 2 [0, 2] pipeline parallel"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[2048], found[512];
        snprintf(text, sizeof text, "[%s,%s]", cases[i].text, THREADS);
        reading r = read_rank(text, cases[i].rank);
        event_text(&r, 0, found, sizeof found);
        assert_string_equal(found, cases[i].event);
        assert_int_equal(r.trace.rank, cases[i].rank);
        assert_non_null(
            strstr(tm_names_text(r.ground.names, r.trace.metadata).bytes, TM_TRANSFERS_ALONE));
        close_reading(&r);
    }
}

static void parts_of_the_model_have_names_of_their_own(void **state) {
    char found[256];
    reading r = read_rank("[" OPERATION("forward-compute", 0, , 0, 1, 2, 3, 1, 0) "," OPERATION(
                              "forward-recv", 0, , 1, 1, 2, 3, -1, 0) "," THREADS "]",
                          0);
    event_text(&r, 0, found, sizeof found);
    assert_string_equal(found, "forward-compute, chunk 1 kernel 1000 2000 0");
    event_text(&r, 1, found, sizeof found); /* from the last stage: the model goes on there */
    assert_string_equal(found, "forward-recv kernel 1000 2000 1 forward-recv 2 -1 [0, 2] pipeline "
                               "parallel");
    close_reading(&r);
}

/* Two ranks, of which the first step takes 100 us, the second 50. */
#define STEPS(second)                                                                              \
    "[" OPERATION("optimizer", 0, , 0, 10, 40, 23, -1, 0) "," OPERATION(                           \
        "optimizer", 0, , 5, 0, 100, 23, -1, 0) "," OPERATION("optimizer", 0, , 0, second, 50, 25, \
                                                              -1, 0) "]"

static void steps_take_the_time_of_all_ranks(void **state) {
    static const struct {
        const char *text;
        int64_t begin_ns; /* of the second, whose operation begins with it */
    } cases[] = {
        {STEPS(100), 100000}, {STEPS(110), 100000}, /* a tenth of the first was put between them */
        {STEPS(0), 100000},                         /* both at one time */
        {STEPS(160), 160000}, {STEPS(105), 105000},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reading r = read_rank(cases[i].text, 0);
        assert_int_equal(r.trace.events.n, 4);
        assert_name(&r.ground, event_at(&r, 2)->name, "step 23");
        assert_int_equal(event_at(&r, 2)->begin_ns, 0);
        assert_int_equal(event_at(&r, 2)->duration_ns, 100000);
        assert_name(&r.ground, event_at(&r, 3)->name, "step 25");
        assert_int_equal(event_at(&r, 3)->begin_ns, cases[i].begin_ns);
        assert_int_equal(event_at(&r, 3)->duration_ns, 50000);
        assert_int_equal(event_at(&r, 1)->begin_ns, cases[i].begin_ns);
        ASSERT_NOTHING_COUNTED(&r);
        close_reading(&r);
    }
}

static void what_is_no_operation_is_counted(void **state) {
    reading r =
        read_rank("[" OPERATION("gc", 0, , 0, 1, 2, 3, 0, 0) "," OPERATION(
                      "optimizer", 0, , 0, 9, -1, 3, 0,
                      0) ","
                         "{'name':'a','ph':'X','pid':0,'tid':0,'ts':1,'dur':1},"
                         "{'name':'a','ph':'i','pid':0,'tid':0,'ts':1}," THREAD(0, 0, 0) "]",
                  0);
    ASSERT_COUNTS(&r, TM_COUNT_NEGATIVE_DURATION, 1, TM_COUNT_NO_TIME, 1, TM_COUNT_OTHER_PHASE, 1,
                  TM_COUNT_METADATA, 1);
    close_reading(&r);
}

static void malformed_text_is_refused_where_it_is(void **state) {
    static const struct {
        const char *text;
        int64_t offset;
    } cases[] = {
        {"{}", 0}, {"[]", 1}, {"[{'a' 1}]", 6}, {"[{}}", 3}, {"[{}] 1", 5}, {"[{'ts':0x1}]", 8},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_vec units = TM_VEC(tm_unit);
        tm_error err;
        bool foreign;
        tm_source *source = open_text(cases[i].text);
        print_message("case %zu\n", i);
        assert_int_equal(tm_format_ops.list_units(source, false, &units, &foreign, &err),
                         TM_ERR_INPUT);
        assert_int_equal(err.offset, cases[i].offset);
        tm_source_close(source);
    }
}

int main(void) {
    return RUN(the_first_operation_tells_the_format,
               ranks_are_those_of_the_threads_that_did_something,
               an_operation_is_what_its_name_says, parts_of_the_model_have_names_of_their_own,
               steps_take_the_time_of_all_ranks, what_is_no_operation_is_counted,
               malformed_text_is_refused_where_it_is);
}

/* Operation-level traces: how they are recognised, their ranks, and the events made of them. */
#include <inttypes.h>

#include "trace_text.h"

/* An operation of a rank. `rank` and `lane` are the digits of its tid. Times are in us. */
#define OPERATION(name, pid, rank, lane, ts, dur, step, chunk, seq)                                \
    "{'name':'" name "','cat':'" name "','pid':" #pid ",'tid':" #rank #lane ",'ts':" #ts           \
    ",'dur':" #dur ",'ph':'X','args':{'step':" #step ",'model_chunk':" #chunk                      \
    ",'mb_id':null,'seq_id':" #seq "}}"
#define THREAD(pid, tid, stage)                                                                    \
    "{'name':'thread_name','pid':" #pid ",'tid':" #tid ",'ph':'M','args':{'name':'PP rank " #stage \
    ", TP rank 0, compute'}}"

/* Ranks 0 to 3: two stages, each of two data-parallel ranks. Their tids start at 0, 5, 10, 15. */
#define THREADS THREAD(0, 0, 0) "," THREAD(1, 5, 0) "," THREAD(0, 10, 1) "," THREAD(1, 15, 1)

static const tm_format *const format = &tm_format_ops;

TEST(the_first_operation_tells_the_format) {
    static const struct {
        const char *text;
        bool is;
    } cases[] = {
        {"[" OPERATION("gc", 0, , 0, 1, 2, 3, 0, 0) "]", true},
        {" [ " THREADS " , " OPERATION("gc", 0, , 0, 1, 2, 3, -1, 0), true},
        {"[" THREADS "]", false},
        {"{'traceEvents':[" OPERATION("gc", 0, , 0, 1, 2, 3, 0, 0) "]}", false},
        /* an event of another program; operations without step, number, model chunk or times */
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
        print_message("case %zu\n", i);
        assert_int_equal(sniffs(format, cases[i].text), cases[i].is);
    }
}

static reading read_rank(const char *text, int64_t rank) {
    const tm_unit unit = {.devices = -1, .rank = rank};
    return read_unit_text(format, text, "ops.json", &unit);
}

TEST(ranks_are_those_of_the_threads_that_did_something) {
    char found[64];
    units_text(format,
               "[{'name':'thread_name','pid':1,'tid':7,'ph':'M'}," /* a thread without a name */
               OPERATION("gc", 1, 1, 5, 1, 2, 3, 0, 0) "," THREADS "," OPERATION("gc", 0, , 4, 1, 2,
                                                                                 3, 0, 0) "]",
               found, sizeof found);
    assert_string_equal(found, "0:ffffffffffffffff:0 1:ffffffffffffffff:3 ");
    /* The file was cut, and its last event is incomplete. */
    units_text(format, "[" OPERATION("gc", 0, 1, 0, 1, 2, 3, 0, 0) ",{'name':'gc','pi", found,
               sizeof found);
    assert_string_equal(found, "0:ffffffffffffffff:2 ");
}

#define TRANSFERRED(name, place, rest)                                                             \
    name " kernel 1000+2000 " place " " name " collective=" name rest

TEST(an_operation_is_what_its_name_says) {
    static const struct {
        const char *text;
        int64_t rank;
        const char *events;
    } cases[] = {
        {OPERATION("forward-compute", 0, , 0, 1.5, 2, 3, 0, 0), 0,
         "forward-compute kernel 1500+2000 0/0"},
        {OPERATION("optimizer", 0, , 0, 1, 2, 3, -1, 0), 0, "optimizer kernel 1000+2000 0/0"},
        /* gc is not GPU work */
        {OPERATION("gc", 0, , 0, 1, 0, 3, -1, 0), 0, "gc user_annotation 1000+0 0/0"},
        {OPERATION("forward-send", 0, , 1, 1, 2, 3, -1, 0), 0,
         TRANSFERRED("forward-send", "0/1", " size=2 ranks=[0, 2] of=pipeline parallel dst=2")},
        {OPERATION("backward-recv", 0, , 1, 1, 2, 3, -1, 0), 0,
         TRANSFERRED("backward-recv", "0/1", " size=2 ranks=[0, 2] of=pipeline parallel src=2")},
        /* the first stage has no peer to send gradients to */
        {OPERATION("backward-send", 0, , 1, 1, 2, 3, -1, 0), 0,
         TRANSFERRED("backward-send", "0/1", " size=2 ranks=[0, 2] of=pipeline parallel")},
        {OPERATION("forward-recv", 1, 1, 6, 1, 2, 3, -1, 0), 3,
         TRANSFERRED("forward-recv", "1/16", " size=2 ranks=[1, 3] of=pipeline parallel src=1")},
        {OPERATION("params-all-gather", 1, 1, 8, 1, 2, 3, 0, 0), 3,
         TRANSFERRED("params-all-gather", "1/18", " size=2 ranks=[2, 3] of=data parallel")},
        {OPERATION("grads-reduce-scatter", 0, , 3, 1, 2, 3, 0, 0), 0,
         TRANSFERRED("grads-reduce-scatter", "0/3", " size=2 ranks=[0, 1] of=data parallel")},
        {OPERATION("layernorm-grads-all-reduce", 0, , 3, 1, 2, 3, -1, 0), 0,
         TRANSFERRED("layernorm-grads-all-reduce", "0/3", " size=1 ranks=[0] of=tensor parallel")},
        {OPERATION("embedding-grads-all-reduce", 1, 1, 8, 1, 2, 3, -1, 0), 3,
         TRANSFERRED("embedding-grads-all-reduce", "1/18", " size=2 ranks=[1, 3] of=embeddings")},
        {OPERATION("optimizer-clip-main-grad", 0, , 3, 1, 2, 3, -1, 0), 0,
         TRANSFERRED("optimizer-clip-main-grad", "0/3", " size=4 ranks=[0, 1, 2, 3] of=all ranks")},
        /* each model chunk has its own name, and the last stage sends to the first */
        {OPERATION("forward-compute", 0, , 0, 1, 2, 3, 1, 0) "," OPERATION("forward-recv", 0, , 1,
                                                                           1, 2, 3, -1, 0),
         0,
         "forward-compute, chunk 1 kernel 1000+2000 0/0\n" TRANSFERRED(
             "forward-recv", "0/1", " size=2 ranks=[0, 2] of=pipeline parallel src=2")},
        /* by the rank's own clock, it ended at 20 - 3 us, before the last rank arrived at 20 */
        {OPERATION("forward-send", 0, , 1, 20, -3, 3, -1, 0), 0,
         "forward-send kernel 17000+0 0/1 forward-send collective=forward-send size=2 ranks=[0, 2] "
         "of=pipeline parallel dst=2"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[2048], found[512];
        snprintf(text, sizeof text, "[%s,%s]", cases[i].text, THREADS);
        reading r = read_rank(text, cases[i].rank);
        trace_text(&r, found, sizeof found);
        char *rest = found + strlen(cases[i].events);
        assert_true(*rest == '\n' || strncmp(rest, " seq=0", 6) == 0); /* steps or hash next */
        *rest = '\0';
        assert_string_equal(found, cases[i].events);
        assert_int_equal(r.trace.rank, cases[i].rank);
        assert_non_null(
            strstr(tm_names_text(r.ground.names, r.trace.metadata).bytes, TM_TRANSFERS_ALONE));
        close_reading(&r);
    }
}

/* Two ranks; the first step takes 100 us, the second 50. */
#define STEPS(number, second)                                                                      \
    "[" OPERATION("optimizer", 0, , 0, 10, 40, 23, -1, 0) "," OPERATION(                           \
        "optimizer", 0, , 5, 0, 100, 23, -1, 0) "," OPERATION("optimizer", 0, , 0, second, 50,     \
                                                              number, -1, 0) "]"

TEST(steps_take_the_time_of_all_ranks) {
    static const struct {
        const char *text;
        const char *name; /* name of the second step */
        int64_t begin_ns; /* begin of the second step and of its operation */
    } cases[] = {
        {STEPS(24, 100), "step 24", 100000},
        {STEPS(24, 110), "step 24", 100000}, /* the gap is a tenth of the first step: invented */
        {STEPS(24, 0), "step 24", 100000},   /* both steps at the same time: invented */
        {STEPS(24, 160), "step 24", 160000},
        {STEPS(24, 105), "step 24", 105000},
        {STEPS(25, 160), "step 25", 100000}, /* step 24 was not recorded */
        {STEPS(29, 9000), "step 29", 100000},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reading r = read_rank(cases[i].text, 0);
        assert_int_equal(r.trace.events.n, 4);
        assert_name(&r.ground, event_at(&r, 2)->name, "step 23");
        assert_int_equal(event_at(&r, 2)->begin_ns, 0);
        assert_int_equal(event_at(&r, 2)->duration_ns, 100000);
        assert_name(&r.ground, event_at(&r, 3)->name, cases[i].name);
        assert_int_equal(event_at(&r, 3)->begin_ns, cases[i].begin_ns);
        assert_int_equal(event_at(&r, 3)->duration_ns, 50000);
        assert_int_equal(event_at(&r, 1)->begin_ns, cases[i].begin_ns);
        ASSERT_NOTHING_COUNTED(&r);
        close_reading(&r);
    }
}

TEST(what_is_no_operation_is_counted) {
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

TEST(malformed_text_is_refused_where_it_is) {
    static const malformed cases[] = {
        {"{}", 0}, {"[]", 1}, {"[{'a' 1}]", 6}, {"[{}}", 3}, {"[{}] 1", 5}, {"[{'ts':0x1}]", 8},
    };
    check_malformed(format, cases, COUNT(cases));
}

RUN_TESTS()

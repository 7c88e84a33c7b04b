/* A rank's graph: edges of a few events. For random events, it gives back the recorded times. */
#include "replay/graph/build_graph.h"

#include <math.h>

#include "run_fixture.h"
#include "timeline/host_comm.h"
#include "timeline/trace.h"
#include "timeline_fixture.h"

enum { EVENTS_MAX = 12, TEXT_MAX = 2048 };

/* Times are in us. A number links a call with the work that it launched. */
#define EVENT(category, name, begin, took, number, where, device)                                  \
    {                                                                                              \
        category, name, (int64_t)(begin)*1000, (int64_t)(took)*1000, number, where, device, NULL,  \
            TM_DURATION                                                                            \
    }
#define CALL_ON(thread, name, begin, took, number)                                                 \
    EVENT(TM_CAT_RUNTIME, name, begin, took, number, thread, 1)
#define CALL(name, begin, took, number) CALL_ON(1, name, begin, took, number)
#define WORK(name, begin, took, number, stream)                                                    \
    EVENT(TM_CAT_KERNEL, name, begin, took, number, stream, 0)

/* The operation that a kernel takes part in. name NULL: the kernel is missing. */
typedef struct participant_spec {
    const char *event;
    int64_t last_us, end_us;
} participant_spec;

typedef struct edge_case {
    const char *what;
    event_spec events[EVENTS_MAX];
    struct {
        const char *event, *source;
    } wait; /* a stream's wait for an event of another stream */
    participant_spec participant;
    bool of_cpu;
    const char *edges; /* "kind source.S>target.E us (unexplained us); ...", sorted by target */
} edge_case;

static const char *const kind_words[] = {
#define KIND_WORD(id, word) word,
    TM_EDGE_LIST(KIND_WORD)
#undef KIND_WORD
};

/* Prints "name.S" or "name.E". The first node of an event is its begin. */
static void print_node(const ground *g, const tm_timeline *t, const tm_graph *graph, uint32_t v,
                       char *out, size_t size) {
    bool end = false;
    for (uint32_t i = 0; i < v; i++)
        end = end || graph->event[i] == graph->event[v];
    snprintf(out, size, "%s.%c", tm_names_text(g->names, t->name[graph->event[v]]).bytes,
             end ? 'E' : 'S');
}

/* Prints all edges except those to the end of the step. */
static void print_edges(const ground *g, const tm_timeline *t, const tm_graph *graph, char *out) {
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t v = 0; v < graph->n_nodes; v++)
        for (uint32_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            const tm_edge *edge = &graph->edges[e];
            if (graph->event[v] == TM_NO_EVENT)
                continue;
            const tm_weight weight = tm_graph_weight(graph, edge);
            char from[64] = "root", to[64], excess[32] = "";
            print_node(g, t, graph, v, to, sizeof to);
            if (edge->from != TM_FROM_ROOT && (edge->from & TM_FROM_OPERATION))
                snprintf(from, sizeof from, "participant");
            else if (edge->from != TM_FROM_ROOT)
                print_node(g, t, graph, edge->from, from, sizeof from);
            if (weight.over_ns != 0)
                snprintf(excess, sizeof excess, " (%g)", (double)weight.over_ns / 1000);
            used += (size_t)snprintf(out + used, TEXT_MAX - used, "%s%s %s>%s %g%s",
                                     used ? "; " : "", kind_words[edge->kind], from, to,
                                     (double)weight.ns / 1000, excess);
            assert_true(used < TEXT_MAX);
        }
}

static tm_timebase base_of(const tm_timeline *t) {
    int64_t first = INT64_MAX;
    for (size_t row = 0; row < t->n_events; row++)
        if (t->role[row] != TM_ROLE_NONE && t->begin_ns[row] < first)
            first = t->begin_ns[row];
    tm_timebase base = TM_TIMEBASE(first);
    if (t->steps[0].annotated && t->steps[0].begin_ns < first)
        base = (tm_timebase){t->steps[0].begin_ns, t->steps[0].number, TM_VEC(tm_cut)};
    return base;
}

static uint32_t index_of(const ground *g, const tm_graph_input *input, const char *name) {
    uint32_t row = row_named(g, input->timeline, name), i = 0;
    while (((const tm_part_event *)input->events.data)[i].row != row)
        i++;
    return i;
}

typedef struct built {
    ground g;
    tm_timeline t;
    tm_graph_input input;
    tm_vec waits;
    tm_graph graph;
} built;

static void open_built(built *b, const event_spec *events, size_t n) {
    tm_call_classes classes;
    *b = (built){.g = open_ground(), .waits = TM_VEC(tm_part_wait)};
    b->t = build_one(&b->g, 0, events, n);
    assert_true(tm_call_classes_init(&classes, b->g.names));
    const tm_timebase base = base_of(&b->t);
    assert_ok(tm_graph_input_make(&b->t, &classes, &base, &b->input, &b->g.err));
    tm_call_classes_free(&classes);
}

static void set_events(built *b) {
    const size_t n_events = b->input.events.n, n = n_events + b->input.calls.n;
    uint32_t *rows = calloc(n + 1, sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = i < n_events ? ((tm_part_event *)b->input.events.data)[i].row
                               : ((tm_part_call *)b->input.calls.data)[i - n_events].row;
    assert_true(tm_graph_set_events(&b->graph, rows, n, true));
    free(rows);
}

/* Opening a closed graph restores the recorded times, and the edges that the tests expect. */
static void check_close(tm_graph *graph, tm_error *err) {
    const size_t bytes = graph->n_nodes * sizeof *graph->ns;
    int64_t *ns = malloc(bytes + 1);
    assert_non_null(ns);
    memcpy(ns, graph->ns, bytes);
    tm_graph_close(graph);
    assert_null(graph->first);
    assert_ok(tm_graph_open(graph, err));
    assert_memory_equal(ns, graph->ns, bytes);
    free(ns);
}

static void build(built *b, const tm_replay_participant *participants, size_t n) {
    tm_recorded recorded;
    const tm_timebase base = base_of(&b->t);
    assert_ok(tm_recorded_make(&b->input, &base, &recorded, &b->g.err));
    assert_ok(tm_graph_build(&recorded, &b->waits, participants, n, &b->graph, &b->g.err));
    assert_int_equal(tm_graph_wrong(&b->graph), 0);
    tm_recorded_free(&recorded);
    check_close(&b->graph, &b->g.err);
    set_events(b);
}

static void close_built(built *b) {
    tm_graph_free(&b->graph);
    tm_graph_input_free(&b->input);
    tm_vec_free(&b->waits);
    tm_timeline_destroy(&b->t);
    close_ground(&b->g);
}

/* If nothing was measured, the usual time is 6 us for a launch, 1 us for a gap, 2 us for a wait. */
static const edge_case cases[] = {
    {.what = "b waits for a, though launched long before: the gap binds",
     .events = {CALL("la", 0, 5, 1), WORK("a", 6, 100, 1, 7), CALL("lb", 10, 5, 2),
                WORK("b", 107, 50, 2, 7)},
     .edges = "before root>la.S -6; call la.S>la.E 5; launch root>a.S 0; host root>lb.S 4; "
              "call lb.S>lb.E 5; compute a.S>a.E 100; gap a.E>b.S 1; launch lb.S>b.S 6; "
              "compute b.S>b.E 50"},
    {/* Launches to an idle stream take 6 and 20 us, so 13 us are usual. */
     .what = "b waits for its launch, longer than is usual",
     .events = {CALL("la", 0, 5, 1), WORK("a", 6, 100, 1, 7), CALL("lb", 300, 5, 2),
                WORK("b", 320, 50, 2, 7)},
     .edges = "before root>la.S -6; call la.S>la.E 5; launch root>a.S 0; compute a.S>a.E 100; "
              "host root>lb.S 294; call lb.S>lb.E 5; gap a.E>b.S 1; launch lb.S>b.S 20 (7); "
              "compute b.S>b.E 50"},
    {/* An event that begins up to 100 us after its call [0, 6) is usual (LATE_NS). */
     .what = "a launch on a GPU that something else holds",
     .events = {CALL("la", 0, 6, 1), WORK("a", 506, 100, 1, 7), CALL("lb", 700, 6, 2),
                WORK("b", 1200, 50, 2, 7)},
     .edges = "before root>la.S -506; call la.S>la.E 6; launch root>a.S 0 (400); "
              "compute a.S>a.E 100; host root>lb.S 194; call lb.S>lb.E 6; gap a.E>b.S 1; "
              "launch lb.S>b.S 500 (394); compute b.S>b.E 50"},
    {.what = "launches take longer than kernels: the stream waits for them, not by itself",
     .events = {CALL("la", 0, 300, 1), WORK("a", 301, 100, 1, 7), CALL("lb", 305, 300, 2),
                WORK("b", 606, 50, 2, 7)},
     .edges = "before root>la.S -301; call la.S>la.E 300; launch root>a.S 0; host root>lb.S 4; "
              "compute a.S>a.E 100; call lb.S>lb.E 300; gap a.E>b.S 1; launch lb.S>b.S 301; "
              "compute b.S>b.E 50"},
    {.what = "b waits for another stream",
     .events = {CALL("la", 0, 5, 1), WORK("a", 6, 100, 1, 7), CALL("lb", 10, 5, 2),
                WORK("b", 111, 50, 2, 8)},
     .wait = {"b", "a"},
     .edges = "before root>la.S -6; call la.S>la.E 5; launch root>a.S 0; host root>lb.S 4; "
              "call lb.S>lb.E 5; compute a.S>a.E 100; wait a.E>b.S 5 (3); launch lb.S>b.S 6; "
              "compute b.S>b.E 50"},
    {.what = "host time counts from the start of the step on",
     .events = {EVENT(TM_CAT_USER_ANNOTATION, "ProfilerStep#3", 0, 300, 0, 1, 1),
                CALL("la", 100, 5, 1), WORK("a", 106, 100, 1, 7)},
     .edges = "host root>la.S 100; call la.S>la.E 5; launch la.S>a.S 6; compute a.S>a.E 100"},
    {.what = "of one stream b begins before a has ended: as long after its start",
     .events = {WORK("a", 6, 100, 0, 7), WORK("b", 100, 50, 0, 7)},
     .edges = "before root>a.S 0; compute a.S>b.S 94; compute a.S>a.E 100; compute b.S>b.E 50"},
    {.what = "one call launches many",
     .events = {CALL("lg", 0, 5, 1), WORK("a", 6, 10, 1, 7), WORK("b", 17, 10, 1, 7),
                WORK("c", 6, 10, 1, 8)},
     /* Both launches take 6 us; b follows a. */
     .edges = "before root>lg.S -6; call lg.S>lg.E 5; launch root>a.S 0; launch root>c.S 0; "
              "compute a.S>a.E 10; compute c.S>c.E 10; gap a.E>b.S 1; launch root>b.S 0; "
              "compute b.S>b.E 10"},
    {.what = "a call inside of another begins as long after its start",
     .events = {CALL("lo", 0, 20, 1), CALL("li", 5, 5, 2), WORK("a", 30, 10, 1, 7),
                WORK("b", 41, 10, 2, 7)},
     .edges = "before root>lo.S -30; host lo.S>li.S 5; call li.S>li.E 5; call lo.S>lo.E 20; "
              "launch root>a.S 0; compute a.S>a.E 10; gap a.E>b.S 1; launch root>b.S 5; "
              "compute b.S>b.E 10"},
    {.what = "a thread hands over to another, and gets it back",
     .events = {CALL_ON(1, "la", 0, 5, 1), CALL_ON(2, "lb", 10, 5, 2), CALL_ON(1, "lc", 20, 5, 3),
                WORK("a", 30, 10, 1, 7), WORK("b", 41, 10, 2, 7), WORK("c", 52, 10, 3, 7)},
     .edges = "before root>la.S -30; call la.S>la.E 5; host la.E>lb.S 5; call lb.S>lb.E 5; "
              "host lb.E>lc.S 5; call lc.S>lc.E 5; launch root>a.S 0; compute a.S>a.E 10; "
              "gap a.E>b.S 1; launch root>b.S 10; compute b.S>b.E 10; gap b.E>c.S 1; "
              "launch root>c.S 20; compute c.S>c.E 10"},
    {/* The call ends 5 us after b; 3 us of these are the call's own. */
     .what = "a call waits for all streams",
     .events = {CALL("la", 0, 5, 1), CALL("lb", 10, 5, 2), WORK("a", 6, 100, 1, 7),
                WORK("b", 16, 184, 2, 8), CALL("cudaDeviceSynchronize", 20, 185, 3)},
     .edges = "before root>la.S -6; call la.S>la.E 5; launch root>a.S 0; host root>lb.S 4; "
              "call lb.S>lb.E 5; launch lb.S>b.S 6; host lb.E>cudaDeviceSynchronize.S 5; "
              "compute a.S>a.E 100; compute b.S>b.E 184; "
              "call cudaDeviceSynchronize.S>cudaDeviceSynchronize.E 3; "
              "sync a.E>cudaDeviceSynchronize.E 3; sync b.E>cudaDeviceSynchronize.E 5 (2)"},
    {.what = "a call waits for the latest stream, where none is named",
     .events = {CALL("la", 0, 5, 1), CALL("lb", 10, 5, 2), WORK("a", 6, 100, 1, 7),
                WORK("b", 16, 184, 2, 8), CALL("cudaStreamSynchronize", 20, 183, 3)},
     .edges = "before root>la.S -6; call la.S>la.E 5; launch root>a.S 0; host root>lb.S 4; "
              "call lb.S>lb.E 5; launch lb.S>b.S 6; host lb.E>cudaStreamSynchronize.S 5; "
              "compute a.S>a.E 100; compute b.S>b.E 184; "
              "call cudaStreamSynchronize.S>cudaStreamSynchronize.E 3; "
              "sync b.E>cudaStreamSynchronize.E 3"},
    {/* By the device's clock, b ends 5 us after the call, as in exports of Nsight Systems. */
     .what = "a call that ends just before what it waited for follows its work",
     .events = {CALL("la", 0, 5, 1), WORK("b", 16, 184, 1, 8),
                CALL("cudaStreamSynchronize", 20, 175, 3)},
     .edges = "before root>la.S -16; call la.S>la.E 5; launch root>b.S 0; "
              "host root>cudaStreamSynchronize.S 4; "
              "call cudaStreamSynchronize.S>cudaStreamSynchronize.E 3; "
              "compute b.S>cudaStreamSynchronize.E 179; compute b.S>b.E 184"},
    {/* A gap of up to 10 us is usual. */
     .what = "of what it waited for, an event that begins after the call is not the cause",
     .events = {CALL("la", 0, 5, 1), CALL("lc", 6, 5, 2), WORK("b", 16, 84, 1, 8),
                WORK("c", 196, 2, 2, 8), CALL("cudaStreamSynchronize", 20, 175, 3)},
     .edges = "before root>la.S -16; call la.S>la.E 5; host la.E>lc.S 1; call lc.S>lc.E 5; "
              "launch root>b.S 0; host root>cudaStreamSynchronize.S 4; compute b.S>b.E 84; "
              "call cudaStreamSynchronize.S>cudaStreamSynchronize.E 3; "
              "sync b.E>cudaStreamSynchronize.E 95 (92); gap b.E>c.S 96 (86); launch root>c.S 6; "
              "compute c.S>c.E 2"},
    {/* b ends 41 us after the call. */
     .what = "a call that ends long before the latest event has not waited for it",
     .events = {CALL("la", 0, 5, 1), WORK("b", 16, 220, 1, 8),
                CALL("cudaStreamSynchronize", 20, 175, 3)},
     .edges = "before root>la.S -16; call la.S>la.E 5; launch root>b.S 0; "
              "host root>cudaStreamSynchronize.S 4; "
              "call cudaStreamSynchronize.S>cudaStreamSynchronize.E 175; compute b.S>b.E 220"},
    {/* Kernels start 4 us before their launches. With calls shifted by -4, each starts with its
        launch. */
     .what = "the device's clock is early: calls come earlier, so launches still cause kernels",
     .events = {CALL("la", 10, 5, 1), WORK("a", 6, 50, 1, 7), CALL("lb", 110, 5, 2),
                WORK("b", 106, 50, 2, 7), CALL("lc", 210, 5, 3), WORK("c", 206, 50, 3, 7)},
     .edges = "before root>la.S 0; launch la.S>a.S 0; call la.S>la.E 5; compute a.S>a.E 50; host "
              "la.E>lb.S 95; gap a.E>b.S 1; launch lb.S>b.S 0; call lb.S>lb.E 5; compute b.S>b.E "
              "50; host lb.E>lc.S 95; gap b.E>c.S 1; launch lc.S>c.S 0; call lc.S>lc.E 5; compute "
              "c.S>c.E 50"},
    {/* Three waits end 45 us before their events. With calls shifted by 45, they end together. */
     .what = "the device's clock is late: calls come later, so waits end with their events",
     .events = {CALL("la", 0, 5, 1), WORK("a", 60, 100, 1, 7),
                CALL("cudaDeviceSynchronize", 6, 109, 4), CALL("lb", 200, 5, 2),
                WORK("b", 260, 100, 2, 7), CALL("cudaStreamSynchronize", 206, 109, 5),
                CALL("lc", 400, 5, 3), WORK("c", 460, 100, 3, 7),
                CALL("cuCtxSynchronize", 406, 109, 6)},
     .edges =
         "before root>la.S -15; call la.S>la.E 5; host la.E>cudaDeviceSynchronize.S 1; launch "
         "root>a.S 0; compute a.S>a.E 100; call root>cudaDeviceSynchronize.E 0; sync "
         "a.E>cudaDeviceSynchronize.E 0; host cudaDeviceSynchronize.E>lb.S 85; call lb.S>lb.E 5; "
         "host lb.E>cudaStreamSynchronize.S 1; gap a.E>b.S 1; launch lb.S>b.S 15; compute b.S>b.E "
         "100; call cudaStreamSynchronize.S>cudaStreamSynchronize.E 3; sync "
         "b.E>cudaStreamSynchronize.E 0; host cudaStreamSynchronize.E>lc.S 85; call lc.S>lc.E 5; "
         "host lc.E>cuCtxSynchronize.S 1; gap b.E>c.S 1; launch lc.S>c.S 15; compute c.S>c.E 100; "
         "call cuCtxSynchronize.S>cuCtxSynchronize.E 3; sync c.E>cuCtxSynchronize.E 0"},
    {.what = "a launch that ends after its own copy waited for it",
     .events = {CALL("la", 0, 50, 1), WORK("a", 6, 40, 1, 7)},
     .edges = "before root>la.S -6; launch root>a.S 0; compute a.S>a.E 40; call root>la.E 0; "
              "sync a.E>la.E 4 (1)"},
    {/* In the 2,005 us between the calls, the host may wait for a, until it ends after 1,000. */
     .what = "a dark stretch is a wait, where no call is",
     .events = {CALL("la", 0, 5, 1), WORK("a", 6, 999, 1, 7), CALL("lb", 2010, 5, 2),
                WORK("b", 2016, 10, 2, 7)},
     .edges = "before root>la.S -6; call la.S>la.E 5; launch root>a.S 0; compute a.S>a.E 999; "
              "host a.E>lb.S 1005 (2005); host root>lb.S 1004; call lb.S>lb.E 5; gap a.E>b.S 1; "
              "launch lb.S>b.S 6; compute b.S>b.E 10"},
    {/* lb is 50 us after the end of a, and 1,050 after la: by chance in 1 of 21 cases. */
     .what = "a thread of a CPU rank waited for what ended just before it continued",
     .events = {CALL("la", 0, 5, 1), WORK("a", 6, 999, 1, 7), CALL("lb", 1055, 5, 2),
                WORK("b", 1061, 10, 2, 7)},
     .of_cpu = true,
     .edges = "before root>la.S -6; call la.S>la.E 5; launch root>a.S 0; compute a.S>a.E 999; "
              "host a.E>lb.S 50; host root>lb.S 49; call lb.S>lb.E 5; gap a.E>b.S 1; "
              "launch lb.S>b.S 6; compute b.S>b.E 10"},
    {.what = "one that continues 53 us after it may have worked",
     .events = {CALL("la", 0, 5, 1), WORK("a", 6, 999, 1, 7), CALL("lb", 1058, 5, 2),
                WORK("b", 1064, 10, 2, 7)},
     .of_cpu = true,
     .edges = "before root>la.S -6; call la.S>la.E 5; launch root>a.S 0; compute a.S>a.E 999; "
              "host a.E>lb.S 53 (1053); host root>lb.S 52; call lb.S>lb.E 5; gap a.E>b.S 1; "
              "launch lb.S>b.S 6; compute b.S>b.E 10"},
    {.what = "where calls wait for the GPU, it is the host's own",
     .events = {CALL("la", 0, 5, 1), WORK("a", 6, 999, 1, 7), CALL("lb", 2010, 5, 2),
                WORK("b", 2016, 10, 2, 7), CALL("cudaFree", 2020, 9, 3)},
     .edges = "before root>la.S -6; call la.S>la.E 5; launch root>a.S 0; compute a.S>a.E 999; "
              "host root>lb.S 2004; call lb.S>lb.E 5; gap a.E>b.S 1; launch lb.S>b.S 6; "
              "compute b.S>b.E 10"},
    {/* a and b end by 200, so cudaMalloc waits for 180 of the 995 us between lb and lc. */
     .what = "a call that may wait for the device does its own work once that is done",
     .events = {CALL("la", 0, 5, 1), CALL("lb", 10, 5, 2), WORK("a", 6, 100, 1, 7),
                WORK("b", 16, 184, 2, 8), CALL("cudaMalloc", 20, 980, 9), CALL("lc", 1010, 5, 3),
                WORK("c", 1016, 10, 3, 7)},
     .edges = "before root>la.S -6; call la.S>la.E 5; launch root>a.S 0; host root>lb.S 4; "
              "call lb.S>lb.E 5; launch lb.S>b.S 6; compute a.S>a.E 100; compute b.S>b.E 184; "
              "host b.E>lc.S 810; host lb.E>lc.S 815; call lc.S>lc.E 5; gap a.E>c.S 1; "
              "launch lc.S>c.S 6; compute c.S>c.E 10"},
    {.what = "it has not waited where something runs on after it",
     .events = {CALL("la", 0, 5, 1), CALL("lb", 10, 5, 2), WORK("a", 6, 100, 1, 7),
                WORK("b", 16, 184, 2, 8), CALL("cuModuleLoadData", 20, 100, 9),
                CALL("lc", 130, 5, 3), WORK("c", 201, 10, 3, 8)},
     .edges = "before root>la.S -6; call la.S>la.E 5; launch root>a.S 0; host root>lb.S 4; "
              "call lb.S>lb.E 5; launch lb.S>b.S 6; compute a.S>a.E 100; host lb.E>lc.S 115; "
              "call lc.S>lc.E 5; compute b.S>b.E 184; gap b.E>c.S 1; launch lc.S>c.S 6; "
              "compute c.S>c.E 10"},
    {/* 20 of la's 40 us are after a's begin, and a's launch takes 7 us more than usual. cudaFree
        had nothing to wait for. In the 2,000 us before lb, the host may wait up to 979 for a. */
     .what = "of what leads over the first event's begin only the part after it is left",
     .events = {CALL("cudaFree", 0, 2000, 1), CALL("la", 2010, 40, 2), WORK("a", 2030, 999, 2, 7),
                CALL("lb", 4050, 5, 3), WORK("b", 4056, 10, 3, 7)},
     .edges =
         "before root>la.S -20; launch root>a.S 0 (7); call root>la.E 20; compute a.S>a.E 999; "
         "host a.E>lb.S 1021 (2000); host la.E>lb.S 1021; call lb.S>lb.E 5; gap a.E>b.S 1; "
         "launch lb.S>b.S 6; compute b.S>b.E 10"},
    {.what = "the end of communication follows its operation",
     .events = {CALL("ln", 0, 5, 1), WORK("ncclKernel_AllReduce", 6, 100, 1, 7)},
     .participant = {"ncclKernel_AllReduce", 80, 0},
     .edges = "before root>ln.S -6; call ln.S>ln.E 5; launch root>ncclKernel_AllReduce.S 0; "
              "transfer participant>ncclKernel_AllReduce.E 26"},
    {.what = "unless it ended before the last one came",
     .events = {WORK("ncclKernel_AllReduce", 6, 100, 0, 7)},
     .participant = {"ncclKernel_AllReduce", 110, 0},
     .edges = "before root>ncclKernel_AllReduce.S 0; "
              "comm ncclKernel_AllReduce.S>ncclKernel_AllReduce.E 100"},
    {.what = "what begins as communication ends, but for rounding, waits for its transfer",
     .events = {WORK("ncclKernel_AllReduce", 6, 100, 0, 7), WORK("b", 105, 50, 0, 7)},
     .participant = {"ncclKernel_AllReduce", 80, 0},
     .edges = "before root>ncclKernel_AllReduce.S 0; transfer participant>b.S 25; "
              "transfer participant>ncclKernel_AllReduce.E 26; compute b.S>b.E 50"},
    {.what = "what begins long before communication ends does not",
     .events = {WORK("ncclKernel_AllReduce", 6, 100, 0, 7), WORK("b", 100, 50, 0, 7)},
     .participant = {"ncclKernel_AllReduce", 80, 0},
     .edges = "before root>ncclKernel_AllReduce.S 0; gap participant>b.S 20; "
              "transfer participant>ncclKernel_AllReduce.E 26; compute b.S>b.E 50"},
    {/* The operation, which all had entered at 20, ended 70 us before the call. */
     .what = "a rank that records from later on follows the last operation before its first call",
     .events = {WORK("z", 0, 10, 0, 8), CALL("la", 100, 5, 1), WORK("a", 106, 100, 1, 7)},
     .participant = {NULL, 20, 30},
     .edges = "before root>z.S 0; compute z.S>z.E 10; before participant>la.S 80; "
              "call la.S>la.E 5; launch la.S>a.S 6; compute a.S>a.E 100"},
    {/* On other ranks the operation ended at 90, 10 us after the last begin. A wait adds 2. */
     .what = "what is late for nothing recorded, just after an operation that lacks its kernel",
     .events = {WORK("a", 6, 10, 0, 7), WORK("b", 95, 10, 0, 7)},
     .participant = {NULL, 80, 90},
     .edges = "before root>a.S 0; compute a.S>a.E 10; gap a.E>b.S 1; wait participant>b.S 15 (3); "
              "compute b.S>b.E 10"},
    {/* If times are equal, begins come before ends of length 0: b follows a's begin. */
     .what = "what takes no time, at one time",
     .events = {CALL("la", 6, 0, 1), WORK("a", 6, 0, 1, 7), WORK("b", 6, 0, 0, 7)},
     .edges = "before root>la.S 0; launch la.S>a.S 0; compute a.S>b.S 0; compute a.S>a.E 0; "
              "compute b.S>b.E 0; call la.S>la.E 0"},
};

TEST(names_tell_which_calls_wait) {
    static const struct {
        const char *name;
        tm_call_class_kind kind;
    } names[] = {
        {"cudaFree", TM_CALL_MAY_WAIT},
        {"cudaMallocHost", TM_CALL_MAY_WAIT},
        {"cudaHostAlloc", TM_CALL_MAY_WAIT},
        {"cudaFreeHost", TM_CALL_MAY_WAIT},
        {"cuMemAlloc_v2", TM_CALL_MAY_WAIT},
        {"cuMemFreeHost", TM_CALL_MAY_WAIT},
        {"hipHostMalloc", TM_CALL_MAY_WAIT},
        {"AscendCL@aclrtMalloc", TM_CALL_MAY_WAIT},
        {"cuLibraryLoadData", TM_CALL_MAY_WAIT},
        {"hipModuleLoad", TM_CALL_MAY_WAIT},
        {"cudaFreeAsync", TM_CALL_OTHER},
        {"cuMemAllocFromPoolAsync", TM_CALL_OTHER},
        {"cudaMemcpy", TM_CALL_WAITS_OWN},
        {"cudaMemcpyAsync", TM_CALL_OTHER},
        {"cudaDeviceSynchronize", TM_CALL_WAITS_DEVICE},
    };
    for (size_t i = 0; i < COUNT(names); i++)
        assert_int_equal(tm_call_class_of((tm_text){names[i].name, strlen(names[i].name)}),
                         names[i].kind);
}

TEST(each_case_has_the_edges_worked_out) {
    for (size_t i = 0; i < COUNT(cases); i++) {
        const edge_case *c = &cases[i];
        built b;
        size_t n = 0;
        char text[TEXT_MAX];
        while (n < EVENTS_MAX && c->events[n].name)
            n++;
        open_built(&b, c->events, n);
        if (c->of_cpu) {
            static const char kind[] = "{" TM_DEVICE_KIND TM_CPU_KIND "\"}";
            b.t.metadata = memcpy(calloc(1, sizeof kind), kind, sizeof kind);
            b.t.n_metadata = sizeof kind - 1;
        }
        if (c->wait.event) {
            const tm_part_wait wait = {index_of(&b.g, &b.input, c->wait.event),
                                       index_of(&b.g, &b.input, c->wait.source)};
            assert_non_null(tm_vec_append(&b.waits, &wait, 1));
        }
        const tm_replay_participant participant = {
            .last_ns = c->participant.last_us * 1000 - base_of(&b.t).root_ns,
            .end_ns = c->participant.end_us * 1000 - base_of(&b.t).root_ns,
            .event =
                c->participant.event ? row_named(&b.g, &b.t, c->participant.event) : TM_NO_EVENT};
        build(&b, &participant, c->participant.last_us > 0);
        print_edges(&b.g, &b.t, &b.graph, text);
        if (strcmp(text, c->edges) != 0)
            fail_msg("%s:\n%s", c->what, text);
        close_built(&b);
    }
}

/* Collects waits that the trace records. @p calls has the names of the calls that wait. */
static void record_waits(built *b, tm_wait_attr *waits, const char *const *calls, size_t n,
                         tm_recorded *out) {
    const tm_timebase base = base_of(&b->t);
    for (size_t i = 0; i < n; i++)
        waits[i].call = row_named(&b->g, &b->t, calls[i]);
    b->t.attrs[TM_ATTR_WAIT] = waits;
    b->t.n_attrs[TM_ATTR_WAIT] = n;
    assert_ok(tm_recorded_make(&b->input, &base, out, &b->g.err));
    b->t.attrs[TM_ATTR_WAIT] = NULL;
    b->t.n_attrs[TM_ATTR_WAIT] = 0;
}

/* The record of b's wait names the stream; that of c's wait does not, so it is guessed. */
TEST(of_recorded_waits_only_those_that_name_no_stream_are_guessed) {
    static const event_spec events[] = {
        CALL("la", 0, 5, 1),  WORK("a", 6, 100, 1, 7),   CALL("cudaStreamWaitEvent", 10, 2, 8),
        CALL("lb", 20, 5, 2), WORK("b", 108, 50, 2, 20), CALL("hipStreamWaitEvent", 30, 2, 9),
        CALL("lc", 40, 5, 3), WORK("c", 160, 10, 3, 7)};
    built b;
    open_built(&b, events, COUNT(events));
    tm_wait_attr reported[] = {
        {.stream = 20, .on_stream = 7, .record = TM_NO_EVENT, .kind = TM_WAIT_STREAM_WAIT},
        {.stream = 7, .on_stream = -1, .record = TM_NO_EVENT, .kind = TM_WAIT_STREAM_WAIT}};
    const uint32_t i[] = {index_of(&b.g, &b.input, "a"), index_of(&b.g, &b.input, "b"),
                          index_of(&b.g, &b.input, "c")};
    const tm_part_wait guessed[] = {{i[1], i[0]}, {i[2], i[1]}};
    tm_recorded recorded;
    assert_non_null(tm_vec_append(&b.waits, guessed, COUNT(guessed)));
    record_waits(&b, reported, (const char *[]){"cudaStreamWaitEvent", "hipStreamWaitEvent"},
                 COUNT(reported), &recorded);
    assert_true(recorded.streams);
    assert_int_equal(recorded.blind.n, 1);
    assert_ok(tm_recorded_waits(&recorded, &b.waits, &b.g.err));
    assert_int_equal(recorded.n_guessed, 1);
    assert_int_equal(b.waits.n, COUNT(guessed));
    assert_memory_equal(b.waits.data, guessed, sizeof guessed);
    tm_recorded_free(&recorded);
    close_built(&b);
}

/* Stream 7 waits for a, and then stream 20 and the host wait for stream 7, on which nothing was
 * launched: they wait for a. The graph launches c on stream 7, so that later waits are for c, and
 * for d, which is part of the graph. */
TEST(recorded_waits_are_for_all_that_the_stream_waits_for) {
    static const event_spec events[] = {CALL("la", 0, 5, 1),
                                        WORK("a", 6, 100, 1, 24),
                                        CALL("cudaStreamWaitEvent", 10, 2, 8),
                                        CALL("lb", 30, 5, 2),
                                        WORK("b", 108, 10, 2, 20),
                                        CALL("hipStreamWaitEvent", 20, 2, 9),
                                        CALL("lc", 120, 5, 3),
                                        WORK("c", 130, 20, 3, 7),
                                        CALL("cudaStreamSynchronize", 40, 70, 7),
                                        WORK("d", 131, 40, 3, 20),
                                        CALL("cudaEventSynchronize", 126, 50, 6)};
    static const char *const calls[] = {"cudaStreamWaitEvent", "hipStreamWaitEvent",
                                        "cudaStreamSynchronize", "cudaEventSynchronize"};
    static const char *const sources[] = {"a", "a", "a", "cd"};
    tm_wait_attr reported[] = {
        {.stream = 7, .on_stream = 24, .record = TM_NO_EVENT, .kind = TM_WAIT_STREAM_WAIT},
        {.stream = 20, .on_stream = 7, .record = TM_NO_EVENT, .kind = TM_WAIT_STREAM_WAIT},
        {.stream = -1, .on_stream = 7, .record = TM_NO_EVENT, .kind = TM_WAIT_STREAM_SYNC},
        {.stream = -1, .on_stream = 7, .record = TM_NO_EVENT, .kind = TM_WAIT_EVENT_SYNC}};
    built b;
    tm_recorded recorded;
    open_built(&b, events, COUNT(events));
    record_waits(&b, reported, calls, COUNT(calls), &recorded);
    for (size_t i = 0; i < COUNT(calls); i++) {
        const tm_asked *asked = tm_recorded_of(&recorded, row_named(&b.g, &b.t, calls[i]));
        assert_non_null(asked);
        assert_int_equal(asked->n, strlen(sources[i]));
        for (uint32_t k = 0; k < asked->n; k++)
            assert_int_equal(tm_recorded_sources(&recorded, asked)[k],
                             index_of(&b.g, &b.input, (const char[]){sources[i][k], '\0'}));
    }
    const tm_part_wait of_b = {index_of(&b.g, &b.input, "b"), index_of(&b.g, &b.input, "a")};
    assert_ok(tm_recorded_waits(&recorded, &b.waits, &b.g.err));
    assert_int_equal(b.waits.n, 2); /* c's is the other */
    assert_memory_equal(b.waits.data, &of_b, sizeof of_b);
    tm_recorded_free(&recorded);
    close_built(&b);
}

/* No call asks for the waits inside a graph: c starts 2 us after b, and d 2 us after c. They are
 * inferred even if the trace records the other waits. y does not wait for x: they overlap. */
TEST(waits_inside_a_graph_are_inferred) {
    static const event_spec events[] = {CALL("cudaStreamWaitEvent", 0, 1, 9),
                                        CALL("lx", 2, 1, 1),
                                        WORK("x", 8, 12, 1, 7),
                                        CALL("ly", 4, 1, 2),
                                        WORK("y", 8, 12, 2, 20),
                                        CALL("cudaGraphLaunch", 30, 5, 3),
                                        WORK("b", 40, 20, 3, 7),
                                        WORK("c", 62, 20, 3, 20),
                                        WORK("d", 84, 10, 3, 7)};
    tm_wait_attr reported = {
        .stream = 20, .on_stream = 7, .record = TM_NO_EVENT, .kind = TM_WAIT_STREAM_WAIT};
    built b;
    tm_pairs pairs = TM_PAIRS();
    tm_recorded recorded;
    open_built(&b, events, COUNT(events));
    const uint32_t c = index_of(&b.g, &b.input, "c");
    const tm_part_wait expected[] = {{c, c - 1}, {c + 1, c}};
    assert_ok(tm_pairs_scan(&b.input, &pairs, &b.g.err));
    assert_ok(tm_pairs_pick(&b.input, &pairs, &b.waits, &b.g.err));
    assert_int_equal(b.waits.n, COUNT(expected));
    record_waits(&b, &reported, &events[0].name, 1, &recorded);
    assert_true(recorded.graphs);
    assert_ok(tm_recorded_waits(&recorded, &b.waits, &b.g.err));
    assert_int_equal(b.waits.n, COUNT(expected));
    assert_memory_equal(b.waits.data, expected, sizeof expected);
    tm_recorded_free(&recorded);
    tm_pairs_free(&pairs);
    close_built(&b);
}

/* A kernel begins every 101 us. A launch is made every 10 us until 40 of 64 are queued. So the 45th
 * launch, at 440 us, is the first that waits: until 514 us, 4 us after the end of the 5th kernel,
 * 40 before its own. If kernels are shorter, the launch takes as long without waiting. Then come a
 * long kernel on another stream, @p n_short short ones that end before it, and a launch that lasts
 * until 4 us after the end of the long one. Returns the number of calls that wait for a kernel. */
static size_t count_waits(int64_t kernel_us, size_t n_short, int64_t long_us) {
    enum { N = 64, QUEUE = 40 };
    event_spec events[4 * N];
    size_t n_waits = 0, n = (size_t)2 * N;
    int64_t host = 0, ends[N];
    for (size_t i = 0; i < N; i++) {
        const int64_t freed = i < QUEUE ? 0 : ends[i - QUEUE] + 4;
        const int64_t took = freed > host + 5 ? freed - host : 5;
        events[2 * i] = (event_spec)CALL("l", host, took, (int64_t)i + 1);
        ends[i] = (i == 0 ? 6 : ends[i - 1] + 1) + 100;
        events[2 * i + 1] = (event_spec)WORK("k", ends[i] - 100, kernel_us, (int64_t)i + 1, 7);
        host += took + 5;
    }
    const int64_t since = ends[N - 1] + 10, until = since + long_us + 10;
    for (size_t i = 0; i < n_short + 2; i++) {
        const int64_t number = N + 1 + (int64_t)i, at = since + 10 * (int64_t)i;
        events[n++] = (event_spec)CALL("l", at, i <= n_short ? 5 : until - at, number);
        events[n++] = (event_spec)WORK("k", i <= n_short ? at + 6 : until + 1, i == 0 ? long_us : 3,
                                       number, i == 0 ? 8 : 7);
    }
    built b;
    open_built(&b, events, n);
    build(&b, NULL, 0);
    for (uint32_t e = 0; e < b.graph.first[b.graph.n_nodes]; e++)
        n_waits += b.graph.edges[e].kind == TM_EDGE_SYNC;
    close_built(&b);
    return n_waits;
}

/* Even most calls may wait like this, because a GPU that is behind keeps the queue full. */
TEST(a_launch_into_a_full_queue_waits_for_a_kernel) {
    assert_int_equal(count_waits(100, 5, 1000), 64 - 44);
    assert_int_equal(count_waits(50, 5, 1000), 0);
    assert_int_equal(count_waits(100, 39, 1000), 64 - 44 + 1); /* the queue is in launch order */
    assert_int_equal(count_waits(50, 5, 10000), 1);            /* 20 us of 10 ms are no chance */
}

/* Makes calls on two threads, and work on three streams of two devices. They overlap, some take no
 * time, and some calls wait. */
static size_t random_events(uint64_t *seed, event_spec *out, size_t n) {
    static const char *const calls[] = {
        "launch",     "cuLaunch",           "cudaDeviceSynchronize", "cudaStreamSynchronize",
        "cudaMemcpy", "cudaStreamWaitEvent"};
    int64_t host = 0, gpu = draw(seed, 50);
    size_t made = 0;
    for (int64_t number = 1; made + 3 < n; number++) {
        host += draw(seed, 3) == 0 ? 0 : draw(seed, draw(seed, 20) == 0 ? 3000 : 30);
        gpu += draw(seed, 3) == 0 ? 0 : draw(seed, 40);
        out[made++] =
            (event_spec)CALL_ON((int)draw(seed, 2), calls[draw(seed, draw(seed, 4) ? 2 : 6)], host,
                                draw(seed, 4) == 0 ? 0 : draw(seed, 300), number);
        for (int64_t k = draw(seed, 3); k > 0; k--) {
            bool late = draw(seed, 4) > 0;
            out[made] = (event_spec)WORK(draw(seed, 3) ? "a" : "ncclKernel_AllReduce",
                                         late && host > gpu ? host : gpu,
                                         draw(seed, 5) == 0 ? 0 : draw(seed, 200),
                                         draw(seed, 6) == 0 ? 0 : number, (int)draw(seed, 2));
            out[made++].device = (int)draw(seed, 2);
        }
    }
    return made;
}

/* Makes an operation for each communication kernel. Its last member arrives at a random time. */
static size_t random_participants(uint64_t *seed, const tm_timeline *t,
                                  tm_replay_participant *out) {
    size_t n = 0;
    for (uint32_t row = 0; row < t->n_events; row++)
        if (t->role[row] == TM_ROLE_COMMUNICATION && draw(seed, 4) > 0) {
            int64_t begin = t->begin_ns[row] - base_of(t).root_ns;
            int64_t last = begin + draw(seed, 3) * draw(seed, t->duration_ns[row] + 1000);
            out[n] = (tm_replay_participant){.last_ns = last, .operation = n, .event = row};
            n++;
        }
    for (size_t missing = (size_t)draw(seed, 3); missing > 0; missing--, n++)
        out[n] = (tm_replay_participant){
            .last_ns = draw(seed, 500000), .end_ns = 500000, .operation = n, .event = TM_NO_EVENT};
    return n;
}

/* Sets each weight after each other one. They are the limits of an edge and of a short weight. */
TEST(an_edge_returns_the_weight_that_was_set) {
    enum { NS = 1 << 27, MORE = 1 << 24 };
    static const tm_weight weights[] = {
        {0, 0, 0},         {NS - 1, NS - MORE - 1, 0}, {1 - NS, MORE - NS, 0}, {NS, NS, 0},
        {-NS, -NS, 0},     {5, 5 + MORE, 0},           {5, 4 - MORE, 0},       {5, 9, 7},
        {INT32_MIN, 0, 0}, {0, INT64_C(1) << 31, 0},   {0, 0, INT64_MAX},      {-1, -2, 0}};
    for (size_t i = 0; i < COUNT(weights) * COUNT(weights); i++) {
        tm_edge edge = {.kind = TM_EDGE_BEFORE, .flags = TM_EDGE_UNSEEN};
        tm_graph graph = {.apart = TM_WEIGHTS()};
        const size_t last = i % COUNT(weights);
        assert_true(tm_graph_weigh(&graph, &edge, &weights[i / COUNT(weights)]));
        assert_true(tm_graph_weigh(&graph, &edge, &weights[last]));
        const tm_weight is = tm_graph_weight(&graph, &edge);
        assert_memory_equal(&is, &weights[last], sizeof is);
        assert_true(edge.kind == TM_EDGE_BEFORE && edge.flags == TM_EDGE_UNSEEN);
        tm_graph_free(&graph);
    }
}

TEST(any_events_get_their_recorded_times) {
    enum { SEEDS = 400, N = 60 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        event_spec events[N] = {{0}};
        tm_replay_participant participants[N + 3];
        uint64_t draws = seed;
        built b;
        tm_pairs pairs = TM_PAIRS();
        open_built(&b, events, random_events(&draws, events, N));
        assert_ok(tm_pairs_scan(&b.input, &pairs, &b.g.err));
        assert_ok(tm_pairs_pick(&b.input, &pairs, &b.waits, &b.g.err));
        build(&b, participants, random_participants(&draws, &b.t, participants));
        tm_pairs_free(&pairs);
        close_built(&b);
    }
}

/* Returns the time of node v if host time is multiplied by this factor. */
static int64_t scaled_ns(const tm_graph *g, uint32_t v, double factor, const int64_t *ns) {
    int64_t latest = INT64_MIN;
    for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
        const tm_edge *edge = &g->edges[e];
        const int64_t ns_of_edge = tm_graph_weight(g, edge).ns;
        const bool host = edge->kind == TM_EDGE_HOST || edge->kind == TM_EDGE_CALL;
        const bool node = edge->from != TM_FROM_ROOT && !(edge->from & TM_FROM_OPERATION);
        const int64_t from = node ? ns[edge->from] : tm_graph_source_ns(g, edge);
        const int64_t at = from + (host ? llround((double)ns_of_edge * factor) : ns_of_edge);
        latest = at > latest ? at : latest;
    }
    return latest;
}

/* Returns the time from the root to the end of the last GPU event. */
static int64_t scaled_end(const built *b, double factor) {
    const tm_graph *g = &b->graph;
    int64_t *ns = calloc(g->n_nodes + 1, sizeof *ns), end = 0;
    assert_non_null(ns);
    for (uint32_t v = 0; v < g->n_nodes; v++) {
        ns[v] = scaled_ns(g, v, factor, ns);
        if (g->parts[v] < 2 * b->input.events.n && ns[v] > end)
            end = ns[v];
    }
    free(ns);
    return end;
}

/* Delays all events by @p by_ns, and kernels until 1 us after the previous one on the stream. */
static void line_up(event_spec *events, size_t n, int64_t by_ns) {
    int64_t reach[2][2] = {{0}};
    for (size_t i = 0; i < n; i++) {
        event_spec *e = &events[i];
        int64_t *at = &reach[e->where][e->device];
        e->begin_ns += by_ns;
        if (e->category != TM_CAT_KERNEL)
            continue;
        e->begin_ns = e->begin_ns > *at ? e->begin_ns : *at;
        *at = e->begin_ns + e->duration_ns + 1000;
    }
}

static int64_t busiest_stream(const tm_timeline *t) {
    int64_t most = 0;
    for (uint32_t k = 0; k < t->n_tracks; k++) {
        int64_t busy = 0;
        const uint32_t after = t->tracks[k].first + t->tracks[k].count;
        for (uint32_t row = t->tracks[k].first; row < after; row++)
            busy += t->role[row] != TM_ROLE_NONE ? t->duration_ns[row] : 0;
        most = busy > most ? busy : most;
    }
    return most;
}

TEST(no_scaling_of_host_time_ends_before_the_busiest_stream_could) {
    enum { SEEDS = 200, N = 60 };
    static const double factors[] = {0.0, 0.1, 0.5, 0.9, 0.999, 1.001, 2.0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        event_spec events[N + 1] = {CALL("cudaFree", 0, 5000, 0)};
        uint64_t draws = seed;
        built b;
        const size_t n = random_events(&draws, events + 1, N);
        line_up(events + 1, n, seed % 2 ? 6000000 : 1000000);
        open_built(&b, events, n + 1);
        build(&b, NULL, 0);
        const int64_t took = scaled_end(&b, 1.0), busy = busiest_stream(&b.t);
        for (size_t i = 0; i < COUNT(factors) && took > 0; i++) {
            const int64_t end = scaled_end(&b, factors[i]), change = llabs(end - took);
            const double most = fabs(1.0 - factors[i]) * (double)took + (double)n;
            if (end < busy || (double)change > most)
                fail_msg("seed %d, %g times: %d of %d ns, busy %d", (int)seed, factors[i], (int)end,
                         (int)took, (int)busy);
        }
        close_built(&b);
    }
}

/* The step is marked from 100 us on; its first launch is at 110. */
TEST(the_first_step_counts_from_its_first_launch) {
    static const struct {
        const char *what;
        int64_t begin_us, took_us; /* of the kernel that runs before the step */
        bool any, joined;
    } leads[] = {
        {"it had ended", 6, 90, true, false},
        {"it runs into the step", 6, 95, true, true},
        {"nothing was launched before the step", 120, 5, false, false},
    };
    for (size_t i = 0; i < COUNT(leads); i++) {
        const int64_t begin = leads[i].begin_us;
        const event_spec events[EVENTS_MAX] = {
            CALL("la", begin - 6, 5, 1),
            WORK("a", begin, leads[i].took_us, 1, 7),
            {TM_CAT_USER_ANNOTATION, "ProfilerStep#3", 100000, 300000, 0, 1, 1, NULL, TM_DURATION},
            CALL("lb", 110, 2, 2),
            WORK("b", 130, 50, 2, 8)};
        built b;
        open_built(&b, events, 5);
        const tm_warm_up is = b.input.before;
        if (is.step != 3 || is.any != leads[i].any || is.joined != leads[i].joined)
            fail_msg("%s: step %d, any %d, joined %d", leads[i].what, (int)is.step, is.any,
                     is.joined);
        b.input.warm_up = true; /* the warm-up ends late if its kernel runs into the step */
        build(&b, NULL, 0);
        const tm_graph_step *step = b.graph.steps.data;
        const int64_t first_us = base_of(&b.t).root_ns / 1000, last_us = begin + leads[i].took_us;
        assert_int_equal(step->number, TM_STEP_WARM_UP);
        assert_int_equal(b.graph.ns[step->node],
                         1000 * ((is.any && last_us > 110 ? last_us : 110) - first_us));
        close_built(&b);
    }
}

/* Kernels come in the order of their starts, and calls come after them: two runs, which are merged.
 * The end of a kernel is moved if the next few kernels start before it. If many kernels start
 * before it, there are too many runs, and the nodes are sorted by digits. */
TEST(nodes_are_in_the_order_of_their_times) {
    enum { KERNELS = 400, STREAMS = 50 };
    static const int took_us[] = {5, 12, 200};
    for (size_t c = 0; c < COUNT(took_us); c++) {
        event_spec events[2 * KERNELS];
        size_t n = 0;
        for (int k = 0; k < KERNELS; k++) {
            events[n++] = (event_spec)CALL("call", 5 * k, 4, k + 1);
            events[n++] = (event_spec)WORK("kernel", 5 * k + 2, took_us[c], k + 1, k % STREAMS);
        }
        built b;
        open_built(&b, events, COUNT(events));
        build(&b, NULL, 0);
        assert_true(b.graph.n_nodes >= 2 * COUNT(events));
        for (size_t v = 1; v < b.graph.n_nodes; v++)
            assert_true(b.graph.ns[v - 1] <= b.graph.ns[v]);
        close_built(&b);
    }
}

RUN_TESTS()

/* Scenarios as users write them, and the edges of a graph that they select. */
#include "replay/whatif/scenario.h"

#include <math.h>

#include "base/simd_lanes.h"
#include "replay/job/sets.h"

/* Writes a parsed part: its conditions as "word=value", separated by blanks, and its factor. */
static void describe(const tm_scenario *s, size_t i, char *out, size_t size) {
    const tm_scenario_part *part = (const tm_scenario_part *)s->parts.data + i;
    double factor = ((const double *)s->factors.data)[i];
    size_t used = 0;
    for (int c = 0; c < TM_N_CONDITIONS; c++)
        if (part->texts[c])
            used += (size_t)snprintf(out + used, size - used, "%s=%s ", tm_condition_words[c],
                                     part->texts[c]);
    if (isnan(factor))
        snprintf(out + used, size - used, "as peers");
    else if (isinf(factor))
        snprintf(out + used, size - used, "as usual");
    else
        snprintf(out + used, size - used, "times %g", factor);
}

static const struct {
    const char *option, *text;
    const char *read; /* NULL: it is refused with this message: */
    const char *message;
} texts[] = {
    {"fix", "rank=3", "rank=3 as peers", NULL},
    {"fix", "rank=3,5-7+kind=host", "rank=3,5-7 kind=host as peers", NULL},
    {"fix", "kind=host+rank=3", "rank=3 kind=host as peers", NULL},
    {"fix", "host=node7+stage=last+step=2-4", "host=node7 stage=last step=2-4 as peers", NULL},
    {"fix", "host=node:7", "host=node:7 as peers", NULL},
    {"fix", "compute", "kind=compute as usual", NULL},
    {"fix", "rank=3+compute", "rank=3 kind=compute as peers", NULL},
    {"fix", "kernel=a+b", "kernel=a+b as usual", NULL},
    {"fix", "kernel=a+b+kind=launch", "kind=launch kernel=a+b as usual", NULL},
    {"fix", "kernel=x+copy_y", "kernel=x+copy_y as usual", NULL},
    {"fix", "kernel=.++step=3", "step=3 kernel=.+ as usual", NULL},
    {"fix", "kernel=rank=3", "kernel=rank=3 as usual", NULL},
    {"scale", "transfer:0", "kind=transfer times 0", NULL},
    {"scale", "rank=3+kind=compute:1.5", "rank=3 kind=compute times 1.5", NULL},
    {"scale", "operator=aten::mm:.25", "operator=aten::mm times 0.25", NULL},
    {"scale", "stage=0:1000", "stage=0 times 1000", NULL},
    {"fix", "", NULL, "not ''"},
    {"fix", "rank", NULL, "takes rank=, host="},
    {"fix", "RANK=3", NULL, "takes rank=, host="},
    {"fix", "rank=", NULL, "rank= takes a list such as 0,3,8-15, not ''"},
    {"fix", "rank=3:2", NULL, "rank= takes a list such as 0,3,8-15, not '3:2'"},
    {"fix", "rank=3+", NULL, "not '3+'"},
    {"fix", "+rank=3", NULL, "takes rank=, host="},
    {"fix", "rank=3+rank=4", NULL, "rank= twice"},
    {"fix", "step=last", NULL, "step= takes a list"},
    {"fix", "stage=first", NULL, "stage= takes a number or last, not 'first'"},
    {"fix", "stage=1-2", NULL, "stage= takes a number or last, not '1-2'"},
    {"fix", "host=", NULL, "host= takes the name of a host"},
    {"fix", "kind=slow", NULL,
     "kind= takes compute, copy, host, launch, transfer, stall, input or gc, not 'slow'"},
    {"fix", "kernel=", NULL, "takes a regular expression"},
    {"fix", "kernel=a(", NULL, "'a(' is not a regular expression"},
    {"fix", "rank=3+operator=[", NULL, "'[' is not a regular expression"},
    {"scale", "rank=3", NULL, "takes a factor up to 1000 after the last colon"},
    {"scale", "rank=3:", NULL, "takes a factor"},
    {"scale", "rank=3:.", NULL, "takes a factor"},
    {"scale", "rank=3:-1", NULL, "takes a factor"},
    {"scale", "rank=3:1e3", NULL, "takes a factor"},
    {"scale", "rank=3:inf", NULL, "takes a factor"},
    {"scale", "rank=3:1.2.3", NULL, "takes a factor"},
    {"scale", "rank=3:1000.1", NULL, "takes a factor"},
    {"scale", "kernel=aten::mm", NULL, "takes a factor"},
};

TEST(conditions_are_read_as_typed) {
    for (size_t i = 0; i < COUNT(texts); i++) {
        tm_scenario s = TM_SCENARIO();
        tm_error err = {.status = TM_OK};
        char found[256];
        tm_status status = tm_scenario_add(&s, texts[i].option, texts[i].text, &err);
        if (texts[i].read) {
            assert_ok(status);
            describe(&s, 0, found, sizeof found);
            assert_string_equal(found, texts[i].read);
        } else {
            assert_int_equal(status, TM_ERR_USAGE);
            if (!strstr(err.message, texts[i].message))
                fail_msg("'%s' is not in: %s", texts[i].message, err.message);
        }
        tm_scenario_free(&s);
    }
    tm_scenario s = TM_SCENARIO(); /* the parts are joined to one text */
    assert_ok(tm_scenario_add(&s, "fix", "host=a+kind=host", NULL));
    assert_ok(tm_scenario_add(&s, "scale", "kernel=gemm:0.5", NULL));
    assert_string_equal(s.text, "--fix host=a+kind=host --scale kernel=gemm:0.5");
    tm_scenario_free(&s);
}

TEST(a_list_is_written_as_it_is_read) {
    static const int64_t numbers[] = {0, 1, 2, 5, 7, 8};
    static const struct {
        size_t n, size;
        const char *text;
    } cases[] = {{0, 64, ""},      {1, 64, "0"},         {3, 64, "0-2"},
                 {4, 64, "0-2,5"}, {6, 64, "0-2,5,7-8"}, {6, 5, "0-2,"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[64];
        tm_list_write(numbers, cases[i].n, text, cases[i].size);
        assert_string_equal(text, cases[i].text);
    }
}

/* A rank of stage 1 on host "node1". gemm and an all-reduce are on one stream. Two calls launched
 * them, the first inside the operator aten::mm. The all-reduce and its call belong to step 4. The
 * second call runs while aten::mm runs on the same thread, but on behalf of a queue that another
 * thread filled in c10d::reduce. */
enum { GEMM, NCCL, MM, LAUNCH, LAUNCH_NCCL, REDUCE, QUEUED, N_EVENTS };

static const struct {
    const char *name;
    int64_t begin_ns, duration_ns;
    uint8_t category, role;
    uint32_t launch;
    int32_t step;
} events[N_EVENTS] = {
    [GEMM] = {"ampere_gemm", 50, 20, TM_CAT_KERNEL, TM_ROLE_COMPUTE, LAUNCH, 0},
    [NCCL] = {"ncclAllReduce", 70, 20, TM_CAT_KERNEL, TM_ROLE_COMMUNICATION, LAUNCH_NCCL, 1},
    [MM] = {"aten::mm", 0, 32, TM_CAT_CPU_OP, TM_ROLE_NONE, TM_NO_EVENT, 0},
    [LAUNCH] = {"cudaLaunchKernel", 10, 5, TM_CAT_RUNTIME, TM_ROLE_NONE, TM_NO_EVENT, 0},
    [LAUNCH_NCCL] = {"cudaLaunchKernel", 30, 5, TM_CAT_RUNTIME, TM_ROLE_NONE, QUEUED, 1},
    [REDUCE] = {"c10d::reduce", 0, 20, TM_CAT_CPU_OP, TM_ROLE_NONE, TM_NO_EVENT, 0},
    [QUEUED] = {"Enqueue", 5, 5, TM_CAT_RUNTIME, TM_ROLE_NONE, TM_NO_EVENT, 0},
};

/* Nodes S and E of both calls and events, and the step's end, in the order of the edges. */
enum { S_A, E_A, S_B, E_B, S_GEMM, E_GEMM, S_NCCL, E_NCCL, END, N_NODES };

static const uint32_t node_event[N_NODES] = {LAUNCH, LAUNCH, LAUNCH_NCCL, LAUNCH_NCCL, GEMM,
                                             GEMM,   NCCL,   NCCL,        TM_NO_EVENT};
static const struct {
    uint32_t to, from;
    uint8_t kind, flags;
} edges[] = {
    {S_A, TM_FROM_ROOT, TM_EDGE_BEFORE, 0},
    {E_A, S_A, TM_EDGE_CALL, 0},
    {S_B, E_A, TM_EDGE_HOST, TM_EDGE_GC},
    {E_B, S_B, TM_EDGE_CALL, 0},
    {S_GEMM, S_A, TM_EDGE_LAUNCH, 0},
    {E_GEMM, S_GEMM, TM_EDGE_COMPUTE, 0},
    {S_NCCL, E_GEMM, TM_EDGE_GAP, 0},
    {S_NCCL, S_B, TM_EDGE_LAUNCH, 0},
    {E_NCCL, TM_FROM_OPERATION, TM_EDGE_TRANSFER, 0},
    {END, E_NCCL, TM_EDGE_BEFORE, 0},
};
enum { N_EDGES = COUNT(edges) };

/* The characters of `parts` are edges: before call host call launch gemm gap launch transfer
 * before. */
static const struct {
    const char *fix, *scale; /* applied one after the other; NULL: none */
    const char *parts;       /* for each edge: number of the part that changes it */
    int64_t alone; /* number of edges, or ranks, that meet the last condition of the first part */
} meant[] = {
    {"rank=3", NULL, ".1111111..", 1},
    {"rank=4", NULL, "..........", 0},
    {"host=node1", NULL, ".1111111..", 1},
    {"host=node", NULL, "..........", 0},
    {"stage=1", NULL, ".1111111..", 1},
    {"stage=last", NULL, "..........", 0}, /* the last stage of the job is 2 */
    {"step=4", NULL, "..11..11..", 5},     /* the 5th is the transfer, which is not selected */
    {"kind=compute", NULL, ".....1....", 1},
    {"host", NULL, ".111......", 3},
    {"launch", NULL, "....1.11..", 3},
    {"transfer", NULL, "........1.", 1},
    {"gc", NULL, "..1.......", 1},
    {"stall", NULL, "..........", 0},
    {"kernel=GEMM", NULL, ".....1....", 2}, /* the second edge is the launch before gemm */
    {"kernel=^nccl", NULL, "........1.", 3},
    {"kind=launch+kernel=nccl", NULL, "......11..", 3},
    {"kernel=Launch", NULL, "..........", 0}, /* a call is not a kernel */
    {"operator=mm", NULL, ".....1....", 3},   /* its call, launch and work */
    {"operator=c10d", NULL, "........1.", 5}, /* queued work: host time before it, call, gap ... */
    {"kind=host+operator=mm", NULL, ".1........", 3},
    {"rank=4+kind=compute", NULL, "..........", 1},
    {"rank=3", "kind=launch:2", ".1112122..", 1},
    {"kind=launch", "rank=3:2", ".2222222..", 3},
};

static void make_timeline(tm_timeline *t, tm_names *names, tm_track *tracks, tm_step *steps) {
    static int64_t begin_ns[N_EVENTS], duration_ns[N_EVENTS];
    static uint32_t name[N_EVENTS], launch[N_EVENTS];
    static int32_t step[N_EVENTS];
    static uint8_t category[N_EVENTS], role[N_EVENTS], kind[N_EVENTS];
    for (uint32_t i = 0; i < N_EVENTS; i++) {
        begin_ns[i] = events[i].begin_ns;
        duration_ns[i] = events[i].duration_ns;
        name[i] = tm_names_intern_string(names, events[i].name);
        launch[i] = events[i].launch;
        step[i] = events[i].step;
        category[i] = events[i].category;
        role[i] = events[i].role;
    }
    tracks[0] = (tm_track){.kind = TM_TRACK_GPU, .first = GEMM, .count = 2};
    tracks[1] = (tm_track){.kind = TM_TRACK_CPU, .first = MM, .count = 3};
    tracks[2] = (tm_track){.kind = TM_TRACK_CPU, .first = REDUCE, .count = 2};
    steps[0] = (tm_step){.number = 3};
    steps[1] = (tm_step){.number = 4};
    *t = (tm_timeline){.rank = 3,
                       .host = tm_names_intern_string(names, "node1"),
                       .n_events = N_EVENTS,
                       .begin_ns = begin_ns,
                       .duration_ns = duration_ns,
                       .name = name,
                       .step = step,
                       .launch = launch,
                       .category = category,
                       .kind = kind,
                       .role = role,
                       .tracks = tracks,
                       .n_tracks = 3,
                       .steps = steps,
                       .n_steps = 2};
}

static void make_graph(tm_graph *g, uint32_t *event, uint32_t *first, tm_edge *made) {
    memcpy(event, node_event, sizeof node_event);
    for (uint32_t e = 0, v = 0; v <= N_NODES; v++) {
        first[v] = e;
        for (; e < N_EDGES && edges[e].to == v; e++)
            made[e] = (tm_edge){.from = edges[e].from,
                                .kind = edges[e].kind & TM_EDGE_KIND_BITS,
                                .flags = edges[e].flags & TM_EDGE_FLAG_BITS};
    }
    static tm_graph_participant participant = {.event = NCCL};
    *g = (tm_graph){.rank = 3, .n_nodes = N_NODES, .event = event, .first = first, .edges = made};
    g->participants = (tm_vec){.data = &participant, .n = 1, .size = sizeof participant};
}

TEST(a_part_means_the_edges_of_which_all_holds) {
    tm_names *names = tm_names_create();
    tm_timeline timeline;
    tm_track tracks[3];
    tm_step steps[2];
    assert_non_null(names);
    make_timeline(&timeline, names, tracks, steps);
    for (size_t i = 0; i < COUNT(meant); i++) {
        tm_scenario s = TM_SCENARIO();
        tm_error err;
        tm_graph graph;
        tm_edge made[N_EDGES];
        uint32_t event[N_NODES], first[N_NODES + 1];
        tm_scenario_found found[2] = {{{0}, 0}, {{0}, 0}};
        char parts[N_EDGES + 1] = "";
        int last = TM_N_CONDITIONS - 1, n = 0;
        make_graph(&graph, event, first, made);
        assert_ok(tm_scenario_add(&s, "fix", meant[i].fix, &err));
        if (meant[i].scale)
            assert_ok(tm_scenario_add(&s, "scale", meant[i].scale, &err));
        assert_ok(tm_scenario_bind(&s, names, 2, &err));
        assert_ok(tm_scenario_mark(&s, &timeline, 1, &graph, found, &err));
        for (size_t e = 0; e < N_EDGES; e++) {
            const uint8_t part = tm_graph_fix(&graph, &made[e]);
            parts[e] = (char)(part ? '0' + part : '.');
            n += part == 1;
        }
        free(graph.fixes);
        assert_string_equal(parts, meant[i].parts);
        while (!((const tm_scenario_part *)s.parts.data)->texts[last])
            last--;
        assert_int_equal(found[0].alone[last], meant[i].alone);
        if (!meant[i].scale)
            assert_int_equal(found[0].edges, n);
        tm_scenario_free(&s);
    }
    tm_names_destroy(names);
}

TEST(an_edge_gets_what_its_part_says) {
    static const double factors[] = {(double)NAN, 1.5};
    const tm_change change = {.factors = factors};
    tm_sets sets;
    tm_sets_init(&sets, &change, 1);
    /* The edge takes 10 ns as recorded, 4 on the peers. Without the unexplained 7, 3 are left. */
    static const struct {
        uint8_t part;
        int64_t plain, explained;
    } cases[] = {{0, 10, 3}, {1, 4, 3}, {2, 15, 5}}; /* 4.5 is rounded away from 0 */
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_edge edge = {.kind = TM_EDGE_HOST, .flags = TM_EDGE_OVER};
        uint8_t fix = cases[i].part;
        tm_graph graph = {.edges = &edge, .apart = TM_WEIGHTS(), .fixes = &fix};
        int64_t ns[TM_LANES], of_ranks[TM_N_RANK_SETS];
        assert_true(tm_graph_weigh(&graph, &edge, &(tm_weight){10, 4, 7}));
        tm_sets_weigh(NULL, &graph, 0, of_ranks);
        tm_sets_weigh_changes(&sets, &graph, 0, ns);
        assert_int_equal(ns[0], cases[i].plain);
        assert_int_equal(ns[1], cases[i].explained);
        assert_int_equal(of_ranks[TM_SET_RECORDED], 10);
        tm_weights_free(&graph.apart);
    }
}

RUN_TESTS()

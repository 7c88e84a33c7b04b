/* Replay of operation-level traces: dependencies, the graph, and published figures. */
#include <inttypes.h>
#include <math.h>

#include "kineto_fixture.h"
#include "replay/graph/build_graph.h"
#include "replay/graph/ops_graph.h"
#include "replay/graph/ops_order.h"
#include "replay/job/ops_figures.h"
#include "replay/job/ops_settle.h"
#include "replay/job/reduce.h"
#include "tmerge/reader.h"

enum { RANKS_MAX = 16, STEPS_MAX = 64 };

typedef struct job {
    ground ground;
    tm_timeline timelines[RANKS_MAX];
    tm_ops_input inputs[RANKS_MAX];
    tm_graph graphs[RANKS_MAX];
    tm_ops_place places[RANKS_MAX];
    tm_ops_times ideal;
    tm_replay replay;
    size_t n;
} job;

static void read_ranks(job *j, const char *path) {
    tm_vec units = TM_VEC(tm_unit);
    tm_file_info info;
    bool foreign;
    assert_ok(tm_file_sniff(path, &info, NULL));
    assert_ok(tm_file_list_units(&info, false, &units, &foreign, NULL));
    for (j->n = 0; j->n < units.n; j->n++) {
        const tm_unit *unit = (const tm_unit *)units.data + j->n;
        const tm_trace_file file = {.path = path, .unit = unit};
        tm_trace trace, *traces[] = {&trace};
        assert_ok(tm_trace_read(&file, j->ground.names, NULL, &trace, NULL));
        assert_ok(tm_timeline_build(traces, 1, unit->rank, &j->ground.context, &j->timelines[j->n],
                                    NULL));
    }
    tm_vec_free(&units);
}

static void ask(job *j, bool (*question)(tm_ops_input *, uint32_t, int32_t, tm_vec *)) {
    tm_vec members = TM_VEC(tm_ops_member);
    for (uint32_t i = 0; i < j->n; i++)
        assert_true(question(&j->inputs[i], i, 0, &members));
    tm_ops_answer(&members);
    for (size_t i = 0; i < members.n; i++) {
        const tm_ops_member *answer = (const tm_ops_member *)members.data + i;
        tm_ops_take(&j->inputs[answer->rank], answer);
    }
    tm_vec_free(&members);
}

static bool ask_ends(tm_ops_input *input, uint32_t rank, int32_t origin, tm_vec *members) {
    return tm_ops_ask_ends(input, rank, origin, members);
}

static void make_graphs(job *j) {
    tm_vec samples = TM_VEC(tm_ops_sample), words = TM_VEC(int64_t);
    tm_timebase base = TM_TIMEBASE(INT64_MAX);
    for (size_t i = 0; i < j->n; i++) {
        const tm_step *first = j->timelines[i].steps;
        if (first && first->begin_ns < base.root_ns)
            base.root_ns = first->begin_ns;
    }
    for (size_t i = 0; i < j->n; i++)
        assert_ok(tm_ops_input_make(&j->timelines[i], j->ground.names, &base, &j->inputs[i], NULL));
    ask(j, ask_ends);
    ask(j, tm_ops_ask_joins);
    for (size_t i = 0; i < j->n; i++)
        assert_true(tm_ops_sample_rank(&j->inputs[i], &samples));
    j->ideal = tm_ops_ideal(&samples);
    for (size_t i = 0; i < j->n; i++) {
        assert_ok(tm_ops_graph(&j->inputs[i], &j->ideal, &j->graphs[i], NULL));
        assert_ok(tm_reduce(&j->graphs[i], TM_N_OPS_SETS, tm_ops_weigh, NULL, &words, NULL));
        j->places[i] = j->inputs[i].place;
    }
    assert_ok(tm_replay_build(words.data, words.n, &j->replay, NULL));
    tm_vec_free(&samples);
    tm_vec_free(&words);
}

static void open_job(job *j, const char *path) {
    *j = (job){.ground = open_ground()};
    read_ranks(j, path);
    make_graphs(j);
}

static void close_job(job *j) {
    tm_replay_free(&j->replay);
    for (size_t i = 0; i < j->n; i++) {
        tm_graph_free(&j->graphs[i]);
        tm_ops_input_free(&j->inputs[i]);
        tm_timeline_destroy(&j->timelines[i]);
    }
    close_ground(&j->ground);
}

/* Recorded duration of a job: the last end of its last step. */
static int64_t recorded_ns(const job *j) {
    int64_t last = 0;
    for (size_t i = 0; i < j->n; i++) {
        const tm_graph *g = &j->graphs[i];
        const tm_graph_step *step = (const tm_graph_step *)g->steps.data + g->steps.n - 1;
        last = g->ns[step->node] > last ? g->ns[step->node] : last;
    }
    return last;
}

static tm_ops_figures figures_of(const job *j, int64_t *scores) {
    static int64_t stages[RANKS_MAX], ends[STEPS_MAX];
    tm_ops_figures f = {.ranks_ns = scores, .stages_ns = stages, .ends_ns = ends};
    assert_true(j->replay.n_steps <= STEPS_MAX);
    for (size_t i = 0; i < j->n; i++)
        assert_int_equal(tm_graph_wrong(&j->graphs[i]), 0);
    assert_int_equal(j->replay.n_left_out, 0);
    assert_ok(tm_ops_figures_find(&j->replay, j->places, &f, NULL));
    return f;
}

/* Two ranks of a pipeline, and two equal steps. Times are in us from a step's start:
 *
 *     rank 0   forward 0-300, send 300-318.25; backward 820-990, its receive ended long before
 *     rank 1   receive 300-320; forward 320-610, backward 620-810; garbage collection at 990
 *
 * Rank 1's send is missing, so rank 0's backward pass waits for nothing, and without gaps a step
 * takes until the end of rank 1's backward pass: 300 + 20 + 290 + 190 = 800. Ideal times are 295
 * for a forward pass, 180 for a backward pass and 20 for a receive: 295 + 20 + 295 + 180 = 790. If
 * only stage 0 or only stage 1 is as recorded, a step takes 795. If only the ranks' data rank is,
 * which has both ranks, it takes 800. A rank's score is the smaller of these two. The scores are
 * equal, so rank 0 counts as the worst. If it is ideal, 295 + 20 + 290 + 190 = 795 are left; if the
 * last stage is ideal, 300 + 20 + 295 + 180 = 795. */
TEST(figures_of_a_small_job_are_those_by_hand) {
    job j;
    int64_t scores[RANKS_MAX];
    open_job(&j, TMERGE_TESTDATA "/ok_operations.json");
    tm_ops_figures f = figures_of(&j, scores);
    assert_int_equal(recorded_ns(&j), 2 * 990000);
    assert_int_equal(f.total_ns, 2 * 800000);
    assert_int_equal(f.ideal_ns, 2 * 790000);
    assert_int_equal(scores[0], 2 * 795000);
    assert_int_equal(scores[1], 2 * 795000);
    assert_int_equal(f.workers_ns, 2 * 795000);
    assert_int_equal(f.stage_ns, 2 * 795000);
    assert_int_equal(f.stages_ns[0], 2 * 795000);
    assert_int_equal(f.ends_ns[0], 800000);
    assert_int_equal(f.ends_ns[1], 1600000);
    close_job(&j);
}

/* The same job: 190 of the 990 us of a step are unexplained, and are moved to its end. Nothing else
 * waits without a cause: rank 1 arrives at its receive at 0, and receives from 300 to 320 us. */
TEST(what_nothing_explains_goes_to_the_ends_of_steps) {
    job j;
    open_job(&j, TMERGE_TESTDATA "/ok_operations.json");
    uint8_t sets[RANKS_MAX] = {TM_OPS_SET_RECORDED};
    int64_t *ns = calloc(j.replay.n_operations + j.replay.n_steps, sizeof *ns);
    assert_non_null(ns);
    tm_replay_forward(&j.replay, sets, ns);
    for (size_t i = 0; i < j.n; i++) {
        assert_ok(tm_ops_settle(&j.graphs[i], &j.replay, ns, NULL));
        assert_int_equal(tm_graph_wrong(&j.graphs[i]), 0);
    }
    free(ns);
    assert_int_equal(recorded_ns(&j), 2 * 990000);
    static const struct {
        size_t rank;
        const char *operation;
        int64_t begins[2]; /* in each step, time of the last but one node of the operation */
    } cases[] = {
        {0, "forward-compute", {0, 990000}},        {0, "backward-compute", {300000, 1290000}},
        {1, "forward-recv", {300000, 1290000}},     {1, "forward-compute", {320000, 1310000}},
        {1, "backward-compute", {610000, 1600000}},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        const tm_graph *g = &j.graphs[cases[c].rank];
        const tm_timeline *t = &j.timelines[cases[c].rank];
        size_t found = 0;
        for (size_t v = 1; v < g->n_nodes; v++)
            if (g->event[v] != TM_NO_EVENT && g->event[v - 1] == g->event[v] &&
                (v + 1 == g->n_nodes || g->event[v + 1] != g->event[v]) &&
                t->name[g->event[v]] == name_of(&j.ground, cases[c].operation))
                assert_int_equal(g->ns[v - 1], cases[c].begins[found++]);
        assert_int_equal(found, 2);
    }
    for (size_t i = 0; i < j.n; i++)
        for (uint32_t v = 0, e = 0; v < j.graphs[i].n_nodes; v++)
            for (; e < j.graphs[i].first[v + 1]; e++) {
                const tm_edge *edge = &j.graphs[i].edges[e];
                int64_t lag = edge->kind == TM_EDGE_BEFORE ? 190000 : 0;
                const tm_weight weight = tm_graph_weight(&j.graphs[i], edge);
                assert_int_equal(weight.over_ns, lag);
                assert_true(weight.ns == lag ||
                            !(edge->kind == TM_EDGE_BEFORE || edge->kind == TM_EDGE_GAP));
            }
    close_job(&j);
}

/* Figures of result-ST.json, mw-ST.json and ms-ST.json, artefacts of the paper in ops_figures.h. */
TEST(figures_are_those_that_were_published) {
    const char *shared = getenv("TMERGE_SHARED");
    char path[512];
    int64_t scores[RANKS_MAX];
    snprintf(path, sizeof path, "%s/traces/bytedance-st/timeline-ST.json.gz",
             shared ? shared : TMERGE_TESTDATA "/../../shared");
    FILE *file = fopen(path, "rb");
    if (!file)
        skip();
    (void)fclose(file);
    job j;
    open_job(&j, path);
    tm_ops_figures f = figures_of(&j, scores);
    const double second = 32 * 1e9, total = (double)f.total_ns;
    assert_int_equal(j.replay.n_steps, 32);
    assert_true(fabs(total / second - 2.172696813) < 2e-6);
    assert_true(fabs((double)f.ideal_ns / second - 1.843295824) < 2e-6);
    assert_true(fabs((double)f.workers_ns / second - 2.162352216) < 2e-6);
    assert_true(fabs((double)f.stage_ns / second - 1.771039616) < 2e-6);
    assert_true(fabs(total / (double)recorded_ns(&j) - 1 - -0.0188) < 0.0002);
    /* Scores from blocking_decompose_by_dp_rank and _by_stage: only the last stage is slow. */
    static const double expected[] = {0.99804, 0.99804, 0.98306, 0.98306,
                                      0.98249, 0.98249, 1.17308, 1.17787};
    for (size_t i = 0; i < 8; i++)
        assert_true(fabs((double)scores[i] / (double)f.ideal_ns - expected[i]) < 2e-5);
    close_job(&j);
}

static const char *const letters[TM_N_OPS_TYPES] = {"F",  "B",  "g",  "o",  "fs", "fr", "bs",
                                                    "br", "pa", "gr", "se", "ln", "em", "cl"};

static int by_type(const void *a, const void *b) {
    const tm_ops_part *x = a, *y = b;
    return x->type != y->type ? x->type - y->type : (x->row > y->row) - (x->row < y->row);
}

/* Makes operations of "type begin end chunk" [us]. Each type is sorted by begin. */
static tm_ops_input make_input(tm_timeline *timeline, const char *text, const tm_ops_place *place) {
    tm_ops_input d = {.timeline = timeline,
                      .place = *place,
                      .parts = TM_VEC(tm_ops_part),
                      .edges = TM_VEC(tm_ops_edge),
                      .ends = TM_VEC(tm_ops_end)};
    const tm_ops_end end = {0};
    uint32_t nth = 0, row = 0;
    uint8_t before = TM_N_OPS_TYPES;
    for (const char *p = text; *p; p += strspn(p, ", ")) {
        char type[3] = "", *end_of;
        tm_ops_part part = {0};
        memcpy(type, p, strcspn(p, " "));
        part.begin_ns = 1000 * strtoll(p + strcspn(p, " "), &end_of, 10);
        part.end_ns = 1000 * strtoll(end_of, &end_of, 10);
        part.chunk = (int32_t)strtol(end_of, &end_of, 10);
        p = end_of;
        while (strcmp(letters[part.type], type) != 0)
            part.type++;
        part.nth = nth = part.type == before ? nth + 1 : 0;
        part.row = row++;
        before = part.type;
        assert_non_null(tm_vec_append(&d.parts, &part, 1));
    }
    assert_non_null(tm_vec_append(&d.ends, &end, 1));
    qsort(d.parts.data, d.parts.n, d.parts.size, by_type);
    return d;
}

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

/* Writes "B0<F1 " if B0 follows F1, in order of texts, then "| alone:" and what has no peer. */
static void input_text(const tm_ops_input *d, char *out, size_t size) {
    const tm_ops_part *parts = d->parts.data;
    const tm_ops_edge *edges = d->edges.data;
    char texts[128][16];
    assert_true(d->edges.n < 128);
    for (size_t e = 0; e < d->edges.n; e++) {
        const tm_ops_part *a = &parts[edges[e].from], *b = &parts[edges[e].to];
        assert_true(edges[e].from < edges[e].to);
        snprintf(texts[e], sizeof texts[e], "%s%u<%s%u ", letters[b->type], b->nth,
                 letters[a->type], a->nth);
    }
    qsort(texts, d->edges.n, sizeof texts[0], by_text);
    *out = '\0';
    for (size_t e = 0; e < d->edges.n; e++)
        snprintf(out + strlen(out), size - strlen(out), "%.15s", texts[e]);
    snprintf(out + strlen(out), size - strlen(out), "| alone:");
    for (size_t i = 0; i < d->parts.n; i++)
        if (parts[i].operation == 0 && !tm_ops_computes(parts[i].type))
            snprintf(out + strlen(out), size - strlen(out), " %s%u", letters[parts[i].type],
                     parts[i].nth);
}

TEST(operations_follow_one_another_as_the_schedule_has_it) {
    static const struct {
        const char *what;
        tm_ops_place place;
        const char *operations, *expected;
    } cases[] = {
        {"the first of two stages, two micro-batches",
         {0, 0, 0, 2, 1},
         "F 10 20 0, F 20 30 0, B 50 60 0, B 70 80 0, g 80 80 0, o 99 100 0, fs 20 22 0, fs 30 32 "
         "0, br 48 50 0, br 68 70 0, pa 0 9 0, gr 90 95 0, ln 81 82 0, em 85 86 0, cl 96 97 0",
         "B0<F1 B0<br0 B1<B0 B1<br1 F0<pa0 F1<F0 br0<F0 br1<B0 br1<br0 cl0<gr0 em0<ln0 fs0<F0 "
         "fs1<F1 fs1<fs0 g0<B1 gr0<em0 gr0<pa0 ln0<g0 o0<cl0 | alone: ln0"},
        {"a stage in the middle",
         {0, 1, 0, 3, 1},
         "F 10 20 0, B 50 60 0, fs 20 22 0, fr 8 10 0, bs 60 62 0, br 48 50 0, o 99 100 0",
         "B0<F0 B0<br0 F0<fr0 bs0<B0 fs0<F0 o0<B0 | alone:"},
        {"gradients apart, which are reduced while passes run; the last gather of a part counts",
         {0, 1, 0, 2, 1},
         "F 10 20 0, B 20 30 0, B 30 40 0, pa 0 2 0, pa 2 4 0, gr 40 42 0, gr 42 44 0, se 50 51 0, "
         "ln 45 46 0, em 47 48 0, o 60 61 0",
         "B0<F0 B1<B0 F0<pa1 em0<ln0 gr0<B1 gr0<pa1 gr1<gr0 ln0<B1 ln0<gr1 o0<se0 pa1<pa0 se0<em0 "
         "| alone: ln0"},
        /* This is the first of two stages with two chunks each. Its first receive and its last
         * backward send have no peer, and the receive after the last pass never happened. */
        {"two parts of the model on a stage",
         {0, 0, 0, 2, 2},
         "F 10 20 0, F 30 40 1, B 50 60 1, B 70 80 0, fs 20 22 0, fs 40 42 0, fr 9 10 0, fr 28 30 "
         "0, fr 139 141 0, bs 60 62 0, bs 80 82 0, br 48 50 0, br 68 70 0, pa 0 1 0, pa 1 2 1",
         "B0<F1 B0<br0 B1<B0 B1<br1 F0<fr0 F0<pa0 F1<F0 F1<fr1 F1<pa1 br0<F0 br1<B0 br1<br0 bs0<B0 "
         "bs0<F0 bs1<B1 bs1<bs0 fr1<F0 fr1<fr0 fr2<fr1 fs0<F0 fs1<F1 fs1<fs0 pa1<pa0 | alone: fr0 "
         "bs1 fr2"},
        {"one receive fewer than passes: the first pass received nothing",
         {0, 0, 0, 2, 2},
         "F 10 20 0, F 30 40 1, fr 28 30 0",
         "F1<F0 F1<fr0 fr0<F0 | alone:"},
        {"a send before anything was computed never was",
         {0, 0, 0, 2, 1},
         "F 100 200 0, fs 10 20 0, fs 200 220 0",
         "fs1<F0 fs1<fs0 | alone: fs0"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_step step = {.number = 7};
        tm_timeline timeline = {.steps = &step, .n_steps = 1};
        char found[1024];
        tm_ops_input d = make_input(&timeline, cases[i].operations, &cases[i].place);
        print_message("%s\n", cases[i].what);
        assert_true(tm_ops_order(&d));
        input_text(&d, found, sizeof found);
        assert_string_equal(found, cases[i].expected);
        tm_ops_input_free(&d);
    }
}

RUN_TESTS()

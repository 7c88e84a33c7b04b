/* The boxes of `checklist` on tables made by hand. The basic job has four ranks with 1,000 ns of
 * GPU time each, and is at the edge of every range. Each case changes one value so that it leaves
 * the range. */
#include "analysis/analyses.h"

#include "rows_fixture.h"

enum { RANKS = 4, TEXT = 512 };

/* A row of imbalance.step. The ranks compute 50 ns on average. */
#define STEP(number, ns, above)                                                                    \
    "step=" #number " step_ns=" #ns " mean_compute_ns=50 imbalance_ns=" #above

/* A row of overlap.step: step 1 of rank `number`. */
#define LOAD(number, ns) "rank=" #number " step=1 window_ns=100 compute_ns=" #ns

/* Rows of a table, separated by |. If the text begins with "*", it is a row for each rank. */
typedef struct given {
    const char *table, *rows;
} given;

#define ATTENTION(more)                                                                            \
    { "classes.work", "level=class class=attention total_ns=100 " more }
/* A job at the edges of all ranges: values equal to a bound pass. */
static const given edge[] = {
    {"job.job", "ranks=4 steps=4"},
    {"overview.job", "gpu_utilization_pct=80"},
    /* Steps take 100 ns, +- 10 %. In each, a rank computes 5 ns more than the mean of 50. */
    {"imbalance.step", STEP(1, 90, 5) "|" STEP(2, 110, 5) "|" STEP(3, 90, 5) "|" STEP(4, 110, 5)},
    {"memory.device", "rank=0 device=cuda:0 capacity_pct=95"},
    {"memory.job", "growing_devices=0"},
    /* Of 1,000 ns (without 50 for data), forward and backward together take 75 %, the optimizer 15
     * %, and the rest less than 10 %. */
    {"phases.step", "rank=0 step=1 step_ns=1050 data_ns=50 forward_ns=350 backward_ns=400 "
                    "optimizer_ns=150 gpu_other_ns=99"},
    {"input.rank", "rank=0 waits=4 load_ns=100 step_ns=1000"},
    /* 100 of 1,000 are exposed. 30 of these are waits. */
    {"overlap.rank", "*window_ns=1000 compute_ns=730 comm_ns=200 exposed_comm_ns=100 "
                     "exposed_wait_ns=30 memory_ns=30"},
    {"transfers.kind", "*kind=htod host_memory=pinned count=1 bytes=1 union_ns=20 overlap_ns=0"},
    {"launches.api", "calls=9"},
    {"idle.rank", "*sync_ns=20"},
    {"stragglers.job", "verdict=none"},
    {"kernels.kernel", "name=gemm communication=false calls=100 short_calls=50 total_ns=1000"},
    ATTENTION(
        "bits16_ns=50 bits32_ns=50 flash_ns=50|level=rank class=attention total_ns=9 bits32_ns=9"),
};

static void add_rows(tm_tables *tables, const given *g) {
    char text[TEXT];
    for (int rank = 0; *g->rows == '*' && rank < RANKS; rank++) {
        add_rowf(tables, g->table, "rank=%d %s", rank, g->rows + 1);
    }
    snprintf(text, sizeof text, "%s", g->rows);
    for (char *rest = text, *one; *g->rows != '*' && (one = strtok_r(rest, "|", &rest)) != NULL;)
        add_row(tables, g->table, one);
}

/* Checks the boxes of a job at the edges whose tables in @p other are replaced. @p expected lists
 * the boxes that do not pass, with their result: "box fail". */
static void check_boxes(const given *other, size_t n, const char *expected) {
    tm_tables tables = open_tables();
    tm_error err;
    const tm_job job = {.n_ranks = RANKS, .world_size = RANKS, .aligned = true};
    char found[TEXT] = "";
    for (size_t i = 0; i < COUNT(edge); i++) {
        bool replaced = false;
        for (size_t k = 0; k < n && other[k].table; k++)
            replaced = replaced || strcmp(other[k].table, edge[i].table) == 0;
        if (!replaced)
            add_rows(&tables, &edge[i]);
    }
    for (size_t k = 0; k < n && other[k].table; k++)
        add_rows(&tables, &other[k]);
    assert_int_equal(tm_analysis_checklist.job(&job, &tables, &err), TM_OK);
    const tm_table *boxes = tm_tables_find(&tables, "checklist.box");
    for (size_t i = 0; i < boxes->n_rows; i++) {
        const char *result = tm_table_cell(boxes, i, "result")->value.text;
        size_t used = strlen(found);
        if (strcmp(result, "pass") != 0)
            snprintf(found + used, sizeof found - used, "%s%s %s%s", used > 0 ? ", " : "",
                     tm_table_cell(boxes, i, "box")->value.text, result,
                     tm_table_cell(boxes, i, "because")->null ? "" : " by another");
        char look[TEXT];
        snprintf(look, sizeof look, "%s", tm_table_cell(boxes, i, "look_at")->value.text);
        for (char *rest = look, *name; (name = strtok_r(rest, ", ", &rest)) != NULL;)
            assert_non_null(tm_tables_look_up(&tables, name));
    }
    assert_int_equal(boxes->n_rows, 16);
    assert_string_equal(found, expected);
    tm_tables_destroy(&tables);
}

TEST(a_job_at_the_edges_passes_every_box) {
    check_boxes(NULL, 0, "");
    const given least = {"memory.device", "rank=0 device=cuda:0 capacity_pct=50"};
    check_boxes(&least, 1, "");
}

TEST(what_nobody_causes_by_himself_is_no_straggler) {
    const given bubble = {"stragglers.finding",
                          "level=job shape=bubble|level=rank shape=event rank=2"};
    check_boxes(&bubble, 1, "");
}

TEST(each_fault_fails_its_own_box_alone) {
    static const struct {
        const char *box;
        given other;
    } cases[] = {
        {"gpu_utilization", {"overview.job", "gpu_utilization_pct=79.9"}},
        {"step_variation",
         {"imbalance.step",
          STEP(1, 89, 5) "|" STEP(2, 111, 5) "|" STEP(3, 89, 5) "|" STEP(4, 111, 5)}},
        {"memory", {"memory.device", "rank=0 device=cuda:0 capacity_pct=95.1"}},
        /* the fullest device counts */
        {"memory",
         {"memory.device", "rank=0 device=a capacity_pct=49.9|rank=1 device=a capacity_pct=30"}},
        {"memory_growth", {"memory.job", "growing_devices=1"}},
        {"forward_backward",
         {"phases.step", "rank=0 step=1 step_ns=1050 data_ns=50 forward_ns=349 backward_ns=400 "
                         "optimizer_ns=150 gpu_other_ns=99"}},
        {"optimizer",
         {"phases.step", "rank=0 step=1 step_ns=1050 data_ns=50 forward_ns=350 backward_ns=400 "
                         "optimizer_ns=151 gpu_other_ns=99"}},
        {"data_loading", {"input.rank", "rank=0 waits=4 load_ns=101 step_ns=1000"}},
        {"exposed_communication",
         {"overlap.rank", "*window_ns=1000 compute_ns=700 comm_ns=200 exposed_comm_ns=101 "
                          "exposed_wait_ns=30 memory_ns=30"}},
        {"copies",
         {"transfers.kind",
          "*kind=htod host_memory=pinned count=1 bytes=1 union_ns=21 overlap_ns=0"}},
        {"copies",
         {"transfers.kind",
          "*kind=dtoh host_memory=pageable count=1 bytes=1 union_ns=24 overlap_ns=3"}},
        {"synchronisation", {"idle.rank", "rank=0 sync_ns=81"}},
        /* 21 of 4 x 50 ns are imbalance, which counts even if another rank is slow in each step. */
        {"balance",
         {"imbalance.step",
          STEP(1, 100, 5) "|" STEP(2, 100, 5) "|" STEP(3, 100, 5) "|" STEP(4, 100, 6)}},
        {"stragglers", {"stragglers.finding", "rank=2 shape=throughout p=0.001"}},
        {"short_kernels",
         {"kernels.kernel",
          "name=a communication=false calls=100 short_calls=51 total_ns=1000|name=b "
          "communication=true calls=900 short_calls=0 total_ns=1000"}},
        {"low_precision", ATTENTION("bits16_ns=49 bits32_ns=51 flash_ns=50")},
        {"fused_attention", ATTENTION("bits16_ns=50 bits32_ns=50 flash_ns=49")},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        char expected[TEXT];
        snprintf(expected, sizeof expected, "%s fail", cases[c].box);
        check_boxes(&cases[c].other, 1, expected);
    }
}

TEST(what_the_traces_do_not_tell_is_no_pass) {
    static const struct {
        given other[2];
        const char *expected;
    } cases[] = {
        /* Without step marks, utilization is that of the rank's window, because the recording may
         * have begun long before it: compute + exposed communication - waits, 730 + 100 - 30 or
         * 600 + 100 - 30 of 1,000 ns. */
        {{{"job.job", "ranks=4 steps=0"}, {"overview.job", "gpu_utilization_pct=3"}}, ""},
        {{{"job.job", "ranks=4 steps=0"},
          {"overlap.rank", "*window_ns=1000 compute_ns=600 comm_ns=200 exposed_comm_ns=100 "
                           "exposed_wait_ns=30 memory_ns=30"}},
         "gpu_utilization fail"},
        /* Work from before the recording runs into the first step of each rank. Three of five steps
         * are left: 100, 90 and 110. */
        {{{"overlap.step", "rank=0 step=1|rank=0 step=2|rank=1 step=2|rank=1 step=3"},
          {"imbalance.step", STEP(1, 300, 5) "|" STEP(2, 300, 5) "|" STEP(3, 90, 5) "|" STEP(
                                 4, 110, 5) "|" STEP(5, 100, 5)}},
         ""},
        {{{"overlap.step", "rank=0 step=1|rank=0 step=2"},
          {"imbalance.step", STEP(1, 300, 5) "|" STEP(2, 300, 5) "|" STEP(3, 90, 5)}},
         "step_variation unknown"},
        {{{"imbalance.step", STEP(1, 90, 5)}}, "step_variation unknown"},
        {{{"memory.device", "rank=0 device=cuda:0"}}, "memory unknown"},
        {{{"memory.job", ""}}, "memory_growth unknown"},
        {{{"input.rank", "rank=0 waits=0 load_ns=0 step_ns=1000"}}, "data_loading unknown"},
        {{{"transfers.kind", ""}}, "copies unknown"},
        {{{"launches.api", ""}}, "synchronisation unknown"},
        /* Only one rank has complete steps. */
        {{{"imbalance.step", "step=1 step_ns=90|step=2 step_ns=90|step=3 step_ns=90"}},
         "balance unknown"},
        {{{"stragglers.job", "verdict=inconclusive"}}, "stragglers unknown"},
        /* It is unknown how much of 101 exposed of 1,000 ns is waiting. 90 ns are below 10 %. */
        {{{"overlap.rank",
           "*window_ns=1000 comm_ns=200 exposed_comm_ns=101 exposed_unmatched_ns=101"}},
         "exposed_communication fail, waits unknown"},
        {{{"overlap.rank",
           "*window_ns=1000 comm_ns=200 exposed_comm_ns=90 exposed_unmatched_ns=90"}},
         ""},
        /* The GPU is used for 81 % of the step, or for 79 % if the unmatched 2 % are waiting. */
        {{{"overview.job", "gpu_utilization_pct=81"},
          {"overlap.step", "rank=0 step=1 window_ns=100 exposed_unmatched_ns=2"}},
         "gpu_utilization unknown"},
        {{{"overlap.rank", "*window_ns=1000 compute_ns=730 comm_ns=0"}},
         "exposed_communication unknown, waits unknown"},
        {{{"kernels.kernel", ""}}, "short_kernels unknown"},
        /* On a TPU, operations are launched together. */
        {{{"job.job", "ranks=4 steps=4 device_kind=TPU"}}, "short_kernels unknown"},
        /* Most of the attention time has no known number format. */
        {{ATTENTION("bits16_ns=0 bits32_ns=49 flash_ns=99")}, "low_precision unknown"},
        {{{"classes.work", ""}}, "low_precision unknown, fused_attention unknown"},
    };
    for (size_t c = 0; c < COUNT(cases); c++)
        check_boxes(cases[c].other, COUNT(cases[c].other), cases[c].expected);
}

TEST(a_box_that_fails_by_anothers_fault_says_so) {
    /* Waiting for data takes 300 of 1,000 ns. 56 % in use are 80 % of the rest; 55.9 are less. */
    static const char uneven[] =
        STEP(1, 100, 30) "|" STEP(2, 100, 0) "|" STEP(3, 100, 0) "|" STEP(4, 100, 0);
    static const char episode[] = STEP(1, 100, 0) "|" STEP(2, 100, 0) "|" STEP(4, 100, 0) "|" STEP(
        5, 160, 0) "|" STEP(6, 150, 0);
    static const char input[] = "rank=0 waits=4 load_ns=400 stall_ns=300 step_ns=1000";
    static const struct {
        given other[4];
        const char *expected;
    } cases[] = {
        /* 68 % of the time are exposed, but 60 % are waits. The 87.9 % in use include the waits. */
        {{{"overview.job", "gpu_utilization_pct=87.9"},
          {"overlap.rank", "*window_ns=1000 comm_ns=700 exposed_comm_ns=680 exposed_wait_ns=600"},
          {"overlap.step", "rank=0 step=1 window_ns=100 exposed_wait_ns=60"}},
         "gpu_utilization fail by another, exposed_communication fail by another, waits fail"},
        {{{"overlap.rank", "*window_ns=1000 comm_ns=700 exposed_comm_ns=202 exposed_wait_ns=101"}},
         "exposed_communication fail, waits fail"},
        {{{"overview.job", "gpu_utilization_pct=56"}, {"input.rank", input}},
         "gpu_utilization fail by another, data_loading fail"},
        {{{"overview.job", "gpu_utilization_pct=55.9"}, {"input.rank", input}},
         "gpu_utilization fail, data_loading fail"},
        /* Without the 30 ns by which one rank exceeds the mean in step 4, all steps take 100. */
        {{{"imbalance.step",
           STEP(1, 100, 0) "|" STEP(2, 100, 0) "|" STEP(3, 100, 0) "|" STEP(4, 130, 30)}},
         "step_variation fail by another, balance fail"},
        {{{"imbalance.step",
           STEP(1, 100, 0) "|" STEP(2, 100, 30) "|" STEP(3, 100, 0) "|" STEP(4, 130, 0)}},
         "step_variation fail, balance fail"},
        /* Steps 5 and 6 are long because of the rank that is late in them. */
        {{{"imbalance.step", episode},
          {"stragglers.finding", "rank=3 p=0.001 shape=episode unit=step from=5 to=6"}},
         "step_variation fail by another, stragglers fail"},
        {{{"imbalance.step", episode},
          {"stragglers.finding", "rank=3 p=0.001 shape=throughout unit=step from=1 to=6"}},
         "step_variation fail, stragglers fail"},
        /* Without rank 3, ranks compute 40, 40 and 44 ns: the maximum is 6.5 % over their mean. */
        {{{"imbalance.step", uneven},
          {"overlap.step", LOAD(0, 40) "|" LOAD(1, 40) "|" LOAD(2, 44) "|" LOAD(3, 80)},
          {"stragglers.finding", "rank=3 p=0.001"},
          {"stragglers.rank", "rank=0|rank=1|rank=2|rank=3 verdict=straggler"}},
         "balance fail by another, stragglers fail"},
        /* The late rank 0 computes less, so it does not explain why rank 1 computes more. */
        {{{"imbalance.step", uneven},
          {"overlap.step", LOAD(0, 40) "|" LOAD(1, 80)},
          {"stragglers.finding", "rank=0 p=0.001"},
          {"stragglers.rank", "rank=0 verdict=straggler|rank=1"}},
         "balance fail, stragglers fail"},
        {{{"imbalance.step", uneven}}, "balance fail"},
        /* Waits are 11 % of the time. In the first case, rank 3 causes 380 of 440 ns of waiting,
         * and 1.5 % are left. In the second case, it causes only 20 of 440, and 10.5 % are left. */
        {{{"overlap.rank", "*window_ns=1000 comm_ns=200 exposed_comm_ns=150 exposed_wait_ns=110"},
          {"stragglers.finding", "rank=3 p=0.001"},
          {"stragglers.rank", "rank=0 direct_ns=60|rank=3 direct_ns=300 indirect_ns=80 "
                              "verdict=straggler"}},
         "exposed_communication fail by another, waits fail by another, stragglers fail"},
        {{{"overlap.rank", "*window_ns=1000 comm_ns=200 exposed_comm_ns=150 exposed_wait_ns=110"},
          {"stragglers.finding", "rank=3 p=0.001"},
          {"stragglers.rank", "rank=0 direct_ns=420|rank=3 direct_ns=20 verdict=straggler"}},
         "exposed_communication fail by another, waits fail, stragglers fail"},
        /* In each step, a rank computes 10 of 100 ns over the mean: of 15 % waits, 5 % are left. */
        {{{"overlap.rank", "*window_ns=1000 comm_ns=200 exposed_comm_ns=200 exposed_wait_ns=150"},
          {"imbalance.step",
           STEP(1, 100, 10) "|" STEP(2, 100, 10) "|" STEP(3, 100, 10) "|" STEP(4, 100, 10)}},
         "exposed_communication fail by another, waits fail by another, balance fail"},
    };
    for (size_t c = 0; c < COUNT(cases); c++)
        check_boxes(cases[c].other, COUNT(cases[c].other), cases[c].expected);
}

RUN_TESTS()

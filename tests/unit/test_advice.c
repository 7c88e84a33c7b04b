/* The rules of `advice` on tables made by hand. Each of four ranks has 1,000 ns of GPU time, so 40
 * ns are 1 % of the job's. A cost is the mean over the ranks that lose time: a fourth of the sum,
 * or for one straggler a third, because only the three others lose time. */
#include "analysis/analyses.h"

#include <inttypes.h>

#include "rows_fixture.h"

enum { RANKS = 4 };

typedef struct advice_case {
    const char *overlap;  /* further cells of each rank's row of overlap.rank */
    const char *rows;     /* "table cells; table cells;" */
    const char *expected; /* "rule severity cost bound ranks", one item after another */
} advice_case;

/* Adds a row. If @p cells begins with "*", adds a row for each rank, with the rank's number. */
static void add_given(tm_tables *tables, const char *table, const char *cells) {
    if (cells[0] != '*') {
        add_row(tables, table, cells);
        return;
    }
    for (int rank = 0; rank < RANKS; rank++) {
        add_rowf(tables, table, "rank=%d %s", rank, cells + 1);
    }
}

/* Returns the tables of a case with the advice; the caller destroys them. */
static tm_tables advise(const advice_case *c) {
    tm_tables tables = open_tables();
    tm_error err;
    char overlap[256];
    char rows[2048];
    tm_job job = {.n_ranks = RANKS, .world_size = -1, .aligned = true};
    snprintf(overlap, sizeof overlap, "*window_ns=1000 compute_ns=900 %s", c->overlap);
    add_given(&tables, "overlap.rank", overlap);
    add_given(&tables, "job.rank", "*host=h");
    assert_in_range(snprintf(rows, sizeof rows, "%s", c->rows), 0, sizeof rows - 1);
    for (char *rest = rows, *row; (row = strtok_r(rest, ";", &rest)) != NULL;) {
        char *table = strtok_r(row, " ", &row);
        if (strcmp(table, "world") == 0)
            job.world_size = strtoll(row, NULL, 10);
        else
            add_given(&tables, table, row);
    }
    assert_int_equal(tm_analysis_advice.job(&job, &tables, &err), TM_OK);
    return tables;
}

static const char *text_at(const tm_table *table, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return cell->null ? "-" : cell->value.text;
}

static void check(const advice_case *cases, size_t n) {
    for (size_t c = 0; c < n; c++) {
        tm_tables tables = advise(&cases[c]);
        const tm_table *items = tm_tables_find(&tables, "advice.item");
        char found[512] = "";
        size_t used = 0;
        for (size_t i = 0; i < items->n_rows; i++) {
            const tm_cell *cost = tm_table_cell(items, i, "cost_ns");
            char number[24] = "-";
            if (!cost->null)
                snprintf(number, sizeof number, "%" PRId64, cost->value.i);
            used += (size_t)snprintf(found + used, sizeof found - used, "%s%s %s %s %s %s",
                                     i ? ", " : "", text_at(items, i, "rule"),
                                     text_at(items, i, "severity"), number,
                                     text_at(items, i, "bound"), text_at(items, i, "ranks"));
            assert_true(strlen(text_at(items, i, "text")) > 10);
            assert_true(strlen(text_at(items, i, "evidence")) > 0);
            char look[128];
            snprintf(look, sizeof look, "%s", text_at(items, i, "look_at"));
            for (char *rest = look, *name; (name = strtok_r(rest, ", ", &rest)) != NULL;)
                assert_non_null(tm_tables_find(&tables, name));
        }
        if (strcmp(found, cases[c].expected) != 0)
            fail_msg("case %zu: found \"%s\", expected \"%s\"", c, found, cases[c].expected);
        tm_tables_destroy(&tables);
    }
}

#define FOUND "stragglers.finding rank=1 shape=throughout caused_share=0.75;"
#define STRAGGLERS                                                                                 \
    "stragglers.rank rank=0 caused_share=0.25; stragglers.rank rank=1 caused_share=0.75 host=h "   \
    "relative_speed=1 verdict=straggler;"

/* Exposed communication of each rank in the only step. The straggler, rank 1, has the least. */
#define EXPOSED_BY_STEP                                                                            \
    "overlap.step rank=0 step=1 partial=false exposed_comm_ns=140; overlap.step rank=1 step=1 "    \
    "partial=false exposed_comm_ns=10; overlap.step rank=2 step=1 partial=false "                  \
    "exposed_comm_ns=160; overlap.step rank=3 step=1 partial=false exposed_comm_ns=170;"

TEST(a_job_without_trouble_gets_no_advice) {
    static const advice_case cases[] = {
        {"", "", ""},
        {"comm_ns=100 overlap_ns=70 exposed_comm_ns=30 exposed_wait_ns=5 exposed_transfer_ns=25",
         "overview.job steps=4 gpu_utilization_pct=95 tensor_core_pct=80; idle.rank *idle_ns=20 "
         "kernel_wait_ns=10; stragglers.job verdict=none; imbalance.step step=1 "
         "mean_compute_ns=900 imbalance_ns=2 step_ns=1000; memory.device rank=0 device=cuda:0 "
         "capacity_pct=40 growth_bytes=0; clock.check matched=100 violations_after=0; world 4;",
         ""},
    };
    check(cases, COUNT(cases));
}

TEST(a_straggler_swallows_the_communication_that_it_exposes) {
#define WAITING "comm_ns=180 overlap_ns=30 exposed_comm_ns=150 exposed_wait_ns=100"
    static const advice_case cases[] = {
        /* The ranks wait for 400 of 4 x 150 exposed ns. The straggler causes 3/4 of the waiting,
         * 300. These are half of the exposed time, so of the other 300 ns, only 4 times the least
         * exposed time, rank 1's 10 ns, count (least_exposed_ns): 1 %, too little for an item. */
        {WAITING,
         "stragglers.job verdict=persistent rank=1 evidence=E;" FOUND STRAGGLERS EXPOSED_BY_STEP,
         "straggler warning 100 upper 1"},
        /* No verdict: all 400 ns are waiting for late ranks, and not counted again as exposed. */
        {WAITING, "stragglers.job verdict=inconclusive evidence=E;" STRAGGLERS EXPOSED_BY_STEP,
         "late_ranks warning 100 upper all"},
        /* The straggler causes 3/4 of 80 ns: 60. Only these are subtracted from 1,400 exposed. */
        {"comm_ns=400 overlap_ns=50 exposed_comm_ns=350 exposed_wait_ns=20",
         "stragglers.job verdict=persistent rank=1 evidence=E;" FOUND STRAGGLERS EXPOSED_BY_STEP,
         "exposed_communication critical 335 upper all, straggler note 20 upper 1"},
        /* Ranks 2 and 3 of a host cause 90 % of 400 ns. Only the two other ranks wait: 180 each. */
        {WAITING,
         "stragglers.job verdict=persistent level=host host=b rank=2 evidence=E; "
         "stragglers.finding rank=2 ranks=2 level=host host=b shape=throughout caused_share=0.9; "
         "stragglers.rank rank=0 host=a; stragglers.rank rank=2 host=b verdict=straggler; "
         "stragglers.rank rank=3 host=b verdict=straggler;" EXPOSED_BY_STEP,
         "straggler warning 180 upper 2-3"},
        /* Two findings cause 3/4 and 1/8 of 400 ns. Only the two other ranks wait: 175 each. */
        {WAITING,
         "stragglers.job verdict=several level=rank rank=1 evidence=E;" FOUND
         "stragglers.finding finding=1 rank=3 shape=throughout caused_share=0.125;" STRAGGLERS
         "stragglers.rank rank=3 verdict=straggler;" EXPOSED_BY_STEP,
         "straggler warning 175 upper 1, 3"},
        /* The ranks wait for 300 ns, hidden behind computation. Three ranks wait for the straggler,
         * each for at most the 50 ns by which it is slower. */
        {"comm_ns=100 overlap_ns=100",
         "stragglers.job verdict=persistent rank=1 evidence=E; stragglers.finding rank=1 "
         "shape=throughout caused_share=1 excess_ns=50; stragglers.rank rank=0 wait_ns=300; "
         "stragglers.rank rank=1 verdict=straggler;",
         "straggler warning 50 upper 1"},
    /* The ranks wait for 4 x 300 ns. Rank 1 causes 0.4 of this: 480, lost by 3 ranks. Others cause
     * 720, lost by 4 ranks. Fixing rank 1 saves 20 ns. If the plan saves 20 ns, fixing other ranks
     * saves nothing; if it saves 50, fixing them saves 30 ns, 3 %. */
#define BOTH_LATE "comm_ns=300 overlap_ns=0 exposed_comm_ns=300 exposed_wait_ns=300"
#define ONE_NAMED                                                                                  \
    "stragglers.job verdict=persistent rank=1 evidence=E; stragglers.finding rank=1 "              \
    "shape=throughout caused_share=0.4;" STRAGGLERS "whatif.job sure=true fix_ns=20 fix_pct=2;"
        {BOTH_LATE, ONE_NAMED "whatif.item what=plan name=1 saved_ns=20 saved_pct=2;",
         "straggler warning 160 upper 1"},
        {BOTH_LATE, ONE_NAMED "whatif.item what=plan name=1,2 saved_ns=50 saved_pct=5;",
         "late_ranks warning 180 upper all, straggler warning 160 upper 1"},
        /* If no saving is known, the named rank comes first. */
        {BOTH_LATE,
         "stragglers.job verdict=persistent rank=1 evidence=E; stragglers.finding rank=1 "
         "shape=throughout caused_share=0.4;" STRAGGLERS,
         "straggler critical 160 upper 1, late_ranks warning 180 upper all"},
    /* Hidden waiting costs nothing, but is listed: by the headline, less host work saves 6 %. */
#define LED_BY_HOSTS                                                                               \
    "job.job ranks=4 steps=1; stragglers.rank rank=0 collectives=5; stragglers.job verdict=event " \
    "headline=Making~host~work~between~launches~as~short~as~on~the~median~rank~saves~6.0~%~of~a~"  \
    "step~(60~ns); whatif.job sure=true slowdown=1.1 step_ns=1000 unmatched_pct=0; whatif.item "   \
    "what=kind name=host ranks=4 saved_ns=60 saved_pct=6 sure=true;"
        {"", LED_BY_HOSTS, "late_ranks warning 0 upper all"},
        /* If the verdict is a bubble, receives count as waiting, and no other advice is given. */
        {"comm_ns=300 overlap_ns=0 exposed_comm_ns=300 exposed_wait_ns=100",
         "stragglers.job verdict=bubble evidence=E; overlap.kind *kind=recv exposed_comm_ns=200;",
         "late_ranks critical 300 upper all"},
        /* The straggler causes 3/4 of 52 ns: 39, which is below 1 %. */
        {"comm_ns=150 overlap_ns=120 exposed_comm_ns=30 exposed_wait_ns=13",
         "stragglers.job verdict=persistent rank=1 evidence=E;" FOUND STRAGGLERS, ""},
    };
    check(cases, COUNT(cases));
}

TEST(uneven_work_counts_as_far_as_others_wait_for_it) {
#define UNEVEN "comm_ns=90 overlap_ns=0 exposed_comm_ns=90 exposed_wait_ns=90"
    static const advice_case cases[] = {
        /* rank 2 computes 90 ns more than the mean of 900, 10 %; each of the four loses 90 */
        {UNEVEN,
         "imbalance.step step=1 mean_compute_ns=900 imbalance_ns=90 max_rank=2; imbalance.job "
         "max_rank=2;",
         "imbalance warning 90 upper 2"},
        /* each of three steps takes a third of the time; in steps 2 and 3 another rank computes
         * most, so no rank is named; the partial step 4 does not count */
        {UNEVEN,
         "imbalance.step step=1 mean_compute_ns=450 imbalance_ns=45 max_rank=2; imbalance.step "
         "step=2 mean_compute_ns=450 imbalance_ns=45 max_rank=1; imbalance.step step=3 "
         "mean_compute_ns=450 imbalance_ns=45 max_rank=1; imbalance.step step=4 mean_compute_ns=1 "
         "imbalance_ns=900 max_rank=3; overlap.step rank=0 step=4 partial=true exposed_comm_ns=0; "
         "imbalance.job max_rank=2;",
         "imbalance warning 90 upper all"},
        /* 89 of 900 ns is 9.9 %, too little for an item on imbalance */
        {UNEVEN, "imbalance.step step=1 mean_compute_ns=900 imbalance_ns=89 max_rank=2;",
         "late_ranks note 90 upper all"},
        /* 1,200 - 4 x 90 = 840 ns of waiting are no imbalance, but only fixing rank 2 saves time */
        {BOTH_LATE,
         "imbalance.step step=1 mean_compute_ns=900 imbalance_ns=90 max_rank=2; imbalance.job "
         "max_rank=2; whatif.job sure=true; whatif.item what=rank name=2 saved_ns=90 saved_pct=9; "
         "whatif.item what=plan name=2 ranks=1 saved_ns=90 saved_pct=9;",
         "imbalance warning 90 upper 2"},
        /* no rank waits */
        {"", "imbalance.step step=1 mean_compute_ns=900 imbalance_ns=90 max_rank=2;", ""},
        /* the straggler explains all 4 x 90 ns, so no imbalance is left */
        {UNEVEN,
         "stragglers.job verdict=persistent rank=2 evidence=E; stragglers.finding rank=2 "
         "shape=throughout caused_share=1; stragglers.rank rank=2 relative_speed=0.9 "
         "verdict=straggler; imbalance.step step=1 mean_compute_ns=900 imbalance_ns=90 max_rank=2;",
         "straggler warning 120 upper 2"},
        /* the straggler explains 144 of 4 x 90 ns; its longer computation is not a second cause */
        {UNEVEN,
         "stragglers.job verdict=persistent rank=2 evidence=E; stragglers.finding rank=2 "
         "shape=throughout caused_share=0.4; stragglers.rank rank=2 relative_speed=0.9 "
         "verdict=straggler; imbalance.step step=1 mean_compute_ns=900 imbalance_ns=90 max_rank=2; "
         "imbalance.job max_rank=2;",
         "straggler warning 48 upper 2, late_ranks note 54 upper all"},
        /* step 3 has 88 of the 90 ns of imbalance, caused by rank 3 */
        {UNEVEN,
         "imbalance.step step=1 mean_compute_ns=300 imbalance_ns=1 max_rank=0; imbalance.step "
         "step=2 mean_compute_ns=300 imbalance_ns=1 max_rank=1; imbalance.step step=3 "
         "mean_compute_ns=300 imbalance_ns=88 max_rank=3; imbalance.job max_rank=3;",
         "imbalance warning 90 upper 3"},
    };
    check(cases, COUNT(cases));
}

TEST(communication_counts_from_its_thresholds_on) {
    static const advice_case cases[] = {
        {"comm_ns=200 overlap_ns=50 exposed_comm_ns=150",
         "overlap.kind *kind=allreduce exposed_comm_ns=150;",
         "exposed_communication warning 150 upper all"},
        /* if unmatched_pct is at most 5, the critical path is known: faster communication off the
         * path saves nothing, and a saving of at most 0.9 % gives no item */
        {"comm_ns=200 overlap_ns=50 exposed_comm_ns=150",
         "whatif.job sure=true unmatched_pct=5; whatif.item what=limit name=transfer saved_ns=9 "
         "saved_pct=0.9;",
         ""},
        {"comm_ns=200 overlap_ns=50 exposed_comm_ns=150", "whatif.job sure=true unmatched_pct=5;",
         ""},
        {"comm_ns=200 overlap_ns=50 exposed_comm_ns=150", "whatif.job sure=true unmatched_pct=5.1;",
         "exposed_communication warning 150 upper all"},
        {"comm_ns=60 overlap_ns=10 exposed_comm_ns=50", "",
         "exposed_communication note 50 upper all"},
        {"comm_ns=60 overlap_ns=11 exposed_comm_ns=49", "", ""},
        {"comm_ns=300 overlap_ns=200 exposed_comm_ns=100", "",
         "communication warning 100 upper all"},
        {"comm_ns=300 overlap_ns=201 exposed_comm_ns=99", "", ""},
        /* in the sort, the 400 ns count half: they come after a wait of 210, before one of 190 */
        {"comm_ns=500 overlap_ns=100 exposed_comm_ns=400",
         "input.rank *step_ns=1000 stall_ns=210 waits=1;",
         "input critical 210 upper all, exposed_communication critical 400 upper all"},
        {"comm_ns=500 overlap_ns=100 exposed_comm_ns=400",
         "input.rank *step_ns=1000 stall_ns=190 waits=1;",
         "exposed_communication critical 400 upper all, input critical 190 upper all"},
    };
    check(cases, COUNT(cases));
}

TEST(an_idle_gpu_is_counted_once) {
    static const advice_case cases[] = {
        {"", "input.rank *step_ns=1000 stall_ns=50 waits=1;", "input warning 50 upper all"},
        {"", "input.rank *step_ns=1000 stall_ns=49 waits=1;", ""},
        {"", "overview.job gpu_utilization_pct=70; idle.rank *idle_ns=300;",
         "gpu_utilization warning 300 exact all"},
        /* A rank's GPUs idle for 100 ns at once and 250 in turn. Faster hosts do not count. */
        {"",
         "overview.job gpu_utilization_pct=65; idle.rank *idle_ns=100 host_work_ns=100 "
         "turns_ns=250; "
         "whatif.item what=limit name=host saved_ns=900 saved_pct=90;",
         "gpu_utilization warning 350 exact all"},
        /* 150 of 300 idle ns are waiting for input; the rest, 15 % of the time, is below 20 % */
        {"",
         "overview.job gpu_utilization_pct=70; idle.rank *idle_ns=300 input_ns=150; input.rank "
         "*step_ns=1000 stall_ns=150 waits=1;",
         "input critical 150 upper all"},
        /* half of the compute kernels are short, and gaps between kernels take 2 % */
        {"",
         "kernels.kernel name=k calls=100 short_calls=50 total_ns=9 communication=false; "
         "kernels.kernel name=c calls=900 short_calls=0 total_ns=9 communication=true; idle.rank "
         "*idle_ns=20 kernel_wait_ns=20;",
         "small_kernels note 20 upper all"},
        {"",
         "kernels.kernel name=k calls=100 short_calls=49 total_ns=9 communication=false; idle.rank "
         "*idle_ns=20 kernel_wait_ns=20;",
         ""},
        /* an upper bound of a saving does not raise the severity, and sorts after known savings */
        {"",
         "kernels.kernel name=k calls=100 short_calls=50 total_ns=9 communication=false; idle.rank "
         "*idle_ns=20 kernel_wait_ns=20; whatif.job sure=true; whatif.item what=limit name=launch "
         "saved_ns=830 saved_pct=83;",
         "small_kernels note 20 upper all"},
        {"exposed_comm_ns=400 exposed_wait_ns=400",
         "stragglers.job verdict=inconclusive; whatif.job sure=true; whatif.item what=plan name=1 "
         "saved_ns=50 saved_pct=5; whatif.item what=limit name=input saved_ns=90 saved_pct=9; "
         "input.rank *step_ns=1000 stall_ns=50 waits=1;",
         "late_ranks warning 400 upper all, input warning 50 upper all"},
        /* launching takes longer than running: each rank loses 20 + 100 ns */
        {"",
         "kernels.kernel name=k calls=100 short_calls=50 total_ns=9 communication=false; "
         "launches.rank *events=100 short_events=25 host_bound_events=50; idle.rank *idle_ns=120 "
         "kernel_wait_ns=20 host_work_ns=100;",
         "small_kernels warning 120 upper all"},
        /* 61 of the 120 ns are a single gap, which is not due to many kernels */
        {"",
         "kernels.kernel name=k calls=100 short_calls=50 total_ns=9 communication=false; "
         "launches.rank *events=100 short_events=25 host_bound_events=50; idle.rank *idle_ns=120 "
         "kernel_wait_ns=20 host_work_ns=100 longest_ns=61;",
         "small_kernels warning 59 upper all"},
    };
    check(cases, COUNT(cases));
}

TEST(copies_and_allocations_count_from_their_thresholds_on) {
#define COPY "rank=0 kind=htod count=1 bytes=9 total_ns=9 union_ns=50 host_memory="
    static const advice_case cases[] = {
        {"", "transfers.kind " COPY "pageable overlap_ns=10;", "pageable_copies note 10 upper all"},
        {"", "transfers.kind " COPY "pageable overlap_ns=11;", ""},
        /* 50 of 4,000 ns are 1.25 %, too few; 80 are 2 %. Pageable copies have their own rule. */
        {"", "transfers.kind " COPY "pinned overlap_ns=0;", ""},
        {"",
         "transfers.kind rank=0 kind=htod count=1 bytes=9 total_ns=9 union_ns=80 overlap_ns=0 "
         "host_memory=pinned; transfers.kind " COPY "pageable overlap_ns=11;",
         "exposed_copies note 20 upper all"},
        {"",
         "transfers.kind rank=0 kind=dtoh count=1 bytes=9 total_ns=9 union_ns=620 overlap_ns=20;",
         "exposed_copies critical 150 upper all"},
        /* two directions at once: copies run in 620 ns; 20 of these overlap computation */
        {"memory_ns=620",
         "transfers.kind rank=0 kind=dtoh count=1 bytes=9 total_ns=9 union_ns=620 overlap_ns=20; "
         "transfers.kind rank=0 kind=htod count=1 bytes=9 total_ns=9 union_ns=600 overlap_ns=0;",
         "exposed_copies critical 150 upper all"},
        /* copies within a GPU and between GPUs do not count */
        {"",
         "transfers.kind rank=0 kind=dtod count=1 bytes=9 total_ns=9 union_ns=320 overlap_ns=20 "
         "host_memory=device; transfers.kind rank=0 kind=ptop count=1 bytes=9 total_ns=9 "
         "union_ns=320 overlap_ns=20;",
         ""},
        /* 8 of 10 calls are in steps: they took 80 of 100 ns, 2 % of the GPU time */
        {"",
         "overview.job steps=8; transfers.allocation rank=0 call=cudaMalloc calls=10 step_calls=8 "
         "total_ns=100;",
         "device_allocation warning 20 upper all"},
        {"",
         "overview.job steps=8; transfers.allocation rank=0 call=cudaMalloc calls=10 step_calls=7 "
         "total_ns=100;",
         ""},
    };
    check(cases, COUNT(cases));
}

TEST(steps_and_phases_count_from_their_thresholds_on) {
#define CLASS "classes.work level=class "
    static const advice_case cases[] = {
        /* mean 120 ns, deviation sqrt((400 + 400 + 1600) / 3) = 28; each rank loses 160 - 120 */
        {"",
         "imbalance.step step=1 step_ns=100; imbalance.step step=2 step_ns=100; imbalance.step "
         "step=3 step_ns=160;",
         "step_variation warning 40 upper all"},
        {"", "imbalance.step step=1 step_ns=100; imbalance.step step=3 step_ns=160;", ""},
        /* Work from before the recording runs into the first step, 4, so this step is left out.
         * Three steps (100, 100, 160 ns) are left, or only two, which are too few. */
        {"",
         "overlap.step *step=4 partial=false; imbalance.step step=4 step_ns=300; imbalance.step "
         "step=5 step_ns=100; imbalance.step step=6 step_ns=100; imbalance.step step=7 "
         "step_ns=160;",
         "step_variation warning 40 upper all"},
        {"",
         "overlap.step *step=4 partial=false; imbalance.step step=4 step_ns=300; imbalance.step "
         "step=5 step_ns=100; imbalance.step step=6 step_ns=100;",
         ""},
        {"", "phases.step *step=1 step_ns=1000 optimizer_ns=149 gpu_optimizer_ns=1;", ""},
        {"", "phases.step *step=1 step_ns=1000 optimizer_ns=250 gpu_optimizer_ns=1;",
         "optimizer warning 100 upper all"},
        /* without GPU events of the optimizer, there is no item */
        {"", "phases.step *step=1 step_ns=1000 optimizer_ns=250 gpu_optimizer_ns=0;", ""},
        /* each rank waits on the host for 4,000 ns, but the job takes only 3,500 */
        {"", "input.rank *step_ns=5000 stall_ns=4000 waits=1; job.job duration_ns=3500;",
         "input critical 3500 upper all"},
        /* operators that could use tensor cores take 360 of 3,600 ns of computation */
        {"",
         "overview.job tensor_core_pct=0; calls.call level=operator name=aten::mm "
         "device_self_ns=360 "
         "tensor_cores_fit=true; calls.call level=operator name=aten::add device_self_ns=900 "
         "tensor_cores_fit=false;",
         "tensor_cores note - - all"},
        /* the summed time of concurrent kernels counts: 1,500 of 15,000 ns, or 1,499 */
        {"",
         "overview.job tensor_core_pct=0; kernels.kernel name=k calls=9 short_calls=0 "
         "total_ns=15000 communication=false; kernels.kernel name=c calls=9 short_calls=0 "
         "total_ns=90000 communication=true; calls.call level=operator name=aten::mm "
         "device_self_ns=1500 "
         "tensor_cores_fit=true;",
         "tensor_cores note - - all"},
        {"",
         "overview.job tensor_core_pct=0; kernels.kernel name=k calls=9 short_calls=0 "
         "total_ns=15000 communication=false; calls.call level=operator name=aten::mm "
         "device_self_ns=1499 "
         "tensor_cores_fit=true;",
         ""},
        {"",
         "overview.job tensor_core_pct=1; calls.call level=operator name=aten::mm "
         "device_self_ns=360 "
         "tensor_cores_fit=true;",
         ""},
        /* FP32 takes 360 of 3,600 ns, and other kernels use tensor cores. If no kernel uses them,
         * the rule above applies. */
        {"",
         "overview.job tensor_core_pct=1; " CLASS "bits32_ns=300 tf32_ns=0; " CLASS
         "bits32_ns=60 tf32_ns=0;",
         "precision note - - all"},
        /* TF32 counts half: FP32 and half of TF32 are (180 + 360 / 2) of 3,600 ns, 10 %; or (180 +
         * 359 / 2), less; or (900 + 360 / 2), 30 % */
        {"", "overview.job tensor_core_pct=1; " CLASS "bits32_ns=180 tf32_ns=360;",
         "precision note - - all"},
        {"", "overview.job tensor_core_pct=1; " CLASS "bits32_ns=180 tf32_ns=359;", ""},
        {"", "overview.job tensor_core_pct=1; " CLASS "bits32_ns=900 tf32_ns=360;",
         "precision warning - - all"},
        {"", "overview.job tensor_core_pct=0; " CLASS "bits32_ns=3600 tf32_ns=0;", ""},
        /* unfused attention takes 100 + 60 + 20 of 3,600 ns; with 19 in place of 20 it is below 5
         * %; without a softmax the attention is fused */
        {"",
         CLASS "class=matrix~multiply attention_ns=100; " CLASS
               "class=softmax attention_ns=60; " CLASS "class=copy attention_ns=900; " CLASS
               "class=elementwise attention_ns=20;",
         "attention note - - all"},
        {"",
         CLASS "class=matrix~multiply attention_ns=100; " CLASS
               "class=softmax attention_ns=60; " CLASS "class=elementwise attention_ns=19;",
         ""},
        {"",
         CLASS "class=matrix~multiply attention_ns=900; " CLASS
               "class=attention attention_ns=900 total_ns=900; " CLASS
               "class=softmax attention_ns=0;",
         ""},
    };
    check(cases, COUNT(cases));
}

TEST(memory_that_fills_is_reported_and_what_ends_the_job_comes_first) {
#define TRAINING "phases.step rank=0 step=1 host_optimizer_ns=1;"
#define GROWS "rank=1 device=cuda:1 capacity_bytes=101000000 end_bytes=1000000 growth_bytes=1000 "
#define STEP(n) "memory.step rank=1 device=cuda:1 step=" n ";"
    static const advice_case cases[] = {
        {"", "memory.device rank=2 device=cuda:2 capacity_pct=95;", "memory warning - - 2"},
        /* the memory is well used: below 95 %, and in training at least 50 % */
        {"",
         "memory.device rank=2 device=cuda:2 capacity_pct=94.9; transfers.allocation rank=2 "
         "call=cudaFree calls=9 step_calls=0 total_ns=0; transfers.allocation rank=1 call=cudaFree "
         "calls=9 step_calls=1 total_ns=0; overview.job steps=9;",
         ""},
        {"", "memory.device rank=2 device=cuda:2 capacity_pct=50;" TRAINING, ""},
        {"", "memory.device rank=2 device=cuda:2 capacity_pct=49.9;" TRAINING,
         "memory_room note - - all"},
        {"", "memory.device rank=2 device=cuda:2 capacity_pct=49.9;", ""},
        {"",
         "memory.device rank=1 device=cuda:1 capacity_pct=10; memory.device rank=2 device=cuda:2 "
         "capacity_pct=50;" TRAINING,
         ""},
        /* the allocator frees memory in steps; the peak is 85 % of the capacity, or just below */
        {"",
         "memory.device rank=2 device=cuda:2 capacity_pct=85; transfers.allocation rank=2 "
         "call=cudaFree calls=9 step_calls=1 total_ns=0; overview.job steps=9;",
         "memory warning - - 2"},
        {"",
         "memory.device rank=2 device=cuda:2 capacity_pct=84.9; transfers.allocation rank=2 "
         "call=cudaFree calls=9 step_calls=1 total_ns=0; overview.job steps=9;",
         ""},
        {"",
         "memory.device *device=cuda:0 capacity_pct=98; input.rank *step_ns=1000 stall_ns=100 "
         "waits=1;",
         "memory critical - - all, input critical 100 upper all"},
        /* 1 MB is added in 1,000 steps; 100 MB are free */
        {"", "memory.device " GROWS "growing_steps=3;" STEP("1") STEP("2") STEP("3") STEP("4"),
         "memory_growth warning - - 1"},
        /* here one step freed memory, or there are too few steps */
        {"",
         "memory.device " GROWS "growing_steps=3;" STEP("1") STEP("2") STEP("3") STEP("4")
             STEP("5"),
         ""},
    /* Step 2 peaks at 13 B, the others at 10 or less. This counts on a device, not on the host. */
#define PEAK(device, n, peak) "memory.step rank=1 device=" device " step=" n " peak_bytes=" peak ";"
        {"",
         "memory.device rank=1 device=cuda:1 peak_bytes=13 spike_step=2;" PEAK("cuda:1", "1", "10")
             PEAK("cuda:1", "2", "13") PEAK("cuda:1", "3", "9"),
         "memory_spike note - - 1"},
        {"",
         "memory.device rank=1 device=cpu peak_bytes=13 spike_step=2;" PEAK("cpu", "1", "10")
             PEAK("cpu", "2", "13") PEAK("cpu", "3", "9"),
         ""},
#undef PEAK
        {"", "memory.device " GROWS "growing_steps=2;" STEP("1") STEP("2") STEP("3"), ""},
    };
    check(cases, COUNT(cases));
}

TEST(poor_clocks_and_missing_ranks_are_reported) {
    static const advice_case cases[] = {
        {"", "clock.check matched=100 violations_after=1 worst_after_ns=10000;",
         "clock_quality warning - - all"},
        {"", "clock.check matched=100 violations_after=1 worst_after_ns=9999;", ""},
        {"", "clock.rank rank=0 domain=0 set_ns=-7;", "clock_quality warning - - all"},
        /* the joint uncertainty of two clocks is 2 sqrt(2) 100 ns = 282.8 ns */
        {"",
         "clock.rank rank=0 domain=1 uncertainty_ns=100; collectives.kind kind=allreduce "
         "median_skew_ns=282;",
         "clock_quality warning - - all"},
        {"",
         "clock.rank rank=0 domain=1 uncertainty_ns=100; collectives.kind kind=allreduce "
         "median_skew_ns=283;",
         ""},
        {"", "world 8;", "missing_ranks warning - - 4-7"},
        {"", "input.rank *step_ns=1000 stall_ns=50 waits=1; world 5;",
         "input warning 50 upper all, missing_ranks warning - - 4"},
    };
    check(cases, COUNT(cases));
}

/* Each of the four ranks has 1,000 ns of steps, so 10 ns are 1 %. */
TEST(jobs_of_xla_are_held_against_the_bounds_of_xprof) {
#define XSPACE "job.format format=xplane; job.job steps=10;"
#define STEPS(parts) "pod.rank *host=h step_ns=1000 " parts ";"
#define SPENT(parts, expected)                                                                     \
    { "", XSPACE STEPS(parts), expected }
    static const advice_case cases[] = {
        SPENT("launch_ns=29", ""),
        SPENT("launch_ns=30", "kernel_launch warning 30 upper all"),
        SPENT("launch_ns=150", "kernel_launch critical 150 upper all"),
        SPENT("output_ns=49", ""),
        SPENT("output_ns=50", "output warning 50 upper all"),
        SPENT("output_ns=200", "output critical 200 upper all"),
        SPENT("device_to_device_ns=29", ""),
        SPENT("device_to_device_ns=30", "device_to_device warning 30 upper all"),
        SPENT("device_to_device_ns=150", "device_to_device critical 150 upper all"),
        SPENT("collectives_ns=29", ""),
        SPENT("collectives_ns=30", "collectives warning 30 upper all"),
        SPENT("collectives_ns=150", "collectives critical 150 upper all"),
        SPENT("shuffle_ns=299", ""),
        SPENT("shuffle_ns=300", "data_shuffle warning 300 upper all"),
        SPENT("sparse_core_ns=99", ""),
        SPENT("sparse_core_ns=100", "sparse_core warning 100 upper all"),
        SPENT("other_ns=29", ""),
        SPENT("other_ns=30", "other_time warning 30 upper all"),
        SPENT("other_ns=150", "other_time critical 150 upper all"),
    /* Rank 1 idles for 900 ns, which its own item explains. The others idle for 29 or 30 of 1,000.
     * Of 4 x 300 ns of waiting, rank 1 causes 900, lost by 3 ranks; others cause 300, lost by 4. */
#define LATE_ONLY "straggler critical 300 upper 1, late_ranks note 75 upper all"
#define ONE_IDLES(one, others, expected)                                                           \
    {"exposed_wait_ns=300",                                                                        \
     XSPACE "pod.rank rank=0 host=h step_ns=1000 " others                                          \
            ";pod.rank rank=1 host=h step_ns=1000 " one                                            \
            "; pod.rank rank=2 host=h step_ns=1000 " others                                        \
            "; pod.rank rank=3 host=h step_ns=1000 " others                                        \
            "; stragglers.job verdict=persistent rank=1 evidence=E;" FOUND STRAGGLERS,             \
     expected}
        ONE_IDLES("other_ns=900", "other_ns=29", LATE_ONLY),
        ONE_IDLES("other_ns=900", "other_ns=30",
                  "straggler critical 300 upper 1, other_time warning 30 upper 0, 2-3, late_ranks "
                  "note 75 upper all"),
        ONE_IDLES("input_wait_ns=900", "input_wait_ns=49", LATE_ONLY),
        SPENT("infeed_ns=40 input_wait_ns=9", ""),
        SPENT("infeed_ns=40 input_wait_ns=10", "input warning 50 upper all"),
        SPENT("infeed_ns=100 input_wait_ns=100", "input critical 200 upper all"),
    /* The stages of the input pipeline count if input takes over a tenth of the steps. */
#define STAGES(input, own, enqueue, expected)                                                      \
    {"",                                                                                           \
     XSPACE STEPS("input_ns=" input) "pipeline.host host=h self_ns=100 preprocessing_ns=" own      \
                                     " enqueue_ns=" enqueue ";",                                   \
     expected}
        STAGES("101", "71", "29", "input_host note - - all"),
        STAGES("101", "50", "50", "input_host note - - all, input_transfer note - - all"),
        STAGES("101", "49", "51", "input_transfer note - - all"),
        STAGES("101", "70", "30", "input_host note - - all, input_transfer note - - all"),
        STAGES("100", "50", "50", ""),
#undef STAGES
    /* TPUs have their own thresholds for collectives. job.job has the kind of device. */
#define ON_TPU(parts, expected)                                                                    \
    {"", "job.format format=xplane; job.job steps=10 device_kind=TPU;" STEPS(parts), expected}
        ON_TPU("collectives_ns=59", ""),
        ON_TPU("collectives_ns=60", "collectives warning 60 upper all"),
        ON_TPU("collectives_ns=300", "collectives critical 300 upper all"),
#undef ON_TPU
        /* Barriers are part of collectives. If they take a tenth of the steps, they get their own
         * item, and only the other 20 ns count as collectives, too few for an item. */
        SPENT("collectives_ns=120 barrier_ns=100", "barrier warning 100 upper all"),
        SPENT("collectives_ns=120 barrier_ns=99", "collectives warning 120 upper all"),
        /* 60 of the 120 ns of collectives are waits, which late_ranks reports; 60 are left. */
        {"exposed_wait_ns=60", XSPACE STEPS("collectives_ns=120") "stragglers.job verdict=none;",
         "collectives warning 60 upper all, late_ranks note 60 upper all"},
        SPENT("compute_16_ns=10 compute_32_ns=90", ""),
        SPENT("compute_16_ns=9 compute_32_ns=91", "compute_16_bit note - - all"),
        SPENT("compute_16_ns=9 compute_32_ns=91 compute_untyped_ns=101", ""),
        /* copy-done takes 40 of 400 ns, a tenth; or 39, less */
        {"",
         XSPACE "hlo.work level=category category=copy-done self_ns=40; hlo.work level=category "
                "category=fusion self_ns=360;",
         "asynchronous warning 10 upper all"},
        {"",
         XSPACE "hlo.work level=category category=copy-done self_ns=39; hlo.work level=category "
                "category=fusion self_ns=361;",
         ""},
        /* These rules apply only to XSpace. There, the usual rule on communication does not. */
        {"", "job.job steps=10;" STEPS("launch_ns=900 output_ns=900 other_ns=900"), ""},
        {"comm_ns=400 overlap_ns=0 exposed_comm_ns=400", XSPACE, ""},
        /* Without steps, time without work is not counted as other time. */
        {"", "job.format format=xplane;" STEPS("other_ns=900"), ""},
    };
    check(cases, COUNT(cases));
}

/* Advice mentions training if there is a backward pass or an optimizer, and PyTorch if there are
 * operators or kernels of PyTorch. Otherwise it fits any program. */
TEST(advice_speaks_of_what_the_traces_hold) {
#define SMALLER "kind=allreduce group=g size_class_bytes=1048576 bytes=1500000 "
#define LARGER                                                                                     \
    "kind=allreduce group=g size_class_bytes=33554432 bytes=64000000 median_transfer_ns=10"
#define HIDES_BADLY "comm_ns=200 overlap_ns=50 exposed_comm_ns=150"
#define SMALL(name) "name=" name " calls=9 short_calls=9 total_ns=9 communication=false"
#define OF_XLA "job.format format=xplane;"
#define COPIES                                                                                     \
    "transfers.kind rank=0 kind=htod count=1 bytes=9 total_ns=9 union_ns=90 overlap_ns=0 "         \
    "host_memory=pageable;"
    static const struct {
        const char *overlap, *rows, *has, *lacks;
    } cases[] = {
        {HIDES_BADLY, "phases.step rank=0 step=1 host_backward_ns=1;", "smaller buckets", "halves"},
        {HIDES_BADLY, "kernels.kernel " SMALL("flash_bwd_dq") ";", "smaller buckets", "halves"},
        /* Of 150 exposed ns, 120 (80 %) or 60 (40 %) are unmatched, so they may be waiting. The
         * text says so only from 50 % on. */
        {HIDES_BADLY " exposed_unmatched_ns=120", "", " 80 % of this time is in", "buckets"},
        {HIDES_BADLY " exposed_unmatched_ns=120 exposed_least_wait_ns=60", "",
         "ranks, but at least 60 ns a rank is waiting for ranks whose traces were read.",
         "buckets"},
        {HIDES_BADLY " exposed_unmatched_ns=60", "", "two halves of a batch", "of this time"},
        {HIDES_BADLY, "kernels.kernel " SMALL("flash_fwd") ";", "two halves of a batch", "buckets"},
        /* kernels over lists of tensors: only an optimizer's functor shows that it is training */
        {HIDES_BADLY,
         "kernels.kernel " SMALL("multi_tensor_apply_kernel<FusedSgdMathFunctor<4>>") ";",
         "smaller buckets", "halves"},
        {HIDES_BADLY,
         "kernels.kernel " SMALL("multi_tensor_apply_kernel<BinaryOpScalarFunctor>") ";",
         "two halves of a batch", "buckets"},
        {"",
         "steps.kind kind=DECODE phase=decode; kernels.kernel " SMALL(
             "k") "; idle.rank *idle_ns=200 kernel_wait_ns=200;",
         "graphs for all batch sizes", "optimizers"},
        {"",
         COPIES "steps.kind kind=c phase=capture; kernels.kernel " SMALL(
             "k") "; idle.rank *idle_ns=200 kernel_wait_ns=200;",
         "cudaMallocHost", "graphs"},
        {"exposed_wait_ns=400",
         "stragglers.job verdict=event; stragglers.rank rank=2 caused_share=0.5; stragglers.rank "
         "rank=3 caused_share=0.4;",
         "operations with the most", "rank 3 is"},
        {"exposed_wait_ns=400",
         "stragglers.job verdict=none; stragglers.rank rank=2 caused_share=0.5;",
         "40.0 % of the GPU time (400 ns a rank) is exposed waiting for late ranks; rank 2 "
         "caused most, 50 % of all waiting.",
         "named"},
    /* @p kept_ns is GPU time without computation, of 4,000 ns. With 3 stages and 16 / (2 senders x
     * 2 steps) = 4 passes, a schedule explains up to (4,000 - kept) x (3 - 1) / 4: all of 1,000 ns
     * (1,500), or 800 of 2,400. Twice as many micro-batches save half of 1,000 or 800: 12.5 or 10 %
     * of 4,000. */
#define BUBBLE(kept_ns)                                                                            \
    "stragglers.job verdict=bubble; job.job steps=2; whatif.job step_ns=480; stragglers.pipeline " \
    "stages=3 transfers=16 senders=2 kept_ns=" kept_ns ";"
        {"exposed_wait_ns=400", BUBBLE("1000"),
         "Saves at most 12.5 % of a step (60 ns), with twice as many micro-batches.", "now and"},
        {"exposed_wait_ns=400", BUBBLE("2400"),
         "Saves at most 10.0 % of a step (48 ns), with twice as many micro-batches.", "now and"},
        {"exposed_wait_ns=400", "stragglers.job verdict=bubble;",
         "it is also unknown how much a larger number of micro-batches would save.", "now and"},
    /* Only the gaps of rank 1, which is to be fixed, count; "collect" has 60 of their 110 ns. All
     * hosts together save 6 %, and are named unless rank 1 saves nine tenths of that: 5.4 %. */
#define RANK_1_SAVES(saved_pct)                                                                    \
    LED_BY_HOSTS "whatif.item what=rank name=0 ranks=1; whatif.item what=rank name=1 ranks=1; "    \
                 "whatif.item what=plan name=1 ranks=1 saved_ns=50 saved_pct=" saved_pct           \
                 "; idle.gap rank=1 duration_ns=110 cause=host_work host=collect host_ns=60; "     \
                 "idle.gap rank=0 duration_ns=900 cause=host_work host=read host_ns=900;"
        {"", RANK_1_SAVES("5.5"),
         "what the host of rank 1 does between launches, in the longest gaps mostly in "
         "\"collect\" (tmerge",
         "read"},
        {"", RANK_1_SAVES("5.3"),
         "what the hosts do between launches, first the host of rank 1, in the longest gaps mostly "
         "in \"collect\" (tmerge",
         "read"},
        {"", COPIES, "cudaMallocHost", "DataLoader"},
        /* for XLA, which decides about copies itself, the text does not mention PyTorch or CUDA */
        {"", COPIES OF_XLA, "in few large pieces", "cudaMallocHost"},
        {"", COPIES "job.format format=trace_viewer;", "in few large pieces", "cudaMallocHost"},
        {"", COPIES OF_XLA "job.format format=kineto;", "cudaMallocHost", "large pieces"},
        {"",
         OF_XLA "transfers.kind rank=0 kind=htod count=1 bytes=9 total_ns=9 union_ns=90 "
                "overlap_ns=0 host_memory=pinned;",
         "prefetch the next batch", "stream"},
        {"", OF_XLA "kernels.kernel " SMALL("k") "; idle.rank *idle_ns=200 kernel_wait_ns=200;",
         "jit_compile", "fused operators"},
        {"",
         OF_XLA "pod.rank *host=h step_ns=1000 input_wait_ns=90; pipeline.host host=h self_ns=9 "
                "slowest_pct=99 slowest_stage=Input::Map;",
         "more workers", "tf.data"},
        {"", COPIES "kernels.kernel " SMALL("at::native::k") ";", ".to(device", "DataLoader"},
        {"",
         COPIES "kernels.kernel " SMALL(
             "at::native::k") "; input.rank rank=0 waits=1 step_ns=1000 stall_ns=0;",
         "DataLoader(pin_memory=True)", "cudaMallocHost"},
        {"", "kernels.kernel " SMALL("k") "; idle.rank *idle_ns=200 kernel_wait_ns=200;",
         "CUDA or HIP graphs", "torch"},
        /* In an episode, only its steps show whether the GPU is slow. If there are two findings,
         * both are named. The host is not named if nothing points to it. */
        {"exposed_wait_ns=400",
         "stragglers.job verdict=episode rank=1 evidence=E; stragglers.finding rank=1 "
         "shape=episode unit=step from=2 to=3 caused_share=1; overlap.step rank=0 step=2 "
         "window_ns=9 compute_ns=5; overlap.step rank=1 step=2 window_ns=9 compute_ns=9;",
         "Look at the GPU of rank 1 in steps 2 to 3: ", "the host"},
    /* Rank 1 idles for 70 ns more than rank 0. It waits for batches for 35 or 34 ns more than rank
     * 0: half of the 70 or less. */
#define LATE_IN_STEP(of_0, of_1)                                                                   \
    "stragglers.job verdict=episode rank=1 evidence=E; stragglers.finding rank=1 shape=episode "   \
    "unit=step from=2 to=2 caused_share=1; overlap.step rank=0 step=2 window_ns=99 compute_ns=20 " \
    "idle_ns=10; overlap.step rank=1 step=2 window_ns=99 compute_ns=20 idle_ns=80; input.step "    \
    "rank=0 step=2 step_ns=99 stall_ns=" of_0                                                      \
    "; input.step rank=1 step=2 step_ns=99 stall_ns=" of_1 ";"
        {"exposed_wait_ns=400", LATE_IN_STEP("0", "35"),
         "Look at the data loading of rank 1 in step 2: ", "the host"},
        {"exposed_wait_ns=400", LATE_IN_STEP("1", "35"),
         "Look at the host of rank 1 in step 2: ", "loading"},
        {"exposed_wait_ns=400",
         "stragglers.job verdict=several rank=1 evidence=E; stragglers.finding rank=1 "
         "shape=throughout caused_share=0.5; stragglers.finding finding=1 rank=2 level=host host=b "
         "shape=throughout; stragglers.rank rank=1 relative_speed=0.9;",
         "Look at the GPU of rank 1 and what the ranks of b share.", "too late"},
        {"exposed_wait_ns=400",
         "stragglers.job verdict=persistent rank=1 evidence=E; stragglers.finding rank=1 "
         "shape=throughout caused_share=1; stragglers.rank rank=1 relative_speed=0.99;",
         "Look at rank 1: the traces do not show", "too late"},
        {"", "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900 sync_ns=900;",
         "blocking copies", ".item()"},
        /* The text says where short kernels and communication are launched: 6 of 8 short kernels,
         * and all communication. PyTorch's record_param_comms and NCCL's calls do not count
         * as places, and kernels of 200 us are not short. */
        {"",
         "kernels.kernel " SMALL(
             "k") "; idle.rank *idle_ns=200 kernel_wait_ns=200; "
                  "kernels.launched level=kernel kernel=k operator=add inside=f calls=6 "
                  "mean_ns=9; kernels.launched level=kernel kernel=k operator=mul calls=2 "
                  "mean_ns=9; kernels.launched level=kernel kernel=k operator=big calls=70 "
                  "mean_ns=200000;",
         "larger batch. 75 % of the short ones are launched by \"add\" in \"f\". ", "big"},
        {HIDES_BADLY,
         "kernels.kernel name=k communication=true calls=2 total_ns=9; kernels.launched "
         "level=kernel kernel=k "
         "operator=record_param_comms inside=forward total_ns=9;",
         "of a batch. 100 % of communication is launched in \"forward\". ", "record_param"},
        {HIDES_BADLY,
         "kernels.kernel name=k communication=true calls=2 total_ns=9; kernels.launched "
         "level=kernel kernel=k "
         "operator=record_param_comms total_ns=9; kernels.launched level=kernel kernel=k "
         "inside=ncclGroupEnd total_ns=9;",
         "of a batch. 15.0 %", "launched"},
        /* FP32 takes 360 of 3,600 ns. It counts double: more than 716 ns of TF32, less than 724. */
        {"", "overview.job tensor_core_pct=1; classes.work level=class bits32_ns=360 tf32_ns=716;",
         " in FP32 take 10 % of the compute time (90 ns a rank); those in TF32 take 20 % (179 ns a "
         "rank).",
         "twice the rate of TF32"},
        {"", "overview.job tensor_core_pct=1; classes.work level=class bits32_ns=360 tf32_ns=724;",
         "twice the rate of TF32. Kernels that, by their names, multiply in TF32 take 20 % ",
         "or in TF32"},
        {"",
         "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900 sync_ns=900; sync.call "
         "call=cudaStreamSynchronize inside=step lost_ns=5 calls_per_step=24;",
         "queue. Most of it is in \"cudaStreamSynchronize\" in \"step\", 24 calls a step. Kernels",
         " of \""},
        /* the host is in "forward" for 60 of 100 ns of the longest gaps; 40 are too few */
        {"",
         "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900 host_work_ns=900; idle.gap "
         "rank=0 duration_ns=100 cause=host_work host=forward host_ns=60; idle.gap rank=0 "
         "duration_ns=900 cause=other host=item host_ns=900;",
         "more work in each launch. During most of the longest gaps the host is in \"forward\".",
         "recorded"},
        {"",
         "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900 host_work_ns=900 "
         "longest_ns=451;",
         "in the longest gap", "ahead of the GPU"},
        {"",
         "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900 host_work_ns=900 "
         "longest_ns=450;",
         "ahead of the GPU", "longest gap"},
        {"",
         "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900 host_work_ns=900; idle.gap "
         "rank=0 duration_ns=100 cause=host_work host=forward host_ns=40 unrecorded_ns=60;",
         "During most of the longest gaps the host is in no recorded call.", "forward"},
        /* if calls were not recorded, the text does not say that the host was fast */
        {"",
         "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900 other_ns=900; launches.rank "
         "*unlinked=9 events=8;",
         "Also record what the host does", "in time"},
        {"",
         "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900 other_ns=900; launches.rank "
         "*unlinked=9 events=9; idle.gap rank=0 duration_ns=90 cause=other before=k host=sync "
         "host_ns=80; sync.call call=sync;",
         "The longest gap ends with \"k\". Meanwhile the host is in \"sync\", which only waits for",
         "Record"},
        {"",
         "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900 other_ns=900 queued_ns=451;",
         "memory. The host launched them in time. ", "Record"},
        {"",
         "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900 other_ns=900 queued_ns=450;",
         "the host's memory. Kernels", "launched them"},
        {"",
         "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900 sync_ns=900; launches.rank "
         "*unlinked=9 launches=0;",
         "blocking copies", "Record"},
        /* without marked steps the text does not mention steps */
        {"", "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900;",
         "Kernels run for 10 % of the recording. ", "steps"},
        {"", "overview.job gpu_utilization_pct=10; idle.rank *idle_ns=900; job.job steps=3;",
         "Kernels run for 10 % of the steps. ", "recording"},
        /* the text leaves out facts that are unknown */
        {"exposed_comm_ns=400 exposed_wait_ns=400", "stragglers.job verdict=inconclusive;",
         "Find what delays ranks,", "rank 0"},
        {"",
         "transfers.kind rank=0 kind=htod count=1 bytes=0 total_ns=9 union_ns=90 overlap_ns=0 "
         "host_memory=pinned;",
         "1 copy between", "MB"},
        /* without 60 ns of waits, 100 of 340 ns of communication are hidden: 29 % */
        {"comm_ns=400 overlap_ns=100 exposed_comm_ns=300 exposed_wait_ns=60",
         "stragglers.job verdict=inconclusive; overlap.kind *kind=allreduce exposed_comm_ns=300;",
         "Without these waits, 29 % of communication is hidden. The largest part of the exposed "
         "time is AllReduce (300 ns a "
         "rank, with waiting).",
         "rank)."},
        /* only 20 of 30 ns of computation are left to hide 390 ns of communication */
        {"compute_ns=30 comm_ns=400 overlap_ns=10 exposed_comm_ns=390",
         "overlap.kind *kind=allreduce exposed_comm_ns=390;", "Communicate less or faster",
         "Start communication"},
        {HIDES_BADLY, "overlap.kind *kind=other exposed_comm_ns=150;",
         "The largest part of the exposed time is communication of unknown kind", "is other"},
        {HIDES_BADLY, "overlap.kind *kind=recv exposed_comm_ns=150;", "micro-batches, interleaved",
         "Start communication"},
        /* 4 x 100 of the 4 x 250 exposed ns are waiting for late ranks, all in AllReduce. So 4 x 30
         * ns of AllReduce and 4 x 120 ns of receives are left. */
        {"comm_ns=300 overlap_ns=50 exposed_comm_ns=250 exposed_wait_ns=100",
         "stragglers.job verdict=inconclusive; overlap.kind *kind=allreduce exposed_comm_ns=130; "
         "overlap.kind *kind=recv exposed_comm_ns=120;",
         "The largest part of the remaining exposed time is Receive (120 ns a rank).",
         "Start communication"},
        {"comm_ns=300 overlap_ns=50 exposed_comm_ns=250 exposed_wait_ns=10",
         "stragglers.job verdict=inconclusive; overlap.kind *kind=allreduce exposed_comm_ns=190; "
         "overlap.kind *kind=recv exposed_comm_ns=60;",
         ". The largest part of the exposed time is AllReduce (190 ns a rank)", "micro-batches"},
        /* 120 of 150 exposed ns are unmatched */
        {HIDES_BADLY " exposed_unmatched_ns=120",
         "overlap.kind *kind=recv exposed_comm_ns=150; bubble.pair from_rank=0 to_rank=1 "
         "late_sender_ns=90; bubble.pair from_rank=1 to_rank=2 late_sender_ns=250;",
         " 80 % of this time is in operations that are not split into waiting and transfer. In "
         "these operations, receivers of all ranks waited 340 ns for their senders, hidden or not "
         "(tmerge show bubble). The traces do not show how much of the rest is waiting.",
         "hold no rank up"},
        /* 75 of 150 exposed ns are unmatched, in a job of 8 ranks */
        {HIDES_BADLY " exposed_unmatched_ns=75", "world 8;",
         "Add the traces of the missing ranks first, because most of this time may be waiting for "
         "them. Otherwise start communication earlier",
         "Start"},
        {HIDES_BADLY " exposed_unmatched_ns=74", "world 8;", "Start communication", "missing"},
        {"comm_ns=300 overlap_ns=200 exposed_comm_ns=100 exposed_unmatched_ns=100", "world 8;",
         "Otherwise communicate less", "Communicate"},
        {HIDES_BADLY " exposed_unmatched_ns=120", "overlap.kind *kind=recv exposed_comm_ns=150;",
         " 80 % of this time is in communication that was not matched on all ranks, or of a kind "
         "that a rank can leave before others arrive (such as a broadcast): the traces do not show",

         "bubble.pair"},
        {UNEVEN,
         "imbalance.step step=1 mean_compute_ns=300 imbalance_ns=1 max_rank=0; imbalance.step "
         "step=2 mean_compute_ns=300 imbalance_ns=1 max_rank=1; imbalance.step step=3 "
         "mean_compute_ns=300 imbalance_ns=88 max_rank=3;",
         "Look at what rank 3 computes in step 3: no other step is as uneven. In step 3 rank 3 "
         "computes "
         "88 ns "
         "more than the mean: 98 % of the imbalance of all 3 steps.",
         "Balance"},
        /* if a rank computes most in two of three steps, the text does not blame one step */
        {UNEVEN,
         "imbalance.step step=1 mean_compute_ns=300 imbalance_ns=1 max_rank=0; imbalance.step "
         "step=2 mean_compute_ns=300 imbalance_ns=1 max_rank=3; imbalance.step step=3 "
         "mean_compute_ns=300 imbalance_ns=88 max_rank=3; imbalance.job max_rank=3;",
         "rank 3", "no other step is as uneven"},
        /* rank 2 computes most, but there are few steps; in the second case its GPU is slow */
        {UNEVEN,
         "imbalance.step step=1 mean_compute_ns=900 imbalance_ns=90 max_rank=2; imbalance.job "
         "max_rank=2;",
         "may be chance. Rank 2 computes 90 ns (10 %) more than the mean.", "Give rank"},
        {UNEVEN,
         "imbalance.step step=1 mean_compute_ns=900 imbalance_ns=90 max_rank=2; imbalance.job "
         "max_rank=2; stragglers.rank rank=2 relative_speed=0.94; whatif.job sure=true; "
         "whatif.item "
         "what=rank name=2 saved_ns=50 saved_pct=5;",
         "the GPU of rank 2", "at most"},
        /* The saving in the text is that of fixing only this rank if it is at least 1 %. Work can
         * only move, so it is a bound; above, the GPU may be slow. */
        {UNEVEN,
         "imbalance.step step=1 mean_compute_ns=900 imbalance_ns=90 max_rank=2; imbalance.job "
         "max_rank=2; whatif.job sure=true; whatif.item what=kind name=compute saved_ns=40 "
         "saved_pct=4; whatif.item what=rank name=2 saved_ns=50 saved_pct=5;",
         "Saves at most 5.0 % of ", "Balance"},
        {UNEVEN,
         "imbalance.step step=1 mean_compute_ns=900 imbalance_ns=90 max_rank=2; imbalance.job "
         "max_rank=2; whatif.job sure=true; whatif.item what=kind name=compute saved_ns=40 "
         "saved_pct=4; whatif.item what=rank name=2 saved_ns=9 saved_pct=0.9;",
         "Saves at most 4.0 % of ", "Check whether"},
        /* here the plan fixes a whole pipeline stage, ranks 2 and 3 */
        {UNEVEN,
         "imbalance.step step=1 mean_compute_ns=900 imbalance_ns=90 max_rank=2; imbalance.job "
         "max_rank=2; whatif.job sure=true slowdown=1.1 step_ns=1000 unmatched_pct=0; whatif.item "
         "what=kind name=compute ranks=4 saved_ns=40 saved_pct=4; whatif.item what=plan "
         "name=3,~2 ranks=2 saved_ns=50 saved_pct=5; whatif.item what=stage name=1 ranks=2 "
         "saved_ns=50 saved_pct=5;",
         "or look at the GPUs of stage 1 (ranks 2-3): ", "rank 2:"},
        /* 2 operations of 4 ranks take 40 - 10 ns more than a larger one: 8 x 30 ns, over a tenth
         * of 4 x 150. In later cases, 39 is below four times 10, or 1 x 1 x 30 is too little. */
        {HIDES_BADLY,
         "collectives.kind " SMALLER
         "ranks=4 count=2 median_transfer_ns=40; collectives.kind " LARGER ";",
         "2 AllReduces of 1.5 MB on average took 40 ns (median) after all ranks here had arrived, "
         "although one of 64.0 MB takes 10 ns. Size does not explain the difference",
         "Find what"},
        /* (90 - 10) x 2 x 4 ns are over half of 4 x 150 exposed ns, too much for a slow transfer */
        {HIDES_BADLY,
         "collectives.kind " SMALLER
         "ranks=4 count=2 median_transfer_ns=90; collectives.kind " LARGER ";",
         "Find what the slowest AllReduces wait for after all ranks here have arrived: ranks "
         "without a trace (add their traces), ",
         "Start communication"},
        {HIDES_BADLY,
         "world 4; collectives.kind " SMALLER
         "ranks=4 count=2 median_transfer_ns=90; collectives.kind " LARGER ";",
         "after all ranks have arrived: the set-up of their group, ", "without a trace"},
        {HIDES_BADLY,
         "collectives.kind " SMALLER
         "ranks=4 count=2 median_transfer_ns=39; collectives.kind " LARGER ";",
         "communication is hidden", "after all ranks"},
        {HIDES_BADLY,
         "collectives.kind " SMALLER
         "ranks=1 count=1 median_transfer_ns=40; collectives.kind " LARGER ";",
         "communication is hidden", "after all ranks"},
        /* the saving in whatif.item is only that of the gaps between kernels */
        {"",
         "kernels.kernel " SMALL("k") "; idle.rank *idle_ns=200 kernel_wait_ns=200; whatif.job "
                                      "sure=true; whatif.item what=limit name=launch saved_ns=83 "
                                      "saved_pct=8.3;",
         "if launch latency took no time; fused kernels may save more.", "serving"},
        /* the saving is between 45 and 228 of 1,000 ns; the text has the larger */
        {HIDES_BADLY,
         "whatif.job sure=true unmatched_pct=0 step_ns=1000; whatif.item what=limit name=transfer "
         "saved_ns=45 saved_pct=4.5 saved_most_ns=228;",
         "Saves at most 22.8 % of", "4.5 %"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_tables tables = advise(&(advice_case){cases[i].overlap, cases[i].rows, ""});
        const tm_table *items = tm_tables_find(&tables, "advice.item");
        char said[2048];
        snprintf(said, sizeof said, "%s %s %s", text_at(items, 0, "text"),
                 text_at(items, 0, "evidence"), text_at(items, 0, "saves"));
        if (!strstr(said, cases[i].has) || strstr(said, cases[i].lacks))
            fail_msg("case %zu: %s", i, said);
        tm_tables_destroy(&tables);
    }
}

RUN_TESTS()

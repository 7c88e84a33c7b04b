/* Matching across processes. The expected tables are computed by hand, and are the same for any
 * number of processes. Run with 1, 2, 3 and 4. */
#include "mpi/match.h"

#include <inttypes.h>
#include <unistd.h>

#include "job_fixture.h"
#include "mpi/wait.h"
#include "mpi_main.h"
#include "waits/operations.h"

/* Three ranks and five steps; step s is [1000 s, 1000 s + 900). All times are in ns. At the start
 * of a step, ranks 0, 1 and 2 compute for 40, 50 and 100. They arrive at an all-reduce of 8 floats
 * at 100, 160 and 200 after the step's start, which ends at 300. In step 5, they arrive at a second
 * one at 400, 400 and 350, which ends at 500.
 *
 *   first one:        Rank 0 waits 100, rank 1 waits 40. In [100, 160), ranks 1 and 2 each cause
 *                     half of rank 0's wait. In [160, 200), rank 2 causes the waits of ranks 0
 *                     and 1. So rank 1 causes 30, and rank 2 causes 30 + 80.
 *   second one:       Ranks 0 and 1 are tied. Each of them causes half of rank 2's wait of 50.
 *   wait_ns:          500, 200 and 50 for ranks 0, 1 and 2; sum 750
 *   transfer_ns:      5 x 100 + 100 for each rank
 *   caused_wait_ns:   25, 5 x 30 + 25 and 550: 1/30, 7/30 and 11/15 of the sum
 *   stragglers.pair:  Rank 1 causes 5 x 30 for rank 0. Rank 2 causes 5 x (30 + 40) for rank 0, and
 *                     5 x 40 for rank 1. Ranks 0 and 1 each cause 25 for rank 2.
 *   last_arrivals:    rank 2 in all 5 without a tie; by chance, in 5/3, with variance 5 x 2/9:
 *                     z = (10/3) / 1.054 = 3.16
 *   relative_speed:   50, the median of the compute times, divided by 40, 50 and 100
 *   excess_ns:        All-reduces follow one another within 5 us, so arrivals are the ends of
 *                     compute kernels (waits/stretches.h). The previous all-reduce ended 700 before
 *                     the step, so own times are 740, 750 and 800 in steps 2 to 5. Excess over the
 *                     median of the other two ranks: 4 x -35, 4 x -20 and 4 x 55, of 5 x 900.
 *                     One of three is last in 4 of 4 by chance in 3 of 81 cases: no proof.
 *   busbw_gbps:       32 bytes in 100 ns are 0.32 GB/s, x 2 x 2 / 3 = 0.4266666667 */
static tm_timeline build_straggler(ground *g, int64_t rank) {
    static const int64_t computes[] = {40, 50, 100}, begins[] = {100, 160, 200},
                         tied[] = {400, 400, 350};
    comm_spec kernels[6];
    event_spec others[10];
    char names[5][40];
    for (int64_t s = 1; s <= 6; s++) {
        int64_t begin = s < 6 ? 1000 * s + begins[rank] : 5000 + tied[rank];
        int64_t end = s < 6 ? 1000 * s + 300 : 5500;
        kernels[s - 1] = (comm_spec){.name = "allreduce",
                                     .begin_ns = begin,
                                     .duration_ns = end - begin,
                                     .stream = 20,
                                     .group = "dp",
                                     .ranks = "[0, 1, 2]",
                                     .dtype = "Float",
                                     .size = 3,
                                     .seq = GIVEN(s - 1),
                                     .in = GIVEN(8)};
    }
    for (int64_t s = 1; s <= 5; s++) {
        snprintf(names[s - 1], sizeof names[s - 1], "ProfilerStep#%" PRId64, s);
        others[2 * s - 2] = (event_spec){
            TM_CAT_USER_ANNOTATION, names[s - 1], 1000 * s, 900, 0, 1, 1, NULL, TM_DURATION};
        others[2 * s - 1] = (event_spec){
            TM_CAT_KERNEL, "gemm", 1000 * s, computes[rank], 0, 7, 0, NULL, TM_DURATION};
    }
    return build_comm(g, rank, kernels, COUNT(kernels), others, COUNT(others));
}

static const job_def straggler = {.n_ranks = 3, .build = build_straggler};

static void check_straggler(const share *s) {
    static const int64_t waits[] = {500, 200, 50};
    static const char *const ranks[] = {
        "rank=0 host=host0 collectives=6 last_arrivals=0 last_share=0 tied=1 wait_ns=500 "
        "caused_wait_ns=25 caused_share=0.03333333333 direct_ns=25 indirect_ns=0 "
        "relative_speed=1.25 steps_led=0 p=1 excess_ns=-140 excess_pct=-3.111111111 "
        "verdict=unknown",
        "rank=1 host=host1 collectives=6 last_arrivals=0 last_share=0 tied=1 wait_ns=200 "
        "caused_wait_ns=175 caused_share=0.2333333333 direct_ns=175 indirect_ns=0 relative_speed=1 "
        "steps_led=0 p=1 excess_ns=-80 excess_pct=-1.777777778 verdict=unknown",
        "rank=2 host=host2 collectives=6 last_arrivals=5 last_share=1 tied=0 wait_ns=50 "
        "caused_wait_ns=550 caused_share=0.7333333333 direct_ns=550 indirect_ns=0 "
        "relative_speed=0.5 steps_led=5 p=? excess_ns=220 excess_pct=4.888888889 verdict=unknown",
    };
    static const char *const pairs[] = {
        "rank=0 for_rank=2 wait_ns=25",  "rank=1 for_rank=0 wait_ns=150",
        "rank=1 for_rank=2 wait_ns=25",  "rank=2 for_rank=0 wait_ns=350",
        "rank=2 for_rank=1 wait_ns=200",
    };
    static const char *const job[] = {
        /* ranks wait 750 of 3 x 5 x 900 ns */
        "verdict=inconclusive rank=null host=null level=null p=? certainty=null matched_share=1 "
        "headline=The traces do not prove who is late; ranks wait 6 % of the time evidence=?"};
    static const char *const kinds[] = {
        "kind=allreduce group=dp ranks=3 size_class_bytes=32 how=metadata evidence_bits=null "
        "at_least=null count=6 bytes=32 median_transfer_ns=100 p95_transfer_ns=100 "
        "median_skew_ns=100 algbw_gbps=0.32 busbw_gbps=0.4266666667"};
    static const char *const check[] = {
        "collectives=6 matched=6 incomplete=0 unmatched=0 inferred=0 transfers_alone=0 suspect=0 "
        "violations_before=0 violations_after=0 worst_before_ns=null worst_after_ns=null "
        "align=utc"};
    CHECK_ROWS(s, "stragglers.rank", ranks);
    CHECK_ROWS(s, "stragglers.pair", pairs);
    check_five_steps(s, "rank=2 caused_wait_ns=110 direct_ns=110 indirect_ns=0 lateness_ns=40");
    CHECK_ROWS(s, "stragglers.job", job);
    CHECK_ROWS(s, "collectives.kind", kinds);
    CHECK_ROWS(s, "clock.check", check);
    const tm_table *worst = find(s, "collectives.worst");
    assert_int_equal(worst->n_rows, 6);
    assert_row(worst, 1,
               "instance=1 kind=allreduce group=dp seq=1 step=2 bytes=32 begin_ns=2100 "
               "skew_ns=100 wait_ns=140 last_rank=2 transfer_ns=100");
    assert_row(worst, 5,
               "instance=5 kind=allreduce group=dp seq=5 step=5 bytes=32 begin_ns=5350 "
               "skew_ns=50 wait_ns=50 last_rank=null transfer_ns=100");
    const tm_table *overlap = find(s, "overlap.rank");
    for (size_t r = 0; r < 3; r++) {
        assert_int_equal(int_at(overlap, r, "wait_ns"), waits[r]);
        assert_int_equal(int_at(overlap, r, "transfer_ns"), 600);
    }
    assert_int_equal(int_at(find(s, "job.job"), 0, "collectives"), 6);
}

TEST(a_straggler_is_found_as_worked_out_by_hand) {
    check_job(&straggler, check_straggler);
}

TEST(without_clocks_nothing_waits_but_all_is_matched) {
    job_def def = straggler;
    def.apart = true;
    share s = run_job(MPI_COMM_WORLD, &def, BLOCKS);
    for (size_t i = 0; i < s.n; i++)
        for (size_t k = 0; k < s.timelines[i].n_attrs[TM_ATTR_COLLECTIVE]; k++) {
            assert_int_equal(s.timelines[i].answers[k].wait_ns, -1);
            assert_true(s.timelines[i].answers[k].matched);
        }
    if (this_process() == 0) {
        assert_row(
            find(&s, "stragglers.job"), 0,
            "verdict=null rank=null host=null level=null p=null certainty=null "
            "matched_share=null headline=No verdict: the traces do not show who waits "
            "for whom evidence=Clocks are not compared (--align=none): merge again without it");
        assert_int_equal(find(&s, "stragglers.pair")->n_rows, 0);
        assert_int_equal(find(&s, "collectives.worst")->n_rows, 0);
        assert_int_equal(int_at(find(&s, "clock.check"), 0, "matched"), 6);
        assert_true(tm_table_cell(find(&s, "collectives.kind"), 0, "median_transfer_ns")->null);
    }
    close_share(&s);
}

TEST(large_jobs_have_no_pairs) {
    for (int over = 0; over < 2; over++) {
        job_def def = straggler;
        def.n_ranks_reported = TM_PAIR_RANKS_MAX + over;
        share s = run_job(MPI_COMM_WORLD, &def, ROUND_ROBIN);
        if (this_process() == 0) {
            assert_int_equal(find(&s, "stragglers.pair")->n_rows, over ? 0 : 5);
            assert_int_equal(int_at(find(&s, "stragglers.rank"), 2, "caused_wait_ns"), 550);
        }
        close_share(&s);
    }
}

/* Four times, rank 0 arrives 5 ns before the other three. Each of them causes 4 x 5/3 = 6.67 ns. */
static tm_timeline build_thirds(ground *g, int64_t rank) {
    comm_spec kernels[4];
    for (int64_t k = 0; k < 4; k++) {
        int64_t late = rank == 0 ? 0 : 5;
        kernels[k] = (comm_spec){.name = "allreduce",
                                 .begin_ns = 1000 * k + late,
                                 .duration_ns = 50 - late,
                                 .ranks = "[0, 1, 2, 3]",
                                 .size = 4,
                                 .seq = GIVEN(k)};
    }
    return build_comm(g, rank, kernels, COUNT(kernels), NULL, 0);
}

static void check_thirds(const share *s) {
    static const char *const pairs[] = {"rank=1 for_rank=0 wait_ns=7",
                                        "rank=2 for_rank=0 wait_ns=7",
                                        "rank=3 for_rank=0 wait_ns=7"};
    const tm_table *ranks = find(s, "stragglers.rank");
    CHECK_ROWS(s, "stragglers.pair", pairs);
    assert_int_equal(int_at(ranks, 0, "wait_ns"), 20);
    for (size_t r = 1; r < 4; r++) {
        assert_int_equal(int_at(ranks, r, "caused_wait_ns"), 7);
        assert_int_equal(int_at(ranks, r, "tied"), 4);
    }
}

TEST(shares_are_rounded_when_all_are_added) {
    check_job(&(job_def){.n_ranks = 4, .build = build_thirds}, check_thirds);
}

/* Pairs {0, 1} and {2, 3} have 75 all-reduces each. The lower rank arrives at the k-th one at 1000
 * k ns, and the other rank (7 k) % 30 ns later. */
enum { WORST_OPERATIONS = 75, WORST_WAITS = 30 };

static tm_timeline build_worst(ground *g, int64_t rank) {
    comm_spec kernels[WORST_OPERATIONS];
    for (int64_t k = 0; k < WORST_OPERATIONS; k++) {
        int64_t late = rank % 2 == 1 ? 7 * k % WORST_WAITS : 0;
        kernels[k] = (comm_spec){.name = "allreduce",
                                 .begin_ns = 1000 * k + late,
                                 .duration_ns = 100 - late,
                                 .stream = 20,
                                 .ranks = rank < 2 ? "[0, 1]" : "[2, 3]",
                                 .size = 2,
                                 .seq = GIVEN(k)};
    }
    return build_comm(g, rank, kernels, COUNT(kernels), NULL, 0);
}

static void check_worst(const share *s) {
    const tm_table *worst = find(s, "collectives.worst"),
                   *arrivals = find(s, "collectives.arrival");
    size_t row = 0;
    assert_int_equal(worst->n_rows, TM_WORST_MAX);
    assert_int_equal(arrivals->n_rows, 2 * TM_WORST_MAX);
    /* sorted by wait (largest first), then by begin, then by lowest rank */
    for (int64_t wait = WORST_WAITS - 1; wait >= 0; wait--)
        for (int64_t k = 0; k < WORST_OPERATIONS; k++)
            for (int64_t lowest = 0; lowest < 4 && 7 * k % WORST_WAITS == wait;
                 lowest += 2, row++) {
                if (row >= TM_WORST_MAX)
                    continue;
                assert_int_equal(int_at(worst, row, "instance"), row);
                assert_int_equal(int_at(worst, row, "wait_ns"), wait);
                assert_int_equal(int_at(worst, row, "begin_ns"), 1000 * k);
                assert_int_equal(int_at(arrivals, 2 * row, "rank"), lowest);
                assert_int_equal(int_at(arrivals, 2 * row + 1, "rank"), lowest + 1);
            }
    assert_int_equal(row, 2 * WORST_OPERATIONS);
}

TEST(the_worst_are_by_wait_then_begin_then_rank) {
    check_job(&(job_def){.n_ranks = 4, .build = build_worst}, check_worst);
}

/* An all-reduce and an all-gather that overlap, and compute kernels. Only if @p from_the_start is
 * set, rank 1 has a compute kernel at 0, which means that its recording starts before the
 * operations. All times are in ns.
 *
 *   rank 0: all-reduce [100, 200), all-gather [150, 250), computes in [80, 130) and [180, 220).
 *           Exposed: all-reduce [130, 180) = 50; all-gather [150, 180) + [220, 250) = 60;
 *           together [130, 180) + [220, 250) = 80
 *   rank 1: all-reduce [160, 200), all-gather [150, 250), does not compute meanwhile.
 *           Exposed: all-reduce 40, all-gather 100, together [150, 250) = 100
 *   sum:    all-reduce 90 (longest: 50 on rank 0), all-gather 160 (longest: 100 on rank 1)
 *   wait:   rank 0 waits 160 - 100 in the all-reduce. No rank waits in the all-gather. */
static tm_timeline build_exposed(ground *g, int64_t rank, bool from_the_start) {
    const comm_spec kernels[] = {
        {.name = "allreduce",
         .begin_ns = rank == 0 ? 100 : 160,
         .duration_ns = rank == 0 ? 100 : 40,
         .stream = 20,
         .group = "dp",
         .ranks = "[0, 1]",
         .dtype = "Float",
         .size = 2,
         .seq = GIVEN(3),
         .in = GIVEN(8)},
        {.name = "_allgather_base",
         .begin_ns = 150,
         .duration_ns = 100,
         .stream = 21,
         .group = "tp",
         .ranks = "[0, 1]",
         .size = 2,
         .seq = GIVEN(4)},
    };
    const event_spec computes[] = {
        {TM_CAT_KERNEL, "gemm", 0, 10, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_KERNEL, "gemm", 80, 50, 0, 7, 0, NULL, TM_DURATION},
        {TM_CAT_KERNEL, "gemm", 180, 40, 0, 8, 0, NULL, TM_DURATION},
    };
    return build_comm(g, rank, kernels, COUNT(kernels), computes,
                      rank == 0 ? COUNT(computes) : from_the_start);
}

static tm_timeline build_both_recorded(ground *g, int64_t rank) {
    return build_exposed(g, rank, true);
}

static tm_timeline build_one_opened_late(ground *g, int64_t rank) {
    return build_exposed(g, rank, false);
}

static void check_exposed(const share *s) {
    static const char *const rows[] = {
        "instance=0 kind=allgather group=tp seq=4 step=? bytes=null bytes_inferred=null ranks=2 "
        "begin_ns=150 "
        "exposed_ns=160 longest_exposed_ns=100 longest_rank=1 comm_ns=200 wait_ns=0",
        "instance=1 kind=allreduce group=dp seq=3 step=? bytes=32 bytes_inferred=false ranks=2 "
        "begin_ns=100 "
        "exposed_ns=90 longest_exposed_ns=50 longest_rank=0 comm_ns=140 wait_ns=60",
    };
    CHECK_ROWS(s, "collectives.instance", rows);
    /* 80 + 100 is 160 + 90 minus the time in which both kernels are exposed: 30 on rank 0, 40 on
     * 1 */
    assert_int_equal(int_at(find(s, "overlap.rank"), 0, "exposed_comm_ns"), 80);
    assert_int_equal(int_at(find(s, "overlap.rank"), 1, "exposed_comm_ns"), 100);
}

/* From 100 on, rank 0 waits for rank 1, whose recording starts only at 150: an opening
 * (mpi/opening.h). It ends when rank 1 arrives, at 160, and nothing before that counts. Rank 0:
 * all-reduce [160, 180) = 20, all-gather [160, 180) + [220, 250) = 50. Rank 1: all-reduce 40,
 * all-gather [160, 250) = 90. */
static void check_exposed_once_opened(const share *s) {
    static const char *const rows[] = {
        "instance=0 kind=allgather group=tp seq=4 step=? bytes=null bytes_inferred=null ranks=2 "
        "begin_ns=150 "
        "exposed_ns=140 longest_exposed_ns=90 longest_rank=1 comm_ns=200 wait_ns=0",
        "instance=1 kind=allreduce group=dp seq=3 step=? bytes=32 bytes_inferred=false ranks=2 "
        "begin_ns=160 "
        "exposed_ns=60 longest_exposed_ns=40 longest_rank=1 comm_ns=80 wait_ns=0",
    };
    CHECK_ROWS(s, "collectives.instance", rows);
    assert_int_equal(int_at(find(s, "overlap.rank"), 0, "exposed_comm_ns"), 50);
    assert_int_equal(int_at(find(s, "overlap.rank"), 1, "exposed_comm_ns"), 90);
    /* The all-reduce counts as [160, 200), the all-gather as [160, 250). No rank waits in them. */
    const tm_table *kinds = find(s, "overlap.kind");
    for (size_t rank = 0; rank < 2; rank++) {
        assert_int_equal(int_at(find(s, "overlap.rank"), rank, "transfer_ns"), 40 + 90);
        assert_int_equal(int_at(kinds, 2 * rank, "comm_ns"), 90); /* all-gather */
        assert_int_equal(int_at(kinds, 2 * rank + 1, "comm_ns"), 40);
    }
}

TEST(exposed_time_of_operations_is_as_worked_out_by_hand) {
    check_job(&(job_def){.n_ranks = 2, .build = build_both_recorded}, check_exposed);
    check_job(&(job_def){.n_ranks = 2, .build = build_one_opened_late}, check_exposed_once_opened);
}

/* Returns a pseudorandom number below @p limit that depends only on the arguments. */
static int64_t chance(int64_t a, int64_t b, int64_t limit) {
    uint64_t x = (uint64_t)(a * 1000003 + b) * 6364136223846793005u + 1442695040888963407u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    return (int64_t)(x >> 33) % limit;
}

enum { MIXED_KERNELS = 120 };

/* Makes kernel k of one of eight ranks. Kernels match in many ways, depending on k, or not at
 * all. */
static comm_spec mixed_kernel(int64_t rank, int64_t k) {
    static const char *const names[] = {"allreduce",  "_allgather_base", "broadcast",
                                        "all_to_all", "reduce_scatter",  "barrier"};
    int64_t late = chance(rank, k, 40), lasts = 20 + chance(k, rank, 60);
    comm_spec spec = {.name = names[k % 6],
                      .begin_ns = 1000 * k + late,
                      .duration_ns = k % 11 == 0 ? 10 : lasts, /* some end before others begin */
                      .stream = 20 + (int)(k % 3),
                      .group = k % 4 == 0 ? "tp" : "dp",
                      .ranks = "[0, 1, 2, 3, 4, 5, 6, 7]",
                      .dtype = "Half",
                      .in = GIVEN(k % 6 == 3 ? 100 + rank : 64 + k),
                      .out = GIVEN(512),
                      .size = 8};
    if (k % 4 == 0) /* two groups of the same name */
        spec.ranks = rank < 4 ? "[0, 1, 2, 3]" : "[4, 5, 6, 7]";
    if (k % 5 == 0)
        spec.seq = GIVEN(k);
    if (k % 5 == 1)
        spec.comms_id = -k;
    if (k % 13 == 7 && rank == 5) /* contradicts the kernels of other ranks */
        spec.name = "gather";
    return spec;
}

static comm_spec transfer(int64_t rank, int64_t k) {
    comm_spec spec = {.name = k % 2 == rank % 2 ? "send" : "recv",
                      .begin_ns = 1000 * k + 500 + rank,
                      .duration_ns = 7,
                      .stream = 30,
                      .ranks = "[0, 1, 2, 3, 4, 5, 6, 7]",
                      .dtype = "Int",
                      .in = GIVEN(k),
                      .out = GIVEN(k),
                      .size = 8};
    int32_t other = GIVEN((int32_t)(rank ^ 1));
    *(k % 2 == rank % 2 ? &spec.dst : &spec.src) = other;
    return spec;
}

/* Rank 6 has no metadata, and rank 7 has no kernels. */
static tm_timeline build_mixed(ground *g, int64_t rank) {
    comm_spec kernels[2 * MIXED_KERNELS];
    event_spec steps[4];
    char names[4][40];
    for (int64_t k = 0; k < MIXED_KERNELS; k++) {
        kernels[2 * k] = mixed_kernel(rank, k);
        kernels[2 * k + 1] = transfer(rank, k);
        if (rank == 6)
            kernels[2 * k].name = kernels[2 * k + 1].name = NULL;
    }
    for (int64_t s = 0; s < 4; s++) {
        snprintf(names[s], sizeof names[s], "ProfilerStep#%" PRId64, s);
        steps[s] = (event_spec){
            TM_CAT_USER_ANNOTATION, names[s], 30000 * s, 29000, 0, 1, 1, NULL, TM_DURATION};
    }
    return build_comm(g, rank, kernels, rank == 7 ? 0 : COUNT(kernels), steps, COUNT(steps));
}

/* Four ranks whose clocks are 5 s apart, without sequence numbers. "dp" and "tp" have 40
 * all-reduces each. In "dp", rank 1 lacks number 5, rank 2 lacks 0, 1, 2 and 20, and rank 3 lacks 5
 * and 30, so 34 of 40 are complete. In "tp", all gaps are equal and rank 1 lacks the first one, so
 * it is unknown which of the 40 + 39 kernels belong together. */
enum { LOSSY_OPERATIONS = 40, LOSSY_COMPLETE = 34 };

static const int64_t second_ns = 1000000000;

static bool is_lost(int64_t rank, int64_t k) {
    return (rank == 1 && k == 5) || (rank == 2 && (k < 3 || k == 20)) ||
           (rank == 3 && (k == 5 || k == 30));
}

/* Returns when kernel k starts on rank 0 [ns]. It ends 100 us later, with noise of up to 3 us. */
static int64_t lossy_begin(int64_t k) {
    return 10000000 * k + chance(k, 0, 4000000);
}

static tm_timeline build_lossy(ground *g, int64_t rank) {
    comm_spec kernels[2 * LOSSY_OPERATIONS];
    size_t n = 0;
    for (int64_t k = 0; k < LOSSY_OPERATIONS; k++) {
        int64_t begin = lossy_begin(k) + 5 * second_ns * rank + 10000 * rank;
        comm_spec kernel = {.name = "allreduce",
                            .begin_ns = begin,
                            .duration_ns = 100000 - 10000 * rank + chance(rank, k, 3000),
                            .stream = 20,
                            .group = "dp",
                            .ranks = "[0, 1, 2, 3]",
                            .dtype = "Float",
                            .size = 4,
                            .in = GIVEN(8)};
        if (!is_lost(rank, k))
            kernels[n++] = kernel;
        kernel.begin_ns = 10000000 * k + 5000000 + 5 * second_ns * rank;
        kernel.stream = 21;
        kernel.group = "tp";
        kernel.ranks = "[0, 1]";
        if (rank == 0 || (rank == 1 && k > 0))
            kernels[n++] = kernel;
    }
    return build_comm(g, rank, kernels, n, NULL, 0);
}

static void check_lossy(const share *s) {
    static const char *const unmatched[] = {"group=tp ranks=2 reason=ambiguous count=79"};
    const tm_table *check = find(s, "clock.check");
    assert_int_equal(int_at(check, 0, "matched"), LOSSY_COMPLETE);
    assert_int_equal(int_at(check, 0, "incomplete"), LOSSY_OPERATIONS - LOSSY_COMPLETE);
    assert_int_equal(int_at(check, 0, "unmatched"), 2 * LOSSY_OPERATIONS - 1);
    CHECK_ROWS(s, "collectives.unmatched", unmatched);
    const tm_table *arrivals = find(s, "collectives.arrival");
    assert_int_equal(arrivals->n_rows, 4 * LOSSY_COMPLETE);
    for (size_t row = 0; row < arrivals->n_rows; row++) {
        int64_t rank = int_at(arrivals, row, "rank");
        int64_t first = int_at(arrivals, row - row % 4, "begin_ns");
        assert_int_equal(rank, row % 4);
        assert_int_equal(int_at(arrivals, row, "begin_ns"),
                         first + 5 * second_ns * rank + 10000 * rank);
    }
}

TEST(ranks_that_lack_kernels_are_aligned) {
    static const job_def def = {.n_ranks = 4, .build = build_lossy};
    share alone = run_job(MPI_COMM_SELF, &def, BLOCKS);
    _Static_assert((int)LOSSY_OPERATIONS <= (int)TM_WORST_MAX, "not all are kept");
    check_lossy(&alone);
    for (int spread = 0; spread < N_SPREADS; spread++)
        check_same(&def, &alone, spread);
    close_share(&alone);
}

/* A job of many ranks. Each is in a group of 8 (all of these share a name), in a group of 32 whose
 * list of ranks is cut, and in the group of all ranks. */
enum { TINY_RANKS = 1024 };

static tm_timeline build_tiny(ground *g, int64_t rank) {
    char list[256];
    size_t used = 0;
    for (int64_t r = rank / 8 * 8; r < rank / 8 * 8 + 8; r++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRId64,
                                 used > 0 ? ", " : "[", r);
    snprintf(list + used, sizeof list - used, "]");
    char name[32];
    snprintf(name, sizeof name, "dp%" PRId64, rank % 32);
    const comm_spec kernels[] = {
        {.name = "allreduce",
         .begin_ns = chance(rank, 1, 500),
         .duration_ns = 900,
         .stream = 7,
         .group = "tp",
         .ranks = list,
         .dtype = "Float",
         .in = GIVEN(256),
         .size = 8,
         .seq = GIVEN(1)},
        {.name = "allgather",
         .begin_ns = 2000 + chance(rank, 2, 500),
         .duration_ns = 600,
         .stream = 8,
         .group = name,
         .ranks = "[0, 32, ...",
         .dtype = "Float",
         .out = GIVEN(64),
         .size = 32,
         .seq = GIVEN(0)},
        {.name = "barrier",
         .begin_ns = 4000 + chance(rank, 3, 900),
         .duration_ns = 1000,
         .stream = 9,
         .group = "world",
         .ranks = "[0, 1, ...",
         .size = TINY_RANKS},
    };
    return build_comm(g, rank, kernels, COUNT(kernels), NULL, 0);
}

TEST(a_mixed_job_is_the_same_on_any_number_of_processes) {
    static const job_def def = {.n_ranks = 8, .build = build_mixed};
    share alone = run_job(MPI_COMM_SELF, &def, BLOCKS);
    for (int spread = 0; spread < N_SPREADS; spread++)
        check_same(&def, &alone, spread);
    /* the job has all intended cases */
    const tm_table *check = find(&alone, "clock.check");
    assert_true(int_at(check, 0, "matched") > 100);
    assert_true(int_at(check, 0, "incomplete") > 10);
    assert_true(int_at(check, 0, "suspect") > 0);
    assert_true(int_at(check, 0, "unmatched") > 0);
    assert_true(int_at(check, 0, "violations_before") > 0);
    close_share(&alone);
}

TEST(many_tiny_ranks_are_the_same_on_any_number_of_processes) {
    static const job_def def = {.n_ranks = TINY_RANKS, .build = build_tiny};
    share alone = {.n = 0};
    if (this_process() == 0) {
        alone = run_job(MPI_COMM_SELF, &def, BLOCKS);
        /* The 128 groups of 8 and the group of all ranks have one operation each. The groups of 32
         * stay unmatched, because their rank lists are cut and occur nowhere else. */
        assert_int_equal(int_at(find(&alone, "clock.check"), 0, "matched"), 128 + 1);
        assert_int_equal(int_at(find(&alone, "clock.check"), 0, "unmatched"), TINY_RANKS);
        assert_int_equal(find(&alone, "collectives.worst")->n_rows, TM_WORST_MAX);
        /* one row per group, although 128 share a name */
        assert_int_equal(find(&alone, "collectives.kind")->n_rows, 128 + 1);
        _Static_assert((int)TINY_RANKS > (int)TM_PAIR_RANKS_MAX, "too many ranks for pairs");
        assert_int_equal(find(&alone, "stragglers.pair")->n_rows, 0);
    }
    check_same(&def, &alone, ROUND_ROBIN);
    if (this_process() == 0)
        close_share(&alone);
}

RUN_MPI_TESTS(NULL, NULL)

/* Costs are passed back across processes to the cause of a rank's lateness. The expected values are
 * computed by hand. Run with 1, 2, 3 and 4 processes. */
#include "mpi/pass_delays.h"

#include <inttypes.h>
#include <unistd.h>

#include "job_fixture.h"
#include "mpi_main.h"

enum { ACTS_MAX = 8 };

static const int64_t step_ns = 1000, n_steps = 5;

/* What a rank does from begin_ns to end_ns after the step's start: compute (c), all-reduce (a),
 * send (s) or receive (r). */
typedef struct act {
    char what;
    int64_t begin_ns, end_ns;
    const char *ranks;      /* ranks of the group, as a trace lists them; NULL for c */
    int stream;             /* each kind has a separate stream */
    int32_t size, from, to; /* size of the group; sender and receiver of a transfer */
} act;

#define COMPUTE(begin, end)                                                                        \
    { 'c', begin, end, NULL, 7, 0, 0, 0 }
#define REDUCE(begin, end, ranks, stream)                                                          \
    { 'a', begin, end, ranks, stream, 2, 0, 0 }
#define SEND(begin, end, from, to)                                                                 \
    { 's', begin, end, "[0, 1, 2, 3, 4, 5]", 30, 6, from, to }
#define RECEIVE(begin, end, from, to)                                                              \
    { 'r', begin, end, "[0, 1, 2, 3, 4, 5]", 31, 6, from, to }

/* Collects the events of one rank. */
typedef struct script {
    comm_spec kernels[64];
    event_spec others[128];
    char names[64][24];
    size_t n_kernels, n_others, n_steps;
    int64_t n_of_stream[32]; /* all-reduces so far on each stream; a stream has one group */
} script;

static void add_act(script *s, const act *a, int64_t begin_ns) {
    if (a->what == 'c') {
        s->others[s->n_others++] = (event_spec){.category = TM_CAT_KERNEL,
                                                .name = "gemm",
                                                .begin_ns = begin_ns + a->begin_ns,
                                                .duration_ns = a->end_ns - a->begin_ns,
                                                .where = a->stream};
        return;
    }
    comm_spec spec = {.name = a->what == 'a'   ? "allreduce"
                              : a->what == 's' ? "send"
                                               : "recv",
                      .begin_ns = begin_ns + a->begin_ns,
                      .duration_ns = a->end_ns - a->begin_ns,
                      .stream = a->stream,
                      .ranks = a->ranks,
                      .dtype = "Float",
                      .in = GIVEN(8),
                      .out = GIVEN(8),
                      .size = a->size};
    if (a->what == 'a')
        spec.seq = GIVEN(s->n_of_stream[a->stream]++);
    if (a->what == 's')
        spec.dst = GIVEN(a->to);
    if (a->what == 'r')
        spec.src = GIVEN(a->from);
    s->kernels[s->n_kernels++] = spec;
}

static void add_step(script *s, int64_t begin_ns, int64_t duration_ns) {
    char *name = s->names[s->n_steps++];
    snprintf(name, sizeof s->names[0], "ProfilerStep#%zu", s->n_steps);
    s->others[s->n_others++] = (event_spec){
        TM_CAT_USER_ANNOTATION, name, begin_ns, duration_ns, 0, 1, 1, NULL, TM_DURATION};
}

static tm_timeline build_script(ground *g, int64_t rank, const script *s) {
    return build_comm(g, rank, s->kernels, s->n_kernels, s->others, s->n_others);
}

/* Builds a rank that does the same in each step. @p acts ends at an element whose `what` is 0. */
static tm_timeline build_steps(ground *g, int64_t rank, const act *acts) {
    script s = {.n_kernels = 0};
    for (int64_t step = 1; step <= n_steps; step++) {
        add_step(&s, step_ns * step, step_ns - 100);
        for (size_t i = 0; i < ACTS_MAX && acts[i].what; i++)
            add_act(&s, &acts[i], step_ns * step);
    }
    return build_script(g, rank, &s);
}

/* Tensor-parallel pairs {0, 1} and {2, 3}, data-parallel pairs {0, 2} and {1, 3}. In each of five
 * steps, each rank computes for 100 ns (rank 3: 200), joins the all-reduce of its tensor-parallel
 * pair, computes for 50 ns (rank 2: 110), and joins the all-reduce of its data-parallel pair.
 * Arrivals [ns after the step's start] and waits [ns]:
 *
 *   0 and 1 at 100 and 100: no rank waits.       2 and 3 at 100 and 200: 2 waits 100 for 3.
 *   0 and 2 at 160 and 320: 0 waits 160 for 2.   1 and 3 at 160 and 260: 1 waits 100 for 3.
 *
 * Since the previous all-reduce of {0, 2}, rank 2 has waited 100 for rank 3, and rank 0 has not
 * waited. So of the 160 by which rank 2 is late, 100 are passed back to rank 3, which has not
 * waited. In each step, rank 2 keeps a cost of 60; rank 3 has 100 + 100 direct and 100 indirect, 83
 * % of 360. Rank 3 is last in 10 of 10 all-reduces; by chance, in 10/2, with variance 10/4: z =
 * 3.16. */
static tm_timeline build_grid(ground *g, int64_t rank) {
    static const act acts[][ACTS_MAX] = {
        {COMPUTE(0, 100), REDUCE(100, 110, "[0, 1]", 20), COMPUTE(110, 160),
         REDUCE(160, 330, "[0, 2]", 21), COMPUTE(330, 340)},
        {COMPUTE(0, 100), REDUCE(100, 110, "[0, 1]", 20), COMPUTE(110, 160),
         REDUCE(160, 270, "[1, 3]", 21), COMPUTE(270, 280)},
        {COMPUTE(0, 100), REDUCE(100, 210, "[2, 3]", 20), COMPUTE(210, 320),
         REDUCE(320, 330, "[0, 2]", 21), COMPUTE(330, 340)},
        {COMPUTE(0, 200), REDUCE(200, 210, "[2, 3]", 20), COMPUTE(210, 260),
         REDUCE(260, 270, "[1, 3]", 21), COMPUTE(270, 280)},
    };
    return build_steps(g, rank, acts[rank]);
}

static const job_def grid = {.n_ranks = 4, .build = build_grid};

static void check_grid(const share *s) {
    /* In each step, ranks 0 to 3 compute for 160, 160, 220 and 260 ns. The median is 190 ns. */
    static const char *const ranks[] = {
        "rank=0 host=host0 collectives=10 last_arrivals=0 last_share=0 tied=5 wait_ns=800 "
        "caused_wait_ns=0 caused_share=0 direct_ns=0 indirect_ns=0 relative_speed=1.1875 "
        "steps_led=0 p=? excess_ns=? excess_pct=? verdict=unknown",
        "rank=1 host=host1 collectives=10 last_arrivals=0 last_share=0 tied=5 wait_ns=500 "
        "caused_wait_ns=0 caused_share=0 direct_ns=0 indirect_ns=0 relative_speed=1.1875 "
        "steps_led=0 p=? excess_ns=? excess_pct=? verdict=unknown",
        "rank=2 host=host2 collectives=10 last_arrivals=5 last_share=0.5 tied=0 wait_ns=500 "
        "caused_wait_ns=800 caused_share=0.1666666667 direct_ns=300 indirect_ns=0 "
        "relative_speed=0.8636363636 steps_led=0 p=? excess_ns=? excess_pct=? verdict=unknown",
        "rank=3 host=host3 collectives=10 last_arrivals=10 last_share=1 tied=0 wait_ns=0 "
        "caused_wait_ns=1000 caused_share=0.8333333333 direct_ns=1000 indirect_ns=500 "
        "relative_speed=0.7307692308 steps_led=5 p=? excess_ns=? excess_pct=? verdict=unknown",
    };
    /* From step 2 on, another stream computes 1 us before the end of each all-reduce, so none is a
     * meeting (waits/stretches.h). Ranks wait 1.8 us of 4 x 5 x 900 ns. */
    static const char *const job[] = {
        "verdict=inconclusive rank=null host=null level=null p=? certainty=null matched_share=1 "
        "headline=It may be chance who is late: too little is recorded to know; ranks wait 10 % of "
        "the time evidence=Rank 3 costs most: it caused 83 % of all waiting (1.50 us of 1.80 us "
        "of GPU time, 0.50 us of it "
        "through other ranks that waited for it); it came last in 10 of 10 collectives (5.0 "
        "expected by chance); record more steps to tell chance from cause"};
    CHECK_ROWS(s, "stragglers.rank", ranks);
    check_five_steps(s, "rank=3 caused_wait_ns=200 direct_ns=200 indirect_ns=100 lateness_ns=200");
    CHECK_ROWS(s, "stragglers.job", job);
}

TEST(a_rank_that_was_kept_waiting_is_not_to_blame) {
    check_job(&grid, check_grid);
}

TEST(without_clocks_there_is_no_cost) {
    job_def def = grid;
    def.apart = true;
    share s = run_job(MPI_COMM_WORLD, &def, ROUND_ROBIN);
    for (size_t r = 0; r < 4 && this_process() == 0; r++) {
        assert_true(tm_table_cell(find(&s, "stragglers.rank"), r, "direct_ns")->null);
        assert_true(tm_table_cell(find(&s, "stragglers.rank"), r, "indirect_ns")->null);
    }
    close_share(&s);
}

/* Pipelines of ranks 0, 2, 4 and 1, 3, 5. The two ranks of a stage are a data-parallel pair. Each
 * rank receives from the step's start on (except in stage 0), computes for 100 ns (rank 2: 200),
 * sends for 10 ns (except in stage 2), and joins its pair's all-reduce. Times [ns after the step's
 * start]:
 *
 *   stage 0: both ranks send at 100, and arrive at their all-reduce at 110.
 *   stage 1: both ranks have received at 110. Rank 3 sends at 210 and arrives at 220. Rank 2 sends
 *            at 310 and arrives at 320, so rank 3 waits 100 for rank 2.
 *   stage 2: rank 5 has received at 220 and arrives at 320. Rank 4 has received at 320 and arrives
 *            at 420, so rank 5 waits 100 for rank 4.
 *
 * In stage 1, both ranks waited 100 to receive, so rank 2 itself causes the wait. In stage 2, rank
 * 4 received 100 later than rank 5, so the whole wait is passed back to its sender, rank 2. Rank 2
 * sent at 310, and had waited 100 of this time for rank 0. So 100 x 100 / 310 = 32.26 is passed on
 * to rank 0, which had not waited. */
static tm_timeline build_pipeline(ground *g, int64_t rank) {
    static const act acts[][ACTS_MAX] = {
        {COMPUTE(0, 100), SEND(100, 110, 0, 2), REDUCE(110, 120, "[0, 1]", 21), COMPUTE(120, 130)},
        {COMPUTE(0, 100), SEND(100, 110, 1, 3), REDUCE(110, 120, "[0, 1]", 21), COMPUTE(120, 130)},
        {RECEIVE(0, 110, 0, 2), COMPUTE(110, 310), SEND(310, 320, 2, 4),
         REDUCE(320, 330, "[2, 3]", 21), COMPUTE(330, 340)},
        {RECEIVE(0, 110, 1, 3), COMPUTE(110, 210), SEND(210, 220, 3, 5),
         REDUCE(220, 330, "[2, 3]", 21), COMPUTE(330, 340)},
        {RECEIVE(0, 320, 2, 4), COMPUTE(320, 420), REDUCE(420, 430, "[4, 5]", 21),
         COMPUTE(430, 440)},
        {RECEIVE(0, 220, 3, 5), COMPUTE(220, 320), REDUCE(320, 430, "[4, 5]", 21),
         COMPUTE(430, 440)},
    };
    return build_steps(g, rank, acts[rank]);
}

static void check_cost(const share *s, size_t row, int64_t caused_ns, int64_t direct_ns,
                       int64_t indirect_ns) {
    const tm_table *ranks = find(s, "stragglers.rank");
    assert_int_equal(int_at(ranks, row, "caused_wait_ns"), caused_ns);
    assert_int_equal(int_at(ranks, row, "direct_ns"), direct_ns);
    assert_int_equal(int_at(ranks, row, "indirect_ns"), indirect_ns);
}

static void check_pipeline(const share *s) {
    assert_int_equal(int_at(find(s, "clock.check"), 0, "matched"), 7 * n_steps);
    check_cost(s, 0, 0, 0, 32 * n_steps);
    check_cost(s, 1, 0, 0, 0);
    check_cost(s, 2, 100 * n_steps, 100 * n_steps, 68 * n_steps);
    check_cost(s, 3, 0, 0, 0);
    check_cost(s, 4, 100 * n_steps, 0, 0);
    check_cost(s, 5, 0, 0, 0);
}

TEST(a_slow_stage_is_to_blame_for_its_successors) {
    check_job(&(job_def){.n_ranks = 6, .build = build_pipeline}, check_pipeline);
}

/* Pairs {0, 1} and {1, 2}. In step 1, rank 1 waits 1100 ns for rank 2, and step 2 begins meanwhile.
 * In step 2, rank 0 therefore waits 310 ns for rank 1. So rank 2 causes this wait. */
static tm_timeline build_carried(ground *g, int64_t rank) {
    static const act acts[][ACTS_MAX] = {
        {COMPUTE(0, 100), REDUCE(100, 110, "[0, 1]", 20), COMPUTE(110, 1100),
         REDUCE(1100, 1420, "[0, 1]", 20), COMPUTE(1420, 1430)},
        {COMPUTE(0, 100), REDUCE(100, 110, "[0, 1]", 20), COMPUTE(110, 200),
         REDUCE(200, 1310, "[1, 2]", 21), COMPUTE(1310, 1410), REDUCE(1410, 1420, "[0, 1]", 20),
         COMPUTE(1420, 1430)},
        {COMPUTE(0, 1300), REDUCE(1300, 1310, "[1, 2]", 21), COMPUTE(1310, 1320)},
    };
    script s = {.n_kernels = 0};
    add_step(&s, 1000, 900);
    add_step(&s, 2000, 900);
    for (size_t i = 0; i < ACTS_MAX && acts[rank][i].what; i++)
        add_act(&s, &acts[rank][i], 1000);
    return build_script(g, rank, &s);
}

static void check_carried(const share *s) {
    static const char *const steps[] = {
        "step=1 rank=2 caused_wait_ns=1100 direct_ns=1100 indirect_ns=0 lateness_ns=1100",
        "step=2 rank=2 caused_wait_ns=0 direct_ns=0 indirect_ns=310 lateness_ns=0",
    };
    CHECK_ROWS(s, "stragglers.step", steps);
    check_cost(s, 1, 310, 0, 0);
    check_cost(s, 2, 1100, 1100, 310);
}

TEST(cost_counts_in_the_step_of_the_wait) {
    check_job(&(job_def){.n_ranks = 3, .build = build_carried}, check_carried);
}

/* Eight ranks, alternately in pairs and in groups of four that have a rank of each pair. Compute
 * times are random, so every rank waits directly or indirectly for every other rank. */
enum { MESH_RANKS = 8, MESH_ROUNDS = 40 };

static int64_t chance(int64_t rank, int64_t k, int64_t below) {
    uint64_t x = (uint64_t)rank * 0x9E3779B97F4A7C15u + (uint64_t)k * 0xC2B2AE3D27D4EB4Fu + 1;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    return (int64_t)((x ^ x >> 32) % (uint64_t)below);
}

static bool same_group(int64_t a, int64_t b, bool pairs) {
    return pairs ? a / 2 == b / 2 : a % 2 == b % 2;
}

/* Advances all ranks by round k: compute, then an all-reduce of 10 ns. Adds the acts of @p rank. */
static void mesh_round(script *s, int64_t rank, int64_t now[MESH_RANKS], int64_t k) {
    static const char *const lists[] = {"[0, 1]", "[2, 3]",       "[4, 5]",
                                        "[6, 7]", "[0, 2, 4, 6]", "[1, 3, 5, 7]"};
    bool pairs = k % 2 == 0;
    int64_t come[MESH_RANKS];
    for (int64_t r = 0; r < MESH_RANKS; r++)
        come[r] = now[r] + 50 + chance(r, k, 100);
    for (int64_t r = 0; r < MESH_RANKS; r++) {
        int64_t last = 0, began = now[r];
        for (int64_t o = 0; o < MESH_RANKS; o++)
            last = same_group(r, o, pairs) && come[o] > last ? come[o] : last;
        now[r] = last + 10;
        if (r != rank)
            continue;
        const act compute = COMPUTE(began, come[r]);
        const act reduce = {
            'a',           come[r], now[r], lists[pairs ? r / 2 : 4 + r % 2], pairs ? 20 : 21,
            pairs ? 2 : 4, 0,       0};
        add_act(s, &compute, 0);
        add_act(s, &reduce, 0);
    }
}

static tm_timeline build_mesh(ground *g, int64_t rank) {
    script s = {.n_kernels = 0};
    int64_t now[MESH_RANKS] = {0};
    for (int64_t k = 0; k < MESH_ROUNDS; k++) {
        if (k % 2 == 0)
            add_step(&s, now[rank], 1);
        mesh_round(&s, rank, now, k);
    }
    return build_script(g, rank, &s);
}

TEST(cost_is_neither_lost_nor_counted_twice_on_any_number_of_processes) {
    static const job_def def = {.n_ranks = MESH_RANKS, .build = build_mesh};
    share alone = run_job(MPI_COMM_SELF, &def, BLOCKS);
    const tm_table *ranks = find(&alone, "stragglers.rank");
    int64_t waited = 0, cost = 0, indirect = 0;
    for (size_t r = 0; r < MESH_RANKS; r++) {
        waited += int_at(ranks, r, "wait_ns");
        indirect += int_at(ranks, r, "indirect_ns");
        cost += int_at(ranks, r, "direct_ns") + int_at(ranks, r, "indirect_ns");
    }
    assert_true(waited > 1000 && indirect > waited / 20 && indirect < waited);
    assert_true(llabs(cost - waited) <= MESH_RANKS);
    for (int spread = 0; spread < N_SPREADS; spread++)
        check_same(&def, &alone, spread);
    close_share(&alone);
}

RUN_MPI_TESTS(NULL, NULL)

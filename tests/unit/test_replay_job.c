/* A job reduced to operations and steps has the same times as its ranks' full graphs. */
#include "analysis/analyses.h"
#include "replay/job/each.h"
#include "replay/whatif/result.h"
#include "replay_fixture.h"

enum { TARGETS = REPLAY_OPERATIONS + REPLAY_STEPS };

static const replay_shape shapes[] = {
    {"usual", 4, 80, 30, 10, 5, 1000, 0},
    {"equal times", 3, 80, 40, 60, 5, 2, 0},
    {"all at once", 4, 40, 40, 100, 0, 1, 0},
    {"steps that ranks lack", 4, 80, 30, 10, 70, 1000, 0},
    {"no operations", 3, 40, 0, 10, 5, 1000, 0},
    {"one rank", 1, 40, 40, 10, 5, 1000, 0},
    {"mostly operations", 6, 64, 90, 10, 5, 1000, 0},
};

enum { SEEDS = 30, CHOICES = 8 };

static void choose(uint64_t *seed, size_t choice, uint8_t *set_of_rank) {
    for (size_t r = 0; r < REPLAY_RANKS; r++)
        set_of_rank[r] =
            (uint8_t)(choice < REPLAY_SETS ? (int64_t)choice : draw(seed, REPLAY_SETS));
}

/* Compares the times of the job with those of the full graphs, and returns them. */
static void check_forward(const replay_case *c, const tm_replay *job, const uint8_t *sets,
                          int64_t *ns) {
    replay_times times = {0};
    replay_forward(c, sets, &times);
    tm_replay_forward(job, sets, ns);
    for (size_t i = 0; i < job->n_operations; i++)
        assert_int_equal(ns[i], times.operations[job->operations[i].operation]);
    for (size_t i = 0; i < job->n_steps; i++)
        assert_int_equal(ns[job->n_operations + i], times.steps[job->steps[i]]);
    assert_int_equal(tm_replay_total(job, ns), times.steps[REPLAY_STEPS - 1]);
    replay_times_free(&times);
}

static void check_times(const replay_case *c, const tm_replay *job, const uint8_t *sets) {
    replay_times late = {0};
    int64_t ns[TARGETS], late_ns[TARGETS];
    check_forward(c, job, sets, ns);
    tm_replay_backward(job, sets, ns, late_ns);
    replay_backward(c, sets, tm_replay_total(job, ns), &late);
    for (size_t i = 0; i < job->n_operations; i++)
        assert_int_equal(late_ns[i], late.operations[job->operations[i].operation]);
    replay_times_free(&late);
}

/* Checks that hops lead from @p since_ns to the step's end, each as long as its link, or cut. */
static void check_path(const tm_replay *job, const uint8_t *sets, const int64_t *ns, size_t step,
                       int64_t since_ns) {
    tm_vec hops = TM_VEC(tm_hop);
    int64_t at = since_ns > 0 ? since_ns : 0;
    assert_true(tm_replay_path(job, sets, ns, step, since_ns, &hops));
    for (size_t i = 0; i < hops.n; i++) {
        const tm_hop *hop = (const tm_hop *)hops.data + i;
        int64_t from_ns = hop->from == TM_FROM_ROOT ? 0 : ns[hop->from];
        assert_int_equal(hop->begin_ns, at);
        assert_int_equal(hop->end_ns, ns[hop->to]);
        assert_int_equal(hop->begin_ns, i == 0 && from_ns < since_ns ? since_ns : from_ns);
        const uint8_t set = sets[hop->rank];
        assert_int_equal(hop->end_ns - from_ns, job->ns ? job->ns[set * job->n_links + hop->link]
                                                        : job->times[hop->link][set]);
        assert_int_equal(job->from[hop->link], hop->from);
        assert_in_range(hop->link, job->first[hop->to], job->first[hop->to + 1] - 1);
        at = hop->end_ns;
    }
    assert_int_equal(at, ns[job->n_operations + step]);
    tm_vec_free(&hops);
}

static void check_paths(const tm_replay *job, const uint8_t *sets) {
    int64_t ns[TARGETS];
    tm_replay_forward(job, sets, ns);
    for (size_t i = 0; i < job->n_steps; i++) {
        check_path(job, sets, ns, i, i > 0 ? ns[job->n_operations + i - 1] : 0);
        check_path(job, sets, ns, i, INT64_MIN);
    }
}

static void assert_same_job(const tm_replay *a, const tm_replay *b) {
    size_t n_targets = a->n_operations + a->n_steps;
    assert_int_equal(a->n_ranks, b->n_ranks);
    assert_int_equal(a->n_operations, b->n_operations);
    assert_int_equal(a->n_steps, b->n_steps);
    assert_int_equal(a->n_links, b->n_links);
    assert_memory_equal(a->ranks, b->ranks, a->n_ranks * sizeof *a->ranks);
    assert_memory_equal(a->operations, b->operations, a->n_operations * sizeof *a->operations);
    assert_memory_equal(a->steps, b->steps, a->n_steps * sizeof *a->steps);
    assert_memory_equal(a->first, b->first, (n_targets + 1) * sizeof *a->first);
    assert_memory_equal(a->from, b->from, a->n_links * sizeof *a->from);
    assert_memory_equal(a->rank, b->rank, a->n_links * sizeof *a->rank);
    assert_memory_equal(a->ns, b->ns, a->n_links * a->n_sets * sizeof *a->ns);
}

/* Checks T if one group of ranks after another has other weights (tm_each_totals) against sweeps.
 * Groups are ranks with the same index modulo @p apart. If some share one, rank 0 is in none. */
static void check_each(const tm_replay *job, size_t apart) {
    static const tm_replay_sets both = {1, 2};
    const size_t n_groups = apart < job->n_ranks ? apart : job->n_ranks;
    uint32_t groups[REPLAY_RANKS] = {0};
    tm_each each;
    for (size_t i = 0; i < job->n_ranks; i++)
        groups[i] = i == 0 && apart < REPLAY_RANKS ? UINT32_MAX : (uint32_t)(i % apart);
    assert_true(tm_each_open(&each, job, both, groups));
    for (size_t first = 0; first < n_groups; first += TM_EACH_LANES) {
        size_t left = n_groups - first, n = left < TM_EACH_LANES ? left : TM_EACH_LANES;
        int64_t totals[TM_EACH_LANES], ns[TARGETS];
        tm_each_totals(&each, first, n, totals);
        for (size_t i = 0; i < n; i++) {
            uint8_t sets[REPLAY_RANKS];
            for (size_t r = 0; r < job->n_ranks; r++)
                sets[r] = groups[r] == first + i ? both.own : both.others;
            tm_replay_forward(job, sets, ns);
            assert_int_equal(totals[i], tm_replay_total(job, ns));
        }
    }
    tm_each_free(&each);
}

/* Checks that a sweep over all sets together gives the times of one sweep for each set. */
static void check_all(const replay_case *c, const tm_replay *job) {
    const size_t n = job->n_operations + job->n_steps;
    int64_t all[TARGETS * REPLAY_SETS], ns[TARGETS];
    tm_vec words = TM_VEC(int64_t);
    tm_replay opened;
    tm_error err;
    replay_words(c, false, &words);
    assert_ok(tm_replay_open(words.data, words.n, &opened, &err));
    tm_replay_forward_all(&opened, all);
    for (size_t set = 0; set < REPLAY_SETS; set++) {
        uint8_t sets[REPLAY_RANKS];
        memset(sets, (int)set, sizeof sets);
        tm_replay_forward(job, sets, ns);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(all[i * REPLAY_SETS + set], ns[i]);
        check_paths(&opened, sets);
    }
    tm_replay_free(&opened);
    tm_vec_free(&words);
}

TEST(a_reduced_job_has_the_times_of_the_full_graphs) {
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            replay_case c;
            tm_replay job, again;
            uint64_t draws = seed;
            replay_random(&shapes[s], seed, &c);
            replay_reduced(&c, false, &job);
            replay_reduced(&c, true, &again);
            assert_same_job(&job, &again);
            assert_int_equal(job.n_left_out, 0);
            for (size_t i = 0; i < CHOICES; i++) {
                uint8_t sets[REPLAY_RANKS];
                choose(&draws, i, sets);
                check_times(&c, &job, sets);
                check_paths(&job, sets);
            }
            check_each(&job, REPLAY_RANKS);
            check_each(&job, 3);
            check_all(&c, &job);
            tm_replay_free(&job);
            tm_replay_free(&again);
            replay_free(&c);
        }
}

TEST(recorded_times_hold_where_ways_lead_against_the_order) {
    static const replay_shape shape = {"clocks disagree", 4, 80, 50, 10, 5, 500, -300};
    static const uint8_t sets[REPLAY_RANKS] = {0};
    int64_t n_left_out = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        replay_case c;
        tm_replay job;
        int64_t ns[TARGETS];
        replay_random(&shape, seed, &c);
        replay_reduced(&c, false, &job);
        n_left_out += job.n_left_out;
        check_forward(&c, &job, sets, ns);
        check_paths(&job, sets);
        tm_replay_free(&job);
        replay_free(&c);
    }
    assert_true(n_left_out > 0);
}

static void lead(replay_case *c, size_t rank, uint32_t from, int64_t ns) {
    replay_edge(c, rank, from, (const int64_t[REPLAY_SETS]){ns, ns, ns, ns});
}

static uint32_t after(replay_case *c, size_t rank, uint32_t from, int64_t ns) {
    uint32_t node = replay_node(c, rank);
    lead(c, rank, from, ns);
    return node;
}

/* Three copies of the sets: more than TM_LANES. Then reduce.c also makes joints (nodes at which all
 * later ways of a rank start) of some nodes that have over FEW but at most MOST ways. */
enum { THRICE = 3 * REPLAY_SETS };

static void weigh_thrice(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns) {
    replay_weigh(context, graph, edge, ns);
    for (size_t i = REPLAY_SETS; i < THRICE; i++)
        ns[i] = ns[i - REPLAY_SETS];
}

static void reduce_thrice(const replay_case *c, tm_replay *job) {
    tm_vec words = TM_VEC(int64_t);
    tm_error err;
    for (size_t r = 0; r < c->n_ranks; r++)
        assert_ok(tm_reduce(&c->ranks[r].graph, THRICE, weigh_thrice, &c->ranks[r], &words, &err));
    assert_ok(tm_replay_build(words.data, words.n, job, &err));
    tm_vec_free(&words);
}

/* Both ranks take 10 ns (8 in set 2, 20 in set 3) on the host from one operation to the next, and
 * leave an operation 9 ns (12 in set 1) after the last arrival. So each way past operations is the
 * longest in some set, and 40 of them would lead to the last operation. Nodes with many ways become
 * joints: with many sets, also some with five (FEW in reduce.c), so fewer links are left. */
TEST(ways_that_no_operation_implies_are_joined) {
    enum { OPERATIONS = 40, NODES = 30 };
    static const struct {
        uint8_t sets[2];
        int64_t ns; /* time from one operation to the next, on the slower rank */
    } rows[] = {{{0, 0}, 10}, {{1, 1}, 12}, {{2, 2}, 9},  {{3, 3}, 20},
                {{0, 3}, 20}, {{2, 1}, 12}, {{2, 0}, 10}, {{3, 1}, 20}};
    replay_case c = {0};
    tm_replay job, thrice;
    int64_t ns[TARGETS];
    for (size_t rank = 0; rank < 2; rank++) {
        uint32_t node = replay_node(&c, rank);
        replay_edge(&c, rank, TM_FROM_ROOT, (const int64_t[REPLAY_SETS]){0});
        for (uint64_t i = 0; i < OPERATIONS; i++) {
            uint32_t from = replay_participant(&c, rank, node, i), call = replay_node(&c, rank);
            replay_edge(&c, rank, node, (const int64_t[REPLAY_SETS]){4, 4, 4, 4});
            for (size_t k = 0; k < NODES; k++)
                call = after(&c, rank, call, 0);
            uint32_t next = replay_node(&c, rank);
            replay_edge(&c, rank, call, (const int64_t[REPLAY_SETS]){6, 6, 4, 16});
            replay_edge(&c, rank, from, (const int64_t[REPLAY_SETS]){9, 12, 9, 9});
            node = next;
        }
        replay_step(&c, rank, node, 0);
    }
    replay_finish(&c);
    replay_reduced(&c, false, &job);
    assert_true(job.n_operations > OPERATIONS && job.n_operations + 1 <= TARGETS);
    assert_true(job.n_links < (size_t)2 * OPERATIONS * 14); /* without joints: 2 x 40 x 41 / 2 */
    reduce_thrice(&c, &thrice);
    assert_true(thrice.n_operations > job.n_operations && thrice.n_operations + 1 <= TARGETS);
    assert_true(thrice.n_links < job.n_links);
    for (size_t i = 0; i < COUNT(rows); i++) {
        tm_replay_forward(&job, rows[i].sets, ns);
        assert_int_equal(ns[job.n_operations], OPERATIONS * rows[i].ns);
        check_paths(&job, rows[i].sets);
        tm_replay_forward(&thrice, (const uint8_t[]){rows[i].sets[0], rows[i].sets[1] + 8}, ns);
        assert_int_equal(ns[thrice.n_operations], OPERATIONS * rows[i].ns);
    }
    tm_replay_free(&job);
    tm_replay_free(&thrice);
    replay_free(&c);
}

/* As above, but ways fork and meet again at the same time, except in set 1, in which one of each
 * pair takes 1 ns longer. At one time there may be only one joint, as joints are ordered by time.
 */
TEST(ways_are_joined_once_at_a_time) {
    enum { OPERATIONS = 40, PAIRS = 15, ROOM = 1000, NODES = OPERATIONS * (3 * PAIRS + 4) };
    static const int64_t expected[REPLAY_SETS] = {10, 4 + PAIRS + 6, 9, 20};
    replay_case c = {0};
    tm_replay job;
    int64_t ns[ROOM];
    uint32_t parts[NODES], node = replay_node(&c, 0);
    replay_edge(&c, 0, TM_FROM_ROOT, (const int64_t[REPLAY_SETS]){0});
    for (uint64_t i = 0; i < OPERATIONS; i++) {
        uint32_t from = replay_participant(&c, 0, node, i), call = after(&c, 0, node, 4);
        for (size_t k = 0; k < PAIRS; k++) {
            uint32_t a = after(&c, 0, call, 0), b = replay_node(&c, 0);
            replay_edge(&c, 0, call, (const int64_t[REPLAY_SETS]){0, 1, 0, 0});
            call = after(&c, 0, a, 0);
            lead(&c, 0, b, 0);
        }
        node = replay_node(&c, 0);
        replay_edge(&c, 0, call, (const int64_t[REPLAY_SETS]){6, 6, 4, 16});
        replay_edge(&c, 0, from, (const int64_t[REPLAY_SETS]){9, 12, 9, 9});
    }
    replay_step(&c, 0, node, 0);
    replay_finish(&c);
    assert_in_range(c.ranks[0].graph.n_nodes, 1, NODES);
    for (uint32_t i = 0; i < NODES; i++)
        parts[i] = NODES - i;
    c.ranks[0].graph.parts = parts;
    reduce_thrice(&c, &job);
    c.ranks[0].graph.parts = NULL;
    assert_in_range(job.n_operations, OPERATIONS + 1, ROOM - 1);
    for (size_t set = 0; set < THRICE; set++) {
        tm_replay_forward(&job, (const uint8_t[]){(uint8_t)set}, ns);
        assert_int_equal(ns[job.n_operations], OPERATIONS * expected[set % REPLAY_SETS]);
    }
    tm_replay_free(&job);
    replay_free(&c);
}

/* Arrivals [ns]. Operation 1: both ranks at 5. Operation 2: rank 10 at 5 + 1 = 6, rank 11 at 5 + 3
 * = 8 (the last). Operation 3: rank 10 at max(5 + 10, 8 + 7) = 15, rank 11 at 8 + 7 = 15. Operation
 * 4: only rank 11, at 15 + 1 = 16. Step 0 ends at 20 on both ranks: 15 + 5 on rank 10, 16 + 4 on
 * rank 11. Step 1 ends on rank 10 at 15 + 30 = 45. */
static void two_ranks(replay_case *c) {
    uint32_t first[2], second[2], third[2], fourth;
    for (size_t r = 0; r < 2; r++) {
        first[r] = replay_participant(c, r, after(c, r, TM_FROM_ROOT, 5), 1);
        second[r] = replay_participant(c, r, after(c, r, first[r], r == 0 ? 1 : 3), 2);
        uint32_t begin = after(c, r, second[r], 7);
        if (r == 0)
            lead(c, r, first[r], 10);
        third[r] = replay_participant(c, r, begin, 3);
    }
    fourth = replay_participant(c, 1, after(c, 1, third[1], 1), 4);
    replay_step(c, 0, after(c, 0, third[0], 5), 0);
    replay_step(c, 1, after(c, 1, fourth, 4), 0);
    replay_step(c, 0, after(c, 0, third[0], 30), 1);
    replay_finish(c);
}

TEST(a_path_takes_the_lowest_rank_then_the_latest_source) {
    static const uint8_t sets[2] = {0};
    /* Step 0 ends on both ranks at 20, so rank 10 is taken, although operation 4 is later than 3.
     * Both ranks arrive at 3 at 15, so rank 10 again; of its sources, 2 is later than 1. Rank 11
     * is the last to arrive at 2. Both arrive at 1 at 5. The path of step 1 is cut at 20. */
    static const struct {
        size_t step, n;
        struct {
            int64_t begin_ns, end_ns;
            uint32_t from, to, rank;
        } hops[4];
    } paths[] = {
        {0, 4, {{0, 5, TM_FROM_ROOT, 0, 0}, {5, 8, 0, 1, 1}, {8, 15, 1, 2, 0}, {15, 20, 2, 4, 0}}},
        {1, 1, {{20, 45, 2, 5, 0}}},
    };
    replay_case c = {0};
    tm_replay job;
    int64_t ns[6];
    tm_vec hops = TM_VEC(tm_hop);
    two_ranks(&c);
    replay_reduced(&c, false, &job);
    tm_replay_forward(&job, sets, ns);
    for (size_t i = 0; i < COUNT(paths); i++) {
        assert_true(tm_replay_path(&job, sets, ns, i, i == 0 ? 0 : 20, &hops));
        assert_int_equal(hops.n, paths[i].n);
        for (size_t k = 0; k < hops.n; k++) {
            const tm_hop *hop = (const tm_hop *)hops.data + k;
            assert_true(hop->begin_ns == paths[i].hops[k].begin_ns &&
                        hop->end_ns == paths[i].hops[k].end_ns &&
                        hop->from == paths[i].hops[k].from && hop->to == paths[i].hops[k].to &&
                        hop->rank == paths[i].hops[k].rank);
        }
    }
    tm_vec_free(&hops);
    tm_replay_free(&job);
    replay_free(&c);
}

TEST(pieces_of_a_path_that_are_merged_have_the_name_of_the_longest) {
    /* There is one more piece than a step may have rows. All take 3 ns, except one of 1 ns on rank
     * 0 and one of 2 ns on rank 1 after it: these two are merged. */
    enum { N = 2001 };
    static tm_path_piece v[N];
    tm_path_step step = {0};
    tm_whatif_rank ranks[] = {{.rank = 0}, {.rank = 1}};
    tm_names *names = tm_names_create();
    const uint32_t ids[] = {tm_names_intern_string(names, "short"),
                            tm_names_intern_string(names, "long")};
    for (int i = 0; i < N; i++)
        v[i] = (tm_path_piece){.ns = i < 2 ? i + 1 : 3, .rank = i % 2, .name = ids[i % 2]};
    tm_replay_result replay = {.names = names,
                               .pieces = {.data = v, .n = N, .size = sizeof *v},
                               .path_steps = {.data = &step, .n = 1, .size = sizeof step},
                               .ranks = {.data = ranks, .n = 2, .size = sizeof *ranks}};
    tm_tables tables;
    tm_error err;
    assert_ok(tm_analysis_tables(&tables, &err));
    assert_ok(
        tm_analysis_criticalpath.collectives(&(tm_collectives){.replay = &replay}, &tables, &err));
    const tm_table *rows = tm_tables_find(&tables, "criticalpath.piece");
    assert_int_equal(rows->n_rows, 2000);
    assert_int_equal(tm_table_cell(rows, 0, "duration_ns")->value.i, 3);
    assert_int_equal(tm_table_cell(rows, 0, "rank")->value.i, 1);
    assert_string_equal(tm_table_cell(rows, 0, "name")->value.text, "long");
    tm_tables_destroy(&tables);
    tm_names_destroy(names);
}

TEST(no_rank_is_a_job) {
    tm_replay job;
    tm_error err;
    assert_ok(tm_replay_build(NULL, 0, &job, &err));
    assert_int_equal(job.n_ranks, 0);
    assert_int_equal(tm_replay_total(&job, NULL), 0);
    tm_replay_free(&job);
}

RUN_TESTS()

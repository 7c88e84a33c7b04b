/* Savings of fixing ranks, and the ranks of the plan: by hand, and by trying all. */
#include "replay/whatif/plan.h"

#include "replay_fixture.h"

/* The sets that are used: as recorded, as peers, and both again without the unexplained time. */
static const tm_fix_sets recorded = {0, 2}, peer = {1, 3};

/* Operations in sequence. Each rank arrives at one of them, ns[rank] after the previous operation.
 * A step ends with the last operation, so its time T is the sum of the longest times. The plan has,
 * for each rank, the time that fixing it takes off the path, and the total saved so far. */
typedef struct course {
    const char *stages; /* digit i: the operation at which rank i arrives */
    int64_t ns[REPLAY_RANKS], peer_ns[REPLAY_RANKS];
    const char *plan; /* "rank path saved; ..." */
} course;

static const course courses[] = {
    /* the largest saving comes first, of equal ones the lowest rank; rank 0 equals its peers */
    {"0123", {10, 20, 30, 40}, {10, 10, 15, 30}, "2 15 15; 1 10 25; 3 10 35"},
    /* T is 10000, 0.5 % of it 50; then T is 10001. Rank 2, faster than its peers, is not chosen */
    {"0123", {2050, 2049, 901, 5000}, {2000, 2000, 999, 4995}, "0 50 50"},
    {"0123", {2050, 2049, 902, 5000}, {2000, 2000, 999, 4995}, ""},
    /* a plan has at most eight ranks */
    {"0123456789",
     {10, 10, 10, 10, 10, 10, 10, 10, 10, 10},
     {1, 2, 1, 1, 1, 1, 1, 1, 1, 1},
     "0 9 9; 2 9 18; 3 9 27; 4 9 36; 5 9 45; 6 9 54; 7 9 63; 8 9 72"},
    /* rank 1 takes 8 off the path but saves 5, as rank 2 arrives at 15; rank 0 saves 5 or 7 */
    {"100", {10, 20, 15}, {5, 12, 15}, "0 5 5; 1 8 10"},
    {"100", {10, 20, 15}, {3, 12, 15}, "0 7 7; 1 8 12"},
    /* two are equally late: fixing one saves nothing, but leaves only the other on the path */
    {"000", {100, 100, 60}, {60, 60, 60}, "0 40 0; 1 40 40"},
    {"0000", {100, 100, 90, 50}, {60, 60, 85, 50}, "0 40 0; 1 40 10; 2 5 15"},
    {"0000", {100, 100, 99, 90}, {60, 60, 60, 90}, "0 40 0; 1 40 1; 2 39 10"},
    /* rank 2 takes more off the path than rank 0; after rank 2, fixing rank 3 saves 30 */
    {"0011", {100, 100, 100, 100}, {60, 50, 55, 70}, "2 45 0; 3 30 30; 0 40 30; 1 50 70"},
    /* T = 2000: rank 2 saves 4, less than 0.5 %, but is kept because 0 and 1 follow */
    {"0011", {1000, 1000, 1000, 996}, {900, 900, 980, 996}, "2 20 4; 0 100 4; 1 100 104"},
    {"0011", {1000, 980, 1000, 996}, {980, 980, 980, 996}, "0 20 20"},
    /* T = 1000: ranks that save less than 5, or take less off the path, are dropped */
    {"00", {1000, 1000}, {995, 10}, "0 5 0; 1 990 5"},
    {"00", {1000, 1000}, {996, 10}, ""},
    {"000", {1000, 1000, 996}, {10, 10, 10}, "0 990 0; 1 990 4; 2 986 990"},
    {"0000", {1000, 1000, 996, 996}, {10, 10, 10, 996}, ""},
    {"000", {1000, 1000, 990}, {986, 10, 10}, "0 14 0; 1 990 10"},
};

enum { EXPLAINED_NS = 9 }; /* explained time of a stage, as recorded and as peers */

static void run_course(const course *given, replay_case *c) {
    for (uint32_t r = 0; r < strlen(given->stages); r++) {
        uint32_t before = TM_FROM_ROOT, stage = (uint32_t)(given->stages[r] - '0');
        if (stage > 0) { /* the rank waits for the previous operation */
            uint32_t early = replay_node(c, r);
            replay_edge(c, r, TM_FROM_ROOT, (const int64_t[REPLAY_SETS]){0});
            before = replay_participant(c, r, early, stage - 1);
        }
        uint32_t node = replay_node(c, r);
        replay_edge(c, r, before,
                    (const int64_t[REPLAY_SETS]){given->ns[r], given->peer_ns[r], EXPLAINED_NS,
                                                 EXPLAINED_NS});
        replay_participant(c, r, node, stage);
        replay_step(c, r, node, 0);
    }
    replay_finish(c);
}

static void check_course(const course *given, tm_fixer *fixer) {
    tm_error err;
    tm_vec plan = TM_VEC(tm_planned);
    assert_ok(tm_fixer_plan(fixer, peer, &plan, &err));
    char text[256] = "";
    for (size_t k = 0, used = 0; k < plan.n; k++) {
        const tm_planned *planned = (const tm_planned *)plan.data + k;
        const tm_saving *saving = &planned->saving;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d %d %d", k > 0 ? "; " : "",
                                 (int)planned->rank, (int)saving->path_ns, (int)saving->saved_ns);
        assert_int_equal(saving->saved_most_ns,
                         fixer->total_ns - EXPLAINED_NS * (int64_t)fixer->replay->n_operations);
    }
    assert_string_equal(text, given->plan);
    tm_vec_free(&plan);
}

typedef struct fixing {
    replay_case c;
    tm_replay job;
    tm_fixer fixer;
} fixing;

static void open_fixing(fixing *f) {
    tm_error err;
    replay_reduced(&f->c, false, &f->job);
    assert_ok(tm_fixer_open(&f->job, recorded, &f->fixer, &err));
}

static void close_fixing(fixing *f) {
    tm_fixer_free(&f->fixer);
    tm_replay_free(&f->job);
    replay_free(&f->c);
}

/* A fix may help if it takes at least a 2000th of T off the path. In the courses with T = 10000 and
 * 10001, rank 3 takes 5 off. */
TEST(a_plan_is_as_worked_out) {
    for (size_t i = 0; i < COUNT(courses); i++) {
        fixing f = {.c = {0}};
        run_course(&courses[i], &f.c);
        open_fixing(&f);
        if (i == 1 || i == 2) {
            const tm_fix third = {(const uint32_t[]){3}, 1, peer};
            assert_int_equal(tm_fixer_may_help(&f.fixer, &third), i == 1);
            assert_false(tm_fixer_may_help(&f.fixer, &(tm_fix){(const uint32_t[]){2}, 1, peer}));
        }
        check_course(&courses[i], &f.fixer);
        close_fixing(&f);
    }
}

/* Returns T of the full graphs with these ranks fixed. */
static int64_t total_of(const replay_case *c, const bool *fixed, bool explained) {
    uint8_t sets[REPLAY_RANKS];
    replay_times times = {0};
    for (size_t r = 0; r < REPLAY_RANKS; r++) {
        tm_fix_sets both = fixed[r] ? peer : recorded;
        sets[r] = explained ? both.explained : both.plain;
    }
    replay_forward(c, sets, &times);
    replay_times_free(&times);
    return times.steps[REPLAY_STEPS - 1];
}

/* Checks the saving of fixing these ranks against the full graphs. */
static void check_fix(tm_fixer *fixer, const replay_case *c, const bool *fixed) {
    static const bool none[REPLAY_RANKS];
    uint32_t ranks[REPLAY_RANKS];
    tm_fix fix = {ranks, 0, peer};
    for (uint32_t r = 0; r < c->n_ranks; r++)
        if (fixed[r])
            ranks[fix.n++] = r;
    tm_saving saving = tm_fixer_try(fixer, &fix);
    int64_t total = total_of(c, none, false);
    assert_int_equal(fixer->total_ns, total);
    assert_int_equal(fixer->explained_ns, total_of(c, none, true));
    assert_int_equal(saving.saved_ns, total - total_of(c, fixed, false));
    assert_int_equal(saving.saved_most_ns, total - total_of(c, fixed, true));
    assert_true(saving.saved_ns <= saving.path_ns);
    /* a 2000th of T is 0.05 % */
    assert_int_equal(tm_fixer_may_help(fixer, &fix),
                     saving.path_ns > 0 && saving.path_ns * 2000 >= total);
    if (fix.n == c->n_ranks) { /* "all ranks" is a separate request */
        tm_saving all = tm_fixer_try(fixer, &(tm_fix){.sets = peer});
        assert_memory_equal(&all, &saving, sizeof all);
    }
}

static void check_plan(tm_fixer *fixer, const replay_case *c) {
    bool fixed[REPLAY_RANKS] = {false};
    tm_vec plan = TM_VEC(tm_planned);
    tm_error err;
    int64_t total = total_of(c, fixed, false), now = total;
    assert_ok(tm_fixer_plan(fixer, peer, &plan, &err));
    for (size_t i = 0; i <= plan.n; i++) {
        size_t best = 0;
        int64_t least = INT64_MAX;
        for (size_t r = 0; r < c->n_ranks; r++) {
            if (fixed[r])
                continue;
            fixed[r] = true;
            int64_t with = total_of(c, fixed, false);
            fixed[r] = false;
            best = with < least ? r : best;
            least = with < least ? with : least;
        }
        if (i == plan.n) { /* a 200th of T is 0.5 % */
            assert_true(least >= now || (now - least) * 200 < total);
            break;
        }
        /* A rank that saves less was chosen because ranks after it in the plan save enough. */
        const tm_planned *planned = (const tm_planned *)plan.data + i;
        if (least < now && (now - least) * 200 >= total)
            assert_int_equal(planned->rank, best);
        assert_false(fixed[planned->rank]);
        fixed[planned->rank] = true;
        now = total_of(c, fixed, false);
        assert_int_equal(planned->saving.saved_ns, total - now);
        assert_int_equal(planned->saving.saved_most_ns, total - total_of(c, fixed, true));
        assert_true(planned->saving.path_ns * 200 >= total);
        if (i == plan.n - 1)
            assert_true((total - now) * 200 >= total);
    }
    tm_vec_free(&plan);
}

TEST(fixes_and_plans_are_those_of_trying_everything) {
    static const replay_shape shapes[] = {
        {"usual", 5, 60, 30, 10, 5, 1000, 0},
        {"many equal", 6, 60, 40, 30, 5, 3, 0},
        {"one rank", 1, 40, 30, 10, 5, 1000, 0},
        {"no steps", 2, 40, 30, 10, 100, 1000, 0},
    };
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (uint64_t seed = 1; seed <= 40; seed++) {
            fixing f;
            replay_random(&shapes[s], seed, &f.c);
            open_fixing(&f);
            for (size_t mask = 1; mask < (size_t)1 << f.c.n_ranks; mask++) {
                bool fixed[REPLAY_RANKS] = {false};
                for (size_t r = 0; r < f.c.n_ranks; r++)
                    fixed[r] = mask >> r & 1;
                check_fix(&f.fixer, &f.c, fixed);
            }
            check_plan(&f.fixer, &f.c);
            close_fixing(&f);
        }
}

RUN_TESTS()

/* What fixing ranks saves, and which ranks the plan takes on: by hand, and against trying all. */
#include "replay/plan.h"

#include <string.h>

#include "replay_fixture.h"

/* Sets of the cases here: as recorded, of peers, and both without what nothing explains. */
static const tm_fix_sets recorded = {0, 2}, peer = {1, 3};

/* A relay: rank r comes to operation r that long after operation r - 1, which it shares with the
 * rank before; a step ends with the last. So T is the sum, each rank saves what its peers are
 * faster, and without what nothing explains it takes `explained` in either case. */
typedef struct relay {
    int64_t ns[REPLAY_RANKS], peer_ns[REPLAY_RANKS], explained_ns;
    const char *plan; /* the ranks, 0 to 9 */
} relay;

static const relay relays[] = {
    /* T = 100: the largest first, of equals the lowest; 10 is as its peers */
    {{10, 20, 30, 40}, {10, 10, 15, 30}, 9, "213"},
    /* T = 10000, of which 0.5 % is 50, and 10001; who is faster than its peers is never in */
    {{2050, 2049, 901, 5000}, {2000, 2000, 999, 5000}, 9, "0"},
    {{2050, 2049, 902, 5000}, {2000, 2000, 999, 5000}, 9, ""},
    /* eight at most */
    {{10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, {1, 2, 1, 1, 1, 1, 1, 1, 1, 1}, 9, "02345678"},
};

static void run_relay(const relay *given, replay_case *c) {
    for (uint32_t r = 0; r < REPLAY_RANKS && given->ns[r] > 0; r++) {
        uint32_t before = TM_FROM_ROOT;
        if (r > 0) { /* it waits there for the rank before */
            uint32_t early = replay_node(c, r);
            replay_edge(c, r, TM_FROM_ROOT, (const int64_t[REPLAY_SETS]){0});
            before = replay_visit(c, r, early, r - 1);
        }
        uint32_t node = replay_node(c, r);
        replay_edge(c, r, before,
                    (const int64_t[REPLAY_SETS]){given->ns[r], given->peer_ns[r],
                                                 given->explained_ns, given->explained_ns});
        replay_visit(c, r, node, r);
        replay_step(c, r, node, 0);
    }
    replay_finish(c);
}

static void the_plan_of_a_relay_is_as_worked_out(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(relays); i++) {
        replay_case c = {0};
        tm_replay job;
        tm_fixer fixer;
        tm_error err;
        tm_vec plan = TM_VEC(tm_planned);
        int64_t saved_ns = 0;
        run_relay(&relays[i], &c);
        replay_reduced(&c, false, &job);
        assert_int_equal(tm_fixer_open(&job, recorded, &fixer, &err), TM_OK);
        assert_int_equal(tm_fixer_plan(&fixer, peer, &plan, &err), TM_OK);
        assert_int_equal(plan.n, strlen(relays[i].plan));
        for (size_t k = 0; k < plan.n; k++) {
            const tm_planned *planned = (const tm_planned *)plan.data + k;
            uint32_t rank = (uint32_t)(relays[i].plan[k] - '0');
            int64_t less = relays[i].ns[rank] - relays[i].peer_ns[rank];
            saved_ns += less;
            assert_int_equal(planned->rank, rank);
            assert_int_equal(planned->saving.path_ns, less);
            assert_int_equal(planned->saving.saved_ns, saved_ns);
            assert_int_equal(planned->saving.saved_most_ns,
                             fixer.total_ns - 9 * (int64_t)job.n_ranks);
        }
        tm_vec_free(&plan);
        tm_fixer_free(&fixer);
        tm_replay_free(&job);
        replay_free(&c);
    }
}

/* A step ends when the last of four ranks does: at 100 two of them, of which each alone saves
 * nothing; with both as their peers (60) it ends at 90 with the third, with that (85) at 85. */
static void ranks_that_are_as_late_are_taken_on_together(void **state) {
    (void)state;
    static const int64_t ends[][2] = {{100, 60}, {100, 60}, {90, 85}, {50, 50}};
    static const int64_t saved[] = {0, 10, 15};
    replay_case c = {0};
    tm_replay job;
    tm_fixer fixer;
    tm_error err;
    tm_vec plan = TM_VEC(tm_planned);
    for (uint32_t r = 0; r < COUNT(ends); r++) {
        uint32_t node = replay_node(&c, r);
        replay_edge(&c, r, TM_FROM_ROOT,
                    (const int64_t[REPLAY_SETS]){ends[r][0], ends[r][1], ends[r][0], ends[r][1]});
        replay_step(&c, r, node, 0);
    }
    replay_finish(&c);
    replay_reduced(&c, false, &job);
    assert_int_equal(tm_fixer_open(&job, recorded, &fixer, &err), TM_OK);
    assert_int_equal(tm_fixer_plan(&fixer, peer, &plan, &err), TM_OK);
    assert_int_equal(plan.n, COUNT(saved));
    for (uint32_t k = 0; k < COUNT(saved); k++) {
        const tm_planned *planned = (const tm_planned *)plan.data + k;
        assert_int_equal(planned->rank, k);
        assert_int_equal(planned->saving.saved_ns, saved[k]);
    }
    tm_vec_free(&plan);
    tm_fixer_free(&fixer);
    tm_replay_free(&job);
    replay_free(&c);
}

/* T of the full graphs with these ranks fixed. */
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

/* Holds what fixing these ranks saves against the full graphs. */
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
    /* 0.05 % of T is a 2000th */
    assert_int_equal(tm_fixer_may_help(fixer, &fix),
                     saving.path_ns > 0 && saving.path_ns * 2000 >= total);
    if (fix.n == c->n_ranks) { /* all ranks have a name of their own */
        tm_saving all = tm_fixer_try(fixer, &(tm_fix){.sets = peer});
        assert_memory_equal(&all, &saving, sizeof all);
    }
}

static void check_plan(tm_fixer *fixer, const replay_case *c) {
    bool fixed[REPLAY_RANKS] = {false};
    tm_vec plan = TM_VEC(tm_planned);
    tm_error err;
    int64_t total = total_of(c, fixed, false), now = total;
    assert_int_equal(tm_fixer_plan(fixer, peer, &plan, &err), TM_OK);
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
        if (i == plan.n) { /* 0.5 % of T is a 200th */
            assert_true(least >= now || (now - least) * 200 < total);
            break;
        }
        /* Else nobody is worth it alone: who is taken on shows when the others are, too. */
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

static void fixes_and_plans_are_those_of_trying_everything(void **state) {
    (void)state;
    static const replay_shape shapes[] = {
        {"usual", 5, 60, 30, 10, 5, 1000, 0},
        {"many equal", 6, 60, 40, 30, 5, 3, 0},
        {"one rank", 1, 40, 30, 10, 5, 1000, 0},
        {"no steps", 2, 40, 30, 10, 100, 1000, 0},
    };
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (uint64_t seed = 1; seed <= 40; seed++) {
            replay_case c;
            tm_replay job;
            tm_fixer fixer;
            tm_error err;
            replay_random(&shapes[s], seed, &c);
            replay_reduced(&c, false, &job);
            assert_int_equal(tm_fixer_open(&job, recorded, &fixer, &err), TM_OK);
            for (size_t mask = 1; mask < (size_t)1 << c.n_ranks; mask++) {
                bool fixed[REPLAY_RANKS] = {false};
                for (size_t r = 0; r < c.n_ranks; r++)
                    fixed[r] = mask >> r & 1;
                check_fix(&fixer, &c, fixed);
            }
            check_plan(&fixer, &c);
            tm_fixer_free(&fixer);
            tm_replay_free(&job);
            replay_free(&c);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_of_a_relay_is_as_worked_out),
        cmocka_unit_test(ranks_that_are_as_late_are_taken_on_together),
        cmocka_unit_test(fixes_and_plans_are_those_of_trying_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

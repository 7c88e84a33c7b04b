/* Members of a group that take longer than chance explains. */
#include "analysis/stragglers/suspects.h"

#include <math.h>

#include "analysis/stragglers/p_values.h"

enum { UNITS_MOST = 130, MEMBERS_MOST = 1024 };

/* Ranks 10, 11, ... work for 1,000 ns each, plus noise, in each of steps 5, 6, ... */
typedef struct group {
    size_t n, n_units;
    int64_t noise_ns; /* 0 to noise_ns - 1 is added; if noise_ns is 0, (member + unit) mod n */
    size_t per_host;  /* ranks per host; 0: hosts unknown */
    size_t per_stage; /* ranks per stage; 0: no pipeline */
    bool outside;     /* units are outside of steps */
    double n_tests;   /* 0 stands for 1 */
    struct {
        size_t first, end;  /* members that are slow */
        size_t begin, over; /* units in which they are slow, by ns: */
        int64_t ns;
    } slow[2];
    bool in_turn; /* true: in odd units, they are faster by ns / 10 */
    uint64_t seed;
} group;

typedef struct outcome {
    tm_vec suspects, standings;
} outcome;

static outcome find(const group *g) {
    tm_own_times times;
    tm_error err;
    outcome out = {TM_VEC(tm_suspect), TM_VEC(tm_standing)};
    int64_t steps[UNITS_MOST], hosts[MEMBERS_MOST], stages[MEMBERS_MOST];
    assert_int_equal(tm_own_times_create(g->n, g->n_units, &times, &err), TM_OK);
    for (size_t u = 0; u < g->n_units; u++) {
        times.from[u] = times.to[u] = (int64_t)u;
        steps[u] = g->outside ? -1 : (int64_t)u + 5;
        for (size_t i = 0; i < g->n; i++) {
            uint64_t by_chance = g->noise_ns > 0
                                     ? tm_draw(g->seed * 1000 + u, i) % (uint64_t)g->noise_ns
                                     : (i + u) % g->n;
            int64_t *ns = &times.ns[u * g->n + i];
            *ns = 1000 + (int64_t)by_chance;
            for (size_t k = 0; k < COUNT(g->slow); k++)
                if (i >= g->slow[k].first && i < g->slow[k].end && u >= g->slow[k].begin &&
                    u < g->slow[k].over)
                    *ns += g->in_turn && u % 2 ? -g->slow[k].ns / 10 : g->slow[k].ns;
        }
    }
    for (size_t i = 0; i < g->n; i++) {
        times.members[i] = 10 + (int64_t)i;
        hosts[i] = g->per_host > 0 ? (int64_t)(i / g->per_host) : -1;
        stages[i] = g->per_stage > 0 ? (int64_t)(i / g->per_stage) : -1;
    }
    const tm_compared compared = {.stretches = &times,
                                  .steps = steps,
                                  .hosts = hosts,
                                  .stages = g->per_stage > 0 ? stages : NULL,
                                  .n_tests = g->n_tests > 0.0 ? g->n_tests : 1.0};
    assert_int_equal(tm_suspects_find(&compared, &out.suspects, &out.standings, &err), TM_OK);
    tm_own_times_free(&times);
    return out;
}

static void close_outcome(outcome *o) {
    tm_vec_free(&o->suspects);
    tm_vec_free(&o->standings);
}

static void assert_near(double found, double expected) {
    if (fabs(found - expected) > 1e-9)
        fail_msg("%.12f is not %.12f", found, expected);
}

static const tm_suspect *suspect(const outcome *o, int64_t member, bool host, bool of_stage) {
    const tm_suspect *v = o->suspects.data;
    for (size_t i = 0; i < o->suspects.n; i++)
        if (v[i].member == member && v[i].host == host && v[i].of_stage == of_stage)
            return &v[i];
    fail_msg("%lld is not found", (long long)member);
    return NULL;
}

/* Returns the suspect of the group, which must be the only one. */
static tm_suspect only(const group *g, int64_t member, bool host) {
    outcome o = find(g);
    tm_suspect found = *suspect(&o, member, host, false);
    assert_int_equal(o.suspects.n, 1);
    close_outcome(&o);
    return found;
}

TEST(nobody_of_equal_ranks_is_found) {
    /* At p = 1 % each, 18 of 100 such runs of 20 tests find a suspect, but not these seeds. */
    for (uint64_t seed = 1; seed <= 20; seed++) {
        outcome o = find(&(group){.n = 4 + seed % 3, .n_units = 24, .noise_ns = 400, .seed = seed});
        assert_int_equal(o.suspects.n, 0);
        assert_int_equal(o.standings.n, 4 + seed % 3);
        close_outcome(&o);
    }
}

/* (member + unit) mod 8 ns are added, so in 8 units each member adds 0 to 7 once: 28 ns in all. The
 * median of the other 7 is 4 if the member added 0 to 3, else 3: also 28 in all. So over 8 units,
 * no member has an excess. */
TEST(one_slow_rank_is_found_throughout) {
    outcome o = find(&(group){.n = 8, .n_units = 16, .slow = {{2, 3, 0, 16, 100}}});
    const tm_suspect *s = suspect(&o, 12, false, false);
    assert_int_equal(o.suspects.n, 1);
    assert_int_equal(s->from, 5);
    assert_int_equal(s->to, 20);
    assert_int_equal(s->units, 16);
    assert_int_equal(s->unit, TM_UNIT_STEP);
    assert_int_equal(s->excess_ns, 1600);
    assert_true(s->throughout);
    /* No member is last in all units in any of 2,999 draws, so p is the smallest possible. */
    assert_near(s->p, 1.0 / 3000);
    /* The slow member is above the median of the others, so the excess of no other member rises. */
    const tm_standing *v = o.standings.data;
    assert_int_equal(o.standings.n, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(v[i].member, 10 + (int64_t)i);
        assert_true(i == 2 ? v[i].excess_ns == 1600 && v[i].p == s->p
                           : v[i].excess_ns <= 0 && v[i].p > 0.01);
    }
    close_outcome(&o);
}

/* No other of 1,024 ranks is often among the last in 6 steps by chance. */
TEST(one_of_many_is_found_in_few_steps) {
    const group many = {.n = 1024, .n_units = 6, .noise_ns = 50, .slow = {{700, 701, 0, 6, 60}}};
    assert_near(only(&many, 710, false).p, 1.0 / 3000);
}

TEST(who_is_last_too_often_is_found_though_else_first) {
    /* 1,000 ns more in 20 of 40 units outweighs 100 ns less in the other 20. */
    const group g = {.n = 8, .n_units = 40, .in_turn = true, .slow = {{2, 3, 0, 40, 1000}}};
    tm_suspect s = only(&g, 12, false);
    assert_near(s.p, 1.0 / 3000);
    assert_int_equal(s.excess_ns, 20 * 1000 - 20 * 100);
}

/* Returns the p of a member whose height (p_values.h) no draw reaches. The number of draws starts
 * at 2999 and is doubled until p is at most 0.001. */
static double p_of(double n_tests) {
    double p = 1.0;
    for (int draws = 2999; p > 0.001; draws *= 2)
        p = 1 - pow(1 - 1.0 / (draws + 1), n_tests);
    return p;
}

TEST(p_is_that_of_all_groups_tested) {
    /* As above, no draw reaches the member. For 250 groups, the 2999 draws that suffice for one
     * group would give at least 0.08. */
    for (int n_tests = 10; n_tests <= 250; n_tests *= 5) {
        const group g = {.n = 8, .n_units = 16, .n_tests = n_tests, .slow = {{2, 3, 0, 16, 100}}};
        assert_true(only(&g, 12, false).p <=
                    p_of(n_tests) + 1e-9); /* less if the upper bound (tm_height_bound) is below the
                                              estimate from draws */
    }
}

TEST(an_episode_has_its_window) {
    /* For 40 units, windows have 40, 28, 19, 13, 9 (beginning at 0, 2, ...), 6 ... units. One is
     * units 14 to 22, which are steps 19 to 27. In longer windows, the member is not always
     * last. */
    tm_suspect s = only(&(group){.n = 8, .n_units = 40, .slow = {{2, 3, 14, 23, 100}}}, 12, false);
    assert_false(s.throughout);
    assert_int_equal(s.from, 19);
    assert_int_equal(s.to, 27);
    assert_int_equal(s.units, 9);
    /* (2 + unit) mod 8 is 0 to 7, then 0: 8 units exceed by 800 ns, the last by 100 + 0 - 4. */
    assert_int_equal(s.excess_ns, 896);
    /* 36 of 40 units count as all: 36 / sqrt(40) = 5.7 exceeds 28 / sqrt(28) = 5.3 of a window. */
    s = only(&(group){.n = 8, .n_units = 40, .slow = {{2, 3, 2, 38, 100}}}, 12, false);
    assert_true(s.throughout);
    assert_int_equal(s.units, 40);
    assert_int_equal(s.excess_ns, 3600); /* 36 x 100; the noise cancels in 5 times 8 units */
    /* 129 steps of 256 members are compared in 43 blocks of 3 (test_own_times.c). */
    s = only(&(group){.n = 256, .n_units = 129, .noise_ns = 20, .slow = {{2, 3, 0, 129, 1000}}}, 12,
             false);
    assert_int_equal(s.units, 129);
}

TEST(an_episode_begins_and_ends_where_it_does_between_windows) {
    /* None of these is one of the windows for 40 units (an_episode_has_its_window). */
    static const size_t episodes[][2] = {{14, 19}, {15, 23}, {3, 14}, {19, 33}, {29, 40}, {0, 10}};
    for (size_t e = 0; e < COUNT(episodes); e++) {
        size_t begin = episodes[e][0], over = episodes[e][1];
        outcome o = find(&(group){
            .n = 8, .n_units = 40, .noise_ns = 20, .slow = {{2, 3, begin, over, 100}}, .seed = 7});
        const tm_suspect *s = suspect(&o, 12, false, false);
        assert_int_equal(s->from, 5 + begin);
        assert_int_equal(s->to, 5 + over - 1);
        assert_int_equal(s->units, over - begin);
        close_outcome(&o);
    }
}

TEST(culprits_are_found_one_after_another) {
    outcome o =
        find(&(group){.n = 8, .n_units = 16, .slow = {{2, 3, 0, 16, 100}, {5, 6, 0, 16, 200}}});
    const tm_suspect *v = o.suspects.data;
    assert_int_equal(o.suspects.n, 2);
    assert_int_equal(v[0].member, 15);
    assert_int_equal(v[1].member, 12);
    assert_near(v[0].p, 1.0 / 3000);
    assert_near(v[1].p, 1.0 / 3000);
    /* the median of the others is within 3 of 1,003.5 */
    assert_in_range(v[0].excess_ns, 16 * 196, 16 * 204);
    assert_in_range(v[1].excess_ns, 16 * 96, 16 * 104);
    close_outcome(&o);
}

TEST(what_is_under_half_a_percent_is_not_said) {
    /* The member is always last, by 4 of 1,000 ns, or by 6. 0.5 % of 1,010 are 5.05. */
    for (int64_t ns = 4; ns <= 6; ns += 2) {
        outcome o =
            find(&(group){.n = 4, .n_units = 16, .noise_ns = 1, .slow = {{2, 3, 0, 16, ns}}});
        assert_int_equal(o.suspects.n, ns == 6);
        /* If no member is found, a quarter of the draws is enough: 749. */
        assert_true(((const tm_standing *)o.standings.data)[2].p <= 1.0 / (ns == 6 ? 3000 : 750));
        close_outcome(&o);
    }
}

TEST(a_slow_host_is_found_instead_of_its_ranks) {
    const group g = {.n = 16,
                     .n_units = 24,
                     .noise_ns = 40,
                     .per_host = 4,
                     .n_tests = 4,
                     .slow = {{8, 12, 0, 24, 100}}};
    tm_suspect s = only(&g, 18, true);
    assert_true(s.throughout);
    /* medians differ by at most 20 */
    assert_in_range(s.excess_ns, 24 * 80, 24 * 120);
    /* In each of 4 groups, hosts and ranks are tested, and hosts get a twentieth of the allowed
     * error. */
    assert_near(s.p, p_of(4 * 20));
}

TEST(one_slow_rank_does_not_make_its_host_slow) {
    /* The slow rank moves the median of its host's two ranks by 100 ns. */
    const group g = {
        .n = 16, .n_units = 24, .noise_ns = 40, .per_host = 2, .slow = {{9, 10, 0, 24, 200}}};
    only(&g, 19, false);
}

TEST(stages_are_compared_with_one_another) {
    /* All members of a stage are suspects, because none stands out in its stage. */
    outcome o = find(&(group){
        .n = 8, .n_units = 24, .noise_ns = 40, .per_stage = 2, .slow = {{4, 6, 0, 24, 200}}});
    assert_int_equal(o.suspects.n, 2);
    assert_true(suspect(&o, 14, false, true)->throughout);
    assert_true(suspect(&o, 15, false, true)->throughout);
    /* 6 tests: one for each of 4 stages of two ranks, one over stages, one over all ranks. */
    assert_near(suspect(&o, 15, false, true)->p, p_of(6));
    assert_int_equal(o.standings.n, 8);
    close_outcome(&o);
    /* A rank that is a whole stage has no standing in it. */
    o = find(&(group){
        .n = 8, .n_units = 24, .noise_ns = 40, .per_stage = 1, .slow = {{4, 5, 0, 24, 200}}});
    suspect(&o, 14, false, true);
    assert_int_equal(o.standings.n, 0);
    close_outcome(&o);
}

TEST(a_slow_rank_in_a_stage_of_two_is_not_its_stage) {
    /* 4 % more is found in the stage; 20 % also among all ranks, where 5 % are needed. */
    for (int64_t ns = 40; ns <= 200; ns += 160) {
        outcome o = find(&(group){
            .n = 8, .n_units = 24, .noise_ns = 10, .per_stage = 2, .slow = {{4, 5, 0, 24, ns}}});
        suspect(&o, 14, false, false);
        assert_int_equal(o.suspects.n, ns == 200 ? 2 : 1);
        for (size_t i = 0; i < o.suspects.n; i++)
            assert_int_equal(((const tm_suspect *)o.suspects.data)[i].member, 14);
        close_outcome(&o);
    }
}

TEST(too_little_is_not_tested) {
    /* Outside of steps, 4 units are needed. For 2 ranks, 4 units prove nothing: by chance, a rank
     * is last in all of them in 2 of 16 cases. Blocks count as two tests, so p is 1 - (14/16)^2. */
    for (size_t n_units = 0; n_units <= 4; n_units++) {
        outcome o = find(&(group){
            .n = 2, .n_units = n_units, .outside = true, .slow = {{0, 1, 0, n_units, 500}}});
        const tm_standing *v = o.standings.data;
        assert_int_equal(o.suspects.n, 0);
        assert_int_equal(o.standings.n, 2);
        assert_int_equal(isnan(v[0].p) != 0, n_units < 4);
        /* the added values alternate between 0 and 1 */
        assert_in_range(v[0].excess_ns, 499 * n_units, 501 * n_units);
        if (n_units == 4)
            assert_in_range((uint64_t)(v[0].p * 1e6), 234375 - 35000, 234375 + 35000);
        close_outcome(&o);
    }
}

RUN_TESTS()

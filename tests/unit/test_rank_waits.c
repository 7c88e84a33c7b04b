/* What held a rank up: which operations released it, its waits, and costs passed back. */
#include "waits/rank_waits.h"

#include "timeline_fixture.h"

enum { OWNER = 3, ORIGIN = 2, A = 1, B = 2, C = 3 };

/* An operation of a rank; its group determines its stream. */
typedef struct op {
    uint64_t group;
    int64_t begin_ns, end_ns, wait_ns;
    bool together;
    bool released; /* expected, like the waits since its group was last together: */
    int64_t all_ns, other_ns;
} op;

/* The rank computes in [0, 100), [200, 300), [400, 450).
 *
 * A [100, 200) waits until 180, compute follows at 200: releases the rank; a wait of 80 counts.
 * B [150, 250) waits until 190, compute is running at 250: does not release the rank.
 * B [320, 400) waits until 380, compute follows at 400: releases the rank; a wait of 60 counts.
 * C [330, 390) waits until 380, but B is running at 390 and ends later: does not release the rank.
 * A [410, 500) waits until 470, no compute follows: releases the rank; after compute, which ends
 *              at 450, a wait of 20 counts.
 * B [510, 520) and C [530, 540) do not wait, and had not begun at 500.
 *
 * Waits before an operation, since its group was last together:
 * A at 100: none. A at 410, together at 200: B's 60, a wait of another group.
 * B at 150: none. B at 320, never together: A's 80. B at 510, together at 400: A's 20.
 * C at 330, never together: A's 80. C at 530, never together: 80 + 60 + 20 of other groups. */
static const op ops[] = {
    {A, 100, 200, 80, true, true, 0, 0},    {B, 150, 250, 40, false, false, 0, 0},
    {B, 320, 400, 60, true, true, 80, 80},  {C, 330, 390, 50, false, false, 80, 80},
    {A, 410, 500, 60, false, true, 60, 60}, {B, 510, 520, 0, true, true, 20, 20},
    {C, 530, 540, 0, true, true, 160, 160},
};

static const int64_t computes[][2] = {{0, 100}, {200, 300}, {400, 450}};

/* Builds the rank's timeline, with an event for each operation. Its name is a letter. */
static tm_timeline build_rank(ground *g, int64_t rank, const op *list, size_t n) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    event_spec events[COUNT(names) + COUNT(computes)];
    assert_true(n <= COUNT(names));
    for (size_t i = 0; i < n; i++)
        events[i] = (event_spec){.category = TM_CAT_KERNEL,
                                 .name = names[i],
                                 .begin_ns = list[i].begin_ns,
                                 .duration_ns = list[i].end_ns - list[i].begin_ns,
                                 .where = 20 + (int)list[i].group,
                                 .collective = "allreduce"};
    for (size_t i = 0; i < COUNT(computes); i++)
        events[n + i] = (event_spec){.category = TM_CAT_KERNEL,
                                     .name = "gemm",
                                     .begin_ns = computes[i][0],
                                     .duration_ns = computes[i][1] - computes[i][0],
                                     .where = 7};
    return build_one(g, rank, events, n + COUNT(computes));
}

static uint32_t event_of(const ground *g, const tm_timeline *timeline, size_t i) {
    const char name[] = {(char)('a' + i), '\0'};
    return row_named(g, timeline, name);
}

/* Returns participations in the order of operations; member i is operation i. */
static tm_vec participants_of(const ground *g, const tm_timeline *timeline, const op *list,
                              size_t n) {
    tm_vec participants = TM_VEC(tm_participant);
    for (size_t i = 0; i < n; i++) {
        tm_participant participant = {.group = list[i].group,
                                      .rank = timeline->rank,
                                      .wait_ns = list[i].wait_ns,
                                      .event = event_of(g, timeline, i),
                                      .member = (uint32_t)i,
                                      .owner = OWNER,
                                      .origin = ORIGIN,
                                      .transfer = list[i].group == C};
        assert_non_null(tm_vec_append(&participants, &participant, 1));
    }
    tm_rank_waits_sort(&participants);
    return participants;
}

typedef struct scene {
    ground ground;
    tm_timeline timeline;
    tm_rank_waits held;
    tm_vec participants;
} scene;

static scene open_scene(const op *list, size_t n) {
    scene s = {.ground = open_ground(), .held = tm_rank_waits_open()};
    s.timeline = build_rank(&s.ground, 5, list, n);
    s.participants = participants_of(&s.ground, &s.timeline, list, n);
    tm_participant *v = s.participants.data;
    assert_int_equal(tm_rank_waits_add(&s.held, &s.timeline, v, n, &s.ground.err), TM_OK);
    for (size_t i = 0; i < n; i++)
        v[i].together = list[v[i].member].together;
    assert_int_equal(tm_rank_waits_since(&s.held, v, &s.ground.err), TM_OK);
    return s;
}

static void close_scene(scene *s) {
    tm_vec_free(&s->participants);
    tm_rank_waits_free(&s->held);
    tm_timeline_destroy(&s->timeline);
    close_ground(&s->ground);
}

TEST(waits_are_summed_since_the_group_was_together) {
    scene s = open_scene(ops, COUNT(ops));
    for (size_t i = 0; i < COUNT(ops); i++) {
        const tm_participant *v = (const tm_participant *)s.participants.data + i;
        const op *o = &ops[v->member];
        assert_int_equal(v->released, o->released);
        assert_int_equal(v->all_ns, o->all_ns);
        assert_int_equal(v->other_ns, o->other_ns);
    }
    close_scene(&s);
}

/* Like open_scene(ops), but group A is not together at 200. So the waits before its operation at
 * 410 include its own 80. */
static scene open_apart(void) {
    op changed[COUNT(ops)];
    memcpy(changed, ops, sizeof ops);
    changed[0].together = false;
    return open_scene(changed, COUNT(changed));
}

TEST(own_waits_of_a_group_are_reported_apart) {
    scene s = open_apart();
    for (size_t i = 0; i < COUNT(ops); i++) {
        const tm_participant *v = (const tm_participant *)s.participants.data + i;
        assert_true(v->member != 4 || (v->all_ns == 140 && v->other_ns == 60));
    }
    close_scene(&s);
}

/* Adds a cost that the rank must pass back from operation i. */
static void owe(scene *s, tm_vec *pending_costs, size_t i, int64_t step, int64_t ns) {
    tm_pending_cost pending_cost = {5, step, ns, event_of(&s->ground, &s->timeline, i), ORIGIN};
    assert_non_null(tm_vec_append(pending_costs, &pending_cost, 1));
}

static int by_step(const void *a, const void *b) {
    const tm_cost_share *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

static void check_shares(scene *s, tm_vec *pending_costs, const tm_cost_share *expected, size_t n) {
    tm_vec shares = TM_VEC(tm_cost_share);
    assert_int_equal(tm_rank_waits_pass(&s->held, pending_costs, &shares, &s->ground.err), TM_OK);
    assert_int_equal(shares.n, n);
    qsort(shares.data, n, shares.size, by_step);
    assert_memory_equal(shares.data, expected, n * sizeof *expected);
    tm_vec_free(&shares);
}

TEST(pending_costs_go_to_the_waits_in_proportion) {
    scene s = open_scene(ops, COUNT(ops));
    tm_vec pending_costs = TM_VEC(tm_pending_cost);
    /* C at 530 waited 80, 60 and 20 ns in operations 0, 2 and 4, so a cost of 16 is split into 8, 6
     * and 2. C at 330 waited only in operation 0. Costs of the same step are added up. */
    owe(&s, &pending_costs, 6, 1, 16);
    owe(&s, &pending_costs, 3, 1, 5);
    owe(&s, &pending_costs, 3, 2, 7);
    /* B at 320 waited 80 ns in operation 0. B at 510 waited only 20 (operation 4) since 400. */
    owe(&s, &pending_costs, 2, 3, 100);
    owe(&s, &pending_costs, 5, 3, 10);
    static const tm_cost_share expected[] = {
        {1, 13, 0, OWNER}, {1, 6, 2, OWNER},   {1, 2, 4, OWNER},
        {2, 7, 0, OWNER},  {3, 100, 0, OWNER}, {3, 10, 4, OWNER},
    };
    check_shares(&s, &pending_costs, expected, COUNT(expected));
    close_scene(&s);
}

TEST(nothing_is_lost_to_rounding) {
    scene s = open_scene(ops, COUNT(ops));
    tm_vec pending_costs = TM_VEC(tm_pending_cost);
    /* Of 160 ns, the running sums are 80, 140 and 160. For a cost of 3, they are 1.5, 2.625 and 3,
     * rounded to 2, 3 and 3. For a cost of 1, they are 0.5, 0.875 and 1, rounded to 1, 1 and 1. */
    owe(&s, &pending_costs, 6, 1, 3);
    owe(&s, &pending_costs, 6, 2, 1);
    static const tm_cost_share expected[] = {{1, 2, 0, OWNER}, {1, 1, 2, OWNER}, {2, 1, 0, OWNER}};
    check_shares(&s, &pending_costs, expected, COUNT(expected));
    /* More than a double can represent exactly. */
    owe(&s, &pending_costs, 6, 1, INT64_MAX / 3);
    tm_vec shares = TM_VEC(tm_cost_share);
    assert_int_equal(tm_rank_waits_pass(&s.held, &pending_costs, &shares, &s.ground.err), TM_OK);
    int64_t sum = 0;
    for (size_t i = 0; i < shares.n; i++)
        sum += ((const tm_cost_share *)shares.data)[i].ns;
    assert_true(sum == INT64_MAX / 3);
    tm_vec_free(&shares);
    close_scene(&s);
}

TEST(pending_costs_pass_over_waits_of_their_own_group) {
    scene s = open_apart();
    tm_vec pending_costs = TM_VEC(tm_pending_cost);
    owe(&s, &pending_costs, 4, 1, 9);
    static const tm_cost_share expected[] = {{1, 9, 2, OWNER}};
    check_shares(&s, &pending_costs, expected, COUNT(expected));
    close_scene(&s);
}

TEST(each_rank_has_its_own_waits) {
    /* Rank 5 is as above. Rank 6 has only operations 2 to 6, so it has no share of operation 0. */
    scene s = open_scene(ops, COUNT(ops));
    tm_timeline other = build_rank(&s.ground, 6, ops + 2, COUNT(ops) - 2);
    tm_vec participants = participants_of(&s.ground, &other, ops + 2, COUNT(ops) - 2);
    assert_int_equal(
        tm_rank_waits_add(&s.held, &other, participants.data, participants.n, &s.ground.err),
        TM_OK);
    assert_non_null(tm_vec_append(&s.participants, participants.data, participants.n));
    tm_participant *v = s.participants.data;
    for (size_t i = 0; i < s.participants.n; i++)
        v[i].together = false;
    assert_int_equal(tm_rank_waits_since(&s.held, v, &s.ground.err), TM_OK);
    for (size_t i = 0; i < s.participants.n; i++) {
        assert_true(v[i].rank != 5 || v[i].member != 6 || v[i].all_ns == 160);
        assert_true(v[i].rank != 6 || v[i].member != 4 || v[i].all_ns == 80);
    }
    tm_vec_free(&participants);
    tm_timeline_destroy(&other);
    close_scene(&s);
}

TEST(members_are_those_of_groups_that_wait) {
    scene s = open_scene(ops, COUNT(ops)); /* C's operations are transfers */
    tm_vec members = TM_VEC(tm_group_member);
    assert_int_equal(tm_rank_waits_members(&s.held, &members, &s.ground.err), TM_OK);
    const tm_group_member *m = members.data;
    assert_int_equal(members.n, 2);
    assert_int_equal(m[0].group, A);
    assert_int_equal(m[1].group, B);
    assert_int_equal(m[0].rank, 5);
    tm_vec_free(&members);
    close_scene(&s);
}

RUN_TESTS()

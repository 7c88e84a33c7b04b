/* The share of a rank's lateness that is its own waiting, and the division of propagated costs. */
#include "waits/delay.h"

enum { RANKS = 3, STEP = 8, OWNER = 1 };

/* One member of an operation of three: its times, its waits before it arrived, expected results. */
typedef struct member {
    int64_t begin_ns, end_ns, all_ns, other_ns;
    double fraction;
    int64_t passed_ns;
} member;

/* The parts of a job that propagation uses. Each trial has one operation. */
typedef struct scene {
    tm_collectives collectives;
    tm_vec participants;
    double fractions[2 * RANKS];
    tm_delay_flow flow;
} scene;

static void add_operation(scene *s, const member *members, uint8_t way, uint8_t kind) {
    size_t n = way == TM_MATCH_PAIR ? 2 : RANKS;
    tm_instance instance = {.first = s->collectives.records.n, .n = n};
    for (size_t i = 0; i < n; i++) {
        tm_comm_record record = {.begin_ns = members[i].begin_ns,
                                 .end_ns = members[i].end_ns,
                                 .step = STEP,
                                 .group = 7,
                                 .rank = 10 + (int64_t)i,
                                 .event = (uint32_t)(20 + i),
                                 .group_size = (int32_t)n,
                                 .origin = (int32_t)(30 + i),
                                 .kind = way == TM_MATCH_PAIR && i == 1 ? TM_COLL_RECV : kind,
                                 .way = way};
        if (record.begin_ns > instance.last_ns)
            instance.last_ns = record.begin_ns;
        assert_non_null(tm_vec_append(&s->collectives.records, &record, 1));
    }
    instance.waits = way != TM_MATCH_PAIR;
    instance.transfers = way == TM_MATCH_PAIR;
    assert_non_null(tm_vec_append(&s->collectives.instances, &instance, 1));
}

static scene open_scene(void) {
    return (scene){
        .collectives = {.records = TM_VEC(tm_comm_record), .instances = TM_VEC(tm_instance)},
        .participants = TM_VEC(tm_participant),
        .flow = TM_DELAY_FLOW()};
}

static void close_scene(scene *s) {
    tm_vec_free(&s->collectives.records);
    tm_vec_free(&s->collectives.instances);
    tm_vec_free(&s->participants);
    tm_vec_free(&s->flow.pending_costs);
    tm_vec_free(&s->flow.costs);
}

static void begin(scene *s, const member *members) {
    tm_error err;
    assert_int_equal(tm_delay_participants(&s->collectives, OWNER, &s->participants, &err), TM_OK);
    tm_participant *v = s->participants.data;
    for (size_t i = 0; i < s->participants.n && members; i++) {
        v[i].all_ns = members[i].all_ns;
        v[i].other_ns = members[i].other_ns;
    }
    assert_int_equal(tm_delay_begin(&s->collectives, v, s->fractions, &s->flow, &err), TM_OK);
}

static const member trials[][RANKS] = {
    /* All times in ns. Two ranks wait 100 each for the third: 200. Elsewhere they waited 10 and 30,
     * a mean of 20. The third is 100 late. It waited 70, 50 more than the mean: half of the 100. */
    {{0, 200, 10, 10, 0.0, 0}, {0, 200, 30, 0, 0.0, 0}, {100, 200, 70, 70, 0.5, 100}},
    /* The second ends at 50: it waits 50 of 150. Mean wait (100 x 10 + 50 x 40) / 150 = 20. */
    {{0, 200, 10, 10, 0.0, 0}, {0, 50, 40, 0, 0.0, 0}, {100, 200, 70, 70, 0.5, 75}},
    /* Layer 1: the first waits 60. Each of the others causes 30 of this. Layer 2: the first two
     * wait 40 each for the third. The second is 60 later than the first and had waited 15 more, a
     * quarter: a quarter of its 30 is 7.5. The third causes 70 for the first and 40 for the second,
     * which begins at 60: their weighted mean begin is 2400 / 110, their mean wait (70 x 0 + 40 x
     * 15) / 110. The third waited 0, which is less, so its lateness is all its own. */
    {{0, 200, 0, 0, 0.0, 0}, {60, 200, 15, 15, 0.25, 7}, {100, 200, 0, 0, 0.0, 0}},
    /* Waits longer than the lateness explain all of it, and no more. */
    {{0, 200, 0, 0, 0.0, 0}, {0, 200, 0, 0, 0.0, 0}, {100, 200, 900, 900, 1.0, 200}},
    /* A rank that waited less than the ranks that waited for it was late by itself. */
    {{0, 200, 80, 0, 0.0, 0}, {0, 200, 80, 0, 0.0, 0}, {100, 200, 79, 79, 0.0, 0}},
    /* Waits in the operation's own group do not explain the lateness of a rank. */
    {{0, 200, 0, 0, 0.0, 0}, {0, 200, 0, 0, 0.0, 0}, {100, 200, 70, 0, 0.0, 0}},
    /* No rank is late. */
    {{0, 200, 5, 5, 0.0, 0}, {0, 200, 9, 9, 0.0, 0}, {0, 200, 1, 1, 0.0, 0}},
};

TEST(a_fraction_is_waiting_beyond_that_of_the_early_ranks) {
    for (size_t t = 0; t < COUNT(trials); t++) {
        scene s = open_scene();
        int64_t passed = 0, owed = 0, expected = 0;
        add_operation(&s, trials[t], TM_MATCH_SEQ, TM_COLL_ALLREDUCE);
        begin(&s, trials[t]);
        for (size_t i = 0; i < RANKS; i++) {
            assert_true(s.fractions[i] == trials[t][i].fraction);
            expected += trials[t][i].passed_ns;
        }
        for (size_t i = 0; i < s.flow.costs.n; i++) {
            const tm_cost *cost = (const tm_cost *)s.flow.costs.data + i;
            assert_int_equal(cost->passed_ns, trials[t][cost->rank - 10].passed_ns);
            assert_int_equal(cost->indirect_ns, 0);
            assert_int_equal(cost->step, STEP);
            passed += cost->passed_ns;
        }
        for (size_t i = 0; i < s.flow.pending_costs.n; i++) {
            const tm_pending_cost *pending_cost =
                (const tm_pending_cost *)s.flow.pending_costs.data + i;
            assert_int_equal(pending_cost->ns, trials[t][pending_cost->rank - 10].passed_ns);
            assert_int_equal(pending_cost->event, pending_cost->rank + 10);
            assert_int_equal(pending_cost->origin, pending_cost->rank + 20);
            assert_int_equal(pending_cost->step, STEP);
            owed += pending_cost->ns;
        }
        assert_int_equal(passed, expected);
        assert_int_equal(owed, expected);
        close_scene(&s);
    }
}

TEST(a_transfer_carries_cost_and_has_none) {
    /* The sender arrives 100 ns after the receiver. For 25 of these it had waited elsewhere. */
    static const member members[] = {{100, 200, 25, 25, 0.25, 0}, {0, 200, 0, 0, 0.0, 0}};
    scene s = open_scene();
    add_operation(&s, members, TM_MATCH_PAIR, TM_COLL_SEND);
    begin(&s, members);
    const tm_participant *v = s.participants.data;
    assert_int_equal(s.participants.n, 2);
    assert_int_equal(v[0].wait_ns, 0);
    assert_int_equal(v[1].wait_ns, 100);
    assert_true(v[0].transfer && v[1].transfer);
    assert_true(s.fractions[0] == 0.25 && s.fractions[1] == 0.0);
    assert_int_equal(s.flow.pending_costs.n, 0);
    assert_int_equal(s.flow.costs.n, 0);
    close_scene(&s);
}

TEST(operations_without_waits_have_no_participants) {
    scene s = open_scene();
    add_operation(&s, trials[0], TM_MATCH_SEQ, TM_COLL_ALLREDUCE);
    add_operation(&s, trials[0], TM_MATCH_PAIR, TM_COLL_SEND);
    tm_instance *instances = s.collectives.instances.data;
    instances[0].waits = false;
    instances[1].transfers = false;
    begin(&s, NULL);
    assert_int_equal(s.participants.n, 0);
    assert_int_equal(s.flow.pending_costs.n, 0);
    close_scene(&s);
}

TEST(a_group_is_together_where_all_are_released) {
    static const member late_sender[] = {{100, 200, 0, 0, 0, 0}, {0, 200, 0, 0, 0, 0}};
    static const member late_receiver[] = {{0, 200, 0, 0, 0, 0}, {100, 200, 0, 0, 0, 0}};
    static const struct {
        const member *members;
        bool transfer;
        bool released[RANKS], together;
    } cases[] = {
        {trials[0], false, {true, true, true}, true},
        {trials[0], false, {true, true, false}, false},
        {trials[0], false, {false, true, true}, false},
        /* in a transfer, only the member that waited counts */
        {late_sender, true, {false, true}, true},
        {late_sender, true, {true, false}, false},
        {late_receiver, true, {true, false}, true},
        {late_receiver, true, {false, true}, false},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        scene s = open_scene();
        tm_error err;
        add_operation(&s, cases[c].members, cases[c].transfer ? TM_MATCH_PAIR : TM_MATCH_SEQ,
                      cases[c].transfer ? TM_COLL_SEND : TM_COLL_ALLREDUCE);
        assert_int_equal(tm_delay_participants(&s.collectives, OWNER, &s.participants, &err),
                         TM_OK);
        tm_participant *v = s.participants.data;
        for (size_t i = 0; i < s.participants.n; i++)
            v[i].released = cases[c].released[i];
        tm_delay_together(&s.collectives, v);
        for (size_t i = 0; i < s.participants.n; i++)
            assert_int_equal(v[i].together, cases[c].together);
        close_scene(&s);
    }
}

/* Arrivals at 0, 60 and 100 ns. The first rank waits 100 ns. The second causes 30 of this, and the
 * third 70. The second waits 40 ns for the third. */
static const member layers[] = {
    {0, 200, 0, 0, 0.0, 0}, {60, 200, 0, 0, 0.0, 0}, {100, 200, 0, 0, 0.0, 0}};

static const tm_cost *cost_at(const scene *s, size_t i) {
    assert_true(i < s->flow.costs.n);
    return (const tm_cost *)s->flow.costs.data + i;
}

TEST(cost_shares_go_to_the_late_ranks_in_layers) {
    /* Step 4: rank 10 passes back 50 + 50, rank 11 40. Rank 11 gets 30; rank 12 gets 70 + 40, and
     * passes on its fraction, a half. Step 5: rank 10 passes back only 10, divided into 3 and 7;
     * half of 7 is rounded up. */
    static const tm_cost_share given[] = {
        {5, 10, 0, OWNER}, {4, 50, 0, OWNER}, {4, 40, 1, OWNER}, {4, 50, 0, OWNER}};
    scene s = open_scene();
    tm_vec cost_shares = TM_VEC(tm_cost_share);
    tm_error err;
    add_operation(&s, layers, TM_MATCH_SEQ, TM_COLL_ALLREDUCE);
    s.fractions[2] = 0.5;
    assert_non_null(tm_vec_append(&cost_shares, given, COUNT(given)));
    assert_int_equal(tm_delay_split(&s.collectives, s.fractions, &cost_shares, &s.flow, &err),
                     TM_OK);
    assert_int_equal(cost_shares.n, 0);
    tm_delay_settle(&s.flow.costs);
    static const tm_cost costs[] = {{11, 4, 0, 30}, {11, 5, 0, 3}, {12, 4, 0, 55}, {12, 5, 0, 3}};
    assert_int_equal(s.flow.costs.n, COUNT(costs));
    assert_memory_equal(s.flow.costs.data, costs, sizeof costs);
    static const tm_pending_cost pending_costs[] = {{12, 4, 55, 22, 32}, {12, 5, 4, 22, 32}};
    assert_int_equal(s.flow.pending_costs.n, COUNT(pending_costs));
    assert_memory_equal(s.flow.pending_costs.data, pending_costs, sizeof pending_costs);
    /* Costs that were not passed on at the end stay with their rank. */
    assert_int_equal(tm_delay_end(&s.flow, &err), TM_OK);
    tm_delay_settle(&s.flow.costs);
    assert_int_equal(s.flow.pending_costs.n, 0);
    assert_int_equal(cost_at(&s, 2)->indirect_ns, 110);
    assert_int_equal(cost_at(&s, 3)->indirect_ns, 7);
    close_scene(&s);
}

TEST(cost_shares_find_their_operation) {
    /* The second operation has members 3 to 5. Member 5 gets all of the cost of member 4, and 0.7
     * of the cost of 1 of member 3, rounded up. */
    static const tm_cost_share given[] = {
        {1, 1, 3, OWNER}, {1, 100, 0, OWNER}, {1, INT64_MAX / 4, 4, 1}};
    scene s = open_scene();
    tm_vec cost_shares = TM_VEC(tm_cost_share);
    tm_error err;
    add_operation(&s, layers, TM_MATCH_SEQ, TM_COLL_ALLREDUCE);
    add_operation(&s, layers, TM_MATCH_SEQ, TM_COLL_ALLREDUCE);
    s.fractions[5] = 1.0;
    assert_non_null(tm_vec_append(&cost_shares, given, COUNT(given)));
    assert_int_equal(tm_delay_split(&s.collectives, s.fractions, &cost_shares, &s.flow, &err),
                     TM_OK);
    tm_delay_settle(&s.flow.costs);
    assert_int_equal(s.flow.costs.n, 2);
    assert_int_equal(cost_at(&s, 0)->indirect_ns, 30);
    assert_int_equal(cost_at(&s, 1)->indirect_ns, 70);
    const tm_pending_cost *pending_cost = s.flow.pending_costs.data;
    assert_int_equal(s.flow.pending_costs.n, 1);
    assert_true(pending_cost->ns == INT64_MAX / 4 + 1);
    close_scene(&s);
}

RUN_TESTS()

/* Who arrived last at an operation, and whose wait that caused: splits computed by hand. */
#include "waits/blame.h"

#define ONE (INT64_C(1) << 40) /* one nanosecond in the unit of shares */

enum { MEMBERS = 9 };

typedef struct outcome {
    tm_comm_record members[MEMBERS];
    tm_comm_answer answers[MEMBERS];
    int64_t pairs[MEMBERS][MEMBERS]; /* [late rank][waiting rank] in 2^-40 ns */
    size_t n, n_pairs;
} outcome;

static int64_t units(int64_t whole_ns, uint64_t fraction) {
    assert_true(fraction < (uint64_t)ONE);
    return whole_ns * ONE + (int64_t)fraction;
}

static void read_pairs(outcome *o, tm_pair_map *map) {
    tm_vec pairs = TM_VEC(tm_pair);
    assert_true(tm_pair_map_drain(map, &pairs));
    o->n_pairs = pairs.n;
    for (size_t i = 0; i < pairs.n; i++) {
        const tm_pair *pair = (const tm_pair *)pairs.data + i;
        assert_int_equal(o->pairs[pair->rank][pair->for_rank], 0);
        o->pairs[pair->rank][pair->for_rank] = units(pair->whole_ns, pair->fraction);
    }
    tm_vec_free(&pairs);
}

/* Rank i runs the operation during [begin[i], end[i]). The members are in the order of ranks. */
static outcome blame(const int64_t *begin, const int64_t *end, size_t n, bool waits) {
    outcome o = {.n = n};
    tm_instance instance = {.n = n, .last_ns = begin[0], .waits = waits};
    tm_pair_map map = {0};
    tm_error err;
    for (size_t i = 0; i < n; i++) {
        o.members[i] = (tm_comm_record){.rank = (int64_t)i,
                                        .begin_ns = begin[i],
                                        .end_ns = end[i],
                                        .step = 40 + (int64_t)i,
                                        .group_size = (int32_t)n};
        instance.last_ns = begin[i] > instance.last_ns ? begin[i] : instance.last_ns;
    }
    assert_int_equal(tm_blame_instance(o.members, &instance, o.answers, &map, &err), TM_OK);
    read_pairs(&o, &map);
    return o;
}

static int64_t caused_units(const outcome *o, size_t member) {
    return units(o->answers[member].caused_ns, o->answers[member].caused_fraction);
}

/* A case whose shares are whole nanoseconds. */
typedef struct split {
    size_t n;
    int64_t begin[5], end[5];
    int64_t wait[5], caused[5];
    int64_t pairs[5][5]; /* [late rank][waiting rank] */
    int last;            /* the only rank that came last; -1 for a tie */
    int64_t lateness;    /* lateness of the last rank */
    const char *tied;    /* 'x' for each rank in the tie */
} split;

static const split splits[] = {
    /* two ranks: 0 waits 10 ns for 1 */
    {2, {0, 10}, {20, 20}, {10, 0}, {0, 10}, {{0}, {10}}, 1, 10, ".."},
    {2, {15, 10}, {20, 20}, {0, 5}, {5, 0}, {{0, 5}}, 0, 5, ".."},
    {2, {10, 10}, {20, 20}, {0, 0}, {0, 0}, {{0}}, -1, 0, "xx"},
    /* 0 ends at 4, before 1 begins */
    {2, {0, 10}, {4, 20}, {4, 0}, {0, 4}, {{0}, {4}}, 1, 10, ".."},
    /* three ranks. Gap [0, 6): 0 waits 6, caused by 1 and 2, 3 each. Gap [6, 10): 0 and 1 wait 4
     * each, so 2 causes 8 */
    {3, {0, 6, 10}, {20, 20, 20}, {10, 4, 0}, {0, 3, 11}, {{0}, {3}, {7, 4}}, 2, 4, "..."},
    /* 1 and 2 arrive together: 0 waits 10, and each causes 5 of this */
    {3, {0, 10, 10}, {20, 20, 20}, {10, 0, 0}, {0, 5, 5}, {{0}, {5}, {5}}, -1, 0, ".xx"},
    {3, {7, 7, 7}, {20, 20, 20}, {0}, {0}, {{0}}, -1, 0, "xxx"},
    /* 0 ends at 4: 1 and 2 cause 2 each of its 4; 1 waits 4 for 2 */
    {3, {0, 6, 10}, {4, 20, 20}, {4, 4, 0}, {0, 2, 6}, {{0}, {2}, {2, 4}}, 2, 4, "..."},
    /* 0 ends at 8: it waits 6 in the first gap, 3 for each; then 0 waits 2, and 1 waits 4 */
    {3, {0, 6, 10}, {8, 20, 20}, {8, 4, 0}, {0, 3, 9}, {{0}, {3}, {5, 4}}, 2, 4, "..."},
    /* five ranks, four gaps of 12: 1, 2, 3 and 4 ranks wait for 4, 3, 2 and 1 late ranks. A late
     * rank gets 12 x 1/4 = 3, 12 x 2/3 = 8, 12 x 3/2 = 18 and 12 x 4 = 48. A pair gets 12/4 = 3,
     * 12/3 = 4, 12/2 = 6 and 12 in the gaps in which its rank waits */
    {5,
     {0, 12, 24, 36, 48},
     {60, 60, 60, 60, 60},
     {48, 36, 24, 12, 0},
     {0, 3, 11, 29, 77},
     {{0}, {3}, {7, 4}, {13, 10, 6}, {25, 22, 18, 12}},
     4,
     12,
     "....."},
};

static void check_split(const split *s, const outcome *o) {
    size_t n_pairs = 0;
    for (size_t i = 0; i < s->n; i++) {
        const tm_comm_answer *a = &o->answers[i];
        bool last = s->last == (int)i;
        assert_int_equal(a->wait_ns, s->wait[i]);
        assert_int_equal(caused_units(o, i), s->caused[i] * ONE);
        assert_int_equal(a->last, last);
        assert_int_equal(a->lateness_ns, last ? s->lateness : 0);
        assert_int_equal(a->tied, s->tied[i] == 'x');
        assert_int_equal(a->untied, s->last >= 0);
        assert_true(a->matched);
        assert_int_equal(a->group_size, s->n);
        assert_int_equal(a->step, 40); /* the step of the lowest rank */
        for (size_t k = 0; k < s->n; k++) {
            assert_int_equal(o->pairs[i][k], s->pairs[i][k] * ONE);
            n_pairs += s->pairs[i][k] > 0;
        }
    }
    assert_int_equal(o->n_pairs, n_pairs); /* only pairs with a share are there */
}

TEST(waits_are_split_in_layers) {
    for (size_t i = 0; i < COUNT(splits); i++) {
        outcome o = blame(splits[i].begin, splits[i].end, splits[i].n, true);
        check_split(&splits[i], &o);
    }
}

TEST(shares_are_rounded_down_to_2_to_the_minus_40) {
    /* Five ranks, 1 ns apart: the shares are 1/4, 2/3, 3/2 and 4. In units of 2^-40 ns, 1/4 is
     * 274877906944, 2/3 is 2199023255552 / 3 = 733007751850 2/3, 3/2 is 1649267441664, 4 is
     * 4398046511104. */
    static const int64_t begin[] = {0, 1, 2, 3, 4}, end[] = {9, 9, 9, 9, 9};
    static const int64_t caused[] = {0, 274877906944, 1007885658794, 2657153100458, 7055199611562};
    /* A pair has 1/4, 1/3, 1/2 and 1 of the gaps in which its rank waits. 1/3 is 366503875925 1/3.
     * (4, 0) = 274877906944 + 366503875925 + 549755813888 + 1099511627776 */
    static const int64_t for_zero[] = {0, 274877906944, 641381782869, 1191137596757, 2290649224533};
    outcome o = blame(begin, end, 5, true);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(caused_units(&o, i), caused[i]);
        assert_int_equal(o.pairs[i][0], for_zero[i]);
    }
}

TEST(an_operation_without_wait_has_no_blame) {
    static const int64_t begin[] = {0, 5, 9}, end[] = {20, 20, 20};
    outcome o = blame(begin, end, 3, false);
    assert_int_equal(o.n_pairs, 0);
    for (size_t i = 0; i < 3; i++) {
        const tm_comm_answer *a = &o.answers[i];
        assert_int_equal(a->wait_ns, -1);
        assert_int_equal(caused_units(&o, i), 0);
        assert_int_equal(a->lateness_ns, 0);
        assert_false(a->last || a->tied || a->untied);
        assert_true(a->matched);
        assert_int_equal(a->step, 40);
    }
}

/* Each rank waited at least until the last known rank came, minus twice the clocks' spread [ns]. */
TEST(an_operation_that_lacks_ranks_shows_how_long_its_ranks_waited_at_least) {
    static const struct {
        int64_t spread, ends, least[3]; /* spread of clocks; end of rank 0; wait of each rank */
        uint8_t kind, state;
        bool joins;
    } cases[] = {
        {0, 20, {9, 4, 0}, TM_COLL_ALLREDUCE, TM_INSTANCE_INCOMPLETE, true},
        {1, 20, {7, 2, 0}, TM_COLL_ALLREDUCE, TM_INSTANCE_INCOMPLETE, true},
        {3, 20, {3, 0, 0}, TM_COLL_ALLREDUCE, TM_INSTANCE_INCOMPLETE, true},
        /* an end before a begin; incomparable clocks; a kind that holds nobody up; a suspect one */
        {0, 8, {-1, -1, -1}, TM_COLL_ALLREDUCE, TM_INSTANCE_INCOMPLETE, true},
        {0, 20, {-1, -1, -1}, TM_COLL_ALLREDUCE, TM_INSTANCE_INCOMPLETE, false},
        {0, 20, {-1, -1, -1}, TM_COLL_BROADCAST, TM_INSTANCE_INCOMPLETE, true},
        {0, 20, {-1, -1, -1}, TM_COLL_ALLREDUCE, TM_INSTANCE_SUSPECT, true},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        const tm_instance instance = {
            .n = 3, .last_ns = 9, .state = cases[c].state, .joins = cases[c].joins};
        tm_comm_record members[3];
        tm_comm_answer answers[3];
        tm_error err;
        for (int i = 0; i < 3; i++)
            members[i] = (tm_comm_record){.rank = i,
                                          .begin_ns = (int64_t[]){0, 5, 9}[i],
                                          .end_ns = i == 0 ? cases[c].ends : 20,
                                          .spread_ns = (uint32_t)cases[c].spread,
                                          .bytes = 8,
                                          .kind = cases[c].kind};
        assert_int_equal(tm_blame_instance(members, &instance, answers, NULL, &err), TM_OK);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(answers[i].wait_ns, -1);
            assert_int_equal(answers[i].least_ns, cases[c].least[i]);
        }
    }
}

TEST(pairs_are_only_kept_where_they_are_wanted) {
    const tm_comm_record members[] = {{.begin_ns = 0, .end_ns = 9},
                                      {.begin_ns = 4, .end_ns = 9, .rank = 1}};
    const tm_instance instance = {.n = 2, .last_ns = 4, .waits = true};
    tm_comm_answer answers[2];
    tm_error err;
    assert_int_equal(tm_blame_instance(members, &instance, answers, NULL, &err), TM_OK);
    assert_int_equal(answers[1].caused_ns, 4);
}

/* The truth, nanosecond by nanosecond, in 1/840 ns, because 1 to 8 divide 840. */
typedef struct truth {
    int64_t caused[MEMBERS], wait[MEMBERS], pairs[MEMBERS][MEMBERS];
    int64_t lateness; /* lateness of the last rank, relative to the one before; 0: a tie */
    int64_t last_ns;
} truth;

enum { UNIT = 840, RANGE = 40 };

static truth find_truth(const int64_t *begin, const int64_t *end, size_t n) {
    truth t = {.lateness = RANGE};
    for (size_t i = 0; i < n; i++)
        t.last_ns = begin[i] > t.last_ns ? begin[i] : t.last_ns;
    for (size_t i = 0, n_last = 0; i < n; i++) {
        int64_t before = t.last_ns - begin[i];
        n_last += before == 0;
        if (before > 0 || n_last > 1)
            t.lateness = before < t.lateness ? before : t.lateness;
    }
    for (int64_t now = 0; now < RANGE; now++) {
        int64_t late = 0;
        for (size_t i = 0; i < n; i++)
            late += begin[i] > now;
        for (size_t i = 0; i < n && late > 0; i++) {
            if (begin[i] > now || end[i] <= now)
                continue;
            t.wait[i]++;
            for (size_t k = 0; k < n; k++)
                if (begin[k] > now) {
                    t.caused[k] += UNIT / late;
                    t.pairs[k][i] += UNIT / late;
                }
        }
    }
    return t;
}

/* Asserts that @p found [2^-40 ns] is @p exact [1/840 ns], or less by at most @p roundings. */
static void assert_share(int64_t found, int64_t exact, int64_t roundings) {
    assert_true(UNIT * found <= exact * ONE);
    assert_true(roundings == 0 ? UNIT * found == exact * ONE
                               : UNIT * (found + roundings) > exact * ONE);
}

static void check_truth(const outcome *o, const truth *t) {
    int64_t n = (int64_t)o->n, caused = 0, waited = 0, all_pairs = 0;
    for (size_t i = 0; i < o->n; i++) {
        int64_t row = 0, column = 0;
        bool last = o->members[i].begin_ns == t->last_ns, tie = t->lateness == 0;
        assert_int_equal(o->answers[i].wait_ns, t->wait[i]);
        assert_int_equal(o->answers[i].last, last && !tie);
        assert_int_equal(o->answers[i].tied, last && tie);
        assert_int_equal(o->answers[i].untied, !tie);
        assert_int_equal(o->answers[i].lateness_ns, last ? t->lateness : 0);
        assert_share(caused_units(o, i), t->caused[i], n);
        for (size_t k = 0; k < o->n; k++) {
            assert_share(o->pairs[i][k], t->pairs[i][k], n);
            row += o->pairs[i][k];
            column += o->pairs[k][i];
        }
        assert_share(row, t->caused[i], n * n);
        assert_share(column, t->wait[i] * UNIT, n * n);
        caused += caused_units(o, i);
        waited += t->wait[i];
        all_pairs += row;
    }
    assert_share(caused, waited * UNIT, n * n);
    assert_share(all_pairs, waited * UNIT, n * n * n);
}

static int64_t next_below(uint64_t *seed, int64_t limit) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(*seed >> 33) % limit;
}

TEST(what_ranks_cause_is_what_ranks_wait) {
    uint64_t seed = 12;
    for (int round = 0; round < 2000; round++) {
        int64_t begin[MEMBERS], end[MEMBERS];
        size_t n = 2 + (size_t)next_below(&seed, MEMBERS - 1);
        int64_t range = 1 + next_below(&seed, RANGE); /* small ranges make ties likely */
        bool cut = next_below(&seed, 2) == 0;
        for (size_t i = 0; i < n; i++) {
            begin[i] = next_below(&seed, range);
            end[i] = cut ? begin[i] + next_below(&seed, RANGE) : RANGE + 5;
        }
        outcome o = blame(begin, end, n, true);
        truth t = find_truth(begin, end, n);
        check_truth(&o, &t);
    }
}

TEST(shares_add_with_carry_and_round_half_up) {
    tm_share sum = {1, (uint64_t)ONE - 1};
    tm_share_add(&sum, (tm_share){2, 1});
    assert_int_equal(sum.whole_ns, 4);
    assert_int_equal(sum.fraction, 0);
    tm_share_add(&sum, (tm_share){0, (uint64_t)ONE - 1});
    tm_share_add(&sum, (tm_share){0, (uint64_t)ONE - 1});
    assert_int_equal(units(sum.whole_ns, sum.fraction), 6 * ONE - 2);
    assert_int_equal(tm_share_round((tm_share){3, (uint64_t)ONE / 2}), 4);
    assert_int_equal(tm_share_round((tm_share){3, (uint64_t)ONE / 2 - 1}), 3);
    assert_int_equal(tm_share_round((tm_share){3, 0}), 3);
}

TEST(a_share_is_a_quotient) {
    static const struct {
        int64_t numerator, denominator, whole_ns;
        uint64_t fraction;
    } cases[] = {
        {0, 3, 0, 0},
        {7, 2, 3, 549755813888}, /* 2^39 */
        {9, 3, 3, 0},
        {1, 3, 0, 366503875925}, /* 2^40 / 3 = 366503875925.33 */
        {5, 1, 5, 0},
        {INT64_MAX, 1, INT64_MAX, 0},
        /* The largest allowed: 2^23 - 2 over 2^23 - 1 is 2^40 - 2^40 / (2^23 - 1) units. The
         * subtrahend is 131072.0156..., so this is 1099511496703.98. */
        {8388606, 8388607, 0, 1099511496703},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_share share = tm_share_of(cases[i].numerator, cases[i].denominator);
        assert_int_equal(share.whole_ns, cases[i].whole_ns);
        assert_int_equal(share.fraction, cases[i].fraction);
    }
}

static int by_pair(const void *a, const void *b) {
    const tm_pair *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->for_rank > y->for_rank) - (x->for_rank < y->for_rank);
}

TEST(a_map_sums_every_pair_by_itself) {
    enum { RANKS = 60 };
    tm_pair_map map = {0};
    tm_vec out = TM_VEC(tm_pair);
    assert_true(tm_pair_map_drain(&map, &out));
    assert_int_equal(out.n, 0);
    /* pair (a, b) gets a + 1 and then b + 1/2 ns */
    for (int64_t a = 0; a < RANKS; a++)
        for (int64_t b = 0; b < RANKS; b++)
            assert_true(tm_pair_map_add(&map, a, b, (tm_share){a + 1, 0}));
    for (int64_t b = RANKS; b-- > 0;)
        for (int64_t a = 0; a < RANKS; a++)
            assert_true(tm_pair_map_add(&map, a, b, (tm_share){b, (uint64_t)ONE / 2}));
    assert_true(tm_pair_map_drain(&map, &out));
    assert_int_equal(out.n, RANKS * RANKS);
    assert_int_equal(map.pairs.keys.n, 0);
    assert_int_equal(map.shares.n, 0);
    qsort(out.data, out.n, out.size, by_pair);
    for (int64_t i = 0; i < (int64_t)RANKS * RANKS; i++) {
        const tm_pair *pair = (const tm_pair *)out.data + i;
        assert_int_equal(pair->rank, i / RANKS);
        assert_int_equal(pair->for_rank, i % RANKS);
        assert_int_equal(pair->whole_ns, i / RANKS + 1 + i % RANKS);
        assert_int_equal(pair->fraction, ONE / 2);
    }
    tm_vec_free(&out);
}

/* Four ranks on two hosts (domains 0, 0, 1, 1) with uncertainties of 3 and 4 us. Begins on two
 * hosts differ if they are more than 2 sqrt(9 + 16) = 10 us apart, and begins on one host if they
 * are more than twice its spread apart. */
static void blame_two_hosts(const int64_t begin[4], tm_comm_answer answers[4]) {
    tm_comm_record members[4];
    tm_instance instance = {.n = 4, .waits = true};
    tm_error err;
    for (size_t i = 0; i < 4; i++) {
        members[i] = (tm_comm_record){.rank = (int64_t)i,
                                      .begin_ns = begin[i],
                                      .end_ns = 300000,
                                      .group_size = 4,
                                      .domain = i < 2 ? 0 : 1,
                                      .uncertainty_ns = i < 2 ? 3000 : 4000,
                                      .spread_ns = 500};
        instance.last_ns = begin[i] > instance.last_ns ? begin[i] : instance.last_ns;
    }
    assert_int_equal(tm_blame_instance(members, &instance, answers, NULL, &err), TM_OK);
}

TEST(what_clocks_cannot_tell_is_a_tie) {
    static const struct {
        int64_t begin[4];
        const char *tied; /* 'x' for each rank in the tie */
        int last;         /* the only last rank; -1 for a tie */
    } cases[] = {
        {{0, 90000, 90000, 100001}, "....", 3},  /* 10.001 us after ranks 1 and 2 */
        {{0, 90000, 20000, 100000}, ".x.x", -1}, /* 10 us apart on two hosts */
        {{0, 89999, 20000, 100000}, "....", 3},  /* 10.001 us apart */
        {{0, 20000, 99000, 100000}, "..xx", -1}, /* 1 us inside a host of spread 0.5 us */
        {{0, 20000, 98999, 100000}, "....", 3},  /* 1.001 us apart */
        {{0, 95000, 98999, 100000}, ".x.x", -1}, /* rank 2 differs from rank 3, rank 1 does not */
        {{100000, 20000, 91000, 50000}, "x.x.", -1},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        tm_comm_answer answers[4];
        blame_two_hosts(cases[c].begin, answers);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(answers[i].tied, cases[c].tied[i] == 'x');
            assert_int_equal(answers[i].last, i == cases[c].last);
            assert_int_equal(answers[i].untied, cases[c].last >= 0);
        }
    }
}

/* Compared with an earlier rank, a late rank may be wrong by 2 x 0.5 us on the same host, or by
 * 10 us on another. A rank's doubt is the sum over all earlier ranks. */
TEST(doubt_counts_the_ranks_that_came_before) {
    static const int64_t begin[4] = {0, 50000, 90000, 100000};
    static const int64_t doubt[4] = {0, 1000, 20000, 30000};
    tm_comm_answer answers[4];
    blame_two_hosts(begin, answers);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(answers[i].doubt_ns, doubt[i]);
}

RUN_TESTS()

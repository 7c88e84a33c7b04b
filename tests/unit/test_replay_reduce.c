/* A rank's reduced graph, computed by hand. test_replay_job.c shows that the times of whole jobs
 * equal those of the full graphs. */
#include "replay_fixture.h"

/* The same weight in all sets. */
#define SAME(ns)                                                                                   \
    (const int64_t[REPLAY_SETS]) {                                                                 \
        ns, ns, ns, ns                                                                             \
    }

static tm_reduced reduce(const replay_case *c, size_t rank, tm_vec *words) {
    tm_reduced left;
    tm_error err;
    *words = TM_VEC(int64_t);
    assert_ok(
        tm_reduce(&c->ranks[rank].graph, REPLAY_SETS, replay_weigh, &c->ranks[rank], words, &err));
    assert_int_equal(tm_reduced_read(words->data, &left), words->n);
    assert_int_equal(left.rank, 10 + (int64_t)rank);
    assert_int_equal(left.n_sets, REPLAY_SETS);
    return left;
}

static void assert_link(const tm_reduced *left, size_t i, tm_link link, const int64_t *ns) {
    assert_int_equal(left->links[i].from, link.from);
    assert_int_equal(left->links[i].to, link.to);
    for (size_t set = 0; set < REPLAY_SETS; set++)
        assert_int_equal(left->ns[i * REPLAY_SETS + set], ns[set]);
}

/* Operation 1 (participant 0): the rank arrives 5 ns after the root and leaves 10 (in set 1: 4)
 * after the last arrival. A call takes `host` from the arrival at 1. The arrival at 2 (participant
 * 1) is 2 after the end of 1 and 3 after the call. Ways to 2:
 * - from 1: 10 + 2 = 12, in set 1 4 + 2 = 6
 * - from the root: 5 + host + 3; past 1, not before 5: 5 + 12 = 17, in set 1 11
 * The step ends with both operations: 10 (in set 1: 4) after 1, and 7 after 2. Through 2, it ends
 * 12 + 7 (6 + 7) after 1, which is longer, so the direct link from 1 is dropped. */
static const struct {
    int64_t host[REPLAY_SETS];
    bool left; /* whether the way from the root to 2 is left */
} hosts[] = {
    {{20, 20, 20, 1}, true}, {{9, 3, 9, 9}, false}, /* both ways take 17 and 11 */
    {{0, 0, 0, 0}, false},   {{0, 0, 10, 0}, true}, /* the way takes 18 in set 2 */
    {{9, 4, 9, 9}, true},                           /* the way takes 12 in set 1 */
};

TEST(ways_past_an_operation_are_left_out_where_they_are_longer_in_no_set) {
    for (size_t i = 0; i < COUNT(hosts); i++) {
        const int64_t *host = hosts[i].host;
        replay_case c = {0};
        uint32_t begin = replay_node(&c, 0);
        replay_edge(&c, 0, TM_FROM_ROOT, SAME(5));
        uint32_t end = replay_node(&c, 0);
        replay_edge(&c, 0, replay_participant(&c, 0, begin, 1),
                    (const int64_t[REPLAY_SETS]){10, 4, 10, 10});
        uint32_t call = replay_node(&c, 0);
        replay_edge(&c, 0, begin, host);
        uint32_t second = replay_node(&c, 0);
        replay_edge(&c, 0, end, SAME(2));
        replay_edge(&c, 0, call, SAME(3));
        uint32_t second_end = replay_node(&c, 0);
        replay_edge(&c, 0, replay_participant(&c, 0, second, 2), SAME(7));
        replay_step(&c, 0, replay_node(&c, 0), 0);
        replay_edge(&c, 0, end, SAME(0));
        replay_edge(&c, 0, second_end, SAME(0));
        replay_finish(&c);
        tm_vec words;
        tm_reduced left = reduce(&c, 0, &words);
        assert_int_equal(left.n_participants, 2);
        assert_int_equal(left.participants[1].operation, 2);
        assert_int_equal(left.participants[1].last_ns, host[0] > 9 ? 5 + host[0] + 3 : 17);
        assert_int_equal(left.n_steps, 1);
        assert_int_equal(left.n_left_out, 0);
        assert_int_equal(left.n_links, hosts[i].left ? 4 : 3);
        assert_link(&left, 0, (tm_link){TM_FROM_ROOT, 0}, SAME(5));
        assert_link(&left, 1, (tm_link){0, 1}, (const int64_t[REPLAY_SETS]){12, 6, 12, 12});
        if (hosts[i].left)
            assert_link(
                &left, 2, (tm_link){TM_FROM_ROOT, 1},
                (const int64_t[REPLAY_SETS]){8 + host[0], 8 + host[1], 8 + host[2], 8 + host[3]});
        assert_link(&left, left.n_links - 1, (tm_link){1, 2}, SAME(7));
        tm_vec_free(&words);
        replay_free(&c);
    }
}

TEST(a_way_against_the_order_is_left_out_and_the_arrival_pinned) {
    /* Operation 9 is joined at 5 and left at once, and 3 is joined at 5, too, but is before 9 in
     * the order. The way from 9 to 3 is dropped, and the time from the root is raised to 5. */
    static const int64_t root_ns[REPLAY_SETS] = {3, 9, 3, 5}, pinned[REPLAY_SETS] = {5, 9, 5, 5};
    for (int with_root = 0; with_root < 2; with_root++) {
        replay_case c = {0};
        uint32_t first = replay_node(&c, 0);
        replay_edge(&c, 0, TM_FROM_ROOT, SAME(5));
        uint32_t end = replay_node(&c, 0);
        replay_edge(&c, 0, replay_participant(&c, 0, first, 9), SAME(0));
        replay_participant(&c, 0, replay_node(&c, 0), 3);
        replay_edge(&c, 0, end, SAME(0));
        if (with_root)
            replay_edge(&c, 0, TM_FROM_ROOT, root_ns);
        replay_finish(&c);
        tm_vec words;
        tm_reduced left = reduce(&c, 0, &words);
        assert_int_equal(left.participants[0].operation, 3);
        assert_int_equal(left.n_left_out, 1);
        assert_int_equal(left.n_links, 2);
        assert_link(&left, 0, (tm_link){TM_FROM_ROOT, 0}, with_root ? pinned : SAME(5));
        assert_link(&left, 1, (tm_link){TM_FROM_ROOT, 1}, SAME(5));
        tm_vec_free(&words);
        replay_free(&c);
    }
}

TEST(a_rank_may_take_part_in_nothing) {
    replay_case c = {0};
    tm_vec words;
    replay_step(&c, 0, replay_node(&c, 0), 41);
    replay_edge(&c, 0, TM_FROM_ROOT, SAME(8));
    replay_edge(&c, 0, TM_FROM_ROOT, SAME(6));
    replay_step(&c, 0, replay_node(&c, 0), 43); /* without an in-edge, it is at the root */
    replay_finish(&c);
    tm_reduced left = reduce(&c, 0, &words);
    assert_int_equal(left.n_participants, 0);
    assert_int_equal(left.n_steps, 2);
    assert_int_equal(left.steps[1], 43);
    assert_int_equal(left.n_links, 2);
    assert_link(&left, 0, (tm_link){TM_FROM_ROOT, 0}, SAME(8));
    assert_link(&left, 1, (tm_link){TM_FROM_ROOT, 1}, SAME(0));
    tm_vec_free(&words);
    replay_free(&c);

    uint32_t no_edge = 0;
    c.ranks[0].graph = (tm_graph){.rank = 10, .first = &no_edge};
    left = reduce(&c, 0, &words);
    assert_int_equal(left.n_links, 0);
    tm_vec_free(&words);
}

RUN_TESTS()

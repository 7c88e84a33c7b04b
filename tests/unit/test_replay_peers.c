/* Median over the other ranks at the same place: computed by hand, and compared with sorting. */
#include "replay/job/peers.h"

#include "base/median.h"
#include "run_fixture.h"
#include "timeline_fixture.h"

enum { PEERS_MAX = 9 };

typedef struct peers_case {
    size_t n;
    int64_t ns[PEERS_MAX], others[PEERS_MAX];
    uint8_t flags[PEERS_MAX];
    bool call;
} peers_case;

static const peers_case cases[] = {
    {1, {10}, {10}, {TM_EDGE_MISSING}, false},
    {2, {10, 30}, {30, 10}, {TM_EDGE_PAIR, TM_EDGE_PAIR}, false},
    /* Of two others the smaller counts, because one of three may be slow. */
    {3, {90, 20, 10}, {10, 10, 20}, {0}, false},
    /* the others have 20 30 90; 10 30 90; 10 20 90; 10 20 30 */
    {4, {10, 20, 30, 90}, {30, 30, 20, 20}, {0}, false},
    /* the others have 2 3 4 100; 1 3 4 100; 1 2 4 100; 1 2 3 100; 1 2 3 4; halves round down */
    {5, {1, 2, 3, 4, 100}, {3, 3, 3, 2, 2}, {0}, false},
    {4, {5, 9, 5, 5}, {5, 5, 5, 5}, {0}, false},
    /* A call stalls if it takes over 1 ms, and over 5 times as long as on at least two others. */
    {3, {5000, 1005001, 5000}, {5000, 5000, 5000}, {0, TM_EDGE_STALL, 0}, true},
    {3, {5000, 1005000, 5000}, {5000, 5000, 5000}, {0}, true},
    {3, {5000, 1005001, 5000}, {5000, 5000, 5000}, {0}, false},
    {3, {300000, 1500000, 300000}, {300000, 300000, 300000}, {0}, true},
    {2, {5000, 9000000}, {9000000, 5000}, {TM_EDGE_PAIR, TM_EDGE_PAIR}, true},
};

/* One record per rank. All second weights are equal. Ranks alternate between 2 processes. */
static tm_peer peer_at(uint64_t place, size_t rank, int64_t ns) {
    return (tm_peer){.place = place, .weights = {ns, 7}, .origin = (int64_t)rank % 2};
}

static void add(tm_vec *peers, uint64_t place, size_t rank, int64_t ns) {
    const tm_peer peer = peer_at(place, rank, ns);
    assert_non_null(tm_vec_append(peers, &peer, 1));
}

/* Returns the answer for the rank's process; NULL if there is none. */
static const tm_peer_others *find(const tm_vec *others, const tm_peer *peer) {
    const tm_peer_others *v = others->data;
    for (size_t i = 0; i < others->n; i++)
        if (v[i].place == peer->place && v[i].origin == peer->origin)
            return &v[i];
    return NULL;
}

TEST(each_gets_the_median_of_the_others) {
    tm_vec peers = TM_VEC(tm_peer), others = TM_VEC(tm_peer_others);
    const tm_vec rows = TM_VEC(tm_peer_row);
    tm_error err;
    for (size_t rank = 0; rank < PEERS_MAX; rank++) /* rank by rank, so places are mixed */
        for (size_t i = 0; i < COUNT(cases); i++)
            if (rank < cases[i].n)
                add(&peers, i, rank, cases[i].ns[rank]);
    assert_ok(tm_peers_compare(&peers, &rows, &others, &err));
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t rank = 0; rank < cases[i].n; rank++) {
            const tm_peer peer = peer_at(i, rank, cases[i].ns[rank]);
            uint8_t flags = 0;
            const tm_peer_weights is =
                tm_peers_of(find(&others, &peer), &peer.weights, cases[i].call, &flags);
            assert_int_equal(is.first_ns, cases[i].others[rank]);
            assert_int_equal(is.second_ns, 7);
            assert_int_equal(flags, cases[i].flags[rank]);
        }
    tm_vec_free(&peers);
    tm_vec_free(&others);
}

TEST(evenly_divided_work_is_the_mean) {
    tm_peer_places places;
    tm_vec peers = TM_VEC(tm_peer);
    const tm_vec rows = TM_VEC(tm_peer_row);
    const int64_t ns[] = {10, 20, 30, 100}; /* mean 40; the others of rank 0: 20 30 100 */
    const uint64_t call = UINT64_C(1) << 55;
    tm_error err;
    tm_peer_places_init(&places);
    for (size_t rank = 0; rank < COUNT(ns); rank++)
        add(&peers, 1, rank, ns[rank]);
    for (size_t rank = 0; rank < COUNT(ns); rank++)
        add(&peers, call, rank, ns[rank]);
    assert_ok(tm_peers_compare(&peers, &rows, &places.others, &err));
    tm_peers_divide_evenly(&places);
    for (size_t i = 0; i < peers.n; i++) {
        const tm_peer *peer = (const tm_peer *)peers.data + i;
        uint8_t flags = 0;
        assert_int_equal(
            tm_peers_of(find(&places.others, peer), &peer->weights, false, &flags).first_ns,
            peer->place == 1              ? 40
            : peer->weights.first_ns < 30 ? 30
                                          : 20);
    }
    tm_peer_places_free(&places);
    tm_vec_free(&peers);
}

TEST(medians_are_those_of_the_sorted_others) {
    enum { MOST = 40 };
    for (uint64_t seed = 1; seed <= 500; seed++) {
        uint64_t draws = seed;
        tm_vec peers = TM_VEC(tm_peer), answers = TM_VEC(tm_peer_others);
        const tm_vec rows = TM_VEC(tm_peer_row);
        tm_error err;
        size_t n = 4 + (size_t)draw(&draws, MOST - 3);
        int64_t ns[MOST], others[MOST], range = draw(&draws, 2) ? 5 : 100000;
        for (size_t i = 0; i < n; i++)
            add(&peers, 1, i, ns[i] = draw(&draws, range));
        assert_ok(tm_peers_compare(&peers, &rows, &answers, &err));
        for (size_t k = 0; k < n; k++) {
            for (size_t i = 0; i + 1 < n; i++)
                others[i] = ns[i < k ? i : i + 1];
            tm_sort_values(others, n - 1);
            int64_t a = others[(n - 2) / 2], b = others[(n - 1) / 2];
            const tm_peer peer = peer_at(1, k, ns[k]);
            uint8_t flags = 0;
            assert_int_equal(
                tm_peers_of(find(&answers, &peer), &peer.weights, false, &flags).first_ns,
                a + (b - a) / 2);
        }
        tm_vec_free(&peers);
        tm_vec_free(&answers);
    }
}

RUN_TESTS()

/* Groups of kernels without metadata, on streams made by hand: how the order is proven, what joins
 * ranks, and what keeps them apart. */
#include "match/grow.h"
#include "match/infer.h"
#include "match/link_test.h"
#include "match/pairing.h"
#include "match/records.h"

#include "run_fixture.h"

enum { N = 12 };

/* The last rank of a group arrives at operation k at ends_us[k], and the operation takes 20 us from
 * then. A rank has a slot; arrives early_us[k] before the last rank; has a clock that is ahead by
 * ahead_us; and does not record its first `skipped` operations. */
typedef struct stream_spec {
    int64_t early_us[N];
    int64_t slot, ahead_us;
    size_t skipped;
    int64_t later_us; /* for another group: its operations are later by one to three times this */
} stream_spec;

static tm_cluster make(const stream_spec *spec) {
    tm_cluster cluster;
    tm_error err;
    size_t n = N - spec->skipped;
    const tm_member member = {spec->slot, spec->slot};
    assert_int_equal(tm_cluster_create(n, member, &cluster, &err), TM_OK);
    for (size_t i = 0; i < n; i++) {
        size_t k = i + spec->skipped;
        int64_t last = ends_us[k] + spec->ahead_us + spec->later_us * (1 + (int64_t)(k * 7 % 3));
        int64_t begin = last - spec->early_us[k];
        cluster.run.marks[i] = (tm_mark){.begin_ns = begin * US,
                                         .end_ns = (last + 20) * US,
                                         .step = -1,
                                         .signature = 1,
                                         .synchronises = true};
        cluster.ops[i] = (tm_cluster_op){(last + 20) * US, 1, true, true};
    }
    assert_int_equal(tm_cluster_ready(&cluster, &err), TM_OK);
    return cluster;
}

static tm_link_test link_test_of(const stream_spec *a, const stream_spec *b, bool one_clock) {
    tm_cluster clusters[] = {make(a), make(b)};
    int64_t partners[N];
    tm_link_test link_test;
    tm_error err;
    assert_int_equal(
        tm_link_test_try(&clusters[0], &clusters[1], one_clock, partners, &link_test, &err), TM_OK);
    tm_cluster_free(&clusters[0]);
    tm_cluster_free(&clusters[1]);
    return link_test;
}

/* All twelve signatures are equal, so only ends show which operations correspond. */
TEST(an_order_is_proven_by_ends_alone) {
    static const struct {
        size_t skipped;
        int64_t ahead_us;
        bool one_clock;
        tm_pairing found;
    } cases[] = {
        {0, 0, true, TM_PAIRING_PROVEN},
        {3, 0, true, TM_PAIRING_PROVEN}, /* the recording starts later */
        {3, 5000000, false, TM_PAIRING_PROVEN},
        {0, -700, false, TM_PAIRING_PROVEN},
        {9, 0, true, TM_PAIRING_UNPROVEN}, /* three common operations are too few */
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        const stream_spec first = {.slot = 0};
        const stream_spec second = {.skipped = cases[c].skipped, .ahead_us = cases[c].ahead_us};
        tm_cluster a = make(&first), b = make(&second);
        int64_t partners[N];
        tm_pairing found;
        tm_error err;
        assert_int_equal(
            tm_pairing_find(&a.run, &b.run, cases[c].one_clock, partners, &found, &err), TM_OK);
        print_message("case %zu\n", c);
        assert_int_equal(found, cases[c].found);
        for (size_t i = 0; i < N && found == TM_PAIRING_PROVEN; i++)
            assert_int_equal(partners[i], (int64_t)i - (int64_t)cases[c].skipped < 0
                                              ? -1
                                              : (int64_t)i - (int64_t)cases[c].skipped);
        tm_cluster_free(&a);
        tm_cluster_free(&b);
    }
}

/* All ends are 400 us apart, so every shift fits equally well. */
TEST(a_steady_rhythm_proves_no_order) {
    int64_t partners[N];
    int64_t ends[2][N];
    for (size_t i = 0; i < N; i++) {
        ends[0][i] = 400 * (int64_t)i;
        ends[1][i] = 400 * (int64_t)i + 150;
    }
    rank_run a = run_of(ends[0], N), b = run_of(ends[1], N);
    tm_pairing found;
    tm_error err;
    assert_int_equal(tm_pairing_find(&a.run, &b.run, false, partners, &found, &err), TM_OK);
    assert_int_equal(found, TM_PAIRING_UNPROVEN);
    free_run(&a);
    free_run(&b);
}

/* With noise of 1 us, only over 5 us early is evidence; 48 us are log2(48 / 3) = 4 bits of it. */
TEST(who_waits_for_a_late_one_is_of_its_group) {
    static const struct {
        int64_t early_us[2];
        int state, explained;
    } cases[] = {
        {{48, 0}, TM_LINK_TEST_HOLDS, 1},
        {{47, 0}, TM_LINK_TEST_OPEN, 1},
        {{5, 5}, TM_LINK_TEST_OPEN, 0},
        {{12, 12}, TM_LINK_TEST_HOLDS, 2}, /* each is evidence of 2 bits */
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        const stream_spec a = {.early_us = {cases[c].early_us[0]}, .slot = 0};
        const stream_spec b = {.early_us = {0, cases[c].early_us[1]}, .slot = 1};
        for (int64_t own_clocks = 0; own_clocks < 2; own_clocks++) {
            const stream_spec other = {.early_us = {0, b.early_us[1]},
                                       .ahead_us = 900 * own_clocks};
            tm_link_test link_test = link_test_of(&a, &other, !own_clocks);
            assert_int_equal(link_test.state, cases[c].state);
            assert_int_equal(link_test.n_explained, cases[c].explained);
            assert_int_equal(link_test.n_contradicted, 0);
            assert_int_equal(link_test.offset_ns, 900 * own_clocks * US);
        }
    }
}

/* Two stages of a pipeline. Ends on the second are 700 us later than on the first, except for two
 * operations in which only the second was late, by 60 and 40 us. With any offset allowed, the ends
 * agree; but no rank waited for the late operations, so the groups differ. */
TEST(who_leaves_before_a_late_one_is_not) {
    tm_cluster a, b;
    const stream_spec stage = {.early_us = {0}}, next = {.ahead_us = 700};
    int64_t partners[N];
    tm_link_test link_test;
    tm_error err;
    a = make(&stage);
    b = make(&next);
    for (size_t i = 3; i < 11; i += 4) {
        int64_t late = i == 3 ? 60 * US : 40 * US;
        b.run.marks[i].begin_ns += late;
        b.run.marks[i].end_ns += late;
        b.ops[i].first_end_ns += late;
        b.ends[i] += late;
    }
    assert_int_equal(tm_link_test_try(&a, &b, false, partners, &link_test, &err), TM_OK);
    assert_int_equal(link_test.n_contradicted, 2);
    assert_int_equal(link_test.n_explained, 0);
    assert_int_equal(link_test.state, TM_LINK_TEST_REFUTED);
    tm_cluster_free(&a);
    tm_cluster_free(&b);
}

static tm_vec grown(const stream_spec *specs, size_t n, const tm_growth *growth) {
    tm_vec clusters = TM_VEC(tm_cluster);
    tm_error err;
    for (size_t i = 0; i < n; i++) {
        tm_cluster cluster = make(&specs[i]);
        assert_non_null(tm_vec_append(&clusters, &cluster, 1));
    }
    assert_int_equal(tm_clusters_grow(&clusters, growth, &err), TM_OK);
    return clusters;
}

/* Ranks 0 and 1 are a group. Ranks 2 and 3 are another, and arrive 30 to 90 us later. Ranks 1 and 3
 * were never late for the other group. */
TEST(ranks_grow_to_their_groups_and_no_further) {
    static const tm_growth growth = {.one_clock = true};
    const stream_spec specs[] = {
        {.early_us = {60, 0, 80, 0, 70}, .slot = 0},
        {.early_us = {0, 90, 0, 55, 0}, .slot = 1},
        {.early_us = {75, 0, 0, 0, 90, 0, 65}, .slot = 2, .later_us = 30},
        {.early_us = {0, 65, 85, 0, 0}, .slot = 3, .later_us = 30},
    };
    tm_vec clusters = grown(specs, COUNT(specs), &growth);
    const tm_cluster *found = clusters.data;
    assert_int_equal(clusters.n, 2);
    for (size_t p = 0; p < 2; p++) {
        assert_int_equal(found[p].n_members, 2);
        assert_int_equal(found[p].members[0].source, 2 * p);
        assert_int_equal(found[p].members[1].source, 2 * p + 1);
        assert_false(found[p].at_least);
        /* the joined run has the start of the last rank */
        assert_int_equal(found[p].run.marks[0].begin_ns, (1000 + 30 * (int64_t)p) * US);
        assert_int_equal(found[p].ops[0].n, 2);
    }
    tm_clusters_free(&clusters);
}

/* 200 hosts: even ones form a group, odd ones another. Hosts arrive up to 320 us early. */
TEST(many_clusters_grow_alike) {
    enum { MANY = 200 };
    static const tm_growth growth = {.limit_ns = 21 * MS};
    static stream_spec specs[MANY];
    for (size_t r = 0; r < MANY; r++) {
        specs[r].slot = (int64_t)r;
        specs[r].later_us = 97 * (int64_t)(r % 2);
        specs[r].ahead_us = 11 * (int64_t)r;
        for (size_t i = 0; i < N; i++)
            specs[r].early_us[i] = 20 * (int64_t)((r / 2 * 7 + i * 5) % 17);
    }
    tm_vec clusters = grown(specs, MANY, &growth);
    const tm_cluster *found = clusters.data;
    assert_int_equal(clusters.n, 2);
    for (size_t p = 0; p < 2; p++) {
        assert_int_equal(found[p].n_members, MANY / 2);
        for (size_t v = 0; v < MANY / 2; v++)
            assert_int_equal(found[p].members[v].source % 2, (int64_t)p);
    }
    tm_clusters_free(&clusters);
}

/* Two hosts have two streams each. Their clocks are 30 ms apart. More than 21 ms are accepted only
 * if two pairs of streams show it, or one pair by 32 bits: log2(early / 3 us) is 22.7 bits for the
 * first pair, and 4.4 bits more for each of three further operations that are 64 us early. */
TEST(a_clock_far_off_needs_two_witnesses) {
    static const tm_growth growth = {.limit_ns = 21 * MS};
    stream_spec specs[] = {
        {.early_us = {60, 0, 80, 0, 70}, .slot = 0},
        {.early_us = {0, 90, 0, 55, 0}, .slot = 1, .ahead_us = 30000},
        {.early_us = {0, 0, 75, 95, 0}, .slot = 0, .later_us = 111},
        {.early_us = {66, 77, 0, 0, 0}, .slot = 1, .later_us = 111, .ahead_us = 30000},
    };
    for (size_t n_streams = 1; n_streams <= 2; n_streams++) {
        tm_vec clusters = grown(specs, 2 * n_streams, &growth);
        const tm_cluster *found = clusters.data;
        assert_int_equal(clusters.n, 2);
        assert_int_equal(found[0].n_members, n_streams);
        assert_int_equal(found[0].at_least, n_streams == 1);
        tm_clusters_free(&clusters);
    }
    for (size_t near = 0; near < 2; near++) {
        specs[1].ahead_us = near ? 20000 : 30000;
        for (size_t i = 5; i < 8; i++)
            specs[1].early_us[i] = near ? 0 : 64;
        tm_vec clusters = grown(specs, 2, &growth);
        assert_int_equal(clusters.n, 1);
        tm_clusters_free(&clusters);
    }
}

RUN_TESTS()

/* Ends of matched kernels as input of the clock fit, computed by hand. */
#include "clock/differences.h"

enum { MIB = 1 << 20 };

/* Ranks 3 and 5 are on host 0, in domain 0. Ranks 7 and 9 are on host 1, each in its own domain. */
static const tm_clock_slot slot_list[] = {{3, 0, 0}, {5, 0, 0}, {7, 1, 1}, {9, 1, 2}};
static const tm_clock_slots slots = {slot_list, 4};

/* Instances as matching makes them. */
typedef struct scene {
    tm_collectives c;
    tm_error err;
} scene;

static scene open_scene(void) {
    return (scene){.c = {.records = TM_VEC(tm_comm_record), .instances = TM_VEC(tm_instance)}};
}

static void close_scene(scene *s) {
    tm_vec_free(&s->c.records);
    tm_vec_free(&s->c.instances);
}

static tm_comm_record part(int64_t rank, uint8_t kind, int64_t begin_ns, int64_t end_ns) {
    return (tm_comm_record){.group = 1,
                            .rank = rank,
                            .kind = kind,
                            .way = TM_MATCH_SEQ,
                            .bytes = 4,
                            .begin_ns = begin_ns,
                            .end_ns = end_ns};
}

static void add(scene *s, const tm_comm_record *parts, size_t n) {
    tm_instance instance = {.first = s->c.records.n, .n = n, .state = TM_INSTANCE_COMPLETE};
    assert_non_null(tm_vec_append(&s->c.records, parts, n));
    assert_non_null(tm_vec_append(&s->c.instances, &instance, 1));
}

static tm_vec rows_of(scene *s) {
    tm_vec rows = TM_VEC(tm_clock_end);
    assert_int_equal(tm_clock_rows(&s->c, &slots, &rows, &s->err), TM_OK);
    return rows;
}

TEST(a_domain_gives_its_last_begin_its_first_and_its_median_end) {
    scene s = open_scene();
    const tm_comm_record parts[] = {part(3, TM_COLL_ALLREDUCE, 100, 5200),
                                    part(5, TM_COLL_ALLREDUCE, 140, 5190),
                                    part(7, TM_COLL_ALLREDUCE, 90, 5300)};
    add(&s, parts, 3);
    tm_vec rows = rows_of(&s);
    const tm_clock_end *row = rows.data;
    assert_int_equal(rows.n, 2);
    assert_int_equal(row[0].domain, 0);
    assert_int_equal(row[0].n_ranks, 2);
    assert_int_equal(row[0].begin_max_ns, 140);
    assert_int_equal(row[0].end_min_ns, 5190);
    assert_int_equal(row[0].end_ns, 5190); /* the lower of two ends */
    assert_int_equal(row[0].flags, TM_CLOCK_FULL);
    assert_int_equal(row[1].domain, 1);
    assert_int_equal(row[1].begin_max_ns, 90);
    assert_int_equal(row[1].end_ns, 5300);
    /* All-reduces; the shortest takes 5,050 ns, between 2^12 and 2^13: class 1 (class_of). */
    assert_int_equal(row[0].noise_class, 1);
    assert_int_equal(row[1].noise_class, 1);
    tm_vec_free(&rows);
    close_scene(&s);
}

TEST(what_binds_no_two_domains_gives_no_row) {
    scene s = open_scene();
    static const struct {
        uint8_t kind;
        int64_t other, bytes, other_bytes;
        bool wrong_clock;
    } cases[] = {{TM_COLL_ALLREDUCE, 5, 4, 4, false}, /* both ranks are in one domain */
                 {TM_COLL_BROADCAST, 7, 4, 4, false}, {TM_COLL_ALLREDUCE, 7, 0, 0, false},
                 {TM_COLL_ALLTOALL, 7, 4, 8, false},  {TM_COLL_ALLREDUCE, 7, 4, 4, true},
                 {TM_COLL_ALLREDUCE, 7, 4, 4, false}, /* a suspect operation */
                 {TM_COLL_ALLTOALL, 7, 4, 4, false}}; /* an all-to-all of equal sizes counts */
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_comm_record parts[] = {part(3, cases[i].kind, 0, 50),
                                  part(cases[i].other, cases[i].kind, 0, 50)};
        parts[0].bytes = cases[i].bytes;
        parts[1].bytes = cases[i].other_bytes;
        parts[1].wrong_clock = cases[i].wrong_clock;
        add(&s, parts, 2);
    }
    ((tm_instance *)s.c.instances.data)[5].state = TM_INSTANCE_SUSPECT;
    tm_vec rows = rows_of(&s);
    assert_int_equal(rows.n, 2);
    assert_int_equal(((const tm_clock_end *)rows.data)->event, 6);
    tm_vec_free(&rows);
    close_scene(&s);
}

TEST(a_small_transfer_binds_one_way_and_a_large_one_both) {
    scene s = open_scene();
    for (int large = 0; large < 2; large++) {
        tm_comm_record pair[] = {part(7, TM_COLL_SEND, 10, 90), part(9, TM_COLL_RECV, 20, 95)};
        for (int i = 0; i < 2; i++) {
            pair[i].way = TM_MATCH_PAIR;
            pair[i].bytes = large ? 64 * (int64_t)MIB : 64 * (int64_t)MIB - 1;
        }
        add(&s, pair, 2);
    }
    tm_vec rows = rows_of(&s);
    const tm_clock_end *row = rows.data;
    assert_int_equal(rows.n, 4);
    assert_int_equal(row[0].flags, TM_CLOCK_GIVES);
    assert_int_equal(row[1].flags, TM_CLOCK_TAKES);
    assert_int_equal(row[2].flags, TM_CLOCK_FULL);
    assert_int_equal(row[3].flags, TM_CLOCK_FULL);
    tm_vec_free(&rows);
    close_scene(&s);
}

TEST(ends_are_compared_inside_hosts_or_over_all) {
    scene s = open_scene();
    const tm_comm_record parts[] = {
        part(3, TM_COLL_BARRIER, 0, 100), part(5, TM_COLL_BARRIER, 0, 110),
        part(7, TM_COLL_BARRIER, 0, 170), part(9, TM_COLL_BARRIER, 0, 150)};
    add(&s, parts, 4);
    /* Median ends are 105 on host 0, 160 on host 1, and 130 in all. Rows of {rank, lateness}. */
    static const int64_t expected[2][4][2] = {{{3, -5}, {5, 5}, {9, -10}, {7, 10}},
                                              {{3, -30}, {5, -20}, {9, 20}, {7, 40}}};
    for (int all = 0; all < 2; all++) {
        const tm_clock_compared how = {.by_host = !all};
        tm_vec found = TM_VEC(tm_clock_difference);
        assert_int_equal(tm_clock_compare(&s.c, &slots, &how, &found, NULL, &s.err), TM_OK);
        const tm_clock_difference *d = found.data;
        assert_int_equal(found.n, 4);
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(d[i].rank, expected[all][i][0]);
            assert_int_equal(d[i].late_ns, expected[all][i][1]);
        }
        tm_vec_free(&found);
    }
    close_scene(&s);
}

TEST(ranks_are_summed_up_by_halves) {
    tm_error err;
    /* Rank 5 has the differences 1, 9, 3, 7, 20, by end. The middle one, 3, is in both halves. */
    tm_clock_difference d[] = {{5, 50, 20, 1}, {9, 10, -4, 0}, {5, 10, 1, 0},
                               {5, 30, 3, 1},  {5, 20, 9, 0},  {5, 40, 7, 0}};
    tm_vec sums = TM_VEC(tm_clock_late);
    assert_int_equal(tm_clock_summarise(d, 6, &sums, &err), TM_OK);
    const tm_clock_late *late = sums.data;
    assert_int_equal(sums.n, 2);
    assert_int_equal(late[0].rank, 5);
    assert_int_equal(late[0].n, 5);
    assert_true(late[0].early_ns == 3.0); /* median of 1, 9, 3 */
    assert_true(late[0].late_ns == 7.0);  /* median of 3, 7, 20 */
    assert_true(late[0].all_ns == 7.0);   /* median of 1, 3, 7, 9, 20 */
    /* the distances from 7 are 6, 4, 0, 2, 13, and their median is 4 */
    assert_true(fabs(late[0].spread_ns - 1.4826 * 4.0) < 1e-9);
    assert_int_equal(late[0].n_broken, 2);
    assert_int_equal(late[1].rank, 9);
    assert_true(late[1].early_ns == -4.0 && late[1].late_ns == -4.0 && late[1].all_ns == -4.0);
    assert_true(late[1].spread_ns == 0.0);
    tm_vec_free(&sums);
}

TEST(the_steadiest_classes_are_chosen) {
    int64_t *counts = calloc((size_t)TM_CLOCK_CLASSES * TM_SPREAD_BINS, sizeof *counts);
    bool quiet[TM_CLOCK_CLASSES];
    assert_non_null(counts);
    tm_clock_quiet(counts, quiet);
    assert_true(quiet[0] && quiet[TM_CLOCK_CLASSES - 1]); /* no data yet */
    for (int i = 0; i < 100; i++) {
        tm_spread_add(counts + (size_t)3 * TM_SPREAD_BINS, 2000.0);
        tm_spread_add(counts + (size_t)5 * TM_SPREAD_BINS, 3500.0);
        tm_spread_add(counts + (size_t)7 * TM_SPREAD_BINS, 90000.0);
        if (i < 63) /* fewer than 64 are not trusted */
            tm_spread_add(counts + (size_t)9 * TM_SPREAD_BINS, 100.0);
    }
    tm_clock_quiet(counts, quiet);
    assert_true(quiet[3]);
    assert_true(quiet[5]);
    assert_false(quiet[7]);
    tm_spread_add(counts + (size_t)9 * TM_SPREAD_BINS, 100.0); /* this is the 64th */
    tm_clock_quiet(counts, quiet);
    assert_true(quiet[9]);
    assert_false(quiet[3]);
    free(counts);
}

RUN_TESTS()

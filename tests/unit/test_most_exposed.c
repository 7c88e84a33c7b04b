/* Operations that are kept as most exposed: the largest of each kind, by sum and maximum. */
#include "waits/most_exposed.h"

enum { PAIRS = TM_EXPOSED_MAX + 1 };

static void add(tm_collectives *c, uint8_t kind, const int64_t *exposed_ns, size_t n) {
    const tm_instance instance = {.first = c->records.n, .n = n};
    for (size_t i = 0; i < n; i++) {
        const tm_comm_record record = {.rank = (int64_t)i,
                                       .event = (uint32_t)c->records.n,
                                       .kind = kind,
                                       .exposed_ns = exposed_ns[i]};
        assert_non_null(tm_vec_append(&c->records, &record, 1));
    }
    assert_non_null(tm_vec_append(&c->instances, &instance, 1));
}

/* All-reduce k, for k = 0 to 50, has two ranks with 100 + k ns each, so its sum is 200 + 2 k.
 * Another, of one rank, has 190 ns: the smallest sum of all 52, but the largest maximum. The 50
 * largest sums are k = 50 to 1. The 50 largest maxima are 190 and k = 50 to 2. So only k = 0 is not
 * kept. A hidden broadcast is kept, because it is the only one. */
TEST(each_kind_keeps_its_largest_sums_and_its_longest) {
    tm_collectives c = {.records = TM_VEC(tm_comm_record),
                        .instances = TM_VEC(tm_instance),
                        .exposed = TM_VEC(tm_worst)};
    tm_vec keys = TM_VEC(tm_exposed_key);
    tm_error err = {0};
    const int64_t longest = 190, hidden = 0;
    for (int64_t k = 0; k < PAIRS; k++)
        add(&c, TM_COLL_ALLREDUCE, (const int64_t[]){100 + k, 100 + k}, 2);
    add(&c, TM_COLL_BROADCAST, &hidden, 1);
    add(&c, TM_COLL_ALLREDUCE, &longest, 1);
    assert_int_equal(tm_exposed_find(&c, &keys, &err), TM_OK);
    assert_int_equal(tm_exposed_keep(&keys, &c, &err), TM_OK);
    const tm_worst *kept = c.exposed.data;
    assert_int_equal(c.exposed.n, PAIRS + 1);
    for (size_t k = 1; k < PAIRS; k++) {
        assert_int_equal(kept[k - 1].instance, k);
        assert_int_equal(kept[k - 1].place, PAIRS - 1 - k);
    }
    assert_int_equal(kept[PAIRS - 1].instance, PAIRS); /* the broadcast is after all others */
    assert_int_equal(kept[PAIRS - 1].place, PAIRS);
    assert_int_equal(kept[PAIRS].instance, PAIRS + 1);
    assert_int_equal(kept[PAIRS].place, PAIRS - 1);
    tm_vec_free(&keys);
    tm_vec_free(&c.records);
    tm_vec_free(&c.instances);
    tm_vec_free(&c.exposed);
}

RUN_TESTS()

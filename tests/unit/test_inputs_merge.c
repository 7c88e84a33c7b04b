/* Merges the input lists of a job's hosts into one, in the order of a host that sees all files. */
#include "mpi/load/inputs_merge.h"

typedef struct listed {
    int host, operand;
    const char *match, *path;
    int size; /* stands for all facts that identify the file */
} listed;

/* Hosts 0 and 1 share the folder s. Each has its own disk l: on it, host 0 has r10, host 1 has r9,
 * and t differs. Host 2 has the same l/t as host 0. The operands are "s/r1", which was
 * listed first, "l*" and s. */
static const listed lists[] = {
    {0, 0, "s/r1", "s/r1", 1}, {0, 1, "l", "l/r10", 10}, {0, 1, "l", "l/t", 20},
    {0, 1, "l-2", "l-2", 30},  {0, 2, "s", "s/r1", 1},   {0, 2, "s", "s/r2", 2},
    {1, 0, "s/r1", "s/r1", 1}, {1, 1, "l", "l/r9", 9},   {1, 1, "l", "l/t", 21},
    {1, 2, "s", "s/r1", 1},    {1, 2, "s", "s/r2", 2},   {2, 1, "l", "l/t", 20},
};

static const struct {
    const char *path;
    int size;
    uint64_t seen; /* a bit for each host that has the file */
} expected[] = {
    {"s/r1", 1, 3}, {"l/r9", 9, 2}, {"l/r10", 10, 1}, {"l/t", 20, 5},
    {"l/t", 21, 2}, {"l-2", 30, 1}, {"s/r1", 1, 3},   {"s/r2", 2, 3},
};

TEST(hosts_make_one_list) {
    tm_vec all = TM_VEC(char), out = TM_VEC(char), seen = TM_VEC(uint64_t);
    tm_error err;
    for (size_t i = 0; i < COUNT(lists); i++) {
        const tm_input_head head = {.operand = lists[i].operand,
                                    .match = (int64_t)strlen(lists[i].match),
                                    .host = lists[i].host,
                                    .identity.size = lists[i].size};
        assert_non_null(tm_vec_append(&all, &head, sizeof head));
        assert_non_null(tm_vec_append(&all, lists[i].path, strlen(lists[i].path) + 1));
    }
    assert_int_equal(tm_inputs_merge(&all, 3, &out, &seen, &err), TM_OK);
    assert_int_equal(seen.n, COUNT(expected));
    const char *p = out.data;
    for (size_t i = 0; i < COUNT(expected); i++) {
        tm_input_head head;
        memcpy(&head, p, sizeof head);
        p += sizeof head;
        assert_string_equal(p, expected[i].path);
        assert_int_equal(head.identity.size, expected[i].size);
        assert_int_equal(((uint64_t *)seen.data)[i], expected[i].seen);
        p += strlen(p) + 1;
    }
    assert_true(p == (char *)out.data + out.n);
    tm_vec_free(&all);
    tm_vec_free(&out);
    tm_vec_free(&seen);
}

RUN_TESTS()

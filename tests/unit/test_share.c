/* Assignment of traces to processes. */
#include "mpi/load/share.h"

static void plan(tm_share_item *items, size_t n, int n_processes) {
    tm_error err;
    for (size_t i = 0; i < n; i++)
        items[i].owner = -7;
    const tm_share_readers readers = {.n = n_processes};
    assert_int_equal(tm_share_plan(items, n, &readers, &err), TM_OK);
}

TEST(a_trace_is_cut_into_its_fair_shares) {
    static const struct {
        int64_t weight, total;
        int n_processes, parts;
    } cases[] = {
        {100, 100, 1, 1}, /* one process */
        {100, 100, 2, 2},
        {100, 100, 7, 7},
        {25, 100, 4, 1}, /* exactly one share */
        {26, 100, 4, 1}, /* 1.04 shares: not worth splitting */
        {31, 100, 4, 1}, /* 1.24 shares */
        {32, 100, 4, 2}, /* 1.28 shares */
        {50, 100, 4, 2},
        {60, 100, 4, 3}, /* 2.4 shares */
        {99, 100, 4, 4}, /* 3.96 shares, and at most one part per process */
        {99, 99, 98, 98},
        {3, 3, 8, 1}, /* each part would have less than a byte */
        {0, 0, 8, 1},
        {INT64_MAX, INT64_MAX, 1000, 1000},
        {INT64_MAX / 2, INT64_MAX, 1000, 500},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(tm_share_parts(cases[i].weight, cases[i].total, cases[i].n_processes),
                         cases[i].parts);
}

TEST(the_largest_goes_first_to_the_least_loaded) {
    static const struct {
        const char *what;
        int n_processes;
        size_t n;
        struct {
            int64_t rank, weight;
            int owner;
        } items[6];
    } cases[] = {
        /* A trace adds its weight + 1 to the load. Each weight, its process, and the new load: 100
         * -> 0 (101), 60 -> 1 (61), 50 -> 1 (112), 40 -> 0 (142), 30 -> 1 (143), 20 -> 0. */
        {"the largest first",
         2,
         6,
         {{0, 20, 0}, {1, 50, 1}, {2, 100, 0}, {3, 30, 1}, {4, 60, 1}, {5, 40, 0}}},
        /* Rank 1 weighs 30 + 30 + 30 = 90, more than the 80 of rank 0, so it is assigned first. */
        {"the traces of a rank stay together",
         2,
         5,
         {{1, 30, 0}, {0, 80, 1}, {1, 30, 0}, {2, 5, 1}, {1, 30, 0}}},
        {"unknown ranks go alone", 3, 3, {{-1, 10, 0}, {-1, 10, 1}, {-1, 10, 2}}},
        /* If weights are equal, the order of arguments decides, even if ranks descend. */
        {"equal weights in the order of the arguments",
         3,
         5,
         {{9, 4, 0}, {8, 4, 1}, {7, 4, 2}, {6, 4, 0}, {5, 4, 1}}},
        {"empty traces are spread too", 2, 4, {{0, 0, 0}, {1, 0, 1}, {2, 0, 0}, {3, 0, 1}}},
        {"fewer traces than processes", 8, 2, {{0, 5, 1}, {1, 9, 0}}},
        {"one process", 1, 2, {{0, 5, 0}, {1, 9, 0}}},
        {"no traces", 4, 0, {{0, 0, 0}}},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        tm_share_item items[COUNT(cases->items)];
        for (size_t i = 0; i < cases[c].n; i++)
            items[i] =
                (tm_share_item){.rank = cases[c].items[i].rank, .weight = cases[c].items[i].weight};
        plan(items, cases[c].n, cases[c].n_processes);
        print_message("%s\n", cases[c].what);
        for (size_t i = 0; i < cases[c].n; i++)
            assert_int_equal(items[i].owner, cases[c].items[i].owner);
    }
}

/* A trace adds its weight + 1 to the load: 501 + 100 x 11 = 1601 in all. A share is 801, and a rank
 * below 50 is small. Process 0 gets the large rank (501), then 28 ranks (809), and process 1 the
 * other 72 (792). Small ranks go by rank, whatever the order of arguments is. */
TEST(small_ranks_are_given_out_in_blocks_of_neighbours) {
    tm_share_item items[101] = {{.rank = 50, .weight = 500}};
    for (int i = 1; i <= 100; i++)
        items[i] = (tm_share_item){.rank = 1000 - i, .weight = 10};
    plan(items, COUNT(items), 2);
    for (int i = 0; i <= 100; i++) /* the lowest 28 ranks are the last arguments */
        assert_int_equal(items[i].owner, i > 0 && i <= 72);
}

/* Processes 0 and 1 are on host 0, 2 on host 1, 3 on host 2. Traces that one host sees go first
 * (weight -> process): 50 -> 2, 40 -> 2 (its only one), 30 -> 3. Then 60 -> 0, 20 -> 1, 9 -> 1. */
TEST(a_trace_goes_to_a_process_that_sees_it) {
    static const int host_of[] = {0, 0, 1, 2};
    static const uint64_t second = 2, third = 4, last_two = 6, none_of_third = 3;
    const tm_share_readers readers = {4, 3, host_of};
    tm_share_item items[] = {
        {.rank = 0, .weight = 60},
        {.rank = 1, .weight = 50, .seen = &second},
        {.rank = 2, .weight = 20},
        {.rank = 3, .weight = 40, .seen = &second},
        {.rank = 4, .weight = 15, .seen = &third}, /* the two traces of rank 4 weigh 30 */
        {.rank = 4, .weight = 15, .seen = &last_two},
        {.rank = 5, .weight = 9},
    };
    const int expected[] = {0, 2, 1, 2, 3, 3, 1};
    tm_error err;
    assert_int_equal(tm_share_plan(items, COUNT(items), &readers, &err), TM_OK);
    for (size_t i = 0; i < COUNT(items); i++)
        assert_int_equal(items[i].owner, expected[i]);
    assert_int_equal(tm_share_n_readers(&readers, &last_two), 2);
    assert_int_equal(tm_share_n_readers(&readers, NULL), 4);
    for (size_t k = 0; k < 5; k++) {
        assert_int_equal(tm_share_reader(&readers, &last_two, k), 2 + k % 2);
        assert_int_equal(tm_share_reader(&readers, &none_of_third, k), k % 3);
        assert_int_equal(tm_share_reader(&readers, NULL, k), k % 4);
    }
    items[5].seen = &second;
    assert_int_equal(tm_share_plan(items, COUNT(items), &readers, &err), TM_ERR_INPUT);
    assert_string_equal(err.message, "rank 4 has traces on several hosts, and no host sees all of "
                                     "them: do they belong to one job?");
}

static uint32_t next(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* Greedy sharing guarantees that no process exceeds the mean by more than one group. */
static void check_plan(const tm_share_item *items, size_t n, int n_processes) {
    int64_t load[8] = {0}, sum = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        assert_in_range(items[i].owner, 0, n_processes - 1);
        load[items[i].owner] += items[i].weight + 1;
        sum += items[i].weight + 1;
        int64_t group = 0;
        for (size_t k = 0; k < n; k++) {
            bool same = k == i || (items[i].rank >= 0 && items[k].rank == items[i].rank);
            group += same ? items[k].weight + 1 : 0;
            if (same)
                assert_int_equal(items[k].owner, items[i].owner);
        }
        largest = group > largest ? group : largest;
    }
    for (int p = 0; p < n_processes; p++)
        assert_true(load[p] <= sum / n_processes + largest + 1);
}

TEST(any_plan_is_even_keeps_ranks_together_and_comes_out_again) {
    enum { MOST = 80 };
    uint32_t seed = 99;
    for (int round = 0; round < 500; round++) {
        tm_share_item items[MOST], again[MOST];
        size_t n = next(&seed) % (MOST + 1);
        int n_processes = 1 + (int)(next(&seed) % 8);
        for (size_t i = 0; i < n; i++)
            items[i] = (tm_share_item){.rank = (int64_t)(next(&seed) % 20) - 1,
                                       .weight = next(&seed) % 1000};
        memcpy(again, items, n * sizeof *items);
        plan(items, n, n_processes);
        check_plan(items, n, n_processes);
        plan(again, n, n_processes);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(again[i].owner, items[i].owner);
    }
}

RUN_TESTS()

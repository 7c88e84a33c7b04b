/* Verdicts from waits. */
#include "analysis/stragglers/verdict.h"

TEST(verdicts_have_words) {
    static const char *const words[] = {[TM_VERDICT_NONE] = "none",
                                        [TM_VERDICT_INCONCLUSIVE] = "inconclusive",
                                        [TM_VERDICT_PERSISTENT] = "persistent",
                                        [TM_VERDICT_SEVERAL] = "several",
                                        [TM_VERDICT_EPISODE] = "episode",
                                        [TM_VERDICT_ALTERNATING] = "alternating",
                                        [TM_VERDICT_EVENT] = "event"};
    for (size_t i = 0; i < COUNT(words); i++)
        assert_string_equal(tm_verdict_word((tm_verdict_kind)i), words[i]);
    assert_string_equal(tm_culprit_word(TM_CULPRIT_RANK), "rank");
    assert_string_equal(tm_culprit_word(TM_CULPRIT_HOST), "host");
    assert_string_equal(tm_culprit_word(TM_CULPRIT_GROUP), "group");
}

TEST(blames_of_a_rank_add_up) {
    const tm_blame one = {.rank = 3,
                          .step = 9,
                          .collectives = 1,
                          .last = 2,
                          .tied = 4,
                          .untied = 8,
                          .wait_ns = 16,
                          .lateness_ns = 32,
                          .doubt_ns = 3,
                          .caused = {64, (uint64_t)1 << 39},
                          .passed_ns = 128,
                          .indirect_ns = 256,
                          .expected = 0.5,
                          .variance = 0.25};
    tm_blame sum = {.rank = 3, .step = -1};
    tm_blame_add(&sum, &one);
    tm_blame_add(&sum, &one);
    assert_int_equal(sum.rank, 3);
    assert_int_equal(sum.step, -1);
    assert_int_equal(sum.collectives, 2);
    assert_int_equal(sum.last, 4);
    assert_int_equal(sum.tied, 8);
    assert_int_equal(sum.untied, 16);
    assert_int_equal(sum.wait_ns, 32);
    assert_int_equal(sum.lateness_ns, 64);
    assert_int_equal(sum.doubt_ns, 6);
    assert_int_equal(sum.caused.whole_ns, 129); /* two halves make 1 */
    assert_int_equal(sum.caused.fraction, 0);
    assert_int_equal(sum.passed_ns, 256);
    assert_int_equal(sum.indirect_ns, 512);
    assert_true(sum.expected == 1.0 && sum.variance == 0.5);
}

TEST(cost_is_what_was_caused_without_what_was_passed_on) {
    /* 64.5 - 60 = 4.5 ns are direct; 256 ns are through other ranks */
    const tm_blame blame = {.caused = {64, (uint64_t)1 << 39}, .passed_ns = 60, .indirect_ns = 256};
    assert_int_equal(tm_blame_direct(&blame).whole_ns, 4);
    assert_int_equal(tm_blame_direct(&blame).fraction, (uint64_t)1 << 39);
    assert_int_equal(tm_blame_cost(&blame).whole_ns, 260);
    assert_int_equal(tm_blame_cost(&blame).fraction, (uint64_t)1 << 39);
}

TEST(the_leader_of_a_step_cost_the_most) {
    static const tm_blame blames[] = {
        /* outside of all steps */
        {.step = -1, .rank = 0, .caused = {100, 0}},
        /* step 2: the largest cost leads; rank 4's is larger than rank 1's only by a fraction */
        {.step = 2, .rank = 1, .caused = {7, 5}, .lateness_ns = 1},
        {.step = 2, .rank = 3, .caused = {3, 9}, .lateness_ns = 2},
        {.step = 2, .rank = 4, .caused = {7, 6}, .lateness_ns = 3},
        /* step 5: of equal ranks, the lowest leads; 7.5 is rounded up */
        {.step = 5, .rank = 0, .caused = {6, 0}, .lateness_ns = 4},
        {.step = 5, .rank = 2, .caused = {7, (uint64_t)1 << 39}, .lateness_ns = 5},
        {.step = 5, .rank = 9, .caused = {7, (uint64_t)1 << 39}, .lateness_ns = 6},
        /* step 6: no rank waited, although there were collectives */
        {.step = 6, .rank = 0, .collectives = 3},
        {.step = 6, .rank = 1, .collectives = 3},
        /* step 8: a fraction of a ns is enough */
        {.step = 8, .rank = 1, .lateness_ns = 7},
        {.step = 8, .rank = 2, .caused = {0, 1}, .lateness_ns = 8},
        /* step 9: the costs are 9 - 5 = 4, 1 + 4 = 5, and 0 + 2 ns */
        {.step = 9, .rank = 0, .caused = {9, 0}, .passed_ns = 5, .lateness_ns = 9},
        {.step = 9, .rank = 1, .caused = {1, 0}, .indirect_ns = 4, .lateness_ns = 10},
        {.step = 9, .rank = 2, .indirect_ns = 2},
        /* step 10: rank 0 caused a little less than 5 ns, and passes on all of it, rounded up */
        {.step = 10, .rank = 0, .caused = {4, ((uint64_t)1 << 40) - 1}, .passed_ns = 5},
        {.step = 10, .rank = 1, .caused = {0, 0}, .indirect_ns = 5},
    };
    static const tm_leader expected[] = {{2, 4, 7, 7, 0, 3},
                                         {5, 2, 8, 8, 0, 5},
                                         {8, 2, 0, 0, 0, 8},
                                         {9, 1, 1, 1, 4, 10},
                                         {10, 1, 0, 0, 5, 0}};
    tm_leader leaders[COUNT(blames)];
    assert_int_equal(tm_verdict_leaders(blames, COUNT(blames), leaders), COUNT(expected));
    assert_memory_equal(leaders, expected, sizeof expected);
    assert_int_equal(tm_verdict_leaders(NULL, 0, leaders), 0);
}

RUN_TESTS()

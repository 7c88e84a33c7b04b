/* One rank, the ranks of a host, or those of a process group. */
#include "analysis/stragglers/culprit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { RANKS = 8, STEPS = 4 };

/* Ranks 0 to 7 by letter: equal letters are of one host, of one group. A dot is in none. */
typedef struct trial {
    int64_t costs[RANKS];
    const char *hosts, *groups;
    const char *leaders; /* a digit for each step */
    tm_culprit level;
    tm_verdict_kind kind;
    int64_t rank;
    const char *among; /* digits */
} trial;

#define RANK TM_CULPRIT_RANK
#define HOST TM_CULPRIT_HOST
#define GROUP TM_CULPRIT_GROUP
#define PERSISTENT TM_VERDICT_PERSISTENT
#define ROTATING TM_VERDICT_ROTATING

static const trial trials[] = {
    /* one rank has it all, or most of its host's: of 90 in all 80 %, but 1 is under half of 81/2 */
    {{0, 90, 0, 0, 0, 0, 0, 0}, "aaaabbbb", "ababcdcd", "1111", RANK, PERSISTENT, 1, "1"},
    {{1, 80, 3, 3, 3, 0, 0, 0}, "aabbccdd", "........", "1111", RANK, PERSISTENT, 1, "1"},
    /* a host of four: half of their mean (80 / 4) is 10; 80 of 100 */
    {{0, 0, 20, 0, 25, 23, 10, 22}, "aaaabbbb", "........", "4756", HOST, PERSISTENT, 4, "4567"},
    {{0, 0, 20, 0, 26, 23, 9, 22}, "aaaabbbb", "........", "4756", RANK, ROTATING, 4, "4"},
    {{0, 0, 21, 0, 25, 23, 10, 22}, "aaaabbbb", "........", "4756", RANK, ROTATING, 4, "4"},
    /* leads that ranks share are the host's, where one of them alone would not lead half; a rank
     * that leads and costs little is none to name */
    {{0, 0, 0, 0, 25, 25, 25, 25}, "aaaabbbb", "........", "4500", HOST, PERSISTENT, 4, "4567"},
    {{0, 0, 0, 0, 25, 25, 25, 25},
     "aaaabbbb",
     "........",
     "4000",
     HOST,
     TM_VERDICT_INCONCLUSIVE,
     4,
     "4567"},
    /* the smaller of two: ranks 4 and 5 of a host of four */
    {{0, 0, 0, 0, 50, 50, 0, 0}, "aaaabbbb", "....gg..", "4545", GROUP, PERSISTENT, 4, "45"},
    {{0, 0, 0, 0, 25, 25, 25, 25}, "aaaabbbb", "....gggg", "4567", HOST, PERSISTENT, 4, "4567"},
    /* a group across hosts; its rank of most cost is named */
    {{0, 30, 0, 40, 0, 30, 0, 0}, "aaaabbbb", ".g.g.g..", "1353", GROUP, PERSISTENT, 3, "135"},
    /* more than half of all ranks is no concentration */
    {{20, 20, 20, 20, 20, 0, 0, 0}, "aaaaabbb", "gggggg..", "0123", RANK, ROTATING, 0, "0"},
    /* one rank is no group of ranks */
    {{0, 0, 0, 0, 0, 0, 90, 0}, "abcdefgh", "......g.", "6666", RANK, PERSISTENT, 6, "6"},
    /* nobody has cost */
    {{0, 0, 0, 0, 0, 0, 0, 0}, "aaaabbbb", "....gggg", "", RANK, TM_VERDICT_NONE, -1, ""},
};

static size_t read_places(const char *letters, tm_culprit level, tm_place *out) {
    size_t n = 0;
    for (size_t r = RANKS; r-- > 0;)
        if (letters[r] != '.')
            out[n++] = (tm_place){level, (uint64_t)letters[r], r};
    return n;
}

/* Each rank waits 20, came last 8 times, of which 2 are chance with a variance of 1: z is 6. */
static void check_trial(const trial *t) {
    tm_toll ranks[RANKS];
    tm_leader leaders[STEPS];
    tm_place places[2 * RANKS];
    bool among[RANKS];
    char found[RANKS + 1] = "";
    tm_verdict v;
    tm_error err;
    for (int r = 0; r < RANKS; r++)
        ranks[r] = (tm_toll){.rank = 10 + r,
                             .wait_ns = 20,
                             .caused = {t->costs[r] - t->costs[r] / 2, 0},
                             .indirect_ns = t->costs[r] / 2,
                             .last = 8,
                             .expected = 2.0,
                             .variance = 1.0};
    for (size_t s = 0; s < strlen(t->leaders); s++)
        leaders[s] = (tm_leader){.step = (int64_t)s, .rank = 10 + t->leaders[s] - '0'};
    tm_culprit_input input = {.places = places,
                              .ranks = ranks,
                              .n_ranks = RANKS,
                              .leaders = leaders,
                              .n_leaders = strlen(t->leaders),
                              .window_ns = 1000};
    input.n_places = read_places(t->hosts, HOST, places);
    input.n_places += read_places(t->groups, GROUP, places + input.n_places);
    assert_int_equal(tm_culprit_decide(&input, among, &v, &err), TM_OK);
    for (int r = 0; r < RANKS; r++)
        if (among[r])
            found[strlen(found)] = (char)('0' + r);
    assert_string_equal(found, t->among);
    assert_int_equal(v.level, t->level);
    assert_int_equal(v.rank, t->rank < 0 ? -1 : 10 + t->rank);
    if (t->rank >= 0)
        assert_int_equal(v.kind, t->kind);
    assert_int_equal(v.wait_ns, 160);
}

static void the_smallest_unit_that_shares_the_cost_is_meant(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(trials); i++)
        check_trial(&trials[i]);
}

static void a_unit_is_judged_by_the_sums_of_its_ranks(void **state) {
    (void)state;
    tm_toll ranks[] = {{.rank = 0, .wait_ns = 50},
                       {.rank = 1, .wait_ns = 50},
                       {.rank = 2, .caused = {40, 0}, .last = 3, .expected = 1.0, .variance = 0.5},
                       {.rank = 3, .caused = {60, 0}, .last = 5, .expected = 2.0, .variance = 1.5}};
    const tm_leader leaders[] = {{.rank = 2}, {.rank = 3}, {.rank = 2}};
    tm_place places[] = {{HOST, 1, 2}, {HOST, 1, 3}};
    const tm_culprit_input input = {places,  COUNT(places),  ranks, COUNT(ranks),
                                    leaders, COUNT(leaders), 1000};
    bool among[COUNT(ranks)];
    tm_verdict v;
    tm_error err;
    assert_int_equal(tm_culprit_decide(&input, among, &v, &err), TM_OK);
    assert_int_equal(v.level, HOST);
    assert_int_equal(v.rank, 3);
    assert_int_equal(v.led, 3);
    assert_int_equal(v.toll.last, 8);
    assert_int_equal(tm_toll_cost(&v.toll).whole_ns, 100);
    /* (8 - 3) / sqrt(2) = 3.54 */
    assert_true(v.z > 3.53 && v.z < 3.54);
    assert_int_equal(v.kind, PERSISTENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_unit_that_shares_the_cost_is_meant),
        cmocka_unit_test(a_unit_is_judged_by_the_sums_of_its_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

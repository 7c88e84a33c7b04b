/* Relative speeds, and the sentence beside a verdict. */
#include "analysis/stragglers/verdict_sentence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/stragglers/rank_speed.h"
#include "rows_fixture.h"
#include "tmerge/analysis.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static tm_tables open_tables(void) {
    tm_tables tables;
    tm_error err;
    assert_int_equal(tm_analysis_tables(&tables, &err), TM_OK);
    return tables;
}

static void check_speeds(const tm_tables *tables, const double *expected, size_t n) {
    tm_table *ranks = tm_tables_find(tables, "stragglers.rank");
    int column = tm_table_column(ranks->def, "relative_speed");
    tm_error err;
    assert_int_equal(tm_rank_speeds(tables, ranks, column, &err), TM_OK);
    assert_int_equal(ranks->n_rows, n);
    for (size_t i = 0; i < n; i++) {
        const tm_cell *cell = &tm_table_row(ranks, i)[column];
        assert_int_equal(cell->null, expected[i] == 0.0);
        assert_true(cell->null || cell->value.r == expected[i]);
    }
}

static void a_speed_is_the_median_of_the_steps(void **state) {
    (void)state;
    /* compute_ns by step:   0    1    2    3      medians of the ranks with GPU events
     *   rank 0             10   20   40    -      step 0: of 10, 20, 40     20
     *   rank 1             20   20   10   30      step 1: of 20, 20, 80, 0  (20 + 20) / 2 = 20
     *   rank 5             40   80    -   90      step 2: of 40, 10         25
     *   rank 7 (step 4: 7)  -    0    -    -      step 3: of 30, 90         60
     *   rank 9 has no GPU events
     * rank 0: 20/10, 20/20, 25/40 = 2, 1, 0.625       -> 1
     * rank 1: 20/20, 20/20, 25/10, 60/30 = 1, 1, 2.5, 2 -> 1.5
     * rank 5: 20/40, 20/80, 60/90 = 0.5, 0.25, 0.67   -> 0.5
     * rank 7: 7/7 in step 4, where it is alone; the step in which it did not compute is left out */
    static const char *const rows[] = {
        "rank=0 step=0 window_ns=100 compute_ns=10", "rank=0 step=1 window_ns=100 compute_ns=20",
        "rank=0 step=2 window_ns=100 compute_ns=40", "rank=1 step=0 window_ns=100 compute_ns=20",
        "rank=1 step=1 window_ns=100 compute_ns=20", "rank=1 step=2 window_ns=100 compute_ns=10",
        "rank=1 step=3 window_ns=100 compute_ns=30", "rank=5 step=0 window_ns=100 compute_ns=40",
        "rank=5 step=1 window_ns=100 compute_ns=80", "rank=5 step=3 window_ns=100 compute_ns=90",
        "rank=7 step=1 window_ns=100 compute_ns=0",  "rank=9 step=0 window_ns=0 compute_ns=0",
        "rank=7 step=4 window_ns=100 compute_ns=7",  "rank=9 step=3 window_ns=0 compute_ns=0",
    };
    static const double expected[] = {1.0, 1.5, 0.5, 1.0, 0.0};
    tm_tables tables = open_tables();
    for (size_t i = 0; i < COUNT(rows); i++)
        add_row(&tables, "overlap.step", rows[i]);
    add_row(&tables, "stragglers.rank", "rank=0");
    add_row(&tables, "stragglers.rank", "rank=1");
    add_row(&tables, "stragglers.rank", "rank=5");
    add_row(&tables, "stragglers.rank", "rank=7");
    add_row(&tables, "stragglers.rank", "rank=9");
    check_speeds(&tables, expected, COUNT(expected));
    tm_tables_destroy(&tables);
}

static void without_steps_there_is_no_speed(void **state) {
    (void)state;
    static const double expected[] = {0.0};
    tm_tables tables = open_tables();
    add_row(&tables, "stragglers.rank", "rank=0");
    check_speeds(&tables, expected, 1);
    tm_tables_destroy(&tables);
}

/* Ranks 2, 3 and 6, of which 3 is the one meant; 8 has no GPU events. Median idle time of those
 * with GPU events: of 10, `idle` and 30 us. */
typedef struct scene {
    tm_verdict_kind kind;
    const char *rank; /* of rank 3 in stragglers.rank */
    const char *idle; /* of rank 3 in overlap.rank */
    tm_toll toll;
    int64_t wait_ns;
    const char *sentence;
} scene;

#define TOLL                                                                                       \
    { .collectives = 10, .last = 9, .caused = {16000, 0}, .expected = 2.5 }
#define LEAD                                                                                       \
    "Rank 3 is behind 80 % of all waiting: 16.0 us of 20.0 us of GPU time; it leads 5 of 6 steps " \
    "and came last in 9 of 10 collectives (2 expected by chance); "
#define COUNTS "rank=3 collectives=10"

static const scene scenes[] = {
    {TM_VERDICT_NONE, COUNTS, "idle_ns=20000", TOLL, 20000,
     LEAD "but all waiting is under 1 % of the ranks' windows (an even share is 25.0 %)"},
    {TM_VERDICT_INCONCLUSIVE, COUNTS, "idle_ns=20000", TOLL, 20000,
     LEAD "too few steps or no clear lead to tell chance from cause"},
    {TM_VERDICT_ROTATING, COUNTS, "idle_ns=20000", TOLL, 20000,
     LEAD "a different rank leads in each step: data or chance, not hardware"},
    {TM_VERDICT_PERSISTENT, COUNTS " relative_speed=0.71", "idle_ns=20000", TOLL, 20000,
     LEAD "it computes at 0.71x the median speed: look at its GPU (clock, heat, neighbours) or its "
          "share of the work"},
    {TM_VERDICT_PERSISTENT, COUNTS " relative_speed=0.94", "idle_ns=99000", TOLL, 20000,
     LEAD "it computes at 0.94x the median speed: look at its GPU (clock, heat, neighbours) or its "
          "share of the work"},
    /* the median of 10, 61 and 30 is 30: twice that is 60 */
    {TM_VERDICT_PERSISTENT, COUNTS " relative_speed=0.97", "idle_ns=61000", TOLL, 20000,
     LEAD "its kernels run at normal speed (0.97x) while its GPU idles 61.0 us against a median of "
          "30.0 us: look at its host, not at its GPU"},
    {TM_VERDICT_PERSISTENT, COUNTS " relative_speed=0.97", "idle_ns=60000", TOLL, 20000,
     LEAD "its speed is 0.97x the median, its GPU idles 60.0 us against a median of 30.0 us"},
    {TM_VERDICT_PERSISTENT, COUNTS " relative_speed=0.96", "idle_ns=99000", TOLL, 20000,
     LEAD "its speed is 0.96x the median, its GPU idles 99.0 us against a median of 30.0 us"},
    {TM_VERDICT_PERSISTENT, COUNTS " relative_speed=0.95", "idle_ns=20000", TOLL, 20000,
     LEAD "its speed is 0.95x the median, its GPU idles 20.0 us against a median of 20.0 us"},
    {TM_VERDICT_PERSISTENT, COUNTS, "idle_ns=5000", TOLL, 20000,
     LEAD "its GPU idles 5.00 us against a median of 10.0 us"},
    /* 16 - 4 + 2 us */
    {TM_VERDICT_ROTATING,
     COUNTS,
     "idle_ns=5000",
     {.collectives = 10,
      .last = 9,
      .caused = {16000, 0},
      .passed_ns = 4000,
      .indirect_ns = 2000,
      .expected = 2.6},
     20000,
     "Rank 3 is behind 70 % of all waiting: 14.0 us of 20.0 us of GPU time, 2.00 us of it through "
     "other ranks that waited for it; it leads 5 of 6 steps and came last in 9 of 10 collectives "
     "(3 expected by chance); a different rank leads in each step: data or chance, not hardware"},
    {TM_VERDICT_NONE,
     COUNTS,
     "idle_ns=1",
     {.collectives = 1, .caused = {999, 0}},
     1000000,
     "Rank 3 is behind < 0.1 % of all waiting: 999 ns of 1.00 ms of GPU time; it leads 5 of 6 "
     "steps and came last in 0 of 1 collectives (0 expected by chance); but all waiting is under "
     "1 % of the ranks' windows (an even share is 25.0 %)"},
    {TM_VERDICT_NONE,
     COUNTS,
     "idle_ns=1",
     {.collectives = 1},
     1000,
     "Rank 3 is behind 0 % of all waiting: 0 ns of 1.00 us of GPU time; it leads 5 of 6 steps and "
     "came last in 0 of 1 collectives (0 expected by chance); but all waiting is under 1 % of the "
     "ranks' windows (an even share is 25.0 %)"},
};

static tm_tables open_scene(const char *rank, const char *idle) {
    char own[128];
    tm_tables tables = open_tables();
    snprintf(own, sizeof own, "rank=3 window_ns=100000 %s", idle);
    add_row(&tables, "stragglers.rank", "rank=2 collectives=10 relative_speed=5");
    add_row(&tables, "stragglers.rank", rank);
    add_row(&tables, "stragglers.rank", "rank=6 collectives=10 relative_speed=6");
    add_row(&tables, "stragglers.rank", "rank=8 collectives=0");
    add_row(&tables, "overlap.rank", "rank=2 window_ns=100000 idle_ns=10000");
    add_row(&tables, "overlap.rank", own);
    add_row(&tables, "overlap.rank", "rank=6 window_ns=100000 idle_ns=30000");
    add_row(&tables, "overlap.rank", "rank=8 window_ns=0 idle_ns=0");
    return tables;
}

static void a_sentence_tells_share_time_persistence_and_cause(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(scenes); i++) {
        const scene *s = &scenes[i];
        const tm_verdict verdict = {.kind = s->kind,
                                    .rank = 3,
                                    .steps = 6,
                                    .led = 5,
                                    .wait_ns = s->wait_ns,
                                    .toll = s->toll};
        const tm_verdict_topic evidence = {.verdict = &verdict, .aligned = true};
        char sentence[TM_SENTENCE_MAX];
        tm_tables tables = open_scene(s->rank, s->idle);
        tm_verdict_sentence(&tables, &evidence, sentence);
        assert_string_equal(sentence, s->sentence);
        tm_tables_destroy(&tables);
    }
}

#define TOGETHER                                                                                   \
    "behind 80 % of all waiting: 16.0 us of 20.0 us of GPU time; they lead 5 of 6 steps and came " \
    "last 9 times (2 expected by chance); look at what these ranks share: "

static void several_ranks_are_named_together(void **state) {
    (void)state;
    static const struct {
        tm_culprit level;
        const char *host;
        bool among[15]; /* of ranks 2, 3, 6, 8, 10, 11, 12, 14, 16, 18, 20 */
        const char *sentence;
    } cases[] = {
        {TM_CULPRIT_RANK,
         "node7",
         {false, true},
         "Rank 3 (node7) is behind 80 % of all waiting: 16.0 us of 20.0 us of GPU time; it leads 5 "
         "of 6 steps and came last in 9 of 10 collectives (2 expected by chance); its GPU idles "
         "5.00 us against a median of 10.0 us"},
        {TM_CULPRIT_HOST,
         "node7",
         {true, true, true},
         "Ranks 2-3, 6 (node7) are " TOGETHER "their host and its network"},
        {TM_CULPRIT_GROUP,
         "node7",
         {false, true, true, false, true, true, true},
         "Ranks 3, 6, 10-12 (one process group) are " TOGETHER
         "their part of the model or of the work, and the links between them"},
        {TM_CULPRIT_GROUP,
         NULL,
         {true, false, true, true, true, false, true, true, true, true, true},
         "Ranks 2, 6, 8, 10, 12, 14, ... (one process group) are " TOGETHER
         "their part of the model or of the work, and the links between them"},
    };
    static const char *const more[] = {"rank=10 collectives=1", "rank=11 collectives=1",
                                       "rank=12 collectives=1", "rank=14 collectives=1",
                                       "rank=16 collectives=1", "rank=18 collectives=1",
                                       "rank=20 collectives=1"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tm_verdict verdict = {.kind = TM_VERDICT_PERSISTENT,
                                    .level = cases[i].level,
                                    .rank = 3,
                                    .steps = 6,
                                    .led = 5,
                                    .wait_ns = 20000,
                                    .toll = TOLL};
        const tm_verdict_topic evidence = {&verdict, cases[i].among, cases[i].host, true};
        char sentence[TM_SENTENCE_MAX];
        tm_tables tables = open_scene(COUNTS, "idle_ns=5000");
        for (size_t k = 0; k < COUNT(more); k++)
            add_row(&tables, "stragglers.rank", more[k]);
        tm_verdict_sentence(&tables, &evidence, sentence);
        assert_string_equal(sentence, cases[i].sentence);
        tm_tables_destroy(&tables);
    }
}

static void nothing_matched_is_explained(void **state) {
    (void)state;
    static const struct {
        const char *check; /* the row of clock.check; NULL: there is none */
        bool aligned;
        const char *sentence;
    } cases[] = {
        {"collectives=5 incomplete=5 unmatched=2", false, "Clocks are not compared (--align=none)"},
        {"collectives=0 incomplete=0 unmatched=0", true,
         "The traces hold no communication kernels"},
        {NULL, true, "The traces hold no communication kernels"},
        {"collectives=5 incomplete=4 unmatched=2", true,
         "No collective is complete: 4 lack ranks, 0 contradict themselves, 2 communication "
         "kernels "
         "could not be matched"},
        {"collectives=0 incomplete=0 unmatched=7", true,
         "No collective is complete: 0 lack ranks, 0 contradict themselves, 7 communication "
         "kernels "
         "could not be matched"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tm_verdict verdict = {.rank = -1};
        char sentence[TM_SENTENCE_MAX];
        tm_tables tables = open_tables();
        add_row(&tables, "stragglers.rank", "rank=0 collectives=0");
        if (cases[i].check)
            add_row(&tables, "clock.check", cases[i].check);
        const tm_verdict_topic evidence = {.verdict = &verdict, .aligned = cases[i].aligned};
        tm_verdict_sentence(&tables, &evidence, sentence);
        assert_string_equal(sentence, cases[i].sentence);
        tm_tables_destroy(&tables);
    }
}

static void a_job_in_which_nobody_waited_says_so(void **state) {
    (void)state;
    const tm_verdict verdict = {.rank = -1};
    char sentence[TM_SENTENCE_MAX];
    tm_tables tables = open_tables();
    add_row(&tables, "stragglers.rank", "rank=0 collectives=3");
    const tm_verdict_topic evidence = {.verdict = &verdict, .aligned = true};
    tm_verdict_sentence(&tables, &evidence, sentence);
    assert_string_equal(sentence, "No rank waited for another");
    tm_tables_destroy(&tables);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_speed_is_the_median_of_the_steps),
        cmocka_unit_test(without_steps_there_is_no_speed),
        cmocka_unit_test(a_sentence_tells_share_time_persistence_and_cause),
        cmocka_unit_test(several_ranks_are_named_together),
        cmocka_unit_test(nothing_matched_is_explained),
        cmocka_unit_test(a_job_in_which_nobody_waited_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

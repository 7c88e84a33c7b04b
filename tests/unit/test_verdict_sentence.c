/* Relative speeds, and the sentences of a verdict. */
#include "analysis/stragglers/verdict_sentence.h"

#include "analysis/shared/savings.h"
#include "analysis/stragglers/rank_speed.h"
#include "rows_fixture.h"
#include "tmerge/analysis.h"

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

TEST(a_speed_is_the_median_of_the_steps) {
    /* compute_ns by step:   0    1    2    3      medians of the ranks with GPU events
     *   rank 0             10   20   40    -      step 0: of 10, 20, 40     20
     *   rank 1             20   20   10   30      step 1: of 20, 20, 80, 0  (20 + 20) / 2 = 20
     *   rank 5             40   80    -   90      step 2: of 40, 10         25
     *   rank 7 (step 4: 7)  -    0    -    -      step 3: of 30, 90         60
     *   rank 9 has no GPU events
     * rank 0: 20/10, 20/20, 25/40 = 2, 1, 0.625       -> 1
     * rank 1: 20/20, 20/20, 25/10, 60/30 = 1, 1, 2.5, 2 -> 1.5
     * rank 5: 20/40, 20/80, 60/90 = 0.5, 0.25, 0.67   -> 0.5
     * rank 7: 7/7 in step 4, which only it has; the step in which it did not compute is left out */
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

TEST(without_steps_there_is_no_speed) {
    static const double expected[] = {0.0};
    tm_tables tables = open_tables();
    add_row(&tables, "stragglers.rank", "rank=0");
    check_speeds(&tables, expected, 1);
    tm_tables_destroy(&tables);
}

/* Ranks 2 and 3 are on node7, 6 and 8 on node8. Rank 3 causes 80 % of 20 us. Rank 8 has no GPU
 * work. */
enum { RANKS = 4 };

static const tm_blame blames_of[RANKS] = {
    {.rank = 2, .wait_ns = 4000, .collectives = 10},
    {.rank = 3, .collectives = 10, .last = 9, .caused = {16000, 0}, .expected = 2.5},
    {.rank = 6, .wait_ns = 16000, .collectives = 10, .caused = {4000, 0}, .indirect_ns = 1000},
    {.rank = 8, .collectives = 10}};
static tm_place places[] = {{TM_CULPRIT_HOST, 7, 0},  {TM_CULPRIT_HOST, 7, 1},
                            {TM_CULPRIT_HOST, 8, 2},  {TM_CULPRIT_HOST, 8, 3},
                            {TM_CULPRIT_GROUP, 1, 1}, {TM_CULPRIT_GROUP, 1, 2}};

typedef struct scene {
    tm_verdict_kind kind;
    double matched;
    size_t n_leaders, n_findings;
    tm_finding findings[3];
    int64_t few;
    const char *headline, *evidence;
} scene;

#define COST "Rank 3 (node7) caused 80 % of all waiting (16.0 us of 20.0 us of GPU time); it "
#define LAST "came last in 9 of 10 collectives (2.5 expected by chance); "
#define LONGER(of)                                                                                 \
    "by itself it takes 8.10 ms (4.1 % of " of ") longer than the median of the others"
#define EXCESS LONGER("the time of all steps")
#define OF_ONE LONGER("the time")
#define EACH ", 0.81 ms in each of 10 steps (p 0.0005); "
#define IDLE "its GPU idles 5.00 us against a median of 20.0 us"
#define FEW ". A larger share of the data in this recording would look the same"

static void fill(tm_finding *f) {
    f->certainty = f->p == 0.0 ? TM_CERTAINTY_CONFIDENT : TM_CERTAINTY_LIKELY;
    f->p = f->p == 0.0 ? 0.0005 : f->p;
    f->n_members = f->n_members == 0 ? 1 : f->n_members;
    f->units = f->units == 0 ? 10 : f->units;
    f->from = f->from == 0 ? 10 : f->from;
    f->to = f->to == 0 ? 19 : f->to;
    f->excess_pct = f->excess_ns == 0 ? 4.1 : 2.5;
    f->excess_ns = f->excess_ns == 0 ? 8100000 : f->excess_ns;
}

#define SCENE(kind, matched, leaders, n, few, headline, evidence, ...)                             \
    { TM_VERDICT_##kind, matched, leaders, n, {__VA_ARGS__}, few, headline, evidence }
static const scene scenes[] = {
    SCENE(PERSISTENT, 1.0, 10, 1, 0, "Rank 3 (node7) makes the other ranks wait",
          COST LAST EXCESS EACH IDLE, {.rank = 3}),
    /* less certain; few steps; few operations */
    SCENE(PERSISTENT, 1.0, 3, 1, 2,
          "Likely, rank 3 (node7) makes the other ranks wait in these 3 steps, mostly in 2 "
          "operations",
          COST LAST EXCESS " (p 0.004); " IDLE FEW,
          {.rank = 3, .units = 3, .unit = TM_UNIT_STRETCH, .p = 0.004}),
    SCENE(PERSISTENT, 1.0, 1, 1, 0, "Rank 3 (node7) makes the other ranks wait in this one step",
          COST LAST OF_ONE " (p 0.0005); " IDLE FEW, {.rank = 3, .unit = TM_UNIT_BLOCK}),
    SCENE(PERSISTENT, 1.0, 0, 1, 1,
          "Rank 3 (node7) makes the other ranks wait in this recording, mostly in 1 operation",
          COST LAST OF_ONE " (p 0.0005); " IDLE FEW, {.rank = 3, .unit = TM_UNIT_BLOCK}),
    /* a step was recorded but not compared; a small part of the cost is through others */
    SCENE(PERSISTENT, 1.0, 6, 1, 0,
          "Rank 3 (node7) makes the other ranks wait in 5 of these 6 steps",
          COST LAST EXCESS ", 1.62 ms in each of the 5 steps compared (p 0.0005); " IDLE FEW,
          {.rank = 3, .units = 5}),
    /* only part of the communication */
    SCENE(PERSISTENT, 0.234, 10, 1, 0,
          "Only 23 % of the communication could be compared: likely, rank 3 (node7) makes the "
          "other ranks wait",
          COST LAST EXCESS ", 0.81 ms in each of 10 steps (p 0.0051); " IDLE,
          {.rank = 3, .p = 0.0051}),
    /* the time of an episode */
    SCENE(EPISODE, 1.0, 30, 1, 0, "Rank 3 (node7) makes the other ranks wait in steps 10 to 19",
          COST LAST "in steps 10 to 19 " EXCESS ", 0.81 ms in each of 10 steps (p 0.0005)",
          {.rank = 3, .shape = TM_SHAPE_EPISODE}),
    SCENE(EPISODE, 1.0, 0, 1, 0,
          "Rank 3 (node7) makes the other ranks wait in operations 130 to 663 of its group",
          COST LAST "in operations 130 to 663 of its group " OF_ONE
                    " (p 0.0005); over the whole recording " IDLE FEW,
          {.rank = 3, .shape = TM_SHAPE_EPISODE, .unit = TM_UNIT_BLOCK, .from = 130, .to = 663}),
    /* culprits: several, in turn, a host, a group, a stage */
    SCENE(SEVERAL, 1.0, 10, 2, 0, "Rank 3 (node7) and rank 6 (node8) make the other ranks wait",
          COST LAST EXCESS EACH IDLE
          ". Rank 6 (node8) caused 25 % of all waiting (5.00 us of 20.0 us of GPU time, 1.00 us "
          "of it through other ranks that waited for it); by itself it takes 5.00 ms (2.5 % of the "
          "time of all steps) longer than the median of the others, 0.50 ms in each of 10 steps "
          "(p 0.0005); it computes at 0.60x the median speed: look at its GPU (clock, heat, "
          "other processes) or its share of the work",
          {.rank = 3}, {.rank = 6, .excess_ns = 5000000}),
    SCENE(ALTERNATING, 1.0, 0, 2, 0,
          "Rank 3 (node7) and rank 2 (node7) make the other ranks wait in turn", NULL,
          {.rank = 3, .shape = TM_SHAPE_ALTERNATION},
          {.rank = 2, .shape = TM_SHAPE_ALTERNATION, .from = 1}),
    SCENE(PERSISTENT, 1.0, 10, 1, 0, "Ranks 2-3 (node7) make the other ranks wait",
          "Ranks 2-3 (node7) caused 80 % of all waiting (16.0 us of 20.0 us of GPU time); by "
          "themselves they each take 8.10 ms (4.1 % of the time of all steps) longer than the "
          "median of the others" EACH "look at what these ranks share: their host and its network",
          {.rank = 2, .level = TM_CULPRIT_HOST, .n_members = 2}),
    SCENE(PERSISTENT, 1.0, 10, 1, 0, "Ranks 3, 6 (one process group) make the other ranks wait",
          NULL, {.rank = 3, .level = TM_CULPRIT_GROUP, .n_members = 2, .place = 4}),
    SCENE(
        PERSISTENT, 1.0, 10, 1, 0, "Rank 3 (node7) makes the other ranks wait",
        COST LAST
        "by itself it takes 8.10 ms (4.1 % of the time of all steps) longer than the median of the "
        "other stages" EACH "stages need not be equal: look at how the layers are divided among "
        "the stages, then at this GPU",
        {.rank = 3, .of_stage = true}),
    /* no culprit */
    SCENE(
        EVENT, 1.0, 10, 1, 2,
        "2 operations in steps 10 to 19 hold 60 % of the waiting; rank 3 came last in each",
        "Rank 3 caused 80 % of all waiting (16.0 us of 20.0 us of GPU time); it " LAST
        "12.0 us of the waiting is in 2 operations (tmerge show collectives): something happened "
        "there; over the whole recording, no rank by itself takes longer than chance explains",
        {.shape = TM_SHAPE_EVENT, .rank = 3, .units = 2, .caused_ns = 12000, .caused_share = 0.6}),
    SCENE(BUBBLE, 1.0, 10, 1, 0,
          "The pipeline's bubble: GPUs wait 0 % of the time (its schedule explains 0 %)",
          "With p = 0 stages and m = 0 forward passes a step, a schedule makes GPUs wait (p - 1) / "
          "(m + p - 1) of the time. Waiting for other stages and in collectives keeps GPUs from "
          "computing for 12.0 us of GPU time; no rank by itself takes longer than chance explains "
          "(smallest p 0.2); only more micro-batches, fewer stages or another schedule make the "
          "bubble smaller",
          {.shape = TM_SHAPE_BUBBLE, .rank = -1, .caused_ns = 12000}),
    SCENE(INCONCLUSIVE, 1.0, 10, 0, 0,
          "The traces do not prove who is late; ranks wait 20 % of the time",
          "Rank 3 costs most: it caused 80 % of all waiting (16.0 us of 20.0 us of GPU time); "
          "it " LAST "but no rank by itself takes longer than chance explains (smallest p 0.2): "
          "different ranks are late at different times, or too little is recorded",
          {0}),
    SCENE(INCONCLUSIVE, 0.004, 10, 0, 0,
          "Only 0.4 % of the communication could be compared: too little to name a rank or to "
          "clear it",
          NULL, {0}),
    SCENE(NONE, 1.0, 10, 0, 0, "No rank's recorded work holds the job up",
          "Ranks wait 20 % of the time (20.0 us of GPU time), 80 % of it for rank 3, but no rank "
          "by itself takes 1 % longer than the others",
          {0}),
};

static tm_tables open_scene(const char *rank, const char *idle) {
    static const char *const ranks[RANKS] = {"rank=2 host=node7", "rank=3 host=node7",
                                             "rank=6 host=node8", "rank=8 host=node8"};
    char own[128];
    tm_tables tables = open_tables();
    snprintf(own, sizeof own, "rank=3 window_ns=100000 %s", idle);
    add_row(&tables, "stragglers.rank", "rank=2 collectives=10 relative_speed=5");
    add_row(&tables, "stragglers.rank", rank);
    add_row(&tables, "stragglers.rank", "rank=6 collectives=10 relative_speed=0.6");
    add_row(&tables, "stragglers.rank", "rank=8 collectives=0");
    add_row(&tables, "overlap.rank", "rank=2 window_ns=100000 idle_ns=10000");
    add_row(&tables, "overlap.rank", own);
    add_row(&tables, "overlap.rank", "rank=6 window_ns=100000 idle_ns=30000");
    add_row(&tables, "overlap.rank", "rank=8 window_ns=0 idle_ns=0");
    for (int64_t i = 0; i < RANKS; i++)
        add_row(&tables, "job.rank", ranks[i]);
    return tables;
}

TEST(sentences_tell_who_when_how_much_and_how_sure) {
    for (size_t i = 0; i < COUNT(scenes); i++) {
        const scene *s = &scenes[i];
        tm_blame ranks[RANKS];
        tm_leader leaders[20] = {{.rank = 3}, {.rank = 3}, {.rank = 3}, {.rank = 3}, {.rank = 3}};
        memcpy(ranks, blames_of, sizeof ranks);
        const tm_blames blames = {.ranks = ranks,
                                  .leaders = leaders,
                                  .n_ranks = RANKS,
                                  .n_parts = 1,
                                  .n_leaders = s->n_leaders,
                                  .places = places,
                                  .n_places = COUNT(places),
                                  .wait_ns = 20000};
        tm_finding findings[3];
        memcpy(findings, s->findings, sizeof findings);
        for (size_t k = 0; k < 3; k++)
            fill(&findings[k]);
        const tm_judgement judgement = {
            .kind = s->kind,
            .found = {.all = {findings, s->n_findings, 3, sizeof *findings},
                      .tested = true,
                      .least_p = 0.2,
                      .few = s->few},
            .window_ns = 100000,
            .matched_share = s->matched};
        const tm_verdict_topic topic = {&blames, &judgement, true, true};
        char text[TM_SENTENCE_MAX];
        tm_tables tables = open_scene("rank=3 collectives=10", "idle_ns=5000");
        tm_verdict_headline(&tables, &topic, text);
        assert_string_equal(text, s->headline);
        if (strcmp(text, "No rank's recorded work holds the job up") == 0) {
            tm_verdict_headline(&tables, &(tm_verdict_topic){&blames, &judgement, true, false},
                                text);
            assert_string_equal(text, "No recorded rank holds the others up; the traces do not say "
                                      "whether the job has more ranks");
        }
        if (strstr(text, "this one step")) { /* the job may also have no marked step */
            add_row(&tables, "job.job", "steps=0");
            tm_verdict_headline(&tables, &topic, text);
            assert_string_equal(text,
                                "Rank 3 (node7) makes the other ranks wait in this recording");
        }
        tm_verdict_evidence(&tables, &topic, text);
        if (s->evidence)
            assert_string_equal(text, s->evidence);
        tm_tables_destroy(&tables);
    }
}

/* Says why no rank is named, although one takes longer than chance explains. */
TEST(what_is_not_named_says_why) {
    static const struct {
        bool spared, unsteady, replayed;
        const char *end;
    } cases[] = {
        {true, true, true, "would save under 1 % of a step if fixed"},
        {false, true, true, "with unequal shares of data: more steps may show the cause"},
        {false, true, false, "with unequal shares of data: more steps may show the cause"},
        {false, false, true, "does so by too little to be named"},
        {false, false, false, "does so by under 1 % of the steps"},
    };
    tm_blame ranks[RANKS];
    memcpy(ranks, blames_of, sizeof ranks);
    const tm_blames blames = {.ranks = ranks, .n_ranks = RANKS, .wait_ns = 20000};
    tm_tables tables = open_scene("rank=3 collectives=10", "idle_ns=5000");
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tm_judgement judgement = {.kind = TM_VERDICT_INCONCLUSIVE,
                                        .found = {.tested = true,
                                                  .least_p = 0.001,
                                                  .spared = cases[i].spared,
                                                  .unsteady = cases[i].unsteady,
                                                  .replayed = cases[i].replayed},
                                        .window_ns = 100000,
                                        .matched_share = 1.0};
        char text[TM_SENTENCE_MAX];
        tm_verdict_evidence(&tables, &(tm_verdict_topic){&blames, &judgement, true, true}, text);
        if (!strstr(text, "(p 0.001)") || !strstr(text, cases[i].end))
            fail_msg("%zu: %s", i, text);
    }
    tm_tables_destroy(&tables);
}

/* Why a rank is late depends on its speed; on its idle time, compared with 20 us, the median of 10
 * and 30; on its compute time; and on its lateness (0 stands for 8.1 ms). */
TEST(the_cause_follows_from_speed_and_idle_time) {
    static const struct {
        const char *speed, *idle, *cause;
        int64_t late_ns;
    } cases[] = {
        {" relative_speed=0.94", "idle_ns=99000",
         "it computes at 0.94x the median speed: look at its GPU (clock, heat, other processes) or "
         "its "
         "share of the work",
         0},
        /* twice the median idle time is 40 us */
        {" relative_speed=0.97", "idle_ns=41000",
         "its kernels run at normal speed (0.97x), but its GPU idles 41.0 us against a median of "
         "20.0 us: look at its host, not at its GPU. A passing disturbance of its host would look "
         "the same",
         0},
        {" relative_speed=0.97", "idle_ns=40000",
         "its speed is 0.97x the median, its GPU idles 40.0 us against a median of 20.0 us: the "
         "traces do not show why it is late. A larger share",
         0},
        {" relative_speed=0.96", "idle_ns=99000",
         "its speed is 0.96x the median, its GPU idles 99.0 us against a median of 20.0 us: the",
         0},
        {" relative_speed=0.95", "idle_ns=20000",
         "its speed is 0.95x the median, its GPU idles 20.0 us against a median of 20.0 us: the",
         0},
        /* Slower kernels cost 2 % of 600 us, 12 us: over twice 5.9 us of additional idle time,
         * under twice 6.1. A speed of 0.99 counts as fast. 3 % of 3,000 us, 90 us, exceed the idle
         * time. */
        {" relative_speed=0.98", "idle_ns=25900 compute_ns=600000",
         "it computes at 0.98x the median speed", 0},
        {" relative_speed=0.98", "idle_ns=26100 compute_ns=600000", "its speed is 0.98x", 0},
        {" relative_speed=0.99", "idle_ns=20000 compute_ns=600000", "its speed is 0.99x", 0},
        {" relative_speed=0.97", "idle_ns=80000 compute_ns=3000000", "its speed is 0.97x", 0},
        /* Slower kernels cost 10 % of 50 us, 5 us. The rank idles 50.1 or 49.9 us longer than the
         * median: more, or less, than ten times that. */
        {" relative_speed=0.9", "idle_ns=70100 compute_ns=50000",
         "far more than its slower kernels (0.90x the median speed) explain: look at its host "
         "first",
         0},
        {" relative_speed=0.9", "idle_ns=69900 compute_ns=50000",
         "it computes at 0.90x the median speed", 0},
        /* The rank idles 11 us longer than the median. This is over half of a lateness of 21.9 us,
         * but not of 22 us. In the last case, another rank idles as long. */
        {" relative_speed=1", "idle_ns=31000",
         "its kernels run at normal speed (1.00x), but its GPU idles 31.0 us against a median of "
         "20.0 us: look at its host, not at its GPU",
         21900},
        {" relative_speed=1", "idle_ns=31000", "the traces do not show why it is late", 22000},
        {" relative_speed=1", "idle_ns=30000", "the traces do not show why it is late", 10000},
        /* slower kernels cost 3 % of 600 us, 18 us, more than the 11 us of idle time */
        {" relative_speed=0.97", "idle_ns=31000 compute_ns=600000",
         "its speed is 0.97x the median, its GPU idles 31.0 us", 21900},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_blame ranks[RANKS];
        memcpy(ranks, blames_of, sizeof ranks);
        tm_finding finding = {.rank = 3, .units = 5, .excess_ns = cases[i].late_ns};
        fill(&finding);
        const tm_blames blames = {.ranks = ranks, .n_ranks = RANKS, .wait_ns = 20000};
        const tm_judgement judgement = {.kind = TM_VERDICT_PERSISTENT,
                                        .found = {.all = {&finding, 1, 1, sizeof finding}}};
        const tm_verdict_topic topic = {&blames, &judgement, true, true};
        char text[TM_SENTENCE_MAX], counts[64];
        snprintf(counts, sizeof counts, "rank=3 collectives=10%s", cases[i].speed);
        tm_tables tables = open_scene(counts, cases[i].idle);
        tm_verdict_evidence(&tables, &topic, text);
        assert_non_null(strstr(text, cases[i].cause));
        tm_tables_destroy(&tables);
    }
}

/* As above, but rank 6 computes for 900 us. On the other ranks, its kernels take 750. */
TEST(the_cause_is_reported_by_the_same_kernels_stages_and_calls) {
#define SAME(rank, own, usual, slower, n)                                                          \
    "kernels.same rank=" rank " own_ns=" own " alike_ns=" own " usual_ns=" usual                   \
    " slower_ns=" slower " kernels=" n
#define GAP(at, ns, host)                                                                          \
    "idle.gap rank=3 begin_ns=" at " duration_ns=" ns " cause=host_work host=" host " host_ns=" ns
#define PLACES(two, three, six)                                                                    \
    "bubble.place rank=2 stage=" two, "bubble.place rank=3 stage=" three,                          \
        "bubble.place rank=6 stage=" six
#define CAUSE(speed, own, cause, ...)                                                              \
    { " relative_speed=" speed, own, cause "#", {__VA_ARGS__}, 0 }
#define MORE ". A larger share of the data in this recording would look the same"
#define PASSING ". A passing disturbance of its host would look the same"
    static const struct {
        const char *speed, *own, *cause, *rows[5];
        uint8_t work;
    } cases[] = {
        /* Kernels that take 600 us on this rank take 480 on others. First, all but 1 % of them are
         * slower. Then 5 % (the optimizer's) are not slower. Then there are few kernels */
        CAUSE("0.8", "compute_ns=600000 idle_ns=20000",
              "nearly all its kernels run at 0.80x the median speed: look at its GPU (clock, heat, "
              "other processes)",
              SAME("3", "600000", "480000", "594000", "3")),
        CAUSE("0.8", "compute_ns=600000 idle_ns=20000",
              "it computes at 0.80x the median speed: look at its GPU (clock, heat, other "
              "processes) or "
              "its share of the work" MORE,
              SAME("3", "600000", "480000", "570000", "3")),
        CAUSE("0.8", "compute_ns=600000 idle_ns=20000", "or its share of the work" MORE,
              SAME("3", "600000", "480000", "600000", "2")),
        /* additional work is 240 of 600 us, over twice the additional idle time of 119.9; then 12
         */
        CAUSE(
            "0.6", "compute_ns=600000 idle_ns=139900",
            "it computes at 0.60x the median speed because it runs other or more kernels (the same "
            "kernels take no longer): look at its share of the work (tokens, lengths, experts)",
            SAME("3", "600000", "600000", "0", "3")),
        CAUSE("0.98", "compute_ns=600000 idle_ns=139900",
              "its kernels run at normal speed (1.00x), but its GPU idles 139.9 us against a "
              "median of 20.0 us: look at its host, not at its GPU" PASSING,
              SAME("3", "600000", "600000", "0", "3")),
        /* more work is no cause if the stage has no other rank, or another has as much */
        CAUSE("0.8", "compute_ns=600000 idle_ns=20000",
              "the traces do not show why it is late" MORE, PLACES("0", "1", "0")),
        CAUSE(
            "0.8", "compute_ns=900000 idle_ns=30000",
            "its speed is 1.00x rank 6's, its GPU idles 30.0 us (the GPU of rank 6: 30.0 us): the "
            "traces do "
            "not show why it is late" MORE,
            PLACES("0", "1", "1"), SAME("3", "900000", "750000", "900000", "3"),
            SAME("6", "900000", "750000", "900000", "3")),
        CAUSE("1", "idle_ns=99000",
              "but its GPU idles 99.0 us (the GPU of rank 2: 10.0 us): look at its host, not at "
              "its "
              "GPU" PASSING,
              PLACES("1", "1", "0")),
        /* the host is in collect for 50 of 90 ms of the longest gaps; then for 30; short gaps */
        CAUSE("1", "idle_ns=99000000",
              "look at its host, not at its GPU (in the GPU's longest gaps, 90.0 ms, the host was "
              "in collect "
              "for 50.0 ms)" PASSING,
              GAP("1", "30000000", "collect"), GAP("2", "20000000", "collect"),
              GAP("3", "40000000", "read")),
        CAUSE("1", "idle_ns=99000000", "look at its host, not at its GPU" PASSING,
              GAP("1", "30000000", "collect"), GAP("2", "20000000", "write"),
              GAP("3", "40000000", "read")),
        CAUSE("1", "idle_ns=1900000", "look at its host, not at its GPU" PASSING,
              GAP("1", "999999", "aten::mm"), GAP("2", "900000", "write")),
        /* the GPU idles 79 us longer; for 40 of these, then 39, kernels waited in its queue */
        CAUSE("1", "idle_ns=99000",
              "its GPU idles 99.0 us against a median of 20.0 us; for most of the difference, "
              "kernels that were launched in time wait in its queue: look at what else uses that "
              "GPU (nvidia-smi or rocm-smi lists processes)",
              "idle.rank rank=2 other_ns=0 queued_ns=0",
              "idle.rank rank=3 other_ns=40000 queued_ns=40000"),
        CAUSE("1", "idle_ns=99000", "the traces do not show why it is late" MORE,
              "idle.rank rank=2 other_ns=0 queued_ns=0",
              "idle.rank rank=3 other_ns=40000 queued_ns=39000"),
        CAUSE("1", "idle_ns=99000",
              "a median of 20.0 us: it waits for its batches, so look at its data loading" PASSING,
              "input.step rank=2 step=1 step_ns=100000 stall_ns=0",
              "input.step rank=3 step=1 step_ns=100000 stall_ns=79000"),
        /* host work takes longer; on a job of CPUs, slow computation may explain this */
        {" relative_speed=0.8",
         "compute_ns=600000 idle_ns=20000",
         "it computes at 0.80x the median speed: look at its GPU",
         {"job.job device_kind=CPU"},
         TM_SUSPECT_HOST},
        {" relative_speed=0.8", /* operators take 0.12 ms longer, and it idles for 0.4 ms longer */
         "compute_ns=600000 idle_ns=420000",
         "look at its host first",
         {"job.job device_kind=CPU"},
         TM_SUSPECT_HOST},
        {" relative_speed=0.8",
         "compute_ns=600000 idle_ns=20000",
         "look at its host first",
         {"job.job device_kind=GPU"},
         TM_SUSPECT_HOST},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_blame ranks[RANKS];
        memcpy(ranks, blames_of, sizeof ranks);
        tm_finding finding = {.rank = 3, .units = 5, .work = cases[i].work};
        fill(&finding);
        const tm_blames blames = {.ranks = ranks, .n_ranks = RANKS, .wait_ns = 20000};
        const tm_judgement judgement = {.kind = TM_VERDICT_PERSISTENT,
                                        .found = {.all = {&finding, 1, 1, sizeof finding}}};
        const tm_verdict_topic topic = {&blames, &judgement, true, true};
        char text[TM_SENTENCE_MAX], row[256];
        snprintf(row, sizeof row, "rank=3 collectives=10%s", cases[i].speed);
        tm_tables tables = open_scene(row, cases[i].own);
        tm_table *overlap = tm_tables_find(&tables, "overlap.rank");
        tm_cell_set_int(&tm_table_row(overlap, 2)[tm_table_column(overlap->def, "compute_ns")],
                        900000);
        for (size_t k = 0; k < COUNT(cases[i].rows) && cases[i].rows[k]; k++) {
            snprintf(row, sizeof row, "%s", cases[i].rows[k]);
            char *cells = strchr(row, ' ');
            *cells++ = '\0';
            add_row(&tables, row, cells);
        }
        tm_verdict_evidence(&tables, &topic, text);
        snprintf(text + strlen(text), sizeof text - strlen(text), "#"); /* end of text */
        if (!strstr(text, cases[i].cause))
            fail_msg("%zu: %s", i, text);
        tm_tables_destroy(&tables);
    }
}

/* The GPU of rank 3 idles for 99 us, 79 longer than the median; for 40 of these, its queue was held
 * up. Its kernels take 39 us longer, less than half of 79; then 40. Its host takes 199 us longer,
 * and at most 99 of these are idle time of the GPU, less than half; then 198. */
TEST(what_is_a_small_part_of_a_delay_or_hidden_says_so) {
    static const struct {
        tm_suspect_work work;
        int64_t excess_ns;
        const char *text;
    } cases[] = {
        {TM_SUSPECT_DEVICE, 39000, "it takes only 39.0 us"},
        {TM_SUSPECT_DEVICE, 39000, " (p 0.0005), but its GPU idles 99.0 us against"},
        {TM_SUSPECT_DEVICE, 40000, "it takes 40.0 us"},
        {TM_SUSPECT_HOST, 199000, " (p 0.0005), most of it while its GPU is busy; its GPU"},
        {TM_SUSPECT_HOST, 198000, " (p 0.0005); its GPU"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_blame ranks[RANKS];
        memcpy(ranks, blames_of, sizeof ranks);
        tm_finding finding = {
            .rank = 3, .excess_ns = cases[i].excess_ns, .work = (uint8_t)cases[i].work};
        fill(&finding);
        const tm_blames blames = {.ranks = ranks, .n_ranks = RANKS, .wait_ns = 20000};
        const tm_judgement judgement = {.kind = TM_VERDICT_PERSISTENT,
                                        .found = {.all = {&finding, 1, 1, sizeof finding}}};
        char text[TM_SENTENCE_MAX];
        tm_tables tables = open_scene("rank=3 collectives=10 relative_speed=1", "idle_ns=99000");
        add_row(&tables, "idle.rank", "rank=2 queued_ns=0");
        add_row(&tables, "idle.rank", "rank=3 queued_ns=40000");
        tm_verdict_evidence(&tables, &(tm_verdict_topic){&blames, &judgement, true, true}, text);
        if (!strstr(text, cases[i].text))
            fail_msg("%zu: %s", i, text);
        tm_tables_destroy(&tables);
    }
}

/* Without slow ranks, a step takes 100 us. With only rank 1 slow, it takes 120 us; with only rank 2
 * slow, 118 us, or 109, which adds less than half of what rank 1 adds. */
TEST(what_a_fix_saves_says_why_it_is_little_and_what_is_left) {
#define TOGETHER "; ranks 1, 2 together 16.7 % of a step (20.0 us)"
    static const struct {
        const char *job, *one, *two, *text;
    } cases[] = {
        {"sure=true", "saved_most_ns=2000 sure=true", "1.18",
         "Fixing it saves 1.7 % of a step (2.00 us): rank 2 then delays a step by 18.0 us (rank 1: "
         "20.0 us)" TOGETHER},
        {"sure=true", "saved_most_ns=2000 sure=true", "1.09",
         "Fixing it saves 1.7 % of a step (2.00 us)" TOGETHER},
        /* a quarter of the step has no recorded cause, so savings may be up to saved_most_ns */
        {"sure=false doubt=unexplained replay_error_pct=-25", "saved_most_ns=2000 sure=false",
         "1.18",
         "Fixing it may save 1.7 % of a step (2.00 us), or more: 30.0 us have no recorded "
         "cause" TOGETHER},
        {"sure=false doubt=unexplained replay_error_pct=-25", "saved_most_ns=21000 sure=false",
         "1.18", "Fixing it saves 1.7 to 17.5 % of a step (2.00 us to 21.0 us)"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[TM_SAVINGS_MAX];
        tm_tables tables = open_tables();
        add_row(&tables, "job.job", "ranks=4 steps=3");
        add_row(&tables, "stragglers.job", "verdict=persistent headline=H");
        add_row(&tables, "stragglers.finding", "rank=1 level=rank shape=throughout");
        add_rowf(&tables, "whatif.job", "slowdown=1.2 step_ns=120000 ideal_ns=100000 %s",
                 cases[i].job);
        add_rowf(&tables, "whatif.item",
                 "what=rank name=1 ranks=1 slowdown=1.2 saved_ns=2000 saved_pct=1.7 %s",
                 cases[i].one);
        add_rowf(&tables, "whatif.item", "what=rank name=2 ranks=1 slowdown=%s", cases[i].two);
        add_row(&tables, "whatif.item", "what=rank name=0 ranks=1");
        add_row(&tables, "whatif.item", "what=rank name=3 ranks=1");
        add_row(&tables, "whatif.item",
                "what=plan name=1,~2 ranks=2 saved_ns=20000 saved_pct=16.7 sure=true");
        tm_savings_sentence(&tables, text);
        assert_string_equal(text, cases[i].text);
        tm_tables_destroy(&tables);
    }
}

/* If no operation is complete, the replay knows no waits, so a small saving proves nothing. */
TEST(nothing_helps_only_if_operations_were_compared) {
    static const char *const collectives[] = {"rank=0 collectives=0", "rank=0 collectives=1"};
    for (size_t i = 0; i < COUNT(collectives); i++) {
        char text[TM_SAVINGS_MAX];
        tm_tables tables = open_tables();
        add_row(&tables, "job.job", "ranks=4 steps=3");
        add_row(&tables, "stragglers.job", "verdict=inconclusive headline=H");
        add_row(&tables, "stragglers.rank", collectives[i]);
        add_row(&tables, "whatif.job", "slowdown=1.001 waste_pct=0.1 step_ns=1000 sure=true");
        add_row(&tables, "whatif.item", "what=rank name=0 ranks=1 saved_ns=1 saved_pct=0.1");
        tm_savings_sentence(&tables, text);
        assert_int_equal(text[0] != '\0', i == 1);
        tm_tables_destroy(&tables);
    }
}

/* Faster batches save nine tenths of what all faster host work saves, or less. */
TEST(a_part_of_host_work_that_saves_nearly_all_of_it_is_named) {
    static const char *const cases[][2] = {{"9.0", "Making waiting for batches"},
                                           {"8.9", "Making host work between launches"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[TM_SAVINGS_MAX];
        tm_tables tables = open_tables();
        add_row(&tables, "job.job", "ranks=4 steps=3");
        add_row(&tables, "stragglers.job", "verdict=none headline=H");
        add_row(&tables, "whatif.job", "slowdown=1.2 step_ns=1000 sure=true");
        add_row(&tables, "whatif.item", "what=kind name=host ranks=4 saved_ns=100 saved_pct=10");
        add_rowf(&tables, "whatif.item", "what=kind name=input ranks=4 saved_ns=90 saved_pct=%s",
                 cases[i][0]);
        tm_savings_sentence(&tables, text);
        if (strncmp(text, cases[i][1], strlen(cases[i][1])) != 0)
            fail_msg("%s", text);
        tm_tables_destroy(&tables);
    }
}

/* Rank 3 has the largest cost, but the replay puts rank 6 first. */
TEST(the_evidence_is_of_the_rank_that_what_if_has_first) {
    tm_blame ranks[RANKS];
    memcpy(ranks, blames_of, sizeof ranks);
    const tm_blames blames = {.ranks = ranks, .n_ranks = RANKS, .wait_ns = 20000};
    const tm_judgement judgement = {.kind = TM_VERDICT_INCONCLUSIVE, .matched_share = 1.0};
    const tm_verdict_topic topic = {&blames, &judgement, true, true};
    char text[TM_SENTENCE_MAX];
    tm_tables tables = open_scene("rank=3 collectives=10", "idle_ns=5000");
    add_row(&tables, "whatif.job", "slowdown=1.1 sure=true step_ns=1000");
    add_row(&tables, "whatif.item", "what=plan name=6 ranks=1 saved_ns=30 saved_pct=3");
    tm_verdict_evidence(&tables, &topic, text);
    if (strncmp(text, "Rank 6 caused ", 14) != 0)
        fail_msg("%s", text);
    tm_tables_destroy(&tables);
}

/* In 5 or 6 of 10 operations, only one rank came last; in 2 of these it was rank 6. By chance, half
 * of this number is expected: 2.5 or 3. */
TEST(where_many_arrivals_are_too_close_only_the_others_count) {
    static const struct {
        int64_t untied;
        double expected;
        const char *text;
    } cases[] = {{5, 2.5,
                  "in 2 of 5 collectives (2.5 expected by chance; 5 more collectives are too close "
                  "to tell);"},
                 {6, 3.0, "in 2 of 10 collectives (3.0 expected by chance);"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_blame blame = {.rank = 6, .collectives = 10, .last = 2, .caused = {16000, 0}};
        blame.untied = cases[i].untied;
        blame.expected = cases[i].expected;
        const tm_blames blames = {.ranks = &blame, .n_ranks = 1, .wait_ns = 20000};
        const tm_judgement judgement = {.kind = TM_VERDICT_INCONCLUSIVE, .matched_share = 1.0};
        const tm_verdict_topic topic = {&blames, &judgement, true, true};
        char text[TM_SENTENCE_MAX];
        tm_tables tables = open_scene("rank=6 collectives=10", "idle_ns=5000");
        tm_verdict_evidence(&tables, &topic, text);
        if (!strstr(text, cases[i].text))
            fail_msg("%s", text);
        tm_tables_destroy(&tables);
    }
}

/* Ranks 2 and 3 are on node7. Rank 3 is as slow as rank 2, or not. */
TEST(a_hosts_cause_is_that_of_all_its_ranks) {
    static const char *const looks[][2] = {
        {"rank=3 collectives=10 relative_speed=0.8",
         "; all of these ranks compute longer than the others: look at what their GPUs share "
         "(power, cooling) or at their share of the work"},
        {"rank=3 collectives=10 relative_speed=1",
         "; look at what these ranks share: their host and its network"},
        {"rank=3 collectives=10 relative_speed=1", /* few units, of host work */
         "their host (load, memory, other programs). A passing disturbance of that host would"}};
    for (size_t i = 0; i < COUNT(looks); i++) {
        tm_blame ranks[RANKS];
        memcpy(ranks, blames_of, sizeof ranks);
        tm_finding finding = {.rank = 2, .level = TM_CULPRIT_HOST, .n_members = 2};
        finding.units = i == 2 ? 4 : 0;
        finding.work = i == 2 ? TM_SUSPECT_HOST : TM_SUSPECT_ALL;
        fill(&finding);
        const tm_blames blames = {.ranks = ranks,
                                  .n_ranks = RANKS,
                                  .places = places,
                                  .n_places = COUNT(places),
                                  .wait_ns = 20000};
        const tm_judgement judgement = {.kind = TM_VERDICT_PERSISTENT,
                                        .found = {.all = {&finding, 1, 1, sizeof finding}}};
        char text[TM_SENTENCE_MAX];
        tm_tables tables = open_scene(looks[i][0], "idle_ns=20000");
        tm_table *speeds = tm_tables_find(&tables, "stragglers.rank");
        tm_cell_set_real(&tm_table_row(speeds, 0)[tm_table_column(speeds->def, "relative_speed")],
                         0.8);
        tm_verdict_evidence(&tables, &(tm_verdict_topic){&blames, &judgement, true, true}, text);
        if (!strstr(text, looks[i][1]))
            fail_msg("%s", text);
        tm_tables_destroy(&tables);
    }
}

/* The cause of an episode comes from its steps; over all steps the rank is as fast as the others.
 * Steps 4 and 5 of ranks 2, 3 and 6; rank 6 has no step 5, so it is not compared. Rank 2 computes
 * for 10 + 10 ns, rank 3 for 12 + 18: 20/30 = 0.67; or rank 3 also for 10 + 10: 1. Rank 2 idles for
 * 1 + 1 ns, rank 3 for 9 + 9; or for 2 + 2, no more than twice as long. */
TEST(an_episodes_cause_is_that_of_its_steps) {
    static const struct {
        const char *own[2], *cause;
    } cases[] = {
        {{"step=4 compute_ns=12 idle_ns=9", "step=5 compute_ns=18 idle_ns=9"},
         "there it computes at 0.67x rank 2's speed: look at its GPU"},
        {{"step=4 compute_ns=10 idle_ns=9", "step=5 compute_ns=10 idle_ns=9"},
         "there its kernels run at normal speed (1.00x), but its GPU idles 18 ns (the GPU of rank "
         "2: "
         "2 ns)"},
        {{"step=4 compute_ns=10 idle_ns=2", "step=5 compute_ns=10 idle_ns=2"},
         "there its speed is 1.00x rank 2's, its GPU idles 4 ns (the GPU of rank 2: 2 ns)"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_blame ranks[RANKS];
        memcpy(ranks, blames_of, sizeof ranks);
        tm_finding finding = {.rank = 3, .shape = TM_SHAPE_EPISODE, .from = 4, .to = 5};
        fill(&finding);
        const tm_blames blames = {.ranks = ranks, .n_ranks = RANKS, .wait_ns = 20000};
        const tm_judgement judgement = {.kind = TM_VERDICT_EPISODE,
                                        .found = {.all = {&finding, 1, 1, sizeof finding}}};
        const tm_verdict_topic topic = {&blames, &judgement, true, true};
        char text[TM_SENTENCE_MAX];
        tm_tables tables = open_scene("rank=3 collectives=10 relative_speed=1", "idle_ns=99000");
        add_row(&tables, "overlap.step", "rank=2 step=3 window_ns=100 compute_ns=99 idle_ns=1");
        add_row(&tables, "overlap.step", "rank=2 step=4 window_ns=100 compute_ns=10 idle_ns=1");
        add_row(&tables, "overlap.step", "rank=2 step=5 window_ns=100 compute_ns=10 idle_ns=1");
        for (size_t k = 0; k < 2; k++) {
            add_rowf(&tables, "overlap.step", "rank=3 window_ns=100 %s", cases[i].own[k]);
        }
        add_row(&tables, "overlap.step", "rank=6 step=4 window_ns=100 compute_ns=10 idle_ns=1");
        tm_verdict_evidence(&tables, &topic, text);
        if (!strstr(text, cases[i].cause))
            fail_msg("%s", text);
        tm_tables_destroy(&tables);
    }
}

TEST(one_rank_alone_is_reported_what_is_missing) {
    char sentence[TM_SENTENCE_MAX];
    tm_tables tables = open_tables();
    add_row(&tables, "stragglers.rank", "rank=0 collectives=0");
    add_row(&tables, "job.rank", "rank=0");
    add_row(&tables, "clock.check", "collectives=5 matched=5");
    tm_verdict_evidence(
        &tables, &(tm_verdict_topic){&(tm_blames){0}, &(tm_judgement){0}, true, false}, sentence);
    assert_string_equal(
        sentence,
        "Only the trace of one rank was given: if the job had more ranks, give all their traces");
    tm_tables_destroy(&tables);
}

TEST(nothing_matched_is_explained) {
    static const struct {
        const char *check; /* row of clock.check; NULL: none */
        bool aligned;
        const char *sentence;
    } cases[] = {
        {"collectives=5 incomplete=5 unmatched=2", false,
         "Clocks are not compared (--align=none): merge again without it"},
        {"collectives=0 incomplete=0 unmatched=0", true,
         "The traces hold no communication kernels"},
        {NULL, true, "The traces hold no communication kernels"},
        {"collectives=5 incomplete=4 unmatched=2", true,
         "No collective is complete: 4 lack ranks, 2 communication kernels could not be matched"},
        {"collectives=0 incomplete=0 unmatched=7", true,
         "No collective is complete: 7 communication kernels could not be matched"},
        {"collectives=2 incomplete=1 suspect=1 unmatched=1", true,
         "No collective is complete: 1 lacks ranks, 1 contradicts itself, 1 communication kernel "
         "could not be matched"},
        /* a send and a receive wait for each other, but no rank waits for all others */
        {"collectives=3 matched=3", true,
         "No rank's clock can be compared with another's, so waits are unknown"},
        {"collectives=2 matched=2", true,
         "Every complete operation has only one rank, or does not make all ranks wait for one "
         "another (sends and receives, most broadcasts)"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char sentence[TM_SENTENCE_MAX];
        tm_tables tables = open_tables();
        add_row(&tables, "stragglers.rank", "rank=0 collectives=0");
        if (cases[i].check)
            add_row(&tables, "clock.check", cases[i].check);
        for (int rank = 0; rank < 2 && strstr(cases[i].sentence, "No rank's clock"); rank++)
            add_rowf(&tables, "clock.rank", "rank=%d", rank);
        const tm_blames blames = {0};
        const tm_judgement judgement = {0};
        const tm_verdict_topic topic = {&blames, &judgement, cases[i].aligned, true};
        tm_verdict_evidence(&tables, &topic, sentence);
        assert_string_equal(sentence, cases[i].sentence);
        tm_tables_destroy(&tables);
    }
}

TEST(a_job_in_which_nobody_waited_says_so) {
    char sentence[TM_SENTENCE_MAX];
    tm_tables tables = open_tables();
    add_row(&tables, "stragglers.rank", "rank=0 collectives=3");
    const tm_blames blames = {0};
    const tm_judgement judgement = {.kind = TM_VERDICT_INCONCLUSIVE};
    const tm_verdict_topic topic = {&blames, &judgement, true, true};
    tm_verdict_evidence(&tables, &topic, sentence);
    assert_string_equal(sentence, "No rank waited for another");
    tm_tables_destroy(&tables);
}

/* Known waits are 0.5 % of the time; 1 % or more of it may be waiting. */
TEST(waits_are_little_only_where_they_are_known) {
    static const struct {
        int64_t unknown_ns;
        const char *evidence;
    } cases[] = {
        {999, "Ranks wait only 0.5 % of the time (500 ns of GPU time)"},
        {30000, "Ranks certainly wait 0.5 % of the time (500 ns of GPU time). Another 30 % is "
                "exposed communication of which it is unknown how much is waiting"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[TM_SENTENCE_MAX];
        tm_tables tables = open_scene("rank=3 collectives=10", "idle_ns=5000");
        const tm_blames blames = {.n_parts = 1, .wait_ns = 500};
        const tm_judgement judgement = {.kind = TM_VERDICT_NONE,
                                        .matched_share = 1.0,
                                        .window_ns = 100000,
                                        .unknown_ns = cases[i].unknown_ns};
        tm_verdict_evidence(&tables, &(tm_verdict_topic){&blames, &judgement, true, true}, text);
        assert_string_equal(text, cases[i].evidence);
        tm_tables_destroy(&tables);
    }
}

RUN_TESTS()

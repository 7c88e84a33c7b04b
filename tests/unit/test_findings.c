/* The verdict on a job, found from suspects. */
#include "analysis/stragglers/findings.h"

#include <math.h>

#include "rows_fixture.h"

/* Ranks 10 to 17 are on hosts of two ranks: (10, 11), (12, 13), ... Process group 7 has ranks 10,
 * 12, 14; group 8 has all. In each of steps 5 and 6, rank 10 + i causes 10 i + 1 ns of waiting. The
 * ranks wait for 1,000 ns, 10 % of their windows. Steps take 100,000 ns in total. */
typedef struct job {
    tm_blame ranks[8], parts[16];
    tm_place places[8 + 3 + 8];
    tm_blames blames;
} job;

static void make_job(job *j) {
    *j = (job){.blames = {.n_ranks = 8, .n_parts = 16, .n_places = 19, .wait_ns = 1000}};
    for (size_t i = 0; i < 8; i++) {
        j->ranks[i].rank = 10 + (int64_t)i;
        j->places[i] = (tm_place){TM_CULPRIT_HOST, i / 2, i};
        j->places[11 + i] = (tm_place){TM_CULPRIT_GROUP, 8, i};
        if (i < 3)
            j->places[8 + i] = (tm_place){TM_CULPRIT_GROUP, 7, 2 * i};
        for (size_t s = 0; s < 2; s++)
            j->parts[8 * s + i] = (tm_blame){.rank = 10 + (int64_t)i,
                                             .step = 5 + (int64_t)s,
                                             .caused = {10 * (int64_t)i + 1, 0}};
    }
    j->blames.ranks = j->ranks;
    j->blames.parts = j->parts;
    j->blames.places = j->places;
}

/* A suspect. 1 % of the steps is 1,000 ns. */
typedef struct said {
    int64_t member, excess_ns;
    double p;
    bool throughout, host, of_stage;
    int64_t from, to;
    bool unsteady;
} said;

typedef struct expected {
    tm_culprit level;
    int64_t rank;
    tm_shape shape;
    tm_certainty certainty;
    int64_t excess_ns, caused_ns;
} expected;

typedef struct trial {
    said said[8];
    double matched_share; /* 0 stands for 1 */
    double open_share;
    tm_heavy heavy[6];
    int64_t n_waits;
    tm_verdict_kind verdict;
    expected found[3];
} trial;

#define THROUGH(rank, excess, p)                                                                   \
    { rank, excess, p, true, false, false, 5, 6, false }
#define WITHIN(rank, excess, p, from, to)                                                          \
    { rank, excess, p, false, false, false, from, to, false }
#define STAGE(rank, excess)                                                                        \
    { rank, excess, 0.0005, true, false, true, 5, 6, false }
#define UNSTEADY(rank, excess, p)                                                                  \
    { rank, excess, p, true, false, false, 5, 6, true }
#define OF_HOST(rank, excess)                                                                      \
    { rank, excess, 0.0005, true, true, false, 5, 6, false }
#define RANK TM_CULPRIT_RANK
#define HOST TM_CULPRIT_HOST
#define GROUP TM_CULPRIT_GROUP
#define SURE TM_CERTAINTY_CONFIDENT
#define LIKELY TM_CERTAINTY_LIKELY
#define ALL TM_SHAPE_THROUGHOUT
#define EPISODE TM_SHAPE_EPISODE
#define TURNS TM_SHAPE_ALTERNATION
#define EVENT TM_SHAPE_EVENT

/* Rank 10 + i causes 20 i + 2 ns of waiting in both steps together, and 10 i + 1 in one. */
static const trial trials[] = {
    /* An unsteady suspect, whose work differs between steps, is not reported. */
    {{UNSTEADY(12, 5000, 0.0005)}, .verdict = TM_VERDICT_NONE},
    /* An excess counts from 1 % of steps on. It is sure if p <= 0.001 and matched_share >= 0.5. */
    {{THROUGH(12, 999, 0.0005)}, .verdict = TM_VERDICT_NONE},
    {{THROUGH(12, 1000, 0.001)},
     .verdict = TM_VERDICT_PERSISTENT,
     .found = {{RANK, 12, ALL, SURE, 1000, 42}}},
    {{THROUGH(12, 1000, 0.0011)},
     .verdict = TM_VERDICT_PERSISTENT,
     .found = {{RANK, 12, ALL, LIKELY, 1000, 42}}},
    {{THROUGH(12, 1000, 0.0005)},
     .matched_share = 0.49,
     .verdict = TM_VERDICT_PERSISTENT,
     .found = {{RANK, 12, ALL, LIKELY, 1000, 42}}},
    /* The excess of a stage counts from 5 % of the steps on. */
    {{STAGE(12, 4999)}, .verdict = TM_VERDICT_NONE},
    {{STAGE(12, 5000)},
     .verdict = TM_VERDICT_PERSISTENT,
     .found = {{RANK, 12, ALL, SURE, 5000, 42}}},
    /* For a suspect in several groups, the largest excess and the smallest p are reported. */
    {{THROUGH(12, 2000, 0.0005), WITHIN(12, 3000, 0.01, 6, 6)},
     .verdict = TM_VERDICT_EPISODE,
     .found = {{RANK, 12, EPISODE, SURE, 3000, 21}}},
    /* Two suspects are sorted by excess, the largest first. */
    {{THROUGH(12, 2000, 0.0005), THROUGH(15, 3000, 0.005)},
     .verdict = TM_VERDICT_SEVERAL,
     .found = {{RANK, 15, ALL, LIKELY, 3000, 102}, {RANK, 12, ALL, SURE, 2000, 42}}},
    /* Suspects are both ranks of host 12. It has the median excess, the smallest p, and 42 + 62. */
    {{THROUGH(13, 2000, 0.0005), THROUGH(14, 1200, 0.005), THROUGH(12, 3000, 0.005)},
     .verdict = TM_VERDICT_SEVERAL,
     .found = {{HOST, 12, ALL, SURE, 2500, 104}, {RANK, 14, ALL, LIKELY, 1200, 82}}},
    /* A suspect host includes its ranks. */
    {{OF_HOST(12, 2000), THROUGH(13, 4000, 0.0005)},
     .verdict = TM_VERDICT_PERSISTENT,
     .found = {{HOST, 12, ALL, SURE, 2000, 104}}},
    /* Suspects are all 3 of a group: 2 + 42 + 82. Two of 3 are too few (80 % are needed). */
    {{THROUGH(10, 2000, 0.005), THROUGH(12, 3000, 0.005), THROUGH(14, 4000, 0.005)},
     .verdict = TM_VERDICT_PERSISTENT,
     .found = {{GROUP, 10, ALL, LIKELY, 3000, 126}}},
    {{THROUGH(10, 2000, 0.005), THROUGH(12, 3000, 0.005)},
     .verdict = TM_VERDICT_SEVERAL,
     .found = {{RANK, 12, ALL, LIKELY, 3000, 42}, {RANK, 10, ALL, LIKELY, 2000, 2}}},
    /* If the episode of one suspect ends before that of the other begins, they alternate. */
    {{WITHIN(12, 2000, 0.0005, 5, 5), WITHIN(15, 3000, 0.0005, 6, 6)},
     .verdict = TM_VERDICT_ALTERNATING,
     .found = {{RANK, 15, TURNS, SURE, 3000, 51}, {RANK, 12, TURNS, SURE, 2000, 21}}},
    {{WITHIN(12, 3000, 0.0005, 5, 5), WITHIN(15, 2000, 0.0005, 6, 6)},
     .verdict = TM_VERDICT_ALTERNATING,
     .found = {{RANK, 12, TURNS, SURE, 3000, 21}, {RANK, 15, TURNS, SURE, 2000, 51}}},
    {{WITHIN(12, 2000, 0.0005, 5, 6), WITHIN(15, 3000, 0.0005, 6, 6)},
     .verdict = TM_VERDICT_SEVERAL,
     .found = {{RANK, 15, EPISODE, SURE, 3000, 51}, {RANK, 12, EPISODE, SURE, 2000, 42}}},
    /* 2 of 20 operations have half of the 1,000 ns of waiting. 2 are more than a tenth of 19. They
     * are no event if a third waits at most a fifth less than their mean, 250. */
    {.heavy = {{300, 12, 5}, {200, 12, 6}, {199, 13, 6}},
     .n_waits = 20,
     .verdict = TM_VERDICT_EVENT,
     .found = {{RANK, 12, EVENT, LIKELY, 0, 500}}},
    {.heavy = {{300, 12, 5}, {200, 12, 6}, {200, 13, 6}},
     .n_waits = 20,
     .verdict = TM_VERDICT_NONE},
    {.heavy = {{300, 12, 5}, {200, 12, 6}}, .n_waits = 19, .verdict = TM_VERDICT_NONE},
    {.heavy = {{300, 12, 5}, {199, 12, 6}}, .n_waits = 20, .verdict = TM_VERDICT_NONE},
    /* At most 5 operations count. If they are of several ranks, no rank is named. */
    {.heavy = {{100, 12, 5}, {100, 12, 6}, {100, 13, 6}, {100, 12, 5}, {100, 12, 5}},
     .n_waits = 90,
     .verdict = TM_VERDICT_EVENT,
     .found = {{RANK, -1, EVENT, LIKELY, 0, 500}}},
    {.heavy = {{90, 9, 5}, {90, 9, 5}, {90, 9, 6}, {90, 9, 5}, {90, 9, 5}, {90, 9, 5}},
     .n_waits = 90,
     .verdict = TM_VERDICT_NONE},
    /* Operations do not count if a rank is found. */
    {{THROUGH(12, 1000, 0.0005)},
     .heavy = {{600, 12, 5}},
     .n_waits = 20,
     .verdict = TM_VERDICT_PERSISTENT,
     .found = {{RANK, 12, ALL, SURE, 1000, 42}}},
    /* No rank is cleared if matched_share is below 0.9. */
    {.matched_share = 0.89, .verdict = TM_VERDICT_INCONCLUSIVE},
    {.matched_share = 0.9, .verdict = TM_VERDICT_NONE},
    /* No rank is cleared if for most of the communication some participants are unknown. */
    {.open_share = 0.51, .verdict = TM_VERDICT_INCONCLUSIVE},
    {.open_share = 0.5, .verdict = TM_VERDICT_NONE},
};

static void check(const trial *t, size_t at, const tm_findings_input *in) {
    tm_findings found = {.all = TM_VEC(tm_finding)};
    tm_error err;
    size_t n = 0;
    assert_int_equal(tm_findings_find(in, &found, &err), TM_OK);
    tm_verdict_kind verdict = tm_findings_verdict(in, &found);
    while (n < COUNT(t->found) && t->found[n].rank != 0)
        n++;
    assert_int_equal(found.unsteady, t->said[0].unsteady);
    if (verdict != t->verdict || found.all.n != n)
        fail_msg("row %zu: %s with %zu findings", at, tm_verdict_word(verdict), found.all.n);
    for (size_t i = 0; i < n; i++) {
        const tm_finding *f = (const tm_finding *)found.all.data + i;
        const expected *e = &t->found[i];
        if (f->level != e->level || f->rank != e->rank || f->shape != e->shape ||
            f->certainty != e->certainty || f->excess_ns != e->excess_ns ||
            f->caused_ns != e->caused_ns)
            fail_msg("row %zu: %s %lld %s %s, %lld, causes %lld", at, tm_culprit_word(f->level),
                     (long long)f->rank, tm_shape_word(f->shape), tm_certainty_word(f->certainty),
                     (long long)f->excess_ns, (long long)f->caused_ns);
        assert_true(fabs(f->excess_pct - (double)e->excess_ns / 1000.0) < 1e-9);
        assert_true(fabs(f->caused_share - (double)e->caused_ns / 1000.0) < 1e-9);
    }
    tm_vec_free(&found.all);
}

TEST(findings_are_what_suspects_amount_to) {
    static const tm_standing standing = {10, 0, 1.0};
    for (size_t t = 0; t < COUNT(trials); t++) {
        job j;
        tm_suspect suspects[COUNT(trials[t].said)];
        make_job(&j);
        tm_findings_input in = {.suspects = suspects,
                                .standings = &standing,
                                .n_standings = 1,
                                .heavy = trials[t].heavy,
                                .n_waits = trials[t].n_waits,
                                .blames = &j.blames,
                                .steps_ns = 100000,
                                .window_ns = 10000,
                                .matched_share =
                                    trials[t].matched_share > 0.0 ? trials[t].matched_share : 1.0,
                                .open_share = trials[t].open_share};
        for (const said *s = trials[t].said; s->member != 0; s++)
            suspects[in.n_suspects++] = (tm_suspect){.member = s->member,
                                                     .from = s->from,
                                                     .to = s->to,
                                                     .units = s->to - s->from + 1,
                                                     .excess_ns = s->excess_ns,
                                                     .p = s->p,
                                                     .host = s->host,
                                                     .throughout = s->throughout,
                                                     .of_stage = s->of_stage,
                                                     .unsteady = s->unsteady};
        while (in.n_heavy < COUNT(trials[t].heavy) && trials[t].heavy[in.n_heavy].wait_ns > 0)
            in.n_heavy++;
        check(&trials[t], t, &in);
    }
}

/* Jobs without a suspect, and whether the verdict may be that no rank is slow. */
static const struct {
    int64_t window_ns, excess_ns; /* wait is 1,000, steps are 100,000 */
    double p;
    bool suspected;
    tm_verdict_kind verdict;
    bool tested;
    int64_t unknown_ns;
} clears[] = {
    /* No rank takes 1 % longer. If one does, the verdict is inconclusive, even if p is large. */
    {10000, 999, 0.5, false, TM_VERDICT_NONE, true, 0},
    {10000, 1000, 0.5, false, TM_VERDICT_INCONCLUSIVE, true, 0},
    /* Nothing could be tested. */
    {10000, 0, (double)NAN, false, TM_VERDICT_INCONCLUSIVE, false, 0},
    /* Waits are less than 1 % of the windows, so no rank is found. */
    {100001, 5000, 0.0005, true, TM_VERDICT_NONE, true, 0},
    {100001, 5000, (double)NAN, false, TM_VERDICT_NONE, false, 0},
    {100000, 5000, 0.0005, true, TM_VERDICT_PERSISTENT, true, 0},
    /* Known waits are less than 1 % of the windows, but unknown ones may be 1 %. */
    {100001, 5000, 0.0005, true, TM_VERDICT_NONE, true, 1000},
    {100001, 5000, 0.0005, true, TM_VERDICT_PERSISTENT, true, 1001},
    {100001, 5000, (double)NAN, false, TM_VERDICT_INCONCLUSIVE, false, 1001},
};

TEST(nobody_is_cleared_without_a_test) {
    for (size_t t = 0; t < COUNT(clears); t++) {
        job j;
        make_job(&j);
        const tm_suspect suspect = {
            .member = 12, .excess_ns = 5000, .p = 0.0005, .throughout = true};
        const tm_standing standings[] = {{12, clears[t].excess_ns, clears[t].p},
                                         {13, -7, (double)NAN}};
        const tm_findings_input in = {.suspects = &suspect,
                                      .n_suspects = clears[t].suspected,
                                      .standings = standings,
                                      .n_standings = 2,
                                      .blames = &j.blames,
                                      .steps_ns = 100000,
                                      .window_ns = clears[t].window_ns,
                                      .unknown_ns = clears[t].unknown_ns,
                                      .matched_share = 1.0};
        tm_findings found = {.all = TM_VEC(tm_finding)};
        tm_error err;
        assert_int_equal(tm_findings_find(&in, &found, &err), TM_OK);
        if (tm_findings_verdict(&in, &found) != clears[t].verdict)
            fail_msg("row %zu: %s", t, tm_verdict_word(tm_findings_verdict(&in, &found)));
        assert_int_equal(found.tested, clears[t].tested);
        assert_true(found.least_p == (clears[t].tested ? clears[t].p : 1.0));
        assert_true(fabs(found.most_pct - (double)clears[t].excess_ns / 1000.0) < 1e-9);
        tm_vec_free(&found.all);
    }
}

/* Rank 17 causes 142 ns of waiting: half of 284, but not of 285. Fixing it saves nothing; a plan of
 * at most half of the ranks may save 1 %. */
TEST(where_a_replay_is_not_sure_who_was_waited_for_is_not_cleared) {
    static const struct {
        bool sure, suspected;
        int64_t wait_ns;
        tm_verdict_kind verdict;
        double plan_pct;
    } cases[] = {
        {false, true, 284, TM_VERDICT_PERSISTENT, 0.0},
        {false, true, 285, TM_VERDICT_NONE, 0.0},
        {true, true, 284, TM_VERDICT_NONE, 0.99},
        {true, true, 284, TM_VERDICT_INCONCLUSIVE, 1.0},
        {false, false, 284, TM_VERDICT_INCONCLUSIVE, 0.0},
        {false, false, 285, TM_VERDICT_NONE, 0.0},
        {true, false, 284, TM_VERDICT_NONE, 0.99},
        {true, false, 284, TM_VERDICT_INCONCLUSIVE, 1.0},
    };
    static const tm_table none = {0};
    static const tm_suspect suspect = {
        .member = 17, .from = 5, .to = 6, .excess_ns = 5000, .p = 0.0005, .throughout = true};
    static const tm_standing standing = {17, 5000, 0.0005};
    for (size_t i = 0; i < COUNT(cases); i++) {
        job j;
        tm_error err;
        tm_findings found = {.all = TM_VEC(tm_finding)};
        make_job(&j);
        j.blames.wait_ns = cases[i].wait_ns;
        j.ranks[7].caused = j.parts[7].caused;
        j.ranks[7].caused.whole_ns *= 2;
        tm_findings_input in = {.suspects = &suspect,
                                .n_suspects = cases[i].suspected,
                                .standings = &standing,
                                .n_standings = 1,
                                .blames = &j.blames,
                                .steps_ns = 100000,
                                .window_ns = 10000,
                                .matched_share = 1.0,
                                .fixes = {.items = &none,
                                          .known = true,
                                          .sure = cases[i].sure,
                                          .plan_pct = cases[i].plan_pct}};
        assert_ok(tm_findings_find(&in, &found, &err));
        if (tm_findings_verdict(&in, &found) != cases[i].verdict)
            fail_msg("case %zu: %s", i, tm_verdict_word(tm_findings_verdict(&in, &found)));
        if (found.all.n > 0)
            assert_true(isnan(((const tm_finding *)found.all.data)->saved_pct));
        tm_vec_free(&found.all);
    }
}

/* Ranks 12 and 13 are host 12. Fixing either saves 9 %, both 17 %, and fixing rank 14 saves 2 %. */
TEST(a_host_made_of_its_ranks_has_their_common_saving) {
    static const tm_suspect suspects[] = {
        {.member = 14, .excess_ns = 5000, .p = 0.0005, .throughout = true},
        {.member = 12, .excess_ns = 3000, .p = 0.0005, .throughout = true},
        {.member = 13, .excess_ns = 3000, .p = 0.0005, .throughout = true}};
    static const tm_standing standing = {12, 3000, 0.0005};
    tm_tables tables = open_tables();
    for (int rank = 12; rank <= 14; rank++) {
        add_rowf(&tables, "whatif.item", "what=rank name=%d saved_pct=%d", rank, rank < 14 ? 9 : 2);
        add_rowf(&tables, "whatif.item", "what=plan name=%d saved_pct=%d", rank,
                 rank < 14 ? 9 * (rank - 11) : 20);
        add_rowf(&tables, "job.rank", "rank=%d host=h%d", rank, rank < 14 ? 12 : 14);
    }
    add_row(&tables, "whatif.item", "what=host name=h12 saved_pct=17");
    job j;
    tm_error err;
    tm_findings found = {.all = TM_VEC(tm_finding)};
    make_job(&j);
    const tm_findings_input in = {.suspects = suspects,
                                  .n_suspects = 3,
                                  .standings = &standing,
                                  .n_standings = 1,
                                  .blames = &j.blames,
                                  .steps_ns = 100000,
                                  .window_ns = 10000,
                                  .matched_share = 1.0,
                                  .fixes = {.items = tm_tables_find(&tables, "whatif.item"),
                                            .ranks = tm_tables_find(&tables, "job.rank"),
                                            .known = true,
                                            .sure = true}};
    assert_ok(tm_findings_find(&in, &found, &err));
    const tm_finding *f = found.all.data;
    assert_int_equal(found.all.n, 2);
    assert_int_equal(f[0].level, TM_CULPRIT_HOST);
    assert_int_equal(f[0].rank, 12);
    assert_true(f[0].saved_pct == 17.0);
    assert_int_equal(f[1].rank, 14);
    tm_vec_free(&found.all);
    tm_tables_destroy(&tables);
}

TEST(an_event_says_when_it_was) {
    static const tm_heavy heavy[] = {{200, 12, 8}, {200, 12, 3}, {100, 12, 5}};
    job j;
    make_job(&j);
    const tm_findings_input in = {.heavy = heavy,
                                  .n_heavy = 3,
                                  .n_waits = 30,
                                  .blames = &j.blames,
                                  .steps_ns = 100000,
                                  .window_ns = 10000,
                                  .matched_share = 1.0};
    tm_findings found = {.all = TM_VEC(tm_finding)};
    tm_error err;
    assert_int_equal(tm_findings_find(&in, &found, &err), TM_OK);
    assert_int_equal(found.few, 3);
    const tm_finding *f = found.all.data;
    assert_int_equal(f->from, 3);
    assert_int_equal(f->to, 8);
    assert_int_equal(f->units, 3);
    assert_true(f->p == 1.0);
    tm_vec_free(&found.all);
    /* 500 ns are less than half of 1,001. */
    found = (tm_findings){.all = TM_VEC(tm_finding)};
    j.blames.wait_ns = 1001;
    assert_int_equal(tm_findings_find(&in, &found, &err), TM_OK);
    assert_int_equal(found.few, 0);
    assert_int_equal(found.all.n, 0);
}

/* Windows are 10,000 ns, and waiting in collectives takes 10 ns, less than a hundredth of them. The
 * first of 4 stages has 2 ranks that send 39 times in 5 steps: 3.9 micro-batches, rounded to 4. The
 * bubble is then at least 3 / (4 + 3). */
static const struct {
    int64_t stages, wait_ns, in_collectives_ns;
    bool suspected;
    tm_verdict_kind verdict;
    double bubble;
} bubbles[] = {
    {4, 100, 10, false, TM_VERDICT_BUBBLE, 0.3},
    {4, 100, 1000, false, TM_VERDICT_BUBBLE, 0.3},
    {4, 99, 10, false, TM_VERDICT_NONE, 0.3},
    {1, 100, 10, false, TM_VERDICT_NONE, 0.0},
    /* If a rank is found, it is the reason. Transfers count as waiting, too. */
    {4, 100, 10, true, TM_VERDICT_PERSISTENT, 0.3},
    {4, 99, 10, true, TM_VERDICT_NONE, 0.3},
};

TEST(a_pipeline_has_a_bubble) {
    static const tm_suspect suspect = {
        .member = 12, .excess_ns = 5000, .p = 0.0005, .throughout = true};
    for (size_t t = 0; t < COUNT(bubbles); t++) {
        job j;
        make_job(&j);
        j.blames.wait_ns = bubbles[t].in_collectives_ns;
        const tm_findings_input in = {.suspects = &suspect,
                                      .n_suspects = bubbles[t].suspected,
                                      .pipeline = {.stages = bubbles[t].stages,
                                                   .senders = 2,
                                                   .transfers = 39,
                                                   .wait_ns = bubbles[t].wait_ns,
                                                   .kept_ns = 3000},
                                      .n_steps = 5,
                                      .blames = &j.blames,
                                      .steps_ns = 100000,
                                      .window_ns = 10000,
                                      .matched_share = 1.0};
        tm_findings found = {.all = TM_VEC(tm_finding)};
        tm_error err;
        assert_int_equal(tm_findings_find(&in, &found, &err), TM_OK);
        if (tm_findings_verdict(&in, &found) != bubbles[t].verdict)
            fail_msg("row %zu: %s", t, tm_verdict_word(tm_findings_verdict(&in, &found)));
        bool pipeline = bubbles[t].stages > 1;
        assert_true(fabs(found.bubble - bubbles[t].bubble) < 1e-9);
        assert_true(fabs(found.ideal - (pipeline ? 3.0 / 7.0 : 0.0)) < 1e-9);
        assert_int_equal(found.micro_batches, pipeline ? 4 : 0);
        if (found.all.n > 0)
            assert_int_equal(tm_finding_names(found.all.data), bubbles[t].suspected);
        tm_vec_free(&found.all);
    }
}

TEST(members_of_a_finding_are_set) {
    job j;
    make_job(&j);
    bool members[8] = {[7] = true};
    static const bool all[8] = {true, true, true, false, true, false, false, true};
    tm_finding_members(&j.blames, &(tm_finding){.level = TM_CULPRIT_GROUP, .place = 8}, members);
    tm_finding_members(&j.blames, &(tm_finding){.level = TM_CULPRIT_RANK, .rank = 11}, members);
    assert_memory_equal(members, all, sizeof all);
}

TEST(shapes_and_certainties_have_words) {
    assert_string_equal(tm_shape_word(TM_SHAPE_THROUGHOUT), "throughout");
    assert_string_equal(tm_shape_word(TM_SHAPE_EPISODE), "episode");
    assert_string_equal(tm_shape_word(TM_SHAPE_ALTERNATION), "alternation");
    assert_string_equal(tm_shape_word(TM_SHAPE_EVENT), "event");
    assert_string_equal(tm_shape_word(TM_SHAPE_BUBBLE), "bubble");
    assert_string_equal(tm_certainty_word(TM_CERTAINTY_LIKELY), "likely");
    assert_string_equal(tm_certainty_word(TM_CERTAINTY_CONFIDENT), "confident");
}

RUN_TESTS()

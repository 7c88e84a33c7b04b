/* Limits on the step times of two jobs: computed by hand, and on many pairs of simulated jobs. */
#include <math.h>

#include "rows_fixture.h"
#include "tmerge/analysis.h"
#include "tmerge/gate.h"

#define UNKNOWN ((double)NAN)

enum { PAIRS = 200, STEPS_MAX = 64 };

static tm_tables make_job(int n_ranks, const int64_t *steps, int n) {
    tm_tables tables = open_tables();
    add_rowf(&tables, "job.job", "ranks=%d hosts=1", n_ranks);
    for (int i = 0; i < n; i++) {
        add_rowf(&tables, "overview.step", "rank=0 step=%d step_ns=%lld", i, (long long)steps[i]);
    }
    return tables;
}

/* Returns the only row of a comparison with a limit; the caller destroys it. */
static tm_tables judge(const tm_tables *a, const tm_tables *b, const char *text) {
    static const tm_table_def *const defs[] = {&tm_gate_def};
    const tm_tables *sides[2] = {a, b};
    tm_gate_limit limit;
    tm_tables found;
    tm_error err;
    assert_int_equal(tm_gate_parse(text, &limit, &err), TM_OK);
    assert_int_equal(tm_tables_create(defs, 1, &found, &err), TM_OK);
    assert_int_equal(tm_gate_compare(sides, &limit, 1, &found.tables[0], &err), TM_OK);
    assert_int_equal(found.tables[0].n_rows, 1);
    return found;
}

/* @param expected  UNKNOWN: the cell is null */
static void is_near(const tm_cell *cell, double expected) {
    assert_int_equal(cell->null, isnan(expected));
    assert_true(cell->null || fabs(cell->value.r - expected) < 1e-3);
}

TEST(rows_worked_out_by_hand) {
    /* Of five steps, the middle three count: their mean is 30. The winsorized steps are 20, 20, 30,
     * 40, 40, with standard deviation 10, so the error of a job is 10 sqrt(5) / 3 = 7.4536. For the
     * difference of two jobs it is 10.541, or 35.136 % of 30, with 2 + 2 degrees of freedom.
     * Student's t with 4 degrees exceeds 5.598 in 1 of 400 cases by tables, 5.5744 by the series: a
     * noise of 195.865 %. 5 (195.865 / 2)^2 = 47954 steps would suffice. Steps twice as long have
     * twice the error: 391.730 %.
     * `late` is `spread` + 3000; `later` and `latest` are 76 and 97 more. Their means change from
     * 3030 by 2.508 or 3.201 %, with noise of 1.9647 or 1.9721 % (3.998 or 3.996 degrees of
     * freedom). At a limit of 1 %, a change fails from 1 + 2 (1.9647 - 1) = 2.929 or 2.944 % on.
     *
     * Without the first step, every 4th step of `fourth` takes 20, 22 and 24: a mean of 22 with an
     * error of 2 / sqrt(3) and 2 degrees of freedom. A step has a quarter of both. So a step takes
     * 0.75 10 + 0.25 22 = 13. With 4 degrees, the noise of two such jobs is 5.5744 sqrt(2) 0.5 /
     * sqrt(3) = 2.2757, or 17.506 % of 13. A step takes 7.5 + 5 = 12.5 in `quarter`, and 7.5 + 10 =
     * 17.5 in `longest`, 40 % more. Of `stall` the usual steps take 30, but the mean without the
     * first step is 42, with standard deviation sqrt((4 12^2 + 48^2) / 4) = 26.833 and error 12.
     * `even` gets this error, too, as its lack of stalls may be chance: 16.8 of 42. For sqrt(16.8^2
     * + 12^2) with 7.24 degrees, the series gives 3.97487: a noise of 273.545 %. The usual steps
     * decide if both agree. */
    static const int64_t spread[] = {40, 10, 30, 1000, 20}, twice[] = {80, 20, 60, 2000, 40},
                         late[] = {3040, 3010, 3030, 4000, 3020},
                         later[] = {3116, 3086, 3106, 4076, 3096},
                         latest[] = {3137, 3107, 3127, 4097, 3117},
                         fourth[] = {10, 10, 10, 20, 10, 10, 10, 22, 10, 10, 10, 24, 10},
                         quarter[] = {10, 10, 10, 20, 10, 10, 10, 20, 10, 10, 10, 20, 10},
                         longest[] = {10, 10, 10, 40, 10, 10, 10, 40, 10, 10, 10, 40, 10},
                         stall[] = {30, 30, 30, 90, 30, 30}, stalled[] = {33, 33, 33, 99, 33, 33},
                         even[] = {30, 30, 30, 30, 30, 30}, longer[] = {33, 33, 33, 33, 33},
                         shorter[] = {28, 28, 28, 28, 28};
    static int64_t tenth[31]; /* a mean of 0.9 30 + 0.1 130 = 40 */
    static const struct {
        const char *limit;
        int a_ranks, b_ranks;
        const int64_t *a, *b;
        int a_n, b_n;
        double change, noise; /* UNKNOWN: null */
        const char *verdict, *why;
    } cases[] = {
        {"step=+2%", 1, 1, spread, spread, 5, 5, 0.0, 195.865, "undecided",
         "chance may change it by 195.9 %: about 47954 steps on each side would distinguish 2 % "
         "from chance"},
        {"step=+120%", 1, 1, spread, twice, 5, 5, 100.0, 391.730, "undecided",
         "chance may change it by 391.7 %: about 54 steps on each side would distinguish 120 % "
         "from chance"},
        {"step=+1%", 1, 1, late, later, 5, 5, 2.50825, 1.96470, "undecided",
         "chance may change it by 2.0 %: about 20 steps on each side would distinguish 1 % from "
         "chance"},
        {"step=+1%", 1, 1, late, latest, 5, 5, 3.20132, 1.97212, "fail", NULL},
        {"step=+10%", 1, 1, even, longer, 5, 5, 10.0, 0.0, "pass", NULL},
        {"step=+9.9%", 1, 1, even, longer, 5, 5, 10.0, 0.0, "fail", NULL},
        {"step=-5%", 1, 1, even, shorter, 5, 5, -6.66667, 0.0, "fail", NULL},
        {"step=+20%", 1, 1, fourth, fourth, 13, 13, 0.0, 17.5057, "pass", NULL},
        {"step=+39%", 1, 1, quarter, longest, 13, 13, 40.0, 0.0, "fail", NULL},
        {"step=+30%", 1, 1, even, stall, 6, 6, 40.0, 273.545, "undecided",
         "the usual step changed by +0.00 %, but odd steps change the mean of all steps; that may "
         "be chance"},
        {"step=+9%", 1, 1, even, stalled, 6, 6, 10.0, 0.0, "fail", NULL},
        {"step=+2%", 1, 1, stall, even, 6, 6, 0.0, 0.0, "pass", NULL},
        {"step=+2%", 1, 1, even, tenth, 6, 31, 100.0 / 3.0, 0.0, "undecided",
         "1 in 10 steps after is unlike the others; before has too few steps for one"},
        {"step=+50%", 1, 1, even, even, 4, 6, UNKNOWN, UNKNOWN, "undecided",
         "there are 4 whole steps before and 6 after: each side needs at least 5"},
        {"step=+50%", 2, 1, even, even, 5, 5, UNKNOWN, UNKNOWN, "undecided",
         "2 ranks before, 1 after: not the same job"},
        {"exposed=+50%", 1, 1, even, even, 5, 5, UNKNOWN, UNKNOWN, "undecided",
         "it was not recorded in either"},
        {"memory=+50%", 1, 1, even, even, 0, 0, UNKNOWN, UNKNOWN, "undecided",
         "it was not recorded in either"},
    };
    for (int i = 0; i < 31; i++)
        tenth[i] = i % 10 == 9 ? 130 : 30;
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_tables a = make_job(cases[i].a_ranks, cases[i].a, cases[i].a_n);
        tm_tables b = make_job(cases[i].b_ranks, cases[i].b, cases[i].b_n);
        tm_tables found = judge(&a, &b, cases[i].limit);
        const tm_table *row = &found.tables[0];
        const tm_cell *why = tm_table_cell(row, 0, "why");
        is_near(tm_table_cell(row, 0, "change_pct"), cases[i].change);
        is_near(tm_table_cell(row, 0, "noise_pct"), cases[i].noise);
        assert_string_equal(tm_table_cell(row, 0, "verdict")->value.text, cases[i].verdict);
        assert_int_equal(why->null, cases[i].why == NULL);
        if (cases[i].why)
            assert_string_equal(why->value.text, cases[i].why);
        tm_tables_destroy(&found);
        tm_tables_destroy(&a);
        tm_tables_destroy(&b);
    }
}

/* Makes steps 0, 1, ... of the kinds in @p kinds, one letter each. */
static tm_tables make_kinds(const char *kinds, int64_t extend, int64_t decode) {
    tm_tables tables = open_tables();
    add_row(&tables, "job.job", "ranks=1 hosts=1");
    for (int i = 0; kinds[i]; i++) {
        const char *kind = kinds[i] == 'E' ? "EXTEND" : kinds[i] == 'D' ? "DECODE" : "IDLE";
        add_rowf(&tables, "overview.step", "rank=0 step=%d step_ns=%lld", i,
                 (long long)(kinds[i] == 'E'   ? extend
                             : kinds[i] == 'D' ? decode
                                               : 1));
        add_rowf(&tables, "steps.mark", "rank=0 step=%d kind=%s", i, kind);
    }
    return tables;
}

TEST(steps_of_several_kinds_are_judged_by_kind) {
    /* EXTEND changes from 300 to 315, by 5 %. The single IDLE step of 1 ns is not compared. Two
     * EXTEND steps take 600 of 850 ns, but are too few. */
    static const struct {
        const char *a, *b, *rows;
    } cases[] = {
        {"EDDEDDEDDEDDEI", "EDDEDDEDDEDDEI", "DECODE pass, EXTEND fail, "},
        {"DDDDD", "DDDDD", "- pass, "},
        {"EDDDDDE", "EDDDDDE", "DECODE pass, EXTEND undecided, "},
        {"EEEEEDDDDD", "DDDDD", "DECODE pass, EXTEND undecided, "},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        static const tm_table_def *const defs[] = {&tm_gate_def};
        tm_tables a = make_kinds(cases[c].a, 300, 50), b = make_kinds(cases[c].b, 315, 50), found;
        const tm_tables *sides[2] = {&a, &b};
        tm_gate_limit limit;
        tm_error err;
        char rows[128] = "";
        assert_int_equal(tm_gate_parse("step=+2%", &limit, &err), TM_OK);
        assert_int_equal(tm_tables_create(defs, 1, &found, &err), TM_OK);
        assert_int_equal(tm_gate_compare(sides, &limit, 1, &found.tables[0], &err), TM_OK);
        for (size_t i = 0; i < found.tables[0].n_rows; i++) {
            const tm_cell *kind = tm_table_cell(&found.tables[0], i, "kind");
            snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "%s %s, ",
                     kind->null ? "-" : kind->value.text,
                     tm_table_cell(&found.tables[0], i, "verdict")->value.text);
        }
        assert_string_equal(rows, cases[c].rows);
        tm_tables_destroy(&found);
        tm_tables_destroy(&a);
        tm_tables_destroy(&b);
    }
}

TEST(what_is_no_limit_is_refused) {
    static const char *const bad[] = {"step", "step=2%", "step=+2",  "step=+%",    "step=+x%",
                                      "=+2%", "ste=+2%", "step=+0%", "step=+inf%", "step=+2%%"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        tm_gate_limit limit;
        tm_error err;
        assert_int_equal(tm_gate_parse(bad[i], &limit, &err), TM_ERR_USAGE);
        assert_non_null(strstr(err.message, bad[i]));
    }
}

/* Normal noise by the Box-Muller method, with a separate generator. */
static double noise(uint64_t *seed) {
    double u[2];
    for (int i = 0; i < 2; i++) {
        *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
        u[i] = ((double)(*seed >> 11) + 0.5) / (double)(1ULL << 53);
    }
    return sqrt(-2.0 * log(u[0])) * cos(2.0 * acos(-1.0) * u[1]);
}

typedef struct shape {
    const char *name;
    int steps;
    double noise_pct, change_pct, first_pct, like; /* like: share of noise kept in the next step */
    int fail_least, fail_most, pass_least, pass_most;
    struct {
        int every;     /* the last of so many steps takes longer; 0: none does */
        double odds;   /* or: any step takes longer by this chance */
        double pct[2]; /* by so much in the two jobs */
    } longer;
} shape;

static bool is_long(const shape *s, int step, uint64_t *seed) {
    if (s->longer.odds > 0.0) /* the share of normal values above this one */
        return 0.5 * erfc(noise(seed) / sqrt(2.0)) < s->longer.odds;
    return s->longer.every > 0 && (step + 1) % s->longer.every == 0;
}

static tm_tables simulate(const shape *s, int side, uint64_t *seed) {
    const double change_pct = side == 0 ? 0.0 : s->change_pct;
    int64_t steps[STEPS_MAX];
    double last = noise(seed);
    for (int i = 0; i < s->steps; i++) {
        last = s->like * last + sqrt(1.0 - s->like * s->like) * noise(seed);
        double pct = s->noise_pct * last + change_pct + (i == 0 ? s->first_pct : 0.0);
        pct += is_long(s, i, seed) ? s->longer.pct[side] : 0.0;
        steps[i] = llround(1e8 * (1.0 + pct / 100.0));
    }
    return make_job(8, steps, s->steps);
}

TEST(pairs_of_jobs_are_reported_apart) {
    static const shape shapes[] = {
        {"the same job", 10, 1, 0, 0, 0, 0, 0, 180, PAIRS, {0}},
        {"slower by 3 %", 10, 1, 3, 0, 0, 190, PAIRS, 0, 10, {0}},
        {"the same, and the first step is slow", 10, 1, 0, 60, 0, 0, 0, 140, PAIRS, {0}},
        {"slower by 3 %, and the first step is slow", 10, 1, 3, 60, 0, 170, PAIRS, 0, 10, {0}},
        {"the same, uneven", 8, 3, 0, 0, 0, 0, 0, 0, 0, {0}},
        {"slower by 3 %, uneven", 8, 3, 3, 0, 0, 0, 10, 0, 0, {0}},
        {"the same, of few steps", 5, 2, 0, 0, 0, 0, 1, 0, 10, {0}},
        {"the same, each step like the last", 40, 1, 0, 0, 0.8, 0, 2, 0, PAIRS, {0}},
        {"slower by 2.5 %, even", 30, 0.5, 2.5, 0, 0, 190, PAIRS, 0, 10, {0}},
        {"the same, the first and every 8th step are long",
         40,
         1,
         0,
         60,
         0,
         0,
         0,
         190,
         PAIRS,
         {8, 0, {100, 100}}},
        {"every 8th step is longer", 40, 3, 0, 0, 0, 190, PAIRS, 0, 0, {8, 0, {15, 100}}},
        {"every 10th step became long", 40, 1, 0, 0, 0, 190, PAIRS, 0, 0, {10, 0, {0, 300}}},
        {"one step stalls", 20, 1, 0, 0, 0, 0, 0, 0, 0, {20, 0, {0, 300}}},
        {"the same, a tenth of the steps is long by chance",
         20,
         1,
         0,
         0,
         0,
         0,
         2,
         0,
         PAIRS,
         {0, 0.1, {100, 100}}},
    };
    for (size_t i = 0; i < COUNT(shapes); i++) {
        const shape *s = &shapes[i];
        uint64_t seed = 1 + i;
        int n_fail = 0, n_pass = 0;
        for (int pair = 0; pair < PAIRS; pair++) {
            tm_tables a = simulate(s, 0, &seed), b = simulate(s, 1, &seed);
            tm_tables found = judge(&a, &b, "step=+2%");
            const char *verdict = tm_table_cell(&found.tables[0], 0, "verdict")->value.text;
            n_fail += strcmp(verdict, TM_GATE_FAIL) == 0;
            n_pass += strcmp(verdict, TM_GATE_PASS) == 0;
            tm_tables_destroy(&found);
            tm_tables_destroy(&a);
            tm_tables_destroy(&b);
        }
        printf("%s: %d of %d fail, %d pass\n", s->name, n_fail, PAIRS, n_pass);
        assert_in_range(n_fail, s->fail_least, s->fail_most);
        assert_in_range(n_pass, s->pass_least, s->pass_most);
    }
}

RUN_TESTS()

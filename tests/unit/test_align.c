/* Alignment of whole groups: simulated groups of known truth, and members to leave out. */
#include "match/align.h"

#include "run_fixture.h"

typedef struct group {
    rank_run *ranks;
    tm_member *members;
    int *seen; /* [operations] number of ranks that recorded it */
    size_t n, n_operations;
} group;

static group align(const group_spec *spec, uint64_t seed) {
    tm_error err;
    group g = {.n = (size_t)spec->n_ranks, .n_operations = (size_t)(spec->steps * spec->per_step)};
    g.ranks = calloc(g.n, sizeof *g.ranks);
    g.members = calloc(g.n, sizeof *g.members);
    g.seen = calloc(g.n_operations, sizeof *g.seen);
    for (size_t r = 0; r < g.n; r++) {
        g.ranks[r] = simulate(spec, seed, (int64_t)r, g.seen);
        g.members[r] = (tm_member){.run = g.ranks[r].run};
        g.members[r].operations = calloc(g.ranks[r].run.n + 1, sizeof(int64_t));
    }
    assert_int_equal(tm_match_align(g.members, g.n, &err), TM_OK);
    return g;
}

static void free_group(group *g) {
    for (size_t r = 0; r < g->n; r++) {
        free(g->members[r].operations);
        free_run(&g->ranks[r]);
    }
    free(g->members);
    free(g->ranks);
    free(g->seen);
}

/* Fails if kernels of different operations got the same number. Otherwise counts the operations
 * that all ranks recorded, and returns how many of them were found on all ranks [permille]. */
static int64_t found_permille(const group *g) {
    int64_t *truth = calloc(g->n_operations, sizeof *truth);
    int *members = calloc(g->n_operations, sizeof *members);
    int64_t on_all = 0, found = 0;
    for (size_t r = 0; r < g->n; r++)
        for (size_t i = 0; i < g->members[r].run.n; i++) {
            int64_t operation = g->members[r].operations[i], k = g->ranks[r].truth[i];
            if (operation < 0)
                continue;
            if (members[operation] > 0 && truth[operation] != k)
                fail_msg("rank %zu: %lld taken for %lld", r, (long long)k,
                         (long long)truth[operation]);
            truth[operation] = k;
            members[operation]++;
        }
    for (size_t k = 0; k < g->n_operations; k++) {
        on_all += g->seen[k] == (int)g->n;
        found += members[k] == (int)g->n;
    }
    free(truth);
    free(members);
    assert_true(on_all > 0 || found == 0);
    return on_all > 0 ? 1000 * found / on_all : 1000;
}

/* A job of 8 ranks with 10 steps, each of 12 equal layers and a last operation. */
static const group_spec usual = {.n_ranks = 8,
                                 .steps = 10,
                                 .per_step = 13,
                                 .gap_ns = 400 * US,
                                 .jitter_ns = 60 * US,
                                 .step_gap_ns = 2 * MS,
                                 .noise_ns = 3 * US,
                                 .offset_ns = 5 * MS,
                                 .drift_ppm = 20,
                                 .knows_steps = true};

typedef struct named_spec {
    const char *name;
    group_spec spec;
    int64_t least_permille;
} named_spec;

enum { N_CASES = 15 };

static void make_cases(named_spec *cases) {
    static const char *const names[N_CASES] = {
        "equal counts",
        "lost",
        "late windows",
        "5 s",
        "lost, late, 5 s",
        "no steps",
        "no steps, lost, late, 5 s",
        "no steps, the last of a step differs",
        "two ranks, lost",
        "noise of 10 us, lost",
        "late ends",
        "broadcasts, equal counts",
        "broadcasts, late windows, 5 s",
        "broadcasts, no steps, late windows",
        "broadcasts, lost",
    };
    for (size_t i = 0; i < N_CASES; i++)
        cases[i] = (named_spec){names[i], usual, 990};
    cases[1].spec.lost_permille = cases[4].spec.lost_permille = cases[6].spec.lost_permille = 75;
    cases[8].spec.lost_permille = cases[9].spec.lost_permille = 75;
    cases[2].spec.skipped_steps = cases[4].spec.skipped_steps = cases[6].spec.skipped_steps = 3;
    cases[3].spec.offset_ns = cases[4].spec.offset_ns = cases[6].spec.offset_ns = 5000 * MS;
    cases[5].spec.knows_steps = cases[6].spec.knows_steps = cases[7].spec.knows_steps = false;
    cases[7].spec.last_differs = true;
    cases[7].spec.jitter_ns = 40 * US;
    cases[8].spec.n_ranks = 2;
    cases[9].spec.noise_ns = 10 * US;
    /* 15 % of ends are 100 us late, so fewer operations are found on all ranks */
    cases[10].spec.late_permille = 150;
    cases[10].spec.late_ns = 100 * US;
    cases[10].least_permille = 700;
    for (size_t i = 11; i < N_CASES; i++)
        cases[i].spec.broadcasts = 4;
    cases[12].spec.skipped_steps = cases[13].spec.skipped_steps = 3;
    cases[12].spec.offset_ns = 5000 * MS;
    cases[13].spec.knows_steps = false;
    /* of 13 operations in a step, only the 9 that synchronise are sure to be found */
    cases[14].spec.lost_permille = 75;
    cases[14].least_permille = 600;
}

TEST(simulated_groups_are_matched_and_never_wrongly) {
    named_spec cases[N_CASES];
    make_cases(cases);
    for (size_t c = 0; c < N_CASES; c++)
        for (uint64_t seed = 1; seed <= (in_full_set() ? 20 : 4); seed++) {
            group g = align(&cases[c].spec, seed);
            int64_t found = found_permille(&g);
            if (found < cases[c].least_permille)
                fail_msg("%s, seed %d: %d permille", cases[c].name, (int)seed, (int)found);
            free_group(&g);
        }
}

static void check_left_out(const group_spec *spec, tm_unmatched reason) {
    group g = align(spec, 1);
    for (size_t r = 0; r < g.n; r++) {
        assert_int_equal(g.members[r].reason, reason);
        for (size_t i = 0; i < g.members[r].run.n; i++)
            assert_int_equal(g.members[r].operations[i], -1);
    }
    free_group(&g);
}

/* Layers are equal and at equal intervals, so every shift fits equally well. One rank begins a step
 * later, so counts do not help. Only step numbers do. */
TEST(a_perfectly_periodic_job_is_ambiguous_without_steps) {
    group_spec spec = usual;
    spec.jitter_ns = 0;
    spec.step_gap_ns = 0;
    spec.skipped_steps = 2;
    spec.knows_steps = false;
    check_left_out(&spec, TM_UNMATCHED_AMBIGUOUS);
    spec.step_gap_ns = 2 * MS; /* steps are visible, but not their numbers */
    check_left_out(&spec, TM_UNMATCHED_AMBIGUOUS);
    spec.knows_steps = true;
    group g = align(&spec, 1);
    assert_true(found_permille(&g) >= 990);
    free_group(&g);
}

TEST(few_kernels_are_no_evidence) {
    group_spec spec = usual;
    spec.steps = 1;
    spec.per_step = 11;
    spec.knows_steps = false;
    check_left_out(&spec, TM_UNMATCHED_TOO_FEW);
    spec.knows_steps = true;
    spec.per_step = 3;
    check_left_out(&spec, TM_UNMATCHED_TOO_FEW);
}

/* Checks that a change to one rank excludes that rank and leaves the others as they are. */
static void check_one_out(void (*change)(tm_run *), tm_unmatched reason) {
    tm_error err;
    group g = align(&usual, 3);
    for (int changed = 0; changed < 2; changed++) {
        if (changed)
            change(&g.members[5].run);
        assert_int_equal(tm_match_align(g.members, g.n, &err), TM_OK);
        for (size_t r = 0; r < g.n; r++) {
            bool out = changed && r == 5;
            assert_int_equal(g.members[r].reason, out ? reason : TM_UNMATCHED_NOT);
            for (size_t i = 0; i < g.members[r].run.n; i++)
                assert_int_equal(g.members[r].operations[i], out ? -1 : (int64_t)i);
        }
    }
    free_group(&g);
}

static void other_sizes(tm_run *run) {
    for (size_t i = 0; i < run->n; i++)
        run->marks[i].signature = 3;
}

static void other_steps(tm_run *run) {
    for (size_t i = 0; i < run->n; i++)
        run->marks[i].step += 100;
}

static void other_times(tm_run *run) {
    uint64_t state = 99;
    for (size_t i = 0, at = 0; i < run->n; i++) {
        at += (size_t)(400 * US + draw(&state, 2 * MS));
        run->marks[i].begin_ns = (int64_t)at - 30 * US;
        run->marks[i].end_ns = (int64_t)at;
    }
}

TEST(a_rank_that_does_not_correspond_is_left_out_alone) {
    check_one_out(other_sizes, TM_UNMATCHED_SIGNATURES);
    check_one_out(other_steps, TM_UNMATCHED_SIGNATURES);
    check_one_out(other_times, TM_UNMATCHED_INCOHERENT);
}

/* The first reference is the member with the most kernels: rank 2, which matches no other rank. */
TEST(another_reference_is_taken_where_most_do_not_correspond) {
    tm_error err;
    group_spec longer = usual;
    longer.steps++;
    group g = align(&usual, 3);
    free_run(&g.ranks[2]);
    free(g.members[2].operations);
    g.ranks[2] = simulate(&longer, 77, 2, NULL);
    other_times(&g.ranks[2].run);
    g.members[2] = (tm_member){.run = g.ranks[2].run};
    g.members[2].operations = calloc(g.ranks[2].run.n, sizeof(int64_t));
    assert_int_equal(tm_match_align(g.members, g.n, &err), TM_OK);
    for (size_t r = 0; r < g.n; r++)
        assert_int_equal(g.members[r].reason, r == 2 ? TM_UNMATCHED_INCOHERENT : TM_UNMATCHED_NOT);
    free_group(&g);
}

/* Ranks 0, 1 and 2 share the first 300 operations. Only ranks 1 and 2 record later ones, after the
 * clock of rank 2 was set forward by a second. So ranks 1 and 2 are both aligned with rank 0 by the
 * first part, and the later part shows them a second apart. */
TEST(members_that_contradict_each_other_are_left_out) {
    enum { SHARED = 300, N = 1100 };
    tm_error err;
    rank_run runs[3];
    tm_member members[3];
    for (size_t r = 0; r < 3; r++) {
        uint64_t own = r == 0 ? 5 : 6, common = 4;
        int64_t ends[N + 1], at = 0;
        size_t n = r == 0 ? N + 1 : N;
        for (size_t i = 0; i < n; i++) {
            at += 400 + draw(i < SHARED ? &common : &own, 300);
            ends[i] = at + (r == 2 && i >= SHARED ? 1000000 : 0);
        }
        runs[r] = run_of(ends, n);
        members[r] = (tm_member){.run = runs[r].run};
        members[r].operations = calloc(n, sizeof(int64_t));
    }
    assert_int_equal(tm_match_align(members, 3, &err), TM_OK);
    for (size_t r = 0; r < 3; r++) {
        assert_int_equal(members[r].reason, TM_UNMATCHED_INCOHERENT);
        assert_int_equal(members[r].operations[0], -1);
        free(members[r].operations);
        free_run(&runs[r]);
    }
}

/* Each rank has 10,000 kernels. Alignment takes longer if steps are not known. */
TEST(large_groups_are_aligned) {
    group_spec spec = usual;
    spec.per_step = 100;
    spec.steps = 100;
    spec.lost_permille = 75;
    spec.skipped_steps = 3;
    spec.offset_ns = 5000 * MS;
    for (int knows = in_full_set() ? 0 : 1; knows < 2; knows++) {
        spec.knows_steps = knows;
        group g = align(&spec, 1);
        assert_true(found_permille(&g) >= 990);
        free_group(&g);
    }
}

RUN_TESTS()

/* Clock fits of simulated jobs, compared with the clocks that were simulated. */
#include "clock_jobs.h"

enum { SEEDS = 3 };

/* Fits the plan with several seeds, and asserts the limits each time. */
static void hold(clock_plan plan, double worst_ns, bool clean) {
    double covered = 0.0;
    for (plan.seed = 1; plan.seed <= SEEDS; plan.seed++) {
        clock_job job = make_clock_job(&plan);
        tm_clock_fit fit = fit_clock_job(&job);
        clock_error error = clock_job_error(&job, &fit, 0, plan.hosts);
        if (!(worst_of(&error) <= worst_ns))
            fail_msg("seed %d: %.0f, %.0f and %.0f ns", (int)plan.seed, error.worst_ns[0],
                     error.worst_ns[1], error.worst_ns[2]);
        covered += error.covered / SEEDS;
        assert_int_equal(fit.n_components, 1);
        assert_true(fit.check.before_over > fit.check.events / 20);
        assert_int_equal(fit.check.after_over, 0);
        assert_int_equal(fit.n_suspect > 0, !clean);
        for (int h = 0; h < plan.hosts; h++) {
            assert_int_equal(fit.models[h].method, TM_CLOCK_FIT);
            assert_int_equal(fit.models[h].step_ns, 0);
        }
        tm_clock_fit_free(&fit);
        free_clock_job(&job);
    }
    if (!(covered >= 0.95))
        fail_msg("only %.3f of the errors are within twice the uncertainty", covered);
}

/* With biased ends, errors are at most 10 us; without bias, at most 1 us. */
TEST(clocks_are_found_within_their_limits) {
    enum { BIASED, UNBIASED, SECONDS_APART, LATE, PAIRS, DRIFTING, GOOD, CLASSES, N_PLANS };
    clock_plan plans[N_PLANS];
    for (size_t i = 0; i < N_PLANS; i++)
        plans[i] = usual_plan;
    plans[UNBIASED].bias_ns = plans[UNBIASED].gpu_ns = 0.0;
    plans[SECONDS_APART].offset_ns = 5e9;
    plans[SECONDS_APART].wall_ns = 5e6;
    plans[LATE].late = 0.15;
    plans[LATE].mismatched = 0.075;
    plans[PAIRS].world = false; /* no group links the stages */
    /* Profilers keep clocks to 2 ppm; these drift by up to 50 ppm, with few hosts and pairs. */
    plans[DRIFTING].hosts = 16;
    plans[DRIFTING].pairs = 1;
    plans[DRIFTING].world = false;
    plans[DRIFTING].drift_ppb = 50000.0;
    plans[DRIFTING].steady_ppb = 2000.0;
    plans[GOOD].offset_ns = 200e3; /* a good clock is not made worse */
    plans[GOOD].drift_ppb = 500.0;
    /* Noise is 3 % of the transfer time: 180 us in one noise class, 3 us in others. */
    plans[CLASSES].noise_share = 0.03;
    for (int i = 0; i < N_PLANS; i++) {
        print_message("plan %d\n", i);
        hold(plans[i], i == UNBIASED ? 1e3 : 10e3, i != LATE);
    }
}

/* Only messages link the stages. Their delays are 20 to 50 us, so the clocks are known to half of
 * that in the middle. Towards the ends, the unknown drift of each stage adds to this. Inside a
 * stage, the fit is as good as usual. */
TEST(buffered_messages_tie_the_stages) {
    clock_plan plan = usual_plan;
    plan.world = false;
    plan.buffered = true;
    for (plan.seed = 1; plan.seed <= SEEDS; plan.seed++) {
        clock_job job = make_clock_job(&plan);
        tm_clock_fit fit = fit_clock_job(&job);
        clock_error all = clock_job_error(&job, &fit, 0, plan.hosts);
        assert_int_equal(fit.n_components, 1);
        assert_true(all.worst_ns[1] < 20e3 && worst_of(&all) < 40e3);
        assert_int_equal(fit.check.after_over, 0);
        for (int stage = 0; stage < 4; stage++) {
            int first = 8 * stage;
            clock_error error = clock_job_error(&job, &fit, first, first + 8);
            assert_true(worst_of(&error) < 10e3);
            assert_true(error.covered >= 0.95);
            /* stage 0 is the main stage, to which the others are linked */
            assert_true(stage == 0 || fit.models[first].uncertainty_ns > 20e3);
        }
        tm_clock_fit_free(&fit);
        free_clock_job(&job);
    }
}

/* Without pairs and world operations, only the wall clock links the stages. */
TEST(unlinked_groups_are_components_of_their_own) {
    clock_plan plan = usual_plan;
    plan.world = false;
    plan.pairs = 0;
    plan.stages = 2;
    clock_job job = make_clock_job(&plan);
    tm_clock_fit fit = fit_clock_job(&job);
    assert_int_equal(fit.n_components, 2);
    for (int h = 0; h < plan.hosts; h++)
        assert_int_equal(fit.models[h].component, h / 16);
    for (int half = 0; half < 2; half++) {
        clock_error error = clock_job_error(&job, &fit, 16 * half, 16 * half + 16);
        assert_true(worst_of(&error) <= 10e3);
        assert_true(error.covered >= 0.95);
    }
    tm_clock_fit_free(&fit);
    free_clock_job(&job);
}

/* The interval assumes that the reference is right. So the true offset relative to the reference
 * must be inside, up to 2 us of drift. GPUs have no errors of their own here. */
TEST(guaranteed_intervals_hold_the_truth) {
    clock_plan plan = usual_plan;
    int n_narrow = 0;
    plan.gpu_ns = 0.0;
    clock_job job = make_clock_job(&plan);
    tm_clock_fit fit = fit_clock_job(&job);
    int reference = 0;
    for (int h = 0; h < plan.hosts; h++)
        reference =
            fit.models[h].bounded && fit.models[h].low_ns == fit.models[h].high_ns ? h : reference;
    double common = (double)fit.models[reference].offset_ns - job.offset_ns[reference];
    for (int h = 0; h < plan.hosts; h++) {
        const tm_clock_model *model = fit.models + h;
        assert_true(model->bounded);
        assert_true(model->low_ns <= model->offset_ns && model->offset_ns <= model->high_ns);
        assert_true((double)model->low_ns <= job.offset_ns[h] + common + 2e3);
        assert_true((double)model->high_ns >= job.offset_ns[h] + common - 2e3);
        n_narrow += model->high_ns - model->low_ns < 200000;
    }
    /* at least the 8 hosts of the reference's stage, whose collectives are short */
    assert_true(n_narrow >= 8);
    tm_clock_fit_free(&fit);
    free_clock_job(&job);
}

/* The clock is set in the middle of three seconds, or of one second with 16 collectives. */
TEST(a_clock_that_was_set_is_found) {
    static const struct {
        int hosts;
        double set_ns;
    } cases[] = {{32, 5e6}, {32, -300e3}, {32, 100e3}, {32, 0.5e9}, {32, 30e9}, {32, -30e9},
                 {4, 5e6},  {4, 0.5e9},   {4, 20e9},   {4, -20e9},  {3, 0.5e9}, {3, 20e9},
                 {3, -5e6}, {3, -20e9},   {2, 5e6},    {2, 0.5e9},  {2, 20e9},  {2, -20e9}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        clock_plan plan = usual_plan;
        bool few = cases[i].hosts < plan.hosts;
        plan.hosts = cases[i].hosts;
        if (few) {
            plan.host_ranks = plan.stages = plan.steps = 1;
            plan.per_step = 16;
            plan.pairs = 0;
            plan.world = false;
        }
        plan.set_host = few ? plan.hosts - 1 : 3;
        plan.set_ns = cases[i].set_ns;
        clock_job job = make_clock_job(&plan);
        tm_clock_fit fit = fit_clock_job(&job);
        /* With two clocks, either may have been set. */
        for (int h = 0; h < plan.hosts; h++)
            assert_int_equal(fit.models[h].step_ns != 0, plan.hosts == 2 || h == plan.set_host);
        const tm_clock_model *model = fit.models + plan.set_host;
        /* A clock that is set shows two times at once; either may be found. */
        double middle = (double)job.domains[0].middle_ns + job.offset_ns[0];
        double at = (double)model->step_at_ns - (middle - job.offset_ns[plan.set_host]);
        double error = fmin(fabs(at), fabs(at - plan.set_ns));
        assert_true(plan.hosts == 2 || error <= (double)job.domains[0].length_ns / 16.0);
        assert_true((double)model->step_ns / plan.set_ns > 0.5);
        assert_true((double)model->step_ns / plan.set_ns < 1.1);
        assert_true(model->uncertainty_ns >= (double)llabs(model->step_ns));
        /* The other stages, or the other hosts of a small job, are not affected. */
        clock_error others =
            clock_job_error(&job, &fit, few ? 0 : 8, few ? plan.set_host : plan.hosts);
        assert_true(worst_of(&others) <= (few ? 20e3 : 10e3));
        tm_clock_fit_free(&fit);
        free_clock_job(&job);
    }
}

/* All clocks are shifted by the same amount: all results shift, and nothing else changes. */
TEST(a_common_shift_goes_through) {
    const int64_t shift = INT64_C(123456789012345);
    clock_job job = make_clock_job(&usual_plan);
    tm_clock_fit before = fit_clock_job(&job);
    for (int h = 0; h < usual_plan.hosts; h++)
        job.domains[h].middle_ns += shift;
    for (size_t i = 0; i < job.n; i++) {
        job.ends[i].begin_max_ns += shift;
        job.ends[i].end_min_ns += shift;
        job.ends[i].end_ns += shift;
    }
    tm_clock_fit after = fit_clock_job(&job);
    for (int h = 0; h < usual_plan.hosts; h++) {
        assert_true(after.models[h].offset_ns == before.models[h].offset_ns);
        assert_true(after.models[h].drift_ppb == before.models[h].drift_ppb);
    }
    tm_clock_fit_free(&before);
    tm_clock_fit_free(&after);
    free_clock_job(&job);
}

/* Asserts that uncertainties equal the dense matrix's or exceed them by at most a share @p more. */
static void compare_uncertainties(const tm_clock_model *dense, const tm_clock_model *network,
                                  double more) {
    const double *a = &dense->begin_uncertainty_ns, *b = &network->begin_uncertainty_ns;
    for (int i = 0; i < 3; i++)
        if (!(b[i] >= a[i] * (1.0 - 1e-6) && b[i] <= a[i] * (1.0 + more)))
            fail_msg("%.6f ns, by the dense matrix %.6f ns", b[i], a[i]);
}

/* The dense matrix is the reference. If no two events share a bin, the network has the same matrix.
 * With 32 hosts, each of 1000 events gets a bin for uncertainties; the two plans with 40 events a
 * step have 1926, so some share bins. There are no biases, which would dominate uncertainties. */
TEST(a_network_gives_what_the_dense_matrix_does) {
    clock_plan plans[9];
    for (size_t i = 0; i < COUNT(plans); i++)
        plans[i] = usual_plan;
    plans[1].world = false;
    plans[2].world = false;
    plans[2].buffered = true;
    plans[3].late = 0.15;
    plans[3].mismatched = 0.075;
    plans[4].stages = plans[5].stages = plans[6].stages = plans[8].stages = 2;
    plans[4].per_step = plans[5].per_step = 6;
    plans[4].late = 0.05;
    plans[5].offset_ns = 200e3; /* clocks good enough that drifts are taken as 0 */
    plans[5].drift_ppb = 0.5;
    plans[6].per_step = plans[8].per_step = 40;
    plans[7].hosts = 144; /* groups of twelve hosts form chains of twelve; no group has all ranks */
    plans[7].stages = 12;
    plans[7].host_ranks = plans[7].pairs = 1;
    plans[7].world = false;
    plans[8].late = 0.05;
    for (size_t i = 0; i < (in_full_set() ? 9 : 8); i++) {
        plans[i].bias_ns = plans[i].gpu_ns = 0.0;
        clock_job job = make_clock_job(&plans[i]);
        tm_clock_fit dense = fit_clock_job(&job);
        job.plan.dense_most = 1;
        tm_clock_fit network = fit_clock_job(&job);
        bool shared = plans[i].per_step == 40;
        assert_int_equal(dense.n_suspect, network.n_suspect);
        assert_int_equal(dense.n_components, network.n_components);
        for (int h = 0; h < plans[i].hosts; h++) {
            const tm_clock_model *a = dense.models + h, *b = network.models + h;
            assert_true(llabs(a->offset_ns - b->offset_ns) <= (shared ? 5 : 1));
            assert_true(fabs(a->drift_ppb - b->drift_ppb) <= (shared ? 1.0 : 1e-5));
            assert_int_equal(a->anchors, b->anchors);
            compare_uncertainties(a, b, shared ? 0.1 : 1e-6);
        }
        tm_clock_fit_free(&dense);
        tm_clock_fit_free(&network);
        free_clock_job(&job);
    }
}

TEST(two_thousand_ranks_are_found_within_their_limits) {
    clock_plan plan = usual_plan;
    plan.hosts = 256;
    plan.per_step = 6;
    clock_job job = make_clock_job(&plan);
    tm_clock_fit fit = fit_clock_job(&job);
    clock_error error = clock_job_error(&job, &fit, 0, plan.hosts);
    assert_true(worst_of(&error) <= 10e3);
    assert_true(error.covered >= 0.95);
    assert_int_equal(fit.check.after_over, 0);
    tm_clock_fit_free(&fit);
    free_clock_job(&job);
}

RUN_TESTS()

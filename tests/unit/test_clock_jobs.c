/* Clock fits of simulated jobs, against the clocks that were simulated. */
#include "clock_jobs.h"

#include <pthread.h>
#include <time.h>

/* 32 hosts of 8 ranks in four stages, a window of 3 s; the last host is 1.5 ms late throughout. */
static const clock_plan usual = {.seed = 1,
                                 .hosts = 32,
                                 .host_ranks = 8,
                                 .stages = 4,
                                 .steps = 3,
                                 .per_step = 20,
                                 .world = true,
                                 .pairs = 6,
                                 .offset_ns = 5e6,
                                 .drift_ppb = 20000.0,
                                 .gpu_ns = 3000.0,
                                 .bias_ns = 8000.0,
                                 .noise_ns = 2000.0,
                                 .noise_share = 0.002};

enum { SEEDS = 3 };

/* Fits the plan with several seeds, and holds each to the limits. Returns the least before. */
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

static void biased_ends_leave_at_most_ten_microseconds(void **state) {
    hold(usual, 10e3, true);
}

static void unbiased_ends_leave_at_most_one_microsecond(void **state) {
    clock_plan plan = usual;
    plan.bias_ns = plan.gpu_ns = 0.0;
    hold(plan, 1e3, true);
}

static void clocks_seconds_apart_are_no_harder(void **state) {
    clock_plan plan = usual;
    plan.offset_ns = 5e9;
    plan.wall_ns = 5e6;
    hold(plan, 10e3, true);
}

static void late_ends_and_wrong_matches_do_no_harm(void **state) {
    clock_plan plan = usual;
    plan.late = 0.15;
    plan.mismatched = 0.075;
    hold(plan, 10e3, false);
}

static void pairs_link_the_stages_where_no_group_does(void **state) {
    clock_plan plan = usual;
    plan.world = false;
    hold(plan, 10e3, true);
}

/* Profilers keep clocks to 2 ppm, and these drift by up to 50. Few hosts and pairs tell. */
static void drift_beyond_what_is_usual_is_followed(void **state) {
    clock_plan plan = usual;
    plan.hosts = 16;
    plan.pairs = 1;
    plan.world = false;
    plan.drift_ppb = 50000.0;
    plan.steady_ppb = 2000.0;
    hold(plan, 10e3, true);
}

static void good_clocks_are_not_made_worse(void **state) {
    clock_plan plan = usual;
    plan.offset_ns = 200e3;
    plan.drift_ppb = 500.0;
    hold(plan, 10e3, true);
}

/* Ends as noisy as 3 % of the transfer: 180 us in one class, 3 us in others. */
static void classes_weigh_by_their_own_noise(void **state) {
    clock_plan plan = usual;
    plan.noise_share = 0.03;
    hold(plan, 10e3, true);
}

/* What messages arrive with, 20 to 50 us, is all that ties the stages; so they are known to half of
 * that, and to what four unknown common drifts allow. Inside a stage nothing is lost. */
static void buffered_messages_tie_the_stages(void **state) {
    clock_plan plan = usual;
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
            /* but the main stage, whose clocks the others are tied to */
            assert_true(stage == 0 || fit.models[first].uncertainty_ns > 20e3);
        }
        tm_clock_fit_free(&fit);
        free_clock_job(&job);
    }
}

/* Stages without pairs and world: what links them is the wall clock alone. */
static void unlinked_groups_are_components_of_their_own(void **state) {
    clock_plan plan = usual;
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

/* True offsets against the reference's, which the interval supposes to be true, lie within it: but
 * for GPUs' errors, of which two can add up, and for the drift's. */
static void guaranteed_intervals_hold_the_truth(void **state) {
    clock_plan plan = usual;
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
    /* The 8 of the stage whose short collectives the reference is in. */
    assert_true(n_narrow >= 8);
    tm_clock_fit_free(&fit);
    free_clock_job(&job);
}

/* In the middle of three seconds; in jobs of few hosts of one second and 16 collectives. */
static void a_clock_that_was_set_is_found(void **state) {
    static const struct {
        int hosts;
        double set_ns;
    } cases[] = {{32, 5e6}, {32, -300e3}, {32, 100e3}, {32, 0.5e9}, {32, 30e9}, {32, -30e9},
                 {4, 5e6},  {4, 0.5e9},   {4, 20e9},   {4, -20e9},  {3, 0.5e9}, {3, 20e9},
                 {3, -5e6}, {3, -20e9},   {2, 5e6},    {2, 0.5e9},  {2, 20e9},  {2, -20e9}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        clock_plan plan = usual;
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
        /* Of two clocks either may have been set, forward or back. */
        for (int h = 0; h < plan.hosts; h++)
            assert_int_equal(fit.models[h].step_ns != 0, plan.hosts == 2 || h == plan.set_host);
        const tm_clock_model *model = fit.models + plan.set_host;
        /* The clock showed two times then; of two clocks the other may have, so it is between. */
        double middle = (double)job.domains[0].middle_ns + job.offset_ns[0];
        double at = (double)model->step_at_ns - (middle - job.offset_ns[plan.set_host]);
        double error = fmin(fabs(at), fabs(at - plan.set_ns));
        assert_true(plan.hosts == 2 || error <= (double)job.domains[0].length_ns / 16.0);
        assert_true((double)model->step_ns / plan.set_ns > 0.5);
        assert_true((double)model->step_ns / plan.set_ns < 1.1);
        assert_true(model->uncertainty_ns >= (double)llabs(model->step_ns));
        /* The others do not suffer from it: the other stages, or the other hosts. */
        clock_error others =
            clock_job_error(&job, &fit, few ? 0 : 8, few ? plan.set_host : plan.hosts);
        assert_true(worst_of(&others) <= (few ? 20e3 : 10e3));
        tm_clock_fit_free(&fit);
        free_clock_job(&job);
    }
}

/* Processes as threads, which meet in each reduction. */
typedef struct meeting {
    pthread_mutex_t mutex;
    pthread_cond_t all_here;
    int n, here;
    uint64_t round;
    size_t count;
    bool maximum, torn; /* torn: not all asked for the same */
    int64_t *values;    /* [count] */
    tm_vec gathered;    /* by so many of this round: */
    int n_gathered;
} meeting;

static void combine(meeting *met, const int64_t *values, bool first) {
    for (size_t i = 0; i < met->count; i++) {
        if (first)
            met->values[i] = values[i];
        else if (met->maximum)
            met->values[i] = values[i] > met->values[i] ? values[i] : met->values[i];
        else
            met->values[i] += values[i];
    }
}

static tm_status meet(meeting *met, int64_t *values, size_t n, bool maximum) {
    pthread_mutex_lock(&met->mutex);
    uint64_t round = met->round;
    bool first = met->here++ == 0;
    if (first) {
        met->count = n;
        met->maximum = maximum;
        met->values = realloc(met->values, (n + 1) * sizeof *met->values);
    }
    met->torn = met->torn || met->count != n || met->maximum != maximum || !met->values;
    if (!met->torn)
        combine(met, values, first);
    if (met->here == met->n) {
        met->here = 0;
        met->round++;
        pthread_cond_broadcast(&met->all_here);
    }
    while (met->round == round)
        pthread_cond_wait(&met->all_here, &met->mutex);
    bool torn = met->torn;
    pthread_mutex_unlock(&met->mutex);
    return torn ? TM_ERR_FAULT : TM_OK;
}

/* The values are those of the round that has just ended: the next cannot end before all have
 * called, but may begin; so a second meeting keeps them until everybody has read. */
static tm_status meet_and_read(void *context, int64_t *values, size_t n, bool maximum) {
    meeting *met = context;
    int64_t nothing = 0;
    tm_status status = meet(met, values, n, maximum);
    if (status == TM_OK)
        memcpy(values, met->values, n * sizeof *values);
    return status == TM_OK ? meet(met + 1, &nothing, 1, false) : status;
}

static tm_status sum_all(void *context, int64_t *values, size_t n, tm_error *err) {
    (void)err;
    return meet_and_read(context, values, n, false);
}

static tm_status max_all(void *context, int64_t *values, size_t n, tm_error *err) {
    (void)err;
    return meet_and_read(context, values, n, true);
}

/* The first of a round drops what the last one left. */
static tm_status gather_all(void *context, const tm_vec *own, tm_vec *all, tm_error *err) {
    meeting *met = context;
    int64_t nothing = 0;
    pthread_mutex_lock(&met->mutex);
    if (met->n_gathered == met->n) {
        tm_vec_free(&met->gathered);
        met->n_gathered = 0;
    }
    met->n_gathered++;
    met->gathered.size = own->size;
    bool ok = tm_vec_append(&met->gathered, own->data, own->n);
    pthread_mutex_unlock(&met->mutex);
    tm_status status = meet(met, &nothing, 1, false);
    ok = ok && tm_vec_append(all, met->gathered.data, met->gathered.n);
    TM_TRY(meet(met + 1, &nothing, 1, false));
    return ok ? status : tm_fail_memory(err);
}

typedef struct process {
    pthread_t thread;
    tm_clock_input input;
    tm_clock_reducer reducer;
    tm_clock_fit fit;
    tm_status status;
} process;

static void *run_process(void *argument) {
    process *p = argument;
    tm_error err;
    p->status = tm_clock_fit_all(&p->input, &p->reducer, &p->fit, &err);
    return NULL;
}

/* Which of [n] processes has an event; the last has none if @p bare. */
static size_t owner_of(uint64_t event, size_t n, bool bare) {
    return (size_t)(event * UINT64_C(0x9e3779b97f4a7c15) >> 40) % (bare ? n - 1 : n);
}

/* Gives each process its events, backwards on odd ones, and remembers where each row went. */
static void share_rows(const clock_job *job, process *processes, size_t n, size_t *place) {
    tm_clock_end *shares[8];
    for (size_t p = 0; p < n; p++) {
        shares[p] = calloc(job->n + 1, sizeof **shares);
        assert_non_null(shares[p]);
        processes[p].input = (tm_clock_input){.ends = shares[p],
                                              .domains = job->domains,
                                              .n_domains = job->plan.hosts,
                                              .n_classes = CLOCK_JOB_CLASSES,
                                              .dense_most = job->plan.dense_most};
    }
    for (int backwards = 0; backwards < 2; backwards++) {
        for (size_t k = 0, m; k < job->n; k += m) {
            size_t first = k;
            for (m = 1; k + m < job->n && job->ends[k + m].event == job->ends[k].event; m++)
                ;
            if (backwards) { /* the event that ends where k mirrors */
                size_t end = job->n - k;
                for (m = 1; m < end && job->ends[end - m - 1].event == job->ends[end - 1].event;)
                    m++;
                first = end - m;
            }
            size_t p = owner_of(job->ends[first].event, n, n == 5);
            if ((p % 2 == 1) != (backwards == 1))
                continue;
            for (size_t i = first; i < first + m; i++) {
                place[i] = processes[p].input.n_ends;
                shares[p][processes[p].input.n_ends++] = job->ends[i];
            }
        }
    }
}

static void assert_same_fit(const clock_job *job, const process *processes, size_t n,
                            const tm_clock_fit *whole, const size_t *place) {
    for (size_t p = 0; p < n; p++) {
        const tm_clock_fit *fit = &processes[p].fit;
        assert_int_equal(processes[p].status, TM_OK);
        for (int h = 0; h < whole->n_domains; h++) {
            const tm_clock_model *a = whole->models + h, *b = fit->models + h;
            assert_true(a->offset_ns == b->offset_ns && a->low_ns == b->low_ns);
            assert_true(a->high_ns == b->high_ns && a->bounded == b->bounded);
            assert_true(a->anchors == b->anchors && a->step_ns == b->step_ns);
            assert_memory_equal(&a->drift_ppb, &b->drift_ppb, sizeof a->drift_ppb);
            assert_memory_equal(&a->begin_uncertainty_ns, &b->begin_uncertainty_ns,
                                3 * sizeof a->begin_uncertainty_ns);
        }
        assert_memory_equal(whole->noise_ns, fit->noise_ns,
                            CLOCK_JOB_CLASSES * sizeof *fit->noise_ns);
        assert_memory_equal(&whole->check, &fit->check, sizeof fit->check);
        assert_int_equal(whole->n_suspect, fit->n_suspect);
        assert_int_equal(whole->n_iterations, fit->n_iterations);
    }
    for (size_t i = 0; i < job->n; i++) {
        const process *p = &processes[owner_of(job->ends[i].event, n, n == 5)];
        assert_int_equal(p->fit.suspect[place[i]], whole->suspect[i]);
    }
}

static void compare_with_processes(const clock_job *job, const tm_clock_fit *whole, size_t n) {
    process processes[8] = {0};
    meeting met[2] = {{.n = (int)n}, {.n = (int)n}};
    size_t *place = calloc(job->n, sizeof *place);
    assert_non_null(place);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&met[i].mutex, NULL);
        pthread_cond_init(&met[i].all_here, NULL);
    }
    share_rows(job, processes, n, place);
    for (size_t p = 0; p < n; p++) {
        processes[p].reducer = (tm_clock_reducer){
            .context = met, .sum = sum_all, .max = max_all, .gather = gather_all};
        assert_int_equal(pthread_create(&processes[p].thread, NULL, run_process, &processes[p]), 0);
    }
    for (size_t p = 0; p < n; p++)
        pthread_join(processes[p].thread, NULL);
    assert_same_fit(job, processes, n, whole, place);
    for (size_t p = 0; p < n; p++) {
        tm_clock_fit_free(&processes[p].fit);
        free((void *)(uintptr_t)processes[p].input.ends);
    }
    for (int i = 0; i < 2; i++) {
        pthread_mutex_destroy(&met[i].mutex);
        pthread_cond_destroy(&met[i].all_here);
        free(met[i].values);
        tm_vec_free(&met[i].gathered);
    }
    free(place);
}

/* Plain, with everything that can go wrong, and with components that are tied; then as a network of
 * groups of few, of groups of many, and of more events than it has bins. */
static void any_number_of_processes_gives_the_same_bits(void **state) {
    clock_plan plans[] = {usual, usual, usual, usual, usual, usual};
    plans[1].late = 0.15;
    plans[1].mismatched = 0.075;
    plans[1].set_host = 9;
    plans[1].set_ns = 400e3;
    plans[2].world = false;
    plans[2].buffered = true;
    for (size_t i = 3; i < COUNT(plans); i++)
        plans[i].dense_most = 1;
    plans[3].late = 0.15;
    plans[4].stages = 2;
    plans[4].per_step = 6;
    plans[5].stages = 2;
    for (size_t i = 0; i < COUNT(plans); i++) {
        clock_job job = make_clock_job(&plans[i]);
        tm_clock_fit whole = fit_clock_job(&job);
        for (size_t n = 2; n <= 5; n += n == 3 ? 2 : 1)
            compare_with_processes(&job, &whole, n);
        tm_clock_fit_free(&whole);
        free_clock_job(&job);
    }
}

/* All clocks shifted alike: so is everything, and nothing else changes. */
static void a_common_shift_goes_through(void **state) {
    const int64_t shift = INT64_C(123456789012345);
    clock_job job = make_clock_job(&usual);
    tm_clock_fit before = fit_clock_job(&job);
    for (int h = 0; h < usual.hosts; h++)
        job.domains[h].middle_ns += shift;
    for (size_t i = 0; i < job.n; i++) {
        job.ends[i].begin_max_ns += shift;
        job.ends[i].end_min_ns += shift;
        job.ends[i].end_ns += shift;
    }
    tm_clock_fit after = fit_clock_job(&job);
    for (int h = 0; h < usual.hosts; h++) {
        assert_true(after.models[h].offset_ns == before.models[h].offset_ns);
        assert_true(after.models[h].drift_ppb == before.models[h].drift_ppb);
    }
    tm_clock_fit_free(&before);
    tm_clock_fit_free(&after);
    free_clock_job(&job);
}

/* Uncertainties at begin, middle and end: those of the dense matrix, or by a share more. */
static void compare_uncertainties(const tm_clock_model *dense, const tm_clock_model *network,
                                  double more) {
    const double *a = &dense->begin_uncertainty_ns, *b = &network->begin_uncertainty_ns;
    for (int i = 0; i < 3; i++)
        if (!(b[i] >= a[i] * (1.0 - 1e-6) && b[i] <= a[i] * (1.0 + more)))
            fail_msg("%.6f ns, by the dense matrix %.6f ns", b[i], a[i]);
}

/* The dense matrix is the yardstick: where no events share a bin, the network is the same matrix.
 * Of 32 hosts each of 1000 events of many has a bin when uncertainties are worked out; the two
 * plans of 40 a step have 1926. No biases, for uncertainties would be theirs. */
static void a_network_gives_what_the_dense_matrix_does(void **state) {
    clock_plan plans[] = {usual, usual, usual, usual, usual, usual, usual, usual, usual};
    plans[1].world = false;
    plans[2].world = false;
    plans[2].buffered = true;
    plans[3].late = 0.15;
    plans[3].mismatched = 0.075;
    plans[4].stages = plans[5].stages = plans[6].stages = plans[7].stages = 2;
    plans[4].per_step = 6;
    plans[4].late = 0.05;
    plans[5].per_step = 6;
    plans[5].offset_ns = 200e3; /* clocks so good that drifts are taken for 0 */
    plans[5].drift_ppb = 0.5;
    plans[6].per_step = plans[7].per_step = 40;
    plans[7].late = 0.05;
    plans[8].hosts = 144; /* chains of twelve through groups of twelve, without all ranks */
    plans[8].stages = 12;
    plans[8].host_ranks = plans[8].pairs = 1;
    plans[8].world = false;
    for (size_t i = 0; i < COUNT(plans); i++) {
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

static void two_thousand_ranks_take_seconds_at_most(void **state) {
    clock_plan plan = usual;
    struct timespec begin, end;
    plan.hosts = 256;
    plan.per_step = 6;
    clock_job job = make_clock_job(&plan);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    tm_clock_fit fit = fit_clock_job(&job);
    clock_gettime(CLOCK_MONOTONIC, &end);
    clock_error error = clock_job_error(&job, &fit, 0, plan.hosts);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    print_message("256 hosts, %zu rows: %.2f s, worst %.1f us\n", job.n, seconds,
                  worst_of(&error) / 1e3);
    assert_true(worst_of(&error) <= 10e3);
    assert_true(error.covered >= 0.95);
    assert_int_equal(fit.check.after_over, 0);
    tm_clock_fit_free(&fit);
    free_clock_job(&job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(biased_ends_leave_at_most_ten_microseconds),
        cmocka_unit_test(unbiased_ends_leave_at_most_one_microsecond),
        cmocka_unit_test(clocks_seconds_apart_are_no_harder),
        cmocka_unit_test(late_ends_and_wrong_matches_do_no_harm),
        cmocka_unit_test(pairs_link_the_stages_where_no_group_does),
        cmocka_unit_test(drift_beyond_what_is_usual_is_followed),
        cmocka_unit_test(good_clocks_are_not_made_worse),
        cmocka_unit_test(classes_weigh_by_their_own_noise),
        cmocka_unit_test(buffered_messages_tie_the_stages),
        cmocka_unit_test(unlinked_groups_are_components_of_their_own),
        cmocka_unit_test(guaranteed_intervals_hold_the_truth),
        cmocka_unit_test(a_clock_that_was_set_is_found),
        cmocka_unit_test(any_number_of_processes_gives_the_same_bits),
        cmocka_unit_test(a_common_shift_goes_through),
        cmocka_unit_test(a_network_gives_what_the_dense_matrix_does),
        cmocka_unit_test(two_thousand_ranks_take_seconds_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

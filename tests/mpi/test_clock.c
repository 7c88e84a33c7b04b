/* Clock fits of several processes, each with a part of the events, have the same bits as the fit of
 * one process with all events. */
#include "clock_jobs.h"
#include "mpi/exchange/shuffle.h"
#include "mpi_main.h"

static tm_status sum_all(void *context, int64_t *values, size_t n, tm_error *err) {
    MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return TM_OK;
}

static tm_status max_all(void *context, int64_t *values, size_t n, tm_error *err) {
    MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return TM_OK;
}

static tm_status gather_all(void *context, const tm_vec *own, tm_vec *all, tm_error *err) {
    return tm_mpi_everywhere(MPI_COMM_WORLD, own, all, err);
}

static const tm_clock_reducer reducer = {.sum = sum_all, .max = max_all, .gather = gather_all};

/* Returns whether this process has an event. If @p bare, the last process of several has none. */
static bool is_own(uint64_t event, bool bare) {
    int n = all_processes(), n_owners = bare && n > 1 ? n - 1 : n;
    return (int)((event * UINT64_C(0x9e3779b97f4a7c15) >> 40) % (uint64_t)n_owners) ==
           this_process();
}

/* Copies this process's rows to @p own, last event first. Job row i becomes own[place[i]]. */
static size_t take_rows(const clock_job *job, bool bare, tm_clock_end *own, size_t *place) {
    size_t n = 0;
    for (size_t end = job->n, first; end > 0; end = first) {
        for (first = end - 1; first > 0 && job->ends[first - 1].event == job->ends[end - 1].event;)
            first--;
        for (size_t i = first; i < end && is_own(job->ends[i].event, bare); i++) {
            place[i] = n;
            own[n++] = job->ends[i];
        }
    }
    return n;
}

static void assert_same_fit(const tm_clock_fit *fit, const tm_clock_fit *whole) {
    for (int h = 0; h < whole->n_domains; h++) {
        const tm_clock_model *a = whole->models + h, *b = fit->models + h;
        assert_true(a->offset_ns == b->offset_ns && a->low_ns == b->low_ns);
        assert_true(a->high_ns == b->high_ns && a->bounded == b->bounded);
        assert_true(a->anchors == b->anchors && a->step_ns == b->step_ns);
        assert_memory_equal(&a->drift_ppb, &b->drift_ppb, sizeof a->drift_ppb);
        assert_memory_equal(&a->begin_uncertainty_ns, &b->begin_uncertainty_ns,
                            3 * sizeof a->begin_uncertainty_ns);
    }
    assert_memory_equal(whole->noise_ns, fit->noise_ns, CLOCK_JOB_CLASSES * sizeof *fit->noise_ns);
    assert_memory_equal(&whole->check, &fit->check, sizeof fit->check);
    assert_int_equal(whole->n_suspect, fit->n_suspect);
    assert_int_equal(whole->n_iterations, fit->n_iterations);
}

static void compare_with_whole(const clock_plan *plan, bool bare) {
    clock_job job = make_clock_job(plan);
    tm_clock_fit whole = fit_clock_job(&job), fit;
    size_t *place = calloc(job.n, sizeof *place);
    tm_clock_end *own = calloc(job.n, sizeof *own);
    assert_true(place && own);
    tm_clock_input input = clock_job_input(&job);
    tm_error err;
    input.ends = own;
    input.n_ends = take_rows(&job, bare, own, place);
    assert_int_equal(tm_clock_fit_all(&input, &reducer, &fit, &err), TM_OK);
    assert_same_fit(&fit, &whole);
    for (size_t i = 0; i < job.n; i++)
        if (is_own(job.ends[i].event, bare))
            assert_int_equal(fit.suspect[place[i]], whole.suspect[i]);
    tm_clock_fit_free(&fit);
    tm_clock_fit_free(&whole);
    free(own);
    free(place);
    free_clock_job(&job);
}

/* The first three jobs have all kinds of faults, a network of many groups, and several connected
 * components. The full set also has networks with more events than bins, networks with few groups,
 * and jobs without faults. */
TEST(any_number_of_processes_gives_the_same_bits) {
    clock_plan plans[6];
    for (size_t i = 0; i < COUNT(plans); i++) {
        plans[i] = usual_plan;
        plans[i].dense_most = i % 2; /* 1: the fit uses a network instead of dense equations */
    }
    plans[0].late = plans[5].late = 0.15;
    plans[0].mismatched = 0.075;
    plans[0].set_host = 9;
    plans[0].set_ns = 400e3;
    plans[1].stages = plans[3].stages = 2;
    plans[2].world = false;
    plans[2].buffered = true;
    plans[1].per_step = 6;
    for (size_t i = 0; i < (in_full_set() ? COUNT(plans) : 3); i++)
        compare_with_whole(&plans[i], i % 2 == 1);
}

RUN_MPI_TESTS(NULL, NULL)

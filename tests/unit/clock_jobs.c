#include "clock_jobs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Middle of the window: true time since the epoch, as in traces. */
#define MIDDLE_NS INT64_C(1700000000000000000)
#define SECOND_NS 1e9

const clock_plan usual_plan = {.seed = 1,
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

/* splitmix64 by Sebastiano Vigna */
static uint64_t next_random(uint64_t *random) {
    uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Returns a uniform number in [0, 1). */
static double next_even(uint64_t *random) {
    return (double)(next_random(random) >> 11) * 0x1p-53;
}

static double either_way(uint64_t *random, double most) {
    return (2.0 * next_even(random) - 1.0) * most;
}

/* Returns a sum of twelve uniform numbers, which is nearly normal, with variance 1. */
static double next_normal(uint64_t *random) {
    double sum = -6.0;
    for (int i = 0; i < 12; i++)
        sum += next_even(random);
    return sum;
}

static double next_exponential(uint64_t *random, double mean) {
    return -mean * log(1.0 - next_even(random));
}

/* Returns the time that a host records at a true time. 0 is the middle of the window. */
static int64_t recorded(const clock_job *job, int host, double true_ns) {
    double since = true_ns / (1.0 + job->drift[host]);
    bool set = job->plan.set_ns != 0.0 && host == job->plan.set_host && true_ns >= 0.0;
    return MIDDLE_NS - (int64_t)job->offset_ns[host] +
           llround(since + (set ? job->plan.set_ns : 0.0));
}

/* One rank's part of an event. Times are true, relative to the middle of the window. */
typedef struct part {
    int rank; /* ascending within an event */
    double begin, end;
} part;

static int by_time(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static tm_clock_end *add_row(clock_job *job) {
    if (job->n == job->cap) {
        job->cap = 2 * job->cap + 1024;
        job->ends = realloc(job->ends, job->cap * sizeof *job->ends);
        assert_non_null(job->ends);
    }
    return memset(&job->ends[job->n++], 0, sizeof *job->ends);
}

/* Adds a row for the host of the first of [n] parts. Returns how many parts are on this host. */
static size_t add_host(clock_job *job, const part *parts, size_t n, const tm_clock_end *like) {
    int host = parts->rank / job->plan.host_ranks;
    int64_t ends[64];
    size_t m = 0;
    tm_clock_end *row = add_row(job);
    *row = *like;
    row->domain = host;
    row->begin_max_ns = INT64_MIN;
    for (; m < n && parts[m].rank / job->plan.host_ranks == host; m++) {
        int64_t error = llround(job->gpu_ns[parts[m].rank]);
        int64_t begin = recorded(job, host, parts[m].begin) + error;
        row->begin_max_ns = begin > row->begin_max_ns ? begin : row->begin_max_ns;
        ends[m] = recorded(job, host, parts[m].end) + error;
    }
    qsort(ends, m, sizeof *ends, by_time);
    row->end_min_ns = ends[0];
    row->end_ns = ends[(m - 1) / 2];
    row->n_ranks = (int32_t)m;
    return m;
}

static void add_event(clock_job *job, const part *parts, size_t n, tm_clock_end like) {
    like.event = job->n_events++;
    for (size_t i = 0; i < n;)
        i += add_host(job, parts + i, n - i, &like);
}

/* Shifts the times of one host of the event, as if its record were of another operation. */
static void mismatch(clock_job *job, part *parts, size_t n) {
    int host = parts[next_random(&job->random) % n].rank / job->plan.host_ranks;
    double shift = 3e6 + 10e6 * next_even(&job->random);
    shift = next_random(&job->random) % 2 ? shift : -shift;
    for (size_t i = 0; i < n; i++) {
        if (parts[i].rank / job->plan.host_ranks != host)
            continue;
        parts[i].begin += shift;
        parts[i].end += shift;
    }
}

/* Returns a bias that is always the same for a given host and group. */
static double bias_of(const clock_job *job, uint64_t group, int host) {
    uint64_t random = job->plan.seed * 1000003 + group * 8191 + (uint64_t)host;
    next_random(&random);
    return next_even(&random) * job->plan.bias_ns;
}

/* Adds a collective in which [n] ranks wait for the last. The last host is always late. */
static void add_collective(clock_job *job, part *parts, size_t n, double at, double transfer,
                           tm_clock_end like) {
    const clock_plan *plan = &job->plan;
    double last = -1e18;
    for (size_t i = 0; i < n; i++) {
        int host = parts[i].rank / plan->host_ranks;
        parts[i].begin =
            at + next_exponential(&job->random, 300e3) + (host == plan->hosts - 1 ? 1.5e6 : 0.0);
        last = parts[i].begin > last ? parts[i].begin : last;
    }
    for (size_t i = 0; i < n; i++) {
        double noise = plan->noise_ns + plan->noise_share * transfer;
        parts[i].end =
            last + transfer + noise * next_normal(&job->random) +
            bias_of(job, like.stratum + 16U * like.noise_class, parts[i].rank / plan->host_ranks);
        if (next_even(&job->random) < plan->late)
            parts[i].end += next_exponential(&job->random, 500e3);
    }
    if (next_even(&job->random) < plan->mismatched)
        mismatch(job, parts, n);
    add_event(job, parts, n, like);
}

static void add_groups(clock_job *job, double at, part *parts) {
    static const double transfers[] = {25e3, 400e3, 6e6};
    const clock_plan *plan = &job->plan;
    int stage_hosts = plan->hosts / plan->stages;
    for (int group = 0; group < plan->stages * plan->host_ranks; group++) {
        int stage = group / plan->host_ranks, place = group % plan->host_ranks;
        for (int k = 0; k < plan->per_step && stage_hosts > 1; k++) {
            for (int i = 0; i < stage_hosts; i++)
                parts[i].rank = (stage * stage_hosts + i) * plan->host_ranks + place;
            tm_clock_end like = {.noise_class = (uint16_t)(k % 3),
                                 .flags = TM_CLOCK_FULL,
                                 .stratum = (uint8_t)(group % 14)};
            add_collective(job, parts, (size_t)stage_hosts,
                           at + (k + next_even(&job->random)) / plan->per_step * 0.98 * SECOND_NS,
                           transfers[k % 3], like);
        }
    }
}

/* Adds a message that fits a buffer: the send ends at once, and the receive ends after it. */
static void add_message(clock_job *job, int from, int to, double at) {
    double sent = at + next_exponential(&job->random, 200e3);
    double asked = at + next_exponential(&job->random, 200e3);
    double came = sent + 20e3 + next_exponential(&job->random, 8e3);
    part parts[2] = {{from, sent, sent + 15e3}, {to, asked, (asked > came ? asked : came) + 4e3}};
    bool up = from < to;
    tm_clock_end like = {.noise_class = 4, .stratum = 14};
    add_event(job, parts + !up, 1, like);
    job->n_events--;
    job->ends[job->n - 1].flags = up ? TM_CLOCK_GIVES : TM_CLOCK_TAKES;
    add_event(job, parts + up, 1, like);
    job->ends[job->n - 1].flags = up ? TM_CLOCK_TAKES : TM_CLOCK_GIVES;
}

static void add_pairs(clock_job *job, double at, part *parts) {
    const clock_plan *plan = &job->plan;
    int stage_ranks = plan->hosts / plan->stages * plan->host_ranks;
    for (int rank = 0; rank + stage_ranks < plan->hosts * plan->host_ranks; rank++) {
        for (int k = 0; k < plan->pairs; k++) {
            double when = at + (k + next_even(&job->random)) / plan->pairs * 0.98 * SECOND_NS;
            tm_clock_end like = {.noise_class = 3, .flags = TM_CLOCK_FULL, .stratum = 14};
            int other = rank + stage_ranks;
            if (plan->buffered) {
                add_message(job, k % 2 ? rank : other, k % 2 ? other : rank, when);
                continue;
            }
            parts[0].rank = rank;
            parts[1].rank = other;
            add_collective(job, parts, 2, when, 1e6, like);
        }
    }
}

static void add_step(clock_job *job, double at) {
    const clock_plan *plan = &job->plan;
    size_t ranks = (size_t)plan->hosts * (size_t)plan->host_ranks;
    part *parts = calloc(ranks + 2, sizeof *parts);
    assert_non_null(parts);
    add_groups(job, at, parts);
    add_pairs(job, at, parts);
    for (int k = 0; k < 2 && plan->world; k++) {
        tm_clock_end like = {.noise_class = 5, .flags = TM_CLOCK_FULL, .stratum = 15};
        for (size_t i = 0; i < ranks; i++)
            parts[i].rank = (int)i;
        add_collective(job, parts, ranks, at + (0.45 + 0.5 * k) * SECOND_NS, 40e3, like);
    }
    free(parts);
}

/* If a clock is set, its window extends from its first to its last recorded time. */
static void set_window(const clock_plan *plan, tm_clock_domain *domain) {
    double half = (double)domain->length_ns / 2.0;
    double first = fmin(-half, plan->set_ns), last = fmax(0.0, half + plan->set_ns);
    domain->length_ns = llround(last - first);
    domain->middle_ns += llround((first + last) / 2.0);
}

clock_job make_clock_job(const clock_plan *plan) {
    size_t hosts = (size_t)plan->hosts, ranks = hosts * (size_t)plan->host_ranks;
    clock_job job = {.plan = *plan, .random = plan->seed};
    job.domains = calloc(hosts, sizeof *job.domains);
    job.offset_ns = calloc(hosts, sizeof *job.offset_ns);
    job.drift = calloc(hosts, sizeof *job.drift);
    job.gpu_ns = calloc(ranks, sizeof *job.gpu_ns);
    assert_true(job.domains && job.offset_ns && job.drift && job.gpu_ns);
    for (size_t h = 0; h < hosts; h++) {
        int64_t offset = llround(either_way(&job.random, plan->offset_ns));
        job.offset_ns[h] = (double)offset;
        job.drift[h] = either_way(&job.random, plan->drift_ppb) * 1e-9;
        job.domains[h] = (tm_clock_domain){
            .middle_ns = MIDDLE_NS - offset,
            .length_ns = llround(plan->steps * SECOND_NS),
            .wall_ns = plan->wall_ns > 0.0 ? plan->wall_ns : fmax(plan->offset_ns, 1.0),
            .drift_ppb = plan->steady_ppb > 0.0 ? plan->steady_ppb : fmax(plan->drift_ppb, 1.0),
            .gpu_ns = plan->gpu_ns};
    }
    if (plan->set_ns != 0.0)
        set_window(plan, &job.domains[plan->set_host]);
    for (size_t r = 0; r < ranks; r++)
        job.gpu_ns[r] = plan->gpu_ns * next_normal(&job.random);
    for (int step = 0; step < plan->steps; step++)
        add_step(&job, (step - plan->steps / 2.0) * SECOND_NS);
    return job;
}

void free_clock_job(clock_job *job) {
    free(job->ends);
    free(job->domains);
    free(job->offset_ns);
    free(job->drift);
    free(job->gpu_ns);
}

tm_clock_input clock_job_input(const clock_job *job) {
    return (tm_clock_input){.ends = job->ends,
                            .n_ends = job->n,
                            .domains = job->domains,
                            .n_domains = job->plan.hosts,
                            .n_classes = CLOCK_JOB_CLASSES,
                            .dense_most = job->plan.dense_most};
}

tm_clock_fit fit_clock_job(const clock_job *job) {
    tm_clock_input input = clock_job_input(job);
    tm_clock_fit fit;
    tm_error err;
    assert_int_equal(tm_clock_fit_all(&input, &tm_clock_serial, &fit, &err), TM_OK);
    return fit;
}

clock_error clock_job_error(const clock_job *job, const tm_clock_fit *fit, int first, int end) {
    clock_error out = {.covered = 0.0};
    int covered = 0;
    for (int where = 0; where < 3; where++) {
        double at = (where - 1) * job->plan.steps / 2.0 * SECOND_NS, mean = 0.0;
        for (int pass = 0; pass < 2; pass++) {
            for (int h = first; h < end; h++) {
                const tm_clock_model *model = fit->models + h;
                double u = where == 0   ? model->begin_uncertainty_ns
                           : where == 1 ? model->uncertainty_ns
                                        : model->end_uncertainty_ns;
                double off = (double)(tm_clock_true(model, recorded(job, h, at)) - MIDDLE_NS) - at;
                if (pass == 0) {
                    mean += off / (end - first);
                    continue;
                }
                out.worst_ns[where] = fmax(out.worst_ns[where], fabs(off - mean));
                covered += fabs(off - mean) <= 2.0 * u;
            }
        }
    }
    out.covered = covered / (3.0 * (end - first));
    return out;
}

double worst_of(const clock_error *error) {
    return fmax(error->worst_ns[0], fmax(error->worst_ns[1], error->worst_ns[2]));
}

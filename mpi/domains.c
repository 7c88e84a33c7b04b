#include <stdlib.h>
#include <string.h>

#include "aligner.h"
#include "base/median.h"
#include "base/sorted.h"
#include "identity/hosts.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/backoff.h"
#include "mpi/exchange/shuffle.h"
#include "timeline/metadata.h"
#include "timeline/trace.h"

/* Assumed standard deviation of a clock's drift before the fit. torch.profiler ties its
 * times to the system clock at both ends of a recording; other profilers only at its start. */
#define TIED_DRIFT_PPB 2000.0
#define FREE_DRIFT_PPB 20000.0

/* Assumed error of a GPU's clock relative to its host's clock. Used if the host has no second GPU
 * to measure it. */
#define GPU_ERROR_NS 3000.0

void tm_aligner_free(tm_aligner *a) {
    tm_vec_free(&a->facts);
    tm_vec_free(&a->lates);
    free(a->slots);
    free(a->clocks);
    free(a->hosts);
    free(a->domains);
    free(a->leads);
}

static bool says(const tm_timeline *timeline, const char *what) {
    return strstr(tm_timeline_metadata(timeline).bytes, what) != NULL;
}

static bool is_tied(const tm_timeline *timeline) {
    return says(timeline, "\"baseTimeNanoseconds\"") && !says(timeline, "\"roctracer_version\"");
}

/* Returns a name id that is the same for all ranks with the same clock. It is the name of the
 * rank's host, or the name of the rank's file if all ranks in the file have one clock. */
static uint32_t clock_of(const tm_timeline *timeline) {
    bool file = timeline->n_spans > 0 && says(timeline, TM_FILE_CLOCK);
    return file ? timeline->spans->source : timeline->host;
}

static double shortest_lag(const tm_timeline *t) {
    double least = HUGE_VAL;
    for (uint32_t row = 0; row < t->n_events; row++) {
        const uint32_t launch = t->launch[row];
        if (t->role[row] != TM_ROLE_NONE && launch != TM_NO_EVENT && launch != row)
            least = fmin(least, (double)(t->begin_ns[row] - t->begin_ns[launch]));
    }
    return least;
}

static tm_fact fact_of(const tm_timeline *timeline) {
    tm_fact f = {.rank = timeline->rank,
                 .device = timeline->device,
                 .begin_ns = 1,
                 .middle_ns = tm_timeline_middle(timeline),
                 .host = clock_of(timeline),
                 .lag_ns = shortest_lag(timeline),
                 .tied = is_tied(timeline),
                 .own_clock = says(timeline, TM_OWN_CLOCK)};
    (void)tm_timeline_range(timeline, &f.begin_ns, &f.end_ns);
    return f;
}

TM_ORDER_BY(by_rank, tm_fact, rank);

tm_status tm_aligner_gather(tm_aligner *a, tm_error *err) {
    tm_vec own = TM_VEC(tm_fact);
    bool ok = true;
    for (size_t i = 0; i < a->n && ok; i++) {
        tm_fact f = fact_of(&a->timelines[i]);
        ok = tm_vec_append(&own, &f, 1);
    }
    tm_status status = tm_mpi_agree(a->comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(a->comm, &own, &a->facts, err);
    tm_vec_free(&own);
    if (status != TM_OK)
        return status;
    size_t n = a->facts.n;
    if (n > 1)
        qsort(a->facts.data, n, a->facts.size, by_rank);
    a->slots = calloc(n + 1, sizeof *a->slots);
    a->clocks = calloc(n + 1, sizeof *a->clocks);
    a->hosts = calloc(n + 1, sizeof *a->hosts);
    a->domains = calloc(n + 1, sizeof *a->domains);
    a->leads = calloc(a->out->instances.n + 1, sizeof *a->leads);
    ok = a->slots && a->clocks && a->hosts && a->domains && a->leads;
    return tm_mpi_agree(a->comm, ok ? TM_OK : tm_fail_memory(err), err);
}

static tm_status number_hosts(tm_aligner *a, tm_error *err) {
    const tm_fact *facts = a->facts.data;
    tm_host_rank *ranks = calloc(a->facts.n + 1, sizeof *ranks);
    for (size_t i = 0; i < a->facts.n && ranks; i++)
        ranks[i] = (tm_host_rank){facts[i].rank, facts[i].device, facts[i].host, 0};
    tm_status status =
        ranks ? tm_hosts_number(ranks, a->facts.n, &a->n_hosts, err) : tm_fail_memory(err);
    for (size_t i = 0; i < a->facts.n && status == TM_OK; i++)
        a->slots[i] = (tm_clock_slot){facts[i].rank, ranks[i].number, 0};
    free(ranks);
    return status;
}

static int difference_owner(const void *record, int n_processes) {
    return (int)(((const tm_clock_difference *)record)->rank % n_processes);
}

TM_ORDER_BY(by_late_rank, tm_clock_late, rank);

tm_status tm_aligner_compare(tm_aligner *a, const tm_clock_compared *how, tm_error *err) {
    const tm_clock_slots slots = {a->slots, a->facts.n};
    tm_vec own = TM_VEC(tm_clock_difference), here = TM_VEC(tm_clock_difference);
    tm_vec sums = TM_VEC(tm_clock_late);
    tm_vec_free(&a->lates);
    tm_status status = tm_clock_compare(a->out, &slots, how, &own, NULL, err);
    status = tm_mpi_agree(a->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(a->comm, &own, difference_owner, &here, err);
    if (status == TM_OK)
        status = tm_mpi_agree(a->comm, tm_clock_summarise(here.data, here.n, &sums, err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(a->comm, &sums, &a->lates, err);
    if (status == TM_OK && a->lates.n > 1)
        qsort(a->lates.data, a->lates.n, a->lates.size, by_late_rank);
    TM_VECS_FREE(&own, &here, &sums);
    return status;
}

const tm_clock_late *tm_aligner_late(const tm_aligner *a, int64_t rank) {
    tm_clock_late wanted = {.rank = rank};
    return a->lates.n ? bsearch(&wanted, a->lates.data, a->lates.n, sizeof wanted, by_late_rank)
                      : NULL;
}

/* Finds the classes of collectives whose ends differ least between the ranks of a host. */
static tm_status find_quiet(tm_aligner *a, bool classes[TM_CLOCK_CLASSES], tm_error *err) {
    const tm_clock_slots slots = {a->slots, a->facts.n};
    const tm_clock_compared all = {.by_host = true};
    int64_t *counts = calloc((size_t)TM_CLOCK_CLASSES * TM_SPREAD_BINS, sizeof *counts);
    tm_status status =
        counts ? tm_clock_compare(a->out, &slots, &all, NULL, counts, err) : tm_fail_memory(err);
    status = tm_mpi_agree(a->comm, status, err);
    if (status == TM_OK) {
        tm_mpi_reduce(a->comm, counts, TM_CLOCK_CLASSES * TM_SPREAD_BINS, MPI_INT64_T, MPI_SUM);
        tm_clock_quiet(counts, classes);
    }
    free(counts);
    return status;
}

/* Sets *out to the median of spread_ns over the summaries in lates. Returns false when out of
 * memory. */
static bool usual_noise(const tm_aligner *a, double *out) {
    const tm_clock_late *lates = a->lates.data;
    double *spreads = malloc((a->lates.n + 1) * sizeof *spreads);
    for (size_t i = 0; i < a->lates.n && spreads; i++)
        spreads[i] = lates[i].spread_ns;
    if (spreads && a->lates.n > 0)
        *out = tm_select_real(spreads, a->lates.n, a->lates.n / 2);
    bool ok = spreads != NULL;
    free(spreads);
    return ok;
}

/* Returns a summary of the ends of each rank, sorted by host; NULL when out of memory. */
static tm_clock_rank_end *ends_by_host(const tm_aligner *a) {
    const tm_fact *facts = a->facts.data;
    tm_clock_rank_end *ends = malloc((a->facts.n + 1) * sizeof *ends);
    size_t *next = calloc((size_t)a->n_hosts + 1, sizeof *next); /* [n_hosts] where to put the
                                                                    host's next rank */
    for (size_t i = 0; i < a->facts.n && next; i++)
        next[a->slots[i].host + 1]++;
    for (int32_t host = 0; host < a->n_hosts && next; host++)
        next[host + 1] += next[host];
    for (size_t i = 0; i < a->facts.n && ends && next; i++) {
        const tm_clock_late *late = tm_aligner_late(a, a->slots[i].rank);
        int32_t host = a->slots[i].host;
        tm_clock_rank_end *end = &ends[next[host]++];
        *end = (tm_clock_rank_end){.host = host};
        if (late)
            *end = (tm_clock_rank_end){host,          late->n,        late->early_ns,
                                       late->late_ns, late->n_broken, facts[i].lag_ns};
    }
    if (!next) {
        free(ends);
        ends = NULL;
    }
    free(next);
    return ends;
}

/* Finds which ranks share a clock: the ranks of a host, unless their ends of collectives or their
 * traces show different clocks. */
static tm_status split_hosts(tm_aligner *a, tm_error *err) {
    bool classes[TM_CLOCK_CLASSES];
    TM_TRY(find_quiet(a, classes, err));
    const tm_clock_compared quiet = {.by_host = true, .classes = classes};
    TM_TRY(tm_aligner_compare(a, &quiet, err));
    tm_clock_rank_end *ends = ends_by_host(a);
    double noise = 0.0;
    const tm_fact *facts = a->facts.data;
    tm_status status = ends && usual_noise(a, &noise)
                           ? tm_clock_split(ends, a->facts.n, noise, a->hosts, a->n_hosts, err)
                           : tm_fail_memory(err);
    free(ends);
    for (size_t i = 0; i < a->facts.n && status == TM_OK; i++)
        if (facts[i].own_clock)
            a->hosts[a->slots[i].host].shared = false;
    return tm_mpi_agree(a->comm, status, err);
}

static double gpu_error(const tm_clock_host *host) {
    return host->shared && host->spread_ns > 0.0 ? host->spread_ns : GPU_ERROR_NS;
}

/* Numbers the domains in the order of their lowest ranks, and sets what is known of each domain
 * before the fit. */
static tm_status make_domains(tm_aligner *a, tm_error *err) {
    const tm_fact *facts = a->facts.data;
    int32_t *of_host = calloc((size_t)a->n_hosts + 1, sizeof *of_host); /* [n_hosts] 1 + the host's
                                                                           domain; 0: none yet */
    tm_status status = tm_mpi_agree(a->comm, of_host ? TM_OK : tm_fail_memory(err), err);
    for (size_t i = 0; i < a->facts.n && status == TM_OK; i++) {
        tm_clock_slot *slot = &a->slots[i];
        const tm_clock_host *host = &a->hosts[slot->host];
        bool fresh = !host->shared || of_host[slot->host] == 0;
        if (fresh)
            of_host[slot->host] = ++a->n_domains;
        slot->domain = of_host[slot->host] - 1;
        tm_clock_domain *domain = &a->domains[slot->domain];
        double drift = facts[i].tied ? TIED_DRIFT_PPB : FREE_DRIFT_PPB;
        if (fresh) /* in this loop, middle_ns is the domain's first start and length_ns its last end
                    */
            *domain = (tm_clock_domain){.middle_ns = facts[i].begin_ns,
                                        .length_ns = facts[i].end_ns,
                                        .wall_ns = (double)a->options->wall_uncertainty_ns,
                                        .gpu_ns = gpu_error(host)};
        domain->drift_ppb = fmax(domain->drift_ppb, drift);
        if (facts[i].begin_ns > facts[i].end_ns)
            continue;
        bool empty = domain->middle_ns > domain->length_ns;
        if (empty || facts[i].begin_ns < domain->middle_ns)
            domain->middle_ns = facts[i].begin_ns;
        if (empty || facts[i].end_ns > domain->length_ns)
            domain->length_ns = facts[i].end_ns;
    }
    for (int32_t d = 0; d < a->n_domains; d++) {
        tm_clock_domain *domain = &a->domains[d];
        int64_t begin = domain->middle_ns, end = domain->length_ns;
        domain->length_ns = end > begin ? end - begin : 0;
        domain->middle_ns = begin + domain->length_ns / 2;
        if (begin < TM_FIRST_DAY_NS)
            domain->wall_ns = HUGE_VAL;
    }
    free(of_host);
    return status;
}

tm_status tm_aligner_slot(tm_aligner *a, tm_error *err) {
    TM_TRY(tm_mpi_agree(a->comm, number_hosts(a, err), err));
    TM_TRY(split_hosts(a, err));
    return make_domains(a, err);
}

#include "align.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "clock/differences.h"
#include "clock/fit.h"
#include "shuffle.h"

/* Drift of a clock that is known beforehand, as a standard deviation: torch.profiler ties its times
 * to the system's clock at both ends of a recording; others run freely from its begin. */
#define TIED_DRIFT_PPB 2000.0
#define FREE_DRIFT_PPB 20000.0

/* How far the clock of one GPU may be from its host's, where no second GPU shows it. */
#define GPU_ERROR_NS 3000.0

/* Times before 2000 are no time of day. */
#define FIRST_EPOCH_NS INT64_C(946684800000000000)

/* What every process knows of a rank. Sent as bytes. */
typedef struct fact {
    int64_t rank, device;
    int64_t begin_ns, end_ns, middle_ns; /* recorded; begin above end: it has no event */
    uint32_t host;                       /* name id, TM_NO_NAME unknown */
    bool tied;                           /* its clock is, see TIED_DRIFT_PPB */
} fact;

typedef struct aligner {
    MPI_Comm comm;
    const tm_align_options *options;
    tm_timeline *timelines;
    size_t n;
    tm_collectives *out;

    tm_vec facts; /* of fact: all ranks of the job, ascending */
    tm_vec lates; /* of tm_clock_late: those of them whose ends were compared, ascending */
    tm_clock_seat *seats;
    tm_rank_clock *clocks; /* as seats, one for each fact */
    tm_clock_host *hosts;
    tm_clock_domain *domains;
    int32_t n_hosts, n_domains;
    int64_t *leads; /* [instances] how far clocks as recorded break causality */
} aligner;

static void free_aligner(aligner *a) {
    tm_vec_free(&a->facts);
    tm_vec_free(&a->lates);
    free(a->seats);
    free(a->clocks);
    free(a->hosts);
    free(a->domains);
    free(a->leads);
}

/* Gives every process the elements of all, in the order of the processes. */
static tm_status everywhere(MPI_Comm comm, const tm_vec *own, tm_vec *out, tm_error *err) {
    int n_processes, size = (int)(own->n * own->size), total = 0;
    MPI_Comm_size(comm, &n_processes);
    int *sizes = calloc(2 * (size_t)n_processes, sizeof *sizes), *from = sizes + n_processes;
    tm_status status = tm_mpi_agree(comm, sizes ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK) {
        MPI_Allgather(&size, 1, MPI_INT, sizes, 1, MPI_INT, comm);
        for (int i = 0; i < n_processes; i++) {
            from[i] = total;
            total += sizes[i];
        }
        bool ok = tm_vec_append(out, NULL, (size_t)total / own->size) || total == 0;
        status = tm_mpi_agree(comm, ok ? TM_OK : tm_fail_memory(err), err);
    }
    if (status == TM_OK)
        MPI_Allgatherv(own->data, size, MPI_BYTE, out->data, sizes, from, MPI_BYTE, comm);
    free(sizes);
    return status;
}

static bool is_tied(const tm_timeline *timeline, const tm_names *names) {
    const char *text = tm_names_text(names, timeline->metadata).bytes;
    return strstr(text, "\"baseTimeNanoseconds\"") && !strstr(text, "\"roctracer_version\"");
}

static fact fact_of(const aligner *a, const tm_timeline *timeline) {
    fact f = {.rank = timeline->rank,
              .device = timeline->device,
              .begin_ns = 1,
              .middle_ns = tm_timeline_middle(timeline),
              .host = timeline->host,
              .tied = is_tied(timeline, a->options->names)};
    (void)tm_timeline_range(timeline, &f.begin_ns, &f.end_ns);
    return f;
}

static int by_rank(const void *a, const void *b) {
    const fact *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static tm_status gather_facts(aligner *a, tm_error *err) {
    tm_vec own = TM_VEC(fact);
    bool ok = true;
    for (size_t i = 0; i < a->n && ok; i++) {
        fact f = fact_of(a, &a->timelines[i]);
        ok = tm_vec_append(&own, &f, 1);
    }
    tm_status status = tm_mpi_agree(a->comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = everywhere(a->comm, &own, &a->facts, err);
    tm_vec_free(&own);
    if (status != TM_OK)
        return status;
    size_t n = a->facts.n;
    if (n > 1)
        qsort(a->facts.data, n, a->facts.size, by_rank);
    a->seats = calloc(n + 1, sizeof *a->seats);
    a->clocks = calloc(n + 1, sizeof *a->clocks);
    a->hosts = calloc(n + 1, sizeof *a->hosts);
    a->domains = calloc(n + 1, sizeof *a->domains);
    a->leads = calloc(a->out->instances.n + 1, sizeof *a->leads);
    ok = a->seats && a->clocks && a->hosts && a->domains && a->leads;
    return tm_mpi_agree(a->comm, ok ? TM_OK : tm_fail_memory(err), err);
}

/* Numbers the hosts in the order of their lowest rank. Those without a name get negative ones to be
 * told by. */
static tm_status number_hosts(aligner *a, tm_error *err) {
    const fact *facts = a->facts.data;
    tm_host_rule rule = {.rank = -2, .host = -1};
    tm_vec known = TM_VEC(int64_t);
    bool ok = true;
    for (size_t i = 0; i < a->facts.n && ok; i++) {
        int64_t name = facts[i].host;
        if (facts[i].host == TM_NO_NAME)
            name = -1 - (int64_t)tm_host_rule_next(&rule, facts[i].rank, facts[i].device);
        const int64_t *names = known.data;
        size_t host = known.n;
        while (host > 0 && names[host - 1] != name)
            host--;
        if (host == 0) {
            ok = tm_vec_append(&known, &name, 1);
            host = known.n;
        }
        a->seats[i] = (tm_clock_seat){facts[i].rank, (int32_t)host - 1, 0};
    }
    a->n_hosts = (int32_t)known.n;
    tm_vec_free(&known);
    return ok ? TM_OK : tm_fail_memory(err);
}

static int difference_owner(const void *record, int n_processes) {
    return (int)(((const tm_clock_difference *)record)->rank % n_processes);
}

static int by_late_rank(const void *a, const void *b) {
    const tm_clock_late *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sums up for each rank how its ends lie to others. */
static tm_status compare(aligner *a, const tm_clock_compared *how, tm_error *err) {
    const tm_clock_seats seats = {a->seats, a->facts.n};
    tm_vec own = TM_VEC(tm_clock_difference), here = TM_VEC(tm_clock_difference);
    tm_vec sums = TM_VEC(tm_clock_late);
    tm_vec_free(&a->lates);
    tm_status status = tm_clock_compare(a->out, &seats, how, &own, NULL, err);
    status = tm_mpi_agree(a->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(a->comm, &own, difference_owner, &here, err);
    if (status == TM_OK)
        status = tm_mpi_agree(a->comm, tm_clock_summarise(here.data, here.n, &sums, err), err);
    if (status == TM_OK)
        status = everywhere(a->comm, &sums, &a->lates, err);
    if (status == TM_OK && a->lates.n > 1)
        qsort(a->lates.data, a->lates.n, a->lates.size, by_late_rank);
    tm_vec_free(&own);
    tm_vec_free(&here);
    tm_vec_free(&sums);
    return status;
}

static const tm_clock_late *late_of(const aligner *a, int64_t rank) {
    tm_clock_late wanted = {.rank = rank};
    return a->lates.n ? bsearch(&wanted, a->lates.data, a->lates.n, sizeof wanted, by_late_rank)
                      : NULL;
}

/* The classes whose ends inside hosts are the steadiest. */
static tm_status find_quiet(aligner *a, bool classes[TM_CLOCK_CLASSES], tm_error *err) {
    const tm_clock_seats seats = {a->seats, a->facts.n};
    const tm_clock_compared all = {.by_host = true};
    int64_t *counts = calloc((size_t)TM_CLOCK_CLASSES * TM_SPREAD_BINS, sizeof *counts);
    tm_status status =
        counts ? tm_clock_compare(a->out, &seats, &all, NULL, counts, err) : tm_fail_memory(err);
    status = tm_mpi_agree(a->comm, status, err);
    if (status == TM_OK) {
        MPI_Allreduce(MPI_IN_PLACE, counts, TM_CLOCK_CLASSES * TM_SPREAD_BINS, MPI_INT64_T, MPI_SUM,
                      a->comm);
        tm_clock_quiet(counts, classes);
    }
    free(counts);
    return status;
}

/* How steady a rank's ends are: the median over ranks. False when memory is out. */
static bool usual_noise(const aligner *a, double *out) {
    const tm_clock_late *lates = a->lates.data;
    double *spreads = malloc((a->lates.n + 1) * sizeof *spreads);
    for (size_t i = 0; i < a->lates.n && spreads; i++)
        spreads[i] = lates[i].spread_ns;
    if (spreads && a->lates.n > 0)
        *out = tm_kth(spreads, a->lates.n, a->lates.n / 2);
    bool ok = spreads != NULL;
    free(spreads);
    return ok;
}

/* Which ranks share a clock: those of a host, unless their ends show that they do not. */
static tm_status split_hosts(aligner *a, tm_error *err) {
    bool classes[TM_CLOCK_CLASSES];
    TM_TRY(find_quiet(a, classes, err));
    const tm_clock_compared quiet = {.by_host = true, .classes = classes};
    TM_TRY(compare(a, &quiet, err));
    tm_vec ends = TM_VEC(tm_clock_rank_end);
    bool ok = true;
    for (int32_t host = 0; host < a->n_hosts && ok; host++)
        for (size_t i = 0; i < a->facts.n && ok; i++) {
            if (a->seats[i].host != host)
                continue;
            const tm_clock_late *late = late_of(a, a->seats[i].rank);
            tm_clock_rank_end end = {.host = host};
            if (late)
                end = (tm_clock_rank_end){host, late->n, late->early_ns, late->late_ns};
            ok = tm_vec_append(&ends, &end, 1);
        }
    double noise = 0.0;
    ok = ok && usual_noise(a, &noise);
    tm_status status = ok ? tm_clock_split(ends.data, ends.n, noise, a->hosts, a->n_hosts, err)
                          : tm_fail_memory(err);
    tm_vec_free(&ends);
    return tm_mpi_agree(a->comm, status, err);
}

static double gpu_error(const tm_clock_host *host) {
    return host->shared && host->spread_ns > 0.0 ? host->spread_ns : GPU_ERROR_NS;
}

/* Numbers the domains in the order of their lowest rank, and says what is known of each. */
static tm_status make_domains(aligner *a, tm_error *err) {
    const fact *facts = a->facts.data;
    int32_t *of_host = calloc((size_t)a->n_hosts + 1, sizeof *of_host); /* its domain, plus 1 */
    TM_TRY(tm_mpi_agree(a->comm, of_host ? TM_OK : tm_fail_memory(err), err));
    for (size_t i = 0; i < a->facts.n; i++) {
        tm_clock_seat *seat = &a->seats[i];
        const tm_clock_host *host = &a->hosts[seat->host];
        bool fresh = !host->shared || of_host[seat->host] == 0;
        if (fresh)
            of_host[seat->host] = ++a->n_domains;
        seat->domain = of_host[seat->host] - 1;
        tm_clock_domain *domain = &a->domains[seat->domain];
        double drift = facts[i].tied ? TIED_DRIFT_PPB : FREE_DRIFT_PPB;
        if (fresh) /* begin and length for now; set right below */
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
        if (begin < FIRST_EPOCH_NS)
            domain->wall_ns = HUGE_VAL;
    }
    free(of_host);
    return TM_OK;
}

static tm_status reduce_sum(void *context, int64_t *values, size_t n, tm_error *err) {
    (void)err;
    MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_INT64_T, MPI_SUM, ((aligner *)context)->comm);
    return TM_OK;
}

static tm_status reduce_max(void *context, int64_t *values, size_t n, tm_error *err) {
    (void)err;
    MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_INT64_T, MPI_MAX, ((aligner *)context)->comm);
    return TM_OK;
}

/* How far the first end lies before the last begin: nobody can leave before all have come. */
static int64_t lead_of(const tm_collectives *collectives, const tm_instance *instance) {
    const tm_comm_record *members =
        (const tm_comm_record *)collectives->records.data + instance->first;
    int64_t first_end = members->end_ns, last_begin = members->begin_ns;
    for (size_t i = 1; i < instance->n; i++) {
        first_end = members[i].end_ns < first_end ? members[i].end_ns : first_end;
        last_begin = members[i].begin_ns > last_begin ? members[i].begin_ns : last_begin;
    }
    return last_begin - first_end;
}

static int64_t nanoseconds(double value) {
    return value < 1e18 ? llround(value) : INT64_C(1000000000000000000);
}

/* A rank's clock by the model of its domain. */
static tm_rank_clock clock_of(const aligner *a, size_t i, const tm_clock_model *model) {
    const fact *f = (const fact *)a->facts.data + i;
    int64_t shift = llround((double)(f->middle_ns - model->middle_ns) * (model->drift_ppb * 1e-9));
    double worst =
        fmax(model->uncertainty_ns, fmax(model->begin_uncertainty_ns, model->end_uncertainty_ns));
    tm_rank_clock clock = {
        .offset_ns = model->offset_ns + shift,
        .middle_ns = f->middle_ns,
        .drift_ppb = model->drift_ppb,
        .uncertainty_ns = nanoseconds(worst),
        .spread_ns = nanoseconds(a->domains[a->seats[i].domain].gpu_ns),
        .bounded = model->bounded,
        .low_ns = model->low_ns + shift,
        .high_ns = model->high_ns + shift,
        .anchors = model->anchors,
        .step_ns = model->step_ns,
        .domain = a->seats[i].domain,
        .component = model->component,
        .way = model->method == TM_CLOCK_FIT    ? TM_CLOCK_FITTED
               : model->method == TM_CLOCK_WALL ? TM_CLOCK_AS_RECORDED
                                                : TM_CLOCK_UNKNOWN,
    };
    return clock;
}

static void take_models(aligner *a, const tm_clock_fit *fit) {
    for (size_t i = 0; i < a->facts.n; i++) {
        tm_rank_clock *clock = &a->clocks[i];
        *clock = clock_of(a, i, &fit->models[a->seats[i].domain]);
        if (a->n_domains == 1) { /* one clock needs no other */
            clock->way = TM_CLOCK_AS_RECORDED;
            clock->uncertainty_ns = clock->spread_ns;
        }
    }
}

static uint32_t narrow(int64_t ns) {
    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* Puts the records on the job's clock. */
static void apply(aligner *a) {
    const tm_clock_seats seats = {a->seats, a->facts.n};
    tm_comm_record *records = a->out->records.data;
    for (size_t i = 0; i < a->out->records.n; i++) {
        tm_comm_record *r = &records[i];
        const tm_rank_clock *clock = &a->clocks[tm_clock_seat_of(&seats, r->rank) - a->seats];
        int64_t duration = r->end_ns - r->begin_ns;
        r->begin_ns = tm_rank_clock_true(clock, r->begin_ns);
        r->end_ns = r->begin_ns + duration;
        r->domain = clock->domain;
        r->uncertainty_ns = narrow(clock->uncertainty_ns);
        r->spread_ns = narrow(clock->spread_ns);
    }
}

/* Whether the clocks of all members can be compared. */
static bool is_comparable(const aligner *a, const tm_instance *instance) {
    const tm_clock_seats seats = {a->seats, a->facts.n};
    const tm_comm_record *members = (const tm_comm_record *)a->out->records.data + instance->first;
    const tm_rank_clock *first = NULL;
    for (size_t i = 0; i < instance->n; i++) {
        const tm_rank_clock *clock =
            &a->clocks[tm_clock_seat_of(&seats, members[i].rank) - a->seats];
        first = first ? first : clock;
        if (members[i].wrong_clock || clock->component != first->component ||
            (clock->way == TM_CLOCK_UNKNOWN && clock->domain != first->domain))
            return false;
    }
    return true;
}

/* Looks at every operation on the job's clock. */
static void judge_instances(aligner *a) {
    tm_instance *instances = a->out->instances.data;
    for (size_t i = 0; i < a->out->instances.n; i++) {
        tm_instance *instance = &instances[i];
        const tm_comm_record *members =
            (const tm_comm_record *)a->out->records.data + instance->first;
        instance->last_ns = members->begin_ns;
        for (size_t k = 1; k < instance->n; k++)
            if (members[k].begin_ns > instance->last_ns)
                instance->last_ns = members[k].begin_ns;
        instance->waits = instance->waits && a->options->align != TM_ALIGN_NONE &&
                          (a->options->align == TM_ALIGN_UTC || is_comparable(a, instance));
        if (!instance->waits || a->leads[i] <= 0)
            continue;
        a->out->violations_before++;
        if (a->leads[i] > a->out->worst_before_ns)
            a->out->worst_before_ns = a->leads[i];
    }
}

/* What the fit found to contradict it, and what still breaks causality, cannot be told apart from
 * a wrong match. A late end alone is none: it breaks nothing. */
static void mark_suspects(aligner *a, const tm_vec *rows, const bool *suspect) {
    tm_instance *instances = a->out->instances.data;
    const tm_clock_end *ends = rows->data;
    for (size_t i = 0; i < rows->n; i++) {
        tm_instance *instance = &instances[ends[i].event];
        if (suspect[i] && instance->waits && lead_of(a->out, instance) > TM_CLOCK_TOLERANCE_NS) {
            instance->state = TM_INSTANCE_SUSPECT;
            instance->waits = false;
        }
    }
}

static tm_status fit(aligner *a, tm_error *err) {
    const tm_clock_seats seats = {a->seats, a->facts.n};
    const tm_clock_reducer reducer = {a, reduce_sum, reduce_max};
    tm_vec rows = TM_VEC(tm_clock_end);
    tm_clock_fit found = {0};
    tm_status status = tm_clock_rows(a->out, &seats, &rows, err);
    status = tm_mpi_agree(a->comm, status, err);
    if (status == TM_OK) {
        const tm_clock_input input = {.ends = rows.data,
                                      .n_ends = rows.n,
                                      .domains = a->domains,
                                      .n_domains = a->n_domains,
                                      .n_classes = TM_CLOCK_CLASSES};
        status = tm_clock_fit_all(&input, &reducer, &found, err);
    }
    if (status == TM_OK) {
        take_models(a, &found);
        apply(a);
        mark_suspects(a, &rows, found.suspect);
        tm_clock_fit_free(&found);
    }
    tm_vec_free(&rows);
    return status;
}

static tm_status align_all(aligner *a, tm_error *err) {
    TM_TRY(tm_mpi_agree(a->comm, number_hosts(a, err), err));
    TM_TRY(split_hosts(a, err));
    TM_TRY(make_domains(a, err));
    TM_TRY(fit(a, err));
    const tm_clock_compared all = {.by_host = false};
    TM_TRY(compare(a, &all, err));
    for (size_t i = 0; i < a->facts.n; i++) {
        const tm_clock_late *late = late_of(a, a->seats[i].rank);
        a->clocks[i].n_residuals = late ? late->n : 0;
        a->clocks[i].residual_ns = late ? llround(late->all_ns) : 0;
    }
    return TM_OK;
}

static void keep_clocks(aligner *a) {
    const fact *facts = a->facts.data;
    for (size_t i = 0, k = 0; i < a->facts.n && k < a->n; i++)
        if (facts[i].rank == a->timelines[k].rank)
            a->timelines[k++].clock = a->clocks[i];
}

static tm_status align(aligner *a, tm_error *err) {
    const tm_instance *instances = a->out->instances.data;
    TM_TRY(gather_facts(a, err));
    for (size_t i = 0; i < a->out->instances.n; i++)
        a->leads[i] = lead_of(a->out, &instances[i]);
    for (size_t i = 0; i < a->facts.n; i++)
        a->clocks[i] = (tm_rank_clock){
            .middle_ns = ((const fact *)a->facts.data)[i].middle_ns,
            .way = a->options->align == TM_ALIGN_NONE ? TM_CLOCK_UNKNOWN : TM_CLOCK_AS_RECORDED,
        };
    if (a->options->align == TM_ALIGN_AUTO)
        TM_TRY(align_all(a, err));
    judge_instances(a);
    keep_clocks(a);
    return TM_OK;
}

tm_status tm_mpi_align(MPI_Comm comm, const tm_align_options *options, tm_timeline *timelines,
                       size_t n, tm_collectives *collectives, tm_error *err) {
    aligner a = {.comm = comm,
                 .options = options,
                 .timelines = timelines,
                 .n = n,
                 .out = collectives,
                 .facts = TM_VEC(fact),
                 .lates = TM_VEC(tm_clock_late)};
    tm_status status = align(&a, err);
    free_aligner(&a);
    return status;
}

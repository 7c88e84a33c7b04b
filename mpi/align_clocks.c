#include "align_clocks.h"

#include <stdlib.h>

#include "aligner.h"
#include "base/sums.h"
#include "match/instances.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/backoff.h"
#include "mpi/exchange/shuffle.h"

static tm_status reduce_sum(void *context, int64_t *values, size_t n, tm_error *err) {
    (void)err;
    tm_mpi_reduce(((tm_aligner *)context)->comm, values, (int)n, MPI_INT64_T, MPI_SUM);
    return TM_OK;
}

static tm_status reduce_max(void *context, int64_t *values, size_t n, tm_error *err) {
    (void)err;
    tm_mpi_reduce(((tm_aligner *)context)->comm, values, (int)n, MPI_INT64_T, MPI_MAX);
    return TM_OK;
}

static tm_status gather(void *context, const tm_vec *own, tm_vec *all, tm_error *err) {
    return tm_mpi_everywhere(((tm_aligner *)context)->comm, own, all, err);
}

static int64_t lead_of(const tm_collectives *collectives, const tm_instance *instance) {
    const tm_comm_record *records = collectives->records.data;
    return tm_members_lead(records + instance->first, instance->n);
}

static int64_t nanoseconds(double value) {
    return value < 1e18 ? llround(value) : INT64_C(1000000000000000000);
}

/* Returns the clock of rank i: the model of its domain, with the offset at the middle of the rank's
 * own recording. */
static tm_rank_clock clock_of(const tm_aligner *a, size_t i, const tm_clock_model *model) {
    const tm_fact *f = (const tm_fact *)a->facts.data + i;
    int64_t shift = llround((double)(f->middle_ns - model->middle_ns) * (model->drift_ppb * 1e-9));
    double worst =
        fmax(model->uncertainty_ns, fmax(model->begin_uncertainty_ns, model->end_uncertainty_ns));
    tm_rank_clock clock = {
        .offset_ns = model->offset_ns + shift,
        .middle_ns = f->middle_ns,
        .drift_ppb = model->drift_ppb,
        .uncertainty_ns = nanoseconds(worst),
        .spread_ns = nanoseconds(a->domains[a->slots[i].domain].gpu_ns),
        .bounded = model->bounded,
        .low_ns = model->low_ns + shift,
        .high_ns = model->high_ns + shift,
        .anchors = model->anchors,
        .step_ns = model->step_ns,
        .domain = a->slots[i].domain,
        .component = model->component,
        .way = model->method == TM_CLOCK_FIT    ? TM_CLOCK_FITTED
               : model->method == TM_CLOCK_WALL ? TM_CLOCK_AS_RECORDED
                                                : TM_CLOCK_UNKNOWN,
    };
    return clock;
}

static void take_models(tm_aligner *a, const tm_clock_fit *fit) {
    for (size_t i = 0; i < a->facts.n; i++) {
        tm_rank_clock *clock = &a->clocks[i];
        *clock = clock_of(a, i, &fit->models[a->slots[i].domain]);
        if (a->n_domains == 1) { /* a single clock needs no alignment */
            clock->way = TM_CLOCK_AS_RECORDED;
            clock->uncertainty_ns = clock->spread_ns;
        }
    }
}

/* Converts the records to the job's clock. */
static void apply(tm_aligner *a) {
    const tm_clock_slots slots = {a->slots, a->facts.n};
    tm_comm_record *records = a->out->records.data;
    for (size_t i = 0; i < a->out->records.n; i++) {
        tm_comm_record *r = &records[i];
        const tm_rank_clock *clock = &a->clocks[tm_clock_slot_of(&slots, r->rank) - a->slots];
        int64_t duration = r->end_ns - r->begin_ns, end = tm_rank_clock_true(clock, r->end_ns);
        r->begin_ns = tm_rank_clock_true(clock, r->begin_ns);
        r->end_ns = r->begin_ns + duration;
        r->gained_ns = end - r->end_ns;
        r->domain = clock->domain;
        r->uncertainty_ns = tm_narrow_u32(clock->uncertainty_ns);
        r->spread_ns = tm_narrow_u32(clock->spread_ns);
    }
}

/* Returns whether the clocks of all members are in one component. */
static bool is_comparable(const tm_aligner *a, const tm_instance *instance) {
    const tm_clock_slots slots = {a->slots, a->facts.n};
    const tm_comm_record *members = (const tm_comm_record *)a->out->records.data + instance->first;
    const tm_rank_clock *first = NULL;
    for (size_t i = 0; i < instance->n; i++) {
        const tm_rank_clock *clock =
            &a->clocks[tm_clock_slot_of(&slots, members[i].rank) - a->slots];
        first = first ? first : clock;
        if (members[i].wrong_clock || clock->component != first->component ||
            (clock->way == TM_CLOCK_UNKNOWN && clock->domain != first->domain))
            return false;
    }
    return true;
}

/* Returns whether no member can end before the last member starts. Only then is the wait of each
 * member known. */
static bool may_join(const tm_instance *instance, const tm_comm_record *members) {
    bool known = members->kind != TM_COLL_OTHER && members->kind != TM_COLL_COALESCED;
    bool moves = members->bytes != 0 || members->kind == TM_COLL_BARRIER;
    return instance->n > 1 && instance->state != TM_INSTANCE_SUSPECT && moves &&
           (members->way == TM_MATCH_PAIR ? instance->transfers : known);
}

/* Sets the last start of every operation, on the job's clock, and whether the operation's waits are
 * known. */
static void judge_instances(tm_aligner *a) {
    tm_instance *instances = a->out->instances.data;
    for (size_t i = 0; i < a->out->instances.n; i++) {
        tm_instance *instance = &instances[i];
        const tm_comm_record *members =
            (const tm_comm_record *)a->out->records.data + instance->first;
        instance->last_ns = tm_members_last(members, instance->n);
        bool comparable = a->options->align != TM_ALIGN_NONE && !members->transfer_alone &&
                          (a->options->align == TM_ALIGN_UTC || is_comparable(a, instance));
        instance->waits = instance->waits && comparable;
        instance->transfers = instance->transfers && comparable;
        instance->joins = comparable && may_join(instance, members);
        if (instance->waits && a->leads[i] > 0) {
            a->out->violations_before++;
            if (a->leads[i] > a->out->worst_before_ns)
                a->out->worst_before_ns = a->leads[i];
        }
        instance->waits = instance->waits || (comparable && tm_instance_met(instance, members));
    }
}

/* Marks operations as suspect: they were perhaps matched wrongly. A suspect operation contradicts
 * the fit, and on the fitted clocks one of its members ends before another starts. An operation
 * that only ends late is not suspect. */
static void mark_suspects(tm_aligner *a, const tm_vec *rows, const bool *suspect) {
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

static tm_status fit(tm_aligner *a, tm_error *err) {
    const tm_clock_slots slots = {a->slots, a->facts.n};
    const tm_clock_reducer reducer = {a, reduce_sum, reduce_max, gather};
    tm_vec rows = TM_VEC(tm_clock_end);
    tm_clock_fit found = {0};
    tm_status status = tm_clock_rows(a->out, &slots, &rows, err);
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

/* Sets ends_late_ns of the clocks on hosts on which a rank really leaves its operations late. */
static void set_late(tm_aligner *a) {
    for (size_t i = 0; i < a->facts.n; i++) {
        const int32_t host = a->slots[i].host;
        int64_t least = INT64_MAX;
        for (size_t k = 0; k < a->facts.n && a->hosts[host].late_ns > 0.0; k++)
            if (a->slots[k].host == host && a->clocks[k].n_residuals > 0 &&
                a->clocks[k].residual_ns < least)
                least = a->clocks[k].residual_ns;
        if (least < INT64_MAX && a->clocks[i].n_residuals > 0 &&
            (double)(a->clocks[i].residual_ns - least) > a->hosts[host].late_ns)
            a->clocks[i].ends_late_ns = a->clocks[i].residual_ns - least;
    }
}

static tm_status align_all(tm_aligner *a, tm_error *err) {
    TM_TRY(tm_aligner_slot(a, err));
    TM_TRY(fit(a, err));
    const tm_clock_compared all = {.by_host = false};
    TM_TRY(tm_aligner_compare(a, &all, err));
    for (size_t i = 0; i < a->facts.n; i++) {
        const tm_clock_late *late = tm_aligner_late(a, a->slots[i].rank);
        a->clocks[i].n_residuals = late ? late->n : 0;
        a->clocks[i].residual_ns = late ? llround(late->all_ns) : 0;
    }
    set_late(a);
    return TM_OK;
}

static void keep_clocks(tm_aligner *a) {
    const tm_fact *facts = a->facts.data;
    for (size_t i = 0, k = 0; i < a->facts.n && k < a->n; i++)
        if (facts[i].rank == a->timelines[k].rank)
            a->timelines[k++].clock = a->clocks[i];
}

static tm_status align(tm_aligner *a, tm_error *err) {
    const tm_instance *instances = a->out->instances.data;
    TM_TRY(tm_aligner_gather(a, err));
    for (size_t i = 0; i < a->out->instances.n; i++)
        a->leads[i] = lead_of(a->out, &instances[i]);
    for (size_t i = 0; i < a->facts.n; i++)
        a->clocks[i] = (tm_rank_clock){
            .middle_ns = ((const tm_fact *)a->facts.data)[i].middle_ns,
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
    tm_aligner a = {.comm = comm,
                    .options = options,
                    .timelines = timelines,
                    .n = n,
                    .out = collectives,
                    .facts = TM_VEC(tm_fact),
                    .lates = TM_VEC(tm_clock_late)};
    tm_status status = align(&a, err);
    tm_aligner_free(&a);
    return status;
}

#include "replay_ops.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "replay/graph/ops_graph.h"
#include "replay/job/ops_settle.h"
#include "timeline/metadata.h"
#include "timeline/trace.h"

typedef struct inputs {
    tm_replay_ranks *r;
    tm_ops_input *v; /* owned; [r->n] */
    int self;
} inputs;

static const char *metadata_of(const tm_replay_ranks *r, size_t i) {
    return tm_timeline_metadata(&r->timelines[i]).bytes;
}

bool tm_mpi_ops_is(const tm_replay_ranks *ranks) {
    int is = 1;
    tm_ops_place place;
    for (size_t i = 0; i < ranks->n; i++)
        is = is && tm_trace_holds_transfers_alone(tm_timeline_metadata(&ranks->timelines[i])) &&
             tm_ops_place_read(metadata_of(ranks, i), &place);
    MPI_Allreduce(MPI_IN_PLACE, &is, 1, MPI_INT, MPI_MIN, ranks->comm);
    return is;
}

static int member_owner(const void *record, int n_processes) {
    return (int)(((const tm_ops_member *)record)->operation % (uint64_t)n_processes);
}

static int member_origin(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_ops_member *)record)->origin;
}

/* Sends the members to the owners of their operations, and stores the answers of the owners. */
static tm_status answer(inputs *d, tm_vec *members, tm_error *err) {
    tm_vec here = TM_VEC(tm_ops_member), back = TM_VEC(tm_ops_member);
    tm_status status = tm_mpi_shuffle(d->r->comm, members, member_owner, &here, err);
    if (status == TM_OK) {
        tm_ops_answer(&here);
        status = tm_mpi_shuffle(d->r->comm, &here, member_origin, &back, err);
    }
    for (size_t i = 0; i < back.n && status == TM_OK; i++) {
        const tm_ops_member *a = (const tm_ops_member *)back.data + i;
        tm_ops_take(&d->v[a->rank], a);
    }
    tm_vec_free(&here);
    tm_vec_free(&back);
    return status;
}

static tm_status ask(inputs *d, bool ends, tm_error *err) {
    tm_vec members = TM_VEC(tm_ops_member);
    bool ok = true;
    for (size_t i = 0; i < d->r->n && ok; i++)
        ok = ends ? tm_ops_ask_ends(&d->v[i], (uint32_t)i, d->self, &members)
                  : tm_ops_ask_joins(&d->v[i], (uint32_t)i, d->self, &members);
    tm_status status = tm_mpi_agree(d->r->comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = answer(d, &members, err);
    tm_vec_free(&members);
    return status;
}

static tm_status find_ideal(const inputs *d, tm_ops_times *ideal, tm_error *err) {
    tm_vec own = TM_VEC(tm_ops_sample), all = TM_VEC(tm_ops_sample);
    bool ok = true;
    for (size_t i = 0; i < d->r->n && ok; i++)
        ok = tm_ops_sample_rank(&d->v[i], &own);
    tm_status status = tm_mpi_agree(d->r->comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(d->r->comm, &own, &all, err);
    if (status == TM_OK)
        *ideal = tm_ops_ideal(&all);
    tm_vec_free(&own);
    tm_vec_free(&all);
    return status;
}

static tm_status make_inputs(inputs *d, tm_error *err) {
    tm_status status = d->v ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < d->r->n && status == TM_OK; i++)
        status = tm_ops_input_make(&d->r->timelines[i], d->r->names, &d->r->base, &d->v[i], err);
    return tm_mpi_agree(d->r->comm, status, err);
}

static tm_status make_graphs(inputs *d, tm_error *err) {
    tm_ops_times ideal = {{0}};
    TM_TRY(make_inputs(d, err));
    TM_TRY(ask(d, true, err));
    TM_TRY(ask(d, false, err));
    TM_TRY(find_ideal(d, &ideal, err));
    tm_status status = TM_OK;
    for (size_t i = 0; i < d->r->n && status == TM_OK; i++)
        status = tm_ops_graph(&d->v[i], &ideal, &d->r->graphs[i], err);
    return tm_mpi_agree(d->r->comm, status, err);
}

/* Makes the reduced job from the graphs of all processes. */
static tm_status make_job(const tm_replay_ranks *r, tm_replay *job, tm_error *err) {
    tm_vec own = TM_VEC(int64_t), all = TM_VEC(int64_t);
    tm_status status = TM_OK;
    for (size_t i = 0; i < r->n && status == TM_OK; i++)
        if (r->graphs[i].n_nodes > 0)
            status = tm_reduce(&r->graphs[i], TM_N_OPS_SETS, tm_ops_weigh, NULL, &own, err);
    status = tm_mpi_agree(r->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(r->comm, &own, &all, err);
    if (status == TM_OK)
        status = tm_replay_build(all.data, all.n, job, err);
    if (status == TM_OK)
        status = tm_replay_count(job, r->steps, err);
    status = tm_mpi_agree(r->comm, status, err);
    tm_vec_free(&own);
    tm_vec_free(&all);
    return status;
}

static tm_status settle(tm_replay_ranks *r, tm_error *err) {
    tm_replay job = {0};
    TM_TRY(make_job(r, &job, err));
    uint8_t *sets = calloc(job.n_ranks + 1, 1); /* 0: all ranks as recorded */
    int64_t *ns = malloc((job.n_operations + job.n_steps + 1) * sizeof *ns);
    tm_status status = sets && ns ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        tm_replay_forward(&job, sets, ns);
    for (size_t i = 0; i < r->n && status == TM_OK; i++)
        if (r->graphs[i].n_nodes > 0)
            status = tm_ops_settle(&r->graphs[i], &job, ns, err);
    free(sets);
    free(ns);
    tm_replay_free(&job);
    return tm_mpi_agree(r->comm, status, err);
}

tm_status tm_mpi_ops_graphs(tm_replay_ranks *ranks, tm_error *err) {
    inputs d = {.r = ranks, .v = calloc(ranks->n + 1, sizeof *d.v)};
    MPI_Comm_rank(ranks->comm, &d.self);
    tm_status status = make_graphs(&d, err);
    if (status == TM_OK)
        status = settle(ranks, err);
    for (size_t i = 0; i < ranks->n && d.v; i++)
        tm_ops_input_free(&d.v[i]);
    free(d.v);
    return status;
}

/* A rank, and its position in the job (see tm_ops_place). Sent as bytes. */
typedef struct slot {
    int64_t rank;
    tm_ops_place place;
} slot;

TM_ORDER_BY(by_rank, slot, rank);

/* Collects the positions of all ranks that have a graph, ascending in rank, on every process. */
static tm_status gather_slots(const tm_replay_ranks *r, tm_vec *slots, tm_error *err) {
    tm_vec own = TM_VEC(slot);
    bool ok = true;
    for (size_t i = 0; i < r->n && ok; i++) {
        slot s = {.rank = r->timelines[i].rank};
        ok = r->graphs[i].n_nodes == 0 ||
             (tm_ops_place_read(metadata_of(r, i), &s.place) && tm_vec_append(&own, &s, 1));
    }
    tm_status status = tm_mpi_agree(r->comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(r->comm, &own, slots, err);
    tm_vec_sort(slots, by_rank);
    tm_vec_free(&own);
    return status;
}

/* Sets base_ns of each step to the step's replayed time. Subtracts from ideal_ns the recorded time
 * that the replay does not explain. */
static void set_steps(tm_replay_result *result, const tm_replay *job, const int64_t *ends) {
    tm_whatif_step *steps = result->steps.data;
    for (size_t i = 0; i < result->steps.n; i++) {
        size_t k = tm_lower_bound(job->steps, job->n_steps, steps[i].number);
        steps[i].base_ns = ends[k] - (k > 0 ? ends[k - 1] : 0);
        steps[i].ideal_ns -= steps[i].ns - steps[i].base_ns;
    }
}

/* Sets ideal_ns of ranks and stages to the times from which their slowdowns are computed. */
static void set_items(tm_replay_result *result, const tm_ops_figures *figures,
                      const tm_vec *slots) {
    tm_whatif_item *items = result->items.data;
    const slot *v = slots->data;
    for (size_t i = 0; i < result->items.n; i++)
        for (size_t k = 0; k < slots->n; k++)
            if (items[i].what == TM_WHATIF_RANK && items[i].id == v[k].rank)
                items[i].ideal_ns = figures->ranks_ns[k];
            else if (items[i].what == TM_WHATIF_STAGE && items[i].id == v[k].place.stage)
                items[i].ideal_ns = figures->stages_ns[k];
}

static void set_figures(tm_replay_result *result, const tm_replay *job,
                        const tm_ops_figures *figures, const tm_vec *slots) {
    result->operations = true;
    result->base_ns = figures->total_ns;
    result->ideal_ns = figures->ideal_ns;
    result->workers_ns = figures->workers_ns;
    result->stage_ns = figures->stage_ns;
    set_steps(result, job, figures->ends_ns);
    set_items(result, figures, slots);
}

static tm_status find_figures(const tm_replay *job, const tm_vec *slots, tm_replay_result *result,
                              tm_error *err) {
    tm_ops_place *places = calloc(slots->n + 1, sizeof *places);
    int64_t *ns = calloc(2 * slots->n + job->n_steps + 1, sizeof *ns);
    for (size_t i = 0; i < slots->n && places; i++)
        places[i] = ((const slot *)slots->data)[i].place;
    bool *counts = calloc(job->n_steps + 1, sizeof *counts);
    tm_status status = places && ns && counts ? TM_OK : tm_fail_memory(err);
    const tm_whatif_step *steps = result->steps.data;
    for (size_t i = 0; i < result->steps.n && counts; i++)
        counts[tm_lower_bound(job->steps, job->n_steps, steps[i].number)] = true;
    if (status == TM_OK) {
        tm_ops_figures figures = {.counts = counts,
                                  .ranks_ns = ns,
                                  .stages_ns = ns + slots->n,
                                  .ends_ns = ns + 2 * slots->n};
        status = tm_ops_figures_find(job, places, &figures, err);
        if (status == TM_OK)
            set_figures(result, job, &figures, slots);
    }
    free(places);
    free(ns);
    free(counts);
    return status;
}

tm_status tm_mpi_ops_figures(const tm_replay_ranks *ranks, tm_replay_result *result,
                             tm_error *err) {
    tm_vec slots = TM_VEC(slot);
    tm_replay job = {0};
    tm_status status = make_job(ranks, &job, err);
    if (status == TM_OK)
        status = gather_slots(ranks, &slots, err);
    if (status == TM_OK)
        status = tm_mpi_agree(ranks->comm, find_figures(&job, &slots, result, err), err);
    tm_replay_free(&job);
    tm_vec_free(&slots);
    return status;
}

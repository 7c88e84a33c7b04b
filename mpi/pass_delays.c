#include "pass_delays.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/bytes.h"
#include "mpi/exchange/shuffle.h"
#include "waits/delay.h"
#include "waits/rank_waits.h"
#include "waits/stages.h"
#include "waits/stretches.h"

typedef struct propagation {
    MPI_Comm comm;
    const tm_timeline *timelines;
    size_t n;
    tm_collectives *collectives;
    tm_rank_waits held;  /* waits of this process's ranks */
    double *fractions;   /* [records] fraction of each record of this process's operations
                            (tm_delay_begin) */
    tm_vec participants; /* participations in transit */
    tm_delay_flow flow;  /* how cost flows through this process's operations */
} propagation;

static int participant_owner(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_participant *)record)->owner;
}

static int participant_origin(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_participant *)record)->origin;
}

static int pending_cost_origin(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_pending_cost *)record)->origin;
}

static int cost_share_owner(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_cost_share *)record)->owner;
}

static int cost_owner(const void *record, int n_processes) {
    return (int)((uint64_t)((const tm_cost *)record)->rank % (uint64_t)n_processes);
}

/* Sends each participation to the process that @p owner returns for it. Afterwards p->participants
 * has the participations that this process received, sorted. */
static tm_status send_participants(propagation *p, int (*owner)(const void *, int),
                                   void (*sort)(tm_vec *), tm_error *err) {
    tm_vec there = TM_VEC(tm_participant);
    TM_TRY(tm_mpi_shuffle(p->comm, &p->participants, owner, &there, err));
    sort(&there);
    p->participants = there;
    return TM_OK;
}

static tm_status add_ranks(propagation *p, tm_error *err) {
    tm_participant *participants = p->participants.data;
    size_t first = 0, n = p->participants.n;
    for (size_t i = 0; i < p->n; i++) {
        size_t end = first;
        while (end < n && participants[end].rank == p->timelines[i].rank)
            end++;
        if (end > first) {
            TM_TRY(tm_stretches_look(&p->timelines[i], participants + first, end - first, err));
            TM_TRY(tm_rank_waits_add(&p->held, &p->timelines[i], participants + first, end - first,
                                     err));
        }
        first = end;
    }
    return TM_OK;
}

static int own_time_owner(const void *record, int n_processes) {
    uint64_t group = ((const tm_own_time *)record)->group;
    return (int)(tm_hash_mixed(0, &group, sizeof group) % (uint64_t)n_processes);
}

/* Sends each own time to the process that owns its group, because the operations of a group were
 * matched on many processes. Also sums the time that ranks waited for transfers. */
static tm_status send_own_times(propagation *p, tm_error *err) {
    tm_vec own = TM_VEC(tm_own_time);
    const tm_participant *participants = p->participants.data;
    for (size_t i = 0; i < p->participants.n; i++)
        if (participants[i].transfer && participants[i].released)
            p->collectives->pipeline.wait_ns += participants[i].wait_ns;
    tm_status status = tm_stretches_take(p->collectives, p->participants.data, &own, err);
    status = tm_mpi_agree(p->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(p->comm, &own, own_time_owner, &p->collectives->own_times, err);
    tm_vec_free(&own);
    return status;
}

/* Computes p->fractions. For this, owners of operations and holders of ranks exchange data. */
static tm_status prepare(propagation *p, tm_error *err) {
    int self;
    MPI_Comm_rank(p->comm, &self);
    p->fractions = calloc(p->collectives->records.n + 1, sizeof *p->fractions);
    tm_status status = p->fractions ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_delay_participants(p->collectives, self, &p->participants, err);
    TM_TRY(tm_mpi_agree(p->comm, status, err));
    TM_TRY(send_participants(p, participant_origin, tm_rank_waits_sort, err));
    TM_TRY(tm_mpi_agree(p->comm, add_ranks(p, err), err));
    TM_TRY(send_participants(p, participant_owner, tm_delay_sort, err));
    tm_delay_together(p->collectives, p->participants.data);
    tm_stretches_agree(p->collectives, p->participants.data);
    TM_TRY(send_participants(p, participant_origin, tm_rank_waits_sort, err));
    TM_TRY(tm_mpi_agree(p->comm, tm_rank_waits_since(&p->held, p->participants.data, err), err));
    TM_TRY(send_participants(p, participant_owner, tm_delay_sort, err));
    TM_TRY(send_own_times(p, err));
    status = tm_delay_begin(p->collectives, p->participants.data, p->fractions, &p->flow, err);
    tm_vec_free(&p->participants);
    return tm_mpi_agree(p->comm, status, err);
}

/* One round: passes costs to the holders of the late ranks, and from there to the owners of earlier
 * operations. */
static tm_status pass(propagation *p, tm_error *err) {
    tm_vec pending_costs = TM_VEC(tm_pending_cost), cost_shares = TM_VEC(tm_cost_share),
           here = TM_VEC(tm_cost_share);
    tm_status status =
        tm_mpi_shuffle(p->comm, &p->flow.pending_costs, pending_cost_origin, &pending_costs, err);
    if (status == TM_OK)
        status = tm_mpi_agree(p->comm,
                              tm_rank_waits_pass(&p->held, &pending_costs, &cost_shares, err), err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(p->comm, &cost_shares, cost_share_owner, &here, err);
    if (status == TM_OK) {
        status = tm_delay_split(p->collectives, p->fractions, &here, &p->flow, err);
        tm_delay_settle(&p->flow.costs);
        status = tm_mpi_agree(p->comm, status, err);
    }
    TM_VECS_FREE(&pending_costs, &cost_shares, &here);
    return status;
}

/* Counts the job's groups, operations and transfers, and sums the job's waits for transfers. */
static void count_all(MPI_Comm comm, tm_collectives *collectives) {
    int self;
    tm_pipeline_use own = tm_stages_pipeline(collectives, &collectives->stages);
    int64_t counts[5] = {tm_stretches_sort(&collectives->own_times), 0, own.transfers,
                         collectives->pipeline.wait_ns, collectives->pipeline.kept_ns};
    for (size_t i = 0; i < collectives->instances.n; i++)
        counts[1] += ((const tm_instance *)collectives->instances.data)[i].waits;
    MPI_Allreduce(MPI_IN_PLACE, counts, 5, MPI_INT64_T, MPI_SUM, comm);
    MPI_Comm_rank(comm, &self);
    collectives->n_compared = counts[0];
    collectives->n_waits = counts[1];
    collectives->pipeline =
        (tm_pipeline_use){own.stages, counts[2], own.senders, counts[3], counts[4]};
    collectives->first_process = self == 0;
}

/* Gives every process the stages of all ranks. */
static tm_status find_stages(MPI_Comm comm, tm_collectives *collectives, tm_error *err) {
    tm_vec own = TM_VEC(tm_stage_edge), all = TM_VEC(tm_stage_edge), found = TM_VEC(tm_stage);
    tm_vec *stages = &collectives->stages;
    tm_status status = tm_mpi_agree(comm, tm_stages_edges(collectives, &own, err), err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(comm, &own, tm_mpi_first_process, &all, err);
    if (status == TM_OK)
        status = tm_mpi_agree(comm, tm_stages_find(all.data, all.n, &found, err), err);
    void *bytes = found.data;
    size_t size = found.n * found.size;
    if (status == TM_OK)
        status = tm_mpi_broadcast_bytes(comm, &bytes, &size, err);
    if (status == TM_OK)
        status = tm_vec_append(stages, bytes, size / stages->size) ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK && bytes != found.data)
        free(bytes);
    TM_VECS_FREE(&own, &all, &found);
    return tm_mpi_agree(comm, status, err);
}

static tm_status propagate(propagation *p, tm_error *err) {
    tm_status status = prepare(p, err);
    for (int i = 0; i < TM_DELAY_ROUNDS && status == TM_OK; i++) {
        int any = p->flow.pending_costs.n > 0;
        MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, p->comm);
        if (!any)
            break;
        status = pass(p, err);
    }
    TM_TRY(status);
    status = tm_delay_end(&p->flow, err);
    if (status == TM_OK)
        status = tm_rank_waits_members(&p->held, &p->collectives->members, err);
    TM_TRY(tm_mpi_agree(p->comm, status, err));
    TM_TRY(find_stages(p->comm, p->collectives, err));
    p->collectives->pipeline.kept_ns = tm_rank_waits_kept(&p->held);
    count_all(p->comm, p->collectives);
    tm_delay_settle(&p->flow.costs);
    TM_TRY(tm_mpi_shuffle(p->comm, &p->flow.costs, cost_owner, &p->collectives->costs, err));
    tm_delay_settle(&p->collectives->costs);
    return TM_OK;
}

tm_status tm_mpi_delay(MPI_Comm comm, const tm_timeline *timelines, size_t n,
                       tm_collectives *collectives, tm_error *err) {
    propagation p = {
        .comm = comm,
        .timelines = timelines,
        .n = n,
        .collectives = collectives,
        .held = tm_rank_waits_open(),
        .participants = TM_VEC(tm_participant),
        .flow = TM_DELAY_FLOW(),
    };
    tm_status status = propagate(&p, err);
    tm_rank_waits_free(&p.held);
    free(p.fractions);
    TM_VECS_FREE(&p.participants, &p.flow.pending_costs, &p.flow.costs);
    return status;
}

#include "slow_hosts.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/bytes.h"
#include "mpi/exchange/shuffle.h"

static uint32_t host_of(const void *context, int64_t rank) {
    const tm_vec *facts = context;
    const tm_replay_fact *v = facts->data;
    const size_t at = TM_FIRST_FROM(tm_replay_fact, rank, v, facts->n, rank);
    return at < facts->n && v[at].rank == rank ? v[at].host : TM_NO_NAME;
}

/* Broadcasts a vector from process 0. */
static tm_status share(MPI_Comm comm, tm_vec *found, tm_error *err) {
    void *bytes = found->data;
    size_t size = found->n * found->size;
    TM_TRY(tm_mpi_broadcast_bytes(comm, &bytes, &size, err));
    if (bytes == found->data)
        return TM_OK;
    const bool ok = tm_vec_append(found, bytes, size / found->size) != NULL;
    free(bytes);
    return ok ? TM_OK : tm_fail_memory(err);
}

static int taken_owner(const void *record, int n_processes) {
    return (int)(((const tm_links_taken *)record)->group % (uint64_t)n_processes);
}

/* Summarises the operations, each group on one process. */
static tm_status collect(const tm_replay_ranks *r, tm_vec *links, tm_vec *members, tm_error *err) {
    tm_vec own = TM_VEC(tm_links_taken), here = TM_VEC(tm_links_taken);
    tm_status status = tm_links_collect(r->collectives, host_of, &r->facts, &own, members, err);
    status = tm_mpi_agree(r->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(r->comm, &own, taken_owner, &here, err);
    if (status == TM_OK)
        status = tm_mpi_agree(r->comm, tm_links_summarise(&here, links, err), err);
    tm_vec_free(&own);
    tm_vec_free(&here);
    return status;
}

static tm_status find(const tm_replay_ranks *r, tm_links *out, tm_error *err) {
    tm_vec own[2] = {TM_VEC(tm_links_time), TM_VEC(tm_links_member)};
    tm_vec all[2] = {TM_VEC(tm_links_time), TM_VEC(tm_links_member)};
    tm_status status = collect(r, &own[0], &own[1], err);
    for (size_t i = 0; i < 2 && status == TM_OK; i++)
        status = tm_mpi_shuffle(r->comm, &own[i], tm_mpi_first_process, &all[i], err);
    if (status == TM_OK)
        status = tm_mpi_agree(r->comm, tm_links_compare(&all[0], &all[1], out, err), err);
    if (status == TM_OK)
        status = tm_mpi_agree(r->comm, share(r->comm, &out->ends, err), err);
    if (status == TM_OK)
        status = tm_mpi_agree(r->comm, share(r->comm, &out->slow, err), err);
    for (size_t i = 0; i < 2; i++) {
        tm_vec_free(&own[i]);
        tm_vec_free(&all[i]);
    }
    return status;
}

static int factor_origin(const void *record, int n_processes) {
    (void)n_processes;
    return (int)((const tm_links_factor *)record)->origin;
}

static bool note(const tm_vec *factors, tm_scaled *out) {
    const tm_links_factor *v = factors->data;
    for (size_t i = 0; i < factors->n; i++) {
        double *factor = tm_keys_value(&out->operations, &out->factors, &v[i].operation);
        if (!factor)
            return false;
        *factor = v[i].factor;
    }
    return true;
}

tm_status tm_mpi_links(const tm_replay_ranks *ranks, tm_links *network, tm_scaled *scaled,
                       tm_error *err) {
    tm_vec own = TM_VEC(tm_links_factor), here = TM_VEC(tm_links_factor);
    *network = TM_LINKS();
    *scaled = TM_SCALED();
    if (ranks->is_ops)
        return TM_OK;
    TM_TRY(find(ranks, network, err));
    if (network->ends.n == 0)
        return TM_OK;
    tm_status status =
        tm_links_factors(ranks->collectives, host_of, &ranks->facts, network, &own, err);
    status = tm_mpi_agree(ranks->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(ranks->comm, &own, factor_origin, &here, err);
    if (status == TM_OK)
        status = tm_mpi_agree(ranks->comm, note(&here, scaled) ? TM_OK : tm_fail_memory(err), err);
    tm_vec_free(&own);
    tm_vec_free(&here);
    return status;
}

bool tm_mpi_links_change(const tm_replay_ranks *ranks, const tm_links *network,
                         const tm_scaled *scaled, tm_vec *more) {
    const tm_links_place *ends = network->ends.data;
    tm_change_more it = {
        .item = {.what = TM_WHATIF_NETWORK, .ideal_ns = -1, .next_rank = -1, .tried = true},
        .change = {.kinds = 1 << TM_EDGE_TRANSFER, .of_operation = scaled}};
    if (network->ends.n == 0)
        return true;
    if (ends[0].what != TM_LINKS_HOST)
        it.item.what = TM_WHATIF_LINK;
    for (size_t i = 0; i < ranks->facts.n; i++) {
        const tm_replay_fact *fact = (const tm_replay_fact *)ranks->facts.data + i;
        for (size_t k = 0; k < network->ends.n; k++)
            it.item.ranks +=
                (ends[k].what == TM_LINKS_RANK ? fact->rank : fact->host) == ends[k].id;
    }
    return tm_vec_append(more, &it, 1) != NULL;
}

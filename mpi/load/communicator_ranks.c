#include "communicator_ranks.h"

#include "base/hash.h"
#include "match/communicators.h"
#include "match/joined.h"
#include "match/transfer_peers.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"

static int owner_of(const void *record, int n_processes) {
    return (int)(((const tm_membership *)record)->communicator % (uint64_t)n_processes);
}

static int process_of(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_membership *)record)->process;
}

/* Sets @p out to the members, on all processes, of the communicators that this process uses. Sets
 * *n_alone to the number of communicators of unknown size that only one rank uses. Only
 * communicators that this process owns are counted. */
static tm_status exchange(MPI_Comm comm, tm_vec *own, tm_vec *out, size_t *n_alone, tm_error *err) {
    tm_vec here = TM_VEC(tm_membership), answers = TM_VEC(tm_membership);
    tm_status status = tm_mpi_shuffle(comm, own, owner_of, &here, err);
    if (status == TM_OK)
        status = tm_mpi_agree(comm, tm_memberships_answer(&here, &answers, n_alone, err), err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(comm, &answers, process_of, out, err);
    tm_memberships_sort(out);
    tm_vec_free(&here);
    tm_vec_free(&answers);
    return status;
}

bool tm_mpi_formats_differ(MPI_Comm comm, const tm_timeline *timelines, size_t n,
                           const tm_names *names) {
    /* Minimum of the hashes, and complement of their maximum. */
    uint64_t ends[2] = {UINT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < n; i++) {
        tm_text format = tm_names_text(names, timelines[i].format);
        uint64_t hash = tm_hash_mixed(0, format.bytes, format.size);
        ends[0] = hash < ends[0] ? hash : ends[0];
        ends[1] = ~hash < ends[1] ? ~hash : ends[1];
    }
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_UINT64_T, MPI_MIN, comm);
    return ends[0] < ~ends[1];
}

/* Returns whether every rank of the job recorded its communicators. This requires that as many
 * ranks recorded communicators as the job has (the world size, or the highest rank + 1 if that is
 * larger), that all ranks name communicators in the same way, and that each communicator has at
 * least two known ranks. */
static bool have_all_reported(MPI_Comm comm, const tm_loaded *loaded, size_t n_alone) {
    int64_t sums[2] = {0, (int64_t)n_alone}; /* number of ranks that recorded communicators; number
                                                of communicators of which only one rank is known */
    int64_t n_ranks = loaded->ranks[loaded->n_ranks - 1] + 1;
    for (size_t i = 0; i < loaded->n_timelines; i++)
        sums[0] += loaded->timelines[i].n_communicators > 0;
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, comm);
    bool differ =
        tm_mpi_formats_differ(comm, loaded->timelines, loaded->n_timelines, loaded->names);
    return !differ && sums[1] == 0 &&
           sums[0] >= (loaded->world_size > n_ranks ? loaded->world_size : n_ranks);
}

/* For ranks that recorded no communicators: finds which of their groups are communicators that
 * other ranks recorded under other names. */
static tm_status join_groups(MPI_Comm comm, int self, tm_loaded *loaded, tm_vec *own,
                             tm_error *err) {
    tm_vec all = TM_VEC(tm_membership), reported = TM_VEC(int64_t);
    if (!tm_mpi_formats_differ(comm, loaded->timelines, loaded->n_timelines, loaded->names))
        return TM_OK;
    tm_status status = tm_mpi_everywhere(comm, own, &all, err);
    tm_memberships_sort(&all);
    if (status == TM_OK && !tm_joins_list_reported(&all, &reported))
        status = tm_fail_memory(err);
    const tm_join_with with = {&all, &reported, loaded->world_size, self, own};
    for (size_t i = 0; i < loaded->n_timelines && status == TM_OK && all.n > 0; i++)
        if (loaded->timelines[i].n_communicators == 0)
            status = tm_groups_join(&with, &loaded->timelines[i], loaded->names, err);
    tm_vec_free(&all);
    tm_vec_free(&reported);
    return tm_mpi_agree(comm, status, err);
}

/* If no trace gives the world size, but a communicator certainly has more members than the highest
 * rank implies: sets the world size to the communicator's minimum size. */
static void raise_world(MPI_Comm comm, const tm_vec *own, tm_loaded *loaded) {
    const tm_membership *v = own->data;
    int64_t least = 1;
    for (size_t i = 0; i < own->n; i++)
        least = -v[i].n_ranks > least ? -v[i].n_ranks : least;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT64_T, MPI_MAX, comm);
    if (loaded->world_size < 0 && least > loaded->ranks[loaded->n_ranks - 1] + 1)
        loaded->world_size = least;
}

/* Finds the peers of transfers between hosts whose group was not recorded. */
static tm_status find_peers(MPI_Comm comm, tm_loaded *loaded, tm_error *err) {
    tm_vec own = TM_VEC(tm_transfers), all = TM_VEC(tm_transfers);
    tm_status status = TM_OK;
    for (size_t i = 0; i < loaded->n_timelines && status == TM_OK; i++)
        if (!tm_transfers_list(&loaded->timelines[i], loaded->names, &own))
            status = tm_fail_memory(err);
    status = tm_mpi_agree(comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(comm, &own, &all, err);
    if (status == TM_OK)
        tm_transfers_resolve(&all);
    for (size_t i = 0; i < loaded->n_timelines && status == TM_OK && all.n > 0; i++)
        status = tm_transfers_apply(&all, &loaded->timelines[i], loaded->names, err);
    tm_vec_free(&own);
    tm_vec_free(&all);
    return tm_mpi_agree(comm, status, err);
}

tm_status tm_mpi_find_communicators(MPI_Comm comm, tm_loaded *loaded, tm_error *err) {
    tm_vec own = TM_VEC(tm_membership), answers = TM_VEC(tm_membership);
    tm_status status = TM_OK;
    bool all_reported = false;
    size_t n_alone = 0;
    int self;
    MPI_Comm_rank(comm, &self);
    for (size_t i = 0; i < loaded->n_timelines && status == TM_OK; i++)
        status = tm_memberships_list(&loaded->timelines[i], loaded->names, self, &own, err);
    status = tm_mpi_agree(comm, status, err);
    if (status == TM_OK)
        raise_world(comm, &own, loaded);
    if (status == TM_OK)
        status = join_groups(comm, self, loaded, &own, err);
    if (status == TM_OK)
        status = exchange(comm, &own, &answers, &n_alone, err);
    if (status == TM_OK)
        all_reported = have_all_reported(comm, loaded, n_alone);
    for (size_t i = 0; i < loaded->n_timelines && status == TM_OK; i++)
        status =
            tm_memberships_apply(&answers, all_reported, &loaded->timelines[i], loaded->names, err);
    tm_vec_free(&own);
    tm_vec_free(&answers);
    TM_TRY(tm_mpi_agree(comm, status, err));
    return find_peers(comm, loaded, err);
}

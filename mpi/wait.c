#include "wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "opening.h"
#include "pass_delays.h"
#include "set_exposed.h"
#include "waits/answers.h"
#include "waits/operations.h"

static int owner_of(uint64_t hash, int n_processes) {
    return (int)(hash % (uint64_t)n_processes);
}

static int reply_origin(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_answer_reply *)record)->origin;
}

/* Chooses the owner of a value by the text of its group. Groups with the same text give rows with
 * equal keys. If one process has all of these rows, their order does not depend on the number of
 * processes. */
static int value_owner(const void *record, int n_processes) {
    const char *text = ((const tm_instance_value *)record)->group_text;
    return owner_of(tm_hash_mixed(0, text, strlen(text)), n_processes);
}

static int pair_owner(const void *record, int n_processes) {
    return owner_of((uint64_t)((const tm_pair *)record)->rank, n_processes);
}

/* Finds who waited for whom, and sends the answers to the processes that hold the ranks. */
static tm_status send_answers(MPI_Comm comm, bool wants_pairs, tm_timeline *timelines, size_t n,
                              tm_collectives *out, tm_error *err) {
    tm_vec replies = TM_VEC(tm_answer_reply), here = TM_VEC(tm_answer_reply);
    tm_vec pairs = TM_VEC(tm_pair);
    tm_status status = TM_OK;
    for (size_t i = 0; i < n && status == TM_OK; i++)
        status = tm_answers_clear(&timelines[i], err);
    if (status == TM_OK)
        status = tm_answers_find(out, wants_pairs, &replies, &pairs, err);
    status = tm_mpi_agree(comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(comm, &replies, reply_origin, &here, err);
    for (size_t i = 0; i < here.n && status == TM_OK; i++)
        tm_answers_set(timelines, n, (const tm_answer_reply *)here.data + i);
    if (status == TM_OK)
        status = tm_mpi_shuffle(comm, &pairs, pair_owner, &out->pairs, err);
    TM_VECS_FREE(&replies, &here, &pairs);
    return status;
}

static tm_status spread_values(MPI_Comm comm, tm_collectives *out, tm_error *err) {
    tm_vec values = TM_VEC(tm_instance_value);
    tm_status status = tm_mpi_agree(comm, tm_operation_values(out, &values, err), err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(comm, &values, value_owner, &out->values, err);
    tm_vec_free(&values);
    return status;
}

static tm_status select_worst(MPI_Comm comm, tm_collectives *out, tm_error *err) {
    int n_processes;
    MPI_Comm_size(comm, &n_processes);
    size_t n = (size_t)n_processes * TM_WORST_MAX;
    tm_worst_key own[TM_WORST_MAX];
    tm_worst_key *all = malloc(n * sizeof *all);
    tm_status status = all ? tm_worst_find(out, own, err) : tm_fail_memory(err);
    status = tm_mpi_agree(comm, status, err);
    if (status == TM_OK && all) { /* if all processes agree on TM_OK, `all` is not NULL */
        MPI_Allgather(own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, comm);
        status = tm_mpi_agree(comm, tm_worst_keep(all, n, out, err), err);
    }
    free(all);
    return status;
}

tm_status tm_mpi_wait(MPI_Comm comm, int64_t n_ranks, tm_timeline *timelines, size_t n,
                      tm_collectives *collectives, tm_error *err) {
    TM_TRY(tm_mpi_opening(comm, timelines, n, collectives, err));
    TM_TRY(send_answers(comm, n_ranks <= TM_PAIR_RANKS_MAX, timelines, n, collectives, err));
    TM_TRY(tm_mpi_delay(comm, timelines, n, collectives, err));
    TM_TRY(spread_values(comm, collectives, err));
    TM_TRY(tm_mpi_exposed(comm, timelines, n, collectives, err));
    return select_worst(comm, collectives, err);
}

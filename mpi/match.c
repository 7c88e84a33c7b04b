#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "base/hash.h"
#include "match/groups.h"
#include "match/instances.h"
#include "match/loose.h"
#include "match/records.h"
#include "shuffle.h"
#include "waits/stages.h"

typedef struct matcher {
    MPI_Comm comm;
    int self;
    const tm_match_options *options;
    tm_timeline *timelines;
    size_t n;
    tm_collectives *out;
} matcher;

static int owner_of(uint64_t hash, int n_processes) {
    return (int)(hash % (uint64_t)n_processes);
}

static int record_owner(const void *record, int n_processes) {
    const tm_comm_record *r = record;
    uint64_t identity[3] = {r->group, r->key, r->way};
    return owner_of(tm_hash_mixed(0, identity, sizeof identity), n_processes);
}

static int sequence_owner(const void *record, int n_processes) {
    return owner_of(((const tm_sequence *)record)->group, n_processes);
}

static int end_owner(const void *record, int n_processes) {
    return owner_of(((const tm_end *)record)->group, n_processes);
}

/* All that a group has in one place: what its ranks do not agree on is aligned there. */
static int loose_owner(const void *record, int n_processes) {
    return owner_of(((const tm_comm_record *)record)->group, n_processes);
}

static int sequence_origin(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_sequence *)record)->origin;
}

/* Asks, for every run of kernels that only its order can match, whether all ranks agree on it. */
static tm_status compare_sequences(matcher *m, tm_match_input *input, tm_error *err) {
    tm_vec here = TM_VEC(tm_sequence), answers = TM_VEC(tm_sequence), ends = TM_VEC(tm_end);
    tm_status status = tm_mpi_shuffle(m->comm, &input->sequences, sequence_owner, &here, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(m->comm, &input->ends, end_owner, &ends, err);
    if (status == TM_OK) {
        uint64_t assumed = tm_group_world(m->options->world_size).id;
        status = tm_match_compare(here.data, here.n, ends.data, ends.n, assumed, err);
        status = tm_mpi_agree(m->comm, status, err);
    }
    if (status == TM_OK) {
        tm_vec_free(&ends);
        status = tm_mpi_shuffle(m->comm, &here, sequence_origin, &answers, err);
    }
    if (status == TM_OK)
        status = tm_mpi_agree(m->comm, tm_match_drop(input, answers.data, answers.n, err), err);
    tm_vec_free(&here);
    tm_vec_free(&answers);
    tm_vec_free(&ends);
    return status;
}

/* Brings together the kernels of groups whose ranks do not agree on their order, and adds those
 * that belong to an operation to the records of this process, which are then like any others. */
static tm_status align_loose(matcher *m, tm_match_input *input, tm_error *err) {
    tm_vec here = TM_VEC(tm_comm_record);
    tm_status status = tm_mpi_shuffle(m->comm, &input->loose, loose_owner, &here, err);
    if (status == TM_OK) {
        status = tm_match_loose(&here, &input->left_out, err);
        if (status == TM_OK && !tm_vec_append(&input->records, here.data, here.n))
            status = tm_fail_memory(err);
        status = tm_mpi_agree(m->comm, status, err);
    }
    tm_vec_free(&here);
    return status;
}

static tm_status collect(matcher *m, tm_match_input *input, tm_error *err) {
    tm_status status = TM_OK;
    for (size_t i = 0; i < m->n && status == TM_OK; i++)
        status = tm_match_add_rank(&m->timelines[i], m->options->names, m->options->world_size,
                                   m->self, input, err);
    return tm_mpi_agree(m->comm, status, err);
}

/* Brings the records of each operation together and makes instances of them. */
static tm_status match(matcher *m, tm_error *err) {
    tm_match_input input;
    tm_match_input_init(&input);
    tm_status status = collect(m, &input, err);
    if (status == TM_OK)
        status = compare_sequences(m, &input, err);
    if (status == TM_OK)
        status = align_loose(m, &input, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(m->comm, &input.records, record_owner, &m->out->records, err);
    m->out->left_out = input.left_out;
    input.left_out = TM_VEC(tm_left_out);
    tm_match_input_free(&input);
    TM_TRY(status);
    status = tm_match_instances(m->out, err);
    return tm_mpi_agree(m->comm, status, err);
}

tm_status tm_mpi_match(MPI_Comm comm, const tm_match_options *options, tm_timeline *timelines,
                       size_t n, tm_collectives *out, tm_error *err) {
    tm_collectives made = {
        .records = TM_VEC(tm_comm_record),
        .instances = TM_VEC(tm_instance),
        .values = TM_VEC(tm_instance_value),
        .worst = TM_VEC(tm_worst),
        .pairs = TM_VEC(tm_pair),
        .left_out = TM_VEC(tm_left_out),
        .costs = TM_VEC(tm_cost),
        .members = TM_VEC(tm_group_member),
        .stages = TM_VEC(tm_stage),
        .own_times = TM_VEC(tm_own_time),
    };
    matcher m = {comm, 0, options, timelines, n, &made};
    MPI_Comm_rank(comm, &m.self);
    tm_status status = match(&m, err);
    if (status == TM_OK)
        *out = made;
    else
        tm_collectives_free(&made);
    return status;
}

void tm_collectives_free(tm_collectives *collectives) {
    tm_vec_free(&collectives->records);
    tm_vec_free(&collectives->instances);
    tm_vec_free(&collectives->values);
    tm_vec_free(&collectives->worst);
    tm_vec_free(&collectives->pairs);
    tm_vec_free(&collectives->left_out);
    tm_vec_free(&collectives->costs);
    tm_vec_free(&collectives->members);
    tm_vec_free(&collectives->stages);
    tm_vec_free(&collectives->own_times);
}

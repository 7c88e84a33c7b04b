#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "assign_restarts.h"
#include "base/hash.h"
#include "base/sorted.h"
#include "match/infer.h"
#include "match/instances.h"
#include "match/loose.h"
#include "match/records.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "mpi/host_ranks.h"
#include "mpi/job_steps.h"
#include "mpi/load/communicator_ranks.h"
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

/* Owner function for tm_mpi_shuffle: one process gets all kernels of a group. It aligns them,
 * because their order differs between ranks. */
static int loose_owner(const void *record, int n_processes) {
    return owner_of(((const tm_comm_record *)record)->group, n_processes);
}

static int sequence_origin(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_sequence *)record)->origin;
}

/* For kernels that can be matched only by their order: finds out whether all ranks of a group
 * recorded the same sequence of operations. */
static tm_status compare_sequences(matcher *m, tm_match_input *input, tm_error *err) {
    tm_vec here = TM_VEC(tm_sequence), answers = TM_VEC(tm_sequence), ends = TM_VEC(tm_end);
    tm_status status = tm_mpi_shuffle(m->comm, &input->sequences, sequence_owner, &here, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(m->comm, &input->ends, end_owner, &ends, err);
    if (status == TM_OK) {
        tm_match_compare(here.data, here.n, ends.data, ends.n);
        tm_vec_free(&ends);
        status = tm_mpi_shuffle(m->comm, &here, sequence_origin, &answers, err);
    }
    if (status == TM_OK)
        status = tm_mpi_agree(m->comm, tm_match_drop(input, answers.data, answers.n, err), err);
    TM_VECS_FREE(&here, &answers, &ends);
    return status;
}

/* Matches the kernels of groups whose ranks recorded different orders, and adds the matched kernels
 * to this process's records. */
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

static int host_owner(const void *record, int n_processes) {
    const int32_t host = ((const tm_comm_record *)record)->domain;
    return owner_of(tm_hash_mixed(0, &host, sizeof host), n_processes);
}

static int operation_owner(const void *record, int n_processes) {
    return owner_of(((const tm_host_operation *)record)->family, n_processes);
}

static int member_owner(const void *record, int n_processes) {
    return owner_of(((const tm_host_member *)record)->family, n_processes);
}

static int group_origin(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_group_answer *)record)->origin;
}

static int answer_origin(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_operation_answer *)record)->origin;
}

/* Sets the hosts in the records of kernels without metadata. Sets *n_ranks to the number of ranks
 * with traces. */
static tm_status find_hosts(matcher *m, tm_vec *bare, int64_t *n_ranks, tm_error *err) {
    tm_vec all = TM_VEC(tm_host_rank);
    int32_t n_hosts;
    TM_TRY(tm_mpi_host_ranks(m->comm, m->options->names, m->timelines, m->n, &all, err));
    tm_status status = tm_hosts_number(all.data, all.n, &n_hosts, err);
    for (size_t i = 0; i < bare->n && status == TM_OK; i++) {
        tm_comm_record *record = (tm_comm_record *)bare->data + i;
        const tm_host_rank *found = tm_host_rank_find(&all, record->rank);
        record->domain = found ? found->number : -1;
    }
    *n_ranks = (int64_t)all.n;
    tm_vec_free(&all);
    return tm_mpi_agree(m->comm, status, err);
}

/* Joins clusters of different hosts. One process joins all clusters of a family (match/infer.h),
 * and sends the results to the processes that own the hosts. */
static tm_status join_hosts(matcher *m, const tm_infer_options *how, tm_host_report *report,
                            tm_host_answers *out, tm_error *err) {
    tm_host_report here = tm_host_report_empty();
    tm_host_answers answers = tm_host_answers_empty();
    tm_status status =
        tm_mpi_shuffle(m->comm, &report->operations, operation_owner, &here.operations, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(m->comm, &report->members, member_owner, &here.members, err);
    if (status == TM_OK)
        status = tm_mpi_agree(m->comm, tm_infer_job(&here, how, &answers, err), err);
    tm_host_report_free(&here);
    if (status == TM_OK)
        status = tm_mpi_shuffle(m->comm, &answers.groups, group_origin, &out->groups, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(m->comm, &answers.operations, answer_origin, &out->operations, err);
    tm_host_answers_free(&answers);
    return status;
}

/* Infers the operations of kernels without metadata, and adds the proven operations to this
 * process's records. */
static tm_status infer(matcher *m, tm_match_input *input, tm_error *err) {
    tm_host_report report = tm_host_report_empty();
    tm_host_answers answers = tm_host_answers_empty();
    tm_inference v;
    tm_inference_init(&v);
    int64_t n_ranks = 0;
    tm_status status = find_hosts(m, &input->bare, &n_ranks, err);
    /* If traces have different formats, some kernels of an operation may be in traces of another
     * format, so they are not among the records here. */
    bool differ = tm_mpi_formats_differ(m->comm, m->timelines, m->n, m->options->names);
    const tm_infer_options how = {.wall_uncertainty_ns = m->options->wall_uncertainty_ns,
                                  .all_here = n_ranks >= m->options->world_size && !differ};
    if (status == TM_OK)
        status = tm_mpi_shuffle(m->comm, &input->bare, host_owner, &v.records, err);
    if (status == TM_OK)
        status = tm_mpi_agree(m->comm, tm_infer_hosts(&v, m->self, &report, err), err);
    if (status == TM_OK)
        status = join_hosts(m, &how, &report, &answers, err);
    if (status == TM_OK)
        status = tm_mpi_agree(
            m->comm, tm_infer_finish(&v, &answers, &input->records, &input->left_out, err), err);
    tm_inference_free(&v);
    tm_host_report_free(&report);
    tm_host_answers_free(&answers);
    return status;
}

static tm_status collect(matcher *m, tm_match_input *input, tm_error *err) {
    tm_status status = TM_OK;
    for (size_t i = 0; i < m->n && status == TM_OK; i++)
        status = tm_match_add_rank(&m->timelines[i], m->options->names, m->options->world_size,
                                   m->self, input, err);
    return tm_mpi_agree(m->comm, status, err);
}

/* Collects the records of each operation on one process and makes instances of them. */
static tm_status match(matcher *m, tm_error *err) {
    tm_match_input input;
    tm_match_input_init(&input);
    tm_status status = collect(m, &input, err);
    if (status == TM_OK)
        status = compare_sequences(m, &input, err);
    if (status == TM_OK)
        status = align_loose(m, &input, err);
    if (status == TM_OK)
        status = infer(m, &input, err);
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
        .exposed = TM_VEC(tm_worst),
        .pairs = TM_VEC(tm_pair),
        .left_out = TM_VEC(tm_left_out),
        .costs = TM_VEC(tm_cost),
        .members = TM_VEC(tm_group_member),
        .stages = TM_VEC(tm_stage),
        .own_times = TM_VEC(tm_own_time),
    };
    matcher m = {comm, 0, options, timelines, n, &made};
    MPI_Comm_rank(comm, &m.self);
    tm_mpi_job_steps(comm, timelines, n);
    tm_status status = tm_mpi_restarts(comm, timelines, n, err);
    if (status == TM_OK)
        status = match(&m, err);
    if (status == TM_OK)
        *out = made;
    else
        tm_collectives_free(&made);
    return status;
}

void tm_collectives_free(tm_collectives *collectives) {
    TM_VECS_FREE(&collectives->records, &collectives->instances, &collectives->values,
                 &collectives->worst, &collectives->exposed, &collectives->pairs,
                 &collectives->left_out, &collectives->costs, &collectives->members,
                 &collectives->stages, &collectives->own_times);
}

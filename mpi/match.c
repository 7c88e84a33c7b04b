#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "analysis/blame.h"
#include "analysis/median.h"
#include "match/groups.h"
#include "match/instances.h"
#include "match/loose.h"
#include "match/records.h"
#include "shuffle.h"

/* An answer on its way to the process that holds the rank. */
typedef struct reply {
    tm_comm_answer answer;
    int64_t rank;
    uint32_t event;
    int32_t origin;
} reply;

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
    return owner_of(tm_group_hash(0, identity, sizeof identity), n_processes);
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

static int reply_origin(const void *record, int n_processes) {
    (void)n_processes;
    return ((const reply *)record)->origin;
}

/* By text: groups that share a name make rows with the same keys, whose order is kept only inside
 * one process. */
static int value_owner(const void *record, int n_processes) {
    const char *text = ((const tm_instance_value *)record)->group_text;
    return owner_of(tm_group_hash(0, text, strlen(text)), n_processes);
}

static int pair_owner(const void *record, int n_processes) {
    return owner_of((uint64_t)((const tm_pair *)record)->rank, n_processes);
}

/* Asks, for every run of kernels that only its order can match, whether all ranks agree on it. */
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
    tm_instance *instances = m->out->instances.data;
    for (size_t i = 0; i < m->out->instances.n && m->options->align == TM_ALIGN_NONE; i++)
        instances[i].waits = false;
    return tm_mpi_agree(m->comm, status, err);
}

static tm_status reply_instance(const tm_comm_record *members, const tm_instance *instance,
                                tm_pair_map *pairs, tm_vec *replies, tm_error *err) {
    tm_comm_answer *answers = calloc(instance->n, sizeof *answers);
    if (!answers)
        return tm_fail_memory(err);
    tm_status status = tm_blame_instance(members, instance, answers, pairs, err);
    for (size_t i = 0; i < instance->n && status == TM_OK; i++) {
        reply r = {answers[i], members[i].rank, members[i].event, members[i].origin};
        if (!tm_vec_append(replies, &r, 1))
            status = tm_fail_memory(err);
    }
    free(answers);
    return status;
}

static tm_status blame_all(matcher *m, tm_vec *replies, tm_vec *pairs, tm_error *err) {
    const tm_comm_record *records = m->out->records.data;
    const tm_instance *instances = m->out->instances.data;
    tm_pair_map map = {0};
    tm_pair_map *wanted = m->options->n_ranks <= TM_PAIR_RANKS_MAX ? &map : NULL;
    tm_status status = TM_OK;
    for (size_t i = 0; i < m->out->instances.n && status == TM_OK; i++)
        status = reply_instance(records + instances[i].first, &instances[i], wanted, replies, err);
    if (status == TM_OK && !tm_pair_map_drain(&map, pairs))
        status = tm_fail_memory(err);
    tm_pair_map_free(&map);
    return status;
}

static int by_rank(const void *a, const void *b) {
    const tm_timeline *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_event(const void *a, const void *b) {
    const tm_collective_attr *x = a, *y = b;
    return (x->event > y->event) - (x->event < y->event);
}

/* An event may be an operator as well; its attribute rows are unique by event. */
static void deliver(matcher *m, const reply *r) {
    tm_timeline wanted = {.rank = r->rank};
    tm_timeline *timeline = bsearch(&wanted, m->timelines, m->n, sizeof wanted, by_rank);
    tm_collective_attr key = {.event = r->event};
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    const tm_collective_attr *attr =
        bsearch(&key, attrs, timeline->n_attrs[TM_ATTR_COLLECTIVE], sizeof key, by_event);
    timeline->answers[attr - attrs] = r->answer;
}

static tm_status allocate_answers(matcher *m, tm_error *err) {
    for (size_t i = 0; i < m->n; i++) {
        size_t n = m->timelines[i].n_attrs[TM_ATTR_COLLECTIVE];
        m->timelines[i].answers = calloc(n + 1, sizeof(tm_comm_answer));
        if (!m->timelines[i].answers)
            return tm_fail_memory(err);
        for (size_t k = 0; k < n; k++)
            m->timelines[i].answers[k] = (tm_comm_answer){.wait_ns = -1, .step = -1};
    }
    return TM_OK;
}

/* Who waited for whom, told to the processes that hold the ranks. */
static tm_status answer(matcher *m, tm_error *err) {
    tm_vec replies = TM_VEC(reply), here = TM_VEC(reply), pairs = TM_VEC(tm_pair);
    tm_status status = allocate_answers(m, err);
    if (status == TM_OK)
        status = blame_all(m, &replies, &pairs, err);
    status = tm_mpi_agree(m->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(m->comm, &replies, reply_origin, &here, err);
    for (size_t i = 0; i < here.n && status == TM_OK; i++)
        deliver(m, (const reply *)here.data + i);
    if (status == TM_OK)
        status = tm_mpi_shuffle(m->comm, &pairs, pair_owner, &m->out->pairs, err);
    tm_vec_free(&replies);
    tm_vec_free(&here);
    tm_vec_free(&pairs);
    return status;
}

/* The median of the members' bytes: they are the same but for all-to-alls. -1 where one is
 * unknown. */
static int64_t median_bytes(const tm_comm_record *members, size_t n, int64_t *scratch) {
    for (size_t i = 0; i < n; i++) {
        if (members[i].bytes < 0)
            return -1;
        scratch[i] = members[i].bytes;
    }
    tm_sort_values(scratch, n);
    return tm_median(scratch, n);
}

static tm_status add_value(matcher *m, const tm_instance *instance, tm_vec *values, tm_error *err) {
    const tm_comm_record *members = (tm_comm_record *)m->out->records.data + instance->first;
    int64_t *scratch = malloc(instance->n * sizeof *scratch);
    if (!scratch)
        return tm_fail_memory(err);
    tm_instance_value value = {.group = members->group,
                               .bytes = median_bytes(members, instance->n, scratch),
                               .transfer_ns = -1,
                               .skew_ns = -1,
                               .group_size = members->group_size,
                               .kind = members->way == TM_MATCH_PAIR ? TM_COLL_SENDRECV
                                                                     : members->kind};
    free(scratch);
    memcpy(value.group_text, members->group_text, sizeof value.group_text);
    if (members->way == TM_MATCH_PAIR) /* all pairs of a group are one row */
        value.group = tm_group_hash(0, value.group_text, strlen(value.group_text));
    int64_t end = members->end_ns, begin = members->begin_ns;
    for (size_t i = 1; i < instance->n; i++) {
        end = members[i].end_ns > end ? members[i].end_ns : end;
        begin = members[i].begin_ns < begin ? members[i].begin_ns : begin;
    }
    if (instance->waits) {
        value.transfer_ns = end > instance->last_ns ? end - instance->last_ns : 0;
        value.skew_ns = instance->last_ns - begin;
    }
    return tm_vec_append(values, &value, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status spread_values(matcher *m, tm_error *err) {
    tm_vec values = TM_VEC(tm_instance_value);
    const tm_instance *instances = m->out->instances.data;
    tm_status status = TM_OK;
    for (size_t i = 0; i < m->out->instances.n && status == TM_OK; i++)
        if (instances[i].state == TM_INSTANCE_COMPLETE)
            status = add_value(m, &instances[i], &values, err);
    status = tm_mpi_agree(m->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(m->comm, &values, value_owner, &m->out->values, err);
    tm_vec_free(&values);
    return status;
}

/* What orders the worst: the wait of all its members, then the earlier, then its first kernel. */
typedef struct candidate {
    int64_t wait_ns, begin_ns, rank, event;
} candidate;

static int by_badness(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->wait_ns != y->wait_ns)
        return x->wait_ns > y->wait_ns ? -1 : 1;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static candidate candidate_of(const matcher *m, const tm_instance *instance) {
    const tm_comm_record *members = (tm_comm_record *)m->out->records.data + instance->first;
    candidate c = {0, members->begin_ns, members->rank, members->event};
    for (size_t i = 0; i < instance->n; i++) {
        c.wait_ns += tm_member_wait(&members[i], instance->last_ns);
        c.begin_ns = members[i].begin_ns < c.begin_ns ? members[i].begin_ns : c.begin_ns;
    }
    return c;
}

/* This process's worst, at most TM_WORST_MAX, in order; the rest of the array has wait -1. */
static tm_status own_worst(const matcher *m, candidate *out, tm_error *err) {
    const tm_instance *instances = m->out->instances.data;
    tm_vec all = TM_VEC(candidate);
    tm_status status = TM_OK;
    for (size_t i = 0; i < m->out->instances.n && status == TM_OK; i++) {
        candidate c = {0};
        if (instances[i].waits)
            c = candidate_of(m, &instances[i]);
        if (instances[i].waits && !tm_vec_append(&all, &c, 1))
            status = tm_fail_memory(err);
    }
    if (all.n > 1)
        qsort(all.data, all.n, all.size, by_badness);
    for (size_t i = 0; i < TM_WORST_MAX; i++)
        out[i] =
            i < all.n && status == TM_OK ? ((candidate *)all.data)[i] : (candidate){.wait_ns = -1};
    tm_vec_free(&all);
    return status;
}

/* The job's worst by all processes' worst; each keeps those that it matched. */
static tm_status keep_worst(matcher *m, const candidate *all, size_t n, tm_error *err) {
    const tm_instance *instances = m->out->instances.data;
    for (size_t i = 0; i < m->out->instances.n; i++) {
        if (!instances[i].waits)
            continue;
        candidate c = candidate_of(m, &instances[i]);
        const candidate *found = bsearch(&c, all, n, sizeof c, by_badness);
        tm_worst worst = {i, found ? found - all : 0};
        if (found && !tm_vec_append(&m->out->worst, &worst, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static tm_status select_worst(matcher *m, tm_error *err) {
    int n_processes;
    MPI_Comm_size(m->comm, &n_processes);
    size_t n = (size_t)n_processes * TM_WORST_MAX;
    candidate own[TM_WORST_MAX];
    candidate *all = malloc(n * sizeof *all);
    tm_status status = all ? own_worst(m, own, err) : tm_fail_memory(err);
    status = tm_mpi_agree(m->comm, status, err);
    if (status == TM_OK) {
        MPI_Allgather(own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, m->comm);
        qsort(all, n, sizeof *all, by_badness);
        n = n < TM_WORST_MAX ? n : TM_WORST_MAX;
        while (n > 0 && all[n - 1].wait_ns < 0)
            n--;
        status = tm_mpi_agree(m->comm, keep_worst(m, all, n, err), err);
    }
    free(all);
    return status;
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
    };
    matcher m = {comm, 0, options, timelines, n, &made};
    MPI_Comm_rank(comm, &m.self);
    tm_status status = match(&m, err);
    if (status == TM_OK)
        status = answer(&m, err);
    if (status == TM_OK)
        status = spread_values(&m, err);
    if (status == TM_OK)
        status = select_worst(&m, err);
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
}

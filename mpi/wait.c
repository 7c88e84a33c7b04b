#include "wait.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "base/median.h"
#include "base/sums.h"
#include "delay.h"
#include "match/groups.h"
#include "shuffle.h"
#include "waits/blame.h"

/* An answer on its way to the process that holds the rank. */
typedef struct reply {
    tm_comm_answer answer;
    int64_t rank;
    uint32_t event, first_event;
    int32_t first_rank; /* with first_event its operation */
    int32_t origin;
} reply;

typedef struct waiter {
    MPI_Comm comm;
    bool wants_pairs;
    tm_timeline *timelines;
    size_t n;
    tm_collectives *out;
} waiter;

static int owner_of(uint64_t hash, int n_processes) {
    return (int)(hash % (uint64_t)n_processes);
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

static tm_status reply_instance(const tm_comm_record *members, const tm_instance *instance,
                                tm_pair_map *pairs, tm_vec *replies, tm_error *err) {
    tm_comm_answer *answers = calloc(instance->n, sizeof *answers);
    if (!answers)
        return tm_fail_memory(err);
    tm_status status = tm_blame_instance(members, instance, answers, pairs, err);
    for (size_t i = 0; i < instance->n && status == TM_OK; i++) {
        reply r = {answers[i],       members[i].rank,          members[i].event,
                   members[0].event, (int32_t)members[0].rank, members[i].origin};
        if (!tm_vec_append(replies, &r, 1))
            status = tm_fail_memory(err);
    }
    free(answers);
    return status;
}

static tm_status blame_all(waiter *w, tm_vec *replies, tm_vec *pairs, tm_error *err) {
    const tm_comm_record *records = w->out->records.data;
    const tm_instance *instances = w->out->instances.data;
    tm_pair_map map = {0};
    tm_pair_map *wanted = w->wants_pairs ? &map : NULL;
    tm_status status = TM_OK;
    for (size_t i = 0; i < w->out->instances.n && status == TM_OK; i++)
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
static void deliver(waiter *w, const reply *r) {
    tm_timeline wanted = {.rank = r->rank};
    tm_timeline *timeline = bsearch(&wanted, w->timelines, w->n, sizeof wanted, by_rank);
    tm_collective_attr key = {.event = r->event};
    tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    tm_collective_attr *attr =
        bsearch(&key, attrs, timeline->n_attrs[TM_ATTR_COLLECTIVE], sizeof key, by_event);
    timeline->answers[attr - attrs] = r->answer;
    attr->wait_ns = r->answer.wait_ns;
    attr->first_rank = r->first_rank;
    attr->first_event = r->first_event;
}

static tm_status allocate_answers(waiter *w, tm_error *err) {
    for (size_t i = 0; i < w->n; i++) {
        size_t n = w->timelines[i].n_attrs[TM_ATTR_COLLECTIVE];
        w->timelines[i].answers = calloc(n + 1, sizeof(tm_comm_answer));
        if (!w->timelines[i].answers)
            return tm_fail_memory(err);
        tm_collective_attr *attrs = w->timelines[i].attrs[TM_ATTR_COLLECTIVE];
        for (size_t k = 0; k < n; k++) {
            w->timelines[i].answers[k] = (tm_comm_answer){.wait_ns = -1, .step = -1};
            attrs[k].wait_ns = attrs[k].first_rank = -1;
            attrs[k].first_event = 0;
        }
    }
    return TM_OK;
}

/* Who waited for whom, told to the processes that hold the ranks. */
static tm_status answer(waiter *w, tm_error *err) {
    tm_vec replies = TM_VEC(reply), here = TM_VEC(reply), pairs = TM_VEC(tm_pair);
    tm_status status = allocate_answers(w, err);
    if (status == TM_OK)
        status = blame_all(w, &replies, &pairs, err);
    status = tm_mpi_agree(w->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(w->comm, &replies, reply_origin, &here, err);
    for (size_t i = 0; i < here.n && status == TM_OK; i++)
        deliver(w, (const reply *)here.data + i);
    if (status == TM_OK)
        status = tm_mpi_shuffle(w->comm, &pairs, pair_owner, &w->out->pairs, err);
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

/* Times of the members: the earliest begin and latest end on the job's clock, and sums. */
static void add_times(const tm_comm_record *members, const tm_instance *instance,
                      tm_instance_value *value) {
    int64_t end = members->end_ns, begin = members->begin_ns;
    value->shortest_ns = end - begin;
    for (size_t i = 0; i < instance->n; i++) {
        int64_t duration = members[i].end_ns - members[i].begin_ns;
        end = members[i].end_ns > end ? members[i].end_ns : end;
        begin = members[i].begin_ns < begin ? members[i].begin_ns : begin;
        value->shortest_ns = duration < value->shortest_ns ? duration : value->shortest_ns;
        value->comm_ns = tm_sum(value->comm_ns, duration);
        if (instance->waits)
            value->waited_ns =
                tm_sum(value->waited_ns, tm_member_wait(&members[i], instance->last_ns));
    }
    if (instance->waits) {
        value->transfer_ns = end > instance->last_ns ? end - instance->last_ns : 0;
        value->skew_ns = instance->last_ns - begin;
    }
}

static tm_status add_value(waiter *w, const tm_instance *instance, tm_vec *values, tm_error *err) {
    const tm_comm_record *members = (tm_comm_record *)w->out->records.data + instance->first;
    int64_t *scratch = malloc(instance->n * sizeof *scratch);
    if (!scratch)
        return tm_fail_memory(err);
    bool pair = members->way == TM_MATCH_PAIR;
    tm_instance_value value = {.group = members->group,
                               .bytes = median_bytes(members, instance->n, scratch),
                               .transfer_ns = -1,
                               .skew_ns = -1,
                               .group_size = members->group_size,
                               .kind = pair ? TM_COLL_SENDRECV : members->kind,
                               .state = instance->state,
                               .process_group = members->process_group,
                               .process_group_size = members->process_group_size,
                               .description = members->description,
                               .from = -1,
                               .to = -1};
    free(scratch);
    memcpy(value.group_text, members->group_text, sizeof value.group_text);
    if (pair) /* all pairs of a group are one row */
        value.group = tm_group_hash(0, value.group_text, strlen(value.group_text));
    for (size_t i = 0; i < instance->n && pair; i++)
        *(members[i].kind == TM_COLL_SEND ? &value.from : &value.to) = (int32_t)members[i].rank;
    add_times(members, instance, &value);
    return tm_vec_append(values, &value, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status spread_values(waiter *w, tm_error *err) {
    tm_vec values = TM_VEC(tm_instance_value);
    const tm_instance *instances = w->out->instances.data;
    tm_status status = TM_OK;
    for (size_t i = 0; i < w->out->instances.n && status == TM_OK; i++)
        status = add_value(w, &instances[i], &values, err);
    status = tm_mpi_agree(w->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(w->comm, &values, value_owner, &w->out->values, err);
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

static candidate candidate_of(const waiter *w, const tm_instance *instance) {
    const tm_comm_record *members = (tm_comm_record *)w->out->records.data + instance->first;
    candidate c = {0, members->begin_ns, members->rank, members->event};
    for (size_t i = 0; i < instance->n; i++) {
        c.wait_ns += tm_member_wait(&members[i], instance->last_ns);
        c.begin_ns = members[i].begin_ns < c.begin_ns ? members[i].begin_ns : c.begin_ns;
    }
    return c;
}

/* This process's worst, at most TM_WORST_MAX, in order; the rest of the array has wait -1. */
static tm_status own_worst(const waiter *w, candidate *out, tm_error *err) {
    const tm_instance *instances = w->out->instances.data;
    tm_vec all = TM_VEC(candidate);
    tm_status status = TM_OK;
    for (size_t i = 0; i < w->out->instances.n && status == TM_OK; i++) {
        candidate c = {0};
        if (instances[i].waits)
            c = candidate_of(w, &instances[i]);
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
static tm_status keep_worst(waiter *w, const candidate *all, size_t n, tm_error *err) {
    const tm_instance *instances = w->out->instances.data;
    for (size_t i = 0; i < w->out->instances.n; i++) {
        if (!instances[i].waits)
            continue;
        candidate c = candidate_of(w, &instances[i]);
        const candidate *found = bsearch(&c, all, n, sizeof c, by_badness);
        tm_worst worst = {i, found ? found - all : 0};
        if (found && !tm_vec_append(&w->out->worst, &worst, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static tm_status select_worst(waiter *w, tm_error *err) {
    int n_processes;
    MPI_Comm_size(w->comm, &n_processes);
    size_t n = (size_t)n_processes * TM_WORST_MAX;
    candidate own[TM_WORST_MAX];
    candidate *all = malloc(n * sizeof *all);
    tm_status status = all ? own_worst(w, own, err) : tm_fail_memory(err);
    status = tm_mpi_agree(w->comm, status, err);
    if (status == TM_OK && all) { /* which it has where all agree */
        MPI_Allgather(own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, w->comm);
        qsort(all, n, sizeof *all, by_badness);
        n = n < TM_WORST_MAX ? n : TM_WORST_MAX;
        while (n > 0 && all[n - 1].wait_ns < 0)
            n--;
        status = tm_mpi_agree(w->comm, keep_worst(w, all, n, err), err);
    }
    free(all);
    return status;
}

tm_status tm_mpi_wait(MPI_Comm comm, int64_t n_ranks, tm_timeline *timelines, size_t n,
                      tm_collectives *collectives, tm_error *err) {
    waiter w = {comm, n_ranks <= TM_PAIR_RANKS_MAX, timelines, n, collectives};
    TM_TRY(answer(&w, err));
    TM_TRY(tm_mpi_delay(comm, timelines, n, collectives, err));
    TM_TRY(spread_values(&w, err));
    return select_worst(&w, err);
}

#include "instances.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "base/sums.h"

TM_ORDER_BY(by_operation, tm_comm_record, group, way, key, rank, event);

static bool same_operation(const tm_comm_record *a, const tm_comm_record *b) {
    return a->group == b->group && a->way == b->way && a->key == b->key;
}

static bool contradicts(const tm_comm_record *a, const tm_comm_record *b) {
    if (a->rank == b->rank || a->group_size != b->group_size)
        return true;
    bool pair = a->way == TM_MATCH_PAIR;
    if (pair ? a->kind == b->kind : a->kind != b->kind)
        return true;
    return a->kind != TM_COLL_ALLTOALL && a->bytes != b->bytes && !a->tagged;
}

/* Returns whether a recorded member of an incomplete barrier arrived last. A barrier moves no data:
 * a member that stayed no longer than the barrier itself takes did not wait. */
static bool has_last(const tm_comm_record *records, size_t n) {
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found = found || records[i].end_ns - records[i].begin_ns <= TM_BARRIER_NS;
    return found && records->kind == TM_COLL_BARRIER;
}

/* Returns whether the kind is not known from the kernel's name (see tm_comm_calls_ask). */
static bool is_open(uint8_t kind) {
    return kind == TM_COLL_SENDRECV || kind == TM_COLL_OTHER;
}

/* Copies the kind of an operation from a rank that knows it to the ranks that do not know it. The
 * kind is known from the call that launched the kernel, but a recording may start between the call
 * and the kernel. */
static void agree_on_kind(tm_comm_record *records, size_t n) {
    const tm_comm_record *reported = records;
    for (size_t i = 1; i < n && is_open(reported->kind); i++)
        reported = &records[i];
    for (size_t i = 0; i < n && records->way == TM_MATCH_INFERRED && !is_open(reported->kind); i++)
        if (is_open(records[i].kind))
            records[i].kind = reported->kind;
}

static tm_instance make_instance(const tm_comm_record *records, size_t first, size_t n) {
    tm_instance instance = {.first = first, .n = n, .last_ns = tm_members_last(records + first, n)};
    bool suspect = false;
    for (size_t i = first + 1; i < first + n; i++)
        suspect = suspect || contradicts(&records[i - 1], &records[i]);
    bool complete = (int64_t)n == records[first].group_size;
    suspect = suspect || (int64_t)n > records[first].group_size;
    instance.state = suspect    ? TM_INSTANCE_SUSPECT
                     : complete ? TM_INSTANCE_COMPLETE
                                : TM_INSTANCE_INCOMPLETE;
    bool all = instance.state == TM_INSTANCE_COMPLETE ||
               (instance.state == TM_INSTANCE_INCOMPLETE && has_last(records + first, n));
    instance.waits =
        all && n > 1 &&
        (tm_collective_synchronises(records[first].kind) || (records[first].exchange && n == 2));
    instance.transfers =
        instance.state == TM_INSTANCE_COMPLETE && n == 2 && records[first].way == TM_MATCH_PAIR;
    return instance;
}

/* Sets the size of a received MPI message to the size that the sender recorded. */
static void agree_on_bytes(tm_comm_record *records, size_t n) {
    if (n != 2 || !records->tagged)
        return;
    if (records[0].kind == TM_COLL_SEND)
        records[1].bytes = records[0].bytes;
    else
        records[0].bytes = records[1].bytes;
}

tm_status tm_match_instances(tm_collectives *collectives, tm_error *err) {
    tm_comm_record *records = collectives->records.data;
    size_t n = collectives->records.n;
    if (n > 1)
        qsort(records, n, sizeof *records, by_operation);
    for (size_t first = 0, i = 0; first < n; first = i) {
        for (i = first + 1; i < n && same_operation(&records[first], &records[i]); i++)
            ;
        agree_on_bytes(records + first, i - first);
        agree_on_kind(&records[first], i - first);
        tm_instance instance = make_instance(records, first, i - first);
        if (!tm_vec_append(&collectives->instances, &instance, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static bool has_root(uint8_t kind) {
    return kind == TM_COLL_BROADCAST || kind == TM_COLL_REDUCE || kind == TM_COLL_GATHER ||
           kind == TM_COLL_SCATTER;
}

bool tm_instance_met(const tm_instance *instance, const tm_comm_record *members) {
    const tm_comm_record *last = members;
    int64_t earlier_ns = 0, longer_ns = 0;
    for (size_t i = 1; i < instance->n; i++)
        last = members[i].begin_ns > last->begin_ns ? &members[i] : last;
    bool met = instance->state == TM_INSTANCE_COMPLETE && instance->n > 1 && members->bytes != 0 &&
               has_root(members->kind);
    for (size_t i = 0; i < instance->n && met; i++) {
        const tm_comm_record *m = &members[i];
        const int64_t before_ns = last->begin_ns - m->begin_ns;
        met = m == last || m->end_ns - last->begin_ns > tm_joint_uncertainty(m, last);
        earlier_ns = tm_sum(earlier_ns, before_ns);
        longer_ns = tm_sum(longer_ns, m->end_ns - last->end_ns + before_ns);
    }
    return met && longer_ns >= earlier_ns / 2;
}

#include "joins.h"

#include <stdlib.h>

#include "base/keys.h"
#include "base/median.h"
#include "base/sorted.h"

/* Operations that take equally long, if nothing is wrong. */
typedef struct alike {
    uint64_t group;
    int64_t bytes;
    uint64_t kind;
} alike;

typedef struct timed {
    uint32_t alike; /* number of the key */
    uint32_t visit;
    int64_t ns;
} timed;

static int by_alike(const void *a, const void *b) {
    const timed *x = a, *y = b;
    int order = tm_order_i64(x->alike, y->alike);
    return order ? order : tm_order_i64(x->ns, y->ns);
}

static bool add_instance(const tm_instance *instance, const tm_comm_record *members,
                         int64_t root_ns, tm_keys *keys, tm_vec *times, tm_vec *visits) {
    const alike key = {members->group, members->bytes, members->kind};
    uint32_t number = tm_keys_add(keys, &key);
    for (size_t i = 0; i < instance->n; i++) {
        const tm_replay_visit visit = {
            .rank = members[i].rank,
            .last_ns = instance->last_ns - root_ns,
            .operation = (uint64_t)members->rank << 32 | members->event,
            .event = members[i].event,
            .origin = members[i].origin,
        };
        int64_t ns = members[i].end_ns - instance->last_ns;
        const timed time = {number, (uint32_t)visits->n, ns > 0 ? ns : 0};
        if (number == TM_NO_KEY || !tm_vec_append(visits, &visit, 1) ||
            (ns >= 0 && !tm_vec_append(times, &time, 1)))
            return false;
    }
    return true;
}

/* A rank of a group. */
typedef struct party {
    uint64_t group;
    int64_t rank;
    int32_t origin;
} party;

static int by_party(const void *a, const void *b) {
    const party *x = a, *y = b;
    int order = tm_order_u64(x->group, y->group);
    return order ? order : tm_order_i64(x->rank, y->rank);
}

/* All ranks of the groups that are owned here, each once, by group. */
static bool find_parties(const tm_collectives *collectives, tm_vec *out) {
    const tm_comm_record *records = collectives->records.data;
    for (size_t i = 0; i < collectives->records.n; i++) {
        const party p = {records[i].group, records[i].rank, records[i].origin};
        if (!tm_vec_append(out, &p, 1))
            return false;
    }
    party *v = out->data;
    size_t kept = 0;
    if (out->n > 1)
        qsort(v, out->n, sizeof *v, by_party);
    for (size_t i = 0; i < out->n; i++)
        if (kept == 0 || by_party(&v[kept - 1], &v[i]) != 0)
            v[kept++] = v[i];
    out->n = kept;
    return true;
}

static bool is_before_group(const void *element, const void *key) {
    return ((const party *)element)->group < *(const uint64_t *)key;
}

static int64_t median_end(const tm_comm_record *members, size_t n) {
    int64_t *ends = malloc(n * sizeof *ends);
    for (size_t i = 0; i < n && ends; i++)
        ends[i] = members[i].end_ns;
    int64_t end = ends ? tm_median_any(ends, n) : members->end_ns;
    free(ends);
    return end;
}

/* A visit for each rank of the group that has no kernel in an operation. */
static bool add_missing(const tm_instance *instance, const tm_comm_record *members, int64_t root_ns,
                        const tm_vec *parties, tm_vec *visits) {
    const party *v = parties->data;
    size_t k = 0, at = tm_bisect(v, parties->n, sizeof *v, &members->group, is_before_group);
    int64_t end_ns = median_end(members, instance->n);
    for (; at < parties->n && v[at].group == members->group; at++) {
        while (k < instance->n && members[k].rank < v[at].rank)
            k++;
        if (k < instance->n && members[k].rank == v[at].rank)
            continue;
        const tm_replay_visit visit = {.rank = v[at].rank,
                                       .last_ns = instance->last_ns - root_ns,
                                       .operation = (uint64_t)members->rank << 32 | members->event,
                                       .end_ns = end_ns - root_ns,
                                       .event = TM_NO_EVENT,
                                       .origin = v[at].origin};
        if (!tm_vec_append(visits, &visit, 1))
            return false;
    }
    return true;
}

static void set_usual(tm_vec *times, tm_replay_visit *visits) {
    timed *v = times->data;
    if (times->n > 1)
        qsort(v, times->n, sizeof *v, by_alike);
    for (size_t first = 0, end = 0; first < times->n; first = end) {
        while (end < times->n && v[end].alike == v[first].alike)
            end++;
        int64_t middle = v[first + (end - first - 1) / 2].ns,
                upper = v[first + (end - first) / 2].ns;
        for (size_t i = first; i < end; i++)
            visits[v[i].visit].usual_ns = middle + (upper - middle) / 2;
    }
}

tm_status tm_joins_visits(const tm_collectives *collectives, int64_t root_ns, tm_vec *visits,
                          tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    tm_keys keys = TM_KEYS(alike);
    tm_vec times = TM_VEC(timed);
    tm_vec parties = TM_VEC(party);
    bool ok = true, incomplete = false;
    for (size_t i = 0; i < collectives->instances.n; i++)
        incomplete = incomplete || instances[i].state == TM_INSTANCE_INCOMPLETE;
    if (incomplete)
        ok = find_parties(collectives, &parties);
    for (size_t i = 0; i < collectives->instances.n && ok; i++) {
        const tm_comm_record *members =
            (const tm_comm_record *)collectives->records.data + instances[i].first;
        if (instances[i].joins)
            ok = add_instance(&instances[i], members, root_ns, &keys, &times, visits) &&
                 (instances[i].state != TM_INSTANCE_INCOMPLETE ||
                  add_missing(&instances[i], members, root_ns, &parties, visits));
    }
    if (ok)
        set_usual(&times, visits->data);
    tm_keys_free(&keys);
    tm_vec_free(&times);
    tm_vec_free(&parties);
    return ok ? TM_OK : tm_fail_memory(err);
}

static int by_rank(const void *a, const void *b) {
    const tm_replay_visit *x = a, *y = b;
    int order = tm_order_i64(x->rank, y->rank);
    order = order ? order : tm_order_i64(x->event, y->event);
    return order ? order : tm_order_u64(x->operation, y->operation);
}

void tm_joins_sort(tm_vec *visits) {
    if (visits->n > 1)
        qsort(visits->data, visits->n, visits->size, by_rank);
}

#include "joins.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"

tm_status tm_joins_members(const tm_collectives *collectives, const tm_timebase *base,
                           tm_vec *members, tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        const tm_comm_record *r =
            (const tm_comm_record *)collectives->records.data + instances[i].first;
        for (size_t k = 0; k < instances[i].n && instances[i].joins; k++) {
            const tm_join_member member = {
                .group = r->group,
                .operation = (uint64_t)r->rank << 32 | r->event,
                .bytes = r->bytes,
                .rank = r[k].rank,
                .last_ns = tm_timebase_of(base, instances[i].last_ns),
                .end_ns = tm_timebase_of(base, r[k].end_ns),
                .event = r[k].event,
                .origin = r[k].origin,
                .kind = r->kind,
                .incomplete = instances[i].state == TM_INSTANCE_INCOMPLETE,
            };
            if (!tm_vec_append(members, &member, 1))
                return tm_fail_memory(err);
        }
    }
    return TM_OK;
}

TM_ORDER_BY(by_operation, tm_join_member, group, operation, rank, event);

/* The transfer time of an operation. Operations of the same group, size and kind should take
 * equally long. */
typedef struct timed {
    uint64_t group;
    int64_t bytes, ns;
    uint32_t participant;
    uint8_t kind;
} timed;

static int by_kind(const timed *x, const timed *y) {
    int order = tm_order_u64(x->group, y->group);
    order = order ? order : tm_order_i64(x->bytes, y->bytes);
    return order ? order : tm_order_i64(x->kind, y->kind);
}

static int by_time(const void *a, const void *b) {
    const timed *x = a, *y = b;
    int order = by_kind(x, y);
    return order ? order : tm_order_i64(x->ns, y->ns);
}

static bool add_member(const tm_join_member *m, tm_vec *times, tm_vec *participants) {
    const timed time = {m->group, m->bytes, m->end_ns - m->last_ns, (uint32_t)participants->n,
                        m->kind};
    const tm_replay_participant participant = {.rank = m->rank,
                                               .last_ns = m->last_ns,
                                               .operation = m->operation,
                                               .event = m->event,
                                               .origin = m->origin};
    return tm_vec_append(participants, &participant, 1) &&
           (time.ns < 0 || tm_vec_append(times, &time, 1));
}

static void set_usual(tm_vec *times, tm_replay_participant *participants) {
    timed *v = times->data;
    tm_vec_sort(times, by_time);
    for (size_t first = 0, end = 0; first < times->n; first = end) {
        while (end < times->n && by_kind(&v[first], &v[end]) == 0)
            end++;
        int64_t low = v[first + (end - first - 1) / 2].ns, high = v[first + (end - first) / 2].ns;
        for (size_t i = first; i < end; i++)
            participants[v[i].participant].usual_ns = low + (high - low) / 2;
    }
}

/* A rank of a group, and the process that holds it. */
typedef struct cluster {
    int64_t rank;
    int32_t origin;
} cluster;

TM_ORDER_BY(by_cluster, cluster, rank);

/* Lists the ranks of a group, each once. @p members [n] are the members of all operations of the
 * group. */
static bool find_clusters(const tm_join_member *members, size_t n, tm_vec *out) {
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        const cluster p = {members[i].rank, members[i].origin};
        if (!tm_vec_append(out, &p, 1))
            return false;
    }
    cluster *v = out->data;
    size_t kept = 0;
    qsort(v, n, sizeof *v, by_cluster);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || v[kept - 1].rank != v[i].rank)
            v[kept++] = v[i];
    out->n = kept;
    return true;
}

static bool find_median_end(const tm_join_member *members, size_t n, int64_t *out) {
    int64_t *ends = malloc(n * sizeof *ends);
    if (!ends)
        return false;
    for (size_t i = 0; i < n; i++)
        ends[i] = members[i].end_ns;
    *out = tm_median_any(ends, n);
    free(ends);
    return true;
}

/* Appends a participation for each rank of the group that has no kernel in an operation. @p members
 * [n] are the operation's kernels. */
static bool add_missing(const tm_join_member *members, size_t n, const tm_vec *clusters,
                        tm_vec *participants) {
    const cluster *v = clusters->data;
    int64_t end_ns;
    if (!find_median_end(members, n, &end_ns))
        return false;
    for (size_t at = 0, k = 0; at < clusters->n; at++) {
        while (k < n && members[k].rank < v[at].rank)
            k++;
        if (k < n && members[k].rank == v[at].rank)
            continue;
        const tm_replay_participant participant = {.rank = v[at].rank,
                                                   .last_ns = members->last_ns,
                                                   .operation = members->operation,
                                                   .end_ns = end_ns,
                                                   .event = TM_NO_EVENT,
                                                   .origin = v[at].origin};
        if (!tm_vec_append(participants, &participant, 1))
            return false;
    }
    return true;
}

/* Appends the participations in all operations of one group. */
static bool add_group(const tm_join_member *v, size_t n, tm_vec *clusters, tm_vec *times,
                      tm_vec *participants) {
    bool ok = true, known = false;
    for (size_t first = 0, end = 0; first < n && ok; first = end) {
        for (; end < n && v[end].operation == v[first].operation && ok; end++)
            ok = add_member(&v[end], times, participants);
        if (!v[first].incomplete || !ok)
            continue;
        ok = (known || find_clusters(v, n, clusters)) &&
             add_missing(v + first, end - first, clusters, participants);
        known = true;
    }
    return ok;
}

tm_status tm_joins_participants(tm_vec *members, tm_vec *participants, tm_error *err) {
    const tm_join_member *v = members->data;
    tm_vec times = TM_VEC(timed), clusters = TM_VEC(cluster);
    bool ok = true;
    tm_vec_sort(members, by_operation);
    for (size_t first = 0, end = 0; first < members->n && ok; first = end) {
        while (end < members->n && v[end].group == v[first].group)
            end++;
        ok = add_group(v + first, end - first, &clusters, &times, participants);
    }
    if (ok)
        set_usual(&times, participants->data);
    tm_vec_free(&times);
    tm_vec_free(&clusters);
    return ok ? TM_OK : tm_fail_memory(err);
}

TM_ORDER_BY(by_rank, tm_replay_participant, rank, event, end_ns, operation);

void tm_joins_sort(tm_vec *participants) {
    tm_vec_sort(participants, by_rank);
}

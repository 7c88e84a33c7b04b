#include "stages.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

enum { PARTNERS_MOST = 4 };

tm_status tm_stages_edges(const tm_collectives *collectives, tm_vec *edges, tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    uint64_t group = 0;
    size_t first = edges->n;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        const tm_comm_record *members =
            (const tm_comm_record *)collectives->records.data + instances[i].first;
        bool alone = members->transfer_alone && members->way == TM_MATCH_PAIR &&
                     instances[i].state == TM_INSTANCE_COMPLETE;
        if (!instances[i].transfers && !alone)
            continue;
        const tm_comm_record *sender = &members[members[0].kind == TM_COLL_SEND ? 0 : 1];
        const tm_comm_record *receiver = &members[sender == members];
        tm_stage_edge edge = {sender->rank, receiver->rank, sender->begin_ns, receiver->end_ns};
        tm_stage_edge *known = edges->data;
        /* All transfers of a pair of ranks, in either direction, are adjacent. */
        if (members->group != group)
            first = edges->n;
        group = members->group;
        size_t k = first;
        while (k < edges->n && known[k].from != edge.from)
            k++;
        if (k < edges->n && edge.begin_ns < known[k].begin_ns)
            known[k] = edge;
        if (k == edges->n && !tm_vec_append(edges, &edge, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

TM_ORDER_BY(by_time, tm_stage_edge, begin_ns, from, to);

static tm_stage *find(const tm_vec *stages, int64_t rank) {
    size_t at = TM_FIRST_FROM(tm_stage, rank, stages->data, stages->n, rank);
    tm_stage *v = stages->data;
    return at < stages->n && v[at].rank == rank ? &v[at] : NULL;
}

int64_t tm_stage_of(const tm_vec *stages, int64_t rank) {
    const tm_stage *found = find(stages, rank);
    return found ? found->stage : -1;
}

TM_ORDER_BY(by_rank, tm_stage, rank);

/* Lists the ranks of all edges, each rank once. Sets `stage` of each rank to its number of edges.
 * Returns false when out of memory. */
static bool list_ranks(const tm_stage_edge *edges, size_t n, tm_vec *stages) {
    tm_stage *v;
    size_t kept = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        tm_stage s = {i % 2 ? edges[i / 2].to : edges[i / 2].from, 1};
        if (!tm_vec_append(stages, &s, 1))
            return false;
    }
    v = stages->data;
    tm_vec_sort(stages, by_rank);
    for (size_t i = 0; i < stages->n; i++) {
        if (kept > 0 && v[kept - 1].rank == v[i].rank)
            v[kept - 1].stage++;
        else
            v[kept++] = v[i];
    }
    stages->n = kept;
    return true;
}

/* Numbers the stages: a rank is one stage after the lowest stage that sends to it. Stage 0 must
 * already be set. */
static void number_stages(const tm_stage_edge *edges, size_t n, tm_vec *stages) {
    bool any = true;
    for (int64_t stage = 0; any; stage++) {
        any = false;
        for (size_t i = 0; i < n; i++) {
            const tm_stage *from = find(stages, edges[i].from);
            tm_stage *to = find(stages, edges[i].to);
            if (from->stage != stage || to->stage >= 0)
                continue;
            to->stage = stage + 1;
            any = true;
        }
    }
}

static int by_pair(const void *a, const void *b) {
    const tm_stage_edge *x = a, *y = b;
    int64_t x_low = x->from < x->to ? x->from : x->to, x_high = x->from + x->to - x_low;
    int64_t y_low = y->from < y->to ? y->from : y->to, y_high = y->from + y->to - y_low;
    int order = tm_order_i64(x_low, y_low);
    order = order ? order : tm_order_i64(x_high, y_high);
    return order ? order : by_time(a, b);
}

static bool same_pair(const tm_stage_edge *a, const tm_stage_edge *b) {
    return (a->from == b->from && a->to == b->to) || (a->from == b->to && a->to == b->from);
}

static int by_sender(const void *a, const void *b) {
    int order = tm_order_i64(((const tm_stage_edge *)a)->from, ((const tm_stage_edge *)b)->from);
    return order ? order : by_time(a, b);
}

/* Returns whether the receiver of a transfer sent something before the transfer ended.
 * @param by_sender  [n] all transfers, sorted by sender, then time */
static bool is_exchange(const tm_stage_edge *edge, const tm_stage_edge *by_sender, size_t n) {
    const size_t first = TM_FIRST_FROM(tm_stage_edge, from, by_sender, n, edge->to);
    return first < n && by_sender[first].from == edge->to &&
           by_sender[first].begin_ns < edge->end_ns;
}

/* Removes exchanges from the edges. Returns the number of edges that are left, or SIZE_MAX when out
 * of memory. */
static size_t drop_exchanges(tm_stage_edge *edges, size_t n) {
    size_t kept = 0;
    if (n < 2) /* a single edge is no exchange */
        return n;
    tm_stage_edge *all = malloc(n * sizeof *all);
    if (!all)
        return SIZE_MAX;
    qsort(edges, n, sizeof *edges, by_sender);
    memcpy(all, edges, n * sizeof *all);
    for (size_t i = 0; i < n; i++)
        if (!is_exchange(&all[i], all, n))
            edges[kept++] = all[i];
    free(all);
    return kept;
}

tm_status tm_stages_find(tm_stage_edge *edges, size_t n, tm_vec *stages, tm_error *err) {
    size_t kept = 0;
    n = drop_exchanges(edges, n);
    if (n == SIZE_MAX)
        return tm_fail_memory(err);
    if (n > 1)
        qsort(edges, n, sizeof *edges, by_pair);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !same_pair(&edges[kept - 1], &edges[i]))
            edges[kept++] = edges[i];
    if (kept > 1)
        qsort(edges, kept, sizeof *edges, by_time);
    if (!list_ranks(edges, kept, stages))
        return tm_fail_memory(err);
    tm_stage *v = stages->data;
    for (size_t i = 0; i < stages->n; i++) {
        if (v[i].stage > PARTNERS_MOST) {
            stages->n = 0;
            return TM_OK;
        }
        v[i].stage = -2; /* unknown */
    }
    for (size_t i = 0; i < kept; i++) {
        tm_stage *from = find(stages, edges[i].from), *to = find(stages, edges[i].to);
        from->stage = from->stage == -2 ? 0 : from->stage;
        to->stage = to->stage == -2 ? -1 : to->stage;
    }
    number_stages(edges, kept, stages);
    return TM_OK;
}

tm_pipeline_use tm_stages_pipeline(const tm_collectives *collectives, const tm_vec *stages) {
    const tm_instance *instances = collectives->instances.data;
    const tm_stage *v = stages->data;
    tm_pipeline_use out = {0};
    for (size_t i = 0; i < stages->n; i++) {
        out.stages = v[i].stage + 1 > out.stages ? v[i].stage + 1 : out.stages;
        out.senders += v[i].stage == 0;
    }
    for (size_t i = 0; i < collectives->instances.n; i++) {
        const tm_comm_record *members =
            (const tm_comm_record *)collectives->records.data + instances[i].first;
        if (!instances[i].transfers)
            continue;
        size_t sender = members[0].kind == TM_COLL_SEND ? 0 : 1;
        out.transfers += tm_stage_of(stages, members[sender].rank) == 0 &&
                         tm_stage_of(stages, members[1 - sender].rank) == 1;
    }
    return out;
}

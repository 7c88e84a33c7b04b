/* Joins the clusters of different hosts. */
#include "infer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/sorted.h"
#include "grow.h"
#include "rank_groups.h"
#include "records.h"

/* Largest difference between the clocks of two hosts, as a multiple of the standard deviation of
 * one clock. It is 3 standard deviations of the difference, which are 3 sqrt(2) standard deviations
 * of one clock. */
#define FURTHEST 4.25

/* All messages about one cluster of a host. */
typedef struct sent {
    const tm_host_operation *operations;
    const tm_host_member *members;
    size_t n_operations, n_members;
} sent;

TM_ORDER_BY(by_place, tm_host_operation, family, host, cluster, place);

TM_ORDER_BY(by_rank, tm_host_member, family, host, cluster, rank);

/* Finds the messages about each cluster, ordered by family, then host. */
static tm_status list_sent(tm_host_report *report, tm_vec *out, tm_error *err) {
    tm_vec *operations = &report->operations, *members = &report->members;
    const tm_host_operation *o = operations->data;
    const tm_host_member *m = members->data;
    tm_vec_sort(operations, by_place);
    tm_vec_sort(members, by_rank);
    for (size_t i = 0, k = 0; i < operations->n;) {
        sent added = {.operations = o + i, .members = m + k};
        for (; i < operations->n && o[i].host == added.operations->host &&
               o[i].cluster == added.operations->cluster;
             i++)
            added.n_operations++;
        for (; k < members->n && m[k].host == added.operations->host &&
               m[k].cluster == added.operations->cluster;
             k++)
            added.n_members++;
        if (!tm_vec_append(out, &added, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static tm_status add_cluster(const sent *from, size_t number, tm_vec *out, tm_error *err) {
    tm_cluster cluster;
    const tm_member member = {(int64_t)number, from->members->host};
    TM_TRY(tm_cluster_create(from->n_operations, member, &cluster, err));
    for (size_t i = 0; i < from->n_operations; i++) {
        const tm_host_operation *o = &from->operations[i];
        cluster.run.marks[i] = (tm_mark){.begin_ns = o->last_ns,
                                         .end_ns = o->end_ns,
                                         .step = o->step,
                                         .signature = o->signature,
                                         .synchronises = o->synchronises};
        cluster.ops[i] = (tm_cluster_op){o->first_end_ns, o->n, o->telling, o->bare};
    }
    cluster.spread_ns = from->members->spread_ns;
    cluster.bits = from->members->bits;
    cluster.at_least = from->members->at_least;
    tm_status status = tm_cluster_ready(&cluster, err);
    if (status == TM_OK && !tm_vec_append(out, &cluster, 1))
        status = tm_fail_memory(err);
    if (status != TM_OK)
        tm_cluster_free(&cluster);
    return status;
}

/* Lists the ranks of a group, ascending. Sets *stream to the number of the lowest rank's stream. */
static tm_status list_ranks(const tm_cluster *cluster, const sent *all, tm_vec *ranks,
                            uint64_t *stream, tm_error *err) {
    ranks->n = 0;
    int64_t lowest = INT64_MAX;
    for (size_t v = 0; v < cluster->n_members; v++) {
        const sent *from = &all[cluster->members[v].source];
        for (size_t i = 0; i < from->n_members; i++) {
            const tm_host_member *member = &from->members[i];
            if (!tm_vec_append(ranks, &member->rank, 1))
                return tm_fail_memory(err);
            *stream = member->rank < lowest ? (uint64_t)member->stream : *stream;
            lowest = member->rank < lowest ? member->rank : lowest;
        }
    }
    tm_sort_values(ranks->data, ranks->n);
    return TM_OK;
}

static tm_status answer_operations(const tm_cluster *cluster, size_t v, const sent *from,
                                   uint64_t stream, tm_vec *answers, tm_error *err) {
    size_t next = answers->n;
    tm_operation_answer *added = tm_vec_append(answers, NULL, from->n_operations);
    if (!added)
        return tm_fail_memory(err);
    const tm_host_member *first = from->members;
    for (size_t i = 0; i < from->n_operations; i++)
        added[i] =
            (tm_operation_answer){0, first->host, first->cluster, (int32_t)i, first->origin, true};
    for (size_t i = 0; i < cluster->run.n; i++) {
        int64_t place = cluster->places[i * cluster->n_members + v];
        if (place < 0)
            continue;
        tm_operation_answer *answer = (tm_operation_answer *)answers->data + next + place;
        answer->key = stream << TM_LANE_SHIFT | (uint64_t)i;
        answer->alone = cluster->ops[i].n < 2;
    }
    return TM_OK;
}

static tm_status answer(const tm_cluster *cluster, const sent *all, const tm_infer_options *options,
                        tm_host_answers *out, tm_error *err) {
    tm_vec ranks = TM_VEC(int64_t);
    uint64_t stream = 0;
    tm_status status = list_ranks(cluster, all, &ranks, &stream, err);
    tm_group group = tm_group_of_ranks(ranks.data, ranks.n);
    for (size_t v = 0; v < cluster->n_members && status == TM_OK; v++) {
        const sent *from = &all[cluster->members[v].source];
        const tm_host_member *first = from->members;
        tm_group_answer made = {.group = group.id,
                                .host = first->host,
                                .cluster = first->cluster,
                                .origin = first->origin,
                                .size = group.n_ranks,
                                .bits = cluster->bits < 1e9 ? (int32_t)cluster->bits : INT32_MAX,
                                .at_least = cluster->at_least || !options->all_here};
        memcpy(made.text, group.text, sizeof made.text);
        if (!tm_vec_append(&out->groups, &made, 1))
            status = tm_fail_memory(err);
        else
            status = answer_operations(cluster, v, from, stream, &out->operations, err);
    }
    tm_vec_free(&ranks);
    return status;
}

/* Joins the clusters of one family. */
static tm_status infer_family(const sent *family, size_t n, const tm_infer_options *options,
                              tm_host_answers *out, tm_error *err) {
    const tm_growth growth = {.limit_ns = llround(FURTHEST * (double)options->wall_uncertainty_ns)};
    tm_vec clusters = TM_VEC(tm_cluster);
    tm_status status = TM_OK;
    for (size_t i = 0; i < n && status == TM_OK; i++)
        status = add_cluster(&family[i], i, &clusters, err);
    if (status == TM_OK)
        status = tm_clusters_grow(&clusters, &growth, err);
    for (size_t i = 0; i < clusters.n && status == TM_OK; i++)
        status = answer((const tm_cluster *)clusters.data + i, family, options, out, err);
    tm_clusters_free(&clusters);
    return status;
}

tm_status tm_infer_job(tm_host_report *report, const tm_infer_options *options,
                       tm_host_answers *out, tm_error *err) {
    tm_vec all = TM_VEC(sent);
    tm_status status = list_sent(report, &all, err);
    const sent *v = all.data;
    for (size_t first = 0, i = 0; first < all.n && status == TM_OK; first = i) {
        for (i = first; i < all.n && v[i].members->family == v[first].members->family; i++)
            ;
        status = infer_family(v + first, i - first, options, out, err);
    }
    tm_vec_free(&all);
    return status;
}

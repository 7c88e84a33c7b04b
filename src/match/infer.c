#include "infer.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "grow.h"
#include "left_out.h"
#include "records.h"

/* The records of one rank and stream. */
typedef struct stream {
    size_t first, n;
} stream;

void tm_inference_init(tm_inference *inference) {
    *inference = (tm_inference){.records = TM_VEC(tm_comm_record),
                                .streams = TM_VEC(stream),
                                .clusters = TM_VEC(tm_cluster),
                                .hosts = TM_VEC(int32_t)};
}

void tm_inference_free(tm_inference *inference) {
    tm_vec_free(&inference->records);
    tm_vec_free(&inference->streams);
    tm_clusters_free(&inference->clusters);
    tm_vec_free(&inference->hosts);
}

tm_host_report tm_host_report_empty(void) {
    return (tm_host_report){TM_VEC(tm_host_operation), TM_VEC(tm_host_member)};
}

tm_host_answers tm_host_answers_empty(void) {
    return (tm_host_answers){TM_VEC(tm_group_answer), TM_VEC(tm_operation_answer)};
}

void tm_host_report_free(tm_host_report *report) {
    tm_vec_free(&report->operations);
    tm_vec_free(&report->members);
}

void tm_host_answers_free(tm_host_answers *answers) {
    tm_vec_free(&answers->groups);
    tm_vec_free(&answers->operations);
}

static uint64_t stream_of(const tm_comm_record *record) {
    return record->key >> TM_LANE_SHIFT;
}

static int by_stream(const void *a, const void *b) {
    const tm_comm_record *x = a, *y = b;
    int order = tm_order_i64(x->domain, y->domain);
    order = order ? order : tm_order_i64(x->rank, y->rank);
    order = order ? order : tm_order_u64(stream_of(x), stream_of(y));
    order = order ? order : tm_order_i64(x->end_ns, y->end_ns);
    return order ? order : tm_order_i64(x->event, y->event);
}

static bool same_stream(const tm_comm_record *a, const tm_comm_record *b) {
    return a->rank == b->rank && stream_of(a) == stream_of(b);
}

/* Returns whether all ranks take part in a stream's SendRecv kernels. This is so if the job has
 * only two ranks, or if at least a quarter of the stream's kernels synchronise, because the
 * SendRecvs are then all-to-alls. Otherwise each SendRecv is a transfer with an unknown peer. */
static bool exchanges_all(const tm_comm_record *records, size_t n) {
    size_t n_full = 0;
    for (size_t i = 0; i < n; i++)
        n_full += tm_record_synchronises(&records[i]);
    return 4 * n_full >= n || (n > 0 && records->group_size == 2);
}

static tm_status add_cluster(const tm_comm_record *records, size_t n, tm_member member, tm_vec *out,
                             tm_error *err) {
    tm_cluster cluster;
    bool full = exchanges_all(records, n);
    TM_TRY(tm_cluster_create(n, member, &cluster, err));
    for (size_t i = 0; i < n; i++) {
        cluster.run.marks[i] = (tm_mark){.begin_ns = records[i].begin_ns,
                                         .end_ns = records[i].end_ns,
                                         .step = records[i].step,
                                         .signature = records[i].process_group,
                                         .synchronises = tm_record_synchronises(&records[i])};
        cluster.ops[i] = (tm_cluster_op){records[i].end_ns, 1,
                                         cluster.run.marks[i].synchronises ||
                                             (full && records[i].kind == TM_COLL_SENDRECV),
                                         records[i].way == TM_MATCH_INFERRED};
    }
    tm_status status = tm_cluster_ready(&cluster, err);
    if (status == TM_OK && !tm_vec_append(out, &cluster, 1))
        status = tm_fail_memory(err);
    if (status != TM_OK)
        tm_cluster_free(&cluster);
    return status;
}

/* Joins the ranks of one host. Their streams are the streams from index @p first on. */
static tm_status grow_host(tm_inference *v, size_t first, tm_error *err) {
    static const tm_growth growth = {.one_clock = true};
    const tm_comm_record *records = v->records.data;
    const stream *streams = v->streams.data;
    tm_vec clusters = TM_VEC(tm_cluster);
    tm_status status = TM_OK;
    for (size_t i = first; i < v->streams.n && status == TM_OK; i++) {
        const tm_comm_record *begin = records + streams[i].first;
        status =
            add_cluster(begin, streams[i].n, (tm_member){(int64_t)i, begin->rank}, &clusters, err);
    }
    if (status == TM_OK)
        status = tm_clusters_grow(&clusters, &growth, err);
    if (status == TM_OK && !tm_vec_append(&v->clusters, clusters.data, clusters.n))
        status = clusters.n > 0 ? tm_fail_memory(err) : TM_OK;
    if (status != TM_OK) {
        tm_clusters_free(&clusters);
        return status;
    }
    for (size_t i = 0; i < clusters.n; i++)
        if (!tm_vec_append(&v->hosts, &records[streams[first].first].domain, 1))
            status = tm_fail_memory(err);
    tm_vec_free(&clusters);
    return status;
}

static int by_value(const void *a, const void *b) {
    return tm_order_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Sets *out to the family of a cluster. This is the smallest of the signatures that occur at least
 * half as often as the most frequent signature. Clusters of different families cannot belong to one
 * group. */
static tm_status family_of(const tm_cluster *cluster, uint64_t *out, tm_error *err) {
    size_t n = cluster->run.n, most = 0;
    uint64_t *signatures = calloc(n + 1, sizeof *signatures);
    if (!signatures)
        return tm_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        signatures[i] = cluster->run.marks[i].signature;
    qsort(signatures, n, sizeof *signatures, by_value);
    for (int pass = 0; pass < 2; pass++)
        for (size_t first = 0, i = 0; first < n; first = i) {
            for (i = first; i < n && signatures[i] == signatures[first]; i++)
                ;
            if (pass == 0)
                most = i - first > most ? i - first : most;
            else if (2 * (i - first) >= most) {
                *out = signatures[first];
                break;
            }
        }
    free(signatures);
    return TM_OK;
}

/* Fields that all messages about a cluster share. */
typedef struct sender {
    uint64_t family;
    int32_t host, cluster;
    int origin;
} sender;

static tm_status send_operations(const tm_cluster *cluster, const sender *from, tm_vec *out,
                                 tm_error *err) {
    for (size_t i = 0; i < cluster->run.n; i++) {
        const tm_mark *mark = &cluster->run.marks[i];
        const tm_cluster_op *op = &cluster->ops[i];
        tm_host_operation sent = {.family = from->family,
                                  .signature = mark->signature,
                                  .last_ns = mark->begin_ns,
                                  .end_ns = mark->end_ns,
                                  .first_end_ns = op->first_end_ns,
                                  .step = mark->step,
                                  .host = from->host,
                                  .cluster = from->cluster,
                                  .place = (int32_t)i,
                                  .n = op->n,
                                  .synchronises = mark->synchronises,
                                  .telling = op->telling,
                                  .bare = op->bare};
        if (!tm_vec_append(out, &sent, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static tm_status send_members(const tm_inference *v, const tm_cluster *cluster, const sender *from,
                              tm_vec *out, tm_error *err) {
    const stream *streams = v->streams.data;
    for (size_t i = 0; i < cluster->n_members; i++) {
        const tm_comm_record *first =
            (tm_comm_record *)v->records.data + streams[cluster->members[i].source].first;
        tm_host_member sent = {.family = from->family,
                               .rank = first->rank,
                               .stream = (int64_t)stream_of(first),
                               .spread_ns = cluster->spread_ns,
                               .bits = cluster->bits,
                               .host = from->host,
                               .cluster = from->cluster,
                               .origin = from->origin,
                               .at_least = cluster->at_least};
        if (!tm_vec_append(out, &sent, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Returns the index of a cluster within its host. */
static int32_t number_of(const tm_inference *v, size_t p) {
    const int32_t *hosts = v->hosts.data;
    int32_t number = 0;
    while (p-- > 0 && hosts[p] == hosts[p + 1])
        number++;
    return number;
}

static tm_status send_clusters(const tm_inference *v, int origin, tm_host_report *out,
                               tm_error *err) {
    const tm_cluster *clusters = v->clusters.data;
    for (size_t p = 0; p < v->clusters.n; p++) {
        sender from = {0, ((const int32_t *)v->hosts.data)[p], number_of(v, p), origin};
        TM_TRY(family_of(&clusters[p], &from.family, err));
        TM_TRY(send_operations(&clusters[p], &from, &out->operations, err));
        TM_TRY(send_members(v, &clusters[p], &from, &out->members, err));
    }
    return TM_OK;
}

tm_status tm_infer_hosts(tm_inference *v, int origin, tm_host_report *out, tm_error *err) {
    tm_comm_record *records = v->records.data;
    size_t n = v->records.n;
    if (n > 1)
        qsort(records, n, sizeof *records, by_stream);
    for (size_t i = 0, end = 0; i < n; i = end) {
        size_t first = v->streams.n;
        for (end = i; end < n && records[end].domain == records[i].domain;) {
            stream added = {end, 0};
            while (end < n && same_stream(&records[added.first], &records[end]))
                end++;
            added.n = end - added.first;
            if (!tm_vec_append(&v->streams, &added, 1))
                return tm_fail_memory(err);
        }
        TM_TRY(grow_host(v, first, err));
    }
    return send_clusters(v, origin, out, err);
}

TM_ORDER_BY(by_group, tm_group_answer, host, cluster);

TM_ORDER_BY(by_answer, tm_operation_answer, host, cluster, place);

/* Where the kernels' records go. */
typedef struct finisher {
    const tm_group_answer *group; /* the answer for the cluster */
    tm_vec *out, *left_out;
} finisher;

/* Adds a member's kernel, or counts it as unmatched. @p answer is NULL if the cluster does not have
 * the kernel's operation. */
static tm_status finish_kernel(const finisher *f, tm_comm_record *record,
                               const tm_operation_answer *answer, tm_error *err) {
    const tm_group_answer *group = f->group;
    if (record->way != TM_MATCH_INFERRED)
        return TM_OK; /* the kernel is already matched by its metadata */
    if (group->size < 2)
        return tm_left_out_add(f->left_out, "", -1, TM_UNMATCHED_ORDER, err);
    if (!answer || answer->alone)
        return tm_left_out_add(f->left_out, group->text, group->size, TM_UNMATCHED_ALONE, err);
    record->group = record->process_group = group->group;
    record->group_size = record->process_group_size = group->size;
    record->key = answer->key;
    record->evidence_bits = group->bits;
    record->at_least = group->at_least;
    record->domain = 0;
    memcpy(record->group_text, group->text, sizeof record->group_text);
    return tm_vec_append(f->out, record, 1) ? TM_OK : tm_fail_memory(err);
}

/* Applies the answers for a cluster's operations to the kernels of its members. */
static tm_status finish_cluster(const finisher *f, tm_inference *v, const tm_cluster *cluster,
                                const tm_operation_answer *answers, tm_error *err) {
    const stream *streams = v->streams.data;
    for (size_t k = 0; k < cluster->n_members; k++) {
        const stream *own = &streams[cluster->members[k].source];
        tm_comm_record *records = (tm_comm_record *)v->records.data + own->first;
        size_t next = 0; /* index of the first kernel that is not yet done */
        for (size_t i = 0; i < cluster->run.n; i++) {
            int64_t place = cluster->places[i * cluster->n_members + k];
            for (; place >= 0 && next < (size_t)place; next++)
                TM_TRY(finish_kernel(f, &records[next], NULL, err));
            if (place >= 0)
                TM_TRY(finish_kernel(f, &records[next++], &answers[i], err));
        }
        for (; next < own->n; next++)
            TM_TRY(finish_kernel(f, &records[next], NULL, err));
    }
    return TM_OK;
}

tm_status tm_infer_finish(tm_inference *v, tm_host_answers *answers, tm_vec *out, tm_vec *left_out,
                          tm_error *err) {
    tm_vec *groups = &answers->groups, *operations = &answers->operations;
    const tm_operation_answer *answer = operations->data;
    tm_vec_sort(groups, by_group);
    tm_vec_sort(operations, by_answer);
    for (size_t p = 0; p < v->clusters.n; p++) {
        const tm_cluster *cluster = (const tm_cluster *)v->clusters.data + p;
        const finisher f = {(const tm_group_answer *)groups->data + p, out, left_out};
        TM_TRY(finish_cluster(&f, v, cluster, answer, err));
        answer += cluster->run.n;
    }
    return TM_OK;
}

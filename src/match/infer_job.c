/* Joins the clusters of different hosts. */
#include "infer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/median.h"
#include "base/sorted.h"
#include "groups.h"
#include "grow.h"
#include "records.h"

/* Maximum clock difference of two hosts, in standard deviations of one clock: 3 sqrt(2). */
#define FURTHEST 4.25

/* The data sent for one cluster of a host. */
typedef struct sent {
    const tm_host_operation *operations;
    const tm_host_member *members;
    size_t n_operations, n_members;
} sent;

static int by_place(const void *a, const void *b) {
    const tm_host_operation *x = a, *y = b;
    int order = tm_order_u64(x->family, y->family);
    order = order ? order : tm_order_i64(x->host, y->host);
    order = order ? order : tm_order_i64(x->party, y->party);
    return order ? order : tm_order_i64(x->place, y->place);
}

static int by_rank(const void *a, const void *b) {
    const tm_host_member *x = a, *y = b;
    int order = tm_order_u64(x->family, y->family);
    order = order ? order : tm_order_i64(x->host, y->host);
    order = order ? order : tm_order_i64(x->party, y->party);
    return order ? order : tm_order_i64(x->rank, y->rank);
}

/* Appends the data sent for each cluster, ordered by family and host. */
static tm_status list_sent(tm_host_report *report, tm_vec *out, tm_error *err) {
    tm_vec *operations = &report->operations, *members = &report->members;
    const tm_host_operation *o = operations->data;
    const tm_host_member *m = members->data;
    if (operations->n > 1)
        qsort(operations->data, operations->n, operations->size, by_place);
    if (members->n > 1)
        qsort(members->data, members->n, members->size, by_rank);
    for (size_t i = 0, k = 0; i < operations->n;) {
        sent added = {.operations = o + i, .members = m + k};
        for (; i < operations->n && o[i].host == added.operations->host &&
               o[i].party == added.operations->party;
             i++)
            added.n_operations++;
        for (; k < members->n && m[k].host == added.operations->host &&
               m[k].party == added.operations->party;
             k++)
            added.n_members++;
        if (!tm_vec_append(out, &added, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static tm_status add_party(const sent *from, size_t number, tm_vec *out, tm_error *err) {
    tm_party party;
    const tm_voice voice = {(int64_t)number, from->members->host};
    TM_TRY(tm_party_create(from->n_operations, voice, &party, err));
    for (size_t i = 0; i < from->n_operations; i++) {
        const tm_host_operation *o = &from->operations[i];
        party.run.marks[i] = (tm_mark){.begin_ns = o->last_ns,
                                       .end_ns = o->end_ns,
                                       .step = o->step,
                                       .token = o->token,
                                       .synchronises = o->synchronises};
        party.ops[i] = (tm_party_op){o->first_end_ns, o->n, o->telling, o->bare};
    }
    party.spread_ns = from->members->spread_ns;
    party.bits = from->members->bits;
    party.at_least = from->members->at_least;
    tm_status status = tm_party_ready(&party, err);
    if (status == TM_OK && !tm_vec_append(out, &party, 1))
        status = tm_fail_memory(err);
    if (status != TM_OK)
        tm_party_free(&party);
    return status;
}

/* Lists the ranks of a group, ascending, and the stream of the lowest. */
static tm_status list_ranks(const tm_party *party, const sent *all, tm_vec *ranks, uint64_t *lane,
                            tm_error *err) {
    ranks->n = 0;
    int64_t lowest = INT64_MAX;
    for (size_t v = 0; v < party->n_voices; v++) {
        const sent *from = &all[party->voices[v].source];
        for (size_t i = 0; i < from->n_members; i++) {
            const tm_host_member *member = &from->members[i];
            if (!tm_vec_append(ranks, &member->rank, 1))
                return tm_fail_memory(err);
            *lane = member->rank < lowest ? (uint64_t)member->lane : *lane;
            lowest = member->rank < lowest ? member->rank : lowest;
        }
    }
    tm_sort_values(ranks->data, ranks->n);
    return TM_OK;
}

static tm_status answer_operations(const tm_party *party, size_t v, const sent *from, uint64_t lane,
                                   tm_vec *answers, tm_error *err) {
    size_t next = answers->n;
    tm_operation_answer *added = tm_vec_append(answers, NULL, from->n_operations);
    if (!added)
        return tm_fail_memory(err);
    const tm_host_member *first = from->members;
    for (size_t i = 0; i < from->n_operations; i++)
        added[i] =
            (tm_operation_answer){0, first->host, first->party, (int32_t)i, first->origin, true};
    for (size_t i = 0; i < party->run.n; i++) {
        int64_t place = party->places[i * party->n_voices + v];
        if (place < 0)
            continue;
        tm_operation_answer *answer = (tm_operation_answer *)answers->data + next + place;
        answer->key = lane << TM_LANE_SHIFT | (uint64_t)i;
        answer->alone = party->ops[i].n < 2;
    }
    return TM_OK;
}

static tm_status answer(const tm_party *party, const sent *all, const tm_infer_options *options,
                        tm_host_answers *out, tm_error *err) {
    tm_vec ranks = TM_VEC(int64_t);
    uint64_t lane = 0;
    tm_status status = list_ranks(party, all, &ranks, &lane, err);
    tm_group group = tm_group_of_ranks(ranks.data, ranks.n);
    for (size_t v = 0; v < party->n_voices && status == TM_OK; v++) {
        const sent *from = &all[party->voices[v].source];
        const tm_host_member *first = from->members;
        tm_group_answer made = {.group = group.id,
                                .host = first->host,
                                .party = first->party,
                                .origin = first->origin,
                                .size = group.n_ranks,
                                .bits = party->bits < 1e9 ? (int32_t)party->bits : INT32_MAX,
                                .at_least = party->at_least || !options->all_here};
        memcpy(made.text, group.text, sizeof made.text);
        if (!tm_vec_append(&out->groups, &made, 1))
            status = tm_fail_memory(err);
        else
            status = answer_operations(party, v, from, lane, &out->operations, err);
    }
    tm_vec_free(&ranks);
    return status;
}

/* Joins the clusters of one family. */
static tm_status infer_family(const sent *family, size_t n, const tm_infer_options *options,
                              tm_host_answers *out, tm_error *err) {
    const tm_growth growth = {.limit_ns = llround(FURTHEST * (double)options->wall_uncertainty_ns)};
    tm_vec parties = TM_VEC(tm_party);
    tm_status status = TM_OK;
    for (size_t i = 0; i < n && status == TM_OK; i++)
        status = add_party(&family[i], i, &parties, err);
    if (status == TM_OK)
        status = tm_parties_grow(&parties, &growth, err);
    for (size_t i = 0; i < parties.n && status == TM_OK; i++)
        status = answer((const tm_party *)parties.data + i, family, options, out, err);
    tm_parties_free(&parties);
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

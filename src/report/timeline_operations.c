#include "timeline_operations.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "base/sums.h"
#include "match/records.h"
#include "waits/blame.h"

/* How a rank arrived at an operation. The page decodes the values. */
enum { ARRIVED_BEFORE = 0, ARRIVED_TIED = 1, ARRIVED_LAST = 2 };

typedef struct tm_operation_member {
    int64_t begin_ns, duration_ns, wait_ns; /* begin_ns: on the job's clock, since the epoch */
    uint32_t number;                        /* number of the operation in which the rank
                                               participates */
    uint32_t at;                            /* index of the participating rank */
} tm_operation_member;

void tm_operations_init(tm_operations *operations) {
    *operations = (tm_operations){.firsts = TM_KEYS(tm_operation_name),
                                  .all = TM_VEC(tm_operation),
                                  .members = TM_VEC(tm_operation_member)};
}

void tm_operations_free(tm_operations *operations) {
    tm_keys_free(&operations->firsts);
    tm_vec_free(&operations->all);
    tm_vec_free(&operations->members);
    free(operations->shown);
    tm_operations_init(operations);
}

tm_status tm_operations_add(tm_operations *operations, const tm_timeline *timeline,
                            const tm_names *names, tm_error *err) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    const bool has_steps = tm_match_has_steps(timeline);
    bool has_lanes = !operations->ranks || tm_page_keeps(operations->ranks, timeline->rank);
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        const tm_collective_attr *attr = &attrs[i];
        if (attr->first_rank < 0)
            continue;
        const tm_operation_name key = {attr->first_rank, attr->first_event};
        tm_operation *o = tm_keys_value(&operations->firsts, &operations->all, &key);
        if (!o)
            return tm_fail_memory(err);
        int64_t begin = tm_rank_clock_true(&timeline->clock, timeline->begin_ns[attr->event]);
        if (o->n == 0)
            *o = (tm_operation){.begin_ns = INT64_MAX,
                                .bytes = tm_match_bytes(names, attr),
                                .step = has_steps ? tm_match_step(timeline, attr->event) : -1,
                                .seen = timeline->rank,
                                .first_rank = attr->first_rank,
                                .first_event = attr->first_event,
                                .group = attr->group,
                                .description = attr->group_description,
                                .number = TM_NO_EVENT,
                                .kind = attr->kind,
                                .waits = true};
        o->n++;
        o->n_lanes += has_lanes;
        o->begin_ns = begin < o->begin_ns ? begin : o->begin_ns;
        o->wait_ns += attr->wait_ns > 0 ? attr->wait_ns : 0;
        o->waits = o->waits && attr->wait_ns >= 0;
    }
    return TM_OK;
}

tm_status tm_operations_join(tm_operations *operations, const tm_operation *other, tm_error *err) {
    const tm_operation_name key = {other->first_rank, other->first_event};
    tm_operation *o = tm_keys_value(&operations->firsts, &operations->all, &key);
    if (!o)
        return tm_fail_memory(err);
    const tm_operation known = *o;
    if (known.n == 0 || other->seen < known.seen)
        *o = *other;
    if (known.n == 0)
        return TM_OK;
    o->n = known.n + other->n;
    o->n_lanes = known.n_lanes + other->n_lanes;
    o->begin_ns = known.begin_ns < other->begin_ns ? known.begin_ns : other->begin_ns;
    o->wait_ns = known.wait_ns + other->wait_ns;
    o->waits = known.waits && other->waits;
    return TM_OK;
}

static int by_begin(const void *a, const void *b) {
    const tm_operation *x = *(const tm_operation *const *)a, *y = *(const tm_operation *const *)b;
    int order = tm_order_i64(x->begin_ns, y->begin_ns);
    order = order ? order : tm_order_i64(x->first_rank, y->first_rank);
    return order ? order : tm_order_i64(x->first_event, y->first_event);
}

static int by_wait(const void *a, const void *b) {
    const tm_operation *x = *(const tm_operation *const *)a, *y = *(const tm_operation *const *)b;
    int order = tm_order_i64(y->wait_ns, x->wait_ns);
    return order ? order : by_begin(a, b);
}

tm_status tm_operations_choose(tm_operations *operations, size_t n_members, tm_error *err) {
    tm_operation *all = operations->all.data;
    size_t n = 0;
    tm_operation **order = malloc((operations->all.n + 1) * sizeof *order);
    operations->shown = malloc((operations->all.n + 1) * sizeof *operations->shown);
    if (!order || !operations->shown) {
        free(order);
        return tm_fail_memory(err);
    }
    for (size_t i = 0; i < operations->all.n; i++)
        if (all[i].n_lanes > 0)
            order[n++] = &all[i];
    qsort(order, n, sizeof *order, by_wait);
    for (size_t left = n_members; operations->n_shown < n; operations->n_shown++) {
        if (order[operations->n_shown]->n > left)
            break;
        left -= order[operations->n_shown]->n;
    }
    qsort(order, operations->n_shown, sizeof *order, by_begin);
    for (size_t i = 0; i < operations->n_shown; i++) {
        order[i]->number = (uint32_t)i;
        operations->shown[i] = (uint32_t)(order[i] - all);
    }
    free(order);
    return TM_OK;
}

void tm_operations_set_numbers(tm_operations *operations, const tm_operation_name *names,
                               size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t at = tm_keys_find(&operations->firsts, &names[i]);
        if (at != TM_NO_KEY)
            ((tm_operation *)operations->all.data)[at].number = (uint32_t)i;
    }
}

size_t tm_operations_members(const tm_operations *operations) {
    size_t n = 0;
    for (size_t i = 0; i < operations->n_shown; i++)
        n += ((const tm_operation *)operations->all.data)[operations->shown[i]].n;
    return n;
}

uint32_t tm_operations_number(const tm_operations *operations, const tm_collective_attr *attr) {
    const tm_operation_name key = {attr->first_rank, attr->first_event};
    uint32_t i = tm_keys_find(&operations->firsts, &key);
    return i == TM_NO_KEY ? TM_NO_EVENT : ((const tm_operation *)operations->all.data)[i].number;
}

tm_status tm_operations_gather(tm_operations *operations, const tm_timeline *timeline, size_t at,
                               tm_error *err) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        uint32_t event = attrs[i].event;
        tm_operation_member member = {
            .begin_ns = tm_rank_clock_true(&timeline->clock, timeline->begin_ns[event]),
            .duration_ns = timeline->duration_ns[event],
            .wait_ns = attrs[i].wait_ns,
            .number = tm_operations_number(operations, &attrs[i]),
            .at = (uint32_t)at,
        };
        if (member.number != TM_NO_EVENT && !tm_vec_append(&operations->members, &member, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

TM_ORDER_BY(by_operation, tm_operation_member, number, at, begin_ns);

static tm_comm_record record_of(const tm_card *card, const tm_operation_member *member) {
    return (tm_comm_record){
        .rank = card->rank,
        .begin_ns = member->begin_ns,
        .end_ns = member->begin_ns + member->duration_ns,
        .domain = card->clock.domain,
        .uncertainty_ns = tm_narrow_u32(card->clock.uncertainty_ns),
        .spread_ns = tm_narrow_u32(card->clock.spread_ns),
    };
}

/* Finds the last arrival as the analyses do: two arrivals are tied if they differ by less than the
 * uncertainty of their ranks' clocks. */
static tm_status put_arrivals(const tm_operation *o, const tm_operation_member *members,
                              const tm_plan *plan, tm_bytes *out, tm_error *err) {
    const tm_card *cards = plan->cards.data;
    tm_comm_record *records = malloc(o->n * sizeof *records);
    tm_comm_answer *answers = malloc(o->n * sizeof *answers);
    if (!records || !answers) {
        free(records);
        free(answers);
        return tm_fail_memory(err);
    }
    for (size_t i = 0; i < o->n; i++)
        records[i] = record_of(&cards[members[i].at], &members[i]);
    tm_instance instance = {
        .n = o->n, .last_ns = tm_members_last(records, o->n), .waits = o->waits && o->n > 1};
    tm_status status = tm_blame_instance(records, &instance, answers, NULL, err);
    int64_t last = -1;
    for (size_t i = 0; i < o->n && status == TM_OK; i++) {
        const tm_card *card = &cards[members[i].at];
        last = answers[i].last ? card->rank : last;
        if (card->shown)
            tm_bytes_put(out, answers[i].last   ? ARRIVED_LAST
                              : answers[i].tied ? ARRIVED_TIED
                                                : ARRIVED_BEFORE);
    }
    if (plan->n_shown < plan->cards.n)
        tm_bytes_put(out, (uint64_t)(last + 1));
    free(records);
    free(answers);
    return status;
}

/* Writes totals over all participations of an operation. The page needs these totals if some of the
 * ranks have no lanes, because participations of such ranks are not written one by one. */
static void put_whole(const tm_operation *o, const tm_operation_member *members, tm_bytes *out) {
    int64_t end = 0, last = 0;
    for (size_t i = 0; i < o->n; i++) {
        int64_t begins = members[i].begin_ns - o->begin_ns, ends = begins + members[i].duration_ns;
        last = begins > last ? begins : last;
        end = ends > end ? ends : end;
    }
    tm_bytes_put(out, o->n);
    tm_bytes_put(out, (uint64_t)end);
    tm_bytes_put(out, (uint64_t)last);
    tm_bytes_put(out, (uint64_t)o->wait_ns);
    tm_bytes_put(out, o->waits);
}

static void put_members(const tm_operation *o, const tm_operation_member *members,
                        const tm_card *cards, tm_bytes *out) {
    uint32_t n = 0, before = 0;
    for (size_t i = 0; i < o->n; i++)
        n += cards[members[i].at].shown;
    tm_bytes_put(out, n);
    for (size_t i = 0; i < o->n; i++)
        if (cards[members[i].at].shown) {
            tm_bytes_put(out, cards[members[i].at].place - before);
            before = cards[members[i].at].place;
        }
    for (size_t i = 0; i < o->n; i++)
        if (cards[members[i].at].shown)
            tm_bytes_put(out, (uint64_t)(members[i].begin_ns - o->begin_ns));
    for (size_t i = 0; i < o->n; i++)
        if (cards[members[i].at].shown)
            tm_bytes_put(out, (uint64_t)members[i].duration_ns);
    for (size_t i = 0; i < o->n; i++)
        if (cards[members[i].at].shown)
            tm_bytes_put(out, (uint64_t)(members[i].wait_ns + 1));
}

tm_status tm_operations_put(const tm_operations *operations, const tm_plan *plan,
                            int64_t job_begin_ns, tm_dictionary *dictionary, tm_bytes *out,
                            tm_error *err) {
    const tm_operation *all = operations->all.data;
    tm_operation_member *members = operations->members.data;
    int64_t before = job_begin_ns;
    tm_vec_sort(&operations->members, by_operation);
    tm_bytes_put(out, operations->n_shown);
    tm_bytes_put(out, operations->all.n);
    for (size_t i = 0; i < operations->n_shown; i++) {
        const tm_operation *o = &all[operations->shown[i]];
        tm_bytes_put_signed(out, o->begin_ns - before);
        tm_bytes_put(out, o->kind);
        tm_bytes_put(out, tm_dictionary_number(dictionary, o->group));
        tm_bytes_put(out, tm_dictionary_number(dictionary, o->description));
        tm_bytes_put(out, (uint64_t)(o->bytes + 1));
        tm_bytes_put_signed(out, o->step);
        if (plan->n_shown < plan->cards.n)
            put_whole(o, members, out);
        put_members(o, members, plan->cards.data, out);
        TM_TRY(put_arrivals(o, members, plan, out, err));
        members += o->n;
        before = o->begin_ns;
    }
    return TM_OK;
}

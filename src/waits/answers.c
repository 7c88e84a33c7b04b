#include "answers.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "blame.h"

static tm_status reply_instance(const tm_comm_record *members, const tm_instance *instance,
                                tm_pair_map *pairs, tm_vec *replies, tm_error *err) {
    tm_comm_answer *answers = calloc(instance->n, sizeof *answers);
    if (!answers)
        return tm_fail_memory(err);
    tm_status status = tm_blame_instance(members, instance, answers, pairs, err);
    for (size_t i = 0; i < instance->n && status == TM_OK; i++) {
        tm_answer_reply r = {answers[i],       members[i].rank,          members[i].event,
                             members[0].event, (int32_t)members[0].rank, members[i].origin};
        if (!tm_vec_append(replies, &r, 1))
            status = tm_fail_memory(err);
    }
    free(answers);
    return status;
}

tm_status tm_answers_find(const tm_collectives *collectives, bool wants_pairs, tm_vec *replies,
                          tm_vec *pairs, tm_error *err) {
    const tm_comm_record *records = collectives->records.data;
    const tm_instance *instances = collectives->instances.data;
    tm_pair_map map = {0};
    tm_pair_map *wanted = wants_pairs ? &map : NULL;
    tm_status status = TM_OK;
    for (size_t i = 0; i < collectives->instances.n && status == TM_OK; i++)
        status = reply_instance(records + instances[i].first, &instances[i], wanted, replies, err);
    if (status == TM_OK && !tm_pair_map_drain(&map, pairs))
        status = tm_fail_memory(err);
    tm_pair_map_free(&map);
    return status;
}

TM_ORDER_BY(by_rank, tm_timeline, rank);

tm_status tm_answers_clear(tm_timeline *timeline, tm_error *err) {
    size_t n = timeline->n_attrs[TM_ATTR_COLLECTIVE];
    tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    timeline->answers = calloc(n + 1, sizeof(tm_comm_answer));
    if (!timeline->answers)
        return tm_fail_memory(err);
    for (size_t k = 0; k < n; k++) {
        timeline->answers[k] = (tm_comm_answer){.wait_ns = -1, .least_ns = -1, .step = -1};
        attrs[k].wait_ns = attrs[k].first_rank = -1;
        attrs[k].first_event = 0;
    }
    return TM_OK;
}

/* the event has at most one row of TM_ATTR_COLLECTIVE, but may have rows of other attributes */
void tm_answers_set(tm_timeline *timelines, size_t n, const tm_answer_reply *reply) {
    tm_timeline wanted = {.rank = reply->rank};
    tm_timeline *timeline = bsearch(&wanted, timelines, n, sizeof wanted, by_rank);
    size_t at = tm_timeline_collectives_from(timeline, reply->event);
    tm_collective_attr *attr = (tm_collective_attr *)timeline->attrs[TM_ATTR_COLLECTIVE] + at;
    timeline->answers[at] = reply->answer;
    attr->wait_ns = reply->answer.wait_ns;
    attr->first_rank = reply->first_rank;
    attr->first_event = reply->first_event;
}

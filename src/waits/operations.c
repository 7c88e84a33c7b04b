#include "operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/median.h"
#include "base/sorted.h"
#include "base/sums.h"

/* Returns the median of the members' sizes, which differ only in all-to-alls; -1 if one of them is
 * unknown. */
static int64_t median_bytes(const tm_comm_record *members, size_t n, int64_t *scratch) {
    for (size_t i = 0; i < n; i++) {
        if (members[i].bytes < 0)
            return -1;
        scratch[i] = members[i].bytes;
    }
    return tm_median_any(scratch, n);
}

/* Computes the times of an operation and the sums over its members, on the job's clock. */
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

static tm_status add_value(const tm_collectives *collectives, const tm_instance *instance,
                           tm_vec *values, tm_error *err) {
    const tm_comm_record *members =
        (const tm_comm_record *)collectives->records.data + instance->first;
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
                               .to = -1,
                               .evidence_bits = members->evidence_bits,
                               .way = members->way,
                               .at_least = members->at_least};
    free(scratch);
    memcpy(value.group_text, members->group_text, sizeof value.group_text);
    if (pair) /* all pairs of ranks in a group share one row of the tables */
        value.group = tm_hash_mixed(0, value.group_text, strlen(value.group_text));
    for (size_t i = 0; i < instance->n && pair; i++)
        *(members[i].kind == TM_COLL_SEND ? &value.from : &value.to) = (int32_t)members[i].rank;
    add_times(members, instance, &value);
    return tm_vec_append(values, &value, 1) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_operation_values(const tm_collectives *collectives, tm_vec *values, tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    for (size_t i = 0; i < collectives->instances.n; i++)
        TM_TRY(add_value(collectives, &instances[i], values, err));
    return TM_OK;
}

TM_ORDER_FALLING(by_badness, tm_worst_key, wait_ns, begin_ns, rank, event);

static tm_worst_key key_of(const tm_collectives *collectives, const tm_instance *instance) {
    const tm_comm_record *members =
        (const tm_comm_record *)collectives->records.data + instance->first;
    tm_worst_key c = {0, members->begin_ns, members->rank, members->event};
    for (size_t i = 0; i < instance->n; i++) {
        c.wait_ns += tm_member_wait(&members[i], instance->last_ns);
        c.begin_ns = members[i].begin_ns < c.begin_ns ? members[i].begin_ns : c.begin_ns;
    }
    return c;
}

tm_status tm_worst_find(const tm_collectives *collectives, tm_worst_key out[TM_WORST_MAX],
                        tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    tm_vec all = TM_VEC(tm_worst_key);
    tm_status status = TM_OK;
    for (size_t i = 0; i < collectives->instances.n && status == TM_OK; i++) {
        tm_worst_key c = {0};
        if (instances[i].waits)
            c = key_of(collectives, &instances[i]);
        if (instances[i].waits && !tm_vec_append(&all, &c, 1))
            status = tm_fail_memory(err);
    }
    tm_vec_sort(&all, by_badness);
    for (size_t i = 0; i < TM_WORST_MAX; i++)
        out[i] = i < all.n && status == TM_OK ? ((tm_worst_key *)all.data)[i]
                                              : (tm_worst_key){.wait_ns = -1};
    tm_vec_free(&all);
    return status;
}

tm_status tm_worst_keep(tm_worst_key *all, size_t n, tm_collectives *collectives, tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    qsort(all, n, sizeof *all, by_badness);
    n = n < TM_WORST_MAX ? n : TM_WORST_MAX;
    while (n > 0 && all[n - 1].wait_ns < 0)
        n--;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        if (!instances[i].waits)
            continue;
        tm_worst_key key = key_of(collectives, &instances[i]);
        const tm_worst_key *found = bsearch(&key, all, n, sizeof key, by_badness);
        tm_worst worst = {i, found ? found - all : 0};
        if (found && !tm_vec_append(&collectives->worst, &worst, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

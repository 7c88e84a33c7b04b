#include "stretches.h"

#include <stdlib.h>

#include "base/sorted.h"

/* A kernel that begins so soon behind another of its stream waited for the stream. */
static const int64_t FOLLOWS_NS = 5000;
/* By how much a compute kernel ends before a communication kernel that it ran inside of. */
static const int64_t INSIDE_NS = 1000;

typedef struct span {
    int64_t begin_ns, end_ns;
} span;

static int by_begin(const void *a, const void *b) {
    const span *x = a, *y = b;
    return tm_order_i64(x->begin_ns, y->begin_ns);
}

static bool collect_compute(const tm_timeline *timeline, tm_vec *out) {
    for (size_t row = 0; row < timeline->n_events; row++) {
        int64_t begin = timeline->begin_ns[row];
        span s = {begin, begin + timeline->duration_ns[row]};
        if (timeline->role[row] == TM_ROLE_COMPUTE && !tm_vec_append(out, &s, 1))
            return false;
    }
    if (out->n > 1)
        qsort(out->data, out->n, out->size, by_begin);
    return true;
}

static bool begins_by(const void *element, const void *ns) {
    return ((const span *)element)->begin_ns <= *(const int64_t *)ns;
}

static bool computes_inside(const tm_vec *compute, int64_t begin, int64_t end) {
    const span *v = compute->data;
    size_t i = tm_bisect(v, compute->n, sizeof *v, &begin, begins_by);
    while (i < compute->n && v[i].begin_ns < end && v[i].end_ns > end - INSIDE_NS)
        i++;
    return i < compute->n && v[i].begin_ns < end;
}

/* Up to when the compute kernels ran that had begun by the first, the second, and so on; one that
 * runs over a moment is not over then. */
static int64_t done_before(const tm_vec *compute, const int64_t *until, int64_t begin) {
    size_t i = tm_bisect(compute->data, compute->n, sizeof(span), &begin, begins_by);
    return i == 0 || until[i - 1] > begin ? begin : until[i - 1];
}

static bool follows(const tm_timeline *timeline, uint32_t event) {
    uint32_t first = tm_timeline_track(timeline, event)->first, before = event;
    /* Annotations lie on a stream, too. */
    while (before > first && timeline->role[before - 1] == TM_ROLE_NONE)
        before--;
    if (before == first || timeline->role[before - 1] != TM_ROLE_COMMUNICATION)
        return false;
    int64_t free_ns = timeline->begin_ns[before - 1] + timeline->duration_ns[before - 1];
    return timeline->begin_ns[event] - free_ns <= FOLLOWS_NS;
}

tm_status tm_stretches_look(const tm_timeline *timeline, tm_visit *visits, size_t n,
                            tm_error *err) {
    tm_vec compute = TM_VEC(span);
    bool ok = collect_compute(timeline, &compute);
    int64_t *until = malloc((compute.n + 1) * sizeof *until);
    ok = ok && until;
    for (size_t i = 0; i < compute.n && ok; i++) {
        int64_t end = ((const span *)compute.data)[i].end_ns;
        until[i] = i > 0 && until[i - 1] > end ? until[i - 1] : end;
    }
    for (size_t i = 0; i < n && ok; i++) {
        int64_t begin = timeline->begin_ns[visits[i].event];
        visits[i].host = timeline->host;
        visits[i].done_ns = done_before(&compute, until, begin);
        visits[i].follows = follows(timeline, visits[i].event);
        visits[i].computes =
            computes_inside(&compute, begin, begin + timeline->duration_ns[visits[i].event]);
    }
    free(until);
    tm_vec_free(&compute);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_stretches_agree(const tm_collectives *collectives, tm_visit *visits) {
    const tm_instance *instances = collectives->instances.data;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        bool free_all = true, meets = true;
        if (!instances[i].waits && !instances[i].transfers)
            continue;
        for (size_t k = 0; k < instances[i].n; k++) {
            free_all = free_all && !visits[k].follows;
            meets = meets && !visits[k].computes;
        }
        tm_arrival arrival = free_all ? TM_ARRIVAL_BEGIN
                             : meets  ? TM_ARRIVAL_DONE
                                      : TM_ARRIVAL_UNKNOWN;
        for (size_t k = 0; k < instances[i].n; k++) {
            visits[k].arrival = (uint8_t)arrival;
            visits[k].meets = meets;
        }
        visits += instances[i].n;
    }
}

tm_status tm_stretches_take(const tm_collectives *collectives, const tm_visit *visits, tm_vec *out,
                            tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        const tm_instance *instance = &instances[i];
        const tm_comm_record *members =
            (const tm_comm_record *)collectives->records.data + instance->first;
        bool all = instance->waits;
        for (size_t k = 0; k < instance->n && all; k++)
            all = visits[k].own_ns >= 0;
        for (size_t k = 0; k < instance->n && all; k++) {
            tm_own_time own = {.group = members[k].group,
                               .key = members[k].key,
                               .last_ns = instance->last_ns,
                               .step = members->step,
                               .rank = members[k].rank,
                               .ns = visits[k].own_ns,
                               .host = visits[k].host};
            if (!tm_vec_append(out, &own, 1))
                return tm_fail_memory(err);
        }
        visits += instance->waits || instance->transfers ? instance->n : 0;
    }
    return TM_OK;
}

static int by_group(const void *a, const void *b) {
    const tm_own_time *x = a, *y = b;
    int order = tm_order_u64(x->group, y->group);
    order = order ? order : tm_order_i64(x->last_ns, y->last_ns);
    order = order ? order : tm_order_u64(x->key, y->key);
    return order ? order : tm_order_i64(x->rank, y->rank);
}

int64_t tm_stretches_sort(tm_vec *own_times) {
    const tm_own_time *v = own_times->data;
    int64_t n = 0;
    if (own_times->n > 1)
        qsort(own_times->data, own_times->n, own_times->size, by_group);
    for (size_t i = 0; i < own_times->n; i++)
        n += i == 0 || v[i].group != v[i - 1].group;
    return n;
}

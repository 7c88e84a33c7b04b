#include "rank_waits.h"

#include <math.h>
#include <stdlib.h>

#include "base/intervals.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "timeline/host_comm.h"

/* The kernel of a participation. Its times are on the rank's own clock. */
typedef struct kernel {
    int64_t rank, begin_ns, end_ns;
    int64_t idle_ns;  /* end of the rank's last computation before the kernel's end */
    int64_t since_ns; /* start of the recording that contains the kernel */
    int64_t other_ns; /* as in the tm_participant of the kernel */
    /* indices of the waits that may have delayed the kernel, including waits in its own group */
    size_t first, end;
    uint64_t group;
    uint32_t event;
    bool transfer;
} kernel;

/* A wait that kept a rank from computing. */
typedef struct wait {
    int64_t rank, until_ns;
    int64_t ns;
    int64_t before_ns; /* sum of `ns` of the waits before this one in the same list */
    uint64_t group;
    uint32_t event, member; /* as in the tm_participant of the wait */
    int32_t owner;
} wait;

tm_rank_waits tm_rank_waits_open(void) {
    return (tm_rank_waits){TM_VEC(kernel), TM_VEC(wait)};
}

void tm_rank_waits_free(tm_rank_waits *held) {
    tm_vec_free(&held->kernels);
    tm_vec_free(&held->waits);
}

TM_ORDER_BY(by_event, tm_participant, rank, event);

void tm_rank_waits_sort(tm_vec *participants) {
    tm_vec_sort(participants, by_event);
}

static bool collect_compute(const tm_timeline *timeline, tm_intervals *out) {
    const uint32_t end = tm_timeline_work_end(timeline);
    for (uint32_t row = 0; row < end; row++) {
        int64_t begin = timeline->begin_ns[row];
        if (timeline->role[row] == TM_ROLE_COMPUTE &&
            !tm_intervals_add(out, begin, begin + timeline->duration_ns[row]))
            return false;
    }
    tm_intervals_normalise(out);
    return true;
}

/* `member` and `owner` are not compared, because they depend on the number of processes. */
TM_ORDER_BY(by_until, wait, until_ns, event);

static int by_group_until(const void *a, const void *b) {
    const wait *x = a, *y = b;
    int order = tm_order_u64(x->group, y->group);
    return order ? order : by_until(a, b);
}

/* Returns the time around a moment in which the rank does not compute; empty if a compute kernel
 * runs at that moment. A kernel that starts or ends at the moment does not count as running. */
static tm_interval gap_at(const tm_intervals *compute, int64_t ns) {
    const tm_interval *v = compute->data;
    tm_interval gap = {INT64_MIN, INT64_MAX};
    size_t next = tm_intervals_first_after(compute, ns);
    if (next > 0)
        gap.begin_ns = v[next - 1].end_ns;
    if (next < compute->n)
        gap.end_ns = v[next].begin_ns < ns ? gap.begin_ns : v[next].begin_ns;
    return gap;
}

static int by_end(const void *a, const void *b) {
    const kernel *x = *(kernel *const *)a, *y = *(kernel *const *)b;
    int order = tm_order_i64(x->end_ns, y->end_ns);
    return order ? order : tm_order_i64(x->event, y->event);
}

/* Sets `released` for n kernels of one rank, from the last end backwards. Several kernels may end
 * during one time in which the rank computes nothing. Kernel a does not release the rank if kernel
 * b, which started before a ended, ends later in this time. */
static bool find_released(kernel *kernels, tm_participant *participants, size_t n,
                          const tm_intervals *compute) {
    kernel **order = malloc((n + 1) * sizeof *order);
    int64_t gap_ns = INT64_MIN, begin_ns = INT64_MAX;
    for (size_t i = 0; i < n && order; i++)
        order[i] = &kernels[i];
    if (order)
        qsort(order, n, sizeof *order, by_end);
    for (size_t i = n; i-- > 0 && order;) {
        kernel *k = order[i];
        tm_interval gap = gap_at(compute, k->end_ns);
        begin_ns = gap.end_ns == gap_ns ? begin_ns : INT64_MAX;
        gap_ns = gap.end_ns;
        k->idle_ns = gap.begin_ns;
        participants[k - kernels].released = gap.end_ns > gap.begin_ns && begin_ns >= k->end_ns;
        begin_ns = k->begin_ns < begin_ns ? k->begin_ns : begin_ns;
    }
    free(order);
    return order != NULL;
}

static void set_before(wait *waits, size_t n) {
    for (size_t i = 0; i < n; i++)
        waits[i].before_ns = i == 0 ? 0 : waits[i - 1].before_ns + waits[i - 1].ns;
}

static bool add_kernels(tm_rank_waits *held, const tm_timeline *timeline,
                        const tm_participant *participants, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int64_t begin = timeline->begin_ns[participants[i].event];
        const tm_span *span = tm_timeline_span(timeline, begin);
        kernel k = {.rank = participants[i].rank,
                    .begin_ns = begin,
                    .end_ns = begin + timeline->duration_ns[participants[i].event],
                    .since_ns = span ? span->begin_ns : INT64_MIN,
                    .group = participants[i].group,
                    .event = participants[i].event,
                    .transfer = participants[i].transfer};
        if (!tm_vec_append(&held->kernels, &k, 1))
            return false;
    }
    return true;
}

static bool add_waits(tm_rank_waits *held, const kernel *kernels,
                      const tm_participant *participants, size_t n) {
    size_t first = held->waits.n;
    for (size_t i = 0; i < n; i++) {
        int64_t from = kernels[i].begin_ns, until = from + participants[i].wait_ns;
        from = kernels[i].idle_ns > from ? kernels[i].idle_ns : from;
        wait w = {.rank = participants[i].rank,
                  .until_ns = until,
                  .ns = until - from,
                  .group = participants[i].group,
                  .event = participants[i].event,
                  .member = participants[i].member,
                  .owner = participants[i].owner};
        if (participants[i].released && w.ns > 0 && !tm_vec_append(&held->waits, &w, 1))
            return false;
    }
    wait *waits = held->waits.data;
    if (held->waits.n > first) {
        qsort(waits + first, held->waits.n - first, sizeof *waits, by_until);
        set_before(waits + first, held->waits.n - first);
    }
    return true;
}

tm_status tm_rank_waits_add(tm_rank_waits *held, const tm_timeline *timeline,
                            tm_participant *participants, size_t n, tm_error *err) {
    tm_intervals compute = TM_INTERVALS();
    size_t first = held->kernels.n;
    bool ok = collect_compute(timeline, &compute) && add_kernels(held, timeline, participants, n) &&
              find_released((kernel *)held->kernels.data + first, participants, n, &compute) &&
              add_waits(held, (const kernel *)held->kernels.data + first, participants, n);
    tm_vec_free(&compute);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Returns the index of the first of the sorted waits that ended after a moment; n if there is
 * none. */
static size_t first_after(const wait *waits, size_t n, int64_t ns) {
    return TM_FIRST_AFTER(wait, until_ns, waits, n, ns);
}

/* Returns the total length of the waits [first, end). */
static int64_t length_of(const wait *waits, size_t first, size_t end) {
    if (end <= first)
        return 0;
    return waits[end - 1].before_ns + waits[end - 1].ns - waits[first].before_ns;
}

/* One rank's kernels and waits, for the sums of the waits before each kernel. */
typedef struct rank_view {
    kernel *kernels;              /* [n] */
    tm_participant *participants; /* [n] participations of the kernels */
    size_t n;
    const wait *waits; /* [n_waits] the waits of this rank. Among the waits of all ranks, the first
                          of them has the index `first`. */
    size_t n_waits, first;
    wait *by_group;       /* [n_waits] copy of `waits`, sorted by group */
    const kernel **order; /* [n] kernels sorted by group, then begin */
} rank_view;

static int by_group_begin(const void *a, const void *b) {
    const kernel *x = *(const kernel *const *)a, *y = *(const kernel *const *)b;
    int order = tm_order_u64(x->group, y->group);
    order = order ? order : tm_order_i64(x->begin_ns, y->begin_ns);
    return order ? order : tm_order_i64(x->event, y->event);
}

/* Sets the sums of the waits before each of n kernels of one group. The kernels are sorted by
 * begin. @p own are the waits in the group's own operations. */
static void sum_group(const rank_view *v, const kernel *const *kernels, size_t n, const wait *own,
                      size_t n_own) {
    int64_t together_ns = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)(kernels[i] - v->kernels);
        kernel *k = &v->kernels[at];
        together_ns = k->since_ns > together_ns ? k->since_ns : together_ns;
        size_t first = first_after(v->waits, v->n_waits, together_ns);
        size_t end = first_after(v->waits, v->n_waits, k->begin_ns);
        int64_t all = length_of(v->waits, first, end);
        k->other_ns = all - length_of(own, first_after(own, n_own, together_ns),
                                      first_after(own, n_own, k->begin_ns));
        k->first = v->first + first;
        k->end = v->first + end;
        v->participants[at].all_ns = all;
        v->participants[at].other_ns = k->other_ns;
        if (v->participants[at].together && k->end_ns > together_ns)
            together_ns = k->end_ns;
    }
}

/* Returns how much of the sorted waits is between two moments. Only the first wait can begin before
 * @p from_ns; its part before @p from_ns does not count. */
static int64_t length_between(const wait *waits, size_t n, int64_t from_ns, int64_t until_ns) {
    size_t first = first_after(waits, n, from_ns), end = first_after(waits, n, until_ns);
    if (end <= first)
        return 0;
    int64_t begun_ns = waits[first].until_ns - waits[first].ns;
    return length_of(waits, first, end) - (begun_ns < from_ns ? from_ns - begun_ns : 0);
}

/* Sets the own times (stretches.h) of n kernels of one group. The kernels are sorted by begin. */
static void own_times(const rank_view *v, const kernel *const *kernels, size_t n, const wait *own,
                      size_t n_own) {
    int64_t from_ns = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        const kernel *k = kernels[i];
        tm_participant *participant = &v->participants[k - v->kernels];
        participant->own_ns = -1;
        int64_t came_ns =
            participant->arrival == TM_ARRIVAL_DONE ? participant->done_ns : k->begin_ns;
        bool known = participant->arrival != TM_ARRIVAL_UNKNOWN && came_ns >= k->since_ns;
        if (from_ns < k->since_ns) /* the last arrival was in an earlier recording; no stretch
                                      extends over two recordings */
            from_ns = INT64_MIN;
        if (known && from_ns != INT64_MIN && came_ns >= from_ns) {
            int64_t waited = length_between(v->waits, v->n_waits, from_ns, came_ns) -
                             length_between(own, n_own, from_ns, came_ns);
            participant->own_ns = came_ns - from_ns - waited;
            participant->own_ns = participant->own_ns > 0 ? participant->own_ns : 0;
        }
        if (known && came_ns > from_ns)
            from_ns = came_ns;
        if (participant->meets && k->end_ns > from_ns)
            from_ns = k->end_ns;
    }
}

static void sum_rank(const rank_view *v) {
    for (size_t i = 0; i < v->n_waits; i++)
        v->by_group[i] = v->waits[i];
    for (size_t i = 0; i < v->n; i++)
        v->order[i] = &v->kernels[i];
    if (v->n_waits > 1)
        qsort(v->by_group, v->n_waits, sizeof *v->by_group, by_group_until);
    qsort(v->order, v->n, sizeof *v->order, by_group_begin);
    for (size_t i = 0, end, w = 0; i < v->n; i = end) {
        uint64_t group = v->order[i]->group;
        for (end = i + 1; end < v->n && v->order[end]->group == group; end++)
            ;
        while (w < v->n_waits && v->by_group[w].group < group)
            w++;
        size_t own = w;
        while (w < v->n_waits && v->by_group[w].group == group)
            w++;
        set_before(v->by_group + own, w - own);
        sum_group(v, v->order + i, end - i, v->by_group + own, w - own);
        own_times(v, v->order + i, end - i, v->by_group + own, w - own);
    }
}

tm_status tm_rank_waits_since(tm_rank_waits *held, tm_participant *participants, tm_error *err) {
    kernel *kernels = held->kernels.data;
    const wait *waits = held->waits.data;
    rank_view v = {.by_group = malloc((held->waits.n + 1) * sizeof *v.by_group),
                   .order = malloc((held->kernels.n + 1) * sizeof *v.order)};
    bool ok = v.by_group && v.order;
    for (size_t first = 0, i = 0, w = 0; first < held->kernels.n && ok; first = i) {
        int64_t rank = kernels[first].rank;
        for (i = first + 1; i < held->kernels.n && kernels[i].rank == rank; i++)
            ;
        v.first = w;
        while (w < held->waits.n && waits[w].rank == rank)
            w++;
        v.kernels = kernels + first;
        v.participants = participants + first;
        v.n = i - first;
        v.waits = waits + v.first;
        v.n_waits = w - v.first;
        sum_rank(&v);
    }
    free(v.by_group);
    free(v.order);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Cost of a kernel, to be passed back. */
typedef struct owed {
    const kernel *kernel;
    int64_t step, ns;
} owed;

static int by_run(const void *a, const void *b) {
    const owed *x = a, *y = b;
    int order = tm_order_i64(x->kernel->rank, y->kernel->rank);
    order = order ? order : tm_order_i64(x->step, y->step);
    return order ? order : by_group_begin(&x->kernel, &y->kernel);
}

static bool same_run(const owed *a, const owed *b) {
    return a->kernel->rank == b->kernel->rank && a->step == b->step &&
           a->kernel->group == b->kernel->group;
}

static double rate_of(const owed *o) {
    return (double)o->ns / (double)o->kernel->other_ns;
}

/* Distributes n costs of one rank, group and step over the waits before their kernels. The kernels
 * are in order, so their ranges of waits begin and end in the same order, and one pass is enough.
 * The costs are added up wait by wait, and each sum is rounded. The difference of two successive
 * rounded sums is the share of a wait. */
static bool sweep(const wait *waits, const owed *run, size_t n, tm_vec *cost_shares) {
    int64_t total = 0, given = 0;
    double rate = 0.0, sum = 0.0;
    size_t in = 0, out = 0;
    tm_cost_share *last = NULL;
    for (size_t i = 0; i < n; i++)
        total += run[i].ns;
    for (size_t at = 0; out < n; at++) {
        if (in == out)
            at = run[in].kernel->first;
        while (in < n && run[in].kernel->first <= at)
            rate += rate_of(&run[in++]);
        const wait *w = &waits[at];
        sum += w->group == run->kernel->group ? 0.0 : rate * (double)w->ns;
        int64_t part = (int64_t)floor(sum + 0.5) - given;
        part = part < total - given ? part : total - given;
        tm_cost_share cost_share = {run->step, part, w->member, w->owner};
        if (part > 0 && !(last = tm_vec_append(cost_shares, &cost_share, 1)))
            return false;
        given += part > 0 ? part : 0;
        while (out < in && run[out].kernel->end <= at + 1)
            rate -= rate_of(&run[out++]);
        rate = in == out ? 0.0 : rate; /* clears rounding errors */
    }
    if (last)
        last->ns += total - given; /* the rest, which rounding left over */
    return true;
}

static bool is_before_pending_cost(const void *element, const void *key) {
    const kernel *k = element;
    const tm_pending_cost *pending_cost = key;
    return k->rank < pending_cost->rank ||
           (k->rank == pending_cost->rank && k->event < pending_cost->event);
}

static const kernel *kernel_of(const tm_rank_waits *held, const tm_pending_cost *pending_cost) {
    const kernel *kernels = held->kernels.data;
    return &kernels[tm_bisect(kernels, held->kernels.n, sizeof *kernels, pending_cost,
                              is_before_pending_cost)];
}

tm_status tm_rank_waits_pass(const tm_rank_waits *held, tm_vec *pending_costs, tm_vec *cost_shares,
                             tm_error *err) {
    const tm_pending_cost *v = pending_costs->data;
    owed *all = malloc((pending_costs->n + 1) * sizeof *all);
    size_t n = pending_costs->n;
    bool ok = all != NULL;
    for (size_t i = 0; i < n && ok; i++)
        all[i] = (owed){kernel_of(held, &v[i]), v[i].step, v[i].ns};
    tm_vec_free(pending_costs);
    if (ok && n > 1)
        qsort(all, n, sizeof *all, by_run);
    for (size_t first = 0, i = 0; first < n && ok; first = i) {
        for (i = first + 1; i < n && same_run(&all[first], &all[i]); i++)
            ;
        ok = sweep(held->waits.data, all + first, i - first, cost_shares);
    }
    free(all);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Goes backwards from the last end of a rank's waits. Time in which several waits overlap counts
 * once. */
int64_t tm_rank_waits_kept(const tm_rank_waits *held) {
    const wait *v = held->waits.data;
    int64_t kept = 0, counted_ns = INT64_MAX;
    for (size_t i = held->waits.n; i-- > 0;) {
        if (i + 1 == held->waits.n || v[i + 1].rank != v[i].rank)
            counted_ns = INT64_MAX;
        int64_t from = v[i].until_ns - v[i].ns;
        int64_t until = v[i].until_ns < counted_ns ? v[i].until_ns : counted_ns;
        kept = tm_sum(kept, until > from ? until - from : 0);
        counted_ns = from < counted_ns ? from : counted_ns;
    }
    return kept;
}

TM_ORDER_BY(by_group_rank, tm_group_member, group, rank);

tm_status tm_rank_waits_members(const tm_rank_waits *held, tm_vec *members, tm_error *err) {
    const kernel *kernels = held->kernels.data;
    for (size_t i = 0; i < held->kernels.n; i++) {
        tm_group_member member = {kernels[i].group, kernels[i].rank};
        bool repeated =
            i > 0 && kernels[i - 1].group == member.group && kernels[i - 1].rank == member.rank;
        if (!kernels[i].transfer && !repeated && !tm_vec_append(members, &member, 1))
            return tm_fail_memory(err);
    }
    tm_group_member *v = members->data;
    size_t n = 0;
    tm_vec_sort(members, by_group_rank);
    for (size_t i = 0; i < members->n; i++)
        if (n == 0 || by_group_rank(&v[n - 1], &v[i]) != 0)
            v[n++] = v[i];
    members->n = n;
    return TM_OK;
}

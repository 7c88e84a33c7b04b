/* Divides the waiting time between the ranks that cause it. While some ranks wait, each rank that
 * has not arrived yet causes an equal share of the wait. */
#include "true_blame.h"

#include <stdlib.h>
#include <string.h>

typedef struct arrival {
    int64_t begin_ns;
    int64_t rank;
} arrival;

typedef struct scratch {
    arrival *arrivals; /* [ranks] */
    tms_share *caused; /* [ranks] wait caused in this step */
} scratch;

void tms_share_add(tms_share *share, int64_t numerator, int64_t denominator) {
    tms_share other = {numerator / denominator, 0};
    int64_t rest = numerator % denominator;

    /* rest * 1e14 could overflow, so this multiplies by 1e7 twice. All products stay far below
     * 2^63. */
    other.rest = rest * 10000000 / denominator * 10000000 +
                 (rest * 10000000 % denominator * 10000000 + denominator / 2) / denominator;
    tms_share_sum(share, other);
}

void tms_share_sum(tms_share *share, tms_share other) {
    share->whole_ns += other.whole_ns;
    share->rest += other.rest;
    while (share->rest >= TMS_SHARE_UNIT) {
        share->rest -= TMS_SHARE_UNIT;
        share->whole_ns++;
    }
}

int tms_share_compare(tms_share a, tms_share b) {
    if (a.whole_ns != b.whole_ns) {
        return a.whole_ns < b.whole_ns ? -1 : 1;
    }
    return (a.rest > b.rest) - (a.rest < b.rest);
}

/* A kernel that ends before the last rank's arrival has no transfer time, and its wait lasts until
 * its end. A real all-reduce cannot do this, but it may look like this if clocks disagree. */
tms_split tms_blame_split(int64_t begin_ns, int64_t end_ns, int64_t last_ns) {
    int64_t until_ns = end_ns < last_ns ? end_ns : last_ns;
    tms_split split = {0, 0};

    if (until_ns > begin_ns) {
        split.wait_ns = until_ns - begin_ns;
    }
    if (end_ns > last_ns) {
        split.transfer_ns = end_ns - last_ns;
    }
    return split;
}

int64_t tms_blame_last(const int64_t *begin_ns, int64_t n) {
    int64_t last = 0;

    for (int64_t i = 1; i < n; i++) {
        last = begin_ns[i] > begin_ns[last] ? i : last;
    }
    return last;
}

/* Returns whether all members of a broadcast were there when the last one came, and whether their
 * kernels are longer than its kernel by half of the time that they came earlier. */
static bool met(const int64_t *begin_ns, const int64_t *end_ns, int64_t n) {
    int64_t last = tms_blame_last(begin_ns, n);
    int64_t earlier_ns = 0;
    int64_t longer_ns = 0;

    for (int64_t i = 0; i < n; i++) {
        if (i != last && end_ns[i] <= begin_ns[last]) {
            return false;
        }
        earlier_ns += begin_ns[last] - begin_ns[i];
        longer_ns += (end_ns[i] - begin_ns[i]) - (end_ns[last] - begin_ns[last]);
    }
    return longer_ns >= earlier_ns / 2;
}

bool tms_blame_waits(const tms_plan *plan, int64_t step, int64_t instance) {
    const tms_instance *row = &plan->instances[instance];
    size_t at = tms_plan_first(plan, step, instance);
    int64_t n = plan->groups.channels[row->channel].ranks.size;

    return tms_collective_get(row->what)->synchronises ||
           (row->what == TMS_BROADCAST && met(plan->begin_ns + at, plan->end_ns + at, n));
}

/* Compares by time, then by rank, so that the order does not depend on qsort. */
static int compare(const void *a, const void *b) {
    const arrival *left = a;
    const arrival *right = b;

    if (left->begin_ns != right->begin_ns) {
        return left->begin_ns < right->begin_ns ? -1 : 1;
    }
    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Counts the last of n sorted arrivals. If several are last at the same time, counts them as tied.
 */
static void count_last(tms_blame *blame, const arrival *arrivals, int64_t n) {
    int64_t last_ns = arrivals[n - 1].begin_ns;
    bool tied = arrivals[n - 2].begin_ns == last_ns;

    for (int64_t i = 0; i < n; i++) {
        tms_rank_blame *rank = &blame->ranks[arrivals[i].rank];

        rank->collectives++;
        rank->tied += tied && arrivals[i].begin_ns == last_ns;
        rank->last_arrivals += !tied && i == n - 1;
    }
}

/* Divides the waits of n sorted arrivals. In the gap before arrival i, the i ranks that have
 * arrived wait for the others. Each late rank gets the sum of its shares of the gaps before its
 * arrival. All ends must be after the last start. */
static void split_waits(const arrival *arrivals, int64_t n, tms_share *caused) {
    tms_share sum = {0, 0};

    for (int64_t i = 1; i < n; i++) {
        int64_t gap_ns = arrivals[i].begin_ns - arrivals[i - 1].begin_ns;

        tms_share_add(&sum, gap_ns * i, n - i);
        tms_share_sum(&caused[arrivals[i].rank], sum);
    }
}

static void add_instance(tms_blame *blame, const tms_plan *plan, size_t at,
                         const tms_channel *channel, scratch *s) {
    int64_t n = channel->ranks.size;
    int64_t last_ns = plan->begin_ns[at + (size_t)tms_blame_last(plan->begin_ns + at, n)];

    for (int64_t p = 0; p < n; p++) {
        size_t i = at + (size_t)p;
        int64_t rank = tms_ranks_at(&channel->ranks, p);
        tms_split split = tms_blame_split(plan->begin_ns[i], plan->end_ns[i], last_ns);

        blame->ranks[rank].wait_ns += split.wait_ns;
        blame->ranks[rank].transfer_ns += split.transfer_ns;
        s->arrivals[p] = (arrival){plan->begin_ns[i], rank};
    }
    qsort(s->arrivals, (size_t)n, sizeof *s->arrivals, compare);
    count_last(blame, s->arrivals, n);
    split_waits(s->arrivals, n, s->caused);
}

/* Adds all collectives of a step. Finds the rank that caused most wait; of several such ranks, the
 * lowest counts. */
static void add_step(tms_blame *blame, const tms_plan *plan, int64_t step, scratch *s) {
    const tms_config *config = plan->config;
    tms_step_blame *row = &blame->steps[step];
    tms_share none = {0, 0};
    tms_share total = {0, 0};

    memset(s->caused, 0, (size_t)config->ranks * sizeof *s->caused);
    for (int64_t i = 0; i < plan->groups.n_instances; i++) {
        if (plan->groups.channels[plan->instances[i].channel].ranks.size > 1 &&
            tms_blame_waits(plan, step, i) && tms_plan_complete(plan, step, i)) {
            add_instance(blame, plan, tms_plan_first(plan, step, i),
                         &plan->groups.channels[plan->instances[i].channel], s);
        }
    }
    row->leader = -1;
    row->caused = none;
    for (int64_t r = 0; r < config->ranks; r++) {
        tms_share_sum(&blame->ranks[r].caused, s->caused[r]);
        tms_share_sum(&total, s->caused[r]);
        if (tms_share_compare(s->caused[r], row->caused) > 0) {
            row->leader = r;
            row->caused = s->caused[r];
        }
    }
    /* The caused waits have to add up to the waits. Rounding the total removes the small errors of
     * the shares. */
    row->wait_ns = total.whole_ns + (total.rest >= TMS_SHARE_UNIT / 2);
    blame->wait_ns += row->wait_ns;
    if (row->leader >= 0) {
        blame->ranks[row->leader].steps_led++;
    }
}

tms_status tms_blame_build(tms_blame *blame, const tms_plan *plan, tms_error *err) {
    const tms_config *config = plan->config;
    tms_blame built = {0};
    scratch s;

    built.ranks = calloc((size_t)config->ranks, sizeof *built.ranks);
    built.steps = calloc((size_t)config->steps, sizeof *built.steps);
    s.arrivals = calloc((size_t)config->ranks, sizeof *s.arrivals);
    s.caused = calloc((size_t)config->ranks, sizeof *s.caused);
    if (built.ranks != NULL && built.steps != NULL && s.arrivals != NULL && s.caused != NULL) {
        for (int64_t step = 0; step < config->steps; step++) {
            add_step(&built, plan, step, &s);
        }
        *blame = built;
        free(s.arrivals);
        free(s.caused);
        return TMS_OK;
    }
    free(s.arrivals);
    free(s.caused);
    tms_blame_free(&built);
    return tms_fail(err, TMS_ERR_FAULT, "out of memory for %lld ranks and %lld steps",
                    (long long)config->ranks, (long long)config->steps);
}

void tms_blame_free(tms_blame *blame) {
    free(blame->ranks);
    free(blame->steps);
    memset(blame, 0, sizeof *blame);
}

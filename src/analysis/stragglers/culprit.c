#include "culprit.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

static int by_unit(const void *a, const void *b) {
    const tm_place *x = a, *y = b;
    int order = tm_order_i64(x->level, y->level);
    order = order ? order : tm_order_u64(x->unit, y->unit);
    return order ? order : tm_order_u64(x->rank, y->rank);
}

/* A double is enough to compare with four fifths of a sum, and sums are in the order of ranks. */
static double cost_of(const tm_toll *rank) {
    tm_share cost = tm_toll_cost(rank);
    return (double)cost.whole_ns + (double)cost.fraction * 0x1p-40;
}

/* Whether the ranks of a unit, places [n], share the cost. */
static bool share_cost(const tm_culprit_input *in, const tm_place *places, size_t n, double total) {
    double sum = 0.0, least = 0.0;
    if (n < 2 || 2 * n > in->n_ranks)
        return false;
    for (size_t i = 0; i < n; i++) {
        double cost = cost_of(&in->ranks[places[i].rank]);
        sum += cost;
        least = i == 0 || cost < least ? cost : least;
    }
    return sum > 0.0 && sum >= 0.8 * total && 2.0 * least * (double)n >= sum;
}

/* The smallest unit that does; of equal ones a host, then the one of the lowest rank. */
static const tm_place *find_unit(const tm_culprit_input *in, size_t *n) {
    const tm_place *found = NULL;
    double total = 0.0;
    for (size_t i = 0; i < in->n_ranks; i++)
        total += cost_of(&in->ranks[i]);
    if (in->n_places > 1)
        qsort(in->places, in->n_places, sizeof *in->places, by_unit);
    for (size_t first = 0, i = 0; first < in->n_places; first = i) {
        const tm_place *p = &in->places[first];
        for (i = first + 1;
             i < in->n_places && in->places[i].level == p->level && in->places[i].unit == p->unit;
             i++)
            ;
        bool smaller = !found || i - first < *n ||
                       (i - first == *n && found->level == p->level && p->rank < found->rank);
        if (smaller && share_cost(in, p, i - first, total)) {
            found = p;
            *n = i - first;
        }
    }
    return found;
}

/* The one of most cost among the ranks that are meant. */
static size_t most_of(const tm_culprit_input *in, const bool *among) {
    size_t most = in->n_ranks;
    for (size_t i = 0; i < in->n_ranks; i++)
        if (among[i] && (most == in->n_ranks || cost_of(&in->ranks[i]) > cost_of(&in->ranks[most])))
            most = i;
    return most;
}

/* Whether the leader of a step is one of the ranks that are meant. */
static bool leads_among(const tm_culprit_input *in, const bool *among, int64_t rank) {
    for (size_t i = 0; i < in->n_ranks; i++)
        if (in->ranks[i].rank == rank)
            return among[i];
    return false;
}

/* The verdict with all ranks of the unit as its rank of most cost; false when memory is out. */
static bool decide_as_one(const tm_culprit_input *in, const bool *among, tm_verdict *out) {
    tm_toll *ranks = calloc(in->n_ranks + 1, sizeof *ranks);
    tm_leader *leaders = calloc(in->n_leaders + 1, sizeof *leaders);
    size_t most = most_of(in, among), n = 0, one = 0;
    bool ok = ranks && leaders;
    for (size_t i = 0; i < in->n_ranks && ok; i++) {
        if (!among[i]) {
            ranks[n++] = in->ranks[i];
            continue;
        }
        /* In its own place, so that the tolls stay ascending in rank. */
        if (i == most) {
            one = n++;
            ranks[one].rank = in->ranks[i].rank;
        }
    }
    for (size_t i = 0; i < in->n_ranks && ok; i++)
        if (among[i])
            tm_toll_add(&ranks[one], &in->ranks[i]);
    for (size_t i = 0; i < in->n_leaders && ok; i++) {
        leaders[i] = in->leaders[i];
        if (leads_among(in, among, leaders[i].rank))
            leaders[i].rank = in->ranks[most].rank;
    }
    if (ok)
        *out = tm_verdict_decide(ranks, n, leaders, in->n_leaders, in->window_ns);
    free(ranks);
    free(leaders);
    return ok;
}

tm_status tm_culprit_decide(const tm_culprit_input *in, bool *among, tm_verdict *out,
                            tm_error *err) {
    size_t n = 0;
    /* its first place; the others of the unit stand behind it */
    const tm_place *unit = find_unit(in, &n);
    memset(among, 0, in->n_ranks * sizeof *among);
    for (size_t i = 0; i < n; i++)
        among[unit[i].rank] = true;
    tm_verdict v = {.rank = -1};
    if (unit && !decide_as_one(in, among, &v))
        return tm_fail_memory(err);
    /* Where the verdict names a rank outside the unit, that rank stands out alone: ranks are
     * judged. */
    if (unit && v.rank == in->ranks[most_of(in, among)].rank) {
        v.level = unit->level;
        *out = v;
        return TM_OK;
    }
    *out = tm_verdict_decide(in->ranks, in->n_ranks, in->leaders, in->n_leaders, in->window_ns);
    for (size_t i = 0; i < in->n_ranks; i++)
        among[i] = out->rank >= 0 && in->ranks[i].rank == out->rank;
    return TM_OK;
}

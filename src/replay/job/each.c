#include "each.h"

#include <math.h>
#include <stdlib.h>

#include "base/sorted.h"

/* What is kept of the links from one operation to another: the time of the longest link (most) with
 * its group, and the time of the longest link of another group (next). Whichever group is excluded,
 * one of the two is the longest of the rest. */
typedef struct pair {
    double most, next;
    uint32_t from, group;
} pair;

typedef struct own_link {
    uint32_t group, link;
} own_link;

/* Times of one group in each SIMD lane. They are doubles, because processors have a vector maximum
 * for doubles. A double is exact up to 100 days. */
typedef struct lanes {
    double ns[TM_EACH_LANES];
} lanes;

static void add_way(pair *p, double ns, uint32_t group) {
    if (ns > p->most) {
        p->next = group == p->group ? p->next : p->most;
        p->most = ns;
        p->group = group;
    } else if (group != p->group && ns > p->next) {
        p->next = ns;
    }
}

TM_ORDER_BY(by_group, own_link, group);

/* Sorts the links that lead to a target by group. The links are often sorted already, because the
 * ranks of a host are adjacent. */
static void add_own(tm_each *each, size_t target, const uint32_t *groups) {
    const tm_replay *job = each->replay;
    own_link *own = each->own;
    const size_t first = job->first[target], after = job->first[target + 1];
    for (size_t i = first; i < after; i++)
        own[i] = (own_link){groups[job->rank[i]], (uint32_t)i};
    tm_sort(own + first, after - first, sizeof *own, by_group);
}

/*
 * Adds the pairs that lead to a target.
 *
 * @param pair_of  [operations + 1] index of the latest pair that starts at each operation; the last
 *                 element is for the root
 */
static bool add_pairs(tm_each *each, size_t target, size_t *pair_of) {
    const tm_replay *job = each->replay;
    const int64_t *ns = job->ns + each->sets.others * job->n_links;
    const own_link *own = each->own;
    const size_t first = each->pairs.n;
    for (size_t k = job->first[target]; k < job->first[target + 1]; k++) {
        const size_t i = own[k].link;
        const uint32_t from = job->from[i];
        size_t *at = &pair_of[from == TM_FROM_ROOT ? job->n_operations : from];
        pair *p = (pair *)each->pairs.data + *at;
        if (*at < first || *at >= each->pairs.n || p->from != from) {
            *at = each->pairs.n;
            p = tm_vec_push(&each->pairs);
            if (!p)
                return false;
            *p = (pair){(double)-INFINITY, (double)-INFINITY, from, own[k].group};
        }
        add_way(p, (double)ns[i], own[k].group);
    }
    return true;
}

bool tm_each_open(tm_each *each, const tm_replay *replay, tm_replay_sets sets,
                  const uint32_t *groups) {
    const size_t n = replay->n_operations + replay->n_steps;
    *each = (tm_each){.replay = replay,
                      .sets = sets,
                      .first = malloc((n + 1) * sizeof *each->first),
                      .pairs = TM_VEC(pair),
                      .own = malloc((replay->n_links + 1) * sizeof(own_link)),
                      .ns = malloc((n + 1) * sizeof(lanes)),
                      .ends = malloc((replay->n_steps + 1) * sizeof *each->ends)};
    size_t *pair_of = calloc(replay->n_operations + 1, sizeof *pair_of);
    bool ok = each->first && each->own && each->ns && each->ends && pair_of;
    for (size_t target = 0; target < n && ok; target++) {
        each->first[target] = each->pairs.n;
        add_own(each, target, groups);
        ok = add_pairs(each, target, pair_of);
    }
    if (ok)
        each->first[n] = each->pairs.n;
    free(pair_of);
    return ok;
}

void tm_each_free(tm_each *each) {
    free(each->first);
    tm_vec_free(&each->pairs);
    free(each->own);
    free(each->ns);
    free(each->ends);
}

/*
 * Raises @p latest to the times that are reached over links of other groups than the lane's own.
 *
 * @param first  group of lane 0
 */
static void reach_by_others(const tm_each *each, uint32_t first, size_t target, const lanes *ns,
                            lanes *latest) {
    static const lanes root = {{0}};
    const pair *pairs = each->pairs.data;
    for (size_t i = each->first[target]; i < each->first[target + 1]; i++) {
        const lanes *from = pairs[i].from == TM_FROM_ROOT ? &root : &ns[pairs[i].from];
        /* if the group is below `first`, this wraps to a large number */
        const uint32_t lane = pairs[i].group - first;
        lanes at;
        for (size_t k = 0; k < TM_EACH_LANES; k++)
            at.ns[k] = from->ns[k] + pairs[i].most;
        if (lane < TM_EACH_LANES)
            at.ns[lane] = from->ns[lane] + pairs[i].next;
        for (size_t k = 0; k < TM_EACH_LANES; k++)
            latest->ns[k] = at.ns[k] > latest->ns[k] ? at.ns[k] : latest->ns[k];
    }
}

/* Raises @p latest to the times that are reached over links of the lane's own group. */
static void reach_by_own(const tm_each *each, uint32_t first, size_t target, const lanes *ns,
                         lanes *latest) {
    const tm_replay *job = each->replay;
    const int64_t *own = job->ns + each->sets.own * job->n_links;
    const size_t n = job->first[target + 1] - job->first[target];
    const own_link *at = (const own_link *)each->own + job->first[target], *const after = at + n;
    at += TM_FIRST_FROM(own_link, group, at, n, first);
    for (; at < after && at->group - first < TM_EACH_LANES; at++) {
        const uint32_t lane = at->group - first, source = job->from[at->link];
        const double from = source == TM_FROM_ROOT ? 0 : ns[source].ns[lane];
        const double is = from + (double)own[at->link];
        latest->ns[lane] = is > latest->ns[lane] ? is : latest->ns[lane];
    }
}

void tm_each_totals(const tm_each *each, size_t first, size_t n, int64_t *totals) {
    const tm_replay *job = each->replay;
    lanes *ns = each->ns;
    /* end of the previous step, which is the earliest end of the current step */
    lanes latest = {{0}};
    for (size_t i = 0; i < job->n_operations + job->n_steps; i++) {
        for (size_t k = 0; k < TM_EACH_LANES; k++)
            ns[i].ns[k] = i < job->n_operations ? (double)TM_REPLAY_UNREACHED : latest.ns[k];
        reach_by_others(each, (uint32_t)first, i, ns, &ns[i]);
        reach_by_own(each, (uint32_t)first, i, ns, &ns[i]);
        if (i >= job->n_operations)
            latest = ns[i];
    }
    for (size_t lane = 0; lane < n; lane++) {
        for (size_t k = 0; k < job->n_steps; k++)
            each->ends[k] = (int64_t)ns[job->n_operations + k].ns[lane];
        totals[lane] = tm_replay_total_of(job, each->ends);
    }
}

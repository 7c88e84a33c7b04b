#include "share.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

int tm_share_parts(int64_t weight, int64_t total, int n_processes) {
    int64_t fair = total / n_processes;
    if (weight <= fair || fair == 0)
        return 1;
    int64_t n = weight / fair + (weight % fair >= fair - fair / 4 * 3);
    return n < n_processes ? (int)n : n_processes;
}

static bool sees(const tm_share_readers *readers, const uint64_t *seen, int process) {
    return readers->n_hosts <= 1 || tm_hosts_has(seen, readers->host_of[process]);
}

int tm_share_n_readers(const tm_share_readers *readers, const uint64_t *seen) {
    int n = 0;
    for (int p = 0; p < readers->n; p++)
        n += sees(readers, seen, p);
    return n;
}

int tm_share_reader(const tm_share_readers *readers, const uint64_t *seen, size_t k) {
    if (readers->n_hosts <= 1 || !seen)
        return (int)(k % (size_t)readers->n);
    size_t n = (size_t)tm_share_n_readers(readers, seen);
    int p = -1;
    for (size_t left = n > 0 ? k % n + 1 : 0; left > 0; left -= sees(readers, seen, p))
        p++;
    return p;
}

/* All traces of one rank, or one trace of an unknown rank. */
typedef struct group {
    int64_t rank;
    int64_t weight;
    size_t first; /* index of the group's first item; decides the order of groups of equal weight */
    const uint64_t *seen; /* hosts that can open all of the traces; NULL: all hosts */
    int owner;
} group;

TM_ORDER_BY(by_rank, group, rank, first);

static int by_weight(const void *a, const void *b) {
    const group *x = a, *y = b;
    int order = (x->seen == NULL) - (y->seen == NULL);
    order = order ? order : tm_order_i64(y->weight, x->weight);
    return order ? order : tm_order_u64(x->first, y->first);
}

/* Returns the intersection of two host sets, in a buffer of n_words; NULL if it contains all
 * hosts. */
static const uint64_t *both(const uint64_t *a, const uint64_t *b, uint64_t *room, size_t n_words) {
    if (!a || !b || a == b)
        return a ? a : b;
    for (size_t i = 0; i < n_words; i++)
        room[i] = a[i] & b[i];
    return room;
}

/* Merges groups of the same rank. At first each item has its own group. */
static size_t fold_groups(group *groups, size_t n, uint64_t *rooms, size_t n_words) {
    size_t kept = 0;
    qsort(groups, n, sizeof *groups, by_rank);
    for (size_t i = 0; i < n; i++) {
        group *last = kept > 0 ? &groups[kept - 1] : NULL;
        if (last && groups[i].rank >= 0 && last->rank == groups[i].rank) {
            last->weight += groups[i].weight;
            last->seen = both(last->seen, groups[i].seen, rooms + last->first * n_words, n_words);
        } else {
            groups[kept++] = groups[i];
        }
    }
    return kept;
}

/* Returns the least loaded process that can open the group's traces; -1 if there is none. */
static int least_loaded(const tm_share_readers *readers, const group *g, const int64_t *load) {
    int least = -1;
    for (int p = 0; p < readers->n; p++)
        if (sees(readers, g->seen, p) && (least < 0 || load[p] < load[least]))
            least = p;
    return least;
}

/* The groups to distribute, and the load of each reader so far. */
typedef struct dealing {
    tm_share_item *items; /* [n] */
    size_t n;
    group *groups; /* [n_groups] */
    size_t n_groups;
    int64_t *load; /* [readers] */
} dealing;

static void give(const dealing *d, group *at, int owner) {
    at->owner = owner;
    d->load[owner] += at->weight + 1; /* + 1, so that also traces without weight are spread */
}

/* Assigns ranks that are far smaller than a process's share. Neighbouring ranks go to one process
 * until it has the average load, because their rows are adjacent in the store. */
static void deal_small(const dealing *d, group *small, size_t n, int n_readers, int64_t fair) {
    int owner = 0;
    qsort(small, n, sizeof *small, by_rank);
    for (size_t g = 0; g < n; g++) {
        while (owner < n_readers - 1 && d->load[owner] >= fair)
            owner++;
        give(d, &small[g], owner);
    }
}

static tm_status deal_out(const dealing *d, const tm_share_readers *readers, tm_error *err) {
    enum { FEW = 16 }; /* a rank is small if it is less than 1/FEW of a process's share */
    int64_t fair = (int64_t)d->n_groups + readers->n - 1;
    for (size_t g = 0; g < d->n_groups; g++)
        fair += d->groups[g].weight;
    fair /= readers->n;
    for (size_t g = 0; g < d->n_groups; g++) {
        group *at = &d->groups[g];
        if (!at->seen && at->weight < fair / FEW) { /* the groups after this one are small, too */
            deal_small(d, at, d->n_groups - g, readers->n, fair);
            break;
        }
        int owner = least_loaded(readers, at, d->load);
        if (owner < 0)
            return tm_fail(err, TM_ERR_INPUT, NULL, -1,
                           "rank %" PRId64 " has traces on several hosts, and no host sees all of "
                           "them: do they belong to one job?",
                           at->rank);
        give(d, at, owner);
    }
    return TM_OK;
}

/* Sets the owner of each item to the owner of its group. */
static void set_owners(const dealing *d) {
    qsort(d->groups, d->n_groups, sizeof *d->groups, by_rank);
    for (size_t i = 0; i < d->n; i++) {
        const int64_t rank = d->items[i].rank;
        if (rank >= 0)
            d->items[i].owner =
                d->groups[TM_FIRST_FROM(group, rank, d->groups, d->n_groups, rank)].owner;
    }
    for (size_t g = 0; g < d->n_groups && d->groups[g].rank < 0; g++)
        d->items[d->groups[g].first].owner = d->groups[g].owner;
}

tm_status tm_share_plan(tm_share_item *items, size_t n, const tm_share_readers *readers,
                        tm_error *err) {
    size_t n_words = readers->n_hosts > 1 ? tm_hosts_words(readers->n_hosts) : 0;
    dealing d = {.items = items,
                 .n = n,
                 .groups = malloc((n + 1) * sizeof *d.groups),
                 .load = calloc((size_t)readers->n, sizeof *d.load)};
    uint64_t *rooms = malloc((n * n_words + 1) * sizeof *rooms);
    tm_status status = d.groups && d.load && rooms ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK) {
        for (size_t i = 0; i < n; i++)
            d.groups[i] =
                (group){items[i].rank, items[i].weight, i, n_words ? items[i].seen : NULL, -1};
        d.n_groups = fold_groups(d.groups, n, rooms, n_words);
        qsort(d.groups, d.n_groups, sizeof *d.groups, by_weight);
        status = deal_out(&d, readers, err);
    }
    if (status == TM_OK)
        set_owners(&d);
    free(d.groups);
    free(d.load);
    free(rooms);
    return status;
}

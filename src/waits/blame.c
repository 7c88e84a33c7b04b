#include "blame.h"

#include <stdlib.h>

#include "base/sorted.h"

enum { FRACTION_BITS = 40 };

static const uint64_t fraction_one = (uint64_t)1 << FRACTION_BITS;

void tm_share_add(tm_share *sum, tm_share share) {
    sum->whole_ns += share.whole_ns;
    sum->fraction += share.fraction;
    if (sum->fraction >= fraction_one) {
        sum->fraction -= fraction_one;
        sum->whole_ns++;
    }
}

tm_share tm_share_of(int64_t numerator, int64_t denominator) {
    uint64_t rest = (uint64_t)(numerator % denominator);
    return (tm_share){numerator / denominator, (rest << FRACTION_BITS) / (uint64_t)denominator};
}

int64_t tm_share_round(tm_share share) {
    return share.whole_ns + (share.fraction >= fraction_one / 2);
}

typedef struct pair_key {
    int64_t rank, for_rank;
} pair_key;

bool tm_pair_map_add(tm_pair_map *map, int64_t rank, int64_t for_rank, tm_share share) {
    const pair_key key = {rank, for_rank};
    if (map->shares.size == 0)
        *map = (tm_pair_map){.pairs = TM_KEYS(pair_key), .shares = TM_VEC(tm_share)};
    tm_share *sum = tm_keys_value(&map->pairs, &map->shares, &key);
    if (sum)
        tm_share_add(sum, share);
    return sum != NULL;
}

bool tm_pair_map_drain(tm_pair_map *map, tm_vec *out) {
    const pair_key *keys = map->pairs.keys.data;
    const tm_share *shares = map->shares.data;
    bool ok = true;
    for (size_t i = 0; i < map->shares.n && ok; i++) {
        tm_pair pair = {.rank = keys[i].rank,
                        .for_rank = keys[i].for_rank,
                        .whole_ns = shares[i].whole_ns,
                        .fraction = shares[i].fraction};
        ok = tm_vec_append(out, &pair, 1) != NULL;
    }
    tm_pair_map_free(map);
    return ok;
}

void tm_pair_map_free(tm_pair_map *map) {
    tm_keys_free(&map->pairs);
    tm_vec_free(&map->shares);
}

typedef struct arrival {
    int64_t begin_ns, end_ns;
    int64_t rank;
    size_t member;
} arrival;

TM_ORDER_BY(by_begin, arrival, begin_ns, rank);

/* Returns how long a rank that arrived early waits in [from, to), between two successive
 * arrivals. */
static int64_t wait_in(const arrival *early, int64_t from, int64_t to) {
    int64_t end = early->end_ns < to ? early->end_ns : to;
    return end > from ? end - from : 0;
}

/* Returns the wait in gap j, between arrivals j and j + 1, summed over the ranks that have
 * arrived. */
static int64_t wait_of_gap(const arrival *a, size_t j, bool any_cut) {
    int64_t gap = a[j + 1].begin_ns - a[j].begin_ns, sum = 0;
    if (!any_cut)
        return gap * (int64_t)(j + 1);
    for (size_t i = 0; i <= j; i++)
        sum += wait_in(&a[i], a[j].begin_ns, a[j + 1].begin_ns);
    return sum;
}

static void split_gaps(const arrival *a, size_t n, bool any_cut, tm_comm_answer *answers) {
    tm_share caused = {0, 0};
    for (size_t j = 0; j + 1 < n; j++) {
        int64_t wait = wait_of_gap(a, j, any_cut);
        tm_share_add(&caused, tm_share_of(wait, (int64_t)(n - j - 1)));
        answers[a[j + 1].member].caused_ns = caused.whole_ns;
        answers[a[j + 1].member].caused_fraction = caused.fraction;
    }
}

static bool split_pairs(const arrival *a, size_t n, tm_pair_map *pairs) {
    for (size_t i = 0; i + 1 < n; i++) {
        tm_share sum = {0, 0};
        for (size_t j = i; j + 1 < n; j++) {
            int64_t wait = wait_in(&a[i], a[j].begin_ns, a[j + 1].begin_ns);
            tm_share_add(&sum, tm_share_of(wait, (int64_t)(n - j - 1)));
            if ((sum.whole_ns > 0 || sum.fraction > 0) &&
                !tm_pair_map_add(pairs, a[j + 1].rank, a[i].rank, sum))
                return false;
        }
    }
    return true;
}

/* Marks each rank as tied with the last rank if clocks are too uncertain to say which of the two
 * came later. */
static void find_last(const arrival *a, size_t n, const tm_comm_record *members,
                      tm_comm_answer *answers) {
    const tm_comm_record *last = &members[a[n - 1].member];
    bool alone = true;
    for (size_t i = 0; i + 1 < n; i++) {
        const tm_comm_record *other = &members[a[i].member];
        bool tied = last->begin_ns - other->begin_ns <= tm_joint_uncertainty(last, other);
        answers[a[i].member].tied = tied;
        alone = alone && !tied;
    }
    answers[a[n - 1].member].tied = !alone;
    answers[a[n - 1].member].last = alone;
    if (alone)
        answers[a[n - 1].member].lateness_ns = last->begin_ns - a[n - 2].begin_ns;
    for (size_t i = 0; i < n; i++)
        answers[a[i].member].untied = alone;
}

/* Sets the uncertainty of the wait that each late rank caused: the uncertainty of the clocks, times
 * the number of earlier arrivals. */
static void find_doubt(const arrival *a, size_t n, const tm_comm_record *members,
                       tm_comm_answer *answers) {
    const tm_comm_record *first = &members[a[0].member];
    for (size_t i = 1; i < n; i++)
        if (answers[a[i].member].caused_ns > 0)
            answers[a[i].member].doubt_ns =
                (int64_t)i * tm_joint_uncertainty(&members[a[i].member], first);
}

/* Returns the record that begins last. */
static const tm_comm_record *last_of(const tm_comm_record *members, size_t n) {
    const tm_comm_record *last = members;
    for (size_t i = 1; i < n; i++)
        last = members[i].begin_ns > last->begin_ns ? &members[i] : last;
    return last;
}

/* Returns whether the members of an incomplete operation have certainly waited for each other. If
 * one member ends before another one begins, the answer is no: they belong to different operations,
 * or their clocks are wrong. */
static bool waits_at_least(const tm_comm_record *members, const tm_instance *instance) {
    bool any = instance->state == TM_INSTANCE_INCOMPLETE && !instance->waits && instance->joins &&
               tm_record_synchronises(members);
    for (size_t i = 0; i < instance->n && any; i++)
        any = members[i].end_ns >= instance->last_ns;
    return any;
}

/* Returns a lower bound of a member's wait: the time until the last recorded member arrived, minus
 * the uncertainty. */
static int64_t least_wait(const tm_comm_record *member, const tm_comm_record *last) {
    const int64_t ns = last->begin_ns - member->begin_ns - tm_joint_uncertainty(member, last);
    return member == last || ns < 0 ? 0 : ns;
}

tm_status tm_blame_instance(const tm_comm_record *members, const tm_instance *instance,
                            tm_comm_answer *answers, tm_pair_map *pairs, tm_error *err) {
    size_t n = instance->n;
    bool any_cut = false, ok = true;
    const bool least = waits_at_least(members, instance);
    const tm_comm_record *last = last_of(members, n);
    arrival *a = malloc(n * sizeof *a);
    if (!a)
        return tm_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        a[i] = (arrival){members[i].begin_ns, members[i].end_ns, members[i].rank, i};
        any_cut = any_cut || members[i].end_ns < instance->last_ns;
        answers[i] = (tm_comm_answer){
            .wait_ns = instance->waits ? tm_member_wait(&members[i], instance->last_ns) : -1,
            .least_ns = least ? least_wait(&members[i], last) : -1,
            .step = members[0].step,
            .group_size = members[0].group_size,
            .matched = true,
            .complete = instance->state == TM_INSTANCE_COMPLETE,
            .at_least = members[i].at_least,
        };
    }
    if (instance->waits) {
        qsort(a, n, sizeof *a, by_begin);
        split_gaps(a, n, any_cut, answers);
        find_last(a, n, members, answers);
        find_doubt(a, n, members, answers);
        ok = !pairs || split_pairs(a, n, pairs);
    }
    free(a);
    return ok ? TM_OK : tm_fail_memory(err);
}

#include "rank_numbers.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"
#include "tmerge/timeline.h"

typedef struct decider {
    tm_trace_rank *v;
    size_t n;
    int64_t *named;    /* [n] rank according to each trace's name; -1 if the name has none */
    bool names_decide; /* names take precedence over reported ranks */
    int64_t world;     /* world size of the job; -1 if unknown */
    /* largest world size of those traces that also report a rank; -1 if unknown */
    int64_t limit;
} decider;

/* Two numbers of a trace, such as the number in its name and its rank. any_differ compares the
 * pairs of several traces. */
typedef struct pair {
    int64_t first, second;
    size_t place;
} pair;

TM_ORDER_BY(by_pair, pair, first, second, place);

/* Sorts the pairs. Returns whether two pairs have equal first numbers but different second
 * numbers. */
static bool any_differ(tm_vec *pairs) {
    pair *v = pairs->data;
    bool differ = false;
    tm_vec_sort(pairs, by_pair);
    for (size_t i = 1; i < pairs->n; i++)
        differ = differ || (v[i].first == v[i - 1].first && v[i].second != v[i - 1].second);
    return differ;
}

static int64_t or_0(int64_t number) {
    return number > 0 ? number : 0;
}

/* Returns the pipeline stage of a label. Returns 0 if the number in the label counts across stages,
 * so that the stage does not matter. */
static int64_t stage_of(const tm_rank_label *label) {
    bool counts = label->of[TM_WORD_RANK] >= 0 || label->of[TM_WORD_WORKER] >= 0;
    return counts ? 0 : or_0(label->of[TM_WORD_PP]);
}

tm_status tm_rank_labels_number(const tm_rank_label *labels, size_t n, int64_t least, int64_t *out,
                                tm_error *err) {
    /* For each label: its own number, and its number by replica and stage. */
    tm_vec pairs = TM_VEC(pair);
    int64_t n_own = 1, n_stages = 1;
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        int64_t own = or_0(tm_rank_of_label(&labels[i])), stage = stage_of(&labels[i]);
        n_own = own >= n_own ? own + 1 : n_own;
        n_stages = stage >= n_stages ? stage + 1 : n_stages;
    }
    for (size_t i = 0; i < n && ok; i++) {
        int64_t own = or_0(tm_rank_of_label(&labels[i]));
        int64_t all = n_own * n_stages > least ? n_own * n_stages : least;
        int64_t replica = or_0(labels[i].of[TM_WORD_DP]);
        out[i] =
            replica > TM_RANK_MAX / all ? -1 : replica * all + stage_of(&labels[i]) * n_own + own;
        out[i] = !tm_rank_label_is_empty(&labels[i]) && out[i] <= TM_RANK_MAX ? out[i] : -1;
        ok = out[i] < 0 || tm_vec_append(&pairs, &(pair){own, out[i], i}, 1);
    }
    bool repeated = ok && any_differ(&pairs);
    for (size_t i = 0; i < n && !repeated; i++)
        out[i] = !tm_rank_label_is_empty(&labels[i]) ? or_0(tm_rank_of_label(&labels[i])) : -1;
    tm_vec_free(&pairs);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status number_names(decider *d, tm_error *err) {
    tm_rank_label *labels = malloc((d->n + 1) * sizeof *labels);
    if (!labels)
        return tm_fail_memory(err);
    for (size_t i = 0; i < d->n; i++)
        labels[i] = d->v[i].label;
    tm_status status = tm_rank_labels_number(labels, d->n, d->limit, d->named, err);
    free(labels);
    return status;
}

static bool any_device(const decider *d) {
    bool any = false;
    for (size_t i = 0; i < d->n; i++)
        any = any || (d->v[i].has_device && !d->v[i].is_bad);
    return any;
}

/*
 * Sets names_decide if these conditions hold:
 * - Traces with different names report the same rank.
 * - All traces that report a rank have a number in their name.
 * - Traces with the same name report the same rank.
 */
static tm_status compare_names(decider *d, tm_error *err) {
    tm_vec by_reported = TM_VEC(pair), by_name = TM_VEC(pair);
    bool ok = true, named = true, any = any_device(d);
    for (size_t i = 0; i < d->n && ok; i++) {
        const tm_trace_rank *c = &d->v[i];
        if (c->reported < 0 || c->mapped >= 0 || c->is_copy || (any && !c->has_device))
            continue;
        named = named && d->named[i] >= 0;
        ok = tm_vec_append(&by_reported, &(pair){c->reported, d->named[i], i}, 1) &&
             tm_vec_append(&by_name, &(pair){d->named[i], c->reported, i}, 1);
    }
    d->names_decide = ok && named && any_differ(&by_reported) && !any_differ(&by_name);
    tm_vec_free(&by_reported);
    tm_vec_free(&by_name);
    return ok ? TM_OK : tm_fail_memory(err);
}

static int64_t rank_of(const decider *d, size_t i) {
    const tm_trace_rank *c = &d->v[i];
    bool has_number = tm_rank_of_label(&c->label) >= 0;
    return c->mapped >= 0                        ? c->mapped
           : d->names_decide && d->named[i] >= 0 ? d->named[i]
           : c->reported >= 0                    ? c->reported
           : has_number                          ? d->named[i]
                                                 : -1;
}

static bool overlap(const tm_trace_rank *a, const tm_trace_rank *b) {
    return a->begin_ns < b->end_ns && b->begin_ns < a->end_ns;
}

/* Returns whether another trace has the rank of @p c. Copies, unreadable traces and traces without
 * device work do not count. The other trace must overlap with @p c in time, unless @p at_any_time
 * is set. */
static bool has_other(const decider *d, const tm_trace_rank *c, bool at_any_time) {
    for (size_t i = 0; i < d->n; i++) {
        const tm_trace_rank *other = &d->v[i];
        if (other != c && !other->is_bad && !other->is_copy && other->has_device &&
            other->rank == c->rank && (at_any_time || overlap(other, c)))
            return true;
    }
    return false;
}

/* Returns whether a trace has a rank only because the word "worker" and a number are in its name,
 * although a trace with device work has a name without this word. The trace is then probably from a
 * data loader. */
static bool is_only_worker(const decider *d, const tm_trace_rank *c) {
    bool others = false;
    for (size_t i = 0; i < d->n && !others; i++)
        others = d->v[i].has_device && !d->v[i].is_bad && d->v[i].label.of[TM_WORD_WORKER] < 0;
    return others && c->reported < 0 && c->label.of[TM_WORD_RANK] < 0 &&
           c->label.of[TM_WORD_WORKER] >= 0;
}

/* Finds helpers. A server's front end may report rank 0, because it inherits the environment of
 * rank 0. */
static void find_helpers(decider *d) {
    bool any = any_device(d);
    for (size_t i = 0; i < d->n && any; i++) {
        tm_trace_rank *c = &d->v[i];
        if (c->is_bad || c->has_device || c->mapped >= 0)
            continue;
        bool beyond = d->limit > 0 && c->rank >= d->limit && !d->names_decide && c->reported < 0;
        if (c->rank < 0 || beyond || is_only_worker(d, c) || has_other(d, c, false))
            c->fate = TM_RANK_HELPER;
    }
}

static void find_copies(decider *d) {
    for (size_t i = 0; i < d->n; i++)
        if (d->v[i].is_copy && d->v[i].rank >= 0 && d->v[i].fate == TM_RANK_KEPT &&
            has_other(d, &d->v[i], true))
            d->v[i].fate = TM_RANK_COVERED;
}

typedef struct slot {
    int64_t rank, reported, replica;
    tm_trace_rank *trace;
} slot;

TM_ORDER_BY(by_slot, slot, rank, reported);

static tm_status list_slots(const decider *d, tm_vec *out, tm_error *err) {
    for (size_t i = 0; i < d->n; i++) {
        tm_trace_rank *c = &d->v[i];
        c->replica = -1;
        if (c->is_bad || c->fate != TM_RANK_KEPT || c->reported < 0)
            continue;
        const slot own = {c->rank, c->reported, 0, c};
        if (!tm_vec_append(out, &own, 1))
            return tm_fail_memory(err);
    }
    tm_vec_sort(out, by_slot);
    return TM_OK;
}

/* Numbers the replicas and returns how many there are. In the order of job ranks, a new replica
 * starts where the reported rank does not increase. */
static int64_t count_blocks(slot *v, size_t n) {
    int64_t replica = 0;
    for (size_t i = 0; i < n; i++) {
        replica += i > 0 && v[i].rank != v[i - 1].rank && v[i].reported <= v[i - 1].reported;
        v[i].replica = replica;
    }
    return replica + 1;
}

static void take_names(slot *v, size_t n) {
    for (size_t i = 0; i < n; i++)
        v[i].replica = or_0(v[i].trace->label.of[TM_WORD_DP]);
}

/* Sets *valid to whether pairs (replica, reported rank) and job ranks correspond one to one. */
static tm_status check_slots(const slot *v, size_t n, bool *valid, tm_error *err) {
    tm_vec reported = TM_VEC(pair), ranks = TM_VEC(pair);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        int64_t place = v[i].replica * (TM_RANK_MAX + 1) + v[i].reported;
        ok = tm_vec_append(&reported, &(pair){place, v[i].rank, i}, 1) &&
             tm_vec_append(&ranks, &(pair){v[i].rank, place, i}, 1);
    }
    *valid = ok && !any_differ(&reported) && !any_differ(&ranks);
    tm_vec_free(&reported);
    tm_vec_free(&ranks);
    return ok ? TM_OK : tm_fail_memory(err);
}

TM_ORDER_BY(by_move, tm_rank_move, replica, reported);

/* Sets the replica of each trace. If the reported ranks of a replica differ from the job's ranks,
 * adds a move for each of its traces. Adds no moves unless @p valid is set. */
static tm_status add_moves(slot *v, size_t n, bool valid, tm_vec *moves, tm_error *err) {
    for (size_t i = 0; i < n; i++) {
        bool moved = !valid;
        for (size_t k = 0; k < n && !moved; k++)
            moved = v[k].replica == v[i].replica && v[k].rank != v[k].reported;
        v[i].trace->replica = moved ? v[i].replica : -1;
        const tm_rank_move move = {v[i].replica, v[i].reported, v[i].rank};
        if (moved && valid && !tm_vec_append(moves, &move, 1))
            return tm_fail_memory(err);
    }
    tm_vec_sort(moves, by_move);
    return TM_OK;
}

/* Counts, for each reported rank, the job ranks that report it. Returns the largest count. */
static int64_t most_of_one(const slot *v, size_t n) {
    int64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t same = 0, last = -1;
        for (size_t k = 0; k < n; k++)
            if (v[k].reported == v[i].reported && v[k].rank != last) {
                last = v[k].rank;
                same++;
            }
        most = same > most ? same : most;
    }
    return most;
}

/* Finds out whether process groups use the job's ranks or number the ranks of each replica from 0.
 * If they number each replica, adds moves for the replicas whose ranks differ from the job's ranks.
 * Adds no moves if this cannot be found out. */
static tm_status place_slots(decider *d, slot *v, size_t n, tm_vec *moves, tm_error *err) {
    int64_t most = most_of_one(v, n);
    bool valid = false;
    if (most > 1 && d->limit > v[n - 1].rank)
        return TM_OK; /* the reported world size includes all ranks, so groups use the job's
                         ranks */
    if (most == 1 || count_blocks(v, n) == most)
        TM_TRY(check_slots(v, n, &valid, err));
    if (!valid && most > 1) {
        take_names(v, n);
        TM_TRY(check_slots(v, n, &valid, err));
    }
    if (valid && most > 1 && d->limit > 0)
        d->limit *= most;
    d->limit = d->limit > 0 && d->limit <= v[n - 1].rank ? v[n - 1].rank + 1 : d->limit;
    d->world = d->limit > d->world ? d->limit : d->world;
    return add_moves(v, n, valid, moves, err);
}

static tm_status find_moves(decider *d, tm_vec *moves, tm_error *err) {
    tm_vec slots = TM_VEC(slot);
    bool moved = false;
    tm_status status = list_slots(d, &slots, err);
    slot *v = slots.data;
    for (size_t i = 0; i < slots.n; i++)
        moved = moved || v[i].rank != v[i].reported;
    if (status == TM_OK && moved)
        status = place_slots(d, v, slots.n, moves, err);
    tm_vec_free(&slots);
    return status;
}

/* Assigns the free ranks, in order, to traces without any rank. */
static tm_status find_places(decider *d, tm_error *err) {
    tm_vec taken = TM_VEC(int64_t);
    bool ok = true;
    for (size_t i = 0; i < d->n && ok; i++)
        if (d->v[i].fate == TM_RANK_KEPT && d->v[i].rank >= 0)
            ok = tm_vec_append(&taken, &d->v[i].rank, 1);
    const int64_t *v = taken.data;
    if (ok)
        tm_sort_values(taken.data, taken.n);
    int64_t next = 0;
    for (size_t i = 0, k = 0; i < d->n && ok; i++) {
        tm_trace_rank *c = &d->v[i];
        if (c->fate != TM_RANK_KEPT || c->rank >= 0)
            continue;
        for (; k < taken.n && v[k] <= next; k++)
            next += v[k] == next;
        c->by_place = !c->is_bad;
        c->rank = next++;
        if (d->limit > 0 && c->rank >= d->limit && !c->is_bad)
            c->fate = TM_RANK_NO_RANK;
    }
    tm_vec_free(&taken);
    return ok ? TM_OK : tm_fail_memory(err);
}

static void find_world(decider *d) {
    for (size_t i = 0; i < d->n; i++) {
        const tm_trace_rank *c = &d->v[i];
        d->world = c->world_size > d->world ? c->world_size : d->world;
        d->limit = c->reported >= 0 && c->world_size > d->limit ? c->world_size : d->limit;
    }
}

/* Returns the reason why the rank that a trace has in its communicator may not be its rank in the
 * job. Returns TM_RANK_KEPT if there is no such reason. */
static tm_rank_fate fate_of_some(const decider *d, const tm_trace_rank *c) {
    if (c->reported < 0)
        return TM_RANK_NO_WORLD;
    if (c->world_size < d->world)
        return TM_RANK_SMALLER;
    for (size_t i = 0; i < d->n; i++) {
        const tm_trace_rank *other = &d->v[i];
        if (other != c && other->of_communicator && other->reported == c->reported &&
            other->mapped < 0 && overlap(other, c))
            return TM_RANK_TWICE;
    }
    return TM_RANK_KEPT;
}

/* Sets the fate of traces that have events, but only a rank within a communicator. */
static void find_worlds(decider *d) {
    for (size_t i = 0; i < d->n; i++) {
        tm_trace_rank *c = &d->v[i];
        if (c->of_communicator && c->mapped < 0 && c->begin_ns < c->end_ns && !c->is_bad &&
            tm_rank_label_is_empty(&c->label))
            c->fate = fate_of_some(d, c);
    }
}

static tm_status run(decider *d, tm_vec *moves, tm_error *err) {
    find_world(d);
    TM_TRY(number_names(d, err));
    TM_TRY(compare_names(d, err));
    for (size_t i = 0; i < d->n; i++) {
        d->v[i].rank = rank_of(d, i);
        d->v[i].fate = TM_RANK_KEPT;
        d->v[i].by_place = false;
    }
    find_worlds(d);
    find_helpers(d);
    find_copies(d);
    TM_TRY(find_moves(d, moves, err));
    return find_places(d, err);
}

tm_status tm_ranks_decide(tm_trace_rank *traces, size_t n, tm_vec *moves, int64_t *world,
                          tm_error *err) {
    decider d = {traces, n, malloc((n + 1) * sizeof *d.named), false, -1, -1};
    tm_status status = d.named ? run(&d, moves, err) : tm_fail_memory(err);
    free(d.named);
    *world = d.world;
    return status;
}

int64_t tm_rank_moved(const tm_vec *moves, int64_t replica, int64_t reported) {
    const tm_rank_move key = {.replica = replica, .reported = reported}, *v = moves->data;
    const tm_rank_move *found =
        moves->n > 0 ? bsearch(&key, v, moves->n, sizeof *v, by_move) : NULL;
    bool any = false, even = true;
    /* The difference rank - reported, if it is the same for all moves of the replica. It is used
     * for ranks without a trace. */
    int64_t by = 0;
    for (size_t i = 0; i < moves->n && !found; i++) {
        if (v[i].replica != replica)
            continue;
        even = even && (!any || v[i].rank - v[i].reported == by);
        by = v[i].rank - v[i].reported;
        any = true;
    }
    return found ? found->rank : any && even ? reported + by : -1;
}

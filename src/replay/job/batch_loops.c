#include "batch_loops.h"

#include <math.h>

/* The build defines this for every instruction set except the portable one. */
#ifndef TM_BATCH_LOOPS_OF
#define TM_BATCH_LOOPS_OF tm_batch_loops_portable
#define TM_BATCH_LOOPS_PORTABLE
#endif

extern const tm_batch_loops TM_BATCH_LOOPS_OF;

/* Number of values in a vector. Most processors support four, and compilers often do not vectorise
 * loops over eight. Comparing two vectors gives a mask for each value: all bits set, or none. */
enum { AT_ONCE = 4, PARTS = TM_LANES / AT_ONCE };
typedef int64_t some __attribute__((vector_size(AT_ONCE * 8), aligned(8), may_alias));
typedef uint64_t some_unsigned __attribute__((vector_size(AT_ONCE * 8), aligned(8)));
typedef int32_t some_short __attribute__((vector_size(AT_ONCE * 4), aligned(4), may_alias));

typedef struct row {
    some of[PARTS];
} row;

static inline const row *row_of(const int64_t *ns) {
    return (const void *)ns;
}

static inline row *row_at(tm_batch_row *ns) {
    return (void *)ns;
}

/* raise sets each value to the larger of two values. lower sets it to the smaller. */
static inline void raise(row *ns, const row *by) {
    for (size_t i = 0; i < PARTS; i++) {
        const some is = ns->of[i] > by->of[i];
        ns->of[i] = (ns->of[i] & is) | (by->of[i] & ~is);
    }
}

static inline void lower(row *ns, const row *by) {
    for (size_t i = 0; i < PARTS; i++) {
        const some is = ns->of[i] < by->of[i];
        ns->of[i] = (ns->of[i] & is) | (by->of[i] & ~is);
    }
}

static inline void add(const row *a, const row *b, row *out) {
    for (size_t i = 0; i < PARTS; i++)
        out->of[i] = a->of[i] + b->of[i];
}

static const row nothing = {{{0}}};

static const tm_batch_row at_root = {{0}};

/* Returns the recorded weight of an edge on each rank. */
static inline row recorded_row(const tm_batch *batch, uint32_t edge) {
    const tm_batch_short *ns = &batch->recorded[edge];
    if (ns->ns[0] == TM_WIDE)
        return *row_of(batch->wide[ns->ns[1]].ns);
    const some_short *parts = (const void *)ns;
    row out;
    for (size_t i = 0; i < PARTS; i++)
        out.of[i] = __builtin_convertvector(parts[i], some);
    return out;
}

/* Returns the time of an edge's source on each rank. */
static const int64_t *source_ns(const tm_batch *batch, const tm_batch_workspace *workspace,
                                uint32_t from) {
    if (from == TM_FROM_ROOT)
        return at_root.ns;
    return from & TM_FROM_OPERATION ? batch->participants[from & ~TM_FROM_OPERATION].last_ns
                                    : workspace->ns[from].ns;
}

static inline void come_from(const tm_batch *batch, const tm_batch_workspace *workspace,
                             uint32_t edge, row *out) {
    const row took = recorded_row(batch, edge);
    add(row_of(source_ns(batch, workspace, batch->like->edges[edge].from)), &took, out);
}

static void find_times(const tm_batch *batch, tm_batch_workspace *workspace) {
    const uint32_t *first = batch->like->first;
    for (uint32_t v = 0; v < batch->like->n_nodes; v++) {
        row latest, at;
        come_from(batch, workspace, first[v], &latest);
        for (uint32_t e = first[v] + 1; e < first[v + 1]; e++) {
            come_from(batch, workspace, e, &at);
            raise(&latest, &at);
        }
        *row_at(&workspace->ns[v]) = latest;
    }
}

static inline void weigh(const tm_batch *batch, size_t item, row *first, row *second) {
    const tm_batch_items *items = batch->items;
    row a = nothing, b = nothing;
    for (uint32_t i = items->first[item]; i < items->first[item + 1]; i++) {
        const uint32_t edge = items->edges[i].edge;
        const row ns = recorded_row(batch, edge);
        if (items->edges[i].tells == TM_TELLS_FIRST)
            raise(&a, &ns);
        else if (items->edges[i].tells == TM_TELLS_SECOND)
            b = ns;
        else if (items->edges[i].tells == TM_TELLS_OVER)
            b = *row_of(batch->over[items->slots[edge]].ns);
    }
    *first = a;
    *second = b;
}

static void weigh_item(const tm_batch *batch, size_t item, tm_batch_row *first,
                       tm_batch_row *second) {
    weigh(batch, item, row_at(first), row_at(second));
}

/* How an item's weights compare with those of other ranks. */
typedef struct compared {
    row more;      /* first weight of the other ranks, minus the rank's own */
    row second;    /* second weight of the other ranks */
    uint8_t stall; /* one bit for each rank: the rank has a stall */
} compared;

/* Same as tm_peer_median. */
static inline void find_medians(const tm_peer_around *around, const row *own, row *out) {
    for (size_t i = 0; i < PARTS; i++) {
        const some low = own->of[i] <= around->low, high = own->of[i] <= around->high;
        const some a = (around->after_low & low) | (around->low & ~low);
        const some b = (around->after_high & high) | (around->high & ~high);
        /* the difference is computed as unsigned: b >= a, but b - a may exceed INT64_MAX */
        out->of[i] = a + (some)((some_unsigned)(b - a) >> 1);
    }
}

/* Returns a bit for each rank with a stall. Fast if there is no stall, which is the case for most
 * calls. */
static inline uint8_t find_stalls(const tm_peer_others *others, const row *own, const row *is) {
    some over = {0};
    int64_t any = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < PARTS; i++)
        over |= own->of[i] - is->of[i] > TM_STALL_NS;
    for (size_t k = 0; k < AT_ONCE; k++)
        any |= over[k];
    for (size_t k = 0; k < TM_LANES && any; k++)
        bits |= tm_peers_stall(others, own->of[k / AT_ONCE][k % AT_ONCE],
                               is->of[k / AT_ONCE][k % AT_ONCE])
                    ? 1U << k
                    : 0;
    return (uint8_t)bits;
}

static inline void compare_item(const tm_batch *batch, size_t item, const tm_peer_others *others,
                                compared *out) {
    const tm_peer_around around[2] = {tm_peers_around(others, true),
                                      tm_peers_around(others, false)};
    row first, second, others_first;
    weigh(batch, item, &first, &second);
    find_medians(&around[0], &first, &others_first);
    find_medians(&around[1], &second, &out->second);
    out->stall = 0;
    if (item >= batch->items->n_events)
        out->stall =
            find_stalls(others, &first, &others_first) | find_stalls(others, &second, &out->second);
    for (size_t i = 0; i < PARTS; i++)
        out->more.of[i] = others_first.of[i] - first.of[i];
}

/* Returns the unexplained part of an edge's weight. On a rank on which the edge has TM_EDGE_OVER,
 * it is over_ns of the edge's target. On any other rank, it is 0. */
static inline row over_of(const tm_batch *batch, uint32_t edge) {
    row out = *row_of(batch->over[batch->items->slots[edge]].ns);
    const int64_t has = batch->has_over[edge];
    some lane = {1, 2, 4, 8};
    for (size_t i = 0; i < PARTS; i++, lane <<= AT_ONCE)
        out.of[i] &= (lane & has) != 0;
    return out;
}

/* If the unexplained part of a lag is shorter on the other ranks, makes the lag shorter by the
 * difference. */
static inline void cut_over(const row *recorded, const row *over, const row *others, row *out) {
    for (size_t i = 0; i < PARTS; i++) {
        const some excess = over->of[i] - others->of[i];
        const some left = recorded->of[i] - (excess & (excess > 0));
        out->of[i] = left & ~((left < 0) & (over->of[i] > 0));
    }
}

/* Computes the weight of an item's edge on the other ranks. Returns false if this weight is the
 * recorded weight. */
static inline bool set_edge(const tm_batch *batch, const tm_item_edge *edge, const compared *is,
                            row *peer) {
    const row recorded = recorded_row(batch, edge->edge);
    if (edge->kind == TM_EDGE_COMPUTE || edge->kind == TM_EDGE_COPY || edge->kind == TM_EDGE_HOST) {
        add(&recorded, &is->more, peer);
        raise(peer, &nothing);
    } else if (edge->kind == TM_EDGE_CALL) {
        *peer = is->second;
        raise(peer, &nothing);
    } else if (batch->has_over[edge->edge]) {
        const row over = over_of(batch, edge->edge);
        cut_over(&recorded, &over, &is->second, peer);
    } else {
        return false;
    }
    return true;
}

static void set_item(const tm_batch *batch, size_t item, const compared *is, bool pair,
                     tm_batch_workspace *workspace) {
    const tm_batch_items *items = batch->items;
    for (uint32_t i = items->first[item]; i < items->first[item + 1]; i++) {
        const uint32_t e = items->edges[i].edge;
        if (set_edge(batch, &items->edges[i], is, row_at(&workspace->peer[e])))
            workspace->known[e] = TM_WORKSPACE_PEER;
        workspace->known[e] |= pair ? TM_EDGE_PAIR : 0;
        workspace->stall[e] = is->stall;
    }
}

/*
 * The place of the item is rare. Sets the peers' time of the item to the time of the work that the
 * peers run instead of it. Returns whether the time of at least one rank was set.
 *
 * @param of  [TM_LANES] factors of each rank
 */
static bool compare_extra(const tm_batch *batch, size_t item, const tm_peer_places *places,
                          const tm_extra_factors *const *of, compared *is) {
    const uint32_t place = batch->items->places[item];
    const uint64_t hash = ((const uint64_t *)places->keys.keys.data)[place];
    const bool call = item >= batch->items->n_events;
    bool any = false;
    row first, second;
    weigh(batch, item, &first, &second);
    for (size_t k = 0; k < TM_LANES; k++) {
        const size_t i = k / AT_ONCE, at = k % AT_ONCE;
        const double factor =
            tm_extras_factor(&places->extras, of[k], place, tm_place_step(hash), call);
        if (isnan(factor))
            continue;
        any = true;
        is->more.of[i][at] = tm_extras_ns(first.of[i][at], factor) - first.of[i][at];
        is->second.of[i][at] = call ? tm_extras_ns(second.of[i][at], factor) : second.of[i][at];
        is->stall &= (uint8_t) ~(1U << k);
    }
    return any;
}

/* Sets the peers' times of an item at a rare place. */
static void set_rare(const tm_batch *batch, size_t item, const tm_peer_places *places,
                     const tm_extra_factors *const *of, tm_batch_workspace *workspace) {
    const uint32_t place = batch->items->places[item], known = places->known[place];
    const tm_peer_others *others =
        known ? (const tm_peer_others *)places->others.data + known - 1 : NULL;
    compared is = {{{{0}}}, {{{0}}}, 0};
    row first;
    if (others)
        compare_item(batch, item, others, &is);
    else
        weigh(batch, item, &first, &is.second);
    if (compare_extra(batch, item, places, of, &is) || others)
        set_item(batch, item, &is,
                 (others && others->n == 2) || tm_extras_is_pair(&places->extras, place),
                 workspace);
}

static void find_peers(const tm_batch *batch, const tm_peer_places *places,
                       tm_batch_workspace *workspace) {
    const tm_peer_others *others = places->others.data;
    const tm_batch_items *items = batch->items;
    const uint8_t *flags = places->extras.flags;
    const tm_extra_factors *of[TM_LANES]; /* unused lanes repeat the first rank */
    for (size_t k = 0; k < TM_LANES; k++)
        of[k] = tm_extras_of(&places->extras, batch->index[k < batch->n ? k : 0]);
    for (size_t i = 0; i < items->n; i++) {
        const uint32_t place = items->places[i], known = places->known[place];
        compared is;
        if (flags && flags[place] & TM_EXTRA_RARE) {
            set_rare(batch, i, places, of, workspace);
        } else if (known) {
            compare_item(batch, i, &others[known - 1], &is);
            set_item(batch, i, &is, others[known - 1].n == 2, workspace);
        }
    }
}

typedef struct slacks {
    row least, near;
} slacks;

/* Lowers the least slack of each rank to the slack of a node if this is smaller. On ranks on which
 * the node's slack is below @p below_ns, sets all bits of *near. */
static inline void find_node(const row *late, const row *ns, int64_t below_ns, slacks *out,
                             row *near) {
    for (size_t i = 0; i < PARTS; i++) {
        const some least = out->least.of[i];
        const some slack = late->of[i] - (ns->of[i] & (late->of[i] != INT64_MAX));
        const some is = slack < least;
        out->least.of[i] = (slack & is) | (least & ~is);
        near->of[i] = slack < below_ns;
    }
}

/* Lowers the latest time of an edge's source to the latest time that the edge's target allows. */
static inline void bring_down(const row *late, const row *by, row *from) {
    for (size_t i = 0; i < PARTS; i++) {
        const some ends = late->of[i] - (by->of[i] & (late->of[i] != INT64_MAX));
        const some is = ends < from->of[i];
        from->of[i] = (ends & is) | (from->of[i] & ~is);
    }
}

static inline void go_back(const tm_batch *batch, const tm_batch_workspace *workspace, uint32_t v,
                           tm_batch_row *late, int64_t below_ns, slacks *out) {
    const tm_graph *g = batch->like;
    const row at = *row_at(&late[v]);
    row near;
    find_node(&at, row_of(workspace->ns[v].ns), below_ns, out, &near);
    for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
        const tm_edge *edge = &g->edges[e];
        const row ns = recorded_row(batch, e);
        if (edge->from != TM_FROM_ROOT && !(edge->from & TM_FROM_OPERATION))
            bring_down(&at, &ns, row_at(&late[edge->from]));
        for (size_t i = 0;
             i < PARTS && (edge->kind == TM_EDGE_COMPUTE || edge->kind == TM_EDGE_COPY); i++)
            out->near.of[i] += ns.of[i] & near.of[i];
    }
}

static void find_slack(const tm_batch *batch, const tm_batch_workspace *workspace,
                       tm_batch_row *late, int64_t below_ns, tm_slack *out) {
    slacks sums = {.near = nothing};
    for (size_t i = 0; i < PARTS; i++)
        sums.least.of[i] = (some){0} + INT64_MAX;
    for (uint32_t v = (uint32_t)batch->like->n_nodes; v-- > 0;)
        go_back(batch, workspace, v, late, below_ns, &sums);
    for (size_t k = 0; k < TM_LANES; k++) {
        const int64_t least = sums.least.of[k / AT_ONCE][k % AT_ONCE];
        out[k] = (tm_slack){.least_ns = least == INT64_MAX ? -1 : least,
                            .near_ns = sums.near.of[k / AT_ONCE][k % AT_ONCE]};
    }
}

typedef struct weights {
    const int64_t *ns, *peer, *usual;
    bool has_over; /* on at least one rank, a part of ns is unexplained */
    /* -1 (all bits set) if the edge starts at the root: it may have been cut there. Otherwise 0 */
    int64_t from_root;
    row over;
} weights;

/* Returns weights without their unexplained part. If they differ from @p ns, they are in @p
 * room. */
static const int64_t *explain(const weights *w, const int64_t *ns, tm_batch_row *room) {
    if (!w->has_over)
        return ns;
    const row *is = row_of(ns), *recorded = row_of(w->ns), *over = &w->over;
    for (size_t i = 0; i < PARTS; i++) {
        const some without = recorded->of[i] - over->of[i];
        const some left = without & ~((without < 0) & w->from_root);
        const some less = (left < is->of[i]) & (over->of[i] > 0);
        row_at(room)->of[i] = (left & less) | (is->of[i] & ~less);
    }
    return room->ns;
}

/*
 * Returns the weights of an edge.
 *
 * @param room  [2] memory for the weights
 */
static weights weigh_edge(const tm_batch *batch, const tm_batch_workspace *workspace, uint32_t edge,
                          tm_batch_row *room) {
    const bool from_root = batch->like->edges[edge].from == TM_FROM_ROOT;
    weights w = {
        .ns = room[0].ns, .has_over = batch->has_over[edge] != 0, .from_root = -(int64_t)from_root};
    *row_at(&room[0]) = recorded_row(batch, edge);
    w.peer = workspace->known[edge] & TM_WORKSPACE_PEER ? workspace->peer[edge].ns : w.ns;
    w.usual = w.peer;
    if (w.has_over)
        w.over = over_of(batch, edge);
    if (workspace->known[edge] & TM_EDGE_PAIR) {
        *row_at(&room[1]) = *row_of(w.ns);
        lower(row_at(&room[1]), row_of(w.peer));
        w.usual = room[1].ns;
    }
    return w;
}

static void weigh_all(const void *context, const tm_batch *batch,
                      const tm_batch_workspace *workspace, uint32_t edge, tm_batch_row *room,
                      const int64_t **by) {
    (void)context;
    const bool transfer = batch->like->edges[edge].kind == TM_EDGE_TRANSFER;
    const weights w = weigh_edge(batch, workspace, edge, &room[0]);
    by[TM_SET_RECORDED] = w.ns;
    by[TM_SET_RECORDED_EXPLAINED] = explain(&w, w.ns, &room[2]);
    by[TM_SET_PEER] = transfer ? w.ns : w.peer;
    by[TM_SET_PEER_EXPLAINED] = explain(&w, by[TM_SET_PEER], &room[3]);
    by[TM_SET_IDEAL] = w.usual;
    by[TM_SET_IDEAL_RECORDED] = transfer ? w.peer : w.ns;
}

/* llround, inlined. */
static inline int64_t rounded(double ns) {
    const int64_t whole = (int64_t)ns;
    const double rest = ns - (double)whole;
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

static void scale(const int64_t *ns, double factor, int64_t *out) {
    for (size_t k = 0; k < TM_LANES; k++)
        out[k] = rounded((double)ns[k] * factor);
}

/*
 * Computes the weights of an edge after a change, with and without unexplained time.
 *
 * @param room  [2] memory for the new weights
 * @param by    [2] recorded weights with and without unexplained time; replaced by the new weights
 */
static void change_all(const weights *w, double factor, tm_batch_row *room, const int64_t **by) {
    if (factor == 1.0)
        return;
    if (factor == 0.0) {
        by[0] = by[1] = at_root.ns;
    } else if (isnan(factor) || isinf(factor)) {
        by[0] = isnan(factor) ? w->peer : w->usual;
        by[1] = explain(w, by[0], &room[1]);
    } else {
        const bool alike = by[0] == by[1];
        scale(by[0], factor, room[0].ns);
        if (!alike)
            scale(by[1], factor, room[1].ns);
        by[0] = room[0].ns;
        by[1] = room[alike ? 0 : 1].ns;
    }
}

/*
 * Scales the weights of a transfer by the factor of its operation. Each rank has its own operation,
 * and therefore its own factor.
 *
 * @param room  [2] memory for the new weights
 * @param by    [2] recorded weights; replaced by the new weights
 */
static void scale_operations(const tm_scaled *scaled, const tm_batch_participant *participant,
                             tm_batch_row *room, const int64_t **by) {
    for (size_t k = 0; k < TM_LANES; k++) {
        const double factor = tm_scaled_factor(scaled, participant->operation[k]);
        for (size_t i = 0; i < 2; i++)
            room[i].ns[k] = rounded((double)by[i][k] * factor);
    }
    by[0] = room[0].ns;
    by[1] = room[1].ns;
}

/*
 * Restores the recorded weights on the ranks to which a change does not apply.
 *
 * @param ranks  one bit for each rank: the change applies
 * @param was    [2] recorded weights, with and without unexplained time
 * @param room   [2] memory for the new weights
 * @param by     [2] weights after the change; replaced by the new weights
 */
static void leave_ranks(uint8_t ranks, const int64_t *const *was, tm_batch_row *room,
                        const int64_t **by) {
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < TM_LANES; k++)
            room[i].ns[k] = ranks >> k & 1 ? by[i][k] : was[i][k];
        by[i] = room[i].ns;
    }
}

/* Returns the ranks on which a change applies to an edge, as bits. The change applies if the edge
 * has one of the change's flags. If the change has no flags, it applies on all ranks. */
static uint8_t ranks_meant(const tm_change *change, uint8_t flags, uint8_t stall) {
    if (change->flags == 0 || (change->flags & flags & (TM_EDGE_INPUT | TM_EDGE_GC)))
        return UINT8_MAX;
    return change->flags & TM_EDGE_STALL ? stall : 0;
}

static void weigh_changes(const void *context, const tm_batch *batch,
                          const tm_batch_workspace *workspace, uint32_t edge, tm_batch_row *room,
                          const int64_t **by) {
    const tm_sets *sets = context;
    const tm_edge *e = &batch->like->edges[edge];
    const weights w = weigh_edge(batch, workspace, edge, &room[0]);
    const int64_t *const was[2] = {w.ns, explain(&w, w.ns, &room[2])};
    for (size_t i = 0; i < sets->n; i++) {
        by[2 * i] = was[0];
        by[2 * i + 1] = was[1];
    }
    for (uint64_t meant = tm_sets_meant(sets, batch->like, e); meant; meant &= meant - 1) {
        const size_t i = (size_t)__builtin_ctzll(meant);
        const uint8_t ranks = ranks_meant(&sets->changes[i], e->flags, workspace->stall[edge]);
        tm_batch_row *own = room + 3 + 2 * i;
        if (!ranks)
            continue;
        if (sets->changes[i].of_operation && e->from != TM_FROM_ROOT && e->from & TM_FROM_OPERATION)
            scale_operations(sets->changes[i].of_operation,
                             &batch->participants[e->from & ~TM_FROM_OPERATION], own, by + 2 * i);
        else /* calling tm_sets_factor for every change would take most of the run time */
            change_all(&w,
                       sets->changes[i].of_rank ? tm_sets_factor(sets, i, batch->like, e)
                                                : sets->changes[i].factor,
                       own, by + 2 * i);
        if (ranks != UINT8_MAX)
            leave_ranks(ranks, was, own, by + 2 * i);
    }
}

const tm_batch_loops TM_BATCH_LOOPS_OF = {find_times, weigh_item, find_peers,
                                          find_slack, weigh_all,  weigh_changes};

#ifdef TM_BATCH_LOOPS_PORTABLE
#ifdef TM_HAS_X86_LANES
extern const tm_batch_loops tm_batch_loops_avx2, tm_batch_loops_avx512;
#endif

static const tm_batch_loops *const all[] = {
    &tm_batch_loops_portable,
#ifdef TM_HAS_X86_LANES
    &tm_batch_loops_avx2,
    &tm_batch_loops_avx512,
#endif
};

const tm_batch_loops *const *tm_batch_loops_all(size_t *n) {
    (void)tm_lanes_all(n); /* `all` is in the order of the array that tm_lanes_all returns */
    return all;
}

const tm_batch_loops *tm_batch_loops_of(const tm_batch_loops *asked) {
    size_t n;
    const tm_batch_loops *const *v = tm_batch_loops_all(&n);
    return asked ? asked : v[n - 1];
}

tm_weigh_batch *tm_sets_weigh_batch(void) {
    return tm_batch_loops_of(NULL)->weigh;
}

tm_weigh_batch *tm_sets_weigh_batch_changes(void) {
    return tm_batch_loops_of(NULL)->weigh_changes;
}
#endif

#include "ops_order.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sorted.h"

/* Clocks are inexact. A receive may therefore seem to start too late for the pass that needs it,
 * and a send may seem to end too early for the pass whose result it sends. The difference is at
 * most this. */
static const int64_t SLACK_NS = 50000;

/* The operations of one type in a step: parts[first] to parts[first + n - 1]. */
typedef struct range {
    uint32_t first, n;
} range;

/* The live transfers of a type, i.e. the transfers that took place. They are n consecutive
 * transfers of the type, from index `first` on. The trace can also contain transfers that did not
 * take place. */
typedef struct live {
    uint32_t first, n;
} live;

/* The order of a step's operations. Steps with the same number of operations of each type have the
 * same shape. */
typedef struct shape {
    uint32_t counts[TM_N_OPS_TYPES]; /* number of operations of each type */
    live live[TM_N_OPS_TYPES];       /* set only for the four types of transfers */
    /* vector of uint32_t: numbers of the passes, in the order of their starts. The k-th forward
     * pass has number k. The k-th backward pass has number (number of forward passes) + k. */
    tm_vec computes;
    uint32_t last; /* index in `computes` of the pass that ends last */
} shape;

typedef struct orderer {
    tm_ops_input *input;
    tm_ops_part *parts; /* borrowed from tm_ops_input */
    range types[TM_N_OPS_TYPES];
    shape shape;
    bool ok;
} orderer;

static uint32_t part_at(const orderer *o, uint8_t type, uint32_t nth) {
    return o->types[type].first + nth;
}

/* Returns the index in `parts` of the step's k-th pass. */
static uint32_t compute_at(const orderer *o, uint32_t k) {
    uint32_t number = ((const uint32_t *)o->shape.computes.data)[k];
    uint32_t n = o->types[TM_OPS_FORWARD].n;
    return number < n ? part_at(o, TM_OPS_FORWARD, number)
                      : part_at(o, TM_OPS_BACKWARD, number - n);
}

/* Adds the edge that operation `to` follows operation `from`. */
static void follow(orderer *o, uint32_t from, uint32_t to) {
    const tm_ops_edge edge = {from, to};
    o->ok = o->ok && tm_vec_append(&o->input->edges, &edge, 1);
}

static void chain(orderer *o, uint8_t type) {
    for (uint32_t k = 1; k < o->types[type].n; k++)
        follow(o, part_at(o, type, k - 1), part_at(o, type, k));
}

static void find_types(orderer *o, uint32_t first, uint32_t after) {
    for (int type = 0; type < TM_N_OPS_TYPES; type++)
        o->types[type] = (range){first, 0};
    for (uint32_t i = after; i-- > first;) {
        o->types[o->parts[i].type].first = i;
        o->types[o->parts[i].type].n++;
    }
}

/* Finds the live transfers of a type by comparing them with the passes of the same direction. A
 * receive is live if it starts before the last of these passes starts. A send is live if it ends
 * after the first of these passes ends. */
static live find_live(const orderer *o, uint8_t type, bool sends, uint8_t pass) {
    int64_t last_begin = INT64_MIN, first_end = INT64_MAX;
    for (uint32_t k = 0; k < o->types[pass].n; k++) {
        const tm_ops_part *p = &o->parts[part_at(o, pass, k)];
        last_begin = p->begin_ns > last_begin ? p->begin_ns : last_begin;
        first_end = p->end_ns < first_end ? p->end_ns : first_end;
    }
    live found = {0, o->types[type].n};
    if (o->types[pass].n == 0)
        return (live){0, 0};
    while (sends && found.n > 0 &&
           o->parts[part_at(o, type, found.first)].end_ns < first_end - SLACK_NS) {
        found.first++;
        found.n--;
    }
    while (!sends && found.n > 0 &&
           o->parts[part_at(o, type, found.n - 1)].begin_ns > last_begin + SLACK_NS)
        found.n--;
    return found;
}

static bool merge_computes(orderer *o) {
    const range *f = &o->types[TM_OPS_FORWARD], *b = &o->types[TM_OPS_BACKWARD];
    int64_t last_end = INT64_MIN;
    o->shape.computes.n = 0;
    for (uint32_t i = 0, k = 0; i + k < f->n + b->n;) {
        bool forward = k == b->n || (i < f->n && o->parts[f->first + i].begin_ns <=
                                                     o->parts[b->first + k].begin_ns);
        const tm_ops_part *p = &o->parts[forward ? f->first + i : b->first + k];
        uint32_t number = forward ? i : f->n + k;
        if (p->end_ns > last_end)
            o->shape.last = i + k;
        last_end = p->end_ns > last_end ? p->end_ns : last_end;
        i += forward;
        k += !forward;
        if (!tm_vec_append(&o->shape.computes, &number, 1))
            return false;
    }
    return true;
}

/* If the step has another shape than the previous step, finds the order of its operations. */
static bool find_shape(orderer *o, bool first) {
    bool alike = !first;
    for (int type = 0; type < TM_N_OPS_TYPES; type++)
        alike = alike && o->shape.counts[type] == o->types[type].n;
    if (alike)
        return true;
    for (int type = 0; type < TM_N_OPS_TYPES; type++)
        o->shape.counts[type] = o->types[type].n;
    live *l = o->shape.live;
    l[TM_OPS_FORWARD_SEND] = find_live(o, TM_OPS_FORWARD_SEND, true, TM_OPS_FORWARD);
    l[TM_OPS_FORWARD_RECV] = find_live(o, TM_OPS_FORWARD_RECV, false, TM_OPS_FORWARD);
    l[TM_OPS_BACKWARD_SEND] = find_live(o, TM_OPS_BACKWARD_SEND, true, TM_OPS_BACKWARD);
    l[TM_OPS_BACKWARD_RECV] = find_live(o, TM_OPS_BACKWARD_RECV, false, TM_OPS_BACKWARD);
    return merge_computes(o);
}

/* Returns the id of an operation, which is equal on all members. If the members differ in a
 * coordinate (data, stage or tensor), the caller must pass -1 for it. */
static uint64_t identity(const orderer *o, const tm_ops_part *p, uint32_t nth, int64_t data,
                         int64_t stage, int64_t tensor) {
    int64_t step = o->input->timeline->steps[p->step].number;
    /* Both sides of a transfer use the type of the send. */
    int64_t type = p->type == TM_OPS_FORWARD_RECV    ? TM_OPS_FORWARD_SEND
                   : p->type == TM_OPS_BACKWARD_RECV ? TM_OPS_BACKWARD_SEND
                                                     : p->type;
    const int64_t key[] = {step, type, nth, data, stage, tensor};
    /* The highest bit distinguishes these ids from the ids of the ends of steps. */
    return tm_hash_mixed(1, key, sizeof key) | UINT64_C(1) << 63;
}

/*
 * Adds the edges of the transfers of a type. The k-th live receive comes before the k-th pass of
 * its direction, and after the previous pass of this direction. The k-th live send comes after the
 * k-th pass of its direction. If there is one receive fewer than passes, the first pass has no
 * receive.
 *
 * If there is a stage at the other side of the transfers, each transfer joins two ranks. The k-th
 * transfer of one stage is then the k-th transfer of the other stage.
 */
static void add_transfers(orderer *o, uint8_t type, uint8_t pass, bool sends) {
    const tm_ops_place *place = &o->input->place;
    const live l = o->shape.live[type];
    uint32_t skipped = !sends && l.n + 1 == o->types[pass].n, joined = 0;
    int64_t step = (pass == TM_OPS_FORWARD) == sends ? 1 : -1; /* number of the other stage minus
                                                                  the number of this stage */
    for (uint32_t k = 0; k < l.n && k + skipped < o->types[pass].n; k++) {
        uint32_t transfer = part_at(o, type, l.first + k);
        uint32_t compute = part_at(o, pass, k + skipped);
        int64_t chunk = o->parts[compute].chunk,
                other = chunk * place->stages + place->stage + step;
        follow(o, sends ? compute : transfer, sends ? transfer : compute);
        if (!sends && k + skipped > 0)
            follow(o, compute - 1, transfer);
        if (other < 0 || other >= place->chunks * place->stages)
            continue;
        int64_t peer = (place->stage + step + place->stages) % place->stages;
        o->parts[transfer].operation = identity(o, &o->parts[transfer], joined++, place->data,
                                                sends ? place->stage : peer, place->tensor);
    }
    chain(o, type);
}

/* Lets the first backward send and the first backward receive follow a pass: the second to last
 * pass before the first backward pass. */
static void add_first_backward(orderer *o) {
    uint32_t k = 0;
    while (k < o->shape.computes.n && o->parts[compute_at(o, k)].type != TM_OPS_BACKWARD)
        k++;
    if (k < 2 || k == o->shape.computes.n)
        return;
    if (o->types[TM_OPS_BACKWARD_SEND].n > 0)
        follow(o, compute_at(o, k - 2), part_at(o, TM_OPS_BACKWARD_SEND, 0));
    if (o->types[TM_OPS_BACKWARD_RECV].n > 0)
        follow(o, compute_at(o, k - 2), part_at(o, TM_OPS_BACKWARD_RECV, 0));
}

/* Returns the pass of a type and a model part that begins first. If @p last, returns the pass that
 * ends last. Returns UINT32_MAX if there is none. */
static uint32_t pass_of_chunk(const orderer *o, uint8_t type, int32_t chunk, bool last) {
    uint32_t found = UINT32_MAX;
    for (uint32_t k = 0; k < o->types[type].n; k++) {
        uint32_t i = part_at(o, type, k);
        if (o->parts[i].chunk == chunk &&
            (found == UINT32_MAX || (last && o->parts[i].end_ns > o->parts[found].end_ns)))
            found = i;
    }
    return found;
}

static void join_all(orderer *o, uint8_t type, bool data, bool stage) {
    const tm_ops_place *place = &o->input->place;
    for (uint32_t k = 0; k < o->types[type].n; k++) {
        tm_ops_part *p = &o->parts[part_at(o, type, k)];
        p->operation = identity(o, p, k, data ? place->data : -1, stage ? place->stage : -1,
                                data || stage ? place->tensor : -1);
    }
}

/* Adds the edges of sharded parameters and gradients. Parameters are gathered before the first
 * forward pass of their model part. Gradients are reduced after all parameters were gathered. If
 * the step has separate reductions, gradients are also reduced after the last backward pass of
 * their model part. */
static void add_sharded(orderer *o) {
    const range *params = &o->types[TM_OPS_PARAMS], *grads = &o->types[TM_OPS_GRADS];
    chain(o, TM_OPS_PARAMS);
    chain(o, TM_OPS_GRADS);
    if (params->n > 0 && grads->n > 0)
        follow(o, part_at(o, TM_OPS_PARAMS, params->n - 1), part_at(o, TM_OPS_GRADS, 0));
    for (int type = TM_OPS_PARAMS; type <= TM_OPS_GRADS; type++)
        for (uint32_t k = 0; k < o->types[type].n; k++) {
            bool gathers = type == TM_OPS_PARAMS, repeated = false;
            uint32_t i = part_at(o, (uint8_t)type, k);
            /* A model part may have several operations. Only its last gather and its first
             * reduction have edges. */
            for (uint32_t j = gathers ? k + 1 : 0; j < (gathers ? params->n : k); j++)
                repeated =
                    repeated || o->parts[part_at(o, (uint8_t)type, j)].chunk == o->parts[i].chunk;
            uint32_t pass = pass_of_chunk(o, gathers ? TM_OPS_FORWARD : TM_OPS_BACKWARD,
                                          o->parts[i].chunk, !gathers);
            if (repeated || pass == UINT32_MAX || (!gathers && o->types[TM_OPS_SEPARATE].n == 0))
                continue;
            follow(o, gathers ? i : pass, gathers ? pass : i);
        }
}

/* Makes a chain of all operations after the last pass: each operation follows the one before it.
 * Reductions of gradients are in the chain only if there are no separate reductions. */
static void add_tail(orderer *o) {
    static const uint8_t tail[] = {TM_OPS_LAYERNORM, TM_OPS_EMBEDDING, TM_OPS_GRADS,
                                   TM_OPS_SEPARATE,  TM_OPS_CLIP,      TM_OPS_OPTIMIZER};
    bool separate = o->types[TM_OPS_SEPARATE].n > 0;
    uint32_t before[2], n = 0;
    if (o->shape.computes.n > 0)
        before[n++] = compute_at(o, o->shape.last);
    for (uint32_t k = 0; k < o->types[TM_OPS_GC].n; k++) {
        if (n > 0)
            follow(o, before[0], part_at(o, TM_OPS_GC, k));
        before[0] = part_at(o, TM_OPS_GC, k);
        n = 1;
    }
    if (separate && o->types[TM_OPS_GRADS].n > 0)
        before[n++] = part_at(o, TM_OPS_GRADS, o->types[TM_OPS_GRADS].n - 1);
    for (size_t t = 0; t < sizeof tail; t++)
        for (uint32_t k = 0; k < o->types[tail[t]].n && !(separate && tail[t] == TM_OPS_GRADS);
             k++) {
            uint32_t i = part_at(o, tail[t], k);
            for (uint32_t b = 0; b < n; b++)
                follow(o, before[b], i);
            before[0] = i;
            n = 1;
        }
}

static void add_step(orderer *o) {
    for (uint32_t k = 1; k < o->shape.computes.n; k++)
        follow(o, compute_at(o, k - 1), compute_at(o, k));
    add_transfers(o, TM_OPS_FORWARD_SEND, TM_OPS_FORWARD, true);
    add_transfers(o, TM_OPS_FORWARD_RECV, TM_OPS_FORWARD, false);
    add_transfers(o, TM_OPS_BACKWARD_SEND, TM_OPS_BACKWARD, true);
    add_transfers(o, TM_OPS_BACKWARD_RECV, TM_OPS_BACKWARD, false);
    add_first_backward(o);
    add_sharded(o);
    add_tail(o);
    join_all(o, TM_OPS_PARAMS, false, true);
    join_all(o, TM_OPS_GRADS, false, true);
    join_all(o, TM_OPS_SEPARATE, false, true);
    join_all(o, TM_OPS_EMBEDDING, true, false);
    join_all(o, TM_OPS_CLIP, false, false);
}

/* Topological sort of a step's operations. No schedule should have a cycle. If there is one, the
 * sort continues with the operation that started first. */
typedef struct sorter {
    const tm_ops_part *parts;
    const tm_ops_edge *edges; /* [n_edges] edges between the step's operations */
    size_t n_edges;
    /* [n] for each operation: number of operations that it follows and that are not placed yet;
     * UINT32_MAX: the operation itself is placed */
    uint32_t *waits;
    uint32_t n;
    uint32_t first; /* index in `parts` of the step's first operation */
} sorter;

static uint32_t next_part(const sorter *s) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->waits[i] == UINT32_MAX)
            continue;
        if (best == UINT32_MAX || (s->waits[i] == 0) > (s->waits[best] == 0) ||
            ((s->waits[i] == 0) == (s->waits[best] == 0) &&
             s->parts[s->first + i].begin_ns < s->parts[s->first + best].begin_ns))
            best = i;
    }
    return best;
}

/* Sorts the operations of a step. Sets place[old index] of each operation to its new index. */
static void sort_step(sorter *s, uint32_t *place) {
    for (size_t e = 0; e < s->n_edges; e++)
        s->waits[s->edges[e].to - s->first]++;
    for (uint32_t at = 0; at < s->n; at++) {
        uint32_t i = next_part(s);
        place[s->first + i] = s->first + at;
        s->waits[i] = UINT32_MAX;
        for (size_t e = 0; e < s->n_edges; e++) {
            uint32_t to = s->edges[e].to - s->first;
            if (s->edges[e].from - s->first == i && s->waits[to] != UINT32_MAX)
                s->waits[to]--;
        }
    }
}

TM_ORDER_BY(by_target, tm_ops_edge, to, from);

/* Reorders the operations, sorts the edges by target, and removes edges that lead to an earlier
 * operation. */
static bool apply(tm_ops_input *d, const uint32_t *place) {
    tm_ops_part *parts = d->parts.data, *sorted = malloc((d->parts.n + 1) * sizeof *sorted);
    tm_ops_edge *edges = d->edges.data;
    size_t n = 0;
    for (size_t i = 0; i < d->parts.n && sorted; i++)
        sorted[place[i]] = parts[i];
    for (size_t i = 0; i < d->parts.n && sorted; i++)
        parts[i] = sorted[i];
    for (size_t e = 0; e < d->edges.n; e++) {
        const tm_ops_edge edge = {place[edges[e].from], place[edges[e].to]};
        if (edge.from < edge.to)
            edges[n++] = edge;
    }
    d->edges.n = n;
    if (n > 1)
        qsort(edges, n, sizeof *edges, by_target);
    free(sorted);
    return sorted != NULL;
}

bool tm_ops_order(tm_ops_input *input) {
    orderer o = {.input = input, .parts = input->parts.data, .ok = true};
    o.shape.computes = TM_VEC(uint32_t);
    const tm_ops_end *ends = input->ends.data;
    uint32_t *place = calloc(input->parts.n + 1, sizeof *place);
    uint32_t *waits = calloc(input->parts.n + 1, sizeof *waits);
    o.ok = place && waits;
    for (size_t k = 0; k < input->ends.n && o.ok; k++) {
        uint32_t first = ends[k].first;
        uint32_t after = k + 1 < input->ends.n ? ends[k + 1].first : (uint32_t)input->parts.n;
        size_t known = input->edges.n;
        find_types(&o, first, after);
        o.ok = find_shape(&o, k == 0);
        if (o.ok)
            add_step(&o);
        sorter s = {.parts = o.parts,
                    .edges = (const tm_ops_edge *)input->edges.data + known,
                    .n_edges = input->edges.n - known,
                    .waits = waits + first,
                    .n = after - first,
                    .first = first};
        if (o.ok)
            sort_step(&s, place);
    }
    bool ok = o.ok && apply(input, place);
    tm_vec_free(&o.shape.computes);
    free(place);
    free(waits);
    return ok;
}

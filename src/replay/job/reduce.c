#include "reduce.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "replay/graph/labels.h"

/* Each distance is compared with the distances through the LATEST latest operations. A node with
 * more than MOST distances becomes a joint. If there are more than TM_LANES sets, more distances
 * remain, because the longest distance differs between the sets. Then some nodes with more than FEW
 * distances also become joints: one in APART of them. Making all of them joints would cost too
 * much, because each joint needs links. */
enum { LATEST = 4, FEW = 4, APART = 8, MOST = 12 };

static const int64_t UNREACHED = INT64_MIN / 4;

/* The first words of a rank. They are followed by the rank's operations, steps and links, and by
 * the weights of the links. */
enum { HEAD_RANK, HEAD_SETS, HEAD_PARTICIPANTS, HEAD_STEPS, HEAD_LINKS, HEAD_LEFT_OUT, HEAD_WORDS };

/* A boundary node (an operation at which the rank arrives, the end of a step, or a joint) and the
 * links to it. */
typedef struct boundary {
    uint32_t next;       /* index of the next boundary node at the same node of the graph, or
                            NO_BOUNDARY */
    uint32_t node;       /* node of the graph; only for a joint */
    uint8_t ranks;       /* one bit for each rank: the rank has this boundary node */
    size_t first, after; /* the links to it are [first, after) */
} boundary;

static const uint32_t NO_BOUNDARY = UINT32_MAX;

/* State of a node until its last use. */
typedef struct stop {
    tm_labels *labels; /* distances to the node; NULL before it is reached and after its last use */
    uint32_t uses;     /* number of edges that still need the labels */
    uint32_t boundary; /* index of the node's first boundary node, or NO_BOUNDARY */
} stop;

typedef struct reduction {
    const tm_graph *graph;
    tm_weigh *weigh;
    /* function for a batch, whose ranks share `graph`; NULL for a single rank */
    tm_weigh_batch *weigh_batch;
    const tm_batch *batch;
    tm_batch_workspace *workspace;
    bool timed;     /* workspace->ns is set */
    size_t n_lanes; /* number of values of a set: one for each rank */
    uint8_t all;    /* one bit for each rank */
    bool differs; /* some rank of the batch would be reduced differently if it were reduced alone */
    const void *context;
    size_t n_sets;
    tm_label_pool pool;
    stop *stops;  /* [n_nodes] */
    bool in_time; /* nodes are in the order of their times */
    /* [n_nodes + n_participants] by key: index of the boundary node with this key, or
     * NO_BOUNDARY */
    uint32_t *boundary_at;
    uint32_t *key_of; /* [n_participants] */
    /* [width] weights of the current edge; for a batch, memory for these weights */
    int64_t *weights;
    const int64_t **by; /* [width / TM_LANES] pointers to the weights of the current edge */
    tm_reduce_room room;
    /* incremented when an operation gets links after a distance has started from the operation */
    uint64_t now;
    bool *began; /* [n_participants] whether a distance started at the operation */
    int64_t n_left_out;
    int64_t joint_ns[TM_LANES]; /* time of each rank's latest joint */
} reduction;

static void end_reduction(reduction *r) {
    tm_pages_free(&r->pool.pages);
    free(r->stops);
    free(r->boundary_at);
    free(r->key_of);
    free(r->began);
    free(r->by);
}

static boundary *boundary_number(const reduction *r, uint32_t number) {
    return (boundary *)r->room.boundaries.data + number;
}

static void note_boundary(reduction *r, uint32_t node, uint32_t number) {
    boundary_number(r, number)->next = r->stops[node].boundary;
    r->stops[node].boundary = number;
}

/* Assigns keys to the operations, in the order of their times. If node i becomes a joint, its key
 * is i plus the number of operations before it. */
static void number_participants(reduction *r) {
    const tm_graph_participant *participants = r->graph->participants.data;
    size_t n = r->graph->n_nodes, n_participants = r->graph->participants.n, before = 0;
    r->in_time = true;
    for (size_t i = 1; i < n; i++)
        r->in_time = r->in_time && r->graph->ns[i - 1] <= r->graph->ns[i];
    memset(r->boundary_at, 0xff, (n + n_participants) * sizeof *r->boundary_at);
    for (size_t v = 0; v < n_participants; v++) {
        while (r->in_time && before < n && r->graph->ns[before] <= participants[v].last_ns)
            before++;
        r->key_of[v] = (uint32_t)(v + before);
        r->boundary_at[v + before] = (uint32_t)v;
    }
}

static void find_boundaries(reduction *r) {
    const tm_graph_participant *participants = r->graph->participants.data;
    const tm_graph_step *steps = r->graph->steps.data;
    size_t n_participants = r->graph->participants.n;
    for (size_t i = 0; i < r->graph->n_nodes; i++)
        r->stops[i].boundary = NO_BOUNDARY;
    for (size_t i = 0; i < n_participants; i++)
        if (participants[i].node != TM_NO_NODE)
            note_boundary(r, participants[i].node, (uint32_t)i);
    for (size_t i = 0; i < r->graph->steps.n; i++)
        note_boundary(r, steps[i].node, (uint32_t)(n_participants + i));
}

static void count_uses(reduction *r) {
    const tm_graph *graph = r->graph;
    const tm_edge *edges = graph->edges, *const after = edges + graph->first[graph->n_nodes];
    for (; edges < after; edges++)
        if (!(edges->from & TM_FROM_OPERATION)) /* this bit is also set in TM_FROM_ROOT */
            r->stops[edges->from].uses++;
}

static void stand_in_weights(reduction *r) {
    for (size_t i = 0; i < r->pool.width / TM_LANES; i++)
        r->by[i] = r->weights + i * TM_LANES;
}

static void reuse(tm_vec *vec, size_t size) {
    vec->n = 0;
    vec->size = size;
}

static bool begin_reduction(reduction *r, const tm_graph *graph, size_t n_sets) {
    size_t n = graph->n_nodes;
    size_t n_participants = graph->participants.n, n_boundaries = n_participants + graph->steps.n;
    r->graph = graph;
    r->n_sets = n_sets;
    r->pool.lanes = tm_lanes_best();
    r->n_lanes = r->batch ? TM_LANES : 1;
    r->all = (uint8_t)((1U << r->n_lanes) - 1);
    r->pool.width = tm_lanes_width(n_sets * r->n_lanes);
    assert(n_sets > 0 && n + n_boundaries < TM_FROM_OPERATION - 1);
    reuse(&r->room.boundaries, sizeof(boundary));
    reuse(&r->room.from, sizeof(uint32_t));
    reuse(&r->room.ns, sizeof(int64_t));
    reuse(&r->room.alive, sizeof(uint8_t));
    reuse(&r->room.implied, sizeof(uint8_t));
    r->stops = calloc(n + 1, sizeof *r->stops);
    r->boundary_at = malloc((n + n_participants + 1) * sizeof *r->boundary_at);
    r->key_of = malloc((n_participants + 1) * sizeof *r->key_of);
    const size_t n_weights = r->pool.width + (size_t)3 * TM_LANES;
    r->weights = tm_pages_alloc(&r->pool.pages, n_weights * sizeof *r->weights);
    r->by = malloc((r->pool.width / TM_LANES + 1) * sizeof *r->by);
    r->began = calloc(n_participants + 1, sizeof *r->began);
    r->now = 1;
    for (size_t k = 0; k < TM_LANES; k++)
        r->joint_ns[k] = INT64_MIN;
    boundary *boundaries = tm_vec_append(&r->room.boundaries, NULL, n_boundaries);
    if (!r->stops || !r->boundary_at || !r->key_of || !r->weights || !r->by || !r->began ||
        !boundaries)
        return false;
    memset(r->weights, 0, n_weights * sizeof *r->weights);
    stand_in_weights(r);
    for (size_t p = 0; p < n_boundaries; p++)
        boundaries[p] = (boundary){.ranks = r->all};
    find_boundaries(r);
    number_participants(r);
    count_uses(r);
    return true;
}

/* Returns labels with a single distance of length 0, which starts at an operation or at the root;
 * NULL when out of memory. */
static tm_labels *begin_at(reduction *r, uint32_t from) {
    tm_labels *labels = tm_labels_new(&r->pool, 1);
    if (!labels)
        return NULL;
    if (from != TM_FROM_ROOT)
        r->began[from & ~TM_FROM_OPERATION] = true;
    const uint32_t key = from == TM_FROM_ROOT ? from : r->key_of[from & ~TM_FROM_OPERATION];
    memset(tm_distances_append(&r->pool, labels->distances, key), 0,
           r->pool.width * sizeof(int64_t));
    labels->distances->alive[0] = r->all;
    return labels;
}

/* Returns the distances to an edge's source. If no other edge needs these distances, sets *last,
 * and the caller owns them from then on. Otherwise, the caller must not change them. NULL when out
 * of memory. */
static tm_labels *distances_from(reduction *r, uint32_t from, bool *last) {
    *last = true;
    if (from & TM_FROM_OPERATION) /* this bit is also set in TM_FROM_ROOT */
        return begin_at(r, from);
    stop *at = &r->stops[from];
    tm_labels *labels = at->labels;
    assert(labels); /* reached before, because edges lead from earlier nodes to later nodes */
    *last = --at->uses == 0;
    if (*last)
        at->labels = NULL;
    return labels;
}

static inline void weigh(reduction *r, uint32_t edge) {
    if (r->batch)
        r->weigh_batch(r->context, r->batch, r->workspace, edge, (void *)r->weights, r->by);
    else
        r->weigh(r->context, r->graph, edge, r->weights);
}

/* Returns the distances that lead over an edge to the edge's target; NULL when out of memory. */
static inline tm_labels *over_edge(reduction *r, uint32_t edge) {
    bool last;
    tm_labels *labels = distances_from(r, r->graph->edges[edge].from, &last);
    weigh(r, edge);
    if (!labels || !last)
        return labels ? tm_labels_longer(&r->pool, labels, r->by) : NULL;
    tm_labels_add(&r->pool, labels, r->by);
    return labels;
}

/* Merges the distances over another edge into @p here. Returns @p here; NULL when out of memory. */
static tm_labels *over_another(reduction *r, tm_labels *here, uint32_t edge) {
    bool last;
    tm_labels *labels = distances_from(r, r->graph->edges[edge].from, &last);
    weigh(r, edge);
    const bool ok = labels && tm_labels_merge(&r->pool, here, labels, r->by);
    if (labels && last)
        tm_labels_release(&r->pool, labels);
    return ok ? here : NULL;
}

/* Returns how many distances need not be copied if gather starts with @p edge: it takes over the
 * distances to this edge's source, and merges the distances over the node's other edges into them.
 * Returns 0 if other edges still need the distances to the source. */
static size_t worth_of(const reduction *r, uint32_t edge) {
    const uint32_t from = r->graph->edges[edge].from;
    if (from & TM_FROM_OPERATION)
        return 0;
    const tm_distances *distances = r->stops[from].labels->distances;
    return r->stops[from].uses == 1 && distances->users == 1 ? distances->n : 0;
}

/* Compares the distance @p ns with the distance that consists of @p a and @p b. Returns a bit for
 * each rank: whether @p ns is longer in at least one set. */
static uint8_t is_longer(const reduction *r, const int64_t *ns, const int64_t *a,
                         const int64_t *b) {
    uint8_t above = r->pool.lanes->above(ns, a, b, r->pool.width);
    return r->batch ? above : above > 0;
}

/* Finds the distances to a node that are redundant because a distance through one operation is at
 * least as long. @p by is the index of the distance from this operation to the node. Checks all
 * distances on the ranks in @p ranks, and only new distances on the ranks in @p of_new. Marks the
 * redundant distances in @p implied. */
static void find_implied(const reduction *r, const tm_distances *here, size_t by, uint8_t ranks,
                         uint8_t of_new, uint8_t *implied) {
    const boundary *q = boundary_number(r, r->boundary_at[here->from[by]]);
    const uint32_t *from = r->room.from.data;
    const uint8_t *alive = r->room.alive.data;
    const int64_t *ns = r->room.ns.data;
    size_t width = r->pool.width, i = 0, k = q->first;
    while (i < here->n && k < q->after) {
        if (here->from[i] < from[k]) {
            i++;
        } else if (here->from[i] > from[k]) {
            k++;
        } else {
            const unsigned asked = (ranks | (of_new & here->came[i])) & here->alive[i] & alive[k] &
                                   ~(unsigned)implied[i];
            if (asked)
                implied[i] |=
                    (uint8_t)(asked & ~(unsigned)is_longer(r, here->ns + i * width, ns + k * width,
                                                           here->ns + by * width));
            i++;
            k++;
        }
    }
}

/*
 * Marks redundant distances. Compares all distances with the distances through each rank's latest
 * operations (not through the root). Skips a comparison if it was made before and its distances
 * have not changed.
 *
 * @param latest  [n] 0 before the call; set to one bit for each rank: the distance starts at one of
 *                the rank's latest operations
 */
static void hold_against_latest(const reduction *r, const tm_distances *here, uint8_t *implied,
                                uint8_t *latest) {
    const bool every = here->settled != r->now; /* an operation got links since the last time */
    size_t last = here->n, n[TM_LANES] = {0};
    uint8_t ranks = r->all; /* ranks for which fewer than LATEST operations were used so far */
    if (here->from[last - 1] == TM_FROM_ROOT)
        last--;
    for (size_t by = last; by-- > 0 && ranks;) {
        const uint8_t met = here->alive[by] & ranks;
        const uint8_t grew = r->batch ? here->grew[by] : here->grew[by] > 0;
        const uint8_t all = every ? met : met & (here->came[by] | grew);
        if (all || (met && here->news))
            find_implied(r, here, by, all, met, implied);
        latest[by] = met;
        for (size_t k = 0; k < r->n_lanes; k++) {
            n[k] += met >> k & 1;
            ranks &= (uint8_t) ~(n[k] == LATEST ? 1U << k : 0);
        }
    }
}

/* Removes a distance on some ranks of a batch. */
static void end_distance(const reduction *r, int64_t *ns, uint8_t ranks) {
    for (size_t i = 0; i < r->pool.width && ranks; i++)
        ns[i] = ranks >> i % TM_LANES & 1 ? UNREACHED : ns[i];
}

/* Removes redundant distances. If distance A makes distance B redundant, A may be removed at the
 * same time as B, because a distance through a later operation makes both redundant. */
static bool prune(reduction *r, tm_distances *here) {
    size_t width = r->pool.width, n = 0;
    bool settled = true, fewer = false;
    if (here->settled == r->now && !here->news)
        return true;
    r->room.implied.n = 0;
    uint8_t *implied = tm_vec_append(&r->room.implied, NULL, 2 * here->n);
    if (!implied)
        return false;
    uint8_t *latest = implied + here->n;
    memset(implied, 0, 2 * here->n);
    hold_against_latest(r, here, implied, latest);
    for (size_t i = 0; i < here->n; i++) {
        /* If a distance from one of the latest operations is removed, another operation becomes one
         * of the latest. The distances must then be compared again. */
        settled = settled && !(implied[i] & latest[i]);
        fewer = fewer || implied[i];
        const uint8_t left = (uint8_t)(here->alive[i] & ~(unsigned)implied[i]);
        if (!left)
            continue;
        if (n < i) {
            here->from[n] = here->from[i];
            memcpy(here->ns + n * width, here->ns + i * width, width * sizeof *here->ns);
        }
        if (r->batch)
            end_distance(r, here->ns + n * width, implied[i]);
        here->alive[n++] = left;
    }
    if (fewer)
        tm_distances_fewer(&r->pool, here);
    here->n = n;
    here->settled = settled ? r->now : 0;
    tm_distances_known(here);
    return true;
}

/* Returns the distances to a node with several edges; NULL when out of memory. */
static tm_labels *gather(reduction *r, uint32_t node) {
    const uint32_t first = r->graph->first[node], after = r->graph->first[node + 1];
    uint32_t best = first;
    for (uint32_t edge = first + 1; edge < after; edge++)
        best = worth_of(r, edge) > worth_of(r, best) ? edge : best;
    tm_labels *here = over_edge(r, best);
    for (uint32_t edge = first; edge < after && here; edge++)
        here = edge == best ? here : over_another(r, here, edge);
    return here && (here->distances->n == 1 || prune(r, here->distances)) ? here : NULL;
}

/* Returns the distances to a node; NULL when out of memory. */
static inline tm_labels *reach(reduction *r, uint32_t node) {
    const uint32_t first = r->graph->first[node], after = r->graph->first[node + 1];
    /* if a single edge leads here, redundant distances were already removed at its source */
    if (after - first == 1)
        return over_edge(r, first);
    /* a node without edges depends only on the root */
    return first == after ? begin_at(r, TM_FROM_ROOT) : gather(r, node);
}

/* Appends a link. Returns its weights, which the caller must set; NULL when out of memory. */
static int64_t *add_link(reduction *r, uint32_t from, uint8_t alive) {
    uint32_t *key = tm_vec_push(&r->room.from);
    uint8_t *ranks = tm_vec_push(&r->room.alive);
    if (!key || !ranks)
        return NULL;
    *key = from;
    *ranks = alive;
    return tm_vec_append(&r->room.ns, NULL, r->pool.width);
}

/* Appends a link for distance i to a node. */
static bool add_distance(reduction *r, const tm_labels *labels, size_t i, uint8_t alive) {
    const tm_distances *distances = labels->distances;
    const int64_t *distance = distances->ns + i * r->pool.width;
    int64_t *ns = add_link(r, distances->from[i], alive);
    for (size_t k = 0; k < r->pool.width && ns; k++)
        ns[k] = distance[k] + labels->plus[k];
    return ns != NULL;
}

/* Must be called if a distance to an arrival was dropped. Makes sure that the arrival is never
 * before its recorded time. */
static bool pin(reduction *r, const boundary *at, uint32_t node) {
    size_t n = r->room.from.n;
    int64_t was = r->graph->ns[node];
    const bool root = n > at->first && ((uint32_t *)r->room.from.data)[n - 1] == TM_FROM_ROOT;
    int64_t *ns = root ? (int64_t *)r->room.ns.data + (n - 1) * r->pool.width
                       : add_link(r, TM_FROM_ROOT, r->all);
    for (size_t i = 0; i < r->pool.width && ns; i++)
        ns[i] = root && ns[i] > was ? ns[i] : was;
    return ns != NULL;
}

static bool add_links(reduction *r, uint32_t number, uint32_t node, const tm_labels *labels) {
    boundary *at = boundary_number(r, number);
    const tm_distances *here = labels->distances;
    bool is_participant = number < r->graph->participants.n;
    int64_t n_left_out = 0;
    at->first = r->room.from.n;
    for (size_t i = 0; i < here->n; i++) {
        const uint32_t from = here->from[i];
        const uint8_t alive = here->alive[i] & at->ranks;
        if (is_participant && from >= r->key_of[number] && from != TM_FROM_ROOT)
            n_left_out++;
        else if (alive && !add_distance(r, labels, i, alive))
            return false;
    }
    r->now += is_participant && r->began[number];
    r->differs = r->differs || (r->batch && n_left_out > 0);
    if (n_left_out > 0 && !r->batch && !pin(r, at, node))
        return false;
    r->n_left_out += n_left_out;
    at->after = r->room.from.n;
    return true;
}

/* Returns how many operations have keys below the key of a node. */
static size_t participants_before_key(const reduction *r, uint32_t node) {
    const tm_graph_participant *participants = r->graph->participants.data;
    size_t low = 0, high = r->graph->participants.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (participants[middle].last_ns < r->graph->ns[node])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t participant_ns(const reduction *r, size_t participant, size_t lane) {
    return r->batch
               ? r->batch->participants[participant].last_ns[lane]
               : ((const tm_graph_participant *)r->graph->participants.data)[participant].last_ns;
}

/* Returns how many of a rank's operations are before a time. */
static size_t participants_before(const reduction *r, int64_t ns, size_t lane) {
    size_t low = 0, high = r->graph->participants.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (participant_ns(r, middle, lane) < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Selects about one in APART parts. Uses a hash, so that the selection has no regular pattern. */
static bool is_apart(uint32_t part) {
    return part * UINT32_C(0x9E3779B9) < UINT32_MAX / APART;
}

/* Returns a bit for each rank that has too many distances to a node. */
static uint8_t has_many(const reduction *r, uint32_t node, const tm_distances *here) {
    const uint32_t part = r->graph->parts ? r->graph->parts[node] : node;
    const size_t most = r->n_sets > TM_LANES && is_apart(part) ? FEW : MOST;
    size_t n[TM_LANES] = {0};
    unsigned many = 0;
    for (size_t i = 0; i < here->n && here->n > most; i++)
        for (size_t k = 0; k < r->n_lanes; k++)
            n[k] += here->alive[i] >> k & 1;
    for (size_t k = 0; k < r->n_lanes; k++)
        many |= n[k] > most ? 1U << k : 0;
    return (uint8_t)many;
}

static int64_t node_ns(reduction *r, uint32_t node, size_t lane) {
    if (r->batch && !r->timed)
        tm_batch_times(r->batch, r->workspace);
    r->timed = true;
    return r->batch ? r->workspace->ns[node].ns[lane] : r->graph->ns[node];
}

/* Returns whether a node can become a joint of a rank. The rank's distances must start before the
 * node, and no operation and no other joint may be at the node's time. Otherwise, the order of keys
 * might differ from the order in the job. */
static bool may_join(reduction *r, uint32_t node, size_t lane, const tm_distances *here) {
    const int64_t ns = node_ns(r, node, lane);
    const size_t n_participants = r->graph->participants.n,
                 before = participants_before(r, ns, lane);
    size_t last = here->n;
    while (last > 0 &&
           (here->from[last - 1] == TM_FROM_ROOT || !(here->alive[last - 1] >> lane & 1)))
        last--;
    const uint32_t number = r->boundary_at[here->from[last - 1]];
    if (!r->in_time || ns <= r->joint_ns[lane] ||
        (before < n_participants && participant_ns(r, before, lane) == ns) ||
        (number < n_participants && number >= before))
        return false;
    /* in a batch, the keys are in the order of the times of one of its ranks */
    const size_t by_key = r->batch ? participants_before_key(r, node) : before;
    r->differs = r->differs || before != by_key;
    return true;
}

/* Ends the distances of some ranks at a node, and starts a new distance of these ranks there. NULL
 * when out of memory. */
static tm_labels *begin_again(reduction *r, uint32_t key, uint8_t ranks, tm_labels *here) {
    const size_t width = r->pool.width;
    const tm_distances *distances = here->distances;
    tm_labels *fresh = tm_labels_new(&r->pool, distances->n + 1);
    bool added = false;
    if (!fresh)
        return NULL;
    memcpy(fresh->plus, here->plus, width * sizeof *fresh->plus);
    for (size_t i = 0; i <= distances->n; i++) {
        if (!added && (i == distances->n || distances->from[i] > key)) {
            int64_t *ns = tm_distances_append(&r->pool, fresh->distances, key);
            for (size_t k = 0; k < width; k++)
                ns[k] = -here->plus[k];
            if (r->batch)
                end_distance(r, ns, (uint8_t) ~(unsigned)ranks);
            fresh->distances->alive[fresh->distances->n - 1] = ranks;
            added = true;
        }
        const unsigned left = i < distances->n ? distances->alive[i] & ~(unsigned)ranks : 0;
        if (!left)
            continue;
        int64_t *ns = tm_distances_append(&r->pool, fresh->distances, distances->from[i]);
        memcpy(ns, distances->ns + i * width, width * sizeof *ns);
        if (r->batch)
            end_distance(r, ns, ranks);
        fresh->distances->alive[fresh->distances->n - 1] = (uint8_t)left;
    }
    tm_labels_release(&r->pool, here);
    return fresh;
}

/* Makes a node with too many distances a joint: all later distances of the rank start there.
 * Without joints, the number of distances could grow with each operation, because an old distance
 * can stay the longest one in some set. NULL when out of memory. */
static tm_labels *join_distances(reduction *r, uint32_t node, tm_labels *here) {
    const uint8_t many = here->distances->n > FEW ? has_many(r, node, here->distances) : 0;
    uint8_t ranks = 0;
    for (size_t k = 0; k < r->n_lanes && many; k++)
        if ((many >> k & 1) && may_join(r, node, k, here->distances))
            ranks |= (uint8_t)(1U << k);
    if (!ranks || r->differs)
        return here;
    for (size_t k = 0; k < r->n_lanes; k++)
        if (ranks >> k & 1)
            r->joint_ns[k] = node_ns(r, node, k);
    const uint32_t number = (uint32_t)r->room.boundaries.n,
                   key = node + (uint32_t)participants_before_key(r, node);
    boundary *joint = tm_vec_push(&r->room.boundaries);
    if (!joint)
        return NULL;
    *joint = (boundary){.next = NO_BOUNDARY, .node = node, .ranks = ranks};
    r->boundary_at[key] = number;
    if (!add_links(r, number, node, here))
        return NULL;
    return begin_again(r, key, ranks, here);
}

static bool reduce_graph(reduction *r) {
    for (uint32_t node = 0; node < r->graph->n_nodes && !r->differs; node++) {
        tm_labels *here = reach(r, node);
        here = here ? join_distances(r, node, here) : NULL;
        if (!here)
            return false;
        stop *at = &r->stops[node];
        for (uint32_t p = at->boundary; p != NO_BOUNDARY; p = boundary_number(r, p)->next)
            if (!add_links(r, p, node, here))
                return false;
        if (at->uses > 0)
            at->labels = here;
        else
            tm_labels_release(&r->pool, here);
    }
    return true;
}

/* Returns the id of a joint. Another operation can have the same id by chance, but operations are
 * identified by time and id. */
static uint64_t joint_operation(const tm_graph *graph, int64_t rank, uint32_t node) {
    return UINT64_C(1) << 63 | (uint64_t)rank << 32 | (graph->parts ? graph->parts[node] : node);
}

/* The boundary nodes of a rank in the order in which they are written: operations and joints by
 * time, then ends of steps. */
typedef struct listing {
    size_t lane, n, n_keyed;
    uint32_t *keyed; /* owned; [n_keyed] operations and joints of all ranks, by time */
    uint32_t *order; /* owned; [n] indices of the rank's boundary nodes, in order */
    uint32_t *place; /* owned; [boundaries] index in `order` of each boundary node */
} listing;

static void list_keyed(const reduction *r, listing *l) {
    for (size_t key = 0; key < r->graph->n_nodes + r->graph->participants.n; key++)
        if (r->boundary_at[key] != NO_BOUNDARY)
            l->keyed[l->n_keyed++] = r->boundary_at[key];
}

static void order_boundaries(const reduction *r, listing *l) {
    size_t n_participants = r->graph->participants.n, n_steps = r->graph->steps.n;
    l->n = 0;
    for (size_t i = 0; i < l->n_keyed; i++)
        if (boundary_number(r, l->keyed[i])->ranks >> l->lane & 1)
            l->order[l->n++] = l->keyed[i];
    for (size_t k = 0; k < n_steps; k++)
        l->order[l->n++] = (uint32_t)(n_participants + k);
    for (size_t i = 0; i < l->n; i++)
        l->place[l->order[i]] = (uint32_t)i;
}

static tm_boundary boundary_of_rank(const reduction *r, uint32_t number, size_t lane) {
    const tm_graph_participant *v = r->graph->participants.data;
    const uint32_t node = boundary_number(r, number)->node;
    const bool participant = number < r->graph->participants.n;
    if (!r->batch)
        return participant ? (tm_boundary){v[number].operation, v[number].last_ns}
                           : (tm_boundary){joint_operation(r->graph, r->graph->rank, node),
                                           r->graph->ns[node]};
    return participant ? (tm_boundary){r->batch->participants[number].operation[lane],
                                       r->batch->participants[number].last_ns[lane]}
                       : (tm_boundary){joint_operation(r->graph, r->batch->rank[lane], node),
                                       r->workspace->ns[node].ns[lane]};
}

static void write_boundaries(const reduction *r, const listing *l, tm_boundary *participants,
                             int64_t *steps) {
    const tm_graph_step *s = r->graph->steps.data;
    for (size_t i = 0; i < l->n - r->graph->steps.n; i++)
        participants[i] = boundary_of_rank(r, l->order[i], l->lane);
    for (size_t i = 0; i < r->graph->steps.n; i++)
        steps[i] = s[i].number;
}

static void write_links(const reduction *r, const listing *l, tm_link *links, int64_t *ns) {
    const uint32_t *from = r->room.from.data;
    const uint8_t *alive = r->room.alive.data;
    for (size_t p = 0; p < l->n; p++) {
        const boundary *at = boundary_number(r, l->order[p]);
        for (size_t i = at->first; i < at->after; i++) {
            const int64_t *row = (const int64_t *)r->room.ns.data + i * r->pool.width + l->lane;
            if (!(alive[i] >> l->lane & 1))
                continue;
            *links++ = (tm_link){
                from[i] == TM_FROM_ROOT ? from[i] : l->place[r->boundary_at[from[i]]], (uint32_t)p};
            for (size_t set = 0; set < r->n_sets; set++)
                *ns++ = row[set * r->n_lanes];
        }
    }
}

static size_t count_links(const reduction *r, size_t lane) {
    const uint8_t *alive = r->room.alive.data;
    size_t n = 0;
    for (size_t i = 0; i < r->room.alive.n; i++)
        n += alive[i] >> lane & 1;
    return n;
}

_Static_assert(sizeof(tm_boundary) == 2 * sizeof(int64_t) && sizeof(tm_link) == sizeof(int64_t),
               "they are whole words");

static bool write_rank(const reduction *r, listing *l, tm_vec *words) {
    order_boundaries(r, l);
    size_t n_steps = r->graph->steps.n, n_participants = l->n - n_steps;
    size_t n_links = count_links(r, l->lane);
    size_t n = HEAD_WORDS + 2 * n_participants + n_steps + n_links * (1 + r->n_sets);
    int64_t *head = tm_vec_append(words, NULL, n);
    if (!head)
        return false;
    int64_t *participants = head + HEAD_WORDS, *steps = participants + 2 * n_participants;
    int64_t *links = steps + n_steps;
    head[HEAD_RANK] = r->batch ? r->batch->rank[l->lane] : r->graph->rank;
    head[HEAD_SETS] = (int64_t)r->n_sets;
    head[HEAD_PARTICIPANTS] = (int64_t)n_participants;
    head[HEAD_STEPS] = (int64_t)n_steps;
    head[HEAD_LINKS] = (int64_t)n_links;
    head[HEAD_LEFT_OUT] = r->n_left_out;
    write_boundaries(r, l, (void *)participants, steps);
    write_links(r, l, (void *)links, links + n_links);
    return true;
}

static bool write_words(const reduction *r, tm_vec *words) {
    const size_t n_ranks = r->batch ? r->batch->n : 1;
    listing l = {.keyed = calloc(r->room.boundaries.n + 1, sizeof *l.keyed),
                 .order = calloc(r->room.boundaries.n + 1, sizeof *l.order),
                 .place = malloc((r->room.boundaries.n + 1) * sizeof *l.place)};
    bool ok = l.keyed && l.order && l.place;
    if (ok)
        list_keyed(r, &l);
    for (; l.lane < n_ranks && ok; l.lane++)
        ok = write_rank(r, &l, words);
    free(l.keyed);
    free(l.order);
    free(l.place);
    return ok;
}

tm_status tm_reduce(const tm_graph *graph, size_t n_sets, tm_weigh *weigh_edge, const void *context,
                    tm_vec *words, tm_error *err) {
    reduction r = {.weigh = weigh_edge, .context = context};
    bool ok = begin_reduction(&r, graph, n_sets) && reduce_graph(&r) && write_words(&r, words);
    end_reduction(&r);
    tm_reduce_room_free(&r.room);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_reduce_batch(const tm_batch *batch, tm_batch_workspace *workspace,
                          const tm_batch_sets *sets, bool *done, tm_vec *words, tm_error *err) {
    reduction r = {.weigh_batch = sets->weigh,
                   .context = sets->context,
                   .batch = batch,
                   .workspace = workspace,
                   .room = workspace->links};
    bool ok = begin_reduction(&r, batch->like, sets->n) && reduce_graph(&r) &&
              (r.differs || write_words(&r, words));
    *done = !r.differs;
    end_reduction(&r);
    workspace->links = r.room;
    return ok ? TM_OK : tm_fail_memory(err);
}

size_t tm_reduced_read(const int64_t *words, tm_reduced *out) {
    size_t n_sets = (size_t)words[HEAD_SETS], n_participants = (size_t)words[HEAD_PARTICIPANTS];
    size_t n_steps = (size_t)words[HEAD_STEPS], n_links = (size_t)words[HEAD_LINKS];
    const int64_t *participants = words + HEAD_WORDS, *steps = participants + 2 * n_participants;
    const int64_t *links = steps + n_steps, *ns = links + n_links;
    *out = (tm_reduced){words[HEAD_RANK],
                        n_sets,
                        n_participants,
                        n_steps,
                        n_links,
                        words[HEAD_LEFT_OUT],
                        (const void *)participants,
                        steps,
                        (const void *)links,
                        ns};
    return (size_t)(ns - words) + n_links * n_sets;
}

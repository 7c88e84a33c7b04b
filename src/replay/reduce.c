#include "reduce.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"

/* Ways are held against those past this many of the latest operations. Where there are too many
 * ways to a node, they are joined there. With many sets, each of which keeps ways of its own, so
 * are more than a few, but at one of so many nodes at most, for each joint costs links. */
enum { LATEST = 4, FEW = 4, APART = 128, MOST = 12 };

/* Where a rank's words begin, before its visits, steps, links and their times. */
enum { HEAD_RANK, HEAD_SETS, HEAD_VISITS, HEAD_STEPS, HEAD_LINKS, HEAD_LEFT_OUT, HEAD_WORDS };

/* A visit that the rank arrives at, a step that ends or a joint, and the ways to it that were
 * found. */
typedef struct port {
    uint32_t next;        /* port of the same node */
    uint32_t node;        /* of a joint */
    size_t first, behind; /* of the links that lead there */
} port;

static const uint32_t NO_PORT = UINT32_MAX;

typedef struct reduction {
    const tm_graph *graph;
    tm_weigh *weigh;
    const void *context;
    size_t n_sets;
    tm_label_pool pool;
    tm_labels *way;     /* a single one, from a port, of no length */
    tm_labels **labels; /* [n_nodes] NULL before the node is reached, and where none needs them */
    uint32_t *uses;     /* [n_nodes] edges that still need them */
    uint32_t *port_of;  /* [n_nodes] the first, or NO_PORT */
    tm_vec ports;       /* of port: visits, steps, joints */
    bool in_time;       /* no node is before one that stands before it */
    size_t n_before;    /* visits that are before the node at hand */
    size_t since_joint; /* nodes */
    uint32_t *port_at;  /* [n_nodes + n_visits] the visit or joint of each key */
    uint32_t *key_of;   /* [n_visits] */
    int64_t *weights;   /* [width] of the edge at hand */
    tm_vec from;        /* of uint32_t: key of the source of each link, in the order of nodes */
    tm_vec ns;          /* of int64_t: [links][width] */
    tm_vec implied;     /* of bool: of the labels at hand */
    int64_t n_left_out;
} reduction;

static void end_reduction(reduction *r) {
    tm_arena_free(&r->pool.arena);
    free(r->labels);
    free(r->uses);
    free(r->port_of);
    free(r->port_at);
    free(r->key_of);
    free(r->weights);
    tm_vec_free(&r->ports);
    tm_vec_free(&r->from);
    tm_vec_free(&r->ns);
    tm_vec_free(&r->implied);
}

static port *port_number(const reduction *r, uint32_t number) {
    return (port *)r->ports.data + number;
}

static void note_port(reduction *r, uint32_t node, uint32_t number) {
    port_number(r, number)->next = r->port_of[node];
    r->port_of[node] = number;
}

/* Numbers all that ways can begin at in the order of time: visits here, and node i, should it
 * become a joint, at i + the visits before it. */
static void number_visits(reduction *r) {
    const tm_graph_visit *visits = r->graph->visits.data;
    size_t n = r->graph->n_nodes, n_visits = r->graph->visits.n, before = 0;
    r->in_time = true;
    for (size_t i = 1; i < n; i++)
        r->in_time = r->in_time && r->graph->ns[i - 1] <= r->graph->ns[i];
    for (size_t i = 0; i < n + n_visits; i++)
        r->port_at[i] = NO_PORT;
    for (size_t v = 0; v < n_visits; v++) {
        while (r->in_time && before < n && r->graph->ns[before] <= visits[v].last_ns)
            before++;
        r->key_of[v] = (uint32_t)(v + before);
        r->port_at[v + before] = (uint32_t)v;
    }
}

static void find_ports(reduction *r) {
    const tm_graph_visit *visits = r->graph->visits.data;
    const tm_graph_step *steps = r->graph->steps.data;
    size_t n_visits = r->graph->visits.n;
    for (size_t i = 0; i < r->graph->n_nodes; i++)
        r->port_of[i] = NO_PORT;
    for (size_t i = 0; i < n_visits; i++)
        if (visits[i].node != TM_NO_NODE)
            note_port(r, visits[i].node, (uint32_t)i);
    for (size_t i = 0; i < r->graph->steps.n; i++)
        note_port(r, steps[i].node, (uint32_t)(n_visits + i));
}

static void count_uses(reduction *r) {
    const tm_graph *graph = r->graph;
    for (uint32_t e = 0; e < graph->first[graph->n_nodes]; e++)
        if (!(graph->edges[e].from & TM_FROM_VISIT)) /* which the root has, too */
            r->uses[graph->edges[e].from]++;
}

static bool begin_reduction(reduction *r, const tm_graph *graph, size_t n_sets) {
    size_t n = graph->n_nodes;
    size_t n_visits = graph->visits.n, n_ports = n_visits + graph->steps.n;
    r->graph = graph;
    r->n_sets = n_sets;
    r->pool.lanes = tm_lanes_best();
    r->pool.width = tm_lanes_width(n_sets);
    assert(n_sets > 0 && n + n_ports < TM_FROM_VISIT - 1);
    r->ports = TM_VEC(port);
    r->from = TM_VEC(uint32_t);
    r->ns = TM_VEC(int64_t);
    r->implied = TM_VEC(bool);
    r->labels = calloc(n + 1, sizeof(tm_labels *));
    r->uses = calloc(n + 1, sizeof *r->uses);
    r->port_of = malloc((n + 1) * sizeof *r->port_of);
    r->port_at = malloc((n + n_visits + 1) * sizeof *r->port_at);
    r->key_of = malloc((n_visits + 1) * sizeof *r->key_of);
    r->weights = calloc(r->pool.width, sizeof *r->weights);
    r->way = tm_labels_new(&r->pool, 1);
    port *ports = tm_vec_append(&r->ports, NULL, n_ports);
    if (!r->labels || !r->uses || !r->port_of || !r->port_at || !r->key_of || !r->weights ||
        !r->way || !ports)
        return false;
    r->way->n = 1;
    memset(r->way->ns, 0, r->pool.width * sizeof *r->way->ns);
    memset(ports, 0, n_ports * sizeof *ports);
    find_ports(r);
    number_visits(r);
    count_uses(r);
    return true;
}

/* The ways to the source of an edge; they must not be changed. */
static tm_labels *ways_from(reduction *r, uint32_t from) {
    if (!(from & TM_FROM_VISIT)) { /* which the root has, too */
        assert(r->labels[from]);   /* an edge leads from an earlier node to a later one */
        return r->labels[from];
    }
    r->way->from[0] = from == TM_FROM_ROOT ? from : r->key_of[from & ~TM_FROM_VISIT];
    return r->way;
}

/* Whether this was the last edge that needs the ways to its source, which then are the caller's. */
static bool take(reduction *r, uint32_t from) {
    if ((from & TM_FROM_VISIT) || --r->uses[from] > 0)
        return false;
    r->labels[from] = NULL;
    return true;
}

/* The ways over the first edge to a node; NULL when memory is out. */
static tm_labels *over_edge(reduction *r, uint32_t edge) {
    uint32_t from = r->graph->edges[edge].from;
    tm_labels *labels = ways_from(r, from);
    r->weigh(r->context, r->graph, edge, r->weights);
    if (!take(r, from))
        return tm_labels_copy(&r->pool, labels, r->weights);
    tm_labels_add(&r->pool, labels, r->weights);
    return labels;
}

/* The same and those over another edge. */
static tm_labels *over_another(reduction *r, tm_labels *here, uint32_t edge) {
    uint32_t from = r->graph->edges[edge].from;
    tm_labels *labels = ways_from(r, from);
    r->weigh(r->context, r->graph, edge, r->weights);
    here = tm_labels_merge(&r->pool, here, labels, r->weights);
    if (take(r, from))
        tm_labels_release(&r->pool, labels);
    return here;
}

/* Finds the ways that are none of their own because of those that come by an operation, number
 * `by` of them. */
static void find_implied(const reduction *r, const tm_labels *here, size_t by, bool *implied) {
    const port *q = port_number(r, r->port_at[here->from[by]]);
    const uint32_t *from = r->from.data;
    const int64_t *ns = r->ns.data;
    size_t width = r->pool.width, i = 0, k = q->first;
    while (i < here->n && k < q->behind) {
        if (here->from[i] < from[k]) {
            i++;
        } else if (here->from[i] > from[k]) {
            k++;
        } else {
            if (!implied[i])
                implied[i] = !r->pool.lanes->any_above(here->ns + i * width, ns + k * width,
                                                       here->ns + by * width, width);
            i++;
            k++;
        }
    }
}

/* Drops ways that others imply. That these others may be dropped, too, does no harm: each is for
 * one past a later operation. */
static bool prune(reduction *r, tm_labels *here) {
    size_t width = r->pool.width, n = 0, last = here->n;
    r->implied.n = 0;
    bool *implied = tm_vec_append(&r->implied, NULL, here->n);
    if (!implied)
        return false;
    memset(implied, 0, here->n * sizeof *implied);
    if (here->from[last - 1] == TM_FROM_ROOT)
        last--;
    for (size_t by = last > LATEST ? last - LATEST : 0; by < last; by++)
        find_implied(r, here, by, implied);
    for (size_t i = 0; i < here->n; i++) {
        if (implied[i])
            continue;
        if (n < i) {
            here->from[n] = here->from[i];
            memcpy(here->ns + n * width, here->ns + i * width, width * sizeof *here->ns);
        }
        n++;
    }
    here->n = n;
    return true;
}

/* The ways that lead to a node; NULL when memory is out. */
static tm_labels *reach(reduction *r, uint32_t node) {
    uint32_t edge = r->graph->first[node], behind = r->graph->first[node + 1];
    if (edge == behind) { /* nothing leads here but that the job has begun */
        const tm_labels *root = ways_from(r, TM_FROM_ROOT);
        return tm_labels_copy(&r->pool, root, root->ns);
    }
    tm_labels *here = over_edge(r, edge);
    while (here && ++edge < behind)
        here = over_another(r, here, edge);
    /* Of a single edge all was seen at its source. */
    if (here && here->n > 1 && behind - r->graph->first[node] > 1 && !prune(r, here))
        return NULL;
    return here;
}

static bool add_link(reduction *r, uint32_t from, const int64_t *ns) {
    uint32_t *at = tm_vec_push(&r->from);
    if (!at || !tm_vec_append(&r->ns, ns, r->pool.width))
        return false;
    *at = from;
    return true;
}

/* What was left out can no longer hold the arrival up: it is never before it was. */
static bool pin(reduction *r, const port *at, uint32_t node) {
    size_t n_sets = r->n_sets, n = r->from.n;
    int64_t was = r->graph->ns[node];
    for (size_t i = 0; i < n_sets; i++)
        r->weights[i] = was;
    if (n == at->first || ((uint32_t *)r->from.data)[n - 1] != TM_FROM_ROOT)
        return add_link(r, TM_FROM_ROOT, r->weights);
    int64_t *ns = (int64_t *)r->ns.data + (n - 1) * r->pool.width;
    for (size_t i = 0; i < n_sets; i++)
        ns[i] = ns[i] > was ? ns[i] : was;
    return true;
}

static bool add_links(reduction *r, uint32_t number, uint32_t node, const tm_labels *here) {
    port *at = port_number(r, number);
    bool is_visit = number < r->graph->visits.n;
    int64_t n_left_out = 0;
    at->first = r->from.n;
    for (size_t i = 0; i < here->n; i++) {
        uint32_t from = here->from[i];
        if (is_visit && from >= r->key_of[number] && from != TM_FROM_ROOT)
            n_left_out++;
        else if (!add_link(r, from, here->ns + i * r->pool.width))
            return false;
    }
    if (n_left_out > 0 && !pin(r, at, node))
        return false;
    r->n_left_out += n_left_out;
    at->behind = r->from.n;
    return true;
}

/* Whether all ways to a node come from before it, and it is at no visit's time: else the order of
 * keys may not be the job's. */
static bool may_join(const reduction *r, uint32_t key, int64_t ns, const tm_labels *here) {
    const tm_graph_visit *visits = r->graph->visits.data;
    uint32_t last = here->from[here->n - 1];
    if (last == TM_FROM_ROOT)
        last = here->from[here->n - 2];
    return r->in_time && last < key &&
           (r->n_before == r->graph->visits.n || visits[r->n_before].last_ns > ns);
}

/* Where an old way stays the longest in some set, each operation adds another. Then the node is
 * made a port of the rank alone, which all ways behind it begin at. */
static bool join_ways(reduction *r, uint32_t node, tm_labels *here) {
    const tm_graph_visit *visits = r->graph->visits.data;
    int64_t ns = r->graph->ns[node];
    while (r->n_before < r->graph->visits.n && visits[r->n_before].last_ns < ns)
        r->n_before++;
    uint32_t key = node + (uint32_t)r->n_before, number = (uint32_t)r->ports.n;
    const bool dear = r->n_sets > TM_LANES && r->since_joint >= APART;
    r->since_joint++;
    if (here->n <= (dear ? FEW : MOST) || !may_join(r, key, ns, here))
        return true;
    r->since_joint = 0;
    port *joint = tm_vec_push(&r->ports);
    if (!joint)
        return false;
    *joint = (port){.next = NO_PORT, .node = node};
    r->port_at[key] = number;
    if (!add_links(r, number, node, here))
        return false;
    here->n = 1;
    here->from[0] = key;
    memset(here->ns, 0, r->pool.width * sizeof *here->ns);
    return true;
}

static bool reduce_graph(reduction *r) {
    for (uint32_t node = 0; node < r->graph->n_nodes; node++) {
        tm_labels *here = reach(r, node);
        if (!here || !join_ways(r, node, here))
            return false;
        for (uint32_t p = r->port_of[node]; p != NO_PORT; p = port_number(r, p)->next)
            if (!add_links(r, p, node, here))
                return false;
        if (r->uses[node] > 0)
            r->labels[node] = here;
        else
            tm_labels_release(&r->pool, here);
    }
    return true;
}

/* No operation of the job has it: those are hashes, and its time is part of what it is known by. */
static uint64_t joint_operation(const tm_graph *graph, uint32_t node) {
    return UINT64_C(1) << 63 | (uint64_t)graph->rank << 32 | node;
}

/* Tells the order in which ports are written: visits and joints by time, then steps. What stands at
 * the key of one is its place from then on. */
static void order_ports(const reduction *r, uint32_t *order) {
    size_t n = 0, n_visits = r->graph->visits.n, n_steps = r->graph->steps.n;
    for (size_t key = 0; key < r->graph->n_nodes + n_visits; key++) {
        if (r->port_at[key] == NO_PORT)
            continue;
        order[n] = r->port_at[key];
        r->port_at[key] = (uint32_t)n++;
    }
    for (size_t k = 0; k < n_steps; k++)
        order[n++] = (uint32_t)(n_visits + k);
}

static void write_ports(const reduction *r, const uint32_t *order, tm_port *visits,
                        int64_t *steps) {
    const tm_graph *graph = r->graph;
    const tm_graph_visit *v = graph->visits.data;
    const tm_graph_step *s = graph->steps.data;
    for (size_t i = 0; i < r->ports.n - graph->steps.n; i++) {
        uint32_t node = port_number(r, order[i])->node;
        visits[i] = order[i] < graph->visits.n
                        ? (tm_port){v[order[i]].operation, v[order[i]].last_ns}
                        : (tm_port){joint_operation(graph, node), graph->ns[node]};
    }
    for (size_t i = 0; i < graph->steps.n; i++)
        steps[i] = s[i].number;
}

static void write_links(const reduction *r, const uint32_t *order, tm_link *links, int64_t *ns) {
    size_t n_sets = r->n_sets;
    const uint32_t *from = r->from.data;
    for (size_t p = 0; p < r->ports.n; p++) {
        const port *at = port_number(r, order[p]);
        for (size_t i = at->first; i < at->behind; i++, ns += n_sets) {
            *links++ =
                (tm_link){from[i] == TM_FROM_ROOT ? from[i] : r->port_at[from[i]], (uint32_t)p};
            memcpy(ns, (const int64_t *)r->ns.data + i * r->pool.width, n_sets * sizeof *ns);
        }
    }
}

_Static_assert(sizeof(tm_port) == 2 * sizeof(int64_t) && sizeof(tm_link) == sizeof(int64_t),
               "they are whole words");

static bool write_words(const reduction *r, tm_vec *words) {
    size_t n_steps = r->graph->steps.n, n_visits = r->ports.n - n_steps, n_links = r->from.n;
    size_t n = HEAD_WORDS + 2 * n_visits + n_steps + n_links * (1 + r->n_sets);
    uint32_t *order = calloc(r->ports.n + 1, sizeof *order);
    int64_t *head = order ? tm_vec_append(words, NULL, n) : NULL;
    if (head) {
        int64_t *visits = head + HEAD_WORDS, *steps = visits + 2 * n_visits;
        int64_t *links = steps + n_steps;
        head[HEAD_RANK] = r->graph->rank;
        head[HEAD_SETS] = (int64_t)r->n_sets;
        head[HEAD_VISITS] = (int64_t)n_visits;
        head[HEAD_STEPS] = (int64_t)n_steps;
        head[HEAD_LINKS] = (int64_t)n_links;
        head[HEAD_LEFT_OUT] = r->n_left_out;
        order_ports(r, order);
        write_ports(r, order, (void *)visits, steps);
        write_links(r, order, (void *)links, links + n_links);
    }
    free(order);
    return head != NULL;
}

tm_status tm_reduce(const tm_graph *graph, size_t n_sets, tm_weigh *weigh, const void *context,
                    tm_vec *words, tm_error *err) {
    reduction r = {.weigh = weigh, .context = context};
    bool ok = begin_reduction(&r, graph, n_sets) && reduce_graph(&r) && write_words(&r, words);
    end_reduction(&r);
    return ok ? TM_OK : tm_fail_memory(err);
}

size_t tm_reduced_read(const int64_t *words, tm_reduced *out) {
    size_t n_sets = (size_t)words[HEAD_SETS], n_visits = (size_t)words[HEAD_VISITS];
    size_t n_steps = (size_t)words[HEAD_STEPS], n_links = (size_t)words[HEAD_LINKS];
    const int64_t *visits = words + HEAD_WORDS, *steps = visits + 2 * n_visits;
    const int64_t *links = steps + n_steps, *ns = links + n_links;
    *out = (tm_reduced){words[HEAD_RANK],
                        n_sets,
                        n_visits,
                        n_steps,
                        n_links,
                        words[HEAD_LEFT_OUT],
                        (const void *)visits,
                        steps,
                        (const void *)links,
                        ns};
    return (size_t)(ns - words) + n_links * n_sets;
}

#include "reduce.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"

/* Ways are held against those past this many of the latest operations. */
enum { LATEST = 4 };

/* Where a rank's words begin, before its visits, steps, links and their times. */
enum { HEAD_RANK, HEAD_SETS, HEAD_VISITS, HEAD_STEPS, HEAD_LINKS, HEAD_LEFT_OUT, HEAD_WORDS };

/* A visit that the rank arrives at or a step that ends, and the ways to it that were found. */
typedef struct port {
    uint32_t next;        /* port of the same node */
    size_t first, behind; /* of the links that lead there */
} port;

static const uint32_t NO_PORT = UINT32_MAX;

typedef struct reduction {
    const tm_graph *graph;
    tm_weigh *weigh;
    const void *context;
    tm_label_pool pool;
    tm_labels **labels; /* [n_nodes] NULL before the node is reached, and where none needs them */
    uint32_t *uses;     /* [n_nodes] edges that still need them */
    uint32_t *port_of;  /* [n_nodes] the first, or NO_PORT */
    size_t n_ports;
    port *ports;      /* [n_ports] visits, then steps */
    int64_t *weights; /* [n_sets] of the edge at hand */
    tm_vec from;      /* of uint32_t: of each link, in the order of nodes */
    tm_vec ns;        /* of int64_t: [links][n_sets] */
    tm_vec implied;   /* of bool: of the labels at hand */
    int64_t n_left_out;
} reduction;

static void end_reduction(reduction *r) {
    tm_arena_free(&r->pool.arena);
    free(r->labels);
    free(r->uses);
    free(r->port_of);
    free(r->ports);
    free(r->weights);
    tm_vec_free(&r->from);
    tm_vec_free(&r->ns);
    tm_vec_free(&r->implied);
}

static void note_port(reduction *r, uint32_t node, uint32_t number) {
    r->ports[number].next = r->port_of[node];
    r->port_of[node] = number;
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
    r->graph = graph;
    r->pool.n_sets = n_sets;
    r->n_ports = graph->visits.n + graph->steps.n;
    assert(n_sets > 0 && n < TM_FROM_VISIT && r->n_ports < TM_FROM_VISIT - 1);
    r->from = TM_VEC(uint32_t);
    r->ns = TM_VEC(int64_t);
    r->implied = TM_VEC(bool);
    r->labels = calloc(n + 1, sizeof(tm_labels *));
    r->uses = calloc(n + 1, sizeof *r->uses);
    r->port_of = malloc((n + 1) * sizeof *r->port_of);
    r->ports = calloc(r->n_ports + 1, sizeof *r->ports);
    r->weights = calloc(n_sets, sizeof *r->weights);
    if (!r->labels || !r->uses || !r->port_of || !r->ports || !r->weights)
        return false;
    find_ports(r);
    count_uses(r);
    return true;
}

/* A single way. */
static tm_labels *from_port(reduction *r, uint32_t from) {
    tm_labels *labels = tm_labels_new(&r->pool, 1);
    if (!labels)
        return NULL;
    labels->n = 1;
    labels->from[0] = from == TM_FROM_ROOT ? from : from & ~TM_FROM_VISIT;
    memcpy(labels->ns, r->weights, r->pool.n_sets * sizeof *r->weights);
    return labels;
}

/* The ways over one edge; NULL when memory is out. */
static tm_labels *over_edge(reduction *r, uint32_t edge) {
    uint32_t from = r->graph->edges[edge].from;
    r->weigh(r->context, r->graph, edge, r->weights);
    if (from & TM_FROM_VISIT)
        return from_port(r, from);
    tm_labels *labels = r->labels[from];
    assert(labels); /* an edge leads from an earlier node to a later one */
    if (--r->uses[from] > 0) {
        labels = tm_labels_copy(&r->pool, labels);
        if (!labels)
            return NULL;
    } else {
        r->labels[from] = NULL; /* they become this node's */
    }
    tm_labels_add(labels, r->weights, r->pool.n_sets);
    return labels;
}

static bool is_longer_in_no_set(const int64_t *way, const int64_t *a, const int64_t *b,
                                size_t n_sets) {
    for (size_t i = 0; i < n_sets; i++)
        if (way[i] > a[i] + b[i])
            return false;
    return true;
}

/* Finds the ways that are none of their own because of those that come by an operation, number
 * `by` of them. */
static void find_implied(const reduction *r, const tm_labels *here, size_t by, bool *implied) {
    const port *q = &r->ports[here->from[by]];
    const uint32_t *from = r->from.data;
    const int64_t *ns = r->ns.data;
    size_t n_sets = r->pool.n_sets, i = 0, k = q->first;
    while (i < here->n && k < q->behind) {
        if (here->from[i] < from[k]) {
            i++;
        } else if (here->from[i] > from[k]) {
            k++;
        } else {
            if (!implied[i])
                implied[i] = is_longer_in_no_set(here->ns + i * n_sets, ns + k * n_sets,
                                                 here->ns + by * n_sets, n_sets);
            i++;
            k++;
        }
    }
}

/* Drops ways that others imply. That these others may be dropped, too, does no harm: each is for
 * one past a later operation. */
static bool prune(reduction *r, tm_labels *here) {
    size_t n_sets = r->pool.n_sets, n = 0, last = here->n;
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
            memcpy(here->ns + n * n_sets, here->ns + i * n_sets, n_sets * sizeof *here->ns);
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
        memset(r->weights, 0, r->pool.n_sets * sizeof *r->weights);
        return from_port(r, TM_FROM_ROOT);
    }
    tm_labels *here = over_edge(r, edge);
    while (here && ++edge < behind) {
        tm_labels *more = over_edge(r, edge);
        here = more ? tm_labels_merge(&r->pool, here, more) : NULL;
    }
    /* Of a single edge all was seen at its source. */
    if (here && here->n > 1 && behind - r->graph->first[node] > 1 && !prune(r, here))
        return NULL;
    return here;
}

static bool add_link(reduction *r, uint32_t from, const int64_t *ns) {
    uint32_t *at = tm_vec_push(&r->from);
    if (!at || !tm_vec_append(&r->ns, ns, r->pool.n_sets))
        return false;
    *at = from;
    return true;
}

/* What was left out can no longer hold the arrival up: it is never before it was. */
static bool pin(reduction *r, const port *at, uint32_t node) {
    size_t n_sets = r->pool.n_sets, n = r->from.n;
    int64_t was = r->graph->ns[node];
    for (size_t i = 0; i < n_sets; i++)
        r->weights[i] = was;
    if (n == at->first || ((uint32_t *)r->from.data)[n - 1] != TM_FROM_ROOT)
        return add_link(r, TM_FROM_ROOT, r->weights);
    int64_t *ns = (int64_t *)r->ns.data + (n - 1) * n_sets;
    for (size_t i = 0; i < n_sets; i++)
        ns[i] = ns[i] > was ? ns[i] : was;
    return true;
}

static bool add_links(reduction *r, uint32_t number, uint32_t node, const tm_labels *here) {
    port *at = &r->ports[number];
    bool is_visit = number < r->graph->visits.n;
    int64_t n_left_out = 0;
    at->first = r->from.n;
    for (size_t i = 0; i < here->n; i++) {
        uint32_t from = here->from[i];
        if (is_visit && from >= number && from != TM_FROM_ROOT)
            n_left_out++;
        else if (!add_link(r, from, here->ns + i * r->pool.n_sets))
            return false;
    }
    if (n_left_out > 0 && !pin(r, at, node))
        return false;
    r->n_left_out += n_left_out;
    at->behind = r->from.n;
    return true;
}

static bool reduce_graph(reduction *r) {
    for (uint32_t node = 0; node < r->graph->n_nodes; node++) {
        tm_labels *here = reach(r, node);
        if (!here)
            return false;
        for (uint32_t p = r->port_of[node]; p != NO_PORT; p = r->ports[p].next)
            if (!add_links(r, p, node, here))
                return false;
        if (r->uses[node] > 0)
            r->labels[node] = here;
        else
            tm_labels_release(&r->pool, here);
    }
    return true;
}

static void write_ports(const tm_graph *graph, tm_port *visits, int64_t *steps) {
    const tm_graph_visit *v = graph->visits.data;
    const tm_graph_step *s = graph->steps.data;
    for (size_t i = 0; i < graph->visits.n; i++)
        visits[i] = (tm_port){v[i].operation, v[i].last_ns};
    for (size_t i = 0; i < graph->steps.n; i++)
        steps[i] = s[i].number;
}

static void write_links(const reduction *r, tm_link *links, int64_t *ns) {
    size_t n_sets = r->pool.n_sets;
    const uint32_t *from = r->from.data;
    for (size_t p = 0; p < r->n_ports; p++) {
        const port *at = &r->ports[p];
        size_t n = at->behind - at->first;
        for (size_t i = 0; i < n; i++)
            *links++ = (tm_link){from[at->first + i], (uint32_t)p};
        memcpy(ns, (const int64_t *)r->ns.data + at->first * n_sets, n * n_sets * sizeof *ns);
        ns += n * n_sets;
    }
}

_Static_assert(sizeof(tm_port) == 2 * sizeof(int64_t) && sizeof(tm_link) == sizeof(int64_t),
               "they are whole words");

static bool write_words(const reduction *r, tm_vec *words) {
    const tm_graph *graph = r->graph;
    size_t n_visits = graph->visits.n, n_steps = graph->steps.n, n_links = r->from.n;
    size_t n = HEAD_WORDS + 2 * n_visits + n_steps + n_links * (1 + r->pool.n_sets);
    int64_t *head = tm_vec_append(words, NULL, n);
    if (!head)
        return false;
    head[HEAD_RANK] = graph->rank;
    head[HEAD_SETS] = (int64_t)r->pool.n_sets;
    head[HEAD_VISITS] = (int64_t)n_visits;
    head[HEAD_STEPS] = (int64_t)n_steps;
    head[HEAD_LINKS] = (int64_t)n_links;
    head[HEAD_LEFT_OUT] = r->n_left_out;
    int64_t *visits = head + HEAD_WORDS, *steps = visits + 2 * n_visits, *links = steps + n_steps;
    write_ports(graph, (void *)visits, steps);
    write_links(r, (void *)links, links + n_links);
    return true;
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

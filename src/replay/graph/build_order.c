/* Sorts a graph's nodes by time, and its edges by target node. */
#include "builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"

static void swap_arrays(tm_order_key **a, tm_order_key **b) {
    tm_order_key *a_was = *a;
    *a = *b;
    *b = a_was;
}

/* Sorts by key, with a stable radix sort with digits of 11 bits. */
static void sort_digits(tm_order_key **keys, tm_order_key **scratch, size_t n) {
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= (*keys)[i].key;
    for (unsigned shift = 0; shift < 64 && all >> shift; shift += 11) {
        enum { DIGITS = 1 << 11 };
        size_t at[DIGITS + 1] = {0};
        for (size_t i = 0; i < n; i++)
            at[((*keys)[i].key >> shift) % DIGITS + 1]++;
        for (size_t d = 0; d < DIGITS; d++)
            at[d + 1] += at[d];
        for (size_t i = 0; i < n; i++)
            (*scratch)[at[((*keys)[i].key >> shift) % DIGITS]++] = (*keys)[i];
        swap_arrays(keys, scratch);
    }
}

/* A run is an ascending part of the keys. Each stream and each thread is mostly one run, because
 * only a few keys are up to NEAR places after their place. */
enum { NEAR = 32, RUNS_MOST = 8 };

/* Moves key i of a run to its place, if this is near. Returns whether it was moved. */
static bool move_near(tm_order_key *keys, size_t first, size_t i) {
    const tm_order_key key = keys[i];
    size_t to = i;
    while (to > first && i - to <= NEAR && keys[to - 1].key > key.key)
        to--;
    if (i - to > NEAR)
        return false;
    memmove(keys + to + 1, keys + to, (i - to) * sizeof *keys);
    keys[to] = key;
    return true;
}

/* Returns the number of runs, after keys were moved to near places; RUNS_MOST + 1 if there are
 * more.
 * @param starts  [RUNS_MOST + 1] set to the starts of the runs, then n */
static size_t find_runs(tm_order_key *keys, size_t n, size_t *starts) {
    size_t runs = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (keys[i - 1].key <= keys[i].key || move_near(keys, starts[runs - 1], i)))
            continue;
        if (runs == RUNS_MOST)
            return RUNS_MOST + 1;
        starts[runs++] = i;
    }
    starts[runs] = n;
    return runs;
}

/* Merges the runs [begin, middle) and [middle, end). */
static void merge(const tm_order_key *from, tm_order_key *to, size_t begin, size_t middle,
                  size_t end) {
    size_t i = begin, k = middle;
    for (size_t at = begin; at < end; at++) {
        const bool other = i == middle || (k < end && from[k].key < from[i].key);
        to[at] = from[other ? k : i];
        k += other;
        i += !other;
    }
}

/* Sorts by key. The order of equal keys does not change. The two arrays may be swapped: the result
 * is always in *keys. */
static void sort_keys(tm_order_key **keys, tm_order_key **scratch, size_t n) {
    size_t starts[RUNS_MOST + 1];
    size_t runs = find_runs(*keys, n, starts);
    if (runs > RUNS_MOST) {
        sort_digits(keys, scratch, n);
        return;
    }
    for (; runs > 1; runs = (runs + 1) / 2) {
        for (size_t r = 0; r < runs; r += 2) {
            merge(*keys, *scratch, starts[r], starts[r + 1], r + 1 < runs ? starts[r + 2] : n);
            starts[r / 2] = starts[r];
        }
        starts[(runs + 1) / 2] = n;
        swap_arrays(keys, scratch);
    }
}

typedef struct part_time {
    int64_t begin_ns, end_ns;
} part_time;

/* Returns the number of items that have only one node. These are the ends of steps, and the end of
 * the warm-up. */
static size_t ends_of(const tm_builder *m) {
    return m->input->timeline->n_steps + m->input->warm_up;
}

static part_time time_of(const tm_builder *m, size_t part) {
    if (part < m->input->events.n) {
        const tm_part_event *e = (const tm_part_event *)m->input->events.data + part;
        return (part_time){e->begin_ns, e->end_ns};
    }
    const tm_part_call *c = (const tm_part_call *)m->input->calls.data + part - m->input->events.n;
    return (part_time){c->begin_ns, c->end_ns};
}

/* Finds the time at which each step ends. It is the latest time of all sources of edges into the
 * step's end. The end of the warm-up comes last. */
static void find_step_ends(const tm_builder *m, size_t parts, int64_t *ends) {
    const tm_loose_edge *edges = m->edges.data;
    for (size_t i = 0; i < m->edges.n; i++) {
        if (edges[i].to < 2 * parts)
            continue;
        part_time from = time_of(m, edges[i].from / 2);
        int64_t end = edges[i].from % 2 ? from.end_ns : from.begin_ns;
        int64_t *at = &ends[edges[i].to - 2 * parts];
        *at = end > *at ? end : *at;
    }
}

/* Sets the sort keys of all nodes. The ends of steps come last. */
static void fill_keys(const tm_builder *m, const int64_t *step_ends, tm_order_key *keys) {
    const size_t events = m->input->events.n, parts = events + m->input->calls.n;
    const tm_graph_step *steps = m->graph->steps.data;
    int64_t first = INT64_MAX;
    for (size_t p = 0; p < parts; p++)
        first = time_of(m, p).begin_ns < first ? time_of(m, p).begin_ns : first;
    for (uint32_t p = 0; p < parts; p++) {
        part_time t = time_of(m, p);
        bool took = t.end_ns > t.begin_ns;
        tm_order_key *ends = &keys[2 * (size_t)p];
        ends[0] = tm_order_key_of(2 * p, t.begin_ns - first, took, events, parts);
        ends[1] = tm_order_key_of(2 * p + 1, t.end_ns - first, took, events, parts);
    }
    for (size_t k = 0; k < m->graph->steps.n; k++) {
        int64_t end = step_ends[steps[k].node - 2 * parts];
        keys[2 * parts + k] = tm_order_key_of(steps[k].node, end - first, false, events, parts);
    }
}

/* Sorts the nodes, and sets their times and parts in the graph. Sets (*place)[part] to the part's
 * node. */
static tm_status order_nodes(tm_builder *m, uint32_t **place, tm_error *err) {
    const size_t parts = m->input->events.n + m->input->calls.n;
    const size_t n_steps = ends_of(m), n = 2 * parts + m->graph->steps.n;
    tm_graph *g = m->graph;
    tm_order_key *keys = malloc((n + 1) * sizeof *keys);
    tm_order_key *scratch = malloc((n + 1) * sizeof *scratch);
    int64_t *ends = malloc((n_steps + 1) * sizeof *ends);
    bool ok = keys && scratch && ends;
    if (ok) {
        for (size_t k = 0; k < n_steps; k++)
            ends[k] = INT64_MIN;
        find_step_ends(m, parts, ends);
        fill_keys(m, ends, keys);
        sort_keys(&keys, &scratch, n);
    }
    free(scratch);
    *place = ok ? calloc(n + n_steps + 1, sizeof **place) : NULL; /* n is at least 2 * parts */
    g->parts = malloc((n + 1) * sizeof *g->parts);
    g->ns = malloc((n + 1) * sizeof *g->ns);
    ok = *place && g->parts && g->ns;
    if (ok) {
        for (size_t i = 0; i < n; i++) {
            uint32_t part = keys[i].part;
            (*place)[part] = (uint32_t)i;
            g->parts[i] = part;
            if (part < 2 * parts)
                g->ns[i] = part % 2 ? time_of(m, part / 2).end_ns : time_of(m, part / 2).begin_ns;
            else
                g->ns[i] = ends[part - 2 * parts];
        }
        g->n_nodes = n;
    }
    free(keys);
    free(ends);
    return ok ? TM_OK : tm_fail_memory(err);
}

static bool is_node(uint32_t from) {
    return from != TM_FROM_ROOT && !(from & TM_FROM_OPERATION);
}

/* Returns an array [parts + 1] with the index of the first edge that leads to each part. Returns
 * NULL when out of memory. */
static uint32_t *find_first(const tm_builder *m) {
    const tm_loose_edge *edges = m->edges.data;
    const size_t parts = 2 * (m->input->events.n + m->input->calls.n) + ends_of(m);
    uint32_t *first = calloc(parts + 1, sizeof *first), at = 0;
    for (size_t part = 0; part < parts && first; part++) {
        first[part] = at;
        while (at < m->edges.n && edges[at].to == part)
            at++;
    }
    assert(!first || at == m->edges.n);
    if (first)
        first[parts] = at;
    return first;
}

/* Copies the edges that lead to a node, which are [first, after) in @p m, into the graph, from
 * index *n on. Advances *n. Leaves out edges whose source is a later node. If the copied edges do
 * not explain the node's recorded time, adds an edge from the root. False when out of memory. */
static bool place_into(const tm_builder *m, uint32_t node, uint32_t first, uint32_t after,
                       const uint32_t *place, size_t *n) {
    const tm_loose_edge *edges = m->edges.data;
    tm_graph *g = m->graph;
    int64_t reached = INT64_MIN;
    for (uint32_t i = first; i < after; i++) {
        tm_edge *edge = &g->edges[*n];
        *edge = (tm_edge){.from = edges[i].from, .kind = edges[i].kind & TM_EDGE_KIND_BITS};
        tm_edge_flag(edge, edges[i].flags);
        if (is_node(edge->from)) {
            edge->from = place[edge->from];
            if (edge->from >= node)
                continue;
        }
        const tm_weight weight = tm_weights_at(&m->weights, i);
        tm_edge_flag(edge, weight.over_ns != 0 ? TM_EDGE_OVER : 0);
        if (!tm_graph_weigh(g, edge, &weight))
            return false;
        int64_t ns = tm_graph_source_ns(g, edge) + weight.ns;
        reached = ns > reached ? ns : reached;
        if (m->origin)
            m->origin[*n] = i;
        ++*n;
    }
    if (reached >= g->ns[node])
        return true;
    const tm_weight whole = {g->ns[node], g->ns[node], 0};
    if (m->origin)
        m->origin[*n] = TM_NO_ORIGIN;
    g->edges[*n] = (tm_edge){.from = TM_FROM_ROOT, .kind = TM_EDGE_BEFORE};
    return tm_graph_weigh(g, &g->edges[(*n)++], &whole);
}

/* Sets the number of edges for which the graph has room. False when out of memory. */
static bool resize_edges(tm_graph *g, size_t n) {
    tm_edge *edges = realloc(g->edges, (n + 1) * sizeof *edges);
    if (!edges)
        return false;
    g->edges = edges;
    return true;
}

/* Sets the edges of all nodes. The graph first has room only for the edges in @p m. It gets more
 * room when edges from the root are added, which is rare.
 * @param first  see find_first */
static bool place_all(tm_builder *m, const uint32_t *first, const uint32_t *place) {
    tm_graph *g = m->graph;
    size_t n = 0, room = m->edges.n;
    bool ok = resize_edges(g, room);
    for (uint32_t v = 0; v < g->n_nodes && ok; v++) {
        const uint32_t from = first[g->parts[v]], after = first[g->parts[v] + 1];
        g->first[v] = (uint32_t)n;
        if (n + (after - from) >= room)
            ok = resize_edges(g, room += room / 8 + (after - from) + 1);
        ok = ok && place_into(m, v, from, after, place, &n);
        if (ok && n > g->first[v])
            g->edges[n - 1].last = 1;
    }
    g->first[g->n_nodes] = (uint32_t)n;
    return ok && resize_edges(g, n);
}

static bool place_edges(tm_builder *m, const uint32_t *place) {
    tm_graph *g = m->graph;
    uint32_t *first = find_first(m);
    g->first = malloc((g->n_nodes + 1) * sizeof *g->first);
    if (m->models)
        m->origin = malloc((m->edges.n + g->n_nodes + 1) * sizeof *m->origin);
    const bool ok = first && g->first && (m->origin || !m->models) && place_all(m, first, place);
    free(first);
    tm_vec_trim(&g->apart.shorts);
    return ok;
}

tm_status tm_builder_order(tm_builder *m, tm_error *err) {
    uint32_t *place;
    tm_graph_participant *participants = m->graph->participants.data;
    tm_graph_step *steps = m->graph->steps.data;
    tm_status status = order_nodes(m, &place, err);
    if (status == TM_OK)
        status = place_edges(m, place) ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK) {
        const tm_part_event *events = m->input->events.data;
        uint32_t *node_of = calloc(m->input->timeline->n_events + 1, sizeof *node_of);
        for (uint32_t i = 0; i < m->input->events.n && node_of; i++)
            node_of[events[i].row] = place[tm_event_begin(i)];
        for (size_t v = 0; v < m->graph->participants.n && node_of; v++)
            participants[v].node =
                participants[v].event == TM_NO_EVENT ? TM_NO_NODE : node_of[participants[v].event];
        for (size_t k = 0; k < m->graph->steps.n; k++)
            steps[k].node = place[steps[k].node];
        status = node_of ? TM_OK : tm_fail_memory(err);
        free(node_of);
    }
    free(place);
    return status;
}

bool tm_graph_set_events(tm_graph *graph, const uint32_t *rows, size_t n_items, bool keeps_parts) {
    uint32_t *events = keeps_parts ? malloc((graph->n_nodes + 1) * sizeof *events) : graph->parts;
    for (size_t v = 0; v < graph->n_nodes && events; v++)
        events[v] = graph->parts[v] < 2 * n_items ? rows[graph->parts[v] / 2] : TM_NO_EVENT;
    graph->event = events;
    graph->parts = keeps_parts ? graph->parts : NULL;
    return events || graph->n_nodes == 0;
}

/* Returns the latest time until which the edges [first, after) delay their target [ns]. */
static int64_t latest_ns(const tm_graph *graph, uint32_t first, uint32_t after) {
    int64_t latest = INT64_MIN;
    for (uint32_t e = first; e < after; e++) {
        const int64_t ns = tm_graph_reached_ns(graph, &graph->edges[e]);
        latest = ns > latest ? ns : latest;
    }
    return latest;
}

size_t tm_graph_wrong(const tm_graph *graph) {
    size_t wrong = 0;
    for (size_t v = 0; v < graph->n_nodes; v++)
        wrong += latest_ns(graph, graph->first[v], graph->first[v + 1]) != graph->ns[v];
    return wrong;
}

void tm_graph_close(tm_graph *graph) {
    free(graph->ns);
    free(graph->first);
    graph->ns = NULL;
    graph->first = NULL;
}

tm_status tm_graph_open(tm_graph *graph, tm_error *err) {
    if (graph->first || graph->n_nodes == 0)
        return TM_OK;
    int64_t *ns = malloc((graph->n_nodes + 1) * sizeof *ns);
    uint32_t *first = malloc((graph->n_nodes + 1) * sizeof *first);
    if (!ns || !first) {
        free(ns);
        free(first);
        return tm_fail_memory(err);
    }
    graph->ns = ns; /* tm_graph_reached_ns reads the times of earlier nodes */
    graph->first = first;
    const tm_edge *edge = graph->edges;
    for (size_t v = 0; v < graph->n_nodes; v++) {
        first[v] = (uint32_t)(edge - graph->edges);
        int64_t latest = tm_graph_reached_ns(graph, edge);
        for (; !edge->last; edge++) {
            const int64_t reached = tm_graph_reached_ns(graph, edge + 1);
            latest = reached > latest ? reached : latest;
        }
        edge++;
        ns[v] = latest;
    }
    first[graph->n_nodes] = (uint32_t)(edge - graph->edges);
    return TM_OK;
}

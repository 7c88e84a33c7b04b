/* The graph of the unknowns that are not yet eliminated. Eliminating a domain makes an element. An
 * element is the set of the eliminated domain's neighbours, which are then connected with each
 * other. The neighbours of a domain are its remaining original neighbours (`near`), and all
 * vertices that share an element with it. The sets of the network are also vertices. Their weight
 * is their number of bins, and they are not eliminated. */
#include "elimination_order.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* An entry in the list of elements that contain a vertex. */
typedef struct link {
    uint32_t element, next;
} link;

typedef struct vertex {
    size_t near, n_near; /* range in graph.near: original neighbours that share no element with this
                            vertex */
    uint32_t links;      /* index of the first link in graph.links */
    uint32_t stamp;      /* stamp of the newest element that contains the vertex */
    size_t weight;
    bool gone;
    /* Of a domain: its degree, and the domains before and after it in the list of domains of this
     * degree. */
    size_t degree;
    uint32_t before, after;
    /* The element that was made when the domain was eliminated: */
    size_t held, n_held; /* range in graph.held */
    size_t held_weight, left;
    uint32_t left_stamp;
    bool alive;
} vertex;

typedef struct graph {
    size_t n, n_domains, total;
    vertex *v;           /* [n] domains, then sets */
    uint32_t *near;      /* neighbours of all vertices, see vertex.near */
    uint32_t *by_degree; /* [total + 1] first domain of each degree */
    size_t least;        /* no domain has a degree below this */
    tm_vec held;  /* vector of uint32_t: the vertices of all elements, element after element */
    tm_vec links; /* vector of link */
} graph;

static void free_graph(graph *g) {
    free(g->v);
    free(g->near);
    free(g->by_degree);
    tm_vec_free(&g->held);
    tm_vec_free(&g->links);
}

static void list_domain(graph *g, uint32_t d) {
    vertex *v = &g->v[d];
    v->degree = v->degree < g->total ? v->degree : g->total;
    v->before = NONE;
    v->after = g->by_degree[v->degree];
    if (v->after != NONE)
        g->v[v->after].before = d;
    g->by_degree[v->degree] = d;
    g->least = v->degree < g->least ? v->degree : g->least;
}

static void unlist_domain(graph *g, uint32_t d) {
    const vertex *v = &g->v[d];
    if (v->before == NONE)
        g->by_degree[v->degree] = v->after;
    else
        g->v[v->before].after = v->after;
    if (v->after != NONE)
        g->v[v->after].before = v->before;
}

/* Calls @p take for all pairs of vertices. For each link, calls it in both directions. For each set
 * and each domain in the set, calls it with the domain first. */
static void each_pair(const tm_network *w, graph *g, void (*take)(graph *, uint32_t, uint32_t)) {
    const uint64_t *links = w->links.data;
    const tm_network_set *sets = w->sets.data;
    const tm_network_member *members = w->members.data;
    for (size_t l = 0; l < w->links.n; l++) {
        take(g, (uint32_t)(links[l] >> 32), (uint32_t)links[l]);
        take(g, (uint32_t)links[l], (uint32_t)(links[l] >> 32));
    }
    for (size_t s = 0; s < w->sets.n; s++)
        for (size_t m = sets[s].members; m < sets[s].members + sets[s].n_members; m++)
            take(g, (uint32_t)members[m].domain, (uint32_t)(g->n_domains + s));
}

static void count_pair(graph *g, uint32_t a, uint32_t b) {
    (void)b;
    g->v[a].n_near++;
}

static void put_pair(graph *g, uint32_t a, uint32_t b) {
    vertex *v = &g->v[a];
    g->near[v->near + v->n_near++] = b;
    v->degree += g->v[b].weight;
}

static bool make_graph(const tm_network *w, graph *g) {
    const tm_network_set *sets = w->sets.data;
    *g = (graph){.n = (size_t)w->n + w->sets.n,
                 .n_domains = (size_t)w->n,
                 .held = TM_VEC(uint32_t),
                 .links = TM_VEC(link)};
    g->v = calloc(g->n + 1, sizeof *g->v);
    if (!g->v)
        return false;
    for (size_t i = 0; i < g->n; i++) {
        g->v[i].links = NONE;
        g->v[i].weight = i < g->n_domains ? 2 : sets[i - g->n_domains].n_bins;
        g->total += g->v[i].weight;
    }
    each_pair(w, g, count_pair);
    size_t n_near = 0;
    for (size_t i = 0; i < g->n; i++) {
        g->v[i].near = n_near;
        n_near += g->v[i].n_near;
        g->v[i].n_near = 0;
    }
    g->near = malloc((n_near + 1) * sizeof *g->near);
    g->by_degree = malloc((g->total + 1) * sizeof *g->by_degree);
    if (!g->near || !g->by_degree)
        return false;
    each_pair(w, g, put_pair);
    for (size_t d = 0; d <= g->total; d++)
        g->by_degree[d] = NONE;
    g->least = g->total;
    for (size_t d = g->n_domains; d-- > 0;)
        list_domain(g, (uint32_t)d);
    return true;
}

/* Adds a vertex to the newest element, which domain p made, unless it is already in the element. */
static bool hold(graph *g, uint32_t p, uint32_t stamp, uint32_t u) {
    if (g->v[u].gone || g->v[u].stamp == stamp)
        return true;
    g->v[u].stamp = stamp;
    g->v[p].held_weight += g->v[u].weight;
    return tm_vec_append(&g->held, &u, 1) != NULL;
}

/* Makes the element of domain p. The new element replaces the elements that contained p. */
static bool make_element(graph *g, uint32_t p, uint32_t stamp) {
    vertex *v = &g->v[p];
    bool ok = true;
    v->gone = v->alive = true;
    v->held = g->held.n;
    for (size_t k = v->near; k < v->near + v->n_near && ok; k++)
        ok = hold(g, p, stamp, g->near[k]);
    for (uint32_t l = v->links; l != NONE && ok;) {
        const link at = ((const link *)g->links.data)[l];
        vertex *e = &g->v[at.element];
        for (size_t k = e->held; e->alive && k < e->held + e->n_held && ok; k++)
            ok = hold(g, p, stamp, ((const uint32_t *)g->held.data)[k]);
        e->alive = false;
        l = at.next;
    }
    v->n_held = g->held.n - v->held;
    return ok;
}

/* Called for each vertex u of the newest element. Removes replaced elements from u's list.
 * Subtracts u's weight from `left` of the remaining elements in the list, so that in the end,
 * `left` of an element is the weight of its vertices that are not in the newest element. */
static void take_off(graph *g, uint32_t u, uint32_t stamp) {
    link *links = g->links.data;
    for (uint32_t *l = &g->v[u].links; *l != NONE;) {
        vertex *e = &g->v[links[*l].element];
        if (!e->alive) {
            *l = links[*l].next;
            continue;
        }
        if (e->left_stamp != stamp) {
            e->left_stamp = stamp;
            e->left = e->held_weight;
        }
        e->left -= g->v[u].weight;
        l = &links[*l].next;
    }
}

/* Removes neighbours and elements from domain d if the newest element, which p made, contains them.
 * Sets d's degree to an upper bound. */
static void renew(graph *g, uint32_t d, uint32_t p, uint32_t stamp) {
    vertex *v = &g->v[d];
    link *links = g->links.data;
    size_t kept = 0, degree = g->v[p].held_weight - v->weight;
    for (size_t k = v->near; k < v->near + v->n_near; k++) {
        uint32_t u = g->near[k];
        if (g->v[u].gone || g->v[u].stamp == stamp)
            continue;
        degree += g->v[u].weight;
        g->near[v->near + kept++] = u;
    }
    v->n_near = kept;
    for (uint32_t *l = &v->links; *l != NONE;) {
        vertex *e = &g->v[links[*l].element];
        /* If nothing is left, the newest element contains all of this element. */
        e->alive = e->alive && e->left > 0;
        if (!e->alive) {
            *l = links[*l].next;
            continue;
        }
        degree += e->left;
        l = &links[*l].next;
    }
    unlist_domain(g, d);
    v->degree = degree;
    list_domain(g, d);
}

static bool eliminate(graph *g, uint32_t p, uint32_t stamp) {
    bool any = false;
    unlist_domain(g, p);
    if (!make_element(g, p, stamp))
        return false;
    const size_t first = g->v[p].held, end = first + g->v[p].n_held;
    for (size_t k = first; k < end; k++)
        any = any || ((const uint32_t *)g->held.data)[k] < g->n_domains;
    if (!any) { /* no domain is left in the element, so that it is never used again */
        g->v[p].alive = false;
        return true;
    }
    for (size_t k = first; k < end; k++)
        take_off(g, ((const uint32_t *)g->held.data)[k], stamp);
    for (size_t k = first; k < end; k++) {
        uint32_t u = ((const uint32_t *)g->held.data)[k];
        if (u < g->n_domains)
            renew(g, u, p, stamp);
        link made = {p, g->v[u].links};
        g->v[u].links = (uint32_t)g->links.n;
        if (!tm_vec_append(&g->links, &made, 1))
            return false;
    }
    return true;
}

bool tm_network_order(tm_network *w) {
    graph g;
    bool ok = make_graph(w, &g);
    for (uint32_t i = 0; i < g.n_domains && ok; i++) {
        while (g.by_degree[g.least] == NONE)
            g.least++;
        uint32_t p = g.by_degree[g.least];
        w->order[p] = i;
        ok = eliminate(&g, p, i + 1);
    }
    free_graph(&g);
    return ok;
}

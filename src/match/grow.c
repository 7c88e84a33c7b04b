#include "grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "link_test.h"

/* Up to this number of clusters, all pairs are compared. If there are more clusters, each of them
 * is compared only with the groups found so far. */
enum { FEW = 160 };

/* Evidence [bits] with which one pair of clusters proves any clock offset. For each of up to
 * FEW^2 / 2 pairs, about 3,000 offsets are tried (shift.h). So chance reaches 32 bits once in 30
 * jobs of that size, and once in 10^6 jobs of two clusters. */
static const double proof_bits = 32.0;

/* The clock offset between two slots. It comes from a join of two clusters of these slots. */
typedef struct tie {
    int64_t from, to;
    double offset_ns; /* clock of slot `to` minus clock of slot `from` */
    tm_link_test link_test;
} tie;

typedef struct garden {
    tm_cluster *clusters; /* [n]; a cluster that was merged into another one has no members */
    size_t n;
    const tm_growth *growth;
    tm_link_test *link_tests; /* [n x n] test of clusters i and j, for i < j */
    int64_t *partners;        /* [operations of the largest cluster] scratch */
    tm_vec ties;              /* vector of tie: one for each join so far */
} garden;

static tm_link_test *link_test_of(const garden *g, size_t i, size_t j) {
    return &g->link_tests[i < j ? i * g->n + j : j * g->n + i];
}

/* Returns whether cluster i is the base of the comparison with cluster j. The base is the cluster
 * with more operations. If both have the same number, this returns true for either order. */
static bool leads(const garden *g, size_t i, size_t j) {
    return g->clusters[i].run.n >= g->clusters[j].run.n;
}

static bool share_a_slot(const tm_cluster *a, const tm_cluster *b) {
    for (size_t i = 0; i < a->n_members; i++)
        for (size_t k = 0; k < b->n_members; k++)
            if (a->members[i].slot == b->members[k].slot)
                return true;
    return false;
}

/* Tests whether clusters i < j ran the same operations. Sets g->partners (see tm_bridge). */
static tm_status try_link_test(garden *g, size_t i, size_t j, tm_error *err) {
    const tm_cluster *a = &g->clusters[i], *b = &g->clusters[j];
    tm_link_test *link_test = link_test_of(g, i, j);
    *link_test = (tm_link_test){.state = TM_LINK_TEST_NONE};
    if (a->n_members == 0 || b->n_members == 0 || share_a_slot(a, b))
        return TM_OK;
    bool first = leads(g, i, j);
    return tm_link_test_try(first ? a : b, first ? b : a, g->growth->one_clock, g->partners,
                            link_test, err);
}

/* Returns the clock of cluster j minus the clock of cluster i. */
static double offset_between(const garden *g, size_t i, size_t j) {
    double offset = (double)link_test_of(g, i, j)->offset_ns;
    return leads(g, i < j ? i : j, i < j ? j : i) == (i < j) ? offset : -offset;
}

static int64_t slot_of(const garden *g, size_t i) {
    return g->clusters[i].members[0].slot;
}

static tie tie_of(const garden *g, size_t i, size_t j) {
    return (tie){slot_of(g, i), slot_of(g, j), offset_between(g, i, j), *link_test_of(g, i, j)};
}

static bool same_slots(const tie *a, const tie *b) {
    return a->from == b->from && a->to == b->to;
}

static bool agree(const tie *a, const tie *b) {
    double drift = fabs(a->link_test.drift) + fabs(b->link_test.drift);
    double slack = 5.0 * (double)(a->link_test.noise_ns + b->link_test.noise_ns) +
                   drift * fabs((double)(a->link_test.at_ns - b->link_test.at_ns));
    return fabs(a->offset_ns - b->offset_ns) <= slack;
}

/* Returns whether a second pair of clusters, from the same two slots as clusters i and j, confirms
 * the clock offset between these clusters. */
static bool is_reported_again(const garden *g, size_t i, size_t j) {
    tie own = tie_of(g, i, j);
    for (size_t k = 0; k < g->n; k++) {
        if (g->clusters[k].n_members == 0 || k == i || slot_of(g, k) != own.from)
            continue;
        for (size_t l = 0; l < g->n; l++) {
            if (g->clusters[l].n_members == 0 || l == j || l == k ||
                link_test_of(g, k, l)->state != TM_LINK_TEST_HOLDS)
                continue;
            tie other = tie_of(g, k, l);
            if (same_slots(&own, &other) && agree(&own, &other))
                return true;
        }
    }
    return false;
}

/* Returns whether two clusters may be joined. Their link test must hold, and their clock offset
 * must agree with earlier joins of the same slots. */
static bool may_join(const garden *g, size_t i, size_t j) {
    const tm_link_test *link_test = link_test_of(g, i, j);
    const tie *ties = g->ties.data;
    if (link_test->state != TM_LINK_TEST_HOLDS || g->growth->one_clock)
        return link_test->state == TM_LINK_TEST_HOLDS;
    const tie own = tie_of(g, i, j), back = tie_of(g, j, i);
    for (size_t k = 0; k < g->ties.n; k++) {
        if (same_slots(&own, &ties[k]))
            return agree(&own, &ties[k]);
        if (same_slots(&back, &ties[k]))
            return agree(&back, &ties[k]);
    }
    return llabs(link_test->offset_ns) <= g->growth->limit_ns || link_test->bits >= proof_bits ||
           is_reported_again(g, i, j);
}

/* Finds the pair of clusters with the most evidence. Of several pairs with equal evidence, takes
 * the pair whose ends are nearest, although nearness says little about groups that run in lockstep.
 * Returns false if no pair may be joined. */
static bool find_surest(const garden *g, size_t *a, size_t *b) {
    const tm_link_test *best = NULL;
    for (size_t i = 0; i < g->n; i++)
        for (size_t j = i + 1; j < g->n; j++) {
            const tm_link_test *link_test = link_test_of(g, i, j);
            bool after =
                best &&
                (link_test->bits < best->bits ||
                 (link_test->bits <= best->bits && link_test->distance_ns >= best->distance_ns));
            if (after || !may_join(g, i, j))
                continue;
            best = link_test;
            *a = i;
            *b = j;
        }
    return best != NULL;
}

/* Merges cluster j into cluster i. If @p retest, tests the merged cluster against all others. */
static tm_status join(garden *g, size_t i, size_t j, bool retest, tm_error *err) {
    TM_TRY(try_link_test(g, i, j, err));
    const tm_link_test *link_test = link_test_of(g, i, j);
    const tm_bridge bridge = {g->partners, link_test->offset_ns, link_test->at_ns,
                              link_test->drift};
    const tie made = tie_of(g, i, j);
    bool first = leads(g, i, j);
    if (!tm_vec_append(&g->ties, &made, 1))
        return tm_fail_memory(err);
    tm_cluster *a = &g->clusters[i], *b = &g->clusters[j], joined;
    TM_TRY(tm_cluster_join(first ? a : b, first ? b : a, &bridge, &joined, err));
    joined.bits = fmin(joined.bits, link_test->bits);
    tm_cluster_free(a);
    tm_cluster_free(b);
    *a = joined;
    for (size_t k = 0; k < g->n; k++) {
        *link_test_of(g, j, k) = (tm_link_test){.state = TM_LINK_TEST_NONE};
        if (k != i && retest)
            TM_TRY(try_link_test(g, i < k ? i : k, i < k ? k : i, err));
    }
    return TM_OK;
}

/* Marks two clusters as possibly incomplete if they may belong together and were not joined. */
static void mark_open(garden *g, size_t i, size_t j) {
    const tm_link_test *link_test = link_test_of(g, i, j);
    if (i != j && (link_test->state == TM_LINK_TEST_OPEN || link_test->state == TM_LINK_TEST_HOLDS))
        g->clusters[i].at_least = g->clusters[j].at_least = true;
}

/* Removes the clusters that were merged into others. This invalidates the link tests, because it
 * changes the indices of clusters. */
static void compact(garden *g) {
    size_t kept = 0;
    for (size_t i = 0; i < g->n; i++)
        if (g->clusters[i].n_members > 0)
            g->clusters[kept++] = g->clusters[i];
    g->n = kept;
}

/* Joins many clusters. Each cluster is compared only with the groups found so far, so the work is
 * groups x clusters. */
static tm_status grow_by_turns(garden *g, tm_error *err) {
    for (size_t i = 1; i < g->n; i++) {
        size_t best = i;
        for (size_t j = 0; j < i; j++) {
            TM_TRY(try_link_test(g, j, i, err));
            if (may_join(g, j, i) &&
                (best == i || link_test_of(g, j, i)->bits > link_test_of(g, best, i)->bits))
                best = j;
        }
        for (size_t j = 0; j < i; j++)
            if (j != best)
                mark_open(g, j, i);
        if (best < i)
            TM_TRY(join(g, best, i, false, err));
    }
    compact(g);
    return TM_OK;
}

static tm_status grow(garden *g, tm_error *err) {
    size_t i, j;
    if (g->n > FEW)
        TM_TRY(grow_by_turns(g, err));
    if (g->n > FEW)
        return TM_OK;
    for (i = 0; i < g->n; i++)
        for (j = i + 1; j < g->n; j++)
            TM_TRY(try_link_test(g, i, j, err));
    while (find_surest(g, &i, &j))
        TM_TRY(join(g, i, j, true, err));
    for (i = 0; i < g->n; i++)
        for (j = i + 1; j < g->n; j++)
            mark_open(g, i, j);
    compact(g);
    return TM_OK;
}

tm_status tm_clusters_grow(tm_vec *clusters, const tm_growth *growth, tm_error *err) {
    garden g = {
        .clusters = clusters->data, .n = clusters->n, .growth = growth, .ties = TM_VEC(tie)};
    size_t most = 0;
    for (size_t i = 0; i < g.n; i++)
        most = g.clusters[i].run.n > most ? g.clusters[i].run.n : most;
    g.link_tests = calloc(g.n * g.n + 1, sizeof *g.link_tests);
    g.partners = calloc(most + 1, sizeof *g.partners);
    tm_status status = g.link_tests && g.partners ? grow(&g, err) : tm_fail_memory(err);
    free(g.link_tests);
    free(g.partners);
    tm_vec_free(&g.ties);
    clusters->n = g.n;
    return status;
}

void tm_clusters_free(tm_vec *clusters) {
    for (size_t i = 0; i < clusters->n; i++)
        tm_cluster_free((tm_cluster *)clusters->data + i);
    tm_vec_free(clusters);
}

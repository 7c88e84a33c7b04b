#include "grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bond.h"

/* Up to this many clusters, all pairs are compared. */
enum { FEW = 160 };

/* Clock offset of two slots according to one join. */
typedef struct tie {
    int64_t from, to;
    double offset_ns; /* second clock minus first */
    tm_bond bond;
} tie;

typedef struct garden {
    tm_party *parties; /* [n]; no members: merged into another */
    size_t n;
    const tm_growth *growth;
    tm_bond *bonds;    /* [n x n] for i < j */
    int64_t *partners; /* [the largest number of operations] */
    tm_vec ties;       /* of tie: one for each join made */
} garden;

static tm_bond *bond_of(const garden *g, size_t i, size_t j) {
    return &g->bonds[i < j ? i * g->n + j : j * g->n + i];
}

/* Whether i is the base of the comparison: it has at least as many operations as j. */
static bool leads(const garden *g, size_t i, size_t j) {
    return g->parties[i].run.n >= g->parties[j].run.n;
}

static bool share_a_seat(const tm_party *a, const tm_party *b) {
    for (size_t i = 0; i < a->n_voices; i++)
        for (size_t k = 0; k < b->n_voices; k++)
            if (a->voices[i].seat == b->voices[k].seat)
                return true;
    return false;
}

/* Evaluates the pairing evidence of two clusters, i < j, and sets the partners. */
static tm_status try_bond(garden *g, size_t i, size_t j, tm_error *err) {
    const tm_party *a = &g->parties[i], *b = &g->parties[j];
    tm_bond *bond = bond_of(g, i, j);
    *bond = (tm_bond){.state = TM_BOND_NONE};
    if (a->n_voices == 0 || b->n_voices == 0 || share_a_seat(a, b))
        return TM_OK;
    bool first = leads(g, i, j);
    return tm_bond_try(first ? a : b, first ? b : a, g->growth->one_clock, g->partners, bond, err);
}

/* Returns the clock offset of j from i. */
static double offset_between(const garden *g, size_t i, size_t j) {
    double offset = (double)bond_of(g, i, j)->offset_ns;
    return leads(g, i < j ? i : j, i < j ? j : i) == (i < j) ? offset : -offset;
}

static int64_t seat_of(const garden *g, size_t i) {
    return g->parties[i].voices[0].seat;
}

static tie tie_of(const garden *g, size_t i, size_t j) {
    return (tie){seat_of(g, i), seat_of(g, j), offset_between(g, i, j), *bond_of(g, i, j)};
}

static bool same_seats(const tie *a, const tie *b) {
    return a->from == b->from && a->to == b->to;
}

static bool agree(const tie *a, const tie *b) {
    double drift = fabs(a->bond.drift) + fabs(b->bond.drift);
    double slack = 5.0 * (double)(a->bond.noise_ns + b->bond.noise_ns) +
                   drift * fabs((double)(a->bond.at_ns - b->bond.at_ns));
    return fabs(a->offset_ns - b->offset_ns) <= slack;
}

/* Whether another pair of clusters from the same two slots implies the same offset. */
static bool is_told_again(const garden *g, size_t i, size_t j) {
    tie own = tie_of(g, i, j);
    for (size_t k = 0; k < g->n; k++) {
        if (g->parties[k].n_voices == 0 || k == i || seat_of(g, k) != own.from)
            continue;
        for (size_t l = 0; l < g->n; l++) {
            if (g->parties[l].n_voices == 0 || l == j || l == k ||
                bond_of(g, k, l)->state != TM_BOND_HOLDS)
                continue;
            tie other = tie_of(g, k, l);
            if (same_seats(&own, &other) && agree(&own, &other))
                return true;
        }
    }
    return false;
}

/* Whether two clusters may be joined: earlier joins of their slots fix the clock offset. */
static bool may_join(const garden *g, size_t i, size_t j) {
    const tm_bond *bond = bond_of(g, i, j);
    const tie *ties = g->ties.data;
    if (bond->state != TM_BOND_HOLDS || g->growth->one_clock)
        return bond->state == TM_BOND_HOLDS;
    const tie own = tie_of(g, i, j), back = tie_of(g, j, i);
    for (size_t k = 0; k < g->ties.n; k++) {
        if (same_seats(&own, &ties[k]))
            return agree(&own, &ties[k]);
        if (same_seats(&back, &ties[k]))
            return agree(&back, &ties[k]);
    }
    return llabs(bond->offset_ns) <= g->growth->limit_ns || is_told_again(g, i, j);
}

/* Finds the pair with the most evidence; of equal pairs the one with the nearest ends, which carry
 * little information for groups in lockstep. False if no pair can be joined. */
static bool find_surest(const garden *g, size_t *a, size_t *b) {
    const tm_bond *best = NULL;
    for (size_t i = 0; i < g->n; i++)
        for (size_t j = i + 1; j < g->n; j++) {
            const tm_bond *bond = bond_of(g, i, j);
            bool behind =
                best && (bond->bits < best->bits ||
                         (bond->bits <= best->bits && bond->distance_ns >= best->distance_ns));
            if (behind || !may_join(g, i, j))
                continue;
            best = bond;
            *a = i;
            *b = j;
        }
    return best != NULL;
}

/* Merges j into i; re-evaluates the pairing evidence of the result if requested. */
static tm_status join(garden *g, size_t i, size_t j, bool anew, tm_error *err) {
    TM_TRY(try_bond(g, i, j, err));
    const tm_bond *bond = bond_of(g, i, j);
    const tm_bridge bridge = {g->partners, bond->offset_ns, bond->at_ns, bond->drift};
    const tie made = tie_of(g, i, j);
    bool first = leads(g, i, j);
    if (!tm_vec_append(&g->ties, &made, 1))
        return tm_fail_memory(err);
    tm_party *a = &g->parties[i], *b = &g->parties[j], joined;
    TM_TRY(tm_party_join(first ? a : b, first ? b : a, &bridge, &joined, err));
    joined.bits = fmin(joined.bits, bond->bits);
    tm_party_free(a);
    tm_party_free(b);
    *a = joined;
    for (size_t k = 0; k < g->n; k++) {
        *bond_of(g, j, k) = (tm_bond){.state = TM_BOND_NONE};
        if (k != i && anew)
            TM_TRY(try_bond(g, i < k ? i : k, i < k ? k : i, err));
    }
    return TM_OK;
}

/* Marks two clusters as possibly incomplete if their pairing stays open or must not be joined. */
static void mark_open(garden *g, size_t i, size_t j) {
    const tm_bond *bond = bond_of(g, i, j);
    if (i != j && (bond->state == TM_BOND_OPEN || bond->state == TM_BOND_HOLDS))
        g->parties[i].at_least = g->parties[j].at_least = true;
}

/* Removes merged clusters; invalidates the pairing evidence. */
static void compact(garden *g) {
    size_t kept = 0;
    for (size_t i = 0; i < g->n; i++)
        if (g->parties[i].n_voices > 0)
            g->parties[kept++] = g->parties[i];
    g->n = kept;
}

/* For many clusters: compares each one only with the groups before it, so that the work is groups x
 * clusters. */
static tm_status grow_by_turns(garden *g, tm_error *err) {
    for (size_t i = 1; i < g->n; i++) {
        size_t best = i;
        for (size_t j = 0; j < i; j++) {
            TM_TRY(try_bond(g, j, i, err));
            if (may_join(g, j, i) &&
                (best == i || bond_of(g, j, i)->bits > bond_of(g, best, i)->bits))
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
            TM_TRY(try_bond(g, i, j, err));
    while (find_surest(g, &i, &j))
        TM_TRY(join(g, i, j, true, err));
    for (i = 0; i < g->n; i++)
        for (j = i + 1; j < g->n; j++)
            mark_open(g, i, j);
    compact(g);
    return TM_OK;
}

tm_status tm_parties_grow(tm_vec *parties, const tm_growth *growth, tm_error *err) {
    garden g = {.parties = parties->data, .n = parties->n, .growth = growth, .ties = TM_VEC(tie)};
    size_t most = 0;
    for (size_t i = 0; i < g.n; i++)
        most = g.parties[i].run.n > most ? g.parties[i].run.n : most;
    g.bonds = calloc(g.n * g.n + 1, sizeof *g.bonds);
    g.partners = calloc(most + 1, sizeof *g.partners);
    tm_status status = g.bonds && g.partners ? grow(&g, err) : tm_fail_memory(err);
    free(g.bonds);
    free(g.partners);
    tm_vec_free(&g.ties);
    parties->n = g.n;
    return status;
}

void tm_parties_free(tm_vec *parties) {
    for (size_t i = 0; i < parties->n; i++)
        tm_party_free((tm_party *)parties->data + i);
    tm_vec_free(parties);
}

/* Normal equations of many domains: those of solve.h, kept sparse.
 *
 * An event of few domains puts entries between each two of them, as there. The common end of an
 * event of many stays an unknown of its own, which its domains' entries meet. Events of the same
 * domains that follow one another share such an unknown, a bin, where there are more of them than
 * can be afforded: then the matrix differs a little from the whole, in a way that depends on what
 * it is for (tm_network_plan).
 *
 * The same on every process, but for what is added; functions collective where they say so. */
#ifndef TMERGE_NETWORK_H
#define TMERGE_NETWORK_H

#include "base/keys.h"
#include "clock/ldl.h"
#include "clock/solve.h"

/** Events of at most so many domains get no bin. */
enum { TM_NETWORK_FEW = 8 };

/** Where an event is in the network. */
typedef struct tm_network_spot {
    uint32_t set;   /* of events of the same domains; TM_NETWORK_NO_SET: of few */
    uint32_t place; /* among those of the set, in the order of time */
} tm_network_spot;

#define TM_NETWORK_NO_SET UINT32_MAX

/** An event of many: identified by what was recorded, which is the same wherever it lies. */
typedef struct tm_network_key {
    uint64_t set;     /* hash of its domains */
    int64_t time_ns;  /* end of the lowest of them, recorded */
    uint64_t content; /* hash of all its ends */
} tm_network_key;

typedef struct tm_network_member {
    uint64_t set;
    int64_t domain;
} tm_network_member;

typedef struct tm_network_set {
    uint64_t hash;
    size_t members, n_members; /* first of `members`, how many */
    size_t keys, n_keys;       /* the same of `keys` */
    size_t first_bin, n_bins;
} tm_network_set;

/** What the bins' unknown is to be eliminated from. */
typedef enum tm_network_aim {
    TM_NETWORK_SOLVE, /* at least the matrix: steps with it are never too long */
    TM_NETWORK_BOUND  /* at most the matrix: variances by it are never too small */
} tm_network_aim;

typedef struct tm_network {
    int32_t n; /* domains; 0 before tm_network_join */
    tm_network_aim aim;
    tm_vec keys, members, sets;      /* of the types above; ascending once they are joined */
    tm_vec links;                    /* of uint64_t: lower domain << 32 | higher; likewise */
    tm_keys known_sets, known_links; /* until then: of this process */
    tm_vec roots;                    /* of int32_t: lowest domain of each component of several */
    int32_t *component;              /* [n] place in roots; -1 of those alone; owned */
    uint32_t *order;                 /* [n] place in the order of elimination; owned */
    uint32_t *set_of_bin;            /* owned, as are: */
    size_t *bin_at;                  /* first of a bin in `fixed` and in the entries of `ldl` */
    size_t *bin_entry;
    size_t *gauge_entry; /* [n] of a domain's shift; its rate's is the next */
    size_t n_bins, n_unknowns;
    tm_vec places;  /* of tm_ldl_place: of the entries */
    bool *pinned;   /* [n_unknowns] */
    int64_t *fixed; /* to be summed up over all processes */
    size_t n_fixed;
    double *right;    /* [2n] right side, then solution */
    double *known;    /* [2n] diagonal of the matrix with the bins' unknowns eliminated */
    double *solution; /* [unknowns of ldl] */
    tm_ldl ldl;
} tm_network;

/** Where an unknown stands in the order of elimination: 2h is the shift of domain h, 2h + 1 its
 * rate.
 */
static inline size_t tm_network_unknown(const tm_network *w, size_t r) {
    return 2 * (size_t)w->order[r / 2] + r % 2;
}

void tm_network_init(tm_network *w);
void tm_network_free(tm_network *w);

/**
 * Adds an event's domains to keys and members, or to links.
 * @param domains  [n] ascending, of its anchors  @param ends_ns  [n] recorded
 * @return         false when memory is out
 */
bool tm_network_meet(tm_network *w, const int32_t *domains, const int64_t *ends_ns, size_t n);

/** After the events of all processes came together in keys, members and links: makes sets of them.
 * @param strong  [n] lowest domain of each one's component  @return  false when memory is out */
bool tm_network_join(tm_network *w, int32_t n, const int32_t *strong);

/** Where an event is; as tm_network_meet. */
tm_network_spot tm_network_spot_of(const tm_network *w, const int32_t *domains,
                                   const int64_t *ends_ns, size_t n);

/**
 * Lays the matrix out. Where no bin has more than one event it is exact; else
 * - to solve, a bin's part of the matrix is what a common end of its events would leave:
 *   (sum u)(sum u)' / sum s is at most the sum of u u' / s, which is taken off;
 * - to bound, each domain's ends in a bin count as their mean alone, with its variance: whatever is
 *   linear in the ends tells less than they. Who lacks an event of the bin has no such mean.
 * @return  false when memory is out
 */
bool tm_network_plan(tm_network *w, tm_network_aim aim);

/** Zeroes `fixed`. */
void tm_network_clear(tm_network *w);

/** What tm_network_add and _expand need to know of the weights. */
typedef struct tm_network_scales {
    double of[2];    /* of matrix and right side, see tm_exact_scale */
    double least_ns; /* the least noise: variances are counted in its squares, */
    double bound;    /* with this scale */
} tm_network_scales;

/** The greatest variance of an end that counts, in squares of the least noise. */
#define TM_NETWORK_VAGUEST 1000.0

/** As tm_normal_add. */
void tm_network_add(tm_network *w, tm_network_spot spot, const tm_anchor *anchors, size_t n,
                    const tm_network_scales *scales);

/** After the reduction of `fixed`: sets matrix, `known` and `right` from it. */
void tm_network_expand(tm_network *w, const tm_network_scales *scales);

/** Adds to the diagonal of unknown @p r, and to its right side. */
void tm_network_prior(tm_network *w, size_t r, double weight, double right);

/** Adds @p weight times the square of the sum of a component's unknowns, each times its share:
 * shifts (@p which 0) or rates (1).
 * @param domains  [n] all of a component of several */
void tm_network_gauge(tm_network *w, const int32_t *domains, const double *shares, size_t n,
                      size_t which, double weight);

/** As tm_normal_pin, _factor, _solve. After the second: `right` is the solution. */
void tm_network_pin(tm_network *w, size_t r);
void tm_network_factor(tm_network *w);
void tm_network_solve(tm_network *w);

/** After the factorisation: all variances and covariances at once. Then, of one domain: variance of
 * the shift, covariance, variance of the rate. */
void tm_network_invert(tm_network *w);
void tm_network_covariance(const tm_network *w, int32_t domain, double out[3]);

#endif

/* Normal equations of many domains. They are as in solve.h, but sparse. An event of few domains
 * adds entries for each pair of its domains. For an event of many domains, the common end is an
 * additional unknown, which is called a bin and is linked to the domains. If there are too many
 * such events, consecutive events of the same domains share a bin. The matrix is then not exact,
 * but it is known in which direction it is wrong (tm_network_plan). Only the sums in `fixed` differ
 * between processes, until they are added up. */
#ifndef TMERGE_NETWORK_H
#define TMERGE_NETWORK_H

#include "base/keys.h"
#include "clock/ldl.h"
#include "clock/solve.h"

/** Events of more domains than this get a bin. */
enum { TM_NETWORK_FEW = 8 };

/** Position of an event in the network. */
typedef struct tm_network_spot {
    /* the set of events that have the same domains as this event; TM_NETWORK_NO_SET if the event
     * has few domains */
    uint32_t set;
    uint32_t place; /* index within the set, by time */
} tm_network_spot;

#define TM_NETWORK_NO_SET UINT32_MAX

/** Key of an event of many domains, independent of where the event is stored. */
typedef struct tm_network_key {
    uint64_t set;     /* hash of the event's domains */
    int64_t time_ns;  /* recorded end of the event's lowest domain */
    uint64_t content; /* hash of all ends of the event */
} tm_network_key;

typedef struct tm_network_member {
    uint64_t set;
    int64_t domain;
} tm_network_member;

typedef struct tm_network_set {
    uint64_t hash;
    size_t members, n_members; /* range in `members` */
    size_t keys, n_keys;       /* range in `keys` */
    size_t first_bin, n_bins;
} tm_network_set;

/** Purpose of the matrix. Once the bins' unknowns are eliminated, the matrix may differ from the
 * exact matrix, and the purpose decides in which direction. */
typedef enum tm_network_aim {
    /* The matrix is not smaller than the exact matrix. Steps computed with it are therefore not too
     * long. */
    TM_NETWORK_SOLVE,
    /* The matrix is not larger than the exact matrix. Variances computed with it are therefore not
     * too small. */
    TM_NETWORK_BOUND
} tm_network_aim;

typedef struct tm_network {
    int32_t n; /* number of domains; 0 before tm_network_join */
    tm_network_aim aim;
    /* Vectors of tm_network_key, tm_network_member and tm_network_set. They ascend after
     * tm_network_join. */
    tm_vec keys, members, sets;
    /* vector of uint64_t: lower domain << 32 | higher; ascending after tm_network_join */
    tm_vec links;
    /* Only this process's sets and links. They are used only before tm_network_join. */
    tm_keys known_sets, known_links;
    tm_vec roots; /* vector of int32_t: lowest domain of each component with several domains */
    int32_t *component;   /* [n] index in roots of the domain's component; -1 if the domain is
                             alone; owned */
    uint32_t *order;      /* [n] position of each domain in the elimination order; owned */
    uint32_t *set_of_bin; /* [n_bins] set of the bin; owned, like the next three */
    size_t *bin_at;       /* [n_bins] where the bin starts in `fixed` */
    size_t *bin_entry;
    /* [n] index of the entry that gauges the domain's shift; the next entry gauges its rate */
    size_t *gauge_entry;
    size_t n_bins, n_unknowns;
    tm_vec places;  /* vector of tm_ldl_place: places of the entries */
    bool *pinned;   /* [n_unknowns] */
    int64_t *fixed; /* [n_fixed] summed over all processes */
    size_t n_fixed;
    double *right;    /* [2n] right side, then solution */
    double *known;    /* [2n] diagonal of the matrix once the bins' unknowns are eliminated */
    double *solution; /* [unknowns of ldl] */
    tm_ldl ldl;
} tm_network;

/** Returns the position of an unknown in the elimination order: 2h is the shift of domain h, 2h + 1
 * its rate. */
static inline size_t tm_network_unknown(const tm_network *w, size_t r) {
    return 2 * (size_t)w->order[r / 2] + r % 2;
}

void tm_network_init(tm_network *w);
void tm_network_free(tm_network *w);

/**
 * Adds an event. If the event has many domains, it is added to the keys, and its domains are added
 * to the members. If it has few domains, each pair of its domains is added to the links.
 * @param domains  [n] domains of the event's anchors, ascending
 * @param ends_ns  [n] recorded ends
 * @return         false if out of memory
 */
bool tm_network_meet(tm_network *w, const int32_t *domains, const int64_t *ends_ns, size_t n);

/** Builds the sets. Keys, members and links of all processes must have been gathered.
 * @param strong  [n] lowest domain of the domain's component
 * @return        false if out of memory */
bool tm_network_join(tm_network *w, int32_t n, const int32_t *strong);

/** Returns the position of an event in the network. The parameters are those of tm_network_meet. */
tm_network_spot tm_network_spot_of(const tm_network *w, const int32_t *domains,
                                   const int64_t *ends_ns, size_t n);

/**
 * Plans the matrix. The matrix is exact if no bin has more than one event. Otherwise, it differs
 * from the exact matrix:
 * - For solving, the events of a bin are treated as if they had a common end. For each event, let u
 *   = sum w J and s = sum w (see tm_normal_add). The matrix then subtracts (sum u)(sum u)' / sum s,
 *   which is at most the exact sum of u u' / s.
 * - For bounding, the ends of a domain in a bin are replaced by their mean and the variance of this
 *   mean. These hold less information. A domain that lacks an event of the bin is left out of the
 *   bin.
 *
 * @return false if out of memory
 */
bool tm_network_plan(tm_network *w, tm_network_aim aim);

/** Zeroes `fixed`. */
void tm_network_clear(tm_network *w);

/** tm_network_add multiplies its sums by these factors, which makes them integers.
 * tm_network_expand divides by the same factors. */
typedef struct tm_network_scales {
    double of[2];    /* for matrix and right side; see tm_exact_scale */
    double least_ns; /* lowest noise of any class; its square is the unit of variances */
    double bound;    /* factor for the sums of TM_NETWORK_BOUND */
} tm_network_scales;

/** An end is not used if its variance is larger than this. The unit is the square of the lowest
 * noise. */
#define TM_NETWORK_VAGUEST 1000.0

/** Adds one event to `fixed`, like tm_normal_add. */
void tm_network_add(tm_network *w, tm_network_spot spot, const tm_anchor *anchors, size_t n,
                    const tm_network_scales *scales);

/** Sets matrix, `known` and `right` from `fixed`, which must have been summed over all processes.
 */
void tm_network_expand(tm_network *w, const tm_network_scales *scales);

/** Adds a prior to the diagonal and the right side of unknown @p r. */
void tm_network_prior(tm_network *w, size_t r, double weight, double right);

/** Adds the term @p weight (sum of shares[i] u[i])^2 to the function that is minimised. If @p which
 * is 0, u[i] is the shift of domains[i]. If it is 1, u[i] is the rate of domains[i].
 * @param domains  [n] all domains of a component with several domains */
void tm_network_gauge(tm_network *w, const int32_t *domains, const double *shares, size_t n,
                      size_t which, double weight);

/** These functions are like tm_normal_pin, tm_normal_factor and tm_normal_solve. After
 * tm_network_solve, `right` is the solution. */
void tm_network_pin(tm_network *w, size_t r);
void tm_network_factor(tm_network *w);
void tm_network_solve(tm_network *w);

/** tm_network_invert computes the variances and covariances of all domains at once.
 * tm_network_factor must be called before. tm_network_covariance then returns three values for one
 * domain: the variance of the shift, the covariance, and the variance of the rate. */
void tm_network_invert(tm_network *w);
void tm_network_covariance(const tm_network *w, int32_t domain, double out[3]);

#endif

/* Extra work: work of a rank that most ranks of its role do not run, such as debug hooks, an
 * evaluation or logging.
 *
 * The places of such work are rare: they have no peers to compare. Therefore, totals are compared:
 * each rank's total work in a step at all places that some rank lacks. A rank that does more work
 * than its peers has a larger total. A rank that only runs other kernels than its peers, because it
 * was compiled differently, has about the same total. */
#ifndef TMERGE_REPLAY_EXTRAS_H
#define TMERGE_REPLAY_EXTRAS_H

#include <math.h>
#include <stdint.h>

#include "base/vec.h"

/** Number of values of tm_place_step. */
enum { TM_EXTRA_STEPS = 256 };

/** Flags of places. */
enum {
    TM_EXTRA_RARE = 1, /* rare: most ranks of the role lack the place */
    TM_EXTRA_PAIR = 2, /* the role has two ranks */
    /* some rank lacks the place, and the role's total work at such places is compared */
    TM_EXTRA_COUNTED = 4
};

/** How a rank's work compares with the work of its peers. The first index of an array is 0 for
 * events and 1 for calls. The second index is the tm_place_step of a step. */
typedef struct tm_extra_factors {
    size_t index; /* index of the rank in its process */
    /* The rank's time at rare places, multiplied by this factor, is the time of the work that its
     * peers run instead. NaN: unknown. */
    double of[2][TM_EXTRA_STEPS];
    /* how much longer the rank's work takes than its peers' work, over all places */
    int64_t most_ns[2][TM_EXTRA_STEPS];
} tm_extra_factors;

/** Extra work of a rank in a step. Sent as bytes. */
typedef struct tm_extra_row {
    int64_t rank, step;
    int64_t n; /* number of the rank's events at rare places */
    /* Time of these events, minus the time of the work that peers run instead. At most the time by
     * which all events of the rank in the step take longer than the events of its peers. */
    int64_t ns;
    int64_t calls_ns; /* as `ns`, but for calls and the host time before calls */
    /* The name with the largest part of `ns`: its id (-1 if n is 0), the number of its events, and
     * its part of `ns`. */
    int64_t name, name_n, name_ns;
} tm_extra_row;

typedef struct tm_extras {
    uint8_t *flags; /* owned; [places] flags; NULL: no place has flags */
    tm_vec factors; /* vector of tm_extra_factors, ascending in index */
} tm_extras;

#define TM_EXTRAS() ((tm_extras){.factors = TM_VEC(tm_extra_factors)})

void tm_extras_free(tm_extras *extras);

/**
 * Returns the factors of a rank; NULL if it has none.
 *
 * @param index  index of the rank in its process
 */
const tm_extra_factors *tm_extras_of(const tm_extras *extras, size_t index);

/**
 * Returns the factor of a rare place. Returns NaN for other places, which are compared one by one.
 *
 * @param factors  factors of the rank; may be NULL
 */
static inline double tm_extras_factor(const tm_extras *extras, const tm_extra_factors *factors,
                                      uint32_t place, unsigned step, bool call) {
    return factors && extras->flags[place] & TM_EXTRA_RARE ? factors->of[call][step] : (double)NAN;
}

static inline bool tm_extras_is_pair(const tm_extras *extras, uint32_t place) {
    return extras->flags && extras->flags[place] & TM_EXTRA_PAIR;
}

static inline bool tm_extras_counted(const tm_extras *extras, uint32_t place) {
    return extras->flags && extras->flags[place] & TM_EXTRA_COUNTED;
}

static inline int64_t tm_extras_ns(int64_t ns, double factor) {
    return (int64_t)((double)ns * factor);
}

#endif

/* Work of a rank that most ranks of its role do not run: debug hooks, an evaluation, logging. Such
 * places have no peers to compare. So the rank's total work in a step, over all places that some
 * rank lacks, is compared with that of the other ranks. A rank that does additional work exceeds
 * them. A rank that only runs other kernels than its peers, because it was compiled differently,
 * does not. */
#ifndef TMERGE_REPLAY_EXTRAS_H
#define TMERGE_REPLAY_EXTRAS_H

#include <math.h>

#include "base/vec.h"
#include "tmerge/status.h"

/** Number of values of tm_place_step. */
enum { TM_EXTRA_STEPS = 256 };

/** Flags of places. */
enum {
    TM_EXTRA_RARE = 1,   /* most ranks of the role lack the place */
    TM_EXTRA_PAIR = 2,   /* the role has two ranks */
    TM_EXTRA_COUNTED = 4 /* some rank lacks the place, and work at such places is compared */
};

/** Factors that turn a rank's time at rare places into the time of the work that its peers run
 * instead: for events and for calls, by tm_place_step. NaN if unknown. */
typedef struct tm_extra_factors {
    size_t index; /* index of the rank among those of its process */
    double of[2][TM_EXTRA_STEPS];
    /* how much longer all its work takes than that of its peers */
    int64_t most_ns[2][TM_EXTRA_STEPS];
} tm_extra_factors;

/** Work in a step that a rank runs in addition to that of its peers. Sent as bytes. */
typedef struct tm_extra_row {
    int64_t rank, step;
    int64_t n;        /* number of events at rare places */
    int64_t ns;       /* time of these events, minus the time of what peers run instead; at most the
                         excess of all the rank's events */
    int64_t calls_ns; /* the same for the host: calls and the time before them */
    int64_t name, name_n,
        name_ns; /* name with the largest share: id (-1 if n is 0), number of events, time */
} tm_extra_row;

typedef struct tm_extras {
    uint8_t *flags; /* owned; flags by place number; NULL: no place has flags */
    tm_vec factors; /* of tm_extra_factors, ascending in index */
} tm_extras;

#define TM_EXTRAS() ((tm_extras){.factors = TM_VEC(tm_extra_factors)})

void tm_extras_free(tm_extras *extras);

/** Returns the factors of a rank, or NULL. @param index  of the rank in its process */
const tm_extra_factors *tm_extras_of(const tm_extras *extras, size_t index);

/** Returns the factor of a place; NaN if it is compared like any other place.
 * @param factors of the rank; may be NULL */
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

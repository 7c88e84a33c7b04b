/* What a rank runs that most ranks of its role do not: debug hooks, an evaluation, logging. Such
 * places have no peers. What takes the place of them is what ranks do in the same step at all
 * places that not all of them have: a rank that was compiled to other kernels than its peers does
 * not do more than they, and one that runs what they do without takes all of that longer. */
#ifndef TMERGE_REPLAY_EXTRAS_H
#define TMERGE_REPLAY_EXTRAS_H

#include <math.h>

#include "base/vec.h"
#include "tmerge/status.h"

/** Steps that are told apart (tm_place_step). */
enum { TM_EXTRA_STEPS = 256 };

/** Of places; bits. */
enum {
    TM_EXTRA_RARE = 1,   /* most ranks of the role have none there */
    TM_EXTRA_PAIR = 2,   /* the role has two ranks */
    TM_EXTRA_COUNTED = 4 /* not all ranks have it, and what they do there is compared */
};

/** What a rank's rare places would take, were it as its peers: times this, by call and
 * tm_place_step; NaN where that is not known. */
typedef struct tm_extra_factors {
    size_t index; /* which of the process's ranks */
    double of[2][TM_EXTRA_STEPS];
    int64_t most_ns[2][TM_EXTRA_STEPS]; /* of all its places: what it takes longer than peers */
} tm_extra_factors;

/** How much of what a rank runs in a step its peers do not. Sent as bytes. */
typedef struct tm_extra_row {
    int64_t rank, step;
    int64_t n;        /* events at rare places */
    int64_t ns;       /* what they take longer than what peers do instead, at most what the rank's
                         events take longer in all */
    int64_t calls_ns; /* likewise, of the host: in calls and before them */
    int64_t name, name_n, name_ns; /* the name with most of that: id; -1 where n is 0 */
} tm_extra_row;

typedef struct tm_extras {
    uint8_t *flags; /* owned; by number of the place; NULL for none */
    tm_vec factors; /* of tm_extra_factors, ascending in index */
} tm_extras;

#define TM_EXTRAS() ((tm_extras){.factors = TM_VEC(tm_extra_factors)})

void tm_extras_free(tm_extras *extras);

/** The factors of a rank; NULL where it has none. @param index  which of the process's ranks */
const tm_extra_factors *tm_extras_of(const tm_extras *extras, size_t index);

/** NaN where a place is compared as any other. @param factors  of the rank; may be NULL */
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

#include "order.h"

#include <math.h>
#include <stdlib.h>

#include "run.h"

enum {
    SAMPLES = 64, /* that the offset of the clocks is taken from */
    PLACES = 8,   /* that an end is looked for before and behind its own */
    SHIFTS = 64,  /* of a whole sequence that are tried */
    LEAST = 10,   /* ends that a shift must leave to compare */
    BETTER = 5    /* times smaller is the spread at the shift that is right */
};

/* What end noise a profiler leaves at best: smaller spreads are equal. */
static const int64_t least_spread_ns = 1000;

/* Ends within it are the same; also the noise of what clocks leave after offset and drift. */
static const int64_t same_ns = 100000;

typedef struct line {
    int64_t at_ns, offset_ns;
    double drift;
} line;

static int64_t offset_of(const tm_end *a, const tm_end *b, size_t from, size_t n) {
    int64_t offsets[SAMPLES];
    size_t m = n < SAMPLES ? n : SAMPLES;
    for (size_t k = 0; k < m; k++) {
        size_t i = from + (n > SAMPLES ? tm_run_sample(k, n) : k);
        offsets[k] = b[i].end_ns - a[i].end_ns;
    }
    return tm_run_median(offsets, m);
}

/* Drift makes the offsets of the first and the last third differ. */
static line fit(const tm_end *a, const tm_end *b, size_t n) {
    line l = {.at_ns = a[n / 2].end_ns, .offset_ns = offset_of(a, b, 0, n)};
    size_t third = n / 3;
    if (third < 2)
        return l;
    int64_t before = offset_of(a, b, 0, third), behind = offset_of(a, b, n - third, third);
    int64_t apart = a[n - third / 2 - 1].end_ns - a[third / 2].end_ns;
    if (apart > 0)
        l.drift = fmin(fmax((double)(behind - before) / (double)apart, -200e-6), 200e-6);
    return l;
}

/* What is to be added to a's times at place i for b's clock. */
static int64_t offset_at(const line *l, const tm_end *a, size_t i) {
    return l->offset_ns + llround(l->drift * (double)(a[i].end_ns - l->at_ns));
}

/* How far b's end at place j lies from where a's at place i says. */
static int64_t distance(const tm_end *a, const tm_end *b, size_t i, size_t j, const line *l) {
    return llabs(b[j].end_ns - a[i].end_ns - offset_at(l, a, i));
}

/* Distances of ends at one place; returns how many. */
static size_t distances_of(const tm_end *a, const tm_end *b, size_t n, int64_t out[SAMPLES]) {
    line l = fit(a, b, n);
    size_t m = n < SAMPLES ? n : SAMPLES;
    for (size_t k = 0; k < m; k++) {
        size_t i = n > SAMPLES ? tm_run_sample(k, n) : k;
        out[k] = distance(a, b, i, i, &l);
    }
    return m;
}

static int64_t spread_of(const tm_end *a, const tm_end *b, size_t n) {
    int64_t distances[SAMPLES];
    int64_t spread = tm_run_median(distances, distances_of(a, b, n, distances));
    return spread > least_spread_ns ? spread : least_spread_ns;
}

/* Whether the median is at most so much. */
static bool is_within(const tm_end *a, const tm_end *b, size_t n, int64_t most_ns) {
    int64_t distances[SAMPLES];
    size_t m = distances_of(a, b, n, distances), within = 0;
    for (size_t k = 0; k < m; k++)
        within += distances[k] <= most_ns;
    return within > (m - 1) / 2;
}

/* Whether the whole of one sequence lies better at other places of the other. */
static bool is_better_shifted(const tm_end *a, const tm_end *b, size_t n) {
    int64_t spread = spread_of(a, b, n);
    for (size_t s = 1; s <= SHIFTS && s + LEAST <= n && spread >= BETTER * least_spread_ns; s++)
        if (is_within(a + s, b, n - s, spread / BETTER) ||
            is_within(a, b + s, n - s, spread / BETTER))
            return true;
    return false;
}

/* A quarter of the way to the next end, at most. */
static int64_t reach(const tm_end *a, size_t i, size_t n) {
    int64_t least = 4 * same_ns;
    if (i > 0 && a[i].end_ns - a[i - 1].end_ns < least)
        least = a[i].end_ns - a[i - 1].end_ns;
    if (i + 1 < n && a[i + 1].end_ns - a[i].end_ns < least)
        least = a[i + 1].end_ns - a[i].end_ns;
    return least / 4;
}

static bool meets(const tm_end *a, const tm_end *b, size_t i, size_t n, const line *l) {
    return distance(a, b, i, i, l) <= reach(a, i, n);
}

/* Whether a's kernel is another one of b. */
static bool is_shifted(const tm_end *a, const tm_end *b, size_t i, size_t n, const line *l) {
    int64_t near = reach(a, i, n);
    for (size_t j = i > PLACES ? i - PLACES : 0; j <= i + PLACES && j < n; j++)
        if (j != i && distance(a, b, i, j, l) <= near)
            return true;
    return false;
}

/* Whether nobody can have been in an operation of both while their neighbours were: then each lacks
 * the one that the other has. */
static bool is_swapped(const tm_end *a, const tm_end *b, size_t i, size_t n, const line *l) {
    int64_t offset = offset_at(l, a, i);
    bool apart = a[i].end_ns + offset < b[i].begin_ns || b[i].end_ns < a[i].begin_ns + offset;
    return a[i].synchronises && apart && (i == 0 || meets(a, b, i - 1, n, l)) &&
           (i + 1 == n || meets(a, b, i + 1, n, l));
}

bool tm_order_holds(const tm_end *a, const tm_end *b, size_t n) {
    if (n < 2)
        return true;
    if (is_better_shifted(a, b, n))
        return false;
    line l = fit(a, b, n);
    for (size_t i = 0; i < n; i++)
        if (!meets(a, b, i, n, &l) && (is_shifted(a, b, i, n, &l) || is_swapped(a, b, i, n, &l)))
            return false;
    return true;
}

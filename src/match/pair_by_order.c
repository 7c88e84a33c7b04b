#include "pair_by_order.h"

#include <math.h>
#include <stdlib.h>

#include "run.h"

enum {
    SAMPLES = 64, /* number of ends from which the clock offset is estimated */
    /* an end is compared with ends up to this many places away */
    PLACES = 8,
    SHIFTS = 64, /* maximum shift, in places, of a whole sequence */
    LEAST = 10,  /* minimum number of ends left to compare after a shift */
    BETTER = 5,  /* factor by which the spread must be smaller at a correct shift */
    APART = 8 /* if host threads run the operations: one in this many may have kernels that do not
                 overlap */
};

/* Lower limit of a spread: every profiler's ends have at least this noise. */
static const int64_t least_spread_ns = 1000;

/* Ends count as equal up to this difference, which clocks may have even after offset and drift are
 * removed. */
static const int64_t same_ns = 100000;

typedef struct line {
    int64_t at_ns, offset_ns;
    double drift;
} line;

/* Two sequences to compare, and the relation of their clocks. */
typedef struct sight {
    const tm_end *a, *b;
    size_t n;
    bool met; /* compare only the ends of synchronising kernels */
    line line;
} sight;

/* Returns whether the ends at a place should agree. The ends of a broadcast need not, because its
 * ranks do not wait for each other: a late rank may leave one broadcast when other ranks leave the
 * next. */
static bool tells(const sight *s, size_t i) {
    return !s->met || s->a[i].synchronises;
}

/* Returns the next place at which the ends should agree. Searches after place i if @p after is
 * set, else before place i. Returns n if there is no such place. */
static size_t beside(const sight *s, size_t i, bool after) {
    do {
        if (after ? i + 1 == s->n : i == 0)
            return s->n;
        i = after ? i + 1 : i - 1;
    } while (!tells(s, i));
    return i;
}

/* Sets *out to the median difference of the ends in [from, to). Returns false if none of these ends
 * should agree. */
static bool offset_of(const sight *s, size_t from, size_t to, int64_t *out) {
    int64_t offsets[SAMPLES];
    size_t n = to - from, m = n < SAMPLES ? n : SAMPLES, found = 0;
    for (size_t k = 0; k < m; k++) {
        size_t i = from + (n > SAMPLES ? tm_run_sample(k, n) : k);
        if (n > SAMPLES && !tells(s, i))
            i = beside(s, i, true);
        if (i < to && tells(s, i))
            offsets[found++] = s->b[i].end_ns - s->a[i].end_ns;
    }
    *out = tm_run_median(offsets, found);
    return found > 0;
}

/* Fits offset and drift. The drift is the change of the offset from the first third to the last. */
static line fit(const sight *s) {
    size_t n = s->n, third = n / 3;
    line l = {.at_ns = s->a[n / 2].end_ns};
    int64_t before, after;
    (void)offset_of(s, 0, n, &l.offset_ns);
    if (third < 2 || !offset_of(s, 0, third, &before) || !offset_of(s, n - third, n, &after))
        return l;
    int64_t apart = s->a[n - third / 2 - 1].end_ns - s->a[third / 2].end_ns;
    if (apart > 0)
        l.drift = fmin(fmax((double)(after - before) / (double)apart, -200e-6), 200e-6);
    return l;
}

/* Returns b's clock minus a's clock, at place i. */
static int64_t offset_at(const sight *s, size_t i) {
    return s->line.offset_ns + llround(s->line.drift * (double)(s->a[i].end_ns - s->line.at_ns));
}

/* Returns the distance of b's end at place j from a's end at place i, on one clock. */
static int64_t distance(const sight *s, size_t i, size_t j) {
    return llabs(s->b[j].end_ns - s->a[i].end_ns - offset_at(s, i));
}

/* Computes the distances between the ends at equal places, for at most SAMPLES places. Returns the
 * number of distances. */
static size_t distances_of(const tm_end *a, const tm_end *b, size_t n, int64_t out[SAMPLES]) {
    sight s = {.a = a, .b = b, .n = n};
    size_t m = n < SAMPLES ? n : SAMPLES;
    s.line = fit(&s);
    for (size_t k = 0; k < m; k++) {
        size_t i = n > SAMPLES ? tm_run_sample(k, n) : k;
        out[k] = distance(&s, i, i);
    }
    return m;
}

static int64_t spread_of(const tm_end *a, const tm_end *b, size_t n) {
    int64_t distances[SAMPLES];
    int64_t spread = tm_run_median(distances, distances_of(a, b, n, distances));
    return spread > least_spread_ns ? spread : least_spread_ns;
}

/* Returns whether the median distance is at most @p most_ns. */
static bool is_within(const tm_end *a, const tm_end *b, size_t n, int64_t most_ns) {
    int64_t distances[SAMPLES];
    size_t m = distances_of(a, b, n, distances), within = 0;
    for (size_t k = 0; k < m; k++)
        within += distances[k] <= most_ns;
    return within > (m - 1) / 2;
}

/* Returns whether the two kernels of nearly every synchronising operation overlap if b's clock is
 * ahead by @p ahead_ns. */
static bool ran_together(const tm_end *a, const tm_end *b, size_t n, int64_t ahead_ns) {
    size_t apart = 0;
    for (size_t i = 0; i < n; i++)
        apart += a[i].synchronises &&
                 (b[i].begin_ns > a[i].end_ns + ahead_ns || a[i].begin_ns + ahead_ns > b[i].end_ns);
    return APART * apart <= n;
}

/* Returns whether the two sequences fit much better if one of them is shifted as a whole. The ends
 * of host threads scatter, so a few ends may fit a wrong shift by chance. For this reason, if the
 * unshifted kernels overlap on the recorded clocks, a shift counts only if the shifted kernels
 * overlap, too. */
static bool is_better_shifted(const tm_end *a, const tm_end *b, size_t n) {
    const int64_t spread = spread_of(a, b, n), most_ns = spread / BETTER;
    const bool on_host = a->on_host && b->on_host && ran_together(a, b, n, 0);
    for (size_t s = 1; s <= SHIFTS && s + LEAST <= n && spread >= BETTER * least_spread_ns; s++)
        for (int first = 0; first < 2; first++) {
            const tm_end *x = first ? a + s : a, *y = first ? b : b + s;
            if ((!on_host || ran_together(x, y, n - s, 0)) && is_within(x, y, n - s, most_ns))
                return true;
        }
    return false;
}

/* Returns a quarter of the distance from the end at place i to the nearest end that should agree.
 * The result is at most same_ns. */
static int64_t reach(const sight *s, size_t i) {
    int64_t least = 4 * same_ns;
    for (int after = 0; after < 2; after++) {
        size_t next = beside(s, i, after);
        int64_t apart = next < s->n ? llabs(s->a[next].end_ns - s->a[i].end_ns) : least;
        least = apart < least ? apart : least;
    }
    return least / 4;
}

/* Returns whether the ends at a place agree; true for a place that does not exist. */
static bool meets(const sight *s, size_t i) {
    return i == s->n || distance(s, i, i) <= reach(s, i);
}

/* Returns whether the end of a's kernel at place i matches the end of a kernel of b at another
 * place. */
static bool is_shifted(const sight *s, size_t i) {
    int64_t near = reach(s, i);
    for (int after = 0; after < 2; after++) {
        size_t j = beside(s, i, after);
        for (size_t k = 0; k < PLACES && j < s->n; k++, j = beside(s, j, after))
            if (distance(s, i, j) <= near)
                return true;
    }
    return false;
}

/* Returns whether the two kernels at place i cannot have overlapped, although the kernels before
 * and after them agree. Each sequence then has an operation at this place that the other sequence
 * lacks. */
static bool is_swapped(const sight *s, size_t i) {
    const tm_end *a = &s->a[i], *b = &s->b[i];
    int64_t offset = offset_at(s, i);
    bool apart = a->end_ns + offset < b->begin_ns || b->end_ns < a->begin_ns + offset;
    return a->synchronises && apart && meets(s, beside(s, i, false)) &&
           meets(s, beside(s, i, true));
}

static bool any_synchronises(const tm_end *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (a[i].synchronises)
            return true;
    return false;
}

bool tm_order_holds(const tm_end *a, const tm_end *b, size_t n) {
    sight s = {.a = a, .b = b, .n = n, .met = any_synchronises(a, n)};
    int64_t ahead_ns = 0;
    if (n < 2)
        return true;
    if (is_better_shifted(a, b, n))
        return false;
    if (a->on_host && b->on_host)
        return ran_together(a, b, n, 0) ||
               (offset_of(&s, 0, n, &ahead_ns) && ran_together(a, b, n, ahead_ns));
    s.line = fit(&s);
    for (size_t i = 0; i < n; i++)
        if (tells(&s, i) && !meets(&s, i) && (is_shifted(&s, i) || is_swapped(&s, i)))
            return false;
    return true;
}

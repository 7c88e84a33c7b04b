#include "pairing.h"

#include <math.h>
#include <stdlib.h>

#include "band.h"
#include "base/median.h"
#include "pair_by_order.h"
#include "shift.h"

enum {
    PLACES = 16,  /* maximum shift of a run, in places */
    SAMPLES = 96, /* number of pairs from which a distance is measured */
    BETTER = 5,   /* at a wrong shift, ends are at least this many times as far apart */
    LEAST = 4     /* minimum number of kernels left to compare after a shift */
};

/* Lower limit of a distance: every profiler's ends have at least this noise. */
static const int64_t least_distance_ns = 1000;

/* A shift to evaluate. It moves the partner of every kernel by `places` places. */
typedef struct shifted {
    const tm_run *a, *b;
    const int64_t *partners; /* NULL: kernels at equal places are partners */
    int64_t places;
} shifted;

/* Returns the index of b's kernel that is paired with kernel i of a; -1 if there is none. */
static int64_t partner_of(const shifted *s, size_t i) {
    int64_t j = s->partners ? s->partners[i] : (int64_t)i;
    if (j < 0 || j + s->places < 0 || j + s->places >= (int64_t)s->b->n)
        return -1;
    return j + s->places;
}

/* Samples up to SAMPLES pairs of kernels. Sets `at` to the end of a's kernel, and `off` to the end
 * of b's kernel minus `at`. Sets *n_pairs to the number of all pairs. Returns the number of
 * samples. */
static size_t sample(const shifted *s, int64_t at[SAMPLES], int64_t off[SAMPLES], size_t *n_pairs) {
    size_t n = 0, wanted = 0, pairs = 0;
    for (size_t i = 0; i < s->a->n; i++)
        pairs += partner_of(s, i) >= 0;
    *n_pairs = pairs;
    for (size_t i = 0, k = 0; i < s->a->n && n < SAMPLES; i++) {
        int64_t j = partner_of(s, i);
        if (j < 0)
            continue;
        wanted = pairs > SAMPLES ? n * pairs / SAMPLES : n;
        if (k++ < wanted)
            continue;
        at[n] = s->a->marks[i].end_ns;
        off[n] = s->b->marks[j].end_ns - at[n];
        n++;
    }
    return n;
}

/* Returns the drift: the slope between the medians of the first and the last third. */
static double slope_of(const int64_t *at, const int64_t *off, size_t n) {
    int64_t before[SAMPLES], after[SAMPLES];
    size_t third = n / 3;
    for (size_t i = 0; i < third; i++) {
        before[i] = off[i];
        after[i] = off[n - third + i];
    }
    int64_t apart = third > 1 ? at[n - third / 2 - 1] - at[third / 2] : 0;
    if (apart <= 0)
        return 0.0;
    int64_t rise = tm_run_median(after, third) - tm_run_median(before, third);
    return fmin(fmax((double)rise / (double)apart, -200e-6), 200e-6);
}

/* Median and mean distance between the ends of paired kernels [ns]. They are at least the noise of
 * ends. Both are -1 if the shift leaves too few pairs. */
typedef struct closeness {
    int64_t median, mean;
} closeness;

static int64_t at_least_noise(int64_t distance_ns) {
    return distance_ns > least_distance_ns ? distance_ns : least_distance_ns;
}

/* Measures the distance between the ends of paired kernels. Both results are -1 if there are fewer
 * than @p whole / 2 pairs. If the mean is at least @p far [ns], the median is set to the mean
 * instead of computed, to save time. */
static closeness distance_of(const shifted *s, bool one_clock, size_t whole, int64_t far) {
    int64_t at[SAMPLES], off[SAMPLES], sorted[SAMPLES], sum = 0;
    size_t n_pairs, n = sample(s, at, off, &n_pairs);
    if (n < LEAST || 2 * n_pairs < whole)
        return (closeness){-1, -1};
    double slope = one_clock ? 0.0 : slope_of(at, off, n);
    for (size_t i = 0; i < n; i++)
        off[i] -= llround(slope * (double)(at[i] - at[0]));
    for (size_t i = 0; i < n; i++)
        sorted[i] = off[i];
    int64_t middle = one_clock ? 0 : tm_run_median(sorted, n);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = llabs(off[i] - middle);
        sum += sorted[i] / (int64_t)n;
    }
    int64_t mean = at_least_noise(sum);
    if (mean >= far)
        return (closeness){mean, mean};
    /* The upper median is used, because a shift to the wrong step may fit half of the pairs. */
    return (closeness){at_least_noise(tm_select(sorted, n, n / 2)), mean};
}

/* Returns whether most pairs are of kernels in different steps. */
static bool mixes_steps(const shifted *s) {
    size_t n = 0, mixed = 0;
    for (size_t i = 0; i < s->a->n; i++) {
        int64_t j = partner_of(s, i);
        if (j < 0)
            continue;
        int64_t x = s->a->marks[i].step, y = s->b->marks[j].step;
        mixed += x >= 0 && y >= 0 && x != y;
        n++;
    }
    return 2 * mixed > n;
}

/* Returns whether a shift may be as good as the chosen one. Most ends must be nearly as close
 * (median), and outliers, for example at the ends of steps, must not be much further away
 * (mean). */
static bool is_rival(const shifted *s, const closeness *own, const closeness *c) {
    return c->median < BETTER * own->median && c->mean < BETTER * own->mean && !mixes_steps(s);
}

/* Returns whether all other shifts of the partners are much worse. Returns false if no other shift
 * can be tried. */
static bool is_proven(shifted *s, bool one_clock) {
    s->places = 0;
    size_t whole = 0, tried = 0;
    for (size_t i = 0; i < s->a->n; i++)
        whole += partner_of(s, i) >= 0;
    const closeness own = distance_of(s, one_clock, whole, INT64_MAX);
    bool proven = own.median >= 0;
    for (int64_t k = -PLACES; k <= PLACES && proven; k++) {
        s->places = k;
        if (k == 0)
            continue;
        const closeness c = distance_of(s, one_clock, whole, BETTER * own.mean);
        tried += c.median >= 0;
        proven = c.median < 0 || !is_rival(s, &own, &c);
    }
    s->places = 0;
    return proven && tried > 0;
}

/* Returns whether the signatures of the runs agree at this shift. */
static bool signatures_agree(const shifted *s) {
    size_t common = 0, equal = 0, shorter = s->a->n < s->b->n ? s->a->n : s->b->n;
    for (size_t i = 0; i < s->a->n; i++) {
        int64_t j = partner_of(s, i);
        common += j >= 0;
        equal += j >= 0 && tm_mark_fits(&s->a->marks[i], &s->b->marks[j]);
    }
    return common >= LEAST && 2 * common >= shorter && equal * 50 >= common * 49;
}

/* Sets *holds to whether the ends allow pairing kernels at equal places. If they do not, each run
 * may have kernels that the other lacks. */
static tm_status order_holds(const shifted *s, bool *holds, tm_error *err) {
    tm_end *ends = calloc(2 * s->a->n + 1, sizeof *ends), *others = ends + s->a->n;
    size_t n = 0;
    for (size_t i = 0; i < s->a->n && ends; i++) {
        int64_t j = partner_of(s, i);
        if (j < 0)
            continue;
        const tm_mark *a = &s->a->marks[i], *b = &s->b->marks[j];
        ends[n] =
            (tm_end){.begin_ns = a->begin_ns, .end_ns = a->end_ns, .synchronises = a->synchronises};
        others[n++] =
            (tm_end){.begin_ns = b->begin_ns, .end_ns = b->end_ns, .synchronises = b->synchronises};
    }
    *holds = ends && tm_order_holds(ends, others, n);
    bool ok = ends != NULL;
    free(ends);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Pairs kernels at the shift at which signatures agree and ends fit best. Sets *paired to whether
 * there is such a shift. */
static tm_status pair_by_signatures(const tm_run *a, const tm_run *b, bool one_clock,
                                    int64_t *partners, bool *paired, tm_error *err) {
    shifted s = {.a = a, .b = b};
    int64_t best = -1, places = 0;
    for (int64_t k = -PLACES; k <= PLACES; k++) {
        s.places = k;
        int64_t distance =
            signatures_agree(&s) ? distance_of(&s, one_clock, 0, INT64_MAX).median : -1;
        if (distance < 0 || (best >= 0 && distance >= best))
            continue;
        best = distance;
        places = k;
    }
    s.places = places;
    *paired = best >= 0;
    if (*paired)
        TM_TRY(order_holds(&s, paired, err));
    for (size_t i = 0; i < a->n; i++) {
        int64_t j = *paired ? partner_of(&s, i) : -1;
        partners[i] = j >= 0 && tm_mark_fits(&a->marks[i], &b->marks[j]) ? j : -1;
    }
    return TM_OK;
}

/* Pairs the kernels of runs with gaps by their ends. */
static tm_unmatched pair_by_ends(const tm_run *a, const tm_run *b, bool one_clock,
                                 int64_t *partners) {
    tm_shift shift = {.centre = a->n / 2, .least = LEAST};
    tm_unmatched failed = one_clock ? TM_UNMATCHED_NOT : tm_shift_find(a, b, &shift);
    return failed == TM_UNMATCHED_NOT ? tm_band_pair(a, b, &shift, partners) : failed;
}

tm_status tm_pairing_find(const tm_run *a, const tm_run *b, bool one_clock, int64_t *partners,
                          tm_pairing *out, tm_error *err) {
    shifted s = {.a = a, .b = b, .partners = partners};
    bool paired = false;
    *out = TM_PAIRING_NONE;
    if (a->n == 0 || b->n == 0)
        return TM_OK;
    TM_TRY(pair_by_signatures(a, b, one_clock, partners, &paired, err));
    if (paired && is_proven(&s, one_clock)) {
        *out = TM_PAIRING_PROVEN;
        return TM_OK;
    }
    tm_unmatched failed = pair_by_ends(a, b, one_clock, partners);
    if (failed == TM_UNMATCHED_NOT)
        *out = is_proven(&s, one_clock) ? TM_PAIRING_PROVEN : TM_PAIRING_UNPROVEN;
    else if (failed == TM_UNMATCHED_AMBIGUOUS || failed == TM_UNMATCHED_TOO_FEW)
        *out = TM_PAIRING_UNPROVEN;
    return TM_OK;
}

#include "p_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/simd_lanes.h"
#include "base/sorted.h"

/* Computes the scores of a row. @p sorted is [n] scratch. */
static void score_row(const int64_t *ns, size_t n, int64_t *sorted, double *out) {
    double mean = 0.0;
    memcpy(sorted, ns, n * sizeof *sorted);
    tm_sort_values(sorted, n);
    const int64_t low = sorted[(n - 1) / 2], high = sorted[n / 2];
    double median = 0.5 * ((double)low + (double)high);
    for (size_t i = 0; i < n; i++) {
        double distance = (double)ns[i] - median;
        out[i] = copysign(sqrt(fabs(distance)), distance);
        mean += out[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        out[i] -= mean;
}

tm_status tm_scores_rows(const tm_own_times *times, double *out, tm_error *err) {
    size_t n = times->n;
    int64_t *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        return tm_fail_memory(err);
    for (size_t row = 0; row < times->n_rows; row++)
        score_row(times->ns + row * n, n, sorted, out + row * n);
    free(sorted);
    return TM_OK;
}

size_t tm_windows(size_t n_units, tm_window *out) {
    size_t found = 0;
    double length = (double)n_units;
    do {
        size_t size = (size_t)length, shift = size / 4 > 0 ? size / 4 : 1;
        double handicap = sqrt(2.0 + 2.0 * log((double)n_units / (double)size));
        for (size_t first = 0; first < n_units; first += shift) {
            first = first + size > n_units ? n_units - size : first;
            if (out)
                out[found] = (tm_window){first, first + size, 0.0, 0.0, handicap};
            found++;
            if (first + size == n_units)
                break;
        }
        length *= 0.7;
    } while (n_units >= 8 && length >= 3.0);
    return found;
}

double tm_windows_scale(const tm_trial *trial) {
    tm_window *const windows = trial->windows, *const end = windows + trial->n_windows;
    double all = 0.0, largest = 0.0;
    for (tm_window *w = windows; w < end; w++)
        w->variance = 0.0;
    for (size_t u = 0; u < trial->n_units; u++) {
        const double *scores = trial->scores + u * trial->n;
        double variance = 0.0;
        for (size_t i = 0; i < trial->n; i++) {
            variance += scores[i] * scores[i] / (double)trial->n;
            largest = fmax(largest, fabs(scores[i]));
        }
        all += variance;
        for (tm_window *w = windows; w < end; w++)
            w->variance += w->first <= u && u < w->end ? variance : 0.0;
    }
    for (tm_window *w = windows; w < end; w++) {
        const double usual = all / (double)trial->n_units * (double)(w->end - w->first);
        w->scale = all > 0.0 ? 1.0 / sqrt(usual) : 0.0;
    }
    return largest;
}

/* Uses Bennett's inequality. Take independent terms with mean 0, where each term is at most b, and
 * the sum of all variances is v. The sum of the terms reaches s with a probability of at most
 * exp(-v / b^2 ((1 + u) ln(1 + u) - u)), where u = b s / v. Here, each unit gives one term: the
 * score that a member gets in a random order. For a class of k members, the term is (sum of the
 * members' scores) / sqrt(k). Its variance is at most that of one score, because the members are
 * drawn without replacement. */
double tm_height_bound(const tm_trial *trial, double largest, double height) {
    const double b = largest * (trial->class_of ? sqrt((double)trial->n) : 1.0);
    double bound = 0.0;
    for (size_t i = 0; i < trial->n_windows && bound < 1.0; i++) {
        const tm_window *w = &trial->windows[i];
        const double s = fmax(0.0, (height + w->handicap) / w->scale), u = b * s / w->variance;
        const double least = w->variance / (b * b) * ((1.0 + u) * log1p(u) - u);
        bound += (double)trial->n_classes * exp(-least);
    }
    return bound < 1.0 ? bound : 1.0; /* the bound is NaN if all scores are 0 */
}

/* Sets the weight of each class to 1 / the root of its size. */
static void weigh(const tm_trial *trial, double *weights) {
    memset(weights, 0, trial->n_classes * sizeof *weights);
    for (size_t i = 0; i < trial->n; i++)
        weights[trial->class_of ? trial->class_of[i] : i] += 1.0;
    for (size_t k = 0; k < trial->n_classes; k++)
        weights[k] = 1.0 / sqrt(fmax(weights[k], 1.0));
}

/* Buffers of a draw. */
typedef struct drawer {
    const tm_trial *trial;
    tm_orders *orders; /* NULL: orders are not kept */
    /* columns in a row of sums: n_classes, rounded up; additional columns are 0 */
    size_t width;
    double *sums;    /* [n_units + 1][width] prefix sums */
    double *weights; /* [n_classes] */
    uint32_t *order; /* [n] */
    double *left;    /* [n] scores of a unit that are not placed yet */
    size_t *first;   /* [n_windows] first unit of each window */
    const tm_lanes *lanes;
} drawer;

/* Adds a unit to the prefix sums, with its members in the given order. */
static void add_unit(const drawer *d, size_t unit, const uint32_t *order) {
    const tm_trial *trial = d->trial;
    const double *scores = trial->scores + unit * trial->n;
    double *before = d->sums + unit * d->width, *out = before + d->width;
    if (!trial->class_of) {
        d->lanes->pick(out, before, scores, order, trial->n);
        return;
    }
    memcpy(out, before, trial->n_classes * sizeof *out);
    for (size_t i = 0; i < trial->n; i++)
        out[trial->class_of[i]] += scores[order[i]] * d->weights[trial->class_of[i]];
}

static void close_drawer(drawer *d) {
    free(d->sums);
    free(d->weights);
    free(d->order);
    free(d->left);
    free(d->first);
}

static bool open_drawer(drawer *d, const tm_trial *trial, tm_orders *orders) {
    *d = (drawer){.trial = trial,
                  .orders = orders,
                  .width = tm_lanes_width(trial->n_classes),
                  .lanes = tm_lanes_best()};
    d->sums = calloc((trial->n_units + 1) * d->width + 1, sizeof *d->sums);
    d->weights = malloc((trial->n_classes + 1) * sizeof *d->weights);
    d->order = malloc((trial->n + 1) * sizeof *d->order);
    d->left = malloc((trial->n + 1) * sizeof *d->left);
    d->first = malloc((trial->n_windows + 1) * sizeof *d->first);
    if (!d->sums || !d->weights || !d->order || !d->left || !d->first) {
        close_drawer(d);
        return false;
    }
    weigh(trial, d->weights);
    for (size_t i = 0; i < trial->n; i++)
        d->order[i] = (uint32_t)i;
    for (size_t w = 0; w < trial->n_windows; w++)
        d->first[w] = trial->windows[w].first;
    return true;
}

tm_status tm_scores_sums(const tm_trial *trial, double *out, tm_error *err) {
    drawer d;
    if (!open_drawer(&d, trial, NULL))
        return tm_fail_memory(err);
    for (size_t u = 0; u < trial->n_units; u++)
        add_unit(&d, u, d.order);
    for (size_t u = 0; u <= trial->n_units; u++)
        memcpy(out + u * trial->n_classes, d.sums + u * d.width, trial->n_classes * sizeof *out);
    close_drawer(&d);
    return TM_OK;
}

/* Returns a random place among the first i places. The caller swaps it with place i - 1. */
static inline size_t pick(uint64_t seed, size_t i) {
    return (size_t)(((tm_draw(seed, i) >> 32) * i) >> 32);
}

/* Sets a random order of members (Fisher-Yates). */
static void permute(size_t n, uint64_t seed, uint32_t *order) {
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n; i > 1; i--) {
        size_t other = pick(seed, i);
        uint32_t moved = order[i - 1];
        order[i - 1] = order[other];
        order[other] = moved;
    }
}

/* Takes the sizes of the kept orders from the first trial. Keeps none if there is too little
 * memory. */
static void begin_orders(tm_orders *orders, const tm_trial *trial) {
    enum { KEPT_CELLS = 1 << 21, KEPT_DRAWS = 3000 };
    const size_t draws = KEPT_CELLS / (trial->n * trial->n_units);
    *orders =
        (tm_orders){trial->n, trial->n_units, draws < KEPT_DRAWS ? draws : KEPT_DRAWS, NULL, NULL};
    const size_t rows = orders->n_draws * orders->n_units;
    orders->orders = malloc((rows * orders->n + 1) * sizeof *orders->orders);
    orders->drawn = calloc(rows + 1, sizeof *orders->drawn);
    if (!orders->orders || !orders->drawn)
        orders->n_draws = 0;
}

void tm_orders_free(tm_orders *orders) {
    free(orders->orders);
    free(orders->drawn);
    *orders = (tm_orders){0};
}

/* Returns the order of a unit in a draw; NULL if it is not kept. */
static const uint32_t *kept_order(const drawer *d, uint64_t draw, size_t unit) {
    const tm_orders *orders = d->orders;
    if (!orders || orders->n != d->trial->n || draw >= orders->n_draws || unit >= orders->n_units)
        return NULL;
    const size_t row = (size_t)draw * orders->n_units + unit;
    uint32_t *order = orders->orders + row * orders->n;
    if (!orders->drawn[row])
        permute(orders->n, tm_draw(draw, unit), order);
    orders->drawn[row] = true;
    return order;
}

/* Combines permute and add_unit, for members without classes. */
static void add_permuted(const drawer *d, size_t unit, uint64_t seed) {
    size_t n = d->trial->n;
    double *before = d->sums + unit * d->width, *out = before + d->width, *left = d->left;
    memcpy(left, d->trial->scores + unit * n, n * sizeof *left);
    for (size_t i = n; i > 0; i--) {
        size_t other = pick(seed, i);
        out[i - 1] = before[i - 1] + left[other];
        left[other] = left[i - 1];
    }
}

static void draw_unit(const drawer *d, uint64_t draw, size_t unit) {
    const uint32_t *order = kept_order(d, draw, unit);
    if (!order && !d->trial->class_of) {
        add_permuted(d, unit, tm_draw(draw, unit));
        return;
    }
    if (!order)
        permute(d->trial->n, tm_draw(draw, unit), d->order);
    add_unit(d, unit, order ? order : d->order);
}

static inline double larger(double a, double b) {
    return a > b ? a : b;
}

/* Returns the largest height. Of windows with the same length, the one with the largest sum has the
 * largest height, so only sums are compared. This is correct because scales are not negative. The
 * largest sum is not negative either, because the scores of a unit add up to 0. */
static double largest_in(const drawer *d) {
    const tm_window *windows = d->trial->windows;
    double found = -(double)INFINITY;
    for (size_t from = 0, to = 0; from < d->trial->n_windows; from = to) {
        const size_t size = windows[from].end - windows[from].first;
        while (to < d->trial->n_windows && windows[to].end - windows[to].first == size)
            to++;
        const double sum = d->lanes->largest(d->sums, d->width, size, d->first + from, to - from);
        found = larger(found, sum * windows[from].scale - windows[from].handicap);
    }
    return found;
}

static double draw_one(const drawer *d, uint64_t draw) {
    for (size_t u = 0; u < d->trial->n_units; u++)
        draw_unit(d, draw, u);
    return largest_in(d);
}

tm_status tm_chance_draw(tm_chance *chance, const tm_trial *trial, size_t n_draws, tm_error *err) {
    drawer d;
    if (n_draws <= chance->n_draws)
        return TM_OK;
    double *more = realloc(chance->largest, n_draws * sizeof *more);
    if (!more)
        return tm_fail_memory(err);
    chance->largest = more;
    if (!open_drawer(&d, trial, chance->orders))
        return tm_fail_memory(err);
    if (d.orders && d.orders->n == 0)
        begin_orders(d.orders, trial);
    for (size_t i = chance->n_draws; i < n_draws; i++)
        chance->largest[i] = draw_one(&d, i);
    chance->n_draws = n_draws;
    tm_sort_reals(chance->largest, n_draws);
    close_drawer(&d);
    return TM_OK;
}

void tm_chance_free(tm_chance *chance) {
    free(chance->largest);
    *chance = (tm_chance){.orders = chance->orders};
}

static bool is_below(const void *element, const void *value) {
    return *(const double *)element < *(const double *)value;
}

/* An equal height counts as reached. There is a tolerance, because sums depend slightly on the
 * order of additions. */
size_t tm_chance_reach(const tm_chance *chance, double height) {
    double least = height - 1e-9;
    return chance->n_draws -
           tm_bisect(chance->largest, chance->n_draws, sizeof least, &least, is_below);
}

#include "scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

/* The normal quantile, by bisection of its distribution: to the last bits, and only a few times. */
static double normal_quantile(double p) {
    double low = -40.0, high = 40.0;
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        if (0.5 * erfc(-middle / sqrt(2.0)) < p)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

void tm_scores_places(size_t n, double *normal, double *last) {
    double squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        normal[i] = normal_quantile(((double)i + 0.625) / ((double)n + 0.25));
        squares += normal[i] * normal[i];
        last[i] = -1.0 / sqrt((double)n - 1.0);
    }
    for (size_t i = 0; i < n; i++)
        normal[i] *= sqrt((double)n / squares);
    last[n - 1] = sqrt((double)n - 1.0);
}

typedef struct placed {
    int64_t ns;
    size_t member;
} placed;

static int by_time(const void *a, const void *b) {
    const placed *x = a, *y = b;
    return tm_order_i64(x->ns, y->ns);
}

static void score_row(placed *order, size_t n, const double *places, double *out) {
    qsort(order, n, sizeof *order, by_time);
    for (size_t first = 0, end; first < n; first = end) {
        double sum = 0.0;
        for (end = first; end < n && order[end].ns == order[first].ns; end++)
            sum += places[end];
        for (size_t i = first; i < end; i++)
            out[order[i].member] = sum / (double)(end - first);
    }
}

tm_status tm_scores_rows(const tm_own_times *times, tm_score score, double *out, tm_error *err) {
    size_t n = times->n;
    placed *order = malloc((n + 1) * sizeof *order);
    double *places = malloc(TM_N_SCORES * (n + 1) * sizeof *places);
    if (!order || !places) {
        free(order);
        free(places);
        return tm_fail_memory(err);
    }
    tm_scores_places(n, places, places + n);
    for (size_t row = 0; row < times->n_rows; row++) {
        for (size_t i = 0; i < n; i++)
            order[i] = (placed){times->ns[row * n + i], i};
        score_row(order, n, score == TM_SCORE_NORMAL ? places : places + n, out + row * n);
    }
    free(order);
    free(places);
    return TM_OK;
}

size_t tm_windows(size_t n_units, tm_window *out) {
    size_t found = 0;
    double length = (double)n_units;
    do {
        size_t size = (size_t)length, shift = size / 4 > 0 ? size / 4 : 1;
        for (size_t first = 0; first < n_units; first += shift) {
            first = first + size > n_units ? n_units - size : first;
            if (out)
                out[found] = (tm_window){first, first + size};
            found++;
            if (first + size == n_units)
                break;
        }
        length *= 0.7;
    } while (n_units >= 8 && length >= 3.0);
    return found;
}

void tm_scores_by_class(const tm_trial *trial, const double *scores, double *out) {
    for (size_t u = 0; u < trial->n_units; u++)
        for (size_t k = 0; k < trial->n_classes; k++) {
            double sum = 0.0, members = 0.0;
            for (size_t i = 0; i < trial->n; i++) {
                sum += trial->class_of[i] == k ? scores[u * trial->n + i] : 0.0;
                members += trial->class_of[i] == k;
            }
            out[u * trial->n_classes + k] = members > 0.0 ? sum / sqrt(members) : 0.0;
        }
}

/* Room of one draw, and what it needs. */
typedef struct drawer {
    const tm_trial *trial;
    size_t n, n_classes, n_windows;
    tm_window *windows;
    double *places[TM_N_SCORES]; /* [n] */
    double *sums[TM_N_SCORES];   /* [n_units + 1][n_classes] of the units before */
    double *weights;             /* [n_classes] */
    uint32_t *order;             /* [n] */
} drawer;

static void close_drawer(drawer *d) {
    free(d->windows);
    free(d->order);
    free(d->weights);
    free(d->places[0]);
    free(d->sums[0]);
}

static bool open_drawer(drawer *d, const tm_trial *trial) {
    size_t cells = (trial->n_units + 1) * trial->n_classes;
    *d = (drawer){.trial = trial,
                  .n = trial->n,
                  .n_classes = trial->n_classes,
                  .n_windows = tm_windows(trial->n_units, NULL)};
    d->windows = malloc((d->n_windows + 1) * sizeof *d->windows);
    d->order = malloc((d->n + 1) * sizeof *d->order);
    d->weights = calloc(d->n_classes + 1, sizeof *d->weights);
    d->places[0] = malloc(TM_N_SCORES * d->n * sizeof(double));
    d->sums[0] = calloc(TM_N_SCORES * cells, sizeof(double));
    if (!d->windows || !d->order || !d->weights || !d->places[0] || !d->sums[0]) {
        close_drawer(d);
        return false;
    }
    d->places[1] = d->places[0] + d->n;
    d->sums[1] = d->sums[0] + cells;
    tm_windows(trial->n_units, d->windows);
    tm_scores_places(d->n, d->places[0], d->places[1]);
    for (size_t i = 0; i < d->n; i++)
        d->weights[trial->class_of ? trial->class_of[i] : i] += 1.0;
    for (size_t k = 0; k < d->n_classes; k++)
        d->weights[k] = 1.0 / sqrt(fmax(d->weights[k], 1.0));
    return true;
}

/* The members of a unit in random order (Fisher and Yates). */
static void permute(drawer *d, uint64_t seed) {
    for (size_t i = 0; i < d->n; i++)
        d->order[i] = (uint32_t)i;
    for (size_t i = d->n; i > 1; i--) {
        size_t other = (size_t)(((tm_draw(seed, i) >> 32) * i) >> 32);
        uint32_t moved = d->order[i - 1];
        d->order[i - 1] = d->order[other];
        d->order[other] = moved;
    }
}

static double largest_in(const drawer *d, const double *sums) {
    double found = -(double)INFINITY;
    for (size_t w = 0; w < d->n_windows; w++) {
        const double *end = sums + d->windows[w].end * d->n_classes;
        const double *begin = sums + d->windows[w].first * d->n_classes;
        double most = -(double)INFINITY;
        for (size_t i = 0; i < d->n_classes; i++)
            most = end[i] - begin[i] > most ? end[i] - begin[i] : most;
        most /= sqrt((double)(d->windows[w].end - d->windows[w].first));
        found = most > found ? most : found;
    }
    return found;
}

/* Adds a permuted unit to the sums of those before it. */
static void add_unit(const drawer *d, const double *places, const double *before, double *out) {
    memcpy(out, before, d->n_classes * sizeof *out);
    if (d->trial->class_of)
        for (size_t i = 0; i < d->n; i++)
            out[d->trial->class_of[i]] += places[d->order[i]] * d->weights[d->trial->class_of[i]];
    else
        for (size_t i = 0; i < d->n; i++)
            out[i] += places[d->order[i]];
}

static void draw_one(drawer *d, uint64_t draw, double largest[TM_N_SCORES]) {
    for (size_t u = 0; u < d->trial->n_units; u++) {
        permute(d, tm_draw(draw, u));
        for (int s = 0; s < TM_N_SCORES; s++)
            add_unit(d, d->places[s], d->sums[s] + u * d->n_classes,
                     d->sums[s] + (u + 1) * d->n_classes);
    }
    for (int s = 0; s < TM_N_SCORES; s++)
        largest[s] = largest_in(d, d->sums[s]);
}

static int by_value(const void *a, const void *b) {
    return tm_order_real(*(const double *)a, *(const double *)b);
}

tm_status tm_chance_draw(tm_chance *chance, const tm_trial *trial, size_t n_draws, tm_error *err) {
    drawer d;
    if (n_draws <= chance->n_draws)
        return TM_OK;
    for (int s = 0; s < TM_N_SCORES; s++) {
        double *more = realloc(chance->largest[s], n_draws * sizeof *more);
        if (!more)
            return tm_fail_memory(err);
        chance->largest[s] = more;
    }
    if (!open_drawer(&d, trial))
        return tm_fail_memory(err);
    for (size_t i = chance->n_draws; i < n_draws; i++) {
        double largest[TM_N_SCORES];
        draw_one(&d, i, largest);
        for (int s = 0; s < TM_N_SCORES; s++)
            chance->largest[s][i] = largest[s];
    }
    chance->n_draws = n_draws;
    for (int s = 0; s < TM_N_SCORES; s++)
        qsort(chance->largest[s], n_draws, sizeof(double), by_value);
    close_drawer(&d);
    return TM_OK;
}

void tm_chance_free(tm_chance *chance) {
    for (int s = 0; s < TM_N_SCORES; s++)
        free(chance->largest[s]);
    *chance = (tm_chance){0};
}

static bool is_below(const void *element, const void *value) {
    return *(const double *)element < *(const double *)value;
}

/* Sums of scores are rounded in the order of their units: what is equal but for that reaches. */
size_t tm_chance_reach(const tm_chance *chance, tm_score score, double value) {
    const double *v = chance->largest[score];
    double least = value - 1e-9;
    return chance->n_draws - tm_bisect(v, chance->n_draws, sizeof *v, &least, is_below);
}

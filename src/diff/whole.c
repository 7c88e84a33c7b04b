#include "whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"

enum { TIMES_MIN = 3, STEPS_MIN = 4 }; /* of periodic steps; of all steps but the first */

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

/* Returns the factor by which the autocorrelation of steps increases the standard error. */
static double widening(const double *steps, size_t n, double low, double high, double mean) {
    double own = 0.0, next = 0.0;
    for (size_t i = 0; i < n; i++) {
        double off = clamp(steps[i], low, high) - mean;
        own += off * off;
        if (i + 1 < n)
            next += off * (clamp(steps[i + 1], low, high) - mean);
    }
    double r = own > 0.0 ? clamp(next / own, -0.95, 0.95) : 0.0;
    return r > 2.0 / sqrt((double)n) ? sqrt((1.0 + r) / (1.0 - r)) : 1.0;
}

tm_estimate tm_estimate_trimmed(const double *values, const double *sorted, size_t n) {
    size_t cut = (n + 9) / 10, kept = n - 2 * cut;
    double low = sorted[cut], high = sorted[n - 1 - cut], sum = 0.0, all = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += i >= cut && i < n - cut ? sorted[i] : 0.0;
        all += clamp(sorted[i], low, high);
    }
    for (size_t i = 0; i < n; i++)
        squares += pow(clamp(sorted[i], low, high) - all / (double)n, 2.0);
    return (tm_estimate){sum / (double)kept,
                         sqrt(squares / (double)(n - 1)) * sqrt((double)n) / (double)kept *
                             widening(values, n, low, high, all / (double)n),
                         (double)(kept - 1)};
}

/* Returns the mean of [n >= 2] values. */
static tm_estimate plain(const double *values, size_t n) {
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++)
        mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += pow(values[i] - mean, 2.0);
    double error = sqrt(squares / (double)(n - 1) / (double)n);
    return (tm_estimate){mean, error * widening(values, n, -HUGE_VAL, HUGE_VAL, mean),
                         (double)(n - 1)};
}

/* Returns the value that Student's t exceeds with probability 1/400. It is computed from the normal
 * quantile (Abramowitz and Stegun, 26.7.5). With 3 or more degrees of freedom, it is off by at most
 * 1.5 %. With 2, which is the minimum, it is 7 % too low. */
static double student(double freedom) {
    const double z = 2.807034, z2 = z * z, f = 1.0 / freedom;
    double t = z2 * (z2 * (z2 * (79.0 * z2 + 776.0) + 1482.0) - 1920.0) - 945.0;
    t = t * f / 92160.0 + (z2 * (z2 * (3.0 * z2 + 19.0) + 17.0) - 15.0) / 384.0;
    t = t * f + (z2 * (5.0 * z2 + 16.0) + 3.0) / 96.0;
    t = t * f + (z2 + 1.0) / 4.0;
    return z * (1.0 + t * f);
}

/* Returns the weighted sum of two independent means. The degrees of freedom follow Welch's formula,
 * as in Yuen's test. */
static tm_estimate add(const tm_estimate *a, double a_weight, const tm_estimate *b,
                       double b_weight) {
    double a_square = pow(a_weight * a->error, 2.0), b_square = pow(b_weight * b->error, 2.0);
    double both = a_square + b_square;
    double freedom =
        both * both / (a_square * a_square / a->freedom + b_square * b_square / b->freedom);
    return (tm_estimate){a_weight * a->mean + b_weight * b->mean, sqrt(both),
                         both > 0.0 ? freedom : a->freedom + b->freedom};
}

/* Student's t is used, because the deviations of few steps may be too small by chance. */
double tm_estimate_noise(const tm_estimate *a, const tm_estimate *b) {
    const tm_estimate change = add(b, 1.0, a, -1.0);
    if (!(change.error > 0.0)) /* no variance, or NaN if unknown */
        return change.error;
    return student(change.freedom) * change.error;
}

void tm_estimate_invert(tm_estimate *estimate, double scale) {
    if (!(estimate->mean > 0.0))
        return;
    estimate->error *= scale / (estimate->mean * estimate->mean);
    estimate->mean = scale / estimate->mean;
}

/* The steps that are longer than all others or, with sign -1, shorter: sign * value >= least. */
typedef struct odd {
    double sign, least;
    size_t period;
} odd;

static bool is_odd(const odd *o, double value) {
    return o->sign * value >= o->least;
}

/* Returns the number of steps from one odd step to the next, if that is always the same; else 0. */
static size_t period_of(const odd *o, const double *values, size_t n) {
    size_t first = 0, period = 1;
    while (first < n && !is_odd(o, values[first]))
        first++;
    while (first + period < n && !is_odd(o, values[first + period]))
        period++;
    if (first >= period || first + (TIMES_MIN - 1) * period >= n)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (is_odd(o, values[i]) != (i % period == first))
            return 0;
    return period;
}

/* Finds the periodic steps. The distance of their values from the others, which are at least half
 * of the steps, exceeds the range of the others. */
static odd find_odd(const double *values, const double *sorted, size_t n) {
    for (int side = 0; side < 2; side++) {
        const double sign = side == 0 ? 1.0 : -1.0;
        for (size_t rest = (n + 1) / 2; rest + TIMES_MIN <= n; rest++) {
            const double nearest = sign * sorted[side == 0 ? 0 : n - 1];
            const double last = sign * sorted[side == 0 ? rest - 1 : n - rest];
            odd o = {.sign = sign, .least = sign * sorted[side == 0 ? rest : n - 1 - rest]};
            if (o.least - last > last - nearest && (o.period = period_of(&o, values, n)) > 0)
                return o;
        }
    }
    return (odd){.period = 0};
}

/* Weighs the periodic steps and the others by their share of a period. A recording need not end
 * with a period, and the error has only the variation within the two groups. */
static void weigh_periods(const odd *o, const double *values, double *grouped, tm_whole *out) {
    size_t n_odd = 0, n_rest = 0;
    for (size_t i = 0; i < out->n; i++)
        n_odd += is_odd(o, values[i]);
    for (size_t i = 0, at = 0; i < out->n; i++)
        grouped[is_odd(o, values[i]) ? at++ : n_odd + n_rest++] = values[i];
    const tm_estimate long_steps = plain(grouped, n_odd), rest = plain(grouped + n_odd, n_rest);
    const double share = 1.0 / (double)o->period;
    out->period = o->period;
    out->longer = long_steps.mean - rest.mean;
    out->all = add(&long_steps, share, &rest, 1.0 - share);
}

/* Copies the values of the steps that count. Returns their number. */
static size_t select_steps(const tm_step_mean *steps, size_t n, double *values) {
    size_t most = 0, n_values = 0;
    for (size_t i = 0; i < n; i++)
        most = steps[i].ranks > most ? steps[i].ranks : most;
    for (size_t i = 1; i < n; i++)
        if (steps[i].ranks == most)
            values[n_values++] = steps[i].mean;
    return n_values;
}

/* @param sorted  room for [out->n] values */
static void measure(const double *values, double *sorted, tm_whole *out) {
    memcpy(sorted, values, out->n * sizeof *sorted);
    tm_sort_reals(sorted, out->n);
    out->all = plain(values, out->n);
    const odd o = find_odd(values, sorted, out->n);
    if (o.period > 0)
        weigh_periods(&o, values, sorted, out);
}

tm_status tm_whole_measure(const tm_step_mean *steps, size_t n, tm_whole *out, tm_error *err) {
    *out = (tm_whole){.n = 0};
    double *values = malloc((2 * n + 1) * sizeof *values);
    if (!values)
        return tm_fail_memory(err);
    const size_t n_values = select_steps(steps, n, values);
    if (n_values >= STEPS_MIN) {
        out->n = n_values;
        measure(values, values + n, out);
    }
    free(values);
    return TM_OK;
}

tm_basis tm_whole_decides(const tm_whole *a, const tm_whole *b, const double usual[2],
                          double noise) {
    if (a->n == 0 || b->n == 0)
        return TM_BASIS_USUAL;
    const double added = a->all.mean + usual[1] - usual[0];
    const double scaled = usual[0] > 0.0 ? a->all.mean * usual[1] / usual[0] : added;
    const double rounding = 1e-9 * fabs(b->all.mean);
    const bool otherwise = fabs(b->all.mean - added) > noise + rounding &&
                           fabs(b->all.mean - scaled) > noise + rounding;
    if (a->n < b->period || b->n < a->period)
        return otherwise ? TM_BASIS_MISSED : TM_BASIS_USUAL;
    if (a->period > 0 || b->period > 0)
        return TM_BASIS_PERIODS;
    return otherwise ? TM_BASIS_ODD : TM_BASIS_USUAL;
}

void tm_whole_pair(const tm_whole *a, const tm_whole *b, tm_estimate pair[2]) {
    const tm_whole *const sides[2] = {a, b};
    const double deviations[2] = {a->all.error * sqrt((double)a->n),
                                  b->all.error * sqrt((double)b->n)};
    for (int side = 0; side < 2; side++) {
        pair[side] = sides[side]->all;
        if (a->period > 0 || b->period > 0 || !(deviations[!side] > deviations[side]))
            continue;
        pair[side].error = deviations[!side] / sqrt((double)sides[side]->n);
        pair[side].freedom = sides[!side]->all.freedom;
    }
}

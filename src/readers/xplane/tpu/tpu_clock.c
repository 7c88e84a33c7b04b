#include "tpu_clock.h"

#include <math.h>
#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"

enum {
    SAMPLES = 512, /* number of operations to which the line is fitted */
    /* iterations of least squares; each uses the points near the line of the previous iteration */
    FITS = 6,
    LEAST_SAMPLES = 8 /* minimum number of points for fitting a drift */
};

/* A point is near the line if its distance is at most this. (The file's times change in steps of
 * 15.2 us.) */
static const double near_ps = 20e6;
/* Error of a slope between two points that are 15 s apart, if the times in the file have changed by
 * a step of 15.2 us. */
static const double slope_window = 1e-6;
static const double most_drift = 1e-3;
/* In a shorter trace, the drift of the clocks is less than a step of the file's times. */
static const int64_t least_span_ps = INT64_C(2000000000000);

/* shift_ps is the host's clock minus the core's clock. at_ps is a time on the core's clock,
 * relative to clock->middle_ps. */
typedef struct point {
    double at_ps, shift_ps;
} point;

TM_ORDER_BY(by_device, tm_tpu_times, device_ps, file_ps);

TM_ORDER_BY(by_file, tm_tpu_edge, file_ps, device_ps);

/* Finds the window that contains the most values, and returns its middle. There must be at least
 * one value. This function sorts the values. */
static double densest(double *values, size_t n, double window) {
    size_t most = 0, from = 0;
    double middle = 0;
    tm_sort_reals(values, n);
    for (size_t i = 0; i < n; i++) {
        while (values[i] - values[from] > window)
            from++;
        if (i - from >= most) {
            most = i - from + 1;
            middle = (values[i] + values[from]) / 2;
        }
    }
    return middle;
}

/* Finds the slope that most pairs of distant points have. Pairs of correct points have nearly the
 * same slope; other pairs have different slopes. */
static bool find_slope(const point *points, size_t n, double *out) {
    double span = points[n - 1].at_ps - points[0].at_ps;
    double *slopes = malloc(n * n / 2 * sizeof *slopes);
    size_t m = 0;
    if (!slopes)
        return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            double apart = points[k].at_ps - points[i].at_ps;
            double slope = (points[k].shift_ps - points[i].shift_ps) / apart;
            if (apart >= span / 4 && fabs(slope) < most_drift)
                slopes[m++] = slope;
        }
    *out = m > 0 ? densest(slopes, m, slope_window) : 0;
    free(slopes);
    return true;
}

/* Fits a line again by least squares. Uses the points that are near the line. */
static void refine(const point *points, size_t n, bool drifts, double *shift, double *slope) {
    double near = 0, at = 0, by = 0, above = 0, below = 0;
    for (size_t i = 0; i < n; i++)
        if (fabs(points[i].shift_ps - *shift - *slope * points[i].at_ps) <= near_ps) {
            near++;
            at += points[i].at_ps;
            by += points[i].shift_ps;
        }
    if (near < 1)
        return;
    at /= near;
    by /= near;
    for (size_t i = 0; i < n && drifts; i++)
        if (fabs(points[i].shift_ps - *shift - *slope * points[i].at_ps) <= near_ps) {
            above += (points[i].at_ps - at) * (points[i].shift_ps - by);
            below += (points[i].at_ps - at) * (points[i].at_ps - at);
        }
    if (below > 0)
        *slope = above / below;
    *shift = by - *slope * at;
}

/* Fits a line to the points, which must be sorted by time. The line goes through the place where
 * the points are densest. */
static bool fit_line(const point *points, size_t n, double *shift, double *slope) {
    double rest[SAMPLES];
    bool drifts =
        n >= LEAST_SAMPLES && points[n - 1].at_ps - points[0].at_ps >= (double)least_span_ps;
    *slope = 0;
    if (drifts && !find_slope(points, n, slope))
        return false;
    for (size_t i = 0; i < n; i++)
        rest[i] = points[i].shift_ps - *slope * points[i].at_ps;
    *shift = densest(rest, n, 2 * near_ps);
    for (int i = 0; i < FITS; i++)
        refine(points, n, drifts, shift, slope);
    return true;
}

static bool add_edges(tm_tpu_clock *clock, const tm_tpu_times *t) {
    const tm_tpu_edge begin = {t->file_ps, t->device_ps};
    const tm_tpu_edge end = {t->file_ps + t->file_duration_ps,
                             t->device_ps + t->device_duration_ps};
    return tm_vec_append(&clock->begins, &begin, 1) && tm_vec_append(&clock->ends, &end, 1);
}

static void sort_edges(tm_vec *edges) {
    tm_vec_sort(edges, by_file);
}

/* Fits the line to points sampled over the whole trace. */
static bool take_line(tm_tpu_clock *clock, const tm_tpu_times *times, size_t n) {
    point points[SAMPLES];
    size_t m = n < SAMPLES ? n : SAMPLES;
    double shift, slope;
    tm_tpu_times *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return false;
    for (size_t i = 0; i < n; i++)
        sorted[i] = times[i];
    qsort(sorted, n, sizeof *sorted, by_device);
    clock->middle_ps = sorted[n / 2].device_ps;
    for (size_t i = 0; i < m; i++) {
        const tm_tpu_times *t = &sorted[i * n / m];
        points[i] =
            (point){(double)(t->device_ps - clock->middle_ps),
                    (double)(t->file_ps - t->device_ps - sorted[0].file_ps + sorted[0].device_ps)};
    }
    bool ok = fit_line(points, m, &shift, &slope);
    clock->shift_ps = sorted[0].file_ps - sorted[0].device_ps + llround(ok ? shift : 0);
    clock->drift = ok ? slope : 0;
    free(sorted);
    return ok;
}

tm_status tm_tpu_clock_fit(const tm_tpu_times *times, size_t n, tm_tpu_clock *out, tm_error *err) {
    tm_tpu_clock clock = {.begins = TM_VEC(tm_tpu_edge), .ends = TM_VEC(tm_tpu_edge)};
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        ok = add_edges(&clock, &times[i]);
    sort_edges(&clock.begins);
    sort_edges(&clock.ends);
    if (!ok || (n > 0 && !take_line(&clock, times, n))) {
        tm_tpu_clock_free(&clock);
        return tm_fail_memory(err);
    }
    *out = clock;
    return TM_OK;
}

void tm_tpu_clock_free(tm_tpu_clock *clock) {
    tm_vec_free(&clock->begins);
    tm_vec_free(&clock->ends);
}

int64_t tm_tpu_clock_host(const tm_tpu_clock *clock, int64_t device_ps) {
    return device_ps + clock->shift_ps +
           llround(clock->drift * (double)(device_ps - clock->middle_ps));
}

static int64_t move_with(const tm_tpu_clock *clock, const tm_tpu_edge *edge, int64_t file_ps) {
    return tm_tpu_clock_host(clock, edge->device_ps + (file_ps - edge->file_ps));
}

void tm_tpu_clock_move(const tm_tpu_clock *clock, int64_t *begin_ps, int64_t *end_ps) {
    const tm_tpu_edge *begins = clock->begins.data, *ends = clock->ends.data;
    size_t n = clock->begins.n;
    size_t first = TM_FIRST_FROM(tm_tpu_edge, file_ps, begins, n, *begin_ps);
    size_t after = TM_FIRST_AFTER(tm_tpu_edge, file_ps, ends, n, *end_ps);
    const tm_tpu_edge *next = first < n ? &begins[first] : NULL;
    const tm_tpu_edge *last = after > 0 ? &ends[after - 1] : NULL;
    if (!next && !last)
        return;
    if (!next || !last || next->file_ps >= *end_ps || last->file_ps <= *begin_ps) {
        /* no operation is inside the span: `last` ends before the span, `next` starts after it */
        bool ahead = next && (!last || next->file_ps - *end_ps < *begin_ps - last->file_ps);
        next = last = ahead ? next : last;
    }
    *begin_ps = move_with(clock, next, *begin_ps);
    *end_ps = move_with(clock, last, *end_ps);
}

#include "group_fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"

/* A run is a series of transfers of similar size: the largest is at most this many times the
 * smallest. */
#define RUN_RATIO 1.25

/* Maximum number of runs. Sizes are from half a byte to 2^63 bytes. */
enum { RUNS_MAX = 208 };

/* Minimum ratio of the largest to the smallest size for a fit. */
#define SPAN_MIN 4.0

typedef struct run {
    double x, y;   /* medians over the operations: moved bytes, time [ns] */
    double weight; /* weight of the run in the fit */
} run;

TM_ORDER_BY(by_size, tm_transfer, moved_bytes, time_ns);

/* Makes a run of [n] transfers, sorted by size. `scratch` has room for n numbers. */
static run make_run(const tm_transfer *transfers, size_t n, double *scratch) {
    run made = {.weight = sqrt((double)n)};
    for (size_t i = 0; i < n; i++)
        scratch[i] = transfers[i].moved_bytes;
    made.x = tm_median_real(scratch, n);
    for (size_t i = 0; i < n; i++)
        scratch[i] = transfers[i].time_ns;
    made.y = tm_median_real(scratch, n);
    return made;
}

/* Returns the weighted sum of the deviations from a line, each divided by the run's time. Thus
 * small sizes, which determine the latency, count as much as large ones. */
static double cost_of(const run *runs, size_t n, double latency, double slope) {
    double cost = 0.0;
    for (size_t i = 0; i < n; i++)
        cost += runs[i].weight * fabs(runs[i].y - latency - slope * runs[i].x) / runs[i].y;
    return cost;
}

/* Tries the lines through all pairs of points, because the line with the smallest sum of absolute
 * deviations goes through two points. Sizes of runs ascend, so no slope is infinite. */
static tm_transfer_line best_line(const run *runs, size_t n) {
    tm_transfer_line line = {0};
    double least = HUGE_VAL;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            double slope = (runs[k].y - runs[i].y) / (runs[k].x - runs[i].x);
            double latency = runs[i].y - slope * runs[i].x;
            if (slope <= 0.0 || latency < 0.0)
                continue;
            double cost = cost_of(runs, n, latency, slope);
            if (cost < least) {
                least = cost;
                line = (tm_transfer_line){latency, 1.0 / slope, true, false, false};
            }
        }
    return line;
}

tm_status tm_fit_transfers(tm_transfer *transfers, size_t n, tm_transfer_line *out, tm_error *err) {
    run runs[RUNS_MAX];
    size_t n_runs = 0;
    tm_transfer_line line = {0};
    double *scratch = malloc((n + 1) * sizeof *scratch);
    if (!scratch)
        return tm_fail_memory(err);
    if (n > 1)
        qsort(transfers, n, sizeof *transfers, by_size);
    for (size_t first = 0, i = 0; first < n && n_runs < RUNS_MAX; first = i) {
        for (i = first + 1;
             i < n && transfers[i].moved_bytes <= RUN_RATIO * transfers[first].moved_bytes; i++)
            ;
        runs[n_runs++] = make_run(transfers + first, i - first, scratch);
    }
    free(scratch);
    /* If sizes are nearly alike, noise decides the slope. */
    if (n_runs > 1 && runs[n_runs - 1].x >= SPAN_MIN * runs[0].x)
        line = best_line(runs, n_runs);
    if (line.found) {
        /* Noise hides the latency if it is a small part of the time at every size. Noise hides the
         * bandwidth if moving bytes takes a small part of the time at every size. */
        line.shows_latency = line.latency_ns >= 0.1 * tm_line_at(&line, runs[0].x);
        line.shows_bandwidth = line.latency_ns <= 0.5 * tm_line_at(&line, runs[n_runs - 1].x);
    }
    *out = line;
    return TM_OK;
}

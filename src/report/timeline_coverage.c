#include "timeline_coverage.h"

#include <assert.h>
#include <stdlib.h>

int64_t tm_bucket_begin(const tm_buckets *buckets, size_t i) {
    int64_t n = (int64_t)buckets->n, at = (int64_t)i;
    assert(n > 0); /* there is a bucket i, so n > 0 */
    /* split into two products: duration * at could overflow if traces are days apart */
    return buckets->duration_ns / n * at + buckets->duration_ns % n * at / n;
}

/* Returns the bucket that contains a time in [0, duration). The rounded quotient differs from it by
 * at most one. */
static size_t bucket_of(const tm_buckets *buckets, int64_t at_ns) {
    double share = (double)at_ns / (double)buckets->duration_ns;
    size_t i = (size_t)(share * (double)buckets->n);
    i = i < buckets->n ? i : buckets->n - 1;
    while (i > 0 && tm_bucket_begin(buckets, i) > at_ns)
        i--;
    while (i + 1 < buckets->n && tm_bucket_begin(buckets, i + 1) <= at_ns)
        i++;
    return i;
}

/*
 * Finds how much of each bucket [ns] a set of intervals covers. Adds this to @p sums [buckets->n].
 *
 * @param set  disjoint intervals, ascending
 */
static void add_covered(const tm_buckets *buckets, const tm_intervals *set, int64_t *sums) {
    const tm_interval *v = set->data;
    size_t i = 0;
    int64_t edge = 0; /* end of the current bucket; 0 before the first one */
    for (size_t k = 0; k < set->n; k++) {
        int64_t begin = v[k].begin_ns - buckets->begin_ns, end = v[k].end_ns - buckets->begin_ns;
        begin = begin > 0 ? begin : 0;
        end = end < buckets->duration_ns ? end : buckets->duration_ns;
        if (begin >= edge && begin < end) {
            i = bucket_of(buckets, begin);
            edge = tm_bucket_begin(buckets, i + 1);
        }
        while (begin < end) {
            int64_t to = end < edge ? end : edge;
            sums[i] += to - begin;
            begin = to;
            if (begin < end)
                edge = tm_bucket_begin(buckets, ++i + 1);
        }
    }
}

/* Returns part / whole * full, rounded; at least 1 if part > 0. */
static uint32_t share_of(int64_t part, double whole, uint32_t full) {
    double share = whole > 0.0 ? (double)part / whole * (double)full + 0.5 : 0.0;
    uint32_t rounded = share < (double)full ? (uint32_t)share : full;
    return rounded == 0 && part > 0 ? 1 : rounded;
}

static double width_of(const tm_buckets *buckets, size_t i) {
    return (double)(tm_bucket_begin(buckets, i + 1) - tm_bucket_begin(buckets, i));
}

tm_status tm_coverage_put(const tm_buckets *buckets, const tm_lanes *lanes, tm_bytes *out,
                          tm_error *err) {
    int64_t *sums = malloc(buckets->n * sizeof *sums);
    uint8_t *shares = sums ? tm_bytes_put_raw(out, NULL, TM_N_LANE_KINDS * buckets->n) : NULL;
    if (!shares) {
        free(sums);
        return tm_fail_memory(err);
    }
    for (int k = 0; k < TM_N_LANE_KINDS; k++, shares += buckets->n) {
        for (size_t i = 0; i < buckets->n; i++)
            sums[i] = 0;
        add_covered(buckets, &lanes->kinds[k], sums);
        for (size_t i = 0; i < buckets->n; i++)
            if (sums[i] > 0)
                shares[i] = (uint8_t)share_of(sums[i], width_of(buckets, i), UINT8_MAX);
    }
    free(sums);
    return TM_OK;
}

void tm_coverage_halve(tm_bytes *coverage) {
    uint8_t *shares = coverage->bytes.data;
    coverage->bytes.n /= 2;
    for (size_t i = 0; i < coverage->bytes.n; i++)
        shares[i] = (uint8_t)((shares[2 * i] + shares[2 * i + 1] + 1) / 2);
}

tm_status tm_strip_add(const tm_buckets *buckets, const tm_lanes *lanes, int64_t *sums,
                       tm_error *err) {
    const tm_intervals *compute = &lanes->kinds[TM_LANE_COMPUTE];
    tm_intervals shown = TM_INTERVALS(), spare = TM_INTERVALS();
    add_covered(buckets, compute, sums);
    bool ok = true;
    for (int k = TM_LANE_TRANSFER; k < TM_LANE_COPIES && ok; k++) {
        ok = tm_intervals_subtract(&lanes->kinds[k], compute, &shown);
        add_covered(buckets, &shown, sums + (size_t)k * buckets->n);
    }
    const tm_intervals *copies = &lanes->kinds[TM_LANE_COPIES];
    ok = ok && tm_intervals_subtract(copies, &lanes->kinds[TM_LANE_TRANSFER], &shown) &&
         tm_intervals_subtract(&shown, &lanes->kinds[TM_LANE_WAIT], &spare) &&
         tm_intervals_subtract(&spare, &lanes->kinds[TM_LANE_UNMATCHED], &shown);
    if (ok)
        add_covered(buckets, &shown, sums + TM_LANE_COPIES * buckets->n);
    tm_vec_free(&shown);
    tm_vec_free(&spare);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_strip_put(const tm_buckets *buckets, const int64_t *sums, size_t n_ranks, tm_bytes *out) {
    for (size_t at = 0; at < TM_N_LANE_KINDS * buckets->n; at++) {
        double whole = width_of(buckets, at % buckets->n) * (double)n_ranks;
        uint32_t share = share_of(sums[at], whole, UINT16_MAX);
        uint8_t two[] = {(uint8_t)(share & 0xff), (uint8_t)(share >> 8)};
        tm_bytes_put_raw(out, two, sizeof two);
    }
}

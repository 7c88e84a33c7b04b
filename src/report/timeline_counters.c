#include "timeline_counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keys.h"
#include "base/sorted.h"

enum {
    POINTS = 40000, /* maximum number of points of all series of all ranks together */
    SERIES_MOST = 512,
    SERIES_LEAST = 16
};

/* A series, identified by the name ids of counter and series. */
typedef struct series {
    uint32_t counter, series;
} series;

typedef struct point {
    int64_t begin_ns;
    uint32_t series;
    float value;
} point;

static int by_series(const void *a, const void *b) {
    const point *x = a, *y = b;
    int order = tm_order_u64(x->series, y->series);
    order = order ? order : tm_order_i64(x->begin_ns, y->begin_ns);
    return order ? order : tm_order_real((double)x->value, (double)y->value);
}

static bool gather(const tm_timeline *timeline, tm_keys *keys, tm_vec *points) {
    const tm_counter_attr *attrs = timeline->attrs[TM_ATTR_COUNTER];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COUNTER]; i++) {
        const series key = {timeline->name[attrs[i].event], attrs[i].series};
        if (!isfinite(attrs[i].value))
            continue;
        point own = {tm_rank_clock_true(&timeline->clock, timeline->begin_ns[attrs[i].event]),
                     tm_keys_add(keys, &key), (float)attrs[i].value};
        if (own.series == TM_NO_KEY || !tm_vec_append(points, &own, 1))
            return false;
    }
    tm_vec_sort(points, by_series);
    return true;
}

/* Keeps the minimum and maximum of each stretch, in order of time. Returns the number of points
 * kept. */
static size_t thin(point *points, size_t n, size_t stretches) {
    size_t kept = 0;
    for (size_t s = 0, first = 0; s < stretches; s++) {
        size_t end = n * (s + 1) / stretches, least = first, most = first;
        for (size_t i = first; i < end; i++) {
            least = points[i].value < points[least].value ? i : least;
            most = points[i].value > points[most].value ? i : most;
        }
        size_t one = least < most ? least : most, two = least < most ? most : least;
        points[kept++] = points[one];
        if (two != one)
            points[kept++] = points[two];
        first = end;
    }
    return kept;
}

static void put_value(tm_bytes *out, float value) {
    uint32_t bits;
    uint8_t bytes[sizeof bits];
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bits; i++)
        bytes[i] = (uint8_t)(bits >> 8 * i);
    (void)tm_bytes_put_raw(out, bytes, sizeof bytes);
}

static bool put_series(const series *own, const point *points, size_t n, int64_t job_begin_ns,
                       tm_event_encoding *out) {
    uint32_t *names = tm_event_encoding_gap(out, 2);
    if (!names)
        return false;
    names[0] = own->counter;
    names[1] = own->series;
    tm_bytes_put(&out->bytes, n);
    for (size_t i = 0; i < n; i++)
        tm_bytes_put_signed(&out->bytes,
                            points[i].begin_ns - (i > 0 ? points[i - 1].begin_ns : job_begin_ns));
    for (size_t i = 0; i < n; i++)
        put_value(&out->bytes, points[i].value);
    return !out->bytes.failed;
}

/* Returns the end of the series whose first point is points[first]. */
static size_t end_of(const point *points, size_t n, size_t first) {
    size_t end = first;
    while (end < n && points[end].series == points[first].series)
        end++;
    return end;
}

static bool is_zero(const point *points, size_t first, size_t end) {
    while (first < end && points[first].value == 0.0F)
        first++;
    return first == end;
}

/* Returns how many points a series may have, given the number of ranks and series. */
static size_t most_points(size_t n_ranks, size_t n_series) {
    size_t most = POINTS / (n_ranks * n_series + 1);
    most = most < SERIES_MOST ? most : SERIES_MOST;
    return most > SERIES_LEAST ? most : SERIES_LEAST;
}

tm_status tm_counters_put(const tm_event_writer *writer, const tm_timeline *timeline,
                          tm_event_encoding *out, tm_error *err) {
    tm_keys keys = TM_KEYS(series);
    tm_vec all = TM_VEC(point);
    bool ok = gather(timeline, &keys, &all);
    point *points = all.data;
    size_t n_series = 0, n = ok ? all.n : 0;
    for (size_t first = 0, end; first < n; first = end) {
        end = end_of(points, n, first);
        n_series += !is_zero(points, first, end);
    }
    size_t most = most_points(writer->plan->n_shown, n_series);
    tm_bytes_put(&out->bytes, n_series);
    for (size_t first = 0, end; first < n && ok; first = end) {
        end = end_of(points, n, first);
        if (is_zero(points, first, end))
            continue;
        const series *own = (const series *)keys.keys.data + points[first].series;
        size_t kept =
            end - first > most ? thin(points + first, end - first, most / 2) : end - first;
        ok = put_series(own, points + first, kept, writer->job_begin_ns, out);
    }
    tm_keys_free(&keys);
    tm_vec_free(&all);
    return ok && !out->bytes.failed ? TM_OK : tm_fail_memory(err);
}

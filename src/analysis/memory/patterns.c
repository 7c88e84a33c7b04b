#include "patterns.h"

#include <math.h>

#include "base/median.h"

/* Counts how often a value falls by at least `threshold` from a maximum. After a fall, the value
 * must rise by `threshold` from its minimum before another fall counts. */
typedef struct falls {
    int64_t threshold, high, low, n;
    bool begun, falling;
} falls;

static void follow(falls *f, int64_t value) {
    if (!f->begun || (f->falling ? value < f->low : value > f->high))
        f->high = f->low = value;
    f->begun = true;
    if (!f->falling && f->high - value >= f->threshold) {
        f->falling = true;
        f->low = value;
        f->n++;
    } else if (f->falling && value - f->low >= f->threshold) {
        f->falling = false;
        f->high = value;
    }
}

/* Returns a counter of falls by at least 1 / 20 of the maximum. */
static falls falls_of(int64_t most) {
    return (falls){.threshold = most / 20 > 0 ? most / 20 : 1};
}

static int64_t mean_of(const tm_device_levels *d) {
    const tm_memory_level *v = d->levels.data;
    int64_t length = v[d->levels.n - 1].time_ns - v[0].time_ns;
    double integral = 0.0; /* [byte ns]; a double, because the value may exceed 64 bits */
    for (size_t i = 0; i + 1 < d->levels.n; i++)
        integral += (double)v[i].allocated_bytes * (double)(v[i + 1].time_ns - v[i].time_ns);
    return length > 0 ? llround(integral / (double)length) : v[0].allocated_bytes;
}

/* Counts the falls of reserved memory. */
static int64_t falls_of_reserve(const tm_device_levels *d) {
    const tm_memory_level *v = d->levels.data;
    falls f = falls_of(d->peak_reserved_bytes);
    for (size_t i = 0; i < d->levels.n && d->peak_reserved_bytes > 0; i++)
        follow(&f, v[i].reserved_bytes);
    return f.n;
}

/* Counts of steps that have records. The first step counts only in `n` and `falls`. */
typedef struct walk {
    int64_t n;
    int64_t growing; /* steps that end with more allocated bytes than the step before */
    int64_t falls;   /* how often the allocated bytes at the ends of steps fall */
    int64_t high;    /* steps whose peak is over 20 % above the median */
    int64_t uneven;  /* steps whose peak differs from the median by over 5 % */
    size_t highest;  /* index of the step with the highest peak */
} walk;

static walk walk_steps(const tm_device_levels *d, int64_t median) {
    const tm_memory_step *v = d->steps.data;
    const tm_memory_level *levels = d->levels.data;
    falls ends = falls_of(levels[d->peak].allocated_bytes);
    walk w = {0};
    int64_t before = 0, most = -1;
    for (size_t i = 0; i < d->steps.n; i++) {
        if (v[i].records == 0)
            continue;
        follow(&ends, v[i].end_bytes);
        if (w.n++ > 0) {
            int64_t off =
                v[i].peak_bytes > median ? v[i].peak_bytes - median : median - v[i].peak_bytes;
            w.growing += v[i].end_bytes > before;
            w.high += v[i].peak_bytes > median && off > median / 5;
            w.uneven += off > median / 20;
            if (v[i].peak_bytes > most) {
                most = v[i].peak_bytes;
                w.highest = i;
            }
        }
        before = v[i].end_bytes;
    }
    w.falls = ends.n;
    return w;
}

static const char *word_of(const walk *w, int64_t falls_of_reserved) {
    enum { STEPS = 3, FALLS = 2, FEW = 4 };
    int64_t n = w->n - 1;
    if (n < STEPS)
        return NULL;
    if (w->growing == n)
        return "growth";
    if (w->falls >= FALLS || falls_of_reserved >= FALLS)
        return "saw-tooth";
    if (w->high == 1 || (w->high > 0 && w->high * FEW <= n))
        return "spike";
    return w->uneven == 0 ? "stable" : "uneven";
}

/* Sets the median peak over all steps except the first; 0 if there are none. */
static bool find_median(const tm_device_levels *d, int64_t *out) {
    const tm_memory_step *v = d->steps.data;
    tm_vec peaks = TM_VEC(int64_t);
    bool ok = true, first = true;
    for (size_t i = 0; i < d->steps.n && ok; i++) {
        if (v[i].records > 0 && !first)
            ok = tm_vec_append(&peaks, &v[i].peak_bytes, 1) != NULL;
        first = first && v[i].records == 0;
    }
    *out = ok && peaks.n > 0 ? tm_median_any(peaks.data, peaks.n) : 0;
    tm_vec_free(&peaks);
    return ok;
}

tm_status tm_memory_pattern_find(const tm_device_levels *d, tm_memory_pattern *out, tm_error *err) {
    int64_t median;
    if (!find_median(d, &median))
        return tm_fail_memory(err);
    walk w = walk_steps(d, median);
    int64_t n = falls_of_reserve(d);
    *out = (tm_memory_pattern){word_of(&w, n), mean_of(d), n, w.highest};
    return TM_OK;
}

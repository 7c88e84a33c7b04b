#include "simd_lanes.h"

/* Set by the build if this file is compiled for more than the portable instruction set. */
#ifndef TM_LANES_OF
#define TM_LANES_OF tm_lanes_portable
#define TM_LANES_NAME "portable"
#define TM_LANES_PORTABLE
#endif

extern const tm_lanes TM_LANES_OF;

/* TM_LANES numbers. Operations copy all of them before they write results, so that the compiler
 * need not check whether arrays overlap. */
typedef struct lanes {
    int64_t ns[TM_LANES];
} lanes;

static void add(int64_t *out, const int64_t *ns, size_t rows, const int64_t *const *by,
                size_t width) {
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < width; i += TM_LANES) {
            const size_t at = row * width + i;
            lanes sum;
            for (size_t k = 0; k < TM_LANES; k++)
                sum.ns[k] = ns[at + k] + by[i / TM_LANES][k];
            for (size_t k = 0; k < TM_LANES; k++)
                out[at + k] = sum.ns[k];
        }
}

/* Returns a bit per SIMD lane: whether its value is below 0. */
static uint8_t signs(const uint64_t *v) {
    uint64_t bits = 0;
    for (size_t k = 0; k < TM_LANES; k++)
        bits |= v[k] >> 63 << k;
    return (uint8_t)bits;
}

/* Lowers each minimum to the value in @p by if this value is less. If @p first is set, there are no
 * minima yet, so each minimum starts at TM_LANES_FAR. */
static inline void lower(int64_t *least, const lanes *by, bool first) {
    lanes most;
    for (size_t k = 0; k < TM_LANES; k++) {
        const int64_t was = first ? TM_LANES_FAR : least[k];
        most.ns[k] = was < by->ns[k] ? was : by->ns[k];
    }
    for (size_t k = 0; k < TM_LANES; k++)
        least[k] = most.ns[k];
}

static inline uint8_t raise_row(int64_t *ns, const int64_t *b, const int64_t *by, int64_t *least,
                                bool first, size_t width) {
    uint64_t below[TM_LANES] = {0};
    for (size_t i = 0; i < width; i += TM_LANES) {
        lanes most, between;
        for (size_t k = 0; k < TM_LANES; k++) {
            const int64_t sum = b[i + k] + by[i + k], was = ns[i + k];
            below[k] |= (uint64_t)(was - sum);
            most.ns[k] = was > sum ? was : sum;
            between.ns[k] = most.ns[k] - b[i + k];
        }
        for (size_t k = 0; k < TM_LANES; k++)
            ns[i + k] = most.ns[k];
        lower(least + i, &between, first);
    }
    return signs(below);
}

static uint8_t raise(int64_t *ns, const int64_t *b, const int64_t *by, int64_t *least, bool first,
                     size_t width) {
    return first ? raise_row(ns, b, by, least, true, width)
                 : raise_row(ns, b, by, least, false, width);
}

static inline void set_row(int64_t *ns, const int64_t *b, const int64_t *by, int64_t *least,
                           bool first, size_t width) {
    for (size_t i = 0; i < width; i += TM_LANES) {
        lanes sum, between;
        for (size_t k = 0; k < TM_LANES; k++) {
            between.ns[k] = by[i + k];
            sum.ns[k] = b[i + k] + between.ns[k];
        }
        for (size_t k = 0; k < TM_LANES; k++)
            ns[i + k] = sum.ns[k];
        lower(least + i, &between, first);
    }
}

static void set(int64_t *ns, const int64_t *b, const int64_t *by, int64_t *least, bool first,
                size_t width) {
    if (first)
        set_row(ns, b, by, least, true, width);
    else
        set_row(ns, b, by, least, false, width);
}

static bool apart(int64_t *out, const int64_t *a, const int64_t *const *by, const int64_t *b,
                  const int64_t *most, size_t width) {
    uint64_t below[TM_LANES] = {0}, any = 0;
    for (size_t i = 0; i < width; i += TM_LANES) {
        lanes between;
        for (size_t k = 0; k < TM_LANES; k++) {
            /* Unsigned, because the times of lanes that no rank uses may overflow. */
            const uint64_t ns =
                (uint64_t)a[i + k] + (uint64_t)by[i / TM_LANES][k] - (uint64_t)b[i + k];
            between.ns[k] = (int64_t)ns;
            below[k] |= (uint64_t)most[i + k] - ns;
        }
        for (size_t k = 0; k < TM_LANES; k++)
            out[i + k] = between.ns[k];
    }
    for (size_t k = 0; k < TM_LANES; k++)
        any |= below[k];
    return any >> 63;
}

static inline void reach_row(int64_t *ns, const int64_t *a, const int64_t *by, size_t n) {
    size_t i = 0;
    for (; i + TM_LANES <= n; i += TM_LANES) {
        lanes most;
        for (size_t k = 0; k < TM_LANES; k++) {
            const int64_t sum = (a ? a[i + k] : 0) + by[i + k], was = ns[i + k];
            most.ns[k] = was > sum ? was : sum;
        }
        for (size_t k = 0; k < TM_LANES; k++)
            ns[i + k] = most.ns[k];
    }
    for (; i < n; i++) {
        const int64_t sum = (a ? a[i] : 0) + by[i];
        ns[i] = ns[i] > sum ? ns[i] : sum;
    }
}

static void reach(int64_t *ns, const int64_t *a, const int64_t *by, size_t n) {
    if (a)
        reach_row(ns, a, by, n);
    else
        reach_row(ns, NULL, by, n);
}

static double largest(const double *sums, size_t width, size_t size, const size_t *first,
                      size_t n) {
    double most[TM_LANES] = {0}, found = 0.0;
    for (size_t i = 0; i < width; i += TM_LANES)
        for (size_t at = 0; at < n; at++) {
            const double *from = sums + first[at] * width + i, *to = from + size * width;
            for (size_t k = 0; k < TM_LANES; k++) {
                const double by = to[k] - from[k];
                most[k] = by > most[k] ? by : most[k];
            }
        }
    for (size_t k = 0; k < TM_LANES; k++)
        found = most[k] > found ? most[k] : found;
    return found;
}

static void pick(double *restrict out, const double *a, const double *v, const uint32_t *order,
                 size_t n) {
    for (size_t i = 0; i < n; i++)
        out[i] = a[i] + v[order[i]];
}

static uint8_t above(const int64_t *ns, const int64_t *a, const int64_t *b, size_t width) {
    /* The sign bit of below[k] is set if ns[i] > a[i] + b[i] for any i of lane k. */
    uint64_t below[TM_LANES] = {0};
    for (size_t i = 0; i < width; i += TM_LANES)
        for (size_t k = 0; k < TM_LANES; k++)
            below[k] |= (uint64_t)(a[i + k] + b[i + k] - ns[i + k]);
    return signs(below);
}

const tm_lanes TM_LANES_OF = {TM_LANES_NAME, add, raise, set, apart, reach, largest, pick, above};

#ifdef TM_LANES_PORTABLE
#ifdef TM_HAS_X86_LANES
extern const tm_lanes tm_lanes_avx2, tm_lanes_avx512;
#endif

static const tm_lanes *const all[] = {
    &tm_lanes_portable,
#ifdef TM_HAS_X86_LANES
    &tm_lanes_avx2,
    &tm_lanes_avx512,
#endif
};

const tm_lanes *const *tm_lanes_all(size_t *n) {
    *n = 1;
#ifdef TM_HAS_X86_LANES
    if (__builtin_cpu_supports("avx2"))
        *n = __builtin_cpu_supports("avx512vl") ? 3 : 2;
#endif
    return all;
}

const tm_lanes *tm_lanes_best(void) {
    size_t n;
    const tm_lanes *const *v = tm_lanes_all(&n);
    return v[n - 1];
}
#endif

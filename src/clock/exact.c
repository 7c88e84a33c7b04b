#include "exact.h"

#include <stdlib.h>

static tm_status keep(void *context, int64_t *values, size_t n, tm_error *err) {
    (void)context;
    (void)values;
    (void)n;
    (void)err;
    return TM_OK;
}

static tm_status copy(void *context, const tm_vec *own, tm_vec *all, tm_error *err) {
    (void)context;
    return tm_vec_append(all, own->data, own->n) ? TM_OK : tm_fail_memory(err);
}

const tm_clock_reducer tm_clock_serial = {.sum = keep, .max = keep, .gather = copy};

double tm_exact_scale(double bound) {
    if (!(bound > 0.0))
        return 1.0;
    int exponent; /* bound < 2^exponent */
    (void)frexp(bound, &exponent);
    return ldexp(1.0, 51 - exponent);
}

bool tm_median_search_create(tm_median_search *select, size_t n_lists) {
    size_t n = n_lists ? n_lists : 1;
    *select =
        (tm_median_search){.known = calloc(n, sizeof *select->known),
                           .rank = calloc(n, sizeof *select->rank),
                           .counts = calloc(n, TM_MEDIAN_SEARCH_BYTE * sizeof *select->counts),
                           .n_lists = n_lists};
    return select->known && select->rank && select->counts;
}

void tm_median_search_free(tm_median_search *select) {
    free(select->known);
    free(select->rank);
    free(select->counts);
    *select = (tm_median_search){0};
}

static void clear_counts(tm_median_search *select) {
    memset(select->counts, 0, select->n_lists * TM_MEDIAN_SEARCH_BYTE * sizeof *select->counts);
}

void tm_median_search_begin(tm_median_search *select) {
    select->pass = 0;
    memset(select->known, 0, select->n_lists * sizeof *select->known);
    clear_counts(select);
}

/* Half of the range of values. Adding it makes signed values unsigned and keeps their order. */
#define SELECT_ZERO (UINT64_C(1) << 55)

void tm_median_search_add(tm_median_search *select, size_t list, double value) {
    uint64_t key = (uint64_t)(int64_t)value + SELECT_ZERO;
    /* This pass determines one byte. `below` is the number of bits below this byte. */
    int below = 8 * (TM_MEDIAN_SEARCH_PASSES - 1 - select->pass);
    assert(fabs(value) < 0x1p55);
    if (key >> below >> 8 == select->known[list])
        select->counts[list * TM_MEDIAN_SEARCH_BYTE + (key >> below & 0xff)]++;
}

static int64_t sum_of(const int64_t *counts) {
    int64_t sum = 0;
    for (int i = 0; i < TM_MEDIAN_SEARCH_BYTE; i++)
        sum += counts[i];
    return sum;
}

tm_status tm_median_search_next(tm_median_search *select, const tm_clock_reducer *reducer,
                                tm_error *err) {
    TM_TRY(reducer->sum(reducer->context, select->counts, select->n_lists * TM_MEDIAN_SEARCH_BYTE,
                        err));
    for (size_t list = 0; list < select->n_lists; list++) {
        const int64_t *counts = select->counts + list * TM_MEDIAN_SEARCH_BYTE;
        int64_t total = select->pass == 0 ? sum_of(counts) : 1;
        if (select->pass == 0)
            select->rank[list] = total > 0 ? (total - 1) / 2 : -1;
        if (select->rank[list] < 0)
            continue;
        uint64_t byte = 0;
        while (select->rank[list] >= counts[byte])
            select->rank[list] -= counts[byte++];
        select->known[list] = select->known[list] << 8 | byte;
    }
    select->pass++;
    clear_counts(select);
    return TM_OK;
}

double tm_median_search_median(const tm_median_search *select, size_t list) {
    if (select->rank[list] < 0)
        return 0.0;
    return (double)((int64_t)select->known[list] - (int64_t)SELECT_ZERO);
}

enum { BINS_OF_OCTAVE = 16, FIRST_OCTAVE = 4 };

void tm_spread_add(int64_t counts[TM_SPREAD_BINS], double magnitude) {
    int exponent; /* magnitude = fraction * 2^exponent, 1/2 <= fraction < 1 */
    double fraction = frexp(magnitude, &exponent);
    int bin = 0;
    if (exponent > FIRST_OCTAVE)
        bin = 1 + (exponent - 1 - FIRST_OCTAVE) * BINS_OF_OCTAVE +
              (int)((fraction * 2.0 - 1.0) * BINS_OF_OCTAVE);
    counts[bin < TM_SPREAD_BINS ? bin : TM_SPREAD_BINS - 1]++;
}

static double bin_begin(int bin) {
    if (bin == 0)
        return 0.0;
    int octave = (bin - 1) / BINS_OF_OCTAVE, part = (bin - 1) % BINS_OF_OCTAVE;
    return ldexp(1.0 + (double)part / BINS_OF_OCTAVE, octave + FIRST_OCTAVE);
}

double tm_spread_median(const int64_t counts[TM_SPREAD_BINS]) {
    int64_t total = 0, before = 0;
    for (int i = 0; i < TM_SPREAD_BINS; i++)
        total += counts[i];
    if (total == 0)
        return 0.0;
    int bin = 0;
    while (2 * (before + counts[bin]) < total)
        before += counts[bin++];
    double within = ((double)total / 2.0 - (double)before) / (double)counts[bin];
    return bin_begin(bin) + within * (bin_begin(bin + 1) - bin_begin(bin));
}

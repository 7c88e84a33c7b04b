#include "intervals.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

TM_ORDER_BY(by_begin, tm_interval, begin_ns);

/* Returns the end of the run that starts at index `at`: intervals that ascend by begin_ns. */
static size_t run_end(const tm_interval *v, size_t at, size_t n) {
    while (at + 1 < n && v[at].begin_ns <= v[at + 1].begin_ns)
        at++;
    return at < n ? at + 1 : n;
}

/* Merges neighbouring runs in pairs: [low, middle) with [middle, high). Returns the number of runs
 * that are left. */
static size_t merge_runs(const tm_interval *from, tm_interval *to, size_t n) {
    size_t runs = 0;
    for (size_t low = 0; low < n; runs++) {
        size_t middle = run_end(from, low, n), i = low, k = middle;
        size_t high = middle < n ? run_end(from, middle, n) : n;
        for (; low < high; low++)
            to[low] = k == high || (i < middle && from[i].begin_ns <= from[k].begin_ns) ? from[i++]
                                                                                        : from[k++];
    }
    return runs;
}

/* Natural merge sort: threads and streams add intervals in long ascending runs. */
static void sort_intervals(tm_interval *v, size_t n) {
    if (run_end(v, 0, n) == n)
        return;
    tm_interval *spare = malloc(n * sizeof *spare), *from = v, *to = spare;
    if (!spare) {
        qsort(v, n, sizeof *v, by_begin);
        return;
    }
    for (size_t runs = 2; runs > 1;) {
        runs = merge_runs(from, to, n);
        tm_interval *swap = from;
        from = to;
        to = swap;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
    free(spare);
}

void tm_intervals_normalise(tm_intervals *set) {
    tm_interval *v = set->data;
    size_t n = 0;
    sort_intervals(v, set->n);
    for (size_t i = 0; i < set->n; i++) {
        if (n > 0 && v[i].begin_ns <= v[n - 1].end_ns) {
            if (v[i].end_ns > v[n - 1].end_ns)
                v[n - 1].end_ns = v[i].end_ns;
        } else {
            v[n++] = v[i];
        }
    }
    set->n = n;
}

int64_t tm_intervals_length(const tm_intervals *set) {
    const tm_interval *v = set->data;
    int64_t sum = 0;
    for (size_t i = 0; i < set->n; i++)
        sum += v[i].end_ns - v[i].begin_ns;
    return sum;
}

size_t tm_intervals_first_after(const tm_intervals *set, int64_t ns) {
    return TM_FIRST_AFTER(tm_interval, end_ns, set->data, set->n, ns);
}

int64_t tm_intervals_length_in(const tm_intervals *set, int64_t begin_ns, int64_t end_ns) {
    const tm_interval *v = set->data;
    int64_t sum = 0;
    for (size_t i = tm_intervals_first_after(set, begin_ns); i < set->n && v[i].begin_ns < end_ns;
         i++) {
        int64_t begin = v[i].begin_ns > begin_ns ? v[i].begin_ns : begin_ns;
        int64_t end = v[i].end_ns < end_ns ? v[i].end_ns : end_ns;
        sum += end - begin;
    }
    return sum;
}

int64_t tm_intervals_common_in(const tm_intervals *a, const tm_intervals *b, int64_t begin_ns,
                               int64_t end_ns) {
    const tm_interval *x = a->data, *y = b->data;
    size_t i = tm_intervals_first_after(a, begin_ns), j = tm_intervals_first_after(b, begin_ns);
    int64_t sum = 0;
    while (i < a->n && j < b->n && x[i].begin_ns < end_ns && y[j].begin_ns < end_ns) {
        int64_t begin = x[i].begin_ns > y[j].begin_ns ? x[i].begin_ns : y[j].begin_ns;
        int64_t end = x[i].end_ns < y[j].end_ns ? x[i].end_ns : y[j].end_ns;
        begin = begin > begin_ns ? begin : begin_ns;
        end = end < end_ns ? end : end_ns;
        sum += end > begin ? end - begin : 0;
        if (x[i].end_ns < y[j].end_ns)
            i++;
        else
            j++;
    }
    return sum;
}

bool tm_intervals_intersect(const tm_intervals *a, const tm_intervals *b, tm_intervals *out) {
    const tm_interval *x = a->data, *y = b->data;
    size_t i = 0, j = 0;
    out->n = 0;
    while (i < a->n && j < b->n) {
        int64_t begin = x[i].begin_ns > y[j].begin_ns ? x[i].begin_ns : y[j].begin_ns;
        int64_t end = x[i].end_ns < y[j].end_ns ? x[i].end_ns : y[j].end_ns;
        if (!tm_intervals_add(out, begin, end))
            return false;
        if (x[i].end_ns < y[j].end_ns)
            i++;
        else
            j++;
    }
    return true;
}

bool tm_intervals_subtract(const tm_intervals *a, const tm_intervals *b, tm_intervals *out) {
    const tm_interval *x = a->data, *y = b->data;
    size_t j = 0;
    out->n = 0;
    for (size_t i = 0; i < a->n; i++) {
        int64_t begin = x[i].begin_ns;
        while (j < b->n && y[j].end_ns <= begin)
            j++;
        for (size_t k = j; k < b->n && y[k].begin_ns < x[i].end_ns; k++) {
            if (!tm_intervals_add(out, begin, y[k].begin_ns))
                return false;
            begin = y[k].end_ns;
        }
        if (!tm_intervals_add(out, begin, x[i].end_ns))
            return false;
    }
    return true;
}

bool tm_intervals_unite(const tm_intervals *a, const tm_intervals *b, tm_intervals *out) {
    const tm_interval *x = a->data, *y = b->data;
    size_t i = 0, j = 0;
    out->n = 0;
    if (a->n == 0 || b->n == 0) {
        const tm_intervals *whole = a->n > 0 ? a : b;
        return tm_vec_append(out, whole->data, whole->n) || whole->n == 0;
    }
    if (!tm_vec_reserve(out, a->n + b->n))
        return false;
    tm_interval *last = out->data;
    *last = x[0].begin_ns <= y[0].begin_ns ? x[i++] : y[j++];
    while (i < a->n || j < b->n) {
        bool first = j == b->n || (i < a->n && x[i].begin_ns <= y[j].begin_ns);
        const tm_interval *next = first ? &x[i++] : &y[j++];
        if (next->begin_ns > last->end_ns)
            *++last = *next;
        else if (next->end_ns > last->end_ns)
            last->end_ns = next->end_ns;
    }
    out->n = (size_t)(last - (tm_interval *)out->data) + 1;
    return true;
}

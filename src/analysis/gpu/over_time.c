#include "over_time.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "base/sums.h"

tm_over_time tm_over_time_make(const tm_timeline *timeline) {
    tm_over_time t = {.begin_ns = 0, .end_ns = 0};
    for (size_t i = 0; i < timeline->n_spans; i++) {
        const tm_span *span = &timeline->spans[i];
        if (span->n_gpu_events == 0)
            continue;
        bool first = t.end_ns == t.begin_ns;
        t.begin_ns = first || span->gpu_begin_ns < t.begin_ns ? span->gpu_begin_ns : t.begin_ns;
        t.end_ns = first || span->gpu_end_ns > t.end_ns ? span->gpu_end_ns : t.end_ns;
    }
    const int64_t ns = t.end_ns - t.begin_ns;
    for (int part = 0; part <= TM_PARTS;
         part++) /* no overflow, because recordings are far shorter than 2^63 / TM_PARTS ns */
        t.edge_ns[part] = ns / TM_PARTS * part + ns % TM_PARTS * part / TM_PARTS;
    return t;
}

int64_t tm_over_time_width(const tm_over_time *t, int part) {
    return t->edge_ns[part + 1] - t->edge_ns[part];
}

/* Returns the part that contains a time, counted from the start of the first part. */
static int part_at(const tm_over_time *t, int64_t ns) {
    int part = (int)((double)ns / (double)(t->end_ns - t->begin_ns) * TM_PARTS);
    part = part < TM_PARTS ? part : TM_PARTS - 1;
    while (part > 0 && t->edge_ns[part] > ns)
        part--;
    while (part + 1 < TM_PARTS && t->edge_ns[part + 1] <= ns)
        part++;
    return part;
}

/* Clips an interval to the rank's window, and makes it relative to the window's start. Returns
 * false if the interval is outside. */
static bool cut(const tm_over_time *t, int64_t *from_ns, int64_t *to_ns) {
    *from_ns = (*from_ns > t->begin_ns ? *from_ns : t->begin_ns) - t->begin_ns;
    *to_ns = (*to_ns < t->end_ns ? *to_ns : t->end_ns) - t->begin_ns;
    return *from_ns < *to_ns;
}

void tm_over_time_add(tm_over_time *t, int64_t from_ns, int64_t to_ns) {
    if (!cut(t, &from_ns, &to_ns))
        return;
    int first = part_at(t, from_ns), last = part_at(t, to_ns);
    if (first == last) {
        t->part[first] += to_ns - from_ns;
        return;
    }
    t->part[first] += t->edge_ns[first + 1] - from_ns;
    t->part[last] += to_ns - t->edge_ns[last];
    t->whole[first + 1]++;
    t->whole[last]--;
}

double tm_over_time_mean(const tm_over_time *t, int part) {
    int64_t whole = 0, width = tm_over_time_width(t, part);
    for (int i = 0; i <= part; i++)
        whole += t->whole[i];
    return width > 0 ? (double)whole + (double)t->part[part] / (double)width : 0.0;
}

void tm_over_time_spread(tm_over_time *t, int64_t from_ns, int64_t to_ns, int64_t amount) {
    int64_t from = from_ns, to = to_ns, given = 0;
    if (!cut(t, &from, &to))
        return;
    for (int part = part_at(t, from); part < TM_PARTS && t->edge_ns[part] < to; part++) {
        int64_t end = t->edge_ns[part + 1] < to ? t->edge_ns[part + 1] : to;
        double share = (double)(t->begin_ns + end - from_ns) / (double)(to_ns - from_ns);
        int64_t until = share < 1.0 ? (int64_t)(share * (double)amount + 0.5) : amount;
        t->part[part] = tm_sum(t->part[part], until - given);
        given = until;
    }
}

int64_t tm_over_time_begin(const tm_over_time *t, const tm_timeline *timeline, int part) {
    return tm_rank_clock_true(&timeline->clock, t->begin_ns + t->edge_ns[part]);
}

typedef struct place {
    double value;
    int64_t rank;
} place;

static int by_value(const void *a, const void *b) {
    const place *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value) - (x->value > y->value)
                                : tm_order_i64(x->rank, y->rank);
}

TM_ORDER_BY(by_rank, place, rank);

/* Ranks whose rows are kept, ascending. */
typedef struct kept {
    const place *places;
    size_t n;
} kept;

static bool is_kept(const tm_table *table, const tm_cell *row, void *context) {
    const kept *k = context;
    const place key = {.rank = row[0].value.i};
    (void)table;
    return bsearch(&key, k->places, k->n, sizeof key, by_rank) != NULL;
}

static double number(const tm_table *table, const tm_cell *cell, int column) {
    return cell->null                                    ? -1.0
           : table->def->columns[column].type == TM_REAL ? cell->value.r
                                                         : (double)cell->value.i;
}

tm_status tm_over_time_keep(tm_table *rows, const tm_table *ranks, int column, tm_error *err) {
    place *places = malloc((ranks->n_rows + 1) * sizeof *places);
    if (!places)
        return tm_fail_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *row = tm_table_row(ranks, i);
        double value = number(ranks, &row[column], column);
        if (n > 0 && places[n - 1].rank == row[0].value.i)
            places[n - 1].value += value;
        else
            places[n++] = (place){value, row[0].value.i};
    }
    if (n > TM_PARTS_RANKS) {
        qsort(places, n, sizeof *places, by_value);
        kept k = {places, TM_PARTS_RANKS};
        qsort(places, k.n, sizeof *places, by_rank);
        tm_table_filter(rows, is_kept, &k);
    }
    free(places);
    return TM_OK;
}

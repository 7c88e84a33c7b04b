#include "late_cause.h"

#include <math.h>
#include <stdlib.h>

#include "base/median.h"

/* Between the two limits the speed by itself neither accuses the GPU nor clears it; from the third
 * on a rank computes as fast as the others. */
static const double SLOW = 0.95, NORMAL = TM_LATE_NORMAL_SPEED, SAME = 0.99;
/* So many times what slower kernels take, idling outweighs them. */
static const double FAR = 10.0;
/* From this share of its steps on, waiting for batches may be why. */
static const double STALLED = 0.05;

/* Sums of a rank. */
typedef struct sums {
    int64_t rank, n, compute_ns, idle_ns;
} sums;

/* Whether it idles longer than every other, and that makes up most of what it is late. */
static bool explains(const tm_late_cause *c, int64_t most_idle_ns, int64_t late_ns) {
    return late_ns > 0 && c->idle_ns > most_idle_ns &&
           2 * (c->idle_ns - c->median_idle_ns) > late_ns;
}

/* What it computes longer than the median, and what it idles longer, tell who has most of it.
 * @param others  [n] what the others idle; brought out of order */
static void judge(tm_late_cause *c, int64_t compute_ns, int64_t *others, size_t n,
                  int64_t late_ns) {
    int64_t most_idle_ns = 0;
    for (size_t i = 0; i < n; i++)
        most_idle_ns = others[i] > most_idle_ns ? others[i] : most_idle_ns;
    c->median_idle_ns = n > 0 ? tm_median_any(others, n) : c->idle_ns;
    double slower_ns = (1.0 - c->speed) * (double)compute_ns;
    double idle_ns = (double)(c->idle_ns - c->median_idle_ns);
    if (c->speed < 0.0)
        return;
    /* A GPU may be slow, and that be nothing beside what its host leaves it idle. */
    bool far = compute_ns > 0 && idle_ns > FAR * slower_ns;
    if ((c->speed < SLOW && !far) || (c->speed < SAME && slower_ns > 2.0 * fmax(idle_ns, 0.0)))
        c->kind = TM_LATE_GPU;
    else if ((c->idle_ns > 2 * c->median_idle_ns || explains(c, most_idle_ns, late_ns)) &&
             (far || (c->speed >= NORMAL && idle_ns > slower_ns)))
        c->kind = TM_LATE_HOST;
}

static int64_t number(const tm_table *table, size_t row, const char *column) {
    return tm_table_cell(table, row, column)->value.i;
}

tm_late_cause tm_late_throughout(const tm_tables *tables, int64_t rank, int64_t late_ns) {
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    const tm_table *ranks = tm_tables_find(tables, "stragglers.rank");
    size_t at = tm_table_find_row(ranks, &rank, 1), n = 0;
    size_t own = tm_table_find_row(overlap, &rank, 1);
    tm_late_cause c = {.speed = -1.0};
    int64_t *idle = malloc((overlap->n_rows + 1) * sizeof *idle), compute_ns = 0;
    if (at < ranks->n_rows && !tm_table_cell(ranks, at, "relative_speed")->null)
        c.speed = tm_table_cell(ranks, at, "relative_speed")->value.r;
    if (own < overlap->n_rows) {
        c.idle_ns = number(overlap, own, "idle_ns");
        compute_ns = number(overlap, own, "compute_ns");
    }
    for (size_t i = 0; i < overlap->n_rows && idle; i++)
        if (number(overlap, i, "window_ns") > 0 && i != own)
            idle[n++] = number(overlap, i, "idle_ns");
    judge(&c, compute_ns, idle, n, late_ns);
    free(idle);
    return c;
}

/* The sums of each rank over the steps, by rank; returns how many ranks there are. */
static size_t sum_ranks(const tm_table *steps, int64_t from, int64_t to, sums *v) {
    size_t n = 0;
    for (size_t i = 0; i < steps->n_rows; i++) {
        int64_t rank = number(steps, i, "rank"), step = number(steps, i, "step");
        if (step < from || step > to || number(steps, i, "window_ns") <= 0)
            continue;
        if (n == 0 || v[n - 1].rank != rank)
            v[n++] = (sums){.rank = rank};
        v[n - 1].n++;
        v[n - 1].compute_ns += number(steps, i, "compute_ns");
        v[n - 1].idle_ns += number(steps, i, "idle_ns");
    }
    return n;
}

tm_late_cause tm_late_in_steps(const tm_tables *tables, int64_t rank, int64_t from, int64_t to,
                               int64_t late_ns) {
    const tm_table *steps = tm_tables_find(tables, "overlap.step");
    tm_late_cause c = {.speed = -1.0};
    sums *v = malloc((steps->n_rows + 1) * sizeof *v);
    int64_t *values = malloc((steps->n_rows + 1) * sizeof *values);
    size_t n = v && values ? sum_ranks(steps, from, to, v) : 0, own = 0, alike = 0;
    while (own < n && v[own].rank != rank)
        own++;
    if (own < n && v[own].compute_ns > 0) {
        /* Of ranks that have as many of the steps. */
        for (size_t i = 0; i < n; i++)
            if (v[i].n == v[own].n)
                values[alike++] = v[i].compute_ns;
        c.speed = (double)tm_median_any(values, alike) / (double)v[own].compute_ns;
        alike = 0;
        for (size_t i = 0; i < n; i++)
            if (v[i].n == v[own].n && i != own)
                values[alike++] = v[i].idle_ns;
        c.idle_ns = v[own].idle_ns;
        judge(&c, v[own].compute_ns, values, alike, late_ns);
    }
    free(v);
    free(values);
    return c;
}

bool tm_late_for_input(const tm_tables *tables, const tm_late_cause *c, int64_t rank, int64_t from,
                       int64_t to) {
    const tm_table *steps = tm_tables_find(tables, "input.step");
    int64_t *others = calloc(steps->n_rows + 1, sizeof *others);
    int64_t own = 0, window = 0, last = rank;
    size_t n = 0;
    for (size_t i = 0; i < steps->n_rows && others; i++) {
        int64_t whose = number(steps, i, "rank"), step = number(steps, i, "step");
        if (step < from || step > to)
            continue;
        if (whose == rank) {
            own += number(steps, i, "stall_ns");
            window += number(steps, i, "step_ns");
        } else {
            n += whose != last;
            others[n - 1] += number(steps, i, "stall_ns");
            last = whose;
        }
    }
    int64_t more = own - (n > 0 ? tm_median_any(others, n) : 0);
    free(others);
    return own > 0 && (double)own >= STALLED * (double)window &&
           2 * more >= c->idle_ns - c->median_idle_ns;
}

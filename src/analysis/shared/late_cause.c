#include "late_cause.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "same_kernels.h"
#include "words.h"

/* Limits for relative speeds. A GPU is slow below SLOW, and not slow above NORMAL; in between, this
 * is unknown. From SAME on, kernels count as fast as on other ranks. */
static const double SLOW = 0.95, NORMAL = TM_LATE_NORMAL_SPEED, SAME = 0.99;
/* If idle time costs this many times as much as slower kernels, the cause is idle time. */
static const double FAR = 10.0;
/* Input is the cause only if a rank waits for batches for at least this share of step time. */
static const double STALLED = 0.05;

/* Minimum duration of a gap that counts as a stall of the host [ns]. The kind "stall" in
 * whatif.item has the same limit. */
static const int64_t STALL_NS = 1000000;

/* Sums over the steps of a rank. */
typedef struct sums {
    int64_t rank, n, compute_ns, idle_ns;
} sums;

/* Returns whether a rank idles longest of all, and its excess of idle time is most of the
 * lateness. */
static bool explains(const tm_late_cause *c, int64_t most_idle_ns, int64_t late_ns) {
    return late_ns > 0 && c->idle_ns > most_idle_ns &&
           2 * (c->idle_ns - c->median_idle_ns) > late_ns;
}

/* Returns whether a rank is late because it computes longer, rather than because it idles longer.
 * @param far  whether idle time costs FAR times as much as slower kernels */
static bool computes_longer(double speed, double slower_ns, double idle_ns, bool far) {
    return (speed < SLOW && !far) || (speed < SAME && slower_ns > 2.0 * fmax(idle_ns, 0.0));
}

/* Times of a rank, and of the ranks that it is compared with. */
typedef struct peers {
    int64_t *compute_ns, *idle_ns; /* [n] */
    size_t n;
    int64_t rank;  /* the last peer, which is the only peer if n is 1 */
    bool equal;    /* whether the peers have the same amount of work */
    bool with_own; /* whether the rank's speed is relative to a median that includes the rank's own
                      time */
    int64_t own_compute_ns, own_idle_ns;
} peers;

/* Decides whether a rank is late because it computes longer or because it idles longer.
 * @param same  speed relative to the same kernels on other ranks
 * @param p     its arrays are reordered */
static void judge(tm_late_cause *c, tm_same_kernels_speed same, const peers *p, int64_t late_ns) {
    const int64_t compute_ns = p->own_compute_ns;
    int64_t most_idle_ns = 0;
    for (size_t i = 0; i < p->n; i++)
        most_idle_ns = p->idle_ns[i] > most_idle_ns ? p->idle_ns[i] : most_idle_ns;
    c->idle_ns = p->own_idle_ns;
    c->median_idle_ns = p->n > 0 ? tm_median_any(p->idle_ns, p->n) : c->idle_ns;
    double speed = same.speed >= 0.0 ? same.speed : c->speed;
    c->peer = p->n == 1 ? p->rank : -1;
    double slower_ns = (1.0 - speed) * (double)compute_ns;
    double more_ns = (1.0 - c->speed) * (double)compute_ns;
    double idle_ns = (double)(c->idle_ns - c->median_idle_ns);
    if (c->speed < 0.0)
        return;
    /* Idle time that costs far more than slower kernels is the cause, even if the GPU is slow. */
    bool far = compute_ns > 0 && idle_ns > FAR * slower_ns;
    if (p->equal && computes_longer(speed, slower_ns, idle_ns, far))
        c->kind = TM_LATE_GPU;
    else if (same.speed >= SAME && p->equal &&
             computes_longer(c->speed, more_ns, idle_ns, idle_ns > FAR * more_ns))
        c->kind = TM_LATE_WORK;
    else if ((c->idle_ns > 2 * c->median_idle_ns || explains(c, most_idle_ns, late_ns)) &&
             (far || (speed >= NORMAL && idle_ns > slower_ns)))
        c->kind = TM_LATE_HOST;
    c->same_kernels = c->kind == TM_LATE_GPU && same.all_slower;
    const bool of_same = same.speed >= 0.0 && (c->kind == TM_LATE_GPU || c->kind == TM_LATE_HOST);
    if (of_same)
        c->speed = speed;
    else if (c->peer >= 0 && p->with_own) /* with two ranks, the median is (own + other) / 2, so the
                                             speed is (1 + other / own) / 2 */
        c->speed = 2.0 * c->speed - 1.0;
}

static int64_t number(const tm_table *table, size_t row, const char *column) {
    return tm_table_cell(table, row, column)->value.i;
}

/* Returns the duration of the 100th longest gap [ns]; 0 if there are fewer gaps. Only longer gaps
 * count. The table idle.gap may have more than 100 gaps, because each process adds its own longest
 * gaps. */
static int64_t least_gap(const tm_table *gaps) {
    enum { LONGEST = 100 };
    int64_t *lengths = malloc((gaps->n_rows + 1) * sizeof *lengths), ns = lengths ? 0 : INT64_MAX;
    for (size_t i = 0; i < gaps->n_rows && lengths; i++)
        lengths[i] = number(gaps, i, "duration_ns");
    if (lengths && gaps->n_rows >= LONGEST)
        ns = tm_select(lengths, gaps->n_rows, gaps->n_rows - LONGEST);
    free(lengths);
    return ns;
}

/* Returns whether a row of idle.gap is a long gap of the rank in steps [from, to] with the cause
 * host_work. */
static bool is_late_gap(const tm_table *gaps, size_t row, int64_t rank, int64_t from, int64_t to,
                        int64_t least_ns) {
    const tm_cell *step = tm_table_cell(gaps, row, "step");
    bool inside =
        from == INT64_MIN || (!step->null && step->value.i >= from && step->value.i <= to);
    return number(gaps, row, "rank") == rank && inside &&
           number(gaps, row, "duration_ns") > least_ns &&
           strcmp(tm_table_cell(gaps, row, "cause")->value.text, "host_work") == 0;
}

/* Finds the call in which the host spent most of the time of a rank's longest gaps. */
static void find_call(const tm_tables *tables, int64_t rank, int64_t from, int64_t to,
                      tm_late_cause *c) {
    const tm_table *gaps = tm_tables_find(tables, "idle.gap");
    const int64_t least_ns = least_gap(gaps);
    int64_t gaps_ns = 0, most_ns = 0, n = 0;
    const char *most = NULL;
    for (size_t i = 0; i < gaps->n_rows; i++) {
        const tm_cell *call = tm_table_cell(gaps, i, "host");
        int64_t ns = 0;
        if (!is_late_gap(gaps, i, rank, from, to, least_ns))
            continue;
        gaps_ns += number(gaps, i, "duration_ns");
        n++;
        for (size_t k = 0; k < gaps->n_rows && !call->null; k++)
            if (is_late_gap(gaps, k, rank, from, to, least_ns) &&
                !tm_table_cell(gaps, k, "host")->null &&
                strcmp(tm_table_cell(gaps, k, "host")->value.text, call->value.text) == 0)
                ns += number(gaps, k, "host_ns");
        most = ns > most_ns ? call->value.text : most;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    /* Reports no call if the gaps are short, because on every rank the host spends short gaps in
     * the launch call. Also reports no call if the gaps together are too short to explain the
     * lateness. */
    if (most_ns == 0 || 2 * most_ns < gaps_ns || gaps_ns < n * STALL_NS ||
        10 * gaps_ns < c->idle_ns - c->median_idle_ns)
        return;
    c->call = most;
    c->call_ns = most_ns;
    c->gaps_ns = gaps_ns;
}

/* Sums the rank's extra work in steps [from, to]. */
static void find_extra(const tm_tables *tables, int64_t rank, int64_t from, int64_t to,
                       int64_t late_ns, tm_late_cause *c) {
    const tm_table *table = tm_tables_find(tables, "stragglers.extra");
    const tm_table *steps = tm_tables_find(tables, "overlap.step");
    int64_t most_ns = -1;
    for (size_t i = 0; i < steps->n_rows; i++)
        c->extra.of_steps += number(steps, i, "rank") == rank && number(steps, i, "step") >= from &&
                             number(steps, i, "step") <= to;
    for (size_t i = 0; i < table->n_rows; i++) {
        const int64_t step = number(table, i, "step");
        if (number(table, i, "rank") != rank || step < from || step > to)
            continue;
        const tm_cell *name = tm_table_cell(table, i, "name");
        c->extra.steps++;
        c->extra.kernels += number(table, i, "kernels");
        c->extra.ns += number(table, i, "extra_ns");
        c->extra.host_ns += number(table, i, "host_ns");
        if (!name->null && number(table, i, "name_ns") > most_ns) {
            most_ns = number(table, i, "name_ns");
            c->extra.name = name->value.text;
        }
    }
    /* Takes the longer of the two times, not their sum, because GPU and host may work at the same
     * time. */
    const int64_t longer_ns = c->extra.ns > c->extra.host_ns ? c->extra.ns : c->extra.host_ns;
    if (late_ns > 0 && c->extra.kernels > 0 && 2 * longer_ns >= late_ns)
        c->kind = TM_LATE_EXTRA;
}

/* Returns the rank's pipeline stage; -1 if it is in no pipeline. Only ranks of the same stage are
 * compared, because stages may have unequal work. */
static int64_t stage_of(const tm_tables *tables, int64_t rank) {
    const tm_table *places = tm_tables_find(tables, "bubble.place");
    size_t row = tm_table_find_row(places, &rank, 1);
    return row < places->n_rows ? number(places, row, "stage") : -1;
}

/* Returns the speed of the rank's kernels relative to the same kernels on other ranks. In a
 * pipeline, only ranks of the same stage are compared.
 * @param values  scratch space [ranks] */
static tm_same_kernels_speed same_kernels(const tm_tables *tables, int64_t rank, double *values) {
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    const int64_t stage = stage_of(tables, rank);
    tm_same_kernels_speed own = tm_same_kernels_of(tables, rank);
    size_t n = 0;
    for (size_t i = 0; i < overlap->n_rows && stage >= 0 && own.speed >= 0.0; i++) {
        const int64_t other = number(overlap, i, "rank");
        if (other == rank || stage_of(tables, other) != stage)
            continue;
        values[n] = tm_same_kernels_of(tables, other).speed;
        n += values[n] > 0.0;
    }
    if (stage >= 0 && own.speed >= 0.0)
        own.speed = n > 0 ? own.speed / tm_median_real(values, n) : -1.0;
    return own;
}

/* Returns whether a rank's idle time is known. It is unknown if only communication was recorded. */
static bool knows_idle(const tm_table *overlap, size_t row) {
    return !tm_table_cell(overlap, row, "compute_ns")->null ||
           !tm_table_cell(overlap, row, "idle_ns")->null;
}

/* Collects the times of the other ranks of the rank's stage, or of all other ranks if its stage has
 * no others. */
static bool find_peers(const tm_tables *tables, int64_t rank, peers *p) {
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    const int64_t stage = stage_of(tables, rank);
    *p = (peers){.compute_ns = malloc((overlap->n_rows + 1) * sizeof(int64_t)),
                 .idle_ns = malloc((overlap->n_rows + 1) * sizeof(int64_t)),
                 .equal = true};
    for (int all = stage < 0; all < 2 && p->n == 0 && p->compute_ns && p->idle_ns; all++) {
        p->equal = stage < 0 || !all;
        p->with_own = stage < 0 || !p->equal;
        for (size_t i = 0; i < overlap->n_rows; i++) {
            const int64_t other = number(overlap, i, "rank");
            if (other == rank) {
                p->own_compute_ns = number(overlap, i, "compute_ns");
                p->own_idle_ns = number(overlap, i, "idle_ns");
            } else if (number(overlap, i, "window_ns") > 0 && knows_idle(overlap, i) &&
                       (all || stage_of(tables, other) == stage)) {
                p->compute_ns[p->n] = number(overlap, i, "compute_ns");
                p->idle_ns[p->n++] = number(overlap, i, "idle_ns");
                p->rank = other;
            }
        }
    }
    return p->compute_ns && p->idle_ns;
}

/* Returns a rank's speed; -1 if unknown. In a pipeline, it is relative to the rank's stage;
 * otherwise it is from stragglers.rank. */
static double speed_of(const tm_tables *tables, int64_t rank, const peers *p) {
    const tm_table *ranks = tm_tables_find(tables, "stragglers.rank");
    size_t at = tm_table_find_row(ranks, &rank, 1);
    if (stage_of(tables, rank) >= 0 && p->equal && p->n > 0 && p->own_compute_ns > 0)
        return (double)tm_median_any(p->compute_ns, p->n) / (double)p->own_compute_ns;
    if (at == ranks->n_rows || tm_table_cell(ranks, at, "relative_speed")->null)
        return -1.0;
    return tm_table_cell(ranks, at, "relative_speed")->value.r;
}

/* Returns whether a column of idle.rank explains most of the time by which the rank idles longer
 * than the other ranks. */
static bool idles_in(const tm_tables *tables, int64_t rank, const tm_late_cause *c,
                     const char *column) {
    const tm_table *idle = tm_tables_find(tables, "idle.rank");
    int64_t *others = malloc((idle->n_rows + 1) * sizeof *others), more = 0;
    size_t n = 0;
    for (size_t i = 0; i < idle->n_rows && others; i++)
        if (number(idle, i, "rank") == rank)
            more = number(idle, i, column);
        else
            others[n++] = number(idle, i, column);
    more -= n > 0 ? tm_median_any(others, n) : more;
    free(others);
    return 2 * more > c->idle_ns - c->median_idle_ns;
}

/* Returns why a rank idles longer. The host is not the cause of time in which the next kernel was
 * certainly queued. */
static tm_late_kind idle_kind(const tm_tables *tables, int64_t rank, const tm_late_cause *c) {
    return idles_in(tables, rank, c, "queued_ns")  ? TM_LATE_QUEUE
           : idles_in(tables, rank, c, "other_ns") ? TM_LATE_UNKNOWN
                                                   : TM_LATE_HOST;
}

/* Returns whether a rank's CPU is slow. This explains both slow operators and longer idle time,
 * because the work between operators is also slow. */
static bool is_slow_cpu(const tm_tables *tables, int64_t rank, const tm_late_cause *c) {
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    const size_t row = tm_table_find_row(overlap, &rank, 1);
    if (c->kind != TM_LATE_GPU || row == overlap->n_rows ||
        strcmp(tm_words_device(tables), "CPU") != 0)
        return false;
    const double slower_ns = (1.0 - c->speed) * (double)number(overlap, row, "compute_ns");
    return (double)(c->idle_ns - c->median_idle_ns) <= 2.0 * slower_ns;
}

/* Sets the cause from the kind of work that takes longer. TM_LATE_EXTRA and TM_LATE_QUEUE do not
 * change. On a rank whose CPU is slow, no cause changes. */
static void set_by_work(const tm_tables *tables, tm_late_cause *cause, int64_t rank,
                        const char *work) {
    if (cause->kind == TM_LATE_QUEUE || cause->kind == TM_LATE_EXTRA ||
        is_slow_cpu(tables, rank, cause))
        return;
    if (strcmp(work, "queue") == 0)
        cause->kind = TM_LATE_QUEUE;
    else if (strcmp(work, "host") == 0)
        cause->kind = TM_LATE_HOST;
    else if (strcmp(work, "device") == 0 && cause->kind != TM_LATE_WORK)
        cause->kind = TM_LATE_GPU;
}

static tm_late_cause late_throughout(const tm_tables *tables, int64_t rank, int64_t late_ns) {
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    double *speeds = malloc((overlap->n_rows + 1) * sizeof *speeds);
    tm_late_cause c = {.peer = -1, .speed = -1.0};
    peers p = {0};
    const size_t own = tm_table_find_row(overlap, &rank, 1);
    const bool known = own < overlap->n_rows && knows_idle(overlap, own);
    if (known && find_peers(tables, rank, &p) && speeds) {
        c.speed = speed_of(tables, rank, &p);
        judge(&c, same_kernels(tables, rank, speeds), &p, late_ns);
        if (c.kind == TM_LATE_HOST)
            c.kind = idle_kind(tables, rank, &c);
        if (c.kind == TM_LATE_HOST)
            find_call(tables, rank, INT64_MIN, INT64_MAX, &c);
    }
    find_extra(tables, rank, INT64_MIN, INT64_MAX, late_ns, &c);
    free(speeds);
    free(p.compute_ns);
    free(p.idle_ns);
    return c;
}

/* Sums the steps of each rank into @p v, in the order of ranks. Returns the number of ranks. */
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

/* Returns whether `own` is compared with `other`: both have the same number of steps, and `other`
 * is in pipeline stage @p stage if that is not -1. */
static bool is_compared(const tm_tables *tables, const sums *other, const sums *own,
                        int64_t stage) {
    return other->n == own->n && (stage < 0 || stage_of(tables, other->rank) == stage);
}

static tm_late_cause late_in_steps(const tm_tables *tables, int64_t rank, int64_t from, int64_t to,
                                   int64_t late_ns) {
    const tm_table *steps = tm_tables_find(tables, "overlap.step");
    tm_late_cause c = {.peer = -1, .speed = -1.0};
    sums *v = malloc((steps->n_rows + 1) * sizeof *v);
    int64_t *values = malloc((steps->n_rows + 1) * sizeof *values);
    size_t n = v && values ? sum_ranks(steps, from, to, v) : 0, own = 0, compared = 0;
    while (own < n && v[own].rank != rank)
        own++;
    const int64_t stage = stage_of(tables, rank);
    bool equal = stage < 0;
    for (size_t i = 0; i < n && own < n; i++)
        equal = equal || (i != own && is_compared(tables, &v[i], &v[own], stage));
    if (own < n && v[own].compute_ns > 0) {
        for (size_t i = 0; i < n; i++)
            if (is_compared(tables, &v[i], &v[own], equal ? stage : -1))
                values[compared++] = v[i].compute_ns;
        c.speed = (double)tm_median_any(values, compared) / (double)v[own].compute_ns;
        int64_t last = -1;
        compared = 0;
        for (size_t i = 0; i < n; i++)
            if (i != own && is_compared(tables, &v[i], &v[own], equal ? stage : -1)) {
                values[compared++] = v[i].idle_ns;
                last = v[i].rank;
            }
        const peers p = {.idle_ns = values,
                         .n = compared,
                         .rank = last,
                         .with_own = true,
                         .equal = equal,
                         .own_compute_ns = v[own].compute_ns,
                         .own_idle_ns = v[own].idle_ns};
        judge(&c, (tm_same_kernels_speed){.speed = -1.0}, &p, late_ns);
        if (c.kind == TM_LATE_HOST)
            find_call(tables, rank, from, to, &c);
    }
    find_extra(tables, rank, from, to, late_ns, &c);
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

tm_late_cause tm_late_cause_of(const tm_tables *tables, const tm_late_window *w) {
    tm_late_cause cause = w->throughout || !w->steps
                              ? late_throughout(tables, w->rank, w->late_ns)
                              : late_in_steps(tables, w->rank, w->from, w->to, w->late_ns);
    if (!w->throughout && !w->steps)
        cause.kind = TM_LATE_UNKNOWN;
    set_by_work(tables, &cause, w->rank, w->work);
    if (cause.kind != TM_LATE_HOST)
        cause.call = NULL;
    return cause;
}

#include "clock/differences.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"

enum {
    LEAST_LOG2 = 12, /* durations below 2^12 ns = 4.1 us are in the first class; the last class
                        starts at 67 ms */
    DURATIONS = 16,
    QUIET_ENDS = 64 /* minimum number of ends for an estimate of the noise of a class */
};
#define MAD_TO_SIGMA 1.4826

/* Data of at least this size does not fit into buffers. So the sender cannot leave its kernel
 * before the receiver has started. */
#define LARGE_BYTES ((int64_t)64 << 20)

TM_ORDER_BY(by_rank, tm_clock_slot, rank);

const tm_clock_slot *tm_clock_slot_of(const tm_clock_slots *slots, int64_t rank) {
    tm_clock_slot wanted = {.rank = rank};
    return bsearch(&wanted, slots->slots, slots->n, sizeof wanted, by_rank);
}

/* A kernel of an operation, with its rank's domain and host. */
typedef struct part {
    const tm_comm_record *record;
    int32_t domain, host;
} part;

/* The current operation. */
typedef struct operation {
    part *parts; /* [n] sorted by domain or by host, then by end */
    size_t n;
    uint16_t noise_class;
    bool full; /* the operation synchronises */
    bool pair;
} operation;

static int by_domain(const void *a, const void *b) {
    const part *x = a, *y = b;
    int order = tm_order_i64(x->domain, y->domain);
    return order ? order : tm_order_i64(x->record->end_ns, y->record->end_ns);
}

static int by_host(const void *a, const void *b) {
    const part *x = a, *y = b;
    int order = tm_order_i64(x->host, y->host);
    return order ? order : tm_order_i64(x->record->end_ns, y->record->end_ns);
}

static int by_end(const void *a, const void *b) {
    const part *x = a, *y = b;
    return tm_order_i64(x->record->end_ns, y->record->end_ns);
}

static uint16_t class_of(uint8_t kind, int64_t shortest_ns) {
    int family = kind == TM_COLL_ALLREDUCE || kind == TM_COLL_BARRIER ? 0
                 : kind == TM_COLL_ALLGATHER                          ? 1
                 : kind == TM_COLL_REDUCESCATTER                      ? 2
                 : kind == TM_COLL_ALLTOALL                           ? 3
                 : tm_collective_is_one_way(kind)                     ? 4
                                                                      : 5;
    int log2 = 0;
    while (log2 < DURATIONS - 1 && shortest_ns >> (LEAST_LOG2 + log2) > 0)
        log2++;
    return (uint16_t)(family * DURATIONS + log2);
}

/* Returns whether each rank waits for all others. In an all-to-all of unequal sizes, two ranks may
 * exchange nothing and then do not wait for each other. */
static bool is_full(const tm_comm_record *members, size_t n) {
    bool full = tm_record_synchronises(members);
    for (size_t i = 1; i < n; i++)
        full = full && tm_record_synchronises(&members[i]) &&
               (members->kind != TM_COLL_ALLTOALL || members[i].bytes == members->bytes);
    return full;
}

/* Collects the members of an operation whose times can be trusted. Sets op->n to 0 if the operation
 * shows nothing about clocks. */
static void open_operation(const tm_collectives *collectives, size_t instance,
                           const tm_clock_slots *slots, operation *op) {
    const tm_instance *in = (const tm_instance *)collectives->instances.data + instance;
    const tm_comm_record *members = (const tm_comm_record *)collectives->records.data + in->first;
    int64_t shortest = INT64_MAX;
    op->n = 0;
    op->pair = members->way == TM_MATCH_PAIR && members->bytes != 0;
    op->full = is_full(members, in->n) || (op->pair && members->bytes >= LARGE_BYTES);
    if (in->state == TM_INSTANCE_SUSPECT || in->n < 2 || (!op->full && !op->pair))
        return;
    for (size_t i = 0; i < in->n; i++) {
        const tm_clock_slot *slot = tm_clock_slot_of(slots, members[i].rank);
        int64_t duration = members[i].end_ns - members[i].begin_ns;
        if (members[i].wrong_clock || members[i].transfer_alone)
            continue;
        shortest = duration < shortest ? duration : shortest;
        op->parts[op->n++] = (part){&members[i], slot->domain, slot->host};
    }
    op->noise_class = class_of(members->kind, shortest);
}

/* Allocates space for the parts of the largest instance; NULL if out of memory. */
static part *take_parts(const tm_collectives *collectives) {
    const tm_instance *instances = collectives->instances.data;
    size_t most = 1;
    for (size_t i = 0; i < collectives->instances.n; i++)
        most = instances[i].n > most ? instances[i].n : most;
    return malloc(most * sizeof(part));
}

static uint8_t flags_of(const operation *op, const part *p) {
    if (op->full)
        return TM_CLOCK_FULL;
    return p->record->kind == TM_COLL_SEND ? TM_CLOCK_GIVES : TM_CLOCK_TAKES;
}

/* Makes a row of the fit from parts [from, to), which must belong to one domain and be sorted by
 * end. */
static tm_clock_end row_of(const operation *op, size_t instance, size_t from, size_t to) {
    const part *first = &op->parts[from];
    uint64_t identity = first->record->group + (uint64_t)31 * first->record->kind;
    tm_clock_end row = {.event = instance,
                        .begin_max_ns = first->record->begin_ns,
                        .end_min_ns = first->record->end_ns,
                        .end_ns = op->parts[from + (to - from - 1) / 2].record->end_ns,
                        .domain = first->domain,
                        .n_ranks = (int32_t)(to - from),
                        .noise_class = op->noise_class,
                        .flags = flags_of(op, first),
                        .stratum = (uint8_t)((identity ^ identity >> 29) % TM_CLOCK_STRATA)};
    for (size_t i = from + 1; i < to; i++) {
        const tm_comm_record *record = op->parts[i].record;
        row.begin_max_ns =
            record->begin_ns > row.begin_max_ns ? record->begin_ns : row.begin_max_ns;
    }
    return row;
}

static bool add_rows(operation *op, size_t instance, tm_vec *out) {
    bool ok = true;
    qsort(op->parts, op->n, sizeof *op->parts, by_domain);
    for (size_t from = 0, to = 0; from < op->n && ok; from = to) {
        for (to = from + 1; to < op->n && op->parts[to].domain == op->parts[from].domain; to++)
            ;
        tm_clock_end row = row_of(op, instance, from, to);
        ok = (from == 0 && to == op->n) ||
             tm_vec_append(out, &row, 1); /* an operation within a single domain gives no row */
    }
    return ok;
}

tm_status tm_clock_rows(const tm_collectives *collectives, const tm_clock_slots *slots, tm_vec *out,
                        tm_error *err) {
    operation op = {.parts = take_parts(collectives)};
    bool ok = op.parts != NULL;
    for (size_t i = 0; i < collectives->instances.n && ok; i++) {
        open_operation(collectives, i, slots, &op);
        ok = op.n < 2 || add_rows(&op, i, out);
    }
    free(op.parts);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Compares the ends of parts [from, to), sorted by end, with their median. */
static bool compare(const operation *op, size_t from, size_t to, tm_vec *out, int64_t *counts) {
    size_t n = to - from;
    int64_t last_ns = INT64_MIN;
    for (size_t i = from; i < to; i++)
        last_ns = op->parts[i].record->begin_ns > last_ns ? op->parts[i].record->begin_ns : last_ns;
    int64_t middle = op->parts[from + (n - 1) / 2].record->end_ns;
    middle += (op->parts[from + n / 2].record->end_ns - middle) / 2;
    for (size_t i = from; i < to && n > 1; i++) {
        const tm_comm_record *record = op->parts[i].record;
        tm_clock_difference d = {record->rank, record->end_ns, record->end_ns - middle,
                                 last_ns > record->end_ns + TM_CLOCK_TOLERANCE_NS};
        if (counts)
            tm_spread_add(counts + (size_t)op->noise_class * TM_SPREAD_BINS,
                          fabs((double)d.late_ns));
        if (out && !tm_vec_append(out, &d, 1))
            return false;
    }
    return true;
}

static bool compare_by_host(operation *op, tm_vec *out, int64_t *counts) {
    bool ok = true;
    qsort(op->parts, op->n, sizeof *op->parts, by_host);
    for (size_t from = 0, to = 0; from < op->n && ok; from = to) {
        for (to = from + 1; to < op->n && op->parts[to].host == op->parts[from].host; to++)
            ;
        ok = compare(op, from, to, out, counts);
    }
    return ok;
}

tm_status tm_clock_compare(const tm_collectives *collectives, const tm_clock_slots *slots,
                           const tm_clock_compared *compared, tm_vec *out, int64_t *counts,
                           tm_error *err) {
    operation op = {.parts = take_parts(collectives)};
    bool ok = op.parts != NULL;
    for (size_t i = 0; i < collectives->instances.n && ok; i++) {
        open_operation(collectives, i, slots, &op);
        if (op.n < 2 || !op.full || (compared->classes && !compared->classes[op.noise_class]))
            continue;
        if (compared->by_host) {
            ok = compare_by_host(&op, out, counts);
        } else {
            qsort(op.parts, op.n, sizeof *op.parts, by_end);
            ok = compare(&op, 0, op.n, out, counts);
        }
    }
    free(op.parts);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_clock_quiet(const int64_t *counts, bool *classes) {
    double noise[TM_CLOCK_CLASSES], least = 0.0;
    int64_t most = 0;
    for (int class = 0; class < TM_CLOCK_CLASSES; class ++) {
        int64_t total = 0;
        for (int bin = 0; bin < TM_SPREAD_BINS; bin++)
            total += counts[(size_t) class * TM_SPREAD_BINS + (size_t)bin];
        noise[class] = MAD_TO_SIGMA * tm_spread_median(counts + (size_t) class * TM_SPREAD_BINS);
        bool enough = total >= QUIET_ENDS;
        bool better = enough ? most < QUIET_ENDS || noise[class] < least : total > most;
        least = better ? noise[class] : least;
        most = better ? total : most;
    }
    for (int class = 0; class < TM_CLOCK_CLASSES; class ++)
        classes[class] = noise[class] <= 2.0 * least;
}

TM_ORDER_BY(by_rank_and_end, tm_clock_difference, rank, end_ns, late_ns);

static double median(const tm_clock_difference *from, size_t n, double *values) {
    for (size_t i = 0; i < n; i++)
        values[i] = (double)from[i].late_ns;
    return tm_median_real(values, n);
}

static double spread(const tm_clock_difference *from, size_t n, double middle, double *values) {
    for (size_t i = 0; i < n; i++)
        values[i] = fabs((double)from[i].late_ns - middle);
    return MAD_TO_SIGMA * tm_median_real(values, n);
}

tm_status tm_clock_summarise(tm_clock_difference *differences, size_t n, tm_vec *out,
                             tm_error *err) {
    double *values = malloc((n + 1) * sizeof *values);
    bool ok = values != NULL;
    if (ok && n > 1)
        qsort(differences, n, sizeof *differences, by_rank_and_end);
    for (size_t from = 0, to = 0; from < n && ok; from = to) {
        for (to = from + 1; to < n && differences[to].rank == differences[from].rank; to++)
            ;
        const tm_clock_difference *own = &differences[from];
        /* if m is odd, the middle end is in both halves */
        size_t m = to - from, half = (m + 1) / 2;
        tm_clock_late late = {
            .rank = own->rank,
            .n = (int64_t)m,
            .early_ns = median(own, half, values),
            .late_ns = median(own + m - half, half, values),
            .all_ns = median(own, m, values),
        };
        late.spread_ns = spread(own, m, late.all_ns, values);
        for (size_t i = 0; i < m; i++)
            late.n_broken += own[i].broken;
        ok = tm_vec_append(out, &late, 1);
    }
    free(values);
    return ok ? TM_OK : tm_fail_memory(err);
}

#include "link_test.h"

#include <math.h>
#include <stdlib.h>

#include "pairing.h"

/* Lower limits of the noise of ends: on one clock, and between hosts. */
#define LEAST_NOISE_NS 1000
#define BETWEEN_HOSTS_NS 10000

/* Largest clock offset of two GPUs of one host. */
#define DEVICES_APART_NS 10000

/* Standard deviation of a normal distribution, divided by the median distance of its values from
 * their median. */
#define MEDIAN_TO_SIGMA 1.48

static const double drift_limit = 200e-6;

/* The operations that both clusters have, and how much later cluster b was in each. */
typedef struct weighing {
    const tm_cluster *a, *b;
    const int64_t *partners;
    bool one_clock;
    size_t n;         /* number of operations compared */
    size_t *index;    /* [n] index of the operation in a */
    int64_t *late;    /* [n] how much later b arrived than a */
    int64_t *apart;   /* [n] how much later b left than a */
    int64_t *scratch; /* [n] */
    tm_bridge bridge;
} weighing;

static tm_status open_weighing(weighing *w, tm_error *err) {
    size_t n = w->a->run.n + 1;
    w->index = calloc(n, sizeof *w->index);
    w->late = calloc(n, sizeof *w->late);
    w->apart = calloc(n, sizeof *w->apart);
    w->scratch = calloc(n, sizeof *w->scratch);
    return w->index && w->late && w->apart && w->scratch ? TM_OK : tm_fail_memory(err);
}

static void close_weighing(weighing *w) {
    free(w->index);
    free(w->late);
    free(w->apart);
    free(w->scratch);
}

static int32_t most_ranks(const tm_cluster *cluster) {
    int32_t most = 0;
    for (size_t i = 0; i < cluster->run.n; i++)
        most = cluster->ops[i].n > most ? cluster->ops[i].n : most;
    return most;
}

/* Collects the operations that at least half of the ranks of each cluster have and whose starts
 * show lateness. */
static void collect(weighing *w) {
    const tm_cluster *a = w->a, *b = w->b;
    int32_t of_a = most_ranks(a), of_b = most_ranks(b);
    for (size_t i = 0; i < a->run.n; i++) {
        int64_t j = w->partners[i];
        if (j < 0 || !a->ops[i].telling || !b->ops[j].telling || 2 * a->ops[i].n < of_a ||
            2 * b->ops[j].n < of_b)
            continue;
        w->index[w->n] = i;
        w->late[w->n] = b->run.marks[j].begin_ns - a->run.marks[i].begin_ns;
        w->apart[w->n++] = b->run.marks[j].end_ns - a->run.marks[i].end_ns;
    }
}

static int64_t end_of(const weighing *w, size_t k) {
    return w->a->run.marks[w->index[k]].end_ns;
}

static int64_t median_of(weighing *w, const int64_t *values, size_t from, size_t n) {
    for (size_t k = 0; k < n; k++)
        w->scratch[k] = values[from + k];
    return tm_cluster_median(w->scratch, n);
}

/* For different clocks: fits offset and drift to the ends, and subtracts the median from the
 * latenesses. */
static void fit_clocks(weighing *w) {
    size_t third = w->n / 3;
    tm_bridge *bridge = &w->bridge;
    bridge->at_ns = w->n > 0 ? end_of(w, w->n / 2) : 0;
    int64_t span = third > 1 ? end_of(w, w->n - third / 2 - 1) - end_of(w, third / 2) : 0;
    int64_t rise = median_of(w, w->apart, w->n - third, third) - median_of(w, w->apart, 0, third);
    if (span > 0)
        bridge->drift = fmin(fmax((double)rise / (double)span, -drift_limit), drift_limit);
    for (size_t k = 0; k < w->n; k++)
        w->apart[k] -= tm_bridge_offset(bridge, end_of(w, k));
    bridge->offset_ns = median_of(w, w->apart, 0, w->n);
    for (size_t k = 0; k < w->n; k++) {
        w->apart[k] -= bridge->offset_ns;
        w->late[k] -= tm_bridge_offset(bridge, end_of(w, k));
    }
    int64_t middle = median_of(w, w->late, 0, w->n);
    for (size_t k = 0; k < w->n; k++)
        w->late[k] -= middle;
}

/* On one host: if the ends have a small constant offset, takes this as the offset of two GPUs'
 * clocks. */
static void set_devices(weighing *w) {
    int64_t offset = median_of(w, w->apart, 0, w->n);
    if (llabs(offset) > DEVICES_APART_NS)
        return;
    w->bridge.offset_ns = offset;
    for (size_t k = 0; k < w->n; k++) {
        w->apart[k] -= offset;
        w->late[k] -= offset;
    }
}

/* Returns whether all ranks of one cluster left an operation more than @p slack_ns before the last
 * rank of the other cluster arrived. */
static bool breaks_causality(const weighing *w, size_t k, int64_t slack_ns) {
    size_t i = w->index[k], j = (size_t)w->partners[i];
    const tm_mark *a = &w->a->run.marks[i], *b = &w->b->run.marks[j];
    int64_t offset = tm_bridge_offset(&w->bridge, a->end_ns);
    int64_t lead = a->begin_ns - (w->b->ops[j].first_end_ns - offset);
    int64_t other = b->begin_ns - offset - w->a->ops[i].first_end_ns;
    return a->synchronises && (lead > slack_ns || other > slack_ns);
}

/* Returns the part of the noise of ends that is due to the transfer: 6 % of its duration. The
 * duration is at most the time from the last arrival to the end, in the cluster in which this time
 * is shorter. */
static int64_t transfer_noise(const weighing *w, size_t k) {
    const tm_mark *a = &w->a->run.marks[w->index[k]];
    const tm_mark *b = &w->b->run.marks[w->partners[w->index[k]]];
    int64_t x = a->end_ns - a->begin_ns, y = b->end_ns - b->begin_ns;
    return (x < y ? x : y) / 50 * 3;
}

/* Adds up the evidence for the pairing in @p link_test, and returns the evidence against it [bits].
 * If @p bare_alone is set, only operations without metadata are used. */
static double weigh(const weighing *w, bool bare_alone, tm_link_test *link_test) {
    double against = 0.0;
    int64_t noise = link_test->noise_ns;
    for (size_t k = 0; k < w->n; k++) {
        int64_t late = llabs(w->late[k]), apart = llabs(w->apart[k]);
        if (late <= 5 * noise || (bare_alone && !w->a->ops[w->index[k]].bare))
            continue;
        if (apart <= 3 * noise) {
            link_test->n_explained++;
            link_test->bits += log2((double)late / (3.0 * (double)noise));
        } else if (2 * apart > late && apart > 3 * noise + transfer_noise(w, k)) {
            link_test->n_contradicted++;
            against += log2((double)apart / (3.0 * (double)noise));
        }
    }
    return against;
}

static bool is_contradicted(const tm_link_test *link_test) {
    return 3 * link_test->n_contradicted > link_test->n_explained;
}

/* Decides whether the pairing holds. A stream belongs to one communicator, so its kernels with
 * metadata are also evidence for its kernels without metadata. But the pairing does not hold if the
 * kernels without metadata, taken by themselves, contradict it more than once. */
static void judge(const weighing *w, tm_link_test *link_test) {
    tm_link_test bare = {.noise_ns = link_test->noise_ns};
    double against = weigh(w, false, link_test), bare_against = weigh(w, true, &bare);
    size_t broken = 0;
    for (size_t k = 0; k < w->n; k++)
        broken += breaks_causality(w, k, 3 * link_test->noise_ns);
    if (broken > 1 && broken * 50 > w->n)
        link_test->state = TM_LINK_TEST_REFUTED;
    else if (is_contradicted(link_test) || (bare.n_contradicted > 1 && is_contradicted(&bare)))
        link_test->state =
            against >= 4.0 || bare_against >= 4.0 ? TM_LINK_TEST_REFUTED : TM_LINK_TEST_OPEN;
    else
        link_test->state = link_test->bits >= 4.0 ? TM_LINK_TEST_HOLDS : TM_LINK_TEST_OPEN;
}

/* Returns the scatter of the end differences: their median distance from their median. */
static int64_t scatter_of(weighing *w) {
    int64_t middle = median_of(w, w->apart, 0, w->n);
    for (size_t k = 0; k < w->n; k++)
        w->scratch[k] = llabs(w->apart[k] - middle);
    return tm_cluster_median(w->scratch, w->n);
}

/* Returns whether the end differences scatter far more than the ends within each cluster. Returns
 * false if a cluster has no operation of several ranks. Between hosts, the network may add to the
 * scatter. */
static bool is_scattered(const weighing *w, int64_t scatter_ns) {
    int64_t spread = w->a->spread_ns > w->b->spread_ns ? w->a->spread_ns : w->b->spread_ns;
    int64_t least = w->one_clock ? LEAST_NOISE_NS : BETWEEN_HOSTS_NS;
    return most_ranks(w->a) > 1 && most_ranks(w->b) > 1 &&
           scatter_ns > 5 * (least + llround(MEDIAN_TO_SIGMA * (double)spread));
}

static tm_status weigh_all(weighing *w, tm_link_test *link_test, tm_error *err) {
    TM_TRY(open_weighing(w, err));
    collect(w);
    if (w->one_clock)
        set_devices(w);
    else
        fit_clocks(w);
    for (size_t k = 0; k < w->n; k++)
        w->scratch[k] = llabs(w->apart[k]);
    link_test->distance_ns = tm_cluster_median(w->scratch, w->n);
    int64_t spread = w->a->spread_ns > w->b->spread_ns ? w->a->spread_ns : w->b->spread_ns;
    if (link_test->distance_ns > spread)
        spread = link_test->distance_ns;
    link_test->noise_ns = LEAST_NOISE_NS + llround(MEDIAN_TO_SIGMA * (double)spread);
    judge(w, link_test);
    link_test->scatter_ns = scatter_of(w);
    if (is_scattered(w, link_test->scatter_ns))
        link_test->state = TM_LINK_TEST_REFUTED;
    link_test->offset_ns = w->bridge.offset_ns;
    link_test->at_ns = w->bridge.at_ns;
    link_test->drift = w->bridge.drift;
    return TM_OK;
}

tm_status tm_link_test_try(const tm_cluster *a, const tm_cluster *b, bool one_clock,
                           int64_t *partners, tm_link_test *out, tm_error *err) {
    tm_link_test link_test = {.state = TM_LINK_TEST_NONE};
    tm_pairing pairing;
    TM_TRY(tm_pairing_find(&a->run, &b->run, one_clock, partners, &pairing, err));
    if (pairing != TM_PAIRING_NONE) {
        weighing w = {.a = a, .b = b, .partners = partners, .one_clock = one_clock};
        tm_status status = weigh_all(&w, &link_test, err);
        close_weighing(&w);
        TM_TRY(status);
    }
    if (pairing == TM_PAIRING_UNPROVEN && link_test.state != TM_LINK_TEST_NONE)
        link_test.state = TM_LINK_TEST_OPEN;
    *out = link_test;
    return TM_OK;
}

#include "analysis/verdict.h"

#include <math.h>
#include <stddef.h>

const char *tm_verdict_word(tm_verdict_kind kind) {
    static const char *const words[] = {
        [TM_VERDICT_NONE] = "none",
        [TM_VERDICT_INCONCLUSIVE] = "inconclusive",
        [TM_VERDICT_PERSISTENT] = "persistent",
        [TM_VERDICT_ROTATING] = "rotating",
    };
    return words[kind];
}

void tm_toll_add(tm_toll *sum, const tm_toll *toll) {
    sum->collectives += toll->collectives;
    sum->last += toll->last;
    sum->tied += toll->tied;
    sum->untied += toll->untied;
    sum->wait_ns += toll->wait_ns;
    sum->lateness_ns += toll->lateness_ns;
    tm_share_add(&sum->caused, toll->caused);
    sum->expected += toll->expected;
    sum->variance += toll->variance;
}

static bool caused_more(const tm_share *a, const tm_share *b) {
    return a->whole_ns != b->whole_ns ? a->whole_ns > b->whole_ns : a->fraction > b->fraction;
}

static bool caused_any(const tm_share *share) {
    return share->whole_ns > 0 || share->fraction > 0;
}

size_t tm_verdict_leaders(const tm_toll *tolls, size_t n, tm_leader *leaders) {
    size_t found = 0;
    for (size_t first = 0, i = 0; first < n; first = i) {
        const tm_toll *most = &tolls[first];
        for (i = first + 1; i < n && tolls[i].step == tolls[first].step; i++)
            most = caused_more(&tolls[i].caused, &most->caused) ? &tolls[i] : most;
        if (most->step >= 0 && caused_any(&most->caused))
            leaders[found++] = (tm_leader){most->step, most->rank, tm_share_round(most->caused),
                                           most->lateness_ns};
    }
    return found;
}

static int64_t steps_led(const tm_leader *leaders, size_t n, int64_t rank) {
    int64_t led = 0;
    for (size_t i = 0; i < n; i++)
        led += leaders[i].rank == rank;
    return led;
}

/* How far a rank's last arrivals exceed chance, in standard deviations. */
static double z_of(const tm_toll *rank) {
    double excess = (double)rank->last - rank->expected;
    return rank->variance > 0.0 ? excess / sqrt(rank->variance) : 0.0;
}

/* The rank that leads at least half of the steps and comes last more often than chance; of two, the
 * one that caused more. */
static const tm_toll *find_lasting(const tm_toll *ranks, size_t n_ranks, const tm_leader *leaders,
                                   size_t n_leaders) {
    const tm_toll *found = NULL;
    for (size_t i = 0; i < n_ranks; i++) {
        bool lasting = 2 * steps_led(leaders, n_leaders, ranks[i].rank) >= (int64_t)n_leaders &&
                       n_leaders > 0 && z_of(&ranks[i]) > 3.0;
        if (lasting && (!found || caused_more(&ranks[i].caused, &found->caused)))
            found = &ranks[i];
    }
    return found;
}

tm_verdict tm_verdict_decide(const tm_toll *ranks, size_t n_ranks, const tm_leader *leaders,
                             size_t n_leaders, int64_t window_ns) {
    tm_verdict v = {.kind = TM_VERDICT_NONE, .rank = -1, .steps = (int64_t)n_leaders};
    const tm_toll *most = NULL;
    for (size_t i = 0; i < n_ranks; i++) {
        v.wait_ns += ranks[i].wait_ns;
        if (caused_any(&ranks[i].caused) && (!most || caused_more(&ranks[i].caused, &most->caused)))
            most = &ranks[i];
    }
    for (size_t i = 0; i < n_leaders; i++) {
        int64_t led = steps_led(leaders, n_leaders, leaders[i].rank);
        v.most_led = led > v.most_led ? led : v.most_led;
    }
    /* One hiccup may cost more than a rank that is always late: that rank is the straggler. */
    const tm_toll *lasting = find_lasting(ranks, n_ranks, leaders, n_leaders);
    most = lasting ? lasting : most;
    if (most) {
        v.rank = most->rank;
        v.led = steps_led(leaders, n_leaders, most->rank);
        v.z = z_of(most);
    }
    v.kind = TM_VERDICT_INCONCLUSIVE;
    /* Under 1 %, without the product, which may not fit: below the hundredth part rounded up. */
    if (v.wait_ns < window_ns / 100 + (window_ns % 100 > 0) || !most)
        v.kind = TM_VERDICT_NONE;
    else if (n_leaders >= 3 && lasting)
        v.kind = TM_VERDICT_PERSISTENT;
    else if (n_leaders >= 3 && 2 * v.most_led < v.steps)
        v.kind = TM_VERDICT_ROTATING;
    return v;
}

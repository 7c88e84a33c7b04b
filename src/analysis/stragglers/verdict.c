#include "verdict.h"

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

const char *tm_culprit_word(tm_culprit level) {
    static const char *const words[] = {
        [TM_CULPRIT_RANK] = "rank", [TM_CULPRIT_HOST] = "host", [TM_CULPRIT_GROUP] = "group"};
    return words[level];
}

/* What was passed on is whole nanoseconds, so the fraction stays with the rank. */
tm_share tm_toll_direct(const tm_toll *toll) {
    return (tm_share){toll->caused.whole_ns - toll->passed_ns, toll->caused.fraction};
}

tm_share tm_toll_cost(const tm_toll *toll) {
    tm_share cost = tm_toll_direct(toll);
    cost.whole_ns += toll->indirect_ns;
    return cost;
}

void tm_toll_add(tm_toll *sum, const tm_toll *toll) {
    sum->collectives += toll->collectives;
    sum->last += toll->last;
    sum->tied += toll->tied;
    sum->untied += toll->untied;
    sum->wait_ns += toll->wait_ns;
    sum->lateness_ns += toll->lateness_ns;
    sum->doubt_ns += toll->doubt_ns;
    tm_share_add(&sum->caused, toll->caused);
    sum->passed_ns += toll->passed_ns;
    sum->indirect_ns += toll->indirect_ns;
    sum->expected += toll->expected;
    sum->variance += toll->variance;
}

/* Of equals the one that comes first stays: the lowest rank. */
static bool costs_more(const tm_toll *a, const tm_toll *b) {
    tm_share x = tm_toll_cost(a), y = tm_toll_cost(b);
    return x.whole_ns != y.whole_ns ? x.whole_ns > y.whole_ns : x.fraction > y.fraction;
}

/* Shares are rounded down, so that what was passed on may exceed what was caused by a fraction. */
static bool costs_any(const tm_toll *toll) {
    tm_share cost = tm_toll_cost(toll);
    return cost.whole_ns > 0 || (cost.whole_ns == 0 && cost.fraction > 0);
}

size_t tm_verdict_leaders(const tm_toll *tolls, size_t n, tm_leader *leaders) {
    size_t found = 0;
    for (size_t first = 0, i = 0; first < n; first = i) {
        const tm_toll *most = &tolls[first];
        for (i = first + 1; i < n && tolls[i].step == tolls[first].step; i++)
            most = costs_more(&tolls[i], most) ? &tolls[i] : most;
        if (most->step >= 0 && costs_any(most))
            leaders[found++] = (tm_leader){.step = most->step,
                                           .rank = most->rank,
                                           .caused_ns = tm_share_round(most->caused),
                                           .direct_ns = tm_share_round(tm_toll_direct(most)),
                                           .indirect_ns = most->indirect_ns,
                                           .lateness_ns = most->lateness_ns};
    }
    return found;
}

static int64_t steps_led(const tm_leader *leaders, size_t n, int64_t rank) {
    int64_t led = 0;
    for (size_t i = 0; i < n; i++)
        led += leaders[i].rank == rank;
    return led;
}

/* How far a rank's last arrivals exceed chance, in standard deviations: by chance each of an
 * operation's n ranks is last with 1/n, and operations are independent. */
static double z_of(const tm_toll *rank) {
    double excess = (double)rank->last - rank->expected;
    return rank->variance > 0.0 ? excess / sqrt(rank->variance) : 0.0;
}

/* The same of the steps that it leads, were each rank as likely to lead. */
static double z_of_steps(int64_t led, size_t n_leaders, size_t n_ranks) {
    double share = 1.0 / (double)n_ranks, steps = (double)n_leaders;
    double variance = steps * share * (1.0 - share);
    return variance > 0.0 ? ((double)led - steps * share) / sqrt(variance) : 0.0;
}

/* Whether a rank's cost stands out: an even share of all, and 15 % of what the others have then. In
 * a pipeline somebody always waits for the first stage. */
static bool stands_out(const tm_toll *rank, int64_t cost_ns, size_t n_ranks) {
    double even = 1.0 / (double)n_ranks;
    return (double)tm_toll_cost(rank).whole_ns >= (even + 0.15 * (1.0 - even)) * (double)cost_ns;
}

/* The rank that leads at least half of the steps, comes last more often than chance and stands out;
 * of two the one of more cost. */
static const tm_toll *find_lasting(const tm_toll *ranks, size_t n_ranks, const tm_leader *leaders,
                                   size_t n_leaders) {
    const tm_toll *found = NULL;
    int64_t cost_ns = 0;
    for (size_t i = 0; i < n_ranks; i++)
        cost_ns += tm_toll_cost(&ranks[i]).whole_ns;
    for (size_t i = 0; i < n_ranks; i++) {
        int64_t led = steps_led(leaders, n_leaders, ranks[i].rank);
        /* Such a rank need not be last itself, so arrivals tell nothing of it: the steps that it
         * leads do. */
        bool indirect = ranks[i].indirect_ns > tm_toll_direct(&ranks[i]).whole_ns;
        double z = indirect ? z_of_steps(led, n_leaders, n_ranks) : z_of(&ranks[i]);
        bool lasting = n_leaders > 0 && 2 * led >= (int64_t)n_leaders && z > 3.0 &&
                       stands_out(&ranks[i], cost_ns, n_ranks);
        if (lasting && (!found || costs_more(&ranks[i], found)))
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
        if (costs_any(&ranks[i]) && (!most || costs_more(&ranks[i], most)))
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
        v.toll = *most;
    }
    v.kind = TM_VERDICT_INCONCLUSIVE;
    /* Under 1 %, without the product, which may not fit: below the hundredth part rounded up. */
    if (v.wait_ns < window_ns / 100 + (window_ns % 100 > 0) || !most)
        v.kind = TM_VERDICT_NONE;
    else if (most->doubt_ns > 0 && tm_toll_cost(most).whole_ns <= most->doubt_ns)
        v.unsure = true;
    else if (n_leaders >= 3 && lasting)
        v.kind = TM_VERDICT_PERSISTENT;
    else if (n_leaders >= 3 && 2 * v.most_led < v.steps)
        v.kind = TM_VERDICT_ROTATING;
    return v;
}

#include "verdict.h"

#include <stddef.h>

const char *tm_verdict_word(tm_verdict_kind kind) {
    static const char *const words[] = {
        [TM_VERDICT_NONE] = "none",
        [TM_VERDICT_INCONCLUSIVE] = "inconclusive",
        [TM_VERDICT_PERSISTENT] = "persistent",
        [TM_VERDICT_SEVERAL] = "several",
        [TM_VERDICT_EPISODE] = "episode",
        [TM_VERDICT_ALTERNATING] = "alternating",
        [TM_VERDICT_EVENT] = "event",
        [TM_VERDICT_BUBBLE] = "bubble",
    };
    return words[kind];
}

const char *tm_culprit_word(tm_culprit level) {
    static const char *const words[] = {
        [TM_CULPRIT_RANK] = "rank", [TM_CULPRIT_HOST] = "host", [TM_CULPRIT_GROUP] = "group"};
    return words[level];
}

/* passed_ns is whole, so the fraction stays with the rank. */
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

/* The lowest rank comes first and wins ties. */
static bool costs_more(const tm_toll *a, const tm_toll *b) {
    tm_share x = tm_toll_cost(a), y = tm_toll_cost(b);
    return x.whole_ns != y.whole_ns ? x.whole_ns > y.whole_ns : x.fraction > y.fraction;
}

/* Shares are rounded down, so passed_ns may exceed the caused wait by a fraction. */
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

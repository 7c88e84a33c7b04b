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

/* passed_ns has no fraction, so the fraction of the wait counts as caused by the rank itself. */
tm_share tm_blame_direct(const tm_blame *blame) {
    return (tm_share){blame->caused.whole_ns - blame->passed_ns, blame->caused.fraction};
}

tm_share tm_blame_cost(const tm_blame *blame) {
    tm_share cost = tm_blame_direct(blame);
    cost.whole_ns += blame->indirect_ns;
    return cost;
}

void tm_blame_add(tm_blame *sum, const tm_blame *blame) {
    sum->collectives += blame->collectives;
    sum->last += blame->last;
    sum->tied += blame->tied;
    sum->untied += blame->untied;
    sum->wait_ns += blame->wait_ns;
    sum->lateness_ns += blame->lateness_ns;
    sum->doubt_ns += blame->doubt_ns;
    tm_share_add(&sum->caused, blame->caused);
    sum->passed_ns += blame->passed_ns;
    sum->indirect_ns += blame->indirect_ns;
    sum->expected += blame->expected;
    sum->variance += blame->variance;
}

/* Ranks ascend, so the lowest rank stays if several have the same cost. */
static bool costs_more(const tm_blame *a, const tm_blame *b) {
    tm_share x = tm_blame_cost(a), y = tm_blame_cost(b);
    return x.whole_ns != y.whole_ns ? x.whole_ns > y.whole_ns : x.fraction > y.fraction;
}

/* Returns whether a rank has a cost. passed_ns is rounded, so it may exceed the caused wait by a
 * fraction of 1 ns. */
static bool costs_any(const tm_blame *blame) {
    tm_share cost = tm_blame_cost(blame);
    return cost.whole_ns > 0 || (cost.whole_ns == 0 && cost.fraction > 0);
}

size_t tm_verdict_leaders(const tm_blame *blames, size_t n, tm_leader *leaders) {
    size_t found = 0;
    for (size_t first = 0, i = 0; first < n; first = i) {
        const tm_blame *most = &blames[first];
        for (i = first + 1; i < n && blames[i].step == blames[first].step; i++)
            most = costs_more(&blames[i], most) ? &blames[i] : most;
        if (most->step >= 0 && costs_any(most))
            leaders[found++] = (tm_leader){.step = most->step,
                                           .rank = most->rank,
                                           .caused_ns = tm_share_round(most->caused),
                                           .direct_ns = tm_share_round(tm_blame_direct(most)),
                                           .indirect_ns = most->indirect_ns,
                                           .lateness_ns = most->lateness_ns};
    }
    return found;
}

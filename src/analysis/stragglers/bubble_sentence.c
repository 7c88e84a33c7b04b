#include "bubble_sentence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/shared/fixes.h"
#include "analysis/shared/late_cause.h"
#include "analysis/shared/same_kernels.h"
#include "table/shown.h"

/* Returns the rank with the slowest kernels, compared with the same kernels on ranks of any stage.
 * A rank counts only if nearly all of its kernels are slower. Returns n_ranks if there is none. */
static size_t slowest_kernels(const tm_tables *tables, const tm_blames *t, double *speed) {
    size_t slowest = t->n_ranks;
    *speed = TM_LATE_NORMAL_SPEED;
    for (size_t i = 0; i < t->n_ranks; i++) {
        const tm_same_kernels_speed s = tm_same_kernels_of(tables, t->ranks[i].rank);
        if (!s.all_slower || s.speed < 0.0 || s.speed >= *speed)
            continue;
        slowest = i;
        *speed = s.speed;
    }
    return slowest;
}

/* Writes whether ranks cause part of a bubble. Ranks that are alone in their stage are not
 * tested. */
static void bubble_ranks_text(const tm_tables *tables, const tm_verdict_topic *e, char *out,
                              size_t size) {
    const tm_findings *found = &e->judgement->found;
    const bool uneven = tm_tables_find(tables, "whatif.split")->n_rows > 0;
    double speed;
    const size_t slowest =
        found->tested ? e->blames->n_ranks : slowest_kernels(tables, e->blames, &speed);
    if (slowest < e->blames->n_ranks) {
        snprintf(out, size,
                 "nearly all kernels of rank %" PRId64
                 " run at %.2fx the speed of the same kernels on other ranks: look at its GPU "
                 "(clock, heat, other processes)",
                 e->blames->ranks[slowest].rank, speed);
        return;
    }
    snprintf(out, size, "too little is recorded to test ranks");
    if (found->tested)
        snprintf(out, size, "no rank by itself takes longer than chance explains (smallest p %.2g)",
                 found->least_p);
    const size_t used = strlen(out);
    if (uneven || found->bubble > 1.1 * found->ideal + 0.01)
        snprintf(
            out + used, size - used,
            "; any excess is due to transfers, uneven stages, or senders that are sometimes late");
    else if (tm_fixes_read(tables).most_pct < TM_FIX_LEAST_PCT)
        snprintf(
            out + used, size - used,
            "; only more micro-batches, fewer stages or another schedule make the bubble smaller");
}

void tm_bubble_evidence(const tm_tables *tables, const tm_verdict_topic *e,
                        char out[TM_SENTENCE_MAX]) {
    const tm_findings *found = &e->judgement->found;
    const tm_finding *f = found->all.data;
    char kept[32], ranks[400];
    tm_shown_duration(f->caused_ns, kept, sizeof kept);
    bubble_ranks_text(tables, e, ranks, sizeof ranks);
    snprintf(
        out, TM_SENTENCE_MAX,
        "With p = %" PRId64 " stages and m = %" PRId64
        " forward pass%s a step, a schedule makes GPUs wait (p - 1) / (m + p - 1) of the time. "
        "Waiting for other stages and in collectives keeps GPUs from computing for %s of GPU "
        "time; %s",
        found->stages, found->micro_batches, found->micro_batches == 1 ? "" : "es", kept, ranks);
}

/* Computes the saving of a pipeline with more micro-batches. */
#include "advice_rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/median.h"

/* How full the pipeline is, from stragglers.pipeline. */
typedef struct use {
    int64_t stages, passes; /* passes: forward passes of a rank in a step; 0: unknown */
    double bubble;          /* share of GPU time without computation */
} use;

static use read_use(const tm_facts *f) {
    const int64_t steps = tm_facts_int(f, "job.job", 0, "steps");
    const int64_t sends = tm_facts_int(f, "stragglers.pipeline", 0, "senders") * steps;
    const int64_t transfers = tm_facts_int(f, "stragglers.pipeline", 0, "transfers");
    const int64_t kept_ns = tm_facts_int(f, "stragglers.pipeline", 0, "kept_ns");
    return (use){tm_facts_int(f, "stragglers.pipeline", 0, "stages"),
                 sends > 0 ? tm_round_ratio(transfers, sends) : 0,
                 f->window_ns > 0 ? (double)kept_ns / (double)f->window_ns : 0.0};
}

void tm_facts_bubble(const tm_facts *f, tm_advice *out) {
    const use u = read_use(f);
    const size_t used = strlen(out->evidence);
    const double step_ns = (double)tm_facts_int(f, "whatif.job", 0, "step_ns");
    if (u.stages < 2 || u.passes < 1 || step_ns <= 0.0) {
        snprintf(
            out->evidence + used, sizeof out->evidence - used,
            " The number of stages or micro-batches is unknown, so it is also unknown how much a "
            "larger number of micro-batches would save.");
        return;
    }
    /* If all passes take equally long, GPUs idle for (p - 1) / m of their compute time, with p
     * stages and m passes. Twice as many passes of half the length halve this part of the bubble.
     * Parts with other causes do not change. */
    const double ideal = (1.0 - u.bubble) * (double)(u.stages - 1) / (double)u.passes;
    out->at_most_ns = llround(fmin(ideal, u.bubble) / 2.0 * step_ns);
    snprintf(
        out->evidence + used, sizeof out->evidence - used,
        " The pipeline has p = %" PRId64 " stages and m = %" PRId64
        " forward passes a step, so its bubble is expected to be (p - 1) / m of the time in which "
        "GPUs compute. Twice as many micro-batches of half the size halve it, if they are as "
        "efficient; so do two interleaved parts of the model on each rank.",
        u.stages, u.passes);
}

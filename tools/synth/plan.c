/* First pass: all ranks step by step, with nothing recorded.
 *
 * In data-parallel training nothing but the all-reduces couples the ranks, and their kernels wait
 * on the GPU, not on the CPU: so each rank can run its head alone, and one look at all of them
 * decides the collectives of the step. Sends between pipeline stages will need a finer order. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "sim.h"

/* Rank number of the random stream that the network draws from: no rank has it. */
#define NETWORK_STREAM UINT64_MAX

/* Decides one all-reduce: everyone spins until the last rank has come, then the data moves. */
static void resolve(tms_plan *plan, tms_sim *sims, int64_t step, int64_t index, tms_rng *rng) {
    const tms_config *config = plan->config;
    size_t at = tms_plan_index(config, step, index);
    int64_t transfer_ns = tms_rng_around(rng, tms_config_transfer_ns(config), config->jitter_ppm);
    int64_t last_ns = 0;

    for (int64_t r = 0; r < config->ranks; r++) {
        tms_bucket *bucket = &sims[r].buckets[index];
        /* NCCL's stream takes its kernels in order; a following one needs a moment, which
         * differs from rank to rank, or all ranks of a slow network would come at once. */
        int64_t gap_ns = tms_rng_range(rng, 600, 1400);
        int64_t free_ns = (index > 0 ? bucket[-1].end_ns : sims[r].comm_free_ns) + gap_ns;

        bucket->begin_ns = bucket->ready_ns > free_ns ? bucket->ready_ns : free_ns;
        last_ns = bucket->begin_ns > last_ns ? bucket->begin_ns : last_ns;
    }
    /* All leave together, but for what their clocks and the last packets differ by. */
    for (int64_t r = 0; r < config->ranks; r++) {
        tms_bucket *bucket = &sims[r].buckets[index];

        bucket->end_ns = last_ns + transfer_ns + tms_rng_range(rng, 0, config->end_jitter_ns + 1);
        plan->begin_ns[at + (size_t)r] = bucket->begin_ns;
        plan->end_ns[at + (size_t)r] = bucket->end_ns;
    }
}

/* Step by step over all ranks; the random numbers of the network are a stream of their own, so that
 * a change in the model leaves them as they are. */
static void run_steps(tms_plan *plan, tms_sim *sims, tms_events *unused) {
    const tms_config *config = plan->config;

    for (int64_t step = 0; step < config->steps; step++) {
        tms_rng rng = tms_rng_start((uint64_t)config->seed, NETWORK_STREAM, (uint64_t)step);

        for (int64_t r = 0; r < config->ranks; r++) {
            tms_sim_head(&sims[r], unused);
        }
        for (int64_t b = 0; b < config->buckets; b++) {
            resolve(plan, sims, step, b, &rng);
        }
        for (int64_t r = 0; r < config->ranks; r++) {
            tms_sim_tail(&sims[r], unused);
        }
    }
}

/* Sets up all ranks, runs them and takes them down again. */
static tms_status run(tms_plan *plan, tms_error *err) {
    const tms_config *config = plan->config;
    tms_sim *sims = calloc((size_t)config->ranks, sizeof *sims);
    tms_status status = TMS_OK;
    tms_events unused;

    if (!tms_events_init(&unused, TMS_NO_SECTIONS) || sims == NULL) {
        status =
            tms_fail(err, TMS_ERR_FAULT, "out of memory for %lld ranks", (long long)config->ranks);
    }
    for (int64_t r = 0; r < config->ranks && status == TMS_OK; r++) {
        status = tms_sim_init(&sims[r], config, r, err);
    }
    if (status == TMS_OK) {
        run_steps(plan, sims, &unused);
    }
    for (int64_t r = 0; r < config->ranks && sims != NULL; r++) {
        tms_sim_free(&sims[r]);
    }
    free(sims);
    tms_events_free(&unused);
    return status;
}

tms_status tms_plan_build(tms_plan *plan, const tms_config *config, tms_error *err) {
    /* The largest product of the options' limits is under 2^63; calloc checks the rest. */
    size_t count = tms_plan_index(config, config->steps, 0) + 1;
    tms_plan built = {.config = config};
    tms_status status;

    built.begin_ns = calloc(count, sizeof *built.begin_ns);
    built.end_ns = calloc(count, sizeof *built.end_ns);
    if (built.begin_ns == NULL || built.end_ns == NULL) {
        status = tms_fail(err, TMS_ERR_FAULT, "out of memory for %zu arrivals", count);
    } else {
        status = run(&built, err);
    }
    if (status != TMS_OK) {
        tms_plan_free(&built);
        return status;
    }
    *plan = built;
    return TMS_OK;
}

void tms_plan_free(tms_plan *plan) {
    free(plan->begin_ns);
    free(plan->end_ns);
    memset(plan, 0, sizeof *plan);
}

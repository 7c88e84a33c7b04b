/* One draw for each mishap: from the seed, and the number of what it befalls. */
#include "mishaps.h"

#include "synth/base/rng.h"

/* Streams of random numbers that no rank has: see also plan.c and clock.c. */
#define ROTATION_STREAM (UINT64_MAX - 1)
#define LOSS_STREAM (UINT64_MAX - 2)
#define LATE_STREAM (UINT64_MAX - 5)

/* In the place of a step's number; for others see simulated_rank.c, kineto_frame.c and nsys.c. */
#define SKEW_STREAM (UINT64_MAX - 2)

/* Greatest common divisor. */
static int64_t common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

int64_t tms_mishap_slow_rank(const tms_config *config, int64_t step) {
    int64_t number = config->first_step + step;
    tms_rng rng = tms_rng_start((uint64_t)config->seed, ROTATION_STREAM, 0);
    int64_t first;
    int64_t stride;

    if (config->slow_from >= 0 && (number < config->slow_from || number > config->slow_to)) {
        return -1;
    }
    if (config->rotating == 0) {
        return config->slow_rank;
    }
    /* A stride without a divisor in common with the number of ranks meets each of them before any
     * comes again. */
    first = tms_rng_range(&rng, 0, config->ranks);
    stride = tms_rng_range(&rng, 1, config->ranks > 1 ? config->ranks : 2);
    while (common_divisor(config->ranks, stride) != 1) {
        stride++;
    }
    return (first + step % config->ranks * stride) % config->ranks;
}

int64_t tms_mishap_skipped(const tms_config *config, int64_t rank) {
    tms_rng rng = tms_rng_start((uint64_t)config->seed, (uint64_t)rank, SKEW_STREAM);

    return config->window_skew == 0 ? 0 : tms_rng_range(&rng, 0, config->window_skew + 1);
}

bool tms_mishap_lost(const tms_config *config, int64_t step, int64_t part) {
    tms_rng rng;

    if (config->lost_ppm == 0) {
        return false;
    }
    rng = tms_rng_start((uint64_t)config->seed ^ LOSS_STREAM, (uint64_t)step, (uint64_t)part);
    return tms_rng_range(&rng, 0, 1000000) < config->lost_ppm;
}

int64_t tms_mishap_late_ns(const tms_config *config, int64_t step, int64_t part) {
    tms_rng rng;

    if (config->late_ppm == 0) {
        return 0;
    }
    rng = tms_rng_start((uint64_t)config->seed ^ LATE_STREAM, (uint64_t)step, (uint64_t)part);
    return tms_rng_range(&rng, 0, 1000000) < config->late_ppm
               ? tms_rng_range(&rng, 0, TMS_LATE_NS + 1)
               : 0;
}

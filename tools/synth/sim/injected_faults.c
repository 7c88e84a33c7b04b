/* Faults that options inject. Each fault has its own random numbers. They depend only on the seed
 * and on what the fault affects, such as the numbers of a rank, step and kernel. */
#include "injected_faults.h"

#include "synth/base/rng.h"

/* Each value selects one series of random numbers. The values differ from all rank numbers, and
 * from the values that sim_plan.c and host_clock.c use. */
#define ROTATION_STREAM (UINT64_MAX - 1)
#define LOSS_STREAM (UINT64_MAX - 2)
#define LATE_STREAM (UINT64_MAX - 5)
#define SHARE_STREAM (UINT64_MAX - 7)
#define HOST_STREAM (UINT64_MAX - 8)
#define HICCUP_STREAM (UINT64_MAX - 9)

/* Selects a rank's random numbers for the skipped steps. The value stands where a step number
 * usually is. simulated_rank.c, kineto_frame.c and write_nsys.c use other values. */
#define SKEW_STREAM (UINT64_MAX - 2)

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

int64_t tms_injected_slow_rank(const tms_config *config, int64_t step) {
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
    /* A stride coprime to the number of ranks visits each rank before repeating one. */
    first = tms_rng_range(&rng, 0, config->ranks);
    stride = tms_rng_range(&rng, 1, config->ranks > 1 ? config->ranks : 2);
    while (common_divisor(config->ranks, stride) != 1) {
        stride++;
    }
    return (first + step % config->ranks * stride) % config->ranks;
}

/* Returns whether a range contains a number. A range that was not given contains all numbers. */
static bool holds(int64_t first, int64_t last, int64_t number) {
    return first < 0 || (first <= number && number <= last);
}

/* Multiplies @p ppm by each --slow factor that applies to a kernel. If @p kernel is -1, multiplies
 * it by each --slow factor that applies to the whole step. */
static int64_t slowed_ppm(const tms_config *config, int64_t rank, int64_t step, int64_t kernel,
                          int64_t ppm) {
    for (int64_t i = 0; i < config->n_slow; i++) {
        const tms_slow *slow = &config->slow[i];

        if ((kernel < 0) == (slow->first_kernel < 0) &&
            holds(slow->first_rank, slow->last_rank, rank) &&
            holds(slow->first_step, slow->last_step, config->first_step + step) &&
            holds(slow->first_kernel, slow->last_kernel, kernel)) {
            ppm = tms_scale_ppm(ppm != 0 ? ppm : 1000000, slow->ppm);
            ppm = ppm < TMS_SLOWEST_PPM ? ppm : TMS_SLOWEST_PPM;
        }
    }
    return ppm;
}

int64_t tms_injected_slow_ppm(const tms_config *config, int64_t rank, int64_t step) {
    bool slow = tms_injected_slow_rank(config, step) == rank;

    return slowed_ppm(config, rank, step, -1, slow ? config->slow_ppm : 0);
}

int64_t tms_injected_share_ppm(const tms_config *config, const tms_placement *place, int64_t step) {
    int64_t component = place->rank / (config->ranks / config->components);
    int64_t copy = component * tms_config_dp(config) + place->dp;
    tms_rng rng =
        tms_rng_start((uint64_t)config->seed ^ SHARE_STREAM, (uint64_t)copy, (uint64_t)step);

    return tms_rng_around(&rng, 1000000, config->share_ppm);
}

int64_t tms_injected_kernel_ppm(const tms_config *config, const tms_placement *place, int64_t step,
                                int64_t kernel) {
    int64_t ppm = slowed_ppm(config, place->rank, step, kernel, 1000000);
    uint64_t number = (uint64_t)step << 32 | (uint64_t)kernel;
    tms_rng rng;

    if (config->shared_ppm > 0) {
        rng = tms_rng_start((uint64_t)config->seed ^ HOST_STREAM, (uint64_t)place->host, number);
        ppm = tms_rng_around(&rng, ppm, config->shared_ppm);
    }
    if (config->hiccup_ppm > 0) {
        rng = tms_rng_start((uint64_t)config->seed ^ HICCUP_STREAM, (uint64_t)place->rank, number);
        ppm *= tms_rng_range(&rng, 0, 1000000) < config->hiccup_ppm ? TMS_HICCUP : 1;
    }
    return ppm;
}

int64_t tms_injected_skipped(const tms_config *config, int64_t rank) {
    tms_rng rng = tms_rng_start((uint64_t)config->seed, (uint64_t)rank, SKEW_STREAM);

    return config->window_skew == 0 ? 0 : tms_rng_range(&rng, 0, config->window_skew + 1);
}

bool tms_injected_lost(const tms_config *config, int64_t step, int64_t part) {
    tms_rng rng;

    if (config->lost_ppm == 0) {
        return false;
    }
    rng = tms_rng_start((uint64_t)config->seed ^ LOSS_STREAM, (uint64_t)step, (uint64_t)part);
    return tms_rng_range(&rng, 0, 1000000) < config->lost_ppm;
}

int64_t tms_injected_late_ns(const tms_config *config, int64_t step, int64_t part) {
    tms_rng rng;

    if (config->late_ppm == 0) {
        return 0;
    }
    rng = tms_rng_start((uint64_t)config->seed ^ LATE_STREAM, (uint64_t)step, (uint64_t)part);
    return tms_rng_range(&rng, 0, 1000000) < config->late_ppm
               ? tms_rng_range(&rng, 0, TMS_LATE_NS + 1)
               : 0;
}

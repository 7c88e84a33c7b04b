/* A rank's initial state, and the two lists that it fills in a step. */
#include "simulated_rank.h"

#include <stdlib.h>
#include <string.h>

int64_t tms_sim_profiler_begin_ns(const tms_config *config, int64_t rank) {
    /* Selects the random numbers for the start of the profiler. The value UINT64_MAX stands where a
     * step number usually is. injected_faults.c uses other values. */
    tms_rng rng = tms_rng_start((uint64_t)config->seed, (uint64_t)rank, UINT64_MAX);

    return TMS_EPOCH_NS + tms_rng_range(&rng, 0, 50000);
}

void tms_sim_init(tms_sim *sim, const tms_groups *groups, int64_t rank) {
    const tms_config *config = groups->config;

    memset(sim, 0, sizeof *sim);
    sim->config = config;
    sim->placement = tms_placement_of(config, rank);
    for (int role = 0; role < TMS_ROLE_COUNT; role++) {
        sim->channels[role] = tms_groups_channel(groups, &sim->placement, (tms_role)role);
    }
    /* The first step starts some time after the profiler. This time differs between ranks. */
    sim->cpu_ns = tms_sim_profiler_begin_ns(config, rank) + 300000;
}

/* Makes room for one more item in an array. Returns NULL when out of memory. */
static void *grow(tms_sim *sim, void *items, size_t count, size_t *capacity, size_t item_size) {
    size_t wanted = *capacity * 2 + 64;
    void *grown;

    if (count < *capacity) {
        return items;
    }
    grown = wanted > SIZE_MAX / item_size ? NULL : realloc(items, wanted * item_size);
    if (grown == NULL) {
        sim->out_of_memory = true;
        return NULL;
    }
    *capacity = wanted;
    return grown;
}

void tms_sim_queue(tms_sim *sim, const tms_task *task) {
    tms_task *tasks = grow(sim, sim->tasks, sim->n_tasks, &sim->tasks_capacity, sizeof *tasks);

    if (tasks != NULL) {
        sim->tasks = tasks;
        tasks[sim->n_tasks++] = *task;
    }
}

tms_comm *tms_sim_add_comm(tms_sim *sim) {
    tms_comm *comms = grow(sim, sim->comms, sim->n_comms, &sim->comms_capacity, sizeof *comms);

    if (comms == NULL) {
        return NULL;
    }
    sim->comms = comms;
    comms[sim->n_comms] = (tms_comm){0};
    return &comms[sim->n_comms++];
}

void tms_sim_free(tms_sim *sim) {
    free(sim->tasks);
    free(sim->comms);
    memset(sim, 0, sizeof *sim);
}

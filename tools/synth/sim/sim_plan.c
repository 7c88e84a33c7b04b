/* First pass: simulates all ranks step by step, without recording.
 *
 * Each rank's CPU runs its step independently, because it waits for the GPU only at the end. Then
 * the ranks process their tasks in turns: a rank that needs the end of an incomplete collective
 * stops, and continues after the collective's last arrival. All members of a group launch its
 * collectives in the same order, and no task needs a later one, so some rank can always proceed;
 * the order of turns does not affect any time. */
#include "sim_plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "injected_faults.h"
#include "simulated_rank.h"
#include "step.h"
#include "synth/base/rng.h"

/* Selects the random numbers of the network. The value differs from all rank numbers. */
#define NETWORK_STREAM UINT64_MAX

/* Selects the random numbers that decide which rank of a pair lags. injected_faults.c and
 * host_clock.c use other values. */
#define PAIR_STREAM (UINT64_MAX - 6)

typedef struct run {
    tms_plan *plan;
    tms_sim *sims; /* [ranks] */
    int64_t step;
    int64_t *transfer_ns; /* [instances] transfer time of each instance in this step */
    int64_t *missing;     /* [instances] number of members that have not arrived yet */
    int64_t *last_ns;     /* [instances] latest start so far */
    int64_t *waiting;     /* [ranks] the instance that each rank waits for; -1: none */
    int64_t *ready;       /* [n_ready] ranks that can proceed; capacity [ranks] */
    int64_t n_ready;
} run;

/* Returns the place of a member in its group's ring, from 0. The member at place 0 is the first to
 * have complete data. The ring follows the order of the ranks. In a group of two, a random choice,
 * the same in all steps, may reverse the order. */
static int64_t place_of(const tms_plan *plan, int64_t channel, int64_t position) {
    tms_rng rng = tms_rng_start((uint64_t)plan->config->seed, PAIR_STREAM, (uint64_t)channel);
    bool turned = plan->groups.channels[channel].ranks.size == 2 && tms_rng_range(&rng, 0, 2) == 1;

    return turned ? 1 - position : position;
}

/* Draws the random times of an instance before the step starts, so that they do not depend on the
 * order in which ranks arrive. Stores them in the plan's arrays for now: begin_ns has gaps, end_ns
 * has lags. arrive() and resolve() replace them by times. */
static void draw(run *r, int64_t i, tms_rng *rng) {
    tms_plan *plan = r->plan;
    const tms_config *config = plan->config;
    const tms_instance *instance = &plan->instances[i];
    const tms_channel *channel = &plan->groups.channels[instance->channel];
    int64_t n = channel->ranks.size;
    size_t at = tms_plan_first(plan, r->step, i);
    int64_t mean_ns =
        tms_config_move_ns(config, instance->bytes, n, tms_collective_get(instance->what)->passes);

    r->transfer_ns[i] = tms_rng_around(rng, mean_ns, config->jitter_ppm);
    r->missing[i] = n;
    r->last_ns[i] = 0;
    for (int64_t p = 0; p < n; p++) {
        /* The gap between the previous kernel on NCCL's stream and this one. It differs between
         * ranks. Otherwise, all ranks would arrive at the same time when the network is slow. */
        plan->begin_ns[at + (size_t)p] = tms_rng_range(rng, 600, 1400);
    }
    /* Sets the lags of the members' ends. All members leave together, apart from the end jitter,
     * late ends and the bias between members. */
    for (int64_t p = 0; p < n; p++) {
        int64_t part = (int64_t)at + p - r->step * plan->groups.n_parts;

        plan->end_ns[at + (size_t)p] = tms_rng_range(rng, 0, config->end_jitter_ns + 1) +
                                       tms_injected_late_ns(config, r->step, part);
        if (n > 1) {
            plan->end_ns[at + (size_t)p] +=
                config->end_bias_ns * place_of(plan, instance->channel, p) / (n - 1);
        }
    }
}

/* Completes a collective: every member spins until the last arrival, then the data moves. In a
 * broadcast, the root need not wait, and a receiver need not wait for other receivers. */
static void resolve(run *r, int64_t i) {
    tms_plan *plan = r->plan;
    const tms_instance *instance = &plan->instances[i];
    const tms_channel *channel = &plan->groups.channels[instance->channel];
    size_t at = tms_plan_first(plan, r->step, i);
    int64_t root_ns = plan->begin_ns[at];

    for (int64_t p = 0; p < channel->ranks.size; p++) {
        int64_t rank = tms_ranks_at(&channel->ranks, p);
        int64_t begin_ns = plan->begin_ns[at + (size_t)p];
        int64_t from_ns = r->last_ns[i];

        if (instance->what == TMS_BROADCAST) {
            from_ns = begin_ns > root_ns ? begin_ns : root_ns;
        }
        plan->end_ns[at + (size_t)p] += from_ns + r->transfer_ns[i];
        if (r->waiting[rank] == i) {
            r->waiting[rank] = -1;
            r->ready[r->n_ready++] = rank;
        }
    }
}

/* Records a rank's arrival: see tms_network. */
static void arrive(void *context, const tms_sim *sim, tms_comm *comm, int64_t ready_ns,
                   int64_t free_ns) {
    run *r = context;
    int64_t *begin_ns = &r->plan->begin_ns[tms_plan_index(r->plan, sim->step, comm->part)];

    free_ns += *begin_ns; /* *begin_ns holds the gap that was drawn before the step */
    comm->begin_ns = ready_ns > free_ns ? ready_ns : free_ns;
    *begin_ns = comm->begin_ns;
    if (comm->begin_ns > r->last_ns[comm->instance]) {
        r->last_ns[comm->instance] = comm->begin_ns;
    }
    if (--r->missing[comm->instance] == 0) {
        resolve(r, comm->instance);
    }
}

/* Implements tms_network.ended. If the end is not known yet, notes which instance the rank waits
 * for. */
static bool ended(void *context, const tms_sim *sim, tms_comm *comm) {
    run *r = context;

    if (r->missing[comm->instance] > 0) {
        r->waiting[sim->placement.rank] = comm->instance;
        return false;
    }
    comm->end_ns = r->plan->end_ns[tms_plan_index(r->plan, sim->step, comm->part)];
    return true;
}

/* Takes the attributes of the instances from the launches in the first step. All members must agree
 * on them. */
static void learn(tms_plan *plan, const tms_sim *sim) {
    for (size_t i = 0; i < sim->n_comms; i++) {
        const tms_comm *comm = &sim->comms[i];
        const tms_channel *channel = sim->channels[comm->role];
        tms_instance *instance = &plan->instances[comm->instance];
        tms_collective what = comm->what == TMS_RECV ? TMS_SEND : comm->what;

        assert(!instance->known || (instance->what == what && instance->bytes == comm->bytes &&
                                    instance->dtype == comm->dtype));
        instance->what = what;
        instance->dtype = comm->dtype;
        instance->bytes = comm->bytes;
        instance->channel = channel - plan->groups.channels;
        instance->known = true;
        if (comm->what == TMS_SEND) {
            instance->sender = tms_ranks_position(&channel->ranks, sim->placement.rank);
        }
    }
    for (int role = 0; role < TMS_ROLE_COUNT; role++) {
        assert(sim->channels[role] == NULL ||
               sim->role_count[role] == sim->channels[role]->n_instances);
    }
}

static bool run_heads(run *r, tms_events *unused) {
    for (int64_t rank = 0; rank < r->plan->config->ranks; rank++) {
        tms_sim *sim = &r->sims[rank];

        tms_step_head(sim, unused);
        if (sim->out_of_memory) {
            return false;
        }
        if (r->step == 0) {
            learn(r->plan, sim);
        }
        r->waiting[rank] = -1;
        /* ranks are taken from the end of the array, so rank 0 is last */
        r->ready[rank] = r->plan->config->ranks - 1 - rank;
    }
    r->n_ready = r->plan->config->ranks;
    return true;
}

static tms_status run_step(run *r, tms_events *unused, tms_error *err) {
    tms_plan *plan = r->plan;
    const tms_config *config = plan->config;
    tms_network network = {.context = r, .arrive = arrive, .ended = ended};
    /* The network has separate random numbers, so that a change of the model does not affect it. */
    tms_rng rng = tms_rng_start((uint64_t)config->seed, NETWORK_STREAM, (uint64_t)r->step);
    int64_t done = 0;

    if (!run_heads(r, unused)) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for the operations of one step");
    }
    for (int64_t i = 0; i < plan->groups.n_instances; i++) {
        draw(r, i, &rng);
    }
    while (r->n_ready > 0) {
        done += tms_gpu_advance(&r->sims[r->ready[--r->n_ready]], &network);
    }
    if (done < config->ranks) {
        return tms_fail(err, TMS_ERR_FAULT, "the simulated ranks wait for one another");
    }
    for (int64_t rank = 0; rank < config->ranks; rank++) {
        tms_step_tail(&r->sims[rank]);
        if (r->sims[rank].cpu_ns > plan->job_end_ns) {
            plan->job_end_ns = r->sims[rank].cpu_ns;
        }
    }
    return TMS_OK;
}

/* Simulates all steps of all ranks. The ranks have just been initialised. */
static tms_status run_steps(run *r, tms_error *err) {
    tms_events unused;
    tms_status status = TMS_OK;

    if (!tms_events_init(&unused, TMS_NO_SECTIONS)) {
        status = tms_fail(err, TMS_ERR_FAULT, "out of memory for events");
    }
    for (; r->step < r->plan->config->steps && status == TMS_OK; r->step++) {
        status = run_step(r, &unused, err);
    }
    tms_events_free(&unused);
    return status;
}

static tms_status simulate(tms_plan *plan, tms_error *err) {
    const tms_config *config = plan->config;
    size_t ranks = (size_t)config->ranks;
    size_t instances = (size_t)plan->groups.n_instances + 1; /* calloc of 0 items may return NULL */
    run r = {.plan = plan};
    tms_status status;

    r.sims = calloc(ranks, sizeof *r.sims);
    r.transfer_ns = calloc(instances, sizeof *r.transfer_ns);
    r.missing = calloc(instances, sizeof *r.missing);
    r.last_ns = calloc(instances, sizeof *r.last_ns);
    r.waiting = calloc(ranks, sizeof *r.waiting);
    r.ready = calloc(ranks, sizeof *r.ready);
    if (r.sims == NULL || r.transfer_ns == NULL || r.missing == NULL || r.last_ns == NULL ||
        r.waiting == NULL || r.ready == NULL) {
        status = tms_fail(err, TMS_ERR_FAULT, "out of memory for %zu ranks", ranks);
    } else {
        for (size_t i = 0; i < ranks; i++) {
            tms_sim_init(&r.sims[i], &plan->groups, (int64_t)i);
        }
        status = run_steps(&r, err);
    }
    for (size_t i = 0; i < ranks && r.sims != NULL; i++) {
        tms_sim_free(&r.sims[i]);
    }
    free(r.sims);
    free(r.transfer_ns);
    free(r.missing);
    free(r.last_ns);
    free(r.waiting);
    free(r.ready);
    return status;
}

tms_status tms_plan_build(tms_plan *plan, const tms_config *config, tms_error *err) {
    tms_plan built = {.config = config};
    tms_status status = tms_groups_init(&built.groups, config, err);
    size_t parts;

    if (status != TMS_OK) {
        return status;
    }
    /* `parts` does not overflow: with the allowed options, it is below 2^63. calloc checks that the
     * size in bytes does not overflow. */
    parts = tms_plan_index(&built, config->steps, 0) + 1;
    built.instances = calloc((size_t)built.groups.n_instances + 1, sizeof *built.instances);
    built.begin_ns = calloc(parts, sizeof *built.begin_ns);
    built.end_ns = calloc(parts, sizeof *built.end_ns);
    if (built.instances == NULL || built.begin_ns == NULL || built.end_ns == NULL) {
        status = tms_fail(err, TMS_ERR_FAULT, "out of memory for %zu arrivals", parts);
    } else {
        status = simulate(&built, err);
    }
    if (status != TMS_OK) {
        tms_plan_free(&built);
        return status;
    }
    *plan = built;
    return TMS_OK;
}

void tms_plan_free(tms_plan *plan) {
    tms_groups_free(&plan->groups);
    free(plan->instances);
    free(plan->begin_ns);
    free(plan->end_ns);
    memset(plan, 0, sizeof *plan);
}

bool tms_plan_complete(const tms_plan *plan, int64_t step, int64_t instance) {
    const tms_config *config = plan->config;
    const tms_channel *channel = &plan->groups.channels[plan->instances[instance].channel];
    int64_t index = instance - channel->first_instance;

    if (config->lost_ppm == 0 && config->window_skew == 0) {
        return true;
    }
    for (int64_t p = 0; p < channel->ranks.size; p++) {
        int64_t rank = tms_ranks_at(&channel->ranks, p);

        if (step < tms_injected_skipped(config, rank) ||
            tms_injected_lost(config, step, tms_channel_part(channel, index, rank))) {
            return false;
        }
    }
    return true;
}

/* Process groups of a grid of ranks, in the order in which Megatron creates them. In the numbers of
 * ranks, the tensor index changes fastest, then the data index, then the pipeline stage. So a
 * tensor-parallel group stays on one host. Each component of the job is a separate grid of
 * consecutive ranks. */
#include "synth_groups.h"

#include <stdlib.h>
#include <string.h>

/* The grid's three dimensions, and the number of grids. */
typedef struct grid {
    int64_t tp;
    int64_t dp;
    int64_t pp;
    int64_t count;
} grid;

static grid grid_of(const tms_config *config) {
    return (grid){config->tp, tms_config_dp(config), config->pp, config->components};
}

/* Returns the number of data-parallel groups. Groups of a single rank are not made. But if the
 * whole job is one rank, there is a group in which the rank reduces with itself. */
static int64_t n_data(const tms_config *config) {
    grid g = grid_of(config);

    return g.dp > 1 || tms_config_plain(config) ? g.tp * g.pp * g.count : 0;
}

static int64_t n_tensor(const tms_config *config) {
    grid g = grid_of(config);

    return g.tp > 1 ? g.dp * g.pp * g.count : 0;
}

static int64_t n_pairs(const tms_config *config) {
    grid g = grid_of(config);

    return g.tp * g.dp * (g.pp - 1) * g.count;
}

/* Sets a data-parallel communicator. In each step, it reduces the gradients and, with --sharded,
 * gathers the parameters. */
static void set_data(tms_channel *channel, const tms_config *config, int64_t i) {
    grid g = grid_of(config);
    int64_t stage = i / g.tp % g.pp;

    channel->group = (tms_ranks){i % g.tp + i / g.tp * g.tp * g.dp, g.tp, g.dp};
    channel->ranks = channel->group;
    channel->name = tms_config_plain(config) ? 0 : 1 + i;
    channel->description = tms_config_plain(config) ? "default_pg" : "DATA_PARALLEL_GROUP";
    channel->n_instances =
        tms_config_stage_buckets(config, stage) * (config->sharded != 0 ? 2 : 1) +
        (tms_config_plain(config) && tms_config_world(config) ? 2 : 0);
}

/* Sets a tensor-parallel communicator. It has one collective for each layer, direction and
 * microbatch, or two with sequence parallelism. Stages that load a batch also broadcast it. */
static void set_tensor(tms_channel *channel, const tms_config *config, int64_t i) {
    grid g = grid_of(config);
    int64_t stage = i / g.dp % g.pp;
    int64_t per_layer = config->sequence_parallel != 0 ? 4 : 2;
    int64_t batches = stage == 0 || stage == g.pp - 1 ? 1 : 0;

    channel->group = (tms_ranks){i * g.tp, 1, g.tp};
    channel->ranks = channel->group;
    channel->name = 1 + n_data(config) + i;
    channel->description = "TENSOR_MODEL_PARALLEL_GROUP";
    channel->n_instances =
        (tms_config_stage_layers(config, stage) * per_layer + batches) * config->microbatches;
}

/* Sets the communicator of two adjacent stages. Activations go from the earlier to the later stage,
 * and gradients go in the opposite direction. The communicator's process group is the whole
 * pipeline. */
static void set_pair(tms_channel *channel, const tms_config *config, int64_t i) {
    grid g = grid_of(config);
    int64_t plane = g.tp * g.dp;
    int64_t component = i / (plane * (g.pp - 1));

    /* A component with pp stages has pp planes of ranks, but only pp - 1 planes of pairs. So the
     * first rank of pair i is i plus one plane for each earlier component. */
    channel->group = (tms_ranks){component * plane * g.pp + i % plane, plane, g.pp};
    channel->ranks = (tms_ranks){i + component * plane, plane, 2};
    channel->name = 1 + n_data(config) + n_tensor(config) + component * plane + i % plane;
    channel->description = "PIPELINE_MODEL_PARALLEL_GROUP";
    channel->n_instances = 2 * config->microbatches;
}

static void set_world(tms_channel *channel, const tms_config *config) {
    channel->group = (tms_ranks){0, 1, config->ranks};
    channel->ranks = channel->group;
    channel->name = 0;
    channel->description = "default_pg";
    channel->n_instances = tms_config_world(config) ? 2 : 0;
}

tms_status tms_groups_init(tms_groups *groups, const tms_config *config, tms_error *err) {
    int64_t data = n_data(config);
    int64_t tensor = n_tensor(config);
    int64_t pairs = n_pairs(config);
    tms_groups made = {.config = config};

    made.n_channels = data + tensor + pairs + (tms_config_plain(config) ? 0 : 1);
    made.channels = calloc((size_t)made.n_channels, sizeof *made.channels);
    if (made.channels == NULL) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for process groups");
    }
    for (int64_t i = 0; i < made.n_channels; i++) {
        tms_channel *channel = &made.channels[i];

        if (i < data) {
            set_data(channel, config, i);
        } else if (i < data + tensor) {
            set_tensor(channel, config, i - data);
        } else if (i < data + tensor + pairs) {
            set_pair(channel, config, i - data - tensor);
        } else {
            set_world(channel, config);
        }
        channel->first_instance = made.n_instances;
        channel->base = made.n_parts;
        made.n_instances += channel->n_instances;
        made.n_parts += channel->n_instances * channel->ranks.size;
    }
    *groups = made;
    return TMS_OK;
}

void tms_groups_free(tms_groups *groups) {
    free(groups->channels);
    memset(groups, 0, sizeof *groups);
}

const tms_channel *tms_groups_channel(const tms_groups *groups, const tms_placement *placement,
                                      tms_role role) {
    const tms_config *config = groups->config;
    grid g = grid_of(config);
    int64_t tensor = n_data(config);
    int64_t plane = g.tp * g.dp;
    int64_t component = placement->rank / (plane * g.pp);
    /* Index of the channel of the pair with the next stage, counted as in set_pair. */
    int64_t pair = tensor + n_tensor(config) + placement->rank - component * plane;
    int64_t i = -1;

    switch (role) {
    case TMS_ROLE_DATA:
        i = tensor > 0 ? placement->tp + g.tp * (placement->rank / plane) : -1;
        break;
    case TMS_ROLE_TENSOR:
        i = g.tp > 1 ? tensor + placement->rank / g.tp : -1;
        break;
    case TMS_ROLE_PREVIOUS:
        i = placement->pp > 0 ? pair - plane : -1;
        break;
    case TMS_ROLE_NEXT:
        i = placement->pp < g.pp - 1 ? pair : -1;
        break;
    case TMS_ROLE_WORLD:
        i = tms_config_plain(config) ? -1 : groups->n_channels - 1;
        break;
    case TMS_ROLE_COUNT:
        break;
    }
    return i < 0 ? NULL : &groups->channels[i];
}

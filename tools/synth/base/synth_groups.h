/* Process groups, and the schedule of a step's collectives. */
#ifndef TMERGE_SYNTH_SYNTH_GROUPS_H
#define TMERGE_SYNTH_SYNTH_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "error.h"
#include "placement.h"

/* What a communicator does for a rank. A rank has at most one communicator per role. */
typedef enum tms_role {
    TMS_ROLE_DATA,
    TMS_ROLE_TENSOR,
    TMS_ROLE_PREVIOUS, /* the pair with the previous stage */
    TMS_ROLE_NEXT,     /* the pair with the next stage */
    TMS_ROLE_WORLD,
    TMS_ROLE_COUNT
} tms_role;

/* Returns the stream of a role's kernels. */
static inline tms_track tms_role_track(tms_role role) {
    return (tms_track)(TMS_TRACK_COMM + (int)role);
}

/* Ranks at equal distances. Every group of a grid of tensor, data and pipeline ranks has this form.
 */
typedef struct tms_ranks {
    int64_t start;
    int64_t stride;
    int64_t size;
} tms_ranks;

static inline int64_t tms_ranks_at(const tms_ranks *ranks, int64_t i) {
    return ranks->start + i * ranks->stride;
}

static inline int64_t tms_ranks_position(const tms_ranks *ranks, int64_t rank) {
    return (rank - ranks->start) / ranks->stride;
}

/* A communicator. Its collectives run one after another, in the same order on all members. */
typedef struct tms_channel {
    tms_ranks ranks;         /* members of the communicator: the whole group, or two ranks in
                                adjacent stages of a pipeline */
    tms_ranks group;         /* the process group that the trace names */
    int64_t name;            /* name of the group: its number in torch, in order of creation */
    const char *description; /* description of the group; static */
    int64_t n_instances;     /* collectives per step */
    int64_t first_instance;  /* index of the channel's first collective within the step */
    int64_t base; /* index of the first part of the channel's first collective, among all parts of a
                     step */
} tms_channel;

/* The communicators of a job. A part is one rank's participation in one collective. The parts of a
 * step are ordered by channel, then collective, then member. */
typedef struct tms_groups {
    const tms_config *config; /* borrowed */
    tms_channel *channels;    /* [n_channels], owned */
    int64_t n_channels;
    int64_t n_instances; /* collectives per step, over all channels */
    int64_t n_parts;     /* parts per step, over all channels */
} tms_groups;

/** Lists the communicators of a job.
 *
 * @param config checked; must outlive the groups
 * @param groups  set only on TMS_OK; free with tms_groups_free
 * @return        TMS_OK; TMS_ERR_FAULT out of memory */
tms_status tms_groups_init(tms_groups *groups, const tms_config *config, tms_error *err);

void tms_groups_free(tms_groups *groups);

/* Returns a rank's communicator in a role; NULL if there is none. */
const tms_channel *tms_groups_channel(const tms_groups *groups, const tms_placement *placement,
                                      tms_role role);

/* Returns the index of a rank's part of a collective among the parts of a step. */
static inline int64_t tms_channel_part(const tms_channel *channel, int64_t index, int64_t rank) {
    return channel->base + index * channel->ranks.size + tms_ranks_position(&channel->ranks, rank);
}

#endif

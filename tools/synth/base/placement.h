/* Where each rank runs: host, device, process, threads and streams. */
#ifndef TMERGE_SYNTH_PLACEMENT_H
#define TMERGE_SYNTH_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

/* A track: a CPU thread or GPU stream of one rank. */
typedef enum tms_track {
    TMS_TRACK_HOST,     /* the Python thread */
    TMS_TRACK_AUTOGRAD, /* torch's backward thread */
    TMS_TRACK_COMPUTE,  /* the stream of computation and copies */
    TMS_TRACK_COMM,     /* NCCL's stream for the data-parallel group */
    TMS_TRACK_TENSOR,   /* NCCL's stream for the tensor-parallel group */
    TMS_TRACK_PREVIOUS, /* NCCL's stream for the pair with the previous pipeline stage */
    TMS_TRACK_NEXT,     /* NCCL's stream for the pair with the next pipeline stage */
    TMS_TRACK_WORLD,    /* NCCL's stream for the group of the whole job, if that is not the
                           data-parallel group */
    TMS_TRACK_COUNT
} tms_track;

/* Start of the simulated job on every host: 2025-12-01 00:00:00 UTC [ns since the epoch]. */
#define TMS_EPOCH_NS INT64_C(1764547200000000000)

/* Three months (7,889,238 s) [ns]. Kineto's baseTimeNanoseconds is a multiple of this. */
#define TMS_BASE_GRID_NS INT64_C(7889238000000000)

/* The time from which the files count [ns since the epoch]. */
#define TMS_BASE_NS (TMS_EPOCH_NS / TMS_BASE_GRID_NS * TMS_BASE_GRID_NS)

/* The place where a rank runs. It includes the "pid" and "tid" that each track has in a trace. */
typedef struct tms_placement {
    int64_t rank;
    int64_t host;
    int64_t device;
    int64_t tp; /* index in the tensor-parallel group */
    int64_t dp; /* index in the data-parallel group */
    int64_t pp; /* stage of its component's pipeline */
    int64_t pid[TMS_TRACK_COUNT];
    int64_t tid[TMS_TRACK_COUNT];
} tms_placement;

/* Returns whether a track belongs to the GPU. */
static inline bool tms_track_gpu(tms_track track) {
    return track >= TMS_TRACK_COMPUTE;
}

/* Returns the place of a rank: ranks fill one host after another. */
static inline tms_placement tms_placement_of(const tms_config *config, int64_t rank) {
    int64_t dp = tms_config_dp(config);
    tms_placement placement = {.rank = rank,
                               .host = rank / config->host_ranks,
                               .device = rank % config->host_ranks,
                               .tp = rank % config->tp,
                               .dp = rank / config->tp % dp,
                               .pp = rank / (config->tp * dp) % config->pp};
    int64_t pid = 1000 + rank;

    for (int track = 0; track < TMS_TRACK_COUNT; track++) {
        placement.pid[track] = tms_track_gpu((tms_track)track) ? placement.device : pid;
        /* Numbers of streams differ between ranks, so that a reader that matches collectives by
         * stream gets wrong results. */
        placement.tid[track] = 20 + 8 * (track - TMS_TRACK_COMM) + 4 * (rank % 2);
    }
    placement.tid[TMS_TRACK_HOST] = pid;
    placement.tid[TMS_TRACK_AUTOGRAD] = pid + 100000;
    placement.tid[TMS_TRACK_COMPUTE] = 7;
    return placement;
}

/* Returns whether a rank has the track. In a job of one group, each rank has the data-parallel
 * stream, even if nothing is reduced. */
static inline bool tms_placement_used(const tms_config *config, const tms_placement *placement,
                                      tms_track track) {
    switch (track) {
    case TMS_TRACK_COMM:
        return tms_config_plain(config) || tms_config_dp(config) > 1;
    case TMS_TRACK_TENSOR:
        return config->tp > 1;
    case TMS_TRACK_PREVIOUS:
        return placement->pp > 0;
    case TMS_TRACK_NEXT:
        return placement->pp < config->pp - 1;
    case TMS_TRACK_WORLD:
        return !tms_config_plain(config) && tms_config_world(config);
    case TMS_TRACK_HOST:
    case TMS_TRACK_AUTOGRAD:
    case TMS_TRACK_COMPUTE:
    case TMS_TRACK_COUNT:
        break;
    }
    return true;
}

#endif

/* Where each rank runs: host, device, process, threads and streams. */
#ifndef TMERGE_SYNTH_PLACEMENT_H
#define TMERGE_SYNTH_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

/* A row of events: a CPU thread or a GPU stream of one rank. */
typedef enum tms_track {
    TMS_TRACK_HOST,     /* the Python thread */
    TMS_TRACK_AUTOGRAD, /* torch's backward thread */
    TMS_TRACK_COMPUTE,  /* the stream of computation and copies */
    TMS_TRACK_COMM,     /* NCCL's stream of the data-parallel group */
    TMS_TRACK_TENSOR,   /* of the tensor-parallel group */
    TMS_TRACK_PREVIOUS, /* of the pair with the pipeline's stage before */
    TMS_TRACK_NEXT,     /* of the pair with the stage behind */
    TMS_TRACK_WORLD,    /* of the whole job's group, where it is not the data-parallel one */
    TMS_TRACK_COUNT
} tms_track;

/* The simulated job begins here on every host: 2025-12-01 00:00:00 UTC [ns since the epoch]. */
#define TMS_EPOCH_NS INT64_C(1764547200000000000)

/* Grid of Kineto's baseTimeNanoseconds: three months, 7,889,238 s [ns]. */
#define TMS_BASE_GRID_NS INT64_C(7889238000000000)

/* The base that all times in the files count from [ns since the epoch]. */
#define TMS_BASE_NS (TMS_EPOCH_NS / TMS_BASE_GRID_NS * TMS_BASE_GRID_NS)

/* One rank's place; "pid" and "tid" as the trace shows them, by track. */
typedef struct tms_placement {
    int64_t rank;
    int64_t host;
    int64_t device;
    int64_t tp; /* index in the tensor-parallel group */
    int64_t dp; /* the same for data */
    int64_t pp; /* stage of its component's pipeline */
    int64_t pid[TMS_TRACK_COUNT];
    int64_t tid[TMS_TRACK_COUNT];
} tms_placement;

/* Whether a track is a row of the GPU. */
static inline bool tms_track_gpu(tms_track track) {
    return track >= TMS_TRACK_COMPUTE;
}

/* The place of a rank: ranks fill one host after another. */
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
        /* Streams differ on purpose: a reader that matches collectives by stream number must
         * fail. */
        placement.tid[track] = 20 + 8 * (track - TMS_TRACK_COMM) + 4 * (rank % 2);
    }
    placement.tid[TMS_TRACK_HOST] = pid;
    placement.tid[TMS_TRACK_AUTOGRAD] = pid + 100000;
    placement.tid[TMS_TRACK_COMPUTE] = 7;
    return placement;
}

/* Whether a rank has the track at all. The data-parallel stream is there even where nothing is
 * reduced, as the job of one group has always had it. */
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

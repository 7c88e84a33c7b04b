/* Where each rank runs: host, device, process, threads and streams. */
#ifndef TMERGE_SYNTH_LAYOUT_H
#define TMERGE_SYNTH_LAYOUT_H

#include <stdint.h>

#include "config.h"

/* A row of events: a CPU thread or a GPU stream of one rank. */
typedef enum tms_track {
    TMS_TRACK_HOST,     /* the Python thread */
    TMS_TRACK_AUTOGRAD, /* torch's backward thread */
    TMS_TRACK_COMPUTE,  /* the stream of computation and copies */
    TMS_TRACK_COMM,     /* NCCL's stream */
    TMS_TRACK_COUNT
} tms_track;

/* The simulated job begins here on every host: 2025-12-01 00:00:00 UTC [ns since the epoch]. */
#define TMS_EPOCH_NS INT64_C(1764547200000000000)

/* Grid of Kineto's baseTimeNanoseconds: three months, 7,889,238 s [ns]. */
#define TMS_BASE_GRID_NS INT64_C(7889238000000000)

/* The base that all times in the files count from [ns since the epoch]. */
#define TMS_BASE_NS (TMS_EPOCH_NS / TMS_BASE_GRID_NS * TMS_BASE_GRID_NS)

/* One rank's place; "pid" and "tid" as the trace shows them, by track. */
typedef struct tms_layout {
    int64_t rank;
    int64_t host;
    int64_t device;
    int64_t pid[TMS_TRACK_COUNT];
    int64_t tid[TMS_TRACK_COUNT];
} tms_layout;

/* The place of a rank: ranks fill one host after another. */
static inline tms_layout tms_layout_of(const tms_config *config, int64_t rank) {
    tms_layout layout = {
        .rank = rank, .host = rank / config->host_ranks, .device = rank % config->host_ranks};
    int64_t pid = 1000 + rank;

    layout.pid[TMS_TRACK_HOST] = pid;
    layout.pid[TMS_TRACK_AUTOGRAD] = pid;
    layout.pid[TMS_TRACK_COMPUTE] = layout.device;
    layout.pid[TMS_TRACK_COMM] = layout.device;
    layout.tid[TMS_TRACK_HOST] = pid;
    layout.tid[TMS_TRACK_AUTOGRAD] = pid + 100000;
    layout.tid[TMS_TRACK_COMPUTE] = 7;
    /* Differs on purpose: a reader that matches collectives by stream number must fail. */
    layout.tid[TMS_TRACK_COMM] = 20 + 4 * (rank % 2);
    return layout;
}

#endif

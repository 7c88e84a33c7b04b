/* When the GPU does what a step's head has queued: the one mechanism for kernels, collectives and
 * sends. */
#ifndef TMERGE_SYNTH_GPU_H
#define TMERGE_SYNTH_GPU_H

#include <stdbool.h>

#include "simulated_rank.h"

/* The other ranks, as one rank sees them. */
typedef struct tms_network {
    void *context;

    /* A collective's kernel may begin once ready_ns has come and its stream is free: sets its
     * begin. */
    void (*arrive)(void *context, const tms_sim *sim, tms_comm *comm, int64_t ready_ns,
                   int64_t free_ns);

    /* Whether it is known when a collective ends on this rank; if so, its end has been set. */
    bool (*ended)(void *context, const tms_sim *sim, tms_comm *comm);
} tms_network;

/**
 * Goes on with a rank's tasks until all are done, or one needs a collective whose end nobody
 * knows yet.
 *
 * Tasks are taken in the order of their launches on whatever stream: what one depends on is
 * always before it. That a rank stops here delays nothing in the simulated time.
 *
 * @param network  may be NULL where no collective has been queued yet
 * @return         whether all are done
 */
bool tms_gpu_advance(tms_sim *sim, const tms_network *network);

#endif

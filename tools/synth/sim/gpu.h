/* Runs the tasks that the head of a step queued on the GPU: kernels, collectives and messages. */
#ifndef TMERGE_SYNTH_GPU_H
#define TMERGE_SYNTH_GPU_H

#include <stdbool.h>

#include "simulated_rank.h"

/* What a rank has to know of other ranks. */
typedef struct tms_network {
    void *context;

    /* Sets the start of a collective's kernel. The kernel is ready at @p ready_ns, and its stream
     * is free at @p free_ns. It may start when both are reached. */
    void (*arrive)(void *context, const tms_sim *sim, tms_comm *comm, int64_t ready_ns,
                   int64_t free_ns);

    /* If it is already known when a collective ends on this rank, sets the end in @p comm and
     * returns true. */
    bool (*ended)(void *context, const tms_sim *sim, tms_comm *comm);
} tms_network;

/** Runs a rank's tasks until all are done, or one needs a collective whose end is not yet known.
 *
 * Tasks of all streams run in the order of their launches, because a task depends only on earlier
 * ones. A return before all are done does not affect simulated time.
 * @param network may be NULL if no collective is queued
 * @return whether all tasks are done */
bool tms_gpu_advance(tms_sim *sim, const tms_network *network);

#endif

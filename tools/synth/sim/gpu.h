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

/** Runs the queued tasks of a rank. Stops early at a task that needs the end of a collective if
 * this end is not known yet. The caller then calls again later, which gives the same times.
 *
 * The tasks of all streams run in one order, that of their launches, because a task depends only
 * on tasks that were launched before it.
 * @param network  gives the times of collectives; may be NULL if none is queued
 * @return whether all tasks are done */
bool tms_gpu_advance(tms_sim *sim, const tms_network *network);

#endif

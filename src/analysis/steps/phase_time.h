/* Forward, backward, optimizer and data loading of a rank, on its host and GPU. */
#ifndef TMERGE_PHASE_TIME_H
#define TMERGE_PHASE_TIME_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

/** The phases of training. Time in no phase is "other". */
typedef enum tm_phase {
    TM_PHASE_FORWARD,
    TM_PHASE_BACKWARD,
    TM_PHASE_OPTIMIZER,
    TM_PHASE_DATA,
    TM_N_PHASES
} tm_phase;

/**
 * The sets of each array are disjoint.
 *
 * Host, in order of precedence if threads do several things at once:
 * - Optimizer: calls of Optimizer.step and Optimizer.zero_grad.
 * - Backward: work of autograd's threads, nodes of autograd's graph on other threads, and the gaps
 *   in between in which the main thread calls nothing.
 * - Data: waits for a batch.
 * - Forward: the main thread's calls between two of these phases or after the start of a step, from
 *   the first call to the last, if backward comes next or there is no backward. Clearing gradients
 *   does not count as a phase here.
 *
 * The main threads are the threads that mark steps and run operators. If no thread marks steps, the
 * main thread is the thread with the most operators, except autograd's threads.
 *
 * GPU: the time of work that was launched in the phase. If work of several phases runs at the same
 * time, the time counts for the first phase in the enumeration.
 */
typedef struct tm_phase_time {
    tm_intervals host[TM_N_PHASES];
    tm_intervals gpu[TM_N_PHASES];
} tm_phase_time;

/** Computes the sets of a rank. The caller frees them with tm_phase_time_free, also on failure.
 * Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_phase_time_find(const tm_rank_view *view, tm_phase_time *out,
                             tm_error *err) TM_MUST_CHECK;
void tm_phase_time_free(tm_phase_time *phases);

#endif

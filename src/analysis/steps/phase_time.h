/* Forward, backward, optimizer and data loading of a rank, on its host and on its GPU. */
#ifndef TMERGE_PHASE_TIME_H
#define TMERGE_PHASE_TIME_H

#include "base/intervals.h"
#include "tmerge/analysis.h"

/** The phases of training; what is in none of them is other. */
typedef enum tm_phase {
    TM_PHASE_FORWARD,
    TM_PHASE_BACKWARD,
    TM_PHASE_OPTIMIZER,
    TM_PHASE_DATA,
    TM_N_PHASES
} tm_phase;

/**
 * Each set is disjoint from the others of its array.
 *
 * Host: optimizer is what it calls itself (Optimizer.step, zero_grad). Backward is the time of the
 * threads that run autograd's nodes, and of such nodes elsewhere; a gap between two counts where
 * the main thread calls nothing meanwhile. Data is waiting for a batch. Forward is from the main
 * thread's first call to its last between two of these, or behind the begin of a step, if backward
 * comes next (clearing gradients, in or beside it, put aside), or if there is no backward at all.
 * The main threads are those that mark steps; where none does, the one with most operators that is
 * not autograd's. Optimizer comes before backward, that before data, and forward last, where
 * threads do two things at once.
 *
 * GPU: what was launched in the phase; the earlier in the list first where it runs at once.
 */
typedef struct tm_phase_time {
    tm_intervals host[TM_N_PHASES];
    tm_intervals gpu[TM_N_PHASES];
} tm_phase_time;

/** Computes the sets of a rank; release them with tm_phase_time_free whatever comes of it.
 * TM_OK; TM_ERR_FAULT where memory is out. */
tm_status tm_phase_time_find(const tm_rank_view *view, tm_phase_time *out,
                             tm_error *err) TM_MUST_CHECK;
void tm_phase_time_free(tm_phase_time *phases);

#endif

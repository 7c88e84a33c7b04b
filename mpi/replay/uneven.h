/* Whether the ranks of a job compute for different times in the same steps. */
#ifndef TMERGE_MPI_REPLAY_UNEVEN_H
#define TMERGE_MPI_REPLAY_UNEVEN_H

#include <mpi.h>

#include "base/vec.h"
#include "tmerge/timeline.h"

/** Computation in a step, over some ranks. */
typedef struct tm_step_work {
    int64_t step, n;         /* number of the step; number of ranks */
    int64_t most_ns, sum_ns; /* largest time of a rank, and total time */
} tm_step_work;

/** Appends a row to @p works for each step of a rank: the total duration of the compute events in
 * it. False when out of memory.
 * @param works  vector of tm_step_work */
bool tm_step_works_add(const tm_timeline *timeline, tm_vec *works);

/** Sets @p uneven to whether the rank with the most computation has 1 % more than the mean of the
 * ranks, over all steps. Collective: over comm. TM_OK; TM_ERR_FAULT.
 * @param works  rows of this process's ranks; empty afterwards */
tm_status tm_mpi_works_uneven(MPI_Comm comm, tm_vec *works, bool *uneven,
                              tm_error *err) TM_MUST_CHECK;

#endif

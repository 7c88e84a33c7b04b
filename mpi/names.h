/* One dictionary over all processes. */
#ifndef TMERGE_MPI_NAMES_H
#define TMERGE_MPI_NAMES_H

#include <mpi.h>

#include "tmerge/names.h"
#include "tmerge/timeline.h"

/**
 * Makes one dictionary of all texts that the timelines of all processes use: the empty text, then
 * what events are called, then the others, each in ascending order of their bytes, so that it does
 * not depend on how the ranks were shared out. The timelines' ids are replaced.
 *
 * Collective: over comm.
 * @param names      this process's table, which the timelines refer to before the call
 * @param timelines  [n] this process's
 * @param out        the dictionary, the same on every process; set only on TM_OK
 * @return           TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_unify_names(MPI_Comm comm, const tm_names *names, tm_timeline *timelines, size_t n,
                             tm_names **out, tm_error *err) TM_MUST_CHECK;

#endif

/* One dictionary over all processes. */
#ifndef TMERGE_MPI_DICTIONARY_H
#define TMERGE_MPI_DICTIONARY_H

#include <mpi.h>

#include "tmerge/names.h"
#include "tmerge/timeline.h"

/**
 * Builds one dictionary of all texts used by the timelines of all processes: the empty text, then
 * event names, then the others, each in ascending order of their bytes. It therefore does not
 * depend on the distribution of ranks. Replaces the timelines' ids.
 * Collective: over comm.
 * @param names      this process's table, which the timelines refer to before the call
 * @param timelines  [n] this process's
 * @param out        the dictionary, the same on every process; set only on TM_OK
 * @return           TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_unify_names(MPI_Comm comm, const tm_names *names, tm_timeline *timelines, size_t n,
                             tm_names **out, tm_error *err) TM_MUST_CHECK;

#endif

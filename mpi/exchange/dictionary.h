/* One dictionary over all processes. */
#ifndef TMERGE_MPI_DICTIONARY_H
#define TMERGE_MPI_DICTIONARY_H

#include <mpi.h>

#include "tmerge/names.h"
#include "tmerge/timeline.h"

/**
 * Builds one dictionary of all texts used by the timelines of all processes: the empty text, then
 * event names, then other texts, each group in ascending order of the bytes. The dictionary
 * therefore does not depend on which process has which ranks. Replaces the ids in the timelines.
 * Collective: over comm.
 * @param names      names of this process; before the call, the ids in the timelines are ids of
 *                   this table
 * @param timelines  [n] timelines of this process
 * @param out        the dictionary, the same on every process; set only on TM_OK
 * @return           TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_unify_names(MPI_Comm comm, const tm_names *names, tm_timeline *timelines, size_t n,
                             tm_names **out, tm_error *err) TM_MUST_CHECK;

#endif

/* Rejects traces recorded so far apart that they cannot be of one job. */
#ifndef TMERGE_OVERLAP_CHECK_H
#define TMERGE_OVERLAP_CHECK_H

#include <mpi.h>

#include "mpi/load/load.h"

/**
 * Finds ranks that recorded far from all others: more than TM_FAR_APART_NS between the last end of
 * the earlier ones and the first start of the later ones. Traces without absolute times are
 * ignored.
 *
 * Collective: over comm.
 * @return  TM_OK; TM_ERR_INPUT, the same on every process, with the two files and their times
 */
tm_status tm_overlap_check(MPI_Comm comm, const tm_loaded *loaded, tm_error *err) TM_MUST_CHECK;

#endif

/* Fails if traces were recorded so far apart that they cannot be of one job. */
#ifndef TMERGE_OVERLAP_CHECK_H
#define TMERGE_OVERLAP_CHECK_H

#include <mpi.h>

#include "mpi/load/load.h"

/** Checks whether the traces can be of one job. Fails if two recordings of one rank are over 30
 * days apart. Also fails if there is a gap longer than TM_FAR_APART_NS in which no rank recorded,
 * and no rank recorded both before and after the gap. Ignores traces without absolute times.
 * Collective: over comm.
 * @return TM_OK; TM_ERR_INPUT: the message has the files before and after the gap; the same on
 * every process */
tm_status tm_overlap_check(MPI_Comm comm, const tm_loaded *loaded, tm_error *err) TM_MUST_CHECK;

#endif

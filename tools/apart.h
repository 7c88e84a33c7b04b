/* Traces that were recorded far apart are of no one job. */
#ifndef TMERGE_APART_H
#define TMERGE_APART_H

#include <mpi.h>

#include "mpi/load/load.h"

/**
 * Finds ranks that recorded far from all others: over TM_FAR_APART_NS between the last end of those
 * before and the first begin of those behind. Traces without a time of day are not compared.
 *
 * Collective: over comm.
 * @return  TM_OK; TM_ERR_INPUT, the same on every process, with the two files and their times
 */
tm_status tm_apart_check(MPI_Comm comm, const tm_loaded *loaded, tm_error *err) TM_MUST_CHECK;

#endif

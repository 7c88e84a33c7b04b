/* Finds the host of each rank: from --host-map, else from the trace, else from the trace's file
 * name, else from the device numbers of all ranks. */
#ifndef TMERGE_HOST_MAP_H
#define TMERGE_HOST_MAP_H

#include "mpi/load/load.h"

/** Sets the host of each timeline whose rank is in the map, or that has no host. If it stays
 * unknown, sets inferred_host.
 *
 * Collective: over comm.
 * @param map     path of a file with lines RANK HOST ('#' starts a comment line), or NULL
 * @param loaded  gets the hosts' names
 * @return        TM_OK; TM_ERR_INPUT (the file, a line, a duplicate rank); TM_ERR_FAULT; the same
 * on every process */
tm_status tm_host_names(MPI_Comm comm, const char *map, tm_loaded *loaded,
                        tm_error *err) TM_MUST_CHECK;

#endif
